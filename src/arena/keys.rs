//! Keys that authenticate bots: 128 random bits from the system, of which only a SHA-256 hash is
//! stored. Also random room ids and the coin flip for sides.
use sha2::{Digest, Sha256};
use std::fmt::Write;
use subtle::ConstantTimeEq;

/// Random bytes of a bot's key.
const KEY_BYTES: usize = 16;
/// Random bytes of a room id.
const ROOM_ID_BYTES: usize = 5;

/// Generates a key. Fails if the system has no randomness.
pub(super) fn generate_key() -> Result<String, String> {
    Ok(format!("key-{}", random_hex(KEY_BYTES)?))
}

/// Generates a room id: 10 hex digits, short enough to type.
pub(super) fn generate_room_id() -> Result<String, String> {
    random_hex(ROOM_ID_BYTES)
}

/// Random choice of the supporting side.
pub(super) fn flip_coin() -> Result<bool, String> {
    let mut byte = [0];
    getrandom::fill(&mut byte).map_err(|error| error.to_string())?;
    Ok(byte[0] & 1 == 1)
}

/// Hashes a key for storage. A random key needs no salt.
pub(super) fn fingerprint(key: &str) -> String {
    to_hex(&Sha256::digest(key.as_bytes()))
}

/// Compares a key with a stored hash in constant time.
pub(super) fn verify_key(key: &str, stored_hash: &str) -> bool {
    fingerprint(key).as_bytes().ct_eq(stored_hash.as_bytes()).into()
}

fn random_hex(bytes: usize) -> Result<String, String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(to_hex(&random))
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
