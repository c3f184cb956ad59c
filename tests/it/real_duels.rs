//! Whole duels between the real CLIs, each in every seat, from the terminal and through the server.
use crate::real_cli::{RealCliEnv, percent_encode};
use crate::test_env::{speech_with_claim, verdict_json};
use serde_json::{Value, json};
use std::io::Write;

const TOOLS: [&str; 5] = ["claude", "codex", "gemini", "opencode", "copilot"];

/// `cargo test --test it real_duels -- --ignored --nocapture`
#[test]
#[ignore = "thirty calls of five real programs take minutes"]
fn every_real_tool_plays_every_seat() {
    for nth in 0..TOOLS.len() {
        let [one, two, three] = [0, 1, 2].map(|offset| TOOLS[(nth + offset) % TOOLS.len()]);
        let Some(cli_env) = RealCliEnv::with_tools(&[one, two, three]) else { return };
        let say_scenario = |text: String| format!("say:{}", percent_encode(&text));
        let (pro, con) = (
            speech_with_claim("Use one file.", "P1", &[]),
            speech_with_claim("No.", "C1", &["P1"]),
        );
        let (pro, con, judge) =
            (say_scenario(pro), say_scenario(con), say_scenario(verdict_json("pro").to_string()));
        cli_env.configure_tools(&[(one, &pro), (two, &con), (three, &judge)]);
        let seats = ["--proposer", one, "--challenger", two, "--judge", three];
        let args = [&["run", "One file?", "--rounds", "1", "--json"][..], &seats].concat();
        let result = cli_env.env.debate(&args).expect_success().json();
        assert_played_by(&result, [one, two, three]);
        let mut host = cli_env.env.mcp_client();
        let mut status = host.call_tool(
            "start_debate",
            json!({"topic": "And here?", "proposer": one, "challenger": two, "judge": three,
                "rounds": 1, "options": {"pause": false}, "wait_seconds": 15}),
        );
        while status["status"] == "running" {
            status = host.call_tool("continue_round", json!({"wait_seconds": 15}));
        }
        let view = cli_env.env.debate(&["show", "last", "--json"]).expect_success().json();
        assert_played_by(&view, [one, two, three]);
        let _ = writeln!(std::io::stderr(), "{one} against {two} before {three}: twice");
    }
}

fn assert_played_by(result: &Value, [one, two, three]: [&str; 3]) {
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(result["verdict"]["winner"], one, "{result:#}");
    let turns = result["turns"].as_array().unwrap();
    let tools: Vec<&str> = turns.iter().map(|turn| turn["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, [one, two, three, three]);
    for turn in turns {
        let envelope = &turn["envelope"];
        assert_eq!(envelope["exit_code"], 0, "{turn:#}");
        assert!(envelope["version"].is_string() && envelope["duration_ms"].as_u64() > Some(0));
    }
}
