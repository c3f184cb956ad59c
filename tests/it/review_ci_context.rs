//! Reviews in CI: detection of the change from the environment (GitHub event, GitLab variables),
//! forks without secrets, and where the results are written.
use crate::review_fixture::{ADDED_LINE, MISSING_LINE, ReviewFixture, ReviewScript};
use crate::test_env::DebateCommand;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Writes a GitHub pull request event whose head is in the repository `whose`.
fn write_github_event(bench: &ReviewFixture, whose: &str) -> String {
    let (base, head) = (bench.git(&["rev-parse", "main"]), bench.git(&["rev-parse", "feature"]));
    let event = json!({"number": 7, "pull_request": {"number": 7, "title": "Keep what was read",
        "body": "It is faster. <!-- xyzzy -->",
        "base": {"sha": base, "repo": {"full_name": "o/r"}},
        "head": {"sha": head, "repo": {"full_name": whose}}}});
    let path = bench.env().temp_path("event.json");
    fs::write(&path, event.to_string()).unwrap();
    path.display().to_string()
}

trait GithubCall {
    fn with_github_event(self, event: &str) -> DebateCommand;
}

impl GithubCall for DebateCommand {
    fn with_github_event(self, event: &str) -> DebateCommand {
        let call = self.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_PATH", event);
        call.env("GITHUB_EVENT_NAME", "pull_request")
    }
}

#[test]
fn github_event_selects_the_change() {
    let bench = ReviewFixture::with_change();
    let event = write_github_event(&bench, "o/r");
    let summary = bench.env().temp_path("summary.md");
    fs::write(&summary, "# Before\n").unwrap();
    bench.git(&["switch", "--quiet", "--detach", "main"]);
    let call = bench.review_command(&["--json"]).with_github_event(&event);
    let done = call.env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()).expect_success();
    let review = done.json();
    assert_eq!(review["title"], "Keep what was read");
    assert_eq!(review["change"]["head"], bench.git(&["rev-parse", "feature"]).as_str());
    assert!(bench.last_debate()["topic"].as_str().unwrap().starts_with("Should change #7 ("));
    let prompt = &bench.prompts()[0].1;
    assert!(prompt.contains("> It is faster.") && !prompt.contains("xyzzy"), "{prompt}");
    assert!(prompt.contains("(text that cannot be seen was taken out of this)"), "{prompt}");
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("# Before\n") && text.contains("## Design review: change"), "{text}");
    assert_grouped(&done.stderr);
    // A summary file that cannot be written is only a warning. Command-line options win.
    let call = bench
        .review_command(&["main..feature", "--pr-title", "Mine", "--json"])
        .with_github_event(&event);
    let done = call.env("GITHUB_STEP_SUMMARY", "/nowhere/summary.md").expect_success();
    done.assert_stderr_contains("No summary in `/nowhere/summary.md`");
    assert_eq!(done.json()["title"], "Mine");
}

#[track_caller]
fn assert_grouped(err: &str) {
    let marks: Vec<&str> = err.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(marks, ["::group::The debate", "::endgroup::"], "{err}");
}

/// The event file is untrusted input. An invalid one is ignored.
#[test]
fn invalid_github_event_is_ignored() {
    let bench = ReviewFixture::with_change();
    let path = bench.env().temp_path("event.json").display().to_string();
    let head = bench.git(&["rev-parse", "feature"]);
    for event in [
        json!({"pull_request": {"base": {"sha": "--output=/x"}, "head": {"sha": head}}})
            .to_string(),
        json!({"pull_request": {"base": {"sha": "main"}, "head": {"sha": "HEAD"}}}).to_string(),
        json!({"pull_request": "xyzzy"}).to_string(),
        "rubbish".into(),
        String::new(),
    ] {
        fs::write(&path, &event).unwrap();
        let review =
            bench.review_command(&["--json"]).with_github_event(&path).expect_success().json();
        let says = review["change"]["says"].as_str().unwrap();
        assert!(says.starts_with("this branch against where it left `main`"), "{event}: {says}");
    }
}

/// Workflows of forks have no secrets, so no provider is available. That is not an error.
#[test]
fn fork_without_secrets_is_skipped_others_fail() {
    let bench = ReviewFixture::with_change();
    let outputs = bench.output_args();
    let mut args = vec!["review"];
    args.extend(outputs.iter().map(String::as_str));
    args.extend(["--fail-on", "contested", "--strict"]);
    let from = write_github_event(&bench, "mallory/r");
    let done = bench.env().debate(&args).with_github_event(&from).expect_success();
    done.assert_stderr_contains("comes from a fork");
    let review = bench.output_json("json");
    assert!(review["skipped"].as_str().unwrap().contains("fork"), "{review:#}");
    assert_eq!((&review["decision"], bench.debate_count()), (&json!("none"), 0));
    assert_eq!(
        (bench.output_text("comment"), bench.output_text("annotations")),
        Default::default()
    );
    assert_eq!(bench.output_json("sarif")["runs"][0]["results"], json!([]));
    let own = write_github_event(&bench, "o/r");
    let done = bench.env().debate(&args).with_github_event(&own).output();
    assert_eq!(done.exit_code, Some(4), "{done:#?}");
    // With explicit seats the review runs anyway.
    let from = write_github_event(&bench, "mallory/r");
    let review = bench.review_command(&["--json"]).with_github_event(&from).expect_success().json();
    assert_eq!(review["decision"], "change");
}

