//! Seats played by HTTP APIs: requests, parsed responses, errors and retries. No API key is sent to
//! another service, logged or stored.
use crate::fake_api::{FakeApi, FakeReply, PROTOCOLS, unreachable_url};
use crate::test_env::{
    DebateCommand, TestEnv, folder_contains_text, speech_with_claim, verdict_json,
};
use serde_json::{Value, json};
use std::fs;

const API_KEY: &str = "sk-nobody-else-may-see-this";

/// Writes the user's config file.
fn write_config(lab: &TestEnv, text: &str) {
    let folder = lab.temp_path("user/.config/debate");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

/// Config for one API of the user's own.
fn api_config(name: &str, wire: &str, url: &str) -> String {
    format!(
        "[apis.{name}]\nurl = \"{url}\"\nwire = \"{wire}\"\nkeys = [\"KEY_{name}\"]\nusual = \"big\"\n"
    )
}

/// A debate of one round in which this seat proposes and scripts play the other seats.
fn run_with_proposer(lab: &TestEnv, seat: &str, more: &[&str]) -> DebateCommand {
    let (con, judge) = (lab.script_seat("contra.json"), lab.script_seat("pro.json"));
    let seats = ["run", "Well?", "--proposer", seat, "--challenger", &con, "--judge", &judge];
    lab.debate(&[&seats[..], &["--rounds", "1", "--no-probe", "--json"], more].concat())
        .env("KEY_mine", API_KEY)
}

/// The first turn, played by an API with this protocol at this URL.
fn first_turn(lab: &TestEnv, wire: &str, url: &str, more: &[&str]) -> Value {
    write_config(lab, &api_config("mine", wire, url));
    let done = run_with_proposer(lab, "mine", more).output();
    assert!(!done.stderr.contains(API_KEY) && !done.stdout.contains(API_KEY), "{done:#?}");
    let result: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:#?}"));
    result["turns"][0].clone()
}

/// A complete debate for each protocol: both sides and the judge, whose request has a schema.
#[test]
fn every_protocol_plays_every_seat() {
    for wire in PROTOCOLS {
        let lab = TestEnv::new();
        let says = |text: String| FakeApi::always(FakeReply::Text(text));
        let pro = says(speech_with_claim("Use one file.", "P1", &[]));
        let con = says(speech_with_claim("One file locks.", "C1", &["P1"]));
        let judge = says(verdict_json("pro").to_string());
        let rows = [("pro", &pro), ("con", &con), ("judge", &judge)];
        let rows = rows.map(|(name, model)| api_config(name, wire, &model.url()));
        write_config(&lab, &rows.concat());
        let seats = ["--proposer", "pro", "--challenger", "con:other", "--judge", "judge"];
        let more = ["--rounds", "1", "--effort", "high", "--no-probe"];
        let mut run = lab.debate(&[&["run", "One $(file)?"][..], &seats, &more].concat());
        for name in ["pro", "con", "judge"] {
            run = run.env(&format!("KEY_{name}"), &format!("{API_KEY}-{name}"));
        }
        let done = run.expect_success();
        assert!(!done.stdout.contains(API_KEY) && !done.stderr.contains(API_KEY));
        let shown = lab.debate(&["show", "last", "--json"]).expect_success().json();
        assert_eq!(shown["status"], "completed", "{wire}: {shown:#}");
        let turns = shown["turns"].as_array().unwrap();
        let tools: Vec<&Value> = turns.iter().map(|turn| &turn["tool"]).collect();
        assert_eq!(tools, ["pro", "con", "judge", "judge"], "{wire}");
        for turn in turns {
            let (own, asked) =
                (&turn["envelope"], if turn["tool"] == "con" { "other" } else { "big" });
            assert_eq!(own["model_asked"], asked, "{wire}: {own:#}");
            assert_eq!(
                (&own["tokens_in"], &own["tokens_out"]),
                (&json!(100), &json!(20)),
                "{wire}"
            );
            assert_eq!(own["attempts"], 1, "{wire}");
            assert_eq!(own["cost"], Value::Null, "{wire}");
            // The Gemini request has the model in its path, so the fake server cannot report it.
            if wire != "gemini" {
                assert_eq!(own["model_reported"], asked, "{wire}");
                assert_eq!(own["caveats"], json!(["it has no setting for effort"]), "{wire}");
            }
        }
        for (name, model) in [("pro", &pro), ("con", &con), ("judge", &judge)] {
            let all = model.requests();
            assert_eq!(all.len(), if name == "judge" { 2 } else { 1 }, "{wire}");
            for sent in all {
                assert!(sent.prompt().contains("One $(file)?"), "{wire}");
                let held = sent.body.to_string().contains("\"additionalProperties\":false");
                assert_eq!(held, name == "judge", "{wire}: {}", sent.body);
                let headers = format!("{:?}", sent.headers);
                assert!(headers.contains(&format!("{API_KEY}-{name}\"")), "{wire}: {headers}");
                assert_eq!(headers.matches(API_KEY).count(), 1, "{wire}: {headers}");
                assert!(!sent.path.contains(API_KEY) && !sent.body.to_string().contains(API_KEY));
            }
        }
        assert!(
            !folder_contains_text(&lab.temp_path(""), API_KEY),
            "{wire}: a key was written down"
        );
    }
}

/// Every kind of HTTP and stream error, for every protocol: the message for the user and the number
/// of requests.
#[test]
fn api_errors_are_classified() {
    let status = |code: u16, headers: &[(&'static str, &'static str)], said: &str| {
        let body = json!({"error": {"message": format!("{said} {API_KEY}\u{1b}[31m")}}).to_string();
        FakeReply::Status(code, headers.to_vec(), body)
    };
    let soon = [("retry-after-ms", "1")];
    let matrix = [
        (status(400, &[], "no such field"), "failed: 400: no such field …", 1),
        (status(401, &[], "bad key"), "not logged in: 401: bad key … (look at KEY_mine)", 1),
        (status(403, &[], "not you"), "not logged in: 403: not you … (look at KEY_mine)", 1),
        (
            status(404, &[], "no"),
            "unknown model: 404: no … (name another model, as in `mine:MODEL`",
            1,
        ),
        (
            status(429, &[("retry-after", "40")], "slow"),
            "rate limited: 429: slow … (it may be asked again in 40 s)",
            1,
        ),
        (status(429, &soon, "slow"), "rate limited: 429: slow … (it may be asked again in 1 s)", 3),
        (status(500, &soon, "oh"), "failed: 500: oh …", 3),
        (status(503, &soon, "busy"), "rate limited: 503: busy … (it may be", 3),
        (
            FakeReply::CutOff("one two".into()),
            "crashed: the answer broke off after 7 characters",
            1,
        ),
        (FakeReply::Empty, "empty reply: it answered with nothing", 1),
        (
            FakeReply::Raw("text/event-stream", "data: rubbish\n\n".into()),
            "unreadable reply: nothing it",
            1,
        ),
        (
            FakeReply::Raw("text/plain", "Hello!\n\n".into()),
            "unreadable reply: what it sent is no",
            1,
        ),
        (
            FakeReply::Raw("application/json", "{\"ok\": true}".into()),
            "unreadable reply: what it sent is no stream",
            1,
        ),
        (FakeReply::Flood, "unreadable reply: it said more than can be read", 1),
        (FakeReply::Refusal, "refused: ", 1),
    ];
    std::thread::scope(|scope| {
        for wire in PROTOCOLS {
            let matrix = &matrix;
            scope.spawn(move || {
                for (does, says, attempts) in matrix {
                    let (lab, model) = (TestEnv::new(), FakeApi::always(does.clone()));
                    let turn = first_turn(&lab, wire, &model.url(), &[]);
                    let failure = turn["failure"].as_str().unwrap_or_else(|| panic!("{turn:#}"));
                    assert!(failure.starts_with(says), "{wire}: {failure}");
                    assert!(!failure.contains('\u{1b}') && failure.chars().count() < 330);
                    assert_eq!(model.requests().len(), *attempts, "{wire}: {failure}");
                    assert_eq!(turn["envelope"]["attempts"], *attempts, "{wire}: {failure}");
                    assert_eq!(turn["envelope"]["tool"], "mine", "{wire}: {failure}");
                    assert!(
                        !folder_contains_text(&lab.temp_path(""), API_KEY),
                        "{wire}: {failure}"
                    );
                }
            });
        }
    });
}

/// Connection refused, a hanging server, and a missing key.
#[test]
fn unreachable_hanging_and_keyless_apis_are_reported() {
    std::thread::scope(|scope| {
        for wire in PROTOCOLS {
            scope.spawn(move || {
                let (lab, url) = (TestEnv::new(), unreachable_url());
                let turn = first_turn(&lab, wire, &url, &[]);
                let says = format!("not found: nothing answers at {url}: ");
                assert!(turn["failure"].as_str().unwrap().starts_with(&says), "{turn:#}");
                let (lab, model) = (TestEnv::new(), FakeApi::always(FakeReply::Hang));
                let turn = self::first_turn(&lab, wire, &model.url(), &["--turn-timeout", "1"]);
                let late = "timed out: no answer within 1 s";
                assert!(turn["failure"].as_str().unwrap().starts_with(late), "{wire}: {turn:#}");
                let lab = TestEnv::new();
                write_config(&lab, &api_config("mine", wire, &url));
                let done = run_with_proposer(&lab, "mine", &[]).env("KEY_mine", "").expect_error(4);
                done.assert_stderr_contains("no key is set: set KEY_mine");
            });
        }
    });
}

/// A server error before the response is retried. A response that has started is not.
#[test]
fn transient_api_errors_are_retried() {
    let good = speech_with_claim("Use one file.", "P1", &[]);
    std::thread::scope(|scope| {
        for wire in PROTOCOLS {
            let good = &good;
            scope.spawn(move || {
                let (lab, said) = (TestEnv::new(), good.clone());
                let model = FakeApi::new(move |_, nth| match nth {
                    1 => FakeReply::Status(500, vec![("retry-after-ms", "1")], "oh".into()),
                    _ => FakeReply::Text(said.clone()),
                });
                let turn = first_turn(&lab, wire, &model.url(), &[]);
                assert_eq!(turn["failure"], Value::Null, "{wire}: {turn:#}");
                assert_eq!(turn["envelope"]["attempts"], 2, "{wire}");
                let (lab, model) =
                    (TestEnv::new(), FakeApi::always(FakeReply::StreamError("one two".into())));
                let turn = self::first_turn(&lab, wire, &model.url(), &[]);
                let failure = turn["failure"].as_str().unwrap();
                assert!(failure.contains("Overloaded"), "{wire}: {failure}");
                assert_eq!(model.requests().len(), 1, "{wire}: {failure}");
                let model = FakeApi::always(FakeReply::LengthLimit(good.clone()));
                let turn = self::first_turn(&TestEnv::new(), wire, &model.url(), &[]);
                let caveats = turn["envelope"]["caveats"].to_string();
                assert!(caveats.contains("cut at its limit of tokens"), "{wire}: {caveats}");
            });
        }
    });
}

/// A schema that is rejected with status 400 is left out of the retry.
#[test]
fn rejected_schema_is_left_out_of_the_retry() {
    for wire in PROTOCOLS {
        let lab = TestEnv::new();
        let judge = FakeApi::new(|sent, _| {
            if sent.body.to_string().contains("additionalProperties") {
                let body = json!({"error": {"message": "schemas are not supported"}});
                return FakeReply::Status(400, vec![], body.to_string());
            }
            FakeReply::Text(verdict_json("pro").to_string())
        });
        write_config(&lab, &api_config("mine", wire, &judge.url()));
        let more = ["--rounds", "1", "--judge", "mine", "--json"];
        let result =
            lab.debate_run("Well?", &more).env("KEY_mine", API_KEY).expect_success().json();
        let own = &result["turns"].as_array().unwrap().last().unwrap()["envelope"];
        assert!(
            own["caveats"].to_string().contains("answered without a schema"),
            "{wire}: {own:#}"
        );
        assert_eq!(own["attempts"], 2, "{wire}");
    }
}

/// In particular, the key is not sent to the other host.
#[test]
fn redirects_are_not_followed() {
    let other = FakeApi::always(FakeReply::Text(speech_with_claim("Mine.", "P1", &[])));
    let place: &'static str = Box::leak(format!("{}/responses", other.url()).into_boxed_str());
    let model = FakeApi::always(FakeReply::Status(307, vec![("location", place)], String::new()));
    let turn = first_turn(&TestEnv::new(), "responses", &model.url(), &[]);
    let says = "failed: HTTP 307 (it has moved; set the `url` of `apis.mine`)";
    assert_eq!(turn["failure"], says);
    assert!(other.requests().is_empty());
}

/// Local servers need no key and are queried for their models.
#[test]
fn local_server_is_queried_for_its_models() {
    let lab = TestEnv::new();
    let model = FakeApi::always(FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])));
    let host = model.url().replace("http://", "").replace("/v1", "");
    let result =
        run_with_proposer(&lab, "ollama", &[]).env("OLLAMA_HOST", &host).expect_success().json();
    let own = &result["turns"][0]["envelope"];
    assert_eq!((&own["tool"], &own["model_asked"]), (&json!("ollama"), &json!("local-big")));
    let sent = &model.requests()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    assert!(!sent.headers.contains_key("authorization"));
    let gone = unreachable_url();
    let gone = gone.trim_start_matches("http://").trim_end_matches("/v1");
    let done = run_with_proposer(&lab, "ollama", &[]).env("OLLAMA_HOST", gone).expect_error(4);
    done.assert_stderr_contains("nothing answers at");
    done.assert_stderr_contains("ollama serve");
}

