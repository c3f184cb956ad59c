//! Architecture tests: allowed dependencies between modules, no I/O in the core, one place for
//! environment and stdout, and a maximum file length. ARCHITECTURE.md prints the same dependency
//! table.
use std::fs;
use std::path::{Path, PathBuf};

/// Allow-list: each module, and the modules of this crate it may use.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("debate", &[]),
    ("redact", &[]),
    ("engine", &["debate", "redact"]),
    ("app", &["debate", "engine", "redact"]),
    ("report", &["debate"]),
    ("review", &["app", "debate", "engine", "report"]),
    ("providers", &["debate", "engine"]),
    ("store", &["debate", "engine", "secure_fs", "report"]),
    ("brief", &["engine", "redact", "repo"]),
    ("evidence", &["debate", "engine", "secure_fs", "redact", "repo"]),
    ("secure_fs", &[]),
    ("repo", &["secure_fs", "redact"]),
    ("formats_catalog", &["debate", "engine"]),
    ("config", &[]),
    ("clients", &["config", "debate", "secure_fs"]),
    ("arena", &["app", "debate", "engine"]),
    ("arena_client", &["app", "debate", "engine", "secure_fs"]),
    ("rating", &["app", "debate", "engine"]),
    ("tournament", &["app", "debate", "engine", "rating"]),
    ("page", &["debate", "engine", "rating", "report"]),
    (
        "web",
        &["app", "arena", "config", "debate", "engine", "page", "secure_fs", "rating", "report"],
    ),
    (
        "cli",
        &[
            "app",
            "clients",
            "debate",
            "engine",
            "report",
            "review",
            "config",
            "arena_client",
            "rating",
            "tournament",
            "web",
        ],
    ),
    ("mcp", &["app", "clients", "debate", "engine", "report", "review", "config"]),
];

/// Names that must not occur in the pure core.
const BANNED_IN_CORE: &[&str] = &[
    "tokio",
    "std::fs",
    "std::process",
    "std::net",
    "std::time",
    "std::env",
    "std::thread",
    "getrandom",
    "rusqlite",
    "jiff",
];

const MAX_FILE_LINES: usize = 500;

#[test]
fn modules_use_only_allowed_modules() {
    for (module, allowed) in ALLOWED_DEPENDENCIES {
        for (path, text) in module_sources(module) {
            for used in used_modules(&path, &text) {
                // Fixtures of unit tests.
                if used == "test_support" {
                    continue;
                }
                let is_allowed = used == *module || allowed.contains(&used.as_str());
                assert!(is_allowed, "{}: `{module}` may not use `{used}`", path.display());
            }
        }
    }
}

#[test]
fn every_module_is_in_the_dependency_table() {
    let lib_source = fs::read_to_string("src/lib.rs").unwrap();
    let modules =
        lib_source.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut modules: Vec<&str> = modules.collect();
    let mut table: Vec<&str> = ALLOWED_DEPENDENCIES.iter().map(|(module, _)| *module).collect();
    modules.sort_unstable();
    table.sort_unstable();
    assert_eq!(modules, table);
}

#[test]
fn the_core_does_no_io() {
    for (path, text) in core_sources() {
        for banned in BANNED_IN_CORE {
            assert!(!text.contains(banned), "{} names `{banned}`", path.display());
        }
    }
}

/// A format is data. No code branches on a format's name.
#[test]
fn core_does_not_branch_on_format_names() {
    for (path, text) in core_sources() {
        assert!(!text.contains("format.name"), "{} reads the name of the format", path.display());
    }
}

/// Only `config` reads the environment, and only `cli/screen.rs` writes to stdout.
#[test]
fn environment_and_stdout_have_one_owner_each() {
    for (module, _) in ALLOWED_DEPENDENCIES {
        for (path, text) in module_sources(module) {
            let reads_environment = text.contains("env::var(")
                || text.contains("env::var_os")
                || text.contains("env::current_dir");
            assert!(
                !reads_environment || *module == "config",
                "{} reads the environment",
                path.display()
            );
            let is_screen = path.ends_with("cli/screen.rs");
            let writes_stdout =
                text.contains("io::stdout()") || text.contains("anstream::stdout()");
            let writes_stdout = writes_stdout && !text.contains("stdout().is_terminal()");
            assert!(!writes_stdout || is_screen, "{} writes to stdout", path.display());
        }
    }
}

#[test]
fn no_source_file_exceeds_the_line_limit() {
    let mut paths = vec![];
    collect_rust_files(Path::new("src"), &mut paths);
    collect_rust_files(Path::new("tests"), &mut paths);
    collect_rust_files(Path::new("benches"), &mut paths);
    assert!(paths.len() > 50);
    for path in paths {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= MAX_FILE_LINES,
            "{} has {lines} lines: split it by concept",
            path.display()
        );
    }
}

#[test]
fn architecture_doc_has_the_same_table() {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    for (module, allowed) in ALLOWED_DEPENDENCIES {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{module}` |")));
        let row = row.unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{module}`"));
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let listed: Vec<&str> = cells[1].split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, *allowed, "the row of `{module}`");
    }
}

/// The top-level modules that a file uses, by `crate::` or `super::` paths.
fn used_modules(path: &Path, text: &str) -> Vec<String> {
    let relative_path = path.strip_prefix("src").unwrap().with_extension("");
    let depth = relative_path.components().count();
    let first_segment =
        |path: &str| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(Into::into);
    let mut used = vec![];
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for (index, _) in line.match_indices("crate::") {
            used.extend(first_segment(&line[index + "crate::".len()..]));
        }
        // As many `super::` as the file is deep lead to the crate root.
        let path_to_root = "super::".repeat(depth);
        for (index, _) in line.match_indices(&path_to_root) {
            if !line[..index].ends_with("super::") {
                used.extend(first_segment(&line[index + path_to_root.len()..]));
            }
        }
    }
    used.retain(|name: &String| !name.is_empty() && name != "super");
    used
}

/// The sources of the core without its tests.
fn core_sources() -> Vec<(PathBuf, String)> {
    let is_test = |path: &Path| path.with_extension("").iter().any(|part| part == "tests");
    module_sources("debate").into_iter().filter(|(path, _)| !is_test(path)).collect()
}

fn module_sources(module: &str) -> Vec<(PathBuf, String)> {
    let mut paths = vec![Path::new("src").join(format!("{module}.rs"))];
    collect_rust_files(&Path::new("src").join(module), &mut paths);
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn collect_rust_files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_rust_files(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}
