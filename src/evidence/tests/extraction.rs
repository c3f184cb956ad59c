//! Citation parser (`evidence::extract`): tables of text that is parsed as a file location, symbol,
//! commit, URL, document or benchmark, and of text that is not.
use super::extract;
use crate::debate::{Body, Claim, Resolution};
use crate::evidence::{
    CitedTarget, CitedText, Reference, UnverifiableKind, extract_from_text,
    strip_verification_marks,
};
use crate::test_support::debate_fixture::Rng;
use std::time::{Duration, Instant};

/// References as text: `path:10-20 "quote"`, `commit a1b2c3d`, `address`, `benchmark`.
fn describe_references(references: &[Reference]) -> Vec<String> {
    references.iter().map(|reference| describe_target(&reference.target)).collect()
}

fn describe_target(target: &CitedTarget) -> String {
    match target {
        CitedTarget::Location(location) => {
            let lines = match location.lines {
                Some((first, last)) if first == last => format!(":{first}"),
                Some((first, last)) => format!(":{first}-{last}"),
                None => String::new(),
            };
            let text = match &location.text {
                Some(CitedText::Quote(quote)) => format!(" \"{quote}\""),
                Some(CitedText::Symbol(name)) => format!(" `{name}`"),
                None => String::new(),
            };
            format!("{}{lines}{text}{}", location.path, if location.certain { "" } else { "?" })
        }
        CitedTarget::Symbol(name) => format!("`{name}`"),
        CitedTarget::Commit(id) => format!("commit {id}"),
        CitedTarget::Unverifiable(UnverifiableKind::Url) => "address".into(),
        CitedTarget::Unverifiable(UnverifiableKind::Document) => "document".into(),
        CitedTarget::Unverifiable(UnverifiableKind::Benchmark) => "benchmark".into(),
        CitedTarget::Unverifiable(UnverifiableKind::BenchmarkWithoutOutput) => {
            "bare benchmark".into()
        }
    }
}

fn check_text(text: &str, expected: &[&str]) {
    assert_eq!(describe_references(&extract_from_text(text)), expected, "{text}");
}

fn speech_with_evidence(evidence: &[&str]) -> Body {
    let evidence = evidence.iter().map(|entry| (*entry).to_owned()).collect();
    let claim = Claim { id: "c1".into(), text: "x".into(), evidence, ..Claim::default() };
    let mut body = Body::from_prose("");
    if let Body::Speech { claims, .. } = &mut body {
        claims.push(claim);
    }
    body
}

fn check_evidence_entry(entry: &str, expected: &[&str]) {
    let references = extract(&speech_with_evidence(&[entry]));
    assert_eq!(describe_references(&references), expected, "{entry}");
    assert!(references.iter().all(|it| it.is_evidence && it.claim.as_deref() == Some("c1")));
}

