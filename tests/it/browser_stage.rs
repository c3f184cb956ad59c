//! Fake `claude` and `codex` CLIs that stream their output in steps. Before each step but the first
//! they wait for a file that the test creates, so the test controls the pace.
use crate::lab::{Lab, Running, until};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;

/// Debate that runs in another process.
pub(crate) struct Played {
    pub(crate) running: Running,
    pub(crate) id: String,
}

/// Starts `claude` against `codex` with a scripted judge, and waits for the debate's id.
pub(crate) fn begin(lab: &Lab, topic: &str, rounds: &str) -> Played {
    let judge = lab.seat("pro.json");
    let seats = ["--proposer", "claude", "--challenger", "codex", "--judge", &judge];
    let args = ["run", topic, "--rounds", rounds, "--no-probe"];
    let running = lab.debate(&[&args[..], &seats].concat()).start();
    let mut id = String::new();
    until("the debate is open", || {
        let listed = lab.debate(&["list", "--json"]).success().json();
        listed["debates"][0]["id"].as_str().unwrap_or_default().clone_into(&mut id);
        !id.is_empty()
    });
    Played { running, id }
}

/// Installs a `claude` that streams one chunk per step and ends with its result in a further step.
pub(crate) fn proposer(lab: &Lab, pieces: &[&str]) {
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
    in_steps(lab, "claude", &steps);
}

/// Installs a `codex` that replies after one step.
pub(crate) fn challenger(lab: &Lab, text: &str) {
    let steps = [
        vec![json!({"type": "thread.started", "thread_id": "t"})],
        vec![
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 20}}),
        ],
    ];
    in_steps(lab, "codex", &steps);
}

/// Releases a step of `tool`, counted from 1.
pub(crate) fn let_on(lab: &Lab, tool: &str, step: usize) {
    fs::write(lab.outside(&format!("let-{tool}-{step}")), "").unwrap();
}

fn in_steps(lab: &Lab, tool: &str, steps: &[Vec<Value>]) {
    let mut does = String::new();
    for (nth, lines) in steps.iter().enumerate() {
        if nth > 0 {
            let gate = lab.outside(&format!("let-{tool}-{nth}"));
            let gate = gate.display();
            let _ = writeln!(does, "while [ ! -e '{gate}' ]; do /bin/sleep 0.05; done");
        }
        let said = lab.outside(&format!("said-{tool}-{nth}"));
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&said, lines.join("\n") + "\n").unwrap();
        let _ = writeln!(does, "/bin/cat '{}'", said.display());
    }
    lab.program(tool, &does);
}
