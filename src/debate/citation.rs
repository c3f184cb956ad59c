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
    /// As it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Found::Exact => "exact",
            Found::Near => "near",
            Found::ElsewhereInFile => "elsewhere_in_file",
            Found::ElsewhereInRepo => "elsewhere_in_repo",
            Found::Located => "located",
            Found::NoSuchPath => "no_such_path",
            Found::LineOutOfRange => "line_out_of_range",
            Found::NotFound => "not_found",
            Found::Ambiguous => "ambiguous",
            Found::NonDistinctive => "non_distinctive",
            Found::TooShort => "too_short",
            Found::CommitUnknown => "commit_unknown",
            Found::NotSearched => "not_searched",
            Found::Unchecked => "unchecked",
        }
    }

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

impl Citation {
    /// What looking it up came to, in words: what a reader is told beside it.
    pub fn says(&self) -> String {
        let mut says = self.found.word().replace('_', " ");
        if let Some(place) = &self.found_at {
            let verb = if self.found == Found::Ambiguous { "could be" } else { "stands at" };
            says = format!("{says}, {verb} {place}");
        }
        match &self.note {
            Some(note) => format!("{says}: {note}"),
            None => says,
        }
    }
}
