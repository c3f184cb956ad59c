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

/// Values of secret variables are hidden in messages from this length on, in bytes.
const MIN_SECRET_BYTES: usize = 6;
/// A CLI is killed this long before the turn's own timeout.
const KILL_MARGIN: Duration = Duration::from_millis(300);
/// Timeout of `--version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

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
    fn secret_values(&self, spec: &CliSpec) -> Vec<String> {
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
    fn build_environment(
        &self,
        spec: &CliSpec,
        disabled_servers: &[String],
        web_allowed: bool,
    ) -> Vec<(OsString, OsString)> {
        let spec_variables = spec.build_variables(disabled_servers, web_allowed);
        let inherited = |name: &OsStr| {
            let name = name.to_string_lossy();
            COMMON_VARIABLES.iter().any(|known| is_same_variable(known, &name))
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

/// Cache of CLI versions by path. Each `--version` runs once.
#[derive(Default)]
pub(super) struct VersionCache(Mutex<BTreeMap<PathBuf, Option<String>>>);

impl VersionCache {
    /// The version of the CLI at this path, from the cache or by running it.
    pub(super) async fn get_or_query(
        &self,
        path: &Path,
        spec: &CliSpec,
        env: &SystemEnvironment,
    ) -> Option<String> {
        let lock_cache = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = lock_cache().get(path) {
            return version.clone();
        }
        let folder = tempfile::tempdir().ok()?;
        let program = Program {
            path: path.to_owned(),
            arguments: vec!["--version".into()],
            environment: env.build_environment(spec, &[], false),
            workdir: folder.path(),
            stdin: "",
            temporary_dirs: vec![folder.path()],
            deadline: Instant::now() + VERSION_TIMEOUT,
        };
        let mut version = None;
        let is_version_number =
            |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
        let query = process::run(&program, |line| {
            let words = line.split([' ', 'v', ',', '(']);
            version = version.take().or_else(|| {
                words
                    .into_iter()
                    .find(is_version_number)
                    .map(|word| word.trim_end_matches('.').into())
            });
        });
        let _ = query.await;
        lock_cache().insert(path.to_owned(), version.clone());
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
    pub(super) turn: &'a TurnRequest,
    pub(super) stream: &'a ReplyStream,
}

/// Fetches one turn, with up to [`MAX_ATTEMPTS`] attempts.
pub(super) async fn fetch_turn(call: CliTurn<'_>) -> Result<ProviderReply, TurnFailure> {
    let CliTurn { tool, spec, environment: env, turn, .. } = call;
    let path = env
        .find_program(&spec.program)
        .ok_or_else(|| TurnFailure::new(FailureKind::NotFound, spec.not_installed_message()))?;
    check_prompt_length(tool, spec, turn)?;
    // Killed just before the engine's timeout, so that its stderr can still explain the delay.
    let deadline = Instant::now() + Duration::from_secs(u64::from(turn.timeout_secs)) - KILL_MARGIN;
    let mut attempt = 1;
    loop {
        let started_at = Instant::now();
        // The version is queried concurrently, since the turn takes longer.
        let (mut result, version) = tokio::join!(
            run_once(&call, &path, deadline),
            call.versions.get_or_query(&path, spec, env)
        );
        match &mut result {
            Ok(ProviderReply { envelope, .. }) | Err(TurnFailure { envelope, .. }) => {
                envelope.attempts = Some(attempt);
                envelope.version = envelope.version.take().or(version);
            }
        }
        match result {
            Err(failure)
                if attempt < MAX_ATTEMPTS
                    && cli_error::is_transient(&failure)
                    && Instant::now() < deadline =>
            {
                let requested_wait = Duration::from_millis(failure.retry_ms.unwrap_or_default());
                // A CLI that took long to fail has already retried by itself.
                if requested_wait > MAX_RETRY_WAIT || started_at.elapsed() > MAX_RETRY_WAIT {
                    return Err(failure);
                }
                let wait = backoff(attempt).max(requested_wait);
                tracing::info!(
                    debate = %turn.debate_id,
                    seat = %turn.seat,
                    attempt = attempt,
                    wait_ms = wait.as_millis(),
                    reason = failure.trouble.as_str(),
                    "retry"
                );
                tokio::time::sleep(wait).await;
            }
            result => return result,
        }
        attempt += 1;
    }
}

/// Returns an error if the prompt exceeds the CLI's limit, instead of starting it in vain.
fn check_prompt_length(tool: &str, spec: &CliSpec, turn: &TurnRequest) -> Result<(), TurnFailure> {
    let length = turn.prompt.chars().count();
    match spec.max_prompt_chars {
        Some(max_chars) if length > max_chars => Err(TurnFailure::new(
            FailureKind::Other,
            format!(
                "the prompt has {length} characters, and `{tool}` takes {max_chars} at most \
                 (give it less to read, or name another tool)"
            ),
        )),
        _ => Ok(()),
    }
}

async fn run_once(
    call: &CliTurn<'_>,
    path: &Path,
    deadline: Instant,
) -> Result<ProviderReply, TurnFailure> {
    let CliTurn { tool, spec, environment: env, turn, .. } = *call;
    let to_failure = |error: std::io::Error| {
        TurnFailure::new(FailureKind::Crashed, format!("`{tool}`: {error}"))
    };
    let workdir = Workdir::new(spec, env, turn, call.snapshots).await.map_err(to_failure)?;
    let disabled_servers = spec.mcp_server_names(env);
    let model = turn.participant.model();
    let mut environment = env.build_environment(spec, &disabled_servers, turn.web_allowed);
    workdir.set_home_variable(&mut environment);
    let program = Program {
        path: path.to_owned(),
        arguments: spec.arguments(model, turn.effort, turn.web_allowed),
        environment,
        workdir: workdir.path(),
        stdin: &turn.prompt,
        temporary_dirs: workdir.temporary_dirs(),
        deadline,
    };
    let mut output = CliOutput::default();
    let outcome = process::run(&program, |line| {
        if let Some(delta) = output.parse_line(spec.output_format, line) {
            call.stream.push(delta);
        }
    })
    .await
    .map_err(to_failure)?;
    output.envelope.tool = tool.into();
    output.envelope.model_asked = model.map(Into::into);
    output.envelope.caveats = caveats(spec, turn);
    output.envelope.caveats.extend(workdir.caveat());
    let output = cli_error::classify_outcome(
        tool,
        spec,
        output,
        &outcome,
        turn.timeout_secs,
        &env.secret_values(spec),
    )?;
    let mut envelope = output.envelope;
    add_model_mismatch_caveat(&mut envelope);
    Ok(ProviderReply { text: output.text, envelope })
}

/// Caveats of the spec that apply to this turn.
fn caveats(spec: &CliSpec, turn: &TurnRequest) -> Vec<String> {
    let applies = |caveat: &&String| turn.effort.is_some() || !caveat.contains("effort");
    let web = spec.web_caveat(turn.web_allowed).map(Into::into);
    spec.caveats.iter().filter(applies).cloned().chain(web).collect()
}
