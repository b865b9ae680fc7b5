//! Chromium's own driver. A phone is emulated in the browser, an app is the address of a page, and what W3C has no
//! command for goes through the browser's debugging protocol.

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use serde_json::{Map, Value, json};

use super::{AppState, Device, Doing, Leave, Location, Orientation, Permission, apps};
use crate::screen::{Screen, of_page};
use crate::w3c::{Client, ElementId, Locator, LogEntry, Rect, Started, Strategy, Touch, Trouble};

/// Lists what is on the page.
const LOOK: &str = include_str!("../screen/page.js");
/// Finds elements by what assistive technology would call them.
const FIND: &str = include_str!("../screen/find.js");
/// Chooses an option of a `select` by what it shows or by its value.
const CHOOSE: &str = "const [list, wanted] = arguments;
const found = [...(list.options || [])].find((it) => it.label.trim() === wanted || it.value === wanted);
if (!found) return false;
list.value = found.value;
for (const kind of ['input', 'change']) list.dispatchEvent(new Event(kind, {bubbles: true}));
return true;";
const VIEWPORT: &str = "return [window.innerWidth, window.innerHeight, window.devicePixelRatio];";
/// W3C counts from the top of the page; gestures count from the top of what is visible.
const PLACE: &str = "const box = arguments[0].getBoundingClientRect();
return {x: box.x, y: box.y, width: box.width, height: box.height};";
const ORIGIN: &str = "return location.origin;";
/// Waits until the page was drawn twice; a page nobody sees is never drawn, so not for long.
const DRAWN: &str = "return new Promise((done) => {
  setTimeout(done, 1000);
  requestAnimationFrame(() => requestAnimationFrame(done));
});";

/// A session of chromedriver.
pub(crate) struct Chrome {
    client: Client,
    capabilities: Map<String, Value>,
}

/// What every browser session starts with: a phone of common size, without a window.
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
        // An alert stays until somebody answers it.
        "unhandledPromptBehavior": "ignore",
    })
}

/// A picker that does not have the value.
pub(super) fn no_such_choice() -> Trouble {
    let fault = Fault::new(&reason::DEVICE_INVALID_VALUE)
        .fact("field", "value")
        .fact("why", "the picker does not offer it")
        .fact("help", "take one of the values the picker shows in get_screen_hierarchy");
    Trouble::Fault(fault)
}

impl Chrome {
    pub(crate) fn new(client: Client, started: Started) -> Chrome {
        Chrome { client, capabilities: started.capabilities }
    }

    async fn debug(&self, command: &str, parameters: Value) -> Result<Value, Trouble> {
        self.client.own("/goog/cdp/execute", json!({"cmd": command, "params": parameters}), Touch::Acts).await
    }

    async fn named(&self, locator: &Locator) -> Result<Vec<ElementId>, Trouble> {
        let how = match locator.strategy {
            Strategy::AccessibilityId => "accessibility",
            Strategy::Text => "text",
            _ => "any",
        };
        let found = self.client.look_by_script(FIND, json!([how, locator.value])).await?;
        Ok(found.as_array().into_iter().flatten().filter_map(ElementId::of).collect())
    }

    async fn all(&self, locator: &Locator) -> Result<Vec<ElementId>, Trouble> {
        match locator.strategy {
            Strategy::AccessibilityId | Strategy::Text => self.named(locator).await,
            Strategy::Auto if !locator.is_path() => self.named(locator).await,
            Strategy::Id => self.client.find_all("css selector", &by_attribute("id", &locator.value)).await,
            Strategy::ClassName => {
                // W3C has no class names: a tag, as it is called on phones.
                self.client.find_all("tag name", &locator.value).await
            }
            Strategy::Predicate | Strategy::ClassChain | Strategy::Uiautomator => {
                Err(Trouble::Unsupported("this strategy"))
            }
            Strategy::Auto | Strategy::Xpath | Strategy::Css => {
                self.client.find_all(super::standard(locator)?, &locator.value).await
            }
        }
    }

