//! The published pre-push hook, run by Git itself in a push to a local bare repository.
use crate::lab::Done;
use crate::needs::here;
use crate::review_ci::{Project, finished};
use std::fs;
use std::io::Write;
use std::process::Stdio;

const HOOK: &str = "examples/ci/pre-push";

impl Project {
    /// With a remote that has `main`, the hook installed, and a `debate` wrapper on `PATH` that
    /// logs its arguments and drains stdin.
    fn with_hook() -> Project {
        let project = Project::new();
        let remote = project.lab.outside("remote.git");
        project.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
        project.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
        project.git(&["push", "--quiet", "origin", "main"]);
        fs::copy(here(HOOK), project.lab.root().join(".git/hooks/pre-push")).unwrap();
        for (name, seat) in project.seats() {
            project.git(&["config", &format!("debate.{name}"), &seat]);
        }
        project.git(&["config", "debate.rounds", "1"]);
        let shim = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$*\" >>'{}'\ncat >/dev/null\nexec '{}' \"$@\"\n",
            project.lab.outside("calls").display(),
            env!("CARGO_BIN_EXE_debate")
        );
        project.program("debate", &shim);
        project
    }

    /// The logged argument lines of `debate`.
    fn asked(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.lab.outside("calls")).unwrap_or_default();
        calls.lines().map(Into::into).collect()
    }

    fn push(&self, args: &[&str]) -> Done {
        let mut command = self.command("git");
        command.args(["push", "origin"]).args(args);
        finished(command)
    }

    /// Pushes and asserts success.
    #[track_caller]
    fn pushed(&self, args: &[&str]) -> Done {
        let done = self.push(args);
        assert_eq!(done.code, Some(0), "{args:?} {done:#?}");
        done
    }

    /// The commit of a branch on the remote, or an empty string.
    fn there(&self, branch: &str) -> String {
        let all = self.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")]);
        all.split_whitespace().next().unwrap_or_default().to_owned()
    }

    fn id(&self, name: &str) -> String {
        self.git(&["rev-parse", name])
    }
}

#[test]
fn a_push_is_advised_and_stopped_only_if_asked_to() {
    let project = Project::with_hook();
    let done = project.pushed(&["feature"]);
    done.warns("debate: models argue over what is new in feature");
    assert_eq!(done.out, "", "stdout is git's");
    done.warns("What is kept is never let go of.");
    let (main, first) = (project.id("main"), project.id("feature"));
    let asked = project.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        asked[0].starts_with(&format!("review {main}..{first} --subject=feature")),
        "{asked:?}"
    );
    assert_eq!(project.there("feature"), first);

    project.git(&["config", "debate.failOn", "block"]);
    project.commit("src/other.rs", "pub fn more() {}\n");
    let second = project.id("feature");
    let stopped = project.push(&["feature"]);
    assert!(stopped.code != Some(0), "{stopped:#?}");
    stopped.warns("nothing is pushed, because the review stops feature");
    assert_eq!(project.there("feature"), first);
    let asked = project.asked();
    assert!(asked[1].starts_with(&format!("review {first}..{second} ")), "{asked:?}");

    let mut skipped = project.command("git");
    skipped.args(["push", "origin", "feature"]).env("DEBATE_SKIP", "1");
    let skipped = finished(skipped);
    assert_eq!((skipped.code, project.there("feature")), (Some(0), second), "{skipped:#?}");
    assert_eq!(project.asked().len(), 2);
}

#[test]
fn a_change_that_wins_is_pushed_also_where_it_could_be_stopped() {
    let project = Project::with_hook();
    project.finds("src/lib.rs:900 \"nowhere\"", "pro");
    project.git(&["config", "debate.failOn", "block"]);
    project.pushed(&["feature"]);
    assert_eq!(project.there("feature"), project.id("feature"));
}

