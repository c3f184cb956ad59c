//! Queries of the archive: id lookup, lists, duplicate check and full-text search. Entry points:
//! `resolve_id`, `list`, `search` and `find_duplicates`. `SqliteArchive` calls them, the last one
//! in the transaction that creates a debate.
use super::debate_rows::parse_status;
use super::schema::sqlite_error;
use crate::debate::{Cue, Setup};
use crate::engine::{ArchiveError, DebateCard, DebateQuery, SearchHit};
use rusqlite::{Connection, Row, ToSql};
use std::path::Path;

/// Shortest word the trigram index can find, in characters.
const MIN_INDEXED_CHARS: usize = 3;
/// Characters of an excerpt before the match. After its start there are twice as many.
const CONTEXT_CHARS: usize = 60;

/// Resolves an abbreviated id: a unique prefix or suffix.
pub(super) fn resolve_id(
    connection: &Connection,
    abbreviation: &str,
) -> Result<String, ArchiveError> {
    let is_id_char = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    if abbreviation.is_empty() || !abbreviation.chars().all(is_id_char) {
        return Err(ArchiveError::UnknownDebate(abbreviation.into()));
    }
    let mut statement = connection
        .prepare_cached(
            "SELECT public_id FROM debates WHERE public_id = ?1
                 OR substr(public_id, 1, length(?1)) = ?1
                 OR substr(public_id, -length(?1)) = ?1",
        )
        .map_err(sqlite_error)?;
    let found = statement.query_map([abbreviation], |row| row.get(0)).map_err(sqlite_error)?;
    let found: Vec<String> = found.collect::<Result<_, _>>().map_err(sqlite_error)?;
    match found.as_slice() {
        [] => Err(ArchiveError::UnknownDebate(abbreviation.into())),
        [unique] => Ok(unique.clone()),
        many if many.iter().any(|id| id == abbreviation) => Ok(abbreviation.into()),
        many => Err(ArchiveError::AmbiguousId(abbreviation.into(), many.len())),
    }
}

/// Builds the SQL condition and parameters that lists and searches share.
fn build_conditions(query: &DebateQuery) -> (String, Vec<Box<dyn ToSql>>) {
    let (mut sql, mut values): (String, Vec<Box<dyn ToSql>>) = ("1".into(), vec![]);
    if let Some(root) = &query.root {
        sql.push_str(" AND debates.root = ?");
        values.push(Box::new(root.display().to_string()));
    }
    if let Some(status) = query.status {
        sql.push_str(" AND debates.status = ?");
        values.push(Box::new(status.as_str()));
    }
    if let Some(format) = &query.format {
        sql.push_str(" AND debates.format = ?");
        values.push(Box::new(format.clone()));
    }
    if let Some(key) = &query.review_key {
        sql.push_str(" AND json_extract(debates.setup, '$.proposed.key') = ?");
        values.push(Box::new(key.clone()));
    }
    if let Some(subject) = &query.review_subject {
        sql.push_str(" AND json_extract(debates.setup, '$.proposed.subject') = ?");
        values.push(Box::new(subject.clone()));
    }
    if let Some(name) = &query.tournament {
        sql.push_str(" AND json_extract(debates.setup, '$.terms.tournament') = ?");
        values.push(Box::new(name.clone()));
    }
    if let Some(key) = &query.game_key {
        sql.push_str(" AND json_extract(debates.setup, '$.terms.game') = ?");
        values.push(Box::new(key.clone()));
    }
    if query.unfinished {
        sql.push_str(" AND debates.status IN ('in-progress', 'paused')");
    }
    (sql, values)
}

fn sql_limit(query: &DebateQuery) -> i64 {
    query.limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1)
}

