//! The tables people query: debates, agents, rounds, messages, scores, votes. Written in the same
//! transaction as the event they come from, and rebuilt from the events at any time.
use super::schema::broken;
use crate::debate::verdict::judgment;
use crate::debate::{Body, Change, Claim, Cue, Debate, Event, Side, standing};
use crate::engine::ArchiveError;
use crate::report::iso;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Writes what an event adds. `debate` is as it is after the event.
pub(super) fn project(
    change: &Connection,
    row: i64,
    debate: &Debate,
    event: &Event,
    at: i64,
) -> Result<(), ArchiveError> {
    match event {
        Event::Spoke { cue, reply } => {
            message(change, row, debate, *cue, &reply.body, at)?;
        }
        // What is forgotten leaves the tables, too.
        Event::Reopened { .. } => {
            let mut statement = change
                .prepare_cached("SELECT turn FROM messages WHERE debate_id = ?1")
                .map_err(broken)?;
            let turns: Vec<String> = statement
                .query_map([row], |row| row.get(0))
                .and_then(Iterator::collect)
                .map_err(broken)?;
            let kept: Vec<String> = debate.spoken(..).map(|(cue, _)| cue.to_string()).collect();
            for turn in turns.iter().filter(|turn| !kept.contains(turn)) {
                forget(change, row, debate, turn)?;
            }
        }
        Event::Amended { change: Change::Seat { .. } | Change::Plan { .. }, .. } => {
            agents(change, row, debate)?;
        }
        _ => {}
    }
    Ok(())
}

/// The debate's own row.
pub(super) fn card(
    change: &Connection,
    row: i64,
    debate: &Debate,
    at: i64,
) -> Result<(), ArchiveError> {
    let winner = judgment(debate).map(|judgment| standing::name_of(debate, judgment.winner));
    let voice = |side: Side| debate.seated(side.role()).map(|seat| seat.voice.to_string());
    change
        .prepare_cached(
            "UPDATE debates SET updated_at = ?2, status = ?3, winner = ?4, proposer = ?5,
                 challenger = ?6, labels = ?7, topic = ?8 WHERE id = ?1",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                row,
                at,
                standing::status(debate).word(),
                winner,
                voice(Side::Pro),
                voice(Side::Con),
                standing::labels(debate).join(","),
                debate.question(),
            ])
        })
        .map(drop)
        .map_err(broken)
}

/// Everyone who is seated.
pub(super) fn agents(change: &Connection, row: i64, debate: &Debate) -> Result<(), ArchiveError> {
    let mut statement = change
        .prepare_cached(
            "INSERT INTO agents
                 (id, role, model_provider, model_name, stance, debate_id, name, weight)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET model_provider = ?3, model_name = ?4, stance = ?5",
        )
        .map_err(broken)?;
    for seat in debate.seats() {
        let stance = match seat.role.side() {
            Some(Side::Pro) => Some("pro"),
            Some(Side::Con) => Some("con"),
            None => Some(seat.stance.as_str()).filter(|stance| !stance.is_empty()),
        };
        let role = serde_json::to_value(seat.role).unwrap_or_default();
        statement
            .execute(params![
                agent(debate, &seat.name),
                role.as_str(),
                seat.voice.tool(),
                seat.voice.model(),
                stance,
                row,
                seat.name,
                seat.weight,
            ])
            .map_err(broken)?;
    }
    Ok(())
}

fn agent(debate: &Debate, seat: &str) -> String {
    format!("{}/{seat}", debate.setup().id)
}

fn message(
    change: &Connection,
    row: i64,
    debate: &Debate,
    cue: Cue,
    body: &Body,
    at: i64,
) -> Result<(), ArchiveError> {
    let round = round(change, row, debate, cue)?;
    let speaker = agent(debate, &debate.seat(cue).name);
    let kind = serde_json::to_value(body.kind()).unwrap_or_default();
    change
        .prepare_cached(
            "INSERT INTO messages
                 (round_id, agent_id, content, created_at, debate_id, turn, kind, claims)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                round,
                speaker,
                body.text(),
                iso(at),
                row,
                cue.to_string(),
                kind.as_str(),
                claims(body)
            ])
        })
        .map_err(broken)?;
    match body {
        Body::Score { pro, con, .. } => {
            for (side, marks) in [(Side::Pro, pro), (Side::Con, con)] {
                if let Some(seat) = debate.seated(side.role()) {
                    score(change, round, &agent(debate, &seat.name), marks)?;
                }
            }
            Ok(())
        }
        Body::Vote { side, confidence, because } => change
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
            .map_err(broken),
        _ => Ok(()),
    }
}

