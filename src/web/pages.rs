//! Loads debates from the archive and renders pages. Runs on the blocking thread pool, because
//! rendering and local database queries must not block the async threads.
use super::assets::{STYLE, asset_urls};
use super::auth::AccessLevel;
use super::blocking::run_blocking;
use super::http_error::HttpError;
use super::site_state::{SiteScope, SiteState};
use crate::app::pinned_file::has_valid_citation;
use crate::arena::ArenaService;
use crate::debate::verdict::judgment;
use crate::debate::{Cue, Debate};
use crate::engine::{DebateCard, DebateQuery, SearchHit, StoredDebate};
use crate::page::archive::{ArchiveListing, render_archive_page, running_first};
use crate::page::compare;
use crate::page::context::Viewer;
use crate::page::debate::{DebatePageInput, render_debate_page};
use crate::page::export::render_export;
use crate::page::history::DebateHistory;
use crate::page::html::Html;
use crate::page::leaderboard::render_leaderboard_page;
use crate::page::live::LiveTurns;
use crate::page::query::{ArchivePageQuery, PAGE_SIZE};
use crate::page::rendered::{PageFragments, RenderedDebate};
use crate::page::source::{SourceFile, render_source_page};
use crate::page::timeline::{TimelineEntry, timeline};
use crate::rating::Leaderboard;
use axum::http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Maximum number of debates in an archive query.
const MAX_LISTED: usize = 5_000;
/// Maximum number of debates to load for the contested filter.
const MAX_CONTESTED_CHECKS: usize = 300;
/// Maximum number of search hits.
const MAX_HITS: usize = 500;
/// Maximum length of the search words, in characters.
const MAX_SEARCH_CHARS: usize = 200;
/// Maximum number of debates to choose from for a comparison.
const MAX_CHOICES: usize = 200;
/// Time for which the leaderboard is cached.
const LEADERBOARD_TTL: Duration = Duration::from_secs(10);

/// Builds the history of a debate, optionally only up to an event.
pub(super) async fn load_history(
    stored: StoredDebate,
    until: Option<u64>,
) -> Result<DebateHistory, HttpError> {
    run_blocking(async move { build_history(&stored, until) }).await
}

fn build_history(stored: &StoredDebate, until: Option<u64>) -> Result<DebateHistory, HttpError> {
    DebateHistory::from_stored(stored, until).map_err(|error| {
        HttpError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            error.to_string(),
            "The debate cannot be shown.",
        )
    })
}

/// The page of a debate.
pub(super) async fn debate_page(
    state: SiteState,
    id: String,
    until: Option<u64>,
    viewer: Viewer,
) -> Result<Html, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(async move {
        let last_seq = stored.events.last().map_or(0, |recorded| recorded.seq);
        let history = build_history(&stored, until)?;
        let mut live_turns = LiveTurns::default();
        if history.seq() == last_seq {
            live_turns
                .update(history.debate(), &state.app.archive().queries.live_texts(&id).await?);
        }
        let live_text =
            live_turns.snapshot().into_iter().map(|update| (update.turn, update.text)).collect();
        let input = DebatePageInput { last_seq, live_text, viewer, assets: asset_urls() };
        Ok(render_debate_page(&history, &state.feeds.render_context(&id), &input))
    })
    .await
}

/// All fragments of a debate page as of an event, for the replay.
pub(super) async fn debate_fragments(
    state: SiteState,
    id: String,
    until: Option<u64>,
    viewer: Viewer,
) -> Result<PageFragments, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(async move {
        let last_seq = stored.events.last().map_or(0, |recorded| recorded.seq);
        let history = build_history(&stored, until)?;
        let context = state.feeds.render_context(&id);
        Ok(RenderedDebate::new(&history, &context, None).fragments(viewer, last_seq))
    })
    .await
}

/// The timeline of a debate, for the replay.
pub(super) async fn debate_timeline(
    state: SiteState,
    id: String,
) -> Result<Vec<TimelineEntry>, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(async move { Ok(timeline(&build_history(&stored, None)?)) }).await
}

/// A debate as one self-contained HTML file.
pub(super) async fn export_page(state: SiteState, id: String) -> Result<Html, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(async move { Ok(render_export(&build_history(&stored, None)?, STYLE)) }).await
}

/// A source file at the debate's pinned commit. Viewers that may only read get only files that the
/// debate cites.
pub(super) async fn source_page(
    state: SiteState,
    id: String,
    path: String,
    line: Option<usize>,
    level: AccessLevel,
) -> Result<Html, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(async move {
        let history = build_history(&stored, None)?;
        if level != AccessLevel::Act && !has_valid_citation(history.debate(), &path) {
            return Err(HttpError::new(
                StatusCode::NOT_FOUND,
                "This debate does not cite this file.",
                "The page of the debate links the files that it cites.",
            ));
        }
        let (text, pin) = state.app.read_pinned_file(&stored, &state.workspace, &path)?;
        let base = format!("/debates/{id}");
        let file = SourceFile { debate_url: &base, path: &path, pin: &pin, text: &text, line };
        Ok(render_source_page(&file, asset_urls()))
    })
    .await
}

