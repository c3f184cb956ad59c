//! Parser of the `--context` syntax: items separated by `;` or newlines.
use super::Reviewed;
use crate::repo::DiffRange;

/// Syntax summary for error messages.
const WAYS: &str = "`none`, `auto`, `tree`, `diff`, `diff=staged`, `diff=worktree`, `diff=branch`, \
    `diff=COMMIT`, `diff=BASE..HEAD`, `diff=BASE...HEAD`, `history`, `PATH`, `PATH:10-40`, \
    `PATH#L10-L40`, `FOLDER/`, a pattern such as `src/**/*.rs`, `paths=A,B`, `file=PATH`, \
    `doc=PATH`, `note=TEXT`, `budget=TOKENS`";

/// Token budgets: default for `auto`, default for explicit items, maximum and minimum.
const OF_ITSELF: usize = 8_000;
const ASKED_FOR: usize = 24_000;
const MOST: usize = 400_000;
const LEAST: usize = 200;

/// Parsed `--context`: items and token budget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    pub(super) wishes: Vec<Wish>,
    budget: Option<usize>,
    /// The change under review, which comes first.
    pub(super) reviewed: Option<Reviewed>,
}

/// First and last line, counted from 1.
pub(super) type Span = (usize, usize);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// Chosen by the topic.
    Auto,
    /// The file tree and the manifests.
    Tree,
    Diff(DiffRange),
    /// Last commits of the touched paths.
    History,
    /// A file or folder, optionally with a line range.
    Path {
        path: String,
        lines: Option<Span>,
    },
    /// All files in a folder.
    Folder(String),
    /// All files that match a glob pattern.
    Glob(String),
    Doc(String),
    /// Free text by the user.
    Note(String),
}

/// An item that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("context `{item}`: {why}; write {WAYS}, with `;` between them")]
pub struct BadWish {
    /// The item as written.
    pub item: String,
    /// Error message.
    pub why: String,
}

impl Wanted {
    /// Parses the items. Empty text means `none`. A note extends to the end of the text.
    pub fn read(text: &str) -> Result<Wanted, BadWish> {
        let mut wanted = Wanted::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = if rest.starts_with("note=") { None } else { rest.find([';', '\n']) };
            let (item, after) = end.map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
            rest = after.trim_start();
            let item = item.trim();
            if !item.is_empty() {
                wanted.item(item).map_err(|why| BadWish { item: item.to_owned(), why })?;
            }
        }
        Ok(wanted)
    }

    /// Adds the change under review.
    #[must_use]
    pub fn about(self, change: Reviewed) -> Wanted {
        Wanted { reviewed: Some(change), ..self }
    }

    /// Token budget of the brief.
    pub(super) fn budget(&self) -> usize {
        let itself = self.reviewed.is_none()
            && self.wishes.iter().all(|wish| matches!(wish, Wish::Auto | Wish::Note(_)));
        self.budget.unwrap_or(if itself { OF_ITSELF } else { ASKED_FOR })
    }

    fn item(&mut self, item: &str) -> Result<(), String> {
        let wish = match item.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some((_, "")) => return Err("nothing stands after `=`".into()),
            Some(("diff", value)) => Wish::Diff(range(value)?),
            Some(("file", value)) => Wish::Path { path: path(value)?, lines: None },
            Some(("doc", value)) => Wish::Doc(path(value)?),
            Some(("note", value)) => Wish::Note(value.to_owned()),
            Some(("budget", value)) => {
                self.budget = Some(budget(value)?);
                return Ok(());
            }
            Some(("paths" | "path" | "files", value)) => {
                for one in value.split(',').map(str::trim).filter(|one| !one.is_empty()) {
                    self.wishes.push(place(one)?);
                }
                return Ok(());
            }
            Some((key, _)) if key.chars().all(char::is_alphanumeric) => {
                return Err(format!("`{key}=` is not known"));
            }
            _ => match item {
                "none" => return Ok(()),
                "auto" => Wish::Auto,
                "tree" => Wish::Tree,
                "diff" => Wish::Diff(DiffRange::Auto),
                "history" => Wish::History,
                _ => place(item)?,
            },
        };
        self.wishes.push(wish);
        Ok(())
    }
}

fn budget(value: &str) -> Result<usize, String> {
    let digits: String = value.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let tokens: usize = digits.parse().map_err(|_| "a budget is a number of tokens".to_owned())?;
    if tokens < LEAST {
        return Err(format!("a budget has at least {LEAST} tokens"));
    }
    Ok(tokens.min(MOST))
}

fn range(value: &str) -> Result<DiffRange, String> {
    let sides = |base: &str, head: &str| {
        if base.is_empty() && head.is_empty() {
            return Err("nothing stands on either side of the dots".to_owned());
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
fn place(item: &str) -> Result<Wish, String> {
    if item.contains(['*', '?']) {
        return Ok(Wish::Glob(path(item)?));
    }
    if item.ends_with('/') {
        return Ok(Wish::Folder(path(item)?));
    }
    let (name, lines) = cited(item)?;
    Ok(Wish::Path { path: path(name)?, lines })
}

/// Splits a path and its line range, written `:10-40` or `#L10-L40`.
pub(super) fn cited(item: &str) -> Result<(&str, Option<Span>), String> {
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
        (Some(_), Some(_)) => Err("lines count from 1, and the first comes first".into()),
        _ => Err("lines are written `:10-40` or `#L10-L40`".into()),
    }
}

fn path(path: &str) -> Result<String, String> {
    if path.split(['/', '\\']).any(|name| name == "..") {
        return Err("`..` may lead out of the repository".into());
    }
    Ok(path.strip_prefix("./").unwrap_or(path).to_owned())
}
