//! Contract of `DebateQueries` and `ArchiveMaintenance`.
use super::{
    ContractStore, create, play_to_end, remark, setup_with_id, setup_with_topic, workspace,
};
use crate::debate::{
    Body, Debate, Event, FailureKind, HoldPoint, ReviewedChange, Setup, Status, formats, next,
};
use crate::engine::{
    ArchiveError, ArchivePorts, DebateQuery, DuplicatePolicy, LeaseMode, Log, SearchHit,
};
use crate::test_support::debate_fixture::{claim, debate_setup, due_cues};
use crate::test_support::manual_clock::ManualClock;
use crate::test_support::simulated_players::{
    ask_due_cues, failed_event, reply_event, valid_reply,
};

contract_tests!(
    list_has_the_last_updated_debate_first,
    list_has_at_most_the_limit,
    every_filter_of_a_list_must_match,
    review_and_game_are_found_by_their_keys,
    card_describes_the_debate,
    abbreviated_id_is_a_unique_prefix_or_suffix,
    search_finds_topics_and_turns,
    search_finds_chinese_words,
    search_takes_wildcards_literally,
    search_is_filtered_and_limited,
    topics_are_found_before_turns_and_new_turns_before_old,
    reopened_turns_are_not_found,
    reindex_reports_and_keeps_everything,
    archive_is_healthy,
);

async fn list(archive: &ArchivePorts, query: DebateQuery) -> Vec<String> {
    let cards = archive.queries.list(&query).await.unwrap();
    cards.into_iter().map(|card| card.id).collect()
}

async fn search(archive: &ArchivePorts, words: &str) -> Vec<SearchHit> {
    archive.queries.search(words, &DebateQuery::default()).await.unwrap()
}

async fn found_ids(archive: &ArchivePorts, words: &str) -> Vec<String> {
    search(archive, words).await.into_iter().map(|hit| hit.id).collect()
}

/// Creates a debate and records a first speech with this text.
async fn create_with_speech(archive: &ArchivePorts, setup: &Setup, text: &str) -> Box<dyn Log> {
    let mut debate = Debate::open(setup.clone()).unwrap();
    let mut log = create(archive, setup).await;
    let asked = ask_due_cues(&debate).unwrap();
    debate.apply(asked.clone()).unwrap();
    let cue = due_cues(&debate)[0];
    let mut body = valid_reply(&debate, cue);
    if let Body::Speech { text: speech_text, .. } = &mut body {
        *speech_text = format!("{text} {speech_text}");
    }
    let spoke = reply_event(&debate, cue, body).unwrap();
    log.append(&[asked, spoke]).await.unwrap();
    log
}

async fn list_has_the_last_updated_debate_first(store: ContractStore) {
    let clock = ManualClock::new(10);
    let archive = store.process_with(&clock);
    let mut first_log = create(&archive, &setup_with_id("first")).await;
    let _second_log = create(&archive, &setup_with_id("second")).await;
    clock.set(20);
    let _third_log = create(&archive, &setup_with_id("third")).await;
    // Of debates with the same time, the one created last comes first.
    assert_eq!(list(&archive, DebateQuery::default()).await, ["third", "second", "first"]);
    clock.set(30);
    first_log.append(&[remark("Again.")]).await.unwrap();
    assert_eq!(list(&archive, DebateQuery::default()).await, ["first", "third", "second"]);
}

async fn list_has_at_most_the_limit(store: ContractStore) {
    let archive = store.process();
    for number in 1..=3 {
        drop(create(&archive, &setup_with_id(&format!("debate-{number}"))).await);
    }
    for (limit, expected) in [(0, 0), (1, 1), (3, 3), (4, 3), (usize::MAX, 3)] {
        let query = DebateQuery { limit: Some(limit), ..DebateQuery::default() };
        assert_eq!(list(&archive, query).await.len(), expected, "limit {limit}");
    }
}

