//! `debate watch`: follows a debate that another process runs, by polling the archive. Read-only.
use super::args::{Shown, Watch};
use super::exit::{self, Exit, Failed};
use super::follow::{Follower, Manner};
use super::output;
use super::place;
use super::play::finish;
use super::resume::LINE;
use super::screen::{Screen, Target};
use crate::config::Config;
use crate::debate::{Cue, Debate, Event, LogFlaw, PauseReason, Step, next};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{App, AppError, DebateNews, LiveText, RecordedEvent, Update};
use crate::report::gist::gist;
use crate::report::view::view;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Poll interval.
const LOOK: Duration = Duration::from_millis(200);
/// How long a debate may have no lease holder before it counts as abandoned. The lease is briefly
/// free between two turns.
const GRACE: Duration = Duration::from_secs(2);

/// Handler of `debate watch`.
pub(super) async fn watch(
    asked: &Watch,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    // Installs the signal handlers before anything is printed.
    let mut interrupt = std::pin::pin!(wait_for_shutdown());
    let id = place::found(asked.id.as_deref(), asked.id.is_none(), config, desk, screen)?;
    let (stored, debate, flaw) = desk.read(&id)?;
    if let Some(LogFlaw { seq, message: why }) = flaw {
        return Err(AppError::CorruptLog { id, seq, why }.into());
    }
    for line in gist(&debate, LINE) {
        screen.note(&format!("  {line}"));
    }
    if let Some(holder) = &stored.holder {
        screen.note(&format!(
            "[INFO] {holder} plays it; `debate resume {id} --take-over` takes it over. Ctrl-C only \
             stops watching."
        ));
    }
    let manner = if asked.json { Manner::Json } else { Manner::Words(Target::Out) };
    let seq = stored.events.last().map_or(0, |recorded| recorded.seq);
    let mut watched = Watched { seq, heard: BTreeMap::new() };
    let mut follower = Follower::new(debate, seq, manner);
    watched.speaking(&mut follower, screen)?;
    let mut held = Instant::now();
    let why = loop {
        let news = desk.archive().news_since(&id, watched.seq)?;
        if news.holder.is_some() {
            held = Instant::now();
        }
        let holder = news.holder.clone();
        watched.catch_up(news, &mut follower, screen)?;
        match sight(&follower.debate, holder.is_some() || held.elapsed() < GRACE) {
            Sight::Going => {}
            Sight::Over => break None,
            Sight::Waits(why) => break Some(why),
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = &mut interrupt => break Some("Stopped watching; the debate goes on.".into()),
        }
    };
    if let Some(why) = &why {
        screen.warn(&format!("[WARN] {why}"));
    }
    if asked.json {
        let view = view(&follower.debate);
        screen.json_line(&output::Result { kind: "result", debate: &view })?;
    } else if why.is_none() {
        return finish(&follower.debate, Shown { json: false, follow: true }, screen);
    }
    Ok(exit::of(&follower.debate))
}

/// Position of the watcher in the event log.
struct Watched {
    seq: u64,
    /// Streamed text seen so far of each turn in progress.
    heard: BTreeMap<Cue, String>,
}

impl Watched {
    /// Shows new events, then new text of turns in progress.
    fn catch_up(
        &mut self,
        news: DebateNews,
        follower: &mut Follower,
        screen: &mut Screen,
    ) -> Result<(), Failed> {
        for RecordedEvent { seq, event, .. } in news.events {
            self.seq = seq;
            if let Event::Spoke { cue, .. } | Event::Failed { cue, .. } = &event {
                self.heard.remove(cue);
            }
            follower.show(&Update::Fact { seq, event }, screen)?;
            self.speaking(follower, screen)?;
        }
        news.live_texts.iter().try_for_each(|live| self.hear(live, follower, screen))
    }

    /// Announces turns that have been requested from a provider.
    fn speaking(&mut self, follower: &mut Follower, screen: &mut Screen) -> Result<(), Failed> {
        let Step::Speak { driven, .. } = next(&follower.debate) else { return Ok(()) };
        for cue in driven {
            if follower.debate.was_asked(cue) && !self.heard.contains_key(&cue) {
                self.heard.insert(cue, String::new());
                follower.show(&Update::Speaking { cue, seconds: None }, screen)?;
            }
        }
        Ok(())
    }

    fn hear(
        &mut self,
        live: &LiveText,
        follower: &mut Follower,
        screen: &mut Screen,
    ) -> Result<(), Failed> {
        let cue: Option<Cue> = live.turn.parse().ok();
        let Some((cue, heard)) = cue.and_then(|cue| Some((cue, self.heard.get_mut(&cue)?))) else {
            return Ok(());
        };
        // The text of a retried turn starts again.
        let more = live.text.strip_prefix(heard.as_str());
        if more.is_none() {
            follower.show(&Update::Speaking { cue, seconds: None }, screen)?;
        }
        let new = more.unwrap_or(&live.text);
        let update = Update::Delta { cue, text: new.to_owned() };
        let news = !new.is_empty();
        heard.clone_from(&live.text);
        if news { follower.show(&update, screen) } else { Ok(()) }
    }
}

/// Status of the watched debate.
enum Sight {
    Going,
    Over,
    /// It waits for input, with a message.
    Waits(String),
}

fn sight(debate: &Debate, held: bool) -> Sight {
    let id = &debate.setup().id;
    let on = format!("debate resume {id}");
    if debate.outcome().is_some() {
        return Sight::Over;
    }
    match next(debate) {
        Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. } => {
            Sight::Waits(format!("Its budget is spent. Allow more with: {on} --max-cost X"))
        }
        Step::Hold { .. } => Sight::Waits(format!("It waits for your word. Go on with: {on}")),
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let names: Vec<&str> =
                awaited.iter().map(|cue| debate.seat(*cue).name.as_str()).collect();
            Sight::Waits(format!("It waits for `{}`. Go on with: {on}", names.join("`, `")))
        }
        _ if held => Sight::Going,
        _ => Sight::Waits(format!("Nobody plays it any more. Go on with: {on}")),
    }
}
