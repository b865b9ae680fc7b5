//! An upstream that is a child of ours.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_process::{Caps, Child, Ended, Environment, Exit, Input, Launcher, Plan, Stdout};
use failwell_server::Event;
use failwell_transport::{Line as TextLine, Lines, write_lines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::line::{Down, Line};
use crate::notice::pass_on;
use crate::settings::{Reach, UpstreamSettings};
use crate::tally::Tally;

/// How long a child has to end after its input was closed and it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long a child has that nobody can talk with any more.
const SHORT_GRACE: Duration = Duration::from_millis(100);
/// How long what a child said before its end may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How much of its standard error is kept for the operator: what a record of the ledger can hold.
const LAST_SAID: Caps = Caps { head: 4 * 1024, tail: 11 * 1024 };

/// Starts the child and connects to it. It ends when `stop` is set.
pub(crate) async fn start(
    launcher: &Launcher,
    settings: &UpstreamSettings,
    tally: Arc<Tally>,
    stop: CancellationToken,
    changed: impl Fn(Event) + Send + 'static,
) -> Result<Arc<Line>, Fault> {
    let plan = plan(settings)?;
    let mut child = match launcher.start(plan).await {
        Ok(child) => child,
        Err(cause) => return Err(Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).absorbing(cause)),
    };
    let (line, notices) = Line::new(tally);
    let input = child.take_input().or_fault(&reason::SERVER_BUG)?;
    let output = child.take_output().or_fault(&reason::SERVER_BUG)?;
    tokio::spawn(pass_on(notices, changed));
    let writer = tokio::spawn(write_lines(line.outgoing().clone(), input));
    let reader = tokio::spawn(read_lines(line.clone(), output, settings.largest_message));
    tokio::spawn(guard(child, line.clone(), stop, reader, writer));
    Ok(line)
}

fn plan(settings: &UpstreamSettings) -> Result<Plan, Fault> {
    let Reach::Child { program, arguments, folder, environment, inherited } = &settings.reach else {
        return Err(Fault::new(&reason::SERVER_BUG).note("gateway", "not a child"));
    };
    let names: Vec<&str> = inherited.iter().map(String::as_str).collect();
    let given = environment
        .iter()
        .fold(Environment::inherit(&names), |all, (name, value)| all.with(name, value.expose()));
    let mut plan = Plan::new(program, folder).arguments(arguments.iter());
    plan.environment = given;
    plan.input = Input::Pipe;
    plan.stdout = Stdout::Piped;
    plan.grace = GRACE;
    plan.output = LAST_SAID;
    Ok(plan)
}

async fn read_lines(line: Arc<Line>, output: impl tokio::io::AsyncRead + Unpin, longest: usize) {
    let mut lines = Lines::new(output, longest);
    while let Some(read) = lines.next().await {
        match read {
            TextLine::Whole(bytes) => line.take(&bytes),
            TextLine::TooLong(start) => line.take_start(&start, longest),
        }
    }
}

/// Watches over the child until it is gone, and tells everybody who waits for it.
async fn guard(
    mut child: Child,
    line: Arc<Line>,
    stop: CancellationToken,
    mut reader: JoinHandle<()>,
    writer: JoinHandle<()>,
) {
    let ended = tokio::select! {
        ended = child.wait() => ended,
        () = stop.cancelled() => {
            line.go_down(&Down::Stopped);
            child.stop(GRACE).await;
            return;
        }
        // Whoever closes its output can answer nothing any more, and whoever does not read cannot be asked.
        _ = &mut reader => child.stop(SHORT_GRACE).await,
        _ = writer => child.stop(SHORT_GRACE).await,
    };
    // What it answered before its end counts.
    if !reader.is_finished() {
        let _ = tokio::time::timeout(LAST_WORDS, reader).await;
    }
    line.go_down(&down(ended));
}

fn down(ended: Ended) -> Down {
    let stderr = ended.output.stderr.text();
    match ended.exit {
        Some(Exit::Code(code)) => Down::Ended { code: Some(code), signal: None, stderr },
        Some(Exit::Signal(signal)) => {
            Down::Ended { code: None, signal: Some(signal.name().to_owned()), stderr }
        }
        None => Down::Ended { code: None, signal: None, stderr },
    }
}
