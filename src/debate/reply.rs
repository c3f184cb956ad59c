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

impl fmt::Display for ReplyParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let says: String = self.message.chars().filter(|c| !c.is_control()).collect();
        let line = format!("PARSE_ERROR:{kind}:{}: {says}", self.code);
        f.write_str(&truncate_at_word(&line, 200))
    }
}

/// Truncates at a word boundary and closes an open backtick.
fn truncate_at_word(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let cut: String = line.chars().take(most - 2).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(before, _)| before);
    let open = cut.matches('`').count() % 2 == 1;
    format!("{}{} …", cut.trim_end_matches(','), if open { "`" } else { "" })
}

impl std::error::Error for ReplyParseError {}

/// Parses the reply of the seat at `cue` as the kind its phase asks for.
pub fn parse(debate: &Debate, cue: Cue, text: &str) -> Result<Body, ReplyParseError> {
    let kind = debate.setup().phase(cue).reply;
    let fault = |code, says: String| ReplyParseError { kind, code, message: says };
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
    let bare = strip_code_fence(text.trim());
    if !bare.starts_with('{') {
        return Err(ParseFault("not_json", "answer with one JSON object and nothing else".into()));
    }
    let mut reader = serde_json::Deserializer::from_str(bare);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let said = error.into_inner();
        let at = format!("`{path}`: ");
        // At the root, the error itself names the missing field, so the path is omitted.
        (if path == "." { String::new() } else { at }, said)
    });
    let whole = read.and_then(|read| {
        reader.end().map_err(|error| (String::new(), error))?;
        Ok(read)
    });
    whole.map_err(|(at, error)| match error.classify() {
        serde_json::error::Category::Data => ParseFault("wrong_shape", format!("{at}{error}")),
        _ if error.to_string().contains("trailing characters") => ParseFault(
            "not_alone",
            "there is something after the JSON object; answer with that object alone".into(),
        ),
        _ => ParseFault("not_json", error.to_string()),
    })
}

fn strip_code_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inside = inside.and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((mark, body)) if matches!(mark.trim(), "" | "json") => body.trim(),
        _ => text,
    }
}

/// Splits Markdown into sections at `##` headings, or at `###` if there are none. Text before the
/// first heading is a section of its own. Headings in code fences are ignored.
fn parse_sections(text: &str) -> Vec<Section> {
    let mut fenced = false;
    let lines: Vec<(bool, &str)> = text
        .trim()
        .lines()
        .map(|line| {
            let mark = line.trim_start().starts_with("```");
            let code = fenced || mark;
            fenced ^= mark;
            (code, line)
        })
        .collect();
    let has = |mark: &str| lines.iter().any(|(code, line)| !code && line.starts_with(mark));
    let mark = if has("## ") { "## " } else { "### " };
    let mut sections: Vec<Section> = vec![];
    for (code, line) in lines {
        let heading = line.strip_prefix(mark).filter(|_| !code);
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
    said: impl IntoIterator<Item = (WireSide, T)>,
    role: Role,
) -> Result<(T, T), ParseFault> {
    let (mut pro, mut con) = (None, None);
    for (label, value) in said {
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
fn to_hundredths(part: f64) -> Result<u8, ParseFault> {
    if (0.0..=1.0).contains(&part) {
        return Ok((part * 100.0).round() as u8);
    }
    Err(ParseFault("out_of_range", format!("confidence is {part}; it must be 0 to 1")))
}

#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
fn to_score(score: f64) -> Result<u8, ParseFault> {
    if (0.0..=100.0).contains(&score) {
        return Ok(score.round() as u8);
    }
    Err(ParseFault("out_of_range", format!("a score is {score}; it must be 0 to 100")))
}
