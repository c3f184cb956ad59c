//! Writes a review to the `--output` files, the CI job summary and stdout. `debate review` calls
//! `parse_outputs` before the review, so that a bad path costs nothing, and `write_review` after
//! it.
use super::args::DisplayArgs;
use super::exit::CliError;
use super::screen::Screen;
use crate::app::App;
use crate::config::CiContext;
use crate::report::sanitize::strip_control_chars;
use crate::review::Review;
use crate::review::output::{MAX_STEP_SUMMARY_BYTES, ReviewFormat, render_review, render_summary};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Output format and its file, `None` for stdout.
pub(super) struct OutputTarget {
    format: ReviewFormat,
    file: Option<PathBuf>,
}

impl OutputTarget {
    /// Path of the file with its folder resolved, if not stdout.
    pub(super) fn resolved_file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let folder = dunce::canonicalize(file.parent()?).ok()?;
        Some(folder.join(file.file_name()?))
    }
}

/// Parses `KIND=FILE` arguments and checks that every file is writable, before any cost.
pub(super) fn parse_outputs(
    args: &[String],
    folder: &Path,
    root: &Path,
) -> Result<Vec<OutputTarget>, CliError> {
    let mut outputs: Vec<OutputTarget> = vec![];
    for text in args {
        let usage_error = |message: String| {
            let hint = "write it as in `--output sarif=review.sarif`; `-` is stdout";
            CliError::Usage(format!("`--output {text}`: {message}"), hint.into())
        };
        let (kind, file) =
            text.split_once('=').ok_or_else(|| usage_error("there is no `=`".into()))?;
        let format: ReviewFormat = kind.trim().parse().map_err(usage_error)?;
        let file = match file.trim() {
            "" => return Err(usage_error("there is no file".into())),
            "-" => None,
            file => Some(folder.join(file)),
        };
        if outputs.iter().any(|other| other.file == file) {
            return Err(usage_error("something else goes there already".into()));
        }
        if let Some(file) = &file {
            let file_error = |error| CliError::File(file.display().to_string(), error);
            if is_redirected_by_link(root, file).map_err(file_error)? {
                return Err(usage_error("a symlink of the repository redirects it".into()));
            }
            check_writable(file).map_err(file_error)?;
        }
        outputs.push(OutputTarget { format, file });
    }
    Ok(outputs)
}

/// Whether a symlink inside the repository redirects the file. The author of the change controls
/// those links, so a path that leads into the repository must not lead out of it again.
fn is_redirected_by_link(root: &Path, file: &Path) -> io::Result<bool> {
    let root = dunce::canonicalize(root)?;
    let mut inside = false;
    let folders: Vec<&Path> = file.ancestors().skip(1).filter(|it| *it != Path::new("")).collect();
    for folder in folders.into_iter().rev() {
        let now_inside = dunce::canonicalize(folder)?.starts_with(&root);
        if inside && !now_inside {
            return Ok(true);
        }
        inside = now_inside;
    }
    Ok(inside && file.symlink_metadata().is_ok_and(|it| it.is_symlink()))
}

/// Checks that a file can be opened for writing, without changing it.
fn check_writable(file: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map(drop)
        }
        opened => opened.map(drop),
    }
}

/// Writes all outputs, appends the CI summary, and prints the review unless stdout is taken.
pub(super) fn write_review(
    review: &Review,
    outputs: &[OutputTarget],
    ci: &CiContext,
    display: DisplayArgs,
    (app, screen): (&App, &mut Screen),
) -> Result<(), CliError> {
    for OutputTarget { format, file } in outputs {
        let text = app.redact(&render_review(review, *format));
        tracing::debug!(format = ?format, bytes = text.len(), "review rendered");
        match file {
            Some(file) => {
                fs::write(file, &text)
                    .map_err(|error| CliError::File(file.display().to_string(), error))?;
            }
            None => screen.raw_stdout().write_all(text.as_bytes())?,
        }
    }
    if let Some(file) = &ci.summary_file {
        let text = app.redact(&render_summary(review, MAX_STEP_SUMMARY_BYTES));
        let opened = OpenOptions::new().append(true).create(true).open(file);
        // A failed CI summary must not fail the review.
        if let Err(error) = opened.and_then(|mut it| it.write_all(text.as_bytes())) {
            screen.warn(&format!("[WARN] No summary in `{}`: {error}", file.display()));
        }
    }
    let stdout_taken = outputs.iter().any(|output| output.file.is_none());
    if display.json && !stdout_taken {
        let text = app.redact(&render_review(review, ReviewFormat::Json));
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| CliError::Other(error.to_string()))?;
        return screen.print_json(&value);
    }
    if !stdout_taken {
        screen.print_sanitized(&strip_control_chars(&render_summary(
            review,
            MAX_STEP_SUMMARY_BYTES,
        )))?;
    }
    Ok(())
}
