//! `debate doctor`: every problem is reported with a hint, and `--fix` repairs it.
use crate::lab::Lab;
use serde_json::Value;
use std::fs;

fn check<'a>(examined: &'a Value, name: &str) -> &'a Value {
    let all = examined["checks"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {examined:#}"))
}

fn examine(lab: &Lab, args: &[&str]) -> Value {
    lab.debate(&[&["doctor", "--json"], args].concat()).done().json()
}

fn gemini(lab: &Lab, entry: &str) {
    let folder = lab.outside("user/.gemini");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), format!("{{\"mcpServers\": {{\"debate\": {entry}}}}}"))
        .unwrap();
}

#[test]
fn a_client_that_is_not_set_up_is_named_with_the_command_that_does_it() {
    let lab = Lab::new();
    fs::create_dir(lab.outside("user/.gemini")).unwrap();
    let examined = examine(&lab, &[]);
    assert_eq!(examined["ok"], true, "{examined:#}");
    let found = check(&examined, "Gemini CLI");
    assert_eq!(found["hint"], "debate init gemini");
    assert!(check(&examined, "clients")["says"].as_str().unwrap().contains("Claude Code"));
    let mended = examine(&lab, &["--fix"]);
    let found = check(&mended, "Gemini CLI");
    assert!(found["says"].as_str().unwrap().starts_with("registered in"), "{found:#}");
    assert!(found["mended"].as_str().unwrap().contains("added server"), "{found:#}");
    let commands = check(&mended, "Gemini CLI commands")["says"].as_str().unwrap();
    assert_eq!(commands, "there: /debate, /debate-review, /debate-resume, /debate-research");
}

#[test]
fn whatever_would_keep_a_round_from_being_played_is_bad() {
    let program = env!("CARGO_BIN_EXE_debate");
    for (entry, says, fixed) in [
        (
            r#"{"command": "/gone/debate", "args": ["mcp"]}"#.to_owned(),
            "`/gone/debate` is not there",
            true,
        ),
        (
            format!(r#"{{"command": "{program}", "args": ["mcp"], "timeout": 5000}}"#),
            "cut after 5 s",
            true,
        ),
        (
            format!(r#"{{"command": "{program}", "args": ["mcp"], "disabled": true}}"#),
            "switched off",
            true,
        ),
        (r#"{"command": "npx", "args": ["x"]}"#.to_owned(), "is another server", false),
        ("3,,".to_owned(), "cannot be read: line 1", false),
    ] {
        let lab = Lab::new();
        gemini(&lab, &entry);
        let found = lab.debate(&["doctor"]).ends(1);
        found.says(&["BAD  Gemini CLI:", says, "hint: "]);
        let mended = lab.debate(&["doctor", "--fix"]).ends(i32::from(!fixed));
        if fixed {
            mended.says(&["Gemini CLI: registered", "mended: updated server"]);
        }
        let text = fs::read_to_string(lab.outside("user/.gemini/settings.json")).unwrap();
        assert_eq!(text.contains(&entry), !fixed, "{text}");
    }
    let lab = Lab::new();
    fs::create_dir(lab.outside("user/.claude")).unwrap();
    lab.debate(&["init", "claude"]).success();
    let done = lab.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", "30000").ends(1);
    done.says(&[
        "BAD  Claude Code:",
        "cut after 30 s by MCP_TOOL_TIMEOUT",
        "hint: unset MCP_TOOL_TIMEOUT",
    ]);
    lab.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", "600000").success();
    let settings = lab.outside("user/.claude/settings.json");
    fs::write(&settings, "{\"env\": {\"MCP_TOOL_TIMEOUT\": \"20000\"}}").unwrap();
    let done = lab.debate(&["doctor"]).ends(1);
    done.says(&["cut after 20 s by env.MCP_TOOL_TIMEOUT in `", "hint: take env.MCP_TOOL_TIMEOUT"]);
}

#[test]
fn what_could_be_better_is_a_hint_and_no_problem() {
    let lab = Lab::new();
    lab.debate(&["init", "codex"]).success();
    let done = lab.debate(&["doctor"]).env("OPENAI_API_KEY", "sk-some-key-of-mine").success();
    done.says(&[
        "--   Codex CLI: registered",
        "asks before every call",
        "does not hand on OPENAI_API_KEY",
        "hint: debate init codex --approve; debate init codex --env OPENAI_API_KEY",
    ]);
    assert!(!done.out.contains("sk-some-key"));
    lab.debate(&["init", "codex", "--approve", "--env", "OPENAI_API_KEY"]).success();
    let done = lab.debate(&["doctor"]).env("OPENAI_API_KEY", "sk-some-key-of-mine").success();
    done.says(&["ok   Codex CLI: registered"]);
    let old = lab.outside("user/.codex/skills/debate/SKILL.md");
    fs::remove_file(&old).unwrap();
    lab.debate(&["doctor"]).success().says(&[
        "--   Codex CLI commands:",
        "missing: $debate",
        "hint: debate init codex",
    ]);
    lab.debate(&["doctor", "--fix"]).success();
    assert!(old.exists());
}

#[cfg(unix)]
#[test]
fn what_others_can_read_is_closed() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    lab.run("One file?", &[]).success();
    fs::set_permissions(lab.home(), fs::Permissions::from_mode(0o755)).unwrap();
    lab.debate(&["doctor"]).ends(1).says(&["BAD  privacy:", "hint: chmod -R go= "]);
    lab.debate(&["doctor", "--fix"]).success().says(&["ok   privacy:", "mended:"]);
    assert_eq!(lab.home().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn models_and_configuration_are_looked_at() {
    let lab = Lab::new();
    let examined = examine(&lab, &[]);
    assert_eq!(check(&examined, "configuration")["ok"], true);
    assert!(
        check(&examined, "debate")["says"].as_str().unwrap().contains(env!("CARGO_PKG_VERSION"))
    );
    let folder = lab.outside("user/.config/debate/formats");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.toml"), "about = 3\n").unwrap();
    let done = lab.debate(&["doctor"]).ends(1);
    done.says(&["BAD  configuration: the format `mine` cannot be played", "hint: mend `"]);
}

#[test]
fn what_is_there_twice_and_works_in_neither_place_is_bad() {
    let lab = Lab::new();
    lab.debate(&["init", "codex", "--project"]).success();
    let (here, there) =
        (lab.root().join(".codex/skills"), lab.outside("user/.codex/skills/debate"));
    fs::create_dir_all(&there).unwrap();
    fs::copy(here.join("debate/SKILL.md"), there.join("SKILL.md")).unwrap();
    fs::write(lab.bin().join("debate"), "").unwrap();
    let done = lab.debate(&["doctor"]).ends(1);
    done.says(&[
        "BAD  Codex CLI commands:",
        "neither works: $debate",
        "hint: debate uninit codex --project",
    ]);
}

/// `claude mcp add` writes a registration for one repository into the user's config.
#[test]
fn what_was_registered_by_hand_is_found() {
    let lab = Lab::new();
    let (root, program) = (lab.root().display().to_string(), env!("CARGO_BIN_EXE_debate"));
    let own = serde_json::json!({"projects": {root: {"mcpServers": {"debate": {"type": "stdio",
        "command": program, "args": ["mcp"]}}}}});
    fs::create_dir(lab.outside("user/.claude")).unwrap();
    fs::write(lab.outside("user/.claude.json"), own.to_string()).unwrap();
    let found = check(&examine(&lab, &[]), "Claude Code")["says"].as_str().unwrap().to_owned();
    assert!(found.starts_with("registered in"), "{found}");
}
