//! Escaping in the outputs for CI services and browsers: workflow commands, JSON, SARIF, rdjson,
//! GitLab and HTML stay valid with hostile texts, and paths stay inside the repository.
use super::escaping::{random_review, random_reviews};
use super::formats::{assert_valid_sarif, location, render_json};
use crate::debate::invisible_chars::is_invisible;
use crate::review::Review;
use crate::review::output::{ReviewFormat, location as output_location, render_review};

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
        let is_cited_file = |file: &String| {
            review.findings.iter().any(|it| it.place.as_ref().is_some_and(|at| at.file == *file))
        };
        assert!(files.iter().all(is_cited_file), "{files:?}");
    }
}

#[test]
fn json_outputs_are_valid_with_safe_paths() {
    for review in random_reviews() {
        assert_eq!(
            serde_json::from_str::<Review>(&render_review(&review, ReviewFormat::Json)).unwrap(),
            review
        );
        for format in
            [ReviewFormat::Json, ReviewFormat::Sarif, ReviewFormat::Rdjson, ReviewFormat::Gitlab]
        {
            let text = render_review(&review, format);
            assert!(!text.chars().any(is_invisible) && text.starts_with(['{', '[']), "{text:?}");
            assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
            let lines = text.lines().map(str::trim_start);
            assert!(lines.into_iter().all(|line| !line.starts_with("::")), "{text}");
        }
        let located_files: Vec<&str> = review
            .findings
            .iter()
            .filter_map(|it| output_location::repo_path(it.place.as_ref()))
            .collect();
        let sarif = render_json(&review, ReviewFormat::Sarif);
        let run = &sarif["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), located_files.len());
        for (result, file) in results.iter().zip(&located_files) {
            let artifact = &result["locations"][0]["physicalLocation"]["artifactLocation"];
            let uri = artifact["uri"].as_str().unwrap();
            assert_eq!(percent_decode(uri), *file);
            assert!(!uri.starts_with('/') && !uri.contains(':'), "{uri}");
            assert!(uri.split('/').all(|name| name != ".."), "{uri}");
            let message = result["message"]["text"].as_str().unwrap();
            assert!(!message.contains("](") && !message.contains("{0"), "{message}");
        }
        let unlocated_count = review.findings.len() - located_files.len();
        let has_note = run["invocations"].to_string().contains(" without a place in the files");
        assert_eq!(has_note, unlocated_count > 0);
        for format in [ReviewFormat::Gitlab, ReviewFormat::Rdjson] {
            let value = render_json(&review, format);
            let entries = value.as_array().or(value["diagnostics"].as_array()).unwrap();
            let paths: Vec<_> =
                entries.iter().map(|it| it["location"]["path"].as_str().unwrap()).collect();
            assert_eq!(paths, located_files);
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
        assert!(page.chars().all(|c| c == '\u{200d}' || !is_invisible(c)));
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
        let code_location = location(file, 1, 1);
        assert_eq!(
            output_location::repo_path(Some(&code_location))
                .map(output_location::relative_uri)
                .as_deref(),
            uri,
            "{file:?}"
        );
    }
    assert_eq!(output_location::line_range(Some(&location("a", 0, 3))), None);
    assert_eq!(output_location::line_range(Some(&location("a", 5, 3))), Some((5, 5)));
}
