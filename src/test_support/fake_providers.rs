//! Fake ports for engine tests: providers that reply as text like a model does, a log that fails
//! after a number of writes, and a clock that follows Tokio's paused time.
use super::simulated_players::valid_reply;
use debate_mcp::debate::{
    Body, Citation, Claim, Debate, Envelope, Event, FailureKind, Participant, ReplyKind, Setup,
    Side, Step, TurnFailure, next,
};
use debate_mcp::engine::session::Session;
use debate_mcp::engine::{
    BoxFuture, CitationContext, Clock, CommandRequest, ContextError, Evidence, Log, LogError,
    ProviderReply, ProviderUnavailable, Providers, ReplyStream, SessionContext, TurnRequest,
    UpdateBroadcaster,
};
use debate_mcp::redact::Secrets;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// A session context without secrets and without evidence checks.
pub(crate) fn empty_context() -> SessionContext {
    SessionContext {
        root: ".".into(),
        evidence: Arc::new(NoEvidence),
        secrets: Secrets::new(Vec::new, []),
    }
}

/// An evidence checker that finds no citations.
pub(crate) struct NoEvidence;

impl Evidence for NoEvidence {
    fn strip_verification_marks(&self, text: &str) -> String {
        text.into()
    }
    fn check_citations(&self, _: &Body, _: &CitationContext<'_>) -> Vec<Citation> {
        vec![]
    }
    fn check_text(&self, _: &str, _: &CitationContext<'_>) -> Result<Vec<Citation>, ContextError> {
        Ok(vec![])
    }
}

/// Events shared between a log that survives a crash and the code that replays it.
pub(crate) type SharedEvents = Arc<Mutex<Vec<Event>>>;

/// Providers that send valid replies. One seat can fail, and one can first send an invalid reply.
pub(crate) struct ScriptedProviders {
    pub(crate) events: SharedEvents,
    pub(crate) setup: Setup,
    pub(crate) failing_seat: &'static str,
    pub(crate) invalid_first_seat: &'static str,
    /// All requests, in order.
    pub(crate) requests: Mutex<Vec<TurnRequest>>,
}

impl ScriptedProviders {
    pub(crate) fn new(events: &SharedEvents, setup: &Setup) -> ScriptedProviders {
        let (events, setup) = (events.clone(), setup.clone());
        ScriptedProviders {
            events,
            setup,
            failing_seat: "",
            invalid_first_seat: "",
            requests: Mutex::default(),
        }
    }
}

impl Providers for ScriptedProviders {
    fn request_reply<'a>(
        &'a self,
        request: &'a TurnRequest,
        stream: ReplyStream,
    ) -> BoxFuture<'a, Result<ProviderReply, TurnFailure>> {
        Box::pin(async move {
            self.requests.lock().unwrap().push(request.clone());
            let events = self.events.lock().unwrap().clone();
            let debate = Debate::replay(self.setup.clone(), events).unwrap();
            let Step::Speak { driven, .. } = next(&debate) else { panic!("nothing is due") };
            assert!(driven.contains(&request.cue), "{:?} was asked out of turn", request.cue);
            assert!(debate.was_asked(request.cue), "the request was not recorded first");
            stream.push("…");
            let delay_ms = 1 + u64::from(request.seat.as_bytes()[0]) * 7 % 5;
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
            if request.seat == self.failing_seat {
                return Err(TurnFailure::new(FailureKind::TimedOut, "down"));
            }
            let text = if request.seat == self.invalid_first_seat
                && request.attempt == 1
                && request.reply_kind != ReplyKind::Speech
            {
                "I would rather not say.".into()
            } else {
                render_reply(&debate, request.cue, &valid_reply(&debate, request.cue))
            };
            let envelope = Envelope { cost: Some(1), ..Envelope::default() };
            Ok(ProviderReply { text, envelope })
        })
    }

    fn check_available(&self, _: &Participant) -> Result<(), ProviderUnavailable> {
        Ok(())
    }

    fn side_conflict(&self, _: &Participant, _: &Participant) -> Option<String> {
        None
    }
}

