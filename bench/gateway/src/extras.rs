//! Memory, pipelined calls, and the time to the first answer.

use crate::bars::Bars;
use crate::options::Options;
use crate::process::{Process, free_address, sibling_program};
use crate::stage::{Stage, config, ours, up};
use crate::stdio::Client;
use bench_server::load::{Target, round};
use bench_server::message::{Echo, Era};
use bench_server::wire::Connection;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

const PIPELINED: usize = 20;
/// Further callers after the first memory figure, in thousands.
const MORE_THOUSANDS: usize = 6;
/// The time after which the background work of a start is done.
const SETTLING: Duration = Duration::from_secs(3);

pub async fn measure(options: &Options, stage: &Stage, bars: &mut Bars) -> Result<(), String> {
    // With guards and ledger, as by default.
    first_answer(options, stage, bars).await?;
    memory(options, stage, bars).await?;
    let file = stage.folder.write("pipelined.toml", &config(stage.upstream)?)?;
    for (tool, name) in [("up__wait", "HTTP"), ("child__wait", "a child")] {
        let mut command = ours(&options.failwell, &file);
        let mut client = Client::start(command.args(["stdio", "--config"]).arg(&file), "2025-11-25")?;
        let took = client.pipelined(tool, PIPELINED)?;
        bars.at_most(format!("20 pipelined calls of 200 ms to {name}"), took.as_secs_f64(), 0.25, " s");
    }
    Ok(())
}

/// The time from the start of the program to the first answer of an upstream.
async fn first_answer(options: &Options, stage: &Stage, bars: &mut Bars) -> Result<(), String> {
    let file = stage.folder.write("first.toml", &config(stage.upstream)?)?;
    let mut times = Vec::new();
    for _ in 0..9 {
        let at = free_address()?;
        let began = Instant::now();
        let _process = Process::spawn(&mut up(&options.failwell, &file, at))?;
        let mut connection = patient(at, began).await?;
        let mut call = bench_server::message::NumberedMessage::call(small("up__echo"), Era::Modern, None);
        let response = connection.exchange(call.numbered(bench_server::message::FIRST)).await?;
        if response.status != 200 {
            return Err(format!("the first answer has status {}", response.status));
        }
        times.push(began.elapsed());
    }
    times.sort_unstable();
    bars.at_most("start to first answer of a server behind it", times[4].as_secs_f64() * 1e3, 50.0, " ms");
    Ok(())
}

async fn patient(at: SocketAddr, began: Instant) -> Result<Connection, String> {
    loop {
        match Connection::open(at).await {
            Ok(connection) => return Ok(connection),
            Err(error) if began.elapsed() > Duration::from_secs(10) => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_micros(200)).await,
        }
    }
}

fn small(tool: &'static str) -> Echo {
    Echo { path: "/mcp", tool, size: 64 }
}

async fn memory(options: &Options, stage: &Stage, bars: &mut Bars) -> Result<(), String> {
    let idle = ManyServers::start(options, stage, 1)?;
    idle.ask(1).await?;
    tokio::time::sleep(SETTLING).await;
    // Most of it is the mapped program file, which the kernel shares and evicts. It therefore has no limit.
    println!("idle, one server behind it: resident {:.1} MB", idle.resident());
    drop(idle);
    let busy = ManyServers::start(options, stage, 10)?;
    tokio::time::sleep(SETTLING).await;
    for _ in 0..3 {
        busy.ask(100).await?;
    }
    println!("ten servers behind it, 100 clients: resident {:.1} MB", busy.resident());
    // Bounded buffers fill up first. State per caller would go on growing.
    for _ in 0..20 {
        busy.ask(100).await?;
    }
    let before = busy.resident();
    for _ in 0..MORE_THOUSANDS * 10 {
        busy.ask(100).await?;
    }
    // One reading varies by half a megabyte, so the growth is measured over many callers.
    let grown = (busy.resident() - before) * 2.0 / MORE_THOUSANDS as f64;
    bars.at_most("6000 more callers of the modern era: growth for 2000", grown, 1.0, " MB");
    Ok(())
}

/// Failwell with several upstreams, over HTTP and as child processes in turn.
struct ManyServers {
    process: Process,
    address: SocketAddr,
}

const TOOLS: [&str; 10] = [
    "s0__echo", "s1__echo", "s2__echo", "s3__echo", "s4__echo", "s5__echo", "s6__echo", "s7__echo",
    "s8__echo", "s9__echo",
];

impl ManyServers {
    fn start(options: &Options, stage: &Stage, servers: usize) -> Result<ManyServers, String> {
        let (child, upstream) = (sibling_program("upstream-stdio")?, stage.upstream);
        let mut text = "servers = []\n".to_owned();
        for number in 0..servers {
            let reach = if number % 2 == 0 {
                format!("url = \"http://{upstream}/mcp\"")
            } else {
                format!("command = [{child:?}]")
            };
            text.push_str(&format!("[[upstream]]\nname = \"s{number}\"\n{reach}\n"));
        }
        let file = stage.folder.write(&format!("ten-{servers}.toml"), &text)?;
        let address = free_address()?;
        let mut command: Command = up(&options.failwell, &file, address);
        Ok(ManyServers { process: Process::listening(&mut command, address)?, address })
    }

    /// Runs this many clients at once, each with a few calls, spread over all upstreams.
    async fn ask(&self, clients: usize) -> Result<(), String> {
        let used = if clients == 1 { &TOOLS[..1] } else { &TOOLS[..] };
        let asking = used.iter().map(|tool| {
            let target = Target { address: self.address, echo: small(tool), era: Era::Modern };
            tokio::spawn(round(target, clients / used.len(), Duration::from_millis(50)))
        });
        for asked in asking.collect::<Vec<_>>() {
            asked.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    }

    fn resident(&self) -> f64 {
        self.process.memory().resident
    }
}
