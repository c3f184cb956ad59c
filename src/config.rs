//! Configuration: environment variables, paths and the user's `config.toml`, read once at startup
//! into [`Config`]. No other module reads the environment.
mod ci;

pub use ci::{CiContext, CiHost};

use crate::options::DebateOptions;
use etcetera::BaseStrategy;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Amounts of money in the settings must be below this.
const MAX_AMOUNT: f64 = 1e9;

/// Paths, environment and settings of this process.
#[derive(Clone, Debug)]
pub struct Config {
    /// Data directory: database, signing key, backups. `DEBATE_HOME`, or the platform default.
    pub data_dir: PathBuf,
    /// Directory of the user's prompt templates, which override the built-in ones.
    pub prompts_dir: PathBuf,
    /// Directory of the user's own formats.
    pub formats_dir: PathBuf,
    /// Working directory of the process.
    pub current_dir: PathBuf,
    /// Root of the Git repository around the working directory, or that directory if there is none.
    pub repo_root: PathBuf,
    /// Path of the running executable.
    pub program: PathBuf,
    /// Replaces the client's directory for state files. Set by `AI_STATE_DIR`.
    pub state_dir: Option<PathBuf>,
    /// Directories of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// Editor command from `VISUAL` or `EDITOR`.
    pub editor: Option<String>,
    /// Log level from `DEBATE_LOG`: `error`, `warn`, `info`, `debug` or `trace`.
    pub log_level: Option<String>,
    /// The user's home and config directories.
    pub user_dirs: (PathBuf, PathBuf),
    /// All environment variables, passed on to child processes.
    pub environment: Environment,
    /// Parsed `config.toml`.
    pub settings: UserSettings,
}

/// Environment variables. `Debug` prints only the count, because values may be secrets.
#[derive(Clone, Default)]
pub struct Environment(pub Vec<(OsString, OsString)>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} variables", self.0.len())
    }
}

impl Environment {
    /// Variables whose names suggest a secret, as name and value.
    pub fn secret_vars(&self) -> impl Iterator<Item = (String, String)> {
        const SECRET_NAME_PARTS: &[&str] =
            &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "PASSPHRASE"];
        self.0.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            let upper = name.to_uppercase();
            SECRET_NAME_PARTS
                .iter()
                .any(|word| upper.contains(word))
                .then(|| (name.into(), value.into()))
        })
    }
}

/// Schema of `debate/config.toml` in the user's config directory. Every key is optional.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UserSettings {
    /// CLI providers: overrides of built-in fields, or new tools.
    pub tools: toml::Table,
    /// HTTP API providers: overrides of built-in fields, or new services.
    pub apis: ApiSettings,
    /// Default participants.
    pub seats: SeatSettings,
    /// Default limits of a debate.
    pub limits: LimitSettings,
    /// Default options of a debate. A flag or argument overrides each.
    pub defaults: DebateOptions,
    /// Prices of models, for cost estimates.
    pub prices: PriceSettings,
}

/// Default participants, for seats that are not named.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SeatSettings {
    /// Proposer and challenger pairs, in order of preference.
    pub pairings: Vec<(String, String)>,
    /// Judges, in order of preference.
    pub judges: Vec<String>,
    /// Whether each model gets a test prompt before a debate starts. Default: true.
    pub probe: Option<bool>,
}

/// Default limits of a debate. A flag or argument overrides each.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Maximum cost, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// Maximum of input and output tokens.
    pub max_tokens: Option<u64>,
    /// Maximum duration of all turns, added up.
    pub max_minutes: Option<u64>,
    /// Timeout of one turn, for every provider.
    pub turn_seconds: Option<u32>,
}

/// Prices of models. None are built in, because outdated prices would give wrong estimates.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PriceSettings {
    /// Date of the price list, as text.
    pub as_of: Option<String>,
    /// Prices by `tool:model` or by model.
    pub models: BTreeMap<String, ModelPrice>,
}

/// Price per million tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
}

/// Tables of HTTP API providers. `Debug` prints only the count, because they may contain API keys.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct ApiSettings(pub toml::Table);

impl ApiSettings {
    /// API keys written in the config file, by provider name.
    pub fn api_keys(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(|(name, service)| {
            let key = service.get("key")?.as_str()?;
            Some((name.clone(), key.to_owned()))
        })
    }
}

impl std::fmt::Debug for ApiSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} services", self.0.len())
    }
}

/// Error while loading the configuration.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ConfigError {
    #[error("there is no home directory; set DEBATE_HOME to a folder for the archive")]
    NoHomeDir,
    #[error("the current folder cannot be read: {0}")]
    NoCurrentDir(std::io::Error),
    #[error(
        "`{0}`: {1}; known tables are `tools.NAME`, `apis.NAME`, `seats`, `limits`, \
         `defaults`, `prices`"
    )]
    InvalidFile(String, String),
}

