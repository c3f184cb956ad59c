//! [`DebateDraft`]: what a user asks for, with defaults, before it is validated. It builds the
//! [`Setup`] that is stored with the debate.
use super::casting::{Listener, ResearchRole};
use crate::app::AppError;
use crate::debate::formats;
use crate::debate::setup::{GRAMMAR_VERSION, WORDING_VERSION};
use crate::debate::{
    Budget, DebateLimits, Effort, Format, HoldPoint, Origin, Participant, ReviewedChange, Role,
    Seat, Setup,
};
use crate::engine::format_catalog::{CatalogEntry, FormatCatalog};
use std::collections::BTreeMap;
use std::path::Path;

/// Name of the prompt template about changes.
const REVIEW_TEMPLATE: &str = "review";

/// A debate to be opened. Starts with defaults ([`DebateDraft::new`]) and is completed by
/// `format_options` and `preflight`.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing a user can ask for")]
pub struct DebateDraft {
    pub topic: String,
    /// Name of the format.
    pub format: String,
    /// Argues for, or leads a dialogue.
    pub proposer: Participant,
    /// Argues against, or questions the lead.
    pub challenger: Participant,
    /// Rules, and summarizes long debates.
    pub judge: Participant,
    /// No judge, because none is available.
    pub no_judge: bool,
    /// Additional judges.
    pub panel: Vec<Participant>,
    /// Additional partners, who question the lead.
    pub partners: Vec<Participant>,
    /// Roles of a research debate. Default: two that argue for and against.
    pub roles: Vec<ResearchRole>,
    /// Audience members, who vote.
    pub audience: Vec<Listener>,
    /// Stances of the side for and the side against, if the topic does not say them.
    pub stances: [String; 2],
    /// Names of the two sides, where the default names are not used.
    pub names: [Option<String>; 2],
    /// Argument styles of the two sides.
    pub styles: [String; 2],
    /// Whether an auditor checks factual claims.
    pub audited: bool,
    /// Allow a debater to judge although the format forbids it.
    pub same_judge: bool,
    /// Weight of the judge relative to the audience, in percent.
    pub judge_share: Option<u8>,
    /// Format-specific options by name.
    pub terms: BTreeMap<String, String>,
    /// Additional path for the finished report.
    pub report_path: Option<String>,
    /// Default: that of the format.
    pub rounds: Option<u8>,
    /// Reasoning effort of every seat.
    pub effort: Option<Effort>,
    /// Context in every debater's prompt, besides the topic.
    pub brief: String,
    /// Paths the brief is about.
    pub touched_paths: Vec<String>,
    /// The change it reviews, if any.
    pub reviewed_change: Option<ReviewedChange>,
    /// Ids of debates with the same review key or game key that this one replaces. The archive
    /// refuses to create it if there are others.
    pub supersedes: Vec<String>,
    /// Parts of the repository in the brief, with reasons.
    pub picked: Vec<String>,
    /// Id of the pinned tree.
    pub pin: Option<String>,
    /// Last commit of the repository.
    pub commit: Option<String>,
    /// Why the repository could not be read, if so.
    pub unreadable_reason: Option<String>,
    /// Seats that were filled automatically, with reasons.
    pub seat_choices: Vec<String>,
    pub budget: Budget,
    /// Timeout of a fetched turn in seconds. Default: that of its provider.
    pub turn_seconds: Option<u32>,
    /// Timeout of an awaited turn in seconds. Default: none.
    pub await_seconds: Option<u32>,
    /// Where the debate waits for the user.
    pub holds: Vec<HoldPoint>,
    /// Whether both sides first answer without seeing each other's reply (sealed answers).
    pub sealed: bool,
    /// Whether to skip to the final act once a round leaves nothing open or only repeats.
    pub stop_when_settled: bool,
    /// Where the first turns came from.
    pub origin: Origin,
}

impl DebateDraft {
    /// A duel on this topic, with defaults for everything else.
    pub fn new(
        topic: &str,
        proposer: Participant,
        challenger: Participant,
        judge: Participant,
    ) -> DebateDraft {
        DebateDraft {
            topic: topic.into(),
            format: "duel".into(),
            proposer,
            challenger,
            judge,
            no_judge: false,
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
            report_path: None,
            rounds: None,
            effort: None,
            brief: String::new(),
            touched_paths: vec![],
            reviewed_change: None,
            supersedes: vec![],
            picked: vec![],
            pin: None,
            commit: None,
            unreadable_reason: None,
            seat_choices: vec![],
            budget: Budget::default(),
            turn_seconds: None,
            await_seconds: None,
            holds: vec![],
            sealed: false,
            stop_when_settled: false,
            origin: Origin::Here,
        }
    }

