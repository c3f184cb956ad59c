//! Rules for verdicts. `Rule::find_violation` in `rules` calls one function per rule, which returns
//! the error message if the verdict breaks it. `rules::report` shares [`find_hedge`], the search
//! for phrases that avoid a decision.
use crate::debate::claims::ledger::{self, ClaimStatus, claims_to_check};
use crate::debate::record::body::{Body, ClaimCheck, JudgeRuling, RubricMarks};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::Side;
use crate::debate::text::words::{collapse_whitespace, in_backticks};

/// The verdict picks a side, its scores agree with that, and its reasoning does not avoid the
/// choice.
pub(super) fn picks_side(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let Some(side) = ruling.side else { return Some("the verdict must pick a side".into()) };
    let winner_trails = ruling.scores.is_some_and(|scores| match side {
        Side::Pro => scores.pro < scores.con,
        Side::Con => scores.con < scores.pro,
    });
    if winner_trails {
        return Some("the scores put the other side ahead of the winner".into());
    }
    let phrases = &HEDGE_PHRASES[..REFUSAL_COUNT];
    find_hedge(&ruling.because, phrases).map(|phrase| format!("`{phrase}` does not pick a side"))
}

/// There is a recommendation, and it does not hedge.
pub(super) fn recommends(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    if ruling.recommendation.trim().is_empty() {
        return Some("the recommendation is empty; say what to do".into());
    }
    find_hedge(&ruling.recommendation, HEDGE_PHRASES)
        .map(|phrase| format!("`{phrase}` recommends nothing"))
}

/// Phrases that avoid a decision. The first [`REFUSAL_COUNT`] are rejected in the reasoning too,
/// the others only in a recommendation.
#[rustfmt::skip]
pub(super) const HEDGE_PHRASES: &[&str] = &[
    "both approaches have merit", "both have merit", "both sides have merit",
    "both options have merit", "both positions have merit", "both approaches are valid",
    "neither side wins", "it is a tie", "it's a tie", "各有优劣", "各有千秋", "都有可取之处",
    "both are equally valid", "both sides are right", "equally valid", "equally strong",
    "都有道理",
];

const REFUSAL_COUNT: usize = 12;

/// Finds the first of these phrases outside quotation marks.
pub(super) fn find_hedge(text: &str, phrases: &'static [&'static str]) -> Option<&'static str> {
    let text = text.replace(['\u{201c}', '\u{201d}', '\u{300c}', '\u{300d}'], "\"");
    let unquoted: String = text.split('"').step_by(2).collect();
    let normalized = collapse_whitespace(&unquoted).to_lowercase();
    phrases.iter().copied().find(|hedge| normalized.contains(hedge))
}

/// The verdict cites turns, and each of them has a reply.
pub(super) fn cites_record(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let cites = &ruling.cites;
    let horizon = debate.wave_start(cue);
    let has_reply = |cited: &&Cue| **cited < horizon && matches!(debate.turn(**cited), Some(Ok(_)));
    if cites.is_empty() {
        return Some("the verdict must cite the turns it rests on".into());
    }
    let unknown = cites.iter().find(|cited| !has_reply(cited))?;
    Some(format!("nothing was said at {unknown}"))
}

/// After sealed opening answers, the verdict says what the debate changed.
pub(super) fn says_what_changed(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let missing = ruling.changed.as_ref().is_none_or(|it| it.because.trim().is_empty());
    missing.then(|| {
        "`changed` is missing: say whether the debate changed the decision the sealed answers would \
         have led to, and on what"
            .into()
    })
}

