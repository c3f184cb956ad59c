//! Parsing of replies as real models send them: which are accepted, and which are rejected with
//! which error code.
use crate::debate::body::{AdmissionGrounds, AuditedFact, Foul, Novelty, RulingScores};
use crate::debate::reply::parse;
use crate::debate::{Body, Cue, Debate, Format, JudgeRuling, Side, formats};
use crate::test_support::debate_fixture::{debate_setup, open_debate, play_until};
use std::collections::BTreeMap;

fn debate_at(format: Format, rounds: u8, round: u8, phase: &str) -> (Debate, Cue) {
    let mut debate = open_debate(debate_setup(format, rounds));
    let cue = play_until(&mut debate, round, phase);
    (debate, cue)
}

/// Asserts that a reply parses to `expected` or is rejected with this code. The error message must
/// be one short line without control characters, because it goes into a retry prompt and onto a
/// terminal.
#[track_caller]
fn assert_parses((debate, cue): &(Debate, Cue), text: &str, expected: Result<Body, &str>) {
    match (parse(debate, *cue, text), expected) {
        (Ok(body), Ok(expected)) => assert_eq!(body, expected, "{text}"),
        (Err(error), Err(code)) => {
            let kind = format!("{:?}", debate.setup().phase(*cue).reply).to_lowercase();
            let line = error.to_string();
            assert!(line.starts_with(&format!("PARSE_ERROR:{kind}:{code}: ")), "{text}: {line}");
            assert!(line.chars().count() <= 200 && !line.contains(char::is_control), "{line}");
        }
        (parsed, expected) => panic!("{text}: got {parsed:?}, expected {expected:?}"),
    }
}

/// Given one valid JSON reply, asserts which wrappers (code fence, white space) are accepted and
/// which malformed variants are rejected.
#[track_caller]
fn assert_strict_json(turn: &(Debate, Cue), valid: &str) {
    let body = parse(&turn.0, turn.1, valid).unwrap();
    for accepted in
        [format!(" \n{valid}\n"), format!("```json\n{valid}\n```"), format!("```\n{valid}\n```")]
    {
        assert_parses(turn, &accepted, Ok(body.clone()));
    }
    for (text, code) in [
        (String::new(), "empty"),
        (" \n\t".into(), "empty"),
        ("A".into(), "not_json"),
        ("null".into(), "not_json"),
        ("\"A\"".into(), "not_json"),
        (format!("Here it is: {valid}"), "not_json"),
        (format!("Here it is:\n```json\n{valid}\n```"), "not_json"),
        (format!("```json\n{valid}\n```\nThat is all."), "not_json"),
        (format!("[{valid}]"), "not_json"),
        (valid.trim_end_matches('}').into(), "not_json"),
        (valid.replacen('"', "'", 2), "not_json"),
        (format!("{valid} That is all."), "not_alone"),
        (format!("{valid}{valid}"), "not_alone"),
        (format!("{valid}\n{valid}"), "not_alone"),
        (format!("{valid}}}"), "not_alone"),
        ("{}".into(), "wrong_shape"),
        ("{\"unknown\": \"\\u0007\"}".into(), "wrong_shape"),
        ("{".repeat(5000), "not_json"),
    ] {
        assert_parses(turn, &text, Err(code));
    }
}

fn debate_at_judge() -> (Debate, Cue) {
    debate_at(formats::duel(), 1, 0, "judge")
}

const VERDICT: &str = r#"{"winner":"A","reasoning":"because","cites":["T1"]}"#;

fn expected_verdict(edit: impl Fn(&mut JudgeRuling)) -> Body {
    let cites = vec![Cue { act: 0, round: 1, phase: 0, seat: 0 }];
    let side = Some(Side::Pro);
    let mut ruling =
        JudgeRuling { side, because: "because".into(), cites, ..JudgeRuling::default() };
    edit(&mut ruling);
    Body::Verdict(Box::new(ruling))
}

