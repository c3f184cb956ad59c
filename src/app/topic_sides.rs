//! Parser for one-line topics such as `X vs Y? (model-a, model-b)`: splits off a list of models at
//! the end and finds the two sides.

/// Name prefixes of known models and seats. Every provider is one of them.
const KNOWN_PREFIXES: &[&str] = &[
    "claude",
    "gpt",
    "codex",
    "gemini",
    "opencode",
    "copilot",
    "deepseek",
    "qwen",
    "llama",
    "mistral",
    "grok",
    "openai",
    "anthropic",
    "google",
    "openrouter",
    "ollama",
    "lmstudio",
    "vllm",
    "llamacpp",
    "script",
    "host",
    "human",
];

/// A longer list in parentheses is not a list of models.
const MAX_MODELS: usize = 4;

/// Longer text, in characters, is a sentence and not a side.
const MAX_SIDE_CHARS: usize = 60;

/// A parsed topic line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicLine {
    /// The line without the models.
    pub topic: String,
    /// Models as typed.
    pub models: Vec<String>,
    /// The two alternatives of the topic.
    pub sides: Option<(String, String)>,
}

/// Parses a line. Anything that is not clearly a list of models stays in the topic.
pub fn parse(text: &str) -> TopicLine {
    let text = text.trim();
    let (topic, models) = split_models(text).unwrap_or((text, vec![]));
    TopicLine { topic: topic.to_owned(), models, sides: find_sides(topic) }
}

/// The tool (CLI or API) for a bare model name. `None` for a name with a colon, which already names its
/// tool.
pub fn tool_for_model(model: &str) -> Option<&'static str> {
    let model = model.trim().to_lowercase();
    let starts_with_any = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let is_short_name =
        ["opus", "sonnet", "haiku"].iter().any(|name| is_word_or_version(&model, name));
    let is_o_series = model.strip_prefix('o').is_some_and(|it| it.starts_with(is_digit));
    if model.contains(':') {
        None
    } else if starts_with_any(&["claude"]) || is_short_name {
        Some("claude")
    } else if starts_with_any(&["gpt", "codex"]) || is_o_series {
        Some("codex")
    } else if starts_with_any(&["gemini"]) {
        Some("gemini")
    } else if starts_with_any(&["deepseek"]) {
        Some("deepseek")
    } else {
        None
    }
}

/// Splits off the models in parentheses at the end.
fn split_models(text: &str) -> Option<(&str, Vec<String>)> {
    let inner = text.strip_suffix([')', '）'])?;
    let (topic, inner) = inner.rsplit_once(['(', '（'])?;
    let items: Vec<&str> = inner.split([',', '，', '、']).map(str::trim).collect();
    // `fib(32)` is a function call.
    let is_call = text[topic.len()..].starts_with('(')
        && topic.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let fits = |item: &&str| if is_call { has_known_name(item) } else { looks_like_model(item) };
    let topic = topic.trim_end();
    let is_list = items.len() <= MAX_MODELS && items.iter().all(fits) && !topic.is_empty();
    is_list.then(|| (topic, items.into_iter().map(str::to_owned).collect()))
}

fn looks_like_model(item: &str) -> bool {
    // `(2024)`, `(3.12)` and `(v16)` are years or versions.
    let number = item.strip_prefix(['v', 'V']).unwrap_or(item);
    let version = !number.contains(|c: char| c.is_ascii_alphabetic());
    is_single_token(item) && !version && item.contains(is_digit) || has_known_name(item)
}

/// A seat, or a name that starts with a known vendor.
fn has_known_name(item: &str) -> bool {
    let lower = item.to_lowercase();
    let is_seat = item.split_once(':').is_some_and(|(tool, _)| tool.starts_with(is_letter));
    is_single_token(item)
        && (is_seat || KNOWN_PREFIXES.iter().any(|vendor| is_word_or_version(&lower, vendor)))
}

fn is_single_token(item: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "._:/@-".contains(c);
    !item.is_empty() && item.chars().all(part)
}

/// The word itself or with a version: `human` or `gpt-5` but not `humane`.
fn is_word_or_version(item: &str, word: &str) -> bool {
    item.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_letter))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
}

fn find_sides(topic: &str) -> Option<(String, String)> {
    let mut found = find_separators(topic).into_iter().map(|(from, to)| {
        let second = topic[to..].trim_end_matches(|c: char| "?？".contains(c) || c.is_whitespace());
        (topic[..from].trim(), second.trim())
    });
    let (first, second) = found.next()?;
    let (first, second) = (strip_question_prefix(first), strip_question_prefix(second));
    let fits = |side: &str| {
        let parts = side.contains([',', '，', '、', ';', '?', '？']);
        !side.is_empty()
            && side.chars().count() <= MAX_SIDE_CHARS
            && !parts
            && !NON_SIDES.contains(&side)
    };
    // With three alternatives there are no two sides.
    let has_two_sides = found.next().is_none() && fits(first) && fits(second);
    has_two_sides.then(|| (first.to_owned(), second.to_owned()))
}

/// Question prefixes that are not part of a side.
const QUESTION_PREFIXES: &[&str] = &[
    "should we use ",
    "should we choose ",
    "should we pick ",
    "should we ",
    "shall we use ",
    "do we use ",
    "which is better, ",
    "which is better: ",
    "compare ",
    "应该选择",
    "应该使用",
    "应该用",
    "应该选",
    "是否用",
    "该用",
    "该选",
    "选择",
    "使用",
    "比较",
    "用",
    "选",
];

/// Words that are never a side.
const NON_SIDES: &[&str] = &["我们", "你们", "他们", "咱们", "it", "we", "they", "this", "that"];

/// Strips the question prefix of a side.
fn strip_question_prefix(side: &str) -> &str {
    let matches = |prefix: &&&str| {
        side.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    QUESTION_PREFIXES.iter().find(matches).map_or(side, |prefix| side[prefix.len()..].trim())
}

/// Byte ranges of the words that separate two sides, such as `vs`.
fn find_separators(topic: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = vec![];
    let mut words = word_offsets(topic).into_iter().peekable();
    // Whether the previous word can end a side.
    let mut after_side = false;
    while let Some((from, word)) = words.next() {
        let next = words.peek().map(|(_, next)| *next);
        let is_vs_code = word == "VS" && next.is_some_and(|next| next.starts_with("Code"));
        let is_versus = ["vs", "vs.", "versus"].contains(&word.to_lowercase().as_str());
        // At the start or end, or next to another separator, it is a name.
        let is_separator = is_versus && !is_vs_code && next.is_some() && after_side;
        if is_separator {
            found.push((from, from + word.len()));
        }
        after_side = !is_separator;
    }
    for word in ["还是", "对比"] {
        found.extend(topic.match_indices(word).map(|(at, it)| (at, at + it.len())));
    }
    found
}

/// Words with their byte offsets.
fn word_offsets(text: &str) -> Vec<(usize, &str)> {
    let mut words = vec![];
    let mut offset = 0;
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        if !word.is_empty() {
            words.push((offset, word));
        }
        offset += part.len();
    }
    words
}

#[cfg(test)]
mod tests;
