//! The result, in the order and under the headings users know.
use super::ledger::wrong;
use super::text::{demoted, one_line};
use super::verdict::{VerdictView, turn_name, unsupported, verdict};
use crate::debate::{Debate, Outcome, Role, Side, standing};
use std::fmt::Write;

/// The whole summary, as Markdown.
pub fn summary(debate: &Debate) -> String {
    let mut text = String::from("## Debate Summary\n\n");
    if standing::labels(debate).contains(&"demo") {
        text.push_str("> DEMO: scripted voices, no model was asked. This is not advice.\n\n");
    }
    let _ = writeln!(text, "Topic: {}  ", one_line(debate.question()));
    for role in [Role::Pro, Role::Con, Role::Judge] {
        if let Some(who) = who(debate, role) {
            let _ = writeln!(text, "{}: {who}  ", role.title());
        }
    }
    let _ = writeln!(text, "Rounds: {}  ", standing::rounds_completed(debate));
    let _ = writeln!(text, "Rigor: {}  ", standing::rigor(debate));
    let _ = writeln!(text, "Status: {}", standing::status(debate).told());
    let labels = standing::labels(debate);
    if labels.contains(&"single-model") {
        text.push_str(
            "\nSingle-model: both sides were played by the same model, so expect less disagreement \
             than between different ones.\n",
        );
    }
    let notices = standing::notices(debate);
    if !notices.is_empty() {
        let notices: Vec<String> = notices.iter().map(|notice| one_line(notice)).collect();
        let _ = write!(text, "\n{}\n", notices.join("\n"));
    }
    match verdict(debate) {
        Some(verdict) => ruled(&mut text, debate, &verdict),
        None => unruled(&mut text, debate),
    }
    text
}

/// `claude (opus)`: the tool, and the model it reported or was asked for.
pub fn who(debate: &Debate, role: Role) -> Option<String> {
    let seat = debate.seated(role)?;
    let mut own = debate.turns().filter(|(cue, _)| debate.seat(*cue).role == role);
    let envelope = own.find_map(|(_, turn)| turn.as_ref().ok().map(|reply| &reply.envelope));
    let model = envelope
        .and_then(|envelope| envelope.model_reported.as_deref().or(envelope.model_asked.as_deref()))
        .or(seat.voice.model());
    let tool = envelope.map_or(seat.voice.tool(), |envelope| envelope.tool.as_str());
    Some(match model {
        Some(model) => format!("{tool} ({model})"),
        None => format!("{tool} (default model)"),
    })
    .map(|who| if seat.voice.awaited() { tool.to_owned() } else { who })
}

fn ruled(text: &mut String, debate: &Debate, verdict: &VerdictView) {
    let winner = &verdict.winner;
    let _ = write!(
        text,
        "\n### Verdict\n\n{winner} had the stronger argument because: {}\n\n",
        demoted(verdict.reasoning.trim())
    );
    if !verdict.cites.is_empty() {
        let _ = writeln!(text, "Rests on: {}.  ", verdict.cites.join("; "));
    }
    let _ = writeln!(text, "Decided: {}.", verdict.decided);
    if verdict.contested {
        text.push_str("\nThis verdict depends on the order in which the sides were shown:\n");
        for ruling in &verdict.rulings {
            let order = if ruling.swapped { "sides swapped" } else { "sides as seated" };
            let _ =
                writeln!(text, "- {order}: for {}. {}", ruling.winner, one_line(&ruling.reasoning));
        }
    }
    if !verdict.unmasked.is_empty() {
        let names = verdict.unmasked.join(", ");
        let _ =
            writeln!(text, "\nNot hidden from the judge, because the topic names them: {names}.");
    }
    list(text, "\nUnsupported claims:\n", &verdict.unsupported);
    list(text, "\nCitations that do not resolve:\n", &verdict.wrong);
    list(text, "\nNoticed:\n", &verdict.noticed);
    if let Some(changed) = &verdict.changed {
        let verb = if changed.decision { "changed" } else { "did not change" };
        let because = one_line(&changed.because);
        let _ = write!(
            text,
            "\nThe debate {verb} the decision of the sealed answers: {because}  \nVerified evidence \
             brought after them: {}.\n",
            standing::brought(debate)
        );
    }
    let quality = verdict.quality.map(|quality| {
        vec![
            format!("Genuine disagreement: {}", quality.disagreement.word()),
            format!("Evidence quality: {}", quality.evidence.word()),
            format!("Challenge depth: {}", quality.depth.word()),
        ]
    });
    section(
        text,
        "Debate Quality",
        &quality.unwrap_or_else(|| vec!["not rated by the judge".into()]),
    );
    let agreements: Vec<String> = verdict
        .agreements
        .iter()
        .map(|agreed| match agreed.evidence.trim() {
            "" => format!("{} (evidence: none given)", agreed.point),
            evidence => format!("{} (evidence: {evidence})", agreed.point),
        })
        .collect();
    section(text, "Key Agreements", &agreements);
    let (pro, con) = (standing::name_of(debate, Side::Pro), standing::name_of(debate, Side::Con));
    let disagreements: Vec<String> = verdict
        .disagreements
        .iter()
        .map(|said| format!("{}: {pro} argues {}, {con} argues {}", said.point, said.pro, said.con))
        .collect();
    section(text, "Key Disagreements", &disagreements);
    section(text, "Unresolved Questions", &verdict.unresolved);
    let _ = write!(text, "\n### Recommendation\n\n{}\n", demoted(verdict.recommendation.trim()));
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    let _ = write!(text, "\n### {title}\n\n");
    if lines.is_empty() {
        text.push_str("- none\n");
    }
    list(text, "", lines);
}

fn list(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        text.push_str(title);
    }
    for line in lines {
        let _ = writeln!(text, "- {}", one_line(line));
    }
}

/// Nobody has won; what was said is shown as far as it goes.
fn unruled(text: &mut String, debate: &Debate) {
    let _ = match debate.outcome() {
        None => write!(text, "\nNo verdict yet.\n"),
        Some(Outcome::Cancelled) => write!(text, "\nCancelled before a verdict.\n"),
        Some(_) => {
            for (cue, body) in debate.spoken(..).filter(|(cue, _)| cue.round == 1) {
                let _ = write!(text, "\n### Position ({})\n\n", turn_name(debate, cue));
                let _ = writeln!(text, "{}", demoted(body.text().trim()));
            }
            write!(text, "\nNo verdict was given, and nobody has won.\n")
        }
    };
    list(text, "\nUnsupported claims:\n", &unsupported(debate));
    list(text, "\nCitations that do not resolve:\n", &wrong(debate));
}
