//! What is read from a platform. Fields it does not send have a usual value, fields of the wrong kind
//! count as not sent, fields nobody knows are passed over, and nothing is longer than it may be.
use serde_json::{Value, json};

/// Characters of a topic, a name, a message that are kept.
const TOPIC: usize = 4_000;
const NAME: usize = 200;
const MESSAGE: usize = 500;
const SUMMARY: usize = 20_000;
/// Characters of one speech, and speeches of a debate, that are kept.
const SPEECH: usize = 50_000;
const SPEECHES: usize = 400;
/// What holds where a platform says nothing.
const LONGEST: usize = 2_000;
const SECONDS: u64 = 120;
/// Nobody takes longer speeches, or waits longer for one.
const ANY_LONGEST: usize = 200_000;
const ANY_SECONDS: u64 = 3_600;

/// A key, which is in one header of our requests and in no text.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub(super) String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// A side of a debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// For the topic.
    Supporting,
    /// Against it.
    Opposing,
}

impl Side {
    /// As it is written on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Side::Supporting => "supporting",
            Side::Opposing => "opposing",
        }
    }

    fn read(word: &str) -> Option<Side> {
        [Side::Supporting, Side::Opposing].into_iter().find(|side| side.word() == word)
    }
}

/// A seat that was given to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Which debate.
    pub debate: String,
    /// What we are called there.
    pub identifier: String,
    /// What proves it.
    pub key: Key,
    /// What it is about, if that was said.
    pub topic: String,
    /// Whether the platform answers polls that wait.
    pub long_poll: bool,
}

impl Pass {
    /// From the answer to joining; none, if the answer lacks what later requests need.
    pub fn read(value: &Value) -> Option<Pass> {
        let debate = id(value, "debate_id")?;
        let identifier = id(value, "bot_identifier")?;
        let key = value["debate_key"].as_str().filter(|key| (1..=512).contains(&key.len()))?;
        let sent = key.bytes().chain(identifier.bytes());
        // They become headers.
        if !sent.into_iter().all(|byte| byte >= b' ' && byte != 0x7f) {
            return None;
        }
        Some(Pass {
            debate,
            identifier,
            key: Key(key.into()),
            topic: text(value, "topic", TOPIC),
            long_poll: value["long_poll"] == true,
        })
    }
}

/// A name that is part of an address or a header: all of it, or none.
fn id(value: &Value, field: &str) -> Option<String> {
    let id = value[field].as_str()?;
    is_id(id).then(|| id.into())
}

/// Whether this could be the id of a debate.
pub fn is_id(id: &str) -> bool {
    let short = (1..=NAME).contains(&id.chars().count());
    short && !matches!(id, "." | "..") && !id.chars().any(char::is_control)
}

/// Where a debate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Somebody is missing, or the platform calls it something nobody knows.
    Waiting,
    /// It is argued.
    Active,
    /// It is over.
    Ended,
}

/// One speech of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Of which round; 0 if that is not said.
    pub round: u32,
    /// By whom.
    pub speaker: String,
    /// For which side, in the platform's word.
    pub side: String,
    /// The words.
    pub content: String,
}

/// How long a speech may be, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// At least.
    pub least: usize,
    /// At most: never exceeded.
    pub most: usize,
}

/// How a debate stands, as we are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// Where it is.
    pub state: State,
    /// What it is about.
    pub topic: String,
    /// How many rounds it has; 0 if that is not said.
    pub rounds: u32,
    /// Which round it is; 0 if that is not said.
    pub round: u32,
    /// Which side is ours, if that can be told.
    pub side: Option<Side>,
    /// Who is to speak.
    pub next: String,
    /// Seconds a speech may take.
    pub seconds: u64,
    /// When it must be there, in milliseconds since 1970 by the platform's clock.
    pub deadline: Option<i64>,
    /// How long it may be.
    pub lengths: Lengths,
    /// What was said, the first first.
    pub log: Vec<Spoken>,
    /// How many speeches there are, also where not all were kept.
    pub spoken: usize,
    /// Who is there, while it waits.
    pub joined: usize,
    /// Whether the platform answers polls that wait.
    pub long_poll: bool,
    /// In the platform's word, once it is over.
    pub status: String,
    /// What it came to, once it is over.
    pub result: Option<Verdict>,
}

/// A turn, by its round and how many speeches came before it.
pub type Turn = (u32, usize);

/// What a debate came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Who won, in the platform's word; empty if nobody did.
    pub winner: String,
    /// Of a hundred.
    pub supporting: Option<i64>,
    /// Of a hundred.
    pub opposing: Option<i64>,
    /// Why.
    pub summary: String,
}

