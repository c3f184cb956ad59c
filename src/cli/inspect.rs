//! `debate brief`, `debate check` and `debate redact`: parts of a debate as separate tools. They
//! print the brief (repository context for the prompts), look up the citations of a text, or redact
//! its secrets. Entry points: the handlers `brief`, `check` and `redact`, called by `cli::run`.
use super::args::{BriefArgs, CheckArgs};
use super::exit::{CliError, Exit};
use super::limits::join_context;
use super::output::{BriefOutput, CheckOutput, CheckedCitation};
use super::screen::{BOLD, DIM, Screen};
use crate::app::text_check::CitationCheckRequest;
use crate::app::{App, AppError};
use crate::config::Config;
use crate::debate::{Citation, CitationStatus};
use crate::engine::{BriefReaders, ContextError, OmittedFile};
use crate::report::sanitize::{one_line, strip_control_chars};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Maximum number of omitted files listed on a terminal.
const MAX_LISTED_OMISSIONS: usize = 20;
/// Maximum size of a text to check, in bytes.
const MAX_TEXT_BYTES: u64 = 8 * 1024 * 1024;

/// Handler of `debate brief`.
pub(super) async fn brief(
    args: &BriefArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let mut context_items: Vec<String> = args.paths.clone();
    context_items.extend(args.diff.iter().map(|diff| match diff.as_str() {
        "" => "diff".to_owned(),
        selector => format!("diff={selector}"),
    }));
    context_items.extend(args.context.iter().cloned());
    if context_items.is_empty() {
        context_items.push("auto".into());
    }
    context_items.extend(args.budget.map(|tokens| format!("budget={tokens}")));
    let context_items = join_context(&context_items);
    let readers = if args.names { BriefReaders::ReadFiles } else { BriefReaders::BriefOnly };
    let topic = args.topic.as_deref().unwrap_or_default();
    let context = app.read_context(&config.repo_root, topic, &context_items, readers).await?;
    if let Some(reason) = &context.unreadable_reason {
        screen.warn(&format!("[WARN] {}", strip_control_chars(reason)));
    }
    let brief = context.brief;
    if args.json.json {
        let pinned = context.pinned.as_ref();
        screen.print_json(&BriefOutput {
            v: 1,
            text: brief.text,
            tokens: brief.tokens,
            picked: brief.picked,
            left_out: brief.left_out,
            touched: brief.touched_paths,
            changed: brief.changed_files,
            removed: brief.redacted,
            tree: pinned.map(|pinned| pinned.tree.clone()),
            commit: pinned.and_then(|pinned| pinned.commit.clone()),
            dirty: pinned.is_some_and(|pinned| pinned.dirty),
        })?;
        return Ok(Exit::Ok);
    }
    for line in &brief.picked {
        screen.note(&format!("[INFO] Given: {}", strip_control_chars(line)));
    }
    for line in omission_lines(&brief.left_out) {
        screen.note(&line);
    }
    if !brief.redacted.is_empty() {
        screen.warn(&format!("[WARN] Secrets taken out: {}", brief.redacted));
    }
    screen.note(&format!("[INFO] About {} tokens", brief.tokens));
    screen.print(&strip_control_chars(&brief.text))?;
    Ok(Exit::Ok)
}

/// Lines about omitted files, for a terminal.
fn omission_lines(left_out: &[OmittedFile]) -> Vec<String> {
    let line = |file: &OmittedFile| {
        let (path, reason) = (strip_control_chars(&file.path), strip_control_chars(&file.why));
        format!("[INFO] Left out: {path} ({reason})")
    };
    let mut lines: Vec<String> = left_out.iter().take(MAX_LISTED_OMISSIONS).map(line).collect();
    let more = left_out.len() - lines.len();
    if more > 0 {
        lines.push(format!("[INFO] Left out: {more} more, all of them with --json"));
    }
    lines
}

/// Handler of `debate check`.
pub(super) fn check(
    args: &CheckArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let (text, path) = read_text(&args.file, config)?;
    let subfolder = config.current_dir.strip_prefix(&config.repo_root).ok();
    let subfolder = subfolder
        .map(|subfolder| subfolder.to_string_lossy().replace('\\', "/"))
        .unwrap_or_default();
    let folder = if subfolder.is_empty() { subfolder } else { subfolder + "/" };
    let (path, commit) = (path.as_deref(), args.commit.as_deref());
    let request =
        CitationCheckRequest { text: &text, base_folder: &folder, own_path: path, commit };
    let result = app.check_citations(&config.repo_root, &request);
    let (citations, against) = result.map_err(|error| match error {
        AppError::Context(ContextError(message)) => {
            let hint =
                "run it in the repository the text is about; `--commit ID` names another state";
            CliError::Usage(message, hint.into())
        }
        error => error.into(),
    })?;
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for citation in &citations {
        *counts.entry(citation.found.as_str()).or_default() += 1;
    }
    let wrong = citations.iter().filter(|citation| citation.found.is_wrong()).count();
    if args.json.json {
        let citations = citations.into_iter().map(CheckedCitation::from).collect();
        screen.print_json(&CheckOutput { v: 1, citations, counts, against })?;
    } else {
        for citation in &citations {
            screen.print(&render_citation(citation))?;
        }
        let summary: Vec<String> = counts
            .iter()
            .map(|(word, many)| format!("{many} {}", word.replace('_', " ")))
            .collect();
        let summary = if summary.is_empty() { "none".into() } else { summary.join(", ") };
        screen.note(&format!("[INFO] Citations, looked up in {against}: {summary}"));
    }
    Ok(if wrong > 0 { Exit::Failure } else { Exit::Ok })
}

