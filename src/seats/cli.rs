//! A turn spoken by a model CLI. It runs in an empty folder of its own, with an environment of its
//! own, and is asked again only for what can pass.
use super::fault;
use super::heard::Heard;
use super::patience::{TRIES, pause};
use super::process::{self, Program};
use super::proof::admit_other_model;
use super::row::Row;
use crate::debate::{Effort, Failure, Trouble};
use crate::engine::{Ask, Said, Stream};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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

/// Marks whatever a seat starts, so that a debate does not open debates.
pub(super) const MARK: &str = "DEBATE_SEAT";

/// How long a tool may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

impl Surroundings {
    /// Where a program is installed.
    pub(super) fn installed(&self, program: &str) -> Option<PathBuf> {
        let given = Path::new(program);
        if given.components().count() > 1 {
            return given.is_file().then(|| given.to_owned());
        }
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        self.path.iter().map(|folder| folder.join(&file)).find(|path| path.is_file())
    }

    /// What a tool is given: what everyone needs, what is for it, and what its row sets.
    fn of(&self, row: &Row, off: &[String]) -> Vec<(OsString, OsString)> {
        let set = row.settings(off);
        let kept = |name: &OsStr| {
            let name = name.to_string_lossy();
            EVERYONE.contains(&&*name) || (row.keeps(&name) && !set.contains_key(&*name))
        };
        let kept = self.environment.iter().filter(|(name, _)| kept(name)).cloned();
        let set = set.iter().map(|(name, value)| (name.into(), value.into()));
        let mark = (OsString::from(MARK), OsString::from("1"));
        kept.chain(set).chain([mark]).collect()
    }
}

/// What the tools call their versions, asked for once.
#[derive(Default)]
pub(super) struct Versions(Mutex<BTreeMap<PathBuf, Option<String>>>);

impl Versions {
    async fn of(&self, path: &Path, row: &Row, around: &Surroundings) -> Option<String> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = known().get(path) {
            return version.clone();
        }
        let folder = tempfile::tempdir().ok()?;
        let program = Program {
            path: path.to_owned(),
            arguments: vec!["--version".into()],
            environment: around.of(row, &[]),
            folder: folder.path(),
            input: "",
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
        let _ = tokio::time::timeout(PATIENCE, asked).await;
        known().insert(path.to_owned(), version.clone());
        version
    }
}

/// Fetches one turn.
pub(super) async fn speak(
    tool: &str,
    row: &Row,
    around: &Surroundings,
    versions: &Versions,
    ask: &Ask,
    stream: &Stream,
) -> Result<Said, Failure> {
    let path = around.installed(&row.program).ok_or_else(|| {
        Failure::new(
            Trouble::NotFound,
            format!("`{}` is not installed ({})", row.program, row.install),
        )
    })?;
    let mut tries = 1;
    loop {
        // Asked beside the turn, which takes longer.
        let (mut done, version) = tokio::join!(
            once(tool, row, &path, around, ask, stream),
            versions.of(&path, row, around)
        );
        match &mut done {
            Ok(Said { envelope, .. }) | Err(Failure { envelope, .. }) => {
                envelope.attempts = Some(tries);
                envelope.version = envelope.version.take().or(version);
            }
        }
        match done {
            Err(failure) if tries < TRIES && fault::passing(&failure) => {}
            done => return done,
        }
        tokio::time::sleep(pause(tries)).await;
        tries += 1;
    }
}

async fn once(
    tool: &str,
    row: &Row,
    path: &Path,
    around: &Surroundings,
    ask: &Ask,
    stream: &Stream,
) -> Result<Said, Failure> {
    let broken =
        |error: std::io::Error| Failure::new(Trouble::Crashed, format!("`{tool}`: {error}"));
    let folder = tempfile::Builder::new().prefix("debate-seat-").tempdir().map_err(broken)?;
    let off = row.servers(&around.home, &around.config);
    let model = ask.voice.model();
    let program = Program {
        path: path.to_owned(),
        arguments: row.arguments(model, ask.effort, &off),
        environment: around.of(row, &off),
        folder: folder.path(),
        input: &ask.prompt,
    };
    let mut heard = Heard::default();
    let ended = process::run(&program, |line| {
        if let Some(words) = heard.line(row.reads, line) {
            stream.delta(words);
        }
    })
    .await
    .map_err(broken)?;
    heard.envelope.tool = tool.into();
    heard.envelope.model_asked = model.map(Into::into);
    heard.envelope.caveats = caveats(row, ask.effort);
    let heard = fault::outcome(tool, row, heard, &ended)?;
    let mut envelope = heard.envelope;
    admit_other_model(&mut envelope);
    Ok(Said { text: heard.text, envelope })
}

fn caveats(row: &Row, effort: Option<Effort>) -> Vec<String> {
    let unasked = |caveat: &&String| effort.is_some() || !caveat.contains("effort");
    row.caveats.iter().filter(unasked).cloned().collect()
}
