//! Arguments of `debate review`. The main type is [`ReviewArgs`], parsed by clap and passed to the
//! handler in `cli::review`. `args::join` shares `parse_duration`.
use super::{DisplayArgs, SeatingArgs};
use crate::review::DEFAULT_MAX_FINDINGS;
use crate::review::merge_gate::FailOn;
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;

/// Longest duration of a time option in seconds (one week).
const MAX_DURATION_SECONDS: u64 = 7 * 24 * 60 * 60;

/// Arguments of `debate review`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 done, whatever was ruled, or nothing to argue about; 1 failed; \
                        2 wrong usage, or stopped; 3 the review blocks (only with --fail-on); \
                        4 no model, or not logged in; 5 something is missing (only with --strict)."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub struct ReviewArgs {
    /// Changes on HEAD since it branched off BASE, as in `main..HEAD` [default: in CI, the pull
    /// request; otherwise, the working tree]
    #[arg(value_name = "BASE..HEAD", conflicts_with_all = ["base", "staged", "commit", "patch"])]
    pub range: Option<String>,
    /// Changes on this branch since it left REF; with --patch, the base of the patch
    #[arg(long, value_name = "REF", conflicts_with_all = ["staged", "commit"])]
    pub base: Option<String>,
    /// Review the staged changes
    #[arg(long, conflicts_with_all = ["commit", "patch"])]
    pub staged: bool,
    /// Review one commit, against its first parent
    #[arg(long, value_name = "ID", conflicts_with = "patch")]
    pub commit: Option<String>,
    /// Review a patch written by `git diff` or `git format-patch`; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub patch: Option<PathBuf>,
    /// Title of the change [default: in CI, the pull request's]
    #[arg(long, value_name = "TEXT")]
    pub pr_title: Option<String>,
    /// File with the description of the change; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub pr_body: Option<PathBuf>,
    /// Also write to a file: md, json, sarif, rdjson, gitlab, annotations, comment or html; `-` is
    /// stdout; may be repeated
    #[arg(long, value_name = "KIND=FILE")]
    pub output: Vec<String>,
    /// When to exit with code 3
    #[arg(long, value_enum, value_name = "WHEN", default_value = "never")]
    pub fail_on: FailOnArg,
    /// Exit with code 5 if the review is incomplete: a turn failed, or it was cut short
    #[arg(long)]
    pub strict: bool,
    /// Stop after this time and report what there is: 90s, 15m, 1h
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub time_limit: Option<Duration>,
    /// Maximum number of findings to show
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_FINDINGS)]
    pub max_findings: usize,
    /// JSON output of an earlier review of the same change [default: the last one in the archive]
    #[arg(long, value_name = "FILE")]
    pub earlier: Option<PathBuf>,
    /// Key that the reviews of one change share [default: the pull request number, or the compared
    /// range]
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// Debate again, even if the same change was already reviewed
    #[arg(long)]
    pub fresh: bool,
    /// Review even if only documentation or generated files changed
    #[arg(long)]
    pub docs: bool,
    /// Format, participants and limits.
    #[command(flatten)]
    pub seating: SeatingArgs,
    /// Output options.
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// Values of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOnArg {
    /// The judges agree that changes are needed, and a serious finding has verified evidence
    Block,
    /// Also if the judges disagree
    Contested,
    /// Never
    Never,
}

impl From<FailOnArg> for FailOn {
    fn from(arg: FailOnArg) -> FailOn {
        match arg {
            FailOnArg::Block => FailOn::Block,
            FailOnArg::Contested => FailOn::Contested,
            FailOnArg::Never => FailOn::Never,
        }
    }
}

/// Parses a duration such as `90s`, `15m` or `1h`, from one second to one week.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return Err("write it as 90s, 15m or 1h".into()),
    };
    let count: u64 = digits.parse().map_err(|_| "write it as 90s, 15m or 1h")?;
    match count.checked_mul(seconds) {
        Some(seconds) if (1..=MAX_DURATION_SECONDS).contains(&seconds) => {
            Ok(Duration::from_secs(seconds))
        }
        _ => Err("it must be between a second and a week".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_limited_to_a_week() {
        assert_eq!(MAX_DURATION_SECONDS, 604_800);
        let longest = Duration::from_secs(MAX_DURATION_SECONDS);
        assert_eq!(parse_duration(&format!("{MAX_DURATION_SECONDS}s")), Ok(longest));
        assert_eq!(parse_duration("168h"), Ok(longest));
        assert_eq!(parse_duration("1s"), Ok(Duration::from_secs(1)));
        let too_long = format!("{}s", MAX_DURATION_SECONDS + 1);
        for text in [too_long.as_str(), "169h", "0s"] {
            let error = parse_duration(text).unwrap_err();
            assert_eq!(error, "it must be between a second and a week", "{text}");
        }
    }
}
