//! Engine session: crash recovery from the event log, awaited replies, deadlines, retries,
//! cancellation and concurrency limits. Runs on tokio's paused clock.
use crate::players::good;
use crate::scene::{cue, model, setup, trace};
use crate::voices::{Disk, Hands, Scripted, Shared, outside, written};
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
pub(crate) fn session(
    setup: &Setup,
    events: &Shared,
    writes: usize,
) -> (Session, mpsc::Sender<CommandRequest>, UpdateBroadcaster) {
    let kept = events.lock().unwrap().clone();
    let debate = Debate::replay(setup.clone(), kept).unwrap();
    let (sender, requests) = mpsc::channel(8);
    let live = UpdateBroadcaster::default();
    let disk = Box::new(Disk { events: events.clone(), writes_left: writes });
    (Session::new(debate, disk, requests, live.clone(), Hands::new(), &outside()), sender, live)
}

async fn send(
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
async fn it_survives_a_crash_at_any_write() {
    for format in
        formats::built_in_formats().into_iter().filter(|format| format.name != "dialectic")
    {
        let setup = setup(format, 5);
        let whole = Shared::default();
        let (mut run, _requests, _) = session(&setup, &whole, usize::MAX);
        let voices = Scripted { down: "Fay", fickle: "Kim", ..Scripted::new(&whole, &setup) };
        assert_eq!(run.run_until_idle(&voices).await.unwrap(), Step::Done);
        let mut crashes = 0;
        for crash in 0.. {
            let kept = Shared::default();
            let (mut first, _requests, _) = session(&setup, &kept, crash);
            let voices = Scripted { down: "Fay", fickle: "Kim", ..Scripted::new(&kept, &setup) };
            match first.run_until_idle(&voices).await {
                Ok(_) => break,
                Err(died) => assert!(matches!(died, SessionError::Log(LogError::WriteFailed(_)))),
            }
            crashes += 1;
            let before = kept.lock().unwrap().clone();
            let (mut second, _requests, _) = session(&setup, &kept, usize::MAX);
            let voices = Scripted { down: "Fay", fickle: "Kim", ..Scripted::new(&kept, &setup) };
            assert_eq!(second.run_until_idle(&voices).await.unwrap(), Step::Done);
            // Only timestamps and deadlines may differ after a crash.
            assert_eq!(timeless(second.debate()), timeless(run.debate()));
            let after = kept.lock().unwrap().clone();
            assert_eq!(after[..before.len()], before[..], "what was recorded stands");
            let asked = voices.asked.lock().unwrap();
            let taken = |cue: Cue| before.iter().any(|event| took(event, cue));
            assert!(asked.iter().all(|ask| !taken(ask.cue)), "nothing is taken twice");
        }
        assert!(crashes > 4, "{crashes} writes");
    }
}

fn took(event: &Event, wanted: Cue) -> bool {
    matches!(event, Event::Spoke { cue, .. } | Event::Failed { cue, .. } if *cue == wanted)
}

/// Turns, outcome and cost as text, without timestamps and deadlines.
fn timeless(debate: &Debate) -> String {
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
async fn a_reply_that_cannot_be_taken_is_asked_for_once_more_and_paid_for_twice() {
    let setup = setup(formats::duel(), 1);
    let events = Shared::default();
    let (mut run, _requests, _) = session(&setup, &events, usize::MAX);
    let voices = Scripted { fickle: "Kim", ..Scripted::new(&events, &setup) };
    assert_eq!(run.run_until_idle(&voices).await.unwrap(), Step::Done);
    assert_eq!(trace(run.debate()), "1.propose 1.challenge 0.judge 0.judge completed");
    assert_eq!(run.debate().spent().cost, 5, "two speeches, the judge twice and the mirror");
    let asked = voices.asked.lock().unwrap();
    let again = asked.iter().find(|ask| ask.attempt == 2).unwrap();
    assert!(again.prompt.contains("PARSE_ERROR:verdict:not_json"), "{}", again.prompt);
    let events = events.lock().unwrap();
    let refused = events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
    assert_eq!(refused, 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_is_awaited_answers_in_turn_and_once() {
    let mut setup = setup(formats::arena(), 1);
    setup.limits.shortest = 5;
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = Shared::default();
    let voices = Scripted::new(&events, &setup);
    let (mut run, _requests, _) = session(&setup, &events, usize::MAX);
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
async fn whoever_is_late_has_failed_also_after_a_restart() {
    let mut setup = setup(formats::arena(), 1);
    setup.limits.await_seconds = Some(120);
    for seat in &mut setup.seats[..2] {
        seat.voice = Participant::Bot;
    }
    let events = Shared::default();
    let (mut run, _requests, _) = session(&setup, &events, usize::MAX);
    run.run_until_idle(&Scripted::new(&events, &setup)).await.unwrap();
    let due = next(run.debate()).first_cue().unwrap();
    let deadline = run.debate().deadline(due).unwrap();
    drop(run);
    // A second process resumes the debate with the recorded deadline.
    let (mut run, requests, _) = session(&setup, &events, usize::MAX);
    let voices = Scripted::new(&events, &setup);
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
async fn it_drops_what_is_no_longer_due() {
    let setup = setup(formats::duel(), 2);
    let events = Shared::default();
    let voices = Scripted::new(&events, &setup);
    let (mut run, requests, live) = session(&setup, &events, usize::MAX);
    let mut watch = live.subscribe();
    let user = async {
        let early = send(&requests, Command::Conclude { because: None }).await;
        assert!(early.is_err(), "nothing has been said");
        loop {
            if let Update::Fact { event: Event::Spoke { .. }, .. } = &*watch.recv().await.unwrap() {
                break;
            }
        }
        send(&requests, Command::Interject { text: "Be brief.".into() }).await.unwrap();
        send(&requests, Command::Conclude { because: None }).await.unwrap();
    };
    let (step, ()) = tokio::join!(run.run_until_idle(&voices), user);
    assert_eq!(step.unwrap(), Step::Done);
    assert_eq!(trace(run.debate()), "1.propose 0.judge 0.judge ended");
}

/// Providers that never reply. Records the pending requests.
struct Silent(Arc<Mutex<Vec<String>>>);

struct Waiting(Arc<Mutex<Vec<String>>>, String);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.lock().unwrap().retain(|voice| *voice != self.1);
    }
}

impl Providers for Silent {
    fn request_reply<'a>(
        &'a self,
        ask: &'a TurnRequest,
        _: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            let voice = ask.participant.to_string();
            self.0.lock().unwrap().push(voice.clone());
            let _waiting = Waiting(self.0.clone(), voice);
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
async fn a_seat_handed_over_is_asked_anew_at_once_and_a_silent_one_times_out() {
    let setup = setup(formats::duel(), 1);
    let events = Shared::default();
    let waiting = Arc::new(Mutex::new(vec![]));
    let voices = Silent(waiting.clone());
    let (mut run, requests, live) = session(&setup, &events, usize::MAX);
    let mut watch = live.subscribe();
    let user = async {
        while !matches!(&*watch.recv().await.unwrap(), Update::Speaking { .. }) {}
        tokio::task::yield_now().await;
        let before = waiting.lock().unwrap().clone();
        assert_eq!(before.len(), 1);
        let change = Amendment::Seat { seat: 0, voice: model("quick") };
        send(&requests, Command::Amend { change, because: "too slow".into() }).await.unwrap();
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
async fn no_more_turns_are_fetched_at_once_than_allowed() {
    let mut setup = setup(formats::research(), 1);
    setup.limits.at_once = 2;
    let events = Shared::default();
    let waiting = Arc::new(Mutex::new(vec![]));
    for (nth, seat) in setup.seats.iter_mut().enumerate() {
        seat.voice = model(&format!("tool{nth}"));
    }
    let voices = Silent(waiting.clone());
    let (mut run, _requests, live) = session(&setup, &events, usize::MAX);
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
async fn a_prompt_over_the_limit_is_not_sent() {
    let mut setup = setup(formats::duel(), 1);
    setup.limits.prompt = 10;
    let events = Shared::default();
    let voices = Scripted::new(&events, &setup);
    let (mut run, _requests, _) = session(&setup, &events, usize::MAX);
    run.run_until_idle(&voices).await.unwrap();
    assert!(voices.asked.lock().unwrap().is_empty());
    assert_eq!(trace(run.debate()), "1.propose! aborted");
}

#[test]
fn what_a_model_writes_is_read_back_as_it_was_meant() {
    for format in formats::built_in_formats() {
        let mut debate = Debate::open(setup(format, 10)).unwrap();
        crate::scene::run(&mut debate, &[], |debate| {
            if let Some(cue) = next(debate).first_cue() {
                let body = good(debate, cue);
                let text = written(debate, cue, &body);
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
