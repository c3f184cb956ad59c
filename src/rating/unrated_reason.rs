//! Why a debate is not rated.
use schemars::JsonSchema;
use serde::Serialize;

/// Why a debate is not rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Unrated")]
pub enum UnratedReason {
    /// It is not over.
    Unfinished,
    /// The user cancelled it.
    Cancelled,
    /// It failed or was aborted.
    Failed,
    /// A turn is missing.
    Degraded,
    /// One side stopped replying, and there was no ruling.
    Forfeited,
    /// It has no two sides, or no verdict between them.
    NoVerdict,
    /// It was imported.
    Imported,
    /// It is the demo.
    Demo,
    /// A participant was a script.
    Scripted,
    /// Both sides are, or may be, the same model.
    SingleModel,
    /// The model of an MCP client argued, and its name is unknown.
    UnknownModel,
    /// A bot without a name argued.
    UnnamedBot,
    /// A seat was handed over.
    HandedOver,
    /// More than one model replied for a side.
    ModelChanged,
    /// Its event log is invalid.
    Flawed,
}

impl UnratedReason {
    /// Reason for display, in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            UnratedReason::Unfinished => "not over",
            UnratedReason::Cancelled => "cancelled",
            UnratedReason::Failed => "failed: there was nothing to debate",
            UnratedReason::Degraded => "degraded: something that was to be said is missing",
            UnratedReason::Forfeited => "forfeited: one side fell silent, and nobody ruled",
            UnratedReason::NoVerdict => "no verdict between two sides",
            UnratedReason::Imported => "imported: held elsewhere",
            UnratedReason::Demo => "demo",
            UnratedReason::Scripted => "scripted: somebody read from a file",
            UnratedReason::SingleModel => "single-model: both sides are, or may be, the same",
            UnratedReason::UnknownModel => "argued by the model of a client, which is not known",
            UnratedReason::UnnamedBot => "argued by a bot without a name",
            UnratedReason::HandedOver => "a seat changed hands",
            UnratedReason::ModelChanged => "a side was answered for by more than one model",
            UnratedReason::Flawed => "its log cannot be believed",
        }
    }
}
