//! Arguments of `debate join`.
use super::EffortArg;
use super::review::parse_duration;
use crate::arena_client::retry_policy::MAX_POLL_INTERVAL;
use crate::debate::Participant;
use std::time::Duration;

/// Arguments of `debate join`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 the debate is over, whoever won; 1 failed; 2 wrong usage, or \
                  stopped before the end; 4 no model, or not logged in; 5 over, but turns were \
                  missed or nobody has ruled."
)]
pub struct JoinArgs {
    /// Server URL, without `/api/debate/join`
    #[arg(value_name = "URL")]
    pub url: String,
    /// Debate to join, or to resume if you have joined it before [default: any that waits for a
    /// bot]
    #[arg(long, value_name = "ID")]
    pub debate: Option<String>,
    /// Who plays: `tool` or `tool:model` (see `debate models`)
    #[arg(long, value_name = "SEAT")]
    pub seat: Participant,
    /// Bot name on the server [default: the name of the tool]
    #[arg(long)]
    pub name: Option<String>,
    /// Bot UUID on the server [default: a new one each time]
    #[arg(long)]
    pub uuid: Option<String>,
    /// Reasoning effort
    #[arg(long, value_enum, value_name = "E")]
    pub effort: Option<EffortArg>,
    /// Wait this long for a debate to join, as 90s, 15m or 1h
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub wait_for_debate: Option<Duration>,
    /// Poll interval in seconds, up to 30; at least 1, unless the server is on this machine
    #[arg(long, value_name = "S", default_value = "5", value_parser = parse_poll_interval)]
    pub every: Duration,
    /// Give up when the server has been unreachable for this long
    #[arg(long, value_name = "T", default_value = "10m", value_parser = parse_duration)]
    pub patience: Duration,
    /// Don't send the model a test prompt first
    #[arg(long)]
    pub no_probe: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_poll_interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it must be a number of seconds")?;
    if seconds > 0.0 && seconds <= MAX_POLL_INTERVAL.as_secs_f64() {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(format!(
        "it must be more than 0 and at most {}: a bot that polls less often counts as offline",
        MAX_POLL_INTERVAL.as_secs()
    ))
}
