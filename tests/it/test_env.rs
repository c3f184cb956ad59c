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
pub(crate) struct TestEnv {
    temp_dir: TempDir,
    data_dir: PathBuf,
}

impl TestEnv {
    /// With an empty `.git` folder in the repository.
    pub(crate) fn new() -> TestEnv {
        let env = TestEnv::without_git();
        fs::create_dir(env.repo_root().join(".git")).unwrap();
        env
    }

    /// Without `.git`, so that the folder is no repository.
    pub(crate) fn without_git() -> TestEnv {
        let temp_dir = tempfile::tempdir().unwrap();
        for name in ["repo", "user", "bin"] {
            fs::create_dir(temp_dir.path().join(name)).unwrap();
        }
        let env = TestEnv { data_dir: temp_dir.path().join("home"), temp_dir };
        env.write_script(&SeatScript::new());
        env
    }

    pub(crate) fn repo_root(&self) -> PathBuf {
        dunce::canonicalize(self.temp_dir.path()).unwrap().join("repo")
    }

    /// A path in the temporary folder, outside the repository.
    pub(crate) fn temp_path(&self, name: &str) -> PathBuf {
        dunce::canonicalize(self.temp_dir.path()).unwrap().join(name)
    }

    /// The only folder in `PATH`, so that no installed program is ever called.
    pub(crate) fn bin_dir(&self) -> PathBuf {
        self.temp_path("bin")
    }

    /// `DEBATE_HOME`: the archive database and the signing key.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Copies the files of the data directory to a new folder and returns its path.
    pub(crate) fn copy_data_dir(&self, name: &str) -> PathBuf {
        let copy = self.temp_path(name);
        fs::create_dir(&copy).unwrap();
        for entry in fs::read_dir(&self.data_dir).unwrap().flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        copy
    }

    /// Writes a file in the repository, with its parent folders.
    pub(crate) fn write_repo_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.repo_root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes the script for both sides and the judge.
    pub(crate) fn write_script(&self, script: &SeatScript) {
        for name in ["pro.json", "contra.json"] {
            fs::write(self.temp_path(name), script.to_json()).unwrap();
        }
    }

    /// Seat argument (`script:<path>`) for a script file.
    pub(crate) fn script_seat(&self, name: &str) -> String {
        format!("script:{}", self.temp_path(name).display())
    }

    /// A `debate` command with these arguments, run in the repository with a cleared environment.
    pub(crate) fn debate(&self, args: &[&str]) -> DebateCommand {
        let mut command = Command::new(env!("CARGO_BIN_EXE_debate"));
        command
            .args(args)
            .current_dir(self.repo_root())
            .env_clear()
            .env("PATH", self.bin_dir())
            .env("HOME", self.temp_path("user"))
            .env("DEBATE_HOME", &self.data_dir);
        // Sockets need `SystemRoot` on Windows. The others replace `HOME` there.
        #[cfg(windows)]
        command
            .envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)))
            .env("USERPROFILE", self.temp_path("user"))
            .env("APPDATA", self.temp_path("user/.config"));
        DebateCommand { command, stdin: None }
    }

    /// A `debate run` command with scripts for both sides.
    pub(crate) fn debate_run(&self, topic: &str, extra_args: &[&str]) -> DebateCommand {
        let (pro, con) = (self.script_seat("pro.json"), self.script_seat("contra.json"));
        let run_args = ["run", topic, "--proposer", &pro, "--challenger", &con];
        self.debate(&[&run_args, extra_args].concat())
    }

    /// Text of the state file, `last-debate.json`.
    pub(crate) fn state_file_text(&self) -> String {
        fs::read_to_string(self.state_file_path()).unwrap()
    }

    pub(crate) fn state_file_json(&self) -> Value {
        serde_json::from_str(&self.state_file_text()).unwrap()
    }

    pub(crate) fn state_file_path(&self) -> PathBuf {
        self.repo_root().join(".claude/debate/last-debate.json")
    }

    /// Id of the newest debate.
    pub(crate) fn latest_debate_id(&self) -> String {
        let view = self.debate(&["show", "last", "--json"]).expect_success().json();
        view["id"].as_str().unwrap().to_owned()
    }

    /// Waits for the first request to the challenger of the newest debate and returns its id.
    pub(crate) fn wait_for_challenger(&self) -> String {
        let mut id = String::new();
        wait_until("the challenger is asked", || {
            let listing = self.debate(&["list", "--json"]).expect_success().json();
            let Some(newest_id) = listing["debates"][0]["id"].as_str() else { return false };
            id = newest_id.into();
            let is_challenger_request =
                |event: &Value| event["event"] == "asked" && event["cues"][0]["seat"] == 1;
            self.events(&id).iter().any(is_challenger_request)
        });
        id
    }

    /// The event log of a debate, without its setup line.
    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        let out = self.debate(&["export", id, "--as", "events"]).expect_success();
        out.json_lines().iter().skip(1).map(|line| line["event"].clone()).collect()
    }

    /// Number of `spoke` events per turn id.
    pub(crate) fn turn_counts(&self, id: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for event in self.events(id).iter().filter(|event| event["event"] == "spoke") {
            *counts.entry(turn_id(&event["cue"])).or_insert(0) += 1;
        }
        counts
    }

    /// Replays a debate from its log and asserts that all prompts are identical.
    pub(crate) fn assert_replays(&self, id: &str) {
        let out = self.debate(&["replay", id, "--json"]).expect_success();
        let summary = out.json_lines().pop().unwrap();
        assert_eq!(summary["kind"], "replayed");
        assert_eq!(summary["prompts_changed"], json!([]), "{summary}");
        let request_count =
            self.events(id).iter().filter(|event| event["event"] == "asked").count();
        assert!(summary["prompts_same"].as_u64().unwrap() >= request_count as u64, "{summary}");
    }

    /// Opens the archive database, to query or to damage it.
    pub(crate) fn open_database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.data_dir.join("archive.db")).unwrap()
    }
}

