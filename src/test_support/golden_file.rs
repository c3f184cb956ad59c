//! Golden files: committed outputs that a test compares with fresh ones.
use std::fs;
use std::path::Path;

/// Asserts that a golden file has this text. Rewrites the file first if `DEBATE_UPDATE` is 1.
#[track_caller]
pub(crate) fn assert_golden(path: &Path, text: &str) {
    if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(committed == text, "{} is not up to date: set DEBATE_UPDATE=1", path.display());
}
