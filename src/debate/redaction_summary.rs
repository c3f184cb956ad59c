//! Counts the secrets redacted from a debate, by the kind named in their placeholders.
use super::state::Debate;
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of a redaction placeholder, `[REDACTED:kind:tag]`.
const PLACEHOLDER_PREFIX: &str = "[REDACTED:";

/// Number of distinct secrets redacted from the topic, remarks and turns, by kind: `1
/// github-token`. Empty if there are none.
pub fn redaction_summary(debate: &Debate) -> String {
    let mut found = BTreeSet::new();
    let mut look = |text: &str| {
        for (at, _) in text.match_indices(PLACEHOLDER_PREFIX) {
            let inside =
                text[at + PLACEHOLDER_PREFIX.len()..].split_once(']').map(|(inside, _)| inside);
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let named = inside.and_then(|inside| inside.split_once(':'));
            let named = named.filter(|(kind, tag)| kind.len() <= 32 && tag.len() <= 8);
            if let Some((kind, tag)) =
                named.filter(|(kind, tag)| kind.chars().chain(tag.chars()).all(plain))
            {
                found.insert((kind.to_owned(), tag.to_owned()));
            }
        }
    };
    look(debate.current_topic());
    debate.remarks().iter().for_each(|remark| look(&remark.text));
    for (_, body) in debate.replies_in(..) {
        look(&body.to_text());
        for claim in body.claims() {
            look(&claim.text);
            claim.evidence.iter().for_each(|evidence| look(evidence));
        }
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (kind, _) in &found {
        *kinds.entry(kind).or_default() += 1;
    }
    let counted: Vec<String> = kinds.iter().map(|(kind, many)| format!("{many} {kind}")).collect();
    counted.join(", ")
}
