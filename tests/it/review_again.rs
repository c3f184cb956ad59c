//! Repeated reviews of one change: concurrent runs, resume after an interrupt, runs after further
//! pushes, and reviews of other changes in between.
use crate::lab::until;
use crate::review_bench::{AFTER, ALSO, Bench, Said, TAKEN, THERE, claim};
use serde_json::{Value, json};
use std::fs;

/// Makes the challenger's turn take 10 minutes. Returns the original script, to restore it.
fn slow(bench: &Bench) -> Vec<u8> {
    let path = bench.lab().outside("contra.json");
    let quick = fs::read(&path).unwrap();
    let mut script: Value = serde_json::from_slice(&quick).unwrap();
    script["turns"][1]["delay_ms"] = json!(600_000);
    fs::write(&path, script.to_string()).unwrap();
    quick
}

#[test]
fn whoever_stops_it_is_told_so_and_the_same_command_goes_on() {
    for signal in ["INT", "TERM"] {
        let bench = Bench::changed();
        let quick = slow(&bench);
        let running = bench.review(&["main..HEAD", "--fail-on", "block"]).start();
        let id = bench.lab().challenged();
        running.signal(signal);
        let done = running.wait();
        assert_eq!(done.code, Some(2), "{signal}: {done:#?}");
        assert!(
            done.out.contains("not finished") && done.out.contains("cut short"),
            "{}",
            done.out
        );
        done.warns("The same command goes on with it");
        fs::write(bench.lab().outside("contra.json"), quick).unwrap();
        let again = bench.review(&["main..HEAD", "--fail-on", "block"]).ends(3);
        again.warns(&format!("Going on with {id}"));
        assert_eq!(bench.debates(), 1);
    }
}

#[test]
fn whoever_comes_second_waits_for_the_first() {
    let bench = Bench::changed();
    slow(&bench);
    let first = bench.review(&["main..HEAD"]).start();
    let id = bench.lab().challenged();
    // With a time limit too short to wait, the run ends with a clear message and spends nothing.
    let late = bench.review(&["main..HEAD", "--time-limit", "1s"]).success();
    late.warns(&format!("as {id}: waiting"));
    late.warns("another process was arguing the same");
    bench.review(&["main..HEAD", "--time-limit", "1s", "--strict"]).ends(5);
    assert_eq!(bench.debates(), 1);
    first.signal("TERM");
    drop(first.wait());
}

#[test]
fn changes_are_told_apart_by_what_they_were_compared_with() {
    let bench = Bench::changed();
    let first = bench.reviewed(&["main..HEAD"]);
    assert_eq!(first["findings"].as_array().unwrap().len(), 1);
    let other = bench.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    bench.git(&["switch", "--quiet", "--create", "other", "main"]);
    bench.put("src/other.rs", "pub fn other() -> u32 {\n    4711\n}\n");
    bench.commit("Another change");
    bench.says(&Said::on("src/other.rs:2 \"4711\""));
    for args in [&["main..HEAD"][..], &["--commit", "HEAD"], &["main..other", "--fresh"]] {
        let review = bench.reviewed(args);
        assert_eq!(review["earlier"], json!([]), "{args:?}: {review:#}");
    }
    // The first change again, from another branch: the stored review is reused.
    let range = format!("main..{other}");
    bench.review(&[&range]).success().warns("Reviewed already");
}

#[test]
fn what_is_open_stays_open_until_it_is_fixed_and_going_back_costs_nothing() {
    let bench = Bench::changed();
    bench.says(&Said::claims(vec![
        claim("C1", "It is never let go of.", "high", THERE),
        claim("C2", "The lock is held long.", "medium", ALSO),
        claim("C3", "The check is gone.", "high", TAKEN),
    ]));
    bench.reviewed(&["main..HEAD"]);
    let first = bench.git(&["rev-parse", "HEAD"]);
    let known = |review: &Value| -> Vec<(String, String)> {
        let all = review["earlier"].as_array().unwrap().iter();
        all.map(|it| (it["claim"].to_string(), it["state"].to_string())).collect()
    };
    // Two pushes after which the challenger raises none of the findings again.
    bench.says(&Said::claims(vec![]));
    for nth in 1..=2 {
        bench.put("src/lib.rs", format!("{AFTER}// {nth}\n"));
        bench.commit("Again");
        let review = bench.reviewed(&["main..HEAD"]);
        let states = known(&review);
        assert_eq!(states.len(), 3, "push {nth}: {review:#}");
        assert!(states.iter().all(|(_, state)| state.contains("open")), "push {nth}: {states:?}");
    }
    // A failed review keeps the known findings.
    bench.lab().write(&crate::lab::Script::empty());
    bench.put("src/lib.rs", format!("{AFTER}// 3\n"));
    bench.commit("Again");
    assert_ne!(bench.review(&["main..HEAD"]).done().code, Some(0));
    bench.says(&Said::claims(vec![]));
    bench.put(
        "src/lib.rs",
        AFTER.replace("    let mut kept = KEPT.lock();\n", "    checked(key);\n"),
    );
    bench.commit("As was said");
    let review = bench.reviewed(&["main..HEAD"]);
    let fixed = known(&review).into_iter().filter(|(_, state)| state.contains("fixed"));
    let fixed: Vec<String> = fixed.map(|(claim, _)| claim).collect();
    assert_eq!(fixed.len(), 2, "{review:#}");
    assert!(!fixed.iter().any(|claim| claim.contains("let go of")), "{fixed:?}");
    let before = bench.debates();
    bench.git(&["reset", "--quiet", "--hard", &first]);
    bench.review(&["main..HEAD"]).success().warns("Reviewed already");
    assert_eq!(bench.debates(), before);
}

