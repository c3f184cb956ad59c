//! Paths for the setup of clients: home, config folder, repository, and the program to register.
use crate::config::{Config, Environment};
use std::path::{Path, PathBuf};

/// Where client settings are, and which program they start.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    pub home: PathBuf,
    /// Config folder of the user, such as `~/.config`.
    pub config: PathBuf,
    /// Root of the repository, or the current folder if there is none.
    pub root: PathBuf,
    /// Folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// This executable.
    pub program: PathBuf,
    /// Folder for copies of files before they are edited.
    pub backups: PathBuf,
    /// Environment variables. Some clients have overrides for settings folders and timeouts.
    pub environment: Environment,
}

impl Ground {
    /// Paths from the configuration of this program.
    pub fn of(config: &Config) -> Ground {
        let mut ground = Ground {
            home: config.user_dirs.0.clone(),
            config: config.user_dirs.1.clone(),
            root: config.repo_root.clone(),
            path: config.search_path.clone(),
            program: config.program.clone(),
            backups: config.data_dir.join("backups"),
            environment: config.environment.clone(),
        };
        // Prefer the path found on `PATH`, because it stays valid after an update.
        let same = |path: &PathBuf| {
            dunce::canonicalize(path).ok() == dunce::canonicalize(&config.program).ok()
        };
        if let Some(by_name) = ground.program(super::SERVER).filter(same) {
            ground.program = by_name;
        }
        ground
    }

    /// Value of an environment variable, if not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.0.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
    }

    /// Expands a path of `clients.toml`, such as `{home}/.x` or `{VARIABLE|home/.x}/y`.
    pub(super) fn path(&self, written: &str) -> PathBuf {
        let Some((inside, rest)) = written.strip_prefix('{').and_then(|it| it.split_once('}'))
        else {
            return PathBuf::from(written);
        };
        let base = match inside.split_once('|') {
            Some((variable, usual)) => match self.variable(variable) {
                Some(moved) => PathBuf::from(moved),
                None => self.base(usual),
            },
            None => self.base(inside),
        };
        joined(&base, rest)
    }

    fn base(&self, written: &str) -> PathBuf {
        let (base, rest) = written.split_once('/').unwrap_or((written, ""));
        let base = match base {
            "config" => &self.config,
            "root" => &self.root,
            _ => &self.home,
        };
        joined(base, rest)
    }

    /// Finds a program on `PATH`.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        let names = if cfg!(windows) {
            vec![format!("{name}.exe"), format!("{name}.cmd"), name.to_owned()]
        } else {
            vec![name.to_owned()]
        };
        let all = self.path.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        all.into_iter().find(|path| path.is_file())
    }
}

/// Joins a `/` path part by part, so that it has the separators of the platform.
fn joined(base: &Path, rest: &str) -> PathBuf {
    rest.split('/')
        .filter(|part| !part.is_empty())
        .fold(base.to_owned(), |path, part| path.join(part))
}
