//! Preflight before a debate starts: probing of models, config errors, cost limits, and estimates.
use crate::fakes::Capture;
use crate::lab::{Lab, speech};
use crate::voices::{Hands, NothingToLookUp};
use debate_mcp::brief::RepositorySource;
use debate_mcp::debate::{FailureKind, Participant, TurnFailure};
use debate_mcp::engine::format_options::CastRequest;
use debate_mcp::engine::pairing::{FallbackJudge, FallbackSeats, RequestedSeats, SeatPreferences};
use debate_mcp::engine::preflight::SeatingRequest;
use debate_mcp::engine::{
    App, AppParts, BoxFuture, Clock, DebateDraft, ProviderInfo, ProviderReply, ProviderUnavailable,
    Providers, ReplyStream, TurnRequest,
};
use debate_mcp::formats_catalog;
use debate_mcp::redact::Secrets;
use debate_mcp::repo::TreeStore;
use debate_mcp::store::SqliteArchive;
use serde_json::json;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Installs a fake CLI that counts its calls.
fn counted(lab: &Lab, tool: &str) {
    lab.speaks(tool, &speech("Use one file.", "P1", &[]));
    let own = lab.outside(&format!("fake-{tool}"));
    lab.program(tool, &format!("echo x >> '{0}/count'\n/bin/cat '{0}/out'", own.display()));
}

fn count(lab: &Lab, tool: &str) -> usize {
    let own = lab.outside(&format!("fake-{tool}")).join("count");
    fs::read_to_string(own).unwrap_or_default().lines().count()
}

/// Installs a fake CLI that responds with "model not found".
fn refuses(lab: &Lab, tool: &str) {
    let error = json!({"type": "result", "is_error": true, "result": "model not found: big",
        "api_error_status": 404});
    lab.fake(tool, &Capture { out: format!("{error}\n"), err: String::new(), code: 1 });
}

