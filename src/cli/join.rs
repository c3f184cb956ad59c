//! `debate join`: plays a seat in a debate on an arena server, with `arena_client`.
use super::args::JoinArgs;
use super::exit::{CliError, Exit};
use super::output::{JoinOutput, JoinScores, JoinSpeech};
use super::screen::Screen;
use crate::arena_client::client::random_uuid;
use crate::arena_client::protocol::{ArenaSide, RemoteSpeech, is_valid_id};
use crate::arena_client::{
    ArenaClient, ArenaClientConfig, ArenaUrl, ClientEvent, ClientOutcome, ClientResult,
    CredentialStore, HttpArenaApi, retry_policy,
};
use crate::config::Config;
use crate::engine::App;
use crate::engine::signals::wait_for_shutdown;
use crate::report::sanitize::one_line;
use tokio::sync::mpsc;

/// Maximum characters of a speech in the progress output.
const PREVIEW_CHARS: usize = 100;

/// Handler of `debate join`.
pub(super) async fn join(
    asked: &JoinArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let address = ArenaUrl::parse(&asked.url).map_err(|bad| {
        CliError::Usage(bad.to_string(), "write it as http://localhost:8081 or https://HOST".into())
    })?;
    let guest = resolve_bot(asked, &address, config, desk, screen).await?;
    let memory = CredentialStore::in_home(&config.data_dir);
    if asked.debate.is_none() {
        for (debate, name) in memory.unfinished_debates(&address) {
            let again = resume_command(asked, &address, &name, &debate);
            screen.note(&format!("[INFO] You have a seat there already. Go on with: {again}"));
        }
    }
    let platform = HttpArenaApi::new(address.clone()).map_err(CliError::Other)?;
    let (sender, mut news) = mpsc::unbounded_channel();
    let tell = move |it: ClientEvent| {
        // The receiver is dropped only when this command is about to exit.
        let _ = sender.send(it);
    };
    let words = &desk.catalog().arena_client_prompts;
    let visit = ArenaClient {
        api: &platform,
        provider: desk,
        templates: words,
        config: &guest,
        on_event: &tell,
    };
    let mut debate = asked.debate.clone();
    let ended = {
        let mut attending = std::pin::pin!(visit.run(&memory, &address, asked.debate.as_deref()));
        let mut interrupt = std::pin::pin!(wait_for_shutdown());
        loop {
            tokio::select! {
                biased;
                Some(it) = news.recv() => print_news(&it, &mut debate, screen),
                ended = &mut attending => break Some(ended),
                () = &mut interrupt => break None,
            }
        }
    };
    while let Ok(it) = news.try_recv() {
        print_news(&it, &mut debate, screen);
    }
    let Some(ended) = ended else {
        let on = debate.map(|debate| resume_command(asked, &address, &guest.name, &debate));
        let on = on.map(|on| format!(" Go on with: {on}")).unwrap_or_default();
        screen.warn(&format!("[WARN] Stopped; your turns are missed until you come back.{on}"));
        return Ok(Exit::Stopped);
    };
    print_result(&ended?, asked, &address, screen)
}

/// Validates all arguments and probes the model, before any request to the server.
async fn resolve_bot(
    asked: &JoinArgs,
    address: &ArenaUrl,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<ArenaClientConfig, CliError> {
    let wrong = |says: &str, hint: &str| CliError::Usage(says.into(), hint.into());
    if !desk.can_ask_once(&asked.seat) {
        let hint = "`debate models` shows who can play; `script:FILE` always can";
        return Err(wrong("a guest is a model or a script", hint));
    }
    if asked.debate.as_deref().is_some_and(|id| !is_valid_id(id)) {
        return Err(wrong("that is no id of a debate", "leave `--debate` out to join any"));
    }
    let name = asked.name.clone().unwrap_or_else(|| asked.seat.tool().to_owned());
    if !is_valid_id(&name) || name.chars().count() > 64 {
        return Err(wrong("a name has 1 to 64 characters", "give another with `--name`"));
    }
    let effort = asked.effort.map(Into::into);
    let voice = desk.resolve_one_shot(&asked.seat, effort)?;
    if !asked.no_probe
        && config.settings.seats.probe != Some(false)
        && let Some(slow) = desk.probe_one(&voice).await?
    {
        screen.warn(&format!("[WARN] {slow}"));
    }
    if address.is_unencrypted() {
        screen.warn(
            "[WARN] This is plain http to another machine: whoever is on the way can read what is \
             sent, the key of your seat included.",
        );
    }
    Ok(ArenaClientConfig {
        name,
        uuid: asked.uuid.clone().map_or_else(random_uuid, Ok)?,
        participant: voice,
        effort,
        poll_interval: retry_policy::poll_interval(Some(asked.every), address.is_loopback()),
        outage_timeout: asked.patience,
        join_timeout: asked.wait_for_debate.unwrap_or_default(),
    })
}

/// Shell command that resumes a seat.
fn resume_command(asked: &JoinArgs, address: &ArenaUrl, name: &str, debate: &str) -> String {
    let quoted = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@".contains(c);
        let quoted = || format!("'{}'", word.replace('\'', "'\\''"));
        if word.chars().all(plain) { word.to_owned() } else { quoted() }
    };
    format!(
        "debate join {} --debate {} --seat {} --name {}",
        quoted(&address.to_string()),
        quoted(debate),
        quoted(&asked.seat.to_string()),
        quoted(name)
    )
}

