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
fn review_citing(bench: &ReviewFixture, args: &[&str], evidence: &[&str]) -> Value {
    let about =
        |(nth, it): (usize, &&str)| claim(&format!("C{}", nth + 1), "So it is.", "high", it);
    bench.set_script(&ReviewScript::with_claims(evidence.iter().enumerate().map(about).collect()));
    let before = bench.repository_files();
    let status = bench.git(&["status", "--porcelain", "--", ".", ":!.debates", ":!.claude"]);
    let review = bench.review_to_json(&[args, &["--fresh", "--max-findings", "99"]].concat());
    assert_eq!(bench.repository_files(), before, "a file of the user's has changed");
    let after = bench.git(&["status", "--porcelain", "--", ".", ":!.debates", ":!.claude"]);
    assert_eq!(after, status);
    for form in ["sarif", "rdjson", "gitlab"] {
        bench.output_json(form);
    }
    review
}

/// The location of each finding, as (claim id, location), sorted by id.
fn finding_locations(review: &Value) -> Vec<(String, Value)> {
    let found = review["findings"].as_array().unwrap().iter();
    let mut all: Vec<_> =
        found.map(|it| (it["id"].as_str().unwrap().to_owned(), it["place"].clone())).collect();
    all.sort_by_key(|(id, _)| id.clone());
    all
}

fn location(id: &str, file: &str, line: u32) -> (String, Value) {
    (id.into(), json!({"file": file, "line": line}))
}

fn removed_location(id: &str, file: &str, line: Option<u32>) -> (String, Value) {
    let mut place = json!({"file": file, "removed": true});
    if let Some(line) = line {
        place["line"] = line.into();
    }
    (id.into(), place)
}

fn change_size(review: &Value) -> (u64, u64, u64) {
    let number = |name: &str| review["change"][name].as_u64().unwrap();
    (number("files"), number("added"), number("deleted"))
}

/// A text of distinct lines.
pub(crate) fn numbered_lines(many: usize) -> String {
    (1..=many).fold(String::new(), |mut text, nth| {
        let _ = writeln!(text, "some words of line {nth} and more");
        text
    })
}

#[test]
fn merge_and_branch_are_compared_with_the_right_base() {
    let bench = ReviewFixture::new();
    bench.write_file("src/topic.rs", "fn of_the_topic() {}\n");
    bench.commit("Topic");
    bench.git(&["switch", "--quiet", "main"]);
    bench.write_file("src/other.rs", "fn of_main_alone() {}\n");
    bench.commit("Main goes on");
    bench.git(&["switch", "--quiet", "feature"]);
    bench.git(&["merge", "--quiet", "--no-edit", "main"]);
    bench.write_file("src/topic.rs", "fn of_the_topic() {}\nfn after_the_merge() {}\n");
    bench.commit("More");
    let words = ["src/topic.rs:2 \"fn after_the_merge() {}\""];
    let review = review_citing(&bench, &["main..HEAD"], &words);
    assert_eq!(change_size(&review), (1, 2, 0), "{review:#}");
    assert_eq!(finding_locations(&review), [location("C1", "src/topic.rs", 2)]);
    assert_eq!(change_size(&review_citing(&bench, &["main...HEAD"], &words)), (1, 2, 0));
    assert_eq!(change_size(&review_citing(&bench, &["--base", "main"], &words)), (1, 2, 0));
    let merge = bench.git(&["rev-parse", "HEAD~1"]);
    let review =
        review_citing(&bench, &["--commit", &merge], &["src/other.rs:1 \"fn of_main_alone() {}\""]);
    assert_eq!(change_size(&review), (1, 1, 0), "{review:#}");
    assert_eq!(finding_locations(&review), [location("C1", "src/other.rs", 1)]);
    assert_eq!(review["change"]["head"], merge.as_str());
}

