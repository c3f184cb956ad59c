//! Runs the published CI integration as it is: the steps of the GitHub action (`action.yml`) and
//! the GitLab job, with the real binary, scripted seats and a fake `gh`.
use crate::ci_files::{
    evaluate_expression, parse_steps, parse_yaml, properties_under, read_project_file,
};
use crate::prerequisites::{find_program_or_skip, repo_path};
use crate::test_env::{
    CommandOutput, RunningProcess, SeatScript, TestEnv, assert_contains_in_order, verdict_json,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BEFORE: &str = "pub fn get(key: &str) -> String {\n    read(key)\n}\n";
const AFTER: &str = "pub fn get(key: &str) -> String {\n    let mut kept = KEPT.lock();\n    \
                     kept.entry(key).or_insert_with(|| read(key)).clone()\n}\n";
const ADDED_LINE: &str = "src/lib.rs:3 \"kept.entry(key).or_insert_with(|| read(key)).clone()\"";
const MISSING_LINE: &str = "src/lib.rs:900 \"kept.grow_forever()\"";

/// A repository with a feature branch under review.
pub(crate) struct ReviewRepo {
    pub(crate) env: TestEnv,
}

impl ReviewRepo {
    pub(crate) fn new() -> ReviewRepo {
        let project = ReviewRepo { env: TestEnv::without_git() };
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.commit("src/lib.rs", BEFORE);
        project.git(&["switch", "--quiet", "--create", "feature"]);
        project.commit("src/lib.rs", AFTER);
        project.set_finding(ADDED_LINE, "con");
        project
    }

    /// Sets the evidence of the challenger's claim and the winner of the verdict.
    pub(crate) fn set_finding(&self, evidence: &str, winner: &str) {
        let reply = |seat: &str, prose: &str, claim: Value| {
            let block = json!({"claims": [claim], "concedes": [], "resolves": []});
            json!({"seat": seat, "text": format!("{prose}\n\n```claims\n{block}\n```\n")})
        };
        let claim = json!({"id": "P1", "text": "A key is read once.", "evidence": [ADDED_LINE]});
        let pro = reply("proposer", "It is faster.", claim);
        let claim = json!({"id": "C1", "text": "What is kept is never let go of.",
            "severity": "high", "evidence": [evidence], "answers": ["P1"]});
        let con = reply("challenger", "It grows.\n::error::said by a model\n", claim);
        let mut verdict = verdict_json(winner);
        let (pro_score, con_score) = if winner == "con" { (50, 80) } else { (80, 50) };
        verdict["scores"] = json!({"pro": pro_score, "con": con_score});
        let check = |side: &str, claim: &str, holds: bool| {
            json!({"side": side, "claim": claim, "answered": !holds, "supported": holds,
                "conceded": false})
        };
        verdict["checks"] =
            json!([check("pro", "P1", winner == "pro"), check("con", "C1", winner == "con")]);
        let judge = json!({"seat": "judge", "json": verdict});
        let scribe = json!({"seat": "scribe", "text": "## Minutes\n\nOpen: P1, C1."});
        self.env.write_script(
            &SeatScript::empty().prepend(scribe).prepend(judge).prepend(con).prepend(pro),
        );
    }

    /// A command with an empty environment except `PATH`, `HOME` and what Git needs.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        let user = self.env.temp_path("user");
        command.current_dir(self.env.repo_root()).env_clear();
        command.env("PATH", format!("{}:{path}", self.env.bin_dir().display())).env("HOME", user);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("DEBATE_HOME", self.env.data_dir());
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Somebody");
            command.env(format!("GIT_{role}_EMAIL"), "somebody@example.com");
        }
        command
    }

    /// Runs `git`, asserts success, and returns its output.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(args);
        let output = run_command(command);
        assert_eq!(output.exit_code, Some(0), "{args:?} {output:#?}");
        output.stdout.trim().to_owned()
    }

    pub(crate) fn commit(&self, file: &str, text: &str) {
        self.env.write_repo_file(file, text);
        self.git(&["add", file]);
        self.git(&["commit", "--quiet", "--message", "Change"]);
    }

    /// Installs an executable script first on `PATH`.
    pub(crate) fn install_program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.env.bin_dir().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The three scripted seats, by option name.
    pub(crate) fn scripted_seats(&self) -> [(&'static str, String); 3] {
        let [pro, con] = ["pro.json", "contra.json"].map(|name| self.env.script_seat(name));
        [("proposer", pro.clone()), ("challenger", con), ("judge", pro)]
    }
}

