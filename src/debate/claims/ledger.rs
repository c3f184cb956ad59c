//! The ledger: every claim of both sides with its evidence and status. Computed from the record and
//! never stored. The entry points are `entries`, `tally`, `claims_to_check` and `walk_backs`. Used
//! by prompts, rules, flags and the verdict, and by `report`, `review`, `page` and `mcp`.
use crate::debate::record::body::{Body, Claim, Resolution};
use crate::debate::record::citation::{Citation, CitationStatus};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Side;
use crate::debate::setup::rule::RuleWeight;
use crate::debate::text::words::collapse_whitespace;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// A claim with its status. Identified by side, id and text: another text under the same id is a
/// new claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry<'a> {
    /// The turn that first made it.
    pub cue: Cue,
    pub side: Side,
    /// The claim as first made.
    pub claim: &'a Claim,
    /// All evidence offered for it, in any turn.
    pub evidence: Vec<&'a str>,
    /// Citations in that evidence, with their lookup results.
    pub citations: Vec<&'a Citation>,
    pub status: ClaimStatus<'a>,
}

/// Status of a claim. An answer only changes `Unanswered` to `Contested`, and `Accepted` never
/// replaces `Resolved`; otherwise the later turn wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimStatus<'a> {
    /// The other side has not responded.
    Unanswered,
    /// The other side answered, and neither gave way.
    Contested,
    /// The other side conceded it, quoting these words of the claim.
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
pub struct LedgerTally {
    pub claims: usize,
    pub unsupported: usize,
    pub conceded: usize,
    pub resolved: usize,
    /// Opposing claims that this side never answered.
    // Only claims after which this side spoke again.
    pub ignored: usize,
    /// Claims that the other side never answered.
    pub unanswered: usize,
    pub citations: usize,
    pub verified: usize,
    pub wrong: usize,
    pub ambiguous: usize,
    // Rule findings of weight `Foul`, not the fouls judges call (those are in `round_marks`).
    pub fouls: usize,
}

impl LedgerEntry<'_> {
    /// Whether there is no evidence, or every citation of it is wrong.
    pub fn is_unsupported(&self) -> bool {
        let all_wrong =
            !self.citations.is_empty() && self.citations.iter().all(|it| it.found.is_wrong());
        self.evidence.is_empty() || all_wrong
    }

    /// Whether the sides still disagree: the claim is contested, or it is an unanswered claim of
    /// the challenger.
    pub fn is_open(&self) -> bool {
        match self.status {
            ClaimStatus::Contested => true,
            ClaimStatus::Unanswered => self.side == Side::Con,
            ClaimStatus::Conceded(_) | ClaimStatus::Resolved | ClaimStatus::Accepted => false,
        }
    }
}

/// Returns the claims made before `until`, in the order they were first made.
pub fn entries(debate: &Debate, until: Cue) -> Vec<LedgerEntry<'_>> {
    let side_of = |cue: Cue| debate.seat(cue).role.side();
    let mut entries: Vec<LedgerEntry<'_>> = vec![];
    let mut index = ClaimIndex::default();
    for (cue, turn) in debate.turns_in(..until) {
        let (Some(side), Ok(reply)) = (side_of(cue), turn) else { continue };
        if debate.is_sealed(cue) {
            continue;
        }
        let body = &reply.body;
        for claim in body.claims() {
            let offered = claim.evidence.iter().map(String::as_str);
            let offered = offered.filter(|evidence| !evidence.trim().is_empty());
            let citations = citations_for_claim(&reply.citations, &claim.id);
            // A different text under the same id is a new claim.
            let is_same_claim = |e: &LedgerEntry<'_>| {
                e.side == side
                    && collapse_whitespace(&e.claim.text) == collapse_whitespace(&claim.text)
            };
            let known = index.with_id(&claim.id).find(|nth| is_same_claim(&entries[*nth]));
            if let Some(nth) = known {
                entries[nth].evidence.extend(offered);
                entries[nth].citations.extend(citations);
            } else {
                index.insert(claim, entries.len());
                entries.push(LedgerEntry {
                    cue,
                    side,
                    claim,
                    evidence: offered.collect(),
                    citations: citations.collect(),
                    status: ClaimStatus::Unanswered,
                });
            }
        }
        let answered_ids: Vec<&str> =
            body.claims().iter().flat_map(|claim| &claim.answers).map(String::as_str).collect();
        for nth in index.affected_by(body) {
            let entry = &mut entries[nth];
            let id = entry.claim.id.as_str();
            if entry.side == side {
                if body.resolutions().iter().any(|resolution| resolution.claim == id) {
                    entry.status = ClaimStatus::Resolved;
                }
                continue;
            }
            let settles = |resolution: &Resolution| entry.claim.answers.contains(&resolution.claim);
            // Older debates must keep their prompts, so this applies from wording version 2 on.
            let tracks_accepted = debate.setup().wording >= 2;
            if tracks_accepted
                && entry.status != ClaimStatus::Resolved
                && body.resolutions().iter().any(settles)
            {
                entry.status = ClaimStatus::Accepted;
            }
            if entry.status == ClaimStatus::Unanswered && answered_ids.contains(&id) {
                entry.status = ClaimStatus::Contested;
            }
            if let Some(concession) =
                body.concessions().iter().find(|concession| concession.claim == id)
            {
                entry.status = ClaimStatus::Conceded(&concession.quote);
            }
        }
    }
    entries
}

