//! Line diff of one changed file as hunks. Built from what a `TreeReader` returns, so secrets are
//! redacted here, too.
use super::tree_view::LoadedFile;
use super::{ChangedFile, ExclusionReason, TreeFile, TreeReader, numstat};
use git2::{DiffOptions, Patch};

/// Unchanged lines shown before and after the changes of a hunk.
const CONTEXT_LINES: u32 = 3;

/// Diff of one file.
#[derive(Debug, Clone)]
pub struct FileDiff {
    /// Hunks in file order.
    pub hunks: Vec<Hunk>,
    /// Old contents, redacted. Empty if the file was added.
    pub old: Vec<u8>,
    /// New contents, redacted. Empty if the file was deleted.
    pub new: Vec<u8>,
}

/// A hunk: changed lines with up to 3 lines of context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line and number of lines in the old file.
    pub old_range: (usize, usize),
    /// First line and number of lines in the new file.
    pub new_range: (usize, usize),
    /// Lines of the hunk, with context.
    pub lines: Vec<HunkLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// Line number in the old file. None if added.
    pub old_number: Option<usize>,
    /// Line number in the new file. None if deleted.
    pub new_number: Option<usize>,
    /// Text without the newline.
    pub text: String,
}

impl HunkLine {
    /// Diff marker: `+`, `-`, or a space for context.
    pub fn marker(&self) -> char {
        match (self.old_number, self.new_number) {
            (None, _) => '+',
            (_, None) => '-',
            _ => ' ',
        }
    }
}

impl Hunk {
    /// Hunk header as git writes it: `@@ -1,4 +1,6 @@`.
    pub fn header(&self) -> String {
        let format_range = |(first, count): (usize, usize)| {
            if count == 1 { first.to_string() } else { format!("{first},{count}") }
        };
        format!("@@ -{} +{} @@", format_range(self.old_range), format_range(self.new_range))
    }
}

impl TreeReader {
    /// Computes the diff of a changed file, or returns the reason why it cannot be read.
    pub fn diff_file(&self, changed: &ChangedFile) -> Result<FileDiff, ExclusionReason> {
        let load_side =
            |file: &Option<TreeFile>| file.as_ref().map(|file| self.load(file)).transpose();
        let (old_file, new_file) = (load_side(&changed.old)?, load_side(&changed.new)?);
        let old = old_file.as_ref().map_or(&[][..], LoadedFile::bytes);
        let new = new_file.as_ref().map_or(&[][..], LoadedFile::bytes);
        if numstat::is_binary(old) || numstat::is_binary(new) {
            return Err(ExclusionReason::Binary);
        }
        let mut options = DiffOptions::new();
        options.context_lines(CONTEXT_LINES).force_text(true).indent_heuristic(true);
        let patch = match (&old_file, &new_file) {
            (
                Some(LoadedFile { blob: old, redacted: None }),
                Some(LoadedFile { blob: new, redacted: None }),
            ) => numstat::diff_blobs(old, new, &mut options),
            _ => Patch::from_buffers(old, None, new, None, Some(&mut options)),
        };
        let patch = patch.map_err(|_| ExclusionReason::Unreadable)?;
        let hunks =
            (0..patch.num_hunks()).map(|index| build_hunk(&patch, index)).collect::<Option<_>>();
        let hunks = hunks.ok_or(ExclusionReason::Unreadable)?;
        Ok(FileDiff { hunks, old: old.to_owned(), new: new.to_owned() })
    }
}

/// Maps a line number of an old text to the new text. A deleted line maps to the line that follows
/// it now. None if the new text is empty.
pub fn map_line_to_new(old: &[u8], new: &[u8], line: u32) -> Option<u32> {
    let line_count = u32::try_from(new.split_inclusive(|byte| *byte == b'\n').count()).ok()?;
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).ok()?;
    let mut new_line = i64::from(line);
    for index in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(index).ok()?;
        // For an empty side git gives the line before the hunk.
        let first = hunk.old_start() + u32::from(hunk.old_lines() == 0);
        if line < first {
            break;
        }
        if line < first + hunk.old_lines() {
            new_line = i64::from(hunk.new_start() + u32::from(hunk.new_lines() == 0));
            break;
        }
        new_line += i64::from(hunk.new_lines()) - i64::from(hunk.old_lines());
    }
    let new_line = u32::try_from(new_line).unwrap_or(1).clamp(1, line_count.max(1));
    (line_count > 0).then_some(new_line)
}

fn build_hunk(patch: &Patch<'_>, index: usize) -> Option<Hunk> {
    let (hunk, line_count) = patch.hunk(index).ok()?;
    let mut lines = vec![];
    for line_index in 0..line_count {
        let line = patch.line_in_hunk(index, line_index).ok()?;
        // Git's "no newline at end of file" is not a line.
        if !matches!(line.origin(), ' ' | '+' | '-') {
            continue;
        }
        let text = line.content();
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let number = |line: Option<u32>| line.map(|line| line as usize);
        lines.push(HunkLine {
            old_number: number(line.old_lineno()),
            new_number: number(line.new_lineno()),
            text: String::from_utf8_lossy(text).into_owned(),
        });
    }
    let to_range = |first: u32, line_count: u32| (first as usize, line_count as usize);
    Some(Hunk {
        old_range: to_range(hunk.old_start(), hunk.old_lines()),
        new_range: to_range(hunk.new_start(), hunk.new_lines()),
        lines,
    })
}
