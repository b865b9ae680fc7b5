//! Apps: installing, launching, terminating, and opening URLs.

use std::path::{Path, PathBuf};

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gestures::{ActionResult, action_result};
use super::target::ElementWait;
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::device::AppState;
use crate::reason;
use crate::sessions::lease::DeviceLease;
use crate::settings::Settings;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<InstallApp>());
    all.push(entry::<Launch>());
    all.push(entry::<Terminate>());
    all.push(entry::<Reset>());
    all.push(entry::<GetAppState>());
    all.push(entry::<OpenUrl>());
}

/// Schemes that read files of the machine or access the browser itself.
const CLOSED: [&str; 10] = [
    "file",
    "filesystem",
    "blob",
    "data",
    "javascript",
    "view-source",
    "chrome",
    "chrome-extension",
    "chrome-untrusted",
    "devtools",
];

/// Checks a URL that a device is to open.
fn address(url: &str) -> Result<String, Fault> {
    let denied = |why: &'static str| Fault::new(&reason::DEVICE_ADDRESS_DENIED).fact("why", why);
    let (scheme, rest) = url.split_once(':').ok_or_else(|| denied("it has no scheme"))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(plain) || rest.is_empty()
    {
        return Err(denied("it has no scheme"));
    }
    if CLOSED.contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(denied("its scheme reads files of the machine or reaches into the browser"));
    }
    if url.chars().any(|c| c.is_whitespace() || failwell_fault::is_deceptive(c)) {
        return Err(denied("it has characters that do not belong into an address"));
    }
    Ok(url.to_owned())
}

/// For a browser, an app is a URL and is checked as one.
fn app_id(lease: &DeviceLease, app: &str) -> Result<String, Fault> {
    if lease.device.driver() == "chromedriver" { address(app) } else { Ok(app.to_owned()) }
}

fn address_to_open(_: &DeviceLease, url: &str) -> Result<String, Fault> {
    address(url)
}

fn package_to_install(lease: &DeviceLease, app: &str) -> Result<String, Fault> {
    Ok(package(app, &lease.devices.settings)?.display().to_string())
}

/// Checks an app package: it must be below one of the operator's folders, after links are resolved.
fn package(path: &str, settings: &Settings) -> Result<PathBuf, Fault> {
    let denied = |why: &'static str| Fault::new(&reason::DEVICE_APP_DENIED).fact("why", why);
    if settings.apps.is_empty() {
        return Err(denied("the operator opened no folder for apps"));
    }
    if path.contains('\0') || path.contains("://") {
        return Err(denied("it is no path"));
    }
    let folders = || settings.apps.iter().filter_map(|folder| folder.canonicalize().ok());
    let candidates = folders().map(|folder| folder.join(path)).filter_map(|path| path.canonicalize().ok());
    let inside = |path: &Path| folders().any(|folder| path.starts_with(&folder) && path != folder);
    let mut candidates = candidates.filter(|path| inside(path));
    candidates.next().ok_or_else(|| denied("it is not below a folder that is open for apps"))
}

/// Defines a command with one text argument, besides the session. `check` turns the argument into what the driver gets.
macro_rules! app_command {
    ($name:ident {
        tool: $tool:literal,
        title: $title:literal,
        about: $about:literal,
        kind: $kind:ident,
        $(#[$doc:meta])*
        argument: $argument:ident,
        check: $check:path,
        action: $action:ident,
        failure: $failure:literal,
        done: $done:literal,
    }) => {
        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            /// The session. Optional while you have only one.
            #[serde(skip_serializing_if = "Option::is_none")]
            session: Option<String>,
            $(#[$doc])*
            #[schemars(length(min = 1, max = 2_000))]
            $argument: String,
        }

        impl Command for $name {
            const NAME: &'static str = $tool;
            const TITLE: &'static str = $title;
            const ABOUT: &'static str = $about;
            const KIND: CommandKind = CommandKind::$kind;
            type Answer = ActionResult;

            in_session!();

            fn describe(&self) -> String {
                self.$argument.clone()
            }

            async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
                let patience = ElementWait::new(None);
                let checked = $check(lease, &self.$argument)?;
                lease.act($failure, move |device| Box::pin(async move { device.$action(&checked).await })).await?;
                Ok(action_result(&patience, $done))
            }
        }
    };
}

app_command!(Launch {
    tool: "launch_app",
    title: "Launch an app",
    about: "Starts an app, or brings it to the front. For browsers an app is the address of a page.",
    kind: Acts,
    /// The app: a bundle id, a package, or for browsers the address of a page.
    argument: app,
    check: app_id,
    action: launch,
    failure: "launching apps",
    done: "launched",
});

