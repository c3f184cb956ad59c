//! Authentication of the live page by tokens for two access levels. Tokens are derived from the
//! user's key by HMAC. The `/enter` URL exchanges a token for a cookie that is `HttpOnly` and
//! `SameSite=Strict`, so that scripts cannot read it and other sites cannot send it.
use crate::engine::{ArchiveError, UserKey};
use axum::http::{HeaderMap, HeaderValue, header};
use subtle::ConstantTimeEq;

/// Tokens, cookies and CSRF token of one server.
#[derive(Clone)]
pub struct AuthTokens {
    cookie_name: String,
    owner: AccessToken,
    reader: AccessToken,
    csrf_token: String,
    public_read: bool,
}

/// A token, and the cookie value that replaces it.
#[derive(Clone)]
struct AccessToken {
    token: String,
    cookie: String,
}

/// Access level of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessLevel {
    /// Not authenticated.
    None,
    /// May read.
    Read,
    /// May read and act.
    Act,
}

impl AuthTokens {
    /// Derives the tokens of a command (`view` or `serve`). If `public_read`, reading needs no
    /// token.
    pub fn new(
        key: &dyn UserKey,
        command: &str,
        public_read: bool,
    ) -> Result<AuthTokens, ArchiveError> {
        let derive = |access: &str| -> Result<AccessToken, ArchiveError> {
            let token = key.derive_token(&format!("{command}: {access}"))?;
            let cookie = key.derive_token(&format!("{command}: cookie of {token}"))?;
            Ok(AccessToken { token, cookie })
        };
        let (owner, reader) = (derive("act")?, derive("read")?);
        let csrf_token = key.derive_token(&format!("{command}: forms of {}", owner.cookie))?;
        Ok(AuthTokens {
            cookie_name: format!("debate_{command}"),
            owner,
            reader,
            csrf_token,
            public_read,
        })
    }

    /// Token that grants acting.
    pub fn owner_token(&self) -> &str {
        &self.owner.token
    }

    /// Token that grants reading.
    pub fn reader_token(&self) -> &str {
        &self.reader.token
    }

    /// Token that forms must contain.
    pub fn csrf_token(&self) -> &str {
        &self.csrf_token
    }

    /// Validates the CSRF token of a form.
    pub fn is_valid_csrf(&self, csrf: &str) -> bool {
        constant_time_eq(csrf, &self.csrf_token)
    }

    /// Access level that a token grants.
    pub fn level_of_token(&self, token: &str) -> AccessLevel {
        match token {
            token if constant_time_eq(token, &self.owner.token) => AccessLevel::Act,
            token if constant_time_eq(token, &self.reader.token) => AccessLevel::Read,
            _ => AccessLevel::None,
        }
    }

    /// Access level of a request, by its cookie or its `Authorization: Bearer` header.
    pub fn level_of_request(&self, headers: &HeaderMap) -> AccessLevel {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut own_cookies = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
            pair.trim()
                .split_once('=')
                .filter(|(name, _)| *name == self.cookie_name)
                .map(|(_, it)| it)
        });
        let level_of_cookie = |value: &str| match value {
            value if constant_time_eq(value, &self.owner.cookie) => Some(AccessLevel::Act),
            value if constant_time_eq(value, &self.reader.cookie) => Some(AccessLevel::Read),
            _ => None,
        };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        let bearer =
            bearer.and_then(|it| it.strip_prefix("Bearer ")).map(|it| self.level_of_token(it));
        let level = own_cookies.find_map(level_of_cookie).or(bearer).unwrap_or(AccessLevel::None);
        level.max(if self.public_read { AccessLevel::Read } else { AccessLevel::None })
    }

    /// Builds the `Set-Cookie` header for an access level. The cookie is `Secure` if a proxy in
    /// front of the server uses HTTPS.
    pub fn set_cookie_header(
        &self,
        level: AccessLevel,
        headers: &HeaderMap,
    ) -> Option<HeaderValue> {
        let value = match level {
            AccessLevel::Act => &self.owner.cookie,
            AccessLevel::Read => &self.reader.cookie,
            AccessLevel::None => return None,
        };
        let is_https = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
        let secure = if is_https { "; Secure" } else { "" };
        let name = &self.cookie_name;
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&cookie).ok()
    }
}

/// Compares in constant time.
fn constant_time_eq(a: &str, b: &str) -> bool {
    a.len() == b.len() && bool::from(a.as_bytes().ct_eq(b.as_bytes()))
}