/// Prints one progress line.
fn print_news(news: &ClientEvent, debate: &mut Option<String>, screen: &mut Screen) {
    let of = |round: &u32| format!("Round {round}");
    match news {
        ClientEvent::Joined { debate: id, identifier, topic } => {
            *debate = Some(id.clone());
            let topic = one_line(topic);
            let about = if topic.is_empty() { topic } else { format!(": {topic}") };
            screen.note(&format!(
                "[INFO] Joined debate {} as {}{about}",
                one_line(id),
                one_line(identifier)
            ));
        }
        ClientEvent::Resumed { debate: id, identifier } => {
            *debate = Some(id.clone());
            let (id, identifier) = (one_line(id), one_line(identifier));
            screen.note(&format!("[INFO] Back in debate {id} as {identifier}"));
        }
        ClientEvent::NoDebate => screen.note("[INFO] No debate to join yet; waiting for one."),
        ClientEvent::Waiting { joined } => {
            screen.note(&format!("[INFO] Waiting for an opponent ({joined} there)."));
        }
        ClientEvent::Started { topic, side, rounds } => {
            let rounds = if *rounds > 0 { format!(", {rounds} rounds") } else { String::new() };
            let side = side.as_str();
            screen.note(&format!("[INFO] Our side: {side}{rounds}. Topic: {}", one_line(topic)));
        }
        ClientEvent::OtherSpoke(RemoteSpeech { round, side, speaker, content }) => {
            let (content, side) = (one_line(content), one_line(side));
            let more = if content.chars().count() > PREVIEW_CHARS { "…" } else { "" };
            let glimpse: String = content.chars().take(PREVIEW_CHARS).collect();
            let speaker = one_line(speaker);
            screen.note(&format!("[{} · {side}] {speaker}: {glimpse}{more}", of(round)));
        }
        ClientEvent::OwnTurn { round, time_left: left } => {
            let left = left.as_secs();
            screen.note(&format!("[{}] Our turn; up to {left} s to think.", of(round)));
        }
        ClientEvent::AskedAgain { why } => {
            screen.note(&format!("[INFO] Asked once more: {}.", one_line(why)))
        }
        ClientEvent::SpeechAccepted { round, chars: length, truncated: cut } => {
            let cut = if *cut { "; its end had to be left off" } else { "" };
            screen.note(&format!("[{}] Spoken: {length} characters{cut}.", of(round)));
        }
        ClientEvent::TurnMissed { round, why } => {
            screen.warn(&format!("[{}] No speech of ours: {}.", of(round), one_line(why)));
        }
        ClientEvent::RequestFailed { why, delay: wait } => {
            let (why, wait) = (one_line(why), wait.as_secs_f32());
            screen.note(&format!("[INFO] The platform: {why}; again in {wait:.1} s."));
        }
    }
}

fn print_result(
    ended: &ClientResult,
    asked: &JoinArgs,
    address: &ArenaUrl,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let (poll, verdict) = (&ended.last_poll, &ended.verdict);
    let lacking = ended.turns_missed > 0 || ended.outcome == ClientOutcome::Undecided;
    let exit = if lacking { Exit::Degraded } else { Exit::Ok };
    if asked.json {
        let heard = |it: &RemoteSpeech| JoinSpeech {
            round: it.round,
            side: it.side.clone(),
            speaker: it.speaker.clone(),
            content: it.content.clone(),
        };
        screen.print_json(&JoinOutput {
            v: 1,
            platform: address.to_string(),
            debate: ended.debate_id.clone(),
            identifier: ended.identifier.clone(),
            topic: poll.topic.clone(),
            side: poll.side.map(ArenaSide::as_str),
            rounds: poll.total_rounds,
            said: ended.speeches_sent,
            missed: ended.turns_missed,
            status: poll.status.clone(),
            outcome: ended.outcome.as_str(),
            winner: Some(verdict.winner.clone()).filter(|winner| !winner.is_empty()),
            scores: JoinScores {
                supporting: verdict.supporting_score,
                opposing: verdict.opposing_score,
            },
            summary: verdict.summary.clone(),
            speeches: poll.speeches.iter().map(heard).collect(),
        })?;
        return Ok(exit);
    }
    let result = match ended.outcome {
        ClientOutcome::Won => "We won.".to_owned(),
        ClientOutcome::Lost => format!("{} won.", one_line(&verdict.winner)),
        ClientOutcome::Draw => "A draw.".into(),
        ClientOutcome::Undecided => "Nobody has ruled.".into(),
    };
    screen.print_sanitized(&format!("{}\n\n{result}", one_line(&poll.topic)))?;
    if let (Some(supporting), Some(opposing)) = (verdict.supporting_score, verdict.opposing_score) {
        screen.print_sanitized(&format!("Supporting {supporting}, opposing {opposing}."))?;
    }
    if !verdict.summary.trim().is_empty() {
        screen.print_sanitized(&format!("\n{}", verdict.summary.trim()))?;
    }
    if ended.turns_missed > 0 {
        screen.warn(&format!("[WARN] {} of our turns were missed.", ended.turns_missed));
    }
    Ok(exit)
}
