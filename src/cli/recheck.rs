//! `debate recheck`: validates the citations of a debate again, against the current files.
use super::args::RecheckArgs;
use super::exit::{CliError, Exit};
use super::output::{RecheckOutput, RecheckedCitation};
use super::screen::{BOLD, DIM, Screen};
use super::workspace;
use crate::app::App;
use crate::app::recheck::CitationRecheck;
use crate::config::Config;
use crate::debate::{Debate, RecheckStatus};
use crate::report::sanitize::{one_line, strip_control_chars};
use std::collections::BTreeMap;

/// Handler of `debate recheck`.
pub(super) async fn recheck(
    args: &RecheckArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let id = workspace::resolve_debate_id(args.id.as_deref(), config, app, screen).await?;
    let (stored, debate, _) = app.read(&id).await?;
    let report = app.recheck(&stored, &debate, &workspace::current_workspace(config))?;
    let any_gone = report.citations.iter().any(|citation| citation.validity == RecheckStatus::Gone);
    let exit = if any_gone { Exit::Failure } else { Exit::Ok };
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for citation in &report.citations {
        *counts.entry(citation.validity.as_str()).or_default() += 1;
    }
    if args.json.json {
        let citations =
            report.citations.iter().map(|citation| rechecked_citation(&debate, citation)).collect();
        screen.print_json(&RecheckOutput {
            v: 1,
            id,
            against: report.against,
            counts,
            citations,
        })?;
        return Ok(exit);
    }
    for citation in &report.citations {
        screen.print(&render_recheck(citation))?;
    }
    let summary: Vec<String> = counts.iter().map(|(word, many)| format!("{many} {word}")).collect();
    let summary = if summary.is_empty() {
        "no citation of the debate had been found".into()
    } else {
        summary.join(", ")
    };
    let against = &report.against;
    screen.note(&format!("[INFO] Looked up again in {against}: {summary}. The record stays."));
    Ok(exit)
}

/// Renders a line such as `gone   src/a.rs:10 (turn 0.1.0.0): was exact, now not found`.
fn render_recheck(citation: &CitationRecheck) -> String {
    let style = match citation.validity {
        RecheckStatus::Gone | RecheckStatus::Moved => BOLD,
        RecheckStatus::Holds | RecheckStatus::Unknown => DIM,
    };
    let (label, raw) = (citation.validity.as_str(), one_line(&citation.before.raw));
    let text = strip_control_chars(&format!("{label:<8}{raw} (turn {}): ", citation.cue));
    text + &format!("{style}{}{style:#}\n", strip_control_chars(&citation.describe()))
}

fn rechecked_citation(debate: &Debate, citation: &CitationRecheck) -> RecheckedCitation {
    let now = citation.now.as_ref();
    RecheckedCitation {
        turn: citation.cue.to_string(),
        seat: debate.seat(citation.cue).name.clone(),
        claim: citation.before.claim.clone(),
        raw: citation.before.raw.clone(),
        was: citation.before.found,
        now: now.map(|now| now.found),
        stands: citation.validity,
        found_at: now.and_then(|now| now.found_at.clone()),
        note: citation.note.clone(),
    }
}
