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
        let done = self.push(args);
        assert_eq!(done.exit_code, Some(0), "{args:?} {done:#?}");
        done
    }

    /// The commit of a branch on the remote, or an empty string.
    fn remote_commit(&self, branch: &str) -> String {
        let all = self.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")]);
        all.split_whitespace().next().unwrap_or_default().to_owned()
    }

    fn commit_id(&self, name: &str) -> String {
        self.git(&["rev-parse", name])
    }
}

#[test]
fn push_is_blocked_only_if_configured() {
    let project = ReviewRepo::with_pre_push_hook();
    let done = project.push_ok(&["feature"]);
    done.assert_stderr_contains("debate: models argue over what is new in feature");
    assert_eq!(done.stdout, "", "stdout is git's");
    done.assert_stderr_contains("What is kept is never let go of.");
    let (main, first) = (project.commit_id("main"), project.commit_id("feature"));
    let asked = project.debate_calls();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        asked[0].starts_with(&format!("review {main}..{first} --subject=feature")),
        "{asked:?}"
    );
    assert_eq!(project.remote_commit("feature"), first);

    project.git(&["config", "debate.failOn", "block"]);
    project.commit("src/other.rs", "pub fn more() {}\n");
    let second = project.commit_id("feature");
    let stopped = project.push(&["feature"]);
    assert!(stopped.exit_code != Some(0), "{stopped:#?}");
    stopped.assert_stderr_contains("nothing is pushed, because the review stops feature");
    assert_eq!(project.remote_commit("feature"), first);
    let asked = project.debate_calls();
    assert!(asked[1].starts_with(&format!("review {first}..{second} ")), "{asked:?}");

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
    let mut asked = project.debate_calls();
    asked.sort();
    let main = project.commit_id("main");
    let mut expected = ["feature", "other"]
        .map(|branch| format!("review {main}..{} --subject={branch} ", project.commit_id(branch)));
    expected.sort();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].starts_with(&expected[0]) && asked[1].starts_with(&expected[1]), "{asked:?}");
    // A rewritten branch is compared from the merge base. A deletion is not reviewed.
    project.git(&["switch", "--quiet", "feature"]);
    project.git(&["commit", "--quiet", "--amend", "--message", "Said otherwise"]);
    project.push_ok(&["--force", "feature"]);
    let asked = project.debate_calls();
    assert!(
        asked[2].starts_with(&format!("review {main}..{} ", project.commit_id("feature"))),
        "{asked:?}"
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
    assert!(
        run_command(second).exit_code != Some(0),
        "with a base it is argued about, and stopped"
    );
}

/// A missing or misconfigured program never blocks a push.
#[test]
fn broken_hook_never_blocks_a_push() {
    let project = ReviewRepo::with_pre_push_hook();
    project.git(&["config", "debate.failOn", "perhaps"]);
    project.git(&["config", "debate.timeLimit", "an eternity"]);
    let done = project.push_ok(&["feature"]);
    done.assert_stderr_contains("debate.failOn is neither block, contested nor never");
    done.assert_stderr_contains("the review of feature ended with 2, and the push goes on");

    // Git is started by its full path, and `PATH` contains nothing else.
    let git = run_command({
        let mut which = project.command("sh");
        which.args(["-c", "command -v git"]);
        which
    });
    project.commit("src/other.rs", "pub fn more() {}\n");
    let mut bare = project.command(git.stdout.trim());
    fs::create_dir(project.env.temp_path("nothing")).unwrap();
    bare.args(["push", "origin", "feature"]).env("PATH", project.env.temp_path("nothing"));
    let bare = run_command(bare);
    assert_eq!(bare.exit_code, Some(0), "{bare:#?}");
    bare.assert_stderr_contains("not reviewed, because there is no debate on the PATH");
}

/// A null object id has 40 zeros, or 64 with SHA-256.
#[test]
fn null_object_ids_of_both_lengths_are_recognized() {
    let project = ReviewRepo::with_pre_push_hook();
    let head = project.commit_id("feature");
    for length in [40, 64] {
        let none = "0".repeat(length);
        for (line, calls) in [
            (format!("(delete) {none} refs/heads/feature {head}\n"), 0),
            (format!("refs/heads/feature {head} refs/heads/feature {none}\n"), 1),
        ] {
            let before = project.debate_calls().len();
            let mut command = project.command("sh");
            command
                .arg(project.env.repo_root().join(".git/hooks/pre-push"))
                .args(["origin", "there"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut hook = command.spawn().unwrap();
            hook.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            let done = hook.wait_with_output().unwrap();
            assert!(done.status.success(), "{done:?}");
            assert_eq!(project.debate_calls().len() - before, calls, "{line}");
        }
    }
}
