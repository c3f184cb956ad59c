//! Context of a change under review: its diff, the author's description, related design documents,
//! and the findings of the previous review.
use super::gather::Gathering;
use super::ground::Meant;
use super::pack::Section;
use super::{BriefError, hidden, kind, page};
use crate::repo::DiffRange;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Limits on the title (characters), the description (lines and characters) and commit messages.
const LONGEST_TITLE: usize = 300;
const MOST_LINES: usize = 120;
const LONGEST_BODY: usize = 6_000;
const MOST_MESSAGES: usize = 20;
/// Limits on design documents: found by folder, and named in the description.
const MOST_FOUND: usize = 4;
const MOST_NAMED: usize = 6;
/// Folders that hold decision records.
const DESIGNS: &[&str] =
    &["adr", "adrs", "decisions", "rfc", "rfcs", "design", "designs", "proposals", "architecture"];

/// A change under review and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// The diff.
    pub range: DiffRange,
    /// Folder of the pinned tree that holds the base version of the touched files.
    pub before: String,
    /// Title by the author. May be empty.
    pub title: String,
    /// Description by the author. May be empty.
    pub body: String,
    /// Commit messages, the newest first.
    pub messages: Vec<String>,
    /// Findings of the previous review, one per line.
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

    /// Adds design documents: those the description names, then decision records that share terms
    /// with the change.
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
        // Best match first, then the highest name, because decision records are mostly numbered.
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

/// Whether a path is a decision record or design document.
pub(super) fn decision(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let index = matches!(name, "readme.md" | "index.md" | "template.md");
    let inside = folders.split('/').any(|folder| DESIGNS.contains(&folder)) && !index;
    let alone = !folders.contains('/') && matches!(name, "architecture.md" | "design.md");
    kind::document(path) && (inside || alone)
}

/// Words of a text that may be paths of documents.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let around = |c: char| !(c.is_alphanumeric() || "._-/".contains(c));
    let bare = text.split(around).map(|word| word.trim_matches(['.', '/', '-']));
    bare.filter(|word| kind::document(word))
}

/// Terms of a name, for matching: lowercase, longer than three characters.
fn terms(name: &str) -> impl Iterator<Item = String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| part.len() > 3).map(str::to_lowercase)
}

/// Quotes the title, description and commit messages. Every line has a `>` prefix, so that the text
/// cannot pass for a part of the prompt.
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

/// Section with the findings of the previous review.
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
