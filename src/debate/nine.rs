//! The nine parts of a report, under the headings of its language.
use super::language::Language;

/// How many there are.
pub const COUNT: usize = 9;
/// Which of them recommends.
pub const RECOMMENDATION: usize = 5;
/// Which of them is a table.
pub const MATRIX: usize = 7;
/// Which of them is one sentence.
pub const SUMMARY: usize = 8;

const ENGLISH: [&str; COUNT] = [
    "Strong Arguments",
    "Exaggerated Claims",
    "Shared Limitations",
    "Core Disagreements",
    "Consensus Points",
    "Recommendation",
    "Open Questions",
    "Scenario Matrix",
    "One-Sentence Summary",
];

const CHINESE: [&str; COUNT] = [
    "各方的强论点",
    "各方的夸大声明",
    "共同局限性",
    "核心分歧",
    "共识点",
    "建议",
    "未解决问题",
    "场景选择矩阵",
    "一句话总结",
];

/// The headings in this language; none, where nobody here has translated them.
pub fn headings(language: Language) -> Option<[&'static str; COUNT]> {
    match language {
        Language::English => Some(ENGLISH),
        Language::Chinese => Some(CHINESE),
        Language::Other => None,
    }
}

/// The headings a judge is asked for: those of its language, or these to be translated.
pub fn asked(language: Language) -> Vec<String> {
    let all = headings(language).unwrap_or(ENGLISH);
    all.iter().zip(1..).map(|(heading, nth)| format!("{nth}. `## {heading}`")).collect()
}
