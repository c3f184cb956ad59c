//! Citation lookup in a small pinned repository, table-driven: paths, lines, symbols, commits, and
//! the on-disk index cache. Defines `CitationFixture` for the other citation tests.
use super::extract;
use crate::debate::{Body, Citation, CitationStatus, Claim};
use crate::evidence::{CitationChecker, LookupScope, SearchMode, extract_from_text};
use crate::repo::TreeStore;
use crate::repo::{CommitLookup, find_commit};
use crate::test_support::test_repo::TestRepo;
use std::fs;

/// Source file with lines that occur in no other file.
const SOURCE_CODE: &str = "use std::fs;\n\nfn compute_total(items: &[u32]) -> u32 {\n    let mut sum = 0;\n    \
    for item in items {\n        sum += item;\n    }\n\n    sum\n}\n";

/// A repository with its pinned tree and a citation checker.
pub(crate) struct CitationFixture {
    pub(crate) repo: TestRepo,
    tree: String,
    checker: CitationChecker,
}

impl CitationFixture {
    pub(crate) fn new(files: &[(&str, &str)]) -> CitationFixture {
        let repo = TestRepo::new();
        repo.commit(files);
        let (tree, checker) =
            (repo.pin().tree, CitationChecker::new(TreeStore::new(&repo.data_dir())));
        CitationFixture { repo, tree, checker }
    }

    pub(crate) fn check_in_scope(&self, text: &str, scope: &LookupScope<'_>) -> Vec<Citation> {
        let references = extract_from_text(text);
        self.checker.check(&self.repo.root(), &self.tree, &references, scope).unwrap()
    }

    pub(crate) fn check_prose(&self, text: &str) -> Vec<Citation> {
        self.check_in_scope(text, &BUILD_INDEX_SCOPE)
    }

    /// Checks one string as an evidence entry of a claim.
    pub(crate) fn check_entry(&self, entry: &str) -> Citation {
        let mut body = Body::from_prose("");
        if let Body::Speech { claims, .. } = &mut body {
            let evidence = vec![entry.to_owned()];
            claims.push(Claim { id: "c1".into(), text: "x".into(), evidence, ..Claim::default() });
        }
        let citations =
            self.checker.check(&self.repo.root(), &self.tree, &extract(&body), &BUILD_INDEX_SCOPE);
        citations.unwrap().swap_remove(0)
    }

    /// Asserts status, location and note of one evidence entry.
    pub(crate) fn assert_entry(
        &self,
        entry: &str,
        status: CitationStatus,
        location: &str,
        note: &str,
    ) {
        let citation = self.check_entry(entry);
        let actual_location = citation.found_at.as_deref().unwrap_or_default();
        let actual_note = citation.note.as_deref().unwrap_or_default();
        assert_eq!(
            (citation.found, actual_location, actual_note),
            (status, location, note),
            "{entry}"
        );
    }
}

pub(crate) const BUILD_INDEX_SCOPE: LookupScope<'static> = LookupScope {
    preferred_paths: &[],
    folder: "",
    excluded_path: None,
    base: None,
    search: SearchMode::BuildIndex,
};
const CACHED_INDEX_SCOPE: LookupScope<'static> = LookupScope {
    preferred_paths: &[],
    folder: "",
    excluded_path: None,
    base: None,
    search: SearchMode::CachedIndexOnly,
};

