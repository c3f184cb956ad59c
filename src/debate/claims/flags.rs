//! Heuristics over the record: conduct flags for readers and judges, and detection of rounds that
//! add nothing new.
//!
//! The entry points are `find_flags` and `settled_reason`. Everything is computed from the record
//! and never stored.
use crate::debate::claims::ledger::{self, ClaimStatus};
use crate::debate::record::body::{Body, Claim};
use crate::debate::record::event::Reply;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{ReplyKind, Side};
use crate::debate::setup::rule::{Rule, RuleWeight};
use crate::debate::text::words::collapse_whitespace;
use std::collections::HashSet;

/// A problem with the conduct of a side, for readers and judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebateFlag {
    /// The turn that shows it.
    pub cue: Cue,
    /// The side at fault.
    pub side: Side,
    pub kind: FlagKind,
    /// One sentence. Names claims by id only, so it can appear in prompts outside quote markers.
    pub message: String,
}

/// Kind of a flag.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// A side denied what it had conceded, without new verified evidence.
    WalkBack,
    /// A side gave up a position although the other side had offered nothing new.
    GaveWay,
    /// A side never answered an opposing claim.
    Unanswered,
    /// A turn has no new claim, no new evidence and no concession.
    Repeats,
}

/// Returns all flags of the turns before `until`, in the order of the debate.
pub fn find_flags(debate: &Debate, until: Cue) -> Vec<DebateFlag> {
    let mut flags = walk_back_flags(debate, until);
    for (cue, turn) in debate.turns_in(..until) {
        let (Ok(reply), Some(side)) = (turn, debate.seat(cue).role.side()) else { continue };
        flags.extend(gave_way_flags(debate, cue, side, &reply.body));
        if !forbids_new_claims(debate, cue) && is_repetition(debate, cue, reply) {
            let message = "a turn without a new claim, new evidence or a concession".into();
            flags.push(DebateFlag { cue, side, kind: FlagKind::Repeats, message });
        }
    }
    flags.extend(unanswered_flags(debate, until));
    flags.sort_by_key(|flag| (flag.cue, flag.kind));
    flags
}

/// Whether new claims are forbidden in this phase, so that repetition is no fault.
fn forbids_new_claims(debate: &Debate, cue: Cue) -> bool {
    let mut rules = debate.setup().phase(cue).rules.iter();
    rules.any(|rule| *rule == (Rule::NoNewClaims, RuleWeight::Reask))
}

fn walk_back_flags(debate: &Debate, until: Cue) -> Vec<DebateFlag> {
    let unsupported = ledger::walk_backs(debate, until)
        .into_iter()
        .filter(|walk_back| !walk_back.has_new_evidence);
    let flag = |walk_back: ledger::WalkBack<'_>| {
        let side = debate.seat(walk_back.denied_at).role.side()?;
        let (id, round) = (&walk_back.denial.id, walk_back.conceded_at.round);
        let message = format!(
            "`{id}` takes back what was conceded in round {round}, without new verified evidence"
        );
        Some(DebateFlag { cue: walk_back.denied_at, side, kind: FlagKind::WalkBack, message })
    };
    unsupported.filter_map(flag).collect()
}

