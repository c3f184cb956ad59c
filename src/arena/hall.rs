//! All rooms: what bots can ask for. Whatever is answered has been kept.
use super::board::{Board, Spot};
use super::refusal::Refusal;
use super::room::{Closed, Guest, Room};
use super::table::Table;
use super::terms::{LISTED, LONGEST_NAME, ROUNDS, Terms};
use super::told::{listed, shown, state, told};
use super::wire::{Accepted, Create, Created, Join, Joined, Listed, Speech, Told};
use super::{Ending, ending, keys};
use crate::debate::setup::LONGEST_TOPIC;
use crate::debate::{Budget, Rule, Voice};
use crate::engine::{Command, Desk, Error, Listener, Opening, Place};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Who judges and listens in every debate of a hall.
#[derive(Clone, Debug, Default)]
pub struct Bench {
    /// The first judge and the others; nobody, and debates are not judged.
    pub judges: Vec<Voice>,
    /// Who listens and votes.
    pub audience: Vec<Listener>,
    /// What may be spent on each debate.
    pub budget: Budget,
    /// Why the judge was chosen, where nobody was named.
    pub chosen: Vec<String>,
}

/// All rooms, and what they need of the world.
#[derive(Clone)]
pub struct Hall {
    pub(super) desk: Desk,
    pub(super) place: Place,
    pub(super) terms: Terms,
    bench: Arc<Bench>,
    swap: bool,
    tables: Arc<RwLock<HashMap<String, Arc<Table>>>>,
    /// Held by whoever changes who sits where, so that no seat is given away twice.
    pub(super) seating: Arc<tokio::sync::Mutex<()>>,
}

/// The longest a poll may wait.
const LONGEST_WAIT: u32 = 25;

impl Hall {
    /// An empty one. With `swap`, every motion is debated twice by the same two.
    pub fn new(desk: Desk, place: Place, terms: Terms, bench: Bench, swap: bool) -> Hall {
        let (bench, tables, seating) = (Arc::new(bench), Arc::default(), Arc::default());
        Hall { desk, place, terms, bench, swap, tables, seating }
    }

