//! Repeated reviews of one change: concurrent runs, resume after an interrupt, runs after further
//! pushes, and reviews of other changes in between.
use crate::command_queue::{test_app, test_workspace};
use crate::review_fixture::{
    ADDED_LINE, AFTER, OTHER_ADDED_LINE, REMOVED_LINE, ReviewFixture, ReviewScript, claim,
};
use crate::test_env::wait_until;
use debate_mcp::debate::Setup;
use debate_mcp::engine::{BaseTree, ChangeSet, DuplicatePolicy, PinnedTree};
use serde_json::{Value, json};
use std::fs;

/// Makes the challenger's turn take 10 minutes. Returns the original script, to restore it.
fn slow_down_challenger(fixture: &ReviewFixture) -> Vec<u8> {
    let path = fixture.env().temp_path("contra.json");
    let original_script = fs::read(&path).unwrap();
    let mut script: Value = serde_json::from_slice(&original_script).unwrap();
    script["turns"][1]["delay_ms"] = json!(600_000);
    fs::write(&path, script.to_string()).unwrap();
    original_script
}

#[test]
fn interrupted_review_is_resumed_by_the_same_command() {
    for signal in ["INT", "TERM"] {
        let fixture = ReviewFixture::with_change();
        let original_script = slow_down_challenger(&fixture);
        let process = fixture.review_command(&["main..HEAD", "--fail-on", "block"]).spawn();
        let id = fixture.env().wait_for_challenger();
        process.send_signal(signal);
        let output = process.wait();
        assert_eq!(output.exit_code, Some(2), "{signal}: {output:#?}");
        assert!(
            output.stdout.contains("not finished") && output.stdout.contains("cut short"),
            "{}",
            output.stdout
        );
        output.assert_stderr_contains("The same command goes on with it");
        fs::write(fixture.env().temp_path("contra.json"), original_script).unwrap();
        let second_run =
            fixture.review_command(&["main..HEAD", "--fail-on", "block"]).expect_exit_code(3);
        second_run.assert_stderr_contains(&format!("Going on with {id}"));
        assert_eq!(fixture.debate_count(), 1);
    }
}

#[test]
fn concurrent_review_waits_for_the_first_one() {
    let fixture = ReviewFixture::with_change();
    slow_down_challenger(&fixture);
    let first = fixture.review_command(&["main..HEAD"]).spawn();
    let id = fixture.env().wait_for_challenger();
    // With a time limit too short to wait, the run ends with a clear message and spends nothing.
    let second = fixture.review_command(&["main..HEAD", "--time-limit", "1s"]).expect_success();
    second.assert_stderr_contains(&format!("as {id}: waiting"));
    second.assert_stderr_contains("another process was arguing the same");
    fixture.review_command(&["main..HEAD", "--time-limit", "1s", "--strict"]).expect_exit_code(5);
    assert_eq!(fixture.debate_count(), 1);
    first.send_signal("TERM");
    drop(first.wait());
}

#[test]
fn changes_on_other_branches_share_no_findings() {
    let fixture = ReviewFixture::with_change();
    let first = fixture.review_to_json(&["main..HEAD"]);
    assert_eq!(first["findings"].as_array().unwrap().len(), 1);
    let first_branch = fixture.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    fixture.git(&["switch", "--quiet", "--create", "other", "main"]);
    fixture.write_file("src/other.rs", "pub fn other() -> u32 {\n    4711\n}\n");
    fixture.commit("Another change");
    fixture.set_script(&ReviewScript::citing("src/other.rs:2 \"4711\""));
    for args in [&["main..HEAD"][..], &["--commit", "HEAD"], &["main..other", "--fresh"]] {
        let review = fixture.review_to_json(args);
        assert_eq!(review["earlier"], json!([]), "{args:?}: {review:#}");
    }
    // The first change again, from another branch: the stored review is reused.
    let range = format!("main..{first_branch}");
    fixture.review_command(&[&range]).expect_success().assert_stderr_contains("Reviewed already");
}

