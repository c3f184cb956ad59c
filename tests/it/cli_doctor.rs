//! `debate doctor`: every problem is reported with a hint, and `--fix` repairs it.
use crate::test_env::TestEnv;
use serde_json::Value;
use std::fs;

fn find_check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn run_doctor(env: &TestEnv, args: &[&str]) -> Value {
    env.debate(&[&["doctor", "--json"], args].concat()).output().json()
}

fn write_gemini_config(env: &TestEnv, entry: &str) {
    let folder = env.temp_path("user/.gemini");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), format!("{{\"mcpServers\": {{\"debate\": {entry}}}}}"))
        .unwrap();
}

#[test]
fn unregistered_client_is_listed_with_its_init_command() {
    let env = TestEnv::new();
    fs::create_dir(env.temp_path("user/.gemini")).unwrap();
    let report = run_doctor(&env, &[]);
    assert_eq!(report["ok"], true, "{report:#}");
    let check = find_check(&report, "Gemini CLI");
    assert_eq!(check["hint"], "debate init gemini");
    assert!(find_check(&report, "clients")["says"].as_str().unwrap().contains("Claude Code"));
    let fixed_report = run_doctor(&env, &["--fix"]);
    let check = find_check(&fixed_report, "Gemini CLI");
    assert!(check["says"].as_str().unwrap().starts_with("registered in"), "{check:#}");
    assert!(check["mended"].as_str().unwrap().contains("added server"), "{check:#}");
    let commands = find_check(&fixed_report, "Gemini CLI commands")["says"].as_str().unwrap();
    assert_eq!(commands, "installed: /debate, /debate-review, /debate-resume, /debate-research");
}

#[test]
fn config_that_would_break_a_round_is_an_error() {
    let program = env!("CARGO_BIN_EXE_debate");
    for (entry, message, is_fixable) in [
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
        let env = TestEnv::new();
        write_gemini_config(&env, &entry);
        let report = env.debate(&["doctor"]).expect_exit_code(1);
        report.assert_stdout_contains(&["BAD  Gemini CLI:", message, "hint: "]);
        let fix_output = env.debate(&["doctor", "--fix"]).expect_exit_code(i32::from(!is_fixable));
        if is_fixable {
            fix_output
                .assert_stdout_contains(&["Gemini CLI: registered", "mended: updated server"]);
        }
        let text = fs::read_to_string(env.temp_path("user/.gemini/settings.json")).unwrap();
        assert_eq!(text.contains(&entry), !is_fixable, "{text}");
    }
    let env = TestEnv::new();
    fs::create_dir(env.temp_path("user/.claude")).unwrap();
    env.debate(&["init", "claude"]).expect_success();
    let output = env.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", "30000").expect_exit_code(1);
    output.assert_stdout_contains(&[
        "BAD  Claude Code:",
        "cut after 30 s by MCP_TOOL_TIMEOUT",
        "hint: unset MCP_TOOL_TIMEOUT",
    ]);
    env.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", "600000").expect_success();
    let settings = env.temp_path("user/.claude/settings.json");
    fs::write(&settings, "{\"env\": {\"MCP_TOOL_TIMEOUT\": \"20000\"}}").unwrap();
    let output = env.debate(&["doctor"]).expect_exit_code(1);
    output.assert_stdout_contains(&[
        "cut after 20 s by env.MCP_TOOL_TIMEOUT in `",
        "hint: remove env.MCP_TOOL_TIMEOUT",
    ]);
}

