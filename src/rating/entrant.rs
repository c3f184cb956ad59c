//! Whom a rating belongs to: a tool with the model it reported. The tool is part of the name,
//! because the same model argues differently in another tool.
use super::unrated_reason::UnratedReason;
use crate::debate::{Cue, Debate, Participant, Role, Side};
use std::collections::BTreeSet;

/// Name limit in characters, because bots and tools choose their names.
const MAX_NAME_CHARS: usize = 60;

/// One side of a debate, as it is rated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RatedEntrant {
    /// Name on the leaderboard.
    pub(super) name: String,
    /// Participant of the seat.
    pub(super) participant: Participant,
    /// Model that the provider reported, if any.
    pub(super) model: Option<String>,
}

impl RatedEntrant {
    /// The entrant that argued for a side. An error if the model changed or is unknown.
    pub(super) fn from_debate(debate: &Debate, side: Side) -> Result<RatedEntrant, UnratedReason> {
        let role = side.role();
        let Some(seat) = debate.find_seat(role) else { return Err(UnratedReason::NoVerdict) };
        let participant = seat.voice.clone();
        match &participant {
            Participant::Host => Err(UnratedReason::UnknownModel),
            Participant::Human => {
                Ok(RatedEntrant { name: participant.to_string(), participant, model: None })
            }
            Participant::Bot => {
                let name =
                    debate.terms().get(bot_name_term(side)).map(String::as_str).map(sanitize_name);
                let name = name.filter(|name| !name.is_empty()).ok_or(UnratedReason::UnnamedBot)?;
                Ok(RatedEntrant { name: format!("bot {name}"), participant, model: None })
            }
            Participant::Model { .. } => {
                let mut models = reported_models(debate, |cue| debate.seat(cue).role == role);
                if models.len() > 1 {
                    return Err(UnratedReason::ModelChanged);
                }
                let model = models.pop_first().map(sanitize_name);
                Ok(RatedEntrant {
                    name: display_name(&participant, model.as_deref()),
                    participant,
                    model,
                })
            }
        }
    }

    /// Whether both may be the same model. Reported models are compared first, without vendor
    /// prefix. Otherwise the participants decide.
    pub(super) fn may_be_same_model(&self, other: &RatedEntrant) -> bool {
        if self.name == other.name {
            return true;
        }
        match (&self.model, &other.model) {
            (Some(one), Some(another)) => strip_vendor(one) == strip_vendor(another),
            _ => {
                self.participant != Participant::Bot
                    && self.participant.may_be_same_model(&other.participant)
            }
        }
    }
}

/// Name of a judge: its tool, with the model it reported for this cue.
pub(super) fn judge_name(debate: &Debate, cue: Cue) -> String {
    let model = reported_models(debate, |other| other == cue).pop_first().map(sanitize_name);
    display_name(&debate.seat(cue).voice, model.as_deref())
}

/// Key in the setup's terms that holds the bot name of a side.
fn bot_name_term(side: Side) -> &'static str {
    if side.role() == Role::Pro { "supporting_bot" } else { "opposing_bot" }
}

fn reported_models(debate: &Debate, include: impl Fn(Cue) -> bool) -> BTreeSet<&str> {
    let turns = debate.turns().filter(|(cue, _)| include(*cue));
    turns.filter_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.as_deref()).collect()
}

fn display_name(participant: &Participant, model: Option<&str>) -> String {
    match model {
        Some(model) if !participant.is_awaited() => format!("{}:{model}", participant.tool()),
        _ => participant.to_string(),
    }
}

/// Makes a foreign name safe for one line and truncates it.
fn sanitize_name(name: &str) -> String {
    let joined = name.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect()
}

/// Model name in lowercase, without a vendor prefix such as `openai/`.
fn strip_vendor(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}
