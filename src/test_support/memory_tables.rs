//! The data of an archive in memory: debates with their leases, messages, commands and rooms.
use debate_mcp::debate::status::{labels, side_name, status};
use debate_mcp::debate::verdict::judgment;
use debate_mcp::debate::{Body, Cue, Debate, Event, Setup, Status};
use debate_mcp::engine::{
    ArchiveError, COMMAND_TTL_MS, Clock, Command, CommandResult, DebateCard, DebateQuery,
    LeaseMode, LeaseSignal, LiveText, QueuedCommandId, RecordedEvent, ReindexReport, SearchHit,
    StoredDebate, Update, Workspace,
};
use debate_mcp::report::participants::main_pair;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

/// Time after which the lease of a silent process expires, in milliseconds.
const MEMORY_LEASE_TIMEOUT_MS: i64 = 30_000;
/// Age at which an abandoned command is deleted, in milliseconds.
const MEMORY_COMMAND_MAX_AGE_MS: i64 = 60_000;

/// A process that can hold leases. Its heartbeat is the time of its clock.
pub(crate) struct MemoryProcess {
    number: usize,
    pub(crate) name: Mutex<String>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// All data of the archive.
#[derive(Default)]
pub(crate) struct MemoryTables {
    /// In the order of their creation.
    pub(crate) debates: Vec<MemoryDebate>,
    /// In the order they were recorded.
    messages: Vec<MemoryMessage>,
    pub(crate) commands: Vec<MemoryCommand>,
    /// Id and body of each room.
    pub(crate) rooms: Vec<(String, String)>,
    process_count: usize,
    command_count: i64,
}

/// A debate with its log and its lease.
pub(crate) struct MemoryDebate {
    setup: Setup,
    /// State after the last event.
    debate: Debate,
    pub(crate) events: Vec<RecordedEvent>,
    root: PathBuf,
    state_files: Vec<(PathBuf, PathBuf)>,
    updated_at: i64,
    /// Raised with every new lease (fencing token).
    epoch: u64,
    holder: Option<Weak<MemoryProcess>>,
    live_texts: BTreeMap<Cue, (String, i64)>,
}

/// A turn in the search index.
struct MemoryMessage {
    id: String,
    cue: Cue,
    seat: String,
    content: String,
    claims: String,
}

/// A queued command.
pub(crate) struct MemoryCommand {
    pub(crate) id: QueuedCommandId,
    debate: String,
    commands: Vec<Command>,
    queued_at: i64,
    answer: Option<CommandResult>,
}

impl MemoryDebate {
    pub(crate) fn new(
        setup: Setup,
        debate: Debate,
        workspace: &Workspace,
        now: i64,
    ) -> MemoryDebate {
        let mut debate = MemoryDebate {
            setup,
            debate,
            events: vec![],
            root: workspace.root.clone(),
            state_files: vec![],
            updated_at: now,
            epoch: 0,
            holder: None,
            live_texts: BTreeMap::new(),
        };
        debate.add_state_file(workspace);
        debate
    }

    pub(crate) fn add_state_file(&mut self, workspace: &Workspace) {
        if let Some(path) = &workspace.state_file {
            let entry = (path.clone(), workspace.root.clone());
            if !self.state_files.contains(&entry) {
                self.state_files.push(entry);
            }
        }
    }

    /// Name of the process that holds the lease, unless it is gone or silent.
    pub(crate) fn holder(&self, now: i64) -> Option<String> {
        let process = self.holder.as_ref()?.upgrade()?;
        if now.saturating_sub(process.clock.now()) > MEMORY_LEASE_TIMEOUT_MS {
            return None;
        }
        let name = process.name.lock().unwrap();
        let number = process.number;
        Some(match name.as_str() {
            "" => format!("process {number}"),
            name => format!("{name} (process {number})"),
        })
    }

    /// Name of the new holder, if the lease of this epoch was taken over.
    pub(crate) fn lease_lost_to(&self, epoch: u64, now: i64) -> Option<String> {
        let is_lost = epoch != self.epoch;
        is_lost.then(|| self.holder(now).unwrap_or_else(|| "another process".into()))
    }

    /// Releases the lease, unless it was taken over.
    pub(crate) fn release(&mut self, epoch: u64) {
        if epoch == self.epoch {
            self.holder = None;
            self.live_texts.clear();
        }
    }

    pub(crate) fn stored(&self, now: i64) -> StoredDebate {
        StoredDebate {
            setup: self.setup.clone(),
            events: self.events.clone(),
            first_unreadable: None,
            holder: self.holder(now),
            record_path: None,
            state_files: self.state_files.clone(),
        }
    }

