//! Quote matching: distance from the cited line, whitespace, ellipses, line prefixes, and search in
//! other files through the Bloom filter index.
use super::lookup::{BUILD_INDEX_SCOPE, CitationFixture};
use crate::debate::CitationStatus;

/// A file with forty distinct lines, and a few others for the edge cases.
fn quote_fixture() -> CitationFixture {
    let lines = (1..=40).map(|nth| format!("    let value_{nth} = make({nth});"));
    let mut text = lines.collect::<Vec<_>>().join("\n") + "\n";
    text +=
        "let quoted = \"a “curly” one\";\n\nfn one(a: u8,\n       b: u8) {\n}\nif x { y }\n...\n";
    text += "- first\n- second\nx = 1\n";
    let licence = "// Everybody may use this file as they like.\n";
    let mut files = vec![("src/a.rs".to_owned(), text)];
    files.extend(
        (0..5).map(|nth| (format!("lib/c{nth}.rs"), format!("{licence}fn only_{nth}() {{}}\n"))),
    );
    files.push(("src/b.rs".into(), "fn elsewhere_entirely(x: u8) {}\n".into()));
    files.push(("w.txt".into(), "\u{feff}first line here\r\n\r\nsecond line here\r\n".into()));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    CitationFixture::new(&files)
}

#[test]
fn quote_status_depends_on_where_it_is_found() {
    let fixture = quote_fixture();
    for (entry, status, location) in [
        ("src/a.rs:10 \"let value_10 = make(10);\"", CitationStatus::Exact, ""),
        ("src/a.rs:5-12 \"let value_10 = make(10);\"", CitationStatus::Exact, ""),
        ("src/a.rs \"let value_10 = make(10);\"", CitationStatus::Exact, "src/a.rs:10"),
        ("src/a.rs:10 \"value_10=make( 10 )\"", CitationStatus::Exact, ""),
        ("src/a.rs:10 \"value_10 = make(10)…\"", CitationStatus::Exact, ""),
        ("src/a.rs:25 \"let value_10 = make(10);\"", CitationStatus::Near, "src/a.rs:10"),
        ("src/a.rs:2 \"let value_17 = make(17);\"", CitationStatus::Near, "src/a.rs:17"),
        (
            "src/a.rs:26 \"let value_10 = make(10);\"",
            CitationStatus::ElsewhereInFile,
            "src/a.rs:10",
        ),
        ("src/a.rs:1 \"let value_17 = make(17);\"", CitationStatus::ElsewhereInFile, "src/a.rs:17"),
        (
            "src/a.rs:1 \"fn elsewhere_entirely(x: u8)\"",
            CitationStatus::ElsewhereInRepo,
            "src/b.rs:1",
        ),
        ("src/a.rs:10 \"let Value_10 = make(10);\"", CitationStatus::NotFound, ""),
        ("src/a.rs:10 \"let value_10 = make(11);\"", CitationStatus::NotFound, ""),
        ("src/a.rs:10 \"let vаlue_10 = make(10);\"", CitationStatus::NotFound, ""),
        ("src/a.rs:41 \"let quoted = \"a “curly” one\";\"", CitationStatus::Exact, ""),
        ("src/a.rs:41 `let quoted = \"a \"curly\" one\";`", CitationStatus::NotFound, ""),
        ("src/a.rs:46 \"if x\"", CitationStatus::TooShort, ""),
        ("src/a.rs:50 \"x = 1\"", CitationStatus::TooShort, ""),
        ("src/a.rs:50 \"z = 9\"", CitationStatus::NotFound, ""),
        (
            "lib/c1.rs:1 \"Everybody may use this file as they like.\"",
            CitationStatus::NonDistinctive,
            "",
        ),
        ("lib/c1.rs:2 \"fn only_1() {}\"", CitationStatus::Exact, ""),
        ("w.txt:1 \"first line here\"", CitationStatus::Exact, ""),
        ("w.txt:3 \"second line here\"", CitationStatus::Exact, ""),
    ] {
        fixture.assert_entry(entry, status, location, "");
    }
}

