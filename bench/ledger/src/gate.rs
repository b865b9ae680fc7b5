//! A gateway in front of one echo server over HTTP, as `failwell up` wires it.

use crate::folder::Folder;
use bench_server::child::Server;
use bench_server::stand::{open, told_to_stop};
use failwell_audit::{Journal, Ledger, LedgerSettings, Promise, Style};
use failwell_gateway::{Gateway, Reach, UpstreamSettings};
use failwell_process::Launcher;
use failwell_server::{Books, House, Info, Settings};
use failwell_transport::{HttpSettings, serve_http};
use std::error::Error;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const INFO: Info = Info { name: "failwell", title: "Failwell", version: "0.1.0", instructions: "" };

/// Serves until told to stop, with a ledger that promises this, or without one.
pub async fn serve(promise: Option<Promise>) -> Result<(), Box<dyn Error>> {
    let upstream = Server::start("upstream-http")?;
    let reach = Reach::Http { url: format!("http://{}/mcp", upstream.address), headers: Vec::new() };
    let settings = vec![UpstreamSettings::new("up", reach)];
    let launcher = Launcher::at("/nowhere");
    let gateway = Gateway::new(INFO, settings, Vec::new(), &launcher);
    let folder = Folder::new("gate");
    let journal = Journal::to(Style::Json, std::io::sink());
    let books = Books::from(journal.clone());
    let books = match promise {
        Some(promise) => {
            let settings = LedgerSettings { promise, ..LedgerSettings::in_folder(&folder.0) };
            books.with_ledger(Ledger::start(settings, journal))
        }
        None => books,
    };
    let house = House::new(Arc::new(gateway.clone()), Settings::default(), books);
    let house = house.map_err(|fault| fault.to_string())?;
    gateway.announce_to(house.hub());
    let stop = CancellationToken::new();
    let serving = serve_http(house, open().await?, HttpSettings::default(), stop.clone());
    let serving = tokio::spawn(serving);
    told_to_stop().await;
    stop.cancel();
    serving.await?.map_err(|fault| fault.to_string().into())
}
