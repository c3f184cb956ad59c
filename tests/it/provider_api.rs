//! Seats played by HTTP APIs: requests, parsed responses, errors and retries. No API key is sent to
//! another service, logged or stored.
use crate::api_streams::PROTOCOLS;
use crate::fake_api::{FakeApi, FakeReply, unreachable_url};
use crate::test_env::{
    DebateCommand, TestEnv, folder_contains_text, speech_with_claim, verdict_json,
};
use serde_json::{Value, json};
use std::fs;

const API_KEY: &str = "sk-nobody-else-may-see-this";

/// Writes the user's config file.
fn write_config(env: &TestEnv, text: &str) {
    let folder = env.temp_path("user/.config/debate");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

/// Config for one API of the user's own.
fn api_config(name: &str, protocol: &str, url: &str) -> String {
    format!(
        "[apis.{name}]\nurl = \"{url}\"\nwire = \"{protocol}\"\nkeys = [\"KEY_{name}\"]\nusual = \"big\"\n"
    )
}

/// A debate of one round in which this seat proposes and scripts play the other seats.
fn run_with_proposer(env: &TestEnv, seat: &str, extra_args: &[&str]) -> DebateCommand {
    let (con, judge) = (env.script_seat("contra.json"), env.script_seat("pro.json"));
    let seats = ["run", "Well?", "--proposer", seat, "--challenger", &con, "--judge", &judge];
    env.debate(&[&seats[..], &["--rounds", "1", "--no-probe", "--json"], extra_args].concat())
        .env("KEY_mine", API_KEY)
}

/// The first turn, played by an API with this protocol at this URL.
fn first_turn(env: &TestEnv, protocol: &str, url: &str, extra_args: &[&str]) -> Value {
    write_config(env, &api_config("mine", protocol, url));
    let output = run_with_proposer(env, "mine", extra_args).output();
    assert!(!output.stderr.contains(API_KEY) && !output.stdout.contains(API_KEY), "{output:#?}");
    let result: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:#?}"));
    result["turns"][0].clone()
}

/// A complete debate for each protocol: both sides and the judge, whose request has a schema.
#[test]
fn every_protocol_plays_every_seat() {
    for protocol in PROTOCOLS {
        let env = TestEnv::new();
        let api_replying = |text: String| FakeApi::always(FakeReply::Text(text));
        let pro = api_replying(speech_with_claim("Use one file.", "P1", &[]));
        let con = api_replying(speech_with_claim("One file locks.", "C1", &["P1"]));
        let judge = api_replying(verdict_json("pro").to_string());
        let rows = [("pro", &pro), ("con", &con), ("judge", &judge)];
        let rows = rows.map(|(name, api)| api_config(name, protocol, &api.url()));
        write_config(&env, &rows.concat());
        let seats = ["--proposer", "pro", "--challenger", "con:other", "--judge", "judge"];
        let extra_args = ["--rounds", "1", "--effort", "high", "--no-probe"];
        let mut command = env.debate(&[&["run", "One $(file)?"][..], &seats, &extra_args].concat());
        for name in ["pro", "con", "judge"] {
            command = command.env(&format!("KEY_{name}"), &format!("{API_KEY}-{name}"));
        }
        let output = command.expect_success();
        assert!(!output.stdout.contains(API_KEY) && !output.stderr.contains(API_KEY));
        let view = env.debate(&["show", "last", "--json"]).expect_success().json();
        assert_eq!(view["status"], "completed", "{protocol}: {view:#}");
        let turns = view["turns"].as_array().unwrap();
        let tools: Vec<&Value> = turns.iter().map(|turn| &turn["tool"]).collect();
        assert_eq!(tools, ["pro", "con", "judge", "judge"], "{protocol}");
        for turn in turns {
            let (envelope, expected_model) =
                (&turn["envelope"], if turn["tool"] == "con" { "other" } else { "big" });
            assert_eq!(envelope["model_asked"], expected_model, "{protocol}: {envelope:#}");
            assert_eq!(
                (&envelope["tokens_in"], &envelope["tokens_out"]),
                (&json!(100), &json!(20)),
                "{protocol}"
            );
            assert_eq!(envelope["attempts"], 1, "{protocol}");
            assert_eq!(envelope["cost"], Value::Null, "{protocol}");
            // The Gemini request has the model in its path, so the fake server cannot report it.
            if protocol != "gemini" {
                assert_eq!(envelope["model_reported"], expected_model, "{protocol}");
                assert_eq!(
                    envelope["caveats"],
                    json!(["it has no setting for effort"]),
                    "{protocol}"
                );
            }
        }
        for (name, api) in [("pro", &pro), ("con", &con), ("judge", &judge)] {
            let requests = api.requests();
            assert_eq!(requests.len(), if name == "judge" { 2 } else { 1 }, "{protocol}");
            for request in requests {
                assert!(request.prompt().contains("One $(file)?"), "{protocol}");
                let has_schema =
                    request.body.to_string().contains("\"additionalProperties\":false");
                assert_eq!(has_schema, name == "judge", "{protocol}: {}", request.body);
                let headers = format!("{:?}", request.headers);
                assert!(headers.contains(&format!("{API_KEY}-{name}\"")), "{protocol}: {headers}");
                assert_eq!(headers.matches(API_KEY).count(), 1, "{protocol}: {headers}");
                assert!(
                    !request.path.contains(API_KEY) && !request.body.to_string().contains(API_KEY)
                );
            }
        }
        assert!(!folder_contains_text(&env.temp_path(""), API_KEY), "{protocol}: a key was stored");
    }
}

/// Every kind of HTTP and stream error, for every protocol: the message for the user and the number
/// of requests.
#[test]
fn api_errors_are_classified() {
    let status = |code: u16, headers: &[(&'static str, &'static str)], message: &str| {
        let body =
            json!({"error": {"message": format!("{message} {API_KEY}\u{1b}[31m")}}).to_string();
        FakeReply::Status(code, headers.to_vec(), body)
    };
    let retry_soon = [("retry-after-ms", "1")];
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
        (
            status(429, &retry_soon, "slow"),
            "rate limited: 429: slow … (it may be asked again in 1 s)",
            3,
        ),
        (status(500, &retry_soon, "oh"), "failed: 500: oh …", 3),
        (status(503, &retry_soon, "busy"), "rate limited: 503: busy … (it may be", 3),
        (
            FakeReply::CutOff("one two".into()),
            "crashed: the answer broke off after 7 characters",
            1,
        ),
        (FakeReply::Empty, "empty reply: it answered with nothing", 1),
        (
            FakeReply::Raw("text/event-stream", "data: rubbish\n\n".into()),
            "unreadable reply: its output could not be parsed",
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
        (FakeReply::Flood, "unreadable reply: its output is too large", 1),
        (FakeReply::Refusal, "refused: ", 1),
    ];
    std::thread::scope(|scope| {
        for protocol in PROTOCOLS {
            let matrix = &matrix;
            scope.spawn(move || {
                for (reply, expected, attempts) in matrix {
                    let (env, api) = (TestEnv::new(), FakeApi::always(reply.clone()));
                    let turn = first_turn(&env, protocol, &api.url(), &[]);
                    let failure = turn["failure"].as_str().unwrap_or_else(|| panic!("{turn:#}"));
                    assert!(failure.starts_with(expected), "{protocol}: {failure}");
                    assert!(!failure.contains('\u{1b}') && failure.chars().count() < 330);
                    assert_eq!(api.requests().len(), *attempts, "{protocol}: {failure}");
                    assert_eq!(turn["envelope"]["attempts"], *attempts, "{protocol}: {failure}");
                    assert_eq!(turn["envelope"]["tool"], "mine", "{protocol}: {failure}");
                    assert!(
                        !folder_contains_text(&env.temp_path(""), API_KEY),
                        "{protocol}: {failure}"
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
        for protocol in PROTOCOLS {
            scope.spawn(move || {
                let (env, url) = (TestEnv::new(), unreachable_url());
                let turn = first_turn(&env, protocol, &url, &[]);
                let expected = format!("not found: nothing answers at {url}: ");
                assert!(turn["failure"].as_str().unwrap().starts_with(&expected), "{turn:#}");
                let (env, api) = (TestEnv::new(), FakeApi::always(FakeReply::Hang));
                let turn = self::first_turn(&env, protocol, &api.url(), &["--turn-timeout", "1"]);
                let expected_timeout = "timed out: no answer within 1 s";
                assert!(
                    turn["failure"].as_str().unwrap().starts_with(expected_timeout),
                    "{protocol}: {turn:#}"
                );
                let env = TestEnv::new();
                write_config(&env, &api_config("mine", protocol, &url));
                let output =
                    run_with_proposer(&env, "mine", &[]).env("KEY_mine", "").expect_error(4);
                output.assert_stderr_contains("no key is set: set KEY_mine");
            });
        }
    });
}

/// A server error before the response is retried. A response that has started is not.
#[test]
fn transient_api_errors_are_retried() {
    let speech = speech_with_claim("Use one file.", "P1", &[]);
    std::thread::scope(|scope| {
        for protocol in PROTOCOLS {
            let speech = &speech;
            scope.spawn(move || {
                let (env, reply) = (TestEnv::new(), speech.clone());
                let api = FakeApi::new(move |_, nth| match nth {
                    1 => FakeReply::Status(500, vec![("retry-after-ms", "1")], "oh".into()),
                    _ => FakeReply::Text(reply.clone()),
                });
                let turn = first_turn(&env, protocol, &api.url(), &[]);
                assert_eq!(turn["failure"], Value::Null, "{protocol}: {turn:#}");
                assert_eq!(turn["envelope"]["attempts"], 2, "{protocol}");
                let (env, api) =
                    (TestEnv::new(), FakeApi::always(FakeReply::StreamError("one two".into())));
                let turn = self::first_turn(&env, protocol, &api.url(), &[]);
                let failure = turn["failure"].as_str().unwrap();
                assert!(failure.contains("Overloaded"), "{protocol}: {failure}");
                assert_eq!(api.requests().len(), 1, "{protocol}: {failure}");
                let api = FakeApi::always(FakeReply::LengthLimit(speech.clone()));
                let turn = self::first_turn(&TestEnv::new(), protocol, &api.url(), &[]);
                let caveats = turn["envelope"]["caveats"].to_string();
                assert!(caveats.contains("cut at its limit of tokens"), "{protocol}: {caveats}");
            });
        }
    });
}

/// A schema that is rejected with status 400 is left out of the retry.
#[test]
fn rejected_schema_is_left_out_of_the_retry() {
    for protocol in PROTOCOLS {
        let env = TestEnv::new();
        let judge = FakeApi::new(|request, _| {
            if request.body.to_string().contains("additionalProperties") {
                let body = json!({"error": {"message": "schemas are not supported"}});
                return FakeReply::Status(400, vec![], body.to_string());
            }
            FakeReply::Text(verdict_json("pro").to_string())
        });
        write_config(&env, &api_config("mine", protocol, &judge.url()));
        let extra_args = ["--rounds", "1", "--judge", "mine", "--json"];
        let result =
            env.debate_run("Well?", &extra_args).env("KEY_mine", API_KEY).expect_success().json();
        let envelope = &result["turns"].as_array().unwrap().last().unwrap()["envelope"];
        assert!(
            envelope["caveats"].to_string().contains("answered without a schema"),
            "{protocol}: {envelope:#}"
        );
        assert_eq!(envelope["attempts"], 2, "{protocol}");
    }
}

/// In particular, the key is not sent to the other host.
#[test]
fn redirects_are_not_followed() {
    let other_api = FakeApi::always(FakeReply::Text(speech_with_claim("Mine.", "P1", &[])));
    let location: &'static str =
        Box::leak(format!("{}/responses", other_api.url()).into_boxed_str());
    let api = FakeApi::always(FakeReply::Status(307, vec![("location", location)], String::new()));
    let turn = first_turn(&TestEnv::new(), "responses", &api.url(), &[]);
    let expected = "failed: HTTP 307 (it has moved; set the `url` of `apis.mine`)";
    assert_eq!(turn["failure"], expected);
    assert!(other_api.requests().is_empty());
}

/// Local servers need no key and are queried for their models.
#[test]
fn local_server_is_queried_for_its_models() {
    let env = TestEnv::new();
    let api = FakeApi::always(FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])));
    let host = api.url().replace("http://", "").replace("/v1", "");
    let result =
        run_with_proposer(&env, "ollama", &[]).env("OLLAMA_HOST", &host).expect_success().json();
    let envelope = &result["turns"][0]["envelope"];
    assert_eq!(
        (&envelope["tool"], &envelope["model_asked"]),
        (&json!("ollama"), &json!("local-big"))
    );
    let request = &api.requests()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert!(!request.headers.contains_key("authorization"));
    let unreachable = unreachable_url();
    let unreachable = unreachable.trim_start_matches("http://").trim_end_matches("/v1");
    let output =
        run_with_proposer(&env, "ollama", &[]).env("OLLAMA_HOST", unreachable).expect_error(4);
    output.assert_stderr_contains("nothing answers at");
    output.assert_stderr_contains("ollama serve");
}

/// Built-in APIs are listed, with the environment variable that is missing.
#[test]
fn built_in_apis_are_listed_with_missing_keys() {
    let env = TestEnv::new();
    let list_models = |env: &TestEnv| {
        let command = env.debate(&["models", "--json"]).env("GOOGLE_API_KEY", API_KEY);
        let output = command.expect_success();
        assert!(!output.stdout.contains(API_KEY));
        output.json()["models"].as_array().unwrap().clone()
    };
    let find =
        |models: &[Value], seat: &str| models.iter().find(|entry| entry["seat"] == seat).cloned();
    let models = list_models(&env);
    for (seat, playable, note) in [
        ("anthropic:MODEL", false, "set ANTHROPIC_API_KEY"),
        ("openai:MODEL", false, "set OPENAI_API_KEY"),
        ("google:MODEL", true, "an HTTP API for gemini models"),
        ("deepseek:MODEL", false, "set DEEPSEEK_API_KEY"),
        ("openrouter:MODEL", false, "set OPENROUTER_API_KEY"),
    ] {
        let entry = find(&models, seat).unwrap_or_else(|| panic!("no {seat}: {models:#?}"));
        assert_eq!(
            (&entry["playable"], &entry["model"]),
            (&json!(playable), &json!(false)),
            "{entry}"
        );
        assert!(entry["note"].as_str().unwrap().contains(note), "{entry}");
    }
    for seat in ["ollama", "lmstudio", "vllm", "llamacpp"] {
        assert!(find(&models, seat).is_some(), "{seat}");
    }
    // An API with a default model in the config can be seated without naming one.
    write_config(&env, "[apis.google]\nusual = \"big\"\n");
    assert_eq!(find(&list_models(&env), "google").unwrap()["model"], true);
    let seats = ["run", "Well?", "--proposer", "openai", "--challenger", "google"];
    let output = env
        .debate(&seats)
        .env("OPENAI_API_KEY", API_KEY)
        .env("GOOGLE_API_KEY", API_KEY)
        .expect_error(4);
    output.assert_stderr_contains("name a model, as in `openai:MODEL`");
}

/// One model may not play both sides. Two models of one API may.
#[test]
fn both_sides_need_different_models() {
    let env = TestEnv::new();
    let api = FakeApi::new(|request, _| match request.body["model"].as_str() {
        Some("small") => FakeReply::Text(speech_with_claim("One file locks.", "C1", &["P1"])),
        _ => FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])),
    });
    write_config(&env, &api_config("mine", "chat", &api.url()));
    let judge = env.script_seat("pro.json");
    let run = |proposer: &str, challenger: &str| {
        let seats = ["run", "Well?", "--proposer", proposer, "--challenger", challenger];
        let extra_args = ["--judge", &judge, "--rounds", "1", "--json"];
        env.debate(&[&seats[..], &extra_args].concat()).env("KEY_mine", API_KEY)
    };
    for (one, other) in [("mine", "mine"), ("mine", "mine:big"), ("mine:big", "mine:big")] {
        let output = run(one, other).output();
        assert!(output.exit_code != Some(0), "{output:#?}");
        output.assert_stderr_contains("name another model for one of them");
    }
    let result = run("mine", "mine:small").expect_success().json();
    assert_eq!(result["status"], "completed", "{result:#}");
}

