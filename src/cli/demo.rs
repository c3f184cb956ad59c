//! `debate demo`: a scripted offline debate about the current repository. No request leaves the
//! machine, and all output is marked as a demo.
use super::args::{DemoArgs, DisplayArgs};
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::screen::Screen;
use super::workspace;
use crate::config::Config;
use crate::debate::{CitationStatus, Participant};
use crate::engine::text_check::CitationCheckRequest;
use crate::engine::{App, BriefReaders, DebateDraft};
use std::fs;
use std::path::{Path, PathBuf};

/// Handler of `debate demo`.
pub(super) async fn demo(
    demo: &DemoArgs,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let place = workspace::current_workspace(config);
    let ground = desk.read_context(&place.root, "", "none", BriefReaders::BriefOnly).await?;
    let facts = RepoFacts::scan(&place.root, |paths| citable_files(desk, &place.root, paths));
    let voice = Participant::Model { tool: "demo".into(), model: None };
    let topic =
        format!("Should {} split its largest source file, {}?", facts.name, facts.largest.0);
    let opening = DebateDraft {
        brief: facts.to_brief(),
        pin: ground.pinned.map(|pinned| pinned.tree),
        ..DebateDraft::new(&topic, voice.clone(), voice.clone(), voice)
    };
    if facts.files == 0 {
        screen.note("[INFO] There is no source here, so it speaks of an imagined README.md.");
    }
    screen.note("DEMO: scripted voices, no model is asked, nothing leaves this machine.");
    let job = desk.open(&opening, &place)?;
    let shown = DisplayArgs { follow: true, json: demo.display.json };
    let id = job.id().to_owned();
    let exit = DebatePlayer {
        config,
        app: desk,
        assume_yes: true,
        display: shown,
        print_summary: true,
        deadline: None,
        resume_hint: None,
    }
    .play(job, screen)
    .await?;
    desk.archive().flush_exports();
    let stored = desk.archive().read(&id)?;
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
fn citable_files(desk: &App, root: &Path, paths: &[&str]) -> Vec<String> {
    let text: Vec<String> = paths.iter().map(|path| format!("- `{path}:1`\n")).collect();
    let text = text.concat();
    let asked = CitationCheckRequest { text: &text, base_folder: "", own_path: None, commit: None };
    let Ok((citations, _)) = desk.check_citations(root, &asked) else { return vec![] };
    let there = citations.into_iter().filter(|citation| citation.found == CitationStatus::Located);
    there.filter_map(|citation| citation.path).collect()
}

/// Limits of the file scan, so that it is fast in large repositories.
const MAX_FILES: usize = 4_000;
const MAX_FILE_BYTES: u64 = 2_000_000;
const SOURCE_EXTENSIONS: &[&str] = &[
    "rs", "py", "ts", "tsx", "js", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs",
    "rb", "php", "swift", "scala", "ex", "hs", "ml", "lua", "sh", "sql", "zig", "md",
];
const SKIPPED_FOLDERS: &[&str] =
    &["target", "node_modules", "vendor", "dist", "build", "third_party"];

impl RepoFacts {
    fn scan(root: &Path, seen: impl Fn(&[&str]) -> Vec<String>) -> RepoFacts {
        let mut found: Vec<(String, usize)> = vec![];
        let mut folders = vec![root.to_owned()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            entries.sort();
            for path in entries {
                count += 1;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let hidden = name.starts_with('.') || SKIPPED_FOLDERS.contains(&name.as_str());
                let Ok(kind) = path.symlink_metadata() else { continue };
                if count > MAX_FILES || hidden || kind.is_symlink() {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.len() <= MAX_FILE_BYTES
                    && let Some(lines) = count_source_lines(&path)
                {
                    let inside = path.strip_prefix(root).unwrap_or(&path);
                    found.push((inside.display().to_string().replace('\\', "/"), lines));
                }
            }
        }
        // Markdown is used only if the repository has no code.
        let prose = |(name, _): &(String, usize)| {
            Path::new(name).extension().is_some_and(|extension| extension == "md")
        };
        if !found.iter().all(prose) {
            found.retain(|file| !prose(file));
        }
        found.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        let largest: Vec<&str> = found.iter().take(20).map(|(path, _)| path.as_str()).collect();
        let (files, known) = (found.len(), seen(&largest));
        if known.len() > 1 {
            found.retain(|(path, _)| known.contains(path));
        }
        let nth = |nth: usize| {
            found.get(nth).or(found.first()).cloned().unwrap_or_else(|| ("README.md".into(), 1))
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
            "name = {}\nfiles = {}\nlargest = {}\nlargest_lines = {}\nsecond = {}\nsecond_lines = {}\n\
             quote_line = {line}\nquote = {quote}",
            self.name, self.files, self.largest.0, self.largest.1, self.second.0, self.second.1
        )
    }
}

/// Finds a line that occurs once in the file and has enough letters to quote, with its number.
fn find_unique_line(path: &Path) -> (usize, String) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let plain = |line: &str| {
        let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
        let odd = |c: char| "\"\\`=<>".contains(c) || c.is_control() || !c.is_ascii();
        letters >= 20 && line.len() <= 90 && !line.contains(odd)
    };
    let mut lines = text.lines().enumerate().map(|(nth, line)| (nth + 1, line.trim()));
    let found = lines.find(|(_, line)| plain(line) && text.matches(line).count() == 1);
    found.map_or((1, String::new()), |(nth, line)| (nth, line.to_owned()))
}

/// Number of lines of a source file, or `None` for other files.
fn count_source_lines(path: &Path) -> Option<usize> {
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    if !SOURCE_EXTENSIONS.contains(&extension.as_str()) {
        return None;
    }
    fs::read_to_string(path).ok().map(|text| text.lines().count().max(1))
}
