//! Escaping in the Markdown outputs: every text of a review is untrusted, and none may be
//! interpreted as markup, a mention, a link or a workflow command. Also home of the generator of
//! hostile reviews.
use super::formats::{checked_evidence, finding, location, small_review};
use crate::debate::invisible_chars::is_invisible;
use crate::debate::{CodeLocation, NotedFinding, Severity};
use crate::review::Review;
use crate::review::finding::{EarlierFinding, Finding, FindingState};
use crate::review::output::pr_comment::COMMENT_MARKER;
use crate::review::output::{ReviewFormat, escape_markdown, render_review, sanitize};
use crate::test_support::debate_fixture::Rng;

/// Fragments that have a meaning in Markdown, HTML, CI logs, terminals or URLs.
const HOSTILE_FRAGMENTS: &[&str] = &[
    "@octocat",
    "@all",
    "#12",
    "owner/repo#12",
    "GH-12",
    "gh-7",
    "!34",
    "a@b.example",
    "https://evil.example/x",
    "www.evil.example",
    "![i](https://evil.example/p.png)",
    "[l](javascript:alert(1))",
    "<https://evil.example>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</details>",
    "</summary>",
    "<details>",
    "-->",
    "<!--",
    "<!-- debate-review -->",
    "]]>",
    "|",
    "||",
    "`",
    "``",
    "```",
    "````",
    "~~~",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\n```\n",
    "\n# Verdict\n",
    "\n---\n",
    "\n- x\n",
    "\n1. y\n",
    "\n> z\n",
    "\n    code\n",
    "\n::error::x\n",
    "::stop-commands::t",
    "::set-env name=A::b",
    "##[add-mask]a",
    "##vso[task.x]y",
    "\n/close\n",
    "\n/lgtm",
    "%0A::error::y",
    "%25",
    "%",
    "%SRCROOT%",
    "{0}",
    "](1)",
    "$x$",
    "$$",
    "\u{1b}[31m",
    "\u{1b}]0;t\u{7}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
    "\u{2028}",
    "\u{85}",
    "\u{0}",
    "\u{9b}31m",
    "&amp;",
    "&#60;script&#62;",
    "\\",
    "\\\\`",
    "*",
    "_",
    "__init__",
    "snake_case",
    "'",
    "\"",
    "\" onload=\"x",
    "</style>",
    "</title>",
    "<",
    ">",
    "&",
    " ",
    "\t",
    "a",
    "word",
    "数据库",
    "é",
    "\u{1f600}",
    "\u{200d}",
    "deadbeef123",
    "[x]: https://evil.example",
    "[^1]",
    ":tada:",
    "=",
    "===",
    "+",
    "C:\\x",
    "../..",
    "/etc/passwd",
    "file.rs",
];

fn random_words(rng: &mut Rng) -> String {
    rng.random_text(HOSTILE_FRAGMENTS, 12)
}

/// A review with random fragments in every text field.
pub(super) fn random_review(seed: u64) -> Review {
    let mut rng = Rng(seed);
    let mut review = small_review();
    review.title = random_words(&mut rng);
    review.change.says = random_words(&mut rng);
    review.reasoning = random_words(&mut rng);
    review.recommendation = random_words(&mut rng);
    review.debate = Some(random_words(&mut rng));
    review.doubts = vec![random_words(&mut rng), random_words(&mut rng)];
    review.notices = vec![random_words(&mut rng)];
    review.findings = (0..4).map(|number| random_finding(number, &mut rng)).collect();
    review.unverified = vec![random_finding(7, &mut rng)];
    for seat in &mut review.seats {
        (seat.role, seat.voice) = (random_words(&mut rng), random_words(&mut rng));
    }
    review.earlier = vec![EarlierFinding {
        noted: NotedFinding {
            rests_on: String::new(),
            fingerprint: random_words(&mut rng),
            claim: random_words(&mut rng),
            severity: Severity::Low,
            place: Some(random_location(&mut rng)),
        },
        state: FindingState::Open,
    }];
    review
}

fn random_location(rng: &mut Rng) -> CodeLocation {
    let mut code_location = location(&random_words(rng), rng.below(3) as u32, rng.below(3) as u32);
    if rng.one_in(2) {
        code_location.file = format!("src/{}x", code_location.file.replace(['/', '\\'], "-"));
    }
    code_location.removed = rng.one_in(4);
    code_location
}

