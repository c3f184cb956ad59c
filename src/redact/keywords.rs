//! Keyword index: every string that can mark a secret, in one Aho-Corasick automaton, with the
//! matchers to run at each hit.
use super::mark;
use super::rows::ROWS;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Matcher to run at a keyword. Variants are ordered by priority, specific formats before generic
/// ones. No keyword contains whitespace, so a stream can be cut there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Route {
    /// An existing placeholder, which no other matcher may read.
    Placeholder,
    /// Index into `VENDOR_KEYS`, and the prefix.
    Row(usize, &'static str),
    KeyBlock,
    PuttyLines,
    Jwt,
    Discord,
    Telegram,
    Terraform,
    Mailchimp,
    /// Webhook URL of this kind. The keyword is its public part.
    Hook(&'static str),
    Signature,
    Address,
    Bearer,
    Basic,
    /// The keyword is part of a name such as `api_key`.
    Name,
}

/// Kinds reported by `token_formats`, besides `jwt`.
pub(super) const KINDS: &[&str] = &[
    "discord-token",
    "telegram-token",
    "terraform-token",
    "mailchimp-key",
    "slack-webhook",
    "discord-webhook",
    "azure-signature",
];

/// Keywords of all matchers other than vendor keys and assignments.
const ODD: &[(&str, Route)] = &[
    (mark::OPENING, Route::Placeholder),
    ("-----BEGIN", Route::KeyBlock),
    ("Private-Lines:", Route::PuttyLines),
    ("eyJ", Route::Jwt),
    (":AA", Route::Telegram),
    (".atlasv1.", Route::Terraform),
    ("-us", Route::Mailchimp),
    ("hooks.slack.com/services/", Route::Hook("slack-webhook")),
    ("hooks.slack.com/workflows/", Route::Hook("slack-webhook")),
    ("hooks.slack.com/triggers/", Route::Hook("slack-webhook")),
    ("discord.com/api/webhooks/", Route::Hook("discord-webhook")),
    ("discordapp.com/api/webhooks/", Route::Hook("discord-webhook")),
    ("sig=", Route::Signature),
    ("://", Route::Address),
    ("Bearer", Route::Bearer),
    ("bearer", Route::Bearer),
    ("BEARER", Route::Bearer),
    ("Basic", Route::Basic),
    ("basic", Route::Basic),
];

/// Stems that occur in names of secrets.
const STEMS: &[&str] = &["pass", "secret", "token", "pwd", "cred", "auth"];
/// Words that make a following `key` a secret, as in `api_key`.
pub(super) const KEYS: &[&str] = &[
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

pub(super) struct Keywords {
    pub(super) automaton: AhoCorasick,
    /// Matchers of each keyword in order of priority, by pattern index of the automaton.
    pub(super) routes: Vec<Vec<Route>>,
}

/// The shared index, built on first use.
pub(super) fn keywords() -> Option<&'static Keywords> {
    static KEYWORDS: OnceLock<Option<Keywords>> = OnceLock::new();
    KEYWORDS.get_or_init(build).as_ref()
}

fn build() -> Option<Keywords> {
    let mut words: BTreeMap<String, Vec<Route>> = BTreeMap::new();
    let mut put = |word: String, route| words.entry(word).or_default().push(route);
    for (index, row) in ROWS.iter().enumerate() {
        for prefix in row.prefixes {
            // `SK` alone would hit in too many words, so a hex digit is part of the keyword.
            let digits = if *prefix == "SK" { "0123456789abcdef" } else { "" };
            digits
                .chars()
                .for_each(|digit| put(format!("{prefix}{digit}"), Route::Row(index, prefix)));
            if digits.is_empty() {
                put((*prefix).into(), Route::Row(index, prefix));
            }
        }
    }
    for (word, route) in ODD {
        put((*word).into(), *route);
    }
    // A Discord token starts with the account number in base64: all possible first characters.
    for first in ["MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"] {
        "AEIMQUYcgk".chars().for_each(|third| put(format!("{first}{third}"), Route::Discord));
    }
    for stem in STEMS {
        put((*stem).into(), Route::Name);
        put(stem.to_uppercase(), Route::Name);
        put(capital(stem), Route::Name);
    }
    for key in KEYS {
        let (upper, first) = (key.to_uppercase(), capital(key));
        for mark in ["", "_", "-"] {
            put(format!("{key}{mark}key"), Route::Name);
            put(format!("{upper}{mark}KEY"), Route::Name);
            put(format!("{first}{mark}Key"), Route::Name);
            put(format!("{key}{mark}Key"), Route::Name);
            put(format!("{upper}{mark}Key"), Route::Name);
        }
    }
    // The automaton reports the longest keyword only, so it also gets the matchers of its prefixes.
    let mut all = words.clone();
    for (word, routes) in &mut all {
        for end in (1..word.len()).rev() {
            routes.extend(
                word.get(..end).and_then(|shorter| words.get(shorter)).into_iter().flatten(),
            );
        }
        routes.sort();
    }
    let mut automaton = AhoCorasick::builder();
    let automaton =
        automaton.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::DFA));
    let automaton = automaton.build(all.keys()).ok()?;
    Some(Keywords { automaton, routes: all.into_values().collect() })
}

pub(super) fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
