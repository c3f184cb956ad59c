//! Engine session: crash recovery from the event log, awaited replies, deadlines, retries,
//! cancellation and concurrency limits. Runs on tokio's paused clock.
use crate::debate::{
    Amendment, Cue, Debate, Event, FailureKind, Participant, Role, Seat, Setup, Step, TurnFailure,
    formats, next,
};
use crate::engine::ports::DEFAULT_TURN_SECONDS;
use crate::engine::session::Session;
use crate::engine::{
    BoxFuture, Command, CommandRequest, Log, LogError, ProviderReply, ProviderUnavailable,
    Providers, ReplyStream, SessionError, TurnRequest, Update, UpdateBroadcaster,
};
use crate::test_support::debate_fixture::{cue, debate_setup, model_participant, trace};
use crate::test_support::fake_providers::{
    ScriptedProviders, SharedEvents, TokioClock, empty_context, open_session, render_reply,
};
use crate::test_support::simulated_players::valid_reply;
use futures_util::FutureExt;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

mod invalid_replies;

async fn send_command(
    requests: &mpsc::Sender<CommandRequest>,
    command: Command,
) -> Result<(), SessionError> {
    let (result_sender, result) = oneshot::channel();
    requests.send(CommandRequest { commands: vec![command], result_sender }).await.ok().unwrap();
    result.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn session_recovers_from_a_crash_at_any_write() {
    for format in
        formats::built_in_formats().into_iter().filter(|format| format.name != "dialectic")
    {
        let setup = debate_setup(format, 5);
        let expected_events = SharedEvents::default();
        let (mut session, _requests, _) = open_session(&setup, &expected_events, usize::MAX);
        let providers = ScriptedProviders {
            failing_seat: "Fay",
            invalid_first_seat: "Kim",
            ..ScriptedProviders::new(&expected_events, &setup)
        };
        assert_eq!(session.run_until_idle(&providers).await.unwrap(), Step::Done);
        let mut crashes = 0;
        for writes_until_crash in 0.. {
            let events = SharedEvents::default();
            let (mut first, _requests, _) = open_session(&setup, &events, writes_until_crash);
            let providers = ScriptedProviders {
                failing_seat: "Fay",
                invalid_first_seat: "Kim",
                ..ScriptedProviders::new(&events, &setup)
            };
            match first.run_until_idle(&providers).await {
                Ok(_) => break,
                Err(error) => assert!(matches!(error, SessionError::Log(LogError::WriteFailed(_)))),
            }
            crashes += 1;
            let before = events.lock().unwrap().clone();
            let (mut second, _requests, _) = open_session(&setup, &events, usize::MAX);
            let providers = ScriptedProviders {
                failing_seat: "Fay",
                invalid_first_seat: "Kim",
                ..ScriptedProviders::new(&events, &setup)
            };
            assert_eq!(second.run_until_idle(&providers).await.unwrap(), Step::Done);
            // Only timestamps and deadlines may differ after a crash.
            assert_eq!(comparable_record(second.debate()), comparable_record(session.debate()));
            let after = events.lock().unwrap().clone();
            assert_eq!(after[..before.len()], before[..], "recorded events are unchanged");
            let sent_requests = providers.requests.lock().unwrap();
            let was_played = |cue: Cue| before.iter().any(|event| is_turn_event(event, cue));
            assert!(
                sent_requests.iter().all(|request| !was_played(request.cue)),
                "no turn is played twice"
            );
        }
        assert!(crashes > 4, "{crashes} writes");
    }
}

fn is_turn_event(event: &Event, expected: Cue) -> bool {
    matches!(event, Event::Spoke { cue, .. } | Event::Failed { cue, .. } if *cue == expected)
}

/// Turns, outcome and cost as text, without timestamps and deadlines.
fn comparable_record(debate: &Debate) -> String {
    let turns: Vec<_> = debate
        .turns()
        .map(|(cue, turn)| match turn {
            Ok(reply) => (cue, format!("{:?}{:?}", reply.body, reply.findings)),
            Err(failure) => (cue, format!("{:?}", failure.trouble)),
        })
        .collect();
    format!("{turns:?}{:?}{:?}", debate.outcome(), debate.spent().cost)
}

#[tokio::test(start_paused = true)]
async fn unparsable_reply_is_retried_once_and_both_are_charged() {
    let setup = debate_setup(formats::duel(), 1);
    let events = SharedEvents::default();
    let (mut session, _requests, _) = open_session(&setup, &events, usize::MAX);
    let providers =
        ScriptedProviders { invalid_first_seat: "Kim", ..ScriptedProviders::new(&events, &setup) };
    assert_eq!(session.run_until_idle(&providers).await.unwrap(), Step::Done);
    assert_eq!(trace(session.debate()), "1.propose 1.challenge 0.judge 0.judge completed");
    assert_eq!(session.debate().spent().cost, 5, "two speeches, the judge twice and the mirror");
    let sent_requests = providers.requests.lock().unwrap();
    let retry = sent_requests.iter().find(|request| request.attempt == 2).unwrap();
    assert!(retry.prompt.contains("PARSE_ERROR:verdict:not_json"), "{}", retry.prompt);
    let events = events.lock().unwrap();
    let refused_count =
        events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
    assert_eq!(refused_count, 1);
}

#[tokio::test(start_paused = true)]
async fn awaited_seat_replies_in_turn_and_once() {
    let mut setup = debate_setup(formats::arena(), 1);
    setup.limits.shortest = 5;
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = SharedEvents::default();
    let providers = ScriptedProviders::new(&events, &setup);
    let (mut session, _requests, _) = open_session(&setup, &events, usize::MAX);
    for seat in 0..2 {
        let Step::Speak { awaited, .. } = session.run_until_idle(&providers).await.unwrap() else {
            panic!()
        };
        let due_cue = awaited[0];
        assert_eq!(due_cue.seat, seat);
        assert!(session.debate().was_asked(due_cue));
        let reply = |cue, text: &str| Command::Reply { take: 0, cue, text: text.into() };
        let out_of_turn = Cue { seat: 1 - seat, ..due_cue };
        let early_result = session.execute(reply(out_of_turn, "me first")).await;
        assert!(
            matches!(early_result, Err(SessionError::Illegal(_) | SessionError::TurnTaken(_))),
            "{early_result:?}"
        );
        assert!(matches!(
            session.execute(reply(due_cue, "hm")).await,
            Err(SessionError::ReplyRejected(_))
        ));
        let stale_reply = Command::Reply { take: 7, cue: due_cue, text: "at length".into() };
        assert!(
            matches!(session.execute(stale_reply).await, Err(SessionError::Illegal(_))),
            "the turn was asked in another take"
        );
        session.execute(reply(due_cue, "at length")).await.unwrap();
        session
            .execute(reply(due_cue, "at length"))
            .await
            .expect("repeating the same reply has no effect");
        assert!(matches!(
            session.execute(reply(due_cue, "other words")).await,
            Err(SessionError::TurnTaken(_))
        ));
        let unknown_cue = cue(9, 9, 9, 9);
        assert!(matches!(
            session.execute(reply(unknown_cue, "hello?")).await,
            Err(SessionError::Illegal(_))
        ));
    }
    assert_eq!(session.run_until_idle(&providers).await.unwrap(), Step::Done);
    let votes = "0.vote 0.vote 0.vote";
    assert_eq!(
        trace(session.debate()),
        format!("1.open 1.open 0.judge! 0.judge! {votes} completed")
    );
}

#[tokio::test(start_paused = true)]
async fn missed_deadline_fails_the_turn_even_after_restart() {
    let mut setup = debate_setup(formats::arena(), 1);
    setup.limits.await_seconds = Some(120);
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = SharedEvents::default();
    let (mut session, _requests, _) = open_session(&setup, &events, usize::MAX);
    session.run_until_idle(&ScriptedProviders::new(&events, &setup)).await.unwrap();
    let due_cue = next(session.debate()).first_cue().unwrap();
    let deadline = session.debate().deadline(due_cue).unwrap();
    drop(session);
    // A second process resumes the debate with the recorded deadline.
    let (mut session, requests, _) = open_session(&setup, &events, usize::MAX);
    let providers = ScriptedProviders::new(&events, &setup);
    session.run_until_idle(&providers).await.unwrap();
    assert_eq!(session.debate().deadline(due_cue), Some(deadline));
    let mut idle = session.subscribe_idle();
    let task = tokio::spawn(async move {
        let result = session.run(&providers).await;
        (session, result)
    });
    idle.wait_for(|step| *step == Some(Step::Done)).await.unwrap();
    drop(requests);
    let (session, result) = task.await.unwrap();
    result.unwrap();
    // The second bot times out, too. Without any speech there is nothing to judge.
    assert_eq!(trace(session.debate()), "1.open! 1.open! aborted");
}

#[tokio::test(start_paused = true)]
async fn conclude_cancels_turns_no_longer_due() {
    let setup = debate_setup(formats::duel(), 2);
    let events = SharedEvents::default();
    let providers = ScriptedProviders::new(&events, &setup);
    let (mut session, requests, broadcaster) = open_session(&setup, &events, usize::MAX);
    let mut updates = broadcaster.subscribe();
    let user = async {
        let early_result = send_command(&requests, Command::Conclude { because: None }).await;
        assert!(early_result.is_err(), "no one has spoken yet");
        loop {
            if let Update::Fact { event: Event::Spoke { .. }, .. } = &*updates.recv().await.unwrap()
            {
                break;
            }
        }
        send_command(&requests, Command::Interject { text: "Be brief.".into() }).await.unwrap();
        send_command(&requests, Command::Conclude { because: None }).await.unwrap();
    };
    let (step, ()) = tokio::join!(session.run_until_idle(&providers), user);
    assert_eq!(step.unwrap(), Step::Done);
    assert_eq!(trace(session.debate()), "1.propose 0.judge 0.judge ended");
}

/// Providers that never reply. Records the pending requests.
struct SilentProviders(Arc<Mutex<Vec<String>>>);

struct PendingCall(Arc<Mutex<Vec<String>>>, String);

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.0.lock().unwrap().retain(|voice| *voice != self.1);
    }
}