#[test]
fn renamed_file_can_be_cited_by_both_names() {
    let bench = ReviewFixture::new();
    bench.git(&["switch", "--quiet", "main"]);
    bench.write_file("src/old.rs", numbered_lines(40));
    bench.write_file("src/still.rs", numbered_lines(30).replace("some", "other"));
    bench.commit("More");
    bench.git(&["switch", "--quiet", "--create", "renames"]);
    bench.git(&["mv", "src/old.rs", "src/new.rs"]);
    bench.git(&["mv", "src/still.rs", "src/Still.rs"]);
    let edited = numbered_lines(40).replace("some words of line 5 and more\n", "");
    bench.write_file("src/new.rs", edited);
    bench.commit("Renamed");
    let words = "\"some words of line 5 and more\"";
    let review = review_citing(
        &bench,
        &["main..HEAD"],
        &[
            &format!("src/new.rs:5 {words}"),
            &format!("src/old.rs:5 {words}"),
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
    let bench = ReviewFixture::new();
    fs::remove_file(bench.env().repo_root().join("src/lib.rs")).unwrap();
    bench.write_file("src/main.rs", "fn main() {}\n");
    bench.commit("Gone");
    let review =
        review_citing(&bench, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\"", "src/lib.rs:2"]);
    assert_eq!(
        finding_locations(&review),
        [removed_location("C1", "src/lib.rs", None)],
        "{review:#}"
    );
    assert_eq!(review["unverified"].as_array().unwrap().len(), 1);
    let result =
        &bench.output_json("sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(result["artifactLocation"]["uri"], "src/lib.rs");
    assert!(result.get("region").is_none(), "{result:#}");
    assert!(bench.output_text("annotations").starts_with("::error file=src/lib.rs,title="));
    assert!(bench.output_json("rdjson")["diagnostics"][0]["location"].get("range").is_none());
    assert_eq!(bench.output_json("gitlab")[0]["location"]["lines"]["begin"], 1);
    for form in OUTPUT_FORMATS {
        assert!(!bench.output_text(form).is_empty(), "{form}");
    }
}

#[test]
fn binary_files_are_counted_but_not_cited() {
    let bench = ReviewFixture::new();
    bench.write_file("logo.bin", b"\0\x01the words inside\xff");
    bench.write_file("src/lib.rs", AFTER);
    bench.write_file("src/old.rs", "fn was_text_until_now() {}\n");
    bench.commit("Binary");
    let review =
        review_citing(&bench, &["main..HEAD"], &["logo.bin:1 \"the words inside\"", ADDED_LINE]);
    assert_eq!(
        (change_size(&review).0, finding_locations(&review)),
        (3, vec![location("C2", "src/lib.rs", 3)])
    );
    bench.git(&["branch", "text"]);
    bench.write_file("src/old.rs", b"\0\0\0");
    bench.commit("No text any more");
    let words = ["src/old.rs:1 \"fn was_text_until_now() {}\""];
    let review = review_citing(&bench, &["text..HEAD"], &words);
    assert_eq!(finding_locations(&review).len(), 1, "{review:#}");
    assert_eq!(finding_locations(&review)[0].1["removed"], true, "{review:#}");
}

#[test]
fn mode_change_alone_is_reviewed() {
    let bench = ReviewFixture::new();
    let path = bench.env().repo_root().join("src/lib.rs");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    bench.commit("Runs");
    let review = review_citing(&bench, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\""]);
    assert_eq!(change_size(&review), (1, 0, 0), "{review:#}");
    assert_eq!(review["decision"], "change");
    assert_eq!(finding_locations(&review), [location("C1", "src/lib.rs", 2)]);
}

/// The target of a symlink is never read. The file it replaced can still be cited.
#[test]
fn symlinks_are_reviewed_but_not_followed() {
    let bench = ReviewFixture::new();
    fs::write(bench.env().temp_path("away"), "words that are far away\n").unwrap();
    fs::remove_file(bench.env().repo_root().join("src/lib.rs")).unwrap();
    symlink("../../away", bench.env().repo_root().join("src/lib.rs")).unwrap();
    symlink("/etc", bench.env().repo_root().join("etc")).unwrap();
    bench.commit("Links");
    let review = review_citing(
        &bench,
        &["main..HEAD"],
        &[
            "src/lib.rs:1 \"words that are far away\"",
            "etc/passwd:1 \"root\"",
            "src/lib.rs:2 \"checked(key);\"",
        ],
    );
    let found = finding_locations(&review);
    assert_eq!(found.len(), 1, "{review:#}");
    assert_eq!((found[0].0.as_str(), &found[0].1["removed"]), ("C3", &json!(true)), "{review:#}");
    assert!(!bench.prompts()[0].1.contains("far away"));
}

#[test]
fn submodule_update_is_a_one_line_change() {
    let bench = ReviewFixture::new();
    let first = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},parts/sub")]);
    bench.git(&["commit", "--quiet", "--message", "A submodule"]);
    let review = review_citing(&bench, &["main..HEAD"], &[]);
    assert_eq!(change_size(&review), (1, 1, 0), "{review:#}");
    let second = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["update-index", "--cacheinfo", &format!("160000,{second},parts/sub")]);
    bench.git(&["commit", "--quiet", "--message", "Updated"]);
    let review = review_citing(&bench, &["--commit", "HEAD"], &[]);
    assert_eq!(change_size(&review), (1, 1, 1), "{review:#}");
    assert!(bench.prompts()[0].1.contains("parts/sub"));
}

