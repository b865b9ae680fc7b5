//! Text input: typing, clearing, choosing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::gestures::{ActionResult, action_result, on_element};
use super::target::{ElementTarget, ElementWait};
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::screen::tidy;
use crate::sessions::lease::DeviceLease;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<EnterText>());
    all.push(entry::<ClearText>());
    all.push(entry::<PickValue>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct EnterText {
    #[serde(flatten)]
    target: ElementTarget,
    /// What to type.
    #[schemars(length(max = 10_000))]
    text: String,
    /// Clear the field first.
    #[serde(default)]
    clear: bool,
    /// Press return afterwards.
    #[serde(default)]
    submit: bool,
    /// The text is a secret of this name: reports do not show it, and a recording has ${name} in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"))]
    secret_name: Option<String>,
    /// Set when the field turned out to show its text. Until then the text counts as a secret.
    #[serde(skip)]
    #[schemars(skip)]
    is_shown: Arc<AtomicBool>,
}

/// The name of a text without `secret_name` in a recording.
const UNNAMED: &str = "password";

impl EnterText {
    /// The name of the text, if it is a secret.
    fn secret(&self) -> Option<&str> {
        let unnamed = Some(UNNAMED).filter(|_| !self.is_shown.load(Ordering::Relaxed));
        self.secret_name.as_deref().or(unnamed)
    }
}

impl Command for EnterText {
    const NAME: &'static str = "enter_text";
    const TITLE: &'static str = "Type";
    const ABOUT: &'static str = "Types into a field (ref or selector), or into the focused field. Reports and recordings contain neither the text of password fields nor text with a secret_name.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!(target);

    fn describe(&self) -> String {
        let text = if self.secret().is_some() { "••••".to_owned() } else { tidy(&self.text) };
        format!("{} ← {text}", self.target.describe())
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    fn written(&self) -> Value {
        let mut whole = serde_json::to_value(self).unwrap_or_default();
        if let (Some(name), Some(arguments)) = (self.secret(), whole.as_object_mut()) {
            arguments.insert("secret_name".to_owned(), Value::from(name));
            arguments.insert("text".to_owned(), Value::String(format!("${{{name}}}")));
        }
        whole
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let mut text = self.text.clone();
        if self.submit {
            text.push('\n');
        }
        let is_shown = self.is_shown.clone();
        if self.target.selector.is_none() && self.target.reference.is_none() {
            lease
                .act("entering text", move |device| {
                    Box::pin(async move {
                        let field = device.focused().await?;
                        is_shown.store(!device.hides_text(&field).await?, Ordering::Relaxed);
                        device.enter(&field, &text).await
                    })
                })
                .await?;
            return Ok(action_result(&patience, format!("typed {} characters", self.text.chars().count())));
        }
        if self.clear {
            on_element(&self.target, lease, cx, "clearing text", |device, element| {
                Box::pin(async move { device.clear(&element).await })
            })
            .await?;
        }
        on_element(&self.target, lease, cx, "entering text", move |device, element| {
            let (text, is_shown) = (text.clone(), is_shown.clone());
            Box::pin(async move {
                is_shown.store(!device.hides_text(&element).await?, Ordering::Relaxed);
                device.enter(&element, &text).await
            })
        })
        .await?;
        Ok(action_result(&patience, format!("typed {} characters", self.text.chars().count())))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ClearText {
    #[serde(flatten)]
    target: ElementTarget,
}

impl Command for ClearText {
    const NAME: &'static str = "clear_text";
    const TITLE: &'static str = "Clear a field";
    const ABOUT: &'static str = "Clears a field.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    aimed!();

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        on_element(&self.target, lease, cx, "clearing text", |device, element| {
            Box::pin(async move { device.clear(&element).await })
        })
        .await?;
        Ok(action_result(&patience, "cleared"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PickValue {
    #[serde(flatten)]
    target: ElementTarget,
    /// The value as the picker shows it.
    #[schemars(length(min = 1, max = 500))]
    value: String,
}

impl Command for PickValue {
    const NAME: &'static str = "select_picker_value";
    const TITLE: &'static str = "Choose a value";
    const ABOUT: &'static str = "Chooses a value of a picker, a wheel or a list.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!(target);

    fn describe(&self) -> String {
        format!("{} ← {}", self.target.describe(), tidy(&self.value))
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let value = self.value.clone();
        on_element(&self.target, lease, cx, "pickers", move |device, element| {
            let value = value.clone();
            Box::pin(async move { device.pick(&element, &value).await })
        })
        .await?;
        Ok(action_result(&patience, "chosen"))
    }
}
