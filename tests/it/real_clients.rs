//! The real MCP clients, configured by `debate init` in a clean home, with a fake model that makes
//! them call the real server, as for a user who types `/debate`.
use crate::prerequisites::{find_program_or_skip, repo_path};
use crate::real_cli::{INSTALL_HINT, percent_encode, start_fake_model, write_file};
use crate::test_env::{
    RunningProcess, TestEnv, assert_contains_in_order, speech_with_claim, verdict_json,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A test environment with installed and configured clients.
struct RealClientEnv {
    env: TestEnv,
    model_url: String,
    _model_server: RunningProcess,
}

impl RealClientEnv {
    #[track_caller]
    fn new(name: &'static str) -> Option<RealClientEnv> {
        RealClientEnv::with_clients(&[name])
    }

    /// Installs several clients in one home.
    #[track_caller]
    fn with_clients(names: &[&'static str]) -> Option<RealClientEnv> {
        let bin = repo_path("tests/clis/node_modules/.bin");
        let find_client =
            |name: &&'static str| find_program_or_skip(name, &bin.join(name), &[], INSTALL_HINT);
        let programs: Vec<PathBuf> = names.iter().map(find_client).collect::<Option<_>>()?;
        let python = find_program_or_skip("python", Path::new("python3"), &[], "install Python 3")?;
        let node = find_program_or_skip("node", Path::new("node"), &[], "install Node")?;
        let env = TestEnv::without_git();
        git2::Repository::init(env.repo_root()).unwrap();
        env.write_repo_file("src/here.rs", "fn here() {}\n");
        for (name, program) in names.iter().zip(programs) {
            symlink(program, env.bin_dir().join(name)).unwrap();
        }
        symlink(node, env.bin_dir().join("node")).unwrap();
        let (model_server, model_url) = start_fake_model(&python, &env.temp_path("requests"));
        let client = RealClientEnv { env, model_url, _model_server: model_server };
        for name in names {
            client.set_up(name);
        }
        Some(client)
    }

    /// Writes the client's own settings for reaching the fake model, then runs `debate init`.
    fn set_up(&self, name: &str) {
        let write_settings = |path: &str, value: &Value| {
            write_file(&self.env.temp_path("user").join(path), &format!("{value:#}\n"));
        };
        match name {
            "claude" => write_settings(".claude.json", &json!({"hasCompletedOnboarding": true})),
            "gemini" => write_settings(
                ".gemini/settings.json",
                &json!({"security": {"auth": {"selectedType": "gemini-api-key"}}}),
            ),
            "opencode" => write_settings(
                ".config/opencode/opencode.json",
                &json!({"model": "fake/fake-model", "provider": {"fake": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": "{env:FAKE_URL}", "apiKey": "no-key"},
                    "models": {"fake-model": {"tool_call": true}}}}}),
            ),
            _ => {}
        }
        let needs_approval = ["codex", "gemini"].contains(&name);
        let args =
            [&["init", name][..], if needs_approval { &["--approve"][..] } else { &[] }].concat();
        self.debate(&args).expect_success();
        // Logs what the client sends to the server, to check its protocol version.
        let shim = self.env.temp_path(&format!("shims/{name}/debate"));
        let (traffic_log, binary) =
            (self.env.temp_path(&format!("wire-{name}")), env!("CARGO_BIN_EXE_debate"));
        write_file(
            &shim,
            &format!(
                "#!/bin/sh\n/usr/bin/tee -a '{}' | '{binary}' \"$@\"\n",
                traffic_log.display()
            ),
        );
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = self.env.temp_path("user").join(match name {
            "claude" => ".claude.json",
            "codex" => ".codex/config.toml",
            "copilot" => ".copilot/mcp-config.json",
            "gemini" => ".gemini/settings.json",
            _ => ".config/opencode/opencode.json",
        });
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, text.replace(binary, shim.to_str().unwrap())).unwrap();
    }

    /// Runs `debate` with the default data folder, which a server without variables uses.
    fn debate(&self, args: &[&str]) -> crate::test_env::DebateCommand {
        self.env.debate(args).data_dir(&self.env.temp_path("user/.local/share/debate"))
    }

    /// Runs the client with this user input, while its model plays these steps.
    fn type_command(&self, name: &str, input: &str, scenario: &[Value]) -> Output {
        let steps = percent_encode(&Value::from(scenario.to_vec()).to_string());
        let url = format!("{}/x/seq:{steps}", self.model_url);
        let mut command = Command::new(self.env.bin_dir().join(name));
        let path =
            std::env::join_paths([self.env.bin_dir(), "/usr/bin".into(), "/bin".into()]).unwrap();
        command.current_dir(self.env.repo_root()).env_clear().env("PATH", path);
        command.env("HOME", self.env.temp_path("user")).env("TERM", "dumb");
        let v1_url = format!("{url}/v1");
        match name {
            "claude" => {
                command.args(["-p", &format!("/debate {input}")]);
                command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-ant-none");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                command.env("DISABLE_AUTOUPDATER", "1").env("ENABLE_TOOL_SEARCH", "false");
            }
            "codex" => {
                command.args(["exec", "--skip-git-repo-check", "-m", "fake-model"]);
                command.args(["-c", "model_provider=fake"]);
                for (field, value) in [
                    ("name", "fake"),
                    ("base_url", &v1_url),
                    ("env_key", "FAKE_KEY"),
                    ("wire_api", "responses"),
                ] {
                    command.args(["-c", &format!("model_providers.fake.{field}={value}")]);
                }
                command.arg(format!("$debate {input}")).env("FAKE_KEY", "no-key");
            }
            "gemini" => {
                command.args(["-p", &format!("/debate {input}")]);
                command.env("GOOGLE_GEMINI_BASE_URL", url).env("GEMINI_API_KEY", "no-key");
                command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
            }
            "opencode" => {
                command.args(["run", "--command", "debate"]).args(input.split(' '));
                command.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("FAKE_URL", v1_url);
            }
            _ => {
                command.args(["-s", "-p", &format!("Debate this: {input}")]);
                command.args(["--allow-tool", "debate"]);
                command.env("COPILOT_OFFLINE", "true").env("COPILOT_MODEL", "fake-model");
                command
                    .env("COPILOT_PROVIDER_BASE_URL", v1_url)
                    .env("COPILOT_PROVIDER_API_KEY", "no-key");
                command.env("COPILOT_AUTO_UPDATE", "false");
            }
        }
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// All requests that the model received, as text.
    fn model_log(&self) -> String {
        fs::read_to_string(self.env.temp_path("requests")).unwrap_or_default()
    }

    /// Writes a script whose turns have this delay, and returns its seat.
    fn write_slow_script(&self, delay: u64) -> String {
        let path = self.env.temp_path("slow.json");
        let turns = json!({"turns": [
            {"phase": "propose", "text": speech_with_claim("Use one file.", "P1", &[]), "delay_ms": delay},
            {"phase": "challenge", "text": speech_with_claim("One file locks.", "C1", &["P1"]), "delay_ms": delay},
            {"phase": "defend", "text": speech_with_claim("The lock is short.", "P1", &["C1"]), "delay_ms": delay},
            {"phase": "follow_up", "text": speech_with_claim("It is not.", "C1", &["P1"]), "delay_ms": delay},
            {"seat": "judge", "json": verdict_json("pro")},
        ]});
        fs::write(&path, turns.to_string()).unwrap();
        format!("script:{}", path.display())
    }
}

fn tool_call_step(tool: &str, args: Value) -> Value {
    json!({"tool": tool, "args": args})
}

fn output_text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}\n--- stderr\n{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Plays a round that outlasts the wait of each call: the model calls again until it is done.
fn assert_client_plays_slow_round(name: &'static str, delay: u64, wait: u64) {
    let Some(client) = RealClientEnv::new(name) else { return };
    let seat = client.write_slow_script(delay);
    let start = json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat,
        "rounds": 1, "wait_seconds": wait.min(1), "options": {"pause": false, "probe": false}});
    let continue_step = tool_call_step("continue_round", json!({"wait_seconds": wait}));
    let show_step = json!({"text": "SHOWN: $R"});
    let calls = usize::try_from(2 * delay / (1000 * wait) + 1).unwrap();
    let mut steps = vec![tool_call_step("start_debate", start)];
    steps.extend(std::iter::repeat_n(continue_step, calls));
    steps.extend([tool_call_step("verdict", json!({"wait_seconds": 55})), show_step]);
    let output = client.type_command(name, "One file?", &steps);
    let text = output_text(&output);
    assert!(output.status.success(), "{text}");
    assert_contains_in_order(&text, &["SHOWN: ", "It was shown in T1"]);
    assert!(text.contains("completed") && text.contains("proposer"), "{text}");
    // The prompt contains the expanded command. Copilot expands none without a terminal.
    let prompts = client.model_log();
    if name != "copilot" {
        assert!(prompts.contains("Hold a structured debate") && prompts.contains("One file?"));
    }
    assert!(prompts.matches("running").count() >= 2, "it polled a running round");
    let view = client.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!((&view["status"], &view["verdict"]["side"]), (&"completed".into(), &"pro".into()));
    assert_eq!(view["turns"].as_array().unwrap().len(), 4, "{view:#}");
    let state = match name {
        "opencode" => ".opencode",
        "codex" => ".codex",
        _ => ".claude",
    };
    let file = client.env.repo_root().join(state).join("debate/last-debate.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&state["id"], &state["status"]), (&view["id"], &"completed".into()));
    assert_eq!(fs::read_dir(client.env.repo_root().join(".debates")).unwrap().count(), 2);
    let traffic = fs::read_to_string(client.env.temp_path(&format!("wire-{name}"))).unwrap();
    let is_modern = traffic.contains("server/discover") && traffic.contains("2026-07-28");
    assert_eq!(is_modern, ["claude", "copilot"].contains(&name), "{traffic}");
    assert!(is_modern || traffic.contains("\"initialize\""));
}

