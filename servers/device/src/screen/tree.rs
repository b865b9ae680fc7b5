//! The tree as XML, the format of Appium's drivers and `WebDriverAgent`.

use std::collections::HashMap;

use roxmltree::{Document, Node as Element, ParsingOptions};

use super::{ElementHandle, ElementState, MOST, Node, Screen, tidy};
use crate::w3c::{DriverError, Rect};

/// Maximum number of elements of a document. It bounds the memory.
const MOST_ELEMENTS: u32 = 200_000;
/// Elements nested deeper than this are skipped.
const DEEPEST: usize = 200;
/// Root elements that drivers add and that their own XPath does not know.
const WRAPPERS: [&str; 1] = ["AppiumAUT"];

pub(crate) fn parse_xml(source: &str) -> Result<Screen, DriverError> {
    let invalid = |why| DriverError::InvalidResponse {
        why,
        body: source.as_bytes().iter().take(4_096).copied().collect(),
    };
    let options = ParsingOptions { nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(source, options).map_err(|_| invalid("a screen that is no XML"))?;
    let mut screen = Screen::default();
    let root = document.root_element();
    screen.size = size_of(root);
    let mut open = vec![(root, None, root_path(root), 0)];
    while let Some((element, parent, path, depth)) = open.pop() {
        if screen.nodes.len() >= MOST || depth > DEEPEST {
            screen.cut += 1;
            continue;
        }
        let index = screen.nodes.len();
        screen.nodes.push(read(element, parent, path.clone(), depth));
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut below = Vec::new();
        for child in element.children().filter(Element::is_element) {
            let tag = child.tag_name().name();
            let nth = seen.entry(tag).and_modify(|count| *count += 1).or_insert(1);
            below.push((child, Some(index), format!("{path}/{tag}[{nth}]"), depth + 1));
        }
        open.extend(below.into_iter().rev());
    }
    Ok(screen)
}

fn root_path(root: Element<'_, '_>) -> String {
    let tag = root.tag_name().name();
    if WRAPPERS.contains(&tag) { "/".to_owned() } else { format!("/{tag}") }
}

fn read(element: Element<'_, '_>, parent: Option<usize>, path: String, depth: usize) -> Node {
    let get = |name: &str| element.attribute(name).unwrap_or_default();
    let first = |names: &[&str]| {
        names.iter().map(|name| tidy(get(name))).find(|value| !value.is_empty()).unwrap_or_default()
    };
    let role = role(element.tag_name().name());
    let label = first(&["label", "content-desc", "AXLabel", "text"]);
    let accessibility = first(&["name", "content-desc", "AXLabel"]);
    let is_secure = role == "securetextfield" || get("password") == "true";
    let value = match first(&["value"]) {
        value if value.is_empty() || !is_secure => value,
        _ => "••••".to_owned(),
    };
    let own: String =
        element.children().filter(|child| child.is_text()).filter_map(|child| child.text()).collect();
    let name = [label, accessibility.clone(), tidy(&own)]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let is_no = |name: &str| get(name) == "false";
    let is_yes = |name: &str| get(name) == "true";
    let is_visible = !is_no("visible") && !is_no("displayed");
    let states = [
        (is_no("enabled"), ElementState::Disabled),
        (is_yes("focused"), ElementState::Focused),
        (is_yes("checked"), ElementState::Checked),
        (is_yes("selected"), ElementState::Selected),
        (!is_visible, ElementState::Offscreen),
    ];
    Node {
        parent,
        depth,
        is_interactive: is_yes("clickable") || is_yes("accessible") || INTERACTIVE.contains(&role.as_str()),
        role,
        name: if is_secure && get("label").is_empty() { accessibility.clone() } else { name },
        accessibility,
        id: first(&["resource-id", "id"]),
        value,
        rect: rect(element),
        states: states.into_iter().filter(|(holds, _)| *holds).map(|(_, state)| state).collect(),
        is_visible,
        options: Vec::new(),
        handle: ElementHandle::Path(path),
    }
}

/// Roles of elements that are usually interactive.
const INTERACTIVE: [&str; 19] = [
    "button",
    "imagebutton",
    "link",
    "textfield",
    "securetextfield",
    "searchfield",
    "textview",
    "edittext",
    "switch",
    "slider",
    "checkbox",
    "radiobutton",
    "picker",
    "pickerwheel",
    "datepicker",
    "cell",
    "tab",
    "menuitem",
    "inputfield",
];

/// `XCUIElementTypeButton`, `android.widget.Button` and `MockButton` all have the role `button`.
fn role(tag: &str) -> String {
    let short = tag.strip_prefix("XCUIElementType").unwrap_or(tag);
    let short = short.rsplit('.').next().unwrap_or(short);
    short.strip_prefix("Mock").unwrap_or(short).to_ascii_lowercase()
}

/// iOS has four attributes, Android `bounds="[0,63][1080,210]"`.
fn rect(element: Element<'_, '_>) -> Rect {
    let number = |name: &str| element.attribute(name).and_then(|value| value.parse().ok());
    if let (Some(x), Some(y), Some(width), Some(height)) =
        (number("x"), number("y"), number("width"), number("height"))
    {
        return Rect { x, y, width, height };
    }
    let bounds = element.attribute("bounds").unwrap_or_default();
    let numbers: Vec<f64> =
        bounds.split(['[', ']', ',']).filter_map(|piece| piece.trim().parse().ok()).collect();
    match numbers.as_slice() {
        [left, top, right, bottom] => Rect { x: *left, y: *top, width: right - left, height: bottom - top },
        _ => Rect::default(),
    }
}

fn size_of(root: Element<'_, '_>) -> Option<Rect> {
    let own = rect(root);
    let inner = root.first_element_child().map(rect).unwrap_or_default();
    let sized = |element: Element<'_, '_>| {
        let number = |name: &str| element.attribute(name).and_then(|value| value.parse().ok());
        Some(Rect { x: 0.0, y: 0.0, width: number("width")?, height: number("height")? })
    };
    [Some(own), Some(inner), sized(root)].into_iter().flatten().find(|rect| !rect.is_empty())
}

#[cfg(test)]
mod tests {
    use super::parse_xml;
    use crate::screen::{ElementHandle, ElementState};
    use crate::w3c::{Rect, Strategy};

    const IPHONE: &str = r#"<?xml version="1.0"?><AppiumAUT><XCUIElementTypeApplication name="Shop" label="Shop" x="0" y="0" width="390" height="844">
<XCUIElementTypeTextField name="user" label="User name" value="ada" enabled="true" visible="true" x="20" y="100" width="350" height="40"/>
<XCUIElementTypeSecureTextField name="password" label="Password" value="hunter2" x="20" y="150" width="350" height="40"/>
<XCUIElementTypeButton name="login" label="Log in" enabled="false" x="20" y="200" width="350" height="44"/>
<XCUIElementTypeButton name="help" label="Help" visible="false" x="20" y="900" width="350" height="44"/></XCUIElementTypeApplication></AppiumAUT>"#;

    #[test]
    fn an_iphone_is_read() {
        let screen = parse_xml(IPHONE).unwrap();
        let by = |name: &str| screen.nodes.iter().find(|node| node.accessibility == name).unwrap();
        assert_eq!(
            (by("user").role.as_str(), by("user").name.as_str(), by("user").value.as_str()),
            ("textfield", "User name", "ada")
        );
        assert_eq!(by("password").value, "••••");
        assert_eq!(by("login").states, [ElementState::Disabled]);
        assert_eq!(by("help").states, [ElementState::Offscreen]);
        assert_eq!(by("login").rect, Rect { x: 20.0, y: 200.0, width: 350.0, height: 44.0 });
        assert_eq!(
            by("login").handle,
            ElementHandle::Path("//XCUIElementTypeApplication[1]/XCUIElementTypeButton[1]".to_owned())
        );
        let locator = screen.locator(by("login")).unwrap();
        assert_eq!((locator.strategy, locator.value.as_str()), (Strategy::AccessibilityId, "login"));
        assert_eq!(screen.size.map(|size| (size.width, size.height)), Some((390.0, 844.0)));
    }

    #[test]
    fn an_android_phone_is_read() {
        let screen = parse_xml(r#"<hierarchy><android.widget.FrameLayout bounds="[0,0][1080,2400]"><android.widget.Button text="Go" resource-id="app:id/go" clickable="true" bounds="[10,20][110,70]"/><android.widget.EditText password="true" text="secret" content-desc="Code" bounds="[0,0][1,1]"/></android.widget.FrameLayout></hierarchy>"#).unwrap();
        let go = &screen.nodes[2];
        assert_eq!((go.role.as_str(), go.name.as_str(), go.id.as_str()), ("button", "Go", "app:id/go"));
        assert_eq!(go.rect, Rect { x: 10.0, y: 20.0, width: 100.0, height: 50.0 });
        assert_eq!(
            go.handle,
            ElementHandle::Path(
                "/hierarchy/android.widget.FrameLayout[1]/android.widget.Button[1]".to_owned()
            )
        );
        assert_eq!(screen.nodes[3].name, "Code", "what a secret field holds is not its name");
    }

    #[test]
    fn nonsense_and_bombs_are_refused() {
        let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>"#;
        for source in ["", "<a>", "no xml", bomb] {
            assert!(parse_xml(source).is_err(), "{source}");
        }
        let deep = format!("{}{}", "<a>".repeat(1_000), "</a>".repeat(1_000));
        let read = parse_xml(&deep);
        assert!(read.is_err() || read.is_ok_and(|screen| screen.nodes.len() <= 201));
    }
}