    /// A room for two bots who have not come yet.
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
        self.keep(&room)?;
        self.put(room.clone());
        if let Some(rematch) = rematch {
            let rematch = Room { first_leg: Some(room.id.clone()), ..rematch };
            self.keep(&rematch)?;
            self.put(rematch);
        }
        Ok(Created {
            status: "created",
            debate_id: room.id,
            topic: room.topic,
            total_rounds: rounds,
            state: "waiting",
            rematch_id: room.rematch,
        })
    }

    /// A seat for a bot: in the room it names, or in the oldest that has one for it. With the second
    /// the debate begins.
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
        if room.full() {
            self.begin(&table)?;
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

    /// How a debate stands, for one of its bots; `wait` is how many seconds it would rather wait than
    /// hear what it knows.
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
            let wait = Duration::from_secs(wait.min(LONGEST_WAIT).into());
            let _ = tokio::time::timeout(wait, boards.changed()).await;
            table.heard_of(nth, self.desk.now());
        }
        Ok(told(&table.board(), &guest))
    }

    /// Takes a speech. The same one again, while it is not that bot's turn or for a round it names,
    /// is not taken twice.
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
        let Some(spot) = spot else {
            let before = match speech.round {
                Some(round) => course.said(side, round),
                None => course.last_of(side),
            };
            let again = before.filter(|entry| {
                entry.content == content.trim()
                    || table.sent_before(nth, entry.cue.round, &fingerprint)
            });
            return match again {
                Some(entry) => Ok(accepted(&board, entry.cue.round)),
                None if board.over() => Err(Refusal::Ended),
                None => Err(Refusal::NotYourTurn),
            };
        };
        fits(content, course.shortest, course.longest)?;
        self.say(&table, spot, course.take, content).await?;
        table.note_sent(nth, spot.cue.round, fingerprint);
        let mut boards = table.boards();
        let taken =
            boards.wait_for(|board| board.course.as_ref().is_some_and(|it| it.taken(spot.cue)));
        let _ = tokio::time::timeout(Duration::from_secs(5), taken).await;
        Ok(accepted(&table.board(), spot.cue.round))
    }

    /// Puts a speech on the record.
    async fn say(
        &self,
        table: &Table,
        spot: Spot,
        take: u16,
        content: &str,
    ) -> Result<(), Refusal> {
        let handle = table.handle().ok_or_else(|| {
            Refusal::Internal("the debate is not being played; try again in a moment".into())
        })?;
        let reply = Command::Reply { take, cue: spot.cue, text: content.to_owned() };
        handle.send(vec![reply]).await.map_err(|error| match error {
            Error::Illegal(_) | Error::Taken(_) => Refusal::NotYourTurn,
            Error::Refused(findings) => {
                let length = findings.iter().any(|finding| finding.rule == Rule::FitsLength);
                let says = findings.first().map_or("", |finding| finding.says.as_str());
                let what = if length { "without its claims block it has " } else { "" };
                Refusal::Unreadable(format!("{what}{says}"))
            }
            Error::Unreadable(why) => Refusal::Unreadable(why),
            Error::Log(_) | Error::Gone => Refusal::Internal(error.to_string()),
        })
    }

    /// How a debate stands, for anybody.
    pub fn show(&self, id: &str) -> Result<Told, Refusal> {
        Ok(shown(&self.table(id)?.board()))
    }

    /// Debates that stand so, the newest first.
    pub fn list(&self, status: Option<&str>, limit: usize) -> Listed {
        let fits = |board: &Arc<Board>| status.is_none_or(|status| state(board) == status);
        let mut all: Vec<Arc<Board>> = self.all().into_iter().filter(fits).collect();
        all.sort_by(|one, other| {
            let key = |board: &Board| (board.room.created_at, board.room.id.clone());
            key(other).cmp(&key(one))
        });
        let total = all.len();
        let lines = all.iter().take(limit.clamp(1, LISTED));
        Listed { debates: lines.map(|board| listed(board)).collect(), total }
    }

    /// How many wait, are held, and are over.
    pub fn count(&self) -> (usize, usize, usize) {
        let all = self.all();
        let of = |wanted: &str| all.iter().filter(|board| state(board) == wanted).count();
        (of("waiting"), of("active"), of("ended"))
    }

    /// Does what time asks for, everywhere. Whoever serves a hall calls it about once a second.
    pub async fn tick(&self) {
        let now = self.desk.now();
        for table in self.tables() {
            let board = table.board();
            let due = ending(&board, &table.seen(), now, &self.terms);
            let result = match due {
                None => self.mend(&table, &board).await,
                Some(Ending::Leaves(_) | Ending::Expires(_)) => self.vacate(&table, now).await,
                Some(Ending::Concludes(because)) => {
                    command(&table, Command::Conclude { because: Some(because) }).await
                }
                Some(Ending::Cancels(because)) => {
                    command(&table, Command::Cancel { because: Some(because) }).await
                }
            };
            if let Err(refusal) = result {
                tracing::warn!("debate `{}`: {}", board.room.id, refusal.told());
            }
        }
    }

    /// A bot that waited has gone, or nobody has come: looked at again under the lock, because
    /// somebody may have come meanwhile.
    async fn vacate(&self, table: &Arc<Table>, now: i64) -> Result<(), Refusal> {
        let _one_at_a_time = self.seating.lock().await;
        let board = table.board();
        let mut room = board.room.clone();
        match ending(&board, &table.seen(), now, &self.terms) {
            Some(Ending::Leaves(nth)) => drop(room.guests.remove(nth)),
            Some(Ending::Expires(because)) => {
                room.closed = Some(Closed { at: now, because: Some(because) });
            }
            _ => return Ok(()),
        }
        self.keep(&room)?;
        table.seat(room);
        Ok(())
    }

    /// What was cut off is gone on with: a debate that should have begun, or is not played here.
    async fn mend(&self, table: &Arc<Table>, board: &Board) -> Result<(), Refusal> {
        if board.over() || !board.room.full() || table.handle().is_some() {
            return Ok(());
        }
        let _one_at_a_time = self.seating.lock().await;
        let board = table.board();
        if board.over() || table.handle().is_some() {
            return Ok(());
        }
        match &board.room.debate {
            Some(_) => self.resume(table),
            None => self.begin(table),
        }
    }

    /// The debate begins: both are there.
    fn begin(&self, table: &Arc<Table>) -> Result<(), Refusal> {
        let mut room = table.board().room.clone();
        let opening = self.opening(&room);
        let job = self.desk.host(&opening, &self.place).map_err(internal)?;
        room.debate = Some(job.id().to_owned());
        self.keep(&room)?;
        table.seat(room);
        self.play(table, job);
        Ok(())
    }

    fn opening(&self, room: &Room) -> Opening {
        use crate::debate::Side::{Con, Pro};
        let judge = self.bench.judges.first().cloned();
        let mut opening =
            Opening::new(&room.topic, Voice::Bot, Voice::Bot, judge.clone().unwrap_or(Voice::Bot));
        let guest = |side| room.on(side);
        opening.format = "arena".into();
        opening.unjudged = judge.is_none();
        opening.panel = self.bench.judges.iter().skip(1).cloned().collect();
        opening.audience.clone_from(&self.bench.audience);
        opening.budget = self.bench.budget;
        opening.chosen.clone_from(&self.bench.chosen);
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

    /// Whoever asks, if the key is theirs. Heard of is whoever shows it.
    fn enter(&self, id: &str, who: &str, key: &str) -> Result<(Arc<Table>, usize, Guest), Refusal> {
        let table = self.table(id)?;
        let (nth, guest) = table.guest(who).ok_or(Refusal::InvalidCredentials)?;
        if !keys::fits(key, &guest.key) {
            return Err(Refusal::InvalidCredentials);
        }
        table.heard_of(nth, self.desk.now());
        Ok((table, nth, guest))
    }

    /// Whether this is a bot of that debate.
    pub fn knows(&self, id: &str, (who, key): (&str, &str)) -> Result<(), Refusal> {
        self.enter(id, who, key).map(drop)
    }

    pub(super) fn table(&self, id: &str) -> Result<Arc<Table>, Refusal> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(id).cloned().ok_or(Refusal::DebateNotFound)
    }

    fn tables(&self) -> Vec<Arc<Table>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.values().cloned().collect()
    }

    fn all(&self) -> Vec<Arc<Board>> {
        self.tables().iter().map(|table| table.board()).collect()
    }

    /// The oldest room that waits and has a seat for this bot; a rematch of its own first.
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

    fn first_leg(&self, room: &Room) -> Option<Room> {
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
        self.desk.archive().keep_room(&room.id, &body).map_err(internal)
    }
}

/// Asks something of a debate that is being played.
async fn command(table: &Table, command: Command) -> Result<(), Refusal> {
    let Some(handle) = table.handle() else { return Ok(()) };
    match handle.send(vec![command]).await {
        // It has gone on or ended meanwhile.
        Ok(()) | Err(Error::Illegal(_) | Error::Gone) => Ok(()),
        Err(error) => Err(internal(error)),
    }
}

fn told_next(board: &Board) -> Option<String> {
    let spot = board.course.as_ref()?.next?;
    board.room.on(spot.side).map(|guest| guest.identifier.clone())
}

/// Whether a speech has as many characters as it may, as people count them: code points.
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
    if length == 0 || length > LONGEST_TOPIC {
        return Err(Refusal::BadTopic(format!("`topic` has 1 to {LONGEST_TOPIC} characters")));
    }
    Ok(topic.to_owned())
}

pub(super) fn internal(error: impl std::fmt::Display) -> Refusal {
    Refusal::Internal(error.to_string())
}
