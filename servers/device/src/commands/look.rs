//! Looking: the hierarchy, elements, logs.

use failwell_fault::Fault;
use failwell_server::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aim::{Aim, Found};
use super::check::plain;
use super::{Command, Done, Entry, Nature, entry};
use crate::screen::{Handle, Screen, Shown, View, lines, shown, tidy};
use crate::stage::Stage;
use crate::w3c::{ElementId, LogEntry, Rect};

pub(super) fn add(all: &mut Vec<Entry>) {
    all.push(entry::<Hierarchy>());
    all.push(entry::<FindElement>());
    all.push(entry::<GetText>());
    all.push(entry::<GetAttribute>());
    all.push(entry::<GetLogs>());
}

/// Which elements of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Include {
    /// What can be seen and touched or read.
    #[default]
    Visible,
    /// What is further down too.
    Offscreen,
    /// Layout too.
    All,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hierarchy {
    /// The session; may be left out while you have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Which elements: visible (usual), offscreen, all.
    #[serde(default)]
    include: Include,
    /// At most so many; 150 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    max_elements: Option<usize>,
}

/// What is on the screen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Seen {
    /// The title of a page.
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// The visible part, where the driver says.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<Rect>,
    elements: Vec<View>,
    /// How many more there are.
    left_out: usize,
}

impl Command for Hierarchy {
    const NAME: &'static str = "get_screen_hierarchy";
    const TITLE: &'static str = "See the screen";
    const ABOUT: &'static str = "Lists what is on the screen as assistive technology sees it, each element with a reference (e12) to pass as ref. The same element keeps its reference from look to look.";
    const NATURE: Nature = Nature::Looks;
    type Answer = Seen;

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn words(&self) -> String {
        String::new()
    }

