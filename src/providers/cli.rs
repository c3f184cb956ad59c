//! Fetches a turn from a model CLI. The process runs in a snapshot of the repository with an
//! allow-listed environment, and is retried on transient errors only. The entry point is
//! [`fetch_turn`].
use super::cli_error;
use super::cli_spec::CliSpec;
use super::model_mismatch::add_model_mismatch_caveat;
use super::orphans::{MARKER_VARIABLE, new_marker};
use super::output_parser::CliOutput;
use super::process::{self, Program};
use super::retry::{MAX_ATTEMPTS, MAX_RETRY_WAIT, backoff};
use super::workdir::Workdir;
use crate::debate::{FailureKind, TurnFailure};
use crate::engine::{ProviderReply, ReplyStream, SnapshotProvider, TurnRequest};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

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
const COMMON_VARIABLES: &[&str] = &[
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

/// A CLI is killed this long before the turn's own timeout.
const KILL_MARGIN: Duration = Duration::from_millis(300);
/// Timeout of `--version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

impl SystemEnvironment {
    /// Finds the executable of a program on `PATH`; a path is used as it is.
    pub(super) fn find_program(&self, program: &str) -> Option<PathBuf> {
        let given = Path::new(program);
        if given.components().count() > 1 {
            return is_executable(given).then(|| given.to_owned());
        }
        let files: Vec<String> =
            EXECUTABLE_EXTENSIONS.iter().map(|end| format!("{program}{end}")).collect();
        let all =
            self.search_path.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
        all.into_iter().find(|path| is_executable(path))
    }

    /// The value of an environment variable, if it is valid Unicode.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let (_, value) = self
            .variables
            .iter()
            .find(|(own, _)| is_same_variable(&own.to_string_lossy(), name))?;
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
    fn secret_values(&self, row: &CliSpec) -> Vec<String> {
        const SECRET_NAME_PARTS: [&str; 6] =
            ["KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH", "CREDENTIAL"];
        let telling =
            |name: &str| SECRET_NAME_PARTS.iter().any(|word| name.to_uppercase().contains(word));
        let own = self.variables.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            (row.passes_variable(name) && telling(name)).then(|| value.to_owned())
        });
        let set =
            row.set_env.iter().filter(|(name, _)| telling(name)).map(|(_, value)| value.clone());
        own.chain(set).filter(|value| value.len() > 5).collect()
    }

    /// The environment of a CLI: the common allow-list, its own, the variables its spec sets, and
    /// the marker of the turn.
    fn build_environment(
        &self,
        row: &CliSpec,
        off: &[String],
        web: bool,
    ) -> Vec<(OsString, OsString)> {
        let set = row.build_variables(off, web);
        let kept = |name: &OsStr| {
            let name = name.to_string_lossy();
            COMMON_VARIABLES.iter().any(|own| is_same_variable(own, &name))
                || (row.passes_variable(&name) && !set.contains_key(&*name))
        };
        let kept = self.variables.iter().filter(|(name, _)| kept(name)).cloned();
        let set = set.iter().map(|(name, value)| (name.into(), value.into()));
        let mark = (OsString::from(MARKER_VARIABLE), OsString::from(new_marker()));
        kept.chain(set).chain([mark]).collect()
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
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// Cache of CLI versions by path. Each `--version` runs once.
#[derive(Default)]
pub(super) struct VersionCache(Mutex<BTreeMap<PathBuf, Option<String>>>);

impl VersionCache {
    /// The version of the CLI at this path, from the cache or by running it.
    pub(super) async fn get_or_query(
        &self,
        path: &Path,
        row: &CliSpec,
        around: &SystemEnvironment,
    ) -> Option<String> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = known().get(path) {
            return version.clone();
        }
        let folder = tempfile::tempdir().ok()?;
        let program = Program {
            path: path.to_owned(),
            arguments: vec!["--version".into()],
            environment: around.build_environment(row, &[], false),
            workdir: folder.path(),
            stdin: "",
            temporary_dirs: vec![folder.path()],
            deadline: Instant::now() + VERSION_TIMEOUT,
        };
        let mut version = None;
        let number =
            |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
        let asked = process::run(&program, |line| {
            let words = line.split([' ', 'v', ',', '(']);
            version = version.take().or_else(|| {
                words.into_iter().find(number).map(|word| word.trim_end_matches('.').into())
            });
        });
        let _ = asked.await;
        known().insert(path.to_owned(), version.clone());
        version
    }
}