/// What is asserted and offered for it, to be found by.
fn claims(body: &Body) -> String {
    let line = |claim: &Claim| format!("{}: {} {}", claim.id, claim.text, claim.evidence.join(" "));
    body.claims().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn score(
    change: &Connection,
    round: i64,
    agent: &str,
    marks: &BTreeMap<String, u8>,
) -> Result<(), ArchiveError> {
    let mark = |name: &str| marks.get(name).map(|tenths| f64::from(*tenths) / 10.0);
    change
        .execute(
            "INSERT OR REPLACE INTO scores (round_id, agent_id, logic, rebuttal, clarity, evidence)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                round,
                agent,
                mark("logic"),
                mark("rebuttal"),
                mark("clarity"),
                mark("evidence")
            ],
        )
        .map(drop)
        .map_err(broken)
}

/// The row of a round, made when its first turn is taken.
fn round(change: &Connection, row: i64, debate: &Debate, cue: Cue) -> Result<i64, ArchiveError> {
    let known = change
        .prepare_cached("SELECT id FROM rounds WHERE debate_id = ?1 AND act = ?2 AND round = ?3")
        .and_then(|mut statement| {
            statement.query_row(params![row, cue.act, cue.round], |row| row.get(0)).optional()
        })
        .map_err(broken)?;
    if let Some(id) = known {
        return Ok(id);
    }
    change
        .execute(
            "INSERT INTO rounds (debate_id, round_type, sequence, act, round)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![row, debate.setup().act(cue).name, sequence(debate, cue), cue.act, cue.round],
        )
        .map_err(broken)?;
    Ok(change.last_insert_rowid())
}

/// Which of all the rounds of the plan it is, counted from 1, whenever it was first played.
fn sequence(debate: &Debate, cue: Cue) -> u32 {
    let spans: Vec<_> = debate.setup().format.spans(debate.rounds()).collect();
    let before =
        spans.iter().take(cue.act.into()).map(|span| span.clone().count() as u32).sum::<u32>();
    let first = spans.get(usize::from(cue.act)).map_or(0, |span| *span.start());
    before + u32::from(cue.round.saturating_sub(first)) + 1
}

/// Takes one turn out of the tables.
fn forget(change: &Connection, row: i64, debate: &Debate, turn: &str) -> Result<(), ArchiveError> {
    let seat = turn.parse::<Cue>().ok().map(|cue| debate.seat(cue).name.clone());
    let speaker = agent(debate, &seat.unwrap_or_default());
    change
        .execute(
            "DELETE FROM votes WHERE debate_id = ?1 AND audience_id = ?2",
            params![row, speaker],
        )
        .and_then(|_| {
            change.execute(
                "DELETE FROM scores WHERE round_id IN (SELECT round_id FROM messages
                     WHERE debate_id = ?1 AND turn = ?2 AND kind = 'score')",
                params![row, turn],
            )
        })
        .and_then(|_| {
            change.execute(
                "DELETE FROM messages WHERE debate_id = ?1 AND turn = ?2",
                params![row, turn],
            )
        })
        .map(drop)
        .map_err(broken)
}

/// Takes a debate out of the tables, so that it can be written there again.
pub(super) fn clear(change: &Connection, row: i64) -> Result<(), ArchiveError> {
    for statement in [
        "DELETE FROM votes WHERE debate_id = ?1",
        "DELETE FROM scores WHERE round_id IN (SELECT id FROM rounds WHERE debate_id = ?1)",
        "DELETE FROM messages WHERE debate_id = ?1",
        "DELETE FROM rounds WHERE debate_id = ?1",
        "DELETE FROM agents WHERE debate_id = ?1",
    ] {
        change.execute(statement, [row]).map_err(broken)?;
    }
    Ok(())
}
