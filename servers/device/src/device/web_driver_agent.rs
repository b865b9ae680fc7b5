//! `WebDriverAgent` without Appium: W3C, Apple's strategies, and commands below `/wda`.

use serde_json::{Map, Value, json};

use super::{AppState, Device, DeviceFuture, Location, apps};
use crate::screen::{Screen, parse_xml};
use crate::w3c::{Access, DriverError, ElementId, Locator, NewSession, Strategy, WebDriverClient};

pub(crate) struct WebDriverAgent {
    client: WebDriverClient,
    capabilities: Map<String, Value>,
}

impl WebDriverAgent {
    pub(crate) fn new(client: WebDriverClient, started: NewSession) -> WebDriverAgent {
        WebDriverAgent { client, capabilities: started.capabilities }
    }

    /// Its strategies have no prefix.
    fn using(locator: &Locator) -> Result<&'static str, DriverError> {
        match locator.strategy {
            Strategy::Predicate => Ok("predicate string"),
            Strategy::ClassChain => Ok("class chain"),
            Strategy::Css | Strategy::Uiautomator => Err(DriverError::Unsupported("this strategy")),
            _ => super::standard(locator),
        }
    }
}

impl Device for WebDriverAgent {
    fn driver(&self) -> &'static str {
        "webdriveragent"
    }

    fn client(&self) -> Option<&WebDriverClient> {
        Some(&self.client)
    }

    fn capabilities(&self) -> Value {
        apps::capabilities(&self.capabilities)
    }

    fn look(&self) -> DeviceFuture<'_, Screen> {
        Box::pin(async move {
            let source = self.client.get_extension("/source?format=xml").await?;
            parse_xml(source.as_str().unwrap_or_default())
        })
    }

    fn find<'a>(&'a self, locator: &'a Locator) -> DeviceFuture<'a, ElementId> {
        Box::pin(async move { self.client.find(WebDriverAgent::using(locator)?, &locator.value).await })
    }

    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(apps::pick(&self.client, element, value))
    }

    fn back(&self) -> DeviceFuture<'_, ()> {
        Box::pin(async move {
            // The first button of the navigation bar is the back button.
            let chain = "**/XCUIElementTypeNavigationBar/XCUIElementTypeButton";
            let button = self.client.find("class chain", chain).await?;
            self.client.click(&button).await
        })
    }

    fn locate(&self, at: Location) -> DeviceFuture<'_, ()> {
        Box::pin(async move {
            let place = json!({"latitude": at.latitude, "longitude": at.longitude});
            self.client.own("/wda/simulatedLocation", place, Access::Acts).await.map(drop)
        })
    }

    fn launch<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            self.client.own("/wda/apps/launch", json!({"bundleId": app}), Access::Acts).await.map(drop)
        })
    }

    fn terminate<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            self.client.own("/wda/apps/terminate", json!({"bundleId": app}), Access::Acts).await.map(drop)
        })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, AppState> {
        Box::pin(async move {
            let state = self.client.own("/wda/apps/state", json!({"bundleId": app}), Access::Reads).await?;
            Ok(state.as_u64().map_or(AppState::Unknown, AppState::of_number))
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move { self.client.go(url).await })
    }
}
