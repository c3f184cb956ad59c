//! Heuristics that tell a secret from other values in the same position: words, identifiers, types,
//! calls, templates and example values.
use super::secret_names::NameClass;
use aho_corasick::AhoCorasick;
use std::sync::OnceLock;

/// Template and variable syntax: the real value is filled in later.
const TEMPLATE_MARKERS: &[&str] = &[
    "${",
    "{{",
    "}}",
    "$(",
    "#{",
    "<%",
    "%(",
    "{0}",
    "{}",
    "%s",
    "%v",
    "%d",
    "***",
    "...",
    "\u{2026}",
    "[REDACTED",
    "\u{2022}\u{2022}",
    "$env:",
    "process.env",
    "os.environ",
    "ENV[",
    "%{",
    "@{",
];

/// Words in example values, in any case.
const EXAMPLE_WORDS: &[&str] = &[
    "xxxx",
    "redacted",
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "change.me",
    "change-this",
    "changethis",
    "replace",
    "your-",
    "your_",
    "yourkey",
    "yourtoken",
    "yourpass",
    "your.",
    "<your",
    "dummy",
    "insert-",
    "insert_",
    "not-a-",
    "not_a_",
    "todo",
    "fixme",
];

/// Minimum length of a secret in bytes.
const MIN_SECRET_BYTES: usize = 6;
/// Minimum length in bytes of a password that is a number.
const MIN_NUMBER_BYTES: usize = 8;
/// Minimum length in bytes of a token in quotes or in an environment file.
const MIN_TOKEN_BYTES: usize = 8;
/// Minimum length in bytes of a token without quotes.
const MIN_UNQUOTED_TOKEN_BYTES: usize = 12;
/// Minimum length in bytes of a value that is a secret in any context, if it looks random.
const MIN_STRONG_TOKEN_BYTES: usize = 16;
/// Minimum length in bytes of a hexadecimal number with `0x` that may be a key.
const MIN_HEX_KEY_BYTES: usize = 34;
/// Minimum length in bytes of base64 that is distinguished from a path.
const MIN_BASE64_BYTES: usize = 40;
/// Maximum number of distinct bytes in an example value such as `aaaa1111`.
const MAX_EXAMPLE_DISTINCT_BYTES: usize = 3;
/// Maximum number of digits after a word.
const MAX_WORD_DIGITS: usize = 3;
/// Maximum number of digits in a number that counts as a word.
const MAX_NUMBER_DIGITS: usize = 4;

struct ValueAutomata {
    templates: AhoCorasick,
    examples: AhoCorasick,
}

fn automata() -> Option<&'static ValueAutomata> {
    static AUTOMATA: OnceLock<Option<ValueAutomata>> = OnceLock::new();
    let build = || {
        let templates = AhoCorasick::new(TEMPLATE_MARKERS).ok()?;
        let examples =
            AhoCorasick::builder().ascii_case_insensitive(true).build(EXAMPLE_WORDS).ok()?;
        Some(ValueAutomata { templates, examples })
    };
    AUTOMATA.get_or_init(build).as_ref()
}

/// Syntactic context of a value. The less certain an assignment is, the stricter the heuristics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// Assigned, in quotes.
    Quoted,
    /// After `NAME=`, as in environment files.
    Env,
    /// Assigned, without quotes, up to the next whitespace.
    Unquoted,
    /// In quotes, where an assignment is uncertain: an argument of a call or an item of a list.
    QuotedArgument,
}

