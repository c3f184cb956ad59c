//! Style normalization: words and code stay, Markdown decoration and emoji are removed.
use crate::debate::text::style::strip_style;
use crate::test_support::debate_fixture::Rng;

#[track_caller]
fn assert_normalized(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(strip_style(text), *expected, "{text:?}");
        assert_eq!(strip_style(expected), *expected, "{text:?} again");
    }
}

#[track_caller]
fn assert_unchanged(texts: &[&str]) {
    for text in texts {
        assert_eq!(strip_style(text), *text);
    }
}

#[test]
fn headings_become_plain_lines() {
    assert_normalized(&[
        ("# Title", "Title"),
        ("###### Deep ######\nText", "Deep\nText"),
        ("## F#", "F#"),
        ("# # Twice", "Twice"),
        ("> ## Quoted", "> Quoted"),
        ("- ## Listed", "- Listed"),
        ("#", ""),
        ("Title\n=====\nText", "Title\nText"),
        ("Title\r\n---\r\nText", "Title\r\nText"),
    ]);
    assert_unchanged(&["#tag", "#123 is open", "####### seven", "a # b", "a == b", "=="]);
}

#[test]
fn horizontal_rules_are_removed() {
    assert_normalized(&[
        ("a\n\n---\n\nb", "a\n\n\nb"),
        ("***\na", "a"),
        ("a\n* * *", "a\n"),
        ("_____", ""),
        ("- - -\n", ""),
    ]);
    assert_unchanged(&["--", "| a | b |\n|---|---|\n| c | d |", "a --- b", "-- x"]);
}

#[test]
fn emphasis_markers_are_removed() {
    assert_normalized(&[
        ("**bold** and *it* and __b__ and _i_", "bold and it and b and i"),
        ("~~gone~~", "gone"),
        ("***both***", "both"),
        ("**a *b* c**", "a b c"),
        ("**a *b***", "a b"),
        ("**Note:** yes", "Note: yes"),
        ("(**a**), \"*b*\".", "(a), \"b\"."),
        ("**React**-based", "React-based"),
        ("**Cost**/**effort**", "Cost/effort"),
        ("|**a**|_b_|", "|a|b|"),
        ("这是**重点**内容", "这是重点内容"),
        ("**方案A**（推荐）", "方案A（推荐）"),
        ("**`code`** here", "`code` here"),
        ("_a_*b*", "a b"),
    ]);
}

#[test]
fn other_asterisks_and_underscores_stay() {
    assert_unchanged(&[
        "snake_case_name",
        "a * b * c",
        "2*3*4",
        "x**2 + y**2",
        "obj.__init__()",
        "__init__.py",
        "a__init__b",
        "src/**/*.rs",
        "src/*/*.rs and *.toml",
        "src/a**/**b",
        "*.rs, src/*",
        "f(*args, **kwargs)",
        "int *p = a;",
        "price* and terms*",
        r"\*not\* \_this\_",
        "~5 and ~~~x~~~ y",
        "https://x.org/_a_/b_c_d",
        "ALL CAPS",
    ]);
}

#[test]
fn bullets_become_dashes() {
    assert_normalized(&[
        ("* a\n  + b\n\t• c\n- d", "- a\n  - b\n\t- c\n- d"),
        ("> * a", "> - a"),
        ("* **a**: b", "- a: b"),
    ]);
    assert_unchanged(&["1. a\n2. b", "> quote", "*a", "+1", "a • b"]);
}

#[test]
fn emoji_are_removed() {
    assert_normalized(&[
        ("## 🚀 Fast", "Fast"),
        ("- ✅ Fast", "- Fast"),
        ("very 🚀 fast", "very fast"),
        ("done 🎉", "done"),
        ("done!🎉🎉\n", "done!\n"),
        ("a😀b", "a b"),
        ("👩🏽‍💻 codes", "codes"),
        ("🇩🇪 or 🏴\u{E0067}\u{E0062}\u{E007F}", "or"),
        ("1️⃣ first 2️⃣ second", "1 first 2 second"),
        ("ℹ️ Note ⚠️", "Note"),
        ("❤️ it", "it"),
        ("**🚀 Fast**: yes", "Fast: yes"),
    ]);
    assert_unchanged(&[
        "a -> b → c ⇒ d",
        "∀x ∈ S: x ≤ 3 ± 1 × 2 ÷ 4",
        "┌─┐\n└─┘",
        "€5, £3, ¥2, $1",
        "中文、日本語、한국어",
        "© ™ ✓ ✗ ① ❶",
        "`🚀` stays in code",
        "naïve … “quotes” – dash",
        "क\u{94D}\u{200D}ष",
    ]);
}

