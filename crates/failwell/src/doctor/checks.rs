//! The table of checks.

use std::path::Path;

#[cfg(target_os = "linux")]
use super::kernel;
use super::{CheckOutcome, ConfiguredParts, Need, environment};
use crate::config::Builtin;

pub(super) struct MachineCheck {
    pub(super) name: &'static str,
    pub(super) need: Need,
    pub(super) of: Applicability,
    pub(super) look: CheckMethod,
    /// The consequence if it is missing.
    pub(super) cost: &'static str,
    pub(super) fix: Fix,
}

/// The servers that need it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Applicability {
    /// Every configuration.
    All,
    /// These built-in servers, and upstreams whose command is one of these programs.
    Some(&'static [Builtin], &'static [&'static str]),
}

pub(super) enum CheckMethod {
    /// Run the commands until one succeeds, and read a version from its output.
    Run { tries: &'static [&'static [&'static str]], at_least: Option<(u32, u32)> },
    /// Call a function.
    Ask(fn() -> CheckOutcome),
    /// Call a function that needs the configuration.
    AskAbout(fn(&ConfiguredParts) -> CheckOutcome),
}

/// The command that installs the part, by system.
pub(super) struct Fix {
    apt: &'static str,
    brew: &'static str,
    other: &'static str,
}

impl Fix {
    const fn same(text: &'static str) -> Fix {
        Fix { apt: text, brew: text, other: text }
    }

    /// The command for this machine.
    pub(super) fn here(&self) -> &'static str {
        if cfg!(target_os = "macos") {
            self.brew
        } else if Path::new("/usr/bin/apt-get").exists() {
            self.apt
        } else {
            self.other
        }
    }
}

const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// The check of the address to listen on.
pub(super) const LISTEN: &str = "listen";

/// In the order of the output.
pub(super) const CHECKS: &[MachineCheck] = &[
    MachineCheck {
        name: "state folder",
        need: Need::Main,
        of: Applicability::All,
        look: CheckMethod::AskAbout(environment::state_folder),
        cost: "nothing can be kept: no ledger, no sessions across restarts",
        fix: Fix::same("set FAILWELL_STATE, or data_dir in failwell.toml, to a folder you may write to"),
    },
    MachineCheck {
        name: "shelf",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::AskAbout(environment::shelf),
        cost: "uploads and files of tools cannot be stored",
        fix: Fix::same(
            "name a folder you may write to under [shelf] in failwell.toml, or free some space on its disk",
        ),
    },
    MachineCheck {
        name: "configuration",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::AskAbout(environment::configuration),
        cost: "`failwell up` does not start with this file",
        fix: Fix::same("see its mistakes with `failwell check`"),
    },
    MachineCheck {
        name: LISTEN,
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::AskAbout(environment::address),
        cost: "`failwell up` cannot listen at its address",
        fix: Fix::same(
            "stop the program that listens there, or choose another port: failwell up --listen 127.0.0.1:8485",
        ),
    },
    MachineCheck {
        name: "upstreams",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::AskAbout(environment::upstream_programs),
        cost: "these servers cannot start",
        fix: Fix::same(
            "install the programs, put them on the PATH, or write their full paths in `command`; `failwell check --start` tries them",
        ),
    },
    MachineCheck {
        name: "python3",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Pytest, Builtin::Symbolic], &["python3", "python"]),
        look: CheckMethod::Run { tries: &[&[PYTHON, "--version"]], at_least: Some((3, 10)) },
        cost: "the pytest and symbolic servers have no Python to run",
        fix: Fix {
            apt: "sudo apt-get install -y python3 python3-pip",
            brew: "brew install python@3.13",
            other: "install Python 3.10 or newer from https://www.python.org/downloads/",
        },
    },
    MachineCheck {
        name: "pytest",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Pytest], &[]),
        look: CheckMethod::Run { tries: &[&[PYTHON, "-m", "pytest", "--version"]], at_least: Some((7, 0)) },
        cost: "the pytest server cannot run tests",
        fix: Fix::same("python3 -m pip install --user --upgrade pytest"),
    },
    MachineCheck {
        name: "z3",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Symbolic], &[]),
        look: CheckMethod::Ask(environment::solver),
        cost: "the symbolic server cannot prove anything that needs a solver",
        fix: Fix::same("python3 -m pip install --user z3-solver, or name a z3 in the variable FAILWELL_Z3"),
    },
    MachineCheck {
        name: "node",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Device], &["node", "npx"]),
        look: CheckMethod::Run { tries: &[&["node", "--version"]], at_least: Some((22, 0)) },
        cost: "the device server's Appium, and MCP servers that need a newer Node, cannot be started",
        fix: Fix {
            apt: "sudo apt-get install -y npm && sudo npm install -g n && sudo n 24",
            brew: "brew install node",
            other: "install Node 22 or newer from https://nodejs.org/",
        },
    },
    MachineCheck {
        name: "npm",
        need: Need::Extra,
        of: Applicability::Some(&[], &["npm", "npx"]),
        look: CheckMethod::Run { tries: &[&["npm", "--version"]], at_least: None },
        cost: "MCP servers from npm cannot be fetched",
        fix: Fix {
            apt: "sudo apt-get install -y npm",
            brew: "brew install node",
            other: "install Node with npm from https://nodejs.org/",
        },
    },
    MachineCheck {
        name: "chromium",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Device], &[]),
        look: CheckMethod::Run {
            tries: &[
                &["chromium", "--version"],
                &["chromium-browser", "--version"],
                &["google-chrome", "--version"],
                &["google-chrome-stable", "--version"],
                &["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "--version"],
            ],
            at_least: None,
        },
        cost: "the device server has no browser to drive",
        fix: Fix {
            apt: "sudo apt-get install -y chromium",
            brew: "brew install --cask google-chrome",
            other: "install Chromium or Chrome with the system's package manager",
        },
    },
    MachineCheck {
        name: "chromedriver",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Device], &[]),
        look: CheckMethod::Run { tries: &[&["chromedriver", "--version"]], at_least: None },
        cost: "the device server cannot drive a browser",
        fix: Fix {
            apt: "sudo apt-get install -y chromium-driver",
            brew: "brew install --cask chromedriver",
            other: "npm install -g chromedriver",
        },
    },
    MachineCheck {
        name: "redis-server",
        need: Need::Extra,
        of: Applicability::Some(&[], &[]),
        look: CheckMethod::Run {
            tries: &[&["redis-server", "--version"], &["valkey-server", "--version"]],
            at_least: None,
        },
        cost: "several nodes cannot share limits and sessions; one node needs none",
        fix: Fix {
            apt: "sudo apt-get install -y redis-server",
            brew: "brew install redis",
            other: "install Redis or Valkey with the system's package manager",
        },
    },
    MachineCheck {
        name: "git",
        need: Need::Extra,
        of: Applicability::Some(&[], &[]),
        look: CheckMethod::Run { tries: &[&["git", "--version"]], at_least: None },
        cost: "MCP servers cannot be fetched from repositories",
        fix: Fix {
            apt: "sudo apt-get install -y git",
            brew: "brew install git",
            other: "install git with the system's package manager",
        },
    },
    MachineCheck {
        name: "keyring",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Tasks], &[]),
        look: CheckMethod::Ask(environment::keyring),
        cost: "secrets come from the environment or files instead of the desktop's keyring",
        fix: Fix {
            apt: "sudo apt-get install -y gnome-keyring dbus-user-session, then log in again",
            brew: "unlock the login keychain",
            other: "run inside a desktop session, or under dbus-run-session",
        },
    },
    MachineCheck {
        name: "rtm key",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Tasks], &[]),
        look: CheckMethod::AskAbout(environment::rtm_key),
        cost: "the tasks server cannot ask Remember The Milk",
        fix: Fix::same(
            "get a key at https://www.rememberthemilk.com/services/api/keys.rtm, then set RTM_API_KEY and RTM_SHARED_SECRET, or [tasks] in failwell.toml",
        ),
    },
    #[cfg(target_os = "linux")]
    MachineCheck {
        name: "landlock",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::Ask(kernel::landlock),
        cost: "child processes are not kept out of the file system",
        fix: Fix::same("boot a kernel of 5.13 or newer with `landlock` in its lsm= list"),
    },
    #[cfg(target_os = "linux")]
    MachineCheck {
        name: "seccomp",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::Ask(kernel::seccomp),
        cost: "child processes may make any system call",
        fix: Fix::same("boot a kernel built with CONFIG_SECCOMP_FILTER"),
    },
    #[cfg(target_os = "linux")]
    MachineCheck {
        name: "user namespaces",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::Ask(kernel::user_namespaces),
        cost: "child processes share the network and the process list",
        fix: Fix::same("sudo sysctl -w user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1"),
    },
    #[cfg(target_os = "linux")]
    MachineCheck {
        name: "mount namespaces",
        need: Need::Extra,
        of: Applicability::Some(&[Builtin::Pytest], &[]),
        look: CheckMethod::Ask(kernel::mount_namespaces),
        cost: "tests can change modes and dates of files outside the project",
        fix: Fix::same("allow user namespaces (see above), or give the container the capability SYS_ADMIN"),
    },
    #[cfg(target_os = "linux")]
    MachineCheck {
        name: "subreaper",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::Ask(kernel::subreaper),
        cost: "daemons that child processes start outlive them",
        fix: Fix::same("boot a kernel of 3.4 or newer, and let this program call prctl"),
    },
    #[cfg(target_os = "linux")]
    MachineCheck {
        name: "pidfd",
        need: Need::Extra,
        of: Applicability::All,
        look: CheckMethod::Ask(kernel::pidfd),
        cost: "the end of a child process is noticed a little later",
        fix: Fix::same("boot a kernel of 5.3 or newer, and let this program call pidfd_open"),
    },
];
