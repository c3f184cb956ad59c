//! Where a platform is: an address that can be typed, shown and kept without giving anything away.
use reqwest::Url;
use std::fmt;

/// The base address of a platform, without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Url);

/// Why something typed is no address of a platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// It cannot be read at all.
    #[error("`{0}` is no address: {1}")]
    Unreadable(String, String),
    /// Another protocol, or none.
    #[error("a platform is reached by http or https, not by `{0}`")]
    Scheme(String),
    /// A name or a password in it would be shown and kept.
    #[error("an address has no name, password, `?` or `#` in it")]
    Extras,
}

impl Address {
    /// From what was typed; a host alone is meant to be on this machine only if it says so.
    pub fn parse(text: &str) -> Result<Address, BadAddress> {
        let text = text.trim();
        let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let unreadable = |why: String| BadAddress::Unreadable(shortened(text), why);
        let mut url = Url::parse(&full).map_err(|error| unreadable(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadAddress::Scheme(url.scheme().into()));
        }
        let named = !url.username().is_empty() || url.password().is_some();
        if named || url.query().is_some() || url.fragment().is_some() {
            return Err(BadAddress::Extras);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Address(url))
    }

    /// Whether it is this machine.
    pub fn near(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Whether it is this machine, without encryption.
    pub(super) fn plain(&self) -> bool {
        self.0.scheme() == "http" && self.near()
    }

    /// Whether anybody on the way could read the key.
    pub fn open(&self) -> bool {
        self.0.scheme() == "http" && !self.near()
    }

    /// Of a request, by the steps of its path. A step is one step, whatever is in it.
    pub(super) fn to(&self, steps: &[&str]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(steps);
        }
        url
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
