//! Verdict panel: the verdict, the research report or the insights of a dialogue. The entry point
//! is `render_verdict_panel`, called for the debate page (`panels`) and the comparison page
//! (`compare`).
use crate::debate::insights::concluding_sections;
use crate::debate::{Debate, Section, status};
use crate::page::elements::capitalize;
use crate::page::html::{MAX_NAME_CHARS, MAX_NOTE_CHARS, truncate};
use crate::page::markdown::render_markdown;
use crate::report::dialogue;
use crate::report::participants::{DebateKind, debate_kind};
use crate::report::research::research_judgment;
use crate::report::sanitize::one_line;
use crate::report::verdict::{VerdictView, verdict_view};
use maud::{Markup, html};

/// Maximum number of report sections shown.
const MAX_SECTIONS: usize = 40;
/// Characters shown of the title of a section.
const MAX_SECTION_TITLE_CHARS: usize = 200;
/// Characters shown of one line of a list.
const MAX_LIST_LINE_CHARS: usize = 2_000;

/// Renders the result once the debate is over, and the user's decision.
pub(in crate::page) fn render_verdict_panel(debate: &Debate) -> Markup {
    let result = match debate_kind(debate) {
        DebateKind::Contest => render_contest(debate),
        DebateKind::Dialogue => render_insights(debate),
        DebateKind::Research => {
            research_judgment(debate).map_or_else(Markup::default, render_sections)
        }
    };
    html! {
        @if debate.outcome().is_some() {
            @if result.0.is_empty() {
                p { "It ended without a verdict (" (status::result_name(debate)) ")." }
            } @else {
                (result)
            }
        }
        @if let Some(decision) = debate.decision() {
            h3 { "The user's decision" }
            (render_markdown(decision, 3))
        }
        @if let Some(lesson) = debate.feedback() {
            h3 { "What became of it" }
            p {
                "The verdict was " (lesson.proof.as_str()) ". "
                (truncate(&one_line(&lesson.note), MAX_NOTE_CHARS))
            }
        }
    }
}

fn render_contest(debate: &Debate) -> Markup {
    let Some(view) = verdict_view(debate) else { return Markup::default() };
    let side = view.side.role_name();
    let notes = [("Recommendation", &view.recommendation), ("The judge's notes", &view.reasoning)];
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
    html! {
        p.winner {
            b { (truncate(&view.winner, MAX_NAME_CHARS)) }
            @if view.winner != side { " (" (side) ")" }
            " had the stronger argument."
        }
        (render_verdict_facts(&view))
        @if view.contested {
            h3 { "Contested" }
            (render_list(&view.doubts))
        }
        @for (title, text) in notes.iter().filter(|(_, text)| !text.trim().is_empty()) {
            h3 { (title) }
            (render_markdown(text, 3))
        }
        @for (title, lines) in parts.iter().filter(|(_, lines)| !lines.is_empty()) {
            h3 { (title) }
            (render_list(lines))
        }
    }
}

fn render_verdict_facts(view: &VerdictView) -> Markup {
    html! {
        dl {
            dt { "Decided by" }
            dd { (view.decided.as_str()) }
            @if let Some(confidence) = view.confidence {
                dt { "Confidence" }
                dd { (confidence) "%" }
            }
            @if let Some(margin) = view.margin {
                dt { "Margin" }
                dd { (margin) " points" }
            }
            @if let Some(weighed) = &view.weighed {
                dt { "Weighed" }
                dd {
                    (format_hundredths(weighed.total)) " to "
                    (format_hundredths(10_000 - weighed.total.min(10_000))) " of a hundred"
                }
            }
            @if let Some(quality) = view.quality {
                dt { "Quality" }
                dd {
                    "disagreement " (quality.disagreement.as_str()) ", evidence "
                    (quality.evidence.as_str()) ", depth " (quality.depth.as_str())
                }
            }
            @if let Some(changed) = &view.changed {
                dt { "The debate" }
                dd {
                    @if changed.decision { "changed" } @else { "did not change" }
                    " the decision: " (truncate(&one_line(&changed.because), MAX_NOTE_CHARS))
                }
            }
        }
    }
}

fn format_hundredths(ten_thousandths: u32) -> String {
    format!("{}.{:02}", ten_thousandths / 100, ten_thousandths % 100)
}

fn render_insights(debate: &Debate) -> Markup {
    html! {
        @if let Some(outcome) = dialogue::dialogue_outcome(debate) {
            p.winner { b { (capitalize(outcome.as_str())) } }
        }
        @if let Some(sections) = concluding_sections(debate) { (render_sections(sections)) }
    }
}

fn render_sections(sections: &[Section]) -> Markup {
    let title = |section: &Section| {
        let title = one_line(section.title.trim_start_matches('#'));
        truncate(&title, MAX_SECTION_TITLE_CHARS)
    };
    html! {
        @for section in sections.iter().take(MAX_SECTIONS) {
            h3 { (title(section)) }
            (render_markdown(&section.text, 3))
        }
    }
}

/// Renders a list. The lines may contain Markdown, such as code and strikethrough.
fn render_list(lines: &[String]) -> Markup {
    html! {
        ul {
            @for line in lines {
                li { (render_markdown(&truncate(&one_line(line), MAX_LIST_LINE_CHARS), 3)) }
            }
        }
    }
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