/// Flags positions given up without a recorded reason: a concession of a claim that the side had
/// seen before its last turn and that got no new support since, or a resolution of a claim that the
/// other side never answered.
fn gave_way_flags(debate: &Debate, cue: Cue, side: Side, body: &Body) -> Vec<DebateFlag> {
    let flag = |message: String| DebateFlag { cue, side, kind: FlagKind::GaveWay, message };
    let replies_of = |speaker_side: Side, cues: std::ops::Range<Cue>| {
        debate
            .replies_in(cues)
            .filter(move |(past, _)| debate.seat(*past).role.side() == Some(speaker_side))
    };
    let start = Cue { act: 0, round: 0, phase: 0, seat: 0 };
    let last_turn = replies_of(side, start..cue).map(|(past, _)| past).next_back();
    let conceded = body.concessions().iter().filter(|concession| {
        let Some(last_turn) = last_turn else { return false };
        let claims = |cues| replies_of(side.other(), cues).flat_map(|(_, body)| body.claims());
        let was_known =
            claims(start..debate.wave_start(last_turn)).any(|claim| claim.id == concession.claim);
        // New support since: the claim was repeated, or an objection to it was answered.
        let objection_ids: Vec<&str> = replies_of(side, start..cue)
            .flat_map(|(_, body)| body.claims())
            .filter(|own| own.answers.contains(&concession.claim))
            .map(|own| own.id.as_str())
            .collect();
        let was_supported =
            claims(debate.wave_start(last_turn)..debate.wave_start(cue)).any(|claim| {
                claim.id == concession.claim
                    || claim.answers.iter().any(|id| objection_ids.contains(&id.as_str()))
            });
        was_known && !was_supported
    });
    let conceded = conceded.map(|concession| {
        flag(format!("`{}` is conceded though nothing new was offered for it", concession.claim))
    });
    let resolved = body.resolutions().iter().filter(|resolution| {
        let answers = |claim: &Claim| claim.answers.contains(&resolution.claim);
        let opposing_replies = replies_of(side.other(), start..debate.wave_start(cue));
        let was_answered = opposing_replies.into_iter().any(|(_, body)| {
            let concession =
                body.concessions().iter().any(|concession| concession.claim == resolution.claim);
            concession || body.claims().iter().any(answers)
        });
        !was_answered
    });
    let resolved = resolved.map(|resolution| {
        flag(format!(
            "`{}` is certified as resolved though it was never answered",
            resolution.claim
        ))
    });
    conceded.chain(resolved).collect()
}

/// Flags opposing claims that a side had a turn to answer, but did not.
fn unanswered_flags(debate: &Debate, until: Cue) -> Vec<DebateFlag> {
    let last_turn = |side: Side| {
        let replies = debate
            .replies_in(..until)
            .filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
        replies.map(|(cue, _)| debate.wave_start(cue)).max()
    };
    let entries = ledger::entries(debate, until).into_iter();
    let unanswered = entries.filter(|entry| {
        entry.status == ClaimStatus::Unanswered && Some(entry.cue) < last_turn(entry.side.other())
    });
    let flag = |entry: ledger::LedgerEntry<'_>| DebateFlag {
        cue: entry.cue,
        side: entry.side.other(),
        kind: FlagKind::Unanswered,
        message: format!("`{}` was never answered", entry.claim.id),
    };
    unanswered.map(flag).collect()
}

/// Whether a turn adds nothing: no new claim, no new evidence, no concession and no resolution. A
/// speech without a claims block counts only if its text is identical to an earlier one.
fn is_repetition(debate: &Debate, cue: Cue, reply: &Reply) -> bool {
    let body = &reply.body;
    let Body::Speech { text, .. } = body else { return false };
    let earlier_bodies = || {
        debate.replies_before(cue).filter(|(past, _)| past.seat == cue.seat).map(|(_, body)| body)
    };
    if earlier_bodies().next().is_none() {
        return false;
    }
    if !body.is_structured() {
        return earlier_bodies()
            .any(|past| collapse_whitespace(&past.to_text()) == collapse_whitespace(text));
    }
    let claims = || earlier_bodies().flat_map(Body::claims);
    let new_claim = body.claims().iter().any(|claim| {
        !claims().any(|past| {
            past.id == claim.id
                || collapse_whitespace(&past.text) == collapse_whitespace(&claim.text)
        })
    });
    // With a repository to check against, only verified citations count as evidence.
    let new_evidence = if debate.setup().pin.is_some() {
        reply.citations.iter().any(|citation| ledger::is_new_evidence(debate, cue, citation))
    } else {
        let was_offered =
            |evidence: &&String| claims().any(|past| past.evidence.contains(evidence));
        body.claims().iter().flat_map(|claim| &claim.evidence).any(|it| !was_offered(&it))
    };
    let concedes = !body.concessions().is_empty() || !body.resolutions().is_empty();
    !new_claim && !new_evidence && !concedes
}

