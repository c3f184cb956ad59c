//! Heuristic for topics that need measured evidence: keywords and numbers with units, in English
//! and Chinese.
use crate::app::evidence_heuristic::measurable_subject;

#[track_caller]
fn assert_subject(expected: Option<&str>, topics: &[&str]) {
    for topic in topics {
        assert_eq!(measurable_subject(topic), expected, "{topic}");
    }
}

#[test]
fn performance_topics_are_measurable() {
    assert_subject(
        Some("performance"),
        &[
            "Which JSON parser wins the benchmark?",
            "Is Rust faster than Go here?",
            "LATENCY or throughput?",
            "a low-latency queue",
            "Does it hurt performance?",
            "memory usage of both allocators",
            "300 ops/s on one box",
            "price/performance of both",
            "Rust的性能比Go好吗",
            "哪个延迟更低",
            "用 sqlx 还是 rusqlite 更快?",
            "performance at any cost",
        ],
    );
}

#[test]
fn cost_topics_are_measurable() {
    assert_subject(
        Some("cost"),
        &[
            "What would the move cost?",
            "Is self-hosting cheaper?",
            "pricing of both clouds",
            "the licence fee of Oracle",
            "TCO of Kubernetes",
            "自建的成本",
            "云服务费用太高吗",
            "security or cost?",
        ],
    );
}

#[test]
fn security_topics_are_measurable() {
    assert_subject(
        Some("security"),
        &[
            "Is the security of this good enough?",
            "Does CVE-2024-3094 concern us?",
            "a vulnerability in the parser",
            "Is it more secure?",
            "这个库有漏洞吗",
            "登录流程安全吗",
        ],
    );
}

#[test]
fn market_topics_are_measurable() {
    assert_subject(
        Some("market data"),
        &[
            "market share of Firefox",
            "Which crate has more downloads?",
            "the adoption rate of Rust 2024",
            "国内市场该选哪个",
            "浏览器占有率",
        ],
    );
}

#[test]
fn topics_with_numbers_and_units_are_measurable() {
    assert_subject(
        Some("figures"),
        &[
            "Do we need 99.9% uptime?",
            "Can it answer in 10ms?",
            "Can it answer in 10-20 ms?",
            "Is a 3x gain likely?",
            "Does it fit in 5 GB?",
            "a raise of 20 %",
            "a drop of -5%",
            "$200 a month?",
            "1,000 rps on one box",
            "每月 100 元",
            "能在10毫秒内完成吗",
            "提升3倍可能吗",
            "50 percent of users",
        ],
    );
}

#[test]
fn other_topics_are_not_measurable() {
    assert_subject(
        None,
        &[
            "",
            "tabs or spaces?",
            "should we use sqlx or rusqlite here?",
            "monorepo or many repositories",
            "Rust 2024 or 2021 edition?",
            "Python 3.12 or 3.13?",
            "HTTP/2 or HTTP/3?",
            "GPT-5.4 or Claude 4.6",
            "two options",
            "Should we fix #123 first?",
            "Should we fix issue 45 first?",
            "Finish it at any cost?",
            "Should the security guard be a model of its own?",
            "Rename cost_center?",
            "Move src/security/mod.rs elsewhere?",
            "Delete security.md?",
            "Is `performance` a good name?",
            "SecurityManager or a function?",
            "costume or uniform",
            "x86 or arm64",
            "a 3x3 grid",
            "Should $1 be quoted?",
            "music of the 90s",
            "64-bit or 32-bit",
            "Should errors be enums?",
            "compile-time checks or tests?",
            "two ops teams or 1",
            "最多3元素的列表",
            "Where is the downloads folder?",
            "v16 or v17",
            "0x10 or 16",
            "单体还是微服务",
            "Rust 的类型安全值得吗",
            "图片要延迟加载吗",
            "用 Python 3.12 还是 3.13",
            "2024年还是2025年发布",
        ],
    );
}
