//! Keyword index: every string that can mark a secret, in one Aho-Corasick automaton, with the
//! matchers to run at each hit.
use super::placeholder;
use super::vendor_keys::VENDOR_KEYS;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Matcher to run at a keyword. Variants are ordered by priority, specific formats before generic
/// ones. No keyword contains whitespace, so a stream can be cut there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Matcher {
    /// An existing placeholder, which no other matcher may read.
    Placeholder,
    /// Index into `VENDOR_KEYS`, and the prefix.
    VendorKey(usize, &'static str),
    KeyBlock,
    PuttyLines,
    Jwt,
    Discord,
    Telegram,
    Terraform,
    Mailchimp,
    /// Webhook URL of this kind. The keyword is its public part.
    Webhook(&'static str),
    AzureSignature,
    UrlPassword,
    Bearer,
    Basic,
    /// The keyword is part of a name such as `api_key`.
    Assignment,
}

/// Keywords of all matchers other than vendor keys and assignments.
const FIXED_KEYWORDS: &[(&str, Matcher)] = &[
    (placeholder::PLACEHOLDER_PREFIX, Matcher::Placeholder),
    ("-----BEGIN", Matcher::KeyBlock),
    ("Private-Lines:", Matcher::PuttyLines),
    ("eyJ", Matcher::Jwt),
    (":AA", Matcher::Telegram),
    (".atlasv1.", Matcher::Terraform),
    ("-us", Matcher::Mailchimp),
    ("hooks.slack.com/services/", Matcher::Webhook("slack-webhook")),
    ("hooks.slack.com/workflows/", Matcher::Webhook("slack-webhook")),
    ("hooks.slack.com/triggers/", Matcher::Webhook("slack-webhook")),
    ("discord.com/api/webhooks/", Matcher::Webhook("discord-webhook")),
    ("discordapp.com/api/webhooks/", Matcher::Webhook("discord-webhook")),
    ("sig=", Matcher::AzureSignature),
    ("://", Matcher::UrlPassword),
    ("Bearer", Matcher::Bearer),
    ("bearer", Matcher::Bearer),
    ("BEARER", Matcher::Bearer),
    ("Basic", Matcher::Basic),
    ("basic", Matcher::Basic),
];

/// Stems that occur in names of secrets.
const NAME_STEMS: &[&str] = &["pass", "secret", "token", "pwd", "cred", "auth"];
/// Words that make a following `key` a secret, as in `api_key`.
pub(super) const KEY_QUALIFIERS: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "client",
    "consumer",
    "cookie",
    "deploy",
    "encryption",
    "encrypt",
    "hmac",
    "jwt",
    "license",
    "master",
    "private",
    "service",
    "session",
    "shared",
    "sign",
    "signing",
    "ssh",
    "storage",
    "webhook",
];

pub(super) struct KeywordIndex {
    pub(super) automaton: AhoCorasick,
    /// Matchers of each keyword in order of priority, by pattern index of the automaton.
    pub(super) matchers: Vec<Vec<Matcher>>,
}

/// The shared index, built on first use.
pub(super) fn keyword_index() -> Option<&'static KeywordIndex> {
    static KEYWORDS: OnceLock<Option<KeywordIndex>> = OnceLock::new();
    KEYWORDS.get_or_init(build_index).as_ref()
}

fn build_index() -> Option<KeywordIndex> {
    let mut words: BTreeMap<String, Vec<Matcher>> = BTreeMap::new();
    let mut add = |word: String, matcher| words.entry(word).or_default().push(matcher);
    for (index, row) in VENDOR_KEYS.iter().enumerate() {
        for prefix in row.prefixes {
            // `SK` alone would hit in too many words, so a hex digit is part of the keyword.
            let digits = if *prefix == "SK" { "0123456789abcdef" } else { "" };
            digits.chars().for_each(|digit| {
                add(format!("{prefix}{digit}"), Matcher::VendorKey(index, prefix));
            });
            if digits.is_empty() {
                add((*prefix).into(), Matcher::VendorKey(index, prefix));
            }
        }
    }
    for (word, matcher) in FIXED_KEYWORDS {
        add((*word).into(), *matcher);
    }
    // A Discord token starts with the account number in base64: all possible first characters.
    for first in ["MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"] {
        "AEIMQUYcgk".chars().for_each(|third| add(format!("{first}{third}"), Matcher::Discord));
    }
    for stem in NAME_STEMS {
        add((*stem).into(), Matcher::Assignment);
        add(stem.to_uppercase(), Matcher::Assignment);
        add(capitalize(stem), Matcher::Assignment);
    }
    for qualifier in KEY_QUALIFIERS {
        let (upper, first) = (qualifier.to_uppercase(), capitalize(qualifier));
        for separator in ["", "_", "-"] {
            add(format!("{qualifier}{separator}key"), Matcher::Assignment);
            add(format!("{upper}{separator}KEY"), Matcher::Assignment);
            add(format!("{first}{separator}Key"), Matcher::Assignment);
            add(format!("{qualifier}{separator}Key"), Matcher::Assignment);
            add(format!("{upper}{separator}Key"), Matcher::Assignment);
        }
    }
    // The automaton reports the longest keyword only, so it also gets the matchers of its prefixes.
    let mut with_prefixes = words.clone();
    for (word, matchers) in &mut with_prefixes {
        for end in (1..word.len()).rev() {
            matchers.extend(
                word.get(..end).and_then(|shorter| words.get(shorter)).into_iter().flatten(),
            );
        }
        matchers.sort();
    }
    let mut automaton = AhoCorasick::builder();
    let automaton =
        automaton.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::DFA));
    let automaton = automaton.build(with_prefixes.keys()).ok()?;
    Some(KeywordIndex { automaton, matchers: with_prefixes.into_values().collect() })
}

pub(super) fn capitalize(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
