//! Names and weights of the validation rules. Each phase of a format lists the rules of its replies.
//! `rule_descriptions` has their texts for prompts, and the checks are in `replies::rules`.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A validation rule, stored by name in formats and findings. Its check may become stricter in a
/// later version, because findings are stored with the reply and never recomputed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is explained by its description")]
pub enum Rule {
    Structured,
    Evidenced,
    FlagsUnsupported,
    AtMostThreeClaims,
    AnswersOpponent,
    RaisesFlaw,
    RaisesOrResolves,
    NoNewClaims,
    ConcedesVerbatim,
    KeepsConcessions,
    KeepsRecord,
    HelpNotTwice,
    NoHelp,
    FitsLength,
    AdmitsPetitioner,
    PicksSide,
    CitesRecord,
    Recommends,
    NineSections,
    SaysWhatChanged,
    NoNewFacts,
    HelpFits,
    AdmitsForGood,
    ChecksClaims,
    FollowsChecks,
    NamesDecisive,
    NamesBlindSpots,
    Investigates,
    RatesArguments,
    OwnIds,
    Rebuts,
    WithinWords,
    AuditsArguments,
    Directs,
    StatesOutcome,
    Tabulates,
    MarksByRubric,
}

/// What happens when a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Weight")]
pub enum RuleWeight {
    /// The reply is rejected and the seat asked once more with the finding. If the retry breaks the
    /// rule too, the turn fails.
    Reask,
    /// The reply is rejected and the seat asked once more with the finding. If the retry breaks the
    /// rule too, it is accepted with a foul.
    Mend,
    /// The reply is accepted, counted as a foul and shown to the judge.
    Foul,
    /// The reply is accepted with a note.
    Note,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct RuleFinding {
    pub rule: Rule,
    /// Its weight in this phase.
    pub weight: RuleWeight,
    /// Error message.
    pub says: String,
}
