//! What was cited, and what looking it up found. Existence is recorded, never "supports the claim".
use super::proposed::Place;
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
    /// If the words stand in the file only as it was before a change: the line at which they would
    /// stand now, and 0 if the file is not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
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

/// Whether what was found when it was cited is found again.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Stands {
    /// As it was.
    Holds,
    /// The words are there, but elsewhere.
    Moved,
    /// It would not be found today, or would prove nothing.
    Gone,
    /// Nobody can tell.
    Unknown,
}

impl Stands {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Stands::Holds => "holds",
            Stands::Moved => "moved",
            Stands::Gone => "gone",
            Stands::Unknown => "unknown",
        }
    }
}

/// How a secret that was taken out begins, whatever it was.
const HIDDEN: &str = "[REDACTED:";

impl Citation {
    /// What became of a citation that was found, by what looking it up once more comes to, and what
    /// that alone does not say. `changed` are the files that are not what they were.
    pub fn compared(&self, now: Option<&Citation>, changed: &[String]) -> (Stands, Option<String>) {
        let Some(now) = now else {
            return (Stands::Unknown, Some("it is read otherwise by this version".into()));
        };
        let rank = |found: Found| match found {
            Found::Exact => 0,
            Found::Near => 1,
            _ => 2,
        };
        let there = (&self.path, &self.found_at) == (&now.path, &now.found_at);
        match now.found {
            found if self.removed.is_some() && now.removed.is_none() => {
                let back =
                    found.verified().then(|| "what the change took away is there again".into());
                (if back.is_some() { Stands::Moved } else { Stands::Holds }, back)
            }
            Found::Located if self.path == now.path => {
                let otherwise = self.path.as_ref().is_some_and(|path| changed.contains(path));
                let note = "the file has changed since, and nothing of it was quoted";
                (Stands::Holds, otherwise.then(|| note.into()))
            }
            found if found.verified() && self.found == Found::Located => (Stands::Holds, None),
            found if found.verified() && self.path == now.path => {
                let nearer = rank(found) < rank(self.found);
                let same = nearer || (found == self.found && there);
                (if same { Stands::Holds } else { Stands::Moved }, None)
            }
            found if found.verified() => (Stands::Moved, None),
            Found::Located | Found::ElsewhereInRepo => (Stands::Moved, None),
            Found::Unchecked | Found::NotSearched => (Stands::Unknown, None),
            // A secret has another name in another tree.
            _ if self.raw.contains(HIDDEN) || self.quoted().contains(HIDDEN) => {
                (Stands::Unknown, Some("it quotes a secret, which cannot be compared".into()))
            }
            _ => (Stands::Gone, None),
        }
    }

    /// Where it is, in the files as a change leaves them.
    pub fn place(&self) -> Option<Place> {
        let file = self.path.clone()?;
        if let Some(line) = self.removed {
            let line = Some(line).filter(|line| *line > 0);
            return Some(Place { file, line, end_line: None, removed: true });
        }
        let told = self.found_at.as_deref().and_then(|at| at.rsplit_once(':'));
        let told = told.and_then(|(_, line)| line.parse().ok());
        let cited = self.line.filter(|_| matches!(self.found, Found::Exact | Found::Located));
        let end_line = self.end_line.filter(|_| told.is_none());
        Some(Place { file, line: told.or(cited), end_line, removed: false })
    }

    fn quoted(&self) -> &str {
        self.quote.as_deref().unwrap_or_default()
    }

    /// What looking it up came to, in words: what a reader is told beside it.
    pub fn says(&self) -> String {
        let mut says = self.found.word().replace('_', " ");
        if self.removed.is_some() {
            says += ", in what the change takes away";
        }
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
