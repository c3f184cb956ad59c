//! The web site of `debate view` and `debate serve`, tested with plain HTTP requests: pages,
//! headers, login, actions and export.
use crate::command_queue::{test_app, test_workspace};
use crate::html_checker::find_html_error;
use crate::scripted_replies::tribunal;
use crate::test_env::{SeatScript, TestEnv, assert_contains_in_order, wait_until};
use crate::web_client::WebServer;
use debate_mcp::web::SiteScope;
use debate_mcp::web::auth::AuthTokens;
use debate_mcp::web::listen;
use debate_mcp::web::origin_check::OriginCheck;
use debate_mcp::web::site::{self, SiteConfig};
use serde_json::json;

/// A test environment with one finished duel.
pub(crate) fn set_up_finished_duel() -> (TestEnv, String) {
    let env = TestEnv::new();
    env.debate_run("One file or many?", &["--json"]).expect_success();
    let id = env.latest_debate_id();
    (env, id)
}

/// A test environment with a tribunal that waits for the vote of a human listener.
pub(crate) fn set_up_tribunal_with_human_listener() -> (TestEnv, String) {
    let env = TestEnv::new();
    let script_seat = env.write_replies(&tribunal(3));
    let args =
        ["run", "One file?", "--format", "tribunal", "--model", &script_seat, "--rounds", "3"];
    let listener_args = ["--same-judge", "--listener", "risk-averse=human"];
    env.debate(&[&args[..], &listener_args].concat()).stdin("").expect_exit_code(2);
    let id = env.latest_debate_id();
    (env, id)
}

#[test]
fn every_page_is_valid_html_with_security_headers() {
    let (env, id) = set_up_finished_duel();
    let server = WebServer::start(&env, 0);
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
    let timeline = server.get(&format!("{base}/timeline")).expect_ok().json();
    assert_eq!(timeline.as_array().unwrap().len(), env.events(&id).len());
    assert_eq!(timeline[1]["turn"], "turn-0-1-0-0");
}

#[test]
fn assets_are_cached_by_content_hash() {
    let (env, _) = set_up_finished_duel();
    let server = WebServer::start(&env, 0);
    let page = server.get("/").expect_ok().body;
    for (prefix, kind) in
        [("/assets/app.css?v=", "text/css"), ("/assets/app.js?v=", "text/javascript")]
    {
        let start = page.find(prefix).unwrap();
        let path = page[start..].split('"').next().unwrap();
        let asset = server.get(path).expect_ok();
        assert!(asset.header.contains(&format!("content-type: {kind}")), "{}", asset.header);
        assert!(asset.header.contains("immutable"), "{}", asset.header);
        let tag = asset.header.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let cached = server.get_with_headers(path, &[&format!("If-None-Match: {tag}")]);
        assert_eq!((cached.status, cached.body.as_str()), (304, ""));
    }
    assert!(server.get("/favicon.svg").expect_ok().header.contains("image/svg+xml"));
}

#[test]
fn only_loopback_host_names_are_accepted() {
    let (env, _) = set_up_finished_duel();
    let server = WebServer::start(&env, 0);
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
    let output = env.debate(&["view", "--bind", "0.0.0.0:0"]).expect_error(2);
    output.assert_stderr_contains("can be reached by others");
}

