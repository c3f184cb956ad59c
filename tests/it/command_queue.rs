//! Remote commands to a debate that is run by another `App` in this process, by the real binary in
//! another process, or by none. A batch of commands is executed completely and once, or not at all,
//! and the sender gets the result.
use crate::fake_providers::NoEvidence;
use crate::test_env::{RunningProcess, SeatScript, TestEnv, speech_with_claim, wait_until};
use debate_mcp::brief::RepositorySource;
use debate_mcp::debate::{Cue, Debate, Event, HoldPoint, Participant, Position, Step, next};
use debate_mcp::engine::{
    App, AppError, AppParts, COMMAND_TTL_MS, Clock, Command, CommandOutcome, DebateDraft, Workspace,
};
use debate_mcp::formats_catalog;
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
pub(crate) fn test_app(lab: &TestEnv) -> App {
    let clock: Arc<dyn Clock> = Arc::new(WallClock);
    let root = lab.repo_root();
    App::new(AppParts {
        archive: Arc::new(SqliteArchive::new(lab.data_dir(), clock.clone())),
        providers: Arc::new(ProviderRegistry::new(ProviderConfig::default())),
        briefs: Arc::new(RepositorySource {
            current_folder: root.clone(),
            tree_store: TreeStore::new(&root),
        }),
        evidence: Arc::new(NoEvidence),
        secrets: Secrets::new(Vec::new, []),
        clock,
        catalog: formats_catalog::load(&root, &root),
    })
}

pub(crate) fn workspace(lab: &TestEnv) -> Workspace {
    Workspace { root: lab.repo_root(), state_file: None, write_record: true }
}

fn participant(text: &str) -> Participant {
    text.parse().unwrap()
}

/// A draft of a one-round duel between these two, with a scripted judge.
fn duel_draft(lab: &TestEnv, proposer: &str, challenger: &str) -> DebateDraft {
    let judge = participant(&lab.script_seat("pro.json"));
    let mut opening =
        DebateDraft::new("CommandOutcome?", participant(proposer), participant(challenger), judge);
    opening.rounds = Some(1);
    opening
}

/// A duel in a child process whose challenger takes a minute.
fn start_slow_duel(lab: &TestEnv) -> (RunningProcess, String) {
    let text = speech_with_claim("One file locks.", "C1", &["P1"]);
    lab.write_script(
        &SeatScript::new().prepend(json!({"phase": "challenge", "text": text, "delay_ms": 60_000})),
    );
    let running = lab.debate_run("Slow?", &["--rounds", "1"]).spawn();
    let id = lab.wait_for_challenger();
    (running, id)
}

fn remark(text: &str) -> Command {
    Command::Interject { text: text.into() }
}

/// The number of events of this kind in the log.
fn count_events(lab: &TestEnv, id: &str, event: &str) -> usize {
    lab.events(id).iter().filter(|it| it["event"] == event).count()
}

/// The position of the hold that is due, if any.
fn held_position(debate: &Debate) -> Option<Position> {
    match next(debate) {
        Step::Hold { next, .. } => Some(next.position()),
        _ => None,
    }
}

/// The texts of all remarks, in order.
fn remark_texts(desk: &App, id: &str) -> Vec<String> {
    let (_, debate, flaw) = desk.read(id).unwrap();
    assert_eq!(flaw, None);
    debate.remarks().iter().map(|remark| remark.text.clone()).collect()
}

/// The number of rows in the command queue.
fn queue_length(lab: &TestEnv) -> i64 {
    lab.open_database()
        .query_row("SELECT count_events(*) FROM wishes", [], |row| row.get(0))
        .unwrap()
}

/// Polls a condition that other tasks bring about, with a timeout of 8 seconds.
async fn poll_until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..800 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not in time: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_reach_a_debate_in_another_process() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_duel(&lab);
    let (desk, place) = (test_app(&lab), workspace(&lab));
    let holder = Some(format!("the terminal (process {})", running.pid()));
    let granted = Ok(CommandOutcome { holder });
    let wish =
        async |wishes| desk.send_commands(&id, &place, wishes).await.map_err(|it| it.to_string());
    assert_eq!(wish(vec![remark("Mind the locks.")]).await, granted);
    assert_eq!(wish(vec![Command::Hold]).await, granted);
    // A second hold is refused, and so is the remark in the same batch.
    let twice = wish(vec![remark("Never said."), Command::Hold]).await.unwrap_err();
    assert!(twice.contains("a hold is not due"), "{twice}");
    // Conclude, and continue past the hold before the verdict.
    let because = Some("seen enough".to_owned());
    let mut ahead = desk.read(&id).unwrap().1;
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
    assert_eq!(remark_texts(&desk, &id), ["Mind the locks."]);
    assert_eq!(desk.read(&id).unwrap().1.end_reason(), Some("seen enough"));
    assert_eq!(queue_length(&lab), 0, "whoever has read an answer leaves nothing behind");
    lab.assert_replays(&id);
}

