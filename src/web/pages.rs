//! Loads debates from the archive and renders pages. Runs on the blocking thread pool, because
//! database queries must not block the async threads.
use super::assets::{STYLE, assets};
use super::entry::Pass;
use super::site::{Scope, State};
use super::sorry::Sorry;
use crate::arena::Hall;
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
use crate::rating::Board;
use axum::http::StatusCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Maximum number of debates in an archive query.
const LOOKED_THROUGH: usize = 5_000;
/// Maximum number of debates to load for the contested filter.
const READ: usize = 300;
/// Maximum number of search hits.
const HITS: usize = 500;
/// Time for which the leaderboard is cached.
const FRESH: Duration = Duration::from_secs(10);

/// Runs blocking work on the thread pool. A panic becomes an error response.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Sorry> + Send + 'static,
) -> Result<T, Sorry> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        Err(Sorry::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page could not be made.",
            "Try again; `debate doctor` looks for what is wrong.",
        ))
    })
}

/// Builds the history of a debate, optionally only up to an event.
pub(super) async fn story(
    stored: StoredDebate,
    until: Option<u64>,
) -> Result<DebateHistory, Sorry> {
    apart(move || told(&stored, until)).await
}

fn told(stored: &StoredDebate, until: Option<u64>) -> Result<DebateHistory, Sorry> {
    DebateHistory::from_stored(stored, until).map_err(|unfit| {
        Sorry::new(StatusCode::UNPROCESSABLE_ENTITY, unfit.to_string(), "It cannot be shown.")
    })
}

/// The page of a debate.
pub(super) async fn of_debate(
    state: State,
    id: String,
    at: Option<u64>,
    viewer: Viewer,
) -> Result<Html, Sorry> {
    let stored = state.stored(&id).await?;
    apart(move || {
        let last = stored.events.last().map_or(0, |recorded| recorded.seq);
        let story = told(&stored, at)?;
        let mut voices = LiveTurns::default();
        if story.seq() == last {
            voices.update(story.debate(), &state.desk.archive().live_texts(&id)?);
        }
        let live = voices.snapshot().into_iter().map(|words| (words.turn, words.text)).collect();
        let around = DebatePageInput { last_seq: last, live_text: live, viewer, assets: assets() };
        Ok(render_debate_page(&story, &state.watchers.setting(&id), &around))
    })
    .await
}

/// All fragments of a debate page as of an event, for the replay.
pub(super) async fn fragments(
    state: State,
    id: String,
    at: Option<u64>,
    viewer: Viewer,
) -> Result<PageFragments, Sorry> {
    let stored = state.stored(&id).await?;
    apart(move || {
        let last = stored.events.last().map_or(0, |recorded| recorded.seq);
        let story = told(&stored, at)?;
        let setting = state.watchers.setting(&id);
        Ok(RenderedDebate::new(&story, &setting, None).fragments(viewer, last))
    })
    .await
}

/// The timeline of a debate, for the replay.
pub(super) async fn moments(state: State, id: String) -> Result<Vec<TimelineEntry>, Sorry> {
    let stored = state.stored(&id).await?;
    apart(move || Ok(timeline(&told(&stored, None)?))).await
}

/// A debate as one self-contained HTML file.
pub(super) async fn exported(state: State, id: String) -> Result<Html, Sorry> {
    let stored = state.stored(&id).await?;
    apart(move || Ok(render_export(&told(&stored, None)?, STYLE))).await
}

/// A source file at the debate's pinned commit. Viewers that may only read get only files that the
/// debate cites.
pub(super) async fn of_source(
    state: State,
    id: String,
    path: String,
    line: Option<usize>,
    pass: Pass,
) -> Result<Html, Sorry> {
    let stored = state.stored(&id).await?;
    apart(move || {
        let story = told(&stored, None)?;
        if pass != Pass::Act && !has_valid_citation(story.debate(), &path) {
            return Err(Sorry::new(
                StatusCode::NOT_FOUND,
                "This debate does not cite such a file.",
                "What it cites is linked from its page.",
            ));
        }
        let (text, pin) = state.desk.read_pinned_file(&stored, &state.place, &path)?;
        let base = format!("/debates/{id}");
        let shown = SourceFile { debate_url: &base, path: &path, pin: &pin, text: &text, line };
        Ok(render_source_page(&shown, assets()))
    })
    .await
}

