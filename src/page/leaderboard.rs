//! The leaderboard page: ratings with confidence intervals as chart and table, and judge agreement.
//! The entry point is [`render_leaderboard_page`], called by `web::pages`. `rating` computes the
//! numbers.
use super::elements::render_table;
use super::html::{Html, MAX_SHORT_NAME_CHARS, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use crate::rating::{
    AgreementReference, GameTally, JudgeAgreement, Leaderboard, LeaderboardGroup, LeaderboardRow,
    RatingEstimate,
};
use crate::report::sanitize::one_line;
use maud::{Markup, Render, html};
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
    let groups = &leaderboard.groups;
    let main = html! {
        main #leaderboard tabindex="-1" {
            h1 { "Leaderboard" }
            p {
                (leaderboard.rated) " of " (leaderboard.debates) " debates are rated. 400 points are "
                "odds of ten to one; the mean of a group is 1500; an interval holds the true "
                "strength in 95 of 100 cases."
            }
            @if groups.is_empty() { p { "Nobody can be rated yet." } }
            @for (index, group) in groups.iter().enumerate() {
                (render_group(group, index, groups.len()))
            }
            (render_side_bias(leaderboard))
            (render_judge_agreement(&leaderboard.judges))
            @if !leaderboard.unrated.is_empty() {
                section {
                    h2 { "Not rated" }
                    ul { @for it in &leaderboard.unrated { li { (it.debates) ": " (it.says) } } }
                }
            }
        }
    };
    render_page(PageContent { kind: "leaderboard", title: "Leaderboard · debate", main }, assets)
}

fn render_group(group: &LeaderboardGroup, index: usize, group_count: usize) -> Markup {
    let title = match group_count {
        1 => "Strengths".to_owned(),
        _ => format!("Strengths, group {} of {group_count}", index + 1),
    };
    let rows: Vec<Vec<Markup>> = group
        .rows
        .iter()
        .map(|row| {
            let score = |tally: &GameTally| {
                html! { (tally.wins) "-" (tally.draws) "-" (tally.losses) }
            };
            vec![
                html! { (row.rank) " " (short_name(&row.entrant)) },
                format!("{:.0}", row.rating.value).render(),
                format!("{:.0} to {:.0}", row.rating.low, row.rating.high).render(),
                row.total.games.render(),
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
    html! {
        section {
            h2 { (title) }
            (render_interval_chart(&group.rows, &title))
            (render_table(&title, &headers, &rows))
        }
    }
}

fn short_name(text: &str) -> String {
    truncate(&one_line(text), MAX_SHORT_NAME_CHARS)
}

/// Renders the confidence intervals as bars with the estimate as a dot. The table below has the
/// same numbers as text.
fn render_interval_chart(rows: &[LeaderboardRow], title: &str) -> Markup {
    let rows = &rows[..rows.len().min(MAX_DRAWN)];
    let low = rows.iter().map(|row| row.rating.low).fold(f64::INFINITY, f64::min);
    let high = rows.iter().map(|row| row.rating.high).fold(f64::NEG_INFINITY, f64::max);
    if rows.is_empty() || !low.is_finite() || !high.is_finite() {
        return Markup::default();
    }
    let span = (high - low).max(1.0);
    let x = |value: f64| {
        let offset = (value - low) / span * (CHART_WIDTH - NAME_COLUMN_WIDTH - 20.0);
        format_coordinate(NAME_COLUMN_WIDTH + 10.0 + offset)
    };
    let tooltip = |row: &LeaderboardRow| {
        let RatingEstimate { value, low, high, .. } = &row.rating;
        format!("{}: {value:.0}, from {low:.0} to {high:.0}", short_name(&row.entrant))
    };
    let row_count = u16::try_from(rows.len()).unwrap_or(u16::MAX);
    let y = |index: u16| format_coordinate(f64::from(index) * ROW_HEIGHT + ROW_HEIGHT / 2.0);
    let size = [CHART_WIDTH, f64::from(row_count) * ROW_HEIGHT].map(format_coordinate);
    html! {
        svg.intervals role="img" aria-label={ (title) ", drawn: the table below has the figures" }
            viewBox={ "0 0 " (size[0]) " " (size[1]) } font-size="12" fill="currentColor" {
            @for (y, row) in (0u16..).map(y).zip(rows) {
                g {
                    title { (tooltip(row)) }
                    text x="0" y=(y) dominant-baseline="middle" {
                        (truncate(&one_line(&row.entrant), MAX_CHART_NAME_CHARS))
                    }
                    line x1=(x(row.rating.low)) x2=(x(row.rating.high)) y1=(y) y2=(y)
                        stroke="currentColor" stroke-width="3" {}
                    circle cx=(x(row.rating.value)) cy=(y) r="5" fill="currentColor" {}
                }
            }
        }
    }
}

/// Formats an SVG coordinate.
fn format_coordinate(value: f64) -> String {
    format!("{value:.1}")
}

fn render_side_bias(leaderboard: &Leaderboard) -> Markup {
    let sides = &leaderboard.sides;
    let Some(share) = sides.share else { return Markup::default() };
    html! {
        section {
            h2 { "Sides" }
            p {
                "Proposers won " (format_percent(share))
                @if let (Some(low), Some(high)) = (sides.low, sides.high) {
                    " (" (format_percent(low)) " to " (format_percent(high)) ")"
                }
                " of the decided debates."
            }
        }
    }
}

fn format_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Renders the agreement of each judge with its swapped self, the verdict, the audience and the
/// other judges.
fn render_judge_agreement(agreements: &[JudgeAgreement]) -> Markup {
    if agreements.is_empty() {
        return Markup::default();
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
    let rows: Vec<Vec<Markup>> = judges
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
            [short_name(judge).render()].into_iter().chain(own_cells).chain(pair_cells).collect()
        })
        .collect();
    let caption = "The part of debates in which both chose the same side";
    html! {
        section { h2 { "How far judges agree" } (render_table(caption, &headers, &rows)) }
    }
}

fn agreement_cell(row: Option<&JudgeAgreement>) -> Markup {
    let Some(row) = row else { return "-".render() };
    html! {
        b { (format_percent(row.share)) } " "
        span.range {
            (format_percent(row.low)) " to " (format_percent(row.high)) ", " (row.same) " of "
            (row.debates)
            @if let Some(kappa) = row.kappa { ", kappa " (format!("{kappa:.2}")) }
        }
    }
}
