//! Prompt injection: injected text reaches prompts only inside delimiters, does not change the
//! verdict, and is inert in every output format. The injections are in `review_injection_corpus`.
use crate::review_fixture::{
    ADDED_LINE, AFTER, OTHER_ADDED_LINE, OUTPUT_FORMATS, ReviewFixture, ReviewScript, claim,
};
use crate::review_injection_corpus::{Injection, InjectionSite, all_injections};
use debate_mcp::review::output::COMMENT_MARKER;
use debate_mcp::review::output::sanitize::hidden;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A prompt split at its delimiters into our own text and quoted, untrusted text.
pub(crate) struct SplitPrompt {
    pub(crate) own_text: String,
    pub(crate) quoted_text: String,
    pub(crate) delimiters: Vec<String>,
}

/// Parses a prompt: a delimiter line opens a quote, and the same line closes it.
#[track_caller]
pub(crate) fn split_prompt(prompt: &str) -> SplitPrompt {
    let mut told =
        SplitPrompt { own_text: String::new(), quoted_text: String::new(), delimiters: vec![] };
    let mut open: Option<&str> = None;
    for line in prompt.split('\n') {
        let digits = line.strip_prefix("--- ").unwrap_or_default();
        let mark = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match open {
            Some(own) if own == line => open = None,
            Some(_) => told.quoted_text.extend([line, "\n"]),
            None if mark => {
                told.delimiters.push(line.to_owned());
                open = Some(line);
            }
            None => told.own_text.extend([line, "\n"]),
        }
    }
    assert_eq!(open, None, "what is quoted has no end:\n{prompt}");
    told
}

impl Injection {
    /// A repository with this injection, and the arguments of its review.
    fn build_fixture(&self) -> (ReviewFixture, Vec<String>) {
        let bench = ReviewFixture::new();
        bench.write_file("src/lib.rs", AFTER);
        let mut message = "Keep what was read";
        let mut args = vec!["main..HEAD".to_owned()];
        match self.site {
            InjectionSite::Code => {
                drop(bench.write_file("src/hostile.rs", format!("{}\n", self.text)))
            }
            InjectionSite::Literal => {
                let text = format!("pub const IT: &str = \"\n{}\n\";\n", self.text);
                bench.write_file("src/hostile.rs", text);
            }
            InjectionSite::FileName => drop(bench.write_file(&self.text, "pub fn named() {}\n")),
            InjectionSite::AgentFile(path) => drop(bench.write_file(path, &self.text)),
            InjectionSite::CommitMessage => message = &self.text,
            InjectionSite::Title => args.extend(["--pr-title".into(), self.text.clone()]),
            InjectionSite::Description => {
                let file = bench.env().temp_path("body");
                fs::write(&file, &self.text).unwrap();
                args.extend(["--pr-body".into(), file.display().to_string()]);
            }
        }
        bench.commit(message);
        (bench, args)
    }

    /// Reviews the change twice: with normal replies, and with a challenger that repeats the
    /// injected text. Asserts that neither has an effect.
    fn assert_no_effect(&self) {
        let (bench, mut args) = self.build_fixture();
        args.extend(bench.output_args());
        for parrots in [false, true] {
            let second = if parrots { self.text.as_str() } else { "Nobody holds the lock long." };
            let mut said = ReviewScript::with_claims(vec![
                claim("C1", "What is kept is never let go of.", "high", ADDED_LINE),
                claim("C2", second, "medium", OTHER_ADDED_LINE),
            ]);
            if parrots {
                said.prose = format!("It grows. The change says:\n\n{}\n\nSo much.", self.text);
            }
            bench.set_script(&said);
            let mut more: Vec<&str> = args.iter().map(String::as_str).collect();
            more.extend(["--fresh", "--follow"]);
            let done = bench.review_command(&more).env("GITHUB_ACTIONS", "true").expect_success();
            for line in done.stdout.lines().chain(done.stderr.lines()) {
                let line = line.trim_start();
                let ours = ["::group::The debate", "::endgroup::"].contains(&line);
                assert!(!line.starts_with("::") || ours, "a command: {line}");
                assert!(!line.contains("##["), "a command: {line}");
            }
            let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!done.stdout.contains(odd) && !done.stderr.contains(odd), "{done:#?}");
            assert_scripted_result(&bench, &said);
            self.assert_delimited(&bench, parrots);
            assert_inert_outputs(&bench);
        }
    }

    /// Asserts that the injection is inside random delimiters in every prompt.
    fn assert_delimited(&self, bench: &ReviewFixture, parrots: bool) {
        let mut marks = BTreeSet::new();
        let prompts = bench.prompts();
        assert_eq!(prompts.len(), 4);
        for (nth, (seat, prompt)) in prompts.iter().enumerate() {
            let told = split_prompt(prompt);
            assert!(
                !told.own_text.contains("xyzzy"),
                "{seat} is told it as ours:\n{}",
                told.own_text
            );
            for mark in &told.delimiters {
                assert!(marks.insert(mark.clone()), "{mark} was there before");
                assert_eq!(prompt.lines().filter(|line| line == mark).count(), 2, "{mark}");
            }
            // The first prompt quotes the brief only. Later prompts also quote earlier turns.
            assert_eq!(told.delimiters.len() > 1, nth > 0, "{seat}: {:?}", told.delimiters);
            assert!(told.own_text.contains("Topic: Should the change "), "{seat}");
            assert!(!told.own_text.contains("{{"), "{seat}: a gap was left:\n{}", told.own_text);
            if !parrots {
                assert!(
                    !told.quoted_text.contains(hidden),
                    "{seat} is told what is hidden: {prompt:?}"
                );
                let orders = ["CLAUDE.md", "src/AGENTS.md", ".mcp.json", ".claude/settings.json"];
                let kept_back =
                    matches!(self.site, InjectionSite::AgentFile(path) if orders.contains(&path));
                let known = told.quoted_text.contains("xyzzy");
                assert_eq!(known, !self.hidden_when_rendered && !kept_back, "{seat}:\n{prompt}");
            }
            let judge = matches!(seat.as_str(), "judge" | "mirror");
            for other in ["Proposer (", "Challenger (", ".json"] {
                assert!(!judge || !told.own_text.contains(other), "{seat} knows {other}");
            }
            let opposite = if seat == "proposer" { "CHALLENGER" } else { "PROPOSER" };
            assert!(!told.own_text.contains(&format!("You are the {opposite}")), "{seat}");
        }
    }
}

