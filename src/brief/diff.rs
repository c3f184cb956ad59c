//! Renders a diff: a list of all changed files with line counts, and the hunks as pieces to pack.
use super::file_kind::{self, FileKind, ListOnlyReason};
use super::pack::{BriefPiece, BriefSection};
use super::{BriefOmission, hunk_reader, outline, risk, text_format};
use crate::repo::{
    ChangedFile, ExclusionReason, FileChangeKind, FileDiff, Hunk, LineCounts, RenameSearch,
    TreeDiff, TreeReader, exclusion_reason,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longer hunks are split into parts of `HUNK_PART_LINES` lines.
const MAX_HUNK_LINES: usize = 120;
const HUNK_PART_LINES: usize = 60;
/// Deletions up to this many lines are shown in full.
const MAX_FULL_DELETION_LINES: usize = 5;
/// Limit on guards and signatures shown of a longer deletion.
const MAX_DELETION_HIGHLIGHTS: usize = 12;
/// Hunks are read up to this multiple of the token budget, so that packing has a choice.
const READ_FACTOR: usize = 8;

/// A second thread is used from `PARALLEL_THRESHOLD` files on. After each batch of `BATCH_FILES`
/// files the read limit is checked.
const PARALLEL_THRESHOLD: usize = 32;
const BATCH_FILES: usize = 64;

/// The parts of a brief that come from a diff.
pub(super) struct DiffSection {
    /// List of changed files, which is always shown.
    pub(super) file_list: String,
    pub(super) pieces: Vec<BriefPiece>,
    pub(super) left_out: Vec<BriefOmission>,
}

/// Reads a diff for a brief of `room` tokens. `again` opens a second reader. With `believed`, a
/// generated-code marker in the new version of a file is trusted.
pub(super) fn build_diff_section(
    changes: &TreeDiff,
    reader: Option<&TreeReader>,
    again: &dyn Fn() -> Option<TreeReader>,
    room: usize,
    believed: bool,
) -> DiffSection {
    let mut review = DiffSection { file_list: String::new(), pieces: vec![], left_out: vec![] };
    review.write_file_list(changes, room / 2);
    let mut order: Vec<&ChangedFile> = changes.files.iter().collect();
    let size =
        |file: &ChangedFile| file.line_counts().map_or(usize::MAX, |(added, gone)| added + gone);
    order.sort_by_cached_key(|file| {
        (file_kind::classify(&file.path), !file_kind::is_build_file(&file.path), size(file))
    });
    let mut other = if order.len() >= PARALLEL_THRESHOLD { again() } else { None };
    let mut read = 0;
    for portion in order.chunks(BATCH_FILES) {
        // Beyond the read limit files are not read: there may be thousands.
        let looked = match reader.filter(|_| read <= room * READ_FACTOR) {
            Some(reader) => hunk_reader::read_hunks(portion, reader, other.as_mut(), believed),
            None => portion.iter().map(|file| hunk_reader::unread_file(file)).collect(),
        };
        for (file, looked) in portion.iter().zip(looked) {
            let full = read > room * READ_FACTOR;
            let why = match looked {
                _ if full => {
                    Some(file_kind_text(file).unwrap_or("was not read: there is no room for it"))
                }
                Ok(pieces) => {
                    read += pieces.iter().map(|piece| piece.text.len() / 4).sum::<usize>();
                    review.pieces.extend(pieces);
                    None
                }
                Err(why) => Some(why),
            };
            let omitted =
                |why: &str| BriefOmission { path: file.path.clone(), reason: why.to_owned() };
            review.left_out.extend(why.map(omitted));
        }
    }
    review
}

/// Why a changed file is only listed, if so.
pub(super) fn list_only_text(file: &ChangedFile) -> Option<&'static str> {
    let nothing = file.line_counts() == Some((0, 0));
    let says = match exclusion_reason(file.path.as_bytes()) {
        Some(why) => why.describe(),
        _ if file.lines == LineCounts::Binary => ExclusionReason::Binary.describe(),
        _ if nothing && file.kind == FileChangeKind::Renamed => "was only renamed",
        _ if nothing && file.kind == FileChangeKind::Modified => "has other permissions only",
        _ if nothing => "is empty",
        _ => file_kind_text(file)?,
    };
    Some(says)
}

fn file_kind_text(file: &ChangedFile) -> Option<&'static str> {
    file_kind::list_only_reason(&file.path).map(ListOnlyReason::describe)
}

