//! `StreamPreview`: the readable text of a streamed reply, the same however the stream is split
//! into chunks. Prose hides the claims block, a JSON object shows only its text fields.
use crate::report::stream_preview::StreamPreview;
use crate::test_support::debate_fixture::Rng;

fn preview_whole(mut preview: StreamPreview, text: &str) -> String {
    preview.push(text) + &preview.finish()
}

fn preview_by_chars(mut preview: StreamPreview, text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        shown += &preview.push(c.encode_utf8(&mut [0; 4]));
    }
    shown + &preview.finish()
}

#[test]
fn prose_preview_hides_the_claims_block() {
    for (text, expected) in [
        ("", ""),
        ("Hello, world.", "Hello, world."),
        ("Hello.\n", "Hello.\n"),
        (" \n Hello", " \n Hello"),
        ("Yes.\n\n```claims\n{\"claims\": []}\n```\n", "Yes."),
        ("Yes.\n\n```claims\n{\"claims\": []}\n```", "Yes."),
        ("Yes.\n```claims", "Yes."),
        ("Yes.\n``` claims \r\n{}", "Yes."),
        ("Yes.\n\n  ```claims\n{}\n  ```\nAnd no.\n", "Yes.\nAnd no.\n"),
        ("```claims\n{}\n```\nFirst.", "First."),
        ("```claims\n{}\n```\n```claims\n{}\n```\n", ""),
        ("a\n```claims\n```rust\n{}\n```\nb", "a\nb"),
        ("a\n```rust\nfn f() {}\n```\nb", "a\n```rust\nfn f() {}\n```\nb"),
        ("a\n```\nb\n```\n", "a\n```\nb\n```\n"),
        ("a\n```claimed\nb\n```\n", "a\n```claimed\nb\n```\n"),
        ("a\n```claims of it\nb\n```\n", "a\n```claims of it\nb\n```\n"),
        ("a\n``` cl aims\nb", "a\n``` cl aims\nb"),
        ("in a ```claims block", "in a ```claims block"),
        ("cut off ``", "cut off ``"),
        ("cut off\n```cl", "cut off\n```cl"),
        ("naïve … 中文", "naïve … 中文"),
    ] {
        assert_eq!(preview_whole(StreamPreview::prose(), text), expected, "{text:?}");
        assert_eq!(
            preview_by_chars(StreamPreview::prose(), text),
            expected,
            "{text:?} char by char"
        );
    }
}

#[test]
fn prose_is_buffered_only_where_a_claims_block_may_begin() {
    let mut preview = StreamPreview::prose();
    for (delta, expected) in [
        ("So ", "So"),
        ("it is.", " it is."),
        ("\n\n``", ""),
        ("`", ""),
        ("rust", "\n\n```rust"),
        ("\nlet x", "\nlet x"),
        ("\n```\n", "\n```"),
        ("```claims\n{\"claims\"", ""),
        (": []}\n``", ""),
        ("`\nBye", "\nBye"),
    ] {
        assert_eq!(preview.push(delta), expected, "{delta:?}");
    }
    assert_eq!(preview.finish(), "");
}

