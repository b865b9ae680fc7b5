//! CPU time of one call of 16 KB through all content guards, Failwell against three plugins of Gatekit. Then Failwell
//! alone: time per byte up to 16 MB, and quotes against prose.

mod worst;

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use failwell_policy::Guards;
use failwell_policy::guard::{Action, Direction, GuardRule, GuardSettings, Verdict};
use serde_json::json;

/// The required ratio of CPU time, peer to Failwell.
const LEAST: f64 = 50.0;
/// The most time per byte at 16 MB, relative to 1 MB.
const MOST_GROWTH: f64 = 1.5;
/// The most time for a text, relative to an ordinary text of the same size.
const MOST_FOR_WORST: f64 = 3.0;
/// The most time for a quote, relative to a letter of prose.
const MOST_FOR_QUOTES: f64 = 1.1;

/// Ordinary text: words, numbers, a path, a URL without a password, a long name.
const PROSE: &str = "The report for week 27 lists 1,250 units in 14 boxes, checked by two people. See /var/log/app/run-7.log or \
    https://example.com/reports?id=42 for more; getCustomerOrderHistoryByRegion returned 200 after 35 ms. Nothing was \
    lost, and the next delivery is expected on Monday at noon. ";

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failure> {
    let rule = GuardRule::everywhere(Action::Redact);
    let all = GuardSettings {
        secrets: rule.clone(),
        pii: rule.clone(),
        injection: rule,
        ..GuardSettings::default()
    };
    let (all, standard) = (guards(all)?, guards(GuardSettings::default())?);
    let worst = [worst(&standard, "without a file")?, worst(&all, "with all guards")?];
    if std::env::args().any(|argument| argument == "--worst") {
        return Ok(worst.iter().all(|ratio| *ratio <= MOST_FOR_WORST));
    }
    let call = message(&prose(16 * 1024));
    let ours = cpu_per_call(&all, &call, 400)?;
    let theirs = peer(&call)?;
    let ratio = theirs / ours;
    println!(
        "16 KB through all guards: ours {:.1} µs, Gatekit {:.1} µs of CPU: {ratio:.0} times less (at least {LEAST})",
        ours / 1e3,
        theirs / 1e3
    );
    let usual = cpu_per_call(&standard, &call, 400)?;
    println!("16 KB as guarded without a file: {:.2} µs", usual / 1e3);
    let (growth, quotes) = (growth(&all)?, quotes(&all)?);
    let standard_quotes = self::quotes(&standard)?;
    println!(
        "a quote by a letter of prose: {quotes:.2} with all guards, {standard_quotes:.2} without a file (at most {MOST_FOR_QUOTES})"
    );
    let worst = worst.iter().all(|ratio| *ratio <= MOST_FOR_WORST);
    Ok([
        worst,
        ratio >= LEAST,
        growth <= MOST_GROWTH,
        quotes <= MOST_FOR_QUOTES,
        standard_quotes <= MOST_FOR_QUOTES,
    ]
    .iter()
    .all(|held| *held))
}

fn guards(settings: GuardSettings) -> Result<Guards, Failure> {
    Guards::compile(settings).map_err(|fault| fault.to_string().into())
}

fn prose(size: usize) -> String {
    let mut text = PROSE.repeat(size / PROSE.len() + 1);
    text.truncate(size);
    text
}

