//! Runs one child process to its end: no shell, prompt on stdin, explicit environment, a timeout
//! and limits on its output. The child gets its own process group (a job object on Windows), which
//! is killed when the future is dropped. The entry point is [`run`].
use super::stragglers;
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
    pub(super) folder: &'a Path,
    pub(super) input: &'a str,
    /// Directories the watchdog deletes if this program is killed.
    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody watches there"))]
    pub(super) leaves: Vec<&'a Path>,
    /// The process is killed at this time.
    pub(super) until: Instant,
}

/// How a process ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// None if a signal ended it.
    pub(super) code: Option<i32>,
    /// The last [`MAX_STDERR_BYTES`] of stderr.
    pub(super) complaints: String,
    /// It was killed because it wrote more than [`MAX_STDOUT_BYTES`].
    pub(super) flooded: bool,
    /// It was killed at its deadline.
    pub(super) late: bool,
}

/// Limit of stdout in bytes; the process is killed beyond it.
const MOST: usize = 16 * 1024 * 1024;
/// Bytes of stderr that are kept, from the end.
const KEPT: usize = 32 * 1024;
/// Time to drain the pipes after the process has exited: its children may still hold them open.
const ECHO: Duration = Duration::from_millis(200);

/// Shell script of the watchdog: waits for end of file on stdin, kills the process group, then
/// deletes the directories, which the group could still write to before.
#[cfg(unix)]
const LAST_WILL: &str = "read -r gone; kill -s KILL -- \"-$0\"; /bin/rm -rf -- \"$@\"";

/// A child process group and the marker of its turn. Dropping it kills the group and every process
/// that carries the marker.
struct Group(Box<dyn ChildWrapper>, Option<OsString>);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.0.start_kill();
        if let Some(mark) = &self.1 {
            stragglers::kill(mark);
        }
    }
}

/// Starts the watchdog process, which kills the group and deletes its directories if this program
/// is killed with SIGKILL and runs no destructors. It notices by end of file on a pipe that only
/// this program holds open.
#[cfg(unix)]
fn watch(leader: u32, leaves: &[&Path]) -> Option<tokio::process::Child> {
    tokio::process::Command::new("/bin/sh")
        .args(["-c", LAST_WILL, &leader.to_string()])
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
) -> io::Result<Ended> {
    let mut command = CommandWrap::with_new(&program.path, |command| {
        command
            .args(&program.arguments)
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(program.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    #[cfg(unix)]
    command.wrap(ProcessGroup::leader());
    // A job object is closed with its last handle, so also when this program is killed.
    #[cfg(windows)]
    command.wrap(KillOnDrop).wrap(JobObject);
    let marked = program.environment.iter().find(|(name, _)| name == stragglers::MARK);
    let mut group = Group(command.spawn()?, marked.map(|(_, mark)| mark.clone()));
    // Dropped before the group, so that it never kills a process that has reused the group id.
    #[cfg(unix)]
    let _watch = group.0.id().and_then(|leader| watch(leader, &program.leaves));
    let pipes = (group.0.stdin().take(), group.0.stdout().take(), group.0.stderr().take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the program has no pipes"));
    };
    let input = program.input.as_bytes();
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
                lines(stdout, &mut heard, &mut flooded),
                tail(stderr, &mut complaints)
            )
        };
        tokio::pin!(talk);
        // Waits for the process itself only; its remaining children are killed.
        let leader = group.0.inner_mut();
        tokio::select! {
            _ = &mut talk => {}
            _ = leader.wait() => { let _ = tokio::time::timeout(ECHO, &mut talk).await; }
            () = tokio::time::sleep_until(program.until) => late = true,
        }
    }
    if flooded || late {
        let _ = group.0.start_kill();
    }
    let status = group.0.inner_mut().wait().await?;
    let complaints = String::from_utf8_lossy(&complaints).into_owned();
    Ok(Ended { code: status.code(), complaints, flooded, late })
}

/// Passes complete lines to the callback until end of file or [`MAX_STDOUT_BYTES`].
async fn lines(
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
        if read > MOST {
            *flooded = true;
            return;
        }
    }
    if !waiting.is_empty() {
        heard(&String::from_utf8_lossy(&waiting));
    }
}

/// Reads to end of file and keeps the last [`MAX_STDERR_BYTES`].
async fn tail(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..length]);
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
}
