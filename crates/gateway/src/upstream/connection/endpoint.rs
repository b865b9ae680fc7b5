//! An HTTP endpoint and the credentials for it.

use std::sync::Arc;

use bytes::Bytes;
use failwell_connect::{HeadLines, HttpResponse, Remote, SendError, Verb};
use failwell_fault::{Fault, reason};
use http::header::AUTHORIZATION;

use crate::upstream::connection::token::TokenSource;
use crate::upstream::settings::{Endpoint, UpstreamSettings};

#[derive(Debug)]
pub(crate) struct HttpEndpoint {
    remote: Remote,
    tokens: Option<Arc<TokenSource>>,
}

/// Why a message got no HTTP response.
pub(crate) enum UpstreamSendError {
    /// No token could be obtained, so the message was not sent.
    NoToken(Fault),
    Transport(SendError),
}

impl HttpEndpoint {
    pub(crate) fn new(
        settings: &UpstreamSettings,
        tokens: Option<Arc<TokenSource>>,
    ) -> Result<HttpEndpoint, Fault> {
        let Endpoint::Http { url, headers } = &settings.endpoint else {
            return Err(Fault::new(&reason::SERVER_BUG).note("gateway", "not reached over HTTP"));
        };
        Ok(HttpEndpoint { remote: Remote::new(url, headers, settings.trust.clone())?, tokens })
    }

    /// Another path on the same server; `None` if the reference leads to another server.
    pub(crate) fn sibling(&self, reference: &str) -> Option<HttpEndpoint> {
        Some(HttpEndpoint { remote: self.remote.at_reference(reference)?, tokens: self.tokens.clone() })
    }

    /// Sends a message with a token. A token that is rejected with 401 is replaced and the message sent again, once:
    /// a rejected request had no effect.
    pub(crate) async fn send(
        &self,
        verb: Verb,
        headers: HeadLines,
        body: Bytes,
    ) -> Result<HttpResponse, UpstreamSendError> {
        match &self.tokens {
            None => self.remote.send(verb, headers, body).await.map_err(UpstreamSendError::Transport),
            // Boxed: the future of a request without token stays small.
            Some(tokens) => Box::pin(self.send_with_token(tokens, verb, headers, body)).await,
        }
    }

    async fn send_with_token(
        &self,
        tokens: &TokenSource,
        verb: Verb,
        headers: HeadLines,
        body: Bytes,
    ) -> Result<HttpResponse, UpstreamSendError> {
        let token = tokens.current().await.map_err(UpstreamSendError::NoToken)?;
        let shown = headers.clone().with(AUTHORIZATION.as_str(), &token);
        let response =
            self.remote.send(verb, shown, body.clone()).await.map_err(UpstreamSendError::Transport)?;
        if response.status() != 401 {
            return Ok(response);
        }
        let token = tokens.replace(&token).await.map_err(UpstreamSendError::NoToken)?;
        let shown = headers.with(AUTHORIZATION.as_str(), &token);
        self.remote.send(verb, shown, body).await.map_err(UpstreamSendError::Transport)
    }
}
