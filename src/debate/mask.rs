//! Masks speaker names in text shown to judges, auditors and audiences, so that they cannot tell
//! which tool or model speaks. A debate can be about such a tool (Claude Code, say), so names that
//! occur in the topic or the brief stay, as do code and paths. Entry point: [`mask`].

/// Tool names, with the vendor and model names that identify their speakers.
const ALIASES: &[(&str, &[&str])] = &[
    ("claude", &["claude", "anthropic", "opus", "sonnet", "haiku"]),
    ("anthropic", &["claude", "anthropic", "opus", "sonnet", "haiku"]),
    ("codex", &["codex", "openai", "gpt", "chatgpt"]),
    ("openai", &["openai", "gpt", "chatgpt"]),
    ("gemini", &["gemini", "google", "bard"]),
    ("copilot", &["copilot"]),
    ("opencode", &["opencode"]),
    ("deepseek", &["deepseek"]),
];

/// Tool names that identify no vendor and are never masked.
const WORDS: &[&str] = &["script", "demo", "host", "human", "bot", "unknown"];

/// A word that identifies a speaker, and the label that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Lower case.
    pub word: String,
    pub label: String,
}

/// Result of [`mask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    pub text: String,
    /// Names left unmasked, because the debate is about them.
    pub left: Vec<String>,
}

/// Whether a self-chosen bot name identifies its owner and cannot be an ordinary word: a vendor or
/// model name, or a name longer than five bytes with a digit or an underscore.
pub fn telling(name: &str) -> bool {
    let small = name.to_lowercase();
    let vendors = ALIASES.iter().any(|(tool, all)| *tool == small || all.contains(&&*small));
    vendors || name.len() > 5 && name.contains(|c: char| c.is_ascii_digit() || c == '_')
}

/// Builds the masking list of one speaker from its tool and the models requested and reported.
pub fn names<'a>(
    tool: &'a str,
    models: impl IntoIterator<Item = &'a str>,
    label: &str,
) -> Vec<Name> {
    if WORDS.contains(&tool) {
        return vec![];
    }
    let aliases = ALIASES.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, all)| all);
    // A model name that is an ordinary word would be masked wherever that word is used.
    let models =
        models.into_iter().filter(|model| model.contains(|c: char| "-0123456789".contains(c)));
    let words = [tool].into_iter().chain(aliases.iter().copied()).chain(models);
    let mut names: Vec<Name> = vec![];
    for word in words.map(str::to_lowercase) {
        if word.len() > 2 && names.iter().all(|name| name.word != word) {
            names.push(Name { word, label: label.into() });
        }
    }
    names
}

/// Replaces speaker names in prose with their labels. Skips code fences, inline code and paths. A
/// name that occurs in `about` (topic and brief) stays and is listed in the result.
pub fn mask(text: &str, names: &[Name], about: &str) -> Masked {
    let small = text.to_lowercase();
    if !names.iter().any(|name| small.contains(&name.word)) {
        return Masked { text: text.to_owned(), left: vec![] };
    }
    let about = about.to_lowercase();
    let mut masked = Masked { text: String::with_capacity(text.len()), left: vec![] };
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            masked.text.push_str(line);
        } else if fenced {
            masked.text.push_str(line);
        } else {
            for (nth, part) in line.split('`').enumerate() {
                if nth > 0 {
                    masked.text.push('`');
                }
                if nth % 2 == 1 {
                    masked.text.push_str(part);
                } else {
                    mask_prose(part, names, &about, &mut masked);
                }
            }
        }
    }
    masked
}

fn mask_prose(text: &str, names: &[Name], about: &str, masked: &mut Masked) {
    let mut rest = text;
    while !rest.is_empty() {
        let space = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        masked.text.push_str(&rest[..space]);
        rest = &rest[space..];
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        mask_word(&rest[..word], names, about, masked);
        rest = &rest[word..];
    }
}

/// Masks each name in a whitespace-delimited token, unless the token is a path.
fn mask_word(word: &str, names: &[Name], about: &str, masked: &mut Masked) {
    if is_path(word, names) {
        masked.text.push_str(word);
        return;
    }
    let mut rest = word;
    while !rest.is_empty() {
        let other = rest.find(in_name).unwrap_or(rest.len());
        masked.text.push_str(&rest[..other]);
        rest = &rest[other..];
        let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
        mask_name(&rest[..end], names, about, masked);
        rest = &rest[end..];
    }
}

/// A token with `/`, `::` or `\` is a path, except a slash-separated list of speaker names.
fn is_path(word: &str, names: &[Name]) -> bool {
    let known = |part: &str| {
        let first = trimmed(part).split(|c| !in_name(c)).next().unwrap_or_default().to_lowercase();
        names.iter().any(|name| is(&first, &name.word))
    };
    let slashed = word.contains('/') && !word.split('/').all(known);
    slashed || word.contains("::") || word.contains('\\')
}

fn mask_name(word: &str, names: &[Name], about: &str, masked: &mut Masked) {
    let inner = trimmed(word);
    let small = inner.to_lowercase();
    match names.iter().find(|name| is(&small, &name.word)) {
        Some(name) if speaks_of(about, &name.word) => {
            if !masked.left.contains(&name.word) {
                masked.left.push(name.word.clone());
            }
            masked.text.push_str(word);
        }
        Some(name) => masked.text.push_str(&word.replacen(inner, &name.label, 1)),
        None => masked.text.push_str(word),
    }
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-')
}

/// Whether the text contains the name as a word, with or without a version suffix.
fn speaks_of(text: &str, name: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.any(|word| is(word, name))
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
}

/// Matches the name itself, or the name with a version suffix: `gpt-5.5`, `GPT5`, `claude-opus`.
fn is(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    })
}
