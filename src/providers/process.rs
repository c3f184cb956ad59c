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
    #[cfg_attr(not(unix), expect(dead_code, reason = "the watchdog runs on Unix only"))]
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
        if let Some(marker) = &self.1 {
            orphans::kill_marked_processes(marker);
        }
    }
}

/// Starts the watchdog process, which kills the group and deletes its directories if this program
/// is killed with SIGKILL and runs no destructors. It notices by end of file on a pipe that only
/// this program holds open.
#[cfg(unix)]
fn spawn_watchdog(leader: u32, temporary_dirs: &[&Path]) -> Option<tokio::process::Child> {
    tokio::process::Command::new("/bin/sh")
        .args(["-c", WATCHDOG_SCRIPT, &leader.to_string()])
        .args(temporary_dirs)
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
    mut on_line: impl FnMut(&str) + Send,
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
    let marker_variable =
        program.environment.iter().find(|(name, _)| name == orphans::MARKER_VARIABLE);
    let started = Instant::now();
    let mut group =
        ProcessGroupGuard(command.spawn()?, marker_variable.map(|(_, marker)| marker.clone()));
    let pid = group.0.id();
    tracing::debug!(pid, program = %program.path.display(), "child process spawned");
    // Dropped before the group, so that it never kills a process that has reused the group id.
    #[cfg(unix)]
    let _watch = pid.and_then(|leader| spawn_watchdog(leader, &program.temporary_dirs));
    let pipes = (group.0.stdin().take(), group.0.stdout().take(), group.0.stderr().take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the program has no pipes"));
    };
    let input = program.stdin.as_bytes();
    let write_stdin = async move {
        // A broken pipe is no error here: the exit code and stderr tell why the process stopped
        // reading.
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    };
    let mut stderr_tail = vec![];
    let (mut output_too_large, mut timed_out) = (false, false);
    {
        let exchange = async {
            tokio::join!(
                write_stdin,
                read_lines(stdout, &mut on_line, &mut output_too_large),
                read_tail(stderr, &mut stderr_tail)
            )
        };
        tokio::pin!(exchange);
        // Waits for the process itself only; its remaining children are killed.
        let leader = group.0.inner_mut();
        tokio::select! {
            _ = &mut exchange => {}
            _ = leader.wait() => { let _ = drain(&mut exchange).await; }
            () = tokio::time::sleep_until(program.deadline) => timed_out = true,
        }
    }
    if output_too_large || timed_out {
        let _ = group.0.start_kill();
    }
    let status = group.0.inner_mut().wait().await?;
    tracing::debug!(
        pid,
        %status,
        elapsed_ms = started.elapsed().as_millis(),
        timed_out = timed_out,
        output_too_large = output_too_large,
        "child process exited"
    );
    let stderr_tail = String::from_utf8_lossy(&stderr_tail).into_owned();
    Ok(ProcessOutcome { exit_code: status.code(), stderr_tail, output_too_large, timed_out })
}

/// Waits for the end of the pipes of an exited process; none after [`DRAIN_TIMEOUT`].
async fn drain<T>(exchange: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(DRAIN_TIMEOUT, exchange).await.ok()
}

/// Passes complete lines to the callback until end of file or [`MAX_STDOUT_BYTES`].
async fn read_lines(
    mut reader: impl AsyncRead + Unpin,
    on_line: &mut (impl FnMut(&str) + Send),
    output_too_large: &mut bool,
) {
    let (mut buffer, mut bytes_read) = (vec![], 0);
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = reader.read(&mut chunk).await {
        bytes_read += length;
        buffer.extend_from_slice(&chunk[..length]);
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            on_line(&String::from_utf8_lossy(&buffer[..end]));
            buffer.drain(..=end);
        }
        if bytes_read > MAX_STDOUT_BYTES {
            *output_too_large = true;
            return;
        }
    }
    if !buffer.is_empty() {
        on_line(&String::from_utf8_lossy(&buffer));
    }
}

/// Reads to end of file and keeps the last [`MAX_STDERR_BYTES`].
async fn read_tail(mut reader: impl AsyncRead + Unpin, tail: &mut Vec<u8>) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(length @ 1..) = reader.read(&mut chunk).await {
        tail.extend_from_slice(&chunk[..length]);
        tail.drain(..tail.len().saturating_sub(MAX_STDERR_BYTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stdout_over_16_mib_is_too_large() {
        assert_eq!(MAX_STDOUT_BYTES, 16 * 1024 * 1024);
        let line = format!("{}\n", "x".repeat(1023));
        let mut stdout = line.repeat(MAX_STDOUT_BYTES / line.len()).into_bytes();
        for expected in [false, true] {
            let mut output_too_large = false;
            read_lines(&stdout[..], &mut |_: &str| {}, &mut output_too_large).await;
            assert_eq!(output_too_large, expected, "{} bytes", stdout.len());
            stdout.push(b'x');
        }
    }

    #[tokio::test]
    async fn last_32_kib_of_stderr_are_kept() {
        assert_eq!(MAX_STDERR_BYTES, 32 * 1024);
        let mut stderr = vec![b'x'; MAX_STDERR_BYTES];
        stderr[0] = b'a';
        let mut tail = vec![];
        read_tail(&stderr[..], &mut tail).await;
        assert!(tail == stderr, "{} bytes are kept", tail.len());
        stderr.push(b'z');
        let mut tail = vec![];
        read_tail(&stderr[..], &mut tail).await;
        assert!(tail == stderr[1..], "{} bytes are kept", tail.len());
    }

    /// Tokio time is paused, so it advances only while the test waits.
    #[tokio::test(start_paused = true)]
    async fn pipes_are_drained_for_200_ms() {
        assert_eq!(DRAIN_TIMEOUT.as_millis(), 200);
        assert_eq!(drain(tokio::time::sleep(DRAIN_TIMEOUT)).await, Some(()));
        let too_slow = tokio::time::sleep(DRAIN_TIMEOUT + Duration::from_millis(1));
        assert_eq!(drain(too_slow).await, None);
    }
}
