//! The command line of a tool server.

use std::net::SocketAddr;

/// The action that the command line selects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Serve one client over standard input and output.
    Stdio,
    /// Serve HTTP.
    Listen(SocketAddr),
    /// Print the usage.
    Help,
    /// Print name and version.
    Version,
    /// Print what a reason means, or list all reasons.
    Explain(Option<String>),
}

/// The address of `--listen` without a value.
const ADDRESS: &str = "127.0.0.1:8485";

pub(crate) const USAGE: &str = "\
Usage: [OPTIONS]

  --stdio             serve one client over standard input and output (default)
  --listen [ADDRESS]  serve HTTP at /mcp, on loopback only (default 127.0.0.1:8485)
  --explain [REASON]  print what a reason means; without a reason, list all
  --version           print name and version
  --help              print this text
";

/// Reads the arguments after the program's name. An error says what is wrong and what to do.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Command, String> {
    let arguments: Vec<String> = arguments.collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["--stdio"] => Ok(Command::Stdio),
        ["--help" | "-h"] => Ok(Command::Help),
        ["--version" | "-V"] => Ok(Command::Version),
        ["--explain"] => Ok(Command::Explain(None)),
        ["--explain", reason] => Ok(Command::Explain(Some((*reason).to_owned()))),
        ["--listen"] => listen(ADDRESS),
        ["--listen", address] => listen(address),
        [unknown, ..] => Err(format!(
            "error: {unknown} is not an option, or is given too much\nhelp: see --help for the options"
        )),
    }
}

/// Callers need no credentials here, so only this machine may reach the server.
fn listen(address: &str) -> Result<Command, String> {
    let parsed: SocketAddr = address.parse().map_err(|_| {
        format!("error: {address} is not an address\nhelp: give an IP address and a port, such as {ADDRESS}")
    })?;
    if !parsed.ip().is_loopback() {
        return Err(format!(
            "error: {address} is reachable from other machines, and callers need no credentials\n\
             help: listen on loopback, and put the Failwell gateway in front of it"
        ));
    }
    Ok(Command::Listen(parsed))
}

#[cfg(test)]
mod tests {
    use super::{Command, parse};

    #[test]
    fn options_are_read_or_refused() {
        let read = |line: &str| parse(line.split_whitespace().map(str::to_owned));
        for (line, wanted) in [
            ("", Command::Stdio),
            ("--stdio", Command::Stdio),
            ("--listen", Command::Listen(([127, 0, 0, 1], 8485).into())),
            ("--listen [::1]:0", Command::Listen("[::1]:0".parse().expect("an address"))),
            ("--help", Command::Help),
            ("--version", Command::Version),
            ("--explain", Command::Explain(None)),
            ("--explain a/B", Command::Explain(Some("a/B".to_owned()))),
        ] {
            assert_eq!(read(line), Ok(wanted), "{line}");
        }
        for line in ["--lisen", "serve", "--listen 0.0.0.0:80", "--listen here", "--stdio --listen"] {
            let error = read(line).expect_err(line);
            assert!(error.starts_with("error: ") && error.contains("\nhelp: "), "{error}");
        }
    }
}
