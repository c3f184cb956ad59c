//! [`DebateDraft`]: a debate before it is created, in three parts: [`DebateSpec`] (what and how),
//! [`Cast`] (who) and [`DebateContext`] (with which files). It builds the [`Setup`] that is stored
//! with the debate.
use super::cast::Cast;
use super::error::AppError;
use super::spec::{DebateContext, DebateSpec};
use crate::debate::setup::{GRAMMAR_VERSION, WORDING_VERSION};
use crate::debate::{DebateLimits, Role, Seat, Setup};
use crate::engine::format_catalog::FormatCatalog;

/// A debate that is ready to be created: what is debated, by whom, and with which context.
#[derive(Clone, Debug)]
pub struct DebateDraft {
    pub spec: DebateSpec,
    pub cast: Cast,
    pub context: DebateContext,
}

impl DebateDraft {
    /// Validates the draft and builds the setup. The caller passes the random id and salt and the
    /// time, which keeps it deterministic.
    pub(super) fn build_setup(
        &self,
        catalog: &FormatCatalog,
        id: String,
        salt: String,
        now: i64,
    ) -> Result<Setup, AppError> {
        let DebateDraft { spec, cast, context } = self;
        let entry = catalog.find(&spec.format)?;
        let offer = &entry.offer;
        let rounds = spec.rounds.unwrap_or(offer.default_rounds);
        if !offer.rounds.contains(&rounds) {
            let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
            return Err(AppError::RoundsOutOfRange { asked: rounds.into(), least, most });
        }
        let seats = cast.build_seats(spec, entry)?;
        if offer.impartial_judge && !spec.same_judge {
            check_impartial(&seats)?;
        }
        let has_sides = seats.iter().any(|seat| seat.role.side().is_some());
        if !has_sides && (spec.sealed || spec.stop_when_settled) {
            return Err(AppError::InvalidOption(format!(
                "sealed answers and stopping when settled need two sides, which `{}` does not have",
                spec.format
            )));
        }
        let (shortest, longest) = (*offer.speech_chars.start(), *offer.speech_chars.end());
        let limits = DebateLimits {
            shortest,
            longest,
            budget: spec.budget,
            turn_seconds: spec.turn_seconds,
            await_seconds: spec.await_seconds,
            ..DebateLimits::default()
        };
        Ok(Setup {
            grammar: GRAMMAR_VERSION,
            wording: WORDING_VERSION,
            id,
            opened_at: now,
            topic: spec.topic.trim().to_owned(),
            brief: context.brief.clone(),
            touched: context.touched_paths.clone(),
            proposed: spec.reviewed_change.clone(),
            picked: context.picked.clone(),
            pin: context.pin.clone(),
            commit: context.commit.clone(),
            unread: context.unreadable_reason.clone(),
            chosen: cast.choices.clone(),
            seats,
            prompts: spec.build_prompts(entry),
            format: spec.build_format(offer.format.clone()),
            terms: spec.terms.clone(),
            judge_share: spec.judge_share,
            output: spec.report_path.clone(),
            stop_when_settled: spec.stop_when_settled,
            rounds,
            effort: spec.effort,
            holds: spec.holds.clone(),
            limits,
            origin: spec.origin.clone(),
            salt,
        })
    }
}

/// Checks that no judge is also a debater.
fn check_impartial(seats: &[Seat]) -> Result<(), AppError> {
    let judges = seats.iter().filter(|seat| seat.role == Role::Judge);
    let sides: Vec<&Seat> = seats.iter().filter(|seat| seat.role.side().is_some()).collect();
    for judge in judges {
        if let Some(side) = sides.iter().find(|side| judge.voice.may_be_same_model(&side.voice)) {
            let (voice, name) = (judge.voice.to_string(), side.name.clone());
            return Err(AppError::BiasedJudge { voice, name });
        }
    }
    Ok(())
}
