//! Projections of the event log for queries: the tables `debates`, `agents`, `rounds`, `messages`,
//! `scores`, `petitions` and `votes`. They are updated in the same transaction as the event, and
//! can be rebuilt from the events at any time (see `maintenance`).
use super::schema::sqlite_error;
use crate::debate::body::{Foul, Novelty};
use crate::debate::round_marks;
use crate::debate::verdict::judgment;
use crate::debate::{
    Amendment, Body, Claim, Cue, Debate, Event, Position, ReplyKind, Role, Side, status,
};
use crate::engine::ArchiveError;
use crate::report::iso_timestamp;
use crate::report::participants::main_pair;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Updates the tables for one event. `debate` is the state after the event.
pub(super) fn apply_event(
    transaction: &Connection,
    row: i64,
    debate: &Debate,
    event: &Event,
    at: i64,
) -> Result<(), ArchiveError> {
    match event {
        Event::Spoke { cue, reply } => {
            insert_message(transaction, row, debate, *cue, &reply.body, at)?;
        }
        // Turns that the reopening discards are deleted from the tables.
        Event::Reopened { .. } => {
            let mut statement = transaction
                .prepare_cached("SELECT turn FROM messages WHERE debate_id = ?1")
                .map_err(sqlite_error)?;
            let turns: Vec<String> = statement
                .query_map([row], |row| row.get(0))
                .and_then(Iterator::collect)
                .map_err(sqlite_error)?;
            let remaining: Vec<String> =
                debate.replies_in(..).map(|(cue, _)| cue.to_string()).collect();
            for turn in turns.iter().filter(|turn| !remaining.contains(turn)) {
                delete_turn(transaction, row, debate, turn)?;
            }
            // Of a panel, only some judges' scores may have been discarded, so the mean is
            // recomputed.
            let scores = debate.replies_in(..).filter(|(_, body)| body.kind() == ReplyKind::Score);
            for (cue, _) in scores {
                write_scores(
                    transaction,
                    find_or_insert_round(transaction, row, debate, cue)?,
                    debate,
                    cue.position(),
                )?;
            }
        }
        Event::Amended { change: Amendment::Seat { .. } | Amendment::Plan { .. }, .. } => {
            upsert_agents(transaction, row, debate)?;
        }
        _ => {}
    }
    Ok(())
}

/// Updates the debate's row in `debates`: status, winner, labels and the like.
pub(super) fn update_debate_row(
    transaction: &Connection,
    row: i64,
    debate: &Debate,
    at: i64,
) -> Result<(), ArchiveError> {
    let judgment = judgment(debate);
    let winner = judgment.as_ref().map(|judgment| status::side_name(debate, judgment.winner));
    let [proposer, challenger] = main_pair(debate)
        .map(|seat| seat.map(|seat| debate.seats()[usize::from(seat)].participant_name()));
    transaction
        .prepare_cached(
            "UPDATE debates SET updated_at = ?2, status = ?3, winner = ?4, proposer = ?5,
                 challenger = ?6, labels = ?7, topic = ?8, confidence = ?9, proof = ?10
             WHERE id = ?1",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                row,
                at,
                status::status(debate).as_str(),
                winner,
                proposer,
                challenger,
                status::labels(debate).join(","),
                debate.current_topic(),
                // If the real outcome is known, the confidence stated when it was recorded.
                debate
                    .feedback()
                    .and_then(|feedback| feedback.confidence)
                    .or(judgment.and_then(|judgment| judgment.confidence)),
                debate.feedback().map(|feedback| feedback.proof.as_str()),
            ])
        })
        .map(drop)
        .map_err(sqlite_error)
}

/// Upserts a row in `agents` for each seat.
pub(super) fn upsert_agents(
    transaction: &Connection,
    row: i64,
    debate: &Debate,
) -> Result<(), ArchiveError> {
    let mut statement = transaction
        .prepare_cached(
            "INSERT INTO agents
                 (id, role, model_provider, model_name, stance, debate_id, name, weight)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET model_provider = ?3, model_name = ?4, stance = ?5",
        )
        .map_err(sqlite_error)?;
    for seat in debate.seats() {
        let stance = match seat.role.side() {
            Some(Side::Pro) => Some("pro"),
            Some(Side::Con) => Some("con"),
            // An audience member's stance is its audience kind.
            None if seat.role == Role::Audience && !seat.kind.is_empty() => {
                Some(seat.kind.as_str())
            }
            None => Some(seat.stance.as_str()).filter(|stance| !stance.is_empty()),
        };
        let role = serde_json::to_value(seat.role).unwrap_or_default();
        statement
            .execute(params![
                agent_id(debate, &seat.name),
                role.as_str(),
                seat.voice.tool(),
                seat.voice.model(),
                stance,
                row,
                seat.name,
                seat.weight,
            ])
            .map_err(sqlite_error)?;
    }
    Ok(())
}