/// Positions of the entries by claim id, so that a turn visits only the claims it refers to.
#[derive(Default)]
struct ClaimIndex<'a> {
    by_id: HashMap<&'a str, Vec<usize>>,
    /// By the ids of the claims they answer.
    by_answered_id: HashMap<&'a str, Vec<usize>>,
}

impl<'a> ClaimIndex<'a> {
    fn insert(&mut self, claim: &'a Claim, nth: usize) {
        self.by_id.entry(&claim.id).or_default().push(nth);
        for answered in &claim.answers {
            self.by_answered_id.entry(answered).or_default().push(nth);
        }
    }

    fn with_id(&self, id: &str) -> impl Iterator<Item = usize> {
        self.by_id.get(id).into_iter().flatten().copied()
    }

    /// Entries that a turn answers, concedes or resolves, and those that answer what it resolves.
    fn affected_by(&self, body: &Body) -> BTreeSet<usize> {
        let resolved = || body.resolutions().iter().map(|resolution| &resolution.claim);
        let answered = body.claims().iter().flat_map(|claim| &claim.answers);
        let conceded = body.concessions().iter().map(|concession| &concession.claim);
        let named = answered.chain(conceded).chain(resolved()).flat_map(|id| self.with_id(id));
        let settled = resolved().filter_map(|id| self.by_answered_id.get(id.as_str())).flatten();
        named.chain(settled.copied()).collect()
    }
}

/// Maximum number of claims a judge is asked to check.
const MAX_CHECKED_CLAIMS: usize = 12;

/// Returns the claims before `until` that a judge must check: contested ones first, then conceded,
/// then unanswered. Resolved and accepted claims are excluded.
pub fn claims_to_check(debate: &Debate, until: Cue) -> Vec<LedgerEntry<'_>> {
    let rank = |entry: &LedgerEntry<'_>| match entry.status {
        ClaimStatus::Contested => Some(0),
        ClaimStatus::Conceded(_) => Some(1),
        ClaimStatus::Unanswered => Some(2),
        ClaimStatus::Resolved | ClaimStatus::Accepted => None,
    };
    let all = entries(debate, until).into_iter();
    let mut ranked: Vec<_> = all.filter_map(|entry| Some((rank(&entry)?, entry))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(MAX_CHECKED_CLAIMS).map(|(_, entry)| entry).collect()
}

/// Returns the citations of a turn that belong to this claim.
pub fn citations_for_claim<'a>(
    citations: &'a [Citation],
    id: &str,
) -> impl Iterator<Item = &'a Citation> {
    citations.iter().filter(move |citation| citation.claim.as_deref() == Some(id))
}

