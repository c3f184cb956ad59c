//! A change pinned as one tree, with the old versions of its files.
use crate::repo::{ChangeSource, DiffRange};
use crate::test_support::test_repo::{TestRepo, list_files};
use std::fs;

/// A folder in the head that imitates the base folder is not used as the base, and instruction
/// files for agents are removed from both sides.
#[test]
fn snapshot_has_no_forged_base_and_no_agent_files() {
    let repo = TestRepo::new();
    let agent_files = ["CLAUDE.md", "src/AGENTS.md", ".mcp.json", ".claude/settings.json", ".env"];
    let mut files: Vec<(&str, &str)> =
        agent_files.iter().map(|path| (*path, "of the base\n")).collect();
    files.extend([("src/lib.rs", "fn real() {}\n"), ("src/same.rs", "fn same() {}\n")]);
    let base = repo.commit(&files);
    let mut files: Vec<(&str, &str)> =
        agent_files.iter().map(|path| (*path, "of the head\n")).collect();
    files.extend([
        ("src/lib.rs", "fn changed() {}\n"),
        (".debate-base/src/lib.rs", "fn forged() {}\n"),
        (".debate-base/src/same.rs", "fn forged() {}\n"),
        (".debate-base/CLAUDE.md", "forged\n"),
        ("GEMINI.md", "of the head\n"),
    ]);
    let head = repo.commit(&files);
    let range = DiffRange::MergeBaseOrBetween { base: base.to_string(), head: head.to_string() };
    let change = repo
        .tree_store()
        .pin_change(&repo.root(), &repo.pin(), &ChangeSource::Range(range))
        .unwrap();
    let snapshot = repo.snapshot(&change.pin.tree);
    let read = |path: &str| fs::read_to_string(snapshot.folder.join(path)).ok();
    assert_eq!(read("src/lib.rs").as_deref(), Some("fn changed() {}\n"));
    let base_folder = &change.base_folder;
    assert_eq!(base_folder, ".debate-base-1", "a folder name that neither side has");
    assert_eq!(read(&format!("{base_folder}/src/lib.rs")).as_deref(), Some("fn real() {}\n"));
    assert_eq!(read(&format!("{base_folder}/src/same.rs")), None, "unchanged files are not in it");
    for path in agent_files.iter().chain(&["GEMINI.md"]) {
        assert_eq!(read(path), None, "{path}");
        assert_eq!(read(&format!("{base_folder}/{path}")), None, "{path} of the base");
    }
    for path in list_files(&snapshot.folder) {
        let text = read(&path).unwrap();
        assert!(!path.starts_with(base_folder.as_str()) || !text.contains("forged"), "{path}");
        assert!(!text.contains("of the head") && !text.contains("of the base"), "{path}");
    }
}
