//! How a debate is argued, and by whom: what `run` and `review` have in common.
use super::EffortWord;
use crate::cli::particulars::Wanted;
use crate::config::Limits;
use crate::debate::Voice;

/// How it is argued, and by whom.
#[derive(Debug, clap::Args)]
pub struct Seating {
    /// How it is debated: duel (usual), research, tribunal, in `run` also dialectic, or one of your
    /// own (`debate formats`)
    #[arg(long)]
    pub format: Option<String>,
    /// Who argues for: `tool` or `tool:model` (see `debate models`); whoever is not named is chosen
    #[arg(long, visible_alias = "lead", value_name = "SEAT")]
    pub proposer: Option<Voice>,
    /// Who argues against; another tool than the proposer
    #[arg(long, visible_alias = "partner", value_name = "SEAT")]
    pub challenger: Option<Voice>,
    /// Who rules; several, if it is given several times
    #[arg(long, value_name = "SEAT")]
    pub judge: Vec<Voice>,
    /// How many rounds; as many as the format usually has, if not given
    #[arg(long, value_name = "N")]
    pub rounds: Option<u8>,
    /// How hard everyone is to think
    #[arg(long, value_enum, value_name = "E")]
    pub effort: Option<EffortWord>,
    /// The proposer's model
    #[arg(long, value_name = "M")]
    pub model_proposer: Option<String>,
    /// The challenger's model
    #[arg(long, value_name = "M")]
    pub model_challenger: Option<String>,
    /// What the debaters are given of the repository: `auto` (usual in `run`), `none`, or items such
    /// as `src/store.rs:10-40`, `diff`, `diff=main..HEAD`, `tree`, `note=TEXT`; may be repeated
    #[arg(long, value_name = "C")]
    pub context: Vec<String>,
    /// Both sides answer before they hear each other; the verdict says what the debate changed
    #[arg(long)]
    pub sealed: bool,
    /// Go to the verdict as soon as a round brings nothing new
    #[arg(long)]
    pub stop_when_settled: bool,
    /// Do not ask each model first whether it answers
    #[arg(long)]
    pub no_probe: bool,
    /// Where it pauses.
    #[command(flatten)]
    pub most: Most,
    /// Seconds a turn may take
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub turn_timeout: Option<u32>,
    /// Flags of single formats.
    #[command(flatten)]
    pub wanted: Wanted,
}

/// What may be spent in all; then the debate pauses, and loses nothing.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Most {
    /// Pause when this much has been spent in all
    #[arg(long, value_name = "X")]
    pub max_cost: Option<f64>,
    /// Pause when this many tokens were read and written in all
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Pause when turns have taken this many minutes in all
    #[arg(long, value_name = "M")]
    pub max_minutes: Option<u64>,
}

impl Most {
    /// What was typed; where nothing was, what the user's configuration says.
    pub(in crate::cli) fn or(self, usual: Limits) -> Most {
        Most {
            max_cost: self.max_cost.or(usual.max_cost),
            max_tokens: self.max_tokens.or(usual.max_tokens),
            max_minutes: self.max_minutes.or(usual.max_minutes),
        }
    }
}
