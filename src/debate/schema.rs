//! JSON schemas of the replies that are one JSON object, for providers with structured output. A
//! schema only guides the model: [`super::reply`] still validates every reply. All fields are
//! required and no others allowed, because every provider supports that subset.
use super::body::{Kind, Rubric};
use super::event::Cue;
use super::format::Speakers;
use super::rules::Rule;
use super::state::Debate;
use serde_json::{Value, json};

/// Schema of the reply at this cue, or `None` if the reply is Markdown.
pub fn schema(debate: &Debate, cue: Cue) -> Option<Value> {
    let phase = debate.setup().phase(cue);
    Some(match phase.reply {
        Kind::Speech | Kind::Sections => return None,
        Kind::Verdict => {
            let asks = |wanted: Rule| phase.rules.iter().any(|(rule, _)| *rule == wanted);
            verdict(debate.citable(cue).len(), asks)
        }
        Kind::Vote => object(json!({
            "agent_id": {"enum": [debate.seat(cue).name]},
            "vote": {"enum": ["pro", "con"]}, "confidence": share(), "reason": text(),
        })),
        Kind::Petition => object(json!({
            "intent": {"enum": ["support_pro", "support_con", "none"]}, "claim": text(),
            "novelty": {"enum": ["new", "reinforcement"]}, "confidence": share(),
        })),
        Kind::Ruling => object(json!({
            "admits": admits(debate, &phase.speakers), "new_information": truth(),
            "avoids_repetition": truth(), "shifts_balance": truth(), "because": text(),
        })),
        Kind::Audit => object(json!({
            "facts": list(object(json!({"by": text(), "id": text(), "claim": text(), "tag": {"enum": [
                "official-docs", "community-feedback", "personal-blog", "no-source", "exaggerated",
            ]}}))),
        })),
        Kind::Score => object(json!({
            "round": {"enum": [cue.round]},
            "scores": object(json!({"A": marks(), "B": marks()})),
            "foul": truth(),
            "fouls": list(object(json!({
                "side": {"enum": ["A", "B"]}, "note": text(), "kind": {"enum": [
                    "ad_hominem", "off_topic", "disruption", "rule_broken", "other",
                ]},
            }))),
            "comment": text(),
        })),
    })
}

fn verdict(turns: usize, asks: impl Fn(Rule) -> bool) -> Value {
    let level = || json!({"enum": ["high", "medium", "low"]});
    let turns: Vec<String> = (1..=turns).map(|turn| format!("T{turn}")).collect();
    let hundred = || json!({"type": "number", "minimum": 0, "maximum": 100});
    let mut fields = json!({
        "winner": {"enum": ["A", "B"]},
        "confidence": share(),
        "scores": object(json!({"A": hundred(), "B": hundred()})),
        "reasoning": text(),
        "cites": {"type": "array", "minItems": 1, "items": {"enum": turns}},
        "quality": object(json!({"disagreement": level(), "evidence": level(), "depth": level()})),
        "agreements": list(object(json!({"point": text(), "evidence": text()}))),
        "disagreements": list(object(json!({"point": text(), "A": text(), "B": text()}))),
        "unresolved": list(text()),
        "recommendation": text(),
    });
    if asks(Rule::SaysWhatChanged) {
        fields["changed"] = object(json!({"decision": truth(), "because": text()}));
    }
    let side = || json!({"enum": ["A", "B"]});
    if asks(Rule::ChecksClaims) {
        fields["checks"] = list(object(json!({
            "side": side(), "claim": text(),
            "answered": truth(), "supported": truth(), "conceded": truth(),
        })));
        fields["despite"] = text();
    }
    if asks(Rule::NamesDecisive) {
        fields["decisive"] = text();
        fields["blind_spots"] = list(object(json!({"side": side(), "text": text()})));
    }
    if asks(Rule::MarksByRubric) {
        let most = |most: u8| json!({"type": "number", "minimum": 0, "maximum": most});
        let marks = Rubric::CRITERIA.iter().map(|(name, of)| ((*name).to_owned(), most(*of)));
        let marks = object(Value::Object(marks.collect()));
        fields["rubric"] = object(json!({"A": marks.clone(), "B": marks}));
    }
    object(fields)
}

/// Name of the admitted listener, or `null`.
fn admits(debate: &Debate, speakers: &Speakers) -> Value {
    let Speakers::Prompted(..) = speakers else { return json!({"type": ["string", "null"]}) };
    let names = debate.seats().iter().map(|seat| Value::from(seat.name.as_str()));
    json!({"enum": names.chain([Value::Null]).collect::<Vec<_>>()})
}

fn marks() -> Value {
    let mark = || json!({"type": "number", "minimum": 0, "maximum": 10});
    object(json!({"logic": mark(), "rebuttal": mark(), "clarity": mark(), "evidence": mark()}))
}

fn object(fields: Value) -> Value {
    let Value::Object(fields) = fields else { return fields };
    let names: Vec<String> = fields.keys().cloned().collect();
    json!({
        "type": "object", "properties": fields, "required": names, "additionalProperties": false,
    })
}

fn list(items: Value) -> Value {
    let mut list = json!({"type": "array"});
    list["items"] = items;
    list
}

fn truth() -> Value {
    json!({"type": "boolean"})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn share() -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1})
}
