//! `debate join`: plays a seat in a debate on an arena server, with `arena_client`. The entry point
//! is the handler `join`, called by `cli::run`. It checks arguments and model, runs an
//! `ArenaClient` and prints its events.
use super::args::JoinArgs;
use super::exit::{CliError, Exit};
use super::output::{JoinOutput, JoinScores, JoinSpeech};
use super::screen::Screen;
use crate::app::App;
use crate::arena_client::client::random_uuid;
use crate::arena_client::protocol::{ArenaSide, RemoteSpeech, is_valid_id};
use crate::arena_client::{
    ArenaClient, ArenaClientConfig, ArenaUrl, ClientEvent, ClientOutcome, ClientResult,
    CredentialStore, HttpArenaApi, retry_policy,
};
use crate::config::Config;
use crate::engine::signals::wait_for_shutdown;
use crate::report::sanitize::one_line;
use tokio::sync::mpsc;

/// Maximum characters of a speech in the progress output.
const PREVIEW_CHARS: usize = 100;
/// Maximum length of a bot's name in characters.
const MAX_NAME_CHARS: usize = 64;

/// Handler of `debate join`.
pub(super) async fn join(
    args: &JoinArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let address = ArenaUrl::parse(&args.url).map_err(|error| {
        CliError::Usage(
            error.to_string(),
            "write it as http://localhost:8081 or https://HOST".into(),
        )
    })?;
    let bot = resolve_bot(args, &address, config, app, screen).await?;
    let credentials = CredentialStore::in_home(&config.data_dir);
    if args.debate.is_none() {
        for (debate, name) in credentials.unfinished_debates(&address) {
            let command = resume_command(args, &address, &name, &debate);
            screen.note(&format!("[INFO] You have a seat there already. Go on with: {command}"));
        }
    }
    let api = HttpArenaApi::new(address.clone()).map_err(CliError::Other)?;
    let (sender, mut events) = mpsc::unbounded_channel();
    let send_event = move |it: ClientEvent| {
        // The receiver is dropped only when this command is about to exit.
        let _ = sender.send(it);
    };
    let templates = &app.catalog().arena_client_prompts;
    let client =
        ArenaClient { api: &api, provider: app, templates, config: &bot, on_event: &send_event };
    let mut debate = args.debate.clone();
    let client_result = {
        let mut session =
            std::pin::pin!(client.run(&credentials, &address, args.debate.as_deref()));
        let mut interrupt = std::pin::pin!(wait_for_shutdown());
        loop {
            tokio::select! {
                biased;
                Some(it) = events.recv() => print_news(&it, &mut debate, screen),
                client_result = &mut session => break Some(client_result),
                () = &mut interrupt => break None,
            }
        }
    };
    while let Ok(it) = events.try_recv() {
        print_news(&it, &mut debate, screen);
    }
    let Some(client_result) = client_result else {
        let resume_hint = debate.map(|debate| resume_command(args, &address, &bot.name, &debate));
        let resume_hint = resume_hint
            .map(|resume_hint| format!(" Go on with: {resume_hint}"))
            .unwrap_or_default();
        screen.warn(&format!(
            "[WARN] Stopped; your turns are missed until you come back.{resume_hint}"
        ));
        return Ok(Exit::Stopped);
    };
    print_result(&client_result?, args, &address, screen)
}

/// Validates all arguments and probes the model, before any request to the server.
async fn resolve_bot(
    args: &JoinArgs,
    address: &ArenaUrl,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<ArenaClientConfig, CliError> {
    let usage_error = |message: &str, hint: &str| CliError::Usage(message.into(), hint.into());
    if !app.can_ask_once(&args.seat) {
        let hint = "`debate models` shows who can play; `script:FILE` always can";
        return Err(usage_error("only a model or a script can join", hint));
    }
    if args.debate.as_deref().is_some_and(|id| !is_valid_id(id)) {
        return Err(usage_error("that is not a debate id", "leave `--debate` out to join any"));
    }
    let name = args.name.clone().unwrap_or_else(|| args.seat.tool().to_owned());
    if !is_valid_name(&name) {
        let message = format!("a name has 1 to {MAX_NAME_CHARS} characters");
        return Err(usage_error(&message, "give another with `--name`"));
    }
    let effort = args.effort.map(Into::into);
    let participant = app.resolve_one_shot(&args.seat, effort)?;
    if !args.no_probe
        && config.settings.seats.probe != Some(false)
        && let Some(warning) = app.probe_one(&participant).await?
    {
        screen.warn(&format!("[WARN] {warning}"));
    }
    if address.is_unencrypted() {
        screen.warn(
            "[WARN] This is plain http to another machine: whoever is on the way can read what is \
             sent, the key of your seat included.",
        );
    }
    Ok(ArenaClientConfig {
        name,
        uuid: args.uuid.clone().map_or_else(random_uuid, Ok)?,
        participant,
        effort,
        poll_interval: retry_policy::poll_interval(Some(args.every), address.is_loopback()),
        outage_timeout: args.patience,
        join_timeout: args.wait_for_debate.unwrap_or_default(),
    })
}

/// Whether a bot can have this name.
fn is_valid_name(name: &str) -> bool {
    is_valid_id(name) && name.chars().count() <= MAX_NAME_CHARS
}

/// Shell command that resumes a seat.
fn resume_command(args: &JoinArgs, address: &ArenaUrl, name: &str, debate: &str) -> String {
    let quoted = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@".contains(c);
        let quoted = || format!("'{}'", word.replace('\'', "'\\''"));
        if word.chars().all(plain) { word.to_owned() } else { quoted() }
    };
    format!(
        "debate join {} --debate {} --seat {} --name {}",
        quoted(&address.to_string()),
        quoted(debate),
        quoted(&args.seat.to_string()),
        quoted(name)
    )
}

