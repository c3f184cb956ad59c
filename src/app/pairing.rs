//! Chooses participants for the seats the user left open: two sides from different model families
//! and a judge from a third. Pure functions: the result depends only on the arguments.
//!
//! The entry point is [`choose_seats`]. Each choice comes with a reason, which is shown to the
//! user.
use crate::debate::Participant;
use crate::debate::seat::ParticipantError;

/// Participants the user named, `None` for open seats.
#[derive(Clone, Debug, Default)]
pub struct RequestedSeats {
    pub proposer: Option<Participant>,
    pub challenger: Option<Participant>,
    pub judge: Option<Participant>,
}

impl RequestedSeats {
    /// Whether no seat is open.
    pub fn is_complete(&self) -> bool {
        self.proposer.is_some() && self.challenger.is_some() && self.judge.is_some()
    }
}

/// Configured preferences, which come before the order of the candidates.
#[derive(Clone, Debug, Default)]
pub struct SeatPreferences {
    /// Proposer and challenger, the preferred pair first.
    pub pairings: Vec<(Participant, Participant)>,
    /// The preferred judge first.
    pub judges: Vec<Participant>,
}

impl SeatPreferences {
    /// Parses seats from the configuration.
    pub fn parse(
        pairings: &[(String, String)],
        judges: &[String],
    ) -> Result<SeatPreferences, ParticipantError> {
        let pair = |(one, other): &(String, String)| Ok((one.parse()?, other.parse()?));
        Ok(SeatPreferences {
            pairings: pairings.iter().map(pair).collect::<Result<_, _>>()?,
            judges: judges.iter().map(|judge| judge.parse()).collect::<Result<_, _>>()?,
        })
    }
}

/// A participant that may be seated without being named.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub participant: Participant,
    /// Vendor of the model, if known.
    pub family: Option<String>,
    /// Whether it can read files itself.
    pub reads_files: bool,
}

/// Participants for seats that no candidate can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallbackSeats {
    /// Debater of last resort, if any.
    pub debater: Option<Participant>,
    /// Judge if no independent model is available.
    pub judge: FallbackJudge,
}

/// Who judges if no independent model is available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FallbackJudge {
    /// This participant.
    Other(Participant),
    /// One of the debaters, with a warning in the result, or this participant if neither can be
    /// asked.
    Debater(Participant),
}

/// The participant of a seat. The reason is `None` if the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatAssignment {
    pub participant: Participant,
    pub reason: Option<String>,
}

/// The three main seats, all filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainSeats {
    pub proposer: SeatAssignment,
    pub challenger: SeatAssignment,
    pub judge: SeatAssignment,
}

impl MainSeats {
    /// One line for each seat that was filled automatically, with the reason.
    pub fn describe_choices(&self) -> Vec<String> {
        let seats = [
            ("proposer", &self.proposer),
            ("challenger", &self.challenger),
            ("judge", &self.judge),
        ];
        let line = |(role, assignment): (&str, &SeatAssignment)| {
            let why = assignment.reason.as_ref()?;
            Some(format!("{role} {} ({why})", assignment.participant))
        };
        seats.into_iter().filter_map(line).collect()
    }
}

/// Error: no participant is left for this seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no participant is available as {0}")]
pub struct VacantSeat(pub &'static str);

/// Fills the open seats. `candidates` lists the available ones in order of preference.
pub fn choose_seats(
    requested: &RequestedSeats,
    candidates: &[Candidate],
    preferences: &SeatPreferences,
    fallbacks: &FallbackSeats,
) -> Result<MainSeats, VacantSeat> {
    let pairing = Pairing { candidates, preferences };
    let (proposer, challenger) = pairing.choose_sides(requested, fallbacks)?;
    let judge =
        pairing.choose_judge(requested, &proposer.participant, &challenger.participant, fallbacks);
    Ok(MainSeats { proposer, challenger, judge })
}

struct Pairing<'a> {
    candidates: &'a [Candidate],
    preferences: &'a SeatPreferences,
}

