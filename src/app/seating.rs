//! The seating plan: the three main seats from `pairing`, and the further roles, audience, judges
//! and partners of the format. Keeps the reason for every automatic choice.
use super::cast::{Cast, Listener, ResearchRole};
use super::pairing::{
    Candidate, FallbackSeats, MainSeats, RequestedSeats, SeatAssignment, SeatPreferences,
};
use crate::debate::{Effort, Participant};
use crate::engine::ports::ChangeUnderReview;
use std::time::Duration;

/// How to seat a debate and what to give it: the user's choices, preferences and fallbacks.
#[derive(Clone, Debug)]
pub struct SeatingRequest {
    /// Participants the user named.
    pub requested: RequestedSeats,
    /// Configured preferences.
    pub preferences: SeatPreferences,
    /// Participants for seats no model can take.
    pub fallbacks: FallbackSeats,
    /// Requested roles beyond the three main seats.
    pub cast: CastRequest,
    /// Context for the debaters: `none`, `auto`, or the user's selection.
    pub context: String,
    /// The change to review, if any. Its tree is pinned instead of the working tree.
    pub change: Option<ChangeUnderReview>,
    /// Reasoning effort. A tool may have another default model for it.
    pub effort: Option<Effort>,
    /// Time limit for all probes. `None` sends none.
    pub probe_timeout: Option<Duration>,
}

/// The requested seats beyond the main three, some of them still open.
#[derive(Clone, Debug, Default)]
pub struct CastRequest {
    /// Name, stance and participant of each role.
    pub roles: Vec<(String, String, Option<Participant>)>,
    /// Type, vote weight and participant of each audience member.
    pub listeners: Vec<(String, u16, Option<Participant>)>,
    /// Additional judges.
    pub panel: Vec<Participant>,
    /// Additional partners, who question the lead.
    pub partners: Vec<Participant>,
    /// Whether it is a dialogue, whose partner should fit the topic.
    pub is_dialogue: bool,
    /// Whether one model may take several debating seats.
    pub allow_same_model: bool,
}

/// Every seat of a debate with its participant.
#[derive(Clone, Debug)]
pub(super) struct SeatingPlan {
    pub(super) main_seats: MainSeats,
    /// Name, stance and participant of each role.
    pub(super) roles: Vec<(String, String, SeatAssignment)>,
    /// Type, vote weight and participant of each audience member.
    pub(super) audience: Vec<(String, u16, SeatAssignment)>,
    /// Additional judges and partners, all named by the user.
    others: Vec<SeatAssignment>,
    /// Suggested replacement if the partner fails.
    fallback: Option<Participant>,
    is_dialogue: bool,
}

impl SeatingRequest {
    /// A cast with placeholders for the open seats, to validate a plan before any is filled.
    pub(super) fn placeholder_cast(&self) -> Cast {
        let placeholder = |name: &str| Participant::Model { tool: name.into(), model: None };
        let or_placeholder = |seat: &Option<Participant>, name: &str| {
            seat.clone().unwrap_or_else(|| placeholder(name))
        };
        let RequestedSeats { proposer, challenger, judge } = &self.requested;
        let role = |(name, stance, _): &(String, String, Option<Participant>)| ResearchRole {
            name: name.clone(),
            stance: stance.clone(),
            participant: placeholder("one"),
        };
        let listener = |(kind, weight, _): &(String, u16, Option<Participant>)| Listener {
            kind: kind.clone(),
            weight: *weight,
            participant: placeholder("third"),
        };
        Cast {
            roles: self.cast.roles.iter().map(role).collect(),
            audience: self.cast.listeners.iter().map(listener).collect(),
            panel: self.cast.panel.clone(),
            partners: self.cast.partners.clone(),
            ..Cast::new(
                or_placeholder(proposer, "one"),
                or_placeholder(challenger, "other"),
                or_placeholder(judge, "third"),
            )
        }
    }
}

impl CastRequest {
    /// Whether a role or audience member has no participant yet.
    pub(super) fn has_open_seat(&self) -> bool {
        self.roles.iter().any(|role| role.2.is_none())
            || self.listeners.iter().any(|it| it.2.is_none())
    }
}

/// For a dialogue about files, sorts candidates that can read files first, because others cannot
/// question the content.
pub(super) fn sort_readers_first(
    mut candidates: Vec<Candidate>,
    about_files: bool,
) -> Vec<Candidate> {
    if about_files {
        candidates.sort_by_key(|it| !it.reads_files);
    }
    candidates
}