impl Providers for SilentProviders {
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        _: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let participant = request.participant.to_string();
            self.0.lock().unwrap().push(participant.clone());
            let _waiting = PendingCall(self.0.clone(), participant);
            std::future::pending().await
        })
    }
    fn check_available(&self, _: &Participant) -> Result<(), ProviderUnavailable> {
        Ok(())
    }
    fn side_conflict(&self, _: &Participant, _: &Participant) -> Option<String> {
        None
    }
}

#[tokio::test(start_paused = true)]
async fn transferred_seat_is_asked_again_and_silent_seat_times_out() {
    let setup = debate_setup(formats::duel(), 1);
    let events = SharedEvents::default();
    let pending_calls = Arc::new(Mutex::new(vec![]));
    let providers = SilentProviders(pending_calls.clone());
    let (mut session, requests, broadcaster) = open_session(&setup, &events, usize::MAX);
    let mut updates = broadcaster.subscribe();
    let user = async {
        while !matches!(&*updates.recv().await.unwrap(), Update::Speaking { .. }) {}
        tokio::task::yield_now().await;
        let pending_before = pending_calls.lock().unwrap().clone();
        assert_eq!(pending_before.len(), 1);
        let change = Amendment::Seat { seat: 0, voice: model_participant("quick") };
        send_command(&requests, Command::Amend { change, because: "too slow".into() })
            .await
            .unwrap();
        while !matches!(&*updates.recv().await.unwrap(), Update::Speaking { .. }) {}
        tokio::task::yield_now().await;
        assert_eq!(
            *pending_calls.lock().unwrap(),
            ["quick"],
            "the call to the replaced participant was cancelled"
        );
    };
    let (step, ()) = tokio::join!(session.run_until_idle(&providers), user);
    assert_eq!(step.unwrap(), Step::Done);
    let (_, failure) = session.debate().failed_turns().next().unwrap();
    assert_eq!((failure.trouble, failure.envelope.tool.as_str()), (FailureKind::TimedOut, "quick"));
    assert!(pending_calls.lock().unwrap().is_empty(), "no call is left pending");
}

