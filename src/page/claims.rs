//! Renders claims and their citations. Citations that were found link to the source, wrong ones are
//! struck through, and unchecked ones are marked.
use super::html::{Html, html, percent_encode, truncate};
use super::rendered::RenderContext;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{Citation, CitationStatus, Claim, Reply};
use crate::report::ledger::{citations_for_evidence, claim_rating};
use crate::report::sanitize::one_line;

/// Maximum length of a claim or a piece of evidence, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// Renders the claims, concessions and resolved claims of a reply.
pub(super) fn render_claims(reply: &Reply, turn: &str, setting: &RenderContext<'_>) -> Html {
    let body = &reply.body;
    let mut items = Html::new();
    for (nth, claim) in body.claims().iter().enumerate() {
        items.push(&render_claim(reply, claim, &format!("{turn}-claim-{nth}"), setting));
    }
    for given in body.concessions() {
        let (id, quote) = (truncate_id(&given.claim), truncate_text(&given.quote));
        items.push(&html!(
            "<li class=\"concedes\">Concedes <code>{}</code>: <q>{}</q></li>",
            id,
            quote
        ));
    }
    for resolved in body.resolutions() {
        let (id, by) = (truncate_id(&resolved.claim), truncate_text(&resolved.evidence.join("; ")));
        items.push(&html!(
            "<li class=\"resolves\">Takes back <code>{}</code> as resolved: {}</li>",
            id,
            by
        ));
    }
    let mut all = Html::new();
    if !items.is_empty() {
        all.push(&html!("<section class=\"claims\"><h4>Claims</h4><ul>{}</ul></section>", items));
    }
    all.push(&render_loose_citations(reply, setting));
    all
}

fn render_claim(reply: &Reply, claim: &Claim, id: &str, setting: &RenderContext<'_>) -> Html {
    let mut evidence = Html::new();
    for offered in claim.evidence.iter().filter(|it| !it.trim().is_empty()) {
        let found =
            citations_for_evidence(offered, citations_for_claim(&reply.citations, &claim.id));
        evidence.push(&html!("<li>{}</li>", render_evidence(offered, &found, setting)));
    }
    let evidence = if evidence.is_empty() {
        html!("<p class=\"unsupported\">Unsupported: nothing was offered for it.</p>")
    } else {
        html!("<ul class=\"evidence\">{}</ul>", evidence)
    };
    let answers = if claim.answers.is_empty() {
        Html::new()
    } else {
        html!(" <span class=\"answers\">answers {}</span>", truncate_id(&claim.answers.join(", ")))
    };
    let rating = claim_rating(claim);
    let rated = if rating.is_empty() {
        Html::new()
    } else {
        html!(" <span class=\"rating\">{}</span>", rating)
    };
    html!(
        "<li class=\"claim\" id=\"{}\"><p><code>{}</code> {}{}{}</p>{}</li>",
        id,
        truncate_id(&claim.id),
        truncate_text(&claim.text),
        answers,
        rated,
        evidence
    )
}

/// Renders a piece of evidence with the result of its citation lookup.
fn render_evidence(offered: &str, found: &[&Citation], setting: &RenderContext<'_>) -> Html {
    let Some(first) = found.first() else {
        return html!(
            "<span class=\"cited unchecked\">{}</span> <span class=\"mark\">(not looked up)</span>",
            truncate_text(offered)
        );
    };
    let says: Vec<String> = found.iter().map(|it| truncate_text(&it.describe())).collect();
    let shown = render_citation(first, &truncate_text(offered), setting);
    html!("{} <span class=\"mark\">({})</span>", shown, says.join("; "))
}

/// Renders the text of a citation as a link, struck through or marked.
fn render_citation(citation: &Citation, words: &str, setting: &RenderContext<'_>) -> Html {
    if citation.found.is_wrong() {
        return html!("<del class=\"cited wrong\">{}</del>", words);
    }
    let class = match citation.found {
        found if found.is_verified() => "verified",
        CitationStatus::Located => "located",
        CitationStatus::ElsewhereInRepo => "elsewhere",
        _ => "unchecked",
    };
    match source_url(citation, setting) {
        Some(address) => {
            html!("<a class=\"cited {}\" href=\"{}\">{}</a>", class, address, words)
        }
        None => html!("<span class=\"cited {}\">{}</span>", class, words),
    }
}

/// URL of the cited line in the pinned tree. `None` if the citation was not found.
fn source_url(citation: &Citation, setting: &RenderContext<'_>) -> Option<String> {
    let there = citation.found.is_verified()
        || matches!(citation.found, CitationStatus::Located | CitationStatus::ElsewhereInRepo);
    let base = setting.debate_url.as_ref().filter(|_| there)?;
    let (path, line) = if citation.found == CitationStatus::ElsewhereInRepo {
        let (path, line) = citation.found_at.as_deref()?.rsplit_once(':')?;
        (path.to_owned(), line.parse().ok())
    } else {
        let place = citation.location().filter(|place| !place.removed)?;
        (place.file, place.line.or(citation.line))
    };
    let path = percent_encode(&path);
    Some(match line {
        Some(line) => format!("{base}/source?path={path}&line={line}#L{line}"),
        None => format!("{base}/source?path={path}"),
    })
}

/// Renders citations outside of claims.
fn render_loose_citations(reply: &Reply, setting: &RenderContext<'_>) -> Html {
    let loose: Vec<&Citation> =
        reply.citations.iter().filter(|citation| citation.claim.is_none()).collect();
    if loose.is_empty() {
        return Html::new();
    }
    let items: Html = loose
        .iter()
        .map(|citation| {
            let words = truncate_text(&citation.raw);
            html!("<li>{}</li>", render_evidence(&words, &[citation], setting))
        })
        .collect();
    html!(
        "<section class=\"passing\"><h4>Cited in passing</h4><ul class=\"evidence\">{}</ul></section>",
        items
    )
}

/// Truncates a text to 120 characters, for ids and names.
fn truncate_id(text: &str) -> String {
    truncate(&one_line(text), 120)
}

fn truncate_text(text: &str) -> String {
    truncate(&one_line(text), MAX_TEXT_CHARS)
}
