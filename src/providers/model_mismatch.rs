//! Caveat for a turn that was answered by another model than the one requested.
use crate::debate::Envelope;

/// Adds a caveat to the envelope if the reported model does not contain the requested name. A
/// vendor prefix (`vendor/model`) is ignored.
pub(super) fn add_model_mismatch_caveat(envelope: &mut Envelope) {
    if let (Some(asked), Some(reported)) = (&envelope.model_asked, &envelope.model_reported)
        && !reported.contains(asked.rsplit('/').next().unwrap_or(asked))
    {
        let differs = format!("{asked} was asked for, and {reported} says it has answered");
        envelope.caveats.push(differs);
    }
}
