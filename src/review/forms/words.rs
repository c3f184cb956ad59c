//! What every form says in the same words.
use super::place::at;
use super::tame::{cut, line};
use crate::debate::Place;
use crate::review::finding::{Finding, Proof};
use crate::review::{Decision, Review};

/// What nobody may take it for.
pub(super) const ADVISORY: &str =
    "Advisory: models argued this and a model ruled on it. Judges disagree; a person decides.";

/// The same of this review.
pub(super) fn advisory(review: &Review) -> &'static str {
    match review.decision {
        Decision::None if review.degraded => {
            "Advisory: models argued this, and nobody ruled on it. A person decides."
        }
        Decision::None => {
            "Advisory: models argued and weighed this, and picked no side. A person decides."
        }
        _ => ADVISORY,
    }
}

/// What it came to, in a line. A ruling without anything found to rest on is told as what it is.
pub(super) fn headline(review: &Review) -> &'static str {
    match review.decision {
        Decision::Change if review.findings.is_empty() && review.more == 0 => {
            "change the design first, says the ruling, but nothing was found that says why"
        }
        Decision::None if review.degraded => "not finished: nobody ruled",
        Decision::None => "weighed, and no side picked",
        decision => decision.says(),
    }
}

/// What those are that rest on nothing.
pub(super) const UNVERIFIED: &str = "What these rest on was not found in the files, or proves \
                                     nothing. They neither gate nor annotate.";

/// How many of something.
pub(super) fn counted(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// Whether there is nothing to tell of but what was ruled.
pub(super) fn nothing(review: &Review) -> bool {
    let listed = review.findings.len() + review.unverified.len() + review.earlier.len();
    listed + review.more == 0 && review.decision != Decision::Change
}

/// How sure one can be.
pub(super) fn confidence(review: &Review) -> Option<String> {
    review.confidence.map(|confidence| format!("confidence {confidence} of 100"))
}

/// What was ruled when nothing was found.
pub(super) fn nothing_found(review: &Review) -> String {
    if review.decision == Decision::None && review.degraded {
        return "not finished: nobody ruled. That nothing is listed does not mean that nothing is \
                wrong."
            .into();
    }
    let sure = confidence(review).map(|sure| format!(" ({sure})")).unwrap_or_default();
    format!("nothing found; {}{sure}. Advisory: judges disagree.", review.decision.says())
}

/// What must be known beside the result, each at most this many letters.
pub(super) fn notices(review: &Review, most: usize) -> Vec<String> {
    let mut notices: Vec<String> =
        review.notices.iter().take(20).map(|notice| line(notice, most)).collect();
    if review.notices.len() > notices.len() {
        notices.push(format!("{} more notices.", review.notices.len() - notices.len()));
    }
    if review.degraded {
        notices.insert(0, "Degraded: something is missing that a whole review would have.".into());
    }
    notices
}

/// How big the change is.
pub(super) fn size(review: &Review) -> String {
    let change = &review.change;
    let files = counted(change.files, "file");
    format!("{files}, {} added, {} deleted", counted(change.added, "line"), change.deleted)
}

/// Where, as people write it.
pub(super) fn whereabouts(place: Option<&Place>) -> Option<(String, &'static str)> {
    let place = place?;
    Some((at(place), if place.removed { " (removed lines)" } else { "" }))
}

/// How it stands with a finding; nothing, if there is nothing to say. Only where something was known
/// is anything new.
pub(super) fn standing(review: &Review, finding: &Finding) -> Option<String> {
    let again = !review.earlier.is_empty() || review.findings.iter().any(|it| it.known);
    let known = if finding.known { "still open from an earlier review" } else { "new" };
    let conceded = finding.conceded.then_some("conceded by the proposer");
    let said: Vec<&str> = again.then_some(known).into_iter().chain(conceded).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// What looking it up came to.
pub(super) fn looked_up(proof: &Proof) -> String {
    let found = line(&proof.found.replace('_', " "), 40);
    format!("{} ({found})", if proof.verified { "Verified" } else { "Not verified" })
}

/// What it took.
pub(super) fn spent(review: &Review) -> String {
    let spent = &review.spent;
    let tokens = spent.tokens.map(|tokens| format!(", {tokens} tokens"));
    let cost = spent.cost.map(|cost| format!(", cost {:.4}", cost as f64 / 1e6));
    let turns = counted(spent.turns, "turn");
    format!("{turns}{}{}", tokens.unwrap_or_default(), cost.unwrap_or_default())
}

/// That there were more than are listed.
pub(super) fn more(review: &Review) -> Option<String> {
    let more = counted(review.more, "more finding");
    (review.more > 0).then(|| format!("{more} left out of this review."))
}

/// A finding on one line: the claim, the words it rests on, and whether it was conceded.
pub(super) fn told(finding: &Finding) -> String {
    let mut told = line(&finding.claim, 500);
    if let Some(proof) = finding.evidence.iter().find(|proof| proof.verified) {
        let words = line(proof.quote.as_ref().unwrap_or(&proof.raw), 300);
        told = format!("{told} {}: {words}", looked_up(proof));
    }
    if finding.conceded {
        told.push_str(" (conceded by the proposer)");
    }
    cut(&told, 1000)
}
