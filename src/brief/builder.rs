//! `BriefBuilder`: turns each selected item into pieces, and records what it picked and why. The
//! entry point is [`build_brief`], which `port` calls for every brief (repository context for the
//! prompts). `pack` then chooses pieces for the token budget.
use super::file_excerpt::{self, FileExcerpt};
use super::file_kind::{self, FileKind};
use super::pack::{BriefPiece, BriefSection};
use super::selection::{BriefSelection, LineRange, SelectionItem};
use super::source_tree::{PathMatch, SourceTree};
use super::{
    BriefDetail, BriefError, BriefOmission, RepositoryBrief, compose, diff, file_tree, text_format,
};
use crate::repo::{DiffRange, Pin, RepoError, TreeStore, exclusion_reason};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Manifests that are shown.
const MAX_MANIFESTS: usize = 20;
/// Files that are read per folder or glob pattern.
const MAX_FOLDER_FILES: usize = 2_000;
/// Files are read up to this multiple of the token budget, so that packing has a choice.
const READ_FACTOR: usize = 4;

/// Builds a brief from the selected items. The caller has already pinned the tree, if possible.
pub fn build_brief(
    trees: &TreeStore,
    root: &Path,
    folder: &Path,
    pin: Option<&Pin>,
    topic: &str,
    selection: &BriefSelection,
    detail: BriefDetail,
) -> Result<RepositoryBrief, BriefError> {
    if selection.items.is_empty() && selection.change.is_none() {
        return Ok(RepositoryBrief::default());
    }
    let source_tree = SourceTree::open(trees, root, folder, pin)?;
    let mut builder = BriefBuilder {
        trees,
        root,
        pin,
        source_tree,
        detail,
        budget: selection.token_budget(),
        fixed_text: String::new(),
        pieces: vec![],
        added_excerpts: BTreeSet::new(),
        brief: RepositoryBrief::default(),
    };
    if let Some(change) = &selection.change {
        builder.add_change(change)?;
    }
    for item in &selection.items {
        builder.add_item(item, topic)?;
    }
    // Last, because it covers the paths all other items touch.
    if selection.items.contains(&SelectionItem::History) {
        builder.add_history()?;
    }
    builder.record_unpinned();
    let BriefBuilder { budget, fixed_text, pieces, brief, source_tree, .. } = builder;
    Ok(compose::compose(brief, pin, source_tree.complete, &fixed_text, &pieces, budget))
}

/// State of a brief that is being built.
pub(super) struct BriefBuilder<'a> {
    trees: &'a TreeStore,
    root: &'a Path,
    pub(super) pin: Option<&'a Pin>,
    pub(super) source_tree: SourceTree,
    detail: BriefDetail,
    budget: usize,
    fixed_text: String,
    pub(super) pieces: Vec<BriefPiece>,
    /// Excerpts already added, to avoid duplicates.
    added_excerpts: BTreeSet<(String, Option<LineRange>)>,
    pub(super) brief: RepositoryBrief,
}

