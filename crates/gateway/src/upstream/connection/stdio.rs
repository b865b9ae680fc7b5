//! An upstream that runs as a child process and speaks over stdio.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fact, Fault, OrFault, reason};
use failwell_process::{Caps, Child, ChildExit, Environment, Exit, Input, Launcher, Plan, Stdout};
use failwell_toolbox::Event;
use failwell_transport::{InputLine, Lines, write_lines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::upstream::client::event::forward_events;
use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::connection::request_mux::RequestMux;
use crate::upstream::counters::UpstreamCounters;
use crate::upstream::lifecycle::PROGRAM;
use crate::upstream::settings::{Endpoint, UpstreamSettings};

/// Grace period after stdin was closed.
const GRACE: Duration = Duration::from_secs(2);
/// Grace period of a child whose pipes are already closed.
const SHORT_GRACE: Duration = Duration::from_millis(100);
/// Time limit for reading the remaining output of a child that ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The part of stderr that is captured for the operator. A ledger record holds no more.
const STDERR_CAPS: Caps = Caps { head: 4 * 1024, tail: 11 * 1024 };

/// Starts the child. It is stopped when `stop` is cancelled.
pub(crate) async fn start(
    launcher: &Launcher,
    settings: &UpstreamSettings,
    counters: Arc<UpstreamCounters>,
    stop: CancellationToken,
    changed: impl Fn(Event) + Send + 'static,
) -> Result<Arc<RequestMux>, Fault> {
    let plan = plan(settings)?;
    let mut child = match launcher.start(plan).await {
        Ok(child) => child,
        Err(cause) => return Err(not_started(settings, cause)),
    };
    let (mux, events) = RequestMux::new(counters);
    let input = child.take_input().or_fault(&reason::SERVER_BUG)?;
    let output = child.take_output().or_fault(&reason::SERVER_BUG)?;
    tokio::spawn(forward_events(events, changed));
    let writer = tokio::spawn(write_lines(mux.outgoing().clone(), input));
    let reader = tokio::spawn(read_lines(mux.clone(), output, settings.largest_message));
    tokio::spawn(supervise(child, mux.clone(), stop, reader, writer));
    Ok(mux)
}

/// The fault with the name of the program, which the fault of the launcher does not know.
fn not_started(settings: &UpstreamSettings, cause: Fault) -> Fault {
    let fault = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN);
    let fault = match (&settings.endpoint, cause.get("what"), cause.get("why")) {
        (Endpoint::Child { program, .. }, Some(Fact::Word("the program")), Some(why)) => {
            fault.note(PROGRAM, format!("`{}` {why}", program.display()))
        }
        (Endpoint::Child { folder, .. }, Some(Fact::Word("its folder")), Some(why)) => {
            fault.note(PROGRAM, format!("its folder {} {why}", folder.display()))
        }
        _ => fault,
    };
    fault.absorbing(cause)
}

fn plan(settings: &UpstreamSettings) -> Result<Plan, Fault> {
    let Endpoint::Child { program, arguments, folder, environment, inherited } = &settings.endpoint else {
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
    plan.output = STDERR_CAPS;
    Ok(plan)
}

async fn read_lines(mux: Arc<RequestMux>, output: impl tokio::io::AsyncRead + Unpin, longest: usize) {
    let mut lines = Lines::new(output, longest);
    while let Some(read) = lines.next().await {
        match read {
            InputLine::Whole(bytes) if lines.has_ended() => mux.receive_last(&bytes),
            InputLine::Whole(bytes) => mux.receive(&bytes),
            InputLine::TooLong(start) => mux.receive_truncated(&start, longest),
        }
    }
}

/// Waits for the child to end, then fails all pending requests.
async fn supervise(
    mut child: Child,
    mux: Arc<RequestMux>,
    stop: CancellationToken,
    mut reader: JoinHandle<()>,
    writer: JoinHandle<()>,
) {
    let ended = tokio::select! {
        ended = child.wait() => ended,
        () = stop.cancelled() => {
            mux.close(&CloseReason::Stopped);
            child.stop(GRACE).await;
            return;
        }
        // A child that closed stdout cannot answer, and one that closed stdin cannot be asked.
        _ = &mut reader => child.stop(SHORT_GRACE).await,
        _ = writer => child.stop(SHORT_GRACE).await,
    };
    // Responses that were written before the end still count.
    if !reader.is_finished() {
        let _ = tokio::time::timeout(LAST_WORDS, reader).await;
    }
    mux.close(&close_reason(ended));
}

fn close_reason(ended: ChildExit) -> CloseReason {
    let stderr = ended.output.stderr.text();
    match ended.exit {
        Some(Exit::Code(code)) => CloseReason::Ended { code: Some(code), signal: None, stderr },
        Some(Exit::Signal(signal)) => {
            CloseReason::Ended { code: None, signal: Some(signal.name().to_owned()), stderr }
        }
        None => CloseReason::Ended { code: None, signal: None, stderr },
    }
}
