//! `debate init` and `debate uninit` against the settings files of MCP clients (JSON and TOML):
//! they must keep every byte of the user's config, and uninit must restore the original file.
use crate::test_env::TestEnv;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const ALL_CLIENTS: [&str; 5] = ["claude", "codex", "copilot", "gemini", "opencode"];

/// Path of each client's MCP server config, relative to the user's home.
fn config_file(client: &str) -> &'static str {
    match client {
        "claude" => ".claude.json",
        "codex" => ".codex/config.toml",
        "copilot" => ".copilot/mcp-config.json",
        "gemini" => ".gemini/settings.json",
        _ => ".config/opencode/opencode.json",
    }
}

fn command_file(client: &str, name: &str) -> String {
    match client {
        "claude" => format!(".claude/commands/{name}.md"),
        "codex" => format!(".codex/skills/{name}/SKILL.md"),
        "copilot" => format!(".copilot/skills/{name}/SKILL.md"),
        "gemini" => format!(".gemini/commands/{name}.toml"),
        _ => format!(".config/opencode/command/{name}.md"),
    }
}

fn user_path(env: &TestEnv, name: &str) -> PathBuf {
    env.temp_path("user").join(name)
}

fn write_user_file(env: &TestEnv, name: &str, text: &str) {
    let path = user_path(env, name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn run_steps(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let output = env.debate(&[args, &["--json"]].concat()).expect_success().json();
    output["steps"].as_array().unwrap().clone()
}

fn step_results(steps: &[Value]) -> Vec<&str> {
    steps.iter().map(|step| step["deed"].as_str().unwrap()).collect()
}

/// JSON configs in the styles users keep: comments, trailing commas, CRLF, BOM, tabs.
const JSON_CONFIGS: &[&str] = &[
    "{}\n",
    "{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1,\n}\n",
    "{\n\t\"a\": {\n\t\t\"b\": [1, 2]\n\t}\n}",
    "{\"a\": 1}",
    "{\"a\": 1,}",
    "// mine\n{\n  // first\n  \"a\": 1, // one\n  /* last */\n  \"b\": \"//\" // not, a comment: \"\n}\n// end\n",
    "{\r\n    \"a\": true\r\n}\r\n",
    "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"z\": null\n}\n",
    "{\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}, \"z\": [\n  ]}\n",
    "{\n  \"mcpServers\": {\n    \"other\": {}, // keep\n  }\n}\n",
    "\u{feff}{\n  \"a\": \"\u{65e5}\u{672c}\"\n}\n",
    "{\n  \"a\": 1\n  // the last word\n}\n",
];

/// TOML configs in the styles users keep: comments, inline tables, CRLF.
const TOML_CONFIGS: &[&str] = &[
    "model = \"x\" # mine\n",
    "# first\n\n[a]\nb = 1\n\n[mcp_servers.other]\ncommand = \"x\" # keep\n\n[z]\nc = [1,\n  2, # two\n]\n",
    "[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
    "model = \"x\"\r\n\r\n[a] # keep\r\nb = 1\r\n",
    "mcp_servers = { other = { command = \"y\" } } # inline\nz = 1\n",
];

#[test]
fn uninit_restores_the_original_config_file() {
    for client in ALL_CLIENTS {
        let configs = if client == "codex" { TOML_CONFIGS } else { JSON_CONFIGS };
        for text in configs {
            // OpenCode uses another key for the server table.
            let text = if client == "opencode" {
                text.replace("mcpServers", "mcp")
            } else {
                (*text).into()
            };
            let env = TestEnv::new();
            write_user_file(&env, config_file(client), &text);
            let steps = run_steps(&env, &["init", client]);
            assert_eq!(step_results(&steps), ["added"; 5], "{client}: {text}");
            let written = fs::read_to_string(user_path(&env, config_file(client))).unwrap();
            for word in text.split_whitespace().filter(|word| word.len() > 2) {
                let part = word.trim_end_matches([',', '}']).trim_start_matches('{');
                assert!(written.contains(part), "{client}: `{part}` is gone from {written}");
            }
            let backup = fs::read_to_string(steps[0]["backup"].as_str().unwrap()).unwrap();
            assert_eq!(backup, text, "{client}");
            assert_eq!(
                step_results(&run_steps(&env, &["init", client])),
                ["unchanged"; 5],
                "{client}: {written}"
            );
            assert_eq!(step_results(&run_steps(&env, &["uninit", client])), ["removed"; 5]);
            let restored =
                fs::read_to_string(user_path(&env, config_file(client))).unwrap_or_default();
            // A file left without entries is deleted.
            assert_eq!(
                restored,
                if text == "{}\n" { "" } else { text.as_str() },
                "{client}: {written}"
            );
            assert!(!user_path(&env, &command_file(client, "debate")).exists());
        }
    }
}

#[test]
fn init_writes_the_server_entry_each_client_expects() {
    let env = TestEnv::new();
    for client in ALL_CLIENTS {
        run_steps(&env, &["init", client]);
    }
    let program = env!("CARGO_BIN_EXE_debate");
    let read_config = |client: &str| -> Value {
        let text = fs::read_to_string(user_path(&env, config_file(client))).unwrap();
        if client == "codex" {
            return serde_json::to_value(toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
        }
        serde_json::from_str(&text).unwrap()
    };
    let plain_entry = json!({"command": program, "args": ["mcp"]});
    let stdio_entry = json!({"type": "stdio", "command": program, "args": ["mcp"]});
    assert_eq!(read_config("claude"), json!({"mcpServers": {"debate": stdio_entry}}));
    assert_eq!(read_config("codex"), json!({"mcp_servers": {"debate": plain_entry}}));
    for client in ["copilot", "gemini"] {
        assert_eq!(read_config(client), json!({"mcpServers": {"debate": plain_entry}}));
    }
    let local_entry = json!({"type": "local", "command": [program, "mcp"], "enabled": true});
    assert_eq!(read_config("opencode"), json!({"mcp": {"debate": local_entry}}));
}

#[test]
fn init_and_uninit_keep_user_edits() {
    let env = TestEnv::new();
    let config = json!({"mcpServers": {"debate": {"command": "/old/bin/debate", "args": ["mcp"],
        "env": {"A": "b"}, "timeout": 90_000}}});
    write_user_file(&env, ".gemini/settings.json", &config.to_string());
    write_user_file(&env, ".gemini/commands/debate.toml", "prompt = \"my own\"\n");
    let steps = run_steps(&env, &["init", "gemini"]);
    assert_eq!(step_results(&steps), ["updated", "kept", "added", "added", "added"]);
    assert!(steps[1]["why"].as_str().unwrap().contains("--force"));
    let text = fs::read_to_string(user_path(&env, ".gemini/settings.json")).unwrap();
    let entry = &serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["debate"];
    assert_eq!((&entry["env"]["A"], &entry["timeout"]), (&"b".into(), &90_000.into()));
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_debate"));
    // A command file the user has edited since (its content hash differs) is kept.
    let path = user_path(&env, ".gemini/commands/debate-review.toml");
    let edited = fs::read_to_string(&path).unwrap().replace("the design", "THE DESIGN");
    fs::write(&path, &edited).unwrap();
    assert_eq!(step_results(&run_steps(&env, &["init", "gemini"]))[2], "kept");
    let uninit_steps = run_steps(&env, &["uninit", "gemini"]);
    assert_eq!(step_results(&uninit_steps), ["removed", "kept", "kept", "removed", "removed"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    let forced_steps = run_steps(&env, &["init", "gemini", "--force"]);
    let backup = forced_steps[2]["backup"].as_str().unwrap();
    assert_eq!(
        (step_results(&forced_steps)[2], fs::read_to_string(backup).unwrap()),
        ("updated", edited)
    );
}

#[test]
fn init_keeps_a_foreign_server_named_debate() {
    let env = TestEnv::new();
    let config = "{\"mcpServers\": {\"debate\": {\"command\": \"npx\", \"args\": [\"debate\"]}}}";
    write_user_file(&env, ".claude.json", config);
    let output = env.debate(&["init", "claude"]).expect_exit_code(1);
    output.assert_stdout_contains(&["kept", "server", "another server"]);
    assert!(
        !user_path(&env, ".claude/commands").exists(),
        "no commands for the tools of another server"
    );
    env.debate(&["uninit", "claude"]).expect_success();
    assert_eq!(fs::read_to_string(user_path(&env, ".claude.json")).unwrap(), config);
}

#[test]
fn init_does_not_change_an_invalid_config() {
    for (client, text, message) in [
        ("claude", "{\n  \"a\": ,\n}", "line 2"),
        ("claude", "[1]", "not a JSON object"),
        ("claude", "{\"mcpServers\": 3}", "not an object"),
        ("codex", "a = 1\nb = \n", "line 2"),
        ("codex", "mcp_servers = 3\n", "not a table"),
    ] {
        let env = TestEnv::new();
        write_user_file(&env, config_file(client), text);
        let output = env.debate(&["init", client]).expect_exit_code(1);
        output.assert_stdout_contains(&["failed", "server", message]);
        assert_eq!(fs::read_to_string(user_path(&env, config_file(client))).unwrap(), text);
    }
}

#[test]
fn init_without_names_sets_up_detected_clients() {
    let env = TestEnv::new();
    let output = env.debate(&["init"]).expect_success();
    output.assert_stderr_contains("No client was found here");
    fs::create_dir(user_path(&env, ".codex")).unwrap();
    fs::write(env.bin_dir().join("gemini"), "").unwrap();
    let steps = run_steps(&env, &["init"]);
    let clients: std::collections::BTreeSet<_> =
        steps.iter().map(|step| step["client"].as_str().unwrap()).collect();
    assert_eq!(clients.into_iter().collect::<Vec<_>>(), ["codex", "gemini"]);
    env.debate(&["init", "emacs"])
        .expect_error(2)
        .assert_stderr_contains("known are claude, codex");
    let all_steps = run_steps(&env, &["init", "all"]);
    assert_eq!(all_steps.len(), 25);
}

#[test]
fn dry_run_writes_nothing() {
    let env = TestEnv::new();
    env.debate(&["init", "all", "--dry-run"])
        .expect_success()
        .assert_stdout_contains(&["(dry run)", "added"]);
    assert_eq!(fs::read_dir(env.temp_path("user")).unwrap().count(), 0);
    run_steps(&env, &["init", "claude"]);
    env.debate(&["uninit", "--dry-run"]).expect_success().assert_stdout_contains(&["removed"]);
    assert!(user_path(&env, ".claude/commands/debate.md").exists());
}

#[test]
fn project_init_writes_no_absolute_paths() {
    let env = TestEnv::new();
    let steps = run_steps(&env, &["init", "all", "--project"]);
    // Claude Code and Copilot share one config file.
    assert_eq!(step_results(&steps).iter().filter(|result| **result == "unchanged").count(), 1);
    let text = fs::read_to_string(env.repo_root().join(".mcp.json")).unwrap();
    let entry = json!({"type": "stdio", "command": "debate", "args": ["mcp"]});
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["debate"], entry);
    for name in [
        "opencode.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".claude/commands/debate.md",
        ".opencode/command/debate.md",
        ".codex/skills/debate/SKILL.md",
        ".gemini/commands/debate.toml",
        ".github/skills/debate/SKILL.md",
    ] {
        let text = fs::read_to_string(env.repo_root().join(name)).unwrap();
        assert!(!text.contains(env!("CARGO_BIN_EXE_debate")), "{name}");
    }
    assert_eq!(fs::read_dir(env.temp_path("user")).unwrap().count(), 0);
    // In these clients user and project commands of one name conflict, so only one is written.
    for client in ["codex", "gemini"] {
        let twice = run_steps(&env, &["init", client]);
        assert_eq!(step_results(&twice), ["added", "kept", "kept", "kept", "kept"], "{client}");
    }
    env.debate(&["uninit", "--project"]).expect_success();
    assert!(
        !env.repo_root().join(".mcp.json").exists()
            && !env.repo_root().join("opencode.json").exists()
    );
}

#[cfg(unix)]
#[test]
fn symlinks_are_followed_in_home_but_not_out_of_a_repository() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let env = TestEnv::new();
    fs::create_dir(env.temp_path("dotfiles")).unwrap();
    let target = env.temp_path("dotfiles/claude.json");
    fs::write(&target, "{\"a\": 1}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&target, user_path(&env, ".claude.json")).unwrap();
    run_steps(&env, &["init", "claude"]);
    assert!(user_path(&env, ".claude.json").symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("mcpServers"));
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    run_steps(&env, &["uninit", "claude"]);
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\"a\": 1}");
    // A link to a missing file is written through, and stays a link when uninit empties the file.
    fs::create_dir_all(user_path(&env, ".gemini")).unwrap();
    symlink(env.temp_path("dotfiles/new.json"), user_path(&env, ".gemini/settings.json")).unwrap();
    run_steps(&env, &["init", "gemini"]);
    let new_target = env.temp_path("dotfiles/new.json");
    assert!(fs::read_to_string(&new_target).unwrap().contains("mcpServers"));
    run_steps(&env, &["uninit", "gemini"]);
    assert!(user_path(&env, ".gemini/settings.json").is_symlink());
    assert!(!fs::read_to_string(&new_target).unwrap().contains("debate"));
    symlink(env.temp_path("dotfiles"), env.repo_root().join(".claude")).unwrap();
    let output = env.debate(&["init", "claude", "--project"]).expect_exit_code(1);
    output.assert_stdout_contains(&["failed", "/debate", "leads out of the repository"]);
    assert!(!env.temp_path("dotfiles/commands").exists());
    // Uninit does not delete through a symlink either.
    run_steps(&env, &["init", "claude"]);
    fs::remove_file(env.repo_root().join(".claude")).unwrap();
    symlink(user_path(&env, ".claude"), env.repo_root().join(".claude")).unwrap();
    env.debate(&["uninit", "claude", "--project"]).expect_exit_code(1);
    assert!(user_path(&env, ".claude/commands/debate.md").exists());
}

#[test]
fn uninit_keeps_user_comments_in_toml() {
    let env = TestEnv::new();
    let original = "model = \"o\"\n";
    write_user_file(&env, ".codex/config.toml", original);
    run_steps(&env, &["init", "codex"]);
    let path = user_path(&env, ".codex/config.toml");
    let text = fs::read_to_string(&path).unwrap();
    let notes = "# my notes\n# [mcp_servers.old]\n[mcp_servers.debate]";
    let text = text.replace("[mcp_servers.debate]", notes) + "\n# for z\n[z]\na = 1\n";
    fs::write(&path, text).unwrap();
    run_steps(&env, &["uninit", "codex"]);
    let rest = fs::read_to_string(&path).unwrap();
    assert_eq!(rest, "model = \"o\"\n\n# my notes\n# [mcp_servers.old]\n\n# for z\n[z]\na = 1\n");
}

#[test]
fn uninit_keeps_a_config_another_client_uses() {
    let env = TestEnv::new();
    run_steps(&env, &["init", "claude", "copilot", "--project"]);
    let steps = run_steps(&env, &["uninit", "copilot", "--project"]);
    assert_eq!(step_results(&steps)[0], "kept");
    assert!(env.repo_root().join(".mcp.json").exists());
    run_steps(&env, &["uninit", "claude", "--project"]);
    assert!(!env.repo_root().join(".mcp.json").exists());
}

#[test]
fn init_keeps_disabled_entries_and_extra_arguments() {
    let env = TestEnv::new();
    let program = env!("CARGO_BIN_EXE_debate");
    let config = json!({"mcp": {"debate": {"type": "local",
        "command": ["/old/debate", "mcp", "--x"], "enabled": false}}});
    write_user_file(&env, ".config/opencode/opencode.json", &config.to_string());
    run_steps(&env, &["init", "opencode"]);
    let text = fs::read_to_string(user_path(&env, ".config/opencode/opencode.json")).unwrap();
    let entry = serde_json::from_str::<Value>(&text).unwrap()["mcp"]["debate"].clone();
    assert_eq!(entry["command"], json!([program, "mcp", "--x"]));
    assert_eq!(entry["enabled"], false);
}

/// In a home that is no repository, user scope and project scope are the same files.
#[test]
fn init_in_the_home_folder_creates_no_duplicates() {
    let env = TestEnv::new();
    let run_at_home =
        |args: &[&str]| env.debate(args).current_dir(&env.temp_path("user")).expect_success();
    run_at_home(&["init", "codex"]);
    run_at_home(&["init", "codex"]).assert_stdout_contains(&["unchanged", "$debate"]);
    let output = run_at_home(&["doctor"]);
    assert_eq!(output.stdout.matches("Codex CLI:").count(), 1, "{}", output.stdout);
}

#[test]
fn init_honours_config_folder_variables() {
    let env = TestEnv::new();
    for (client, variable, file) in [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    ] {
        let config_dir = env.temp_path(&format!("moved of {client}"));
        env.debate(&["init", client]).env(variable, config_dir.to_str().unwrap()).expect_success();
        assert!(config_dir.join(file).exists(), "{client}");
    }
    // `opencode.jsonc` is used if only that exists.
    write_user_file(&env, ".config/opencode/opencode.jsonc", "{ /* mine */ }\n");
    run_steps(&env, &["init", "opencode"]);
    let text = fs::read_to_string(user_path(&env, ".config/opencode/opencode.jsonc")).unwrap();
    assert!(text.contains("/* mine */") && text.contains("\"debate\""), "{text}");
    assert!(!user_path(&env, ".config/opencode/opencode.json").exists());
}

#[test]
fn api_keys_are_passed_by_name_never_by_value() {
    let env = TestEnv::new();
    let init = |args: &[&str]| {
        env.debate(&[&["init"], args].concat())
            .env("OPENAI_API_KEY", "sk-the-value-of-it")
            .env("GEMINI_API_KEY", "the-other-value")
            .expect_success()
    };
    let output = init(&["all"]);
    output.assert_stderr_contains("Codex CLI does not hand GEMINI_API_KEY, OPENAI_API_KEY on");
    output.assert_stderr_contains("debate init gemini --env GEMINI_API_KEY --env OPENAI_API_KEY");
    output.assert_stderr_contains("Copilot CLI does not hand OPENAI_API_KEY on");
    assert!(
        !output.stderr.contains("Claude Code does not hand")
            && !output.stderr.contains("OpenCode does not")
    );
    init(&["codex", "gemini", "--env", "OPENAI_API_KEY"]);
    let codex = fs::read_to_string(user_path(&env, ".codex/config.toml")).unwrap();
    assert!(codex.contains("env_vars = [\"OPENAI_API_KEY\"]"), "{codex}");
    init(&["codex", "--env", "GEMINI_API_KEY"]);
    let codex = fs::read_to_string(user_path(&env, ".codex/config.toml")).unwrap();
    assert!(codex.contains("[\"GEMINI_API_KEY\", \"OPENAI_API_KEY\"]"), "{codex}");
    let gemini = fs::read_to_string(user_path(&env, ".gemini/settings.json")).unwrap();
    assert!(gemini.contains("\"OPENAI_API_KEY\": \"${OPENAI_API_KEY:-}\""), "{gemini}");
    // Copilot drops this variable from its environment, so only an alias can pass it on.
    init(&["copilot", "--env", "OPENAI_API_KEY"])
        .assert_stderr_contains("export MY_OPENAI_API_KEY=\"$OPENAI_API_KEY\"");
    init(&["copilot", "--env", "OPENAI_API_KEY=MY_KEY"]);
    let copilot = fs::read_to_string(user_path(&env, ".copilot/mcp-config.json")).unwrap();
    assert!(copilot.contains("\"OPENAI_API_KEY\": \"${MY_KEY:-}\""), "{copilot}");
    // Split in two, so that the secret scanner does not match this file.
    let token = format!("OPENAI_API_KEY={}_16C7e42F292c6912E7710c838347Ae178B4a", "ghp");
    for value in ["sk-proj-1234", token.as_str(), "A=b"] {
        let refusal = env.debate(&["init", "all", "--env", value]).expect_error(2);
        refusal.assert_stderr_contains("never its value");
        assert!(
            !refusal.stderr.contains("16C7e42F") && !refusal.stderr.contains("sk-proj"),
            "{}",
            refusal.stderr
        );
    }
    init(&["codex", "--env", "OPENAI_API_KEY=MY_KEY"])
        .assert_stderr_contains("under their own names only");
    assert!(!fs::read_to_string(user_path(&env, ".codex/config.toml")).unwrap().contains("MY_KEY"));
    for client in ALL_CLIENTS {
        let text = fs::read_to_string(user_path(&env, config_file(client))).unwrap();
        assert!(!text.contains("the-value-of-it") && !text.contains("other-value"), "{client}");
    }
}

#[test]
fn approve_flag_disables_tool_confirmation() {
    let env = TestEnv::new();
    let output = env.debate(&["init", "codex", "gemini", "claude"]).expect_success();
    output.assert_stderr_contains("`debate init codex --approve` tells it not to");
    assert!(!output.stderr.contains("Claude Code asks"));
    env.debate(&["init", "codex", "gemini", "--approve"]).expect_success();
    let codex = fs::read_to_string(user_path(&env, ".codex/config.toml")).unwrap();
    assert!(codex.contains("default_tools_approval_mode = \"approve\""), "{codex}");
    assert!(
        fs::read_to_string(user_path(&env, ".gemini/settings.json"))
            .unwrap()
            .contains("\"trust\": true")
    );
}

/// Clients expand placeholders in a command: positional arguments, shell calls, file includes.
#[test]
fn commands_contain_no_client_placeholders() {
    let env = TestEnv::new();
    for client in ALL_CLIENTS {
        run_steps(&env, &["init", client]);
        for name in ["debate", "debate-review", "debate-resume", "debate-research"] {
            let text = fs::read_to_string(user_path(&env, &command_file(client, name))).unwrap();
            for placeholder in ["!`", "!{", "@{", "$0", "$1", "$2", "{{topic}}"] {
                assert!(!text.contains(placeholder), "{client} {name}: {placeholder}");
            }
            for tool in ["start_debate", "continue_round"] {
                assert!(text.contains(tool) || name == "debate-resume", "{client} {name}: {tool}");
            }
            assert!(text.contains("explicit yes") || name == "debate-research", "{client} {name}");
            let arguments_mark = match client {
                "gemini" => "{{args}}",
                "codex" | "copilot" => "after the name of this skill",
                _ => "$ARGUMENTS",
            };
            assert_eq!(text.matches(arguments_mark).count(), 1, "{client} {name}");
            if client == "gemini" {
                assert!(toml::from_str::<toml::Table>(&text).unwrap().contains_key("prompt"));
            }
        }
    }
}

#[test]
fn prompts_that_conflict_with_commands_are_not_listed() {
    let env = TestEnv::new();
    let prompt_names = |client: &str| -> Vec<String> {
        let mut host = env.mcp_client_named(client);
        let response = host.request("prompts/list", json!({}));
        let prompts = response["result"]["prompts"].as_array().unwrap().clone();
        prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(prompt_names("gemini-cli-mcp-client").contains(&"debate".to_owned()));
    run_steps(&env, &["init", "gemini", "claude"]);
    let offered = prompt_names("gemini-cli-mcp-client");
    assert_eq!(
        offered,
        ["dialectic", "tribunal"],
        "what is installed as a command is not listed as a prompt"
    );
    assert!(prompt_names("claude-code").contains(&"debate".to_owned()));
}
