//! Decides about a checked reply: accept it, reject it and ask the model once more, or fail the turn.
//! A reply is rejected if it cannot be parsed or breaks a rule of its phase. Entry point:
//! [`accept_or_reject`].
use super::ports::ProviderReply;
use super::reply_pipeline::CheckedReply;
use super::session_error::SessionError;
use crate::debate::{
    Cue, Debate, Event, FailureKind, RejectedReply, TurnFailure, reply, validate_reply,
};

/// Maximum characters stored of a rejected reply.
const MAX_REJECTED_CHARS: usize = 4_000;
/// A raw reply may be this many times as long as a speech, because it also has a claims block.
const RAW_REPLY_FACTOR: usize = 2;

/// The event for the result of a turn: spoken, rejected (to be asked once more) or failed.
pub(super) fn accept_or_reject(
    debate: &Debate,
    cue: Cue,
    checked: Result<CheckedReply, TurnFailure>,
) -> Event {
    let checked = match checked {
        Ok(checked) => checked,
        Err(failure) => return failed_event(debate, cue, failure),
    };
    let reply = checked.reply.clone();
    let (trouble, why, findings) = match parse_reply(debate, cue, checked) {
        Ok(event) => return event,
        Err(SessionError::ReplyRejected(rule_findings)) => {
            let messages: Vec<_> = rule_findings.iter().map(|it| it.says.clone()).collect();
            (FailureKind::Unusable, messages.join("; "), rule_findings)
        }
        Err(SessionError::ReplyUnparsable(why)) => (FailureKind::Unreadable, why, vec![]),
        Err(error) => (FailureKind::Other, error.to_string(), vec![]),
    };
    if debate.rejected_reply(cue).is_some() {
        return failed_event(
            debate,
            cue,
            TurnFailure { trouble, note: why, envelope: reply.envelope, retry_ms: None },
        );
    }
    let text = reply.text.chars().take(MAX_REJECTED_CHARS).collect();
    Event::Refused { cue, attempt: RejectedReply { text, why, findings, envelope: reply.envelope } }
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
    let max_chars = debate.setup().limits.longest.saturating_mul(RAW_REPLY_FACTOR);
    if length > max_chars {
        let why = format!("PARSE_ERROR:reply:too_long: {length} characters of at most {max_chars}");
        return Err(SessionError::ReplyUnparsable(why));
    }
    let participant = &debate.seat(cue).voice;
    if envelope.tool.is_empty() {
        envelope.tool = participant.tool().into();
    }
    envelope.model_asked = envelope.model_asked.or_else(|| participant.model().map(Into::into));
    let body = reply::parse(debate, cue, &text)
        .map_err(|error| SessionError::ReplyUnparsable(error.to_string()))?;
    validate_reply(debate, cue, body, citations, envelope).map_err(SessionError::ReplyRejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debate::Envelope;
    use crate::engine::turn::tests::asked_duel;

    fn checked_reply(text: String) -> CheckedReply {
        let reply = ProviderReply { text, envelope: Envelope::default() };
        CheckedReply { reply, citations: vec![] }
    }

    #[test]
    fn raw_reply_may_be_twice_as_long_as_a_speech() {
        assert_eq!(RAW_REPLY_FACTOR, 2);
        let (debate, cue) = asked_duel(1_000);
        let parse = |chars| parse_reply(&debate, cue, checked_reply("é".repeat(chars)));
        assert!(parse(1_000 * RAW_REPLY_FACTOR).is_ok());
        let error = parse(1_000 * RAW_REPLY_FACTOR + 1);
        assert!(matches!(error, Err(SessionError::ReplyUnparsable(_))));
    }

    #[test]
    fn rejected_reply_is_stored_up_to_4000_characters() {
        assert_eq!(MAX_REJECTED_CHARS, 4_000);
        // With this limit, every reply of the test is too long.
        let (debate, cue) = asked_duel(1);
        for chars in [MAX_REJECTED_CHARS, MAX_REJECTED_CHARS + 1] {
            let event = accept_or_reject(&debate, cue, Ok(checked_reply("é".repeat(chars))));
            let Event::Refused { attempt, .. } = event else { panic!("it was not rejected") };
            assert_eq!(attempt.text.chars().count(), MAX_REJECTED_CHARS);
        }
    }
}