#[test]
fn locations_are_parsed_in_many_notations() {
    for (text, expected) in [
        ("see src/a.rs:10.", "src/a.rs:10"),
        ("see src/a.rs:10-20, and", "src/a.rs:10-20"),
        ("(src/a.rs:10–20)", "src/a.rs:10-20"),
        ("src/a.rs:20-10 is reversed", "src/a.rs:10-20"),
        ("src/a.rs:10:5: error", "src/a.rs:10"),
        ("**src/a.rs:10**", "src/a.rs:10"),
        ("`src/a.rs` lines 10-20", "src/a.rs:10-20"),
        ("`src/a.rs`, line 10, says", "src/a.rs:10"),
        ("`src/a.rs` L10-L20", "src/a.rs:10-20"),
        ("src/a.rs (lines 10 to 20)", "src/a.rs:10-20"),
        ("`src/a.rs` at line 10", "src/a.rs:10"),
        ("`src/a.rs`:10", "src/a.rs:10"),
        ("line 10 of `src/a.rs`", "src/a.rs:10"),
        ("lines 10-20 in src/a.rs", "src/a.rs:10-20"),
        ("src/a.rs#L10-L20", "src/a.rs:10-20"),
        ("src/a.rs#L10", "src/a.rs:10"),
        ("src/a.rs(10)", "src/a.rs:10"),
        ("src/a.rs(10,5): warning", "src/a.rs:10"),
        ("src/a.rs:L10-L20", "src/a.rs:10-20"),
        ("[the code](src/a.rs#L10)", "src/a.rs:10"),
        ("[src/a.rs:10](src/a.rs#L10)", "src/a.rs:10"),
        ("src\\sub\\a.rs:10", "src/sub/a.rs:10"),
        ("C:\\code\\repo\\src\\a.rs:10", "/code/repo/src/a.rs:10"),
        ("./src/a.rs:10", "./src/a.rs:10"),
        ("a.rs:10", "a.rs:10"),
        ("Makefile:10", "Makefile:10"),
        ("README.md:3", "README.md:3"),
        ("src/données/été.py:7", "src/données/été.py:7"),
        ("见src/数据.rs:10。", "见src/数据.rs:10"),
        ("`my docs/read me.md:4`", "my docs/read me.md:4"),
        ("app/[id]/page.tsx:4", "app/[id]/page.tsx:4"),
        ("src/a.xyz:10", "src/a.xyz:10"),
        (".github/workflows/ci.yml:3", ".github/workflows/ci.yml:3"),
        ("`Cargo.toml`", "Cargo.toml"),
        ("in src/a.rs there", "src/a.rs"),
        ("__init__.py:3", "__init__.py:3"),
        ("`src/evidence`", "src/evidence?"),
        ("`tests/test_a.py::test_x`", "tests/test_a.py `test_x`"),
        ("src/a.rs:0", "src/a.rs:0"),
        ("src/a.rs#L10C5-L20C3", "src/a.rs:10-20"),
        ("src/a.rs:10:let x", "src/a.rs:10"),
    ] {
        check_text(text, &[expected]);
    }
}

#[test]
fn look_alikes_are_not_parsed_as_locations() {
    for text in [
        "at 12:30",
        "localhost:8080",
        "127.0.0.1:80",
        "example.com:443",
        "db.internal:5432",
        "version 1.2.3",
        "v1.2:30",
        "std::fs::read",
        "`std::fs::read`",
        "a ratio of 3:1",
        "C:\\",
        "key: value",
        "`timeout: 30`",
        "me@example.com:10",
        "me@a.rs",
        ":smile:",
        "foo:bar",
        "foo:10",
        "and/or",
        "I/O",
        "client/server",
        "24/7",
        "Node.js is fast",
        "`Node.js`",
        "e.g. this",
        "`cargo test --test it`",
        "`--flag`",
        "`1.2.3`",
        "`word`",
        "`true`",
        "`None`",
        "`npm run build`",
        "src/*.rs",
        "src/{a,b}.rs",
        "`x = 1`",
        "#ff00aa",
        "`#ff00aa12`",
        "`1234567`",
        "`deadbeef`",
        "facade",
        "a1b2c3d",
        "etc.",
        "1:2:3",
        "``",
        "```",
        "`example.com`",
        "::",
        ":10",
        "/:10",
        "...:10",
        "\"\"",
        "\u{feff}",
        "100%",
        "`$HOME`",
        "`a`",
    ] {
        check_text(text, &[]);
    }
}

