//! Whether a name promises a secret, by the words it is made of.
use super::keywords::KEYS;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Something a person may have thought of.
    Password,
    /// Something a program has drawn.
    Token,
    /// Perhaps a secret, perhaps how one is come by.
    Vague,
}

/// What may follow the word that promises it.
const AFTER: &[&str] = &[
    "admin",
    "backup",
    "base",
    "base64",
    "b64",
    "bytes",
    "current",
    "data",
    "default",
    "dev",
    "development",
    "encoded",
    "env",
    "hex",
    "here",
    "live",
    "local",
    "main",
    "new",
    "old",
    "plain",
    "plaintext",
    "primary",
    "prod",
    "production",
    "raw",
    "root",
    "secondary",
    "stage",
    "staging",
    "str",
    "string",
    "text",
    "val",
    "value",
    "v",
    "x",
];

/// What makes it something else.
const NOT: &[&str] = &[
    "bos",
    "cancel",
    "cancellation",
    "continuation",
    "eos",
    "lexer",
    "max",
    "min",
    "next",
    "num",
    "pad",
    "page",
    "pub",
    "public",
    "publishable",
    "special",
    "stop",
    "syntax",
    "sync",
];

/// What ends like a password but is a word of its own.
const WORDS: &[&str] = &["bypass", "compass", "encompass", "surpass", "trespass", "overpass"];

/// What a name promises, if it is a secret.
pub(super) fn class(name: &[u8]) -> Option<Class> {
    let words = split(name);
    if words.iter().any(|word| NOT.contains(&word.as_str())) {
        return None;
    }
    let last =
        words.iter().rposition(|word| !AFTER.contains(&word.as_str()) && !word.is_empty())?;
    let before = last.checked_sub(1).map(|before| words[before].as_str());
    of(&words[last], before)
}

fn of(word: &str, before: Option<&str>) -> Option<Class> {
    match word {
        "auth" | "authorization" | "cred" | "creds" | "credential" | "credentials" => {
            return Some(Class::Vague);
        }
        "key" if before.is_some_and(|before| before == "secret" || KEYS.contains(&before)) => {
            return Some(Class::Token);
        }
        "keys" | "key" => return None,
        _ => {}
    }
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    if ends(&["password", "passwd", "passphrase", "passcode", "secret", "pwd"]) {
        Some(Class::Password)
    } else if word.ends_with("pass") {
        (!WORDS.contains(&word)).then_some(Class::Password)
    } else if ends(&["token", "apikey", "accesskey", "secretkey", "privatekey", "signingkey"])
        || word.strip_suffix("key").is_some_and(|word| KEYS.contains(&word))
    {
        Some(Class::Token)
    } else {
        None
    }
}

/// The words of a name in any of the usual spellings, in small letters and without numbers.
fn split(name: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, byte) in name.iter().enumerate() {
        let next_small = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let last = at.checked_sub(1).and_then(|last| name.get(last)).copied().unwrap_or(b'_');
        let hump = byte.is_ascii_uppercase()
            && (last.is_ascii_lowercase()
                || last.is_ascii_digit()
                || last.is_ascii_uppercase() && next_small);
        if hump || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        let number = byte.is_ascii_digit() && !name.get(at + 1).is_some_and(u8::is_ascii_digit);
        if let Some(word) = words.last_mut()
            && byte.is_ascii_alphanumeric()
            && (!number || word.starts_with('b'))
            && !(byte.is_ascii_digit() && word.is_empty())
        {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    for word in &mut words {
        if !AFTER.contains(&word.as_str()) {
            word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
