//! Counts the secrets redacted from a debate, by the kind named in their placeholders.
use crate::debate::record::state::Debate;
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of a redaction placeholder, `[REDACTED:kind:tag]`.
const PLACEHOLDER_PREFIX: &str = "[REDACTED:";
/// Maximum length of the kind in a placeholder, in bytes.
const MAX_KIND_BYTES: usize = 32;
/// Maximum length of the tag in a placeholder, in bytes.
const MAX_TAG_BYTES: usize = 8;

/// Number of distinct secrets redacted from the topic, remarks and turns, by kind: `1
/// github-token`. Empty if there are none.
pub(in crate::debate) fn redaction_summary(debate: &Debate) -> String {
    let mut secrets = BTreeSet::new();
    let mut collect_from = |text: &str| {
        for (start, _) in text.match_indices(PLACEHOLDER_PREFIX) {
            let content = text[start + PLACEHOLDER_PREFIX.len()..]
                .split_once(']')
                .map(|(content, _)| content);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let parts = content.and_then(|content| content.split_once(':'));
            let parts = parts
                .filter(|(kind, tag)| kind.len() <= MAX_KIND_BYTES && tag.len() <= MAX_TAG_BYTES);
            if let Some((kind, tag)) =
                parts.filter(|(kind, tag)| kind.chars().chain(tag.chars()).all(is_plain))
            {
                secrets.insert((kind.to_owned(), tag.to_owned()));
            }
        }
    };
    collect_from(debate.current_topic());
    debate.remarks().iter().for_each(|remark| collect_from(&remark.text));
    for (_, body) in debate.replies_in(..) {
        collect_from(&body.to_text());
        for claim in body.claims() {
            collect_from(&claim.text);
            claim.evidence.iter().for_each(|evidence| collect_from(evidence));
        }
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (kind, _) in &secrets {
        *kinds.entry(kind).or_default() += 1;
    }
    let counts: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    counts.join(", ")
}
