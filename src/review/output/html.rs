//! Self-contained HTML page. Its Content-Security-Policy allows no script and no other style. The
//! entry point is `render_html`, called by `render_review` for `--output html=FILE`.
use super::limits::{
    MAX_DOUBTS, MAX_EARLIER_CLAIM_CHARS, MAX_LOCATION_CHARS, MAX_NAME_CHARS, MAX_NOTICE_CHARS,
    MAX_PARTICIPANTS, MAX_ROLE_CHARS, MAX_SKIP_REASON_CHARS, MAX_TITLE_CHARS,
};
use super::phrases::{
    UNVERIFIED_NOTE, advisory_note, change_size, confidence_text, cost_text, count_with_noun,
    evidence_result, finding_state_text, has_nothing_to_list, headline, location_text,
    nothing_found_text, notice_lines, omitted_note,
};
use super::sanitize::{escape_html as safe, multi_line, single_line};
use super::truncate::{OutputSection, fit_sections};
use crate::debate::CodeLocation;
use crate::review::Review;
use crate::review::finding::{EarlierFinding, Finding, FindingEvidence, FindingState};
use std::fmt::Write;

/// Size limit of the page.
const MAX_HTML_BYTES: usize = 4_000_000;

/// Limit of evidence items per finding.
const MAX_EVIDENCE: usize = 12;
/// Characters of the page's title.
const MAX_PAGE_TITLE_CHARS: usize = 100;
/// Characters of the reasoning, and of the recommendation.
const MAX_REASONING_CHARS: usize = 8_000;
/// Characters of a claim.
const MAX_CLAIM_CHARS: usize = 1_500;
/// Characters of the proposer's answer.
const MAX_ANSWER_CHARS: usize = 3_000;
/// Characters of a quote.
const MAX_QUOTE_CHARS: usize = 2_000;
/// Lines of a quote.
const MAX_QUOTE_LINES: usize = 40;
/// Lines of any other text.
const MAX_TEXT_LINES: usize = 200;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --faint: #5b616a;
  --edge: #d5d9de; --field: #f4f5f7; --high: #b3261e; --medium: #8a5300; --low: #3d5a80; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6ea; --paper: #16181b; --faint: #a2a9b3; --edge: #3a3f46; --field: #202328;
    --high: #ff8a80; --medium: #ffc46b; --low: #9cc1f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 50rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 0; } p { margin: .5rem 0; }
article { border: 1px solid var(--edge); border-radius: .5rem; padding: .75rem 1rem;
  margin: .75rem 0; }
.high { color: var(--high); } .medium { color: var(--medium); } .low { color: var(--low); }
.faint, footer { color: var(--faint); font-size: .9rem; }
.contested { border-left: .3rem solid var(--high); padding: .1rem .9rem;
  background: var(--field); }
code, pre { font: .85rem/1.45 ui-monospace, monospace; background: var(--field); }
code { padding: .1rem .25rem; }
pre { padding: .5rem .75rem; white-space: pre-wrap; border-radius: .25rem; }
.said { white-space: pre-line; }
footer { margin-top: 2rem; border-top: 1px solid var(--edge); padding-top: .5rem; }
";

/// SHA-256 of `STYLE` for the Content-Security-Policy, which allows no other style.
const STYLE_HASH: &str = "sha256-1ip7LBk59iDCOGcfe2QosXZTF5VZwU27kZ5Aiy/VmyY=";

pub(super) fn render_html(review: &Review) -> String {
    let (head, sections, tail) = if let Some(reason) = &review.skipped {
        (
            format!(
                "<h1>Design review: skipped</h1>\n{}",
                text_paragraph(reason, MAX_SKIP_REASON_CHARS)
            ),
            vec![],
            String::new(),
        )
    } else if has_nothing_to_list(review) {
        let nothing = safe(&nothing_found_text(review));
        (
            format!("<h1>Design review</h1>\n<p>{nothing}</p>\n{}", doubts_and_notices(review)),
            vec![],
            String::new(),
        )
    } else {
        (verdict_section(review), finding_sections(review), page_footer(review))
    };
    let tail = tail + "</main>\n</body>\n</html>\n";
    let note = |dropped: &str| format!("<p><strong>{}</strong></p>\n", safe(dropped));
    fit_sections(&(page_head(review) + &head), sections, &tail, MAX_HTML_BYTES, note)
}

fn page_head(review: &Review) -> String {
    let title = safe(&single_line(&review.title, MAX_PAGE_TITLE_CHARS));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Design review: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
}

