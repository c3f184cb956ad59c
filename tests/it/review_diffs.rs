//! Changes of every kind that Git knows: each finding has the right file and line, all output
//! formats accept it, and the user's repository stays unchanged.
use crate::review_bench::{AFTER, BEFORE, Bench, FORMS, Said, THERE, claim};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

/// Reviews a change with one claim per citation. Asserts that the repository is unchanged.
#[track_caller]
fn found(bench: &Bench, args: &[&str], evidence: &[&str]) -> Value {
    let about =
        |(nth, it): (usize, &&str)| claim(&format!("C{}", nth + 1), "So it is.", "high", it);
    bench.says(&Said::claims(evidence.iter().enumerate().map(about).collect()));
    let before = bench.everything();
    let status = bench.git(&["status", "--porcelain", "--", ".", ":!.debates", ":!.claude"]);
    let review = bench.reviewed(&[args, &["--fresh", "--max-findings", "99"]].concat());
    assert_eq!(bench.everything(), before, "a file of the user's has changed");
    let after = bench.git(&["status", "--porcelain", "--", ".", ":!.debates", ":!.claude"]);
    assert_eq!(after, status);
    for form in ["sarif", "rdjson", "gitlab"] {
        bench.json(form);
    }
    review
}

/// The location of each finding, as (claim id, location), sorted by id.
fn places(review: &Value) -> Vec<(String, Value)> {
    let found = review["findings"].as_array().unwrap().iter();
    let mut all: Vec<_> =
        found.map(|it| (it["id"].as_str().unwrap().to_owned(), it["place"].clone())).collect();
    all.sort_by_key(|(id, _)| id.clone());
    all
}

fn at(id: &str, file: &str, line: u32) -> (String, Value) {
    (id.into(), json!({"file": file, "line": line}))
}

fn gone(id: &str, file: &str, line: Option<u32>) -> (String, Value) {
    let mut place = json!({"file": file, "removed": true});
    if let Some(line) = line {
        place["line"] = line.into();
    }
    (id.into(), place)
}

fn sizes(review: &Value) -> (u64, u64, u64) {
    let number = |name: &str| review["change"][name].as_u64().unwrap();
    (number("files"), number("added"), number("deleted"))
}

/// A text of distinct lines.
pub(crate) fn numbered(many: usize) -> String {
    (1..=many).fold(String::new(), |mut text, nth| {
        let _ = writeln!(text, "some words of line {nth} and more");
        text
    })
}

#[test]
fn a_merge_is_compared_with_its_first_parent_and_a_branch_with_where_it_left() {
    let bench = Bench::new();
    bench.put("src/topic.rs", "fn of_the_topic() {}\n");
    bench.commit("Topic");
    bench.git(&["switch", "--quiet", "main"]);
    bench.put("src/other.rs", "fn of_main_alone() {}\n");
    bench.commit("Main goes on");
    bench.git(&["switch", "--quiet", "feature"]);
    bench.git(&["merge", "--quiet", "--no-edit", "main"]);
    bench.put("src/topic.rs", "fn of_the_topic() {}\nfn after_the_merge() {}\n");
    bench.commit("More");
    let words = ["src/topic.rs:2 \"fn after_the_merge() {}\""];
    let review = found(&bench, &["main..HEAD"], &words);
    assert_eq!(sizes(&review), (1, 2, 0), "{review:#}");
    assert_eq!(places(&review), [at("C1", "src/topic.rs", 2)]);
    assert_eq!(sizes(&found(&bench, &["main...HEAD"], &words)), (1, 2, 0));
    assert_eq!(sizes(&found(&bench, &["--base", "main"], &words)), (1, 2, 0));
    let merge = bench.git(&["rev-parse", "HEAD~1"]);
    let review =
        found(&bench, &["--commit", &merge], &["src/other.rs:1 \"fn of_main_alone() {}\""]);
    assert_eq!(sizes(&review), (1, 1, 0), "{review:#}");
    assert_eq!(places(&review), [at("C1", "src/other.rs", 1)]);
    assert_eq!(review["change"]["head"], merge.as_str());
}

