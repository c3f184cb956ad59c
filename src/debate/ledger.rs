//! Every claim made, and what became of it. Read off the record; never stored beside it.
use super::body::{Claim, Resolution};
use super::citation::{Citation, Found};
use super::digest::squeeze;
use super::event::Cue;
use super::format::Side;
use super::rules::Weight;
use super::state::Debate;
use schemars::JsonSchema;
use serde::Serialize;

/// A claim, under the name its side gave it when it was first made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Where it was first made.
    pub cue: Cue,
    /// By whom.
    pub side: Side,
    /// As it was first put.
    pub claim: &'a Claim,
    /// Everything offered for it, whenever it was offered.
    pub evidence: Vec<&'a str>,
    /// What looking that up came to, as far as it was looked up.
    pub citations: Vec<&'a Citation>,
    /// What became of it.
    pub fate: Fate<'a>,
}

/// What became of a claim. A later one outranks an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate<'a> {
    /// Nobody took it up.
    Unanswered,
    /// The other side answered it, and neither gave way.
    Contested,
    /// The other side accepted it, in these words.
    Conceded(&'a str),
    /// Its own side took it back: the other had put it to rest.
    Resolved,
    /// The other side took back the concern it answered.
    Accepted,
}

/// One side's account, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "each counts what it names")]
pub struct Tally {
    pub claims: usize,
    pub unsupported: usize,
    pub conceded: usize,
    pub resolved: usize,
    /// Opposing claims this side never took up.
    pub ignored: usize,
    /// Claims the other side never took up.
    pub unanswered: usize,
    pub citations: usize,
    pub verified: usize,
    pub wrong: usize,
    pub ambiguous: usize,
    pub fouls: usize,
}

impl Entry<'_> {
    /// Nothing was offered for it, or nothing that is there.
    pub fn unsupported(&self) -> bool {
        let gone = !self.citations.is_empty() && self.citations.iter().all(|it| it.found.wrong());
        self.evidence.is_empty() || gone
    }

    /// The sides still differ about it: it was answered and neither gave way, or it is a
    /// challenger's concern nobody has met.
    pub fn open(&self) -> bool {
        match self.fate {
            Fate::Contested => true,
            Fate::Unanswered => self.side == Side::Con,
            Fate::Conceded(_) | Fate::Resolved | Fate::Accepted => false,
        }
    }
}

/// The claims made before `until`, in the order they were first made.
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
            // Another claim under an old name inherits nothing.
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
            // Debates opened when nobody noticed this are worded as they were.
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

/// How many claims a judge is asked about one by one.
const ASKED_ABOUT: usize = 12;

/// The claims made before `until` that a ruling turns on: those the sides still differ about first,
/// then those that were conceded, then those nobody took up. What was taken back is settled.
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

/// The citations of a turn that were offered for one of its claims.
pub fn of_claim<'a>(citations: &'a [Citation], id: &str) -> impl Iterator<Item = &'a Citation> {
    citations.iter().filter(move |citation| citation.claim.as_deref() == Some(id))
}

/// A side that accepted a claim and argued against it later: both are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkBack<'a> {
    /// Where it was accepted.
    pub conceded: Cue,
    /// In these words.
    pub quote: &'a str,
    /// Where it was argued against.
    pub denied: Cue,
    /// By this claim.
    pub by: &'a Claim,
    /// Whether something that was looked up and is there was offered for that, and was not known.
    pub backed: bool,
}

/// Every concession that was argued against afterwards.
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

/// Whether a citation was looked up, is there, and had not been found before this turn.
pub fn is_news(debate: &Debate, cue: Cue, citation: &Citation) -> bool {
    let place = |it: &Citation| (it.path.clone(), it.quote.as_deref().map(squeeze));
    let known = |it: &Citation| it.found.verified() && place(it) == place(citation);
    let past = debate.within(..debate.horizon(cue)).filter_map(|(_, turn)| turn.as_ref().ok());
    citation.found.verified() && !past.flat_map(|reply| &reply.citations).any(known)
}

/// A side's account at the end of the record.
pub fn tally(debate: &Debate, side: Side) -> Tally {
    let entries = entries(debate, Cue::END);
    let own = || entries.iter().filter(|entry| entry.side == side);
    // Whoever has no turn left cannot answer, so the last word is not held against the other side.
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
