//! `xcrun simctl`: simulators without anything installed in them. It sees pixels and apps, and no elements. Every call is
//! an argument vector; nothing goes through a shell.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_process::{Caps, Captured, Environment, How, Launcher, Limits, Plan};
use serde_json::{Value, json};

use super::{AppState, Device, Doing, Leave, Location, Permission, apps, cannot};
use crate::screen::Screen;
use crate::w3c::{Client, LogEntry, Touch, Trouble};

/// What it needs of our environment.
const PASSED: [&str; 7] = ["PATH", "HOME", "USER", "TMPDIR", "LANG", "DEVELOPER_DIR", "SIMCTL_CHILD_PATH"];
/// The most bytes of text it may answer with.
const TEXT: Caps = Caps { head: 4 << 20, tail: 64 << 10 };
/// Lines of log that are worth reading.
const LOG_LINES: usize = 1_000;

/// One simulator.
pub(crate) struct Simctl {
    tool: Tool,
    described: Value,
    was_booted: bool,
}

/// The program, and which simulator it is to work on.
struct Tool {
    launcher: Launcher,
    program: PathBuf,
    udid: String,
    timeout: Duration,
    largest: usize,
}

impl Tool {
    async fn run(&self, arguments: &[&str], touch: Touch) -> Result<Captured, Trouble> {
        self.run_within(arguments, touch, TEXT, self.timeout).await
    }

    async fn run_within(
        &self,
        arguments: &[&str],
        touch: Touch,
        output: Caps,
        limit: Duration,
    ) -> Result<Captured, Trouble> {
        let mut plan = Plan::new(&self.program, "/").arguments(["simctl"]).arguments(arguments);
        plan.environment = Environment::inherit(&PASSED);
        plan.limits = Limits { wall: Some(limit), ..Limits::default() };
        plan.output = output;
        let ended = self.launcher.start(plan).await?.wait().await;
        match ended.how {
            How::Code(0) => Ok(ended.output.stdout),
            How::TimedOut => Err(Trouble::Late { touch, limit }),
            how => {
                let code = if let How::Code(code) = how { code } else { -1 };
                let fault = Fault::new(&reason::DEVICE_SIMCTL)
                    .fact("exit_code", code)
                    .note("arguments", arguments.join(" "))
                    .capture("stderr", ended.output.stderr.kept());
                Err(Trouble::Fault(fault))
            }
        }
    }

    /// What simctl knows of the simulator.
    async fn listed(&self) -> Result<(String, Value), Trouble> {
        let said = self.run(&["list", "devices", "-j"], Touch::Looks).await?.kept();
        let nonsense = || Trouble::Nonsense { why: "a list of simulators that is none", body: said.clone() };
        let list: Value = serde_json::from_slice(&said).map_err(|_| nonsense())?;
        let runtimes = list.get("devices").and_then(Value::as_object).ok_or_else(nonsense)?;
        let all = runtimes.iter().flat_map(|(runtime, devices)| {
            devices.as_array().into_iter().flatten().map(move |device| (runtime.as_str(), device))
        });
        let text = |device: &Value, name: &str| {
            device.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let wanted = |device: &Value| match self.udid.as_str() {
            "booted" => text(device, "state") == "Booted",
            udid => text(device, "udid") == udid || text(device, "name") == udid,
        };
        let found = all.into_iter().find(|(_, device)| wanted(device));
        let (runtime, device) = found.ok_or_else(|| {
            let fault = Fault::new(&reason::DEVICE_SESSION_NOT_CREATED).note("simctl", "no such simulator");
            Trouble::Fault(fault)
        })?;
        let runtime = runtime.rsplit('.').next().unwrap_or(runtime);
        let described =
            json!({"platformName": "iOS", "deviceName": text(device, "name"), "sdkVersion": runtime});
        Ok((text(device, "state"), described))
    }
}

impl Simctl {
    /// Finds the simulator, and boots it if it is off.
    pub(crate) async fn start(
        launcher: Launcher,
        program: PathBuf,
        udid: String,
        (timeout, start): (Duration, Duration),
        largest: usize,
    ) -> Result<Simctl, Trouble> {
        let tool = Tool { launcher, program, udid, timeout, largest };
        let (state, described) = tool.listed().await?;
        let was_booted = state == "Booted";
        if !was_booted {
            tool.run_within(&["boot", &tool.udid], Touch::Acts, TEXT, start).await?;
            tool.run_within(&["bootstatus", &tool.udid], Touch::Acts, TEXT, start).await?;
        }
        Ok(Simctl { tool, described, was_booted })
    }

    fn act<'a>(&'a self, arguments: Vec<String>) -> Doing<'a, ()> {
        Box::pin(async move {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            self.tool.run(&arguments, Touch::Acts).await.map(drop)
        })
    }

    fn udid(&self) -> String {
        self.tool.udid.clone()
    }
}

