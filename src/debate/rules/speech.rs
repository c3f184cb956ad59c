//! Rules for speeches.
use super::{in_backticks, opposing_claims, own_turns};
use crate::debate::body::{Body, Claim};
use crate::debate::citation::Citation;
use crate::debate::digest;
use crate::debate::event::Cue;
use crate::debate::format::Side;
use crate::debate::ledger::{self, is_new_evidence};
use crate::debate::state::Debate;

/// The speech ends with a valid claims block.
pub(super) fn structured(body: &Body) -> Option<String> {
    match body {
        Body::Speech { unstructured, .. } => unstructured.clone(),
        _ => None,
    }
}

/// Every claim has evidence.
pub(super) fn evidenced(body: &Body) -> Option<String> {
    let bare: Vec<String> =
        body.claims().iter().filter(|c| lacks_evidence(c)).map(|c| in_backticks(&c.id)).collect();
    match bare.as_slice() {
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
    let other = debate.seat(cue).role.side().map(Side::other);
    let (_, last) =
        debate.replies_before(cue).rfind(|(past, _)| debate.seat(*past).role.side() == other)?;
    let answered = |claim: &Claim| body.claims().iter().any(|own| own.answers.contains(&claim.id));
    let said = text.to_lowercase().contains("unsupported");
    let missed =
        last.claims().iter().find(|claim| lacks_evidence(claim) && !said && !answered(claim))?;
    Some(format!("claim {} is unsupported and was not called out", in_backticks(&missed.id)))
}

/// At most three core claims per act. An answer to an opposing claim does not count.
pub(super) fn at_most_three_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let act = own_turns(debate, cue).filter(|(past, _)| past.act == cue.act).map(|(_, body)| body);
    let claims = act.chain([body]).flat_map(Body::claims);
    let count = claims.filter(|claim| !answers_opposing_claim(debate, cue, claim)).count();
    (count > 3).then(|| format!("{count} core claims; at most three are allowed"))
}

/// At least one opposing claim is answered or conceded.
pub(super) fn answers_opponent(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let mut answered = body.claims().iter().flat_map(|claim| &claim.answers);
    let opposing = |id: &String| opposing_claims(debate, cue).any(|claim| claim.id == *id);
    let speechless = opposing_claims(debate, cue).next().is_none();
    let conceded = body.concessions().iter().any(|given| opposing(&given.claim));
    let silent = body.is_structured() && !speechless && !conceded;
    (silent && !answered.any(opposing)).then(|| "no opposing claim is answered".into())
}

/// At least one flaw is raised as a claim. Prose without a claims block is not checked.
pub(super) fn raises_flaw(body: &Body) -> Option<String> {
    let silent = body.is_structured() && body.claims().is_empty();
    silent.then(|| "no flaw or overlooked consideration is named as a claim".into())
}

/// A concern is raised, or an earlier one is certified as resolved, with evidence.
pub(super) fn raises_or_resolves(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    if !body.is_structured() || !body.claims().is_empty() {
        return None;
    }
    let raised =
        |id: &str| own_turns(debate, cue).flat_map(|(_, b)| b.claims()).any(|c| c.id == id);
    match body.resolutions() {
        [] => Some("neither raises a concern nor certifies one as resolved".into()),
        all => {
            let wrong = all.iter().find(|r| !raised(&r.claim) || r.evidence.is_empty())?;
            Some(if raised(&wrong.claim) {
                format!("{} is certified as resolved, but not by what", in_backticks(&wrong.claim))
            } else {
                format!("{} is no concern that was raised before", in_backticks(&wrong.claim))
            })
        }
    }
}

/// Whether a claim answers a claim the other side has made. Unknown ids do not count.
fn answers_opposing_claim(debate: &Debate, cue: Cue, claim: &Claim) -> bool {
    opposing_claims(debate, cue).any(|other| claim.answers.contains(&other.id))
}

