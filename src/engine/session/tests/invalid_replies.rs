//! Invalid structured replies (votes, scores, petitions, rulings, audits, verdicts): each is
//! refused with its error code and requested once more with that error. A second one fails the
//! turn, and the debate goes on without it.
use crate::debate::reply::parse;
use crate::debate::verdict::judgment;
use crate::debate::{
    Cue, Debate, Envelope, Event, FailureKind, Format, Participant, ReplyKind, Setup, Step,
    TurnFailure, formats,
};
use crate::engine::{
    BoxFuture, ProviderReply, ProviderUnavailable, Providers, ReplyStream, TurnRequest,
};
use crate::test_support::debate_fixture::{debate_setup, open_debate, play_until};
use crate::test_support::fake_providers::{ScriptedProviders, SharedEvents, open_session};

const VALID_MARKS: &str = r#"{"logic":7,"rebuttal":7,"clarity":7,"evidence":7}"#;

/// A score of round 1 as JSON, with these values for the marks of A, `foul` and `fouls`.
fn score_json(marks: &str, foul: &str, fouls: &str) -> String {
    format!(
        r#"{{"round":1,"scores":{{"A":{marks},"B":{VALID_MARKS}}},"foul":{foul},"fouls":{fouls},"comment":"c"}}"#
    )
}

