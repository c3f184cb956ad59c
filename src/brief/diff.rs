//! Renders a diff: a list of all changed files with line counts, and the hunks as pieces to pack.
//! The entry point is `build_diff_section`, called by `BriefBuilder::add_diff`. `hunk_reader` reads
//! the files.
use super::file_kind;
use super::pack::BriefPiece;
use super::{BriefOmission, hunk_reader, text_format};
use crate::repo::{ChangedFile, ExclusionReason, LineCounts, RenameSearch, TreeDiff, TreeReader};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Hunks are read up to this multiple of the token budget, so that packing has a choice.
const READ_FACTOR: usize = 8;

/// Tokens reserved for the title and the last line of the folder totals.
const FOLDER_TITLE_TOKENS: usize = 40;

/// A second thread is used from this many files on.
const PARALLEL_THRESHOLD: usize = 32;
/// The read limit is checked after this many files.
const BATCH_FILES: usize = 64;

/// The parts of a brief that come from a diff.
pub(super) struct DiffSection {
    /// List of changed files, which is always shown.
    pub(super) file_list: String,
    pub(super) pieces: Vec<BriefPiece>,
    pub(super) left_out: Vec<BriefOmission>,
}

/// Reads a diff for a brief of `room` tokens. `open_reader` opens a second reader. With
/// `trust_markers`, a generated-code marker in the new version of a file is trusted.
pub(super) fn build_diff_section(
    changes: &TreeDiff,
    reader: Option<&TreeReader>,
    open_reader: &dyn Fn() -> Option<TreeReader>,
    room: usize,
    trust_markers: bool,
) -> DiffSection {
    let mut section = DiffSection { file_list: String::new(), pieces: vec![], left_out: vec![] };
    section.write_file_list(changes, room / 2);
    let mut order: Vec<&ChangedFile> = changes.files.iter().collect();
    let size = |file: &ChangedFile| {
        file.line_counts().map_or(usize::MAX, |(added, deleted)| added + deleted)
    };
    order.sort_by_cached_key(|file| {
        (file_kind::classify(&file.path), !file_kind::is_build_file(&file.path), size(file))
    });
    let mut second_reader = if order.len() >= PARALLEL_THRESHOLD { open_reader() } else { None };
    let mut tokens_read = 0;
    for batch in order.chunks(BATCH_FILES) {
        // Beyond the read limit files are not read: there may be thousands.
        let file_hunks = match reader.filter(|_| tokens_read <= room * READ_FACTOR) {
            Some(reader) => {
                hunk_reader::read_hunks(batch, reader, second_reader.as_mut(), trust_markers)
            }
            None => batch.iter().map(|file| hunk_reader::unread_file(file)).collect(),
        };
        for (file, file_hunks) in batch.iter().zip(file_hunks) {
            let is_full = tokens_read > room * READ_FACTOR;
            let reason = match file_hunks {
                _ if is_full => Some(
                    hunk_reader::file_kind_text(file)
                        .unwrap_or("was not read: there is no room for it"),
                ),
                Ok(pieces) => {
                    tokens_read += pieces.iter().map(|piece| piece.text.len() / 4).sum::<usize>();
                    section.pieces.extend(pieces);
                    None
                }
                Err(reason) => Some(reason),
            };
            let to_omission =
                |reason: &str| BriefOmission { path: file.path.clone(), reason: reason.to_owned() };
            section.left_out.extend(reason.map(to_omission));
        }
    }
    section
}

