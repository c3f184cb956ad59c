//! Self-contained HTML page. Its Content-Security-Policy allows no script and no other style.
use super::fit::{Section, fitted};
use super::tame::{block, html as safe, line};
use super::words::{
    UNVERIFIED, advisory, confidence, counted, headline, looked_up, more, nothing, nothing_found,
    notices, size, spent, standing, whereabouts,
};
use crate::debate::CodeLocation;
use crate::review::Review;
use crate::review::finding::{Earlier, Finding, Proof, State};
use std::fmt::Write;

/// Size limit of the page.
const MOST: usize = 4_000_000;

/// Limit of evidence items per finding.
const PROOFS: usize = 12;

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

pub(super) fn html(review: &Review) -> String {
    let (head, sections, tail) = if let Some(why) = &review.skipped {
        (format!("<h1>Design review: skipped</h1>\n{}", said(why, 600)), vec![], String::new())
    } else if nothing(review) {
        let nothing = safe(&nothing_found(review));
        (
            format!("<h1>Design review</h1>\n<p>{nothing}</p>\n{}", beside(review)),
            vec![],
            String::new(),
        )
    } else {
        (verdict(review), sections(review), ending(review))
    };
    let tail = tail + "</main>\n</body>\n</html>\n";
    let note = |lost: &str| format!("<p><strong>{}</strong></p>\n", safe(lost));
    fitted(&(opening(review) + &head), sections, &tail, MOST, note)
}

fn opening(review: &Review) -> String {
    let title = safe(&line(&review.title, 100));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Design review: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
}

fn verdict(review: &Review) -> String {
    let mut page = format!("<h1>Design review: {}</h1>\n", headline(review));
    page.push_str(&doubts(review));
    let sure = confidence(review).map(|sure| format!("Ruled with {sure}. ")).unwrap_or_default();
    let title = coded(&line(&review.title, 300));
    let _ = writeln!(page, "<p>{sure}The change: <bdi>{title}</bdi> ({}).</p>", size(review));
    if !review.change.says.trim().is_empty() && review.change.says != review.title {
        let says = coded(&line(&review.change.says, 300));
        let _ = writeln!(page, "<p class=\"faint\">Compared: <bdi>{says}</bdi></p>");
    }
    for (heading, words) in [("Why", &review.reasoning), ("What to do", &review.recommendation)] {
        if !words.trim().is_empty() {
            let _ = write!(page, "<h2>{heading}</h2>\n{}", said(words, 8_000));
        }
    }
    let _ = writeln!(page, "<p class=\"faint\">{}</p>", safe(advisory(review)));
    page.push_str(&notes(review));
    page
}

fn beside(review: &Review) -> String {
    doubts(review) + &notes(review)
}

fn doubts(review: &Review) -> String {
    if !review.contested() {
        return String::new();
    }
    let mut page = String::from(
        "<div class=\"contested\">\n<p><strong>Contested: it could as well have come out \
         otherwise.</strong></p>\n<ul>\n",
    );
    for doubt in review.doubts.iter().take(8) {
        let _ = writeln!(page, "<li dir=\"auto\">{}</li>", safe(&line(doubt, 400)));
    }
    page + "</ul>\n</div>\n"
}

fn notes(review: &Review) -> String {
    let notices = notices(review, 400);
    let items = notices.iter().map(|notice| format!("<li dir=\"auto\">{}</li>\n", safe(notice)));
    let items: String = items.collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

fn sections(review: &Review) -> Vec<Section<'_>> {
    let numbered = |(number, one): (usize, &Finding)| finding(number, one, standing(review, one));
    let (found, unverified) = (review.findings.len(), review.unverified.len());
    let resting = safe(UNVERIFIED);
    vec![
        Section {
            heading: format!("<h2>{}</h2>\n", counted(found, "finding")),
            noun: "finding",
            count: found,
            entries: Box::new((1..).zip(&review.findings).map(numbered)),
        },
        Section {
            heading: format!(
                "<h2>Not verified ({unverified})</h2>\n<p class=\"faint\">{resting}</p>\n"
            ),
            noun: "unverified finding",
            count: unverified,
            entries: Box::new((1..).zip(&review.unverified).map(numbered)),
        },
        Section {
            heading: "<h2>Found by earlier reviews</h2>\n".into(),
            noun: "earlier finding",
            count: review.earlier.len(),
            entries: Box::new(review.earlier.iter().map(was)),
        },
    ]
}

