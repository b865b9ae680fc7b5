//! The app, driven through the accessibility tree.

use serde_json::{Value, json};

use crate::support::{Client, logged_in, start};

#[tokio::test]
async fn a_login_that_fails_and_one_that_does_not() {
    let client = start().await;
    let button = client.find("log-in").await;
    assert_eq!(client.get(&format!("/element/{button}/enabled")).await, json!(false));
    client.type_into("username", "ada").await;
    client.type_into("password", "guess").await;
    assert_eq!(client.text("username").await, "ada");
    assert_eq!(client.text("password").await, "*****", "nobody reads a password");
    client.click("log-in").await;
    assert_eq!(client.text("login-message").await, "Wrong name or password");
    client.type_into("password", "sesame\n").await;
    assert_eq!(client.control.dump()["user"], "ada", "Return logs in");
    let gone = client.refused("GET", &format!("/element/{button}/text"), Value::Null).await;
    assert_eq!(gone, (404, "stale element reference".to_owned()));
}

#[tokio::test]
async fn the_list_scrolls_and_opens() {
    let client = logged_in().await;
    let (yeast, first) = (client.find("item-Yeast").await, client.find("item-Almonds").await);
    let shown = |id: &str| format!("/element/{id}/displayed");
    assert_eq!(client.get(&shown(&yeast)).await, json!(false));
    client.post("/wda/swipe", json!({"direction": "up"})).await;
    assert_eq!(client.get(&shown(&first)).await, json!(false), "the list moved");
    client.post("/wda/swipe", json!({"direction": "down"})).await;
    assert_eq!(client.get(&shown(&first)).await, json!(true), "and back");
    client.post(&format!("/wda/element/{yeast}/scrollTo"), json!({})).await;
    assert_eq!(client.get(&shown(&yeast)).await, json!(true));
    client.click("item-Milk").await;
    assert_eq!(client.text("item-name").await, "Milk");
    client.click("add-to-basket").await;
    client.click("add-to-basket").await;
    assert_eq!(client.text("basket-count").await, "In the basket: 2");
    client.click("Back").await;
    client.find("item-Almonds").await;
}

#[tokio::test]
async fn a_long_touch_asks_before_it_removes() {
    let client = logged_in().await;
    let id = client.find("item-Apples").await;
    client.post(&format!("/wda/element/{id}/touchAndHold"), json!({"duration": 1.0})).await;
    assert_eq!(client.get("/alert/text").await, "Remove Apples?");
    assert_eq!(client.get("/wda/alert/buttons").await, json!(["Keep", "Remove"]));
    client.post("/alert/accept", json!({})).await;
    let missing = client.refused("POST", "/element", json!({"using": "id", "value": "item-Apples"})).await;
    assert_eq!(missing, (404, "no such element".to_owned()));
}

#[tokio::test]
async fn the_wheel_turns_every_way() {
    let client = logged_in().await;
    client.click("tab-order").await;
    assert_eq!(client.text("box-size-wheel").await, "Medium");
    let wheel = client.find("box-size-wheel").await;
    let select = format!("/wda/pickerwheel/{wheel}/select");
    client.post(&select, json!({"order": "next"})).await;
    assert_eq!(client.text("box-size-wheel").await, "Large");
    client.post(&format!("/element/{wheel}/value"), json!({"text": "Small"})).await;
    assert_eq!(client.text("box-size-wheel").await, "Small");
    let missing = client.refused("POST", &select, json!({"order": "next", "value": "Huge"})).await;
    assert_eq!(missing, (400, "invalid element state".to_owned()));
    let [x, y, width, height] = client.rect("box-size-wheel").await;
    let (x, y) = (x + width / 2, y + height / 2);
    client
        .post(
            "/wda/dragfromtoforduration",
            json!({"fromX": x, "fromY": y, "toX": x, "toY": y + 80, "duration": 0}),
        )
        .await;
    assert_eq!(client.text("box-size-wheel").await, "Medium");
    client.click("place-order").await;
    assert_eq!(client.get("/alert/text").await, "Place the order?\nOne medium box");
    client.post("/alert/accept", json!({})).await;
    assert_eq!(client.text("order-status").await, "Ordered: Medium");
}

