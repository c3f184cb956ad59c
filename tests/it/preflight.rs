//! Preflight before a debate starts: probing of models, config errors, cost limits, and estimates.
use crate::fake_clis::CapturedOutput;
use crate::fake_providers::{NoEvidence, TokioClock};
use crate::memory_archive::MemoryArchive;
use crate::test_env::{TestEnv, speech_with_claim};
use debate_mcp::app::{App, AppParts, StartDefaults, StartPolicy, StartProgress, StartRequest};
use debate_mcp::brief::RepositorySource;
use debate_mcp::debate::{Envelope, FailureKind, Participant, TurnFailure};
use debate_mcp::engine::{
    BoxFuture, Clock, ProviderInfo, ProviderReply, ProviderUnavailable, Providers, ReplyStream,
    TurnRequest, Workspace,
};
use debate_mcp::formats_catalog;
use debate_mcp::options::DebateOptions;
use debate_mcp::redact::Secrets;
use debate_mcp::repo::TreeStore;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Installs a fake CLI that counts its calls.
fn install_counting_cli(env: &TestEnv, tool: &str) {
    env.install_fake_with_reply(tool, &speech_with_claim("Use one file.", "P1", &[]));
    let fake_dir = env.temp_path(&format!("fake-{tool}"));
    env.install_fake_with_script(
        tool,
        &format!("echo x >> '{0}/count'\n/bin/cat '{0}/out'", fake_dir.display()),
    );
}

fn call_count(env: &TestEnv, tool: &str) -> usize {
    let count_file = env.temp_path(&format!("fake-{tool}")).join("count");
    fs::read_to_string(count_file).unwrap_or_default().lines().count()
}

/// Installs a fake CLI that responds with "model not found".
fn install_failing_cli(env: &TestEnv, tool: &str) {
    let error = json!({"type": "result", "is_error": true, "result": "model not found: big",
        "api_error_status": 404});
    env.install_fake_with_output(
        tool,
        &CapturedOutput { stdout: format!("{error}\n"), stderr: String::new(), exit_code: 1 },
    );
}

