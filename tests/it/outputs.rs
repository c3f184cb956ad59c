//! What the store writes besides the event log: tables (projections), state files, and the report
//! at the path the user chose.
use crate::players::{ask, failed, good, marks, said};
use crate::scene::{due, setup};
use debate_mcp::debate::body::Foul;
use debate_mcp::debate::{
    Body, Debate, DebateOutcome, Event, FailureKind, Role, Setup, Side, Step, VerdictFeedback,
    formats, next,
};
use debate_mcp::engine::{Archive, Clock, DebateQuery, DuplicatePolicy, Log, Workspace};
use debate_mcp::store::SqliteArchive;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

struct Still;

impl Clock for Still {
    fn now(&self) -> i64 {
        5
    }
}

struct Shelf {
    folder: TempDir,
    archive: SqliteArchive,
}

impl Shelf {
    fn new() -> Shelf {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("repository")).unwrap();
        let archive = SqliteArchive::new(&folder.path().join("home"), Arc::new(Still));
        Shelf { folder, archive }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn place(&self) -> Workspace {
        let state_file = Some(self.root().join("last-debate.json"));
        Workspace { root: self.root(), state_file, write_record: true }
    }

    fn opened(&self, setup: Setup) -> (Box<dyn Log>, Debate) {
        let log = self.archive.create(&setup, &[], &self.place(), DuplicatePolicy::Allow).unwrap();
        (log, Debate::open(setup).unwrap())
    }

    /// Plays a new debate to its end; turns of the phases in `down` time out.
    fn played(&self, setup: Setup, down: &[&str]) -> (Box<dyn Log>, Debate) {
        let (mut log, mut debate) = self.opened(setup);
        play(&mut *log, &mut debate, down, good);
        (log, debate)
    }

    fn tables(&self) -> Connection {
        Connection::open(self.folder.path().join("home/archive.db")).unwrap()
    }

    /// Result rows of a query as text, one line each.
    fn rows(&self, sql: &str) -> Vec<String> {
        let tables = self.tables();
        let mut statement = tables.prepare(sql).unwrap();
        let columns = statement.column_count();
        let line = |row: &rusqlite::Row<'_>| {
            let cell = |nth| match row.get_ref(nth).unwrap() {
                rusqlite::types::ValueRef::Null => "-".to_owned(),
                rusqlite::types::ValueRef::Integer(it) => it.to_string(),
                rusqlite::types::ValueRef::Real(it) => format!("{it:.2}"),
                other => other.as_str().unwrap().to_owned(),
            };
            Ok((0..columns).map(cell).collect::<Vec<_>>().join(" "))
        };
        statement.query_map([], line).unwrap().map(Result::unwrap).collect()
    }

    fn state(&self) -> Value {
        self.archive.flush_exports();
        let text = fs::read_to_string(self.root().join("last-debate.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn record(log: &mut dyn Log, debate: &mut Debate, event: Event) {
    log.append(std::slice::from_ref(&event)).unwrap();
    debate.apply(event).unwrap();
}

fn play(
    log: &mut dyn Log,
    debate: &mut Debate,
    down: &[&str],
    answers: impl Fn(&Debate, debate_mcp::debate::Cue) -> Body,
) {
    loop {
        let event = match next(debate) {
            Step::Done => return,
            Step::Close(outcome) => Event::Closed { outcome },
            Step::Hold { next, .. } => Event::Continued { before: next.position() },
            Step::Speak { .. } => ask(debate).unwrap_or_else(|| {
                let cue = due(debate)[0];
                if down.contains(&debate.setup().phase(cue).name.as_str()) {
                    return failed(debate, cue, FailureKind::TimedOut);
                }
                said(debate, cue, answers(debate, cue)).expect("nobody objects")
            }),
        };
        record(log, debate, event);
    }
}

fn reporting(output: &Path) -> Setup {
    Setup { output: Some(output.display().to_string()), ..setup(formats::research(), 1) }
}

#[test]
fn a_finished_report_is_written_where_it_is_wanted() {
    let shelf = Shelf::new();
    let path = shelf.root().join("docs/reports/tabs.md");
    let (mut log, mut debate) = shelf.opened(reporting(Path::new("docs/./x/../reports/tabs.md")));
    shelf.archive.flush_exports();
    assert!(!path.exists(), "nothing is finished yet");
    play(&mut *log, &mut debate, &["rebut"], good);
    shelf.archive.flush_exports();
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.starts_with("# Tabs or spaces?: Debate Research Report\n"));
    assert!(first.contains("Completion: degraded-success"));
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing temporary is left");
    // From now on the file is the user's, until there is a new report.
    fs::write(&path, "mine").unwrap();
    record(&mut *log, &mut debate, Event::Decided { text: "Tabs.".into() });
    record(&mut *log, &mut debate, Event::Kept { keep: false });
    shelf.archive.reindex().unwrap();
    shelf.archive.flush_exports();
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    let from = debate.reopen_cue().unwrap();
    record(&mut *log, &mut debate, Event::Reopened { from });
    play(&mut *log, &mut debate, &[], good);
    shelf.archive.flush_exports();
    let second = fs::read_to_string(&path).unwrap();
    assert!(second.contains("Completion: success") && second != first);
}

#[test]
fn a_report_goes_outside_only_where_there_is_a_folder() {
    let shelf = Shelf::new();
    let outside = shelf.folder.path().join("outside");
    let (_log, debate) = shelf.played(reporting(&outside.join("tabs.md")), &[]);
    shelf.archive.flush_exports();
    assert!(!outside.exists() && debate.outcome() == Some(&DebateOutcome::Completed));
    fs::create_dir(&outside).unwrap();
    shelf.archive.write_exports(&debate.setup().id).unwrap();
    shelf.archive.flush_exports();
    assert!(outside.join("tabs.md").exists(), "it is tried again");
    let up = Setup { id: "debate-up".into(), ..reporting(Path::new("../up/tabs.md")) };
    shelf.played(up, &[]);
    shelf.archive.flush_exports();
    assert!(!shelf.folder.path().join("up").exists());
    assert!(shelf.archive.health().unwrap().problems.is_empty());
}

#[cfg(unix)]
#[test]
fn a_repository_does_not_choose_where_a_report_goes() {
    let shelf = Shelf::new();
    let outside = shelf.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, shelf.root().join("docs")).unwrap();
    shelf.played(reporting(Path::new("docs/deep/tabs.md")), &[]);
    let other = Setup { id: "debate-two".into(), ..reporting(Path::new("docs/tabs.md")) };
    shelf.played(other, &[]);
    let gits = Setup { id: "debate-three".into(), ..reporting(Path::new(".git/config")) };
    shelf.played(gits, &[]);
    shelf.archive.flush_exports();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!shelf.root().join(".git").exists());
}

