//! What somebody shows who runs an arena, or may watch it: made from the user's own key, so that it is
//! the same after a restart and is kept nowhere.
use crate::private;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The host's, and a viewer's.
pub(super) fn of(home: &Path) -> io::Result<(String, String)> {
    let key = private::key(home)?;
    let made = |purpose: &str| -> io::Result<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(io::Error::other)?;
        mac.update(b"debate web token 1: ");
        mac.update(purpose.as_bytes());
        Ok(mac.finalize().into_bytes().iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    };
    Ok((made("host")?, made("viewer")?))
}
