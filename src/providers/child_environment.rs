//! Environment of child processes. A model CLI inherits an allow-list of variables and those its spec
//! passes or sets, never the whole environment, so that keys of other providers do not reach it.
//! Entry points: [`SystemEnvironment::build_environment`] and [`SystemEnvironment::find_program`].
use super::cli_spec::CliSpec;
use super::orphans::{MARKER_VARIABLE, new_marker};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Environment of this process from which child processes are configured.
#[derive(Clone, Default)]
pub struct SystemEnvironment {
    /// All environment variables. Each CLI receives only those on its allow-list.
    pub variables: Vec<(OsString, OsString)>,
    /// Directories of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// The user's home directory.
    pub home_dir: PathBuf,
    /// The user's config directory.
    pub config_dir: PathBuf,
}

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
    /// Finds the executable of a program on `PATH`; a path is used as it is.
    pub(super) fn find_program(&self, program: &str) -> Option<PathBuf> {
        let program_path = Path::new(program);
        if program_path.components().count() > 1 {
            return is_executable(program_path).then(|| program_path.to_owned());
        }
        let files: Vec<String> =
            EXECUTABLE_EXTENSIONS.iter().map(|end| format!("{program}{end}")).collect();
        let candidates =
            self.search_path.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
        candidates.into_iter().find(|path| is_executable(path))
    }

    /// The value of an environment variable, if it is valid Unicode.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let (_, value) = self
            .variables
            .iter()
            .find(|(known, _)| is_same_variable(&known.to_string_lossy(), name))?;
        value.clone().into_string().ok()
    }

    /// Expands `{home}`, `{config}` and a leading `{VARIABLE}` in a path of a spec.
    pub(super) fn expand_path(&self, path: &str) -> String {
        let mut path = path.replace("{home}", &self.home_dir.display().to_string());
        path = path.replace("{config}", &self.config_dir.display().to_string());
        if let Some(name) = path.strip_prefix('{').and_then(|rest| rest.split('}').next()) {
            path = path.replace(&format!("{{{name}}}"), &self.variable(name).unwrap_or_default());
        }
        path
    }

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

/// File extensions of executables. On Windows npm installs `.cmd` scripts.
const EXECUTABLE_EXTENSIONS: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };

/// Whether two variable names are equal; Windows ignores case.
fn is_same_variable(one: &str, other: &str) -> bool {
    if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
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
