//! An arena that is served: rooms taken up again, time kept, connections answered.
use super::entry::Entry;
use super::guard::Guard;
use super::listen::listen;
use super::rest::{self, Rest};
use super::site::{self, Scope, Site};
use crate::arena::wire::Create;
use crate::arena::{Bench, Hall, Terms};
use crate::engine::{Desk, Place};
use crate::private;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;

/// How often time is looked at.
const TICK: Duration = Duration::from_secs(1);

/// How somebody without a token could get one.
const DOOR: &str = "To add a remark, to vote or to pause, open the address with a token that \
                    `debate serve` printed.";

/// What somebody wants to be served.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where.
    pub bind: SocketAddr,
    /// Whether others than this machine may be let in without encryption of our own.
    pub insecure: bool,
    /// How long everything may take.
    pub terms: Terms,
    /// Who judges.
    pub bench: Bench,
    /// Whether every motion is debated twice, with the sides changed.
    pub swap: bool,
    /// Motions for which a room is made, unless one for it waits already.
    pub topics: Vec<String>,
    /// The names it is known by besides its address: those of a proxy before it.
    pub names: Vec<String>,
    /// The user's home, whose arena it is.
    pub home: PathBuf,
}

/// Why nothing is served.
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

/// An arena that is about to be served.
pub struct Server {
    listener: TcpListener,
    desk: Desk,
    place: Place,
    hall: Hall,
    entry: Entry,
    guard: Guard,
    /// Whether only this machine can reach it.
    open: bool,
    /// Whether a proxy stands before it.
    proxied: bool,
    /// Held for as long as it is served: rooms are one archive's, and so is whoever changes them.
    _only: File,
    /// Rooms that were not over when it was last served.
    pub restored: usize,
    /// Rooms that wait for bots, by what bots call them, with their motions.
    pub waiting: Vec<(String, String)>,
}

impl Server {
    /// Takes its place, and takes up what was there.
    pub async fn bind(desk: Desk, place: Place, wanted: Serving) -> Result<Server, Unserved> {
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

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr, Unserved> {
        self.listener.local_addr().map_err(fails)
    }

    /// Where whoever runs it enters the page.
    pub fn enter(&self, url: &str) -> String {
        format!("{url}/enter?token={}", self.entry.owner())
    }

    /// Where those enter who may only read, if anybody has to.
    pub fn watch(&self, url: &str) -> Option<String> {
        (!self.open).then(|| format!("{url}/enter?token={}", self.entry.reader()))
    }

    /// Answers bots and viewers until it is dropped.
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

/// Nobody else serves the arena of this home from now on, until this is dropped.
fn only(home: &Path) -> Result<File, Unserved> {
    private::folder(home).map_err(fails)?;
    let lock = File::options().create(true).append(true).open(home.join("arena.lock"));
    let lock = lock.map_err(fails)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Unserved::Twice(home.display().to_string())),
        Err(TryLockError::Error(error)) => Err(fails(error)),
    }
}
