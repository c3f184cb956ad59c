//! `debate join` as client processes against a mock arena server, which is written from the
//! protocol description alone.
use super::cli_json::fits;
use super::guest_platform::{Arena, DEBATE, Fault, Raw, Request, Rules};
use super::lab::{Call, Done, Lab, stands_in, until};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Speech text that is unique for each bot and round.
fn words(who: &str, round: u8) -> String {
    format!("**{who}, {round}**\n\nHonourable judges. {}", "This follows from that. ".repeat(4))
}

/// Writes a script with one speech for each of three rounds.
fn script(lab: &Lab, name: &str) -> String {
    let line = |round: u8| json!({"round": round, "text": words(name, round)});
    written(lab, name, &json!({"turns": [line(1), line(2), line(3)]}))
}

/// Writes a script that always gives the same speech.
fn saying(lab: &Lab, name: &str, text: &str) -> String {
    written(lab, name, &json!({"turns": [{"text": text}]}))
}

fn written(lab: &Lab, name: &str, script: &Value) -> String {
    let file = format!("{name}.json");
    fs::write(lab.outside(&file), script.to_string()).unwrap();
    lab.seat(&file)
}

fn join(lab: &Lab, arena: &Arena, name: &str, seat: &str, more: &[&str]) -> Call {
    let url = arena.url();
    let args = ["join", &url, "--seat", seat, "--name", name];
    let pace: &[&str] = if more.contains(&"--every") { &[] } else { &["--every", "0.05"] };
    lab.debate(&[&args, pace, more].concat())
}

/// Runs two clients to the end. The first joins as the supporting side.
fn both(lab: &Lab, arena: &Arena, seats: [&str; 2], more: &[&str]) -> [Done; 2] {
    let pro = join(lab, arena, "pro", seats[0], more).start();
    until("the first has joined", || arena.keys().len() == 1);
    let con = join(lab, arena, "con", seats[1], more).start();
    [pro.wait(), con.wait()]
}

/// Checks that no debate key is printed or left on disk.
#[track_caller]
fn discreet(lab: &Lab, arena: &Arena, done: &[Done]) {
    for key in arena.keys() {
        for done in done {
            assert!(!done.out.contains(&key) && !done.err.contains(&key), "{done:#?}");
        }
        assert!(!stands_in(lab.home(), &key), "a key outlives its debate");
    }
}

/// Checks that every turn was taken once, by the right side.
#[track_caller]
fn whole(arena: &Arena, rounds: usize) {
    let said = arena.said();
    assert_eq!(said.len(), rounds * 2, "{said:#?}");
    for (nth, (speaker, _)) in said.iter().enumerate() {
        assert_eq!(speaker, ["pro_abc123", "con_abc123"][nth % 2], "{said:#?}");
    }
}

#[test]
fn two_guests_argue_a_whole_debate() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules::default()));
    let seats = [script(&lab, "pro"), script(&lab, "con")];
    let done = both(&lab, &arena, [&seats[0], &seats[1]], &["--json"]);
    whole(&arena, 3);
    for (nth, (_, content)) in arena.said().iter().enumerate() {
        let who = ["pro", "con"][nth % 2];
        assert_eq!(content, words(who, nth as u8 / 2 + 1).trim());
    }
    for (done, outcome, side) in [(&done[0], "won", "supporting"), (&done[1], "lost", "opposing")] {
        assert_eq!(done.code, Some(0), "{done:#?}");
        let result = done.json();
        fits("join", &result);
        assert_eq!((&result["outcome"], &result["side"]), (&outcome.into(), &side.into()));
        assert_eq!((&result["said"], &result["missed"]), (&3.into(), &0.into()));
        assert_eq!(result["scores"], json!({"supporting": 85, "opposing": 72}));
        assert_eq!(result["speeches"].as_array().unwrap().len(), 6);
        for told in ["Joined debate abc123", "人工智能", "Our side", "[Round 3] Our turn", "Spoken"]
        {
            done.warns(told);
        }
    }
    discreet(&lab, &arena, &done);
    assert!(arena.requests().iter().all(|request| request.query.is_empty()));
    let uuids: Vec<Value> = (arena.requests().iter())
        .filter(|it| it.path.ends_with("join"))
        .map(|it| it.body["bot_uuid"].clone())
        .collect();
    assert!(uuids.len() == 2 && uuids[0] != uuids[1], "{uuids:?}");
}

