//! One file per command, in folders by what they are for.

mod access;
mod backends;
mod calls;
mod completions;
mod config_file;
mod init;
mod inspect;
mod man;
mod records;
mod servers;
mod serving;
mod state_file;

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use self::access::{approve, key, login, pin};
use self::inspect::{check, check_python, doctor, status};
use self::records::{audit, explain};
use self::serving::{single_server, stdio, up};
use crate::cli::Command;
use crate::complaint::Complaint;

pub(crate) use backends::upstreams::absent_programs;

pub(crate) fn run(command: Command) -> Result<ExitCode, Complaint> {
    match command {
        Command::Up(arguments) => runtime()?.block_on(up::run(arguments)),
        Command::Stdio(arguments) => stdio::run(&arguments),
        Command::Tools(arguments) => runtime()?.block_on(calls::tools(arguments)),
        Command::Call(arguments) => runtime()?.block_on(calls::call(arguments)),
        Command::Init(arguments) => init::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::CheckPython(arguments) => runtime()?.block_on(check_python::run(arguments)),
        Command::Serve(arguments) => single_server::run(arguments),
        Command::Status(arguments) => runtime()?.block_on(status::run(arguments)),
        Command::Login(arguments) => runtime()?.block_on(login::log_in(&arguments.to)),
        Command::Logout(arguments) => runtime()?.block_on(login::log_out(&arguments.of)),
        Command::Key(arguments) => key::run(&arguments),
        Command::Approve(arguments) => approve::run(&arguments),
        Command::Pin(arguments) => pin::run(&arguments.what),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments.look),
        #[cfg(feature = "probe")]
        Command::Probe(arguments) => runtime()?.block_on(inspect::probe::run(arguments)),
        #[cfg(not(feature = "probe"))]
        Command::Probe(_) => Err(crate::parts::PROBE.complaint("failwell probe")),
        #[cfg(feature = "emulators")]
        Command::Emulate(arguments) => runtime()?.block_on(servers::emulate::run(arguments)),
        #[cfg(not(feature = "emulators"))]
        Command::Emulate(_) => Err(crate::parts::EMULATORS.complaint("failwell emulate")),
        Command::Doctor(arguments) => runtime()?.block_on(doctor::run(&arguments)),
        Command::Completions(arguments) => Ok(completions::run(&arguments)),
        Command::Man(arguments) => man::run(&arguments),
    }
}

fn runtime() -> Result<Runtime, Complaint> {
    Builder::new_multi_thread().enable_all().build().map_err(|error| {
        Complaint::new(format!("cannot start the runtime: {error}"), "check the limits of this user")
    })
}

/// Formats a value as indented JSON with a final line break.
fn json(value: &impl serde::Serialize) -> Result<String, Complaint> {
    let written = serde_json::to_string_pretty(value);
    written
        .map(|text| text + "\n")
        .map_err(|error| Complaint::new(format!("cannot write JSON: {error}"), "report this"))
}