#[test]
fn nothing_in_a_name_or_a_line_keeps_it_from_being_cited() {
    let bench = Bench::changed();
    let names = [
        "src/with blank.rs",
        "src/a,b.rs",
        "src/größe 中.rs",
        "src/it's.rs",
        "runner",
        "src/back\\slash.rs",
    ];
    for name in names {
        bench.put(name, "pub fn odd_one() -> u32 {\n    \"out\u{200b}s\u{7}ide\"\n}\n");
    }
    bench.commit("Odd names");
    // The quote as displayed, as stored, and with the escapes that the brief shows.
    for words in ["outside", "out\u{200b}s\u{7}ide", "out\\u{200b}s\\u{7}ide"] {
        let cited = (1..).zip(names).map(|(nth, name)| {
            let entry = format!("{name}:2 \"{words}\"");
            claim(&format!("C{nth}"), &format!("Number {nth}."), "high", &entry)
        });
        bench.says(&Said::claims(cited.collect()));
        let review = bench.reviewed(&["main..HEAD", "--fresh", "--max-findings", "9"]);
        let found = review["findings"].as_array().unwrap();
        let files: Vec<&str> =
            found.iter().map(|it| it["place"]["file"].as_str().unwrap()).collect();
        assert_eq!(files, names, "{words}: {review:#}");
    }
}

#[test]
fn simultaneous_reviews_of_one_change_open_one_debate() {
    let bench = Bench::changed();
    let all: Vec<_> = (0..4).map(|_| bench.review(&["main..HEAD"]).start()).collect();
    for running in all {
        let done = running.wait();
        assert_eq!(done.code, Some(0), "{done:#?}");
        assert!(done.out.contains("change the design first"), "{}", done.out);
    }
    assert_eq!(bench.debates(), 1);
}

/// Output files are excluded from the reviewed change, in this run and in the next.
#[test]
fn outputs_are_not_reviewed_and_nothing_is_written_over_before_it_is_read() {
    let bench = Bench::changed();
    let root = bench.lab().root();
    let branch = ["--output", "json=out.json", "--output", "md=sub dir/out.md"];
    fs::create_dir(root.join("sub dir")).unwrap();
    for nth in 1..=2 {
        let done = bench.review(&branch).success();
        done.warns("this branch against where it left `main`");
        let review: Value =
            serde_json::from_slice(&fs::read(root.join("out.json")).unwrap()).unwrap();
        assert_eq!(review["change"]["files"], 1, "run {nth}: {review:#}");
    }
    assert_eq!(bench.debates(), 1);
    let again = ["main..HEAD", "--earlier", "out.json", "--output", "json=out.json"];
    bench.review(&again).success();
    let review: Value = serde_json::from_slice(&fs::read(root.join("out.json")).unwrap()).unwrap();
    assert_eq!(review["findings"][0]["known"], true, "{review:#}");
    bench.review(&["nowhere..HEAD", "--output", "json=out.json"]).fails_with(2);
    assert!(fs::read(root.join("out.json")).unwrap().len() > 100, "it is as it was");
}

/// Copies of a cited line in other files neither hide a finding nor mark it as fixed.
#[test]
fn decoys_prove_nothing() {
    let bench = Bench::changed();
    bench.review(&["main..HEAD", "--fail-on", "block"]).ends(3);
    for nth in 0..6 {
        bench.put(format!("src/copy{nth}.rs"), AFTER);
    }
    bench.commit("Copies");
    let review = bench.reviewed(&["main..HEAD"]);
    assert_eq!(review["findings"][0]["known"], true, "{review:#}");
    bench.review(&["main..HEAD", "--fail-on", "block"]).ends(3);
    // Not raised again, but its evidence still exists: it stays open.
    bench.says(&Said::claims(vec![]));
    bench.put("src/copy9.rs", AFTER);
    bench.commit("One more");
    let review = bench.reviewed(&["main..HEAD"]);
    assert_eq!(review["earlier"][0]["state"], "open", "{review:#}");
    // Renaming the file does not fix it either.
    bench.git(&["mv", "src/lib.rs", "src/core.rs"]);
    bench.commit("Another name");
    let review = bench.reviewed(&["main..HEAD"]);
    assert_eq!(review["earlier"][0]["state"], "open", "{review:#}");
}

#[test]
fn an_archive_in_the_repository_under_review_is_refused() {
    let bench = Bench::changed();
    let inside = bench.lab().root().join(".debate-home");
    let refused = bench.review(&["main..HEAD"]).home(&inside).fails_with(2);
    refused.warns("lies in the repository under review");
    until("nothing was made there", || !inside.exists());
}
