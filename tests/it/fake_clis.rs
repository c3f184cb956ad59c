//! Fake model CLIs: shell scripts that print recorded output and record their arguments,
//! environment and prompt. They are installed in the test environment's only `PATH` folder.
use crate::test_env::TestEnv;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Arguments, environment, working folder and stdin of one fake CLI call.
pub(crate) struct FakeCliCall {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<String>,
    pub(crate) current_dir: String,
    pub(crate) prompt: String,
}

/// Recorded output of a real CLI process.
pub(crate) struct CapturedOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: i32,
}

impl CapturedOutput {
    /// Parses `tests/captures/<name>.txt`.
    pub(crate) fn load(name: &str) -> CapturedOutput {
        let path = crate::prerequisites::repo_path("tests/captures").join(format!("{name}.txt"));
        let text = fs::read_to_string(path).unwrap();
        let part = |from: &str, to: &str| {
            let start = text.find(from).unwrap() + from.len();
            let end = text[start..].find(to).unwrap() + start;
            text[start..end].trim_matches('\n').to_owned()
        };
        let exit_code = part("===== rc\nrc=", " ").parse().unwrap();
        let stdout = part("===== out\n", "===== err") + "\n";
        CapturedOutput { stdout, stderr: part("===== err\n", "===== rc"), exit_code }
    }
}

impl TestEnv {
    /// Installs a fake CLI that prints this output for every prompt.
    pub(crate) fn install_fake_with_output(&self, tool: &str, capture: &CapturedOutput) {
        let call_dir = self.temp_path(&format!("fake-{tool}"));
        fs::create_dir_all(&call_dir).unwrap();
        fs::write(call_dir.join("out"), &capture.stdout).unwrap();
        fs::write(call_dir.join("err"), &capture.stderr).unwrap();
        self.install_fake_with_script(
            tool,
            &format!(
                "/bin/cat '{0}/out'\n/bin/cat '{0}/err' >&2\nexit {1}",
                call_dir.display(),
                capture.exit_code
            ),
        );
    }

    /// Installs a fake CLI that records its call and then runs this shell code.
    pub(crate) fn install_fake_with_script(&self, tool: &str, script: &str) -> PathBuf {
        let call_dir = self.temp_path(&format!("fake-{tool}"));
        fs::create_dir_all(&call_dir).unwrap();
        let path = self.bin_dir().join(tool);
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Fake CLI v1.2.3.'; exit; fi\nprintf '%s\\n' \"$@\" > '{0}/arguments'\n/usr/bin/env > '{0}/environment'\n\
             pwd > '{0}/folder'\n/bin/cat > '{0}/prompt'\n{script}\n",
            call_dir.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The most recent call of a fake CLI.
    pub(crate) fn last_fake_call(&self, tool: &str) -> FakeCliCall {
        let call_dir = self.temp_path(&format!("fake-{tool}"));
        let read = |name: &str| fs::read_to_string(call_dir.join(name)).unwrap();
        let lines = |name: &str| read(name).lines().map(Into::into).collect();
        FakeCliCall {
            arguments: lines("arguments"),
            environment: lines("environment"),
            current_dir: read("folder").trim().to_owned(),
            prompt: read("prompt"),
        }
    }

    /// Installs a fake CLI that replies with this text in the output format of the tool.
    pub(crate) fn install_fake_with_reply(&self, tool: &str, text: &str) {
        self.install_fake_with_output(
            tool,
            &CapturedOutput {
                stdout: cli_stdout(tool, text),
                stderr: "a banner\n".into(),
                exit_code: 0,
            },
        );
    }
}

/// Stdout of a tool for this reply, in the tool's own stream format (JSON lines).
pub(crate) fn cli_stdout(tool: &str, text: &str) -> String {
    let lines: Vec<Value> = match tool {
        "claude" => vec![
            json!({"type": "system", "subtype": "init", "model": "claude-big",
                    "claude_code_version": "9.9"}),
            json!({"type": "stream_event", "event": {"type": "content_block_delta",
                    "delta": {"type": "text_delta", "text": text}}}),
            json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
                    "total_cost_usd": 0.25, "usage": {"input_tokens": 100, "output_tokens": 20},
                    "modelUsage": {"claude-big": {"outputTokens": 20}}}),
        ],
        "codex" => vec![
            json!({"type": "thread.started", "thread_id": "t"}),
            json!({"type": "item.completed", "item": {"type": "error", "message": "a warning"}}),
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 20}}),
        ],
        "gemini" => vec![
            json!({"type": "init", "model": "auto"}),
            json!({"type": "message", "role": "user", "content": "?"}),
            json!({"type": "message", "role": "assistant", "content": text, "delta": true}),
            json!({"type": "result", "status": "success", "stats": {"input_tokens": 100,
                    "output_tokens": 20, "models": {"gemini-big": {"output_tokens": 20}}}}),
        ],
        "opencode" => vec![
            json!({"type": "step_start", "part": {}}),
            json!({"type": "text", "part": {"text": text}}),
            json!({"type": "step_finish", "part": {"cost": 0,
                    "tokens": {"input": 100, "output": 20}}}),
        ],
        _ => vec![
            json!({"type": "assistant.message_delta", "data": {"deltaContent": text}}),
            json!({"type": "assistant.message", "data": {"content": text, "model": "copilot-big"}}),
            json!({"type": "result", "exitCode": 0}),
        ],
    };
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}