async fn every_filter_of_a_list_must_match(store: ContractStore) {
    let archive = store.process();
    let mut over = Debate::open(setup_with_id("over")).unwrap();
    let mut log = create(&archive, over.setup()).await;
    play_to_end(&mut *log, &mut over).await;
    drop(create(&archive, &setup_with_id("running")).await);
    let held = Setup { holds: vec![HoldPoint::Start], ..setup_with_id("held") };
    let mut log = create(&archive, &held).await;
    log.append(&[remark("Wait.")]).await.unwrap();
    let arena = Setup { id: "arena".into(), ..debate_setup(formats::arena(), 1) };
    let elsewhere = workspace("/elsewhere");
    drop(archive.events.create(&arena, &[], &elsewhere, DuplicatePolicy::Allow).await.unwrap());
    let query = DebateQuery::default;
    let root = Some(elsewhere.root.clone());
    let status = |status| DebateQuery { status: Some(status), ..query() };
    for (query, expected) in [
        (query(), vec!["arena", "held", "over", "running"]),
        (DebateQuery { root: root.clone(), ..query() }, vec!["arena"]),
        (DebateQuery { format: Some("arena".into()), ..query() }, vec!["arena"]),
        (DebateQuery { format: Some("duel".into()), root, ..query() }, vec![]),
        (DebateQuery { unfinished: true, ..query() }, vec!["arena", "held", "running"]),
        (status(Status::Completed), vec!["over"]),
        (status(Status::Paused), vec!["held"]),
        (status(Status::InProgress), vec!["arena", "running"]),
        (status(Status::Failed), vec![]),
        (DebateQuery { unfinished: true, ..status(Status::Completed) }, vec![]),
    ] {
        let mut ids = list(&archive, query.clone()).await;
        ids.sort();
        assert_eq!(ids, expected, "{query:?}");
    }
}

async fn review_and_game_are_found_by_their_keys(store: ContractStore) {
    let archive = store.process();
    let review = |id: &str, key: &str, subject: &str| Setup {
        proposed: Some(ReviewedChange {
            key: key.into(),
            subject: subject.into(),
            ..ReviewedChange::default()
        }),
        ..setup_with_id(id)
    };
    let game = |id: &str, tournament: &str, key: &str| Setup {
        terms: [("tournament", tournament), ("game", key)]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        ..setup_with_id(id)
    };
    for setup in [
        review("old-review", "k1", "main"),
        review("new-review", "k2", "main"),
        game("game-1", "cup", "1"),
        game("game-2", "cup", "2"),
        game("game-3", "league", "1"),
        setup_with_id("neither"),
    ] {
        drop(create(&archive, &setup).await);
    }
    let query = DebateQuery::default;
    let named = |name: &str| Some(name.to_owned());
    for (query, expected) in [
        (DebateQuery { review_key: named("k1"), ..query() }, vec!["old-review"]),
        (DebateQuery { review_key: named("k3"), ..query() }, vec![]),
        (
            DebateQuery { review_subject: named("main"), ..query() },
            vec!["new-review", "old-review"],
        ),
        (DebateQuery { tournament: named("cup"), ..query() }, vec!["game-2", "game-1"]),
        (DebateQuery { game_key: named("1"), ..query() }, vec!["game-3", "game-1"]),
        (DebateQuery { tournament: named("cup"), game_key: named("1"), ..query() }, vec!["game-1"]),
    ] {
        assert_eq!(list(&archive, query.clone()).await, expected, "{query:?}");
    }
}

async fn card_describes_the_debate(store: ContractStore) {
    let archive = store.process();
    let mut debate = Debate::open(setup_with_topic("debate-one", "Tabs?")).unwrap();
    let mut log = create(&archive, debate.setup()).await;
    let card = archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    assert_eq!((card.topic.as_str(), card.format.as_str()), ("Tabs?", "duel"));
    assert_eq!(card.root, "/repository");
    assert_eq!((card.status, card.winner), (Status::InProgress, None));
    play_to_end(&mut *log, &mut debate).await;
    let card = archive.queries.list(&DebateQuery::default()).await.unwrap().remove(0);
    assert_eq!(card.proposer.as_deref(), Some("claude"));
    assert_eq!(card.challenger.as_deref(), Some("codex"));
    assert_eq!((card.status, card.winner.as_deref()), (Status::Completed, Some("claude")));
    assert!(card.confidence.is_some() && card.proof.is_none());
}

