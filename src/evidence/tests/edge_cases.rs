//! Citation edge cases: text that looks like valid evidence and is not, and unusual forms that are
//! valid.
use super::extract;
use super::lookup::{BUILD_INDEX_SCOPE, CitationFixture};
use crate::debate::{Body, CitationStatus, Claim};
use crate::evidence::LookupScope;

fn edge_case_fixture() -> CitationFixture {
    let limits = "const NEAR: u32 = 15;\nconst MOST: usize = 150_000;\nconst SHARE: f64 = 0.25;\n";
    let far =
        format!("fn first_of_all() {{}}\n{}fn last_of_all() {{}}\n", "// between\n".repeat(60));
    CitationFixture::new(&[
        ("src/limits.rs", limits),
        ("src/far.rs", &far),
        ("src/say.py", "print(\"hello there friend\")\n"),
        ("app/src/limits.rs", "const OTHER_LIMIT: u8 = 1;\n"),
    ])
}

#[test]
fn number_does_not_match_inside_another_number() {
    let fixture = edge_case_fixture();
    for (quote, expected) in [
        ("const NEAR: u32 = 15;", CitationStatus::Exact),
        ("const NEAR: u32 = 1;", CitationStatus::NotFound),
        ("const NEAR: u32 = 1", CitationStatus::NotFound),
        ("usize = 150_000", CitationStatus::Exact),
        ("usize = 150", CitationStatus::NotFound),
        ("f64 = 0.25", CitationStatus::Exact),
        ("f64 = 0", CitationStatus::NotFound),
        // A quote may be cut inside a word.
        ("onst NEAR: u", CitationStatus::Exact),
    ] {
        let citation = fixture.check_entry(&format!("src/limits.rs:1-3 \"{quote}\""));
        assert_eq!(citation.found, expected, "{quote}");
    }
}

#[test]
fn each_claim_keeps_its_own_citation() {
    let mut body = Body::from_prose("As `src/gone.rs:9` \"never_there()\" shows.");
    if let Body::Speech { claims, .. } = &mut body {
        for id in ["c1", "c2"] {
            let evidence = vec!["src/gone.rs:9 \"never_there()\"".into()];
            claims.push(Claim { id: id.into(), text: "x".into(), evidence, ..Claim::default() });
        }
    }
    let claims: Vec<_> =
        extract(&body).into_iter().map(|it| it.claim.unwrap_or_default()).collect();
    assert_eq!(claims, ["c1", "c2"], "a repetition in the prose is dropped");
}

#[test]
fn ellipsis_matches_only_within_the_cited_lines() {
    let fixture = edge_case_fixture();
    let joined = "```rust src/far.rs:1-4\nfn first_of_all() {}\n...\nfn last_of_all() {}\n```\n";
    let citation = &fixture.check_prose(joined)[0];
    assert_ne!(citation.found, CitationStatus::Exact, "{citation:?}");
    let inline = fixture.check_entry("src/limits.rs:1 \"const NEAR ... = 15;\"");
    assert_eq!(inline.found, CitationStatus::Exact, "{inline:?}");
}

#[test]
fn paths_outside_the_repository_are_not_matched() {
    let fixture = edge_case_fixture();
    let outside = fixture.check_entry("/usr/include/src/limits.rs:1 \"const NEAR: u32 = 15;\"");
    assert_eq!(outside.found, CitationStatus::NoSuchPath, "{outside:?}");
    let absolute_path = fixture.repo.root().join("src/limits.rs").display().to_string();
    assert_eq!(
        fixture.check_entry(&format!("{absolute_path}:1 \"const NEAR: u32 = 15;\"")).found,
        CitationStatus::Exact
    );
    for text in ["redis/redis-stack:7", "ghcr.io/foo/bar:12", "TCP/UDP:53", "and/or:3"] {
        let citations = fixture.check_prose(&format!("We use {text} there."));
        assert!(citations.iter().all(|it| !it.found.is_wrong()), "{text}: {citations:?}");
    }
}

#[test]
fn path_resolves_relative_to_the_current_folder() {
    let fixture = edge_case_fixture();
    let text = "`src/limits.rs:1` \"const OTHER_LIMIT: u8 = 1;\"";
    let subfolder_scope = LookupScope { folder: "app/", ..BUILD_INDEX_SCOPE };
    assert_eq!(fixture.check_in_scope(text, &subfolder_scope)[0].found, CitationStatus::Exact);
    assert_ne!(fixture.check_in_scope(text, &BUILD_INDEX_SCOPE)[0].found, CitationStatus::Exact);
}

#[test]
fn quote_may_precede_its_location_or_be_escaped() {
    let fixture = edge_case_fixture();
    for (text, expected) in [
        ("\"const NEAR: u32 = 15;\" (src/limits.rs:1)", CitationStatus::Exact),
        ("\"const NEAR: u32 = 16;\" (src/limits.rs:1)", CitationStatus::NotFound),
        ("`const NEAR: u32 = 16;` at src/limits.rs:1", CitationStatus::NotFound),
        ("src/say.py:1 \"print(\\\"hello there friend\\\")\"", CitationStatus::Exact),
    ] {
        assert_eq!(fixture.check_entry(text).found, expected, "{text}");
    }
    let suggestion = "src/limits.rs:1:\n```suggestion\nconst NEAR: u32 = 30;\n```\n";
    assert!(fixture.check_prose(suggestion).iter().all(|it| !it.found.is_wrong()));
}
