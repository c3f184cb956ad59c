//! Renders a diff: a list of all changed files with line counts, and the hunks as pieces to pack.
//! The entry point is `build_diff_section`, called by `BriefBuilder::add_diff`. `hunk_reader` reads
//! the files and calls back `hunk_pieces` for each.
use super::file_kind::{self, FileKind, ListOnlyReason};
use super::pack::{BriefPiece, BriefSection};
use super::{BriefOmission, hunk_reader, outline, risk, text_format};
use crate::repo::{
    ChangedFile, ExclusionReason, FileChangeKind, FileDiff, Hunk, LineCounts, RenameSearch,
    TreeDiff, TreeReader, exclusion_reason,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longer hunks are split into parts of [`HUNK_PART_LINES`].
const MAX_HUNK_LINES: usize = 120;
/// Lines of a part of a split hunk.
const HUNK_PART_LINES: usize = 60;
/// Deletions up to this many lines are shown in full.
const MAX_FULL_DELETION_LINES: usize = 5;
/// Limit on guards and signatures shown of a longer deletion.
const MAX_DELETION_HIGHLIGHTS: usize = 12;
/// Hunks are read up to this multiple of the token budget, so that packing has a choice.
const READ_FACTOR: usize = 8;

/// Hunks of one document that keep their full value.
const FULL_VALUE_DOC_HUNKS: usize = 4;
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
                _ if is_full => {
                    Some(file_kind_text(file).unwrap_or("was not read: there is no room for it"))
                }
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

/// Why a changed file is only listed, if so.
pub(super) fn list_only_text(file: &ChangedFile) -> Option<&'static str> {
    let is_unchanged = file.line_counts() == Some((0, 0));
    let text = match exclusion_reason(file.path.as_bytes()) {
        Some(reason) => reason.describe(),
        _ if file.lines == LineCounts::Binary => ExclusionReason::Binary.describe(),
        _ if is_unchanged && file.kind == FileChangeKind::Renamed => "was only renamed",
        _ if is_unchanged && file.kind == FileChangeKind::Modified => "has other permissions only",
        _ if is_unchanged => "is empty",
        _ => file_kind_text(file)?,
    };
    Some(text)
}

fn file_kind_text(file: &ChangedFile) -> Option<&'static str> {
    file_kind::list_only_reason(&file.path).map(ListOnlyReason::describe)
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

/// Splits the diff of a file into pieces, one per hunk.
pub(super) fn hunk_pieces(file: &ChangedFile, hunks: &FileDiff) -> Vec<BriefPiece> {
    let side = if file.kind == FileChangeKind::Deleted { &hunks.old } else { &hunks.new };
    let text = String::from_utf8_lossy(side);
    let lines: Vec<&str> = text.lines().collect();
    let parts = hunks.hunks.iter().flat_map(split_hunk);
    let piece = |hunk: Hunk| {
        let (added, deleted) = (count_marked(&hunk, '+'), count_marked(&hunk, '-'));
        let first = hunk.lines.iter().find(|line| line.marker() != ' ');
        let line_number = first.and_then(|line| {
            if file.kind == FileChangeKind::Deleted { line.old_number } else { line.new_number }
        });
        let line_number = line_number.unwrap_or(hunk.new_range.0);
        let definition = outline::enclosing_definition(&lines, line_number)
            .map(|line| format!(" {}", text_format::truncate_line(line)));
        let head = format!(
            "`{}` {}{}",
            text_format::sanitize_line(&file.path),
            hunk.header(),
            definition.unwrap_or_default()
        );
        let body = if added == 0 && deleted > MAX_FULL_DELETION_LINES {
            summarize_deletion(&hunk, deleted)
        } else {
            render_hunk(&hunk)
        };
        BriefPiece {
            section: BriefSection::Hunks,
            path: file.path.clone(),
            value: risk::hunk_value(&file.path, &hunk),
            text: format!("{head}\n{body}"),
            short_text: Some(format!("{head} (+{added} -{deleted}, no room for it)\n")),
        }
    };
    let mut pieces: Vec<BriefPiece> = parts.map(piece).collect();
    // Lower the value of rewritten documents, so that they do not crowd out code.
    if file_kind::classify(&file.path) == FileKind::Docs {
        pieces.iter_mut().skip(FULL_VALUE_DOC_HUNKS).for_each(|piece| piece.value /= 2);
    }
    pieces
}

fn count_marked(hunk: &Hunk, marker: char) -> usize {
    hunk.lines.iter().filter(|line| line.marker() == marker).count()
}

fn render_hunk(hunk: &Hunk) -> String {
    // Show line endings if that is all that differs.
    let has_carriage_return = |marker: char| {
        let mut lines = hunk.lines.iter().filter(move |line| line.marker() == marker);
        lines.any(|line| line.text.ends_with('\r'))
    };
    let show_end = has_carriage_return('-') != has_carriage_return('+');
    hunk.lines.iter().map(|line| render_hunk_line(line, show_end)).collect()
}

fn render_hunk_line(line: &crate::repo::HunkLine, show_end: bool) -> String {
    let number =
        |number: Option<usize>| number.map(|number| number.to_string()).unwrap_or_default();
    let end =
        if show_end && line.marker() != ' ' && line.text.ends_with('\r') { "␍" } else { "" };
    format!(
        "{:>5} {:>5} {} {}{end}\n",
        number(line.old_number),
        number(line.new_number),
        line.marker(),
        text_format::truncate_line(&line.text)
    )
}

