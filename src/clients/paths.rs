//! Paths for the setup of clients: home, config folder, repository, and the program to register.
use crate::config::{Config, Environment};
use std::path::{Path, PathBuf};

/// Where client settings are, and which program they start.
#[derive(Clone, Debug, Default)]
pub struct ClientPaths {
    pub home_dir: PathBuf,
    /// Config folder of the user, such as `~/.config`.
    pub config_dir: PathBuf,
    /// Root of the repository, or the current folder if there is none.
    pub root: PathBuf,
    /// Folders of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// This executable.
    pub program: PathBuf,
    /// Folder for copies of files before they are edited.
    pub backup_dir: PathBuf,
    /// Environment variables. Some clients have overrides for settings folders and timeouts.
    pub environment: Environment,
}

impl ClientPaths {
    /// Paths from the configuration of this program.
    pub fn from_config(config: &Config) -> ClientPaths {
        let mut paths = ClientPaths {
            home_dir: config.user_dirs.0.clone(),
            config_dir: config.user_dirs.1.clone(),
            root: config.repo_root.clone(),
            search_path: config.search_path.clone(),
            program: config.program.clone(),
            backup_dir: config.data_dir.join("backups"),
            environment: config.environment.clone(),
        };
        // Prefer the path found on `PATH`, because it stays valid after an update.
        let is_this_program = |path: &PathBuf| {
            dunce::canonicalize(path).ok() == dunce::canonicalize(&config.program).ok()
        };
        if let Some(by_name) = paths.find_program(super::SERVER_NAME).filter(is_this_program) {
            paths.program = by_name;
        }
        paths
    }

    /// Value of an environment variable, if not empty.
    pub(super) fn env_var(&self, name: &str) -> Option<&str> {
        let found = self.environment.0.iter().find(|(key, _)| key == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
    }

    /// Expands a path of `clients.toml`, such as `{home}/.x` or `{VARIABLE|home/.x}/y`.
    pub(super) fn expand_path(&self, template: &str) -> PathBuf {
        let Some((expression, rest)) = template.strip_prefix('{').and_then(|it| it.split_once('}'))
        else {
            return PathBuf::from(template);
        };
        let base = match expression.split_once('|') {
            Some((variable, default)) => match self.env_var(variable) {
                Some(folder) => PathBuf::from(folder),
                None => self.expand_base(default),
            },
            None => self.expand_base(expression),
        };
        join_parts(&base, rest)
    }

    fn expand_base(&self, template: &str) -> PathBuf {
        let (base, rest) = template.split_once('/').unwrap_or((template, ""));
        let base = match base {
            "config" => &self.config_dir,
            "root" => &self.root,
            _ => &self.home_dir,
        };
        join_parts(base, rest)
    }

    /// Finds a program on `PATH`.
    pub(super) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let names = if cfg!(windows) {
            vec![format!("{name}.exe"), format!("{name}.cmd"), name.to_owned()]
        } else {
            vec![name.to_owned()]
        };
        let candidates =
            self.search_path.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        candidates.into_iter().find(|path| path.is_file())
    }
}

/// Joins a `/` path part by part, so that it has the separators of the platform.
fn join_parts(base: &Path, rest: &str) -> PathBuf {
    rest.split('/')
        .filter(|part| !part.is_empty())
        .fold(base.to_owned(), |path, part| path.join(part))
}
