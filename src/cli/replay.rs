//! `debate replay`: replays the event log offline. Every event is validated and applied again,
//! every prompt is rebuilt and its hash compared with the sent one, and the final state must be
//! equal.
use super::args::ReplayArgs;
use super::exit::{CliError, Exit};
use super::follow::{FollowMode, Follower};
use super::output::ReplayResultLine;
use super::screen::{Screen, StdStream, stdout_is_terminal};
use super::workspace;
use crate::app::App;
use crate::config::Config;
use crate::debate::prompt::{fingerprint, render};
use crate::debate::{Cue, Debate, Event};
use crate::engine::Update;
use std::time::Duration;

/// Maximum time to replay one turn.
const MAX_TURN_TIME: Duration = Duration::from_secs(600);

/// Handler of `debate replay`.
pub(super) async fn replay(
    replay: &ReplayArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let id = workspace::resolve_debate_id(replay.id.as_deref(), config, app, screen).await?;
    let (stored, recorded, flaw) = app.read(&id).await?;
    if let Some(flaw) = flaw {
        let message = format!("event {} of `{id}` is invalid: {}", flaw.seq, flaw.message);
        return Err(CliError::Other(message));
    }
    let speed = replay.speed.unwrap_or(if stdout_is_terminal() { 1.0 } else { 0.0 });
    let mode = if replay.json { FollowMode::Json } else { FollowMode::Stream(StdStream::Stdout) };
    let mut follower = Follower::new(Debate::open(stored.setup)?, 0, mode);
    let (mut same, mut changed) = (0, vec![]);
    let events = stored.events.len();
    for recorded in stored.events {
        match &recorded.event {
            Event::Asked { cues, prompts, .. } => {
                for (cue, sent) in cues.iter().zip(prompts) {
                    if fingerprint(&render(&follower.debate, *cue).text) == *sent {
                        same += 1;
                    } else {
                        changed.push(cue.to_string());
                    }
                }
            }
            Event::Spoke { cue, reply } => {
                follower.show(&Update::Speaking { cue: *cue, seconds: None }, screen)?;
                stream_text(
                    &mut follower,
                    *cue,
                    &reply.body.to_text(),
                    reply.envelope.duration_ms,
                    speed,
                    screen,
                )
                .await?;
            }
            _ => {}
        }
        follower.show(&Update::Fact { seq: recorded.seq, event: recorded.event }, screen)?;
    }
    let identical = follower.debate == recorded;
    tracing::debug!(debate = %id, events, same, changed = changed.len(), "event log replayed");
    let exit = if identical && changed.is_empty() { Exit::Ok } else { Exit::Failure };
    if replay.json {
        screen.print_json_line(&ReplayResultLine {
            v: 1,
            kind: "replayed",
            id,
            events,
            prompts_same: same,
            prompts_changed: changed,
        })?;
        return Ok(exit);
    }
    let text = crate::report::sanitize::strip_control_chars(
        &crate::report::summary::render_summary(&follower.debate),
    );
    screen.print(&format!("\n{}\n", text.trim_end()))?;
    if changed.is_empty() {
        screen.note(&format!(
            "[INFO] Replayed {events} events; {same} prompts were rebuilt and are the same."
        ));
    } else {
        let turns = changed.join(", ");
        screen.warn(&format!("[WARN] These prompts are not what was sent then: {turns}"));
    }
    Ok(exit)
}

/// Streams the text word by word, at the recorded pace times `speed`.
async fn stream_text(
    follower: &mut Follower,
    cue: Cue,
    text: &str,
    duration_ms: u64,
    speed: f64,
    screen: &mut Screen,
) -> Result<(), CliError> {
    if speed <= 0.0 {
        return follower.show(&Update::Delta { cue, text: text.into() }, screen);
    }
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let pause = replay_time(duration_ms, speed).div_f64(words.len().max(1) as f64);
    for word in words {
        tokio::time::sleep(pause).await;
        follower.show(&Update::Delta { cue, text: word.into() }, screen)?;
    }
    Ok(())
}

/// Time to replay a turn.
fn replay_time(duration_ms: u64, speed: f64) -> Duration {
    Duration::from_millis(duration_ms).div_f64(speed).min(MAX_TURN_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_of_a_turn_is_limited() {
        assert_eq!(MAX_TURN_TIME, Duration::from_secs(600));
        assert_eq!(
            replay_time(599_999, 1.0),
            MAX_TURN_TIME.checked_sub(Duration::from_millis(1)).unwrap()
        );
        assert_eq!(replay_time(600_000, 1.0), MAX_TURN_TIME);
        assert_eq!(replay_time(600_001, 1.0), MAX_TURN_TIME);
        assert_eq!(replay_time(600_000, 0.5), MAX_TURN_TIME);
    }
}
