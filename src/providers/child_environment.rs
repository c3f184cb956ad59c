//! Environment of child processes. A model CLI inherits an allow-list of variables and those its spec
//! passes or sets, never the whole environment, so that keys of other providers do not reach it.
//! The entry point is [`SystemEnvironment::build_environment`].
use super::cli_spec::CliSpec;
use super::orphans::{MARKER_VARIABLE, new_marker};
use super::system_environment::{SystemEnvironment, is_same_variable};
use std::ffi::{OsStr, OsString};

/// Allow-list of variables that every CLI receives: directories, locale, proxy, certificates.
const ALLOWED_VARIABLES: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TERM",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "SystemRoot",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "COMSPEC",
    "PATHEXT",
    "ProgramData",
];

/// Values of secret variables are hidden in messages from this length on, in bytes.
const MIN_SECRET_BYTES: usize = 6;

impl SystemEnvironment {
    /// Secret values passed to a CLI, by variable name; they are removed from its error messages.
    pub(super) fn secret_values(&self, spec: &CliSpec) -> Vec<String> {
        const SECRET_NAME_PARTS: [&str; 6] =
            ["KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH", "CREDENTIAL"];
        let is_secret_name =
            |name: &str| SECRET_NAME_PARTS.iter().any(|word| name.to_uppercase().contains(word));
        let inherited = self.variables.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            (spec.passes_variable(name) && is_secret_name(name)).then(|| value.to_owned())
        });
        let set_by_spec = spec
            .set_env
            .iter()
            .filter(|(name, _)| is_secret_name(name))
            .map(|(_, value)| value.clone());
        inherited.chain(set_by_spec).filter(|value| value.len() >= MIN_SECRET_BYTES).collect()
    }

    /// The environment of a CLI: the common allow-list, its own, the variables its spec sets, and
    /// the marker of the turn.
    pub(super) fn build_environment(
        &self,
        spec: &CliSpec,
        disabled_servers: &[String],
        web_allowed: bool,
    ) -> Vec<(OsString, OsString)> {
        let spec_variables = spec.build_variables(disabled_servers, web_allowed);
        let inherited = |name: &OsStr| {
            let name = name.to_string_lossy();
            ALLOWED_VARIABLES.iter().any(|known| is_same_variable(known, &name))
                || (spec.passes_variable(&name) && !spec_variables.contains_key(&*name))
        };
        let inherited = self.variables.iter().filter(|(name, _)| inherited(name)).cloned();
        let spec_variables = spec_variables.iter().map(|(name, value)| (name.into(), value.into()));
        let marker = (OsString::from(MARKER_VARIABLE), OsString::from(new_marker()));
        inherited.chain(spec_variables).chain([marker]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_values_are_hidden_from_6_bytes_on() {
        assert_eq!(MIN_SECRET_BYTES, 6);
        let secret = "x".repeat(MIN_SECRET_BYTES);
        let config = format!(
            "program = \"x\"\nreads = \"text\"\nset = {{ A_KEY = \"{secret}\", B_KEY = \"{}\" }}",
            &secret[1..]
        );
        let spec: CliSpec = toml::from_str(&config).unwrap();
        assert_eq!(SystemEnvironment::default().secret_values(&spec), [secret]);
    }
}
