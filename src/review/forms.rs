//! Output formats of a review. Each is a pure function that escapes all text of the review, because
//! it is untrusted. Entry points: `ReviewFormat` and `render_review`.
mod annotations;
mod comment;
mod fit;
mod gitlab;
mod html;
pub mod inline;
mod markdown;
mod md;
pub mod place;
mod rdjson;
mod sarif;
pub mod tame;
mod words;

pub use comment::MARKER;
pub use md::{STEP_SUMMARY, summary};

use super::Review;
use schemars::JsonSchema;
use serde::Serialize;

/// Rule id of all findings in formats that require one. Severity is not part of it, because a later
/// review may change the severity of the same finding.
const RULE: &str = "design/challenge";

/// Limit of findings in the formats that other programs parse.
const MOST: usize = 5_000;

/// Output format of a review (`--output`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
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

impl Form {
    /// All formats.
    pub const ALL: [Form; 8] = [
        Form::Md,
        Form::Json,
        Form::Sarif,
        Form::Rdjson,
        Form::Gitlab,
        Form::Annotations,
        Form::Comment,
        Form::Html,
    ];

    /// The name, as in `--output`.
    pub fn word(self) -> &'static str {
        match self {
            Form::Md => "md",
            Form::Json => "json",
            Form::Sarif => "sarif",
            Form::Rdjson => "rdjson",
            Form::Gitlab => "gitlab",
            Form::Annotations => "annotations",
            Form::Comment => "comment",
            Form::Html => "html",
        }
    }

    /// Parses the name.
    pub fn parse(word: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.word() == word)
    }
}

impl std::str::FromStr for Form {
    type Err = String;

    fn from_str(word: &str) -> Result<Form, String> {
        let all = Form::ALL.map(Form::word).join(", ");
        Form::parse(word).ok_or_else(|| format!("no such form `{word}`; there are: {all}"))
    }
}

/// Renders the review. Empty if the format has nothing to show for it.
pub fn write(review: &Review, form: Form) -> String {
    match form {
        Form::Md => summary(review, STEP_SUMMARY),
        Form::Json => tame::json(&Kinded { v: 1, kind: "review", review }),
        Form::Sarif => sarif::sarif(review),
        Form::Rdjson => rdjson::rdjson(review),
        Form::Gitlab => gitlab::gitlab(review),
        Form::Annotations => annotations::annotations(review),
        Form::Comment => comment::comment(review),
        Form::Html => html::html(review),
    }
}

/// JSON document of a review.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Kinded")]
pub struct Kinded<'a> {
    /// Version of the schema.
    v: u8,
    /// `review`.
    kind: &'static str,
    /// The review.
    #[serde(flatten)]
    review: &'a Review,
}