#[test]
fn the_result_is_told_to_people() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules { rounds: 1, ..Rules::default() }));
    let seats = [script(&lab, "pro"), script(&lab, "con")];
    let [pro, con] = both(&lab, &arena, [&seats[0], &seats[1]], &[]);
    pro.says(&["人工智能", "We won.", "Supporting 85, opposing 72.", "The first was clearer."]);
    con.says(&["pro_abc123 won."]);
}

#[test]
fn a_platform_that_says_no_more_than_it_must_is_enough() {
    let rules = Rules { bare: true, rounds: 1, least: 1, ..Rules::default() };
    let (lab, arena) = (Lab::new(), Arena::new(rules));
    let seats = [saying(&lab, "pro", &"宇".repeat(5000)), saying(&lab, "con", "No.")];
    let done = both(&lab, &arena, [&seats[0], &seats[1]], &["--json"]);
    whole(&arena, 1);
    assert_eq!(arena.said()[0].1.chars().count(), 2000, "the usual limit holds");
    assert!(done.iter().all(|done| done.code == Some(5)), "nobody has ruled: {done:#?}");
    assert_eq!(done[0].json()["outcome"], "undecided");
    discreet(&lab, &arena, &done);
}

#[test]
fn polls_wait_only_where_the_platform_says_they_may() {
    let rules = Rules { long_poll: true, rounds: 1, ..Rules::default() };
    let (lab, arena) = (Lab::new(), Arena::new(rules));
    let seats = [script(&lab, "pro"), script(&lab, "con")];
    both(&lab, &arena, [&seats[0], &seats[1]], &[]);
    whole(&arena, 1);
    assert!(arena.requests().iter().any(|request| request.query == "wait=25"));
}

#[test]
fn a_platform_that_goes_away_for_a_while_is_waited_for() {
    let (lab, mut arena) = (Lab::new(), Arena::new(Rules::default()));
    let (pro, con) = (script(&lab, "pro"), script(&lab, "con"));
    let heard = lab.outside("heard.txt");
    let mut command = join(&lab, &arena, "pro", &pro, &["--every", "0.2"]).command();
    let mut first = command.stderr(fs::File::create(&heard).unwrap()).spawn().unwrap();
    until("the first has joined", || arena.keys().len() == 1);
    let second = join(&lab, &arena, "con", &con, &["--every", "0.2"]).start();
    until("somebody has spoken", || !arena.log().is_empty());
    arena.stop();
    until("the first has noticed", || {
        fs::read_to_string(&heard).unwrap().contains("The platform:")
    });
    arena.start();
    assert!(first.wait().unwrap().success());
    let second = second.wait();
    assert_eq!(second.code, Some(0), "{second:#?}");
    whole(&arena, 3);
}

#[test]
fn a_guest_that_was_killed_goes_on_and_says_nothing_twice() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules::default()));
    let slow = json!({"turns": [{"text": words("pro", 0), "delay_ms": 600_000}]});
    let slow = written(&lab, "slow", &slow);
    let first = join(&lab, &arena, "pro", &slow, &[]).start();
    until("the first has joined", || arena.keys().len() == 1);
    let con = script(&lab, "con");
    let second = join(&lab, &arena, "con", &con, &[]).start();
    let folder = lab.home().join("guest");
    until("the first thinks", || remembers(&folder, "\"since\""));
    private(&folder);
    drop(first);
    let pro = script(&lab, "pro");
    // Without `--debate`, the error names the debate in which the user already has a seat.
    join(&lab, &arena, "pro", &pro, &[]).fails_with(1).warns("--debate abc123 --seat script:");
    let again = join(&lab, &arena, "pro", &pro, &["--debate", DEBATE]).start();
    let done = [again.wait(), second.wait()];
    assert!(done.iter().all(|done| done.code == Some(0)), "{done:#?}");
    done[0].warns("Back in debate abc123 as pro_abc123");
    whole(&arena, 3);
    discreet(&lab, &arena, &done);
}

/// Whether a file in `folder` contains these words. Files may be replaced at the same time.
fn remembers(folder: &Path, words: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.any(|text| text.contains(words))
}

/// Checks that only the owner can read the stored credentials.
fn private(folder: &Path) {
    #[cfg(unix)]
    for entry in fs::read_dir(folder).unwrap().flatten() {
        use std::os::unix::fs::PermissionsExt;
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
    }
    assert!(folder.is_dir());
}

