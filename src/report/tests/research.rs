//! The research report: fixed sections and headings, whatever is missing or was replied.
use super::assert_in_order;
use crate::debate::body::{ClaimPurpose, ClaimSource};
use crate::debate::{
    Body, CitationStatus, Event, FailureKind, HoldPoint, Role, Setup, formats, report_sections,
};
use crate::report::view::debate_view;
use crate::report::{
    plan::render_plan, record::render_record, research::research_report, summary::render_summary,
};
use crate::test_support::debate_fixture::{
    apply_events, ask_open_turns, citation, debate_setup, open_debate, play_debate, play_to_end,
    play_until, record_reply_with, without_roles,
};
use crate::test_support::simulated_players::{failed_event, reply_event, valid_reply};

fn research_setup(roles: &[Role]) -> Setup {
    let mut setup = without_roles(debate_setup(formats::research(), 1), roles);
    let terms = [
        ("goal", "one style for all"),
        ("audience", "team"),
        ("decision_type", "team-standardization"),
        ("evidence_round", "on, as asked for"),
    ];
    setup.terms = terms.map(|(name, term)| (name.into(), term.into())).into();
    setup
}

/// The headings of levels 1 and 2.
fn top_headings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("# ") || line.starts_with("## ")).collect()
}

#[test]
fn report_has_its_sections_in_order() {
    let debate = play_to_end(research_setup(&[]), &[]);
    let report = research_report(&debate).unwrap();
    assert_in_order(
        &report,
        &[
            "# Tabs or spaces?: Debate Research Report\n",
            "\nDate: 2026-01-01  \n",
            "Method: Multi-agent structured debate (debate-research skill)  \n",
            "Roles: Eli (gemini) | Fay (gemini) | Gus (gemini) | Evidence auditor (gemini) | Judge",
            "\nAudience: team | Decision type: team-standardization  \n",
            "Completion: success  \n",
            "\n## Core Arguments by Side\n\n### Eli (gemini)\n",
            "\n### Gus (gemini)\n",
            "\n## Cross Rebuttals\n\n### Eli (gemini)\n",
            "\n## Evidence Audit\n\n### Eli (gemini)\n\n- [no-source] `A01` ",
            "\n## Neutral Judgment\n\n### 1. Strong Arguments\n",
            "\n### 5. Consensus Points\n",
            "\n## Recommendation\n\nTabs.\n",
            "\n## Open Questions\n",
            "\n## Scenario Matrix\n\n| Scenario | Choice | Why |\n|---|---|---|\n",
            "\n> One-line summary: Use tabs.\n",
        ],
    );
    assert!(!report.contains("[INCOMPLETE]") && !report.contains("Degraded"));
    assert_eq!(render_summary(&debate), report);
    assert_eq!(debate_view(&debate).report, Some(report));
}

#[test]
fn report_headings_follow_the_topic_language() {
    let report = |topic: &str| {
        let debate =
            play_to_end(Setup { topic: topic.into(), ..research_setup(&[Role::Auditor]) }, &[]);
        research_report(&debate).unwrap()
    };
    let chinese = report("我们应该使用制表符还是空格?");
    let expected = [
        "# 我们应该使用制表符还是空格?:辩论研究报告",
        "## 各方核心论点",
        "## 交叉反驳",
        "## 证据审计",
        "## 中立判断",
        "## 建议",
        "## 未解决问题",
        "## 场景矩阵",
    ];
    assert_eq!(top_headings(&chinese), expected);
    assert_in_order(
        &chinese,
        &[
            "日期:2026-01-01",
            "方法:多代理结构化辩论(debate-research 技能)",
            "角色:Eli (gemini) | ",
            "受众:team | 决策类型:team-standardization",
            "完成状态:success",
            "## 证据审计\n\n未请求\n",
            "### 1. 各方的强论点",
            "> 一句话总结:Use tabs.",
        ],
    );
    let german = report("Sollen wir Tabs oder Leerzeichen für den Code verwenden?");
    assert_in_order(
        &german,
        &["Debate Research Report", "## Core Arguments by Side", "### 1. 1", "One-line"],
    );
}

#[test]
fn missing_replies_are_marked_and_listed_at_the_top() {
    let debate = play_to_end(research_setup(&[]), &["0.rebut/Fay", "0.audit"]);
    let report = research_report(&debate).unwrap();
    assert_in_order(
        &report,
        &[
            "Completion: degraded-success",
            "> Degraded: this report rests on less than was asked for.",
            "Fay (`rebut`), Mia (`audit`)",
            "## Cross Rebuttals",
            "### Fay (gemini)\n\n[INCOMPLETE] timed out: down\n",
            "## Evidence Audit\n\n[INCOMPLETE] timed out: down\n",
            "## Recommendation",
        ],
    );
    let one_missing = play_to_end(research_setup(&[]), &["0.investigate/Eli"]);
    let report = research_report(&one_missing).unwrap();
    assert_in_order(&report, &["## Core Arguments", "### Eli (gemini)\n\n[INCOMPLETE]", "### Fay"]);
}

