//! What a careful listener would notice: a side that gives way to nothing, one that only repeats
//! itself, a debate in which nothing is left to say. Read off the record; never stored beside it.
use super::body::{Body, Claim, Kind};
use super::digest::squeeze;
use super::event::{Cue, Reply};
use super::format::Side;
use super::ledger::{self, Fate};
use super::rules::{Rule, Weight};
use super::state::Debate;
use std::collections::HashSet;

/// Something a reader and a judge should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Where it was noticed.
    pub cue: Cue,
    /// Which side it is held against.
    pub side: Side,
    /// Of which kind it is.
    pub kind: FlagKind,
    /// In a sentence that names claims by their ids alone, so that it can stand anywhere.
    pub says: String,
}

/// The kinds of flags.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// What was conceded was denied later, and nothing new that is there was offered for that.
    WalkBack,
    /// A position was given up though the other side had offered nothing new.
    GaveWay,
    /// An opposing claim was never taken up.
    Unanswered,
    /// A turn had no new claim and no new evidence.
    Repeats,
}

/// Everything noticed in the turns before `until`, in the order of the debate.
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

/// Whether nothing new may be said there, so that saying nothing new is no fault.
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

/// What this turn gives up for no reason on the record: it concedes what it had heard and held out
/// against before, and the other side has added nothing to it since; or it certifies a concern of
/// its own as resolved that nobody ever answered.
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
        // An argument for it since: the claim again with more, or an answer to what was held
        // against it.
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

/// Opposing claims a side had the chance to take up, and did not.
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

/// Whether a turn adds nothing: no claim that was not made before, no evidence that was not offered
/// before, and nothing given up. Of prose without claims code cannot tell, unless it is the same.
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
    // Where something can be looked up, only what was found counts.
    let new_evidence = if debate.setup().pin.is_some() {
        reply.citations.iter().any(|citation| ledger::is_news(debate, cue, citation))
    } else {
        let offered = |evidence: &&String| claims().any(|past| past.evidence.contains(evidence));
        body.claims().iter().flat_map(|claim| &claim.evidence).any(|it| !offered(&it))
    };
    let gives = !body.concedes().is_empty() || !body.resolves().is_empty();
    !new_claim && !new_evidence && !gives
}

/// Characters that must stand together before they count as said again.
const ECHO: usize = 12;

/// Whether everyone who spoke aloud in a round said little but what they had said before. Of prose
/// without claims that is all code can tell, so it is good for a suggestion and for nothing else.
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

/// Why there is nothing left to say after a round, if there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Both sides spoke in it and neither said anything new.
    Repetition,
    /// Nothing that was claimed against the proposal is still open.
    NothingOpen,
}

impl Settled {
    /// What users are told.
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

/// Whether a round left nothing to be said. Only rounds after the first can: before that nobody has
/// answered anybody.
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
