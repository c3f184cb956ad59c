//! The archive page: all debates, running ones first, with search, filters and pagination. The
//! entry point is [`render_archive_page`], called by `web::pages` with the query results.
use super::html::{
    Html, MAX_LISTED_TOPIC_CHARS, MAX_NAME_CHARS, MAX_SHORT_NAME_CHARS, html, truncate,
};
use super::layout::{AssetUrls, PageContent, render_page};
use super::query::{ArchivePageQuery, PAGE_SIZE};
use super::turn::{capitalize, lang_attribute, render_time, turn_element_id};
use crate::debate::{Cue, Status};
use crate::engine::{DebateCard, SearchHit};
use crate::report::sanitize::one_line;

/// Maximum number of search excerpts shown for one debate.
const MAX_EXCERPTS: usize = 3;
/// Characters shown of a search excerpt.
const MAX_EXCERPT_CHARS: usize = 400;
/// Maximum length of the search field, in characters.
const MAX_SEARCH_CHARS: usize = 200;
/// Characters of the search query in the document title.
const MAX_TITLE_QUERY_CHARS: usize = 80;
/// Characters shown of an option of a filter.
const MAX_OPTION_CHARS: usize = 120;
/// Characters shown of the names of the bots in a waiting room.
const MAX_BOT_NAMES_CHARS: usize = 160;

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
    let ArchiveListing { query, cards, total, .. } = listing;
    let items: Html = cards.iter().map(|card| render_card(card, listing)).collect();
    let count = match (*total, query.has_search()) {
        (0, true) => "Nothing was said about that.".to_owned(),
        (0, false) => "There are no debates here.".to_owned(),
        (1, _) => "One debate.".to_owned(),
        (n, _) => format!("{n} debates."),
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
    let waiting = if waiting.is_empty() || query.has_search() {
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
        render_pagination(query, *total)
    );
    let title = if query.has_search() {
        format!("{} · debate", truncate(&one_line(&query.q), MAX_TITLE_QUERY_CHARS))
    } else {
        "Archive · debate".into()
    };
    render_page(
        &PageContent { kind: "archive", title: &title, main_attributes: Html::new(), main },
        assets,
    )
}

/// Renders an arena room that waits for bots.
fn render_waiting_room((id, topic, bots): &(String, String, Vec<String>)) -> Html {
    let bots = match bots.as_slice() {
        [] => "nobody is there yet".to_owned(),
        names => {
            format!("there: {}", truncate(&one_line(&names.join(", ")), MAX_BOT_NAMES_CHARS))
        }
    };
    let topic = truncate(&one_line(topic), MAX_LISTED_TOPIC_CHARS);
    html!(
        "<li><span{}>{}</span> · <code>{}</code>, {}</li>",
        lang_attribute(&topic),
        topic,
        id,
        bots
    )
}

fn render_search_form(listing: &ArchiveListing<'_>) -> Html {
    let query = listing.query;
    let statuses: Vec<String> = Status::ALL.iter().map(|it| it.as_str().to_owned()).collect();
    let verdicts: Vec<String> = ["yes", "no", "contested"].map(str::to_owned).into();
    let mut selects = Html::new();
    selects.push(&render_select("status", "Status", &query.status, &statuses));
    selects.push(&render_select("format", "Format", &query.format, &listing.formats));
    selects.push(&render_select("winner", "Winner", &query.winner, &listing.winners));
    selects.push(&render_select("verdict", "Verdict", &query.verdict, &verdicts));
    if !listing.roots.is_empty() {
        selects.push(&render_select("root", "Repository", &query.root, &listing.roots));
    }
    html!(
        "<form role=\"search\" method=\"get\" action=\"/\"><label for=\"q\">Search everything that \
         was said</label><input id=\"q\" type=\"search\" name=\"q\" value=\"{}\" maxlength=\"{}\">\
         <div class=\"filters\">{}</div><button type=\"submit\">Search</button></form>",
        truncate(&query.q, MAX_SEARCH_CHARS),
        MAX_SEARCH_CHARS,
        selects
    )
}

