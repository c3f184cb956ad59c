//! Prompt injection: injected text reaches prompts only inside delimiters, does not change the
//! verdict, and is inert in every output format. The injections are in `review_injection_corpus`.
use crate::review_fixture::{
    ADDED_LINE, AFTER, OTHER_ADDED_LINE, OUTPUT_FORMATS, ReviewFixture, ReviewScript, claim,
};
use crate::review_injection_corpus::{Injection, InjectionSite, all_injections};
use debate_mcp::debate::invisible_chars::is_invisible;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// First line of the comment, by which a workflow finds it again.
const COMMENT_MARKER: &str = "<!-- debate-review -->";

/// A prompt split at its delimiters into our own text and quoted, untrusted text.
pub(crate) struct SplitPrompt {
    pub(crate) own_text: String,
    pub(crate) quoted_text: String,
    pub(crate) delimiters: Vec<String>,
}

/// Parses a prompt: a delimiter line opens a quote, and the same line closes it.
#[track_caller]
pub(crate) fn split_prompt(prompt: &str) -> SplitPrompt {
    let mut parts =
        SplitPrompt { own_text: String::new(), quoted_text: String::new(), delimiters: vec![] };
    let mut open: Option<&str> = None;
    for line in prompt.split('\n') {
        let digits = line.strip_prefix("--- ").unwrap_or_default();
        let is_delimiter = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match open {
            Some(delimiter) if delimiter == line => open = None,
            Some(_) => parts.quoted_text.extend([line, "\n"]),
            None if is_delimiter => {
                parts.delimiters.push(line.to_owned());
                open = Some(line);
            }
            None => parts.own_text.extend([line, "\n"]),
        }
    }
    assert_eq!(open, None, "a quote is not closed:\n{prompt}");
    parts
}

impl Injection {
    /// A repository with this injection, and the arguments of its review.
    fn build_fixture(&self) -> (ReviewFixture, Vec<String>) {
        let fixture = ReviewFixture::new();
        fixture.write_file("src/lib.rs", AFTER);
        let mut message = "Keep what was read";
        let mut args = vec!["main..HEAD".to_owned()];
        match self.site {
            InjectionSite::Code => {
                drop(fixture.write_file("src/hostile.rs", format!("{}\n", self.text)));
            }
            InjectionSite::Literal => {
                let text = format!("pub const IT: &str = \"\n{}\n\";\n", self.text);
                fixture.write_file("src/hostile.rs", text);
            }
            InjectionSite::FileName => drop(fixture.write_file(&self.text, "pub fn named() {}\n")),
            InjectionSite::AgentFile(path) => drop(fixture.write_file(path, &self.text)),
            InjectionSite::CommitMessage => message = &self.text,
            InjectionSite::Title => args.extend(["--pr-title".into(), self.text.clone()]),
            InjectionSite::Description => {
                let file = fixture.env().temp_path("body");
                fs::write(&file, &self.text).unwrap();
                args.extend(["--pr-body".into(), file.display().to_string()]);
            }
        }
        fixture.commit(message);
        (fixture, args)
    }

    /// Reviews the change twice: with normal replies, and with a challenger that repeats the
    /// injected text. Asserts that neither has an effect.
    fn assert_no_effect(&self) {
        let (fixture, mut args) = self.build_fixture();
        args.extend(fixture.output_args());
        for repeats_injection in [false, true] {
            let second_claim =
                if repeats_injection { self.text.as_str() } else { "Nobody holds the lock long." };
            let mut script = ReviewScript::with_claims(vec![
                claim("C1", "What is kept is never let go of.", "high", ADDED_LINE),
                claim("C2", second_claim, "medium", OTHER_ADDED_LINE),
            ]);
            if repeats_injection {
                script.prose = format!("It grows. The change says:\n\n{}\n\nSo much.", self.text);
            }
            fixture.set_script(&script);
            let mut all_args: Vec<&str> = args.iter().map(String::as_str).collect();
            all_args.extend(["--fresh", "--follow"]);
            let output =
                fixture.review_command(&all_args).env("GITHUB_ACTIONS", "true").expect_success();
            for line in output.stdout.lines().chain(output.stderr.lines()) {
                let line = line.trim_start();
                let is_own_command = ["::group::The debate", "::endgroup::"].contains(&line);
                assert!(!line.starts_with("::") || is_own_command, "a command: {line}");
                assert!(!line.contains("##["), "a command: {line}");
            }
            let is_forbidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(
                !output.stdout.contains(is_forbidden) && !output.stderr.contains(is_forbidden),
                "{output:#?}"
            );
            assert_scripted_result(&fixture, &script);
            self.assert_delimited(&fixture, repeats_injection);
            assert_inert_outputs(&fixture);
        }
    }