#[tokio::test(flavor = "multi_thread")]
async fn debate_of_a_killed_process_accepts_commands() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_duel(&lab);
    let (desk, place) = (test_app(&lab), workspace(&lab));
    running.send_signal("KILL");
    running.wait();
    // A remark does not resume the debate: no turn is asked and no lease is kept.
    let alone = CommandOutcome { holder: None };
    let asked = count_events(&lab, &id, "asked");
    assert_eq!(desk.send_commands(&id, &place, vec![remark("Still here?")]).await.unwrap(), alone);
    assert_eq!(desk.read(&id).unwrap().0.holder, None);
    assert_eq!(count_events(&lab, &id, "asked"), asked);
    let end = vec![Command::Conclude { because: None }];
    assert_eq!(desk.send_commands(&id, &place, end).await.unwrap(), alone);
    poll_until("it is judged and given up", || {
        let (stored, debate, _) = desk.read(&id).unwrap();
        debate.outcome().is_some() && stored.holder.is_none()
    })
    .await;
    assert_eq!(
        (count_events(&lab, &id, "concluded"), count_events(&lab, &id, "interjected")),
        (1, 1)
    );
    lab.assert_replays(&id);
}

/// The holder is stopped when the command is queued, and killed while the sender waits.
#[tokio::test(flavor = "multi_thread")]
async fn queued_command_survives_the_death_of_the_holder() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_duel(&lab);
    let (desk, place) = (test_app(&lab), workspace(&lab));
    running.send_signal("STOP");
    let wishing = {
        let (desk, id) = (desk.clone(), id.clone());
        tokio::spawn(async move { desk.send_commands(&id, &place, vec![remark("Anybody?")]).await })
    };
    poll_until("it is left", || queue_length(&lab) == 1).await;
    running.send_signal("KILL");
    assert_eq!(wishing.await.unwrap().unwrap(), CommandOutcome { holder: None });
    assert_eq!((remark_texts(&desk, &id), queue_length(&lab)), (vec!["Anybody?".to_owned()], 0));
}