#[test]
fn findings_stay_open_until_fixed_and_reset_reuses_reviews() {
    let fixture = ReviewFixture::with_change();
    fixture.set_script(&ReviewScript::with_claims(vec![
        claim("C1", "It is never let go of.", "high", ADDED_LINE),
        claim("C2", "The lock is held long.", "medium", OTHER_ADDED_LINE),
        claim("C3", "The check is gone.", "high", REMOVED_LINE),
    ]));
    fixture.review_to_json(&["main..HEAD"]);
    let first_commit = fixture.git(&["rev-parse", "HEAD"]);
    let earlier_states = |review: &Value| -> Vec<(String, String)> {
        let earlier = review["earlier"].as_array().unwrap().iter();
        earlier.map(|it| (it["claim"].to_string(), it["state"].to_string())).collect()
    };
    // Two pushes after which the challenger raises none of the findings again.
    fixture.set_script(&ReviewScript::with_claims(vec![]));
    for number in 1..=2 {
        fixture.write_file("src/lib.rs", format!("{AFTER}// {number}\n"));
        fixture.commit("Again");
        let review = fixture.review_to_json(&["main..HEAD"]);
        let states = earlier_states(&review);
        assert_eq!(states.len(), 3, "push {number}: {review:#}");
        assert!(
            states.iter().all(|(_, state)| state.contains("open")),
            "push {number}: {states:?}"
        );
    }
    // A failed review keeps the known findings.
    fixture.env().write_script(&crate::test_env::SeatScript::empty());
    fixture.write_file("src/lib.rs", format!("{AFTER}// 3\n"));
    fixture.commit("Again");
    assert_ne!(fixture.review_command(&["main..HEAD"]).output().exit_code, Some(0));
    fixture.set_script(&ReviewScript::with_claims(vec![]));
    fixture.write_file(
        "src/lib.rs",
        AFTER.replace("    let mut kept = KEPT.lock();\n", "    checked(key);\n"),
    );
    fixture.commit("As was said");
    let review = fixture.review_to_json(&["main..HEAD"]);
    let fixed = earlier_states(&review).into_iter().filter(|(_, state)| state.contains("fixed"));
    let fixed: Vec<String> = fixed.map(|(claim, _)| claim).collect();
    assert_eq!(fixed.len(), 2, "{review:#}");
    assert!(!fixed.iter().any(|claim| claim.contains("let go of")), "{fixed:?}");
    let count_before = fixture.debate_count();
    fixture.git(&["reset", "--quiet", "--hard", &first_commit]);
    fixture
        .review_command(&["main..HEAD"])
        .expect_success()
        .assert_stderr_contains("Reviewed already");
    assert_eq!(fixture.debate_count(), count_before);
}

#[test]
fn odd_file_names_and_characters_can_be_cited() {
    let fixture = ReviewFixture::with_change();
    let names = [
        "src/with blank.rs",
        "src/a,b.rs",
        "src/größe 中.rs",
        "src/it's.rs",
        "runner",
        "src/back\\slash.rs",
    ];
    for name in names {
        fixture.write_file(name, "pub fn odd_one() -> u32 {\n    \"out\u{200b}s\u{7}ide\"\n}\n");
    }
    fixture.commit("Odd names");
    // The quote as displayed, as stored, and with the escapes that the brief shows.
    for quote in ["outside", "out\u{200b}s\u{7}ide", "out\\u{200b}s\\u{7}ide"] {
        let claims = (1..).zip(names).map(|(number, name)| {
            let citation = format!("{name}:2 \"{quote}\"");
            claim(&format!("C{number}"), &format!("Number {number}."), "high", &citation)
        });
        fixture.set_script(&ReviewScript::with_claims(claims.collect()));
        let review = fixture.review_to_json(&["main..HEAD", "--fresh", "--max-findings", "9"]);
        let findings = review["findings"].as_array().unwrap();
        let files: Vec<&str> =
            findings.iter().map(|it| it["place"]["file"].as_str().unwrap()).collect();
        assert_eq!(files, names, "{quote}: {review:#}");
    }
}

#[test]
fn simultaneous_reviews_of_one_change_open_one_debate() {
    let fixture = ReviewFixture::with_change();
    let processes: Vec<_> =
        (0..4).map(|_| fixture.review_command(&["main..HEAD"]).spawn()).collect();
    for process in processes {
        let output = process.wait();
        assert_eq!(output.exit_code, Some(0), "{output:#?}");
        assert!(output.stdout.contains("change the design first"), "{}", output.stdout);
    }
    assert_eq!(fixture.debate_count(), 1);
}

