//! Resuming a debate: resolves which debate a call means, recovers it from state files if the
//! archive lost it, tells the client what it missed, and handles `take_over` and `import`.
use super::args::ContinueRoundArgs;
use super::error::{ToolError, debate_ended_error, format_call};
use super::mcp_server::McpServer;
use super::token_limits::estimate_tokens;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::app::cast::with_absolute_script;
use crate::app::import::ImportOutcome;
use crate::app::recovery::RecoveryReport;
use crate::app::resume::home_workspace;
use crate::app::unsigned_file::UnsignedFile;
use crate::app::{AppError, Cast};
use crate::debate::{Debate, Participant};
use crate::engine::{DebateQuery, StoredDebate, Workspace};
use crate::report::sanitize::one_line;
use crate::report::short_status::short_status;
use std::fmt::Write;

/// Token limit of the recap for a client that resumes a debate.
const MAX_RECAP_TOKENS: usize = 350;

/// Line widths of the recap, tried in this order until it fits.
const RECAP_WIDTHS: &[usize] = &[160, 100, 60, 30];

/// The debate a call resolves to, and notes about how it was found.
pub(super) struct ResolvedDebate {
    pub(super) id: String,
    pub(super) notes: Vec<String>,
}

impl McpServer {
    /// Resolves the debate of a call: by id, else the last one this client used, else the newest in
    /// the repository. If the archive has none, the user's own state files are imported first.
    pub(super) async fn resolve_debate(
        &self,
        id: Option<&str>,
        workspace: &Workspace,
    ) -> Result<ResolvedDebate, ToolError> {
        let last_used =
            if id.is_none() { self.registry.last_open_debate(&workspace.root).await } else { None };
        let id = validate::validate_line("debate_id", id)?.or(last_used.as_deref());
        let files = crate::clients::state_file_paths(&self.config);
        let (id, notes) =
            self.registry.app.resolve_or_recover(id, false, workspace, &files).await?;
        Ok(ResolvedDebate { id, notes })
    }

    /// Resolves the debate of a turn. Turn ids are the same in every debate, so a turn without a
    /// debate id is an error if several debates are open.
    pub(super) async fn resolve_debate_of_turn(
        &self,
        id: Option<&str>,
        turn: Option<&str>,
        workspace: &Workspace,
    ) -> Result<ResolvedDebate, ToolError> {
        let resolved = self.resolve_debate(id, workspace).await?;
        if id.is_none() && turn.is_some() {
            let root = Some(workspace.root.clone());
            let query =
                DebateQuery { root, unfinished: true, limit: Some(2), ..DebateQuery::default() };
            let open =
                self.registry.app.archive().queries.list(&query).await.map_err(AppError::from)?;
            if open.len() > 1 {
                return Err(ToolError::AmbiguousDebate { id: resolved.id });
            }
        }
        Ok(resolved)
    }

    /// The workspace of a debate: one of another repository keeps its own.
    pub(super) async fn workspace_of(
        &self,
        id: &str,
        workspace: &Workspace,
    ) -> Result<Workspace, ToolError> {
        let (stored, ..) = self.registry.app.read(id).await?;
        Ok(home_workspace(&stored, workspace))
    }

    /// Notes for a client that sees a debate for the first time: events recovered from its state
    /// files, a recap, and changes to the cited files since.
    pub(super) async fn catch_up(
        &self,
        id: &str,
        workspace: &Workspace,
        resolve_notes: Vec<String>,
    ) -> Result<Vec<String>, ToolError> {
        let mut notes = resolve_notes;
        if !self.registry.mark_seen(id) {
            return Ok(notes);
        }
        let app = &self.registry.app;
        notes.extend(
            app.recover_debate(id, workspace, &crate::clients::state_file_paths(&self.config))
                .await?,
        );
        let (stored, debate, _) = app.read(id).await?;
        // The status of an ended debate contains its result, so it needs no recap.
        if debate.outcome().is_none() {
            let lines = fit_recap(|width| short_status(&debate, width));
            notes.extend(lines.into_iter().map(|line| format!("as it stood: {line}")));
        }
        notes.extend(self.changed_files_note(&stored, &debate, workspace).await);
        Ok(notes.iter().map(|note| app.redact(&one_line(note))).collect())
    }

    /// A note that cited files have changed, with the call that checks the citations again.
    pub(super) async fn changed_files_note(
        &self,
        stored: &StoredDebate,
        debate: &Debate,
        workspace: &Workspace,
    ) -> Option<String> {
        let changes =
            self.registry.app.changes_since(stored, debate, workspace).await.describe()?;
        let recheck_call = format_call("show_debate", &debate.setup().id, "\"part\":\"recheck\"");
        Some(format!("{}; offer the user to look again: {recheck_call}", one_line(&changes)))
    }

