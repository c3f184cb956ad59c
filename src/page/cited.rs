//! Renders claims and their citations. Citations that were found link to the source, wrong ones are
//! struck through, and unchecked ones are marked.
use super::html::{Html, bounded, html, query};
use super::shown::Setting;
use crate::debate::ledger::citations_for_claim;
use crate::debate::{Citation, CitationStatus, Claim, Reply};
use crate::report::ledger::{of_evidence, rating};
use crate::report::text::one_line;

/// Maximum length of a claim or a piece of evidence, in characters.
const LONGEST: usize = 2_000;

/// Renders the claims, concessions and resolved claims of a reply.
pub(super) fn claims(reply: &Reply, turn: &str, setting: &Setting<'_>) -> Html {
    let body = &reply.body;
    let mut items = Html::new();
    for (nth, claim) in body.claims().iter().enumerate() {
        items.add(&one(reply, claim, &format!("{turn}-claim-{nth}"), setting));
    }
    for given in body.concessions() {
        let (id, quote) = (short(&given.claim), long(&given.quote));
        items.add(&html!(
            "<li class=\"concedes\">Concedes <code>{}</code>: <q>{}</q></li>",
            id,
            quote
        ));
    }
    for resolved in body.resolutions() {
        let (id, by) = (short(&resolved.claim), long(&resolved.evidence.join("; ")));
        items.add(&html!(
            "<li class=\"resolves\">Takes back <code>{}</code> as resolved: {}</li>",
            id,
            by
        ));
    }
    let mut all = Html::new();
    if !items.is_empty() {
        all.add(&html!("<section class=\"claims\"><h4>Claims</h4><ul>{}</ul></section>", items));
    }
    all.add(&passing(reply, setting));
    all
}

fn one(reply: &Reply, claim: &Claim, id: &str, setting: &Setting<'_>) -> Html {
    let mut evidence = Html::new();
    for offered in claim.evidence.iter().filter(|it| !it.trim().is_empty()) {
        let found = of_evidence(offered, citations_for_claim(&reply.citations, &claim.id));
        evidence.add(&html!("<li>{}</li>", offered_as(offered, &found, setting)));
    }
    let evidence = if evidence.is_empty() {
        html!("<p class=\"unsupported\">Unsupported: nothing was offered for it.</p>")
    } else {
        html!("<ul class=\"evidence\">{}</ul>", evidence)
    };
    let answers = if claim.answers.is_empty() {
        Html::new()
    } else {
        html!(" <span class=\"answers\">answers {}</span>", short(&claim.answers.join(", ")))
    };
    let rating = rating(claim);
    let rated = if rating.is_empty() {
        Html::new()
    } else {
        html!(" <span class=\"rating\">{}</span>", rating)
    };
    html!(
        "<li class=\"claim\" id=\"{}\"><p><code>{}</code> {}{}{}</p>{}</li>",
        id,
        short(&claim.id),
        long(&claim.text),
        answers,
        rated,
        evidence
    )
}

/// Renders a piece of evidence with the result of its citation lookup.
fn offered_as(offered: &str, found: &[&Citation], setting: &Setting<'_>) -> Html {
    let Some(first) = found.first() else {
        return html!(
            "<span class=\"cited unchecked\">{}</span> <span class=\"mark\">(not looked up)</span>",
            long(offered)
        );
    };
    let says: Vec<String> = found.iter().map(|it| long(&it.describe())).collect();
    let shown = marked(first, &long(offered), setting);
    html!("{} <span class=\"mark\">({})</span>", shown, says.join("; "))
}

/// Renders the text of a citation as a link, struck through or marked.
fn marked(citation: &Citation, words: &str, setting: &Setting<'_>) -> Html {
    if citation.found.is_wrong() {
        return html!("<del class=\"cited wrong\">{}</del>", words);
    }
    let class = match citation.found {
        found if found.is_verified() => "verified",
        CitationStatus::Located => "located",
        CitationStatus::ElsewhereInRepo => "elsewhere",
        _ => "unchecked",
    };
    match place(citation, setting) {
        Some(address) => {
            html!("<a class=\"cited {}\" href=\"{}\">{}</a>", class, address, words)
        }
        None => html!("<span class=\"cited {}\">{}</span>", class, words),
    }
}

/// URL of the cited line in the pinned tree. `None` if the citation was not found.
fn place(citation: &Citation, setting: &Setting<'_>) -> Option<String> {
    let there = citation.found.is_verified()
        || matches!(citation.found, CitationStatus::Located | CitationStatus::ElsewhereInRepo);
    let base = setting.links.as_ref().filter(|_| there)?;
    let (path, line) = if citation.found == CitationStatus::ElsewhereInRepo {
        let (path, line) = citation.found_at.as_deref()?.rsplit_once(':')?;
        (path.to_owned(), line.parse().ok())
    } else {
        let place = citation.location().filter(|place| !place.removed)?;
        (place.file, place.line.or(citation.line))
    };
    let path = query(&path);
    Some(match line {
        Some(line) => format!("{base}/source?path={path}&line={line}#L{line}"),
        None => format!("{base}/source?path={path}"),
    })
}

/// Renders citations outside of claims.
fn passing(reply: &Reply, setting: &Setting<'_>) -> Html {
    let loose: Vec<&Citation> =
        reply.citations.iter().filter(|citation| citation.claim.is_none()).collect();
    if loose.is_empty() {
        return Html::new();
    }
    let items: Html = loose
        .iter()
        .map(|citation| {
            let words = long(&citation.raw);
            html!("<li>{}</li>", offered_as(&words, &[citation], setting))
        })
        .collect();
    html!(
        "<section class=\"passing\"><h4>Cited in passing</h4><ul class=\"evidence\">{}</ul></section>",
        items
    )
}

/// Truncates a text to 120 characters, for ids and names.
fn short(text: &str) -> String {
    bounded(&one_line(text), 120)
}

fn long(text: &str) -> String {
    bounded(&one_line(text), LONGEST)
}
