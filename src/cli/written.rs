//! Writes a review to the `--output` files, the CI job summary and stdout.
use super::args::Shown;
use super::exit::Failed;
use super::screen::Screen;
use crate::config::Pipeline;
use crate::engine::App;
use crate::report::text::printable;
use crate::review::Review;
use crate::review::forms::{Form, STEP_SUMMARY, summary, write};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Output format and its file, `None` for stdout.
pub(super) struct Output {
    form: Form,
    file: Option<PathBuf>,
}

impl Output {
    /// Path of the file with its folder resolved, if not stdout.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let folder = dunce::canonicalize(file.parent()?).ok()?;
        Some(folder.join(file.file_name()?))
    }
}

/// Parses `KIND=FILE` arguments and checks that every file is writable, before any cost.
pub(super) fn outputs(typed: &[String], folder: &Path, root: &Path) -> Result<Vec<Output>, Failed> {
    let mut outputs: Vec<Output> = vec![];
    for text in typed {
        let bad = |why: String| {
            let hint = "write it as in `--output sarif=review.sarif`; `-` is stdout";
            Failed::Usage(format!("`--output {text}`: {why}"), hint.into())
        };
        let (kind, file) = text.split_once('=').ok_or_else(|| bad("there is no `=`".into()))?;
        let form: Form = kind.trim().parse().map_err(bad)?;
        let file = match file.trim() {
            "" => return Err(bad("there is no file".into())),
            "-" => None,
            file => Some(folder.join(file)),
        };
        if outputs.iter().any(|other| other.file == file) {
            return Err(bad("something else goes there already".into()));
        }
        if let Some(file) = &file {
            let failed = |error| Failed::File(file.display().to_string(), error);
            if linked(root, file).map_err(failed)? {
                return Err(bad("a link of the repository stands there".into()));
            }
            writable(file).map_err(failed)?;
        }
        outputs.push(Output { form, file });
    }
    Ok(outputs)
}

/// Whether a symlink inside the repository redirects the file. The author of the change controls
/// those links, so a path that leads into the repository must not lead out of it again.
fn linked(root: &Path, file: &Path) -> io::Result<bool> {
    let root = dunce::canonicalize(root)?;
    let mut inside = false;
    let folders: Vec<&Path> = file.ancestors().skip(1).filter(|it| *it != Path::new("")).collect();
    for folder in folders.into_iter().rev() {
        let here = dunce::canonicalize(folder)?.starts_with(&root);
        if inside && !here {
            return Ok(true);
        }
        inside = here;
    }
    Ok(inside && file.symlink_metadata().is_ok_and(|it| it.is_symlink()))
}

/// Checks that a file can be opened for writing, without changing it.
fn writable(file: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map(drop)
        }
        opened => opened.map(drop),
    }
}

/// Writes all outputs, appends the CI summary, and prints the review unless stdout is taken.
pub(super) fn deliver(
    review: &Review,
    outputs: &[Output],
    pipeline: &Pipeline,
    shown: Shown,
    (desk, screen): (&App, &mut Screen),
) -> Result<(), Failed> {
    for Output { form, file } in outputs {
        let text = desk.redact(&write(review, *form));
        match file {
            Some(file) => {
                fs::write(file, &text)
                    .map_err(|error| Failed::File(file.display().to_string(), error))?;
            }
            None => screen.raw().write_all(text.as_bytes())?,
        }
    }
    if let Some(file) = &pipeline.summary {
        let text = desk.redact(&summary(review, STEP_SUMMARY));
        let added = OpenOptions::new().append(true).create(true).open(file);
        // A failed CI summary must not fail the review.
        if let Err(error) = added.and_then(|mut it| it.write_all(text.as_bytes())) {
            screen.warn(&format!("[WARN] No summary in `{}`: {error}", file.display()));
        }
    }
    let taken = outputs.iter().any(|output| output.file.is_none());
    if shown.json && !taken {
        let text = desk.redact(&write(review, Form::Json));
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| Failed::Other(error.to_string()))?;
        return screen.json(&value);
    }
    if !taken {
        screen.say(&printable(&summary(review, STEP_SUMMARY)))?;
    }
    Ok(())
}