/// Runs a session whose seats never reply, and returns the largest number of pending requests.
async fn max_pending_requests(mut setup: Setup) -> usize {
    let events = SharedEvents::default();
    let pending_calls = Arc::new(Mutex::new(vec![]));
    for (index, seat) in setup.seats.iter_mut().enumerate() {
        seat.voice = model_participant(&format!("tool{index}"));
    }
    let providers = SilentProviders(pending_calls.clone());
    let (mut session, _requests, broadcaster) = open_session(&setup, &events, usize::MAX);
    let mut updates = broadcaster.subscribe();
    let max_pending = async {
        let mut max_pending = 0;
        while let Ok(update) = updates.recv().await {
            tokio::task::yield_now().await;
            max_pending = max_pending.max(pending_calls.lock().unwrap().len());
            if matches!(&*update, Update::Fact { event: Event::Closed { .. }, .. }) {
                break;
            }
        }
        max_pending
    };
    let (step, max_pending) = tokio::join!(session.run_until_idle(&providers), max_pending);
    assert_eq!(step.unwrap(), Step::Done);
    max_pending
}

#[tokio::test(start_paused = true)]
async fn concurrent_turns_respect_the_limit() {
    let mut setup = debate_setup(formats::research(), 1);
    setup.limits.at_once = 2;
    assert_eq!(max_pending_requests(setup).await, 2);
}

