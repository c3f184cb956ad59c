//! Escaping in the output formats: every text of a review is untrusted, and none may be interpreted
//! as markup, a mention, a link or a workflow command.
use crate::debate_fixture::Rng;
use crate::review_output::{
    assert_valid_sarif, checked_evidence, finding, location, render_json, small_review,
};
use debate_mcp::debate::{CodeLocation, NotedFinding, Severity};
use debate_mcp::review::Review;
use debate_mcp::review::finding::{EarlierFinding, Finding, FindingState};
use debate_mcp::review::output::{
    COMMENT_MARKER, ReviewFormat, escape_markdown, location as places, render_review, sanitize,
};

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
fn random_review(seed: u64) -> Review {
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
    let mut at = location(&random_words(rng), rng.below(3) as u32, rng.below(3) as u32);
    if rng.one_in(2) {
        at.file = format!("src/{}x", at.file.replace(['/', '\\'], "-"));
    }
    at.removed = rng.one_in(4);
    at
}

fn random_finding(number: usize, rng: &mut Rng) -> Finding {
    let severities = [Severity::High, Severity::Medium, Severity::Low];
    let mut one = finding(number, rng.pick(&severities), &random_words(rng));
    one.fingerprint = if rng.one_in(3) { random_words(rng) } else { one.fingerprint };
    one.place = (!rng.one_in(5)).then(|| random_location(rng));
    one.answer = Some(random_words(rng));
    let seen = !rng.one_in(3);
    one.evidence = vec![
        checked_evidence(&random_words(rng), seen, Some(random_location(rng)), &random_words(rng)),
        checked_evidence("exact", true, None, &random_words(rng)),
    ];
    one.evidence[1].raw = random_words(rng);
    one
}

fn random_reviews() -> impl Iterator<Item = Review> {
    (0..1500).map(random_review)
}

/// The text outside code blocks and code spans, as a Markdown parser would see it.
fn text_outside_code(markdown: &str) -> String {
    let mut kept = String::new();
    let mut open: Option<String> = None;
    for line in markdown.lines() {
        let marks: String = line.chars().take_while(|c| *c == '`').collect();
        match &open {
            None if marks.len() >= 3 && line == format!("{marks}text") => open = Some(marks),
            None => kept = kept + &remove_code_spans(line) + "\n",
            Some(mark) if line == mark => open = None,
            Some(_) => assert!(line.starts_with("| "), "{line:?} in {markdown}"),
        }
    }
    assert_eq!(open, None, "a block is left open: {markdown}");
    kept
}

fn remove_code_spans(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '\\']) {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\\') {
            let letter = after.chars().next().unwrap();
            assert!(letter.is_ascii_punctuation(), "{line}");
            kept.push_str("\\?");
            rest = &after[letter.len_utf8()..];
            continue;
        }
        let marks = rest.len() - rest.trim_start_matches('`').len();
        let inner = &rest[marks..];
        let runs = inner.match_indices('`').map(|(at, _)| at);
        let close = runs
            .filter(|at| !inner[..*at].ends_with('`'))
            .find(|at| inner[*at..].len() - inner[*at..].trim_start_matches('`').len() == marks);
        let close = close.unwrap_or_else(|| panic!("a span is left open: {line}"));
        kept.push_str("CODE");
        rest = &inner[close + marks..];
    }
    kept + rest
}

/// Tags that the output itself writes.
const OWN_TAGS: &[&str] =
    &["<details>", "</details>", "<summary>", "</summary>", "<span>$</span>", COMMENT_MARKER];

#[test]
fn markdown_escapes_all_markup() {
    for review in random_reviews() {
        for form in [ReviewFormat::Md, ReviewFormat::Comment] {
            let text = render_review(&review, form);
            let text = text.strip_prefix(COMMENT_MARKER).unwrap_or(&text);
            let text = text.lines().filter(|line| !line.starts_with("<!-- debate-review:v1 fp="));
            let text = text.collect::<Vec<_>>().join("\n");
            let mut prose = text_outside_code(&text);
            for tag in OWN_TAGS {
                prose = prose.replace(tag, "TAG");
            }
            for bad in ["<", "](", "://", "www.", "##[", "##vso[", "\r"] {
                assert!(!prose.contains(bad), "{bad:?} in {prose}");
            }
            assert_no_mentions(&prose);
            for line in prose.lines() {
                assert_no_block_start(line);
            }
            assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
            assert!(text.chars().all(|c| "\u{200b}\u{200d}".contains(c) || !sanitize::hidden(c)));
        }
    }
}

fn assert_no_mentions(prose: &str) {
    let letters: Vec<char> = prose.chars().collect();
    for (at, two) in letters.windows(2).enumerate() {
        let calls = two[0] == '@' && two[1].is_alphanumeric();
        let refers = two[0] == '#' && two[1].is_ascii_digit();
        let dashed = two[0] == '-' && two[1].is_ascii_digit() && at > 1;
        let dashed =
            dashed && letters[at - 2..at].iter().collect::<String>().eq_ignore_ascii_case("gh");
        assert!(!calls && !refers && !dashed, "{two:?} in {prose}");
    }
    let mut words = prose.split(|c: char| !c.is_ascii_alphanumeric());
    assert!(words.all(|word| word != "deadbeef123"), "{prose}");
}