fn write_config(env: &TestEnv, text: &str) {
    let folder = env.temp_path("user/.config/debate");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn named_model_that_fails_the_probe_stops_the_start() {
    let env = TestEnv::new();
    install_failing_cli(&env, "claude");
    env.install_fake_with_reply("codex", &speech_with_claim("One file locks.", "C1", &["P1"]));
    let seats = ["--proposer", "claude:big", "--challenger", &env.script_seat("contra.json")];
    let output = env.debate(&[&["run", "Well?"][..], &seats].concat()).expect_error(4);
    for part in ["`claude:big` does not answer (unknown model)", "claude, codex"] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    let listed = env.debate(&["list", "--all", "--json"]).expect_success().json();
    assert_eq!(listed["debates"], json!([]), "no debate was opened");
    let mut host = env.mcp_client();
    let arguments = json!({"topic": "Well?", "proposer": "claude:big", "challenger": "host"});
    let error = host.expect_tool_error("start_debate", arguments);
    assert!(error.contains("does not answer") && error.contains("list_models"), "{error}");
}

#[test]
fn chosen_model_that_fails_the_probe_is_replaced() {
    let env = TestEnv::new();
    install_failing_cli(&env, "claude");
    env.install_fake_with_reply("codex", &speech_with_claim("Use one file.", "P1", &[]));
    env.install_fake_with_reply("gemini", &speech_with_claim("One file locks.", "C1", &["P1"]));
    let judge = env.script_seat("pro.json");
    let args = ["run", "Well?", "--rounds", "1", "--judge", &judge, "--json"];
    let output = env.debate(&args).expect_success();
    assert!(output.stderr.contains("[WARN] `claude` does not answer"), "{}", output.stderr);
    assert!(output.stderr.contains("[INFO] Chosen: proposer codex"), "{}", output.stderr);
    let result = output.json();
    let tools: Vec<_> = result["turns"].as_array().unwrap().iter().map(|it| &it["tool"]).collect();
    assert_eq!(tools[..2], ["codex", "gemini"]);
    assert_eq!(result["chosen"].as_array().unwrap().len(), 2, "{result:#}");
}

/// Expired logins must not look as if no tool were installed.
#[test]
fn all_probe_errors_are_reported() {
    let env = TestEnv::new();
    install_failing_cli(&env, "claude");
    install_failing_cli(&env, "codex");
    let output = env.debate(&["run", "Well?"]).expect_error(4);
    for part in
        ["no participant is available", "`claude` does not answer", "`codex` does not answer"]
    {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
}

#[test]
fn config_error_stops_every_command() {
    let env = TestEnv::new();
    install_counting_cli(&env, "claude");
    for (text, expected) in [
        ("[tools.claude]\nfoo = 1", "`tools.claude`: unknown field `foo`"),
        ("[apis.claude]\nurl = \"http://127.0.0.1\"\nwire = \"chat\"", "`claude` is in `tools`"),
        ("[prices.models.big]\ninput = -3.0\noutput = 1.0", "prices.models.big.input"),
        ("[prices.models.big]\ninput = 3.0\noutput = nan", "prices.models.big.output"),
        ("[limits]\n\nmax_cost = \"much\"", "line 3"),
        ("[limits]\nturn_seconds = 0", "turn_seconds"),
        ("[colours]\nred = 1", "known tables are"),
        ("[apis.one]\nurl = \"http://me:secret@127.0.0.1/v1\"\nwire = \"chat\"", "password"),
    ] {
        write_config(&env, text);
        for args in
            [&["models"][..], &["run", "Well?", "--proposer", "one", "--challenger", "human"]]
        {
            if args[0] == "models" && expected == "password" {
                continue;
            }
            let output = env.debate(args).stdin("").output();
            assert!(
                output.stderr.contains(expected) && output.exit_code != Some(0),
                "{text}: {output:#?}"
            );
        }
    }
    assert_eq!(call_count(&env, "claude"), 0);
    fs::remove_file(env.temp_path("user/.config/debate/config.toml")).unwrap();
    fs::create_dir(env.temp_path("user/.config/debate/config.toml")).unwrap();
    let output = env.debate(&["models"]).output();
    assert!(output.stderr.contains("config.toml") && output.exit_code != Some(0), "{output:#?}");
}

/// A flag overrides a default, and a default that the format does not take is ignored.
#[test]
fn config_defaults_are_used_where_no_flag_is_given() {
    let env = TestEnv::new();
    write_config(&env, "[defaults]\nrounds = 1\nturn_seconds = 99\ngoal = \"speed\"\n");
    let output = env.debate_run("One file?", &["--json"]).expect_success();
    output.assert_stderr_contains("timeout 99s");
    assert_eq!(output.json()["rounds_completed"], 1);
    let view = env.debate_run("Two files?", &["--rounds", "2", "--json"]).expect_success().json();
    assert_eq!(view["rounds_completed"], 2);
    write_config(&env, "[defaults]\nround = 1\n");
    let output = env.debate_run("Three?", &[]).output();
    assert!(output.stderr.contains("unknown field `round`"), "{}", output.stderr);
}

/// Without prices the cost limit cannot be enforced, which is reported.
#[test]
fn cost_limit_without_prices_warns() {
    let env = TestEnv::new();
    env.install_fake_with_reply("codex", &speech_with_claim("Use one file.", "P1", &[]));
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["--proposer", "codex", "--challenger", &con, "--judge", &judge, "--no-probe"];
    let args = [&["run", "Well?", "--rounds", "1", "--max-cost", "1"][..], &seats].concat();
    let output = env.debate(&args).expect_success();
    assert!(output.stderr.contains("[WARN] the limit of cost cannot be kept"), "{}", output.stderr);
}

/// The probe timeout applies to all candidates together, and a slow one is probed only once.
#[tokio::test(start_paused = true)]
async fn probe_timeout_covers_all_candidates_together() {
    let folder = tempfile::tempdir().unwrap();
    let (app, providers) = app_with_slow_providers(folder.path());
    let started_at = Instant::now();
    let options = DebateOptions { context: Some("none".into()), ..DebateOptions::default() };
    let policy = StartPolicy::host(Duration::from_secs(20));
    let request = StartRequest::new("Well?", options, policy, folder.path().into());
    let workspace = Workspace { root: folder.path().into(), state_file: None, write_record: false };
    let started = app.start(request, &workspace, &StartProgress::discard()).await.unwrap();
    let (run, report) = (started.run, started.report);
    let seats = app.read(run.id()).await.unwrap().0.setup.seats;
    run.stop().await;
    let warnings = report.warnings;
    assert!(started_at.elapsed() <= Duration::from_secs(20), "{:?}", started_at.elapsed());
    assert_eq!(seats[0].voice.to_string(), "slow");
    assert_eq!(
        providers.asked_participants.lock().unwrap().iter().filter(|it| *it == "slow").count(),
        1
    );
    assert_eq!(warnings.iter().filter(|it| it.contains("`slow` has not answered")).count(), 1);
}

/// An app in this folder, with its providers.
fn app_with_slow_providers(folder: &Path) -> (App, Arc<SlowAndFailingProviders>) {
    let providers = Arc::new(SlowAndFailingProviders { asked_participants: Mutex::default() });
    let clock: Arc<dyn Clock> = TokioClock::new();
    let briefs =
        RepositorySource { current_folder: folder.into(), tree_store: TreeStore::new(folder) };
    let app = App::new(AppParts {
        archive: MemoryArchive::new(clock.clone()).into_ports(),
        providers: providers.clone(),
        briefs: Arc::new(briefs),
        evidence: Arc::new(NoEvidence),
        secrets: Secrets::new(Vec::new, []),
        clock,
        catalog: formats_catalog::load(folder, folder),
        defaults: StartDefaults::default(),
    });
    (app, providers)
}

#[tokio::test(start_paused = true)]
async fn probe_times_out_after_30_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let (app, _) = app_with_slow_providers(folder.path());
    let started = Instant::now();
    let results = app.probe(vec!["slow".parse().unwrap()], Duration::from_secs(1_000)).await;
    assert_eq!(started.elapsed().as_secs(), 30);
    let failure = results[0].result.as_ref().unwrap_err();
    assert_eq!(failure.trouble, FailureKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn no_probe_is_sent_with_less_than_a_second_left() {
    let folder = tempfile::tempdir().unwrap();
    let (app, _) = app_with_slow_providers(folder.path());
    for (milliseconds, expected_results) in [(999, 0), (1_000, 1)] {
        let timeout = Duration::from_millis(milliseconds);
        let results = app.probe(vec!["good".parse().unwrap()], timeout).await;
        assert_eq!(results.len(), expected_results);
    }
}

#[tokio::test(start_paused = true)]
async fn successful_probe_is_cached_for_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let (app, providers) = app_with_slow_providers(folder.path());
    for (milliseconds, expected_requests) in [(0, 1), (3_599_999, 1), (1, 2)] {
        tokio::time::advance(Duration::from_millis(milliseconds)).await;
        app.probe(vec!["good".parse().unwrap()], Duration::from_secs(5)).await;
        assert_eq!(providers.asked_participants.lock().unwrap().len(), expected_requests);
    }
}

/// Providers of which `slow` never responds in time, `good` responds and the others fail.
struct SlowAndFailingProviders {
    asked_participants: Mutex<Vec<String>>,
}

impl Providers for SlowAndFailingProviders {
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        _: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            self.asked_participants.lock().unwrap().push(request.participant.to_string());
            match request.participant.tool() {
                "slow" => tokio::time::sleep(Duration::from_secs(1000)).await,
                "good" => {
                    return Ok(ProviderReply { text: "OK".into(), envelope: Envelope::default() });
                }
                _ => {}
            }
            Err(TurnFailure::new(FailureKind::NotLoggedIn, "no"))
        })
    }
    fn check_available(&self, _: &Participant) -> Result<(), ProviderUnavailable> {
        Ok(())
    }
    fn side_conflict(&self, _: &Participant, _: &Participant) -> Option<String> {
        None
    }
    fn is_model(&self, participant: &Participant) -> bool {
        !participant.is_awaited()
    }
    fn list_providers(&self) -> Vec<ProviderInfo> {
        let names = ["slow", "bad1", "bad2", "bad3", "bad4"].into_iter();
        names
            .map(|seat| ProviderInfo {
                seat: seat.into(),
                model: true,
                playable: true,
                ..ProviderInfo::default()
            })
            .collect()
    }
}

