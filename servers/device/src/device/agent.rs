//! `WebDriverAgent` without Appium in front of it: W3C with Apple's own strategies and commands below `/wda`.

use serde_json::{Map, Value, json};

use super::{AppState, Device, Doing, Location, apps};
use crate::screen::{Screen, of_xml};
use crate::w3c::{Client, ElementId, Locator, Started, Strategy, Touch, Trouble};

/// A session of `WebDriverAgent`.
pub(crate) struct Agent {
    client: Client,
    capabilities: Map<String, Value>,
}

impl Agent {
    pub(crate) fn new(client: Client, started: Started) -> Agent {
        Agent { client, capabilities: started.capabilities }
    }

    /// The strategies it knows have no prefix.
    fn using(locator: &Locator) -> Result<&'static str, Trouble> {
        match locator.strategy {
            Strategy::Predicate => Ok("predicate string"),
            Strategy::ClassChain => Ok("class chain"),
            Strategy::Css | Strategy::Uiautomator => Err(Trouble::Unsupported("this strategy")),
            _ => super::standard(locator),
        }
    }
}

impl Device for Agent {
    fn driver(&self) -> &'static str {
        "webdriveragent"
    }

    fn wire(&self) -> Option<&Client> {
        Some(&self.client)
    }

    fn described(&self) -> Value {
        apps::described(&self.capabilities)
    }

    fn look(&self) -> Doing<'_, Screen> {
        Box::pin(async move {
            let source = self.client.own_get("/source?format=xml").await?;
            of_xml(source.as_str().unwrap_or_default())
        })
    }

    fn find<'a>(&'a self, locator: &'a Locator) -> Doing<'a, ElementId> {
        Box::pin(async move { self.client.find(Agent::using(locator)?, &locator.value).await })
    }

    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> Doing<'a, ()> {
        Box::pin(apps::pick(&self.client, element, value))
    }

    fn back(&self) -> Doing<'_, ()> {
        Box::pin(async move {
            // The button of the navigation bar that leads back stands first in it.
            let chain = "**/XCUIElementTypeNavigationBar/XCUIElementTypeButton";
            let button = self.client.find("class chain", chain).await?;
            self.client.click(&button).await
        })
    }

    fn locate(&self, at: Location) -> Doing<'_, ()> {
        Box::pin(async move {
            let place = json!({"latitude": at.latitude, "longitude": at.longitude});
            self.client.own("/wda/simulatedLocation", place, Touch::Acts).await.map(drop)
        })
    }

    fn launch<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            self.client.own("/wda/apps/launch", json!({"bundleId": app}), Touch::Acts).await.map(drop)
        })
    }

    fn terminate<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            self.client.own("/wda/apps/terminate", json!({"bundleId": app}), Touch::Acts).await.map(drop)
        })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> Doing<'a, AppState> {
        Box::pin(async move {
            let state = self.client.own("/wda/apps/state", json!({"bundleId": app}), Touch::Looks).await?;
            Ok(state.as_u64().map_or(AppState::Unknown, AppState::of_number))
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> Doing<'a, ()> {
        Box::pin(async move { self.client.go(url).await })
    }
}