#[test]
fn multi_line_quote_matches_consecutive_lines_only() {
    let fixture = quote_fixture();
    let check = |quote: &str, status: CitationStatus| {
        let text = format!("```rust src/a.rs:1-43\n{quote}\n```");
        assert_eq!(fixture.check_prose(&text)[0].found, status, "{quote}");
    };
    for (quote, status) in [
        ("let value_1 = make(1);\nlet value_2 = make(2);", CitationStatus::Exact),
        ("value_1 = make(1);\n\n      let value_2", CitationStatus::Exact),
        ("let value_1 = make(1); let value_2 = make(2);", CitationStatus::NotFound),
        ("fn one(a: u8, b: u8)", CitationStatus::NotFound),
        ("fn one(a: u8,\nb: u8)", CitationStatus::Exact),
        ("value_1 = make(1)\nlet value_2", CitationStatus::NotFound),
        ("let value_1 = make(1);\nlet value_3 = make(3);", CitationStatus::NotFound),
        // With an ellipsis.
        ("let value_1 = make(1);\n...\nlet value_3 = make(3);", CitationStatus::Exact),
        ("let value_1 = make(1);\n    // ...\nlet value_30 = make(30);", CitationStatus::Exact),
        (
            "let value_1 = make(1);\n// … more of them …\nlet value_3 = make(3);",
            CitationStatus::Exact,
        ),
        ("... value_1 = make(1);\n…\nlet value_3 = make(3); ...", CitationStatus::Exact),
        ("let value_3 = make(3);\n...\nlet value_1 = make(1);", CitationStatus::NotFound),
        ("let value_1 = make(1);\n...\nlet value_1 = make(1);", CitationStatus::NotFound),
        // With line numbers or diff and quote prefixes on every line.
        ("  1 | let value_1 = make(1);\n  2 | let value_2 = make(2);", CitationStatus::Exact),
        ("1: let value_1 = make(1);\n2: let value_2 = make(2);", CitationStatus::Exact),
        ("1\tlet value_1 = make(1);\n2\tlet value_2 = make(2);", CitationStatus::Exact),
        ("+    let value_1 = make(1);\n+    let value_2 = make(2);", CitationStatus::Exact),
        ("> let value_1 = make(1);\n> let value_2 = make(2);", CitationStatus::Exact),
        (
            "@@ -1,2 +1,3 @@\n-let gone = 1;\n+let value_1 = make(1);\n let value_2",
            CitationStatus::Exact,
        ),
        ("let value_1 = make(1);\r\nlet value_2 = make(2);\r", CitationStatus::Exact),
    ] {
        check(quote, status);
    }
    // Text that looks like a prefix or an ellipsis may be in the file itself.
    let list = "```yaml src/a.rs:48-49\n- first\n- second\n```";
    assert_eq!(fixture.check_prose(list)[0].found, CitationStatus::Exact);
    let dots = "```py src/a.rs:46-48\nif x { y }\n...\n- first\n```";
    assert_eq!(fixture.check_prose(dots)[0].found, CitationStatus::Exact);
}

/// Cites each line from many other lines: the distance alone decides the status.
#[test]
fn distance_from_the_cited_line_decides_the_status() {
    let fixture = quote_fixture();
    let mut lines = vec![];
    let mut expected = vec![];
    for line in (1..=40).step_by(3) {
        for cited in (1..=40_i32).step_by(4) {
            lines.push(format!("src/a.rs:{cited} \"let value_{line} = make({line});\""));
            expected.push(match (cited - line).abs() {
                0 => CitationStatus::Exact,
                1..=15 => CitationStatus::Near,
                _ => CitationStatus::ElsewhereInFile,
            });
        }
    }
    let text = lines.join("\n");
    let statuses: Vec<CitationStatus> =
        fixture.check_prose(&text).iter().map(|citation| citation.found).collect();
    assert_eq!(statuses, expected);
    assert_eq!(
        fixture.check_in_scope(&text, &BUILD_INDEX_SCOPE),
        fixture.check_in_scope(&text, &BUILD_INDEX_SCOPE)
    );
}

#[test]
fn tree_search_finds_every_partial_quote() {
    let mut files = vec![];
    for nth in 0..60 {
        let lines =
            (0..20).map(|line| format!("call_{nth}(arg_{line}, \"text {}\");\n", nth * line));
        files.push((format!("src/f{nth}.rs"), lines.collect::<String>()));
    }
    files.push(("here.rs".into(), "fn here() {}\n".into()));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let fixture = CitationFixture::new(&files);
    for nth in (0..60).step_by(7) {
        for line in [0, 7, 19] {
            // Cut inside a word at both ends.
            let quote = format!("all_{nth}(arg_{line}, \"text {}\"", nth * line);
            let citation = fixture.check_entry(&format!("here.rs:1 `{quote}`"));
            let location = format!("src/f{nth}.rs:{}", line + 1);
            assert_eq!(
                (citation.found, citation.found_at),
                (CitationStatus::ElsewhereInRepo, Some(location))
            );
        }
    }
    fixture.assert_entry(
        "here.rs:1 `call_61(arg_1, \"text 1\")`",
        CitationStatus::NotFound,
        "",
        "",
    );
}
