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
/// Maximum length of a claim id, or of a list of them, in characters.
const MAX_ID_CHARS: usize = 120;

/// Renders the claims, concessions and resolved claims of a reply.
pub(super) fn render_claims(reply: &Reply, turn_id: &str, context: &RenderContext<'_>) -> Html {
    let body = &reply.body;
    let mut items = Html::new();
    for (index, claim) in body.claims().iter().enumerate() {
        items.push(&render_claim(reply, claim, &format!("{turn_id}-claim-{index}"), context));
    }
    for concession in body.concessions() {
        let (id, quote) = (truncate_id(&concession.claim), truncate_text(&concession.quote));
        items.push(&html!(
            "<li class=\"concedes\">Concedes <code>{}</code>: <q>{}</q></li>",
            id,
            quote
        ));
    }
    for resolution in body.resolutions() {
        let (id, evidence) =
            (truncate_id(&resolution.claim), truncate_text(&resolution.evidence.join("; ")));
        items.push(&html!(
            "<li class=\"resolves\">Takes back <code>{}</code> as resolved: {}</li>",
            id,
            evidence
        ));
    }
    let mut out = Html::new();
    if !items.is_empty() {
        out.push(&html!("<section class=\"claims\"><h4>Claims</h4><ul>{}</ul></section>", items));
    }
    out.push(&render_loose_citations(reply, context));
    out
}

fn render_claim(reply: &Reply, claim: &Claim, id: &str, context: &RenderContext<'_>) -> Html {
    let mut evidence = Html::new();
    for item in claim.evidence.iter().filter(|it| !it.trim().is_empty()) {
        let citations =
            citations_for_evidence(item, citations_for_claim(&reply.citations, &claim.id));
        evidence.push(&html!("<li>{}</li>", render_evidence(item, &citations, context)));
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
    let rating_html = if rating.is_empty() {
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
        rating_html,
        evidence
    )
}

/// Renders a piece of evidence with the result of its citation lookup.
fn render_evidence(evidence: &str, citations: &[&Citation], context: &RenderContext<'_>) -> Html {
    let Some(first) = citations.first() else {
        return html!(
            "<span class=\"cited unchecked\">{}</span> <span class=\"mark\">(not looked up)</span>",
            truncate_text(evidence)
        );
    };
    let descriptions: Vec<String> =
        citations.iter().map(|it| truncate_text(&it.describe())).collect();
    let citation_html = render_citation(first, &truncate_text(evidence), context);
    html!("{} <span class=\"mark\">({})</span>", citation_html, descriptions.join("; "))
}

/// Renders the text of a citation as a link, struck through or marked.
fn render_citation(citation: &Citation, text: &str, context: &RenderContext<'_>) -> Html {
    if citation.found.is_wrong() {
        return html!("<del class=\"cited wrong\">{}</del>", text);
    }
    let class = match citation.found {
        status if status.is_verified() => "verified",
        CitationStatus::Located => "located",
        CitationStatus::ElsewhereInRepo => "elsewhere",
        _ => "unchecked",
    };
    match source_url(citation, context) {
        Some(url) => {
            html!("<a class=\"cited {}\" href=\"{}\">{}</a>", class, url, text)
        }
        None => html!("<span class=\"cited {}\">{}</span>", class, text),
    }
}

/// URL of the cited line in the pinned tree. `None` if the citation was not found.
fn source_url(citation: &Citation, context: &RenderContext<'_>) -> Option<String> {
    let is_found = citation.found.is_verified()
        || matches!(citation.found, CitationStatus::Located | CitationStatus::ElsewhereInRepo);
    let base = context.debate_url.as_ref().filter(|_| is_found)?;
    let (path, line) = if citation.found == CitationStatus::ElsewhereInRepo {
        let (path, line) = citation.found_at.as_deref()?.rsplit_once(':')?;
        (path.to_owned(), line.parse().ok())
    } else {
        let location = citation.location().filter(|location| !location.removed)?;
        (location.file, location.line.or(citation.line))
    };
    let path = percent_encode(&path);
    Some(match line {
        Some(line) => format!("{base}/source?path={path}&line={line}#L{line}"),
        None => format!("{base}/source?path={path}"),
    })
}

/// Renders citations outside of claims.
fn render_loose_citations(reply: &Reply, context: &RenderContext<'_>) -> Html {
    let loose: Vec<&Citation> =
        reply.citations.iter().filter(|citation| citation.claim.is_none()).collect();
    if loose.is_empty() {
        return Html::new();
    }
    let items: Html = loose
        .iter()
        .map(|citation| {
            let text = truncate_text(&citation.raw);
            html!("<li>{}</li>", render_evidence(&text, &[citation], context))
        })
        .collect();
    html!(
        "<section class=\"passing\"><h4>Cited in passing</h4><ul class=\"evidence\">{}</ul></section>",
        items
    )
}

fn truncate_id(text: &str) -> String {
    truncate(&one_line(text), MAX_ID_CHARS)
}

fn truncate_text(text: &str) -> String {
    truncate(&one_line(text), MAX_TEXT_CHARS)
}