#[test]
fn what_was_aborted_or_cancelled_is_not_reported() {
    let shelf = Shelf::new();
    let setup = |id: &str| Setup { id: id.into(), ..reporting(Path::new("tabs.md")) };
    for (id, down) in [("debate-one", "investigate"), ("debate-two", "judge")] {
        shelf.played(setup(id), &[down]);
    }
    let (mut log, mut debate) = shelf.opened(setup("debate-three"));
    for _ in 0..12 {
        let event = ask(&debate).unwrap_or_else(|| {
            let cue = due(&debate)[0];
            said(&debate, cue, good(&debate, cue)).unwrap()
        });
        record(&mut *log, &mut debate, event);
    }
    record(&mut *log, &mut debate, Event::Cancelled { because: None });
    shelf.archive.flush_exports();
    assert!(!shelf.root().join("tabs.md").exists());
}

/// A tribunal with a panel of three judges and described listeners.
fn court() -> Setup {
    let mut setup = setup(formats::tribunal(), 7);
    let judge = setup.seats.iter().find(|seat| seat.role == Role::Judge).unwrap().clone();
    for name in ["judge-2", "judge-3"] {
        setup.seats.push(debate_mcp::debate::Seat { name: name.into(), ..judge.clone() });
    }
    for seat in setup.seats.iter_mut().filter(|seat| seat.role == Role::Audience) {
        seat.kind = "risk-averse".into();
        seat.stance = "A long preference.".into();
    }
    setup
}

fn scored(debate: &Debate, cue: debate_mcp::debate::Cue) -> Body {
    let mut body = good(debate, cue);
    if let Body::Score { pro, fouls, .. } = &mut body {
        let first = debate.seat(cue).name == "Kim";
        *pro = marks(if first { 90 } else { 60 });
        let (kind, note) = ("off_topic".into(), String::new());
        fouls.extend(first.then_some(Foul { side: Side::Con, kind, note }));
    }
    body
}

const SCORES: &str = "SELECT rounds.sequence, agents.name, logic, evidence, fouls, reliance
    FROM scores JOIN rounds ON rounds.id = round_id JOIN agents ON agents.id = agent_id
    ORDER BY 1, 2";
const PETITIONS: &str = "SELECT rounds.sequence, agents.name, intent, claim, novelty, confidence,
    admitted FROM petitions JOIN rounds ON rounds.id = round_id
    JOIN agents ON agents.id = agent_id ORDER BY 1, 2";

