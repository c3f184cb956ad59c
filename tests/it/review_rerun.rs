//! Repeated reviews of one change: concurrent runs, resume after an interrupt, runs after further
//! pushes, and reviews of other changes in between.
use crate::review_fixture::{
    ADDED_LINE, AFTER, OTHER_ADDED_LINE, REMOVED_LINE, ReviewFixture, ReviewScript, claim,
};
use crate::test_env::wait_until;
use serde_json::{Value, json};
use std::fs;

/// Makes the challenger's turn take 10 minutes. Returns the original script, to restore it.
fn slow_down_challenger(bench: &ReviewFixture) -> Vec<u8> {
    let path = bench.env().temp_path("contra.json");
    let quick = fs::read(&path).unwrap();
    let mut script: Value = serde_json::from_slice(&quick).unwrap();
    script["turns"][1]["delay_ms"] = json!(600_000);
    fs::write(&path, script.to_string()).unwrap();
    quick
}

#[test]
fn interrupted_review_is_resumed_by_the_same_command() {
    for signal in ["INT", "TERM"] {
        let bench = ReviewFixture::with_change();
        let quick = slow_down_challenger(&bench);
        let running = bench.review_command(&["main..HEAD", "--fail-on", "block"]).spawn();
        let id = bench.env().wait_for_challenger();
        running.send_signal(signal);
        let done = running.wait();
        assert_eq!(done.exit_code, Some(2), "{signal}: {done:#?}");
        assert!(
            done.stdout.contains("not finished") && done.stdout.contains("cut short"),
            "{}",
            done.stdout
        );
        done.assert_stderr_contains("The same command goes on with it");
        fs::write(bench.env().temp_path("contra.json"), quick).unwrap();
        let again = bench.review_command(&["main..HEAD", "--fail-on", "block"]).expect_exit_code(3);
        again.assert_stderr_contains(&format!("Going on with {id}"));
        assert_eq!(bench.debate_count(), 1);
    }
}

#[test]
fn concurrent_review_waits_for_the_first_one() {
    let bench = ReviewFixture::with_change();
    slow_down_challenger(&bench);
    let first = bench.review_command(&["main..HEAD"]).spawn();
    let id = bench.env().wait_for_challenger();
    // With a time limit too short to wait, the run ends with a clear message and spends nothing.
    let late = bench.review_command(&["main..HEAD", "--time-limit", "1s"]).expect_success();
    late.assert_stderr_contains(&format!("as {id}: waiting"));
    late.assert_stderr_contains("another process was arguing the same");
    bench.review_command(&["main..HEAD", "--time-limit", "1s", "--strict"]).expect_exit_code(5);
    assert_eq!(bench.debate_count(), 1);
    first.send_signal("TERM");
    drop(first.wait());
}

#[test]
fn changes_on_other_branches_share_no_findings() {
    let bench = ReviewFixture::with_change();
    let first = bench.review_to_json(&["main..HEAD"]);
    assert_eq!(first["findings"].as_array().unwrap().len(), 1);
    let other = bench.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    bench.git(&["switch", "--quiet", "--create", "other", "main"]);
    bench.write_file("src/other.rs", "pub fn other() -> u32 {\n    4711\n}\n");
    bench.commit("Another change");
    bench.set_script(&ReviewScript::citing("src/other.rs:2 \"4711\""));
    for args in [&["main..HEAD"][..], &["--commit", "HEAD"], &["main..other", "--fresh"]] {
        let review = bench.review_to_json(args);
        assert_eq!(review["earlier"], json!([]), "{args:?}: {review:#}");
    }
    // The first change again, from another branch: the stored review is reused.
    let range = format!("main..{other}");
    bench.review_command(&[&range]).expect_success().assert_stderr_contains("Reviewed already");
}

#[test]
fn findings_stay_open_until_fixed_and_reset_reuses_reviews() {
    let bench = ReviewFixture::with_change();
    bench.set_script(&ReviewScript::with_claims(vec![
        claim("C1", "It is never let go of.", "high", ADDED_LINE),
        claim("C2", "The lock is held long.", "medium", OTHER_ADDED_LINE),
        claim("C3", "The check is gone.", "high", REMOVED_LINE),
    ]));
    bench.review_to_json(&["main..HEAD"]);
    let first = bench.git(&["rev-parse", "HEAD"]);
    let known = |review: &Value| -> Vec<(String, String)> {
        let all = review["earlier"].as_array().unwrap().iter();
        all.map(|it| (it["claim"].to_string(), it["state"].to_string())).collect()
    };
    // Two pushes after which the challenger raises none of the findings again.
    bench.set_script(&ReviewScript::with_claims(vec![]));
    for nth in 1..=2 {
        bench.write_file("src/lib.rs", format!("{AFTER}// {nth}\n"));
        bench.commit("Again");
        let review = bench.review_to_json(&["main..HEAD"]);
        let states = known(&review);
        assert_eq!(states.len(), 3, "push {nth}: {review:#}");
        assert!(states.iter().all(|(_, state)| state.contains("open")), "push {nth}: {states:?}");
    }
    // A failed review keeps the known findings.
    bench.env().write_script(&crate::test_env::SeatScript::empty());
    bench.write_file("src/lib.rs", format!("{AFTER}// 3\n"));
    bench.commit("Again");
    assert_ne!(bench.review_command(&["main..HEAD"]).output().exit_code, Some(0));
    bench.set_script(&ReviewScript::with_claims(vec![]));
    bench.write_file(
        "src/lib.rs",
        AFTER.replace("    let mut kept = KEPT.lock();\n", "    checked(key);\n"),
    );
    bench.commit("As was said");
    let review = bench.review_to_json(&["main..HEAD"]);
    let fixed = known(&review).into_iter().filter(|(_, state)| state.contains("fixed"));
    let fixed: Vec<String> = fixed.map(|(claim, _)| claim).collect();
    assert_eq!(fixed.len(), 2, "{review:#}");
    assert!(!fixed.iter().any(|claim| claim.contains("let go of")), "{fixed:?}");
    let before = bench.debate_count();
    bench.git(&["reset", "--quiet", "--hard", &first]);
    bench
        .review_command(&["main..HEAD"])
        .expect_success()
        .assert_stderr_contains("Reviewed already");
    assert_eq!(bench.debate_count(), before);
}

