//! Renders the hunks of a changed file as pieces to pack: long hunks in parts, long deletions as a
//! summary.
use super::file_kind::{self, FileKind};
use super::pack::{BriefPiece, BriefSection};
use super::{outline, risk, text_format};
use crate::repo::{ChangedFile, FileChangeKind, FileDiff, Hunk};
use std::fmt::Write;

/// Longer hunks are split into parts of [`HUNK_PART_LINES`].
const MAX_HUNK_LINES: usize = 120;
/// Lines of a part of a split hunk.
const HUNK_PART_LINES: usize = 60;
/// Deletions up to this many lines are shown in full.
const MAX_FULL_DELETION_LINES: usize = 5;
/// Limit on guards and signatures shown of a longer deletion.
const MAX_DELETION_HIGHLIGHTS: usize = 12;
/// Hunks of one document that keep their full value.
const FULL_VALUE_DOC_HUNKS: usize = 4;
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
    use crate::repo::{HunkLine, LineCounts};

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