/// Length of a shingle (character n-gram) for the repetition check.
const SHINGLE_CHARS: usize = 12;
/// Share of known shingles from which a speech counts as a repetition, in percent.
const MIN_REPEATED_PERCENT: usize = 70;

/// Whether every speech of a round repeats earlier ones: at least 70 % of its shingles occur in
/// earlier speeches of the same seat. A text heuristic, used only for suggestions.
pub(in crate::debate) fn is_repetitive_round(debate: &Debate, round: u8) -> bool {
    let is_speech = |cue: &Cue| debate.setup().phase(*cue).reply == ReplyKind::Speech;
    let mut turns =
        debate.replies_in(..).filter(|(cue, _)| cue.round == round && is_speech(cue)).peekable();
    turns.peek().is_some()
        && turns.all(|(cue, body)| {
            let earlier_replies = debate
                .replies_before(cue)
                .filter(|(past, _)| past.seat == cue.seat && is_speech(past));
            let earlier_shingles: HashSet<Vec<char>> =
                earlier_replies.flat_map(|(_, body)| shingles(&body.to_text())).collect();
            let current = shingles(&body.to_text());
            let repeated =
                current.iter().filter(|shingle| earlier_shingles.contains(*shingle)).count();
            !current.is_empty() && repeated * 100 >= current.len() * MIN_REPEATED_PERCENT
        })
}

fn shingles(text: &str) -> Vec<Vec<char>> {
    let letters: Vec<char> =
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    letters.windows(SHINGLE_CHARS).map(<[char]>::to_vec).collect()
}

/// Reason why a round leaves nothing to argue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::debate) enum SettledReason {
    /// Both sides spoke and neither added anything new.
    Repetition,
    /// No claim against the proposal is still open.
    NothingOpen,
}

impl SettledReason {
    /// Describes the reason for users.
    pub(in crate::debate) fn describe(self, round: u8) -> String {
        match self {
            SettledReason::Repetition => {
                format!("round {round} brought no new claim and no new evidence")
            }
            SettledReason::NothingOpen => {
                format!("after round {round} nothing is left that the sides differ about")
            }
        }
    }
}

/// Returns why nothing is left to argue after this round. None for round 1, in which the sides have
/// not answered each other yet.
pub(in crate::debate) fn settled_reason(debate: &Debate, round: u8) -> Option<SettledReason> {
    let turns: Vec<(Cue, Side, &Reply)> = debate
        .turns()
        .filter(|(cue, _)| cue.round == round)
        .filter_map(|(cue, turn)| Some((cue, debate.seat(cue).role.side()?, turn.as_ref().ok()?)))
        .filter(|(_, _, reply)| matches!(reply.body, Body::Speech { .. }))
        .collect();
    let has_spoken = |speaker: Side| turns.iter().any(|(_, side, _)| *side == speaker);
    if round < 2 || !has_spoken(Side::Pro) || !has_spoken(Side::Con) {
        return None;
    }
    if turns.iter().all(|(cue, _, reply)| is_repetition(debate, *cue, reply)) {
        return Some(SettledReason::Repetition);
    }
    let until = turns.iter().map(|(cue, _, _)| *cue).max()?;
    let entries = ledger::entries(debate, Cue { seat: u8::MAX, ..until });
    let structured = turns.iter().all(|(_, _, reply)| reply.body.is_structured());
    let raised = entries.iter().any(|entry| entry.side == Side::Con);
    let any_open = entries.iter().any(ledger::LedgerEntry::is_open);
    (structured && raised && !any_open).then_some(SettledReason::NothingOpen)
}

#[cfg(test)]
mod tests;
