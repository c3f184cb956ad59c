//! Parses the JSON responses of a remote arena, which are untrusted. A missing field or one of the
//! wrong type gets its default, unknown fields are ignored, and all lengths are limited. Also
//! builds the request bodies.
use crate::debate::setup::MAX_TOPIC_CHARS;
use serde_json::{Value, json};

/// Maximum length of ids, names and other short fields in characters.
const MAX_NAME_CHARS: usize = 200;
/// Maximum length of an error message in characters.
const MAX_MESSAGE_CHARS: usize = 500;
/// Maximum length of the summary of a verdict in characters.
const MAX_SUMMARY_CHARS: usize = 20_000;
/// Maximum length of a speech in characters.
const MAX_SPEECH_CHARS: usize = 50_000;
/// Maximum number of speeches. Older ones are dropped.
const MAX_SPEECHES: usize = 400;
/// Maximum length of the key of a seat in bytes.
const MAX_KEY_BYTES: usize = 512;
/// Minimum length of a key that is redacted, in bytes. A shorter one would match too much.
const MIN_REDACTED_KEY_BYTES: usize = 4;
/// Default maximum length of a speech in characters, if the server sends none.
const DEFAULT_MAX_CHARS: usize = 2_000;
/// Default timeout of a speech in seconds, if the server sends none.
const DEFAULT_TIMEOUT_SECONDS: u64 = 120;
/// Upper limit of the maximum length of a speech in characters, whatever the server sends.
const UPPER_MAX_CHARS: usize = 200_000;
/// Upper limit of the timeout of a speech in seconds, whatever the server sends.
const UPPER_TIMEOUT_SECONDS: u64 = 3_600;
/// Upper limit of a number that the server sends as a fraction.
const UPPER_NUMBER: f64 = 1e15;

/// Secret key of a seat. It is sent in a header and redacted from `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SeatKey(pub(super) String);

impl std::fmt::Debug for SeatKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Side in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArenaSide {
    /// For the topic.
    Supporting,
    /// Against the topic.
    Opposing,
}

impl ArenaSide {
    /// Name in the protocol.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ArenaSide::Supporting => "supporting",
            ArenaSide::Opposing => "opposing",
        }
    }

    fn parse(name: &str) -> Option<ArenaSide> {
        [ArenaSide::Supporting, ArenaSide::Opposing].into_iter().find(|side| side.as_str() == name)
    }
}

/// Credentials of a seat, from the join response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeatCredentials {
    /// Id of the debate.
    pub debate_id: String,
    /// Identifier of this bot.
    pub identifier: String,
    /// Secret key.
    pub key: SeatKey,
    /// Question to debate. Empty if unknown.
    pub topic: String,
    /// Whether the server supports long polling.
    pub long_poll: bool,
}

impl SeatCredentials {
    /// Parses a join response. `None` if a field is missing or invalid that later requests need.
    pub(crate) fn from_json(value: &Value) -> Option<SeatCredentials> {
        let debate_id = read_id(value, "debate_id")?;
        let identifier = read_id(value, "bot_identifier")?;
        let key =
            value["debate_key"].as_str().filter(|key| (1..=MAX_KEY_BYTES).contains(&key.len()))?;
        let header_bytes = key.bytes().chain(identifier.bytes());
        // Both values are sent as headers.
        if !header_bytes.into_iter().all(|byte| byte >= b' ' && byte != 0x7f) {
            return None;
        }
        Some(SeatCredentials {
            debate_id,
            identifier,
            key: SeatKey(key.into()),
            topic: read_text(value, "topic", MAX_TOPIC_CHARS),
            long_poll: value["long_poll"] == true,
        })
    }
}

/// Reads an id, which becomes part of a URL or header. It is never truncated.
fn read_id(value: &Value, field: &str) -> Option<String> {
    let id = value[field].as_str()?;
    is_valid_id(id).then(|| id.into())
}

