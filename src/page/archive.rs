//! The archive page: all debates, running ones first, with search, filters and pagination.
use super::html::{Html, html, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use super::query::{ArchivePageQuery, PAGE_SIZE};
use super::turn::{capitalize, lang_attribute, render_time, turn_element_id};
use crate::debate::{Cue, Status};
use crate::engine::{DebateCard, SearchHit};
use crate::report::sanitize::one_line;

/// Maximum number of search excerpts shown for one debate.
const MAX_EXCERPTS: usize = 3;

/// Content of the archive page: one page of query results and the values of the filters.
pub struct ArchiveListing<'a> {
    /// The query parameters.
    pub query: &'a ArchivePageQuery,
    /// Debates on this page.
    pub cards: &'a [DebateCard],
    /// Search hits, which may belong to any of the debates.
    pub hits: &'a [SearchHit],
    /// Number of debates on all pages.
    pub total: usize,
    /// Options of the format filter.
    pub formats: Vec<String>,
    /// Options of the winner filter.
    pub winners: Vec<String>,
    /// Options of the repository filter. Empty if the server must not reveal paths.
    pub roots: Vec<String>,
    /// Arena rooms that wait for bots: room id, topic, names of the bots present.
    pub waiting_rooms: Vec<(String, String, Vec<String>)>,
}

/// Sorts running debates before finished ones. The sort is stable.
pub fn running_first(mut cards: Vec<DebateCard>) -> Vec<DebateCard> {
    cards.sort_by_key(|card| card.status.is_over());
    cards
}

/// Renders the archive page.
pub fn render_archive_page(listing: &ArchiveListing<'_>, assets: AssetUrls<'_>) -> Html {
    let ArchiveListing { query: wanted, cards, total, .. } = listing;
    let items: Html = cards.iter().map(|card| render_card(card, listing)).collect();
    let count = match (*total, wanted.has_search()) {
        (0, true) => "Nothing was said about that.".to_owned(),
        (0, false) => "There are no debates here.".to_owned(),
        (1, _) => "One debate.".to_owned(),
        (many, _) => format!("{many} debates."),
    };
    let list =
        if items.is_empty() { Html::new() } else { html!("<ol class=\"debates\">{}</ol>", items) };
    // The checkboxes of the list belong to this form, so comparing works without the script.
    let compare = if cards.len() > 1 {
        html!("<button type=\"submit\">Compare the two that are chosen</button>")
    } else {
        Html::new()
    };
    let waiting: Html =
        listing.waiting_rooms.iter().take(PAGE_SIZE).map(render_waiting_room).collect();
    let waiting = if waiting.is_empty() || wanted.has_search() {
        Html::new()
    } else {
        html!("<h2>Waiting for bots</h2><ul class=\"waiting\">{}</ul>", waiting)
    };
    let main = html!(
        "<h1>Debates</h1>{}{}<p class=\"count\" role=\"status\">{}</p>\
         <form id=\"compare\" method=\"get\" action=\"/compare\">{}{}</form>{}",
        render_search_form(listing),
        waiting,
        count,
        list,
        compare,
        render_pagination(wanted, *total)
    );
    let title = if wanted.has_search() {
        format!("{} · debate", truncate(&one_line(&wanted.q), 80))
    } else {
        "Archive · debate".into()
    };
    render_page(
        &PageContent { kind: "archive", title: &title, main_attributes: Html::new(), main },
        assets,
    )
}

/// Renders an arena room that waits for bots.
fn render_waiting_room((id, topic, there): &(String, String, Vec<String>)) -> Html {
    let there = match there.as_slice() {
        [] => "nobody is there yet".to_owned(),
        all => format!("there: {}", truncate(&one_line(&all.join(", ")), 160)),
    };
    let topic = truncate(&one_line(topic), 300);
    html!(
        "<li><span{}>{}</span> · <code>{}</code>, {}</li>",
        lang_attribute(&topic),
        topic,
        id,
        there
    )
}

fn render_search_form(listing: &ArchiveListing<'_>) -> Html {
    let wanted = listing.query;
    let statuses: Vec<String> = Status::ALL.iter().map(|it| it.as_str().to_owned()).collect();
    let verdicts: Vec<String> = ["yes", "no", "contested"].map(str::to_owned).into();
    let mut selects = Html::new();
    selects.push(&render_select("status", "Status", &wanted.status, &statuses));
    selects.push(&render_select("format", "Format", &wanted.format, &listing.formats));
    selects.push(&render_select("winner", "Winner", &wanted.winner, &listing.winners));
    selects.push(&render_select("verdict", "Verdict", &wanted.verdict, &verdicts));
    if !listing.roots.is_empty() {
        selects.push(&render_select("root", "Repository", &wanted.root, &listing.roots));
    }
    html!(
        "<form role=\"search\" method=\"get\" action=\"/\"><label for=\"q\">Search everything that \
         was said</label><input id=\"q\" type=\"search\" name=\"q\" value=\"{}\" maxlength=\"200\">\
         <div class=\"filters\">{}</div><button type=\"submit\">Search</button></form>",
        truncate(&wanted.q, 200),
        selects
    )
}

