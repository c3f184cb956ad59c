//! The real MCP clients, configured by `debate init` in a clean home, with a fake model that makes
//! them call the real server, as for a user who types `/debate`.
use crate::lab::{Lab, Running, in_order, ruling, speech};
use crate::needs::{here, needs};
use crate::real::{INSTALL, model, put, quoted};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A test environment with installed and configured clients.
struct Client {
    lab: Lab,
    base: String,
    _model: Running,
}

impl Client {
    #[track_caller]
    fn new(name: &'static str) -> Option<Client> {
        Client::with(&[name])
    }

    /// Installs several clients in one home.
    #[track_caller]
    fn with(names: &[&'static str]) -> Option<Client> {
        let bin = here("tests/clis/node_modules/.bin");
        let found = |name: &&'static str| needs(name, &bin.join(name), &[], INSTALL);
        let programs: Vec<PathBuf> = names.iter().map(found).collect::<Option<_>>()?;
        let python = needs("python", Path::new("python3"), &[], "install Python 3")?;
        let node = needs("node", Path::new("node"), &[], "install Node")?;
        let lab = Lab::without_git();
        git2::Repository::init(lab.root()).unwrap();
        lab.file("src/here.rs", "fn here() {}\n");
        for (name, program) in names.iter().zip(programs) {
            symlink(program, lab.bin().join(name)).unwrap();
        }
        symlink(node, lab.bin().join("node")).unwrap();
        let (model, base) = model(&python, &lab.outside("requests"));
        let client = Client { lab, base, _model: model };
        for name in names {
            client.set_up(name);
        }
        Some(client)
    }

    /// Writes the client's own settings for reaching the fake model, then runs `debate init`.
    fn set_up(&self, name: &str) {
        let user = |path: &str, value: &Value| {
            put(&self.lab.outside("user").join(path), &format!("{value:#}\n"));
        };
        match name {
            "claude" => user(".claude.json", &json!({"hasCompletedOnboarding": true})),
            "gemini" => user(
                ".gemini/settings.json",
                &json!({"security": {"auth": {"selectedType": "gemini-api-key"}}}),
            ),
            "opencode" => user(
                ".config/opencode/opencode.json",
                &json!({"model": "fake/fake-model", "provider": {"fake": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": "{env:FAKE_URL}", "apiKey": "no-key"},
                    "models": {"fake-model": {"tool_call": true}}}}}),
            ),
            _ => {}
        }
        let asks = ["codex", "gemini"].contains(&name);
        let args = [&["init", name][..], if asks { &["--approve"][..] } else { &[] }].concat();
        self.debate(&args).success();
        // Logs what the client sends to the server, to check its protocol version.
        let shim = self.lab.outside(&format!("shims/{name}/debate"));
        let (wire, real) =
            (self.lab.outside(&format!("wire-{name}")), env!("CARGO_BIN_EXE_debate"));
        put(&shim, &format!("#!/bin/sh\n/usr/bin/tee -a '{}' | '{real}' \"$@\"\n", wire.display()));
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = self.lab.outside("user").join(match name {
            "claude" => ".claude.json",
            "codex" => ".codex/config.toml",
            "copilot" => ".copilot/mcp-config.json",
            "gemini" => ".gemini/settings.json",
            _ => ".config/opencode/opencode.json",
        });
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, text.replace(real, shim.to_str().unwrap())).unwrap();
    }

    /// Runs `debate` with the default data folder, which a server without variables uses.
    fn debate(&self, args: &[&str]) -> crate::lab::Call {
        self.lab.debate(args).home(&self.lab.outside("user/.local/share/debate"))
    }

    /// Runs the client with this user input, while its model plays these steps.
    fn types(&self, name: &str, words: &str, does: &[Value]) -> Output {
        let steps = quoted(&Value::from(does.to_vec()).to_string());
        let url = format!("{}/x/seq:{steps}", self.base);
        let mut command = Command::new(self.lab.bin().join(name));
        let path =
            std::env::join_paths([self.lab.bin(), "/usr/bin".into(), "/bin".into()]).unwrap();
        command.current_dir(self.lab.root()).env_clear().env("PATH", path);
        command.env("HOME", self.lab.outside("user")).env("TERM", "dumb");
        let v1 = format!("{url}/v1");
        match name {
            "claude" => {
                command.args(["-p", &format!("/debate {words}")]);
                command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-ant-none");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                command.env("DISABLE_AUTOUPDATER", "1").env("ENABLE_TOOL_SEARCH", "false");
            }
            "codex" => {
                command.args(["exec", "--skip-git-repo-check", "-m", "fake-model"]);
                command.args(["-c", "model_provider=fake"]);
                for (field, value) in [
                    ("name", "fake"),
                    ("base_url", &v1),
                    ("env_key", "FAKE_KEY"),
                    ("wire_api", "responses"),
                ] {
                    command.args(["-c", &format!("model_providers.fake.{field}={value}")]);
                }
                command.arg(format!("$debate {words}")).env("FAKE_KEY", "no-key");
            }
            "gemini" => {
                command.args(["-p", &format!("/debate {words}")]);
                command.env("GOOGLE_GEMINI_BASE_URL", url).env("GEMINI_API_KEY", "no-key");
                command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
            }
            "opencode" => {
                command.args(["run", "--command", "debate"]).args(words.split(' '));
                command.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("FAKE_URL", v1);
            }
            _ => {
                command.args(["-s", "-p", &format!("Debate this: {words}")]);
                command.args(["--allow-tool", "debate"]);
                command.env("COPILOT_OFFLINE", "true").env("COPILOT_MODEL", "fake-model");
                command
                    .env("COPILOT_PROVIDER_BASE_URL", v1)
                    .env("COPILOT_PROVIDER_API_KEY", "no-key");
                command.env("COPILOT_AUTO_UPDATE", "false");
            }
        }
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// All requests that the model received, as text.
    fn asked(&self) -> String {
        fs::read_to_string(self.lab.outside("requests")).unwrap_or_default()
    }

    /// Writes a script whose turns have this delay, and returns its seat.
    fn script(&self, delay: u64) -> String {
        let path = self.lab.outside("slow.json");
        let turns = json!({"turns": [
            {"phase": "propose", "text": speech("Use one file.", "P1", &[]), "delay_ms": delay},
            {"phase": "challenge", "text": speech("One file locks.", "C1", &["P1"]), "delay_ms": delay},
            {"phase": "defend", "text": speech("The lock is short.", "P1", &["C1"]), "delay_ms": delay},
            {"phase": "follow_up", "text": speech("It is not.", "C1", &["P1"]), "delay_ms": delay},
            {"seat": "judge", "json": ruling("pro")},
        ]});
        fs::write(&path, turns.to_string()).unwrap();
        format!("script:{}", path.display())
    }
}

