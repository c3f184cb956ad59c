//! Invalid tool calls: every error tells the model what to do next, and nothing is written.
use crate::mcp_test_client::{McpTestClient, due_tool_call};
use crate::test_env::{TestEnv, speech_with_claim};
use crate::tool_error_text::error_text_flaw;
use serde_json::{Value, json};
use std::fs;

/// Makes every call and checks that its error is well formed and contains the fragment.
#[track_caller]
fn assert_calls_fail(host: &mut McpTestClient, calls: &[(&str, Value, &str)]) {
    let mut failures = vec![];
    for (tool, arguments, fragment) in calls {
        let id = host.start_tool_call(tool, arguments.clone());
        let response = host.wait_for_response(id);
        let text = response["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let flaw = if response["result"]["isError"] != true {
            Some("it is no error".into())
        } else if text.contains(fragment) {
            error_text_flaw(text)
        } else {
            Some(format!("there is no `{fragment}` in it"))
        };
        let short: String = arguments.to_string().chars().take(200).collect();
        let text: String = text.chars().take(300).collect();
        failures.extend(flaw.map(|flaw| format!("{tool} {short}: {flaw}: {text}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Arguments of `start_debate` with one field replaced.
fn start_args_with(name: &str, value: Value) -> Value {
    let mut arguments = json!({"topic": "One file?", "proposer": "host", "challenger": "host"});
    arguments[name] = value;
    arguments
}

#[track_caller]
fn assert_start_fails(env: &TestEnv, calls: &[(&str, Value, &str)]) {
    let mut host = env.mcp_client();
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, value, fragment)| {
            ("start_debate", start_args_with(name, value.clone()), *fragment)
        })
        .collect();
    assert_calls_fail(&mut host, &calls);
    let listed = host.call_tool("list_debates", json!({"query": "in:all"}));
    assert_eq!(listed["debates"], json!([]), "nothing was opened");
    assert!(!env.repo_root().join(".debates").exists(), "and nothing written");
    assert!(!env.repo_root().join(".claude").exists());
}

#[test]
fn invalid_topic_is_refused() {
    assert_start_fails(
        &TestEnv::new(),
        &[
            ("topic", json!(""), "the topic is empty"),
            ("topic", json!(" \n\t "), "the topic is empty"),
            ("topic", json!(null), ""),
            ("topic", json!(5), "expected a string"),
            ("topic", json!(["One file?"]), "expected a string"),
            ("topic", json!("x".repeat(5_000)), "`topic` has 5000 characters; at most 4000"),
            ("topic", json!("数".repeat(4_001)), "`topic` has 4001 characters"),
            ("topic", json!("One\u{0}file?"), "(U+0000)"),
            ("topic", json!("One \u{1b}[31mfile?"), "(U+001B)"),
            ("topic", json!("One \u{9b}31mfile?"), "(U+009B)"),
        ],
    );
}

/// Participant names are validated, must be playable, and both sides must be different tools.
#[test]
fn invalid_seats_are_refused() {
    let env = TestEnv::new();
    assert_start_fails(
        &env,
        &[
            ("proposer", json!("cla ude"), "proposer `cla ude`: a tool's name has letters"),
            ("proposer", json!("-x"), "does not begin with `-`"),
            ("challenger", json!("host:y"), "take no model"),
            ("challenger", json!("claude:--help"), "a model's name has letters"),
            ("judge", json!("claude:opus;ls"), "a model's name has letters"),
            ("judge", json!(":opus"), "a seat is written"),
            ("judge", json!("bot"), "`bot` is not available"),
            ("judge", json!("nobody"), "there is no such tool"),
            ("judge", json!("script"), "name its file"),
            ("judge", json!("script:nowhere.json"), "nowhere.json"),
            ("proposer", json!("\u{1b}[2J"), "(U+001B)"),
            ("proposer", json!("x".repeat(501)), "at most 500"),
            ("proposer", json!(7), "expected a string"),
        ],
    );
    let calls = ["claude", "claude:opus"].map(|challenger| {
        let arguments =
            json!({"topic": "One file?", "proposer": "claude", "challenger": challenger});
        ("start_debate", arguments, "proposer and challenger are both `claude`")
    });
    let mut host = env.mcp_client();
    assert_calls_fail(&mut host, &calls);
    assert_eq!(host.call_tool("list_debates", json!({}))["debates"], json!([]));
}

/// Numbers and enum values are validated, and the error lists the allowed values.
#[test]
fn invalid_rounds_format_and_effort_are_refused() {
    assert_start_fails(
        &TestEnv::new(),
        &[
            ("rounds", json!(0), "0 rounds were asked for; this format has 1 to 5"),
            ("rounds", json!(6), "6 rounds were asked for; this format has 1 to 5"),
            ("rounds", json!(-1), "expected a whole number, not -1"),
            ("rounds", json!(2.5), "expected a whole number, not 2.5"),
            ("rounds", json!("2.5"), "expected a whole number"),
            ("rounds", json!("two"), "expected a whole number"),
            ("rounds", json!(true), "expected a whole number"),
            ("wait_seconds", json!("soon"), "expected a whole number"),
            ("wait_seconds", json!(-1), "expected a whole number"),
            ("format", json!("chess"), "unknown format `chess`; known: "),
            ("effort", json!("heroic"), "effort `heroic` is not known; allowed: low, medium"),
            ("colour", json!("red"), "unknown field `colour`"),
            ("\u{1b}[31m", json!("red"), "unknown field"),
        ],
    );
}

#[test]
fn error_quotes_the_requested_number() {
    let expected = "1000 rounds were asked for";
    assert_start_fails(&TestEnv::new(), &[("rounds", json!(1_000), expected)]);
}

#[test]
fn error_names_the_invalid_argument() {
    let names = ["topic", "proposer", "rounds", "wait_seconds", "format"];
    assert_start_fails(&TestEnv::new(), &names.map(|name| (name, json!({}), name)));
}

#[test]
fn decision_on_an_unknown_turn_is_refused() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    host.start_solo_debate(json!({}));
    let calls = ["continue", "confirm"].map(|decision| {
        let arguments = json!({"decision": decision, "turn": "first"});
        ("continue_round", arguments, "`first` names no turn")
    });
    assert_calls_fail(&mut host, &calls);
}

#[test]
fn unknown_or_invalid_options_are_refused() {
    let keys = "confirm_plan, pause, sealed, stop_when_settled";
    assert_start_fails(
        &TestEnv::new(),
        &[
            ("options", json!({"colour": "red"}), "unknown field `colour`"),
            ("options", json!({"colour": "red"}), keys),
            ("options", json!({"confirm_plan": "perhaps"}), "options: "),
            ("options", json!({"max_cost": -1}), "max_cost is -1"),
            ("options", json!({"max_cost": 1e300}), "max_cost is "),
            ("options", json!({"max_tokens": 1.5}), "options: "),
            ("options", json!({"turn_seconds": -5}), "options: "),
            ("options", json!(5), "options: "),
            ("options", json!(true), "options: "),
            ("options", json!("yes"), "options: "),
        ],
    );
}

#[test]
fn options_as_a_list_are_refused() {
    assert_start_fails(
        &TestEnv::new(),
        &[json!([]), json!([true]), json!("[true]")].map(|list| ("options", list, "options: ")),
    );
}

/// Path traversal, absolute paths and symlinks out of the repository are refused.
#[cfg(unix)]
#[test]
fn context_outside_the_repository_is_refused() {
    let env = TestEnv::new();
    fs::write(env.temp_path("secret.txt"), "SECRET").unwrap();
    let link = env.repo_root().join("link.txt");
    std::os::unix::fs::symlink(env.temp_path("secret.txt"), link).unwrap();
    env.write_repo_file("notes/a.txt", "A");
    let absolute_path = format!("file={}", env.temp_path("secret.txt").display());
    assert_start_fails(
        &env,
        &[
            ("context", json!("file=../secret.txt"), "lead out of the repository"),
            ("context", json!("file=notes/../../secret.txt"), "lead out of the repository"),
            ("context", json!("file=/etc/passwd"), "there is no file"),
            ("context", json!(absolute_path), "there is no file"),
            ("context", json!("file=link.txt"), "is a link"),
            ("context", json!("file=//server/share"), "there is no file"),
            ("context", json!("file=missing.txt"), "missing.txt"),
            ("context", json!("file="), "context `file=`"),
            ("context", json!("file=a\u{0}b"), "(U+0000)"),
            ("context", json!("everything"), "there is no file `everything`"),
        ],
    );
}

#[test]
fn calls_without_a_debate_name_start_debate() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let expected = "there is no debate in ";
    let calls = ["continue_round", "verdict", "summarize", "show_debate"];
    assert_calls_fail(&mut host, &calls.map(|tool| (tool, json!({}), expected)));
    assert_calls_fail(&mut host, &calls.map(|tool| (tool, json!({}), "start_debate")));
    assert_eq!(host.call_tool("list_debates", json!({}))["debates"], json!([]));
}

/// Every kind of invalid call, against existing debates: the logs stay unchanged.
#[test]
fn invalid_calls_change_no_debate() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let other_debate = host.start_solo_debate(json!({"topic": "Another?"}));
    let result = host.start_solo_debate(json!({}));
    let ids = [&other_debate, &result].map(|it| it["debate_id"].as_str().unwrap().to_owned());
    let logs = ids.each_ref().map(|id| env.events(id));
    let (speech, long) = (speech_with_claim("Use one file.", "P1", &[]), "x".repeat(200_001));
    assert_calls_fail(
        &mut host,
        &[
            ("debate", json!({}), "there is no tool `debate`"),
            ("", json!({}), "there is no tool"),
            ("Start_Debate\u{1b}", json!({}), "there is no tool"),
            ("summarize", json!({"debate_id": "debate-1999"}), "there is no debate `debate-1999`"),
            ("summarize", json!({"debate_id": "debate"}), "`debate` matches 2 debates"),
            ("verdict", json!({"debate_id": "' OR 1=1 --"}), "there is no debate"),
            ("verdict", json!({"debate_id": "%"}), "there is no debate `%`"),
            ("summarize", json!({"debate_id": "x\u{0}"}), "(U+0000)"),
            ("summarize", json!({"debate_id": "x".repeat(501)}), "at most 500"),
            ("summarize", json!({"id": ids[0]}), "unknown field `id`"),
            ("summarize", json!({"debate_id": 5}), "expected a string"),
            ("continue_round", json!({"decision": "maybe"}), "decision `maybe` is not known"),
            ("continue_round", json!({"turn": "0.1.0.9"}), "several debates are open"),
            ("continue_round", json!({"say": ""}), "`say` is empty"),
            ("continue_round", json!({"say": "\u{1b}c"}), "(U+001B)"),
            ("continue_round", json!({"say": "a\u{0}b"}), "(U+0000)"),
            ("continue_round", json!({"say": "x".repeat(8_001)}), "at most 8000"),
            ("continue_round", json!({"turn": "0.1.0.0", "speech": ""}), "`speech` is empty"),
            ("continue_round", json!({"turn": "0.1.0.0", "speech": long}), "has 200001 characters"),
            ("continue_round", json!({"turn": "0.1.0.0", "speech": "a\u{0}b"}), "(U+0000)"),
            ("continue_round", json!({"turn": "0.1.0.0", "speech": "\u{1b}[0m"}), "(U+001B)"),
            ("continue_round", json!({"turn": "0\u{1b}", "speech": speech}), "(U+001B)"),
            ("continue_round", json!({"turn": "0.1.0.0", "ruling": {}}), "unknown field `ruling`"),
            ("verdict", json!({"turn": "0.1.0.0", "ruling": "a\u{0}b"}), "(U+0000)"),
            ("verdict", json!({"turn": "0.1.0.0", "speech": speech}), "unknown field `speech`"),
            ("show_debate", json!({"part": "gossip"}), "`gossip` is no part"),
            ("show_debate", json!({"part": "9.9.9.9"}), "names no turn"),
            ("show_debate", json!({"page": 0}), "there is no page 0; `transcript` has 1"),
            ("show_debate", json!({"page": 99}), "there is no page 99; `transcript` has 1"),
            ("show_debate", json!({"page": -1}), "expected a whole number"),
            ("list_debates", json!({"status": "lost"}), "status `lost` is not known"),
            ("list_debates", json!({"query": "x".repeat(600)}), "`query` has 600 characters"),
            ("list_debates", json!({"query": "a\u{0}b"}), "(U+0000)"),
            ("list_debates", json!({"query": "\u{1b}"}), "(U+001B)"),
            ("list_models", json!({"probe": "maybe"}), "expected true or false"),
            ("list_models", json!({"probes": true}), "unknown field `probes`"),
        ],
    );
    assert_eq!(ids.each_ref().map(|id| env.events(id)), logs);
    assert_eq!(host.call_tool("continue_round", json!({})), result);
}

