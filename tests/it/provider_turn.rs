//! Single turns of CLI providers, requested like the engine does: with and without web access, with
//! an oversized prompt, and with rate limits.
use crate::fake_clis::{CapturedOutput, FakeCliCall};
use crate::test_env::{TestEnv, speech_with_claim};
use debate_mcp::debate::{Cue, FailureKind, Participant, ReplyKind, Role, TurnFailure};
use debate_mcp::engine::{ProviderReply, Providers, ReplyStream, TurnRequest};
use debate_mcp::providers::{ProviderConfig, ProviderRegistry, SystemEnvironment};
use serde_json::json;
use std::fs;

/// Requests one turn from a fake CLI that is installed in the test environment.
async fn request_turn(
    env: &TestEnv,
    tool: &str,
    web_allowed: bool,
    prompt: &str,
    tools_config: &str,
) -> Result<ProviderReply, TurnFailure> {
    let environment = SystemEnvironment {
        variables: vec![("HOME".into(), env.temp_path("user").into())],
        search_path: vec![env.bin_dir()],
        home_dir: env.temp_path("user"),
        config_dir: env.temp_path("user/.config"),
    };
    let registry = ProviderRegistry::new(ProviderConfig {
        tools: toml::from_str(tools_config).unwrap(),
        environment,
        ..ProviderConfig::default()
    });
    let cue = Cue { act: 0, round: 1, phase: 0, seat: 0 };
    let request = TurnRequest {
        debate_id: "d".into(),
        cue,
        seat: "proposer".into(),
        role: Role::Pro,
        phase: "propose".into(),
        round: 1,
        reply_kind: ReplyKind::Speech,
        participant: tool.parse::<Participant>().unwrap(),
        effort: None,
        prompt: prompt.into(),
        timeout_secs: 60,
        schema: None,
        web_allowed,
        root: env.repo_root(),
        pin: None,
        attempt: 1,
    };
    registry.request_reply(&request, ReplyStream::discard(cue)).await
}

/// How the CLI was called, and the caveats about web access.
async fn call_with_web(tool: &str, web: bool) -> (FakeCliCall, Vec<String>) {
    let env = TestEnv::new();
    let fake_dir = env.temp_path(&format!("fake-{tool}"));
    env.install_fake_with_reply(tool, &speech_with_claim("Use one file.", "P1", &[]));
    // The temporary home exists only while the CLI runs, so the fake copies its settings.
    let script = format!(
        "/bin/cat '{0}/out'\n/bin/cat \"$GEMINI_CLI_HOME/.gemini/settings.json\" > '{0}/settings' 2>/dev/null\nexit 0",
        fake_dir.display()
    );
    env.install_fake_with_script(tool, &script);
    let reply = request_turn(&env, tool, web, "Well?", "").await.unwrap();
    let mut call = env.last_fake_call(tool);
    call.environment.push(fs::read_to_string(fake_dir.join("settings")).unwrap_or_default());
    let web = |caveat: &String| caveat.starts_with("web access");
    (call, reply.envelope.caveats.into_iter().filter(web).collect())
}

#[tokio::test]
async fn web_access_is_enabled_only_where_allowed() {
    for (tool, off, on) in [
        ("claude", "Read,Grep,Glob", "Read,Grep,Glob,WebSearch,WebFetch"),
        ("codex", "web_search=\"disabled\"", "web_search=\"live\""),
        (
            "copilot",
            "--available-tools=view,grep,glob",
            "--available-tools=view,grep,glob,web_fetch",
        ),
    ] {
        for (web, has, lacks) in [(false, off, on), (true, on, off)] {
            let (call, caveats) = call_with_web(tool, web).await;
            let has_flag = |flag: &str| call.arguments.iter().any(|argument| argument == flag);
            assert!(has_flag(has) && !has_flag(lacks), "{tool}: {:?}", call.arguments);
            assert_eq!(caveats, Vec::<String>::new(), "{tool}");
        }
    }
    for (tool, setting) in
        [("gemini", "\"google_web_search\""), ("opencode", "\"webfetch\":\"allow\"")]
    {
        for web in [false, true] {
            let (call, caveats) = call_with_web(tool, web).await;
            assert_eq!(call.environment.join("\n").contains(setting), web, "{tool}");
            assert_eq!(caveats, Vec::<String>::new(), "{tool}");
        }
    }
}

