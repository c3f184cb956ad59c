//! Processes that have left the group a tool was started in. Whatever a tool starts carries the mark of
//! its turn in its environment, unless the tool takes that away, and is found by it where the system
//! lets one look.

/// Marks whatever a seat starts: it opens no debates, and it ends with its turn.
pub(super) const MARK: &str = "DEBATE_SEAT";

/// A mark nobody else has.
pub(super) fn mark() -> String {
    let mut chance = [0; 8];
    let _ = getrandom::fill(&mut chance);
    format!("{:016x}", u64::from_be_bytes(chance))
}

/// Kills everyone who bears this mark.
#[cfg(target_os = "linux")]
pub(super) fn kill(mark: &std::ffi::OsStr) {
    use rustix::process::{Pid, Signal, kill_process};
    let line = [MARK.as_bytes(), b"=", mark.as_encoded_bytes()].concat();
    let bears = |process: &i32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|own| own == line)
    };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
    // One of them may have started another in the meantime.
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

/// Elsewhere one cannot look.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill(_: &std::ffi::OsStr) {}
