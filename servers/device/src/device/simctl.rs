//! `xcrun simctl`: simulators without an agent in them. It handles pixels and apps, but no elements. Every
//! call is an argument vector, without a shell.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_process::{Caps, CapturedOutput, Environment, ExitCause, Launcher, Limits, Plan};
use serde_json::{Value, json};

use super::{AppState, Device, DeviceFuture, Location, Permission, PermissionChange, apps, unsupported};
use crate::reason;
use crate::screen::Screen;
use crate::w3c::{Access, DriverError, LogEntry, WebDriverClient};

/// The environment variables that it needs.
const PASSED: [&str; 7] = ["PATH", "HOME", "USER", "TMPDIR", "LANG", "DEVELOPER_DIR", "SIMCTL_CHILD_PATH"];
/// The stored amount of its text output.
const TEXT: Caps = Caps { head: 4 << 20, tail: 64 << 10 };
/// Maximum number of log lines.
const LOG_LINES: usize = 1_000;

pub(crate) struct Simctl {
    tool: SimctlProgram,
    capabilities: Value,
    was_booted: bool,
}

/// The program and its simulator.
struct SimctlProgram {
    launcher: Launcher,
    program: PathBuf,
    udid: String,
    timeout: Duration,
    largest: usize,
}

impl SimctlProgram {
    async fn run(&self, arguments: &[&str], access: Access) -> Result<CapturedOutput, DriverError> {
        self.run_within(arguments, access, TEXT, self.timeout).await
    }

    async fn run_within(
        &self,
        arguments: &[&str],
        access: Access,
        output: Caps,
        limit: Duration,
    ) -> Result<CapturedOutput, DriverError> {
        let mut plan = Plan::new(&self.program, "/").arguments(["simctl"]).arguments(arguments);
        plan.environment = Environment::inherit(&PASSED);
        plan.limits = Limits { wall: Some(limit), ..Limits::default() };
        plan.output = output;
        let ended = self.launcher.start(plan).await?.wait().await;
        match ended.how {
            ExitCause::Code(0) => Ok(ended.output.stdout),
            ExitCause::TimedOut => Err(DriverError::TimedOut { access, limit }),
            how => {
                let code = if let ExitCause::Code(code) = how { code } else { -1 };
                let fault = Fault::new(&reason::DEVICE_SIMCTL)
                    .fact("exit_code", code)
                    .note("arguments", arguments.join(" "))
                    .capture("stderr", ended.output.stderr.to_bytes());
                Err(DriverError::Fault(fault))
            }
        }
    }

    /// Finds the simulator in simctl's list.
    async fn find_simulator(&self) -> Result<(String, Value), DriverError> {
        let output = self.run(&["list", "devices", "-j"], Access::Reads).await?.to_bytes();
        let invalid = || DriverError::InvalidResponse {
            why: "a list of simulators that is none",
            body: output.clone(),
        };
        let list: Value = serde_json::from_slice(&output).map_err(|_| invalid())?;
        let runtimes = list.get("devices").and_then(Value::as_object).ok_or_else(invalid)?;
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
            DriverError::Fault(fault)
        })?;
        let runtime = runtime.rsplit('.').next().unwrap_or(runtime);
        let capabilities =
            json!({"platformName": "iOS", "deviceName": text(device, "name"), "sdkVersion": runtime});
        Ok((text(device, "state"), capabilities))
    }
}

impl Simctl {
    /// Finds the simulator and boots it if necessary.
    pub(crate) async fn start(
        launcher: Launcher,
        program: PathBuf,
        udid: String,
        (timeout, start): (Duration, Duration),
        largest: usize,
    ) -> Result<Simctl, DriverError> {
        let tool = SimctlProgram { launcher, program, udid, timeout, largest };
        let (state, capabilities) = tool.find_simulator().await?;
        let was_booted = state == "Booted";
        if !was_booted {
            tool.run_within(&["boot", &tool.udid], Access::Acts, TEXT, start).await?;
            tool.run_within(&["bootstatus", &tool.udid], Access::Acts, TEXT, start).await?;
        }
        Ok(Simctl { tool, capabilities, was_booted })
    }

    fn act<'a>(&'a self, arguments: Vec<String>) -> DeviceFuture<'a, ()> {
        Box::pin(async move {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            self.tool.run(&arguments, Access::Acts).await.map(drop)
        })
    }

    fn udid(&self) -> String {
        self.tool.udid.clone()
    }
}

