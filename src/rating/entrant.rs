//! Whom a rating belongs to: a tool with the model it reported. The tool is part of the name,
//! because the same model argues differently in another tool.
use super::counts::Unrated;
use crate::debate::{Cue, Debate, Participant, Role, Side};
use std::collections::BTreeSet;

/// Name limit in characters, because bots and tools choose their names.
const LONGEST: usize = 60;

/// One side of a debate, as it is rated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// Name on the leaderboard.
    pub name: String,
    /// Participant of the seat.
    pub voice: Participant,
    /// Model that the provider reported, if any.
    pub model: Option<String>,
}

impl Entrant {
    /// The entrant that argued for a side. An error if the model changed or is unknown.
    pub fn of(debate: &Debate, side: Side) -> Result<Entrant, Unrated> {
        let role = side.role();
        let Some(seat) = debate.find_seat(role) else { return Err(Unrated::NoVerdict) };
        let voice = seat.voice.clone();
        match &voice {
            Participant::Host => Err(Unrated::UnknownModel),
            Participant::Human => Ok(Entrant { name: voice.to_string(), voice, model: None }),
            Participant::Bot => {
                let name = debate.terms().get(bot_term(side)).map(String::as_str).map(named);
                let name = name.filter(|name| !name.is_empty()).ok_or(Unrated::UnnamedBot)?;
                Ok(Entrant { name: format!("bot {name}"), voice, model: None })
            }
            Participant::Model { .. } => {
                let mut models = reported(debate, |cue| debate.seat(cue).role == role);
                if models.len() > 1 {
                    return Err(Unrated::ModelChanged);
                }
                let model = models.pop_first().map(named);
                Ok(Entrant { name: written(&voice, model.as_deref()), voice, model })
            }
        }
    }

    /// Whether both may be the same model. Reported models are compared first, without vendor
    /// prefix. Otherwise the participants decide.
    pub fn may_be(&self, other: &Entrant) -> bool {
        if self.name == other.name {
            return true;
        }
        match (&self.model, &other.model) {
            (Some(one), Some(another)) => bare(one) == bare(another),
            _ => self.voice != Participant::Bot && self.voice.may_be_same_model(&other.voice),
        }
    }
}

/// Name of a judge: its tool, with the model it reported for this cue.
pub fn judge(debate: &Debate, cue: Cue) -> String {
    let model = reported(debate, |other| other == cue).pop_first().map(named);
    written(&debate.seat(cue).voice, model.as_deref())
}

/// Key in the setup's terms that holds the bot name of a side.
pub fn bot_term(side: Side) -> &'static str {
    if side.role() == Role::Pro { "supporting_bot" } else { "opposing_bot" }
}

fn reported(debate: &Debate, own: impl Fn(Cue) -> bool) -> BTreeSet<&str> {
    let turns = debate.turns().filter(|(cue, _)| own(*cue));
    turns.filter_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.as_deref()).collect()
}

fn written(voice: &Participant, model: Option<&str>) -> String {
    match model {
        Some(model) if !voice.is_awaited() => format!("{}:{model}", voice.tool()),
        _ => voice.to_string(),
    }
}

/// Makes a foreign name safe for one line and truncates it.
fn named(name: &str) -> String {
    let plain = name.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

/// Model name in lowercase, without a vendor prefix such as `openai/`.
fn bare(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}
