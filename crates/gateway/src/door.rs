//! The way to a server over HTTP, with what it wants to see at its door.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_transport::{HeadLines, Heard, Remote, Unheard, Verb};
use http::header::AUTHORIZATION;

use crate::settings::{Reach, UpstreamSettings};
use crate::token::Tokens;

/// A server, and the tokens for it.
#[derive(Debug)]
pub(crate) struct Door {
    remote: Remote,
    tokens: Option<Arc<Tokens>>,
}

/// Why a message has no answer.
pub(crate) enum Unsaid {
    /// There was nothing to show at the door, so it was not sent.
    NoToken(Fault),
    /// As the connection has it.
    Unheard(Unheard),
}

impl Door {
    /// The door of this upstream.
    pub(crate) fn of(settings: &UpstreamSettings, tokens: Option<Arc<Tokens>>) -> Result<Door, Fault> {
        let Reach::Http { url, headers } = &settings.reach else {
            return Err(Fault::new(&reason::SERVER_BUG).note("gateway", "not reached over HTTP"));
        };
        Ok(Door { remote: Remote::new(url, headers, settings.trust.clone())?, tokens })
    }

    /// Another door of the same server; `None` when the reference leads to another server.
    pub(crate) fn beside(&self, reference: &str) -> Option<Door> {
        Some(Door { remote: self.remote.beside(reference)?, tokens: self.tokens.clone() })
    }

    /// Sends a message with the token the upstream wants to see. One it no longer takes is replaced, once: whoever
    /// turns us away at the door did nothing.
    pub(crate) async fn say(&self, verb: Verb, headers: HeadLines, body: Bytes) -> Result<Heard, Unsaid> {
        match &self.tokens {
            None => self.remote.send(verb, headers, body).await.map_err(Unsaid::Unheard),
            // Large, so kept apart: what most requests are made of stays small.
            Some(tokens) => Box::pin(self.say_with_token(tokens, verb, headers, body)).await,
        }
    }

    async fn say_with_token(
        &self,
        tokens: &Tokens,
        verb: Verb,
        headers: HeadLines,
        body: Bytes,
    ) -> Result<Heard, Unsaid> {
        let token = tokens.current().await.map_err(Unsaid::NoToken)?;
        let shown = headers.clone().with(AUTHORIZATION.as_str(), &token);
        let heard = self.remote.send(verb, shown, body.clone()).await.map_err(Unsaid::Unheard)?;
        if heard.status() != 401 {
            return Ok(heard);
        }
        let token = tokens.instead_of(&token).await.map_err(Unsaid::NoToken)?;
        let shown = headers.with(AUTHORIZATION.as_str(), &token);
        self.remote.send(verb, shown, body).await.map_err(Unsaid::Unheard)
    }
}
