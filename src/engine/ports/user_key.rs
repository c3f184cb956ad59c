//! The port to the user's secret key.
use super::archive_error::ArchiveError;

/// The user's secret key, which stays on this machine.
pub trait UserKey: Send + Sync {
    /// Derives a secret token for this purpose from the key (HMAC). The same purpose always gives
    /// the same token. Used for login and CSRF tokens.
    fn derive_token(&self, purpose: &str) -> Result<String, ArchiveError>;
}