#[test]
fn claude_code_plays_a_slow_round() {
    assert_client_plays_slow_round("claude", 2_000, 2);
}

#[test]
fn opencode_plays_a_slow_round() {
    assert_client_plays_slow_round("opencode", 2_000, 2);
}

#[test]
fn codex_plays_a_slow_round() {
    assert_client_plays_slow_round("codex", 2_000, 2);
}

#[test]
fn gemini_plays_a_slow_round() {
    assert_client_plays_slow_round("gemini", 2_000, 2);
}

#[test]
fn copilot_plays_a_slow_round() {
    assert_client_plays_slow_round("copilot", 2_000, 2);
}

/// A round of 150 seconds with default waits, under the timeouts the clients come with:
/// `cargo test --test it longer_than_any_timeout -- --ignored --nocapture`
#[test]
#[ignore = "five rounds of 150 seconds"]
fn round_longer_than_any_timeout_is_played() {
    for name in ["opencode", "codex", "copilot", "gemini", "claude"] {
        let started = std::time::Instant::now();
        assert_client_plays_slow_round(name, 75_000, 45);
        let line = format!("{name}: {:.0} s\n", started.elapsed().as_secs_f64());
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
}

/// Started in one client, continued in another, concluded at the terminal.
#[test]
fn debate_moves_between_clients_and_the_terminal() {
    let Some(client) = RealClientEnv::with_clients(&["claude", "opencode"]) else { return };
    let seat = client.write_slow_script(0);
    let start = json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat,
        "rounds": 3, "options": {"probe": false}});
    let show_step = json!({"text": "SHOWN: $R"});
    let started = client.type_command(
        "claude",
        "One file?",
        &[tool_call_step("start_debate", start), show_step.clone()],
    );
    assert_contains_in_order(&output_text(&started), &["SHOWN: ", "paused"]);
    let continue_step =
        tool_call_step("continue_round", json!({"decision": "continue", "wait_seconds": 20}));
    let continued = client.type_command(
        "opencode",
        "resume",
        &[tool_call_step("list_debates", json!({})), continue_step, show_step],
    );
    assert_contains_in_order(&output_text(&continued), &["SHOWN: ", "round 2 of 3"]);
    client.debate(&["resume", "--conclude", "--yes"]).expect_success();
    let view = client.debate(&["show", "last", "--json"]).expect_success().json();
    assert_eq!((&view["status"], &view["rounds_completed"]), (&"completed".into(), &2.into()));
    let id = view["id"].as_str().unwrap();
    for folder in [".claude", ".opencode"] {
        let path = client.env.repo_root().join(folder).join("debate/last-debate.json");
        let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((&state["id"], &state["status"]), (&id.into(), &"completed".into()), "{folder}");
    }
}