    /// Validates every citation of a debate against the current files. The record is not changed.
    pub(super) async fn recheck_citations(
        &self,
        id: &str,
        workspace: &Workspace,
    ) -> Result<String, ToolError> {
        let (stored, debate, _) = self.registry.app.read(id).await?;
        let (app, workspace) = (self.registry.app.clone(), workspace.clone());
        let task = tokio::task::spawn_blocking(move || app.recheck(&stored, &debate, &workspace));
        let report = task.await.map_err(|error| ToolError::Panic(error.to_string()))??;
        let mut text = format!("Looked up again in {}; the record stays.\n\n", report.against);
        for citation in &report.citations {
            let (validity, raw) = (citation.validity.as_str(), one_line(&citation.before.raw));
            let description = one_line(&citation.describe());
            let _ = writeln!(text, "- {validity}: {raw} (turn {}): {description}", citation.cue);
        }
        if report.citations.is_empty() {
            text.push_str("Nothing that was cited had been found.\n");
        }
        Ok(text)
    }

    /// Takes the lease of a debate, even if another process holds it, and runs it here.
    pub(super) async fn take_over(&self, id: &str, workspace: &Workspace) -> Result<(), ToolError> {
        let (_, debate, _) = self.registry.app.read(id).await?;
        if debate.outcome().is_some() {
            return Err(debate_ended_error(&debate, "taking it over"));
        }
        self.registry.app.check_remaining_seats(&debate, debate.seats())?;
        Ok(self.registry.take_over(id, workspace).await?)
    }

    /// A line about each file from which debates were recovered.
    pub(super) fn describe_recovery(&self, recovery: RecoveryReport) -> Vec<String> {
        let mut lines = recovery.messages;
        for file in recovery.unsigned_files {
            let error = ToolError::from(AppError::OnlyUnsignedFile(Box::new(file)));
            lines.push(format!("{error}: {}", error.next_call()));
        }
        lines.iter().map(|line| self.registry.app.redact(&one_line(line))).collect()
    }

    /// Imports a state file that this user's key has not signed, as a transcript. The user has
    /// confirmed the import only: no model gets a request until the user continues the debate.
    pub(super) async fn import_transcript(
        &self,
        args: &ContinueRoundArgs,
        workspace: &Workspace,
        wait: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let recovered = self
            .registry
            .app
            .recover(workspace, &crate::clients::state_file_paths(&self.config))
            .await?;
        let file =
            select_foreign_file(recovered.unsigned_files, args.debate_id.as_deref(), workspace)
                .ok_or(ToolError::NothingToImport)?;
        let cast = self.parse_import_seats(args.say.as_deref())?;
        let imported = self.registry.app.import_unsigned(&file, &cast, workspace).await?;
        let note = match imported.outcome {
            ImportOutcome::Transcript { imported, turns } => {
                format!(
                    "taken in as a transcript: {imported} of {turns} turns; nothing else is believed"
                )
            }
            _ => "it was taken in before".into(),
        };
        self.registry.mark_seen(&imported.id);
        let workspace = &Workspace { state_file: None, ..workspace.clone() };
        Ok((self.registry.play_and_wait(&imported.id, workspace, wait).await?, vec![note]))
    }

    /// Parses the seats of an imported debate. Default: the host plays all of them.
    fn parse_import_seats(&self, assignments: Option<&str>) -> Result<Cast, ToolError> {
        let mut cast = Cast::solo(Participant::Host);
        let parts = assignments.unwrap_or_default().split([',', ';', '\n']).map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, seat) = part.split_once('=').unwrap_or((part, ""));
            let invalid =
                |why: String| ToolError::InvalidSeat { name: name.into(), said: seat.into(), why };
            let participant =
                seat.trim().parse::<Participant>().map_err(|error| invalid(error.to_string()))?;
            let participant = with_absolute_script(participant, &self.config.current_dir);
            match name.trim().to_lowercase().as_str() {
                "proposer" => cast.proposer = participant,
                "challenger" => cast.challenger = participant,
                "judge" => cast.judge = participant,
                _ => return Err(invalid("proposer, challenger and judge can be named".into())),
            }
        }
        Ok(cast)
    }
}

/// Renders a recap in the widest lines with which it fits.
fn fit_recap(render: impl Fn(usize) -> Vec<String>) -> Vec<String> {
    let mut lines = vec![];
    for width in RECAP_WIDTHS {
        lines = render(*width);
        if estimate_tokens(&lines.join("\n")) <= MAX_RECAP_TOKENS {
            break;
        }
    }
    lines
}

/// Picks the file with that debate id. Without an id: this client's own file, else the first.
fn select_foreign_file(
    files: Vec<UnsignedFile>,
    id: Option<&str>,
    workspace: &Workspace,
) -> Option<UnsignedFile> {
    let has_id = |it: &UnsignedFile| id.is_none() || it.transcript.id.as_deref() == id;
    let mut candidates: Vec<UnsignedFile> = files.into_iter().filter(has_id).collect();
    candidates.sort_by_key(|it| Some(&it.path) != workspace.state_file.as_ref());
    candidates.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recap_over_350_tokens_gets_narrower_lines() {
        assert_eq!(MAX_RECAP_TOKENS, 350);
        let (widest, next) = (RECAP_WIDTHS[0], RECAP_WIDTHS[1]);
        let recap_chars = |widest_chars: usize| {
            let chars = |width| if width == widest { widest_chars } else { width };
            fit_recap(|width| vec!["x".repeat(chars(width))]).concat().len()
        };
        assert_eq!(recap_chars(4 * MAX_RECAP_TOKENS), 1_400);
        assert_eq!(recap_chars(4 * MAX_RECAP_TOKENS + 1), next);
    }
}
