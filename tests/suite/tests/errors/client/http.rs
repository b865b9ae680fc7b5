//! A server on a loopback port, and a client of it.

use std::net::SocketAddr;

use failwell_fault::Fault;
use failwell_rpc::{Era, Revision};
use failwell_transport::{HttpSettings, ShutdownReport, serve_http};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::soon;
use super::wire::{Response, Wire, request};
use crate::requests;
use crate::world::{LARGEST, World};

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    served: JoinHandle<Result<ShutdownReport, Fault>>,
}

/// The usual limits.
pub(crate) fn settings() -> HttpSettings {
    HttpSettings { largest_body: LARGEST, ..failwell_rest::http_settings() }
}

impl Server {
    pub(crate) async fn start(world: &World, settings: HttpSettings) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let served = tokio::spawn(serve_http(world.pipeline.clone(), listener, settings, stop.clone()));
        Server { address, stop, served }
    }

    /// Stops the server and waits for it.
    pub(crate) async fn finish(self) {
        self.stop.cancel();
        soon("the server's end", self.served).await.expect("no panic").expect("no fault");
    }
}

/// A client of one revision. It opens a new connection when the server closed the last one.
pub(crate) struct Http {
    pub(crate) revision: Revision,
    pub(crate) address: SocketAddr,
    /// Sent with every request.
    pub(crate) extra: Vec<(String, String)>,
    pub(crate) session: Option<String>,
    wire: Option<Wire>,
}

impl Http {
    /// A client without handshake.
    pub(crate) fn raw(server: &Server, revision: Revision) -> Http {
        Http { revision, address: server.address, extra: Vec::new(), session: None, wire: None }
    }

    /// A client with a session, if the revision has them.
    pub(crate) async fn open(server: &Server, revision: Revision) -> Http {
        let mut client = Http::raw(server, revision);
        client.begin().await;
        client
    }

    /// A client with a key.
    pub(crate) async fn with_key(server: &Server, revision: Revision, key: &str) -> Http {
        let mut client = Http::raw(server, revision);
        client.extra.push(("Authorization".to_owned(), format!("Bearer {key}")));
        client.begin().await;
        client
    }

    async fn begin(&mut self) {
        if self.revision.era() == Era::Modern {
            return;
        }
        let hello = self.post("/mcp", requests::initialize(self.revision, "\"hello\"")).await;
        assert_eq!(hello.status, 200, "{}", String::from_utf8_lossy(&hello.body));
        let message = hello.message();
        assert_eq!(message.value["result"]["protocolVersion"], self.revision.as_str(), "{}", message.text);
        self.session = Some(hello.header("mcp-session-id").expect("a session").to_owned());
        assert_eq!(self.post("/mcp", requests::INITIALIZED).await.status, 202);
    }

    /// The headers a well-behaved client of the revision sends with a body.
    pub(crate) fn usual(&self, body: &[u8]) -> Vec<(String, String)> {
        let mut headers = requests::headers(body, self.revision);
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        headers.push(("Accept".to_owned(), "application/json, text/event-stream".to_owned()));
        headers.extend(self.session.iter().map(|id| ("Mcp-Session-Id".to_owned(), id.clone())));
        headers.extend(self.extra.iter().cloned());
        headers
    }

    /// Posts with the usual headers.
    pub(crate) async fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> Response {
        let headers = self.usual(body.as_ref());
        self.exchange("POST", path, &headers, body.as_ref()).await
    }

    /// Posts with the usual headers, but with these instead of those of the same name; an empty value leaves one out.
    pub(crate) async fn post_with(
        &mut self,
        path: &str,
        body: impl AsRef<[u8]>,
        changed: &[(&str, &str)],
    ) -> Response {
        let mut headers = self.usual(body.as_ref());
        headers.retain(|(name, _)| !changed.iter().any(|(other, _)| name.eq_ignore_ascii_case(other)));
        let added = changed.iter().filter(|(_, value)| !value.is_empty());
        headers.extend(added.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self.exchange("POST", path, &headers, body.as_ref()).await
    }

    /// Sends a request and reads the whole response.
    pub(crate) async fn exchange(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Response {
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => Wire::connect(self.address).await,
        };
        wire.write(&request(method, path, &self.address.to_string(), headers, body)).await;
        let response = wire.response().await;
        let closes = response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        self.wire = (!closes).then_some(wire);
        response
    }

    /// Sends a request on a new connection, and returns the connection with its unread response.
    pub(crate) async fn begin_post(&self, body: impl AsRef<[u8]>) -> Wire {
        let mut wire = Wire::connect(self.address).await;
        let headers = self.usual(body.as_ref());
        wire.write(&request("POST", "/mcp", &self.address.to_string(), &headers, body.as_ref())).await;
        wire
    }

    /// Checks that the connection still works.
    pub(crate) async fn still_works(&mut self) {
        let response = self.post("/mcp", requests::good(self.revision, "\"still works\"")).await;
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        let message = response.message();
        assert!(message.first_text().contains("simple text"), "{}", message.text);
    }
}
