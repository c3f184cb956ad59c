//! Which debates somebody asks for, as the archive's page is asked.
use crate::debate::Status;
use crate::engine::{Card, Query};
use serde::Deserialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Debates on one page.
pub const PAGE: usize = 25;

/// What was asked for. Whatever is empty is not asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    /// Words to be found in questions and speeches.
    pub q: String,
    /// How it stands, as it is written.
    pub status: String,
    /// The table it is played by.
    pub format: String,
    /// Who has won.
    pub winner: String,
    /// `yes`, `no` or `contested`.
    pub verdict: String,
    /// The repository.
    pub root: String,
    /// Counted from 1.
    pub page: String,
}

impl Wanted {
    /// What the archive is asked.
    pub fn query(&self) -> Query {
        let root = Some(self.root.trim()).filter(|root| !root.is_empty()).map(PathBuf::from);
        let format = Some(self.format.trim().to_owned()).filter(|format| !format.is_empty());
        Query { root, format, status: self.status(), ..Query::default() }
    }

    fn status(&self) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.word() == self.status)
    }

    /// Whether a debate is among those asked for, as far as its card tells.
    pub fn fits(&self, card: &Card) -> bool {
        let same = |wanted: &str, is: &str| wanted.trim().is_empty() || wanted.trim() == is;
        // Before it is over, what was ruled may still be sealed.
        let winner = card.winner.as_deref().filter(|_| card.status.over());
        let ruled = match self.verdict.as_str() {
            "yes" | "contested" => winner.is_some(),
            "no" => winner.is_none(),
            _ => true,
        };
        same(&self.format, &card.format) && same(&self.winner, winner.unwrap_or_default()) && ruled
    }

    /// Whether only those with a verdict to be doubted are asked for, which a card does not tell.
    pub fn contested(&self) -> bool {
        self.verdict == "contested"
    }

    /// The page asked for, counted from 0.
    pub fn nth(&self) -> usize {
        self.page.parse::<usize>().unwrap_or(1).clamp(1, 10_000) - 1
    }

    /// Whether words are looked for.
    pub fn searches(&self) -> bool {
        !self.q.trim().is_empty()
    }

    /// The address of the same wish on another page.
    pub fn address(&self, nth: usize) -> String {
        let fields = [
            ("q", &self.q),
            ("status", &self.status),
            ("format", &self.format),
            ("winner", &self.winner),
            ("verdict", &self.verdict),
            ("root", &self.root),
        ];
        let mut address = format!("/?page={}", nth + 1);
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(address, "&{name}={}", super::html::query(value));
        }
        address
    }
}
