//! Markdown of models rendered to HTML: escaped, with safe links only, well formed, and bounded in
//! nesting, size and time.
use crate::page::html::Html;
use crate::page::markdown::render_markdown;
use crate::test_support::html_checker::find_html_error;
use maud::html;
use std::time::{Duration, Instant};

#[track_caller]
fn render_checked(text: &str) -> String {
    let start = Instant::now();
    let html = Html::from(render_markdown(text, 3)).into_string();
    assert!(start.elapsed() < Duration::from_secs(5), "it took {:?}", start.elapsed());
    let excerpt: String = text.chars().take(60).collect();
    assert_eq!(
        find_html_error(&html),
        None,
        "{excerpt:?}: {}",
        html.chars().take(600).collect::<String>()
    );
    html
}

#[test]
fn ordinary_markdown_is_rendered() {
    let html = render_checked(
        "# One\n\nTwo **three** _four_ `five`\n\n- six\n- ~~seven~~\n\n> eight\n\n```rust\nlet a = 1 < 2;\n```\n",
    );
    for part in [
        "<h4>One</h4>",
        "<strong>three</strong>",
        "<em>four</em>",
        "<code>five</code>",
        "<li>six</li>",
        "<s>seven</s>",
        "<blockquote><p>eight</p></blockquote>",
        "data-language=\"rust\"><code>let a = 1 &lt; 2;",
    ] {
        assert!(html.contains(part), "no {part} in {html}");
    }
}

#[test]
fn raw_html_is_escaped() {
    for text in [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<svg onload=alert(1)>",
        "<iframe src=\"javascript:alert(1)\"></iframe>",
        "<!-- <p> --> <?php ?> <![CDATA[x]]>",
        "</article></li></ol><h1>Winner</h1>",
        "&lt;script&gt; &#60;script&#62; &#x3c;img src=x onerror=alert(1)&#x3e;",
        "`<script>`",
        "<a href='javascript:alert(1)'>x</a>",
        "<style>*{display:none}</style>",
        "<div\n\n<script>\nalert(1)\n</script>",
    ] {
        let html = render_checked(text);
        for element in ["<script", "<img", "<svg", "<iframe", "<style", "<h1", "<!--", "<?"] {
            assert!(!html.contains(element), "{text}: {html}");
        }
    }
}

#[test]
fn only_safe_link_targets_are_kept() {
    let html = render_checked(
        "[a](https://example.org/?a=1&b=2 \"t\") <mailto:x@example.org> [c](#turn-0-1-0-0)",
    );
    assert!(html.contains("href=\"https://example.org/?a=1&amp;b=2\""), "{html}");
    assert_eq!(html.matches("rel=\"nofollow noopener noreferrer\"").count(), 3, "{html}");
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "java&#10;script:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
        "/debates/x/actions/pause",
        "../up",
        "http:\u{202e}//x",
        "blob:x",
    ] {
        for text in [
            format!("[x]({address})"),
            format!("[x](<{address}>)"),
            format!("[x]: {address}\n\n[x]"),
        ] {
            let html = render_checked(&text);
            let has_link = html.contains("<a ");
            assert!(!has_link || html.contains("href=\"http"), "{text}: {html}");
            assert!(!html.contains("href=\"/"), "{text}: {html}");
        }
    }
    assert!(!render_checked("[![[in](http://b)](c)](http://a)").contains("</a></a>"));
}

#[test]
fn images_are_replaced_by_text() {
    let html =
        render_checked("![a **map**](https://evil.example/track.png) ![](x \"onerror=alert(1)\")");
    assert!(html.contains("[picture: a <strong>map</strong>]"), "{html}");
    assert!(!html.contains("evil.example") && !html.contains("<img"), "{html}");
}

