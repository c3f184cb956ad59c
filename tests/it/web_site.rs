//! The web site of `debate view` and `debate serve`, tested with plain HTTP requests: pages,
//! headers, login, actions, live events and export.
use crate::casts::tribunal;
use crate::lab::{Lab, Script, in_order, speech, until};
use crate::visitor::{Heard, Server};
use crate::wellformed::flaw;
use crate::wishes::{desk, place};
use debate_mcp::web::auth::AuthTokens;
use debate_mcp::web::listen;
use debate_mcp::web::origin_check::OriginCheck;
use debate_mcp::web::site::{self, SiteConfig, SiteScope};
use serde_json::json;

/// A test environment with one finished duel.
fn played() -> (Lab, String) {
    let lab = Lab::new();
    lab.run("One file or many?", &["--json"]).success();
    let id = lab.last();
    (lab, id)
}

#[test]
fn every_page_is_whole_and_may_load_nothing_but_ours() {
    let (lab, id) = played();
    let server = Server::start(&lab, 0);
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
        let page = server.get(&path).ok();
        assert_eq!(flaw(&page.body), None, "{path}");
        assert!(page.body.contains(&format!("<body data-page=\"{kind}\">")), "{path}");
        assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
        in_order(&page.body, &["<header", "<nav", "<main", "</main>", "<footer"]);
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(page.head.contains(line), "{path}: {}", page.head);
        }
    }
    for path in ["/nowhere", "/debates/debate-x", "/debates/debate-x/export", "/debates/%2e%2e"] {
        let page = server.get(path);
        assert_eq!((page.status, flaw(&page.body)), (404, None), "{path}");
    }
    assert_eq!(server.get("/debates/debate-x/events").status, 404);
    let moments = server.get(&format!("{base}/timeline")).ok().json();
    assert_eq!(moments.as_array().unwrap().len(), lab.events(&id).len());
    assert_eq!(moments[1]["turn"], "turn-0-1-0-0");
}

#[test]
fn assets_are_kept_for_as_long_as_they_are_the_same() {
    let (lab, _) = played();
    let server = Server::start(&lab, 0);
    let page = server.get("/").ok().body;
    for (begin, kind) in
        [("/assets/app.css?v=", "text/css"), ("/assets/app.js?v=", "text/javascript")]
    {
        let at = page.find(begin).unwrap();
        let path = page[at..].split('"').next().unwrap();
        let asset = server.get(path).ok();
        assert!(asset.head.contains(&format!("content-type: {kind}")), "{}", asset.head);
        assert!(asset.head.contains("immutable"), "{}", asset.head);
        let tag = asset.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let again = server.get_as(path, &[&format!("If-None-Match: {tag}")]);
        assert_eq!((again.status, again.body.as_str()), (304, ""));
    }
    assert!(server.get("/favicon.svg").ok().head.contains("image/svg+xml"));
}

#[test]
fn only_the_names_of_this_machine_are_answered() {
    let (lab, _) = played();
    let server = Server::start(&lab, 0);
    let port = server.port;
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(server.get_as("/", &[&format!("Host: {name}:{port}")]).status, 200, "{name}");
    }
    for name in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", ""] {
        assert_eq!(server.get_as("/", &[&format!("Host: {name}")]).status, 421, "{name}");
    }
    let refused = lab.debate(&["view", "--bind", "0.0.0.0:0"]).fails_with(2);
    refused.warns("can be reached by others");
}

#[test]
fn events_are_told_once_each_and_from_wherever_somebody_was() {
    let (lab, id) = played();
    let many = lab.events(&id).len() as u64;
    let server = Server::start(&lab, 0);
    let heard: Vec<Heard> = server.follow(&id, Some(0), None).collect();
    let ids: Vec<u64> = heard.iter().filter_map(|it| it.id).collect();
    assert_eq!(ids, (1..=many).collect::<Vec<_>>());
    assert_eq!(heard.last().unwrap().kind, "end");
    for after in [0, 3, many - 1, many] {
        let rest: Vec<Heard> = server.follow(&id, Some(1), Some(after)).collect();
        let from = usize::try_from(after).unwrap();
        assert_eq!(rest, heard[from..], "the header has the last word");
    }
    // A new client, and one with an event id beyond the end of the log.
    let kinds = |stream: crate::visitor::Stream| stream.map(|it| it.kind).collect::<Vec<_>>();
    assert_eq!(kinds(server.follow(&id, None, None)), ["end"]);
    assert_eq!(kinds(server.follow(&id, Some(999), None)), ["fragments", "end"]);
}

