//! Element ids, locators and rectangles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key of a W3C element reference.
pub(crate) const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The key before W3C. Some drivers send only this one.
const OLD_ELEMENT: &str = "ELEMENT";

/// The driver's id of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ElementId(pub(crate) String);

impl ElementId {
    pub(crate) fn parse(value: &Value) -> Option<ElementId> {
        let id = value.get(ELEMENT).or_else(|| value.get(OLD_ELEMENT))?;
        Some(ElementId(id.as_str()?.to_owned()))
    }

    /// The id as a script argument.
    pub(crate) fn reference(&self) -> Value {
        serde_json::json!({ELEMENT: self.0})
    }
}

/// How a selector is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Strategy {
    /// A path that begins with a slash is XPath; anything else an accessibility id, then a name or text on the screen.
    #[default]
    Auto,
    /// The name assistive technology reads, or the identifier developers gave.
    AccessibilityId,
    /// The id of the platform: resource id, element id.
    Id,
    /// `XPath` over the screen hierarchy.
    Xpath,
    /// The class, such as `XCUIElementTypeButton`.
    ClassName,
    /// The text or label on the screen.
    Text,
    /// A CSS selector, in browsers and web views.
    Css,
    /// iOS: an `NSPredicate`.
    Predicate,
    /// iOS: a class chain.
    ClassChain,
    /// Android: an expression of `UiSelector`.
    Uiautomator,
}

impl Strategy {
    /// The name in messages.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Strategy::Auto => "name or path",
            Strategy::AccessibilityId => "accessibility id",
            Strategy::Id => "id",
            Strategy::Xpath => "xpath",
            Strategy::ClassName => "class name",
            Strategy::Text => "text",
            Strategy::Css => "css selector",
            Strategy::Predicate => "predicate string",
            Strategy::ClassChain => "class chain",
            Strategy::Uiautomator => "uiautomator",
        }
    }
}

/// A selector with its strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Locator {
    pub(crate) strategy: Strategy,
    pub(crate) value: String,
}

impl Locator {
    pub(crate) fn new(strategy: Strategy, value: impl Into<String>) -> Locator {
        Locator { strategy, value: value.into() }
    }

    /// Whether `auto` means XPath.
    pub(crate) fn is_path(&self) -> bool {
        self.value.starts_with('/') || self.value.starts_with("(/") || self.value.starts_with("./")
    }
}

/// Where something is, in the driver's own units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn center(self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width <= 0.0 || self.height <= 0.0
    }

    /// Whether its centre is inside another rectangle.
    pub(crate) fn is_centered_in(self, other: Rect) -> bool {
        let (x, y) = self.center();
        x >= other.x && y >= other.y && x < other.x + other.width && y < other.y + other.height
    }
}
