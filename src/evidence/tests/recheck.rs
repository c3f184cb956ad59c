//! Status of a recorded citation that is looked up again in another tree.
use crate::debate::{Citation, CitationStatus, RecheckStatus};
use crate::test_support::debate_fixture::citation;

fn citation_at(found: CitationStatus, path: &str) -> Citation {
    Citation { path: Some(path.into()), ..citation("src/a.rs:3 \"fn a\"", found) }
}

#[test]
fn recheck_status_compares_then_and_now() {
    let in_other_file =
        |found| Citation { path: Some("src/b.rs".into()), ..citation_at(found, "") };
    for (recorded, current, status) in [
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Exact, "src/a.rs"),
            RecheckStatus::Holds,
        ),
        (CitationStatus::Near, citation_at(CitationStatus::Near, "src/a.rs"), RecheckStatus::Holds),
        (
            CitationStatus::Near,
            citation_at(CitationStatus::Exact, "src/a.rs"),
            RecheckStatus::Holds,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Near, "src/a.rs"),
            RecheckStatus::Moved,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::ElsewhereInFile, "src/a.rs"),
            RecheckStatus::Moved,
        ),
        (CitationStatus::Exact, in_other_file(CitationStatus::Exact), RecheckStatus::Moved),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::ElsewhereInRepo, "src/a.rs"),
            RecheckStatus::Moved,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NotFound, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NoSuchPath, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NonDistinctive, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Ambiguous, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::Unchecked, "src/a.rs"),
            RecheckStatus::Unknown,
        ),
        (
            CitationStatus::Exact,
            citation_at(CitationStatus::NotSearched, "src/a.rs"),
            RecheckStatus::Unknown,
        ),
        (
            CitationStatus::Located,
            citation_at(CitationStatus::Located, "src/a.rs"),
            RecheckStatus::Holds,
        ),
        (CitationStatus::Located, in_other_file(CitationStatus::Located), RecheckStatus::Moved),
        (
            CitationStatus::Located,
            citation_at(CitationStatus::LineOutOfRange, "src/a.rs"),
            RecheckStatus::Gone,
        ),
        (
            CitationStatus::Located,
            citation_at(CitationStatus::CommitUnknown, "src/a.rs"),
            RecheckStatus::Gone,
        ),
    ] {
        let (actual, note) = citation_at(recorded, "src/a.rs").recheck_status(Some(&current), &[]);
        assert_eq!((actual, note), (status, None), "{recorded:?} {:?}", current.found);
    }
    let recorded = citation_at(CitationStatus::Exact, "src/a.rs");
    assert_eq!(recorded.recheck_status(None, &[]).0, RecheckStatus::Unknown);
    // A citation of a line without a quote holds even if the file has changed, but with a note.
    let located = citation_at(CitationStatus::Located, "src/a.rs");
    let (status, note) = located.recheck_status(Some(&located), &["src/a.rs".into()]);
    assert_eq!(status, RecheckStatus::Holds);
    assert!(note.unwrap().contains("has changed since"));
    // The placeholder of a redacted secret differs between trees, so the quote cannot be compared.
    let redacted = Citation { quote: Some("key = [REDACTED:key:ab12]".into()), ..recorded };
    let not_found = citation_at(CitationStatus::NotFound, "src/a.rs");
    assert_eq!(redacted.recheck_status(Some(&not_found), &[]).0, RecheckStatus::Unknown);
}
