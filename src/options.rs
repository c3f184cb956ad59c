//! [`DebateOptions`]: everything a user can ask for when starting a debate, besides the topic.
//!
//! One struct with one JSON schema (`schemas/options.json`). CLI flags, the MCP argument `options`
//! and the table `[defaults]` of the configuration are parsed into it; `app::plan` validates it
//! against the format and turns it into a plan.
use crate::debate::Effort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of a debate. All are optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DebateOptions {
    /// Name of the format. Default: `duel`
    pub format: Option<String>,
    /// Who argues for, or leads a dialogue: `tool` or `tool:model`. Default: chosen automatically
    pub proposer: Option<String>,
    /// Who argues against, or questions the lead
    pub challenger: Option<String>,
    /// Who judges
    pub judge: Option<String>,
    /// Number of rounds. Default: set by the format
    pub rounds: Option<u64>,
    /// Reasoning effort of all participants
    pub effort: Option<Effort>,
    /// Repository context for the debaters: `auto`, `none`, or items separated by `;`
    pub context: Option<String>,
    /// Ask nothing until the user has confirmed the plan. Default: set by the format
    pub confirm_plan: Option<bool>,
    /// Pause after each round, for the user
    pub pause: Option<bool>,
    /// Both sides answer before they see each other. Default: false
    pub sealed: Option<bool>,
    /// Go to the verdict when a round brings nothing new. Default: false
    pub stop_when_settled: Option<bool>,
    /// Send each model a test prompt first. Default: true
    pub probe: Option<bool>,
    /// Pause at this total cost
    pub max_cost: Option<f64>,
    /// Pause at this total of input and output tokens
    pub max_tokens: Option<u64>,
    /// Pause when turns have taken this many minutes in total
    pub max_minutes: Option<u64>,
    /// Timeout of a model's turn in seconds. Default: set by the tool and effort
    pub turn_seconds: Option<u32>,
    /// Timeout of a turn of `host`, `human` or a bot in seconds. Default: none
    pub await_seconds: Option<u32>,
    /// Model of every seat without one: a seat, or a model such as `gpt-5.5`
    pub model: Option<String>,
    /// Judges of a panel, instead of `judge`
    pub judges: Vec<String>,
    /// Position of each side
    pub stances: PerSide,
    /// Argument style of each side
    pub styles: PerSide,
    /// Research: two to four roles
    pub roles: Vec<RoleOption>,
    /// Research: the question behind the topic
    pub goal: Option<String>,
    /// Research: readers of the report: `self`, `team` or `public`. Default: `self`
    pub audience: Option<String>,
    /// Research: `personal-choice`, `team-standardization` or `market-analysis`
    pub decision_type: Option<String>,
    /// Research: audit factual claims: `auto`, `true` or `false`. Default: `auto`
    pub evidence_round: Option<AuditMode>,
    /// Research: path of an additional file for the finished report
    pub output_path: Option<String>,
    /// Dialectic: additional partners, who question the lead
    pub partners: Vec<String>,
    /// Tribunal: audience members, who vote. Default: one of each type, if the format has an
    /// audience by default
    pub listeners: Option<Vec<ListenerOption>>,
    /// Tribunal: weight of the judge, 0 to 1
    pub judge_share: Option<f64>,
    /// Tribunal: weight of the audience, 0 to 1. One of the two weights is enough
    pub audience_share: Option<f64>,
    /// Tribunal: allow a debater to judge. Default: false
    pub same_judge: Option<bool>,
}

impl DebateOptions {
    /// Fills every option that is not set with that of `defaults`.
    #[must_use]
    pub fn or(self, defaults: &DebateOptions) -> DebateOptions {
        let list = |own: Vec<String>, default: &Vec<String>| {
            if own.is_empty() { default.clone() } else { own }
        };
        // A panel and a single judge exclude each other.
        let names_judge = self.judge.is_some() || !self.judges.is_empty();
        let default_judges = if names_judge { &vec![] } else { &defaults.judges };
        let default_judge = if names_judge { None } else { defaults.judge.clone() };
        // The two weights add up to 1, so one of the request replaces both defaults.
        let has_share = self.judge_share.is_some() || self.audience_share.is_some();
        let default_share = |share: Option<f64>| share.filter(|_| !has_share);
        DebateOptions {
            format: self.format.or_else(|| defaults.format.clone()),
            proposer: self.proposer.or_else(|| defaults.proposer.clone()),
            challenger: self.challenger.or_else(|| defaults.challenger.clone()),
            judge: self.judge.or(default_judge),
            rounds: self.rounds.or(defaults.rounds),
            effort: self.effort.or(defaults.effort),
            context: self.context.or_else(|| defaults.context.clone()),
            confirm_plan: self.confirm_plan.or(defaults.confirm_plan),
            pause: self.pause.or(defaults.pause),
            sealed: self.sealed.or(defaults.sealed),
            stop_when_settled: self.stop_when_settled.or(defaults.stop_when_settled),
            probe: self.probe.or(defaults.probe),
            max_cost: self.max_cost.or(defaults.max_cost),
            max_tokens: self.max_tokens.or(defaults.max_tokens),
            max_minutes: self.max_minutes.or(defaults.max_minutes),
            turn_seconds: self.turn_seconds.or(defaults.turn_seconds),
            await_seconds: self.await_seconds.or(defaults.await_seconds),
            model: self.model.or_else(|| defaults.model.clone()),
            judges: list(self.judges, default_judges),
            stances: self.stances.or(&defaults.stances),
            styles: self.styles.or(&defaults.styles),
            roles: if self.roles.is_empty() { defaults.roles.clone() } else { self.roles },
            goal: self.goal.or_else(|| defaults.goal.clone()),
            audience: self.audience.or_else(|| defaults.audience.clone()),
            decision_type: self.decision_type.or_else(|| defaults.decision_type.clone()),
            evidence_round: self.evidence_round.or(defaults.evidence_round),
            output_path: self.output_path.or_else(|| defaults.output_path.clone()),
            partners: list(self.partners, &defaults.partners),
            listeners: self.listeners.or_else(|| defaults.listeners.clone()),
            judge_share: self.judge_share.or(default_share(defaults.judge_share)),
            audience_share: self.audience_share.or(default_share(defaults.audience_share)),
            same_judge: self.same_judge.or(defaults.same_judge),
        }
    }