/// Prints one progress line.
fn print_news(event: &ClientEvent, debate: &mut Option<String>, screen: &mut Screen) {
    let round_label = |round: &u32| format!("Round {round}");
    match event {
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
            let ellipsis = if content.chars().count() > PREVIEW_CHARS { "…" } else { "" };
            let preview: String = content.chars().take(PREVIEW_CHARS).collect();
            let speaker = one_line(speaker);
            screen
                .note(&format!("[{} · {side}] {speaker}: {preview}{ellipsis}", round_label(round)));
        }
        ClientEvent::OwnTurn { round, time_left } => {
            let time_left = time_left.as_secs();
            screen
                .note(&format!("[{}] Our turn; up to {time_left} s to think.", round_label(round)));
        }
        ClientEvent::AskedAgain { why } => {
            screen.note(&format!("[INFO] Asked once more: {}.", one_line(why)));
        }
        ClientEvent::SpeechAccepted { round, chars, truncated } => {
            let truncated = if *truncated { "; its end had to be left off" } else { "" };
            screen
                .note(&format!("[{}] Spoken: {chars} characters{truncated}.", round_label(round)));
        }
        ClientEvent::TurnMissed { round, why } => {
            screen.warn(&format!("[{}] No speech of ours: {}.", round_label(round), one_line(why)));
        }
        ClientEvent::RequestFailed { why, delay } => {
            let (why, delay) = (one_line(why), delay.as_secs_f32());
            screen.note(&format!("[INFO] The platform: {why}; again in {delay:.1} s."));
        }
    }
}

fn print_result(
    client_result: &ClientResult,
    args: &JoinArgs,
    address: &ArenaUrl,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let (poll, verdict) = (&client_result.last_poll, &client_result.verdict);
    let is_degraded =
        client_result.turns_missed > 0 || client_result.outcome == ClientOutcome::Undecided;
    let exit = if is_degraded { Exit::Degraded } else { Exit::Ok };
    if args.json {
        let to_speech = |it: &RemoteSpeech| JoinSpeech {
            round: it.round,
            side: it.side.clone(),
            speaker: it.speaker.clone(),
            content: it.content.clone(),
        };
        screen.print_json(&JoinOutput {
            v: 1,
            platform: address.to_string(),
            debate: client_result.debate_id.clone(),
            identifier: client_result.identifier.clone(),
            topic: poll.topic.clone(),
            side: poll.side.map(ArenaSide::as_str),
            rounds: poll.total_rounds,
            said: client_result.speeches_sent,
            missed: client_result.turns_missed,
            status: poll.status.clone(),
            outcome: client_result.outcome.as_str(),
            winner: Some(verdict.winner.clone()).filter(|winner| !winner.is_empty()),
            scores: JoinScores {
                supporting: verdict.supporting_score,
                opposing: verdict.opposing_score,
            },
            summary: verdict.summary.clone(),
            speeches: poll.speeches.iter().map(to_speech).collect(),
        })?;
        return Ok(exit);
    }
    let result = match client_result.outcome {
        ClientOutcome::Won => "We won.".to_owned(),
        ClientOutcome::Lost => format!("{} won.", one_line(&verdict.winner)),
        ClientOutcome::Draw => "A draw.".into(),
        ClientOutcome::Undecided => "There is no verdict.".into(),
    };
    screen.print_sanitized(&format!("{}\n\n{result}", one_line(&poll.topic)))?;
    if let (Some(supporting), Some(opposing)) = (verdict.supporting_score, verdict.opposing_score) {
        screen.print_sanitized(&format!("Supporting {supporting}, opposing {opposing}."))?;
    }
    if !verdict.summary.trim().is_empty() {
        screen.print_sanitized(&format!("\n{}", verdict.summary.trim()))?;
    }
    if client_result.turns_missed > 0 {
        screen.warn(&format!("[WARN] {} of our turns were missed.", client_result.turns_missed));
    }
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_bot_is_limited() {
        assert_eq!(MAX_NAME_CHARS, 64);
        assert!(is_valid_name(&"ü".repeat(MAX_NAME_CHARS)));
        assert!(!is_valid_name(&"ü".repeat(MAX_NAME_CHARS + 1)));
    }
}
