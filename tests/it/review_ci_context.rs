//! Reviews in CI: detection of the change from the environment (GitHub event, GitLab variables),
//! forks without secrets, and where the results are written.
use crate::review_fixture::{ADDED_LINE, MISSING_LINE, ReviewFixture, ReviewScript};
use crate::test_env::DebateCommand;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Writes a GitHub pull request event whose head is in the repository `head_repo`.
fn write_github_event(fixture: &ReviewFixture, head_repo: &str) -> String {
    let (base, head) =
        (fixture.git(&["rev-parse", "main"]), fixture.git(&["rev-parse", "feature"]));
    let event = json!({"number": 7, "pull_request": {"number": 7, "title": "Keep what was read",
        "body": "It is faster. <!-- xyzzy -->",
        "base": {"sha": base, "repo": {"full_name": "o/r"}},
        "head": {"sha": head, "repo": {"full_name": head_repo}}}});
    let path = fixture.env().temp_path("event.json");
    fs::write(&path, event.to_string()).unwrap();
    path.display().to_string()
}

trait GithubCall {
    fn with_github_event(self, event: &str) -> DebateCommand;
}

impl GithubCall for DebateCommand {
    fn with_github_event(self, event: &str) -> DebateCommand {
        let command = self.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_PATH", event);
        command.env("GITHUB_EVENT_NAME", "pull_request")
    }
}

#[test]
fn github_event_selects_the_change() {
    let fixture = ReviewFixture::with_change();
    let event = write_github_event(&fixture, "o/r");
    let summary = fixture.env().temp_path("summary.md");
    fs::write(&summary, "# Before\n").unwrap();
    fixture.git(&["switch", "--quiet", "--detach", "main"]);
    let command = fixture.review_command(&["--json"]).with_github_event(&event);
    let output = command.env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()).expect_success();
    let review = output.json();
    assert_eq!(review["title"], "Keep what was read");
    assert_eq!(review["change"]["head"], fixture.git(&["rev-parse", "feature"]).as_str());
    assert!(fixture.last_debate()["topic"].as_str().unwrap().starts_with("Should change #7 ("));
    let prompt = &fixture.prompts()[0].1;
    assert!(prompt.contains("> It is faster.") && !prompt.contains("xyzzy"), "{prompt}");
    assert!(prompt.contains("(text that cannot be seen was taken out of this)"), "{prompt}");
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("# Before\n") && text.contains("## Design review: change"), "{text}");
    assert_grouped(&output.stderr);
    // A summary file that cannot be written is only a warning. Command-line options win.
    let command = fixture
        .review_command(&["main..feature", "--pr-title", "Mine", "--json"])
        .with_github_event(&event);
    let output = command.env("GITHUB_STEP_SUMMARY", "/nowhere/summary.md").expect_success();
    output.assert_stderr_contains("No summary in `/nowhere/summary.md`");
    assert_eq!(output.json()["title"], "Mine");
}

#[track_caller]
fn assert_grouped(stderr: &str) {
    let commands: Vec<&str> = stderr.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(commands, ["::group::The debate", "::endgroup::"], "{stderr}");
}

/// The event file is untrusted input. An invalid one is ignored.
#[test]
fn invalid_github_event_is_ignored() {
    let fixture = ReviewFixture::with_change();
    let path = fixture.env().temp_path("event.json").display().to_string();
    let head = fixture.git(&["rev-parse", "feature"]);
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
            fixture.review_command(&["--json"]).with_github_event(&path).expect_success().json();
        let description = review["change"]["says"].as_str().unwrap();
        assert!(
            description.starts_with("this branch against where it left `main`"),
            "{event}: {description}"
        );
    }
}

/// Workflows of forks have no secrets, so no provider is available. That is not an error.
#[test]
fn missing_providers_skip_a_fork_and_fail_otherwise() {
    let fixture = ReviewFixture::with_change();
    let outputs = fixture.output_args();
    let mut args = vec!["review"];
    args.extend(outputs.iter().map(String::as_str));
    args.extend(["--fail-on", "contested", "--strict"]);
    let fork_event = write_github_event(&fixture, "mallory/r");
    let output = fixture.env().debate(&args).with_github_event(&fork_event).expect_success();
    output.assert_stderr_contains("comes from a fork");
    let review = fixture.output_json("json");
    assert!(review["skipped"].as_str().unwrap().contains("fork"), "{review:#}");
    assert_eq!((&review["decision"], fixture.debate_count()), (&json!("none"), 0));
    assert_eq!(
        (fixture.output_text("comment"), fixture.output_text("annotations")),
        Default::default()
    );
    assert_eq!(fixture.output_json("sarif")["runs"][0]["results"], json!([]));
    let own_event = write_github_event(&fixture, "o/r");
    let output = fixture.env().debate(&args).with_github_event(&own_event).output();
    assert_eq!(output.exit_code, Some(4), "{output:#?}");
    // With explicit seats the review runs anyway.
    let fork_event = write_github_event(&fixture, "mallory/r");
    let review =
        fixture.review_command(&["--json"]).with_github_event(&fork_event).expect_success().json();
    assert_eq!(review["decision"], "change");
}

/// `pull_request_target` with the head checked out runs untrusted code with secrets: warn.
#[test]
fn pull_request_target_with_head_checkout_warns() {
    let fixture = ReviewFixture::with_change();
    let event = write_github_event(&fixture, "mallory/r");
    for (branch, name, warns) in [
        ("feature", "pull_request_target", true),
        ("feature", "pull_request", false),
        ("main", "pull_request_target", false),
    ] {
        fixture.git(&["switch", "--quiet", branch]);
        let command =
            fixture.review_command(&[]).with_github_event(&event).env("GITHUB_EVENT_NAME", name);
        let output = command.expect_success();
        assert_eq!(output.stderr.contains("runs with your secrets"), warns, "{branch}, {name}");
    }
}