app_command!(Terminate {
    tool: "terminate_app",
    title: "End an app",
    about: "Ends an app.",
    kind: Acts,
    /// The app: a bundle id, a package, or for browsers the address of a page.
    argument: app,
    check: app_id,
    action: terminate,
    failure: "terminating apps",
    done: "ended",
});

app_command!(Reset {
    tool: "reset_app",
    title: "Reset an app",
    about: "Takes away everything the app has kept: logins, settings, files.",
    kind: Destroys,
    /// The app: a bundle id, a package, or for browsers the address of a page.
    argument: app,
    check: app_id,
    action: reset,
    failure: "resetting apps",
    done: "reset",
});

app_command!(OpenUrl {
    tool: "open_url",
    title: "Open an address",
    about: "Opens a URL: a page, or a deep link into an app.",
    kind: Acts,
    /// The address, with its scheme.
    argument: url,
    check: address_to_open,
    action: open,
    failure: "opening addresses",
    done: "opened",
});

app_command!(InstallApp {
    tool: "install_app",
    title: "Install an app",
    about: "Installs an app from a folder that the operator allows for apps.",
    kind: Acts,
    /// The app's file, below a folder that the operator allows for apps.
    argument: app,
    check: package_to_install,
    action: install,
    failure: "installing apps",
    done: "installed",
});

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetAppState {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The app: a bundle id, a package, or for browsers the address of a page.
    #[schemars(length(min = 1, max = 2_000))]
    app: String,
}

/// How an app is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AppStateResult {
    state: AppState,
}

impl Command for GetAppState {
    const NAME: &'static str = "get_app_state";
    const TITLE: &'static str = "State of an app";
    const ABOUT: &'static str =
        "Shows whether an app is installed, and whether it runs in the foreground or in the background.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = AppStateResult;

    in_session!();

    fn describe(&self) -> String {
        self.app.clone()
    }

    async fn perform(
        &self,
        lease: &DeviceLease,
        _cx: &Context,
    ) -> Result<TypedOutput<AppStateResult>, Fault> {
        match lease.device.app_state(&self.app).await {
            Ok(state) => {
                let text = match state {
                    AppState::NotInstalled => "not installed",
                    AppState::NotRunning => "not running",
                    AppState::Background => "running behind",
                    AppState::Foreground => "running in front",
                    AppState::Unknown => "unknown",
                };
                Ok(TypedOutput::new(AppStateResult { state }, text))
            }
            Err(trouble) => Err(lease.fault(trouble, "the state of apps", None).await),
        }
    }
}

#[cfg(test)]
mod tests {
    use failwell_process::Launcher;

    use super::{address, package};
    use crate::settings::Settings;

    #[test]
    fn addresses_do_not_reach_into_the_machine() {
        for good in ["http://127.0.0.1:8000/x?y#z", "https://shop.example", "about:blank", "myapp://cart/1"] {
            assert!(address(good).is_ok(), "{good}");
        }
        for bad in [
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            "view-source:http://x",
            "chrome://version",
            "javascript:alert(1)",
            "data:text/html,x",
            "shop.example",
            "",
            ":",
            "http:",
            "1http://x",
            "http://x\n",
            " http://x",
            "-x://y z",
        ] {
            assert_eq!(address(bad).unwrap_err().reason().id, "device/ADDRESS_DENIED", "{bad}");
        }
    }

    #[test]
    fn apps_come_from_open_folders_alone() {
        let base = std::env::temp_dir().join(format!("failwell-device-apps-{}", std::process::id()));
        let open = base.join("open");
        std::fs::create_dir_all(&open).unwrap();
        std::fs::write(open.join("shop.apk"), "x").unwrap();
        std::fs::write(base.join("outside.apk"), "x").unwrap();
        std::os::unix::fs::symlink(base.join("outside.apk"), open.join("link.apk")).unwrap();
        let mut settings = Settings::new(Vec::new(), Launcher::at("/bin/false"));
        assert!(package("shop.apk", &settings).is_err(), "nothing is open");
        settings.apps.push(open.clone());
        assert_eq!(package("shop.apk", &settings).unwrap(), open.canonicalize().unwrap().join("shop.apk"));
        assert!(package(&open.join("shop.apk").display().to_string(), &settings).is_ok());
        for bad in
            ["../outside.apk", "link.apk", "", ".", "missing.apk", "/etc/passwd", "a\0b", "http://x/y.apk"]
        {
            assert_eq!(package(bad, &settings).unwrap_err().reason().id, "device/APP_DENIED", "{bad:?}");
        }
        std::fs::remove_dir_all(base).unwrap();
    }
}
