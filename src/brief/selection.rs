//! Parser of the `--context` syntax: items separated by `;` or newlines. They select what goes into
//! the brief, the repository context in the prompts. The entry point is [`BriefSelection::parse`],
//! called by `port`. `build_brief` then adds each item.
use crate::repo::DiffRange;

/// Syntax summary for error messages.
const SYNTAX_HELP: &str = "`none`, `auto`, `tree`, `diff`, `diff=staged`, `diff=worktree`, \
    `diff=branch`, `diff=COMMIT`, `diff=BASE..HEAD`, `diff=BASE...HEAD`, `history`, `PATH`, \
    `PATH:10-40`, `PATH#L10-L40`, `FOLDER/`, a pattern such as `src/**/*.rs`, `paths=A,B`, \
    `file=PATH`, `doc=PATH`, `note=TEXT`, `budget=TOKENS`";

/// Default token budget of `auto`.
const DEFAULT_AUTO_TOKENS: usize = 8_000;
/// Default token budget of explicit items.
const DEFAULT_TOKENS: usize = 24_000;
/// Largest token budget.
const MAX_TOKENS: usize = 400_000;
/// Smallest token budget.
const MIN_TOKENS: usize = 200;

/// Parsed `--context`: items and token budget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BriefSelection {
    pub(super) items: Vec<SelectionItem>,
    token_budget: Option<usize>,
    /// The change under review, which comes first in the brief. `None` outside of reviews.
    pub(super) change: Option<ChangeContext>,
}

/// A change under review and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeContext {
    /// The diff.
    pub range: DiffRange,
    /// Folder of the pinned tree that holds the base version of the touched files.
    pub base_folder: String,
    /// Title by the author. May be empty.
    pub title: String,
    /// Description by the author. May be empty.
    pub body: String,
    /// Commit messages, the newest first.
    pub messages: Vec<String>,
    /// Findings of the previous review, one per line.
    pub earlier_findings: Vec<String>,
}

/// First and last line, counted from 1.
pub(super) type LineRange = (usize, usize);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SelectionItem {
    /// What the topic names (see `auto`).
    Auto,
    /// The file tree and the manifests.
    Tree,
    Diff(DiffRange),
    /// Last commits of the paths that the other items touch.
    History,
    /// A file, optionally with a line range, or a folder written without a final `/`.
    Path {
        path: String,
        lines: Option<LineRange>,
    },
    /// All files in a folder, written with a final `/`.
    Folder(String),
    /// All files that match a glob pattern.
    Glob(String),
    Doc(String),
    /// Free text by the user.
    Note(String),
}

/// An item that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("context `{item}`: {why}; write {SYNTAX_HELP}, with `;` between them")]
pub struct SelectionError {
    /// The item as written.
    pub item: String,
    /// Error message.
    pub why: String,
}

impl BriefSelection {
    /// Parses the items. Empty text means `none`. A note extends to the end of the text.
    pub fn parse(text: &str) -> Result<BriefSelection, SelectionError> {
        let mut selection = BriefSelection::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = if rest.starts_with("note=") { None } else { rest.find([';', '\n']) };
            let (item, after) =
                end.map_or((rest, ""), |index| (&rest[..index], &rest[index + 1..]));
            rest = after.trim_start();
            let item = item.trim();
            if !item.is_empty() {
                selection
                    .parse_item(item)
                    .map_err(|why| SelectionError { item: item.to_owned(), why })?;
            }
        }
        Ok(selection)
    }

    /// Adds the change under review.
    #[must_use]
    pub fn with_change(self, change: ChangeContext) -> BriefSelection {
        BriefSelection { change: Some(change), ..self }
    }

    /// Token budget of the brief.
    pub(super) fn token_budget(&self) -> usize {
        let only_auto = self.change.is_none()
            && self
                .items
                .iter()
                .all(|item| matches!(item, SelectionItem::Auto | SelectionItem::Note(_)));
        self.token_budget.unwrap_or(if only_auto { DEFAULT_AUTO_TOKENS } else { DEFAULT_TOKENS })
    }

    fn parse_item(&mut self, item: &str) -> Result<(), String> {
        let parsed = match item.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some((_, "")) => return Err("there is no value after `=`".into()),
            Some(("diff", value)) => SelectionItem::Diff(parse_diff_range(value)?),
            Some(("file", value)) => SelectionItem::Path { path: parse_path(value)?, lines: None },
            Some(("doc", value)) => SelectionItem::Doc(parse_path(value)?),
            Some(("note", value)) => SelectionItem::Note(value.to_owned()),
            Some(("budget", value)) => {
                self.token_budget = Some(parse_budget(value)?);
                return Ok(());
            }
            Some(("paths" | "path" | "files", value)) => {
                for path in value.split(',').map(str::trim).filter(|path| !path.is_empty()) {
                    self.items.push(parse_path_item(path)?);
                }
                return Ok(());
            }
            Some((key, _)) if key.chars().all(char::is_alphanumeric) => {
                return Err(format!("`{key}=` is not known"));
            }
            _ => match item {
                "none" => return Ok(()),
                "auto" => SelectionItem::Auto,
                "tree" => SelectionItem::Tree,
                "diff" => SelectionItem::Diff(DiffRange::Auto),
                "history" => SelectionItem::History,
                _ => parse_path_item(item)?,
            },
        };
        self.items.push(parsed);
        Ok(())
    }
}