#[test]
fn verdict_must_be_one_json_object_of_its_schema() {
    assert_strict_json(&debate_at_judge(), VERDICT);
    assert_parses(&debate_at_judge(), VERDICT, Ok(expected_verdict(|_| {})));
    for (winner, side) in [("\"B\"", Some(Side::Con)), ("null", None)] {
        let text = VERDICT.replace("\"A\"", winner);
        assert_parses(&debate_at_judge(), &text, Ok(expected_verdict(|ruling| ruling.side = side)));
    }
    for wrong in ["\"not A\"", "\"a\"", "\"A or B\"", "\"C\"", "\"tie\"", "\"\""] {
        assert_parses(&debate_at_judge(), &VERDICT.replace("\"A\"", wrong), Err("wrong_shape"));
    }
    for odd in ["1", "[\"A\"]", "true", "{\"A\":null}"] {
        assert_parses(&debate_at_judge(), &VERDICT.replace("\"A\"", odd), Err("wrong_shape"));
    }
    for missing in ["\"reasoning\":\"because\",", ",\"cites\":[\"T1\"]"] {
        assert_parses(&debate_at_judge(), &VERDICT.replace(missing, ""), Err("wrong_shape"));
    }
    for (extra, code) in [
        (r#""confidence":1.01"#, "out_of_range"),
        (r#""confidence":-0.1"#, "out_of_range"),
        (r#""confidence":85"#, "out_of_range"),
        (r#""confidence":"high""#, "wrong_shape"),
        (r#""scores":{"A":101,"B":0}"#, "out_of_range"),
        (r#""scores":{"A":-1,"B":0}"#, "out_of_range"),
        (r#""scores":{"A":70}"#, "wrong_shape"),
        (r#""scores":{"A":70,"C":60}"#, "wrong_shape"),
        (r#""quality":{"disagreement":"very","evidence":"low","depth":"low"}"#, "wrong_shape"),
        (r#""quality":{"disagreement":"high"}"#, "wrong_shape"),
        (r#""disagreements":[{"point":"p","A":"a"}]"#, "wrong_shape"),
        (r#""turning_round":300"#, "wrong_shape"),
        (r#""blind_spots":[{"side":"X","text":"t"}]"#, "wrong_shape"),
        (r#""winner":"B""#, "wrong_shape"), // Duplicate key.
    ] {
        assert_parses(
            &debate_at_judge(),
            &format!("{}, {extra}}}", VERDICT.trim_end_matches('}')),
            Err(code),
        );
    }
}

#[test]
fn verdict_cites_turns_by_number() {
    let cited = |cites: &str| VERDICT.replace("[\"T1\"]", cites);
    let second = Cue { act: 0, round: 1, phase: 1, seat: 1 };
    assert_parses(
        &debate_at_judge(),
        &cited("[\"t2\"]"),
        Ok(expected_verdict(|ruling| ruling.cites = vec![second])),
    );
    assert_parses(
        &debate_at_judge(),
        &cited("[]"),
        Ok(expected_verdict(|ruling| ruling.cites.clear())),
    );
    for wrong in ["T0", "T3", "T99999999999999999999", "Round 1", "1", "", "T-1", "T1.5"] {
        assert_parses(&debate_at_judge(), &cited(&format!("[\"{wrong}\"]")), Err("unknown_turn"));
    }
    let long = format!("[\"{}\"]", "x".repeat(500));
    assert_parses(&debate_at_judge(), &cited(&long), Err("unknown_turn"));
    assert_parses(&debate_at_judge(), &cited("[1]"), Err("wrong_shape"));
}

/// A verdict that uses these two labels for the sides in every field.
fn verdict_with_labels(a: &str, b: &str) -> String {
    format!(
        r#"{{"winner":"{a}","confidence":0.755,"scores":{{"{a}":80,"{b}":60.4}},
        "reasoning":"because","cites":["T1"],
        "quality":{{"disagreement":"high","evidence":"medium","depth":"low"}},
        "agreements":["one",{{"point":"two","evidence":"e"}}],
        "disagreements":[{{"point":"p","{a}":"first","{b}":"second"}}],
        "unresolved":["u"],"recommendation":"r","turning_round":1,"decisive":"d",
        "blind_spots":[{{"side":"{b}","text":"t"}}]}}"#
    )
}

#[test]
fn mirror_labels_are_mapped_back_to_sides() {
    let (debate, cue) = debate_at_judge();
    let mirror = Cue { seat: 11, ..cue };
    for (judge, labels, winner) in [
        (cue, ("A", "B"), Side::Pro),
        (mirror, ("A", "B"), Side::Con),
        (mirror, ("B", "A"), Side::Pro),
        (cue, ("proposer", "challenger"), Side::Pro),
        (mirror, ("proposer", "challenger"), Side::Pro),
        (mirror, ("challenger", "proposer"), Side::Con),
        (mirror, ("supporting", "opposing"), Side::Pro),
        (mirror, ("pro", "con"), Side::Pro),
    ] {
        let body = parse(&debate, judge, &verdict_with_labels(labels.0, labels.1)).unwrap();
        let Body::Verdict(ruling) = body else { panic!() };
        let straight = winner == Side::Pro;
        let order = |first: &'static str, second: &'static str| {
            if straight { (first, second) } else { (second, first) }
        };
        let scores = if straight { (80, 60) } else { (60, 80) };
        assert_eq!((ruling.side, ruling.confidence), (Some(winner), 76), "{labels:?}");
        assert_eq!(
            ruling.scores,
            Some(RulingScores { pro: scores.0, con: scores.1 }),
            "{labels:?}"
        );
        let disagreement = &ruling.disagreements[0];
        assert_eq!(
            (disagreement.pro.as_str(), disagreement.con.as_str()),
            order("first", "second")
        );
        assert_eq!(ruling.blind_spots[0].side, winner.other());
        assert_eq!(ruling.agreements.len(), 2);
        assert_eq!((ruling.turning_round, ruling.margin()), (Some(1), Some(20)));
    }
}

#[test]
fn vote_must_be_one_json_object_of_its_schema() {
    let tribunal = debate_at(formats::tribunal(), 7, 0, "vote");
    let vote = |side: &str, confidence_text: &str| {
        format!(r#"{{"vote":"{side}","confidence":{confidence_text},"reason":"because"}}"#)
    };
    assert_strict_json(&tribunal, &vote("pro", "0.5"));
    let body = |side, confidence| Ok(Body::Vote { side, confidence, because: "because".into() });
    assert_parses(&tribunal, &vote("challenger", "0.7"), body(Side::Con, 70));
    assert_parses(&tribunal, &vote("A", "1"), body(Side::Pro, 100));
    assert_parses(&tribunal, &vote("not pro", "0.7"), Err("wrong_shape"));
    assert_parses(&tribunal, &vote("abstain", "0.7"), Err("wrong_shape"));
    assert_parses(&tribunal, &vote("pro", "7"), Err("out_of_range"));
    assert_parses(&tribunal, &vote("pro", "\"0.7\""), Err("wrong_shape"));
    assert_parses(&tribunal, r#"{"vote":"pro","reason":"no confidence"}"#, Err("wrong_shape"));
}

#[test]
fn score_must_be_one_json_object_of_its_schema() {
    let tribunal = debate_at(formats::tribunal(), 7, 1, "score");
    let score = |logic: &str, fouls: &str| {
        let marks = |logic: &str| {
            format!(r#"{{"logic":{logic},"rebuttal":7.5,"clarity":10,"evidence":0}}"#)
        };
        let (pro, con) = (marks(logic), marks("8"));
        let foul = !fouls.is_empty();
        format!(
            r#"{{"round":1,"scores":{{"pro":{pro},"con":{con}}},"foul":{foul},"fouls":[{fouls}],"comment":"c"}}"#
        )
    };
    assert_strict_json(&tribunal, &score("7", ""));
    let marks = |logic| {
        let marks = [("logic", logic), ("rebuttal", 75), ("clarity", 100), ("evidence", 0)];
        marks.into_iter().map(|(name, mark)| (name.into(), mark)).collect::<BTreeMap<_, _>>()
    };
    let foul = Foul { side: Side::Con, kind: "off_topic".into(), note: String::new() };
    let body =
        Body::Score { pro: marks(70), con: marks(80), fouls: vec![foul], comment: "c".into() };
    assert_parses(&tribunal, &score("7", r#"{"side":"con","kind":"off_topic"}"#), Ok(body));
    assert_parses(&tribunal, &score("10.1", ""), Err("out_of_range"));
    assert_parses(&tribunal, &score("-1", ""), Err("out_of_range"));
    assert_parses(&tribunal, &score("\"7\"", ""), Err("wrong_shape"));
    assert_parses(&tribunal, &score("null", ""), Err("wrong_shape"));
    assert_parses(&tribunal, &score("7", r#"{"side":"both","kind":"other"}"#), Err("wrong_shape"));
    assert_parses(&tribunal, &score("7", "").replace(r#""clarity":10,"#, ""), Err("wrong_shape"));
    assert_parses(&tribunal, &score("7", "").replace(r#","comment":"c""#, ""), Err("wrong_shape"));
}

#[test]
fn petition_must_be_one_json_object_of_its_schema() {
    let tribunal = debate_at(formats::tribunal(), 7, 3, "petition");
    let petition = |rest: &str| format!(r#"{{"intent":{rest}}}"#);
    assert_strict_json(&tribunal, &petition(r#""none""#));
    assert_parses(&tribunal, &petition(r#""support_pro""#), Err("wrong_shape"));
    let support_petition =
        petition(r#""support_con","claim":"me","novelty":"new","confidence":0.4"#);
    let (claim, novelty, confidence) = ("me".into(), Novelty::New, 40);
    let supports = Some(Side::Con);
    assert_parses(
        &tribunal,
        &support_petition,
        Ok(Body::Petition { supports, claim, novelty, confidence }),
    );
    assert!(parse(&tribunal.0, tribunal.1, &petition(r#""none""#)).unwrap().is_declined_petition());
    for (rest, code) in [
        (r#""do not support_pro""#, "wrong_shape"),
        ("null", "wrong_shape"),
        (r#""support_pro","claim":"me","novelty":"brand new","confidence":1"#, "wrong_shape"),
        (r#""support_pro","claim":"me","novelty":"new","confidence":2"#, "out_of_range"),
    ] {
        assert_parses(&tribunal, &petition(rest), Err(code));
    }
}

#[test]
fn admission_must_be_one_json_object_of_its_schema() {
    let tribunal = debate_at(formats::tribunal(), 7, 3, "admit");
    let admission = |admits: &str, reason_field: &str| {
        format!(
            r#"{{"admits":{admits},"new_information":true,"avoids_repetition":true,"shifts_balance":false{reason_field}}}"#
        )
    };
    assert_strict_json(&tribunal, &admission("\"Hal\"", r#","because":"new""#));
    let admits = |name: Option<&str>| {
        let grounds = AdmissionGrounds {
            new_information: true,
            avoids_repetition: true,
            shifts_balance: false,
        };
        Ok(Body::Ruling { admits: name.map(Into::into), grounds, because: "new".into() })
    };
    assert_parses(&tribunal, &admission("\"Hal\"", r#","reason":"new""#), admits(Some("Hal")));
    assert_parses(&tribunal, &admission("null", r#","because":"new""#), admits(None));
    assert_parses(&tribunal, &admission("\"\"", r#","because":"new""#), admits(None));
    assert_parses(&tribunal, &admission("[\"Hal\"]", r#","because":"new""#), Err("wrong_shape"));
    assert_parses(&tribunal, &admission("\"Hal\"", ""), Err("wrong_shape"));
    assert_parses(&tribunal, r#"{"admits":"Hal","because":"new"}"#, Err("wrong_shape"));
}

#[test]
fn audit_must_be_one_json_object_of_its_schema() {
    let research = debate_at(formats::research(), 1, 0, "audit");
    let audit = |tag: &str| format!(r#"{{"facts":[{{"claim":"fast","tag":"{tag}"}}]}}"#);
    assert_strict_json(&research, &audit("no-source"));
    let tags = ["official-docs", "community-feedback", "personal-blog", "no-source", "exaggerated"];
    for tag in tags {
        let facts =
            vec![AuditedFact { claim: "fast".into(), tag: tag.into(), ..AuditedFact::default() }];
        assert_parses(&research, &audit(tag), Ok(Body::Audit { facts }));
    }
    assert_parses(&research, r#"{"facts":[]}"#, Ok(Body::Audit { facts: vec![] }));
    assert_parses(&research, &audit("not exaggerated"), Err("wrong_shape"));
    assert_parses(&research, r#"{"facts":[{"claim":"fast"}]}"#, Err("wrong_shape"));
}

#[test]
fn prose_and_sections_are_parsed_leniently() {
    let duel = debate_at(formats::duel(), 1, 1, "propose");
    assert_parses(&duel, " Tabs. ", Ok(Body::from_prose("Tabs.")));
    assert_parses(&duel, "{\"winner\":\"A\"}", Ok(Body::from_prose("{\"winner\":\"A\"}")));
    assert_parses(&duel, " \n", Err("empty"));
    assert_parses(&duel, "```claims\n{}\n```", Err("empty"));
    let section =
        |title: &str, text: &str| crate::debate::Section { title: title.into(), text: text.into() };
    let research = debate_at(formats::research(), 1, 0, "judge");
    let sections = |sections| Ok(Body::Sections { sections });
    assert_parses(&research, "Only this.", sections(vec![section("Summary", "Only this.")]));
    let text = "\nFirst.\n## One\na\n\nb\n### Two\n#### c\n## Three";
    let parts = [("Summary", "First."), ("One", "a\n\nb\n### Two\n#### c"), ("Three", "")];
    assert_parses(
        &research,
        text,
        sections(parts.map(|(title, text)| section(title, text)).into()),
    );
    let smaller = sections(vec![section("One", "a"), section("Two", "b")]);
    assert_parses(&research, "### One\na\n### Two\nb", smaller);
    let code = sections(vec![section("One", "```\n## no heading\n```")]);
    assert_parses(&research, "## One\n```\n## no heading\n```", code);
    assert_parses(&research, "", Err("empty"));
}

#[test]
fn admission_without_a_name_field_is_refused() {
    assert_parses(
        &debate_at(formats::tribunal(), 7, 3, "admit"),
        r#"{"because":"x"}"#,
        Err("wrong_shape"),
    );
}

#[test]
fn positional_or_duplicate_marks_are_refused() {
    let marks =
        r#"{"round":1,"scores":{"pro":[7,7,7,7],"con":[7,7,7,7]},"foul":false,"comment":"c"}"#;
    assert_parses(&debate_at(formats::tribunal(), 7, 1, "score"), marks, Err("wrong_shape"));
    let twice =
        r#"{"winner":"A","scores":{"A":70,"pro":20,"B":60},"reasoning":"r","cites":["T1"]}"#;
    assert_parses(&debate_at_judge(), twice, Err("wrong_shape"));
}
