//! Changes of every kind that Git knows: each finding has the right file and line, all output
//! formats accept it, and the user's repository stays unchanged.
use crate::review_fixture::{
    ADDED_LINE, AFTER, BEFORE, OUTPUT_FORMATS, ReviewFixture, ReviewScript, claim,
};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

/// Reviews a change with one claim per citation. Asserts that the repository is unchanged.
#[track_caller]
fn review_citing(fixture: &ReviewFixture, args: &[&str], evidence: &[&str]) -> Value {
    let to_claim =
        |(nth, it): (usize, &&str)| claim(&format!("C{}", nth + 1), "So it is.", "high", it);
    fixture.set_script(&ReviewScript::with_claims(
        evidence.iter().enumerate().map(to_claim).collect(),
    ));
    let before = fixture.repository_files();
    let status = fixture.git(&["status", "--porcelain", "--", ".", ":!.debates", ":!.claude"]);
    let review = fixture.review_to_json(&[args, &["--fresh", "--max-findings", "99"]].concat());
    assert_eq!(fixture.repository_files(), before, "a file in the repository has changed");
    let after = fixture.git(&["status", "--porcelain", "--", ".", ":!.debates", ":!.claude"]);
    assert_eq!(after, status);
    for format in ["sarif", "rdjson", "gitlab"] {
        fixture.output_json(format);
    }
    review
}

/// The location of each finding, as (claim id, location), sorted by id.
fn finding_locations(review: &Value) -> Vec<(String, Value)> {
    let findings = review["findings"].as_array().unwrap().iter();
    let mut locations: Vec<_> =
        findings.map(|it| (it["id"].as_str().unwrap().to_owned(), it["place"].clone())).collect();
    locations.sort_by_key(|(id, _)| id.clone());
    locations
}

fn location(id: &str, file: &str, line: u32) -> (String, Value) {
    (id.into(), json!({"file": file, "line": line}))
}

fn removed_location(id: &str, file: &str, line: Option<u32>) -> (String, Value) {
    let mut value = json!({"file": file, "removed": true});
    if let Some(line) = line {
        value["line"] = line.into();
    }
    (id.into(), value)
}

fn change_size(review: &Value) -> (u64, u64, u64) {
    let number = |name: &str| review["change"][name].as_u64().unwrap();
    (number("files"), number("added"), number("deleted"))
}

/// A text of distinct lines.
pub(crate) fn numbered_lines(line_count: usize) -> String {
    (1..=line_count).fold(String::new(), |mut text, nth| {
        let _ = writeln!(text, "some words of line {nth} and more");
        text
    })
}

#[test]
fn merge_and_branch_are_compared_with_the_right_base() {
    let fixture = ReviewFixture::new();
    fixture.write_file("src/topic.rs", "fn of_the_topic() {}\n");
    fixture.commit("Topic");
    fixture.git(&["switch", "--quiet", "main"]);
    fixture.write_file("src/other.rs", "fn of_main_alone() {}\n");
    fixture.commit("Main goes on");
    fixture.git(&["switch", "--quiet", "feature"]);
    fixture.git(&["merge", "--quiet", "--no-edit", "main"]);
    fixture.write_file("src/topic.rs", "fn of_the_topic() {}\nfn after_the_merge() {}\n");
    fixture.commit("More");
    let citations = ["src/topic.rs:2 \"fn after_the_merge() {}\""];
    let review = review_citing(&fixture, &["main..HEAD"], &citations);
    assert_eq!(change_size(&review), (1, 2, 0), "{review:#}");
    assert_eq!(finding_locations(&review), [location("C1", "src/topic.rs", 2)]);
    assert_eq!(change_size(&review_citing(&fixture, &["main...HEAD"], &citations)), (1, 2, 0));
    assert_eq!(change_size(&review_citing(&fixture, &["--base", "main"], &citations)), (1, 2, 0));
    let merge = fixture.git(&["rev-parse", "HEAD~1"]);
    let review = review_citing(
        &fixture,
        &["--commit", &merge],
        &["src/other.rs:1 \"fn of_main_alone() {}\""],
    );
    assert_eq!(change_size(&review), (1, 1, 0), "{review:#}");
    assert_eq!(finding_locations(&review), [location("C1", "src/other.rs", 1)]);
    assert_eq!(review["change"]["head"], merge.as_str());
}