impl DiffSection {
    /// Lists all changed files with line counts. If that exceeds `room` tokens, the most
    /// informative kinds are listed by name and the rest is summed up by folder.
    fn write_file_list(&mut self, changes: &TreeDiff, room: usize) {
        let (mut added, mut deleted) = (0, 0);
        for (file_added, file_deleted) in changes.files.iter().filter_map(ChangedFile::line_counts)
        {
            (added, deleted) = (added + file_added, deleted + file_deleted);
        }
        let files = text_format::pluralize(changes.files.len(), "file", "files");
        let _ = writeln!(
            self.file_list,
            "\n## Changed: {}: {files}, +{added} -{deleted}",
            text_format::sanitize_line(&changes.description)
        );
        if !changes.complete {
            self.file_list
                .push_str("(some folders cannot be read, and what changed there is not listed)\n");
        }
        if changes.renames == RenameSearch::Limited {
            self.file_list.push_str("(too many files to find every renamed one)\n");
        }
        let rows: Vec<String> = changes.files.iter().map(render_file_row).collect();
        let costs: Vec<usize> = rows.iter().map(|row| text_format::estimate_tokens(row)).collect();
        let mut listed = vec![true; rows.len()];
        if costs.iter().sum::<usize>() > room {
            listed.fill(false);
            let mut remaining = room.saturating_sub(room / 4);
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_cached_key(|index| {
                (file_kind::classify(&changes.files[*index].path), costs[*index], *index)
            });
            for index in order {
                if costs[index] > remaining {
                    break;
                }
                (listed[index], remaining) = (true, remaining - costs[index]);
            }
        }
        let mut totals: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
        for ((file, row), listed) in changes.files.iter().zip(&rows).zip(listed) {
            if listed {
                self.file_list.push_str(row);
                continue;
            }
            let sum = totals.entry(top_folders(&file.path)).or_default();
            let (file_added, file_deleted) = file.line_counts().unwrap_or_default();
            *sum = (sum.0 + 1, sum.1 + file_added, sum.2 + file_deleted);
            let reason = "is not named in the list, for want of room".to_owned();
            self.left_out.push(BriefOmission { path: file.path.clone(), reason });
        }
        self.write_folder_totals(totals, room / 4);
    }

    fn write_folder_totals(
        &mut self,
        totals: BTreeMap<String, (usize, usize, usize)>,
        room: usize,
    ) {
        if totals.is_empty() {
            return;
        }
        self.file_list.push_str("and, summed up by folder for want of room:\n");
        let mut remaining = room.saturating_sub(FOLDER_TITLE_TOKENS);
        let mut totals: Vec<_> = totals.into_iter().collect();
        totals.sort_by_key(|(_, (files, ..))| usize::MAX - files);
        let folder_count = totals.len();
        for (index, (folder, (files, added, deleted))) in totals.into_iter().enumerate() {
            let files = text_format::pluralize(files, "file", "files");
            let row =
                format!("  {} {files}, +{added} -{deleted}\n", text_format::sanitize_line(&folder));
            let cost = text_format::estimate_tokens(&row);
            if cost > remaining {
                let more =
                    text_format::pluralize(folder_count - index, "more folder", "more folders");
                let _ = writeln!(self.file_list, "  and {more}");
                return;
            }
            remaining -= cost;
            self.file_list.push_str(&row);
        }
    }
}

/// Line of the list of changed files.
fn render_file_row(file: &ChangedFile) -> String {
    let counts = match file.lines {
        LineCounts::Counted { added, deleted } => format!("+{added} -{deleted}"),
        LineCounts::Binary => "binary".to_owned(),
        LineCounts::Unknown(ExclusionReason::TooMuch) => "not counted in time".to_owned(),
        LineCounts::Unknown(reason) => reason.describe().to_owned(),
    };
    let path = text_format::sanitize_line(&file.path);
    let old_path = file
        .old_path
        .as_deref()
        .map(|old_path| format!("{} => ", text_format::sanitize_line(old_path)));
    let note = match file.new.as_ref().or(file.old.as_ref()).and_then(|file| file.exclusion) {
        Some(reason) => format!(" ({})", reason.describe()),
        None => file_kind::list_only_reason(&file.path)
            .map(|list_only| format!(" ({})", list_only.describe()))
            .unwrap_or_default(),
    };
    format!("{} {counts:<9} {}{path}{note}\n", file.kind.letter(), old_path.unwrap_or_default())
}

/// The two outermost folders of a path.
fn top_folders(path: &str) -> String {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let outer: Vec<&str> = folders.split('/').take(2).collect();
    format!("{}/", outer.join("/"))
}