fn configure(lab: &Lab, text: &str) {
    let folder = lab.outside("user/.config/debate");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn a_model_that_was_named_and_does_not_answer_stops_the_start() {
    let lab = Lab::new();
    refuses(&lab, "claude");
    lab.speaks("codex", &speech("One file locks.", "C1", &["P1"]));
    let seats = ["--proposer", "claude:big", "--challenger", &lab.seat("contra.json")];
    let done = lab.debate(&[&["run", "Well?"][..], &seats].concat()).fails_with(4);
    for part in ["`claude:big` does not answer (unknown model)", "claude, codex"] {
        assert!(done.err.contains(part), "{}", done.err);
    }
    let listed = lab.debate(&["list", "--all", "--json"]).success().json();
    assert_eq!(listed["debates"], json!([]), "nothing was opened");
    let mut host = lab.host();
    let arguments = json!({"topic": "Well?", "proposer": "claude:big", "challenger": "host"});
    let said = host.fails("start_debate", arguments);
    assert!(said.contains("does not answer") && said.contains("list_models"), "{said}");
}

#[test]
fn whoever_was_chosen_and_does_not_answer_is_replaced() {
    let lab = Lab::new();
    refuses(&lab, "claude");
    lab.speaks("codex", &speech("Use one file.", "P1", &[]));
    lab.speaks("gemini", &speech("One file locks.", "C1", &["P1"]));
    let judge = lab.seat("pro.json");
    let args = ["run", "Well?", "--rounds", "1", "--judge", &judge, "--json"];
    let done = lab.debate(&args).success();
    assert!(done.err.contains("[WARN] `claude` does not answer"), "{}", done.err);
    assert!(done.err.contains("[INFO] Chosen: proposer codex"), "{}", done.err);
    let result = done.json();
    let tools: Vec<_> = result["turns"].as_array().unwrap().iter().map(|it| &it["tool"]).collect();
    assert_eq!(tools[..2], ["codex", "gemini"]);
    assert_eq!(result["chosen"].as_array().unwrap().len(), 2, "{result:#}");
}

/// Expired logins must not look as if no tool were installed.
#[test]
fn where_nobody_answers_everybody_s_reason_is_given() {
    let lab = Lab::new();
    refuses(&lab, "claude");
    refuses(&lab, "codex");
    let done = lab.debate(&["run", "Well?"]).fails_with(4);
    for part in ["nobody plays", "`claude` does not answer", "`codex` does not answer"] {
        assert!(done.err.contains(part), "{}", done.err);
    }
}

#[test]
fn a_mistake_in_the_configuration_stops_everything() {
    let lab = Lab::new();
    counted(&lab, "claude");
    for (text, says) in [
        ("[tools.claude]\nfoo = 1", "`tools.claude`: unknown field `foo`"),
        ("[apis.claude]\nurl = \"http://127.0.0.1\"\nwire = \"chat\"", "`claude` is in `tools`"),
        ("[prices.models.big]\ninput = -3.0\noutput = 1.0", "prices.models.big.input"),
        ("[prices.models.big]\ninput = 3.0\noutput = nan", "prices.models.big.output"),
        ("[limits]\n\nmax_cost = \"much\"", "line 3"),
        ("[limits]\nturn_seconds = 0", "turn_seconds"),
        ("[colours]\nred = 1", "known are the tables"),
        ("[apis.one]\nurl = \"http://me:secret@127.0.0.1/v1\"\nwire = \"chat\"", "password"),
    ] {
        configure(&lab, text);
        for args in
            [&["models"][..], &["run", "Well?", "--proposer", "one", "--challenger", "human"]]
        {
            if args[0] == "models" && says == "password" {
                continue;
            }
            let done = lab.debate(args).stdin("").done();
            assert!(done.err.contains(says) && done.code != Some(0), "{text}: {done:#?}");
        }
    }
    assert_eq!(count(&lab, "claude"), 0);
    fs::remove_file(lab.outside("user/.config/debate/config.toml")).unwrap();
    fs::create_dir(lab.outside("user/.config/debate/config.toml")).unwrap();
    let done = lab.debate(&["models"]).done();
    assert!(done.err.contains("config.toml") && done.code != Some(0), "{done:#?}");
}

/// Without prices the cost limit cannot be enforced, which is reported.
#[test]
fn a_limit_of_cost_needs_prices() {
    let lab = Lab::new();
    lab.speaks("codex", &speech("Use one file.", "P1", &[]));
    let (con, judge) = (lab.seat("contra.json"), lab.seat("pro.json"));
    let seats = ["--proposer", "codex", "--challenger", &con, "--judge", &judge, "--no-probe"];
    let args = [&["run", "Well?", "--rounds", "1", "--max-cost", "1"][..], &seats].concat();
    let done = lab.debate(&args).success();
    assert!(done.err.contains("[WARN] the limit of cost cannot be kept"), "{}", done.err);
}

/// The probe timeout applies to all candidates together, and a slow one is probed only once.
#[tokio::test(start_paused = true)]
async fn asking_takes_its_time_once() {
    let folder = tempfile::tempdir().unwrap();
    let voices = Arc::new(Unwilling { asked: Mutex::default() });
    let clock: Arc<dyn Clock> = Hands::new();
    let archive = Arc::new(SqliteArchive::new(folder.path(), clock.clone()));
    let briefs = RepositorySource {
        current_folder: folder.path().into(),
        tree_store: TreeStore::new(folder.path()),
    };
    let words = formats_catalog::load(folder.path(), folder.path());
    let desk = App::new(AppParts {
        archive,
        providers: voices.clone(),
        briefs: Arc::new(briefs),
        evidence: Arc::new(NothingToLookUp),
        secrets: Secrets::new(Vec::new, []),
        clock,
        catalog: words,
    });
    let (host, began) = ("host".parse::<Participant>().unwrap(), Instant::now());
    let wish = SeatingRequest {
        requested: RequestedSeats::default(),
        preferences: SeatPreferences::default(),
        fallbacks: FallbackSeats {
            debater: Some(host.clone()),
            judge: FallbackJudge::Other(host.clone()),
        },
        cast: CastRequest::default(),
        context: "none".into(),
        change: None,
        effort: None,
        probe_timeout: Some(Duration::from_secs(20)),
    };
    let draft = DebateDraft::new("Well?", host.clone(), host.clone(), host);
    let (opening, warnings) = desk.prepare(draft, &wish, folder.path()).await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(opening.proposer.to_string(), "slow");
    assert_eq!(voices.asked.lock().unwrap().iter().filter(|it| *it == "slow").count(), 1);
    assert_eq!(warnings.iter().filter(|it| it.contains("`slow` has not answered")).count(), 1);
}

/// Providers of which one never responds in time and the others fail.
struct Unwilling {
    asked: Mutex<Vec<String>>,
}

impl Providers for Unwilling {
    fn request_reply<'a>(
        &'a self,
        ask: &'a TurnRequest,
        _: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(ask.participant.to_string());
            if ask.participant.tool() == "slow" {
                tokio::time::sleep(Duration::from_secs(1000)).await;
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
    fn is_model(&self, voice: &Participant) -> bool {
        !voice.is_awaited()
    }
    fn list_providers(&self) -> Vec<ProviderInfo> {
        let all = ["slow", "bad1", "bad2", "bad3", "bad4"].into_iter();
        all.map(|seat| ProviderInfo {
            seat: seat.into(),
            model: true,
            playable: true,
            ..ProviderInfo::default()
        })
        .collect()
    }
}

#[test]
fn a_model_nobody_named_is_left_out_if_there_is_none_such() {
    let lab = Lab::new();
    configure(&lab, "[tools.claude]\nusual = { high = \"big\", usual = \"small\" }\n");
    lab.speaks("claude", &speech("Use one file.", "P1", &[]));
    let own = lab.outside("fake-claude");
    let error = json!({"type": "result", "is_error": true, "result": "no such model",
        "api_error_status": 404});
    lab.program(
        "claude",
        &format!(
            "case \"$*\" in *big*) echo '{error}'; exit 1;; esac\n/bin/cat '{}/out'",
            own.display()
        ),
    );
    let (con, judge) = (lab.seat("contra.json"), lab.seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge];
    let run = |more: &[&str]| {
        lab.debate(&[&["run", "Well?", "--rounds", "1", "--json"][..], &seats, more].concat())
            .success()
    };
    let done = run(&["--effort", "high"]);
    assert!(done.err.contains("it is asked without naming a model"), "{}", done.err);
    assert_eq!(done.json()["seats"][0]["model"], serde_json::Value::Null);
    assert_eq!(run(&[]).json()["seats"][0]["model"], "small");
}

#[test]
fn each_model_is_asked_once_and_remembered() {
    let lab = Lab::new();
    counted(&lab, "claude");
    counted(&lab, "codex");
    let mut host = lab.host();
    let arguments = json!({"topic": "Well?", "proposer": "claude", "challenger": "codex",
        "judge": "host", "rounds": 1});
    host.call("start_debate", arguments.clone());
    assert_eq!((count(&lab, "claude"), count(&lab, "codex")), (2, 2), "a probe and a turn each");
    let mut again = arguments;
    again["topic"] = "Well now?".into();
    host.call("start_debate", again);
    assert_eq!((count(&lab, "claude"), count(&lab, "codex")), (3, 3), "a turn each");
}

#[test]
fn nobody_is_asked_who_is_not_to_be() {
    let lab = Lab::new();
    counted(&lab, "claude");
    let (con, judge) = (lab.seat("contra.json"), lab.seat("pro.json"));
    let seats = ["--proposer", "claude", "--challenger", &con, "--judge", &judge];
    let args = [&["run", "Well?", "--rounds", "1"][..], &seats].concat();
    lab.debate(&[&args[..], &["--no-probe"]].concat()).success();
    assert_eq!(count(&lab, "claude"), 1);
    configure(&lab, "[seats]\nprobe = false\n");
    lab.debate(&args).success();
    assert_eq!(count(&lab, "claude"), 2);
    // An invalid request is refused before any model is probed.
    configure(&lab, "");
    lab.debate(&[&args[..], &["--rounds", "9"]].concat()).done();
    assert_eq!(count(&lab, "claude"), 2);
}

#[test]
fn limits_prices_and_pairings_are_read_from_the_configuration() {
    let lab = Lab::new();
    for tool in ["claude", "codex", "gemini"] {
        lab.speaks(tool, &speech("Use one file.", "P1", &[]));
    }
    configure(
        &lab,
        "[seats]\npairings = [[\"gemini\", \"codex\"]]\njudges = [\"claude\"]\nprobe = false\n\
         [limits]\nmax_cost = 0.001\nturn_seconds = 77\n\
         [prices]\nas_of = \"2026-11-01\"\n[prices.models]\n\
         gemini-big = { input = 10.0, output = 50.0 }\n",
    );
    let done = lab.debate(&["run", "Well?", "--rounds", "1", "--json"]).ends(2);
    assert!(
        done.err.contains("proposer gemini (as your configuration pairs them)"),
        "{}",
        done.err
    );
    assert!(done.err.contains("timeout 77s"), "{}", done.err);
    assert!(done.err.contains("[INFO] Estimate: about 4 calls"), "{}", done.err);
    assert!(done.err.contains("The budget is spent"), "{}", done.err);
    // 100 input tokens at $10 and 20 output tokens at $50 per million, in millionths of a dollar.
    assert_eq!(done.json()["turns"][0]["envelope"]["cost"], 2_000);
}

#[test]
fn who_can_play_is_shown_with_all_that_is_known() {
    let lab = Lab::new();
    refuses(&lab, "claude");
    lab.speaks("codex", "OK");
    configure(
        &lab,
        "[tools.codex]\nusual = { high = \"big\" }\n[prices.models]\nbig = { input = 1, output = 2 }\n",
    );
    let listed = lab.debate(&["models", "--probe", "--json"]).env("OPENAI_API_KEY", "k").success();
    let listed = listed.json();
    let of = |seat: &str| {
        let all = listed["models"].as_array().unwrap();
        all.iter().find(|it| it["seat"] == seat).unwrap().clone()
    };
    let codex = of("codex");
    assert_eq!(codex["version"], "1.2.3");
    assert_eq!(codex["login"], "OPENAI_API_KEY is set");
    assert_eq!(codex["probe"], "answers");
    assert_eq!(codex["family"], "gpt");
    assert_eq!(codex["models"], json!(["high: big"]));
    assert_eq!(codex["efforts"], json!(["low", "medium", "high", "max"]));
    assert!(codex["reached"].as_str().unwrap().ends_with("bin/codex"));
    assert!(of("claude")["probe"].as_str().unwrap().starts_with("unknown model"));
    assert_eq!(of("gemini")["playable"], false);
    let words = lab.debate(&["models"]).success().out;
    assert!(words.contains("version 1.2.3; no login seen"), "{words}");
}
