//! What the surroundings say, read once. Nothing else reads the environment.
mod pipeline;

pub use pipeline::{Host, Pipeline};

use etcetera::BaseStrategy;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where things are, and how the user likes them.
#[derive(Clone, Debug)]
pub struct Config {
    /// The archive, the key and what belongs to them.
    pub home: PathBuf,
    /// The user's own prompts.
    pub prompts: PathBuf,
    /// Formats of the user's own.
    pub formats: PathBuf,
    /// Where the program was started.
    pub folder: PathBuf,
    /// The repository that folder is in, or the folder if there is none.
    pub root: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// In place of the folder the client in use has.
    pub state_dir: Option<PathBuf>,
    /// Where programs are looked for.
    pub path: Vec<PathBuf>,
    /// What a person writes in.
    pub editor: Option<String>,
    /// How much the program tells of itself: `error`, `warn`, `info`, `debug`, `trace`.
    pub log: Option<String>,
    /// The user's home, and their configuration.
    pub user: (PathBuf, PathBuf),
    /// What the environment holds, for programs that are started.
    pub environment: Environment,
    /// What the user's own file says.
    pub settings: Settings,
}

/// The environment: never shown, because there are keys in it.
#[derive(Clone, Default)]
pub struct Environment(pub Vec<(OsString, OsString)>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} variables", self.0.len())
    }
}

impl Environment {
    /// What is called a secret in it: names and values.
    pub fn secrets(&self) -> impl Iterator<Item = (String, String)> {
        const NAMED: &[&str] =
            &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "PASSPHRASE"];
        self.0.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            let upper = name.to_uppercase();
            NAMED.iter().any(|word| upper.contains(word)).then(|| (name.into(), value.into()))
        })
    }
}

/// `debate/config.toml` in the user's configuration. All of it may be left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How tools are called: fields in place of ours, or tools of the user's own.
    pub tools: toml::Table,
    /// How HTTP APIs are spoken to: fields in place of ours, or services of the user's own.
    pub apis: Services,
    /// Who is seated where nobody is named.
    pub seats: Seats,
    /// What a debate may come to where nothing else is said.
    pub limits: Limits,
    /// What models cost.
    pub prices: Prices,
}

/// Who is seated where nobody is named.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Seats {
    /// Proposer and challenger, the best pair first.
    pub pairings: Vec<(String, String)>,
    /// Who rules, the best first.
    pub judges: Vec<String>,
    /// Whether each model is asked once before a debate opens; it is, if nothing is said.
    pub probe: Option<bool>,
}

/// What a debate may come to where nothing else is said.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// In the currency of the prices.
    pub max_cost: Option<f64>,
    /// Read and written.
    pub max_tokens: Option<u64>,
    /// Of turns, added up.
    pub max_minutes: Option<u64>,
    /// That one turn may take, whoever takes it.
    pub turn_seconds: Option<u32>,
}

/// What models cost, as of a day: a guess would be worse than nothing, so none are built in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prices {
    /// The day they were looked up.
    pub as_of: Option<String>,
    /// By `tool:model`, or by model.
    pub models: BTreeMap<String, Tariff>,
}

/// For a million tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tariff {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
}

/// Tables of the user's own services: never shown, because there may be keys in them.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Services(pub toml::Table);

impl Services {
    /// Keys that were written down, by the service they are for.
    pub fn keys(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(|(name, service)| {
            let key = service.get("key")?.as_str()?;
            Some((name.clone(), key.to_owned()))
        })
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} services", self.0.len())
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ConfigError {
    #[error("there is no home directory; set DEBATE_HOME to a folder for the archive")]
    Homeless,
    #[error("the current folder cannot be read: {0}")]
    Nowhere(std::io::Error),
    #[error(
        "`{0}`: {1}; known are the tables `tools.NAME`, `apis.NAME`, `seats`, `limits`, `prices`"
    )]
    Settings(String, String),
}

impl Config {
    /// From the environment.
    pub fn load() -> Result<Config, ConfigError> {
        let folder = env::current_dir().map_err(ConfigError::Nowhere)?;
        let dirs = etcetera::choose_base_strategy().ok();
        let said = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let home = said("DEBATE_HOME")
            .map(|home| folder.join(home))
            .or_else(|| dirs.as_ref().map(|dirs| dirs.data_dir().join("debate")))
            .ok_or(ConfigError::Homeless)?;
        let config =
            dirs.as_ref().map_or_else(|| home.clone(), |dirs| dirs.config_dir().join("debate"));
        let user = dirs.as_ref().map(|dirs| (dirs.home_dir().to_owned(), dirs.config_dir()));
        Ok(Config {
            home,
            prompts: config.join("prompts"),
            formats: config.join("formats"),
            settings: settings(&config.join("config.toml"))?,
            user: user.unwrap_or_default(),
            environment: Environment(env::vars_os().collect()),
            root: repository(&folder),
            program: env::current_exe().unwrap_or_else(|_| PathBuf::from("debate")),
            path: env::var_os("PATH")
                .map_or_else(Vec::new, |path| env::split_paths(&path).collect()),
            state_dir: said("AI_STATE_DIR").map(PathBuf::from),
            log: env::var("DEBATE_LOG").ok(),
            editor: ["VISUAL", "EDITOR"]
                .into_iter()
                .find_map(|name| env::var(name).ok().filter(|editor| !editor.trim().is_empty())),
            folder,
        })
    }

    /// Where a repository keeps its last debate: in the folder the user named, or the usual one of
    /// whoever asks.
    pub fn state_file(&self, usual: &str) -> PathBuf {
        let folder = self.state_dir.clone().unwrap_or_else(|| PathBuf::from(usual));
        self.root.join(folder).join("debate").join("last-debate.json")
    }
}

/// What the user's own file says; nothing, if there is none.
fn settings(path: &Path) -> Result<Settings, ConfigError> {
    let bad = |why: String| ConfigError::Settings(path.display().to_string(), why);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Settings::default());
        }
        Err(error) => return Err(bad(error.to_string())),
    };
    let settings: Settings = toml::from_str(&text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
        bad(format!("line {line}: {}", error.message().replace('\n', " ")))
    })?;
    settings.check().map_err(bad)?;
    Ok(settings)
}

impl Settings {
    /// Amounts that are none would otherwise pass for unlimited, or for unknown.
    fn check(&self) -> Result<(), String> {
        let amount = |name: &str, amount: f64| {
            let fits = (0.0..1e9).contains(&amount);
            fits.then_some(()).ok_or_else(|| format!("`{name}` is {amount}, which is no amount"))
        };
        self.limits.max_cost.map_or(Ok(()), |cost| amount("limits.max_cost", cost))?;
        if self.limits.turn_seconds == Some(0) {
            return Err("`limits.turn_seconds` is 0, and nobody answers in no time".into());
        }
        for (name, tariff) in &self.prices.models {
            amount(&format!("prices.models.{name}.input"), tariff.input)?;
            amount(&format!("prices.models.{name}.output"), tariff.output)?;
        }
        Ok(())
    }
}

/// The repository a folder is in, or the folder if there is none.
fn repository(folder: &Path) -> PathBuf {
    let folder = dunce::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(&folder).to_owned()
}