#[test]
fn odd_file_names_and_characters_can_be_cited() {
    let bench = ReviewFixture::with_change();
    let names = [
        "src/with blank.rs",
        "src/a,b.rs",
        "src/größe 中.rs",
        "src/it's.rs",
        "runner",
        "src/back\\slash.rs",
    ];
    for name in names {
        bench.write_file(name, "pub fn odd_one() -> u32 {\n    \"out\u{200b}s\u{7}ide\"\n}\n");
    }
    bench.commit("Odd names");
    // The quote as displayed, as stored, and with the escapes that the brief shows.
    for words in ["outside", "out\u{200b}s\u{7}ide", "out\\u{200b}s\\u{7}ide"] {
        let cited = (1..).zip(names).map(|(nth, name)| {
            let entry = format!("{name}:2 \"{words}\"");
            claim(&format!("C{nth}"), &format!("Number {nth}."), "high", &entry)
        });
        bench.set_script(&ReviewScript::with_claims(cited.collect()));
        let review = bench.review_to_json(&["main..HEAD", "--fresh", "--max-findings", "9"]);
        let found = review["findings"].as_array().unwrap();
        let files: Vec<&str> =
            found.iter().map(|it| it["place"]["file"].as_str().unwrap()).collect();
        assert_eq!(files, names, "{words}: {review:#}");
    }
}

#[test]
fn simultaneous_reviews_of_one_change_open_one_debate() {
    let bench = ReviewFixture::with_change();
    let all: Vec<_> = (0..4).map(|_| bench.review_command(&["main..HEAD"]).spawn()).collect();
    for running in all {
        let done = running.wait();
        assert_eq!(done.exit_code, Some(0), "{done:#?}");
        assert!(done.stdout.contains("change the design first"), "{}", done.stdout);
    }
    assert_eq!(bench.debate_count(), 1);
}

/// Output files are excluded from the reviewed change, in this run and in the next.
#[test]
fn output_files_in_the_repository_are_not_reviewed() {
    let bench = ReviewFixture::with_change();
    let root = bench.env().repo_root();
    let branch = ["--output", "json=out.json", "--output", "md=sub dir/out.md"];
    fs::create_dir(root.join("sub dir")).unwrap();
    for nth in 1..=2 {
        let done = bench.review_command(&branch).expect_success();
        done.assert_stderr_contains("this branch against where it left `main`");
        let review: Value =
            serde_json::from_slice(&fs::read(root.join("out.json")).unwrap()).unwrap();
        assert_eq!(review["change"]["files"], 1, "run {nth}: {review:#}");
    }
    assert_eq!(bench.debate_count(), 1);
    let again = ["main..HEAD", "--earlier", "out.json", "--output", "json=out.json"];
    bench.review_command(&again).expect_success();
    let review: Value = serde_json::from_slice(&fs::read(root.join("out.json")).unwrap()).unwrap();
    assert_eq!(review["findings"][0]["known"], true, "{review:#}");
    bench.review_command(&["nowhere..HEAD", "--output", "json=out.json"]).expect_error(2);
    assert!(fs::read(root.join("out.json")).unwrap().len() > 100, "it is as it was");
}

/// Copies of a cited line in other files neither hide a finding nor mark it as fixed.
#[test]
fn copies_and_renames_do_not_fix_a_finding() {
    let bench = ReviewFixture::with_change();
    bench.review_command(&["main..HEAD", "--fail-on", "block"]).expect_exit_code(3);
    for nth in 0..6 {
        bench.write_file(format!("src/copy{nth}.rs"), AFTER);
    }
    bench.commit("Copies");
    let review = bench.review_to_json(&["main..HEAD"]);
    assert_eq!(review["findings"][0]["known"], true, "{review:#}");
    bench.review_command(&["main..HEAD", "--fail-on", "block"]).expect_exit_code(3);
    // Not raised again, but its evidence still exists: it stays open.
    bench.set_script(&ReviewScript::with_claims(vec![]));
    bench.write_file("src/copy9.rs", AFTER);
    bench.commit("One more");
    let review = bench.review_to_json(&["main..HEAD"]);
    assert_eq!(review["earlier"][0]["state"], "open", "{review:#}");
    // Renaming the file does not fix it either.
    bench.git(&["mv", "src/lib.rs", "src/core.rs"]);
    bench.commit("Another name");
    let review = bench.review_to_json(&["main..HEAD"]);
    assert_eq!(review["earlier"][0]["state"], "open", "{review:#}");
}

#[test]
fn archive_inside_the_reviewed_repository_is_refused() {
    let bench = ReviewFixture::with_change();
    let inside = bench.env().repo_root().join(".debate-home");
    let refused = bench.review_command(&["main..HEAD"]).data_dir(&inside).expect_error(2);
    refused.assert_stderr_contains("lies in the repository under review");
    wait_until("nothing was made there", || !inside.exists());
}
