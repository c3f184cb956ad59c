//! Fetches a turn from a model CLI. The process runs in a snapshot of the repository with an
//! allow-listed environment, and is retried on transient errors only. The entry point is
//! [`fetch_turn`].
use super::cli_error;
use super::cli_spec::CliSpec;
use super::model_mismatch::add_model_mismatch_caveat;
use super::output_parser::CliOutput;
use super::process::{self, Program};
use super::retry::{MAX_ATTEMPTS, backoff, is_too_long, wait_before_retry};
use super::system_environment::SystemEnvironment;
use super::workdir::Workdir;
use crate::debate::{FailureKind, TurnFailure};
use crate::engine::{ProviderReply, ReplyStream, SnapshotProvider, TurnRequest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A CLI is killed this long before the turn's own timeout.
const KILL_MARGIN: Duration = Duration::from_millis(300);
/// Timeout of `--version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

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
    let deadline = kill_time(Instant::now(), turn.timeout_secs);
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
                if is_too_long(requested_wait) || is_too_long(started_at.elapsed()) {
                    return Err(failure);
                }
                let wait = backoff(attempt).max(requested_wait);
                wait_before_retry(turn, attempt, wait, &failure).await;
            }
            result => return result,
        }
        attempt += 1;
    }
}

/// When the CLI is killed: [`KILL_MARGIN`] before the timeout of the turn.
fn kill_time(started_at: Instant, timeout_secs: u32) -> Instant {
    started_at + Duration::from_secs(u64::from(timeout_secs)) - KILL_MARGIN
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_is_killed_300_ms_before_the_timeout_of_its_turn() {
        assert_eq!(KILL_MARGIN, Duration::from_millis(300));
        let started_at = Instant::now();
        let timeout = Duration::from_secs(60);
        assert_eq!(
            kill_time(started_at, 60) - started_at,
            timeout.checked_sub(KILL_MARGIN).unwrap()
        );
    }

    /// Tokio time is paused. While the CLI hangs, it advances to the timeout at once.
    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn version_query_is_ended_after_10_s() {
        assert_eq!(VERSION_TIMEOUT.as_secs(), 10);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hangs");
        // Written by a shell: a file that this process has open for writing cannot be executed.
        let script = "printf '#!/bin/sh\\nexec /bin/sleep 300\\n' > \"$0\" && chmod +x \"$0\"";
        let written =
            std::process::Command::new("/bin/sh").args(["-c", script]).arg(&path).status();
        assert!(written.unwrap().success());
        let spec: CliSpec = toml::from_str("program = \"hangs\"\nreads = \"text\"").unwrap();
        let (versions, env) = (VersionCache::default(), SystemEnvironment::default());
        let started_at = Instant::now();
        assert_eq!(versions.get_or_query(&path, &spec, &env).await, None);
        assert_eq!(started_at.elapsed(), VERSION_TIMEOUT);
    }
}
