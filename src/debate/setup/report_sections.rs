//! Section headings of the nine-section report of the research format, in English and Chinese. The
//! constants are zero-based indexes into the section list.
use crate::debate::text::language::Language;

/// Number of sections.
pub const SECTION_COUNT: usize = 9;
/// Index of the recommendation.
pub const RECOMMENDATION_INDEX: usize = 5;
/// Index of the scenario matrix, a Markdown table.
pub const SCENARIO_MATRIX_INDEX: usize = 7;
/// Index of the one-sentence summary.
pub const SUMMARY_INDEX: usize = 8;

const ENGLISH_HEADINGS: [&str; SECTION_COUNT] = [
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

const CHINESE_HEADINGS: [&str; SECTION_COUNT] = [
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

/// Headings in this language, or `None` if there is no translation.
pub fn headings(language: Language) -> Option<[&'static str; SECTION_COUNT]> {
    match language {
        Language::English => Some(ENGLISH_HEADINGS),
        Language::Chinese => Some(CHINESE_HEADINGS),
        Language::Other => None,
    }
}

/// Numbered Markdown headings for the judge's prompt. A language without a translation gets the
/// English ones, which the model translates.
pub(in crate::debate) fn numbered_headings(language: Language) -> Vec<String> {
    let all = headings(language).unwrap_or(ENGLISH_HEADINGS);
    all.iter().zip(1..).map(|(heading, nth)| format!("{nth}. `## {heading}`")).collect()
}
