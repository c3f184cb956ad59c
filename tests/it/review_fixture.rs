//! Fixture for review tests: a repository with a base and a feature branch, scripted replies for
//! all seats, and access to everything a review writes.
use crate::review_ci::ReviewRepo;
use crate::test_env::{DebateCommand, TestEnv, verdict_json};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) const BEFORE: &str = "pub fn get(key: &str) -> String {\n    checked(key);\n    \
                                 read_slowly(key)\n}\n";
pub(crate) const AFTER: &str = "pub fn get(key: &str) -> String {\n    let mut kept = \
                                KEPT.lock();\n    kept.entry(key).or_insert_with(|| \
                                read_slowly(key)).clone()\n}\n";
/// Evidence for a line that the change adds.
pub(crate) const ADDED_LINE: &str =
    "src/lib.rs:3 \"kept.entry(key).or_insert_with(|| read_slowly(key)).clone()\"";
pub(crate) const OTHER_ADDED_LINE: &str = "src/lib.rs:2 \"let mut kept = KEPT.lock();\"";
pub(crate) const REMOVED_LINE: &str = "src/lib.rs:2 \"checked(key);\"";
pub(crate) const MISSING_LINE: &str = "src/lib.rs:900 \"kept.grow_forever()\"";

/// All output formats.
pub(crate) const OUTPUT_FORMATS: [&str; 8] =
    ["md", "json", "sarif", "rdjson", "gitlab", "annotations", "comment", "html"];

/// Scripted replies: the challenger's claims and the verdict.
#[derive(Clone)]
pub(crate) struct ReviewScript {
    pub(crate) prose: String,
    pub(crate) claims: Vec<Value>,
    pub(crate) winner: &'static str,
    pub(crate) mirror: Option<&'static str>,
    pub(crate) reasoning: String,
    pub(crate) recommendation: String,
    pub(crate) cost: Option<f64>,
    pub(crate) delay: Option<u64>,
}

/// A claim of the challenger, as JSON.
pub(crate) fn claim(id: &str, text: &str, severity: &str, evidence: &str) -> Value {
    json!({"id": id, "text": text, "severity": severity, "evidence": [evidence]})
}

impl ReviewScript {
    pub(crate) fn with_claims(claims: Vec<Value>) -> ReviewScript {
        ReviewScript {
            prose: "It grows.".into(),
            claims,
            winner: "con",
            mirror: None,
            reasoning: "It was shown in T1 and never answered.".into(),
            recommendation: "Bound what is kept.".into(),
            cost: None,
            delay: None,
        }
    }

    /// One high-severity claim with this evidence.
    pub(crate) fn citing(evidence: &str) -> ReviewScript {
        ReviewScript::with_claims(vec![claim(
            "C1",
            "What is kept is never let go of.",
            "high",
            evidence,
        )])
    }

    fn scripted_verdict(&self, winner: &str) -> Value {
        let mut verdict = verdict_json(winner);
        let (pro, con) = if winner == "con" { (50, 80) } else { (80, 50) };
        verdict["scores"] = json!({"pro": pro, "con": con});
        verdict["reasoning"] = self.reasoning.clone().into();
        verdict["recommendation"] = self.recommendation.clone().into();
        let check = |side: &str, claim: &Value, holds: bool| {
            json!({"side": side, "claim": claim, "answered": !holds, "supported": holds,
                "conceded": false})
        };
        let con_checks =
            self.claims.iter().map(|claim| check("con", &claim["id"], winner == "con"));
        let checks: Vec<Value> =
            con_checks.chain([check("pro", &json!("P1"), winner == "pro")]).collect();
        verdict["checks"] = json!(checks);
        verdict
    }

    fn to_script_json(&self) -> String {
        let speech = |prose: &str, claims: &[Value]| {
            let block = json!({"claims": claims, "concedes": [], "resolves": []});
            format!("{prose}\n\n```claims\n{block}\n```\n")
        };
        let pro_claim = json!({"id": "P1", "text": "A key is read once.",
            "evidence": ["documented behaviour of what is kept"]});
        let turn = |seat: &str, text: String| json!({"seat": seat, "text": text, "cost": self.cost, "delay_ms": self.delay});
        let mirror = self.mirror.unwrap_or(self.winner);
        json!({"turns": [
            turn("proposer", speech("It is faster.", &[pro_claim])),
            turn("challenger", speech(&self.prose, &self.claims)),
            {"seat": "mirror", "json": self.scripted_verdict(mirror)},
            {"seat": "judge", "json": self.scripted_verdict(self.winner)},
            {"seat": "scribe", "text": "## Minutes\n\nOpen: P1, C1."},
        ]})
        .to_string()
    }
}

/// A repository with a feature branch under review.
pub(crate) struct ReviewFixture {
    pub(crate) repo: ReviewRepo,
}