fn message(text: &str) -> String {
    let params = json!({"name": "save", "arguments": {"title": "notes", "text": text}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

/// The median over several rounds, in nanoseconds of this thread's CPU time per call.
fn cpu_per_call(guards: &Guards, json: &str, calls: u32) -> Result<f64, Failure> {
    let mut rounds = Vec::new();
    for _ in 0..9 {
        let began = on_cpu()?;
        for _ in 0..calls {
            let verdict = guards.inspect(Direction::Result, "", std::hint::black_box(json.as_bytes()), 0);
            if std::hint::black_box(verdict) != Verdict::Pass {
                return Err("the text was not to be found fault with".into());
            }
        }
        rounds.push((on_cpu()? - began).as_nanos() as f64 / f64::from(calls));
    }
    Ok(middle(rounds))
}

/// The CPU time of this thread.
fn on_cpu() -> Result<Duration, Failure> {
    match std::fs::read_to_string("/proc/thread-self/schedstat") {
        Ok(text) => Ok(Duration::from_nanos(text.split(' ').next().unwrap_or_default().parse()?)),
        // Other systems: wall-clock time.
        Err(_) => {
            static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            Ok(BEGAN.get_or_init(Instant::now).elapsed())
        }
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The time per byte at 16 MB, relative to 1 MB.
fn growth(guards: &Guards) -> Result<f64, Failure> {
    let mut per_byte = Vec::new();
    for (size, calls) in [(16 << 10, 200), (256 << 10, 20), (1 << 20, 5), (4 << 20, 2), (16 << 20, 1)] {
        let json = message(&prose(size));
        let each = cpu_per_call(guards, &json, calls)? / json.len() as f64;
        println!("{:>6} KB: {each:.3} ns per byte", size >> 10);
        per_byte.push(each);
    }
    let (Some(one), Some(most)) = (per_byte.get(2), per_byte.get(4)) else { return Ok(f64::NAN) };
    println!("16 MB by 1 MB: {:.2} (at most {MOST_GROWTH})", most / one);
    Ok(most / one)
}

/// The most expensive text, relative to an ordinary one, at each size. Prints the repeated units that exceed the limit.
fn worst(guards: &Guards, name: &str) -> Result<f64, Failure> {
    let mut most: f64 = 0.0;
    for (size, calls) in [(16 << 10, 20), (1 << 20, 1), (16 << 20, 1)] {
        let ordinary = inspect_time(guards, &worst::ordinary(size), calls)?;
        let mut all: Vec<(f64, &str)> = Vec::new();
        for unit in worst::UNITS.iter().take(if size > 1 << 20 { 12 } else { usize::MAX }) {
            all.push((inspect_time(guards, &worst::repeated(unit, size), calls)? / ordinary, unit));
        }
        all.sort_by(|one, other| other.0.total_cmp(&one.0));
        let per_byte = ordinary / size as f64;
        println!(
            "{:>6} KB {name}: an ordinary text takes {per_byte:.2} ns per byte; the most expensive by it:",
            size >> 10
        );
        for (ratio, unit) in all.iter().take(12) {
            println!("    {ratio:5.2}  {unit:?}");
        }
        most = most.max(all.first().map_or(f64::NAN, |first| first.0));
    }
    Ok(most)
}

/// The minimum of three rounds, in nanoseconds of this thread's CPU time. The text may have findings.
fn inspect_time(guards: &Guards, text: &str, calls: u32) -> Result<f64, Failure> {
    let json = message(text);
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let (began, since, mut count) = (on_cpu()?, Instant::now(), 0);
        // The CPU clock has a resolution of some milliseconds.
        while count < calls || since.elapsed() < Duration::from_millis(30) {
            std::hint::black_box(guards.inspect(
                Direction::Result,
                "",
                std::hint::black_box(json.as_bytes()),
                0,
            ));
            count += 1;
        }
        least = least.min((on_cpu()? - began).as_nanos() as f64 / f64::from(count));
    }
    Ok(least)
}

/// The time per byte of 100,000 quotes, relative to prose of the same length.
fn quotes(guards: &Guards) -> Result<f64, Failure> {
    let quotes = message(&"\"".repeat(100_000));
    let prose = message(&prose(quotes.len() - 100));
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let quote = cpu_per_call(guards, &quotes, 10)? / quotes.len() as f64;
        ratios.push(quote / (cpu_per_call(guards, &prose, 10)? / prose.len() as f64));
    }
    Ok(middle(ratios))
}

/// The time of the same message in the peer's plugins, in a process of the peer.
fn peer(call: &str) -> Result<f64, Failure> {
    let python = std::env::var("BENCH_GATEKIT_PYTHON")
        .map_err(|_| "run this as ./x bench guards, which installs the peer")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peer.py");
    let mut child =
        Command::new(python).args([script, "15"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(call.as_bytes())?;
    let output = child.wait_with_output()?;
    let text = String::from_utf8(output.stdout)?;
    let rounds: Vec<f64> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
    if rounds.is_empty() { Err("the peer measured nothing".into()) } else { Ok(middle(rounds)) }
}
