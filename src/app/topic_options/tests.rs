//! Topic options: participants, rounds, effort and format written in plain words around the
//! question.
use crate::app::topic_options::{TopicOptions, parse};
use crate::debate::Effort;

fn parse_topic(input: &str) -> TopicOptions {
    let seats = ["claude", "codex", "gemini", "opencode", "copilot", "openai"];
    let is_seat = |word: &str| seats.contains(&word.split(':').next().unwrap());
    parse(input, is_seat, |word| ["duel", "research", "dialectic", "tribunal"].contains(&word))
}

/// Typed text, the topic in it, and the recognized options.
const RECOGNIZED_TOPICS: &[(&str, &str, &str)] = &[
    (
        "codex vs gemini, 3 rounds, thoroughly, about sqlx or rusqlite",
        "sqlx or rusqlite",
        "proposer codex, challenger gemini, rounds 3, effort high",
    ),
    ("codex vs gemini about X", "X", "proposer codex, challenger gemini"),
    (
        "codex versus gemini:gemini-pro: keep it?",
        "keep it?",
        "proposer codex, challenger gemini:gemini-pro",
    ),
    ("with codex and gemini about X", "X", "proposer codex, challenger gemini"),
    ("between claude and codex on X", "X", "proposer claude, challenger codex"),
    (
        "have codex and gemini debate whether to split it",
        "whether to split it",
        "proposer codex, challenger gemini",
    ),
    (
        "codex against claude, judged by gemini, about X",
        "X",
        "proposer codex, challenger claude, judge gemini",
    ),
    ("quick: X or Y?", "X or Y?", "effort low"),
    ("fast, about X", "X", "effort low"),
    ("a deep debate on X", "X", "rounds 3, effort high"),
    ("extended debate about X", "X", "rounds 3"),
    ("deep, 5 rounds, about X", "X", "rounds 5, effort high"),
    ("maximum effort about X", "X", "effort max"),
    ("two rounds about X", "X", "rounds 2"),
    (
        "Should we use sqlx or rusqlite, codex vs gemini, 3 rounds",
        "Should we use sqlx or rusqlite",
        "proposer codex, challenger gemini, rounds 3",
    ),
    ("Keep it, thoroughly", "Keep it", "effort high"),
    ("Keep it, high effort", "Keep it", "effort high"),
    ("tribunal: monorepos are better", "monorepos are better", "format tribunal"),
    ("dialectic should we rewrite it?", "should we rewrite it?", "format dialectic"),
    ("research axum vs actix", "axum vs actix", "format research"),
    (
        "research codex vs gemini about axum vs actix",
        "axum vs actix",
        "format research, proposer codex, challenger gemini",
    ),
];

#[test]
fn options_are_separated_from_the_topic() {
    for (input, topic, options) in RECOGNIZED_TOPICS {
        let parsed = parse_topic(input);
        assert_eq!(parsed.topic, *topic, "{input}");
        assert_eq!(parsed.describe_options().unwrap_or_default(), *options, "{input}");
    }
}

/// Phrases that only look like options.
#[test]
fn ambiguous_words_stay_in_the_topic() {
    for input in [
        "Should we use sqlx or rusqlite here?",
        "codex vs gemini",
        "Should we replace claude with codex and gemini?",
        "Is codex vs gemini about money?",
        "How fast is it on Windows?",
        "Research shows that rounds matter",
        "research is expensive",
        "tribunal is the wrong word for it",
        "3 rounds",
        "thoroughly",
        "Do we need 3 rounds of review, or one?",
        "Should the parser be fast, or small?",
        "sqlx vs rusqlite about speed",
        "What about claude and codex?",
        "security: is it enough?",
        "Should our parser be simple, thorough, and fast",
        "Should severity be high, medium, low",
        "Which priority: low, high",
        "Is it better to be careful, and fast",
        "High on the list: caching",
        "Max on call: one week or two?",
        "research should be funded by the state?",
        "duel vs tribunal: which format?",
        "claude vs codex: which one should we buy?",
        "quick, thorough, about X",
        "",
    ] {
        let parsed = parse_topic(input);
        assert_eq!(parsed.topic, input.trim());
        assert_eq!(parsed.describe_options(), None, "{input}");
    }
}

#[test]
fn effort_words_are_recognized() {
    for (word, effort) in [
        ("quickly", Effort::Low),
        ("medium", Effort::Medium),
        ("carefully", Effort::High),
        ("max", Effort::Max),
    ] {
        assert_eq!(parse_topic(&format!("{word}, 2 rounds, about X")).effort, Some(effort));
    }
}
