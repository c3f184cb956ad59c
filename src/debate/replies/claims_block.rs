//! Parser for the claims block: a fenced block marked `claims` at the end of a speech, with one
//! JSON object. The entry point is `parse_speech`.
//!
//! The block is removed from the prose. A speech without a valid block is accepted as unstructured
//! and stores the parse error.
use crate::debate::record::body::{
    Body, Claim, ClaimPurpose, ClaimSource, Concession, HelpRequest, Resolution,
};
use crate::debate::setup::reviewed_change::Severity;
use serde::Deserialize;
use serde_json::Value;

/// Maximum entries in each list of the block.
const MAX_ENTRIES: usize = 40;
/// Maximum characters of a claim id.
const MAX_ID_CHARS: usize = 16;

/// Parses a speech into its prose and its claims block. Never fails: a parse error is stored in
/// `unstructured`.
pub fn parse_speech(reply: &str) -> Body {
    let Some((text, block)) = split_claims_block(reply) else {
        return Body::from_prose(reply.trim());
    };
    let (block, error) = match parse_block(block) {
        Ok(block) => (block, None),
        Err(error) => (ClaimsBlock::default(), Some(error)),
    };
    Body::Speech {
        text,
        claims: block.claims.into_iter().map(Into::into).collect(),
        concedes: block.concedes.into_iter().map(Into::into).collect(),
        resolves: block.resolves.into_iter().map(Into::into).collect(),
        help: block.help.map(Into::into),
        unstructured: error,
    }
}

