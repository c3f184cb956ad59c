//! Names for texts: the same for the same ones, and unlike those of all others.
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The name of these texts in this order, in 64 hexadecimal digits. Each counts with its length, so
/// that no two lists run into one.
pub fn hashed(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Bytes as people read them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
