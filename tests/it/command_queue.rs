//! Remote commands to a debate that is run by another `App` in this process, by the real binary in
//! another process, or by none. A batch of commands is executed completely and once, or not at all,
//! and the sender gets the result.
use crate::fake_providers::NoEvidence;
use crate::test_env::{RunningProcess, SeatScript, TestEnv, speech_with_claim};
use debate_mcp::app::{
    App, AppError, AppParts, CommandOutcome, StartDefaults, StartPolicy, StartProgress,
    StartRequest,
};
use debate_mcp::brief::RepositorySource;
use debate_mcp::debate::{Cue, Debate, Event, Position, Step, next};
use debate_mcp::engine::{COMMAND_TTL_MS, Clock, Command, DebateRun, Workspace};
use debate_mcp::formats_catalog;
use debate_mcp::options::DebateOptions;
use debate_mcp::providers::{ProviderConfig, ProviderRegistry};
use debate_mcp::redact::Secrets;
use debate_mcp::repo::TreeStore;
use debate_mcp::store::SqliteArchive;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> i64 {
        i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
    }
}

/// An `App` over the archive of a test environment, like another process would have.
pub(crate) fn test_app(env: &TestEnv) -> App {
    let clock: Arc<dyn Clock> = Arc::new(WallClock);
    let root = env.repo_root();
    App::new(AppParts {
        archive: SqliteArchive::new(env.data_dir(), clock.clone()).into_ports(),
        providers: Arc::new(ProviderRegistry::new(ProviderConfig::default())),
        briefs: Arc::new(RepositorySource {
            current_folder: root.clone(),
            tree_store: TreeStore::new(&root),
        }),
        evidence: Arc::new(NoEvidence),
        secrets: Secrets::new(Vec::new, []),
        clock,
        catalog: formats_catalog::load(&root, &root),
        defaults: StartDefaults::default(),
    })
}

pub(crate) fn test_workspace(env: &TestEnv) -> Workspace {
    Workspace { root: env.repo_root(), state_file: None, write_record: true }
}

/// A draft of a one-round duel between these two, with a scripted judge.
async fn start_duel(
    (app, workspace): (&App, &Workspace),
    env: &TestEnv,
    [proposer, challenger]: [&str; 2],
    options: DebateOptions,
) -> DebateRun {
    let options = DebateOptions {
        proposer: Some(proposer.into()),
        challenger: Some(challenger.into()),
        judge: Some(env.script_seat("pro.json")),
        context: Some("none".into()),
        probe: Some(false),
        ..options
    };
    let policy = StartPolicy::unattended();
    let request = StartRequest::new("CommandOutcome?", options, policy, env.temp_path(""));
    app.start(request, workspace, &StartProgress::discard()).await.unwrap().run
}

fn one_round() -> DebateOptions {
    DebateOptions { rounds: Some(1), ..DebateOptions::default() }
}

/// A duel in a child process whose challenger takes a minute.
fn start_slow_duel(env: &TestEnv) -> (RunningProcess, String) {
    let text = speech_with_claim("One file locks.", "C1", &["P1"]);
    env.write_script(
        &SeatScript::new().prepend(json!({"phase": "challenge", "text": text, "delay_ms": 60_000})),
    );
    let process = env.debate_run("Slow?", &["--rounds", "1"]).spawn();
    let id = env.wait_for_challenger();
    (process, id)
}

fn remark(text: &str) -> Command {
    Command::Interject { text: text.into() }
}

/// The number of events of this kind in the log.
fn count_events(env: &TestEnv, id: &str, event: &str) -> usize {
    env.events(id).iter().filter(|it| it["event"] == event).count()
}

/// The position of the hold that is due, if any.
fn held_position(debate: &Debate) -> Option<Position> {
    match next(debate) {
        Step::Hold { next, .. } => Some(next.position()),
        _ => None,
    }
}

/// The texts of all remarks, in order.
async fn remark_texts(app: &App, id: &str) -> Vec<String> {
    let (_, debate, flaw) = app.read(id).await.unwrap();
    assert_eq!(flaw, None);
    debate.remarks().iter().map(|remark| remark.text.clone()).collect()
}

