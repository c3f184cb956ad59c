//! How one HTTP API is spoken to, as data: a vendor is a row. The user's configuration replaces single
//! fields of a row, or adds one; a repository never does.
use super::cli::Surroundings;
use super::per_effort::PerEffort;
use super::row::merged;
use super::wire::{Held, Wire};
use crate::debate::Effort;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// A row. What the fields mean stands at the top of `apis.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Api {
    url: String,
    #[serde(default)]
    url_from: String,
    pub(super) wire: Wire,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    key: Secret,
    #[serde(default)]
    pub(super) usual: PerEffort<String>,
    #[serde(default)]
    pub(super) effort: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) schema: Held,
    #[serde(default)]
    pub(super) max_tokens: Option<u64>,
    #[serde(default)]
    pub(super) seconds: PerEffort<u32>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Secret>,
    #[serde(default)]
    pub(super) body: Value,
    #[serde(default)]
    pub(super) family: Option<String>,
    #[serde(default)]
    login: String,
}

/// What is never shown.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Secret(pub(super) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

const APIS: &str = include_str!("apis.toml");

/// Names that mean somebody else.
const TAKEN: &[&str] = &["host", "human", "bot", "script", "demo"];

/// How long a server on this machine may take to be there.
const NEAR: Duration = Duration::from_millis(200);

/// Every row: ours, with the user's fields in place of our own, and the user's.
pub(super) fn apis(own: &toml::Table) -> Result<BTreeMap<String, Api>, String> {
    let mut own = own.clone();
    for (name, fields) in &mut own {
        if TAKEN.contains(&name.as_str()) {
            return Err(format!("`apis.{name}`: that name means somebody else; take another"));
        }
        // Whoever writes down an address means that one, whatever the environment says.
        if let toml::Value::Table(fields) = fields
            && fields.contains_key("url")
        {
            fields.entry("url_from").or_insert_with(|| String::new().into());
        }
    }
    merged(APIS, &own, "apis")
}

impl Api {
    /// Where it is.
    pub(super) fn address(&self, around: &Surroundings) -> Result<Url, String> {
        let own = parsed(&self.url)?;
        let Some(other) = around.said(&self.url_from) else { return Ok(own) };
        let mut other =
            parsed(&whole(other, &own)).map_err(|why| format!("{}: {why}", self.url_from))?;
        // Some programs name the place without the version that belongs to it.
        if other.path() == "/" {
            other.set_path(own.path());
        }
        Ok(other)
    }

    /// Variables that may hold its key.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// What it is shown, if it wants to be shown anything.
    pub(super) fn key<'a>(&'a self, around: &'a Surroundings) -> Result<Option<&'a str>, String> {
        let written = Some(self.key.0.as_str()).filter(|key| !key.is_empty());
        let found = written.or_else(|| self.keys.iter().find_map(|name| around.said(name)));
        if found.is_some() || self.keys.is_empty() {
            return Ok(found);
        }
        let step = self.step(|login| format!("; {login}"));
        Err(format!("no key is set: set {}{step}", self.keys.join(" or ")))
    }

