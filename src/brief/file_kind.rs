//! Classifies files by path and header. The kind decides the reading order, and whether a file is
//! only listed: lock files, generated and vendored code.
use crate::engine::SkipReason;
use crate::repo::{ExclusionReason, exclusion_reason};

/// Kind of a file, the most informative first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileKind {
    Source,
    Test,
    Config,
    Docs,
    Generated,
}

/// Why a file is only listed, unless the user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListOnlyReason {
    LockFile,
    Generated,
    Vendored,
}

const LOCK_FILES: &[&str] = &[
    "cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "pipfile.lock",
    "go.sum",
    "go.work.sum",
    "gemfile.lock",
    "composer.lock",
    "mix.lock",
    "pubspec.lock",
    "podfile.lock",
    "packages.lock.json",
    "flake.lock",
    "gradle.lockfile",
    ".terraform.lock.hcl",
];

const VENDORED_FOLDERS: &[&str] = &[
    "vendor",
    "node_modules",
    "bower_components",
    "third_party",
    "third-party",
    "dist",
    "pods",
    ".yarn",
];

const GENERATED_SUFFIXES: &[&str] = &[
    ".min.js",
    ".min.css",
    ".min.mjs",
    ".bundle.js",
    ".js.map",
    ".css.map",
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    "_pb2.py",
    "_pb2_grpc.py",
    ".g.dart",
    ".freezed.dart",
    ".designer.cs",
    ".snap",
    ".g.cs",
];

const MANIFEST_FILES: &[&str] = &[
    "cargo.toml",
    "package.json",
    "go.mod",
    "pyproject.toml",
    "pom.xml",
    "gemfile",
    "composer.json",
    "mix.exs",
    "cmakelists.txt",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

const DOC_EXTENSIONS: &[&str] =
    &["md", "markdown", "mdx", "rst", "adoc", "asciidoc", "txt", "org", "tex"];

const CONFIG_EXTENSIONS: &[&str] = &[
    "toml",
    "yaml",
    "yml",
    "json",
    "json5",
    "jsonc",
    "ini",
    "cfg",
    "conf",
    "xml",
    "properties",
    "lock",
    "gradle",
    "csproj",
    "sln",
    "plist",
    "env",
    "editorconfig",
    "gitignore",
    "csv",
    "svg",
];

/// Folders that hold decision records.
const DECISION_FOLDERS: &[&str] =
    &["adr", "adrs", "decisions", "rfc", "rfcs", "design", "designs", "proposals", "architecture"];

/// Classifies a file by its path.
pub(super) fn classify(path: &str) -> FileKind {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if list_only_reason(path).is_some() {
        return FileKind::Generated;
    }
    let in_tests = folders.split('/').any(|folder| {
        matches!(folder, "test" | "tests" | "spec" | "specs" | "__tests__" | "testdata" | "e2e")
    });
    let is_test = in_tests
        || stem.starts_with("test_")
        || ["_test", ".test", ".spec", "_spec", "tests"].iter().any(|end| stem.ends_with(end));
    if DOC_EXTENSIONS.contains(&extension) && !is_manifest(path)
        || matches!(name, "license" | "readme" | "changelog")
    {
        FileKind::Docs
    } else if is_test {
        FileKind::Test
    } else if CONFIG_EXTENSIONS.contains(&extension)
        || is_build_file(path)
        || is_manifest(path)
        || name.starts_with('.')
    {
        FileKind::Config
    } else {
        FileKind::Source
    }
}

/// Whether a path is a build, CI or deployment file.
pub(super) fn is_build_file(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    lower.starts_with(".github/workflows/")
        || lower.starts_with(".circleci/")
        || lower.starts_with(".ci/")
        || name.starts_with("dockerfile")
        || matches!(
            name,
            "makefile" | "justfile" | "build.rs" | ".gitlab-ci.yml" | "jenkinsfile" | "procfile"
        )
}

/// Whether a path is a dependency manifest.
pub(super) fn is_manifest(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let requirements = stem.starts_with("requirements") && extension == "txt";
    MANIFEST_FILES.contains(&name) || requirements || extension == "csproj"
}

/// Whether a path is a text document, by its extension.
pub(super) fn is_document(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| DOC_EXTENSIONS.contains(&extension.to_lowercase().as_str()))
}

