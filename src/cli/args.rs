//! Command-line arguments: the clap parser [`Args`], one struct of arguments per subcommand, and
//! value parsers. The doc comments are the help text. Large subcommands have a file in `args/`.
use crate::debate::Participant;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

mod join;
mod ratings;
mod review;
mod seating;
mod serve;
mod setup;
#[cfg(test)]
mod tests;
mod value_enums;
mod view;

pub use join::JoinArgs;
pub use ratings::{LeaderboardArgs, TournamentArgs};
pub use review::{FailOnArg, ReviewArgs};
pub use seating::{LimitArgs, SeatingArgs};
pub use serve::ServeArgs;
pub use setup::{DoctorArgs, InitArgs, InitScopeArgs, UninitArgs};
pub use value_enums::{EffortArg, StatusArg};
pub use view::ViewArgs;

/// Debates or search results that are listed by default.
const DEFAULT_LISTED: usize = 20;
/// Smallest speed factor of `debate replay`, apart from 0 (unlimited).
const MIN_REPLAY_SPEED: f64 = 0.001;

/// Make AI models debate a question, with checked citations, before you decide
#[derive(Debug, Parser)]
#[command(
    name = "debate",
    version,
    after_help = "Exit codes: 0 ok; 1 failed; 2 wrong usage, cancelled, or stopped before the end; \
                  3 the verdict blocks; 4 no model, or not logged in; 5 finished, but degraded."
)]
pub struct Args {
    /// Print only errors on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Subcommand to run.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// Subcommands of `debate`.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Start a debate
    Run(Box<RunArgs>),
    /// Debate a code change before it is merged, and list the findings
    Review(Box<ReviewArgs>),
    /// Play a scripted debate about this repository, offline
    Demo(DemoArgs),
    /// Join a debate on an arena server, as a bot
    Join(Box<JoinArgs>),
    /// Resume a debate [default: the newest unfinished one of this repository]
    Resume(ResumeArgs),
    /// Follow a debate that another process runs, until it waits for input or ends
    Watch(WatchArgs),
    /// Check a debate's citations against the files as they are now; exit 1 if any is gone
    Recheck(RecheckArgs),
    /// List debates
    List(ListArgs),
    /// Show a debate: all turns and the verdict
    Show(ShowArgs),
    /// Search the text of all debates
    Search(SearchArgs),
    /// Export a debate
    Export(ExportArgs),
    /// Replay an archived debate from its event log, offline
    Replay(ReplayArgs),
    /// Import a state file or a Markdown record
    Import(ImportArgs),
    /// Rebuild the database tables, search index and files from the event logs
    Reindex(JsonArg),
    /// Register the MCP server and the /debate command in your clients
    Init(InitArgs),
    /// Undo `debate init`; debates are kept
    Uninit(UninitArgs),
    /// Check the setup and suggest fixes
    Doctor(DoctorArgs),
    /// List what can play a seat here, and why others cannot
    Models(ModelsArgs),
    /// List debate formats, or show one
    Formats(FormatsArgs),
    /// Record your decision, or whether a verdict was right
    Outcome(OutcomeArgs),
    /// Show how often verdicts were right, by confidence
    Stats(StatsArgs),
    /// Show the ratings of all participants, with confidence intervals
    Leaderboard(LeaderboardArgs),
    /// Browse the archive in a web browser, with live debates
    View(ViewArgs),
    /// Play every pair of entrants on both sides of every motion, and rate them; rerun to continue
    Tournament(TournamentArgs),
    /// Print the context that debaters would get from this repository
    Brief(BriefArgs),
    /// Check the citations in a text, such as a review or a report; exit 1 if any is wrong
    Check(CheckArgs),
    /// Copy stdin to stdout with secrets redacted
    Redact,
    /// Run the MCP server on stdin and stdout, as started by Claude Code, OpenCode and others
    Mcp,
    /// Run an arena server: bots debate over HTTP, judged here and shown on a web page
    Serve(Box<ServeArgs>),
    /// Generate a completion script for a shell
    Completions {
        /// Shell to generate the script for
        shell: clap_complete::Shell,
    },
}

/// The `--json` flag, shared by most commands.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct JsonArg {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate models`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ModelsArgs {
    /// Send each model a short test prompt
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate formats`.
#[derive(Debug, clap::Args)]
pub struct FormatsArgs {
    /// Show only this format, in full
    pub name: Option<String>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate outcome`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct OutcomeArgs {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// Mark the verdict as right
    #[arg(long, group = "proof")]
    pub right: bool,
    /// Mark the verdict as wrong
    #[arg(long, group = "proof")]
    pub wrong: bool,
    /// Mark the verdict as followed and later reverted
    #[arg(long, group = "proof")]
    pub reverted: bool,
    /// Note on what happened
    #[arg(long, value_name = "TEXT", requires = "proof")]
    pub note: Option<String>,
    /// Your decision, in your own words
    #[arg(long, value_name = "TEXT")]
    pub decided: Option<String>,
    /// Keep the written record
    #[arg(long, conflicts_with = "discard")]
    pub keep: bool,
    /// Delete the written record
    #[arg(long)]
    pub discard: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate stats`.
#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    /// Only count debates of this repository
    #[arg(long)]
    pub here: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate brief`.
#[derive(Debug, clap::Args)]
pub struct BriefArgs {
    /// Files, folders or globs, optionally with lines: `src/store.rs:10-40`
    pub paths: Vec<String>,
    /// Add a diff: of the working tree, `staged`, a commit, `BASE..HEAD` or `branch`
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "")]
    pub diff: Option<String>,
    /// Any item of `debate run --context`: `auto`, `tree`, `history`, `note=TEXT`
    #[arg(long, value_name = "C")]
    pub context: Vec<String>,
    /// Question that `auto` selects context for
    #[arg(long, value_name = "TEXT")]
    pub topic: Option<String>,
    /// Approximate token limit
    #[arg(long, value_name = "N")]
    pub budget: Option<usize>,
    /// Print the brief for tools that read the files themselves
    #[arg(long)]
    pub names: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Text file to check; `-` is stdin
    pub file: PathBuf,
    /// Commit to check against [default: HEAD, or the working tree if it has changes]
    #[arg(long, value_name = "ID")]
    pub commit: Option<String>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Question to debate; may also name options, as in `codex vs gemini, 3 rounds, thoroughly,
    /// about ...`; flags override them
    #[arg(default_value = "")]
    pub topic: String,
    /// Format, participants and limits.
    #[command(flatten)]
    pub seating: SeatingArgs,
    /// Pause before every round for a remark
    #[arg(long)]
    pub pause: bool,
    /// Show the plan and ask before any model is called (default in research)
    #[arg(long)]
    pub plan: bool,
    /// Answer yes to all questions
    #[arg(long, short)]
    pub yes: bool,
    /// Research: also write the report to this file
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<String>,
    /// Output options.
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// Output options of the commands that play a debate.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DisplayArgs {
    /// Print JSON: the result or, with --follow, every event as it happens
    #[arg(long)]
    pub json: bool,
    /// Print the debate on stdout as it happens
    #[arg(long)]
    pub follow: bool,
}

