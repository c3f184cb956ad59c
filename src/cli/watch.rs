//! `debate watch`: follows a debate that another process runs, by polling the archive. Read-only.
//! The entry point is the handler `watch`, called by `cli::run`. `follow` renders the events, as
//! for a debate run here.
use super::args::{DisplayArgs, WatchArgs};
use super::exit::{self, CliError, Exit};
use super::follow::{FollowMode, Follower};
use super::output;
use super::play::print_result;
use super::resume::STATUS_LINE_CHARS;
use super::screen::{Screen, StdStream};
use super::workspace;
use crate::app::{App, AppError};
use crate::config::Config;
use crate::debate::{Cue, Debate, Event, LogFlaw, PauseReason, Step, next};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{DebateNews, LiveText, RecordedEvent, Update};
use crate::report::short_status::short_status;
use crate::report::view::debate_view;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How long a debate may have no lease holder before it counts as abandoned. The lease is briefly
/// free between two turns.
const HOLDER_GRACE: Duration = Duration::from_secs(2);

/// Handler of `debate watch`.
pub(super) async fn watch(
    args: &WatchArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    // Installs the signal handlers before anything is printed.
    let mut interrupt = std::pin::pin!(wait_for_shutdown());
    let id = workspace::find_debate_id(args.id.as_deref(), args.id.is_none(), config, app, screen)
        .await?;
    let (stored, debate, flaw) = app.read(&id).await?;
    if let Some(LogFlaw { seq, message }) = flaw {
        return Err(AppError::CorruptLog { id, seq, why: message }.into());
    }
    for line in short_status(&debate, STATUS_LINE_CHARS) {
        screen.note(&format!("  {line}"));
    }
    if let Some(holder) = &stored.holder {
        screen.note(&format!(
            "[INFO] {holder} plays it; `debate resume {id} --take-over` takes it over. Ctrl-C only \
             stops watching."
        ));
    }
    let mode = if args.json { FollowMode::Json } else { FollowMode::Stream(StdStream::Stdout) };
    let seq = stored.events.last().map_or(0, |recorded| recorded.seq);
    let mut state = WatchState { seq, live_text: BTreeMap::new() };
    let mut follower = Follower::new(debate, seq, mode);
    state.announce_turns(&mut follower, screen)?;
    let mut last_held = Instant::now();
    let message = loop {
        let news = app.archive().events.news_since(&id, state.seq).await?;
        if news.holder.is_some() {
            last_held = Instant::now();
        }
        let holder = news.holder.clone();
        state.show_news(news, &mut follower, screen)?;
        let is_held = counts_as_held(holder.is_some(), last_held.elapsed());
        match watch_status(&follower.debate, is_held) {
            WatchStatus::Running => {}
            WatchStatus::Over => break None,
            WatchStatus::Waiting(message) => break Some(message),
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = &mut interrupt => break Some("Stopped watching; the debate goes on.".into()),
        }
    };
    if let Some(message) = &message {
        screen.warn(&format!("[WARN] {message}"));
    }
    if args.json {
        let view = debate_view(&follower.debate);
        screen.print_json_line(&output::ResultLine { kind: "result", debate: &view })?;
    } else if message.is_none() {
        return print_result(&follower.debate, DisplayArgs { json: false, follow: true }, screen);
    }
    Ok(exit::exit_for_debate(&follower.debate))
}

/// Position of the watcher in the event log.
struct WatchState {
    seq: u64,
    /// Streamed text seen so far of each turn in progress.
    live_text: BTreeMap<Cue, String>,
}

impl WatchState {
    /// Shows new events, then new text of turns in progress.
    fn show_news(
        &mut self,
        news: DebateNews,
        follower: &mut Follower,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        for RecordedEvent { seq, event, .. } in news.events {
            self.seq = seq;
            if let Event::Spoke { cue, .. } | Event::Failed { cue, .. } = &event {
                self.live_text.remove(cue);
            }
            follower.show(&Update::Fact { seq, event }, screen)?;
            self.announce_turns(follower, screen)?;
        }
        news.live_texts.iter().try_for_each(|live| self.show_live_text(live, follower, screen))
    }

    /// Announces turns that have been requested from a provider.
    fn announce_turns(
        &mut self,
        follower: &mut Follower,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let Step::Speak { driven, .. } = next(&follower.debate) else { return Ok(()) };
        for cue in driven {
            if follower.debate.was_asked(cue) && !self.live_text.contains_key(&cue) {
                self.live_text.insert(cue, String::new());
                follower.show(&Update::Speaking { cue, seconds: None }, screen)?;
            }
        }
        Ok(())
    }

    fn show_live_text(
        &mut self,
        live: &LiveText,
        follower: &mut Follower,
        screen: &mut Screen,
    ) -> Result<(), CliError> {
        let cue: Option<Cue> = live.turn.parse().ok();
        let Some((cue, shown)) = cue.and_then(|cue| Some((cue, self.live_text.get_mut(&cue)?)))
        else {
            return Ok(());
        };
        // The text of a retried turn starts again.
        let appended = live.text.strip_prefix(shown.as_str());
        if appended.is_none() {
            follower.show(&Update::Speaking { cue, seconds: None }, screen)?;
        }
        let new_text = appended.unwrap_or(&live.text);
        let update = Update::Delta { cue, text: new_text.to_owned() };
        let has_text = !new_text.is_empty();
        shown.clone_from(&live.text);
        if has_text { follower.show(&update, screen) } else { Ok(()) }
    }
}

/// Whether a process runs the debate, or did until a moment ago.
fn counts_as_held(has_holder: bool, time_without_holder: Duration) -> bool {
    has_holder || time_without_holder < HOLDER_GRACE
}

/// Status of the watched debate.
enum WatchStatus {
    Running,
    Over,
    /// It waits for input, with a message.
    Waiting(String),
}

fn watch_status(debate: &Debate, is_held: bool) -> WatchStatus {
    let id = &debate.setup().id;
    let resume_command = format!("debate resume {id}");
    if debate.outcome().is_some() {
        return WatchStatus::Over;
    }
    match next(debate) {
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => WatchStatus::Waiting(
            format!("Its budget is spent. Allow more with: {resume_command} --max-cost X"),
        ),
        Step::Hold { .. } => {
            WatchStatus::Waiting(format!("It waits for your word. Go on with: {resume_command}"))
        }
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let names: Vec<&str> =
                awaited.iter().map(|cue| debate.seat(*cue).name.as_str()).collect();
            WatchStatus::Waiting(format!(
                "It waits for `{}`. Go on with: {resume_command}",
                names.join("`, `")
            ))
        }
        _ if is_held => WatchStatus::Running,
        _ => {
            WatchStatus::Waiting(format!("Nobody plays it any more. Go on with: {resume_command}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debate_without_a_holder_is_abandoned_after_a_grace_period() {
        assert_eq!(HOLDER_GRACE, Duration::from_secs(2));
        assert!(counts_as_held(false, HOLDER_GRACE.checked_sub(Duration::from_nanos(1)).unwrap()));
        assert!(!counts_as_held(false, HOLDER_GRACE));
        assert!(counts_as_held(true, HOLDER_GRACE));
    }
}
