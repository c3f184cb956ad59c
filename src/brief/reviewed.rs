//! A change under review: what has changed, what its author says about it, what documents say about
//! the design it touches, and what the review before this one had found.
use super::gather::Gathering;
use super::ground::Meant;
use super::pack::Section;
use super::{BriefError, hidden, kind, page};
use crate::repo::Range;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Characters of a title, lines and characters of a description, and messages of commits.
const LONGEST_TITLE: usize = 300;
const MOST_LINES: usize = 120;
const LONGEST_BODY: usize = 6_000;
const MOST_MESSAGES: usize = 20;
/// Documents that are found by themselves, and that somebody names.
const MOST_FOUND: usize = 4;
const MOST_NAMED: usize = 6;
/// Folders in which decisions are written down.
const DESIGNS: &[&str] =
    &["adr", "adrs", "decisions", "rfc", "rfcs", "design", "designs", "proposals", "architecture"];

/// What is under review, and what is said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// What has changed.
    pub range: Range,
    /// The folder in which what it touches lies as it was.
    pub before: String,
    /// In the words of whoever wants it merged; empty if there are none.
    pub title: String,
    /// See `title`.
    pub body: String,
    /// What its commits say of themselves, the latest first.
    pub messages: Vec<String>,
    /// What the review before this one had found, one a line.
    pub known: Vec<String>,
}

impl Gathering<'_> {
    pub(super) fn reviewed(&mut self, change: &Reviewed) -> Result<(), BriefError> {
        self.ground.hide(&change.before);
        self.list(&authored(change));
        self.list(&known(&change.known));
        self.diff(&change.range, "the change under review")?;
        self.list(&format!(
            "\nFiles are as the change leaves them. Whoever can read files finds what it touches as it \
             was before below `{}/`. Lines marked `-` may be cited under the file's own name.\n",
            page::plain(&change.before)
        ));
        self.designs(change);
        Ok(())
    }

    /// What was decided about the parts it touches, as far as somebody has written that down.
    fn designs(&mut self, change: &Reviewed) {
        let said = [&change.title, &change.body];
        let said: Vec<&str> =
            said.into_iter().chain(&change.messages).map(String::as_str).collect();
        let mut named: Vec<String> = vec![];
        for word in said.iter().flat_map(|text| words(text)) {
            if let Meant::File(path) = self.ground.guess(word)
                && kind::document(&path)
                && !named.contains(&path)
            {
                named.push(path);
            }
        }
        named.truncate(MOST_NAMED);
        let touched: BTreeSet<String> =
            self.told.changed.iter().flat_map(|file| terms(&file.path)).collect();
        let about: BTreeSet<String> = terms(&change.title).collect();
        let mut found: Vec<(usize, String)> = vec![];
        for path in self.ground.paths() {
            if decision(path) && !named.iter().any(|known| known == path) {
                let fits = |term: &String| touched.contains(term) || about.contains(term);
                let stem = path.rsplit('/').next().unwrap_or(path);
                found.push((terms(stem).filter(fits).count(), path.to_owned()));
            }
        }
        // The best fitting first, and of those the latest: they are mostly numbered.
        found.sort_by(|one, other| other.cmp(one));
        let found =
            found.into_iter().take(MOST_FOUND).map(|(_, path)| (path, "decides on designs"));
        let named = named.into_iter().map(|path| (path, "named in the description"));
        for (path, why) in named.chain(found).collect::<Vec<_>>() {
            if self.file(&path, None, Section::Designs, 40).unwrap_or(false) {
                self.pick(&format!("{path}: {why}"));
            }
        }
    }
}

/// Whether a document is one in which decisions are written down.
pub(super) fn decision(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let index = matches!(name, "readme.md" | "index.md" | "template.md");
    let inside = folders.split('/').any(|folder| DESIGNS.contains(&folder)) && !index;
    let alone = !folders.contains('/') && matches!(name, "architecture.md" | "design.md");
    kind::document(path) && (inside || alone)
}

/// What could be paths in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let around = |c: char| !(c.is_alphanumeric() || "._-/".contains(c));
    let bare = text.split(around).map(|word| word.trim_matches(['.', '/', '-']));
    bare.filter(|word| kind::document(word))
}

/// The words of a name that say something.
fn terms(name: &str) -> impl Iterator<Item = String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| part.len() > 3).map(str::to_lowercase)
}

/// What whoever wants it merged says. It is quoted line by line, so that it cannot pass for
/// anything else.
fn authored(change: &Reviewed) -> String {
    let mut text = String::new();
    let mut gone = false;
    let mut quote = |title: &str, said: &str, lines: usize, most: usize| {
        let (said, hidden) = hidden::taken_out(said);
        gone |= hidden;
        let cut: String = said.trim().chars().take(most).collect();
        if cut.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n{title}");
        for line in cut.lines().take(lines) {
            let _ = writeln!(text, "> {}", page::cut(line));
        }
        if cut.len() < said.trim().len() || cut.lines().count() > lines {
            text.push_str("(cut)\n");
        }
    };
    quote("Title:", &change.title, 1, LONGEST_TITLE);
    quote("Description:", &change.body, MOST_LINES, LONGEST_BODY);
    for message in change.messages.iter().take(MOST_MESSAGES) {
        quote("Commit:", message, 8, 600);
    }
    if text.is_empty() {
        return text;
    }
    if change.messages.len() > MOST_MESSAGES {
        let more = page::many(change.messages.len() - MOST_MESSAGES, "commit", "commits");
        let _ = writeln!(text, "(and {more} more)");
    }
    if gone {
        text.push_str("(text that cannot be seen was taken out of this)\n");
    }
    format!("\n## What its author says about it, which is a claim and no evidence{text}")
}

/// What the review before this one had found.
fn known(known: &[String]) -> String {
    if known.is_empty() {
        return String::new();
    }
    let lines: Vec<String> =
        known.iter().map(|line| format!("> {}", page::cut(&page::plain(line)))).collect();
    format!(
        "\n## What an earlier review of this change had found\nRaise it again only if it is still \
         so, with evidence from the files as they are now.\n{}\n",
        lines.join("\n")
    )
}
