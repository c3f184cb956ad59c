//! Masking of speaker identities for judges (`debate::mask`): names of tools, models and vendors
//! are replaced, names that occur in the topic are kept.
use crate::debate::mask::{MaskedText, NameReplacement, mask, name_replacements};
use crate::debate::setup::WORDING_VERSION;

/// Names of both sides: A is claude with opus, B is codex with two models.
fn participant_names() -> Vec<NameReplacement> {
    let mut names = name_replacements("claude", ["opus"], "Side A", WORDING_VERSION);
    names.extend(name_replacements("codex", ["gpt-5.5", "o3"], "Side B", WORDING_VERSION));
    names
}

#[track_caller]
fn assert_masked(topic: &str, text: &str, expected: &str, expected_unmasked: &[&str]) {
    let MaskedText { text: masked, unmasked } = mask(text, &participant_names(), topic);
    assert_eq!(
        (masked.as_str(), unmasked),
        (expected, expected_unmasked.iter().map(|l| (*l).into()).collect())
    );
}

#[test]
fn names_in_prose_are_masked() {
    for (text, expected) in [
        ("I am Claude.", "I am Side A."),
        ("As claude, I object.", "As Side A, I object."),
        ("CLAUDE said so", "Side A said so"),
        ("**Claude** (Anthropic)", "**Side A** (Side A)"),
        ("Claude's point", "Side A's point"),
        ("Claude\u{2019}s point", "Side A\u{2019}s point"),
        ("\"Codex\" is wrong", "\"Side B\" is wrong"),
        ("gpt-5.5 and GPT-4o", "Side B and Side B"),
        ("gpt-5.5's", "Side B's"),
        ("claude-opus-4.1 here", "Side A here"),
        ("ChatGPT from OpenAI", "Side B from Side B"),
        ("claude:opus wins", "Side A:Side A wins"),
        ("Claude,\n\tOpus!\n", "Side A,\n\tSide A!\n"),
    ] {
        assert_masked("Tabs or spaces?", text, expected, &[]);
    }
}

#[test]
fn words_that_are_not_names_are_kept() {
    for text in [
        "claudette and clauded",
        "the opuscule",
        "a codexes b",
        "gemini is nobody here",
        "o3 is too short to be told from a word",
        "",
        "\n\n",
        "naïve Ünïcode … stays",
    ] {
        assert_masked("Tabs or spaces?", text, text, &[]);
    }
}

#[test]
fn code_and_paths_are_not_masked() {
    for text in [
        "see `claude` and `run(codex)`",
        "```\nclaude --help\n```\n",
        "```rust\nlet claude = codex;\n```\n",
        "src/claude/mod.rs:3",
        "claude/settings.json",
        "codex::run is it",
        r"C:\claude\settings",
        "https://claude.example/codex",
        "claude/codex/mod.rs",
        "codex/README",
        "see CLAUDE.md",
    ] {
        assert_masked("Tabs or spaces?", text, text, &[]);
    }
    assert_masked(
        "Tabs or spaces?",
        "claude\n```\nclaude\n```\nclaude `claude` claude",
        "Side A\n```\nclaude\n```\nSide A `claude` Side A",
        &[],
    );
}

#[test]
fn names_in_the_topic_are_kept_and_reported() {
    let topic = "Should we use Claude Code?";
    assert_masked(
        topic,
        "I, Claude, say Codex is worse.",
        "I, Claude, say Side B is worse.",
        &["claude"],
    );
    assert_masked(topic, "Claude, claude and Claude's", "Claude, claude and Claude's", &["claude"]);
    assert_masked(topic, "Nothing of it.", "Nothing of it.", &[]);
    assert_masked("claude or codex", "Codex and Claude", "Codex and Claude", &["codex", "claude"]);
}

#[test]
fn tool_names_include_models_and_vendor() {
    let words = |tool: &str, models: &[&str]| -> Vec<String> {
        name_replacements(tool, models.iter().copied(), "X", WORDING_VERSION)
            .into_iter()
            .map(|name| name.word)
            .collect()
    };
    assert_eq!(words("claude", &["Opus"]), ["claude", "anthropic", "opus", "sonnet", "haiku"]);
    assert_eq!(words("mine", &["Big-1", "mine", "a"]), ["mine", "big-1"]);
    assert_eq!(words("", &[]), Vec::<String>::new());
}

#[test]
fn names_next_to_punctuation_are_masked() {
    for (text, expected) in [
        ("Claude/Codex", "Side A/Side B"),
        ("(Claude/Codex)", "(Side A/Side B)"),
        ("Claude/Codex's", "Side A/Side B's"),
        ("Claude/GPT-5.5/Opus,", "Side A/Side B/Side A,"),
        ("Claude+Codex=us", "Side A+Side B=us"),
        ("@claude", "@Side A"),
        ("I,Claude,object", "I,Side A,object"),
        ("Claude\u{2014}as ever", "Side A\u{2014}as ever"),
        ("我是Claude。", "我是Side A。"),
        ("GPT5", "Side B"),
    ] {
        assert_masked("Tabs or spaces?", text, expected, &[]);
    }
}

/// A name chosen by a bot is masked only if it cannot be an ordinary word. Otherwise masking would
/// remove words from what others say.
#[test]
fn chosen_names_that_could_be_words_are_not_masked() {
    for (name, is_identifying) in [
        ("clawd_pot", true),
        ("gpt-bot-7", true),
        ("claude", true),
        ("Gemini", true),
        ("not", false),
        ("evidence", false),
        ("a_b", false),
        ("because", false),
        ("辩手", false),
    ] {
        assert_eq!(
            crate::debate::mask::is_identifying_name(name, WORDING_VERSION),
            is_identifying,
            "{name}"
        );
    }
}