    /// Asserts that the injection is inside random delimiters in every prompt.
    fn assert_delimited(&self, fixture: &ReviewFixture, repeats_injection: bool) {
        let mut seen_delimiters = BTreeSet::new();
        let prompts = fixture.prompts();
        assert_eq!(prompts.len(), 4);
        for (nth, (seat, prompt)) in prompts.iter().enumerate() {
            let parts = split_prompt(prompt);
            assert!(
                !parts.own_text.contains("xyzzy"),
                "{seat}: outside the delimiters:\n{}",
                parts.own_text
            );
            for delimiter in &parts.delimiters {
                assert!(seen_delimiters.insert(delimiter.clone()), "{delimiter} is used twice");
                assert_eq!(
                    prompt.lines().filter(|line| line == delimiter).count(),
                    2,
                    "{delimiter}"
                );
            }
            // The first prompt quotes the brief only. Later prompts also quote earlier turns.
            assert_eq!(parts.delimiters.len() > 1, nth > 0, "{seat}: {:?}", parts.delimiters);
            assert!(parts.own_text.contains("Topic: Should the change "), "{seat}");
            assert!(!parts.own_text.contains("{{"), "{seat}: unfilled:\n{}", parts.own_text);
            if !repeats_injection {
                assert!(
                    !parts.quoted_text.contains(is_invisible),
                    "{seat}: invisible characters: {prompt:?}"
                );
                let excluded_files =
                    ["CLAUDE.md", "src/AGENTS.md", ".mcp.json", ".claude/settings.json"];
                let is_excluded = matches!(self.site, InjectionSite::AgentFile(path) if excluded_files.contains(&path));
                let is_quoted = parts.quoted_text.contains("xyzzy");
                assert_eq!(
                    is_quoted,
                    !self.hidden_when_rendered && !is_excluded,
                    "{seat}:\n{prompt}"
                );
            }
            let is_judge = matches!(seat.as_str(), "judge" | "mirror");
            for identity in ["Proposer (", "Challenger (", ".json"] {
                assert!(!is_judge || !parts.own_text.contains(identity), "{seat} sees {identity}");
            }
            let opposite_role = if seat == "proposer" { "CHALLENGER" } else { "PROPOSER" };
            assert!(!parts.own_text.contains(&format!("You are the {opposite_role}")), "{seat}");
        }
    }
}

/// Asserts that the verdict and the findings are those of the scripted replies.
#[track_caller]
fn assert_scripted_result(fixture: &ReviewFixture, script: &ReviewScript) {
    let (review, debate) = (fixture.output_json("json"), fixture.last_debate());
    assert_eq!(review["decision"], "change");
    assert_eq!(review["reasoning"], script.reasoning.as_str());
    assert_eq!(review["recommendation"], script.recommendation.as_str());
    assert_eq!(debate["verdict"]["stated"], 70);
    assert_eq!(debate["verdict"]["reasoning"], script.reasoning.as_str());
    assert_eq!(debate["verdict"]["contested"], false);
    let topic = debate["topic"].as_str().unwrap();
    assert!(topic.starts_with("Should the change ") && !topic.contains("xyzzy"), "{topic}");
    let claims: Vec<usize> = debate["turns"].as_array().unwrap().iter().map(claim_count).collect();
    assert_eq!(claims, [1, 2, 0, 0], "{debate:#}");
    let findings = review["findings"].as_array().unwrap();
    assert_eq!((findings.len(), &review["unverified"]), (2, &serde_json::json!([])), "{review:#}");
    for (finding, (id, severity, line)) in
        findings.iter().zip([("C1", "high", 3), ("C2", "medium", 2)])
    {
        assert_eq!((&finding["id"], &finding["severity"]), (&id.into(), &severity.into()));
        assert_eq!(finding["place"], serde_json::json!({"file": "src/lib.rs", "line": line}));
        assert_eq!(finding["conceded"], false);
    }
}