    /// Validates the draft and builds the setup. The caller passes the random id and salt and the
    /// time, which keeps it deterministic.
    pub(super) fn build_setup(
        &self,
        catalog: &FormatCatalog,
        id: String,
        salt: String,
        now: i64,
    ) -> Result<Setup, AppError> {
        let entry = catalog.find(&self.format)?;
        let offer = &entry.offer;
        let rounds = self.rounds.unwrap_or(offer.default_rounds);
        if !offer.rounds.contains(&rounds) {
            let (least, most) = (*offer.rounds.start(), *offer.rounds.end());
            return Err(AppError::RoundsOutOfRange { asked: rounds.into(), least, most });
        }
        let seats = self.build_seats(entry)?;
        if offer.impartial_judge && !self.same_judge {
            check_impartial(&seats)?;
        }
        let has_sides = seats.iter().any(|seat| seat.role.side().is_some());
        if !has_sides && (self.sealed || self.stop_when_settled) {
            return Err(AppError::InvalidOption(format!(
                "sealed answers and stopping when settled need two sides, which `{}` does not have",
                self.format
            )));
        }
        let (shortest, longest) = (*offer.speech_chars.start(), *offer.speech_chars.end());
        let limits =
            DebateLimits { shortest, longest, budget: self.budget, ..DebateLimits::default() };
        let turn_seconds = self.turn_seconds;
        Ok(Setup {
            grammar: GRAMMAR_VERSION,
            wording: WORDING_VERSION,
            id,
            opened_at: now,
            topic: self.topic.trim().to_owned(),
            brief: self.brief.clone(),
            touched: self.touched_paths.clone(),
            proposed: self.reviewed_change.clone(),
            picked: self.picked.clone(),
            pin: self.pin.clone(),
            commit: self.commit.clone(),
            unread: self.unreadable_reason.clone(),
            chosen: self.seat_choices.clone(),
            seats,
            prompts: self.build_prompts(entry),
            format: self.build_format(offer.format.clone()),
            terms: self.terms.clone(),
            judge_share: self.judge_share,
            output: self.report_path.clone(),
            stop_when_settled: self.stop_when_settled,
            rounds,
            effort: self.effort,
            holds: self.holds.clone(),
            limits: DebateLimits { turn_seconds, await_seconds: self.await_seconds, ..limits },
            origin: self.origin.clone(),
            salt,
        })
    }

    /// The format with the modifications for reviews and sealed replies.
    fn build_format(&self, format: Format) -> Format {
        let format =
            if self.reviewed_change.is_some() { formats::for_code_review(format) } else { format };
        if self.sealed { formats::with_sealed_answers(format) } else { format }
    }

    /// Prompt templates by name. The review text is merged into `focus` if a change is reviewed,
    /// and dropped otherwise.
    fn build_prompts(&self, entry: &CatalogEntry) -> BTreeMap<String, String> {
        let mut prompts = entry.prompts.clone();
        let review = prompts.remove(REVIEW_TEMPLATE).filter(|_| self.reviewed_change.is_some());
        if let Some(review) = review {
            let focus = prompts.entry("focus".into()).or_default();
            format!("{review}\n\n{focus}").trim().clone_into(focus);
        }
        prompts
    }

    /// Clamps a number of rounds to the format's range.
    pub(super) fn clamp_rounds(&self, rounds: u8, catalog: &FormatCatalog) -> u8 {
        let entry = catalog.find(&self.format).ok();
        let range = entry.map(|entry| &entry.offer.rounds);
        range.map_or(rounds, |range| rounds.clamp(*range.start(), *range.end()))
    }
}

/// Checks that no judge is also a debater.
fn check_impartial(seats: &[Seat]) -> Result<(), AppError> {
    let judges = seats.iter().filter(|seat| seat.role == Role::Judge);
    let sides: Vec<&Seat> = seats.iter().filter(|seat| seat.role.side().is_some()).collect();
    for judge in judges {
        if let Some(side) = sides.iter().find(|side| judge.voice.may_be_same_model(&side.voice)) {
            let (voice, name) = (judge.voice.to_string(), side.name.clone());
            return Err(AppError::BiasedJudge { voice, name });
        }
    }
    Ok(())
}

/// Makes the path of a script absolute, so that the debate can be resumed from any folder.
pub fn with_absolute_script(participant: Participant, folder: &Path) -> Participant {
    match participant {
        Participant::Model { tool, model: Some(file) } if tool == "script" => {
            let path = folder.join(&file).display().to_string();
            Participant::Model { tool, model: Some(path) }
        }
        participant => participant,
    }
}