    pub(crate) fn live_texts(&self) -> Vec<LiveText> {
        let live_texts = self.live_texts.iter().filter(|(_, (text, _))| !text.is_empty());
        live_texts
            .map(|(cue, (text, at))| LiveText {
                turn: cue.to_string(),
                text: text.clone(),
                at: *at,
            })
            .collect()
    }

    pub(crate) fn update_live_text(&mut self, update: &Update, now: i64) {
        match update {
            Update::Speaking { cue, .. } => {
                self.live_texts.insert(*cue, (String::new(), now));
            }
            Update::Delta { cue, text } => {
                let (live_text, at) = self.live_texts.entry(*cue).or_default();
                live_text.push_str(text);
                *at = now;
            }
            Update::Fact {
                event: Event::Spoke { cue, .. } | Event::Failed { cue, .. }, ..
            } => {
                self.live_texts.remove(cue);
            }
            _ => {}
        }
    }

    pub(crate) fn card(&self) -> DebateCard {
        let debate = &self.debate;
        let judgment = judgment(debate);
        let [proposer, challenger] = main_pair(debate)
            .map(|seat| seat.map(|seat| debate.seats()[usize::from(seat)].participant_name()));
        let stated_confidence = debate.feedback().and_then(|feedback| feedback.confidence);
        DebateCard {
            id: self.setup.id.clone(),
            topic: debate.current_topic().to_owned(),
            format: self.setup.format.name.clone(),
            status: status(debate),
            created_at: self.setup.opened_at,
            updated_at: self.updated_at,
            root: self.root.display().to_string(),
            proposer,
            challenger,
            winner: judgment.as_ref().map(|judgment| side_name(debate, judgment.winner)),
            labels: labels(debate).into_iter().map(Into::into).collect(),
            confidence: stated_confidence.or(judgment.and_then(|judgment| judgment.confidence)),
            proof: debate.feedback().map(|feedback| feedback.proof.as_str().to_owned()),
        }
    }

    fn matches(&self, query: &DebateQuery) -> bool {
        let proposed = self.setup.proposed.as_ref();
        let term = |name: &str| self.setup.terms.get(name);
        let is = |wanted: &Option<String>, value: Option<&String>| {
            wanted.as_ref().is_none_or(|wanted| value == Some(wanted))
        };
        let status = status(&self.debate);
        query.root.as_ref().is_none_or(|root| *root == self.root)
            && query.status.is_none_or(|wanted| wanted == status)
            && is(&query.format, Some(&self.setup.format.name))
            && is(&query.review_key, proposed.map(|proposed| &proposed.key))
            && query
                .review_subject
                .as_ref()
                .is_none_or(|subject| proposed.is_some_and(|proposed| proposed.subject == *subject))
            && is(&query.tournament, term("tournament"))
            && is(&query.game_key, term("game"))
            && (!query.unfinished || matches!(status, Status::InProgress | Status::Paused))
    }
}

impl MemoryTables {
    pub(crate) fn new_process(&mut self, clock: Arc<dyn Clock>) -> Arc<MemoryProcess> {
        self.process_count += 1;
        Arc::new(MemoryProcess { number: self.process_count, name: Mutex::default(), clock })
    }

    pub(crate) fn debate(&self, id: &str) -> Result<&MemoryDebate, ArchiveError> {
        let found = self.debates.iter().find(|debate| debate.setup.id == id);
        found.ok_or_else(|| ArchiveError::UnknownDebate(id.into()))
    }

    pub(crate) fn debate_mut(&mut self, id: &str) -> Result<&mut MemoryDebate, ArchiveError> {
        let found = self.debates.iter_mut().find(|debate| debate.setup.id == id);
        found.ok_or_else(|| ArchiveError::UnknownDebate(id.into()))
    }

    pub(crate) fn insert(&mut self, debate: MemoryDebate) -> Result<(), ArchiveError> {
        if self.debate(&debate.setup.id).is_ok() {
            return Err(ArchiveError::IdTaken(debate.setup.id));
        }
        self.debates.push(debate);
        Ok(())
    }

