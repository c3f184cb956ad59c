//! Values as judges and audiences write them: sides, fractions and scores.
use super::parse_error::ParseFault;
use crate::debate::setup::format::{Role, Side};
use serde::Deserialize;

/// A side as written by judges and audiences. The meaning of `A` and `B` depends on the listener,
/// that of `pro` and `con` does not.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum WireSide {
    #[serde(alias = "Side A", alias = "side A")]
    A,
    #[serde(alias = "Side B", alias = "side B")]
    B,
    #[serde(alias = "proposer", alias = "supporting", alias = "Proposer")]
    #[serde(rename = "pro")]
    Pro,
    #[serde(alias = "challenger", alias = "opposing", alias = "Challenger")]
    #[serde(rename = "con")]
    Con,
}

impl WireSide {
    pub(super) fn resolve(self, listener: Role) -> Side {
        let first = if listener == Role::Mirror { Side::Con } else { Side::Pro };
        match self {
            WireSide::Pro => Side::Pro,
            WireSide::Con => Side::Con,
            WireSide::A => first,
            WireSide::B => first.other(),
        }
    }
}

/// Collects exactly one value per side, the proposer's first.
pub(super) fn collect_by_side<T>(
    entries: impl IntoIterator<Item = (WireSide, T)>,
    role: Role,
) -> Result<(T, T), ParseFault> {
    let (mut pro, mut con) = (None, None);
    for (label, value) in entries {
        let slot = match label.resolve(role) {
            Side::Pro => &mut pro,
            Side::Con => &mut con,
        };
        if slot.replace(value).is_some() {
            return Err(ParseFault("wrong_shape", "a side is given twice".into()));
        }
    }
    pro.zip(con).ok_or_else(|| ParseFault("wrong_shape", "both `A` and `B` must be given".into()))
}

/// Converts a fraction from 0 to 1 to hundredths.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn to_hundredths(fraction: f64) -> Result<u8, ParseFault> {
    if (0.0..=1.0).contains(&fraction) {
        return Ok((fraction * 100.0).round() as u8);
    }
    Err(ParseFault("out_of_range", format!("confidence is {fraction}; it must be 0 to 1")))
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn to_score(score: f64) -> Result<u8, ParseFault> {
    if (0.0..=100.0).contains(&score) {
        return Ok(score.round() as u8);
    }
    Err(ParseFault("out_of_range", format!("a score is {score}; it must be 0 to 100")))
}
