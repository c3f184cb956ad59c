//! Arguments shared by `debate run` and `debate review`: format, participants, context and limits.
use super::EffortArg;
use crate::cli::format_options::FormatOptionArgs;
use crate::config::LimitSettings;
use crate::debate::Participant;

/// Format, participants, context and limits of a debate.
#[derive(Debug, clap::Args)]
pub struct SeatingArgs {
    /// Debate format: duel, research, tribunal, in `run` also dialectic, or your own (see `debate
    /// formats`) [default: duel]
    #[arg(long)]
    pub format: Option<String>,
    /// Who argues for: `tool` or `tool:model` (see `debate models`) [default: automatic]
    #[arg(long, visible_alias = "lead", value_name = "SEAT")]
    pub proposer: Option<Participant>,
    /// Who argues against; a different tool than the proposer
    #[arg(long, visible_alias = "partner", value_name = "SEAT")]
    pub challenger: Option<Participant>,
    /// Who judges; repeat for a panel
    #[arg(long, value_name = "SEAT")]
    pub judge: Vec<Participant>,
    /// Number of rounds [default: set by the format]
    #[arg(long, value_name = "N")]
    pub rounds: Option<u8>,
    /// Reasoning effort of all participants
    #[arg(long, value_enum, value_name = "E")]
    pub effort: Option<EffortArg>,
    /// Model of the proposer
    #[arg(long, value_name = "M")]
    pub model_proposer: Option<String>,
    /// Model of the challenger
    #[arg(long, value_name = "M")]
    pub model_challenger: Option<String>,
    /// Repository context for the debaters: `auto` (default in `run`), `none`, or items such as
    /// `src/store.rs:10-40`, `diff`, `diff=main..HEAD`, `tree`, `note=TEXT`; may be repeated
    #[arg(long, value_name = "C")]
    pub context: Vec<String>,
    /// Both sides answer before they see each other; the verdict says what the debate changed
    #[arg(long)]
    pub sealed: bool,
    /// Skip to the verdict when a round brings nothing new
    #[arg(long)]
    pub stop_when_settled: bool,
    /// Don't send each model a test prompt first
    #[arg(long)]
    pub no_probe: bool,
    /// Spending limits.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Timeout of a turn in seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub turn_timeout: Option<u32>,
    /// Timeout of a turn of a person or client in seconds [default: none]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub await_timeout: Option<u32>,
    /// Options of single formats.
    #[command(flatten)]
    pub format_options: FormatOptionArgs,
}

/// Spending limits of a debate. At a limit the debate pauses and can be resumed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LimitArgs {
    /// Pause at this total cost
    #[arg(long, value_name = "X")]
    pub max_cost: Option<f64>,
    /// Pause at this total of input and output tokens
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Pause when turns have taken this many minutes in total
    #[arg(long, value_name = "M")]
    pub max_minutes: Option<u64>,
}

impl LimitArgs {
    /// Fills in the limits of the config file where a flag was not given.
    pub(in crate::cli) fn or_config(self, settings: LimitSettings) -> LimitArgs {
        LimitArgs {
            max_cost: self.max_cost.or(settings.max_cost),
            max_tokens: self.max_tokens.or(settings.max_tokens),
            max_minutes: self.max_minutes.or(settings.max_minutes),
        }
    }
}