impl SeatingPlan {
    /// Fills every open seat and adds default models. Also returns the participants that got a
    /// default model, which can be retried without one.
    pub(super) fn new(
        main_seats: MainSeats,
        cast: &CastRequest,
        candidates: &[Candidate],
        about_files: bool,
        with_default_model: impl Fn(SeatAssignment) -> SeatAssignment,
    ) -> (SeatingPlan, Vec<Participant>) {
        let mut assigned = vec![];
        let mut assign = |assignment: SeatAssignment| {
            let before = assignment.participant.clone();
            let after = with_default_model(assignment);
            if after.participant != before {
                assigned.push(after.participant.clone());
            }
            after
        };
        let mut main_seats = MainSeats {
            proposer: assign(main_seats.proposer),
            challenger: assign(main_seats.challenger),
            judge: assign(main_seats.judge),
        };
        let explicit = |participant: &Participant| SeatAssignment {
            participant: participant.clone(),
            reason: None,
        };
        let mut roles = vec![];
        for (index, (name, stance, participant)) in cast.roles.iter().enumerate() {
            let assignment = match (participant, index) {
                (_, 0) => main_seats.proposer.clone(),
                (_, 1) => main_seats.challenger.clone(),
                (Some(participant), _) => assign(explicit(participant)),
                // Round-robin, so that the roles use as many different models as possible.
                (None, index) => {
                    assign(round_robin(candidates, index).unwrap_or(main_seats.proposer.clone()))
                }
            };
            roles.push((name.clone(), stance.clone(), assignment));
        }
        let mut audience = vec![];
        for (index, (kind, weight, participant)) in cast.listeners.iter().enumerate() {
            let assignment = match participant {
                Some(participant) => assign(explicit(participant)),
                None => assign(round_robin(candidates, index).unwrap_or(main_seats.judge.clone())),
            };
            audience.push((kind.clone(), *weight, assignment));
        }
        let others = cast
            .panel
            .iter()
            .chain(&cast.partners)
            .map(|participant| assign(explicit(participant)));
        let others = others.collect();
        let mut fallback = None;
        if let (true, Some(reason)) = (cast.is_dialogue, &mut main_seats.challenger.reason) {
            let (lead, partner) =
                (&main_seats.proposer.participant, &main_seats.challenger.participant);
            let found = candidates.iter().find(|it| it.participant.tool() == partner.tool());
            if found.is_some_and(|it| it.reads_files) && about_files {
                reason.push_str(", and can read the files the topic is about");
            }
            let is_free = |it: &&Candidate| {
                it.participant.tool() != partner.tool() && it.participant.tool() != lead.tool()
            };
            fallback = candidates.iter().find(is_free).map(|it| it.participant.clone());
        }
        let is_dialogue = cast.is_dialogue;
        (SeatingPlan { main_seats, roles, audience, others, fallback, is_dialogue }, assigned)
    }

    /// Every seat assignment. A participant with several seats occurs several times.
    pub(super) fn assignments(&self) -> Vec<&SeatAssignment> {
        let MainSeats { proposer, challenger, judge } = &self.main_seats;
        // A dialogue has no judge.
        let main = [Some(proposer), Some(challenger), (!self.is_dialogue).then_some(judge)];
        main.into_iter()
            .flatten()
            .chain(self.roles.iter().map(|role| &role.2))
            .chain(self.audience.iter().map(|listener| &listener.2))
            .chain(&self.others)
            .collect()
    }

    /// The participants, with the additional judges and partners of the request.
    pub(super) fn into_cast(self, request: &CastRequest) -> Cast {
        let choices = self.describe_choices();
        let MainSeats { proposer, challenger, judge } = self.main_seats;
        let role = |(name, stance, assignment): (String, String, SeatAssignment)| ResearchRole {
            name,
            stance,
            participant: assignment.participant,
        };
        let listener = |(kind, weight, assignment): (String, u16, SeatAssignment)| Listener {
            kind,
            weight,
            participant: assignment.participant,
        };
        Cast {
            roles: self.roles.into_iter().map(role).collect(),
            audience: self.audience.into_iter().map(listener).collect(),
            panel: request.panel.clone(),
            partners: request.partners.clone(),
            choices,
            ..Cast::new(proposer.participant, challenger.participant, judge.participant)
        }
    }

    /// One line for each seat that was filled automatically, with the reason.
    pub(super) fn describe_choices(&self) -> Vec<String> {
        let line = |role: &str, assignment: &SeatAssignment| {
            let reason = assignment.reason.as_ref()?;
            Some(format!("{role} {} ({reason})", assignment.participant))
        };
        let MainSeats { proposer, challenger, judge } = &self.main_seats;
        let mut lines: Vec<Option<String>> = vec![];
        if self.is_dialogue {
            lines.push(line("lead", proposer));
            lines.push(line("partner", challenger));
            let fallback = self.fallback.as_ref().map(|participant| {
                format!("if the partner fails, {participant} could take its place")
            });
            lines.push(fallback);
        } else if self.roles.is_empty() {
            lines.extend(self.main_seats.describe_choices().into_iter().map(Some));
        } else {
            lines.extend(self.roles.iter().map(|(name, _, assignment)| line(name, assignment)));
            lines.push(line("judge", judge));
        }
        lines.extend(self.audience.iter().map(|(kind, _, assignment)| line(kind, assignment)));
        lines.into_iter().flatten().collect()
    }
}

/// Picks the nth candidate, round-robin.
fn round_robin(candidates: &[Candidate], index: usize) -> Option<SeatAssignment> {
    let participant = candidates.get(index % candidates.len().max(1))?.participant.clone();
    Some(SeatAssignment { participant, reason: Some("in turn, of those who can play here".into()) })
}
