//! The header of every summary, and the warning for demo debates.
use super::participants::{role_models, rounds_completed};
use super::sanitize::one_line;
use crate::debate::{Debate, Role, status};
use std::fmt::Write;

/// Header of every summary: topic, participants, rounds, rigor, status and notices.
pub(super) fn summary_header(debate: &Debate, roles: &[Role], extra_lines: &[String]) -> String {
    let mut text = String::from("## Debate Summary\n\n");
    text.push_str(demo_notice(debate));
    let _ = writeln!(text, "Topic: {}  ", one_line(debate.current_topic()));
    for role in roles.iter().filter(|role| debate.has_active_role(**role)) {
        if let Some(models) = role_models(debate, *role) {
            let _ = writeln!(text, "{}: {}  ", role.title(), one_line(&models));
        }
    }
    let _ = writeln!(text, "Rounds: {}  ", rounds_completed(debate));
    let _ = writeln!(text, "Rigor: {}  ", status::rigor(debate));
    let status = [format!("Status: {}", status::result_name(debate))];
    let lines: Vec<&str> = status.iter().chain(extra_lines).map(String::as_str).collect();
    let _ = writeln!(text, "{}", lines.join("  \n"));
    if status::labels(debate).contains(&"single-model") {
        text.push_str(
            "\nSingle-model: both sides were played by the same model, so expect less disagreement \
             than between different ones.\n",
        );
    }
    let notices: Vec<String> =
        status::notices(debate).iter().map(|notice| one_line(notice)).collect();
    if !notices.is_empty() {
        let _ = write!(text, "\n{}\n", notices.join("\n"));
    }
    text
}

/// Warning for demo debates, which are scripted and call no model. Empty otherwise.
pub(super) fn demo_notice(debate: &Debate) -> &'static str {
    if status::labels(debate).contains(&"demo") {
        "> DEMO: scripted voices, no model was asked. This is not advice.\n\n"
    } else {
        ""
    }
}