#[test]
fn renamed_file_can_be_cited_by_both_names() {
    let fixture = ReviewFixture::new();
    fixture.git(&["switch", "--quiet", "main"]);
    fixture.write_file("src/old.rs", numbered_lines(40));
    fixture.write_file("src/still.rs", numbered_lines(30).replace("some", "other"));
    fixture.commit("More");
    fixture.git(&["switch", "--quiet", "--create", "renames"]);
    fixture.git(&["mv", "src/old.rs", "src/new.rs"]);
    fixture.git(&["mv", "src/still.rs", "src/Still.rs"]);
    let edited = numbered_lines(40).replace("some words of line 5 and more\n", "");
    fixture.write_file("src/new.rs", edited);
    fixture.commit("Renamed");
    let quote = "\"some words of line 5 and more\"";
    let review = review_citing(
        &fixture,
        &["main..HEAD"],
        &[
            &format!("src/new.rs:5 {quote}"),
            &format!("src/old.rs:5 {quote}"),
            "src/Still.rs:7 \"other words of line 7 and more\"",
        ],
    );
    assert_eq!(change_size(&review), (2, 0, 1), "{review:#}");
    let expected = [
        removed_location("C1", "src/new.rs", Some(5)),
        removed_location("C2", "src/new.rs", Some(5)),
        location("C3", "src/Still.rs", 7),
    ];
    assert_eq!(finding_locations(&review), expected, "{review:#}");
}

/// A deleted file is a location without a line in every output format.
#[test]
fn deleted_file_finding_has_no_line() {
    let fixture = ReviewFixture::new();
    fs::remove_file(fixture.env().repo_root().join("src/lib.rs")).unwrap();
    fixture.write_file("src/main.rs", "fn main() {}\n");
    fixture.commit("Gone");
    let review = review_citing(
        &fixture,
        &["main..HEAD"],
        &["src/lib.rs:2 \"checked(key);\"", "src/lib.rs:2"],
    );
    assert_eq!(
        finding_locations(&review),
        [removed_location("C1", "src/lib.rs", None)],
        "{review:#}"
    );
    assert_eq!(review["unverified"].as_array().unwrap().len(), 1);
    let physical_location =
        &fixture.output_json("sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(physical_location["artifactLocation"]["uri"], "src/lib.rs");
    assert!(physical_location.get("region").is_none(), "{physical_location:#}");
    assert!(fixture.output_text("annotations").starts_with("::error file=src/lib.rs,title="));
    assert!(fixture.output_json("rdjson")["diagnostics"][0]["location"].get("range").is_none());
    assert_eq!(fixture.output_json("gitlab")[0]["location"]["lines"]["begin"], 1);
    for format in OUTPUT_FORMATS {
        assert!(!fixture.output_text(format).is_empty(), "{format}");
    }
}

#[test]
fn binary_files_are_counted_but_not_cited() {
    let fixture = ReviewFixture::new();
    fixture.write_file("logo.bin", b"\0\x01the words inside\xff");
    fixture.write_file("src/lib.rs", AFTER);
    fixture.write_file("src/old.rs", "fn was_text_until_now() {}\n");
    fixture.commit("Binary");
    let review =
        review_citing(&fixture, &["main..HEAD"], &["logo.bin:1 \"the words inside\"", ADDED_LINE]);
    assert_eq!(
        (change_size(&review).0, finding_locations(&review)),
        (3, vec![location("C2", "src/lib.rs", 3)])
    );
    fixture.git(&["branch", "text"]);
    fixture.write_file("src/old.rs", b"\0\0\0");
    fixture.commit("No text any more");
    let citations = ["src/old.rs:1 \"fn was_text_until_now() {}\""];
    let review = review_citing(&fixture, &["text..HEAD"], &citations);
    assert_eq!(finding_locations(&review).len(), 1, "{review:#}");
    assert_eq!(finding_locations(&review)[0].1["removed"], true, "{review:#}");
}

#[test]
fn mode_change_alone_is_reviewed() {
    let fixture = ReviewFixture::new();
    let path = fixture.env().repo_root().join("src/lib.rs");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    fixture.commit("Runs");
    let review = review_citing(&fixture, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\""]);
    assert_eq!(change_size(&review), (1, 0, 0), "{review:#}");
    assert_eq!(review["decision"], "change");
    assert_eq!(finding_locations(&review), [location("C1", "src/lib.rs", 2)]);
}