/// Faults for every third request: HTTP errors, 429, malformed and oversized responses.
fn moody() -> Fault {
    Arc::new(|request: &Request, nth: usize| -> Option<Raw> {
        let flood = || "x".repeat(5 * 1024 * 1024);
        let soon = || vec![("Retry-After", "0".to_owned())];
        let garbage = if request.path.ends_with("poll") { "{\"state\": 7}" } else { "[]" };
        nth.is_multiple_of(3).then(|| match nth / 3 % 5 {
            0 if nth < 20 => (500, vec![], "<html>oops</html>".into()),
            1 => (429, soon(), json!({"error_code": "slow_down"}).to_string()),
            2 => (503, soon(), String::new()),
            3 if request.path.ends_with("poll") => (200, vec![], garbage.into()),
            3 => (502, soon(), flood()),
            _ => (500, soon(), "\u{0}\u{1}".into()),
        })
    })
}

#[test]
fn a_moody_platform_is_asked_again() {
    let rules = Rules { rounds: 2, fault: Some(moody()), ..Rules::default() };
    let (lab, arena) = (Lab::new(), Arena::new(rules));
    let seats = [script(&lab, "pro"), script(&lab, "con")];
    let pro = join(&lab, &arena, "pro", &seats[0], &["--every", "0.1"]).start();
    until("the first has joined", || arena.keys().len() == 1);
    let con = join(&lab, &arena, "con", &seats[1], &["--every", "0.1"]).start();
    let done = [pro.wait(), con.wait()];
    assert!(done.iter().all(|done| done.code == Some(0)), "{done:#?}");
    whole(&arena, 2);
    discreet(&lab, &arena, &done);
}

#[test]
fn a_speech_that_is_too_long_is_asked_for_once_more_and_then_cut() {
    let rules = Rules { rounds: 1, most: 300, ..Rules::default() };
    let (lab, arena) = (Lab::new(), Arena::new(rules));
    let long = format!("```markdown\n{}\n```", "论据充分，逻辑严密。".repeat(60));
    let shorter = json!({"turns": [{"attempt": 1, "text": long}, {"text": words("con", 1)}]});
    let seats = [saying(&lab, "pro", &long), written(&lab, "con", &shorter)];
    let [pro, con] = both(&lab, &arena, [&seats[0], &seats[1]], &[]);
    whole(&arena, 1);
    let said = arena.said();
    let length = said[0].1.chars().count();
    assert!(said[0].1.ends_with('。') && length <= 300 && length > 250, "{said:?}");
    assert_eq!(said[1].1, words("con", 1).trim());
    pro.warns("Asked once more: it has 600 characters, and at most 300 are taken");
    pro.warns("its end had to be left off");
    con.warns("Asked once more");
}

#[test]
fn a_platform_that_counts_bytes_gets_fewer_characters() {
    let rules = Rules { rounds: 1, most: 300, counts_bytes: true, ..Rules::default() };
    let (lab, arena) = (Lab::new(), Arena::new(rules));
    let long = "论据充分，逻辑严密。".repeat(29);
    let seats = [saying(&lab, "pro", &long), saying(&lab, "con", &long)];
    let done = both(&lab, &arena, [&seats[0], &seats[1]], &[]);
    assert!(done.iter().all(|done| done.code == Some(0)), "{done:#?}");
    whole(&arena, 1);
}

#[test]
fn a_seat_with_nothing_to_say_misses_its_turn_and_says_so() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules::default()));
    let seat = saying(&lab, "pro", "Too short.");
    let pro = join(&lab, &arena, "pro", &seat, &[]).start();
    until("the first has joined", || arena.keys().len() == 1);
    let con = script(&lab, "con");
    let con = join(&lab, &arena, "con", &con, &[]).start();
    let polls = |name: &str| {
        let from = |it: &Request| it.headers.get("x-bot-identifier").is_some_and(|it| it == name);
        arena.requests().iter().filter(|it| from(it)).count()
    };
    until("both go on looking", || polls("pro_abc123") > 20 && polls("con_abc123") > 20);
    for running in [&pro, &con] {
        running.signal("INT");
    }
    let (pro, con) = (pro.wait(), con.wait());
    pro.warns("[Round 1] No speech of ours: it has 10 characters, and at least 50 are taken.");
    assert_eq!((pro.code, con.code), (Some(2), Some(2)));
    con.warns("Go on with: debate join http://127.0.0.1:");
    con.warns("--debate abc123 --seat script:");
    assert!(arena.said().is_empty());
}

