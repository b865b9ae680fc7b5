use super::find;
use crate::phone::app::Tab;
use crate::phone::device::Device;

/// The screen with the list, and the names of what a selector finds on it.
fn names(using: &str, value: &str) -> Result<Vec<String>, String> {
    let mut device = Device::new();
    device.app.launch(vec![]);
    device.app.user = Some("ada".to_owned());
    device.app.tab = Tab::Items;
    let screen = device.screen();
    let found = find(&screen, 0, using, value).map_err(|refusal| refusal.error)?;
    Ok(found.iter().filter_map(|&index| screen.node(index)?.name.clone()).collect())
}

#[test]
fn what_selectors_find() {
    for (using, value, expected) in [
        ("accessibility id", "item-Rice", "item-Rice"),
        ("id", "nothing", ""),
        ("class name", "XCUIElementTypeNavigationBar", "Items"),
        ("predicate string", "name == 'item-Salt'", "item-Salt"),
        (
            "predicate string",
            "type == 'XCUIElementTypeCell' AND label BEGINSWITH[c] 'o'",
            "item-Oats item-Olives item-Onions",
        ),
        ("predicate string", "label IN {'Milk', 'Eggs'} && type ENDSWITH 'Cell'", "item-Eggs item-Milk"),
        ("predicate string", "name LIKE 'item-?ilk'", "item-Milk"),
        ("predicate string", "name MATCHES 'item-(Milk|Rice)' AND visible == true", ""),
        ("predicate string", "name MATCHES 'item-(Milk|Rice)' AND NOT visible == 1", "item-Milk item-Rice"),
        ("predicate string", "type == 'XCUIElementTypeCell' AND y < 100", "item-Almonds"),
        ("class chain", "**/XCUIElementTypeCell[2]", "item-Apples"),
        ("class chain", "**/XCUIElementTypeCell[`label == \"Rice\"`]/XCUIElementTypeStaticText", "Rice"),
        ("class chain", "**/XCUIElementTypeTable/*[-1]", "item-Yeast"),
        ("class chain", "**/XCUIElementTypeCell[$label == 'Dates'$]", "item-Dates"),
        ("class chain", "XCUIElementTypeWindow/XCUIElementTypeTabBar", "Tab Bar"),
        ("xpath", "//XCUIElementTypeCell[@name='item-Beans']", "item-Beans"),
        ("xpath", "//*[contains(@label, 'ard') and not(@type='XCUIElementTypeCell')]", "Mustard"),
        ("xpath", "//XCUIElementTypeCell[3]/XCUIElementTypeStaticText", "Barley"),
        ("xpath", "(//XCUIElementTypeStaticText)[2]", "Apples"),
        ("xpath", "//XCUIElementTypeTable/XCUIElementTypeCell[last()]", "item-Yeast"),
        ("xpath", "/XCUIElementTypeApplication/XCUIElementTypeWindow[1]/XCUIElementTypeTable", "items"),
        ("xpath", "//XCUIElementTypeStaticText[@label=\"Figs\" or @label=\"Sugar\"]/..", "item-Sugar"),
        ("xpath", "//XCUIElementTypeButton[@enabled='true'][1]", "tab-items"),
        ("link text", "label=Rice", "item-Rice Rice"),
        ("partial link text", "name=tab-", "tab-items tab-order tab-account"),
    ] {
        assert_eq!(names(using, value).map(|all| all.join(" ")), Ok(expected.to_owned()), "{using} {value}");
    }
}

#[test]
fn selectors_that_cannot_be_read() {
    let deep = format!("{}name == 'x'{}", "(".repeat(200), ")".repeat(200));
    for (using, value, error) in [
        ("xpath", "//[", "invalid selector"),
        ("xpath", "//XCUIElementTypeCell[", "invalid selector"),
        ("xpath", "//*[string-length(@name) > 3]", "invalid selector"),
        ("predicate string", "name ==", "invalid selector"),
        ("predicate string", "name == 'x", "invalid selector"),
        ("predicate string", "name MATCHES '('", "invalid selector"),
        ("predicate string", deep.as_str(), "invalid selector"),
        ("class chain", "", "invalid selector"),
        ("class chain", "Button", "invalid selector"),
        ("class chain", "**/XCUIElementTypeCell[0]", "invalid selector"),
        ("class chain", "**/XCUIElementTypeCell[`name == 'x']", "invalid selector"),
        ("css selector", "a", "invalid argument"),
    ] {
        assert_eq!(names(using, value), Err(error.to_owned()), "{using} {value}");
    }
}
