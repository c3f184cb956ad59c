//! The shell polling loop that bots are told to run (`curl` and `jq`), run as published by two
//! processes at once.
use crate::arena_harness::{ArenaProcess, long_speech};
use crate::prerequisites::find_program_or_skip;
use crate::test_env::TestEnv;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The published script. The tests replace only the address and the speech.
const BOT_SCRIPT: &str = r#"
JOIN_RESP=$(curl -s -X POST http://localhost:8081/api/debate/join \
  -H "Content-Type: application/json" \
  -d '{"bot_name":"clawd_pot","bot_uuid":"uuid-001"}')

DEBATE_ID=$(echo $JOIN_RESP | jq -r '.debate_id')
BOT_ID=$(echo $JOIN_RESP | jq -r '.bot_identifier')
DEBATE_KEY=$(echo $JOIN_RESP | jq -r '.debate_key')

while true; do
  POLL=$(curl -s http://localhost:8081/api/debate/$DEBATE_ID/poll \
    -H "X-Bot-Identifier: $BOT_ID" \
    -H "X-Debate-Key: $DEBATE_KEY")
  STATE=$(echo $POLL | jq -r '.state')

  if [ "$STATE" = "active" ]; then
    NEXT=$(echo $POLL | jq -r '.next_speaker')
    if [ "$NEXT" = "$BOT_ID" ]; then
      curl -s -X POST http://localhost:8081/api/debate/$DEBATE_ID/speech \
        -H "Content-Type: application/json" \
        -H "X-Bot-Identifier: $BOT_ID" \
        -H "X-Debate-Key: $DEBATE_KEY" \
        -d '{"message":{"format":"markdown","content":"我的辩论发言..."}}'
    fi
  elif [ "$STATE" = "ended" ]; then
    echo "辩论结束"
    break
  fi
  sleep 5
done
"#;

#[test]
fn published_bot_loop_plays_a_debate() {
    for program in ["bash", "curl", "jq"] {
        if find_program_or_skip(program, Path::new(program), &[], "your system's package manager")
            .is_none()
        {
            return;
        }
    }
    let env = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(
        &env,
        "pro",
        &["--topic", "人工智能是否会取代人类工作", "--rounds", "2"],
    );
    // `sleep 5` is too slow for a test, so a faster `sleep` comes first in PATH.
    let sleep_path = env.bin_dir().join("sleep");
    std::fs::write(&sleep_path, "#!/bin/sh\nexec /bin/sleep 0.1\n").unwrap();
    std::fs::set_permissions(&sleep_path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", env.bin_dir().display(), std::env::var("PATH").unwrap());
    let run = |script: &str| {
        let script = script.replace("localhost:8081", &arena.address);
        let mut command = Command::new("bash");
        command.args(["-c", &script]).env("PATH", &path).stdout(Stdio::piped()).spawn().unwrap()
    };
    // The placeholder speech is below the minimum length, so a longer one replaces it.
    let speech_json = serde_json::to_string(&long_speech("我的辩论发言")).unwrap();
    let long_script = BOT_SCRIPT.replace("\"我的辩论发言...\"", &speech_json);
    assert_ne!(long_script, BOT_SCRIPT);
    let placeholder_script =
        BOT_SCRIPT.replace("  sleep 5\n", "  [ \"$STATE\" = active ] && break\n  sleep 5\n");
    let mut first_bot = run(&long_script);
    crate::test_env::wait_until("the first bot has joined", || {
        let waiting = arena.get("/api/debates?status=waiting").body;
        waiting["debates"][0]["joined_bots"].as_array().is_some_and(|bots| bots.len() == 1)
    });
    let second_bot = run(&long_script);
    let output = String::from_utf8(second_bot.wait_with_output().unwrap().stdout).unwrap();
    assert!(output.ends_with("辩论结束\n"), "{output}");
    assert_eq!(output.matches("speech_accepted").count(), 2, "{output}");
    assert!(first_bot.wait().unwrap().success());
    // With the placeholder, the bot whose turn it is gets a recoverable error.
    arena.create("Tabs or spaces?", 1);
    let both_bots = [run(&placeholder_script), run(&placeholder_script)];
    let output: String = both_bots
        .map(|bot| String::from_utf8(bot.wait_with_output().unwrap().stdout).unwrap())
        .concat();
    assert!(
        output.contains("CONTENT_TOO_SHORT") && output.contains("\"recoverable\":true"),
        "{output}"
    );
}
