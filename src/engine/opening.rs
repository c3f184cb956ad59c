//! From a user's wish to a setup that can be played.
use super::cast::{Listener, Stance};
use super::catalogue::{Catalogue, Offering};
use super::desk::DeskError;
use crate::debate::formats;
use crate::debate::setup::{GRAMMAR, WORDING};
use crate::debate::{
    Budget, Effort, Format, Hold, Limits, Origin, Proposed, Role, Seat, Setup, Voice,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the words about changes.
const REVIEW: &str = "review";

/// What a user asks for. What is not said has a default.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing a user can ask for")]
pub struct Opening {
    /// The question.
    pub topic: String,
    /// By name.
    pub format: String,
    /// Argues for, or leads.
    pub proposer: Voice,
    /// Argues against, or questions whoever leads.
    pub challenger: Voice,
    /// Rules, and sums up long debates.
    pub judge: Voice,
    /// Whether nobody rules, because nobody can be asked to.
    pub unjudged: bool,
    /// Who else rules.
    pub panel: Vec<Voice>,
    /// Who else questions whoever leads.
    pub partners: Vec<Voice>,
    /// Who argues what, where there are not simply two sides; two of the usual ones, if nobody says.
    pub roles: Vec<Stance>,
    /// Who listens and votes.
    pub audience: Vec<Listener>,
    /// What those who argue for and against are to hold, where the question does not say.
    pub stances: [String; 2],
    /// What those who argue for and against are called, where they have names of their own.
    pub names: [Option<String>; 2],
    /// How they are to argue.
    pub styles: [String; 2],
    /// Whether factual claims are audited.
    pub audited: bool,
    /// Whether one of those who argue may judge in spite of a format that forbids it.
    pub same_judge: bool,
    /// What the judge counts beside an audience, in hundredths.
    pub judge_share: Option<u8>,
    /// What a format wants to know besides, by name.
    pub terms: BTreeMap<String, String>,
    /// Where the finished report is written, too.
    pub output: Option<String>,
    /// As many as the format usually has, if nobody says.
    pub rounds: Option<u8>,
    /// For every seat.
    pub effort: Option<Effort>,
    /// What the debaters are given besides the topic.
    pub brief: String,
    /// Paths the brief is about.
    pub touched: Vec<String>,
    /// The change it reviews, if it reviews one.
    pub proposed: Option<Proposed>,
    /// Debates with the same review key or game key that are argued again by this one, by id. If the
    /// archive holds another when this one is opened, it refuses.
    pub supersedes: Vec<String>,
    /// What of the repository is in the brief, and why.
    pub picked: Vec<String>,
    /// The tree it is about, if there is one.
    pub pin: Option<String>,
    /// The last commit of the repository, if there is one.
    pub commit: Option<String>,
    /// Why nobody can read the repository, if there is one and it cannot be read.
    pub unread: Option<String>,
    /// Who was seated without being named, and why.
    pub chosen: Vec<String>,
    /// What may be spent.
    pub budget: Budget,
    /// Seconds a fetched turn may take; as long as its tool usually may, if nobody says.
    pub turn_seconds: Option<u32>,
    /// Seconds an awaited turn may take; for ever, if nobody says.
    pub await_seconds: Option<u32>,
    /// Where the floor is the user's.
    pub holds: Vec<Hold>,
    /// Whether both sides answer before they hear each other.
    pub sealed: bool,
    /// Whether it goes to its ending as soon as there is nothing left to say.
    pub stop_when_settled: bool,
    /// Where the first turns came from.
    pub origin: Origin,
}

impl Opening {
    /// A duel about this, between these, with everything else as usual.
    pub fn new(topic: &str, proposer: Voice, challenger: Voice, judge: Voice) -> Opening {
        Opening {
            topic: topic.into(),
            format: "duel".into(),
            proposer,
            challenger,
            judge,
            unjudged: false,
            panel: vec![],
            partners: vec![],
            roles: vec![],
            audience: vec![],
            stances: [String::new(), String::new()],
            names: [None, None],
            styles: [String::new(), String::new()],
            audited: false,
            same_judge: false,
            judge_share: None,
            terms: BTreeMap::new(),
            output: None,
            rounds: None,
            effort: None,
            brief: String::new(),
            touched: vec![],
            proposed: None,
            supersedes: vec![],
            picked: vec![],
            pin: None,
            commit: None,
            unread: None,
            chosen: vec![],
            budget: Budget::default(),
            turn_seconds: None,
            await_seconds: None,
            holds: vec![],
            sealed: false,
            stop_when_settled: false,
            origin: Origin::Here,
        }
    }

    /// The setup this comes to. Whoever calls has made the id and the salt, which are chance, and
    /// read the clock.
    pub(super) fn setup(
        &self,
        catalogue: &Catalogue,
        id: String,
        salt: String,
        now: i64,
    ) -> Result<Setup, DeskError> {
        let offering = catalogue.offered(&self.format)?;
        let offer = &offering.offer;
        let rounds = self.rounds.unwrap_or(offer.usual);
        if !offer.rounds.contains(&rounds) {
            let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
            return Err(DeskError::Rounds { asked: rounds.into(), least, most });
        }
        let seats = self.seats(offering)?;
        if offer.impartial && !self.same_judge {
            impartial(&seats)?;
        }
        let sides = seats.iter().any(|seat| seat.role.side().is_some());
        if !sides && (self.sealed || self.stop_when_settled) {
            return Err(DeskError::Cast(format!(
                "`{}` has no two sides whose answers could be sealed, or who could have settled it",
                self.format
            )));
        }
        let (shortest, longest) = (*offer.lengths.start(), *offer.lengths.end());
        let limits = Limits { shortest, longest, budget: self.budget, ..Limits::default() };
        let turn_seconds = self.turn_seconds;
        Ok(Setup {
            grammar: GRAMMAR,
            wording: WORDING,
            id,
            opened_at: now,
            topic: self.topic.trim().to_owned(),
            brief: self.brief.clone(),
            touched: self.touched.clone(),
            proposed: self.proposed.clone(),
            picked: self.picked.clone(),
            pin: self.pin.clone(),
            commit: self.commit.clone(),
            unread: self.unread.clone(),
            chosen: self.chosen.clone(),
            seats,
            prompts: self.prompts(offering),
            format: self.table(offer.format.clone()),
            terms: self.terms.clone(),
            judge_share: self.judge_share,
            output: self.output.clone(),
            stop_when_settled: self.stop_when_settled,
            rounds,
            effort: self.effort,
            holds: self.holds.clone(),
            limits: Limits { turn_seconds, await_seconds: self.await_seconds, ..limits },
            origin: self.origin.clone(),
            salt,
        })
    }

    /// The table it is played by.
    fn table(&self, format: Format) -> Format {
        let format = if self.proposed.is_some() { formats::reviewing(format) } else { format };
        if self.sealed { formats::sealed(format) } else { format }
    }

    /// The words its seats are asked with. What is said about changes is said only where one is
    /// reviewed.
    fn prompts(&self, offering: &Offering) -> BTreeMap<String, String> {
        let mut prompts = offering.prompts.clone();
        let review = prompts.remove(REVIEW).filter(|_| self.proposed.is_some());
        if let Some(review) = review {
            let focus = prompts.entry("focus".into()).or_default();
            format!("{review}\n\n{focus}").trim().clone_into(focus);
        }
        prompts
    }

    /// As many rounds as were asked for, or as near to that as the format allows.
    pub(super) fn nearest(&self, rounds: u8, catalogue: &Catalogue) -> u8 {
        let offering = catalogue.offered(&self.format).ok();
        let range = offering.map(|offering| &offering.offer.rounds);
        range.map_or(rounds, |range| rounds.clamp(*range.start(), *range.end()))
    }
}

/// Whoever judges is nobody who argues.
fn impartial(seats: &[Seat]) -> Result<(), DeskError> {
    let judges = seats.iter().filter(|seat| seat.role == Role::Judge);
    let sides: Vec<&Seat> = seats.iter().filter(|seat| seat.role.side().is_some()).collect();
    for judge in judges {
        if let Some(side) = sides.iter().find(|side| judge.voice.may_be(&side.voice)) {
            let (voice, name) = (judge.voice.to_string(), side.name.clone());
            return Err(DeskError::Partial { voice, name });
        }
    }
    Ok(())
}

/// A script is found again from wherever the debate is resumed.
pub fn found_again(voice: Voice, folder: &Path) -> Voice {
    match voice {
        Voice::Model { tool, model: Some(file) } if tool == "script" => {
            let whole = folder.join(&file).display().to_string();
            Voice::Model { tool, model: Some(whole) }
        }
        voice => voice,
    }
}
