//! Drivers: their addresses, and the start of our own. Our own driver runs under a supervisor. It ends, with
//! all of its descendants, when its device is no longer used or this program ends.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use failwell_backoff::Backoff;
use failwell_fault::{Fault, OrFault, Secret};
use failwell_http_client::{Endpoint, HttpClient};
use failwell_process::{Child, Environment, Launcher, Plan};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::reason;
use crate::settings::{DeviceSettings, DriverKind, Reach, Settings};
use crate::w3c::WebDriverClient;

/// The environment variables that drivers need, in addition to the operator's.
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
/// The placeholder of a free port in an argument.
const PORT: &str = "{port}";
/// Timeout of a status request.
const ANSWER: Duration = Duration::from_secs(5);
/// The poll interval while a driver starts.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));
/// The grace period of a driver.
const GRACE: Duration = Duration::from_secs(3);
/// Maximum time until the end of an unreachable driver, with all of its descendants, is known.
pub(crate) const NOTICED: Duration = Duration::from_secs(6);

pub(crate) struct Driver {
    kind: DriverKind,
    reach: Reach,
    launcher: Launcher,
    largest: usize,
    start: Duration,
    running: Mutex<Option<DriverConnection>>,
}

struct DriverConnection {
    http: Arc<HttpClient>,
    /// The process, if we started the driver.
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

    /// The client of the driver. Our own driver is started if it does not run or does not respond.
    pub(crate) async fn http(&self) -> Result<Arc<HttpClient>, Fault> {
        let mut running = self.running.lock().await;
        if let Some(known) = running.as_mut()
            && known.is_alive().await
        {
            return Ok(known.http.clone());
        }
        if let Some(DriverConnection { child: Some(mut child), .. }) = running.take() {
            child.stop(GRACE).await;
        }
        let started = match &self.reach {
            Reach::Url { url, headers } => {
                let endpoint = endpoint(url, headers)
                    .ok_or_else(|| Fault::new(&reason::CONFIG_INVALID).note("url", url.clone()))?;
                DriverConnection { http: Arc::new(HttpClient::new(endpoint, self.largest)), child: None }
            }
            Reach::Command { program, arguments, pass } => self.launch(program, arguments, pass).await?,
        };
        Ok(running.insert(started).http.clone())
    }

    /// Whether a driver that we started has ended, or ends within this time. `false` for a driver that we did not start.
    pub(crate) async fn has_died(&self, within: Duration) -> bool {
        match self.running.lock().await.as_mut() {
            Some(DriverConnection { child: Some(child), .. }) => timeout(within, child.wait()).await.is_ok(),
            _ => false,
        }
    }

    /// Stops our own driver.
    pub(crate) async fn stop(&self) {
        if let Some(DriverConnection { child: Some(mut child), .. }) = self.running.lock().await.take() {
            child.stop(GRACE).await;
        }
    }

    async fn launch(
        &self,
        program: &Path,
        arguments: &[String],
        pass: &[String],
    ) -> Result<DriverConnection, Fault> {
        let port = free_port()?;
        let mut plan = Plan::new(program, std::env::temp_dir()).arguments(self.arguments(arguments, port));
        let names: Vec<&str> = PASSED.into_iter().chain(pass.iter().map(String::as_str)).collect();
        plan.environment = Environment::inherit(&names);
        plan.grace = GRACE;
        let child = self.launcher.start(plan).await.map_err(|fault| {
            let why = "its program does not run";
            Fault::new(&reason::DEVICE_DRIVER_START).fact("why", why).absorbing(fault)
        })?;
        let http = Arc::new(HttpClient::new(Endpoint::localhost(port), self.largest));
        let mut running = DriverConnection { http, child: Some(child) };
        self.wait_for(&mut running).await?;
        Ok(running)
    }

    /// The operator's arguments, with the driver's usual port option if they have none.
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

    async fn wait_for(&self, running: &mut DriverConnection) -> Result<(), Fault> {
        let deadline = Instant::now() + self.start;
        let mut looks = 0;
        loop {
            if WebDriverClient::status(&running.http, ANSWER).await.is_ok() {
                return Ok(());
            }
            let Some(child) = running.child.as_mut() else { return Ok(()) };
            let why = if has_ended(child).await {
                "it ended before it answered"
            } else if Instant::now() >= deadline {
                "it did not answer in time"
            } else {
                looks += 1;
                sleep(BACKOFF.delay(looks)).await;
                continue;
            };
            let ended = child.stop(GRACE).await;
            return Err(Fault::new(&reason::DEVICE_DRIVER_START)
                .fact("why", why)
                .capture("stdout", ended.output.stdout.to_bytes())
                .capture("stderr", ended.output.stderr.to_bytes()));
        }
    }
}

impl DriverConnection {
    /// A driver that we started and that does not answer is restarted. Other drivers are left alone.
    async fn is_alive(&mut self) -> bool {
        let Some(child) = self.child.as_mut() else { return true };
        !has_ended(child).await && WebDriverClient::status(&self.http, ANSWER).await.is_ok()
    }
}

fn endpoint(url: &str, headers: &[(String, Secret<String>)]) -> Option<Endpoint> {
    headers.iter().try_fold(Endpoint::parse(url)?, |endpoint, (name, value)| {
        endpoint.with_secret_header(name, value.expose())
    })
}

/// Checks without waiting.
async fn has_ended(child: &mut Child) -> bool {
    timeout(Duration::ZERO, child.wait()).await.is_ok()
}

/// A free port. If another program takes it first, the driver ends, and the next start uses another port.
fn free_port() -> Result<u16, Fault> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).or_fault(&reason::DEVICE_DRIVER_START)?;
    Ok(listener.local_addr().or_fault(&reason::DEVICE_DRIVER_START)?.port())
}
