//! Parser for options typed in plain words around a topic.
//!
//! Example: `codex vs gemini, 3 rounds, thoroughly, about X`. Words become options only if all of
//! them are understood. Otherwise they stay in the topic.
use crate::debate::Effort;

/// The parsed options and the remaining topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicOptions {
    pub topic: String,
    pub format: Option<String>,
    /// Seat as typed.
    pub proposer: Option<String>,
    /// Seat as typed.
    pub challenger: Option<String>,
    /// Seat as typed.
    pub judge: Option<String>,
    pub rounds: Option<u8>,
    pub effort: Option<Effort>,
}

impl TopicOptions {
    /// The options as one line, `None` if there are none.
    pub fn describe_options(&self) -> Option<String> {
        let mut said = vec![];
        let mut say = |name: &str, value: Option<String>| {
            said.extend(value.map(|value| format!("{name} {value}")));
        };
        say("format", self.format.clone());
        say("proposer", self.proposer.clone());
        say("challenger", self.challenger.clone());
        say("judge", self.judge.clone());
        say("rounds", self.rounds.map(|rounds| rounds.to_string()));
        say("effort", self.effort.map(|effort| effort.as_str().to_owned()));
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The options and the topic as one line, `None` if there are no options.
    pub fn describe(&self) -> Option<String> {
        self.describe_options().map(|said| format!("{said}; the question is: {}", self.topic))
    }
}

/// Words that separate options from the topic.
const TOPIC_SEPARATORS: &[&str] = &["about", "on", "over", "regarding", "whether", "debate"];
/// Separators that rarely occur inside an ordinary sentence.
const CLEAR_SEPARATORS: &[&str] = &["about", "regarding", "whether", "debate", ":"];
/// Words to be skipped.
const FILLER_WORDS: &[&str] = &[
    "a", "an", "the", "and", "please", "have", "let", "debate", "argue", "discuss", "run", "do",
    "in", "for", "at", "effort", "use", "using", "as", "it",
];
/// If one of these follows the name of a format, it is a sentence and not an option.
const SENTENCE_WORDS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would", "does",
    "do", "did", "of", "and", "or", "in", "on", "for", "that", "shows", "needs", "vs", "versus",
];

/// Parses what the user typed. `seat` says whether a word is a known seat, `format` whether it is a
/// format.
pub fn parse(
    typed: &str,
    seat: impl Fn(&str) -> bool,
    format: impl Fn(&str) -> bool,
) -> TopicOptions {
    let typed = typed.trim();
    let mut spoken = TopicOptions::default();
    let mut rest = parse_leading_format(typed, format, &mut spoken);
    if let Some((wishes, topic)) = parse_leading_options(rest, &seat) {
        rest = topic;
        spoken.merge(wishes);
    } else if let Some((wishes, topic)) = parse_trailing_options(rest, &seat) {
        rest = topic;
        spoken.merge(wishes);
    }
    spoken.topic = rest.to_owned();
    spoken
}

impl TopicOptions {
    fn merge(&mut self, other: TopicOptions) {
        let format = self.format.take();
        *self = TopicOptions { format: format.or(other.format.clone()), ..other };
    }

    fn has_options(&self) -> bool {
        self.describe_options().is_some()
    }
}

/// Parses a leading format, as in `tribunal: X` or `dialectic X`. Because a topic may begin with
/// such a word, it must be lowercase, and without a colon the rest must look like a question.
fn parse_leading_format<'a>(
    typed: &'a str,
    format: impl Fn(&str) -> bool,
    spoken: &mut TopicOptions,
) -> &'a str {
    let Some((first, rest)) = typed.split_once(char::is_whitespace) else { return typed };
    let (name, colon) = match first.strip_suffix(':') {
        Some(name) => (name, true),
        None => (first, false),
    };
    let rest = rest.trim_start();
    let next = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    let second = rest.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
    // `research should be free` is a sentence, `research should we ...` is a format and a question.
    let be = next == "should" && ["be", "have", "not", "never"].contains(&second.as_str());
    let asks = ["whether", "should", "about"].contains(&next.as_str())
        || rest.contains(['?', '？'])
        || rest.contains(" vs ");
    let asks = asks && !be && !SENTENCE_WORDS.contains(&next.as_str());
    let small = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if small && format(name) && (colon || asks) {
        spoken.format = Some(name.to_owned());
        return rest;
    }
    typed
}

