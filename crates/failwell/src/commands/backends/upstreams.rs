//! Upstreams of the configuration as settings of the gateway.

use std::collections::BTreeMap;
use std::path::{Path, absolute};

use failwell_fault::Secret;
use failwell_gateway::{ClientCredentials, Endpoint, RestartBudget, Trust, UpstreamSettings};

use crate::config::{Auth, Config, Target, UpstreamConfig, endpoint_problem};

/// The upstreams of a configuration. A program starts in the folder of the file, unless it has a folder of its own.
pub(in crate::commands) fn all(config: &Config) -> Vec<UpstreamSettings> {
    let folder = config.folder();
    config.upstreams.iter().map(|upstream| settings(upstream, &folder)).collect()
}

/// The upstreams whose program this machine does not have, each with the reason.
pub(crate) fn absent_programs(config: &Config) -> Vec<String> {
    let all = all(config);
    let absent = all.iter().filter_map(|upstream| {
        let why = endpoint_problem(&upstream.endpoint)?;
        let Endpoint::Child { program, .. } = &upstream.endpoint else { return None };
        Some(format!("{}: `{}`: {why}", upstream.name, program.display()))
    });
    absent.collect()
}

fn settings(config: &UpstreamConfig, folder: &Path) -> UpstreamSettings {
    let pairs = |all: &BTreeMap<String, Secret<String>>| {
        all.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let reach = match &config.target {
        Target::Command { program, arguments, cwd, env, env_pass } => Endpoint::Child {
            program: program.into(),
            arguments: arguments.clone(),
            folder: cwd.as_ref().and_then(|cwd| absolute(cwd).ok()).unwrap_or_else(|| folder.to_owned()),
            environment: pairs(env),
            inherited: env_pass.clone(),
        },
        Target::Url { url, headers, .. } => {
            Endpoint::Http { url: url.0.to_string(), headers: pairs(headers) }
        }
    };
    let usual = UpstreamSettings::new(&config.name, reach);
    let usual = match &config.target {
        Target::Url { wire, ca, auth, .. } => UpstreamSettings {
            transport: *wire,
            trust: ca.as_ref().map_or_else(Trust::default, |ca| ca.trust.clone()),
            credentials: auth.as_deref().map(credentials),
            ..usual
        },
        Target::Command { .. } => usual,
    };
    UpstreamSettings {
        sharing: config.sharing,
        most_sessions: config.max_sessions,
        timeout: config.timeout,
        start_timeout: config.start_timeout,
        list_wait: config.list_wait,
        lazy: config.lazy,
        idle_stop: config.idle_stop,
        largest_message: config.max_message_bytes,
        restart: RestartBudget { budget: config.restart.budget, window: config.restart.window },
        first_era: None,
        trusted_errors: config.trusted_errors,
        tool_errors: config.errors,
        instructions: config.instructions,
        ..usual
    }
}

fn credentials(auth: &Auth) -> ClientCredentials {
    ClientCredentials {
        token_url: auth.token_url.0.to_string(),
        client_id: auth.client_id.clone(),
        client_secret: auth.client_secret.clone(),
        scope: auth.scope.clone(),
        audience: auth.audience.clone(),
        resource: auth.resource.clone(),
    }
}
