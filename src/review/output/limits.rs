//! Length limits of texts that several output formats show. Markdown limits the escaped text to as
//! many bytes, too.

/// Limit of findings in the formats that other programs parse.
pub(super) const MAX_RESULTS: usize = 5_000;
/// Characters of the reason why a review was skipped.
pub(super) const MAX_SKIP_REASON_CHARS: usize = 600;
/// Characters of the title, and of what was compared.
pub(super) const MAX_TITLE_CHARS: usize = 300;
/// Doubts about a decision.
pub(super) const MAX_DOUBTS: usize = 8;
/// Characters of a doubt or a notice.
pub(super) const MAX_NOTICE_CHARS: usize = 400;
/// Characters of the claim of an earlier finding.
pub(super) const MAX_EARLIER_CLAIM_CHARS: usize = 600;
/// Characters of a file with its lines.
pub(super) const MAX_LOCATION_CHARS: usize = 300;
/// Participants in the footer.
pub(super) const MAX_PARTICIPANTS: usize = 12;
/// Characters of a participant's role.
pub(super) const MAX_ROLE_CHARS: usize = 60;
/// Characters of a model's name or a debate id.
pub(super) const MAX_NAME_CHARS: usize = 80;
