//! Prints a running debate from its update stream: headings, streamed text, claims and citation
//! results. [`Follower`] keeps its own copy of the debate.
use super::exit::CliError;
use super::output::EventLine;
use super::screen::{BOLD, DIM, Screen, StdStream};
use crate::debate::{
    Citation, CitationStatus, Cue, Debate, Event, Reply, ReplyKind, RuleWeight, SpeakingOrder,
};
use crate::engine::{EventStore, RecordedEvent, Update};
use crate::report::sanitize::strip_control_chars;
use crate::report::stream_preview::StreamPreview;
use crate::report::structured_reply::SEALED_PLACEHOLDER;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::broadcast::{Receiver, error::RecvError, error::TryRecvError};

/// What to print while a debate runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowMode {
    /// One line when a turn starts and one when it ends.
    Progress,
    /// The streamed text of every turn.
    Stream(StdStream),
    /// Every update as one line of JSON.
    Json,
}

/// Consumer of the update stream, with its own copy of the debate built from the events.
pub(super) struct Follower {
    pub(super) debate: Debate,
    mode: FollowMode,
    last_seq: u64,
    /// Turns in progress.
    active_turns: BTreeMap<Cue, ActiveTurn>,
}

/// A turn in progress.
struct ActiveTurn {
    preview: StreamPreview,
    /// Text since the last newline. Used when several seats speak in parallel.
    partial_line: String,
    printed: bool,
}

impl Follower {
    pub(super) fn new(debate: Debate, last_seq: u64, mode: FollowMode) -> Follower {
        Follower { debate, mode, last_seq, active_turns: BTreeMap::new() }
    }

    /// Shows an update received from the channel. If it has dropped updates, reads the missed
    /// events from the archive.
    pub(super) async fn show_received(
        &mut self,
        received: Result<Arc<Update>, RecvError>,
        events: &dyn EventStore,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        match received {
            Ok(update) => self.show(&update, screen),
            Err(RecvError::Lagged(_)) => Box::pin(self.catch_up(events, screen)).await,
            Err(RecvError::Closed) => Ok(()),
        }
    }

    /// Shows all buffered updates without waiting.
    pub(super) async fn drain(
        &mut self,
        updates: &mut Receiver<Arc<Update>>,
        events: &dyn EventStore,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        loop {
            match updates.try_recv() {
                Ok(update) => self.show(&update, screen)?,
                Err(TryRecvError::Lagged(_)) => Box::pin(self.catch_up(events, screen)).await?,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Ok(()),
            }
        }
    }

    async fn catch_up(
        &mut self,
        events: &dyn EventStore,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let id = &self.debate.setup().id;
        tracing::debug!(debate = %id, "updates were dropped, reading events from the archive");
        let stored = events.read(id).await?;
        for RecordedEvent { seq, event, .. } in stored.events {
            self.show(&Update::Fact { seq, event }, screen)?;
        }
        Ok(())
    }

    /// Shows one update. Events that were already shown are skipped.
    pub(super) fn show(&mut self, update: &Update, screen: &mut Screen) -> Result<(), CliError> {
        if let Update::Fact { seq, .. } = update
            && *seq <= self.last_seq
        {
            return Ok(());
        }
        if self.mode == FollowMode::Json {
            screen.print_json_line(&EventLine::new(update))?;
        }
        match update {
            Update::Fact { seq, event } => {
                self.last_seq = *seq;
                if self.debate.apply(event.clone()).is_err() {
                    let debate = &self.debate.setup().id;
                    tracing::warn!(%debate, seq = *seq, "event does not fit the shown debate");
                }
                self.show_event(event, screen)
            }
            Update::Speaking { cue, seconds } => self.start_turn(*cue, *seconds, screen),
            Update::Slow { cue, after, most } => {
                if self.mode != FollowMode::Json {
                    let (role, tool) = (self.role_name(*cue), self.debate.seat(*cue).voice.tool());
                    screen.warn(&format!(
                        "[WARN] {role} ({tool}) has not finished after {after}s; it is stopped at \
                         {most}s"
                    ));
                }
                Ok(())
            }
            Update::Delta { cue, text } => self.show_delta(*cue, text, screen),
        }
    }

    fn start_turn(
        &mut self,
        cue: Cue,
        seconds: Option<u32>,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let preview = match self.debate.setup().phase(cue).reply {
            ReplyKind::Speech | ReplyKind::Sections => StreamPreview::prose(),
            _ => StreamPreview::json_object(),
        };
        self.active_turns
            .insert(cue, ActiveTurn { preview, partial_line: String::new(), printed: false });
        match self.mode {
            FollowMode::Json => {}
            FollowMode::Progress => {
                let (role, tool) = (self.role_name(cue), self.debate.seat(cue).voice.tool());
                let round =
                    if cue.round > 0 { format!("round {} ", cue.round) } else { String::new() };
                let timeout =
                    seconds.map_or_else(String::new, |timeout| format!(" - timeout {timeout}s"));
                screen.note(&format!("[INFO] Running {round}{role} ({tool}){timeout}"));
            }
            FollowMode::Stream(target) if self.is_sequential(cue) => {
                screen.write(target, &format!("\n{BOLD}{}{BOLD:#}\n\n", self.heading(cue)))?;
            }
            FollowMode::Stream(target) => {
                let (role, tool) = (self.role_name(cue), self.debate.seat(cue).voice.tool());
                screen.write(target, &format!("\n{DIM}{role} ({tool}) is at work …{DIM:#}\n"))?;
            }
        }
        Ok(())
    }

    /// Whether turns of this phase run one at a time, so that text can be printed as it streams.
    /// Parallel turns are printed line by line.
    fn is_sequential(&self, cue: Cue) -> bool {
        self.debate.setup().phase(cue).order == SpeakingOrder::InTurn
    }