impl BriefBuilder<'_> {
    fn add_item(&mut self, item: &SelectionItem, topic: &str) -> Result<(), BriefError> {
        match item {
            SelectionItem::Auto => self.add_auto_context(topic),
            SelectionItem::Tree => self.add_tree("asked for"),
            SelectionItem::Diff(range) => self.add_diff(range, "asked for")?,
            SelectionItem::History => {}
            SelectionItem::Path { path, lines } => match self.source_tree.find_named(path) {
                PathMatch::File(path) => self.add_named_file(&path, *lines)?,
                PathMatch::Folder(folder) if lines.is_none() => {
                    self.add_folder(&folder, "asked for");
                }
                _ => return Err(BriefError::FileNotFound { path: path.clone() }),
            },
            SelectionItem::Doc(path) => match self.source_tree.find_named(path) {
                PathMatch::File(path) => self.add_named_file(&path, None)?,
                _ => return Err(BriefError::FileNotFound { path: path.clone() }),
            },
            SelectionItem::Folder(path) => match self.source_tree.find(path) {
                PathMatch::Folder(folder) => self.add_folder(&folder, "asked for"),
                _ => return Err(BriefError::FileNotFound { path: path.clone() }),
            },
            SelectionItem::Glob(pattern) => {
                let paths = self.source_tree.glob(pattern);
                if paths.is_empty() {
                    return Err(BriefError::NoMatch { pattern: pattern.clone() });
                }
                let found = text_format::pluralize(paths.len(), "file", "files");
                self.record_pick(&format!("{pattern}: {found} like it"));
                self.add_files(&paths);
            }
            SelectionItem::Note(text) => {
                let lines = text.lines().map(|line| format!("> {line}\n"));
                self.add_piece(BriefSection::Notes, "a note", 100, lines.collect(), None);
                self.record_pick("a note of the user");
            }
        }
        Ok(())
    }

    /// Adds a file the user has named.
    fn add_named_file(&mut self, path: &str, lines: Option<LineRange>) -> Result<(), BriefError> {
        if self.add_file(path, lines, BriefSection::NamedFiles, 100)? {
            let lines = lines.map(|(first, last)| format!(":{first}-{last}")).unwrap_or_default();
            self.record_pick(&format!("{path}{lines}: asked for"));
        }
        Ok(())
    }

    /// Adds an excerpt of a file, or records why not. Returns whether it was added.
    pub(super) fn add_file(
        &mut self,
        path: &str,
        lines: Option<LineRange>,
        section: BriefSection,
        value: u64,
    ) -> Result<bool, BriefError> {
        if section != BriefSection::FolderFiles
            && !self.brief.touched_paths.iter().any(|known| known == path)
        {
            self.brief.touched_paths.push(path.to_owned());
        }
        if !self.added_excerpts.insert((path.to_owned(), lines)) {
            return Ok(false);
        }
        let bytes = match section {
            BriefSection::NamedFiles => self.source_tree.read_named(path),
            _ => self.source_tree.read(path),
        };
        let text = match bytes.and_then(file_excerpt::decode_text) {
            Ok(text) => text,
            Err(reason) if section == BriefSection::NamedFiles => {
                return Err(BriefError::Withheld { path: path.to_owned(), why: reason.describe() });
            }
            Err(reason) => {
                self.record_omission(path, reason.describe().to_owned());
                return Ok(false);
            }
        };
        let line_count = text.lines().count();
        if lines.is_some_and(|(first, _)| first > line_count) {
            return Err(BriefError::LinesOutOfRange { path: path.to_owned(), lines: line_count });
        }
        let FileExcerpt { full, short } =
            file_excerpt::build_excerpt(path, &text, lines, self.detail, self.budget);
        self.add_piece(section, path, value, full, short);
        Ok(true)
    }

    /// Adds the tree of a folder and the files in it.
    pub(super) fn add_folder(&mut self, folder: &str, reason: &str) {
        let paths = self.source_tree.files_in_folder(folder);
        let files = text_format::pluralize(paths.len(), "file", "files");
        self.record_pick(&format!(
            "{}: {files}, {reason}",
            if folder.is_empty() { "./" } else { folder }
        ));
        self.add_tree_piece(folder);
        if self.detail == BriefDetail::Contents {
            self.add_files(&paths);
        }
    }

    /// Adds files that were not named one by one, by kind, until the read limit is reached.
    fn add_files(&mut self, paths: &[String]) {
        let mut order: Vec<(FileKind, &String)> =
            paths.iter().map(|path| (file_kind::classify(path), path)).collect();
        order.sort();
        let mut remaining = self.budget * READ_FACTOR;
        for (index, (kind, path)) in order.into_iter().enumerate() {
            let reason =
                match (exclusion_reason(path.as_bytes()), file_kind::list_only_reason(path)) {
                    // Instructions for agents are excluded, because the reader of the brief is an
                    // agent.
                    (Some(reason), _) => Some(reason.describe()),
                    (_, Some(list_only)) => Some(list_only.describe()),
                    _ if index >= MAX_FOLDER_FILES || remaining == 0 => {
                        Some("was not read: there is no room for it")
                    }
                    _ => None,
                };
            if let Some(reason) = reason {
                self.record_omission(path, reason.to_owned());
                continue;
            }
            let value = match kind {
                FileKind::Source => 50,
                FileKind::Test => 30,
                FileKind::Config => 25,
                FileKind::Docs | FileKind::Generated => 12,
            };
            let before = self.pieces.len();
            // Without a line range, the only possible error cannot occur.
            let _ = self.add_file(path, None, BriefSection::FolderFiles, value);
            let tokens_read: usize =
                self.pieces[before..].iter().map(|piece| piece.text.len() / 4).sum();
            remaining = remaining.saturating_sub(tokens_read);
        }
    }

    /// Adds the file tree and the manifests.
    pub(super) fn add_tree(&mut self, reason: &str) {
        self.add_tree_piece("");
        let manifests = self.find_manifests();
        let count = text_format::pluralize(manifests.len(), "manifest", "manifests");
        self.record_pick(&format!("the file tree and {count}: {reason}"));
        for (index, path) in manifests.iter().enumerate() {
            if index < MAX_MANIFESTS {
                let value = 60_u64.saturating_sub(5 * path_depth(path) as u64);
                let _ = self.add_file(path, None, BriefSection::Manifests, value);
            } else {
                self.record_omission(path, "is one manifest of too many".to_owned());
            }
        }
    }

    /// All manifests, by depth.
    pub(super) fn find_manifests(&self) -> Vec<String> {
        let paths = self.source_tree.paths();
        let manifests = paths.into_iter().filter(|path| {
            file_kind::is_manifest(path) && file_kind::list_only_reason(path).is_none()
        });
        let mut manifests: Vec<String> = manifests.map(str::to_owned).collect();
        manifests.sort_by_key(|path| (path_depth(path), path.clone()));
        manifests
    }

    fn add_tree_piece(&mut self, folder: &str) {
        let sizes = self.source_tree.paths_with_sizes();
        let render = |max_tokens: usize| {
            let (text, depth) = file_tree::render_tree(&sizes, folder, max_tokens);
            match depth {
                Some(depth) => format!("(to a depth of {depth})\n{text}"),
                None => text,
            }
        };
        let (full, short) = (render(self.budget / 2), render(self.budget / 8));
        self.add_piece(
            BriefSection::Tree,
            if folder.is_empty() { "./" } else { folder },
            90,
            full,
            Some(short),
        );
    }

    pub(super) fn add_diff(&mut self, range: &DiffRange, reason: &str) -> Result<(), BriefError> {
        let no_repository = || RepoError::NoRepository { path: self.root.to_owned() };
        let pin = self.pin.ok_or_else(no_repository)?;
        let changes = self.trees.diff(self.root, pin, range)?;
        let files = match changes.files.len() {
            0 => "nothing has changed".to_owned(),
            count => format!("{} changed", text_format::pluralize(count, "file", "files")),
        };
        self.record_pick(&format!("diff of {}: {files}; {reason}", changes.description));
        let open_reader = || self.source_tree.open_reader();
        let trust_markers = !matches!(range, DiffRange::Trees { .. });
        let reader = self.source_tree.reader();
        let section =
            diff::build_diff_section(&changes, reader, &open_reader, self.budget, trust_markers);
        self.fixed_text.push_str(&section.file_list);
        self.pieces.extend(section.pieces);
        self.brief.left_out.extend(section.left_out);
        let paths = changes.files.iter().flat_map(|file| file.old_path.iter().chain([&file.path]));
        self.brief.touched_paths.extend(paths.cloned());
        self.brief.changed_files.extend(changes.files);
        Ok(())
    }

    pub(super) fn add_history(&mut self) -> Result<(), BriefError> {
        let no_repository = || RepoError::NoRepository { path: self.root.to_owned() };
        let pin = self.pin.ok_or_else(no_repository)?;
        let (histories, is_truncated) =
            self.trees.history(self.root, pin, &self.brief.touched_paths)?;
        let mut text = String::new();
        for history in &histories {
            let path = if history.path.is_empty() { "the repository" } else { &history.path };
            let _ = writeln!(text, "`{}`:", text_format::sanitize_line(path));
            for commit in &history.commits {
                let time = jiff::Timestamp::from_second(commit.time).unwrap_or_default();
                let subject = text_format::sanitize_line(&commit.subject);
                let _ = writeln!(
                    text,
                    "  {} {} {}",
                    commit.id,
                    time.strftime("%Y-%m-%d"),
                    text_format::truncate_line(&subject)
                );
            }
        }
        if is_truncated {
            text.push_str("(the walk through the past ended in time; there may be more)\n");
        }
        self.record_pick(&format!(
            "the last commits of {}",
            text_format::pluralize(histories.len(), "path", "paths")
        ));
        self.add_piece(BriefSection::History, "history", 40, text, None);
        Ok(())
    }

    /// Records uncommitted changes that could not be pinned as omissions.
    fn record_unpinned(&mut self) {
        for excluded in self.pin.iter().flat_map(|pin| &pin.left_out) {
            let reason = format!("{}, and is not pinned", excluded.why.describe());
            self.brief.left_out.push(BriefOmission { path: excluded.path.clone(), reason });
        }
    }

    fn add_piece(
        &mut self,
        section: BriefSection,
        path: &str,
        value: u64,
        text: String,
        short_text: Option<String>,
    ) {
        self.pieces.push(BriefPiece { section, path: path.to_owned(), value, text, short_text });
    }

    /// Adds text that is always part of the brief, whatever the budget.
    pub(super) fn add_fixed_text(&mut self, text: &str) {
        self.fixed_text.push_str(text);
    }

    pub(super) fn record_pick(&mut self, line: &str) {
        self.brief.picked.push(text_format::sanitize_line(line).into_owned());
    }

    pub(super) fn record_omission(&mut self, path: &str, reason: String) {
        self.brief.left_out.push(BriefOmission { path: path.to_owned(), reason });
    }
}

