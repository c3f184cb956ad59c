//! Command-line interface: [`run()`] dispatches a parsed command. Data goes to stdout, everything
//! else to stderr.
//!
//! | file | content |
//! |---|---|
//! | `args` | clap argument structs and value parsers |
//! | `workspace` | finds the repository and resolves debate ids |
//! | `screen` | writes to stdout and stderr: colours, JSON, escaping, CI log groups |
//! | `run` | `debate run`: builds a draft from flags and topic, prepares and starts it |
//! | `review` | `debate review`: debates a code change |
//! | `review_output` | writes a review to files, the CI summary and stdout |
//! | `resume` | `debate resume` |
//! | `watch` | `debate watch`: follows a debate of another process by polling the database |
//! | `join` | `debate join`: plays a seat on an arena server |
//! | `recheck` | `debate recheck`: validates the citations of a debate again |
//! | `format_options` | options that only some formats take |
//! | `formats` | `debate formats` |
//! | `outcome` | `debate outcome` and `debate stats` (calibration, Brier score) |
//! | `leaderboard` | `debate leaderboard` |
//! | `view` | `debate view`: local web server for the archive |
//! | `tournament` | `debate tournament` |
//! | `play` | event loop that runs a debate until it ends or needs input |
//! | `deadline` | timers of a debate with a time limit |
//! | `follow` | prints a running debate |
//! | `reply_form` | JSON forms for replies of a human participant |
//! | `human_input` | reads a human's reply from an editor or stdin |
//! | `demo` | `debate demo`: scripted offline debate |
//! | `archive` | `list`, `show`, `search`, `export`, `import`, `reindex`, `models` |
//! | `replay` | `debate replay`: replays the event log |
//! | `init` | `debate init` and `debate uninit`: MCP client config |
//! | `doctor` | `debate doctor`: diagnostics and fixes |
//! | `inspect` | `debate brief`, `debate check` and `debate redact` |
//! | `serve` | `debate serve`: arena server |
//! | `exit` | exit codes and error hints |
//! | `output` | `--json` output types and their schemas |
mod archive;
pub mod args;
mod deadline;
mod demo;
mod doctor;
pub mod exit;
mod follow;
pub mod format_options;
mod formats;
mod human_input;
mod init;
mod inspect;
mod join;
mod leaderboard;
mod limits;
mod outcome;
pub mod output;
mod play;
mod recheck;
mod replay;
mod reply_form;
mod resume;
mod review;
mod review_output;
mod run;
mod screen;
mod serve;
mod start_progress;
mod tournament;
mod view;
mod watch;
mod workspace;

use crate::app::App;
use crate::config::Config;
use args::{Args, CliCommand};
use exit::{CliError, Exit};
use screen::Screen;
use std::time::Instant;

/// Runs one command, prints its error if any, and returns the exit code.
pub async fn run(args: Args, config: &Config, app: &App) -> Exit {
    let started = Instant::now();
    app.set_client_name("the terminal");
    let mut screen = Screen::new(args.quiet, config, app);
    let result = dispatch(args, config, app, &mut screen).await;
    app.archive().files.flush_exports();
    screen.flush_partial_lines();
    let exit = match result {
        Ok(exit) => exit,
        Err(CliError::BrokenPipe) => Exit::Ok,
        Err(error) => {
            screen.error(&error);
            error.exit()
        }
    };
    let elapsed_ms = started.elapsed().as_millis() as u64;
    tracing::debug!(exit_code = exit as u8, elapsed_ms, "command finished");
    exit
}

async fn dispatch(
    args: Args,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    match args.command {
        CliCommand::Run(run) => run::run(&run, config, app, screen).await,
        CliCommand::Review(review) => review::review(&review, config, app, screen).await,
        CliCommand::Join(join) => join::join(&join, config, app, screen).await,
        CliCommand::Resume(resume) => resume::resume(&resume, config, app, screen).await,
        CliCommand::Watch(watch) => watch::watch(&watch, config, app, screen).await,
        CliCommand::Recheck(recheck) => recheck::recheck(&recheck, config, app, screen).await,
        CliCommand::Demo(demo) => demo::demo(&demo, config, app, screen).await,
        CliCommand::List(list) => archive::list(&list, config, app, screen).await,
        CliCommand::Show(show) => archive::show(&show, config, app, screen).await,
        CliCommand::Search(search) => archive::search(&search, config, app, screen).await,
        CliCommand::Export(export) => archive::export(&export, config, app, screen).await,
        CliCommand::Import(import) => archive::import(&import, config, app, screen).await,
        CliCommand::Reindex(json) => archive::reindex(json, app, screen).await,
        CliCommand::Replay(replay) => replay::replay(&replay, config, app, screen).await,
        CliCommand::Init(init) => init::init(&init, config, app, screen),
        CliCommand::Uninit(uninit) => init::uninit(&uninit, config, screen),
        CliCommand::Doctor(doctor) => doctor::doctor(&doctor, config, app, screen).await,
        CliCommand::Models(models) => archive::models(models, app, screen).await,
        CliCommand::Formats(formats) => formats::formats(&formats, app, screen),
        CliCommand::Outcome(outcome) => outcome::outcome(&outcome, config, app, screen).await,
        CliCommand::Stats(stats) => outcome::stats(&stats, config, app, screen).await,
        CliCommand::View(view) => view::view(&view, config, app, screen).await,
        CliCommand::Leaderboard(leaderboard) => {
            leaderboard::leaderboard(&leaderboard, config, app, screen).await
        }
        CliCommand::Tournament(tournament) => {
            tournament::tournament(&tournament, config, app, screen).await
        }
        CliCommand::Brief(brief) => inspect::brief(&brief, config, app, screen).await,
        CliCommand::Check(check) => inspect::check(&check, config, app, screen),
        CliCommand::Serve(serve) => serve::serve(&serve, config, app, screen).await,
        CliCommand::Redact => inspect::redact(app, screen),
        CliCommand::Completions { shell } => screen.print_completions(shell),
        CliCommand::Mcp => Err(CliError::Other("`debate mcp` cannot be run from here".into())),
    }
}
