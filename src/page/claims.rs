//! Renders claims and their citations. Citations that were found link to the source, wrong ones are
//! struck through, and unchecked ones are marked.
use super::context::RenderContext;
use super::html::{percent_encode, truncate};
use crate::debate::ledger::citations_for_claim;
use crate::debate::{Citation, CitationStatus, Claim, Reply};
use crate::report::ledger::{citations_for_evidence, claim_rating};
use crate::report::sanitize::one_line;
use maud::{Markup, html};

/// Maximum length of a claim or a piece of evidence, in characters.
const MAX_TEXT_CHARS: usize = 2_000;
/// Maximum length of a claim id, or of a list of them, in characters.
const MAX_ID_CHARS: usize = 120;

/// Renders the claims, concessions and resolved claims of a reply.
pub(super) fn render_claims(reply: &Reply, turn_id: &str, context: &RenderContext<'_>) -> Markup {
    let body = &reply.body;
    let is_empty =
        body.claims().is_empty() && body.concessions().is_empty() && body.resolutions().is_empty();
    html! {
        @if !is_empty {
            section.claims {
                h4 { "Claims" }
                ul {
                    @for (index, claim) in body.claims().iter().enumerate() {
                        li.claim #{ (turn_id) "-claim-" (index) } {
                            (render_claim(reply, claim, context))
                        }
                    }
                    @for concession in body.concessions() {
                        li.concedes {
                            "Concedes " code { (truncate_id(&concession.claim)) } ": "
                            q { (truncate_text(&concession.quote)) }
                        }
                    }
                    @for resolution in body.resolutions() {
                        li.resolves {
                            "Takes back " code { (truncate_id(&resolution.claim)) }
                            " as resolved: " (truncate_text(&resolution.evidence.join("; ")))
                        }
                    }
                }
            }
        }
        (render_loose_citations(reply, context))
    }
}

fn render_claim(reply: &Reply, claim: &Claim, context: &RenderContext<'_>) -> Markup {
    let evidence: Vec<&String> =
        claim.evidence.iter().filter(|item| !item.trim().is_empty()).collect();
    let citations = |evidence: &str| {
        citations_for_evidence(evidence, citations_for_claim(&reply.citations, &claim.id))
    };
    let rating = claim_rating(claim);
    html! {
        p {
            code { (truncate_id(&claim.id)) } " " (truncate_text(&claim.text))
            @if !claim.answers.is_empty() {
                " " span.answers { "answers " (truncate_id(&claim.answers.join(", "))) }
            }
            @if !rating.is_empty() { " " span.rating { (rating) } }
        }
        @if evidence.is_empty() {
            p.unsupported { "Unsupported: nothing was offered for it." }
        } @else {
            ul.evidence {
                @for item in evidence { li { (render_evidence(item, &citations(item), context)) } }
            }
        }
    }
}

/// Renders a piece of evidence with the result of its citation lookup.
fn render_evidence(evidence: &str, citations: &[&Citation], context: &RenderContext<'_>) -> Markup {
    let descriptions: Vec<String> =
        citations.iter().map(|it| truncate_text(&it.describe())).collect();
    html! {
        @if let Some(first) = citations.first() {
            (render_citation(first, &truncate_text(evidence), context)) " "
            span.mark { "(" (descriptions.join("; ")) ")" }
        } @else {
            span.cited.unchecked { (truncate_text(evidence)) } " "
            span.mark { "(not looked up)" }
        }
    }
}

/// Renders the text of a citation as a link, struck through or marked.
fn render_citation(citation: &Citation, text: &str, context: &RenderContext<'_>) -> Markup {
    let class = match citation.found {
        status if status.is_verified() => "verified",
        CitationStatus::Located => "located",
        CitationStatus::ElsewhereInRepo => "elsewhere",
        _ => "unchecked",
    };
    html! {
        @if citation.found.is_wrong() {
            del.cited.wrong { (text) }
        } @else if let Some(url) = source_url(citation, context) {
            a.cited.(class) href=(url) { (text) }
        } @else {
            span.cited.(class) { (text) }
        }
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
fn render_loose_citations(reply: &Reply, context: &RenderContext<'_>) -> Markup {
    let loose: Vec<&Citation> =
        reply.citations.iter().filter(|citation| citation.claim.is_none()).collect();
    html! {
        @if !loose.is_empty() {
            section.passing {
                h4 { "Cited in passing" }
                ul.evidence {
                    @for citation in loose {
                        li { (render_evidence(&citation.raw, &[citation], context)) }
                    }
                }
            }
        }
    }
}

fn truncate_id(text: &str) -> String {
    truncate(&one_line(text), MAX_ID_CHARS)
}

fn truncate_text(text: &str) -> String {
    truncate(&one_line(text), MAX_TEXT_CHARS)
}