/// Checks a bundle id. It cannot be mistaken for an option.
fn bundle(app: &str) -> Result<String, DriverError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if app.starts_with(|c: char| c.is_ascii_alphanumeric()) && app.chars().all(plain) {
        return Ok(app.to_owned());
    }
    let fault = Fault::new(&reason::DEVICE_INVALID_VALUE)
        .fact("field", "app")
        .fact("why", "it is no bundle id")
        .fact("help", "letters, digits, dots and hyphens, such as com.example.shop");
    Err(DriverError::Fault(fault))
}

impl Device for Simctl {
    fn driver(&self) -> &'static str {
        "simctl"
    }

    fn client(&self) -> Option<&WebDriverClient> {
        None
    }

    fn capabilities(&self) -> Value {
        self.capabilities.clone()
    }

    fn look(&self) -> DeviceFuture<'_, Screen> {
        unsupported("the screen hierarchy")
    }

    fn screenshot(&self) -> DeviceFuture<'_, Bytes> {
        Box::pin(async move {
            let caps = Caps { head: self.tool.largest, tail: 0 };
            let arguments = ["io", &self.tool.udid, "screenshot", "--type=png", "-"];
            let output = self.tool.run_within(&arguments, Access::Reads, caps, self.tool.timeout).await?;
            if output.cut() > 0 {
                return Err(DriverError::TooLarge { size: output.total, limit: self.tool.largest });
            }
            if output.head.starts_with(b"\x89PNG") {
                return Ok(Bytes::from(output.head));
            }
            Err(DriverError::InvalidResponse {
                why: "a picture that is no PNG",
                body: output.head.into_iter().take(4_096).collect(),
            })
        })
    }

    fn locate(&self, at: Location) -> DeviceFuture<'_, ()> {
        let place = format!("{},{}", at.latitude, at.longitude);
        self.act(vec!["location".into(), self.udid(), "set".into(), place])
    }

    fn permit<'a>(
        &'a self,
        app: &'a str,
        permission: Permission,
        grant: PermissionChange,
    ) -> DeviceFuture<'a, ()> {
        if permission == Permission::Notifications {
            return unsupported("permission for notifications");
        }
        let word = match grant {
            PermissionChange::Grant => "grant",
            PermissionChange::Revoke => "revoke",
            PermissionChange::Reset => "reset",
        };
        let service = apps::apple_service(permission);
        Box::pin(async move {
            let app = bundle(app)?;
            self.act(vec!["privacy".into(), self.udid(), word.into(), service.into(), app]).await
        })
    }

    fn install<'a>(&'a self, path: &'a str) -> DeviceFuture<'a, ()> {
        self.act(vec!["install".into(), self.udid(), path.to_owned()])
    }

    fn launch<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move { self.act(vec!["launch".into(), self.udid(), bundle(app)?]).await })
    }

    fn terminate<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, ()> {
        Box::pin(async move { self.act(vec!["terminate".into(), self.udid(), bundle(app)?]).await })
    }

    fn app_state<'a>(&'a self, app: &'a str) -> DeviceFuture<'a, AppState> {
        Box::pin(async move {
            let app = bundle(app)?;
            let there = self.tool.run(&["get_app_container", &self.tool.udid, &app], Access::Reads).await;
            match there {
                Err(DriverError::Fault(fault)) if fault.reason() == &reason::DEVICE_SIMCTL => {
                    return Ok(AppState::NotInstalled);
                }
                other => other?,
            };
            let jobs = ["spawn", &self.tool.udid, "launchctl", "list"];
            let jobs = self.tool.run(&jobs, Access::Reads).await?.text();
            let is_running = jobs.contains(&format!("UIKitApplication:{app}["));
            Ok(if is_running { AppState::Foreground } else { AppState::NotRunning })
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> DeviceFuture<'a, ()> {
        self.act(vec!["openurl".into(), self.udid(), url.to_owned()])
    }

    fn logs<'a>(&'a self, _kind: Option<&'a str>) -> DeviceFuture<'a, Vec<LogEntry>> {
        Box::pin(async move {
            let arguments = ["spawn", &self.tool.udid, "log", "show", "--style", "compact", "--last", "2m"];
            let output = self.tool.run(&arguments, Access::Reads).await?.text();
            let lines: Vec<&str> = output.lines().collect();
            let newest = lines.into_iter().rev().take(LOG_LINES).rev();
            let entry =
                |line: &str| LogEntry { timestamp: None, level: String::new(), message: line.to_owned() };
            Ok(newest.map(entry).collect())
        })
    }

    /// Shuts down a simulator that this session booted.
    fn end(&self) -> DeviceFuture<'_, ()> {
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
