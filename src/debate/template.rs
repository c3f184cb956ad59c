//! Prompts are filled in once: what was filled in is never filled in again, so nothing a debater
//! writes can become part of the template. The syntax is one thing, `{{name}}`, and will stay so:
//! a template that was stored years ago must still come out the same.

/// What a prompt may ask for.
pub const NAMES: &[&str] = &[
    "topic",
    "brief",
    "round",
    "rounds",
    "previous_round",
    "role",
    "seat",
    "tool",
    "opponent",
    "stance",
    "style",
    "focus",
    "act",
    "rules",
    "audience",
    "goal",
    "readers",
    "decision",
    "language",
    "letter",
    "length",
    "words",
    "heard",
    "checks",
    "claims",
    "contested",
    "reply",
    "why",
];

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// A name nothing is known by.
    #[error("`{{{{{0}}}}}` is not known; known are {known}", known = NAMES.join(", "))]
    Unknown(String),
    /// An opening without an end.
    #[error("a `{{{{` is never closed")]
    Unclosed,
}

/// Whether every name in it is known.
pub fn check(template: &str) -> Result<(), Bad> {
    parts(template).try_for_each(|part| match part? {
        Part::Name(name) if !NAMES.contains(&name) => Err(Bad::Unknown(name.into())),
        _ => Ok(()),
    })
}

/// Fills a template in. Only templates that passed [`check`] are stored, so what is unknown here
/// was never known and is left out. A paragraph that comes out empty leaves no gap.
pub fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut gap = false;
    for part in parts(template).flatten() {
        match part {
            Part::Text(text) if gap => filled.push_str(text.strip_prefix("\n\n").unwrap_or(text)),
            Part::Text(text) => filled.push_str(text),
            Part::Name(name) => {
                let value = value(name);
                gap = value.is_empty() && (filled.is_empty() || filled.ends_with("\n\n"));
                filled.push_str(&value);
                continue;
            }
        }
        gap = false;
    }
    filled
}

enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn parts(template: &str) -> impl Iterator<Item = Result<Part<'_>, Bad>> {
    let mut rest = Some(template);
    std::iter::from_fn(move || {
        let text = rest.take().filter(|text| !text.is_empty())?;
        let Some(inside) = text.strip_prefix("{{") else {
            let (plain, after) = text.split_at(text.find("{{").unwrap_or(text.len()));
            rest = Some(after);
            return Some(Ok(Part::Text(plain)));
        };
        let Some((name, after)) = inside.split_once("}}") else { return Some(Err(Bad::Unclosed)) };
        rest = Some(after);
        Some(Ok(Part::Name(name.trim())))
    })
}
