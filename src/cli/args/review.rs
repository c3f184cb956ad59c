//! `debate review`, as it can be typed.
use super::{Seating, Shown};
use crate::review::USUAL;
use crate::review::gate::FailOn;
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;

/// `debate review`
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 done, whatever was ruled, or nothing to argue about; 1 failed; \
                        2 wrong usage, or stopped; 3 the review blocks (only with --fail-on); \
                        4 no model, or not logged in; 5 something is missing (only with --strict)."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct Review {
    /// What HEAD brings since it left BASE, as `main..HEAD`; in a pipeline, the change it runs for;
    /// otherwise what has changed here
    #[arg(value_name = "BASE..HEAD", conflicts_with_all = ["base", "staged", "commit", "patch"])]
    pub range: Option<String>,
    /// What this branch brings since it left REF; with --patch, what the patch was made from
    #[arg(long, value_name = "REF", conflicts_with_all = ["staged", "commit"])]
    pub base: Option<String>,
    /// What is staged
    #[arg(long, conflicts_with_all = ["commit", "patch"])]
    pub staged: bool,
    /// A commit, against its first parent
    #[arg(long, value_name = "ID", conflicts_with = "patch")]
    pub commit: Option<String>,
    /// A patch, as `git diff` or `git format-patch` write it; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
    /// What its author calls the change; in a pipeline, as the host has it
    #[arg(long, value_name = "TEXT")]
    pub pr_title: Option<String>,
    /// What its author says about it; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub pr_body: Option<PathBuf>,
    /// Write it to a file, too: md, json, sarif, rdjson, gitlab, annotations, comment or html; `-` is
    /// stdout; may be repeated
    #[arg(long, value_name = "KIND=FILE")]
    pub output: Vec<String>,
    /// When to exit with 3: judges disagree, so by itself it never does
    #[arg(long, value_enum, value_name = "WHEN", default_value = "never")]
    pub fail_on: FailOnWord,
    /// Exit with 5 if something is missing: somebody failed, or it was cut short
    #[arg(long)]
    pub strict: bool,
    /// End after so long, with what there is by then: 90s, 15m, 1h
    #[arg(long, value_name = "T", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// How many findings are shown
    #[arg(long, value_name = "N", default_value_t = USUAL)]
    pub max_findings: usize,
    /// What an earlier review of the same change had found: its JSON output; otherwise the last one
    /// in the archive is looked at
    #[arg(long, value_name = "FILE")]
    pub earlier: Option<PathBuf>,
    /// What the reviews of one change have in common; usually its number at the host, or what
    /// was compared with what
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Argue it again, even if the same was argued already
    #[arg(long)]
    pub fresh: bool,
    /// Argue it even if only documents, or only what tools write, have changed
    #[arg(long)]
    pub docs: bool,
    /// How it is argued, and by whom.
    #[command(flatten)]
    pub seating: Seating,
    /// How it is printed.
    #[command(flatten)]
    pub shown: Shown,
}

/// When a review exits with 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOnWord {
    /// The rulings agree that the design is to be changed first, for something that was found
    Block,
    /// Also where the rulings do not agree
    Contested,
    /// Never
    Never,
}

impl From<FailOnWord> for FailOn {
    fn from(word: FailOnWord) -> FailOn {
        match word {
            FailOnWord::Block => FailOn::Block,
            FailOnWord::Contested => FailOn::Contested,
            FailOnWord::Never => FailOn::Never,
        }
    }
}

/// A time as people write it.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return Err("write it as 90s, 15m or 1h".into()),
    };
    let many: u64 = digits.parse().map_err(|_| "write it as 90s, 15m or 1h")?;
    match many.checked_mul(seconds) {
        Some(seconds) if (1..=604_800).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err("it must be between a second and a week".into()),
    }
}
