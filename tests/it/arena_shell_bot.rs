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
    let lab = TestEnv::new();
    let arena = ArenaProcess::start_with_judge(
        &lab,
        "pro",
        &["--topic", "人工智能是否会取代人类工作", "--rounds", "2"],
    );
    // `sleep 5` is too slow for a test, so a faster `sleep` comes first in PATH.
    let sleep = lab.bin_dir().join("sleep");
    std::fs::write(&sleep, "#!/bin/sh\nexec /bin/sleep 0.1\n").unwrap();
    std::fs::set_permissions(&sleep, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", lab.bin_dir().display(), std::env::var("PATH").unwrap());
    let run = |script: &str| {
        let script = script.replace("localhost:8081", &arena.address);
        let mut command = Command::new("bash");
        command.args(["-c", &script]).env("PATH", &path).stdout(Stdio::piped()).spawn().unwrap()
    };
    // The placeholder speech is below the minimum length, so a longer one replaces it.
    let text = serde_json::to_string(&long_speech("我的辩论发言")).unwrap();
    let longer = BOT_SCRIPT.replace("\"我的辩论发言...\"", &text);
    assert_ne!(longer, BOT_SCRIPT);
    let short =
        BOT_SCRIPT.replace("  sleep 5\n", "  [ \"$STATE\" = active ] && break\n  sleep 5\n");
    let mut first = run(&longer);
    crate::test_env::wait_until("somebody waits", || {
        let waiting = arena.get("/api/debates?status=waiting").body;
        waiting["debates"][0]["joined_bots"].as_array().is_some_and(|bots| bots.len() == 1)
    });
    let second = run(&longer);
    let said = String::from_utf8(second.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.ends_with("辩论结束\n"), "{said}");
    assert_eq!(said.matches("speech_accepted").count(), 2, "{said}");
    assert!(first.wait().unwrap().success());
    // With the placeholder, the bot whose turn it is gets a recoverable error.
    arena.create("Tabs or spaces?", 1);
    let both = [run(&short), run(&short)];
    let said: String =
        both.map(|bot| String::from_utf8(bot.wait_with_output().unwrap().stdout).unwrap()).concat();
    assert!(said.contains("CONTENT_TOO_SHORT") && said.contains("\"recoverable\":true"), "{said}");
}
