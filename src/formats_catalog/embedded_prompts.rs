//! Prompts embedded in the binary, as tables of name in the setup, file below `prompts/`, and text.

/// Table of prompts.
pub(super) type PromptTable = &'static [(&'static str, &'static str, &'static str)];

/// Prompts by format.
pub(super) const FORMAT_PROMPTS: &[(&str, PromptTable)] = &[
    ("duel", DUEL_PROMPTS),
    ("research", RESEARCH_PROMPTS),
    ("dialectic", DIALECTIC_PROMPTS),
    ("tribunal", TRIBUNAL_PROMPTS),
    ("arena", ARENA_PROMPTS),
];

#[rustfmt::skip]
const DUEL_PROMPTS: PromptTable = &[
    ("answer", "duel/answer.md", include_str!("../../prompts/duel/answer.md")),
    ("propose", "duel/propose.md", include_str!("../../prompts/duel/propose.md")),
    ("challenge", "duel/challenge.md", include_str!("../../prompts/duel/challenge.md")),
    ("defend", "duel/defend.md", include_str!("../../prompts/duel/defend.md")),
    ("follow_up", "duel/follow_up.md", include_str!("../../prompts/duel/follow_up.md")),
    ("summarize", "duel/summarize.md", include_str!("../../prompts/duel/summarize.md")),
    ("judge", "duel/judge.md", include_str!("../../prompts/duel/judge.md")),
];

#[rustfmt::skip]
const RESEARCH_PROMPTS: PromptTable = &[
    ("investigate", "research/investigate.md", include_str!("../../prompts/research/investigate.md")),
    ("rebut", "research/rebut.md", include_str!("../../prompts/research/rebut.md")),
    ("audit", "research/audit.md", include_str!("../../prompts/research/audit.md")),
    ("judge", "research/judge.md", include_str!("../../prompts/research/judge.md")),
];

#[rustfmt::skip]
const DIALECTIC_PROMPTS: PromptTable = &[
    ("position", "dialectic/position.md", include_str!("../../prompts/dialectic/position.md")),
    ("challenge", "dialectic/challenge.md", include_str!("../../prompts/dialectic/challenge.md")),
    ("respond", "dialectic/respond.md", include_str!("../../prompts/dialectic/respond.md")),
    ("insights", "dialectic/insights.md", include_str!("../../prompts/dialectic/insights.md")),
];

#[rustfmt::skip]
const TRIBUNAL_PROMPTS: PromptTable = &[
    ("argue", "tribunal/argue.md", include_str!("../../prompts/tribunal/argue.md")),
    ("petition", "tribunal/petition.md", include_str!("../../prompts/tribunal/petition.md")),
    ("admit", "tribunal/admit.md", include_str!("../../prompts/tribunal/admit.md")),
    ("address", "tribunal/address.md", include_str!("../../prompts/tribunal/address.md")),
    ("score", "tribunal/score.md", include_str!("../../prompts/tribunal/score.md")),
    ("judge", "tribunal/judge.md", include_str!("../../prompts/tribunal/judge.md")),
    ("vote", "tribunal/vote.md", include_str!("../../prompts/tribunal/vote.md")),
    ("act.stances", "tribunal/acts/stances.md", include_str!("../../prompts/tribunal/acts/stances.md")),
    ("act.confrontation", "tribunal/acts/confrontation.md", include_str!("../../prompts/tribunal/acts/confrontation.md")),
    ("act.key battle", "tribunal/acts/key_battle.md", include_str!("../../prompts/tribunal/acts/key_battle.md")),
    ("act.endgame", "tribunal/acts/endgame.md", include_str!("../../prompts/tribunal/acts/endgame.md")),
    ("act.closing", "tribunal/acts/closing.md", include_str!("../../prompts/tribunal/acts/closing.md")),
    ("audience.rational-logic", "tribunal/audience/rational-logic.md", include_str!("../../prompts/tribunal/audience/rational-logic.md")),
    ("audience.practical-feasibility", "tribunal/audience/practical-feasibility.md", include_str!("../../prompts/tribunal/audience/practical-feasibility.md")),
    ("audience.technology-forward", "tribunal/audience/technology-forward.md", include_str!("../../prompts/tribunal/audience/technology-forward.md")),
    ("audience.risk-averse", "tribunal/audience/risk-averse.md", include_str!("../../prompts/tribunal/audience/risk-averse.md")),
    ("audience.emotional-resonance", "tribunal/audience/emotional-resonance.md", include_str!("../../prompts/tribunal/audience/emotional-resonance.md")),
];