/// Whether a text is a valid debate id.
pub(crate) fn is_valid_id(id: &str) -> bool {
    let has_valid_length = (1..=MAX_NAME_CHARS).contains(&id.chars().count());
    has_valid_length && !matches!(id, "." | "..") && !id.chars().any(char::is_control)
}

/// State of the debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteState {
    /// Waiting for bots, or a state unknown to this client.
    Waiting,
    /// Speeches are exchanged.
    Active,
    /// The debate is over.
    Ended,
}

/// A speech from the debate log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteSpeech {
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
pub(crate) struct LengthLimits {
    /// Minimum length.
    pub min: usize,
    /// Maximum length.
    pub max: usize,
}

/// Status of the debate, from a poll response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PollResponse {
    /// State of the debate.
    pub state: RemoteState,
    /// Question to debate.
    pub topic: String,
    /// Number of rounds, 0 if unknown.
    pub total_rounds: u32,
    /// Current round, 0 if unknown.
    pub round: u32,
    /// Side of this bot, if known.
    pub side: Option<ArenaSide>,
    /// Identifier of the next speaker.
    pub next_speaker: String,
    /// Timeout of a speech in seconds.
    pub timeout_seconds: u64,
    /// Deadline as Unix time in milliseconds, by the server's clock.
    pub deadline: Option<i64>,
    /// Length limits of a speech.
    pub limits: LengthLimits,
    /// Speeches, oldest first. Only the last ones if there are too many.
    pub speeches: Vec<RemoteSpeech>,
    /// Total number of speeches.
    pub speech_count: usize,
    /// Number of bots that have joined.
    pub joined_count: usize,
    /// Whether the server supports long polling.
    pub long_poll: bool,
    /// Final status, as the server sent it.
    pub status: String,
    /// Verdict, once the debate is over.
    pub verdict: Option<RemoteVerdict>,
}

/// Identifies a turn by its round and the number of speeches before it.
pub(crate) type TurnKey = (u32, usize);

/// Verdict of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemoteVerdict {
    /// Winner, as the server sent it. Empty if there is none.
    pub winner: String,
    /// Score out of 100.
    pub supporting_score: Option<i64>,
    /// Score out of 100.
    pub opposing_score: Option<i64>,
    /// Reasons of the verdict.
    pub summary: String,
}

impl PollResponse {
    /// Parses a poll response. `None` if it has no state.
    pub(crate) fn from_json(value: &Value, identifier: &str) -> Option<PollResponse> {
        let state = match value["state"].as_str()? {
            "active" => RemoteState::Active,
            "ended" => RemoteState::Ended,
            _ => RemoteState::Waiting,
        };
        let entries = value["debate_log"].as_array();
        let entries = entries.map(Vec::as_slice).unwrap_or_default();
        let recent = &entries[entries.len().saturating_sub(MAX_SPEECHES)..];
        let speeches: Vec<RemoteSpeech> = recent.iter().map(parse_speech).collect();
        let side_from =
            |field: &str, side| (value[field].as_str() == Some(identifier)).then_some(side);
        let own_speech = speeches.iter().find(|speech| speech.speaker == identifier);
        let side = value["your_side"]
            .as_str()
            .and_then(ArenaSide::parse)
            .or_else(|| side_from("supporting_side", ArenaSide::Supporting))
            .or_else(|| side_from("opposing_side", ArenaSide::Opposing))
            .or_else(|| ArenaSide::parse(&own_speech?.side));
        Some(PollResponse {
            state,
            topic: read_text(value, "topic", MAX_TOPIC_CHARS),
            total_rounds: to_u32(&value["total_rounds"]),
            round: to_u32(&value["current_round"]),
            side,
            next_speaker: read_text(value, "next_speaker", MAX_NAME_CHARS),
            timeout_seconds: to_u64(&value["timeout_seconds"])
                .filter(|seconds| *seconds > 0)
                .unwrap_or(DEFAULT_TIMEOUT_SECONDS)
                .min(UPPER_TIMEOUT_SECONDS),
            deadline: value["deadline_at"]
                .as_str()
                .and_then(|time| time.parse::<jiff::Timestamp>().ok())
                .map(jiff::Timestamp::as_millisecond),
            limits: parse_limits(value),
            speech_count: entries.len(),
            speeches,
            joined_count: value["joined_bots"].as_array().map_or(0, Vec::len),
            long_poll: value["long_poll"] == true,
            status: read_text(value, "status", MAX_NAME_CHARS),
            verdict: value["debate_result"]
                .is_object()
                .then(|| parse_verdict(&value["debate_result"])),
        })
    }

