//! Reviews in CI: detection of the change from the environment (GitHub event, GitLab variables),
//! forks without secrets, and where the results are written.
use crate::lab::Call;
use crate::review_bench::{Bench, NOWHERE, Said, THERE};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Writes a GitHub pull request event whose head is in the repository `whose`.
fn event(bench: &Bench, whose: &str) -> String {
    let (base, head) = (bench.git(&["rev-parse", "main"]), bench.git(&["rev-parse", "feature"]));
    let event = json!({"number": 7, "pull_request": {"number": 7, "title": "Keep what was read",
        "body": "It is faster. <!-- xyzzy -->",
        "base": {"sha": base, "repo": {"full_name": "o/r"}},
        "head": {"sha": head, "repo": {"full_name": whose}}}});
    let path = bench.lab().outside("event.json");
    fs::write(&path, event.to_string()).unwrap();
    path.display().to_string()
}

trait OnGithub {
    fn on_github(self, event: &str) -> Call;
}

impl OnGithub for Call {
    fn on_github(self, event: &str) -> Call {
        let call = self.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_PATH", event);
        call.env("GITHUB_EVENT_NAME", "pull_request")
    }
}

#[test]
fn github_says_which_change_is_meant() {
    let bench = Bench::changed();
    let event = event(&bench, "o/r");
    let summary = bench.lab().outside("summary.md");
    fs::write(&summary, "# Before\n").unwrap();
    bench.git(&["switch", "--quiet", "--detach", "main"]);
    let call = bench.review(&["--json"]).on_github(&event);
    let done = call.env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()).success();
    let review = done.json();
    assert_eq!(review["title"], "Keep what was read");
    assert_eq!(review["change"]["head"], bench.git(&["rev-parse", "feature"]).as_str());
    assert!(bench.shown()["topic"].as_str().unwrap().starts_with("Should change #7 ("));
    let prompt = &bench.prompts()[0].1;
    assert!(prompt.contains("> It is faster.") && !prompt.contains("xyzzy"), "{prompt}");
    assert!(prompt.contains("(text that cannot be seen was taken out of this)"), "{prompt}");
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("# Before\n") && text.contains("## Design review: change"), "{text}");
    in_a_group(&done.err);
    // A summary file that cannot be written is only a warning. Command-line options win.
    let call = bench.review(&["main..feature", "--pr-title", "Mine", "--json"]).on_github(&event);
    let done = call.env("GITHUB_STEP_SUMMARY", "/nowhere/summary.md").success();
    done.warns("No summary in `/nowhere/summary.md`");
    assert_eq!(done.json()["title"], "Mine");
}

#[track_caller]
fn in_a_group(err: &str) {
    let marks: Vec<&str> = err.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(marks, ["::group::The debate", "::endgroup::"], "{err}");
}

/// The event file is untrusted input. An invalid one is ignored.
#[test]
fn an_event_that_makes_no_sense_is_no_event() {
    let bench = Bench::changed();
    let path = bench.lab().outside("event.json").display().to_string();
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
        let review = bench.review(&["--json"]).on_github(&path).success().json();
        let says = review["change"]["says"].as_str().unwrap();
        assert!(says.starts_with("this branch against where it left `main`"), "{event}: {says}");
    }
}

/// Workflows of forks have no secrets, so no provider is available. That is not an error.
#[test]
fn without_models_a_fork_is_skipped_and_others_fail() {
    let bench = Bench::changed();
    let outputs = bench.outputs();
    let mut args = vec!["review"];
    args.extend(outputs.iter().map(String::as_str));
    args.extend(["--fail-on", "contested", "--strict"]);
    let from = event(&bench, "mallory/r");
    let done = bench.lab().debate(&args).on_github(&from).success();
    done.warns("comes from a fork");
    let review = bench.json("json");
    assert!(review["skipped"].as_str().unwrap().contains("fork"), "{review:#}");
    assert_eq!((&review["decision"], bench.debates()), (&json!("none"), 0));
    assert_eq!((bench.text("comment"), bench.text("annotations")), Default::default());
    assert_eq!(bench.json("sarif")["runs"][0]["results"], json!([]));
    let own = event(&bench, "o/r");
    let done = bench.lab().debate(&args).on_github(&own).done();
    assert_eq!(done.code, Some(4), "{done:#?}");
    // With explicit seats the review runs anyway.
    let from = event(&bench, "mallory/r");
    let review = bench.review(&["--json"]).on_github(&from).success().json();
    assert_eq!(review["decision"], "change");
}

