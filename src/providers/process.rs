//! Runs one child process to its end: no shell, prompt on stdin, explicit environment, a timeout
//! and limits on its output. The child gets its own process group (a job object on Windows), which
//! is killed when the future is dropped. The entry point is [`run`].
use super::orphans;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
#[cfg(windows)]
use process_wrap::tokio::{JobObject, KillOnDrop};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

/// A program with its arguments, environment and limits.
pub(super) struct Program<'a> {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
    /// The complete environment: nothing is inherited.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) workdir: &'a Path,
    pub(super) stdin: &'a str,
    /// Directories the watchdog deletes if this program is killed.
    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody watches there"))]
    pub(super) temporary_dirs: Vec<&'a Path>,
    /// The process is killed at this time.
    pub(super) deadline: Instant,
}

/// How a process ended.
#[derive(Debug, Default)]
pub(super) struct ProcessOutcome {
    /// None if a signal ended it.
    pub(super) exit_code: Option<i32>,
    /// The last [`MAX_STDERR_BYTES`] of stderr.
    pub(super) stderr_tail: String,
    /// It was killed because it wrote more than [`MAX_STDOUT_BYTES`].
    pub(super) output_too_large: bool,
    /// It was killed at its deadline.
    pub(super) timed_out: bool,
}

/// Limit of stdout in bytes; the process is killed beyond it.
const MAX_STDOUT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of stderr that are kept, from the end.
const MAX_STDERR_BYTES: usize = 32 * 1024;
/// Time to drain the pipes after the process has exited: its children may still hold them open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// Shell script of the watchdog: waits for end of file on stdin, kills the process group, then
/// deletes the directories, which the group could still write to before.
#[cfg(unix)]
const WATCHDOG_SCRIPT: &str = "read -r gone; kill -s KILL -- \"-$0\"; /bin/rm -rf -- \"$@\"";

/// A child process group and the marker of its turn. Dropping it kills the group and every process
/// that carries the marker.
struct ProcessGroupGuard(Box<dyn ChildWrapper>, Option<OsString>);

impl Drop for ProcessGroupGuard {
    fn drop(&mut self) {
        let _ = self.0.start_kill();
        if let Some(mark) = &self.1 {
            orphans::kill_marked_processes(mark);
        }
    }
}

/// Starts the watchdog process, which kills the group and deletes its directories if this program
/// is killed with SIGKILL and runs no destructors. It notices by end of file on a pipe that only
/// this program holds open.
#[cfg(unix)]
fn spawn_watchdog(leader: u32, leaves: &[&Path]) -> Option<tokio::process::Child> {
    tokio::process::Command::new("/bin/sh")
        .args(["-c", WATCHDOG_SCRIPT, &leader.to_string()])
        .args(leaves)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .ok()
}

/// Runs a program and passes each line of its stdout to the callback as it arrives. Dropping the
/// future kills the process and its children.
pub(super) async fn run(
    program: &Program<'_>,
    mut heard: impl FnMut(&str) + Send,
) -> io::Result<ProcessOutcome> {
    let mut command = CommandWrap::with_new(&program.path, |command| {
        command
            .args(&program.arguments)
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(program.workdir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    #[cfg(unix)]
    command.wrap(ProcessGroup::leader());
    // A job object is closed with its last handle, so also when this program is killed.
    #[cfg(windows)]
    command.wrap(KillOnDrop).wrap(JobObject);
    let marked = program.environment.iter().find(|(name, _)| name == orphans::MARKER_VARIABLE);
    let mut group = ProcessGroupGuard(command.spawn()?, marked.map(|(_, mark)| mark.clone()));
    // Dropped before the group, so that it never kills a process that has reused the group id.
    #[cfg(unix)]
    let _watch = group.0.id().and_then(|leader| spawn_watchdog(leader, &program.temporary_dirs));
    let pipes = (group.0.stdin().take(), group.0.stdout().take(), group.0.stderr().take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the program has no pipes"));
    };
    let input = program.stdin.as_bytes();
    let tell = async move {
        // A broken pipe is no error here: the exit code and stderr tell why the process stopped
        // reading.
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    };
    let mut complaints = vec![];
    let (mut flooded, mut late) = (false, false);
    {
        let talk = async {
            tokio::join!(
                tell,
                read_lines(stdout, &mut heard, &mut flooded),
                read_tail(stderr, &mut complaints)
            )
        };
        tokio::pin!(talk);
        // Waits for the process itself only; its remaining children are killed.
        let leader = group.0.inner_mut();
        tokio::select! {
            _ = &mut talk => {}
            _ = leader.wait() => { let _ = tokio::time::timeout(DRAIN_TIMEOUT, &mut talk).await; }
            () = tokio::time::sleep_until(program.deadline) => late = true,
        }
    }
    if flooded || late {
        let _ = group.0.start_kill();
    }
    let status = group.0.inner_mut().wait().await?;
    let complaints = String::from_utf8_lossy(&complaints).into_owned();
    Ok(ProcessOutcome {
        exit_code: status.code(),
        stderr_tail: complaints,
        output_too_large: flooded,
        timed_out: late,
    })
}

/// Passes complete lines to the callback until end of file or [`MAX_STDOUT_BYTES`].
async fn read_lines(
    mut from: impl AsyncRead + Unpin,
    heard: &mut (impl FnMut(&str) + Send),
    flooded: &mut bool,
) {
    let (mut waiting, mut read) = (vec![], 0);
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        read += length;
        waiting.extend_from_slice(&chunk[..length]);
        while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
            heard(&String::from_utf8_lossy(&waiting[..end]));
            waiting.drain(..=end);
        }
        if read > MAX_STDOUT_BYTES {
            *flooded = true;
            return;
        }
    }
    if !waiting.is_empty() {
        heard(&String::from_utf8_lossy(&waiting));
    }
}

/// Reads to end of file and keeps the last [`MAX_STDERR_BYTES`].
async fn read_tail(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..length]);
        kept.drain(..kept.len().saturating_sub(MAX_STDERR_BYTES));
    }
}