/// A site as `debate serve` mounts it: limited to one format, with a token per access level.
#[test]
fn scoped_site_hides_other_formats_and_needs_a_token() {
    let (env, duel_id) = set_up_finished_duel();
    let script_seat = env.write_replies(&tribunal(3));
    let args =
        ["run", "A court?", "--format", "tribunal", "--model", &script_seat, "--rounds", "3"];
    env.debate(&[&args[..], &["--same-judge", "--json"]].concat()).expect_success();
    let tribunal_id = env.latest_debate_id();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let app = test_app(&env);
    let auth = AuthTokens::new(&*app.archive().key, "serve", false).unwrap();
    let (owner_token, reader_token) =
        (auth.owner_token().to_owned(), auth.reader_token().to_owned());
    assert!(owner_token != reader_token && owner_token.len() == 40);
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let site = site::router(SiteConfig {
        app,
        workspace: test_workspace(&env),
        scope: SiteScope::Format("tribunal".into()),
        auth,
        origin_check: OriginCheck::new(address, &["Debates.example".into()]),
        sign_in_hint: String::new(),
        arena: None,
    });
    runtime.spawn(listen(listener, site));
    let anonymous = WebServer::in_process(address.port(), "0000");
    assert_eq!(anonymous.get("/").status, 401);
    assert_eq!(anonymous.get(&format!("/debates/{tribunal_id}/events")).status, 401);
    assert_eq!(anonymous.get("/assets/app.css").status, 200);
    let reader_client = WebServer::in_process(address.port(), &reader_token);
    let cookie = reader_client.login_cookie();
    let page = reader_client.get_with_headers("/", &[&cookie]).expect_ok().body;
    assert!(page.contains(&tribunal_id) && !page.contains(&duel_id), "{page}");
    assert!(!page.contains("name=\"root\""), "readers cannot filter by folder");
    let searched =
        reader_client.get_with_headers("/?q=file&format=duel&root=x", &[&cookie]).expect_ok().body;
    assert!(!searched.contains(&duel_id), "{searched}");
    for path in ["", "/fragments", "/timeline", "/events", "/export", "/source?path=x"] {
        let response =
            reader_client.get_with_headers(&format!("/debates/{duel_id}{path}"), &[&cookie]);
        assert_eq!(response.status, 404, "{path}");
    }
    assert_eq!(
        reader_client.get_with_headers(&format!("/debates/{tribunal_id}"), &[&cookie]).status,
        200
    );
    assert_eq!(
        reader_client.get_with_headers("/", &["Host: debates.example", &cookie]).status,
        200,
        "a configured host name"
    );
    let compare_path = format!("/compare?a={tribunal_id}&b={duel_id}");
    assert_eq!(reader_client.get_with_headers(&compare_path, &[&cookie]).status, 404);
    let bearer = format!("Authorization: Bearer {reader_token}");
    assert_eq!(reader_client.get_with_headers("/leaderboard", &[&bearer]).status, 200);
    let action_path = format!("/debates/{tribunal_id}/actions/pause");
    assert_eq!(
        reader_client.post(&action_path, &[&cookie], "csrf=x").status,
        401,
        "readers cannot act"
    );
    let owner_cookie = WebServer::in_process(address.port(), &owner_token).login_cookie();
    assert_eq!(
        reader_client.post(&action_path, &[&owner_cookie], "csrf=x").status,
        403,
        "the CSRF token is invalid"
    );
}

