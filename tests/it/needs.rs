//! Some tests need more than Rust: Node, Python, a browser, a real client. Where that is missing they
//! skip, loudly; where `DEBATE_TEST_REQUIRE` names it, missing it is a failure.
use std::io::Write;
use std::path::{Path, PathBuf};

/// The program a test needs, if it is there.
#[track_caller]
pub(crate) fn needs(
    part: &str,
    program: &Path,
    also: &[PathBuf],
    install: &str,
) -> Option<PathBuf> {
    let found = which(program).filter(|_| also.iter().all(|path| path.exists()));
    if found.is_some() {
        return found;
    }
    let required = std::env::var("DEBATE_TEST_REQUIRE").unwrap_or_default();
    let required = required.split(',').any(|name| name.trim() == part);
    assert!(!required, "{part} is required and not there; install it with: {install}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Written past the capture of the test harness: a skip must be seen.
    let line = format!("SKIPPED {test}: {part} is not there; install it with: {install}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    None
}

/// A program by its path, or by its name on the path.
fn which(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.exists().then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A file of this repository.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
