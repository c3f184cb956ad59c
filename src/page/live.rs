//! What is being said right now, as far as it may be heard: no claims block, no braces, nothing
//! sealed. What was shown is only ever added to, unless a seat begins anew.
use super::turn::id_of;
use crate::debate::{Cue, Debate, Kind, unseen};
use crate::engine::LiveText;
use crate::report::aloud::Aloud;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everyone who is speaking.
#[derive(Debug, Default)]
pub struct Voices(BTreeMap<Cue, Voice>);

#[derive(Debug)]
struct Voice {
    raw: String,
    aloud: Aloud,
    shown: String,
}

/// A few more words of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    /// The id of the element.
    pub turn: String,
    /// Where they begin, in UTF-16 units of what was shown; 0 replaces all of it.
    pub offset: usize,
    /// The words.
    pub text: String,
}

impl Voices {
    /// Takes in what is being said, and says what is new of it.
    pub fn hear(&mut self, debate: &Debate, live: &[LiveText]) -> Vec<Words> {
        let heard: Vec<(Cue, &str)> = live
            .iter()
            .filter_map(|it| Some((it.turn.parse().ok()?, it.text.as_str())))
            .filter(|(cue, _)| may_be_heard(debate, *cue))
            .collect();
        self.0.retain(|cue, _| heard.iter().any(|(known, _)| known == cue));
        heard.into_iter().filter_map(|(cue, text)| self.one(debate, cue, text)).collect()
    }

    fn one(&mut self, debate: &Debate, cue: Cue, text: &str) -> Option<Words> {
        let anew = self.0.get(&cue).is_none_or(|voice| !text.starts_with(&voice.raw));
        if anew {
            self.0.insert(cue, Voice::of(debate, cue));
        }
        let voice = self.0.get_mut(&cue)?;
        let more = voice.aloud.push(&text[voice.raw.len()..]);
        let more = unseen::shown(&more).into_owned();
        text.clone_into(&mut voice.raw);
        let offset = if anew { 0 } else { voice.shown.encode_utf16().count() };
        voice.shown.push_str(&more);
        let turn = id_of(cue);
        (!more.is_empty()).then_some(Words { turn, offset, text: more })
    }

    /// All that was said so far, for somebody who has just come.
    pub fn all(&self) -> Vec<Words> {
        let words = |(cue, voice): (&Cue, &Voice)| Words {
            turn: id_of(*cue),
            offset: 0,
            text: voice.shown.clone(),
        };
        self.0.iter().map(words).filter(|words| !words.text.is_empty()).collect()
    }
}

impl Voice {
    fn of(debate: &Debate, cue: Cue) -> Voice {
        let aloud = match debate.setup().phase(cue).reply {
            Kind::Speech | Kind::Sections => Aloud::prose(),
            _ => Aloud::object(),
        };
        Voice { raw: String::new(), aloud, shown: String::new() }
    }
}

/// A turn that is under way, and is not to be kept from those who read.
fn may_be_heard(debate: &Debate, cue: Cue) -> bool {
    debate.has(cue)
        && debate.was_asked(cue)
        && debate.turn(cue).is_none()
        && debate.outcome().is_none()
        && !debate.sealed(cue)
}
