//! Looking before leaping: who could play here, and what a debate may come to.
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::ports::Listing;
use super::preflight::Probe;
use crate::debate::estimate::estimate;
use futures_util::future::join_all;
use std::time::Duration;

/// What a debate may come to.
#[derive(Clone, Debug)]
pub struct Estimated {
    /// In a line for people.
    pub says: String,
    /// Why a limit that was set cannot be kept, if it cannot.
    pub unkept: Option<String>,
}

impl Desk {
    /// Everyone who can be called by name, and whether they could play a seat here. Probing asks
    /// each model a tiny question, all at once.
    pub async fn listing(&self, probe: bool) -> Result<Vec<Listing>, DeskError> {
        self.voices.sound().map_err(DeskError::Settings)?;
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
        Ok(listed)
    }

    /// What a debate may come to, in a line for people; nothing, if no model is asked.
    pub fn estimate(&self, opening: &Opening) -> Result<Option<Estimated>, DeskError> {
        let setup = opening.setup(&self.catalogue, String::new(), String::new(), 0)?;
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
            if let Some(price) = self.voices.price(voice, None) {
                cost += price.of(one.tokens_in, one.tokens_out);
                continue;
            }
            let own = (voice.to_string(), self.voices.tells_cost(voice));
            if !unknown.contains(&own) {
                unknown.push(own);
            }
        }
        if calls == 0 {
            return Ok(None);
        }
        let untold: Vec<_> = unknown.iter().filter(|(_, tells)| !tells).map(|(it, _)| it).collect();
        let unkept = opening.budget.cost.filter(|_| !untold.is_empty()).map(|_| {
            let who = untold.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
            format!("the limit of cost cannot be kept: nobody knows what {who} costs (write its price down)")
        });
        let money = if unknown.is_empty() {
            format!("cost about {:.2}", cost as f64 / 1e6)
        } else {
            let who: Vec<&str> = unknown.iter().map(|(it, _)| it.as_str()).collect();
            format!("cost unknown (no price for {})", who.join(", "))
        };
        let says = format!(
            "about {calls} calls, {}k tokens read and {}k written; {money}",
            tokens_in.div_ceil(1000),
            tokens_out.div_ceil(1000)
        );
        Ok(Some(Estimated { says, unkept }))
    }
}