pub(crate) fn run_command(mut command: Command) -> CommandOutput {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    RunningProcess::new(command.spawn().unwrap()).wait()
}

/// Fake `gh`: answers queries from a JSON file and stores posted comments.
const FAKE_GH_SCRIPT: &str = r#"
printf '%s\n' "$*" >>"$data/calls"
filter='' last=''
for argument; do
  if [ "$last" = --jq ]; then filter="$argument"; fi
  case "$argument" in body=@*) cp "${argument#body=@}" "$data/body" ;; esac
  last="$argument"
done
case "$*" in
  *'--method POST'*)
    jq --rawfile body "$data/body" \
      '. + [{"id": 101, "user": {"login": "github-actions[bot]"}, "body": $body}]' \
      "$data/comments" >"$data/new"
    mv "$data/new" "$data/comments"
    ;;
  *'--method PATCH'*) ;;
  *) jq -r "$filter" "$data/comments" ;;
esac
"#;

/// Result of one run of the action: exit code, log and step outputs.
struct ActionRun {
    code: i32,
    log: String,
    outputs: BTreeMap<String, String>,
}

impl ReviewRepo {
    /// With a fake `gh` and an existing comment of a stranger that contains the marker.
    fn with_fake_gh() -> Option<ReviewRepo> {
        find_program_or_skip("jq", Path::new("jq"), &[], "your system's package manager")?;
        let project = ReviewRepo::new();
        let data = project.env.temp_path("gh");
        fs::create_dir(&data).unwrap();
        let comments = json!([{"id": 7, "user": {"login": "mallory"},
            "body": "<!-- debate-review -->\nMerge it."}]);
        fs::write(data.join("comments"), comments.to_string()).unwrap();
        fs::write(data.join("calls"), "").unwrap();
        project.install_program(
            "gh",
            &format!("#!/bin/sh\nset -eu\ndata='{}'\n{FAKE_GH_SCRIPT}", data.display()),
        );
        fs::create_dir(project.env.temp_path("temp")).unwrap();
        Some(project)
    }

    /// The logged `gh` command lines.
    fn gh_calls(&self) -> String {
        fs::read_to_string(self.env.temp_path("gh/calls")).unwrap()
    }

