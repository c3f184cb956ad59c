//! Context of a change under review: its diff, the author's description, related design documents,
//! and the findings of the previous review.
use super::builder::BriefBuilder;
use super::pack::BriefSection;
use super::source_tree::PathMatch;
use super::{BriefError, ChangeContext, file_kind, hidden_text, text_format};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Limit of the title, in characters.
const MAX_TITLE_CHARS: usize = 300;
/// Limit of the description, in lines.
const MAX_BODY_LINES: usize = 120;
/// Limit of the description, in characters.
const MAX_BODY_CHARS: usize = 6_000;
/// Commit messages that are quoted.
const MAX_MESSAGES: usize = 20;
/// Limit of a commit message, in lines.
const MAX_MESSAGE_LINES: usize = 8;
/// Limit of a commit message, in characters.
const MAX_MESSAGE_CHARS: usize = 600;
/// Decision records that are added because they share terms with the change.
const MAX_FOUND_DOCS: usize = 4;
/// Documents that are added because the description names them.
const MAX_NAMED_DOCS: usize = 6;
impl BriefBuilder<'_> {
    pub(super) fn add_change(&mut self, change: &ChangeContext) -> Result<(), BriefError> {
        self.source_tree.hide_folder(&change.base_folder);
        self.add_fixed_text(&render_author_text(change));
        self.add_fixed_text(&render_earlier_findings(&change.earlier_findings));
        self.add_diff(&change.range, "the change under review")?;
        self.add_fixed_text(&format!(
            "\nFiles are as the change leaves them. Whoever can read files finds what it touches \
             as it was before below `{}/`. Lines marked `-` may be cited under the file's own \
             name.\n",
            text_format::sanitize_line(&change.base_folder)
        ));
        self.add_design_docs(change);
        Ok(())
    }

    /// Adds design documents: those the description names, then decision records that share terms
    /// with the change.
    fn add_design_docs(&mut self, change: &ChangeContext) {
        let texts = [&change.title, &change.body];
        let texts: Vec<&str> =
            texts.into_iter().chain(&change.messages).map(String::as_str).collect();
        let mut named: Vec<String> = vec![];
        for word in texts.iter().flat_map(|text| document_names(text)) {
            if let PathMatch::File(path) = self.source_tree.resolve_name(word)
                && file_kind::is_document(&path)
                && !named.contains(&path)
            {
                named.push(path);
            }
        }
        named.truncate(MAX_NAMED_DOCS);
        let touched_terms: BTreeSet<String> =
            self.brief.changed_files.iter().flat_map(|file| name_terms(&file.path)).collect();
        let title_terms: BTreeSet<String> = name_terms(&change.title).collect();
        let mut found: Vec<(usize, String)> = vec![];
        for path in self.source_tree.paths() {
            if file_kind::is_decision_record(path) && !named.iter().any(|known| known == path) {
                let is_shared =
                    |term: &String| touched_terms.contains(term) || title_terms.contains(term);
                let stem = path.rsplit('/').next().unwrap_or(path);
                found.push((name_terms(stem).filter(is_shared).count(), path.to_owned()));
            }
        }
        // Best match first, then the highest name, because decision records are mostly numbered.
        found.sort_by(|one, other| other.cmp(one));
        let found =
            found.into_iter().take(MAX_FOUND_DOCS).map(|(_, path)| (path, "decides on designs"));
        let named = named.into_iter().map(|path| (path, "named in the description"));
        for (path, reason) in named.chain(found).collect::<Vec<_>>() {
            if self.add_file(&path, None, BriefSection::Designs, 40).unwrap_or(false) {
                self.record_pick(&format!("{path}: {reason}"));
            }
        }
    }
}

/// Words of a text that may be paths of documents.
fn document_names(text: &str) -> impl Iterator<Item = &str> {
    let is_separator = |c: char| !(c.is_alphanumeric() || "._-/".contains(c));
    let words = text.split(is_separator).map(|word| word.trim_matches(['.', '/', '-']));
    words.filter(|word| file_kind::is_document(word))
}

/// Terms of a name, for matching: lowercase, longer than three characters.
fn name_terms(name: &str) -> impl Iterator<Item = String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| part.len() > 3).map(str::to_lowercase)
}

