//! A real browser: Chromium with an emulated phone, driven by chromedriver.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use failwell_device::{DeviceSettings, DriverKind, Reach};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::talk::{Talk, World, settings};

const PAGE: &str = r##"<!doctype html><meta name=viewport content="width=device-width"><title>Shop</title>
<style>body{font:20px monospace;margin:0} button,input,select{font:inherit;display:block;margin:8px}</style>
<h1>Log in</h1><label for=user>User name</label><input id=user><label for=pass>Password</label><input id=pass type=password>
<select id=size aria-label=Size><option>Small<option>Large</select>
<button id=login onclick="if(pass.value==='hunter2'){out.textContent='Welcome '+user.value+', '+size.value;next.hidden=false}else alert('Wrong password')">Log in</button>
<p id=out></p><button id=next hidden>Continue</button>
<div style="height:2000px"></div><a id=bottom href="#bottom">The bottom</a><div style="height:400px"></div>
<script>addEventListener('pointerdown', () => fetch('/pressed'))</script>"##;

/// A chromedriver on its own port. Dropping it ends the process and removes the folder of its temporary
/// files.
struct Driver {
    child: Child,
    url: String,
    folder: PathBuf,
}

impl Driver {
    /// Kills the driver and its browsers, which would outlive it.
    fn kill(&mut self) {
        let mut all = vec![self.child.id()];
        let mut seen = 0;
        while let Some(parent) = all.get(seen) {
            // The kernel lists a child under the thread that started it.
            let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
            let lists = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")));
            let children = lists.flatten().collect::<Vec<_>>().join(" ");
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            seen += 1;
        }
        let names = all.iter().map(u32::to_string);
        let _ = Command::new("kill").arg("-9").args(names).stderr(Stdio::null()).status();
        let _ = self.child.wait();
        let is_over = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        };
        let began = Instant::now();
        while !all.iter().all(is_over) && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Chromedriver chooses a free port itself and prints it.
async fn driver() -> Driver {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("failwell-browser-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut child = Command::new("chromedriver")
        .arg("--port=0")
        .env("TMPDIR", &folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver starts: Debian has it as chromium-driver");
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut driver = Driver { child, url: String::new(), folder };
    let (tell, received) = tokio::sync::oneshot::channel();
    // The output is read to its end, so that the driver never blocks on a full pipe.
    std::thread::spawn(move || {
        let mut tell = Some(tell);
        for line in output.lines().map_while(Result::ok) {
            let port = line.split_once("started successfully on port ");
            if let Some((port, tell)) = port.and_then(|(_, port)| Some((port, tell.take()?))) {
                let _ = tell.send(port.trim_end_matches('.').to_owned());
            }
        }
    });
    let port = tokio::time::timeout(Duration::from_secs(60), received).await.expect("chromedriver answers");
    driver.url = format!("http://127.0.0.1:{}", port.expect("a port"));
    driver
}

/// The test page, served on loopback.
async fn page() -> String {
    page_with_presses().await.0
}

/// The test page, and a counter of touches on it.
async fn page_with_presses() -> (String, Arc<AtomicUsize>) {
    let presses = Arc::new(AtomicUsize::new(0));
    let counted = presses.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let counted = counted.clone();
            tokio::spawn(async move {
                let mut request = [0; 4_096];
                let length = socket.read(&mut request).await.unwrap_or(0);
                if request[..length].starts_with(b"GET /pressed ") {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    PAGE.len()
                );
                let _ = socket.write_all(head.as_bytes()).await;
                let _ = socket.write_all(PAGE.as_bytes()).await;
            });
        }
    });
    (url, presses)
}

async fn phone() -> (Driver, World) {
    let driver = driver().await;
    let reach = Reach::Url { url: driver.url.clone(), headers: Vec::new() };
    let mut device = DeviceSettings::new("browser", DriverKind::Chromedriver, reach);
    let options = json!({"goog:chromeOptions": {"args": ["--no-sandbox"]}});
    device.capabilities = options.as_object().unwrap().clone();
    let world = World::new(settings(vec![device]));
    (driver, world)
}

fn of<'v>(seen: &'v Value, name: &str, role: &str) -> &'v Value {
    let elements = seen["elements"].as_array().unwrap();
    elements
        .iter()
        .find(|it| it["name"] == name && it["role"] == role)
        .unwrap_or_else(|| panic!("{name} in {seen}"))
}

