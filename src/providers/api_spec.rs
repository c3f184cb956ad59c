//! Config of one HTTP API: URL, protocol, key, default model. The built-in specs are in
//! `apis.toml`; the user's config overrides single fields or adds specs. A repository's config
//! cannot.
use super::cli_spec::merge_specs;
use super::per_effort::PerEffort;
use super::protocol::{Protocol, SchemaMode};
use super::system_environment::SystemEnvironment;
use crate::debate::Effort;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How an HTTP API is called. The comment at the top of `apis.toml` documents the fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiSpec {
    url: String,
    #[serde(default)]
    #[serde(rename = "url_from")]
    url_variable: String,
    #[serde(rename = "wire")]
    pub(super) protocol: Protocol,
    #[serde(default)]
    #[serde(rename = "keys")]
    key_variables: Vec<String>,
    #[serde(default)]
    key: Secret,
    #[serde(default)]
    #[serde(rename = "usual")]
    pub(super) default_model: PerEffort<String>,
    #[serde(default)]
    #[serde(rename = "effort")]
    pub(super) effort_bodies: BTreeMap<String, Value>,
    #[serde(default)]
    #[serde(rename = "schema")]
    pub(super) schema_mode: SchemaMode,
    #[serde(default)]
    pub(super) max_tokens: Option<u64>,
    #[serde(default)]
    #[serde(rename = "seconds")]
    pub(super) timeout_seconds: PerEffort<u32>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Secret>,
    #[serde(default)]
    pub(super) body: Value,
    #[serde(default)]
    pub(super) family: Option<String>,
    #[serde(default)]
    #[serde(rename = "login")]
    login_hint: String,
}

/// A secret value that `Debug` does not print.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Secret(pub(super) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

const BUILTIN_API_SPECS: &str = include_str!("apis.toml");

/// Names of participants that are not HTTP APIs.
const RESERVED_NAMES: &[&str] = &["host", "human", "bot", "script", "demo"];

/// Connect timeout of the check for a local server.
const LOCAL_CONNECT_TIMEOUT: Duration = Duration::from_millis(200);

/// Parses the built-in API specs merged with the `apis` table of the user's config.
pub(super) fn load_api_specs(
    user_table: &toml::Table,
) -> Result<BTreeMap<String, ApiSpec>, String> {
    let mut user_table = user_table.clone();
    for (name, fields) in &mut user_table {
        if RESERVED_NAMES.contains(&name.as_str()) {
            return Err(format!("`apis.{name}`: this name is reserved; choose another"));
        }
        // A `url` in the user's config takes precedence over the environment variable.
        if let toml::Value::Table(fields) = fields
            && fields.contains_key("url")
        {
            fields.entry("url_from").or_insert_with(|| String::new().into());
        }
    }
    merge_specs(BUILTIN_API_SPECS, &user_table, "apis")
}

impl ApiSpec {
    /// The base URL, which an environment variable can override.
    pub(super) fn resolve_url(&self, env: &SystemEnvironment) -> Result<Url, String> {
        let default_url = parse_url(&self.url)?;
        let Some(url) = env.non_empty_variable(&self.url_variable) else { return Ok(default_url) };
        let mut url = parse_url(&complete_url(url, &default_url))
            .map_err(|reason| format!("{}: {reason}", self.url_variable))?;
        // Some programs set the variable without the version path, such as `/v1`.
        if url.path() == "/" {
            url.set_path(default_url.path());
        }
        Ok(url)
    }

    /// Environment variables that may hold the key.
    pub(super) fn key_variables(&self) -> &[String] {
        &self.key_variables
    }