fn sample_fixture() -> CitationFixture {
    let licence = "// Everybody may use this file as they like.\n";
    let common: Vec<(String, String)> = (0..5)
        .map(|nth| (format!("lib/c{nth}.rs"), format!("{licence}fn only_{nth}() {{}}\n")))
        .collect();
    let mut files = vec![
        ("src/a.rs", SOURCE_CODE),
        ("src/deep/mod.rs", "pub fn deep_thought() -> u8 {\n    42\n}\n"),
        ("src/other/mod.rs", "pub fn other_thought() -> u8 {\n    43\n}\n"),
        ("src/Upper.rs", "struct Upper;\n"),
        ("docs/été/guide.md", "Read the guide.\n"),
        ("windows.txt", "\u{feff}first line here\r\nsecond line here\r\n"),
        ("image.png", "\u{0}\u{1}binary"),
        (".env", "TOKEN=abcdef\n"),
        ("Makefile", "all:\n\tcargo build\n"),
        ("no-newline.txt", "one line only"),
        ("empty.txt", ""),
    ];
    files.extend(common.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    CitationFixture::new(&files)
}

#[test]
fn path_resolves_to_one_file_or_none() {
    let fixture = sample_fixture();
    for (entry, status, location, note) in [
        ("src/a.rs", CitationStatus::Located, "", ""),
        ("a.rs", CitationStatus::Located, "", ""),
        ("./src/a.rs:3", CitationStatus::Located, "", ""),
        ("a/src/a.rs:3", CitationStatus::Located, "", ""),
        ("b/src/a.rs:3", CitationStatus::Located, "", ""),
        ("repo/src/a.rs:3", CitationStatus::Located, "", ""),
        ("/home/somebody/repo/src/a.rs:3", CitationStatus::Located, "", ""),
        ("C:\\repo\\src\\a.rs:3", CitationStatus::Located, "", ""),
        ("src\\a.rs:3", CitationStatus::Located, "", ""),
        ("docs/été/guide.md:1", CitationStatus::Located, "", ""),
        ("Makefile:2", CitationStatus::Located, "", ""),
        ("src/deep/", CitationStatus::Located, "", ""),
        ("upper.rs:1", CitationStatus::Located, "", "the file is called `src/Upper.rs`"),
        (
            "mod.rs:1",
            CitationStatus::Ambiguous,
            "src/deep/mod.rs, src/other/mod.rs",
            "2 files end in `mod.rs`",
        ),
        ("ep/mod.rs:1", CitationStatus::NoSuchPath, "", ""),
        ("src/none.rs:1", CitationStatus::NoSuchPath, "", ""),
        ("x/src/a.rs:1", CitationStatus::NoSuchPath, "", ""),
        ("src/a.rs/b.rs:1", CitationStatus::NoSuchPath, "", ""),
        (".env:1", CitationStatus::Unchecked, "", "it may hold a secret, by its name"),
        (
            ".env:1 \"TOKEN=abcdef\"",
            CitationStatus::Unchecked,
            "",
            "it may hold a secret, by its name",
        ),
        ("image.png:1", CitationStatus::Unchecked, "", "it is not text"),
    ] {
        fixture.assert_entry(entry, status, location, note);
    }
    // A bare path in prose may be a proposal, so it is not reported as missing.
    assert_eq!(fixture.check_prose("add `src/new.rs`")[0].found, CitationStatus::Unchecked);
    assert_eq!(fixture.check_prose("see `src/new.rs:3`")[0].found, CitationStatus::NoSuchPath);
    assert_eq!(
        fixture.check_prose("`application/json`")[0].note.as_deref(),
        Some("not in this repository")
    );
    assert_eq!(fixture.check_prose("`src/deep`")[0].found, CitationStatus::Located);
}

#[test]
fn ambiguous_path_is_resolved_by_quote_or_debate() {
    let fixture = sample_fixture();
    let note = "2 files end in `mod.rs`, and only this one has the quote";
    fixture.assert_entry("mod.rs:1 \"pub fn deep_thought()\"", CitationStatus::Exact, "", note);
    assert_eq!(
        fixture.check_entry("mod.rs:1 \"pub fn deep_thought()\"").path.unwrap(),
        "src/deep/mod.rs"
    );
    let preferred_paths = ["src/other/mod.rs".to_owned()];
    let citation = &fixture.check_in_scope(
        "mod.rs:1",
        &LookupScope { preferred_paths: &preferred_paths, ..BUILD_INDEX_SCOPE },
    )[0];
    assert_eq!(
        (citation.found, citation.path.as_deref()),
        (CitationStatus::Located, Some("src/other/mod.rs"))
    );
    let note = "2 files end in `mod.rs`, and the debate is about this one";
    assert_eq!(citation.note.as_deref(), Some(note));
}

#[test]
fn line_out_of_range_is_reported() {
    let fixture = sample_fixture();
    for (entry, status, note) in [
        ("src/a.rs:1", CitationStatus::Located, ""),
        ("src/a.rs:10", CitationStatus::Located, ""),
        ("src/a.rs:11", CitationStatus::LineOutOfRange, "the file has 10 lines"),
        ("src/a.rs:0", CitationStatus::LineOutOfRange, "the file has 10 lines"),
        ("src/a.rs:9-11", CitationStatus::LineOutOfRange, "the file has 10 lines"),
        ("src/a.rs:10-9", CitationStatus::Located, ""),
        ("no-newline.txt:1", CitationStatus::Located, ""),
        ("no-newline.txt:2", CitationStatus::LineOutOfRange, "the file has 1 line"),
        ("empty.txt:1", CitationStatus::LineOutOfRange, "the file has 0 lines"),
        ("windows.txt:2", CitationStatus::Located, ""),
        ("windows.txt:3", CitationStatus::LineOutOfRange, "the file has 2 lines"),
        ("src/a.rs:99 \"no such thing\"", CitationStatus::LineOutOfRange, "the file has 10 lines"),
    ] {
        fixture.assert_entry(entry, status, "", note);
    }
    let note = "the file has 10 lines";
    fixture.assert_entry(
        "src/a.rs:99 \"let mut sum = 0;\"",
        CitationStatus::ElsewhereInFile,
        "src/a.rs:4",
        note,
    );
    fixture.assert_entry(
        "src/a.rs:12 \"let mut sum = 0;\"",
        CitationStatus::ElsewhereInFile,
        "src/a.rs:4",
        note,
    );
    fixture.assert_entry("src/a.rs:4-99 \"let mut sum = 0;\"", CitationStatus::Exact, "", note);
    let reversed = fixture.check_entry("src/a.rs:10-9");
    assert_eq!((reversed.line, reversed.end_line), (Some(9), Some(10)));
}

#[test]
fn unverifiable_evidence_is_marked_as_stated() {
    let fixture = sample_fixture();
    for (entry, note) in [
        ("https://example.com/x", "stated, not verified"),
        ("RFC 9110", "stated, not verified"),
        ("3x faster", "stated, not verified"),
        ("we measured 3x faster", "a benchmark claimed without its output"),
        ("we measured it: \"12.1 ms\"", "stated, not verified"),
    ] {
        fixture.assert_entry(entry, CitationStatus::Unchecked, "", note);
    }
}

#[test]
fn symbols_are_found_at_their_definition() {
    let fixture = sample_fixture();
    for (entry, status, location, note) in [
        ("`compute_total`", CitationStatus::ElsewhereInRepo, "src/a.rs:3", "defined"),
        ("`deep_thought()`", CitationStatus::ElsewhereInRepo, "src/deep/mod.rs:1", "defined"),
        ("`compute_tot`", CitationStatus::NotFound, "", ""),
        ("src/a.rs `compute_total`", CitationStatus::Exact, "src/a.rs:3", ""),
        ("src/a.rs:3 `compute_total`", CitationStatus::Exact, "", ""),
        ("src/a.rs:9 `compute_total`", CitationStatus::Near, "src/a.rs:3", ""),
        (
            "src/a.rs:1 `deep_thought`",
            CitationStatus::ElsewhereInRepo,
            "src/deep/mod.rs:1",
            "defined",
        ),
        ("src/a.rs:1 `no_thought`", CitationStatus::NotFound, "", ""),
    ] {
        fixture.assert_entry(entry, status, location, note);
    }
    let citation = &fixture.check_prose("a new `total_of_all` may help")[0];
    assert_eq!(citation.found, CitationStatus::Unchecked);
    assert_eq!(citation.note.as_deref(), Some("not in this repository"));
    let fixture = CitationFixture::new(&[
        ("a.rs", "fn x() {\n    helper_one();\n}\n"),
        ("b.go", "func (s *Server) HandleAll(w int) {\n}\n"),
        ("c.ts", "class Thing {\n  doWork(x) {\n  }\n}\nnew Thing().doWork(1)\n"),
        ("d.rs", "struct Pot;\nimpl Pot {\n    fn boil_now() {}\n}\n"),
    ]);
    for (entry, location, note) in [
        ("`helper_one`", "a.rs:2", "mentioned"),
        ("`HandleAll`", "b.go:1", "defined"),
        ("`doWork()`", "c.ts:2", "defined"),
        ("`Pot::boil_now`", "d.rs:3", "defined"),
    ] {
        fixture.assert_entry(entry, CitationStatus::ElsewhereInRepo, location, note);
    }
    fixture.assert_entry("`Pot::fry_now`", CitationStatus::NotFound, "", "");
}

#[test]
fn commit_citation_is_located_or_unknown() {
    let fixture = sample_fixture();
    let head = fixture.repo.repository().head().unwrap().target().unwrap().to_string();
    fixture.assert_entry(&format!("commit {head}"), CitationStatus::Located, "", "");
    let short = &head[..12];
    if short.contains(|c: char| c.is_ascii_digit()) && short.contains(|c: char| c.is_alphabetic()) {
        fixture.assert_entry(short, CitationStatus::Located, "", "");
    }
    fixture.assert_entry("commit 0123abc4567", CitationStatus::CommitUnknown, "", "");
    // A tree id is not a commit id.
    fixture.assert_entry(
        &format!("commit {}", fixture.tree),
        CitationStatus::CommitUnknown,
        "",
        "",
    );
    fs::write(fixture.repo.root().join(".git/shallow"), format!("{head}\n")).unwrap();
    fixture.assert_entry(
        "commit 0123abc4567",
        CitationStatus::Unchecked,
        "",
        "this clone is shallow",
    );
}

#[test]
fn without_an_index_other_files_are_not_searched() {
    let fixture = sample_fixture();
    let cached_status = |text: &str| fixture.check_in_scope(text, &CACHED_INDEX_SCOPE)[0].found;
    assert_eq!(cached_status("src/a.rs:1 \"pub fn deep_thought()\""), CitationStatus::NotSearched);
    assert_eq!(cached_status("`deep_thought`"), CitationStatus::NotSearched);
    assert_eq!(cached_status("src/a.rs:4 \"let mut sum = 0;\""), CitationStatus::Exact);
    let licence = "lib/c1.rs:1 \"Everybody may use this file as they like.\"";
    assert_eq!(cached_status(licence), CitationStatus::Exact);
    assert!(!fixture.repo.data_dir().join("indexes").exists());
    assert_eq!(fixture.check_prose(licence)[0].found, CitationStatus::NonDistinctive);
    assert_eq!(cached_status(licence), CitationStatus::NonDistinctive);
    assert_eq!(
        cached_status("src/a.rs:1 \"pub fn deep_thought()\""),
        CitationStatus::ElsewhereInRepo
    );
    // A new checker reads the index from disk.
    let reloaded = CitationFixture {
        checker: CitationChecker::new(TreeStore::new(&fixture.repo.data_dir())),
        ..fixture
    };
    assert_eq!(
        reloaded.check_in_scope("`deep_thought`", &CACHED_INDEX_SCOPE)[0].found,
        CitationStatus::ElsewhereInRepo
    );
}

#[test]
fn damaged_index_file_is_rebuilt() {
    let fixture = sample_fixture();
    let quote = "src/a.rs:1 \"pub fn deep_thought()\"";
    assert_eq!(fixture.check_prose(quote)[0].found, CitationStatus::ElsewhereInRepo);
    let folder = fixture.repo.data_dir().join("indexes");
    let entries = fs::read_dir(&folder).unwrap();
    let paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    let [path] = paths.as_slice() else { panic!("one index: {paths:?}") };
    let intact = fs::read(path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path), mode(&folder)), (0o600, 0o700));
    }
    let mut damaged_files =
        vec![vec![], intact[..intact.len() - 1].to_vec(), [&intact[..], &[0]].concat()];
    for offset in [0, 8, 12, 52, 56, 60, 68, intact.len() / 2, intact.len() - 1] {
        let mut bytes = intact.clone();
        bytes[offset] ^= 0x41;
        damaged_files.push(bytes);
    }
    for bytes in damaged_files {
        fs::write(path, bytes).unwrap();
        let checker = CitationChecker::new(TreeStore::new(&fixture.repo.data_dir()));
        let check = |scope: &LookupScope<'_>| {
            let references = extract_from_text(quote);
            checker.check(&fixture.repo.root(), &fixture.tree, &references, scope).unwrap()[0].found
        };
        assert_eq!(check(&CACHED_INDEX_SCOPE), CitationStatus::NotSearched);
        assert_eq!(check(&BUILD_INDEX_SCOPE), CitationStatus::ElsewhereInRepo);
        assert_eq!(fs::read(path).unwrap(), intact);
    }
}

