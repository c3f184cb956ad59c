//! What the seat is told: a function of what was polled. Whatever comes from the platform or another
//! bot stands between marks nobody there could have guessed.
use super::wire::{Poll, Side, Spoken};
use crate::debate::prompt::fingerprint;
use crate::debate::{language, template};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The words the seat is asked with, by name: `guest`, `opening`, `rebuttal`, `closing`, `again`.
pub type Words = BTreeMap<String, String>;

/// Characters of what was said so far that a seat is shown: the end of it.
const HISTORY: usize = 200_000;

/// Where in the debate a speech stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The first round.
    Opening,
    /// Any other.
    Rebuttal,
    /// The last.
    Closing,
    /// The first, and the last.
    Only,
}

impl Moment {
    /// Of the turn that is due.
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

    /// The words for it, by their names.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Moment::Opening => &["opening"],
            Moment::Rebuttal => &["rebuttal"],
            Moment::Closing => &["closing"],
            Moment::Only => &["opening", "closing"],
        }
    }
}

/// Which round it is; counted by our own speeches where the platform does not say.
pub fn round(poll: &Poll, identifier: &str) -> u32 {
    let own = poll.log.iter().filter(|spoken| spoken.speaker == identifier).count();
    if poll.round > 0 { poll.round } else { u32::try_from(own).unwrap_or(u32::MAX - 1) + 1 }
}

/// Our side; where nobody says, whoever speaks first is for it.
pub fn side(poll: &Poll) -> Side {
    let first = if poll.spoken == 0 { Side::Supporting } else { Side::Opposing };
    poll.side.unwrap_or(first)
}

/// What the seat is told for the turn that is due. The salt is known to nobody else.
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
        "language" => language::of(&poll.topic).name().into(),
        _ => String::new(),
    };
    template::fill(word("guest"), value).trim().to_owned()
}

/// The same once more, because the first speech could not be sent.
pub fn again(words: &Words, first: &str, draft: &str, why: &str, salt: &str) -> String {
    let value = |name: &str| match name {
        "why" => why.to_owned(),
        "draft" => fenced(draft, salt, "draft"),
        _ => String::new(),
    };
    let words = words.get("again").map_or("", String::as_str);
    format!("{first}\n\n{}", template::fill(words, value).trim())
}

/// `side (speaker):` and the words, one speech after the other.
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

/// Somebody's words, between marks they could not have guessed.
fn fenced(text: &str, salt: &str, what: &str) -> String {
    let mark = format!("--- {}", &fingerprint(&format!("{salt}\n{what}"))[..8]);
    format!("{mark}\n{}\n{mark}", text.trim_end())
}

/// A name as one word that can be nothing else: it stands outside the marks.
fn name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.@".contains(c) { c } else { '_' };
    let name: String = text.chars().take(60).map(plain).collect();
    if name.is_empty() { "?".into() } else { name }
}
