//! Reply parser: turns a reply's text into a [`Body`] or a [`ReplyParseError`]. Speeches are parsed
//! leniently, as prose with an optional claims block. Scores, votes, verdicts and all other JSON
//! replies are validated strictly: one JSON object and nothing else. Entry point: [`parse`].
use super::body::{Body, ReplyKind, Section};
use super::claims_block;
use super::event::Cue;
use super::format::{Role, Side};
use super::state::Debate;
use json_replies::{WireAudit, WirePetition, WireRuling, WireScore, WireVote};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use verdict::WireVerdict;

mod json_replies;
mod strict_json;
mod verdict;

/// Parse error of a reply. It is the feedback for the retry and is shown to the user, so the
/// message is limited to 200 characters and says what to fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyParseError {
    /// Expected kind of reply.
    pub kind: ReplyKind,
    /// Machine-readable error code.
    pub code: &'static str,
    pub message: String,
}

/// Maximum length of a displayed parse error, in characters.
const MAX_ERROR_CHARS: usize = 200;

impl fmt::Display for ReplyParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let message: String = self.message.chars().filter(|c| !c.is_control()).collect();
        let line = format!("PARSE_ERROR:{kind}:{}: {message}", self.code);
        f.write_str(&truncate_at_word(&line, MAX_ERROR_CHARS))
    }
}

/// Truncates at a word boundary and closes an open backtick.
fn truncate_at_word(line: &str, max_chars: usize) -> String {
    if line.chars().count() <= max_chars {
        return line.to_owned();
    }
    let truncated: String = line.chars().take(max_chars - 2).collect();
    let truncated = truncated.rsplit_once(' ').map_or(truncated.as_str(), |(before, _)| before);
    let has_open_backtick = truncated.matches('`').count() % 2 == 1;
    format!("{}{} …", truncated.trim_end_matches(','), if has_open_backtick { "`" } else { "" })
}

impl std::error::Error for ReplyParseError {}

/// Parses the reply of the seat at `cue` as the kind its phase asks for.
pub fn parse(debate: &Debate, cue: Cue, text: &str) -> Result<Body, ReplyParseError> {
    let kind = debate.setup().phase(cue).reply;
    let fault = |code, message: String| ReplyParseError { kind, code, message };
    if text.trim().is_empty() {
        return Err(fault("empty", "there is nothing in it".into()));
    }
    let body = match kind {
        ReplyKind::Speech => {
            let body = claims_block::parse_speech(text);
            match &body {
                Body::Speech { text, claims, .. } if text.is_empty() && claims.is_empty() => {
                    return Err(fault("empty", "there is nothing in it".into()));
                }
                _ => body,
            }
        }
        ReplyKind::Sections => Body::Sections { sections: parse_sections(text) },
        ReplyKind::Score => {
            let wire: WireScore = parse_json(text).map_err(|e| e.with_kind(kind))?;
            wire.into_body(debate, cue).map_err(|e| e.with_kind(kind))?
        }
        ReplyKind::Petition => parse_json::<WirePetition>(text)
            .and_then(WirePetition::into_body)
            .map_err(|e| e.with_kind(kind))?,
        ReplyKind::Ruling => parse_json::<WireRuling>(text)
            .map(WireRuling::into_body)
            .map_err(|e| e.with_kind(kind))?,
        ReplyKind::Vote => {
            let wire: WireVote = parse_json(text).map_err(|e| e.with_kind(kind))?;
            wire.into_body(debate, cue).map_err(|e| e.with_kind(kind))?
        }
        ReplyKind::Audit => parse_json::<WireAudit>(text)
            .map(WireAudit::into_body)
            .map_err(|e| e.with_kind(kind))?,
        ReplyKind::Verdict => {
            let wire: WireVerdict = parse_json(text).map_err(|e| e.with_kind(kind))?;
            Body::Verdict(Box::new(wire.into_ruling(debate, cue).map_err(|e| e.with_kind(kind))?))
        }
    };
    Ok(body)
}

/// Error code and message of a parse error whose reply kind is added later.
struct ParseFault(&'static str, String);

impl ParseFault {
    fn with_kind(self, kind: ReplyKind) -> ReplyParseError {
        ReplyParseError { kind, code: self.0, message: self.1 }
    }
}

/// Parses exactly one JSON object, bare or in one code fence.
fn parse_json<T: DeserializeOwned>(text: &str) -> Result<T, ParseFault> {
    let json = strip_code_fence(text.trim());
    if !json.starts_with('{') {
        return Err(ParseFault("not_json", "answer with one JSON object and nothing else".into()));
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let parsed = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let source = error.into_inner();
        let prefix = format!("`{path}`: ");
        // At the root, the error itself names the missing field, so the path is omitted.
        (if path == "." { String::new() } else { prefix }, source)
    });
    let complete = parsed.and_then(|parsed| {
        reader.end().map_err(|error| (String::new(), error))?;
        Ok(parsed)
    });
    complete.map_err(|(prefix, error)| match error.classify() {
        serde_json::error::Category::Data => ParseFault("wrong_shape", format!("{prefix}{error}")),
        _ if error.to_string().contains("trailing characters") => ParseFault(
            "not_alone",
            "there is something after the JSON object; answer with that object alone".into(),
        ),
        _ => ParseFault("not_json", error.to_string()),
    })
}