/// `pull_request_target` with the head checked out runs untrusted code with secrets: warn.
#[test]
fn the_head_of_a_pull_request_and_secrets_do_not_go_together() {
    let bench = Bench::changed();
    let event = event(&bench, "mallory/r");
    for (branch, name, warned) in [
        ("feature", "pull_request_target", true),
        ("feature", "pull_request", false),
        ("main", "pull_request_target", false),
    ] {
        bench.git(&["switch", "--quiet", branch]);
        let call = bench.review(&[]).on_github(&event).env("GITHUB_EVENT_NAME", name);
        let done = call.success();
        assert_eq!(done.err.contains("runs with your secrets"), warned, "{branch}, {name}");
    }
}

#[test]
fn gitlab_says_which_change_is_meant() {
    let bench = Bench::changed();
    let (base, head) = (bench.git(&["rev-parse", "main"]), bench.git(&["rev-parse", "feature"]));
    bench.git(&["switch", "--quiet", "--detach", "main"]);
    let outputs = bench.outputs();
    let args: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let on_gitlab = |call: Call, from: &str| {
        let call = call.env("GITLAB_CI", "true").env("CI_MERGE_REQUEST_IID", "12");
        let call = call.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base).env("CI_COMMIT_SHA", &head);
        let call = call.env("CI_MERGE_REQUEST_TITLE", "Keep \u{1b}[2J it");
        let call = call.env("CI_MERGE_REQUEST_DESCRIPTION", "It is faster.");
        let call = call.env("CI_MERGE_REQUEST_PROJECT_ID", "1");
        call.env("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", from)
    };
    let done = on_gitlab(bench.review(&args), "1").done();
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.err.contains("section_start:") && done.err.contains("section_end:"), "{done:#?}");
    assert!(!done.out.contains('\u{1b}'), "{done:#?}");
    assert_eq!(bench.json("gitlab")[0]["location"]["path"], "src/lib.rs");
    assert!(bench.shown()["topic"].as_str().unwrap().starts_with("Should change #12 ("));
    let nobody = on_gitlab(bench.lab().debate(&["review"]), "2").success();
    nobody.warns("comes from a fork");
}

/// All outputs are validated before any provider is called.
#[test]
fn outputs_that_make_no_sense_are_refused_first() {
    let bench = Bench::changed();
    fs::create_dir(bench.lab().root().join("folder")).unwrap();
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
        let done = bench.review(&[&["main..HEAD"], &args[..]].concat()).fails_with(code);
        done.warns(says);
        assert!(code == 1 || done.err.contains("hint:"), "{done:#?}");
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
        assert_eq!(bench.review(bad).done().code, Some(2), "{bad:?}");
    }
    let locked = bench.lab().root().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(locked.join("x"), "").is_err() {
        bench.review(&["main..HEAD", "--output", "md=locked/a.md"]).fails_with(1);
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(bench.debates(), 0, "nothing was spent");
}

/// Stdout contains only the requested format.
#[test]
fn stdout_is_for_what_was_asked_for() {
    let bench = Bench::changed();
    let json = bench.review(&["main..HEAD", "--json"]).success().json();
    assert_eq!((&json["kind"], &json["v"]), (&json!("review"), &json!(1)));
    let typed: debate_mcp::review::Review = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(typed.findings.len(), 1);
    let same = |args: &[&str]| bench.review(&[&["main..HEAD"], args].concat()).success().out;
    let value: Value = serde_json::from_str(&same(&["--output", "json=-"])).unwrap();
    assert_eq!(value, json);
    bench.review(&["main..HEAD", "--output", "sarif=-", "--json"]).fails_with(2);
    let value: Value = serde_json::from_str(&same(&["--output", "sarif=-"])).unwrap();
    assert_eq!(value["version"], "2.1.0");
    assert!(same(&[]).starts_with("## Design review: change the design first\n"));
    assert!(same(&["--output", "annotations=-"]).starts_with("::error file=src/lib.rs,line=3"));
    assert_eq!(bench.debates(), 1);
}

/// `--max-findings` limits the display only, not the exit code.
#[test]
fn what_is_not_shown_still_counts() {
    let bench = Bench::changed();
    bench.says(&Said::on(THERE));
    let hidden = bench.review(&["main..HEAD", "--max-findings", "0", "--fail-on", "block"]).done();
    assert_eq!(hidden.code, Some(3), "{hidden:#?}");
    bench.says(&Said::on(NOWHERE));
    bench.review(&["main..HEAD", "--fail-on", "block", "--fresh"]).success();
}