    /// The API key from the config or the environment; none if the API needs no key.
    pub(super) fn find_key<'a>(
        &'a self,
        env: &'a SystemEnvironment,
    ) -> Result<Option<&'a str>, String> {
        let configured = Some(self.key.0.as_str()).filter(|key| !key.is_empty());
        let found = configured
            .or_else(|| self.key_variables.iter().find_map(|name| env.non_empty_variable(name)));
        if found.is_some() || self.key_variables.is_empty() {
            return Ok(found);
        }
        let hint = self.format_login_hint(|login| format!("; {login}"));
        Err(format!("no key is set: set {}{hint}", self.key_variables.join(" or ")))
    }

    /// The named model, else the default.
    pub(super) fn model_or_default<'a>(&'a self, model: Option<&'a str>) -> Option<&'a str> {
        model.or_else(|| self.default_model.for_effort(None).map(String::as_str))
    }

    /// Whether the model may be chosen from the server's list. True for chat servers without a key,
    /// which list only loaded models.
    pub(super) fn can_list_models(&self) -> bool {
        self.key_variables.is_empty() && self.protocol == Protocol::Chat
    }

    /// The JSON that an effort adds to the request body; none if there is no such setting.
    pub(super) fn effort_body(&self, effort: Effort) -> Option<&Value> {
        self.effort_bodies.get(effort.as_str())
    }

    /// Formats the `login` hint; empty if there is none.
    pub(super) fn format_login_hint(&self, format_hint: impl Fn(&str) -> String) -> String {
        if self.login_hint.is_empty() { String::new() } else { format_hint(&self.login_hint) }
    }

    /// Hint for a rejected key.
    pub(super) fn rejected_key_hint(&self, name: &str) -> String {
        if self.key_variables.is_empty() {
            return format!("set the `key` of `apis.{name}`");
        }
        let hint = self.format_login_hint(|login| format!("; {login}"));
        format!("look at {}{hint}", self.key_variables.join(" and "))
    }

    /// Why the API cannot be used here. No request is sent; a local server is only checked for an
    /// open port.
    pub(super) fn unavailable_reason(
        &self,
        name: &str,
        model: Option<&str>,
        env: &SystemEnvironment,
    ) -> Option<String> {
        let url = match self.resolve_url(env) {
            Ok(url) => url,
            Err(reason) => return Some(format!("`apis.{name}`: {reason}")),
        };
        if let Err(reason) = self.find_key(env) {
            return Some(reason);
        }
        if self.model_or_default(model).is_none() && !self.can_list_models() {
            return Some(format!(
                "name a model, as in `{name}:MODEL`, or set `usual` of `apis.{name}`"
            ));
        }
        (self.key_variables.is_empty() && is_local(&url) && !is_listening(&url, can_connect))
            .then(|| self.unreachable_message(&url, ""))
    }

    /// Error message: nothing answers at this URL.
    pub(super) fn unreachable_message(&self, url: &Url, reason: &str) -> String {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let hint = if self.key_variables.is_empty() {
            self.login_hint.as_str()
        } else {
            "check the network"
        };
        let hint = if hint.is_empty() { "start it" } else { hint };
        format!("nothing answers at {}{reason} ({hint})", display_url(url))
    }

    /// Description for the list of seats.
    pub(super) fn describe(&self, url: Option<&Url>) -> String {
        let family = self.family.as_ref().map(|family| format!(" for {family} models"));
        let family = family.unwrap_or_default();
        let location = url.map(|url| format!(" at {}", display_url(url)));
        format!("an HTTP API{family}{}; sees only its brief", location.unwrap_or_default())
    }

    /// Where the key comes from, for the list of seats.
    pub(super) fn key_status(&self, env: &SystemEnvironment) -> String {
        let set_variable =
            self.key_variables.iter().find(|name| env.non_empty_variable(name).is_some());
        match set_variable {
            _ if !self.key.0.is_empty() => "its key is in your configuration".into(),
            Some(name) => format!("{name} is set"),
            None => "needs no key".into(),
        }
    }

    /// Whether the user has set a default model. Only then may the API be seated without being
    /// named.
    pub(super) fn has_default_model(&self) -> bool {
        self.default_model.for_effort(None).is_some()
    }
}

impl SystemEnvironment {
    /// The trimmed value of an environment variable, unless it is empty.
    pub(super) fn non_empty_variable(&self, name: &str) -> Option<&str> {
        let mut variables = self.variables.iter();
        let found = variables.find(|(known, _)| !name.is_empty() && known == name)?;
        found.1.to_str().map(str::trim).filter(|value| !value.is_empty())
    }
}

/// Completes an abbreviated URL such as `host:port` with the scheme and port of the built-in one.
fn complete_url(abbreviated: &str, default_url: &Url) -> String {
    if abbreviated.contains("://") {
        return abbreviated.to_owned();
    }
    let (authority, rest) = abbreviated
        .split_once('/')
        .map_or((abbreviated, String::new()), |(authority, rest)| (authority, format!("/{rest}")));
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    // `0.0.0.0` is an address to listen on; connect to loopback instead.
    let host = if matches!(host, "" | "0.0.0.0") { "127.0.0.1" } else { host };
    let port = match (port, default_url.port()) {
        ("", Some(port)) => format!(":{port}"),
        ("", None) => String::new(),
        (port, _) => format!(":{port}"),
    };
    // Plain HTTP is used for loopback only, or if the built-in URL has it.
    let scheme =
        if host == "127.0.0.1" || host == "localhost" { "http" } else { default_url.scheme() };
    format!("{scheme}://{host}{port}{rest}")
}

fn parse_url(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url.trim_end_matches('/')).ok();
    let parsed = parsed
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or("its url must be complete and begin with http:// or https://")?;
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("its url holds a password; set `key`, `keys` or `headers` instead".into());
    }
    Ok(parsed)
}

/// A URL without credentials and query, for messages.
pub(super) fn display_url(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path().trim_end_matches('/'))
}

/// Whether a URL points to this machine.
pub(super) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Whether a TCP connection to the URL succeeds within [`LOCAL_CONNECT_TIMEOUT`].
/// `can_connect` tries one address with a timeout.
fn is_listening(url: &Url, can_connect: impl Fn(&SocketAddr, Duration) -> bool) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default().unwrap_or(80);
    let socket_addrs = (host, port).to_socket_addrs().into_iter().flatten();
    socket_addrs.into_iter().any(|socket_addr| can_connect(&socket_addr, LOCAL_CONNECT_TIMEOUT))
}

fn can_connect(socket_addr: &SocketAddr, timeout: Duration) -> bool {
    TcpStream::connect_timeout(socket_addr, timeout).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_server_has_200_ms_to_accept_a_connection() {
        assert_eq!(LOCAL_CONNECT_TIMEOUT, Duration::from_millis(200));
        let url = Url::parse("http://127.0.0.1:1/").unwrap();
        let accepts_after = |delay: Duration| is_listening(&url, |_, timeout| delay <= timeout);
        assert!(accepts_after(LOCAL_CONNECT_TIMEOUT));
        assert!(!accepts_after(LOCAL_CONNECT_TIMEOUT + Duration::from_millis(1)));
    }
}
