//! Argument types of the tools, deserialized from the request. The doc comments become the schema
//! descriptions that models read. They are short because they cost tokens in every conversation.
#![expect(clippy::doc_markdown, reason = "a model needs no backticks")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// `start_debate`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "StartDebate")]
pub struct StartDebateArgs {
    /// Question, in one sentence
    pub topic: String,
    /// duel (default), research, dialectic, tribunal
    pub format: Option<String>,
    /// Argues for: tool or tool:model, see list_models; host = you
    pub proposer: Option<String>,
    /// Argues against; not the proposer's tool
    pub challenger: Option<String>,
    /// Judge; best a third tool
    pub judge: Option<String>,
    /// Default by format
    #[serde(deserialize_with = "number")]
    #[schemars(with = "u8")]
    pub rounds: Option<u64>,
    /// low, medium, high, max
    pub effort: Option<String>,
    /// auto (default), none, or a ;-list: PATH:10-40, diff, diff=main..HEAD, tree, note=...
    #[serde(deserialize_with = "items")]
    #[schemars(with = "String")]
    pub context: Option<String>,
    /// Rare: review, confirm_plan, listeners, ...; see debate://formats/NAME
    #[schemars(with = "Map<String, Value>")]
    pub options: Option<Value>,
    /// Seconds to wait: 0-55 (default 45)
    #[serde(deserialize_with = "number")]
    #[schemars(with = "u8")]
    pub wait_seconds: Option<u64>,
}

/// Names of all options, for the error about an invalid one.
pub(super) const OPTION_NAMES: &str = "review (of the change in context), confirm_plan, pause, sealed, stop_when_settled, probe, max_cost, max_tokens, max_minutes, \
     turn_seconds, await_seconds, model, judges, stances, styles; in research roles, goal, audience, \
     decision_type, evidence_round, output_path; in dialectic partners; in tribunal listeners, \
     judge_share, audience_share, same_judge";

/// `continue_round`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ContinueRound")]
pub struct ContinueRoundArgs {
    /// Default: the latest here
    pub debate_id: Option<String>,
    /// due.turn from the last result
    pub turn: Option<String>,
    /// Your speech for that turn
    pub speech: Option<String>,
    /// The user's remark, which both sides must answer; after the end, their decision
    pub say: Option<String>,
    /// What the user wants: continue, confirm (the plan), change (say: "rounds=3"), steer or deepen (say: what), cancel, end (rule now), keep, discard (the record), retry (a failed turn)
    pub decision: Option<String>,
    /// 0-55
    #[serde(deserialize_with = "number")]
    #[schemars(with = "u8")]
    pub wait_seconds: Option<u64>,
}

/// `summarize`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Summarize")]
pub struct SummarizeArgs {
    /// Default: the latest here
    pub debate_id: Option<String>,
}

/// `verdict`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Verdict")]
pub struct VerdictArgs {
    /// Default: the latest here
    pub debate_id: Option<String>,
    /// due.turn, if you judge
    pub turn: Option<String>,
    /// Your ruling, in the brief's format
    #[schemars(with = "Map<String, Value>")]
    pub ruling: Option<Value>,
    /// 0-55
    #[serde(deserialize_with = "number")]
    #[schemars(with = "u8")]
    pub wait_seconds: Option<u64>,
}

/// `list_debates`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ListDebates")]
pub struct ListDebatesArgs {
    /// Search text; in:all or in:PATH searches other repositories
    pub query: Option<String>,
    /// unfinished, in-progress, paused, completed, degraded, aborted, failed, cancelled
    pub status: Option<String>,
}

/// Valid values of `part`, for the error about an invalid one.
pub(super) const PART_NAMES: &str = "transcript, summary, report, findings, ledger, recheck, envelopes, brief, plan, or a turn such as 0.1.0.0";

/// `show_debate`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ShowDebate")]
pub struct ShowDebateArgs {
    /// Default: the latest here
    pub debate_id: Option<String>,
    /// transcript (default), summary, report, findings, ledger, recheck, envelopes, brief, plan, or a turn
    pub part: Option<String>,
    /// From 1
    #[serde(deserialize_with = "number")]
    #[schemars(with = "u8")]
    pub page: Option<u64>,
}

/// `list_models`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ListModels")]
pub struct ListModelsArgs {
    /// Send each model a test request
    #[serde(deserialize_with = "flag")]
    #[schemars(with = "bool")]
    pub probe: bool,
}

/// Exclusive upper limit of numbers, so that none is rounded on its way through `f64`.
const MAX_NUMBER: f64 = 1e15;

/// Deserializes a whole number. Accepts a quoted one, because some models send strings.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value => {
            let integer = value.as_f64();
            let integer = integer.filter(|n| n.fract() == 0.0 && (0.0..MAX_NUMBER).contains(n));
            #[expect(clippy::cast_sign_loss, reason = "the range is checked")]
            let integer = integer.map(|n| n as u64);
            let quoted = || value.as_str()?.trim().parse().ok();
            integer.or_else(quoted).map(Some).ok_or_else(|| {
                serde::de::Error::custom(format!("expected a whole number, not {value}"))
            })
        }
    }
}

/// Deserializes context items from a string or from an object such as `{"diff": "main..HEAD"}`.
fn items<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let invalid =
        |value: &Value| serde::de::Error::custom(format!("context cannot have {value} in it"));
    let scalar = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(invalid(other)),
    };
    let item = |(name, value): (&String, &Value)| match value {
        Value::Bool(true) => Ok(name.clone()),
        Value::String(text) if text.is_empty() => Ok(name.clone()),
        Value::Array(all) => {
            let words = all.iter().map(scalar).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("{name}={}", words.join(",")))
        }
        value => Ok(format!("{name}={}", scalar(value)?)),
    };
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::Object(all) => {
            // A note extends to the end of the string, so it comes last.
            let (notes, rest): (Vec<_>, Vec<_>) = all.iter().partition(|(name, _)| *name == "note");
            let items: Result<Vec<String>, _> = rest.into_iter().chain(notes).map(item).collect();
            Ok(Some(items?.join("\n")))
        }
        value => scalar(&value).map(Some),
    }
}

/// Deserializes a boolean. Accepts a quoted one, because some models send strings.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        Value::String(word) if word == "true" || word == "false" => Ok(word == "true"),
        value => Err(serde::de::Error::custom(format!("expected true or false, not {value}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn number_must_be_below_its_limit() {
        let parse = |page: Value| serde_json::from_value::<ShowDebateArgs>(json!({ "page": page }));
        let largest = 999_999_999_999_999_u64;
        assert_eq!(parse(json!(largest)).unwrap().page, Some(largest));
        assert!(parse(json!(largest + 1)).is_err());
        assert!(parse(json!(MAX_NUMBER)).is_err());
    }
}