    /// Refuses a debate whose review key or game key another one has.
    pub(crate) fn check_duplicates(
        &self,
        setup: &Setup,
        root: &Path,
        known_ids: &[String],
        now: i64,
    ) -> Result<(), ArchiveError> {
        let proposed = setup.proposed.as_ref().filter(|it| !it.fresh && !it.key.is_empty());
        let review_key = proposed.map(|it| it.key.clone());
        let term = |name: &str| setup.terms.get(name).cloned();
        let (tournament, game_key) = (term("tournament"), term("game"));
        if review_key.is_none() && (tournament.is_none() || game_key.is_none()) {
            return Ok(());
        }
        let root = Some(root.to_owned());
        let query =
            DebateQuery { root, review_key, tournament, game_key, ..DebateQuery::default() };
        for debate in self.debates.iter().filter(|debate| debate.matches(&query)) {
            let id = debate.setup.id.clone();
            if let Some(holder) = debate.holder(now) {
                return Err(ArchiveError::LeaseHeld { id, holder });
            }
            if !known_ids.contains(&id) {
                return Err(ArchiveError::Duplicate { id });
            }
        }
        Ok(())
    }

    /// Acquires the lease of a debate and returns its epoch.
    pub(crate) fn acquire(
        &mut self,
        id: &str,
        mode: LeaseMode,
        process: &Arc<MemoryProcess>,
    ) -> Result<u64, ArchiveError> {
        let debate = self.debate_mut(id)?;
        let holder = debate.holder(process.clock.now());
        if let Some(holder) = holder.filter(|_| mode == LeaseMode::IfFree) {
            return Err(ArchiveError::LeaseHeld { id: id.into(), holder });
        }
        debate.epoch += 1;
        debate.holder = Some(Arc::downgrade(process));
        debate.live_texts.clear();
        Ok(debate.epoch)
    }

    /// Records events, all of them or none. The error says which is not legal.
    pub(crate) fn record(
        &mut self,
        id: &str,
        events: &[RecordedEvent],
        now: i64,
    ) -> Result<(), String> {
        let mut after = self.debate(id).map_err(|error| error.to_string())?.debate.clone();
        let mut states = vec![];
        for recorded in events {
            after.apply(recorded.event.clone()).map_err(|illegal| illegal.to_string())?;
            states.push(after.clone());
        }
        if let Ok(debate) = self.debate_mut(id) {
            debate.events.extend_from_slice(events);
            debate.debate = after;
            debate.updated_at = now;
        }
        for (recorded, state) in events.iter().zip(&states) {
            self.index(id, state, &recorded.event);
        }
        Ok(())
    }

    /// Updates the search index for one event.
    fn index(&mut self, id: &str, after: &Debate, event: &Event) {
        match event {
            Event::Spoke { cue, reply } => self.messages.push(MemoryMessage {
                id: id.into(),
                cue: *cue,
                seat: after.seat(*cue).name.clone(),
                content: reply.body.to_text(),
                claims: claims_text(&reply.body),
            }),
            Event::Reopened { .. } => {
                let remaining: Vec<Cue> = after.replies_in(..).map(|(cue, _)| cue).collect();
                self.messages
                    .retain(|message| message.id != id || remaining.contains(&message.cue));
            }
            _ => {}
        }
    }

    /// Debates that match a query, the last updated first.
    pub(crate) fn matching(&self, query: &DebateQuery) -> Vec<&MemoryDebate> {
        let mut matching: Vec<&MemoryDebate> =
            self.debates.iter().filter(|debate| debate.matches(query)).rev().collect();
        matching.sort_by_key(|debate| std::cmp::Reverse(debate.updated_at));
        matching
    }

    pub(crate) fn resolve_id(&self, abbreviation: &str) -> Result<String, ArchiveError> {
        let ids = self.debates.iter().map(|debate| &debate.setup.id);
        let is_match = |id: &&String| {
            let is_end = id.starts_with(abbreviation) || id.ends_with(abbreviation);
            is_end && !abbreviation.is_empty()
        };
        let matching: Vec<&String> = ids.filter(is_match).collect();
        match matching.as_slice() {
            [] => Err(ArchiveError::UnknownDebate(abbreviation.into())),
            [unique] => Ok((*unique).clone()),
            many if many.iter().any(|id| *id == abbreviation) => Ok(abbreviation.into()),
            many => Err(ArchiveError::AmbiguousId(abbreviation.into(), many.len())),
        }
    }