#[test]
fn a_renamed_file_is_known_by_both_names() {
    let bench = Bench::new();
    bench.git(&["switch", "--quiet", "main"]);
    bench.put("src/old.rs", numbered(40));
    bench.put("src/still.rs", numbered(30).replace("some", "other"));
    bench.commit("More");
    bench.git(&["switch", "--quiet", "--create", "renames"]);
    bench.git(&["mv", "src/old.rs", "src/new.rs"]);
    bench.git(&["mv", "src/still.rs", "src/Still.rs"]);
    let edited = numbered(40).replace("some words of line 5 and more\n", "");
    bench.put("src/new.rs", edited);
    bench.commit("Renamed");
    let words = "\"some words of line 5 and more\"";
    let review = found(
        &bench,
        &["main..HEAD"],
        &[
            &format!("src/new.rs:5 {words}"),
            &format!("src/old.rs:5 {words}"),
            "src/Still.rs:7 \"other words of line 7 and more\"",
        ],
    );
    assert_eq!(sizes(&review), (2, 0, 1), "{review:#}");
    let expected = [
        gone("C1", "src/new.rs", Some(5)),
        gone("C2", "src/new.rs", Some(5)),
        at("C3", "src/Still.rs", 7),
    ];
    assert_eq!(places(&review), expected, "{review:#}");
}

/// A deleted file is a location without a line in every output format.
#[test]
fn what_is_deleted_is_found_and_has_no_line() {
    let bench = Bench::new();
    fs::remove_file(bench.lab().root().join("src/lib.rs")).unwrap();
    bench.put("src/main.rs", "fn main() {}\n");
    bench.commit("Gone");
    let review =
        found(&bench, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\"", "src/lib.rs:2"]);
    assert_eq!(places(&review), [gone("C1", "src/lib.rs", None)], "{review:#}");
    assert_eq!(review["unverified"].as_array().unwrap().len(), 1);
    let result = &bench.json("sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(result["artifactLocation"]["uri"], "src/lib.rs");
    assert!(result.get("region").is_none(), "{result:#}");
    assert!(bench.text("annotations").starts_with("::error file=src/lib.rs,title="));
    assert!(bench.json("rdjson")["diagnostics"][0]["location"].get("range").is_none());
    assert_eq!(bench.json("gitlab")[0]["location"]["lines"]["begin"], 1);
    for form in FORMS {
        assert!(!bench.text(form).is_empty(), "{form}");
    }
}

#[test]
fn files_that_are_no_text_are_counted_and_nothing_is_cited_from_them() {
    let bench = Bench::new();
    bench.put("logo.bin", b"\0\x01the words inside\xff");
    bench.put("src/lib.rs", AFTER);
    bench.put("src/old.rs", "fn was_text_until_now() {}\n");
    bench.commit("Binary");
    let review = found(&bench, &["main..HEAD"], &["logo.bin:1 \"the words inside\"", THERE]);
    assert_eq!((sizes(&review).0, places(&review)), (3, vec![at("C2", "src/lib.rs", 3)]));
    bench.git(&["branch", "text"]);
    bench.put("src/old.rs", b"\0\0\0");
    bench.commit("No text any more");
    let words = ["src/old.rs:1 \"fn was_text_until_now() {}\""];
    let review = found(&bench, &["text..HEAD"], &words);
    assert_eq!(places(&review).len(), 1, "{review:#}");
    assert_eq!(places(&review)[0].1["removed"], true, "{review:#}");
}

#[test]
fn a_change_of_modes_alone_is_a_change() {
    let bench = Bench::new();
    let path = bench.lab().root().join("src/lib.rs");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    bench.commit("Runs");
    let review = found(&bench, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\""]);
    assert_eq!(sizes(&review), (1, 0, 0), "{review:#}");
    assert_eq!(review["decision"], "change");
    assert_eq!(places(&review), [at("C1", "src/lib.rs", 2)]);
}

/// The target of a symlink is never read. The file it replaced can still be cited.
#[test]
fn links_are_changes_and_lead_nowhere() {
    let bench = Bench::new();
    fs::write(bench.lab().outside("away"), "words that are far away\n").unwrap();
    fs::remove_file(bench.lab().root().join("src/lib.rs")).unwrap();
    symlink("../../away", bench.lab().root().join("src/lib.rs")).unwrap();
    symlink("/etc", bench.lab().root().join("etc")).unwrap();
    bench.commit("Links");
    let review = found(
        &bench,
        &["main..HEAD"],
        &[
            "src/lib.rs:1 \"words that are far away\"",
            "etc/passwd:1 \"root\"",
            "src/lib.rs:2 \"checked(key);\"",
        ],
    );
    let found = places(&review);
    assert_eq!(found.len(), 1, "{review:#}");
    assert_eq!((found[0].0.as_str(), &found[0].1["removed"]), ("C3", &json!(true)), "{review:#}");
    assert!(!bench.prompts()[0].1.contains("far away"));
}