/// In the entry of a server and in a setting for all servers.
#[test]
fn client_timeout_below_60_seconds_is_an_error() {
    let program = env!("CARGO_BIN_EXE_debate");
    for (milliseconds, is_cut) in [(59_999, true), (60_000, false)] {
        let env = TestEnv::new();
        let entry =
            format!(r#"{{"command": "{program}", "args": ["mcp"], "timeout": {milliseconds}}}"#);
        write_gemini_config(&env, &entry);
        let report = env.debate(&["doctor"]).output();
        assert_eq!(report.stdout.contains("cut after 59 s by `"), is_cut, "{report:#?}");
        let env = TestEnv::new();
        fs::create_dir(env.temp_path("user/.claude")).unwrap();
        env.debate(&["init", "claude"]).expect_success();
        let doctor = env.debate(&["doctor"]).env("MCP_TOOL_TIMEOUT", &milliseconds.to_string());
        let report = doctor.expect_exit_code(i32::from(is_cut));
        let expected = "cut after 59 s by MCP_TOOL_TIMEOUT";
        assert_eq!(report.stdout.contains(expected), is_cut, "{report:#?}");
    }
}

#[test]
fn possible_improvements_are_hints_not_errors() {
    let env = TestEnv::new();
    env.debate(&["init", "codex"]).expect_success();
    let output =
        env.debate(&["doctor"]).env("OPENAI_API_KEY", "sk-some-key-of-mine").expect_success();
    output.assert_stdout_contains(&[
        "--   Codex CLI: registered",
        "asks before every call",
        "does not hand on OPENAI_API_KEY",
        "hint: debate init codex --approve; debate init codex --env OPENAI_API_KEY",
    ]);
    assert!(!output.stdout.contains("sk-some-key"));
    env.debate(&["init", "codex", "--approve", "--env", "OPENAI_API_KEY"]).expect_success();
    let output =
        env.debate(&["doctor"]).env("OPENAI_API_KEY", "sk-some-key-of-mine").expect_success();
    output.assert_stdout_contains(&["ok   Codex CLI: registered"]);
    let skill_path = env.temp_path("user/.codex/skills/debate/SKILL.md");
    fs::remove_file(&skill_path).unwrap();
    env.debate(&["doctor"]).expect_success().assert_stdout_contains(&[
        "--   Codex CLI commands:",
        "missing: $debate",
        "hint: debate init codex",
    ]);
    env.debate(&["doctor", "--fix"]).expect_success();
    assert!(skill_path.exists());
}

#[cfg(unix)]
#[test]
fn fix_makes_a_world_readable_home_private() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    env.debate_run("One file?", &[]).expect_success();
    fs::set_permissions(env.data_dir(), fs::Permissions::from_mode(0o755)).unwrap();
    env.debate(&["doctor"])
        .expect_exit_code(1)
        .assert_stdout_contains(&["BAD  privacy:", "hint: chmod -R go= "]);
    env.debate(&["doctor", "--fix"])
        .expect_success()
        .assert_stdout_contains(&["ok   privacy:", "mended:"]);
    assert_eq!(env.data_dir().metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn configuration_and_format_files_are_checked() {
    let env = TestEnv::new();
    let report = run_doctor(&env, &[]);
    assert_eq!(find_check(&report, "configuration")["ok"], true);
    assert!(
        find_check(&report, "debate")["says"].as_str().unwrap().contains(env!("CARGO_PKG_VERSION"))
    );
    let folder = env.temp_path("user/.config/debate/formats");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.toml"), "about = 3\n").unwrap();
    let output = env.debate(&["doctor"]).expect_exit_code(1);
    output.assert_stdout_contains(&[
        "BAD  configuration: the format `mine` cannot be played",
        "hint: fix `",
    ]);
}

#[test]
fn conflicting_duplicate_commands_are_an_error() {
    let env = TestEnv::new();
    env.debate(&["init", "codex", "--project"]).expect_success();
    let (project_skills, user_skill) =
        (env.repo_root().join(".codex/skills"), env.temp_path("user/.codex/skills/debate"));
    fs::create_dir_all(&user_skill).unwrap();
    fs::copy(project_skills.join("debate/SKILL.md"), user_skill.join("SKILL.md")).unwrap();
    fs::write(env.bin_dir().join("debate"), "").unwrap();
    let output = env.debate(&["doctor"]).expect_exit_code(1);
    output.assert_stdout_contains(&[
        "BAD  Codex CLI commands:",
        "neither works: $debate",
        "hint: debate uninit codex --project",
    ]);
}

/// `claude mcp add` writes a registration for one repository into the user's config.
#[test]
fn manual_registration_is_found() {
    let env = TestEnv::new();
    let (root, program) = (env.repo_root().display().to_string(), env!("CARGO_BIN_EXE_debate"));
    let user_config = serde_json::json!({"projects": {root: {"mcpServers": {"debate": {"type": "stdio",
        "command": program, "args": ["mcp"]}}}}});
    fs::create_dir(env.temp_path("user/.claude")).unwrap();
    fs::write(env.temp_path("user/.claude.json"), user_config.to_string()).unwrap();
    let message =
        find_check(&run_doctor(&env, &[]), "Claude Code")["says"].as_str().unwrap().to_owned();
    assert!(message.starts_with("registered in"), "{message}");
}