/// Summary of a hunk that only deletes: line count, first line, and the guards and signatures in
/// it.
fn summarize_deletion(hunk: &Hunk, count: usize) -> String {
    let mut deleted = hunk.lines.iter().filter(|line| line.marker() == '-');
    let first_line = deleted.clone().find(|line| !line.text.trim().is_empty());
    let first_line = first_line
        .map(|line| text_format::truncate_line(line.text.trim()).into_owned())
        .unwrap_or_default();
    let mut text = format!("deleted: {count} lines; it began with `{first_line}`\n");
    let highlights: Vec<_> = deleted
        .by_ref()
        .filter(|line| outline::is_guard(&line.text) || outline::is_signature(&line.text))
        .collect();
    highlights
        .iter()
        .take(MAX_DELETION_HIGHLIGHTS)
        .for_each(|line| text.push_str(&render_hunk_line(line, false)));
    if highlights.len() > MAX_DELETION_HIGHLIGHTS {
        let more = text_format::pluralize(
            highlights.len() - MAX_DELETION_HIGHLIGHTS,
            "more guard or signature",
            "more guards and signatures",
        );
        let _ = writeln!(text, "(and {more})");
    }
    text
}

/// Splits a long hunk into parts.
fn split_hunk(hunk: &Hunk) -> Vec<Hunk> {
    if hunk.lines.len() <= MAX_HUNK_LINES || count_marked(hunk, '-') == hunk.lines.len() {
        return vec![hunk.clone()];
    }
    let part = |lines: &[crate::repo::HunkLine]| {
        let side = |numbers: Vec<usize>, before: (usize, usize)| {
            (numbers.first().copied().unwrap_or(before.0), numbers.len())
        };
        Hunk {
            old_range: side(
                lines.iter().filter_map(|line| line.old_number).collect(),
                hunk.old_range,
            ),
            new_range: side(
                lines.iter().filter_map(|line| line.new_number).collect(),
                hunk.new_range,
            ),
            lines: lines.to_vec(),
        }
    };
    hunk.lines
        .chunks(HUNK_PART_LINES)
        .map(part)
        .filter(|part| part.lines.iter().any(|line| line.marker() != ' '))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::HunkLine;

    /// A hunk that deletes or adds the same line `count` times.
    fn repeated_hunk(text: &str, count: usize, is_deletion: bool) -> Hunk {
        let line = |number: usize| HunkLine {
            old_number: is_deletion.then_some(number),
            new_number: (!is_deletion).then_some(number),
            text: text.to_owned(),
        };
        let (changed, unchanged) = ((1, count), (0, 0));
        let (old_range, new_range) =
            if is_deletion { (changed, unchanged) } else { (unchanged, changed) };
        Hunk { old_range, new_range, lines: (1..=count).map(line).collect() }
    }

    #[test]
    fn long_hunk_is_split_into_parts() {
        assert_eq!((MAX_HUNK_LINES, HUNK_PART_LINES), (120, 60));
        let part_sizes = |count: usize| -> Vec<usize> {
            let parts = split_hunk(&repeated_hunk("x", count, false));
            parts.iter().map(|part| part.lines.len()).collect()
        };
        assert_eq!(part_sizes(MAX_HUNK_LINES), [MAX_HUNK_LINES]);
        assert_eq!(part_sizes(MAX_HUNK_LINES + 1), [HUNK_PART_LINES, HUNK_PART_LINES, 1]);
    }

    #[test]
    fn long_deletion_is_summarized() {
        assert_eq!(MAX_FULL_DELETION_LINES, 5);
        let file = ChangedFile {
            path: "a.rs".into(),
            old_path: None,
            kind: FileChangeKind::Modified,
            lines: LineCounts::Counted { added: 0, deleted: 0 },
            old: None,
            new: None,
        };
        let piece_text = |count: usize| {
            let hunks = vec![repeated_hunk("x", count, true)];
            let diff = FileDiff { hunks, old: vec![], new: vec![] };
            hunk_pieces(&file, &diff).remove(0).text
        };
        let at_limit = piece_text(MAX_FULL_DELETION_LINES);
        assert_eq!(at_limit.matches(" - x\n").count(), MAX_FULL_DELETION_LINES, "{at_limit}");
        let above = piece_text(MAX_FULL_DELETION_LINES + 1);
        assert!(above.contains("\ndeleted: 6 lines;") && !above.contains(" - x\n"), "{above}");
    }

    #[test]
    fn highlights_of_a_deletion_are_limited() {
        assert_eq!(MAX_DELETION_HIGHLIGHTS, 12);
        let summarize = |count: usize| {
            let text = summarize_deletion(&repeated_hunk("assert(x)", count, true), count);
            (text.matches(" - assert(x)\n").count(), text.contains("(and 1 more guard"))
        };
        assert_eq!(summarize(MAX_DELETION_HIGHLIGHTS), (MAX_DELETION_HIGHLIGHTS, false));
        assert_eq!(summarize(MAX_DELETION_HIGHLIGHTS + 1), (MAX_DELETION_HIGHLIGHTS, true));
    }
}
