//! One turn: builds its prompt and request, fetches the reply with a timeout, and turns the result
//! into an event.
use super::ports::{DEFAULT_TURN_SECONDS, ProviderReply, Providers, ReplyStream, TurnRequest};
use super::updates::Update;
use crate::debate::prompt::{fingerprint, render};
use crate::debate::{Cue, Debate, Event, FailureKind, Step, TurnFailure, next, reply_schema};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Prompts of the turns to be fetched, by cue.
pub(crate) type PromptsByCue = BTreeMap<Cue, String>;

/// Builds the event that a wave is asked, with a hash of every prompt, and the prompts to fetch.
/// Includes turns not asked yet, and driven turns in `retry_cues`, which were asked before: their
/// reply was rejected or their request was lost.
pub(crate) fn build_asked_event(
    debate: &Debate,
    retry_cues: &[Cue],
    now: i64,
) -> Option<(Event, PromptsByCue)> {
    let Step::Speak { driven, awaited } = next(debate) else { return None };
    let unasked = |cue: &Cue| !debate.was_asked(*cue);
    let driven: Vec<Cue> =
        driven.into_iter().filter(|cue| unasked(cue) || retry_cues.contains(cue)).collect();
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
    let driven_prompts =
        cues.iter().copied().zip(texts).filter(|(cue, _)| driven.contains(cue)).collect();
    Some((Event::Asked { cues, deadline, prompts }, driven_prompts))
}

/// Builds the request for a turn. Fails if the prompt exceeds the size limit.
pub(crate) fn build_request(
    debate: &Debate,
    cue: Cue,
    known_prompt: Option<String>,
    root: &Path,
) -> Result<TurnRequest, TurnFailure> {
    let (setup, seat) = (debate.setup(), debate.seat(cue));
    let prompt = known_prompt.unwrap_or_else(|| render(debate, cue).text);
    let (size, max_bytes) = (prompt.len(), setup.limits.prompt);
    if size > max_bytes {
        let note = format!("the prompt is {size} bytes; at most {max_bytes} are sent");
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

/// Requests one reply, with the turn's timeout. Publishes a slow update after half of it. Fills in
/// the duration and, if the provider reports none, the cost.
pub(crate) async fn fetch_reply(
    providers: &dyn Providers,
    request: TurnRequest,
    stream: ReplyStream,
) -> Result<ProviderReply, TurnFailure> {
    let (started, seconds) = (Instant::now(), request.timeout_secs);
    let timeout = Duration::from_secs(u64::from(seconds));
    let (cue, live_stream) = (stream.cue(), stream.clone());
    tracing::debug!(
        debate = %request.debate_id,
        turn = %cue,
        seat = request.seat,
        participant = %request.participant,
        bytes = request.prompt.len(),
        timeout_s = seconds,
        attempt = request.attempt,
        "prompt sent"
    );
    let mut reply_future = providers.request_reply(&request, stream);
    let mut result = tokio::time::timeout(timeout / 2, &mut reply_future).await;
    if result.is_err() {
        tracing::debug!(debate = %request.debate_id, turn = %cue, seat = request.seat, "turn is slow");
        live_stream.publish(Update::Slow { cue, after: seconds / 2, most: seconds });
        result = tokio::time::timeout_at(started + timeout, reply_future).await;
    }
    live_stream.finish();
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut result = result.unwrap_or_else(|_| {
        Err(TurnFailure::new(
            FailureKind::TimedOut,
            format!("no answer within {seconds} s (allow more time, or less effort)"),
        ))
    });
    if let Ok(ProviderReply { text, envelope }) = &result
        && text.trim().is_empty()
    {
        let note = "the tool answered with nothing";
        result = Err(TurnFailure {
            envelope: envelope.clone(),
            ..TurnFailure::new(FailureKind::Empty, note)
        });
    }
    let (debate, seat) = (&request.debate_id, &request.seat);
    match &result {
        Ok(ProviderReply { text, .. }) => tracing::debug!(
            %debate, turn = %cue, seat, elapsed_ms = elapsed_ms, bytes = text.len(), "reply received"
        ),
        Err(failure) => tracing::debug!(
            %debate, turn = %cue, seat, elapsed_ms = elapsed_ms, reason = failure.trouble.as_str(),
            "request failed"
        ),
    }
    match &mut result {
        Ok(ProviderReply { envelope, .. }) | Err(TurnFailure { envelope, .. }) => {
            envelope.duration_ms = elapsed_ms;
            envelope.cost = envelope.cost.or_else(|| {
                let price =
                    providers.price(&request.participant, envelope.model_reported.as_deref())?;
                Some(price.cost(envelope.tokens_in?, envelope.tokens_out?))
            });
        }
    }
    result
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::debate::formats;
    use crate::test_support::debate_fixture::debate_setup;

    /// A duel whose first turn was asked, and that turn.
    pub(in crate::engine) fn asked_duel(max_speech_chars: usize) -> (Debate, Cue) {
        let mut setup = debate_setup(formats::duel(), 2);
        setup.limits.longest = max_speech_chars;
        let mut debate = Debate::open(setup).unwrap();
        let (asked_event, _) = build_asked_event(&debate, &[], 0).unwrap();
        debate.apply(asked_event).unwrap();
        let cue = next(&debate).first_cue().unwrap();
        (debate, cue)
    }

    #[test]
    fn prompt_over_the_size_limit_is_not_sent() {
        let (debate, cue) = asked_duel(1_000);
        let max_bytes = debate.setup().limits.prompt;
        assert_eq!(max_bytes, 4_000_000);
        let build = |bytes| build_request(&debate, cue, Some("x".repeat(bytes)), Path::new("."));
        assert!(build(max_bytes).is_ok());
        assert!(build(max_bytes + 1).is_err());
    }
}
