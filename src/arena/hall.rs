//! The arena service: create, join, poll and speak, independent of HTTP. Every change is written to
//! the database before the response is returned. See `restore` for restarts and `timers` for the
//! periodic work.
use super::board::{Board, Spot};
use super::keys;
use super::refusal::Refusal;
use super::room::{Guest, Room};
use super::table::Table;
use super::terms::{LISTED, LONGEST_NAME, ROUNDS, Terms};
use super::told::{listed, shown, state, told};
use super::wire::{Accepted, Create, Created, Join, Joined, Listed, Speech, Told};
use crate::debate::setup::MAX_TOPIC_CHARS;
use crate::debate::{Budget, Participant, Rule};
use crate::engine::{App, Command, DebateDraft, Listener, SessionError, Workspace};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Judges, audience and budget of every debate in the arena.
#[derive(Clone, Debug, Default)]
pub struct Bench {
    /// The first is the judge, the others form the panel. If empty, debates are not judged.
    pub judges: Vec<Participant>,
    /// Participants that vote.
    pub audience: Vec<Listener>,
    /// Budget of each debate.
    pub budget: Budget,
    /// Why these judges were selected, if the user named none.
    pub chosen: Vec<String>,
}

/// All rooms of an arena. A clone shares the same state.
#[derive(Clone)]
pub struct Hall {
    pub(super) desk: App,
    pub(super) place: Workspace,
    pub(super) terms: Terms,
    bench: Arc<Bench>,
    swap: bool,
    tables: Arc<RwLock<HashMap<String, Arc<Table>>>>,
    /// Serializes changes of a room's seats, so that no seat is assigned twice.
    pub(super) seating: Arc<tokio::sync::Mutex<()>>,
}

/// Maximum duration of a long poll in seconds.
const LONGEST_WAIT: u32 = 25;

impl Hall {
    /// Creates a service without rooms. With `swap`, each topic gets a rematch with swapped sides.
    pub fn new(desk: App, place: Workspace, terms: Terms, bench: Bench, swap: bool) -> Hall {
        let (bench, tables, seating) = (Arc::new(bench), Arc::default(), Arc::default());
        Hall { desk, place, terms, bench, swap, tables, seating }
    }