/// Nine turns are due at once.
#[tokio::test(start_paused = true)]
async fn eight_turns_are_requested_at_once_by_default() {
    let mut setup = debate_setup(formats::research(), 1);
    let advocate = setup.seats.iter().find(|seat| seat.role == Role::Advocate).unwrap().clone();
    for index in 0..6 {
        setup.seats.push(Seat { name: format!("Advocate {index}"), ..advocate.clone() });
    }
    assert_eq!(max_pending_requests(setup).await, 8);
}

/// The default for participants without a configured timeout.
#[tokio::test(start_paused = true)]
async fn silent_seat_times_out_after_240_seconds() {
    let setup = debate_setup(formats::duel(), 1);
    let providers = SilentProviders(Arc::default());
    let (mut session, _requests, _) = open_session(&setup, &SharedEvents::default(), usize::MAX);
    let started = tokio::time::Instant::now();
    session.run_until_idle(&providers).await.unwrap();
    assert_eq!((started.elapsed().as_secs(), DEFAULT_TURN_SECONDS), (240, 240));
    assert_eq!(trace(session.debate()), "1.propose! aborted");
}

#[tokio::test(start_paused = true)]
async fn oversized_prompt_is_not_sent() {
    let mut setup = debate_setup(formats::duel(), 1);
    setup.limits.prompt = 10;
    let events = SharedEvents::default();
    let providers = ScriptedProviders::new(&events, &setup);
    let (mut session, _requests, _) = open_session(&setup, &events, usize::MAX);
    session.run_until_idle(&providers).await.unwrap();
    assert!(providers.requests.lock().unwrap().is_empty());
    assert_eq!(trace(session.debate()), "1.propose! aborted");
}

#[test]
fn written_replies_parse_to_the_same_body() {
    for format in formats::built_in_formats() {
        let mut debate = Debate::open(debate_setup(format, 10)).unwrap();
        crate::test_support::debate_fixture::play_debate(&mut debate, &[], |debate| {
            if let Some(cue) = next(debate).first_cue() {
                let body = valid_reply(debate, cue);
                let text = render_reply(debate, cue, &body);
                let parsed = crate::debate::reply::parse(debate, cue, &text).unwrap();
                assert_eq!(parsed.kind(), body.kind());
                if let crate::debate::Body::Speech { .. } = body {
                    assert_eq!(parsed, body);
                }
                return cue.round > 10;
            }
            false
        });
    }
}

/// A log whose appends never end.
struct HangingLog;

impl Log for HangingLog {
    fn append<'a>(&'a mut self, _events: &'a [Event]) -> BoxFuture<'a, Result<u64, LogError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn session_does_not_write_after_an_interrupted_append() {
    let debate = Debate::open(debate_setup(formats::duel(), 1)).unwrap();
    let (_sender, requests) = mpsc::channel(8);
    let (updates, clock) = (UpdateBroadcaster::default(), TokioClock::new());
    let log = Box::new(HangingLog);
    let mut session = Session::new(debate, log, requests, updates, clock, &empty_context());
    let remark = || Command::Interject { text: "Hm.".into() };
    assert!(session.execute(remark()).now_or_never().is_none());
    let error = session.execute(remark()).now_or_never().unwrap().unwrap_err();
    assert!(error.to_string().contains("an earlier write was interrupted"), "{error}");
}
