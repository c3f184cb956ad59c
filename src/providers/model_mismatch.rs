//! Caveat for a turn that was answered by another model than the one requested.
use crate::debate::Envelope;

/// Adds a caveat to the envelope if the reported model does not contain the requested name. A
/// vendor prefix (`vendor/model`) is ignored.
pub(super) fn add_model_mismatch_caveat(envelope: &mut Envelope) {
    if let (Some(requested), Some(reported)) = (&envelope.model_asked, &envelope.model_reported)
        && !reported.contains(requested.rsplit('/').next().unwrap_or(requested))
    {
        let caveat = format!("{requested} was requested, but {reported} answered");
        envelope.caveats.push(caveat);
    }
}