/// The target of a symlink is never read. The file it replaced can still be cited.
#[test]
fn symlinks_are_reviewed_but_not_followed() {
    let fixture = ReviewFixture::new();
    fs::write(fixture.env().temp_path("away"), "words that are far away\n").unwrap();
    fs::remove_file(fixture.env().repo_root().join("src/lib.rs")).unwrap();
    symlink("../../away", fixture.env().repo_root().join("src/lib.rs")).unwrap();
    symlink("/etc", fixture.env().repo_root().join("etc")).unwrap();
    fixture.commit("Links");
    let review = review_citing(
        &fixture,
        &["main..HEAD"],
        &[
            "src/lib.rs:1 \"words that are far away\"",
            "etc/passwd:1 \"root\"",
            "src/lib.rs:2 \"checked(key);\"",
        ],
    );
    let locations = finding_locations(&review);
    assert_eq!(locations.len(), 1, "{review:#}");
    assert_eq!(
        (locations[0].0.as_str(), &locations[0].1["removed"]),
        ("C3", &json!(true)),
        "{review:#}"
    );
    assert!(!fixture.prompts()[0].1.contains("far away"));
}

#[test]
fn submodule_update_is_a_one_line_change() {
    let fixture = ReviewFixture::new();
    let first = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},parts/sub")]);
    fixture.git(&["commit", "--quiet", "--message", "A submodule"]);
    let review = review_citing(&fixture, &["main..HEAD"], &[]);
    assert_eq!(change_size(&review), (1, 1, 0), "{review:#}");
    let second = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["update-index", "--cacheinfo", &format!("160000,{second},parts/sub")]);
    fixture.git(&["commit", "--quiet", "--message", "Updated"]);
    let review = review_citing(&fixture, &["--commit", "HEAD"], &[]);
    assert_eq!(change_size(&review), (1, 1, 1), "{review:#}");
    assert!(fixture.prompts()[0].1.contains("parts/sub"));
}

#[test]
fn crlf_and_missing_final_newline_do_not_hide_quotes() {
    let fixture = ReviewFixture::new();
    fixture.write_file("src/lib.rs", BEFORE.replace('\n', "\r\n"));
    fixture.write_file("src/bare.rs", "fn without_an_end() {}");
    fixture.commit("Ends");
    let review = review_citing(
        &fixture,
        &["main..HEAD"],
        &["src/lib.rs:2 \"checked(key);\"", "src/bare.rs:1 \"fn without_an_end() {}\""],
    );
    assert_eq!(change_size(&review), (2, 5, 4), "{review:#}");
    let expected = [location("C1", "src/lib.rs", 2), location("C2", "src/bare.rs", 1)];
    assert_eq!(finding_locations(&review), expected, "{review:#}");
}