/// Asserts that the line starts no block, such as a heading or list, except our own.
fn assert_no_block_start(line: &str) {
    let bare = line.trim_start();
    let ours = line.starts_with("> - Doubt: ")
        || line.starts_with("> - Note: ")
        || ["> **Contested: it could as well have come out otherwise.**", ">", "---"]
            .contains(&line)
        || ["## Design review: ", "### ", "#### "].iter().any(|mark| line.starts_with(mark))
        || line.starts_with("- Still")
        || line.starts_with("- **Still open** (low)");
    let marked = bare.starts_with(['#', '>', '-', '+', '=', '/', ':', '|', '~']);
    assert!(ours || !marked, "{line:?}");
    assert!(!line.starts_with("    ") && !line.starts_with('\t'), "{line:?}");
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    assert!(digits.len() == bare.len() || !digits.starts_with(['.', ')']), "{line:?}");
}

#[test]
fn comment_has_exactly_one_marker() {
    for review in random_reviews() {
        let comment = render_review(&review, ReviewFormat::Comment);
        assert!(
            comment.starts_with(&format!("{COMMENT_MARKER}\n<!-- debate-review:v1 fp=")),
            "{comment}"
        );
        let prints = comment.lines().nth(1).unwrap();
        let prints = prints.strip_prefix("<!-- debate-review:v1 fp=").unwrap();
        let prints = prints.strip_suffix(" -->").unwrap();
        assert!(prints.chars().all(|c| c.is_ascii_hexdigit() || c == ','), "{prints}");
        let kept = text_outside_code(&comment.lines().skip(2).collect::<Vec<_>>().join("\n"));
        assert_eq!(
            (kept.matches(COMMENT_MARKER).count(), kept.matches("<!--").count()),
            (0, 0),
            "{kept}"
        );
        assert_eq!(kept.matches("<details>").count(), kept.matches("</details>").count());
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

/// Parses a workflow command like GitHub's runner: name, properties and data.
fn parse_workflow_command(line: &str) -> (String, Vec<(String, String)>, String) {
    let rest = line.strip_prefix("::").unwrap_or_else(|| panic!("{line}"));
    let (opening, data) = rest.split_once("::").unwrap();
    let (name, properties) = opening.split_once(' ').unwrap();
    let properties = properties.split(',').map(|property| {
        let (key, value) = property.split_once('=').unwrap();
        let value = value.replace("%3A", ":").replace("%2C", ",");
        (key.to_owned(), unescape_command(&value))
    });
    (name.to_owned(), properties.collect(), unescape_command(data))
}

fn unescape_command(text: &str) -> String {
    text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
}

#[test]
fn every_annotation_is_one_command_on_one_line() {
    for review in random_reviews() {
        let text = render_review(&review, ReviewFormat::Annotations);
        assert_eq!(text.lines().count(), review.findings.len(), "{text}");
        assert!(text.ends_with('\n') && !text.contains(['\r', '\u{1b}', '\u{85}', '\u{2028}']));
        assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
        let mut files = vec![];
        for line in text.lines() {
            let (name, properties, _) = parse_workflow_command(line);
            assert!(["error", "warning", "notice"].contains(&name.as_str()), "{line}");
            for (key, value) in properties {
                assert!(["file", "line", "endLine", "title"].contains(&key.as_str()), "{line}");
                files.extend((key == "file").then_some(value));
            }
        }
        let known = |file: &String| {
            review.findings.iter().any(|it| it.place.as_ref().is_some_and(|at| at.file == *file))
        };
        assert!(files.iter().all(known), "{files:?}");
    }
}

#[test]
fn json_outputs_are_valid_with_safe_paths() {
    for review in random_reviews() {
        assert_eq!(
            serde_json::from_str::<Review>(&render_review(&review, ReviewFormat::Json)).unwrap(),
            review
        );
        for form in
            [ReviewFormat::Json, ReviewFormat::Sarif, ReviewFormat::Rdjson, ReviewFormat::Gitlab]
        {
            let text = render_review(&review, form);
            assert!(
                !text.chars().any(sanitize::hidden) && text.starts_with(['{', '[']),
                "{text:?}"
            );
            assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
            let lines = text.lines().map(str::trim_start);
            assert!(lines.into_iter().all(|line| !line.starts_with("::")), "{text}");
        }
        let placed: Vec<&str> =
            review.findings.iter().filter_map(|it| places::repo_path(it.place.as_ref())).collect();
        let sarif = render_json(&review, ReviewFormat::Sarif);
        let run = &sarif["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), placed.len());
        for (result, file) in results.iter().zip(&placed) {
            let at = &result["locations"][0]["physicalLocation"]["artifactLocation"];
            let uri = at["uri"].as_str().unwrap();
            assert_eq!(percent_decode(uri), *file);
            assert!(!uri.starts_with('/') && !uri.contains(':'), "{uri}");
            assert!(uri.split('/').all(|name| name != ".."), "{uri}");
            let message = result["message"]["text"].as_str().unwrap();
            assert!(!message.contains("](") && !message.contains("{0"), "{message}");
        }
        let homeless = review.findings.len() - placed.len();
        let told = run["invocations"].to_string().contains(" without a place in the files");
        assert_eq!(told, homeless > 0);
        for form in [ReviewFormat::Gitlab, ReviewFormat::Rdjson] {
            let value = render_json(&review, form);
            let entries = value.as_array().or(value["diagnostics"].as_array()).unwrap();
            let paths: Vec<_> =
                entries.iter().map(|it| it["location"]["path"].as_str().unwrap()).collect();
            assert_eq!(paths, placed);
        }
    }
}

fn percent_decode(uri: &str) -> String {
    let mut bytes = vec![];
    let mut rest = uri.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'%', [a, b, after @ ..]) => {
                let digits = [*a, *b];
                let digits = std::str::from_utf8(&digits).unwrap();
                (u8::from_str_radix(digits, 16).unwrap(), after)
            }
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn hostile_sarif_matches_its_schema() {
    assert_valid_sarif(&(0..200).map(random_review).collect::<Vec<_>>());
}

/// The HTML page contains only tags and attributes of its template.
#[test]
fn html_page_has_only_known_tags() {
    const KNOWN_TAGS: &[&str] = &[
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "ul",
        "li", "div", "strong", "bdi", "code", "pre", "article", "span", "footer", "!doctype",
    ];
    for review in random_reviews() {
        let page = render_review(&review, ReviewFormat::Html);
        for tag in page.split('<').skip(1) {
            let name = tag.trim_start_matches('/').split([' ', '>']).next().unwrap();
            assert!(KNOWN_TAGS.contains(&name), "<{tag} in {page}");
            let attributes = tag.split_once('>').unwrap().0;
            assert!(!attributes.contains("onload") && !attributes.contains("src="), "{attributes}");
        }
        assert_eq!(page.matches("<article>").count(), 5);
        assert_eq!(page.matches("</article>").count(), 5);
        assert_eq!((page.matches("<style>").count(), page.matches("</html>").count()), (1, 1));
        assert!(page.chars().all(|c| c == '\u{200d}' || !sanitize::hidden(c)));
    }
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
    let zero = '\u{200b}';
    for (words, expected) in [
        ("`load` is slow", "`load` is slow".to_owned()),
        ("snake_case and __init__", "snake_case and \\_\\_init\\_\\_".into()),
        ("@ada and a@b", format!("@{zero}ada and a@{zero}b")),
        ("o/r#12, GH-12", format!("o/r#{zero}12, GH-{zero}12")),
        ("![i](https://x)", format!("!\\[i\\](https:{zero}//x)")),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;".into()),
        ("`a``b`", "`a` `b`".into()),
        ("``` @x", format!("\\`\\`\\` @{zero}x")),
        ("in 1234567a", format!("in 123456{zero}7a")),
    ] {
        assert_eq!(escape_markdown::escape_line(words, 500), expected);
    }
    assert_eq!(
        escape_markdown::escape_paragraphs("# a\n1. b\n\n\n/close", 99),
        "\\# a\n1\\. b\n\n\\/close"
    );
    assert_eq!(escape_markdown::code_span("a`b", 99), "``a`b``");
    assert_eq!(escape_markdown::code_span("`", 99), "`` ` ``");
    assert_eq!(escape_markdown::code_block("a\n````\nb"), "`````text\n| a\n| ````\n| b\n`````");
    for most in 0..60 {
        let text = escape_markdown::escape_line(
            "**<script>** `code` @ada 数据库 $$ and more",
            most.max(3),
        );
        assert!(text.len() <= most.max(3), "{most}: {text}");
    }
}

#[test]
fn only_relative_paths_inside_the_root_are_locations() {
    for (file, uri) in [
        ("src/a.rs", Some("src/a.rs")),
        ("a b?#%.rs", Some("a%20b%3F%23%25.rs")),
        ("%SRCROOT%/x", Some("%25SRCROOT%25/x")),
        ("new\nline", Some("new%0Aline")),
        ("ab:c", Some("ab%3Ac")),
        ("数", Some("%E6%95%B0")),
        ("..a/b..", Some("..a/b..")),
        ("/etc/passwd", None),
        ("a/../../b", None),
        ("..\\b", None),
        ("C:/x", None),
        ("a//b", None),
        ("./a", None),
        ("", None),
    ] {
        let at = location(file, 1, 1);
        assert_eq!(
            places::repo_path(Some(&at)).map(places::relative_uri).as_deref(),
            uri,
            "{file:?}"
        );
    }
    assert_eq!(places::line_range(Some(&location("a", 0, 3))), None);
    assert_eq!(places::line_range(Some(&location("a", 5, 3))), Some((5, 5)));
}
