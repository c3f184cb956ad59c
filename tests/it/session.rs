//! Engine session: crash recovery from the event log, awaited replies, deadlines, retries,
//! cancellation and concurrency limits. Runs on tokio's paused clock.
use crate::debate_fixture::{cue, debate_setup, model_participant, trace};
use crate::fake_providers::{
    FailingLog, ScriptedProviders, SharedEvents, TokioClock, empty_context, render_reply,
};
use crate::simulated_players::valid_reply;
use debate_mcp::debate::{
    Amendment, Cue, Debate, Event, FailureKind, Participant, Setup, Step, TurnFailure, formats,
    next,
};
use debate_mcp::engine::session::Session;
use debate_mcp::engine::{
    BoxFuture, Command, CommandRequest, LogError, ProviderReply, ProviderUnavailable, Providers,
    ReplyStream, SessionError, TurnRequest, Update, UpdateBroadcaster,
};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// A session over an in-memory event log that fails after `writes` appends, with its request
/// channel and update broadcaster.
pub(crate) fn open_session(
    setup: &Setup,
    events: &SharedEvents,
    writes: usize,
) -> (Session, mpsc::Sender<CommandRequest>, UpdateBroadcaster) {
    let kept = events.lock().unwrap().clone();
    let debate = Debate::replay(setup.clone(), kept).unwrap();
    let (sender, requests) = mpsc::channel(8);
    let live = UpdateBroadcaster::default();
    let disk = Box::new(FailingLog { events: events.clone(), writes_left: writes });
    (
        Session::new(debate, disk, requests, live.clone(), TokioClock::new(), &empty_context()),
        sender,
        live,
    )
}

