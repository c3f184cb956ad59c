//! Loads debates from the archive and renders pages. Runs on the blocking thread pool, because
//! database queries must not block the async threads.
use super::assets::{STYLE, asset_urls};
use super::auth::AccessLevel;
use super::http_error::HttpError;
use super::site::{SiteScope, SiteState};
use crate::arena::ArenaService;
use crate::debate::verdict::judgment;
use crate::debate::{Cue, Debate};
use crate::engine::pinned_file::has_valid_citation;
use crate::engine::{DebateCard, DebateQuery, SearchHit, StoredDebate};
use crate::page::archive::{ArchiveListing, render_archive_page, running_first};
use crate::page::compare;
use crate::page::debate::{DebatePageInput, render_debate_page};
use crate::page::export::render_export;
use crate::page::history::DebateHistory;
use crate::page::html::Html;
use crate::page::leaderboard::render_leaderboard_page;
use crate::page::live::LiveTurns;
use crate::page::query::{ArchivePageQuery, PAGE_SIZE};
use crate::page::rendered::{PageFragments, RenderedDebate, Viewer};
use crate::page::source::{SourceFile, render_source_page};
use crate::page::timeline::{TimelineEntry, timeline};
use crate::rating::Leaderboard;
use axum::http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Maximum number of debates in an archive query.
const MAX_LISTED: usize = 5_000;
/// Maximum number of debates to load for the contested filter.
const MAX_CONTESTED_CHECKS: usize = 300;
/// Maximum number of search hits.
const MAX_HITS: usize = 500;
/// Time for which the leaderboard is cached.
const LEADERBOARD_TTL: Duration = Duration::from_secs(10);

/// Runs blocking work on the thread pool. A panic becomes an error response.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        Err(HttpError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page could not be made.",
            "Try again; `debate doctor` looks for what is wrong.",
        ))
    })
}

/// Builds the history of a debate, optionally only up to an event.
pub(super) async fn load_history(
    stored: StoredDebate,
    until: Option<u64>,
) -> Result<DebateHistory, HttpError> {
    run_blocking(move || build_history(&stored, until)).await
}

fn build_history(stored: &StoredDebate, until: Option<u64>) -> Result<DebateHistory, HttpError> {
    DebateHistory::from_stored(stored, until).map_err(|unfit| {
        HttpError::new(StatusCode::UNPROCESSABLE_ENTITY, unfit.to_string(), "It cannot be shown.")
    })
}

/// The page of a debate.
pub(super) async fn debate_page(
    state: SiteState,
    id: String,
    at: Option<u64>,
    viewer: Viewer,
) -> Result<Html, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(move || {
        let last = stored.events.last().map_or(0, |recorded| recorded.seq);
        let story = build_history(&stored, at)?;
        let mut voices = LiveTurns::default();
        if story.seq() == last {
            voices.update(story.debate(), &state.app.archive().live_texts(&id)?);
        }
        let live = voices.snapshot().into_iter().map(|words| (words.turn, words.text)).collect();
        let around =
            DebatePageInput { last_seq: last, live_text: live, viewer, assets: asset_urls() };
        Ok(render_debate_page(&story, &state.feeds.render_context(&id), &around))
    })
    .await
}

/// All fragments of a debate page as of an event, for the replay.
pub(super) async fn debate_fragments(
    state: SiteState,
    id: String,
    at: Option<u64>,
    viewer: Viewer,
) -> Result<PageFragments, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(move || {
        let last = stored.events.last().map_or(0, |recorded| recorded.seq);
        let story = build_history(&stored, at)?;
        let setting = state.feeds.render_context(&id);
        Ok(RenderedDebate::new(&story, &setting, None).fragments(viewer, last))
    })
    .await
}

/// The timeline of a debate, for the replay.
pub(super) async fn debate_timeline(
    state: SiteState,
    id: String,
) -> Result<Vec<TimelineEntry>, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(move || Ok(timeline(&build_history(&stored, None)?))).await
}

/// A debate as one self-contained HTML file.
pub(super) async fn export_page(state: SiteState, id: String) -> Result<Html, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(move || Ok(render_export(&build_history(&stored, None)?, STYLE))).await
}

/// A source file at the debate's pinned commit. Viewers that may only read get only files that the
/// debate cites.
pub(super) async fn source_page(
    state: SiteState,
    id: String,
    path: String,
    line: Option<usize>,
    pass: AccessLevel,
) -> Result<Html, HttpError> {
    let stored = state.load_debate(&id).await?;
    run_blocking(move || {
        let story = build_history(&stored, None)?;
        if pass != AccessLevel::Act && !has_valid_citation(story.debate(), &path) {
            return Err(HttpError::new(
                StatusCode::NOT_FOUND,
                "This debate does not cite such a file.",
                "What it cites is linked from its page.",
            ));
        }
        let (text, pin) = state.app.read_pinned_file(&stored, &state.workspace, &path)?;
        let base = format!("/debates/{id}");
        let shown = SourceFile { debate_url: &base, path: &path, pin: &pin, text: &text, line };
        Ok(render_source_page(&shown, asset_urls()))
    })
    .await
}

