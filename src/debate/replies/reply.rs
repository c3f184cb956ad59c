//! Reply parser: turns a reply's text into a [`Body`] or a [`ReplyParseError`]. Speeches are parsed
//! leniently, as prose with an optional claims block. Scores, votes, verdicts and all other JSON
//! replies are validated strictly: one JSON object and nothing else. Entry point: [`parse`].
use crate::debate::record::body::{Body, Section};
use crate::debate::record::state::Debate;
use crate::debate::replies::claims_block;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::format::ReplyKind;
use json_replies::{WireAudit, WirePetition, WireRuling, WireScore, WireVote};
use parse_error::ParseFault;
use serde::de::DeserializeOwned;
use verdict::WireVerdict;

mod json_replies;
mod parse_error;
mod strict_json;
mod verdict;
mod wire_values;

pub use parse_error::ReplyParseError;

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

#[cfg(test)]
mod tests;
