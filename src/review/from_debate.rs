//! Builds a [`Review`] from the record of a debate about a change. The review itself is not stored.
//! Findings are the challenger's claims that it did not withdraw, identified by a content hash.
use super::finding::{EarlierFinding, Finding, FindingEvidence, FindingState};
use super::{Review, ReviewCost, ReviewDecision, ReviewParticipant};
use crate::debate::body::{Claim, ClaimPurpose};
use crate::debate::content_hash::content_hash;
use crate::debate::ledger::{self, ClaimStatus};
use crate::debate::verdict::{ContestReason, rulings};
use crate::debate::words::collapse_whitespace;
use crate::debate::{
    Citation, CodeLocation, Cue, Debate, KnownFinding, PauseReason, ReviewedChange, Role, Seat,
    Severity, Side, Status, Step, next, status,
};
use crate::report::participants;
use crate::report::research::research_report;
use crate::report::verdict::verdict_view;
use std::collections::BTreeSet;

/// Default limit of findings. More are noise.
pub(crate) const DEFAULT_MAX_FINDINGS: usize = 5;
/// Limit of findings without verified evidence.
const MAX_UNVERIFIED: usize = 20;

/// Domain and version of the fingerprint hash. Change it if the hashed fields change.
const FINGERPRINT_DOMAIN: &str = "debate finding 1";

/// A claim against the change, with its answer.
struct Challenge<'a> {
    cue: Cue,
    claim: &'a Claim,
    severity: Option<Severity>,
    citations: Vec<&'a Citation>,
    answer: Option<String>,
    conceded: bool,
}

/// Builds the review of a debate. None if the debate is not about a change.
pub(crate) fn review_from_debate(debate: &Debate, max_findings: usize) -> Option<Review> {
    let proposed = debate.setup().proposed.as_ref()?;
    let status = status::status(debate);
    let mut review = Review {
        debate: Some(debate.setup().id.clone()),
        degraded: status != Status::Completed || debate.is_concluded(),
        notices: collect_notices(debate, status),
        seats: review_participants(debate),
        spent: review_cost(debate),
        ..review_of_change(proposed)
    };
    apply_verdict(debate, &mut review);
    let (mut verified, unverified): (Vec<Finding>, Vec<Finding>) = collect_findings(debate)
        .into_iter()
        .partition(|it| it.evidence.iter().any(|it| it.verified));
    verified.sort_by_key(|it| (it.severity, !it.conceded));
    let raised: BTreeSet<String> = verified.iter().map(|it| it.fingerprint.clone()).collect();
    review.grave = verified.iter().filter(|it| it.severity != Severity::Low).count();
    review.more = verified.len().saturating_sub(max_findings);
    verified.truncate(max_findings);
    review.findings = verified;
    // An earlier finding that was raised again is listed with the findings only.
    let is_unlisted = |it: &&KnownFinding| {
        review.findings.iter().all(|finding| finding.fingerprint != it.noted.fingerprint)
    };
    let known = proposed.known.iter().filter(is_unlisted);
    review.earlier = known.map(|it| earlier_finding(it, &raised)).collect();
    review.unverified = unverified;
    review.unverified.truncate(MAX_UNVERIFIED);
    Some(review)
}

/// A skipped review, with the reason.
pub(crate) fn skipped_review(proposed: &ReviewedChange, reason: &str) -> Review {
    Review { skipped: Some(reason.to_owned()), ..review_of_change(proposed) }
}

/// Replaces the known findings of a review. A cached review knows only those of the time it was
/// debated.
pub(crate) fn with_known_findings(review: Review, known: &[KnownFinding]) -> Review {
    let mut review = review;
    let is_known = |fingerprint: &str| known.iter().any(|it| it.noted.fingerprint == fingerprint);
    review.findings.iter_mut().for_each(|it| it.known = is_known(&it.fingerprint));
    let raised: BTreeSet<String> =
        review.findings.iter().map(|it| it.fingerprint.clone()).collect();
    let not_raised = known.iter().filter(|it| !raised.contains(&it.noted.fingerprint));
    review.earlier = not_raised.map(|it| earlier_finding(it, &raised)).collect();
    review
}

/// A review with the title and the change only.
fn review_of_change(proposed: &ReviewedChange) -> Review {
    Review {
        title: match proposed.title.as_str() {
            "" => proposed.compared.says.clone(),
            title => title.to_owned(),
        },
        change: proposed.compared.clone(),
        ..Review::default()
    }
}

