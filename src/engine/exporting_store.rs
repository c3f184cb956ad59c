//! [`ExportingStore`]: an event store that exports a debate to its files after every change. It is
//! put in front of a store, so that stores need not know about files.
use super::ports::{
    ArchiveError, BoxFuture, DebateFiles, DebateNews, DuplicatePolicy, EventStore, LeaseMode,
    LeaseSignal, Log, LogError, OpenedDebate, QueuedCommandId, RecordedEvent, StoredDebate,
    Workspace,
};
use super::updates::Update;
use crate::debate::{Event, Setup};
use std::sync::Arc;
use tokio::sync::broadcast;

/// An event store, and the files its debates are exported to.
pub struct ExportingStore {
    store: Arc<dyn EventStore>,
    files: Arc<dyn DebateFiles>,
}

impl ExportingStore {
    /// Exports the debates of `store` to `files`.
    pub fn new(store: Arc<dyn EventStore>, files: Arc<dyn DebateFiles>) -> ExportingStore {
        ExportingStore { store, files }
    }

    /// Exports a debate now, and after every later append to its log.
    fn export_log(&self, id: &str, log: Box<dyn Log>) -> Box<dyn Log> {
        self.files.schedule_export(id);
        Box::new(ExportingLog { id: id.into(), log, files: self.files.clone() })
    }
}

impl EventStore for ExportingStore {
    fn create<'a>(
        &'a self,
        setup: &'a Setup,
        events: &'a [RecordedEvent],
        workspace: &'a Workspace,
        duplicates: DuplicatePolicy<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Log>, ArchiveError>> {
        Box::pin(async move {
            let log = self.store.create(setup, events, workspace, duplicates).await?;
            Ok(self.export_log(&setup.id, log))
        })
    }

    fn open<'a>(
        &'a self,
        id: &'a str,
        workspace: &'a Workspace,
        lease_mode: LeaseMode,
    ) -> BoxFuture<'a, Result<OpenedDebate, ArchiveError>> {
        Box::pin(async move {
            let OpenedDebate { log, stored } = self.store.open(id, workspace, lease_mode).await?;
            Ok(OpenedDebate { log: self.export_log(id, log), stored })
        })
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<StoredDebate, ArchiveError>> {
        self.store.read(id)
    }

    fn news_since<'a>(
        &'a self,
        id: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<DebateNews, ArchiveError>> {
        self.store.news_since(id, after)
    }

    fn set_holder_name(&self, name: &str) {
        self.store.set_holder_name(name);
    }

    fn publish_live_text(&self, id: &str, updates: broadcast::Receiver<Arc<Update>>) {
        self.store.publish_live_text(id, updates);
    }
}

/// The log of a debate that is exported after each append.
struct ExportingLog {
    id: String,
    log: Box<dyn Log>,
    files: Arc<dyn DebateFiles>,
}

/// Exports a debate, unless the events change nothing in its files.
fn export_after(events: &[Event], id: &str, files: &dyn DebateFiles) {
    if events.iter().any(|event| !matches!(event, Event::Asked { .. })) {
        files.schedule_export(id);
    }
}

impl Log for ExportingLog {
    fn append<'a>(&'a mut self, events: &'a [Event]) -> BoxFuture<'a, Result<u64, LogError>> {
        Box::pin(async move {
            let seq = self.log.append(events).await?;
            export_after(events, &self.id, &*self.files);
            Ok(seq)
        })
    }

    fn next_signal(&self) -> BoxFuture<'static, LeaseSignal> {
        self.log.next_signal()
    }

    fn append_for_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        events: &'a [Event],
    ) -> BoxFuture<'a, Result<Option<u64>, LogError>> {
        Box::pin(async move {
            let seq = self.log.append_for_command(command_id, events).await?;
            if seq.is_some() {
                export_after(events, &self.id, &*self.files);
            }
            Ok(seq)
        })
    }

    fn refuse_command<'a>(
        &'a mut self,
        command_id: QueuedCommandId,
        message: &'a str,
    ) -> BoxFuture<'a, ()> {
        self.log.refuse_command(command_id, message)
    }
}
