//! [`DebateSpec`]: what is debated and how, and [`DebateContext`]: with which files.
use crate::debate::formats;
use crate::debate::{Budget, Effort, Format, HoldPoint, Origin, ReviewedChange};
use crate::engine::format_catalog::{CatalogEntry, FormatCatalog};
use std::collections::BTreeMap;

/// Format of a debate that names none.
pub const DEFAULT_FORMAT: &str = "duel";
/// Name of the prompt template about changes.
const REVIEW_TEMPLATE: &str = "review";

/// What is debated and how, without participants and context.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing a user can ask for")]
pub struct DebateSpec {
    pub topic: String,
    /// Name of the format.
    pub format: String,
    /// Stances of the side for and the side against, if the topic does not say them.
    pub stances: [String; 2],
    /// Argument styles of the two sides.
    pub styles: [String; 2],
    /// Whether an auditor checks factual claims.
    pub audited: bool,
    /// Allow a debater to judge although the format forbids it.
    pub same_judge: bool,
    /// Weight of the judge relative to the audience, in percent.
    pub judge_share: Option<u8>,
    /// Format-specific options by name.
    pub terms: BTreeMap<String, String>,
    /// Additional path for the finished report.
    pub report_path: Option<String>,
    /// Default: that of the format.
    pub rounds: Option<u8>,
    /// Reasoning effort of every seat.
    pub effort: Option<Effort>,
    pub budget: Budget,
    /// Timeout of a fetched turn in seconds. Default: that of its provider.
    pub turn_seconds: Option<u32>,
    /// Timeout of an awaited turn in seconds. Default: none.
    pub await_seconds: Option<u32>,
    /// Where the debate waits for the user.
    pub holds: Vec<HoldPoint>,
    /// Whether both sides first answer without seeing each other's reply (sealed answers).
    pub sealed: bool,
    /// Whether to skip to the final act once a round leaves nothing open or only repeats.
    pub stop_when_settled: bool,
    /// The change it reviews, if any.
    pub reviewed_change: Option<ReviewedChange>,
    /// Ids of debates with the same review key or game key that this one replaces. The archive
    /// refuses to create it if there are others.
    pub supersedes: Vec<String>,
    /// Where the first turns came from.
    pub origin: Origin,
}

impl DebateSpec {
    /// A duel on this topic, with defaults for everything else.
    pub fn duel(topic: &str) -> DebateSpec {
        DebateSpec { topic: topic.into(), format: DEFAULT_FORMAT.into(), ..DebateSpec::default() }
    }
}

/// The pinned repository and what the debaters are given of it.
#[derive(Clone, Debug, Default)]
pub struct DebateContext {
    /// Context in every debater's prompt, besides the topic.
    pub brief: String,
    /// Paths the brief is about.
    pub touched_paths: Vec<String>,
    /// Parts of the repository in the brief, with reasons.
    pub picked: Vec<String>,
    /// Id of the pinned tree.
    pub pin: Option<String>,
    /// Last commit of the repository.
    pub commit: Option<String>,
    /// Why the repository could not be read, if so.
    pub unreadable_reason: Option<String>,
}

impl DebateSpec {
    /// The format with the modifications for reviews and sealed replies.
    pub(super) fn build_format(&self, format: Format) -> Format {
        let format =
            if self.reviewed_change.is_some() { formats::for_code_review(format) } else { format };
        if self.sealed { formats::with_sealed_answers(format) } else { format }
    }

    /// Prompt templates by name. The review text is merged into `focus` if a change is reviewed,
    /// and dropped otherwise.
    pub(super) fn build_prompts(&self, entry: &CatalogEntry) -> BTreeMap<String, String> {
        let mut prompts = entry.prompts.clone();
        let review = prompts.remove(REVIEW_TEMPLATE).filter(|_| self.reviewed_change.is_some());
        if let Some(review) = review {
            let focus = prompts.entry("focus".into()).or_default();
            format!("{review}\n\n{focus}").trim().clone_into(focus);
        }
        prompts
    }

    /// Clamps a number of rounds to the format's range.
    pub(super) fn clamp_rounds(&self, rounds: u8, catalog: &FormatCatalog) -> u8 {
        let entry = catalog.find(&self.format).ok();
        let range = entry.map(|entry| &entry.offer.rounds);
        range.map_or(rounds, |range| rounds.clamp(*range.start(), *range.end()))
    }
}
