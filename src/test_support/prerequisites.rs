//! Optional programs that some tests need: Node, Python, a browser, real model CLIs. A test whose
//! program is missing is skipped with a message on stderr, or fails if `DEBATE_TEST_REQUIRE` lists
//! the program.
use std::io::Write;
use std::path::{Path, PathBuf};

/// Path of a program, or `None` after reporting the test as skipped.
#[track_caller]
pub(crate) fn find_program_or_skip(
    prerequisite: &str,
    program: &Path,
    extra_paths: &[PathBuf],
    install: &str,
) -> Option<PathBuf> {
    let found = find_on_path(program).filter(|_| extra_paths.iter().all(|path| path.exists()));
    if found.is_some() {
        return found;
    }
    let required = std::env::var("DEBATE_TEST_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|name| name.trim() == prerequisite);
    assert!(!required, "{prerequisite} is required but missing; install it with: {install}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Bypasses the output capture of the test harness, so that a skip is always visible.
    let line = format!("SKIPPED {test}: {prerequisite} is missing; install it with: {install}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    None
}

/// Finds a program by its path, or by its name on `PATH`.
fn find_on_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.exists().then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Absolute path of a file in this repository.
pub(crate) fn repo_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