    /// Identifies the turn that is due. It changes with every speech.
    pub(crate) fn turn_key(&self) -> TurnKey {
        (self.round, self.speech_count)
    }
}

fn parse_speech(value: &Value) -> RemoteSpeech {
    RemoteSpeech {
        round: to_u32(&value["round"]),
        speaker: read_text(value, "speaker", MAX_NAME_CHARS),
        side: read_text(value, "side", MAX_NAME_CHARS),
        content: read_text(&value["message"], "content", MAX_SPEECH_CHARS),
    }
}

fn parse_verdict(value: &Value) -> RemoteVerdict {
    let score = |field: &str| {
        let number = &value[field];
        #[expect(clippy::cast_possible_truncation, reason = "a score is small")]
        number.as_i64().or_else(|| number.as_f64().map(|score| score.round() as i64))
    };
    RemoteVerdict {
        winner: read_text(value, "winner", MAX_NAME_CHARS),
        supporting_score: score("supporting_score"),
        opposing_score: score("opposing_score"),
        summary: read_text(value, "summary", MAX_SUMMARY_CHARS),
    }
}

fn parse_limits(value: &Value) -> LengthLimits {
    let number = |field: &str| to_u64(&value[field]).and_then(|it| usize::try_from(it).ok());
    let max = number("max_content_length").filter(|max| *max > 0).unwrap_or(DEFAULT_MAX_CHARS);
    let max = max.min(UPPER_MAX_CHARS);
    LengthLimits { min: number("min_content_length").unwrap_or(1).clamp(1, max), max }
}

/// Error response of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemoteError {
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

impl RemoteError {
    /// Parses an error response with any body. `retry_after` is the value of the header.
    pub(crate) fn from_json(status: u16, retry_after: Option<u64>, body: &Value) -> RemoteError {
        RemoteError {
            status,
            code: read_text(body, "error_code", MAX_NAME_CHARS),
            message: read_text(body, "message", MAX_MESSAGE_CHARS),
            recoverable: body["recoverable"] == true,
            retry_after: retry_after.or_else(|| to_u64(&body["retry_after"])),
        }
    }
}

/// Body of a join request.
pub(crate) fn join_body(name: &str, uuid: &str, debate_id: Option<&str>) -> Value {
    let mut body = json!({"bot_name": name, "bot_uuid": uuid});
    if let Some(debate_id) = debate_id {
        body["debate_id"] = debate_id.into();
    }
    body
}

/// Body of a speech request.
pub(crate) fn speech_body(content: &str) -> Value {
    json!({"message": {"format": "markdown", "content": content}})
}

