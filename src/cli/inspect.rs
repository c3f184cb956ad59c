//! `debate brief`, `debate check` and `debate redact`: parts of a debate as separate tools.
use super::args::{BriefArgs, CheckArgs};
use super::exit::{CliError, Exit};
use super::output::{BriefOutput, CheckOutput, CheckedCitation};
use super::run::join_context;
use super::screen::{BOLD, DIM, Screen};
use crate::config::Config;
use crate::debate::{Citation, CitationStatus};
use crate::engine::text_check::CitationCheckRequest;
use crate::engine::{App, AppError, BriefReaders, ContextError};
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
    asked: &BriefArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let mut wanted: Vec<String> = asked.paths.clone();
    wanted.extend(asked.diff.iter().map(|diff| match diff.as_str() {
        "" => "diff".to_owned(),
        named => format!("diff={named}"),
    }));
    wanted.extend(asked.context.iter().cloned());
    if wanted.is_empty() {
        wanted.push("auto".into());
    }
    wanted.extend(asked.budget.map(|tokens| format!("budget={tokens}")));
    let wanted = join_context(&wanted);
    let readers = if asked.names { BriefReaders::ReadFiles } else { BriefReaders::BriefOnly };
    let topic = asked.topic.as_deref().unwrap_or_default();
    let ground = desk.read_context(&config.repo_root, topic, &wanted, readers).await?;
    if let Some(why) = &ground.unreadable_reason {
        screen.warn(&format!("[WARN] {}", strip_control_chars(why)));
    }
    let gathered = ground.brief;
    if asked.json.json {
        let pinned = ground.pinned.as_ref();
        screen.print_json(&BriefOutput {
            v: 1,
            text: gathered.text,
            tokens: gathered.tokens,
            picked: gathered.picked,
            left_out: gathered.left_out,
            touched: gathered.touched_paths,
            changed: gathered.changed_files,
            removed: gathered.redacted,
            tree: pinned.map(|pinned| pinned.tree.clone()),
            commit: pinned.and_then(|pinned| pinned.commit.clone()),
            dirty: pinned.is_some_and(|pinned| pinned.dirty),
        })?;
        return Ok(Exit::Ok);
    }
    for line in &gathered.picked {
        screen.note(&format!("[INFO] Given: {}", strip_control_chars(line)));
    }
    for it in gathered.left_out.iter().take(MAX_LISTED_OMISSIONS) {
        screen.note(&format!(
            "[INFO] Left out: {} ({})",
            strip_control_chars(&it.path),
            strip_control_chars(&it.why)
        ));
    }
    if let Some(more) =
        gathered.left_out.len().checked_sub(MAX_LISTED_OMISSIONS).filter(|more| *more > 0)
    {
        screen.note(&format!("[INFO] Left out: {more} more, all of them with --json"));
    }
    if !gathered.redacted.is_empty() {
        screen.warn(&format!("[WARN] Secrets taken out: {}", gathered.redacted));
    }
    screen.note(&format!("[INFO] About {} tokens", gathered.tokens));
    screen.print(&strip_control_chars(&gathered.text))?;
    Ok(Exit::Ok)
}

/// Handler of `debate check`.
pub(super) fn check(
    asked: &CheckArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let (text, path) = read_text(&asked.file, config)?;
    let below = config.current_dir.strip_prefix(&config.repo_root).ok();
    let below = below.map(|below| below.to_string_lossy().replace('\\', "/")).unwrap_or_default();
    let folder = if below.is_empty() { below } else { below + "/" };
    let (path, commit) = (path.as_deref(), asked.commit.as_deref());
    let questioned =
        CitationCheckRequest { text: &text, base_folder: &folder, own_path: path, commit };
    let looked_up = desk.check_citations(&config.repo_root, &questioned);
    let (citations, against) = looked_up.map_err(|error| match error {
        AppError::Context(ContextError(why)) => {
            let hint =
                "run it in the repository the text is about; `--commit ID` names another state";
            CliError::Usage(why, hint.into())
        }
        error => error.into(),
    })?;
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for citation in &citations {
        *counts.entry(citation.found.as_str()).or_default() += 1;
    }
    let wrong = citations.iter().filter(|citation| citation.found.is_wrong()).count();
    if asked.json.json {
        let citations = citations.into_iter().map(CheckedCitation::from).collect();
        screen.print_json(&CheckOutput { v: 1, citations, counts, against })?;
    } else {
        for citation in &citations {
            screen.print(&render_citation(citation))?;
        }
        let counted: Vec<String> = counts
            .iter()
            .map(|(word, many)| format!("{many} {}", word.replace('_', " ")))
            .collect();
        let counted = if counted.is_empty() { "none".into() } else { counted.join(", ") };
        screen.note(&format!("[INFO] Citations, looked up in {against}: {counted}"));
    }
    Ok(if wrong > 0 { Exit::Failure } else { Exit::Ok })
}

/// Reads the text, and its path in the repository if it is in one.
fn read_text(file: &Path, config: &Config) -> Result<(String, Option<String>), CliError> {
    let unread = |error: std::io::Error| {
        let hint = "name a file, or `-` for what comes on stdin";
        CliError::Usage(format!("`{}` cannot be read: {error}", file.display()), hint.into())
    };
    let mut bytes = vec![];
    if file == Path::new("-") {
        std::io::stdin().take(MAX_TEXT_BYTES).read_to_end(&mut bytes).map_err(unread)?;
        return Ok((decode_text(&bytes)?, None));
    }
    let whole = config.current_dir.join(file);
    let open = std::fs::File::open(&whole).map_err(unread)?;
    open.take(MAX_TEXT_BYTES).read_to_end(&mut bytes).map_err(unread)?;
    let whole = dunce::canonicalize(whole).map_err(unread)?;
    let inside = whole.strip_prefix(&config.repo_root).ok();
    let path = inside.map(|path| path.to_string_lossy().replace('\\', "/"));
    Ok((decode_text(&bytes)?, path))
}

/// Decodes UTF-8, or UTF-16 with a byte order mark. Binary data is an error.
fn decode_text(bytes: &[u8]) -> Result<String, CliError> {
    let wide = |from: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => Ok(String::from_utf16_lossy(&wide(u16::from_le_bytes))),
        [0xfe, 0xff, ..] => Ok(String::from_utf16_lossy(&wide(u16::from_be_bytes))),
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
    let (raw, says) = (one_line(&citation.raw), one_line(&citation.describe()));
    strip_control_chars(&format!("{mark} {raw}  "))
        + &format!("{style}{}{style:#}\n", strip_control_chars(&says))
}

/// Handler of `debate redact`.
pub(super) fn redact(desk: &App, screen: &mut Screen) -> Result<Exit, CliError> {
    let removed = desk.redact_stream(std::io::stdin().lock(), screen.raw_stdout())?;
    let removed = if removed.is_empty() { "nothing".to_owned() } else { removed };
    screen.note(&format!("[INFO] Taken out: {removed}"));
    Ok(Exit::Ok)
}
