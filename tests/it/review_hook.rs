//! The published pre-push hook, run by Git itself in a push to a local bare repository.
use crate::prerequisites::repo_path;
use crate::review_ci::{ReviewRepo, run_command};
use crate::test_env::CommandOutput;
use std::fs;
use std::io::Write;
use std::process::Stdio;

const PRE_PUSH_HOOK: &str = "examples/ci/pre-push";

impl ReviewRepo {
    /// With a remote that has `main`, the hook installed, and a `debate` wrapper on `PATH` that
    /// logs its arguments and drains stdin.
    fn with_pre_push_hook() -> ReviewRepo {
        let project = ReviewRepo::new();
        let remote = project.env.temp_path("remote.git");
        project.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
        project.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
        project.git(&["push", "--quiet", "origin", "main"]);
        fs::copy(repo_path(PRE_PUSH_HOOK), project.env.repo_root().join(".git/hooks/pre-push"))
            .unwrap();
        for (name, seat) in project.scripted_seats() {
            project.git(&["config", &format!("debate.{name}"), &seat]);
        }
        project.git(&["config", "debate.rounds", "1"]);
        let shim = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$*\" >>'{}'\ncat >/dev/null\nexec '{}' \"$@\"\n",
            project.env.temp_path("calls").display(),
            env!("CARGO_BIN_EXE_debate")
        );
        project.install_program("debate", &shim);
        project
    }

    /// The logged argument lines of `debate`.
    fn debate_calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.env.temp_path("calls")).unwrap_or_default();
        calls.lines().map(Into::into).collect()
    }

    fn push(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.command("git");
        command.args(["push", "origin"]).args(args);
        run_command(command)
    }

    /// Pushes and asserts success.
    #[track_caller]
    fn push_ok(&self, args: &[&str]) -> CommandOutput {
        let output = self.push(args);
        assert_eq!(output.exit_code, Some(0), "{args:?} {output:#?}");
        output
    }

    /// The commit of a branch on the remote, or an empty string.
    fn remote_commit(&self, branch: &str) -> String {
        let refs = self.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")]);
        refs.split_whitespace().next().unwrap_or_default().to_owned()
    }

    fn commit_id(&self, name: &str) -> String {
        self.git(&["rev-parse", name])
    }
}

#[test]
fn push_is_blocked_only_if_configured() {
    let project = ReviewRepo::with_pre_push_hook();
    let output = project.push_ok(&["feature"]);
    output.assert_stderr_contains("debate: models argue over what is new in feature");
    assert_eq!(output.stdout, "", "stdout belongs to git");
    output.assert_stderr_contains("What is kept is never let go of.");
    let (main, first) = (project.commit_id("main"), project.commit_id("feature"));
    let calls = project.debate_calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(
        calls[0].starts_with(&format!("review {main}..{first} --subject=feature")),
        "{calls:?}"
    );
    assert_eq!(project.remote_commit("feature"), first);

    project.git(&["config", "debate.failOn", "block"]);
    project.commit("src/other.rs", "pub fn more() {}\n");
    let second = project.commit_id("feature");
    let blocked = project.push(&["feature"]);
    assert!(blocked.exit_code != Some(0), "{blocked:#?}");
    blocked.assert_stderr_contains("nothing is pushed, because the review stops feature");
    assert_eq!(project.remote_commit("feature"), first);
    let calls = project.debate_calls();
    assert!(calls[1].starts_with(&format!("review {first}..{second} ")), "{calls:?}");

    let mut skipped = project.command("git");
    skipped.args(["push", "origin", "feature"]).env("DEBATE_SKIP", "1");
    let skipped = run_command(skipped);
    assert_eq!(
        (skipped.exit_code, project.remote_commit("feature")),
        (Some(0), second),
        "{skipped:#?}"
    );
    assert_eq!(project.debate_calls().len(), 2);
}

#[test]
fn approved_change_is_pushed() {
    let project = ReviewRepo::with_pre_push_hook();
    project.set_finding("src/lib.rs:900 \"nowhere\"", "pro");
    project.git(&["config", "debate.failOn", "block"]);
    project.push_ok(&["feature"]);
    assert_eq!(project.remote_commit("feature"), project.commit_id("feature"));
}