/// Built-in APIs are listed, with the environment variable that is missing.
#[test]
fn built_in_apis_are_listed_with_missing_keys() {
    let lab = TestEnv::new();
    let listed = |lab: &TestEnv| {
        let call = lab.debate(&["models", "--json"]).env("GOOGLE_API_KEY", API_KEY);
        let done = call.expect_success();
        assert!(!done.stdout.contains(API_KEY));
        done.json()["models"].as_array().unwrap().clone()
    };
    let find = |all: &[Value], seat: &str| all.iter().find(|it| it["seat"] == seat).cloned();
    let all = listed(&lab);
    for (seat, able, note) in [
        ("anthropic:MODEL", false, "set ANTHROPIC_API_KEY"),
        ("openai:MODEL", false, "set OPENAI_API_KEY"),
        ("google:MODEL", true, "an HTTP API for gemini models"),
        ("deepseek:MODEL", false, "set DEEPSEEK_API_KEY"),
        ("openrouter:MODEL", false, "set OPENROUTER_API_KEY"),
    ] {
        let it = find(&all, seat).unwrap_or_else(|| panic!("no {seat}: {all:#?}"));
        assert_eq!((&it["playable"], &it["model"]), (&json!(able), &json!(false)), "{it}");
        assert!(it["note"].as_str().unwrap().contains(note), "{it}");
    }
    for seat in ["ollama", "lmstudio", "vllm", "llamacpp"] {
        assert!(find(&all, seat).is_some(), "{seat}");
    }
    // An API with a default model in the config can be seated without naming one.
    write_config(&lab, "[apis.google]\nusual = \"big\"\n");
    assert_eq!(find(&listed(&lab), "google").unwrap()["model"], true);
    let seats = ["run", "Well?", "--proposer", "openai", "--challenger", "google"];
    let done = lab
        .debate(&seats)
        .env("OPENAI_API_KEY", API_KEY)
        .env("GOOGLE_API_KEY", API_KEY)
        .expect_error(4);
    done.assert_stderr_contains("name a model, as in `openai:MODEL`");
}

