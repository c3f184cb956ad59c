//! Server-sent events of the live page: resumption, a restarted server, live text, many viewers.
use crate::test_env::{
    SeatScript, TestEnv, assert_contains_in_order, speech_with_claim, wait_until,
};
use crate::web_client::{ServerSentEvent, WebServer};
use crate::web_site::set_up_finished_duel;
use serde_json::json;

#[test]
fn event_stream_resumes_after_the_last_event_id() {
    let (env, id) = set_up_finished_duel();
    let event_count = env.events(&id).len() as u64;
    let server = WebServer::start(&env, 0);
    let events: Vec<ServerSentEvent> = server.open_events(&id, Some(0), None).collect();
    let ids: Vec<u64> = events.iter().filter_map(|it| it.id).collect();
    assert_eq!(ids, (1..=event_count).collect::<Vec<_>>());
    assert_eq!(events.last().unwrap().kind, "end");
    for after in [0, 3, event_count - 1, event_count] {
        let rest: Vec<ServerSentEvent> = server.open_events(&id, Some(1), Some(after)).collect();
        let from = usize::try_from(after).unwrap();
        assert_eq!(rest, events[from..], "the header overrides the query");
    }
    // A new client, and one with an event id beyond the end of the log.
    let kinds =
        |stream: crate::web_client::EventStream| stream.map(|it| it.kind).collect::<Vec<_>>();
    assert_eq!(kinds(server.open_events(&id, None, None)), ["end"]);
    assert_eq!(kinds(server.open_events(&id, Some(999), None)), ["fragments", "end"]);
}

/// The debate runs in another process. The web server is killed and restarted in between.
#[test]
fn event_stream_survives_a_server_restart() {
    let env = TestEnv::new();
    let text = speech_with_claim("One file locks.", "C1", &["P1"]);
    let entry = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    env.write_script(&SeatScript::new().prepend(entry));
    let server = WebServer::start(&env, 0);
    let player = env.debate_run("Slow?", &["--rounds", "2", "--json"]).spawn();
    let id = env.wait_for_challenger();
    let page = server.get(&format!("/debates/{id}")).expect_ok().body;
    assert_contains_in_order(&page, &["data-running=\"true\"", "data-pending=\"true\""]);
    let mut stream = server.open_events(&id, Some(0), None);
    let mut ids: Vec<u64> = vec![];
    while ids.len() < 3 {
        ids.extend(stream.next().unwrap().id);
    }
    let port = server.kill();
    let more: Vec<u64> = stream.filter_map(|it| it.id).collect();
    ids.extend(more);
    let output = player.wait();
    assert_eq!(output.exit_code, Some(0), "{output:?}");
    let mut restarted = None;
    wait_until("the port is free", || {
        let port_taken = std::net::TcpListener::bind(("127.0.0.1", port)).is_err();
        if !port_taken {
            restarted = Some(WebServer::start(&env, port));
        }
        !port_taken
    });
    let rest: Vec<ServerSentEvent> =
        restarted.unwrap().open_events(&id, Some(0), ids.last().copied()).collect();
    ids.extend(rest.iter().filter_map(|it| it.id));
    let event_count = env.events(&id).len() as u64;
    assert_eq!(ids, (1..=event_count).collect::<Vec<_>>());
    assert_eq!(rest.last().unwrap().kind, "end");
}

#[test]
fn viewer_gets_live_text_and_then_the_whole_turn() {
    let env = TestEnv::new();
    let prose = "Word by word it locks. ".repeat(20);
    let text = speech_with_claim(&prose, "C1", &["P1"]);
    let entry = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    env.write_script(&SeatScript::new().prepend(entry));
    let server = WebServer::start(&env, 0);
    let player = env.debate_run("Slow?", &["--rounds", "1", "--json"]).spawn();
    let id = env.wait_for_challenger();
    let events: Vec<ServerSentEvent> = server.open_events(&id, Some(0), None).collect();
    assert_eq!(player.wait().exit_code, Some(0));
    assert_eq!(events.last().unwrap().kind, "end");
    let turn_event =
        events.iter().find(|it| it.data["replace"]["turn-0-1-1-1"].is_string()).unwrap();
    let html = turn_event.data["replace"]["turn-0-1-1-1"].as_str().unwrap();
    assert!(html.contains("Word by word it locks.") && !html.contains("data-pending"), "{html}");
    let mut shown: Vec<u16> = vec![];
    for live in events.iter().filter(|it| it.kind == "live") {
        assert_eq!((live.id, &live.data["turn"]), (None, &json!("turn-0-1-1-1")));
        let offset = usize::try_from(live.data["offset"].as_u64().unwrap()).unwrap();
        assert!(offset == 0 || offset == shown.len(), "a gap or a repeat");
        shown.truncate(offset);
        shown.extend(live.data["text"].as_str().unwrap().encode_utf16());
    }
    let shown = String::from_utf16(&shown).unwrap();
    assert!(!shown.is_empty() && prose.starts_with(shown.trim_end()), "{shown}");
}

#[test]
fn hundred_viewers_get_the_same_events() {
    let (env, id) = set_up_finished_duel();
    let server = WebServer::start(&env, 0);
    let streams: Vec<_> = (0..100).map(|_| server.open_events(&id, Some(0), None)).collect();
    let mut event_lists = streams.into_iter().map(Iterator::collect::<Vec<ServerSentEvent>>);
    let first = event_lists.next().unwrap();
    assert!(event_lists.all(|events| events == first));
}
