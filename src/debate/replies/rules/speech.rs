//! Rules for speeches. `Rule::find_violation` in `rules` calls one function per rule, which returns
//! the error message if the speech breaks it. The format decides by phase which rules apply and
//! what a violation means.
use super::earlier_turns::{opposing_claims, own_turns};
use crate::debate::claims::ledger::{self, is_new_evidence};
use crate::debate::record::body::{Body, Claim};
use crate::debate::record::citation::Citation;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Side;
use crate::debate::text::words::{collapse_whitespace, in_backticks};

/// The speech ends with a valid claims block.
pub(super) fn structured(body: &Body) -> Option<String> {
    match body {
        Body::Speech { unstructured, .. } => unstructured.clone(),
        _ => None,
    }
}

/// Every claim has evidence.
pub(super) fn evidenced(body: &Body) -> Option<String> {
    let unsupported: Vec<String> =
        body.claims().iter().filter(|c| lacks_evidence(c)).map(|c| in_backticks(&c.id)).collect();
    match unsupported.as_slice() {
        [] => None,
        [one] => Some(format!("claim {one} is unsupported")),
        [one, two] => Some(format!("claims {one}, {two} are unsupported")),
        [one, two, rest @ ..] => {
            Some(format!("claims {one}, {two} and {} more are unsupported", rest.len()))
        }
    }
}

/// Unsupported claims of the other side's last turn are answered, or the text says `unsupported`.
pub(super) fn flags_unsupported(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Speech { text, .. } = body else { return None };
    let opponent = debate.seat(cue).role.side().map(Side::other);
    let (_, opposing_body) =
        debate.replies_before(cue).rfind(|(past, _)| debate.seat(*past).role.side() == opponent)?;
    let is_answered =
        |claim: &Claim| body.claims().iter().any(|own| own.answers.contains(&claim.id));
    let says_unsupported = text.to_lowercase().contains("unsupported");
    let missed = opposing_body
        .claims()
        .iter()
        .find(|claim| lacks_evidence(claim) && !says_unsupported && !is_answered(claim))?;
    Some(format!("claim {} is unsupported and was not called out", in_backticks(&missed.id)))
}

/// Maximum number of core claims of a seat per act.
const MAX_CORE_CLAIMS: usize = 3;

/// At most three core claims per act. An answer to an opposing claim does not count.
pub(super) fn at_most_three_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let earlier_bodies =
        own_turns(debate, cue).filter(|(past, _)| past.act == cue.act).map(|(_, body)| body);
    let claims = earlier_bodies.chain([body]).flat_map(Body::claims);
    let count = claims.filter(|claim| !answers_opposing_claim(debate, cue, claim)).count();
    (count > MAX_CORE_CLAIMS).then(|| format!("{count} core claims; at most three are allowed"))
}

/// At least one opposing claim is answered or conceded.
pub(super) fn answers_opponent(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let mut answered_ids = body.claims().iter().flat_map(|claim| &claim.answers);
    let is_opposing = |id: &String| opposing_claims(debate, cue).any(|claim| claim.id == *id);
    let nothing_to_answer = opposing_claims(debate, cue).next().is_none();
    let has_conceded = body.concessions().iter().any(|concession| is_opposing(&concession.claim));
    let must_answer = body.is_structured() && !nothing_to_answer && !has_conceded;
    (must_answer && !answered_ids.any(is_opposing)).then(|| "no opposing claim is answered".into())
}

/// At least one flaw is raised as a claim. Prose without a claims block is not checked.
pub(super) fn raises_flaw(body: &Body) -> Option<String> {
    let has_no_claims = body.is_structured() && body.claims().is_empty();
    has_no_claims.then(|| "no flaw or overlooked consideration is named as a claim".into())
}

/// A concern is raised, or an earlier one is certified as resolved, with evidence.
pub(super) fn raises_or_resolves(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    if !body.is_structured() || !body.claims().is_empty() {
        return None;
    }
    let was_raised =
        |id: &str| own_turns(debate, cue).flat_map(|(_, b)| b.claims()).any(|c| c.id == id);
    match body.resolutions() {
        [] => Some("neither raises a concern nor certifies one as resolved".into()),
        resolutions => {
            let invalid =
                resolutions.iter().find(|r| !was_raised(&r.claim) || r.evidence.is_empty())?;
            Some(if was_raised(&invalid.claim) {
                format!(
                    "{} is certified as resolved, but not by what",
                    in_backticks(&invalid.claim)
                )
            } else {
                format!("{} is no concern that was raised before", in_backticks(&invalid.claim))
            })
        }
    }
}

/// Whether a claim answers a claim the other side has made. Unknown ids do not count.
fn answers_opposing_claim(debate: &Debate, cue: Cue, claim: &Claim) -> bool {
    opposing_claims(debate, cue).any(|opposing| claim.answers.contains(&opposing.id))
}