#[test]
fn index_cache_keeps_at_most_eight_files() {
    let repo = TestRepo::new();
    let checker = CitationChecker::new(TreeStore::new(&repo.data_dir()));
    for nth in 0..10 {
        repo.commit(&[("a.rs", &format!("fn number_{nth}() {{}}\n"))]);
        let citations = checker.check(
            &repo.root(),
            &repo.pin().tree,
            &extract_from_text(&format!("`number_{nth}`")),
            &BUILD_INDEX_SCOPE,
        );
        assert_eq!(citations.unwrap()[0].found, CitationStatus::ElsewhereInRepo);
    }
    assert_eq!(fs::read_dir(repo.data_dir().join("indexes")).unwrap().count(), 8);
}

#[test]
fn excluded_file_cannot_support_a_citation() {
    let fixture = sample_fixture();
    let scope = LookupScope { excluded_path: Some("src/a.rs"), ..BUILD_INDEX_SCOPE };
    assert_eq!(fixture.check_in_scope("src/a.rs:3", &scope)[0].found, CitationStatus::Unchecked);
    let quote = "src/deep/mod.rs:1 \"let mut sum = 0;\"";
    assert_eq!(fixture.check_in_scope(quote, &scope)[0].found, CitationStatus::NotFound);
    assert_eq!(fixture.check_prose(quote)[0].found, CitationStatus::ElsewhereInRepo);
}