async fn abbreviated_id_is_a_unique_prefix_or_suffix(store: ContractStore) {
    let archive = store.process();
    for id in ["debate-1-aa", "debate-1-ab", "debate-2-ac", "debate-2"] {
        drop(create(&archive, &setup_with_id(id)).await);
    }
    for (abbreviation, expected) in [
        ("debate-1-aa", "debate-1-aa"),
        ("ab", "debate-1-ab"),
        ("debate-2-", "debate-2-ac"),
        // The exact id is also a prefix of another one.
        ("debate-2", "debate-2"),
    ] {
        assert_eq!(archive.queries.resolve_id(abbreviation).await.unwrap(), expected);
    }
    let error = archive.queries.resolve_id("debate-1").await.unwrap_err();
    assert!(matches!(error, ArchiveError::AmbiguousId(_, 2)), "{error:?}");
    for abbreviation in ["", "bate-1", "x", "%", "debate_1-aa", "AB"] {
        let error = archive.queries.resolve_id(abbreviation).await.unwrap_err();
        assert!(matches!(error, ArchiveError::UnknownDebate(_)), "{abbreviation}: {error:?}");
    }
}

async fn search_finds_topics_and_turns(store: ContractStore) {
    let clock = ManualClock::new(1);
    let archive = store.process_with(&clock);
    let setup = setup_with_topic("debate-one", "Should we rewrite the scheduler?");
    drop(create_with_speech(&archive, &setup, "Queues starve under load.").await);
    clock.set(2);
    drop(create(&archive, &setup_with_topic("debate-two", "Rewrite the parser?")).await);
    assert_eq!(found_ids(&archive, "rewrite").await, ["debate-two", "debate-one"]);
    assert_eq!(found_ids(&archive, "REWRITE scheduler").await, ["debate-one"]);
    let hit = search(&archive, "queues STARVE").await.remove(0);
    assert_eq!((hit.id.as_str(), hit.seat.as_deref()), ("debate-one", Some("Ada")));
    assert_eq!((hit.turn.as_deref(), hit.round), (Some("0.1.0.0"), Some(1)));
    assert!(hit.excerpt.contains("Queues starve under load."), "{}", hit.excerpt);
    assert_eq!(hit.topic, "Should we rewrite the scheduler?");
    for words in ["queues parser", "absent", "", "  "] {
        assert_eq!(found_ids(&archive, words).await, [""; 0], "{words}");
    }
}

async fn search_finds_chinese_words(store: ContractStore) {
    let archive = store.process();
    let setup = setup_with_topic("debate-one", "数据库要不要分片？");
    drop(create_with_speech(&archive, &setup, "单个文件的锁竞争很严重。").await);
    // Two characters are shorter than the index's trigrams.
    for words in ["分片", "数据库", "锁竞争", "竞争", "锁", "文件 严重"] {
        assert_eq!(found_ids(&archive, words).await, ["debate-one"], "{words}");
    }
    assert_eq!(found_ids(&archive, "缓存").await, [""; 0]);
}

async fn search_takes_wildcards_literally(store: ContractStore) {
    let archive = store.process();
    let setup = setup_with_topic("debate-one", "Is 100% coverage worth it?");
    drop(create_with_speech(&archive, &setup, "The field max_size matters.").await);
    drop(create(&archive, &setup_with_topic("debate-two", "Is 100 lines too long?")).await);
    for (words, expected) in
        [("100%", 1), ("100", 2), ("max_size", 1), ("max%size", 0), ("maxxsize", 0), ("\\", 0)]
    {
        assert_eq!(found_ids(&archive, words).await.len(), expected, "{words}");
    }
}

async fn search_is_filtered_and_limited(store: ContractStore) {
    let archive = store.process();
    for number in 1..=3 {
        drop(create(&archive, &setup_with_topic(&format!("debate-{number}"), "Tabs?")).await);
    }
    let arena = Setup { id: "arena".into(), ..debate_setup(formats::arena(), 1) };
    drop(create(&archive, &arena).await);
    for (query, expected) in [
        (DebateQuery { limit: Some(2), ..DebateQuery::default() }, 2),
        (DebateQuery { format: Some("arena".into()), ..DebateQuery::default() }, 1),
        (DebateQuery { status: Some(Status::Completed), ..DebateQuery::default() }, 0),
    ] {
        let hits = archive.queries.search("tabs", &query).await.unwrap();
        assert_eq!(hits.len(), expected, "{query:?}");
    }
}

