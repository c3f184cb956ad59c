//! Prompt injection: injected text reaches prompts only inside delimiters, does not change the
//! verdict, and is inert in every output format. The injections are in `review_injection_corpus`.
use crate::review_bench::{AFTER, ALSO, Bench, FORMS, Said, THERE, claim};
use crate::review_corpus::{Attempt, Where, corpus};
use debate_mcp::review::output::COMMENT_MARKER;
use debate_mcp::review::output::sanitize::hidden;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A prompt split at its delimiters into our own text and quoted, untrusted text.
pub(crate) struct Told {
    pub(crate) ours: String,
    pub(crate) theirs: String,
    pub(crate) marks: Vec<String>,
}

/// Parses a prompt: a delimiter line opens a quote, and the same line closes it.
#[track_caller]
pub(crate) fn told(prompt: &str) -> Told {
    let mut told = Told { ours: String::new(), theirs: String::new(), marks: vec![] };
    let mut open: Option<&str> = None;
    for line in prompt.split('\n') {
        let digits = line.strip_prefix("--- ").unwrap_or_default();
        let mark = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match open {
            Some(own) if own == line => open = None,
            Some(_) => told.theirs.extend([line, "\n"]),
            None if mark => {
                told.marks.push(line.to_owned());
                open = Some(line);
            }
            None => told.ours.extend([line, "\n"]),
        }
    }
    assert_eq!(open, None, "what is quoted has no end:\n{prompt}");
    told
}

impl Attempt {
    /// A repository with this injection, and the arguments of its review.
    fn bench(&self) -> (Bench, Vec<String>) {
        let bench = Bench::new();
        bench.put("src/lib.rs", AFTER);
        let mut message = "Keep what was read";
        let mut args = vec!["main..HEAD".to_owned()];
        match self.place {
            Where::Code => drop(bench.put("src/hostile.rs", format!("{}\n", self.text))),
            Where::Literal => {
                let text = format!("pub const IT: &str = \"\n{}\n\";\n", self.text);
                bench.put("src/hostile.rs", text);
            }
            Where::Name => drop(bench.put(&self.text, "pub fn named() {}\n")),
            Where::Orders(path) => drop(bench.put(path, &self.text)),
            Where::Message => message = &self.text,
            Where::Title => args.extend(["--pr-title".into(), self.text.clone()]),
            Where::Body => {
                let file = bench.lab().outside("body");
                fs::write(&file, &self.text).unwrap();
                args.extend(["--pr-body".into(), file.display().to_string()]);
            }
        }
        bench.commit(message);
        (bench, args)
    }