/// Whether a value is a secret, given its context and the class of its name.
pub(super) fn is_secret_value(value: &[u8], context: ValueContext, class: NameClass) -> bool {
    if value.len() < MIN_SECRET_BYTES
        || is_template(value)
        || is_example_value(value)
        || is_reference(value)
    {
        return false;
    }
    let has_bracket =
        value.iter().any(|byte| b"()[]{}<>\\`".contains(byte)) || contains(value, b"::");
    let has_space = value.iter().any(u8::is_ascii_whitespace);
    if has_space || has_only_words(value) {
        return has_irregular_case(value) && !has_space && !has_bracket;
    }
    let (has_digit, has_letter) =
        (value.iter().any(u8::is_ascii_digit), value.iter().any(u8::is_ascii_alphabetic));
    match (class, context) {
        (NameClass::Ambiguous, _) | (NameClass::Token, ValueContext::QuotedArgument) => {
            is_strong_token(value) && !has_bracket
        }
        (NameClass::Password, ValueContext::QuotedArgument) => {
            has_letter
                && has_digit
                && !has_bracket
                && !value.contains(&b'/')
                && !is_multi_word_name(value)
                && !mentions_secret_word(value)
        }
        (NameClass::Password, ValueContext::Quoted | ValueContext::Env) => {
            let is_long_number =
                !has_letter && value.len() >= MIN_NUMBER_BYTES && context == ValueContext::Env;
            (has_letter && (has_digit || has_symbols(value)) || is_long_number)
                && !is_multi_word_name(value)
                && !mentions_secret_word(value)
        }
        (NameClass::Password, ValueContext::Unquoted) => {
            let has_symbol = value.iter().any(|byte| b"!@#$%^&*+~?".contains(byte));
            has_letter && has_digit && !has_bracket && (has_symbol || !is_wordlike(value))
        }
        (NameClass::Token, ValueContext::Quoted | ValueContext::Env) => {
            value.len() >= MIN_TOKEN_BYTES
                && has_letter
                && has_digit
                && !is_wordlike(value)
                && !value.contains(&b'(')
        }
        (NameClass::Token, ValueContext::Unquoted) => {
            value.len() >= MIN_UNQUOTED_TOKEN_BYTES && has_digit && !has_bracket && is_random(value)
        }
    }
}

/// Whether a word looks like a password chosen by a person: only letters and digits, and no type
/// or algorithm such as `sha256`.
pub(super) fn is_chosen_password(value: &[u8]) -> bool {
    const TYPES: &[&str] = &[
        "aes", "argon", "base", "bcrypt", "bytes", "char", "float", "int", "ipv", "md", "pbkdf",
        "scrypt", "sha", "str", "string", "text", "uint", "utf", "uuid", "varchar",
    ];
    let is_alphanumeric = value.iter().all(u8::is_ascii_alphanumeric);
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    let lower = trim_digits(value).to_ascii_lowercase();
    let is_type = TYPES.iter().any(|name| name.as_bytes() == lower) || lower.len() < 2;
    value.len() >= MIN_SECRET_BYTES
        && is_alphanumeric
        && has_digit
        && has_letter
        && !is_type
        && !is_example_value(value)
        && !mentions_secret_word(value)
}

/// Whether a value is a template or a variable reference.
pub(super) fn is_template(value: &[u8]) -> bool {
    let is_variable = value.first() == Some(&b'$')
        && value.len() > 1
        && value[1..].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && !value[1].is_ascii_digit();
    let is_enclosed = |open, close| value.first() == Some(&open) && value.last() == Some(&close);
    is_variable
        || is_enclosed(b'<', b'>')
        || is_enclosed(b'{', b'}')
        || is_enclosed(b'%', b'%')
        || is_enclosed(b'[', b']')
        || automata().is_some_and(|automata| automata.templates.is_match(value))
}

/// Whether a value is an example or a default: `changeme`, `admin`, few distinct characters.
pub(super) fn is_example_value(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut seen = [false; 256];
    for byte in &lower {
        seen[usize::from(*byte)] = true;
    }
    if seen.iter().filter(|seen| **seen).count() <= MAX_EXAMPLE_DISTINCT_BYTES
        || b"1234567890".starts_with(&lower)
    {
        return true;
    }
    if automata().is_some_and(|automata| automata.examples.is_match(value)) {
        return true;
    }
    let defaults: &[&[u8]] = &[
        b"password",
        b"passwd",
        b"pass",
        b"pwd",
        b"pw",
        b"secret",
        b"token",
        b"true",
        b"false",
        b"null",
        b"none",
        b"nil",
        b"undefined",
        b"user",
        b"admin",
        b"root",
        b"guest",
        b"postgres",
        b"mysql",
    ];
    if defaults.contains(&lower.as_slice()) {
        return true;
    }
    let example_parts: &[&[u8]] = &[
        b"test", b"tests", b"testing", b"mock", b"fake", b"foo", b"bar", b"baz", b"sample",
        b"demo", b"my", b"some", b"invalid", b"wrong", b"bad",
    ];
    let parts = || lower.split(|byte| !byte.is_ascii_alphanumeric());
    parts().any(|part| example_parts.contains(&trim_digits(part))) && is_name(&lower)
}