/// The debate runs in another process. The web server is killed and restarted in between.
#[test]
fn a_debate_of_another_process_is_followed_across_a_restart_without_loss_or_repeat() {
    let lab = Lab::new();
    let slow = speech("One file locks.", "C1", &["P1"]);
    let line = json!({"phase": "challenge", "text": slow, "delay_ms": 1_500});
    lab.write(&Script::new().first(line));
    let server = Server::start(&lab, 0);
    let player = lab.run("Slow?", &["--rounds", "2", "--json"]).start();
    let id = lab.challenged();
    let page = server.get(&format!("/debates/{id}")).ok().body;
    in_order(&page, &["data-running=\"true\"", "data-pending=\"true\""]);
    let mut stream = server.follow(&id, Some(0), None);
    let mut ids: Vec<u64> = vec![];
    while ids.len() < 3 {
        ids.extend(stream.next().unwrap().id);
    }
    let port = server.kill();
    let more: Vec<u64> = stream.filter_map(|it| it.id).collect();
    ids.extend(more);
    let done = player.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut again = None;
    until("the port is free", || {
        let taken = std::net::TcpListener::bind(("127.0.0.1", port)).is_err();
        if !taken {
            again = Some(Server::start(&lab, port));
        }
        !taken
    });
    let rest: Vec<Heard> = again.unwrap().follow(&id, Some(0), ids.last().copied()).collect();
    ids.extend(rest.iter().filter_map(|it| it.id));
    let many = lab.events(&id).len() as u64;
    assert_eq!(ids, (1..=many).collect::<Vec<_>>());
    assert_eq!(rest.last().unwrap().kind, "end");
}

