//! Third-party MCP clients (Python SDK, TypeScript SDK, MCP Inspector) each play a whole duel with
//! the real server and reply for every seat.
use crate::prerequisites::{find_program_or_skip, repo_path};
use crate::test_env::TestEnv;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const NODE_INSTALL: &str = "npm ci --prefix tests/clients";
const PYTHON_INSTALL: &str = "python3 -m venv target/clients && target/clients/bin/pip install -r \
                      tests/clients/requirements.txt";

fn find_node() -> Option<PathBuf> {
    let modules = [repo_path("tests/clients/node_modules/@modelcontextprotocol")];
    find_program_or_skip("node", Path::new("node"), &modules, NODE_INSTALL)
}

fn find_python() -> Option<PathBuf> {
    find_program_or_skip("python", &repo_path("target/clients/bin/python"), &[], PYTHON_INSTALL)
}

/// Runs a client script and checks the JSON summary of the duel that it prints.
#[track_caller]
fn assert_client_plays_duel(
    program: Option<PathBuf>,
    script: &str,
    client: &str,
    protocol: &Value,
) {
    let Some(program) = program else { return };
    let env = TestEnv::new();
    let output = Command::new(program)
        .arg(repo_path("tests/clients").join(script))
        .arg(env!("CARGO_BIN_EXE_debate"))
        .current_dir(env.repo_root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", env.temp_path("user"))
        .env("DEBATE_HOME", env.data_dir())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["client"], client);
    assert_eq!(&summary["protocol"], protocol);
    assert_eq!(summary["tools"].as_array().unwrap().len(), 7);
    assert_eq!(summary["turns"], json!(["0.1.0.0", "0.1.1.1", "1.2.0.0", "1.2.1.1", "3.0.0.3"]));
    assert_eq!((&summary["status"], &summary["winner"]), (&json!("completed"), &json!("proposer")));
    let id = env.latest_debate_id();
    assert!(env.turn_counts(&id).values().all(|times| *times == 1));
    env.assert_replays(&id);
}

#[test]
fn python_sdk_session_plays_a_duel() {
    assert_client_plays_duel(find_python(), "session.py", "python session", &json!("2025-11-25"));
}

#[test]
fn python_sdk_client_plays_a_duel() {
    assert_client_plays_duel(find_python(), "client.py", "python client", &json!("2026-07-28"));
}

#[test]
fn typescript_sdk_plays_a_duel() {
    assert_client_plays_duel(find_node(), "sdk.mjs", "typescript sdk", &json!("2025-11-25"));
}

#[test]
fn mcp_inspector_plays_a_duel() {
    assert_client_plays_duel(find_node(), "inspector.mjs", "inspector", &Value::Null);
}
