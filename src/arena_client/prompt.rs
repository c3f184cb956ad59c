//! Builds the model's prompt from a poll response. Untrusted text from the server and other bots
//! stands between fences derived from a random salt, which prompt injection cannot close.
use super::protocol::{ArenaSide, PollResponse, RemoteSpeech};
use crate::debate::prompt::fingerprint;
use crate::debate::{language, template};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Prompt templates by name: `guest`, `opening`, `rebuttal`, `closing`, `again`.
pub type SpeechTemplates = BTreeMap<String, String>;

/// Maximum length of the history in the prompt, in characters. The oldest speeches are omitted.
const MAX_HISTORY_CHARS: usize = 200_000;

/// Kind of the speech that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeechKind {
    /// First round.
    Opening,
    /// Neither the first nor the last round.
    Rebuttal,
    /// Last round.
    Closing,
    /// The only round, both first and last.
    OpeningAndClosing,
}

impl SpeechKind {
    /// Kind of speech for the turn that is due.
    pub fn from_poll(poll: &PollResponse, identifier: &str) -> SpeechKind {
        let round = current_round(poll, identifier);
        let last = poll.total_rounds > 0 && round >= poll.total_rounds;
        match (round <= 1, last) {
            (true, true) => SpeechKind::OpeningAndClosing,
            (true, false) => SpeechKind::Opening,
            (false, true) => SpeechKind::Closing,
            (false, false) => SpeechKind::Rebuttal,
        }
    }

    /// Names of the templates with the strategy.
    pub fn template_names(self) -> &'static [&'static str] {
        match self {
            SpeechKind::Opening => &["opening"],
            SpeechKind::Rebuttal => &["rebuttal"],
            SpeechKind::Closing => &["closing"],
            SpeechKind::OpeningAndClosing => &["opening", "closing"],
        }
    }
}

/// Current round. If the server does not send it, counts the bot's own speeches.
pub fn current_round(poll: &PollResponse, identifier: &str) -> u32 {
    let own = poll.speeches.iter().filter(|spoken| spoken.speaker == identifier).count();
    if poll.round > 0 { poll.round } else { u32::try_from(own).unwrap_or(u32::MAX - 1) + 1 }
}

/// Side of this bot. If the server does not send it, the first speaker is supporting.
pub fn own_side(poll: &PollResponse) -> ArenaSide {
    let first = if poll.speech_count == 0 { ArenaSide::Supporting } else { ArenaSide::Opposing };
    poll.side.unwrap_or(first)
}

/// Builds the prompt for the turn that is due. `salt` must be random and secret.
pub fn build_prompt(
    words: &SpeechTemplates,
    poll: &PollResponse,
    identifier: &str,
    salt: &str,
) -> String {
    let word = |name: &str| words.get(name).map_or("", String::as_str).trim();
    let (least, most) = (poll.limits.min, poll.limits.max);
    let round = current_round(poll, identifier);
    let value = |name: &str| match name {
        "topic" => fence_untrusted(&poll.topic, salt, "topic"),
        "stance" => match own_side(poll) {
            ArenaSide::Supporting => "supporting: you argue FOR the topic".into(),
            ArenaSide::Opposing => "opposing: you argue AGAINST the topic".into(),
        },
        "side" => own_side(poll).as_str().into(),
        "round" if poll.total_rounds > 0 => format!("{round} of {}", poll.total_rounds),
        "round" => round.to_string(),
        "history" => render_history(&poll.speeches, identifier, salt),
        "strategy" => {
            let names = SpeechKind::from_poll(poll, identifier).template_names();
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
pub fn build_retry_prompt(
    words: &SpeechTemplates,
    first: &str,
    draft: &str,
    why: &str,
    salt: &str,
) -> String {
    let value = |name: &str| match name {
        "why" => why.to_owned(),
        "draft" => fence_untrusted(draft, salt, "draft"),
        _ => String::new(),
    };
    let words = words.get("again").map_or("", String::as_str);
    format!("{first}\n\n{}", template::render(words, value).trim())
}

/// Renders the speeches, each as `side (speaker):` and the fenced text.
fn render_history(log: &[RemoteSpeech], identifier: &str, salt: &str) -> String {
    if log.is_empty() {
        return "The debate has just begun: please make an opening statement.".into();
    }
    let mut room = MAX_HISTORY_CHARS;
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
        let (side, speaker) = (sanitize_name(&spoken.side), sanitize_name(&spoken.speaker));
        let words = fence_untrusted(&spoken.content, salt, &nth.to_string());
        let _ = writeln!(text, "{side} ({speaker}{you}):\n{words}\n");
    }
    text.trim_end().to_owned()
}

/// Encloses untrusted text in a fence that its author cannot guess.
fn fence_untrusted(text: &str, salt: &str, what: &str) -> String {
    let mark = format!("--- {}", &fingerprint(&format!("{salt}\n{what}"))[..8]);
    format!("{mark}\n{}\n{mark}", text.trim_end())
}

/// Sanitizes a name, which stands outside the fences.
fn sanitize_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.@".contains(c) { c } else { '_' };
    let name: String = text.chars().take(60).map(plain).collect();
    if name.is_empty() { "?".into() } else { name }
}