#[test]
fn tables_hold_what_a_court_did_and_can_be_rebuilt() {
    let shelf = Shelf::new();
    let (mut log, mut debate) = shelf.opened(court());
    play(&mut *log, &mut debate, &["vote"], scored);
    let scores = shelf.rows(SCORES);
    assert_eq!(scores[..2], ["1 Ada 7.00 7.00 0 0.00", "1 Bob 7.00 7.00 1 0.00"]);
    assert_eq!(scores.len(), 14);
    let petitions = shelf.rows(PETITIONS);
    assert_eq!(petitions[0], "3 Hal support_pro me new 0.50 1");
    assert_eq!(petitions[1], "3 Ivy support_pro me new 0.50 0");
    let stances = shelf.rows("SELECT DISTINCT stance FROM agents WHERE role = 'audience'");
    assert_eq!(stances, ["risk-averse"]);
    record(
        &mut *log,
        &mut debate,
        Event::Learned {
            proof: VerdictFeedback::Wrong,
            confidence: Some(61),
            note: "It broke.".into(),
        },
    );
    let all = [SCORES, PETITIONS, "SELECT confidence, proof FROM debates", "SELECT * FROM votes"];
    let before = all.map(|sql| shelf.rows(sql));
    shelf.archive.reindex().unwrap();
    assert_eq!(all.map(|sql| shelf.rows(sql)), before);
    let card = shelf.archive.list(&DebateQuery::default()).unwrap().remove(0);
    // The confidence at the time of the feedback is stored, not the current one.
    assert_eq!((card.confidence, card.proof.as_deref()), (Some(61), Some("wrong")));
    assert_eq!(debate_mcp::debate::verdict::judgment(&debate).unwrap().confidence, Some(50));
}

#[test]
fn what_is_taken_again_leaves_the_tables() {
    let shelf = Shelf::new();
    let (mut log, mut debate) = shelf.opened(court());
    // One judge's score times out in round 3. Reopening there removes all later rows.
    loop {
        let cue = due(&debate).first().copied();
        let lost = |cue: &debate_mcp::debate::Cue| {
            let phase = &debate.setup().phase(*cue).name;
            cue.round == 3 && phase == "score" && debate.seat(*cue).name == "judge-2"
        };
        let event = match next(&debate) {
            Step::Done => break,
            Step::Close(outcome) => Event::Closed { outcome },
            _ => ask(&debate).unwrap_or_else(|| match cue.filter(lost) {
                Some(cue) => failed(&debate, cue, FailureKind::TimedOut),
                None => said(&debate, cue.unwrap(), scored(&debate, cue.unwrap())).unwrap(),
            }),
        };
        record(&mut *log, &mut debate, event);
    }
    let third = |shelf: &Shelf| {
        let scores = shelf.rows(SCORES).into_iter();
        scores.filter(|row| row.starts_with("3 Ada")).collect::<Vec<_>>()
    };
    assert_eq!(third(&shelf), ["3 Ada 7.50 7.50 0 0.00"], "the mean of two");
    let from = debate.reopen_cue().unwrap();
    record(&mut *log, &mut debate, Event::Reopened { from });
    assert_eq!(third(&shelf), ["3 Ada 7.50 7.50 0 0.00"], "what was marked stays");
    assert!(shelf.rows(SCORES).iter().all(|row| !row.starts_with('4')));
    assert!(shelf.rows("SELECT * FROM votes").is_empty());
    assert_eq!(shelf.rows(PETITIONS)[0], "3 Hal support_pro me new 0.50 1");
    play(&mut *log, &mut debate, &[], scored);
    assert_eq!(third(&shelf), ["3 Ada 7.00 7.00 0 0.00"], "and of three");
    let before = [SCORES, PETITIONS].map(|sql| shelf.rows(sql));
    shelf.archive.reindex().unwrap();
    assert_eq!([SCORES, PETITIONS].map(|sql| shelf.rows(sql)), before);
}

#[test]
fn an_archive_of_the_first_version_gains_what_is_new() {
    let shelf = Shelf::new();
    let home = shelf.folder.path().join("home");
    fs::create_dir_all(&home).unwrap();
    for file in ["archive.db", "key"] {
        fs::copy(Path::new("tests/golden/v1").join(file), home.join(file)).unwrap();
    }
    let ruled = |shelf: &Shelf| {
        let cards = shelf.archive.list(&DebateQuery::default()).unwrap();
        cards.into_iter().find(|card| card.winner.is_some()).unwrap()
    };
    assert_eq!((ruled(&shelf).confidence, ruled(&shelf).proof), (None, None));
    assert_eq!(shelf.archive.health().unwrap().version, 3);
    shelf.archive.reindex().unwrap();
    assert!(ruled(&shelf).confidence.is_some());
}

#[test]
fn a_state_file_names_the_two_who_talked_and_no_winner() {
    let shelf = Shelf::new();
    let mut talk = setup(formats::dialectic(), 2);
    talk.seats[3].voice = crate::scene::model("codex");
    let (mut log, mut debate) = shelf.opened(talk);
    while next(&debate).first_cue().is_some_and(|cue| cue.round < 3) {
        let event = ask(&debate).unwrap_or_else(|| {
            let cue = due(&debate)[0];
            said(&debate, cue, good(&debate, cue)).unwrap()
        });
        record(&mut *log, &mut debate, event);
    }
    record(&mut *log, &mut debate, Event::Concluded { because: None });
    play(&mut *log, &mut debate, &[], good);
    let state = shelf.state();
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
    let card = shelf.archive.list(&DebateQuery::default()).unwrap().remove(0);
    assert_eq!(card.challenger.as_deref(), Some("codex"));
    drop(log);
    let mut research = Setup { id: "debate-two".into(), ..setup(formats::research(), 1) };
    research.seats[5].voice = crate::scene::model("codex");
    shelf.played(research, &[]);
    let state = shelf.state();
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
