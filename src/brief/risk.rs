//! Scores hunks by how much they are worth reading: file kind, plus security, SQL, public API and
//! removed checks.
use super::kind::{self, Kind};
use super::outline;
use crate::repo::Hunk;

/// Words of lines about authorization, credentials and cryptography.
const GUARDED: &[&str] = &[
    "auth",
    "authn",
    "authz",
    "authorize",
    "authenticate",
    "permission",
    "permissions",
    "password",
    "passwd",
    "secret",
    "token",
    "hmac",
    "sanitize",
    "escape",
    "csrf",
    "cors",
    "cookie",
    "session",
    "sudo",
    "chmod",
    "acl",
    "role",
    "admin",
    "tls",
    "cert",
    "nonce",
    "verify",
    "signature",
];
const QUERIES: &[&str] =
    &["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "DROP ", "ALTER TABLE", "execute("];
const PUBLIC: &[&str] =
    &["pub ", "export ", "public ", "module.exports", "__all__", "extern \"C\""];

/// Score of a hunk. The packer divides it by the token count.
pub(super) fn value(path: &str, hunk: &Hunk) -> u64 {
    let base = match kind::kind(path) {
        Kind::Source => 50,
        Kind::Test => 30,
        Kind::Config => 25,
        Kind::Docs => 12,
        Kind::Generated => 3,
    };
    let changed = || hunk.lines.iter().filter(|line| line.marker() != ' ');
    let any = |holds: &dyn Fn(&str) -> bool| changed().any(|line| holds(&line.text));
    let removed =
        |holds: fn(&str) -> bool| changed().any(|line| line.marker() == '-' && holds(&line.text));
    let worth = [
        (20, any(&|line| PUBLIC.iter().any(|word| line.contains(word)))),
        (30, any(&|line| line.contains("unsafe") || line.contains("transmute"))),
        (30, any(&guarded)),
        (20, any(&|line| QUERIES.iter().any(|word| line.contains(word)))),
        (25, kind::built_by(path) || kind::manifest(path)),
        (30, removed(outline::is_guard)),
        (20, removed(outline::is_signature)),
    ];
    // Documents and generated files get no bonus for key words.
    let added: u64 = worth.iter().filter(|(_, holds)| *holds).map(|(more, _)| more).sum();
    if base <= 12 { base } else { base + added }
}

fn guarded(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphabetic());
    words.filter(|word| word.len() >= 3).any(|word| {
        let lower = word.to_ascii_lowercase();
        GUARDED.contains(&lower.as_str())
            || lower.contains("crypt")
            || lower.contains("auth") && !lower.starts_with("author")
    })
}