/// Redacts the key in all strings of a response, so that no error message can reveal it.
pub(crate) fn redact_key(key: &SeatKey, value: &mut Value) {
    match value {
        Value::String(text) if key.0.len() >= MIN_REDACTED_KEY_BYTES && text.contains(&key.0) => {
            *text = text.replace(&key.0, "[key]");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_key(key, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| redact_key(key, field)),
        _ => {}
    }
}

fn read_text(value: &Value, field: &str, max_chars: usize) -> String {
    value[field].as_str().unwrap_or_default().chars().take(max_chars).collect()
}

/// Reads a non-negative whole number from a JSON number or string.
fn to_u64(value: &Value) -> Option<u64> {
    #[expect(clippy::cast_sign_loss, reason = "the range is checked")]
    let from_float = |number: f64| (0.0..UPPER_NUMBER).contains(&number).then_some(number as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| from_float(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn to_u32(value: &Value) -> u32 {
    to_u64(value).and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_poll(value: &Value) -> PollResponse {
        PollResponse::from_json(value, "me").unwrap()
    }

    fn text(chars: usize) -> String {
        "字".repeat(chars)
    }

    #[test]
    fn texts_of_the_server_are_cut() {
        for extra in [0, 1] {
            let poll = parse_poll(&json!({
                "state": "ended",
                "topic": text(4_000 + extra),
                "next_speaker": text(200 + extra),
                "debate_log": [{"message": {"content": text(50_000 + extra)}}],
                "debate_result": {"summary": text(20_000 + extra)},
            }));
            assert_eq!((poll.topic, poll.next_speaker), (text(4_000), text(200)));
            assert_eq!(poll.speeches[0].content, text(50_000));
            assert_eq!(poll.verdict.unwrap().summary, text(20_000));
            let error = RemoteError::from_json(400, None, &json!({"message": text(500 + extra)}));
            assert_eq!(error.message, text(500));
        }
    }

    #[test]
    fn the_last_400_speeches_are_kept() {
        assert_eq!(MAX_SPEECHES, 400);
        let poll = |count: usize| {
            let log: Vec<Value> = (1..=count).map(|round| json!({"round": round})).collect();
            parse_poll(&json!({"state": "active", "debate_log": log}))
        };
        for (count, first_round) in [(MAX_SPEECHES, 1), (MAX_SPEECHES + 1, 2)] {
            let poll = poll(count);
            assert_eq!((poll.speeches.len(), poll.speech_count), (MAX_SPEECHES, count));
            assert_eq!(poll.speeches[0].round, first_round);
        }
    }

    #[test]
    fn limits_of_the_server_have_defaults_and_upper_limits() {
        let limits = |max_chars: Value, seconds: Value| {
            let value = json!({"state": "active", "max_content_length": max_chars,
                "timeout_seconds": seconds});
            let poll = parse_poll(&value);
            (poll.limits.max, poll.timeout_seconds)
        };
        assert_eq!(limits(json!(null), json!(null)), (2_000, 120));
        assert_eq!(limits(json!(200_000), json!(3_600)), (200_000, 3_600));
        assert_eq!(limits(json!(200_001), json!(3_601)), (200_000, 3_600));
    }

    #[test]
    fn seat_with_an_oversized_key_or_id_is_refused() {
        assert_eq!((MAX_KEY_BYTES, MAX_NAME_CHARS), (512, 200));
        let is_valid = |id_chars: usize, key_bytes: usize| {
            let seat = json!({"debate_id": text(id_chars), "bot_identifier": "b",
                "debate_key": "k".repeat(key_bytes)});
            SeatCredentials::from_json(&seat).is_some()
        };
        assert!(is_valid(MAX_NAME_CHARS, MAX_KEY_BYTES));
        assert!(!is_valid(MAX_NAME_CHARS + 1, MAX_KEY_BYTES));
        assert!(!is_valid(MAX_NAME_CHARS, MAX_KEY_BYTES + 1));
    }

    #[test]
    fn key_is_redacted_from_4_bytes_on() {
        assert_eq!(MIN_REDACTED_KEY_BYTES, 4);
        for (key, expected) in [("abc", "abc abcd"), ("abcd", "abc [key]")] {
            let mut value = json!("abc abcd");
            redact_key(&SeatKey(key.into()), &mut value);
            assert_eq!(value, expected);
        }
    }

    #[test]
    fn fraction_from_1e15_on_is_ignored() {
        assert_eq!(to_u64(&json!(999_999_999_999_999.0)), Some(999_999_999_999_999));
        assert_eq!(to_u64(&json!(UPPER_NUMBER)), None);
        assert_eq!(to_u64(&json!(1e15)), None);
    }
}
