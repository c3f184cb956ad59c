//! Resuming a debate: resolves which debate a call means, recovers it from state files if the
//! archive lost it, tells the client what it missed, and handles `take_over` and `import`.
use super::args::ContinueRoundArgs;
use super::continue_round::debate_ended_error;
use super::error::{ToolError, format_call};
use super::server::McpServer;
use super::token_limits::estimate_tokens;
use super::validate;
use super::wait::{WaitContext, WaitResult};
use crate::debate::{Debate, Participant};
use crate::engine::draft::with_absolute_script;
use crate::engine::import::ImportOutcome;
use crate::engine::recovery::UnsignedFile;
use crate::engine::{AppError, DebateDraft, StoredDebate, Workspace};
use crate::report::sanitize::one_line;
use crate::report::short_status::short_status;
use std::fmt::Write;

/// Token limit of the recap for a client that resumes a debate.
const MAX_RECAP_TOKENS: usize = 350;

/// The debate a call resolves to, and notes about how it was found.
pub(super) struct ResolvedDebate {
    pub(super) id: String,
    pub(super) notes: Vec<String>,
}

impl McpServer {
    /// Resolves the debate of a call: by id, else the last one this client used, else the newest in
    /// the repository. If the archive has none, the user's own state files are imported first.
    pub(super) fn resolve_debate(
        &self,
        id: Option<&str>,
        place: &Workspace,
    ) -> Result<ResolvedDebate, ToolError> {
        let own = if id.is_none() { self.registry.last_open_debate(&place.root) } else { None };
        let id = validate::validate_line("debate_id", id)?.or(own.as_deref());
        let files = crate::clients::state_file_paths(&self.config);
        let (id, told) = self.registry.app.resolve_or_recover(id, false, place, &files)?;
        Ok(ResolvedDebate { id, notes: told })
    }

    /// Notes for a client that sees a debate for the first time: events recovered from its state
    /// files, a recap, and changes to the cited files since.
    pub(super) async fn catch_up(
        &self,
        id: &str,
        place: &Workspace,
        told: Vec<String>,
    ) -> Result<Vec<String>, ToolError> {
        let mut notes = told;
        if !self.registry.mark_seen(id) {
            return Ok(notes);
        }
        let desk = &self.registry.app;
        notes.extend(desk.recover_debate(
            id,
            place,
            &crate::clients::state_file_paths(&self.config),
        )?);
        let (stored, debate, _) = desk.read(id)?;
        let mut lines = vec![];
        // The status of an ended debate contains its result, so it needs no recap.
        let widths: &[usize] = if debate.outcome().is_none() { &[160, 100, 60, 30] } else { &[] };
        for width in widths {
            lines = short_status(&debate, *width);
            if estimate_tokens(&lines.join("\n")) <= MAX_RECAP_TOKENS {
                break;
            }
        }
        notes.extend(lines.into_iter().map(|line| format!("as it stood: {line}")));
        notes.extend(self.changed_files_note(&stored, &debate, place).await);
        Ok(notes.iter().map(|note| desk.redact(&one_line(note))).collect())
    }

    /// A note that cited files have changed, with the call that checks the citations again.
    pub(super) async fn changed_files_note(
        &self,
        stored: &StoredDebate,
        debate: &Debate,
        place: &Workspace,
    ) -> Option<String> {
        let since = self.registry.app.changes_since(stored, debate, place).await.describe()?;
        let again = format_call("show_debate", &debate.setup().id, "\"part\":\"recheck\"");
        Some(format!("{}; offer the user to look again: {again}", one_line(&since)))
    }

    /// Validates every citation of a debate against the current files. The record is not changed.
    pub(super) async fn recheck_citations(
        &self,
        id: &str,
        place: &Workspace,
    ) -> Result<String, ToolError> {
        let (stored, debate, _) = self.registry.app.read(id)?;
        let (desk, place) = (self.registry.app.clone(), place.clone());
        let looking = tokio::task::spawn_blocking(move || desk.recheck(&stored, &debate, &place));
        let done = looking.await.map_err(|error| ToolError::Panic(error.to_string()))??;
        let mut text = format!("Looked up again in {}; the record stays.\n\n", done.against);
        for again in &done.citations {
            let (word, raw) = (again.validity.as_str(), one_line(&again.before.raw));
            let told = one_line(&again.describe());
            let _ = writeln!(text, "- {word}: {raw} (turn {}): {told}", again.cue);
        }
        if done.citations.is_empty() {
            text.push_str("Nothing that was cited had been found.\n");
        }
        Ok(text)
    }