fn random_finding(number: usize, rng: &mut Rng) -> Finding {
    let severities = [Severity::High, Severity::Medium, Severity::Low];
    let mut hostile = finding(number, rng.pick(&severities), &random_words(rng));
    hostile.fingerprint = if rng.one_in(3) { random_words(rng) } else { hostile.fingerprint };
    hostile.place = (!rng.one_in(5)).then(|| random_location(rng));
    hostile.answer = Some(random_words(rng));
    let verified = !rng.one_in(3);
    hostile.evidence = vec![
        checked_evidence(
            &random_words(rng),
            verified,
            Some(random_location(rng)),
            &random_words(rng),
        ),
        checked_evidence("exact", true, None, &random_words(rng)),
    ];
    hostile.evidence[1].raw = random_words(rng);
    hostile
}

pub(super) fn random_reviews() -> impl Iterator<Item = Review> {
    (0..1500).map(random_review)
}

/// The text outside code blocks and code spans, as a Markdown parser would see it.
fn text_outside_code(markdown: &str) -> String {
    let mut prose = String::new();
    let mut open_fence: Option<String> = None;
    for line in markdown.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &open_fence {
            None if ticks.len() >= 3 && line == format!("{ticks}text") => open_fence = Some(ticks),
            None => prose = prose + &remove_code_spans(line) + "\n",
            Some(fence) if line == fence => open_fence = None,
            Some(_) => assert!(line.starts_with("| "), "{line:?} in {markdown}"),
        }
    }
    assert_eq!(open_fence, None, "a block is left open: {markdown}");
    prose
}

fn remove_code_spans(line: &str) -> String {
    let mut prose = String::new();
    let mut rest = line;
    while let Some(index) = rest.find(['`', '\\']) {
        prose.push_str(&rest[..index]);
        rest = &rest[index..];
        if let Some(after) = rest.strip_prefix('\\') {
            let escaped = after.chars().next().unwrap();
            assert!(escaped.is_ascii_punctuation(), "{line}");
            prose.push_str("\\?");
            rest = &after[escaped.len_utf8()..];
            continue;
        }
        let tick_count = rest.len() - rest.trim_start_matches('`').len();
        let inner = &rest[tick_count..];
        let tick_positions = inner.match_indices('`').map(|(index, _)| index);
        let end = tick_positions.filter(|index| !inner[..*index].ends_with('`')).find(|index| {
            inner[*index..].len() - inner[*index..].trim_start_matches('`').len() == tick_count
        });
        let end = end.unwrap_or_else(|| panic!("a span is left open: {line}"));
        prose.push_str("CODE");
        rest = &inner[end + tick_count..];
    }
    prose + rest
}

/// Tags that the output itself writes.
const OWN_TAGS: &[&str] =
    &["<details>", "</details>", "<summary>", "</summary>", "<span>$</span>", COMMENT_MARKER];

#[test]
fn markdown_escapes_all_markup() {
    for review in random_reviews() {
        for format in [ReviewFormat::Md, ReviewFormat::Comment] {
            let text = render_review(&review, format);
            let text = text.strip_prefix(COMMENT_MARKER).unwrap_or(&text);
            let text = text.lines().filter(|line| !line.starts_with("<!-- debate-review:v1 fp="));
            let text = text.collect::<Vec<_>>().join("\n");
            let mut prose = text_outside_code(&text);
            for tag in OWN_TAGS {
                prose = prose.replace(tag, "TAG");
            }
            for active in ["<", "](", "://", "www.", "##[", "##vso[", "\r"] {
                assert!(!prose.contains(active), "{active:?} in {prose}");
            }
            assert_no_mentions(&prose);
            for line in prose.lines() {
                assert_no_block_start(line);
            }
            assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
            assert!(text.chars().all(|c| "\u{200b}\u{200d}".contains(c) || !is_invisible(c)));
        }
    }
}

fn assert_no_mentions(prose: &str) {
    let characters: Vec<char> = prose.chars().collect();
    for (index, pair) in characters.windows(2).enumerate() {
        let is_mention = pair[0] == '@' && pair[1].is_alphanumeric();
        let is_issue_number = pair[0] == '#' && pair[1].is_ascii_digit();
        let is_gh_reference = pair[0] == '-' && pair[1].is_ascii_digit() && index > 1;
        let is_gh_reference = is_gh_reference
            && characters[index - 2..index].iter().collect::<String>().eq_ignore_ascii_case("gh");
        assert!(!is_mention && !is_issue_number && !is_gh_reference, "{pair:?} in {prose}");
    }
    let mut words = prose.split(|c: char| !c.is_ascii_alphanumeric());
    assert!(words.all(|word| word != "deadbeef123"), "{prose}");
}

