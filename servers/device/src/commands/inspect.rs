//! Reading: the screen hierarchy, elements, logs.

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assertions::plain;
use super::target::{ElementTarget, LocatedElement};
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::screen::{ElementFilter, ElementHandle, ElementView, Screen, lines, select_views, tidy};
use crate::sessions::lease::DeviceLease;
use crate::w3c::{ElementId, LogEntry, Rect};

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<GetHierarchy>());
    all.push(entry::<FindElement>());
    all.push(entry::<GetText>());
    all.push(entry::<GetAttribute>());
    all.push(entry::<GetLogs>());
}

/// Which elements of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Include {
    /// Elements that are visible and can be touched or read.
    #[default]
    Visible,
    /// Also elements below the visible part.
    Offscreen,
    /// Layout too.
    All,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetHierarchy {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// Which elements: visible (default), offscreen, all.
    #[serde(default)]
    include: Include,
    /// The maximum number of elements; default 150.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    max_elements: Option<usize>,
}

/// The content of the screen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HierarchyResult {
    /// The title of a page.
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// The visible part, if the driver reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<Rect>,
    elements: Vec<ElementView>,
    /// The number of elements that are not listed.
    left_out: usize,
}

impl Command for GetHierarchy {
    const NAME: &'static str = "get_screen_hierarchy";
    const TITLE: &'static str = "See the screen";
    const ABOUT: &'static str = "Lists the elements on the screen as assistive technology sees them, each with a reference (e12) to pass as ref. An element has the same reference in every listing.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = HierarchyResult;

    in_session!();

    async fn perform(
        &self,
        lease: &DeviceLease,
        _cx: &Context,
    ) -> Result<TypedOutput<HierarchyResult>, Fault> {
        lease.look().await?;
        let refs = lease.session.refs();
        let empty = Screen::default();
        let screen = refs.screen().unwrap_or(&empty);
        let which = match self.include {
            Include::Visible => ElementFilter::Meaningful,
            Include::Offscreen => ElementFilter::Offscreen,
            Include::All => ElementFilter::All,
        };
        let (elements, more) =
            select_views(screen, &refs.by_place(), which, self.max_elements.unwrap_or(150));
        let left_out = more + screen.cut;
        let mut text = format!("{} elements", elements.len());
        if left_out > 0 {
            text.push_str(&format!(", {left_out} left out (max_elements, include)"));
        }
        text.push('\n');
        text.push_str(&lines(&elements));
        Ok(TypedOutput::new(
            HierarchyResult { title: screen.title.clone(), screen: screen.size, elements, left_out },
            text,
        ))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct FindElement {
    #[serde(flatten)]
    target: ElementTarget,
}

/// The elements that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindElementResult {
    element: ElementView,
}

impl Command for FindElement {
    const NAME: &'static str = "find_element";
    const TITLE: &'static str = "Find an element";
    const ABOUT: &'static str =
        "Waits until an element exists, and returns its reference, text, state and position.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = FindElementResult;

    aimed!();

    async fn perform(
        &self,
        lease: &DeviceLease,
        cx: &Context,
    ) -> Result<TypedOutput<FindElementResult>, Fault> {
        let LocatedElement { element } = self.target.find(lease, cx).await?;
        let rect = match lease.device.rect(&element).await {
            Ok(rect) => rect,
            Err(trouble) => return Err(lease.fault(trouble, "places of elements", None).await),
        };
        lease.look().await?;
        let view = {
            let refs = lease.session.refs();
            let place = refs.screen().and_then(|screen| find_node(screen, &element, rect, self.selector()));
            place.and_then(|index| {
                let node = refs.screen()?.nodes.get(index)?;
                Some(ElementView { rect, ..ElementView::new(node, refs.by_place().get(&index)?.clone(), 0) })
            })
        };
        let view = match view {
            Some(view) => view,
            None => view_without_reference(lease, &element, rect).await?,
        };
        let text = lines(std::slice::from_ref(&view));
        Ok(TypedOutput::new(FindElementResult { element: view }, text))
    }
}

/// The node of an element. It is found by its id, otherwise by its area (innermost first), otherwise by the
/// selector as id. Some drivers report no areas in their tree.
fn find_node(screen: &Screen, element: &ElementId, rect: Rect, selector: Option<&str>) -> Option<usize> {
    let near = |a: f64, b: f64| (a - b).abs() < 1.0;
    let at = |other: Rect| {
        near(other.x, rect.x)
            && near(other.y, rect.y)
            && near(other.width, rect.width)
            && near(other.height, rect.height)
    };
    let all = || screen.nodes.iter().enumerate();
    let exact = all().find(|(_, node)| matches!(&node.handle, ElementHandle::Element(id) if id == element));
    let placed = || {
        all()
            .filter(|(_, node)| matches!(node.handle, ElementHandle::Path(_)) && at(node.rect))
            .max_by_key(|(_, node)| (node.is_meaningful(), node.depth))
    };
    let named = || {
        let is_it =
            |node: &crate::screen::Node| selector == Some(&node.id) || selector == Some(&node.accessibility);
        all().find(|(_, node)| matches!(node.handle, ElementHandle::Path(_)) && is_it(node))
    };
    exact.or_else(placed).or_else(named).map(|(index, _)| index)
}

/// An element without a node, described by the driver's properties.
async fn view_without_reference(
    lease: &DeviceLease,
    element: &ElementId,
    rect: Rect,
) -> Result<ElementView, Fault> {
    let name = match lease.device.text(element).await {
        Ok(text) => tidy(&text),
        Err(trouble) => return Err(lease.fault(trouble, "texts of elements", None).await),
    };
    let node = crate::screen::Node { role: "element".to_owned(), name, rect, ..Default::default() };
    Ok(ElementView::new(&node, String::new(), 0))
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GetText {
    #[serde(flatten)]
    target: ElementTarget,
}

/// A text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TextResult {
    text: String,
}

/// Text of the app in a code fence that it cannot close.
fn fenced(text: &str) -> String {
    format!("```\n{}\n```", text.replace('`', "'"))
}

impl Command for GetText {
    const NAME: &'static str = "get_element_text";
    const TITLE: &'static str = "Read an element";
    const ABOUT: &'static str = "Returns the text of an element.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = TextResult;