/// Whether a value refers to something else: a file, a URL, an email address, an entry of a secret
/// store, a public key or a hash.
fn is_reference(value: &[u8]) -> bool {
    let has_prefix = |prefix: &str| value.starts_with(prefix.as_bytes());
    let prefixes = [
        "/",
        "./",
        "../",
        "~/",
        "http://",
        "https://",
        "file:",
        "vault:",
        "op://",
        "arn:",
        "ref+",
        "env:",
        "sha256:",
        "sha256-",
        "sha384-",
        "sha512-",
        "data:",
        "urn:",
        "projects/",
        "s3://",
        "gs://",
        "@",
        "age1",
        "ssh-",
        "ecdsa-",
        "&",
        "*",
        "!",
        "--",
        "0x",
        "\\",
    ];
    let is_drive_path = value.get(1..3) == Some(b":\\") || value.get(1..3) == Some(b":/");
    let is_email = value.iter().position(|byte| *byte == b'@').is_some_and(|at_sign| {
        value[at_sign..].contains(&b'.')
            && value.iter().all(|b| b.is_ascii_alphanumeric() || b"@._+-".contains(b))
            && at_sign > 0
            && value[at_sign..].iter().filter(|b| b.is_ascii_digit()).count() == 0
    });
    let is_long_number = has_prefix("0x") && value.len() >= MIN_HEX_KEY_BYTES;
    // A base64 value can start like a path.
    let is_base64 = value.len() >= MIN_BASE64_BYTES
        && is_strong_token(value)
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
    prefixes.iter().any(|prefix| has_prefix(prefix)) && !is_long_number && !is_base64
        || is_drive_path
        || is_email
        || contains(value, b"://")
}

/// Whether a value looks random and is long enough to be a secret in any context.
pub(super) fn is_strong_token(value: &[u8]) -> bool {
    value.len() >= MIN_STRONG_TOKEN_BYTES && is_random(value)
}

/// Whether a value looks random: letters and digits that form no words.
pub(super) fn is_random(value: &[u8]) -> bool {
    let (has_digit, has_letter) =
        (value.iter().any(u8::is_ascii_digit), value.iter().any(u8::is_ascii_alphabetic));
    has_digit && has_letter && !is_wordlike(value) || has_irregular_case(value)
}

/// Whether a value has only letters, joined by any separators.
pub(super) fn has_only_words(value: &[u8]) -> bool {
    let has_digit = value.iter().any(u8::is_ascii_digit);
    !has_digit
        && value.iter().all(|byte| {
            byte.is_ascii_alphabetic() || b" -_./:,;+=&|?()'".contains(byte) || *byte >= 128
        })
}

/// Whether a value is an identifier of several words, each with an optional short number.
fn is_multi_word_name(value: &[u8]) -> bool {
    let is_identifier =
        value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_./: ".contains(byte));
    is_identifier && segments(value).count() > 1 && segments(value).all(is_numbered_word)
}

fn is_name(value: &[u8]) -> bool {
    segments(value).all(is_numbered_word)
}

/// Whether a segment is a word with at most three trailing digits, or a number of up to four.
fn is_numbered_word(segment: &[u8]) -> bool {
    let word = trim_digits(segment);
    let digits = segment.len() - word.len();
    word.iter().all(u8::is_ascii_alphabetic)
        && (digits <= MAX_WORD_DIGITS || word.is_empty() && digits <= MAX_NUMBER_DIGITS)
}