fn strip_code_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.and_then(|rest| rest.split_once('\n'));
    match inner {
        Some((info, body)) if matches!(info.trim(), "" | "json") => body.trim(),
        _ => text,
    }
}

/// Splits Markdown into sections at `##` headings, or at `###` if there are none. Text before the
/// first heading is a section of its own. Headings in code fences are ignored.
fn parse_sections(text: &str) -> Vec<Section> {
    let mut in_fence = false;
    let lines: Vec<(bool, &str)> = text
        .trim()
        .lines()
        .map(|line| {
            let mark = line.trim_start().starts_with("```");
            let is_code = in_fence || mark;
            in_fence ^= mark;
            (is_code, line)
        })
        .collect();
    let has_heading =
        |mark: &str| lines.iter().any(|(is_code, line)| !is_code && line.starts_with(mark));
    let mark = if has_heading("## ") { "## " } else { "### " };
    let mut sections: Vec<Section> = vec![];
    for (is_code, line) in lines {
        let heading = line.strip_prefix(mark).filter(|_| !is_code);
        match (heading, sections.last_mut()) {
            (Some(title), _) => {
                sections.push(Section { title: title.trim().into(), text: String::new() });
            }
            (None, Some(section)) => {
                section.text.push_str(line);
                section.text.push('\n');
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                sections.push(Section { title: "Summary".into(), text: format!("{line}\n") });
            }
        }
    }
    for section in &mut sections {
        section.text = section.text.trim().into();
    }
    sections
}

/// A side as written by judges and audiences. The meaning of `A` and `B` depends on the listener,
/// that of `pro` and `con` does not.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum WireSide {
    #[serde(alias = "Side A", alias = "side A")]
    A,
    #[serde(alias = "Side B", alias = "side B")]
    B,
    #[serde(alias = "proposer", alias = "supporting", alias = "Proposer")]
    #[serde(rename = "pro")]
    Pro,
    #[serde(alias = "challenger", alias = "opposing", alias = "Challenger")]
    #[serde(rename = "con")]
    Con,
}

impl WireSide {
    fn resolve(self, listener: Role) -> Side {
        let first = if listener == Role::Mirror { Side::Con } else { Side::Pro };
        match self {
            WireSide::Pro => Side::Pro,
            WireSide::Con => Side::Con,
            WireSide::A => first,
            WireSide::B => first.other(),
        }
    }
}

/// Collects exactly one value per side, the proposer's first.
fn collect_by_side<T>(
    entries: impl IntoIterator<Item = (WireSide, T)>,
    role: Role,
) -> Result<(T, T), ParseFault> {
    let (mut pro, mut con) = (None, None);
    for (label, value) in entries {
        let slot = match label.resolve(role) {
            Side::Pro => &mut pro,
            Side::Con => &mut con,
        };
        if slot.replace(value).is_some() {
            return Err(ParseFault("wrong_shape", "a side is given twice".into()));
        }
    }
    pro.zip(con).ok_or_else(|| ParseFault("wrong_shape", "both `A` and `B` must be given".into()))
}

/// Converts a fraction from 0 to 1 to hundredths.
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn to_hundredths(fraction: f64) -> Result<u8, ParseFault> {
    if (0.0..=1.0).contains(&fraction) {
        return Ok((fraction * 100.0).round() as u8);
    }
    Err(ParseFault("out_of_range", format!("confidence is {fraction}; it must be 0 to 1")))
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn to_score(score: f64) -> Result<u8, ParseFault> {
    if (0.0..=100.0).contains(&score) {
        return Ok(score.round() as u8);
    }
    Err(ParseFault("out_of_range", format!("a score is {score}; it must be 0 to 100")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_error_has_at_most_200_characters() {
        assert_eq!(MAX_ERROR_CHARS, 200);
        let error_of = |message_chars: usize| {
            let message = "x".repeat(message_chars);
            ReplyParseError { kind: ReplyKind::Vote, code: "not_json", message }.to_string()
        };
        let prefix_chars = error_of(0).chars().count();
        let longest = error_of(MAX_ERROR_CHARS - prefix_chars);
        assert!(longest.ends_with('x') && longest.chars().count() == MAX_ERROR_CHARS, "{longest}");
        let truncated = error_of(MAX_ERROR_CHARS - prefix_chars + 1);
        assert!(truncated.ends_with('…'), "{truncated}");
        assert!(truncated.chars().count() <= MAX_ERROR_CHARS, "{truncated}");
    }
}
