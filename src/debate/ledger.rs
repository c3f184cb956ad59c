//! The ledger: every claim of both sides with its evidence and status. Computed from the record and
//! never stored. The entry points are `entries` and `tally`.
use super::body::{Claim, Resolution};
use super::citation::{Citation, Found};
use super::digest::squeeze;
use super::event::Cue;
use super::format::Side;
use super::rules::Weight;
use super::state::Debate;
use schemars::JsonSchema;
use serde::Serialize;

/// A claim with its status. Identified by side, id and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The turn that first made it.
    pub cue: Cue,
    pub side: Side,
    /// The claim as first made.
    pub claim: &'a Claim,
    /// All evidence offered for it, in any turn.
    pub evidence: Vec<&'a str>,
    /// Lookup results of that evidence.
    pub citations: Vec<&'a Citation>,
    pub fate: Fate<'a>,
}

/// Status of a claim. A later event overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate<'a> {
    /// The other side has not responded.
    Unanswered,
    /// The other side answered, and neither gave way.
    Contested,
    /// The other side conceded it, with this quote.
    Conceded(&'a str),
    /// Its own side withdrew it as resolved.
    Resolved,
    /// The other side withdrew the concern that this claim answers.
    Accepted,
}

/// Counts of one side's claims, citations and fouls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "each counts what it names")]
#[schemars(rename = "Tally")]
pub struct Tally {
    pub claims: usize,
    pub unsupported: usize,
    pub conceded: usize,
    pub resolved: usize,
    /// Opposing claims that this side never answered.
    pub ignored: usize,
    /// Claims that the other side never answered.
    pub unanswered: usize,
    pub citations: usize,
    pub verified: usize,
    pub wrong: usize,
    pub ambiguous: usize,
    pub fouls: usize,
}

impl Entry<'_> {
    /// Whether there is no evidence, or every citation of it is wrong.
    pub fn unsupported(&self) -> bool {
        let gone = !self.citations.is_empty() && self.citations.iter().all(|it| it.found.wrong());
        self.evidence.is_empty() || gone
    }

    /// Whether the sides still disagree: the claim is contested, or it is an unanswered claim of
    /// the challenger.
    pub fn open(&self) -> bool {
        match self.fate {
            Fate::Contested => true,
            Fate::Unanswered => self.side == Side::Con,
            Fate::Conceded(_) | Fate::Resolved | Fate::Accepted => false,
        }
    }
}

/// Returns the claims made before `until`, in the order they were first made.
pub fn entries(debate: &Debate, until: Cue) -> Vec<Entry<'_>> {
    let side_of = |cue: Cue| debate.seat(cue).role.side();
    let mut entries: Vec<Entry<'_>> = vec![];
    for (cue, turn) in debate.within(..until) {
        let (Some(side), Ok(reply)) = (side_of(cue), turn) else { continue };
        if debate.sealed(cue) {
            continue;
        }
        let body = &reply.body;
        for claim in body.claims() {
            let offered = claim.evidence.iter().map(String::as_str);
            let offered = offered.filter(|evidence| !evidence.trim().is_empty());
            let looked_up = of_claim(&reply.citations, &claim.id);
            // A different text under the same id is a new claim.
            let same = |e: &&mut Entry<'_>| {
                e.side == side
                    && e.claim.id == claim.id
                    && squeeze(&e.claim.text) == squeeze(&claim.text)
            };
            match entries.iter_mut().find(same) {
                Some(known) => {
                    known.evidence.extend(offered);
                    known.citations.extend(looked_up);
                }
                None => entries.push(Entry {
                    cue,
                    side,
                    claim,
                    evidence: offered.collect(),
                    citations: looked_up.collect(),
                    fate: Fate::Unanswered,
                }),
            }
        }
        let answered: Vec<&str> =
            body.claims().iter().flat_map(|claim| &claim.answers).map(String::as_str).collect();
        for entry in &mut entries {
            let id = entry.claim.id.as_str();
            if entry.side == side {
                if body.resolves().iter().any(|resolution| resolution.claim == id) {
                    entry.fate = Fate::Resolved;
                }
                continue;
            }
            let settles = |resolution: &Resolution| entry.claim.answers.contains(&resolution.claim);
            // Older debates must keep their prompts, so this applies from wording version 2 on.
            let notices = debate.setup().wording >= 2;
            if notices && entry.fate != Fate::Resolved && body.resolves().iter().any(settles) {
                entry.fate = Fate::Accepted;
            }
            if entry.fate == Fate::Unanswered && answered.contains(&id) {
                entry.fate = Fate::Contested;
            }
            if let Some(given) = body.concedes().iter().find(|given| given.claim == id) {
                entry.fate = Fate::Conceded(&given.quote);
            }
        }
    }
    entries
}

