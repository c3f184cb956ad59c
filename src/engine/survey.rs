//! Looking before leaping: who could play here, and what a debate may come to.
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::ports::Listing;
use super::preflight::Probe;
use crate::debate::estimate::estimate;
use futures_util::future::join_all;
use std::time::Duration;

impl Desk {
    /// Everyone who can be called by name, and whether they could play a seat here. Probing asks
    /// each model a tiny question, all at once.
    pub async fn listing(&self, probe: bool) -> Vec<Listing> {
        let mut listed = self.voices.listing();
        let versions = listed.iter().map(|it| async {
            if it.playable && it.model { self.voices.version(&it.seat).await } else { None }
        });
        for (it, version) in join_all(versions).await.into_iter().enumerate() {
            listed[it].version = version;
        }
        if probe {
            let able = listed.iter().filter(|it| it.playable && it.model);
            let asked = able.filter_map(|it| it.seat.parse().ok()).collect();
            for Probe { voice, came } in self.probe(asked, Duration::MAX).await {
                let said = match came {
                    Ok(_) => "answers".to_owned(),
                    Err(failure) => format!("{}: {}", failure.trouble.word(), failure.note),
                };
                let asked = listed.iter_mut().find(|it| it.seat == voice.to_string());
                if let Some(it) = asked {
                    it.probe = Some(said);
                }
            }
        }
        listed
    }

    /// What a debate may come to, in a line for people; nothing, if no model is asked.
    pub fn estimate(&self, opening: &Opening) -> Result<Option<String>, DeskError> {
        let setup = opening.setup(&self.prompts, String::new(), String::new(), 0)?;
        let (mut calls, mut tokens_in, mut tokens_out) = (0, 0, 0);
        let (mut cost, mut unknown) = (0, vec![]);
        for one in estimate(&setup) {
            let voice = &setup.seats[usize::from(one.seat)].voice;
            if !self.voices.model(voice) {
                continue;
            }
            calls += one.calls;
            tokens_in += one.tokens_in;
            tokens_out += one.tokens_out;
            match self.voices.price(voice, None) {
                Some(price) => cost += price.of(one.tokens_in, one.tokens_out),
                None if unknown.contains(&voice.to_string()) => {}
                None => unknown.push(voice.to_string()),
            }
        }
        if calls == 0 {
            return Ok(None);
        }
        let money = if unknown.is_empty() {
            format!("cost about {:.2}", cost as f64 / 1e6)
        } else {
            format!("cost unknown (no price for {})", unknown.join(", "))
        };
        Ok(Some(format!(
            "about {calls} calls, {}k tokens read and {}k written; {money}",
            tokens_in.div_ceil(1000),
            tokens_out.div_ceil(1000)
        )))
    }
}