/// A skipped change opens no debate, and every output format says why.
#[test]
fn empty_docs_only_and_generated_changes_are_skipped() {
    let fixture = ReviewFixture::new();
    let skip_reason = |args: &[&str]| {
        let review = review_citing(&fixture, args, &[]);
        let reason = review["skipped"].as_str().map(str::to_owned);
        assert_eq!(review["debate"].is_null(), reason.is_some(), "{review:#}");
        if reason.is_some() {
            assert!(fixture.output_text("md").contains("skipped"), "{}", fixture.output_text("md"));
            assert_eq!(
                (fixture.output_text("comment"), fixture.output_text("annotations")),
                Default::default()
            );
        }
        reason.unwrap_or_default()
    };
    assert_eq!(skip_reason(&["main..HEAD"]), "nothing has changed");
    fixture.write_file("docs/guide.md", "# Guide\n");
    fixture.write_file("README.md", "# Words\n");
    fixture.commit("Words");
    assert_eq!(
        skip_reason(&["main..HEAD", "--fail-on", "contested"]),
        "only documents have changed"
    );
    assert_eq!(fixture.debate_count(), 0);
    assert_eq!(skip_reason(&["main..HEAD", "--docs"]), "", "`--docs` reviews documents");
    fixture.git(&["switch", "--quiet", "--create", "locks", "main"]);
    fixture.write_file("Cargo.lock", "version = 3\n");
    fixture.commit("Locks");
    assert!(!skip_reason(&["main..HEAD"]).is_empty());
    fixture.git(&["switch", "--quiet", "--create", "decision", "main"]);
    fixture.write_file(
        "docs/adr/0001-one-store.md",
        "# One store\n\nWe keep everything in one store.\n",
    );
    fixture.commit("A decision");
    assert_eq!(skip_reason(&["main..HEAD"]), "", "a decision record is reviewed");
}

/// Moving code into a documentation or vendor folder is not a docs-only change.
#[test]
fn code_moved_into_docs_is_still_reviewed() {
    for new_path in ["docs/lib.txt", "vendor/lib.rs", "old.md"] {
        let fixture = ReviewFixture::new();
        let path = fixture.env().repo_root().join(new_path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fixture.git(&["mv", "src/lib.rs", new_path]);
        fixture.commit("Away with it");
        let review = review_citing(&fixture, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\""]);
        assert!(review["skipped"].is_null(), "{new_path}: {review:#}");
        assert_eq!(
            finding_locations(&review),
            [location("C1", new_path, 2)],
            "the finding has the new path"
        );
    }
}

#[test]
fn root_commit_and_unrelated_branch_can_be_reviewed() {
    let fixture = ReviewFixture::new();
    let first = fixture.git(&["rev-parse", "main"]);
    let review =
        review_citing(&fixture, &["--commit", &first], &["src/lib.rs:2 \"checked(key);\""]);
    assert_eq!(
        (change_size(&review), finding_locations(&review)),
        ((1, 4, 0), vec![location("C1", "src/lib.rs", 2)])
    );
    fixture.git(&["switch", "--quiet", "--orphan", "stranger"]);
    fixture.write_file("src/own.rs", "fn of_a_stranger() {}\n");
    fixture.commit("Nothing in common");
    let citations = ["src/own.rs:1 \"fn of_a_stranger() {}\"", "src/lib.rs:2 \"checked(key);\""];
    let review = review_citing(&fixture, &["main..HEAD"], &citations);
    assert_eq!(change_size(&review), (2, 1, 4), "{review:#}");
    let expected = [location("C1", "src/own.rs", 1), removed_location("C2", "src/lib.rs", None)];
    assert_eq!(finding_locations(&review), expected);
}

/// The index differs from both the last commit and the working tree.
#[test]
fn staged_review_reads_the_index() {
    let fixture = ReviewFixture::new();
    fixture.write_file("src/lib.rs", format!("{BEFORE}fn that_is_staged() {{}}\n"));
    fixture.git(&["add", "src/lib.rs"]);
    fixture.write_file("src/lib.rs", format!("{BEFORE}fn only_in_the_folder() {{}}\n"));
    fixture.write_file("src/untracked.rs", "fn not_added() {}\n");
    let citations =
        ["src/lib.rs:5 \"fn that_is_staged() {}\"", "src/lib.rs:5 \"fn only_in_the_folder\""];
    let review = review_citing(&fixture, &["--staged"], &citations);
    assert_eq!(
        (change_size(&review), finding_locations(&review)),
        ((1, 1, 0), vec![location("C1", "src/lib.rs", 5)])
    );
    let review = review_citing(&fixture, &[], &citations);
    assert_eq!(change_size(&review), (2, 2, 0), "the working tree: {review:#}");
    assert_eq!(finding_locations(&review), [location("C2", "src/lib.rs", 5)]);
}

