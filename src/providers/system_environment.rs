//! Environment of this process, read once by the caller: variables, search path and the user's
//! folders. Entry points: [`SystemEnvironment::find_program`], `variable` and `expand_path`.
use std::ffi::OsString;
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
}

/// File extensions of executables. On Windows npm installs `.cmd` scripts.
const EXECUTABLE_EXTENSIONS: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };

/// Whether two variable names are equal; Windows ignores case.
pub(super) fn is_same_variable(one: &str, other: &str) -> bool {
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