fn verdict_section(review: &Review) -> String {
    let mut page = format!("<h1>Design review: {}</h1>\n", headline(review));
    page.push_str(&doubts_block(review));
    let confidence = confidence_text(review)
        .map(|confidence| format!("Ruled with {confidence}. "))
        .unwrap_or_default();
    let title = with_code_spans(&single_line(&review.title, MAX_TITLE_CHARS));
    let _ = writeln!(
        page,
        "<p>{confidence}The change: <bdi>{title}</bdi> ({}).</p>",
        change_size(review)
    );
    if !review.change.says.trim().is_empty() && review.change.says != review.title {
        let says = with_code_spans(&single_line(&review.change.says, MAX_TITLE_CHARS));
        let _ = writeln!(page, "<p class=\"faint\">Compared: <bdi>{says}</bdi></p>");
    }
    for (heading, text) in [("Why", &review.reasoning), ("What to do", &review.recommendation)] {
        if !text.trim().is_empty() {
            let _ =
                write!(page, "<h2>{heading}</h2>\n{}", text_paragraph(text, MAX_REASONING_CHARS));
        }
    }
    let _ = writeln!(page, "<p class=\"faint\">{}</p>", safe(advisory_note(review)));
    page.push_str(&notices_list(review));
    page
}

fn doubts_and_notices(review: &Review) -> String {
    doubts_block(review) + &notices_list(review)
}

fn doubts_block(review: &Review) -> String {
    if !review.is_contested() {
        return String::new();
    }
    let mut page = String::from(
        "<div class=\"contested\">\n<p><strong>Contested: it could as well have come out \
         otherwise.</strong></p>\n<ul>\n",
    );
    for doubt in review.doubts.iter().take(MAX_DOUBTS) {
        let _ =
            writeln!(page, "<li dir=\"auto\">{}</li>", safe(&single_line(doubt, MAX_NOTICE_CHARS)));
    }
    page + "</ul>\n</div>\n"
}

fn notices_list(review: &Review) -> String {
    let notices = notice_lines(review, MAX_NOTICE_CHARS);
    let items = notices.iter().map(|notice| format!("<li dir=\"auto\">{}</li>\n", safe(notice)));
    let items: String = items.collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

fn finding_sections(review: &Review) -> Vec<OutputSection<'_>> {
    let numbered = |(number, finding): (usize, &Finding)| {
        finding_article(number, finding, finding_state_text(review, finding))
    };
    let (verified_count, unverified_count) = (review.findings.len(), review.unverified.len());
    let note = safe(UNVERIFIED_NOTE);
    vec![
        OutputSection {
            heading: format!("<h2>{}</h2>\n", count_with_noun(verified_count, "finding")),
            noun: "finding",
            count: verified_count,
            entries: Box::new((1..).zip(&review.findings).map(numbered)),
        },
        OutputSection {
            heading: format!(
                "<h2>Not verified ({unverified_count})</h2>\n<p class=\"faint\">{note}</p>\n"
            ),
            noun: "unverified finding",
            count: unverified_count,
            entries: Box::new((1..).zip(&review.unverified).map(numbered)),
        },
        OutputSection {
            heading: "<h2>Found by earlier reviews</h2>\n".into(),
            noun: "earlier finding",
            count: review.earlier.len(),
            entries: Box::new(review.earlier.iter().map(earlier_paragraph)),
        },
    ]
}

fn finding_article(number: usize, finding: &Finding, state: Option<String>) -> String {
    let severity = finding.severity.as_str();
    let mut page = format!("<article>\n<h3>{number}. <span class=\"{severity}\">{severity}</span>");
    if let Some(location) = location_html(finding.place.as_ref()) {
        let _ = write!(page, ": {location}");
    }
    let _ = writeln!(page, "</h3>\n{}", text_paragraph(&finding.claim, MAX_CLAIM_CHARS).trim_end());
    if let Some(state) = state {
        let _ = writeln!(page, "<p class=\"faint\">{}</p>", safe(&state));
    }
    for evidence in finding.evidence.iter().take(MAX_EVIDENCE) {
        page.push_str(&evidence_block(evidence));
    }
    if finding.evidence.len() > MAX_EVIDENCE {
        let more = count_with_noun(finding.evidence.len() - MAX_EVIDENCE, "more piece");
        let _ = writeln!(page, "<p class=\"faint\">{more} of evidence.</p>");
    }
    if let Some(answer) = &finding.answer {
        let _ = write!(
            page,
            "<p>The proposer answered:</p>\n{}",
            text_paragraph(answer, MAX_ANSWER_CHARS)
        );
    }
    page + "</article>\n"
}