/// The archive page, with search and filters.
pub(super) async fn archive_page(
    state: SiteState,
    wanted: ArchivePageQuery,
) -> Result<Html, HttpError> {
    run_blocking(move || {
        let mut query = wanted.to_archive_query();
        let everything = state.list_visible(MAX_LISTED)?;
        if let SiteScope::Format(format) = &state.scope {
            query.format = Some(format.clone());
            query.root = None;
        }
        let mut hits = vec![];
        let most = DebateQuery { limit: Some(MAX_LISTED), ..query.clone() };
        let mut cards = state.app.archive().list(&most)?;
        if wanted.has_search() {
            query.limit = Some(MAX_HITS);
            let words: String = wanted.q.chars().take(200).collect();
            hits = without_sealed_hits(&state, &cards, state.app.archive().search(&words, &query)?);
            let found: BTreeSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
            cards.retain(|card| found.contains(card.id.as_str()));
        }
        cards.retain(|card| wanted.matches(card));
        if wanted.contested_only() {
            cards.truncate(MAX_CONTESTED_CHECKS);
            cards.retain(|card| is_contested(&state, card));
        }
        let cards = running_first(cards);
        let page: Vec<DebateCard> =
            cards.iter().skip(wanted.page_index() * PAGE_SIZE).take(PAGE_SIZE).cloned().collect();
        let kinds = |of: &dyn Fn(&DebateCard) -> Option<String>| -> Vec<String> {
            let kinds: BTreeSet<String> = everything.iter().filter_map(of).collect();
            kinds.into_iter().collect()
        };
        let roots = match state.scope {
            SiteScope::All => kinds(&|card| Some(card.root.clone())),
            SiteScope::Format(_) => vec![],
        };
        let listing = ArchiveListing {
            query: &wanted,
            cards: &page,
            hits: &hits,
            total: cards.len(),
            formats: kinds(&|card| Some(card.format.clone())),
            winners: kinds(&|card| card.winner.clone().filter(|_| card.status.is_over())),
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
fn without_sealed_hits(
    state: &SiteState,
    cards: &[DebateCard],
    hits: Vec<SearchHit>,
) -> Vec<SearchHit> {
    let over: BTreeSet<&str> =
        cards.iter().filter(|card| card.status.is_over()).map(|card| card.id.as_str()).collect();
    let mut read: BTreeMap<String, Option<Debate>> = BTreeMap::new();
    let mut fits = |hit: &SearchHit| {
        let Some(turn) = hit.turn.as_deref().filter(|_| !over.contains(hit.id.as_str())) else {
            return true;
        };
        let debate = read
            .entry(hit.id.clone())
            .or_insert_with(|| state.app.read(&hit.id).ok().map(|(_, debate, _)| debate));
        let cue: Option<Cue> = turn.parse().ok();
        let both = debate.as_ref().zip(cue).filter(|(debate, cue)| debate.has_cue(*cue));
        both.is_some_and(|(debate, cue)| !debate.is_sealed(cue))
    };
    hits.into_iter().filter(|hit| fits(hit)).collect()
}

fn is_contested(state: &SiteState, card: &DebateCard) -> bool {
    let read = state.app.read(&card.id);
    read.is_ok_and(|(_, debate, _)| judgment(&debate).is_some_and(|it| it.is_contested()))
}

/// The leaderboard page, from a cache.
pub(super) async fn leaderboard_page(state: SiteState) -> Result<Html, HttpError> {
    run_blocking(move || {
        let mut made = state.leaderboard_cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, page)) = made.as_ref().filter(|(at, _)| at.elapsed() < LEADERBOARD_TTL) {
            return Ok(page.clone());
        }
        let board = Leaderboard::from_cards(&state.app, state.list_visible(usize::MAX)?)?;
        let page = render_leaderboard_page(&board, asset_urls());
        *made = Some((Instant::now(), page.clone()));
        Ok(page)
    })
    .await
}

/// The comparison of two debates, or the form to choose them.
pub(super) async fn comparison_page(
    state: SiteState,
    one: Option<String>,
    other: Option<String>,
) -> Result<Html, HttpError> {
    let (Some(one), Some(other)) = (one.clone(), other) else {
        return run_blocking(move || {
            Ok(compare::render_choice_page(one.as_deref(), &state.list_visible(200)?, asset_urls()))
        })
        .await;
    };
    let (one, other) = (state.load_debate(&one).await?, state.load_debate(&other).await?);
    run_blocking(move || {
        Ok(compare::render_comparison_page(
            &build_history(&one, None)?,
            &build_history(&other, None)?,
            asset_urls(),
        ))
    })
    .await
}