impl Poll {
    /// From an answer; none, if it does not even say where the debate is.
    pub fn read(value: &Value, identifier: &str) -> Option<Poll> {
        let state = match value["state"].as_str()? {
            "active" => State::Active,
            "ended" => State::Ended,
            _ => State::Waiting,
        };
        let entries = value["debate_log"].as_array();
        let entries = entries.map(Vec::as_slice).unwrap_or_default();
        let kept = &entries[entries.len().saturating_sub(SPEECHES)..];
        let log: Vec<Spoken> = kept.iter().map(spoken).collect();
        let seat = |field: &str, side| (value[field].as_str() == Some(identifier)).then_some(side);
        let ours = log.iter().find(|spoken| spoken.speaker == identifier);
        let side = value["your_side"]
            .as_str()
            .and_then(Side::read)
            .or_else(|| seat("supporting_side", Side::Supporting))
            .or_else(|| seat("opposing_side", Side::Opposing))
            .or_else(|| Side::read(&ours?.side));
        Some(Poll {
            state,
            topic: text(value, "topic", TOPIC),
            rounds: small(&value["total_rounds"]),
            round: small(&value["current_round"]),
            side,
            next: text(value, "next_speaker", NAME),
            seconds: whole(&value["timeout_seconds"])
                .filter(|seconds| *seconds > 0)
                .unwrap_or(SECONDS)
                .min(ANY_SECONDS),
            deadline: value["deadline_at"]
                .as_str()
                .and_then(|time| time.parse::<jiff::Timestamp>().ok())
                .map(jiff::Timestamp::as_millisecond),
            lengths: lengths(value),
            spoken: entries.len(),
            log,
            joined: value["joined_bots"].as_array().map_or(0, Vec::len),
            long_poll: value["long_poll"] == true,
            status: text(value, "status", NAME),
            result: value["debate_result"].is_object().then(|| verdict(&value["debate_result"])),
        })
    }

    /// Names the turn that is due: it changes whenever somebody has spoken.
    pub fn turn(&self) -> Turn {
        (self.round, self.spoken)
    }
}

fn spoken(value: &Value) -> Spoken {
    Spoken {
        round: small(&value["round"]),
        speaker: text(value, "speaker", NAME),
        side: text(value, "side", NAME),
        content: text(&value["message"], "content", SPEECH),
    }
}

fn verdict(value: &Value) -> Verdict {
    let score = |field: &str| {
        let number = &value[field];
        #[expect(clippy::cast_possible_truncation, reason = "what is rounded here is a score")]
        number.as_i64().or_else(|| number.as_f64().map(|score| score.round() as i64))
    };
    Verdict {
        winner: text(value, "winner", NAME),
        supporting: score("supporting_score"),
        opposing: score("opposing_score"),
        summary: text(value, "summary", SUMMARY),
    }
}

fn lengths(value: &Value) -> Lengths {
    let number = |field: &str| whole(&value[field]).and_then(|it| usize::try_from(it).ok());
    let most = number("max_content_length").filter(|most| *most > 0).unwrap_or(LONGEST);
    let most = most.min(ANY_LONGEST);
    Lengths { least: number("min_content_length").unwrap_or(1).clamp(1, most), most }
}

/// What was sent to us that is no answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Of HTTP.
    pub status: u16,
    /// The platform's word for it; empty if it has none.
    pub code: String,
    /// In its own words.
    pub message: String,
    /// Whether it says that trying again could help.
    pub recoverable: bool,
    /// When it may be asked again, in seconds.
    pub retry_after: Option<u64>,
}

impl Refusal {
    /// From the body, which may be anything, and the header that says when to come again.
    pub fn read(status: u16, retry_after: Option<u64>, body: &Value) -> Refusal {
        Refusal {
            status,
            code: text(body, "error_code", NAME),
            message: text(body, "message", MESSAGE),
            recoverable: body["recoverable"] == true,
            retry_after: retry_after.or_else(|| whole(&body["retry_after"])),
        }
    }
}

/// The request to join.
pub fn join(name: &str, uuid: &str, debate: Option<&str>) -> Value {
    let mut body = json!({"bot_name": name, "bot_uuid": uuid});
    if let Some(debate) = debate {
        body["debate_id"] = debate.into();
    }
    body
}

/// The request to speak.
pub fn speech(content: &str) -> Value {
    json!({"message": {"format": "markdown", "content": content}})
}

/// Takes our key out of every text of an answer, so that no message can carry it to a screen.
pub fn without(key: &Key, value: &mut Value) {
    match value {
        Value::String(text) if key.0.len() >= 4 && text.contains(&key.0) => {
            *text = text.replace(&key.0, "[key]");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without(key, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| without(key, field)),
        _ => {}
    }
}

fn text(value: &Value, field: &str, most: usize) -> String {
    value[field].as_str().unwrap_or_default().chars().take(most).collect()
}

/// A whole number, however it is written.
fn whole(value: &Value) -> Option<u64> {
    #[expect(clippy::cast_sign_loss, reason = "the range is checked")]
    let rounded = |number: f64| (0.0..1e15).contains(&number).then_some(number as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| rounded(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn small(value: &Value) -> u32 {
    whole(value).and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}
