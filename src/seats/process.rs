//! One program, run to its end: no shell, the prompt on stdin, an environment of its own, a process
//! group that dies with whoever waits for it, and no more output than can be read.
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

/// What to run.
pub(super) struct Program<'a> {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
    /// All of it: nothing is inherited.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) folder: &'a Path,
    pub(super) input: &'a str,
    /// Folders that are gone when it is.
    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody watches there"))]
    pub(super) leaves: Vec<&'a Path>,
    /// When it is stopped.
    pub(super) until: Instant,
}

/// How it ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// None, if a signal ended it.
    pub(super) code: Option<i32>,
    /// The end of what it said on stderr.
    pub(super) complaints: String,
    /// It said more than is read, and was stopped.
    pub(super) flooded: bool,
    /// It took too long, and was stopped.
    pub(super) late: bool,
}

/// Bytes of output that are read.
const MOST: usize = 16 * 1024 * 1024;
/// Bytes of stderr that are kept, from its end.
const KEPT: usize = 32 * 1024;
/// How long what a program has left behind may still write.
const ECHO: Duration = Duration::from_millis(200);

/// What is done when this program is killed. The folders come last, because the group may still write
/// to them.
#[cfg(unix)]
const LAST_WILL: &str = "read -r gone; kill -s KILL -- \"-$0\"; /bin/rm -rf -- \"$@\"";

/// A process group, and whoever bears its mark. It does not outlive whoever holds this.
struct Group(Box<dyn ChildWrapper>, Option<OsString>);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.0.start_kill();
        if let Some(mark) = &self.1 {
            stragglers::kill(mark);
        }
    }
}

/// Kills a group and removes its folders when this program is no more: one that is killed outright
/// drops nothing. It waits for the end of a pipe that nobody else holds.
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

/// Runs a program, handing on each line of its stdout as it comes. Dropping the future kills it and
/// everything it has started.
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
    // A job dies with its last handle, so also when this program is killed outright.
    #[cfg(windows)]
    command.wrap(KillOnDrop).wrap(JobObject);
    let marked = program.environment.iter().find(|(name, _)| name == stragglers::MARK);
    let mut group = Group(command.spawn()?, marked.map(|(_, mark)| mark.clone()));
    // Dropped before the group is, so that it never kills what has taken the group's number.
    #[cfg(unix)]
    let _watch = group.0.id().and_then(|leader| watch(leader, &program.leaves));
    let pipes = (group.0.stdin().take(), group.0.stdout().take(), group.0.stderr().take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the program has no pipes"));
    };
    let input = program.input.as_bytes();
    let tell = async move {
        // A program that does not read to the end has its reasons, and says so otherwise.
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
        // Only the program itself is waited for: what it leaves behind is killed.
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

/// Hands on whole lines until there are no more, or too many.
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

/// Keeps the end of what is said.
async fn tail(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..length]);
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
}
