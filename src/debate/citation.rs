//! What was cited, and what looking it up found. Existence is recorded, never "supports the claim".
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One citation of a turn, as it was checked when the turn was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// As it was written.
    pub raw: String,
    /// The claim it was offered for, if it stood in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// Relative to the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The first line cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The last line cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The words it says are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// What looking it up came to.
    pub found: Found,
    /// Where it was found instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_at: Option<String>,
    /// What the finding alone does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A closed set: a citation comes to exactly one of these.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// The quote stands at the lines cited.
    Exact,
    /// It stands within a few lines of them.
    Near,
    /// It stands elsewhere in the file.
    ElsewhereInFile,
    /// It stands in another file.
    ElsewhereInRepo,
    /// The line exists and nothing was quoted: no evidence by itself.
    Located,
    /// There is no such file.
    NoSuchPath,
    /// The file is shorter than that.
    LineOutOfRange,
    /// The quote stands nowhere.
    NotFound,
    /// Several files could be meant.
    Ambiguous,
    /// The quote stands in so many files that it proves nothing.
    NonDistinctive,
    /// The quote is too short to prove anything.
    TooShort,
    /// There is no such commit.
    CommitUnknown,
    /// The place cited was wrong and the rest was not searched.
    NotSearched,
    /// It cannot be checked here: a URL, a benchmark.
    Unchecked,
}

impl Found {
    /// The words cited were seen where they were said to be, or near enough.
    pub fn verified(self) -> bool {
        matches!(self, Found::Exact | Found::Near | Found::ElsewhereInFile)
    }

    /// What was cited is not there.
    pub fn wrong(self) -> bool {
        matches!(
            self,
            Found::NoSuchPath | Found::LineOutOfRange | Found::NotFound | Found::CommitUnknown
        )
    }
}
