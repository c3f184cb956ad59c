//! The archive page: all debates, running ones first, with search, filters and pagination. The
//! entry point is [`render_archive_page`], called by `web::pages` with the query results.
use super::elements::{render_state, render_time, text_lang, turn_element_id};
use super::html::{Html, MAX_LISTED_TOPIC_CHARS, MAX_NAME_CHARS, MAX_SHORT_NAME_CHARS, truncate};
use super::layout::{AssetUrls, PageContent, render_page};
use super::query::{ArchivePageQuery, PAGE_SIZE};
use crate::debate::{Cue, Status};
use crate::engine::{DebateCard, SearchHit};
use crate::report::sanitize::one_line;
use maud::{Markup, html};

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
    let count = match (*total, query.has_search()) {
        (0, true) => "Nothing was said about that.".to_owned(),
        (0, false) => "There are no debates here.".to_owned(),
        (1, _) => "One debate.".to_owned(),
        (n, _) => format!("{n} debates."),
    };
    let main = html! {
        main #archive tabindex="-1" {
            h1 { "Debates" }
            (render_search_form(listing))
            @if !listing.waiting_rooms.is_empty() && !query.has_search() {
                h2 { "Waiting for bots" }
                ul.waiting {
                    @for room in listing.waiting_rooms.iter().take(PAGE_SIZE) {
                        (render_waiting_room(room))
                    }
                }
            }
            p.count role="status" { (count) }
            // The checkboxes of the list belong to this form, so comparing works without the script.
            form #compare method="get" action="/compare" {
                @if !cards.is_empty() {
                    ol.debates { @for card in *cards { (render_card(card, listing)) } }
                }
                @if cards.len() > 1 {
                    button type="submit" { "Compare the two that are chosen" }
                }
            }
            (render_pagination(query, *total))
        }
    };
    let title = if query.has_search() {
        format!("{} · debate", truncate(&one_line(&query.q), MAX_TITLE_QUERY_CHARS))
    } else {
        "Archive · debate".into()
    };
    render_page(PageContent { kind: "archive", title: &title, main }, assets)
}

/// Renders an arena room that waits for bots.
fn render_waiting_room((id, topic, bots): &(String, String, Vec<String>)) -> Markup {
    let bots = match bots.as_slice() {
        [] => "nobody is there yet".to_owned(),
        names => {
            format!("there: {}", truncate(&one_line(&names.join(", ")), MAX_BOT_NAMES_CHARS))
        }
    };
    let topic = truncate(&one_line(topic), MAX_LISTED_TOPIC_CHARS);
    html! {
        li { span lang=[text_lang(&topic)] { (topic) } " · " code { (id) } ", " (bots) }
    }
}

fn render_search_form(listing: &ArchiveListing<'_>) -> Markup {
    let query = listing.query;
    let statuses = Status::ALL.map(|it| it.as_str().to_owned());
    let verdicts = ["yes", "no", "contested"].map(str::to_owned);
    html! {
        form role="search" method="get" action="/" {
            label for="q" { "Search everything that was said" }
            input #q type="search" name="q" value=(truncate(&query.q, MAX_SEARCH_CHARS))
                maxlength=(MAX_SEARCH_CHARS);
            div.filters {
                (render_select("status", "Status", &query.status, &statuses))
                (render_select("format", "Format", &query.format, &listing.formats))
                (render_select("winner", "Winner", &query.winner, &listing.winners))
                (render_select("verdict", "Verdict", &query.verdict, &verdicts))
                @if !listing.roots.is_empty() {
                    (render_select("root", "Repository", &query.root, &listing.roots))
                }
            }
            button type="submit" { "Search" }
        }
    }
}

fn render_select(name: &str, label: &str, chosen: &str, values: &[String]) -> Markup {
    html! {
        label for=(name) { (label) }
        select #(name) name=(name) {
            option value="" { "any" }
            @for value in values {
                option value=(value) selected[value == chosen] {
                    (truncate(value, MAX_OPTION_CHARS))
                }
            }
        }
    }
}