    /// Finds topics and turns with all these words, topics first.
    pub(crate) fn search(&self, words: &str, query: &DebateQuery) -> Vec<SearchHit> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return vec![];
        }
        let has_all = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
            words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
        };
        let debates = self.matching(query);
        let topics = debates.iter().map(|debate| debate.card());
        let topic_hits = topics.filter(|card| has_all(&[&card.topic])).map(|card| SearchHit {
            id: card.id,
            excerpt: card.topic.clone(),
            topic: card.topic,
            turn: None,
            round: None,
            seat: None,
        });
        let messages = self.messages.iter().rev().filter(|it| has_all(&[&it.content, &it.claims]));
        let turn_hits = messages.filter_map(|message| {
            let debate = debates.iter().find(|debate| debate.setup.id == message.id)?;
            Some(SearchHit {
                id: message.id.clone(),
                topic: debate.debate.current_topic().to_owned(),
                turn: Some(message.cue.to_string()),
                round: Some(message.cue.round),
                seat: Some(message.seat.clone()),
                excerpt: format!("{} {}", message.content, message.claims),
            })
        });
        topic_hits.chain(turn_hits).take(query.limit.unwrap_or(usize::MAX)).collect()
    }

    /// Rebuilds the search index.
    pub(crate) fn reindex(&mut self) -> ReindexReport {
        self.messages.clear();
        let mut logs: Vec<(i64, Setup, Vec<RecordedEvent>)> = vec![];
        for debate in &self.debates {
            logs.push((debate.updated_at, debate.setup.clone(), debate.events.clone()));
        }
        logs.sort_by_key(|(updated_at, ..)| *updated_at);
        let (mut flawed, mut ids, mut events) = (vec![], vec![], 0);
        for (_, setup, log) in logs {
            let id = setup.id.clone();
            events += log.len();
            match Debate::open(setup) {
                Ok(mut debate) => {
                    for recorded in log {
                        if let Err(illegal) = debate.apply(recorded.event.clone()) {
                            flawed.push(format!("{id}: event {}: {illegal}", recorded.seq));
                            break;
                        }
                        self.index(&id, &debate, &recorded.event);
                    }
                }
                Err(error) => flawed.push(format!("{id}: {error}")),
            }
            ids.push(id);
        }
        ReindexReport { debates: ids.len(), events, messages: self.messages.len(), flawed, ids }
    }

    pub(crate) fn enqueue(
        &mut self,
        id: &str,
        commands: &[Command],
        now: i64,
    ) -> Result<QueuedCommandId, ArchiveError> {
        self.debate(id)?;
        self.commands.retain(|queued| now - queued.queued_at <= MEMORY_COMMAND_MAX_AGE_MS);
        self.command_count += 1;
        let command_id = QueuedCommandId(self.command_count);
        self.commands.push(MemoryCommand {
            id: command_id,
            debate: id.into(),
            commands: commands.to_vec(),
            queued_at: now,
            answer: None,
        });
        Ok(command_id)
    }

    /// Whether a command has no answer yet and has not expired.
    pub(crate) fn is_open(&self, command_id: QueuedCommandId, now: i64) -> bool {
        let queued = self.commands.iter().find(|queued| queued.id == command_id);
        queued.is_some_and(|it| it.answer.is_none() && now - it.queued_at <= COMMAND_TTL_MS)
    }

    /// Stores the answer to a command, once.
    pub(crate) fn store_answer(
        &mut self,
        command_id: QueuedCommandId,
        answer: CommandResult,
        now: i64,
    ) {
        if self.is_open(command_id, now)
            && let Some(queued) = self.commands.iter_mut().find(|it| it.id == command_id)
        {
            queued.answer = Some(answer);
        }
    }

    /// Deletes a command that has an answer, and returns the answer.
    pub(crate) fn take_answer(&mut self, command_id: QueuedCommandId) -> Option<CommandResult> {
        let index =
            self.commands.iter().position(|it| it.id == command_id && it.answer.is_some())?;
        self.commands.remove(index).answer
    }

    /// What the holder of this epoch has not been told yet.
    pub(crate) fn next_signal(
        &self,
        id: &str,
        epoch: u64,
        delivered: &mut HashSet<QueuedCommandId>,
        now: i64,
    ) -> Option<LeaseSignal> {
        if let Some(new_holder) = self.debate(id).ok()?.lease_lost_to(epoch, now) {
            return Some(LeaseSignal::Lost { new_holder });
        }
        let mut pending =
            self.commands.iter().filter(|queued| queued.debate == id && queued.answer.is_none());
        let queued = pending.find(|queued| delivered.insert(queued.id))?;
        Some(LeaseSignal::Commands { id: queued.id, commands: queued.commands.clone() })
    }
}

/// Text of claims and evidence, for the search.
fn claims_text(body: &Body) -> String {
    let texts = body
        .claims()
        .iter()
        .map(|claim| format!("{}: {} {}", claim.id, claim.text, claim.evidence.join(" ")));
    texts.collect::<Vec<_>>().join("\n")
}