/// The archive page, with search and filters.
pub(super) async fn archive_page(
    state: SiteState,
    page_query: ArchivePageQuery,
) -> Result<Html, HttpError> {
    run_blocking(async move {
        let mut query = page_query.to_archive_query();
        let visible = state.list_visible(MAX_LISTED).await?;
        if let SiteScope::Format(format) = &state.scope {
            query.format = Some(format.clone());
            query.root = None;
        }
        let mut hits = vec![];
        let list_query = DebateQuery { limit: Some(MAX_LISTED), ..query.clone() };
        let mut cards = state.app.archive().queries.list(&list_query).await?;
        if page_query.has_search() {
            query.limit = Some(MAX_HITS);
            let words: String = page_query.q.chars().take(MAX_SEARCH_CHARS).collect();
            hits = without_sealed_hits(
                &state,
                &cards,
                state.app.archive().queries.search(&words, &query).await?,
            )
            .await;
            let found_ids: BTreeSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
            cards.retain(|card| found_ids.contains(card.id.as_str()));
        }
        cards.retain(|card| page_query.matches(card));
        if page_query.contested_only() {
            cards.truncate(MAX_CONTESTED_CHECKS);
            let mut contested = vec![];
            for card in cards {
                if is_contested(&state, &card).await {
                    contested.push(card);
                }
            }
            cards = contested;
        }
        let cards = running_first(cards);
        let page: Vec<DebateCard> = cards
            .iter()
            .skip(page_query.page_index() * PAGE_SIZE)
            .take(PAGE_SIZE)
            .cloned()
            .collect();
        let distinct_values = |value_of: &dyn Fn(&DebateCard) -> Option<String>| -> Vec<String> {
            let distinct_values: BTreeSet<String> = visible.iter().filter_map(value_of).collect();
            distinct_values.into_iter().collect()
        };
        let roots = match state.scope {
            SiteScope::All => distinct_values(&|card| Some(card.root.clone())),
            SiteScope::Format(_) => vec![],
        };
        let listing = ArchiveListing {
            query: &page_query,
            cards: &page,
            hits: &hits,
            total: cards.len(),
            formats: distinct_values(&|card| Some(card.format.clone())),
            winners: distinct_values(&|card| card.winner.clone().filter(|_| card.status.is_over())),
            roots,
            waiting_rooms: state
                .arena
                .as_ref()
                .map(ArenaService::waiting_rooms)
                .unwrap_or_default(),
        };
        Ok(render_archive_page(&listing, asset_urls()))
    })
    .await
}

/// Removes hits in sealed turns. The search index contains them, but they must not be revealed yet.
async fn without_sealed_hits(
    state: &SiteState,
    cards: &[DebateCard],
    hits: Vec<SearchHit>,
) -> Vec<SearchHit> {
    let finished: BTreeSet<&str> =
        cards.iter().filter(|card| card.status.is_over()).map(|card| card.id.as_str()).collect();
    let is_open_turn = |hit: &SearchHit| hit.turn.is_some() && !finished.contains(hit.id.as_str());
    let mut debates: BTreeMap<String, Option<Debate>> = BTreeMap::new();
    for hit in hits.iter().filter(|hit| is_open_turn(hit)) {
        if !debates.contains_key(&hit.id) {
            let debate = state.app.read(&hit.id).await.ok().map(|(_, debate, _)| debate);
            debates.insert(hit.id.clone(), debate);
        }
    }
    let is_visible = |hit: &SearchHit| {
        let Some(turn) = hit.turn.as_deref().filter(|_| is_open_turn(hit)) else { return true };
        let debate = debates.get(&hit.id).and_then(Option::as_ref);
        let cue: Option<Cue> = turn.parse().ok();
        let debate_and_cue = debate.zip(cue).filter(|(debate, cue)| debate.has_cue(*cue));
        debate_and_cue.is_some_and(|(debate, cue)| !debate.is_sealed(cue))
    };
    hits.into_iter().filter(is_visible).collect()
}

async fn is_contested(state: &SiteState, card: &DebateCard) -> bool {
    let result = state.app.read(&card.id).await;
    result.is_ok_and(|(_, debate, _)| judgment(&debate).is_some_and(|it| it.is_contested()))
}

/// Whether a cached leaderboard of this age is still shown.
fn is_leaderboard_fresh(age: Duration) -> bool {
    age < LEADERBOARD_TTL
}

/// The leaderboard page, from a cache.
pub(super) async fn leaderboard_page(state: SiteState) -> Result<Html, HttpError> {
    run_blocking(async move {
        let mut cache = state.leaderboard_cache.lock().await;
        if let Some((_, page)) =
            cache.as_ref().filter(|(built_at, _)| is_leaderboard_fresh(built_at.elapsed()))
        {
            return Ok(page.clone());
        }
        let leaderboard =
            Leaderboard::from_cards(&state.app, state.list_visible(usize::MAX).await?).await?;
        let page = render_leaderboard_page(&leaderboard, asset_urls());
        *cache = Some((Instant::now(), page.clone()));
        Ok(page)
    })
    .await
}

/// The comparison of two debates, or the form to choose them.
pub(super) async fn comparison_page(
    state: SiteState,
    first: Option<String>,
    second: Option<String>,
) -> Result<Html, HttpError> {
    let (Some(first), Some(second)) = (first.clone(), second) else {
        return run_blocking(async move {
            let cards = state.list_visible(MAX_CHOICES).await?;
            Ok(compare::render_choice_page(first.as_deref(), &cards, asset_urls()))
        })
        .await;
    };
    let (first, second) = (state.load_debate(&first).await?, state.load_debate(&second).await?);
    run_blocking(async move {
        Ok(compare::render_comparison_page(
            &build_history(&first, None)?,
            &build_history(&second, None)?,
            asset_urls(),
        ))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaderboard_is_cached_for_10_seconds() {
        assert!(is_leaderboard_fresh(Duration::from_millis(9_999)));
        assert!(!is_leaderboard_fresh(Duration::from_secs(10)));
    }
}
