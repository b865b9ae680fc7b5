//! A request as a transport hands it over.

use std::sync::Arc;

use failwell_audit::Trace;
use failwell_fault::{Echo, Fault, reason};
use failwell_policy::Caller;
use failwell_rpc::{Era, Raw, Request, Revision, meta};
use tokio_util::sync::CancellationToken;

use crate::call::unknown_method;
use crate::client::Client;
use crate::headers::Headers;
use crate::log_level::LogLevel;
use crate::session::{Running, Session, SharedIds};
use crate::stream::Stream;

/// A request, and everything about how it came.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// The request.
    pub request: Request<'a>,
    /// Which era it speaks.
    pub spoken: Spoken<'a>,
    /// Who sent it.
    pub caller: &'a Caller,
    /// The conversation it belongs to: always in the session era, and on stdio.
    pub session: Option<&'a Arc<Session>>,
    /// The connection it came in on, which a session may outlive.
    pub connection: &'a str,
    /// Whether ids may repeat.
    pub ids: SharedIds,
    /// Where notices about it go.
    pub outlet: Arc<Stream>,
    /// Set when the caller calls it off.
    pub cancel: CancellationToken,
    /// Which trace it is part of, where traces are kept; see `House::join_trace`.
    pub trace: Option<Trace>,
}

/// The era of one request.
#[derive(Debug, Clone, Copy)]
pub enum Spoken<'a> {
    /// Within a session.
    Session,
    /// Stateless; over HTTP with headers that must agree.
    Modern(Option<&'a Headers>),
}

/// Whether a request claims to be of the modern era.
pub fn claims_modern(request: &Request<'_>) -> bool {
    request.meta(meta::PROTOCOL_VERSION).is_some()
}

impl Arrival<'_> {
    pub(crate) fn revision(&self) -> Revision {
        match self.spoken {
            Spoken::Modern(_) => Revision::V2026_07_28,
            Spoken::Session => self.session.map_or(Revision::LATEST_SESSION, |session| session.revision()),
        }
    }

    pub(crate) fn connection(&self) -> &str {
        self.session.map_or(self.connection, |session| session.id.as_str())
    }

    /// Notes that the request runs, so that it can be cancelled.
    pub(crate) fn register(&self) -> Result<Option<Running>, Fault> {
        self.session.map(|session| session.start(&self.request.id, &self.cancel, self.ids)).transpose()
    }

    /// Refuses what a server that speaks one era only would not understand: methods it never heard of, or requests
    /// that do not say what every one must.
    pub(crate) fn is_of(&self, only: Option<Era>) -> Result<(), Fault> {
        match (only, self.spoken) {
            (Some(Era::Session), Spoken::Modern(_)) => Err(unknown_method(&self.request.method)),
            (Some(Era::Modern), Spoken::Session) => Err(lacks(meta::PROTOCOL_VERSION)),
            _ => Ok(()),
        }
    }

    /// Who the client is and what it can do, as the era has it.
    pub(crate) fn introduce(&self, said: &Meta<'_>) -> Result<Client, Fault> {
        match self.spoken {
            Spoken::Modern(headers) => self.introduce_modern(headers, said),
            Spoken::Session => self.introduce_session(),
        }
    }

    fn introduce_session(&self) -> Result<Client, Fault> {
        let known = self.session.and_then(|session| session.client().cloned());
        match known {
            // Roles may have been given or taken since.
            Some(client) => Ok(client.of(self.caller)),
            // Before the handshake only these two make sense.
            None if matches!(&*self.request.method, "initialize" | "ping") => {
                Ok(Client::new(self.caller.clone(), Revision::LATEST_SESSION, None))
            }
            None => Err(Fault::new(&reason::MCP_NOT_INITIALIZED)),
        }
    }

    fn introduce_modern(&self, headers: Option<&Headers>, said: &Meta<'_>) -> Result<Client, Fault> {
        let version = said.version.and_then(Raw::as_str);
        let version = version.ok_or_else(|| lacks(meta::PROTOCOL_VERSION))?;
        let capabilities = said.capabilities.filter(|raw| raw.as_object().is_some());
        let capabilities = capabilities.ok_or_else(|| lacks(meta::CLIENT_CAPABILITIES))?;
        if let Some(headers) = headers {
            headers.check(&self.request, &version)?;
        }
        if version != Revision::V2026_07_28.as_str() {
            return Err(Fault::new(&reason::MCP_VERSION)
                .fact("supported", vec![Revision::V2026_07_28.as_str()])
                .fact("requested", Echo::of_caller(&version)));
        }
        Ok(Client::new(self.caller.clone(), Revision::V2026_07_28, Some(self.request.keep(capabilities))))
    }

    /// How much the client wants to hear about this request.
    pub(crate) fn log_level(&self, said: &Meta<'_>) -> Result<Option<LogLevel>, Fault> {
        match self.spoken {
            Spoken::Session => Ok(self.session.map(|session| session.log_level())),
            Spoken::Modern(_) => {
                let level = |raw: Raw<'_>| LogLevel::parse(&raw.as_str().unwrap_or_default());
                said.log_level.map(level).transpose()
            }
        }
    }
}

/// The members of `_meta` that every walk looks at, found in one pass over it.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    version: Option<Raw<'a>>,
    capabilities: Option<Raw<'a>>,
    log_level: Option<Raw<'a>>,
    pub(crate) progress_token: Option<Raw<'a>>,
    /// Whether there are members nobody here looks at.
    pub(crate) has_more: bool,
}

impl<'a> Meta<'a> {
    pub(crate) fn of(request: &Request<'a>) -> Meta<'a> {
        let mut said = Meta::default();
        for (key, value) in request.param("_meta").and_then(Raw::as_object).into_iter().flatten() {
            match &*key {
                meta::PROTOCOL_VERSION => said.version = Some(value),
                meta::CLIENT_CAPABILITIES => said.capabilities = Some(value),
                meta::LOG_LEVEL => said.log_level = Some(value),
                meta::PROGRESS_TOKEN => said.progress_token = Some(value),
                meta::CLIENT_INFO | meta::RELATED_TASK => {}
                _ => said.has_more = true,
            }
        }
        said
    }
}

fn lacks(key: &'static str) -> Fault {
    Fault::new(&reason::MCP_META).fact("key", key)
}
