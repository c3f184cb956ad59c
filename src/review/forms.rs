//! The kinds of output, and what each makes of a review. Each is a pure function of it, and takes
//! none of its words for markup.
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

/// What a finding is called where each must be an instance of a rule. One name for all: how grave a
/// finding is may be judged anew in a later review, and it must stay the same finding.
const RULE: &str = "design/challenge";

/// How many findings are handed to programs that show each at its place.
const MOST: usize = 5_000;

/// A kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Markdown for people.
    Md,
    /// The review as it is.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Reviewdog's diagnostic format.
    Rdjson,
    /// GitLab's code quality report.
    Gitlab,
    /// Workflow commands of GitHub.
    Annotations,
    /// The body of the one comment on a pull request.
    Comment,
    /// A page that needs nothing else.
    Html,
}

impl Form {
    /// Every one.
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

    /// As it is written.
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

    /// By its word.
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

/// The review in this form; empty where the form says nothing of it.
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

/// The review, and what it is.
#[derive(Serialize, JsonSchema)]
pub struct Kinded<'a> {
    /// The version of this layout.
    v: u8,
    /// `review`.
    kind: &'static str,
    /// What it came to.
    #[serde(flatten)]
    review: &'a Review,
}