/// Arguments of `debate demo`.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Characters per second; 0 is unlimited [default: 400 on a terminal, else 0]
    #[arg(long, value_name = "N")]
    pub speed: Option<u32>,
    /// Output options.
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// Arguments of `debate watch`.
#[derive(Debug, clap::Args)]
pub struct WatchArgs {
    /// Debate ID, ID prefix or last four digits [default: the newest unfinished one here]
    pub id: Option<String>,
    /// Print every event as JSON, then the result
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate recheck`.
#[derive(Debug, clap::Args)]
pub struct RecheckArgs {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate resume`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct ResumeArgs {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// Answer yes to all questions
    #[arg(long, short)]
    pub yes: bool,
    /// Add a remark to the prompts still to be sent
    #[arg(long, value_name = "TEXT")]
    pub say: Option<String>,
    /// Change the topic from now on
    #[arg(long, value_name = "TOPIC")]
    pub steer: Option<String>,
    /// Ask for more depth on this
    #[arg(long, value_name = "TEXT")]
    pub deepen: Option<String>,
    /// Give a seat to another participant, as in `--seat challenger=human`
    #[arg(long, value_name = "NAME=SEAT", value_parser = parse_seat)]
    pub seat: Vec<(String, Participant)>,
    /// New spending limits.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Skip to the verdict, or to the last phase of the format
    #[arg(long, visible_alias = "end")]
    pub conclude: bool,
    /// Retry a failed turn, even if the debate has ended
    #[arg(long)]
    pub retry: bool,
    /// Take the debate over from the process that runs it, which stops
    #[arg(long)]
    pub take_over: bool,
    /// Output options.
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// Arguments of `debate list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Include all repositories
    #[arg(long, short)]
    pub all: bool,
    /// Filter by status
    #[arg(long, value_enum)]
    pub status: Option<StatusArg>,
    /// Maximum number of debates
    #[arg(long, short = 'n', default_value_t = DEFAULT_LISTED)]
    pub limit: usize,
    /// Show the state of each debate, in five lines
    #[arg(long)]
    pub state: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// Show only the result
    #[arg(long)]
    pub summary: bool,
    /// Show the prompt of one turn, as sent or as it would be sent
    #[arg(long, value_name = "TURN")]
    pub prompt: Option<crate::debate::Cue>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate search`.
#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Words to search for; all must match
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Only search this repository
    #[arg(long)]
    pub here: bool,
    /// Maximum number of results
    #[arg(long, short = 'n', default_value_t = DEFAULT_LISTED)]
    pub limit: usize,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `debate export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// File format
    #[arg(long = "as", value_enum, default_value = "markdown")]
    pub form: ExportFormat,
    /// Write to a file instead of stdout
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// File formats of `debate export`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExportFormat {
    /// The whole record
    Markdown,
    /// All data
    Json,
    /// The setup and every event, one JSON object per line
    Events,
    /// A self-contained web page
    Html,
}

/// Arguments of `debate replay`.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// Playback speed factor; 0 is unlimited [default: 1 on a terminal, else 0]
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,
    /// Print every event as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate import`.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// A `last-debate.json` or `.debates/*.md` file; `-` is stdin
    pub file: PathBuf,
    /// Proposer, if the debate is resumed
    #[arg(long, value_name = "SEAT", default_value = "human")]
    pub proposer: Participant,
    /// Challenger, if the debate is resumed
    #[arg(long, value_name = "SEAT", default_value = "human")]
    pub challenger: Participant,
    /// Judge, if the debate is resumed
    #[arg(long, value_name = "SEAT", default_value = "human")]
    pub judge: Participant,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: JsonArg,
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "it must be a number")?;
    if speed.is_finite() && (speed == 0.0 || speed >= MIN_REPLAY_SPEED) {
        return Ok(speed);
    }
    Err(format!("it must be 0, or {MIN_REPLAY_SPEED} or more"))
}

fn parse_seat(text: &str) -> Result<(String, Participant), String> {
    let (name, seat) = text.split_once('=').ok_or("write it as NAME=SEAT")?;
    Ok((
        name.trim().into(),
        seat.parse().map_err(|error: crate::debate::seat::ParticipantError| error.to_string())?,
    ))
}