    /// The model asked for, where one is known.
    pub(super) fn model<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.or_else(|| self.usual.of(None).map(String::as_str))
    }

    /// Whether it can be asked which models it has: those without keys have only what was loaded.
    pub(super) fn tells_models(&self) -> bool {
        self.keys.is_empty() && self.wire == Wire::Chat
    }

    /// What is put into a request for an effort; none, if it has no such setting.
    pub(super) fn effort(&self, effort: Effort) -> Option<&Value> {
        self.effort.get(effort.word())
    }

    /// How to get a key or how to start it, in a sentence.
    pub(super) fn step(&self, sentence: impl Fn(&str) -> String) -> String {
        if self.login.is_empty() { String::new() } else { sentence(&self.login) }
    }

    /// What to do about a key it does not take.
    pub(super) fn unwelcome(&self, name: &str) -> String {
        if self.keys.is_empty() {
            return format!("set the `key` of `apis.{name}`");
        }
        let step = self.step(|login| format!("; {login}"));
        format!("look at {}{step}", self.keys.join(" and "))
    }

    /// Why it cannot play here, as far as can be told without asking it anything.
    pub(super) fn absent(
        &self,
        name: &str,
        named: Option<&str>,
        around: &Surroundings,
    ) -> Option<String> {
        let address = match self.address(around) {
            Ok(address) => address,
            Err(why) => return Some(format!("`apis.{name}`: {why}")),
        };
        if let Err(why) = self.key(around) {
            return Some(why);
        }
        if self.model(named).is_none() && !self.tells_models() {
            return Some(format!(
                "name a model, as in `{name}:MODEL`, or set `usual` of `apis.{name}`"
            ));
        }
        (self.keys.is_empty() && near(&address) && !answers(&address))
            .then(|| self.silent(&address, ""))
    }

    /// That nobody is there.
    pub(super) fn silent(&self, address: &Url, why: &str) -> String {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let step = if self.keys.is_empty() { self.login.as_str() } else { "look at the network" };
        let step = if step.is_empty() { "start it" } else { step };
        format!("nothing answers at {}{why} ({step})", shown(address))
    }

    /// What it is, for those who choose among seats.
    pub(super) fn about(&self, address: Option<&Url>) -> String {
        let family = self.family.as_ref().map(|family| format!(" for {family} models"));
        let family = family.unwrap_or_default();
        let place = address.map(|address| format!(" at {}", shown(address)));
        format!("an HTTP API{family}{}; sees only its brief", place.unwrap_or_default())
    }

    /// Where its key is, if it has one.
    pub(super) fn login(&self, around: &Surroundings) -> String {
        let set = self.keys.iter().find(|name| around.said(name).is_some());
        match set {
            _ if !self.key.0.is_empty() => "its key is in your configuration".into(),
            Some(name) => format!("{name} is set"),
            None => "needs no key".into(),
        }
    }

    /// Whether it may be seated without being named: only if the user has said with which model.
    pub(super) fn at_hand(&self) -> bool {
        self.usual.of(None).is_some()
    }
}

impl Surroundings {
    /// What a variable of the environment says, if it says anything.
    pub(super) fn said(&self, name: &str) -> Option<&str> {
        let mut all = self.environment.iter();
        let found = all.find(|(known, _)| !name.is_empty() && known == name)?;
        found.1.to_str().map(str::trim).filter(|value| !value.is_empty())
    }
}

/// An address as people abbreviate it: without what they take for granted, which is said in our own.
fn whole(said: &str, own: &Url) -> String {
    if said.contains("://") {
        return said.to_owned();
    }
    let (place, rest) = said
        .split_once('/')
        .map_or((said, String::new()), |(place, rest)| (place, format!("/{rest}")));
    let (host, port) = place.rsplit_once(':').unwrap_or((place, ""));
    // Where a server listens on every address, it is found on this machine.
    let host = if matches!(host, "" | "0.0.0.0") { "127.0.0.1" } else { host };
    let port = match (port, own.port()) {
        ("", Some(port)) => format!(":{port}"),
        ("", None) => String::new(),
        (port, _) => format!(":{port}"),
    };
    // Only what stays on this machine or was never safe goes without encryption.
    let scheme = if host == "127.0.0.1" || host == "localhost" { "http" } else { own.scheme() };
    format!("{scheme}://{host}{port}{rest}")
}

fn parsed(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url.trim_end_matches('/')).ok();
    let parsed = parsed
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or("its url must be a whole one that begins with http:// or https://")?;
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("its url holds a password; set `key`, `keys` or `headers` instead".into());
    }
    Ok(parsed)
}

/// An address without whatever in it is nobody else's business.
pub(super) fn shown(address: &Url) -> String {
    let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = address.host_str().unwrap_or_default();
    format!("{}://{host}{port}{}", address.scheme(), address.path().trim_end_matches('/'))
}

/// Whether an address is on this machine.
pub(super) fn near(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Whether anything listens at an address on this machine.
fn answers(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = address.port_or_known_default().unwrap_or(80);
    let places = (host, port).to_socket_addrs().into_iter().flatten();
    places.into_iter().any(|place| TcpStream::connect_timeout(&place, NEAR).is_ok())
}
