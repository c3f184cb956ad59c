//! Localized labels of a research report. English is the fallback for topics in other languages.
use crate::debate::language::{self, Language};

/// Headings and fixed phrases of a report in one language.
pub(super) struct ReportLabels {
    /// Separator after a label.
    pub(super) colon: &'static str,
    pub(super) title: &'static str,
    pub(super) date: &'static str,
    pub(super) method: &'static str,
    /// Value of the method row in the header.
    pub(super) method_text: &'static str,
    pub(super) roles: &'static str,
    pub(super) audience: &'static str,
    pub(super) decision_type: &'static str,
    pub(super) completion: &'static str,
    /// Prefix of the list of missing turns.
    pub(super) missing_prefix: &'static str,
    pub(super) arguments: &'static str,
    pub(super) stance: &'static str,
    /// Prefix of a rule violation found in a turn.
    pub(super) finding: &'static str,
    /// Heading of a speech's claims.
    pub(super) self_rated_claims: &'static str,
    pub(super) rebuttals: &'static str,
    pub(super) audit: &'static str,
    /// Shown if the debate has no auditor.
    pub(super) no_audit: &'static str,
    /// Shown for a turn that was never requested.
    pub(super) never_asked: &'static str,
    /// Prefix of the citation counts.
    pub(super) citation_lookup: &'static str,
    /// Units of the citation counts: looked up, verified, wrong.
    pub(super) citation_units: [&'static str; 3],
    /// Heading for claims of an unknown side.
    pub(super) unknown_side: &'static str,
    pub(super) judgment: &'static str,
    pub(super) recommendation: &'static str,
    pub(super) open_questions: &'static str,
    pub(super) scenario_matrix: &'static str,
    pub(super) summary: &'static str,
}

const ENGLISH: ReportLabels = ReportLabels {
    colon: ": ",
    title: "Debate Research Report",
    date: "Date",
    method: "Method",
    method_text: "Multi-agent structured debate (debate-research skill)",
    roles: "Roles",
    audience: "Audience",
    decision_type: "Decision type",
    completion: "Completion",
    missing_prefix: "Degraded: this report rests on less than was asked for. Missing, and marked \
               [INCOMPLETE] where it would stand: ",
    arguments: "Core Arguments by Side",
    stance: "Stance",
    finding: "Checked",
    self_rated_claims: "As rated by the side itself",
    rebuttals: "Cross Rebuttals",
    audit: "Evidence Audit",
    no_audit: "Not requested",
    never_asked: "never asked",
    citation_lookup: "Looked up by the program",
    citation_units: ["citations looked up", "verified", "wrong"],
    unknown_side: "Side not named",
    judgment: "Neutral Judgment",
    recommendation: "Recommendation",
    open_questions: "Open Questions",
    scenario_matrix: "Scenario Matrix",
    summary: "One-line summary",
};

const CHINESE: ReportLabels = ReportLabels {
    colon: ":",
    title: "辩论研究报告",
    date: "日期",
    method: "方法",
    method_text: "多代理结构化辩论(debate-research 技能)",
    roles: "角色",
    audience: "受众",
    decision_type: "决策类型",
    completion: "完成状态",
    missing_prefix: "降级说明:本报告的依据不完整,缺失部分在原位置标记为 [INCOMPLETE]:",
    arguments: "各方核心论点",
    stance: "立场",
    finding: "程序检查",
    self_rated_claims: "该方自评",
    rebuttals: "交叉反驳",
    audit: "证据审计",
    no_audit: "未请求",
    never_asked: "未被询问",
    citation_lookup: "程序核查",
    citation_units: ["条引用已核查", "条属实", "条有误"],
    unknown_side: "未注明一方",
    judgment: "中立判断",
    recommendation: "建议",
    open_questions: "未解决问题",
    scenario_matrix: "场景矩阵",
    summary: "一句话总结",
};

/// Labels in the language of a topic.
pub(super) fn labels_for(topic: &str) -> &'static ReportLabels {
    match language::detect(topic) {
        Language::Chinese => &CHINESE,
        Language::English | Language::Other => &ENGLISH,
    }
}