#[test]
fn actions_need_a_login_and_a_csrf_token() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    let id = env.latest_debate_id();
    let server = WebServer::start(&env, 0);
    let before = env.events(&id).len();
    let page = format!("/debates/{id}");
    let action = |name: &str| format!("/debates/{id}/actions/{name}");
    let reader_page = server.get(&page).expect_ok().body;
    assert!(
        !reader_page.contains("<form method=\"post\"") && reader_page.contains("Read only."),
        "{reader_page}"
    );
    assert_eq!(server.get("/enter?token=0000").status, 403);
    assert_eq!(server.post(&action("remark"), &[], "text=x&csrf=x").status, 401);
    let cookie = server.login_cookie();
    let owner_page = server.get_with_headers(&page, &[&cookie]).expect_ok().body;
    let csrf =
        owner_page.split_once("name=\"csrf\" value=\"").unwrap().1.split('"').next().unwrap();
    let valid_body = format!("csrf={csrf}&text=Mind+the+cost.");
    for (headers, body, status) in [
        (vec![cookie.as_str()], "text=x", 403),
        (vec![cookie.as_str()], "text=x&csrf=0000", 403),
        (vec![cookie.as_str(), "Origin: http://evil.example"], valid_body.as_str(), 403),
        (vec![cookie.as_str(), "Origin: null"], valid_body.as_str(), 403),
        (vec![cookie.as_str(), "Sec-Fetch-Site: cross-site"], valid_body.as_str(), 403),
        (vec!["Cookie: debate_view=0000"], valid_body.as_str(), 401),
    ] {
        assert_eq!(
            server.post(&action("remark"), &headers, body).status,
            status,
            "{headers:?} {body}"
        );
    }
    let empty_body = format!("csrf={csrf}&text=+");
    assert_eq!(server.post(&action("remark"), &[&cookie], &empty_body).status, 422);
    assert_eq!(server.post(&action("explode"), &[&cookie], &valid_body).status, 404);
    assert_eq!(env.events(&id).len(), before, "none of these was executed");
    // A typed URL redirects at once. A cross-site link gets a page that refreshes, so that the
    // strict cookie is sent.
    let login = server.get_with_headers(&server.login_path, &["Sec-Fetch-Site: none"]);
    assert_eq!(login.status, 303);
    assert_contains_in_order(
        &login.header,
        &["location: /", "set-cookie: debate_view=", "httponly; samesite=strict"],
    );
    assert!(!login.header.contains("secure"));
    let cross_site = ["Sec-Fetch-Site: cross-site", "X-Forwarded-Proto: https"];
    let refresh_page = server
        .get_with_headers(&format!("{}&next={id}", server.login_path), &cross_site)
        .expect_ok();
    assert!(refresh_page.header.contains("samesite=strict; secure"), "{}", refresh_page.header);
    assert!(
        refresh_page.header.contains(&format!("refresh: 0; url=/debates/{}", id.to_lowercase()))
    );
    let foreign_next =
        server.get(&format!("{}&next=//evil.example", server.login_path)).expect_ok();
    assert!(foreign_next.header.contains("refresh: 0; url=/\r\n"), "{}", foreign_next.header);
}

#[test]
fn logged_in_user_can_remark_and_request_the_verdict() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    let id = env.latest_debate_id();
    let server = WebServer::start(&env, 0);
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
    let post_action = |name: &str, fields: &str| {
        server.post(
            &format!("/debates/{id}/actions/{name}"),
            &headers,
            &format!("csrf={csrf}&{fields}"),
        )
    };
    let remark_response = post_action("remark", "text=Mind+the+%2A%2Acost%2A%2A.");
    assert_eq!(remark_response.status, 303, "{remark_response:?}");
    assert!(
        remark_response.header.contains(&format!("location: /debates/{}", id.to_lowercase())),
        "{}",
        remark_response.header
    );
    assert!(page().contains("Mind the <strong>cost</strong>."));
    let json_headers = [headers[0], headers[1], "Accept: application/json"];
    let body = format!("csrf={csrf}");
    let response = server.post(&format!("/debates/{id}/actions/verdict"), &json_headers, &body);
    assert_eq!((response.status, &response.json()["ok"]), (200, &json!(true)), "{response:?}");
    wait_until("the debate is over", || page().contains("had the stronger argument"));
    let response = server.post(&format!("/debates/{id}/actions/pause"), &json_headers, &body);
    assert_eq!((response.status, &response.json()["ok"]), (409, &json!(false)), "{response:?}");
    env.assert_replays(&id);
}

#[test]
fn human_votes_on_the_page_without_seeing_sealed_turns() {
    let (env, id) = set_up_tribunal_with_human_listener();
    let server = WebServer::start(&env, 0);
    let cookie = server.login_cookie();
    let page = || server.get_with_headers(&format!("/debates/{id}"), &[&cookie]).expect_ok().body;
    let sealed_page = page();
    let search_page = server.get("/?q=ahead").expect_ok().body;
    let fragments = server.get(&format!("/debates/{id}/fragments")).expect_ok().body;
    for hidden_text in ["A is ahead.", "It was shown in T1", "stronger argument"] {
        assert!(
            !sealed_page.contains(hidden_text)
                && !search_page.contains(hidden_text)
                && !fragments.contains(hidden_text),
            "{hidden_text}"
        );
    }
    assert!(sealed_page.contains("(Sealed until all have answered.)"), "{sealed_page}");
    let form = sealed_page.split_once("class=\"vote\">").unwrap().1;
    let field = |name: &str| {
        let prefix = format!("name=\"{name}\" value=\"");
        form.split_once(&prefix).unwrap().1.split('"').next().unwrap().to_owned()
    };
    let (csrf, turn, take) = (field("csrf"), field("turn"), field("take"));
    let vote =
        format!("csrf={csrf}&turn={turn}&take={take}&side=con&confidence=90&reason=Backups.");
    let path = format!("/debates/{id}/actions/vote");
    let invalid_vote = vote.replace("confidence=90", "confidence=900");
    assert_eq!(server.post(&path, &[&cookie], &invalid_vote).status, 422);
    assert_eq!(server.post(&path, &[&cookie], &vote).status, 303);
    wait_until("the debate is over", || page().contains("had the stronger argument"));
    assert_contains_in_order(&page(), &["id=\"panel-votes\"", "Backups."]);
    assert_eq!(server.post(&path, &[&cookie], &vote).status, 409, "a second vote is refused");
}

