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
        let mut parts = vec![];
        let mut add = |name: &str, value: Option<String>| {
            parts.extend(value.map(|value| format!("{name} {value}")));
        };
        add("format", self.format.clone());
        add("proposer", self.proposer.clone());
        add("challenger", self.challenger.clone());
        add("judge", self.judge.clone());
        add("rounds", self.rounds.map(|rounds| rounds.to_string()));
        add("effort", self.effort.map(|effort| effort.as_str().to_owned()));
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The options and the topic as one line, `None` if there are no options.
    pub fn describe(&self) -> Option<String> {
        self.describe_options().map(|options| format!("{options}; the question is: {}", self.topic))
    }
}

/// Rounds of a debate asked for as `deep`.
const DEEP_ROUNDS: u8 = 3;
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

/// Parses what the user typed. `is_seat` and `is_format` say whether a word is the name of a
/// known seat or format.
pub fn parse(
    text: &str,
    is_seat: impl Fn(&str) -> bool,
    is_format: impl Fn(&str) -> bool,
) -> TopicOptions {
    let text = text.trim();
    let mut options = TopicOptions::default();
    let mut rest = parse_leading_format(text, is_format, &mut options);
    if let Some((parsed, topic)) = parse_leading_options(rest, &is_seat) {
        rest = topic;
        options.merge(parsed);
    } else if let Some((parsed, topic)) = parse_trailing_options(rest, &is_seat) {
        rest = topic;
        options.merge(parsed);
    }
    options.topic = rest.to_owned();
    options
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
    text: &'a str,
    is_format: impl Fn(&str) -> bool,
    options: &mut TopicOptions,
) -> &'a str {
    let Some((first, rest)) = text.split_once(char::is_whitespace) else { return text };
    let (name, has_colon) = match first.strip_suffix(':') {
        Some(name) => (name, true),
        None => (first, false),
    };
    let rest = rest.trim_start();
    let next = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    let second = rest.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
    // `research should be free` is a sentence, `research should we ...` is a format and a question.
    let is_statement =
        next == "should" && ["be", "have", "not", "never"].contains(&second.as_str());
    let is_question = ["whether", "should", "about"].contains(&next.as_str())
        || rest.contains(['?', '？'])
        || rest.contains(" vs ");
    let is_question = is_question && !is_statement && !SENTENCE_WORDS.contains(&next.as_str());
    let is_lowercase = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if is_lowercase && is_format(name) && (has_colon || is_question) {
        options.format = Some(name.to_owned());
        return rest;
    }
    text
}

/// Parses options before the topic, up to a separator such as `about` or a colon.
fn parse_leading_options<'a>(
    text: &'a str,
    is_seat: &impl Fn(&str) -> bool,
) -> Option<(TopicOptions, &'a str)> {
    let mut offset = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim();
        let end = offset + piece.len();
        let lower = word.to_lowercase();
        let separator = if word.ends_with(':') { ":" } else { lower.as_str() };
        let (options_end, topic_start) = match word.strip_suffix(':') {
            // `codex:` may be an incomplete seat. The colon still ends the options.
            Some(bare) => (Some(offset + bare.len()), end),
            None if TOPIC_SEPARATORS.contains(&word.to_lowercase().as_str()) => {
                // `whether` is part of the topic.
                let keep = word.eq_ignore_ascii_case("whether");
                (Some(offset), if keep { offset } else { end })
            }
            None => (None, end),
        };
        let topic = text[topic_start..].trim();
        // In `debate on X` or `debate about X` the topic begins after the last separator.
        let next = topic.split_whitespace().next().unwrap_or_default().to_lowercase();
        if TOPIC_SEPARATORS.contains(&next.as_str()) && next != "whether" {
            offset = end;
            continue;
        }
        let is_clear = CLEAR_SEPARATORS.contains(&separator);
        let parsed = options_end
            .and_then(|options_end| parse_options(&text[..options_end], is_clear, is_seat));
        // `claude vs codex: which one?` is a topic about the two.
        let about_them = separator == ":" && ["which", "who"].contains(&next.as_str());
        if let Some(found) = parsed.filter(|_| !topic.is_empty() && !about_them) {
            return Some((found, topic));
        }
        offset = end;
    }
    None
}

