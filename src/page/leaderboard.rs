//! The leaderboard page: ratings with confidence intervals as chart and table, and judge agreement.
//! The entry point is [`render_leaderboard_page`], called by `web::pages`. `rating` computes the
//! numbers.
use super::html::{Html, MAX_SHORT_NAME_CHARS, html, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use super::panels::render_table;
use crate::rating::{
    AgreementReference, JudgeAgreement, Leaderboard, LeaderboardGroup, LeaderboardRow,
};
use crate::report::sanitize::one_line;
use std::collections::BTreeSet;

/// Maximum number of entrants in the chart, and of judges in the agreement table.
const MAX_DRAWN: usize = 60;
/// Characters of a name that fit into the name column of the chart.
const MAX_CHART_NAME_CHARS: usize = 24;
/// Width of the SVG chart, in user units.
const CHART_WIDTH: f64 = 600.0;
/// Width of the name column, in user units.
const NAME_COLUMN_WIDTH: f64 = 180.0;
/// Height of a row, in user units.
const ROW_HEIGHT: f64 = 24.0;

/// Renders the leaderboard page.
pub fn render_leaderboard_page(leaderboard: &Leaderboard, assets: AssetUrls<'_>) -> Html {
    let mut main = html!(
        "<h1>Leaderboard</h1><p>{} of {} debates are rated. 400 points are odds of ten to one; the \
         mean of a group is 1500; an interval holds the true strength in 95 of 100 cases.</p>",
        leaderboard.rated,
        leaderboard.debates
    );
    if leaderboard.groups.is_empty() {
        main.push(&html!("<p>Nobody can be rated yet.</p>"));
    }
    for (index, group) in leaderboard.groups.iter().enumerate() {
        main.push(&render_group(group, index, leaderboard.groups.len()));
    }
    main.push(&render_side_bias(leaderboard));
    main.push(&render_judge_agreement(&leaderboard.judges));
    main.push(&render_unrated(leaderboard));
    let title = "Leaderboard · debate";
    render_page(
        &PageContent { kind: "leaderboard", title, main_attributes: Html::new(), main },
        assets,
    )
}

fn render_group(group: &LeaderboardGroup, index: usize, group_count: usize) -> Html {
    let title = match group_count {
        1 => "Strengths".to_owned(),
        _ => format!("Strengths, group {} of {group_count}", index + 1),
    };
    let rows: Vec<Vec<Html>> = group
        .rows
        .iter()
        .map(|row| {
            let score = |tally: &crate::rating::GameTally| {
                Html::text(&format!("{}-{}-{}", tally.wins, tally.draws, tally.losses))
            };
            vec![
                html!("{} {}", row.rank, short_name(&row.entrant)),
                Html::text(&format!("{:.0}", row.rating.value)),
                Html::text(&format!("{:.0} to {:.0}", row.rating.low, row.rating.high)),
                Html::text(&row.total.games.to_string()),
                score(&row.total),
                score(&row.as_proposer),
                score(&row.as_challenger),
            ]
        })
        .collect();
    let headers = [
        "Entrant",
        "Strength",
        "Interval",
        "Games",
        "Won-drawn-lost",
        "As proposer",
        "As challenger",
    ];
    html!(
        "<section><h2>{}</h2>{}{}</section>",
        title.as_str(),
        render_interval_chart(&group.rows, &title),
        render_table(&title, &headers, &rows)
    )
}

fn short_name(text: &str) -> String {
    truncate(&one_line(text), MAX_SHORT_NAME_CHARS)
}

/// Renders the confidence intervals as bars with the estimate as a dot. The table below has the
/// same numbers as text.
fn render_interval_chart(rows: &[LeaderboardRow], title: &str) -> Html {
    let rows = &rows[..rows.len().min(MAX_DRAWN)];
    let low = rows.iter().map(|row| row.rating.low).fold(f64::INFINITY, f64::min);
    let high = rows.iter().map(|row| row.rating.high).fold(f64::NEG_INFINITY, f64::max);
    if rows.is_empty() || !low.is_finite() || !high.is_finite() {
        return Html::new();
    }
    let span = (high - low).max(1.0);
    let x = |value: f64| {
        NAME_COLUMN_WIDTH + 10.0 + (value - low) / span * (CHART_WIDTH - NAME_COLUMN_WIDTH - 20.0)
    };
    let mut bars = Html::new();
    for (index, row) in (0u16..).zip(rows) {
        let y = f64::from(index) * ROW_HEIGHT + ROW_HEIGHT / 2.0;
        let tooltip = format!(
            "{}: {:.0}, from {:.0} to {:.0}",
            short_name(&row.entrant),
            row.rating.value,
            row.rating.low,
            row.rating.high
        );
        bars.push(&html!(
            "<g><title>{}</title><text x=\"0\" y=\"{}\" dominant-baseline=\"middle\">{}</text>\
             <line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"currentColor\" \
             stroke-width=\"3\"/><circle cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"currentColor\"/></g>",
            tooltip,
            format_coordinate(y),
            truncate(&one_line(&row.entrant), MAX_CHART_NAME_CHARS),
            format_coordinate(x(row.rating.low)),
            format_coordinate(x(row.rating.high)),
            format_coordinate(y),
            format_coordinate(y),
            format_coordinate(x(row.rating.value)),
            format_coordinate(y)
        ));
    }
    let height =
        format_coordinate(f64::from(u16::try_from(rows.len()).unwrap_or(u16::MAX)) * ROW_HEIGHT);
    html!(
        "<svg class=\"intervals\" role=\"img\" aria-label=\"{}, drawn: the table below has the \
         figures\" viewBox=\"0 0 {} {}\" font-size=\"12\" fill=\"currentColor\">{}</svg>",
        title,
        format_coordinate(CHART_WIDTH),
        height,
        bars
    )
}

/// Formats an SVG coordinate.
fn format_coordinate(value: f64) -> String {
    format!("{value:.1}")
}

fn render_side_bias(leaderboard: &Leaderboard) -> Html {
    let Some(share) = leaderboard.sides.share else { return Html::new() };
    let range = match (leaderboard.sides.low, leaderboard.sides.high) {
        (Some(low), Some(high)) => {
            format!(" ({} to {})", format_percent(low), format_percent(high))
        }
        _ => String::new(),
    };
    html!(
        "<section><h2>Sides</h2><p>Proposers won {}{} of the decided debates.</p></section>",
        format_percent(share),
        range
    )
}

fn format_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Renders the agreement of each judge with its swapped self, the verdict, the audience and the
/// other judges.
fn render_judge_agreement(agreements: &[JudgeAgreement]) -> Html {
    if agreements.is_empty() {
        return Html::new();
    }
    let mut judges: Vec<&str> = vec![];
    for row in agreements {
        for judge in [Some(row.judge.as_str()), row.other.as_deref()].into_iter().flatten() {
            if !judges.contains(&judge) && judges.len() < MAX_DRAWN {
                judges.push(judge);
            }
        }
    }
    let panel_judges: BTreeSet<&str> = agreements
        .iter()
        .filter(|row| row.between == AgreementReference::Panel)
        .flat_map(|row| [Some(row.judge.as_str()), row.other.as_deref()])
        .flatten()
        .collect();
    let references = [
        (AgreementReference::Swapped, "With itself, sides swapped"),
        (AgreementReference::Verdict, "With the verdict"),
        (AgreementReference::Audience, "With the audience"),
    ];
    let headers: Vec<String> = ["Judge".to_owned()]
        .into_iter()
        .chain(references.map(|(_, head)| head.to_owned()))
        .chain(panel_judges.iter().map(|judge| format!("With {}", short_name(judge))))
        .collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let rows: Vec<Vec<Html>> = judges
        .iter()
        .map(|judge| {
            let own_cells = references.map(|(between, _)| {
                let mut matching = agreements.iter().filter(|row| row.between == between);
                agreement_cell(matching.find(|row| row.judge == *judge))
            });
            let pair_cells = panel_judges.iter().map(|other| {
                let is_pair = |row: &&JudgeAgreement| {
                    let names = (row.judge.as_str(), row.other.as_deref().unwrap_or_default());
                    row.between == AgreementReference::Panel
                        && (names == (judge, other) || names == (other, judge))
                };
                agreement_cell(agreements.iter().find(is_pair))
            });
            [Html::text(&short_name(judge))]
                .into_iter()
                .chain(own_cells)
                .chain(pair_cells)
                .collect()
        })
        .collect();
    html!(
        "<section><h2>How far judges agree</h2>{}</section>",
        render_table("The part of debates in which both chose the same side", &headers, &rows)
    )
}

fn agreement_cell(row: Option<&JudgeAgreement>) -> Html {
    let Some(row) = row else { return Html::text("-") };
    let kappa = row.kappa.map(|kappa| format!(", kappa {kappa:.2}")).unwrap_or_default();
    html!(
        "<b>{}</b> <span class=\"range\">{} to {}, {} of {}{}</span>",
        format_percent(row.share),
        format_percent(row.low),
        format_percent(row.high),
        row.same,
        row.debates,
        kappa
    )
}

fn render_unrated(leaderboard: &Leaderboard) -> Html {
    if leaderboard.unrated.is_empty() {
        return Html::new();
    }
    let items: Html = leaderboard
        .unrated
        .iter()
        .map(|it| html!("<li>{}: {}</li>", it.debates, it.says.as_str()))
        .collect();
    html!("<section><h2>Not rated</h2><ul>{}</ul></section>", items)
}
