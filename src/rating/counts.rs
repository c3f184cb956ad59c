//! Which debates are rated. Only those that were played whole, between two who are known to differ,
//! and that came to a verdict; every other one is left out for a reason that is told.
use super::entrant::Entrant;
use crate::debate::standing::{labels, status};
use crate::debate::verdict::{Basis, judgment};
use crate::debate::{Debate, Origin, Outcome, Side, Status};
use crate::engine::Card;
use schemars::JsonSchema;
use serde::Serialize;

/// A debate that is rated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    /// Its id.
    pub debate: String,
    /// The question: what was argued about once may be argued about again, and is no new evidence of
    /// the same weight.
    pub motion: String,
    /// Who argued for.
    pub pro: String,
    /// Who argued against.
    pub con: String,
    /// What came of it.
    pub score: Score,
    /// Whether one of the two, or what may be the same model, also judged.
    pub partial: bool,
}

/// What a verdict counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// Whoever argued for has won.
    Pro,
    /// The verdict is contested: half a win for each.
    Draw,
    /// Whoever argued against has won.
    Con,
}

impl Score {
    /// The part of a win that is the proposer's.
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
pub enum Unrated {
    /// Something is still due.
    Unfinished,
    /// The user stopped it.
    Cancelled,
    /// Nothing, or too little, was said.
    Failed,
    /// Somebody's turn is missing.
    Degraded,
    /// One side fell silent, and nobody ruled.
    Forfeited,
    /// There are no two sides, or nobody picked one.
    NoVerdict,
    /// It was held elsewhere.
    Imported,
    /// It shows how debates go.
    Demo,
    /// Somebody read from a script.
    Scripted,
    /// Both sides are, or may be, one model.
    SingleModel,
    /// The model of a client argued, and nobody knows which that was.
    UnknownModel,
    /// A bot argued that has no name.
    UnnamedBot,
    /// A seat changed hands.
    HandedOver,
    /// A side was answered for by more than one model.
    ModelChanged,
    /// Its log is not one this program could have written.
    Flawed,
}

impl Unrated {
    /// In a few words.
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

/// Whether a debate could be rated as far as a list tells: whoever fails here need not be read.
pub fn by_card(card: &Card) -> Result<(), Unrated> {
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

/// The game a debate is, or why it is none. Contested verdicts count as half a win for each side,
/// whatever they are contested for: they could as well have come out otherwise.
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
    if matches!(debate.outcome(), Some(Outcome::Forfeited { .. })) {
        return Err(Unrated::Forfeited);
    }
    whole(status(debate))?;
    let judgment = judgment(debate).ok_or(Unrated::NoVerdict)?;
    if judgment.basis == Basis::Forfeit {
        return Err(Unrated::Forfeited);
    }
    if !debate.handed().is_empty() {
        return Err(Unrated::HandedOver);
    }
    let (pro, con) = (Entrant::of(debate, Side::Pro)?, Entrant::of(debate, Side::Con)?);
    if labels.contains(&"single-model") || pro.may_be(&con) {
        return Err(Unrated::SingleModel);
    }
    let score = match judgment.winner {
        _ if judgment.contested() => Score::Draw,
        Side::Pro => Score::Pro,
        Side::Con => Score::Con,
    };
    Ok(Game {
        debate: debate.setup().id.clone(),
        motion: debate.question().to_owned(),
        pro: pro.name,
        con: con.name,
        score,
        partial: labels.contains(&"partial-judge"),
    })
}

/// Whether all of it was played.
fn whole(status: Status) -> Result<(), Unrated> {
    match status {
        Status::Completed => Ok(()),
        Status::InProgress | Status::Paused => Err(Unrated::Unfinished),
        Status::Cancelled => Err(Unrated::Cancelled),
        Status::Degraded => Err(Unrated::Degraded),
        Status::Aborted | Status::Failed => Err(Unrated::Failed),
    }
}
