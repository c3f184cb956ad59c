//! A voice lent out: asked for one text outside of any debate of ours. It sees what it is told and an
//! empty folder, has no web and no repository, and what it says passes the gate like everything else.
use super::desk::{Desk, DeskError};
use super::gate::Gate;
use super::live::Live;
use super::ports::{Ask, Boxed, Said, Stream};
use super::turn::fetch;
use crate::debate::{Cue, Effort, Failure, Kind, Role, Trouble, Voice};
use std::path::PathBuf;

/// What a voice is asked for.
#[derive(Clone, Debug)]
pub struct Errand {
    /// Who is asked.
    pub voice: Voice,
    /// How hard it is to think.
    pub effort: Option<Effort>,
    /// What it is told.
    pub prompt: String,
    /// What it sits there as: scripts know their lines by it.
    pub seat: String,
    /// What part of the whole this is, for the same reason.
    pub phase: String,
    /// Counted by whoever asks.
    pub round: u8,
    /// 1, or 2 if its first answer was not taken.
    pub attempt: u8,
    /// Seconds after which nobody waits for it any more.
    pub seconds: u32,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Lent {
    /// All it said, without what is secret in it; or why it did not come to an end.
    pub said: Result<String, Failure>,
    /// What it had said by then: half a speech is better than none.
    pub so_far: String,
}

/// Whoever lends voices.
pub trait Lender: Send + Sync {
    /// Has one text spoken. Dropping the future stops the work.
    fn lend<'a>(&'a self, errand: &'a Errand) -> Boxed<'a, Lent>;
}

impl Lender for Desk {
    fn lend<'a>(&'a self, errand: &'a Errand) -> Boxed<'a, Lent> {
        Box::pin(async move {
            let gate = Gate::outside(&self.secrets);
            let ask = asked(errand, gate.text(&errand.prompt));
            let (cue, live) = (ask.cue, Live::default());
            let stream = Stream::new(cue, live.clone(), &gate);
            let said = fetch(&*self.voices, ask, stream).await;
            let said = said.map(|Said { text, .. }| gate.text(&text));
            Lent { said, so_far: live.said(cue) }
        })
    }
}

impl Desk {
    /// Whether a voice can be lent at all: people, hosts and the demo speak only in debates of ours.
    pub fn lends(&self, voice: &Voice) -> bool {
        let model = matches!(voice, Voice::Model { .. });
        model && (self.voices.model(voice) || voice.tool() == "script")
    }

    /// Who would speak if this voice were lent: with the model the user usually has for it, if it
    /// can play at all.
    pub fn lendable(&self, voice: &Voice, effort: Option<Effort>) -> Result<Voice, DeskError> {
        self.voices.sound().map_err(DeskError::Settings)?;
        let voice = self.usually(voice, effort).unwrap_or_else(|| voice.clone());
        self.voices.playable(&voice)?;
        Ok(voice)
    }

    /// Asks a voice whether it answers, before anything depends on it. What came too late is told
    /// and held against nobody.
    pub async fn answers(&self, voice: &Voice) -> Result<Option<String>, DeskError> {
        let probes = self.probe(vec![voice.clone()], std::time::Duration::MAX).await;
        let failed = probes.into_iter().find_map(|probe| probe.came.err());
        match failed {
            None => Ok(None),
            Some(Failure { trouble: Trouble::TimedOut, note, .. }) => {
                Ok(Some(format!("`{voice}` has not answered yet: {note}")))
            }
            Some(failure) => {
                let (voice, failure) = (voice.to_string(), Box::new(failure));
                Err(DeskError::Silent { voice, failure, others: vec![] })
            }
        }
    }
}

fn asked(errand: &Errand, prompt: String) -> Ask {
    Ask {
        debate: String::new(),
        cue: Cue { act: 0, round: errand.round, phase: 0, seat: 0 },
        seat: errand.seat.clone(),
        role: Role::Pro,
        phase: errand.phase.clone(),
        round: errand.round,
        reply: Kind::Speech,
        voice: errand.voice.clone(),
        effort: errand.effort,
        prompt,
        seconds: errand.seconds.max(1),
        schema: None,
        web: false,
        root: PathBuf::new(),
        pin: None,
        attempt: errand.attempt,
    }
}
