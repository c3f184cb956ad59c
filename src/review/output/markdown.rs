//! Markdown sections of a review, shared by the summary (`markdown_summary`) and the comment
//! (`pr_comment`). Entry points: `verdict_section`, `finding_sections` and `footer`, which these
//! two put together within their size limits.
use super::escape_markdown::{code_block, code_span, escape_line, escape_paragraphs};
use super::limits::{
    MAX_DOUBTS, MAX_EARLIER_CLAIM_CHARS, MAX_LOCATION_CHARS, MAX_NAME_CHARS, MAX_NOTICE_CHARS,
    MAX_PARTICIPANTS, MAX_ROLE_CHARS, MAX_SKIP_REASON_CHARS, MAX_TITLE_CHARS,
};
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
/// Characters of a quote of several lines.
const MAX_QUOTE_CHARS: usize = 1_200;
/// Characters of a quote of one line.
const MAX_INLINE_QUOTE_CHARS: usize = 600;
/// Bytes of the reasoning, escaped.
const MAX_REASONING_BYTES: usize = 6_000;
/// Bytes of the recommendation, escaped.
const MAX_RECOMMENDATION_BYTES: usize = 4_000;
/// Bytes of a claim, escaped.
const MAX_CLAIM_BYTES: usize = 1_200;
/// Bytes of the proposer's answer, escaped.
const MAX_ANSWER_BYTES: usize = 2_000;
/// Bytes of the result of an evidence check, escaped.
const MAX_CHECK_RESULT_BYTES: usize = 120;

