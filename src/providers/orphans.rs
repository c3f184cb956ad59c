//! Kills orphan processes that have left the process group of their turn. Every child inherits a
//! random marker in its environment, unless the CLI removes it. On Linux the marker is searched for
//! in `/proc/*/environ`; other systems give no access to it.

/// Environment variable that marks the processes of a turn. A marked process cannot start a debate,
/// and it is killed at the end of the turn.
pub(super) const MARKER_VARIABLE: &str = "DEBATE_SEAT";

/// Creates a random marker: 64 bits as hex.
pub(super) fn new_marker() -> String {
    let mut bytes = [0; 8];
    let _ = getrandom::fill(&mut bytes);
    format!("{:016x}", u64::from_be_bytes(bytes))
}

/// Sends SIGKILL to every process with this marker.
#[cfg(target_os = "linux")]
pub(super) fn kill_marked_processes(marker: &std::ffi::OsStr) {
    use rustix::process::{Pid, Signal, kill_process};
    /// Scans of `/proc`. Repeated, because a process may have forked during a scan.
    const MAX_SCANS: usize = 3;
    let marker_entry = [MARKER_VARIABLE.as_bytes(), b"=", marker.as_encoded_bytes()].concat();
    let has_marker = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == marker_entry)
    };
    let parse_pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    for _ in 0..MAX_SCANS {
        let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(parse_pid);
        let found: Vec<i32> = pids.filter(has_marker).collect();
        if found.is_empty() {
            return;
        }
        tracing::debug!(count = found.len(), "killing orphan processes");
        for pid in found.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Does nothing where there is no `/proc`.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_marked_processes(_: &std::ffi::OsStr) {}
