//! `debate serve`: runs the arena server for bots, with its live web page. The entry point is the
//! handler `serve`, called by `cli::run`. It resolves judges and audience from the flags and starts
//! `web::ArenaServer`.
use super::args::ServeArgs;
use super::exit::{CliError, Exit};
use super::format_options::parse_listener;
use super::limits::merge_budget;
use super::output::{JoinableDebate, ServeOutput};
use super::screen::Screen;
use crate::app::cast::with_absolute_script;
use crate::app::{App, Listener};
use crate::config::Config;
use crate::debate::{Budget, Participant};
use crate::engine::Workspace;
use crate::engine::signals::wait_for_shutdown;
use crate::web::{ArenaLimits, ArenaServer, ArenaServerConfig, JudgingConfig, ServeError};

/// Handler of `debate serve`.
pub(super) async fn serve(
    args: &ServeArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    app.set_client_name("debate serve");
    let judging = resolve_bench(args, config, app)?;
    let judges: Vec<String> = judging.judges.iter().map(ToString::to_string).collect();
    for line in &judging.seat_choices {
        screen.note(&format!("[INFO] Chosen: {line}"));
    }
    let server_config = ArenaServerConfig {
        bind: args.bind,
        allow_insecure: args.insecure,
        limits: ArenaLimits {
            speech_seconds: args.speech_timeout,
            offline_seconds: args.offline_after,
            waiting_seconds: args.waiting_limit,
            debate_seconds: args.total_limit,
            default_rounds: args.rounds,
            ..ArenaLimits::default()
        },
        judging,
        play_rematch: args.swap,
        topics: args.topic.clone(),
        host_names: args.host.clone(),
        home: config.data_dir.clone(),
    };
    let workspace =
        Workspace { root: config.repo_root.clone(), state_file: None, write_record: false };
    let server = ArenaServer::bind(app.clone(), workspace, server_config)
        .await
        .map_err(|error| serve_error(&error))?;
    let address = server.address().map_err(|error| serve_error(&error))?;
    let url = format!("http://{address}");
    if args.insecure && !address.ip().is_loopback() {
        screen.warn(
            "[WARN] Others than this machine can reach this, and nothing is encrypted: put a \
             reverse proxy with TLS before it.",
        );
    }
    if judges.is_empty() {
        screen.warn(
            "[WARN] Nobody judges: debates end without a winner. Name a judge with `--judge SEAT` \
             (see `debate models`).",
        );
    }
    if server.restored_rooms > 0 {
        screen.note(&format!("[INFO] Debates restored: {}", server.restored_rooms));
    }
    if args.json {
        let waiting = server.waiting_rooms.iter();
        let waiting = waiting.map(|(id, topic)| JoinableDebate { debate_id: id, topic }).collect();
        let (enter, watch) = (server.owner_url(&url), server.reader_url(&url));
        screen.print_json_line(&ServeOutput { v: 1, url: &url, enter, watch, judges, waiting })?;
    } else {
        screen.print(&format!("Arena and page: {url}\n"))?;
        for (id, topic) in &server.waiting_rooms {
            screen.print(&format!("Waiting for bots: {id}  {topic}\n"))?;
        }
        screen.print(&format!("Bots join with: debate join {url} --seat SEAT\n"))?;
        screen.print(&format!("To take part on the page: {}\n", server.owner_url(&url)))?;
        if let Some(watch) = server.reader_url(&url) {
            screen.print(&format!("For those who may only watch: {watch}\n"))?;
        }
    }
    tokio::select! {
        () = server.run() => {}
        () = wait_for_shutdown() => {
            screen.note("[INFO] Stopped. Nothing is lost: the same command continues.");
        }
    }
    Ok(Exit::Ok)
}

fn serve_error(error: &ServeError) -> CliError {
    let hint = match error {
        ServeError::Insecure(_) => {
            "leave `--bind` out, or say `--insecure` and put a reverse proxy with TLS before it"
        }
        ServeError::Bind(..) => "choose another port, as in `--bind 127.0.0.1:8082`",
        ServeError::AlreadyServed(_) => {
            "stop the other one, or choose another home with `DEBATE_HOME`"
        }
        ServeError::Arena(_) => return CliError::Other(error.to_string()),
    };
    CliError::Usage(error.to_string(), hint.into())
}

/// Resolves judges and audience from the flags. Without `--judge`, picks an available model.
fn resolve_bench(args: &ServeArgs, config: &Config, app: &App) -> Result<JudgingConfig, CliError> {
    let usage_error =
        |message: String| CliError::Usage(message, "see `debate serve --help`".into());
    let (judges, seat_choices) = match args.parse_judges().map_err(usage_error)? {
        Some(judges) => (judges, vec![]),
        None => match app.default_judge(&config.settings.seats.judges)? {
            Some(participant) => {
                let message = format!(
                    "judge: {participant}, who can be asked here; `--judge none` for nobody"
                );
                (vec![participant], vec![message])
            }
            None => (vec![], vec![]),
        },
    };
    let folder = &config.current_dir;
    let judges: Vec<Participant> =
        judges.into_iter().map(|it| with_absolute_script(it, folder)).collect();
    if let Some(judge) = judges.iter().find(|it| it.is_awaited() || it.tool() == "demo") {
        return Err(usage_error(format!(
            "`--judge {judge}` cannot score by the criteria of an arena"
        )));
    }
    let mut audience = vec![];
    for text in &args.audience {
        let listener = parse_listener(text)?;
        let participant = match (&listener.model, judges.first()) {
            (Some(seat), _) => app.parse_participant(seat, folder)?,
            (None, Some(judge)) => judge.clone(),
            (None, None) => {
                return Err(usage_error(format!(
                    "`--audience {text}`: name its seat, as in TYPE=SEAT"
                )));
            }
        };
        let weight = listener.weight.unwrap_or(1);
        audience.push(Listener { kind: listener.kind, participant, weight });
    }
    let participants = judges.iter().chain(audience.iter().map(|it| &it.participant));
    app.check_available(&participants.collect::<Vec<_>>())?;
    let judging = JudgingConfig {
        judges,
        audience,
        budget: merge_budget(args.limits.or_config(config.settings.limits), Budget::default())?,
        seat_choices,
    };
    Ok(judging)
}
