//! Parser for topics typed on one line: sides (`A vs B`) and models in a trailing parenthesis.
use crate::app::topic_sides::{TopicLine, parse, tool_for_model};

#[test]
fn trailing_models_are_removed_from_the_topic() {
    for (input, topic, models) in [
        (
            "Claude Code vs OpenCode (gpt-5.4, claude-4.6-sonnet)",
            "Claude Code vs OpenCode",
            &["gpt-5.4", "claude-4.6-sonnet"][..],
        ),
        ("Tabs or spaces? (codex)", "Tabs or spaces?", &["codex"]),
        ("Tabs or spaces?(codex:gpt-5.4)", "Tabs or spaces?", &["codex:gpt-5.4"]),
        ("  Tabs or spaces (claude,human)  ", "Tabs or spaces", &["claude", "human"]),
        ("A or B (o3, o4-mini)", "A or B", &["o3", "o4-mini"]),
        ("A or B (anthropic/claude-4.6)", "A or B", &["anthropic/claude-4.6"]),
        ("A or B (Gemini, GPT-5)", "A or B", &["Gemini", "GPT-5"]),
        ("A or B(gpt-5.4, opencode:x)", "A or B", &["gpt-5.4", "opencode:x"]),
        ("A (draft) or B (script:a.sh)", "A (draft) or B", &["script:a.sh"]),
        (
            "用 sqlx 还是 rusqlite？（gpt-5.4，claude）",
            "用 sqlx 还是 rusqlite？",
            &["gpt-5.4", "claude"],
        ),
        ("用 A 还是 B (qwen3、deepseek)", "用 A 还是 B", &["qwen3", "deepseek"]),
        ("A or B (a1, b2, c3, d4)", "A or B", &["a1", "b2", "c3", "d4"]),
        ("A or B (bot@host-1)", "A or B", &["bot@host-1"]),
    ] {
        let TopicLine { topic: read_topic, models: read_models, .. } = parse(input);
        assert_eq!((read_topic.as_str(), read_models), (topic, to_strings(models)), "{input}");
    }
}

fn to_strings(models: &[&str]) -> Vec<String> {
    models.iter().map(|model| (*model).to_owned()).collect()
}

#[test]
fn other_parentheses_stay_in_the_topic() {
    for input in [
        "Postgres (or MySQL)?",
        "use serde (derive)",
        "X vs Y (both)",
        "X vs Y (gpt-5.4) today",
        "X vs Y (gpt-5.4, both)",
        "X vs Y (gpt-5.4, the big one)",
        "X vs Y (gpt 5.4)",
        "X vs Y (a1, b2, c3, d4, e5)",
        "X vs Y ()",
        "X vs Y (gpt-5.4,)",
        "X vs Y gpt-5.4)",
        "(gpt-5.4)",
        "Which edition of Rust (2024)",
        "Which Postgres (v16)",
        "When to meet (12:30)",
        "Should we memoize fib(n1)",
        "Deploy it (hosted)",
        "Write it by hand (humane)",
        "Deploy it (scripted)",
        "",
        ")",
        "(",
        "（）",
    ] {
        let line = parse(input);
        assert_eq!((line.topic.as_str(), line.models), (input, vec![]), "{input}");
    }
}

#[test]
fn two_alternatives_become_sides() {
    for (input, first, second) in [
        ("Claude Code vs OpenCode (gpt-5.4)", "Claude Code", "OpenCode"),
        ("tabs vs. spaces?", "tabs", "spaces"),
        ("tabs VERSUS spaces ??", "tabs", "spaces"),
        ("Vim vs VS Code", "Vim", "VS Code"),
        ("VS Code vs Vim", "VS Code", "Vim"),
        ("should we use sqlx vs rusqlite", "sqlx", "rusqlite"),
        ("用 sqlx 还是 rusqlite？", "sqlx", "rusqlite"),
        ("应该用Axum还是Actix?", "Axum", "Actix"),
        ("单体还是微服务", "单体", "微服务"),
        ("React 对比 Vue", "React", "Vue"),
        ("X vs Y (both)", "X", "Y (both)"),
    ] {
        assert_eq!(parse(input).sides, Some((first.into(), second.into())), "{input}");
    }
}

#[test]
fn other_topics_have_no_sides() {
    let long = "word ".repeat(13);
    for input in [
        "tabs or spaces?",
        "vs",
        "a vs",
        "vs b",
        "a vs ?",
        "a vs b vs c",
        "我们还是用SQLite吧",
        "Which of them, Axum vs Actix?",
        "对比 A 和 B",
        "还是",
        "A还是",
        "canvas or svg",
        "should we use VS Code or Vim",
        "",
        &format!("{long} vs b"),
        &format!("a vs {long}"),
    ] {
        assert_eq!(parse(input).sides, None, "{input}");
    }
}

#[test]
fn side_is_limited_to_sixty_characters() {
    let (fits, too_long) = ("长".repeat(60), "长".repeat(61));
    assert!(parse(&format!("{fits} vs b")).sides.is_some());
    assert!(parse(&format!("{too_long} vs b")).sides.is_none());
}

#[test]
fn bare_model_name_resolves_to_a_tool() {
    for (model, tool) in [
        ("claude", Some("claude")),
        ("claude-4.6-sonnet", Some("claude")),
        ("Opus", Some("claude")),
        ("sonnet-4.5", Some("claude")),
        ("haiku", Some("claude")),
        ("gpt-5.4", Some("codex")),
        ("GPT5", Some("codex")),
        ("o3", Some("codex")),
        ("o4-mini", Some("codex")),
        ("codex-mini", Some("codex")),
        ("gemini-3-pro", Some("gemini")),
        ("deepseek-r1", Some("deepseek")),
        ("opencode", None),
        ("ollama", None),
        ("opuscule", None),
        ("qwen3", None),
        ("claude:opus", None),
        ("codex:gpt-5.4", None),
        ("openai/gpt-5", None),
        ("", None),
    ] {
        assert_eq!(tool_for_model(model), tool, "{model}");
    }
}

#[test]
fn topic_lists_at_most_four_models() {
    let line = parse("Tabs or spaces? (claude, gpt-5, gemini, qwen3)");
    assert_eq!((line.topic.as_str(), line.models.len()), ("Tabs or spaces?", 4));
    let five = "Tabs or spaces? (claude, gpt-5, gemini, qwen3, grok)";
    let line = parse(five);
    assert_eq!((line.topic.as_str(), line.models.len()), (five, 0));
}
