//! The archive in a browser: what can be typed to see it.
use super::Json;

/// `debate view`
#[derive(Debug, clap::Args)]
pub struct View {
    /// Begin with this debate: its id, the beginning or the last four digits of it, or `last`
    pub id: Option<String>,
    /// A port, or an address of this machine; 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub bind: String,
    /// Open a browser
    #[arg(long)]
    pub open: bool,
    /// Open none, which is usual
    #[arg(long, conflicts_with = "open")]
    pub no_open: bool,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}