/// Output files are excluded from the reviewed change, in this run and in the next.
#[test]
fn output_files_in_the_repository_are_not_reviewed() {
    let fixture = ReviewFixture::with_change();
    let root = fixture.env().repo_root();
    let output_args = ["--output", "json=out.json", "--output", "md=sub dir/out.md"];
    fs::create_dir(root.join("sub dir")).unwrap();
    for number in 1..=2 {
        let output = fixture.review_command(&output_args).expect_success();
        output.assert_stderr_contains("this branch against where it left `main`");
        let review: Value =
            serde_json::from_slice(&fs::read(root.join("out.json")).unwrap()).unwrap();
        assert_eq!(review["change"]["files"], 1, "run {number}: {review:#}");
    }
    assert_eq!(fixture.debate_count(), 1);
    let rerun_args = ["main..HEAD", "--earlier", "out.json", "--output", "json=out.json"];
    fixture.review_command(&rerun_args).expect_success();
    let review: Value = serde_json::from_slice(&fs::read(root.join("out.json")).unwrap()).unwrap();
    assert_eq!(review["findings"][0]["known"], true, "{review:#}");
    fixture.review_command(&["nowhere..HEAD", "--output", "json=out.json"]).expect_error(2);
    assert!(
        fs::read(root.join("out.json")).unwrap().len() > 100,
        "the old output file is unchanged"
    );
}

/// Copies of a cited line in other files neither hide a finding nor mark it as fixed.
#[test]
fn copies_and_renames_do_not_fix_a_finding() {
    let fixture = ReviewFixture::with_change();
    fixture.review_command(&["main..HEAD", "--fail-on", "block"]).expect_exit_code(3);
    for number in 0..6 {
        fixture.write_file(format!("src/copy{number}.rs"), AFTER);
    }
    fixture.commit("Copies");
    let review = fixture.review_to_json(&["main..HEAD"]);
    assert_eq!(review["findings"][0]["known"], true, "{review:#}");
    fixture.review_command(&["main..HEAD", "--fail-on", "block"]).expect_exit_code(3);
    // Not raised again, but its evidence still exists: it stays open.
    fixture.set_script(&ReviewScript::with_claims(vec![]));
    fixture.write_file("src/copy9.rs", AFTER);
    fixture.commit("One more");
    let review = fixture.review_to_json(&["main..HEAD"]);
    assert_eq!(review["earlier"][0]["state"], "open", "{review:#}");
    // Renaming the file does not fix it either.
    fixture.git(&["mv", "src/lib.rs", "src/core.rs"]);
    fixture.commit("Another name");
    let review = fixture.review_to_json(&["main..HEAD"]);
    assert_eq!(review["earlier"][0]["state"], "open", "{review:#}");
}

#[test]
fn archive_inside_the_reviewed_repository_is_refused() {
    let fixture = ReviewFixture::with_change();
    let data_dir = fixture.env().repo_root().join(".debate-home");
    let output = fixture.review_command(&["main..HEAD"]).data_dir(&data_dir).expect_error(2);
    output.assert_stderr_contains("lies in the repository under review");
    wait_until("the data directory does not exist", || !data_dir.exists());
}

/// The previous review is searched among the latest 20 of its branch.
#[tokio::test]
async fn older_reviews_are_not_searched_for_the_previous_one() {
    let fixture = ReviewFixture::with_change();
    fixture.review_to_json(&["main..HEAD"]);
    let (app, workspace) = (test_app(fixture.env()), test_workspace(fixture.env()));
    let (stored, _, _) = app.read(&fixture.env().latest_debate_id()).await.unwrap();
    let subject = stored.setup.proposed.as_ref().unwrap().subject.clone();
    let tree = "0".repeat(40);
    let new_version = ChangeSet {
        pinned: PinnedTree {
            tree: tree.clone(),
            commit: None,
            dirty: false,
            left_out: String::new(),
        },
        base_tree: BaseTree::default(),
        description: String::new(),
        old_tree: None,
        new_tree: tree,
        commits: (None, None),
        files: vec![],
        skip_reason: None,
        messages: vec![],
        branch: None,
        checked_out: true,
    };
    let open_review = async |number: usize| {
        let setup = Setup { id: format!("unfinished-{number}"), ..stored.setup.clone() };
        app.archive().events.create(&setup, &[], &workspace, DuplicatePolicy::Allow).await.unwrap();
    };
    let has_previous = async || {
        let found = app.find_previous_review(&workspace.root, &subject, &new_version);
        found.await.unwrap().is_some()
    };
    for number in 1..20 {
        open_review(number).await;
    }
    assert!(has_previous().await);
    open_review(20).await;
    assert!(!has_previous().await);
}