fn render_select(name: &'static str, label: &'static str, chosen: &str, values: &[String]) -> Html {
    let options: Html = values
        .iter()
        .map(|value| {
            let selected = if value == chosen { html!(" selected") } else { Html::new() };
            let option_text = truncate(value, MAX_OPTION_CHARS);
            html!("<option value=\"{}\"{}>{}</option>", value, selected, option_text)
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
    let topic = truncate(&one_line(&card.topic), MAX_LISTED_TOPIC_CHARS);
    let mut facts = html!(
        "<span class=\"state state-{}\">{}</span> {} {}",
        card.status.as_str(),
        capitalize(&card.status.as_str().replace('-', " ")),
        truncate(&card.format, MAX_SHORT_NAME_CHARS),
        render_time(card.updated_at)
    );
    if let (Some(proposer), Some(challenger)) = (&card.proposer, &card.challenger) {
        let (proposer, challenger) = (
            truncate(&one_line(proposer), MAX_NAME_CHARS),
            truncate(&one_line(challenger), MAX_NAME_CHARS),
        );
        facts.push(&html!(" <span class=\"sides\">{} against {}</span>", proposer, challenger));
    }
    // Until the debate is over, the verdict may still be sealed.
    let is_over = card.status.is_over();
    if let Some(winner) = card.winner.as_ref().filter(|_| is_over) {
        let winner = truncate(&one_line(winner), MAX_NAME_CHARS);
        facts.push(&html!(" <span class=\"winner\">for {}</span>", winner));
    }
    if let Some(confidence) = card.confidence.filter(|_| is_over) {
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
    let card_hits = listing.hits.iter().filter(|hit| hit.id == card.id && hit.turn.is_some());
    let items: Html = card_hits
        .take(MAX_EXCERPTS)
        .map(|hit| {
            let cue = hit.turn.as_deref().and_then(|turn| turn.parse::<Cue>().ok());
            let anchor = cue.map(|cue| format!("#{}", turn_element_id(cue))).unwrap_or_default();
            let seat = one_line(hit.seat.as_deref().unwrap_or_default());
            let seat = truncate(&seat, MAX_SHORT_NAME_CHARS);
            let speaker = match hit.round {
                Some(round) if round > 0 => format!("{seat}, round {round}"),
                _ => seat,
            };
            html!(
                "<li><a href=\"/debates/{}{}\">{}</a>: <span class=\"excerpt\">{}</span></li>",
                card.id.as_str(),
                anchor,
                speaker,
                highlight(&hit.excerpt, &words)
            )
        })
        .collect();
    if items.is_empty() { Html::new() } else { html!("<ul class=\"excerpts\">{}</ul>", items) }
}

/// Highlights words in a text with `<mark>`, ignoring case.
pub fn highlight(text: &str, words: &[&str]) -> Html {
    let text = truncate(&one_line(text), MAX_EXCERPT_CHARS);
    let lowercase = |c: char| c.to_lowercase().next().unwrap_or(c);
    let chars: Vec<char> = text.chars().collect();
    let lowered: Vec<char> = chars.iter().copied().map(lowercase).collect();
    let words: Vec<Vec<char>> =
        words.iter().map(|word| word.chars().map(lowercase).collect()).collect();
    let (mut out, mut pending, mut position) = (Html::new(), String::new(), 0);
    while position < lowered.len() {
        let matches =
            words.iter().filter(|word| !word.is_empty() && lowered[position..].starts_with(word));
        if let Some(length) = matches.map(Vec::len).max() {
            out.push_text(&std::mem::take(&mut pending));
            let highlighted: String = chars[position..position + length].iter().collect();
            out.push(&html!("<mark>{}</mark>", highlighted));
            position += length;
        } else {
            pending.push(chars[position]);
            position += 1;
        }
    }
    out.push_text(&pending);
    out
}

fn render_pagination(query: &ArchivePageQuery, total: usize) -> Html {
    let (page_index, last_index) = (query.page_index(), total.saturating_sub(1) / PAGE_SIZE);
    if last_index == 0 && page_index == 0 {
        return Html::new();
    }
    let link = |target: usize, rel: &'static str, label: &'static str| {
        html!("<li><a rel=\"{}\" href=\"{}\">{}</a></li>", rel, query.page_url(target), label)
    };
    let previous_link =
        if page_index > 0 { link(page_index - 1, "prev", "Previous") } else { Html::new() };
    let next_link =
        if page_index < last_index { link(page_index + 1, "next", "Next") } else { Html::new() };
    html!(
        "<nav aria-label=\"Pages\"><p>Page {} of {}</p><ul>{}{}</ul></nav>",
        page_index + 1,
        last_index + 1,
        previous_link,
        next_link
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_on_the_page_has_at_most_400_characters() {
        assert_eq!(MAX_EXCERPT_CHARS, 400);
        let excerpt = "x".repeat(MAX_EXCERPT_CHARS);
        assert_eq!(highlight(&excerpt, &[]).into_string(), excerpt);
        assert_eq!(highlight(&format!("{excerpt}x"), &[]).into_string(), format!("{excerpt}…"));
    }
}