    /// Creates an empty room. Fails if too many rooms are waiting.
    pub async fn create(&self, wanted: Create) -> Result<Created, Refusal> {
        let _one_at_a_time = self.seating.lock().await;
        let topic = topic(&wanted.topic)?;
        let rounds = wanted.total_rounds.unwrap_or(self.terms.rounds);
        if !ROUNDS.contains(&rounds) {
            let (least, most) = (ROUNDS.start(), ROUNDS.end());
            return Err(Refusal::BadTopic(format!("`total_rounds` is {least} to {most}")));
        }
        let waiting = self.all().iter().filter(|board| state(board) == "waiting").count();
        if waiting >= self.terms.rooms {
            return Err(Refusal::TooManyRooms);
        }
        let mut room = self.vacant(topic, rounds)?;
        let rematch = self.swap.then(|| self.vacant(room.topic.clone(), rounds)).transpose()?;
        room.rematch = rematch.as_ref().map(|room| room.id.clone());
        if let Some(rematch) = rematch {
            let rematch = Room { first_leg: Some(room.id.clone()), ..rematch };
            self.keep(&rematch)?;
            self.put(rematch);
        }
        self.keep(&room)?;
        self.put(room.clone());
        Ok(Created {
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
    pub async fn join(&self, join: Join) -> Result<Joined, Refusal> {
        let name = name(&join.bot_name, "bot_name")?;
        let uuid = match join.bot_uuid.trim() {
            "" => String::new(),
            uuid => self::name(uuid, "bot_uuid")?,
        };
        let _one_at_a_time = self.seating.lock().await;
        let table = match join.debate_id.as_deref().filter(|id| !id.is_empty()) {
            Some(id) => self.table(id)?,
            None => self.waiting(&uuid).ok_or(Refusal::NoAvailableDebate)?,
        };
        let mut room = table.board().room.clone();
        if room.closed.is_some() && !room.full() {
            return Err(Refusal::Ended);
        }
        let first = self.first_leg(&room);
        if room.full() || !room.admits(&uuid, first.as_ref()) {
            return Err(Refusal::DebateFull);
        }
        let key = keys::new().map_err(Refusal::Internal)?;
        let (identifier, now) = (room.identifier(&name), self.desk.now());
        let fingerprint = keys::fingerprint(&key);
        let guest =
            Guest { name, uuid, identifier: identifier.clone(), key: fingerprint, joined_at: now };
        table.heard_of(room.guests.len(), now);
        room.guests.push(guest);
        if room.full() {
            let coin = keys::coin().map_err(Refusal::Internal)?;
            room.supporting = Some(room.toss(coin, first.as_ref()));
        }
        self.keep(&room)?;
        table.seat(room.clone());
        // The seat is saved. If the debate cannot start now, `tick` retries.
        if room.full()
            && let Err(refusal) = self.begin(&table)
        {
            tracing::warn!("debate `{}`: {}", room.id, refusal.told());
        }
        Ok(Joined {
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
    ) -> Result<Told, Refusal> {
        let (table, nth, guest) = self.enter(id, identifier, key)?;
        let mut boards = table.boards();
        let before = boards.borrow_and_update().clone();
        let side = before.room.side_of(identifier);
        if wait > 0 && !before.over() && !before.waits_for(side) {
            // A bot must not go offline during its own long poll.
            let wait = wait.min(LONGEST_WAIT).min((self.terms.offline / 2).max(1));
            let wait = Duration::from_secs(wait.into());
            let _ = tokio::time::timeout(wait, boards.changed()).await;
            table.heard_of(nth, self.desk.now());
        }
        Ok(told(&table.board(), &guest))
    }

    /// Accepts a speech. Idempotent: a speech that is sent again, out of turn or for a named round,
    /// gets the same response and is recorded once.
    pub async fn speak(
        &self,
        id: &str,
        (identifier, key): (&str, &str),
        speech: Speech,
    ) -> Result<Accepted, Refusal> {
        let (table, nth, _) = self.enter(id, identifier, key)?;
        let board = table.board();
        let Some(course) = &board.course else {
            return Err(if board.over() { Refusal::Ended } else { Refusal::NotReady });
        };
        if speech.message.format != "markdown" {
            return Err(Refusal::NoMarkdown(speech.message.format.chars().take(40).collect()));
        }
        let content = &speech.message.content;
        let fingerprint = keys::fingerprint(content);
        let side = board.room.side_of(identifier).ok_or(Refusal::InvalidCredentials)?;
        let accepted = |board: &Board, round: u8| Accepted {
            status: "speech_accepted",
            debate_id: id.to_owned(),
            round,
            next_speaker: told_next(board),
        };
        let spot = course.next.filter(|spot| {
            spot.side == side && speech.round.is_none_or(|round| round == spot.cue.round)
        });
        let again = |board: &Board| {
            let course = board.course.as_ref()?;
            let before = match speech.round {
                Some(round) => course.said(side, round),
                None => course.last_of(side),
            };
            let same = before.filter(|entry| {
                entry.content == content.trim()
                    || table.sent_before(nth, entry.cue.round, &fingerprint)
            });
            same.map(|entry| accepted(board, entry.cue.round))
        };
        let Some(spot) = spot else {
            let over = if board.over() { Refusal::Ended } else { Refusal::NotYourTurn };
            return again(&board).ok_or(over);
        };
        fits(content, course.shortest, course.longest)?;
        table.note_sent(nth, spot.cue.round, fingerprint.clone());
        let mut boards = table.boards();
        if let Err(refusal) = self.say(&table, spot, course.take, content).await {
            // A concurrent request may have sent the same speech.
            let taken = refusal == Refusal::NotYourTurn;
            return again(&table.board()).filter(|_| taken).ok_or(refusal);
        }
        let taken =
            boards.wait_for(|board| board.course.as_ref().is_some_and(|it| it.taken(spot.cue)));
        let shown = tokio::time::timeout(Duration::from_secs(5), taken).await.is_ok();
        let accepted = accepted(&table.board(), spot.cue.round);
        // The next speaker is unknown until the event is processed.
        let next_speaker = accepted.next_speaker.filter(|_| shown);
        Ok(Accepted { next_speaker, ..accepted })
    }

    /// Sends a speech to the debate's run and maps the error.
    async fn say(
        &self,
        table: &Table,
        spot: Spot,
        take: u16,
        content: &str,
    ) -> Result<(), Refusal> {
        let reply = Command::Reply { take, cue: spot.cue, text: content.to_owned() };
        self.wish(table, reply).await.map_err(|error| match error {
            SessionError::Illegal(_) | SessionError::TurnTaken(_) => Refusal::NotYourTurn,
            SessionError::ReplyRejected(findings) => {
                let length = findings.iter().any(|finding| finding.rule == Rule::FitsLength);
                let says = findings.first().map_or("", |finding| finding.says.as_str());
                let what = if length { "without its claims block it has " } else { "" };
                Refusal::Unreadable(format!("{what}{says}"))
            }
            SessionError::ReplyUnparsable(why) => Refusal::Unreadable(why),
            SessionError::Log(_) | SessionError::NotRunning => Refusal::Internal(error.to_string()),
        })
    }

    /// Returns the public status of a debate.
    pub fn show(&self, id: &str) -> Result<Told, Refusal> {
        Ok(shown(&self.read_again(&*self.table(id)?)))
    }

    /// Rooms that wait for bots: id, topic, identifiers of the bots present.
    pub fn rooms_waiting(&self) -> Vec<(String, String, Vec<String>)> {
        let mut all = self.all();
        all.retain(|board| state(board) == "waiting" && board.room.first_leg.is_none());
        all.sort_by_key(|board| board.room.created_at);
        let told = |board: &Arc<Board>| {
            let room = &board.room;
            (room.id.clone(), room.topic.clone(), room.identifiers())
        };
        all.iter().map(told).collect()
    }

    /// Rooms that any bot may join: id and topic.
    pub fn joinable(&self) -> Vec<(String, String)> {
        self.rooms_waiting().into_iter().map(|(id, topic, _)| (id, topic)).collect()
    }

    /// Lists debates, newest first, optionally filtered by state.
    pub fn list(&self, status: Option<&str>, limit: usize) -> Listed {
        let fits = |board: &Arc<Board>| status.is_none_or(|status| state(board) == status);
        let mut all = self.tables();
        all.retain(|table| fits(&table.board()));
        all.sort_by_cached_key(|table| {
            let room = &table.board().room;
            (std::cmp::Reverse(room.created_at), room.id.clone())
        });
        let total = all.len();
        let lines = all.iter().take(limit.clamp(1, LISTED));
        Listed { debates: lines.map(|table| listed(&self.read_again(table))).collect(), total }
    }

    /// Starts the debate of a full room.
    pub(super) fn begin(&self, table: &Arc<Table>) -> Result<(), Refusal> {
        let mut room = table.board().room.clone();
        let opening = self.opening(&room);
        let job = self.desk.open_for_bots(&opening, &self.place).map_err(internal)?;
        room.debate = Some(job.id().to_owned());
        self.keep(&room)?;
        table.seat(room);
        self.play(table, job);
        Ok(())
    }

    fn opening(&self, room: &Room) -> DebateDraft {
        use crate::debate::Side::{Con, Pro};
        let judge = self.bench.judges.first().cloned();
        let mut opening = DebateDraft::new(
            &room.topic,
            Participant::Bot,
            Participant::Bot,
            judge.clone().unwrap_or(Participant::Bot),
        );
        let guest = |side| room.on(side);
        opening.format = "arena".into();
        opening.no_judge = judge.is_none();
        opening.panel = self.bench.judges.iter().skip(1).cloned().collect();
        opening.audience.clone_from(&self.bench.audience);
        opening.budget = self.bench.budget;
        opening.seat_choices.clone_from(&self.bench.chosen);
        opening.names = [Pro, Con].map(|side| guest(side).map(|it| it.identifier.clone()));
        opening.rounds = Some(room.rounds);
        opening.await_seconds = Some(self.terms.speech);
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
    fn enter(&self, id: &str, who: &str, key: &str) -> Result<(Arc<Table>, usize, Guest), Refusal> {
        let table = self.table(id)?;
        let (nth, guest) = table.guest(who).ok_or(Refusal::InvalidCredentials)?;
        if !keys::fits(key, &guest.key) {
            return Err(Refusal::InvalidCredentials);
        }
        table.heard_of(nth, self.desk.now());
        self.read_again(&table);
        Ok((table, nth, guest))
    }

    /// Checks the credentials of a bot in a debate.
    pub fn knows(&self, id: &str, (who, key): (&str, &str)) -> Result<(), Refusal> {
        self.enter(id, who, key).map(drop)
    }

    pub(super) fn table(&self, id: &str) -> Result<Arc<Table>, Refusal> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(id).cloned().ok_or(Refusal::DebateNotFound)
    }

    pub(super) fn tables(&self) -> Vec<Arc<Table>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.values().cloned().collect()
    }

    fn all(&self) -> Vec<Arc<Board>> {
        self.tables().iter().map(|table| table.board()).collect()
    }

    /// Finds the oldest room with a free seat for this bot. Its own rematch comes first.
    fn waiting(&self, uuid: &str) -> Option<Arc<Table>> {
        let fits = |table: &Arc<Table>| {
            let room = &table.board().room;
            let open = room.closed.is_none() && !room.full();
            open && room.admits(uuid, self.first_leg(room).as_ref())
        };
        let age = |table: &Arc<Table>| {
            let room = &table.board().room;
            (room.first_leg.is_none(), room.guests.is_empty(), room.created_at, room.id.clone())
        };
        self.tables().into_iter().filter(fits).min_by_key(age)
    }

    pub(super) fn first_leg(&self, room: &Room) -> Option<Room> {
        let first = self.table(room.first_leg.as_deref()?).ok()?;
        Some(first.board().room.clone())
    }

    fn vacant(&self, topic: String, rounds: u8) -> Result<Room, Refusal> {
        let id = keys::room().map_err(Refusal::Internal)?;
        Ok(Room {
            id,
            topic,
            rounds,
            created_at: self.desk.now(),
            guests: vec![],
            supporting: None,
            debate: None,
            rematch: None,
            first_leg: None,
            closed: None,
        })
    }

    pub(super) fn put(&self, room: Room) -> Arc<Table> {
        let id = room.id.clone();
        let table = Arc::new(Table::new(Board { room, course: None }, self.desk.now()));
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables.insert(id, table.clone());
        table
    }

    pub(super) fn keep(&self, room: &Room) -> Result<(), Refusal> {
        let body = serde_json::to_string(room).map_err(internal)?;
        self.desk.archive().save_room(&room.id, &body).map_err(internal)
    }
}

fn told_next(board: &Board) -> Option<String> {
    let spot = board.course.as_ref()?.next?;
    board.room.on(spot.side).map(|guest| guest.identifier.clone())
}

/// Validates the length of a speech in characters (Unicode code points).
fn fits(content: &str, least: usize, most: usize) -> Result<(), Refusal> {
    let length = content.trim().chars().count();
    if length < least {
        return Err(Refusal::TooShort { length, least });
    }
    let length = content.chars().count();
    if length > most {
        return Err(Refusal::TooLong { length, most });
    }
    Ok(())
}

fn name(said: &str, what: &str) -> Result<String, Refusal> {
    let name = said.trim();
    let length = name.chars().count();
    if length == 0 || length > LONGEST_NAME || name.chars().any(char::is_control) {
        let why = format!("`{what}` has 1 to {LONGEST_NAME} characters that can be seen");
        return Err(Refusal::BadName(why));
    }
    Ok(name.to_owned())
}

fn topic(said: &str) -> Result<String, Refusal> {
    let topic = said.trim();
    let length = topic.chars().count();
    let unseen = topic.chars().any(|c| c.is_control() && c != '\n');
    if length == 0 || length > MAX_TOPIC_CHARS || unseen {
        let why = format!("`topic` has 1 to {MAX_TOPIC_CHARS} characters that can be seen");
        return Err(Refusal::BadTopic(why));
    }
    Ok(topic.to_owned())
}

pub(super) fn internal(error: impl std::fmt::Display) -> Refusal {
    Refusal::Internal(error.to_string())
}