#[test]
fn error_on_a_cancelled_debate_names_no_verdict() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    host.start_solo_debate(json!({}));
    host.call_tool("continue_round", json!({"decision": "cancel"}));
    let error = host.expect_tool_error("continue_round", json!({"decision": "continue"}));
    assert!(!error.contains("has its ruling"), "{error}");
}

#[test]
fn speech_and_remark_are_accepted_up_to_their_limit() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let turn = host.start_solo_debate(json!({}))["due"]["turn"].clone();
    let speech = |chars: usize| json!({"turn": turn, "speech": "x".repeat(chars)});
    let remark = |chars: usize| json!({"say": "y".repeat(chars)});
    for (too_long, expected) in
        [(speech(200_001), "at most 200000"), (remark(8_001), "at most 8000")]
    {
        let error = host.expect_tool_error("continue_round", too_long);
        assert!(error.contains(expected), "{error}");
    }
    let result = host.call_tool("continue_round", speech(200_000));
    assert_eq!(result["due"]["role"], "Challenger");
    host.call_tool("continue_round", remark(8_000));
}

/// Errors quote 60 characters of a tool's name or an invalid pair, and 200 of a rejected change.
#[test]
fn errors_quote_a_limited_number_of_characters() {
    let env = TestEnv::new();
    let mut host = env.mcp_client();
    let mut result = host.start_solo_debate(json!({"options": {"pause": false}}));
    while result["round"] != 2 {
        let (tool, arguments) = due_tool_call(&result).unwrap();
        result = host.call_tool(tool, arguments);
    }
    let change = |say: &str| json!({"decision": "change", "say": say});
    let quoted = format!("`{}`", "z".repeat(60));
    for text in ["z".repeat(60), "z".repeat(61)] {
        let error = host.expect_tool_error(&text, json!({}));
        assert!(error.contains(&quoted), "{error}");
        let error = host.expect_tool_error("continue_round", change(&text));
        assert!(error.contains(&quoted), "{error}");
    }
    // Round 2 has begun, so one round is too few. The spaces only make the text long.
    for (spaces, is_complete) in [(192, true), (193, false)] {
        let say = format!("rounds={}1", " ".repeat(spaces));
        let error = host.expect_tool_error("continue_round", change(&say));
        assert!(error.contains("this cannot be changed now: rounds="), "{error}");
        assert_eq!(error.contains(&say), is_complete, "{error}");
    }
}