/// Parses options after the topic, separated by commas.
fn parse_trailing_options<'a>(
    text: &'a str,
    is_seat: &impl Fn(&str) -> bool,
) -> Option<(TopicOptions, &'a str)> {
    let commas = text.char_indices().filter(|(_, c)| matches!(c, ',' | ';' | '，' | '；'));
    for (offset, comma) in commas {
        let (topic, tail) = (text[..offset].trim(), &text[offset + comma.len_utf8()..]);
        if let Some(found) = parse_options(tail, false, is_seat).filter(|_| !topic.is_empty()) {
            return Some((found, topic));
        }
    }
    None
}

/// Parses a list of words as options, if all of them are understood. A single word such as `fast`
/// is ambiguous and counts only before a clear separator.
fn parse_options(
    input: &str,
    is_clear: bool,
    is_seat: &impl Fn(&str) -> bool,
) -> Option<TopicOptions> {
    let text = input.replace([',', ';', '，', '；', '(', ')'], " ");
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut options = TopicOptions::default();
    let mut deep = false;
    let mut index = 0;
    let is_seat_at = |nth: usize| words.get(nth).is_some_and(|word| is_seat(word));
    let is_any =
        |nth: usize, all: &[&str]| lower.get(nth).is_some_and(|it| all.contains(&it.as_str()));
    while index < words.len() {
        let next = lower.get(index + 1).map_or("", String::as_str);
        let against = is_any(index + 1, &["vs", "vs.", "versus", "against"]);
        let paired = index > 0 && is_any(index - 1, &["with", "between"])
            || is_any(index, &["with", "between"]);
        if is_seat_at(index)
            && is_seat_at(index + 2)
            && (against
                || (next == "and" && (paired || index == 0 || is_any(index - 1, FILLER_WORDS))))
        {
            if options.proposer.is_some() {
                return None;
            }
            options.proposer = Some(words[index].clone());
            options.challenger = Some(words[index + 2].clone());
            index += 3;
        } else if is_any(index, &["with", "between"])
            && is_seat_at(index + 1)
            && is_seat_at(index + 3)
        {
            index += 1;
        } else if is_any(index, &["judged"]) && next == "by" && is_seat_at(index + 2) {
            options.judge = Some(words[index + 2].clone());
            index += 3;
        } else if is_any(index, &["judge"]) && is_seat_at(index + 1) {
            options.judge = Some(words[index + 1].clone());
            index += 2;
        } else if let (Some(count), true) =
            (parse_count(&lower[index]), ["round", "rounds"].contains(&next))
        {
            options.rounds = Some(count);
            index += 2;
        } else if let Some(effort) = parse_effort(&lower[index]) {
            if options.effort.is_some_and(|other| other != effort) {
                return None;
            }
            options.effort = Some(effort);
            deep |= ["deep", "deeply"].contains(&lower[index].as_str());
            index += 1;
        } else if lower[index] == "extended" {
            deep = true;
            index += 1;
        } else if FILLER_WORDS.contains(&lower[index].as_str()) {
            index += 1;
        } else {
            return None;
        }
    }
    let has_clear_option =
        options.proposer.is_some() || options.judge.is_some() || options.rounds.is_some();
    let has_any = |all: &[&str]| lower.iter().any(|word| all.contains(&word.as_str()));
    let adverb = lower.iter().any(|word| parse_effort(word).is_some() && word.ends_with("ly"));
    let named = has_any(&["effort", "debate"]) && (options.effort.is_some() || deep);
    let alone = is_clear && !has_any(&["high", "medium", "low", "max", "maximum"]);
    if deep {
        options.rounds.get_or_insert(DEEP_ROUNDS);
    }
    (options.has_options() && (has_clear_option || adverb || named || alone)).then_some(options)
}

fn parse_count(word: &str) -> Option<u8> {
    const WORDS: [&str; 10] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word_number =
        WORDS.iter().position(|it| *it == word).and_then(|nth| u8::try_from(nth + 1).ok());
    word.parse().ok().or(word_number)
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

#[cfg(test)]
mod tests;
