//! Parser for the claims block: a fenced block marked `claims` at the end of a speech, with one
//! JSON object. The entry point is `parse_speech`.
//!
//! The block is removed from the prose. A speech without a valid block is accepted as unstructured
//! and stores the parse error.
use super::body::{Body, Claim, Concession, Help, Part, Resolution, Source};
use super::proposed::Severity;
use serde::Deserialize;
use serde_json::Value;

/// Maximum entries in each list of the block.
const MOST: usize = 40;
/// Maximum characters of a claim id.
const LONGEST_ID: usize = 16;

/// Parses a speech into its prose and its claims block. Never fails: a parse error is stored in
/// `unstructured`.
pub fn read(reply: &str) -> Body {
    let Some((text, block)) = cut(reply) else { return Body::prose(reply.trim()) };
    let (block, why) = match parse(block) {
        Ok(block) => (block, None),
        Err(why) => (Block::default(), Some(why)),
    };
    Body::Speech {
        text,
        claims: block.claims.into_iter().map(Into::into).collect(),
        concedes: block.concedes.into_iter().map(Into::into).collect(),
        resolves: block.resolves.into_iter().map(Into::into).collect(),
        help: block.help.map(Into::into),
        unstructured: why,
    }
}

/// Splits a reply into its text and the content of its last fenced block marked `claims`. The last
/// one, because a speaker may quote the block of another speaker.
fn cut(reply: &str) -> Option<(String, &str)> {
    let mut open = None;
    let mut found = None;
    let mut at = 0;
    for line in reply.split_inclusive('\n') {
        let bare = line.trim();
        match open {
            None if bare.strip_prefix("```").is_some_and(|mark| mark.trim() == "claims") => {
                open = Some((at, at + line.len()));
            }
            Some((from, inside)) if bare == "```" => {
                found = Some((from, inside, at, at + line.len()));
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    // An unclosed block counts: the reply may have been truncated.
    let (from, inside, end, after) = match (open, found) {
        (Some((from, inside)), _) => (from, inside, reply.len(), reply.len()),
        (None, Some(found)) => found,
        (None, None) => return None,
    };
    let text = format!("{}\n{}", reply[..from].trim_end(), reply[after..].trim_start());
    Some((text.trim().to_owned(), &reply[inside..end]))
}

fn parse(block: &str) -> Result<Block, String> {
    // The error must not repeat any text of the block, because other seats see it outside the quote
    // markers of their prompt.
    let unread = |error: serde_json::Error| {
        let what =
            if error.is_data() { "does not have the shape asked for" } else { "is not JSON" };
        let (line, column) = (error.line(), error.column());
        format!("the claims block {what} (line {line}, column {column})")
    };
    if !block.trim_start().starts_with('{') {
        return Err("the claims block is not a JSON object".into());
    }
    if serde_json::from_str(block).is_ok_and(|block| has_lists(&block)) {
        return Err("the claims block has a list where an object was asked for".into());
    }
    let block: Block = serde_json::from_str(block).map_err(unread)?;
    let count = block.claims.len().max(block.concedes.len()).max(block.resolves.len());
    if count > MOST {
        return Err(format!("the claims block has {count} entries; at most {MOST} are read"));
    }
    let ids: Vec<String> = block.claims.iter().map(|claim| claim.id.text()).collect();
    let named = block.claims.iter().flat_map(|claim| claim.answers.texts());
    let named = named.chain(block.concedes.iter().map(|given| given.claim.text()));
    let named = named.chain(block.resolves.iter().map(|resolution| resolution.claim().text()));
    let sure = block.claims.iter().filter_map(|claim| claim.confidence);
    if let Some(share) = sure.into_iter().find(|share| !(0.0..=1.0).contains(share)) {
        return Err(format!("a confidence is {share}; it must be 0 to 1"));
    }
    if ids.iter().cloned().chain(named).any(|id| !plain(&id)) {
        return Err(format!("an id is not 1 to {LONGEST_ID} letters, digits, `.`, `_` and `-`"));
    }
    match ids.iter().enumerate().find(|(nth, id)| ids[..*nth].contains(id)) {
        Some((_, id)) => Err(format!("two claims are called `{id}`")),
        None => Ok(block),
    }
}

/// Whether an array stands where an object is required. Serde would accept it as a struct with
/// positional fields.
fn has_lists(block: &Value) -> bool {
    let parts = ["claims", "concedes", "resolves"].into_iter().map(|part| &block[part]);
    block["help"].is_array() || parts.filter_map(Value::as_array).flatten().any(Value::is_array)
}

/// Validates an id. Ids appear in prompts outside the quote markers, so they must be too short and
/// too restricted to carry a prompt injection.
fn plain(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=LONGEST_ID).contains(&id.chars().count()) && id.chars().all(fits)
}

#[derive(Default, Deserialize)]
struct Block {
    #[serde(default)]
    claims: Vec<WireClaim>,
    #[serde(default)]
    concedes: Vec<WireConcession>,
    #[serde(default)]
    resolves: Vec<WireResolution>,
    #[serde(default)]
    help: Option<WireHelp>,
}

#[derive(Deserialize)]
struct WireClaim {
    id: Word,
    text: String,
    #[serde(default)]
    evidence: Words,
    #[serde(default)]
    answers: Words,
    #[serde(default)]
    part: Option<Part>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    source: Option<Source>,
    /// Any JSON value: an unknown severity must not invalidate the whole block.
    #[serde(default)]
    severity: Value,
}

#[derive(Deserialize)]
struct WireConcession {
    claim: Word,
    #[serde(default)]
    quote: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireResolution {
    Full {
        claim: Word,
        #[serde(default)]
        evidence: Words,
    },
    Bare(Word),
}

#[derive(Deserialize)]
struct WireHelp {
    #[serde(default, alias = "request")]
    kind: String,
    #[serde(alias = "target_audience")]
    from: String,
    #[serde(default, alias = "reason")]
    because: String,
}

/// A string or a number, because models write both `"id": 1` and `"id": "1"`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Text(String),
    Number(i64),
}

/// A list, or a single string in its place.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Words {
    Many(Vec<Word>),
    One(Word),
    #[default]
    None,
}

impl Word {
    fn text(&self) -> String {
        match self {
            Word::Text(text) => text.clone(),
            Word::Number(number) => number.to_string(),
        }
    }
}

impl WireResolution {
    fn claim(&self) -> &Word {
        match self {
            WireResolution::Full { claim, .. } | WireResolution::Bare(claim) => claim,
        }
    }
}

impl Words {
    fn words(&self) -> &[Word] {
        match self {
            Words::Many(words) => words,
            Words::One(word) => std::slice::from_ref(word),
            Words::None => &[],
        }
    }

    fn texts(&self) -> Vec<String> {
        self.words().iter().map(Word::text).filter(|text| !text.trim().is_empty()).collect()
    }
}

impl From<WireClaim> for Claim {
    fn from(claim: WireClaim) -> Claim {
        Claim {
            id: claim.id.text(),
            text: claim.text,
            evidence: claim.evidence.texts(),
            answers: claim.answers.texts(),
            part: claim.part,
            confidence: claim.confidence.map(hundredths),
            source: claim.source,
            severity: claim.severity.as_str().and_then(Severity::read),
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked before")]
fn hundredths(share: f64) -> u8 {
    (share * 100.0).round() as u8
}

impl From<WireConcession> for Concession {
    fn from(given: WireConcession) -> Concession {
        Concession { claim: given.claim.text(), quote: given.quote }
    }
}

impl From<WireResolution> for Resolution {
    fn from(resolution: WireResolution) -> Resolution {
        match resolution {
            WireResolution::Full { claim, evidence } => {
                Resolution { claim: claim.text(), evidence: evidence.texts() }
            }
            WireResolution::Bare(claim) => Resolution { claim: claim.text(), evidence: vec![] },
        }
    }
}

impl From<WireHelp> for Help {
    fn from(help: WireHelp) -> Help {
        Help { kind: help.kind, from: help.from, because: help.because }
    }
}