fn agent_id(debate: &Debate, seat: &str) -> String {
    format!("{}/{seat}", debate.setup().id)
}

fn insert_message(
    transaction: &Connection,
    row: i64,
    debate: &Debate,
    cue: Cue,
    body: &Body,
    at: i64,
) -> Result<(), ArchiveError> {
    let round = find_or_insert_round(transaction, row, debate, cue)?;
    let speaker = agent_id(debate, &debate.seat(cue).name);
    let kind = serde_json::to_value(body.kind()).unwrap_or_default();
    transaction
        .prepare_cached(
            "INSERT INTO messages
                 (round_id, agent_id, content, created_at, debate_id, turn, kind, claims)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                round,
                speaker,
                body.to_text(),
                iso_timestamp(at),
                row,
                cue.to_string(),
                kind.as_str(),
                claims_text(body)
            ])
        })
        .map_err(sqlite_error)?;
    match body {
        Body::Score { .. } => write_scores(transaction, round, debate, cue.position()),
        Body::Petition { supports, claim, novelty, confidence } => {
            let intent = match supports {
                Some(Side::Pro) => "support_pro",
                Some(Side::Con) => "support_con",
                None => "none",
            };
            let novelty = match novelty {
                Novelty::New => "new",
                Novelty::Reinforcement => "reinforcement",
            };
            let probability = f64::from(*confidence) / 100.0;
            transaction
                .execute(
                    "INSERT OR REPLACE INTO petitions
                         (round_id, agent_id, intent, claim, novelty, confidence)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![round, speaker, intent, claim, novelty, probability],
                )
                .map(drop)
                .map_err(sqlite_error)
        }
        Body::Ruling { admits: Some(name), .. } => transaction
            .execute(
                "UPDATE petitions SET admitted = 1 WHERE round_id = ?1 AND agent_id = ?2",
                params![round, agent_id(debate, name)],
            )
            .map(drop)
            .map_err(sqlite_error),
        Body::Vote { side, confidence, because } => transaction
            .execute(
                "INSERT INTO votes (audience_id, debate_id, vote, weight, confidence, reason)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    speaker,
                    row,
                    if *side == Side::Pro { "pro" } else { "con" },
                    debate.seat(cue).weight,
                    f64::from(*confidence) / 100.0,
                    because
                ],
            )
            .map(drop)
            .map_err(sqlite_error),
        _ => Ok(()),
    }
}

/// Text of claims and evidence, for full-text search.
fn claims_text(body: &Body) -> String {
    let format_claim =
        |claim: &Claim| format!("{}: {} {}", claim.id, claim.text, claim.evidence.join(" "));
    body.claims().iter().map(format_claim).collect::<Vec<_>>().join("\n")
}

/// One judge's scores for a round.
struct ScoreSheet<'a> {
    pro: &'a BTreeMap<String, u8>,
    con: &'a BTreeMap<String, u8>,
    fouls: &'a [Foul],
}

/// Writes the scores of a round: the mean over its judges.
fn write_scores(
    transaction: &Connection,
    round: i64,
    debate: &Debate,
    position: Position,
) -> Result<(), ArchiveError> {
    let sheets: Vec<ScoreSheet<'_>> = debate
        .replies_in(..)
        .filter(|(cue, _)| cue.position() == position)
        .filter_map(|(_, body)| match body {
            Body::Score { pro, con, fouls, .. } => Some(ScoreSheet { pro, con, fouls }),
            _ => None,
        })
        .collect();
    let totals =
        round_marks::round_marks(debate).into_iter().find(|marks| marks.round == position.round);
    for side in [Side::Pro, Side::Con] {
        let Some(seat) = debate.find_seat(side.role()) else { continue };
        let mean = |name: &str| {
            let side_marks =
                sheets.iter().map(|it| if side == Side::Pro { it.pro } else { it.con });
            let values: Vec<f64> = side_marks
                .filter_map(|marks| marks.get(name))
                .map(|it| f64::from(*it) / 10.0)
                .collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let fouls: usize =
            sheets.iter().map(|it| it.fouls.iter().filter(|foul| foul.side == side).count()).sum();
        let reliance = totals.map_or(0, |marks| marks.for_side(side).reliance);
        transaction
            .execute(
                "INSERT OR REPLACE INTO scores
                     (round_id, agent_id, logic, rebuttal, clarity, evidence, fouls, reliance)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    round,
                    agent_id(debate, &seat.name),
                    mean("logic"),
                    mean("rebuttal"),
                    mean("clarity"),
                    mean("evidence"),
                    i64::try_from(fouls).unwrap_or(i64::MAX),
                    f64::from(reliance) / 100.0
                ],
            )
            .map_err(sqlite_error)?;
    }
    Ok(())
}

