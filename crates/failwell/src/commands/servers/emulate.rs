use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use failwell_emulator_rtm::{Emulator, Options, Permission, Rate, Seed};
use failwell_emulator_wda as wda;
use failwell_transport::stop_on_signal;

use crate::cli::{Emulate, EmulateRtm, EmulateWda, EmulatorKind};
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// Runs an emulator until a signal stops it.
pub(in crate::commands) async fn run(arguments: Emulate) -> Result<ExitCode, Complaint> {
    match arguments.service {
        EmulatorKind::Rtm(arguments) => rtm(arguments).await,
        EmulatorKind::Wda(arguments) => phone(arguments).await,
    }
}

/// Emulators have no authentication, so they only listen on loopback addresses.
fn of_this_machine(listen: SocketAddr, example: &str) -> Result<(), Complaint> {
    if listen.ip().is_loopback() {
        return Ok(());
    }
    Err(Complaint::new(
        format!("{listen} can be reached from other machines"),
        format!("choose an address of this machine alone, such as --listen {example}"),
    ))
}

async fn rtm(arguments: EmulateRtm) -> Result<ExitCode, Complaint> {
    of_this_machine(arguments.listen, "127.0.0.1:8585")?;
    let stop = stop_on_signal();
    let options = Options {
        listen: arguments.listen,
        seed: seed(&arguments.seed)?,
        rate: (!arguments.no_rate_limit).then(Rate::default),
        ..Options::default()
    };
    let emulator = Emulator::start(options).await.map_err(|error| {
        Complaint::new(
            format!("the emulator cannot start on {}: {error}", arguments.listen),
            "choose another port, such as --listen 127.0.0.1:0, or correct the seed",
        )
    })?;
    terminal::print(&welcome(&emulator, Paint::for_stdout()));
    stop.cancelled().await;
    Ok(ExitCode::SUCCESS)
}

fn seed(name: &Path) -> Result<Seed, Complaint> {
    match name.to_str() {
        Some("demo") => return Ok(Seed::demo()),
        Some("empty") => return Ok(Seed::empty()),
        _ => {}
    }
    let hint = "name demo, empty, or a JSON file as docs/guide/emulators.md describes";
    let text = std::fs::read(name)
        .map_err(|error| Complaint::new(format!("{} cannot be read: {error}", name.display()), hint))?;
    serde_json::from_slice(&text)
        .map_err(|error| Complaint::new(format!("{} is not a seed: {error}", name.display()), hint))
}

fn welcome(emulator: &Emulator, paint: Paint) -> String {
    let base = emulator.base_url();
    let (key, secret) = (emulator.api_key(), emulator.secret());
    let token = emulator.control().token(Permission::Delete);
    let (name, reach, tries) = (paint.bold(&base), paint.bold("reach it with"), paint.bold("try"));
    format!(
        "an emulator of Remember The Milk is up on {name}\n\n{reach}\n\
         \x20 api key   {key}\n\
         \x20 secret    {secret}\n\
         \x20 token     {token}   (delete permission; or log in at /services/auth/)\n\
         \x20 methods   {base}/services/rest/\n\
         \x20 control   {base}/_control/   (seed, clock, fail, calls, dump, …)\n\n{tries}\n\
         \x20 curl -s '{base}/services/rest/?method=rtm.test.echo&api_key={key}&format=json&hello=world'\n\
         \x20 curl -s {base}/_control/dump\n\
         \x20 RTM_API_KEY={key} RTM_SHARED_SECRET={secret} failwell serve tasks --base-url {base}\n\n\
         stop with Ctrl-C\n"
    )
}

async fn phone(arguments: EmulateWda) -> Result<ExitCode, Complaint> {
    of_this_machine(arguments.listen, "127.0.0.1:8100")?;
    let stop = stop_on_signal();
    let options = wda::Options { listen: arguments.listen, ..wda::Options::default() };
    let emulator = wda::Emulator::start(options).await.map_err(|error| {
        Complaint::new(
            format!("the emulator cannot start on {}: {error}", arguments.listen),
            "choose another port, such as --listen 127.0.0.1:0",
        )
    })?;
    terminal::print(&greeting(&emulator.base_url(), Paint::for_stdout()));
    tokio::select! {
        () = stop.cancelled() => Ok(ExitCode::SUCCESS),
        () = emulator.died() => Err(Complaint::new(
            "the runner died, as a fault asked it to".to_owned(),
            "start it again",
        )),
    }
}

fn greeting(base: &str, paint: Paint) -> String {
    let (name, reach, tries) = (paint.bold(base), paint.bold("reach it with"), paint.bold("try"));
    format!(
        "an emulator of WebDriverAgent is up on {name}\n\n{reach}\n\
         \x20 app       org.example.pantry   (any name, and the password sesame)\n\
         \x20 Appium    appium:automationName XCUITest, appium:webDriverAgentUrl {base}, an appium:udid\n\
         \x20 control   {base}/_control/   (reset, fail, calls, dump)\n\n{tries}\n\
         \x20 curl -s {base}/source\n\
         \x20 curl -s {base}/screenshot\n\n\
         stop with Ctrl-C\n"
    )
}
