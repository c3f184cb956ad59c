//! Renders the file tree with sizes, as deep as the token budget allows. The entry point is
//! `render_tree`, called by `BriefBuilder` for the whole tree and for a folder that is named.
use super::text_format;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Limit on file names per folder.
const MAX_FILES_PER_FOLDER: usize = 40;
/// Limit on the depth of the tree.
const MAX_DEPTH: usize = 8;

/// Node of the tree, with totals.
#[derive(Default)]
struct FolderNode<'a> {
    files: Vec<(&'a str, Option<u64>)>,
    folders: BTreeMap<&'a str, FolderNode<'a>>,
    file_count: usize,
    bytes: u64,
}

/// Renders the deepest tree of `folder` that fits into `max_tokens` tokens. Returns its depth, or `None`
/// if nothing is cut off.
pub(super) fn render_tree(
    files: &[(&str, Option<u64>)],
    folder: &str,
    max_tokens: usize,
) -> (String, Option<usize>) {
    let mut root = FolderNode::default();
    for (path, size) in files {
        if let Some(inner) = path.strip_prefix(folder) {
            root.add(inner, *size);
        }
    }
    let deepest = root.depth().min(MAX_DEPTH);
    for depth in (1..=deepest).rev() {
        let mut text = root.summary_line(if folder.is_empty() { "./" } else { folder });
        if root.render(&mut text, 1, depth, max_tokens * 4).is_ok()
            && text_format::estimate_tokens(&text) <= max_tokens
        {
            return (text, (depth < root.depth()).then_some(depth));
        }
    }
    (root.summary_line(if folder.is_empty() { "./" } else { folder }), Some(0))
}

impl<'a> FolderNode<'a> {
    fn add(&mut self, path: &'a str, size: Option<u64>) {
        self.file_count += 1;
        self.bytes += size.unwrap_or(0);
        match path.split_once('/') {
            Some((name, rest)) => self.folders.entry(name).or_default().add(rest, size),
            None => self.files.push((path, size)),
        }
    }

    fn depth(&self) -> usize {
        1 + self.folders.values().map(FolderNode::depth).max().unwrap_or(0)
    }

    fn summary_line(&self, name: &str) -> String {
        let files = text_format::pluralize(self.file_count, "file", "files");
        format!(
            "{} ({files}, {})\n",
            text_format::sanitize_line(name),
            text_format::format_size(self.bytes)
        )
    }

    /// Returns an error as soon as the text exceeds `max_bytes`.
    fn render(
        &self,
        text: &mut String,
        level: usize,
        depth: usize,
        max_bytes: usize,
    ) -> Result<(), ()> {
        let indent = "  ".repeat(level);
        for (name, folder) in &self.folders {
            text.push_str(&indent);
            text.push_str(&folder.summary_line(&format!("{name}/")));
            if level < depth {
                folder.render(text, level + 1, depth, max_bytes)?;
            }
        }
        for (name, size) in self.files.iter().take(MAX_FILES_PER_FOLDER) {
            let size = size.map_or_else(|| "not a file".to_owned(), text_format::format_size);
            let _ = writeln!(text, "{indent}{} {size}", text_format::sanitize_line(name));
        }
        let more = self.files.len().saturating_sub(MAX_FILES_PER_FOLDER);
        if more > 0 {
            let _ = writeln!(
                text,
                "{indent}… and {}",
                text_format::pluralize(more, "more file", "more files")
            );
        }
        if text.len() > max_bytes { Err(()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_per_folder_are_limited() {
        assert_eq!(MAX_FILES_PER_FOLDER, 40);
        let render = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("{number}.rs")).collect();
            let files: Vec<_> = names.iter().map(|name| (name.as_str(), Some(1))).collect();
            let (text, _) = render_tree(&files, "", 10_000);
            (text.matches(".rs 1 B\n").count(), text.contains("… and 1 more file\n"))
        };
        assert_eq!(render(MAX_FILES_PER_FOLDER), (MAX_FILES_PER_FOLDER, false));
        assert_eq!(render(MAX_FILES_PER_FOLDER + 1), (MAX_FILES_PER_FOLDER, true));
    }

    #[test]
    fn depth_is_limited() {
        assert_eq!(MAX_DEPTH, 8);
        let render = |depth: usize| {
            let path = format!("{}a.rs", "folder/".repeat(depth - 1));
            let (text, cut_at) = render_tree(&[(path.as_str(), Some(1))], "", 10_000);
            (text.contains("a.rs 1 B"), cut_at)
        };
        assert_eq!(render(MAX_DEPTH), (true, None));
        assert_eq!(render(MAX_DEPTH + 1), (false, Some(MAX_DEPTH)));
    }
}