fn step(tool: &str, args: Value) -> Value {
    json!({"tool": tool, "args": args})
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}\n--- stderr\n{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Plays a round that outlasts the wait of each call: the model calls again until it is done.
fn plays_a_slow_round(name: &'static str, delay: u64, wait: u64) {
    let Some(client) = Client::new(name) else { return };
    let seat = client.script(delay);
    let start = json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat,
        "rounds": 1, "wait_seconds": wait.min(1), "options": {"pause": false, "probe": false}});
    let on = step("continue_round", json!({"wait_seconds": wait}));
    let shown = json!({"text": "SHOWN: $R"});
    let calls = usize::try_from(2 * delay / (1000 * wait) + 1).unwrap();
    let mut does = vec![step("start_debate", start)];
    does.extend(std::iter::repeat_n(on, calls));
    does.extend([step("verdict", json!({"wait_seconds": 55})), shown]);
    let output = client.types(name, "One file?", &does);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    in_order(&said, &["SHOWN: ", "It was shown in T1"]);
    assert!(said.contains("completed") && said.contains("proposer"), "{said}");
    // The prompt contains the expanded command. Copilot expands none without a terminal.
    let asked = client.asked();
    if name != "copilot" {
        assert!(asked.contains("Hold a structured debate") && asked.contains("One file?"));
    }
    assert!(asked.matches("running").count() >= 2, "it was called while the round was running");
    let view = client.debate(&["show", "last", "--json"]).success().json();
    assert_eq!((&view["status"], &view["verdict"]["side"]), (&"completed".into(), &"pro".into()));
    assert_eq!(view["turns"].as_array().unwrap().len(), 4, "{view:#}");
    let state = match name {
        "opencode" => ".opencode",
        "codex" => ".codex",
        _ => ".claude",
    };
    let file = client.lab.root().join(state).join("debate/last-debate.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&state["id"], &state["status"]), (&view["id"], &"completed".into()));
    assert_eq!(fs::read_dir(client.lab.root().join(".debates")).unwrap().count(), 2);
    let wire = fs::read_to_string(client.lab.outside(&format!("wire-{name}"))).unwrap();
    let modern = wire.contains("server/discover") && wire.contains("2026-07-28");
    assert_eq!(modern, ["claude", "copilot"].contains(&name), "{wire}");
    assert!(modern || wire.contains("\"initialize\""));
}

