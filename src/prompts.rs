//! The words seats are asked with: embedded, and replaceable from the user's home, never from a
//! repository. A file there of the same name takes the place of ours.
use crate::engine::Prompts;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// By format, by name in the setup, by file below `prompts/`.
const DUEL: &[(&str, &str, &str)] = &[
    ("answer", "duel/answer.md", include_str!("../prompts/duel/answer.md")),
    ("propose", "duel/propose.md", include_str!("../prompts/duel/propose.md")),
    ("challenge", "duel/challenge.md", include_str!("../prompts/duel/challenge.md")),
    ("defend", "duel/defend.md", include_str!("../prompts/duel/defend.md")),
    ("follow_up", "duel/follow_up.md", include_str!("../prompts/duel/follow_up.md")),
    ("summarize", "duel/summarize.md", include_str!("../prompts/duel/summarize.md")),
    ("judge", "duel/judge.md", include_str!("../prompts/duel/judge.md")),
];

/// What every format may say about replies.
const COMMON: &[(&str, &str, &str)] = &[
    ("reply.speech", "reply/speech.md", include_str!("../prompts/reply/speech.md")),
    ("reply.sections", "reply/sections.md", include_str!("../prompts/reply/sections.md")),
    ("reply.verdict", "reply/verdict.md", include_str!("../prompts/reply/verdict.md")),
    ("reply.changed", "reply/changed.md", include_str!("../prompts/reply/changed.md")),
    ("again", "again.md", include_str!("../prompts/again.md")),
];

/// The words of every format that can be opened. `folder` is the user's own.
pub fn load(folder: &Path) -> Prompts {
    let words = |(name, file, ours): &(&str, &str, &str)| {
        let own = fs::read_to_string(folder.join(file));
        ((*name).to_owned(), own.unwrap_or_else(|_| (*ours).to_owned()))
    };
    let duel = DUEL.iter().chain(COMMON).map(words).collect::<BTreeMap<_, _>>();
    BTreeMap::from([("duel".to_owned(), duel)])
}