#[test]
fn crlf_and_missing_final_newline_do_not_hide_quotes() {
    let bench = ReviewFixture::new();
    bench.write_file("src/lib.rs", BEFORE.replace('\n', "\r\n"));
    bench.write_file("src/bare.rs", "fn without_an_end() {}");
    bench.commit("Ends");
    let review = review_citing(
        &bench,
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
    let bench = ReviewFixture::new();
    let skipped = |args: &[&str]| {
        let review = review_citing(&bench, args, &[]);
        let why = review["skipped"].as_str().map(str::to_owned);
        assert_eq!(review["debate"].is_null(), why.is_some(), "{review:#}");
        if why.is_some() {
            assert!(bench.output_text("md").contains("skipped"), "{}", bench.output_text("md"));
            assert_eq!(
                (bench.output_text("comment"), bench.output_text("annotations")),
                Default::default()
            );
        }
        why.unwrap_or_default()
    };
    assert_eq!(skipped(&["main..HEAD"]), "nothing has changed");
    bench.write_file("docs/guide.md", "# Guide\n");
    bench.write_file("README.md", "# Words\n");
    bench.commit("Words");
    assert_eq!(skipped(&["main..HEAD", "--fail-on", "contested"]), "only documents have changed");
    assert_eq!(bench.debate_count(), 0);
    assert_eq!(skipped(&["main..HEAD", "--docs"]), "", "unless somebody wants it");
    bench.git(&["switch", "--quiet", "--create", "locks", "main"]);
    bench.write_file("Cargo.lock", "version = 3\n");
    bench.commit("Locks");
    assert!(!skipped(&["main..HEAD"]).is_empty());
    bench.git(&["switch", "--quiet", "--create", "decision", "main"]);
    bench.write_file(
        "docs/adr/0001-one-store.md",
        "# One store\n\nWe keep everything in one store.\n",
    );
    bench.commit("A decision");
    assert_eq!(skipped(&["main..HEAD"]), "", "a decision is argued");
}

/// Moving code into a documentation or vendor folder is not a docs-only change.
#[test]
fn code_moved_into_docs_is_still_reviewed() {
    for to in ["docs/lib.txt", "vendor/lib.rs", "old.md"] {
        let bench = ReviewFixture::new();
        let path = bench.env().repo_root().join(to);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        bench.git(&["mv", "src/lib.rs", to]);
        bench.commit("Away with it");
        let review = review_citing(&bench, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\""]);
        assert!(review["skipped"].is_null(), "{to}: {review:#}");
        assert_eq!(
            finding_locations(&review),
            [location("C1", to, 2)],
            "it is known by its new name"
        );
    }
}

#[test]
fn root_commit_and_unrelated_branch_can_be_reviewed() {
    let bench = ReviewFixture::new();
    let first = bench.git(&["rev-parse", "main"]);
    let review = review_citing(&bench, &["--commit", &first], &["src/lib.rs:2 \"checked(key);\""]);
    assert_eq!(
        (change_size(&review), finding_locations(&review)),
        ((1, 4, 0), vec![location("C1", "src/lib.rs", 2)])
    );
    bench.git(&["switch", "--quiet", "--orphan", "stranger"]);
    bench.write_file("src/own.rs", "fn of_a_stranger() {}\n");
    bench.commit("Nothing in common");
    let words = ["src/own.rs:1 \"fn of_a_stranger() {}\"", "src/lib.rs:2 \"checked(key);\""];
    let review = review_citing(&bench, &["main..HEAD"], &words);
    assert_eq!(change_size(&review), (2, 1, 4), "{review:#}");
    let expected = [location("C1", "src/own.rs", 1), removed_location("C2", "src/lib.rs", None)];
    assert_eq!(finding_locations(&review), expected);
}

