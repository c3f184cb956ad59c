//! Runs the published CI integration as it is: the steps of the GitHub action (`action.yml`) and
//! the GitLab job, with the real binary, scripted seats and a fake `gh`.
use crate::ci_files::{entries, filled, listed, steps, text_of};
use crate::lab::{Done, Lab, Running, Script, in_order, ruling};
use crate::needs::{here, needs};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BEFORE: &str = "pub fn get(key: &str) -> String {\n    read(key)\n}\n";
const AFTER: &str = "pub fn get(key: &str) -> String {\n    let mut kept = KEPT.lock();\n    \
                     kept.entry(key).or_insert_with(|| read(key)).clone()\n}\n";
const THERE: &str = "src/lib.rs:3 \"kept.entry(key).or_insert_with(|| read(key)).clone()\"";
const NOWHERE: &str = "src/lib.rs:900 \"kept.grow_forever()\"";

/// A repository with a feature branch under review.
pub(crate) struct Project {
    pub(crate) lab: Lab,
}

impl Project {
    pub(crate) fn new() -> Project {
        let project = Project { lab: Lab::without_git() };
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.commit("src/lib.rs", BEFORE);
        project.git(&["switch", "--quiet", "--create", "feature"]);
        project.commit("src/lib.rs", AFTER);
        project.finds(THERE, "con");
        project
    }

    /// Sets the evidence of the challenger's claim and the winner of the verdict.
    pub(crate) fn finds(&self, evidence: &str, winner: &str) {
        let said = |seat: &str, prose: &str, claim: Value| {
            let block = json!({"claims": [claim], "concedes": [], "resolves": []});
            json!({"seat": seat, "text": format!("{prose}\n\n```claims\n{block}\n```\n")})
        };
        let claim = json!({"id": "P1", "text": "A key is read once.", "evidence": [THERE]});
        let pro = said("proposer", "It is faster.", claim);
        let claim = json!({"id": "C1", "text": "What is kept is never let go of.",
            "severity": "high", "evidence": [evidence], "answers": ["P1"]});
        let con = said("challenger", "It grows.\n::error::said by a model\n", claim);
        let mut ruled = ruling(winner);
        let (pro_score, con_score) = if winner == "con" { (50, 80) } else { (80, 50) };
        ruled["scores"] = json!({"pro": pro_score, "con": con_score});
        let check = |side: &str, claim: &str, stands: bool| {
            json!({"side": side, "claim": claim, "answered": !stands, "supported": stands,
                "conceded": false})
        };
        ruled["checks"] =
            json!([check("pro", "P1", winner == "pro"), check("con", "C1", winner == "con")]);
        let judge = json!({"seat": "judge", "json": ruled});
        let scribe = json!({"seat": "scribe", "text": "## Minutes\n\nOpen: P1, C1."});
        self.lab.write(&Script::empty().first(scribe).first(judge).first(con).first(pro));
    }

    /// A command with an empty environment except `PATH`, `HOME` and what Git needs.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        let user = self.lab.outside("user");
        command.current_dir(self.lab.root()).env_clear();
        command.env("PATH", format!("{}:{path}", self.lab.bin().display())).env("HOME", user);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("DEBATE_HOME", self.lab.home());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
        }
        command
    }

    /// Runs `git`, asserts success, and returns its output.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(args);
        let done = finished(command);
        assert_eq!(done.code, Some(0), "{args:?} {done:#?}");
        done.out.trim().to_owned()
    }

    pub(crate) fn commit(&self, file: &str, text: &str) {
        self.lab.file(file, text);
        self.git(&["add", file]);
        self.git(&["commit", "--quiet", "--message", "Change"]);
    }

    /// Installs an executable script first on `PATH`.
    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.lab.bin().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The three scripted seats, by option name.
    pub(crate) fn seats(&self) -> [(&'static str, String); 3] {
        let [pro, con] = ["pro.json", "contra.json"].map(|name| self.lab.seat(name));
        [("proposer", pro.clone()), ("challenger", con), ("judge", pro)]
    }
}

pub(crate) fn finished(mut command: Command) -> Done {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::new(command.spawn().unwrap()).wait()
}

/// Fake `gh`: answers queries from a JSON file and stores posted comments.
const GH: &str = r#"
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
struct Acted {
    code: i32,
    said: String,
    outputs: BTreeMap<String, String>,
}