/// Quotes the title, description and commit messages. Every line has a `>` prefix, so that the text
/// cannot pass for a part of the prompt.
fn render_author_text(change: &ChangeContext) -> String {
    let mut text = String::new();
    let mut has_hidden = false;
    let mut quote = |title: &str, content: &str, max_lines: usize, max_chars: usize| {
        let (content, hidden) = hidden_text::strip_hidden_text(content);
        has_hidden |= hidden;
        let truncated: String = content.trim().chars().take(max_chars).collect();
        if truncated.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n{title}");
        for line in truncated.lines().take(max_lines) {
            let _ = writeln!(text, "> {}", text_format::truncate_line(line));
        }
        if truncated.len() < content.trim().len() || truncated.lines().count() > max_lines {
            text.push_str("(cut)\n");
        }
    };
    quote("Title:", &change.title, 1, MAX_TITLE_CHARS);
    quote("Description:", &change.body, MAX_BODY_LINES, MAX_BODY_CHARS);
    for message in change.messages.iter().take(MAX_MESSAGES) {
        quote("Commit:", message, MAX_MESSAGE_LINES, MAX_MESSAGE_CHARS);
    }
    if text.is_empty() {
        return text;
    }
    if change.messages.len() > MAX_MESSAGES {
        let more =
            text_format::pluralize(change.messages.len() - MAX_MESSAGES, "commit", "commits");
        let _ = writeln!(text, "(and {more} more)");
    }
    if has_hidden {
        text.push_str("(text that cannot be seen was taken out of this)\n");
    }
    format!("\n## What its author says about it, which is a claim and no evidence{text}")
}

/// Section with the findings of the previous review.
fn render_earlier_findings(findings: &[String]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = findings
        .iter()
        .map(|line| format!("> {}", text_format::truncate_line(&text_format::sanitize_line(line))))
        .collect();
    format!(
        "\n## What an earlier review of this change had found\nRaise it again only if it is still \
         so, with evidence from the files as they are now.\n{}\n",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::DiffRange;

    fn empty_change() -> ChangeContext {
        ChangeContext {
            range: DiffRange::Auto,
            base_folder: String::new(),
            title: String::new(),
            body: String::new(),
            messages: vec![],
            earlier_findings: vec![],
        }
    }

    fn with_title(title: String) -> ChangeContext {
        ChangeContext { title, ..empty_change() }
    }

    fn with_body(body: String) -> ChangeContext {
        ChangeContext { body, ..empty_change() }
    }

    fn with_message(message: String) -> ChangeContext {
        ChangeContext { messages: vec![message], ..empty_change() }
    }

    /// Makes a change with a text of this many lines or characters.
    type MakeChange = fn(usize) -> ChangeContext;

    /// A text of this many characters, with line breaks.
    fn wrapped_text(chars: usize) -> String {
        (1..=chars).map(|number| if number % 101 == 0 { '\n' } else { 'x' }).collect()
    }

    #[test]
    fn text_of_the_author_is_cut() {
        assert_eq!((MAX_TITLE_CHARS, MAX_BODY_LINES, MAX_BODY_CHARS), (300, 120, 6_000));
        assert_eq!((MAX_MESSAGE_LINES, MAX_MESSAGE_CHARS), (8, 600));
        let cases: [(usize, MakeChange); 5] = [
            (MAX_TITLE_CHARS, |chars| with_title("x".repeat(chars))),
            (MAX_BODY_LINES, |lines| with_body("x\n".repeat(lines))),
            (MAX_BODY_CHARS, |chars| with_body(wrapped_text(chars))),
            (MAX_MESSAGE_LINES, |lines| with_message("x\n".repeat(lines))),
            (MAX_MESSAGE_CHARS, |chars| with_message(wrapped_text(chars))),
        ];
        for (max, change) in cases {
            let at_limit = render_author_text(&change(max));
            assert!(!at_limit.is_empty() && !at_limit.contains("(cut)"), "{max}: {at_limit}");
            assert_eq!(render_author_text(&change(max + 1)), format!("{at_limit}(cut)\n"));
        }
    }

    #[test]
    fn commit_messages_are_limited() {
        assert_eq!(MAX_MESSAGES, 20);
        let render = |count: usize| {
            let messages = vec!["Keep rows".to_owned(); count];
            render_author_text(&ChangeContext { messages, ..empty_change() })
        };
        let at_limit = render(MAX_MESSAGES);
        assert_eq!(at_limit.matches("> Keep rows\n").count(), MAX_MESSAGES);
        assert_eq!(render(MAX_MESSAGES + 1), format!("{at_limit}(and 1 commit more)\n"));
    }
}