async fn send_command(
    requests: &mpsc::Sender<CommandRequest>,
    command: Command,
) -> Result<(), SessionError> {
    let (answer, answered) = oneshot::channel();
    requests
        .send(CommandRequest { commands: vec![command], result_sender: answer })
        .await
        .ok()
        .unwrap();
    answered.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn session_recovers_from_a_crash_at_any_write() {
    for format in
        formats::built_in_formats().into_iter().filter(|format| format.name != "dialectic")
    {
        let setup = debate_setup(format, 5);
        let whole = SharedEvents::default();
        let (mut run, _requests, _) = open_session(&setup, &whole, usize::MAX);
        let voices = ScriptedProviders {
            failing_seat: "Fay",
            invalid_first_seat: "Kim",
            ..ScriptedProviders::new(&whole, &setup)
        };
        assert_eq!(run.run_until_idle(&voices).await.unwrap(), Step::Done);
        let mut crashes = 0;
        for crash in 0.. {
            let kept = SharedEvents::default();
            let (mut first, _requests, _) = open_session(&setup, &kept, crash);
            let voices = ScriptedProviders {
                failing_seat: "Fay",
                invalid_first_seat: "Kim",
                ..ScriptedProviders::new(&kept, &setup)
            };
            match first.run_until_idle(&voices).await {
                Ok(_) => break,
                Err(died) => assert!(matches!(died, SessionError::Log(LogError::WriteFailed(_)))),
            }
            crashes += 1;
            let before = kept.lock().unwrap().clone();
            let (mut second, _requests, _) = open_session(&setup, &kept, usize::MAX);
            let voices = ScriptedProviders {
                failing_seat: "Fay",
                invalid_first_seat: "Kim",
                ..ScriptedProviders::new(&kept, &setup)
            };
            assert_eq!(second.run_until_idle(&voices).await.unwrap(), Step::Done);
            // Only timestamps and deadlines may differ after a crash.
            assert_eq!(comparable_record(second.debate()), comparable_record(run.debate()));
            let after = kept.lock().unwrap().clone();
            assert_eq!(after[..before.len()], before[..], "what was recorded stands");
            let asked = voices.requests.lock().unwrap();
            let taken = |cue: Cue| before.iter().any(|event| is_turn_event(event, cue));
            assert!(asked.iter().all(|ask| !taken(ask.cue)), "nothing is taken twice");
        }
        assert!(crashes > 4, "{crashes} writes");
    }
}

fn is_turn_event(event: &Event, wanted: Cue) -> bool {
    matches!(event, Event::Spoke { cue, .. } | Event::Failed { cue, .. } if *cue == wanted)
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
    let (mut run, _requests, _) = open_session(&setup, &events, usize::MAX);
    let voices =
        ScriptedProviders { invalid_first_seat: "Kim", ..ScriptedProviders::new(&events, &setup) };
    assert_eq!(run.run_until_idle(&voices).await.unwrap(), Step::Done);
    assert_eq!(trace(run.debate()), "1.propose 1.challenge 0.judge 0.judge completed");
    assert_eq!(run.debate().spent().cost, 5, "two speeches, the judge twice and the mirror");
    let asked = voices.requests.lock().unwrap();
    let again = asked.iter().find(|ask| ask.attempt == 2).unwrap();
    assert!(again.prompt.contains("PARSE_ERROR:verdict:not_json"), "{}", again.prompt);
    let events = events.lock().unwrap();
    let refused = events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
    assert_eq!(refused, 1);
}

#[tokio::test(start_paused = true)]
async fn awaited_seat_replies_in_turn_and_once() {
    let mut setup = debate_setup(formats::arena(), 1);
    setup.limits.shortest = 5;
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = SharedEvents::default();
    let voices = ScriptedProviders::new(&events, &setup);
    let (mut run, _requests, _) = open_session(&setup, &events, usize::MAX);
    for seat in 0..2 {
        let Step::Speak { awaited, .. } = run.run_until_idle(&voices).await.unwrap() else {
            panic!()
        };
        let due = awaited[0];
        assert_eq!(due.seat, seat);
        assert!(run.debate().was_asked(due));
        let reply = |cue, text: &str| Command::Reply { take: 0, cue, text: text.into() };
        let out_of_turn = Cue { seat: 1 - seat, ..due };
        let early = run.execute(reply(out_of_turn, "me first"));
        assert!(
            matches!(early, Err(SessionError::Illegal(_) | SessionError::TurnTaken(_))),
            "{early:?}"
        );
        assert!(matches!(run.execute(reply(due, "hm")), Err(SessionError::ReplyRejected(_))));
        let stale = Command::Reply { take: 7, cue: due, text: "at length".into() };
        assert!(
            matches!(run.execute(stale), Err(SessionError::Illegal(_))),
            "asked in another take"
        );
        run.execute(reply(due, "at length")).unwrap();
        run.execute(reply(due, "at length")).expect("the same words again are no second reply");
        assert!(matches!(run.execute(reply(due, "other words")), Err(SessionError::TurnTaken(_))));
        let nowhere = cue(9, 9, 9, 9);
        assert!(matches!(run.execute(reply(nowhere, "hello?")), Err(SessionError::Illegal(_))));
    }
    assert_eq!(run.run_until_idle(&voices).await.unwrap(), Step::Done);
    let votes = "0.vote 0.vote 0.vote";
    assert_eq!(trace(run.debate()), format!("1.open 1.open 0.judge! 0.judge! {votes} completed"));
}

#[tokio::test(start_paused = true)]
async fn missed_deadline_fails_the_turn_even_after_restart() {
    let mut setup = debate_setup(formats::arena(), 1);
    setup.limits.await_seconds = Some(120);
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = SharedEvents::default();
    let (mut run, _requests, _) = open_session(&setup, &events, usize::MAX);
    run.run_until_idle(&ScriptedProviders::new(&events, &setup)).await.unwrap();
    let due = next(run.debate()).first_cue().unwrap();
    let deadline = run.debate().deadline(due).unwrap();
    drop(run);
    // A second process resumes the debate with the recorded deadline.
    let (mut run, requests, _) = open_session(&setup, &events, usize::MAX);
    let voices = ScriptedProviders::new(&events, &setup);
    run.run_until_idle(&voices).await.unwrap();
    assert_eq!(run.debate().deadline(due), Some(deadline));
    let mut idle = run.subscribe_idle();
    let playing = tokio::spawn(async move {
        let done = run.run(&voices).await;
        (run, done)
    });
    idle.wait_for(|step| *step == Some(Step::Done)).await.unwrap();
    drop(requests);
    let (run, done) = playing.await.unwrap();
    done.unwrap();
    // The second bot times out, too. Without any speech there is nothing to judge.
    assert_eq!(trace(run.debate()), "1.open! 1.open! aborted");
}

#[tokio::test(start_paused = true)]
async fn conclude_cancels_turns_no_longer_due() {
    let setup = debate_setup(formats::duel(), 2);
    let events = SharedEvents::default();
    let voices = ScriptedProviders::new(&events, &setup);
    let (mut run, requests, live) = open_session(&setup, &events, usize::MAX);
    let mut watch = live.subscribe();
    let user = async {
        let early = send_command(&requests, Command::Conclude { because: None }).await;
        assert!(early.is_err(), "nothing has been said");
        loop {
            if let Update::Fact { event: Event::Spoke { .. }, .. } = &*watch.recv().await.unwrap() {
                break;
            }
        }
        send_command(&requests, Command::Interject { text: "Be brief.".into() }).await.unwrap();
        send_command(&requests, Command::Conclude { because: None }).await.unwrap();
    };
    let (step, ()) = tokio::join!(run.run_until_idle(&voices), user);
    assert_eq!(step.unwrap(), Step::Done);
    assert_eq!(trace(run.debate()), "1.propose 0.judge 0.judge ended");
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
        ask: &'a TurnRequest,
        _: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let voice = ask.participant.to_string();
            self.0.lock().unwrap().push(voice.clone());
            let _waiting = PendingCall(self.0.clone(), voice);
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
    let waiting = Arc::new(Mutex::new(vec![]));
    let voices = SilentProviders(waiting.clone());
    let (mut run, requests, live) = open_session(&setup, &events, usize::MAX);
    let mut watch = live.subscribe();
    let user = async {
        while !matches!(&*watch.recv().await.unwrap(), Update::Speaking { .. }) {}
        tokio::task::yield_now().await;
        let before = waiting.lock().unwrap().clone();
        assert_eq!(before.len(), 1);
        let change = Amendment::Seat { seat: 0, voice: model_participant("quick") };
        send_command(&requests, Command::Amend { change, because: "too slow".into() })
            .await
            .unwrap();
        while !matches!(&*watch.recv().await.unwrap(), Update::Speaking { .. }) {}
        tokio::task::yield_now().await;
        assert_eq!(*waiting.lock().unwrap(), ["quick"], "the other was stopped");
    };
    let (step, ()) = tokio::join!(run.run_until_idle(&voices), user);
    assert_eq!(step.unwrap(), Step::Done);
    let (_, lost) = run.debate().failed_turns().next().unwrap();
    assert_eq!((lost.trouble, lost.envelope.tool.as_str()), (FailureKind::TimedOut, "quick"));
    assert!(waiting.lock().unwrap().is_empty(), "nobody is left waiting");
}

#[tokio::test(start_paused = true)]
async fn concurrent_turns_respect_the_limit() {
    let mut setup = debate_setup(formats::research(), 1);
    setup.limits.at_once = 2;
    let events = SharedEvents::default();
    let waiting = Arc::new(Mutex::new(vec![]));
    for (nth, seat) in setup.seats.iter_mut().enumerate() {
        seat.voice = model_participant(&format!("tool{nth}"));
    }
    let voices = SilentProviders(waiting.clone());
    let (mut run, _requests, live) = open_session(&setup, &events, usize::MAX);
    let mut watch = live.subscribe();
    let most = async {
        let mut most = 0;
        while let Ok(update) = watch.recv().await {
            tokio::task::yield_now().await;
            most = most.max(waiting.lock().unwrap().len());
            if matches!(&*update, Update::Fact { event: Event::Closed { .. }, .. }) {
                break;
            }
        }
        most
    };
    let (step, most) = tokio::join!(run.run_until_idle(&voices), most);
    assert_eq!((step.unwrap(), most), (Step::Done, 2));
}

#[tokio::test(start_paused = true)]
async fn oversized_prompt_is_not_sent() {
    let mut setup = debate_setup(formats::duel(), 1);
    setup.limits.prompt = 10;
    let events = SharedEvents::default();
    let voices = ScriptedProviders::new(&events, &setup);
    let (mut run, _requests, _) = open_session(&setup, &events, usize::MAX);
    run.run_until_idle(&voices).await.unwrap();
    assert!(voices.requests.lock().unwrap().is_empty());
    assert_eq!(trace(run.debate()), "1.propose! aborted");
}

#[test]
fn written_replies_parse_to_the_same_body() {
    for format in formats::built_in_formats() {
        let mut debate = Debate::open(debate_setup(format, 10)).unwrap();
        crate::debate_fixture::play_debate(&mut debate, &[], |debate| {
            if let Some(cue) = next(debate).first_cue() {
                let body = valid_reply(debate, cue);
                let text = render_reply(debate, cue, &body);
                let read = debate_mcp::debate::reply::parse(debate, cue, &text).unwrap();
                assert_eq!(read.kind(), body.kind());
                if let debate_mcp::debate::Body::Speech { .. } = body {
                    assert_eq!(read, body);
                }
                return cue.round > 10;
            }
            false
        });
    }
}