/// The number of rows in the command queue.
fn queue_length(env: &TestEnv) -> i64 {
    env.open_database().query_row("SELECT count(*) FROM wishes", [], |row| row.get(0)).unwrap()
}

/// Polls a condition that other tasks bring about, with a timeout of 8 seconds.
async fn poll_until(description: &str, mut condition: impl AsyncFnMut() -> bool) {
    for _ in 0..800 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not in time: {description}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_reach_a_debate_in_another_process() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_duel(&lab);
    let (desk, place) = (test_app(&lab), test_workspace(&lab));
    let holder = Some(format!("the terminal (process {})", running.pid()));
    let granted = Ok(CommandOutcome { holder });
    let wish =
        async |wishes| desk.send_commands(&id, &place, wishes).await.map_err(|it| it.to_string());
    assert_eq!(wish(vec![remark("Mind the locks.")]).await, granted);
    assert_eq!(wish(vec![Command::Hold]).await, granted);
    // A second hold is refused, and so is the remark in the same batch.
    let twice = wish(vec![remark("Never said."), Command::Hold]).await.unwrap_err();
    assert!(twice.contains("a hold is not possible now"), "{twice}");
    // Conclude, and continue past the hold before the verdict.
    let because = Some("seen enough".to_owned());
    let mut ahead = desk.read(&id).await.unwrap().1;
    ahead.apply(Event::Concluded { because: because.clone() }).unwrap();
    let before = held_position(&ahead).unwrap();
    let end = vec![Command::Conclude { because }, Command::Continue { before }];
    assert_eq!(wish(end).await, granted);
    let done = tokio::task::block_in_place(|| running.wait());
    assert_eq!(done.exit_code, Some(0), "{done:#?}");
    done.assert_stdout_contains(&["### Verdict"]);
    for event in ["interjected", "held", "concluded", "closed"] {
        assert_eq!(count_events(&lab, &id, event), 1, "{event}");
    }
    assert_eq!(remark_texts(&desk, &id).await, ["Mind the locks."]);
    assert_eq!(desk.read(&id).await.unwrap().1.end_reason(), Some("seen enough"));
    assert_eq!(queue_length(&lab), 0, "answered commands are deleted from the queue");
    lab.assert_replays(&id);
}

#[tokio::test(flavor = "multi_thread")]
async fn debate_of_a_killed_process_accepts_commands() {
    let env = TestEnv::new();
    let (process, id) = start_slow_duel(&env);
    let (app, workspace) = (test_app(&env), test_workspace(&env));
    process.send_signal("KILL");
    process.wait();
    // A remark does not resume the debate: no turn is asked and no lease is kept.
    let no_holder = CommandOutcome { holder: None };
    let asked_count = count_events(&env, &id, "asked");
    assert_eq!(
        app.send_commands(&id, &workspace, vec![remark("Still here?")]).await.unwrap(),
        no_holder
    );
    assert_eq!(app.read(&id).await.unwrap().0.holder, None);
    assert_eq!(count_events(&env, &id, "asked"), asked_count);
    let end_commands = vec![Command::Conclude { because: None }];
    assert_eq!(app.send_commands(&id, &workspace, end_commands).await.unwrap(), no_holder);
    poll_until("the debate is judged and its lease released", async || {
        let (stored, debate, _) = app.read(&id).await.unwrap();
        debate.outcome().is_some() && stored.holder.is_none()
    })
    .await;
    assert_eq!(
        (count_events(&env, &id, "concluded"), count_events(&env, &id, "interjected")),
        (1, 1)
    );
    env.assert_replays(&id);
}

/// The holder is stopped when the command is queued, and killed while the sender waits.
#[tokio::test(flavor = "multi_thread")]
async fn queued_command_survives_the_death_of_the_holder() {
    let env = TestEnv::new();
    let (process, id) = start_slow_duel(&env);
    let (app, workspace) = (test_app(&env), test_workspace(&env));
    process.send_signal("STOP");
    let sending = {
        let (app, id) = (app.clone(), id.clone());
        tokio::spawn(
            async move { app.send_commands(&id, &workspace, vec![remark("Anybody?")]).await },
        )
    };
    poll_until("the command is queued", async || queue_length(&env) == 1).await;
    process.send_signal("KILL");
    assert_eq!(sending.await.unwrap().unwrap(), CommandOutcome { holder: None });
    assert_eq!(
        (remark_texts(&app, &id).await, queue_length(&env)),
        (vec!["Anybody?".to_owned()], 0)
    );
}