/// The archive page, with search and filters.
pub(super) async fn of_archive(state: State, wanted: ArchivePageQuery) -> Result<Html, Sorry> {
    apart(move || {
        let mut query = wanted.to_archive_query();
        let everything = state.visible(LOOKED_THROUGH)?;
        if let Scope::Format(format) = &state.scope {
            query.format = Some(format.clone());
            query.root = None;
        }
        let mut hits = vec![];
        let most = DebateQuery { limit: Some(LOOKED_THROUGH), ..query.clone() };
        let mut cards = state.desk.archive().list(&most)?;
        if wanted.has_search() {
            query.limit = Some(HITS);
            let words: String = wanted.q.chars().take(200).collect();
            hits = open(&state, &cards, state.desk.archive().search(&words, &query)?);
            let found: BTreeSet<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
            cards.retain(|card| found.contains(card.id.as_str()));
        }
        cards.retain(|card| wanted.matches(card));
        if wanted.contested_only() {
            cards.truncate(READ);
            cards.retain(|card| contested(&state, card));
        }
        let cards = running_first(cards);
        let page: Vec<DebateCard> =
            cards.iter().skip(wanted.page_index() * PAGE_SIZE).take(PAGE_SIZE).cloned().collect();
        let kinds = |of: &dyn Fn(&DebateCard) -> Option<String>| -> Vec<String> {
            let kinds: BTreeSet<String> = everything.iter().filter_map(of).collect();
            kinds.into_iter().collect()
        };
        let roots = match state.scope {
            Scope::All => kinds(&|card| Some(card.root.clone())),
            Scope::Format(_) => vec![],
        };
        let listing = ArchiveListing {
            query: &wanted,
            cards: &page,
            hits: &hits,
            total: cards.len(),
            formats: kinds(&|card| Some(card.format.clone())),
            winners: kinds(&|card| card.winner.clone().filter(|_| card.status.is_over())),
            roots,
            waiting_rooms: state.hall.as_ref().map(Hall::rooms_waiting).unwrap_or_default(),
        };
        Ok(render_archive_page(&listing, assets()))
    })
    .await
}

/// Removes hits in sealed turns. The search index contains them, but they must not be revealed yet.
fn open(state: &State, cards: &[DebateCard], hits: Vec<SearchHit>) -> Vec<SearchHit> {
    let over: BTreeSet<&str> =
        cards.iter().filter(|card| card.status.is_over()).map(|card| card.id.as_str()).collect();
    let mut read: BTreeMap<String, Option<Debate>> = BTreeMap::new();
    let mut fits = |hit: &SearchHit| {
        let Some(turn) = hit.turn.as_deref().filter(|_| !over.contains(hit.id.as_str())) else {
            return true;
        };
        let debate = read
            .entry(hit.id.clone())
            .or_insert_with(|| state.desk.read(&hit.id).ok().map(|(_, debate, _)| debate));
        let cue: Option<Cue> = turn.parse().ok();
        let both = debate.as_ref().zip(cue).filter(|(debate, cue)| debate.has_cue(*cue));
        both.is_some_and(|(debate, cue)| !debate.is_sealed(cue))
    };
    hits.into_iter().filter(|hit| fits(hit)).collect()
}

fn contested(state: &State, card: &DebateCard) -> bool {
    let read = state.desk.read(&card.id);
    read.is_ok_and(|(_, debate, _)| judgment(&debate).is_some_and(|it| it.is_contested()))
}

/// The leaderboard page, from a cache.
pub(super) async fn of_board(state: State) -> Result<Html, Sorry> {
    apart(move || {
        let mut made = state.board.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, page)) = made.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(page.clone());
        }
        let board = Board::of_cards(&state.desk, state.visible(usize::MAX)?)?;
        let page = render_leaderboard_page(&board, assets());
        *made = Some((Instant::now(), page.clone()));
        Ok(page)
    })
    .await
}

/// The comparison of two debates, or the form to choose them.
pub(super) async fn of_two(
    state: State,
    one: Option<String>,
    other: Option<String>,
) -> Result<Html, Sorry> {
    let (Some(one), Some(other)) = (one.clone(), other) else {
        return apart(move || {
            Ok(compare::render_choice_page(one.as_deref(), &state.visible(200)?, assets()))
        })
        .await;
    };
    let (one, other) = (state.stored(&one).await?, state.stored(&other).await?);
    apart(move || {
        Ok(compare::render_comparison_page(&told(&one, None)?, &told(&other, None)?, assets()))
    })
    .await
}
