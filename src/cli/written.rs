//! A review in its forms: in the files that were asked for, in the summary of a pipeline, and on
//! the screen.
use super::args::Shown;
use super::exit::Failed;
use super::screen::Screen;
use crate::config::Pipeline;
use crate::engine::Desk;
use crate::report::text::printable;
use crate::review::Review;
use crate::review::forms::{Form, STEP_SUMMARY, summary, write};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A form, and the file it goes to; none is stdout.
pub(super) struct Output {
    form: Form,
    file: Option<PathBuf>,
}

/// What was typed: `KIND=FILE`, any number of them. What cannot be written is found out before
/// anything is spent.
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
            straight(file, root).map_err(bad)?;
            draft(file).map_err(failed)?;
            // What an earlier review has left there is not taken for this one's.
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        outputs.push(Output { form, file });
    }
    Ok(outputs)
}

/// A file beside another one, to be moved into its place: a link that is there is replaced, and never
/// followed.
fn draft(file: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut making = tempfile::Builder::new();
    making.prefix(".debate-review-");
    #[cfg(unix)]
    making.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    making.tempfile_in(folder.unwrap_or(Path::new(".")))
}

fn put(file: &Path, text: &str) -> io::Result<()> {
    let mut made = draft(file)?;
    made.write_all(text.as_bytes())?;
    made.persist(file)?;
    Ok(())
}

/// Whether a path that begins in the repository also ends there: a folder in it may be a link that
/// somebody has committed.
fn straight(file: &Path, root: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(file);
    let real = dunce::canonicalize(folder).map_err(|error| error.to_string())?;
    let leads_out = folder.starts_with(root) && !real.starts_with(root);
    if leads_out {
        Err("its folder is a link that leads out of the repository".into())
    } else {
        Ok(())
    }
}

/// Writes all of them, and what people are to read at once.
pub(super) fn deliver(
    review: &Review,
    outputs: &[Output],
    pipeline: &Pipeline,
    shown: Shown,
    (desk, screen): (&Desk, &mut Screen),
) -> Result<(), Failed> {
    for Output { form, file } in outputs {
        let text = desk.clean(&write(review, *form));
        match file {
            Some(file) => {
                put(file, &text)
                    .map_err(|error| Failed::File(file.display().to_string(), error))?;
            }
            None => screen.raw().write_all(text.as_bytes())?,
        }
    }
    if let Some(file) = &pipeline.summary {
        let text = desk.clean(&summary(review, STEP_SUMMARY));
        let added = OpenOptions::new().append(true).create(true).open(file);
        // The review is worth more than its place in somebody's log.
        if let Err(error) = added.and_then(|mut it| it.write_all(text.as_bytes())) {
            screen.warn(&format!("[WARN] No summary in `{}`: {error}", file.display()));
        }
    }
    let taken = outputs.iter().any(|output| output.file.is_none());
    if shown.json && !taken {
        let text = desk.clean(&write(review, Form::Json));
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| Failed::Other(error.to_string()))?;
        return screen.json(&value);
    }
    if !taken {
        screen.say(&printable(&summary(review, STEP_SUMMARY)))?;
    }
    Ok(())
}
