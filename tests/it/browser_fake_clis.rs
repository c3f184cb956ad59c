//! Fake `claude` and `codex` CLIs that stream their output in steps. Before each step but the first
//! they wait for a file that the test creates, so the test controls the pace.
use crate::test_env::{RunningProcess, TestEnv, wait_until};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;

/// Debate that runs in another process.
pub(crate) struct RunningDebate {
    pub(crate) process: RunningProcess,
    pub(crate) id: String,
}

/// Starts `claude` against `codex` with a scripted judge, and waits for the debate's id.
pub(crate) fn start_debate(lab: &TestEnv, topic: &str, rounds: &str) -> RunningDebate {
    let judge = lab.script_seat("pro.json");
    let seats = ["--proposer", "claude", "--challenger", "codex", "--judge", &judge];
    let args = ["run", topic, "--rounds", rounds, "--no-probe"];
    let running = lab.debate(&[&args[..], &seats].concat()).spawn();
    let mut id = String::new();
    wait_until("the debate is open", || {
        let listed = lab.debate(&["list", "--json"]).expect_success().json();
        listed["debates"][0]["id"].as_str().unwrap_or_default().clone_into(&mut id);
        !id.is_empty()
    });
    RunningDebate { process: running, id }
}

/// Installs a `claude` that streams one chunk per step and ends with its result in a further step.
pub(crate) fn install_proposer(lab: &TestEnv, pieces: &[&str]) {
    let text = pieces.concat();
    let init = json!({"type": "system", "subtype": "init", "model": "claude-big"});
    let mut steps: Vec<Vec<Value>> = pieces
        .iter()
        .map(|piece| {
            let delta = json!({"type": "text_delta", "text": piece});
            vec![json!({"type": "stream_event",
                "event": {"type": "content_block_delta", "delta": delta}})]
        })
        .collect();
    steps[0].insert(0, init);
    steps.push(vec![json!({"type": "result", "subtype": "success", "is_error": false,
        "result": text, "total_cost_usd": 0.25,
        "usage": {"input_tokens": 100, "output_tokens": 20}})]);
    install_stepped_cli(lab, "claude", &steps);
}

/// Installs a `codex` that replies after one step.
pub(crate) fn install_challenger(lab: &TestEnv, text: &str) {
    let steps = [
        vec![json!({"type": "thread.started", "thread_id": "t"})],
        vec![
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 20}}),
        ],
    ];
    install_stepped_cli(lab, "codex", &steps);
}

/// Releases a step of `tool`, counted from 1.
pub(crate) fn release_step(lab: &TestEnv, tool: &str, step: usize) {
    fs::write(lab.temp_path(&format!("let-{tool}-{step}")), "").unwrap();
}

fn install_stepped_cli(lab: &TestEnv, tool: &str, steps: &[Vec<Value>]) {
    let mut does = String::new();
    for (nth, lines) in steps.iter().enumerate() {
        if nth > 0 {
            let gate = lab.temp_path(&format!("let-{tool}-{nth}"));
            let gate = gate.display();
            let _ = writeln!(does, "while [ ! -e '{gate}' ]; do /bin/sleep 0.05; done");
        }
        let said = lab.temp_path(&format!("said-{tool}-{nth}"));
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&said, lines.join("\n") + "\n").unwrap();
        let _ = writeln!(does, "/bin/cat '{}'", said.display());
    }
    lab.install_fake_with_script(tool, &does);
}
