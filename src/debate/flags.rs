//! Heuristics over the record: conduct flags for readers and judges, and detection of rounds that
//! add nothing new.
//!
//! The entry points are `find_flags` and `settled_reason`. Everything is computed from the record
//! and never stored.
use super::body::{Body, Claim, Kind};
use super::digest::squeeze;
use super::event::{Cue, Reply};
use super::format::Side;
use super::ledger::{self, Fate};
use super::rules::{Rule, Weight};
use super::state::Debate;
use std::collections::HashSet;

/// A problem with the conduct of a side, for readers and judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The turn that shows it.
    pub cue: Cue,
    /// The side at fault.
    pub side: Side,
    pub kind: FlagKind,
    /// One sentence. Names claims by id only, so it can appear in prompts outside quote markers.
    pub says: String,
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
pub fn flags(debate: &Debate, until: Cue) -> Vec<Flag> {
    let mut flags = walk_backs(debate, until);
    for (cue, turn) in debate.within(..until) {
        let (Ok(reply), Some(side)) = (turn, debate.seat(cue).role.side()) else { continue };
        flags.extend(gave_way(debate, cue, side, &reply.body));
        if !closes(debate, cue) && repeats(debate, cue, reply) {
            let says = "a turn without a new claim, new evidence or a concession".into();
            flags.push(Flag { cue, side, kind: FlagKind::Repeats, says });
        }
    }
    flags.extend(unanswered(debate, until));
    flags.sort_by_key(|flag| (flag.cue, flag.kind));
    flags
}

/// Whether new claims are forbidden in this phase, so that repetition is no fault.
fn closes(debate: &Debate, cue: Cue) -> bool {
    let mut rules = debate.setup().phase(cue).rules.iter();
    rules.any(|rule| *rule == (Rule::NoNewClaims, Weight::Reask))
}

fn walk_backs(debate: &Debate, until: Cue) -> Vec<Flag> {
    let bare = ledger::walk_backs(debate, until).into_iter().filter(|back| !back.backed);
    let flag = |back: ledger::WalkBack<'_>| {
        let side = debate.seat(back.denied).role.side()?;
        let (id, round) = (&back.by.id, back.conceded.round);
        let says = format!(
            "`{id}` takes back what was conceded in round {round}, without new verified evidence"
        );
        Some(Flag { cue: back.denied, side, kind: FlagKind::WalkBack, says })
    };
    bare.filter_map(flag).collect()
}

