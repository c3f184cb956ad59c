//! Which debates are rated: complete ones with a verdict, between two sides known to be different
//! models. All others are counted by reason.
use super::entrant::Entrant;
use crate::debate::status::{labels, status};
use crate::debate::verdict::{VerdictBasis, judgment};
use crate::debate::{Debate, DebateOutcome, Origin, Side, Status};
use crate::engine::DebateCard;
use schemars::JsonSchema;
use serde::Serialize;

/// A rated debate as a game between two entrants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Id of the debate.
    pub debate: String,
    /// The topic. Games on the same motion are correlated, so intervals are computed by motion.
    pub motion: String,
    /// Entrant that argued for the motion.
    pub pro: String,
    /// Entrant that argued against it.
    pub con: String,
    pub score: Score,
    /// Whether a judge was, or may be, the model of one side.
    pub partial: bool,
}

/// Result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Score")]
pub enum Score {
    /// The proposer won.
    Pro,
    /// The verdict is contested: half a win for each.
    Draw,
    /// The challenger won.
    Con,
}

impl Score {
    /// Points of the proposer, from 0 to 1.
    pub fn points(self) -> f64 {
        match self {
            Score::Pro => 1.0,
            Score::Draw => 0.5,
            Score::Con => 0.0,
        }
    }
}

/// Why a debate is not rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Unrated")]
pub enum Unrated {
    /// It is not over.
    Unfinished,
    /// The user cancelled it.
    Cancelled,
    /// It failed or was aborted.
    Failed,
    /// A turn is missing.
    Degraded,
    /// One side stopped replying, and there was no ruling.
    Forfeited,
    /// It has no two sides, or no verdict between them.
    NoVerdict,
    /// It was imported.
    Imported,
    /// It is the demo.
    Demo,
    /// A participant was a script.
    Scripted,
    /// Both sides are, or may be, the same model.
    SingleModel,
    /// The model of an MCP client argued, and its name is unknown.
    UnknownModel,
    /// A bot without a name argued.
    UnnamedBot,
    /// A seat was handed over.
    HandedOver,
    /// More than one model replied for a side.
    ModelChanged,
    /// Its event log is invalid.
    Flawed,
}

impl Unrated {
    /// Reason for display, in a few words.
    pub fn says(self) -> &'static str {
        match self {
            Unrated::Unfinished => "not over",
            Unrated::Cancelled => "cancelled",
            Unrated::Failed => "failed: there was nothing to debate",
            Unrated::Degraded => "degraded: something that was to be said is missing",
            Unrated::Forfeited => "forfeited: one side fell silent, and nobody ruled",
            Unrated::NoVerdict => "no verdict between two sides",
            Unrated::Imported => "imported: held elsewhere",
            Unrated::Demo => "demo",
            Unrated::Scripted => "scripted: somebody read from a file",
            Unrated::SingleModel => "single-model: both sides are, or may be, the same",
            Unrated::UnknownModel => "argued by the model of a client, which is not known",
            Unrated::UnnamedBot => "argued by a bot without a name",
            Unrated::HandedOver => "a seat changed hands",
            Unrated::ModelChanged => "a side was answered for by more than one model",
            Unrated::Flawed => "its log cannot be believed",
        }
    }
}

/// Checks a debate by its card alone, so that logs of unrated debates need not be read.
pub fn by_card(card: &DebateCard) -> Result<(), Unrated> {
    let labelled = |label: &str| card.labels.iter().any(|it| it == label);
    let reads = |voice: &Option<String>| {
        voice.as_deref().is_some_and(|it| it == "script" || it.starts_with("script:"))
    };
    if labelled("demo") {
        return Err(Unrated::Demo);
    }
    if labelled("imported") {
        return Err(Unrated::Imported);
    }
    if reads(&card.proposer) || reads(&card.challenger) {
        return Err(Unrated::Scripted);
    }
    whole(card.status)?;
    if labelled("single-model") {
        return Err(Unrated::SingleModel);
    }
    if card.winner.is_none() {
        return Err(Unrated::NoVerdict);
    }
    Ok(())
}

/// Converts a debate to a rated game, or returns why it is not rated. A contested verdict is a
/// draw, for whatever reason, because it could have gone the other way.
pub fn game(debate: &Debate) -> Result<Game, Unrated> {
    let labels = labels(debate);
    if labels.contains(&"demo") {
        return Err(Unrated::Demo);
    }
    if debate.setup().origin != Origin::Here {
        return Err(Unrated::Imported);
    }
    if debate.seats().iter().any(|seat| seat.voice.tool() == "script") {
        return Err(Unrated::Scripted);
    }
    if matches!(debate.outcome(), Some(DebateOutcome::Forfeited { .. })) {
        return Err(Unrated::Forfeited);
    }
    whole(status(debate))?;
    let judgment = judgment(debate).ok_or(Unrated::NoVerdict)?;
    if judgment.basis == VerdictBasis::Forfeit {
        return Err(Unrated::Forfeited);
    }
    if !debate.seat_transfers().is_empty() {
        return Err(Unrated::HandedOver);
    }
    let (pro, con) = (Entrant::of(debate, Side::Pro)?, Entrant::of(debate, Side::Con)?);
    if labels.contains(&"single-model") || pro.may_be(&con) {
        return Err(Unrated::SingleModel);
    }
    let score = match judgment.winner {
        _ if judgment.is_contested() => Score::Draw,
        Side::Pro => Score::Pro,
        Side::Con => Score::Con,
    };
    Ok(Game {
        debate: debate.setup().id.clone(),
        motion: debate.current_topic().to_owned(),
        pro: pro.name,
        con: con.name,
        score,
        partial: labels.contains(&"partial-judge"),
    })
}

/// Checks that the debate is complete.
fn whole(status: Status) -> Result<(), Unrated> {
    match status {
        Status::Completed => Ok(()),
        Status::InProgress | Status::Paused => Err(Unrated::Unfinished),
        Status::Cancelled => Err(Unrated::Cancelled),
        Status::Degraded => Err(Unrated::Degraded),
        Status::Aborted | Status::Failed => Err(Unrated::Failed),
    }
}
