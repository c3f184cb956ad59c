//! Arguments of `debate view`.
use super::JsonArg;

/// Arguments of `debate view`.
#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// Debate to open first: ID, ID prefix, last four digits, or `last`
    pub id: Option<String>,
    /// Port or loopback address to listen on; 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub bind: String,
    /// Open a browser
    #[arg(long)]
    pub open: bool,
    /// Don't open a browser (default)
    #[arg(long, conflicts_with = "open")]
    pub no_open: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}
