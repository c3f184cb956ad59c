//! Every format once with real CLIs in its seats. Their fake model looks up its reply in a table by
//! what the prompt asks for.
use crate::real_cli::{RealCliEnv, percent_encode};
use crate::scripted_replies::{
    ReplyLanguage, ScriptedReply, dialectic, research, to_prompt_table, tribunal,
};
use serde_json::Value;
use std::fs;

fn play_format(format: &str, said: &[ScriptedReply], more: &[&str]) -> Option<(RealCliEnv, Value)> {
    let real = RealCliEnv::with_tools(&["claude", "opencode"])?;
    let file = real.lab.temp_path("table.json");
    fs::write(&file, to_prompt_table(said)).unwrap();
    let does = format!("table:{}", percent_encode(file.to_str().unwrap()));
    real.configure_tools(&[("claude", &does), ("opencode", &does)]);
    let topic = "Is one file faster?";
    let seats = ["--proposer", "claude", "--challenger", "opencode", "--judge", "claude:judge"];
    let args = [&["run", topic, "--format", format, "--no-probe", "--yes", "--json"][..], &seats];
    let done = real.lab.debate(&[&args.concat()[..], more].concat()).expect_success();
    let view = done.json();
    assert_eq!(view["status"], "completed", "{view:#}");
    for turn in view["turns"].as_array().unwrap() {
        let envelope = &turn["envelope"];
        assert_eq!(envelope["exit_code"], 0, "{turn:#}");
        assert!(envelope["version"].is_string(), "{turn:#}");
        assert_eq!(turn["refused"], Value::Null, "{turn:#}");
    }
    real.lab.assert_replays(&real.lab.latest_debate_id());
    Some((real, view))
}

#[test]
fn real_tools_play_research() {
    let said = research(ReplyLanguage::English);
    let Some((real, view)) = play_format("research", &said, &["--output", "r.md"]) else { return };
    assert_eq!(view["turns"].as_array().unwrap().len(), 6);
    let report = fs::read_to_string(real.lab.repo_root().join("r.md")).unwrap();
    assert!(report.contains("Proponent (claude") && report.contains("Opponent (opencode"));
}

#[test]
fn real_tools_play_dialectic() {
    let Some((_, view)) = play_format("dialectic", &dialectic(), &["--rounds", "2"]) else {
        return;
    };
    assert_eq!((&view["outcome"], &view["rounds_completed"]), (&"partial".into(), &2.into()));
}

#[test]
fn real_tools_play_tribunal() {
    let more = ["--rounds", "7", "--listener", "risk-averse=claude:listener", "--same-judge"];
    let Some((_, view)) = play_format("tribunal", &tribunal(7), &more) else { return };
    // The only listener voted against, and its vote counts half.
    assert_eq!(
        (&view["verdict"]["side"], &view["votes"][0]["vote"]),
        (&"con".into(), &"con".into())
    );
    assert_eq!(view["verdict"]["court"]["admitted"][0]["seat"], "risk-averse");
}