#[tokio::test]
async fn an_alert_is_in_the_way() {
    let client = logged_in().await;
    client.click("tab-account").await;
    let switch = client.find("notifications").await;
    client.click("log-out").await;
    let covered = client.refused("POST", &format!("/element/{switch}/click"), json!({})).await;
    assert_eq!(covered, (500, "unexpected alert open".to_owned()));
    // A finger elsewhere reaches nothing; one on the button reaches it.
    client.post("/wda/tap", json!({"x": 10, "y": 640})).await;
    assert_eq!(client.get("/alert/text").await, "Log out?");
    let [x, y, width, height] = client.rect("Stay").await;
    client.post("/wda/tap", json!({"x": x + width / 2, "y": y + height / 2})).await;
    let none = client.refused("GET", "/alert/text", Value::Null).await;
    assert_eq!(none, (404, "no such alert".to_owned()));
    assert_eq!(client.control.dump()["user"], "ada");
}

fn touch(steps: &[Value]) -> Value {
    json!({"actions": [{"type": "pointer", "id": "f", "parameters": {"pointerType": "touch"}, "actions": steps}]})
}

async fn touches(client: &Client, from: (i64, i64), to: (i64, i64), milliseconds: u64) {
    let steps = [
        json!({"type": "pointerMove", "duration": 0, "x": from.0, "y": from.1}),
        json!({"type": "pointerDown", "button": 0}),
        json!({"type": "pause", "duration": milliseconds}),
        json!({"type": "pointerMove", "duration": 100, "x": to.0, "y": to.1, "origin": "viewport"}),
        json!({"type": "pointerUp", "button": 0}),
    ];
    client.post("/actions", touch(&steps)).await;
}

#[tokio::test]
async fn fingers_of_the_standard() {
    let client = logged_in().await;
    touches(&client, (100, 500), (100, 200), 0).await;
    assert_eq!(client.control.dump()["scroll"], 300, "a drag");
    touches(&client, (100, 200), (100, 500), 0).await;
    touches(&client, (100, 90), (101, 91), 800).await;
    assert_eq!(client.get("/alert/text").await, "Remove Almonds?", "a long touch");
    client.post("/alert/dismiss", json!({})).await;
    touches(&client, (100, 90), (100, 90), 50).await;
    assert_eq!(client.control.dump()["open"], "Almonds", "a short one");
    touches(&client, (4, 300), (200, 300), 0).await;
    assert_eq!(client.control.dump()["open"], Value::Null, "back from the edge");
    let mouse = json!({"actions": [{"type": "pointer", "id": "m", "actions": []}]});
    let refused = client.refused("POST", "/actions", mouse).await;
    assert_eq!(refused, (400, "invalid argument".to_owned()));
}

#[tokio::test]
async fn away_back_and_ended() {
    let client = logged_in().await;
    let state = json!({"bundleId": "org.example.pantry"});
    client.post("/wda/pressButton", json!({"name": "home"})).await;
    assert_eq!(client.post("/wda/apps/state", state.clone()).await, json!(3));
    client.click("Pantry").await;
    assert_eq!(client.post("/wda/apps/state", state.clone()).await, json!(4));
    client.find("items").await;
    assert_eq!(client.post("/wda/apps/terminate", state.clone()).await, json!(true));
    assert_eq!(client.post("/wda/apps/state", state.clone()).await, json!(1));
    client.post("/wda/apps/launch", state).await;
    client.find("username").await;
    let stranger = client.refused("POST", "/wda/apps/launch", json!({"bundleId": "com.example.none"})).await;
    assert_eq!(stranger, (400, "invalid argument".to_owned()));
}
