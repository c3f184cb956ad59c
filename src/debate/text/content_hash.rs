//! Content hashes: SHA-256 over a list of texts, as a hex string.
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns the SHA-256 hash of these texts, in order, as 64 hex digits. Each text is prefixed with
/// its length, so that different lists never serialize to the same input.
pub fn content_hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    to_hex(&hash.finalize())
}

/// Encodes bytes as lowercase hex.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
