//! The upstream servers and the proxies, each in its own process.

use crate::process::{Process, free_address, sibling_program};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Which server is behind a proxy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum UpstreamKind {
    Http,
    Stdio,
}

/// A proxy that is measured.
#[derive(Clone)]
pub struct Contender {
    pub name: &'static str,
    pub upstream: UpstreamKind,
    pub tool: &'static str,
    pub address: SocketAddr,
    pub process: Arc<Process>,
}

/// The processes and the folder with their files. Both are removed on drop.
pub struct Stage {
    pub contenders: Vec<Contender>,
    pub upstream: SocketAddr,
    pub folder: Folder,
}

pub struct Folder(pub PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("failwell-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Folder(path))
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Stage {
    /// `pgo` is a profile-guided build of Failwell. It is measured beside the one that is built like the proxies.
    pub fn set(failwell: &Path, pgo: Option<&Path>) -> Result<Stage, String> {
        let folder = Folder::new()?;
        let (server, upstream) = Process::start("upstream-http", &[])?;
        let to = upstream.to_string();
        let direct = Contender {
            name: "direct",
            upstream: UpstreamKind::Http,
            tool: "echo",
            address: upstream,
            process: Arc::new(server),
        };
        let mut contenders = vec![direct];
        match nginx(&folder, upstream)? {
            Some((process, address)) => contenders.push(http("nginx", process, address)),
            None => println!("nginx is not installed here, so it does not take part"),
        }
        for (name, sight) in [("hyper blind", "blind"), ("hyper envelope", "envelope")] {
            let (process, address) = Process::start("proxy-hyper", &[&to, sight])?;
            contenders.push(http(name, process, address));
        }
        for (names, file, more) in [
            (["failwell", "failwell stdio"], "bare.toml", BARE),
            (["failwell guarded", "failwell guarded stdio"], "guarded.toml", ""),
        ] {
            let at = free_address()?;
            let file = folder.write(file, &(config(upstream)? + more))?;
            let process = Process::listening(&mut up(failwell, &file, at), at)?;
            contenders.extend(ours_as(names, process, at));
        }
        let optimised = pgo.map_or(&[][..], |_| &[("failwell PGO", BARE), ("failwell PGO guarded", "")]);
        for ((name, more), program) in optimised.iter().zip(pgo.into_iter().cycle()) {
            let at = free_address()?;
            let file = folder.write(&name.replace(' ', "-"), &(config(upstream)? + more))?;
            let process = Process::listening(&mut up(program, &file, at), at)?;
            contenders.push(Contender { tool: "up__echo", ..http(name, process, at) });
        }
        Ok(Stage { contenders, upstream, folder })
    }
}

/// One Failwell process, with the same upstream over HTTP and as a child process.
fn ours_as(names: [&'static str; 2], process: Process, address: SocketAddr) -> [Contender; 2] {
    let process = Arc::new(process);
    let row = |name, upstream, tool| Contender { name, upstream, tool, address, process: process.clone() };
    let [over_http, over_stdio] = names;
    [row(over_http, UpstreamKind::Http, "up__echo"), row(over_stdio, UpstreamKind::Stdio, "child__echo")]
}

fn http(name: &'static str, process: Process, address: SocketAddr) -> Contender {
    Contender { name, upstream: UpstreamKind::Http, tool: "echo", address, process: Arc::new(process) }
}

/// Without guards and ledger.
pub const BARE: &str = "\n[audit]\nledger = false\n\n[guard.secrets]\naction = \"off\"\n";

/// The configuration of Failwell: the same upstream over HTTP and as a child process, with default guards and ledger.
pub fn config(upstream: SocketAddr) -> Result<String, String> {
    let child = sibling_program("upstream-stdio")?;
    Ok(format!(
        "servers = []\n\n[[upstream]]\nname = \"up\"\nurl = \"http://{upstream}/mcp\"\n\n\
         [[upstream]]\nname = \"child\"\ncommand = [{child:?}]\n"
    ))
}

/// Starts `failwell up` with its state beside its configuration.
pub fn up(failwell: &Path, file: &Path, at: SocketAddr) -> Command {
    let mut command = ours(failwell, file);
    command.args(["up", "--listen", &at.to_string(), "--config"]).arg(file).stdin(Stdio::null());
    command.stdout(Stdio::null());
    command
}

/// The Failwell program with its own state folder.
pub fn ours(failwell: &Path, file: &Path) -> Command {
    let mut command = Command::new(failwell);
    let state = file.with_extension("state");
    command.env("XDG_STATE_HOME", &state).env("HOME", &state).stderr(Stdio::null());
    command
}

fn nginx(folder: &Folder, upstream: SocketAddr) -> Result<Option<(Process, SocketAddr)>, String> {
    let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"];
    let Some(program) = program.into_iter().find(|path| Path::new(path).exists()) else { return Ok(None) };
    let (at, here) = (free_address()?, folder.0.display());
    let file = folder.write(
        "nginx.conf",
        &format!(
            "daemon off;\nworker_processes 2;\npid {here}/nginx.pid;\nerror_log {here}/nginx.log;\n\
             events {{ worker_connections 1024; }}\n\
             http {{\n  access_log off;\n  client_body_temp_path {here}/body;\n  proxy_temp_path {here}/proxy;\n\
             fastcgi_temp_path {here}/fastcgi;\n  uwsgi_temp_path {here}/uwsgi;\n  scgi_temp_path {here}/scgi;\n\
             client_body_buffer_size 256k;\n  proxy_buffers 16 16k;\n  proxy_buffer_size 16k;\n\
             keepalive_requests 100000000;\n  tcp_nodelay on;\n\
             upstream echo {{ server {upstream}; keepalive 64; keepalive_requests 100000000; }}\n\
             server {{ listen {at}; location / {{ proxy_pass http://echo; proxy_http_version 1.1; \
             proxy_set_header Connection \"\"; }} }}\n}}\n"
        ),
    )?;
    let mut command = Command::new(program);
    command.args(["-e".as_ref(), folder.0.join("nginx.log").as_os_str(), "-c".as_ref(), file.as_os_str()]);
    Ok(Some((Process::listening(command.stdin(Stdio::null()).stderr(Stdio::null()), at)?, at)))
}
