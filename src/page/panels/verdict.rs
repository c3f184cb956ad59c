//! Verdict panel: the verdict, the research report or the insights of a dialogue.
use crate::debate::insights::concluding_sections;
use crate::debate::{Debate, Section, status};
use crate::page::html::{Html, bounded, html};
use crate::page::markdown::markdown;
use crate::page::turn::capital;
use crate::report::dialogue;
use crate::report::people::{Course, course};
use crate::report::research::judgment;
use crate::report::text::one_line;
use crate::report::verdict::{VerdictView, verdict as ruled};

/// Maximum number of report sections shown.
const SECTIONS: usize = 40;

/// Renders the result once the debate is over, and the user's decision.
pub(in crate::page) fn verdict(debate: &Debate) -> Html {
    let mut all = Html::new();
    if debate.outcome().is_some() {
        all.add(&match course(debate) {
            Course::Contest => contest(debate),
            Course::Dialogue => learned(debate),
            Course::Research => judgment(debate).map_or_else(Html::new, sections),
        });
        if all.is_empty() {
            all.add(&html!("<p>It ended without a verdict ({}).</p>", status::result_name(debate)));
        }
    }
    if let Some(decision) = debate.decision() {
        all.add(&html!("<h3>The user's decision</h3>{}", markdown(decision, 3)));
    }
    if let Some(lesson) = debate.feedback() {
        all.add(&html!(
            "<h3>What became of it</h3><p>The verdict was {}. {}</p>",
            lesson.proof.as_str(),
            bounded(&one_line(&lesson.note), 1_000)
        ));
    }
    all
}

fn contest(debate: &Debate) -> Html {
    let Some(view) = ruled(debate) else { return Html::new() };
    let side = view.side.role_name();
    let side = if view.winner == side { String::new() } else { format!(" ({side})") };
    let mut all = html!(
        "<p class=\"winner\"><b>{}</b>{} had the stronger argument.</p>",
        bounded(&view.winner, 80),
        side
    );
    all.add(&facts(&view));
    if view.contested {
        all.add(&html!("<h3>Contested</h3>{}", list(&view.doubts)));
    }
    let notes = [("Recommendation", &view.recommendation), ("The judge's notes", &view.reasoning)];
    for (title, text) in notes.into_iter().filter(|(_, text)| !text.trim().is_empty()) {
        all.add(&html!("<h3>{}</h3>{}", title, markdown(text, 3)));
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
            all.add(&html!("<h3>{}</h3>{}", title, list(lines)));
        }
    }
    all
}

fn facts(view: &VerdictView) -> Html {
    let mut facts = html!("<dt>Decided by</dt><dd>{}</dd>", view.decided.as_str());
    if let Some(confidence) = view.confidence {
        facts.add(&html!("<dt>Confidence</dt><dd>{}%</dd>", confidence));
    }
    if let Some(margin) = view.margin {
        facts.add(&html!("<dt>Margin</dt><dd>{} points</dd>", margin));
    }
    if let Some(weighed) = &view.weighed {
        let total = weighed.total;
        facts.add(&html!(
            "<dt>Weighed</dt><dd>{} to {} of a hundred</dd>",
            parts(total),
            parts(10_000 - total.min(10_000))
        ));
    }
    if let Some(quality) = view.quality {
        facts.add(&html!(
            "<dt>Quality</dt><dd>disagreement {}, evidence {}, depth {}</dd>",
            quality.disagreement.as_str(),
            quality.evidence.as_str(),
            quality.depth.as_str()
        ));
    }
    if let Some(changed) = &view.changed {
        let word = if changed.decision { "changed" } else { "did not change" };
        let because = bounded(&one_line(&changed.because), 1_000);
        facts.add(&html!("<dt>The debate</dt><dd>{} the decision: {}</dd>", word, because));
    }
    html!("<dl>{}</dl>", facts)
}

fn parts(ten_thousandths: u32) -> String {
    format!("{}.{:02}", ten_thousandths / 100, ten_thousandths % 100)
}

fn learned(debate: &Debate) -> Html {
    let mut all = Html::new();
    if let Some(end) = dialogue::ended(debate) {
        all.add(&html!("<p class=\"winner\"><b>{}</b></p>", capital(end.as_str())));
    }
    if let Some(said) = concluding_sections(debate) {
        all.add(&sections(said));
    }
    all
}

fn sections(sections: &[Section]) -> Html {
    sections
        .iter()
        .take(SECTIONS)
        .map(|section| {
            let title = one_line(section.title.trim_start_matches('#'));
            html!("<h3>{}</h3>{}", bounded(&title, 200), markdown(&section.text, 3))
        })
        .collect()
}

/// Renders a list. The lines may contain Markdown, such as code and strikethrough.
fn list(lines: &[String]) -> Html {
    let items: Html = lines
        .iter()
        .map(|line| html!("<li>{}</li>", markdown(&bounded(&one_line(line), 2_000), 3)))
        .collect();
    html!("<ul>{}</ul>", items)
}