/// Reads the text, and its path in the repository if it is in one.
fn read_text(file: &Path, config: &Config) -> Result<(String, Option<String>), CliError> {
    let read_error = |error: std::io::Error| {
        let hint = "name a file, or `-` for stdin";
        CliError::Usage(format!("`{}` cannot be read: {error}", file.display()), hint.into())
    };
    if file == Path::new("-") {
        let bytes = read_limited(std::io::stdin()).map_err(read_error)?;
        return Ok((decode_text(&bytes)?, None));
    }
    let full_path = config.current_dir.join(file);
    let reader = std::fs::File::open(&full_path).map_err(read_error)?;
    let bytes = read_limited(reader).map_err(read_error)?;
    let full_path = dunce::canonicalize(full_path).map_err(read_error)?;
    let relative = full_path.strip_prefix(&config.repo_root).ok();
    let path = relative.map(|path| path.to_string_lossy().replace('\\', "/"));
    Ok((decode_text(&bytes)?, path))
}

/// Reads up to [`MAX_TEXT_BYTES`]. The rest is ignored.
fn read_limited(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![];
    reader.take(MAX_TEXT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Decodes UTF-8, or UTF-16 with a byte order mark. Binary data is an error.
fn decode_text(bytes: &[u8]) -> Result<String, CliError> {
    let decode_units = |from: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => Ok(String::from_utf16_lossy(&decode_units(u16::from_le_bytes))),
        [0xfe, 0xff, ..] => Ok(String::from_utf16_lossy(&decode_units(u16::from_be_bytes))),
        _ if bytes.contains(&0) => {
            Err(CliError::Usage("this is not text".into(), "give a text, such as a review".into()))
        }
        _ => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Renders a line such as `WRONG  src/a.rs:900  line out of range: the file has 120 lines`.
fn render_citation(citation: &Citation) -> String {
    let (mark, style) = match citation.found {
        found if found.is_wrong() => ("WRONG ", BOLD),
        found if found.is_verified() => ("ok    ", anstyle::Style::new()),
        CitationStatus::Ambiguous | CitationStatus::ElsewhereInRepo => ("?     ", BOLD),
        _ => ("-     ", DIM),
    };
    let (raw, description) = (one_line(&citation.raw), one_line(&citation.describe()));
    strip_control_chars(&format!("{mark} {raw}  "))
        + &format!("{style}{}{style:#}\n", strip_control_chars(&description))
}

/// Handler of `debate redact`.
pub(super) fn redact(app: &App, screen: &mut Screen) -> Result<Exit, CliError> {
    let redacted = app.redact_stream(std::io::stdin().lock(), screen.raw_stdout())?;
    let redacted = if redacted.is_empty() { "nothing".to_owned() } else { redacted };
    screen.note(&format!("[INFO] Redacted: {redacted}"));
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_to_check_is_cut() {
        assert_eq!(MAX_TEXT_BYTES, 8 * 1024 * 1024);
        let bytes_read = |bytes: u64| {
            let read = read_limited(std::io::repeat(b'x').take(bytes)).unwrap();
            read.len() as u64
        };
        assert_eq!(bytes_read(MAX_TEXT_BYTES), MAX_TEXT_BYTES);
        assert_eq!(bytes_read(MAX_TEXT_BYTES + 1), MAX_TEXT_BYTES);
    }

    #[test]
    fn omissions_listed_on_a_terminal_are_limited() {
        assert_eq!(MAX_LISTED_OMISSIONS, 20);
        let list = |count: usize| {
            omission_lines(&vec![OmittedFile { path: "a".into(), why: "is large".into() }; count])
        };
        let mut lines = list(MAX_LISTED_OMISSIONS);
        assert_eq!(lines, ["[INFO] Left out: a (is large)"; MAX_LISTED_OMISSIONS]);
        lines.push("[INFO] Left out: 1 more, all of them with --json".into());
        assert_eq!(list(MAX_LISTED_OMISSIONS + 1), lines);
    }
}