fn claim_count(turn: &Value) -> usize {
    turn["claims"].as_array().unwrap().len()
}

/// Asserts that no output format contains active content.
#[track_caller]
pub(crate) fn assert_inert_outputs(fixture: &ReviewFixture) {
    let [md, json, sarif, rdjson, gitlab, annotations, comment, html] =
        OUTPUT_FORMATS.map(|format| fixture.output_text(format));
    for json in [&json, &sarif, &rdjson, &gitlab] {
        let _: Value = serde_json::from_str(json).unwrap();
    }
    let commands: Vec<&str> = annotations.lines().collect();
    let is_error_annotation = |line: &&str| line.starts_with("::error file=src/lib.rs,line=");
    assert_eq!(commands.len(), 2, "{annotations}");
    assert!(is_error_annotation(&commands[0]), "{annotations}");
    assert!(commands[1].starts_with("::warning file=src/lib.rs,line="), "{annotations}");
    assert!(
        comment.starts_with(COMMENT_MARKER) && comment.matches(COMMENT_MARKER).count() == 1,
        "{comment}"
    );
    assert_eq!((comment.matches("<!--").count(), md.matches("<!--").count()), (2, 0), "{comment}");
    for page in [&md, &comment, &html] {
        for active in ["<script", "<img", "<svg", "onerror=\"", "<a ", "<iframe"] {
            assert!(!page.contains(active), "{active} in {page}");
        }
    }
    for page in [&md, &comment] {
        assert!(!page.replace("\\](", "").contains("]("), "a link: {page}");
        assert!(!page.contains("://"), "an address: {page}");
    }
    for text in [&md, &json, &sarif, &rdjson, &gitlab, &annotations, &comment, &html] {
        assert!(!text.contains("##["), "a command: {text}");
        let is_forbidden = |c: char| is_invisible(c) && c != '\u{200b}';
        assert!(!text.contains(is_forbidden), "invisible characters: {text:?}");
    }
    for text in [&md, &comment, &html] {
        assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
    }
}

/// The whole corpus. `--nocapture` prints the result table.
#[test]
#[expect(clippy::print_stdout, reason = "`--nocapture` prints the result table")]
fn no_prompt_injection_has_an_effect() {
    let corpus = all_injections();
    assert!(corpus.len() >= 50);
    let chunk_size = corpus.len().div_ceil(4);
    let failures: Vec<Option<String>> = std::thread::scope(|scope| {
        let parts: Vec<_> = corpus
            .chunks(chunk_size)
            .map(|part| scope.spawn(|| part.iter().map(failure_message).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let mut table = String::new();
    for (attempt, failure) in corpus.iter().zip(&failures) {
        let outcome = if failure.is_some() { "FAILED" } else { "held" };
        let site = format!("{:?}", attempt.site);
        let _ = writeln!(table, "{:<42} {site:<36} {outcome}", attempt.name);
    }
    println!("{table}");
    let failed: Vec<String> = corpus
        .iter()
        .zip(failures)
        .filter_map(|(attempt, failure)| Some(format!("{}: {}", attempt.name, failure?)))
        .collect();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n\n"));
}

/// The panic message if this injection had an effect.
fn failure_message(attempt: &Injection) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(|| attempt.assert_no_effect())).err()?;
    let text = failed.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| "it panicked".into()))
}