fn vote_json(vote: &str, confidence: &str) -> String {
    format!(r#"{{"agent_id":"Hal","vote":{vote},"confidence":{confidence},"reason":"r"}}"#)
}

fn petition_json(rest: &str) -> String {
    format!(r#"{{"intent":"support_pro",{rest}}}"#)
}

fn admission_json(rest: &str) -> String {
    format!(r#"{{"admits":"Hal","new_information":true,"avoids_repetition":true,{rest}}}"#)
}

fn audit_json(facts: &str) -> String {
    format!(r#"{{"facts":{facts}}}"#)
}

fn verdict_json(rest: &str) -> String {
    format!(r#"{{"winner":"A","reasoning":"r","cites":["T1"]{rest}}}"#)
}

/// Invalid replies by kind, with the expected error code.
#[rustfmt::skip]
fn invalid_replies() -> Vec<(ReplyKind, String, &'static str)> {
    use ReplyKind::{Audit, Petition, Ruling, Score, Verdict, Vote};
    let s = str::to_owned;
    let valid_vote = || vote_json("\"pro\"", "0.5");
    vec![
        // A text may contain a valid word and mean the opposite.
        (Vote, s("I do not vote pro."), "not_json"),
        (Vote, s("pro"), "not_json"),
        (Vote, vote_json("\"not pro\"", "0.5"), "wrong_shape"),
        (Vote, vote_json("\"pro or con\"", "0.5"), "wrong_shape"),
        (Vote, vote_json("\"PRO\"", "0.5"), "wrong_shape"),
        (Vote, vote_json("\"abstain\"", "0.5"), "wrong_shape"),
        (Vote, vote_json("null", "0.5"), "wrong_shape"),
        (Vote, vote_json("[\"pro\"]", "0.5"), "wrong_shape"),
        (Vote, vote_json("{\"pro\":null}", "0.5"), "wrong_shape"),
        (Vote, vote_json("true", "0.5"), "wrong_shape"),
        (Vote, vote_json("\"pro\"", "\"0.5\""), "wrong_shape"),
        (Vote, vote_json("\"pro\"", "50"), "out_of_range"),
        (Vote, vote_json("\"pro\"", "-0.1"), "out_of_range"),
        (Vote, vote_json("\"pro\"", "1e999"), "not_json"),
        (Vote, vote_json("\"pro\"", "NaN"), "not_json"),
        (Vote, vote_json("\"pro\"", "Infinity"), "not_json"),
        (Vote, vote_json("\"pro\"", "null"), "wrong_shape"),
        (Vote, valid_vote().replace("Hal", "Ivy"), "wrong_shape"),
        (Vote, valid_vote().replace(r#""reason":"r""#, r#""reason":"r","reason":"q""#), "wrong_shape"),
        (Vote, valid_vote().replace(r#""reason":"r""#, r#""why":"r""#), "wrong_shape"),
        (Vote, valid_vote().replace(r#""vote":"pro","#, ""), "wrong_shape"),
        (Vote, valid_vote().replace(r#""vote":"pro""#, r#""vote":"pro","vote":"con""#), "wrong_shape"),
        (Vote, format!("{{{}}}", valid_vote()), "not_json"),
        (Vote, format!("{}}}", valid_vote()), "not_alone"),
        (Vote, format!("{}\n{}", valid_vote(), vote_json("\"con\"", "0.5")), "not_alone"),
        (Vote, format!("[{}]", valid_vote()), "not_json"),
        (Vote, format!("I vote so: {}", valid_vote()), "not_json"),
        (Vote, format!("{} That is all.", valid_vote()), "not_alone"),
        (Vote, format!("```json\n{}\n```\n\n```json\n{}\n```", valid_vote(), valid_vote()), "not_alone"),
        (Score, s("Neither side deserves a 7."), "not_json"),
        (Score, score_json(VALID_MARKS, "false", "[]").replace("\"round\":1", "\"round\":2"), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "false", "[]").replace("\"round\":1", "\"round\":\"1\""), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "false", "[]").replace("\"round\":1,", ""), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "true", "[]"), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "false", r#"[{"side":"A","kind":"other"}]"#), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "true", r#"[{"side":"A","kind":"rude"}]"#), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "true", r#"[["A","other"]]"#), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "\"no\"", "[]"), "wrong_shape"),
        (Score, score_json("[7,7,7,7]", "false", "[]"), "wrong_shape"),
        (Score, score_json("7", "false", "[]"), "wrong_shape"),
        (Score, score_json(&VALID_MARKS.replace("\"logic\":7", "\"logic\":10.1"), "false", "[]"), "out_of_range"),
        (Score, score_json(&VALID_MARKS.replace("\"logic\":7", "\"logic\":-1"), "false", "[]"), "out_of_range"),
        (Score, score_json(&VALID_MARKS.replace("\"logic\":7,", ""), "false", "[]"), "wrong_shape"),
        (Score, score_json(&VALID_MARKS.replace("logic", "style"), "false", "[]"), "wrong_shape"),
        (Score, score_json(&VALID_MARKS.replace("\"logic\":7", "\"logic\":7,\"logic\":9"), "false", "[]"), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "false", "[]").replace(r#""B""#, r#""A""#), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "false", "[]").replace(r#""B""#, r#""pro""#), "wrong_shape"),
        (Score, score_json(VALID_MARKS, "false", "[]").replace(r#""B""#, r#""C""#), "wrong_shape"),
        (Petition, s("I do not wish to speak."), "not_json"),
        (Petition, petition_json(r#""claim":"","novelty":"new","confidence":0.5"#), "wrong_shape"),
        (Petition, petition_json(r#""claim":" ","novelty":"new","confidence":0.5"#), "wrong_shape"),
        (Petition, petition_json(r#""novelty":"new","confidence":0.5"#), "wrong_shape"),
        (Petition, petition_json(r#""claim":"c","confidence":0.5"#), "wrong_shape"),
        (Petition, petition_json(r#""claim":"c","novelty":"new""#), "wrong_shape"),
        (Petition, petition_json(r#""claim":"c","novelty":"newish","confidence":0.5"#), "wrong_shape"),
        (Petition, petition_json(r#""claim":"c","novelty":"new","confidence":5"#), "out_of_range"),
        (Petition, petition_json(r#""claim":"c","novelty":"new","confidence":0.5,"urgent":true"#), "wrong_shape"),
        (Petition, petition_json(r#""claim":"c","novelty":"new","confidence":0.5"#).replace("support_pro", "oppose_pro"), "wrong_shape"),
        (Ruling, s("Nobody is admitted."), "not_json"),
        (Ruling, s(r#"{"admits":"Hal","because":"new"}"#), "wrong_shape"),
        (Ruling, admission_json(r#""shifts_balance":"yes","because":"b""#), "wrong_shape"),
        (Ruling, admission_json(r#""shifts_balance":true"#), "wrong_shape"),
        (Ruling, admission_json(r#""shifts_balance":true,"because":"b","score":9"#), "wrong_shape"),
        (Ruling, admission_json(r#""shifts_balance":true,"because":"b""#).replace("\"Hal\"", "[\"Hal\",\"Ivy\"]"), "wrong_shape"),
        (Ruling, admission_json(r#""shifts_balance":true,"because":"b""#).replace("\"admits\":\"Hal\",", ""), "wrong_shape"),
        (Audit, s("All claims are sourced."), "not_json"),
        (Audit, audit_json("{}"), "wrong_shape"),
        (Audit, audit_json(r#"["fast"]"#), "wrong_shape"),
        (Audit, audit_json(r#"[["fast","no-source"]]"#), "wrong_shape"),
        (Audit, audit_json(r#"[{"claim":"fast","tag":"not exaggerated"}]"#), "wrong_shape"),
        (Audit, audit_json(r#"[{"claim":"fast","tag":["no-source"]}]"#), "wrong_shape"),
        (Audit, audit_json(r#"[{"claim":"fast"}]"#), "wrong_shape"),
        (Verdict, s("Side A does not win."), "not_json"),
        (Verdict, verdict_json("").replace("\"A\"", "\"not A\""), "wrong_shape"),
        (Verdict, verdict_json(r#","scores":{"A":70,"A":80,"B":60}"#), "wrong_shape"),
        (Verdict, verdict_json(r#","scores":[70,60]"#), "wrong_shape"),
        (Verdict, verdict_json(r#","scores":{"A":"70","B":60}"#), "wrong_shape"),
        (Verdict, verdict_json(r#","checks":[["A","Ada1",true,true,true]]"#), "wrong_shape"),
        (Verdict, verdict_json(r#","checks":[{"side":"A","claim":"Ada1","answered":true}]"#), "wrong_shape"),
        (Verdict, verdict_json(r#","checks":[{"side":"A","claim":"Ada1","answered":1,"supported":1,"conceded":0}]"#), "wrong_shape"),
        (Verdict, verdict_json(r#","certainty":1"#), "wrong_shape"),
        (Verdict, verdict_json("").replace("T1", "T99"), "unknown_turn"),
    ]
}

/// Where a reply of this kind is requested: format, round, phase, and seat.
fn phase_for_kind(kind: ReplyKind) -> (Format, u8, &'static str, &'static str) {
    match kind {
        ReplyKind::Score => (formats::tribunal(), 1, "score", "Kim"),
        ReplyKind::Petition => (formats::tribunal(), 3, "petition", "Hal"),
        ReplyKind::Ruling => (formats::tribunal(), 3, "admit", "Kim"),
        ReplyKind::Vote => (formats::tribunal(), 0, "vote", "Hal"),
        ReplyKind::Audit => (formats::research(), 0, "audit", "Mia"),
        _ => (formats::duel(), 0, "judge", "Kim"),
    }
}

fn setup_for_kind(kind: ReplyKind) -> (Setup, u8, &'static str, &'static str) {
    let (format, round, phase, seat) = phase_for_kind(kind);
    let rounds = if format.name == "tribunal" { 7 } else { 1 };
    (debate_setup(format, rounds), round, phase, seat)
}

#[test]
fn every_invalid_reply_is_refused_with_its_code() {
    let kinds = [
        ReplyKind::Score,
        ReplyKind::Petition,
        ReplyKind::Ruling,
        ReplyKind::Vote,
        ReplyKind::Audit,
        ReplyKind::Verdict,
    ];
    let replies = invalid_replies();
    assert!(replies.len() >= 40, "{}", replies.len());
    for kind in kinds {
        let (setup, round, phase, _) = setup_for_kind(kind);
        let mut debate = open_debate(setup);
        let cue = play_until(&mut debate, round, phase);
        for (_, text, code) in replies.iter().filter(|(reply_kind, ..)| *reply_kind == kind) {
            let error = parse(&debate, cue, text).expect_err(text);
            assert_eq!((error.kind, error.code), (kind, *code), "{text}: {error}");
        }
    }
}

/// Providers that reply with `invalid_text` in one turn, `invalid_attempts` times, and otherwise
/// with valid replies.
struct FaultyProviders {
    valid_providers: ScriptedProviders,
    faulty_turn: (u8, &'static str, &'static str),
    invalid_text: String,
    invalid_attempts: u8,
}

impl Providers for FaultyProviders {
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        if (request.round, request.phase.as_str(), request.seat.as_str()) == self.faulty_turn
            && request.attempt <= self.invalid_attempts
        {
            self.valid_providers.requests.lock().unwrap().push(request.clone());
            let reply =
                ProviderReply { text: self.invalid_text.clone(), envelope: Envelope::default() };
            return Box::pin(async move { Ok(reply) });
        }
        self.valid_providers.request_reply(request, stream)
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
async fn play_with_invalid_reply(
    kind: ReplyKind,
    text: &str,
    times: u8,
) -> (Debate, Cue, Vec<TurnRequest>, Vec<Event>) {
    let (setup, round, phase, seat) = setup_for_kind(kind);
    let events = SharedEvents::default();
    let valid_providers = ScriptedProviders::new(&events, &setup);
    let providers = FaultyProviders {
        valid_providers,
        faulty_turn: (round, phase, seat),
        invalid_text: text.into(),
        invalid_attempts: times,
    };
    let (mut session, _requests, _) = open_session(&setup, &events, usize::MAX);
    assert_eq!(session.run_until_idle(&providers).await.unwrap(), Step::Done);
    let requests = providers.valid_providers.requests.into_inner().unwrap();
    let is_faulty_turn = |request: &TurnRequest| {
        (request.round, request.phase.as_str(), request.seat.as_str()) == providers.faulty_turn
    };
    let requests: Vec<TurnRequest> = requests.into_iter().filter(is_faulty_turn).collect();
    let log = events.lock().unwrap().clone();
    (session.debate().clone(), requests[0].cue, requests, log)
}

#[tokio::test(start_paused = true)]
async fn two_invalid_replies_fail_only_their_turn() {
    for (kind, text, code) in invalid_replies() {
        let (debate, cue, requests, events) = play_with_invalid_reply(kind, &text, 2).await;
        assert_eq!(requests.len(), 2, "{text}: requested twice, not three times");
        let kind_name = format!("{kind:?}").to_lowercase();
        let error = format!("PARSE_ERROR:{kind_name}:{code}");
        assert!(requests[1].prompt.contains(&error), "{text}: the second prompt has the error");
        let refused_count =
            events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
        assert_eq!(refused_count, 1, "{text}");
        let failure = debate.failure(cue).expect(&text);
        assert_eq!(failure.trouble, FailureKind::Unreadable, "{text}");
        assert_eq!(debate.failed_turns().count(), 1, "{text}: no other turn failed");
        assert_eq!(
            crate::test_support::debate_fixture::outcome_name(&debate),
            "completed",
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn failed_vote_does_not_count_toward_the_verdict() {
    for (times, votes) in [(1, 3), (2, 2)] {
        let (debate, _, requests, _) =
            play_with_invalid_reply(ReplyKind::Vote, "I do not vote pro.", times).await;
        assert_eq!(requests.len(), 2);
        let vote_count =
            debate.replies_in(..).filter(|(_, body)| body.kind() == ReplyKind::Vote).count();
        assert_eq!(vote_count, votes);
        // All listeners vote for the challenger. A missing vote counts for neither side.
        let score = judgment(&debate).unwrap().weighted_score.unwrap();
        assert_eq!(score.audience, Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn other_ruling_decides_when_one_failed() {
    let (debate, ..) = play_with_invalid_reply(ReplyKind::Verdict, "Side A does not win.", 2).await;
    let judgment = judgment(&debate).unwrap();
    assert_eq!(judgment.winner, crate::debate::Side::Pro);
    assert_eq!(judgment.confidence, Some(50), "confidence of a ruling without scores");
}
