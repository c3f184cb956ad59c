//! Who may act, and who may read: by words only this user's programs can make. A word is given once,
//! in an address; from then on a cookie stands for it, which no script can read and no other site
//! can send.
use crate::engine::{Archive, ArchiveError};
use axum::http::{HeaderMap, HeaderValue, header};
use subtle::ConstantTimeEq;

/// What is asked of those who come.
#[derive(Clone)]
pub struct Entry {
    /// The name of the cookie.
    name: String,
    owner: Word,
    reader: Word,
    csrf: String,
    open: bool,
}

/// A word, and the cookie that stands for it.
#[derive(Clone)]
struct Word {
    token: String,
    cookie: String,
}

/// Who somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Nobody that is known.
    None,
    /// Who may read.
    Read,
    /// Who may act.
    Act,
}

impl Entry {
    /// The words of one door: `view`, `serve`. Where it is open, whoever comes may read.
    pub fn new(archive: &dyn Archive, door: &str, open: bool) -> Result<Entry, ArchiveError> {
        let word = |may: &str| -> Result<Word, ArchiveError> {
            let token = archive.password(&format!("{door}: {may}"))?;
            let cookie = archive.password(&format!("{door}: cookie of {token}"))?;
            Ok(Word { token, cookie })
        };
        let (owner, reader) = (word("act")?, word("read")?);
        let csrf = archive.password(&format!("{door}: forms of {}", owner.cookie))?;
        Ok(Entry { name: format!("debate_{door}"), owner, reader, csrf, open })
    }

    /// The word that lets somebody act.
    pub fn owner(&self) -> &str {
        &self.owner.token
    }

    /// The word that lets somebody read.
    pub fn reader(&self) -> &str {
        &self.reader.token
    }

    /// What forms must carry.
    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Whether a form carries it.
    pub fn carried(&self, csrf: &str) -> bool {
        same(csrf, &self.csrf)
    }

    /// What a word lets somebody do.
    pub fn of_token(&self, token: &str) -> Pass {
        match token {
            token if same(token, &self.owner.token) => Pass::Act,
            token if same(token, &self.reader.token) => Pass::Read,
            _ => Pass::None,
        }
    }

    /// Who sends a request: by cookie, or as programs do, by an `Authorization` header.
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

    /// The cookie that stands for a word from now on. Where a proxy speaks TLS, only over that.
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

/// Compared in constant time.
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && bool::from(one.as_bytes().ct_eq(other.as_bytes()))
}
