//! Masks speaker names in text shown to judges, auditors and audiences, so that they cannot tell
//! which tool or model speaks. A debate can be about such a tool (Claude Code, say), so names that
//! occur in the topic or the brief (repository context) stay, as do code and paths. Entry point:
//! `mask`.

/// Providers: tool name, the prompt wording version that masks it first (older debates keep their
/// prompts), and the vendor and model names that identify a speaker. A router or local server has
/// no model family of its own, so only its own name identifies it.
#[rustfmt::skip]
const PROVIDER_ALIASES: &[(&str, u8, &[&str])] = &[
    ("claude", 1, &["claude", "anthropic", "opus", "sonnet", "haiku"]),
    ("anthropic", 1, &["claude", "anthropic", "opus", "sonnet", "haiku"]),
    ("codex", 1, &["codex", "openai", "gpt", "chatgpt"]),
    ("openai", 1, &["openai", "gpt", "chatgpt"]),
    ("openai-chat", 4, &["openai", "gpt", "chatgpt"]),
    ("gemini", 1, &["gemini", "google", "bard"]),
    ("google", 4, &["gemini", "google", "bard"]),
    ("copilot", 1, &["copilot"]),
    ("opencode", 1, &["opencode"]),
    ("deepseek", 1, &["deepseek"]),
    ("openrouter", 4, &["openrouter"]),
    ("ollama", 4, &["ollama"]),
    ("lmstudio", 4, &["lmstudio"]),
    ("vllm", 4, &["vllm"]),
    ("llamacpp", 4, &["llamacpp", "llama.cpp"]),
];

/// The names that identify a provider's speakers, or `None` if the wording version does not list it.
pub fn provider_aliases(tool: &str, wording: u8) -> Option<&'static [&'static str]> {
    let known = |(name, since, _): &&(&str, u8, _)| *name == tool && *since <= wording;
    PROVIDER_ALIASES.iter().find(known).map(|(_, _, aliases)| *aliases)
}

/// Tool names that identify no vendor and are never masked.
const GENERIC_TOOLS: &[&str] = &["script", "demo", "host", "human", "bot", "unknown"];

/// Minimum length of a bot name with a digit or an underscore that is masked, in bytes.
const MIN_BOT_NAME_BYTES: usize = 6;
/// Minimum length of a masked word, in bytes.
const MIN_MASKED_BYTES: usize = 3;

/// A word that identifies a speaker, and the label that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameReplacement {
    /// Lower case.
    pub word: String,
    pub label: String,
}

/// Result of [`mask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MaskedText {
    pub text: String,
    /// Names left unmasked, because the debate is about them.
    pub unmasked: Vec<String>,
}

/// Whether a self-chosen bot name identifies its owner and cannot be an ordinary word: a vendor or
/// model name, or a name longer than five bytes with a digit or an underscore.
pub(super) fn is_identifying_name(name: &str, wording: u8) -> bool {
    let lowercase = name.to_lowercase();
    let is_vendor = PROVIDER_ALIASES.iter().any(|(tool, since, aliases)| {
        *since <= wording && (*tool == lowercase || aliases.contains(&&*lowercase))
    });
    let has_digit = name.contains(|c: char| c.is_ascii_digit() || c == '_');
    is_vendor || name.len() >= MIN_BOT_NAME_BYTES && has_digit
}

/// Builds the masking list of one speaker from its tool and the models requested and reported.
pub(super) fn name_replacements<'a>(
    tool: &'a str,
    models: impl IntoIterator<Item = &'a str>,
    label: &str,
    wording: u8,
) -> Vec<NameReplacement> {
    if GENERIC_TOOLS.contains(&tool) {
        return vec![];
    }
    let aliases = provider_aliases(tool, wording).unwrap_or_default();
    // A model name that is an ordinary word would be masked wherever that word is used.
    let models =
        models.into_iter().filter(|model| model.contains(|c: char| "-0123456789".contains(c)));
    let words = [tool].into_iter().chain(aliases.iter().copied()).chain(models);
    let mut names: Vec<NameReplacement> = vec![];
    for word in words.map(str::to_lowercase) {
        if word.len() >= MIN_MASKED_BYTES && names.iter().all(|name| name.word != word) {
            names.push(NameReplacement { word, label: label.into() });
        }
    }
    names
}

