//! Browser test harness: runs `debate view` as a process and Chromium through a Node script. A
//! scenario (`tests/browser/scenarios`) controls the browser. The test handles the scenario's
//! requests and compares what the browser saw with the archive. Screenshots go to `target/browser`.
use crate::prerequisites::{find_program_or_skip, repo_path};
use crate::test_env::{RunningProcess, TestEnv};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const INSTALL_HINT: &str = "npm ci --prefix tests/browser && apt-get install chromium";

/// Names of the Chromium executable on different systems.
const CHROMIUM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Paths of Node and Chromium.
pub(crate) type BrowserTools = (PathBuf, PathBuf);

/// Finds Node and Chromium. Without them the test is skipped, or fails if they are required.
pub(crate) fn find_browser_tools() -> Option<BrowserTools> {
    let modules = [repo_path("tests/browser/node_modules/playwright-core")];
    let named = std::env::var_os("DEBATE_TEST_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| {
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut places =
            CHROMIUM_NAMES.iter().flat_map(|name| folders.iter().map(move |it| it.join(name)));
        places.find(|place| place.is_file())
    });
    let program = found.unwrap_or_else(|| PathBuf::from(CHROMIUM_NAMES[0]));
    let chromium = find_program_or_skip("chromium", &program, &modules, INSTALL_HINT)?;
    Some((find_program_or_skip("node", Path::new("node"), &modules, INSTALL_HINT)?, chromium))
}

/// Running `debate view` process, killed on drop.
pub(crate) struct ViewServer {
    /// Read-only address.
    pub(crate) url: String,
    /// Address with the owner token, which allows actions.
    pub(crate) owner_url: String,
    process: RunningProcess,
    _streams: (ChildStdin, BufReader<ChildStdout>),
}

impl ViewServer {
    /// Starts the server on `port`, or on a free port.
    #[track_caller]
    pub(crate) fn start(lab: &TestEnv, port: Option<&str>) -> ViewServer {
        let bind = format!("127.0.0.1:{}", port.unwrap_or("0"));
        let mut process = lab.debate(&["view", "--bind", &bind, "--json"]).spawn();
        let (stdin, stdout) = process.take_stdio();
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let told: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"));
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        let (url, owner_url) = (text("url"), text("enter"));
        ViewServer { url, owner_url, process, _streams: (stdin, stdout) }
    }

    pub(crate) fn port(&self) -> String {
        self.url.trim_end_matches('/').rsplit(':').next().unwrap().to_owned()
    }

    /// Kills the process with SIGKILL, as a power failure would.
    pub(crate) fn kill(self) {
        self.process.send_signal("KILL");
    }
}

/// Running scenario process, killed on drop.
struct ScenarioProcess(Child);

impl Drop for ScenarioProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a scenario with `stage` as its input, handles its requests with `asked`, and returns what
/// the browser saw.
#[track_caller]
pub(crate) fn run_scenario(
    (node, chromium): &BrowserTools,
    scenario: &str,
    mut stage: Value,
    mut asked: impl FnMut(&str) -> Value,
) -> Value {
    stage["chromium"] = json!(chromium);
    stage["folder"] = json!(repo_path("target/browser"));
    let mut command = Command::new(node);
    command.arg(repo_path("tests/browser/run.mjs")).arg(scenario);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut playing = ScenarioProcess(command.spawn().unwrap());
    let mut stderr = playing.0.stderr.take().unwrap();
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let mut stdin = playing.0.stdin.take().unwrap();
    let mut tell = |value: &Value| writeln!(stdin, "{value}").and_then(|()| stdin.flush());
    tell(&stage).unwrap();
    let mut seen = None;
    for line in BufReader::new(playing.0.stdout.take().unwrap()).lines() {
        let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match said["ask"].as_str() {
            Some(what) => tell(&asked(what)).unwrap(),
            None => seen = Some(said["seen"].clone()),
        }
    }
    let complaints = complaints.join().unwrap();
    seen.unwrap_or_else(|| panic!("{scenario}:\n{complaints}"))
}