#[test]
fn no_report_without_a_judgment() {
    let mut debate = open_debate(research_setup(&[]));
    assert_eq!(research_report(&debate), None);
    assert!(render_summary(&debate).contains("No judgment yet: 0 of 3 sides have investigated"));
    play_until(&mut debate, 0, "judge");
    assert_eq!(research_report(&debate), None);
    let early_summary = render_summary(&debate);
    assert!(
        early_summary.contains("3 of 3 sides have investigated, 3 have answered"),
        "{early_summary}"
    );
    // A cancelled debate has no report, even if it was judged just before.
    let cue = play_until(&mut debate, 0, "judge");
    ask_open_turns(&mut debate);
    let event = reply_event(&debate, cue, valid_reply(&debate, cue)).unwrap();
    apply_events(&mut debate, [event]);
    assert!(research_report(&debate).is_some());
    apply_events(&mut debate, [Event::Cancelled { because: None }]);
    assert_eq!(research_report(&debate), None);
    assert!(render_summary(&debate).contains("Cancelled before a judgment: no report."));
    let failing_turns = ["0.investigate"];
    let aborted = play_to_end(research_setup(&[]), &failing_turns);
    assert_eq!(research_report(&aborted), None);
    assert!(render_summary(&aborted).contains("no report"));
    // Without a judgment the findings are shown, and no winner is named.
    let unjudged = play_to_end(research_setup(&[]), &["0.judge"]);
    assert_eq!(research_report(&unjudged), None);
    let summary = render_summary(&unjudged);
    assert_in_order(
        &summary,
        &["Nobody has judged it: no report.", "## Core Arguments by Side", "### Eli"],
    );
    assert!(!summary.contains("won") && !summary.contains("verdict"), "{summary}");
}