#[rustfmt::skip]
const ARENA_PROMPTS: PromptTable = &[
    ("open", "arena/open.md", include_str!("../../prompts/arena/open.md")),
    ("clash", "arena/clash.md", include_str!("../../prompts/arena/clash.md")),
    ("close", "arena/close.md", include_str!("../../prompts/arena/close.md")),
    ("judge", "arena/judge.md", include_str!("../../prompts/arena/judge.md")),
    ("vote", "arena/vote.md", include_str!("../../prompts/arena/vote.md")),
    ("reply.rubric", "reply/rubric.md", include_str!("../../prompts/reply/rubric.md")),
    ("audience.rational-logic", "tribunal/audience/rational-logic.md", include_str!("../../prompts/tribunal/audience/rational-logic.md")),
    ("audience.practical-feasibility", "tribunal/audience/practical-feasibility.md", include_str!("../../prompts/tribunal/audience/practical-feasibility.md")),
    ("audience.technology-forward", "tribunal/audience/technology-forward.md", include_str!("../../prompts/tribunal/audience/technology-forward.md")),
    ("audience.risk-averse", "tribunal/audience/risk-averse.md", include_str!("../../prompts/tribunal/audience/risk-averse.md")),
    ("audience.emotional-resonance", "tribunal/audience/emotional-resonance.md", include_str!("../../prompts/tribunal/audience/emotional-resonance.md")),
];

/// Prompts all formats share.
#[rustfmt::skip]
pub(super) const COMMON_PROMPTS: PromptTable = &[
    ("reply.speech", "reply/speech.md", include_str!("../../prompts/reply/speech.md")),
    ("reply.sections", "reply/sections.md", include_str!("../../prompts/reply/sections.md")),
    ("reply.verdict", "reply/verdict.md", include_str!("../../prompts/reply/verdict.md")),
    ("reply.changed", "reply/changed.md", include_str!("../../prompts/reply/changed.md")),
    ("reply.court", "reply/court.md", include_str!("../../prompts/reply/court.md")),
    ("again", "again.md", include_str!("../../prompts/again.md")),
    ("review", "review.md", include_str!("../../prompts/review.md")),
];

/// Prompts of the arena client, for debates on other servers.
#[rustfmt::skip]
pub(super) const ARENA_CLIENT_PROMPTS: PromptTable = &[
    ("guest", "arena/guest.md", include_str!("../../prompts/arena/guest.md")),
    ("opening", "arena/guest-opening.md", include_str!("../../prompts/arena/guest-opening.md")),
    ("rebuttal", "arena/guest-rebuttal.md", include_str!("../../prompts/arena/guest-rebuttal.md")),
    ("closing", "arena/guest-closing.md", include_str!("../../prompts/arena/guest-closing.md")),
    ("again", "arena/guest-again.md", include_str!("../../prompts/arena/guest-again.md")),
];

/// Built-in format files that extend other formats for one kind of question.
#[rustfmt::skip]
pub(super) const TEMPLATE_FORMATS: &[(&str, &str)] = &[
    ("api-design", include_str!("../../prompts/formats/api-design.toml")),
    ("security", include_str!("../../prompts/formats/security.toml")),
    ("migration", include_str!("../../prompts/formats/migration.toml")),
];
