//! What a bot proves with that it is who it says it is: 128 bits of chance, of which only a
//! fingerprint is kept.
use sha2::{Digest, Sha256};
use std::fmt::Write;
use subtle::ConstantTimeEq;

/// A key nobody can guess, or why there is no chance to be had.
pub(super) fn new() -> Result<String, String> {
    Ok(format!("key-{}", chance(16)?))
}

/// A room's name: short enough to be typed, and free of what could be taken for something else.
pub(super) fn room() -> Result<String, String> {
    chance(5)
}

/// Heads or tails.
pub(super) fn coin() -> Result<bool, String> {
    let mut byte = [0];
    getrandom::fill(&mut byte).map_err(|error| error.to_string())?;
    Ok(byte[0] & 1 == 1)
}

/// What is kept of a key. It is chance already, so nothing has to be added to it.
pub(super) fn fingerprint(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes()))
}

/// Whether a key is the one a fingerprint was taken of, in the same time whether it is or not.
pub(super) fn fits(key: &str, kept: &str) -> bool {
    fingerprint(key).as_bytes().ct_eq(kept.as_bytes()).into()
}

fn chance(bytes: usize) -> Result<String, String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(hex(&random))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
