//! Participation table: tool, version, model, duration, tokens, cost, attempts and exit code of
//! every turn, as reported in its envelope.
use super::sanitize::{escape_table_cell, one_line};
use crate::debate::{Debate, Envelope};
use std::fmt::Write;

/// The table as Markdown, followed by the caveats of single turns. Empty if no tool was called.
pub(super) fn participation_table(debate: &Debate) -> String {
    let was_called =
        |envelope: &Envelope| envelope.attempts.is_some() || envelope.version.is_some();
    let turns: Vec<_> = debate
        .turns()
        .map(|(cue, turn)| {
            (cue, turn.as_ref().map_or_else(|failure| &failure.envelope, |reply| &reply.envelope))
        })
        .filter(|(_, envelope)| was_called(envelope))
        .collect();
    if turns.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "| Turn | Tool | Version | Model asked | Model reported | Seconds | Tokens | Cost | Attempts | Exit |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (cue, it) in &turns {
        let known = |value: Option<String>| escape_table_cell(value.as_deref().unwrap_or("-"));
        let tokens = it.tokens_in.zip(it.tokens_out);
        let _ = writeln!(
            text,
            "| {cue} | {} | {} | {} | {} | {:.1} | {} | {} | {} | {} |",
            escape_table_cell(&it.tool),
            known(it.version.clone()),
            known(it.model_asked.clone()),
            known(it.model_reported.clone()),
            it.duration_ms as f64 / 1000.0,
            known(tokens.map(|(read, written)| format!("{read} + {written}"))),
            known(it.cost.map(|cost| format!("{:.4}", cost as f64 / 1e6))),
            known(it.attempts.map(|attempts| attempts.to_string())),
            known(it.exit_code.map(|code| code.to_string())),
        );
    }
    let mut caveats: Vec<(String, Vec<String>)> = vec![];
    for (cue, it) in &turns {
        for caveat in &it.caveats {
            let caveat = format!("{}: {}", it.tool, one_line(caveat));
            match caveats.iter_mut().find(|(known, _)| *known == caveat) {
                Some((_, cues)) => cues.push(cue.to_string()),
                None => caveats.push((caveat, vec![cue.to_string()])),
            }
        }
    }
    for (caveat, cues) in caveats {
        let _ = write!(text, "\n- {caveat} ({})", cues.join(", "));
    }
    text.trim_end().to_owned() + "\n"
}
