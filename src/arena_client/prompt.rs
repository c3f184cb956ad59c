//! Builds the model's prompt from a poll response. Untrusted text from the server and other bots
//! stands between fences derived from a random salt, which prompt injection cannot close.
use super::protocol::{ArenaSide, PollResponse, RemoteSpeech};
use crate::debate::prompt::fingerprint;
use crate::debate::{language, template};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Prompt templates by name: `guest`, `opening`, `rebuttal`, `closing`, `again`.
pub(super) type SpeechTemplates = BTreeMap<String, String>;

/// Maximum length of the history in the prompt, in characters. The oldest speeches are omitted.
const MAX_HISTORY_CHARS: usize = 200_000;
/// Maximum length of a name in the prompt, in characters.
const MAX_NAME_CHARS: usize = 60;

/// Kind of the speech that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpeechKind {
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
    pub(super) fn from_poll(poll: &PollResponse, identifier: &str) -> SpeechKind {
        let round = current_round(poll, identifier);
        let is_last = poll.total_rounds > 0 && round >= poll.total_rounds;
        match (round <= 1, is_last) {
            (true, true) => SpeechKind::OpeningAndClosing,
            (true, false) => SpeechKind::Opening,
            (false, true) => SpeechKind::Closing,
            (false, false) => SpeechKind::Rebuttal,
        }
    }

    /// Names of the templates with the strategy.
    pub(super) fn template_names(self) -> &'static [&'static str] {
        match self {
            SpeechKind::Opening => &["opening"],
            SpeechKind::Rebuttal => &["rebuttal"],
            SpeechKind::Closing => &["closing"],
            SpeechKind::OpeningAndClosing => &["opening", "closing"],
        }
    }
}

/// Current round. If the server does not send it, counts the bot's own speeches.
pub(super) fn current_round(poll: &PollResponse, identifier: &str) -> u32 {
    let own_count = poll.speeches.iter().filter(|speech| speech.speaker == identifier).count();
    if poll.round > 0 { poll.round } else { u32::try_from(own_count).unwrap_or(u32::MAX - 1) + 1 }
}

/// Side of this bot. If the server does not send it, the first speaker is supporting.
pub(super) fn own_side(poll: &PollResponse) -> ArenaSide {
    let default_side =
        if poll.speech_count == 0 { ArenaSide::Supporting } else { ArenaSide::Opposing };
    poll.side.unwrap_or(default_side)
}

/// Builds the prompt for the turn that is due. `salt` must be random and secret.
pub(super) fn build_prompt(
    templates: &SpeechTemplates,
    poll: &PollResponse,
    identifier: &str,
    salt: &str,
) -> String {
    let template_text = |name: &str| templates.get(name).map_or("", String::as_str).trim();
    let (min, max) = (poll.limits.min, poll.limits.max);
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
            names.iter().map(|name| template_text(name)).collect::<Vec<_>>().join("\n\n")
        }
        "least" => min.to_string(),
        "most" => max.to_string(),
        "aim" => (max * 4 / 5).max(min).to_string(),
        "language" => language::detect(&poll.topic).name().into(),
        _ => String::new(),
    };
    template::render(template_text("guest"), value).trim().to_owned()
}

/// Builds the prompt of the second attempt: the first prompt, the rejected draft and the reason.
pub(super) fn build_retry_prompt(
    templates: &SpeechTemplates,
    first_prompt: &str,
    draft: &str,
    reason: &str,
    salt: &str,
) -> String {
    let value = |name: &str| match name {
        "why" => reason.to_owned(),
        "draft" => fence_untrusted(draft, salt, "draft"),
        _ => String::new(),
    };
    let retry_template = templates.get("again").map_or("", String::as_str);
    format!("{first_prompt}\n\n{}", template::render(retry_template, value).trim())
}

/// Renders the speeches, each as `side (speaker):` and the fenced text.
fn render_history(speeches: &[RemoteSpeech], identifier: &str, salt: &str) -> String {
    if speeches.is_empty() {
        return "The debate has just begun: please make an opening statement.".into();
    }
    let mut budget = MAX_HISTORY_CHARS;
    let recent = speeches.iter().rev().take_while(|speech| {
        let length = speech.content.chars().count();
        let fits = length <= budget;
        budget = budget.saturating_sub(length);
        fits
    });
    let omitted = speeches.len() - recent.count();
    let mut text = String::new();
    if omitted > 0 {
        let _ = writeln!(text, "[The first {omitted} speeches are left out here.]\n");
    }
    for (index, speech) in speeches.iter().enumerate().skip(omitted) {
        let suffix = if speech.speaker == identifier { ", you" } else { "" };
        let (side, speaker) = (sanitize_name(&speech.side), sanitize_name(&speech.speaker));
        let fenced = fence_untrusted(&speech.content, salt, &index.to_string());
        let _ = writeln!(text, "{side} ({speaker}{suffix}):\n{fenced}\n");
    }
    text.trim_end().to_owned()
}

/// Encloses untrusted text in a fence that its author cannot guess.
fn fence_untrusted(text: &str, salt: &str, label: &str) -> String {
    let fence = format!("--- {}", &fingerprint(&format!("{salt}\n{label}"))[..8]);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

/// Sanitizes a name, which stands outside the fences.
fn sanitize_name(text: &str) -> String {
    let sanitize_char = |c: char| if c.is_alphanumeric() || "_-.@".contains(c) { c } else { '_' };
    let name: String = text.chars().take(MAX_NAME_CHARS).map(sanitize_char).collect();
    if name.is_empty() { "?".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_has_at_most_200_000_characters() {
        assert_eq!(MAX_HISTORY_CHARS, 200_000);
        let speech = |chars: usize| RemoteSpeech {
            round: 1,
            speaker: "other".into(),
            side: "opposing".into(),
            content: "词".repeat(chars),
        };
        let history = |oldest_chars: usize| {
            render_history(&[speech(oldest_chars), speech(150_000)], "me", "salt")
        };
        assert_eq!(history(50_000).matches('词').count(), MAX_HISTORY_CHARS);
        let cut = history(50_001);
        assert!(cut.starts_with("[The first 1 speeches are left out here.]"));
        assert_eq!(cut.matches('词').count(), 150_000);
    }

    #[test]
    fn name_in_the_prompt_has_at_most_60_characters() {
        assert_eq!(MAX_NAME_CHARS, 60);
        let name = "x".repeat(MAX_NAME_CHARS);
        assert_eq!(sanitize_name(&name), name);
        assert_eq!(sanitize_name(&format!("{name}x")), name);
    }
}
