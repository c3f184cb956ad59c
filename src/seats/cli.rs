//! A turn spoken by a model CLI. It runs in a copy of the repository, with an environment of its own,
//! and is asked again only for what can pass.
use super::fault;
use super::heard::Heard;
use super::patience::{LONGEST, TRIES, pause};
use super::place::Place;
use super::process::{self, Program};
use super::proof::admit_other_model;
use super::row::Row;
use super::stragglers::{MARK, mark};
use crate::debate::{Failure, Trouble};
use crate::engine::{Ask, Said, Snapshots, Stream};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What a program inherits of the surroundings.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// Every variable; each tool is given only what is for it.
    pub environment: Vec<(OsString, OsString)>,
    /// Where programs are looked for.
    pub path: Vec<PathBuf>,
    /// The user's home.
    pub home: PathBuf,
    /// The user's configuration.
    pub config: PathBuf,
}

/// What every program needs: where things are, which language, which proxy, whom to trust.
const EVERYONE: &[&str] = &[
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

/// What is left of a turn when a tool that is late is stopped.
const HINDSIGHT: Duration = Duration::from_millis(300);
/// How long a tool may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

impl Surroundings {
    /// Where a program is installed.
    pub(super) fn installed(&self, program: &str) -> Option<PathBuf> {
        let given = Path::new(program);
        if given.components().count() > 1 {
            return runs(given).then(|| given.to_owned());
        }
        let files: Vec<String> = ENDINGS.iter().map(|end| format!("{program}{end}")).collect();
        let all = self.path.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
        all.into_iter().find(|path| runs(path))
    }

    /// A variable, as text.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let (_, value) =
            self.environment.iter().find(|(own, _)| same(&own.to_string_lossy(), name))?;
        value.clone().into_string().ok()
    }

    /// A path as rows write it: {home}, {config} and {VARIABLE} stand for what they are here.
    pub(super) fn at(&self, path: &str) -> String {
        let mut path = path.replace("{home}", &self.home.display().to_string());
        path = path.replace("{config}", &self.config.display().to_string());
        if let Some(name) = path.strip_prefix('{').and_then(|rest| rest.split('}').next()) {
            path = path.replace(&format!("{{{name}}}"), &self.variable(name).unwrap_or_default());
        }
        path
    }

    /// The keys a tool is given, which it must not be quoted with.
    fn secrets(&self, row: &Row) -> Vec<String> {
        const TELLING: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH", "CREDENTIAL"];
        let telling = |name: &str| TELLING.iter().any(|word| name.to_uppercase().contains(word));
        let own = self.environment.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            (row.keeps(name) && telling(name)).then(|| value.to_owned())
        });
        let set = row.set.iter().filter(|(name, _)| telling(name)).map(|(_, value)| value.clone());
        own.chain(set).filter(|value| value.len() > 5).collect()
    }

    /// What a tool is given: what everyone needs, what is for it, and what its row sets.
    fn of(&self, row: &Row, off: &[String], web: bool) -> Vec<(OsString, OsString)> {
        let set = row.settings(off, web);
        let kept = |name: &OsStr| {
            let name = name.to_string_lossy();
            EVERYONE.iter().any(|own| same(own, &name))
                || (row.keeps(&name) && !set.contains_key(&*name))
        };
        let kept = self.environment.iter().filter(|(name, _)| kept(name)).cloned();
        let set = set.iter().map(|(name, value)| (name.into(), value.into()));
        let mark = (OsString::from(MARK), OsString::from(mark()));
        kept.chain(set).chain([mark]).collect()
    }
}

/// What the files of programs end in: npm puts scripts on the path of Windows.
const ENDINGS: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };

