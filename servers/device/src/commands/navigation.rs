//! Navigation back, and alerts.

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gestures::{ActionResult, action_result};
use super::target::ElementWait;
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::device::AlertAnswer;
use crate::screen::tidy;
use crate::sessions::lease::DeviceLease;
use crate::w3c::WebDriverErrorCode;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<GoBack>());
    all.push(entry::<HandleAlert>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoBack {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl Command for GoBack {
    const NAME: &'static str = "navigate_back";
    const TITLE: &'static str = "Go back";
    const ABOUT: &'static str =
        "Goes back: the back button of the phone, of the navigation bar, or of the browser.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!();

    async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(None);
        lease.act("going back", |device| Box::pin(async move { device.back().await })).await?;
        Ok(action_result(&patience, "went back"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandleAlert {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    action: AlertAnswer,
    /// What to type into it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1_000))]
    text: Option<String>,
    /// The maximum wait for an alert, in seconds; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 120))]
    timeout: Option<f64>,
}

/// The alert that was answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AlertResult {
    pub(crate) done: bool,
    /// The text of the alert.
    pub(crate) alert: String,
}

impl Command for HandleAlert {
    const NAME: &'static str = "handle_alert";
    const TITLE: &'static str = "Answer an alert";
    const ABOUT: &'static str =
        "Accepts or dismisses the open alert, or the next one to open, and returns its text.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = AlertResult;

    in_session!();

    fn describe(&self) -> String {
        match self.action {
            AlertAnswer::Accept => "accept".to_owned(),
            AlertAnswer::Dismiss => "dismiss".to_owned(),
        }
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<AlertResult>, Fault> {
        let mut patience = ElementWait::new(self.timeout);
        let shown = loop {
            match lease.device.alert_text().await {
                Ok(text) => break tidy(&text),
                Err(trouble) if trouble.is(WebDriverErrorCode::NoAlert) => {
                    if !patience.wait(cx, "waiting for an alert").await {
                        return Err(lease.fault(trouble, "alerts", None).await);
                    }
                }
                Err(trouble) => return Err(lease.fault(trouble, "alerts", None).await),
            }
        };
        let (answer, text) = (self.action, self.text.clone());
        lease
            .act("alerts", move |device| {
                Box::pin(async move {
                    if let Some(text) = text {
                        device.enter_in_alert(&text).await?;
                    }
                    device.answer_alert(answer).await
                })
            })
            .await?;
        let text = format!("answered the alert:\n```\n{}\n```", shown.replace('`', "'"));
        Ok(TypedOutput::new(AlertResult { done: true, alert: shown }, text))
    }
}
