//! Why a connection ended, and what that means for the requests on it.

use std::time::Duration;

use failwell_fault::{Effect, Fault, reason};

#[derive(Debug)]
pub(crate) enum CloseReason {
    /// The process exited, with this code or signal and this end of its stderr.
    Ended { code: Option<i32>, signal: Option<String>, stderr: String },
    /// The connection was lost.
    Lost,
    /// The gateway closed it.
    Stopped,
    /// The liveness check got no answer for this long.
    Silent(Duration),
}

impl CloseReason {
    /// The fault for requests that were pending.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            CloseReason::Lost | CloseReason::Stopped => {
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).with_effect(Effect::Unknown)
            }
            CloseReason::Silent(patience) => {
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).with_effect(Effect::Unknown).note(
                    "health",
                    format!("it said nothing for {patience:?} when asked whether it is there, and was ended"),
                )
            }
            CloseReason::Ended { code, signal, stderr } => {
                let fault = Fault::new(&reason::GATEWAY_UPSTREAM_CRASHED)
                    .with_effect(Effect::Unknown)
                    .capture("stderr", stderr.as_str());
                let fault = match code {
                    Some(code) => fault.fact("exit_code", *code),
                    None => fault,
                };
                match signal.as_deref().and_then(failwell_fault::Name::parse) {
                    Some(signal) => fault.fact("signal", signal),
                    None => fault,
                }
            }
        }
    }
}