/// Flags positions given up without a recorded reason: a concession of a claim that the side had
/// seen before its last turn and that got no new support since, or a resolution of a claim that the
/// other side never answered.
fn gave_way(debate: &Debate, cue: Cue, side: Side, body: &Body) -> Vec<Flag> {
    let flag = |says: String| Flag { cue, side, kind: FlagKind::GaveWay, says };
    let said = |of: Side, cues: std::ops::Range<Cue>| {
        debate.spoken(cues).filter(move |(at, _)| debate.seat(*at).role.side() == Some(of))
    };
    let start = Cue { act: 0, round: 0, phase: 0, seat: 0 };
    let last = said(side, start..cue).map(|(at, _)| at).next_back();
    let conceded = body.concedes().iter().filter(|given| {
        let Some(last) = last else { return false };
        let claims = |cues| said(side.other(), cues).flat_map(|(_, body)| body.claims());
        let heard = claims(start..debate.horizon(last)).any(|claim| claim.id == given.claim);
        // New support since: the claim was repeated, or an objection to it was answered.
        let against: Vec<&str> = said(side, start..cue)
            .flat_map(|(_, body)| body.claims())
            .filter(|own| own.answers.contains(&given.claim))
            .map(|own| own.id.as_str())
            .collect();
        let since = claims(debate.horizon(last)..debate.horizon(cue)).any(|claim| {
            claim.id == given.claim || claim.answers.iter().any(|id| against.contains(&id.as_str()))
        });
        heard && !since
    });
    let conceded = conceded.map(|given| {
        flag(format!("`{}` is conceded though nothing new was offered for it", given.claim))
    });
    let resolved = body.resolves().iter().filter(|resolution| {
        let answers = |claim: &Claim| claim.answers.contains(&resolution.claim);
        let other = said(side.other(), start..debate.horizon(cue));
        let taken_up = other.into_iter().any(|(_, body)| {
            let given = body.concedes().iter().any(|given| given.claim == resolution.claim);
            given || body.claims().iter().any(answers)
        });
        !taken_up
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
fn unanswered(debate: &Debate, until: Cue) -> Vec<Flag> {
    let last = |side: Side| {
        let own =
            debate.spoken(..until).filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
        own.map(|(cue, _)| debate.horizon(cue)).max()
    };
    let entries = ledger::entries(debate, until).into_iter();
    let missed = entries.filter(|entry| {
        entry.fate == Fate::Unanswered && Some(entry.cue) < last(entry.side.other())
    });
    let flag = |entry: ledger::Entry<'_>| Flag {
        cue: entry.cue,
        side: entry.side.other(),
        kind: FlagKind::Unanswered,
        says: format!("`{}` was never answered", entry.claim.id),
    };
    missed.map(flag).collect()
}

/// Whether a turn adds nothing: no new claim, no new evidence, no concession and no resolution. A
/// speech without a claims block counts only if its text is identical to an earlier one.
pub fn repeats(debate: &Debate, cue: Cue, reply: &Reply) -> bool {
    let body = &reply.body;
    let Body::Speech { text, .. } = body else { return false };
    let own = || debate.before(cue).filter(|(past, _)| past.seat == cue.seat).map(|(_, body)| body);
    if own().next().is_none() {
        return false;
    }
    if !body.structured() {
        return own().any(|past| squeeze(&past.text()) == squeeze(text));
    }
    let claims = || own().flat_map(Body::claims);
    let new_claim = body.claims().iter().any(|claim| {
        !claims().any(|past| past.id == claim.id || squeeze(&past.text) == squeeze(&claim.text))
    });
    // With a repository to check against, only verified citations count as evidence.
    let new_evidence = if debate.setup().pin.is_some() {
        reply.citations.iter().any(|citation| ledger::is_news(debate, cue, citation))
    } else {
        let offered = |evidence: &&String| claims().any(|past| past.evidence.contains(evidence));
        body.claims().iter().flat_map(|claim| &claim.evidence).any(|it| !offered(&it))
    };
    let gives = !body.concedes().is_empty() || !body.resolves().is_empty();
    !new_claim && !new_evidence && !gives
}

/// Length of a shingle (character n-gram) for the repetition check.
const ECHO: usize = 12;

/// Whether every speech of a round repeats earlier ones: at least 70 % of its shingles occur in
/// earlier speeches of the same seat. A text heuristic, used only for suggestions.
pub fn circles(debate: &Debate, round: u8) -> bool {
    let said = |cue: &Cue| debate.setup().phase(*cue).reply == Kind::Speech;
    let mut turns = debate.spoken(..).filter(|(cue, _)| cue.round == round && said(cue)).peekable();
    turns.peek().is_some()
        && turns.all(|(cue, body)| {
            let own = debate.before(cue).filter(|(past, _)| past.seat == cue.seat && said(past));
            let before: HashSet<Vec<char>> =
                own.flat_map(|(_, body)| pieces(&body.text())).collect();
            let now = pieces(&body.text());
            let again = now.iter().filter(|piece| before.contains(*piece)).count();
            !now.is_empty() && again * 10 >= now.len() * 7
        })
}

fn pieces(text: &str) -> Vec<Vec<char>> {
    let plain: Vec<char> =
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    plain.windows(ECHO).map(<[char]>::to_vec).collect()
}

/// Reason why a round leaves nothing to argue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Both sides spoke and neither added anything new.
    Repetition,
    /// No claim against the proposal is still open.
    NothingOpen,
}

impl Settled {
    /// Describes the reason for users.
    pub fn says(self, round: u8) -> String {
        match self {
            Settled::Repetition => {
                format!("round {round} brought no new claim and no new evidence")
            }
            Settled::NothingOpen => {
                format!("after round {round} nothing is left that the sides differ about")
            }
        }
    }
}

/// Returns why nothing is left to argue after this round. None for round 1, in which the sides have
/// not answered each other yet.
pub fn settled(debate: &Debate, round: u8) -> Option<Settled> {
    let turns: Vec<(Cue, Side, &Reply)> = debate
        .turns()
        .filter(|(cue, _)| cue.round == round)
        .filter_map(|(cue, turn)| Some((cue, debate.seat(cue).role.side()?, turn.as_ref().ok()?)))
        .filter(|(_, _, reply)| matches!(reply.body, Body::Speech { .. }))
        .collect();
    let spoke = |wanted: Side| turns.iter().any(|(_, side, _)| *side == wanted);
    if round < 2 || !spoke(Side::Pro) || !spoke(Side::Con) {
        return None;
    }
    if turns.iter().all(|(cue, _, reply)| repeats(debate, *cue, reply)) {
        return Some(Settled::Repetition);
    }
    let until = turns.iter().map(|(cue, _, _)| *cue).max()?;
    let entries = ledger::entries(debate, Cue { seat: u8::MAX, ..until });
    let structured = turns.iter().all(|(_, _, reply)| reply.body.structured());
    let raised = entries.iter().any(|entry| entry.side == Side::Con);
    let open = entries.iter().any(ledger::Entry::open);
    (structured && raised && !open).then_some(Settled::NothingOpen)
}
