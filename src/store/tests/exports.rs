//! What the store writes besides the event log: tables (projections), state files, and the report
//! at the path the user chose.
use crate::debate::body::Foul;
use crate::debate::{
    Body, Debate, DebateOutcome, Event, FailureKind, Role, Setup, Side, Step, VerdictFeedback,
    formats, next,
};
use crate::engine::{ArchivePorts, DebateQuery, DuplicatePolicy, Log, Workspace};
use crate::store::SqliteArchive;
use crate::test_support::debate_fixture::{debate_setup, due_cues};
use crate::test_support::manual_clock::ManualClock;
use crate::test_support::simulated_players::{
    ask_due_cues, equal_marks, failed_event, reply_event, valid_reply,
};
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct ArchiveFixture {
    folder: TempDir,
    archive: ArchivePorts,
}

impl ArchiveFixture {
    fn new() -> ArchiveFixture {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("repository")).unwrap();
        let archive = SqliteArchive::new(&folder.path().join("home"), ManualClock::new(5));
        let archive = archive.into_ports();
        ArchiveFixture { folder, archive }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn workspace(&self) -> Workspace {
        let state_file = Some(self.root().join("last-debate.json"));
        Workspace { root: self.root(), state_file, write_record: true }
    }

    async fn create(&self, setup: Setup) -> (Box<dyn Log>, Debate) {
        let log = self
            .archive
            .events
            .create(&setup, &[], &self.workspace(), DuplicatePolicy::Allow)
            .await
            .unwrap();
        (log, Debate::open(setup).unwrap())
    }

    /// Plays a new debate to its end; turns of the phases in `down` time out.
    async fn create_and_play(
        &self,
        setup: Setup,
        failed_phases: &[&str],
    ) -> (Box<dyn Log>, Debate) {
        let (mut log, mut debate) = self.create(setup).await;
        play(&mut *log, &mut debate, failed_phases, valid_reply).await;
        (log, debate)
    }

    fn open_database(&self) -> Connection {
        Connection::open(self.folder.path().join("home/archive.db")).unwrap()
    }

