//! `debate outcome` records decisions and whether verdicts were right. `debate stats` computes the
//! calibration and Brier score of the confidence of verdicts.
use super::args::{OutcomeArgs, StatsArgs};
use super::exit::{CliError, Exit};
use super::output;
use super::screen::Screen;
use super::workspace;
use crate::config::Config;
use crate::debate::verdict::judgment;
use crate::debate::{Debate, VerdictFeedback};
use crate::engine::{App, Command, DebateQuery, LeaseMode};
use std::collections::BTreeMap;

/// Handler of `debate outcome`: records what the flags say, then prints what is recorded.
pub(super) async fn outcome(
    said: &OutcomeArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let place = workspace::current_workspace(config);
    let id = workspace::resolve_debate_id(said.id.as_deref(), config, desk, screen)?;
    let (_, debate, _) = desk.read(&id)?;
    let wishes = build_commands(said, &debate)?;
    let mut after = debate;
    if !wishes.is_empty() {
        let job = desk.resume(&id, &place, LeaseMode::IfFree, wishes)?;
        job.stop().await;
        after = desk.read(&id)?.1;
    }
    let learned = after.feedback();
    let told = output::OutcomeOutput {
        v: 1,
        id,
        proof: learned.map(|it| it.proof.as_str().into()),
        confidence: learned
            .and_then(|it| it.confidence)
            .or_else(|| judgment(&after).and_then(|it| it.confidence)),
        decision: after.decision().map(Into::into),
        kept: after.keep_record(),
    };
    if said.json.json {
        screen.print_json(&told)?;
        return Ok(Exit::Ok);
    }
    let mut lines = vec![told.id.clone()];
    lines.push(match (&told.proof, told.confidence) {
        (Some(proof), Some(sure)) => format!("The verdict was {proof}; it was {sure}% sure."),
        (Some(proof), None) => format!("The verdict was {proof}."),
        (None, Some(sure)) => {
            format!("The verdict is {sure}% sure; what became of it is not known.")
        }
        (None, None) => "There is no verdict.".into(),
    });
    lines.push(match &told.decision {
        Some(decision) => format!("Decided: {decision}"),
        None => "No decision is recorded; silence is not consent.".into(),
    });
    lines.extend(told.kept.map(|kept| {
        if kept { "The record is kept.".to_owned() } else { "The record is discarded.".to_owned() }
    }));
    screen.print(&format!("{}\n", lines.join("\n")))?;
    Ok(Exit::Ok)
}

fn build_commands(said: &OutcomeArgs, debate: &Debate) -> Result<Vec<Command>, CliError> {
    let mut wishes = vec![];
    let over = debate.outcome().is_some();
    let proof = [
        (said.right, VerdictFeedback::Right),
        (said.wrong, VerdictFeedback::Wrong),
        (said.reverted, VerdictFeedback::Reverted),
    ];
    let proof = proof.into_iter().find(|(said, _)| *said).map(|(_, proof)| proof);
    if (proof.is_some() || said.keep || said.discard) && !over {
        return Err(CliError::Usage(
            "this debate has not ended".into(),
            format!("`debate resume {}` goes on with it", debate.setup().id),
        ));
    }
    if let Some(text) = &said.decided {
        if text.trim().is_empty() {
            return Err(CliError::Usage(
                "the decision is empty".into(),
                "say it in your own words, or leave it".into(),
            ));
        }
        wishes.push(Command::Decide { text: text.clone() });
    }
    if let Some(proof) = proof {
        let Some(judgment) = judgment(debate) else {
            return Err(CliError::Usage(
                "this debate came to no verdict that could be right or wrong".into(),
                "`--decided TEXT` records what you decided".into(),
            ));
        };
        let (confidence, note) = (judgment.confidence, said.note.clone().unwrap_or_default());
        wishes.push(Command::Learn { proof, confidence, note });
    }
    if said.keep || said.discard {
        wishes.push(Command::Keep { keep: said.keep });
    }
    Ok(wishes)
}

/// Handler of `debate stats`.
pub(super) fn stats(
    stats: &StatsArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let root = stats.here.then(|| workspace::current_workspace(config).root);
    let cards = desk.archive().list(&DebateQuery { root, ..DebateQuery::default() })?;
    let verdicts = cards.iter().filter(|card| card.winner.is_some()).count();
    let known: Vec<(u8, bool)> = cards
        .iter()
        .filter_map(|card| {
            Some((card.confidence?, card.proof.as_deref()? == VerdictFeedback::Right.as_str()))
        })
        .collect();
    let mut groups: BTreeMap<u8, Vec<bool>> = BTreeMap::new();
    for (sure, right) in &known {
        groups.entry(*sure).or_default().push(*right);
    }
    let right = known.iter().filter(|(_, right)| *right).count();
    let told = output::StatsOutput {
        v: 1,
        verdicts,
        known: known.len(),
        right,
        wrong: known.len() - right,
        brier: brier_score(&known),
        calibration: groups
            .into_iter()
            .map(|(confidence, all)| output::CalibrationBucket {
                confidence,
                known: all.len(),
                right: all.iter().filter(|right| **right).count() as f64 / all.len() as f64,
            })
            .collect(),
    };
    if stats.json.json {
        screen.print_json(&told)?;
        return Ok(Exit::Ok);
    }
    let mut lines = vec![format!(
        "{} verdicts; of {} it is known what became of them: {} right, {} wrong or reverted.",
        told.verdicts, told.known, told.right, told.wrong
    )];
    match told.brier {
        Some(brier) => {
            lines.push(format!("Brier score: {brier:.3} (0 is perfect, 0.25 is a coin)."));
            for it in &told.calibration {
                let right = it.right * 100.0;
                lines.push(format!("- {}% sure: {right:.0}% right of {}", it.confidence, it.known));
            }
        }
        None => lines.push(
            "`debate outcome ID --right`, `--wrong` or `--reverted` says what became of one."
                .into(),
        ),
    }
    screen.print(&format!("{}\n", lines.join("\n")))?;
    Ok(Exit::Ok)
}

/// Brier score: mean squared error of the confidence.
fn brier_score(known: &[(u8, bool)]) -> Option<f64> {
    let off = |(sure, right): &(u8, bool)| {
        let truth = if *right { 1.0 } else { 0.0 };
        (f64::from(*sure) / 100.0 - truth).powi(2)
    };
    (!known.is_empty()).then(|| known.iter().map(off).sum::<f64>() / known.len() as f64)
}