fn evidence_block(evidence: &FindingEvidence) -> String {
    let location = location_html(evidence.place.as_ref()).map(|location| format!(" at {location}"));
    let text = evidence.quote.as_ref().unwrap_or(&evidence.raw);
    let text = multi_line(text, MAX_QUOTE_CHARS, MAX_QUOTE_LINES);
    format!(
        "<p>{}{}:</p>\n<pre dir=\"auto\">{}</pre>\n",
        safe(&evidence_result(evidence)),
        location.unwrap_or_default(),
        safe(&text)
    )
}

fn earlier_paragraph(earlier: &EarlierFinding) -> String {
    let state = match earlier.state {
        FindingState::Fixed => "Fixed",
        FindingState::Open => "<strong>Still open</strong>",
    };
    let location =
        location_html(earlier.noted.place.as_ref()).map(|location| format!(" at {location}"));
    format!(
        "<p>{state} ({}){}: <bdi>{}</bdi></p>\n",
        earlier.noted.severity.as_str(),
        location.unwrap_or_default(),
        safe(&single_line(&earlier.noted.claim, MAX_EARLIER_CLAIM_CHARS))
    )
}

fn page_footer(review: &Review) -> String {
    let mut page =
        omitted_note(review).map(|more| format!("<p>{}</p>\n", safe(&more))).unwrap_or_default();
    page.push_str("<footer>\n");
    let seats: Vec<String> = review
        .seats
        .iter()
        .take(MAX_PARTICIPANTS)
        .map(|seat| {
            let role = safe(&single_line(&seat.role, MAX_ROLE_CHARS));
            let model = safe(&single_line(&seat.voice, MAX_NAME_CHARS));
            format!("<bdi>{role}</bdi> <code>{model}</code>")
        })
        .collect();
    if !seats.is_empty() {
        let _ = writeln!(page, "<p>Who argued: {}.</p>", seats.join(", "));
    }
    let _ = write!(page, "<p>It took {}.", cost_text(review));
    if let Some(debate) = &review.debate {
        let _ =
            write!(page, " Debate <code>{}</code>.", safe(&single_line(debate, MAX_NAME_CHARS)));
    }
    page + "</p>\n</footer>\n"
}

/// A paragraph of untrusted text, with its line breaks.
fn text_paragraph(text: &str, max_chars: usize) -> String {
    format!(
        "<p class=\"said\" dir=\"auto\">{}</p>\n",
        with_code_spans(&multi_line(text, max_chars, MAX_TEXT_LINES))
    )
}

/// Escapes untrusted text and renders backtick spans on one line as `<code>`. Each part is escaped
/// separately.
fn with_code_spans(text: &str) -> String {
    let line = |line: &str| {
        let parts: Vec<&str> = line.split('`').collect();
        if parts.len().is_multiple_of(2)
            || parts.iter().skip(1).step_by(2).any(|code| code.is_empty())
        {
            return safe(line);
        }
        let rendered = parts.iter().enumerate().map(|(index, part)| match index % 2 {
            0 => safe(part),
            _ => format!("<code>{}</code>", safe(part)),
        });
        rendered.collect()
    };
    text.split('\n').map(line).collect::<Vec<String>>().join("\n")
}

