//! A whole debate offline, about the repository the program stands in. It says that it is a demo
//! wherever it is shown.
use super::args::{Demo, Shown};
use super::exit::{Exit, Failed};
use super::place;
use super::play::Play;
use super::screen::Screen;
use crate::config::Config;
use crate::debate::Voice;
use crate::engine::{Desk, Opening};
use std::fs;
use std::path::{Path, PathBuf};

/// `debate demo`
pub(super) async fn demo(
    demo: &Demo,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let place = place::here(config);
    let facts = Facts::of(&place.root);
    let voice = Voice::Model { tool: "demo".into(), model: None };
    let topic =
        format!("Should {} split its largest source file, {}?", facts.name, facts.largest.0);
    let opening = Opening {
        brief: facts.brief(),
        ..Opening::new(&topic, voice.clone(), voice.clone(), voice)
    };
    screen.note("DEMO: scripted voices, no model is asked, nothing leaves this machine.");
    let job = desk.open(&opening, &place)?;
    let shown = Shown { follow: true, json: demo.shown.json };
    let id = job.id().to_owned();
    let exit = Play { config, desk, yes: true, shown, summary: true }.play(job, screen).await?;
    desk.archive().flush();
    let stored = desk.archive().read(&id)?;
    for path in stored.record.iter().chain(stored.state_files.iter().map(|(path, _)| path)) {
        screen.note(&format!("[INFO] Written: {}", path.display()));
    }
    screen.note(&format!("[INFO] Look at it again: debate show {id}"));
    Ok(exit)
}

/// What the demo speaks of.
struct Facts {
    name: String,
    files: usize,
    largest: (String, usize),
    second: (String, usize),
}

/// Enough to find something to talk about in a large repository, and quick.
const MOST_FILES: usize = 4_000;
const MOST_BYTES: u64 = 2_000_000;
const SOURCE: &[&str] = &[
    "rs", "py", "ts", "tsx", "js", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs",
    "rb", "php", "swift", "scala", "ex", "hs", "ml", "lua", "sh", "sql", "zig", "md",
];
const SKIPPED: &[&str] = &["target", "node_modules", "vendor", "dist", "build", "third_party"];

impl Facts {
    fn of(root: &Path) -> Facts {
        let mut found: Vec<(String, usize)> = vec![];
        let mut folders = vec![root.to_owned()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            entries.sort();
            for path in entries {
                seen += 1;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let hidden = name.starts_with('.') || SKIPPED.contains(&name.as_str());
                let Ok(kind) = path.symlink_metadata() else { continue };
                if seen > MOST_FILES || hidden || kind.is_symlink() {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.len() <= MOST_BYTES
                    && let Some(lines) = source_lines(&path)
                {
                    let inside = path.strip_prefix(root).unwrap_or(&path);
                    found.push((inside.display().to_string(), lines));
                }
            }
        }
        // Prose is spoken of only where there is no code.
        let prose = |(name, _): &(String, usize)| {
            Path::new(name).extension().is_some_and(|extension| extension == "md")
        };
        if !found.iter().all(prose) {
            found.retain(|file| !prose(file));
        }
        found.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        let nth = |nth: usize| {
            found.get(nth).or(found.first()).cloned().unwrap_or_else(|| ("README.md".into(), 1))
        };
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        Facts {
            name: name.unwrap_or_else(|| "this folder".into()),
            files: found.len(),
            largest: nth(0),
            second: nth(1),
        }
    }

    fn brief(&self) -> String {
        format!(
            "name = {}\nfiles = {}\nlargest = {}\nlargest_lines = {}\nsecond = {}\nsecond_lines = {}",
            self.name, self.files, self.largest.0, self.largest.1, self.second.0, self.second.1
        )
    }
}

/// How many lines a source file has; none if it is no source.
fn source_lines(path: &Path) -> Option<usize> {
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    if !SOURCE.contains(&extension.as_str()) {
        return None;
    }
    fs::read_to_string(path).ok().map(|text| text.lines().count().max(1))
}
