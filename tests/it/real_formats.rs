//! Every format once with real CLIs in its seats. Their fake model looks up its reply in a table by
//! what the prompt asks for.
use crate::real_cli::{RealCliEnv, percent_encode};
use crate::scripted_replies::{
    ReplyLanguage, ScriptedReply, dialectic, research, to_prompt_table, tribunal,
};
use serde_json::Value;
use std::fs;

fn play_format(
    format: &str,
    replies: &[ScriptedReply],
    extra_args: &[&str],
) -> Option<(RealCliEnv, Value)> {
    let cli_env = RealCliEnv::with_tools(&["claude", "opencode"])?;
    let file = cli_env.env.temp_path("table.json");
    fs::write(&file, to_prompt_table(replies)).unwrap();
    let scenario = format!("table:{}", percent_encode(file.to_str().unwrap()));
    cli_env.configure_tools(&[("claude", &scenario), ("opencode", &scenario)]);
    let topic = "Is one file faster?";
    let seats = ["--proposer", "claude", "--challenger", "opencode", "--judge", "claude:judge"];
    let args = [&["run", topic, "--format", format, "--no-probe", "--yes", "--json"][..], &seats];
    let output = cli_env.env.debate(&[&args.concat()[..], extra_args].concat()).expect_success();
    let view = output.json();
    assert_eq!(view["status"], "completed", "{view:#}");
    for turn in view["turns"].as_array().unwrap() {
        let envelope = &turn["envelope"];
        assert_eq!(envelope["exit_code"], 0, "{turn:#}");
        assert!(envelope["version"].is_string(), "{turn:#}");
        assert_eq!(turn["refused"], Value::Null, "{turn:#}");
    }
    cli_env.env.assert_replays(&cli_env.env.latest_debate_id());
    Some((cli_env, view))
}

#[test]
fn real_tools_play_research() {
    let replies = research(ReplyLanguage::English);
    let Some((cli_env, view)) = play_format("research", &replies, &["--output", "r.md"]) else {
        return;
    };
    assert_eq!(view["turns"].as_array().unwrap().len(), 6);
    let report = fs::read_to_string(cli_env.env.repo_root().join("r.md")).unwrap();
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
    let extra_args = ["--rounds", "7", "--listener", "risk-averse=claude:listener", "--same-judge"];
    let Some((_, view)) = play_format("tribunal", &tribunal(7), &extra_args) else { return };
    // The only listener voted against, and its vote counts half.
    assert_eq!(
        (&view["verdict"]["side"], &view["votes"][0]["vote"]),
        (&"con".into(), &"con".into())
    );
    assert_eq!(view["verdict"]["court"]["admitted"][0]["seat"], "risk-averse");
}