fn location_html(location: Option<&CodeLocation>) -> Option<String> {
    let (path, removed) = location_text(location)?;
    Some(format!(
        "<code><bdi>{}</bdi></code>{removed}",
        safe(&single_line(&path, MAX_LOCATION_CHARS))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::ReviewParticipant;
    use crate::review::test_review::{
        assert_size_limit, assert_text_limit, earlier_with_claim, evidence_with_quote,
        location_of_file, review_with_finding,
    };

    #[test]
    fn oversized_page_is_cut_at_a_whole_finding() {
        assert_eq!(MAX_HTML_BYTES, 4_000_000);
        let note = |dropped: &str| format!("<p><strong>{dropped}</strong></p>\n");
        assert_size_limit(MAX_HTML_BYTES, note, render_html);
    }

    /// Start of a text with line breaks.
    const PARAGRAPH: &str = "<p class=\"said\" dir=\"auto\">";

    /// Puts a text into a review.
    type TextEdit = fn(&mut Review, &str);
    /// Puts this many entries into a review.
    type ListEdit = fn(&mut Review, usize);

    fn participant(role: &str, model: &str) -> ReviewParticipant {
        ReviewParticipant { role: role.to_owned(), voice: model.to_owned() }
    }

    #[test]
    fn texts_of_the_page_are_cut() {
        assert_eq!((MAX_REASONING_CHARS, MAX_CLAIM_CHARS), (8_000, 1_500));
        assert_eq!((MAX_ANSWER_CHARS, MAX_QUOTE_CHARS), (3_000, 2_000));
        assert_eq!((MAX_PAGE_TITLE_CHARS, MAX_TITLE_CHARS, MAX_NOTICE_CHARS), (100, 300, 400));
        assert_eq!((MAX_SKIP_REASON_CHARS, MAX_EARLIER_CLAIM_CHARS), (600, 600));
        assert_eq!((MAX_LOCATION_CHARS, MAX_ROLE_CHARS, MAX_NAME_CHARS), (300, 60, 80));
        let cases: [(usize, &str, TextEdit); 16] = [
            (MAX_SKIP_REASON_CHARS, PARAGRAPH, |review, text| review.skipped = Some(text.into())),
            (MAX_PAGE_TITLE_CHARS, "<title>Design review: ", |review, text| {
                review.title = text.into();
            }),
            (MAX_TITLE_CHARS, "The change: <bdi>", |review, text| review.title = text.into()),
            (MAX_TITLE_CHARS, "Compared: <bdi>", |review, text| review.change.says = text.into()),
            (MAX_REASONING_CHARS, "Why</h2>\n", |review, text| review.reasoning = text.into()),
            (MAX_REASONING_CHARS, "What to do</h2>\n", |review, text| {
                review.recommendation = text.into();
            }),
            (MAX_NOTICE_CHARS, "<li dir=\"auto\">", |review, text| {
                review.doubts = vec![text.into()];
            }),
            (MAX_NOTICE_CHARS, "<li dir=\"auto\">", |review, text| {
                review.notices = vec![text.into()];
            }),
            (MAX_CLAIM_CHARS, "</h3>\n", |review, text| review.findings[0].claim = text.into()),
            (MAX_ANSWER_CHARS, "answered:</p>\n", |review, text| {
                review.findings[0].answer = Some(text.into());
            }),
            (MAX_QUOTE_CHARS, "<pre dir=\"auto\">", |review, text| {
                review.findings[0].evidence = vec![evidence_with_quote(text)];
            }),
            (MAX_LOCATION_CHARS, "<code><bdi>", |review, text| {
                review.findings[0].place = Some(location_of_file(text));
            }),
            (MAX_EARLIER_CLAIM_CHARS, "(high): <bdi>", |review, text| {
                review.earlier = vec![earlier_with_claim(text)];
            }),
            (MAX_ROLE_CHARS, "Who argued: <bdi>", |review, text| {
                review.seats = vec![participant(text, "claude")];
            }),
            (MAX_NAME_CHARS, "<bdi>judge</bdi> <code>", |review, text| {
                review.seats = vec![participant("judge", text)];
            }),
            (MAX_NAME_CHARS, " Debate <code>", |review, text| review.debate = Some(text.into())),
        ];
        for (max_chars, prefix, edit) in cases {
            let paragraph = if prefix.ends_with('\n') { PARAGRAPH } else { "" };
            assert_text_limit(max_chars, &format!("{prefix}{paragraph}"), |text| {
                let mut review = review_with_finding();
                edit(&mut review, text);
                render_html(&review)
            });
        }
    }

    #[test]
    fn lists_on_the_page_are_limited() {
        assert_eq!((MAX_DOUBTS, MAX_PARTICIPANTS, MAX_EVIDENCE), (8, 12, 12));
        let cases: [(usize, &str, ListEdit); 3] = [
            (MAX_DOUBTS, "<li dir=\"auto\">", |review, count| {
                review.doubts = vec!["One of them disagrees.".into(); count];
            }),
            (MAX_PARTICIPANTS, "<code>claude</code>", |review, count| {
                review.seats = vec![participant("judge", "claude"); count];
            }),
            (MAX_EVIDENCE, "<pre dir=\"auto\">", |review, count| {
                review.findings[0].evidence = vec![evidence_with_quote("let a = 1;"); count];
            }),
        ];
        for (max, item, edit) in cases {
            for count in [max, max + 1] {
                let mut review = review_with_finding();
                edit(&mut review, count);
                assert_eq!(render_html(&review).matches(item).count(), max, "{count} of {item}");
            }
        }
    }

    #[test]
    fn lines_on_the_page_are_limited() {
        assert_eq!((MAX_QUOTE_LINES, MAX_TEXT_LINES), (40, 200));
        let cases: [(usize, TextEdit); 2] = [
            (MAX_QUOTE_LINES, |review, text| {
                review.findings[0].evidence = vec![evidence_with_quote(text)];
            }),
            (MAX_TEXT_LINES, |review, text| review.findings[0].claim = text.into()),
        ];
        for (max_lines, edit) in cases {
            let count_lines = |lines: usize| {
                let mut review = review_with_finding();
                edit(&mut review, &"xyz\n".repeat(lines));
                render_html(&review).matches("xyz").count()
            };
            assert_eq!(count_lines(max_lines), max_lines);
            // The last line that is shown is the mark `…`.
            assert_eq!(count_lines(max_lines + 1), max_lines - 1);
        }
    }
}