/// Whether the format has a challenger but no turn of it was completed.
fn is_unopposed(debate: &Debate) -> bool {
    let is_against = |cue: Cue| debate.seat(cue).role.side() == Some(Side::Con);
    debate.has_active_role(Role::Con) && !debate.replies_in(..).any(|(cue, _)| is_against(cue))
}

/// Fills in the verdict. A ruling on an unopposed change does not count.
fn apply_verdict(debate: &Debate, review: &mut Review) {
    review.reasoning = research_report(debate).unwrap_or_default();
    let Some(verdict) = verdict_view(debate).filter(|_| !is_unopposed(debate)) else { return };
    review.decision = match verdict.side {
        Side::Pro => ReviewDecision::Merge,
        Side::Con => ReviewDecision::Change,
    };
    review.doubts = verdict.doubts;
    let narrow_margin = ContestReason::Margin.describe();
    review.split = review.doubts.iter().any(|doubt| doubt != narrow_margin);
    let is_judge = |seat: &&Seat| matches!(seat.role, Role::Judge | Role::Mirror);
    let is_ruling_missing =
        debate.seats().iter().filter(is_judge).count() > rulings(debate).count();
    review.doubts.extend(is_ruling_missing.then(|| "not every judge has ruled".into()));
    review.split |= is_ruling_missing;
    review.confidence = verdict.confidence;
    review.reasoning = verdict.reasoning;
    review.recommendation = verdict.recommendation;
}

/// The findings: all challenges that were not withdrawn, with unique fingerprints.
fn collect_findings(debate: &Debate) -> Vec<Finding> {
    let known: BTreeSet<&str> = debate
        .setup()
        .proposed
        .iter()
        .flat_map(|it| &it.known)
        .map(|it| it.noted.fingerprint.as_str())
        .collect();
    let challenges = merge_challenges(collect_challenges(debate));
    // If several challenges have the same base hash, the first by text keeps it. The order of turns
    // must not matter.
    let first_text = |base: &str| {
        let same = challenges.iter().filter(|it| base_fingerprint(debate, it) == base);
        same.map(|it| collapse_whitespace(&it.claim.text)).min()
    };
    let keeps_base: Vec<bool> = challenges
        .iter()
        .map(|it| {
            first_text(&base_fingerprint(debate, it)).as_ref()
                == Some(&collapse_whitespace(&it.claim.text))
        })
        .collect();
    let mut used = BTreeSet::new();
    let finding = |(challenge, keeps_base): (&Challenge<'_>, bool)| {
        let place = best_location(debate, &challenge.citations).map(|(place, _)| place);
        let claim = collapse_whitespace(&challenge.claim.text);
        let base = base_fingerprint(debate, challenge);
        let mut fingerprint =
            if keeps_base { base } else { content_hash(&[FINGERPRINT_DOMAIN, &base, &claim]) };
        let mut counter = 0;
        while !used.insert(fingerprint.clone()) {
            counter += 1;
            fingerprint =
                content_hash(&[FINGERPRINT_DOMAIN, &fingerprint, &claim, &counter.to_string()]);
        }
        Finding {
            known: known.contains(fingerprint.as_str()),
            fingerprint,
            id: challenge.claim.id.clone(),
            turn: challenge.cue.to_string(),
            severity: effective_severity(debate, challenge),
            claim,
            place,
            evidence: unique_evidence(&challenge.citations),
            answer: challenge.answer.clone(),
            conceded: challenge.conceded,
        }
    };
    challenges.iter().zip(keeps_base).map(finding).collect()
}

/// The base fingerprint: a hash of the file, the quoted text, and whether that text was removed,
/// because removed and present text are different findings.
fn base_fingerprint(debate: &Debate, challenge: &Challenge<'_>) -> String {
    let (location, quote) = best_location(debate, &challenge.citations).unzip();
    let file = location.as_ref().map_or("", |location| location.file.as_str());
    let removed_tag =
        if location.as_ref().is_some_and(|location| location.removed) { "gone" } else { "" };
    let text = quote
        .flatten()
        .map_or_else(|| collapse_whitespace(&challenge.claim.text), collapse_whitespace);
    content_hash(&[FINGERPRINT_DOMAIN, file, &text, removed_tag])
}