impl DiffSection {
    /// Lists all changed files with line counts. If that exceeds `room` tokens, the most
    /// informative kinds are listed by name and the rest is summed up by folder.
    fn write_file_list(&mut self, changes: &TreeDiff, room: usize) {
        let (mut added, mut deleted) = (0, 0);
        for (more, less) in changes.files.iter().filter_map(ChangedFile::line_counts) {
            (added, deleted) = (added + more, deleted + less);
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
        let mut named = vec![true; rows.len()];
        if costs.iter().sum::<usize>() > room {
            named.fill(false);
            let mut left = room.saturating_sub(room / 4);
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_cached_key(|at| {
                (file_kind::classify(&changes.files[*at].path), costs[*at], *at)
            });
            for at in order {
                if costs[at] > left {
                    break;
                }
                (named[at], left) = (true, left - costs[at]);
            }
        }
        let mut folded: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
        for ((file, row), named) in changes.files.iter().zip(&rows).zip(named) {
            if named {
                self.file_list.push_str(row);
                continue;
            }
            let sum = folded.entry(top_folders(&file.path)).or_default();
            let (more, less) = file.line_counts().unwrap_or_default();
            *sum = (sum.0 + 1, sum.1 + more, sum.2 + less);
            let why = "is not named in the list, for want of room".to_owned();
            self.left_out.push(BriefOmission { path: file.path.clone(), reason: why });
        }
        self.write_folder_totals(folded, room / 4);
    }

    fn write_folder_totals(
        &mut self,
        folded: BTreeMap<String, (usize, usize, usize)>,
        room: usize,
    ) {
        if folded.is_empty() {
            return;
        }
        self.file_list.push_str("and, summed up by folder for want of room:\n");
        let mut left = room.saturating_sub(40);
        let mut folded: Vec<_> = folded.into_iter().collect();
        folded.sort_by_key(|(_, (files, ..))| usize::MAX - files);
        let all = folded.len();
        for (nth, (folder, (files, added, deleted))) in folded.into_iter().enumerate() {
            let files = text_format::pluralize(files, "file", "files");
            let row =
                format!("  {} {files}, +{added} -{deleted}\n", text_format::sanitize_line(&folder));
            let cost = text_format::estimate_tokens(&row);
            if cost > left {
                let more = text_format::pluralize(all - nth, "more folder", "more folders");
                let _ = writeln!(self.file_list, "  and {more}");
                return;
            }
            left -= cost;
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
        LineCounts::Unknown(why) => why.describe().to_owned(),
    };
    let path = text_format::sanitize_line(&file.path);
    let from =
        file.old_path.as_deref().map(|from| format!("{} => ", text_format::sanitize_line(from)));
    let note = match file.new.as_ref().or(file.old.as_ref()).and_then(|file| file.exclusion) {
        Some(why) => format!(" ({})", why.describe()),
        None => file_kind::list_only_reason(&file.path)
            .map(|dull| format!(" ({})", dull.describe()))
            .unwrap_or_default(),
    };
    format!("{} {counts:<9} {}{path}{note}\n", file.kind.letter(), from.unwrap_or_default())
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
        let at = first.and_then(|line| {
            if file.kind == FileChangeKind::Deleted { line.old_number } else { line.new_number }
        });
        let at = at.unwrap_or(hunk.new_range.0);
        let within = outline::enclosing_definition(&lines, at)
            .map(|line| format!(" {}", text_format::truncate_line(line)));
        let head = format!(
            "`{}` {}{}",
            text_format::sanitize_line(&file.path),
            hunk.header(),
            within.unwrap_or_default()
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
        pieces.iter_mut().skip(4).for_each(|piece| piece.value /= 2);
    }
    pieces
}

fn count_marked(hunk: &Hunk, mark: char) -> usize {
    hunk.lines.iter().filter(|line| line.marker() == mark).count()
}

fn render_hunk(hunk: &Hunk) -> String {
    // Show line endings if that is all that differs.
    let ends = |mark: char| {
        let mut lines = hunk.lines.iter().filter(move |line| line.marker() == mark);
        lines.any(|line| line.text.ends_with('\r'))
    };
    let differ = ends('-') != ends('+');
    hunk.lines.iter().map(|line| render_hunk_line(line, differ)).collect()
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
fn summarize_deletion(hunk: &Hunk, many: usize) -> String {
    let mut gone = hunk.lines.iter().filter(|line| line.marker() == '-');
    let began = gone.clone().find(|line| !line.text.trim().is_empty());
    let began = began
        .map(|line| text_format::truncate_line(line.text.trim()).into_owned())
        .unwrap_or_default();
    let mut text = format!("deleted: {many} lines; it began with `{began}`\n");
    let kept: Vec<_> = gone
        .by_ref()
        .filter(|line| outline::is_guard(&line.text) || outline::is_signature(&line.text))
        .collect();
    kept.iter()
        .take(MAX_DELETION_HIGHLIGHTS)
        .for_each(|line| text.push_str(&render_hunk_line(line, false)));
    if kept.len() > MAX_DELETION_HIGHLIGHTS {
        let more = text_format::pluralize(
            kept.len() - MAX_DELETION_HIGHLIGHTS,
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
