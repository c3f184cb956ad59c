//! Query parameters of the archive page.
use crate::debate::Status;
use crate::engine::{DebateCard, DebateQuery};
use serde::Deserialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Number of debates on one page.
pub const PAGE_SIZE: usize = 25;
/// Largest page number that can be requested.
const MAX_PAGE: usize = 10_000;

/// Parsed query string. An empty field does not filter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ArchivePageQuery {
    /// Full-text search in questions and speeches.
    pub q: String,
    /// Status filter, such as `in-progress`.
    pub status: String,
    /// Filter by format name.
    pub format: String,
    /// Filter by winner.
    pub winner: String,
    /// Verdict filter: `yes`, `no` or `contested`.
    pub verdict: String,
    /// Filter by repository path.
    pub root: String,
    /// Page number, counted from 1.
    pub page: String,
}

impl ArchivePageQuery {
    /// Converts the filters into an archive query.
    pub fn to_archive_query(&self) -> DebateQuery {
        let root = Some(self.root.trim()).filter(|root| !root.is_empty()).map(PathBuf::from);
        let format = Some(self.format.trim().to_owned()).filter(|format| !format.is_empty());
        DebateQuery { root, format, status: self.parse_status(), ..DebateQuery::default() }
    }

    fn parse_status(&self) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.as_str() == self.status)
    }

    /// Whether a debate matches the filters that its card can answer.
    pub fn matches(&self, card: &DebateCard) -> bool {
        let is_match =
            |filter: &str, value: &str| filter.trim().is_empty() || filter.trim() == value;
        // Until the debate is over, the verdict may still be sealed.
        let winner = card.winner.as_deref().filter(|_| card.status.is_over());
        let verdict_matches = match self.verdict.as_str() {
            "yes" | "contested" => winner.is_some(),
            "no" => winner.is_none(),
            _ => true,
        };
        is_match(&self.format, &card.format)
            && is_match(&self.winner, winner.unwrap_or_default())
            && verdict_matches
    }

    /// Whether to keep only contested verdicts. The caller checks this, since a card does not tell.
    pub fn contested_only(&self) -> bool {
        self.verdict == "contested"
    }

    /// Page index, counted from 0.
    pub fn page_index(&self) -> usize {
        self.page.parse::<usize>().unwrap_or(1).clamp(1, MAX_PAGE) - 1
    }

    /// Whether there is a search query.
    pub fn has_search(&self) -> bool {
        !self.q.trim().is_empty()
    }

    /// URL of another page of the same query.
    pub(super) fn page_url(&self, index: usize) -> String {
        let fields = [
            ("q", &self.q),
            ("status", &self.status),
            ("format", &self.format),
            ("winner", &self.winner),
            ("verdict", &self.verdict),
            ("root", &self.root),
        ];
        let mut url = format!("/?page={}", index + 1);
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(url, "&{name}={}", super::html::percent_encode(value));
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_page_number_is_10_000() {
        assert_eq!(MAX_PAGE, 10_000);
        for (page, index) in [("1", 0), ("10000", 9_999), ("10001", 9_999), ("0", 0)] {
            let query = ArchivePageQuery { page: page.into(), ..ArchivePageQuery::default() };
            assert_eq!(query.page_index(), index, "page {page}");
        }
    }
}