/// The evidence of these citations, without duplicates.
fn unique_evidence(citations: &[&Citation]) -> Vec<FindingEvidence> {
    let mut unique: Vec<FindingEvidence> = vec![];
    for evidence in citations.iter().map(|it| evidence_from_citation(it)) {
        if !unique.contains(&evidence) {
            unique.push(evidence);
        }
    }
    unique
}

/// Merges a challenge that is repeated in several rounds into one with its latest text. Challenges
/// match by claim id and a common verified citation.
fn merge_challenges(all: Vec<Challenge<'_>>) -> Vec<Challenge<'_>> {
    let verified_quotes = |it: &Challenge<'_>| -> Vec<_> {
        let found = it.citations.iter().filter(|it| it.found.is_verified());
        found.map(|it| (it.path.clone(), it.quote.as_deref().map(collapse_whitespace))).collect()
    };
    let mut merged: Vec<Challenge<'_>> = vec![];
    for challenge in all {
        let own_quotes = verified_quotes(&challenge);
        let is_same = |it: &&mut Challenge<'_>| {
            it.claim.id == challenge.claim.id
                && verified_quotes(it).iter().any(|it| own_quotes.contains(it))
        };
        match merged.iter_mut().find(is_same) {
            None => merged.push(challenge),
            Some(existing) => {
                existing.claim = challenge.claim;
                existing.severity = challenge.severity.or(existing.severity);
                existing.conceded |= challenge.conceded;
                existing.answer = challenge.answer.or(existing.answer.take());
                let new_citations = challenge.citations.into_iter();
                let new_citations: Vec<_> =
                    new_citations.filter(|it| !existing.citations.contains(it)).collect();
                existing.citations.extend(new_citations);
            }
        }
    }
    merged
}

/// Claims of the side against the change. In research: claims of the second advocate.
fn collect_challenges(debate: &Debate) -> Vec<Challenge<'_>> {
    if participants::debate_kind(debate) == participants::DebateKind::Research {
        return research_challenges(debate);
    }
    let entries = ledger::entries(debate, Cue::END);
    let answer = |id: &str| {
        let pro = entries.iter().filter(|entry| entry.side == Side::Pro);
        let answers = pro.filter(|entry| entry.claim.answers.iter().any(|it| it == id));
        join_texts(answers.map(|entry| entry.claim.text.as_str()))
    };
    let opposing =
        entries.iter().filter(|it| it.side == Side::Con && it.status != ClaimStatus::Resolved);
    opposing
        .map(|entry| Challenge {
            cue: entry.cue,
            claim: entry.claim,
            severity: entry.claim.severity,
            citations: entry.citations.clone(),
            answer: answer(&entry.claim.id),
            conceded: matches!(entry.status, ClaimStatus::Conceded(_)),
        })
        .collect()
}

fn research_challenges(debate: &Debate) -> Vec<Challenge<'_>> {
    let Some(opponent) = participants::seats_with_role(debate, Role::Advocate).nth(1) else {
        return vec![];
    };
    let speeches: Vec<_> =
        debate.turns().filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?))).collect();
    let answer = |id: &str| {
        let others = speeches.iter().filter(|(cue, _)| cue.seat != opponent);
        let claims = others.flat_map(|(_, reply)| reply.body.claims());
        let answers = claims.filter(|claim| claim.answers.iter().any(|it| it == id));
        join_texts(answers.map(|claim| claim.text.as_str()))
    };
    let own_speeches = speeches.iter().filter(|(cue, _)| cue.seat == opponent);
    own_speeches
        .flat_map(|(cue, reply)| {
            let claims = reply.body.claims().iter();
            let arguments = claims.filter(|claim| {
                matches!(claim.part, None | Some(ClaimPurpose::Argument | ClaimPurpose::Weakness))
            });
            arguments.map(|claim| Challenge {
                cue: *cue,
                claim,
                severity: claim.severity,
                citations: ledger::citations_for_claim(&reply.citations, &claim.id).collect(),
                answer: answer(&claim.id),
                conceded: false,
            })
        })
        .collect()
}

fn join_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let all: Vec<&str> = texts.collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The challenger's severity, or low if every judge that checked the claim found it answered or
/// unsupported.
fn effective_severity(debate: &Debate, challenge: &Challenge<'_>) -> Severity {
    let (stated, id) = (challenge.severity.unwrap_or_default(), &challenge.claim.id);
    let checks = rulings(debate).flat_map(|(_, _, ruling)| &ruling.checks);
    let mut own_checks = checks.filter(|it| it.side == Side::Con && it.claim == *id).peekable();
    if own_checks.peek().is_some() && own_checks.all(|check| !check.upholds_claim()) {
        Severity::Low
    } else {
        stated
    }
}

