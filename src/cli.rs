//! The terminal's door: commands in, data on stdout, everything else on stderr.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `args`    | what can be typed                                                                |
//! | `place`   | which repository is meant, and where its files go                                |
//! | `screen`  | what is printed, where, and in which colours                                     |
//! | `open`    | from what was typed to a debate being played                                     |
//! | `review`  | a change is argued before it is merged                                           |
//! | `written` | a review in its forms, in files and on the screen                                |
//! | `resume`  | coming back to a debate                                                          |
//! | `watch`   | a debate another process plays                                                   |
//! | `join`    | a seat of ours in somebody else's arena                                          |
//! | `recheck` | what a debate cites, looked up once more                                         |
//! | `particulars` | what a format may be told besides                                          |
//! | `formats` | which formats there are                                                          |
//! | `outcome` | what became of verdicts, and how often they were right                           |
//! | `leaderboard` | who argues better                                                          |
//! | `view`    | the local archive in a browser                                                   |
//! | `tournament` | motions and entrants, played and rated                                       |
//! | `play`    | a debate is played to its end, or to where someone is needed                     |
//! | `stopwatch` | a play that may take only so long                                             |
//! | `follow`  | a debate as it happens                                                           |
//! | `form`    | forms for a person who has to answer with one object                             |
//! | `person`  | a person takes a seat                                                            |
//! | `demo`    | a whole debate offline                                                           |
//! | `archive` | list, show, search, export, import, reindex                                      |
//! | `replay`  | an archived debate again, from its log                                           |
//! | `init`    | clients are set up, and the other way round                                      |
//! | `doctor`  | what is wrong here, and how to mend it                                           |
//! | `inspect` | brief, check and redact: what is useful by itself                                |
//! | `serve`   | an arena for bots                                                                |
//! | `exit`    | what the exit codes mean                                                         |
//! | `output`  | the JSON that commands print                                                     |
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
use crate::engine::Desk;
use args::{Args, Verb};
use exit::{Exit, Failed};
use screen::Screen;

/// Does what was typed.
pub async fn run(args: Args, config: &Config, desk: &Desk) -> Exit {
    desk.announce("the terminal");
    let mut screen = Screen::new(args.quiet, config, desk);
    let done = obey(args, config, desk, &mut screen).await;
    desk.archive().flush();
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
    desk: &Desk,
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
