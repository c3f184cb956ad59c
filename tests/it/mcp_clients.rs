//! Third-party MCP clients (Python SDK, TypeScript SDK, MCP Inspector) each play a whole duel with
//! the real server and reply for every seat.
use crate::lab::Lab;
use crate::needs::{here, needs};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const NODE: &str = "npm ci --prefix tests/clients";
const PYTHON: &str = "python3 -m venv target/clients && target/clients/bin/pip install -r \
                      tests/clients/requirements.txt";

fn node() -> Option<PathBuf> {
    let modules = [here("tests/clients/node_modules/@modelcontextprotocol")];
    needs("node", Path::new("node"), &modules, NODE)
}

fn python() -> Option<PathBuf> {
    needs("python", &here("target/clients/bin/python"), &[], PYTHON)
}

/// Runs a client script and checks the JSON summary of the duel that it prints.
#[track_caller]
fn plays_a_duel(program: Option<PathBuf>, script: &str, client: &str, protocol: &Value) {
    let Some(program) = program else { return };
    let lab = Lab::new();
    let done = Command::new(program)
        .arg(here("tests/clients").join(script))
        .arg(env!("CARGO_BIN_EXE_debate"))
        .current_dir(lab.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", lab.outside("user"))
        .env("DEBATE_HOME", lab.home())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    let account: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(account["client"], client);
    assert_eq!(&account["protocol"], protocol);
    assert_eq!(account["tools"].as_array().unwrap().len(), 7);
    assert_eq!(account["turns"], json!(["0.1.0.0", "0.1.1.1", "1.2.0.0", "1.2.1.1", "3.0.0.3"]));
    assert_eq!((&account["status"], &account["winner"]), (&json!("completed"), &json!("proposer")));
    let id = lab.last();
    assert!(lab.turns_taken(&id).values().all(|times| *times == 1));
    lab.replays(&id);
}

#[test]
fn the_session_of_the_python_sdk_plays_a_duel() {
    plays_a_duel(python(), "session.py", "python session", &json!("2025-11-25"));
}

#[test]
fn the_client_of_the_python_sdk_plays_a_duel() {
    plays_a_duel(python(), "client.py", "python client", &json!("2026-07-28"));
}

#[test]
fn the_typescript_sdk_plays_a_duel() {
    plays_a_duel(node(), "sdk.mjs", "typescript sdk", &json!("2025-11-25"));
}

#[test]
fn the_inspector_plays_a_duel() {
    plays_a_duel(node(), "inspector.mjs", "inspector", &Value::Null);
}