fn path_depth(path: &str) -> usize {
    path.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn manifests_are_limited() {
        assert_eq!(MAX_MANIFESTS, 20);
        let folder = tempfile::tempdir().unwrap();
        let trees = TreeStore::new(&folder.path().join("home"));
        let selection = BriefSelection::parse("tree").unwrap();
        let write_manifest = |number: usize| {
            let package = folder.path().join(format!("package{number}"));
            fs::create_dir(&package).unwrap();
            fs::write(package.join("Cargo.toml"), "[package]\n").unwrap();
        };
        let count_manifests = || {
            let (root, detail) = (folder.path(), BriefDetail::Contents);
            let brief = build_brief(&trees, root, root, None, "", &selection, detail).unwrap();
            let omitted = brief.left_out.iter();
            let omitted = omitted.filter(|it| it.reason == "is one manifest of too many").count();
            (brief.text.matches("[package]").count(), omitted)
        };
        (0..MAX_MANIFESTS).for_each(write_manifest);
        assert_eq!(count_manifests(), (MAX_MANIFESTS, 0));
        write_manifest(MAX_MANIFESTS);
        assert_eq!(count_manifests(), (MAX_MANIFESTS, 1));
    }

    #[test]
    fn files_read_per_folder_are_limited() {
        assert_eq!(MAX_FOLDER_FILES, 2_000);
        let folder = tempfile::tempdir().unwrap();
        let trees = TreeStore::new(&folder.path().join("home"));
        let count_unread = |count: usize| {
            let root = folder.path();
            let mut builder = BriefBuilder {
                trees: &trees,
                root,
                pin: None,
                source_tree: SourceTree::open(&trees, root, root, None).unwrap(),
                detail: BriefDetail::Contents,
                budget: 24_000,
                fixed_text: String::new(),
                pieces: vec![],
                added_excerpts: BTreeSet::new(),
                brief: RepositoryBrief::default(),
            };
            // These files do not exist, so one that is read is recorded as unreadable.
            let paths: Vec<String> = (0..count).map(|number| format!("{number}.rs")).collect();
            builder.add_files(&paths);
            let omitted = builder.brief.left_out.iter();
            omitted.filter(|it| it.reason == "was not read: there is no room for it").count()
        };
        assert_eq!(count_unread(MAX_FOLDER_FILES), 0);
        assert_eq!(count_unread(MAX_FOLDER_FILES + 1), 1);
    }
}
