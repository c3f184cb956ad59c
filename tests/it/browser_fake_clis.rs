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
pub(crate) fn start_debate(env: &TestEnv, topic: &str, rounds: &str) -> RunningDebate {
    let judge = env.script_seat("pro.json");
    let seats = ["--proposer", "claude", "--challenger", "codex", "--judge", &judge];
    let args = ["run", topic, "--rounds", rounds, "--no-probe"];
    let process = env.debate(&[&args[..], &seats].concat()).spawn();
    let mut id = String::new();
    wait_until("the debate is open", || {
        let listed = env.debate(&["list", "--json"]).expect_success().json();
        listed["debates"][0]["id"].as_str().unwrap_or_default().clone_into(&mut id);
        !id.is_empty()
    });
    RunningDebate { process, id }
}

/// Installs a `claude` that streams one chunk per step and ends with its result in a further step.
pub(crate) fn install_proposer(env: &TestEnv, chunks: &[&str]) {
    let text = chunks.concat();
    let init = json!({"type": "system", "subtype": "init", "model": "claude-big"});
    let mut steps: Vec<Vec<Value>> = chunks
        .iter()
        .map(|chunk| {
            let delta = json!({"type": "text_delta", "text": chunk});
            vec![json!({"type": "stream_event",
                "event": {"type": "content_block_delta", "delta": delta}})]
        })
        .collect();
    steps[0].insert(0, init);
    steps.push(vec![json!({"type": "result", "subtype": "success", "is_error": false,
        "result": text, "total_cost_usd": 0.25,
        "usage": {"input_tokens": 100, "output_tokens": 20}})]);
    install_stepped_cli(env, "claude", &steps);
}

/// Installs a `codex` that replies after one step.
pub(crate) fn install_challenger(env: &TestEnv, text: &str) {
    let steps = [
        vec![json!({"type": "thread.started", "thread_id": "t"})],
        vec![
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 20}}),
        ],
    ];
    install_stepped_cli(env, "codex", &steps);
}

/// Releases a step of `tool`, counted from 1.
pub(crate) fn release_step(env: &TestEnv, tool: &str, step: usize) {
    fs::write(env.temp_path(&format!("let-{tool}-{step}")), "").unwrap();
}

fn install_stepped_cli(env: &TestEnv, tool: &str, steps: &[Vec<Value>]) {
    let mut script = String::new();
    for (step, lines) in steps.iter().enumerate() {
        if step > 0 {
            let gate = env.temp_path(&format!("let-{tool}-{step}"));
            let gate = gate.display();
            let _ = writeln!(script, "while [ ! -e '{gate}' ]; do /bin/sleep 0.05; done");
        }
        let output_path = env.temp_path(&format!("said-{tool}-{step}"));
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&output_path, lines.join("\n") + "\n").unwrap();
        let _ = writeln!(script, "/bin/cat '{}'", output_path.display());
    }
    env.install_fake_with_script(tool, &script);
}