#[test]
fn whoever_watches_hears_words_as_they_come_and_the_whole_when_it_is_there() {
    let lab = Lab::new();
    let words = "Word by word it locks. ".repeat(20);
    let text = speech(&words, "C1", &["P1"]);
    let line = json!({"phase": "challenge", "text": text, "delay_ms": 1_500});
    lab.write(&Script::new().first(line));
    let server = Server::start(&lab, 0);
    let player = lab.run("Slow?", &["--rounds", "1", "--json"]).start();
    let id = lab.challenged();
    let heard: Vec<Heard> = server.follow(&id, Some(0), None).collect();
    assert_eq!(player.wait().code, Some(0));
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
fn a_site_of_one_format_shows_no_other_and_only_to_whom_it_may() {
    let (lab, duel) = played();
    let seat = lab.cast(&tribunal(3));
    let args = ["run", "A court?", "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    lab.debate(&[&args[..], &["--same-judge", "--json"]].concat()).success();
    let court = lab.last();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let desk = desk(&lab);
    let entry = AuthTokens::new(desk.archive(), "serve", false).unwrap();
    let (owner, reader) = (entry.owner_token().to_owned(), entry.reader_token().to_owned());
    assert!(owner != reader && owner.len() == 40);
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let site = site::router(SiteConfig {
        app: desk,
        workspace: place(&lab),
        scope: SiteScope::Format("tribunal".into()),
        auth: entry,
        origin_check: OriginCheck::new(address, &["Debates.example".into()]),
        sign_in_hint: String::new(),
        arena: None,
    });
    runtime.spawn(listen(listener, site));
    let stranger = Server::at(address.port(), "0000");
    assert_eq!(stranger.get("/").status, 401);
    assert_eq!(stranger.get(&format!("/debates/{court}/events")).status, 401);
    assert_eq!(stranger.get("/assets/app.css").status, 200);
    let guest = Server::at(address.port(), &reader);
    let cookie = guest.cookie();
    let page = guest.get_as("/", &[&cookie]).ok().body;
    assert!(page.contains(&court) && !page.contains(&duel), "{page}");
    assert!(!page.contains("name=\"root\""), "where it lies is nobody's business");
    let searched = guest.get_as("/?q=file&format=duel&root=x", &[&cookie]).ok().body;
    assert!(!searched.contains(&duel), "{searched}");
    for path in ["", "/fragments", "/timeline", "/events", "/export", "/source?path=x"] {
        let there = guest.get_as(&format!("/debates/{duel}{path}"), &[&cookie]);
        assert_eq!(there.status, 404, "{path}");
    }
    assert_eq!(guest.get_as(&format!("/debates/{court}"), &[&cookie]).status, 200);
    assert_eq!(guest.get_as("/", &["Host: debates.example", &cookie]).status, 200, "a name given");
    let compared = format!("/compare?a={court}&b={duel}");
    assert_eq!(guest.get_as(&compared, &[&cookie]).status, 404);
    let bearer = format!("Authorization: Bearer {reader}");
    assert_eq!(guest.get_as("/leaderboard", &[&bearer]).status, 200);
    let act = format!("/debates/{court}/actions/pause");
    assert_eq!(guest.post(&act, &[&cookie], "csrf=x").status, 401, "who reads does not act");
    let host = Server::at(address.port(), &owner).cookie();
    assert_eq!(guest.post(&act, &[&host], "csrf=x").status, 403, "not without the form");
}

#[test]
fn who_has_not_entered_reads_and_does_nothing() {
    let lab = Lab::new();
    lab.run("One file?", &["--pause", "--json"]).ends(2);
    let id = lab.last();
    let server = Server::start(&lab, 0);
    let before = lab.events(&id).len();
    let page = format!("/debates/{id}");
    let action = |name: &str| format!("/debates/{id}/actions/{name}");
    let reader = server.get(&page).ok().body;
    assert!(!reader.contains("<form method=\"post\"") && reader.contains("Read only."), "{reader}");
    assert_eq!(server.get("/enter?token=0000").status, 403);
    assert_eq!(server.post(&action("remark"), &[], "text=x&csrf=x").status, 401);
    let cookie = server.cookie();
    let owner = server.get_as(&page, &[&cookie]).ok().body;
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
    let set = server.get_as(&server.enter, &["Sec-Fetch-Site: none"]);
    assert_eq!(set.status, 303);
    in_order(&set.head, &["location: /", "set-cookie: debate_view=", "httponly; samesite=strict"]);
    assert!(!set.head.contains("secure"));
    let led = ["Sec-Fetch-Site: cross-site", "X-Forwarded-Proto: https"];
    let led = server.get_as(&format!("{}&next={id}", server.enter), &led).ok();
    assert!(led.head.contains("samesite=strict; secure"), "{}", led.head);
    assert!(led.head.contains(&format!("refresh: 0; url=/debates/{}", id.to_lowercase())));
    let astray = server.get(&format!("{}&next=//evil.example", server.enter)).ok();
    assert!(astray.head.contains("refresh: 0; url=/\r\n"), "{}", astray.head);
}

#[test]
fn who_has_entered_adds_a_remark_goes_on_and_asks_for_the_ending() {
    let lab = Lab::new();
    lab.run("One file?", &["--pause", "--json"]).ends(2);
    let id = lab.last();
    let server = Server::start(&lab, 0);
    let cookie = server.cookie();
    let page = || server.get_as(&format!("/debates/{id}"), &[&cookie]).ok().body;
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
        done.head.contains(&format!("location: /debates/{}", id.to_lowercase())),
        "{}",
        done.head
    );
    assert!(page().contains("Mind the <strong>cost</strong>."));
    let json = [headers[0], headers[1], "Accept: application/json"];
    let body = format!("csrf={csrf}");
    let said = server.post(&format!("/debates/{id}/actions/verdict"), &json, &body);
    assert_eq!((said.status, &said.json()["ok"]), (200, &json!(true)), "{said:?}");
    until("it is over", || page().contains("had the stronger argument"));
    let said = server.post(&format!("/debates/{id}/actions/pause"), &json, &body);
    assert_eq!((said.status, &said.json()["ok"]), (409, &json!(false)), "{said:?}");
    lab.replays(&id);
}

#[test]
fn a_person_votes_on_the_page_and_sees_nothing_sealed_before() {
    let lab = Lab::new();
    let seat = lab.cast(&tribunal(3));
    let args = ["run", "One file?", "--format", "tribunal", "--model", &seat, "--rounds", "3"];
    let more = ["--same-judge", "--listener", "risk-averse=human"];
    lab.debate(&[&args[..], &more].concat()).stdin("").ends(2);
    let id = lab.last();
    let server = Server::start(&lab, 0);
    let cookie = server.cookie();
    let page = || server.get_as(&format!("/debates/{id}"), &[&cookie]).ok().body;
    let sealed = page();
    let found = server.get("/?q=ahead").ok().body;
    let data = server.get(&format!("/debates/{id}/fragments")).ok().body;
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
    until("it is over", || page().contains("had the stronger argument"));
    in_order(&page(), &["id=\"panel-votes\"", "Backups."]);
    assert_eq!(server.post(&path, &[&cookie], &vote).status, 409, "once is enough");
}

#[test]
fn the_archive_is_searched_and_filtered() {
    let (lab, duel) = played();
    lab.run("Another <b>question</b>?", &["--pause", "--json"]).ends(2);
    let other = lab.last();
    let server = Server::start(&lab, 0);
    let all = server.get("/").ok().body;
    in_order(
        &all,
        &["2 debates.", &format!("data-debate=\"{other}\""), &format!("data-debate=\"{duel}\"")],
    );
    assert!(all.contains("Another &lt;b&gt;question&lt;/b&gt;?"));
    let lists = |query: &str| -> [bool; 2] {
        let page = server.get(&format!("/?{query}")).ok().body;
        assert_eq!(flaw(&page), None, "{query}");
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
    let found = server.get("/?q=LOCKS").ok().body;
    assert!(found.contains("One file <mark>locks</mark>."), "{found}");
}

#[test]
fn a_cited_file_is_shown_as_it_was_and_no_other() {
    let lab = Lab::new();
    lab.file("src/lock.rs", "fn hold_the_lock_for_long() {\n    wait(\"<b>\");\n}\n");
    lab.file("src/other.rs", "fn nobody_speaks_of_this() {}\n");
    let claims = json!({"claims": [{"id": "P1", "text": "It is held.", "evidence":
        ["src/lock.rs:1 \"fn hold_the_lock_for_long()\""], "answers": []}], "concedes": [], "resolves": []});
    let said = format!("It is held.\n\n```claims\n{claims}\n```\n");
    lab.write(&Script::new().first(json!({"phase": "propose", "text": said})));
    lab.run("One file?", &["--rounds", "1", "--json"]).success();
    let id = lab.last();
    lab.file("src/lock.rs", "changed since\n");
    let server = Server::start(&lab, 0);
    let path = |path: &str| format!("/debates/{id}/source?path={path}&line=2");
    let page = server.get(&path("src/lock.rs")).ok().body;
    assert_eq!(flaw(&page), None);
    in_order(
        &page,
        &[
            "id=\"L1\"",
            "hold_the_lock_for_long",
            "id=\"L2\" class=\"meant\"",
            "wait(&quot;&lt;b&gt;&quot;)",
        ],
    );
    assert_eq!(server.get(&path("src/other.rs")).status, 404, "nobody cites it");
    let cookie = server.cookie();
    assert_eq!(server.get_as(&path("src/other.rs"), &[&cookie]).status, 200);
    for wrong in ["../home/key", "/etc/passwd", "src/../../home/key", "..%2Fhome%2Fkey", "src", ""]
    {
        assert_eq!(server.get_as(&path(wrong), &[&cookie]).status, 404, "{wrong}");
    }
}

#[test]
fn an_export_is_one_file_to_be_kept() {
    let (lab, id) = played();
    let server = Server::start(&lab, 0);
    let answer = server.get(&format!("/debates/{id}/export")).ok();
    assert!(
        answer.head.contains("content-disposition: attachment; filename=\"debate-"),
        "{}",
        answer.head
    );
    assert_eq!(flaw(&answer.body), None);
    assert!(!answer.body.contains("<script") && !answer.body.contains("href=\"/"));
}

#[test]
fn a_hundred_viewers_hear_the_same() {
    let (lab, id) = played();
    let server = Server::start(&lab, 0);
    let streams: Vec<_> = (0..100).map(|_| server.follow(&id, Some(0), None)).collect();
    let mut all = streams.into_iter().map(Iterator::collect::<Vec<Heard>>);
    let first = all.next().unwrap();
    assert!(all.all(|heard| heard == first));
}