#[test]
fn json_preview_shows_only_text_fields() {
    for (text, expected) in [
        (r#"{"comment": "Fine."}"#, "Fine."),
        (r#"{"winner": "pro", "reason": "It held."}"#, "It held."),
        (r#"{"reasons": ["a"], "scores": {"pro": {"reasoning": "b", "value": 3}}}"#, "b"),
        (r#"[{"claim": "a", "because": "b"}, {"text": "c", "recommendation": "d"}]"#, "a\nb\nc\nd"),
        (r#"{"comment": "", "reason": "only"}"#, "only"),
        (r#"{"reason": ["not", "these"], "text": {"no": "nor this"}, "claim": null}"#, ""),
        (r#"{"a": "comment", "b": "text"}"#, ""),
        (r#"{"x": "a \"comment\": \"b\"", "text": "c"}"#, "c"),
        (r#"{"text": "a \"b\" \\ \/ \n\tc"}"#, "a \"b\" \\ / \n\tc"),
        (r#"{"text": "\u00e9\u4e2d\ud83d\ude00!"}"#, "é中😀!"),
        (r#"{"te\u0078t": "name in disguise"}"#, "name in disguise"),
        ("Here you are:\n```json\n{\"comment\": \"ok\"}\n```\nsaid \"text\": \"x\"", "ok"),
        ("{\"comment\":\n\t\"over\nlines\"}", "over\nlines"),
    ] {
        assert_eq!(preview_whole(StreamPreview::json_object(), text), expected, "{text}");
        assert_eq!(
            preview_by_chars(StreamPreview::json_object(), text),
            expected,
            "{text} char by char"
        );
    }
}

#[test]
fn malformed_json_is_previewed_leniently() {
    for (text, expected) in [
        (r#"{"comment": "cut o"#, "cut o"),
        (r#"{"comment": "cut \"#, "cut "),
        (r#"{"comment": "cut \u00"#, "cut "),
        (r#"{"comment": "\ud83d"#, "\u{fffd}"),
        (r#"{"comment": "\ud83dx"}"#, "\u{fffd}x"),
        (r#"{"comment": "\ud83d\ud83d\ude00"}"#, "\u{fffd}😀"),
        (r#"{"comment": "\ud83d\n"}"#, "\u{fffd}\n"),
        (r#"{"comment": "\ude00"}"#, "\u{fffd}"),
        (r#"{"comment": "\u12", "text": "on"}"#, "\u{fffd}\non"),
        (r#"{"comment": "\d+"}"#, r"\d+"),
        (r#"{"comment" "text": "a",, "reason": "b"}}}} "text": "no""#, "a\nb"),
        (r#"{"comment"; "text"}"#, ""),
        ("no object at all", ""),
        ("\"comment\": \"outside\"", ""),
        ("}}}{{{", ""),
    ] {
        assert_eq!(preview_whole(StreamPreview::json_object(), text), expected, "{text}");
        assert_eq!(
            preview_by_chars(StreamPreview::json_object(), text),
            expected,
            "{text} char by char"
        );
    }
}

#[test]
fn json_text_is_previewed_chunk_by_chunk() {
    let mut preview = StreamPreview::json_object();
    for (delta, expected) in [
        ("{\"rea", ""),
        ("son\": \"It ", "It "),
        ("is\\", "is"),
        ("n so \\ud8", "\n so "),
        ("3d\\u", ""),
        ("de00", "😀"),
        ("\", \"text\":", ""),
        (" \"", ""),
        ("b", "\nb"),
        ("\"}", ""),
    ] {
        assert_eq!(preview.push(delta), expected, "{delta:?}");
    }
    assert_eq!(preview.finish(), "");
}

#[test]
fn preview_does_not_depend_on_chunk_boundaries() {
    let fragments = [
        "\"",
        "\\",
        "{",
        "}",
        ":",
        ",",
        "[",
        "]",
        "text",
        "comment",
        "x",
        "\\u",
        "d83d",
        "de00",
        "\\n",
        "\n",
        " ",
        "`",
        "```",
        "```claims",
        "claims",
        "c",
        "中",
        "😀",
        "\r\n",
        "\t",
        "\"text\":\"",
        "{\"comment\":\"",
        "\n```claims\n",
        "\n```\n",
    ];
    let mut rng = Rng(7);
    for _ in 0..4_000 {
        let text = rng.random_text(&fragments, 40);
        for new in [StreamPreview::prose, StreamPreview::json_object] {
            let expected = preview_whole(new(), &text);
            assert_eq!(preview_by_chars(new(), &text), expected, "{text:?}");
            let (mut preview, mut shown, mut rest) = (new(), String::new(), text.as_str());
            while !rest.is_empty() {
                let end = rest.char_indices().nth(1 + rng.below(9)).map_or(rest.len(), |it| it.0);
                shown += &preview.push(&rest[..end]);
                rest = &rest[end..];
            }
            assert_eq!(shown + &preview.finish(), expected, "{text:?}");
        }
    }
}

#[test]
fn prose_without_claims_is_previewed_unchanged() {
    let fragments = ["`", "```", "``` ", "clai", "claim", "x", " ", "\n", "\r\n", "中", "\t"];
    let mut rng = Rng(11);
    for _ in 0..2_000 {
        let text = rng.random_text(&fragments, 30);
        assert_eq!(preview_by_chars(StreamPreview::prose(), &text), text);
    }
}
