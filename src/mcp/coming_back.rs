//! Resuming a debate: resolves which debate a call means, recovers it from state files if the
//! archive lost it, tells the client what it missed, and handles `take_over` and `import`.
use super::args::ContinueRound;
use super::attend::{Seen, Waiting};
use super::bounds::tokens;
use super::check;
use super::complaint::{Complaint, call};
use super::round::ended;
use super::server::Server;
use crate::debate::{Debate, Participant};
use crate::engine::draft::with_absolute_script;
use crate::engine::import::ImportOutcome;
use crate::engine::recovery::UnsignedFile;
use crate::engine::{AppError, DebateDraft, StoredDebate, Workspace};
use crate::report::gist::gist;
use crate::report::text::one_line;
use std::fmt::Write;

/// Token limit of the recap for a client that resumes a debate.
const GIST: usize = 350;

/// The debate a call resolves to, and notes about how it was found.
pub(super) struct Meant {
    pub(super) id: String,
    pub(super) told: Vec<String>,
}

impl Server {
    /// Resolves the debate of a call: by id, else the last one this client used, else the newest in
    /// the repository. If the archive has none, the user's own state files are imported first.
    pub(super) fn meant(&self, id: Option<&str>, place: &Workspace) -> Result<Meant, Complaint> {
        let own = if id.is_none() { self.hub.own(&place.root) } else { None };
        let id = check::short("debate_id", id)?.or(own.as_deref());
        let files = crate::clients::state_files(&self.config);
        let (id, told) = self.hub.desk.resolve_or_recover(id, false, place, &files)?;
        Ok(Meant { id, told })
    }

    /// Notes for a client that sees a debate for the first time: events recovered from its state
    /// files, a recap, and changes to the cited files since.
    pub(super) async fn taken_up(
        &self,
        id: &str,
        place: &Workspace,
        told: Vec<String>,
    ) -> Result<Vec<String>, Complaint> {
        let mut notes = told;
        if !self.hub.is_new(id) {
            return Ok(notes);
        }
        let desk = &self.hub.desk;
        notes.extend(desk.recover_debate(id, place, &crate::clients::state_files(&self.config))?);
        let (stored, debate, _) = desk.read(id)?;
        let mut lines = vec![];
        // The status of an ended debate contains its result, so it needs no recap.
        let widths: &[usize] = if debate.outcome().is_none() { &[160, 100, 60, 30] } else { &[] };
        for width in widths {
            lines = gist(&debate, *width);
            if tokens(&lines.join("\n")) <= GIST {
                break;
            }
        }
        notes.extend(lines.into_iter().map(|line| format!("as it stood: {line}")));
        notes.extend(self.since(&stored, &debate, place).await);
        Ok(notes.iter().map(|note| desk.redact(&one_line(note))).collect())
    }

    /// A note that cited files have changed, with the call that checks the citations again.
    pub(super) async fn since(
        &self,
        stored: &StoredDebate,
        debate: &Debate,
        place: &Workspace,
    ) -> Option<String> {
        let since = self.hub.desk.changes_since(stored, debate, place).await.describe()?;
        let again = call("show_debate", &debate.setup().id, "\"part\":\"recheck\"");
        Some(format!("{}; offer the user to look again: {again}", one_line(&since)))
    }

    /// Validates every citation of a debate against the current files. The record is not changed.
    pub(super) async fn recheck(&self, id: &str, place: &Workspace) -> Result<String, Complaint> {
        let (stored, debate, _) = self.hub.desk.read(id)?;
        let (desk, place) = (self.hub.desk.clone(), place.clone());
        let looking = tokio::task::spawn_blocking(move || desk.recheck(&stored, &debate, &place));
        let done = looking.await.map_err(|error| Complaint::Panic(error.to_string()))??;
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
    pub(super) async fn take_over(&self, id: &str, place: &Workspace) -> Result<(), Complaint> {
        let (_, debate, _) = self.hub.desk.read(id)?;
        if debate.outcome().is_some() {
            return Err(ended(&debate, "taking it over"));
        }
        self.hub.desk.check_remaining_seats(&debate, debate.seats())?;
        Ok(self.hub.take_over(id, place).await?)
    }

    /// Recovers the user's own debates from state files. Returns a line about each file it found.
    pub(super) fn left(&self, place: &Workspace) -> Result<Vec<String>, Complaint> {
        let found = self.hub.desk.recover(place, &crate::clients::state_files(&self.config))?;
        let mut lines = found.messages;
        for stranger in found.unsigned_files {
            let told = Complaint::from(AppError::OnlyUnsignedFile(Box::new(stranger)));
            lines.push(format!("{told}: {}", told.next()));
        }
        Ok(lines.iter().map(|line| self.hub.desk.redact(&one_line(line))).collect())
    }

    /// Imports a state file that this user's key has not signed, as a transcript. The user has
    /// confirmed the import only: no model gets a request until the user continues the debate.
    pub(super) async fn import(
        &self,
        args: &ContinueRound,
        place: &Workspace,
        waiting: &Waiting,
    ) -> Result<(Seen, Vec<String>), Complaint> {
        let found = self.hub.desk.recover(place, &crate::clients::state_files(&self.config))?;
        let stranger = meant(found.unsigned_files, args.debate_id.as_deref(), place)
            .ok_or(Complaint::NothingLeft)?;
        let opening = self.seats(args.say.as_deref())?;
        let taken = self.hub.desk.import_unsigned(&stranger, &opening, place)?;
        let note = match taken.outcome {
            ImportOutcome::Transcript { imported: taken, turns } => {
                format!(
                    "taken in as a transcript: {taken} of {turns} turns; nothing else is believed"
                )
            }
            _ => "it was taken in before".into(),
        };
        self.hub.is_new(&taken.id);
        let place = &Workspace { state_file: None, ..place.clone() };
        Ok((self.hub.attend(&taken.id, place, waiting).await?, vec![note]))
    }

    /// Parses the seats of an imported debate. Default: the host plays all of them.
    fn seats(&self, said: Option<&str>) -> Result<DebateDraft, Complaint> {
        let mut opening =
            DebateDraft::new("", Participant::Host, Participant::Host, Participant::Host);
        let parts = said.unwrap_or_default().split([',', ';', '\n']).map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let (name, seat) = part.split_once('=').unwrap_or((part, ""));
            let bad = |why: String| Complaint::Seat { name: name.into(), said: seat.into(), why };
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
fn meant(
    strangers: Vec<UnsignedFile>,
    id: Option<&str>,
    place: &Workspace,
) -> Option<UnsignedFile> {
    let named = |it: &UnsignedFile| id.is_none() || it.transcript.id.as_deref() == id;
    let mut all: Vec<UnsignedFile> = strangers.into_iter().filter(named).collect();
    all.sort_by_key(|it| Some(&it.path) != place.state_file.as_ref());
    all.into_iter().next()
}