/// One model may not play both sides. Two models of one API may.
#[test]
fn both_sides_need_different_models() {
    let lab = TestEnv::new();
    let model = FakeApi::new(|sent, _| match sent.body["model"].as_str() {
        Some("small") => FakeReply::Text(speech_with_claim("One file locks.", "C1", &["P1"])),
        _ => FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])),
    });
    write_config(&lab, &api_config("mine", "chat", &model.url()));
    let judge = lab.script_seat("pro.json");
    let run = |proposer: &str, challenger: &str| {
        let seats = ["run", "Well?", "--proposer", proposer, "--challenger", challenger];
        let more = ["--judge", &judge, "--rounds", "1", "--json"];
        lab.debate(&[&seats[..], &more].concat()).env("KEY_mine", API_KEY)
    };
    for (one, other) in [("mine", "mine"), ("mine", "mine:big"), ("mine:big", "mine:big")] {
        let done = run(one, other).output();
        assert!(done.exit_code != Some(0), "{done:#?}");
        done.assert_stderr_contains("name another model for one of them");
    }
    let result = run("mine", "mine:small").expect_success().json();
    assert_eq!(result["status"], "completed", "{result:#}");
}

/// Config errors are reported. A key in the config is used but never shown.
#[test]
fn config_can_change_and_add_apis() {
    let lab = TestEnv::new();
    let model = FakeApi::always(FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])));
    write_config(
        &lab,
        &format!(
            "[apis.openai]\nurl = \"{}\"\nkey = \"{API_KEY}\"\nheaders = {{ x-mine = \"yes\" }}\n\
             body = {{ metadata = {{ of = \"me\" }} }}\nmax_tokens = 77\n",
            model.url()
        ),
    );
    let elsewhere = "http://127.0.0.1:9/v1";
    let run = run_with_proposer(&lab, "openai:big", &["--effort", "max"])
        .env("OPENAI_BASE_URL", elsewhere);
    let result = run.expect_success().json();
    assert_eq!(result["turns"][0]["envelope"]["caveats"], Value::Null, "{result:#}");
    let sent = &model.requests()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {API_KEY}"));
    assert_eq!(sent.headers["x-mine"], "yes");
    assert_eq!(sent.body["metadata"]["of"], "me");
    assert_eq!(sent.body["reasoning"]["effort"], "xhigh");
    assert_eq!(sent.body["max_output_tokens"], 77);
    for folder in ["home", "repo"] {
        assert!(!folder_contains_text(&lab.temp_path(folder), API_KEY), "{folder}");
    }
    for (text, says) in [
        ("[apis.openai]\nurll = \"x\"", "urll"),
        ("[apis.mine]\nurl = \"http://x\"", "wire"),
        ("[apis.mine]\nurl = \"http://x\"\nwire = \"morse\"", "morse"),
        ("[apis.openai]\nschema = \"maybe\"", "`schema` is true, false or"),
        ("[apis.openai]\nurl = \"ftp://x\"", "http://"),
        ("[apis]\nopenai = 3", "must be a table"),
        ("[apis.claude]\nurl = \"http://x\"\nwire = \"chat\"", "rename one of them"),
        ("[apis.host]\nurl = \"http://x\"\nwire = \"chat\"", "somebody else"),
        ("[api.openai]\nusual = \"x\"", "`apis.NAME`"),
    ] {
        write_config(&lab, text);
        let done = run_with_proposer(&lab, "openai:big", &[]).output();
        assert!(done.stderr.contains(says) && done.exit_code != Some(0), "{text}: {}", done.stderr);
    }
}

/// Two APIs with the same model are labelled `single-model`.
#[test]
fn two_apis_with_one_model_are_single_model() {
    let lab = TestEnv::new();
    let pro = FakeApi::always(FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])));
    let con = FakeApi::always(FakeReply::Text(speech_with_claim("One file locks.", "C1", &["P1"])));
    write_config(
        &lab,
        &(api_config("one", "chat", &pro.url()) + &api_config("two", "chat", &con.url())),
    );
    let judge = lab.script_seat("pro.json");
    let seats = ["--proposer", "one", "--challenger", "two", "--judge", &judge];
    let more = ["--rounds", "1", "--no-probe", "--json"];
    let run = lab.debate(&[&["run", "Well?"][..], &seats, &more].concat());
    let result = run.env("KEY_one", API_KEY).env("KEY_two", API_KEY).expect_success().json();
    assert_eq!(result["labels"], json!(["single-model"]), "{result:#}");
}
