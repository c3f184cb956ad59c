//! Renders the file tree with sizes, as deep as the token budget allows.
use super::page;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Limit on file names per folder.
const MOST_NAMED: usize = 40;
const DEEPEST: usize = 8;

/// Node of the tree, with totals.
#[derive(Default)]
struct Folder<'a> {
    files: Vec<(&'a str, Option<u64>)>,
    folders: BTreeMap<&'a str, Folder<'a>>,
    many: usize,
    bytes: u64,
}

/// Renders the deepest tree of the folder `below` that fits into `room` tokens. Returns its depth,
/// or `None` if nothing is cut off.
pub(super) fn draw(
    files: &[(&str, Option<u64>)],
    below: &str,
    room: usize,
) -> (String, Option<usize>) {
    let mut all = Folder::default();
    for (path, size) in files {
        if let Some(inner) = path.strip_prefix(below) {
            all.add(inner, *size);
        }
    }
    let deepest = all.depth().min(DEEPEST);
    for depth in (1..=deepest).rev() {
        let mut text = all.head(if below.is_empty() { "./" } else { below });
        if all.draw(&mut text, 1, depth, room * 4).is_ok() && page::tokens(&text) <= room {
            return (text, (depth < all.depth()).then_some(depth));
        }
    }
    (all.head(if below.is_empty() { "./" } else { below }), Some(0))
}

impl<'a> Folder<'a> {
    fn add(&mut self, path: &'a str, size: Option<u64>) {
        self.many += 1;
        self.bytes += size.unwrap_or(0);
        match path.split_once('/') {
            Some((name, rest)) => self.folders.entry(name).or_default().add(rest, size),
            None => self.files.push((path, size)),
        }
    }

    fn depth(&self) -> usize {
        1 + self.folders.values().map(Folder::depth).max().unwrap_or(0)
    }

    fn head(&self, name: &str) -> String {
        let files = page::many(self.many, "file", "files");
        format!("{} ({files}, {})\n", page::plain(name), page::size(self.bytes))
    }

    /// Returns an error as soon as the text exceeds `most` bytes.
    fn draw(&self, text: &mut String, level: usize, depth: usize, most: usize) -> Result<(), ()> {
        let indent = "  ".repeat(level);
        for (name, folder) in &self.folders {
            text.push_str(&indent);
            text.push_str(&folder.head(&format!("{name}/")));
            if level < depth {
                folder.draw(text, level + 1, depth, most)?;
            }
        }
        for (name, size) in self.files.iter().take(MOST_NAMED) {
            let size = size.map_or_else(|| "not a file".to_owned(), page::size);
            let _ = writeln!(text, "{indent}{} {size}", page::plain(name));
        }
        let more = self.files.len().saturating_sub(MOST_NAMED);
        if more > 0 {
            let _ = writeln!(text, "{indent}… and {}", page::many(more, "more file", "more files"));
        }
        if text.len() > most { Err(()) } else { Ok(()) }
    }
}