/// Maximum number of claims a judge is asked to check.
const ASKED_ABOUT: usize = 12;

/// Returns the claims before `until` that a judge must check: contested ones first, then conceded,
/// then unanswered. Resolved and accepted claims are excluded.
pub fn contested(debate: &Debate, until: Cue) -> Vec<Entry<'_>> {
    let rank = |entry: &Entry<'_>| match entry.fate {
        Fate::Contested => Some(0),
        Fate::Conceded(_) => Some(1),
        Fate::Unanswered => Some(2),
        Fate::Resolved | Fate::Accepted => None,
    };
    let all = entries(debate, until).into_iter();
    let mut ranked: Vec<_> = all.filter_map(|entry| Some((rank(&entry)?, entry))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(ASKED_ABOUT).map(|(_, entry)| entry).collect()
}

/// Returns the citations of a turn that belong to this claim.
pub fn of_claim<'a>(citations: &'a [Citation], id: &str) -> impl Iterator<Item = &'a Citation> {
    citations.iter().filter(move |citation| citation.claim.as_deref() == Some(id))
}

/// A concession that the same side later argued against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkBack<'a> {
    /// The turn with the concession.
    pub conceded: Cue,
    /// Quote of the concession.
    pub quote: &'a str,
    /// The turn with the denial.
    pub denied: Cue,
    /// The claim that denies it.
    pub by: &'a Claim,
    /// Whether new verified evidence supports the denial.
    pub backed: bool,
}

/// Returns every concession that its side later argued against.
pub fn walk_backs(debate: &Debate, until: Cue) -> Vec<WalkBack<'_>> {
    let given = debate
        .spoken(..until)
        .flat_map(|(cue, body)| body.concedes().iter().map(move |concession| (cue, concession)));
    let mut found = vec![];
    for (conceded, concession) in given {
        let later = debate.within(..until).filter(|(cue, _)| {
            *cue > conceded && debate.seat(*cue).role == debate.seat(conceded).role
        });
        for (denied, turn) in later {
            let Ok(reply) = turn else { continue };
            let claims = reply.body.claims().iter();
            let against = claims.filter(|claim| claim.answers.contains(&concession.claim));
            found.extend(against.map(|by| WalkBack {
                conceded,
                quote: concession.quote.as_str(),
                denied,
                by,
                backed: of_claim(&reply.citations, &by.id).any(|it| is_news(debate, denied, it)),
            }));
        }
    }
    found
}

/// Whether a citation is verified and no earlier turn has a verified citation of the same quote.
pub fn is_news(debate: &Debate, cue: Cue, citation: &Citation) -> bool {
    let place = |it: &Citation| (it.path.clone(), it.quote.as_deref().map(squeeze));
    let known = |it: &Citation| it.found.verified() && place(it) == place(citation);
    let past = debate.within(..debate.horizon(cue)).filter_map(|(_, turn)| turn.as_ref().ok());
    citation.found.verified() && !past.flat_map(|reply| &reply.citations).any(known)
}

/// Counts the ledger of one side over the whole record.
pub fn tally(debate: &Debate, side: Side) -> Tally {
    let entries = entries(debate, Cue::END);
    let own = || entries.iter().filter(|entry| entry.side == side);
    // Claims made after a side's last turn do not count as ignored, because it could not answer.
    let speeches = debate.spoken(..).filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
    let last = speeches.map(|(cue, _)| debate.horizon(cue)).max();
    let ignored = |entry: &&Entry<'_>| {
        entry.side != side && entry.fate == Fate::Unanswered && Some(entry.cue) < last
    };
    let mut tally = Tally {
        claims: own().count(),
        unsupported: own().filter(|entry| entry.unsupported()).count(),
        conceded: own().filter(|entry| matches!(entry.fate, Fate::Conceded(_))).count(),
        resolved: own().filter(|entry| entry.fate == Fate::Resolved).count(),
        ignored: entries.iter().filter(ignored).count(),
        unanswered: own().filter(|entry| entry.fate == Fate::Unanswered).count(),
        ..Tally::default()
    };
    for (cue, turn) in debate.turns() {
        if let (Ok(reply), true) = (turn, debate.seat(cue).role.side() == Some(side)) {
            tally.citations += reply.citations.len();
            tally.verified += reply.citations.iter().filter(|c| c.found.verified()).count();
            tally.wrong += reply.citations.iter().filter(|c| c.found.wrong()).count();
            tally.ambiguous +=
                reply.citations.iter().filter(|c| c.found == Found::Ambiguous).count();
            tally.fouls += reply.findings.iter().filter(|f| f.weight == Weight::Foul).count();
        }
    }
    tally
}
