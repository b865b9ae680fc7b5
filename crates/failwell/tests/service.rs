//! The program as a service of systemd: what it tells the manager, and where it keeps its state.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

#[path = "support/started_line.rs"]
mod started_line;
#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use started_line::started_line;
use temp_folder::TempFolder;

const LIMIT: Duration = Duration::from_secs(60);

fn up(folder: &Path, notify: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.args(["up", "--listen", "127.0.0.1:0"]).current_dir(folder);
    command.env_remove("FAILWELL_STATE").env_remove("FAILWELL_KEY");
    command.env("STATE_DIRECTORY", folder.join("state")).env("NOTIFY_SOCKET", notify);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

fn report(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 512];
    let length = socket.recv(&mut bytes).expect("a report in time");
    String::from_utf8_lossy(bytes.get(..length).unwrap_or_default()).into_owned()
}

/// The whole life of a service, as its reports on this socket.
fn check(socket: &UnixDatagram, name: &str) {
    socket.set_read_timeout(Some(LIMIT)).expect("a limit");
    let folder = TempFolder::new();
    std::fs::write(folder.0.join("failwell.toml"), "servers = [\"lobby\"]\n").expect("written");
    let mut child = up(&folder.0, name);
    assert_eq!(report(socket), "READY=1");
    started_line(&mut child);
    assert!(folder.0.join("state").is_dir(), "the state is where the manager asked");
    signal(&child, "-HUP");
    let reloading = report(socket);
    let since = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect(&reloading);
    assert!(since.parse::<u64>().expect("a number") > 0);
    assert_eq!(report(socket), "READY=1");
    signal(&child, "-TERM");
    assert_eq!(report(socket), "STOPPING=1");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_manager_with_a_socket_file_is_told_every_state() {
    let folder = TempFolder::new();
    let path = folder.0.join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    check(&socket, path.to_str().expect("UTF-8"));
}

#[test]
fn a_manager_with_an_abstract_socket_is_told_every_state() {
    let name = format!("failwell-notify-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    check(&UnixDatagram::bind_addr(&address).expect("a socket"), &format!("@{name}"));
}

#[test]
fn a_manager_that_cannot_be_told_is_an_error_line_and_no_end() {
    let folder = TempFolder::new();
    std::fs::write(folder.0.join("failwell.toml"), "servers = [\"lobby\"]\n").expect("written");
    let mut child = up(&folder.0, "vsock:2:1");
    started_line(&mut child);
    signal(&child, "-TERM");
    let ended = child.wait_with_output().expect("it ends");
    let log = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{log}");
    assert!(log.contains("the service manager at vsock:2:1 cannot be told that failwell is ready"), "{log}");
    assert!(log.contains("Type=notify"), "{log}");
}