/// The index differs from both the last commit and the working tree.
#[test]
fn staged_review_reads_the_index() {
    let bench = ReviewFixture::new();
    bench.write_file("src/lib.rs", format!("{BEFORE}fn that_is_staged() {{}}\n"));
    bench.git(&["add", "src/lib.rs"]);
    bench.write_file("src/lib.rs", format!("{BEFORE}fn only_in_the_folder() {{}}\n"));
    bench.write_file("src/untracked.rs", "fn not_added() {}\n");
    let words =
        ["src/lib.rs:5 \"fn that_is_staged() {}\"", "src/lib.rs:5 \"fn only_in_the_folder\""];
    let review = review_citing(&bench, &["--staged"], &words);
    assert_eq!(
        (change_size(&review), finding_locations(&review)),
        ((1, 1, 0), vec![location("C1", "src/lib.rs", 5)])
    );
    let review = review_citing(&bench, &[], &words);
    assert_eq!(change_size(&review), (2, 2, 0), "the working tree: {review:#}");
    assert_eq!(finding_locations(&review), [location("C2", "src/lib.rs", 5)]);
}

#[test]
fn non_utf8_and_multiline_names_stay_on_one_line() {
    let bench = ReviewFixture::new();
    bench.write_file(b"src/caf\xff.rs", "fn of_a_strange_name() {}\n");
    bench.write_file("src/a\nb.rs", "fn of_two_lines() {}\n");
    bench.commit("Names");
    let words = ["src/caf\u{fffd}.rs:1 \"fn of_a_strange_name() {}\""];
    let review = review_citing(&bench, &["main..HEAD"], &words);
    assert_eq!(change_size(&review), (2, 2, 0));
    assert_eq!(finding_locations(&review), [location("C1", "src/caf\u{fffd}.rs", 1)]);
    let prompt = &bench.prompts()[0].1;
    assert!(prompt.contains("src/a\u{fffd}b.rs"), "{prompt}");
}

/// The error names the remedy, before any provider is called.
#[test]
fn missing_commits_are_refused_with_a_hint() {
    let bench = ReviewFixture::with_change();
    for (args, says) in [
        (&["nowhere..HEAD"][..], "there is no commit `nowhere` here"),
        (&["main..nowhere"], "there is no commit `nowhere` here"),
        (&["--commit", "nowhere"], "there is no commit `nowhere` here"),
        (&["--base", "nowhere"], "there is no commit `nowhere` here"),
        (&["main"], "write `BASE..HEAD`"),
        (&["..HEAD"], "write `BASE..HEAD`"),
    ] {
        let done = bench.review_command(args).expect_error(2);
        done.assert_stderr_contains(says);
        done.assert_stderr_contains("hint: `debate review --help`");
    }
    let shallow = bench.env().temp_path("shallow").display().to_string();
    let url = format!("file://{}", bench.env().repo_root().display());
    bench.git(&["clone", "--quiet", "--depth", "1", "--branch", "feature", &url, &shallow]);
    let main = bench.git(&["rev-parse", "main"]);
    let whole = format!("{main}..HEAD");
    for args in [&["--commit", "HEAD"][..], &["main..HEAD"], &[whole.as_str()], &[]] {
        let call = bench.review_command(args).current_dir(shallow.as_ref());
        call.expect_error(2).assert_stderr_contains("fetch-depth: 0");
    }
    assert_eq!(bench.debate_count(), 0);
}

/// Also, no object is written into the user's repository.
#[test]
fn change_of_ten_thousand_files_is_counted_fully() {
    const FILE_COUNT: usize = 10_000;
    let bench = ReviewFixture::new();
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
    let mut import = bench.repo.command("git");
    let file = bench.env().temp_path("stream");
    fs::write(&file, stream).unwrap();
    import.args(["fast-import", "--quiet", "--force"]).stdout(Stdio::null());
    assert!(import.stdin(fs::File::open(&file).unwrap()).status().unwrap().success());
    let objects = bench.git(&["count-objects", "-v"]);
    let words = ["src/part0/file0.rs:1 \"pub const N: usize = 0;\""];
    let review = review_citing(&bench, &["main..huge"], &words);
    assert_eq!(change_size(&review), (10_000, 10_000, 0));
    assert_eq!(finding_locations(&review), [location("C1", "src/part0/file0.rs", 1)]);
    assert!(bench.prompts()[0].1.contains(": 10000 files, +10000 -0"));
    assert_eq!(bench.git(&["count-objects", "-v"]), objects);
}