/// Tokio time is paused, so the timeout passes at once.
#[tokio::test(start_paused = true)]
async fn unanswered_command_times_out_and_is_withdrawn() {
    let env = TestEnv::new();
    let (process, id) = start_slow_duel(&env);
    let (app, workspace) = (test_app(&env), test_workspace(&env));
    process.send_signal("STOP");
    let log_before = env.events(&id);
    let started_at = tokio::time::Instant::now();
    let error = app.send_commands(&id, &workspace, vec![remark("Too late.")]).await.unwrap_err();
    assert_eq!(started_at.elapsed(), Duration::from_secs(5));
    let expected = format!("the terminal (process {}) runs this debate", process.pid());
    assert!(matches!(error, AppError::CommandTimedOut { .. }), "{error}");
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert_eq!(queue_length(&env), 0, "the command was withdrawn");
    process.send_signal("CONT");
    // The resumed holder processes the next command, and had time to process the withdrawn one.
    tokio::time::resume();
    app.send_commands(&id, &workspace, vec![remark("In time.")]).await.unwrap();
    assert_eq!(env.events(&id).len(), log_before.len() + 1);
    assert_eq!(remark_texts(&app, &id).await, ["In time."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn human_reply_can_come_from_another_process() {
    let env = TestEnv::new();
    let (holder_app, other_app, workspace) = (test_app(&env), test_app(&env), test_workspace(&env));
    let seats = ["human", &*env.script_seat("contra.json")];
    let mut job = start_duel((&holder_app, &workspace), &env, seats, one_round()).await;
    let id = job.id().to_owned();
    let Step::Speak { awaited, .. } = job.wait_idle().await.unwrap() else { panic!() };
    let reply = |cue: Cue, text: &str| {
        vec![Command::Reply { take: 0, cue, text: speech_with_claim(text, "P1", &[]) }]
    };
    let wrong_seat = reply(Cue { seat: 1, ..awaited[0] }, "Not mine.");
    let error = other_app.send_commands(&id, &workspace, wrong_seat).await.unwrap_err();
    assert!(
        matches!(&error, AppError::CommandRefused(cause) if cause.contains("is not possible now")),
        "{error}"
    );
    let outcome =
        other_app.send_commands(&id, &workspace, reply(awaited[0], "Use one file.")).await.unwrap();
    assert!(outcome.holder.is_some());
    // The same reply again is accepted without a second turn, and a different one is refused. The
    // holder itself can send commands, too.
    other_app.send_commands(&id, &workspace, reply(awaited[0], "Use one file.")).await.unwrap();
    let error =
        holder_app.send_commands(&id, &workspace, reply(awaited[0], "Use two.")).await.unwrap_err();
    assert!(error.to_string().contains("was taken already"), "{error}");
    poll_until("the debate is over", async || {
        other_app.read(&id).await.unwrap().1.outcome().is_some()
    })
    .await;
    job.stop().await;
    assert!(env.turn_counts(&id).values().all(|times| *times == 1));
    env.assert_replays(&id);
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_command_runs_until_the_next_hold() {
    let env = TestEnv::new();
    let (app, workspace) = (test_app(&env), test_workspace(&env));
    let seats = [&*env.script_seat("pro.json"), &*env.script_seat("contra.json")];
    let options = DebateOptions {
        rounds: Some(2),
        confirm_plan: Some(true),
        pause: Some(true),
        ..DebateOptions::default()
    };
    let job = start_duel((&app, &workspace), &env, seats, options).await;
    let id = job.id().to_owned();
    job.stop().await;
    let read = async || app.read(&id).await.unwrap();
    let first_hold = held_position(&read().await.1).unwrap();
    let commands = vec![remark("Briefly."), Command::Continue { before: first_hold }];
    app.send_commands(&id, &workspace, commands.clone()).await.unwrap();
    poll_until("the debate holds before the second round", async || {
        held_position(&read().await.1).is_some_and(|position| position > first_hold)
            && read().await.0.holder.is_none()
    })
    .await;
    // The round has begun, so this continue command is stale.
    let error = app.send_commands(&id, &workspace, commands).await.unwrap_err();
    assert!(matches!(error, AppError::Session(_)), "{error}");
    assert_eq!(remark_texts(&app, &id).await, ["Briefly."]);
    assert_eq!(read().await.0.holder, None, "a refused command leaves no lease");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_commands_are_refused_and_old_ones_expire() {
    let env = TestEnv::new();
    let (holder_app, other_app, workspace) = (test_app(&env), test_app(&env), test_workspace(&env));
    let seats = ["human", &*env.script_seat("contra.json")];
    let job = start_duel((&holder_app, &workspace), &env, seats, one_round()).await;
    let id = job.id().to_owned();
    let now = WallClock.now();
    let old_body = json!([{"wish": "interject", "text": "From before."}]).to_string();
    for (row_id, body, queued_at) in [
        (1, r#"[{"wish":"sing"}]"#, now),
        (2, "no JSON at all", now),
        (3, old_body.as_str(), now - COMMAND_TTL_MS - 1_000),
        (4, old_body.as_str(), now - 61_000),
    ] {
        let row = "INSERT INTO wishes (id, debate_id, body, at) VALUES (?1, 1, ?2, ?3)";
        env.open_database().execute(row, (row_id, body, queued_at)).unwrap();
    }
    let answers = || -> Vec<(i64, Option<String>)> {
        let database = env.open_database();
        let mut rows = database.prepare("SELECT id, answer FROM wishes ORDER BY id").unwrap();
        let pairs = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        pairs.map(Result::unwrap).collect()
    };
    poll_until("both are refused", async || answers()[..2].iter().all(|it| it.1.is_some())).await;
    for (_, answer) in &answers()[..2] {
        let answer: Value = serde_json::from_str(answer.as_ref().unwrap()).unwrap();
        assert!(answer["Err"].as_str().unwrap().contains("cannot read the command"), "{answer}");
    }
    other_app.send_commands(&id, &workspace, vec![remark("From now.")]).await.unwrap();
    assert_eq!(remark_texts(&other_app, &id).await, ["From now."]);
    let rows: Vec<i64> = answers().iter().map(|it| it.0).collect();
    assert_eq!(rows, [1, 2, 3], "the expired command is deleted");
    assert_eq!(answers()[2].1, None, "an old command is not executed");
    job.stop().await;
}

/// Concurrent commands to a process that is killed meanwhile: every acknowledged command is
/// recorded exactly once, and no other is.
#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_commands_are_executed_exactly_once() {
    let env = TestEnv::new();
    let (process, id) = start_slow_duel(&env);
    let apps = [test_app(&env), test_app(&env)];
    let sending: Vec<_> = (0..24)
        .map(|index| {
            let (app, id, workspace) = (apps[index % 2].clone(), id.clone(), test_workspace(&env));
            tokio::spawn(async move {
                let text = format!("remark {index}");
                let sent = app.send_commands(&id, &workspace, vec![remark(&text)]).await;
                (text, sent.is_ok())
            })
        })
        .collect();
    poll_until("some commands are accepted", async || {
        !remark_texts(&apps[0], &id).await.is_empty()
    })
    .await;
    process.send_signal("KILL");
    let mut accepted = vec![];
    for task in sending {
        let (text, sent) = task.await.unwrap();
        accepted.extend(sent.then_some(text));
    }
    let mut recorded = remark_texts(&apps[0], &id).await;
    accepted.sort();
    recorded.sort();
    assert_eq!(recorded, accepted);
    assert!(!accepted.is_empty());
    poll_until("the lease is released", async || {
        apps[0].read(&id).await.unwrap().0.holder.is_none()
    })
    .await;
}