/// Installs the plugin from this repository as a marketplace.
#[test]
fn claude_code_installs_the_plugin() {
    let Some(client) = RealClientEnv::new("claude") else { return };
    // Only the plugin may provide the server here.
    client.debate(&["uninit", "claude"]).output();
    let run = |args: &[&str], url: &str| {
        let mut command = Command::new(client.env.bin_dir().join("claude"));
        let path =
            std::env::join_paths([client.env.bin_dir(), "/usr/bin".into(), "/bin".into()]).unwrap();
        command.args(args).current_dir(client.env.repo_root()).env_clear().env("PATH", path);
        command.env("HOME", client.env.temp_path("user")).env("ANTHROPIC_API_KEY", "sk-ant-none");
        command.env("ANTHROPIC_BASE_URL", url).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("DISABLE_AUTOUPDATER", "1").env("ENABLE_TOOL_SEARCH", "false");
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", output_text(&output));
        output_text(&output)
    };
    symlink(env!("CARGO_BIN_EXE_debate"), client.env.bin_dir().join("debate")).unwrap();
    let market = client.env.temp_path("market");
    for folder in [".claude-plugin", "plugin"] {
        copy_folder(&repo_path(folder), &market.join(folder));
    }
    let market_path = market.to_str().unwrap();
    run(&["plugin", "validate", market_path, "--strict"], &client.model_url);
    run(&["plugin", "marketplace", "add", market_path], &client.model_url);
    run(&["plugin", "install", "debate@debate"], &client.model_url);
    let steps = json!([{"tool": "list_models", "args": {}}, {"text": "SHOWN: $R"}]);
    let url = format!("{}/x/seq:{}", client.model_url, percent_encode(&steps.to_string()));
    let text = run(&["-p", "/debate:debate One file?"], &url);
    assert_contains_in_order(&text, &["SHOWN: ", "host"]);
    assert!(client.model_log().contains("What I typed: One file?"));
    assert!(client.model_log().contains("mcp__plugin_debate_debate__list_models"));
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
