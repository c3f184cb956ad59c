//! Authentication of the live page by tokens for two access levels. Tokens are derived from the
//! user's key by HMAC. The `/enter` URL exchanges a token for a cookie that is `HttpOnly` and
//! `SameSite=Strict`, so that scripts cannot read it and other sites cannot send it.
use crate::engine::{Archive, ArchiveError};
use axum::http::{HeaderMap, HeaderValue, header};
use subtle::ConstantTimeEq;

/// Tokens, cookies and CSRF token of one server.
#[derive(Clone)]
pub struct Entry {
    name: String,
    owner: Word,
    reader: Word,
    csrf: String,
    open: bool,
}

/// A token, and the cookie value that replaces it.
#[derive(Clone)]
struct Word {
    token: String,
    cookie: String,
}

/// Access level of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Not authenticated.
    None,
    /// May read.
    Read,
    /// May read and act.
    Act,
}

impl Entry {
    /// Derives the tokens of a command (`view` or `serve`). If `open`, reading needs no token.
    pub fn new(archive: &dyn Archive, door: &str, open: bool) -> Result<Entry, ArchiveError> {
        let word = |may: &str| -> Result<Word, ArchiveError> {
            let token = archive.derive_token(&format!("{door}: {may}"))?;
            let cookie = archive.derive_token(&format!("{door}: cookie of {token}"))?;
            Ok(Word { token, cookie })
        };
        let (owner, reader) = (word("act")?, word("read")?);
        let csrf = archive.derive_token(&format!("{door}: forms of {}", owner.cookie))?;
        Ok(Entry { name: format!("debate_{door}"), owner, reader, csrf, open })
    }

    /// Token that grants acting.
    pub fn owner(&self) -> &str {
        &self.owner.token
    }

    /// Token that grants reading.
    pub fn reader(&self) -> &str {
        &self.reader.token
    }

    /// Token that forms must contain.
    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Validates the CSRF token of a form.
    pub fn carried(&self, csrf: &str) -> bool {
        same(csrf, &self.csrf)
    }

    /// Access level that a token grants.
    pub fn of_token(&self, token: &str) -> Pass {
        match token {
            token if same(token, &self.owner.token) => Pass::Act,
            token if same(token, &self.reader.token) => Pass::Read,
            _ => Pass::None,
        }
    }

    /// Access level of a request, by its cookie or its `Authorization: Bearer` header.
    pub fn of(&self, headers: &HeaderMap) -> Pass {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut own = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
            pair.trim().split_once('=').filter(|(name, _)| *name == self.name).map(|(_, it)| it)
        });
        let known = |value: &str| match value {
            value if same(value, &self.owner.cookie) => Some(Pass::Act),
            value if same(value, &self.reader.cookie) => Some(Pass::Read),
            _ => None,
        };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        let bearer = bearer.and_then(|it| it.strip_prefix("Bearer ")).map(|it| self.of_token(it));
        let pass = own.find_map(known).or(bearer).unwrap_or(Pass::None);
        pass.max(if self.open { Pass::Read } else { Pass::None })
    }

    /// Builds the `Set-Cookie` header for an access level. The cookie is `Secure` if a proxy in
    /// front of the server uses HTTPS.
    pub fn cookie(&self, pass: Pass, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = match pass {
            Pass::Act => &self.owner.cookie,
            Pass::Read => &self.reader.cookie,
            Pass::None => return None,
        };
        let proxied = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
        let secure = if proxied { "; Secure" } else { "" };
        let name = &self.name;
        let line = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&line).ok()
    }
}

/// Compares in constant time.
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && bool::from(one.as_bytes().ct_eq(other.as_bytes()))
}