/// Tokio time is paused, so the timeout passes at once.
#[tokio::test(start_paused = true)]
async fn unanswered_command_times_out_and_is_withdrawn() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_duel(&lab);
    let (desk, place) = (test_app(&lab), workspace(&lab));
    running.send_signal("STOP");
    let before = lab.events(&id);
    let error = desk.send_commands(&id, &place, vec![remark("Too late.")]).await.unwrap_err();
    let silent = format!("the terminal (process {}) plays this debate", running.pid());
    assert!(matches!(error, AppError::CommandTimedOut { .. }), "{error}");
    assert!(error.to_string().starts_with(&silent), "{error}");
    assert_eq!(queue_length(&lab), 0, "it was withdrawn");
    running.send_signal("CONT");
    // The resumed holder processes the next command, and had time to process the withdrawn one.
    tokio::time::resume();
    desk.send_commands(&id, &place, vec![remark("In time.")]).await.unwrap();
    assert_eq!(lab.events(&id).len(), before.len() + 1);
    assert_eq!(remark_texts(&desk, &id), ["In time."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn human_reply_can_come_from_another_process() {
    let lab = TestEnv::new();
    let (here, there, place) = (test_app(&lab), test_app(&lab), workspace(&lab));
    let mut job =
        here.open(&duel_draft(&lab, "human", &lab.script_seat("contra.json")), &place).unwrap();
    let id = job.id().to_owned();
    let Step::Speak { awaited, .. } = job.wait_idle().await.unwrap() else { panic!() };
    let reply = |cue: Cue, text: &str| {
        vec![Command::Reply { take: 0, cue, text: speech_with_claim(text, "P1", &[]) }]
    };
    let wrong = reply(Cue { seat: 1, ..awaited[0] }, "Not mine.");
    let error = there.send_commands(&id, &place, wrong).await.unwrap_err();
    assert!(
        matches!(&error, AppError::CommandRefused(why) if why.contains("is not due")),
        "{error}"
    );
    let wished =
        there.send_commands(&id, &place, reply(awaited[0], "Use one file.")).await.unwrap();
    assert!(wished.holder.is_some());
    // The same reply again is accepted without a second turn, and a different one is refused. The
    // holder itself can send commands, too.
    there.send_commands(&id, &place, reply(awaited[0], "Use one file.")).await.unwrap();
    let error = here.send_commands(&id, &place, reply(awaited[0], "Use two.")).await.unwrap_err();
    assert!(error.to_string().contains("was taken already"), "{error}");
    poll_until("it is over", || there.read(&id).unwrap().1.outcome().is_some()).await;
    job.stop().await;
    assert!(lab.turn_counts(&id).values().all(|times| *times == 1));
    lab.assert_replays(&id);
}

#[tokio::test(flavor = "multi_thread")]
async fn continue_command_runs_until_the_next_hold() {
    let lab = TestEnv::new();
    let (desk, place) = (test_app(&lab), workspace(&lab));
    let mut opening =
        duel_draft(&lab, &lab.script_seat("pro.json"), &lab.script_seat("contra.json"));
    (opening.rounds, opening.holds) = (Some(2), vec![HoldPoint::Start, HoldPoint::Rounds]);
    let job = desk.open(&opening, &place).unwrap();
    let id = job.id().to_owned();
    job.stop().await;
    let read = || desk.read(&id).unwrap();
    let first = held_position(&read().1).unwrap();
    let go_on = vec![remark("Briefly."), Command::Continue { before: first }];
    desk.send_commands(&id, &place, go_on.clone()).await.unwrap();
    poll_until("it waits for the second round", || {
        held_position(&read().1).is_some_and(|stand| stand > first) && read().0.holder.is_none()
    })
    .await;
    // The round has begun, so this continue command is stale.
    let error = desk.send_commands(&id, &place, go_on).await.unwrap_err();
    assert!(matches!(error, AppError::Session(_)), "{error}");
    assert_eq!(remark_texts(&desk, &id), ["Briefly."]);
    assert_eq!(read().0.holder, None, "whoever is refused holds nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_commands_are_refused_and_old_ones_expire() {
    let lab = TestEnv::new();
    let (here, there, place) = (test_app(&lab), test_app(&lab), workspace(&lab));
    let job =
        here.open(&duel_draft(&lab, "human", &lab.script_seat("contra.json")), &place).unwrap();
    let id = job.id().to_owned();
    let now = WallClock.now();
    let old = json!([{"wish": "interject", "text": "From before."}]).to_string();
    for (wish, body, at) in [
        (1, r#"[{"wish":"sing"}]"#, now),
        (2, "no JSON at all", now),
        (3, old.as_str(), now - COMMAND_TTL_MS - 1_000),
        (4, old.as_str(), now - 61_000),
    ] {
        let row = "INSERT INTO wishes (id, debate_id, body, at) VALUES (?1, 1, ?2, ?3)";
        lab.open_database().execute(row, (wish, body, at)).unwrap();
    }
    let answers = || -> Vec<(i64, Option<String>)> {
        let database = lab.open_database();
        let mut rows = database.prepare("SELECT id, answer FROM wishes ORDER BY id").unwrap();
        let read = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        read.map(Result::unwrap).collect()
    };
    poll_until("both are answered", || answers()[..2].iter().all(|it| it.1.is_some())).await;
    for (_, answer) in &answers()[..2] {
        let answer: Value = serde_json::from_str(answer.as_ref().unwrap()).unwrap();
        assert!(answer["Err"].as_str().unwrap().contains("cannot read the wish"), "{answer}");
    }
    there.send_commands(&id, &place, vec![remark("From now.")]).await.unwrap();
    assert_eq!(remark_texts(&there, &id), ["From now."]);
    let rows: Vec<i64> = answers().iter().map(|it| it.0).collect();
    assert_eq!(rows, [1, 2, 3], "the oldest is gone");
    assert_eq!(answers()[2].1, None, "and nobody grants what nobody waits for");
    job.stop().await;
}

/// Concurrent commands to a process that is killed meanwhile: every acknowledged command is
/// recorded exactly once, and no other is.
#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_commands_are_executed_exactly_once() {
    let lab = TestEnv::new();
    let (running, id) = start_slow_duel(&lab);
    let desks = [test_app(&lab), test_app(&lab)];
    let wishing: Vec<_> = (0..24)
        .map(|nth| {
            let (desk, id, place) = (desks[nth % 2].clone(), id.clone(), workspace(&lab));
            tokio::spawn(async move {
                let text = format!("remark {nth}");
                let done = desk.send_commands(&id, &place, vec![remark(&text)]).await;
                (text, done.is_ok())
            })
        })
        .collect();
    poll_until("some are granted", || !remark_texts(&desks[0], &id).is_empty()).await;
    running.send_signal("KILL");
    let mut granted = vec![];
    for wish in wishing {
        let (text, done) = wish.await.unwrap();
        granted.extend(done.then_some(text));
    }
    let mut found = remark_texts(&desks[0], &id);
    granted.sort();
    found.sort();
    assert_eq!(found, granted);
    assert!(!granted.is_empty());
    let free = || desks[0].read(&id).unwrap().0.holder.is_none();
    wait_until("nobody holds it", free);
}
