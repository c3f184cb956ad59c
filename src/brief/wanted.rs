//! What is wanted in a brief, as users write it: items, separated by `;` or new lines.
use super::Reviewed;
use crate::repo::Range;

/// The ways to write an item.
const WAYS: &str = "`none`, `auto`, `tree`, `diff`, `diff=staged`, `diff=worktree`, `diff=branch`, \
    `diff=COMMIT`, `diff=BASE..HEAD`, `diff=BASE...HEAD`, `history`, `PATH`, `PATH:10-40`, \
    `PATH#L10-L40`, `FOLDER/`, a pattern such as `src/**/*.rs`, `paths=A,B`, `file=PATH`, \
    `doc=PATH`, `note=TEXT`, `budget=TOKENS`";

/// Tokens a brief may have: where nobody has asked for anything, where somebody has, and at all.
const OF_ITSELF: usize = 8_000;
const ASKED_FOR: usize = 24_000;
const MOST: usize = 400_000;
const LEAST: usize = 200;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    pub(super) wishes: Vec<Wish>,
    budget: Option<usize>,
    /// What comes before all of that, if a change is under review.
    pub(super) reviewed: Option<Reviewed>,
}

/// Lines of a file, from the first to the last.
pub(super) type Span = (usize, usize);

/// One item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    /// Whatever the topic asks for.
    Auto,
    /// The file tree and the manifests.
    Tree,
    Diff(Range),
    /// The last commits of what the brief is about.
    History,
    /// A file, or lines of it, from the first to the last; also a folder, where there is one.
    Path {
        path: String,
        lines: Option<Span>,
    },
    /// All that is below a folder.
    Folder(String),
    /// All whose names are like a pattern.
    Glob(String),
    /// A document.
    Doc(String),
    /// Something the user says.
    Note(String),
}

/// Why an item cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("context `{item}`: {why}; write {WAYS}, with `;` between them")]
pub struct BadWish {
    /// The item.
    pub item: String,
    /// What is wrong with it.
    pub why: String,
}

impl Wanted {
    /// Reads what a user has written. Nothing at all is `none`; a note goes on to the end.
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

    /// The same, about a change that is under review.
    #[must_use]
    pub fn about(self, change: Reviewed) -> Wanted {
        Wanted { reviewed: Some(change), ..self }
    }

    /// Tokens it may have.
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
                "diff" => Wish::Diff(Range::Any),
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

fn range(value: &str) -> Result<Range, String> {
    let sides = |base: &str, head: &str| {
        if base.is_empty() && head.is_empty() {
            return Err("nothing stands on either side of the dots".to_owned());
        }
        Ok((base.trim().to_owned(), head.trim().to_owned()))
    };
    if let Some((base, head)) = value.split_once("...") {
        let (base, head) = sides(base, head)?;
        return Ok(Range::Since { base, head });
    }
    if let Some((base, head)) = value.split_once("..") {
        let (base, head) = sides(base, head)?;
        return Ok(Range::Between { base, head });
    }
    Ok(match value {
        "staged" | "cached" | "index" => Range::Staged,
        "worktree" => Range::Worktree,
        "branch" => Range::Branch,
        commit => Range::Commit(commit.to_owned()),
    })
}

/// A file, lines of one, a folder or a pattern.
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

/// A path and the lines meant, as citations have them.
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