#[test]
fn unreadable_files_are_reported_as_unchecked() {
    let fixture = sample_fixture();
    let repo = &fixture.repo;
    let (link, missing) = (repo.blob(b"a.rs"), git2::Oid::from_str(&"1".repeat(40)).unwrap());
    let (large, text) = (repo.blob(&vec![b'x'; 1024 * 1024 + 1]), repo.blob(b"one line\n"));
    let tree = repo.raw_tree(&[
        ("100644", b"gone.rs", missing),
        ("100644", b"large.rs", large),
        ("120000", b"link.rs", link),
        ("160000", b"module.rs", missing),
        ("100644", b"text.rs", text),
    ]);
    let check = |text: &str| {
        let references = extract_from_text(text);
        let tree = tree.to_string();
        let citations =
            fixture.checker.check(&repo.root(), &tree, &references, &BUILD_INDEX_SCOPE).unwrap();
        (citations[0].found, citations[0].note.clone().unwrap_or_default())
    };
    for (text, note) in [
        ("gone.rs:1", "it cannot be read"),
        ("large.rs:1", "it is larger than 1 MB"),
        ("link.rs:1", "it is a link"),
        ("module.rs:1", "it is a repository of its own"),
    ] {
        assert_eq!(check(text), (CitationStatus::Unchecked, note.to_owned()), "{text}");
    }
    assert_eq!(check("text.rs:1 \"nothing of the kind\"").0, CitationStatus::NotFound);
    // An index built with read errors is not cached, as a later read may succeed.
    assert!(!repo.data_dir().join("indexes").exists());
}

