//! Parser for one-line topics such as `X vs Y? (model-a, model-b)`: splits off a list of models at
//! the end and finds the two sides.

/// Name prefixes of known models and seats.
const VENDORS: &[&str] = &[
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
    "ollama",
    "script",
    "host",
    "human",
];

/// A longer list in parentheses is not a list of models.
const MOST_MODELS: usize = 4;

/// Longer text, in characters, is a sentence and not a side.
const LONGEST_SIDE: usize = 60;

/// A parsed topic line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneLine {
    /// The line without the models.
    pub topic: String,
    /// Models as typed.
    pub models: Vec<String>,
    /// The two alternatives of the topic.
    pub sides: Option<(String, String)>,
}

/// Parses a line. Anything that is not clearly a list of models stays in the topic.
pub fn read(typed: &str) -> OneLine {
    let typed = typed.trim();
    let (topic, models) = models(typed).unwrap_or((typed, vec![]));
    OneLine { topic: topic.to_owned(), models, sides: sides(topic) }
}

/// The CLI tool for a bare model name. `None` for a name with a colon, which already names its
/// tool.
pub fn tool_of(model: &str) -> Option<&'static str> {
    let model = model.trim().to_lowercase();
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let short = ["opus", "sonnet", "haiku"].iter().any(|name| is_word(&model, name));
    let o_series = model.strip_prefix('o').is_some_and(|it| it.starts_with(digit));
    if model.contains(':') {
        None
    } else if begins(&["claude"]) || short {
        Some("claude")
    } else if begins(&["gpt", "codex"]) || o_series {
        Some("codex")
    } else if begins(&["gemini"]) {
        Some("gemini")
    } else if begins(&["deepseek"]) {
        Some("deepseek")
    } else {
        None
    }
}

/// Splits off the models in parentheses at the end.
fn models(typed: &str) -> Option<(&str, Vec<String>)> {
    let inner = typed.strip_suffix([')', '）'])?;
    let (topic, inner) = inner.rsplit_once(['(', '（'])?;
    let items: Vec<&str> = inner.split([',', '，', '、']).map(str::trim).collect();
    // `fib(32)` is a function call.
    let called = typed[topic.len()..].starts_with('(')
        && topic.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let fits = |item: &&str| if called { is_known(item) } else { is_model(item) };
    let topic = topic.trim_end();
    let all = items.len() <= MOST_MODELS && items.iter().all(fits) && !topic.is_empty();
    all.then(|| (topic, items.into_iter().map(str::to_owned).collect()))
}

fn is_model(item: &str) -> bool {
    // `(2024)`, `(3.12)` and `(v16)` are years or versions.
    let number = item.strip_prefix(['v', 'V']).unwrap_or(item);
    let version = !number.contains(|c: char| c.is_ascii_alphabetic());
    written_as_one(item) && !version && item.contains(digit) || is_known(item)
}

/// A seat, or a name that starts with a known vendor.
fn is_known(item: &str) -> bool {
    let small = item.to_lowercase();
    let seat = item.split_once(':').is_some_and(|(tool, _)| tool.starts_with(letter));
    written_as_one(item) && (seat || VENDORS.iter().any(|vendor| is_word(&small, vendor)))
}

fn written_as_one(item: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "._:/@-".contains(c);
    !item.is_empty() && item.chars().all(part)
}

/// The word itself or with a version: `human` or `gpt-5` but not `humane`.
fn is_word(item: &str, word: &str) -> bool {
    item.strip_prefix(word).is_some_and(|rest| !rest.starts_with(letter))
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn letter(c: char) -> bool {
    c.is_ascii_alphabetic()
}

fn sides(topic: &str) -> Option<(String, String)> {
    let mut found = between(topic).into_iter().map(|(from, to)| {
        let second = topic[to..].trim_end_matches(|c: char| "?？".contains(c) || c.is_whitespace());
        (topic[..from].trim(), second.trim())
    });
    let (first, second) = found.next()?;
    let (first, second) = (bare(first), bare(second));
    let fits = |side: &str| {
        let parts = side.contains([',', '，', '、', ';', '?', '？']);
        !side.is_empty()
            && side.chars().count() <= LONGEST_SIDE
            && !parts
            && !FILLERS.contains(&side)
    };
    // With three alternatives there are no two sides.
    let two = found.next().is_none() && fits(first) && fits(second);
    two.then(|| (first.to_owned(), second.to_owned()))
}

/// Question prefixes that are not part of a side.
const LEADS: &[&str] = &[
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
const FILLERS: &[&str] = &["我们", "你们", "他们", "咱们", "it", "we", "they", "this", "that"];

/// Strips the question prefix of a side.
fn bare(side: &str) -> &str {
    let begins =
        |lead: &&&str| side.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead));
    LEADS.iter().find(begins).map_or(side, |lead| side[lead.len()..].trim())
}

/// Byte ranges of the words that separate two sides, such as `vs`.
fn between(topic: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = vec![];
    let mut words = words(topic).into_iter().peekable();
    // Whether the previous word can end a side.
    let mut side = false;
    while let Some((from, word)) = words.next() {
        let next = words.peek().map(|(_, next)| *next);
        let editor = word == "VS" && next.is_some_and(|next| next.starts_with("Code"));
        let versus = ["vs", "vs.", "versus"].contains(&word.to_lowercase().as_str());
        // At the start or end, or next to another separator, it is a name.
        let sets = versus && !editor && next.is_some() && side;
        if sets {
            found.push((from, from + word.len()));
        }
        side = !sets;
    }
    for word in ["还是", "对比"] {
        found.extend(topic.match_indices(word).map(|(at, it)| (at, at + it.len())));
    }
    found
}

/// Words with their byte offsets.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = vec![];
    let mut at = 0;
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        if !word.is_empty() {
            words.push((at, word));
        }
        at += part.len();
    }
    words
}
