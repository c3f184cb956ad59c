//! The seating plan: the three main seats from `pairing`, and the further roles, audience, judges
//! and partners of the format. Keeps the reason for every automatic choice.
use super::format_options::CastRequest;
use super::pairing::{Candidate, MainSeats, SeatAssignment};
use crate::debate::Participant;

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

impl CastRequest {
    /// Whether a role or audience member has no participant yet.
    pub(super) fn has_open_seat(&self) -> bool {
        self.roles.iter().any(|role| role.2.is_none())
            || self.listeners.iter().any(|it| it.2.is_none())
    }
}

/// For a dialogue about files, sorts candidates that can read files first, because others cannot
/// question the content.
pub(super) fn sort_readers_first(mut able: Vec<Candidate>, about_files: bool) -> Vec<Candidate> {
    if about_files {
        able.sort_by_key(|it| !it.reads_files);
    }
    able
}

impl SeatingPlan {
    /// Fills every open seat and adds default models. Also returns the participants that got a
    /// default model, which can be retried without one.
    pub(super) fn new(
        seated: MainSeats,
        cast: &CastRequest,
        able: &[Candidate],
        about_files: bool,
        usual: impl Fn(SeatAssignment) -> SeatAssignment,
    ) -> (SeatingPlan, Vec<Participant>) {
        let mut assigned = vec![];
        let mut with = |taken: SeatAssignment| {
            let before = taken.participant.clone();
            let after = usual(taken);
            if after.participant != before {
                assigned.push(after.participant.clone());
            }
            after
        };
        let mut seated = MainSeats {
            proposer: with(seated.proposer),
            challenger: with(seated.challenger),
            judge: with(seated.judge),
        };
        let named =
            |voice: &Participant| SeatAssignment { participant: voice.clone(), reason: None };
        let mut roles = vec![];
        for (nth, (name, stance, voice)) in cast.roles.iter().enumerate() {
            let taken = match (voice, nth) {
                (_, 0) => seated.proposer.clone(),
                (_, 1) => seated.challenger.clone(),
                (Some(voice), _) => with(named(voice)),
                // Round-robin, so that the roles use as many different models as possible.
                (None, nth) => with(round_robin(able, nth).unwrap_or(seated.proposer.clone())),
            };
            roles.push((name.clone(), stance.clone(), taken));
        }
        let mut audience = vec![];
        for (nth, (kind, weight, voice)) in cast.listeners.iter().enumerate() {
            let taken = match voice {
                Some(voice) => with(named(voice)),
                None => with(round_robin(able, nth).unwrap_or(seated.judge.clone())),
            };
            audience.push((kind.clone(), *weight, taken));
        }
        let others = cast.panel.iter().chain(&cast.partners).map(|voice| with(named(voice)));
        let others = others.collect();
        let mut fallback = None;
        if let (true, Some(why)) = (cast.is_dialogue, &mut seated.challenger.reason) {
            let (lead, partner) = (&seated.proposer.participant, &seated.challenger.participant);
            let own = able.iter().find(|it| it.participant.tool() == partner.tool());
            if own.is_some_and(|it| it.reads_files) && about_files {
                why.push_str(", and can read the files the topic is about");
            }
            let free = |it: &&Candidate| {
                it.participant.tool() != partner.tool() && it.participant.tool() != lead.tool()
            };
            fallback = able.iter().find(free).map(|it| it.participant.clone());
        }
        let partnered = cast.is_dialogue;
        (
            SeatingPlan {
                main_seats: seated,
                roles,
                audience,
                others,
                fallback,
                is_dialogue: partnered,
            },
            assigned,
        )
    }

    /// Every seat assignment. A participant with several seats occurs several times.
    pub(super) fn assignments(&self) -> Vec<&SeatAssignment> {
        let MainSeats { proposer, challenger, judge } = &self.main_seats;
        // A dialogue has no judge.
        let three = [Some(proposer), Some(challenger), (!self.is_dialogue).then_some(judge)];
        three
            .into_iter()
            .flatten()
            .chain(self.roles.iter().map(|role| &role.2))
            .chain(self.audience.iter().map(|listener| &listener.2))
            .chain(&self.others)
            .collect()
    }

    /// One line for each seat that was filled automatically, with the reason.
    pub(super) fn describe_choices(&self) -> Vec<String> {
        let line = |role: &str, taken: &SeatAssignment| {
            let why = taken.reason.as_ref()?;
            Some(format!("{role} {} ({why})", taken.participant))
        };
        let MainSeats { proposer, challenger, judge } = &self.main_seats;
        let mut lines: Vec<Option<String>> = vec![];
        if self.is_dialogue {
            lines.push(line("lead", proposer));
            lines.push(line("partner", challenger));
            let fallback = self
                .fallback
                .as_ref()
                .map(|voice| format!("if the partner fails, {voice} could take its place"));
            lines.push(fallback);
        } else if self.roles.is_empty() {
            lines.extend(self.main_seats.describe_choices().into_iter().map(Some));
        } else {
            lines.extend(self.roles.iter().map(|(name, _, taken)| line(name, taken)));
            lines.push(line("judge", judge));
        }
        lines.extend(self.audience.iter().map(|(kind, _, taken)| line(kind, taken)));
        lines.into_iter().flatten().collect()
    }
}

/// Picks the nth candidate, round-robin.
fn round_robin(able: &[Candidate], nth: usize) -> Option<SeatAssignment> {
    let voice = able.get(nth % able.len().max(1))?.participant.clone();
    Some(SeatAssignment {
        participant: voice,
        reason: Some("in turn, of those who can play here".into()),
    })
}
