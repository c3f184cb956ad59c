//! Canned replies for a successful debate of each format: as a script file for scripted seats, or
//! as a table for fake models that choose the reply by words of the prompt.
use crate::test_env::verdict_json;
use debate_mcp::debate::language::Language;
use debate_mcp::debate::report_sections;
use serde_json::{Value, json};

/// One reply: its phase, optionally its seat and round, and the words by which a fake model
/// recognizes the prompt.
pub(crate) struct ScriptedReply {
    seat: Option<&'static str>,
    phase: &'static str,
    round: Option<u8>,
    prompt_words: Vec<String>,
    pub(crate) text: String,
}

/// Serializes the replies as a script file.
pub(crate) fn to_script_json(replies: &[ScriptedReply]) -> String {
    let entry = |reply: &ScriptedReply| {
        let mut entry = json!({"phase": reply.phase, "text": reply.text});
        if let Some(seat) = reply.seat {
            entry["seat"] = seat.into();
        }
        if let Some(round) = reply.round {
            entry["round"] = round.into();
        }
        entry
    };
    json!({"turns": replies.iter().map(entry).collect::<Vec<_>>()}).to_string()
}

/// Serializes the replies as a table of `[words, reply]`. All words must occur in the prompt.
#[cfg(unix)]
pub(crate) fn to_prompt_table(replies: &[ScriptedReply]) -> String {
    let row = |reply: &ScriptedReply| json!([reply.prompt_words, reply.text]);
    json!(replies.iter().map(row).collect::<Vec<_>>()).to_string()
}

fn scripted_reply(
    phase: &'static str,
    prompt_words: &[&str],
    text: impl Into<String>,
) -> ScriptedReply {
    let prompt_words = prompt_words.iter().map(|words| (*words).to_owned()).collect();
    ScriptedReply { seat: None, phase, round: None, prompt_words, text: text.into() }
}

impl ScriptedReply {
    fn by_seat(self, seat: &'static str) -> ScriptedReply {
        ScriptedReply { seat: Some(seat), ..self }
    }

    fn in_round(mut self, round: u8) -> ScriptedReply {
        self.prompt_words.push(format!("round {round} of"));
        ScriptedReply { round: Some(round), ..self }
    }
}

/// Language of the research replies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyLanguage {
    English,
    Chinese,
}

/// Research with two stances. Claim ids of the second stance start with B.
pub(crate) fn research(reply_language: ReplyLanguage) -> Vec<ScriptedReply> {
    let mut replies = vec![];
    let (pro, con) = match reply_language {
        ReplyLanguage::English => ("Proponent", "Opponent"),
        ReplyLanguage::Chinese => ("支持方", "反对方"),
    };
    for (name, own_letter, other_letter) in [(pro, 'A', 'B'), (con, 'B', 'A')] {
        let argument = |n: u8| {
            json!({"id": format!("{own_letter}{n}"), "part": "argument", "text": format!("argument {own_letter}{n}"),
                "confidence": 0.8, "source": "official-docs", "evidence": ["https://example.org/doc"]})
        };
        let other_claims = [(4, "weakness"), (5, "weakness"), (6, "counter")].map(|(n, part)| {
            json!({"id": format!("{own_letter}{n}"), "part": part, "text": format!("{part} {own_letter}{n}")})
        });
        let claims: Vec<Value> = (1..=3).map(argument).chain(other_claims).collect();
        let text = with_claims_block(&format!("## Core arguments\n\nThe case of {name}."), &claims);
        let prompt_text = format!("You are {name}, one of the sides. All");
        replies.push(scripted_reply("investigate", &[&prompt_text], text).by_seat(name));
        let answers: Vec<String> = (1..=3).map(|n| format!("{other_letter}{n}")).collect();
        let claims = [
            json!({"id": format!("{own_letter}7"), "part": "rebuttal", "text": "no", "answers": answers,
                "confidence": 0.6}),
            json!({"id": format!("{own_letter}8"), "part": "premise", "text": "it assumes too much"}),
            json!({"id": format!("{own_letter}9"), "part": "attack", "text": "it is slow"}),
            json!({"id": format!("{own_letter}10"), "part": "attack", "text": "it is dear"}),
        ];
        let text = with_claims_block(&format!("{name} answers."), &claims);
        let prompt_text = format!("You are {name}, one of the sides. Every");
        replies.push(scripted_reply("rebut", &[&prompt_text], text).by_seat(name));
    }
    let fact = |id: String| {
        let author = if id.starts_with('A') { pro } else { con };
        json!({"by": author, "id": id, "claim": "a claim", "tag": "official-docs"})
    };
    let facts: Vec<Value> =
        (1..=3).flat_map(|n| [format!("A{n}"), format!("B{n}")]).map(fact).collect();
    replies.push(scripted_reply(
        "audit",
        &["evidence auditor"],
        json!({ "facts": facts }).to_string(),
    ));
    replies.push(scripted_reply("judge", &["neutral judge"], nine_section_report(reply_language)));
    replies
}

/// Judge's report with all nine sections.
pub(crate) fn nine_section_report(reply_language: ReplyLanguage) -> String {
    let (language, matrix, summary) = match reply_language {
        ReplyLanguage::English => (
            Language::English,
            "| Scenario | Recommendation | Rationale |\n|---|---|---|\n| small team | take it | cheap |",
            "Take the first one.",
        ),
        ReplyLanguage::Chinese => (
            Language::Chinese,
            "| 场景 | 建议 | 理由 |\n|---|---|---|\n| 小团队 | 用它 | 便宜 |",
            "选第一个。",
        ),
    };
    let headings = report_sections::headings(language).unwrap();
    let section = |(index, heading): (usize, &&str)| {
        let text = match (index, reply_language) {
            (7, _) => matrix.to_owned(),
            (8, _) => summary.to_owned(),
            (_, ReplyLanguage::English) => format!("What stands under {heading}."),
            (_, ReplyLanguage::Chinese) => format!("{heading}的内容。"),
        };
        format!("## {heading}\n\n{text}")
    };
    headings.iter().enumerate().map(section).collect::<Vec<_>>().join("\n\n")
}

