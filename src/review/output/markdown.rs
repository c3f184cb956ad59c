//! Markdown sections of a review, shared by the summary and the comment.
use super::escape_markdown::{code_block, code_span, escape_line, escape_paragraphs};
use super::phrases::{
    UNVERIFIED_NOTE, advisory_note, change_size, confidence_text, cost_text, count_with_noun,
    evidence_result, finding_state_text, headline, location_text, nothing_found_text, notice_lines,
    omitted_note,
};
use super::sanitize::multi_line;
use super::truncate::OutputSection;
use crate::debate::{CodeLocation, Severity};
use crate::review::Review;
use crate::review::finding::{EarlierFinding, Finding, FindingEvidence, FindingState};
use std::fmt::Write;

/// Limit of evidence items per finding.
const MAX_EVIDENCE: usize = 6;

/// Limit of lines per quote.
const MAX_QUOTE_LINES: usize = 12;

/// One-line review for a skipped change or one without findings.
pub(super) fn one_line_review(review: &Review) -> String {
    match &review.skipped {
        Some(why) => format!("**Design review:** skipped: {}\n", escape_line(why, 600)),
        None => {
            format!(
                "**Design review:** {}\n{}",
                nothing_found_text(review),
                doubts_and_notices(review)
            )
        }
    }
}

/// Decision, doubts, confidence, reasoning and recommendation.
pub(super) fn verdict_section(review: &Review) -> String {
    let mut said = format!("## Design review: {}\n", headline(review));
    said.push_str(&doubts_block(review));
    let sure = confidence_text(review).map(|sure| format!("Ruled with {sure}. "));
    let _ = write!(said, "\n{}", sure.unwrap_or_default());
    let _ = writeln!(
        said,
        "The change: {} ({}).",
        escape_line(&review.title, 300),
        change_size(review)
    );
    if !review.change.says.trim().is_empty() && review.change.says != review.title {
        let _ = writeln!(said, "\nCompared: {}", escape_line(&review.change.says, 300));
    }
    if !review.reasoning.trim().is_empty() {
        let _ = write!(said, "\n**Why:**\n\n{}\n", escape_paragraphs(&review.reasoning, 6_000));
    }
    if !review.recommendation.trim().is_empty() {
        let _ = write!(
            said,
            "\n**What to do:**\n\n{}\n",
            escape_paragraphs(&review.recommendation, 4_000)
        );
    }
    let _ = writeln!(said, "\n_{}_", advisory_note(review));
    said.push_str(&notices_list(review));
    said
}

/// Doubts and warnings below a one-line review.
fn doubts_and_notices(review: &Review) -> String {
    doubts_block(review) + &notices_list(review)
}

fn doubts_block(review: &Review) -> String {
    if !review.is_contested() {
        return String::new();
    }
    let mut said =
        String::from("\n> **Contested: it could as well have come out otherwise.**\n>\n");
    for doubt in review.doubts.iter().take(8) {
        let _ = writeln!(said, "> - Doubt: {}", escape_line(doubt, 400));
    }
    said
}

fn notices_list(review: &Review) -> String {
    let notices = notice_lines(review, 400);
    let mut said = String::from(if notices.is_empty() { "" } else { "\n" });
    for notice in notices {
        let _ = writeln!(said, "> - Note: {}", escape_line(&notice, 400));
    }
    said
}

/// Sections of verified, unverified and earlier findings.
pub(super) fn finding_sections(review: &Review, folded: bool) -> Vec<OutputSection<'_>> {
    let numbered = move |(number, one): (usize, &Finding)| {
        finding_section(number, one, finding_state_text(review, one), folded)
    };
    let (found, unverified) = (review.findings.len(), review.unverified.len());
    vec![
        OutputSection {
            heading: format!("\n### {}\n", count_with_noun(found, "finding")),
            noun: "finding",
            count: found,
            entries: Box::new((1..).zip(&review.findings).map(numbered)),
        },
        OutputSection {
            heading: format!("\n### Not verified ({unverified})\n\n{UNVERIFIED_NOTE}\n"),
            noun: "unverified finding",
            count: unverified,
            entries: Box::new((1..).zip(&review.unverified).map(numbered)),
        },
        OutputSection {
            heading: "\n### Found by earlier reviews\n\n".into(),
            noun: "earlier finding",
            count: review.earlier.len(),
            entries: Box::new(review.earlier.iter().map(earlier_item)),
        },
    ]
}