/// Turn id of a cue as the CLI and the MCP tools show it.
pub(crate) fn turn_id(cue: &Value) -> String {
    format!("{}.{}.{}.{}", cue["act"], cue["round"], cue["phase"], cue["seat"])
}

/// A `debate` process to be started.
pub(crate) struct DebateCommand {
    command: Command,
    stdin: Option<String>,
}

/// Output and exit code of a finished process.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: Option<i32>,
}

impl DebateCommand {
    pub(crate) fn stdin(mut self, text: &str) -> DebateCommand {
        self.stdin = Some(text.into());
        self
    }

    pub(crate) fn data_dir(self, path: &Path) -> DebateCommand {
        self.env("DEBATE_HOME", path.to_str().unwrap())
    }

    pub(crate) fn current_dir(mut self, folder: &Path) -> DebateCommand {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> DebateCommand {
        self.command.env(name, value);
        self
    }

    /// Starts the process with stdin left open.
    pub(crate) fn spawn(mut self) -> RunningProcess {
        let command = self.command.stdin(Stdio::piped());
        RunningProcess(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    pub(crate) fn output(mut self) -> CommandOutput {
        let Some(text) = self.stdin.take() else {
            return CommandOutput::from_output(
                &self.command.stdin(Stdio::null()).output().unwrap(),
            );
        };
        let mut process = self.spawn();
        // The process may close the pipe before it has read everything.
        let _ = process.0.stdin.take().unwrap().write_all(text.as_bytes());
        process.wait()
    }

    /// Runs the command and asserts exit code 0.
    #[track_caller]
    pub(crate) fn expect_success(self) -> CommandOutput {
        self.expect_exit_code(0)
    }

    /// Runs the command and asserts its exit code, and that the output has no ANSI escapes.
    #[track_caller]
    pub(crate) fn expect_exit_code(self, code: i32) -> CommandOutput {
        let output = self.output();
        assert_eq!(output.exit_code, Some(code), "{output:#?}");
        assert!(
            !output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'),
            "{output:#?}"
        );
        output
    }

    /// Runs the command and asserts an error: this exit code, empty stdout, `error:` on stderr.
    #[track_caller]
    pub(crate) fn expect_error(self, code: i32) -> CommandOutput {
        let output = self.expect_exit_code(code);
        assert_eq!(output.stdout, "", "nothing goes to stdout with an error");
        assert!(output.stderr.contains("error:"), "{output:#?}");
        output
    }
}

impl CommandOutput {
    fn from_output(output: &std::process::Output) -> CommandOutput {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        CommandOutput {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            exit_code: output.status.code(),
        }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Parses stdout as JSON lines.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Asserts that stdout contains these parts in this order.
    #[track_caller]
    pub(crate) fn assert_stdout_contains(&self, parts: &[&str]) {
        assert_contains_in_order(&self.stdout, parts);
    }

    #[track_caller]
    pub(crate) fn assert_stderr_contains(&self, part: &str) {
        assert!(self.stderr.contains(part), "no `{part}` in {self:#?}");
    }
}

/// Asserts that a text contains these parts in this order.
#[track_caller]
pub(crate) fn assert_contains_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(index) = rest.find(part) else {
            panic!("`{part}` is missing or out of order in:\n{text}")
        };
        rest = &rest[index + part.len()..];
    }
}

fn read_lossy(reader: &mut dyn Read) -> String {
    let mut bytes = vec![];
    reader.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A running child process, killed on drop.
pub(crate) struct RunningProcess(Child);

impl RunningProcess {
    pub(crate) fn new(child: Child) -> RunningProcess {
        RunningProcess(child)
    }

    /// Takes the process's stdin and stdout.
    pub(crate) fn take_stdio(&mut self) -> (ChildStdin, ChildStdout) {
        (self.0.stdin.take().unwrap(), self.0.stdout.take().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Sends a Unix signal by name: `INT`, `KILL`.
    pub(crate) fn send_signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(status.success());
    }

    /// Blocks until stderr contains this. The text read is not part of the output of `wait`.
    #[track_caller]
    pub(crate) fn wait_for_stderr(&mut self, part: &str) {
        let stderr = self.0.stderr.as_mut().unwrap();
        let (mut received, mut byte) = (vec![], [0]);
        while !String::from_utf8_lossy(&received).contains(part) {
            assert_eq!(stderr.read(&mut byte).unwrap(), 1, "stderr ended without `{part}`");
            received.push(byte[0]);
        }
    }

    /// Closes the read end of stdout, so that the process gets a broken pipe.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.0.stdout.take());
    }

    pub(crate) fn has_exited(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits for exit and returns the remaining output.
    pub(crate) fn wait(mut self) -> CommandOutput {
        let mut stderr = self.0.stderr.take().unwrap();
        let stderr_reader = std::thread::spawn(move || read_lossy(&mut stderr));
        let stdout_text =
            self.0.stdout.take().map(|mut stdout| read_lossy(&mut stdout)).unwrap_or_default();
        let exit_code = self.0.wait().unwrap().code();
        CommandOutput { stdout: stdout_text, stderr: stderr_reader.join().unwrap(), exit_code }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Polls a condition every 10 ms. Panics after a timeout of 8 s.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(8);
    while !condition() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Script for `script:` seats: for each request the first matching entry is the reply.
#[derive(Clone)]
pub(crate) struct SeatScript(Vec<Value>);

impl SeatScript {
    /// A duel without failures, for up to five rounds: each side keeps one claim and adds new
    /// evidence for it every round.
    pub(crate) fn new() -> SeatScript {
        let mut entries = vec![
            json!({"phase": "propose", "text": speech_with_claim("Use one file.", "P1", &[])}),
            json!({"phase": "challenge", "text": speech_with_claim("One file locks.", "C1", &["P1"])}),
        ];
        for round in 2..=5 {
            let defence = speech_with_claim(&format!("The lock is short, {round}."), "P1", &["C1"]);
            entries.push(json!({"phase": "defend", "round": round, "text": defence}));
            let follow_up = speech_with_claim(&format!("It is not, {round}."), "C1", &["P1"]);
            entries.push(json!({"phase": "follow_up", "round": round, "text": follow_up}));
        }
        let minutes = "## Minutes\n\nOpen: P1, C1.";
        entries.push(json!({"seat": "scribe", "text": minutes}));
        entries.push(json!({"seat": "judge", "json": verdict_json("pro")}));
        SeatScript(entries)
    }

    pub(crate) fn empty() -> SeatScript {
        SeatScript(vec![])
    }

    /// Adds an entry that is matched before all others.
    pub(crate) fn prepend(mut self, entry: Value) -> SeatScript {
        self.0.insert(0, entry);
        self
    }

    fn to_json(&self) -> String {
        json!({ "turns": self.0 }).to_string()
    }
}

/// A speech with one claim. Its evidence contains the prose, so new prose is new evidence.
pub(crate) fn speech_with_claim(prose: &str, id: &str, answers: &[&str]) -> String {
    let claim = json!({"id": id, "text": format!("{id} holds."),
        "evidence": [format!("documented behaviour of {id}: {prose}")], "answers": answers});
    let block = json!({"claims": [claim], "concedes": [], "resolves": []});
    format!("{prose}\n\n```claims\n{block}\n```\n")
}

/// A verdict that satisfies the judge's schema.
pub(crate) fn verdict_json(winner: &str) -> Value {
    let (pro, con) = if winner == "con" { (60, 70) } else { (70, 60) };
    json!({
        "winner": winner, "confidence": 0.7, "scores": {"pro": pro, "con": con},
        "reasoning": "It was shown in T1 and never answered.", "cites": ["T1"],
        "quality": {"disagreement": "high", "evidence": "medium", "depth": "low"},
        "agreements": [{"point": "files are slow", "evidence": "T2"}],
        "disagreements": [{"point": "locks", "pro": "short", "con": "long"}],
        "unresolved": ["How long is a lock held?"],
        "recommendation": "Use one file and measure the lock.", "checks": claim_checks_json(),
    })
}

/// Claim checks for the one claim of each side. By these answers neither claim stands.
pub(crate) fn claim_checks_json() -> Value {
    let check = |side: &str, claim: &str| {
        json!({"side": side, "claim": claim, "answered": true, "supported": false,
            "conceded": false})
    };
    json!([check("pro", "P1"), check("con", "C1")])
}

/// Whether any file below a folder contains this text.
pub(crate) fn folder_contains_text(folder: &Path, needle: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return folder_contains_text(&path, needle);
        }
        // A running process may have deleted the file in the meantime.
        let Ok(bytes) = fs::read(&path) else { return false };
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}