/// Asserts that the line starts no block, such as a heading or list, except our own.
fn assert_no_block_start(line: &str) {
    let trimmed = line.trim_start();
    let is_own_markup = line.starts_with("> - Doubt: ")
        || line.starts_with("> - Note: ")
        || ["> **Contested: it could as well have come out otherwise.**", ">", "---"]
            .contains(&line)
        || ["## Design review: ", "### ", "#### "].iter().any(|mark| line.starts_with(mark))
        || line.starts_with("- Still")
        || line.starts_with("- **Still open** (low)");
    let starts_block = trimmed.starts_with(['#', '>', '-', '+', '=', '/', ':', '|', '~']);
    assert!(is_own_markup || !starts_block, "{line:?}");
    assert!(!line.starts_with("    ") && !line.starts_with('\t'), "{line:?}");
    let after_digits = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    assert!(
        after_digits.len() == trimmed.len() || !after_digits.starts_with(['.', ')']),
        "{line:?}"
    );
}

#[test]
fn comment_has_exactly_one_marker() {
    for review in random_reviews() {
        let comment = render_review(&review, ReviewFormat::Comment);
        assert!(
            comment.starts_with(&format!("{COMMENT_MARKER}\n<!-- debate-review:v1 fp=")),
            "{comment}"
        );
        let fingerprints = comment.lines().nth(1).unwrap();
        let fingerprints = fingerprints.strip_prefix("<!-- debate-review:v1 fp=").unwrap();
        let fingerprints = fingerprints.strip_suffix(" -->").unwrap();
        assert!(fingerprints.chars().all(|c| c.is_ascii_hexdigit() || c == ','), "{fingerprints}");
        let prose = text_outside_code(&comment.lines().skip(2).collect::<Vec<_>>().join("\n"));
        assert_eq!(
            (prose.matches(COMMENT_MARKER).count(), prose.matches("<!--").count()),
            (0, 0),
            "{prose}"
        );
        assert_eq!(prose.matches("<details>").count(), prose.matches("</details>").count());
    }
}

#[test]
fn marker_in_code_is_escaped() {
    let mut review = small_review();
    review.findings[0].evidence[0].quote = Some(COMMENT_MARKER.into());
    review.findings[0].claim = format!("`{COMMENT_MARKER}` and a\n{COMMENT_MARKER}");
    let comment = render_review(&review, ReviewFormat::Comment);
    assert_eq!(comment.matches(COMMENT_MARKER).count(), 1, "{comment}");
    assert_eq!(comment.matches("<!--").count(), 2, "{comment}");
}

#[test]
fn invisible_characters_are_made_visible() {
    for (text, expected) in [
        ("a\u{202e}b", "a[U+202E]b"),
        ("\u{1b}[31m", "[U+001B][31m"),
        ("a\u{200b}\u{200b}\u{e0041}b", "a[U+200B+2]b"),
        ("a\u{200d}b", "a[U+200D]b"),
        // Joiners that these scripts and emoji need are kept.
        ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
        ("tab\t, line\r\nend", "tab\t, line\nend"),
    ] {
        assert_eq!(sanitize::reveal_invisible(text), expected);
    }
    assert_eq!(sanitize::single_line(" a \n\n b\u{2028}c ", 9), "a b c");
    assert_eq!(sanitize::single_line("数据库数据库", 4), "数据库…");
    assert_eq!(sanitize::multi_line("\na\n b\nc\n", 99, 2), "a\n…");
}

#[test]
fn inline_markdown_is_escaped_and_readable() {
    let zero_width = '\u{200b}';
    for (input, expected) in [
        ("`load` is slow", "`load` is slow".to_owned()),
        ("snake_case and __init__", "snake_case and \\_\\_init\\_\\_".into()),
        ("@ada and a@b", format!("@{zero_width}ada and a@{zero_width}b")),
        ("o/r#12, GH-12", format!("o/r#{zero_width}12, GH-{zero_width}12")),
        ("![i](https://x)", format!("!\\[i\\](https:{zero_width}//x)")),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;".into()),
        ("`a``b`", "`a` `b`".into()),
        ("``` @x", format!("\\`\\`\\` @{zero_width}x")),
        ("in 1234567a", format!("in 123456{zero_width}7a")),
    ] {
        assert_eq!(escape_markdown::escape_line(input, 500), expected);
    }
    assert_eq!(
        escape_markdown::escape_paragraphs("# a\n1. b\n\n\n/close", 99),
        "\\# a\n1\\. b\n\n\\/close"
    );
    assert_eq!(escape_markdown::code_span("a`b", 99), "``a`b``");
    assert_eq!(escape_markdown::code_span("`", 99), "`` ` ``");
    assert_eq!(escape_markdown::code_block("a\n````\nb"), "`````text\n| a\n| ````\n| b\n`````");
    for max_bytes in 0..60 {
        let text = escape_markdown::escape_line(
            "**<script>** `code` @ada 数据库 $$ and more",
            max_bytes.max(3),
        );
        assert!(text.len() <= max_bytes.max(3), "{max_bytes}: {text}");
    }
}
