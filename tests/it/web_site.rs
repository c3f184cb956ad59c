//! The web site of `debate view` and `debate serve`, tested with plain HTTP requests: pages,
//! headers, login, actions, live events and export.
use crate::command_queue::{test_app, workspace};
use crate::html_checker::find_html_error;
use crate::scripted_replies::tribunal;
use crate::test_env::{
    SeatScript, TestEnv, assert_contains_in_order, speech_with_claim, wait_until,
};
use crate::web_client::{ServerSentEvent, WebServer};
use debate_mcp::web::auth::AuthTokens;
use debate_mcp::web::listen;
use debate_mcp::web::origin_check::OriginCheck;
use debate_mcp::web::site::{self, SiteConfig, SiteScope};
use serde_json::json;

/// A test environment with one finished duel.
fn set_up_finished_duel() -> (TestEnv, String) {
    let lab = TestEnv::new();
    lab.debate_run("One file or many?", &["--json"]).expect_success();
    let id = lab.latest_debate_id();
    (lab, id)
}

#[test]
fn every_page_is_valid_html_with_security_headers() {
    let (lab, id) = set_up_finished_duel();
    let server = WebServer::start(&lab, 0);
    let base = format!("/debates/{id}");
    for (path, kind) in [
        ("/".to_owned(), "archive"),
        (base.clone(), "debate"),
        (format!("{base}?at=3"), "debate"),
        (format!("{base}?at=0"), "debate"),
        (format!("/compare?a={id}&b={id}"), "compare"),
        (format!("/compare?id={id}&id={id}"), "compare"),
        ("/compare".to_owned(), "compare"),
        ("/leaderboard".to_owned(), "leaderboard"),
    ] {
        let page = server.get(&path).expect_ok();
        assert_eq!(find_html_error(&page.body), None, "{path}");
        assert!(page.body.contains(&format!("<body data-page=\"{kind}\">")), "{path}");
        assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
        assert_contains_in_order(&page.body, &["<header", "<nav", "<main", "</main>", "<footer"]);
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(page.header.contains(line), "{path}: {}", page.header);
        }
    }
    for path in ["/nowhere", "/debates/debate-x", "/debates/debate-x/export", "/debates/%2e%2e"] {
        let page = server.get(path);
        assert_eq!((page.status, find_html_error(&page.body)), (404, None), "{path}");
    }
    assert_eq!(server.get("/debates/debate-x/events").status, 404);
    let moments = server.get(&format!("{base}/timeline")).expect_ok().json();
    assert_eq!(moments.as_array().unwrap().len(), lab.events(&id).len());
    assert_eq!(moments[1]["turn"], "turn-0-1-0-0");
}

#[test]
fn assets_are_cached_by_content_hash() {
    let (lab, _) = set_up_finished_duel();
    let server = WebServer::start(&lab, 0);
    let page = server.get("/").expect_ok().body;
    for (begin, kind) in
        [("/assets/app.css?v=", "text/css"), ("/assets/app.js?v=", "text/javascript")]
    {
        let at = page.find(begin).unwrap();
        let path = page[at..].split('"').next().unwrap();
        let asset = server.get(path).expect_ok();
        assert!(asset.header.contains(&format!("content-type: {kind}")), "{}", asset.header);
        assert!(asset.header.contains("immutable"), "{}", asset.header);
        let tag = asset.header.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let again = server.get_with_headers(path, &[&format!("If-None-Match: {tag}")]);
        assert_eq!((again.status, again.body.as_str()), (304, ""));
    }
    assert!(server.get("/favicon.svg").expect_ok().header.contains("image/svg+xml"));
}

#[test]
fn only_loopback_host_names_are_accepted() {
    let (lab, _) = set_up_finished_duel();
    let server = WebServer::start(&lab, 0);
    let port = server.port;
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(
            server.get_with_headers("/", &[&format!("Host: {name}:{port}")]).status,
            200,
            "{name}"
        );
    }
    for name in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", ""] {
        assert_eq!(server.get_with_headers("/", &[&format!("Host: {name}")]).status, 421, "{name}");
    }
    let refused = lab.debate(&["view", "--bind", "0.0.0.0:0"]).expect_error(2);
    refused.assert_stderr_contains("can be reached by others");
}

