//! Command-line arguments: the clap parser [`Args`], one struct of arguments per subcommand, and
//! value parsers. The doc comments are the help text. Large subcommands have a file in `args/`.
use crate::debate::Participant;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

mod join;
mod rated;
mod review;
mod seating;
mod serve;
mod view;
mod words;

pub use join::Join;
pub use rated::{Leaderboard, Tournament};
pub use review::{FailOnWord, Review};
pub use seating::{Most, Seating};
pub use serve::Serve;
pub use view::View;
pub use words::{EffortWord, StatusWord};

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
    pub verb: Verb,
}

/// Subcommands of `debate`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start a debate
    Run(Box<Run>),
    /// Debate a code change before it is merged, and list the findings
    Review(Box<Review>),
    /// Play a scripted debate about this repository, offline
    Demo(Demo),
    /// Join a debate on an arena server, as a bot
    Join(Box<Join>),
    /// Resume a debate [default: the newest unfinished one of this repository]
    Resume(Resume),
    /// Follow a debate that another process runs, until it waits for input or ends
    Watch(Watch),
    /// Check a debate's citations against the files as they are now; exit 1 if any is gone
    Recheck(Recheck),
    /// List debates
    List(List),
    /// Show a debate: all turns and the verdict
    Show(Show),
    /// Search the text of all debates
    Search(Search),
    /// Export a debate
    Export(Export),
    /// Replay an archived debate from its event log, offline
    Replay(Replay),
    /// Import a state file or a Markdown record
    Import(Import),
    /// Rebuild the database tables, search index and files from the event logs
    Reindex(Json),
    /// Register the MCP server and the /debate command in your clients
    Init(super::init::Init),
    /// Undo `debate init`; debates are kept
    Uninit(super::init::Uninit),
    /// Check the setup and suggest fixes
    Doctor(super::doctor::Doctor),
    /// List what can play a seat here, and why others cannot
    Models(Models),
    /// List debate formats, or show one
    Formats(Formats),
    /// Record your decision, or whether a verdict was right
    Outcome(Outcome),
    /// Show how often verdicts were right, by confidence
    Stats(Stats),
    /// Show the ratings of all participants, with confidence intervals
    Leaderboard(Leaderboard),
    /// Browse the archive in a web browser, with live debates
    View(View),
    /// Play every pair of entrants on both sides of every motion, and rate them; rerun to continue
    Tournament(Tournament),
    /// Print the context that debaters would get from this repository
    Brief(Brief),
    /// Check the citations in a text, such as a review or a report; exit 1 if any is wrong
    Check(Check),
    /// Copy stdin to stdout with secrets redacted
    Redact,
    /// Run the MCP server on stdin and stdout, as started by Claude Code, OpenCode and others
    Mcp,
    /// Run an arena server: bots debate over HTTP, judged here and shown on a web page
    Serve(Box<Serve>),
    /// Generate a completion script for a shell
    Completions {
        /// Shell to generate the script for
        shell: clap_complete::Shell,
    },
}

/// The `--json` flag, shared by most commands.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Json {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate models`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Models {
    /// Send each model a short test prompt
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate formats`.
#[derive(Debug, clap::Args)]
pub struct Formats {
    /// Show only this format, in full
    pub name: Option<String>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `debate outcome`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct Outcome {
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
    pub json: Json,
}

/// Arguments of `debate stats`.
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// Only count debates of this repository
    #[arg(long)]
    pub here: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `debate brief`.
#[derive(Debug, clap::Args)]
pub struct Brief {
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
    pub json: Json,
}

/// Arguments of `debate check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Text file to check; `-` is stdin
    pub file: PathBuf,
    /// Commit to check against [default: HEAD, or the working tree if it has changes]
    #[arg(long, value_name = "ID")]
    pub commit: Option<String>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `debate run`.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// Question to debate; may also name options, as in `codex vs gemini, 3 rounds, thoroughly,
    /// about ...`; flags override them
    #[arg(default_value = "")]
    pub topic: String,
    /// Format, participants and limits.
    #[command(flatten)]
    pub seating: Seating,
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
    pub shown: Shown,
}

/// Output options of the commands that play a debate.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Shown {
    /// Print JSON: the result or, with --follow, every event as it happens
    #[arg(long)]
    pub json: bool,
    /// Print the debate on stdout as it happens
    #[arg(long)]
    pub follow: bool,
}

/// Arguments of `debate demo`.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Characters per second; 0 is unlimited [default: 400 on a terminal, else 0]
    #[arg(long, value_name = "N")]
    pub speed: Option<u32>,
    /// Output options.
    #[command(flatten)]
    pub shown: Shown,
}

/// Arguments of `debate watch`.
#[derive(Debug, clap::Args)]
pub struct Watch {
    /// Debate ID, ID prefix or last four digits [default: the newest unfinished one here]
    pub id: Option<String>,
    /// Print every event as JSON, then the result
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate recheck`.
#[derive(Debug, clap::Args)]
pub struct Recheck {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `debate resume`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct Resume {
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
    #[arg(long, value_name = "NAME=SEAT", value_parser = seat)]
    pub seat: Vec<(String, Participant)>,
    /// New spending limits.
    #[command(flatten)]
    pub most: Most,
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
    pub shown: Shown,
}

/// Arguments of `debate list`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Include all repositories
    #[arg(long, short)]
    pub all: bool,
    /// Filter by status
    #[arg(long, value_enum)]
    pub status: Option<StatusWord>,
    /// Maximum number of debates
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: usize,
    /// Show the state of each debate, in five lines
    #[arg(long)]
    pub state: bool,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `debate show`.
#[derive(Debug, clap::Args)]
pub struct Show {
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
    pub json: Json,
}

/// Arguments of `debate search`.
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Words to search for; all must match
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Only search this repository
    #[arg(long)]
    pub here: bool,
    /// Maximum number of results
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: usize,
    /// The `--json` flag.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `debate export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// File format
    #[arg(long = "as", value_enum, default_value = "markdown")]
    pub form: Form,
    /// Write to a file instead of stdout
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// File formats of `debate export`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Form {
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
pub struct Replay {
    /// Debate ID, ID prefix or last four digits; `last` is the newest in this repository
    pub id: Option<String>,
    /// Playback speed factor; 0 is unlimited [default: 1 on a terminal, else 0]
    #[arg(long, value_name = "X", value_parser = speed)]
    pub speed: Option<f64>,
    /// Print every event as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debate import`.
#[derive(Debug, clap::Args)]
pub struct Import {
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
    pub json: Json,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "it must be a number")?;
    if speed.is_finite() && (speed == 0.0 || speed >= 0.001) {
        return Ok(speed);
    }
    Err("it must be 0, or 0.001 or more".into())
}

fn seat(text: &str) -> Result<(String, Participant), String> {
    let (name, voice) = text.split_once('=').ok_or("write it as NAME=SEAT")?;
    Ok((
        name.trim().into(),
        voice.parse().map_err(|bad: crate::debate::seat::ParticipantError| bad.to_string())?,
    ))
}
