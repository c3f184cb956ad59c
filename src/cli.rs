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
mod demo;
pub mod doctor;
pub mod exit;
mod follow;
mod form;
mod formats;
pub mod init;
mod inspect;
mod join;
mod leaderboard;
mod open;
mod outcome;
pub mod output;
pub mod particulars;
mod person;
mod place;
mod play;
mod recheck;
mod replay;
mod resume;
mod review;
mod screen;
mod serve;
mod stopwatch;
mod tournament;
mod view;
mod watch;
mod written;

use crate::config::Config;
use crate::engine::App;
use args::{Args, Verb};
use exit::{Exit, Failed};
use screen::Screen;

/// Runs one command, prints its error if any, and returns the exit code.
pub async fn run(args: Args, config: &Config, desk: &App) -> Exit {
    desk.set_client_name("the terminal");
    let mut screen = Screen::new(args.quiet, config, desk);
    let done = obey(args, config, desk, &mut screen).await;
    desk.archive().flush_exports();
    screen.finish();
    match done {
        Ok(exit) => exit,
        Err(Failed::Pipe) => Exit::Ok,
        Err(failed) => {
            screen.error(&failed);
            failed.exit()
        }
    }
}

async fn obey(
    args: Args,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    match args.verb {
        Verb::Run(run) => open::run(&run, config, desk, screen).await,
        Verb::Review(review) => review::review(&review, config, desk, screen).await,
        Verb::Join(join) => join::join(&join, config, desk, screen).await,
        Verb::Resume(resume) => resume::resume(&resume, config, desk, screen).await,
        Verb::Watch(watch) => watch::watch(&watch, config, desk, screen).await,
        Verb::Recheck(recheck) => recheck::recheck(&recheck, config, desk, screen),
        Verb::Demo(demo) => demo::demo(&demo, config, desk, screen).await,
        Verb::List(list) => archive::list(&list, config, desk, screen),
        Verb::Show(show) => archive::show(&show, config, desk, screen),
        Verb::Search(search) => archive::search(&search, config, desk, screen),
        Verb::Export(export) => archive::export(&export, config, desk, screen),
        Verb::Import(import) => archive::import(&import, config, desk, screen),
        Verb::Reindex(json) => archive::reindex(json, desk, screen),
        Verb::Replay(replay) => replay::replay(&replay, config, desk, screen).await,
        Verb::Init(init) => init::init(&init, config, desk, screen),
        Verb::Uninit(uninit) => init::uninit(&uninit, config, screen),
        Verb::Doctor(doctor) => doctor::doctor(&doctor, config, desk, screen).await,
        Verb::Models(models) => archive::models(models, desk, screen).await,
        Verb::Formats(formats) => formats::formats(&formats, desk, screen),
        Verb::Outcome(outcome) => outcome::outcome(&outcome, config, desk, screen).await,
        Verb::Stats(stats) => outcome::stats(&stats, config, desk, screen),
        Verb::View(asked) => view::view(&asked, config, desk, screen).await,
        Verb::Leaderboard(board) => leaderboard::leaderboard(&board, config, desk, screen),
        Verb::Tournament(played) => tournament::tournament(&played, config, desk, screen).await,
        Verb::Brief(brief) => inspect::brief(&brief, config, desk, screen).await,
        Verb::Check(check) => inspect::check(&check, config, desk, screen),
        Verb::Serve(serve) => serve::serve(&serve, config, desk, screen).await,
        Verb::Redact => inspect::redact(desk, screen),
        Verb::Completions { shell } => screen.completions(shell),
        Verb::Mcp => Err(Failed::Other("this door is opened elsewhere".into())),
    }
}