/// Git passes the pushed refs on stdin. The hook must read them all, whatever `debate` reads.
#[test]
fn every_pushed_branch_is_reviewed_from_its_base() {
    let project = ReviewRepo::with_pre_push_hook();
    project.git(&["switch", "--quiet", "--create", "other", "main"]);
    project.commit("src/other.rs", "pub fn more() {}\n");
    project.git(&["tag", "v1"]);
    project.push_ok(&["feature", "other", "v1"]);
    let mut calls = project.debate_calls();
    calls.sort();
    let main = project.commit_id("main");
    let mut expected = ["feature", "other"]
        .map(|branch| format!("review {main}..{} --subject={branch} ", project.commit_id(branch)));
    expected.sort();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[0].starts_with(&expected[0]) && calls[1].starts_with(&expected[1]), "{calls:?}");
    // A rewritten branch is compared from the merge base. A deletion is not reviewed.
    project.git(&["switch", "--quiet", "feature"]);
    project.git(&["commit", "--quiet", "--amend", "--message", "Said otherwise"]);
    project.push_ok(&["--force", "feature"]);
    let calls = project.debate_calls();
    assert!(
        calls[2].starts_with(&format!("review {main}..{} ", project.commit_id("feature"))),
        "{calls:?}"
    );
    project.push_ok(&["--delete", "feature"]);
    project.push_ok(&["--delete", "v1"]);
    assert_eq!(
        (project.debate_calls().len(), project.remote_commit("feature")),
        (3, String::new())
    );
}

#[test]
fn empty_tag_and_docs_pushes_are_not_debated() {
    let project = ReviewRepo::with_pre_push_hook();
    project.git(&["config", "debate.failOn", "block"]);
    project.git(&["switch", "--quiet", "--create", "words", "main"]);
    // Nothing new and a tag: no call. Documents only: `debate` itself skips the review.
    project.push_ok(&["words"]);
    project.git(&["tag", "--annotate", "v1", "--message", "One"]);
    project.push_ok(&["v1"]);
    assert_eq!(project.debate_calls().len(), 0);
    project.commit("README.md", "# Words\n\nMore of them.\n");
    project.push_ok(&["words"]);
    assert_eq!(project.debate_calls().len(), 1);
    let listed = project.env.debate(&["list", "--json"]).expect_success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 0, "{listed:#}");
    // A remote without any branch.
    let empty = project.env.temp_path("empty.git");
    project.git(&["init", "--quiet", "--bare", empty.to_str().unwrap()]);
    project.git(&["remote", "add", "fresh", empty.to_str().unwrap()]);
    let mut first = project.command("git");
    first.args(["push", "fresh", "feature"]);
    let first = run_command(first);
    assert_eq!(first.exit_code, Some(0), "{first:#?}");
    first.assert_stderr_contains(
        "feature is not reviewed, because there is nothing to compare it with",
    );
    project.git(&["config", "debate.base", "main"]);
    let mut second = project.command("git");
    second.args(["push", "fresh", "feature:again"]);
    assert!(run_command(second).exit_code != Some(0), "with a base it is reviewed and blocked");
}

/// A missing or misconfigured program never blocks a push.
#[test]
fn broken_hook_never_blocks_a_push() {
    let project = ReviewRepo::with_pre_push_hook();
    project.git(&["config", "debate.failOn", "perhaps"]);
    project.git(&["config", "debate.timeLimit", "an eternity"]);
    let output = project.push_ok(&["feature"]);
    output.assert_stderr_contains("debate.failOn is neither block, contested nor never");
    output.assert_stderr_contains("the review of feature ended with 2, and the push goes on");

    // Git is started by its full path, and `PATH` contains nothing else.
    let git = run_command({
        let mut which = project.command("sh");
        which.args(["-c", "command -v git"]);
        which
    });
    project.commit("src/other.rs", "pub fn more() {}\n");
    let mut push = project.command(git.stdout.trim());
    fs::create_dir(project.env.temp_path("nothing")).unwrap();
    push.args(["push", "origin", "feature"]).env("PATH", project.env.temp_path("nothing"));
    let push = run_command(push);
    assert_eq!(push.exit_code, Some(0), "{push:#?}");
    push.assert_stderr_contains("not reviewed, because there is no debate on the PATH");
}

/// A null object id has 40 zeros, or 64 with SHA-256.
#[test]
fn null_object_ids_of_both_lengths_are_recognized() {
    let project = ReviewRepo::with_pre_push_hook();
    let head = project.commit_id("feature");
    for length in [40, 64] {
        let null_id = "0".repeat(length);
        for (line, calls) in [
            (format!("(delete) {null_id} refs/heads/feature {head}\n"), 0),
            (format!("refs/heads/feature {head} refs/heads/feature {null_id}\n"), 1),
        ] {
            let before = project.debate_calls().len();
            let mut command = project.command("sh");
            command
                .arg(project.env.repo_root().join(".git/hooks/pre-push"))
                .args(["origin", "there"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut hook = command.spawn().unwrap();
            hook.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            let output = hook.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert_eq!(project.debate_calls().len() - before, calls, "{line}");
        }
    }
}
