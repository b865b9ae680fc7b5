//! Drivers: where one is, and starting those that are ours to start. Such a one runs under a supervisor, and is gone with
//! everything it started when its device is no longer used, or when this program is.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_process::{Child, Environment, Launcher, Plan};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::settings::{DeviceSettings, DriverKind, Reach, Settings};
use crate::w3c::{Client, Endpoint, Line};

/// What drivers need of our environment, beside what the operator adds.
const PASSED: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "LD_LIBRARY_PATH",
    "APPIUM_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "JAVA_HOME",
    "NODE_PATH",
    "DEVELOPER_DIR",
];
/// Where a free port stands in an argument.
const PORT: &str = "{port}";
/// How long a driver has to say that it is there.
const ANSWER: Duration = Duration::from_secs(5);
/// Between two looks whether it is there yet, at first.
const PAUSE: Duration = Duration::from_millis(50);
/// How long it has to end by itself.
const GRACE: Duration = Duration::from_secs(3);
/// How long it may take until it is known that one which no longer listens has ended, with everything it started.
pub(crate) const NOTICED: Duration = Duration::from_secs(6);

/// The driver of one device.
pub(crate) struct Driver {
    kind: DriverKind,
    reach: Reach,
    launcher: Launcher,
    largest: usize,
    start: Duration,
    running: Mutex<Option<Running>>,
}

struct Running {
    line: Arc<Line>,
    /// A driver of our own.
    child: Option<Child>,
}

impl Driver {
    pub(crate) fn new(device: &DeviceSettings, settings: &Settings) -> Driver {
        Driver {
            kind: device.driver,
            reach: device.reach.clone(),
            launcher: settings.launcher.clone(),
            largest: settings.largest_answer,
            start: settings.start_timeout,
            running: Mutex::default(),
        }
    }

    /// The way to the driver, which is started if it is ours and not there, or no longer answers.
    pub(crate) async fn line(&self) -> Result<Arc<Line>, Fault> {
        let mut running = self.running.lock().await;
        if let Some(known) = running.as_mut()
            && known.is_alive().await
        {
            return Ok(known.line.clone());
        }
        if let Some(Running { child: Some(mut child), .. }) = running.take() {
            child.stop(GRACE).await;
        }
        let started = match &self.reach {
            Reach::Url { url, headers } => {
                let endpoint = Endpoint::read(url, headers)
                    .ok_or_else(|| Fault::new(&reason::CONFIG_INVALID).note("url", url.clone()))?;
                Running { line: Arc::new(Line::new(endpoint, self.largest)), child: None }
            }
            Reach::Command { program, arguments, pass } => self.launch(program, arguments, pass).await?,
        };
        Ok(running.insert(started).line.clone())
    }

    /// Whether a driver of ours has ended, or does so within this time; one that somebody else runs is never known to have.
    pub(crate) async fn has_died(&self, within: Duration) -> bool {
        match self.running.lock().await.as_mut() {
            Some(Running { child: Some(child), .. }) => timeout(within, child.wait()).await.is_ok(),
            _ => false,
        }
    }

    /// Ends a driver of ours.
    pub(crate) async fn stop(&self) {
        if let Some(Running { child: Some(mut child), .. }) = self.running.lock().await.take() {
            child.stop(GRACE).await;
        }
    }

    async fn launch(&self, program: &Path, arguments: &[String], pass: &[String]) -> Result<Running, Fault> {
        let port = free_port()?;
        let mut plan = Plan::new(program, std::env::temp_dir()).arguments(self.arguments(arguments, port));
        let names: Vec<&str> = PASSED.into_iter().chain(pass.iter().map(String::as_str)).collect();
        plan.environment = Environment::inherit(&names);
        plan.grace = GRACE;
        let child = self.launcher.start(plan).await.map_err(|fault| {
            let why = "its program does not run";
            Fault::new(&reason::DEVICE_DRIVER_START).fact("why", why).absorbing(fault)
        })?;
        let line = Arc::new(Line::new(Endpoint::local(port), self.largest));
        let mut running = Running { line, child: Some(child) };
        self.wait_for(&mut running).await?;
        Ok(running)
    }

    /// The operator's arguments, and how each driver is told its port where they do not say.
    fn arguments(&self, given: &[String], port: u16) -> Vec<String> {
        let mut all = given.to_vec();
        if !all.iter().any(|argument| argument.contains(PORT)) {
            let usual: &[&str] = match self.kind {
                DriverKind::Appium => &["server", "--address", "127.0.0.1", "--port", PORT],
                DriverKind::Chromedriver => &["--port={port}"],
                DriverKind::WebDriverAgent | DriverKind::Simctl => &[],
            };
            let is_named = all.first().is_some_and(|first| first == "server");
            all.extend(usual.iter().skip(usize::from(is_named)).map(|argument| (*argument).to_owned()));
        }
        all.into_iter().map(|argument| argument.replace(PORT, &port.to_string())).collect()
    }

    async fn wait_for(&self, running: &mut Running) -> Result<(), Fault> {
        let deadline = Instant::now() + self.start;
        let mut pause = PAUSE;
        loop {
            if Client::status(&running.line, ANSWER).await.is_ok() {
                return Ok(());
            }
            let Some(child) = running.child.as_mut() else { return Ok(()) };
            let why = if has_ended(child).await {
                "it ended before it answered"
            } else if Instant::now() >= deadline {
                "it did not answer in time"
            } else {
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
                continue;
            };
            let ended = child.stop(GRACE).await;
            return Err(Fault::new(&reason::DEVICE_DRIVER_START)
                .fact("why", why)
                .capture("stdout", ended.output.stdout.kept())
                .capture("stderr", ended.output.stderr.kept()));
        }
    }
}

impl Running {
    /// A driver of ours that does not answer is started again; what somebody else runs is theirs.
    async fn is_alive(&mut self) -> bool {
        let Some(child) = self.child.as_mut() else { return true };
        !has_ended(child).await && Client::status(&self.line, ANSWER).await.is_ok()
    }
}

/// Looks, without waiting.
async fn has_ended(child: &mut Child) -> bool {
    timeout(Duration::ZERO, child.wait()).await.is_ok()
}

/// A port nobody has at this moment. Somebody else may take it before the driver does: then the driver ends, and the next
/// start takes another.
fn free_port() -> Result<u16, Fault> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).or_fault(&reason::DEVICE_DRIVER_START)?;
    Ok(listener.local_addr().or_fault(&reason::DEVICE_DRIVER_START)?.port())
}