#[test]
fn submodules_are_changes_of_one_line() {
    let bench = Bench::new();
    let first = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},parts/sub")]);
    bench.git(&["commit", "--quiet", "--message", "A submodule"]);
    let review = found(&bench, &["main..HEAD"], &[]);
    assert_eq!(sizes(&review), (1, 1, 0), "{review:#}");
    let second = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["update-index", "--cacheinfo", &format!("160000,{second},parts/sub")]);
    bench.git(&["commit", "--quiet", "--message", "Updated"]);
    let review = found(&bench, &["--commit", "HEAD"], &[]);
    assert_eq!(sizes(&review), (1, 1, 1), "{review:#}");
    assert!(bench.prompts()[0].1.contains("parts/sub"));
}

#[test]
fn ends_of_lines_and_of_files_do_not_hide_words() {
    let bench = Bench::new();
    bench.put("src/lib.rs", BEFORE.replace('\n', "\r\n"));
    bench.put("src/bare.rs", "fn without_an_end() {}");
    bench.commit("Ends");
    let review = found(
        &bench,
        &["main..HEAD"],
        &["src/lib.rs:2 \"checked(key);\"", "src/bare.rs:1 \"fn without_an_end() {}\""],
    );
    assert_eq!(sizes(&review), (2, 5, 4), "{review:#}");
    let expected = [at("C1", "src/lib.rs", 2), at("C2", "src/bare.rs", 1)];
    assert_eq!(places(&review), expected, "{review:#}");
}

/// A skipped change opens no debate, and every output format says why.
#[test]
fn nothing_documents_and_what_tools_write_are_skipped() {
    let bench = Bench::new();
    let skipped = |args: &[&str]| {
        let review = found(&bench, args, &[]);
        let why = review["skipped"].as_str().map(str::to_owned);
        assert_eq!(review["debate"].is_null(), why.is_some(), "{review:#}");
        if why.is_some() {
            assert!(bench.text("md").contains("skipped"), "{}", bench.text("md"));
            assert_eq!((bench.text("comment"), bench.text("annotations")), Default::default());
        }
        why.unwrap_or_default()
    };
    assert_eq!(skipped(&["main..HEAD"]), "nothing has changed");
    bench.put("docs/guide.md", "# Guide\n");
    bench.put("README.md", "# Words\n");
    bench.commit("Words");
    assert_eq!(skipped(&["main..HEAD", "--fail-on", "contested"]), "only documents have changed");
    assert_eq!(bench.debates(), 0);
    assert_eq!(skipped(&["main..HEAD", "--docs"]), "", "unless somebody wants it");
    bench.git(&["switch", "--quiet", "--create", "locks", "main"]);
    bench.put("Cargo.lock", "version = 3\n");
    bench.commit("Locks");
    assert!(!skipped(&["main..HEAD"]).is_empty());
    bench.git(&["switch", "--quiet", "--create", "decision", "main"]);
    bench.put("docs/adr/0001-one-store.md", "# One store\n\nWe keep everything in one store.\n");
    bench.commit("A decision");
    assert_eq!(skipped(&["main..HEAD"]), "", "a decision is argued");
}

/// Moving code into a documentation or vendor folder is not a docs-only change.
#[test]
fn code_that_becomes_a_document_is_reviewed() {
    for to in ["docs/lib.txt", "vendor/lib.rs", "old.md"] {
        let bench = Bench::new();
        let path = bench.lab().root().join(to);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        bench.git(&["mv", "src/lib.rs", to]);
        bench.commit("Away with it");
        let review = found(&bench, &["main..HEAD"], &["src/lib.rs:2 \"checked(key);\""]);
        assert!(review["skipped"].is_null(), "{to}: {review:#}");
        assert_eq!(places(&review), [at("C1", to, 2)], "it is known by its new name");
    }
}

#[test]
fn the_first_commit_and_strangers_are_compared_with_what_there_is() {
    let bench = Bench::new();
    let first = bench.git(&["rev-parse", "main"]);
    let review = found(&bench, &["--commit", &first], &["src/lib.rs:2 \"checked(key);\""]);
    assert_eq!((sizes(&review), places(&review)), ((1, 4, 0), vec![at("C1", "src/lib.rs", 2)]));
    bench.git(&["switch", "--quiet", "--orphan", "stranger"]);
    bench.put("src/own.rs", "fn of_a_stranger() {}\n");
    bench.commit("Nothing in common");
    let words = ["src/own.rs:1 \"fn of_a_stranger() {}\"", "src/lib.rs:2 \"checked(key);\""];
    let review = found(&bench, &["main..HEAD"], &words);
    assert_eq!(sizes(&review), (2, 1, 4), "{review:#}");
    let expected = [at("C1", "src/own.rs", 1), gone("C2", "src/lib.rs", None)];
    assert_eq!(places(&review), expected);
}

