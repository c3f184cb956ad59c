//! Benchmark: overhead of the engine in a two-round duel with scripted 50 ms turns and durable
//! writes. It is the wall time minus the time in which a turn was in flight, compared with as many
//! bare database transactions on the same disk.
//!
//! `cargo bench --bench overhead`
#![allow(clippy::unwrap_used, clippy::print_stdout)]
use debate_mcp::app::{App, AppParts, StartDefaults, StartPolicy, StartProgress, StartRequest};
use debate_mcp::brief::RepositorySource;
use debate_mcp::debate::{Debate, Participant, ReplyKind, Step, TurnFailure};
use debate_mcp::engine::{
    BoxFuture, Clock, ProviderReply, ProviderUnavailable, Providers, ReplyStream, TurnRequest,
    Workspace,
};
use debate_mcp::evidence::CitationChecker;
use debate_mcp::formats_catalog;
use debate_mcp::options::DebateOptions;
use debate_mcp::redact::Secrets;
use debate_mcp::repo::TreeStore;
use debate_mcp::store::SqliteArchive;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const RUNS: usize = 20;
const TURN_TIME: Duration = Duration::from_millis(50);

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since_epoch.as_millis()).unwrap()
    }
}

/// Provider that streams a reply for 50 ms and records start and end.
#[derive(Default)]
struct TimedProviders(Mutex<Vec<(Instant, Instant)>>);

impl Providers for TimedProviders {
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let started = Instant::now();
            for _ in 0..5 {
                tokio::time::sleep(TURN_TIME / 5).await;
                stream.push("a few more words ");
            }
            self.0.lock().unwrap().push((started, Instant::now()));
            let text = if request.reply_kind == ReplyKind::Verdict {
                json!({"winner": "proposer", "confidence": 0.7, "reasoning": "T1 shows it",
                    "cites": ["T1"], "recommendation": "do it"})
                .to_string()
            } else {
                let claim = json!({"claims": [{"id": format!("{}{}", request.seat, request.round),
                    "text": "it holds", "evidence": ["src/lib.rs:1"]}]});
                format!("{}\n```claims\n{claim}\n```", "Words of a speech. ".repeat(150))
            };
            Ok(ProviderReply { text, envelope: debate_mcp::debate::Envelope::default() })
        })
    }
    fn check_available(&self, _: &Participant) -> Result<(), ProviderUnavailable> {
        Ok(())
    }
    fn side_conflict(&self, _: &Participant, _: &Participant) -> Option<String> {
        None
    }
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut overheads, mut commits) = (vec![], vec![]);
    let mut events = 0;
    for _ in 0..RUNS {
        let folder = tempfile::TempDir::new().unwrap();
        let (overhead, count) = runtime.block_on(run_duel(folder.path()));
        overheads.push(overhead);
        events = count;
        commits.push(time_bare_commits(folder.path(), count));
    }
    let (overhead, bare) = (median(&mut overheads), median(&mut commits));
    println!("a 2-round duel, 50 ms turns, {events} events, median of {RUNS}:");
    println!("  beyond the turns in flight   {overhead:6.2} ms");
    println!("  {events} bare durable commits     {bare:6.2} ms");
    println!("  ratio                        {:6.2}", overhead / bare);
}

/// Runs one duel. Returns its overhead in ms and the number of recorded events.
async fn run_duel(folder: &Path) -> (f64, usize) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let archive = SqliteArchive::new(&folder.join("home"), clock.clone()).into_ports();
    let providers = Arc::new(TimedProviders::default());
    let briefs =
        RepositorySource { current_folder: folder.into(), tree_store: TreeStore::new(folder) };
    let catalog = formats_catalog::load(folder, folder);
    let app = App::new(AppParts {
        archive,
        providers: providers.clone(),
        briefs: Arc::new(briefs),
        evidence: Arc::new(CitationChecker::new(TreeStore::new(folder))),
        secrets: Secrets::new(Vec::new, []),
        clock,
        catalog,
        defaults: StartDefaults::default(),
    });
    let seat = |tool: &str| Some(tool.to_owned());
    let options = DebateOptions {
        proposer: seat("one"),
        challenger: seat("other"),
        judge: seat("third"),
        context: seat("none"),
        probe: Some(false),
        ..DebateOptions::default()
    };
    let policy = StartPolicy::unattended();
    let request = StartRequest::new("Is it fast?", options, policy, folder.into());
    let workspace = Workspace {
        root: folder.into(),
        state_file: Some(folder.join(".claude/debate/last-debate.json")),
        write_record: true,
    };
    // Opening the database is a cost per process, not per debate.
    app.archive().maintenance.health().await.unwrap();
    let started = Instant::now();
    let progress = StartProgress::discard();
    let mut run = app.start(request, &workspace, &progress).await.unwrap().run;
    assert_eq!(run.wait_idle().await.unwrap(), Step::Done);
    let wall_time = started.elapsed();
    let (stored, debate, _) = app.read(run.id()).await.unwrap();
    assert_eq!(Debate::turns(&debate).count(), 6);
    let flight_time = time_in_flight(&providers.0.lock().unwrap());
    ((wall_time.saturating_sub(flight_time)).as_secs_f64() * 1000.0, stored.events.len())
}

/// Time in which at least one turn was in flight.
fn time_in_flight(turns: &[(Instant, Instant)]) -> Duration {
    let mut turns = turns.to_vec();
    turns.sort();
    let mut total = Duration::ZERO;
    let mut covered_until: Option<Instant> = None;
    for (started, ended) in turns {
        let start = covered_until.map_or(started, |covered_until| started.max(covered_until));
        total += ended.saturating_duration_since(start);
        covered_until = Some(covered_until.map_or(ended, |covered_until| covered_until.max(ended)));
    }
    total
}

/// Time in ms of `count` bare transactions with rows of the same size and the same database config.
fn time_bare_commits(folder: &Path, count: usize) -> f64 {
    let database = rusqlite::Connection::open(folder.join("bare.db")).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (body TEXT);",
        )
        .unwrap();
    let body = "x".repeat(3000);
    let started = Instant::now();
    for _ in 0..count {
        database.execute("INSERT INTO t VALUES (?1)", [&body]).unwrap();
    }
    started.elapsed().as_secs_f64() * 1000.0
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