#[test]
fn nesting_and_size_are_limited() {
    let deep = [
        ">".repeat(10_000) + " deep",
        "> ".repeat(10_000) + "deep",
        "- ".repeat(10_000) + "deep",
        "[".repeat(10_000) + "deep" + &"](x)".repeat(10_000),
        "*".repeat(20_000) + "deep",
        "**a ".repeat(10_000),
        "`".repeat(10_000) + "deep",
        (0..400).map(|nth| " ".repeat(nth * 2) + "- deep\n").collect::<String>(),
        (0..3_000).map(|nth| format!("{nth}. deep\n\n> quoted\n\n")).collect::<Vec<_>>().concat(),
    ];
    for text in &deep {
        let html = render_checked(text);
        let nested = html.matches("<blockquote>").count().max(html.matches("<ul>").count());
        assert!(nested <= 3_000, "{nested}");
        assert!(html.len() < text.len() * 20 + 10_000);
    }
    let columns = |width: usize| "|a".repeat(width) + "|\n" + &"|-".repeat(width) + "|\n";
    let wide = columns(5_000) + &"|b\n".repeat(5_000);
    assert!(render_checked(&wide).len() < 300_000);
    let tall = columns(3) + &"|b|c|d|\n".repeat(20_000);
    let html = render_checked(&tall);
    assert!(html.contains("… 19800 more rows"), "{}", &html[html.len() - 300..]);
    assert_eq!(html.matches("<tr>").count(), 202);
    let long = "word ".repeat(200_000);
    assert!(render_checked(&long).len() < long.len() + 1_000);
}

#[test]
fn headings_are_shifted_and_skip_no_level() {
    let html = render_checked("### a\n\n# b\n\n###### c\n\n# d\n");
    assert_eq!(html, "<h4>a</h4><h4>b</h4><h5>c</h5><h4>d</h4>");
    assert_eq!(render_markdown("# a\n\n## b", 2).into_string(), "<h3>a</h3><h4>b</h4>");
}

#[test]
fn invisible_characters_are_made_visible() {
    let html = render_checked("pay \u{202e}txt.exe\u{202c} \u{200b}now\u{0}");
    assert!(html.contains("\\u{202e}txt.exe"), "{html}");
    assert!(render_checked("中文 **内容** 👩\u{200d}💻").contains("👩\u{200d}💻"));
}

#[test]
fn template_escapes_text() {
    let hostile = "\"><script>'&\u{202e}\r\n";
    let html = Html::from(html! { p title=(hostile) { (hostile) b { (hostile) } } });
    assert_eq!(find_html_error(html.as_str()), None);
    assert_eq!(html.as_str().matches("&lt;script&gt;'&amp;\\u{202e}\n").count(), 3);
}

/// Fuzz test: random sequences of Markdown and HTML fragments.
#[test]
fn random_markdown_renders_well_formed_html() {
    const PIECES: &[&str] = &[
        "<",
        ">",
        "&",
        "\"",
        "'",
        "`",
        "```\n",
        "~~~\n",
        "*",
        "**",
        "_",
        "~~",
        "[",
        "](",
        ")",
        "!",
        "#",
        "# ",
        "- ",
        "1. ",
        "> ",
        "\n",
        "\n\n",
        "|",
        "|-|\n",
        "\\",
        "<script>",
        "</p>",
        "<!--",
        "-->",
        "javascript:",
        "https://x.y",
        "&lt;",
        "&#0;",
        "&#x202e;",
        "    ",
        "\t",
        "a",
        "中",
        "\u{202e}",
        "\r",
        "\u{0}",
        "***\n",
        "===\n",
        "<a href=\"x\">",
        "[^1]",
        "[x]: data:x\n",
        "$",
        "| a | b |\n|---|---|\n| c |\n",
        "<https://x.y>",
        "![",
        "999999999999. ",
    ];
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random_below = |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % limit as u64).unwrap()
    };
    for _ in 0..4_000 {
        let text: String =
            (0..random_below(40)).map(|_| PIECES[random_below(PIECES.len())]).collect();
        render_checked(&text);
    }
}