    /// Reviews the change twice: with normal replies, and with a challenger that repeats the
    /// injected text. Asserts that neither has an effect.
    fn fails(&self) {
        let (bench, mut args) = self.bench();
        args.extend(bench.outputs());
        for parrots in [false, true] {
            let second = if parrots { self.text.as_str() } else { "Nobody holds the lock long." };
            let mut said = Said::claims(vec![
                claim("C1", "What is kept is never let go of.", "high", THERE),
                claim("C2", second, "medium", ALSO),
            ]);
            if parrots {
                said.prose = format!("It grows. The change says:\n\n{}\n\nSo much.", self.text);
            }
            bench.says(&said);
            let mut more: Vec<&str> = args.iter().map(String::as_str).collect();
            more.extend(["--fresh", "--follow"]);
            let done = bench.review(&more).env("GITHUB_ACTIONS", "true").success();
            for line in done.out.lines().chain(done.err.lines()) {
                let line = line.trim_start();
                let ours = ["::group::The debate", "::endgroup::"].contains(&line);
                assert!(!line.starts_with("::") || ours, "a command: {line}");
                assert!(!line.contains("##["), "a command: {line}");
            }
            let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!done.out.contains(odd) && !done.err.contains(odd), "{done:#?}");
            ruled_as_said(&bench, &said);
            self.told_between_marks(&bench, parrots);
            shown_as_text(&bench);
        }
    }

    /// Asserts that the injection is inside random delimiters in every prompt.
    fn told_between_marks(&self, bench: &Bench, parrots: bool) {
        let mut marks = BTreeSet::new();
        let prompts = bench.prompts();
        assert_eq!(prompts.len(), 4);
        for (nth, (seat, prompt)) in prompts.iter().enumerate() {
            let told = told(prompt);
            assert!(!told.ours.contains("xyzzy"), "{seat} is told it as ours:\n{}", told.ours);
            for mark in &told.marks {
                assert!(marks.insert(mark.clone()), "{mark} was there before");
                assert_eq!(prompt.lines().filter(|line| line == mark).count(), 2, "{mark}");
            }
            // The first prompt quotes the brief only. Later prompts also quote earlier turns.
            assert_eq!(told.marks.len() > 1, nth > 0, "{seat}: {:?}", told.marks);
            assert!(told.ours.contains("Topic: Should the change "), "{seat}");
            assert!(!told.ours.contains("{{"), "{seat}: a gap was left:\n{}", told.ours);
            if !parrots {
                assert!(!told.theirs.contains(hidden), "{seat} is told what is hidden: {prompt:?}");
                let orders = ["CLAUDE.md", "src/AGENTS.md", ".mcp.json", ".claude/settings.json"];
                let kept_back = matches!(self.place, Where::Orders(path) if orders.contains(&path));
                let known = told.theirs.contains("xyzzy");
                assert_eq!(known, !self.unseen && !kept_back, "{seat}:\n{prompt}");
            }
            let judge = matches!(seat.as_str(), "judge" | "mirror");
            for other in ["Proposer (", "Challenger (", ".json"] {
                assert!(!judge || !told.ours.contains(other), "{seat} knows {other}");
            }
            let opposite = if seat == "proposer" { "CHALLENGER" } else { "PROPOSER" };
            assert!(!told.ours.contains(&format!("You are the {opposite}")), "{seat}");
        }
    }
}

/// Asserts that the verdict and the findings are those of the scripted replies.
#[track_caller]
fn ruled_as_said(bench: &Bench, said: &Said) {
    let (review, shown) = (bench.json("json"), bench.shown());
    assert_eq!(review["decision"], "change");
    assert_eq!(review["reasoning"], said.reasoning.as_str());
    assert_eq!(review["recommendation"], said.recommendation.as_str());
    assert_eq!(shown["verdict"]["stated"], 70);
    assert_eq!(shown["verdict"]["reasoning"], said.reasoning.as_str());
    assert_eq!(shown["verdict"]["contested"], false);
    let topic = shown["topic"].as_str().unwrap();
    assert!(topic.starts_with("Should the change ") && !topic.contains("xyzzy"), "{topic}");
    let claims: Vec<usize> = shown["turns"].as_array().unwrap().iter().map(count).collect();
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

fn count(turn: &Value) -> usize {
    turn["claims"].as_array().unwrap().len()
}

/// Asserts that no output format contains active content.
#[track_caller]
pub(crate) fn shown_as_text(bench: &Bench) {
    let [md, json, sarif, rdjson, gitlab, annotations, comment, html] =
        FORMS.map(|form| bench.text(form));
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
fn no_change_gets_what_it_asks_for() {
    let corpus = corpus();
    assert!(corpus.len() >= 50);
    let half = corpus.len().div_ceil(4);
    let failures: Vec<Option<String>> = std::thread::scope(|scope| {
        let parts: Vec<_> = corpus
            .chunks(half)
            .map(|part| scope.spawn(|| part.iter().map(failure).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let mut table = String::new();
    for (attempt, failure) in corpus.iter().zip(&failures) {
        let outcome = if failure.is_some() { "FAILED" } else { "held" };
        let place = format!("{:?}", attempt.place);
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
fn failure(attempt: &Attempt) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(|| attempt.fails())).err()?;
    let text = failed.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| "it panicked".into()))
}