    /// Takes the lease of a debate, even if another process holds it, and runs it here.
    pub(super) async fn take_over(&self, id: &str, place: &Workspace) -> Result<(), ToolError> {
        let (_, debate, _) = self.registry.app.read(id)?;
        if debate.outcome().is_some() {
            return Err(debate_ended_error(&debate, "taking it over"));
        }
        self.registry.app.check_remaining_seats(&debate, debate.seats())?;
        Ok(self.registry.take_over(id, place).await?)
    }

    /// Recovers the user's own debates from state files. Returns a line about each file it found.
    pub(super) fn recover_state_files(&self, place: &Workspace) -> Result<Vec<String>, ToolError> {
        let found =
            self.registry.app.recover(place, &crate::clients::state_file_paths(&self.config))?;
        let mut lines = found.messages;
        for stranger in found.unsigned_files {
            let told = ToolError::from(AppError::OnlyUnsignedFile(Box::new(stranger)));
            lines.push(format!("{told}: {}", told.next_call()));
        }
        Ok(lines.iter().map(|line| self.registry.app.redact(&one_line(line))).collect())
    }

    /// Imports a state file that this user's key has not signed, as a transcript. The user has
    /// confirmed the import only: no model gets a request until the user continues the debate.
    pub(super) async fn import_transcript(
        &self,
        args: &ContinueRoundArgs,
        place: &Workspace,
        waiting: &WaitContext,
    ) -> Result<(WaitResult, Vec<String>), ToolError> {
        let found =
            self.registry.app.recover(place, &crate::clients::state_file_paths(&self.config))?;
        let stranger = select_foreign_file(found.unsigned_files, args.debate_id.as_deref(), place)
            .ok_or(ToolError::NothingToImport)?;
        let opening = self.parse_import_seats(args.say.as_deref())?;
        let taken = self.registry.app.import_unsigned(&stranger, &opening, place)?;
        let note = match taken.outcome {
            ImportOutcome::Transcript { imported: taken, turns } => {
                format!(
                    "taken in as a transcript: {taken} of {turns} turns; nothing else is believed"
                )
            }
            _ => "it was taken in before".into(),
        };
        self.registry.mark_seen(&taken.id);
        let place = &Workspace { state_file: None, ..place.clone() };
        Ok((self.registry.play_and_wait(&taken.id, place, waiting).await?, vec![note]))
    }

    /// Parses the seats of an imported debate. Default: the host plays all of them.
    fn parse_import_seats(&self, said: Option<&str>) -> Result<DebateDraft, ToolError> {
        let mut opening =
            DebateDraft::new("", Participant::Host, Participant::Host, Participant::Host);
        let parts = said.unwrap_or_default().split([',', ';', '\n']).map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, seat) = part.split_once('=').unwrap_or((part, ""));
            let bad =
                |why: String| ToolError::InvalidSeat { name: name.into(), said: seat.into(), why };
            let voice =
                seat.trim().parse::<Participant>().map_err(|error| bad(error.to_string()))?;
            let voice = with_absolute_script(voice, &self.config.current_dir);
            match name.trim().to_lowercase().as_str() {
                "proposer" => opening.proposer = voice,
                "challenger" => opening.challenger = voice,
                "judge" => opening.judge = voice,
                _ => return Err(bad("proposer, challenger and judge can be named".into())),
            }
        }
        Ok(opening)
    }
}

/// Picks the file with that debate id. Without an id: this client's own file, else the first.
fn select_foreign_file(
    strangers: Vec<UnsignedFile>,
    id: Option<&str>,
    place: &Workspace,
) -> Option<UnsignedFile> {
    let named = |it: &UnsignedFile| id.is_none() || it.transcript.id.as_deref() == id;
    let mut all: Vec<UnsignedFile> = strangers.into_iter().filter(named).collect();
    all.sort_by_key(|it| Some(&it.path) != place.state_file.as_ref());
    all.into_iter().next()
}