/// Asserts that the verdict and the findings are those of the scripted replies.
#[track_caller]
fn assert_scripted_result(bench: &ReviewFixture, said: &ReviewScript) {
    let (review, shown) = (bench.output_json("json"), bench.last_debate());
    assert_eq!(review["decision"], "change");
    assert_eq!(review["reasoning"], said.reasoning.as_str());
    assert_eq!(review["recommendation"], said.recommendation.as_str());
    assert_eq!(shown["verdict"]["stated"], 70);
    assert_eq!(shown["verdict"]["reasoning"], said.reasoning.as_str());
    assert_eq!(shown["verdict"]["contested"], false);
    let topic = shown["topic"].as_str().unwrap();
    assert!(topic.starts_with("Should the change ") && !topic.contains("xyzzy"), "{topic}");
    let claims: Vec<usize> = shown["turns"].as_array().unwrap().iter().map(claim_count).collect();
    assert_eq!(claims, [1, 2, 0, 0], "{shown:#}");
    let found = review["findings"].as_array().unwrap();
    assert_eq!((found.len(), &review["unverified"]), (2, &serde_json::json!([])), "{review:#}");
    for (finding, (id, severity, line)) in
        found.iter().zip([("C1", "high", 3), ("C2", "medium", 2)])
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
pub(crate) fn assert_inert_outputs(bench: &ReviewFixture) {
    let [md, json, sarif, rdjson, gitlab, annotations, comment, html] =
        OUTPUT_FORMATS.map(|form| bench.output_text(form));
    for json in [&json, &sarif, &rdjson, &gitlab] {
        let _: Value = serde_json::from_str(json).unwrap();
    }
    let commands: Vec<&str> = annotations.lines().collect();
    let ours = |line: &&str| line.starts_with("::error file=src/lib.rs,line=");
    assert_eq!(commands.len(), 2, "{annotations}");
    assert!(ours(&commands[0]), "{annotations}");
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
        let odd = |c: char| hidden(c) && c != '\u{200b}';
        assert!(!text.contains(odd), "something is hidden: {text:?}");
    }
    for text in [&md, &comment, &html] {
        assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
    }
}

/// The whole corpus. `--nocapture` prints the result table.
#[test]
#[expect(clippy::print_stdout, reason = "the table is for whoever asks for it")]
fn no_prompt_injection_has_an_effect() {
    let corpus = all_injections();
    assert!(corpus.len() >= 50);
    let half = corpus.len().div_ceil(4);
    let failures: Vec<Option<String>> = std::thread::scope(|scope| {
        let parts: Vec<_> = corpus
            .chunks(half)
            .map(|part| scope.spawn(|| part.iter().map(failure_message).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let mut table = String::new();
    for (attempt, failure) in corpus.iter().zip(&failures) {
        let outcome = if failure.is_some() { "FAILED" } else { "held" };
        let place = format!("{:?}", attempt.site);
        let _ = writeln!(table, "{:<42} {place:<36} {outcome}", attempt.name);
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