fn render_select(name: &'static str, label: &'static str, chosen: &str, values: &[String]) -> Html {
    let options: Html = values
        .iter()
        .map(|value| {
            let mark = if value == chosen { html!(" selected") } else { Html::new() };
            let says = truncate(value, 120);
            html!("<option value=\"{}\"{}>{}</option>", value, mark, says)
        })
        .collect();
    html!(
        "<label for=\"{}\">{}</label><select id=\"{}\" name=\"{}\"><option value=\"\">any</option>{}\
         </select>",
        name,
        label,
        name,
        name,
        options
    )
}

fn render_card(card: &DebateCard, listing: &ArchiveListing<'_>) -> Html {
    let topic = truncate(&one_line(&card.topic), 300);
    let mut facts = html!(
        "<span class=\"state state-{}\">{}</span> {} {}",
        card.status.as_str(),
        capitalize(&card.status.as_str().replace('-', " ")),
        truncate(&card.format, 60),
        render_time(card.updated_at)
    );
    if let (Some(one), Some(other)) = (&card.proposer, &card.challenger) {
        let (one, other) = (truncate(&one_line(one), 80), truncate(&one_line(other), 80));
        facts.push(&html!(" <span class=\"sides\">{} against {}</span>", one, other));
    }
    // Until the debate is over, the verdict may still be sealed.
    let over = card.status.is_over();
    if let Some(winner) = card.winner.as_ref().filter(|_| over) {
        let winner = truncate(&one_line(winner), 80);
        facts.push(&html!(" <span class=\"winner\">for {}</span>", winner));
    }
    if let Some(confidence) = card.confidence.filter(|_| over) {
        facts.push(&html!(" <span class=\"confidence\">{}% sure</span>", confidence));
    }
    if !card.labels.is_empty() {
        facts.push(&html!(" <span class=\"labels\">{}</span>", card.labels.join(", ")));
    }
    let id = card.id.as_str();
    html!(
        "<li class=\"debate\" data-debate=\"{}\"><h2{}><a href=\"/debates/{}\">{}</a></h2><p>{}</p>{}\
         <p class=\"choose\"><label><input type=\"checkbox\" name=\"id\" value=\"{}\"> Compare</label>\
         </p></li>",
        id,
        lang_attribute(&card.topic),
        id,
        topic,
        facts,
        render_excerpts(card, listing),
        id
    )
}

fn render_excerpts(card: &DebateCard, listing: &ArchiveListing<'_>) -> Html {
    let words: Vec<&str> = listing.query.q.split_whitespace().collect();
    let own = listing.hits.iter().filter(|hit| hit.id == card.id && hit.turn.is_some());
    let items: Html = own
        .take(MAX_EXCERPTS)
        .map(|hit| {
            let cue = hit.turn.as_deref().and_then(|turn| turn.parse::<Cue>().ok());
            let anchor = cue.map(|cue| format!("#{}", turn_element_id(cue))).unwrap_or_default();
            let seat = truncate(&one_line(hit.seat.as_deref().unwrap_or_default()), 60);
            let who = match hit.round {
                Some(round) if round > 0 => format!("{seat}, round {round}"),
                _ => seat,
            };
            html!(
                "<li><a href=\"/debates/{}{}\">{}</a>: <span class=\"excerpt\">{}</span></li>",
                card.id.as_str(),
                anchor,
                who,
                highlight(&hit.excerpt, &words)
            )
        })
        .collect();
    if items.is_empty() { Html::new() } else { html!("<ul class=\"excerpts\">{}</ul>", items) }
}

/// Highlights words in a text with `<mark>`, ignoring case.
pub fn highlight(text: &str, words: &[&str]) -> Html {
    let text = truncate(&one_line(text), 400);
    let small = |c: char| c.to_lowercase().next().unwrap_or(c);
    let letters: Vec<char> = text.chars().collect();
    let flat: Vec<char> = letters.iter().copied().map(small).collect();
    let words: Vec<Vec<char>> =
        words.iter().map(|word| word.chars().map(small).collect()).collect();
    let (mut done, mut plain, mut at) = (Html::new(), String::new(), 0);
    while at < flat.len() {
        let here = words.iter().filter(|word| !word.is_empty() && flat[at..].starts_with(word));
        if let Some(length) = here.map(Vec::len).max() {
            done.push_text(&std::mem::take(&mut plain));
            let found: String = letters[at..at + length].iter().collect();
            done.push(&html!("<mark>{}</mark>", found));
            at += length;
        } else {
            plain.push(letters[at]);
            at += 1;
        }
    }
    done.push_text(&plain);
    done
}

fn render_pagination(wanted: &ArchivePageQuery, total: usize) -> Html {
    let (nth, last) = (wanted.page_index(), total.saturating_sub(1) / PAGE_SIZE);
    if last == 0 && nth == 0 {
        return Html::new();
    }
    let link = |to: usize, rel: &'static str, says: &'static str| {
        html!("<li><a rel=\"{}\" href=\"{}\">{}</a></li>", rel, wanted.page_url(to), says)
    };
    let before = if nth > 0 { link(nth - 1, "prev", "Previous") } else { Html::new() };
    let after = if nth < last { link(nth + 1, "next", "Next") } else { Html::new() };
    html!(
        "<nav aria-label=\"Pages\"><p>Page {} of {}</p><ul>{}{}</ul></nav>",
        nth + 1,
        last + 1,
        before,
        after
    )
}