/// Config errors are reported. A key in the config is used but never shown.
#[test]
fn config_can_change_and_add_apis() {
    let env = TestEnv::new();
    let api = FakeApi::always(FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])));
    write_config(
        &env,
        &format!(
            "[apis.openai]\nurl = \"{}\"\nkey = \"{API_KEY}\"\nheaders = {{ x-mine = \"yes\" }}\n\
             body = {{ metadata = {{ of = \"me\" }} }}\nmax_tokens = 77\n",
            api.url()
        ),
    );
    let other_url = "http://127.0.0.1:9/v1";
    let command = run_with_proposer(&env, "openai:big", &["--effort", "max"])
        .env("OPENAI_BASE_URL", other_url);
    let result = command.expect_success().json();
    assert_eq!(result["turns"][0]["envelope"]["caveats"], Value::Null, "{result:#}");
    let request = &api.requests()[0];
    assert_eq!(request.headers["authorization"], format!("Bearer {API_KEY}"));
    assert_eq!(request.headers["x-mine"], "yes");
    assert_eq!(request.body["metadata"]["of"], "me");
    assert_eq!(request.body["reasoning"]["effort"], "xhigh");
    assert_eq!(request.body["max_output_tokens"], 77);
    for folder in ["home", "repo"] {
        assert!(!folder_contains_text(&env.temp_path(folder), API_KEY), "{folder}");
    }
    for (text, expected) in [
        ("[apis.openai]\nurll = \"x\"", "urll"),
        ("[apis.mine]\nurl = \"http://x\"", "wire"),
        ("[apis.mine]\nurl = \"http://x\"\nwire = \"morse\"", "morse"),
        ("[apis.openai]\nschema = \"maybe\"", "`schema` is true, false or"),
        ("[apis.openai]\nurl = \"ftp://x\"", "http://"),
        ("[apis]\nopenai = 3", "must be a table"),
        ("[apis.claude]\nurl = \"http://x\"\nwire = \"chat\"", "rename one of them"),
        ("[apis.host]\nurl = \"http://x\"\nwire = \"chat\"", "this name is reserved"),
        ("[api.openai]\nusual = \"x\"", "`apis.NAME`"),
    ] {
        write_config(&env, text);
        let output = run_with_proposer(&env, "openai:big", &[]).output();
        assert!(
            output.stderr.contains(expected) && output.exit_code != Some(0),
            "{text}: {}",
            output.stderr
        );
    }
}

/// Two APIs with the same model are labelled `single-model`.
#[test]
fn two_apis_with_one_model_are_single_model() {
    let env = TestEnv::new();
    let pro = FakeApi::always(FakeReply::Text(speech_with_claim("Use one file.", "P1", &[])));
    let con = FakeApi::always(FakeReply::Text(speech_with_claim("One file locks.", "C1", &["P1"])));
    write_config(
        &env,
        &(api_config("one", "chat", &pro.url()) + &api_config("two", "chat", &con.url())),
    );
    let judge = env.script_seat("pro.json");
    let seats = ["--proposer", "one", "--challenger", "two", "--judge", &judge];
    let extra_args = ["--rounds", "1", "--no-probe", "--json"];
    let command = env.debate(&[&["run", "Well?"][..], &seats, &extra_args].concat());
    let result = command.env("KEY_one", API_KEY).env("KEY_two", API_KEY).expect_success().json();
    assert_eq!(result["labels"], json!(["single-model"]), "{result:#}");
}
