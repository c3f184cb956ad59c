//! Test environment for the real `debate` binary: a temporary repository, data directory, user home
//! and `PATH`, with a cleared process environment. Seats are played by scripts. `TestEnv` builds
//! commands, `CommandOutput` and `RunningProcess` hold their results.
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A temporary folder with a repository, a data directory, a user home and a `PATH` folder.
pub(crate) struct Lab {
    folder: TempDir,
    home: PathBuf,
}

impl Lab {
    /// With an empty `.git` folder in the repository.
    pub(crate) fn new() -> Lab {
        let lab = Lab::without_git();
        fs::create_dir(lab.root().join(".git")).unwrap();
        lab
    }

    /// Without `.git`, so that the folder is no repository.
    pub(crate) fn without_git() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["repo", "user", "bin"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        let lab = Lab { home: folder.path().join("home"), folder };
        lab.write(&Script::new());
        lab
    }

    pub(crate) fn root(&self) -> PathBuf {
        dunce::canonicalize(self.folder.path()).unwrap().join("repo")
    }

    /// A path in the temporary folder, outside the repository.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        dunce::canonicalize(self.folder.path()).unwrap().join(name)
    }

    /// The only folder in `PATH`, so that no installed program is ever called.
    pub(crate) fn bin(&self) -> PathBuf {
        self.outside("bin")
    }

    /// `DEBATE_HOME`: the archive database and the signing key.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Copies the files of the data directory to a new folder and returns its path.
    pub(crate) fn copy_of_home(&self, name: &str) -> PathBuf {
        let copy = self.outside(name);
        fs::create_dir(&copy).unwrap();
        for entry in fs::read_dir(&self.home).unwrap().flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        copy
    }

    /// Writes a file in the repository, with its parent folders.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes the script for both sides and the judge.
    pub(crate) fn write(&self, script: &Script) {
        for name in ["pro.json", "contra.json"] {
            fs::write(self.outside(name), script.text()).unwrap();
        }
    }

    /// Seat argument (`script:<path>`) for a script file.
    pub(crate) fn seat(&self, name: &str) -> String {
        format!("script:{}", self.outside(name).display())
    }

    /// A `debate` command with these arguments, run in the repository with a cleared environment.
    pub(crate) fn debate(&self, args: &[&str]) -> Call {
        let mut command = Command::new(env!("CARGO_BIN_EXE_debate"));
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", self.bin())
            .env("HOME", self.outside("user"))
            .env("DEBATE_HOME", &self.home);
        // Sockets need `SystemRoot` on Windows. The others replace `HOME` there.
        #[cfg(windows)]
        command
            .envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)))
            .env("USERPROFILE", self.outside("user"))
            .env("APPDATA", self.outside("user/.config"));
        Call { command, stdin: None }
    }

    /// A `debate run` command with scripts for both sides.
    pub(crate) fn run(&self, topic: &str, more: &[&str]) -> Call {
        let (pro, con) = (self.seat("pro.json"), self.seat("contra.json"));
        let seats = ["run", topic, "--proposer", &pro, "--challenger", &con];
        self.debate(&[&seats, more].concat())
    }

    /// Text of the state file, `last-debate.json`.
    pub(crate) fn state_text(&self) -> String {
        fs::read_to_string(self.state_path()).unwrap()
    }

    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.state_text()).unwrap()
    }

    pub(crate) fn state_path(&self) -> PathBuf {
        self.root().join(".claude/debate/last-debate.json")
    }

    /// Id of the newest debate.
    pub(crate) fn last(&self) -> String {
        let shown = self.debate(&["show", "last", "--json"]).success().json();
        shown["id"].as_str().unwrap().to_owned()
    }

    /// Waits for the first request to the challenger of the newest debate and returns its id.
    pub(crate) fn challenged(&self) -> String {
        let mut id = String::new();
        until("the challenger is asked", || {
            let listed = self.debate(&["list", "--json"]).success().json();
            let Some(found) = listed["debates"][0]["id"].as_str() else { return false };
            id = found.into();
            let asked = |event: &Value| event["event"] == "asked" && event["cues"][0]["seat"] == 1;
            self.events(&id).iter().any(asked)
        });
        id
    }

    /// The event log of a debate, without its setup line.
    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        let out = self.debate(&["export", id, "--as", "events"]).success();
        out.lines().iter().skip(1).map(|line| line["event"].clone()).collect()
    }

    /// Number of `spoke` events per turn id.
    pub(crate) fn turns_taken(&self, id: &str) -> BTreeMap<String, usize> {
        let mut taken = BTreeMap::new();
        for event in self.events(id).iter().filter(|event| event["event"] == "spoke") {
            *taken.entry(turn(&event["cue"])).or_insert(0) += 1;
        }
        taken
    }

    /// Replays a debate from its log and asserts that all prompts are identical.
    pub(crate) fn replays(&self, id: &str) {
        let out = self.debate(&["replay", id, "--json"]).success();
        let last = out.lines().pop().unwrap();
        assert_eq!(last["kind"], "replayed");
        assert_eq!(last["prompts_changed"], json!([]), "{last}");
        let asked = self.events(id).iter().filter(|event| event["event"] == "asked").count();
        assert!(last["prompts_same"].as_u64().unwrap() >= asked as u64, "{last}");
    }

    /// Opens the archive database, to query or to damage it.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.home.join("archive.db")).unwrap()
    }
}

