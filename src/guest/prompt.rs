//! Builds the model's prompt from a poll response. Untrusted text from the server and other bots
//! stands between fences derived from a random salt, which prompt injection cannot close.
use super::wire::{Poll, Side, Spoken};
use crate::debate::prompt::fingerprint;
use crate::debate::{language, template};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Prompt templates by name: `guest`, `opening`, `rebuttal`, `closing`, `again`.
pub type Words = BTreeMap<String, String>;

/// Maximum length of the history in the prompt, in characters. The oldest speeches are omitted.
const HISTORY: usize = 200_000;

/// Kind of the speech that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// First round.
    Opening,
    /// Neither the first nor the last round.
    Rebuttal,
    /// Last round.
    Closing,
    /// The only round, both first and last.
    Only,
}

impl Moment {
    /// Kind of speech for the turn that is due.
    pub fn of(poll: &Poll, identifier: &str) -> Moment {
        let round = round(poll, identifier);
        let last = poll.rounds > 0 && round >= poll.rounds;
        match (round <= 1, last) {
            (true, true) => Moment::Only,
            (true, false) => Moment::Opening,
            (false, true) => Moment::Closing,
            (false, false) => Moment::Rebuttal,
        }
    }

    /// Names of the templates with the strategy.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Moment::Opening => &["opening"],
            Moment::Rebuttal => &["rebuttal"],
            Moment::Closing => &["closing"],
            Moment::Only => &["opening", "closing"],
        }
    }
}

/// Current round. If the server does not send it, counts the bot's own speeches.
pub fn round(poll: &Poll, identifier: &str) -> u32 {
    let own = poll.log.iter().filter(|spoken| spoken.speaker == identifier).count();
    if poll.round > 0 { poll.round } else { u32::try_from(own).unwrap_or(u32::MAX - 1) + 1 }
}

/// Side of this bot. If the server does not send it, the first speaker is supporting.
pub fn side(poll: &Poll) -> Side {
    let first = if poll.spoken == 0 { Side::Supporting } else { Side::Opposing };
    poll.side.unwrap_or(first)
}

/// Builds the prompt for the turn that is due. `salt` must be random and secret.
pub fn prompt(words: &Words, poll: &Poll, identifier: &str, salt: &str) -> String {
    let word = |name: &str| words.get(name).map_or("", String::as_str).trim();
    let (least, most) = (poll.lengths.least, poll.lengths.most);
    let round = round(poll, identifier);
    let value = |name: &str| match name {
        "topic" => fenced(&poll.topic, salt, "topic"),
        "stance" => match side(poll) {
            Side::Supporting => "supporting: you argue FOR the topic".into(),
            Side::Opposing => "opposing: you argue AGAINST the topic".into(),
        },
        "side" => side(poll).word().into(),
        "round" if poll.rounds > 0 => format!("{round} of {}", poll.rounds),
        "round" => round.to_string(),
        "history" => history(&poll.log, identifier, salt),
        "strategy" => {
            let names = Moment::of(poll, identifier).names();
            names.iter().map(|name| word(name)).collect::<Vec<_>>().join("\n\n")
        }
        "least" => least.to_string(),
        "most" => most.to_string(),
        "aim" => (most * 4 / 5).max(least).to_string(),
        "language" => language::detect(&poll.topic).name().into(),
        _ => String::new(),
    };
    template::render(word("guest"), value).trim().to_owned()
}

/// Builds the prompt of the second attempt: the first prompt, the rejected draft and the reason.
pub fn again(words: &Words, first: &str, draft: &str, why: &str, salt: &str) -> String {
    let value = |name: &str| match name {
        "why" => why.to_owned(),
        "draft" => fenced(draft, salt, "draft"),
        _ => String::new(),
    };
    let words = words.get("again").map_or("", String::as_str);
    format!("{first}\n\n{}", template::render(words, value).trim())
}

/// Renders the speeches, each as `side (speaker):` and the fenced text.
fn history(log: &[Spoken], identifier: &str, salt: &str) -> String {
    if log.is_empty() {
        return "The debate has just begun: please make an opening statement.".into();
    }
    let mut room = HISTORY;
    let kept = log.iter().rev().take_while(|spoken| {
        let length = spoken.content.chars().count();
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    let first = log.len() - kept.count();
    let mut text = String::new();
    if first > 0 {
        let _ = writeln!(text, "[The first {first} speeches are left out here.]\n");
    }
    for (nth, spoken) in log.iter().enumerate().skip(first) {
        let you = if spoken.speaker == identifier { ", you" } else { "" };
        let (side, speaker) = (name(&spoken.side), name(&spoken.speaker));
        let words = fenced(&spoken.content, salt, &nth.to_string());
        let _ = writeln!(text, "{side} ({speaker}{you}):\n{words}\n");
    }
    text.trim_end().to_owned()
}

/// Encloses untrusted text in a fence that its author cannot guess.
fn fenced(text: &str, salt: &str, what: &str) -> String {
    let mark = format!("--- {}", &fingerprint(&format!("{salt}\n{what}"))[..8]);
    format!("{mark}\n{}\n{mark}", text.trim_end())
}

/// Sanitizes a name, which stands outside the fences.
fn name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.@".contains(c) { c } else { '_' };
    let name: String = text.chars().take(60).map(plain).collect();
    if name.is_empty() { "?".into() } else { name }
}
