//! Browser test harness: runs `debate view` as a process and Chromium through a Node script. A
//! scenario (`tests/browser/scenarios`) controls the browser. The test handles the scenario's
//! requests and compares what the browser saw with the archive. Screenshots go to `target/browser`.
use crate::lab::{Lab, Running};
use crate::needs::{here, needs};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const INSTALL: &str = "npm ci --prefix tests/browser && apt-get install chromium";

/// Names of the Chromium executable on different systems.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Paths of Node and Chromium.
pub(crate) type Tools = (PathBuf, PathBuf);

/// Finds Node and Chromium. Without them the test is skipped, or fails if they are required.
pub(crate) fn chromium() -> Option<Tools> {
    let modules = [here("tests/browser/node_modules/playwright-core")];
    let named = std::env::var_os("DEBATE_TEST_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| {
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut places = NAMES.iter().flat_map(|name| folders.iter().map(move |it| it.join(name)));
        places.find(|place| place.is_file())
    });
    let program = found.unwrap_or_else(|| PathBuf::from(NAMES[0]));
    let chromium = needs("chromium", &program, &modules, INSTALL)?;
    Some((needs("node", Path::new("node"), &modules, INSTALL)?, chromium))
}

/// Running `debate view` process, killed on drop.
pub(crate) struct View {
    /// Read-only address.
    pub(crate) url: String,
    /// Address with the owner token, which allows actions.
    pub(crate) enter: String,
    running: Running,
    _streams: (ChildStdin, BufReader<ChildStdout>),
}

impl View {
    /// Starts the server on `port`, or on a free port.
    #[track_caller]
    pub(crate) fn at(lab: &Lab, port: Option<&str>) -> View {
        let bind = format!("127.0.0.1:{}", port.unwrap_or("0"));
        let mut running = lab.debate(&["view", "--bind", &bind, "--json"]).start();
        let (stdin, stdout) = running.streams();
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let told: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"));
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        let (url, enter) = (text("url"), text("enter"));
        View { url, enter, running, _streams: (stdin, stdout) }
    }

    pub(crate) fn port(&self) -> String {
        self.url.trim_end_matches('/').rsplit(':').next().unwrap().to_owned()
    }

    /// Kills the process with SIGKILL, as a power failure would.
    pub(crate) fn kill(self) {
        self.running.signal("KILL");
    }
}

/// Running scenario process, killed on drop.
struct Playing(Child);

impl Drop for Playing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a scenario with `stage` as its input, handles its requests with `asked`, and returns what
/// the browser saw.
#[track_caller]
pub(crate) fn play(
    (node, chromium): &Tools,
    scenario: &str,
    mut stage: Value,
    mut asked: impl FnMut(&str) -> Value,
) -> Value {
    stage["chromium"] = json!(chromium);
    stage["folder"] = json!(here("target/browser"));
    let mut command = Command::new(node);
    command.arg(here("tests/browser/run.mjs")).arg(scenario);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut playing = Playing(command.spawn().unwrap());
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
