//! Output formats of a review. Each is a pure function that escapes all text of the review, because
//! it is untrusted. Entry points: `ReviewFormat` and `render_review`.
mod escape_markdown;
mod github_annotations;
mod gitlab;
mod html;
mod limits;
mod location;
mod markdown;
mod markdown_summary;
mod phrases;
mod pr_comment;
mod rdjson;
mod sanitize;
mod sarif;
mod truncate;

pub(crate) use markdown_summary::{MAX_STEP_SUMMARY_BYTES, render_summary};

use super::Review;
use schemars::JsonSchema;
use serde::Serialize;

/// Output format of a review (`--output`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewFormat {
    /// Markdown summary.
    Md,
    /// The review as JSON.
    Json,
    /// SARIF 2.1.0 for code scanning.
    Sarif,
    /// Reviewdog Diagnostic Format.
    Rdjson,
    /// GitLab Code Quality report.
    Gitlab,
    /// GitHub workflow commands.
    Annotations,
    /// Body of the comment on a pull request.
    Comment,
    /// Self-contained HTML page.
    Html,
}

impl ReviewFormat {
    /// All formats.
    pub(crate) const ALL: [ReviewFormat; 8] = [
        ReviewFormat::Md,
        ReviewFormat::Json,
        ReviewFormat::Sarif,
        ReviewFormat::Rdjson,
        ReviewFormat::Gitlab,
        ReviewFormat::Annotations,
        ReviewFormat::Comment,
        ReviewFormat::Html,
    ];

    /// The name, as in `--output`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ReviewFormat::Md => "md",
            ReviewFormat::Json => "json",
            ReviewFormat::Sarif => "sarif",
            ReviewFormat::Rdjson => "rdjson",
            ReviewFormat::Gitlab => "gitlab",
            ReviewFormat::Annotations => "annotations",
            ReviewFormat::Comment => "comment",
            ReviewFormat::Html => "html",
        }
    }

    /// Parses the name.
    pub(crate) fn parse(name: &str) -> Option<ReviewFormat> {
        ReviewFormat::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

impl std::str::FromStr for ReviewFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<ReviewFormat, String> {
        let names = ReviewFormat::ALL.map(ReviewFormat::as_str).join(", ");
        ReviewFormat::parse(name)
            .ok_or_else(|| format!("unknown output format `{name}`; known: {names}"))
    }
}

/// Renders the review. Empty if the format has nothing to show for it.
pub(crate) fn render_review(review: &Review, format: ReviewFormat) -> String {
    match format {
        ReviewFormat::Md => render_summary(review, MAX_STEP_SUMMARY_BYTES),
        ReviewFormat::Json => {
            sanitize::to_safe_json(&ReviewDocument { v: 1, kind: "review", review })
        }
        ReviewFormat::Sarif => sarif::render_sarif(review),
        ReviewFormat::Rdjson => rdjson::render_rdjson(review),
        ReviewFormat::Gitlab => gitlab::render_gitlab(review),
        ReviewFormat::Annotations => github_annotations::render_annotations(review),
        ReviewFormat::Comment => pr_comment::render_comment(review),
        ReviewFormat::Html => html::render_html(review),
    }
}

/// JSON document of a review.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Kinded")]
pub(crate) struct ReviewDocument<'a> {
    /// Version of the schema.
    v: u8,
    /// `review`.
    kind: &'static str,
    /// The review.
    #[serde(flatten)]
    review: &'a Review,
}

#[cfg(test)]
mod tests;
