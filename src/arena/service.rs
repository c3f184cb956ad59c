//! The arena service: create, join, poll and speak, independent of HTTP. Every change is written to
//! the database before the response is returned. See `restore` for restarts and `timers` for the
//! periodic work.
use super::error::ArenaError;
use super::field_limits::{validate_length, validate_name, validate_rounds, validate_topic};
use super::judging::JudgingConfig;
use super::keys;
use super::limits::{ArenaLimits, MAX_LISTED, MAX_POLL_WAIT_SECONDS};
use super::live_room::LiveRoom;
use super::protocol::{
    CreateRoomRequest, CreateRoomResponse, JoinRequest, JoinResponse, RoomListResponse,
    RoomStatusResponse, SpeechRequest, SpeechResponse,
};
use super::responses::{list_item, public_status, state_str, status_for_bot};
use super::room::{JoinedBot, Room};
use super::room_state::{AwaitedTurn, RoomState};
use crate::app::{App, StartProgress};
use crate::debate::{Cue, Rule};
use crate::engine::{Command, SessionError, Workspace};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::watch;

/// All rooms of an arena. A clone shares the same state.
#[derive(Clone)]
pub struct ArenaService {
    pub(super) app: App,
    pub(super) workspace: Workspace,
    pub(super) limits: ArenaLimits,
    judging: Arc<JudgingConfig>,
    play_rematch: bool,
    rooms: Arc<RwLock<HashMap<String, Arc<LiveRoom>>>>,
    /// Serializes changes of a room's seats, so that no seat is assigned twice.
    pub(super) seating_lock: Arc<tokio::sync::Mutex<()>>,
}

/// How long an accepted speech may take until its event is processed.
const SPEECH_EVENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of an unsupported message format in the error message, in characters.
const MAX_QUOTED_FORMAT_CHARS: usize = 40;

impl ArenaService {
    /// Creates a service without rooms. With `play_rematch`, each topic gets a rematch with swapped
    /// sides.
    pub fn new(
        app: App,
        workspace: Workspace,
        limits: ArenaLimits,
        judging_config: JudgingConfig,
        play_rematch: bool,
    ) -> ArenaService {
        let (judging, rooms, seating_lock) =
            (Arc::new(judging_config), Arc::default(), Arc::default());
        ArenaService { app, workspace, limits, judging, play_rematch, rooms, seating_lock }
    }

    /// Creates an empty room. Fails if too many rooms are waiting.
    pub async fn create_room(
        &self,
        request: CreateRoomRequest,
    ) -> Result<CreateRoomResponse, ArenaError> {
        let _guard = self.seating_lock.lock().await;
        let topic = validate_topic(&request.topic)?;
        let rounds = validate_rounds(request.total_rounds.unwrap_or(self.limits.default_rounds))?;
        let waiting_count =
            self.room_states().iter().filter(|state| state_str(state) == "waiting").count();
        if waiting_count >= self.limits.max_waiting_rooms {
            return Err(ArenaError::TooManyRooms);
        }
        let mut room = self.new_room(topic, rounds)?;
        let rematch =
            self.play_rematch.then(|| self.new_room(room.topic.clone(), rounds)).transpose()?;
        room.rematch = rematch.as_ref().map(|room| room.id.clone());
        if let Some(rematch) = rematch {
            let rematch = Room { first_leg: Some(room.id.clone()), ..rematch };
            self.save_room(&rematch).await?;
            self.insert_room(rematch);
        }
        self.save_room(&room).await?;
        self.insert_room(room.clone());
        tracing::info!(room = %room.id, rounds, "room created");
        Ok(CreateRoomResponse {
            status: "created",
            debate_id: room.id,
            topic: room.topic,
            total_rounds: rounds,
            state: "waiting",
            rematch_id: room.rematch,
        })
    }

