//! The arena service: create, join, poll and speak, independent of HTTP. Every change is written to
//! the database before the response is returned. See `restore` for restarts and `timers` for the
//! periodic work.
use super::error::ArenaError;
use super::keys;
use super::limits::{ArenaLimits, MAX_LISTED, MAX_NAME_CHARS, VALID_ROUNDS};
use super::live_room::LiveRoom;
use super::protocol::{
    CreateRoomRequest, CreateRoomResponse, JoinRequest, JoinResponse, RoomListResponse,
    RoomStatusResponse, SpeechRequest, SpeechResponse,
};
use super::responses::{list_item, public_status, state_str, status_for_bot};
use super::room::{JoinedBot, Room};
use super::room_state::{AwaitedTurn, RoomState};
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Budget, Participant, Rule};
use crate::engine::{App, Command, DebateDraft, Listener, SessionError, Workspace};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Judges, audience and budget of every debate in the arena.
#[derive(Clone, Debug, Default)]
pub struct JudgingConfig {
    /// The first is the judge, the others form the panel. If empty, debates are not judged.
    pub judges: Vec<Participant>,
    /// Participants that vote.
    pub audience: Vec<Listener>,
    /// Budget of each debate.
    pub budget: Budget,
    /// Why these judges were selected, if the user named none.
    pub seat_choices: Vec<String>,
}

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

/// Maximum duration of a long poll in seconds.
const MAX_POLL_WAIT_SECONDS: u32 = 25;

impl ArenaService {
    /// Creates a service without rooms. With `swap`, each topic gets a rematch with swapped sides.
    pub fn new(
        app: App,
        workspace: Workspace,
        limits: ArenaLimits,
        bench: JudgingConfig,
        play_rematch: bool,
    ) -> ArenaService {
        let (judging, rooms, seating_lock) = (Arc::new(bench), Arc::default(), Arc::default());
        ArenaService { app, workspace, limits, judging, play_rematch, rooms, seating_lock }
    }

