//! Seats played by model CLIs: command line and environment, parsed output, error kinds, retries,
//! and no orphan processes.
use crate::fake_clis::CapturedOutput;
use crate::prerequisites::find_program_or_skip;
use crate::test_env::{SeatScript, TestEnv, speech_with_claim, verdict_json, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const CLI_TOOLS: [&str; 5] = ["claude", "codex", "gemini", "opencode", "copilot"];

/// A debate of one round between two CLIs, judged by a third.
fn run_duel(env: &TestEnv, proposer: &str, challenger: &str, judge: &str) -> Value {
    env.install_fake_with_reply(proposer, &speech_with_claim("Use one file.", "P1", &[]));
    env.install_fake_with_reply(challenger, &speech_with_claim("One file locks.", "C1", &["P1"]));
    env.install_fake_with_reply(judge, &verdict_json("pro").to_string());
    let seats = ["--proposer", proposer, "--challenger", challenger, "--judge", judge];
    let extra_args = ["--rounds", "1", "--json"];
    let args = [&["run", "One file?"][..], &seats, &extra_args].concat();
    env.debate(&args).expect_success().json()
}

/// Each of the five CLIs plays each seat, and every envelope names the tool, version and model.
#[test]
fn every_cli_plays_every_seat() {
    for nth in 0..CLI_TOOLS.len() {
        let [one, two, three] = [0, 1, 2].map(|offset| CLI_TOOLS[(nth + offset) % CLI_TOOLS.len()]);
        let env = TestEnv::new();
        let result = run_duel(&env, one, two, three);
        assert_eq!(result["status"], "completed", "{result:#}");
        assert_eq!(result["verdict"]["winner"], one);
        let turns = result["turns"].as_array().unwrap();
        let tools: Vec<&str> = turns.iter().map(|turn| turn["tool"].as_str().unwrap()).collect();
        assert_eq!(tools, [one, two, three, three]);
        for turn in turns {
            let envelope = &turn["envelope"];
            assert_eq!(envelope["exit_code"], 0, "{turn:#}");
            assert_eq!(envelope["attempts"], 1);
            let tool = turn["tool"].as_str().unwrap();
            // Claude reports its version in the output. The other CLIs are called with `--version`.
            let version = if tool == "claude" { "9.9" } else { "1.2.3" };
            assert_eq!(envelope["version"], version, "{tool}");
            if tool != "copilot" {
                assert_eq!(envelope["tokens_in"], 100, "{tool}");
                assert_eq!(envelope["tokens_out"], 20, "{tool}");
            }
            if matches!(tool, "claude" | "gemini" | "copilot") {
                assert_eq!(envelope["model_reported"], format!("{tool}-big"));
            }
        }
    }
}

/// No shell, the prompt on stdin, a read-only temporary folder, no MCP servers, hooks or plugins,
/// and only the provider's own keys in the environment.
#[test]
fn cli_is_called_in_isolation() {
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (
            "claude",
            &["-p", "--strict-mcp-config", "--tools", "Read,Grep,Glob", "--setting-sources"],
            &["ANTHROPIC_API_KEY"],
        ),
        (
            "codex",
            &["exec", "-s", "read-only", "--ignore-user-config", "--ignore-rules", "--ephemeral"],
            &["OPENAI_API_KEY"],
        ),
        (
            "gemini",
            &["--approval-mode", "plan", "--allowed-mcp-server-names", "none"],
            &["GEMINI_API_KEY"],
        ),
        ("opencode", &["run", "--agent", "debater"], &["OPENAI_API_KEY", "ANTHROPIC_API_KEY"]),
        (
            "copilot",
            &["--available-tools=view,grep,glob", "--disable-builtin-mcps", "--disallow-temp-dir"],
            &["GITHUB_TOKEN"],
        ),
    ];
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN"];
    for (tool, flags, own_keys) in cases {
        let env = TestEnv::new();
        fs::create_dir_all(env.temp_path("user/.copilot")).unwrap();
        fs::write(env.temp_path("user/.copilot/settings.json"), "{ // mine\n \"model\": \"m\"}")
            .unwrap();
        fs::write(env.temp_path("user/.copilot/config.json"), "{\"login\": 1}").unwrap();
        fs::create_dir_all(env.temp_path("user/.config/opencode")).unwrap();
        let config = "{ // mine\n \"mcp\": {\"mine\": {\"url\": \"http://a//b\"}} /* so */ }";
        fs::write(env.temp_path("user/.config/opencode/opencode.jsonc"), config).unwrap();
        env.install_fake_with_reply(tool, &speech_with_claim("Use one file.", "P1", &[]));
        let mut command = env.debate(&[
            "run",
            "One $(file) or `many`?",
            "--proposer",
            &format!("{tool}:big"),
            "--challenger",
            &env.script_seat("contra.json"),
            "--rounds",
            "1",
            "--judge",
            &env.script_seat("pro.json"),
            "--effort",
            "high",
        ]);
        for key in keys {
            command = command.env(key, "secret");
        }
        command.env("CLAUDECODE", "1").env("SECRET_OF_MINE", "x").expect_success();
        let call = env.last_fake_call(tool);
        for flag in flags {
            assert!(call.arguments.iter().any(|argument| argument == flag), "{tool}: {flag}");
        }
        assert!(call.arguments.iter().any(|argument| argument == "big"), "{tool}");
        assert!(call.prompt.contains("One $(file) or `many`?") && !call.prompt.is_empty());
        assert!(call.arguments.iter().all(|argument| !argument.contains("PROPOSER")), "{tool}");
        for key in keys {
            let is_passed = call.environment.iter().any(|line| line == &format!("{key}=secret"));
            assert_eq!(is_passed, own_keys.contains(&key), "{tool}: {key}");
        }
        let environment = call.environment.join("\n");
        assert!(!environment.contains("CLAUDECODE") && !environment.contains("SECRET_OF_MINE"));
        assert!(environment.contains("DEBATE_SEAT="));
        assert!(!Path::new(&call.current_dir).starts_with(env.repo_root()), "{}", call.current_dir);
        assert!(!Path::new(&call.current_dir).exists(), "its working folder is deleted");
        if tool == "opencode" {
            assert!(environment.contains(r#""mcp":{"mine":{"enabled":false}}"#), "{environment}");
            assert!(environment.contains(r#""*":"deny""#), "{environment}");
        }
    }
}

/// The turn of a fake CLI that replays a recorded output.
fn replay_capture(capture: &str) -> Value {
    let tool = capture.split('-').next().unwrap();
    let env = TestEnv::new();
    env.install_fake_with_output(tool, &CapturedOutput::load(capture));
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["--proposer", tool, "--challenger", &con, "--judge", &judge];
    let command = env
        .debate(&[&["run", "Well?", "--rounds", "1", "--no-probe", "--json"][..], &seats].concat());
    let result: Value = serde_json::from_str(&command.output().stdout).unwrap();
    result["turns"][0].clone()
}

/// Recorded error outputs of real CLIs, and the failure they are parsed to.
#[test]
fn recorded_cli_errors_are_classified() {
    for (capture, kind, expected) in [
        ("claude-err400", "crashed", "400"),
        ("claude-noauth", "not logged in", "log in"),
        ("claude-badflag", "crashed", "unknown option"),
        ("claude-iso-maxturns1", "crashed", ""),
        ("codex-err400", "crashed: fake 400", ""),
        ("codex-err401", "not logged in", "codex login"),
        ("codex-stdin12m", "crashed", "maximum length"),
        ("gemini-err400", "crashed", "400"),
        ("gemini-err401", "not logged in", "GEMINI_API_KEY"),
        ("gemini-untrusted", "crashed", "trusted"),
        ("opencode-err401", "not logged in", "opencode auth login"),
        ("copilot-err400", "crashed", "400"),
        ("copilot-err401", "not logged in", "run `copilot` and log in"),
        ("claude-err429", "rate limited", "it may be asked again in"),
        ("codex-err500", "failed", "high demand"),
        ("gemini-empty", "empty reply", "empty response"),
        ("copilot-empty", "empty reply", "No response was returned"),
    ] {
        let turn = replay_capture(capture);
        let failure = turn["failure"].as_str().unwrap();
        assert!(failure.starts_with(kind), "{capture}: {failure}");
        assert!(failure.contains(expected), "{capture}: {failure}");
        assert!(!failure.contains('\u{1b}') && failure.len() < 700, "{capture}: {failure}");
        assert!(turn["envelope"]["exit_code"].is_i64(), "{capture}");
    }
}

/// Recorded successful outputs of real CLIs.
#[test]
fn recorded_cli_outputs_are_parsed() {
    for (capture, answer, model, tokens) in [
        ("claude-stream", "FAKE-ANSWER: forty-two.", Some("claude-opus-5-5"), Some((11, 7))),
        ("codex-json", "FAKE-ANSWER: forty-two.", None, Some((11, 7))),
        ("gemini-stream-json", "FAKE-ANSWER: forty-two.", Some("gemini-2.5-flash"), Some((11, 7))),
        ("gemini-mcp-toolcall", "TOOL-RESULT-SEEN", Some("gemini-2.5-flash"), Some((22, 14))),
        ("opencode-json", "FAKE-ANSWER: forty-two.", None, Some((11, 7))),
        ("opencode-mcp-toolcall", "TOOL-RESULT-SEEN", None, Some((22, 14))),
        ("copilot-json", "FAKE-ANSWER: forty-two.", Some("fake-model"), None),
    ] {
        let turn = replay_capture(capture);
        let text = turn["text"].as_str().unwrap_or_else(|| panic!("{capture}: {turn:#}"));
        assert!(text.starts_with(answer), "{capture}: {text}");
        assert_eq!(turn["envelope"]["model_reported"].as_str(), model, "{capture}");
        let reported = &turn["envelope"];
        let reported = reported["tokens_in"].as_u64().zip(reported["tokens_out"].as_u64());
        assert_eq!(reported, tokens, "{capture}");
    }
}

/// No output, garbage, a blank answer, a crash, and endless output.
#[test]
fn invalid_cli_output_is_a_failure() {
    let empty = r#"{"type":"result","is_error":false,"result":"  "}"#;
    for (script, kind) in [
        ("exit 0", "unreadable reply"),
        ("echo rubbish", "unreadable reply"),
        (&format!("echo '{empty}'"), "empty reply"),
        ("kill -9 $$", "crashed"),
        ("exec /usr/bin/yes '{\"type\":\"noise\"}'", "unreadable reply"),
    ] {
        let env = TestEnv::new();
        env.install_fake_with_script("claude", script);
        let seats = ["--proposer", "claude", "--challenger", &env.script_seat("contra.json")];
        let output =
            env.debate(&[&["run", "Well?", "--no-probe", "--json"][..], &seats].concat()).output();
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        let failure = result["turns"][0]["failure"].as_str().unwrap();
        assert!(failure.starts_with(kind), "{script}: {failure}");
    }
}

/// Whether the process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// A child that left the process group (`setsid`) is found by a marker in its environment and
/// killed.
#[cfg(target_os = "linux")]
#[test]
fn orphan_outside_the_process_group_is_killed() {
    let Some(setsid) =
        find_program_or_skip("setsid", Path::new("setsid"), &[], "install util-linux")
    else {
        return;
    };
    let env = TestEnv::new();
    env.install_fake_with_reply("claude", &speech_with_claim("Use one file.", "P1", &[]));
    let (fake_dir, pid_file) = (env.temp_path("fake-claude"), env.temp_path("left"));
    let script = format!(
        "{} /bin/sh -c 'echo $$ > {1}; exec /bin/sleep 300' </dev/null >/dev/null 2>&1 &\n\
         while [ ! -s {1} ]; do :; done\n/bin/cat '{2}/out'",
        setsid.display(),
        pid_file.display(),
        fake_dir.display()
    );
    env.install_fake_with_script("claude", &script);
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge, "--no-probe"];
    env.debate(&[&["run", "Well?", "--rounds", "1"][..], &seats].concat()).expect_success();
    let pid = fs::read_to_string(&pid_file).unwrap();
    wait_until("the process has exited", || !is_alive(&pid));
}

/// A hanging CLI and its child that ignores signals are killed after a timeout, a cancel, a client
/// disconnect, an interrupt, and a kill of this program.
#[test]
fn no_process_outlives_its_turn() {
    let script_template = "(trap '' TERM INT HUP; echo $$ > LEFT; exec /bin/sleep 300) &\n\
                    while [ ! -s LEFT ]; do :; done\necho $$ > PID\n/bin/sleep 300";
    for cause in ["time", "cancel", "hang up", "interrupt", "kill"] {
        let env = TestEnv::new();
        let (pid, child_pid) = (env.temp_path("pid"), env.temp_path("left"));
        let script = script_template.replace("PID", pid.to_str().unwrap());
        env.install_fake_with_script(
            "claude",
            &script.replace("LEFT", child_pid.to_str().unwrap()),
        );
        let has_started = || fs::read_to_string(&pid).is_ok_and(|pid| !pid.trim().is_empty());
        let con = env.script_seat("contra.json");
        let seats = ["run", "Hang?", "--proposer", "claude", "--challenger", &con, "--no-probe"];
        match cause {
            "time" => drop(env.debate(&[&seats[..], &["--turn-timeout", "2"]].concat()).output()),
            "interrupt" | "kill" => {
                let running = env.debate(&seats).spawn();
                wait_until("the CLI has started", has_started);
                running.send_signal(if cause == "kill" { "KILL" } else { "INT" });
                running.wait();
            }
            _ => {
                let mut host = env.mcp_client();
                let arguments = json!({"topic": "Hang?", "proposer": "claude", "challenger": con,
                    "wait_seconds": 0, "options": {"probe": false}});
                host.call_tool("start_debate", arguments);
                wait_until("the CLI has started", has_started);
                if cause == "cancel" {
                    host.call_tool("continue_round", json!({"decision": "cancel"}));
                }
                host.disconnect();
            }
        }
        for file in [&pid, &child_pid] {
            let pid = fs::read_to_string(file).unwrap();
            wait_until("the process has exited", || !is_alive(&pid));
        }
    }
}

#[test]
fn transient_cli_error_is_retried() {
    let env = TestEnv::new();
    env.install_fake_with_reply("claude", &speech_with_claim("Use one file.", "P1", &[]));
    let counter = env.temp_path("counter");
    let error = json!({"type": "result", "is_error": true, "result": "API Error: 529 overloaded",
        "api_error_status": 529});
    let reply_file = env.temp_path("fake-claude/out");
    env.install_fake_with_script(
        "claude",
        &format!(
            "echo x >> '{0}'\nif [ $(/usr/bin/wc -l < '{0}') -lt 2 ]; then echo '{error}'; exit 1; fi\n\
             /bin/cat '{1}'",
            counter.display(),
            reply_file.display()
        ),
    );
    let seats =
        ["--proposer", "claude", "--challenger", &env.script_seat("contra.json"), "--rounds", "1"];
    let judge_args = ["--judge", &env.script_seat("pro.json"), "--no-probe", "--json"];
    let result =
        env.debate(&[&["run", "Well?"][..], &seats, &judge_args].concat()).expect_success().json();
    assert_eq!(result["turns"][0]["envelope"]["attempts"], 2);
    assert_eq!(fs::read_to_string(counter).unwrap().lines().count(), 2);
}

/// A debate cannot be started from within a seat, even if the environment marker is removed.
#[test]
fn seat_cannot_start_a_debate() {
    for prefix in ["", "/usr/bin/env -u DEBATE_SEAT "] {
        let env = TestEnv::new();
        let nested_output = env.temp_path("said");
        let binary = env!("CARGO_BIN_EXE_debate");
        let con = env.script_seat("contra.json");
        env.install_fake_with_script(
            "claude",
            &format!(
                "DEBATE_HOME='{}' {prefix}'{binary}' run Again? --proposer '{con}' --challenger \
                 '{con}' > '{}' 2>&1; echo $? >> '{1}'; exit 1",
                env.temp_path("other").display(),
                nested_output.display()
            ),
        );
        env.debate(&["run", "Once?", "--proposer", "claude", "--challenger", &con]).output();
        let nested_output = fs::read_to_string(&nested_output).unwrap();
        assert!(
            nested_output.contains("a debate opens no debates") && nested_output.ends_with("4\n"),
            "{nested_output}"
        );
    }
}

/// The config file changes or adds CLI specs. Errors in it are reported.
#[test]
fn config_can_change_and_add_cli_specs() {
    let env = TestEnv::new();
    let folder = env.temp_path("user/.config/debate");
    fs::create_dir_all(&folder).unwrap();
    let write_config = |text: &str| fs::write(folder.join("config.toml"), text).unwrap();
    write_config(
        "[tools.claude]\nextra = [\"--mine\"]\n\n[tools.parrot]\nprogram = \"parrot\"\nreads = \"text\"\n",
    );
    env.install_fake_with_reply("claude", &speech_with_claim("One.", "P1", &[]));
    let parrot = speech_with_claim("No.", "C1", &["P1"]);
    env.install_fake_with_output(
        "parrot",
        &CapturedOutput { stdout: parrot, stderr: String::new(), exit_code: 0 },
    );
    let seats = ["--proposer", "claude", "--challenger", "parrot", "--rounds", "1"];
    let judge_args = ["--judge", &env.script_seat("pro.json"), "--no-probe", "--json"];
    let result =
        env.debate(&[&["run", "Well?"][..], &seats, &judge_args].concat()).expect_success().json();
    assert_eq!(result["turns"][1]["tool"], "parrot");
    assert!(env.last_fake_call("claude").arguments.contains(&"--mine".to_owned()));
    for (text, expected) in [
        ("colour = \"red\"", "colour"),
        ("[tools.claude]\nprogrm = \"x\"", "progrm"),
        ("[tools.mine]\nprogram = \"x\"", "reads"),
        ("[tools", "config.toml"),
    ] {
        write_config(text);
        let output = env.debate(&[&["run", "Well?"][..], &seats].concat()).output();
        assert!(
            output.stderr.contains(expected) && output.exit_code != Some(0),
            "{text}: {}",
            output.stderr
        );
    }
}

/// Seats without a participant get installed CLIs. Without any, the host plays.
#[test]
fn unnamed_seats_are_filled_with_installed_clis() {
    let env = TestEnv::new();
    env.write_script(&SeatScript::new());
    let mut host = env.mcp_client();
    let host_only = host.call_tool("start_debate", json!({"topic": "Who?"}));
    assert_eq!(host_only["due"]["role"], "Proposer");
    env.install_fake_with_reply("gemini", &speech_with_claim("Use one file.", "P1", &[]));
    env.install_fake_with_reply("codex", &speech_with_claim("Use one file.", "P1", &[]));
    let listed = host.call_tool("list_models", json!({"probe": true}));
    let playable = listed["models"].as_array().unwrap().iter().filter(|it| it["playable"] == true);
    // Ignore local model servers that happen to run on this machine.
    let local_servers = ["ollama", "lmstudio", "vllm", "llamacpp"];
    let playable = playable
        .map(|it| it["seat"].as_str().unwrap())
        .filter(|seat| !local_servers.contains(seat));
    let playable: Vec<&str> = playable.collect();
    assert_eq!(playable, ["codex", "gemini", "host", "human", "script:FILE", "demo"]);
    let status = host.call_tool("start_debate", json!({"topic": "Who now?", "rounds": 1}));
    let roles: Vec<&Value> =
        status["answered"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert!(roles.contains(&&json!("Proposer (codex)")), "{status:#}");
    let chosen = "chosen: proposer codex (the first here), challenger gemini (of another family), \
                  judge host (because no third family is here)";
    assert!(status["notes"].to_string().contains(chosen), "{status:#}");
}
