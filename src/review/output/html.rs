//! Self-contained HTML page. Its Content-Security-Policy allows no script and no other style.
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
    let (head, sections, tail) = if let Some(why) = &review.skipped {
        (
            format!("<h1>Design review: skipped</h1>\n{}", text_paragraph(why, 600)),
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
    let note = |lost: &str| format!("<p><strong>{}</strong></p>\n", safe(lost));
    fit_sections(&(page_head(review) + &head), sections, &tail, MAX_HTML_BYTES, note)
}

fn page_head(review: &Review) -> String {
    let title = safe(&single_line(&review.title, 100));
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
    let sure =
        confidence_text(review).map(|sure| format!("Ruled with {sure}. ")).unwrap_or_default();
    let title = with_code_spans(&single_line(&review.title, 300));
    let _ =
        writeln!(page, "<p>{sure}The change: <bdi>{title}</bdi> ({}).</p>", change_size(review));
    if !review.change.says.trim().is_empty() && review.change.says != review.title {
        let says = with_code_spans(&single_line(&review.change.says, 300));
        let _ = writeln!(page, "<p class=\"faint\">Compared: <bdi>{says}</bdi></p>");
    }
    for (heading, words) in [("Why", &review.reasoning), ("What to do", &review.recommendation)] {
        if !words.trim().is_empty() {
            let _ = write!(page, "<h2>{heading}</h2>\n{}", text_paragraph(words, 8_000));
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
    for doubt in review.doubts.iter().take(8) {
        let _ = writeln!(page, "<li dir=\"auto\">{}</li>", safe(&single_line(doubt, 400)));
    }
    page + "</ul>\n</div>\n"
}

fn notices_list(review: &Review) -> String {
    let notices = notice_lines(review, 400);
    let items = notices.iter().map(|notice| format!("<li dir=\"auto\">{}</li>\n", safe(notice)));
    let items: String = items.collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

fn finding_sections(review: &Review) -> Vec<OutputSection<'_>> {
    let numbered = |(number, one): (usize, &Finding)| {
        finding_article(number, one, finding_state_text(review, one))
    };
    let (found, unverified) = (review.findings.len(), review.unverified.len());
    let resting = safe(UNVERIFIED_NOTE);
    vec![
        OutputSection {
            heading: format!("<h2>{}</h2>\n", count_with_noun(found, "finding")),
            noun: "finding",
            count: found,
            entries: Box::new((1..).zip(&review.findings).map(numbered)),
        },
        OutputSection {
            heading: format!(
                "<h2>Not verified ({unverified})</h2>\n<p class=\"faint\">{resting}</p>\n"
            ),
            noun: "unverified finding",
            count: unverified,
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

fn finding_article(number: usize, finding: &Finding, stands: Option<String>) -> String {
    let grave = finding.severity.as_str();
    let mut page = format!("<article>\n<h3>{number}. <span class=\"{grave}\">{grave}</span>");
    if let Some(place) = location_html(finding.place.as_ref()) {
        let _ = write!(page, ": {place}");
    }
    let _ = writeln!(page, "</h3>\n{}", text_paragraph(&finding.claim, 1_500).trim_end());
    if let Some(stands) = stands {
        let _ = writeln!(page, "<p class=\"faint\">{}</p>", safe(&stands));
    }
    for proof in finding.evidence.iter().take(MAX_EVIDENCE) {
        page.push_str(&evidence_block(proof));
    }
    if finding.evidence.len() > MAX_EVIDENCE {
        let more = count_with_noun(finding.evidence.len() - MAX_EVIDENCE, "more piece");
        let _ = writeln!(page, "<p class=\"faint\">{more} of evidence.</p>");
    }
    if let Some(answer) = &finding.answer {
        let _ = write!(page, "<p>The proposer answered:</p>\n{}", text_paragraph(answer, 3_000));
    }
    page + "</article>\n"
}

fn evidence_block(proof: &FindingEvidence) -> String {
    let place = location_html(proof.place.as_ref()).map(|place| format!(" at {place}"));
    let words = multi_line(proof.quote.as_ref().unwrap_or(&proof.raw), 2_000, 40);
    format!(
        "<p>{}{}:</p>\n<pre dir=\"auto\">{}</pre>\n",
        safe(&evidence_result(proof)),
        place.unwrap_or_default(),
        safe(&words)
    )
}

fn earlier_paragraph(earlier: &EarlierFinding) -> String {
    let state = match earlier.state {
        FindingState::Fixed => "Fixed",
        FindingState::Open => "<strong>Still open</strong>",
    };
    let place = location_html(earlier.noted.place.as_ref()).map(|place| format!(" at {place}"));
    format!(
        "<p>{state} ({}){}: <bdi>{}</bdi></p>\n",
        earlier.noted.severity.as_str(),
        place.unwrap_or_default(),
        safe(&single_line(&earlier.noted.claim, 600))
    )
}

fn page_footer(review: &Review) -> String {
    let mut page =
        omitted_note(review).map(|more| format!("<p>{}</p>\n", safe(&more))).unwrap_or_default();
    page.push_str("<footer>\n");
    let seats: Vec<String> = review
        .seats
        .iter()
        .take(12)
        .map(|seat| {
            let (role, voice) =
                (safe(&single_line(&seat.role, 60)), safe(&single_line(&seat.voice, 80)));
            format!("<bdi>{role}</bdi> <code>{voice}</code>")
        })
        .collect();
    if !seats.is_empty() {
        let _ = writeln!(page, "<p>Who argued: {}.</p>", seats.join(", "));
    }
    let _ = write!(page, "<p>It took {}.", cost_text(review));
    if let Some(debate) = &review.debate {
        let _ = write!(page, " Debate <code>{}</code>.", safe(&single_line(debate, 80)));
    }
    page + "</p>\n</footer>\n"
}

/// A paragraph of untrusted text, with its line breaks.
fn text_paragraph(words: &str, most: usize) -> String {
    format!(
        "<p class=\"said\" dir=\"auto\">{}</p>\n",
        with_code_spans(&multi_line(words, most, 200))
    )
}

/// Escapes untrusted text and renders backtick spans on one line as `<code>`. Each part is escaped
/// separately.
fn with_code_spans(words: &str) -> String {
    let line = |line: &str| {
        let parts: Vec<&str> = line.split('`').collect();
        if parts.len().is_multiple_of(2)
            || parts.iter().skip(1).step_by(2).any(|code| code.is_empty())
        {
            return safe(line);
        }
        let shown = parts.iter().enumerate().map(|(nth, part)| match nth % 2 {
            0 => safe(part),
            _ => format!("<code>{}</code>", safe(part)),
        });
        shown.collect()
    };
    words.split('\n').map(line).collect::<Vec<String>>().join("\n")
}

fn location_html(place: Option<&CodeLocation>) -> Option<String> {
    let (at, removed) = location_text(place)?;
    Some(format!("<code><bdi>{}</bdi></code>{removed}", safe(&single_line(&at, 300))))
}