    /// Creates an empty room. Fails if too many rooms are waiting.
    pub async fn create_room(
        &self,
        wanted: CreateRoomRequest,
    ) -> Result<CreateRoomResponse, ArenaError> {
        let _one_at_a_time = self.seating_lock.lock().await;
        let topic = validate_topic(&wanted.topic)?;
        let rounds = wanted.total_rounds.unwrap_or(self.limits.default_rounds);
        if !VALID_ROUNDS.contains(&rounds) {
            let (least, most) = (VALID_ROUNDS.start(), VALID_ROUNDS.end());
            return Err(ArenaError::InvalidTopic(format!("`total_rounds` is {least} to {most}")));
        }
        let waiting =
            self.room_states().iter().filter(|board| state_str(board) == "waiting").count();
        if waiting >= self.limits.max_waiting_rooms {
            return Err(ArenaError::TooManyRooms);
        }
        let mut room = self.new_room(topic, rounds)?;
        let rematch =
            self.play_rematch.then(|| self.new_room(room.topic.clone(), rounds)).transpose()?;
        room.rematch = rematch.as_ref().map(|room| room.id.clone());
        if let Some(rematch) = rematch {
            let rematch = Room { first_leg: Some(room.id.clone()), ..rematch };
            self.save_room(&rematch)?;
            self.insert_room(rematch);
        }
        self.save_room(&room)?;
        self.insert_room(room.clone());
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
    pub async fn join(&self, join: JoinRequest) -> Result<JoinResponse, ArenaError> {
        let name = validate_name(&join.bot_name, "bot_name")?;
        let uuid = match join.bot_uuid.trim() {
            "" => String::new(),
            uuid => self::validate_name(uuid, "bot_uuid")?,
        };
        let _one_at_a_time = self.seating_lock.lock().await;
        let table = match join.debate_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => self.find_room(id)?,
            None => self.find_open_room(&uuid).ok_or(ArenaError::NoAvailableDebate)?,
        };
        let mut room = table.state().room.clone();
        if room.closed.is_some() && !room.is_full() {
            return Err(ArenaError::DebateEnded);
        }
        let first = self.first_leg_room(&room);
        if room.is_full() || !room.can_join(&uuid, first.as_ref()) {
            return Err(ArenaError::DebateFull);
        }
        let key = keys::generate_key().map_err(ArenaError::Internal)?;
        let (identifier, now) = (room.unique_identifier(&name), self.app.now());
        let fingerprint = keys::fingerprint(&key);
        let guest = JoinedBot {
            name,
            uuid,
            identifier: identifier.clone(),
            key: fingerprint,
            joined_at: now,
        };
        table.mark_seen(room.guests.len(), now);
        room.guests.push(guest);
        if room.is_full() {
            let coin = keys::flip_coin().map_err(ArenaError::Internal)?;
            room.supporting = Some(room.choose_supporting(coin, first.as_ref()));
        }
        self.save_room(&room)?;
        table.update_room(room.clone());
        // The seat is saved. If the debate cannot start now, `tick` retries.
        if room.is_full()
            && let Err(refusal) = self.start_debate(&table)
        {
            tracing::warn!("debate `{}`: {}", room.id, refusal.log_message());
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
        let (table, nth, guest) = self.authenticate(id, identifier, key)?;
        let mut boards = table.subscribe();
        let before = boards.borrow_and_update().clone();
        let side = before.room.side_of(identifier);
        if wait > 0 && !before.is_over() && !before.is_awaiting(side) {
            // A bot must not go offline during its own long poll.
            let wait =
                wait.min(MAX_POLL_WAIT_SECONDS).min((self.limits.offline_seconds / 2).max(1));
            let wait = Duration::from_secs(wait.into());
            let _ = tokio::time::timeout(wait, boards.changed()).await;
            table.mark_seen(nth, self.app.now());
        }
        Ok(status_for_bot(&table.state(), &guest))
    }

    /// Accepts a speech. Idempotent: a speech that is sent again, out of turn or for a named round,
    /// gets the same response and is recorded once.
    pub async fn speak(
        &self,
        id: &str,
        (identifier, key): (&str, &str),
        speech: SpeechRequest,
    ) -> Result<SpeechResponse, ArenaError> {
        let (table, nth, _) = self.authenticate(id, identifier, key)?;
        let board = table.state();
        let Some(course) = &board.progress else {
            return Err(if board.is_over() {
                ArenaError::DebateEnded
            } else {
                ArenaError::DebateNotReady
            });
        };
        if speech.message.format != "markdown" {
            return Err(ArenaError::UnsupportedFormat(
                speech.message.format.chars().take(40).collect(),
            ));
        }
        let content = &speech.message.content;
        let fingerprint = keys::fingerprint(content);
        let side = board.room.side_of(identifier).ok_or(ArenaError::InvalidCredentials)?;
        let accepted = |board: &RoomState, round: u8| SpeechResponse {
            status: "speech_accepted",
            debate_id: id.to_owned(),
            round,
            next_speaker: next_speaker(board),
        };
        let spot = course.next_turn.filter(|spot| {
            spot.side == side && speech.round.is_none_or(|round| round == spot.cue.round)
        });
        let again = |board: &RoomState| {
            let course = board.progress.as_ref()?;
            let before = match speech.round {
                Some(round) => course.speech_in_round(side, round),
                None => course.last_speech(side),
            };
            let same = before.filter(|entry| {
                entry.content == content.trim()
                    || table.is_resent(nth, entry.cue.round, &fingerprint)
            });
            same.map(|entry| accepted(board, entry.cue.round))
        };
        let Some(spot) = spot else {
            let over =
                if board.is_over() { ArenaError::DebateEnded } else { ArenaError::NotYourTurn };
            return again(&board).ok_or(over);
        };
        validate_length(content, course.min_chars, course.max_chars)?;
        table.record_sent(nth, spot.cue.round, fingerprint.clone());
        let mut boards = table.subscribe();
        if let Err(refusal) = self.record_speech(&table, spot, course.take, content).await {
            // A concurrent request may have sent the same speech.
            let taken = refusal == ArenaError::NotYourTurn;
            return again(&table.state()).filter(|_| taken).ok_or(refusal);
        }
        let taken = boards.wait_for(|board| {
            board.progress.as_ref().is_some_and(|it| it.is_turn_finished(spot.cue))
        });
        let shown = tokio::time::timeout(Duration::from_secs(5), taken).await.is_ok();
        let accepted = accepted(&table.state(), spot.cue.round);
        // The next speaker is unknown until the event is processed.
        let next_speaker = accepted.next_speaker.filter(|_| shown);
        Ok(SpeechResponse { next_speaker, ..accepted })
    }

    /// Sends a speech to the debate's run and maps the error.
    async fn record_speech(
        &self,
        table: &LiveRoom,
        spot: AwaitedTurn,
        take: u16,
        content: &str,
    ) -> Result<(), ArenaError> {
        let reply = Command::Reply { take, cue: spot.cue, text: content.to_owned() };
        self.send_command(table, reply).await.map_err(|error| match error {
            SessionError::Illegal(_) | SessionError::TurnTaken(_) => ArenaError::NotYourTurn,
            SessionError::ReplyRejected(findings) => {
                let length = findings.iter().any(|finding| finding.rule == Rule::FitsLength);
                let says = findings.first().map_or("", |finding| finding.says.as_str());
                let what = if length { "without its claims block it has " } else { "" };
                ArenaError::SpeechRejected(format!("{what}{says}"))
            }
            SessionError::ReplyUnparsable(why) => ArenaError::SpeechRejected(why),
            SessionError::Log(_) | SessionError::NotRunning => {
                ArenaError::Internal(error.to_string())
            }
        })
    }

    /// Returns the public status of a debate.
    pub fn public_status(&self, id: &str) -> Result<RoomStatusResponse, ArenaError> {
        Ok(public_status(&self.load_state(&*self.find_room(id)?)))
    }

    /// Rooms that wait for bots: id, topic, identifiers of the bots present.
    pub fn waiting_rooms(&self) -> Vec<(String, String, Vec<String>)> {
        let mut all = self.room_states();
        all.retain(|board| state_str(board) == "waiting" && board.room.first_leg.is_none());
        all.sort_by_key(|board| board.room.created_at);
        let told = |board: &Arc<RoomState>| {
            let room = &board.room;
            (room.id.clone(), room.topic.clone(), room.identifiers())
        };
        all.iter().map(told).collect()
    }

    /// Rooms that any bot may join: id and topic.
    pub fn joinable_rooms(&self) -> Vec<(String, String)> {
        self.waiting_rooms().into_iter().map(|(id, topic, _)| (id, topic)).collect()
    }

    /// Lists debates, newest first, optionally filtered by state.
    pub fn list_debates(&self, status: Option<&str>, limit: usize) -> RoomListResponse {
        let fits = |board: &Arc<RoomState>| status.is_none_or(|status| state_str(board) == status);
        let mut all = self.live_rooms();
        all.retain(|table| fits(&table.state()));
        all.sort_by_cached_key(|table| {
            let room = &table.state().room;
            (std::cmp::Reverse(room.created_at), room.id.clone())
        });
        let total = all.len();
        let lines = all.iter().take(limit.clamp(1, MAX_LISTED));
        RoomListResponse {
            debates: lines.map(|table| list_item(&self.load_state(table))).collect(),
            total,
        }
    }

    /// Starts the debate of a full room.
    pub(super) fn start_debate(&self, table: &Arc<LiveRoom>) -> Result<(), ArenaError> {
        let mut room = table.state().room.clone();
        let opening = self.build_draft(&room);
        let job = self.app.open_for_bots(&opening, &self.workspace).map_err(internal_error)?;
        room.debate = Some(job.id().to_owned());
        self.save_room(&room)?;
        table.update_room(room);
        self.spawn_follower(table, job);
        Ok(())
    }

    fn build_draft(&self, room: &Room) -> DebateDraft {
        use crate::debate::Side::{Con, Pro};
        let judge = self.judging.judges.first().cloned();
        let mut opening = DebateDraft::new(
            &room.topic,
            Participant::Bot,
            Participant::Bot,
            judge.clone().unwrap_or(Participant::Bot),
        );
        let guest = |side| room.bot_on_side(side);
        opening.format = "arena".into();
        opening.no_judge = judge.is_none();
        opening.panel = self.judging.judges.iter().skip(1).cloned().collect();
        opening.audience.clone_from(&self.judging.audience);
        opening.budget = self.judging.budget;
        opening.seat_choices.clone_from(&self.judging.seat_choices);
        opening.names = [Pro, Con].map(|side| guest(side).map(|it| it.identifier.clone()));
        opening.rounds = Some(room.rounds);
        opening.await_seconds = Some(self.limits.speech_seconds);
        let named = [("supporting_bot", Pro), ("opposing_bot", Con)];
        let named = named.map(|(term, side)| (term, guest(side).map(|it| it.name.clone())));
        opening.terms = named
            .into_iter()
            .filter_map(|(term, name)| Some((term.to_owned(), name?)))
            .chain([("arena".to_owned(), room.id.clone())])
            .collect::<BTreeMap<_, _>>();
        opening
    }

    /// Authenticates a bot by identifier and key, and marks it as seen.
    fn authenticate(
        &self,
        id: &str,
        who: &str,
        key: &str,
    ) -> Result<(Arc<LiveRoom>, usize, JoinedBot), ArenaError> {
        let table = self.find_room(id)?;
        let (nth, guest) = table.find_bot(who).ok_or(ArenaError::InvalidCredentials)?;
        if !keys::verify_key(key, &guest.key) {
            return Err(ArenaError::InvalidCredentials);
        }
        table.mark_seen(nth, self.app.now());
        self.load_state(&table);
        Ok((table, nth, guest))
    }

    /// Checks the credentials of a bot in a debate.
    pub fn verify_credentials(&self, id: &str, (who, key): (&str, &str)) -> Result<(), ArenaError> {
        self.authenticate(id, who, key).map(drop)
    }

    pub(super) fn find_room(&self, id: &str) -> Result<Arc<LiveRoom>, ArenaError> {
        let tables = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(id).cloned().ok_or(ArenaError::DebateNotFound)
    }

    pub(super) fn live_rooms(&self) -> Vec<Arc<LiveRoom>> {
        let tables = self.rooms.read().unwrap_or_else(PoisonError::into_inner);
        tables.values().cloned().collect()
    }

    fn room_states(&self) -> Vec<Arc<RoomState>> {
        self.live_rooms().iter().map(|table| table.state()).collect()
    }

    /// Finds the oldest room with a free seat for this bot. Its own rematch comes first.
    fn find_open_room(&self, uuid: &str) -> Option<Arc<LiveRoom>> {
        let fits = |table: &Arc<LiveRoom>| {
            let room = &table.state().room;
            let open = room.closed.is_none() && !room.is_full();
            open && room.can_join(uuid, self.first_leg_room(room).as_ref())
        };
        let age = |table: &Arc<LiveRoom>| {
            let room = &table.state().room;
            (room.first_leg.is_none(), room.guests.is_empty(), room.created_at, room.id.clone())
        };
        self.live_rooms().into_iter().filter(fits).min_by_key(age)
    }

    pub(super) fn first_leg_room(&self, room: &Room) -> Option<Room> {
        let first = self.find_room(room.first_leg.as_deref()?).ok()?;
        Some(first.state().room.clone())
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
        let table = Arc::new(LiveRoom::new(RoomState { room, progress: None }, self.app.now()));
        let mut tables = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        tables.insert(id, table.clone());
        table
    }

    pub(super) fn save_room(&self, room: &Room) -> Result<(), ArenaError> {
        let body = serde_json::to_string(room).map_err(internal_error)?;
        self.app.archive().save_room(&room.id, &body).map_err(internal_error)
    }
}

fn next_speaker(board: &RoomState) -> Option<String> {
    let spot = board.progress.as_ref()?.next_turn?;
    board.room.bot_on_side(spot.side).map(|guest| guest.identifier.clone())
}

/// Validates the length of a speech in characters (Unicode code points).
fn validate_length(content: &str, least: usize, most: usize) -> Result<(), ArenaError> {
    let length = content.trim().chars().count();
    if length < least {
        return Err(ArenaError::SpeechTooShort { length, min: least });
    }
    let length = content.chars().count();
    if length > most {
        return Err(ArenaError::SpeechTooLong { length, max: most });
    }
    Ok(())
}

fn validate_name(said: &str, what: &str) -> Result<String, ArenaError> {
    let name = said.trim();
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        let why = format!("`{what}` has 1 to {MAX_NAME_CHARS} characters that can be seen");
        return Err(ArenaError::InvalidBotName(why));
    }
    Ok(name.to_owned())
}

fn validate_topic(said: &str) -> Result<String, ArenaError> {
    let topic = said.trim();
    let length = topic.chars().count();
    let unseen = topic.chars().any(|c| c.is_control() && c != '\n');
    if length == 0 || length > MAX_TOPIC_CHARS || unseen {
        let why = format!("`topic` has 1 to {MAX_TOPIC_CHARS} characters that can be seen");
        return Err(ArenaError::InvalidTopic(why));
    }
    Ok(topic.to_owned())
}

pub(super) fn internal_error(error: impl std::fmt::Display) -> ArenaError {
    ArenaError::Internal(error.to_string())
}
