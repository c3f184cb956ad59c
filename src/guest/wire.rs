//! Parses the JSON responses of a remote arena, which are untrusted. A missing field or one of the
//! wrong type gets its default, unknown fields are ignored, and all lengths are limited. Also
//! builds the request bodies.
use serde_json::{Value, json};

/// Maximum length of text fields, in characters.
const TOPIC: usize = 4_000;
const NAME: usize = 200;
const MESSAGE: usize = 500;
const SUMMARY: usize = 20_000;
/// Maximum length of a speech in characters, and number of speeches.
const SPEECH: usize = 50_000;
const SPEECHES: usize = 400;
/// Defaults for fields that the server does not send.
const LONGEST: usize = 2_000;
const SECONDS: u64 = 120;
/// Upper limits, whatever the server sends.
const ANY_LONGEST: usize = 200_000;
const ANY_SECONDS: u64 = 3_600;

/// Secret key of a seat. It is sent in a header and redacted from `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub(super) String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Side in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// For the topic.
    Supporting,
    /// Against the topic.
    Opposing,
}

impl Side {
    /// Name in the protocol.
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

/// Credentials of a seat, from the join response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Id of the debate.
    pub debate: String,
    /// Identifier of this bot.
    pub identifier: String,
    /// Secret key.
    pub key: Key,
    /// Question to debate. Empty if unknown.
    pub topic: String,
    /// Whether the server supports long polling.
    pub long_poll: bool,
}

impl Pass {
    /// Parses a join response. `None` if a field is missing or invalid that later requests need.
    pub fn read(value: &Value) -> Option<Pass> {
        let debate = id(value, "debate_id")?;
        let identifier = id(value, "bot_identifier")?;
        let key = value["debate_key"].as_str().filter(|key| (1..=512).contains(&key.len()))?;
        let sent = key.bytes().chain(identifier.bytes());
        // Both values are sent as headers.
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

/// Reads an id, which becomes part of a URL or header. It is never truncated.
fn id(value: &Value, field: &str) -> Option<String> {
    let id = value[field].as_str()?;
    is_id(id).then(|| id.into())
}

/// Whether a text is a valid debate id.
pub fn is_id(id: &str) -> bool {
    let short = (1..=NAME).contains(&id.chars().count());
    short && !matches!(id, "." | "..") && !id.chars().any(char::is_control)
}

/// State of the debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waiting for bots, or a state unknown to this client.
    Waiting,
    /// Speeches are exchanged.
    Active,
    /// The debate is over.
    Ended,
}

/// A speech from the debate log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Round, 0 if unknown.
    pub round: u32,
    /// Identifier of the speaker.
    pub speaker: String,
    /// Side, as the server sent it.
    pub side: String,
    /// Text of the speech.
    pub content: String,
}

/// Length limits of a speech, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Minimum length.
    pub least: usize,
    /// Maximum length.
    pub most: usize,
}

/// Status of the debate, from a poll response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// State of the debate.
    pub state: State,
    /// Question to debate.
    pub topic: String,
    /// Number of rounds, 0 if unknown.
    pub rounds: u32,
    /// Current round, 0 if unknown.
    pub round: u32,
    /// Side of this bot, if known.
    pub side: Option<Side>,
    /// Identifier of the next speaker.
    pub next: String,
    /// Timeout of a speech in seconds.
    pub seconds: u64,
    /// Deadline as Unix time in milliseconds, by the server's clock.
    pub deadline: Option<i64>,
    /// Length limits of a speech.
    pub lengths: Lengths,
    /// Speeches, oldest first. Only the last ones if there are too many.
    pub log: Vec<Spoken>,
    /// Total number of speeches.
    pub spoken: usize,
    /// Number of bots that have joined.
    pub joined: usize,
    /// Whether the server supports long polling.
    pub long_poll: bool,
    /// Final status, as the server sent it.
    pub status: String,
    /// Verdict, once the debate is over.
    pub result: Option<Verdict>,
}

/// Identifies a turn by its round and the number of speeches before it.
pub type Turn = (u32, usize);

/// Verdict of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Winner, as the server sent it. Empty if there is none.
    pub winner: String,
    /// Score out of 100.
    pub supporting: Option<i64>,
    /// Score out of 100.
    pub opposing: Option<i64>,
    /// Reasons of the verdict.
    pub summary: String,
}

impl Poll {
    /// Parses a poll response. `None` if it has no state.
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

    /// Identifies the turn that is due. It changes with every speech.
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

/// Error response of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status code.
    pub status: u16,
    /// Error code. Empty if there is none.
    pub code: String,
    /// Error message.
    pub message: String,
    /// Whether the server says that a retry may succeed.
    pub recoverable: bool,
    /// Retry delay in seconds.
    pub retry_after: Option<u64>,
}

impl Refusal {
    /// Parses an error response with any body. `retry_after` is the value of the header.
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

/// Body of a join request.
pub fn join(name: &str, uuid: &str, debate: Option<&str>) -> Value {
    let mut body = json!({"bot_name": name, "bot_uuid": uuid});
    if let Some(debate) = debate {
        body["debate_id"] = debate.into();
    }
    body
}

/// Body of a speech request.
pub fn speech(content: &str) -> Value {
    json!({"message": {"format": "markdown", "content": content}})
}

/// Redacts the key in all strings of a response, so that no error message can reveal it.
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

/// Reads a non-negative whole number from a JSON number or string.
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
