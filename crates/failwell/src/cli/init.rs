use std::path::PathBuf;

use clap::Args;

/// Write a configuration file, empty or with the servers of an MCP client
///
/// Reads the JSON files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Zed and others. Secrets stay
/// out of the new file: each becomes `${NAME}`, and the variables to set are listed without their values.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the file was written
  1  it was not: it exists already, or the other file cannot be converted
  2  wrong usage

Examples:
  failwell init
  failwell init --from ~/.cursor/mcp.json
  failwell init --from .vscode/mcp.json --force
  failwell init ~/.config/failwell/failwell.toml --from claude_desktop_config.json")]
pub(crate) struct Init {
    /// The file to write [default: failwell.toml in this folder]
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Convert the servers of this JSON file of a client
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}
