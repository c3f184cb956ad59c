//! Forms for replies that must be a JSON object (verdict, vote, score ...): an empty form for the
//! editor, and a parser for one-line answers on stdin.
use crate::debate::ledger::claims_to_check;
use crate::debate::{Cue, Debate, ReplyKind, Rule};
use serde_json::{Value, json};

/// Initial text of the editor: an empty JSON form, or nothing for prose replies.
pub(super) fn empty_form(debate: &Debate, cue: Cue) -> String {
    let form = match debate.setup().phase(cue).reply {
        ReplyKind::Speech | ReplyKind::Sections => return String::new(),
        ReplyKind::Verdict => {
            let label = |side| debate.side_label(cue, side).unwrap_or_default();
            let checks: Vec<Value> = claims_to_check(debate, debate.wave_start(cue))
                .iter()
                .map(|entry| {
                    json!({
                        "side": label(entry.side), "claim": entry.claim.id,
                        "answered": false, "supported": false, "conceded": false,
                    })
                })
                .collect();
            let mut form = json!({
                "winner": "", "confidence": 0.5, "reasoning": "", "cites": ["T1"],
                "recommendation": "", "checks": checks, "despite": "",
            });
            let rules = &debate.setup().phase(cue).rules;
            let has_rule = |expected: Rule| rules.iter().any(|(rule, _)| *rule == expected);
            if has_rule(Rule::NamesDecisive) {
                form["decisive"] = "".into();
                let spot = |side| json!({"side": side, "text": ""});
                form["blind_spots"] = json!([spot("A"), spot("B")]);
            }
            if has_rule(Rule::SaysWhatChanged) {
                form["changed"] = json!({"decision": false, "because": ""});
            }
            form
        }
        ReplyKind::Vote => vote_json(debate, cue, "", 0.5, ""),
        ReplyKind::Petition => json!({
            "intent": "none", "claim": "", "novelty": "new", "confidence": 0.5,
        }),
        ReplyKind::Ruling => json!({
            "admits": null, "new_information": false, "avoids_repetition": false,
            "shifts_balance": false, "because": "",
        }),
        ReplyKind::Audit => {
            json!({"facts": [{"by": "", "id": "", "claim": "", "tag": "no-source"}]})
        }
        ReplyKind::Score => {
            let marks = || json!({"logic": 5, "rebuttal": 5, "clarity": 5, "evidence": 5});
            json!({
                "round": cue.round, "scores": {"A": marks(), "B": marks()}, "foul": false,
                "fouls": [], "comment": "",
            })
        }
    };
    serde_json::to_string_pretty(&form).unwrap_or_default()
}

/// Hint on how to answer on stdin.
pub(super) fn input_hint(kind: ReplyKind) -> &'static str {
    match kind {
        ReplyKind::Vote => "Vote as in `pro 0.8 because ...`, how sure you are between 0 and 1",
        ReplyKind::Petition => {
            "Say `none`, or ask for the floor as in `con 0.8 new: what you would say`"
        }
        _ => "Write your answer",
    }
}

/// Converts a one-line answer to the JSON of the reply. Any other text is returned unchanged.
pub(super) fn to_reply_json(debate: &Debate, cue: Cue, text: &str) -> String {
    let parsed = match debate.setup().phase(cue).reply {
        ReplyKind::Vote => parse_vote_line(text)
            .map(|(side, confidence, reason)| vote_json(debate, cue, side, confidence, &reason)),
        ReplyKind::Petition if text.trim() == "none" => Some(json!({"intent": "none"})),
        ReplyKind::Petition => parse_vote_line(text).map(|(side, confidence, rest)| {
            let (novelty, claim) = match rest.split_once(':') {
                Some((word, claim)) if word.trim() == "new" => ("new", claim.trim()),
                Some((word, claim)) if word.trim() == "reinforcement" => {
                    ("reinforcement", claim.trim())
                }
                _ => ("reinforcement", rest.as_str()),
            };
            let intent = format!("support_{side}");
            json!({"intent": intent, "claim": claim, "novelty": novelty, "confidence": confidence})
        }),
        _ => None,
    };
    parsed.map_or_else(|| text.to_owned(), |object| object.to_string())
}

fn vote_json(debate: &Debate, cue: Cue, side: &str, confidence: f64, reason: &str) -> Value {
    let name = &debate.seat(cue).name;
    json!({"agent_id": name, "vote": side, "confidence": confidence, "reason": reason})
}

/// Parses `pro 0.8 because ...` into side, confidence and reason.
fn parse_vote_line(text: &str) -> Option<(&'static str, f64, String)> {
    let mut words = text.trim().splitn(3, char::is_whitespace);
    let side = match words.next()?.to_lowercase().as_str() {
        "pro" => "pro",
        "con" => "con",
        _ => return None,
    };
    let confidence = words.next()?.parse().ok()?;
    let reason = words.next().unwrap_or_default().trim();
    Some((side, confidence, reason.strip_prefix("because").unwrap_or(reason).trim().to_owned()))
}
