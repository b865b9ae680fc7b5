//! Settings of the tasks server. The configuration has precedence over the environment.

use failwell_fault::{Fault, Secret};
use failwell_tasks::{ApiKey, Permission, RateLimit, Settings, TokenStore};

use crate::cli::Reach;
use crate::commands::serving::serve;
use crate::complaint::Complaint;
use crate::config::{Config, EmulatedService, is_exposed_url};
use crate::state;

/// Settings from the configuration and the environment. Without an API key every tool reports the missing
/// key.
pub(in crate::commands) fn settings(config: &Config) -> Settings {
    let tasks = &config.tasks;
    if let Some(stand_in) = &tasks.stand_in {
        return standing_in(stand_in);
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let secret = |name: &str| set(name).map(Secret::new);
    let key = tasks.api_key.clone().or_else(|| secret("RTM_API_KEY"));
    let shared = tasks.shared_secret.clone().or_else(|| secret("RTM_SHARED_SECRET"));
    let key = key.zip(shared).map(|(key, secret)| ApiKey { key, secret });
    let usual = Settings::new(key, config.data_dir.clone().or_else(state::folder));
    Settings {
        service: tasks.base_url.clone().or_else(|| set("RTM_BASE_URL")).unwrap_or(usual.service),
        permission: tasks.permission.unwrap_or(Permission::Delete),
        keep: tasks.token_store,
        timeout: tasks.timeout,
        ..usual
    }
}

/// Settings for the emulated service: the login is not stored, and requests are not throttled.
fn standing_in(stand_in: &EmulatedService) -> Settings {
    let key = ApiKey { key: stand_in.api_key.clone(), secret: stand_in.shared_secret.clone() };
    Settings {
        service: stand_in.base_url.clone(),
        keep: TokenStore::File,
        token: Some(stand_in.token.clone()),
        pace: RateLimit::Free,
        ..Settings::new(Some(key), None)
    }
}

pub(in crate::commands) fn settle(config: &Config, reach: &Reach) -> Result<Settings, Complaint> {
    let mut settings = settings(config);
    if let Some(url) = &reach.base_url {
        settings.service.clone_from(url);
    }
    match is_exposed_url(&settings.service) {
        Some(false) => Ok(settings),
        Some(true) => Err(Complaint::new(
            "the service would be reached without encryption",
            "begin the address with https://: keys are sent there",
        )),
        None => Err(Complaint::new(
            "the address of the service is none",
            "write it as https://host, with --base-url, `base_url` or RTM_BASE_URL",
        )),
    }
}

/// The error for the terminal.
pub(in crate::commands) fn complaint(fault: &Fault) -> Complaint {
    if fault.reason() == &failwell_tasks::reason::TASKS_NOT_CONFIGURED {
        return Complaint::new(
            "there is no API key for Remember The Milk",
            "get one at https://www.rememberthemilk.com/services/api/keys.rtm, then set RTM_API_KEY and RTM_SHARED_SECRET, or [tasks] in failwell.toml",
        );
    }
    if fault.reason().area() == "tasks" {
        return Complaint::new(fault.detail(), fault.hint());
    }
    serve::unexpected(fault)
}
