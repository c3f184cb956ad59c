//! Citation lookup in a small pinned repository, table-driven: paths, lines, symbols, commits, and
//! the on-disk index cache. Defines `CitationFixture` for the other citation tests.
use crate::test_repo::TestRepo;
use debate_mcp::debate::{Body, Citation, CitationStatus, Claim};
use debate_mcp::evidence::{CitationChecker, LookupScope, SearchMode, extract, extract_from_text};
use debate_mcp::repo::TreeStore;
use debate_mcp::repo::{CommitLookup, find_commit};
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
        let (tree, checker) = (repo.pin().tree, CitationChecker::new(TreeStore::new(&repo.home())));
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
        let found =
            self.checker.check(&self.repo.root(), &self.tree, &extract(&body), &BUILD_INDEX_SCOPE);
        found.unwrap().swap_remove(0)
    }

    /// Asserts status, location and note of one evidence entry.
    pub(crate) fn assert_entry(
        &self,
        entry: &str,
        found: CitationStatus,
        found_at: &str,
        note: &str,
    ) {
        let citation = self.check_entry(entry);
        let at = citation.found_at.as_deref().unwrap_or_default();
        let said = citation.note.as_deref().unwrap_or_default();
        assert_eq!((citation.found, at, said), (found, found_at, note), "{entry}");
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
    let field = sample_fixture();
    for (entry, found, at, note) in [
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
        field.assert_entry(entry, found, at, note);
    }
    // A bare path in prose may be a proposal, so it is not reported as missing.
    assert_eq!(field.check_prose("add `src/new.rs`")[0].found, CitationStatus::Unchecked);
    assert_eq!(field.check_prose("see `src/new.rs:3`")[0].found, CitationStatus::NoSuchPath);
    assert_eq!(
        field.check_prose("`application/json`")[0].note.as_deref(),
        Some("not in this repository")
    );
    assert_eq!(field.check_prose("`src/deep`")[0].found, CitationStatus::Located);
}

#[test]
fn ambiguous_path_is_resolved_by_quote_or_debate() {
    let field = sample_fixture();
    let note = "2 files end in `mod.rs`, and only this one has the quote";
    field.assert_entry("mod.rs:1 \"pub fn deep_thought()\"", CitationStatus::Exact, "", note);
    assert_eq!(
        field.check_entry("mod.rs:1 \"pub fn deep_thought()\"").path.unwrap(),
        "src/deep/mod.rs"
    );
    let prefer = ["src/other/mod.rs".to_owned()];
    let found = &field
        .check_in_scope("mod.rs:1", &LookupScope { preferred_paths: &prefer, ..BUILD_INDEX_SCOPE })
        [0];
    assert_eq!(
        (found.found, found.path.as_deref()),
        (CitationStatus::Located, Some("src/other/mod.rs"))
    );
    let note = "2 files end in `mod.rs`, and the debate is about this one";
    assert_eq!(found.note.as_deref(), Some(note));
}

#[test]
fn line_out_of_range_is_reported() {
    let field = sample_fixture();
    for (entry, found, note) in [
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
        field.assert_entry(entry, found, "", note);
    }
    let note = "the file has 10 lines";
    field.assert_entry(
        "src/a.rs:99 \"let mut sum = 0;\"",
        CitationStatus::ElsewhereInFile,
        "src/a.rs:4",
        note,
    );
    field.assert_entry(
        "src/a.rs:12 \"let mut sum = 0;\"",
        CitationStatus::ElsewhereInFile,
        "src/a.rs:4",
        note,
    );
    field.assert_entry("src/a.rs:4-99 \"let mut sum = 0;\"", CitationStatus::Exact, "", note);
    let reversed = field.check_entry("src/a.rs:10-9");
    assert_eq!((reversed.line, reversed.end_line), (Some(9), Some(10)));
}

#[test]
fn unverifiable_evidence_is_marked_as_stated() {
    let field = sample_fixture();
    for (entry, note) in [
        ("https://example.com/x", "stated, not verified"),
        ("RFC 9110", "stated, not verified"),
        ("3x faster", "stated, not verified"),
        ("we measured 3x faster", "a benchmark claimed without its output"),
        ("we measured it: \"12.1 ms\"", "stated, not verified"),
    ] {
        field.assert_entry(entry, CitationStatus::Unchecked, "", note);
    }
}