/// Replaces speaker names in prose with their labels. Skips code fences, inline code and paths. A
/// name that occurs in `about` (topic and brief) stays and is listed in the result.
pub(super) fn mask(text: &str, names: &[NameReplacement], about: &str) -> MaskedText {
    let lowercase = text.to_lowercase();
    if !names.iter().any(|name| lowercase.contains(&name.word)) {
        return MaskedText { text: text.to_owned(), unmasked: vec![] };
    }
    let about = about.to_lowercase();
    let mut masked = MaskedText { text: String::with_capacity(text.len()), unmasked: vec![] };
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            masked.text.push_str(line);
        } else if fenced {
            masked.text.push_str(line);
        } else {
            for (index, part) in line.split('`').enumerate() {
                if index > 0 {
                    masked.text.push('`');
                }
                if index % 2 == 1 {
                    masked.text.push_str(part);
                } else {
                    mask_prose(part, names, &about, &mut masked);
                }
            }
        }
    }
    masked
}

fn mask_prose(text: &str, names: &[NameReplacement], about: &str, masked: &mut MaskedText) {
    let mut rest = text;
    while !rest.is_empty() {
        let word_start = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        masked.text.push_str(&rest[..word_start]);
        rest = &rest[word_start..];
        let word_end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        mask_word(&rest[..word_end], names, about, masked);
        rest = &rest[word_end..];
    }
}

/// Masks each name in a whitespace-delimited token, unless the token is a path.
fn mask_word(word: &str, names: &[NameReplacement], about: &str, masked: &mut MaskedText) {
    if is_path(word, names) {
        masked.text.push_str(word);
        return;
    }
    let mut rest = word;
    while !rest.is_empty() {
        let name_start = rest.find(is_name_char).unwrap_or(rest.len());
        masked.text.push_str(&rest[..name_start]);
        rest = &rest[name_start..];
        let name_end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        mask_name(&rest[..name_end], names, about, masked);
        rest = &rest[name_end..];
    }
}

/// A token with `/`, `::` or `\` is a path, except a slash-separated list of speaker names.
fn is_path(word: &str, names: &[NameReplacement]) -> bool {
    let is_speaker = |part: &str| {
        let first = trim_punctuation(part)
            .split(|c| !is_name_char(c))
            .next()
            .unwrap_or_default()
            .to_lowercase();
        names.iter().any(|name| is_name_or_version(&first, &name.word))
    };
    let is_slashed = word.contains('/') && !word.split('/').all(is_speaker);
    is_slashed || word.contains("::") || word.contains('\\')
}

fn mask_name(word: &str, names: &[NameReplacement], about: &str, masked: &mut MaskedText) {
    let inner = trim_punctuation(word);
    let lowercase = inner.to_lowercase();
    match names.iter().find(|name| is_name_or_version(&lowercase, &name.word)) {
        Some(name) if mentions_name(about, &name.word) => {
            if !masked.unmasked.contains(&name.word) {
                masked.unmasked.push(name.word.clone());
            }
            masked.text.push_str(word);
        }
        Some(name) => masked.text.push_str(&word.replacen(inner, &name.label, 1)),
        None => masked.text.push_str(word),
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-')
}

/// Whether the text contains the name as a word, with or without a version suffix.
fn mentions_name(text: &str, name: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.any(|word| is_name_or_version(word, name))
}

fn trim_punctuation(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
}

/// Matches the name itself, or the name with a version suffix: `gpt-5.5`, `GPT5`, `claude-opus`.
fn is_name_or_version(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests;
