//! Which texts of a client's file are secrets.

use failwell_fault::Fault;
use failwell_policy::guard::{Category, GuardRule};
use failwell_policy::{GuardSettings, Guards};

/// The last words of names whose values are secrets.
const TELLING: [&str; 16] = [
    "apikey",
    "auth",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "pwd",
    "secret",
    "token",
    "webhook",
];
/// Values that are settings, whatever their name.
const HARMLESS: [&str; 6] = ["", "0", "1", "true", "false", "none"];

/// Recognizes secrets by their names, and by the detectors of the content guards.
pub(super) struct SecretFinder {
    shapes: Guards,
    /// The detectors with the one for random text.
    random: Guards,
}

impl SecretFinder {
    pub(super) fn new() -> Result<SecretFinder, Fault> {
        let mut settings = GuardSettings::default();
        settings.secrets = GuardRule { categories: Some(vec![Category::Entropy]), ..settings.secrets };
        Ok(SecretFinder {
            shapes: Guards::compile(GuardSettings::default())?,
            random: Guards::compile(settings)?,
        })
    }

    /// Whether the value of a variable or header is a secret.
    pub(super) fn is_secret(&self, name: &str, value: &str) -> bool {
        // Paths and addresses look random to the detector.
        let is_place = value.contains(['/', '\\', ' ']);
        !is_harmless(value)
            && (is_telling(name)
                || self.has_shape(value)
                || self.has_shape(&format!("{name}={value}"))
                || !is_place && self.random.scrub_secrets(value) != value)
    }

    /// Whether a text contains a secret of a known shape.
    pub(super) fn has_shape(&self, text: &str) -> bool {
        self.shapes.scrub_secrets(text) != text
    }

    /// Whether a part of an address's path is random, as in addresses that are keys themselves.
    pub(super) fn has_random_path(&self, text: &str) -> bool {
        let path = text.split_once("://").map_or("", |(_, rest)| rest.split('?').next().unwrap_or_default());
        path.split('/').skip(1).any(|part| self.random.scrub_secrets(part) != part)
    }
}

pub(super) fn is_harmless(value: &str) -> bool {
    HARMLESS.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether the name of a variable, header or option says that its value is a secret.
pub(super) fn is_telling(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').to_ascii_lowercase();
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    TELLING.contains(&last)
        || last.ends_with("token")
        || last.ends_with("apikey")
        || last.ends_with("password")
}

#[cfg(test)]
mod tests {
    use super::SecretFinder;

    #[test]
    fn addresses_that_are_keys_are_recognized() {
        let finder = SecretFinder::new().expect("the detectors compile");
        for (url, is_secret) in [
            ("https://hooks.example/mcp/s/kJ8fQ2xLr9Zp3VwT7yBn5MsD1cHg4Ea0/mcp", true),
            ("https://tools.example/some-long-name-of-a-server/mcp?x=1", false),
            ("kJ8fQ2xLr9Zp3VwT7yBn5MsD1cHg4Ea0", false),
        ] {
            assert_eq!(finder.has_random_path(url), is_secret, "{url}");
        }
    }

    #[test]
    fn secrets_are_told_from_settings() {
        let finder = SecretFinder::new().expect("the detectors compile");
        for (name, value, is_secret) in [
            ("BRAVE_API_KEY", "abc", true),
            ("GITHUB_PERSONAL_ACCESS_TOKEN", "x1", true),
            ("API_KEY_2", "abc", true),
            ("PGPASSWORD", "hunter2", true),
            ("X-Api-Key", "abc", true),
            ("Authorization", "Bearer abc", true),
            ("ANYTHING", concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"), true),
            ("DATABASE", "postgres://me:hunter2@db/app", true),
            ("SEED", "kJ8fQ2xLr9Zp3VwT7yBn5MsD1cHg4Ea0", true),
            ("LOG_LEVEL", "warn", false),
            ("MAX_TOKENS", "100", false),
            ("USE_TOKEN", "true", false),
            ("HOME", "/home/Me/Q2xLr9Zp3VwT7yBn5MsD1cHg4Ea0/x", false),
            ("AUTHOR", "Ann", false),
            ("ALLOWED_KEY", "", false),
        ] {
            assert_eq!(finder.is_secret(name, value), is_secret, "{name}={value}");
        }
    }
}
