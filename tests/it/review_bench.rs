//! Fixture for review tests: a repository with a base and a feature branch, scripted replies for
//! all seats, and access to everything a review writes.
use crate::lab::{Call, Lab, ruling};
use crate::review_ci::Project;
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
pub(crate) const THERE: &str =
    "src/lib.rs:3 \"kept.entry(key).or_insert_with(|| read_slowly(key)).clone()\"";
pub(crate) const ALSO: &str = "src/lib.rs:2 \"let mut kept = KEPT.lock();\"";
pub(crate) const TAKEN: &str = "src/lib.rs:2 \"checked(key);\"";
pub(crate) const NOWHERE: &str = "src/lib.rs:900 \"kept.grow_forever()\"";

/// All output formats.
pub(crate) const FORMS: [&str; 8] =
    ["md", "json", "sarif", "rdjson", "gitlab", "annotations", "comment", "html"];

/// Scripted replies: the challenger's claims and the verdict.
#[derive(Clone)]
pub(crate) struct Said {
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

impl Said {
    pub(crate) fn claims(claims: Vec<Value>) -> Said {
        Said {
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
    pub(crate) fn on(evidence: &str) -> Said {
        Said::claims(vec![claim("C1", "What is kept is never let go of.", "high", evidence)])
    }

    fn ruled(&self, winner: &str) -> Value {
        let mut ruled = ruling(winner);
        let (pro, con) = if winner == "con" { (50, 80) } else { (80, 50) };
        ruled["scores"] = json!({"pro": pro, "con": con});
        ruled["reasoning"] = self.reasoning.clone().into();
        ruled["recommendation"] = self.recommendation.clone().into();
        let check = |side: &str, claim: &Value, stands: bool| {
            json!({"side": side, "claim": claim, "answered": !stands, "supported": stands,
                "conceded": false})
        };
        let own = self.claims.iter().map(|claim| check("con", &claim["id"], winner == "con"));
        let all: Vec<Value> = own.chain([check("pro", &json!("P1"), winner == "pro")]).collect();
        ruled["checks"] = json!(all);
        ruled
    }

    fn script(&self) -> String {
        let said = |prose: &str, claims: &[Value]| {
            let block = json!({"claims": claims, "concedes": [], "resolves": []});
            format!("{prose}\n\n```claims\n{block}\n```\n")
        };
        let own = json!({"id": "P1", "text": "A key is read once.",
            "evidence": ["documented behaviour of what is kept"]});
        let line = |seat: &str, text: String| json!({"seat": seat, "text": text, "cost": self.cost, "delay_ms": self.delay});
        let mirror = self.mirror.unwrap_or(self.winner);
        json!({"turns": [
            line("proposer", said("It is faster.", &[own])),
            line("challenger", said(&self.prose, &self.claims)),
            {"seat": "mirror", "json": self.ruled(mirror)},
            {"seat": "judge", "json": self.ruled(self.winner)},
            {"seat": "scribe", "text": "## Minutes\n\nOpen: P1, C1."},
        ]})
        .to_string()
    }
}

/// A repository with a feature branch under review.
pub(crate) struct Bench {
    pub(crate) project: Project,
}

impl Bench {
    /// On a feature branch without changes.
    pub(crate) fn new() -> Bench {
        let bench = Bench { project: Project { lab: Lab::without_git() } };
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.put("src/lib.rs", BEFORE);
        bench.commit("The first");
        bench.git(&["switch", "--quiet", "--create", "feature"]);
        bench.says(&Said::on(THERE));
        bench
    }

    /// On a feature branch with one committed change.
    pub(crate) fn changed() -> Bench {
        let bench = Bench::new();
        bench.put("src/lib.rs", AFTER);
        bench.commit("Keep what was read");
        bench
    }

    pub(crate) fn lab(&self) -> &Lab {
        &self.project.lab
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.project.git(args)
    }

    /// Writes a file. The path is given as bytes, so that it need not be UTF-8.
    pub(crate) fn put(&self, path: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.lab().root().join(std::ffi::OsStr::from_bytes(path.as_ref()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Commits everything except the files that debates write. Returns the commit id.
    pub(crate) fn commit(&self, message: &str) -> String {
        let file = self.lab().outside("message");
        fs::write(&file, message).unwrap();
        let all = ["add", "--all", "--force", "--", ".", ":!.debates", ":!.claude/debate"];
        self.git(&all);
        let file = file.display().to_string();
        let how = ["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file", &file];
        self.git(&how);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Sets the replies of all seats.
    pub(crate) fn says(&self, said: &Said) {
        for name in ["pro.json", "contra.json", "judge.json"] {
            fs::write(self.lab().outside(name), said.script()).unwrap();
        }
    }

    /// `debate review …` with scripted seats and one round.
    pub(crate) fn review(&self, args: &[&str]) -> Call {
        let [pro, con, judge] =
            ["pro.json", "contra.json", "judge.json"].map(|name| self.lab().seat(name));
        let seats = ["--proposer", &pro, "--challenger", &con, "--judge", &judge];
        self.lab().debate(&[&["review"], args, &seats, &["--rounds", "1"]].concat())
    }

    pub(crate) fn output(&self, form: &str) -> PathBuf {
        self.lab().outside(&format!("review.{form}"))
    }

    /// `--output` arguments for all formats.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let output = |form| format!("--output={form}={}", self.output(form).display());
        FORMS.map(output).into()
    }

    pub(crate) fn text(&self, form: &str) -> String {
        fs::read_to_string(self.output(form)).unwrap()
    }

    pub(crate) fn json(&self, form: &str) -> Value {
        serde_json::from_str(&self.text(form)).unwrap()
    }

    /// Runs a review with all outputs, asserts exit code 0, and returns the JSON output.
    #[track_caller]
    pub(crate) fn reviewed(&self, args: &[&str]) -> Value {
        let outputs = self.outputs();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        self.review(&[args, &outputs].concat()).success();
        self.json("json")
    }

    /// The number of debates in the archive.
    pub(crate) fn debates(&self) -> usize {
        let listed = self.lab().debate(&["list", "--json"]).success().json();
        listed["debates"].as_array().unwrap().len()
    }

    pub(crate) fn shown(&self) -> Value {
        self.lab().debate(&["show", "last", "--json"]).success().json()
    }

    /// Every prompt of the last debate, as (seat, prompt).
    pub(crate) fn prompts(&self) -> Vec<(String, String)> {
        let shown = self.shown();
        let turns = shown["turns"].as_array().unwrap();
        let prompt = |turn: &Value| {
            let cue = turn["turn"].as_str().unwrap();
            let told = self.lab().debate(&["show", "last", "--prompt", cue, "--json"]).success();
            let text = told.json()["prompt"].as_str().unwrap().to_owned();
            (turn["seat"].as_str().unwrap().to_owned(), text)
        };
        turns.iter().map(prompt).collect()
    }

    /// All files of the repository except those that debates write: path, permissions and content.
    pub(crate) fn everything(&self) -> Vec<(PathBuf, String, Vec<u8>)> {
        let mut all = vec![];
        walk(&self.lab().root(), &mut all);
        all.sort();
        all
    }
}

fn walk(folder: &Path, all: &mut Vec<(PathBuf, String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let about = path.symlink_metadata().unwrap();
        if path.ends_with(".claude/debate") || path.ends_with("repo/.debates") {
            continue;
        }
        let how = format!("{:?}", about.permissions());
        if about.is_dir() {
            walk(&path, all);
        } else if about.is_symlink() {
            let to = fs::read_link(&path).unwrap();
            all.push((path, how, to.as_os_str().as_bytes().to_vec()));
        } else {
            let bytes = fs::read(&path).unwrap();
            all.push((path, how, bytes));
        }
    }
}
