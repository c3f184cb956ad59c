//! Verdict panel: the verdict, the research report or the insights of a dialogue.
use crate::debate::insights::concluding_sections;
use crate::debate::{Debate, Section, status};
use crate::page::html::{Html, html, truncate};
use crate::page::markdown::render_markdown;
use crate::page::turn::capitalize;
use crate::report::dialogue;
use crate::report::participants::{DebateKind, debate_kind};
use crate::report::research::research_judgment;
use crate::report::sanitize::one_line;
use crate::report::verdict::{VerdictView, verdict_view as ruled};

/// Maximum number of report sections shown.
const MAX_SECTIONS: usize = 40;

/// Renders the result once the debate is over, and the user's decision.
pub(in crate::page) fn render_verdict_panel(debate: &Debate) -> Html {
    let mut all = Html::new();
    if debate.outcome().is_some() {
        all.push(&match debate_kind(debate) {
            DebateKind::Contest => render_contest(debate),
            DebateKind::Dialogue => render_insights(debate),
            DebateKind::Research => {
                research_judgment(debate).map_or_else(Html::new, render_sections)
            }
        });
        if all.is_empty() {
            all.push(&html!(
                "<p>It ended without a verdict ({}).</p>",
                status::result_name(debate)
            ));
        }
    }
    if let Some(decision) = debate.decision() {
        all.push(&html!("<h3>The user's decision</h3>{}", render_markdown(decision, 3)));
    }
    if let Some(lesson) = debate.feedback() {
        all.push(&html!(
            "<h3>What became of it</h3><p>The verdict was {}. {}</p>",
            lesson.proof.as_str(),
            truncate(&one_line(&lesson.note), 1_000)
        ));
    }
    all
}

fn render_contest(debate: &Debate) -> Html {
    let Some(view) = ruled(debate) else { return Html::new() };
    let side = view.side.role_name();
    let side = if view.winner == side { String::new() } else { format!(" ({side})") };
    let mut all = html!(
        "<p class=\"winner\"><b>{}</b>{} had the stronger argument.</p>",
        truncate(&view.winner, 80),
        side
    );
    all.push(&render_verdict_facts(&view));
    if view.contested {
        all.push(&html!("<h3>Contested</h3>{}", render_list(&view.doubts)));
    }
    let notes = [("Recommendation", &view.recommendation), ("The judge's notes", &view.reasoning)];
    for (title, text) in notes.into_iter().filter(|(_, text)| !text.trim().is_empty()) {
        all.push(&html!("<h3>{}</h3>{}", title, render_markdown(text, 3)));
    }
    let points: Vec<String> = view
        .agreements
        .iter()
        .map(|both| match both.evidence.trim() {
            "" => both.point.clone(),
            evidence => format!("{} ({evidence})", both.point),
        })
        .collect();
    let differ: Vec<String> = view
        .disagreements
        .iter()
        .map(|it| format!("{}: for, {}; against, {}", it.point, it.pro, it.con))
        .collect();
    let blind: Vec<String> = view
        .blind_spots
        .iter()
        .map(|it| format!("{}: {}", status::side_name(debate, it.side), it.text))
        .collect();
    let parts = [
        ("Agreed", points.as_slice()),
        ("Not agreed", &differ),
        ("Unresolved", &view.unresolved),
        ("Not seen", &blind),
        ("Unsupported claims", &view.unsupported),
        ("Citations that do not resolve", &view.wrong),
        ("Noticed", &view.noticed),
    ];
    for (title, lines) in parts {
        if !lines.is_empty() {
            all.push(&html!("<h3>{}</h3>{}", title, render_list(lines)));
        }
    }
    all
}

fn render_verdict_facts(view: &VerdictView) -> Html {
    let mut facts = html!("<dt>Decided by</dt><dd>{}</dd>", view.decided.as_str());
    if let Some(confidence) = view.confidence {
        facts.push(&html!("<dt>Confidence</dt><dd>{}%</dd>", confidence));
    }
    if let Some(margin) = view.margin {
        facts.push(&html!("<dt>Margin</dt><dd>{} points</dd>", margin));
    }
    if let Some(weighed) = &view.weighed {
        let total = weighed.total;
        facts.push(&html!(
            "<dt>Weighed</dt><dd>{} to {} of a hundred</dd>",
            format_hundredths(total),
            format_hundredths(10_000 - total.min(10_000))
        ));
    }
    if let Some(quality) = view.quality {
        facts.push(&html!(
            "<dt>Quality</dt><dd>disagreement {}, evidence {}, depth {}</dd>",
            quality.disagreement.as_str(),
            quality.evidence.as_str(),
            quality.depth.as_str()
        ));
    }
    if let Some(changed) = &view.changed {
        let word = if changed.decision { "changed" } else { "did not change" };
        let because = truncate(&one_line(&changed.because), 1_000);
        facts.push(&html!("<dt>The debate</dt><dd>{} the decision: {}</dd>", word, because));
    }
    html!("<dl>{}</dl>", facts)
}

fn format_hundredths(ten_thousandths: u32) -> String {
    format!("{}.{:02}", ten_thousandths / 100, ten_thousandths % 100)
}

fn render_insights(debate: &Debate) -> Html {
    let mut all = Html::new();
    if let Some(end) = dialogue::dialogue_outcome(debate) {
        all.push(&html!("<p class=\"winner\"><b>{}</b></p>", capitalize(end.as_str())));
    }
    if let Some(said) = concluding_sections(debate) {
        all.push(&render_sections(said));
    }
    all
}

fn render_sections(sections: &[Section]) -> Html {
    sections
        .iter()
        .take(MAX_SECTIONS)
        .map(|section| {
            let title = one_line(section.title.trim_start_matches('#'));
            html!("<h3>{}</h3>{}", truncate(&title, 200), render_markdown(&section.text, 3))
        })
        .collect()
}

/// Renders a list. The lines may contain Markdown, such as code and strikethrough.
fn render_list(lines: &[String]) -> Html {
    let items: Html = lines
        .iter()
        .map(|line| html!("<li>{}</li>", render_markdown(&truncate(&one_line(line), 2_000), 3)))
        .collect();
    html!("<ul>{}</ul>", items)
}
