//! Citation edge cases: text that looks like valid evidence and is not, and unusual forms that are
//! valid.
use crate::evidence::{Field, WHOLE};
use debate_mcp::debate::{Body, CitationStatus, Claim};
use debate_mcp::evidence::{LookupScope, extract};

fn field() -> Field {
    let limits = "const NEAR: u32 = 15;\nconst MOST: usize = 150_000;\nconst SHARE: f64 = 0.25;\n";
    let far =
        format!("fn first_of_all() {{}}\n{}fn last_of_all() {{}}\n", "// between\n".repeat(60));
    Field::new(&[
        ("src/limits.rs", limits),
        ("src/far.rs", &far),
        ("src/say.py", "print(\"hello there friend\")\n"),
        ("app/src/limits.rs", "const OTHER_LIMIT: u8 = 1;\n"),
    ])
}

#[test]
fn no_number_is_a_part_of_another() {
    let field = field();
    for (quote, found) in [
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
        let citation = field.entry(&format!("src/limits.rs:1-3 \"{quote}\""));
        assert_eq!(citation.found, found, "{quote}");
    }
}

#[test]
fn every_claim_answers_for_its_own_evidence() {
    let mut body = Body::from_prose("As `src/gone.rs:9` \"never_there()\" shows.");
    if let Body::Speech { claims, .. } = &mut body {
        for id in ["c1", "c2"] {
            let evidence = vec!["src/gone.rs:9 \"never_there()\"".into()];
            claims.push(Claim { id: id.into(), text: "x".into(), evidence, ..Claim::default() });
        }
    }
    let claims: Vec<_> =
        extract(&body).into_iter().map(|it| it.claim.unwrap_or_default()).collect();
    assert_eq!(claims, ["c1", "c2"], "and what prose repeats is no third citation");
}

#[test]
fn what_is_left_out_lies_between() {
    let field = field();
    let joined = "```rust src/far.rs:1-4\nfn first_of_all() {}\n...\nfn last_of_all() {}\n```\n";
    let found = &field.prose(joined)[0];
    assert_ne!(found.found, CitationStatus::Exact, "{found:?}");
    let inline = field.entry("src/limits.rs:1 \"const NEAR ... = 15;\"");
    assert_eq!(inline.found, CitationStatus::Exact, "{inline:?}");
}

#[test]
fn other_places_are_not_this_repository() {
    let field = field();
    let away = field.entry("/usr/include/src/limits.rs:1 \"const NEAR: u32 = 15;\"");
    assert_eq!(away.found, CitationStatus::NoSuchPath, "{away:?}");
    let here = field.ground.root().join("src/limits.rs").display().to_string();
    assert_eq!(
        field.entry(&format!("{here}:1 \"const NEAR: u32 = 15;\"")).found,
        CitationStatus::Exact
    );
    for text in ["redis/redis-stack:7", "ghcr.io/foo/bar:12", "TCP/UDP:53", "and/or:3"] {
        let found = field.prose(&format!("We use {text} there."));
        assert!(found.iter().all(|it| !it.found.is_wrong()), "{text}: {found:?}");
    }
}

#[test]
fn a_path_is_meant_from_where_somebody_stands() {
    let field = field();
    let text = "`src/limits.rs:1` \"const OTHER_LIMIT: u8 = 1;\"";
    let below = LookupScope { folder: "app/", ..WHOLE };
    assert_eq!(field.in_scope(text, &below)[0].found, CitationStatus::Exact);
    assert_ne!(field.in_scope(text, &WHOLE)[0].found, CitationStatus::Exact);
}

#[test]
fn quotes_come_before_places_too_and_marks_may_be_escaped() {
    let field = field();
    for (text, found) in [
        ("\"const NEAR: u32 = 15;\" (src/limits.rs:1)", CitationStatus::Exact),
        ("\"const NEAR: u32 = 16;\" (src/limits.rs:1)", CitationStatus::NotFound),
        ("`const NEAR: u32 = 16;` at src/limits.rs:1", CitationStatus::NotFound),
        ("src/say.py:1 \"print(\\\"hello there friend\\\")\"", CitationStatus::Exact),
    ] {
        assert_eq!(field.entry(text).found, found, "{text}");
    }
    let suggested = "src/limits.rs:1:\n```suggestion\nconst NEAR: u32 = 30;\n```\n";
    assert!(field.prose(suggested).iter().all(|it| !it.found.is_wrong()));
}
