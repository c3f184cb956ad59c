//! Stopping `debate` by SIGINT or SIGKILL during a turn leaves no process of a real CLI behind.
use crate::lab::until;
use crate::real::Real;
use std::time::{Duration, Instant};

/// How long a process may outlive the program that started it.
const LONGEST: Duration = Duration::from_millis(2500);

#[track_caller]
fn nothing_is_left_of(tool: &'static str) {
    for signal in ["INT", "KILL"] {
        let Some(real) = Real::new(tool) else { return };
        let running = real.run("hang:60", "", &["--turn-timeout", "120"]).start();
        let patience = Instant::now() + Duration::from_secs(90);
        while !real.requests().iter().any(|request| request["method"] == "POST") {
            assert!(Instant::now() < patience, "{tool} does not ask its model");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(real.left_behind().len() > 1, "{tool} is at work");
        running.signal(signal);
        running.wait();
        let ended = Instant::now();
        until("nothing is left", || real.left_behind().is_empty());
        assert!(ended.elapsed() < LONGEST, "{tool} after {signal}: {:?}", ended.elapsed());
    }
}

#[test]
fn nothing_is_left_of_claude() {
    nothing_is_left_of("claude");
}

#[test]
fn nothing_is_left_of_codex() {
    nothing_is_left_of("codex");
}

#[test]
fn nothing_is_left_of_gemini() {
    nothing_is_left_of("gemini");
}

#[test]
fn nothing_is_left_of_opencode() {
    nothing_is_left_of("opencode");
}

#[test]
fn nothing_is_left_of_copilot() {
    nothing_is_left_of("copilot");
}
