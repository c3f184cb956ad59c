//! Invalid structured replies (votes, scores, petitions, rulings, audits, verdicts): each is
//! refused with its error code and requested once more with that error. A second one fails the
//! turn, and the debate goes on without it.
use crate::engine::session;
use crate::scene::{open, setup, until};
use crate::voices::{Scripted, Shared};
use debate_mcp::debate::reply::parse;
use debate_mcp::debate::verdict::judgment;
use debate_mcp::debate::{
    Cue, Debate, Envelope, Event, FailureKind, Format, Participant, ReplyKind, Setup, Step,
    TurnFailure, formats,
};
use debate_mcp::engine::{
    BoxFuture, ProviderReply, ProviderUnavailable, Providers, ReplyStream, TurnRequest,
};

const MARKS: &str = r#"{"logic":7,"rebuttal":7,"clarity":7,"evidence":7}"#;

/// A score of round 1 as JSON, with these values for the marks of A, `foul` and `fouls`.
fn score(marks: &str, foul: &str, fouls: &str) -> String {
    format!(
        r#"{{"round":1,"scores":{{"A":{marks},"B":{MARKS}}},"foul":{foul},"fouls":{fouls},"comment":"c"}}"#
    )
}

fn vote(vote: &str, confidence: &str) -> String {
    format!(r#"{{"agent_id":"Hal","vote":{vote},"confidence":{confidence},"reason":"r"}}"#)
}

fn petition(rest: &str) -> String {
    format!(r#"{{"intent":"support_pro",{rest}}}"#)
}

fn admit(rest: &str) -> String {
    format!(r#"{{"admits":"Hal","new_information":true,"avoids_repetition":true,{rest}}}"#)
}

fn audit(facts: &str) -> String {
    format!(r#"{{"facts":{facts}}}"#)
}

fn verdict(rest: &str) -> String {
    format!(r#"{{"winner":"A","reasoning":"r","cites":["T1"]{rest}}}"#)
}

/// Invalid replies by kind, with the expected error code.
#[rustfmt::skip]
fn nasty() -> Vec<(ReplyKind, String, &'static str)> {
    use ReplyKind::{Audit, Petition, Ruling, Score, Verdict, Vote};
    let s = str::to_owned;
    let whole = || vote("\"pro\"", "0.5");
    vec![
        // A text may contain a valid word and mean the opposite.
        (Vote, s("I do not vote pro."), "not_json"),
        (Vote, s("pro"), "not_json"),
        (Vote, vote("\"not pro\"", "0.5"), "wrong_shape"),
        (Vote, vote("\"pro or con\"", "0.5"), "wrong_shape"),
        (Vote, vote("\"PRO\"", "0.5"), "wrong_shape"),
        (Vote, vote("\"abstain\"", "0.5"), "wrong_shape"),
        (Vote, vote("null", "0.5"), "wrong_shape"),
        (Vote, vote("[\"pro\"]", "0.5"), "wrong_shape"),
        (Vote, vote("{\"pro\":null}", "0.5"), "wrong_shape"),
        (Vote, vote("true", "0.5"), "wrong_shape"),
        (Vote, vote("\"pro\"", "\"0.5\""), "wrong_shape"),
        (Vote, vote("\"pro\"", "50"), "out_of_range"),
        (Vote, vote("\"pro\"", "-0.1"), "out_of_range"),
        (Vote, vote("\"pro\"", "1e999"), "not_json"),
        (Vote, vote("\"pro\"", "NaN"), "not_json"),
        (Vote, vote("\"pro\"", "Infinity"), "not_json"),
        (Vote, vote("\"pro\"", "null"), "wrong_shape"),
        (Vote, whole().replace("Hal", "Ivy"), "wrong_shape"),
        (Vote, whole().replace(r#""reason":"r""#, r#""reason":"r","reason":"q""#), "wrong_shape"),
        (Vote, whole().replace(r#""reason":"r""#, r#""why":"r""#), "wrong_shape"),
        (Vote, whole().replace(r#""vote":"pro","#, ""), "wrong_shape"),
        (Vote, whole().replace(r#""vote":"pro""#, r#""vote":"pro","vote":"con""#), "wrong_shape"),
        (Vote, format!("{{{}}}", whole()), "not_json"),
        (Vote, format!("{}}}", whole()), "not_alone"),
        (Vote, format!("{}\n{}", whole(), vote("\"con\"", "0.5")), "not_alone"),
        (Vote, format!("[{}]", whole()), "not_json"),
        (Vote, format!("I vote so: {}", whole()), "not_json"),
        (Vote, format!("{} That is all.", whole()), "not_alone"),
        (Vote, format!("```json\n{}\n```\n\n```json\n{}\n```", whole(), whole()), "not_alone"),
        (Score, s("Neither side deserves a 7."), "not_json"),
        (Score, score(MARKS, "false", "[]").replace("\"round\":1", "\"round\":2"), "wrong_shape"),
        (Score, score(MARKS, "false", "[]").replace("\"round\":1", "\"round\":\"1\""), "wrong_shape"),
        (Score, score(MARKS, "false", "[]").replace("\"round\":1,", ""), "wrong_shape"),
        (Score, score(MARKS, "true", "[]"), "wrong_shape"),
        (Score, score(MARKS, "false", r#"[{"side":"A","kind":"other"}]"#), "wrong_shape"),
        (Score, score(MARKS, "true", r#"[{"side":"A","kind":"rude"}]"#), "wrong_shape"),
        (Score, score(MARKS, "true", r#"[["A","other"]]"#), "wrong_shape"),
        (Score, score(MARKS, "\"no\"", "[]"), "wrong_shape"),
        (Score, score("[7,7,7,7]", "false", "[]"), "wrong_shape"),
        (Score, score("7", "false", "[]"), "wrong_shape"),
        (Score, score(&MARKS.replace("\"logic\":7", "\"logic\":10.1"), "false", "[]"), "out_of_range"),
        (Score, score(&MARKS.replace("\"logic\":7", "\"logic\":-1"), "false", "[]"), "out_of_range"),
        (Score, score(&MARKS.replace("\"logic\":7,", ""), "false", "[]"), "wrong_shape"),
        (Score, score(&MARKS.replace("logic", "style"), "false", "[]"), "wrong_shape"),
        (Score, score(&MARKS.replace("\"logic\":7", "\"logic\":7,\"logic\":9"), "false", "[]"), "wrong_shape"),
        (Score, score(MARKS, "false", "[]").replace(r#""B""#, r#""A""#), "wrong_shape"),
        (Score, score(MARKS, "false", "[]").replace(r#""B""#, r#""pro""#), "wrong_shape"),
        (Score, score(MARKS, "false", "[]").replace(r#""B""#, r#""C""#), "wrong_shape"),
        (Petition, s("I do not wish to speak."), "not_json"),
        (Petition, petition(r#""claim":"","novelty":"new","confidence":0.5"#), "wrong_shape"),
        (Petition, petition(r#""claim":" ","novelty":"new","confidence":0.5"#), "wrong_shape"),
        (Petition, petition(r#""novelty":"new","confidence":0.5"#), "wrong_shape"),
        (Petition, petition(r#""claim":"c","confidence":0.5"#), "wrong_shape"),
        (Petition, petition(r#""claim":"c","novelty":"new""#), "wrong_shape"),
        (Petition, petition(r#""claim":"c","novelty":"newish","confidence":0.5"#), "wrong_shape"),
        (Petition, petition(r#""claim":"c","novelty":"new","confidence":5"#), "out_of_range"),
        (Petition, petition(r#""claim":"c","novelty":"new","confidence":0.5,"urgent":true"#), "wrong_shape"),
        (Petition, petition(r#""claim":"c","novelty":"new","confidence":0.5"#).replace("support_pro", "oppose_pro"), "wrong_shape"),
        (Ruling, s("Nobody is admitted."), "not_json"),
        (Ruling, s(r#"{"admits":"Hal","because":"new"}"#), "wrong_shape"),
        (Ruling, admit(r#""shifts_balance":"yes","because":"b""#), "wrong_shape"),
        (Ruling, admit(r#""shifts_balance":true"#), "wrong_shape"),
        (Ruling, admit(r#""shifts_balance":true,"because":"b","score":9"#), "wrong_shape"),
        (Ruling, admit(r#""shifts_balance":true,"because":"b""#).replace("\"Hal\"", "[\"Hal\",\"Ivy\"]"), "wrong_shape"),
        (Ruling, admit(r#""shifts_balance":true,"because":"b""#).replace("\"admits\":\"Hal\",", ""), "wrong_shape"),
        (Audit, s("All claims are sourced."), "not_json"),
        (Audit, audit("{}"), "wrong_shape"),
        (Audit, audit(r#"["fast"]"#), "wrong_shape"),
        (Audit, audit(r#"[["fast","no-source"]]"#), "wrong_shape"),
        (Audit, audit(r#"[{"claim":"fast","tag":"not exaggerated"}]"#), "wrong_shape"),
        (Audit, audit(r#"[{"claim":"fast","tag":["no-source"]}]"#), "wrong_shape"),
        (Audit, audit(r#"[{"claim":"fast"}]"#), "wrong_shape"),
        (Verdict, s("Side A does not win."), "not_json"),
        (Verdict, verdict("").replace("\"A\"", "\"not A\""), "wrong_shape"),
        (Verdict, verdict(r#","scores":{"A":70,"A":80,"B":60}"#), "wrong_shape"),
        (Verdict, verdict(r#","scores":[70,60]"#), "wrong_shape"),
        (Verdict, verdict(r#","scores":{"A":"70","B":60}"#), "wrong_shape"),
        (Verdict, verdict(r#","checks":[["A","Ada1",true,true,true]]"#), "wrong_shape"),
        (Verdict, verdict(r#","checks":[{"side":"A","claim":"Ada1","answered":true}]"#), "wrong_shape"),
        (Verdict, verdict(r#","checks":[{"side":"A","claim":"Ada1","answered":1,"supported":1,"conceded":0}]"#), "wrong_shape"),
        (Verdict, verdict(r#","certainty":1"#), "wrong_shape"),
        (Verdict, verdict("").replace("T1", "T99"), "unknown_turn"),
    ]
}

/// Where a reply of this kind is requested: format, round, phase, and seat.
fn place(kind: ReplyKind) -> (Format, u8, &'static str, &'static str) {
    match kind {
        ReplyKind::Score => (formats::tribunal(), 1, "score", "Kim"),
        ReplyKind::Petition => (formats::tribunal(), 3, "petition", "Hal"),
        ReplyKind::Ruling => (formats::tribunal(), 3, "admit", "Kim"),
        ReplyKind::Vote => (formats::tribunal(), 0, "vote", "Hal"),
        ReplyKind::Audit => (formats::research(), 0, "audit", "Mia"),
        _ => (formats::duel(), 0, "judge", "Kim"),
    }
}

fn table(kind: ReplyKind) -> (Setup, u8, &'static str, &'static str) {
    let (format, round, phase, seat) = place(kind);
    let rounds = if format.name == "tribunal" { 7 } else { 1 };
    (setup(format, rounds), round, phase, seat)
}

#[test]
fn every_nasty_paper_is_refused_for_its_reason() {
    let kinds = [
        ReplyKind::Score,
        ReplyKind::Petition,
        ReplyKind::Ruling,
        ReplyKind::Vote,
        ReplyKind::Audit,
        ReplyKind::Verdict,
    ];
    let all = nasty();
    assert!(all.len() >= 40, "{}", all.len());
    for kind in kinds {
        let (setup, round, phase, _) = table(kind);
        let mut debate = open(setup);
        let cue = until(&mut debate, round, phase);
        for (_, text, code) in all.iter().filter(|(of, ..)| *of == kind) {
            let refused = parse(&debate, cue, text).expect_err(text);
            assert_eq!((refused.kind, refused.code), (kind, *code), "{text}: {refused}");
        }
    }
}

/// Providers that reply with `invalid_text` in one turn, `invalid_attempts` times, and otherwise
/// with valid replies.
struct Spoilt {
    good: Scripted,
    place: (u8, &'static str, &'static str),
    says: String,
    times: u8,
}

impl Providers for Spoilt {
    fn request_reply<'a>(
        &'a self,
        ask: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        if (ask.round, ask.phase.as_str(), ask.seat.as_str()) == self.place
            && ask.attempt <= self.times
        {
            self.good.asked.lock().unwrap().push(ask.clone());
            let said = ProviderReply { text: self.says.clone(), envelope: Envelope::default() };
            return Box::pin(async move { Ok(said) });
        }
        self.good.request_reply(ask, stream)
    }

    fn check_available(&self, _: &Participant) -> Result<(), ProviderUnavailable> {
        Ok(())
    }

    fn side_conflict(&self, _: &Participant, _: &Participant) -> Option<String> {
        None
    }
}

/// Plays a debate in which one turn gets this reply so many times. Returns the debate, the cue, its
/// requests, and the log.
async fn handed_in(
    kind: ReplyKind,
    text: &str,
    times: u8,
) -> (Debate, Cue, Vec<TurnRequest>, Vec<Event>) {
    let (setup, round, phase, seat) = table(kind);
    let events = Shared::default();
    let good = Scripted::new(&events, &setup);
    let voices = Spoilt { good, place: (round, phase, seat), says: text.into(), times };
    let (mut run, _requests, _) = session(&setup, &events, usize::MAX);
    assert_eq!(run.run_until_idle(&voices).await.unwrap(), Step::Done);
    let asked = voices.good.asked.into_inner().unwrap();
    let here =
        |ask: &TurnRequest| (ask.round, ask.phase.as_str(), ask.seat.as_str()) == voices.place;
    let asked: Vec<TurnRequest> = asked.into_iter().filter(here).collect();
    let kept = events.lock().unwrap().clone();
    (run.debate().clone(), asked[0].cue, asked, kept)
}

#[tokio::test(start_paused = true)]
async fn handed_in_twice_it_is_a_failed_turn_and_the_debate_goes_on() {
    for (kind, text, code) in nasty() {
        let (debate, cue, asked, events) = handed_in(kind, &text, 2).await;
        assert_eq!(asked.len(), 2, "{text}: asked once more and not a third time");
        let word = format!("{kind:?}").to_lowercase();
        let error = format!("PARSE_ERROR:{word}:{code}");
        assert!(asked[1].prompt.contains(&error), "{text}: it is told why");
        let refused = events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
        assert_eq!(refused, 1, "{text}");
        let failure = debate.failure(cue).expect(&text);
        assert_eq!(failure.trouble, FailureKind::Unreadable, "{text}");
        assert_eq!(debate.failed_turns().count(), 1, "{text}: nothing else is lost");
        assert_eq!(crate::scene::word(&debate), "completed", "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_vote_that_failed_does_not_count_and_the_verdict_still_comes() {
    for (times, votes) in [(1, 3), (2, 2)] {
        let (debate, _, asked, _) = handed_in(ReplyKind::Vote, "I do not vote pro.", times).await;
        assert_eq!(asked.len(), 2);
        let cast = debate.replies_in(..).filter(|(_, body)| body.kind() == ReplyKind::Vote).count();
        assert_eq!(cast, votes);
        // All listeners vote for the challenger. A missing vote counts for neither side.
        let weighed = judgment(&debate).unwrap().weighted_score.unwrap();
        assert_eq!(weighed.audience, Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_ruling_that_failed_leaves_the_other_to_decide() {
    let (debate, ..) = handed_in(ReplyKind::Verdict, "Side A does not win.", 2).await;
    let judgment = judgment(&debate).unwrap();
    assert_eq!(judgment.winner, debate_mcp::debate::Side::Pro);
    assert_eq!(judgment.confidence, Some(50), "a ruling without scores is worth no more");
}