/// Whether a path is a decision record or design document.
pub(super) fn is_decision_record(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let is_index = matches!(name, "readme.md" | "index.md" | "template.md");
    let in_decision_folder =
        folders.split('/').any(|folder| DECISION_FOLDERS.contains(&folder)) && !is_index;
    let is_root_doc = !folders.contains('/') && matches!(name, "architecture.md" | "design.md");
    is_document(path) && (in_decision_folder || is_root_doc)
}

/// Why a file is only listed, judged by its path.
pub(super) fn list_only_reason(path: &str) -> Option<ListOnlyReason> {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let stem = name.split('.').next().unwrap_or(name);
    if LOCK_FILES.contains(&name) {
        Some(ListOnlyReason::LockFile)
    } else if folders.split('/').any(|folder| VENDORED_FOLDERS.contains(&folder)) {
        Some(ListOnlyReason::Vendored)
    } else if GENERATED_SUFFIXES.iter().any(|end| name.ends_with(end))
        || stem.ends_with("_generated")
        || name.contains(".generated.")
        || folders.split('/').any(|folder| folder == "__snapshots__")
    {
        Some(ListOnlyReason::Generated)
    } else {
        None
    }
}

/// Why a change to these files needs no review, if so: it is empty, or has only documents or
/// generated files. Decision records do count as reviewable.
pub(super) fn skip_reason<'a>(paths: impl Iterator<Item = &'a String>) -> Option<SkipReason> {
    let (mut total, mut docs, mut generated) = (0, 0, 0);
    for path in paths {
        total += 1;
        // Instructions and settings of agents always count, wherever they are.
        let is_agent_file = matches!(
            exclusion_reason(path.as_bytes()),
            Some(ExclusionReason::Instructions | ExclusionReason::Settings)
        );
        match classify(path) {
            _ if is_agent_file => {}
            FileKind::Docs if !is_decision_record(path) => docs += 1,
            FileKind::Generated => generated += 1,
            _ => {}
        }
    }
    match (total, docs, generated) {
        (0, ..) => Some(SkipReason::Empty),
        _ if generated == total => Some(SkipReason::GeneratedOnly),
        _ if docs + generated == total => Some(SkipReason::DocsOnly),
        _ => None,
    }
}

/// Bytes of a file that are searched for a marker of generated code.
const MARKER_SEARCH_BYTES: usize = 2_000;
/// Lines of a file that are searched for a marker of generated code.
const MARKER_SEARCH_LINES: usize = 12;
/// Lines of this many bytes are too long for a `DO NOT EDIT` marker.
const LONG_MARKER_BYTES: usize = 200;

/// Whether the first lines of a file have a marker of generated code.
pub(super) fn has_generated_marker(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MARKER_SEARCH_BYTES)]);
    text.lines().take(MARKER_SEARCH_LINES).any(|line| {
        line.contains("@generated")
            || (line.contains("DO NOT EDIT") && line.len() < LONG_MARKER_BYTES)
    })
}

impl ListOnlyReason {
    pub(super) fn describe(self) -> &'static str {
        match self {
            ListOnlyReason::LockFile => "is a lock file",
            ListOnlyReason::Generated => "is generated",
            ListOnlyReason::Vendored => "is vendored",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_marker_is_searched_at_the_beginning_only() {
        assert_eq!((MARKER_SEARCH_LINES, MARKER_SEARCH_BYTES), (12, 2_000));
        let in_line = |number: usize| "\n".repeat(number - 1) + "@generated";
        assert!(has_generated_marker(in_line(MARKER_SEARCH_LINES).as_bytes()));
        assert!(!has_generated_marker(in_line(MARKER_SEARCH_LINES + 1).as_bytes()));
        let ends_at = |bytes: usize| format!("{:>bytes$}", "@generated");
        assert!(has_generated_marker(ends_at(MARKER_SEARCH_BYTES).as_bytes()));
        assert!(!has_generated_marker(ends_at(MARKER_SEARCH_BYTES + 1).as_bytes()));
    }

    #[test]
    fn long_line_is_no_generated_marker() {
        assert_eq!(LONG_MARKER_BYTES, 200);
        let line = |bytes: usize| format!("{:>bytes$}", "DO NOT EDIT");
        assert!(has_generated_marker(line(LONG_MARKER_BYTES - 1).as_bytes()));
        assert!(!has_generated_marker(line(LONG_MARKER_BYTES).as_bytes()));
    }
}