/// Turn id of a cue as the CLI and the MCP tools show it.
pub(crate) fn turn(cue: &Value) -> String {
    format!("{}.{}.{}.{}", cue["act"], cue["round"], cue["phase"], cue["seat"])
}

/// A `debate` process to be started.
pub(crate) struct Call {
    command: Command,
    stdin: Option<String>,
}

/// Output and exit code of a finished process.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Call {
    pub(crate) fn stdin(mut self, text: &str) -> Call {
        self.stdin = Some(text.into());
        self
    }

    pub(crate) fn home(self, home: &Path) -> Call {
        self.env("DEBATE_HOME", home.to_str().unwrap())
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Call {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Call {
        self.command.env(name, value);
        self
    }

    /// Starts the process with stdin left open.
    pub(crate) fn start(mut self) -> Running {
        let command = self.command.stdin(Stdio::piped());
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn command(self) -> Command {
        self.command
    }

    pub(crate) fn done(mut self) -> Done {
        let Some(text) = self.stdin.take() else {
            return Done::of(&self.command.stdin(Stdio::null()).output().unwrap());
        };
        let mut running = self.start();
        // The process may close the pipe before it has read everything.
        let _ = running.0.stdin.take().unwrap().write_all(text.as_bytes());
        running.wait()
    }

    /// Runs the command and asserts exit code 0.
    #[track_caller]
    pub(crate) fn success(self) -> Done {
        self.ends(0)
    }

    /// Runs the command and asserts its exit code, and that the output has no ANSI escapes.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Done {
        let done = self.done();
        assert_eq!(done.code, Some(code), "{done:#?}");
        assert!(!done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'), "{done:#?}");
        done
    }

    /// Runs the command and asserts an error: this exit code, empty stdout, `error:` on stderr.
    #[track_caller]
    pub(crate) fn fails_with(self, code: i32) -> Done {
        let done = self.ends(code);
        assert_eq!(done.out, "", "nothing goes to stdout with an error");
        assert!(done.err.contains("error:"), "{done:#?}");
        done
    }
}

impl Done {
    fn of(output: &std::process::Output) -> Done {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Done { out: text(&output.stdout), err: text(&output.stderr), code: output.status.code() }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Parses stdout as JSON lines.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Asserts that stdout contains these parts in this order.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) {
        in_order(&self.out, parts);
    }

    #[track_caller]
    pub(crate) fn warns(&self, part: &str) {
        assert!(self.err.contains(part), "no `{part}` in {self:#?}");
    }
}

/// Asserts that a text contains these parts in this order.
#[track_caller]
pub(crate) fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("no `{part}` in its place in:\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

fn text(from: &mut dyn Read) -> String {
    let mut bytes = vec![];
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A running child process, killed on drop.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn new(child: Child) -> Running {
        Running(child)
    }

    /// Takes the process's stdin and stdout.
    pub(crate) fn streams(&mut self) -> (ChildStdin, ChildStdout) {
        (self.0.stdin.take().unwrap(), self.0.stdout.take().unwrap())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends a Unix signal by name: `INT`, `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Blocks until stderr contains this. The text read is not part of the output of `wait`.
    #[track_caller]
    pub(crate) fn wait_for_stderr(&mut self, part: &str) {
        let stderr = self.0.stderr.as_mut().unwrap();
        let (mut read, mut byte) = (vec![], [0]);
        while !String::from_utf8_lossy(&read).contains(part) {
            assert_eq!(stderr.read(&mut byte).unwrap(), 1, "it ended without `{part}`");
            read.push(byte[0]);
        }
    }

    /// Closes the read end of stdout, so that the process gets a broken pipe.
    pub(crate) fn unread(&mut self) {
        drop(self.0.stdout.take());
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits for exit and returns the remaining output.
    pub(crate) fn wait(mut self) -> Done {
        let mut stderr = self.0.stderr.take().unwrap();
        let err = std::thread::spawn(move || text(&mut stderr));
        let out = self.0.stdout.take().map(|mut stdout| text(&mut stdout)).unwrap_or_default();
        let code = self.0.wait().unwrap().code();
        Done { out, err: err.join().unwrap(), code }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Polls a condition every 10 ms. Panics after a timeout of 8 s.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(8);
    while !so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Script for `script:` seats: for each request the first matching entry is the reply.
#[derive(Clone)]
pub(crate) struct Script(Vec<Value>);

impl Script {
    /// A duel without failures, for up to five rounds: each side keeps one claim and adds new
    /// evidence for it every round.
    pub(crate) fn new() -> Script {
        let mut lines = vec![
            json!({"phase": "propose", "text": speech("Use one file.", "P1", &[])}),
            json!({"phase": "challenge", "text": speech("One file locks.", "C1", &["P1"])}),
        ];
        for round in 2..=5 {
            let defence = speech(&format!("The lock is short, {round}."), "P1", &["C1"]);
            lines.push(json!({"phase": "defend", "round": round, "text": defence}));
            let next = speech(&format!("It is not, {round}."), "C1", &["P1"]);
            lines.push(json!({"phase": "follow_up", "round": round, "text": next}));
        }
        let minutes = "## Minutes\n\nOpen: P1, C1.";
        lines.push(json!({"seat": "scribe", "text": minutes}));
        lines.push(json!({"seat": "judge", "json": ruling("pro")}));
        Script(lines)
    }

    pub(crate) fn empty() -> Script {
        Script(vec![])
    }

    /// Adds an entry that is matched before all others.
    pub(crate) fn first(mut self, line: Value) -> Script {
        self.0.insert(0, line);
        self
    }

    fn text(&self) -> String {
        json!({ "turns": self.0 }).to_string()
    }
}

/// A speech with one claim. Its evidence contains the prose, so new prose is new evidence.
pub(crate) fn speech(prose: &str, id: &str, answers: &[&str]) -> String {
    let claim = json!({"id": id, "text": format!("{id} holds."),
        "evidence": [format!("documented behaviour of {id}: {prose}")], "answers": answers});
    let block = json!({"claims": [claim], "concedes": [], "resolves": []});
    format!("{prose}\n\n```claims\n{block}\n```\n")
}

/// A verdict that satisfies the judge's schema.
pub(crate) fn ruling(winner: &str) -> Value {
    let (pro, con) = if winner == "con" { (60, 70) } else { (70, 60) };
    json!({
        "winner": winner, "confidence": 0.7, "scores": {"pro": pro, "con": con},
        "reasoning": "It was shown in T1 and never answered.", "cites": ["T1"],
        "quality": {"disagreement": "high", "evidence": "medium", "depth": "low"},
        "agreements": [{"point": "files are slow", "evidence": "T2"}],
        "disagreements": [{"point": "locks", "pro": "short", "con": "long"}],
        "unresolved": ["How long is a lock held?"],
        "recommendation": "Use one file and measure the lock.", "checks": checks(),
    })
}

/// Claim checks for the one claim of each side. By these answers neither claim stands.
pub(crate) fn checks() -> Value {
    let check = |side: &str, claim: &str| {
        json!({"side": side, "claim": claim, "answered": true, "supported": false,
            "conceded": false})
    };
    json!([check("pro", "P1"), check("con", "C1")])
}

/// Whether any file below a folder contains this text.
pub(crate) fn stands_in(folder: &Path, words: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return stands_in(&path, words);
        }
        // A running process may have deleted the file in the meantime.
        let Ok(bytes) = fs::read(&path) else { return false };
        bytes.windows(words.len()).any(|window| window == words.as_bytes())
    })
}