    /// Names of all options, in the order of the schema.
    pub fn names() -> Vec<String> {
        let schema = schemars::schema_for!(DebateOptions);
        let properties = schema.get("properties").and_then(serde_json::Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect()
    }
}

/// A text for each side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PerSide {
    /// Side for
    #[serde(alias = "proposer")]
    pub pro: String,
    /// Side against
    #[serde(alias = "challenger")]
    pub con: String,
}

impl PerSide {
    fn or(self, defaults: &PerSide) -> PerSide {
        let side =
            |own: String, default: &String| if own.is_empty() { default.clone() } else { own };
        PerSide { pro: side(self.pro, &defaults.pro), con: side(self.con, &defaults.con) }
    }
}

/// A role of a research debate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleOption {
    /// Heading of its reports
    pub name: String,
    /// What it argues for
    pub stance: String,
    /// Default: chosen automatically
    #[serde(default)]
    pub model: Option<String>,
}

/// An audience member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListenerOption {
    /// Type, one of those the format has templates for
    #[serde(rename = "type")]
    pub kind: String,
    /// Default: chosen automatically
    #[serde(default)]
    pub model: Option<String>,
    /// Weight of its vote. Default: 1
    #[serde(default)]
    pub weight: Option<u16>,
}

/// Whether factual claims are audited: `true`, `false` or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "serde_json::Value", rename_all = "snake_case")]
#[schemars(with = "serde_json::Value")]
pub enum AuditMode {
    On,
    Off,
    /// Only if the topic asks for something measurable (see `evidence_heuristic`).
    Auto,
}

impl TryFrom<serde_json::Value> for AuditMode {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<AuditMode, String> {
        match value {
            serde_json::Value::Bool(true) => Ok(AuditMode::On),
            serde_json::Value::Bool(false) => Ok(AuditMode::Off),
            serde_json::Value::String(word) => word.parse(),
            other => Err(format!("`evidence_round` is {other}; it must be auto, true or false")),
        }
    }
}

impl std::str::FromStr for AuditMode {
    type Err = String;

    fn from_str(word: &str) -> Result<AuditMode, String> {
        match word {
            "true" | "on" | "yes" => Ok(AuditMode::On),
            "false" | "off" | "no" => Ok(AuditMode::Off),
            "auto" => Ok(AuditMode::Auto),
            other => Err(format!("`{other}` is not auto, true or false")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A request in which every option has a value.
    fn all_options() -> Value {
        json!({
            "format": "research", "proposer": "a", "challenger": "b", "judge": "c", "rounds": 3,
            "effort": "high", "context": "tree", "confirm_plan": true, "pause": true,
            "sealed": true, "stop_when_settled": true, "probe": false, "max_cost": 1.5,
            "max_tokens": 10, "max_minutes": 5, "turn_seconds": 60, "await_seconds": 90,
            "model": "m", "judges": ["d"], "stances": {"pro": "p", "con": "q"},
            "styles": {"pro": "r", "con": "s"}, "roles": [{"name": "n", "stance": "s", "model": null}],
            "goal": "g", "audience": "team", "decision_type": "market-analysis",
            "evidence_round": "on", "output_path": "o.md", "partners": ["e"],
            "listeners": [{"type": "t", "model": null, "weight": 2}], "judge_share": 0.5,
            "audience_share": 0.5, "same_judge": true,
        })
    }

    #[test]
    fn every_option_falls_back_to_its_default() {
        let all = all_options();
        let names: Vec<String> = all.as_object().unwrap().keys().cloned().collect();
        let mut known = DebateOptions::names();
        known.sort();
        assert_eq!(names, known, "add the new option to this test");
        let defaults: DebateOptions = serde_json::from_value(all.clone()).unwrap();
        let merged = DebateOptions::default().or(&defaults);
        assert_eq!(serde_json::to_value(&merged).unwrap(), all);
        assert_eq!(defaults.clone().or(&DebateOptions::default()), defaults);
    }

    #[test]
    fn option_of_the_request_overrides_the_default() {
        let defaults: DebateOptions = serde_json::from_value(all_options()).unwrap();
        let request = json!({"judge": "mine", "audience_share": 0.2, "sealed": false, "stances": {"con": "x"}});
        let request: DebateOptions = serde_json::from_value(request).unwrap();
        let merged = request.or(&defaults);
        assert_eq!((merged.judge.as_deref(), merged.judges.len()), (Some("mine"), 0));
        assert_eq!((merged.judge_share, merged.audience_share), (None, Some(0.2)));
        assert_eq!(merged.sealed, Some(false));
        assert_eq!((merged.stances.pro.as_str(), merged.stances.con.as_str()), ("p", "x"));
    }
}
