//! Exact limits of the MCP server: sizes of lists, intervals and timeouts. The server runs in this
//! process, in virtual time.
use crate::debate_fixture::debate_setup;
use crate::mcp_wait::{InProcessClient, slow_debate_args};
use crate::memory_archive::MemoryArchive;
use debate_mcp::debate::{Setup, formats};
use debate_mcp::engine::{Clock, DuplicatePolicy, EventStore, Workspace};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;

/// A clock that stands still.
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> i64 {
        0
    }
}

/// Stores debates with these numbers and topics in an archive, as debates of this folder.
async fn store_debates(
    archive: &MemoryArchive,
    folder: &Path,
    debates: impl IntoIterator<Item = (usize, String)>,
) {
    let workspace = Workspace { root: folder.into(), state_file: None, write_record: false };
    for (number, topic) in debates {
        let id = format!("debate-20260101-000000-{number:04}");
        let setup = Setup { id, topic, ..debate_setup(formats::duel(), 2) };
        drop(archive.create(&setup, &[], &workspace, DuplicatePolicy::Allow).await.unwrap());
    }
}

fn empty_archive() -> MemoryArchive {
    MemoryArchive::new(Arc::new(StoppedClock))
}

async fn connect(folder: &Path, archive: &MemoryArchive) -> InProcessClient {
    InProcessClient::connect_to(folder, archive, Arc::default(), json!({})).await
}

/// Stores this many debates with the topics `Topic 1?`, `Topic 2?` and so on, and connects.
async fn connect_with_debates(folder: &Path, count: usize) -> InProcessClient {
    let archive = empty_archive();
    let debates = (1..=count).map(|number| (number, format!("Topic {number}?")));
    store_debates(&archive, folder, debates).await;
    connect(folder, &archive).await
}

async fn completion_count(client: &mut InProcessClient, argument: &str, prefix: &str) -> usize {
    let reference = json!({"type": "ref/prompt", "name": "debate"});
    let params = json!({"ref": reference, "argument": {"name": argument, "value": prefix}});
    let response = client.request("completion/complete", params).await;
    response["result"]["completion"]["values"].as_array().unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn twelve_debates_are_listed() {
    for (stored, omitted) in [(12, 0), (13, 1)] {
        let folder = TempDir::new().unwrap();
        let mut client = connect_with_debates(folder.path(), stored).await;
        let response = client.call_tool("list_debates", json!({})).await;
        let list = &response["structuredContent"];
        assert_eq!(list["debates"].as_array().unwrap().len(), 12);
        let next = list["next"].as_str().unwrap();
        assert_eq!(next.starts_with("1 more: "), omitted == 1, "{next}");
    }
}

/// Twelve of the hits are listed, and the others are counted.
#[tokio::test(start_paused = true)]
async fn search_finds_200_debates() {
    let folder = TempDir::new().unwrap();
    let archive = empty_archive();
    let debates = (1..200).map(|number| (number, format!("Topic {number}?")));
    store_debates(&archive, folder.path(), debates).await;
    let mut client = connect(folder.path(), &archive).await;
    for number in [200, 201] {
        store_debates(&archive, folder.path(), [(number, "Another Topic?".to_owned())]).await;
        let response = client.call_tool("list_debates", json!({"query": "Topic"})).await;
        let next = response["structuredContent"]["next"].as_str().unwrap();
        assert!(next.starts_with("188 more: "), "{next}");
    }
}

#[tokio::test(start_paused = true)]
async fn ten_debates_are_listed_as_resources() {
    for (stored, listed) in [(9, 9), (10, 10), (11, 10)] {
        let folder = TempDir::new().unwrap();
        let mut client = connect_with_debates(folder.path(), stored).await;
        let response = client.request("resources/list", json!({})).await;
        let resources = response["result"]["resources"].as_array().unwrap();
        let is_transcript =
            |resource: &&Value| resource["uri"].as_str().unwrap().ends_with("/transcript");
        assert_eq!(resources.iter().filter(is_transcript).count(), listed);
    }
}

#[tokio::test(start_paused = true)]
async fn topics_of_50_debates_are_completed() {
    for (stored, completed) in [(49, 49), (50, 50), (51, 50)] {
        let folder = TempDir::new().unwrap();
        let mut client = connect_with_debates(folder.path(), stored).await;
        assert_eq!(completion_count(&mut client, "topic", "Topic").await, completed);
    }
}

/// The server of this test reads user formats from its own folder.
#[tokio::test(start_paused = true)]
async fn a_response_has_100_completions() {
    for (stored, completed) in [(99, 99), (100, 100), (101, 100)] {
        let folder = TempDir::new().unwrap();
        for number in 1..=stored {
            let path = folder.path().join(format!("mine-{number}.toml"));
            fs::write(path, "about = \"x\"\nbase = \"duel\"").unwrap();
        }
        let mut client = connect(folder.path(), &empty_archive()).await;
        assert_eq!(completion_count(&mut client, "name", "mine-").await, completed);
    }
}

/// The topic of the oldest debate is started again.
#[tokio::test(start_paused = true)]
async fn topic_is_compared_with_20_unfinished_debates() {
    for (stored, is_noticed) in [(20, true), (21, false)] {
        let folder = TempDir::new().unwrap();
        let mut client = connect_with_debates(folder.path(), stored).await;
        let arguments = json!({"topic": "Topic 1?", "proposer": "host", "challenger": "host",
            "judge": "host"});
        let response = client.call_tool("start_debate", arguments).await;
        let notes = response["structuredContent"]["notes"].to_string();
        assert_eq!(notes.contains("unfinished debate about this"), is_noticed, "{notes}");
    }
}

#[tokio::test(start_paused = true)]
async fn summary_has_60_words_of_the_topic() {
    let words = |count: usize| vec!["why"; count].join(" ");
    for (count, expected) in [(60, words(60)), (61, format!("{} …", words(60)))] {
        let folder = TempDir::new().unwrap();
        let archive = empty_archive();
        store_debates(&archive, folder.path(), [(1, words(count))]).await;
        let mut client = connect(folder.path(), &archive).await;
        let response = client.call_tool("summarize", json!({})).await;
        assert_eq!(response["structuredContent"]["topic"], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported_every_4_seconds() {
    let folder = TempDir::new().unwrap();
    let mut client = connect(folder.path(), &empty_archive()).await;
    let mut arguments = slow_debate_args("100");
    arguments["wait_seconds"] = 11.into();
    let started = Instant::now();
    client.call_tool("start_debate", arguments).await;
    let times = client.progress.iter().map(|(time, _)| (*time - started).as_secs());
    assert_eq!(times.collect::<Vec<_>>(), [4, 8]);
}

#[tokio::test(start_paused = true)]
async fn task_is_created_after_500_ms_and_kept_for_24_hours() {
    let folder = TempDir::new().unwrap();
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = InProcessClient::connect(folder.path(), Arc::default(), tasks).await;
    let started = Instant::now();
    let task = client.call_tool("start_debate", slow_debate_args("100")).await;
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(500), "{waited:?}");
    assert!(waited < Duration::from_millis(510), "{waited:?}");
    assert_eq!((&task["resultType"], &task["ttlMs"]), (&json!("task"), &json!(86_400_000)));
}
