//! The server of `debate serve`: restores the arena, then serves the API and the live page and runs
//! the arena's timers.
use super::entry::Entry;
use super::guard::Guard;
use super::listen::listen;
use super::rest::{self, Rest};
use super::site::{self, Scope, Site};
use crate::arena::wire::Create;
use crate::arena::{Bench, Hall, Terms};
use crate::engine::{App, Workspace};
use crate::private;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;

/// Interval of the arena's timers.
const TICK: Duration = Duration::from_secs(1);

/// Shown to viewers that may only read.
const DOOR: &str = "To add a remark, to vote or to pause, open the address with a token that \
                    `debate serve` printed.";

/// Config of the server.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Address to bind.
    pub bind: SocketAddr,
    /// Whether binding to a non-loopback address is allowed, although the server has no TLS.
    pub insecure: bool,
    /// Timeouts and limits of the arena.
    pub terms: Terms,
    /// Judges, audience and budget.
    pub bench: Bench,
    /// Whether each topic gets a rematch with swapped sides.
    pub swap: bool,
    /// Topics to create rooms for, unless one is waiting.
    pub topics: Vec<String>,
    /// Host names of a reverse proxy in front of the server.
    pub names: Vec<String>,
    /// `DEBATE_HOME`, the folder of the arena's lock file.
    pub home: PathBuf,
}

/// Error of starting the server.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Unserved {
    #[error("{0} can be reached by others, and what is said there is not encrypted")]
    Insecure(SocketAddr),
    #[error("{0}: {1}")]
    Bind(SocketAddr, std::io::Error),
    #[error("the arena of `{0}` is being served already")]
    Twice(String),
    #[error("{0}")]
    Arena(String),
}

/// A bound server that is ready to run.
pub struct Server {
    listener: TcpListener,
    desk: App,
    place: Workspace,
    hall: Hall,
    entry: Entry,
    guard: Guard,
    /// Whether the server is reachable from this machine only.
    open: bool,
    /// Whether a reverse proxy is in front of the server.
    proxied: bool,
    /// Lock file. Only one process may serve the rooms of an archive.
    _only: File,
    /// Number of open rooms that were restored.
    pub restored: usize,
    /// Rooms that wait for bots: id and topic.
    pub waiting: Vec<(String, String)>,
}

impl Server {
    /// Binds the socket, acquires the lock and restores the rooms.
    pub async fn bind(desk: App, place: Workspace, wanted: Serving) -> Result<Server, Unserved> {
        let Serving { bind, insecure, terms, bench, swap, topics, names, home } = wanted;
        let proxied = !names.is_empty();
        let open = bind.ip().is_loopback() && !proxied;
        if !bind.ip().is_loopback() && !insecure {
            return Err(Unserved::Insecure(bind));
        }
        let listener =
            TcpListener::bind(bind).await.map_err(|error| Unserved::Bind(bind, error))?;
        let only = only(&home)?;
        let hall = Hall::new(desk.clone(), place.clone(), terms, bench, swap);
        let arena = |refusal: crate::arena::Refusal| Unserved::Arena(refusal.told());
        let restored = hall.restore().await.map_err(arena)?;
        for topic in topics {
            if hall.joinable().iter().all(|(_, waits)| waits != topic.trim()) {
                hall.create(Create { topic, total_rounds: None }).await.map_err(arena)?;
            }
        }
        let waiting = hall.joinable();
        let entry = Entry::new(desk.archive(), "serve", open).map_err(fails)?;
        let guard = Guard::new(listener.local_addr().map_err(fails)?, &names);
        Ok(Server {
            listener,
            desk,
            place,
            hall,
            entry,
            guard,
            open,
            proxied,
            _only: only,
            restored,
            waiting,
        })
    }

    /// Bound address.
    pub fn address(&self) -> Result<SocketAddr, Unserved> {
        self.listener.local_addr().map_err(fails)
    }

    /// URL that signs in the owner.
    pub fn enter(&self, url: &str) -> String {
        format!("{url}/enter?token={}", self.entry.owner())
    }

    /// URL that signs in a reader. `None` if reading needs no token.
    pub fn watch(&self, url: &str) -> Option<String> {
        (!self.open).then(|| format!("{url}/enter?token={}", self.entry.reader()))
    }

    /// Serves requests until the future is dropped.
    pub async fn run(self) {
        let Server { listener, desk, place, hall, entry, guard, open, proxied, _only, .. } = self;
        let (bots, paces, scope) = (Arc::default(), Arc::default(), Scope::Format("arena".into()));
        let shared = Arc::new(entry.clone());
        let rest = Rest { hall: hall.clone(), bots, paces, proxied, entry: shared, open };
        let wire = rest::router(rest, guard.clone());
        let site =
            Site { desk, place, scope, entry, guard, door: DOOR.into(), hall: Some(hall.clone()) };
        let router = site::router(site).merge(wire);
        let time = async {
            let mut tick = tokio::time::interval(TICK);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tick.tick().await;
                hall.tick().await;
            }
        };
        tokio::select! {
            () = listen(listener, router) => {}
            () = time => {}
        }
    }
}

fn fails(error: impl std::fmt::Display) -> Unserved {
    Unserved::Arena(error.to_string())
}

/// Acquires the lock file of the arena. The lock is released when the file is closed.
fn only(home: &Path) -> Result<File, Unserved> {
    private::create_private_dir(home).map_err(fails)?;
    let lock = File::options().create(true).append(true).open(home.join("arena.lock"));
    let lock = lock.map_err(fails)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Unserved::Twice(home.display().to_string())),
        Err(TryLockError::Error(error)) => Err(fails(error)),
    }
}
