//! An archive in memory: event logs, queries, maintenance, commands and rooms without files and SQL.
//! It makes tests fast, and passes the same contract tests as the SQLite archive. Handles that share
//! their data behave like processes that share a database.
use super::memory_tables::{MemoryDebate, MemoryProcess, MemoryTables};
use debate_mcp::debate::{Debate, Event, Setup};
use debate_mcp::engine::{
    ArchiveError, ArchiveHealth, ArchiveMaintenance, ArchivePorts, BoxFuture, Clock, Command,
    CommandQueue, CommandResult, DebateCard, DebateFiles, DebateNews, DebateQueries, DebateQuery,
    DuplicatePolicy, EventStore, ForeignDebate, FoundStateFile, LeaseMode, LeaseSignal, LiveText,
    Log, LogError, OpenedDebate, QueuedCommandId, RecordedEvent, ReindexReport, RoomStore,
    SearchHit, StoredDebate, Update, UserKey, Workspace,
};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, broadcast};

/// One process's handle on an archive in memory. Its leases end with it.
pub(crate) struct MemoryArchive {
    process: Arc<MemoryProcess>,
    data: Arc<MemoryData>,
}

/// Data that all processes share.
#[derive(Default)]
struct MemoryData {
    tables: Mutex<MemoryTables>,
    /// Notified when a lease was taken over or commands were queued.
    changed: Notify,
}

impl MemoryArchive {
    /// An empty archive.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> MemoryArchive {
        MemoryArchive::with_data(Arc::default(), clock)
    }

    /// Another process on the same archive, with its own clock.
    pub(crate) fn new_process(&self, clock: Arc<dyn Clock>) -> MemoryArchive {
        MemoryArchive::with_data(self.data.clone(), clock)
    }

    fn with_data(data: Arc<MemoryData>, clock: Arc<dyn Clock>) -> MemoryArchive {
        let process = data.tables.lock().unwrap().new_process(clock);
        MemoryArchive { process, data }
    }

    /// The ports of this archive. Nothing is exported, and no file can be imported.
    pub(crate) fn into_ports(self) -> ArchivePorts {
        let archive = Arc::new(self);
        ArchivePorts {
            events: archive.clone(),
            queries: archive.clone(),
            maintenance: archive.clone(),
            commands: archive.clone(),
            rooms: archive,
            files: Arc::new(NoFiles),
            key: Arc::new(FixedKey),
        }
    }

    fn now(&self) -> i64 {
        self.process.clock.now()
    }

    /// Runs a query or a transaction.
    fn with_tables<T>(&self, work: impl FnOnce(&mut MemoryTables) -> T) -> T {
        work(&mut self.data.tables.lock().unwrap())
    }

    fn open_log(&self, id: &str, epoch: u64) -> Box<dyn Log> {
        Box::new(MemoryLog {
            data: self.data.clone(),
            clock: self.process.clock.clone(),
            id: id.into(),
            epoch,
            delivered: Arc::default(),
        })
    }
}

impl EventStore for MemoryArchive {
    fn create<'a>(
        &'a self,
        setup: &'a Setup,
        events: &'a [RecordedEvent],
        workspace: &'a Workspace,
        duplicates: DuplicatePolicy<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Log>, ArchiveError>> {
        Box::pin(async move {
            let now = self.now();
            let epoch = self.with_tables(|tables| {
                if let DuplicatePolicy::RefuseExcept(known_ids) = duplicates {
                    tables.check_duplicates(setup, &workspace.root, known_ids, now)?;
                }
                let debate = Debate::open(setup.clone())
                    .map_err(|error| ArchiveError::Storage(error.to_string()))?;
                let debate = MemoryDebate::new(setup.clone(), debate, workspace, now);
                tables.insert(debate)?;
                if let Err(message) = tables.record(&setup.id, events, now) {
                    tables.debates.pop();
                    return Err(ArchiveError::Storage(message));
                }
                tables.acquire(&setup.id, LeaseMode::IfFree, &self.process)
            })?;
            Ok(self.open_log(&setup.id, epoch))
        })
    }