#[test]
fn archive_page_can_be_searched_and_filtered() {
    let (env, finished_id) = set_up_finished_duel();
    env.debate_run("Another <b>question</b>?", &["--pause", "--json"]).expect_exit_code(2);
    let paused_id = env.latest_debate_id();
    let server = WebServer::start(&env, 0);
    let archive_page = server.get("/").expect_ok().body;
    assert_contains_in_order(
        &archive_page,
        &[
            "2 debates.",
            &format!("data-debate=\"{paused_id}\""),
            &format!("data-debate=\"{finished_id}\""),
        ],
    );
    assert!(archive_page.contains("Another &lt;b&gt;question&lt;/b&gt;?"));
    let is_listed = |query: &str| -> [bool; 2] {
        let page = server.get(&format!("/?{query}")).expect_ok().body;
        assert_eq!(find_html_error(&page), None, "{query}");
        [&finished_id, &paused_id].map(|id| page.contains(&format!("data-debate=\"{id}\"")))
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
        assert_eq!(is_listed(query), expected, "{query}");
    }
    let search_page = server.get("/?q=LOCKS").expect_ok().body;
    assert!(search_page.contains("One file <mark>locks</mark>."), "{search_page}");
}

#[test]
fn readers_see_only_cited_files_as_pinned() {
    let env = TestEnv::new();
    env.write_repo_file("src/lock.rs", "fn hold_the_lock_for_long() {\n    wait(\"<b>\");\n}\n");
    env.write_repo_file("src/other.rs", "fn nobody_speaks_of_this() {}\n");
    let claims = json!({"claims": [{"id": "P1", "text": "It is held.", "evidence":
        ["src/lock.rs:1 \"fn hold_the_lock_for_long()\""], "answers": []}], "concedes": [], "resolves": []});
    let speech = format!("It is held.\n\n```claims\n{claims}\n```\n");
    env.write_script(&SeatScript::new().prepend(json!({"phase": "propose", "text": speech})));
    env.debate_run("One file?", &["--rounds", "1", "--json"]).expect_success();
    let id = env.latest_debate_id();
    env.write_repo_file("src/lock.rs", "changed since\n");
    let server = WebServer::start(&env, 0);
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
    assert_eq!(server.get(&path("src/other.rs")).status, 404, "no turn cites it");
    let cookie = server.login_cookie();
    assert_eq!(server.get_with_headers(&path("src/other.rs"), &[&cookie]).status, 200);
    for uncited in
        ["../home/key", "/etc/passwd", "src/../../home/key", "..%2Fhome%2Fkey", "src", ""]
    {
        assert_eq!(server.get_with_headers(&path(uncited), &[&cookie]).status, 404, "{uncited}");
    }
}

#[test]
fn export_is_one_self_contained_file() {
    let (env, id) = set_up_finished_duel();
    let server = WebServer::start(&env, 0);
    let response = server.get(&format!("/debates/{id}/export")).expect_ok();
    assert!(
        response.header.contains("content-disposition: attachment; filename=\"debate-"),
        "{}",
        response.header
    );
    assert_eq!(find_html_error(&response.body), None);
    assert!(!response.body.contains("<script") && !response.body.contains("href=\"/"));
}
