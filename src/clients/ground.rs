//! What is around: whose home it is, which repository, and which program is to be registered.
use crate::config::{Config, Environment};
use std::path::{Path, PathBuf};

/// Where clients are looked for, and what they are told to start.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// The user's home.
    pub home: PathBuf,
    /// Where their programs keep settings.
    pub config: PathBuf,
    /// The repository, or the folder if there is none.
    pub root: PathBuf,
    /// Where programs are looked for.
    pub path: Vec<PathBuf>,
    /// This program.
    pub program: PathBuf,
    /// Where files are kept as they were before they were changed.
    pub backups: PathBuf,
    /// Some variables move settings elsewhere, or say how long calls may take.
    pub environment: Environment,
}

impl Ground {
    /// As this program finds it.
    pub fn of(config: &Config) -> Ground {
        let mut ground = Ground {
            home: config.user.0.clone(),
            config: config.user.1.clone(),
            root: config.root.clone(),
            path: config.path.clone(),
            program: config.program.clone(),
            backups: config.home.join("backups"),
            environment: config.environment.clone(),
        };
        // What is found by name is where it will also be after an update.
        let same = |path: &PathBuf| {
            dunce::canonicalize(path).ok() == dunce::canonicalize(&config.program).ok()
        };
        if let Some(by_name) = ground.program(super::SERVER).filter(same) {
            ground.program = by_name;
        }
        ground
    }

    /// The value of a variable that is set to something.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.0.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
    }

    /// `{home}/.x`, `{VARIABLE|home/.x}/y`: a path as rows write it.
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

    /// Where a program is that can be called by its name.
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

/// A path below another, part by part, so that it is written as the system writes paths.
fn joined(base: &Path, rest: &str) -> PathBuf {
    rest.split('/')
        .filter(|part| !part.is_empty())
        .fold(base.to_owned(), |path, part| path.join(part))
}