    fn open<'a>(
        &'a self,
        id: &'a str,
        workspace: &'a Workspace,
        lease_mode: LeaseMode,
    ) -> BoxFuture<'a, Result<OpenedDebate, ArchiveError>> {
        Box::pin(async move {
            let (epoch, stored) = self.with_tables(|tables| {
                let epoch = tables.acquire(id, lease_mode, &self.process)?;
                let debate = tables.debate_mut(id)?;
                debate.add_state_file(workspace);
                Ok::<_, ArchiveError>((epoch, debate.stored(self.now())))
            })?;
            self.data.changed.notify_waiters();
            Ok(OpenedDebate { log: self.open_log(id, epoch), stored })
        })
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<StoredDebate, ArchiveError>> {
        let stored =
            self.with_tables(|tables| tables.debate(id).map(|debate| debate.stored(self.now())));
        Box::pin(async { stored })
    }

    fn news_since<'a>(
        &'a self,
        id: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<DebateNews, ArchiveError>> {
        let news = self.with_tables(|tables| {
            let debate = tables.debate(id)?;
            let events = debate.events.iter().filter(|recorded| recorded.seq > after);
            Ok(DebateNews {
                events: events.cloned().collect(),
                holder: debate.holder(self.now()),
                live_texts: debate.live_texts(),
            })
        });
        Box::pin(async { news })
    }

    fn set_holder_name(&self, name: &str) {
        name.clone_into(&mut self.process.name.lock().unwrap());
    }

    fn publish_live_text(&self, id: &str, mut updates: broadcast::Receiver<Arc<Update>>) {
        let (data, clock, id) = (self.data.clone(), self.process.clock.clone(), id.to_owned());
        tokio::spawn(async move {
            while let Ok(update) = updates.recv().await {
                let mut tables = data.tables.lock().unwrap();
                let Ok(debate) = tables.debate_mut(&id) else { return };
                debate.update_live_text(&update, clock.now());
            }
        });
    }
}

impl DebateQueries for MemoryArchive {
    fn resolve_id<'a>(
        &'a self,
        abbreviation: &'a str,
    ) -> BoxFuture<'a, Result<String, ArchiveError>> {
        let id = self.with_tables(|tables| tables.resolve_id(abbreviation));
        Box::pin(async { id })
    }

    fn list<'a>(
        &'a self,
        query: &'a DebateQuery,
    ) -> BoxFuture<'a, Result<Vec<DebateCard>, ArchiveError>> {
        let cards = self.with_tables(|tables| {
            let matching = tables.matching(query).into_iter();
            matching.take(query.limit.unwrap_or(usize::MAX)).map(MemoryDebate::card).collect()
        });
        Box::pin(async { Ok(cards) })
    }

    fn search<'a>(
        &'a self,
        words: &'a str,
        query: &'a DebateQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ArchiveError>> {
        let hits = self.with_tables(|tables| tables.search(words, query));
        Box::pin(async { Ok(hits) })
    }

    fn live_texts<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LiveText>, ArchiveError>> {
        let live_texts = self.with_tables(|tables| tables.debate(id).map(MemoryDebate::live_texts));
        Box::pin(async { live_texts })
    }
}

impl ArchiveMaintenance for MemoryArchive {
    fn reindex(&self) -> BoxFuture<'_, Result<ReindexReport, ArchiveError>> {
        let report = self.with_tables(MemoryTables::reindex);
        Box::pin(async { Ok(report) })
    }

    fn health(&self) -> BoxFuture<'_, Result<ArchiveHealth, ArchiveError>> {
        let debates = self.with_tables(|tables| tables.debates.len());
        let (path, version, problems) = ("memory".into(), 0, vec![]);
        Box::pin(async move { Ok(ArchiveHealth { path, version, debates, problems }) })
    }
}

impl CommandQueue for MemoryArchive {
    fn enqueue<'a>(
        &'a self,
        id: &'a str,
        commands: &'a [Command],
    ) -> BoxFuture<'a, Result<QueuedCommandId, ArchiveError>> {
        Box::pin(async move {
            let now = self.now();
            let command_id = self.with_tables(|tables| tables.enqueue(id, commands, now))?;
            self.data.changed.notify_waiters();
            Ok(command_id)
        })
    }

    fn take_result(
        &self,
        command_id: QueuedCommandId,
    ) -> BoxFuture<'_, Result<Option<CommandResult>, ArchiveError>> {
        let result = self.with_tables(|tables| tables.take_answer(command_id));
        Box::pin(async { Ok(result) })
    }

    fn withdraw(
        &self,
        command_id: QueuedCommandId,
    ) -> BoxFuture<'_, Result<Option<CommandResult>, ArchiveError>> {
        let result = self.with_tables(|tables| {
            let answer = tables.take_answer(command_id);
            tables.commands.retain(|queued| queued.id != command_id);
            answer
        });
        Box::pin(async { Ok(result) })
    }
}