/// No claim is new. Answers are allowed, and so are known ids in any wording.
pub(super) fn no_new_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let is_known = |id: &str| {
        own_turns(debate, cue).flat_map(|(_, body)| body.claims()).any(|claim| claim.id == id)
    };
    let mut claims = body.claims().iter();
    let new_claim =
        claims.find(|claim| !answers_opposing_claim(debate, cue, claim) && !is_known(&claim.id))?;
    Some(format!("claim {} is new, and it is too late for that", in_backticks(&new_claim.id)))
}

/// A concession quotes the opposing claim verbatim.
pub(super) fn concedes_verbatim(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let is_verbatim = |id: &str, quote: &str| {
        let quote = normalize_quote(quote);
        !quote.is_empty()
            && opposing_claims(debate, cue)
                .any(|claim| claim.id == id && normalize_quote(&claim.text).contains(&quote))
    };
    let misquoted = body
        .concessions()
        .iter()
        .find(|concession| !is_verbatim(&concession.claim, &concession.quote))?;
    Some(format!(
        "the concession of {} does not quote that claim of the other side word for word",
        in_backticks(&misquoted.claim)
    ))
}

/// Normalizes a quote for comparison: removes quotation marks and emphasis, trims full stops and
/// ellipses, collapses whitespace and lowercases.
fn normalize_quote(text: &str) -> String {
    let is_mark = |c: char| "\"'`*_\u{201c}\u{201d}\u{2018}\u{2019}\u{300c}\u{300d}".contains(c);
    let words: String = text.chars().filter(|c| !is_mark(*c)).collect();
    let is_edge = |c: char| c.is_whitespace() || ".\u{2026}\u{3002}".contains(c);
    collapse_whitespace(words.trim_matches(is_edge)).to_lowercase()
}

/// A conceded claim may be disputed again only with new evidence. In a pinned repository, the
/// evidence must be verified.
pub(super) fn keeps_concessions(
    debate: &Debate,
    cue: Cue,
    body: &Body,
    citations: &[Citation],
) -> Option<String> {
    let was_conceded = |id: &String| {
        own_turns(debate, cue)
            .flat_map(|(_, body)| body.concessions())
            .any(|concession| concession.claim == *id)
    };
    let known_evidence: Vec<&str> = ledger::entries(debate, debate.wave_start(cue))
        .iter()
        .flat_map(|entry| entry.evidence.clone())
        .collect();
    let is_pinned = debate.setup().pin.is_some();
    let stale = |claim: &&Claim| {
        let has_new_evidence = ledger::citations_for_claim(citations, &claim.id)
            .any(|it| is_new_evidence(debate, cue, it));
        let is_known = claim.evidence.iter().all(|new| known_evidence.contains(&new.as_str()));
        if is_pinned { !has_new_evidence } else { is_known }
    };
    let mut stale = body.claims().iter().filter(stale);
    let disputed = stale.find_map(|claim| claim.answers.iter().find(|id| was_conceded(id)))?;
    Some(format!("{} was conceded, and nothing new is offered against it", in_backticks(disputed)))
}

/// The length in characters is within the limits.
pub(super) fn fits_length(debate: &Debate, body: &Body) -> Option<String> {
    let Body::Speech { text, .. } = body else { return None };
    let (limits, length) = (&debate.setup().limits, text.chars().count());
    let fits = (limits.shortest..=limits.longest).contains(&length);
    let (min, max) = (limits.shortest, limits.longest);
    (!fits).then(|| format!("{length} characters; it must be {min} to {max}"))
}

fn lacks_evidence(claim: &Claim) -> bool {
    claim.evidence.iter().all(|evidence| evidence.trim().is_empty())
}

/// A closing speech has no evidence that was not offered before and no newly verified citation.
pub(super) fn no_new_facts(
    debate: &Debate,
    cue: Cue,
    body: &Body,
    citations: &[Citation],
) -> Option<String> {
    let was_offered = |evidence: &str| {
        let past = debate.replies_before(cue).flat_map(|(_, body)| body.claims());
        past.flat_map(|claim| &claim.evidence).any(|it| collapse_whitespace(it) == evidence)
    };
    let all_evidence = body.claims().iter().flat_map(|claim| &claim.evidence);
    let new_evidence = all_evidence
        .map(|it| collapse_whitespace(it))
        .find(|it| !it.is_empty() && !was_offered(it));
    let has_new_citation = citations.iter().any(|citation| is_new_evidence(debate, cue, citation));
    (new_evidence.is_some() || has_new_citation).then(|| {
        "evidence is offered that was not offered before, and it is too late for new facts".into()
    })
}