#[test]
fn short_commit_id_ignores_other_objects() {
    let repo = TestRepo::new();
    let head = repo.commit(&[("a.rs", "fn a() {}\n")]).to_string();
    // Search for a blob whose hash shares its first four digits with the commit.
    let colliding = (0..200_000).find(|nth: &u32| {
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, nth.to_string().as_bytes());
        id.unwrap().to_string().starts_with(&head[..4])
    });
    repo.blob(colliding.unwrap().to_string().as_bytes());
    assert_eq!(find_commit(&repo.root(), &head[..4]).unwrap(), CommitLookup::Known(head.clone()));
    for prefix in ["xyz", "", "12", &"0".repeat(41), "0000000"] {
        assert_eq!(find_commit(&repo.root(), prefix).unwrap(), CommitLookup::Unknown, "{prefix}");
    }
}

#[test]
fn missing_tree_is_an_error() {
    let fixture = sample_fixture();
    let result =
        fixture.checker.check(&fixture.repo.root(), &"0".repeat(40), &[], &BUILD_INDEX_SCOPE);
    assert!(result.is_err());
}

#[test]
fn checker_is_send_sync_and_clone() {
    fn assert_send_sync_clone<T: Send + Sync + Clone>(_: &T) {}
    assert_send_sync_clone(&sample_fixture().checker);
}
