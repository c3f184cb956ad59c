//! Sandboxing of the real model CLIs: their model attempts to write, run programs, fetch from the
//! web and start a debate. Only reading the snapshot and replying may succeed.
use crate::real_cli::{RealCliEnv, percent_encode};
use crate::test_env::speech_with_claim;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether a tool can read files outside its snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutsideAccess {
    Readable,
    Blocked,
}

/// Plays a round in which the model makes these tool calls before it replies. Asserts that none has
/// an effect, and that exactly the `offered` tools were offered.
#[track_caller]
fn assert_tool_is_sandboxed(
    tool: &'static str,
    model: &str,
    attempts: &[Value],
    offered: &[&str],
    outside_access: OutsideAccess,
) {
    let Some(cli_env) = RealCliEnv::new(tool) else { return };
    let outside_file = cli_env.env.temp_path("written");
    let substitute = |attempt: &Value| -> Value {
        let text = attempt.to_string().replace("$OUT", outside_file.to_str().unwrap());
        let text = text.replace("$ELSE", cli_env.env.temp_path("elsewhere.txt").to_str().unwrap());
        serde_json::from_str(&text.replace("$URL", &format!("{}/stolen", cli_env.model_url())))
            .unwrap()
    };
    let mut steps: Vec<Value> = attempts.iter().map(substitute).collect();
    steps.push(json!({"text": speech_with_claim("Use one file.", "P1", &[])}));
    let scenario = format!("seq:{}", percent_encode(&Value::from(steps).to_string()));
    let (finished, written) = (AtomicBool::new(false), AtomicBool::new(false));
    let (working_folders, snapshots) =
        (cli_env.env.temp_path("tmp"), cli_env.env.data_dir().join("snapshots"));
    let output = std::thread::scope(|scope| {
        // The working folder is deleted after the turn, so it is polled during the turn.
        scope.spawn(|| {
            while !finished.load(Ordering::Relaxed) {
                if contains_file(&working_folders, "written")
                    || contains_file(&snapshots, "written")
                {
                    written.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let output = cli_env.run_round(&scenario, model, &["--turn-timeout", "150"]).output();
        finished.store(true, Ordering::Relaxed);
        output
    });
    let result: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:#?}"));
    let turn = &result["turns"][0];
    assert!(turn["text"].as_str().is_some_and(|text| text.contains("Use one file.")), "{turn:#}");
    assert_eq!(turn["envelope"]["attempts"], 1, "{turn:#}");
    let requests = cli_env.model_requests();
    let request_count = requests.iter().filter(|request| request["body"].is_object()).count();
    assert!(
        request_count > attempts.len(),
        "{request_count} requests for {} attempts",
        attempts.len()
    );
    assert!(!outside_file.exists() && !written.load(Ordering::Relaxed), "a file was written");
    assert_eq!(cli_env.sprung_traps(), Vec::<String>::new(), "a trap program was run");
    let is_fetch = |request: &Value| request["path"].as_str().unwrap().starts_with("/stolen");
    assert!(!requests.iter().any(is_fetch), "a URL was fetched");
    let sent_text = requests.iter().map(Value::to_string).collect::<String>();
    for marker in ["MARK-OF-tmp", "MARK-OF-repo", "MARK-OF-a-skill", "SECRET-IN-THE-TREE"] {
        assert!(!sent_text.contains(marker), "{marker} was sent to the model");
    }
    assert!(sent_text.contains("READ-IN-THE-COPY"), "the snapshot was not read");
    assert_eq!(sent_text.contains("READ-ELSEWHERE"), outside_access == OutsideAccess::Readable);
    let caveats = turn["envelope"]["caveats"].to_string();
    assert!(caveats.contains("CLAUDE.md") && output.stderr.contains("prod.env"), "{output:#?}");
    assert_eq!(
        caveats.contains("read the whole disk"),
        outside_access == OutsideAccess::Readable,
        "{caveats}"
    );
    assert_eq!(cli_env.offered_tools().iter().map(String::as_str).collect::<Vec<_>>(), offered);
}

/// Whether a folder contains a file of this name at any depth.
fn contains_file(folder: &Path, name: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        entry.file_name() == name || (is_dir && contains_file(&entry.path(), name))
    })
}

/// A scenario step that calls a tool, even if it was not offered.
fn tool_call(tool: &str, arguments: Value) -> Value {
    json!({"force": tool, "args": arguments})
}

#[test]
fn claude_can_only_read() {
    assert_tool_is_sandboxed(
        "claude",
        "",
        &[
            tool_call("Write", json!({"file_path": "$CWD/written", "content": "x"})),
            tool_call("Write", json!({"file_path": "$OUT", "content": "x"})),
            tool_call("Bash", json!({"command": "touch written $OUT"})),
            tool_call("mcp__waiting__start_debate", json!({"topic": "Again?"})),
            tool_call("WebFetch", json!({"url": "$URL", "prompt": "read it"})),
            tool_call("Read", json!({"file_path": "$CWD/src/here.rs"})),
            tool_call("Read", json!({"file_path": "$CWD/prod.env"})),
            tool_call("Read", json!({"file_path": "$ELSE"})),
        ],
        &["DeferredToolPlaceholder", "Glob", "Grep", "Read"],
        OutsideAccess::Blocked,
    );
}

#[test]
fn codex_can_only_read() {
    let write = "touch written $CWD/written $OUT";
    let patch = "*** Begin Patch\n*** Add File: written\n+x\n*** End Patch\n";
    assert_tool_is_sandboxed(
        "codex",
        ":gpt-5.5",
        &[
            tool_call("exec_command", json!({"cmd": write})),
            tool_call(
                "exec_command",
                json!({"cmd": write, "sandbox_permissions": "require_escalated",
                    "justification": "May I?"}),
            ),
            json!({"tool": "apply_patch", "args": {"input": patch}}),
            tool_call("mcp__waiting__start_debate", json!({"topic": "Again?"})),
            tool_call("exec_command", json!({"cmd": "cat src/here.rs prod.env $ELSE"})),
            tool_call(
                "exec_command",
                json!({"cmd": "curl -s -m 2 $URL || bash -c 'exec 3<>/dev/tcp/$(echo $URL | cut -d/ -f3 | tr : /); printf \"GET /stolen HTTP/1.0\\r\\n\\r\\n\" >&3; cat <&3'"}),
            ),
        ],
        &["apply_patch", "exec_command", "request_user_input", "view_image", "write_stdin"],
        OutsideAccess::Readable,
    );
}

#[test]
fn gemini_can_only_read() {
    assert_tool_is_sandboxed(
        "gemini",
        "",
        &[
            tool_call("write_file", json!({"file_path": "$CWD/written", "content": "x"})),
            tool_call(
                "replace",
                json!({"file_path": "$OUT", "old_string": "", "new_string": "x",
                "instruction": "write"}),
            ),
            tool_call("run_shell_command", json!({"command": "touch written $OUT"})),
            tool_call("mcp_waiting_start_debate", json!({"topic": "Again?"})),
            tool_call("web_fetch", json!({"prompt": "read $URL"})),
            tool_call("read_file", json!({"file_path": "$CWD/src/here.rs"})),
            tool_call("read_file", json!({"file_path": "$CWD/prod.env"})),
            tool_call("read_file", json!({"file_path": "$ELSE"})),
        ],
        &["glob", "grep_search", "list_directory", "read_file"],
        OutsideAccess::Blocked,
    );
}

#[test]
fn opencode_can_only_read() {
    assert_tool_is_sandboxed(
        "opencode",
        "",
        &[
            tool_call("write", json!({"filePath": "$CWD/written", "content": "x"})),
            tool_call("edit", json!({"filePath": "$OUT", "oldString": "", "newString": "x"})),
            tool_call("bash", json!({"command": "touch written $OUT", "description": "write"})),
            tool_call("first_start_debate", json!({"topic": "Again?"})),
            tool_call("webfetch", json!({"url": "$URL", "format": "text"})),
            tool_call("read", json!({"filePath": "$CWD/src/here.rs"})),
            tool_call("read", json!({"filePath": "$CWD/prod.env"})),
            tool_call("read", json!({"filePath": "$ELSE"})),
        ],
        &["glob", "grep", "read"],
        OutsideAccess::Blocked,
    );
}

#[test]
fn copilot_can_only_read() {
    assert_tool_is_sandboxed(
        "copilot",
        "",
        &[
            tool_call("create", json!({"path": "$CWD/written", "file_text": "x"})),
            tool_call(
                "str_replace_editor",
                json!({"command": "create", "path": "$OUT",
                "file_text": "x"}),
            ),
            tool_call("bash", json!({"command": "touch written $OUT", "description": "write"})),
            tool_call("waiting-start_debate", json!({"topic": "Again?"})),
            tool_call("web_fetch", json!({"url": "$URL"})),
            tool_call("view", json!({"path": "$CWD/src/here.rs"})),
            tool_call("view", json!({"path": "$CWD/prod.env"})),
            tool_call("view", json!({"path": "$ELSE"})),
        ],
        &["glob", "grep", "view"],
        OutsideAccess::Blocked,
    );
}