/// No claim is new. Answers are allowed, and so are known ids in any wording.
pub(super) fn no_new_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let known = |id: &str| {
        own_turns(debate, cue).flat_map(|(_, body)| body.claims()).any(|claim| claim.id == id)
    };
    let mut claims = body.claims().iter();
    let new =
        claims.find(|claim| !answers_opposing_claim(debate, cue, claim) && !known(&claim.id))?;
    Some(format!("claim {} is new, and it is too late for that", in_backticks(&new.id)))
}

/// A concession quotes the opposing claim verbatim.
pub(super) fn concedes_verbatim(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let says = |id: &str, quote: &str| {
        let quote = normalize_quote(quote);
        !quote.is_empty()
            && opposing_claims(debate, cue)
                .any(|claim| claim.id == id && normalize_quote(&claim.text).contains(&quote))
    };
    let wrong = body.concessions().iter().find(|given| !says(&given.claim, &given.quote))?;
    Some(format!(
        "the concession of {} does not quote that claim of the other side word for word",
        in_backticks(&wrong.claim)
    ))
}

/// Normalizes a quote for comparison: removes quotation marks and emphasis, trims full stops and
/// ellipses, collapses whitespace and lowercases.
fn normalize_quote(text: &str) -> String {
    let marks = |c: char| "\"'`*_\u{201c}\u{201d}\u{2018}\u{2019}\u{300c}\u{300d}".contains(c);
    let words: String = text.chars().filter(|c| !marks(*c)).collect();
    let ends = |c: char| c.is_whitespace() || ".\u{2026}\u{3002}".contains(c);
    digest::collapse_whitespace(words.trim_matches(ends)).to_lowercase()
}

/// A conceded claim may be disputed again only with new evidence. In a pinned repository, the
/// evidence must be verified.
pub(super) fn keeps_concessions(
    debate: &Debate,
    cue: Cue,
    body: &Body,
    citations: &[Citation],
) -> Option<String> {
    let conceded = |id: &String| {
        own_turns(debate, cue)
            .flat_map(|(_, body)| body.concessions())
            .any(|given| given.claim == *id)
    };
    let known: Vec<&str> = ledger::entries(debate, debate.wave_start(cue))
        .iter()
        .flat_map(|entry| entry.evidence.clone())
        .collect();
    let looked_up = debate.setup().pin.is_some();
    let stale = |claim: &&Claim| {
        let found = ledger::citations_for_claim(citations, &claim.id)
            .any(|it| is_new_evidence(debate, cue, it));
        let same = claim.evidence.iter().all(|new| known.contains(&new.as_str()));
        if looked_up { !found } else { same }
    };
    let mut stale = body.claims().iter().filter(stale);
    let taken_back = stale.find_map(|claim| claim.answers.iter().find(|id| conceded(id)))?;
    Some(format!(
        "{} was conceded, and nothing new is offered against it",
        in_backticks(taken_back)
    ))
}

/// The length in characters is within the limits.
pub(super) fn fits_length(debate: &Debate, body: &Body) -> Option<String> {
    let Body::Speech { text, .. } = body else { return None };
    let (limits, length) = (&debate.setup().limits, text.chars().count());
    let fits = (limits.shortest..=limits.longest).contains(&length);
    let (least, most) = (limits.shortest, limits.longest);
    (!fits).then(|| format!("{length} characters; it must be {least} to {most}"))
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
    let offered = |evidence: &str| {
        let past = debate.replies_before(cue).flat_map(|(_, body)| body.claims());
        past.flat_map(|claim| &claim.evidence).any(|it| digest::collapse_whitespace(it) == evidence)
    };
    let stated = body.claims().iter().flat_map(|claim| &claim.evidence);
    let new =
        stated.map(|it| digest::collapse_whitespace(it)).find(|it| !it.is_empty() && !offered(it));
    let found = citations.iter().any(|citation| is_new_evidence(debate, cue, citation));
    (new.is_some() || found).then(|| {
        "evidence is offered that was not offered before, and it is too late for new facts".into()
    })
}
