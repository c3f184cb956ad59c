//! What a turn has to admit about who spoke.
use crate::debate::Envelope;

/// A model that answers in place of the one that was asked is named.
pub(super) fn admit_other_model(envelope: &mut Envelope) {
    if let (Some(asked), Some(reported)) = (&envelope.model_asked, &envelope.model_reported)
        && !reported.contains(asked.rsplit('/').next().unwrap_or(asked))
    {
        let differs = format!("{asked} was asked for, and {reported} says it has answered");
        envelope.caveats.push(differs);
    }
}