/// `pull_request_target` with the head checked out runs untrusted code with secrets: warn.
#[test]
fn pull_request_target_with_head_checkout_warns() {
    let bench = ReviewFixture::with_change();
    let event = write_github_event(&bench, "mallory/r");
    for (branch, name, warned) in [
        ("feature", "pull_request_target", true),
        ("feature", "pull_request", false),
        ("main", "pull_request_target", false),
    ] {
        bench.git(&["switch", "--quiet", branch]);
        let call =
            bench.review_command(&[]).with_github_event(&event).env("GITHUB_EVENT_NAME", name);
        let done = call.expect_success();
        assert_eq!(done.stderr.contains("runs with your secrets"), warned, "{branch}, {name}");
    }
}

#[test]
fn gitlab_variables_select_the_change() {
    let bench = ReviewFixture::with_change();
    let (base, head) = (bench.git(&["rev-parse", "main"]), bench.git(&["rev-parse", "feature"]));
    bench.git(&["switch", "--quiet", "--detach", "main"]);
    let outputs = bench.output_args();
    let args: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let on_gitlab = |call: DebateCommand, from: &str| {
        let call = call.env("GITLAB_CI", "true").env("CI_MERGE_REQUEST_IID", "12");
        let call = call.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base).env("CI_COMMIT_SHA", &head);
        let call = call.env("CI_MERGE_REQUEST_TITLE", "Keep \u{1b}[2J it");
        let call = call.env("CI_MERGE_REQUEST_DESCRIPTION", "It is faster.");
        let call = call.env("CI_MERGE_REQUEST_PROJECT_ID", "1");
        call.env("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", from)
    };
    let done = on_gitlab(bench.review_command(&args), "1").output();
    assert_eq!(done.exit_code, Some(0), "{done:#?}");
    assert!(
        done.stderr.contains("section_start:") && done.stderr.contains("section_end:"),
        "{done:#?}"
    );
    assert!(!done.stdout.contains('\u{1b}'), "{done:#?}");
    assert_eq!(bench.output_json("gitlab")[0]["location"]["path"], "src/lib.rs");
    assert!(bench.last_debate()["topic"].as_str().unwrap().starts_with("Should change #12 ("));
    let nobody = on_gitlab(bench.env().debate(&["review"]), "2").expect_success();
    nobody.assert_stderr_contains("comes from a fork");
}

/// All outputs are validated before any provider is called.
#[test]
fn invalid_outputs_are_refused_before_the_debate() {
    let bench = ReviewFixture::with_change();
    fs::create_dir(bench.env().repo_root().join("folder")).unwrap();
    for (outputs, says, code) in [
        (&["md"][..], "there is no `=`", 2),
        (&["md="], "there is no file", 2),
        (&["xml=a"], "no such form `xml`", 2),
        (&["=a"], "no such form", 2),
        (&["md=-", "json=-"], "something else goes there already", 2),
        (&["md=a.out", "json=a.out"], "something else goes there already", 2),
        (&["md=nowhere/a.md"], "nowhere/a.md", 1),
        (&["md=folder"], "folder", 1),
    ] {
        let args: Vec<String> = outputs.iter().map(|it| format!("--output={it}")).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let done = bench.review_command(&[&["main..HEAD"], &args[..]].concat()).expect_error(code);
        done.assert_stderr_contains(says);
        assert!(code == 1 || done.stderr.contains("hint:"), "{done:#?}");
    }
    for bad in [
        &["--fail-on", "always"][..],
        &["--time-limit", "soon"],
        &["--time-limit", "0s"],
        &["--max-findings", "-1"],
        &["--staged", "--patch", "x"],
        &["main..HEAD", "--staged"],
        &["main..HEAD", "--commit", "HEAD"],
        &["main..HEAD", "--format", "dialectic"],
    ] {
        assert_eq!(bench.review_command(bad).output().exit_code, Some(2), "{bad:?}");
    }
    let locked = bench.env().repo_root().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(locked.join("x"), "").is_err() {
        bench.review_command(&["main..HEAD", "--output", "md=locked/a.md"]).expect_error(1);
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(bench.debate_count(), 0, "nothing was spent");
}

/// Stdout contains only the requested format.
#[test]
fn stdout_contains_only_the_requested_output() {
    let bench = ReviewFixture::with_change();
    let json = bench.review_command(&["main..HEAD", "--json"]).expect_success().json();
    assert_eq!((&json["kind"], &json["v"]), (&json!("review"), &json!(1)));
    let typed: debate_mcp::review::Review = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(typed.findings.len(), 1);
    let same = |args: &[&str]| {
        bench.review_command(&[&["main..HEAD"], args].concat()).expect_success().stdout
    };
    let value: Value = serde_json::from_str(&same(&["--output", "json=-"])).unwrap();
    assert_eq!(value, json);
    bench.review_command(&["main..HEAD", "--output", "sarif=-", "--json"]).expect_error(2);
    let value: Value = serde_json::from_str(&same(&["--output", "sarif=-"])).unwrap();
    assert_eq!(value["version"], "2.1.0");
    assert!(same(&[]).starts_with("## Design review: change the design first\n"));
    assert!(same(&["--output", "annotations=-"]).starts_with("::error file=src/lib.rs,line=3"));
    assert_eq!(bench.debate_count(), 1);
}

/// `--max-findings` limits the display only, not the exit code.
#[test]
fn hidden_findings_still_set_the_exit_code() {
    let bench = ReviewFixture::with_change();
    bench.set_script(&ReviewScript::citing(ADDED_LINE));
    let hidden =
        bench.review_command(&["main..HEAD", "--max-findings", "0", "--fail-on", "block"]).output();
    assert_eq!(hidden.exit_code, Some(3), "{hidden:#?}");
    bench.set_script(&ReviewScript::citing(MISSING_LINE));
    bench.review_command(&["main..HEAD", "--fail-on", "block", "--fresh"]).expect_success();
}