fn finding_section(
    number: usize,
    finding: &Finding,
    stands: Option<String>,
    folded: bool,
) -> String {
    let grave = severity_title(finding.severity);
    let place = location_code(finding.place.as_ref()).map(|place| format!(": {place}"));
    let mut said = format!("\n#### {number}. {grave}{}\n\n", place.unwrap_or_default());
    let stands = stands.map(|stands| format!(" ({stands})")).unwrap_or_default();
    let _ = writeln!(said, "{}{stands}", escape_paragraphs(&finding.claim, 1_200));
    let mut below = String::new();
    for proof in finding.evidence.iter().take(MAX_EVIDENCE) {
        let _ = write!(below, "\n{}\n", evidence_item(proof));
    }
    if finding.evidence.len() > MAX_EVIDENCE {
        let more = count_with_noun(finding.evidence.len() - MAX_EVIDENCE, "more piece");
        let _ = writeln!(below, "\n{more} of evidence.");
    }
    if let Some(answer) = &finding.answer {
        let _ = write!(below, "\nThe proposer answered:\n\n{}\n", escape_paragraphs(answer, 2_000));
    }
    if folded && !below.is_empty() {
        below =
            format!("\n<details>\n<summary>Evidence and answer</summary>\n{below}\n</details>\n");
    }
    said + &below
}

fn evidence_item(proof: &FindingEvidence) -> String {
    let place = location_code(proof.place.as_ref()).map(|place| format!(" at {place}"));
    let found = escape_line(&evidence_result(proof), 120);
    let said = format!("{found}{}: ", place.unwrap_or_default());
    let words = multi_line(proof.quote.as_ref().unwrap_or(&proof.raw), 1_200, MAX_QUOTE_LINES);
    if words.contains('\n') {
        format!("{}\n\n{}", said.trim_end(), code_block(&words))
    } else {
        said + &code_span(&words, 600)
    }
}

fn earlier_item(earlier: &EarlierFinding) -> String {
    let state = match earlier.state {
        FindingState::Fixed => "Fixed",
        FindingState::Open => "**Still open**",
    };
    let place = location_code(earlier.noted.place.as_ref()).map(|place| format!(" at {place}"));
    let grave = earlier.noted.severity.as_str();
    format!(
        "- {state} ({grave}){}: {}\n",
        place.unwrap_or_default(),
        escape_line(&earlier.noted.claim, 600)
    )
}

fn location_code(place: Option<&CodeLocation>) -> Option<String> {
    location_text(place).map(|(at, removed)| code_span(&at, 300) + removed)
}

fn severity_title(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "High",
        Severity::Medium => "Medium",
        Severity::Low => "Low",
    }
}

/// Footer: number of omitted findings, participants and cost.
pub(super) fn footer(review: &Review) -> String {
    let mut said = omitted_note(review).map(|more| format!("\n{more}\n")).unwrap_or_default();
    let seats = review.seats.iter().take(12);
    let seats: Vec<String> = seats
        .map(|seat| format!("{} {}", escape_line(&seat.role, 60), code_span(&seat.voice, 80)))
        .collect();
    said.push_str("\n---\n\n");
    if !seats.is_empty() {
        let _ = write!(said, "Who argued: {}. ", seats.join(", "));
    }
    let _ = write!(said, "It took {}.", cost_text(review));
    if let Some(debate) = &review.debate {
        let _ = write!(said, " Debate {}.", code_span(debate, 80));
    }
    said.push('\n');
    said
}