impl RoomStore for MemoryArchive {
    fn list_rooms(&self) -> BoxFuture<'_, Result<Vec<String>, ArchiveError>> {
        let rooms = self.with_tables(|tables| {
            tables.rooms.iter().map(|(_, body)| body.clone()).collect::<Vec<_>>()
        });
        Box::pin(async { Ok(rooms) })
    }

    fn save_room<'a>(
        &'a self,
        id: &'a str,
        body: &'a str,
    ) -> BoxFuture<'a, Result<(), ArchiveError>> {
        self.with_tables(|tables| match tables.rooms.iter_mut().find(|(room, _)| room == id) {
            Some((_, saved)) => body.clone_into(saved),
            None => tables.rooms.push((id.into(), body.into())),
        });
        Box::pin(async { Ok(()) })
    }
}

/// The log of a debate opened for writing. Dropping it releases the lease.
struct MemoryLog {
    data: Arc<MemoryData>,
    clock: Arc<dyn Clock>,
    id: String,
    epoch: u64,
    /// Commands that were delivered, so that none is delivered twice.
    delivered: Arc<Mutex<HashSet<QueuedCommandId>>>,
}

impl MemoryLog {
    fn append_events(
        &self,
        events: &[Event],
        command_id: Option<QueuedCommandId>,
    ) -> Result<Option<u64>, LogError> {
        let now = self.clock.now();
        let mut tables = self.data.tables.lock().unwrap();
        let write_failed = |error: ArchiveError| LogError::WriteFailed(error.to_string());
        let debate = tables.debate(&self.id).map_err(write_failed)?;
        if let Some(by) = debate.lease_lost_to(self.epoch, now) {
            return Err(LogError::LeaseLost { by });
        }
        if command_id.is_some_and(|command_id| !tables.is_open(command_id, now)) {
            return Ok(None);
        }
        let last = debate.events.last().map_or(0, |recorded| recorded.seq);
        let recorded = RecordedEvent::number_events(last, events, now);
        tables.record(&self.id, &recorded, now).map_err(LogError::WriteFailed)?;
        if let Some(command_id) = command_id {
            tables.store_answer(command_id, Ok(()), now);
        }
        Ok(Some(last + events.len() as u64))
    }
}

impl Log for MemoryLog {
    fn append<'a>(&'a mut self, events: &'a [Event]) -> BoxFuture<'a, Result<u64, LogError>> {
        Box::pin(async { Ok(self.append_events(events, None)?.unwrap_or_default()) })
    }

    fn next_signal(&self) -> BoxFuture<'static, LeaseSignal> {
        let (data, clock, delivered) =
            (self.data.clone(), self.clock.clone(), self.delivered.clone());
        let (id, epoch) = (self.id.clone(), self.epoch);
        Box::pin(async move {
            loop {
                let mut changed = std::pin::pin!(data.changed.notified());
                changed.as_mut().enable();
                let signal = data.tables.lock().unwrap().next_signal(
                    &id,
                    epoch,
                    &mut delivered.lock().unwrap(),
                    clock.now(),
                );
                match signal {
                    Some(signal) => return signal,
                    None => changed.await,
                }
            }
        })
    }

    fn append_for_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        events: &'a [Event],
    ) -> BoxFuture<'a, Result<Option<u64>, LogError>> {
        Box::pin(async move { self.append_events(events, Some(command_id)) })
    }

    fn refuse_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        let mut tables = self.data.tables.lock().unwrap();
        tables.store_answer(command_id, Err(message.to_owned()), self.clock.now());
        drop(tables);
        Box::pin(async {})
    }
}

impl Drop for MemoryLog {
    fn drop(&mut self) {
        if let Ok(mut tables) = self.data.tables.lock()
            && let Ok(debate) = tables.debate_mut(&self.id)
        {
            debate.release(self.epoch);
        }
    }
}

/// A port for files that exports nothing and finds nothing.
pub(crate) struct NoFiles;

impl DebateFiles for NoFiles {
    fn schedule_export(&self, _id: &str) {}

    fn flush_exports(&self) {}

    fn read_state_files(&self, _root: &Path, _files: &[PathBuf]) -> Vec<FoundStateFile> {
        vec![]
    }

    fn parse_foreign(&self, _text: &str) -> Result<ForeignDebate, ArchiveError> {
        Err(ArchiveError::UnreadableFile("files are not supported".into()))
    }
}

/// A user's key whose tokens are hashes of their purpose.
pub(crate) struct FixedKey;

impl UserKey for FixedKey {
    fn derive_token(&self, purpose: &str) -> Result<String, ArchiveError> {
        let mut hasher = DefaultHasher::new();
        purpose.hash(&mut hasher);
        Ok(format!("{:040x}", hasher.finish()))
    }
}
