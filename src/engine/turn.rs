//! One turn: builds its prompt and request, fetches the reply with a timeout, and turns the result
//! into an event.
use super::command::SessionError;
use super::ports::{DEFAULT_TURN_SECONDS, ProviderReply, Providers, ReplyStream, TurnRequest};
use super::reply_pipeline::CheckedReply;
use super::updates::Update;
use crate::debate::prompt::{fingerprint, render};
use crate::debate::{
    Cue, Debate, Event, FailureKind, RejectedReply, Step, TurnFailure, next, reply, reply_schema,
    validate_reply,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum characters stored of a rejected reply.
const MAX_REJECTED_CHARS: usize = 4_000;

/// Prompts of the turns to be fetched, by cue.
pub(super) type PromptsByCue = BTreeMap<Cue, String>;

/// Builds the event that a wave is asked, with a hash of every prompt, and the prompts to fetch.
/// Includes turns not asked yet and those in `again`, which were asked before a crash.
pub(super) fn build_asked_event(
    debate: &Debate,
    again: &[Cue],
    now: i64,
) -> Option<(Event, PromptsByCue)> {
    let Step::Speak { driven, awaited } = next(debate) else { return None };
    let unasked = |cue: &Cue| !debate.was_asked(*cue);
    let driven: Vec<Cue> =
        driven.into_iter().filter(|cue| unasked(cue) || again.contains(cue)).collect();
    let waiting: Vec<Cue> = awaited.into_iter().filter(unasked).collect();
    let limits = &debate.setup().limits;
    let seconds = if waiting.is_empty() { limits.turn_seconds } else { limits.await_seconds };
    let deadline = seconds.map(|seconds| now.saturating_add(i64::from(seconds) * 1000));
    let cues: Vec<Cue> = driven.iter().copied().chain(waiting).collect();
    if cues.is_empty() {
        return None;
    }
    let texts: Vec<String> = cues.iter().map(|cue| render(debate, *cue).text).collect();
    let prompts = texts.iter().map(|text| fingerprint(text)).collect();
    let told = cues.iter().copied().zip(texts).filter(|(cue, _)| driven.contains(cue)).collect();
    Some((Event::Asked { cues, deadline, prompts }, told))
}

/// Builds the request for a turn. Fails if the prompt exceeds the size limit.
pub(super) fn build_request(
    debate: &Debate,
    cue: Cue,
    told: Option<String>,
    root: &Path,
) -> Result<TurnRequest, TurnFailure> {
    let (setup, seat) = (debate.setup(), debate.seat(cue));
    let prompt = told.unwrap_or_else(|| render(debate, cue).text);
    let (size, most) = (prompt.len(), setup.limits.prompt);
    if size > most {
        let note = format!("the prompt is {size} bytes; at most {most} are sent");
        return Err(TurnFailure::new(FailureKind::Other, note));
    }
    Ok(TurnRequest {
        debate_id: setup.id.clone(),
        cue,
        seat: seat.name.clone(),
        role: seat.role,
        phase: setup.phase(cue).name.clone(),
        round: cue.round,
        reply_kind: setup.phase(cue).reply,
        participant: seat.voice.clone(),
        effort: setup.effort,
        prompt,
        timeout_secs: DEFAULT_TURN_SECONDS,
        schema: reply_schema::reply_schema(debate, cue),
        web_allowed: setup.phase(cue).web,
        root: root.to_owned(),
        pin: setup.pin.clone(),
        attempt: if debate.rejected_reply(cue).is_some() { 2 } else { 1 },
    })
}

/// The event for the result of a turn: spoken, rejected (to be asked once more) or failed.
pub(super) fn result_event(
    debate: &Debate,
    cue: Cue,
    looked: Result<CheckedReply, TurnFailure>,
) -> Event {
    let looked = match looked {
        Ok(looked) => looked,
        Err(failure) => return failed_event(debate, cue, failure),
    };
    let said = looked.reply.clone();
    let (trouble, why, findings) = match parse_reply(debate, cue, looked) {
        Ok(event) => return event,
        Err(SessionError::ReplyRejected(found)) => {
            let says: Vec<_> = found.iter().map(|found| found.says.clone()).collect();
            (FailureKind::Unusable, says.join("; "), found)
        }
        Err(SessionError::ReplyUnparsable(why)) => (FailureKind::Unreadable, why, vec![]),
        Err(other) => (FailureKind::Other, other.to_string(), vec![]),
    };
    if debate.rejected_reply(cue).is_some() {
        return failed_event(
            debate,
            cue,
            TurnFailure { trouble, note: why, envelope: said.envelope, retry_ms: None },
        );
    }
    let text = said.text.chars().take(MAX_REJECTED_CHARS).collect();
    Event::Refused { cue, attempt: RejectedReply { text, why, findings, envelope: said.envelope } }
}

/// The event for a failed turn.
pub(super) fn failed_event(debate: &Debate, cue: Cue, mut failure: TurnFailure) -> Event {
    if failure.envelope.tool.is_empty() {
        failure.envelope.tool = debate.seat(cue).voice.tool().into();
    }
    Event::Failed { cue, failure }
}

/// Parses a reply and validates it against the rules of its phase.
pub(super) fn parse_reply(
    debate: &Debate,
    cue: Cue,
    CheckedReply { reply: ProviderReply { text, mut envelope }, citations }: CheckedReply,
) -> Result<Event, SessionError> {
    let length = text.chars().count();
    let most = debate.setup().limits.longest.saturating_mul(2);
    if length > most {
        let why = format!("PARSE_ERROR:reply:too_long: {length} characters of at most {most}");
        return Err(SessionError::ReplyUnparsable(why));
    }
    let voice = &debate.seat(cue).voice;
    if envelope.tool.is_empty() {
        envelope.tool = voice.tool().into();
    }
    envelope.model_asked = envelope.model_asked.or_else(|| voice.model().map(Into::into));
    let body = reply::parse(debate, cue, &text)
        .map_err(|unreadable| SessionError::ReplyUnparsable(unreadable.to_string()))?;
    validate_reply(debate, cue, body, citations, envelope).map_err(SessionError::ReplyRejected)
}

/// Requests one reply, with the turn's timeout. Publishes a slow update after half of it. Fills in
/// the duration and, if the provider reports none, the cost.
pub(super) async fn fetch_reply(
    voices: &dyn Providers,
    ask: TurnRequest,
    stream: ReplyStream,
) -> Result<ProviderReply, TurnFailure> {
    let (began, seconds) = (Instant::now(), ask.timeout_secs);
    let patience = Duration::from_secs(u64::from(seconds));
    let (cue, live) = (stream.cue(), stream.clone());
    let mut speaking = voices.request_reply(&ask, stream);
    let mut said = tokio::time::timeout(patience / 2, &mut speaking).await;
    if said.is_err() {
        live.publish(Update::Slow { cue, after: seconds / 2, most: seconds });
        said = tokio::time::timeout_at(began + patience, speaking).await;
    }
    live.finish();
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut said = said.unwrap_or_else(|_| {
        Err(TurnFailure::new(
            FailureKind::TimedOut,
            format!("no answer within {seconds} s (allow more time, or less effort)"),
        ))
    });
    if let Ok(ProviderReply { text, envelope }) = &said
        && text.trim().is_empty()
    {
        let note = "the tool answered with nothing";
        said = Err(TurnFailure {
            envelope: envelope.clone(),
            ..TurnFailure::new(FailureKind::Empty, note)
        });
    }
    match &mut said {
        Ok(ProviderReply { envelope, .. }) | Err(TurnFailure { envelope, .. }) => {
            envelope.duration_ms = took;
            envelope.cost = envelope.cost.or_else(|| {
                let price = voices.price(&ask.participant, envelope.model_reported.as_deref())?;
                Some(price.cost(envelope.tokens_in?, envelope.tokens_out?))
            });
        }
    }
    said
}