/// The index differs from both the last commit and the working tree.
#[test]
fn what_is_staged_is_what_is_reviewed() {
    let bench = Bench::new();
    bench.put("src/lib.rs", format!("{BEFORE}fn that_is_staged() {{}}\n"));
    bench.git(&["add", "src/lib.rs"]);
    bench.put("src/lib.rs", format!("{BEFORE}fn only_in_the_folder() {{}}\n"));
    bench.put("src/untracked.rs", "fn not_added() {}\n");
    let words =
        ["src/lib.rs:5 \"fn that_is_staged() {}\"", "src/lib.rs:5 \"fn only_in_the_folder\""];
    let review = found(&bench, &["--staged"], &words);
    assert_eq!((sizes(&review), places(&review)), ((1, 1, 0), vec![at("C1", "src/lib.rs", 5)]));
    let review = found(&bench, &[], &words);
    assert_eq!(sizes(&review), (2, 2, 0), "the working tree: {review:#}");
    assert_eq!(places(&review), [at("C2", "src/lib.rs", 5)]);
}

#[test]
fn names_that_are_no_text_are_listed_on_their_line() {
    let bench = Bench::new();
    bench.put(b"src/caf\xff.rs", "fn of_a_strange_name() {}\n");
    bench.put("src/a\nb.rs", "fn of_two_lines() {}\n");
    bench.commit("Names");
    let words = ["src/caf\u{fffd}.rs:1 \"fn of_a_strange_name() {}\""];
    let review = found(&bench, &["main..HEAD"], &words);
    assert_eq!(sizes(&review), (2, 2, 0));
    assert_eq!(places(&review), [at("C1", "src/caf\u{fffd}.rs", 1)]);
    let prompt = &bench.prompts()[0].1;
    assert!(prompt.contains("src/a\u{fffd}b.rs"), "{prompt}");
}

/// The error names the remedy, before any provider is called.
#[test]
fn what_is_not_there_is_said_with_what_to_do() {
    let bench = Bench::changed();
    for (args, says) in [
        (&["nowhere..HEAD"][..], "there is no commit `nowhere` here"),
        (&["main..nowhere"], "there is no commit `nowhere` here"),
        (&["--commit", "nowhere"], "there is no commit `nowhere` here"),
        (&["--base", "nowhere"], "there is no commit `nowhere` here"),
        (&["main"], "write `BASE..HEAD`"),
        (&["..HEAD"], "write `BASE..HEAD`"),
    ] {
        let done = bench.review(args).fails_with(2);
        done.warns(says);
        done.warns("hint: `debate review --help`");
    }
    let shallow = bench.lab().outside("shallow").display().to_string();
    let url = format!("file://{}", bench.lab().root().display());
    bench.git(&["clone", "--quiet", "--depth", "1", "--branch", "feature", &url, &shallow]);
    let main = bench.git(&["rev-parse", "main"]);
    let whole = format!("{main}..HEAD");
    for args in [&["--commit", "HEAD"][..], &["main..HEAD"], &[whole.as_str()], &[]] {
        let call = bench.review(args).folder(shallow.as_ref());
        call.fails_with(2).warns("fetch-depth: 0");
    }
    assert_eq!(bench.debates(), 0);
}

/// Also, no object is written into the user's repository.
#[test]
fn ten_thousand_files_are_all_counted() {
    const MANY: usize = 10_000;
    let bench = Bench::new();
    let mut stream = String::from(
        "commit refs/heads/huge\ncommitter a <a@b> 0 +0000\ndata 4\nHuge\nfrom refs/heads/main\n",
    );
    for nth in 0..MANY {
        let text = format!("pub const N: usize = {nth};\n");
        let _ = write!(
            stream,
            "M 100644 inline src/part{}/file{nth}.rs\ndata {}\n{text}\n",
            nth % 97,
            text.len()
        );
    }
    let mut import = bench.project.command("git");
    let file = bench.lab().outside("stream");
    fs::write(&file, stream).unwrap();
    import.args(["fast-import", "--quiet", "--force"]).stdout(Stdio::null());
    assert!(import.stdin(fs::File::open(&file).unwrap()).status().unwrap().success());
    let objects = bench.git(&["count-objects", "-v"]);
    let words = ["src/part0/file0.rs:1 \"pub const N: usize = 0;\""];
    let review = found(&bench, &["main..huge"], &words);
    assert_eq!(sizes(&review), (10_000, 10_000, 0));
    assert_eq!(places(&review), [at("C1", "src/part0/file0.rs", 1)]);
    assert!(bench.prompts()[0].1.contains(": 10000 files, +10000 -0"));
    assert_eq!(bench.git(&["count-objects", "-v"]), objects);
}
