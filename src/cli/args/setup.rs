//! Arguments of `debate init`, `debate uninit` and `debate doctor`.
use crate::clients::InstallScope;

/// Arguments of `debate init`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InitArgs {
    /// claude, opencode, codex, gemini, copilot or all [default: those found here]
    pub clients: Vec<String>,
    /// Scope and output options.
    #[command(flatten)]
    pub scope: InitScopeArgs,
    /// Turn off the client's confirmation of every tool call
    #[arg(long)]
    pub approve: bool,
    /// Pass this environment variable to the server, in clients that don't do so themselves; with
    /// NAME=OTHER, read it from OTHER. Values are never written
    #[arg(long = "env", value_name = "NAME")]
    pub env_vars: Vec<String>,
    /// Replace modified command files; a backup is kept
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `debate uninit`.
#[derive(Clone, Debug, clap::Args)]
pub struct UninitArgs {
    /// claude, opencode, codex, gemini, copilot or all [default: all]
    pub clients: Vec<String>,
    /// Scope and output options.
    #[command(flatten)]
    pub scope: InitScopeArgs,
}

/// Scope and output options of `init` and `uninit`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct InitScopeArgs {
    /// Install for your user account (default)
    #[arg(long)]
    pub user: bool,
    /// Install in this repository, for everyone who works in it
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl InitScopeArgs {
    pub(in crate::cli) fn scope(self) -> InstallScope {
        if self.project { InstallScope::Project } else { InstallScope::User }
    }
}

/// Arguments of `debate doctor`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DoctorArgs {
    /// Apply safe fixes
    #[arg(long)]
    pub fix: bool,
    /// Send each model a short test prompt
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
