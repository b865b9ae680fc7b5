//! Instructions per call, counted by callgrind: other load on the machine does not change the figure.
//!
//! Each program runs twice, with few and with many calls. The difference excludes start-up and shutdown. Work of the
//! kernel is not counted.

use crate::options::Options;
use crate::process::{Process, free_address};
use crate::stage::{BARE, Stage, config, up};
use bench_server::message::{Echo, Era, FIRST, NumberedMessage};
use bench_server::wire::Connection;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

const FEW: u64 = 500;
const MANY: u64 = 2_500;

pub async fn measure(options: &Options, stage: &Stage) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("\nvalgrind is not installed, so instructions are not counted");
        return Ok(());
    }
    println!("\ninstructions per call, one connection, 64 B");
    let proxy = crate::process::sibling_program("proxy-hyper")?;
    let upstream = stage.upstream.to_string();
    let yardstick =
        per_call(stage, "echo", |out| Process::announced(counted(&proxy, out).args([&upstream, "envelope"])));
    let yardstick = yardstick.await?;
    println!("{:<24}{yardstick:>12.0}", crate::bars::YARDSTICK);
    for (name, more) in [("failwell", BARE), ("failwell guarded", "")] {
        let file = stage.folder.write("instructions.toml", &(config(stage.upstream)? + more))?;
        let count = per_call(stage, "up__echo", |out| {
            let at = free_address()?;
            let ours = up(&options.failwell, &file, at);
            let mut command = counted(&options.failwell, out);
            command.args(ours.get_args()).stdin(Stdio::null()).stdout(Stdio::null());
            command.envs(ours.get_envs().filter_map(|(key, value)| Some((key, value?))));
            Ok((Process::listening(&mut command, at)?, at))
        });
        let count = count.await?;
        println!("{name:<24}{count:>12.0}{:>10.2}x", count / yardstick);
    }
    Ok(())
}

fn counted(program: &Path, out: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]).arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(program).stderr(Stdio::null());
    command
}

async fn per_call(
    stage: &Stage,
    tool: &'static str,
    start: impl Fn(&Path) -> Result<(Process, SocketAddr), String>,
) -> Result<f64, String> {
    let mut totals = [0.0; 2];
    for (total, calls) in totals.iter_mut().zip([FEW, MANY]) {
        let out = stage.folder.0.join("callgrind.out");
        let (process, at) = start(&out)?;
        call(at, tool, calls).await?;
        drop(process);
        *total = collected(&out)?;
    }
    Ok((totals[1] - totals[0]) / (MANY - FEW) as f64)
}

async fn call(at: SocketAddr, tool: &'static str, calls: u64) -> Result<(), String> {
    let mut connection = Connection::open(at).await?;
    let mut message = NumberedMessage::call(Echo { path: "/mcp", tool, size: 64 }, Era::Modern, None);
    for number in FIRST..FIRST + calls {
        let status = connection.exchange(message.numbered(number)).await?.status;
        if status != 200 {
            return Err(format!("a call under callgrind has status {status}"));
        }
    }
    Ok(())
}

/// The total of all threads.
fn collected(file: &Path) -> Result<f64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("callgrind wrote nothing: {error}"))?;
    let total = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok()).ok_or_else(|| "callgrind wrote no total".to_owned())
}
