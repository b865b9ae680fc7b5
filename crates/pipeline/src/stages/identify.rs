//! Stage `identify`: the client and its capabilities. Transports have checked credentials already.

use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{Era, Raw, Request, Revision, meta};

use crate::request::call::unknown_method;
use crate::request::headers::Headers;
use crate::request::incoming_request::{IncomingMessage, IncomingRequest, RequestEra};
use crate::session::RunningRequest;
use failwell_toolbox::Client;
use failwell_toolbox::LogLevel;

impl IncomingRequest<'_> {
    /// Registers the request in its session, so that it can be cancelled.
    pub(crate) fn register(&self) -> Result<Option<RunningRequest>, Fault> {
        match (self.session, self.request()) {
            (Some(session), Some(request)) => session.start(&request.id, &self.cancel, self.ids).map(Some),
            _ => Ok(None),
        }
    }

    /// Determines the client by dialect and era. `only` is the only supported era.
    pub(crate) fn identify(&self, meta: &RequestMeta<'_>, only: Option<Era>) -> Result<Client, Fault> {
        match &self.message {
            IncomingMessage::Mcp(request, era) => {
                check_era(request, *era, only)?;
                match era {
                    RequestEra::Modern(headers) => self.modern_client(request, *headers, meta),
                    RequestEra::Session => self.session_client(request),
                }
            }
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => Ok(Client::plain(self.caller.clone())),
        }
    }

    fn session_client(&self, request: &Request<'_>) -> Result<Client, Fault> {
        let known = self.session.and_then(|session| session.client().cloned());
        match known {
            // The caller's roles may have changed since the handshake.
            Some(client) => Ok(client.with_caller(self.caller)),
            // Before the handshake only these two methods are allowed.
            None if matches!(&*request.method, "initialize" | "ping") => {
                Ok(Client::new(self.caller.clone(), Revision::LATEST_SESSION, None))
            }
            None => Err(Fault::new(&reason::MCP_NOT_INITIALIZED)),
        }
    }

    fn modern_client(
        &self,
        request: &Request<'_>,
        headers: Option<&Headers>,
        meta: &RequestMeta<'_>,
    ) -> Result<Client, Fault> {
        let version = meta.version.and_then(Raw::as_str);
        let version = version.ok_or_else(|| missing_member(meta::PROTOCOL_VERSION))?;
        let capabilities = meta.capabilities.filter(|raw| raw.as_object().is_some());
        let capabilities = capabilities.ok_or_else(|| missing_member(meta::CLIENT_CAPABILITIES))?;
        if let Some(headers) = headers {
            headers.check(request, &version)?;
        }
        if version != Revision::V2026_07_28.as_str() {
            return Err(Fault::new(&reason::MCP_VERSION)
                .fact("supported", vec![Revision::V2026_07_28.as_str()])
                .fact("requested", Echo::of_caller(&version)));
        }
        Ok(Client::new(self.caller.clone(), Revision::V2026_07_28, Some(request.keep(capabilities))))
    }

    /// The least severe log message that the client wants about this request.
    pub(crate) fn log_level(&self, meta: &RequestMeta<'_>) -> Result<Option<LogLevel>, Fault> {
        match &self.message {
            IncomingMessage::Mcp(_, RequestEra::Session) => {
                Ok(self.session.map(|session| session.log_level()))
            }
            IncomingMessage::Mcp(_, RequestEra::Modern(_)) => {
                let level = |raw: Raw<'_>| LogLevel::parse(&raw.as_str().unwrap_or_default());
                meta.log_level.map(level).transpose()
            }
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => Ok(None),
        }
    }
}

/// Refuses requests that a server of one era would not understand: unknown methods, or requests without the
/// members that the modern era requires.
fn check_era(request: &Request<'_>, era: RequestEra<'_>, only: Option<Era>) -> Result<(), Fault> {
    match (only, era) {
        (Some(Era::Session), RequestEra::Modern(_)) => Err(unknown_method(&request.method)),
        (Some(Era::Modern), RequestEra::Session) => Err(missing_member(meta::PROTOCOL_VERSION)),
        _ => Ok(()),
    }
}

/// The members of `_meta` that the pipeline reads, found in one pass.
#[derive(Debug, Default)]
pub(crate) struct RequestMeta<'a> {
    version: Option<Raw<'a>>,
    capabilities: Option<Raw<'a>>,
    log_level: Option<Raw<'a>>,
    pub(crate) progress_token: Option<Raw<'a>>,
    /// Whether there are members that the pipeline does not read.
    pub(crate) has_more: bool,
}

impl<'a> RequestMeta<'a> {
    pub(crate) fn read(message: &IncomingMessage<'a>) -> RequestMeta<'a> {
        let mut found = RequestMeta::default();
        let IncomingMessage::Mcp(request, _) = message else { return found };
        for (key, value) in request.param("_meta").and_then(Raw::as_object).into_iter().flatten() {
            match &*key {
                meta::PROTOCOL_VERSION => found.version = Some(value),
                meta::CLIENT_CAPABILITIES => found.capabilities = Some(value),
                meta::LOG_LEVEL => found.log_level = Some(value),
                meta::PROGRESS_TOKEN => found.progress_token = Some(value),
                meta::CLIENT_INFO | meta::RELATED_TASK => {}
                _ => found.has_more = true,
            }
        }
        found
    }
}

fn missing_member(key: &'static str) -> Fault {
    Fault::new(&reason::MCP_META).fact("key", key)
}