fn finding(number: usize, finding: &Finding, stands: Option<String>) -> String {
    let grave = finding.severity.as_str();
    let mut page = format!("<article>\n<h3>{number}. <span class=\"{grave}\">{grave}</span>");
    if let Some(place) = located(finding.place.as_ref()) {
        let _ = write!(page, ": {place}");
    }
    let _ = writeln!(page, "</h3>\n{}", said(&finding.claim, 1_500).trim_end());
    if let Some(stands) = stands {
        let _ = writeln!(page, "<p class=\"faint\">{}</p>", safe(&stands));
    }
    for proof in finding.evidence.iter().take(PROOFS) {
        page.push_str(&evidence(proof));
    }
    if finding.evidence.len() > PROOFS {
        let more = counted(finding.evidence.len() - PROOFS, "more piece");
        let _ = writeln!(page, "<p class=\"faint\">{more} of evidence.</p>");
    }
    if let Some(answer) = &finding.answer {
        let _ = write!(page, "<p>The proposer answered:</p>\n{}", said(answer, 3_000));
    }
    page + "</article>\n"
}

fn evidence(proof: &Proof) -> String {
    let place = located(proof.place.as_ref()).map(|place| format!(" at {place}"));
    let words = block(proof.quote.as_ref().unwrap_or(&proof.raw), 2_000, 40);
    format!(
        "<p>{}{}:</p>\n<pre dir=\"auto\">{}</pre>\n",
        safe(&looked_up(proof)),
        place.unwrap_or_default(),
        safe(&words)
    )
}

fn was(earlier: &Earlier) -> String {
    let state = match earlier.state {
        State::Fixed => "Fixed",
        State::Open => "<strong>Still open</strong>",
    };
    let place = located(earlier.noted.place.as_ref()).map(|place| format!(" at {place}"));
    format!(
        "<p>{state} ({}){}: <bdi>{}</bdi></p>\n",
        earlier.noted.severity.as_str(),
        place.unwrap_or_default(),
        safe(&line(&earlier.noted.claim, 600))
    )
}

fn ending(review: &Review) -> String {
    let mut page = more(review).map(|more| format!("<p>{}</p>\n", safe(&more))).unwrap_or_default();
    page.push_str("<footer>\n");
    let seats: Vec<String> = review
        .seats
        .iter()
        .take(12)
        .map(|seat| {
            let (role, voice) = (safe(&line(&seat.role, 60)), safe(&line(&seat.voice, 80)));
            format!("<bdi>{role}</bdi> <code>{voice}</code>")
        })
        .collect();
    if !seats.is_empty() {
        let _ = writeln!(page, "<p>Who argued: {}.</p>", seats.join(", "));
    }
    let _ = write!(page, "<p>It took {}.", spent(review));
    if let Some(debate) = &review.debate {
        let _ = write!(page, " Debate <code>{}</code>.", safe(&line(debate, 80)));
    }
    page + "</p>\n</footer>\n"
}

/// A paragraph of untrusted text, with its line breaks.
fn said(words: &str, most: usize) -> String {
    format!("<p class=\"said\" dir=\"auto\">{}</p>\n", coded(&block(words, most, 200)))
}

/// Escapes untrusted text and renders backtick spans on one line as `<code>`. Each part is escaped
/// separately.
fn coded(words: &str) -> String {
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

fn located(place: Option<&CodeLocation>) -> Option<String> {
    let (at, removed) = whereabouts(place)?;
    Some(format!("<code><bdi>{}</bdi></code>{removed}", safe(&line(&at, 300))))
}