#[test]
fn symbols_are_found_at_their_definition() {
    let field = sample_fixture();
    for (entry, found, at, note) in [
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
        field.assert_entry(entry, found, at, note);
    }
    let prose = &field.check_prose("a new `total_of_all` may help")[0];
    assert_eq!(prose.found, CitationStatus::Unchecked);
    assert_eq!(prose.note.as_deref(), Some("not in this repository"));
    let field = CitationFixture::new(&[
        ("a.rs", "fn x() {\n    helper_one();\n}\n"),
        ("b.go", "func (s *Server) HandleAll(w int) {\n}\n"),
        ("c.ts", "class Thing {\n  doWork(x) {\n  }\n}\nnew Thing().doWork(1)\n"),
        ("d.rs", "struct Pot;\nimpl Pot {\n    fn boil_now() {}\n}\n"),
    ]);
    for (entry, at, note) in [
        ("`helper_one`", "a.rs:2", "mentioned"),
        ("`HandleAll`", "b.go:1", "defined"),
        ("`doWork()`", "c.ts:2", "defined"),
        ("`Pot::boil_now`", "d.rs:3", "defined"),
    ] {
        field.assert_entry(entry, CitationStatus::ElsewhereInRepo, at, note);
    }
    field.assert_entry("`Pot::fry_now`", CitationStatus::NotFound, "", "");
}

#[test]
fn commit_citation_is_located_or_unknown() {
    let field = sample_fixture();
    let head = field.repo.repository().head().unwrap().target().unwrap().to_string();
    field.assert_entry(&format!("commit {head}"), CitationStatus::Located, "", "");
    let short = &head[..12];
    if short.contains(|c: char| c.is_ascii_digit()) && short.contains(|c: char| c.is_alphabetic()) {
        field.assert_entry(short, CitationStatus::Located, "", "");
    }
    field.assert_entry("commit 0123abc4567", CitationStatus::CommitUnknown, "", "");
    // A tree id is not a commit id.
    field.assert_entry(&format!("commit {}", field.tree), CitationStatus::CommitUnknown, "", "");
    fs::write(field.repo.root().join(".git/shallow"), format!("{head}\n")).unwrap();
    field.assert_entry(
        "commit 0123abc4567",
        CitationStatus::Unchecked,
        "",
        "this clone is shallow",
    );
}

#[test]
fn without_an_index_other_files_are_not_searched() {
    let field = sample_fixture();
    let known = |text: &str| field.check_in_scope(text, &CACHED_INDEX_SCOPE)[0].found;
    assert_eq!(known("src/a.rs:1 \"pub fn deep_thought()\""), CitationStatus::NotSearched);
    assert_eq!(known("`deep_thought`"), CitationStatus::NotSearched);
    assert_eq!(known("src/a.rs:4 \"let mut sum = 0;\""), CitationStatus::Exact);
    let licence = "lib/c1.rs:1 \"Everybody may use this file as they like.\"";
    assert_eq!(known(licence), CitationStatus::Exact);
    assert!(!field.repo.home().join("indexes").exists());
    assert_eq!(field.check_prose(licence)[0].found, CitationStatus::NonDistinctive);
    assert_eq!(known(licence), CitationStatus::NonDistinctive);
    assert_eq!(known("src/a.rs:1 \"pub fn deep_thought()\""), CitationStatus::ElsewhereInRepo);
    // A new checker reads the index from disk.
    let other = CitationFixture {
        checker: CitationChecker::new(TreeStore::new(&field.repo.home())),
        ..field
    };
    assert_eq!(
        other.check_in_scope("`deep_thought`", &CACHED_INDEX_SCOPE)[0].found,
        CitationStatus::ElsewhereInRepo
    );
}

