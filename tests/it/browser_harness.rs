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
    let configured = std::env::var_os("DEBATE_TEST_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = configured.or_else(|| {
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut candidates = CHROMIUM_NAMES
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        candidates.find(|candidate| candidate.is_file())
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
    pub(crate) fn start(env: &TestEnv, port: Option<&str>) -> ViewServer {
        let bind = format!("127.0.0.1:{}", port.unwrap_or("0"));
        let mut process = env.debate(&["view", "--bind", &bind, "--json"]).spawn();
        let (stdin, stdout) = process.take_stdio();
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let startup_json: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"));
        let text = |name: &str| startup_json[name].as_str().unwrap().to_owned();
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

/// Runs a scenario with this input, handles its requests with `handle_request`, and returns what
/// the browser saw.
#[track_caller]
pub(crate) fn run_scenario(
    (node, chromium): &BrowserTools,
    scenario: &str,
    mut input: Value,
    mut handle_request: impl FnMut(&str) -> Value,
) -> Value {
    input["chromium"] = json!(chromium);
    input["folder"] = json!(repo_path("target/browser"));
    let mut command = Command::new(node);
    command.arg(repo_path("tests/browser/run.mjs")).arg(scenario);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = ScenarioProcess(command.spawn().unwrap());
    let mut stderr = process.0.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let mut stdin = process.0.stdin.take().unwrap();
    let mut send = |value: &Value| writeln!(stdin, "{value}").and_then(|()| stdin.flush());
    send(&input).unwrap();
    let mut result = None;
    for line in BufReader::new(process.0.stdout.take().unwrap()).lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match message["ask"].as_str() {
            Some(request) => send(&handle_request(request)).unwrap(),
            None => result = Some(message["seen"].clone()),
        }
    }
    let errors = errors.join().unwrap();
    result.unwrap_or_else(|| panic!("{scenario}:\n{errors}"))
}