#[test]
fn adjacent_quote_belongs_to_the_location() {
    for (text, expected) in [
        ("src/a.rs:10 \"let x = 1;\"", "src/a.rs:10 \"let x = 1;\""),
        ("`src/a.rs:10` – `let x = 1`", "src/a.rs:10 \"let x = 1\""),
        ("src/a.rs:10: “let x = 1;”", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10 ‘let x = 1;’", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10 「let x = 1;」", "src/a.rs:10 \"let x = 1;\""),
        ("`src/a.rs:10` says \"let x = 1;\".", "src/a.rs:10 \"let x = 1;\""),
        ("`src/a.rs` line 10 (`let x = 1;`)", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10 `foo_bar`", "src/a.rs:10 `foo_bar`"),
        ("`foo_bar` in `src/a.rs:10`", "src/a.rs:10 `foo_bar`"),
        ("`Foo::bar()` (src/a.rs:10)", "src/a.rs:10 `Foo::bar`"),
    ] {
        check_text(text, &[expected]);
    }
    check_text("`src/a.rs:10` and later `let x = 1;`", &["src/a.rs:10"]);
    check_text("\"src/a.rs:10\" is \"quoted\"", &["src/a.rs:10 \"quoted\""]);
    check_text("\"it is in src/a.rs:10\"", &["src/a.rs:10"]);
}

#[test]
fn evidence_entries_may_quote_without_quotation_marks() {
    for (entry, expected) in [
        ("src/a.rs:10: let x = 1;", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10 let x = 1;", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10 \"println!(\"hi\")\"", "src/a.rs:10 \"println!(\"hi\")\""),
        ("`src/a.rs:10`: `let x = 1;`", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10-11:\nlet x = 1;\nlet y = 2;", "src/a.rs:10-11 \"let x = 1;\nlet y = 2;\""),
        ("src/a.rs:10 - the function gives up", "src/a.rs:10"),
        ("src/a.rs:10: the function gives up too early", "src/a.rs:10"),
        ("src/a.rs (lines 10-20)", "src/a.rs:10-20"),
        ("src/a.rs", "src/a.rs"),
        ("src/a.rs:10:let x = 1;", "src/a.rs:10 \"let x = 1;\""),
        ("src/a.rs:10 (`let x = 1;`)", "src/a.rs:10 \"let x = 1;\""),
        ("README", "README?"),
        ("Cargo.toml", "Cargo.toml"),
        ("src/a.rs:10 `foo_bar`", "src/a.rs:10 `foo_bar`"),
        ("src/a.rs:foo_bar", "src/a.rs `foo_bar`"),
        ("a1b2c3d", "commit a1b2c3d"),
        ("`a1b2c3d4`", "commit a1b2c3d4"),
        ("commit a1b2c3d fixed it", "commit a1b2c3d"),
        ("Foo::bar", "`Foo::bar`"),
        ("https://example.com/a.rs:10", "address"),
        ("https://github.com/o/r/blob/main/src/a.rs#L10", "address"),
        ("RFC 9110, section 4", "document"),
        ("3x faster", "benchmark"),
        ("12 ms p99 under load", "benchmark"),
        ("I ran it: 3x faster", "bare benchmark"),
        ("cargo bench shows 12 ms", "bare benchmark"),
        ("running it gives 12 ms latency", "bare benchmark"),
        ("I ran it: `time: 12 ms`", "benchmark"),
        ("deadbeef", "document"),
        ("1234567", "document"),
    ] {
        check_evidence_entry(entry, &[expected]);
    }
    check_evidence_entry(
        "src/a.rs:10 \"let x\" and src/b.rs:3 \"let y\"",
        &["src/a.rs:10 \"let x\"", "src/b.rs:3 \"let y\""],
    );
    let described = "In src/a.rs:5 the call `foo(1)` panics";
    check_evidence_entry(described, &["src/a.rs:5", "`foo`"]);
    check_evidence_entry("```rust src/a.rs:10\nlet x = 1;\n```", &["src/a.rs:10 \"let x = 1;\""]);
}

#[test]
fn fenced_code_is_quoted_from_its_named_location() {
    let quoted = "src/a.rs:10-14 \"let x = 1;\"";
    for text in [
        "```rust src/a.rs:10-14\nlet x = 1;\n```",
        "```rust title=\"src/a.rs\" lines 10-14\nlet x = 1;\n```",
        "```rust:src/a.rs:10-14\nlet x = 1;\n```",
        "```10:14:src/a.rs\nlet x = 1;\n```",
        "`src/a.rs:10-14`:\n```\nlet x = 1;\n```",
        "In `src/a.rs` (lines 10-14):\n\n~~~rust\nlet x = 1;\n~~~",
        "**src/a.rs:10-14**\n```rust\nlet x = 1;\n```",
        "- From src/a.rs#L10-L14:\n  ```rust\nlet x = 1;\n  ```",
        "```rust\n// src/a.rs:10-14\nlet x = 1;\n```",
        "```\n# File: src/a.rs (lines 10-14)\nlet x = 1;\n```",
        "```rust src/a.rs:10-14\nlet x = 1;\n",
    ] {
        check_text(text, &[quoted]);
    }
    for (text, expected) in [
        ("```rust\nlet x = src(\"a.rs:10\");\n```", vec![]),
        ("Change `src/a.rs:10` into:\n```\nlet x = 1;\n```", vec!["src/a.rs:10"]),
        ("`src/a.rs:10`:\n```diff\n-let x = 1;\n+let x = 2;\n```", vec!["src/a.rs:10"]),
        ("````\n```\nsrc/a.rs:10\n```\n````", vec![]),
        ("```Dockerfile\nFROM scratch\n```", vec![]),
    ] {
        check_text(text, &expected);
    }
}

#[test]
fn symbols_and_commits_are_parsed_in_backticks() {
    for (text, expected) in [
        ("`foo_bar` is", "`foo_bar`"),
        ("`Foo::bar` is", "`Foo::bar`"),
        ("`foo.bar()` is", "`foo.bar`"),
        ("`FooBar` is", "`FooBar`"),
        ("`fooBar(1, 2)` is", "`fooBar`"),
        ("`println!` is", "`println`"),
        ("`a1b2c3d`", "commit a1b2c3d"),
        ("in commit a1b2c3d4e5", "commit a1b2c3d4e5"),
        ("see https://example.com/x_y:10 there", "address"),
        ("we measured 12 ms p99 here", "bare benchmark"),
    ] {
        check_text(text, &[expected]);
    }
    check_text("it is 3x faster", &[]);
    check_text("we measured 12 ms p99:\n```\np99: 12 ms\n```", &["benchmark"]);
}

#[test]
fn self_assigned_verification_marks_are_stripped() {
    for (text, expected) in [
        ("src/a.rs:10 [verified]", "src/a.rs:10"),
        ("src/a.rs:10 [verified] shows it", "src/a.rs:10 shows it"),
        ("`src/a.rs:10` [checked: exact] and", "`src/a.rs:10` and"),
        ("src/a.rs:10 ✓ verified", "src/a.rs:10"),
        ("src/a.rs:10 (verified).", "src/a.rs:10."),
        ("<verified>src/a.rs:10</verified>", "src/a.rs:10"),
        ("src/a.rs:10 [VERIFIED ✅]", "src/a.rs:10"),
        ("src/a.rs:10 \"x\" [exact]", "src/a.rs:10 \"x\""),
        ("src/a.rs:10 [citation: ok]", "src/a.rs:10"),
        ("src/a.rs:10 [verified] [exact] ✅", "src/a.rs:10"),
        ("it was so [verified]\nnext", "it was so\nnext"),
        // Ordinary prose, not a verification mark.
        ("a (verified) token arrives", "a (verified) token arrives"),
        ("array[exact]", "array[exact]"),
        ("`[verified]`", "`[verified]`"),
        ("```\nx [verified]\n```", "```\nx [verified]\n```"),
        ("it was verified", "it was verified"),
    ] {
        assert_eq!(strip_verification_marks(text), expected, "{text}");
    }
    check_evidence_entry("src/a.rs:10: let x = 1; [verified]", &["src/a.rs:10 \"let x = 1;\""]);
}

#[test]
fn references_are_deduplicated_with_evidence_first() {
    let mut body = speech_with_evidence(&["src/a.rs:10", "src/a.rs:10"]);
    if let Body::Speech { text, resolves, .. } = &mut body {
        *text = "src/a.rs:10 and src/b.rs:2".into();
        let evidence = vec!["src/c.rs:3".into()];
        resolves.push(Resolution { claim: "c0".into(), evidence });
    }
    let references = extract(&body);
    assert_eq!(describe_references(&references), ["src/a.rs:10", "src/c.rs:3", "src/b.rs:2"]);
    let claims: Vec<_> = references.iter().map(|it| it.claim.as_deref()).collect();
    assert_eq!(claims, [Some("c1"), Some("c0"), None]);
    assert!(!references[2].is_evidence);
}

#[test]
fn extraction_limits_count_and_length() {
    let locations: Vec<String> = (0..5_500).map(|nth| format!("src/a{nth}.rs:1")).collect();
    assert_eq!(extract_from_text(&locations.join("\n")).len(), 5_000);
    assert_eq!(extract(&Body::from_prose(locations.join("\n"))).len(), 200);
    let long_block = format!("```rust src/a.rs:1\n{}\n```", "let x = 1;\n".repeat(20_000));
    let CitedTarget::Location(location) = &extract_from_text(&long_block)[0].target else {
        panic!("no location")
    };
    assert_eq!(location.text_str().unwrap().chars().count(), 60_000);
    let raw = format!("src/a.rs:1 \"{}\"", "é".repeat(1_000));
    assert_eq!(extract_from_text(&raw)[0].raw.chars().count(), 300);
}

#[test]
fn hostile_text_is_parsed_in_bounded_time() {
    let backticks: String = (1..1_400).map(|count| "`".repeat(count) + " ").collect();
    for text in [
        "`".repeat(1_000_000),
        "` ".repeat(500_000),
        ":".repeat(200_000),
        "a:".repeat(100_000),
        "\"".repeat(200_000),
        "\"a ".repeat(60_000),
        "“‘「".repeat(20_000),
        "```x\n".repeat(40_000),
        "```\n~~~\n".repeat(20_000),
        "[ok]".repeat(50_000),
        "[ok] x ".repeat(30_000),
        "✅ ".repeat(40_000),
        "(".repeat(200_000),
        "[](".repeat(60_000),
        "a/".repeat(100_000),
        "a.".repeat(100_000),
        "1".repeat(200_000),
        "1 ms ".repeat(40_000),
        "line 1 of ".repeat(20_000),
        "src/a.rs:1 \"".repeat(16_000),
        "`a_b` in ".repeat(20_000),
        "commit a1b2c3d ".repeat(12_000),
        "x".repeat(200_000),
        "i ran ".repeat(32_000),
        "src/a.rs ".repeat(20_000) + "```",
        backticks,
    ] {
        let started = Instant::now();
        let start: String = text.chars().take(12).collect();
        assert!(extract_from_text(&text).len() <= 200);
        extract(&speech_with_evidence(&[&text]));
        assert!(started.elapsed() < Duration::from_secs(5), "{start}: {:?}", started.elapsed());
    }
}

/// Fuzz test: randomly edited text never makes the parser panic.
#[test]
fn randomly_edited_text_never_panics() {
    let seed = "In `src/a.rs` (lines 10-14): “let x” 「é」 [verified] ✓\n```rust src/a.rs:1\n 1 | x\n\
                ...\n```\nC:\\a\\b.rs(3) a1b2c3d https://x.y/z#L1 we ran 3x faster ‘’ ``a`` `b`";
    let alphabet: Vec<char> =
        "`\"“”‘’「」[]()<>:#L-–0159./\\ \n\t~✓é\u{feff}\u{0}".chars().collect();
    let mut rng = Rng(7);
    for _ in 0..3_000 {
        let mut text: Vec<char> = seed.chars().collect();
        for _ in 0..rng.below(12) {
            let index = rng.below(text.len());
            match rng.below(3) {
                0 => drop(text.remove(index)),
                1 => text.insert(index, alphabet[rng.below(alphabet.len())]),
                _ => text[index] = alphabet[rng.below(alphabet.len())],
            }
        }
        let text: String = text.into_iter().collect();
        assert!(extract_from_text(&text).len() < 50);
        extract(&speech_with_evidence(&[&text]));
        assert_eq!(extract_from_text(&text), extract_from_text(&text));
    }
}