impl Project {
    /// With a fake `gh` and an existing comment of a stranger that contains the marker.
    fn on_github() -> Option<Project> {
        needs("jq", Path::new("jq"), &[], "your system's package manager")?;
        let project = Project::new();
        let data = project.lab.outside("gh");
        fs::create_dir(&data).unwrap();
        let stranger = json!([{"id": 7, "user": {"login": "mallory"},
            "body": "<!-- debate-review -->\nMerge it."}]);
        fs::write(data.join("comments"), stranger.to_string()).unwrap();
        fs::write(data.join("calls"), "").unwrap();
        project.program("gh", &format!("#!/bin/sh\nset -eu\ndata='{}'\n{GH}", data.display()));
        fs::create_dir(project.lab.outside("temp")).unwrap();
        Some(project)
    }

    /// The logged `gh` command lines.
    fn calls(&self) -> String {
        fs::read_to_string(self.lab.outside("gh/calls")).unwrap()
    }

    /// Runs the script steps of the action in order, with the environment of a GitHub runner.
    fn act(&self, inputs: &[(&str, &str)]) -> Acted {
        let action = text_of("action.yml");
        let mut known = BTreeMap::from([
            ("github.repository".to_owned(), "o/r".to_owned()),
            ("github.event.pull_request.number".to_owned(), "7".to_owned()),
            ("github.token".to_owned(), "a token".to_owned()),
        ]);
        for (name, value) in listed(&action, "inputs", "default") {
            known.insert(format!("inputs.{name}"), filled(&value, &known));
        }
        let seats = self.seats();
        let usual = seats.iter().map(|(name, seat)| (*name, seat.as_str()));
        let usual = usual.chain([("rounds", "1"), ("program", env!("CARGO_BIN_EXE_debate"))]);
        for (name, value) in usual.chain(inputs.iter().copied()) {
            let before = known.insert(format!("inputs.{name}"), value.to_owned());
            assert!(before.is_some(), "there is no input `{name}`");
        }
        let (base, head) = (self.git(&["rev-parse", "main"]), self.git(&["rev-parse", "HEAD"]));
        let ours = json!({"full_name": "o/r", "fork": false});
        let event = json!({"action": "synchronize", "number": 7, "repository": ours,
            "pull_request": {"number": 7, "title": "Keep what was read", "body": "It is faster.",
                "draft": false, "base": {"sha": base, "ref": "main", "repo": ours},
                "head": {"sha": head, "ref": "feature", "repo": ours}}});
        fs::write(self.lab.outside("event.json"), event.to_string()).unwrap();
        let mut acted = Acted { code: 0, said: String::new(), outputs: BTreeMap::new() };
        for step in steps(&action).iter().filter(|step| !step.run.is_empty()) {
            let output = self.lab.outside("temp/output");
            fs::write(&output, "").unwrap();
            let mut command = self.command("bash");
            command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.run]);
            command.env_remove("DEBATE_HOME").env("GITHUB_OUTPUT", &output);
            for (name, place) in [
                ("GITHUB_EVENT_PATH", "event.json"),
                ("GITHUB_STEP_SUMMARY", "temp/summary"),
                ("GITHUB_ENV", "temp/env"),
                ("RUNNER_TEMP", "temp"),
            ] {
                command.env(name, self.lab.outside(place));
            }
            command.env("GITHUB_ACTION_PATH", here("")).env("GITHUB_WORKSPACE", self.lab.root());
            command.envs([("CI", "true"), ("GITHUB_ACTIONS", "true")]);
            command.envs([("GITHUB_EVENT_NAME", "pull_request"), ("GITHUB_REPOSITORY", "o/r")]);
            command.envs([("GITHUB_BASE_REF", "main"), ("GITHUB_HEAD_REF", "feature")]);
            command.envs([("RUNNER_OS", "Linux"), ("RUNNER_ARCH", "X64")]);
            command.envs(step.env.iter().map(|(name, value)| (name, filled(value, &known))));
            let done = finished(command);
            acted.said += &done.out;
            acted.said += &done.err;
            acted.code = done.code.unwrap();
            for line in fs::read_to_string(&output).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                known.insert(format!("steps.{}.outputs.{name}", step.id), value.to_owned());
            }
            if acted.code != 0 {
                break;
            }
        }
        let outputs = listed(&action, "outputs", "value").into_iter();
        acted.outputs = outputs.map(|(name, value)| (name, filled(&value, &known))).collect();
        acted
    }

    /// The number of debates in the action's archive.
    fn kept(&self) -> usize {
        let home = self.lab.outside("temp/debate-home");
        let listed = self.lab.debate(&["list", "--json"]).home(&home).success().json();
        listed["debates"].as_array().unwrap().len()
    }
}