/// A concession that the same side later argued against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::debate) struct WalkBack<'a> {
    /// The turn with the concession.
    pub conceded_at: Cue,
    /// Quote of the concession.
    pub quote: &'a str,
    /// The turn with the denial.
    pub denied_at: Cue,
    /// The claim that denies it.
    pub denial: &'a Claim,
    /// Whether new verified evidence supports the denial.
    pub has_new_evidence: bool,
}

/// Returns every concession that its side later argued against, with a claim that answers the
/// conceded one.
pub(in crate::debate) fn walk_backs(debate: &Debate, until: Cue) -> Vec<WalkBack<'_>> {
    let concessions = debate
        .replies_in(..until)
        .flat_map(|(cue, body)| body.concessions().iter().map(move |concession| (cue, concession)));
    let mut found = vec![];
    for (conceded_at, concession) in concessions {
        let later_turns = debate.turns_in(..until).filter(|(cue, _)| {
            *cue > conceded_at && debate.seat(*cue).role == debate.seat(conceded_at).role
        });
        for (denied_at, turn) in later_turns {
            let Ok(reply) = turn else { continue };
            let claims = reply.body.claims().iter();
            let denials = claims.filter(|claim| claim.answers.contains(&concession.claim));
            found.extend(denials.map(|denial| {
                WalkBack {
                    conceded_at,
                    quote: concession.quote.as_str(),
                    denied_at,
                    denial,
                    has_new_evidence: citations_for_claim(&reply.citations, &denial.id)
                        .any(|it| is_new_evidence(debate, denied_at, it)),
                }
            }));
        }
    }
    found
}

/// Whether a citation is verified and no earlier wave has a verified citation of the same path and
/// quote.
pub(in crate::debate) fn is_new_evidence(debate: &Debate, cue: Cue, citation: &Citation) -> bool {
    let key = |it: &Citation| (it.path.clone(), it.quote.as_deref().map(collapse_whitespace));
    let is_same_evidence = |it: &Citation| it.found.is_verified() && key(it) == key(citation);
    let earlier_replies =
        debate.turns_in(..debate.wave_start(cue)).filter_map(|(_, turn)| turn.as_ref().ok());
    citation.found.is_verified()
        && !earlier_replies.flat_map(|reply| &reply.citations).any(is_same_evidence)
}

/// Counts the ledger of one side over the whole record. `ignored` leaves out claims after which
/// the side did not speak again.
pub fn tally(debate: &Debate, side: Side) -> LedgerTally {
    let entries = entries(debate, Cue::END);
    let own_entries = || entries.iter().filter(|entry| entry.side == side);
    // Claims made after a side's last turn do not count as ignored, because it could not answer.
    let speeches =
        debate.replies_in(..).filter(|(cue, _)| debate.seat(*cue).role.side() == Some(side));
    let last_turn = speeches.map(|(cue, _)| debate.wave_start(cue)).max();
    let is_ignored = |entry: &&LedgerEntry<'_>| {
        entry.side != side && entry.status == ClaimStatus::Unanswered && Some(entry.cue) < last_turn
    };
    let mut tally = LedgerTally {
        claims: own_entries().count(),
        unsupported: own_entries().filter(|entry| entry.is_unsupported()).count(),
        conceded: own_entries()
            .filter(|entry| matches!(entry.status, ClaimStatus::Conceded(_)))
            .count(),
        resolved: own_entries().filter(|entry| entry.status == ClaimStatus::Resolved).count(),
        ignored: entries.iter().filter(is_ignored).count(),
        unanswered: own_entries().filter(|entry| entry.status == ClaimStatus::Unanswered).count(),
        ..LedgerTally::default()
    };
    for (cue, turn) in debate.turns() {
        if let (Ok(reply), true) = (turn, debate.seat(cue).role.side() == Some(side)) {
            tally.citations += reply.citations.len();
            tally.verified += reply.citations.iter().filter(|c| c.found.is_verified()).count();
            tally.wrong += reply.citations.iter().filter(|c| c.found.is_wrong()).count();
            tally.ambiguous +=
                reply.citations.iter().filter(|c| c.found == CitationStatus::Ambiguous).count();
            tally.fouls += reply.findings.iter().filter(|f| f.weight == RuleWeight::Foul).count();
        }
    }
    tally
}