#[test]
fn repeated_punctuation_is_collapsed() {
    assert_normalized(&[
        ("No!!! Why??? What?!?!", "No! Why? What?"),
        ("不！！！", "不！"),
        ("wait!!!!!!", "wait!"),
    ]);
    assert_unchanged(&["No!! Why??", "`!!!x`", "a ?! b"]);
}

#[test]
fn code_is_unchanged() {
    assert_unchanged(&[
        "```\n# a\n**b**\n* c 🚀\n---\n```",
        "~~~md\n# a\n```\n**b**\n~~~",
        "````\n```\n# a\n```\n````",
        "> ```\n> # a **b**\n> ```",
        "- ```sh\n  # a **b**\n  ```",
        "```\nnever **closed**",
        "use `**a**` and ``*b` c*``",
    ]);
    assert_normalized(&[
        ("```\n# a\n```\n# b", "```\n# a\n```\nb"),
        ("```x``` **a**", "```x``` a"),
        ("a ` b **c**", "a ` b c"),
        ("*a `b* c` d*", "a `b* c` d"),
    ]);
}

#[test]
fn normalization_creates_no_code_fence() {
    assert_unchanged(&["**```**\n"]);
    assert_normalized(&[("🚀```\n# a\n```\n# b\n```", "🚀```\na\n```\n# b\n```")]);
}

/// Words, and single characters of scripts without spaces.
fn word_list(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    let mut in_word = false;
    for c in text.chars() {
        let is_wide = matches!(c, '\u{3040}'..='\u{9FFF}');
        if !c.is_alphanumeric() {
            in_word = false;
        } else if let (true, false, Some(word)) = (in_word, is_wide, words.last_mut()) {
            word.push(c);
        } else {
            words.push(c.into());
            in_word = !is_wide;
        }
    }
    words
}

const FRAGMENTS: &[&str] = &[
    "*", "**", "_", "__", "~~", "`", "``", "#", "# ", "> ", "- ", "* ", "+ ", "• ", "-", "=",
    "===", "---", "!", "?", "！", "\\", "a", "b1", "中", "文", "🚀", "\u{FE0F}", "\u{200D}",
    "\u{20E3}", "🇩", "👍🏽", "ℹ", "1", " ", "  ", "\n", "\n\n", "\r\n", "\t", "/", ".", "(", ")",
    "|", "é", "→",
];

#[test]
fn normalization_is_idempotent_and_keeps_words() {
    let mut rng = Rng(3);
    for _ in 0..10_000 {
        let text = rng.random_text(FRAGMENTS, 24);
        // A letter with an emoji variation selector is removed as an emoji.
        if text.contains("ℹ\u{FE0F}") {
            continue;
        }
        let once = strip_style(&text);
        assert_eq!(strip_style(&once), once, "{text:?}");
        assert_eq!(word_list(&once), word_list(&text), "{text:?} became {once:?}");
    }
}

#[test]
fn fenced_code_is_kept_byte_for_byte() {
    let mut rng = Rng(5);
    for _ in 0..4_000 {
        let code = rng.random_text(FRAGMENTS, 16);
        let before = rng.random_text(FRAGMENTS, 8);
        let after = rng.random_text(FRAGMENTS, 8);
        for fence in ["~~~~~~", "``````"] {
            // A fence before the block, or its end inside the code, would change how it is parsed.
            if before.contains("~~~") || before.contains("```") || code.contains(fence) {
                continue;
            }
            let block = format!("{fence}\n{code}\n{fence}\n");
            let out = strip_style(&format!("{before}\n{block}{after}"));
            assert!(out.contains(&block), "{before:?} {code:?} {after:?} became {out:?}");
        }
    }
}

#[test]
fn long_lines_take_linear_time() {
    for part in ["*a ", "**", "`", "# > ", "_a_*", "🚀", "!?", "* "] {
        let text = part.repeat(5_000);
        assert_eq!(word_list(&strip_style(&text)).len(), word_list(&text).len());
    }
}
