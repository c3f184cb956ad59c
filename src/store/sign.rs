//! Signatures of event logs: HMAC-SHA-256 over canonical JSON, with a key that stays in the user's
//! data directory. [`KeyFile`] implements the engine's `UserKey` port.
use crate::debate::content_hash::to_hex;
use crate::engine::{ArchiveError, UserKey};
use crate::secure_fs;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// Length of a derived token in hex digits (160 bits).
const TOKEN_HEX_DIGITS: usize = 40;

/// The file with the user's key, which is read when it is needed.
#[derive(Clone)]
pub(super) struct KeyFile {
    home: PathBuf,
}

impl KeyFile {
    /// The key in this data directory.
    pub(super) fn new(home: PathBuf) -> KeyFile {
        KeyFile { home }
    }

    /// Reads the key, or creates it.
    pub(super) fn load(&self) -> Result<SigningKey, ArchiveError> {
        SigningKey::load_or_create(&self.home)
            .map_err(|error| ArchiveError::Storage(format!("`{}`: {error}", self.home.display())))
    }
}

impl UserKey for KeyFile {
    fn derive_token(&self, purpose: &str) -> Result<String, ArchiveError> {
        // Domain separation: signed logs are JSON objects, never strings.
        let signature = self.load()?.sign(&format!("password: {purpose}").into());
        Ok(signature[..TOKEN_HEX_DIGITS].to_owned())
    }
}

/// The user's secret key.
pub(super) struct SigningKey(Vec<u8>);

impl SigningKey {
    /// Reads the key, or creates it.
    pub(super) fn load_or_create(home: &Path) -> io::Result<SigningKey> {
        secure_fs::load_or_create_key(home).map(SigningKey)
    }

    /// Signs a log. The signature does not depend on field order or whitespace.
    pub(super) fn sign(&self, log: &Value) -> String {
        to_hex(&self.mac(log).finalize().into_bytes())
    }

    /// Verifies a hex signature in constant time.
    pub(super) fn verify(&self, log: &Value, signature: &str) -> bool {
        let bytes: Option<Vec<u8>> = (0..signature.len())
            .step_by(2)
            .map(|index| u8::from_str_radix(signature.get(index..index + 2)?, 16).ok())
            .collect();
        bytes.is_some_and(|bytes| self.mac(log).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, log: &Value) -> Hmac<Sha256> {
        let mut text = String::new();
        write_canonical(log, &mut text);
        // HMAC accepts keys of any length, so this cannot fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&[0; 64].into()));
        mac.update(text.as_bytes());
        mac
    }
}

/// Writes canonical JSON: sorted keys, no whitespace, a comma after each item.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (name, item) in fields {
                let _ = write!(text, "{}:", Value::from(name.as_str()));
                write_canonical(item, text);
                text.push(',');
            }
            text.push('}');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}
