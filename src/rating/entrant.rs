//! Whom a rating belongs to: the voice as it is written, with the model that says it has answered
//! where that is known. A tool is part of it, because the same model argues otherwise in another.
use super::counts::Unrated;
use crate::debate::{Cue, Debate, Role, Side, Voice};
use std::collections::BTreeSet;

/// Characters of a name, at most: bots and tools choose theirs.
const LONGEST: usize = 60;

/// One side of a debate, as it is rated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// What it is listed under.
    pub name: String,
    /// As its seat is written.
    pub voice: Voice,
    /// The model that says it has answered, where one does.
    pub model: Option<String>,
}

impl Entrant {
    /// Whoever argued for a side, if that was one and the same all the time.
    pub fn of(debate: &Debate, side: Side) -> Result<Entrant, Unrated> {
        let role = side.role();
        let Some(seat) = debate.seated(role) else { return Err(Unrated::NoVerdict) };
        let voice = seat.voice.clone();
        match &voice {
            Voice::Host => Err(Unrated::UnknownModel),
            Voice::Human => Ok(Entrant { name: voice.to_string(), voice, model: None }),
            Voice::Bot => {
                let name = debate.terms().get(bot_term(side)).map(String::as_str).map(named);
                let name = name.filter(|name| !name.is_empty()).ok_or(Unrated::UnnamedBot)?;
                Ok(Entrant { name: format!("bot {name}"), voice, model: None })
            }
            Voice::Model { .. } => {
                let mut models = reported(debate, |cue| debate.seat(cue).role == role);
                if models.len() > 1 {
                    return Err(Unrated::ModelChanged);
                }
                let model = models.pop_first().map(named);
                Ok(Entrant { name: written(&voice, model.as_deref()), voice, model })
            }
        }
    }

    /// Whether both may be one model. Two tools that report the same one are; one tool that reports
    /// two is not, whatever its seats are called.
    pub fn may_be(&self, other: &Entrant) -> bool {
        if self.name == other.name {
            return true;
        }
        match (&self.model, &other.model) {
            (Some(one), Some(another)) => bare(one) == bare(another),
            _ => self.voice != Voice::Bot && self.voice.may_be(&other.voice),
        }
    }
}

/// What a judge is listed under: its voice, with the model that ruled where that is known.
pub fn judge(debate: &Debate, cue: Cue) -> String {
    let model = reported(debate, |other| other == cue).pop_first().map(named);
    written(&debate.seat(cue).voice, model.as_deref())
}

/// The term of the setup that names the bot of a side.
pub fn bot_term(side: Side) -> &'static str {
    if side.role() == Role::Pro { "supporting_bot" } else { "opposing_bot" }
}

fn reported(debate: &Debate, own: impl Fn(Cue) -> bool) -> BTreeSet<&str> {
    let turns = debate.turns().filter(|(cue, _)| own(*cue));
    turns.filter_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.as_deref()).collect()
}

fn written(voice: &Voice, model: Option<&str>) -> String {
    match model {
        Some(model) if !voice.awaited() => format!("{}:{model}", voice.tool()),
        _ => voice.to_string(),
    }
}

/// A name somebody else chose, as a short line.
fn named(name: &str) -> String {
    let plain = name.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

/// A model without the vendor some tools put before it.
fn bare(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}
