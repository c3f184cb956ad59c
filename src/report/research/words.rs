//! Localized labels of a research report. English is the fallback for topics in other languages.
use crate::debate::language::{self, Language};

/// Headings and fixed phrases of a report in one language.
pub(super) struct Words {
    /// Separator after a label.
    pub(super) colon: &'static str,
    pub(super) title: &'static str,
    pub(super) date: &'static str,
    pub(super) method: &'static str,
    /// Value of the method row in the header.
    pub(super) debate: &'static str,
    pub(super) roles: &'static str,
    pub(super) audience: &'static str,
    pub(super) decision: &'static str,
    pub(super) completion: &'static str,
    /// Prefix of the list of missing turns.
    pub(super) degraded: &'static str,
    pub(super) arguments: &'static str,
    pub(super) stance: &'static str,
    /// Prefix of a rule violation found in a turn.
    pub(super) fault: &'static str,
    /// Heading of a speech's claims.
    pub(super) claims: &'static str,
    pub(super) rebuttals: &'static str,
    pub(super) audit: &'static str,
    /// Shown if the debate has no auditor.
    pub(super) unrequested: &'static str,
    /// Shown for a turn that was never requested.
    pub(super) unasked: &'static str,
    /// Prefix of the citation counts.
    pub(super) checked: &'static str,
    /// Units of the citation counts: looked up, verified, wrong.
    pub(super) figures: [&'static str; 3],
    /// Heading for claims of an unknown side.
    pub(super) others: &'static str,
    pub(super) judgment: &'static str,
    pub(super) recommendation: &'static str,
    pub(super) questions: &'static str,
    pub(super) matrix: &'static str,
    pub(super) summary: &'static str,
}

const ENGLISH: Words = Words {
    colon: ": ",
    title: "Debate Research Report",
    date: "Date",
    method: "Method",
    debate: "Multi-agent structured debate (debate-research skill)",
    roles: "Roles",
    audience: "Audience",
    decision: "Decision type",
    completion: "Completion",
    degraded: "Degraded: this report rests on less than was asked for. Missing, and marked \
               [INCOMPLETE] where it would stand: ",
    arguments: "Core Arguments by Side",
    stance: "Stance",
    fault: "Checked",
    claims: "As rated by the side itself",
    rebuttals: "Cross Rebuttals",
    audit: "Evidence Audit",
    unrequested: "Not requested",
    unasked: "never asked",
    checked: "Looked up by the program",
    figures: ["citations looked up", "verified", "wrong"],
    others: "Side not named",
    judgment: "Neutral Judgment",
    recommendation: "Recommendation",
    questions: "Open Questions",
    matrix: "Scenario Matrix",
    summary: "One-line summary",
};

const CHINESE: Words = Words {
    colon: ":",
    title: "辩论研究报告",
    date: "日期",
    method: "方法",
    debate: "多代理结构化辩论(debate-research 技能)",
    roles: "角色",
    audience: "受众",
    decision: "决策类型",
    completion: "完成状态",
    degraded: "降级说明:本报告的依据不完整,缺失部分在原位置标记为 [INCOMPLETE]:",
    arguments: "各方核心论点",
    stance: "立场",
    fault: "程序检查",
    claims: "该方自评",
    rebuttals: "交叉反驳",
    audit: "证据审计",
    unrequested: "未请求",
    unasked: "未被询问",
    checked: "程序核查",
    figures: ["条引用已核查", "条属实", "条有误"],
    others: "未注明一方",
    judgment: "中立判断",
    recommendation: "建议",
    questions: "未解决问题",
    matrix: "场景矩阵",
    summary: "一句话总结",
};

/// Labels in the language of a topic.
pub(super) fn of(topic: &str) -> &'static Words {
    match language::detect(topic) {
        Language::Chinese => &CHINESE,
        Language::English | Language::Other => &ENGLISH,
    }
}