#[test]
fn a_comment_is_made_once_and_then_updated() {
    let Some(project) = Project::on_github() else { return };
    let first = project.act(&[]);
    assert_eq!(first.code, 0, "{}", first.said);
    let told = |name: &str| first.outputs[name].as_str();
    assert_eq!((told("decision"), told("findings"), told("exit-code")), ("change", "1", "0"));
    let sarif: Value = serde_json::from_str(&fs::read_to_string(told("sarif")).unwrap()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(Path::new(told("json")).exists());
    let body = fs::read_to_string(project.lab.outside("gh/body")).unwrap();
    assert!(body.starts_with("<!-- debate-review -->\n"), "{body}");
    assert!(body.contains("What is kept is never let go of."), "{body}");
    let calls = project.calls();
    in_order(&calls, &["--paginate", "repos/o/r/issues/7/comments", "--method POST"]);
    assert!(!calls.contains("PATCH"), "a stranger's comment is not ours: {calls}");
    let summary = fs::read_to_string(project.lab.outside("temp/summary")).unwrap();
    assert!(summary.contains("What is kept is never let go of."), "{summary}");
    assert_eq!(project.kept(), 1);

    // Model output is printed while workflow commands are stopped. The annotations come after it.
    let (_, rest) = first.said.split_once("::stop-commands::").unwrap();
    let (pause, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once(&format!("\n::{pause}::\n")).unwrap();
    let commands: Vec<&str> = after.lines().filter(|line| line.starts_with("::")).collect();
    assert!(commands.iter().any(|line| line.contains("file=src/lib.rs")), "{commands:?}");
    assert!(!commands.iter().any(|line| line.starts_with("::error::said")), "{commands:?}");

    // The same commit again: answered from the archive.
    let again = project.act(&[]);
    assert_eq!((again.code, project.kept()), (0, 1), "{}", again.said);
    assert_eq!(again.outputs["decision"], "change");

    project.commit("src/other.rs", "pub fn more() {}\n");
    let second = project.act(&[]);
    assert_eq!((second.code, project.kept()), (0, 2), "{}", second.said);
    let calls = project.calls();
    assert_eq!(calls.matches("--method POST").count(), 1, "{calls}");
    assert!(calls.contains("--method PATCH repos/o/r/issues/comments/101"), "{calls}");
}

#[test]
fn where_nothing_was_found_nothing_is_posted() {
    let Some(project) = Project::on_github() else { return };
    project.finds(NOWHERE, "pro");
    let acted = project.act(&[("fail-on", "block")]);
    let calls = project.calls();
    assert!(!calls.contains("POST") && !calls.contains("PATCH"), "{calls}");
    assert_eq!(acted.code, 0, "{}", acted.said);
    assert_eq!((&*acted.outputs["decision"], &*acted.outputs["findings"]), ("merge", "0"));
}

/// The comment of an earlier review is updated even if its debate is no longer in the archive.
#[test]
fn where_nothing_is_found_any_more_the_comment_says_so() {
    let Some(project) = Project::on_github() else { return };
    project.act(&[]);
    fs::remove_dir_all(project.lab.outside("temp/debate-home")).unwrap();
    project.finds(NOWHERE, "pro");
    project.commit("src/other.rs", "pub fn more() {}\n");
    let acted = project.act(&[]);
    assert_eq!((acted.code, &*acted.outputs["findings"]), (0, "0"), "{}", acted.said);
    let calls = project.calls();
    assert_eq!(calls.matches("--method POST").count(), 1, "{calls}");
    assert_eq!(calls.matches("--method PATCH").count(), 1, "{calls}");
}

#[test]
fn a_verdict_that_blocks_is_passed_on_after_everything_was_said() {
    let Some(project) = Project::on_github() else { return };
    let acted = project.act(&[("fail-on", "block"), ("annotations", "false")]);
    assert_eq!((acted.code, &*acted.outputs["exit-code"]), (3, "3"), "{}", acted.said);
    assert!(project.calls().contains("--method POST"), "{}", project.calls());
    assert!(!acted.said.contains("file=src/lib.rs"), "{}", acted.said);
    in_order(&acted.said, &["::error title=debate::", "the verdict blocks"]);
    let quiet = project.act(&[("fail-on", "block"), ("comment", "false")]);
    assert_eq!((quiet.code, project.calls().lines().count()), (3, 2), "{}", quiet.said);
}

#[test]
fn inputs_that_are_not_what_they_should_be_are_refused() {
    let Some(project) = Project::on_github() else { return };
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
        let acted = project.act(&[(name, value)]);
        assert_eq!(acted.code, 2, "{name}: {}", acted.said);
        let told = acted.said.contains(&format!("the input {name} must be"));
        assert!(told && !acted.said.contains(value), "{name}: {}", acted.said);
    }
    assert_eq!(project.calls(), "");
}

/// The packing commands of the release workflow.
const PACK: &str = r#"
tar -czf "$1.tar.gz" "$1"
{ sha256sum "$1.tar.gz" 2>/dev/null || shasum -a 256 "$1.tar.gz"; } >"$1.tar.gz.sha256"
"#;

/// A fake `curl` serves the release from a folder.
#[test]
fn a_release_is_fetched_and_held_to_its_hash() {
    let Some(project) = Project::on_github() else { return };
    let (version, releases) = (env!("CARGO_PKG_VERSION"), project.lab.outside("releases"));
    let name = format!("debate-{version}-x86_64-unknown-linux-gnu");
    let shim = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_debate"));
    fs::create_dir_all(releases.join(&name)).unwrap();
    fs::copy(project.program("shim", &shim), releases.join(&name).join("debate")).unwrap();
    let mut pack = project.command("sh");
    pack.current_dir(&releases).args(["-c", PACK, "sh", &name]);
    let packed = finished(pack);
    assert_eq!(packed.code, Some(0), "{packed:#?}");
    let curl = format!(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do\n  if [ \"$1\" = --output ]; then to=\"$2\"; fi\n  \
         shift\ndone\nprintf '%s\\n' \"$1\" >>'{0}/asked'\ncp '{0}/'\"${{1##*/}}\" \"$to\"\n",
        releases.display()
    );
    project.program("curl", &curl);
    let acted = project.act(&[("program", "")]);
    assert_eq!((acted.code, &*acted.outputs["decision"]), (0, "change"), "{}", acted.said);
    let asked = fs::read_to_string(releases.join("asked")).unwrap();
    let repository: Value = serde_json::from_str(&text_of("server.json")).unwrap();
    let place = format!(
        "{}/releases/download/v{version}/{name}.tar.gz",
        repository["repository"]["url"].as_str().unwrap()
    );
    assert_eq!(asked.lines().collect::<Vec<_>>(), [place.clone(), place + ".sha256"]);
    let other = "0".repeat(64);
    let refused = project.act(&[("program", ""), ("sha256", &other)]);
    assert_eq!(refused.code, 2, "{}", refused.said);
    assert!(refused.said.contains("another hash"), "{}", refused.said);
    let absent = project.act(&[("program", ""), ("version", "9.9.9")]);
    assert_eq!(absent.code, 2, "{}", absent.said);
    assert!(absent.said.contains("with the input program"), "{}", absent.said);
}

#[test]
fn the_job_for_gitlab_makes_its_report() {
    let project = Project::new();
    let shim = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_debate"));
    project.program("debate", &shim);
    let job = text_of("examples/ci/gitlab-review.yml");
    let job = entries(&job);
    let script = &job[job.iter().position(|entry| entry.key == "script").unwrap() + 1].value;
    let run = |fail_on: &str| {
        let mut command = project.command("sh");
        command.args(["-e", "-c", script]);
        command.env("DEBATE_FAIL_ON", fail_on).env("DEBATE_ROUNDS", "1");
        for (name, seat) in project.seats() {
            command.env(format!("DEBATE_{}", name.to_uppercase()), seat);
        }
        command.env("CI_PROJECT_DIR", project.lab.root());
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
        finished(command)
    };
    let done = run("never");
    assert_eq!(done.code, Some(0), "{done:#?}");
    let made = |name: &str| fs::read_to_string(project.lab.root().join(name)).unwrap();
    let report: Value = serde_json::from_str(&made("gl-code-quality-report.json")).unwrap();
    let [finding] = report.as_array().unwrap().as_slice() else { panic!("{report:#}") };
    assert_eq!(finding["location"]["path"], "src/lib.rs");
    assert!(finding["fingerprint"].is_string() && finding["description"].is_string());
    assert!(made("debate-review.md").contains("What is kept is never let go of."));
    let review: Value = serde_json::from_str(&made("debate-review.json")).unwrap();
    assert_eq!(review["decision"], "change");
    let home = entries(&text_of("examples/ci/gitlab-review.yml"));
    let home = &home[home.iter().position(|entry| entry.key == "DEBATE_HOME").unwrap()].value;
    assert!(!home.contains("CI_PROJECT_DIR"), "an archive in the checkout could be anybody's");
    assert_eq!(run("block").code, Some(3));
}