fn parse_budget(value: &str) -> Result<usize, String> {
    let digits: String = value.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let tokens: usize = digits.parse().map_err(|_| "a budget is a number of tokens".to_owned())?;
    if tokens < MIN_TOKENS {
        return Err(format!("a budget has at least {MIN_TOKENS} tokens"));
    }
    Ok(tokens.min(MAX_TOKENS))
}

fn parse_diff_range(value: &str) -> Result<DiffRange, String> {
    let sides = |base: &str, head: &str| {
        if base.is_empty() && head.is_empty() {
            return Err("both sides of the dots are empty".to_owned());
        }
        Ok((base.trim().to_owned(), head.trim().to_owned()))
    };
    if let Some((base, head)) = value.split_once("...") {
        let (base, head) = sides(base, head)?;
        return Ok(DiffRange::MergeBase { base, head });
    }
    if let Some((base, head)) = value.split_once("..") {
        let (base, head) = sides(base, head)?;
        return Ok(DiffRange::Between { base, head });
    }
    Ok(match value {
        "staged" | "cached" | "index" => DiffRange::Staged,
        "worktree" => DiffRange::Worktree,
        "branch" => DiffRange::Branch,
        commit => DiffRange::Commit(commit.to_owned()),
    })
}

/// Parses a file, line range, folder or glob pattern.
fn parse_path_item(item: &str) -> Result<SelectionItem, String> {
    if item.contains(['*', '?']) {
        return Ok(SelectionItem::Glob(parse_path(item)?));
    }
    if item.ends_with('/') {
        return Ok(SelectionItem::Folder(parse_path(item)?));
    }
    let (name, lines) = split_line_range(item)?;
    Ok(SelectionItem::Path { path: parse_path(name)?, lines })
}

/// Splits a path and its line range, written `:10-40` or `#L10-L40`.
pub(super) fn split_line_range(item: &str) -> Result<(&str, Option<LineRange>), String> {
    let split = item.rsplit_once("#L").or_else(|| {
        item.rsplit_once(':').filter(|(_, lines)| lines.starts_with(|c: char| c.is_ascii_digit()))
    });
    let Some((name, lines)) = split.filter(|(name, _)| !name.is_empty()) else {
        return Ok((item, None));
    };
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let number = |digits: &str| digits.trim_start_matches('L').parse::<usize>().ok();
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > 0 && last >= first => Ok((name, Some((first, last)))),
        (Some(_), Some(_)) => {
            Err("line numbers start at 1, and the first is not above the last".into())
        }
        _ => Err("lines are written `:10-40` or `#L10-L40`".into()),
    }
}

fn parse_path(path: &str) -> Result<String, String> {
    if path.split(['/', '\\']).any(|name| name == "..") {
        return Err("`..` may lead out of the repository".into());
    }
    Ok(path.strip_prefix("./").unwrap_or(path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_budget(text: &str) -> usize {
        BriefSelection::parse(text).unwrap().token_budget()
    }

    #[test]
    fn default_budget_depends_on_the_items() {
        assert_eq!((DEFAULT_AUTO_TOKENS, DEFAULT_TOKENS), (8_000, 24_000));
        for text in ["auto", "auto; note=look at this"] {
            assert_eq!(token_budget(text), DEFAULT_AUTO_TOKENS, "{text}");
        }
        for text in ["tree", "src/a.rs", "auto; tree"] {
            assert_eq!(token_budget(text), DEFAULT_TOKENS, "{text}");
        }
    }

    #[test]
    fn budget_above_the_maximum_is_capped() {
        assert_eq!(MAX_TOKENS, 400_000);
        assert_eq!(token_budget("tree; budget=399,999"), MAX_TOKENS - 1);
        assert_eq!(token_budget("tree; budget=400,000"), MAX_TOKENS);
        assert_eq!(token_budget("tree; budget=400,001"), MAX_TOKENS);
    }

    #[test]
    fn budget_below_the_minimum_is_refused() {
        assert_eq!(token_budget(&format!("tree; budget={MIN_TOKENS}")), MIN_TOKENS);
        let error = BriefSelection::parse(&format!("tree; budget={}", MIN_TOKENS - 1)).unwrap_err();
        assert_eq!(error.why, "a budget has at least 200 tokens");
    }
}