/// Git passes the pushed refs on stdin. The hook must read them all, whatever `debate` reads.
#[test]
fn every_branch_of_a_push_is_reviewed_against_where_it_left() {
    let project = Project::with_hook();
    project.git(&["switch", "--quiet", "--create", "other", "main"]);
    project.commit("src/other.rs", "pub fn more() {}\n");
    project.git(&["tag", "v1"]);
    project.pushed(&["feature", "other", "v1"]);
    let mut asked = project.asked();
    asked.sort();
    let main = project.id("main");
    let mut expected = ["feature", "other"]
        .map(|branch| format!("review {main}..{} --subject={branch} ", project.id(branch)));
    expected.sort();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].starts_with(&expected[0]) && asked[1].starts_with(&expected[1]), "{asked:?}");
    // A rewritten branch is compared from the merge base. A deletion is not reviewed.
    project.git(&["switch", "--quiet", "feature"]);
    project.git(&["commit", "--quiet", "--amend", "--message", "Said otherwise"]);
    project.pushed(&["--force", "feature"]);
    let asked = project.asked();
    assert!(
        asked[2].starts_with(&format!("review {main}..{} ", project.id("feature"))),
        "{asked:?}"
    );
    project.pushed(&["--delete", "feature"]);
    project.pushed(&["--delete", "v1"]);
    assert_eq!((project.asked().len(), project.there("feature")), (3, String::new()));
}

#[test]
fn what_there_is_nothing_to_argue_about_is_pushed() {
    let project = Project::with_hook();
    project.git(&["config", "debate.failOn", "block"]);
    project.git(&["switch", "--quiet", "--create", "words", "main"]);
    // Nothing new and a tag: no call. Documents only: `debate` itself skips the review.
    project.pushed(&["words"]);
    project.git(&["tag", "--annotate", "v1", "--message", "One"]);
    project.pushed(&["v1"]);
    assert_eq!(project.asked().len(), 0);
    project.commit("README.md", "# Words\n\nMore of them.\n");
    project.pushed(&["words"]);
    assert_eq!(project.asked().len(), 1);
    let listed = project.lab.debate(&["list", "--json"]).success().json();
    assert_eq!(listed["debates"].as_array().unwrap().len(), 0, "{listed:#}");
    // A remote without any branch.
    let empty = project.lab.outside("empty.git");
    project.git(&["init", "--quiet", "--bare", empty.to_str().unwrap()]);
    project.git(&["remote", "add", "fresh", empty.to_str().unwrap()]);
    let mut first = project.command("git");
    first.args(["push", "fresh", "feature"]);
    let first = finished(first);
    assert_eq!(first.code, Some(0), "{first:#?}");
    first.warns("feature is not reviewed, because there is nothing to compare it with");
    project.git(&["config", "debate.base", "main"]);
    let mut second = project.command("git");
    second.args(["push", "fresh", "feature:again"]);
    assert!(finished(second).code != Some(0), "with a base it is argued about, and stopped");
}

/// A missing or misconfigured program never blocks a push.
#[test]
fn a_hook_that_cannot_do_its_work_stops_nobody() {
    let project = Project::with_hook();
    project.git(&["config", "debate.failOn", "perhaps"]);
    project.git(&["config", "debate.timeLimit", "an eternity"]);
    let done = project.pushed(&["feature"]);
    done.warns("debate.failOn is neither block, contested nor never");
    done.warns("the review of feature ended with 2, and the push goes on");

    // Git is started by its full path, and `PATH` contains nothing else.
    let git = finished({
        let mut which = project.command("sh");
        which.args(["-c", "command -v git"]);
        which
    });
    project.commit("src/other.rs", "pub fn more() {}\n");
    let mut bare = project.command(git.out.trim());
    fs::create_dir(project.lab.outside("nothing")).unwrap();
    bare.args(["push", "origin", "feature"]).env("PATH", project.lab.outside("nothing"));
    let bare = finished(bare);
    assert_eq!(bare.code, Some(0), "{bare:#?}");
    bare.warns("not reviewed, because there is no debate on the PATH");
}

/// A null object id has 40 zeros, or 64 with SHA-256.
#[test]
fn zeros_of_either_length_are_no_commit() {
    let project = Project::with_hook();
    let head = project.id("feature");
    for length in [40, 64] {
        let none = "0".repeat(length);
        for (line, calls) in [
            (format!("(delete) {none} refs/heads/feature {head}\n"), 0),
            (format!("refs/heads/feature {head} refs/heads/feature {none}\n"), 1),
        ] {
            let before = project.asked().len();
            let mut command = project.command("sh");
            command.arg(project.lab.root().join(".git/hooks/pre-push")).args(["origin", "there"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut hook = command.spawn().unwrap();
            hook.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            let done = hook.wait_with_output().unwrap();
            assert!(done.status.success(), "{done:?}");
            assert_eq!(project.asked().len() - before, calls, "{line}");
        }
    }
}
