//! Who a speaker is, hidden from those who judge. What a debate is about must not be hidden: a
//! debate may be about Claude Code, so words of the topic, the brief, code and paths stay.

/// Names a tool's speakers are also known by.
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

/// Tools whose names are words of their own and give nobody away.
const WORDS: &[&str] = &["script", "demo", "host", "human", "bot", "unknown"];

/// A word that would give a speaker away, and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// In small letters.
    pub word: String,
    /// Instead of it.
    pub label: String,
}

/// A text with its speakers masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// What the judge reads.
    pub text: String,
    /// Names that had to stay, because the debate is about them.
    pub left: Vec<String>,
}

/// Whether a name somebody has chosen tells who they are and cannot be a word of a language: a
/// vendor's, or one with a digit or a low line in it.
pub fn telling(name: &str) -> bool {
    let small = name.to_lowercase();
    let vendors = ALIASES.iter().any(|(tool, all)| *tool == small || all.contains(&&*small));
    vendors || name.len() > 5 && name.contains(|c: char| c.is_ascii_digit() || c == '_')
}

/// Everything a speaker might call itself, given its tool and the models it asked for and got.
pub fn names<'a>(
    tool: &'a str,
    models: impl IntoIterator<Item = &'a str>,
    label: &str,
) -> Vec<Name> {
    if WORDS.contains(&tool) {
        return vec![];
    }
    let aliases = ALIASES.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, all)| all);
    // A model's name that is a plain word would be masked wherever it is only a word.
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

/// Replaces names in prose. `about` is what the debate is about: a name that stands there is left
/// alone, and told. Code, in fences or backticks, and paths are left alone without a word.
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

/// A stretch without spaces: names in it are masked one by one, unless it is a path.
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

/// What has a slash or a double colon in it is a path, unless it only lists names.
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

/// Whether a name stands in a text as a word, or as a version of it.
fn speaks_of(text: &str, name: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.any(|word| is(word, name))
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
}

/// The name itself or a version of it: `gpt-5.5`, `GPT5`, `claude-opus`.
fn is(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    })
}
