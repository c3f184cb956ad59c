//! What can be typed.
use crate::debate::Voice;
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

/// Makes AI coding tools argue, with checked evidence, before a person decides.
#[derive(Debug, Parser)]
#[command(
    name = "debate",
    version,
    after_help = "Exit codes: 0 ok; 1 failed; 2 wrong usage, cancelled, or stopped before the end; \
                  3 the verdict blocks; 4 no model, or not logged in; 5 finished, but degraded."
)]
pub struct Args {
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Open a debate and play it
    Run(Box<Run>),
    /// Have a change argued before it is merged, and say what should be changed first
    Review(Box<Review>),
    /// Play a whole debate offline, about this repository, with scripted voices
    Demo(Demo),
    /// Take part in a debate on a platform for bots: any server of that wire, ours included
    Join(Box<Join>),
    /// Go on with a debate: this repository's newest unfinished one, or the one named
    Resume(Resume),
    /// Follow a debate another process plays, until it waits for somebody or ends
    Watch(Watch),
    /// Look up again, in the repository as it is now, what a debate cites; exit 1 if any is gone
    Recheck(Recheck),
    /// List debates
    List(List),
    /// Show a debate: everything said, and the verdict
    Show(Show),
    /// Search everything that was said
    Search(Search),
    /// Write a debate out
    Export(Export),
    /// Play an archived debate again from its log, offline
    Replay(Replay),
    /// Take in a state file or a record from elsewhere
    Import(Import),
    /// Rebuild tables, search and files from the log of every debate
    Reindex(Json),
    /// Set up the clients you work in: the server, and the command /debate
    Init(super::init::Init),
    /// Undo that; debates are kept
    Uninit(super::init::Uninit),
    /// Look for problems, and say how to mend them
    Doctor(super::doctor::Doctor),
    /// Show who can play a seat here, and why others cannot
    Models(Models),
    /// List the formats a debate can have, or show one
    Formats(Formats),
    /// Record what you decided, or what became of a verdict
    Outcome(Outcome),
    /// How often verdicts were right, by how sure they were
    Stats(Stats),
    /// Who argues better: ratings of everyone who has debated, with intervals
    Leaderboard(Leaderboard),
    /// Show the archive in a browser, debates under way as they happen
    View(View),
    /// Play every pair of entrants on every motion, on both sides, and rate them; run it again to go on
    Tournament(Tournament),
    /// Print what debaters would be given of this repository
    Brief(Brief),
    /// Look up what a text cites: a review, a report, another tool's answer; exit 1 if any is wrong
    Check(Check),
    /// Copy stdin to stdout without the secrets in it
    Redact,
    /// Serve MCP clients on stdin and stdout: this is what Claude Code, OpenCode and others start
    Mcp,
    /// Hold an arena: bots join over HTTP and debate, judged here and watched on a page
    Serve(Box<Serve>),
    /// Print completions for a shell
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
}

/// JSON or not.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Json {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `debate models`
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Models {
    /// Say where each program is installed
    #[arg(long)]
    pub probe: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `debate formats`
#[derive(Debug, clap::Args)]
pub struct Formats {
    /// Only this one, with its table
    pub name: Option<String>,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate outcome`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct Outcome {
    /// Its id, the beginning or the last four digits of it; `last` is this repository's newest
    pub id: Option<String>,
    /// The verdict was right
    #[arg(long, group = "proof")]
    pub right: bool,
    /// The verdict was wrong
    #[arg(long, group = "proof")]
    pub wrong: bool,
    /// It was followed, and taken back
    #[arg(long, group = "proof")]
    pub reverted: bool,
    /// What happened
    #[arg(long, value_name = "TEXT", requires = "proof")]
    pub note: Option<String>,
    /// What you decided, in your own words
    #[arg(long, value_name = "TEXT")]
    pub decided: Option<String>,
    /// The written record stays
    #[arg(long, conflicts_with = "discard")]
    pub keep: bool,
    /// The written record is deleted
    #[arg(long)]
    pub discard: bool,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate stats`
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// Only of this repository
    #[arg(long)]
    pub here: bool,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate brief`
#[derive(Debug, clap::Args)]
pub struct Brief {
    /// Files, folders or globs, with lines if you like: `src/store.rs:10-40`
    pub paths: Vec<String>,
    /// A diff: of the working tree, or `staged`, a commit, `BASE..HEAD`, `branch`
    #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "")]
    pub diff: Option<String>,
    /// Anything `debate run --context` takes: `auto`, `tree`, `history`, `note=TEXT`
    #[arg(long, value_name = "C")]
    pub context: Vec<String>,
    /// The question, for `auto` to pick by
    #[arg(long, value_name = "TEXT")]
    pub topic: Option<String>,
    /// Tokens it may come to, about
    #[arg(long, value_name = "N")]
    pub budget: Option<usize>,
    /// As for tools that can read the files themselves
    #[arg(long)]
    pub names: bool,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate check`
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The text; `-` is stdin
    pub file: PathBuf,
    /// Against this commit; usually HEAD, or the working tree if something has changed
    #[arg(long, value_name = "ID")]
    pub commit: Option<String>,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate run`
#[derive(Debug, clap::Args)]
pub struct Run {
    /// The question; how it is to be argued may stand around it, as in `codex vs gemini, 3 rounds,
    /// thoroughly, about ...`, and flags have the last word
    #[arg(default_value = "")]
    pub topic: String,
    /// How it is argued, and by whom.
    #[command(flatten)]
    pub seating: Seating,
    /// Pause before every round, for a remark
    #[arg(long)]
    pub pause: bool,
    /// Show the plan, and wait for your word before anybody is asked (usual in research)
    #[arg(long)]
    pub plan: bool,
    /// Say yes to whatever would be asked
    #[arg(long, short)]
    pub yes: bool,
    /// Research: write the finished report to this file, too
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<String>,
    /// How it is printed.
    #[command(flatten)]
    pub shown: Shown,
}

/// How a debate is printed while and after it is played.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Shown {
    /// Print JSON: the result, or, with --follow, every event as it happens
    #[arg(long)]
    pub json: bool,
    /// Print the debate on stdout while it happens
    #[arg(long)]
    pub follow: bool,
}

