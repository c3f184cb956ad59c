//! Handles the action forms of the live page. A form is checked (access, CSRF token, turn) and
//! becomes a command, which is sent through the command queue to the process that runs the debate.
use super::auth::AccessLevel;
use super::http_error::{HttpError, accepts_json};
use super::site_state::SiteState;
use crate::debate::{Cue, Debate, Position, ReplyKind};
use crate::engine::Command;
use crate::page::actions::{MAX_REMARK_CHARS, awaited_human_turns};
use axum::Json;
use axum::extract::{Form, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

/// Maximum length of the reason for a vote, in characters.
const MAX_REASON_CHARS: usize = 4_000;
/// Maximum confidence of a vote, in percent.
const MAX_CONFIDENCE_PERCENT: u8 = 100;

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
    State(state): State<SiteState>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    form: Result<Form<ActionForm>, axum::extract::rejection::FormRejection>,
) -> Response {
    match execute_action(&state, &id, &action, &headers, form).await {
        Ok(message) if accepts_json(&headers) => {
            Json(json!({"ok": true, "says": message})).into_response()
        }
        Ok(_) => Redirect::to(&format!("/debates/{id}")).into_response(),
        Err(error) => {
            tracing::info!(status = error.status.as_u16(), "action refused");
            error.to_response(&headers)
        }
    }
}

async fn execute_action(
    state: &SiteState,
    id: &str,
    action: &str,
    headers: &HeaderMap,
    form: Result<Form<ActionForm>, axum::extract::rejection::FormRejection>,
) -> Result<&'static str, HttpError> {
    if state.auth.level_of_request(headers) != AccessLevel::Act {
        return Err(HttpError::new(
            StatusCode::UNAUTHORIZED,
            "You may read here, but not act.",
            "Open the address with the token that this server printed when it started.",
        ));
    }
    let Form(form) = form.map_err(|error| {
        HttpError::new(error.status(), "This form cannot be read.", "Go back and send it again.")
    })?;
    if !state.auth.is_valid_csrf(&form.csrf) {
        return Err(HttpError::new(
            StatusCode::FORBIDDEN,
            "This form is not from the current page.",
            "Reload the page of the debate, and send the form again.",
        ));
    }
    let stored = state.load_debate(id).await?;
    let history = super::pages::load_history(stored, None).await?;
    let (command, message) = build_command(history.debate(), action, &form)?;
    state.app.send_commands(id, &state.workspace, vec![command]).await?;
    tracing::info!(debate = id, action, "action executed");
    Ok(message)
}

/// Builds the command of a form, and the message to show when it is done.
fn build_command(
    debate: &Debate,
    action: &str,
    form: &ActionForm,
) -> Result<(Command, &'static str), HttpError> {
    let text = || {
        let text = form.text.replace("\r\n", "\n");
        let is_filled = !text.trim().is_empty();
        is_filled.then_some(text).ok_or_else(|| invalid_form("Nothing was written."))
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
            let before = Position { act: form.act, round: form.round };
            (Command::Continue { before }, "It goes on.")
        }
        "verdict" => (Command::Conclude { because: None }, "It goes to its ending."),
        "speak" => {
            let cue = parse_turn(debate, form, ReplyKind::Speech)?;
            (Command::Reply { take: form.take, cue, text: text()? }, "Your turn is on the record.")
        }
        "vote" => {
            let cue = parse_turn(debate, form, ReplyKind::Vote)?;
            let text = build_vote(debate, cue, form)?;
            (Command::Reply { take: form.take, cue, text }, "Your vote is on the record.")
        }
        _ => {
            let message = "There is no such action.";
            return Err(HttpError::new(StatusCode::NOT_FOUND, message, "Use a form of the page."));
        }
    })
}

fn invalid_form(message: &str) -> HttpError {
    HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, message, "Go back, and send it again.")
}

/// Parses the turn of a form, and checks that a human may take it now.
fn parse_turn(debate: &Debate, form: &ActionForm, kind: ReplyKind) -> Result<Cue, HttpError> {
    let cue: Cue = form.turn.parse().map_err(|_| invalid_form("This form names no turn."))?;
    let is_due =
        awaited_human_turns(debate).contains(&cue) && debate.setup().phase(cue).reply == kind;
    is_due.then_some(cue).ok_or_else(|| {
        HttpError::new(
            StatusCode::CONFLICT,
            "This turn is no longer open.",
            "Reload the page of the debate to see its current state.",
        )
    })
}

/// Builds a vote in the JSON format in which models reply.
fn build_vote(debate: &Debate, cue: Cue, form: &ActionForm) -> Result<String, HttpError> {
    let side = Some(form.side.as_str()).filter(|side| matches!(*side, "pro" | "con"));
    let side = side.ok_or_else(|| invalid_form("No side was chosen."))?;
    let confidence: u8 = form
        .confidence
        .trim()
        .parse()
        .ok()
        .filter(|confidence| *confidence <= MAX_CONFIDENCE_PERCENT)
        .ok_or_else(|| invalid_form("The confidence must be a whole number from 0 to 100."))?;
    let reason = form.reason.trim();
    if reason.is_empty() {
        return Err(invalid_form("The reason is missing. Give it in a sentence."));
    }
    if reason.chars().count() > MAX_REASON_CHARS {
        return Err(invalid_form("This reason is too long."));
    }
    let name = &debate.seat(cue).name;
    let confidence = f64::from(confidence) / 100.0;
    let vote = json!({"agent_id": name, "vote": side, "confidence": confidence, "reason": reason});
    Ok(vote.to_string())
}
