//! Limits of the web pages at their exact boundary: archive, search and comparison of a large
//! archive, forms, remarks and votes.
use crate::test_env::TestEnv;
use crate::web_client::WebServer;
use crate::web_site::set_up_tribunal_with_human_listener;

/// Lists the only debate of an archive so many times more, under the topic "Copied?".
fn add_copies(env: &TestEnv, copies: u32) {
    let connection = rusqlite::Connection::open(env.data_dir().join("archive.db")).unwrap();
    let sql =
        "WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ?1)
        INSERT INTO debates (public_id, topic, created_at, setup, root, format, updated_at, status,
            labels)
        SELECT 'copy-' || n, 'Copied?', created_at, '{}', root, format, updated_at, status, labels
        FROM debates, copies";
    assert_eq!(connection.execute(sql, [copies]).unwrap(), copies as usize);
}

#[test]
fn large_archive_is_listed_in_part() {
    let env = TestEnv::new();
    env.debate_run("One file or many?", &["--json"]).expect_success();
    add_copies(&env, 5_000);
    let server = WebServer::start(&env, 0);
    let page = |query: &str| server.get(&format!("/{query}")).expect_ok().body;
    let archive_page = page("");
    assert!(archive_page.contains(">5000 debates.<"), "5,001 debates exist");
    assert_eq!(archive_page.matches("data-debate=").count(), 25);
    assert_eq!(page("?page=200").matches("data-debate=").count(), 25);
    assert_eq!(page("?page=201").matches("data-debate=").count(), 0);
    assert!(page("?q=Copied").contains(">500 debates.<"), "5,000 topics match");
    assert_eq!(page("compare").matches("<option value=").count(), 2 * 200);
}

#[test]
fn search_uses_the_first_200_characters() {
    let env = TestEnv::new();
    env.debate_run("One file or many?", &["--json"]).expect_success();
    let server = WebServer::start(&env, 0);
    let is_found = |ignored_from: usize| {
        let words = format!("{:+<ignored_from$}%7E", "many");
        server.get(&format!("/?q={words}")).expect_ok().body.contains("One debate.")
    };
    assert!(is_found(200), "the 201st character is not searched for");
    assert!(!is_found(199), "the 200th character is searched for");
}

/// The CSRF token of a page's forms.
fn csrf_token(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn forms_and_remarks_have_a_maximum_size() {
    let env = TestEnv::new();
    env.debate_run("One file?", &["--pause", "--json"]).expect_exit_code(2);
    let id = env.latest_debate_id();
    let server = WebServer::start(&env, 0);
    let cookie = server.login_cookie();
    let page = server.get_with_headers(&format!("/debates/{id}"), &[&cookie]).expect_ok().body;
    let form_start = format!("csrf={}&text=", csrf_token(&page));
    let post = |text: &str| {
        let path = format!("/debates/{id}/actions/remark");
        server.post(&path, &[&cookie], &format!("{form_start}{text}")).status
    };
    assert_eq!(post(&"x".repeat(4_001)), 422);
    assert_eq!(post(&"x".repeat(4_000)), 303);
    let fitting = "x".repeat(1_000_000 - form_start.len());
    assert_eq!(post(&fitting), 422, "the form is read, and the remark is too long");
    assert_eq!(post(&format!("{fitting}x")), 413);
}

#[test]
fn vote_has_a_maximum_reason_and_confidence() {
    let (env, id) = set_up_tribunal_with_human_listener();
    let server = WebServer::start(&env, 0);
    let cookie = server.login_cookie();
    let page = server.get_with_headers(&format!("/debates/{id}"), &[&cookie]).expect_ok().body;
    let (_, form) = page.split_once("class=\"vote\">").unwrap();
    let field = |name: &str| {
        let (_, rest) = form.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        rest.split('"').next().unwrap()
    };
    let (csrf, turn, take) = (field("csrf"), field("turn"), field("take"));
    let vote = |confidence: u8, reason_chars: usize| {
        let reason = "x".repeat(reason_chars);
        let body = format!(
            "csrf={csrf}&turn={turn}&take={take}&side=con&confidence={confidence}&reason={reason}"
        );
        server.post(&format!("/debates/{id}/actions/vote"), &[&cookie], &body).status
    };
    assert_eq!(vote(100, 4_001), 422);
    assert_eq!(vote(101, 4_000), 422);
    assert_eq!(vote(100, 4_000), 303);
}