/// Splits a reply into its text and the content of its last fenced block marked `claims`. The last
/// one, because a speaker may quote the block of another speaker.
fn split_claims_block(reply: &str) -> Option<(String, &str)> {
    let mut open = None;
    let mut found = None;
    let mut offset = 0;
    for line in reply.split_inclusive('\n') {
        let trimmed = line.trim();
        match open {
            None if trimmed.strip_prefix("```").is_some_and(|info| info.trim() == "claims") => {
                open = Some((offset, offset + line.len()));
            }
            Some((block_start, content_start)) if trimmed == "```" => {
                found = Some((block_start, content_start, offset, offset + line.len()));
                open = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    // An unclosed block counts: the reply may have been truncated.
    let (block_start, content_start, content_end, block_end) = match (open, found) {
        (Some((block_start, content_start)), _) => {
            (block_start, content_start, reply.len(), reply.len())
        }
        (None, Some(found)) => found,
        (None, None) => return None,
    };
    let text = format!("{}\n{}", reply[..block_start].trim_end(), reply[block_end..].trim_start());
    Some((text.trim().to_owned(), &reply[content_start..content_end]))
}

fn parse_block(block: &str) -> Result<ClaimsBlock, String> {
    // The error must not repeat any text of the block, because other seats see it outside the quote
    // markers of their prompt.
    let describe_error = |error: serde_json::Error| {
        let problem =
            if error.is_data() { "does not have the shape asked for" } else { "is not JSON" };
        let (line, column) = (error.line(), error.column());
        format!("the claims block {problem} (line {line}, column {column})")
    };
    if !block.trim_start().starts_with('{') {
        return Err("the claims block is not a JSON object".into());
    }
    if serde_json::from_str(block).is_ok_and(|block| has_array_for_object(&block)) {
        return Err("the claims block has a list where an object was asked for".into());
    }
    let block: ClaimsBlock = serde_json::from_str(block).map_err(describe_error)?;
    let count = block.claims.len().max(block.concedes.len()).max(block.resolves.len());
    if count > MAX_ENTRIES {
        return Err(format!(
            "the claims block has {count} entries; at most {MAX_ENTRIES} are read"
        ));
    }
    let ids: Vec<String> = block.claims.iter().map(|claim| claim.id.to_text()).collect();
    let referenced_ids = block.claims.iter().flat_map(|claim| claim.answers.to_texts());
    let referenced_ids =
        referenced_ids.chain(block.concedes.iter().map(|concession| concession.claim.to_text()));
    let referenced_ids =
        referenced_ids.chain(block.resolves.iter().map(|resolution| resolution.claim().to_text()));
    let confidences = block.claims.iter().filter_map(|claim| claim.confidence);
    if let Some(confidence) =
        confidences.into_iter().find(|confidence| !(0.0..=1.0).contains(confidence))
    {
        return Err(format!("a confidence is {confidence}; it must be 0 to 1"));
    }
    if ids.iter().cloned().chain(referenced_ids).any(|id| !is_valid_id(&id)) {
        return Err(format!("an id is not 1 to {MAX_ID_CHARS} letters, digits, `.`, `_` and `-`"));
    }
    match ids.iter().enumerate().find(|(index, id)| ids[..*index].contains(id)) {
        Some((_, id)) => Err(format!("two claims are called `{id}`")),
        None => Ok(block),
    }
}

/// Whether an array stands where an object is required. Serde would accept it as a struct with
/// positional fields.
fn has_array_for_object(block: &Value) -> bool {
    let lists = ["claims", "concedes", "resolves"].into_iter().map(|key| &block[key]);
    block["help"].is_array() || lists.filter_map(Value::as_array).flatten().any(Value::is_array)
}

/// Validates an id. Ids appear in prompts outside the quote markers, so they must be too short and
/// too restricted to carry a prompt injection.
fn is_valid_id(id: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=MAX_ID_CHARS).contains(&id.chars().count()) && id.chars().all(is_allowed)
}

#[derive(Default, Deserialize)]
struct ClaimsBlock {
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
    id: StringOrNumber,
    text: String,
    #[serde(default)]
    evidence: OneOrManyStrings,
    #[serde(default)]
    answers: OneOrManyStrings,
    #[serde(default)]
    part: Option<ClaimPurpose>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    source: Option<ClaimSource>,
    /// Any JSON value: an unknown severity must not invalidate the whole block.
    #[serde(default)]
    severity: Value,
}

#[derive(Deserialize)]
struct WireConcession {
    claim: StringOrNumber,
    #[serde(default)]
    quote: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireResolution {
    Full {
        claim: StringOrNumber,
        #[serde(default)]
        evidence: OneOrManyStrings,
    },
    Bare(StringOrNumber),
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
enum StringOrNumber {
    Text(String),
    Number(i64),
}

/// A list, or a single string in its place.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum OneOrManyStrings {
    Many(Vec<StringOrNumber>),
    One(StringOrNumber),
    #[default]
    None,
}

impl StringOrNumber {
    fn to_text(&self) -> String {
        match self {
            StringOrNumber::Text(text) => text.clone(),
            StringOrNumber::Number(number) => number.to_string(),
        }
    }
}

impl WireResolution {
    fn claim(&self) -> &StringOrNumber {
        match self {
            WireResolution::Full { claim, .. } | WireResolution::Bare(claim) => claim,
        }
    }
}

impl OneOrManyStrings {
    fn items(&self) -> &[StringOrNumber] {
        match self {
            OneOrManyStrings::Many(words) => words,
            OneOrManyStrings::One(word) => std::slice::from_ref(word),
            OneOrManyStrings::None => &[],
        }
    }

    fn to_texts(&self) -> Vec<String> {
        self.items()
            .iter()
            .map(StringOrNumber::to_text)
            .filter(|text| !text.trim().is_empty())
            .collect()
    }
}

impl From<WireClaim> for Claim {
    fn from(claim: WireClaim) -> Claim {
        Claim {
            id: claim.id.to_text(),
            text: claim.text,
            evidence: claim.evidence.to_texts(),
            answers: claim.answers.to_texts(),
            part: claim.part,
            confidence: claim.confidence.map(to_hundredths),
            source: claim.source,
            severity: claim.severity.as_str().and_then(Severity::parse),
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked before")]
fn to_hundredths(fraction: f64) -> u8 {
    (fraction * 100.0).round() as u8
}

impl From<WireConcession> for Concession {
    fn from(concession: WireConcession) -> Concession {
        Concession { claim: concession.claim.to_text(), quote: concession.quote }
    }
}

impl From<WireResolution> for Resolution {
    fn from(resolution: WireResolution) -> Resolution {
        match resolution {
            WireResolution::Full { claim, evidence } => {
                Resolution { claim: claim.to_text(), evidence: evidence.to_texts() }
            }
            WireResolution::Bare(claim) => Resolution { claim: claim.to_text(), evidence: vec![] },
        }
    }
}

impl From<WireHelp> for HelpRequest {
    fn from(help: WireHelp) -> HelpRequest {
        HelpRequest { kind: help.kind, from: help.from, because: help.because }
    }
}

#[cfg(test)]
mod tests;