/// The best verified location and its quote: one with a line number before one without, then one in
/// a touched file.
fn best_location<'a>(
    debate: &Debate,
    citations: &[&'a Citation],
) -> Option<(CodeLocation, Option<&'a str>)> {
    let locations: Vec<_> = citations
        .iter()
        .filter(|it| it.found.is_verified())
        .filter_map(|it| Some((it.location()?, it.quote.as_deref())))
        .collect();
    let touched = &debate.setup().touched;
    let beside = debate.setup().proposed.as_ref().map_or(&[][..], |it| &it.beside);
    let is_central = |file: &String| touched.contains(file) && !beside.contains(file);
    let rank = |location: &CodeLocation| (location.line.is_none(), !is_central(&location.file));
    locations.into_iter().min_by_key(|(location, _)| rank(location))
}

fn evidence_from_citation(citation: &Citation) -> FindingEvidence {
    let verified = citation.found.is_verified();
    FindingEvidence {
        raw: citation.raw.clone(),
        found: citation.found.as_str().to_owned(),
        verified,
        place: citation.location().filter(|_| verified),
        quote: citation.quote.clone(),
    }
}

fn earlier_finding(known: &KnownFinding, raised: &BTreeSet<String>) -> EarlierFinding {
    let is_open = raised.contains(&known.noted.fingerprint) || !known.gone;
    EarlierFinding {
        noted: known.noted.clone(),
        state: if is_open { FindingState::Open } else { FindingState::Fixed },
    }
}

/// Warnings to show with the result.
fn collect_notices(debate: &Debate, status: Status) -> Vec<String> {
    let strip_tag = |line: String| match line.split_once("] ") {
        Some((mark, rest)) if mark.starts_with('[') => rest.to_owned(),
        _ => line,
    };
    let mut notices: Vec<String> = status::notices(debate).into_iter().map(strip_tag).collect();
    if !status.is_over() {
        let budget_spent =
            matches!(next(debate), Step::Hold { pause: PauseReason::BudgetExhausted { .. }, .. });
        let with_limit = if budget_spent { " with a higher limit" } else { "" };
        notices.insert(
            0,
            format!(
                "This review was cut short: what follows is what was said until then. The same \
                 command{with_limit} goes on with it."
            ),
        );
    }
    if status.is_over() && debate.is_concluded() {
        let notice = "The time was over before the debate was complete: this rests on what was \
                       said until then.";
        notices.insert(0, notice.into());
    }
    if status.is_over() && is_unopposed(debate) {
        notices.insert(0, "Nobody has argued against the change, so nothing is ruled.".into());
    }
    let not_shown = debate.setup().proposed.as_ref().map_or("", |it| it.unseen.as_str());
    if !not_shown.is_empty() {
        notices.push(format!("Not shown to those who argued: {not_shown}."));
    }
    if participants::debate_kind(debate) == participants::DebateKind::Research {
        let id = &debate.setup().id;
        notices.push(format!(
            "A research weighs both sides and picks none; `debate show {id}` shows all of it."
        ));
    }
    for label in status::labels(debate) {
        notices.push(match label {
            "single-model" => "One model argued with itself: less rigorous.".into(),
            "partial-judge" => "The judge may be the model of one of the sides.".into(),
            "demo" => "Nobody argued: this is a demo.".into(),
            other => other.to_owned(),
        });
    }
    notices
}

fn review_participants(debate: &Debate) -> Vec<ReviewParticipant> {
    let seats = (0u8..).zip(debate.seats());
    let visible = seats.filter(|(_, seat)| !matches!(seat.role, Role::Mirror | Role::Scribe));
    visible
        .map(|(index, seat)| ReviewParticipant {
            role: seat.title_in_sentence(),
            voice: participants::seat_model(debate, index),
        })
        .collect()
}

fn review_cost(debate: &Debate) -> ReviewCost {
    let spend = debate.spent();
    let known = |amount: u64| Some(amount).filter(|amount| *amount > 0);
    let turns = debate.turns().filter(|(_, turn)| turn.is_ok()).count();
    ReviewCost { turns, tokens: known(spend.tokens), cost: known(spend.cost) }
}