async fn topics_are_found_before_turns_and_new_turns_before_old(store: ContractStore) {
    let archive = store.process();
    for (id, topic) in [("first", "Locks?"), ("second", "Files?"), ("third", "Threads?")] {
        let text = if id == "third" { "Quite so." } else { "Mutex everywhere." };
        drop(create_with_speech(&archive, &setup_with_topic(id, topic), text).await);
    }
    drop(create(&archive, &setup_with_topic("fourth", "Mutex or not?")).await);
    assert_eq!(found_ids(&archive, "mutex").await, ["fourth", "second", "first"]);
}

/// Plays a debate whose defences fail, so that it can be reopened from there.
async fn play_with_failed_defence(log: &mut dyn Log, debate: &mut Debate) {
    while next(debate) != crate::debate::Step::Done {
        let event = match due_cues(debate).first() {
            Some(cue) if !debate.was_asked(*cue) => ask_due_cues(debate).unwrap(),
            Some(cue) if debate.setup().phase(*cue).name == "defend" => {
                failed_event(debate, *cue, FailureKind::TimedOut)
            }
            _ => super::valid_event(debate).unwrap(),
        };
        log.append(std::slice::from_ref(&event)).await.unwrap();
        debate.apply(event).unwrap();
    }
}

async fn reopened_turns_are_not_found(store: ContractStore) {
    let archive = store.process();
    let mut debate = Debate::open(setup_with_id("debate-one")).unwrap();
    let mut log = create(&archive, debate.setup()).await;
    play_with_failed_defence(&mut *log, &mut debate).await;
    let turn_count = async || {
        // Every reply of these players has the text of a claim or "so".
        let hits = search(&archive, "o").await;
        let mut turns: Vec<String> = hits.into_iter().filter_map(|hit| hit.turn).collect();
        turns.sort();
        turns
    };
    let before = turn_count().await;
    let from = debate.failed_turns().next().unwrap().0;
    let reopened = Event::Reopened { from };
    log.append(std::slice::from_ref(&reopened)).await.unwrap();
    debate.apply(reopened).unwrap();
    let after = turn_count().await;
    assert!(after.len() < before.len(), "{before:?}");
    let remaining: Vec<String> = debate.replies_in(..).map(|(cue, _)| cue.to_string()).collect();
    assert!(after.iter().all(|turn| remaining.contains(turn)), "{after:?}");
}

async fn reindex_reports_and_keeps_everything(store: ContractStore) {
    let clock = ManualClock::new(1);
    let archive = store.process_with(&clock);
    let mut debate = Debate::open(setup_with_id("played")).unwrap();
    let mut log = create(&archive, debate.setup()).await;
    let events = play_to_end(&mut *log, &mut debate).await;
    let replies = events.iter().filter(|event| matches!(event, Event::Spoke { .. })).count();
    drop(log);
    clock.set(2);
    drop(create_with_speech(&archive, &setup_with_id("begun"), &claim("P1").text).await);
    let snapshot = async || {
        let cards = archive.queries.list(&DebateQuery::default()).await.unwrap();
        let turns = search(&archive, "o").await.len();
        (serde_json::to_value(&cards).unwrap(), turns)
    };
    let before = snapshot().await;
    let report = archive.reindex().await.unwrap();
    assert_eq!((report.debates, report.events), (2, events.len() + 2));
    assert_eq!((report.messages, report.flawed.len()), (replies + 1, 0));
    assert_eq!(report.ids, ["played", "begun"], "the last updated one last");
    assert_eq!(snapshot().await, before);
}

async fn archive_is_healthy(store: ContractStore) {
    let archive = store.process();
    let health = archive.maintenance.health().await.unwrap();
    assert_eq!((health.debates, health.problems.len()), (0, 0));
    drop(create(&archive, &setup_with_id("debate-one")).await);
    let workspace = workspace("/repository");
    let mut opened =
        archive.events.open("debate-one", &workspace, LeaseMode::IfFree).await.unwrap();
    opened.log.append(&[remark("Well.")]).await.unwrap();
    let health = archive.maintenance.health().await.unwrap();
    assert_eq!((health.debates, health.problems.len()), (1, 0));
}