#[tokio::test]
async fn a_person_logs_in_is_recorded_compared_and_reported() {
    let (_driver, world) = phone().await;
    let url = page().await;
    let mut talk = Talk::on_phone(&world).await;
    talk.done("launch_app", json!({"app": url})).await;
    assert_eq!(talk.done("get_app_state", json!({"app": url})).await["state"], "foreground");
    let seen = talk.done("get_screen_hierarchy", json!({})).await;
    assert_eq!(of(&seen, "Size", "picker")["options"], json!(["Small", "Large"]));
    let login = of(&seen, "Log in", "button")["ref"].clone();
    let before = talk.done("take_screenshot", json!({})).await;
    assert_eq!(
        (&before["width"], &before["height"], &before["inline"]),
        (&json!(1_170), &json!(2_532), &json!(true))
    );

    talk.done("start_recording", json!({})).await;
    talk.done("enter_text", json!({"selector": "User name", "text": "ada"})).await;
    // Text for a password field is a secret with or without a name; two of them need names that differ.
    talk.done(
        "enter_text",
        json!({"selector": "Password", "text": "wrong", "clear": true, "secret_name": "first_try"}),
    )
    .await;
    talk.done("tap_element", json!({"ref": login})).await;
    talk.fails("tap_element", json!({"selector": "Log in", "timeout": 0.5}), "device/ALERT_OPEN").await;
    assert_eq!(talk.done("handle_alert", json!({"action": "accept"})).await["alert"], "Wrong password");
    talk.done(
        "enter_text",
        json!({"selector": "Password", "text": "hunter2", "clear": true, "secret_name": "password"}),
    )
    .await;
    talk.done("select_picker_value", json!({"selector": "Size", "value": "Large"})).await;
    talk.fails("select_picker_value", json!({"selector": "Size", "value": "Huge"}), "device/INVALID_VALUE")
        .await;
    talk.done("tap_element", json!({"selector": "Log in"})).await;
    let holds = talk
        .done(
            "assert_element_property",
            json!({"selector": "out", "property": "text", "equals": "Welcome ada, Large"}),
        )
        .await;
    assert_eq!(holds["holds"], true, "{holds}");
    let recording = talk.done("stop_recording", json!({})).await["recording"]["uri"].clone();

    let differs = talk.done("compare_screenshots", json!({"before": before["screenshot"]["uri"]})).await;
    assert_eq!((&differs["same"], &differs["same_size"]), (&json!(false), &json!(true)));
    assert!(differs["difference"]["uri"].is_string() && !differs["regions"].as_array().unwrap().is_empty());

    talk.done("launch_app", json!({"app": url})).await;
    let values = json!({"first_try": "wrong", "password": "hunter2"});
    let played = talk.done("replay", json!({"uri": recording, "values": values})).await;
    assert_eq!(
        (&played["broken"], &played["failed"], &played["skipped"]),
        (&json!(0), &json!(0), &json!(0)),
        "{played}"
    );
    let report = talk.done("get_report", json!({})).await;
    assert!(report["passed"].as_u64() > Some(15), "{report}");
    talk.done("stop_session", json!({})).await;
}

#[tokio::test]
async fn fingers_scroll_and_press_and_the_phone_turns() {
    let (_driver, world) = phone().await;
    let url = page().await;
    let mut talk = Talk::on_phone(&world).await;
    talk.done("open_url", json!({"url": url})).await;
    let scrolled = talk.done("scroll_to", json!({"selector": "The bottom"})).await;
    assert!(scrolled["swipes"].as_u64() > Some(0), "{scrolled}");
    talk.done("swipe", json!({"direction": "down"})).await;
    let missing = json!({"selector": "No such thing", "max_swipes": 2, "direction": "up"});
    talk.fails("scroll_to", missing, "device/NOT_FOUND_BY_SCROLLING").await;
    talk.fails("long_press", json!({"selector": "bottom", "timeout": 0}), "device/NOT_INTERACTABLE").await;
    talk.done("scroll_to", json!({"selector": "login", "direction": "up"})).await;
    talk.done("long_press", json!({"selector": "user", "duration_ms": 200})).await;
    talk.done("tap_element", json!({"x": 5, "y": 5})).await;
    for orientation in ["landscape", "portrait"] {
        let opposite = talk.done("set_device_orientation", json!({"orientation": orientation})).await;
        assert_eq!(opposite["orientation"], orientation);
    }
    talk.done("set_location", json!({"latitude": 48.1, "longitude": 11.6})).await;
    talk.done("change_permission", json!({"permission": "location", "action": "grant"})).await;
    talk.fails(
        "change_permission",
        json!({"permission": "contacts", "action": "grant"}),
        "device/UNSUPPORTED",
    )
    .await;
    for address in ["file:///etc/passwd", "chrome://version", "view-source:http://127.0.0.1/"] {
        talk.fails("open_url", json!({"url": address}), "device/ADDRESS_DENIED").await;
        talk.fails("launch_app", json!({"app": address}), "device/ADDRESS_DENIED").await;
    }
    assert!(talk.done("get_logs", json!({})).await["entries"].is_array());
    assert_eq!(talk.done("list_contexts", json!({})).await["contexts"].as_array().unwrap().len(), 1);
    talk.done("reset_app", json!({"app": url})).await;
    talk.done("navigate_back", json!({})).await;
}

#[tokio::test]
async fn a_browser_driver_that_is_killed_ends_its_session_and_nothing_more() {
    let (mut driver, world) = phone().await;
    let (url, presses) = page_with_presses().await;
    let mut talk = Talk::on_phone(&world).await;
    talk.done("launch_app", json!({"app": url})).await;
    // A press that lasts long enough to kill the driver meanwhile.
    let press = talk.begin_call("long_press", json!({"selector": "login", "duration_ms": 20_000})).await;
    let began = Instant::now();
    while presses.load(Ordering::SeqCst) == 0 {
        assert!(began.elapsed() < Duration::from_secs(15), "the finger is never put down");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    driver.kill();
    let (_, answer) = talk.next_of(&[press]).await;
    let fault = &answer["result"]["_meta"]["dev.failwell/fault"];
    assert_eq!(
        (&fault["reason"], &fault["effect"]),
        (&json!("device/DRIVER_DIED"), &json!("unknown")),
        "{answer}"
    );
    talk.fails("take_screenshot", json!({}), "device/SESSION_GONE").await;
    talk.fails("recover_session", json!({}), "device/DRIVER_UNREACHABLE").await;
    talk.done("stop_session", json!({})).await;
}
