//! `--json` output of `debate view`.
use schemars::JsonSchema;
use serde::Serialize;

/// Output of `debate view --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Viewed")]
pub struct ViewOutput {
    /// Schema version.
    pub v: u8,
    /// Read-only URL, for all users of this machine.
    pub url: String,
    /// URL with the owner's token, which allows acting on the page. Keep it secret.
    pub enter: String,
}
