//! JSON schemas of the replies that are one JSON object, for providers with structured output. A
//! schema only guides the model: [`super::reply`] still validates every reply. All fields are
//! required and no others allowed, because every provider supports that subset.
use crate::debate::record::body::RubricMarks;
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::{ReplyKind, Speakers};
use crate::debate::setup::rule::Rule;
use serde_json::{Value, json};

/// Schema of the reply at this cue, or `None` if the reply is Markdown.
pub fn reply_schema(debate: &Debate, cue: Cue) -> Option<Value> {
    let phase = debate.setup().phase(cue);
    Some(match phase.reply {
        ReplyKind::Speech | ReplyKind::Sections => return None,
        ReplyKind::Verdict => {
            let has_rule = |required: Rule| phase.rules.iter().any(|(rule, _)| *rule == required);
            verdict_schema(debate.citable_turns(cue).len(), has_rule)
        }
        ReplyKind::Vote => object_schema(json!({
            "agent_id": {"enum": [debate.seat(cue).name]},
            "vote": {"enum": ["pro", "con"]}, "confidence": fraction_schema(), "reason": string_schema(),
        })),
        ReplyKind::Petition => object_schema(json!({
            "intent": {"enum": ["support_pro", "support_con", "none"]}, "claim": string_schema(),
            "novelty": {"enum": ["new", "reinforcement"]}, "confidence": fraction_schema(),
        })),
        ReplyKind::Ruling => object_schema(json!({
            "admits": admits_schema(debate, &phase.speakers), "new_information": boolean_schema(),
            "avoids_repetition": boolean_schema(), "shifts_balance": boolean_schema(), "because": string_schema(),
        })),
        ReplyKind::Audit => object_schema(json!({
            "facts": array_schema(object_schema(json!({"by": string_schema(), "id": string_schema(), "claim": string_schema(), "tag": {"enum": [
                "official-docs", "community-feedback", "personal-blog", "no-source", "exaggerated",
            ]}}))),
        })),
        ReplyKind::Score => object_schema(json!({
            "round": {"enum": [cue.round]},
            "scores": object_schema(json!({"A": marks_schema(), "B": marks_schema()})),
            "foul": boolean_schema(),
            "fouls": array_schema(object_schema(json!({
                "side": {"enum": ["A", "B"]}, "note": string_schema(), "kind": {"enum": [
                    "ad_hominem", "off_topic", "disruption", "rule_broken", "other",
                ]},
            }))),
            "comment": string_schema(),
        })),
    })
}

fn verdict_schema(turns: usize, has_rule: impl Fn(Rule) -> bool) -> Value {
    let level = || json!({"enum": ["high", "medium", "low"]});
    let turns: Vec<String> = (1..=turns).map(|turn| format!("T{turn}")).collect();
    let score = || json!({"type": "number", "minimum": 0, "maximum": 100});
    let mut fields = json!({
        "winner": {"enum": ["A", "B"]},
        "confidence": fraction_schema(),
        "scores": object_schema(json!({"A": score(), "B": score()})),
        "reasoning": string_schema(),
        "cites": {"type": "array", "minItems": 1, "items": {"enum": turns}},
        "quality": object_schema(json!({"disagreement": level(), "evidence": level(), "depth": level()})),
        "agreements": array_schema(object_schema(json!({"point": string_schema(), "evidence": string_schema()}))),
        "disagreements": array_schema(object_schema(json!({"point": string_schema(), "A": string_schema(), "B": string_schema()}))),
        "unresolved": array_schema(string_schema()),
        "recommendation": string_schema(),
    });
    if has_rule(Rule::SaysWhatChanged) {
        fields["changed"] =
            object_schema(json!({"decision": boolean_schema(), "because": string_schema()}));
    }
    let side = || json!({"enum": ["A", "B"]});
    if has_rule(Rule::ChecksClaims) {
        fields["checks"] = array_schema(object_schema(json!({
            "side": side(), "claim": string_schema(),
            "answered": boolean_schema(), "supported": boolean_schema(), "conceded": boolean_schema(),
        })));
        fields["despite"] = string_schema();
    }
    if has_rule(Rule::NamesDecisive) {
        fields["decisive"] = string_schema();
        fields["blind_spots"] =
            array_schema(object_schema(json!({"side": side(), "text": string_schema()})));
    }
    if has_rule(Rule::MarksByRubric) {
        let maximum = |maximum: u8| json!({"type": "number", "minimum": 0, "maximum": maximum});
        let marks = RubricMarks::CRITERIA
            .iter()
            .map(|(name, max_mark)| ((*name).to_owned(), maximum(*max_mark)));
        let marks = object_schema(Value::Object(marks.collect()));
        fields["rubric"] = object_schema(json!({"A": marks.clone(), "B": marks}));
    }
    object_schema(fields)
}

/// Name of the admitted listener, or `null`.
fn admits_schema(debate: &Debate, speakers: &Speakers) -> Value {
    let Speakers::Prompted(..) = speakers else { return json!({"type": ["string", "null"]}) };
    let names = debate.seats().iter().map(|seat| Value::from(seat.name.as_str()));
    json!({"enum": names.chain([Value::Null]).collect::<Vec<_>>()})
}

fn marks_schema() -> Value {
    let mark = || json!({"type": "number", "minimum": 0, "maximum": 10});
    object_schema(
        json!({"logic": mark(), "rebuttal": mark(), "clarity": mark(), "evidence": mark()}),
    )
}

fn object_schema(fields: Value) -> Value {
    let Value::Object(fields) = fields else { return fields };
    let names: Vec<String> = fields.keys().cloned().collect();
    json!({
        "type": "object", "properties": fields, "required": names, "additionalProperties": false,
    })
}

fn array_schema(items: Value) -> Value {
    let mut schema = json!({"type": "array"});
    schema["items"] = items;
    schema
}

fn boolean_schema() -> Value {
    json!({"type": "boolean"})
}

fn string_schema() -> Value {
    json!({"type": "string"})
}

fn fraction_schema() -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1})
}