/// The caveat in the envelope says that web access is not enforced, or not available.
#[tokio::test]
async fn unenforced_web_access_is_a_caveat() {
    let parrot = "[parrot]\nprogram = \"parrot\"\nreads = \"text\"\n";
    for (config, web, expected) in [
        ("", false, Some("web access: not enforced")),
        ("", true, None),
        ("web = \"open\"", false, Some("web access: not enforced")),
        ("web = \"none\"", false, None),
        ("web = \"none\"", true, Some("web access: none")),
        ("web_off = [\"--offline\"]", false, None),
    ] {
        let env = TestEnv::new();
        env.install_fake_with_output(
            "parrot",
            &CapturedOutput { stdout: "Well.\n".into(), stderr: String::new(), exit_code: 0 },
        );
        let reply =
            request_turn(&env, "parrot", web, "Well?", &format!("{parrot}{config}")).await.unwrap();
        assert_eq!(reply.envelope.caveats.first().map(String::as_str), expected, "{config} {web}");
    }
}

#[tokio::test]
async fn oversized_prompt_is_not_sent() {
    let env = TestEnv::new();
    env.install_fake_with_reply("codex", "Well.");
    let failure = request_turn(&env, "codex", false, &"ß".repeat(1_048_577), "").await.unwrap_err();
    assert_eq!(failure.trouble, FailureKind::Other);
    assert!(failure.note.contains("1048577") && failure.note.contains("1048576"), "{failure:?}");
    assert!(!env.temp_path("fake-codex/prompt").exists());
    assert!(request_turn(&env, "codex", false, &"ß".repeat(1_048_576), "").await.is_ok());
}

/// The retry delay from the CLI's error output ends up in the failure, and no retry is made before.
#[tokio::test]
async fn retry_delay_of_a_rate_limit_is_kept() {
    let error_json = |text: &str| {
        json!({"type": "result", "is_error": true, "result": text,
        "api_error_status": 429})
    };
    let retry_notice = json!({"type": "system", "subtype": "api_retry", "attempt": 2,
        "retry_delay_ms": 30_500.7, "error_status": 429});
    for (output, retry, attempts) in [
        (error_json("Rate limit reached. Please try again in 40s.").to_string(), 40_000, 1),
        (error_json("Too many requests, retry after 1m30s").to_string(), 90_000, 1),
        (error_json("limit: Try again in 2 minutes").to_string(), 120_000, 1),
        (error_json("quota; retry in 50ms").to_string(), 50, 3),
        (format!("{retry_notice}\n{}", error_json("API Error: 429")), 30_500, 1),
    ] {
        let env = TestEnv::new();
        env.install_fake_with_output(
            "claude",
            &CapturedOutput { stdout: format!("{output}\n"), stderr: String::new(), exit_code: 1 },
        );
        let failure = request_turn(&env, "claude", false, "Well?", "").await.unwrap_err();
        assert_eq!(failure.trouble, FailureKind::RateLimited, "{output}");
        assert_eq!(failure.retry_ms, Some(retry), "{output}");
        assert_eq!(failure.envelope.attempts, Some(attempts), "{output}");
    }
}

/// A CLI that reads instructions from its home gets a temporary one with the login only.
#[tokio::test]
async fn temporary_home_has_the_login_and_no_instructions() {
    let env = TestEnv::new();
    let home = env.temp_path("user/.copilot");
    fs::create_dir_all(home.join("hooks")).unwrap();
    fs::write(home.join("config.json"), "{\"login\": 1}").unwrap();
    fs::write(home.join("settings.json"), "{\"model\": \"m\", // mine\n \"hooks\": {}}").unwrap();
    fs::write(home.join("mcp-config.json"), "{}").unwrap();
    env.install_fake_with_reply("copilot", "Well.");
    let fake_dir = env.temp_path("fake-copilot");
    env.install_fake_with_script(
        "copilot",
        &format!(
            "/bin/cat '{0}/out'\n/bin/ls \"$COPILOT_HOME\" > '{0}/home'\n\
             /bin/cat \"$COPILOT_HOME/settings.json\" \"$COPILOT_HOME/config.json\" >> '{0}/home'",
            fake_dir.display()
        ),
    );
    request_turn(&env, "copilot", false, "Well?", "").await.unwrap();
    let home_listing = fs::read_to_string(fake_dir.join("home")).unwrap();
    let (settings, login) =
        ("{\"disableAllHooks\":true,\"hooks\":{},\"model\":\"m\"}", "{\"login\": 1}");
    assert_eq!(home_listing, format!("config.json\nsettings.json\n{settings}{login}"));
    let environment = env.last_fake_call("copilot").environment;
    let temp_home = environment.iter().find_map(|line| line.strip_prefix("COPILOT_HOME=")).unwrap();
    assert!(!std::path::Path::new(temp_home).exists(), "the temporary home is deleted");
}
