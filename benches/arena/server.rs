//! Runs the real server as a child process and samples its memory and CPU time.
use super::http::HttpConnection;
use super::options::LoadOptions;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Server process with its own temporary archive.
pub(super) struct Server {
    child: Child,
    folder: TempDir,
    program: PathBuf,
    pub(super) port: u16,
    /// Peak resident memory in bytes.
    peak_memory: f64,
    /// CPU seconds of killed processes.
    past_cpu_seconds: f64,
    /// CPU seconds of the current process.
    current_cpu_seconds: f64,
}

impl Server {
    pub(super) fn start(options: &LoadOptions) -> Server {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["repo", "user"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        fs::write(folder.path().join("judge.json"), judge_script()).unwrap();
        let default_program = env!("CARGO_BIN_EXE_debate");
        let program = PathBuf::from(options.program.as_deref().unwrap_or(default_program));
        let port = free_port();
        let child = spawn_server(&program, folder.path(), port, options);
        Server {
            child,
            folder,
            program,
            port,
            peak_memory: 0.0,
            past_cpu_seconds: 0.0,
            current_cpu_seconds: 0.0,
        }
    }

    /// Waits until the server responds. Timeout: 12 s.
    pub(super) async fn wait_until_ready(&mut self) {
        for _ in 0..600 {
            if HttpConnection::new(self.port).get("/api/debates", &[]).await.is_ok() {
                return;
            }
            let exit_status = self.child.try_wait().unwrap();
            assert!(exit_status.is_none(), "the server has ended: {exit_status:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the server does not answer");
    }

    pub(super) fn version(&self) -> String {
        let output = Command::new(&self.program).arg("--version").output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Kills the process with SIGKILL and starts the same command again.
    pub(super) fn kill_and_restart(&mut self, options: &LoadOptions) {
        self.sample_usage();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.past_cpu_seconds += std::mem::take(&mut self.current_cpu_seconds);
        self.child = spawn_server(&self.program, self.folder.path(), self.port, options);
    }

    /// Samples memory and CPU time.
    pub(super) fn sample_usage(&mut self) {
        let id = self.child.id().to_string();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        self.peak_memory = self.peak_memory.max(kilobytes.unwrap_or(0.0) * 1024.0);
        self.current_cpu_seconds = self.current_cpu_seconds.max(process_cpu_seconds(&id));
    }

    pub(super) fn peak_memory(&self) -> f64 {
        self.peak_memory
    }

    pub(super) fn cpu_seconds(&self) -> f64 {
        self.past_cpu_seconds + self.current_cpu_seconds
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// User and system CPU seconds of a process, at 100 ticks per second. 0 on systems other than
/// Linux.
pub(super) fn process_cpu_seconds(process: &str) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
    let ticks =
        fields.map(|fields| fields.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()));
    ticks.map_or(0.0, |ticks| ticks.sum::<f64>() / 100.0)
}

fn spawn_server(program: &Path, folder: &Path, port: u16, options: &LoadOptions) -> Child {
    let judge = if options.has_judge {
        format!("script:{}", folder.join("judge.json").display())
    } else {
        "none".into()
    };
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    Command::new(program)
        .args(["serve", "--bind", &format!("127.0.0.1:{port}"), "--judge", &judge])
        .args(&options.serve_args)
        .current_dir(folder.join("repo"))
        .env_clear()
        .env("HOME", folder.join("user"))
        .env("DEBATE_HOME", folder.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Raises the limit of open files to its maximum. Each connection needs one socket here and one in
/// the server.
pub(super) fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Script of a judge with a fixed verdict.
fn judge_script() -> String {
    let marks = |points: [u8; 5]| -> Value {
        let names = ["argument_quality", "evidence", "rebuttal", "expression", "overall_logic"];
        names.into_iter().zip(points).map(|(name, point)| (name.to_owned(), json!(point))).collect()
    };
    json!({"turns": [{"phase": "judge", "json": {
        "winner": "pro", "confidence": 0.7, "scores": {"pro": 72, "con": 61},
        "rubric": {"pro": marks([22, 16, 15, 11, 8]), "con": marks([19, 14, 12, 10, 6])},
        "reasoning": "It was measured in T1 and never answered.", "cites": ["T1"],
        "recommendation": "Answer with yes.", "checks": [],
    }}]})
    .to_string()
}
