//! Which debates are rated: complete ones with a verdict, between two sides known to be different
//! models. All others are counted by reason.
use super::entrant::RatedEntrant;
use super::unrated_reason::UnratedReason;
use crate::debate::status::{labels, status};
use crate::debate::verdict::{VerdictBasis, judgment};
use crate::debate::{Debate, DebateOutcome, Origin, Side, Status};
use crate::engine::DebateCard;
use schemars::JsonSchema;
use serde::Serialize;

/// A rated debate as a game between two entrants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatedGame {
    /// Id of the debate.
    pub debate_id: String,
    /// The topic. Games on the same motion are correlated, so intervals are computed by motion.
    pub motion: String,
    /// Entrant that argued for the motion.
    pub pro: String,
    /// Entrant that argued against it.
    pub con: String,
    pub score: GameScore,
    /// Whether a judge was, or may be, the model of one side.
    pub biased_judge: bool,
}

/// Result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Score")]
pub enum GameScore {
    /// The proposer won.
    Pro,
    /// The verdict is contested: half a win for each.
    Draw,
    /// The challenger won.
    Con,
}

impl GameScore {
    /// Points of the proposer, from 0 to 1.
    pub fn points(self) -> f64 {
        match self {
            GameScore::Pro => 1.0,
            GameScore::Draw => 0.5,
            GameScore::Con => 0.0,
        }
    }
}

/// Checks a debate by its card alone, so that logs of unrated debates need not be read.
pub(super) fn check_card(card: &DebateCard) -> Result<(), UnratedReason> {
    let has_label = |label: &str| card.labels.iter().any(|it| it == label);
    let is_script = |voice: &Option<String>| {
        voice.as_deref().is_some_and(|it| it == "script" || it.starts_with("script:"))
    };
    if has_label("demo") {
        return Err(UnratedReason::Demo);
    }
    if has_label("imported") {
        return Err(UnratedReason::Imported);
    }
    if is_script(&card.proposer) || is_script(&card.challenger) {
        return Err(UnratedReason::Scripted);
    }
    check_complete(card.status)?;
    if has_label("single-model") {
        return Err(UnratedReason::SingleModel);
    }
    if card.winner.is_none() {
        return Err(UnratedReason::NoVerdict);
    }
    Ok(())
}

/// Converts a debate to a rated game, or returns why it is not rated. A contested verdict is a
/// draw, for whatever reason, because it could have gone the other way.
pub(super) fn to_rated_game(debate: &Debate) -> Result<RatedGame, UnratedReason> {
    let labels = labels(debate);
    if labels.contains(&"demo") {
        return Err(UnratedReason::Demo);
    }
    if debate.setup().origin != Origin::Here {
        return Err(UnratedReason::Imported);
    }
    if debate.seats().iter().any(|seat| seat.voice.tool() == "script") {
        return Err(UnratedReason::Scripted);
    }
    if matches!(debate.outcome(), Some(DebateOutcome::Forfeited { .. })) {
        return Err(UnratedReason::Forfeited);
    }
    check_complete(status(debate))?;
    let judgment = judgment(debate).ok_or(UnratedReason::NoVerdict)?;
    if judgment.basis == VerdictBasis::Forfeit {
        return Err(UnratedReason::Forfeited);
    }
    if !debate.seat_transfers().is_empty() {
        return Err(UnratedReason::HandedOver);
    }
    let (pro, con) = (
        RatedEntrant::from_debate(debate, Side::Pro)?,
        RatedEntrant::from_debate(debate, Side::Con)?,
    );
    if labels.contains(&"single-model") || pro.may_be_same_model(&con) {
        return Err(UnratedReason::SingleModel);
    }
    let score = match judgment.winner {
        _ if judgment.is_contested() => GameScore::Draw,
        Side::Pro => GameScore::Pro,
        Side::Con => GameScore::Con,
    };
    Ok(RatedGame {
        debate_id: debate.setup().id.clone(),
        motion: debate.current_topic().to_owned(),
        pro: pro.name,
        con: con.name,
        score,
        biased_judge: labels.contains(&"partial-judge"),
    })
}

/// Checks that the debate is complete.
fn check_complete(status: Status) -> Result<(), UnratedReason> {
    match status {
        Status::Completed => Ok(()),
        Status::InProgress | Status::Paused => Err(UnratedReason::Unfinished),
        Status::Cancelled => Err(UnratedReason::Cancelled),
        Status::Degraded => Err(UnratedReason::Degraded),
        Status::Aborted | Status::Failed => Err(UnratedReason::Failed),
    }
}

#[cfg(test)]
mod tests;