fn render_card(card: &DebateCard, listing: &ArchiveListing<'_>) -> Markup {
    let name = |text: &str| truncate(&one_line(text), MAX_NAME_CHARS);
    // Until the debate is over, the verdict may still be sealed.
    let is_over = card.status.is_over();
    html! {
        li.debate data-debate=(card.id) {
            h2 lang=[text_lang(&card.topic)] {
                a href={ "/debates/" (card.id) } {
                    (truncate(&one_line(&card.topic), MAX_LISTED_TOPIC_CHARS))
                }
            }
            p {
                (render_state(card.status)) " "
                (truncate(&card.format, MAX_SHORT_NAME_CHARS)) " " (render_time(card.updated_at))
                @if let (Some(proposer), Some(challenger)) = (&card.proposer, &card.challenger) {
                    " " span.sides { (name(proposer)) " against " (name(challenger)) }
                }
                @if let Some(winner) = card.winner.as_ref().filter(|_| is_over) {
                    " " span.winner { "for " (name(winner)) }
                }
                @if let Some(confidence) = card.confidence.filter(|_| is_over) {
                    " " span.confidence { (confidence) "% sure" }
                }
                @if !card.labels.is_empty() { " " span.labels { (card.labels.join(", ")) } }
            }
            (render_excerpts(card, listing))
            p.choose {
                label { input type="checkbox" name="id" value=(card.id); " Compare" }
            }
        }
    }
}

fn render_excerpts(card: &DebateCard, listing: &ArchiveListing<'_>) -> Markup {
    let words: Vec<&str> = listing.query.q.split_whitespace().collect();
    let card_hits = listing.hits.iter().filter(|hit| hit.id == card.id && hit.turn.is_some());
    let hits: Vec<&SearchHit> = card_hits.take(MAX_EXCERPTS).collect();
    let anchor = |hit: &SearchHit| {
        let cue = hit.turn.as_deref().and_then(|turn| turn.parse::<Cue>().ok());
        cue.map(|cue| format!("#{}", turn_element_id(cue))).unwrap_or_default()
    };
    html! {
        @if !hits.is_empty() {
            ul.excerpts {
                @for hit in hits {
                    li {
                        a href={ "/debates/" (card.id) (anchor(hit)) } {
                            (truncate(
                                &one_line(hit.seat.as_deref().unwrap_or_default()),
                                MAX_SHORT_NAME_CHARS,
                            ))
                            @if let Some(round) = hit.round.filter(|round| *round > 0) {
                                ", round " (round)
                            }
                        }
                        ": " span.excerpt { (highlight(&hit.excerpt, &words)) }
                    }
                }
            }
        }
    }
}

/// Highlights words in a text with `<mark>`, ignoring case.
fn highlight(text: &str, words: &[&str]) -> Markup {
    let text = truncate(&one_line(text), MAX_EXCERPT_CHARS);
    let lowercase = |c: char| c.to_lowercase().next().unwrap_or(c);
    let chars: Vec<char> = text.chars().collect();
    let lowered: Vec<char> = chars.iter().copied().map(lowercase).collect();
    let words: Vec<Vec<char>> =
        words.iter().map(|word| word.chars().map(lowercase).collect()).collect();
    let (mut pieces, mut position) = (vec![(false, String::new())], 0);
    while position < lowered.len() {
        let matches =
            words.iter().filter(|word| !word.is_empty() && lowered[position..].starts_with(word));
        let length = matches.map(Vec::len).max();
        let end = position + length.unwrap_or(1);
        let piece: String = chars[position..end].iter().collect();
        match pieces.last_mut() {
            Some((false, plain)) if length.is_none() => plain.push_str(&piece),
            _ => pieces.push((length.is_some(), piece)),
        }
        position = end;
    }
    html! {
        @for (is_match, piece) in pieces {
            @if is_match { mark { (piece) } } @else { (piece) }
        }
    }
}

fn render_pagination(query: &ArchivePageQuery, total: usize) -> Markup {
    let (page_index, last_index) = (query.page_index(), total.saturating_sub(1) / PAGE_SIZE);
    html! {
        @if last_index > 0 || page_index > 0 {
            nav aria-label="Pages" {
                p { "Page " (page_index + 1) " of " (last_index + 1) }
                ul {
                    @if page_index > 0 {
                        li { a rel="prev" href=(query.page_url(page_index - 1)) { "Previous" } }
                    }
                    @if page_index < last_index {
                        li { a rel="next" href=(query.page_url(page_index + 1)) { "Next" } }
                    }
                }
            }
        }
    }
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