    aimed!();

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<TextResult>, Fault> {
        let LocatedElement { element } = self.target.find(lease, cx).await?;
        match lease.device.text(&element).await {
            Ok(text) => Ok(TypedOutput::new(TextResult { text: text.clone() }, fenced(&text))),
            Err(trouble) => Err(lease.fault(trouble, "texts of elements", None).await),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GetAttribute {
    #[serde(flatten)]
    target: ElementTarget,
    /// Its name, such as value, label or enabled.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[A-Za-z][A-Za-z0-9_:.-]*$"))]
    attribute: String,
}

/// An attribute.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AttributeResult {
    attribute: String,
    /// Null when the element has no such attribute.
    value: Option<String>,
}

impl Command for GetAttribute {
    const NAME: &'static str = "get_element_attribute";
    const TITLE: &'static str = "Read an attribute";
    const ABOUT: &'static str = "Returns an attribute of an element.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = AttributeResult;

    in_session!(target);

    fn describe(&self) -> String {
        format!("{} of {}", self.attribute, self.target.describe())
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(
        &self,
        lease: &DeviceLease,
        cx: &Context,
    ) -> Result<TypedOutput<AttributeResult>, Fault> {
        let LocatedElement { element } = self.target.find(lease, cx).await?;
        match lease.device.attribute(&element, &self.attribute).await {
            Ok(value) => {
                let value = (!value.is_null()).then(|| plain(&value));
                let text = value.as_deref().map_or_else(|| "no such attribute".to_owned(), fenced);
                Ok(TypedOutput::new(AttributeResult { attribute: self.attribute.clone(), value }, text))
            }
            Err(trouble) => Err(lease.fault(trouble, "attributes of elements", None).await),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetLogs {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The name of the log at the driver: browser, syslog, logcat, server; default: the usual log of the platform.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z][A-Za-z0-9_-]*$"))]
    kind: Option<String>,
    /// The maximum number of lines, the newest; default 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    max_lines: Option<usize>,
}

/// Lines of a log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogsResult {
    entries: Vec<LogEntry>,
    /// The number of older lines that are not shown.
    left_out: usize,
}

/// Maximum number of characters per line.
const LONGEST_LINE: usize = 2_000;

impl Command for GetLogs {
    const NAME: &'static str = "get_logs";
    const TITLE: &'static str = "Read the log";
    const ABOUT: &'static str = "Returns the newest lines of a log of the device or the browser. Some drivers remove lines from the log when they are read.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = LogsResult;

    in_session!();

    fn describe(&self) -> String {
        self.kind.clone().unwrap_or_default()
    }

    async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<LogsResult>, Fault> {
        let mut entries = match lease.device.logs(self.kind.as_deref()).await {
            Ok(entries) => entries,
            Err(trouble) => return Err(lease.fault(trouble, "this log", None).await),
        };
        let left_out = entries.len().saturating_sub(self.max_lines.unwrap_or(100));
        entries.drain(..left_out);
        for entry in &mut entries {
            entry.message = entry.message.chars().take(LONGEST_LINE).collect();
        }
        let each = entries.iter().map(|entry| format!("{} {}", entry.level, tidy(&entry.message)));
        let text = fenced(&each.collect::<Vec<_>>().join("\n"));
        Ok(TypedOutput::new(LogsResult { entries, left_out }, text))
    }
}