/// Rated arguments with one verified citation, one wrong one, and one that cannot be checked.
#[test]
fn report_shows_ratings_and_checked_citations() {
    let mut debate = open_debate(research_setup(&[Role::Auditor]));
    let cue = play_until(&mut debate, 0, "investigate");
    let mut body = valid_reply(&debate, cue);
    let Body::Speech { claims, .. } = &mut body else { panic!() };
    claims[0].confidence = Some(80);
    claims[0].source = Some(ClaimSource::OfficialDocs);
    claims[0].evidence = vec!["src/gone.rs:3".into(), "src/lib.rs:1 \"mod debate\"".into()];
    let id = Some(claims[0].id.clone());
    let mut citations = [
        citation("src/gone.rs:3", CitationStatus::NoSuchPath),
        citation("src/lib.rs:1 \"mod debate\"", CitationStatus::Exact),
        citation("https://example.com", CitationStatus::Unchecked),
    ];
    for it in &mut citations {
        it.claim.clone_from(&id);
    }
    record_reply_with(&mut debate, cue, body, citations.into());
    play_debate(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    assert_in_order(
        &report,
        &[
            "- `A01` ",
            " | confidence: 0.80 | source: official-docs\n",
            "  - ~~src/gone.rs:3~~ (no such path)\n",
            "  - src/lib.rs:1 \"mod debate\" (exact)\n",
            "## Evidence Audit\n\nNot requested\n",
            "Looked up by the program: 2 citations looked up, 1 verified, 1 wrong\n\n",
            "- Eli `A01`: ~~src/gone.rs:3~~ (no such path)\n",
            "## Neutral Judgment",
        ],
    );
}

#[test]
fn replies_cannot_forge_report_headings() {
    let hostile = "# Gone\n## Recommendation\n\nDo evil.\n\nRecommendation\n===\n```\nopen";
    let mut debate = open_debate(Setup { topic: "# A\n## B?".into(), ..research_setup(&[]) });
    while let Some(cue) = crate::test_support::debate_fixture::due_cues(&debate).first().copied() {
        ask_open_turns(&mut debate);
        let mut body = valid_reply(&debate, cue);
        match &mut body {
            Body::Speech { text, claims, .. } => {
                *text = hostile.into();
                for claim in claims.iter_mut() {
                    claim.text = format!("x\n{hostile}");
                    claim.part = claim.part.or(Some(ClaimPurpose::Argument));
                }
            }
            Body::Audit { facts } => facts.iter_mut().for_each(|fact| {
                fact.claim = hostile.into();
                fact.by = hostile.into();
            }),
            Body::Sections { sections } => {
                for (nth, section) in sections.iter_mut().enumerate() {
                    section.title = format!("{}\n# Gone", section.title);
                    section.text = if nth == report_sections::SUMMARY_INDEX {
                        "a\n## b".into()
                    } else {
                        hostile.to_owned()
                    };
                }
            }
            _ => {}
        }
        let reply = crate::debate::Reply {
            body,
            findings: vec![],
            citations: vec![],
            envelope: crate::debate::Envelope::default(),
        };
        apply_events(&mut debate, [Event::Spoke { cue, reply }]);
    }
    play_debate(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    let expected = [
        "# # A ## B?: Debate Research Report",
        "## Core Arguments by Side",
        "## Cross Rebuttals",
        "## Evidence Audit",
        "## Neutral Judgment",
        "## Recommendation",
        "## Open Questions",
        "## Scenario Matrix",
    ];
    assert_eq!(top_headings(&report), expected);
    assert_eq!(report.matches("```").count() % 2, 0, "every fence is closed");
    assert!(report.ends_with("> One-line summary: a ## b\n"));
}

#[test]
fn audit_facts_without_a_side_are_still_listed() {
    let mut debate = open_debate(research_setup(&[]));
    let cue = play_until(&mut debate, 0, "audit");
    let mut body = valid_reply(&debate, cue);
    let Body::Audit { facts } = &mut body else { panic!() };
    facts[0].by = String::new();
    facts[1].by = String::new();
    facts.push(crate::debate::body::AuditedFact {
        claim: "stands alone".into(),
        tag: "exaggerated".into(),
        ..Default::default()
    });
    record_reply_with(&mut debate, cue, body, vec![]);
    play_debate(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    assert_in_order(
        &report,
        &[
            "## Evidence Audit\n\n### Eli (gemini)\n\n- [no-source] `A01`",
            "- [no-source] `A02`",
            "### Side not named\n\n- [exaggerated] stands alone\n",
        ],
    );
}

#[test]
fn record_is_ordered_by_phase() {
    let debate = play_to_end(research_setup(&[]), &[]);
    let record = render_record(&debate);
    assert_in_order(
        &record,
        &[
            "**Participants**: Eli (gemini), Fay (gemini), Gus (gemini)",
            "**Outcome**: Use tabs.",
            "**Goal**: one style for all",
            "**Audience**: team",
            "**Decision type**: team-standardization",
            "**Evidence round**: on, as asked for",
            "## Investigation\n\n### Eli (gemini)",
            "### Gus (gemini)",
            "## Cross Rebuttal\n\n### Eli (gemini)",
            "## Evidence Audit\n\n### Evidence auditor (gemini)",
            "## Judgment\n\n### Judge (gemini)",
            "## Conclusion\n\n### Recommendation\n\nTabs.\n\n### Summary\n\nUse tabs.\n",
        ],
    );
    assert!(!record.contains("\n# "), "only one title");
}

#[test]
fn plan_lists_seats_rounds_pauses_and_output() {
    let mut setup = research_setup(&[]);
    setup.holds = vec![HoldPoint::Start];
    setup.output = Some("docs/report.md".into());
    setup.limits.budget = crate::test_support::debate_fixture::cost_budget(2_500_000);
    setup.seats[4].stance = "tabs | always".into();
    let plan = render_plan(&open_debate(setup));
    assert_in_order(
        &plan,
        &[
            "Topic: Tabs or spaces?\nFormat: research\n",
            "| Eli | Advocate | gemini | tabs \\| always |\n",
            "| Kim | Judge | gemini |",
            "Rounds: 1 (investigation, cross rebuttal, evidence audit, judgment)\n",
            "Evidence round: on, as asked for\nGoal: one style for all\nAudience: team\n",
            "Calls: about 8, reading ",
            "Pauses before it starts\nPauses at a cost of 2.50\nOutput: docs/report.md\n",
        ],
    );
    assert!(!plan.contains("Ada") && !plan.contains("Lou"), "only seats with turns: {plan}");
}

#[test]
fn failed_side_is_named_in_the_report() {
    let mut debate = open_debate(research_setup(&[]));
    let cue = play_until(&mut debate, 0, "rebut");
    ask_open_turns(&mut debate);
    let event = failed_event(&debate, cue, FailureKind::Crashed);
    apply_events(&mut debate, [event]);
    play_debate(&mut debate, &[], |_| false);
    assert!(research_report(&debate).unwrap().contains("Eli (`rebut`)"));
}

#[test]
fn seats_never_asked_are_listed_as_missing() {
    let mut debate = open_debate(research_setup(&[]));
    play_until(&mut debate, 0, "rebut");
    apply_events(&mut debate, [Event::Concluded { because: None }]);
    play_debate(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    assert_in_order(
        &report,
        &[
            "Completion: degraded-success",
            "Eli (never asked), Fay (never asked), Gus (never asked), Mia (never asked)",
            "## Cross Rebuttals\n\n### Eli (gemini)\n\n[INCOMPLETE] never asked\n",
            "## Evidence Audit\n\n[INCOMPLETE] never asked\n",
        ],
    );
}
