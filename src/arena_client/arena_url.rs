//! Base URL of a remote arena: parsed, validated, and safe to print and store.
use reqwest::Url;
use std::fmt;

/// Maximum length of an invalid URL in the error message, in characters.
const MAX_QUOTED_CHARS: usize = 80;

/// Base URL of a remote arena, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArenaUrl(Url);

/// Error of parsing the URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArenaUrlError {
    /// The text is not a URL. Holds the text and the parser's error.
    #[error("`{0}` is not a valid address: {1}")]
    Malformed(String, String),
    /// The scheme is not HTTP or HTTPS.
    #[error("the address must use http or https, not `{0}`")]
    Scheme(String),
    /// The URL has credentials, a query or a fragment. They would be printed and stored.
    #[error("the address must have no user name, password, `?` or `#`")]
    UnsupportedParts,
}

impl ArenaUrl {
    /// Parses user input. Without a scheme, `http` is the default.
    pub(crate) fn parse(text: &str) -> Result<ArenaUrl, ArenaUrlError> {
        let text = text.trim();
        let with_scheme =
            if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let malformed = |reason: String| ArenaUrlError::Malformed(truncate(text), reason);
        let mut url = Url::parse(&with_scheme).map_err(|error| malformed(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ArenaUrlError::Scheme(url.scheme().into()));
        }
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.query().is_some() || url.fragment().is_some() {
            return Err(ArenaUrlError::UnsupportedParts);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(ArenaUrl(url))
    }

    /// Whether the host is a loopback address.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Whether it is plain HTTP to a loopback address.
    pub(super) fn is_loopback_http(&self) -> bool {
        self.0.scheme() == "http" && self.is_loopback()
    }

    /// Whether the key would be sent unencrypted over the network.
    pub(crate) fn is_unencrypted(&self) -> bool {
        self.0.scheme() == "http" && !self.is_loopback()
    }

    /// Builds the URL of a request. Each path segment is percent-encoded.
    pub(super) fn join_path(&self, segments: &[&str]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }
}

impl fmt::Display for ArenaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

fn truncate(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_url_is_quoted_up_to_80_characters() {
        assert_eq!(MAX_QUOTED_CHARS, 80);
        for length in [MAX_QUOTED_CHARS, MAX_QUOTED_CHARS + 1] {
            let text = format!("{:x<length$}", "http://[");
            let Err(ArenaUrlError::Malformed(quoted, _)) = ArenaUrl::parse(&text) else {
                panic!("{text} was parsed");
            };
            assert_eq!(quoted, text[..MAX_QUOTED_CHARS]);
        }
    }
}