impl Pairing<'_> {
    fn choose_sides(
        &self,
        requested: &RequestedSeats,
        fallbacks: &FallbackSeats,
    ) -> Result<(SeatAssignment, SeatAssignment), VacantSeat> {
        let judge = requested.judge.as_ref();
        if requested.proposer.is_none() && requested.challenger.is_none() {
            let is_judge = |participant: &Participant| {
                judge.is_some_and(|judge| judge.tool() == participant.tool())
            };
            let fits = |(one, other): &&(Participant, Participant)| {
                one.tool() != other.tool()
                    && [one, other]
                        .into_iter()
                        .all(|participant| self.is_candidate(participant) && !is_judge(participant))
            };
            if let Some((one, other)) = self.preferences.pairings.iter().find(fits) {
                let why = "as your configuration pairs them";
                return Ok((assign(one, why), assign(other, why)));
            }
        }
        let side = |role: &'static str, given: Option<&Participant>, others: &[&Participant]| {
            match given {
                Some(participant) => {
                    Ok(SeatAssignment { participant: participant.clone(), reason: None })
                }
                None => self
                    .preferred_partner(others)
                    .or_else(|| self.first_unrelated(others))
                    .or_else(|| {
                        fallbacks
                            .debater
                            .as_ref()
                            .map(|participant| assign(participant, "nobody else is here"))
                    })
                    .ok_or(VacantSeat(role)),
            }
        };
        let seated: Vec<&Participant> = requested.challenger.iter().chain(judge).collect();
        let proposer = side("proposer", requested.proposer.as_ref(), &seated)?;
        let seated: Vec<&Participant> = [&proposer.participant].into_iter().chain(judge).collect();
        let challenger = side("challenger", requested.challenger.as_ref(), &seated)?;
        Ok((proposer, challenger))
    }

    /// The configured partner of the first of these.
    fn preferred_partner(&self, others: &[&Participant]) -> Option<SeatAssignment> {
        let first = others.first()?;
        let mut partners = self.preferences.pairings.iter().filter_map(|(one, other)| {
            (one.tool() == first.tool())
                .then_some(other)
                .or_else(|| (other.tool() == first.tool()).then_some(one))
        });
        let is_free = |participant: &&Participant| {
            others.iter().all(|other| other.tool() != participant.tool())
        };
        let found =
            partners.find(|participant| self.is_candidate(participant) && is_free(participant))?;
        Some(assign(found, "as your configuration pairs them"))
    }

    /// The first candidate of another family than these, else of another tool.
    fn first_unrelated(&self, others: &[&Participant]) -> Option<SeatAssignment> {
        let another_tool = |candidate: &&Candidate| {
            others.iter().all(|it| it.tool() != candidate.participant.tool())
        };
        let mut rest = self.candidates.iter().filter(another_tool);
        let another_family =
            |candidate: &&Candidate| self.is_unrelated(&candidate.participant, others);
        if let Some(found) = rest.clone().find(another_family) {
            let why = if others.is_empty() { "the first here" } else { "of another family" };
            return Some(assign(&found.participant, why));
        }
        let found = rest.next()?;
        Some(assign(&found.participant, "of the same family, because no other is here"))
    }

    fn choose_judge(
        &self,
        requested: &RequestedSeats,
        proposer: &Participant,
        challenger: &Participant,
        fallbacks: &FallbackSeats,
    ) -> SeatAssignment {
        if let Some(participant) = &requested.judge {
            return SeatAssignment { participant: participant.clone(), reason: None };
        }
        let sides = [proposer, challenger];
        let preferred = self.preferences.judges.iter().find(|judge| {
            self.is_candidate(judge) && sides.iter().all(|side| side.tool() != judge.tool())
        });
        if let Some(judge) = preferred {
            return assign(judge, "as your configuration prefers");
        }
        let third = self
            .candidates
            .iter()
            .find(|candidate| self.is_unrelated(&candidate.participant, &sides));
        // If no side is a model (people, scripts, the host), no model is needed to judge.
        let has_model = sides.iter().any(|side| self.is_candidate(side));
        if let Some(third) = third.filter(|_| has_model) {
            return assign(&third.participant, "of a third family");
        }
        match &fallbacks.judge {
            FallbackJudge::Other(participant) if has_model => {
                assign(participant, "because no third family is here")
            }
            FallbackJudge::Other(participant) | FallbackJudge::Debater(participant) => {
                let debater = sides.into_iter().find(|side| !side.is_awaited());
                let why = debater.map_or("nobody else is here", |_| "no independent judge is here");
                assign(debater.unwrap_or(participant), why)
            }
        }
    }

    /// Whether the tool of a participant is among the candidates, with whatever model.
    fn is_candidate(&self, participant: &Participant) -> bool {
        self.candidates.iter().any(|candidate| candidate.participant.tool() == participant.tool())
    }

    fn family(&self, participant: &Participant) -> Option<&str> {
        let found = self
            .candidates
            .iter()
            .find(|candidate| candidate.participant.tool() == participant.tool())?;
        found.family.as_deref()
    }

    /// Whether it is another tool, and of a family not known to be seated already.
    fn is_unrelated(&self, participant: &Participant, others: &[&Participant]) -> bool {
        let family = self.family(participant);
        others.iter().all(|other| {
            participant.tool() != other.tool() && (family.is_none() || family != self.family(other))
        })
    }
}

fn assign(participant: &Participant, reason: &str) -> SeatAssignment {
    SeatAssignment { participant: participant.clone(), reason: Some(reason.into()) }
}

#[cfg(test)]
mod tests;
