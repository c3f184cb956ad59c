//! `debate doctor`: every problem is reported with a hint, and `--fix` repairs it.
use crate::test_env::TestEnv;
use serde_json::Value;
use std::fs;

fn find_check<'a>(examined: &'a Value, name: &str) -> &'a Value {
    let all = examined["checks"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {examined:#}"))
}

fn run_doctor(lab: &TestEnv, args: &[&str]) -> Value {
    lab.debate(&[&["doctor", "--json"], args].concat()).output().json()
}

fn write_gemini_config(lab: &TestEnv, entry: &str) {
    let folder = lab.temp_path("user/.gemini");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), format!("{{\"mcpServers\": {{\"debate\": {entry}}}}}"))
        .unwrap();
}

#[test]
fn unregistered_client_is_listed_with_its_init_command() {
    let lab = TestEnv::new();
    fs::create_dir(lab.temp_path("user/.gemini")).unwrap();
    let examined = run_doctor(&lab, &[]);
    assert_eq!(examined["ok"], true, "{examined:#}");
    let found = find_check(&examined, "Gemini CLI");
    assert_eq!(found["hint"], "debate init gemini");
    assert!(find_check(&examined, "clients")["says"].as_str().unwrap().contains("Claude Code"));
    let mended = run_doctor(&lab, &["--fix"]);
    let found = find_check(&mended, "Gemini CLI");
    assert!(found["says"].as_str().unwrap().starts_with("registered in"), "{found:#}");
    assert!(found["mended"].as_str().unwrap().contains("added server"), "{found:#}");
    let commands = find_check(&mended, "Gemini CLI commands")["says"].as_str().unwrap();
    assert_eq!(commands, "there: /debate, /debate-review, /debate-resume, /debate-research");
}

#[test]
fn config_that_would_break_a_round_is_an_error() {
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
        let lab = TestEnv::new();
        write_gemini_config(&lab, &entry);
        let found = lab.debate(&["doctor"]).expect_exit_code(1);
        found.assert_stdout_contains(&["BAD  Gemini CLI:", says, "hint: "]);
        let mended = lab.debate(&["doctor", "--fix"]).expect_exit_code(i32::from(!fixed));
        if fixed {
            mended.assert_stdout_contains(&["Gemini CLI: registered", "mended: updated server"]);
        }
        let text = fs::read_to_string(lab.temp_path("user/.gemini/settings.json")).unwrap();
        assert_eq!(text.contains(&entry), !fixed, "{text}");
    }
    let lab = TestEnv::new();
    fs::create_dir(lab.temp_path("user/.claude")).unwrap();
    lab.debate(&["init", "claude"]).expect_success();
    let done = lab.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", "30000").expect_exit_code(1);
    done.assert_stdout_contains(&[
        "BAD  Claude Code:",
        "cut after 30 s by MCP_TOOL_TIMEOUT",
        "hint: unset MCP_TOOL_TIMEOUT",
    ]);
    lab.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", "600000").expect_success();
    let settings = lab.temp_path("user/.claude/settings.json");
    fs::write(&settings, "{\"env\": {\"MCP_TOOL_TIMEOUT\": \"20000\"}}").unwrap();
    let done = lab.debate(&["doctor"]).expect_exit_code(1);
    done.assert_stdout_contains(&[
        "cut after 20 s by env.MCP_TOOL_TIMEOUT in `",
        "hint: take env.MCP_TOOL_TIMEOUT",
    ]);
}

#[test]
fn possible_improvements_are_hints_not_errors() {
    let lab = TestEnv::new();
    lab.debate(&["init", "codex"]).expect_success();
    let done =
        lab.debate(&["doctor"]).env("OPENAI_API_KEY", "sk-some-key-of-mine").expect_success();
    done.assert_stdout_contains(&[
        "--   Codex CLI: registered",
        "asks before every call",
        "does not hand on OPENAI_API_KEY",
        "hint: debate init codex --approve; debate init codex --env OPENAI_API_KEY",
    ]);
    assert!(!done.stdout.contains("sk-some-key"));
    lab.debate(&["init", "codex", "--approve", "--env", "OPENAI_API_KEY"]).expect_success();
    let done =
        lab.debate(&["doctor"]).env("OPENAI_API_KEY", "sk-some-key-of-mine").expect_success();
    done.assert_stdout_contains(&["ok   Codex CLI: registered"]);
    let old = lab.temp_path("user/.codex/skills/debate/SKILL.md");
    fs::remove_file(&old).unwrap();
    lab.debate(&["doctor"]).expect_success().assert_stdout_contains(&[
        "--   Codex CLI commands:",
        "missing: $debate",
        "hint: debate init codex",
    ]);
    lab.debate(&["doctor", "--fix"]).expect_success();
    assert!(old.exists());
}

#[cfg(unix)]
#[test]
fn fix_makes_a_world_readable_home_private() {
    use std::os::unix::fs::PermissionsExt;
    let lab = TestEnv::new();
    lab.debate_run("One file?", &[]).expect_success();
    fs::set_permissions(lab.data_dir(), fs::Permissions::from_mode(0o755)).unwrap();
    lab.debate(&["doctor"])
        .expect_exit_code(1)
        .assert_stdout_contains(&["BAD  privacy:", "hint: chmod -R go= "]);
    lab.debate(&["doctor", "--fix"])
        .expect_success()
        .assert_stdout_contains(&["ok   privacy:", "mended:"]);
    assert_eq!(lab.data_dir().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn configuration_and_format_files_are_checked() {
    let lab = TestEnv::new();
    let examined = run_doctor(&lab, &[]);
    assert_eq!(find_check(&examined, "configuration")["ok"], true);
    assert!(
        find_check(&examined, "debate")["says"]
            .as_str()
            .unwrap()
            .contains(env!("CARGO_PKG_VERSION"))
    );
    let folder = lab.temp_path("user/.config/debate/formats");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.toml"), "about = 3\n").unwrap();
    let done = lab.debate(&["doctor"]).expect_exit_code(1);
    done.assert_stdout_contains(&[
        "BAD  configuration: the format `mine` cannot be played",
        "hint: mend `",
    ]);
}

#[test]
fn conflicting_duplicate_commands_are_an_error() {
    let lab = TestEnv::new();
    lab.debate(&["init", "codex", "--project"]).expect_success();
    let (here, there) =
        (lab.repo_root().join(".codex/skills"), lab.temp_path("user/.codex/skills/debate"));
    fs::create_dir_all(&there).unwrap();
    fs::copy(here.join("debate/SKILL.md"), there.join("SKILL.md")).unwrap();
    fs::write(lab.bin_dir().join("debate"), "").unwrap();
    let done = lab.debate(&["doctor"]).expect_exit_code(1);
    done.assert_stdout_contains(&[
        "BAD  Codex CLI commands:",
        "neither works: $debate",
        "hint: debate uninit codex --project",
    ]);
}

/// `claude mcp add` writes a registration for one repository into the user's config.
#[test]
fn manual_registration_is_found() {
    let lab = TestEnv::new();
    let (root, program) = (lab.repo_root().display().to_string(), env!("CARGO_BIN_EXE_debate"));
    let own = serde_json::json!({"projects": {root: {"mcpServers": {"debate": {"type": "stdio",
        "command": program, "args": ["mcp"]}}}}});
    fs::create_dir(lab.temp_path("user/.claude")).unwrap();
    fs::write(lab.temp_path("user/.claude.json"), own.to_string()).unwrap();
    let found =
        find_check(&run_doctor(&lab, &[]), "Claude Code")["says"].as_str().unwrap().to_owned();
    assert!(found.starts_with("registered in"), "{found}");
}