/// Whether two names are of the same variable: Windows writes `Path`, and means `PATH`.
fn same(one: &str, other: &str) -> bool {
    if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// Whether a file is a program.
fn runs(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    path.is_file()
}

/// What the tools call their versions, asked for once.
#[derive(Default)]
pub(super) struct Versions(Mutex<BTreeMap<PathBuf, Option<String>>>);

impl Versions {
    /// Of the tool at this path.
    pub(super) async fn of(&self, path: &Path, row: &Row, around: &Surroundings) -> Option<String> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = known().get(path) {
            return version.clone();
        }
        let folder = tempfile::tempdir().ok()?;
        let program = Program {
            path: path.to_owned(),
            arguments: vec!["--version".into()],
            environment: around.of(row, &[], false),
            folder: folder.path(),
            input: "",
            leaves: vec![folder.path()],
            until: Instant::now() + PATIENCE,
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

/// A tool that is to take a turn.
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) row: &'a Row,
    pub(super) around: &'a Surroundings,
    pub(super) versions: &'a Versions,
    pub(super) snapshots: Option<&'a Arc<dyn Snapshots>>,
    pub(super) ask: &'a Ask,
    pub(super) stream: &'a Stream,
}

/// Fetches one turn.
pub(super) async fn speak(call: Call<'_>) -> Result<Said, Failure> {
    let Call { tool, row, around, ask, .. } = call;
    let path = around
        .installed(&row.program)
        .ok_or_else(|| Failure::new(Trouble::NotFound, row.missing()))?;
    fits(tool, row, ask)?;
    // Stopped here, just before it would be stopped from outside, it can still say what held it up.
    let until = Instant::now() + Duration::from_secs(u64::from(ask.seconds)) - HINDSIGHT;
    let mut tries = 1;
    loop {
        let began = Instant::now();
        // Asked beside the turn, which takes longer.
        let (mut done, version) =
            tokio::join!(once(&call, &path, until), call.versions.of(&path, row, around));
        match &mut done {
            Ok(Said { envelope, .. }) | Err(Failure { envelope, .. }) => {
                envelope.attempts = Some(tries);
                envelope.version = envelope.version.take().or(version);
            }
        }
        match done {
            Err(failure) if tries < TRIES && fault::passing(&failure) && Instant::now() < until => {
                let told = Duration::from_millis(failure.retry_ms.unwrap_or_default());
                // Whoever took long to fail has tried again himself.
                if told > LONGEST || began.elapsed() > LONGEST {
                    return Err(failure);
                }
                tokio::time::sleep(pause(tries).max(told)).await;
            }
            done => return done,
        }
        tries += 1;
    }
}

/// A tool that would refuse a prompt of this length is not started.
fn fits(tool: &str, row: &Row, ask: &Ask) -> Result<(), Failure> {
    let length = ask.prompt.chars().count();
    match row.longest {
        Some(most) if length > most => Err(Failure::new(
            Trouble::Other,
            format!(
                "the prompt has {length} characters, and `{tool}` takes {most} at most \
                 (give it less to read, or name another tool)"
            ),
        )),
        _ => Ok(()),
    }
}

async fn once(call: &Call<'_>, path: &Path, until: Instant) -> Result<Said, Failure> {
    let Call { tool, row, around, ask, .. } = *call;
    let broken =
        |error: std::io::Error| Failure::new(Trouble::Crashed, format!("`{tool}`: {error}"));
    let place = Place::new(row, around, ask, call.snapshots).await.map_err(broken)?;
    let off = row.servers(around);
    let model = ask.voice.model();
    let mut environment = around.of(row, &off, ask.web);
    place.settle(&mut environment);
    let program = Program {
        path: path.to_owned(),
        arguments: row.arguments(model, ask.effort, ask.web),
        environment,
        folder: place.folder(),
        input: &ask.prompt,
        leaves: place.leaves(),
        until,
    };
    let mut heard = Heard::default();
    let ended = process::run(&program, |line| {
        if let Some(words) = heard.line(row.reads, line) {
            call.stream.delta(words);
        }
    })
    .await
    .map_err(broken)?;
    heard.envelope.tool = tool.into();
    heard.envelope.model_asked = model.map(Into::into);
    heard.envelope.caveats = caveats(row, ask);
    heard.envelope.caveats.extend(place.caveat());
    let heard = fault::outcome(tool, row, heard, &ended, ask.seconds, &around.secrets(row))?;
    let mut envelope = heard.envelope;
    admit_other_model(&mut envelope);
    Ok(Said { text: heard.text, envelope })
}

/// What a reader of the turn should know of whoever spoke.
fn caveats(row: &Row, ask: &Ask) -> Vec<String> {
    let unasked = |caveat: &&String| ask.effort.is_some() || !caveat.contains("effort");
    let web = row.web_caveat(ask.web).map(Into::into);
    row.caveats.iter().filter(unasked).cloned().chain(web).collect()
}
