//! `debate demo`: a scripted offline debate about the current repository. No request leaves the
//! machine, and all output is marked as a demo.
use super::args::{DemoArgs, DisplayArgs};
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::screen::Screen;
use super::workspace;
use crate::app::text_check::CitationCheckRequest;
use crate::app::{
    App, Cast, DebateContext, FixedSeating, Seating, StartPolicy, StartProgress, StartRequest,
};
use crate::config::Config;
use crate::debate::{CitationStatus, Participant};
use crate::engine::BriefReaders;
use crate::options::DebateOptions;
use std::fs;
use std::path::{Path, PathBuf};

/// Handler of `debate demo`.
pub(super) async fn demo(
    demo: &DemoArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let workspace = workspace::current_workspace(config);
    let context = app.read_context(&workspace.root, "", "none", BriefReaders::BriefOnly).await?;
    let facts =
        RepoFacts::scan(&workspace.root, |paths| citable_files(app, &workspace.root, paths));
    let participant = Participant::Model { tool: "demo".into(), model: None };
    let topic =
        format!("Should {} split its largest source file, {}?", facts.name, facts.largest.0);
    let context = DebateContext {
        brief: facts.to_brief(),
        pin: context.pinned.map(|pinned| pinned.tree),
        ..DebateContext::default()
    };
    let cast = Cast::solo(participant);
    let (options, policy) = (DebateOptions::default(), StartPolicy::unattended());
    let request = StartRequest {
        seating: Seating::Fixed(Box::new(FixedSeating { cast, context, check_available: true })),
        ..StartRequest::new(&topic, options, policy, config.current_dir.clone())
    };
    if facts.files == 0 {
        screen.note("[INFO] There is no source here, so the demo is about an imaginary README.md.");
    }
    screen.note("DEMO: scripted voices, no model is asked, nothing leaves this machine.");
    let job = app.start(request, &workspace, &StartProgress::discard()).await?.run;
    let display = DisplayArgs { follow: true, json: demo.display.json };
    let id = job.id().to_owned();
    let exit = DebatePlayer {
        config,
        app,
        assume_yes: true,
        display,
        print_summary: true,
        deadline: None,
        resume_hint: None,
    }
    .play(job, screen)
    .await?;
    app.archive().files.flush_exports();
    let stored = app.archive().events.read(&id).await?;
    for path in stored.record_path.iter().chain(stored.state_files.iter().map(|(path, _)| path)) {
        screen.note(&format!("[INFO] Written: {}", path.display()));
    }
    screen.note(&format!("[INFO] Look at it again: debate show {id}"));
    Ok(exit)
}

/// Facts about the repository, from which the scripted speeches are filled in.
struct RepoFacts {
    name: String,
    files: usize,
    largest: (String, usize),
    second: (String, usize),
    /// A unique line of the largest file, with its number, for a citation.
    quote: (usize, String),
}

/// Filters out files that citations cannot refer to, such as those Git ignores.
fn citable_files(app: &App, root: &Path, paths: &[&str]) -> Vec<String> {
    let text: Vec<String> = paths.iter().map(|path| format!("- `{path}:1`\n")).collect();
    let text = text.concat();
    let request =
        CitationCheckRequest { text: &text, base_folder: "", own_path: None, commit: None };
    let Ok((citations, _)) = app.check_citations(root, &request) else { return vec![] };
    let located =
        citations.into_iter().filter(|citation| citation.found == CitationStatus::Located);
    located.filter_map(|citation| citation.path).collect()
}

/// Maximum number of scanned files, so that the scan is fast in large repositories.
const MAX_FILES: usize = 4_000;
/// Maximum size of a scanned file in bytes.
const MAX_FILE_BYTES: u64 = 2_000_000;
/// Number of the largest files that are checked for being citable.
const MAX_CHECKED_FILES: usize = 20;
/// Minimum number of letters and digits in a quoted line.
const MIN_QUOTE_LETTERS: usize = 20;
/// Maximum length of a quoted line in bytes.
const MAX_QUOTE_BYTES: usize = 90;
/// Extensions of files that count as source.
const SOURCE_EXTENSIONS: &[&str] = &[
    "rs", "py", "ts", "tsx", "js", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs",
    "rb", "php", "swift", "scala", "ex", "hs", "ml", "lua", "sh", "sql", "zig", "md",
];
/// Names of folders that are not scanned.
const SKIPPED_FOLDERS: &[&str] =
    &["target", "node_modules", "vendor", "dist", "build", "third_party"];