    /// A page that has only just come is pictured at the wrong scale, or not at all. One that cannot be asked, for a
    /// dialog covers it, is pictured as it is.
    async fn drawn(&self) -> Result<(), Trouble> {
        match self.client.look_by_script(DRAWN, json!([])).await {
            Ok(_) | Err(Trouble::Refused { .. }) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }

    async fn window(&self) -> Result<(f64, f64, f64), Trouble> {
        let sizes = self.client.look_by_script(VIEWPORT, json!([])).await?;
        let number = |index: usize| sizes.get(index).and_then(Value::as_f64);
        let known = number(0).zip(number(1)).zip(number(2));
        let ((width, height), ratio) = known.ok_or(Trouble::Nonsense {
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

    fn wire(&self) -> Option<&Client> {
        Some(&self.client)
    }

    fn described(&self) -> Value {
        apps::described(&self.capabilities)
    }

    fn look(&self) -> Doing<'_, Screen> {
        Box::pin(async move { of_page(&self.client.look_by_script(LOOK, json!([])).await?) })
    }

    fn screenshot(&self) -> Doing<'_, Bytes> {
        Box::pin(async move {
            self.drawn().await?;
            self.client.screenshot().await
        })
    }

    fn element_screenshot<'a>(&'a self, element: &'a ElementId) -> Doing<'a, Bytes> {
        Box::pin(async move {
            self.drawn().await?;
            self.client.element_screenshot(element).await
        })
    }

    fn find<'a>(&'a self, locator: &'a Locator) -> Doing<'a, ElementId> {
        Box::pin(async move {
            let found = self.all(locator).await?.into_iter().next();
            found.ok_or_else(|| Trouble::Refused {
                refusal: crate::w3c::Refusal::NoSuchElement,
                words: "nothing on the page fits".to_owned(),
            })
        })
    }

    fn contexts(&self) -> Doing<'_, Vec<String>> {
        Box::pin(async move {
            let (mut all, used) = (self.client.windows().await?, self.client.window().await?);
            all.sort_by_key(|handle| *handle != used);
            Ok(all)
        })
    }

    fn switch_context<'a>(&'a self, name: &'a str) -> Doing<'a, ()> {
        Box::pin(async move { self.client.switch_window(name).await })
    }

    fn viewport(&self) -> Doing<'_, Rect> {
        Box::pin(async move {
            let (width, height, _) = self.window().await?;
            Ok(Rect { x: 0.0, y: 0.0, width, height })
        })
    }

    fn rect<'a>(&'a self, element: &'a ElementId) -> Doing<'a, Rect> {
        Box::pin(async move {
            let place = self.client.look_by_script(PLACE, json!([element.reference()])).await?;
            let nonsense = Trouble::Nonsense { why: "an element without a place", body: Vec::new() };
            serde_json::from_value(place).map_err(|_| nonsense)
        })
    }

    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let done = self.client.act_by_script(CHOOSE, json!([element.reference(), value])).await?;
            if done == Value::Bool(true) { Ok(()) } else { Err(no_such_choice()) }
        })
    }

    /// What a field holds now is its property; its attribute is what it began with.
    fn attribute<'a>(&'a self, element: &'a ElementId, name: &'a str) -> Doing<'a, Value> {
        Box::pin(async move {
            match name {
                "value" | "checked" => self.client.property(element, name).await,
                _ => self.client.attribute(element, name).await,
            }
        })
    }

    fn orientation(&self) -> Doing<'_, Orientation> {
        Box::pin(async move {
            let (width, height, _) = self.window().await?;
            Ok(if width > height { Orientation::Landscape } else { Orientation::Portrait })
        })
    }

    fn turn(&self, orientation: Orientation) -> Doing<'_, ()> {
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

    fn locate(&self, at: Location) -> Doing<'_, ()> {
        Box::pin(async move {
            let place = json!({"latitude": at.latitude, "longitude": at.longitude, "accuracy": 10});
            self.debug("Emulation.setGeolocationOverride", place).await.map(drop)
        })
    }

    fn permit<'a>(&'a self, _app: &'a str, permission: Permission, grant: Leave) -> Doing<'a, ()> {
        Box::pin(async move {
            let name = apps::browser_permission(permission).ok_or(Trouble::Unsupported("this permission"))?;
            let state = match grant {
                Leave::Grant => "granted",
                Leave::Revoke => "denied",
                Leave::Reset => "prompt",
            };
            let body = json!({"descriptor": {"name": name}, "state": state});
            self.client.own("/permissions", body, Touch::Acts).await.map(drop)
        })
    }

    fn launch<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        self.open(app)
    }

    fn terminate<'a>(&'a self, _app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move { self.client.go("about:blank").await })
    }

    /// Cookies and everything the page's origin keeps, then the page anew.
    fn reset<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
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

    fn app_state<'a>(&'a self, app: &'a str) -> Doing<'a, AppState> {
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

    fn logs<'a>(&'a self, kind: Option<&'a str>) -> Doing<'a, Vec<LogEntry>> {
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
