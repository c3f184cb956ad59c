//! Kills orphan processes that have left the process group of their turn. Every child inherits a
//! random marker in its environment, unless the CLI removes it. On Linux the marker is searched for
//! in `/proc/*/environ`; other systems give no access to it.

/// Environment variable that marks the processes of a turn. A marked process cannot start a debate,
/// and it is killed at the end of the turn.
pub(super) const MARKER_VARIABLE: &str = "DEBATE_SEAT";

/// Creates a random marker: 64 bits as hex.
pub(super) fn new_marker() -> String {
    let mut chance = [0; 8];
    let _ = getrandom::fill(&mut chance);
    format!("{:016x}", u64::from_be_bytes(chance))
}

/// Sends SIGKILL to every process with this marker.
#[cfg(target_os = "linux")]
pub(super) fn kill_marked_processes(mark: &std::ffi::OsStr) {
    use rustix::process::{Pid, Signal, kill_process};
    let line = [MARKER_VARIABLE.as_bytes(), b"=", mark.as_encoded_bytes()].concat();
    let bears = |process: &i32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|own| own == line)
    };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    // Repeated, because a process may have forked during the scan.
    for _ in 0..3 {
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(number);
        let found: Vec<i32> = all.filter(bears).collect();
        if found.is_empty() {
            return;
        }
        for process in found.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// Does nothing where there is no `/proc`.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill(_: &std::ffi::OsStr) {}