/// Whether a value is an identifier that names a secret, such as `new_password2`.
fn mentions_secret_word(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has_secret_word = ["password", "passwd", "token", "secret"]
        .iter()
        .any(|word| contains(&lower, word.as_bytes()));
    let is_compound = value.iter().any(|byte| b"-_./:".contains(byte))
        || value.iter().any(u8::is_ascii_uppercase);
    has_secret_word
        && is_compound
        && is_wordlike(value)
        && !value.iter().any(|byte| b"!@#$%^&*+~?".contains(byte))
}

/// Whether a value consists of words as in identifiers, each with at most one short number.
pub(super) fn is_wordlike(value: &[u8]) -> bool {
    !has_irregular_case(value)
        && segments(value).all(|segment| {
            let digits = segment.iter().filter(|byte| byte.is_ascii_digit()).count();
            let groups =
                segment.split(|byte| !byte.is_ascii_digit()).filter(|group| !group.is_empty());
            let is_number = segment.len() == digits && digits <= MAX_NUMBER_DIGITS;
            let is_known =
                matches!(segment, b"ed25519" | b"x25519" | b"secp256k1" | b"Ed25519" | b"X25519");
            is_number || is_known || digits <= MAX_WORD_DIGITS && groups.count() <= 1
        })
}

/// Whether capitals are irregular, as in base64: of five or more camel-case parts, at least 60 %
/// are no words.
fn has_irregular_case(value: &[u8]) -> bool {
    let (mut parts, mut irregular) = (0, 0);
    for segment in value.split(|byte| !byte.is_ascii_alphabetic()) {
        let has_upper = segment.iter().any(u8::is_ascii_uppercase);
        if !has_upper || !segment.iter().any(u8::is_ascii_lowercase) {
            continue;
        }
        let is_inside_part =
            |pair: &[u8]| !(pair[1].is_ascii_uppercase() && pair[0].is_ascii_lowercase());
        let mut start = 0;
        let ends = (1..=segment.len())
            .filter(|at| *at == segment.len() || !is_inside_part(&segment[at - 1..=*at]));
        for end in ends {
            let part = &segment[start..end];
            let has_vowel = part.iter().any(|byte| b"aeiouAEIOU".contains(byte));
            let capitals = part.iter().filter(|byte| byte.is_ascii_uppercase()).count();
            parts += 1;
            irregular +=
                usize::from(part.len() <= 2 || !has_vowel || capitals > 1 && capitals < part.len());
            start = end;
        }
    }
    parts >= 5 && irregular * 5 >= parts * 3
}

fn segments(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|segment| !segment.is_empty())
}

/// Without trailing digits.
fn trim_digits(word: &[u8]) -> &[u8] {
    let end = word.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    &word[..end]
}

/// Whether a value has special characters that identifiers and sentences lack.
fn has_symbols(value: &[u8]) -> bool {
    value.iter().any(|byte| b"!@#$%^&*+~?=|".contains(byte))
        && !value.iter().any(|byte| b"(){}[]<> ".contains(byte))
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::NameClass::{Ambiguous, Password, Token};
    use super::ValueContext::{Env, Quoted, Unquoted};
    use super::*;

    #[test]
    fn secret_has_a_minimum_length_for_its_context() {
        assert_eq!([MIN_SECRET_BYTES, MIN_NUMBER_BYTES, MIN_TOKEN_BYTES], [6, 8, 8]);
        assert_eq!([MIN_UNQUOTED_TOKEN_BYTES, MIN_STRONG_TOKEN_BYTES], [12, 16]);
        let (random, number) = ("a1b2c3d4a1b2c3d4", "90817263");
        for (value, min_len, context, class) in [
            (random, MIN_SECRET_BYTES, Env, Password),
            (number, MIN_NUMBER_BYTES, Env, Password),
            (random, MIN_TOKEN_BYTES, Quoted, Token),
            (random, MIN_UNQUOTED_TOKEN_BYTES, Unquoted, Token),
            (random, MIN_STRONG_TOKEN_BYTES, Quoted, Ambiguous),
        ] {
            for (length, expected) in [(min_len, true), (min_len - 1, false)] {
                let value = &value.as_bytes()[..length];
                let is_secret = is_secret_value(value, context, class);
                assert_eq!(is_secret, expected, "{class:?} of {length} bytes, {context:?}");
            }
        }
    }
}
