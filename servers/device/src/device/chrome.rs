//! Chromedriver. The browser emulates a phone, and an app is the URL of a page. Operations without a W3C
//! command use the browser's debugging protocol.

use bytes::Bytes;
use failwell_fault::Fault;
use serde_json::{Map, Value, json};

use super::{AppState, Device, DeviceFuture, Location, Orientation, Permission, PermissionChange, apps};
use crate::reason;
use crate::screen::{Screen, parse_page};
use crate::w3c::{
    Access, DriverError, ElementId, Locator, LogEntry, NewSession, Rect, Strategy, WebDriverClient,
};

/// Lists the elements of the page.
const LOOK: &str = include_str!("../screen/page.js");
/// Finds elements by their accessible names.
const FIND: &str = include_str!("../screen/find.js");
/// Selects an option of a `select` by its label or its value.
const CHOOSE: &str = "const [list, wanted] = arguments;
const found = [...(list.options || [])].find((it) => it.label.trim() === wanted || it.value === wanted);
if (!found) return false;
list.value = found.value;
for (const kind of ['input', 'change']) list.dispatchEvent(new Event(kind, {bubbles: true}));
return true;";
const VIEWPORT: &str = "return [window.innerWidth, window.innerHeight, window.devicePixelRatio];";
/// W3C coordinates start at the top of the page, gestures at the top of the viewport.
const PLACE: &str = "const box = arguments[0].getBoundingClientRect();
return {x: box.x, y: box.y, width: box.width, height: box.height};";
const ORIGIN: &str = "return location.origin;";
/// Waits until the page was painted twice. A hidden page is never painted, so the wait is short.
const DRAWN: &str = "return new Promise((done) => {
  setTimeout(done, 1000);
  requestAnimationFrame(() => requestAnimationFrame(done));
});";

pub(crate) struct Chrome {
    client: WebDriverClient,
    capabilities: Map<String, Value>,
}

