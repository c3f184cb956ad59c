//! Values that several commands parse: spending limits and context items.
use super::args::LimitArgs;
use super::exit::CliError;
use crate::debate::{Budget, to_millionths};

/// Joins context items into one string. A note extends to the end, so notes come last.
pub(super) fn join_context(context: &[String]) -> String {
    let (notes, items): (Vec<&str>, Vec<&str>) =
        context.iter().map(|item| item.trim()).partition(|item| item.starts_with("note="));
    let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("note=")).collect();
    let note = (!notes.is_empty()).then(|| format!("note={}", notes.join("\n")));
    items.into_iter().map(str::to_owned).chain(note).collect::<Vec<_>>().join("\n")
}

/// Budget from the flags, with the earlier budget for limits that were not given.
pub(super) fn merge_budget(limits: LimitArgs, current: Budget) -> Result<Budget, CliError> {
    let cost = limits.max_cost.map(parse_cost).transpose()?;
    Ok(Budget {
        cost: cost.or(current.cost),
        tokens: limits.max_tokens.or(current.tokens),
        milliseconds: limits.max_minutes.map(minutes_to_ms).or(current.milliseconds),
    })
}

fn minutes_to_ms(minutes: u64) -> u64 {
    minutes.saturating_mul(60_000)
}

/// Converts a cost to millionths, or returns a usage error.
fn parse_cost(amount: f64) -> Result<u64, CliError> {
    to_millionths(amount).ok_or_else(|| {
        CliError::Usage(format!("`{amount}` is no amount"), "give a number such as 0.50".into())
    })
}
