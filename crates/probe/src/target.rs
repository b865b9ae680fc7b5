//! The target of an examination, and its options.

use std::path::PathBuf;
use std::time::Duration;

/// The server to examine.
#[derive(Clone, Debug)]
pub enum Target {
    /// A server spoken to over its standard input and output.
    Command {
        /// The program to start.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// The directory to start it in.
        cwd: Option<PathBuf>,
        /// Environment variables to add.
        env: Vec<(String, String)>,
    },
    /// A streamable HTTP server at an `http://` or `https://` address, with headers to add to every request.
    Url(String, Vec<(String, String)>),
}

impl Target {
    /// A command line or an address, for people; values of headers and variables are left out.
    pub fn summary(&self) -> String {
        match self {
            Self::Command { program, args, .. } => {
                std::iter::once(program).chain(args).cloned().collect::<Vec<_>>().join(" ")
            }
            Self::Url(url, _) => url.clone(),
        }
    }

    pub(crate) fn transport(&self) -> Transport {
        match self {
            Self::Command { .. } => Transport::Stdio,
            Self::Url(..) => Transport::Http,
        }
    }
}

/// How the server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Lines over pipes.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// How to examine it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The longest wait for any one answer.
    pub timeout_per_check: Duration,
    /// The longest wait for the first answer, which may include downloads and compilation.
    pub startup_timeout: Duration,
    /// Run only checks whose id begins with one of these, separated by commas.
    pub only: Option<String>,
    /// The tool to call; without it a harmless looking one is chosen.
    pub tool: Option<String>,
    /// The marker planted as a secret; random when absent.
    pub secret: Option<String>,
    /// A PEM file with the certificate authorities to trust for `https`, instead of those of the operating system.
    pub authorities: Option<PathBuf>,
    /// The longest whole examination; what was not reached is reported as such.
    pub max_total_time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout_per_check: Duration::from_secs(5),
            startup_timeout: Duration::from_secs(30),
            only: None,
            tool: None,
            secret: None,
            authorities: None,
            max_total_time: Duration::from_secs(300),
        }
    }
}

impl Options {
    /// Whether a check was asked for.
    pub(crate) fn wants(&self, id: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.split(',').any(|part| id.starts_with(part.trim())))
    }
}
