//! Handles the action forms of the live page. A form is checked (access, CSRF token, turn) and
//! becomes a command, which is sent through the command queue to the process that runs the debate.
use super::entry::Pass;
use super::site::State;
use super::sorry::{Sorry, wants_data};
use crate::debate::{Cue, Debate, Position, ReplyKind};
use crate::engine::Command;
use crate::page::actions::{MAX_REMARK_CHARS, awaited_human_turns};
use axum::Json;
use axum::extract::{Form, Path, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

/// Fields of all action forms.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sent {
    csrf: String,
    text: String,
    turn: String,
    take: u16,
    side: String,
    confidence: String,
    reason: String,
    act: u8,
    round: u8,
}

/// Handler of `POST /debates/{id}/actions/{action}`. Responds with JSON or a redirect.
pub(super) async fn act(
    Shared(state): Shared<State>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    sent: Result<Form<Sent>, axum::extract::rejection::FormRejection>,
) -> Response {
    match obey(&state, &id, &action, &headers, sent).await {
        Ok(says) if wants_data(&headers) => Json(json!({"ok": true, "says": says})).into_response(),
        Ok(_) => Redirect::to(&format!("/debates/{id}")).into_response(),
        Err(sorry) => sorry.to(&headers),
    }
}

async fn obey(
    state: &State,
    id: &str,
    action: &str,
    headers: &HeaderMap,
    sent: Result<Form<Sent>, axum::extract::rejection::FormRejection>,
) -> Result<&'static str, Sorry> {
    if state.entry.of(headers) != Pass::Act {
        return Err(Sorry::new(
            StatusCode::UNAUTHORIZED,
            "You may read here, and not act.",
            "Open the address with a token that was printed when this server started.",
        ));
    }
    let Form(sent) = sent.map_err(|error| {
        Sorry::new(error.status(), "This form cannot be read.", "Go back and send it again.")
    })?;
    if !state.entry.carried(&sent.csrf) {
        return Err(Sorry::new(
            StatusCode::FORBIDDEN,
            "This form was not made by this page.",
            "Load the page of the debate again, and send it from there.",
        ));
    }
    let stored = state.stored(id).await?;
    let story = super::pages::story(stored, None).await?;
    let (wish, says) = command(story.debate(), action, &sent)?;
    state.desk.send_commands(id, &state.place, vec![wish]).await?;
    Ok(says)
}

/// Builds the command of a form, and the message to show when it is done.
fn command(debate: &Debate, action: &str, sent: &Sent) -> Result<(Command, &'static str), Sorry> {
    let text = || {
        let text = sent.text.replace("\r\n", "\n");
        let fits = !text.trim().is_empty();
        fits.then_some(text).ok_or_else(|| unfit("Nothing was written."))
    };
    Ok(match action {
        "remark" => {
            let text = text()?;
            if text.chars().count() > MAX_REMARK_CHARS {
                return Err(unfit("This remark is too long."));
            }
            (Command::Interject { text }, "The remark is on the record.")
        }
        "pause" => (Command::Hold, "It pauses before anyone else is asked."),
        "continue" => {
            let before = Position { act: sent.act, round: sent.round };
            (Command::Continue { before }, "It goes on.")
        }
        "verdict" => (Command::Conclude { because: None }, "It goes to its ending."),
        "speak" => {
            let cue = turn(debate, sent, ReplyKind::Speech)?;
            (Command::Reply { take: sent.take, cue, text: text()? }, "Your turn is on the record.")
        }
        "vote" => {
            let cue = turn(debate, sent, ReplyKind::Vote)?;
            let text = vote(debate, cue, sent)?;
            (Command::Reply { take: sent.take, cue, text }, "Your vote is on the record.")
        }
        _ => {
            let says = "There is no such action.";
            return Err(Sorry::new(StatusCode::NOT_FOUND, says, "Use a form of the page."));
        }
    })
}

fn unfit(says: &str) -> Sorry {
    Sorry::new(StatusCode::UNPROCESSABLE_ENTITY, says, "Go back, and send it again.")
}

/// Parses the turn of a form, and checks that a human may take it now.
fn turn(debate: &Debate, sent: &Sent, kind: ReplyKind) -> Result<Cue, Sorry> {
    let cue: Cue = sent.turn.parse().map_err(|_| unfit("This form names no turn."))?;
    let due = awaited_human_turns(debate).contains(&cue) && debate.setup().phase(cue).reply == kind;
    due.then_some(cue).ok_or_else(|| {
        Sorry::new(
            StatusCode::CONFLICT,
            "This turn is not waited for any more.",
            "Look at how the debate stands now.",
        )
    })
}

/// Maximum length of the reason for a vote, in characters.
const LONGEST_REASON: usize = 4_000;

/// Builds a vote in the JSON format in which models reply.
fn vote(debate: &Debate, cue: Cue, sent: &Sent) -> Result<String, Sorry> {
    let side = Some(sent.side.as_str()).filter(|side| matches!(*side, "pro" | "con"));
    let side = side.ok_or_else(|| unfit("Nobody was voted for."))?;
    let sure: u8 = sent
        .confidence
        .trim()
        .parse()
        .ok()
        .filter(|sure| *sure <= 100)
        .ok_or_else(|| unfit("How sure you are is a whole number from 0 to 100."))?;
    let reason = sent.reason.trim();
    if reason.is_empty() {
        return Err(unfit("Say why, in a sentence."));
    }
    if reason.chars().count() > LONGEST_REASON {
        return Err(unfit("This reason is too long."));
    }
    let name = &debate.seat(cue).name;
    let sure = f64::from(sure) / 100.0;
    let vote = json!({"agent_id": name, "vote": side, "confidence": sure, "reason": reason});
    Ok(vote.to_string())
}
