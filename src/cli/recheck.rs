//! `debate recheck`: validates the citations of a debate again, against the current files.
use super::args::RecheckArgs;
use super::exit::{CliError, Exit};
use super::output::{RecheckOutput, RecheckedCitation};
use super::screen::{BOLD, DIM, Screen};
use super::workspace;
use crate::config::Config;
use crate::debate::{Debate, RecheckStatus};
use crate::engine::App;
use crate::engine::recheck::CitationRecheck;
use crate::report::sanitize::{one_line, strip_control_chars};
use std::collections::BTreeMap;

/// Handler of `debate recheck`.
pub(super) fn recheck(
    asked: &RecheckArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let id = workspace::resolve_debate_id(asked.id.as_deref(), config, desk, screen)?;
    let (stored, debate, _) = desk.read(&id)?;
    let done = desk.recheck(&stored, &debate, &workspace::current_workspace(config))?;
    let gone = done.citations.iter().any(|again| again.validity == RecheckStatus::Gone);
    let exit = if gone { Exit::Failure } else { Exit::Ok };
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for again in &done.citations {
        *counts.entry(again.validity.as_str()).or_default() += 1;
    }
    if asked.json.json {
        let citations =
            done.citations.iter().map(|again| rechecked_citation(&debate, again)).collect();
        screen.print_json(&RecheckOutput { v: 1, id, against: done.against, counts, citations })?;
        return Ok(exit);
    }
    for again in &done.citations {
        screen.print(&render_recheck(again))?;
    }
    let counted: Vec<String> = counts.iter().map(|(word, many)| format!("{many} {word}")).collect();
    let counted = if counted.is_empty() {
        "nothing that was cited had been found".into()
    } else {
        counted.join(", ")
    };
    let against = &done.against;
    screen.note(&format!("[INFO] Looked up again in {against}: {counted}. The record stays."));
    Ok(exit)
}

/// Renders a line such as `gone   src/a.rs:10 (turn 0.1.0.0): was exact, now not found`.
fn render_recheck(again: &CitationRecheck) -> String {
    let style = match again.validity {
        RecheckStatus::Gone | RecheckStatus::Moved => BOLD,
        RecheckStatus::Holds | RecheckStatus::Unknown => DIM,
    };
    let (mark, raw) = (again.validity.as_str(), one_line(&again.before.raw));
    let text = strip_control_chars(&format!("{mark:<8}{raw} (turn {}): ", again.cue));
    text + &format!("{style}{}{style:#}\n", strip_control_chars(&again.describe()))
}

fn rechecked_citation(debate: &Debate, again: &CitationRecheck) -> RecheckedCitation {
    let now = again.now.as_ref();
    RecheckedCitation {
        turn: again.cue.to_string(),
        seat: debate.seat(again.cue).name.clone(),
        claim: again.before.claim.clone(),
        raw: again.before.raw.clone(),
        was: again.before.found,
        now: now.map(|now| now.found),
        stands: again.validity,
        found_at: now.and_then(|now| now.found_at.clone()),
        note: again.note.clone(),
    }
}
