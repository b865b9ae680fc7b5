//! The picture and the source say the same.

use serde_json::{Value, json};

use crate::support::{Client, logged_in, start};

/// A screenshot as pixels: width, height, and three bytes each.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

async fn picture(client: &Client) -> Picture {
    decoded(&client.get("/screenshot").await)
}

fn decoded(text: &Value) -> Picture {
    let bytes = base64(text.as_str().unwrap());
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    Picture { width: info.width as usize, height: info.height as usize, pixels }
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

impl Picture {
    /// The rows of pixels of a place given in points.
    fn part(&self, [x, y, width, height]: [i64; 4]) -> Vec<Vec<u8>> {
        let [x, y, width, height] = [x, y, width, height].map(|side| usize::try_from(side).unwrap() * 2);
        let row = |y: usize| self.pixels[(y * self.width + x) * 3..(y * self.width + x + width) * 3].to_vec();
        (y..y + height).map(row).collect()
    }

    /// The smallest place all differences are in, in points.
    fn change(&self, other: &Picture) -> Option<[usize; 4]> {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let differs =
            |place: &usize| self.pixels[place * 3..place * 3 + 3] != other.pixels[place * 3..place * 3 + 3];
        let changed: Vec<usize> = (0..self.width * self.height).filter(differs).collect();
        let rows = changed.iter().map(|place| place / self.width);
        let columns = changed.iter().map(|place| place % self.width);
        let (left, right) = (columns.clone().min()?, columns.max()?);
        let (top, bottom) = (rows.clone().min()?, rows.max()?);
        Some([left / 2, top / 2, right / 2, bottom / 2])
    }
}

#[tokio::test]
async fn what_changes_in_the_app_changes_in_the_picture_and_nothing_else() {
    let client = logged_in().await;
    client.click("tab-account").await;
    let before = picture(&client).await;
    assert_eq!((before.width, before.height), (750, 1334));
    assert_eq!(before.change(&picture(&client).await), None, "the same state is the same picture");
    client.click("notifications").await;
    let changed = before.change(&picture(&client).await).expect("the switch shows");
    let [x, y, width, height] = client.rect("notifications").await.map(|side| usize::try_from(side).unwrap());
    assert!(
        changed[0] >= x && changed[1] >= y && changed[2] < x + width && changed[3] < y + height,
        "{changed:?}"
    );
}

#[tokio::test]
async fn every_element_with_text_has_ink_where_it_says_it_is() {
    let client = logged_in().await;
    for tab in ["tab-items", "tab-order", "tab-account"] {
        client.click(tab).await;
        let (shot, source) = (picture(&client).await, client.get("/source?format=json").await);
        let mut checked = 0;
        let mut left = vec![source];
        while let Some(node) = left.pop() {
            left.extend(node["children"].as_array().cloned().unwrap_or_default());
            let is_text = ["StaticText", "Button", "Switch"].contains(&node["type"].as_str().unwrap());
            let rect = ["x", "y", "width", "height"].map(|side| node["rect"][side].as_i64().unwrap());
            let inside = rect[1] + rect[3] <= 667 && rect[1] >= 0;
            if !is_text || node["isVisible"] != "1" || !inside {
                continue;
            }
            let rows = shot.part(rect);
            assert!(rows.iter().flat_map(|row| row.chunks(3)).any(|pixel| pixel != &rows[0][..3]), "{node}");
            checked += 1;
        }
        assert!(checked >= 5, "{tab}: {checked}");
    }
}

#[tokio::test]
async fn dark_sideways_and_in_part() {
    let client = start().await;
    let before = picture(&client).await;
    client.raw("POST", "/wda/device/appearance", &json!({"name": "dark"})).await;
    assert!(before.change(&picture(&client).await).is_some());
    client.post("/orientation", json!({"orientation": "LANDSCAPE"})).await;
    let turned = picture(&client).await;
    assert_eq!((turned.width, turned.height), (1334, 750));
    assert_eq!(client.get("/window/rect").await, json!({"x": 0, "y": 0, "width": 667, "height": 375}));
    let id = client.find("log-in").await;
    let part = decoded(&client.get(&format!("/element/{id}/screenshot")).await);
    let [_, _, width, height] = client.rect("log-in").await.map(|side| usize::try_from(side).unwrap() * 2);
    assert_eq!((part.width, part.height), (width, height));
    assert_eq!(
        part.pixels.chunks(part.width * 3).map(<[u8]>::to_vec).collect::<Vec<_>>(),
        turned.part(client.rect("log-in").await)
    );
}

#[tokio::test]
async fn the_source_is_written_as_the_runner_writes_it() {
    let client = start().await;
    client.type_into("username", "<&\"'>").await;
    let source = client.get("/source?format=xml&scope=AppiumAUT&excluded_attributes=index,accessible").await;
    let source = source.as_str().unwrap();
    assert!(
        source
            .starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?><AppiumAUT><XCUIElementTypeApplication "),
        "{source}"
    );
    assert!(source.contains("value=\"&lt;&amp;&quot;'&gt;\" name=\"username\""), "{source}");
    assert!(!source.contains(" index=") && source.ends_with("</AppiumAUT>"));
}