/// Every contested claim has an entry in `checks`. No entry contradicts the ledger or names an
/// unknown claim.
pub(super) fn checks_claims(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let label = |side: Side| match debate.side_label(cue, side) {
        Some(label) => format!("side {label}"),
        None => side.role_name().to_owned(),
    };
    for entry in claims_to_check(debate, debate.wave_start(cue)) {
        let (id, owner) = (in_backticks(&entry.claim.id), label(entry.side));
        let matches_entry =
            |check: &&ClaimCheck| check.side == entry.side && check.claim == entry.claim.id;
        let Some(check) = ruling.checks.iter().find(matches_entry) else {
            return Some(format!("`checks` has no entry for {id} of {owner}"));
        };
        let citations_wrong = !entry.citations.is_empty() && entry.is_unsupported();
        if check.supported && citations_wrong {
            return Some(format!("{id} of {owner}: none of its citations was found"));
        }
        // The reverse is allowed: a concession made only in prose is not in the ledger.
        if !check.conceded && matches!(entry.status, ClaimStatus::Conceded(_)) {
            return Some(format!("{id} of {owner} was conceded, as the record shows"));
        }
    }
    let ledger_entries = ledger::entries(debate, debate.wave_start(cue));
    let is_known = |check: &ClaimCheck| {
        ledger_entries.iter().any(|entry| entry.side == check.side && entry.claim.id == check.claim)
    };
    let unknown = ruling.checks.iter().find(|check| !is_known(check))?;
    Some(format!("{} is no claim of {}", in_backticks(&unknown.claim), label(unknown.side)))
}

/// If fewer of the winner's claims stand by `checks`, the verdict says why in `despite`.
pub(super) fn follows_checks(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let side = ruling.side?;
    let (winner_count, loser_count) =
        (count_standing_claims(ruling, side), count_standing_claims(ruling, side.other()));
    (winner_count < loser_count && ruling.despite.trim().is_empty()).then(|| {
        format!(
            "by your own answers {winner_count} claims of the winner stand and {loser_count} of \
             the other side: say in `despite` why it wins all the same, or rule otherwise"
        )
    })
}

/// Number of a side's claims that stand by `checks`.
fn count_standing_claims(ruling: &JudgeRuling, side: Side) -> usize {
    ruling.checks.iter().filter(|check| check.side == side && check.upholds_claim()).count()
}

/// `decisive` is the id of a claim of the winner that was not taken back.
pub(super) fn names_decisive(debate: &Debate, cue: Cue, body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let entries = ledger::entries(debate, debate.wave_start(cue));
    let is_winners = |entry: &&ledger::LedgerEntry<'_>| Some(entry.side) == ruling.side;
    let winner_entries: Vec<_> = entries.iter().filter(is_winners).collect();
    // A side without parsed claims has no ids to choose from.
    if winner_entries.is_empty() {
        return None;
    }
    let Some(id) = ruling.decisive.as_deref().filter(|id| !id.trim().is_empty()) else {
        return Some("`decisive` is missing: name the winner's claim that decided it".into());
    };
    match winner_entries.iter().find(|entry| entry.claim.id == id) {
        None => {
            Some(format!("`decisive` is {}, which is no claim of the winner", in_backticks(id)))
        }
        Some(entry) if entry.status == ClaimStatus::Resolved => {
            Some(format!("`decisive` is {}, which its own side took back", in_backticks(id)))
        }
        Some(_) => None,
    }
}

/// At least one blind spot of each side is named.
pub(super) fn names_blind_spots(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let has_blind_spot = |side: Side| {
        ruling.blind_spots.iter().any(|spot| spot.side == side && !spot.text.trim().is_empty())
    };
    let missing = !has_blind_spot(Side::Pro) || !has_blind_spot(Side::Con);
    missing.then(|| "`blind_spots` must name at least one of each side".into())
}

/// Both sides are marked by every criterion within its maximum, and the scores are the sums.
pub(super) fn marks_by_rubric(body: &Body) -> Option<String> {
    let Body::Verdict(ruling) = body else { return None };
    let Some(rubric) = &ruling.rubric else {
        return Some("`rubric` is missing: mark both sides by the five criteria".into());
    };
    for marks in [&rubric.pro, &rubric.con] {
        for (name, max) in RubricMarks::CRITERIA {
            match marks.get(name) {
                None => {
                    return Some(format!(
                        "`rubric` has no {} for one of the sides",
                        in_backticks(name)
                    ));
                }
                Some(mark) if *mark > max => {
                    return Some(format!(
                        "{} is {mark}; it counts {max} at most",
                        in_backticks(name)
                    ));
                }
                Some(_) => {}
            }
        }
        let known = |name: &str| RubricMarks::CRITERIA.iter().any(|(known, _)| *known == name);
        if let Some(unknown) = marks.keys().find(|name| !known(name)) {
            return Some(format!("{} is none of the criteria", in_backticks(unknown)));
        }
    }
    let sums = rubric.totals();
    (ruling.scores != Some(sums)).then(|| "the scores are not the sums of the marks".into())
}
