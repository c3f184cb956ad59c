//! Markdown sections of a review, shared by the summary and the comment.
use super::fit::Section;
use super::inline::{code, fence, paragraphs, text};
use super::tame::block;
use super::words::{
    UNVERIFIED, advisory, confidence, counted, headline, looked_up, more, nothing_found, notices,
    size, spent, standing, whereabouts,
};
use crate::debate::{CodeLocation, Severity};
use crate::review::Review;
use crate::review::finding::{Earlier, Finding, Proof, State};
use std::fmt::Write;

/// Limit of evidence items per finding.
const PROOFS: usize = 6;

/// Limit of lines per quote.
const LINES: usize = 12;

/// One-line review for a skipped change or one without findings.
pub(super) fn short(review: &Review) -> String {
    match &review.skipped {
        Some(why) => format!("**Design review:** skipped: {}\n", text(why, 600)),
        None => {
            format!("**Design review:** {}\n{}", nothing_found(review), beside(review))
        }
    }
}

/// Decision, doubts, confidence, reasoning and recommendation.
pub(super) fn verdict(review: &Review) -> String {
    let mut said = format!("## Design review: {}\n", headline(review));
    said.push_str(&doubts(review));
    let sure = confidence(review).map(|sure| format!("Ruled with {sure}. "));
    let _ = write!(said, "\n{}", sure.unwrap_or_default());
    let _ = writeln!(said, "The change: {} ({}).", text(&review.title, 300), size(review));
    if !review.change.says.trim().is_empty() && review.change.says != review.title {
        let _ = writeln!(said, "\nCompared: {}", text(&review.change.says, 300));
    }
    if !review.reasoning.trim().is_empty() {
        let _ = write!(said, "\n**Why:**\n\n{}\n", paragraphs(&review.reasoning, 6_000));
    }
    if !review.recommendation.trim().is_empty() {
        let _ =
            write!(said, "\n**What to do:**\n\n{}\n", paragraphs(&review.recommendation, 4_000));
    }
    let _ = writeln!(said, "\n_{}_", advisory(review));
    said.push_str(&notes(review));
    said
}

/// Doubts and warnings below a one-line review.
fn beside(review: &Review) -> String {
    doubts(review) + &notes(review)
}

fn doubts(review: &Review) -> String {
    if !review.contested() {
        return String::new();
    }
    let mut said =
        String::from("\n> **Contested: it could as well have come out otherwise.**\n>\n");
    for doubt in review.doubts.iter().take(8) {
        let _ = writeln!(said, "> - Doubt: {}", text(doubt, 400));
    }
    said
}

fn notes(review: &Review) -> String {
    let notices = notices(review, 400);
    let mut said = String::from(if notices.is_empty() { "" } else { "\n" });
    for notice in notices {
        let _ = writeln!(said, "> - Note: {}", text(&notice, 400));
    }
    said
}

/// Sections of verified, unverified and earlier findings.
pub(super) fn sections(review: &Review, folded: bool) -> Vec<Section<'_>> {
    let numbered =
        move |(number, one): (usize, &Finding)| finding(number, one, standing(review, one), folded);
    let (found, unverified) = (review.findings.len(), review.unverified.len());
    vec![
        Section {
            heading: format!("\n### {}\n", counted(found, "finding")),
            noun: "finding",
            count: found,
            entries: Box::new((1..).zip(&review.findings).map(numbered)),
        },
        Section {
            heading: format!("\n### Not verified ({unverified})\n\n{UNVERIFIED}\n"),
            noun: "unverified finding",
            count: unverified,
            entries: Box::new((1..).zip(&review.unverified).map(numbered)),
        },
        Section {
            heading: "\n### Found by earlier reviews\n\n".into(),
            noun: "earlier finding",
            count: review.earlier.len(),
            entries: Box::new(review.earlier.iter().map(was)),
        },
    ]
}

fn finding(number: usize, finding: &Finding, stands: Option<String>, folded: bool) -> String {
    let grave = title(finding.severity);
    let place = located(finding.place.as_ref()).map(|place| format!(": {place}"));
    let mut said = format!("\n#### {number}. {grave}{}\n\n", place.unwrap_or_default());
    let stands = stands.map(|stands| format!(" ({stands})")).unwrap_or_default();
    let _ = writeln!(said, "{}{stands}", paragraphs(&finding.claim, 1_200));
    let mut below = String::new();
    for proof in finding.evidence.iter().take(PROOFS) {
        let _ = write!(below, "\n{}\n", evidence(proof));
    }
    if finding.evidence.len() > PROOFS {
        let more = counted(finding.evidence.len() - PROOFS, "more piece");
        let _ = writeln!(below, "\n{more} of evidence.");
    }
    if let Some(answer) = &finding.answer {
        let _ = write!(below, "\nThe proposer answered:\n\n{}\n", paragraphs(answer, 2_000));
    }
    if folded && !below.is_empty() {
        below =
            format!("\n<details>\n<summary>Evidence and answer</summary>\n{below}\n</details>\n");
    }
    said + &below
}

fn evidence(proof: &Proof) -> String {
    let place = located(proof.place.as_ref()).map(|place| format!(" at {place}"));
    let found = text(&looked_up(proof), 120);
    let said = format!("{found}{}: ", place.unwrap_or_default());
    let words = block(proof.quote.as_ref().unwrap_or(&proof.raw), 1_200, LINES);
    if words.contains('\n') {
        format!("{}\n\n{}", said.trim_end(), fence(&words))
    } else {
        said + &code(&words, 600)
    }
}

fn was(earlier: &Earlier) -> String {
    let state = match earlier.state {
        State::Fixed => "Fixed",
        State::Open => "**Still open**",
    };
    let place = located(earlier.noted.place.as_ref()).map(|place| format!(" at {place}"));
    let grave = earlier.noted.severity.as_str();
    format!(
        "- {state} ({grave}){}: {}\n",
        place.unwrap_or_default(),
        text(&earlier.noted.claim, 600)
    )
}

fn located(place: Option<&CodeLocation>) -> Option<String> {
    whereabouts(place).map(|(at, removed)| code(&at, 300) + removed)
}

fn title(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "High",
        Severity::Medium => "Medium",
        Severity::Low => "Low",
    }
}

/// Footer: number of omitted findings, participants and cost.
pub(super) fn ending(review: &Review) -> String {
    let mut said = more(review).map(|more| format!("\n{more}\n")).unwrap_or_default();
    let seats = review.seats.iter().take(12);
    let seats: Vec<String> =
        seats.map(|seat| format!("{} {}", text(&seat.role, 60), code(&seat.voice, 80))).collect();
    said.push_str("\n---\n\n");
    if !seats.is_empty() {
        let _ = write!(said, "Who argued: {}. ", seats.join(", "));
    }
    let _ = write!(said, "It took {}.", spent(review));
    if let Some(debate) = &review.debate {
        let _ = write!(said, " Debate {}.", code(debate, 80));
    }
    said.push('\n');
    said
}
