//! Starts the program: parses arguments, loads the config, wires the adapters into [`App`], and runs
//! either the MCP server or a CLI command.
use crate::app::{App, AppParts, StartDefaults};
use crate::brief::RepositorySource;
use crate::cli::{self, args::Args, args::CliCommand};
use crate::config::Config;
use crate::engine::Clock;
use crate::evidence::CitationChecker;
use crate::formats_catalog;
use crate::mcp;
use crate::providers::{PriceList, ProviderConfig, ProviderRegistry, SystemEnvironment};
use crate::redact::Secrets;
use crate::repo::TreeStore;
use crate::secure_fs;
use crate::store::SqliteArchive;
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Worker threads of the async runtime. Blocking work has its own threads.
const WORKER_THREADS: usize = 2;
/// Characters per second that the demo prints on a terminal.
const DEMO_CHARS_PER_SECOND: u32 = 400;

/// System clock, in Unix milliseconds.
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
    }
}

/// Starts logging to stderr at the level of `DEBATE_LOG` (default: `warn`). Dependencies log
/// warnings only: their debug lines would hide ours, and could contain request headers.
fn start_logging(level: Option<&str>) {
    let parsed = level.map(str::parse::<Level>);
    let own_level = parsed.as_ref().and_then(|level| level.as_ref().ok()).copied();
    let own_level = own_level.unwrap_or(Level::WARN);
    let targets = Targets::new()
        .with_default(own_level.min(Level::WARN))
        .with_target("debate", own_level)
        .with_target("debate_mcp", own_level);
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(Level::TRACE)
        .finish()
        .with(targets)
        .init();
    if let (Some(level), Some(Err(_))) = (level, parsed) {
        tracing::warn!(level, "unknown DEBATE_LOG; use error, warn, info, debug or trace");
    }
}

/// Runs the program and returns its exit code.
pub fn run() -> ExitCode {
    let args = Args::parse();
    let config = Config::load();
    start_logging(config.as_ref().ok().and_then(|config| config.log_level.as_deref()));
    let config = match config {
        Ok(config) => config,
        Err(error) => {
            tracing::error!(%error, "cannot load the configuration");
            return ExitCode::FAILURE;
        }
    };
    tracing::debug!(version = env!("CARGO_PKG_VERSION"), "program started");
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let secrets = build_redactor(&config);
    let archive = SqliteArchive::new(&config.data_dir, clock.clone()).into_ports();
    let environment = SystemEnvironment {
        variables: config.environment.0.clone(),
        search_path: config.search_path.clone(),
        home_dir: config.user_dirs.0.clone(),
        config_dir: config.user_dirs.1.clone(),
    };
    let trees = TreeStore::new(&config.data_dir).with_secrets(secrets.clone());
    let briefs = Arc::new(RepositorySource {
        current_folder: config.current_dir.clone(),
        tree_store: trees.clone(),
    });
    let settings = &config.settings;
    let model_prices = settings.prices.models.iter();
    let providers = ProviderRegistry::new(ProviderConfig {
        demo_speed: demo_speed(&args),
        tools: settings.tools.clone(),
        apis: settings.apis.0.clone(),
        prices: PriceList {
            models: model_prices
                .map(|(name, price)| (name.clone(), (price.input, price.output)))
                .collect(),
            as_of: settings.prices.as_of.clone(),
        },
        environment,
        snapshots: Some(briefs.clone()),
    });
    let app = App::new(AppParts {
        archive,
        providers: Arc::new(providers),
        briefs,
        evidence: Arc::new(CitationChecker::new(trees)),
        secrets,
        clock,
        catalog: formats_catalog::load(&config.prompts_dir, &config.formats_dir),
        defaults: StartDefaults {
            options: settings.default_options(),
            pairings: settings.seats.pairings.clone(),
            judges: settings.seats.judges.clone(),
        },
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "cannot start the async runtime");
            return ExitCode::FAILURE;
        }
    };
    let exit = match args.command {
        CliCommand::Mcp => runtime.block_on(mcp::serve(&config, app)),
        _ => runtime.block_on(cli::run(args, &config, &app)).into(),
    };
    // A thread blocked on reading stdin must not keep the process alive.
    runtime.shutdown_background();
    exit
}

/// Builds the secret redactor. Placeholders are keyed with the user's key. If there is no key file,
/// a random key is used and placeholders differ between processes.
fn build_redactor(config: &Config) -> Secrets {
    let data_dir = config.data_dir.clone();
    let key = move || {
        secure_fs::load_or_create_key(&data_dir).unwrap_or_else(|error| {
            tracing::debug!(kind = ?error.kind(), "no secret key; placeholders use a random one");
            let mut bytes = vec![0; secure_fs::KEY_BYTES];
            let _ = getrandom::fill(&mut bytes);
            bytes
        })
    };
    Secrets::new(key, config.environment.secret_vars().chain(config.settings.apis.api_keys()))
}

/// Characters per second of the demo: readable on a terminal, otherwise unlimited (`None`).
fn demo_speed(args: &Args) -> Option<u32> {
    use std::io::IsTerminal;
    let CliCommand::Demo(demo) = &args.command else { return None };
    let default_speed = if std::io::stdout().is_terminal() { DEMO_CHARS_PER_SECOND } else { 0 };
    Some(demo.speed.unwrap_or(default_speed)).filter(|speed| *speed > 0)
}