/// Lists the debates that match a query, last updated first.
pub(super) fn list(
    connection: &Connection,
    query: &DebateQuery,
) -> Result<Vec<DebateCard>, ArchiveError> {
    let (conditions, mut values) = build_conditions(query);
    values.push(Box::new(sql_limit(query)));
    let sql = format!(
        "SELECT public_id, topic, format, status, created_at, updated_at, root, proposer,
             challenger, winner, labels, confidence, proof
         FROM debates WHERE {conditions} ORDER BY updated_at DESC, id DESC LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(sqlite_error)?;
    let rows = statement.query_map(&*to_params(&values), card_from_row).map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}

fn card_from_row(row: &Row<'_>) -> rusqlite::Result<DebateCard> {
    let created: String = row.get(4)?;
    let labels: String = row.get(10)?;
    Ok(DebateCard {
        id: row.get(0)?,
        topic: row.get(1)?,
        format: row.get(2)?,
        status: parse_status(&row.get::<_, String>(3)?),
        created_at: created.parse().map_or(0, |time: jiff::Timestamp| time.as_millisecond()),
        updated_at: row.get(5)?,
        root: row.get(6)?,
        proposer: row.get(7)?,
        challenger: row.get(8)?,
        winner: row.get(9)?,
        labels: labels.split(',').filter(|label| !label.is_empty()).map(Into::into).collect(),
        confidence: row.get(11)?,
        proof: row.get(12)?,
    })
}

fn to_params(values: &[Box<dyn ToSql>]) -> Vec<&dyn ToSql> {
    values.iter().map(AsRef::as_ref).collect()
}

/// Finds id and row of every debate in the repository with the same review key or game key as this
/// setup. Empty if it has no key, or if a fresh review was requested. Queried in the transaction
/// that creates a debate.
pub(super) fn find_duplicates(
    connection: &Connection,
    setup: &Setup,
    root: &Path,
) -> Result<Vec<(String, i64)>, ArchiveError> {
    let proposed = setup.proposed.as_ref().filter(|it| !it.fresh && !it.key.is_empty());
    let review_key = proposed.map(|it| it.key.clone());
    let term = |name: &str| setup.terms.get(name).cloned();
    let (tournament, game_key) = (term("tournament"), term("game"));
    if review_key.is_none() && (tournament.is_none() || game_key.is_none()) {
        return Ok(vec![]);
    }
    let root = Some(root.to_owned());
    let query = DebateQuery { root, review_key, tournament, game_key, ..DebateQuery::default() };
    let (conditions, values) = build_conditions(&query);
    let sql = format!("SELECT public_id, id FROM debates WHERE {conditions}");
    let mut statement = connection.prepare_cached(&sql).map_err(sqlite_error)?;
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let rows = statement.query_map(&*to_params(&values), row).map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}

/// Finds topics and turns that contain all these words, newest first.
pub(super) fn search(
    connection: &Connection,
    words: &str,
    query: &DebateQuery,
) -> Result<Vec<SearchHit>, ArchiveError> {
    let words: Vec<&str> = words.split_whitespace().collect();
    if words.is_empty() {
        return Ok(vec![]);
    }
    let mut hits = search_topics(connection, &words, query)?;
    hits.extend(search_turns(connection, &words, query)?);
    hits.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(hits)
}

/// Builds a `LIKE` pattern that matches the word literally anywhere.
fn like_pattern(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

fn search_topics(
    connection: &Connection,
    words: &[&str],
    query: &DebateQuery,
) -> Result<Vec<SearchHit>, ArchiveError> {
    let (mut sql, mut values) = build_conditions(query);
    for word in words {
        sql.push_str(" AND debates.topic LIKE ? ESCAPE '\\'");
        values.push(Box::new(like_pattern(word)));
    }
    values.push(Box::new(sql_limit(query)));
    let sql = format!(
        "SELECT public_id, topic FROM debates WHERE {sql} ORDER BY updated_at DESC LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(sqlite_error)?;
    let rows = statement
        .query_map(&*to_params(&values), |row| {
            let topic: String = row.get(1)?;
            let excerpt = excerpt(&topic, words);
            Ok(SearchHit { id: row.get(0)?, topic, turn: None, round: None, seat: None, excerpt })
        })
        .map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}

fn search_turns(
    connection: &Connection,
    words: &[&str],
    query: &DebateQuery,
) -> Result<Vec<SearchHit>, ArchiveError> {
    let (mut sql, mut values) = build_conditions(query);
    for word in words {
        // The trigram index finds neither shorter words nor wildcards. For these the message text
        // itself is searched.
        let indexed = word.chars().count() >= MIN_INDEXED_CHARS && !word.contains(['%', '_', '\\']);
        sql.push_str(if indexed {
            " AND messages.id IN (SELECT rowid FROM messages_fts WHERE content LIKE ?
                 UNION SELECT rowid FROM messages_fts WHERE claims LIKE ?)"
        } else {
            " AND (messages.content LIKE ? ESCAPE '\\' OR messages.claims LIKE ? ESCAPE '\\')"
        });
        values.push(Box::new(like_pattern(word)));
        values.push(Box::new(like_pattern(word)));
    }
    values.push(Box::new(sql_limit(query)));
    let sql = format!(
        "SELECT debates.public_id, debates.topic, messages.turn, agents.name,
             messages.content || char(10) || messages.claims
         FROM messages JOIN debates ON debates.id = messages.debate_id
             JOIN agents ON agents.id = messages.agent_id
         WHERE {sql} ORDER BY messages.id DESC LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(sqlite_error)?;
    let rows = statement
        .query_map(&*to_params(&values), |row| {
            let turn: String = row.get(2)?;
            let content: String = row.get(4)?;
            Ok(SearchHit {
                id: row.get(0)?,
                topic: row.get(1)?,
                round: turn.parse().ok().map(|cue: Cue| cue.round),
                turn: Some(turn),
                seat: row.get(3)?,
                excerpt: excerpt(&content, words),
            })
        })
        .map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}

/// Excerpt of the text around the first match, on one line.
fn excerpt(text: &str, words: &[&str]) -> String {
    let chars: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let lowercase = |c: &char| c.to_lowercase().next().unwrap_or(*c);
    let lowered: Vec<char> = chars.iter().map(lowercase).collect();
    let match_start = words.iter().find_map(|word| {
        let word: Vec<char> = word.chars().map(|c| lowercase(&c)).collect();
        lowered.windows(word.len().max(1)).position(|window| window == word)
    });
    let match_start = match_start.unwrap_or(0);
    let (from, to) = (
        match_start.saturating_sub(CONTEXT_CHARS),
        (match_start + 2 * CONTEXT_CHARS).min(chars.len()),
    );
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    let middle: String = chars[from..to].iter().collect();
    format!("{}{}{}", ellipsis(from > 0), middle.trim(), ellipsis(to < chars.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_has_60_characters_before_and_120_from_the_match_on() {
        assert_eq!(CONTEXT_CHARS, 60);
        let text = |before: usize, after: usize| {
            format!("{}match{}", "é".repeat(before), "ü".repeat(after))
        };
        let (before, after) = (CONTEXT_CHARS, 2 * CONTEXT_CHARS - "match".len());
        let whole = text(before, after);
        assert_eq!(excerpt(&whole, &["match"]), whole);
        assert_eq!(excerpt(&text(before + 1, after + 1), &["match"]), format!("…{whole}…"));
    }
}
