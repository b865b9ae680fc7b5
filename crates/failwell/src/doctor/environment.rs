//! Checks of the state folder, the port, the keyring and related parts.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{CheckOutcome, ConfiguredParts};
use crate::parts::KEYRING;

/// The file in use, and whether it is valid.
pub(super) fn configuration(wanted: &ConfiguredParts) -> CheckOutcome {
    match &wanted.file {
        None => CheckOutcome::ok("none; the defaults are used"),
        Some((file, 0)) => CheckOutcome::ok(file.display().to_string()),
        Some((file, problems)) => {
            let s = if *problems == 1 { "" } else { "s" };
            CheckOutcome::missing(format!("{} has {problems} problem{s}", file.display()))
        }
    }
}

/// The address that `failwell up` would listen on.
pub(super) fn address(wanted: &ConfiguredParts) -> CheckOutcome {
    let at = wanted.listen;
    match TcpListener::bind(at) {
        Ok(_) => CheckOutcome::ok(format!("{at} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            CheckOutcome::missing(format!("something listens at {at} already"))
        }
        Err(error) => CheckOutcome::missing(format!("{at}: {error}")),
    }
}

/// The programs of upstreams.
pub(super) fn upstream_programs(wanted: &ConfiguredParts) -> CheckOutcome {
    match (wanted.upstreams, wanted.absent.as_slice()) {
        (0, _) => CheckOutcome::ok("none is configured"),
        (_, []) => CheckOutcome::ok("every program is there"),
        (_, absent) => CheckOutcome::missing(absent.join("; ")),
    }
}

/// The symbolic server finds the solver in the same way.
pub(super) fn solver() -> CheckOutcome {
    match failwell_symbolic::analyse::solver() {
        Some(version) => CheckOutcome::ok(version),
        None => CheckOutcome::missing("none in FAILWELL_Z3 or on the PATH"),
    }
}

pub(super) fn keyring() -> CheckOutcome {
    if !KEYRING.is_built {
        return CheckOutcome::missing(KEYRING.absence());
    }
    if cfg!(not(target_os = "linux")) {
        return CheckOutcome::ok("the system's own");
    }
    match std::env::var_os("DBUS_SESSION_BUS_ADDRESS") {
        Some(address) if !address.is_empty() => CheckOutcome::ok("session bus present"),
        _ => CheckOutcome::missing("no session bus (DBUS_SESSION_BUS_ADDRESS is not set)"),
    }
}

/// The API key of the tasks server, from the environment or the configuration.
pub(super) fn rtm_key(wanted: &ConfiguredParts) -> CheckOutcome {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_key = set("RTM_API_KEY") || wanted.has_rtm_key;
    let has_secret = set("RTM_SHARED_SECRET") || wanted.has_rtm_secret;
    match (has_key, has_secret) {
        (true, true) => CheckOutcome::ok("set; `failwell login tasks` logs in"),
        (true, false) => CheckOutcome::missing("a key without its shared secret"),
        (false, true) => CheckOutcome::missing("a shared secret without its key"),
        (false, false) => CheckOutcome::missing("neither RTM_API_KEY nor api_key under [tasks] is set"),
    }
}

pub(super) fn state_folder(wanted: &ConfiguredParts) -> CheckOutcome {
    let Some(folder) = &wanted.state else {
        return CheckOutcome::missing("neither FAILWELL_STATE nor a home folder is set");
    };
    match try_writing(folder) {
        Ok(()) => CheckOutcome::ok(folder.display().to_string()),
        Err(error) => CheckOutcome::missing(format!("{}: {error}", folder.display())),
    }
}

/// The folder of stored files.
pub(super) fn shelf(wanted: &ConfiguredParts) -> CheckOutcome {
    let Some(folder) = &wanted.shelf else { return CheckOutcome::ok("not wanted") };
    match try_writing(folder) {
        Ok(()) => CheckOutcome::ok(folder.display().to_string()),
        Err(error) => CheckOutcome::missing(format!("{}: {error}", folder.display())),
    }
}

/// Creates and removes a file in the folder, or in its nearest existing parent. The check creates no folder.
fn try_writing(folder: &Path) -> std::io::Result<()> {
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or(folder);
    // A unique file name: checks run at once, and several folders may share a parent.
    static TRIALS: AtomicU64 = AtomicU64::new(0);
    let number = TRIALS.fetch_add(1, Ordering::Relaxed);
    let trial = there.join(format!(".failwell-doctor-{}-{number}", std::process::id()));
    std::fs::File::create_new(&trial)?;
    std::fs::remove_file(&trial)
}

#[cfg(test)]
mod tests {
    use super::try_writing;

    #[test]
    fn looking_for_a_place_to_write_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("failwell-doctor-test-{}", std::process::id()));
        assert!(try_writing(&folder.join("not/there/yet")).is_ok());
        assert!(!folder.exists());
        std::fs::write(&folder, "a file, not a folder").unwrap();
        assert!(try_writing(&folder).is_err());
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn places_below_one_folder_are_tried_at_once() {
        let folder = std::env::temp_dir().join(format!("failwell-doctor-both-{}", std::process::id()));
        let try_often = |name: &str| (0..500).try_for_each(|_| try_writing(&folder.join(name)));
        std::thread::scope(|scope| {
            let both = ["state", "shelf"].map(|name| scope.spawn(move || try_often(name)));
            both.into_iter().for_each(|tried| tried.join().unwrap().unwrap());
        });
    }
}
