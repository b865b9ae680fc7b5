//! The abilities of a sandboxed child, on a kernel with all sandbox features.

use std::net::TcpListener;

use crate::support::{Folder, run, shell};
use failwell_process::{ChildExit, Network, Plan, Profile, Sandbox, SandboxNeed, containment};

async fn inside(script: &str, profile: Profile) -> ChildExit {
    let mut plan = shell(script);
    plan.sandbox = Sandbox::Profile(profile);
    run(plan).await
}

#[test]
fn this_kernel_has_what_the_other_tests_need() {
    let found = containment();
    assert!(found.landlock.is_some_and(|version| version >= 6), "{found:?}");
    assert!(found.seccomp && found.subreaper && found.pidfd, "{found:?}");
}

#[tokio::test]
async fn files_outside_the_profile_are_closed() {
    let (within, without) = (Folder::new("within"), Folder::new("without"));
    std::fs::write(without.path().join("secret"), "secret").unwrap();
    std::fs::write(within.path().join("note"), "note").unwrap();
    std::os::unix::fs::symlink(without.path(), within.path().join("way")).unwrap();
    let script = format!(
        "cat {0}/note; cat {1}/secret; cat {0}/way/secret; ls {1}; echo new > {0}/new && echo wrote; \
         echo new > {1}/new && echo WROTE; rm {1}/secret && echo REMOVED; mv {0}/note {1}/ && echo MOVED; \
         ln {1}/secret {0}/linked && echo LINKED; echo x > {0}/way/new && echo WROTE; true",
        within.path().display(),
        without.path().display()
    );
    let ended = inside(&script, Profile::closed().with_system().writing(within.path())).await;
    assert_eq!(ended.output.stdout.text(), "notewrote\n", "{}", ended.output.stderr.text());
    assert_eq!(std::fs::read_dir(without.path()).unwrap().count(), 1);
    let read_only = inside(&script, Profile::closed().with_system().reading(within.path())).await;
    assert_eq!(read_only.output.stdout.text(), "note", "{}", read_only.output.stderr.text());
}

/// Tries to connect, to bind and to use other socket families; prints the attempts that worked.
const KNOCK: &str = r#"
import socket, sys
def attempt(name, act):
    try:
        act()
        print(name, end=" ")
    except OSError:
        pass
attempt("connect", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5))
attempt("bind", lambda: socket.socket().bind(("127.0.0.1", 0)))
attempt("datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("local", lambda: socket.socket(socket.AF_UNIX))
attempt("pair", socket.socketpair)
"#;

#[tokio::test]
async fn the_network_is_closed_unless_it_is_open() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let python = python_home();
    for (network, works) in [(Network::Closed, "pair "), (Network::Open, "connect bind datagram local pair ")]
    {
        let mut plan = shell("");
        plan.program = "python3".into();
        plan.arguments = vec!["-c".into(), KNOCK.into(), port.clone().into()];
        plan.sandbox =
            Sandbox::Profile(Profile { network, ..Profile::closed().with_system().reading(&python) });
        let ended = run(plan).await;
        assert_eq!(ended.output.stdout.text(), works, "{network:?}: {}", ended.output.stderr.text());
    }
}

/// The prefix of this machine's Python, which may be outside of the system folders.
fn python_home() -> String {
    let found =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.base_prefix)"]).output();
    String::from_utf8(found.unwrap().stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn the_sandbox_cannot_signal_outside_processes() {
    let mut outside = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let script = format!(
        "kill -TERM {0} && echo HIT; kill -0 $PPID && echo SAW; sleep 60 & kill $! && echo own",
        outside.id()
    );
    let ended = inside(&script, Profile::closed().with_system()).await;
    let still = outside.try_wait().unwrap().is_none();
    outside.kill().unwrap();
    outside.wait().unwrap();
    assert_eq!(ended.output.stdout.text(), "own\n");
    assert!(still);
}

#[tokio::test]
async fn the_way_out_through_the_kernel_is_closed() {
    for attempt in ["unshare -Ur true", "mount -t tmpfs none /mnt", "chroot / true"] {
        let ended = inside(&format!("{attempt} && echo OUT"), Profile::closed().with_system()).await;
        assert_eq!(ended.output.stdout.text(), "", "{attempt}");
    }
}

/// The sandbox applies to the child only: its supervisor still finds and ends all descendants.
#[tokio::test]
async fn a_sandbox_does_not_keep_the_supervisor_from_its_work() {
    for need in [SandboxNeed::Required, SandboxNeed::BestEffort] {
        let profile = Profile { need, ..Profile::closed().with_system() };
        let ended = inside("setsid sleep 300 & exit 4", profile).await;
        assert_eq!((ended.how, ended.survivors), (failwell_process::ExitCause::Code(4), 0));
    }
}

#[tokio::test]
async fn a_program_outside_the_profile_does_not_start() {
    let mut plan = Plan::new("/bin/true", "/");
    plan.sandbox = Sandbox::Profile(Profile::closed());
    let fault = crate::support::launcher().start(plan).await.unwrap_err();
    assert_eq!(fault.reason().id, "process/SPAWN");
}
