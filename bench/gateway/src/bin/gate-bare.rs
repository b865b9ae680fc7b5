//! Our gateway without content guards and without a ledger: what the door, the walk and the way to an upstream cost
//! by themselves. The program always has a ledger, so this is made of the same parts.

use bench_server::stand::{open, told_to_stop};
use failwell_audit::{Journal, Style};
use failwell_gateway::{Gateway, Reach, UpstreamSettings};
use failwell_policy::Guards;
use failwell_policy::guard::{Action, GuardSettings, Rule};
use failwell_process::Launcher;
use failwell_server::{Books, Gate, House, Info, Settings};
use failwell_transport::{HttpSettings, serve_http};
use std::error::Error;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const INFO: Info = Info { name: "failwell", title: "Failwell", version: "0.1.0", instructions: "" };

/// Arguments: the address of the server over HTTP, the program of the child, and the program that supervises it.
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("it takes an address and two programs");
    let url = format!("http://{}/mcp", next()?);
    let (child, supervisor) = (next()?, next()?);
    let remote = Reach::Http { url, headers: Vec::new() };
    let child = Reach::Child {
        program: child.into(),
        arguments: Vec::new(),
        folder: std::env::temp_dir(),
        environment: Vec::new(),
        inherited: Vec::new(),
    };
    let upstreams = vec![UpstreamSettings::new("up", remote), UpstreamSettings::new("child", child)];
    let gateway = Gateway::new(INFO, upstreams, Vec::new(), &Launcher::at(supervisor));
    let off = GuardSettings { secrets: Rule::everywhere(Action::Off), ..GuardSettings::default() };
    let gate = Gate::new(Guards::compile(off).map_err(|fault| fault.to_string())?);
    let settings = Settings { gate: Some(gate), ..Settings::default() };
    let books = Books::from(Journal::to(Style::Json, std::io::sink()));
    let house = House::new(Arc::new(gateway.clone()), settings, books).map_err(|fault| fault.to_string())?;
    gateway.announce_to(house.hub());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve_http(house, open().await?, HttpSettings::default(), stop.clone()));
    told_to_stop().await;
    stop.cancel();
    serving.await?.map_err(|fault| fault.to_string().into())
}