    async fn perform(&self, stage: &Stage, _cx: &Context) -> Result<Done<Seen>, Fault> {
        stage.look().await?;
        let refs = stage.session.refs();
        let empty = Screen::default();
        let screen = refs.screen().unwrap_or(&empty);
        let which = match self.include {
            Include::Visible => Shown::Telling,
            Include::Offscreen => Shown::Offscreen,
            Include::All => Shown::All,
        };
        let (elements, more) = shown(screen, &refs.by_place(), which, self.max_elements.unwrap_or(150));
        let left_out = more + screen.cut;
        let mut text = format!("{} elements", elements.len());
        if left_out > 0 {
            text.push_str(&format!(", {left_out} left out (max_elements, include)"));
        }
        text.push('\n');
        text.push_str(&lines(&elements));
        Ok(Done::new(Seen { title: screen.title.clone(), screen: screen.size, elements, left_out }, text))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct FindElement {
    #[serde(flatten)]
    aim: Aim,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FoundElement {
    element: View,
}

impl Command for FindElement {
    const NAME: &'static str = "find_element";
    const TITLE: &'static str = "Find an element";
    const ABOUT: &'static str =
        "Waits until an element is there, and gives its reference, text, state and place.";
    const NATURE: Nature = Nature::Looks;
    type Answer = FoundElement;

    aimed!();

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<FoundElement>, Fault> {
        let Found { element } = self.aim.find(stage, cx).await?;
        let rect = match stage.device.rect(&element).await {
            Ok(rect) => rect,
            Err(trouble) => return Err(stage.fault(trouble, "places of elements", None).await),
        };
        stage.look().await?;
        let view = {
            let refs = stage.session.refs();
            let place = refs.screen().and_then(|screen| same(screen, &element, rect, self.selector()));
            place.and_then(|index| {
                let node = refs.screen()?.nodes.get(index)?;
                Some(View { rect, ..View::of(node, refs.by_place().get(&index)?.clone(), 0) })
            })
        };
        let view = match view {
            Some(view) => view,
            None => bare(stage, &element, rect).await?,
        };
        let text = lines(std::slice::from_ref(&view));
        Ok(Done::new(FoundElement { element: view }, text))
    }
}

/// The node of an element: by its own id, else the innermost at the same place, else the one that has what was looked for
/// as its id; not every driver says in its tree where things are.
fn same(screen: &Screen, element: &ElementId, rect: Rect, selector: Option<&str>) -> Option<usize> {
    let near = |a: f64, b: f64| (a - b).abs() < 1.0;
    let at = |other: Rect| {
        near(other.x, rect.x)
            && near(other.y, rect.y)
            && near(other.width, rect.width)
            && near(other.height, rect.height)
    };
    let all = || screen.nodes.iter().enumerate();
    let exact = all().find(|(_, node)| matches!(&node.handle, Handle::Element(id) if id == element));
    let placed = || {
        all()
            .filter(|(_, node)| matches!(node.handle, Handle::Path(_)) && at(node.rect))
            .max_by_key(|(_, node)| (node.is_telling(), node.depth))
    };
    let named = || {
        let is_it =
            |node: &crate::screen::Node| selector == Some(&node.id) || selector == Some(&node.accessibility);
        all().find(|(_, node)| matches!(node.handle, Handle::Path(_)) && is_it(node))
    };
    exact.or_else(placed).or_else(named).map(|(index, _)| index)
}

/// An element that stands in no list, by what the driver says of it.
async fn bare(stage: &Stage, element: &ElementId, rect: Rect) -> Result<View, Fault> {
    let name = match stage.device.text(element).await {
        Ok(text) => tidy(&text),
        Err(trouble) => return Err(stage.fault(trouble, "texts of elements", None).await),
    };
    let node = crate::screen::Node { role: "element".to_owned(), name, rect, ..Default::default() };
    Ok(View::of(&node, String::new(), 0))
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GetText {
    #[serde(flatten)]
    aim: Aim,
}

/// A text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TextIs {
    text: String,
}

/// The app's words between fences they cannot break out of.
fn fenced(text: &str) -> String {
    format!("```\n{}\n```", text.replace('`', "'"))
}

impl Command for GetText {
    const NAME: &'static str = "get_element_text";
    const TITLE: &'static str = "Read an element";
    const ABOUT: &'static str = "Gives the text of an element.";
    const NATURE: Nature = Nature::Looks;
    type Answer = TextIs;

    aimed!();

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<TextIs>, Fault> {
        let Found { element } = self.aim.find(stage, cx).await?;
        match stage.device.text(&element).await {
            Ok(text) => Ok(Done::new(TextIs { text: text.clone() }, fenced(&text))),
            Err(trouble) => Err(stage.fault(trouble, "texts of elements", None).await),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GetAttribute {
    #[serde(flatten)]
    aim: Aim,
    /// Its name, such as value, label or enabled.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[A-Za-z][A-Za-z0-9_:.-]*$"))]
    attribute: String,
}

/// An attribute.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttributeIs {
    attribute: String,
    /// Null when the element has no such attribute.
    value: Option<String>,
}

impl Command for GetAttribute {
    const NAME: &'static str = "get_element_attribute";
    const TITLE: &'static str = "Read an attribute";
    const ABOUT: &'static str = "Gives an attribute of an element.";
    const NATURE: Nature = Nature::Looks;
    type Answer = AttributeIs;

    fn session(&self) -> Option<&str> {
        self.aim.session.as_deref()
    }

    fn words(&self) -> String {
        format!("{} of {}", self.attribute, self.aim.words())
    }

    fn selector(&self) -> Option<&str> {
        self.aim.selector.as_deref()
    }

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<AttributeIs>, Fault> {
        let Found { element } = self.aim.find(stage, cx).await?;
        match stage.device.attribute(&element, &self.attribute).await {
            Ok(value) => {
                let value = (!value.is_null()).then(|| plain(&value));
                let text = value.as_deref().map_or_else(|| "no such attribute".to_owned(), fenced);
                Ok(Done::new(AttributeIs { attribute: self.attribute.clone(), value }, text))
            }
            Err(trouble) => Err(stage.fault(trouble, "attributes of elements", None).await),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetLogs {
    /// The session; may be left out while you have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Which log, as the driver calls it: browser, syslog, logcat, server. The platform's usual one unless given.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z][A-Za-z0-9_-]*$"))]
    kind: Option<String>,
    /// At most so many lines, the newest; 100 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    max_lines: Option<usize>,
}

/// Lines of a log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Logged {
    entries: Vec<LogEntry>,
    /// Older ones that are not shown.
    left_out: usize,
}

/// The most characters of one line.
const LONGEST_LINE: usize = 2_000;

impl Command for GetLogs {
    const NAME: &'static str = "get_logs";
    const TITLE: &'static str = "Read the log";
    const ABOUT: &'static str = "Gives the newest lines of a log of the device or the browser. What was read is gone from some drivers' logs.";
    const NATURE: Nature = Nature::Looks;
    type Answer = Logged;

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn words(&self) -> String {
        self.kind.clone().unwrap_or_default()
    }

    async fn perform(&self, stage: &Stage, _cx: &Context) -> Result<Done<Logged>, Fault> {
        let mut entries = match stage.device.logs(self.kind.as_deref()).await {
            Ok(entries) => entries,
            Err(trouble) => return Err(stage.fault(trouble, "this log", None).await),
        };
        let left_out = entries.len().saturating_sub(self.max_lines.unwrap_or(100));
        entries.drain(..left_out);
        for entry in &mut entries {
            entry.message = entry.message.chars().take(LONGEST_LINE).collect();
        }
        let each = entries.iter().map(|entry| format!("{} {}", entry.level, tidy(&entry.message)));
        let text = fenced(&each.collect::<Vec<_>>().join("\n"));
        Ok(Done::new(Logged { entries, left_out }, text))
    }
}
