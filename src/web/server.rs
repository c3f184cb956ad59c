//! The server of `debate serve`: restores the arena, then serves the API and the live page and runs
//! the arena's timers.
use super::arena_api::{self, ArenaApiState};
use super::auth::AuthTokens;
use super::listen::listen;
use super::origin_check::OriginCheck;
use super::site::{self, SiteConfig};
use super::site_state::SiteScope;
use crate::app::App;
use crate::arena::protocol::CreateRoomRequest;
use crate::arena::{ArenaLimits, ArenaService, JudgingConfig};
use crate::engine::Workspace;
use crate::secure_fs;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;

/// Interval of the arena's timers.
const TICK_INTERVAL: Duration = Duration::from_secs(1);

/// Shown to viewers that may only read.
const SIGN_IN_HINT: &str = concat!(
    "To add a remark, to vote or to pause, open the address with a token that ",
    "`debate serve` printed.",
);

/// Config of the server.
#[derive(Clone, Debug)]
pub struct ArenaServerConfig {
    /// Address to bind.
    pub bind: SocketAddr,
    /// Whether binding to a non-loopback address is allowed, although the server has no TLS.
    pub allow_insecure: bool,
    /// Timeouts and limits of the arena.
    pub limits: ArenaLimits,
    /// Judges, audience and budget.
    pub judging: JudgingConfig,
    /// Whether each topic gets a rematch with swapped sides.
    pub play_rematch: bool,
    /// Topics to create rooms for, unless one is waiting.
    pub topics: Vec<String>,
    /// Host names of a reverse proxy in front of the server.
    pub host_names: Vec<String>,
    /// `DEBATE_HOME`, the folder of the arena's lock file.
    pub home: PathBuf,
}

/// Error of starting the server.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ServeError {
    #[error("{0} can be reached by others, and the connection is not encrypted")]
    Insecure(SocketAddr),
    #[error("cannot listen at {0}: {1}")]
    Bind(SocketAddr, std::io::Error),
    #[error("another process already serves the arena of `{0}`")]
    AlreadyServed(String),
    #[error("{0}")]
    Arena(String),
}

/// A bound server that is ready to run.
pub struct ArenaServer {
    listener: TcpListener,
    app: App,
    workspace: Workspace,
    arena: ArenaService,
    auth: AuthTokens,
    origin_check: OriginCheck,
    /// Whether the server is reachable from this machine only.
    local_only: bool,
    /// Whether a reverse proxy is in front of the server.
    behind_proxy: bool,
    /// Lock file. Only one process may serve the rooms of an archive.
    _lock: File,
    /// Number of open rooms that were restored.
    pub restored_rooms: usize,
    /// Rooms that wait for bots: id and topic.
    pub waiting_rooms: Vec<(String, String)>,
}

impl ArenaServer {
    /// Binds the socket, acquires the lock and restores the rooms.
    pub async fn bind(
        app: App,
        workspace: Workspace,
        config: ArenaServerConfig,
    ) -> Result<ArenaServer, ServeError> {
        let ArenaServerConfig {
            bind,
            allow_insecure,
            limits,
            judging,
            play_rematch,
            topics,
            host_names,
            home,
        } = config;
        let behind_proxy = !host_names.is_empty();
        let local_only = bind.ip().is_loopback() && !behind_proxy;
        if !bind.ip().is_loopback() && !allow_insecure {
            return Err(ServeError::Insecure(bind));
        }
        let listener =
            TcpListener::bind(bind).await.map_err(|error| ServeError::Bind(bind, error))?;
        let lock = acquire_lock(&home)?;
        let arena_service =
            ArenaService::new(app.clone(), workspace.clone(), limits, judging, play_rematch);
        let arena_error =
            |refusal: crate::arena::ArenaError| ServeError::Arena(refusal.log_message());
        let restored_rooms = arena_service.restore_rooms().await.map_err(arena_error)?;
        for topic in topics {
            if arena_service
                .joinable_rooms()
                .iter()
                .all(|(_, waiting_topic)| waiting_topic != topic.trim())
            {
                arena_service
                    .create_room(CreateRoomRequest { topic, total_rounds: None })
                    .await
                    .map_err(arena_error)?;
            }
        }
        let waiting_rooms = arena_service.joinable_rooms();
        let auth =
            AuthTokens::new(&*app.archive().key, "serve", local_only).map_err(start_error)?;
        let origin_check =
            OriginCheck::new(listener.local_addr().map_err(start_error)?, &host_names);
        Ok(ArenaServer {
            listener,
            app,
            workspace,
            arena: arena_service,
            auth,
            origin_check,
            local_only,
            behind_proxy,
            _lock: lock,
            restored_rooms,
            waiting_rooms,
        })
    }

    /// Bound address.
    pub fn address(&self) -> Result<SocketAddr, ServeError> {
        self.listener.local_addr().map_err(start_error)
    }

    /// URL that signs in the owner.
    pub fn owner_url(&self, url: &str) -> String {
        format!("{url}/enter?token={}", self.auth.owner_token())
    }

    /// URL that signs in a reader. `None` if reading needs no token.
    pub fn reader_url(&self, url: &str) -> Option<String> {
        (!self.local_only).then(|| format!("{url}/enter?token={}", self.auth.reader_token()))
    }

    /// Serves requests until the future is dropped.
    pub async fn run(self) {
        let ArenaServer {
            listener,
            app,
            workspace,
            arena,
            auth,
            origin_check,
            local_only,
            behind_proxy,
            _lock,
            ..
        } = self;
        let (bot_limiter, network_limiter, scope) =
            (Arc::default(), Arc::default(), SiteScope::Format("arena".into()));
        let shared_auth = Arc::new(auth.clone());
        let api_state = ArenaApiState {
            arena: arena.clone(),
            bot_limiter,
            network_limiter,
            behind_proxy,
            auth: shared_auth,
            public_create: local_only,
        };
        let api_router = arena_api::router(api_state, origin_check.clone());
        let site_config = SiteConfig {
            app,
            workspace,
            scope,
            auth,
            origin_check,
            sign_in_hint: SIGN_IN_HINT.into(),
            arena: Some(arena.clone()),
        };
        let router = site::router(site_config).merge(api_router);
        let timers = async {
            let mut tick = tokio::time::interval(TICK_INTERVAL);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tick.tick().await;
                arena.tick().await;
            }
        };
        tokio::select! {
            () = listen(listener, router) => {}
            () = timers => {}
        }
    }
}

fn start_error(error: impl std::fmt::Display) -> ServeError {
    ServeError::Arena(error.to_string())
}

/// Acquires the lock file of the arena. The lock is released when the file is closed.
fn acquire_lock(home: &Path) -> Result<File, ServeError> {
    secure_fs::create_private_dir(home).map_err(start_error)?;
    let lock = File::options().create(true).append(true).open(home.join("arena.lock"));
    let lock = lock.map_err(start_error)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(ServeError::AlreadyServed(home.display().to_string())),
        Err(TryLockError::Error(error)) => Err(start_error(error)),
    }
}