/// The default capabilities of a browser session: a phone of common size, headless.
pub(crate) fn usual_capabilities() -> Value {
    json!({
        "browserName": "chrome",
        "goog:chromeOptions": {
            "args": ["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
            "mobileEmulation": {
                "deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 3, "mobile": true, "touch": true},
            },
        },
        "goog:loggingPrefs": {"browser": "ALL"},
        // An alert stays open until the caller answers it.
        "unhandledPromptBehavior": "ignore",
    })
}

/// The error of a picker without the value.
pub(super) fn no_such_choice() -> DriverError {
    let fault = Fault::new(&reason::DEVICE_INVALID_VALUE)
        .fact("field", "value")
        .fact("why", "the picker does not offer it")
        .fact("help", "take one of the values the picker shows in get_screen_hierarchy");
    DriverError::Fault(fault)
}

impl Chrome {
    pub(crate) fn new(client: WebDriverClient, started: NewSession) -> Chrome {
        Chrome { client, capabilities: started.capabilities }
    }

    async fn debug(&self, command: &str, parameters: Value) -> Result<Value, DriverError> {
        self.client
            .own("/goog/cdp/execute", json!({"cmd": command, "params": parameters}), Access::Acts)
            .await
    }

    async fn named(&self, locator: &Locator) -> Result<Vec<ElementId>, DriverError> {
        let how = match locator.strategy {
            Strategy::AccessibilityId => "accessibility",
            Strategy::Text => "text",
            _ => "any",
        };
        let found = self.client.look_by_script(FIND, json!([how, locator.value])).await?;
        Ok(found.as_array().into_iter().flatten().filter_map(ElementId::parse).collect())
    }

    async fn all(&self, locator: &Locator) -> Result<Vec<ElementId>, DriverError> {
        match locator.strategy {
            Strategy::AccessibilityId | Strategy::Text => self.named(locator).await,
            Strategy::Auto if !locator.is_path() => self.named(locator).await,
            Strategy::Id => self.client.find_all("css selector", &by_attribute("id", &locator.value)).await,
            Strategy::ClassName => {
                // W3C has no strategy for class names, so the tag name is used.
                self.client.find_all("tag name", &locator.value).await
            }
            Strategy::Predicate | Strategy::ClassChain | Strategy::Uiautomator => {
                Err(DriverError::Unsupported("this strategy"))
            }
            Strategy::Auto | Strategy::Xpath | Strategy::Css => {
                self.client.find_all(super::standard(locator)?, &locator.value).await
            }
        }
    }

    /// A new page is captured at the wrong scale or not at all. A page behind a dialog cannot run the script
    /// and is captured as it is.
    async fn wait_for_render(&self) -> Result<(), DriverError> {
        match self.client.look_by_script(DRAWN, json!([])).await {
            Ok(_) | Err(DriverError::Refused { .. }) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    async fn window(&self) -> Result<(f64, f64, f64), DriverError> {
        let sizes = self.client.look_by_script(VIEWPORT, json!([])).await?;
        let number = |index: usize| sizes.get(index).and_then(Value::as_f64);
        let known = number(0).zip(number(1)).zip(number(2));
        let ((width, height), ratio) = known.ok_or(DriverError::InvalidResponse {
            why: "a page without a size",
            body: sizes.to_string().into_bytes(),
        })?;
        Ok((width, height, ratio))
    }
}

/// A CSS selector for an attribute with exactly this value.
fn by_attribute(name: &str, value: &str) -> String {
    let escaped: String = value
        .chars()
        .flat_map(|c| match c {
            '"' | '\\' => vec!['\\', c],
            '\n' | '\r' | '\u{c}' => vec![' '],
            c => vec![c],
        })
        .collect();
    format!("[{name}=\"{escaped}\"]")
}

impl Device for Chrome {
    fn driver(&self) -> &'static str {
        "chromedriver"
    }

    fn client(&self) -> Option<&WebDriverClient> {
        Some(&self.client)
    }

    fn capabilities(&self) -> Value {
        apps::capabilities(&self.capabilities)
    }

    fn look(&self) -> DeviceFuture<'_, Screen> {
        Box::pin(async move { parse_page(&self.client.look_by_script(LOOK, json!([])).await?) })
    }

    fn screenshot(&self) -> DeviceFuture<'_, Bytes> {
        Box::pin(async move {
            self.wait_for_render().await?;
            self.client.screenshot().await
        })
    }

    fn element_screenshot<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, Bytes> {
        Box::pin(async move {
            self.wait_for_render().await?;
            self.client.element_screenshot(element).await
        })
    }

    fn find<'a>(&'a self, locator: &'a Locator) -> DeviceFuture<'a, ElementId> {
        Box::pin(async move {
            let found = self.all(locator).await?.into_iter().next();
            found.ok_or_else(|| DriverError::Refused {
                refusal: crate::w3c::WebDriverErrorCode::NoSuchElement,
                describe: "nothing on the page fits".to_owned(),
            })
        })
    }

    fn contexts(&self) -> DeviceFuture<'_, Vec<String>> {
        Box::pin(async move {
            let (mut all, used) = (self.client.windows().await?, self.client.window().await?);
            all.sort_by_key(|handle| *handle != used);
            Ok(all)
        })
    }

    fn switch_context<'a>(&'a self, name: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move { self.client.switch_window(name).await })
    }

    fn viewport(&self) -> DeviceFuture<'_, Rect> {
        Box::pin(async move {
            let (width, height, _) = self.window().await?;
            Ok(Rect { x: 0.0, y: 0.0, width, height })
        })
    }

    fn rect<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, Rect> {
        Box::pin(async move {
            let place = self.client.look_by_script(PLACE, json!([element.reference()])).await?;
            let invalid =
                DriverError::InvalidResponse { why: "an element without a place", body: Vec::new() };
            serde_json::from_value(place).map_err(|_| invalid)
        })
    }

    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let done = self.client.act_by_script(CHOOSE, json!([element.reference(), value])).await?;
            if done == Value::Bool(true) { Ok(()) } else { Err(no_such_choice()) }
        })
    }

    /// The current value of a field is its property; its attribute is the initial value.
    fn attribute<'a>(&'a self, element: &'a ElementId, name: &'a str) -> DeviceFuture<'a, Value> {
        Box::pin(async move {
            match name {
                "value" | "checked" => self.client.property(element, name).await,
                _ => self.client.attribute(element, name).await,
            }
        })
    }

    fn orientation(&self) -> DeviceFuture<'_, Orientation> {
        Box::pin(async move {
            let (width, height, _) = self.window().await?;
            Ok(if width > height { Orientation::Landscape } else { Orientation::Portrait })
        })
    }

    fn turn(&self, orientation: Orientation) -> DeviceFuture<'_, ()> {
        Box::pin(async move {
            let (width, height, ratio) = self.window().await?;
            let (short, long) = (width.min(height), width.max(height));
            let (width, height, kind, angle) = match orientation {
                Orientation::Portrait => (short, long, "portraitPrimary", 0),
                Orientation::Landscape => (long, short, "landscapePrimary", 90),
            };
            let metrics = json!({
                "width": width as u64, "height": height as u64, "deviceScaleFactor": ratio, "mobile": true,
                "screenOrientation": {"type": kind, "angle": angle},
            });
            self.debug("Emulation.setDeviceMetricsOverride", metrics).await.map(drop)
        })
    }

    fn locate(&self, at: Location) -> DeviceFuture<'_, ()> {
        Box::pin(async move {
            let place = json!({"latitude": at.latitude, "longitude": at.longitude, "accuracy": 10});
            self.debug("Emulation.setGeolocationOverride", place).await.map(drop)
        })
    }

    fn permit<'a>(
        &'a self,
        _app: &'a str,
        permission: Permission,
        grant: PermissionChange,
    ) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let name =
                apps::browser_permission(permission).ok_or(DriverError::Unsupported("this permission"))?;
            let state = match grant {
                PermissionChange::Grant => "granted",
                PermissionChange::Revoke => "denied",
                PermissionChange::Reset => "prompt",
            };
            let body = json!({"descriptor": {"name": name}, "state": state});
            self.client.own("/permissions", body, Access::Acts).await.map(drop)
        })
    }

    fn launch<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        self.open(app)
    }

    fn terminate<'a>(&'a self, _app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move { self.client.go("about:blank").await })
    }

    /// Deletes cookies and all storage of the page's origin, then reloads the page.
    fn reset<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            if !app.is_empty() {
                self.client.go(app).await?;
            }
            let origin = self.client.look_by_script(ORIGIN, json!([])).await?;
            self.debug("Network.clearBrowserCookies", json!({})).await?;
            if origin.as_str().is_some_and(|origin| origin != "null") {
                let all = json!({"origin": origin, "storageTypes": "all"});
                self.debug("Storage.clearDataForOrigin", all).await?;
            }
            self.client.refresh().await
        })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, AppState> {
        Box::pin(async move {
            let shown = self.client.url().await?;
            let origin = |url: &str| {
                let uri: Option<http::Uri> = url.parse().ok();
                uri.and_then(|uri| Some((uri.scheme_str()?.to_owned(), uri.authority()?.to_string())))
            };
            let is_shown = shown == app || origin(app).is_some_and(|wanted| origin(&shown) == Some(wanted));
            Ok(if is_shown { AppState::Foreground } else { AppState::NotRunning })
        })
    }

    fn logs<'a>(&'a self, kind: Option<&'a str>) -> DeviceFuture<'a, Vec<LogEntry>> {
        Box::pin(async move { self.client.log("/se/log", kind.unwrap_or("browser")).await })
    }
}

#[cfg(test)]
mod tests {
    use super::by_attribute;

    #[test]
    fn values_cannot_leave_their_selector() {
        assert_eq!(by_attribute("id", "user"), r#"[id="user"]"#);
        assert_eq!(by_attribute("id", r#"a"], body, ["#), r#"[id="a\"], body, ["]"#);
        assert_eq!(by_attribute("id", "a\\\nb"), r#"[id="a\\ b"]"#);
    }
}
