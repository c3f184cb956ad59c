//! Whether a value looks like a secret, or like one of the many things that stand where a secret
//! could: words, names, types, calls, templates, and what examples have instead of one.
use super::names::Class;
use aho_corasick::AhoCorasick;
use std::sync::OnceLock;

/// What marks a place that is filled in later.
const FILLED_IN: &[&str] = &[
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

/// What examples say instead of a secret, in any case.
const STAND_INS: &[&str] = &[
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

struct Automata {
    filled_in: AhoCorasick,
    stand_ins: AhoCorasick,
}

fn automata() -> Option<&'static Automata> {
    static AUTOMATA: OnceLock<Option<Automata>> = OnceLock::new();
    let build = || {
        let filled_in = AhoCorasick::new(FILLED_IN).ok()?;
        let stand_ins =
            AhoCorasick::builder().ascii_case_insensitive(true).build(STAND_INS).ok()?;
        Some(Automata { filled_in, stand_ins })
    };
    AUTOMATA.get_or_init(build).as_ref()
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Between quotes.
    Quoted,
    /// After `NAME=`, as environments are written.
    Env,
    /// Up to the next space.
    Bare,
    /// Between quotes, after something that only may assign.
    Loose,
}

/// Whether a value is a real one.
pub(super) fn real(value: &[u8], shape: Shape, class: Class) -> bool {
    if value.len() < 6 || template(value) || placeholder(value) || elsewhere(value) {
        return false;
    }
    let bracket = value.iter().any(|byte| b"()[]{}<>\\`".contains(byte)) || has(value, b"::");
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    if spaced || words(value) {
        return irregular(value) && !spaced && !bracket;
    }
    let (digit, letter) =
        (value.iter().any(u8::is_ascii_digit), value.iter().any(u8::is_ascii_alphabetic));
    match (class, shape) {
        (Class::Vague, _) | (Class::Token, Shape::Loose) => strong(value) && !bracket,
        (Class::Password, Shape::Loose) => {
            letter && digit && !bracket && !value.contains(&b'/') && !named(value) && !cites(value)
        }
        (Class::Password, Shape::Quoted | Shape::Env) => {
            let long_number = !letter && value.len() >= 8 && shape == Shape::Env;
            (letter && (digit || symbols(value)) || long_number) && !named(value) && !cites(value)
        }
        (Class::Password, Shape::Bare) => {
            let odd = value.iter().any(|byte| b"!@#$%^&*+~?".contains(byte));
            letter && digit && !bracket && (odd || !wordy(value))
        }
        (Class::Token, Shape::Quoted | Shape::Env) => {
            value.len() >= 8 && letter && digit && !wordy(value) && !value.contains(&b'(')
        }
        (Class::Token, Shape::Bare) => value.len() >= 12 && digit && !bracket && random(value),
    }
}

/// Whether a word looks like something a person has thought of as a password, and not like a type or
/// a name: letters and digits in one piece.
pub(super) fn chosen(value: &[u8]) -> bool {
    const TYPES: &[&str] = &[
        "aes", "argon", "base", "bcrypt", "bytes", "char", "float", "int", "ipv", "md", "pbkdf",
        "scrypt", "sha", "str", "string", "text", "uint", "utf", "uuid", "varchar",
    ];
    let piece = value.iter().all(u8::is_ascii_alphanumeric);
    let digit = value.iter().any(u8::is_ascii_digit);
    let letter = value.iter().any(u8::is_ascii_alphabetic);
    let lower = trimmed(value).to_ascii_lowercase();
    let typed = TYPES.iter().any(|name| name.as_bytes() == lower) || lower.len() < 2;
    value.len() >= 6 && piece && digit && letter && !typed && !placeholder(value) && !cites(value)
}

/// Whether something is filled in here later.
pub(super) fn template(value: &[u8]) -> bool {
    let variable = value.first() == Some(&b'$')
        && value.len() > 1
        && value[1..].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && !value[1].is_ascii_digit();
    let pair = |open, close| value.first() == Some(&open) && value.last() == Some(&close);
    variable
        || pair(b'<', b'>')
        || pair(b'{', b'}')
        || pair(b'%', b'%')
        || pair(b'[', b']')
        || automata().is_some_and(|automata| automata.filled_in.is_match(value))
}

/// What examples have instead of a secret.
pub(super) fn placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let mut seen = [false; 256];
    for byte in &lower {
        seen[usize::from(*byte)] = true;
    }
    if seen.iter().filter(|seen| **seen).count() <= 3 || b"1234567890".starts_with(&lower) {
        return true;
    }
    if automata().is_some_and(|automata| automata.stand_ins.is_match(value)) {
        return true;
    }
    let whole: &[&[u8]] = &[
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
    if whole.contains(&lower.as_slice()) {
        return true;
    }
    let stand_in: &[&[u8]] = &[
        b"test", b"tests", b"testing", b"mock", b"fake", b"foo", b"bar", b"baz", b"sample",
        b"demo", b"my", b"some", b"invalid", b"wrong", b"bad",
    ];
    let parts = || lower.split(|byte| !byte.is_ascii_alphanumeric());
    parts().any(|part| stand_in.contains(&trimmed(part))) && named_or_one(&lower)
}

/// Files, addresses, mail, and references to where the secret is kept.
fn elsewhere(value: &[u8]) -> bool {
    let starts = |with: &str| value.starts_with(with.as_bytes());
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
    let drive = value.get(1..3) == Some(b":\\") || value.get(1..3) == Some(b":/");
    let mail = value.iter().position(|byte| *byte == b'@').is_some_and(|at| {
        value[at..].contains(&b'.')
            && value.iter().all(|b| b.is_ascii_alphanumeric() || b"@._+-".contains(b))
            && at > 0
            && value[at..].iter().filter(|b| b.is_ascii_digit()).count() == 0
    });
    let long_number = starts("0x") && value.len() >= 34;
    // What looks like a path may be base 64.
    let base64 = value.len() >= 40
        && strong(value)
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
    prefixes.iter().any(|with| starts(with)) && !long_number && !base64
        || drive
        || mail
        || has(value, b"://")
}

/// Digits and letters that are no words, enough of them.
pub(super) fn strong(value: &[u8]) -> bool {
    value.len() >= 16 && random(value)
}

/// Digits and letters that are no words.
pub(super) fn random(value: &[u8]) -> bool {
    let (digit, letter) =
        (value.iter().any(u8::is_ascii_digit), value.iter().any(u8::is_ascii_alphabetic));
    digit && letter && !wordy(value) || irregular(value)
}

/// Letters alone, in whatever spelling and however joined.
pub(super) fn words(value: &[u8]) -> bool {
    let digit = value.iter().any(u8::is_ascii_digit);
    !digit
        && value.iter().all(|byte| {
            byte.is_ascii_alphabetic() || b" -_./:,;+=&|?()'".contains(byte) || *byte >= 128
        })
}

/// Words joined by the marks names are joined by, each perhaps with a number at its end.
fn named(value: &[u8]) -> bool {
    let joined = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_./: ".contains(byte));
    joined && segments(value).count() > 1 && segments(value).all(numbered)
}

fn named_or_one(value: &[u8]) -> bool {
    segments(value).all(numbered)
}

/// Letters with at most three digits at their end, or a number.
fn numbered(segment: &[u8]) -> bool {
    let word = trimmed(segment);
    let digits = segment.len() - word.len();
    word.iter().all(u8::is_ascii_alphabetic) && (digits <= 3 || word.is_empty() && digits <= 4)
}

/// A name that repeats what it names: `new_password2`.
fn cites(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let named =
        ["password", "passwd", "token", "secret"].iter().any(|word| has(&lower, word.as_bytes()));
    let joined = value.iter().any(|byte| b"-_./:".contains(byte))
        || value.iter().any(u8::is_ascii_uppercase);
    named && joined && wordy(value) && !value.iter().any(|byte| b"!@#$%^&*+~?".contains(byte))
}

/// Words as names in code have them, each with no more than one short number in it.
pub(super) fn wordy(value: &[u8]) -> bool {
    !irregular(value)
        && segments(value).all(|segment| {
            let digits = segment.iter().filter(|byte| byte.is_ascii_digit()).count();
            let groups =
                segment.split(|byte| !byte.is_ascii_digit()).filter(|group| !group.is_empty());
            let number = segment.len() == digits && digits <= 4;
            let known =
                matches!(segment, b"ed25519" | b"x25519" | b"secp256k1" | b"Ed25519" | b"X25519");
            number || known || digits <= 3 && groups.count() <= 1
        })
}

/// Capitals where no spelling has them: humps that are no words.
fn irregular(value: &[u8]) -> bool {
    let (mut humps, mut odd) = (0, 0);
    for segment in value.split(|byte| !byte.is_ascii_alphabetic()) {
        let upper = segment.iter().any(u8::is_ascii_uppercase);
        if !upper || !segment.iter().any(u8::is_ascii_lowercase) {
            continue;
        }
        let hump = |pair: &[u8]| !(pair[1].is_ascii_uppercase() && pair[0].is_ascii_lowercase());
        let mut start = 0;
        let ends =
            (1..=segment.len()).filter(|at| *at == segment.len() || !hump(&segment[at - 1..=*at]));
        for end in ends {
            let part = &segment[start..end];
            let vowel = part.iter().any(|byte| b"aeiouAEIOU".contains(byte));
            let capitals = part.iter().filter(|byte| byte.is_ascii_uppercase()).count();
            humps += 1;
            odd += usize::from(part.len() <= 2 || !vowel || capitals > 1 && capitals < part.len());
            start = end;
        }
    }
    humps >= 5 && odd * 5 >= humps * 3
}

fn segments(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|segment| !segment.is_empty())
}

/// Without the number at its end.
fn trimmed(word: &[u8]) -> &[u8] {
    let end = word.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    &word[..end]
}

/// Whether it has marks that names and sentences do not have.
fn symbols(value: &[u8]) -> bool {
    value.iter().any(|byte| b"!@#$%^&*+~?=|".contains(byte))
        && !value.iter().any(|byte| b"(){}[]<> ".contains(byte))
}

fn has(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}