#[test]
fn unknown_default_model_is_dropped() {
    let env = TestEnv::new();
    write_config(&env, "[tools.claude]\nusual = { high = \"big\", usual = \"small\" }\n");
    env.install_fake_with_reply("claude", &speech_with_claim("Use one file.", "P1", &[]));
    let fake_dir = env.temp_path("fake-claude");
    let error = json!({"type": "result", "is_error": true, "result": "no such model",
        "api_error_status": 404});
    env.install_fake_with_script(
        "claude",
        &format!(
            "case \"$*\" in *big*) echo '{error}'; exit 1;; esac\n/bin/cat '{}/out'",
            fake_dir.display()
        ),
    );
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge];
    let run = |more: &[&str]| {
        env.debate(&[&["run", "Well?", "--rounds", "1", "--json"][..], &seats, more].concat())
            .expect_success()
    };
    let output = run(&["--effort", "high"]);
    assert!(output.stderr.contains("it is asked without naming a model"), "{}", output.stderr);
    assert_eq!(output.json()["seats"][0]["model"], serde_json::Value::Null);
    assert_eq!(run(&[]).json()["seats"][0]["model"], "small");
}

#[test]
fn probe_results_are_cached() {
    let env = TestEnv::new();
    install_counting_cli(&env, "claude");
    install_counting_cli(&env, "codex");
    let mut host = env.mcp_client();
    let arguments = json!({"topic": "Well?", "proposer": "claude", "challenger": "codex",
        "judge": "host", "rounds": 1});
    host.call_tool("start_debate", arguments.clone());
    assert_eq!(
        (call_count(&env, "claude"), call_count(&env, "codex")),
        (2, 2),
        "a probe and a turn each"
    );
    let mut second_request = arguments;
    second_request["topic"] = "Well now?".into();
    host.call_tool("start_debate", second_request);
    assert_eq!((call_count(&env, "claude"), call_count(&env, "codex")), (3, 3), "a turn each");
}

