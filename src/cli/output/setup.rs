//! `--json` output of `debate doctor`, `debate init` and `debate uninit`.
use crate::engine::ArchiveHealth;
use schemars::JsonSchema;
use serde::Serialize;

/// Output of `debate doctor --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Examined")]
pub struct DoctorOutput {
    /// Schema version.
    pub v: u8,
    /// Whether all checks passed.
    pub ok: bool,
    /// Health of the archive database.
    pub archive: Option<ArchiveHealth>,
    /// Results of all checks.
    pub checks: Vec<DoctorCheck>,
}

/// Result of one check.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Check")]
pub struct DoctorCheck {
    /// Name of the check.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// Result, as text.
    pub says: String,
    /// Suggested fix or next step.
    pub hint: Option<String>,
    /// Fix that was applied by `--fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mended: Option<String>,
}

/// Output of `debate init --json` and `debate uninit --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Wired")]
pub struct InitOutput {
    /// Schema version.
    pub v: u8,
    /// Whether all changes succeeded.
    pub ok: bool,
    /// Whether nothing was written, because of `--dry-run`.
    pub dry_run: bool,
    /// Changes, one per file.
    pub steps: Vec<InitFileChange>,
}

/// Change of one config or command file.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deed")]
pub struct InitFileChange {
    /// Client the file belongs to.
    pub client: String,
    /// Content: `server`, or the slash command.
    pub what: String,
    /// Result: `added`, `updated`, `unchanged`, `kept`, `removed` or `failed`.
    pub deed: String,
    /// Path of the file.
    pub path: String,
    /// Reason or error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Path of the backup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
}