/// The row id of a round, which is inserted with its first turn.
fn find_or_insert_round(
    transaction: &Connection,
    row: i64,
    debate: &Debate,
    cue: Cue,
) -> Result<i64, ArchiveError> {
    let existing = transaction
        .prepare_cached("SELECT id FROM rounds WHERE debate_id = ?1 AND act = ?2 AND round = ?3")
        .and_then(|mut statement| {
            statement.query_row(params![row, cue.act, cue.round], |row| row.get(0)).optional()
        })
        .map_err(sqlite_error)?;
    if let Some(id) = existing {
        return Ok(id);
    }
    transaction
        .execute(
            "INSERT INTO rounds (debate_id, round_type, sequence, act, round)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                row,
                debate.setup().act(cue).name,
                round_sequence(debate, cue),
                cue.act,
                cue.round
            ],
        )
        .map_err(sqlite_error)?;
    Ok(transaction.last_insert_rowid())
}

/// Position of a round among all rounds of the format, from 1, independent of the order played.
fn round_sequence(debate: &Debate, cue: Cue) -> u32 {
    let ranges: Vec<_> = debate.setup().format.round_ranges(debate.rounds()).collect();
    let before =
        ranges.iter().take(cue.act.into()).map(|range| range.clone().count() as u32).sum::<u32>();
    let first = ranges.get(usize::from(cue.act)).map_or(0, |range| *range.start());
    before + u32::from(cue.round.saturating_sub(first)) + 1
}

/// Deletes one turn from the tables.
fn delete_turn(
    transaction: &Connection,
    row: i64,
    debate: &Debate,
    turn: &str,
) -> Result<(), ArchiveError> {
    let seat = turn.parse::<Cue>().ok().map(|cue| debate.seat(cue).name.clone());
    let speaker = agent_id(debate, &seat.unwrap_or_default());
    transaction
        .execute(
            "DELETE FROM votes WHERE debate_id = ?1 AND audience_id = ?2",
            params![row, speaker],
        )
        .and_then(|_| {
            transaction.execute(
                "DELETE FROM scores WHERE round_id IN (SELECT round_id FROM messages
                     WHERE debate_id = ?1 AND turn = ?2 AND kind = 'score')",
                params![row, turn],
            )
        })
        .and_then(|_| {
            transaction.execute(
                "DELETE FROM petitions WHERE agent_id = ?3 AND round_id IN
                     (SELECT round_id FROM messages
                      WHERE debate_id = ?1 AND turn = ?2 AND kind = 'petition')",
                params![row, turn, speaker],
            )
        })
        .and_then(|_| {
            transaction.execute(
                "UPDATE petitions SET admitted = 0 WHERE round_id IN
                     (SELECT round_id FROM messages
                      WHERE debate_id = ?1 AND turn = ?2 AND kind = 'ruling')",
                params![row, turn],
            )
        })
        .and_then(|_| {
            transaction.execute(
                "DELETE FROM messages WHERE debate_id = ?1 AND turn = ?2",
                params![row, turn],
            )
        })
        .map(drop)
        .map_err(sqlite_error)
}

/// Deletes all projection rows of a debate except its row in `debates`.
pub(super) fn delete_debate_rows(transaction: &Connection, row: i64) -> Result<(), ArchiveError> {
    for statement in [
        "DELETE FROM votes WHERE debate_id = ?1",
        "DELETE FROM scores WHERE round_id IN (SELECT id FROM rounds WHERE debate_id = ?1)",
        "DELETE FROM petitions WHERE round_id IN (SELECT id FROM rounds WHERE debate_id = ?1)",
        "DELETE FROM messages WHERE debate_id = ?1",
        "DELETE FROM rounds WHERE debate_id = ?1",
        "DELETE FROM agents WHERE debate_id = ?1",
    ] {
        transaction.execute(statement, [row]).map_err(sqlite_error)?;
    }
    Ok(())
}