/// `debate demo`
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// Characters a second; 0 is all at once
    #[arg(long, value_name = "N")]
    pub speed: Option<u32>,
    /// How it is printed.
    #[command(flatten)]
    pub shown: Shown,
}

/// `debate watch`
#[derive(Debug, clap::Args)]
pub struct Watch {
    /// Its id, the beginning or the last four digits of it; usually this repository's newest open one
    pub id: Option<String>,
    /// Print every event as JSON, and the result last
    #[arg(long)]
    pub json: bool,
}

/// `debate recheck`
#[derive(Debug, clap::Args)]
pub struct Recheck {
    /// Its id, the beginning or the last four digits of it; `last` is this repository's newest
    pub id: Option<String>,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate resume`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct Resume {
    /// Its id, the beginning or the last four digits of it; `last` is this repository's newest
    pub id: Option<String>,
    /// Say yes to whatever would be asked
    #[arg(long, short)]
    pub yes: bool,
    /// A remark for whoever has not been asked yet
    #[arg(long, value_name = "TEXT")]
    pub say: Option<String>,
    /// Another topic from now on
    #[arg(long, value_name = "TOPIC")]
    pub steer: Option<String>,
    /// Go deeper on this
    #[arg(long, value_name = "TEXT")]
    pub deepen: Option<String>,
    /// Hand a seat to someone else, as in `--seat challenger=human`
    #[arg(long, value_name = "NAME=SEAT", value_parser = seat)]
    pub seat: Vec<(String, Voice)>,
    /// Where it pauses from now on.
    #[command(flatten)]
    pub most: Most,
    /// Go straight to the verdict, or to what else the format ends with
    #[arg(long, visible_alias = "end")]
    pub conclude: bool,
    /// Take a failed turn again, even if the debate has ended
    #[arg(long)]
    pub retry: bool,
    /// Take it over from the process that plays it, which stops
    #[arg(long)]
    pub take_over: bool,
    /// How it is printed.
    #[command(flatten)]
    pub shown: Shown,
}

/// `debate list`
#[derive(Debug, clap::Args)]
pub struct List {
    /// Of all repositories
    #[arg(long, short)]
    pub all: bool,
    /// Only those that stand so
    #[arg(long, value_enum)]
    pub status: Option<StatusWord>,
    /// At most this many
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: usize,
    /// With how each stands, in five lines
    #[arg(long)]
    pub state: bool,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate show`
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Its id, the beginning or the last four digits of it; `last` is this repository's newest
    pub id: Option<String>,
    /// Only the result
    #[arg(long)]
    pub summary: bool,
    /// The prompt of one turn, as it was or would be asked
    #[arg(long, value_name = "TURN")]
    pub prompt: Option<crate::debate::Cue>,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate search`
#[derive(Debug, clap::Args)]
pub struct Search {
    /// All of these words
    #[arg(required = true)]
    pub words: Vec<String>,
    /// Only in this repository
    #[arg(long)]
    pub here: bool,
    /// At most this many
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: usize,
    /// JSON or not.
    #[command(flatten)]
    pub json: Json,
}

/// `debate export`
#[derive(Debug, clap::Args)]
pub struct Export {
    /// Its id, the beginning or the last four digits of it; `last` is this repository's newest
    pub id: Option<String>,
    /// As what
    #[arg(long = "as", value_enum, default_value = "markdown")]
    pub form: Form,
    /// To a file instead of stdout
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// What a debate can be written out as.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Form {
    /// The whole record
    Markdown,
    /// Everything, for programs
    Json,
    /// The setup and then every event, one a line
    Events,
    /// One page for a browser, which needs nothing else
    Html,
}

/// `debate replay`
#[derive(Debug, clap::Args)]
pub struct Replay {
    /// Its id, the beginning or the last four digits of it; `last` is this repository's newest
    pub id: Option<String>,
    /// Times as fast as it was; 0 is all at once [default: 1 on a terminal, else 0]
    #[arg(long, value_name = "X", value_parser = speed)]
    pub speed: Option<f64>,
    /// Print every event as JSON
    #[arg(long)]
    pub json: bool,
}

/// `debate import`
#[derive(Debug, clap::Args)]
pub struct Import {
    /// A `last-debate.json` or a `.debates/*.md`; `-` is stdin
    pub file: PathBuf,
    /// Who argues for, if it goes on
    #[arg(long, value_name = "SEAT", default_value = "human")]
    pub proposer: Voice,
    /// Who argues against, if it goes on
    #[arg(long, value_name = "SEAT", default_value = "human")]
    pub challenger: Voice,
    /// Who rules, if it goes on
    #[arg(long, value_name = "SEAT", default_value = "human")]
    pub judge: Voice,
    /// JSON or not.
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

fn seat(text: &str) -> Result<(String, Voice), String> {
    let (name, voice) = text.split_once('=').ok_or("write it as NAME=SEAT")?;
    Ok((
        name.trim().into(),
        voice.parse().map_err(|bad: crate::debate::seat::BadSeat| bad.to_string())?,
    ))
}