/// Renders a body as the text that a model would send.
pub(crate) fn render_reply(debate: &Debate, cue: debate_mcp::debate::Cue, body: &Body) -> String {
    let side = |side: &Side| side.role_name();
    match body {
        Body::Speech { text, claims, concedes, resolves, help, unstructured: None } => {
            let claims: Vec<_> = claims.iter().map(claim_json).collect();
            let block = json!({
                "claims": claims, "concedes": concedes, "resolves": resolves, "help": help,
            });
            format!("{text}\n\n```claims\n{block}\n```\n")
        }
        Body::Speech { text, .. } => text.clone(),
        Body::Score { pro, con, fouls, comment } => {
            let marks = |marks: &BTreeMap<String, u8>| -> BTreeMap<String, f64> {
                let mark =
                    |(name, tenths): (&String, &u8)| (name.clone(), f64::from(*tenths) / 10.0);
                marks.iter().map(mark).collect()
            };
            let scores = json!({"pro": marks(pro), "con": marks(con)});
            let fouls: Vec<_> = fouls
                .iter()
                .map(|it| json!({"side": side(&it.side), "kind": it.kind, "note": it.note}))
                .collect();
            json!({"round": cue.round, "scores": scores, "foul": !fouls.is_empty(),
                "fouls": fouls, "comment": comment})
            .to_string()
        }
        Body::Petition { supports, claim, .. } => {
            let intent = match supports {
                Some(Side::Pro) => "support_pro",
                Some(Side::Con) => "support_con",
                None => "none",
            };
            json!({"intent": intent, "claim": claim, "novelty": "new", "confidence": 0.5})
                .to_string()
        }
        Body::Ruling { admits, grounds, because } => {
            let mut value = serde_json::to_value(grounds).unwrap();
            value["admits"] = json!(admits);
            value["because"] = json!(because);
            value.to_string()
        }
        Body::Vote { side: voted_side, because, .. } => {
            json!({"vote": side(voted_side), "confidence": 0.6, "reason": because}).to_string()
        }
        Body::Audit { facts } => json!({ "facts": facts }).to_string(),
        Body::Verdict(ruling) => {
            let citable = debate.citable_turns(cue);
            let number = |cited| citable.iter().position(|known| known == cited).unwrap() + 1;
            let cites: Vec<_> = ruling.cites.iter().map(|c| format!("T{}", number(c))).collect();
            json!({
                "winner": ruling.side.as_ref().map(side), "confidence": 0.8,
                "reasoning": ruling.because, "cites": cites,
                "recommendation": ruling.recommendation, "decisive": ruling.decisive,
                "blind_spots": ruling.blind_spots, "checks": ruling.checks,
                "despite": ruling.despite,
            })
            .to_string()
        }
        Body::Sections { sections } => {
            let part = |s: &debate_mcp::debate::Section| format!("## {}\n{}", s.title, s.text);
            sections.iter().map(part).collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// A claim as JSON, with its confidence as a fraction.
fn claim_json(claim: &Claim) -> serde_json::Value {
    let mut value = serde_json::to_value(claim).unwrap();
    if let Some(confidence) = claim.confidence {
        value["confidence"] = json!(f64::from(confidence) / 100.0);
    }
    value
}

/// A log that fails after this number of writes and keeps what was written.
pub(crate) struct FailingLog {
    pub(crate) events: SharedEvents,
    pub(crate) writes_left: usize,
}

impl Log for FailingLog {
    fn append<'a>(&'a mut self, events: &'a [Event]) -> BoxFuture<'a, Result<u64, LogError>> {
        Box::pin(async move {
            let remaining = self.writes_left.checked_sub(1);
            self.writes_left = remaining.ok_or_else(|| LogError::WriteFailed("crash".into()))?;
            let mut recorded = self.events.lock().unwrap();
            recorded.extend_from_slice(events);
            Ok(recorded.len() as u64)
        })
    }
}

/// A clock that follows Tokio's clock, so that paused time is paused everywhere.
pub(crate) struct TokioClock {
    began: tokio::time::Instant,
    offset: AtomicI64,
}

impl TokioClock {
    pub(crate) fn new() -> Arc<TokioClock> {
        Arc::new(TokioClock {
            began: tokio::time::Instant::now(),
            offset: AtomicI64::new(1_000_000),
        })
    }
}

impl Clock for TokioClock {
    fn now(&self) -> i64 {
        let elapsed_ms = i64::try_from(self.began.elapsed().as_millis()).unwrap();
        self.offset.load(Ordering::Relaxed) + elapsed_ms
    }
}

/// A session over an in-memory event log that fails after `writes` appends, with its request
/// channel and update broadcaster.
pub(crate) fn open_session(
    setup: &Setup,
    events: &SharedEvents,
    writes: usize,
) -> (Session, mpsc::Sender<CommandRequest>, UpdateBroadcaster) {
    let recorded = events.lock().unwrap().clone();
    let debate = Debate::replay(setup.clone(), recorded).unwrap();
    let (sender, requests) = mpsc::channel(8);
    let broadcaster = UpdateBroadcaster::default();
    let log = Box::new(FailingLog { events: events.clone(), writes_left: writes });
    (
        Session::new(
            debate,
            log,
            requests,
            broadcaster.clone(),
            TokioClock::new(),
            &empty_context(),
        ),
        sender,
        broadcaster,
    )
}
