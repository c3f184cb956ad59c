//! Where the archive is shown, as programs read it.
use schemars::JsonSchema;
use serde::Serialize;

/// `debate view --json`
#[derive(Serialize, JsonSchema)]
pub struct Viewed {
    /// Of this layout.
    pub v: u8,
    /// Where anybody on this machine can read.
    pub url: String,
    /// The same with a token, for whoever may act: not for others' eyes.
    pub enter: String,
}