    /// Result rows of a query as text, one line each.
    fn query_rows(&self, sql: &str) -> Vec<String> {
        let database = self.open_database();
        let mut statement = database.prepare(sql).unwrap();
        let columns = statement.column_count();
        let format_row = |row: &rusqlite::Row<'_>| {
            let cell = |column| match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Null => "-".to_owned(),
                rusqlite::types::ValueRef::Integer(it) => it.to_string(),
                rusqlite::types::ValueRef::Real(it) => format!("{it:.2}"),
                other => other.as_str().unwrap().to_owned(),
            };
            Ok((0..columns).map(cell).collect::<Vec<_>>().join(" "))
        };
        statement.query_map([], format_row).unwrap().map(Result::unwrap).collect()
    }

    fn read_state_file(&self) -> Value {
        self.archive.files.flush_exports();
        let text = fs::read_to_string(self.root().join("last-debate.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

async fn append_and_apply(log: &mut dyn Log, debate: &mut Debate, event: Event) {
    log.append(std::slice::from_ref(&event)).await.unwrap();
    debate.apply(event).unwrap();
}

async fn play(
    log: &mut dyn Log,
    debate: &mut Debate,
    failed_phases: &[&str],
    reply_for: impl Fn(&Debate, crate::debate::Cue) -> Body,
) {
    loop {
        let event = match next(debate) {
            Step::Done => return,
            Step::Close(outcome) => Event::Closed { outcome },
            Step::Hold { next, .. } => Event::Continued { before: next.position() },
            Step::Speak { .. } => ask_due_cues(debate).unwrap_or_else(|| {
                let cue = due_cues(debate)[0];
                if failed_phases.contains(&debate.setup().phase(cue).name.as_str()) {
                    return failed_event(debate, cue, FailureKind::TimedOut);
                }
                reply_event(debate, cue, reply_for(debate, cue)).expect("the reply breaks no rule")
            }),
        };
        append_and_apply(log, debate, event).await;
    }
}

fn research_with_output(output: &Path) -> Setup {
    Setup { output: Some(output.display().to_string()), ..debate_setup(formats::research(), 1) }
}

#[tokio::test]
async fn finished_report_is_written_to_the_output_path() {
    let fixture = ArchiveFixture::new();
    let path = fixture.root().join("docs/reports/tabs.md");
    let (mut log, mut debate) =
        fixture.create(research_with_output(Path::new("docs/./x/../reports/tabs.md"))).await;
    fixture.archive.files.flush_exports();
    assert!(!path.exists(), "the debate is not finished");
    play(&mut *log, &mut debate, &["rebut"], valid_reply).await;
    fixture.archive.files.flush_exports();
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.starts_with("# Tabs or spaces?: Debate Research Report\n"));
    assert!(first.contains("Completion: degraded-success"));
    let entries: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(entries.len(), 1, "no temporary file is left");
    // The user's edits stay until there is a new report.
    fs::write(&path, "mine").unwrap();
    append_and_apply(&mut *log, &mut debate, Event::Decided { text: "Tabs.".into() }).await;
    append_and_apply(&mut *log, &mut debate, Event::Kept { keep: false }).await;
    fixture.archive.reindex().await.unwrap();
    fixture.archive.files.flush_exports();
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    let from = debate.reopen_cue().unwrap();
    append_and_apply(&mut *log, &mut debate, Event::Reopened { from }).await;
    play(&mut *log, &mut debate, &[], valid_reply).await;
    fixture.archive.files.flush_exports();
    let second = fs::read_to_string(&path).unwrap();
    assert!(second.contains("Completion: success") && second != first);
}

#[tokio::test]
async fn report_outside_needs_an_existing_folder() {
    let fixture = ArchiveFixture::new();
    let outside = fixture.folder.path().join("outside");
    let (_log, debate) =
        fixture.create_and_play(research_with_output(&outside.join("tabs.md")), &[]).await;
    fixture.archive.files.flush_exports();
    assert!(!outside.exists() && debate.outcome() == Some(&DebateOutcome::Completed));
    fs::create_dir(&outside).unwrap();
    fixture.archive.files.schedule_export(&debate.setup().id);
    fixture.archive.files.flush_exports();
    assert!(outside.join("tabs.md").exists(), "the export is tried again");
    let setup_above_root =
        Setup { id: "debate-up".into(), ..research_with_output(Path::new("../up/tabs.md")) };
    fixture.create_and_play(setup_above_root, &[]).await;
    fixture.archive.files.flush_exports();
    assert!(!fixture.folder.path().join("up").exists());
    assert!(fixture.archive.maintenance.health().await.unwrap().problems.is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn report_follows_no_symlinks_and_avoids_git() {
    let fixture = ArchiveFixture::new();
    let outside = fixture.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, fixture.root().join("docs")).unwrap();
    fixture.create_and_play(research_with_output(Path::new("docs/deep/tabs.md")), &[]).await;
    let second_setup =
        Setup { id: "debate-two".into(), ..research_with_output(Path::new("docs/tabs.md")) };
    fixture.create_and_play(second_setup, &[]).await;
    let git_setup =
        Setup { id: "debate-three".into(), ..research_with_output(Path::new(".git/config")) };
    fixture.create_and_play(git_setup, &[]).await;
    fixture.archive.files.flush_exports();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!fixture.root().join(".git").exists());
}

#[tokio::test]
async fn aborted_or_cancelled_debate_gets_no_report() {
    let fixture = ArchiveFixture::new();
    let setup = |id: &str| Setup { id: id.into(), ..research_with_output(Path::new("tabs.md")) };
    for (id, failed_phase) in [("debate-one", "investigate"), ("debate-two", "judge")] {
        fixture.create_and_play(setup(id), &[failed_phase]).await;
    }
    let (mut log, mut debate) = fixture.create(setup("debate-three")).await;
    for _ in 0..12 {
        let event = ask_due_cues(&debate).unwrap_or_else(|| {
            let cue = due_cues(&debate)[0];
            reply_event(&debate, cue, valid_reply(&debate, cue)).unwrap()
        });
        append_and_apply(&mut *log, &mut debate, event).await;
    }
    append_and_apply(&mut *log, &mut debate, Event::Cancelled { because: None }).await;
    fixture.archive.files.flush_exports();
    assert!(!fixture.root().join("tabs.md").exists());
}

/// A tribunal with a panel of three judges and described listeners.
fn tribunal_with_panel() -> Setup {
    let mut setup = debate_setup(formats::tribunal(), 7);
    let judge = setup.seats.iter().find(|seat| seat.role == Role::Judge).unwrap().clone();
    for name in ["judge-2", "judge-3"] {
        setup.seats.push(crate::debate::Seat { name: name.into(), ..judge.clone() });
    }
    for seat in setup.seats.iter_mut().filter(|seat| seat.role == Role::Audience) {
        seat.kind = "risk-averse".into();
        seat.stance = "A long preference.".into();
    }
    setup
}

fn scored_reply(debate: &Debate, cue: crate::debate::Cue) -> Body {
    let mut body = valid_reply(debate, cue);
    if let Body::Score { pro, fouls, .. } = &mut body {
        let is_first_judge = debate.seat(cue).name == "Kim";
        *pro = equal_marks(if is_first_judge { 90 } else { 60 });
        let (kind, note) = ("off_topic".into(), String::new());
        fouls.extend(is_first_judge.then_some(Foul { side: Side::Con, kind, note }));
    }
    body
}

const SCORES_SQL: &str = "SELECT rounds.sequence, agents.name, logic, evidence, fouls, reliance
    FROM scores JOIN rounds ON rounds.id = round_id JOIN agents ON agents.id = agent_id
    ORDER BY 1, 2";
const PETITIONS_SQL: &str =
    "SELECT rounds.sequence, agents.name, intent, claim, novelty, confidence,
    admitted FROM petitions JOIN rounds ON rounds.id = round_id
    JOIN agents ON agents.id = agent_id ORDER BY 1, 2";

#[tokio::test]
async fn tribunal_tables_survive_a_reindex() {
    let fixture = ArchiveFixture::new();
    let (mut log, mut debate) = fixture.create(tribunal_with_panel()).await;
    play(&mut *log, &mut debate, &["vote"], scored_reply).await;
    let scores = fixture.query_rows(SCORES_SQL);
    assert_eq!(scores[..2], ["1 Ada 7.00 7.00 0 0.00", "1 Bob 7.00 7.00 1 0.00"]);
    assert_eq!(scores.len(), 14);
    let petitions = fixture.query_rows(PETITIONS_SQL);
    assert_eq!(petitions[0], "3 Hal support_pro me new 0.50 1");
    assert_eq!(petitions[1], "3 Ivy support_pro me new 0.50 0");
    let stances = fixture.query_rows("SELECT DISTINCT stance FROM agents WHERE role = 'audience'");
    assert_eq!(stances, ["risk-averse"]);
    append_and_apply(
        &mut *log,
        &mut debate,
        Event::Learned {
            proof: VerdictFeedback::Wrong,
            confidence: Some(61),
            note: "It broke.".into(),
        },
    )
    .await;
    let queries =
        [SCORES_SQL, PETITIONS_SQL, "SELECT confidence, proof FROM debates", "SELECT * FROM votes"];
    let before = queries.map(|sql| fixture.query_rows(sql));
    fixture.archive.reindex().await.unwrap();
    assert_eq!(queries.map(|sql| fixture.query_rows(sql)), before);
    let card = fixture.archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    // The confidence at the time of the feedback is stored, not the current one.
    assert_eq!((card.confidence, card.proof.as_deref()), (Some(61), Some("wrong")));
    assert_eq!(crate::debate::verdict::judgment(&debate).unwrap().confidence, Some(50));
}

#[tokio::test]
async fn reopened_turns_are_removed_from_the_tables() {
    let fixture = ArchiveFixture::new();
    let (mut log, mut debate) = fixture.create(tribunal_with_panel()).await;
    // One judge's score times out in round 3. Reopening there removes all later rows.
    loop {
        let cue = due_cues(&debate).first().copied();
        let is_lost = |cue: &crate::debate::Cue| {
            let phase = &debate.setup().phase(*cue).name;
            cue.round == 3 && phase == "score" && debate.seat(*cue).name == "judge-2"
        };
        let event = match next(&debate) {
            Step::Done => break,
            Step::Close(outcome) => Event::Closed { outcome },
            _ => ask_due_cues(&debate).unwrap_or_else(|| match cue.filter(is_lost) {
                Some(cue) => failed_event(&debate, cue, FailureKind::TimedOut),
                None => {
                    reply_event(&debate, cue.unwrap(), scored_reply(&debate, cue.unwrap())).unwrap()
                }
            }),
        };
        append_and_apply(&mut *log, &mut debate, event).await;
    }
    let round_three_scores = |fixture: &ArchiveFixture| {
        let scores = fixture.query_rows(SCORES_SQL).into_iter();
        scores.filter(|row| row.starts_with("3 Ada")).collect::<Vec<_>>()
    };
    assert_eq!(round_three_scores(&fixture), ["3 Ada 7.50 7.50 0 0.00"], "mean of two judges");
    let from = debate.reopen_cue().unwrap();
    append_and_apply(&mut *log, &mut debate, Event::Reopened { from }).await;
    assert_eq!(round_three_scores(&fixture), ["3 Ada 7.50 7.50 0 0.00"], "earlier scores stay");
    assert!(fixture.query_rows(SCORES_SQL).iter().all(|row| !row.starts_with('4')));
    assert!(fixture.query_rows("SELECT * FROM votes").is_empty());
    assert_eq!(fixture.query_rows(PETITIONS_SQL)[0], "3 Hal support_pro me new 0.50 1");
    play(&mut *log, &mut debate, &[], scored_reply).await;
    assert_eq!(round_three_scores(&fixture), ["3 Ada 7.00 7.00 0 0.00"], "mean of three judges");
    let before = [SCORES_SQL, PETITIONS_SQL].map(|sql| fixture.query_rows(sql));
    fixture.archive.reindex().await.unwrap();
    assert_eq!([SCORES_SQL, PETITIONS_SQL].map(|sql| fixture.query_rows(sql)), before);
}

#[tokio::test]
async fn version_1_archive_is_migrated() {
    let fixture = ArchiveFixture::new();
    let home = fixture.folder.path().join("home");
    fs::create_dir_all(&home).unwrap();
    for file in ["archive.db", "key"] {
        fs::copy(Path::new("tests/golden/v1").join(file), home.join(file)).unwrap();
    }
    let decided_card = async |fixture: &ArchiveFixture| {
        let cards = fixture.archive.queries.list(&DebateQuery::default()).await.unwrap();
        cards.into_iter().find(|card| card.winner.is_some()).unwrap()
    };
    assert_eq!(
        (decided_card(&fixture).await.confidence, decided_card(&fixture).await.proof),
        (None, None)
    );
    assert_eq!(fixture.archive.maintenance.health().await.unwrap().version, 3);
    fixture.archive.reindex().await.unwrap();
    assert!(decided_card(&fixture).await.confidence.is_some());
}

#[tokio::test]
async fn state_file_without_verdict_has_no_winner() {
    let fixture = ArchiveFixture::new();
    let mut dialectic = debate_setup(formats::dialectic(), 2);
    dialectic.seats[3].voice = crate::test_support::debate_fixture::model_participant("codex");
    let (mut log, mut debate) = fixture.create(dialectic).await;
    while next(&debate).first_cue().is_some_and(|cue| cue.round < 3) {
        let event = ask_due_cues(&debate).unwrap_or_else(|| {
            let cue = due_cues(&debate)[0];
            reply_event(&debate, cue, valid_reply(&debate, cue)).unwrap()
        });
        append_and_apply(&mut *log, &mut debate, event).await;
    }
    append_and_apply(&mut *log, &mut debate, Event::Concluded { because: None }).await;
    play(&mut *log, &mut debate, &[], valid_reply).await;
    let state = fixture.read_state_file();
    assert_eq!(
        (&state["proposer"]["tool"], &state["challenger"]["tool"]),
        (&"gemini".into(), &"codex".into())
    );
    assert_eq!(
        (&state["rounds_completed"], &state["exchanges"][1]["role"]),
        (&2.into(), &"sub agent".into())
    );
    let verdict = &state["verdict"];
    assert_eq!((&verdict["winner"], &verdict["decided"]), (&Value::Null, &"partial".into()));
    assert_eq!(verdict["reasoning"], "- Indentation is a habit.");
    let card = fixture.archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    assert_eq!(card.challenger.as_deref(), Some("codex"));
    drop(log);
    let mut research = Setup { id: "debate-two".into(), ..debate_setup(formats::research(), 1) };
    research.seats[5].voice = crate::test_support::debate_fixture::model_participant("codex");
    fixture.create_and_play(research, &[]).await;
    let state = fixture.read_state_file();
    assert_eq!(
        (&state["proposer"]["tool"], &state["challenger"]["tool"]),
        (&"gemini".into(), &"codex".into())
    );
    assert_eq!(state["exchanges"][0]["role"], "Eli");
    let verdict = &state["verdict"];
    assert_eq!((&verdict["winner"], &verdict["reasoning"]), (&Value::Null, &"Tabs.".into()));
    assert_eq!(
        (&verdict["recommendation"], &verdict["agreements"][0]),
        (&"Use tabs.".into(), &"Tabs.".into())
    );
}