/// Parses options before the topic, up to a separator such as `about` or a colon.
fn parse_leading_options<'a>(
    typed: &'a str,
    seat: &impl Fn(&str) -> bool,
) -> Option<(TopicOptions, &'a str)> {
    let mut at = 0;
    for piece in typed.split_inclusive(char::is_whitespace) {
        let word = piece.trim();
        let end = at + piece.len();
        let small = word.to_lowercase();
        let between = if word.ends_with(':') { ":" } else { small.as_str() };
        let (split, from) = match word.strip_suffix(':') {
            // `codex:` may be an incomplete seat. The colon still ends the options.
            Some(bare) => (Some(at + bare.len()), end),
            None if TOPIC_SEPARATORS.contains(&word.to_lowercase().as_str()) => {
                // `whether` is part of the topic.
                let keep = word.eq_ignore_ascii_case("whether");
                (Some(at), if keep { at } else { end })
            }
            None => (None, end),
        };
        let topic = typed[from..].trim();
        // In `debate on X` or `debate about X` the topic begins after the last separator.
        let next = topic.split_whitespace().next().unwrap_or_default().to_lowercase();
        if TOPIC_SEPARATORS.contains(&next.as_str()) && next != "whether" {
            at = end;
            continue;
        }
        let plainly = CLEAR_SEPARATORS.contains(&between);
        let wishes = split.and_then(|split| parse_options(&typed[..split], plainly, seat));
        // `claude vs codex: which one?` is a topic about the two.
        let about_them = between == ":" && ["which", "who"].contains(&next.as_str());
        if let Some(found) = wishes.filter(|_| !topic.is_empty() && !about_them) {
            return Some((found, topic));
        }
        at = end;
    }
    None
}

/// Parses options after the topic, separated by commas.
fn parse_trailing_options<'a>(
    typed: &'a str,
    seat: &impl Fn(&str) -> bool,
) -> Option<(TopicOptions, &'a str)> {
    let commas = typed.char_indices().filter(|(_, c)| matches!(c, ',' | ';' | '，' | '；'));
    for (at, comma) in commas {
        let (topic, said) = (typed[..at].trim(), &typed[at + comma.len_utf8()..]);
        if let Some(found) = parse_options(said, false, seat).filter(|_| !topic.is_empty()) {
            return Some((found, topic));
        }
    }
    None
}

/// Parses a list of words as options, if all of them are understood. A single word such as `fast`
/// is ambiguous and counts only before a clear separator.
fn parse_options(said: &str, plainly: bool, seat: &impl Fn(&str) -> bool) -> Option<TopicOptions> {
    let text = said.replace([',', ';', '，', '；', '(', ')'], " ");
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let small: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut spoken = TopicOptions::default();
    let mut deep = false;
    let mut at = 0;
    let seated = |nth: usize| words.get(nth).is_some_and(|word| seat(word));
    let is = |nth: usize, all: &[&str]| small.get(nth).is_some_and(|it| all.contains(&it.as_str()));
    while at < words.len() {
        let next = small.get(at + 1).map_or("", String::as_str);
        let against = is(at + 1, &["vs", "vs.", "versus", "against"]);
        let paired = at > 0 && is(at - 1, &["with", "between"]) || is(at, &["with", "between"]);
        if seated(at)
            && seated(at + 2)
            && (against || (next == "and" && (paired || at == 0 || is(at - 1, FILLER_WORDS))))
        {
            if spoken.proposer.is_some() {
                return None;
            }
            spoken.proposer = Some(words[at].clone());
            spoken.challenger = Some(words[at + 2].clone());
            at += 3;
        } else if is(at, &["with", "between"]) && seated(at + 1) && seated(at + 3) {
            at += 1;
        } else if is(at, &["judged"]) && next == "by" && seated(at + 2) {
            spoken.judge = Some(words[at + 2].clone());
            at += 3;
        } else if is(at, &["judge"]) && seated(at + 1) {
            spoken.judge = Some(words[at + 1].clone());
            at += 2;
        } else if let (Some(count), true) =
            (parse_count(&small[at]), ["round", "rounds"].contains(&next))
        {
            spoken.rounds = Some(count);
            at += 2;
        } else if let Some(effort) = parse_effort(&small[at]) {
            if spoken.effort.is_some_and(|other| other != effort) {
                return None;
            }
            spoken.effort = Some(effort);
            deep |= ["deep", "deeply"].contains(&small[at].as_str());
            at += 1;
        } else if small[at] == "extended" {
            deep = true;
            at += 1;
        } else if FILLER_WORDS.contains(&small[at].as_str()) {
            at += 1;
        } else {
            return None;
        }
    }
    let clear = spoken.proposer.is_some() || spoken.judge.is_some() || spoken.rounds.is_some();
    let said = |all: &[&str]| small.iter().any(|word| all.contains(&word.as_str()));
    let adverb = small.iter().any(|word| parse_effort(word).is_some() && word.ends_with("ly"));
    let named = said(&["effort", "debate"]) && (spoken.effort.is_some() || deep);
    let alone = plainly && !said(&["high", "medium", "low", "max", "maximum"]);
    if deep {
        spoken.rounds.get_or_insert(3);
    }
    (spoken.has_options() && (clear || adverb || named || alone)).then_some(spoken)
}

fn parse_count(word: &str) -> Option<u8> {
    const WORDS: [&str; 10] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let written =
        WORDS.iter().position(|it| *it == word).and_then(|nth| u8::try_from(nth + 1).ok());
    word.parse().ok().or(written)
}

fn parse_effort(word: &str) -> Option<Effort> {
    match word {
        "quick" | "quickly" | "fast" | "low" => Some(Effort::Low),
        "medium" => Some(Effort::Medium),
        "thorough" | "thoroughly" | "deep" | "deeply" | "careful" | "carefully" | "high" => {
            Some(Effort::High)
        }
        "maximum" | "max" => Some(Effort::Max),
        _ => None,
    }
}