/// Parameters for fetching one turn from a CLI.
pub(super) struct CliTurn<'a> {
    pub(super) tool: &'a str,
    pub(super) spec: &'a CliSpec,
    pub(super) environment: &'a SystemEnvironment,
    pub(super) versions: &'a VersionCache,
    pub(super) snapshots: Option<&'a Arc<dyn SnapshotProvider>>,
    pub(super) ask: &'a TurnRequest,
    pub(super) stream: &'a ReplyStream,
}

/// Fetches one turn, with up to [`MAX_ATTEMPTS`] attempts.
pub(super) async fn fetch_turn(call: CliTurn<'_>) -> Result<ProviderReply, TurnFailure> {
    let CliTurn { tool, spec: row, environment: around, ask, .. } = call;
    let path = around
        .find_program(&row.program)
        .ok_or_else(|| TurnFailure::new(FailureKind::NotFound, row.not_installed_message()))?;
    check_prompt_length(tool, row, ask)?;
    // Killed just before the engine's timeout, so that its stderr can still explain the delay.
    let until = Instant::now() + Duration::from_secs(u64::from(ask.timeout_secs)) - KILL_MARGIN;
    let mut tries = 1;
    loop {
        let began = Instant::now();
        // The version is queried concurrently, since the turn takes longer.
        let (mut done, version) = tokio::join!(
            run_once(&call, &path, until),
            call.versions.get_or_query(&path, row, around)
        );
        match &mut done {
            Ok(ProviderReply { envelope, .. }) | Err(TurnFailure { envelope, .. }) => {
                envelope.attempts = Some(tries);
                envelope.version = envelope.version.take().or(version);
            }
        }
        match done {
            Err(failure)
                if tries < MAX_ATTEMPTS
                    && cli_error::is_transient(&failure)
                    && Instant::now() < until =>
            {
                let told = Duration::from_millis(failure.retry_ms.unwrap_or_default());
                // A CLI that took long to fail has already retried by itself.
                if told > MAX_RETRY_WAIT || began.elapsed() > MAX_RETRY_WAIT {
                    return Err(failure);
                }
                tokio::time::sleep(backoff(tries).max(told)).await;
            }
            done => return done,
        }
        tries += 1;
    }
}

/// Returns an error if the prompt exceeds the CLI's limit, instead of starting it in vain.
fn check_prompt_length(tool: &str, row: &CliSpec, ask: &TurnRequest) -> Result<(), TurnFailure> {
    let length = ask.prompt.chars().count();
    match row.max_prompt_chars {
        Some(most) if length > most => Err(TurnFailure::new(
            FailureKind::Other,
            format!(
                "the prompt has {length} characters, and `{tool}` takes {most} at most \
                 (give it less to read, or name another tool)"
            ),
        )),
        _ => Ok(()),
    }
}

async fn run_once(
    call: &CliTurn<'_>,
    path: &Path,
    until: Instant,
) -> Result<ProviderReply, TurnFailure> {
    let CliTurn { tool, spec: row, environment: around, ask, .. } = *call;
    let broken = |error: std::io::Error| {
        TurnFailure::new(FailureKind::Crashed, format!("`{tool}`: {error}"))
    };
    let place = Workdir::new(row, around, ask, call.snapshots).await.map_err(broken)?;
    let off = row.mcp_server_names(around);
    let model = ask.participant.model();
    let mut environment = around.build_environment(row, &off, ask.web_allowed);
    place.set_home_variable(&mut environment);
    let program = Program {
        path: path.to_owned(),
        arguments: row.arguments(model, ask.effort, ask.web_allowed),
        environment,
        workdir: place.path(),
        stdin: &ask.prompt,
        temporary_dirs: place.temporary_dirs(),
        deadline: until,
    };
    let mut heard = CliOutput::default();
    let ended = process::run(&program, |line| {
        if let Some(words) = heard.parse_line(row.output_format, line) {
            call.stream.push(words);
        }
    })
    .await
    .map_err(broken)?;
    heard.envelope.tool = tool.into();
    heard.envelope.model_asked = model.map(Into::into);
    heard.envelope.caveats = caveats(row, ask);
    heard.envelope.caveats.extend(place.caveat());
    let heard = cli_error::classify_outcome(
        tool,
        row,
        heard,
        &ended,
        ask.timeout_secs,
        &around.secret_values(row),
    )?;
    let mut envelope = heard.envelope;
    add_model_mismatch_caveat(&mut envelope);
    Ok(ProviderReply { text: heard.text, envelope })
}

/// Caveats of the spec that apply to this turn.
fn caveats(row: &CliSpec, ask: &TurnRequest) -> Vec<String> {
    let unasked = |caveat: &&String| ask.effort.is_some() || !caveat.contains("effort");
    let web = row.web_caveat(ask.web_allowed).map(Into::into);
    row.caveats.iter().filter(unasked).cloned().chain(web).collect()
}
