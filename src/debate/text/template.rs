//! Prompt templates with `{{name}}` placeholders. Substitution is a single pass, so text from a
//! debater is never parsed as a template. The syntax is frozen: templates are stored in the log and
//! must render the same in later versions.

/// Placeholders a prompt template can use.
const PLACEHOLDERS: &[&str] = &[
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

/// Parse or validation error of a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("`{{{{{0}}}}}` is not known; known are {known}", known = PLACEHOLDERS.join(", "))]
    UnknownPlaceholder(String),
    #[error("a `{{{{` is never closed")]
    Unclosed,
}

/// Validates that every placeholder is known.
pub fn validate(template: &str) -> Result<(), TemplateError> {
    parse_parts(template).try_for_each(|part| match part? {
        TemplatePart::Placeholder(name) if !PLACEHOLDERS.contains(&name) => {
            Err(TemplateError::UnknownPlaceholder(name.into()))
        }
        _ => Ok(()),
    })
}

/// Renders a template. Only templates that passed [`validate`] are stored, so an unknown
/// placeholder renders as nothing. A paragraph that renders empty leaves no gap.
pub fn render(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut rendered = String::new();
    let mut after_empty = false;
    for part in parse_parts(template).flatten() {
        match part {
            TemplatePart::Text(text) if after_empty => {
                rendered.push_str(text.strip_prefix("\n\n").unwrap_or(text));
            }
            TemplatePart::Text(text) => rendered.push_str(text),
            TemplatePart::Placeholder(name) => {
                let value = value(name);
                after_empty =
                    value.is_empty() && (rendered.is_empty() || rendered.ends_with("\n\n"));
                rendered.push_str(&value);
                continue;
            }
        }
        after_empty = false;
    }
    rendered
}

enum TemplatePart<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

fn parse_parts(template: &str) -> impl Iterator<Item = Result<TemplatePart<'_>, TemplateError>> {
    let mut rest = Some(template);
    std::iter::from_fn(move || {
        let text = rest.take().filter(|text| !text.is_empty())?;
        let Some(inside) = text.strip_prefix("{{") else {
            let (plain, after) = text.split_at(text.find("{{").unwrap_or(text.len()));
            rest = Some(after);
            return Some(Ok(TemplatePart::Text(plain)));
        };
        let Some((name, after)) = inside.split_once("}}") else {
            return Some(Err(TemplateError::Unclosed));
        };
        rest = Some(after);
        Some(Ok(TemplatePart::Placeholder(name.trim())))
    })
}

#[cfg(test)]
mod tests;