impl Config {
    /// Loads the configuration from the environment and `config.toml`.
    pub fn load() -> Result<Config, ConfigError> {
        let current_dir = env::current_dir().map_err(ConfigError::NoCurrentDir)?;
        let dirs = etcetera::choose_base_strategy().ok();
        let env_value = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let data_dir = env_value("DEBATE_HOME")
            .map(|data_dir| current_dir.join(data_dir))
            .or_else(|| dirs.as_ref().map(|dirs| dirs.data_dir().join("debate")))
            .ok_or(ConfigError::NoHomeDir)?;
        let config_dir =
            dirs.as_ref().map_or_else(|| data_dir.clone(), |dirs| dirs.config_dir().join("debate"));
        let user_dirs = dirs.as_ref().map(|dirs| (dirs.home_dir().to_owned(), dirs.config_dir()));
        Ok(Config {
            data_dir,
            prompts_dir: config_dir.join("prompts"),
            formats_dir: config_dir.join("formats"),
            settings: read_user_settings(&config_dir.join("config.toml"))?,
            user_dirs: user_dirs.unwrap_or_default(),
            environment: Environment(env::vars_os().collect()),
            repo_root: find_repo_root(&current_dir),
            program: env::current_exe().unwrap_or_else(|_| PathBuf::from("debate")),
            search_path: env::var_os("PATH")
                .map_or_else(Vec::new, |path| env::split_paths(&path).collect()),
            state_dir: env_value("AI_STATE_DIR").map(PathBuf::from),
            log_level: env::var("DEBATE_LOG").ok(),
            editor: ["VISUAL", "EDITOR"]
                .into_iter()
                .find_map(|name| env::var(name).ok().filter(|editor| !editor.trim().is_empty())),
            current_dir,
        })
    }

    /// Path of the state file with the repository's last debate, below `AI_STATE_DIR` if set, else
    /// below the client's own directory.
    pub fn state_file(&self, default_dir: &str) -> PathBuf {
        let folder = self.state_dir.clone().unwrap_or_else(|| PathBuf::from(default_dir));
        self.repo_root.join(folder).join("debate").join("last-debate.json")
    }
}

/// Reads and validates `config.toml`. A missing file gives the defaults.
fn read_user_settings(path: &Path) -> Result<UserSettings, ConfigError> {
    let invalid = |message: String| ConfigError::InvalidFile(path.display().to_string(), message);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(UserSettings::default());
        }
        Err(error) => return Err(invalid(error.to_string())),
    };
    let settings: UserSettings = toml::from_str(&text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
        invalid(format!("line {line}: {}", error.message().replace('\n', " ")))
    })?;
    settings.validate().map_err(invalid)?;
    Ok(settings)
}

impl UserSettings {
    /// The default options of a debate, with those of the tables `limits` and `seats`.
    pub fn default_options(&self) -> DebateOptions {
        let LimitSettings { max_cost, max_tokens, max_minutes, turn_seconds } = self.limits;
        let probe = self.seats.probe;
        let older_tables = DebateOptions {
            probe,
            max_cost,
            max_tokens,
            max_minutes,
            turn_seconds,
            ..DebateOptions::default()
        };
        self.defaults.clone().or(&older_tables)
    }

    /// Validates amounts. A negative or infinite one would act as no limit or unknown price.
    fn validate(&self) -> Result<(), String> {
        let check_amount = |name: &str, amount: f64| {
            let is_valid = (0.0..MAX_AMOUNT).contains(&amount);
            is_valid.then_some(()).ok_or_else(|| {
                format!("`{name}` is {amount}; it must be at least 0 and below {MAX_AMOUNT}")
            })
        };
        self.limits.max_cost.map_or(Ok(()), |cost| check_amount("limits.max_cost", cost))?;
        self.defaults.max_cost.map_or(Ok(()), |cost| check_amount("defaults.max_cost", cost))?;
        let timeouts =
            [("limits", self.limits.turn_seconds), ("defaults", self.defaults.turn_seconds)];
        if let Some((table, _)) = timeouts.iter().find(|(_, seconds)| *seconds == Some(0)) {
            return Err(format!("`{table}.turn_seconds` is 0; it must be at least 1"));
        }
        for (name, price) in &self.prices.models {
            check_amount(&format!("prices.models.{name}.input"), price.input)?;
            check_amount(&format!("prices.models.{name}.output"), price.output)?;
        }
        Ok(())
    }
}

/// Nearest ancestor with a `.git` entry, or the folder itself if there is none.
fn find_repo_root(folder: &Path) -> PathBuf {
    let folder = dunce::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(&folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_money_are_limited() {
        let validate = |amount: f64| {
            let limits = LimitSettings { max_cost: Some(amount), ..LimitSettings::default() };
            UserSettings { limits, ..UserSettings::default() }.validate()
        };
        assert_eq!(validate(MAX_AMOUNT.next_down()), Ok(()));
        let error = validate(MAX_AMOUNT).unwrap_err();
        assert!(error.ends_with("it must be at least 0 and below 1000000000"), "{error}");
    }
}