    /// Whether the text may be printed now. Sealed turns are hidden while a human or host still has
    /// to reply or vote.
    fn is_visible(&self, cue: Cue) -> bool {
        let awaited = self.debate.seats().iter().any(|seat| seat.voice.is_awaited());
        !(awaited && self.debate.is_sealed(cue))
    }

    fn show_delta(&mut self, cue: Cue, text: &str, screen: &mut Screen) -> Result<(), CliError> {
        let (sequential, visible) = (self.is_sequential(cue), self.is_visible(cue));
        let name = self.debate.seat(cue).name.clone();
        let (FollowMode::Stream(target), Some(turn)) = (self.mode, self.active_turns.get_mut(&cue))
        else {
            return Ok(());
        };
        let part = strip_control_chars(&turn.preview.push(text));
        if sequential && visible && !screen.in_github_actions() {
            turn.printed |= !part.trim().is_empty();
            return screen.write(target, &part);
        }
        if !visible {
            return Ok(());
        }
        turn.partial_line.push_str(&part);
        let Some(end) = turn.partial_line.rfind('\n') else { return Ok(()) };
        let rest = turn.partial_line.split_off(end + 1);
        let lines = std::mem::replace(&mut turn.partial_line, rest);
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            screen.write(target, &format!("{DIM}{name} │{DIM:#} {line}\n"))?;
        }
        Ok(())
    }

    fn show_event(&mut self, event: &Event, screen: &mut Screen) -> Result<(), CliError> {
        match (event, self.mode) {
            (Event::Spoke { cue, reply }, mode) => {
                let printed = self.active_turns.remove(cue).is_some_and(|turn| turn.printed);
                match mode {
                    FollowMode::Json => {}
                    FollowMode::Progress => {
                        let seconds = reply.envelope.duration_ms as f64 / 1000.0;
                        let role = self.role_name(*cue);
                        let summary = summarize_citations(&reply.citations);
                        let summary =
                            summary.map(|summary| format!("; {summary}")).unwrap_or_default();
                        screen.note(&format!("[INFO] {role} done in {seconds:.1}s{summary}"));
                    }
                    FollowMode::Stream(target) if !self.is_visible(*cue) => {
                        let role = self.role_name(*cue);
                        screen.write(
                            target,
                            &format!("{DIM}{role} is done: {SEALED_PLACEHOLDER}{DIM:#}"),
                        )?;
                    }
                    FollowMode::Stream(target) => {
                        self.show_reply(*cue, reply, printed, target, screen)?;
                    }
                }
            }
            (Event::Failed { cue, failure }, FollowMode::Progress | FollowMode::Stream(_)) => {
                let role = self.role_name(*cue);
                let kind = failure.trouble.as_str();
                screen
                    .warn(&format!("[WARN] {role} {kind}: {}", strip_control_chars(&failure.note)));
            }
            (Event::Refused { cue, attempt }, FollowMode::Progress | FollowMode::Stream(_)) => {
                let role = self.role_name(*cue);
                let reason = strip_control_chars(&attempt.why);
                screen.note(&format!("[INFO] {role} is asked once more: {reason}"));
            }
            _ => {}
        }
        Ok(())
    }

    fn show_reply(
        &self,
        cue: Cue,
        reply: &Reply,
        printed: bool,
        target: StdStream,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let text = strip_control_chars(reply.body.to_text().trim());
        // Structured replies are printed in full, even if a preview was streamed.
        if printed {
            screen.write(target, "\n")?;
        } else {
            let heading = self.heading(cue);
            screen.write(target, &format!("\n{BOLD}{heading}{BOLD:#}\n\n{text}\n"))?;
        }
        let ids: Vec<&str> = reply.body.claims().iter().map(|claim| claim.id.as_str()).collect();
        let mut lines = vec![];
        if !ids.is_empty() {
            lines.push(format!("claims: {}", ids.join(", ")));
        }
        for concession in reply.body.concessions() {
            lines.push(format!("concedes {}: \"{}\"", concession.claim, concession.quote));
        }
        let finding = reply.findings.iter().filter(|finding| finding.weight != RuleWeight::Reask);
        lines.extend(finding.map(|finding| format!("checked: {}", finding.says)));
        lines.extend(summarize_citations(&reply.citations));
        let wrong = reply.citations.iter().filter(|citation| citation.found.is_wrong());
        lines.extend(wrong.map(|it| format!("struck out: {} ({})", it.raw, it.describe())));
        for line in lines {
            screen.write(target, &format!("{DIM}  {}{DIM:#}\n", strip_control_chars(&line)))?;
        }
        Ok(())
    }

    fn role_name(&self, cue: Cue) -> String {
        self.debate.seat(cue).title_in_sentence()
    }

    fn heading(&self, cue: Cue) -> String {
        let seat = self.debate.seat(cue);
        let round = if cue.round > 0 { format!("Round {} - ", cue.round) } else { String::new() };
        format!("{round}{} ({})", seat.title(), seat.voice.tool())
    }
}

/// Summary such as `4 citations: 2 verified, 1 wrong`, or `None` without citations.
fn summarize_citations(citations: &[Citation]) -> Option<String> {
    let count = |predicate: fn(CitationStatus) -> bool| {
        citations.iter().filter(|it| predicate(it.found)).count()
    };
    let (all, verified, wrong) =
        (citations.len(), count(CitationStatus::is_verified), count(CitationStatus::is_wrong));
    let word = if all == 1 { "citation" } else { "citations" };
    (all > 0).then(|| format!("{all} {word}: {verified} verified, {wrong} wrong"))
}
