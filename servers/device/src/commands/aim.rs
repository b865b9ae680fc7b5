//! Which element is meant, and waiting until it is there.

use std::time::Duration;

use failwell_fault::{Echo, Fault, reason};
use failwell_server::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::screen::Handle;
use crate::stage::Stage;
use crate::w3c::{ElementId, Locator, Refusal, Strategy, Trouble};

/// How long is waited for an element unless the caller says.
const WAIT: f64 = 10.0;
/// Between two looks, at first and at last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Which element is meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Aim {
    /// The session; may be left out while you have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub(crate) session: Option<String>,
    /// A reference from get_screen_hierarchy or find_element, such as e12. Either this or selector.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^e[0-9]{1,9}$"))]
    pub(crate) reference: Option<String>,
    /// What to look for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2_000))]
    pub(crate) selector: Option<String>,
    /// How selector is meant; unless given a path is XPath, and anything else an accessibility id, a name or a text.
    #[serde(default)]
    pub(crate) strategy: Strategy,
    /// How many seconds to wait for the element; 10 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 120))]
    pub(crate) timeout: Option<f64>,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) element: ElementId,
}

/// Which element, once it is clear that one is named.
enum Wanted<'a> {
    Reference(&'a str),
    Locator(Locator),
}

/// How often something is looked for until when.
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    began: Instant,
    pause: Duration,
}

impl Patience {
    pub(crate) fn new(seconds: Option<f64>) -> Patience {
        let limit = Duration::try_from_secs_f64(seconds.unwrap_or(WAIT)).unwrap_or(Duration::from_secs(10));
        Patience { limit, began: Instant::now(), pause: PAUSES.0 }
    }

    /// Waits a little, longer each time; says no when the time is up.
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

impl Aim {
    /// In a few words.
    pub(crate) fn words(&self) -> String {
        match (&self.selector, &self.reference) {
            (Some(selector), _) => selector.clone(),
            (None, Some(reference)) => reference.clone(),
            (None, None) => String::new(),
        }
    }

    fn wanted(&self) -> Result<Wanted<'_>, Fault> {
        match (&self.reference, &self.selector) {
            (Some(reference), None) => Ok(Wanted::Reference(reference)),
            (None, Some(selector)) => Ok(Wanted::Locator(Locator::new(self.strategy, selector))),
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

    /// Waits until the element is there.
    pub(crate) async fn find(&self, stage: &Stage, cx: &Context) -> Result<Found, Fault> {
        let mut patience = Patience::new(self.timeout);
        loop {
            if let Some(found) = self.look_once(stage).await? {
                return Ok(found);
            }
            if !patience.wait(cx, "waiting for the element").await {
                return Err(self.missing(stage, patience.limit));
            }
        }
    }

    /// The element if it is there now.
    pub(crate) async fn look_once(&self, stage: &Stage) -> Result<Option<Found>, Fault> {
        let wanted = self.wanted()?;
        let looked = match &wanted {
            Wanted::Reference(reference) => by_reference(stage, reference).await,
            Wanted::Locator(locator) => by_locator(stage, locator).await,
        };
        match looked {
            Ok(found) => Ok(found.map(|element| Found { element })),
            Err(trouble) if is_not_there(&trouble) => {
                // What was seen is no longer what is there.
                stage.session.refs().forget();
                Ok(None)
            }
            Err(trouble) => {
                let locator = match &wanted {
                    Wanted::Locator(locator) => Some(locator),
                    Wanted::Reference(_) => None,
                };
                Err(stage.fault(trouble, "finding elements", locator).await)
            }
        }
    }

    /// The fault of an element that did not come.
    fn missing(&self, stage: &Stage, limit: Duration) -> Fault {
        match (&self.reference, &self.selector) {
            (Some(reference), _) => {
                let fault =
                    Fault::new(&reason::DEVICE_STALE_REFERENCE).fact("wanted", Echo::of_caller(reference));
                let was_given = stage.session.refs().was_given(reference);
                fault.fact("was_given", was_given)
            }
            (None, selector) => Fault::new(&reason::DEVICE_NO_SUCH_ELEMENT)
                .fact("strategy", self.strategy.as_str())
                .fact("wanted", Echo::of_caller(selector.as_deref().unwrap_or_default()))
                .fact("limit_s", limit.as_secs_f64()),
        }
    }
}

fn is_not_there(trouble: &Trouble) -> bool {
    trouble.is(Refusal::NoSuchElement) || trouble.is(Refusal::StaleElement)
}

/// The element of a reference, looked up anew if something was done since it was given.
async fn by_reference(stage: &Stage, reference: &str) -> Result<Option<ElementId>, Trouble> {
    if stage.session.refs().screen().is_none() {
        let screen = stage.device.look().await?;
        stage.session.refs().see(screen);
    }
    let known = {
        let refs = stage.session.refs();
        refs.node(reference).and_then(|node| Some((node.handle.clone(), refs.screen()?.locator(node))))
    };
    let Some((handle, locator)) = known else {
        stage.session.refs().forget();
        return Ok(None);
    };
    stage.note_aim(locator.clone());
    match (handle, locator) {
        (Handle::Element(element), _) => Ok(Some(element)),
        (Handle::Path(_), Some(locator)) => stage.device.find(&locator).await.map(Some),
        (Handle::Path(path), None) => stage.device.find(&Locator::new(Strategy::Xpath, path)).await.map(Some),
    }
}

/// By the driver where it knows how; what it does not, by what is on the screen.
async fn by_locator(stage: &Stage, locator: &Locator) -> Result<Option<ElementId>, Trouble> {
    let is_by_name =
        locator.strategy == Strategy::Text || locator.strategy == Strategy::Auto && !locator.is_path();
    match stage.device.find(locator).await {
        Ok(found) => Ok(Some(found)),
        Err(trouble) if is_by_name && (is_not_there(&trouble) || trouble.is_unsupported()) => {
            by_text(stage, &locator.value).await
        }
        Err(trouble) => Err(trouble),
    }
}

async fn by_text(stage: &Stage, text: &str) -> Result<Option<ElementId>, Trouble> {
    let screen = stage.device.look().await?;
    let known = screen.with_text(text).map(|node| (node.handle.clone(), screen.locator(node)));
    stage.session.refs().see(screen);
    match known {
        None => Ok(None),
        Some((Handle::Element(element), _)) => Ok(Some(element)),
        Some((Handle::Path(_), Some(locator))) => stage.device.find(&locator).await.map(Some),
        Some((Handle::Path(path), None)) => {
            stage.device.find(&Locator::new(Strategy::Xpath, path)).await.map(Some)
        }
    }
}
