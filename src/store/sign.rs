//! How a log is known to be this user's own: by a key that never leaves their home.
use crate::debate::hashed::hex;
use crate::private;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// This user's key.
pub(super) struct Key(Vec<u8>);

impl Key {
    /// Reads the key, or makes one.
    pub(super) fn of(home: &Path) -> io::Result<Key> {
        private::key(home).map(Key)
    }

    /// The signature of a log, whatever the order and spacing it was written in.
    pub(super) fn sign(&self, log: &Value) -> String {
        hex(&self.mac(log).finalize().into_bytes())
    }

    /// Whether a signature is this user's, compared in constant time.
    pub(super) fn signed(&self, log: &Value, signature: &str) -> bool {
        let bytes: Option<Vec<u8>> = (0..signature.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(signature.get(at..at + 2)?, 16).ok())
            .collect();
        bytes.is_some_and(|bytes| self.mac(log).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, log: &Value) -> Hmac<Sha256> {
        let mut text = String::new();
        canonical(log, &mut text);
        // A key of any length is taken, so there is nothing to fail.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&[0; 64].into()));
        mac.update(text.as_bytes());
        mac
    }
}

/// One text for one value: names sorted, nothing between.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
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
                canonical(item, text);
                text.push(',');
            }
            text.push('}');
        }
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}