#[test]
fn non_utf8_and_multiline_names_stay_on_one_line() {
    let fixture = ReviewFixture::new();
    fixture.write_file(b"src/caf\xff.rs", "fn of_a_strange_name() {}\n");
    fixture.write_file("src/a\nb.rs", "fn of_two_lines() {}\n");
    fixture.commit("Names");
    let citations = ["src/caf\u{fffd}.rs:1 \"fn of_a_strange_name() {}\""];
    let review = review_citing(&fixture, &["main..HEAD"], &citations);
    assert_eq!(change_size(&review), (2, 2, 0));
    assert_eq!(finding_locations(&review), [location("C1", "src/caf\u{fffd}.rs", 1)]);
    let prompt = &fixture.prompts()[0].1;
    assert!(prompt.contains("src/a\u{fffd}b.rs"), "{prompt}");
}

/// The error names the remedy, before any provider is called.
#[test]
fn missing_commits_are_refused_with_a_hint() {
    let fixture = ReviewFixture::with_change();
    for (args, expected) in [
        (&["nowhere..HEAD"][..], "there is no commit `nowhere` here"),
        (&["main..nowhere"], "there is no commit `nowhere` here"),
        (&["--commit", "nowhere"], "there is no commit `nowhere` here"),
        (&["--base", "nowhere"], "there is no commit `nowhere` here"),
        (&["main"], "write `BASE..HEAD`"),
        (&["..HEAD"], "write `BASE..HEAD`"),
    ] {
        let output = fixture.review_command(args).expect_error(2);
        output.assert_stderr_contains(expected);
        output.assert_stderr_contains("hint: `debate review --help`");
    }
    let shallow = fixture.env().temp_path("shallow").display().to_string();
    let url = format!("file://{}", fixture.env().repo_root().display());
    fixture.git(&["clone", "--quiet", "--depth", "1", "--branch", "feature", &url, &shallow]);
    let main = fixture.git(&["rev-parse", "main"]);
    let full_range = format!("{main}..HEAD");
    for args in [&["--commit", "HEAD"][..], &["main..HEAD"], &[full_range.as_str()], &[]] {
        let command = fixture.review_command(args).current_dir(shallow.as_ref());
        command.expect_error(2).assert_stderr_contains("fetch-depth: 0");
    }
    assert_eq!(fixture.debate_count(), 0);
}

/// Also, no object is written into the user's repository.
#[test]
fn change_of_ten_thousand_files_is_counted_fully() {
    const FILE_COUNT: usize = 10_000;
    let fixture = ReviewFixture::new();
    let mut stream = String::from(
        "commit refs/heads/huge\ncommitter a <a@b> 0 +0000\ndata 4\nHuge\nfrom refs/heads/main\n",
    );
    for nth in 0..FILE_COUNT {
        let text = format!("pub const N: usize = {nth};\n");
        let _ = write!(
            stream,
            "M 100644 inline src/part{}/file{nth}.rs\ndata {}\n{text}\n",
            nth % 97,
            text.len()
        );
    }
    let mut import = fixture.repo.command("git");
    let file = fixture.env().temp_path("stream");
    fs::write(&file, stream).unwrap();
    import.args(["fast-import", "--quiet", "--force"]).stdout(Stdio::null());
    assert!(import.stdin(fs::File::open(&file).unwrap()).status().unwrap().success());
    let objects = fixture.git(&["count-objects", "-v"]);
    let citations = ["src/part0/file0.rs:1 \"pub const N: usize = 0;\""];
    let review = review_citing(&fixture, &["main..huge"], &citations);
    assert_eq!(change_size(&review), (10_000, 10_000, 0));
    assert_eq!(finding_locations(&review), [location("C1", "src/part0/file0.rs", 1)]);
    assert!(fixture.prompts()[0].1.contains(": 10000 files, +10000 -0"));
    assert_eq!(fixture.git(&["count-objects", "-v"]), objects);
}