#[test]
fn event_stream_resumes_after_the_last_event_id() {
    let (lab, id) = set_up_finished_duel();
    let many = lab.events(&id).len() as u64;
    let server = WebServer::start(&lab, 0);
    let heard: Vec<ServerSentEvent> = server.open_events(&id, Some(0), None).collect();
    let ids: Vec<u64> = heard.iter().filter_map(|it| it.id).collect();
    assert_eq!(ids, (1..=many).collect::<Vec<_>>());
    assert_eq!(heard.last().unwrap().kind, "end");
    for after in [0, 3, many - 1, many] {
        let rest: Vec<ServerSentEvent> = server.open_events(&id, Some(1), Some(after)).collect();
        let from = usize::try_from(after).unwrap();
        assert_eq!(rest, heard[from..], "the header has the last word");
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
    let lab = TestEnv::new();
    let slow = speech_with_claim("One file locks.", "C1", &["P1"]);
    let line = json!({"phase": "challenge", "text": slow, "delay_ms": 1_500});
    lab.write_script(&SeatScript::new().prepend(line));
    let server = WebServer::start(&lab, 0);
    let player = lab.debate_run("Slow?", &["--rounds", "2", "--json"]).spawn();
    let id = lab.wait_for_challenger();
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
    let done = player.wait();
    assert_eq!(done.exit_code, Some(0), "{done:?}");
    let mut again = None;
    wait_until("the port is free", || {
        let taken = std::net::TcpListener::bind(("127.0.0.1", port)).is_err();
        if !taken {
            again = Some(WebServer::start(&lab, port));
        }
        !taken
    });
    let rest: Vec<ServerSentEvent> =
        again.unwrap().open_events(&id, Some(0), ids.last().copied()).collect();
    ids.extend(rest.iter().filter_map(|it| it.id));
    let many = lab.events(&id).len() as u64;
    assert_eq!(ids, (1..=many).collect::<Vec<_>>());
    assert_eq!(rest.last().unwrap().kind, "end");
}

#[test]
fn viewer_gets_live_text_and_then_the_whole_turn() {
    let lab = TestEnv::new();
    let words = "Word by word it locks. ".repeat(20);
    let text = speech_with_claim(&words, "C1", &["P1"]);
    let line = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    lab.write_script(&SeatScript::new().prepend(line));
    let server = WebServer::start(&lab, 0);
    let player = lab.debate_run("Slow?", &["--rounds", "1", "--json"]).spawn();
    let id = lab.wait_for_challenger();
    let heard: Vec<ServerSentEvent> = server.open_events(&id, Some(0), None).collect();
    assert_eq!(player.wait().exit_code, Some(0));
    assert_eq!(heard.last().unwrap().kind, "end");
    let spoke = heard.iter().find(|it| it.data["replace"]["turn-0-1-1-1"].is_string()).unwrap();
    let html = spoke.data["replace"]["turn-0-1-1-1"].as_str().unwrap();
    assert!(html.contains("Word by word it locks.") && !html.contains("data-pending"), "{html}");
    let mut shown: Vec<u16> = vec![];
    for live in heard.iter().filter(|it| it.kind == "live") {
        assert_eq!((live.id, &live.data["turn"]), (None, &json!("turn-0-1-1-1")));
        let offset = usize::try_from(live.data["offset"].as_u64().unwrap()).unwrap();
        assert!(offset == 0 || offset == shown.len(), "a gap or a repeat");
        shown.truncate(offset);
        shown.extend(live.data["text"].as_str().unwrap().encode_utf16());
    }
    let shown = String::from_utf16(&shown).unwrap();
    assert!(!shown.is_empty() && words.starts_with(shown.trim_end()), "{shown}");
}

/// A site as `debate serve` mounts it: limited to one format, with a token per access level.
#[test]
fn scoped_site_hides_other_formats_and_needs_a_token() {
    let (lab, duel) = set_up_finished_duel();
    let seat = lab.write_replies(&tribunal(3));
    let args = ["run", "A court?", "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    lab.debate(&[&args[..], &["--same-judge", "--json"]].concat()).expect_success();
    let court = lab.latest_debate_id();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let desk = test_app(&lab);
    let entry = AuthTokens::new(desk.archive(), "serve", false).unwrap();
    let (owner, reader) = (entry.owner_token().to_owned(), entry.reader_token().to_owned());
    assert!(owner != reader && owner.len() == 40);
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let site = site::router(SiteConfig {
        app: desk,
        workspace: workspace(&lab),
        scope: SiteScope::Format("tribunal".into()),
        auth: entry,
        origin_check: OriginCheck::new(address, &["Debates.example".into()]),
        sign_in_hint: String::new(),
        arena: None,
    });
    runtime.spawn(listen(listener, site));
    let stranger = WebServer::in_process(address.port(), "0000");
    assert_eq!(stranger.get("/").status, 401);
    assert_eq!(stranger.get(&format!("/debates/{court}/events")).status, 401);
    assert_eq!(stranger.get("/assets/app.css").status, 200);
    let guest = WebServer::in_process(address.port(), &reader);
    let cookie = guest.login_cookie();
    let page = guest.get_with_headers("/", &[&cookie]).expect_ok().body;
    assert!(page.contains(&court) && !page.contains(&duel), "{page}");
    assert!(!page.contains("name=\"root\""), "where it lies is nobody's business");
    let searched =
        guest.get_with_headers("/?q=file&format=duel&root=x", &[&cookie]).expect_ok().body;
    assert!(!searched.contains(&duel), "{searched}");
    for path in ["", "/fragments", "/timeline", "/events", "/export", "/source?path=x"] {
        let there = guest.get_with_headers(&format!("/debates/{duel}{path}"), &[&cookie]);
        assert_eq!(there.status, 404, "{path}");
    }
    assert_eq!(guest.get_with_headers(&format!("/debates/{court}"), &[&cookie]).status, 200);
    assert_eq!(
        guest.get_with_headers("/", &["Host: debates.example", &cookie]).status,
        200,
        "a name given"
    );
    let compared = format!("/compare?a={court}&b={duel}");
    assert_eq!(guest.get_with_headers(&compared, &[&cookie]).status, 404);
    let bearer = format!("Authorization: Bearer {reader}");
    assert_eq!(guest.get_with_headers("/leaderboard", &[&bearer]).status, 200);
    let act = format!("/debates/{court}/actions/pause");
    assert_eq!(guest.post(&act, &[&cookie], "csrf=x").status, 401, "who reads does not act");
    let host = WebServer::in_process(address.port(), &owner).login_cookie();
    assert_eq!(guest.post(&act, &[&host], "csrf=x").status, 403, "not without the form");
}

#[test]
fn actions_need_a_login_and_a_csrf_token() {
    let lab = TestEnv::new();
    lab.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    let id = lab.latest_debate_id();
    let server = WebServer::start(&lab, 0);
    let before = lab.events(&id).len();
    let page = format!("/debates/{id}");
    let action = |name: &str| format!("/debates/{id}/actions/{name}");
    let reader = server.get(&page).expect_ok().body;
    assert!(!reader.contains("<form method=\"post\"") && reader.contains("Read only."), "{reader}");
    assert_eq!(server.get("/enter?token=0000").status, 403);
    assert_eq!(server.post(&action("remark"), &[], "text=x&csrf=x").status, 401);
    let cookie = server.login_cookie();
    let owner = server.get_with_headers(&page, &[&cookie]).expect_ok().body;
    let csrf = owner.split_once("name=\"csrf\" value=\"").unwrap().1.split('"').next().unwrap();
    let good = format!("csrf={csrf}&text=Mind+the+cost.");
    for (headers, body, status) in [
        (vec![cookie.as_str()], "text=x", 403),
        (vec![cookie.as_str()], "text=x&csrf=0000", 403),
        (vec![cookie.as_str(), "Origin: http://evil.example"], good.as_str(), 403),
        (vec![cookie.as_str(), "Origin: null"], good.as_str(), 403),
        (vec![cookie.as_str(), "Sec-Fetch-Site: cross-site"], good.as_str(), 403),
        (vec!["Cookie: debate_view=0000"], good.as_str(), 401),
    ] {
        assert_eq!(
            server.post(&action("remark"), &headers, body).status,
            status,
            "{headers:?} {body}"
        );
    }
    let empty = format!("csrf={csrf}&text=+");
    assert_eq!(server.post(&action("remark"), &[&cookie], &empty).status, 422);
    assert_eq!(server.post(&action("explode"), &[&cookie], &good).status, 404);
    assert_eq!(lab.events(&id).len(), before, "none of these was done");
    // A typed URL redirects at once. A cross-site link gets a page that refreshes, so that the
    // strict cookie is sent.
    let set = server.get_with_headers(&server.login_path, &["Sec-Fetch-Site: none"]);
    assert_eq!(set.status, 303);
    assert_contains_in_order(
        &set.header,
        &["location: /", "set-cookie: debate_view=", "httponly; samesite=strict"],
    );
    assert!(!set.header.contains("secure"));
    let led = ["Sec-Fetch-Site: cross-site", "X-Forwarded-Proto: https"];
    let led =
        server.get_with_headers(&format!("{}&next={id}", server.login_path), &led).expect_ok();
    assert!(led.header.contains("samesite=strict; secure"), "{}", led.header);
    assert!(led.header.contains(&format!("refresh: 0; url=/debates/{}", id.to_lowercase())));
    let astray = server.get(&format!("{}&next=//evil.example", server.login_path)).expect_ok();
    assert!(astray.header.contains("refresh: 0; url=/\r\n"), "{}", astray.header);
}

#[test]
fn logged_in_user_can_remark_and_request_the_verdict() {
    let lab = TestEnv::new();
    lab.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    let id = lab.latest_debate_id();
    let server = WebServer::start(&lab, 0);
    let cookie = server.login_cookie();
    let page = || server.get_with_headers(&format!("/debates/{id}"), &[&cookie]).expect_ok().body;
    let csrf = page()
        .split_once("name=\"csrf\" value=\"")
        .unwrap()
        .1
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let origin = format!("Origin: http://127.0.0.1:{}", server.port);
    let headers = [cookie.as_str(), origin.as_str(), "Sec-Fetch-Site: same-origin"];
    let act = |name: &str, fields: &str| {
        server.post(
            &format!("/debates/{id}/actions/{name}"),
            &headers,
            &format!("csrf={csrf}&{fields}"),
        )
    };
    let done = act("remark", "text=Mind+the+%2A%2Acost%2A%2A.");
    assert_eq!(done.status, 303, "{done:?}");
    assert!(
        done.header.contains(&format!("location: /debates/{}", id.to_lowercase())),
        "{}",
        done.header
    );
    assert!(page().contains("Mind the <strong>cost</strong>."));
    let json = [headers[0], headers[1], "Accept: application/json"];
    let body = format!("csrf={csrf}");
    let said = server.post(&format!("/debates/{id}/actions/verdict"), &json, &body);
    assert_eq!((said.status, &said.json()["ok"]), (200, &json!(true)), "{said:?}");
    wait_until("it is over", || page().contains("had the stronger argument"));
    let said = server.post(&format!("/debates/{id}/actions/pause"), &json, &body);
    assert_eq!((said.status, &said.json()["ok"]), (409, &json!(false)), "{said:?}");
    lab.assert_replays(&id);
}

#[test]
fn human_votes_on_the_page_without_seeing_sealed_turns() {
    let lab = TestEnv::new();
    let seat = lab.write_replies(&tribunal(3));
    let args = ["run", "One file?", "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    let more = ["--same-judge", "--listener", "risk-averse=human"];
    lab.debate(&[&args[..], &more].concat()).stdin("").expect_exit_code(2);
    let id = lab.latest_debate_id();
    let server = WebServer::start(&lab, 0);
    let cookie = server.login_cookie();
    let page = || server.get_with_headers(&format!("/debates/{id}"), &[&cookie]).expect_ok().body;
    let sealed = page();
    let found = server.get("/?q=ahead").expect_ok().body;
    let data = server.get(&format!("/debates/{id}/fragments")).expect_ok().body;
    for seen in ["A is ahead.", "It was shown in T1", "stronger argument"] {
        assert!(!sealed.contains(seen) && !found.contains(seen) && !data.contains(seen), "{seen}");
    }
    assert!(sealed.contains("(Sealed until all have answered.)"), "{sealed}");
    let form = sealed.split_once("class=\"vote\">").unwrap().1;
    let field = |name: &str| {
        let begin = format!("name=\"{name}\" value=\"");
        form.split_once(&begin).unwrap().1.split('"').next().unwrap().to_owned()
    };
    let (csrf, turn, take) = (field("csrf"), field("turn"), field("take"));
    let vote =
        format!("csrf={csrf}&turn={turn}&take={take}&side=con&confidence=90&reason=Backups.");
    let path = format!("/debates/{id}/actions/vote");
    let wrong = vote.replace("confidence=90", "confidence=900");
    assert_eq!(server.post(&path, &[&cookie], &wrong).status, 422);
    assert_eq!(server.post(&path, &[&cookie], &vote).status, 303);
    wait_until("it is over", || page().contains("had the stronger argument"));
    assert_contains_in_order(&page(), &["id=\"panel-votes\"", "Backups."]);
    assert_eq!(server.post(&path, &[&cookie], &vote).status, 409, "once is enough");
}

#[test]
fn archive_page_can_be_searched_and_filtered() {
    let (lab, duel) = set_up_finished_duel();
    lab.debate_run("Another <b>question</b>?", &["--pause", "--json"]).expect_exit_code(2);
    let other = lab.latest_debate_id();
    let server = WebServer::start(&lab, 0);
    let all = server.get("/").expect_ok().body;
    assert_contains_in_order(
        &all,
        &["2 debates.", &format!("data-debate=\"{other}\""), &format!("data-debate=\"{duel}\"")],
    );
    assert!(all.contains("Another &lt;b&gt;question&lt;/b&gt;?"));
    let lists = |query: &str| -> [bool; 2] {
        let page = server.get(&format!("/?{query}")).expect_ok().body;
        assert_eq!(find_html_error(&page), None, "{query}");
        [&duel, &other].map(|id| page.contains(&format!("data-debate=\"{id}\"")))
    };
    for (query, expected) in [
        ("q=Another", [false, true]),
        ("q=%3Cscript%3E", [false, false]),
        ("q=locks", [true, true]),
        ("status=completed", [true, false]),
        ("status=paused", [false, true]),
        ("format=duel", [true, true]),
        ("format=tribunal", [false, false]),
        ("verdict=yes", [true, false]),
        ("verdict=no", [false, true]),
        ("winner=proposer", [true, false]),
        ("root=%2Fnowhere", [false, false]),
        ("page=2", [false, false]),
        ("page=x&status=y", [true, true]),
    ] {
        assert_eq!(lists(query), expected, "{query}");
    }
    let found = server.get("/?q=LOCKS").expect_ok().body;
    assert!(found.contains("One file <mark>locks</mark>."), "{found}");
}

#[test]
fn readers_see_only_cited_files_as_pinned() {
    let lab = TestEnv::new();
    lab.write_repo_file("src/lock.rs", "fn hold_the_lock_for_long() {\n    wait(\"<b>\");\n}\n");
    lab.write_repo_file("src/other.rs", "fn nobody_speaks_of_this() {}\n");
    let claims = json!({"claims": [{"id": "P1", "text": "It is held.", "evidence":
        ["src/lock.rs:1 \"fn hold_the_lock_for_long()\""], "answers": []}], "concedes": [], "resolves": []});
    let said = format!("It is held.\n\n```claims\n{claims}\n```\n");
    lab.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": said})));
    lab.debate_run("One file?", &["--rounds", "1", "--json"]).expect_success();
    let id = lab.latest_debate_id();
    lab.write_repo_file("src/lock.rs", "changed since\n");
    let server = WebServer::start(&lab, 0);
    let path = |path: &str| format!("/debates/{id}/source?path={path}&line=2");
    let page = server.get(&path("src/lock.rs")).expect_ok().body;
    assert_eq!(find_html_error(&page), None);
    assert_contains_in_order(
        &page,
        &[
            "id=\"L1\"",
            "hold_the_lock_for_long",
            "id=\"L2\" class=\"meant\"",
            "wait(&quot;&lt;b&gt;&quot;)",
        ],
    );
    assert_eq!(server.get(&path("src/other.rs")).status, 404, "nobody cites it");
    let cookie = server.login_cookie();
    assert_eq!(server.get_with_headers(&path("src/other.rs"), &[&cookie]).status, 200);
    for wrong in ["../home/key", "/etc/passwd", "src/../../home/key", "..%2Fhome%2Fkey", "src", ""]
    {
        assert_eq!(server.get_with_headers(&path(wrong), &[&cookie]).status, 404, "{wrong}");
    }
}

#[test]
fn export_is_one_self_contained_file() {
    let (lab, id) = set_up_finished_duel();
    let server = WebServer::start(&lab, 0);
    let answer = server.get(&format!("/debates/{id}/export")).expect_ok();
    assert!(
        answer.header.contains("content-disposition: attachment; filename=\"debate-"),
        "{}",
        answer.header
    );
    assert_eq!(find_html_error(&answer.body), None);
    assert!(!answer.body.contains("<script") && !answer.body.contains("href=\"/"));
}

#[test]
fn hundred_viewers_get_the_same_events() {
    let (lab, id) = set_up_finished_duel();
    let server = WebServer::start(&lab, 0);
    let streams: Vec<_> = (0..100).map(|_| server.open_events(&id, Some(0), None)).collect();
    let mut all = streams.into_iter().map(Iterator::collect::<Vec<ServerSentEvent>>);
    let first = all.next().unwrap();
    assert!(all.all(|heard| heard == first));
}