#[test]
fn gitlab_variables_select_the_change() {
    let fixture = ReviewFixture::with_change();
    let (base, head) =
        (fixture.git(&["rev-parse", "main"]), fixture.git(&["rev-parse", "feature"]));
    fixture.git(&["switch", "--quiet", "--detach", "main"]);
    let outputs = fixture.output_args();
    let args: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let on_gitlab = |command: DebateCommand, source_project: &str| {
        let command = command.env("GITLAB_CI", "true").env("CI_MERGE_REQUEST_IID", "12");
        let command =
            command.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base).env("CI_COMMIT_SHA", &head);
        let command = command.env("CI_MERGE_REQUEST_TITLE", "Keep \u{1b}[2J it");
        let command = command.env("CI_MERGE_REQUEST_DESCRIPTION", "It is faster.");
        let command = command.env("CI_MERGE_REQUEST_PROJECT_ID", "1");
        command.env("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", source_project)
    };
    let output = on_gitlab(fixture.review_command(&args), "1").output();
    assert_eq!(output.exit_code, Some(0), "{output:#?}");
    assert!(
        output.stderr.contains("section_start:") && output.stderr.contains("section_end:"),
        "{output:#?}"
    );
    assert!(!output.stdout.contains('\u{1b}'), "{output:#?}");
    assert_eq!(fixture.output_json("gitlab")[0]["location"]["path"], "src/lib.rs");
    assert!(fixture.last_debate()["topic"].as_str().unwrap().starts_with("Should change #12 ("));
    let fork_output = on_gitlab(fixture.env().debate(&["review"]), "2").expect_success();
    fork_output.assert_stderr_contains("comes from a fork");
}

/// All outputs are validated before any provider is called.
#[test]
fn invalid_outputs_are_refused_before_the_debate() {
    let fixture = ReviewFixture::with_change();
    fs::create_dir(fixture.env().repo_root().join("folder")).unwrap();
    for (outputs, expected, code) in [
        (&["md"][..], "there is no `=`", 2),
        (&["md="], "there is no file", 2),
        (&["xml=a"], "unknown output format `xml`", 2),
        (&["=a"], "unknown output format", 2),
        (&["md=-", "json=-"], "something else goes there already", 2),
        (&["md=a.out", "json=a.out"], "something else goes there already", 2),
        (&["md=nowhere/a.md"], "nowhere/a.md", 1),
        (&["md=folder"], "folder", 1),
    ] {
        let args: Vec<String> = outputs.iter().map(|it| format!("--output={it}")).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output =
            fixture.review_command(&[&["main..HEAD"], &args[..]].concat()).expect_error(code);
        output.assert_stderr_contains(expected);
        assert!(code == 1 || output.stderr.contains("hint:"), "{output:#?}");
    }
    for invalid_args in [
        &["--fail-on", "always"][..],
        &["--time-limit", "soon"],
        &["--time-limit", "0s"],
        &["--max-findings", "-1"],
        &["--staged", "--patch", "x"],
        &["main..HEAD", "--staged"],
        &["main..HEAD", "--commit", "HEAD"],
        &["main..HEAD", "--format", "dialectic"],
    ] {
        assert_eq!(
            fixture.review_command(invalid_args).output().exit_code,
            Some(2),
            "{invalid_args:?}"
        );
    }
    let locked = fixture.env().repo_root().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(locked.join("x"), "").is_err() {
        fixture.review_command(&["main..HEAD", "--output", "md=locked/a.md"]).expect_error(1);
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(fixture.debate_count(), 0, "no debate was started");
}

/// Stdout contains only the requested format.
#[test]
fn stdout_contains_only_the_requested_output() {
    let fixture = ReviewFixture::with_change();
    let json = fixture.review_command(&["main..HEAD", "--json"]).expect_success().json();
    assert_eq!((&json["kind"], &json["v"]), (&json!("review"), &json!(1)));
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    let stdout_of = |args: &[&str]| {
        fixture.review_command(&[&["main..HEAD"], args].concat()).expect_success().stdout
    };
    let value: Value = serde_json::from_str(&stdout_of(&["--output", "json=-"])).unwrap();
    assert_eq!(value, json);
    fixture.review_command(&["main..HEAD", "--output", "sarif=-", "--json"]).expect_error(2);
    let value: Value = serde_json::from_str(&stdout_of(&["--output", "sarif=-"])).unwrap();
    assert_eq!(value["version"], "2.1.0");
    assert!(stdout_of(&[]).starts_with("## Design review: change the design first\n"));
    assert!(
        stdout_of(&["--output", "annotations=-"]).starts_with("::error file=src/lib.rs,line=3")
    );
    assert_eq!(fixture.debate_count(), 1);
}

/// `--max-findings` limits the display only, not the exit code.
#[test]
fn hidden_findings_still_set_the_exit_code() {
    let fixture = ReviewFixture::with_change();
    fixture.set_script(&ReviewScript::citing(ADDED_LINE));
    let hidden = fixture
        .review_command(&["main..HEAD", "--max-findings", "0", "--fail-on", "block"])
        .output();
    assert_eq!(hidden.exit_code, Some(3), "{hidden:#?}");
    fixture.set_script(&ReviewScript::citing(MISSING_LINE));
    fixture.review_command(&["main..HEAD", "--fail-on", "block", "--fresh"]).expect_success();
}