#[test]
fn no_secret_of_the_users_leaves_in_a_speech() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules { rounds: 1, ..Rules::default() }));
    let secret: String = ["9fK2", "mQ8z", "Lw4x", "Tn7c", "Vb3h"].concat();
    let telling = saying(&lab, "pro", &format!("{} My token is {secret}.", words("pro", 1)));
    let pro = join(&lab, &arena, "pro", &telling, &[]).env("MY_ACCESS_TOKEN", &secret).start();
    until("the first has joined", || arena.keys().len() == 1);
    let con = script(&lab, "con");
    join(&lab, &arena, "con", &con, &[]).success();
    pro.wait();
    let said = &arena.said()[0].1;
    assert!(!said.contains(&secret) && said.contains("[REDACTED:"), "{said}");
}

#[test]
fn a_debate_nobody_knows_is_told_with_a_hint() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules::default()));
    let seat = script(&lab, "pro");
    let done = join(&lab, &arena, "pro", &seat, &["--debate", "other"]).fails_with(1);
    done.warns("there is no such debate: 404 DEBATE_NOT_FOUND");
    done.warns("leave `--debate` out");
}

#[test]
fn a_full_debate_and_none_at_all_are_told_apart() {
    let (lab, arena) = (Lab::new(), Arena::new(Rules { rounds: 1, ..Rules::default() }));
    let seats = [script(&lab, "pro"), script(&lab, "con")];
    both(&lab, &arena, [&seats[0], &seats[1]], &[]);
    let third = join(&lab, &arena, "third", &seats[0], &[]).fails_with(1);
    third.warns("there is no debate to join");
    third.warns("--wait-for-debate");
    let third = join(&lab, &arena, "third", &seats[0], &["--wait-for-debate", "1s"]).fails_with(1);
    third.warns("No debate to join yet");
    let third = join(&lab, &arena, "third", &seats[0], &["--debate", DEBATE]).fails_with(1);
    third.warns("that debate has all the speakers it needs: 409 debate_full");
}

#[test]
fn a_key_the_platform_repeats_is_not_repeated_to_anybody() {
    let fault: Fault = Arc::new(|request: &Request, _| {
        let key = request.headers.get("x-debate-key")?;
        let says = format!("`{key}` is no key");
        let body = json!({"error_code": "INVALID_CREDENTIALS", "message": says});
        Some((401, vec![], body.to_string()))
    });
    let arena = Arena::new(Rules { fault: Some(fault), ..Rules::default() });
    let lab = Lab::new();
    let seat = script(&lab, "pro");
    let done = join(&lab, &arena, "pro", &seat, &[]).fails_with(1);
    done.warns("the platform does not know this seat (any more): 401 INVALID_CREDENTIALS (`[key]`");
    discreet(&lab, &arena, &[done]);
}

#[test]
fn nobody_is_followed_elsewhere_with_a_key() {
    let fault: Fault = Arc::new(|request: &Request, _| {
        request.headers.get("x-debate-key")?;
        Some((307, vec![("Location", "http://127.0.0.1:9/evil".into())], String::new()))
    });
    let arena = Arena::new(Rules { fault: Some(fault), ..Rules::default() });
    let lab = Lab::new();
    let seat = script(&lab, "pro");
    let done = join(&lab, &arena, "pro", &seat, &[]).fails_with(1);
    done.warns("it points to http://127.0.0.1:9/evil");
}

#[test]
fn what_is_typed_wrongly_is_not_done() {
    let lab = Lab::new();
    let seat = script(&lab, "pro");
    let table: &[(&[&str], &str)] = &[
        (&["ftp://example.org"], "http or https, not by `ftp`"),
        (&["http://me:pw@localhost"], "no name, password"),
        (&["http://localhost?x=1"], "no name, password"),
        (&["http://"], "is no address"),
        (&["http://localhost:1", "--debate", ".."], "that is no id of a debate"),
        (&["http://localhost:1", "--name", ""], "a name has 1 to 64 characters"),
        (&["http://localhost:1", "--every", "90"], "at most 30"),
        (&["http://localhost:1", "--wait-for-debate", "soon"], "write it as"),
    ];
    for (args, says) in table {
        let done = lab.debate(&[&["join", "--seat", &seat], *args].concat()).fails_with(2);
        done.warns(says);
    }
    for seat in ["human", "host", "bot", "demo"] {
        let done = lab.debate(&["join", "http://localhost:1", "--seat", seat]).fails_with(2);
        done.warns("a guest is a model or a script");
    }
    lab.debate(&["join", "http://localhost:1", "--seat", "claude"]).fails_with(4);
    let silent = ["join", "http://localhost:1", "--seat", &seat, "--patience", "1s"];
    lab.debate(&silent).fails_with(1).warns("the platform cannot be reached");
}
