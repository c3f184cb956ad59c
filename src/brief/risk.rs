//! Scores hunks by how much they are worth reading: file kind, plus security, SQL, public API and
//! removed checks.
use super::file_kind::{self, FileKind};
use super::outline;
use crate::repo::Hunk;

/// Words of lines about authorization, credentials and cryptography.
const SECURITY_WORDS: &[&str] = &[
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
const SQL_WORDS: &[&str] =
    &["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "DROP ", "ALTER TABLE", "execute("];
const PUBLIC_API_WORDS: &[&str] =
    &["pub ", "export ", "public ", "module.exports", "__all__", "extern \"C\""];

/// Score of a hunk. The packer divides it by the token count.
pub(super) fn hunk_value(path: &str, hunk: &Hunk) -> u64 {
    let base = match file_kind::classify(path) {
        FileKind::Source => 50,
        FileKind::Test => 30,
        FileKind::Config => 25,
        FileKind::Docs => 12,
        FileKind::Generated => 3,
    };
    let changed = || hunk.lines.iter().filter(|line| line.marker() != ' ');
    let any = |applies: &dyn Fn(&str) -> bool| changed().any(|line| applies(&line.text));
    let removed = |applies: fn(&str) -> bool| {
        changed().any(|line| line.marker() == '-' && applies(&line.text))
    };
    let bonuses = [
        (20, any(&|line| PUBLIC_API_WORDS.iter().any(|word| line.contains(word)))),
        (30, any(&|line| line.contains("unsafe") || line.contains("transmute"))),
        (30, any(&is_security_line)),
        (20, any(&|line| SQL_WORDS.iter().any(|word| line.contains(word)))),
        (25, file_kind::is_build_file(path) || file_kind::is_manifest(path)),
        (30, removed(outline::is_guard)),
        (20, removed(outline::is_signature)),
    ];
    // Documents and generated files get no bonus for key words.
    let bonus_sum: u64 =
        bonuses.iter().filter(|(_, applies)| *applies).map(|(bonus, _)| bonus).sum();
    if base <= 12 { base } else { base + bonus_sum }
}

fn is_security_line(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphabetic());
    words.filter(|word| word.len() >= 3).any(|word| {
        let lower = word.to_ascii_lowercase();
        SECURITY_WORDS.contains(&lower.as_str())
            || lower.contains("crypt")
            || lower.contains("auth") && !lower.starts_with("author")
    })
}
