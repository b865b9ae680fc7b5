//! Assertions. An assertion that does not hold is a finding, not a failure (ADR 0003).

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::target::{ElementTarget, ElementWait, LocatedElement};
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::evidence::{Evidence, gather, screenshot};
use crate::reason;
use crate::screen::tidy;
use crate::sessions::lease::DeviceLease;
use crate::steps::Verdict;
use crate::w3c::{DriverError, ElementId, WebDriverErrorCode};

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<AssertExists>());
    all.push(entry::<AssertProperty>());
    all.push(entry::<WaitFor>());
}

/// The element that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckResult {
    /// Whether the assertion holds. If it does not, that is a finding, not an error.
    pub(crate) holds: bool,
    /// The expectation, in words.
    pub(crate) expected: String,
    /// The last value that was seen.
    pub(crate) actual: String,
    /// The duration of the check, in milliseconds.
    pub(crate) waited_ms: u64,
    #[serde(flatten)]
    pub(crate) evidence: Evidence,
}

/// The result, with a screenshot if the assertion does not hold.
async fn check_result(
    (holds, expected, actual): (bool, String, String),
    selector: Option<&str>,
    patience: &ElementWait,
    lease: &DeviceLease,
) -> TypedOutput<CheckResult> {
    let evidence = match (holds, selector) {
        (true, _) => Evidence::default(),
        (false, Some(_)) => gather(lease, &Fault::new(&reason::DEVICE_NO_SUCH_ELEMENT), selector).await,
        (false, None) => Evidence { screenshot: screenshot(lease).await, ..Evidence::default() },
    };
    let waited_ms = u64::try_from(patience.spent().as_millis()).unwrap_or(u64::MAX);
    let text = if holds {
        format!("holds: {expected}")
    } else {
        format!("does not hold: {expected}\nthere was:\n```\n{}\n```", actual.replace('`', "'"))
    };
    let picture = evidence.screenshot.as_ref().map(|link| link.uri.clone());
    let blocks = evidence.blocks();
    let verdict = if holds { Verdict::Passed } else { Verdict::Failed };
    TypedOutput {
        answer: CheckResult { holds, expected, actual, waited_ms, evidence },
        text,
        blocks,
        verdict,
        picture,
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct AssertExists {
    #[serde(flatten)]
    target: ElementTarget,
    /// False asserts that no such element exists.
    #[serde(default = "yes")]
    exists: bool,
}

fn yes() -> bool {
    true
}

impl Command for AssertExists {
    const NAME: &'static str = "assert_element_exists";
    const TITLE: &'static str = "Assert that an element is there";
    const ABOUT: &'static str = "Checks that an element exists (with exists false: does not exist), and waits for it up to the timeout. A result with holds false is a finding, not an error.";
    const KIND: CommandKind = CommandKind::Checks;
    type Answer = CheckResult;

    in_session!(target);

    fn describe(&self) -> String {
        if self.exists { self.target.describe() } else { format!("no {}", self.target.describe()) }
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<CheckResult>, Fault> {
        let mut patience = ElementWait::new(self.target.timeout);
        let is_there = loop {
            let is_there = self.target.look_once(lease).await?.is_some();
            if is_there == self.exists || !patience.wait(cx, "looking for the element").await {
                break is_there;
            }
        };
        let word = |there: bool| if there { "is there" } else { "is not there" };
        let expected = format!("{} {}", tidy(&self.target.describe()), word(self.exists));
        let found = (is_there == self.exists, expected, word(is_there).to_owned());
        let selector = self.selector().filter(|_| self.exists);
        Ok(check_result(found, selector, &patience, lease).await)
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct AssertProperty {
    #[serde(flatten)]
    target: ElementTarget,
    /// text, value, displayed, enabled, selected, or the name of an attribute.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[A-Za-z][A-Za-z0-9_:.-]*$"))]
    property: String,
    /// The exact value; true and false for displayed, enabled and selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10_000))]
    equals: Option<String>,
    /// A part of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    contains: Option<String>,
}

impl AssertProperty {
    fn expectation(&self) -> Result<(&str, &'static str), Fault> {
        match (&self.equals, &self.contains) {
            (Some(wanted), None) => Ok((wanted, "is")),
            (None, Some(wanted)) => Ok((wanted, "contains")),
            _ => Err(Fault::new(&reason::DEVICE_INVALID_VALUE)
                .fact("field", "equals")
                .fact("why", "exactly one of equals and contains is needed")
                .fact("help", "pass one of them")),
        }
    }
}

impl Command for AssertProperty {
    const NAME: &'static str = "assert_element_property";
    const TITLE: &'static str = "Assert a property of an element";
    const ABOUT: &'static str = "Checks that the text, a state or an attribute of an element equals or contains a value, and waits for it up to the timeout. A result with holds false is a finding, not an error.";
    const KIND: CommandKind = CommandKind::Checks;
    type Answer = CheckResult;

    in_session!(target);

    fn describe(&self) -> String {
        let wanted =
            self.equals.as_ref().or(self.contains.as_ref()).map(|text| tidy(text)).unwrap_or_default();
        format!("{} of {}: {wanted}", self.property, self.target.describe())
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<CheckResult>, Fault> {
        let (wanted, relation) = self.expectation()?;
        let mut patience = ElementWait::new(self.target.timeout);
        let (holds, actual) = loop {
            let actual = property(&self.target, &self.property, lease).await?;
            let holds = actual.as_ref().is_some_and(|actual| match relation {
                "is" => actual == wanted,
                _ => actual.contains(wanted),
            });
            if holds || !patience.wait(cx, "looking at the element").await {
                break (holds, actual);
            }
        };
        let expected = format!("{} {relation} {}", self.property, tidy(wanted));
        let is_missing = actual.is_none();
        let actual = actual.map_or_else(|| "no such element".to_owned(), |actual| tidy(&actual));
        let selector = self.selector().filter(|_| is_missing);
        Ok(check_result((holds, expected, actual), selector, &patience, lease).await)
    }
}

/// A property as text. `None` if the element does not exist.
async fn property(target: &ElementTarget, name: &str, lease: &DeviceLease) -> Result<Option<String>, Fault> {
    let Some(LocatedElement { element }) = target.look_once(lease).await? else { return Ok(None) };
    match read(lease, &element, name).await {
        Ok(text) => Ok(Some(text)),
        Err(trouble) if trouble.is(WebDriverErrorCode::StaleElement) => Ok(None),
        Err(trouble) => Err(lease.fault(trouble, "attributes of elements", None).await),
    }
}

async fn read(lease: &DeviceLease, element: &ElementId, name: &str) -> Result<String, DriverError> {
    let device = &lease.device;
    Ok(match name {
        "text" => device.text(element).await?,
        "displayed" => device.is_displayed(element).await?.to_string(),
        "enabled" => device.is_enabled(element).await?.to_string(),
        "selected" => device.is_selected(element).await?.to_string(),
        name => plain(&device.attribute(element, name).await?),
    })
}

/// An attribute as text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The condition to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Condition {
    /// The element exists.
    Exists,
    /// The element does not exist, or no longer.
    Gone,
    /// The element is visible.
    Visible,
    /// The element is enabled.
    Enabled,
    /// An alert is open.
    Alert,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct WaitFor {
    #[serde(flatten)]
    target: ElementTarget,
    /// exists, gone, visible, enabled; or alert, which needs no element.
    condition: Condition,
}

impl Command for WaitFor {
    const NAME: &'static str = "wait_for_condition";
    const TITLE: &'static str = "Wait";
    const ABOUT: &'static str = "Waits until an element exists, is gone, is visible or is enabled, or an alert is open. A result with holds false means that the timeout passed first.";
    const KIND: CommandKind = CommandKind::Checks;
    type Answer = CheckResult;

    in_session!(target);

    fn describe(&self) -> String {
        format!("{} {}", self.condition.as_str(), self.target.describe()).trim_end().to_owned()
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<CheckResult>, Fault> {
        let mut patience = ElementWait::new(self.target.timeout);
        let holds = loop {
            let holds = self.holds(lease).await?;
            if holds || !patience.wait(cx, "waiting").await {
                break holds;
            }
        };
        let expected =
            format!("{} {}", tidy(&self.target.describe()), self.condition.as_str()).trim_start().to_owned();
        let actual = if holds { "so it is" } else { "not so within the timeout" }.to_owned();
        let selector = self.selector().filter(|_| self.condition != Condition::Gone);
        Ok(check_result((holds, expected, actual), selector, &patience, lease).await)
    }
}

impl WaitFor {
    async fn holds(&self, lease: &DeviceLease) -> Result<bool, Fault> {
        if self.condition == Condition::Alert {
            return match lease.device.alert_text().await {
                Ok(_) => Ok(true),
                Err(trouble) if trouble.is(WebDriverErrorCode::NoAlert) => Ok(false),
                Err(trouble) => Err(lease.fault(trouble, "alerts", None).await),
            };
        }
        let found = self.target.look_once(lease).await?;
        let state = match (self.condition, &found) {
            (Condition::Gone, found) => return Ok(found.is_none()),
            (Condition::Exists, found) => return Ok(found.is_some()),
            (_, None) => return Ok(false),
            (Condition::Enabled, Some(found)) => lease.device.is_enabled(&found.element).await,
            (_, Some(found)) => lease.device.is_displayed(&found.element).await,
        };
        match state {
            Ok(state) => Ok(state),
            Err(trouble) if trouble.is(WebDriverErrorCode::StaleElement) => Ok(false),
            Err(trouble) => Err(lease.fault(trouble, "states of elements", None).await),
        }
    }
}

impl Condition {
    fn as_str(self) -> &'static str {
        match self {
            Condition::Exists => "exists",
            Condition::Gone => "gone",
            Condition::Visible => "visible",
            Condition::Enabled => "enabled",
            Condition::Alert => "alert",
        }
    }
}
