//! Creates debates in the archive and runs sessions in the background.
use super::draft::DebateDraft;
use super::{App, AppError};
use crate::debate::{Debate, Event};
use crate::engine::SessionError;
use crate::engine::command::Command;
use crate::engine::ports::{ArchiveError, DuplicatePolicy, Log, RecordedEvent, Workspace};
use crate::engine::redaction_gate::RedactionGate;
use crate::engine::reply_pipeline::SessionContext;
use crate::engine::run::{DebateRun, RunHandle};
use crate::engine::session::Session;
use crate::engine::turn::PromptsByCue;
use crate::engine::updates::{Update, UpdateBroadcaster};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc};

/// Batches of commands that can wait for one session. More senders wait.
const COMMAND_CHANNEL_CAPACITY: usize = 16;
/// Random bytes of a debate's salt.
const SALT_BYTES: usize = 16;
/// Random bytes in a debate's id, which separate debates opened in the same millisecond.
const ID_BYTES: usize = 2;

impl App {
    /// Creates a debate and starts running it.
    pub(super) async fn create_and_run(
        &self,
        draft: &DebateDraft,
        workspace: &Workspace,
    ) -> Result<DebateRun, AppError> {
        let mut asked_prompts = PromptsByCue::new();
        let (debate, first_events, log) = self
            .create_debate(draft, workspace, |debate| {
                let (events, prompts) = Session::first_events(debate, self.clock.now());
                asked_prompts = prompts;
                events
            })
            .await?;
        let setup = debate.setup();
        tracing::info!(
            debate = %setup.id,
            format = %setup.format.name,
            rounds = setup.rounds,
            seats = setup.seats.len(),
            "debate opened"
        );
        let root = workspace.root.clone();
        self.spawn_run(PendingRun {
            debate,
            seq: 0,
            first_events,
            log,
            asked_prompts,
            commands: vec![],
            root,
        })
        .await
    }

    /// Creates the log of a new debate under a unique id, with its first events.
    pub(super) async fn create_debate(
        &self,
        draft: &DebateDraft,
        workspace: &Workspace,
        mut first_events: impl FnMut(&Debate) -> Vec<Event>,
    ) -> Result<CreatedDebate, AppError> {
        loop {
            let now = self.clock.now();
            let setup = draft.build_setup(&self.catalog, new_debate_id(now)?, new_salt()?, now)?;
            let gate = RedactionGate::for_debate(&self.secrets, &setup);
            let debate = Debate::open(gate.redact_value(setup).map_err(SessionError::from)?)?;
            let events = gate.redact_value(first_events(&debate)).map_err(SessionError::from)?;
            let recorded = RecordedEvent::number_events(0, &events, now);
            let duplicates = DuplicatePolicy::RefuseExcept(&draft.spec.supersedes);
            match self.archive.events.create(debate.setup(), &recorded, workspace, duplicates).await
            {
                Ok(log) => return Ok((debate, events, log)),
                Err(ArchiveError::IdTaken(id)) => tracing::debug!(debate = %id, "id is taken"),
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) async fn spawn_run(&self, pending: PendingRun) -> Result<DebateRun, AppError> {
        let PreparedRun { mut session, handle, debate, seq, updates } =
            self.prepare_run(pending).await?;
        let idle = session.subscribe_idle();
        let providers = self.providers.clone();
        let id = debate.setup().id.clone();
        let task = tokio::spawn(async move {
            tracing::debug!(debate = %id, "session started");
            let result = session.run(&*providers).await;
            match &result {
                Ok(()) => tracing::debug!(debate = %id, "session ended"),
                Err(error) => tracing::info!(debate = %id, %error, "session stopped"),
            }
            result
        });
        Ok(DebateRun::new(handle, debate, seq, updates, idle, task))
    }

    /// Builds the session without running it: fails overdue turns and executes the commands.
    pub(super) async fn prepare_run(&self, pending: PendingRun) -> Result<PreparedRun, AppError> {
        let PendingRun { debate, seq, first_events, log, asked_prompts, commands, root } = pending;
        let (sender, requests) = mpsc::channel(COMMAND_CHANNEL_CAPACITY);
        let broadcaster = UpdateBroadcaster::default();
        let id = debate.setup().id.clone();
        self.archive.events.publish_live_text(&id, broadcaster.subscribe());
        let updates = broadcaster.subscribe();
        let mut current = debate.clone();
        for (seq, event) in (seq + 1..).zip(first_events) {
            current.apply(event.clone()).map_err(SessionError::from)?;
            broadcaster.publish(Update::Fact { seq, event });
        }
        let (evidence, secrets) = (self.evidence.clone(), self.secrets.clone());
        let context = SessionContext { root, evidence, secrets };
        let clock = self.clock.clone();
        let mut session =
            Session::new(current, log, requests, broadcaster.clone(), clock, &context);
        session.set_asked_prompts(asked_prompts);
        // An overdue turn has failed, whatever the commands are.
        session.fail_overdue().await?;
        session.execute_all(commands, None).await?;
        Ok(PreparedRun {
            session,
            handle: RunHandle::new(sender, broadcaster),
            debate,
            seq,
            updates,
        })
    }
}

/// A new debate, its first events and its log.
pub(crate) type CreatedDebate = (Debate, Vec<Event>, Box<dyn Log>);

/// A debate to run, before its session exists.
pub(super) struct PendingRun {
    /// State as read from the log, or as opened.
    pub(super) debate: Debate,
    /// Sequence number of its last event.
    pub(super) seq: u64,
    /// Events recorded after that.
    pub(super) first_events: Vec<Event>,
    pub(super) log: Box<dyn Log>,
    /// Prompts of the turns just recorded as asked.
    pub(super) asked_prompts: PromptsByCue,
    pub(super) commands: Vec<Command>,
    pub(super) root: PathBuf,
}

/// A session that is ready to run.
pub(super) struct PreparedRun {
    session: Session,
    handle: RunHandle,
    /// State at the time the lease was taken.
    debate: Debate,
    seq: u64,
    updates: broadcast::Receiver<Arc<Update>>,
}

/// New id: `debate-{ISO time}-{four hex digits}`.
pub(crate) fn new_debate_id(now: i64) -> Result<String, AppError> {
    let time = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    Ok(format!("debate-{time:.3}-{}", random_hex(ID_BYTES)?))
}

fn new_salt() -> Result<String, AppError> {
    random_hex(SALT_BYTES)
}

/// Random bytes as hex digits.
fn random_hex(bytes: usize) -> Result<String, AppError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| AppError::NoRandomness(error.to_string()))?;
    let digits = u128::from_be_bytes(random) >> (8 * (16 - bytes.min(16)));
    Ok(format!("{digits:0width$x}", width = 2 * bytes))
}
