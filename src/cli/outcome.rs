//! `debate outcome` records decisions and whether verdicts were right. `debate stats` computes the
//! calibration and Brier score of the confidence of verdicts.
use super::args::{OutcomeArgs, StatsArgs};
use super::exit::{CliError, Exit};
use super::output;
use super::screen::Screen;
use super::workspace;
use crate::app::App;
use crate::app::outcome::OutcomeRequest;
use crate::config::Config;
use crate::debate::VerdictFeedback;
use crate::debate::verdict::judgment;
use crate::engine::DebateQuery;
use std::collections::BTreeMap;

/// Handler of `debate outcome`: records what the flags say, then prints what is recorded.
pub(super) async fn outcome(
    args: &OutcomeArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    let id = workspace::resolve_debate_id(args.id.as_deref(), config, app, screen).await?;
    let updated = app.record_outcome(&id, &parse_outcome(args), &workspace).await?;
    let feedback = updated.feedback();
    let result = output::OutcomeOutput {
        v: 1,
        id,
        proof: feedback.map(|it| it.proof.as_str().into()),
        confidence: feedback
            .and_then(|it| it.confidence)
            .or_else(|| judgment(&updated).and_then(|it| it.confidence)),
        decision: updated.decision().map(Into::into),
        kept: updated.keep_record(),
    };
    if args.json.json {
        screen.print_json(&result)?;
        return Ok(Exit::Ok);
    }
    let mut lines = vec![result.id.clone()];
    lines.push(match (&result.proof, result.confidence) {
        (Some(proof), Some(confidence)) => {
            format!("The verdict was {proof}; it was {confidence}% sure.")
        }
        (Some(proof), None) => format!("The verdict was {proof}."),
        (None, Some(confidence)) => {
            format!("The verdict is {confidence}% sure; whether it was right is not recorded.")
        }
        (None, None) => "There is no verdict.".into(),
    });
    lines.push(match &result.decision {
        Some(decision) => format!("Decided: {decision}"),
        None => "No decision is recorded.".into(),
    });
    lines.extend(result.kept.map(|keep| {
        if keep { "The record is kept.".to_owned() } else { "The record is discarded.".to_owned() }
    }));
    screen.print(&format!("{}\n", lines.join("\n")))?;
    Ok(Exit::Ok)
}

/// Converts the flags to a request.
fn parse_outcome(args: &OutcomeArgs) -> OutcomeRequest {
    let proof = [
        (args.right, VerdictFeedback::Right),
        (args.wrong, VerdictFeedback::Wrong),
        (args.reverted, VerdictFeedback::Reverted),
    ];
    let proof = proof.into_iter().find(|(flag, _)| *flag).map(|(_, proof)| proof);
    OutcomeRequest {
        decision: args.decided.clone(),
        proof: proof.map(|proof| (proof, args.note.clone().unwrap_or_default())),
        keep: (args.keep || args.discard).then_some(args.keep),
    }
}

/// Handler of `debate stats`.
pub(super) async fn stats(
    stats: &StatsArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let root = stats.here.then(|| workspace::current_workspace(config).root);
    let cards = app.archive().queries.list(&DebateQuery { root, ..DebateQuery::default() }).await?;
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
    let result = output::StatsOutput {
        v: 1,
        verdicts,
        known: known.len(),
        right,
        wrong: known.len() - right,
        brier: brier_score(&known),
        calibration: groups
            .into_iter()
            .map(|(confidence, results)| output::CalibrationBucket {
                confidence,
                known: results.len(),
                right: results.iter().filter(|right| **right).count() as f64 / results.len() as f64,
            })
            .collect(),
    };
    if stats.json.json {
        screen.print_json(&result)?;
        return Ok(Exit::Ok);
    }
    let mut lines = vec![format!(
        "{} verdicts, {} with a recorded result: {} right, {} wrong or reverted.",
        result.verdicts, result.known, result.right, result.wrong
    )];
    match result.brier {
        Some(brier) => {
            lines.push(format!("Brier score: {brier:.3} (0 is perfect, 0.25 is chance)."));
            for it in &result.calibration {
                let right = it.right * 100.0;
                lines.push(format!("- {}% sure: {right:.0}% right of {}", it.confidence, it.known));
            }
        }
        None => lines.push(
            "`debate outcome ID --right`, `--wrong` or `--reverted` records the result of one."
                .into(),
        ),
    }
    screen.print(&format!("{}\n", lines.join("\n")))?;
    Ok(Exit::Ok)
}

/// Brier score: mean squared error of the confidence.
fn brier_score(known: &[(u8, bool)]) -> Option<f64> {
    let squared_error = |(confidence, right): &(u8, bool)| {
        let truth = if *right { 1.0 } else { 0.0 };
        (f64::from(*confidence) / 100.0 - truth).powi(2)
    };
    (!known.is_empty()).then(|| known.iter().map(squared_error).sum::<f64>() / known.len() as f64)
}