#[test]
fn damaged_index_file_is_rebuilt() {
    let field = sample_fixture();
    let quote = "src/a.rs:1 \"pub fn deep_thought()\"";
    assert_eq!(field.check_prose(quote)[0].found, CitationStatus::ElsewhereInRepo);
    let folder = field.repo.home().join("indexes");
    let entries = fs::read_dir(&folder).unwrap();
    let paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    let [path] = paths.as_slice() else { panic!("one index: {paths:?}") };
    let whole = fs::read(path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path), mode(&folder)), (0o600, 0o700));
    }
    let mut damages = vec![vec![], whole[..whole.len() - 1].to_vec(), [&whole[..], &[0]].concat()];
    for at in [0, 8, 12, 52, 56, 60, 68, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        damages.push(bytes);
    }
    for bytes in damages {
        fs::write(path, bytes).unwrap();
        let checker = CitationChecker::new(TreeStore::new(&field.repo.home()));
        let check = |scope: &LookupScope<'_>| {
            let references = extract_from_text(quote);
            checker.check(&field.repo.root(), &field.tree, &references, scope).unwrap()[0].found
        };
        assert_eq!(check(&CACHED_INDEX_SCOPE), CitationStatus::NotSearched);
        assert_eq!(check(&BUILD_INDEX_SCOPE), CitationStatus::ElsewhereInRepo);
        assert_eq!(fs::read(path).unwrap(), whole);
    }
}

#[test]
fn index_cache_keeps_at_most_eight_files() {
    let ground = TestRepo::new();
    let checker = CitationChecker::new(TreeStore::new(&ground.home()));
    for nth in 0..10 {
        ground.commit(&[("a.rs", &format!("fn number_{nth}() {{}}\n"))]);
        let found = checker.check(
            &ground.root(),
            &ground.pin().tree,
            &extract_from_text(&format!("`number_{nth}`")),
            &BUILD_INDEX_SCOPE,
        );
        assert_eq!(found.unwrap()[0].found, CitationStatus::ElsewhereInRepo);
    }
    assert_eq!(fs::read_dir(ground.home().join("indexes")).unwrap().count(), 8);
}

#[test]
fn excluded_file_cannot_support_a_citation() {
    let field = sample_fixture();
    let scope = LookupScope { excluded_path: Some("src/a.rs"), ..BUILD_INDEX_SCOPE };
    assert_eq!(field.check_in_scope("src/a.rs:3", &scope)[0].found, CitationStatus::Unchecked);
    let quote = "src/deep/mod.rs:1 \"let mut sum = 0;\"";
    assert_eq!(field.check_in_scope(quote, &scope)[0].found, CitationStatus::NotFound);
    assert_eq!(field.check_prose(quote)[0].found, CitationStatus::ElsewhereInRepo);
}

#[test]
fn unreadable_files_are_reported_as_unchecked() {
    let field = sample_fixture();
    let ground = &field.repo;
    let (link, nowhere) = (ground.blob(b"a.rs"), git2::Oid::from_str(&"1".repeat(40)).unwrap());
    let (large, text) = (ground.blob(&vec![b'x'; 1024 * 1024 + 1]), ground.blob(b"one line\n"));
    let tree = ground.raw_tree(&[
        ("100644", b"gone.rs", nowhere),
        ("100644", b"large.rs", large),
        ("120000", b"link.rs", link),
        ("160000", b"module.rs", nowhere),
        ("100644", b"text.rs", text),
    ]);
    let check = |text: &str| {
        let references = extract_from_text(text);
        let tree = tree.to_string();
        let found =
            field.checker.check(&ground.root(), &tree, &references, &BUILD_INDEX_SCOPE).unwrap();
        (found[0].found, found[0].note.clone().unwrap_or_default())
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
    assert!(!ground.home().join("indexes").exists());
}

#[test]
fn short_commit_id_ignores_other_objects() {
    let ground = TestRepo::new();
    let head = ground.commit(&[("a.rs", "fn a() {}\n")]).to_string();
    // Search for a blob whose hash shares its first four digits with the commit.
    let alike = (0..200_000).find(|nth: &u32| {
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, nth.to_string().as_bytes());
        id.unwrap().to_string().starts_with(&head[..4])
    });
    ground.blob(alike.unwrap().to_string().as_bytes());
    assert_eq!(find_commit(&ground.root(), &head[..4]).unwrap(), CommitLookup::Known(head.clone()));
    for prefix in ["xyz", "", "12", &"0".repeat(41), "0000000"] {
        assert_eq!(find_commit(&ground.root(), prefix).unwrap(), CommitLookup::Unknown, "{prefix}");
    }
}

#[test]
fn missing_tree_is_an_error() {
    let field = sample_fixture();
    let gone = field.checker.check(&field.repo.root(), &"0".repeat(40), &[], &BUILD_INDEX_SCOPE);
    assert!(gone.is_err());
}

#[test]
fn checker_is_send_sync_and_clone() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&sample_fixture().checker);
}