impl RepoFacts {
    fn scan(root: &Path, find_citable: impl Fn(&[&str]) -> Vec<String>) -> RepoFacts {
        let mut sources: Vec<(String, usize)> = vec![];
        let mut folders = vec![root.to_owned()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            entries.sort();
            for path in entries {
                count += 1;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let is_skipped = name.starts_with('.') || SKIPPED_FOLDERS.contains(&name.as_str());
                let Ok(metadata) = path.symlink_metadata() else { continue };
                if count > MAX_FILES || is_skipped || metadata.is_symlink() {
                    continue;
                }
                if metadata.is_dir() {
                    folders.push(path);
                } else if metadata.len() <= MAX_FILE_BYTES
                    && let Some(lines) = count_source_lines(&path)
                {
                    let relative = path.strip_prefix(root).unwrap_or(&path);
                    sources.push((relative.display().to_string().replace('\\', "/"), lines));
                }
            }
        }
        // Markdown is used only if the repository has no code.
        let is_markdown = |(name, _): &(String, usize)| {
            Path::new(name).extension().is_some_and(|extension| extension == "md")
        };
        if !sources.iter().all(is_markdown) {
            sources.retain(|file| !is_markdown(file));
        }
        sources.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let largest: Vec<&str> =
            sources.iter().take(MAX_CHECKED_FILES).map(|(path, _)| path.as_str()).collect();
        let (files, citable) = (sources.len(), find_citable(&largest));
        if citable.len() > 1 {
            sources.retain(|(path, _)| citable.contains(path));
        }
        let nth = |nth: usize| {
            sources.get(nth).or(sources.first()).cloned().unwrap_or_else(|| ("README.md".into(), 1))
        };
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        RepoFacts {
            name: name.unwrap_or_else(|| "this folder".into()),
            files,
            quote: find_unique_line(&root.join(nth(0).0)),
            largest: nth(0),
            second: nth(1),
        }
    }

    fn to_brief(&self) -> String {
        let (line, quote) = &self.quote;
        format!(
            "name = {}\nfiles = {}\nlargest = {}\nlargest_lines = {}\nsecond = {}\n\
             second_lines = {}\nquote_line = {line}\nquote = {quote}",
            self.name, self.files, self.largest.0, self.largest.1, self.second.0, self.second.1
        )
    }
}

/// Finds a line that occurs once in the file and has enough letters to quote, with its number.
fn find_unique_line(path: &Path) -> (usize, String) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_quotable = |line: &str| {
        let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
        let is_special = |c: char| "\"\\`=<>".contains(c) || c.is_control() || !c.is_ascii();
        letters >= MIN_QUOTE_LETTERS && line.len() <= MAX_QUOTE_BYTES && !line.contains(is_special)
    };
    let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let found = lines.find(|(_, line)| is_quotable(line) && text.matches(line).count() == 1);
    found.map_or((1, String::new()), |(number, line)| (number, line.to_owned()))
}

/// Number of lines of a source file, or `None` for other files.
fn count_source_lines(path: &Path) -> Option<usize> {
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    if !SOURCE_EXTENSIONS.contains(&extension.as_str()) {
        return None;
    }
    fs::read_to_string(path).ok().map(|text| text.lines().count().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs::File;

    fn count_sources(root: &Path) -> usize {
        RepoFacts::scan(root, |_| vec![]).files
    }

    #[test]
    fn scanned_files_are_limited() {
        assert_eq!(MAX_FILES, 4_000);
        let folder = tempfile::tempdir().unwrap();
        for number in 1..MAX_FILES {
            File::create(folder.path().join(number.to_string())).unwrap();
        }
        // Sorted by name, this file is the last one.
        File::create(folder.path().join("source.rs")).unwrap();
        assert_eq!(count_sources(folder.path()), 1);
        File::create(folder.path().join("one more")).unwrap();
        assert_eq!(count_sources(folder.path()), 0);
    }

    #[test]
    fn large_file_is_not_scanned() {
        assert_eq!(MAX_FILE_BYTES, 2_000_000);
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join("source.rs")).unwrap();
        file.set_len(MAX_FILE_BYTES).unwrap();
        assert_eq!(count_sources(folder.path()), 1);
        file.set_len(MAX_FILE_BYTES + 1).unwrap();
        assert_eq!(count_sources(folder.path()), 0);
    }

    #[test]
    fn files_checked_for_being_citable_are_limited() {
        assert_eq!(MAX_CHECKED_FILES, 20);
        let folder = tempfile::tempdir().unwrap();
        let create_file = |number: usize| {
            File::create(folder.path().join(format!("{number}.rs"))).unwrap();
        };
        let count_checked = || {
            let checked = Cell::new(0);
            let facts = RepoFacts::scan(folder.path(), |paths| {
                checked.set(paths.len());
                vec![]
            });
            (facts.files, checked.get())
        };
        (0..MAX_CHECKED_FILES).for_each(create_file);
        assert_eq!(count_checked(), (MAX_CHECKED_FILES, MAX_CHECKED_FILES));
        create_file(MAX_CHECKED_FILES);
        assert_eq!(count_checked(), (MAX_CHECKED_FILES + 1, MAX_CHECKED_FILES));
    }
}