/// A bundle id cannot be taken for an option.
fn bundle(app: &str) -> Result<String, Trouble> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if app.starts_with(|c: char| c.is_ascii_alphanumeric()) && app.chars().all(plain) {
        return Ok(app.to_owned());
    }
    let fault = Fault::new(&reason::DEVICE_INVALID_VALUE)
        .fact("field", "app")
        .fact("why", "it is no bundle id")
        .fact("help", "letters, digits, dots and hyphens, such as com.example.shop");
    Err(Trouble::Fault(fault))
}

impl Device for Simctl {
    fn driver(&self) -> &'static str {
        "simctl"
    }

    fn wire(&self) -> Option<&Client> {
        None
    }

    fn described(&self) -> Value {
        self.described.clone()
    }

    fn look(&self) -> Doing<'_, Screen> {
        cannot("the screen hierarchy")
    }

    fn screenshot(&self) -> Doing<'_, Bytes> {
        Box::pin(async move {
            let caps = Caps { head: self.tool.largest, tail: 0 };
            let arguments = ["io", &self.tool.udid, "screenshot", "--type=png", "-"];
            let said = self.tool.run_within(&arguments, Touch::Looks, caps, self.tool.timeout).await?;
            if said.cut() > 0 {
                return Err(Trouble::TooLarge { size: said.total, limit: self.tool.largest });
            }
            if said.head.starts_with(b"\x89PNG") {
                return Ok(Bytes::from(said.head));
            }
            Err(Trouble::Nonsense {
                why: "a picture that is no PNG",
                body: said.head.into_iter().take(4_096).collect(),
            })
        })
    }

    fn locate(&self, at: Location) -> Doing<'_, ()> {
        let place = format!("{},{}", at.latitude, at.longitude);
        self.act(vec!["location".into(), self.udid(), "set".into(), place])
    }

    fn permit<'a>(&'a self, app: &'a str, permission: Permission, grant: Leave) -> Doing<'a, ()> {
        if permission == Permission::Notifications {
            return cannot("permission for notifications");
        }
        let word = match grant {
            Leave::Grant => "grant",
            Leave::Revoke => "revoke",
            Leave::Reset => "reset",
        };
        let service = apps::apple_service(permission);
        Box::pin(async move {
            let app = bundle(app)?;
            self.act(vec!["privacy".into(), self.udid(), word.into(), service.into(), app]).await
        })
    }

    fn install<'a>(&'a self, path: &'a str) -> Doing<'a, ()> {
        self.act(vec!["install".into(), self.udid(), path.to_owned()])
    }

    fn launch<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move { self.act(vec!["launch".into(), self.udid(), bundle(app)?]).await })
    }

    fn terminate<'a>(&'a self, app: &'a str) -> Doing<'a, ()> {
        Box::pin(async move { self.act(vec!["terminate".into(), self.udid(), bundle(app)?]).await })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> Doing<'a, AppState> {
        Box::pin(async move {
            let app = bundle(app)?;
            let there = self.tool.run(&["get_app_container", &self.tool.udid, &app], Touch::Looks).await;
            match there {
                Err(Trouble::Fault(fault)) if fault.reason() == &reason::DEVICE_SIMCTL => {
                    return Ok(AppState::NotInstalled);
                }
                other => other?,
            };
            let jobs = ["spawn", &self.tool.udid, "launchctl", "list"];
            let jobs = self.tool.run(&jobs, Touch::Looks).await?.text();
            let is_running = jobs.contains(&format!("UIKitApplication:{app}["));
            Ok(if is_running { AppState::Foreground } else { AppState::NotRunning })
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> Doing<'a, ()> {
        self.act(vec!["openurl".into(), self.udid(), url.to_owned()])
    }

    fn logs<'a>(&'a self, _kind: Option<&'a str>) -> Doing<'a, Vec<LogEntry>> {
        Box::pin(async move {
            let arguments = ["spawn", &self.tool.udid, "log", "show", "--style", "compact", "--last", "2m"];
            let said = self.tool.run(&arguments, Touch::Looks).await?.text();
            let lines: Vec<&str> = said.lines().collect();
            let newest = lines.into_iter().rev().take(LOG_LINES).rev();
            let entry =
                |line: &str| LogEntry { timestamp: None, level: String::new(), message: line.to_owned() };
            Ok(newest.map(entry).collect())
        })
    }

    /// A simulator that was off is turned off again.
    fn end(&self) -> Doing<'_, ()> {
        if self.was_booted {
            return Box::pin(std::future::ready(Ok(())));
        }
        self.act(vec!["shutdown".into(), self.udid()])
    }
}

#[cfg(test)]
mod tests {
    use super::bundle;

    #[test]
    fn a_bundle_id_is_no_option_and_no_path() {
        assert!(bundle("com.example.shop-2").is_ok());
        for bad in ["", "-rf", "--help", "a b", "../x", "a;b", "é"] {
            assert!(bundle(bad).is_err(), "{bad}");
        }
    }
}