#[test]
fn claude_code_debates() {
    plays_a_slow_round("claude", 2_000, 2);
}

#[test]
fn opencode_debates() {
    plays_a_slow_round("opencode", 2_000, 2);
}

#[test]
fn codex_debates() {
    plays_a_slow_round("codex", 2_000, 2);
}

#[test]
fn gemini_debates() {
    plays_a_slow_round("gemini", 2_000, 2);
}

#[test]
fn copilot_debates() {
    plays_a_slow_round("copilot", 2_000, 2);
}

/// A round of 150 seconds with default waits, under the timeouts the clients come with:
/// `cargo test --test it longer_than_any_timeout -- --ignored --nocapture`
#[test]
#[ignore = "five rounds of 150 seconds"]
fn a_round_longer_than_any_timeout_of_theirs() {
    for name in ["opencode", "codex", "copilot", "gemini", "claude"] {
        let began = std::time::Instant::now();
        plays_a_slow_round(name, 75_000, 45);
        let line = format!("{name}: {:.0} s\n", began.elapsed().as_secs_f64());
        let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    }
}

/// Started in one client, continued in another, concluded at the terminal.
#[test]
fn a_debate_goes_from_client_to_client_to_terminal() {
    let Some(client) = Client::with(&["claude", "opencode"]) else { return };
    let seat = client.script(0);
    let start = json!({"topic": "One file?", "proposer": seat, "challenger": seat, "judge": seat,
        "rounds": 3, "options": {"probe": false}});
    let shown = json!({"text": "SHOWN: $R"});
    let begun = client.types("claude", "One file?", &[step("start_debate", start), shown.clone()]);
    in_order(&text(&begun), &["SHOWN: ", "paused"]);
    let on = step("continue_round", json!({"decision": "continue", "wait_seconds": 20}));
    let gone_on = client.types("opencode", "resume", &[step("list_debates", json!({})), on, shown]);
    in_order(&text(&gone_on), &["SHOWN: ", "round 2 of 3"]);
    client.debate(&["resume", "--conclude", "--yes"]).success();
    let view = client.debate(&["show", "last", "--json"]).success().json();
    assert_eq!((&view["status"], &view["rounds_completed"]), (&"completed".into(), &2.into()));
    let id = view["id"].as_str().unwrap();
    for folder in [".claude", ".opencode"] {
        let path = client.lab.root().join(folder).join("debate/last-debate.json");
        let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((&state["id"], &state["status"]), (&id.into(), &"completed".into()), "{folder}");
    }
}

/// Installs the plugin from this repository as a marketplace.
#[test]
fn claude_code_installs_the_plugin() {
    let Some(client) = Client::new("claude") else { return };
    // Only the plugin may provide the server here.
    client.debate(&["uninit", "claude"]).done();
    let run = |args: &[&str], url: &str| {
        let mut command = Command::new(client.lab.bin().join("claude"));
        let path =
            std::env::join_paths([client.lab.bin(), "/usr/bin".into(), "/bin".into()]).unwrap();
        command.args(args).current_dir(client.lab.root()).env_clear().env("PATH", path);
        command.env("HOME", client.lab.outside("user")).env("ANTHROPIC_API_KEY", "sk-ant-none");
        command.env("ANTHROPIC_BASE_URL", url).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("DISABLE_AUTOUPDATER", "1").env("ENABLE_TOOL_SEARCH", "false");
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output));
        text(&output)
    };
    symlink(env!("CARGO_BIN_EXE_debate"), client.lab.bin().join("debate")).unwrap();
    let market = client.lab.outside("market");
    for folder in [".claude-plugin", "plugin"] {
        copy(&here(folder), &market.join(folder));
    }
    let place = market.to_str().unwrap();
    run(&["plugin", "validate", place, "--strict"], &client.base);
    run(&["plugin", "marketplace", "add", place], &client.base);
    run(&["plugin", "install", "debate@debate"], &client.base);
    let does = json!([{"tool": "list_models", "args": {}}, {"text": "SHOWN: $R"}]);
    let url = format!("{}/x/seq:{}", client.base, quoted(&does.to_string()));
    let said = run(&["-p", "/debate:debate One file?"], &url);
    in_order(&said, &["SHOWN: ", "host"]);
    assert!(client.asked().contains("What I typed: One file?"));
    assert!(client.asked().contains("mcp__plugin_debate_debate__list_models"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
