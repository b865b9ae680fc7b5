//! The target element of a command, and the wait for it.

use std::time::Duration;

use failwell_fault::{Echo, Fault};
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::reason;
use crate::screen::ElementHandle;
use crate::sessions::lease::DeviceLease;
use crate::w3c::{DriverError, ElementId, Locator, Strategy, WebDriverErrorCode};

/// The default time to wait for an element, in seconds.
const WAIT: f64 = 10.0;
/// The first and the maximum poll interval.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Which element is meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ElementTarget {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub(crate) session: Option<String>,
    /// A reference from get_screen_hierarchy or find_element, such as e12. Either this or selector.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^e[0-9]{1,9}$"))]
    pub(crate) reference: Option<String>,
    /// The selector of the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2_000))]
    pub(crate) selector: Option<String>,
    /// The type of selector. By default, a path is XPath; any other text is an accessibility id, a name or a text.
    #[serde(default)]
    pub(crate) strategy: Strategy,
    /// The maximum wait for the element, in seconds; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 120))]
    pub(crate) timeout: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) struct LocatedElement {
    pub(crate) element: ElementId,
}

/// The reference or the locator. Exactly one of them was given.
enum ElementQuery<'a> {
    Reference(&'a str),
    Locator(Locator),
}

/// Polls for an element with growing pauses until a deadline.
pub(crate) struct ElementWait {
    pub(crate) limit: Duration,
    began: Instant,
    pause: Duration,
}

impl ElementWait {
    pub(crate) fn new(seconds: Option<f64>) -> ElementWait {
        let limit = Duration::try_from_secs_f64(seconds.unwrap_or(WAIT)).unwrap_or(Duration::from_secs(10));
        ElementWait { limit, began: Instant::now(), pause: PAUSES.0 }
    }

    /// Waits for the next, longer poll interval. Returns false when the time is up.
    pub(crate) async fn wait(&mut self, cx: &Context, what: &str) -> bool {
        let spent = self.began.elapsed();
        if spent >= self.limit {
            return false;
        }
        cx.progress(spent.as_secs_f64(), Some(self.limit.as_secs_f64()), Some(what)).await;
        sleep(self.pause.min(self.limit.saturating_sub(spent))).await;
        self.pause = self.pause.mul_f64(1.5).min(PAUSES.1);
        true
    }

    pub(crate) fn spent(&self) -> Duration {
        self.began.elapsed()
    }
}

impl ElementTarget {
    pub(crate) fn describe(&self) -> String {
        match (&self.selector, &self.reference) {
            (Some(selector), _) => selector.clone(),
            (None, Some(reference)) => reference.clone(),
            (None, None) => String::new(),
        }
    }

