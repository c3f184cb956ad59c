//! Stopping `debate` by SIGINT or SIGKILL during a turn leaves no process of a real CLI behind.
use crate::real_cli::RealCliEnv;
use crate::test_env::wait_until;
use std::time::{Duration, Instant};

/// How long a process may outlive the program that started it.
const MAX_SURVIVAL: Duration = Duration::from_millis(2500);

#[track_caller]
fn assert_no_process_left(tool: &'static str) {
    for signal in ["INT", "KILL"] {
        let Some(cli_env) = RealCliEnv::new(tool) else { return };
        let running = cli_env.run_round("hang:60", "", &["--turn-timeout", "120"]).spawn();
        let deadline = Instant::now() + Duration::from_secs(90);
        while !cli_env.model_requests().iter().any(|request| request["method"] == "POST") {
            assert!(Instant::now() < deadline, "{tool} sends its model no request");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(cli_env.remaining_processes().len() > 1, "{tool} is not running");
        running.send_signal(signal);
        running.wait();
        let stopped_at = Instant::now();
        wait_until("no process remains", || cli_env.remaining_processes().is_empty());
        assert!(
            stopped_at.elapsed() < MAX_SURVIVAL,
            "{tool} after {signal}: {:?}",
            stopped_at.elapsed()
        );
    }
}

#[test]
fn stopped_debate_leaves_no_claude_process() {
    assert_no_process_left("claude");
}

#[test]
fn stopped_debate_leaves_no_codex_process() {
    assert_no_process_left("codex");
}

#[test]
fn stopped_debate_leaves_no_gemini_process() {
    assert_no_process_left("gemini");
}

#[test]
fn stopped_debate_leaves_no_opencode_process() {
    assert_no_process_left("opencode");
}

#[test]
fn stopped_debate_leaves_no_copilot_process() {
    assert_no_process_left("copilot");
}