/// One-line review for a skipped change or one without findings.
pub(super) fn one_line_review(review: &Review) -> String {
    match &review.skipped {
        Some(reason) => {
            format!("**Design review:** skipped: {}\n", escape_line(reason, MAX_SKIP_REASON_CHARS))
        }
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
    let mut text = format!("## Design review: {}\n", headline(review));
    text.push_str(&doubts_block(review));
    let confidence = confidence_text(review).map(|confidence| format!("Ruled with {confidence}. "));
    let _ = write!(text, "\n{}", confidence.unwrap_or_default());
    let _ = writeln!(
        text,
        "The change: {} ({}).",
        escape_line(&review.title, MAX_TITLE_CHARS),
        change_size(review)
    );
    if !review.change.says.trim().is_empty() && review.change.says != review.title {
        let _ = writeln!(text, "\nCompared: {}", escape_line(&review.change.says, MAX_TITLE_CHARS));
    }
    if !review.reasoning.trim().is_empty() {
        let _ = write!(
            text,
            "\n**Why:**\n\n{}\n",
            escape_paragraphs(&review.reasoning, MAX_REASONING_BYTES)
        );
    }
    if !review.recommendation.trim().is_empty() {
        let _ = write!(
            text,
            "\n**What to do:**\n\n{}\n",
            escape_paragraphs(&review.recommendation, MAX_RECOMMENDATION_BYTES)
        );
    }
    let _ = writeln!(text, "\n_{}_", advisory_note(review));
    text.push_str(&notices_list(review));
    text
}

/// Doubts and warnings below a one-line review.
fn doubts_and_notices(review: &Review) -> String {
    doubts_block(review) + &notices_list(review)
}

fn doubts_block(review: &Review) -> String {
    if !review.is_contested() {
        return String::new();
    }
    let mut text =
        String::from("\n> **Contested: it could as well have come out otherwise.**\n>\n");
    for doubt in review.doubts.iter().take(MAX_DOUBTS) {
        let _ = writeln!(text, "> - Doubt: {}", escape_line(doubt, MAX_NOTICE_CHARS));
    }
    text
}

fn notices_list(review: &Review) -> String {
    let notices = notice_lines(review, MAX_NOTICE_CHARS);
    let mut text = String::from(if notices.is_empty() { "" } else { "\n" });
    for notice in notices {
        let _ = writeln!(text, "> - Note: {}", escape_line(&notice, MAX_NOTICE_CHARS));
    }
    text
}

/// Sections of verified, unverified and earlier findings.
pub(super) fn finding_sections(review: &Review, folded: bool) -> Vec<OutputSection<'_>> {
    let numbered = move |(number, finding): (usize, &Finding)| {
        finding_section(number, finding, finding_state_text(review, finding), folded)
    };
    let (verified_count, unverified_count) = (review.findings.len(), review.unverified.len());
    vec![
        OutputSection {
            heading: format!("\n### {}\n", count_with_noun(verified_count, "finding")),
            noun: "finding",
            count: verified_count,
            entries: Box::new((1..).zip(&review.findings).map(numbered)),
        },
        OutputSection {
            heading: format!("\n### Not verified ({unverified_count})\n\n{UNVERIFIED_NOTE}\n"),
            noun: "unverified finding",
            count: unverified_count,
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
    state: Option<String>,
    folded: bool,
) -> String {
    let severity = severity_title(finding.severity);
    let location = location_code(finding.place.as_ref()).map(|location| format!(": {location}"));
    let mut text = format!("\n#### {number}. {severity}{}\n\n", location.unwrap_or_default());
    let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
    let _ = writeln!(text, "{}{state}", escape_paragraphs(&finding.claim, MAX_CLAIM_BYTES));
    let mut details = String::new();
    for evidence in finding.evidence.iter().take(MAX_EVIDENCE) {
        let _ = write!(details, "\n{}\n", evidence_item(evidence));
    }
    if finding.evidence.len() > MAX_EVIDENCE {
        let more = count_with_noun(finding.evidence.len() - MAX_EVIDENCE, "more piece");
        let _ = writeln!(details, "\n{more} of evidence.");
    }
    if let Some(answer) = &finding.answer {
        let answer = escape_paragraphs(answer, MAX_ANSWER_BYTES);
        let _ = write!(details, "\nThe proposer answered:\n\n{answer}\n");
    }
    if folded && !details.is_empty() {
        details =
            format!("\n<details>\n<summary>Evidence and answer</summary>\n{details}\n</details>\n");
    }
    text + &details
}

fn evidence_item(evidence: &FindingEvidence) -> String {
    let location = location_code(evidence.place.as_ref()).map(|location| format!(" at {location}"));
    let result = escape_line(&evidence_result(evidence), MAX_CHECK_RESULT_BYTES);
    let text = format!("{result}{}: ", location.unwrap_or_default());
    let quote = evidence.quote.as_ref().unwrap_or(&evidence.raw);
    let quote = multi_line(quote, MAX_QUOTE_CHARS, MAX_QUOTE_LINES);
    if quote.contains('\n') {
        format!("{}\n\n{}", text.trim_end(), code_block(&quote))
    } else {
        text + &code_span(&quote, MAX_INLINE_QUOTE_CHARS)
    }
}

fn earlier_item(earlier: &EarlierFinding) -> String {
    let state = match earlier.state {
        FindingState::Fixed => "Fixed",
        FindingState::Open => "**Still open**",
    };
    let location =
        location_code(earlier.noted.place.as_ref()).map(|location| format!(" at {location}"));
    let severity = earlier.noted.severity.as_str();
    format!(
        "- {state} ({severity}){}: {}\n",
        location.unwrap_or_default(),
        escape_line(&earlier.noted.claim, MAX_EARLIER_CLAIM_CHARS)
    )
}

fn location_code(location: Option<&CodeLocation>) -> Option<String> {
    location_text(location).map(|(path, removed)| code_span(&path, MAX_LOCATION_CHARS) + removed)
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
    let mut text = omitted_note(review).map(|more| format!("\n{more}\n")).unwrap_or_default();
    let seats = review.seats.iter().take(MAX_PARTICIPANTS);
    let seats: Vec<String> = seats
        .map(|seat| {
            let role = escape_line(&seat.role, MAX_ROLE_CHARS);
            format!("{role} {}", code_span(&seat.voice, MAX_NAME_CHARS))
        })
        .collect();
    text.push_str("\n---\n\n");
    if !seats.is_empty() {
        let _ = write!(text, "Who argued: {}. ", seats.join(", "));
    }
    let _ = write!(text, "It took {}.", cost_text(review));
    if let Some(debate) = &review.debate {
        let _ = write!(text, " Debate {}.", code_span(debate, MAX_NAME_CHARS));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::ReviewParticipant;
    use crate::review::output::render_summary;
    use crate::review::test_review::{
        assert_text_limit, earlier_with_claim, evidence_with_quote, location_of_file,
        review_with_finding,
    };

    /// Puts a text into a review.
    type TextEdit = fn(&mut Review, &str);
    /// Puts this many entries into a review.
    type ListEdit = fn(&mut Review, usize);

    fn participant(role: &str, model: &str) -> ReviewParticipant {
        ReviewParticipant { role: role.to_owned(), voice: model.to_owned() }
    }

    #[test]
    fn texts_in_markdown_are_cut() {
        assert_eq!((MAX_REASONING_BYTES, MAX_RECOMMENDATION_BYTES), (6_000, 4_000));
        assert_eq!((MAX_CLAIM_BYTES, MAX_ANSWER_BYTES), (1_200, 2_000));
        assert_eq!((MAX_QUOTE_CHARS, MAX_INLINE_QUOTE_CHARS), (1_200, 600));
        let cases: [(usize, &str, TextEdit); 16] = [
            (MAX_SKIP_REASON_CHARS, "skipped: ", |review, text| review.skipped = Some(text.into())),
            (MAX_TITLE_CHARS, "The change: ", |review, text| review.title = text.into()),
            (MAX_TITLE_CHARS, "Compared: ", |review, text| review.change.says = text.into()),
            (MAX_REASONING_BYTES, "**Why:**\n\n", |review, text| review.reasoning = text.into()),
            (MAX_RECOMMENDATION_BYTES, "**What to do:**\n\n", |review, text| {
                review.recommendation = text.into();
            }),
            (MAX_NOTICE_CHARS, "> - Doubt: ", |review, text| review.doubts = vec![text.into()]),
            (MAX_NOTICE_CHARS, "> - Note: ", |review, text| review.notices = vec![text.into()]),
            (MAX_CLAIM_BYTES, "1. High\n\n", |review, text| review.findings[0].claim = text.into()),
            (MAX_ANSWER_BYTES, "answered:\n\n", |review, text| {
                review.findings[0].answer = Some(text.into());
            }),
            (MAX_INLINE_QUOTE_CHARS, "Verified (exact): `", |review, text| {
                review.findings[0].evidence = vec![evidence_with_quote(text)];
            }),
            // Two characters are in the first line.
            (MAX_QUOTE_CHARS - 2, "| a\n| ", |review, text| {
                review.findings[0].evidence = vec![evidence_with_quote(&format!("a\n{text}"))];
            }),
            (MAX_LOCATION_CHARS, "1. High: `", |review, text| {
                review.findings[0].place = Some(location_of_file(text));
            }),
            (MAX_EARLIER_CLAIM_CHARS, "(high): ", |review, text| {
                review.earlier = vec![earlier_with_claim(text)];
            }),
            (MAX_ROLE_CHARS, "Who argued: ", |review, text| {
                review.seats = vec![participant(text, "claude")];
            }),
            (MAX_NAME_CHARS, "judge `", |review, text| {
                review.seats = vec![participant("judge", text)];
            }),
            (MAX_NAME_CHARS, " Debate `", |review, text| review.debate = Some(text.into())),
        ];
        for (max, prefix, edit) in cases {
            assert_text_limit(max, prefix, |text| {
                let mut review = review_with_finding();
                edit(&mut review, text);
                render_summary(&review, usize::MAX)
            });
        }
    }

    #[test]
    fn lists_in_markdown_are_limited() {
        assert_eq!((MAX_DOUBTS, MAX_PARTICIPANTS, MAX_EVIDENCE), (8, 12, 6));
        let cases: [(usize, &str, ListEdit); 3] = [
            (MAX_DOUBTS, "> - Doubt: ", |review, count| {
                review.doubts = vec!["One of them disagrees.".into(); count];
            }),
            (MAX_PARTICIPANTS, "judge `claude`", |review, count| {
                review.seats = vec![participant("judge", "claude"); count];
            }),
            (MAX_EVIDENCE, "Verified (exact): `", |review, count| {
                review.findings[0].evidence = vec![evidence_with_quote("let a = 1;"); count];
            }),
        ];
        for (max, item, edit) in cases {
            for count in [max, max + 1] {
                let mut review = review_with_finding();
                edit(&mut review, count);
                let text = render_summary(&review, usize::MAX);
                assert_eq!(text.matches(item).count(), max, "{count} of {item}");
            }
        }
    }

    #[test]
    fn lines_of_a_quote_in_markdown_are_limited() {
        assert_eq!(MAX_QUOTE_LINES, 12);
        let count_lines = |lines: usize| {
            evidence_item(&evidence_with_quote(&"xyz\n".repeat(lines))).matches("| xyz\n").count()
        };
        assert_eq!(count_lines(MAX_QUOTE_LINES), MAX_QUOTE_LINES);
        // The last line that is shown is the mark `…`.
        assert_eq!(count_lines(MAX_QUOTE_LINES + 1), MAX_QUOTE_LINES - 1);
    }
}