    fn wanted(&self) -> Result<ElementQuery<'_>, Fault> {
        match (&self.reference, &self.selector) {
            (Some(reference), None) => Ok(ElementQuery::Reference(reference)),
            (None, Some(selector)) => Ok(ElementQuery::Locator(Locator::new(self.strategy, selector))),
            (named, _) => {
                let why = if named.is_some() {
                    "ref and selector are both given"
                } else {
                    "neither ref nor selector is given"
                };
                Err(Fault::new(&reason::DEVICE_INVALID_VALUE)
                    .fact("field", "selector")
                    .fact("why", why)
                    .fact("help", "pass one of them"))
            }
        }
    }

    /// Waits for the element.
    pub(crate) async fn find(&self, lease: &DeviceLease, cx: &Context) -> Result<LocatedElement, Fault> {
        let mut patience = ElementWait::new(self.timeout);
        loop {
            if let Some(found) = self.look_once(lease).await? {
                return Ok(found);
            }
            if !patience.wait(cx, "waiting for the element").await {
                return Err(self.missing(lease, patience.limit));
            }
        }
    }

    /// The element, if it is on the screen now.
    pub(crate) async fn look_once(&self, lease: &DeviceLease) -> Result<Option<LocatedElement>, Fault> {
        let wanted = self.wanted()?;
        let looked = match &wanted {
            ElementQuery::Reference(reference) => by_reference(lease, reference).await,
            ElementQuery::Locator(locator) => by_locator(lease, locator).await,
        };
        match looked {
            Ok(found) => Ok(found.map(|element| LocatedElement { element })),
            Err(trouble) if is_not_there(&trouble) => {
                // The cached screen is stale.
                lease.session.refs().forget();
                Ok(None)
            }
            Err(trouble) => {
                let locator = match &wanted {
                    ElementQuery::Locator(locator) => Some(locator),
                    ElementQuery::Reference(_) => None,
                };
                Err(lease.fault(trouble, "finding elements", locator).await)
            }
        }
    }

    fn missing(&self, lease: &DeviceLease, limit: Duration) -> Fault {
        match (&self.reference, &self.selector) {
            (Some(reference), _) => {
                let fault =
                    Fault::new(&reason::DEVICE_STALE_REFERENCE).fact("wanted", Echo::of_caller(reference));
                let was_given = lease.session.refs().was_given(reference);
                fault.fact("was_given", was_given)
            }
            (None, selector) => Fault::new(&reason::DEVICE_NO_SUCH_ELEMENT)
                .fact("strategy", self.strategy.as_str())
                .fact("wanted", Echo::of_caller(selector.as_deref().unwrap_or_default()))
                .fact("limit_s", limit.as_secs_f64()),
        }
    }
}

fn is_not_there(trouble: &DriverError) -> bool {
    trouble.is(WebDriverErrorCode::NoSuchElement) || trouble.is(WebDriverErrorCode::StaleElement)
}

/// The element of a reference. It is searched again if an action followed the last look.
async fn by_reference(lease: &DeviceLease, reference: &str) -> Result<Option<ElementId>, DriverError> {
    if lease.session.refs().screen().is_none() {
        let screen = lease.device.look().await?;
        lease.session.refs().update(screen);
    }
    let known = {
        let refs = lease.session.refs();
        refs.node(reference).and_then(|node| Some((node.handle.clone(), refs.screen()?.locator(node))))
    };
    let Some((handle, locator)) = known else {
        lease.session.refs().forget();
        return Ok(None);
    };
    lease.remember_target(locator.clone());
    match (handle, locator) {
        (ElementHandle::Element(element), _) => Ok(Some(element)),
        (ElementHandle::Path(_), Some(locator)) => lease.device.find(&locator).await.map(Some),
        (ElementHandle::Path(path), None) => {
            lease.device.find(&Locator::new(Strategy::Xpath, path)).await.map(Some)
        }
    }
}

/// The driver searches first. A text that it cannot search for is searched in the screen hierarchy.
async fn by_locator(lease: &DeviceLease, locator: &Locator) -> Result<Option<ElementId>, DriverError> {
    let is_by_name =
        locator.strategy == Strategy::Text || locator.strategy == Strategy::Auto && !locator.is_path();
    match lease.device.find(locator).await {
        Ok(found) => Ok(Some(found)),
        Err(trouble) if is_by_name && (is_not_there(&trouble) || trouble.is_unsupported()) => {
            by_text(lease, &locator.value).await
        }
        Err(trouble) => Err(trouble),
    }
}

async fn by_text(lease: &DeviceLease, text: &str) -> Result<Option<ElementId>, DriverError> {
    let screen = lease.device.look().await?;
    let known = screen.with_text(text).map(|node| (node.handle.clone(), screen.locator(node)));
    lease.session.refs().update(screen);
    match known {
        None => Ok(None),
        Some((ElementHandle::Element(element), _)) => Ok(Some(element)),
        Some((ElementHandle::Path(_), Some(locator))) => lease.device.find(&locator).await.map(Some),
        Some((ElementHandle::Path(path), None)) => {
            lease.device.find(&Locator::new(Strategy::Xpath, path)).await.map(Some)
        }
    }
}