#[test]
fn probe_can_be_disabled() {
    let env = TestEnv::new();
    install_counting_cli(&env, "claude");
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge];
    let args = [&["run", "Well?", "--rounds", "1"][..], &seats].concat();
    env.debate(&[&args[..], &["--no-probe"]].concat()).expect_success();
    assert_eq!(call_count(&env, "claude"), 1);
    write_config(&env, "[seats]\nprobe = false\n");
    env.debate(&args).expect_success();
    assert_eq!(call_count(&env, "claude"), 2);
    // An invalid request is refused before any model is probed.
    write_config(&env, "");
    env.debate(&[&args[..], &["--rounds", "9"]].concat()).output();
    assert_eq!(call_count(&env, "claude"), 2);
}

#[test]
fn limits_prices_and_pairings_come_from_config() {
    let env = TestEnv::new();
    for tool in ["claude", "codex", "gemini"] {
        env.install_fake_with_reply(tool, &speech_with_claim("Use one file.", "P1", &[]));
    }
    write_config(
        &env,
        "[seats]\npairings = [[\"gemini\", \"codex\"]]\njudges = [\"claude\"]\nprobe = false\n\
         [limits]\nmax_cost = 0.001\nturn_seconds = 77\n\
         [prices]\nas_of = \"2026-11-01\"\n[prices.models]\n\
         gemini-big = { input = 10.0, output = 50.0 }\n",
    );
    let output = env.debate(&["run", "Well?", "--rounds", "1", "--json"]).expect_exit_code(2);
    assert!(
        output.stderr.contains("proposer gemini (as your configuration pairs them)"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("timeout 77s"), "{}", output.stderr);
    assert!(output.stderr.contains("[INFO] Estimate: about 4 calls"), "{}", output.stderr);
    assert!(output.stderr.contains("The budget is spent"), "{}", output.stderr);
    // 100 input tokens at $10 and 20 output tokens at $50 per million, in millionths of a dollar.
    assert_eq!(output.json()["turns"][0]["envelope"]["cost"], 2_000);
}

#[test]
fn models_json_lists_version_login_and_probe() {
    let env = TestEnv::new();
    install_failing_cli(&env, "claude");
    env.install_fake_with_reply("codex", "OK");
    write_config(
        &env,
        "[tools.codex]\nusual = { high = \"big\" }\n[prices.models]\nbig = { input = 1, output = 2 }\n",
    );
    let listed =
        env.debate(&["models", "--probe", "--json"]).env("OPENAI_API_KEY", "k").expect_success();
    let listed = listed.json();
    let find_model = |seat: &str| {
        let models = listed["models"].as_array().unwrap();
        models.iter().find(|it| it["seat"] == seat).unwrap().clone()
    };
    let codex = find_model("codex");
    assert_eq!(codex["version"], "1.2.3");
    assert_eq!(codex["login"], "OPENAI_API_KEY is set");
    assert_eq!(codex["probe"], "answers");
    assert_eq!(codex["family"], "gpt");
    assert_eq!(codex["models"], json!(["high: big"]));
    assert_eq!(codex["efforts"], json!(["low", "medium", "high", "max"]));
    assert!(codex["reached"].as_str().unwrap().ends_with("bin/codex"));
    assert!(find_model("claude")["probe"].as_str().unwrap().starts_with("unknown model"));
    assert_eq!(find_model("gemini")["playable"], false);
    let text = env.debate(&["models"]).expect_success().stdout;
    assert!(text.contains("version 1.2.3; no login found"), "{text}");
}
