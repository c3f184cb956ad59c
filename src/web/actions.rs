//! Handles the action forms of the live page. A form is checked (access, CSRF token, turn) and
//! becomes a command, which is sent through the command queue to the process that runs the debate.
use super::auth::AccessLevel;
use super::http_error::{HttpError, accepts_json};
use super::site::SiteState;
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
pub(super) struct ActionForm {
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
pub(super) async fn handle_action(
    Shared(state): Shared<SiteState>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    sent: Result<Form<ActionForm>, axum::extract::rejection::FormRejection>,
) -> Response {
    match execute_action(&state, &id, &action, &headers, sent).await {
        Ok(says) if accepts_json(&headers) => {
            Json(json!({"ok": true, "says": says})).into_response()
        }
        Ok(_) => Redirect::to(&format!("/debates/{id}")).into_response(),
        Err(sorry) => sorry.to_response(&headers),
    }
}

async fn execute_action(
    state: &SiteState,
    id: &str,
    action: &str,
    headers: &HeaderMap,
    sent: Result<Form<ActionForm>, axum::extract::rejection::FormRejection>,
) -> Result<&'static str, HttpError> {
    if state.auth.level_of_request(headers) != AccessLevel::Act {
        return Err(HttpError::new(
            StatusCode::UNAUTHORIZED,
            "You may read here, and not act.",
            "Open the address with a token that was printed when this server started.",
        ));
    }
    let Form(sent) = sent.map_err(|error| {
        HttpError::new(error.status(), "This form cannot be read.", "Go back and send it again.")
    })?;
    if !state.auth.is_valid_csrf(&sent.csrf) {
        return Err(HttpError::new(
            StatusCode::FORBIDDEN,
            "This form was not made by this page.",
            "Load the page of the debate again, and send it from there.",
        ));
    }
    let stored = state.load_debate(id).await?;
    let story = super::pages::load_history(stored, None).await?;
    let (wish, says) = build_command(story.debate(), action, &sent)?;
    state.app.send_commands(id, &state.workspace, vec![wish]).await?;
    Ok(says)
}

/// Builds the command of a form, and the message to show when it is done.
fn build_command(
    debate: &Debate,
    action: &str,
    sent: &ActionForm,
) -> Result<(Command, &'static str), HttpError> {
    let text = || {
        let text = sent.text.replace("\r\n", "\n");
        let fits = !text.trim().is_empty();
        fits.then_some(text).ok_or_else(|| invalid_form("Nothing was written."))
    };
    Ok(match action {
        "remark" => {
            let text = text()?;
            if text.chars().count() > MAX_REMARK_CHARS {
                return Err(invalid_form("This remark is too long."));
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
            let cue = parse_turn(debate, sent, ReplyKind::Speech)?;
            (Command::Reply { take: sent.take, cue, text: text()? }, "Your turn is on the record.")
        }
        "vote" => {
            let cue = parse_turn(debate, sent, ReplyKind::Vote)?;
            let text = build_vote(debate, cue, sent)?;
            (Command::Reply { take: sent.take, cue, text }, "Your vote is on the record.")
        }
        _ => {
            let says = "There is no such action.";
            return Err(HttpError::new(StatusCode::NOT_FOUND, says, "Use a form of the page."));
        }
    })
}

fn invalid_form(says: &str) -> HttpError {
    HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, says, "Go back, and send it again.")
}

/// Parses the turn of a form, and checks that a human may take it now.
fn parse_turn(debate: &Debate, sent: &ActionForm, kind: ReplyKind) -> Result<Cue, HttpError> {
    let cue: Cue = sent.turn.parse().map_err(|_| invalid_form("This form names no turn."))?;
    let due = awaited_human_turns(debate).contains(&cue) && debate.setup().phase(cue).reply == kind;
    due.then_some(cue).ok_or_else(|| {
        HttpError::new(
            StatusCode::CONFLICT,
            "This turn is not waited for any more.",
            "Look at how the debate stands now.",
        )
    })
}

/// Maximum length of the reason for a vote, in characters.
const MAX_REASON_CHARS: usize = 4_000;

/// Builds a vote in the JSON format in which models reply.
fn build_vote(debate: &Debate, cue: Cue, sent: &ActionForm) -> Result<String, HttpError> {
    let side = Some(sent.side.as_str()).filter(|side| matches!(*side, "pro" | "con"));
    let side = side.ok_or_else(|| invalid_form("Nobody was voted for."))?;
    let sure: u8 = sent
        .confidence
        .trim()
        .parse()
        .ok()
        .filter(|sure| *sure <= 100)
        .ok_or_else(|| invalid_form("How sure you are is a whole number from 0 to 100."))?;
    let reason = sent.reason.trim();
    if reason.is_empty() {
        return Err(invalid_form("Say why, in a sentence."));
    }
    if reason.chars().count() > MAX_REASON_CHARS {
        return Err(invalid_form("This reason is too long."));
    }
    let name = &debate.seat(cue).name;
    let sure = f64::from(sure) / 100.0;
    let vote = json!({"agent_id": name, "vote": side, "confidence": sure, "reason": reason});
    Ok(vote.to_string())
}