impl ReviewFixture {
    /// On a feature branch without changes.
    pub(crate) fn new() -> ReviewFixture {
        let fixture = ReviewFixture { repo: ReviewRepo { env: TestEnv::without_git() } };
        fixture.git(&["init", "--quiet", "--initial-branch=main"]);
        fixture.write_file("src/lib.rs", BEFORE);
        fixture.commit("The first");
        fixture.git(&["switch", "--quiet", "--create", "feature"]);
        fixture.set_script(&ReviewScript::citing(ADDED_LINE));
        fixture
    }

    /// On a feature branch with one committed change.
    pub(crate) fn with_change() -> ReviewFixture {
        let fixture = ReviewFixture::new();
        fixture.write_file("src/lib.rs", AFTER);
        fixture.commit("Keep what was read");
        fixture
    }

    pub(crate) fn env(&self) -> &TestEnv {
        &self.repo.env
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.repo.git(args)
    }

    /// Writes a file. The path is given as bytes, so that it need not be UTF-8.
    pub(crate) fn write_file(&self, path: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.env().repo_root().join(std::ffi::OsStr::from_bytes(path.as_ref()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Commits everything except the files that debates write. Returns the commit id.
    pub(crate) fn commit(&self, message: &str) -> String {
        let file = self.env().temp_path("message");
        fs::write(&file, message).unwrap();
        let add_args = ["add", "--all", "--force", "--", ".", ":!.debates", ":!.claude/debate"];
        self.git(&add_args);
        let file = file.display().to_string();
        let commit_args =
            ["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file", &file];
        self.git(&commit_args);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Sets the replies of all seats.
    pub(crate) fn set_script(&self, script: &ReviewScript) {
        for name in ["pro.json", "contra.json", "judge.json"] {
            fs::write(self.env().temp_path(name), script.to_script_json()).unwrap();
        }
    }

    /// `debate review …` with scripted seats and one round.
    pub(crate) fn review_command(&self, args: &[&str]) -> DebateCommand {
        let [pro, con, judge] =
            ["pro.json", "contra.json", "judge.json"].map(|name| self.env().script_seat(name));
        let seats = ["--proposer", &pro, "--challenger", &con, "--judge", &judge];
        self.env().debate(&[&["review"], args, &seats, &["--rounds", "1"]].concat())
    }

    pub(crate) fn output_path(&self, format: &str) -> PathBuf {
        self.env().temp_path(&format!("review.{format}"))
    }

    /// `--output` arguments for all formats.
    pub(crate) fn output_args(&self) -> Vec<String> {
        let output = |format| format!("--output={format}={}", self.output_path(format).display());
        OUTPUT_FORMATS.map(output).into()
    }

    pub(crate) fn output_text(&self, format: &str) -> String {
        fs::read_to_string(self.output_path(format)).unwrap()
    }

    pub(crate) fn output_json(&self, format: &str) -> Value {
        serde_json::from_str(&self.output_text(format)).unwrap()
    }

    /// Runs a review with all outputs, asserts exit code 0, and returns the JSON output.
    #[track_caller]
    pub(crate) fn review_to_json(&self, args: &[&str]) -> Value {
        let outputs = self.output_args();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        self.review_command(&[args, &outputs].concat()).expect_success();
        self.output_json("json")
    }

    /// The number of debates in the archive.
    pub(crate) fn debate_count(&self) -> usize {
        let listed = self.env().debate(&["list", "--json"]).expect_success().json();
        listed["debates"].as_array().unwrap().len()
    }

    pub(crate) fn last_debate(&self) -> Value {
        self.env().debate(&["show", "last", "--json"]).expect_success().json()
    }

    /// Every prompt of the last debate, as (seat, prompt).
    pub(crate) fn prompts(&self) -> Vec<(String, String)> {
        let debate = self.last_debate();
        let turns = debate["turns"].as_array().unwrap();
        let read_prompt = |turn: &Value| {
            let cue = turn["turn"].as_str().unwrap();
            let output =
                self.env().debate(&["show", "last", "--prompt", cue, "--json"]).expect_success();
            let text = output.json()["prompt"].as_str().unwrap().to_owned();
            (turn["seat"].as_str().unwrap().to_owned(), text)
        };
        turns.iter().map(read_prompt).collect()
    }

    /// All files of the repository except those that debates write: path, permissions and content.
    pub(crate) fn repository_files(&self) -> Vec<(PathBuf, String, Vec<u8>)> {
        let mut files = vec![];
        collect_files(&self.env().repo_root(), &mut files);
        files.sort();
        files
    }
}

fn collect_files(folder: &Path, files: &mut Vec<(PathBuf, String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let metadata = path.symlink_metadata().unwrap();
        if path.ends_with(".claude/debate") || path.ends_with("repo/.debates") {
            continue;
        }
        let permissions = format!("{:?}", metadata.permissions());
        if metadata.is_dir() {
            collect_files(&path, files);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            files.push((path, permissions, target.as_os_str().as_bytes().to_vec()));
        } else {
            let bytes = fs::read(&path).unwrap();
            files.push((path, permissions, bytes));
        }
    }
}