/// Dialectic of up to twelve rounds.
pub(crate) fn dialectic() -> Vec<ScriptedReply> {
    let insights = "## Outcome\n\npartial\nThey agree about one thing.\n\n## Key Insights\n\n\
        - Locks are short.\n\n## Common Ground\n\nOne file.\n\n## Open Disagreement\n\nHow many.";
    let mut replies = vec![
        scripted_reply("position", &["State your initial view"], "I would use one file."),
        scripted_reply("insights", &["You have led a conversation"], insights),
    ];
    // Every round has a different text.
    for round in 1..=12 {
        let doubt = format!("What about locks, {round} of them, and {}?", "x".repeat(round.into()));
        let answer = format!("In case {round} they are short, {} say.", "y".repeat(round.into()));
        replies.push(
            scripted_reply("challenge", &["You are the dialectic partner"], doubt).in_round(round),
        );
        replies.push(
            scripted_reply("respond", &["Answer what your partner has raised"], answer)
                .in_round(round),
        );
    }
    replies
}

/// Tribunal of `rounds` rounds, which the pro side wins.
pub(crate) fn tribunal(rounds: u8) -> Vec<ScriptedReply> {
    let mut replies = vec![];
    for round in 1..=rounds {
        let is_last_round = round == rounds;
        for (seat, title, own_letter, other_letter) in
            [("proposer", "PROPOSER", 'P', 'C'), ("challenger", "CHALLENGER", 'C', 'P')]
        {
            let id = if is_last_round {
                format!("{own_letter}1")
            } else {
                format!("{own_letter}{round}")
            };
            // The second speaker answers this round's claim, the first speaker the previous one.
            let answered = if own_letter == 'C' { round } else { round.saturating_sub(1) };
            let answers = [format!("{other_letter}{answered}")];
            let answers: Vec<&str> = answers
                .iter()
                .map(String::as_str)
                .filter(|_| answered > 0 && !is_last_round)
                .collect();
            let text = speech(&format!("Round {round}, says the {seat}."), &id, &answers);
            let prompt_text = format!("You are the {title} in round {round} of");
            replies.push(ScriptedReply {
                round: Some(round),
                ..scripted_reply("argue", &[&prompt_text], text).by_seat(seat)
            });
        }
        let marks =
            |mark: f64| json!({"logic": mark, "rebuttal": mark, "clarity": mark, "evidence": mark});
        let score = json!({"round": round, "scores": {"A": marks(7.5), "B": marks(6.0)},
            "foul": false, "fouls": [], "comment": "A is ahead."});
        let prompt_text = format!("round {round}");
        let score = scripted_reply("score", &["\"foul\": true", &prompt_text], score.to_string());
        replies.push(ScriptedReply { round: Some(round), ..score });
    }
    // Higher rounds first, because the words for round 1 also match a prompt of round 10.
    replies.reverse();
    let petition = json!({"intent": "support_con", "claim": "Backups.", "novelty": "new",
        "confidence": 0.7});
    replies.push(
        scripted_reply("petition", &["You may ask for the floor"], petition.to_string())
            .by_seat("risk-averse"),
    );
    let declined = json!({"intent": "none"});
    replies.push(scripted_reply("petition", &["You may ask for the floor"], declined.to_string()));
    let admits = json!({"admits": "risk-averse", "new_information": true, "avoids_repetition": true,
        "shifts_balance": false, "because": "Nobody spoke of backups."});
    replies.push(scripted_reply("admit", &["Now you decide who"], admits.to_string()));
    replies.push(scripted_reply(
        "address",
        &["has admitted you to the floor"],
        speech("Backups.", "Q1", &[]),
    ));
    let vote = json!({"vote": "con", "confidence": 0.9, "reason": "Backups."});
    replies.push(
        scripted_reply("vote", &["every listener votes"], vote.to_string()).by_seat("risk-averse"),
    );
    let vote = json!({"vote": "pro", "confidence": 0.8, "reason": "It is simple."});
    replies.push(scripted_reply("vote", &["every listener votes"], vote.to_string()));
    let mut verdict = verdict_json("pro");
    let ids = (1..rounds).flat_map(|n| [("pro", format!("P{n}")), ("con", format!("C{n}"))]);
    let last_claim = format!("C{}", rounds - 1);
    let checks: Vec<Value> = ids
        .map(|(side, claim)| {
            // The last claim has no answer.
            let answered = claim != last_claim;
            json!({"side": side, "claim": claim, "answered": answered, "supported": answered,
                "conceded": false})
        })
        .collect();
    verdict["checks"] = checks.into();
    verdict["decisive"] = "P1".into();
    verdict["blind_spots"] = json!([
        {"side": "pro", "text": "It never spoke of backups."},
        {"side": "con", "text": "It never spoke of costs."},
    ]);
    replies.push(scripted_reply("judge", &["You give the final ruling"], verdict.to_string()));
    replies
}

/// Speech with one claim and fixed evidence for it.
fn speech(prose: &str, id: &str, answers: &[&str]) -> String {
    let evidence = [format!("documented behaviour of {id}")];
    let claim = json!({"id": id, "text": format!("{id} holds."), "evidence": evidence,
        "answers": answers});
    with_claims_block(prose, &[claim])
}

fn with_claims_block(prose: &str, claims: &[Value]) -> String {
    format!("{prose}\n\n```claims\n{}\n```\n", json!({ "claims": claims }))
}
