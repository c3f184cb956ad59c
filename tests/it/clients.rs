//! `debate init` and `debate uninit` against the settings files of MCP clients (JSON and TOML):
//! they must keep every byte of the user's config, and uninit must restore the original file.
use crate::lab::Lab;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const ALL: [&str; 5] = ["claude", "codex", "copilot", "gemini", "opencode"];

/// Path of each client's MCP server config, relative to the user's home.
fn settings(client: &str) -> &'static str {
    match client {
        "claude" => ".claude.json",
        "codex" => ".codex/config.toml",
        "copilot" => ".copilot/mcp-config.json",
        "gemini" => ".gemini/settings.json",
        _ => ".config/opencode/opencode.json",
    }
}

fn command(client: &str, name: &str) -> String {
    match client {
        "claude" => format!(".claude/commands/{name}.md"),
        "codex" => format!(".codex/skills/{name}/SKILL.md"),
        "copilot" => format!(".copilot/skills/{name}/SKILL.md"),
        "gemini" => format!(".gemini/commands/{name}.toml"),
        _ => format!(".config/opencode/command/{name}.md"),
    }
}

fn user(lab: &Lab, name: &str) -> PathBuf {
    lab.outside("user").join(name)
}

fn put(lab: &Lab, name: &str, text: &str) {
    let path = user(lab, name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn steps(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let done = lab.debate(&[args, &["--json"]].concat()).success().json();
    done["steps"].as_array().unwrap().clone()
}

fn deeds(steps: &[Value]) -> Vec<&str> {
    steps.iter().map(|step| step["deed"].as_str().unwrap()).collect()
}

/// JSON configs in the styles users keep: comments, trailing commas, CRLF, BOM, tabs.
const JSON: &[&str] = &[
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
const TOML: &[&str] = &[
    "model = \"x\" # mine\n",
    "# first\n\n[a]\nb = 1\n\n[mcp_servers.other]\ncommand = \"x\" # keep\n\n[z]\nc = [1,\n  2, # two\n]\n",
    "[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
    "model = \"x\"\r\n\r\n[a] # keep\r\nb = 1\r\n",
    "mcp_servers = { other = { command = \"y\" } } # inline\nz = 1\n",
];

#[test]
fn what_is_set_up_and_undone_is_as_it_was() {
    for client in ALL {
        let texts = if client == "codex" { TOML } else { JSON };
        for text in texts {
            // OpenCode uses another key for the server table.
            let text = if client == "opencode" {
                text.replace("mcpServers", "mcp")
            } else {
                (*text).into()
            };
            let lab = Lab::new();
            put(&lab, settings(client), &text);
            let added = steps(&lab, &["init", client]);
            assert_eq!(deeds(&added), ["added"; 5], "{client}: {text}");
            let between = fs::read_to_string(user(&lab, settings(client))).unwrap();
            for word in text.split_whitespace().filter(|word| word.len() > 2) {
                let bare = word.trim_end_matches([',', '}']).trim_start_matches('{');
                assert!(between.contains(bare), "{client}: `{bare}` is gone from {between}");
            }
            let backup = fs::read_to_string(added[0]["backup"].as_str().unwrap()).unwrap();
            assert_eq!(backup, text, "{client}");
            assert_eq!(
                deeds(&steps(&lab, &["init", client])),
                ["unchanged"; 5],
                "{client}: {between}"
            );
            assert_eq!(deeds(&steps(&lab, &["uninit", client])), ["removed"; 5]);
            let after = fs::read_to_string(user(&lab, settings(client))).unwrap_or_default();
            // A file left without entries is deleted.
            assert_eq!(
                after,
                if text == "{}\n" { "" } else { text.as_str() },
                "{client}: {between}"
            );
            assert!(!user(&lab, &command(client, "debate")).exists());
        }
    }
}

#[test]
fn an_entry_is_what_the_client_wants() {
    let lab = Lab::new();
    for client in ALL {
        steps(&lab, &["init", client]);
    }
    let program = env!("CARGO_BIN_EXE_debate");
    let read = |client: &str| -> Value {
        let text = fs::read_to_string(user(&lab, settings(client))).unwrap();
        if client == "codex" {
            return serde_json::to_value(toml::from_str::<toml::Table>(&text).unwrap()).unwrap();
        }
        serde_json::from_str(&text).unwrap()
    };
    let plain = json!({"command": program, "args": ["mcp"]});
    let typed = json!({"type": "stdio", "command": program, "args": ["mcp"]});
    assert_eq!(read("claude"), json!({"mcpServers": {"debate": typed}}));
    assert_eq!(read("codex"), json!({"mcp_servers": {"debate": plain}}));
    for client in ["copilot", "gemini"] {
        assert_eq!(read(client), json!({"mcpServers": {"debate": plain}}));
    }
    let listed = json!({"type": "local", "command": [program, "mcp"], "enabled": true});
    assert_eq!(read("opencode"), json!({"mcp": {"debate": listed}}));
}

#[test]
fn what_somebody_has_made_of_it_stays() {
    let lab = Lab::new();
    let own = json!({"mcpServers": {"debate": {"command": "/old/bin/debate", "args": ["mcp"],
        "env": {"A": "b"}, "timeout": 90_000}}});
    put(&lab, ".gemini/settings.json", &own.to_string());
    put(&lab, ".gemini/commands/debate.toml", "prompt = \"my own\"\n");
    let done = steps(&lab, &["init", "gemini"]);
    assert_eq!(deeds(&done), ["updated", "kept", "added", "added", "added"]);
    assert!(done[1]["why"].as_str().unwrap().contains("--force"));
    let text = fs::read_to_string(user(&lab, ".gemini/settings.json")).unwrap();
    let entry = &serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["debate"];
    assert_eq!((&entry["env"]["A"], &entry["timeout"]), (&"b".into(), &90_000.into()));
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_debate"));
    // A command file the user has edited since (its content hash differs) is kept.
    let path = user(&lab, ".gemini/commands/debate-review.toml");
    let edited = fs::read_to_string(&path).unwrap().replace("the design", "THE DESIGN");
    fs::write(&path, &edited).unwrap();
    assert_eq!(deeds(&steps(&lab, &["init", "gemini"]))[2], "kept");
    let left = steps(&lab, &["uninit", "gemini"]);
    assert_eq!(deeds(&left), ["removed", "kept", "kept", "removed", "removed"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    let forced = steps(&lab, &["init", "gemini", "--force"]);
    let backup = forced[2]["backup"].as_str().unwrap();
    assert_eq!((deeds(&forced)[2], fs::read_to_string(backup).unwrap()), ("updated", edited));
}

#[test]
fn another_server_of_that_name_is_left_alone() {
    let lab = Lab::new();
    let other = "{\"mcpServers\": {\"debate\": {\"command\": \"npx\", \"args\": [\"debate\"]}}}";
    put(&lab, ".claude.json", other);
    let done = lab.debate(&["init", "claude"]).ends(1);
    done.says(&["kept", "server", "another server"]);
    assert!(!user(&lab, ".claude/commands").exists(), "no command allows itself another's tools");
    lab.debate(&["uninit", "claude"]).success();
    assert_eq!(fs::read_to_string(user(&lab, ".claude.json")).unwrap(), other);
}

#[test]
fn what_cannot_be_read_is_not_touched() {
    for (client, text, line) in [
        ("claude", "{\n  \"a\": ,\n}", "line 2"),
        ("claude", "[1]", "no table"),
        ("claude", "{\"mcpServers\": 3}", "no table"),
        ("codex", "a = 1\nb = \n", "line 2"),
        ("codex", "mcp_servers = 3\n", "no table"),
    ] {
        let lab = Lab::new();
        put(&lab, settings(client), text);
        let done = lab.debate(&["init", client]).ends(1);
        done.says(&["failed", "server", line]);
        assert_eq!(fs::read_to_string(user(&lab, settings(client))).unwrap(), text);
    }
}

#[test]
fn without_names_those_that_are_found_are_set_up() {
    let lab = Lab::new();
    let none = lab.debate(&["init"]).success();
    none.warns("No client was found here");
    fs::create_dir(user(&lab, ".codex")).unwrap();
    fs::write(lab.bin().join("gemini"), "").unwrap();
    let done = steps(&lab, &["init"]);
    let clients: std::collections::BTreeSet<_> =
        done.iter().map(|step| step["client"].as_str().unwrap()).collect();
    assert_eq!(clients.into_iter().collect::<Vec<_>>(), ["codex", "gemini"]);
    lab.debate(&["init", "emacs"]).fails_with(2).warns("known are claude, codex");
    let every = steps(&lab, &["init", "all"]);
    assert_eq!(every.len(), 25);
}

#[test]
fn a_dry_run_does_nothing() {
    let lab = Lab::new();
    lab.debate(&["init", "all", "--dry-run"]).success().says(&["if it were done", "added"]);
    assert_eq!(fs::read_dir(lab.outside("user")).unwrap().count(), 0);
    steps(&lab, &["init", "claude"]);
    lab.debate(&["uninit", "--dry-run"]).success().says(&["removed"]);
    assert!(user(&lab, ".claude/commands/debate.md").exists());
}

#[test]
fn a_repository_shares_names_and_not_paths() {
    let lab = Lab::new();
    let done = steps(&lab, &["init", "all", "--project"]);
    // Claude Code and Copilot share one config file.
    assert_eq!(deeds(&done).iter().filter(|deed| **deed == "unchanged").count(), 1);
    let text = fs::read_to_string(lab.root().join(".mcp.json")).unwrap();
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
        let text = fs::read_to_string(lab.root().join(name)).unwrap();
        assert!(!text.contains(env!("CARGO_BIN_EXE_debate")), "{name}");
    }
    assert_eq!(fs::read_dir(lab.outside("user")).unwrap().count(), 0);
    // In these clients user and project commands of one name conflict, so only one is written.
    for client in ["codex", "gemini"] {
        let twice = steps(&lab, &["init", client]);
        assert_eq!(deeds(&twice), ["added", "kept", "kept", "kept", "kept"], "{client}");
    }
    lab.debate(&["uninit", "--project"]).success();
    assert!(!lab.root().join(".mcp.json").exists() && !lab.root().join("opencode.json").exists());
}

#[cfg(unix)]
#[test]
fn links_are_followed_at_home_and_not_out_of_a_repository() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let lab = Lab::new();
    fs::create_dir(lab.outside("dotfiles")).unwrap();
    let real = lab.outside("dotfiles/claude.json");
    fs::write(&real, "{\"a\": 1}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&real, user(&lab, ".claude.json")).unwrap();
    steps(&lab, &["init", "claude"]);
    assert!(user(&lab, ".claude.json").symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("mcpServers"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    steps(&lab, &["uninit", "claude"]);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"a\": 1}");
    // A link to a missing file is written through, and stays a link when uninit empties the file.
    fs::create_dir_all(user(&lab, ".gemini")).unwrap();
    symlink(lab.outside("dotfiles/new.json"), user(&lab, ".gemini/settings.json")).unwrap();
    steps(&lab, &["init", "gemini"]);
    let new = lab.outside("dotfiles/new.json");
    assert!(fs::read_to_string(&new).unwrap().contains("mcpServers"));
    steps(&lab, &["uninit", "gemini"]);
    assert!(user(&lab, ".gemini/settings.json").is_symlink());
    assert!(!fs::read_to_string(&new).unwrap().contains("debate"));
    symlink(lab.outside("dotfiles"), lab.root().join(".claude")).unwrap();
    let done = lab.debate(&["init", "claude", "--project"]).ends(1);
    done.says(&["failed", "/debate", "leads out of the repository"]);
    assert!(!lab.outside("dotfiles/commands").exists());
    // Uninit does not delete through a symlink either.
    steps(&lab, &["init", "claude"]);
    fs::remove_file(lab.root().join(".claude")).unwrap();
    symlink(user(&lab, ".claude"), lab.root().join(".claude")).unwrap();
    lab.debate(&["uninit", "claude", "--project"]).ends(1);
    assert!(user(&lab, ".claude/commands/debate.md").exists());
}

#[test]
fn comments_of_somebody_else_stay_where_ours_is_taken_out() {
    let lab = Lab::new();
    let before = "model = \"o\"\n";
    put(&lab, ".codex/config.toml", before);
    steps(&lab, &["init", "codex"]);
    let path = user(&lab, ".codex/config.toml");
    let text = fs::read_to_string(&path).unwrap();
    let notes = "# my notes\n# [mcp_servers.old]\n[mcp_servers.debate]";
    let text = text.replace("[mcp_servers.debate]", notes) + "\n# for z\n[z]\na = 1\n";
    fs::write(&path, text).unwrap();
    steps(&lab, &["uninit", "codex"]);
    let left = fs::read_to_string(&path).unwrap();
    assert_eq!(left, "model = \"o\"\n\n# my notes\n# [mcp_servers.old]\n\n# for z\n[z]\na = 1\n");
}

#[test]
fn two_clients_that_read_one_file_do_not_undo_each_other() {
    let lab = Lab::new();
    steps(&lab, &["init", "claude", "copilot", "--project"]);
    let left = steps(&lab, &["uninit", "copilot", "--project"]);
    assert_eq!(deeds(&left)[0], "kept");
    assert!(lab.root().join(".mcp.json").exists());
    steps(&lab, &["uninit", "claude", "--project"]);
    assert!(!lab.root().join(".mcp.json").exists());
}

#[test]
fn what_is_switched_off_or_added_to_stays_so() {
    let lab = Lab::new();
    let program = env!("CARGO_BIN_EXE_debate");
    let own = json!({"mcp": {"debate": {"type": "local", "command": ["/old/debate", "mcp", "--x"],
        "enabled": false}}});
    put(&lab, ".config/opencode/opencode.json", &own.to_string());
    steps(&lab, &["init", "opencode"]);
    let text = fs::read_to_string(user(&lab, ".config/opencode/opencode.json")).unwrap();
    let entry = serde_json::from_str::<Value>(&text).unwrap()["mcp"]["debate"].clone();
    assert_eq!(entry["command"], json!([program, "mcp", "--x"]));
    assert_eq!(entry["enabled"], false);
}

/// In a home that is no repository, user scope and project scope are the same files.
#[test]
fn at_home_nothing_is_there_twice() {
    let lab = Lab::new();
    let at_home = |args: &[&str]| lab.debate(args).folder(&lab.outside("user")).success();
    at_home(&["init", "codex"]);
    at_home(&["init", "codex"]).says(&["unchanged", "$debate"]);
    let told = at_home(&["doctor"]);
    assert_eq!(told.out.matches("Codex CLI:").count(), 1, "{}", told.out);
}

#[test]
fn settings_that_were_moved_are_found_there() {
    let lab = Lab::new();
    for (client, variable, file) in [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "mcp-config.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    ] {
        let moved = lab.outside(&format!("moved of {client}"));
        lab.debate(&["init", client]).env(variable, moved.to_str().unwrap()).success();
        assert!(moved.join(file).exists(), "{client}");
    }
    // `opencode.jsonc` is used if only that exists.
    put(&lab, ".config/opencode/opencode.jsonc", "{ /* mine */ }\n");
    steps(&lab, &["init", "opencode"]);
    let text = fs::read_to_string(user(&lab, ".config/opencode/opencode.jsonc")).unwrap();
    assert!(text.contains("/* mine */") && text.contains("\"debate\""), "{text}");
    assert!(!user(&lab, ".config/opencode/opencode.json").exists());
}

#[test]
fn keys_are_handed_on_by_name_and_never_by_value() {
    let lab = Lab::new();
    let init = |args: &[&str]| {
        lab.debate(&[&["init"], args].concat())
            .env("OPENAI_API_KEY", "sk-the-value-of-it")
            .env("GEMINI_API_KEY", "the-other-value")
            .success()
    };
    let told = init(&["all"]);
    told.warns("Codex CLI does not hand GEMINI_API_KEY, OPENAI_API_KEY on");
    told.warns("debate init gemini --env GEMINI_API_KEY --env OPENAI_API_KEY");
    told.warns("Copilot CLI does not hand OPENAI_API_KEY on");
    assert!(
        !told.err.contains("Claude Code does not hand") && !told.err.contains("OpenCode does not")
    );
    init(&["codex", "gemini", "--env", "OPENAI_API_KEY"]);
    let codex = fs::read_to_string(user(&lab, ".codex/config.toml")).unwrap();
    assert!(codex.contains("env_vars = [\"OPENAI_API_KEY\"]"), "{codex}");
    init(&["codex", "--env", "GEMINI_API_KEY"]);
    let codex = fs::read_to_string(user(&lab, ".codex/config.toml")).unwrap();
    assert!(codex.contains("[\"GEMINI_API_KEY\", \"OPENAI_API_KEY\"]"), "{codex}");
    let gemini = fs::read_to_string(user(&lab, ".gemini/settings.json")).unwrap();
    assert!(gemini.contains("\"OPENAI_API_KEY\": \"${OPENAI_API_KEY:-}\""), "{gemini}");
    // Copilot drops this variable from its environment, so only an alias can pass it on.
    init(&["copilot", "--env", "OPENAI_API_KEY"])
        .warns("export MY_OPENAI_API_KEY=\"$OPENAI_API_KEY\"");
    init(&["copilot", "--env", "OPENAI_API_KEY=MY_KEY"]);
    let copilot = fs::read_to_string(user(&lab, ".copilot/mcp-config.json")).unwrap();
    assert!(copilot.contains("\"OPENAI_API_KEY\": \"${MY_KEY:-}\""), "{copilot}");
    // Split in two, so that the secret scanner does not match this file.
    let token = format!("OPENAI_API_KEY={}_16C7e42F292c6912E7710c838347Ae178B4a", "ghp");
    for value in ["sk-proj-1234", token.as_str(), "A=b"] {
        let done = lab.debate(&["init", "all", "--env", value]).fails_with(2);
        done.warns("never its value");
        assert!(!done.err.contains("16C7e42F") && !done.err.contains("sk-proj"), "{}", done.err);
    }
    init(&["codex", "--env", "OPENAI_API_KEY=MY_KEY"]).warns("under their own names only");
    assert!(!fs::read_to_string(user(&lab, ".codex/config.toml")).unwrap().contains("MY_KEY"));
    for client in ALL {
        let text = fs::read_to_string(user(&lab, settings(client))).unwrap();
        assert!(!text.contains("the-value-of-it") && !text.contains("other-value"), "{client}");
    }
}

#[test]
fn whoever_asks_before_every_call_can_be_told_not_to() {
    let lab = Lab::new();
    let told = lab.debate(&["init", "codex", "gemini", "claude"]).success();
    told.warns("`debate init codex --approve` tells it not to");
    assert!(!told.err.contains("Claude Code asks"));
    lab.debate(&["init", "codex", "gemini", "--approve"]).success();
    let codex = fs::read_to_string(user(&lab, ".codex/config.toml")).unwrap();
    assert!(codex.contains("default_tools_approval_mode = \"approve\""), "{codex}");
    assert!(
        fs::read_to_string(user(&lab, ".gemini/settings.json"))
            .unwrap()
            .contains("\"trust\": true")
    );
}

/// Clients expand placeholders in a command: positional arguments, shell calls, file includes.
#[test]
fn no_command_holds_what_a_client_would_carry_out() {
    let lab = Lab::new();
    for client in ALL {
        steps(&lab, &["init", client]);
        for name in ["debate", "debate-review", "debate-resume", "debate-research"] {
            let text = fs::read_to_string(user(&lab, &command(client, name))).unwrap();
            for mark in ["!`", "!{", "@{", "$0", "$1", "$2", "{{topic}}"] {
                assert!(!text.contains(mark), "{client} {name}: {mark}");
            }
            for word in ["start_debate", "continue_round"] {
                assert!(text.contains(word) || name == "debate-resume", "{client} {name}: {word}");
            }
            assert!(text.contains("explicit yes") || name == "debate-research", "{client} {name}");
            let given = match client {
                "gemini" => "{{args}}",
                "codex" | "copilot" => "after the name of this skill",
                _ => "$ARGUMENTS",
            };
            assert_eq!(text.matches(given).count(), 1, "{client} {name}");
            if client == "gemini" {
                assert!(toml::from_str::<toml::Table>(&text).unwrap().contains_key("prompt"));
            }
        }
    }
}

#[test]
fn a_client_whose_commands_would_clash_is_not_offered_the_prompt() {
    let lab = Lab::new();
    let names = |client: &str| -> Vec<String> {
        let mut host = lab.host_called(client);
        let listed = host.ask("prompts/list", json!({}));
        let all = listed["result"]["prompts"].as_array().unwrap().clone();
        all.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("gemini-cli-mcp-client").contains(&"debate".to_owned()));
    steps(&lab, &["init", "gemini", "claude"]);
    let offered = names("gemini-cli-mcp-client");
    assert_eq!(
        offered,
        ["dialectic", "tribunal"],
        "what is there as a command is no prompt besides"
    );
    assert!(names("claude-code").contains(&"debate".to_owned()));
}