    /// Seats a bot in the requested room, or in the oldest room that has a free seat. The second
    /// bot starts the debate.
    pub async fn join(&self, request: JoinRequest) -> Result<JoinResponse, ArenaError> {
        let name = validate_name(&request.bot_name, "bot_name")?;
        let uuid = match request.bot_uuid.trim() {
            "" => String::new(),
            uuid => validate_name(uuid, "bot_uuid")?,
        };
        let _guard = self.seating_lock.lock().await;
        let live_room = match request.debate_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => self.find_room(id)?,
            None => self.find_open_room(&uuid).ok_or(ArenaError::NoAvailableDebate)?,
        };
        let mut room = live_room.state().room.clone();
        if room.closed.is_some() && !room.is_full() {
            return Err(ArenaError::DebateEnded);
        }
        let first_leg = self.first_leg_room(&room);
        if room.is_full() || !room.can_join(&uuid, first_leg.as_ref()) {
            return Err(ArenaError::DebateFull);
        }
        let key = keys::generate_key().map_err(ArenaError::Internal)?;
        let (identifier, now) = (room.unique_identifier(&name), self.app.now());
        let fingerprint = keys::fingerprint(&key);
        let bot = JoinedBot {
            name,
            uuid,
            identifier: identifier.clone(),
            key: fingerprint,
            joined_at: now,
        };
        live_room.mark_seen(room.guests.len(), now);
        room.guests.push(bot);
        if room.is_full() {
            let coin = keys::flip_coin().map_err(ArenaError::Internal)?;
            room.supporting = Some(room.choose_supporting(coin, first_leg.as_ref()));
        }
        self.save_room(&room).await?;
        live_room.update_room(room.clone());
        tracing::info!(room = %room.id, bot = %identifier, "bot joined");
        // The seat is saved. If the debate cannot start now, `tick` retries.
        if room.is_full()
            && let Err(refusal) = self.start_debate(&live_room).await
        {
            let error = refusal.log_message();
            tracing::warn!(room = %room.id, error, "debate cannot be started");
        }
        Ok(JoinResponse {
            status: "login_confirmed",
            message: "Successfully joined debate",
            debate_id: room.id.clone(),
            debate_key: key,
            bot_identifier: identifier,
            topic: room.topic.clone(),
            joined_bots: room.identifiers(),
        })
    }

    /// Returns the debate's status for one of its bots. With `wait`, a long poll: the response is
    /// held back for up to so many seconds, until the state changes.
    pub async fn poll(
        &self,
        id: &str,
        (identifier, key): (&str, &str),
        wait: u32,
    ) -> Result<RoomStatusResponse, ArenaError> {
        let (live_room, index, bot) = self.authenticate(id, identifier, key).await?;
        let mut states = live_room.subscribe();
        let state = states.borrow_and_update().clone();
        let side = state.room.side_of(identifier);
        if wait > 0 && !state.is_over() && !state.is_awaiting(side) {
            // A bot must not go offline during its own long poll.
            let wait =
                wait.min(MAX_POLL_WAIT_SECONDS).min((self.limits.offline_seconds / 2).max(1));
            let wait = Duration::from_secs(wait.into());
            let _ = tokio::time::timeout(wait, states.changed()).await;
            live_room.mark_seen(index, self.app.now());
        }
        Ok(status_for_bot(&live_room.state(), &bot))
    }

    /// Accepts a speech. Idempotent: a speech that is sent again, out of turn or for a named round,
    /// gets the same response and is recorded once.
    pub async fn speak(
        &self,
        id: &str,
        (identifier, key): (&str, &str),
        speech: SpeechRequest,
    ) -> Result<SpeechResponse, ArenaError> {
        let (live_room, index, _) = self.authenticate(id, identifier, key).await?;
        let result = self.submit_speech(&live_room, index, identifier, &speech).await;
        match &result {
            Ok(accepted) => {
                let round = accepted.round;
                tracing::info!(room = id, bot = identifier, round, "speech accepted");
            }
            Err(refusal) => {
                let code = refusal.code();
                tracing::info!(room = id, bot = identifier, code, "speech refused");
            }
        }
        result
    }

    async fn submit_speech(
        &self,
        live_room: &LiveRoom,
        index: usize,
        identifier: &str,
        speech: &SpeechRequest,
    ) -> Result<SpeechResponse, ArenaError> {
        let state = live_room.state();
        let Some(progress) = &state.progress else {
            return Err(if state.is_over() {
                ArenaError::DebateEnded
            } else {
                ArenaError::DebateNotReady
            });
        };
        if speech.message.format != "markdown" {
            return Err(ArenaError::UnsupportedFormat(
                speech.message.format.chars().take(MAX_QUOTED_FORMAT_CHARS).collect(),
            ));
        }
        let content = &speech.message.content;
        let fingerprint = keys::fingerprint(content);
        let side = state.room.side_of(identifier).ok_or(ArenaError::InvalidCredentials)?;
        let accepted = |state: &RoomState, round: u8| SpeechResponse {
            status: "speech_accepted",
            debate_id: state.room.id.clone(),
            round,
            next_speaker: next_speaker(state),
        };
        let turn = progress.next_turn.filter(|turn| {
            turn.side == side && speech.round.is_none_or(|round| round == turn.cue.round)
        });
        let resent_response = |state: &RoomState| {
            let progress = state.progress.as_ref()?;
            let previous = match speech.round {
                Some(round) => progress.speech_in_round(side, round),
                None => progress.last_speech(side),
            };
            let resent = previous.filter(|entry| {
                entry.content == content.trim()
                    || live_room.is_resent(index, entry.cue.round, &fingerprint)
            });
            resent.map(|entry| accepted(state, entry.cue.round))
        };
        let Some(turn) = turn else {
            let error =
                if state.is_over() { ArenaError::DebateEnded } else { ArenaError::NotYourTurn };
            return resent_response(&state).ok_or(error);
        };
        validate_length(content, progress.min_chars, progress.max_chars)?;
        live_room.record_sent(index, turn.cue.round, fingerprint.clone());
        let mut states = live_room.subscribe();
        if let Err(refusal) = self.record_speech(live_room, turn, progress.take, content).await {
            // A concurrent request may have sent the same speech.
            let is_taken = refusal == ArenaError::NotYourTurn;
            return resent_response(&live_room.state()).filter(|_| is_taken).ok_or(refusal);
        }
        let is_processed = wait_until_processed(&mut states, turn.cue).await;
        let accepted = accepted(&live_room.state(), turn.cue.round);
        // The next speaker is unknown until the event is processed.
        let next_speaker = accepted.next_speaker.filter(|_| is_processed);
        Ok(SpeechResponse { next_speaker, ..accepted })
    }

    /// Sends a speech to the debate's run and maps the error.
    async fn record_speech(
        &self,
        live_room: &LiveRoom,
        turn: AwaitedTurn,
        take: u16,
        content: &str,
    ) -> Result<(), ArenaError> {
        let reply = Command::Reply { take, cue: turn.cue, text: content.to_owned() };
        self.send_command(live_room, reply).await.map_err(|error| match error {
            SessionError::Illegal(_) | SessionError::TurnTaken(_) => ArenaError::NotYourTurn,
            SessionError::ReplyRejected(findings) => {
                let is_length = findings.iter().any(|finding| finding.rule == Rule::FitsLength);
                let message = findings.first().map_or("", |finding| finding.says.as_str());
                let prefix = if is_length { "without its claims block it has " } else { "" };
                ArenaError::SpeechRejected(format!("{prefix}{message}"))
            }
            SessionError::ReplyUnparsable(reason) => ArenaError::SpeechRejected(reason),
            SessionError::Log(_) | SessionError::NotRunning => {
                ArenaError::Internal(error.to_string())
            }
        })
    }

    /// Returns the public status of a debate.
    pub async fn public_status(&self, id: &str) -> Result<RoomStatusResponse, ArenaError> {
        let live_room = self.find_room(id)?;
        Ok(public_status(&*self.load_state(&live_room).await))
    }

    /// Rooms that wait for bots: id, topic, identifiers of the bots present.
    pub fn waiting_rooms(&self) -> Vec<(String, String, Vec<String>)> {
        let mut states = self.room_states();
        states.retain(|state| state_str(state) == "waiting" && state.room.first_leg.is_none());
        states.sort_by_key(|state| state.room.created_at);
        let to_summary = |state: &Arc<RoomState>| {
            let room = &state.room;
            (room.id.clone(), room.topic.clone(), room.identifiers())
        };
        states.iter().map(to_summary).collect()
    }

    /// Rooms that any bot may join: id and topic.
    pub fn joinable_rooms(&self) -> Vec<(String, String)> {
        self.waiting_rooms().into_iter().map(|(id, topic, _)| (id, topic)).collect()
    }

    /// Lists debates, newest first, optionally filtered by state.
    pub async fn list_debates(&self, status: Option<&str>, limit: usize) -> RoomListResponse {
        let has_status =
            |state: &Arc<RoomState>| status.is_none_or(|status| state_str(state) == status);
        let mut rooms = self.live_rooms();
        rooms.retain(|live_room| has_status(&live_room.state()));
        rooms.sort_by_cached_key(|live_room| {
            let room = &live_room.state().room;
            (std::cmp::Reverse(room.created_at), room.id.clone())
        });
        let total = rooms.len();
        let page = rooms.iter().take(limit.clamp(1, MAX_LISTED));
        let mut debates = vec![];
        for live_room in page {
            debates.push(list_item(&*self.load_state(live_room).await));
        }
        RoomListResponse { debates, total }
    }

    /// Starts the debate of a full room.
    pub(super) async fn start_debate(&self, live_room: &Arc<LiveRoom>) -> Result<(), ArenaError> {
        let mut room = live_room.state().room.clone();
        let (request, progress) = (
            self.judging.start_request(&room, &self.limits, &self.workspace.root),
            StartProgress::discard(),
        );
        let started = self.app.start(request, &self.workspace, &progress).await;
        let run = started.map_err(internal_error)?.run;
        room.debate = Some(run.id().to_owned());
        self.save_room(&room).await?;
        tracing::info!(room = %room.id, debate = run.id(), "arena debate started");
        live_room.update_room(room);
        self.spawn_follower(live_room, run).await;
        Ok(())
    }

    /// Authenticates a bot by identifier and key, and marks it as seen.
    async fn authenticate(
        &self,
        id: &str,
        identifier: &str,
        key: &str,
    ) -> Result<(Arc<LiveRoom>, usize, JoinedBot), ArenaError> {
        let live_room = self.find_room(id)?;
        let (index, bot) = live_room.find_bot(identifier).ok_or(ArenaError::InvalidCredentials)?;
        if !keys::verify_key(key, &bot.key) {
            return Err(ArenaError::InvalidCredentials);
        }
        live_room.mark_seen(index, self.app.now());
        self.load_state(&live_room).await;
        Ok((live_room, index, bot))
    }

    /// Checks the credentials of a bot in a debate.
    pub async fn verify_credentials(
        &self,
        id: &str,
        (identifier, key): (&str, &str),
    ) -> Result<(), ArenaError> {
        self.authenticate(id, identifier, key).await.map(drop)
    }

    pub(super) fn find_room(&self, id: &str) -> Result<Arc<LiveRoom>, ArenaError> {
        let rooms = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        rooms.get(id).cloned().ok_or(ArenaError::DebateNotFound)
    }

    pub(super) fn live_rooms(&self) -> Vec<Arc<LiveRoom>> {
        let rooms = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        rooms.values().cloned().collect()
    }

    fn room_states(&self) -> Vec<Arc<RoomState>> {
        self.live_rooms().iter().map(|live_room| live_room.state()).collect()
    }

    /// Finds the oldest room with a free seat for this bot. Its own rematch comes first.
    fn find_open_room(&self, uuid: &str) -> Option<Arc<LiveRoom>> {
        let is_joinable = |live_room: &Arc<LiveRoom>| {
            let room = &live_room.state().room;
            let is_open = room.closed.is_none() && !room.is_full();
            is_open && room.can_join(uuid, self.first_leg_room(room).as_ref())
        };
        let priority = |live_room: &Arc<LiveRoom>| {
            let room = &live_room.state().room;
            (room.first_leg.is_none(), room.guests.is_empty(), room.created_at, room.id.clone())
        };
        self.live_rooms().into_iter().filter(is_joinable).min_by_key(priority)
    }

    pub(super) fn first_leg_room(&self, room: &Room) -> Option<Room> {
        let first_leg = self.find_room(room.first_leg.as_deref()?).ok()?;
        Some(first_leg.state().room.clone())
    }

    fn new_room(&self, topic: String, rounds: u8) -> Result<Room, ArenaError> {
        let id = keys::generate_room_id().map_err(ArenaError::Internal)?;
        Ok(Room {
            id,
            topic,
            rounds,
            created_at: self.app.now(),
            guests: vec![],
            supporting: None,
            debate: None,
            rematch: None,
            first_leg: None,
            closed: None,
        })
    }

    pub(super) fn insert_room(&self, room: Room) -> Arc<LiveRoom> {
        let id = room.id.clone();
        let live_room = Arc::new(LiveRoom::new(RoomState { room, progress: None }, self.app.now()));
        let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms.insert(id, live_room.clone());
        live_room
    }

    pub(super) async fn save_room(&self, room: &Room) -> Result<(), ArenaError> {
        let body = serde_json::to_string(room).map_err(internal_error)?;
        self.app.archive().rooms.save_room(&room.id, &body).await.map_err(internal_error)
    }
}

/// Waits until the event of a turn is processed. `false` if the wait times out.
async fn wait_until_processed(states: &mut watch::Receiver<Arc<RoomState>>, cue: Cue) -> bool {
    let processed =
        states.wait_for(|state| state.progress.as_ref().is_some_and(|it| it.is_turn_finished(cue)));
    tokio::time::timeout(SPEECH_EVENT_TIMEOUT, processed).await.is_ok()
}

fn next_speaker(state: &RoomState) -> Option<String> {
    let turn = state.progress.as_ref()?.next_turn?;
    state.room.bot_on_side(turn.side).map(|bot| bot.identifier.clone())
}

pub(super) fn internal_error(error: impl std::fmt::Display) -> ArenaError {
    ArenaError::Internal(error.to_string())
}

#[cfg(test)]
mod tests;