    /// Runs the script steps of the action in order, with the environment of a GitHub runner.
    fn run_action(&self, inputs: &[(&str, &str)]) -> ActionRun {
        let action = read_project_file("action.yml");
        let mut context = BTreeMap::from([
            ("github.repository".to_owned(), "o/r".to_owned()),
            ("github.event.pull_request.number".to_owned(), "7".to_owned()),
            ("github.token".to_owned(), "a token".to_owned()),
        ]);
        for (name, value) in properties_under(&action, "inputs", "default") {
            context.insert(format!("inputs.{name}"), evaluate_expression(&value, &context));
        }
        let seats = self.scripted_seats();
        let defaults = seats.iter().map(|(name, seat)| (*name, seat.as_str()));
        let defaults = defaults.chain([("rounds", "1"), ("program", env!("CARGO_BIN_EXE_debate"))]);
        for (name, value) in defaults.chain(inputs.iter().copied()) {
            let previous = context.insert(format!("inputs.{name}"), value.to_owned());
            assert!(previous.is_some(), "there is no input `{name}`");
        }
        let (base, head) = (self.git(&["rev-parse", "main"]), self.git(&["rev-parse", "HEAD"]));
        let repository = json!({"full_name": "o/r", "fork": false});
        let event = json!({"action": "synchronize", "number": 7, "repository": repository,
            "pull_request": {"number": 7, "title": "Keep what was read", "body": "It is faster.",
                "draft": false, "base": {"sha": base, "ref": "main", "repo": repository},
                "head": {"sha": head, "ref": "feature", "repo": repository}}});
        fs::write(self.env.temp_path("event.json"), event.to_string()).unwrap();
        let mut run = ActionRun { code: 0, log: String::new(), outputs: BTreeMap::new() };
        for step in parse_steps(&action).iter().filter(|step| !step.run.is_empty()) {
            let output = self.env.temp_path("temp/output");
            fs::write(&output, "").unwrap();
            let mut command = self.command("bash");
            command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.run]);
            command.env_remove("DEBATE_HOME").env("GITHUB_OUTPUT", &output);
            for (name, path) in [
                ("GITHUB_EVENT_PATH", "event.json"),
                ("GITHUB_STEP_SUMMARY", "temp/summary"),
                ("GITHUB_ENV", "temp/env"),
                ("RUNNER_TEMP", "temp"),
            ] {
                command.env(name, self.env.temp_path(path));
            }
            command
                .env("GITHUB_ACTION_PATH", repo_path(""))
                .env("GITHUB_WORKSPACE", self.env.repo_root());
            command.envs([("CI", "true"), ("GITHUB_ACTIONS", "true")]);
            command.envs([("GITHUB_EVENT_NAME", "pull_request"), ("GITHUB_REPOSITORY", "o/r")]);
            command.envs([("GITHUB_BASE_REF", "main"), ("GITHUB_HEAD_REF", "feature")]);
            command.envs([("RUNNER_OS", "Linux"), ("RUNNER_ARCH", "X64")]);
            command.envs(
                step.env.iter().map(|(name, value)| (name, evaluate_expression(value, &context))),
            );
            let result = run_command(command);
            run.log += &result.stdout;
            run.log += &result.stderr;
            run.code = result.exit_code.unwrap();
            for line in fs::read_to_string(&output).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                context.insert(format!("steps.{}.outputs.{name}", step.id), value.to_owned());
            }
            if run.code != 0 {
                break;
            }
        }
        let outputs = properties_under(&action, "outputs", "value").into_iter();
        run.outputs =
            outputs.map(|(name, value)| (name, evaluate_expression(&value, &context))).collect();
        run
    }

    /// The number of debates in the action's archive.
    fn archived_debates(&self) -> usize {
        let home = self.env.temp_path("temp/debate-home");
        let listed = self.env.debate(&["list", "--json"]).data_dir(&home).expect_success().json();
        listed["debates"].as_array().unwrap().len()
    }
}

