//! Verdict panel: the verdict, the research report or the insights of a dialogue. The entry point
//! is `render_verdict_panel`, called for the debate page (`panels`) and the comparison page
//! (`compare`).
use crate::debate::insights::concluding_sections;
use crate::debate::{Debate, Section, status};
use crate::page::html::{Html, MAX_NAME_CHARS, MAX_NOTE_CHARS, html, truncate};
use crate::page::markdown::render_markdown;
use crate::page::turn::capitalize;
use crate::report::dialogue;
use crate::report::participants::{DebateKind, debate_kind};
use crate::report::research::research_judgment;
use crate::report::sanitize::one_line;
use crate::report::verdict::{VerdictView, verdict_view};

/// Maximum number of report sections shown.
const MAX_SECTIONS: usize = 40;
/// Characters shown of the title of a section.
const MAX_SECTION_TITLE_CHARS: usize = 200;
/// Characters shown of one line of a list.
const MAX_LIST_LINE_CHARS: usize = 2_000;

/// Renders the result once the debate is over, and the user's decision.
pub(in crate::page) fn render_verdict_panel(debate: &Debate) -> Html {
    let mut out = Html::new();
    if debate.outcome().is_some() {
        out.push(&match debate_kind(debate) {
            DebateKind::Contest => render_contest(debate),
            DebateKind::Dialogue => render_insights(debate),
            DebateKind::Research => {
                research_judgment(debate).map_or_else(Html::new, render_sections)
            }
        });
        if out.is_empty() {
            out.push(&html!(
                "<p>It ended without a verdict ({}).</p>",
                status::result_name(debate)
            ));
        }
    }
    if let Some(decision) = debate.decision() {
        out.push(&html!("<h3>The user's decision</h3>{}", render_markdown(decision, 3)));
    }
    if let Some(lesson) = debate.feedback() {
        out.push(&html!(
            "<h3>What became of it</h3><p>The verdict was {}. {}</p>",
            lesson.proof.as_str(),
            truncate(&one_line(&lesson.note), MAX_NOTE_CHARS)
        ));
    }
    out
}

fn render_contest(debate: &Debate) -> Html {
    let Some(view) = verdict_view(debate) else { return Html::new() };
    let side = view.side.role_name();
    let side = if view.winner == side { String::new() } else { format!(" ({side})") };
    let mut out = html!(
        "<p class=\"winner\"><b>{}</b>{} had the stronger argument.</p>",
        truncate(&view.winner, MAX_NAME_CHARS),
        side
    );
    out.push(&render_verdict_facts(&view));
    if view.contested {
        out.push(&html!("<h3>Contested</h3>{}", render_list(&view.doubts)));
    }
    let notes = [("Recommendation", &view.recommendation), ("The judge's notes", &view.reasoning)];
    for (title, text) in notes.into_iter().filter(|(_, text)| !text.trim().is_empty()) {
        out.push(&html!("<h3>{}</h3>{}", title, render_markdown(text, 3)));
    }
    let agreements: Vec<String> = view
        .agreements
        .iter()
        .map(|agreement| match agreement.evidence.trim() {
            "" => agreement.point.clone(),
            evidence => format!("{} ({evidence})", agreement.point),
        })
        .collect();
    let disagreements: Vec<String> = view
        .disagreements
        .iter()
        .map(|it| format!("{}: for, {}; against, {}", it.point, it.pro, it.con))
        .collect();
    let blind_spots: Vec<String> = view
        .blind_spots
        .iter()
        .map(|it| format!("{}: {}", status::side_name(debate, it.side), it.text))
        .collect();
    let parts = [
        ("Agreed", agreements.as_slice()),
        ("Not agreed", &disagreements),
        ("Unresolved", &view.unresolved),
        ("Not seen", &blind_spots),
        ("Unsupported claims", &view.unsupported),
        ("Citations that do not resolve", &view.wrong),
        ("Noticed", &view.noticed),
    ];
    for (title, lines) in parts {
        if !lines.is_empty() {
            out.push(&html!("<h3>{}</h3>{}", title, render_list(lines)));
        }
    }
    out
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
        let verb = if changed.decision { "changed" } else { "did not change" };
        let because = truncate(&one_line(&changed.because), MAX_NOTE_CHARS);
        facts.push(&html!("<dt>The debate</dt><dd>{} the decision: {}</dd>", verb, because));
    }
    html!("<dl>{}</dl>", facts)
}

fn format_hundredths(ten_thousandths: u32) -> String {
    format!("{}.{:02}", ten_thousandths / 100, ten_thousandths % 100)
}

fn render_insights(debate: &Debate) -> Html {
    let mut out = Html::new();
    if let Some(outcome) = dialogue::dialogue_outcome(debate) {
        out.push(&html!("<p class=\"winner\"><b>{}</b></p>", capitalize(outcome.as_str())));
    }
    if let Some(sections) = concluding_sections(debate) {
        out.push(&render_sections(sections));
    }
    out
}

fn render_sections(sections: &[Section]) -> Html {
    sections
        .iter()
        .take(MAX_SECTIONS)
        .map(|section| {
            let title = one_line(section.title.trim_start_matches('#'));
            let title = truncate(&title, MAX_SECTION_TITLE_CHARS);
            html!("<h3>{}</h3>{}", title, render_markdown(&section.text, 3))
        })
        .collect()
}

/// Renders a list. The lines may contain Markdown, such as code and strikethrough.
fn render_list(lines: &[String]) -> Html {
    let items: Html = lines
        .iter()
        .map(|line| {
            let line = truncate(&one_line(line), MAX_LIST_LINE_CHARS);
            html!("<li>{}</li>", render_markdown(&line, 3))
        })
        .collect();
    html!("<ul>{}</ul>", items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_list_has_at_most_2_000_characters() {
        assert_eq!(MAX_LIST_LINE_CHARS, 2_000);
        let line = "x".repeat(MAX_LIST_LINE_CHARS);
        for (text, shown) in
            [(line.clone(), line.clone()), (format!("{line}x"), format!("{line}…"))]
        {
            let html = render_list(&[text]).into_string();
            assert_eq!(html, format!("<ul><li><p>{shown}</p></li></ul>"));
        }
    }

    #[test]
    fn report_has_at_most_40_sections() {
        assert_eq!(MAX_SECTIONS, 40);
        let section = Section { title: "Sources".into(), text: "None.".into() };
        for (sections, expected) in [(MAX_SECTIONS, 40), (MAX_SECTIONS + 1, 40)] {
            let html = render_sections(&vec![section.clone(); sections]).into_string();
            assert_eq!(html.matches("<h3>").count(), expected);
        }
    }
}
