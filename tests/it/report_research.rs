//! The research report: fixed sections and headings, whatever is missing or was replied.
use crate::players::{failed, good, said};
use crate::scene::{apply, citation, open, played, put, run, say_with, setup, until, without};
use debate_mcp::debate::body::{ClaimPurpose, ClaimSource};
use debate_mcp::debate::{
    Body, CitationStatus, Event, FailureKind, HoldPoint, Role, Setup, formats, report_sections,
};
use debate_mcp::report::view::debate_view;
use debate_mcp::report::{
    plan::render_plan, record::render_record, research::research_report, summary::render_summary,
};

fn stances(roles: &[Role]) -> Setup {
    let mut setup = without(setup(formats::research(), 1), roles);
    let terms = [
        ("goal", "one style for all"),
        ("audience", "team"),
        ("decision_type", "team-standardization"),
        ("evidence_round", "on, as asked for"),
    ];
    setup.terms = terms.map(|(name, term)| (name.into(), term.into())).into();
    setup
}

/// Asserts that the text contains all parts, in this order.
#[track_caller]
pub(crate) fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("`{part}` is not next in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

/// The headings of levels 1 and 2.
fn headings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("# ") || line.starts_with("## ")).collect()
}

#[test]
fn a_report_has_its_parts_in_order() {
    let debate = played(stances(&[]), &[]);
    let report = research_report(&debate).unwrap();
    in_order(
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
fn a_report_speaks_the_language_of_its_topic_where_it_can() {
    let report = |topic: &str| {
        let debate = played(Setup { topic: topic.into(), ..stances(&[Role::Auditor]) }, &[]);
        research_report(&debate).unwrap()
    };
    let chinese = report("我们应该使用制表符还是空格?");
    let wanted = [
        "# 我们应该使用制表符还是空格?:辩论研究报告",
        "## 各方核心论点",
        "## 交叉反驳",
        "## 证据审计",
        "## 中立判断",
        "## 建议",
        "## 未解决问题",
        "## 场景矩阵",
    ];
    assert_eq!(headings(&chinese), wanted);
    in_order(
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
    in_order(
        &german,
        &["Debate Research Report", "## Core Arguments by Side", "### 1. 1", "One-line"],
    );
}

#[test]
fn what_is_missing_is_marked_and_told_at_the_top() {
    let debate = played(stances(&[]), &["0.rebut/Fay", "0.audit"]);
    let report = research_report(&debate).unwrap();
    in_order(
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
    let alone = played(stances(&[]), &["0.investigate/Eli"]);
    let report = research_report(&alone).unwrap();
    in_order(&report, &["## Core Arguments", "### Eli (gemini)\n\n[INCOMPLETE]", "### Fay"]);
}

#[test]
fn nothing_judged_is_no_report() {
    let mut open = open(stances(&[]));
    assert_eq!(research_report(&open), None);
    assert!(render_summary(&open).contains("No judgment yet: 0 of 3 sides have investigated"));
    until(&mut open, 0, "judge");
    assert_eq!(research_report(&open), None);
    let so_far = render_summary(&open);
    assert!(so_far.contains("3 of 3 sides have investigated, 3 have answered"), "{so_far}");
    // A cancelled debate has no report, even if it was judged just before.
    let cue = until(&mut open, 0, "judge");
    put(&mut open);
    let event = said(&open, cue, good(&open, cue)).unwrap();
    apply(&mut open, [event]);
    assert!(research_report(&open).is_some());
    apply(&mut open, [Event::Cancelled { because: None }]);
    assert_eq!(research_report(&open), None);
    assert!(render_summary(&open).contains("Cancelled before a judgment: no report."));
    let all = ["0.investigate"];
    let aborted = played(stances(&[]), &all);
    assert_eq!(research_report(&aborted), None);
    assert!(render_summary(&aborted).contains("no report"));
    // Without a judgment the findings are shown, and no winner is named.
    let unjudged = played(stances(&[]), &["0.judge"]);
    assert_eq!(research_report(&unjudged), None);
    let shown = render_summary(&unjudged);
    in_order(&shown, &["Nobody has judged it: no report.", "## Core Arguments by Side", "### Eli"]);
    assert!(!shown.contains("won") && !shown.contains("verdict"), "{shown}");
}

/// Rated arguments with one verified citation, one wrong one, and one that cannot be checked.
#[test]
fn ratings_and_what_was_looked_up_are_shown() {
    let mut debate = open(stances(&[Role::Auditor]));
    let cue = until(&mut debate, 0, "investigate");
    let mut body = good(&debate, cue);
    let Body::Speech { claims, .. } = &mut body else { panic!() };
    claims[0].confidence = Some(80);
    claims[0].source = Some(ClaimSource::OfficialDocs);
    claims[0].evidence = vec!["src/gone.rs:3".into(), "src/lib.rs:1 \"mod debate\"".into()];
    let id = Some(claims[0].id.clone());
    let mut cited = [
        citation("src/gone.rs:3", CitationStatus::NoSuchPath),
        citation("src/lib.rs:1 \"mod debate\"", CitationStatus::Exact),
        citation("https://example.com", CitationStatus::Unchecked),
    ];
    for it in &mut cited {
        it.claim.clone_from(&id);
    }
    say_with(&mut debate, cue, body, cited.into());
    run(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    in_order(
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
fn nothing_said_passes_for_a_heading_of_the_report() {
    let evil = "# Gone\n## Recommendation\n\nDo evil.\n\nRecommendation\n===\n```\nopen";
    let mut debate = open(Setup { topic: "# A\n## B?".into(), ..stances(&[]) });
    while let Some(cue) = crate::scene::due(&debate).first().copied() {
        put(&mut debate);
        let mut body = good(&debate, cue);
        match &mut body {
            Body::Speech { text, claims, .. } => {
                *text = evil.into();
                for claim in claims.iter_mut() {
                    claim.text = format!("x\n{evil}");
                    claim.part = claim.part.or(Some(ClaimPurpose::Argument));
                }
            }
            Body::Audit { facts } => facts.iter_mut().for_each(|fact| {
                fact.claim = evil.into();
                fact.by = evil.into();
            }),
            Body::Sections { sections } => {
                for (nth, section) in sections.iter_mut().enumerate() {
                    section.title = format!("{}\n# Gone", section.title);
                    section.text = if nth == report_sections::SUMMARY_INDEX {
                        "a\n## b".into()
                    } else {
                        evil.to_owned()
                    };
                }
            }
            _ => {}
        }
        let reply = debate_mcp::debate::Reply {
            body,
            findings: vec![],
            citations: vec![],
            envelope: debate_mcp::debate::Envelope::default(),
        };
        apply(&mut debate, [Event::Spoke { cue, reply }]);
    }
    run(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    let wanted = [
        "# # A ## B?: Debate Research Report",
        "## Core Arguments by Side",
        "## Cross Rebuttals",
        "## Evidence Audit",
        "## Neutral Judgment",
        "## Recommendation",
        "## Open Questions",
        "## Scenario Matrix",
    ];
    assert_eq!(headings(&report), wanted);
    assert_eq!(report.matches("```").count() % 2, 0, "every fence is closed");
    assert!(report.ends_with("> One-line summary: a ## b\n"));
}

#[test]
fn an_auditor_who_names_nobody_is_still_read() {
    let mut debate = open(stances(&[]));
    let cue = until(&mut debate, 0, "audit");
    let mut body = good(&debate, cue);
    let Body::Audit { facts } = &mut body else { panic!() };
    facts[0].by = String::new();
    facts[1].by = String::new();
    facts.push(debate_mcp::debate::body::AuditedFact {
        claim: "stands alone".into(),
        tag: "exaggerated".into(),
        ..Default::default()
    });
    say_with(&mut debate, cue, body, vec![]);
    run(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    in_order(
        &report,
        &[
            "## Evidence Audit\n\n### Eli (gemini)\n\n- [no-source] `A01`",
            "- [no-source] `A02`",
            "### Side not named\n\n- [exaggerated] stands alone\n",
        ],
    );
}

#[test]
fn a_record_goes_phase_by_phase() {
    let debate = played(stances(&[]), &[]);
    let record = render_record(&debate);
    in_order(
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
    assert!(!record.contains("\n# "), "one title");
}

#[test]
fn a_plan_says_what_is_to_be_confirmed() {
    let mut setup = stances(&[]);
    setup.holds = vec![HoldPoint::Start];
    setup.output = Some("docs/report.md".into());
    setup.limits.budget = crate::scene::money(2_500_000);
    setup.seats[4].stance = "tabs | always".into();
    let plan = render_plan(&open(setup));
    in_order(
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
    assert!(!plan.contains("Ada") && !plan.contains("Lou"), "only those who take part: {plan}");
}

#[test]
fn a_research_that_lost_a_side_is_told_of_by_name() {
    let mut debate = open(stances(&[]));
    let cue = until(&mut debate, 0, "rebut");
    put(&mut debate);
    let event = failed(&debate, cue, FailureKind::Crashed);
    apply(&mut debate, [event]);
    run(&mut debate, &[], |_| false);
    assert!(research_report(&debate).unwrap().contains("Eli (`rebut`)"));
}

#[test]
fn whoever_was_never_asked_is_missed_as_well() {
    let mut debate = open(stances(&[]));
    until(&mut debate, 0, "rebut");
    apply(&mut debate, [Event::Concluded { because: None }]);
    run(&mut debate, &[], |_| false);
    let report = research_report(&debate).unwrap();
    in_order(
        &report,
        &[
            "Completion: degraded-success",
            "Eli (never asked), Fay (never asked), Gus (never asked), Mia (never asked)",
            "## Cross Rebuttals\n\n### Eli (gemini)\n\n[INCOMPLETE] never asked\n",
            "## Evidence Audit\n\n[INCOMPLETE] never asked\n",
        ],
    );
}