#[test]
fn comment_is_posted_once_and_then_updated() {
    let Some(project) = ReviewRepo::with_fake_gh() else { return };
    let first = project.run_action(&[]);
    assert_eq!(first.code, 0, "{}", first.log);
    let output_value = |name: &str| first.outputs[name].as_str();
    assert_eq!(
        (output_value("decision"), output_value("findings"), output_value("exit-code")),
        ("change", "1", "0")
    );
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(output_value("sarif")).unwrap()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(Path::new(output_value("json")).exists());
    let body = fs::read_to_string(project.env.temp_path("gh/body")).unwrap();
    assert!(body.starts_with("<!-- debate-review -->\n"), "{body}");
    assert!(body.contains("What is kept is never let go of."), "{body}");
    let calls = project.gh_calls();
    assert_contains_in_order(
        &calls,
        &["--paginate", "repos/o/r/issues/7/comments", "--method POST"],
    );
    assert!(!calls.contains("PATCH"), "a comment of another user was changed: {calls}");
    let summary = fs::read_to_string(project.env.temp_path("temp/summary")).unwrap();
    assert!(summary.contains("What is kept is never let go of."), "{summary}");
    assert_eq!(project.archived_debates(), 1);

    // Model output is printed while workflow commands are stopped. The annotations come after it.
    let (_, rest) = first.log.split_once("::stop-commands::").unwrap();
    let (token, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once(&format!("\n::{token}::\n")).unwrap();
    let commands: Vec<&str> = after.lines().filter(|line| line.starts_with("::")).collect();
    assert!(commands.iter().any(|line| line.contains("file=src/lib.rs")), "{commands:?}");
    assert!(!commands.iter().any(|line| line.starts_with("::error::said")), "{commands:?}");

    // The same commit again: answered from the archive.
    let again = project.run_action(&[]);
    assert_eq!((again.code, project.archived_debates()), (0, 1), "{}", again.log);
    assert_eq!(again.outputs["decision"], "change");

    project.commit("src/other.rs", "pub fn more() {}\n");
    let second = project.run_action(&[]);
    assert_eq!((second.code, project.archived_debates()), (0, 2), "{}", second.log);
    let calls = project.gh_calls();
    assert_eq!(calls.matches("--method POST").count(), 1, "{calls}");
    assert!(calls.contains("--method PATCH repos/o/r/issues/comments/101"), "{calls}");
}

#[test]
fn no_comment_without_findings() {
    let Some(project) = ReviewRepo::with_fake_gh() else { return };
    project.set_finding(MISSING_LINE, "pro");
    let run = project.run_action(&[("fail-on", "block")]);
    let calls = project.gh_calls();
    assert!(!calls.contains("POST") && !calls.contains("PATCH"), "{calls}");
    assert_eq!(run.code, 0, "{}", run.log);
    assert_eq!((&*run.outputs["decision"], &*run.outputs["findings"]), ("merge", "0"));
}

/// The comment of an earlier review is updated even if its debate is no longer in the archive.
#[test]
fn comment_is_updated_when_findings_are_gone() {
    let Some(project) = ReviewRepo::with_fake_gh() else { return };
    project.run_action(&[]);
    fs::remove_dir_all(project.env.temp_path("temp/debate-home")).unwrap();
    project.set_finding(MISSING_LINE, "pro");
    project.commit("src/other.rs", "pub fn more() {}\n");
    let run = project.run_action(&[]);
    assert_eq!((run.code, &*run.outputs["findings"]), (0, "0"), "{}", run.log);
    let calls = project.gh_calls();
    assert_eq!(calls.matches("--method POST").count(), 1, "{calls}");
    assert_eq!(calls.matches("--method PATCH").count(), 1, "{calls}");
}

#[test]
fn blocking_verdict_sets_the_exit_code_after_reporting() {
    let Some(project) = ReviewRepo::with_fake_gh() else { return };
    let run = project.run_action(&[("fail-on", "block"), ("annotations", "false")]);
    assert_eq!((run.code, &*run.outputs["exit-code"]), (3, "3"), "{}", run.log);
    assert!(project.gh_calls().contains("--method POST"), "{}", project.gh_calls());
    assert!(!run.log.contains("file=src/lib.rs"), "{}", run.log);
    assert_contains_in_order(&run.log, &["::error title=debate::", "the verdict blocks"]);
    let quiet = project.run_action(&[("fail-on", "block"), ("comment", "false")]);
    assert_eq!((quiet.code, project.gh_calls().lines().count()), (3, 2), "{}", quiet.log);
}

#[test]
fn invalid_action_inputs_are_refused() {
    let Some(project) = ReviewRepo::with_fake_gh() else { return };
    for (name, value) in [
        ("rounds", "2; touch here"),
        ("max-findings", "-1"),
        ("max-cost", "1e9"),
        ("time-limit", "15m --fresh"),
        ("fail-on", "sometimes"),
        ("strict", "yes"),
        ("effort", "$(id)"),
        ("proposer", "--patch=/etc/passwd"),
        ("challenger", "claude\n::error::x"),
        ("comment-author", "x\" or true or \""),
        ("version", "../../elsewhere"),
    ] {
        let run = project.run_action(&[(name, value)]);
        assert_eq!(run.code, 2, "{name}: {}", run.log);
        let is_reported = run.log.contains(&format!("the input {name} must be"));
        assert!(is_reported && !run.log.contains(value), "{name}: {}", run.log);
    }
    assert_eq!(project.gh_calls(), "");
}

/// The packing commands of the release workflow.
const PACK_SCRIPT: &str = r#"
tar -czf "$1.tar.gz" "$1"
{ sha256sum "$1.tar.gz" 2>/dev/null || shasum -a 256 "$1.tar.gz"; } >"$1.tar.gz.sha256"
"#;

/// A fake `curl` serves the release from a folder.
#[test]
fn release_download_is_verified_by_its_hash() {
    let Some(project) = ReviewRepo::with_fake_gh() else { return };
    let (version, releases) = (env!("CARGO_PKG_VERSION"), project.env.temp_path("releases"));
    let name = format!("debate-{version}-x86_64-unknown-linux-gnu");
    let shim = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_debate"));
    fs::create_dir_all(releases.join(&name)).unwrap();
    fs::copy(project.install_program("shim", &shim), releases.join(&name).join("debate")).unwrap();
    let mut pack = project.command("sh");
    pack.current_dir(&releases).args(["-c", PACK_SCRIPT, "sh", &name]);
    let packed = run_command(pack);
    assert_eq!(packed.exit_code, Some(0), "{packed:#?}");
    let curl = format!(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do\n  if [ \"$1\" = --output ]; then to=\"$2\"; fi\n  \
         shift\ndone\nprintf '%s\\n' \"$1\" >>'{0}/asked'\ncp '{0}/'\"${{1##*/}}\" \"$to\"\n",
        releases.display()
    );
    project.install_program("curl", &curl);
    let run = project.run_action(&[("program", "")]);
    assert_eq!((run.code, &*run.outputs["decision"]), (0, "change"), "{}", run.log);
    let requested_urls = fs::read_to_string(releases.join("asked")).unwrap();
    let manifest: Value = serde_json::from_str(&read_project_file("server.json")).unwrap();
    let url = format!(
        "{}/releases/download/v{version}/{name}.tar.gz",
        manifest["repository"]["url"].as_str().unwrap()
    );
    assert_eq!(requested_urls.lines().collect::<Vec<_>>(), [url.clone(), url + ".sha256"]);
    let wrong_hash = "0".repeat(64);
    let refused = project.run_action(&[("program", ""), ("sha256", &wrong_hash)]);
    assert_eq!(refused.code, 2, "{}", refused.log);
    assert!(refused.log.contains("another hash"), "{}", refused.log);
    let absent = project.run_action(&[("program", ""), ("version", "9.9.9")]);
    assert_eq!(absent.code, 2, "{}", absent.log);
    assert!(absent.log.contains("with the input program"), "{}", absent.log);
}

#[test]
fn gitlab_job_writes_its_reports() {
    let project = ReviewRepo::new();
    let shim = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_debate"));
    project.install_program("debate", &shim);
    let job = read_project_file("examples/ci/gitlab-review.yml");
    let job = parse_yaml(&job);
    let script = &job[job.iter().position(|entry| entry.key == "script").unwrap() + 1].value;
    let run = |fail_on: &str| {
        let mut command = project.command("sh");
        command.args(["-e", "-c", script]);
        command.env("DEBATE_FAIL_ON", fail_on).env("DEBATE_ROUNDS", "1");
        for (name, seat) in project.scripted_seats() {
            command.env(format!("DEBATE_{}", name.to_uppercase()), seat);
        }
        command.env("CI_PROJECT_DIR", project.env.repo_root());
        command.env("CI_COMMIT_SHA", project.git(&["rev-parse", "feature"]));
        command.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", project.git(&["rev-parse", "main"]));
        command.envs([("CI", "true"), ("GITLAB_CI", "true"), ("CI_PROJECT_ID", "1")]);
        for (name, value) in [
            ("IID", "7"),
            ("PROJECT_ID", "1"),
            ("SOURCE_PROJECT_ID", "1"),
            ("TITLE", "Keep what was read"),
            ("DESCRIPTION", "It is faster."),
            ("TARGET_BRANCH_NAME", "main"),
            ("SOURCE_BRANCH_NAME", "feature"),
        ] {
            command.env(format!("CI_MERGE_REQUEST_{name}"), value);
        }
        run_command(command)
    };
    let output = run("never");
    assert_eq!(output.exit_code, Some(0), "{output:#?}");
    let read_output = |name: &str| fs::read_to_string(project.env.repo_root().join(name)).unwrap();
    let report: Value = serde_json::from_str(&read_output("gl-code-quality-report.json")).unwrap();
    let [finding] = report.as_array().unwrap().as_slice() else { panic!("{report:#}") };
    assert_eq!(finding["location"]["path"], "src/lib.rs");
    assert!(finding["fingerprint"].is_string() && finding["description"].is_string());
    assert!(read_output("debate-review.md").contains("What is kept is never let go of."));
    let review: Value = serde_json::from_str(&read_output("debate-review.json")).unwrap();
    assert_eq!(review["decision"], "change");
    let home = parse_yaml(&read_project_file("examples/ci/gitlab-review.yml"));
    let home = &home[home.iter().position(|entry| entry.key == "DEBATE_HOME").unwrap()].value;
    assert!(!home.contains("CI_PROJECT_DIR"), "the change could forge an archive in the checkout");
    assert_eq!(run("block").exit_code, Some(3));
}
