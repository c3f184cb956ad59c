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
        let line = |(role, taken): (&str, &SeatAssignment)| {
            let why = taken.reason.as_ref()?;
            Some(format!("{role} {} ({why})", taken.participant))
        };
        seats.into_iter().filter_map(line).collect()
    }
}

/// Error: no participant is left for this seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody plays the {0}")]
pub struct VacantSeat(pub &'static str);

/// Fills the open seats. `able` lists the available candidates in order of preference.
pub fn choose_seats(
    named: &RequestedSeats,
    able: &[Candidate],
    preferred: &SeatPreferences,
    there: &FallbackSeats,
) -> Result<MainSeats, VacantSeat> {
    let table = Pairing { candidates: able, preferences: preferred };
    let (proposer, challenger) = table.choose_sides(named, there)?;
    let judge = table.choose_judge(named, &proposer.participant, &challenger.participant, there);
    Ok(MainSeats { proposer, challenger, judge })
}

struct Pairing<'a> {
    candidates: &'a [Candidate],
    preferences: &'a SeatPreferences,
}

impl Pairing<'_> {
    fn choose_sides(
        &self,
        named: &RequestedSeats,
        there: &FallbackSeats,
    ) -> Result<(SeatAssignment, SeatAssignment), VacantSeat> {
        let judge = named.judge.as_ref();
        if named.proposer.is_none() && named.challenger.is_none() {
            let judges =
                |voice: &Participant| judge.is_some_and(|judge| judge.tool() == voice.tool());
            let fits = |(one, other): &&(Participant, Participant)| {
                one.tool() != other.tool()
                    && [one, other]
                        .into_iter()
                        .all(|voice| self.is_candidate(voice) && !judges(voice))
            };
            if let Some((one, other)) = self.preferences.pairings.iter().find(fits) {
                let why = "as your configuration pairs them";
                return Ok((assign(one, why), assign(other, why)));
            }
        }
        let side =
            |role: &'static str, name: Option<&Participant>, others: &[&Participant]| match name {
                Some(voice) => Ok(SeatAssignment { participant: voice.clone(), reason: None }),
                None => self
                    .preferred_partner(others)
                    .or_else(|| self.first_unrelated(others))
                    .or_else(|| {
                        there.debater.as_ref().map(|voice| assign(voice, "nobody else is here"))
                    })
                    .ok_or(VacantSeat(role)),
            };
        let known: Vec<&Participant> = named.challenger.iter().chain(judge).collect();
        let proposer = side("proposer", named.proposer.as_ref(), &known)?;
        let known: Vec<&Participant> = [&proposer.participant].into_iter().chain(judge).collect();
        let challenger = side("challenger", named.challenger.as_ref(), &known)?;
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
        let free = |voice: &&Participant| others.iter().all(|other| other.tool() != voice.tool());
        let found = partners.find(|voice| self.is_candidate(voice) && free(voice))?;
        Some(assign(found, "as your configuration pairs them"))
    }

    /// The first candidate of another family than these, else of another tool.
    fn first_unrelated(&self, others: &[&Participant]) -> Option<SeatAssignment> {
        let another_tool =
            |able: &&Candidate| others.iter().all(|it| it.tool() != able.participant.tool());
        let mut rest = self.candidates.iter().filter(another_tool);
        let another_family = |able: &&Candidate| self.is_unrelated(&able.participant, others);
        if let Some(found) = rest.clone().find(another_family) {
            let why = if others.is_empty() { "the first here" } else { "of another family" };
            return Some(assign(&found.participant, why));
        }
        let found = rest.next()?;
        Some(assign(&found.participant, "of the same family, because no other is here"))
    }

    fn choose_judge(
        &self,
        named: &RequestedSeats,
        one: &Participant,
        other: &Participant,
        there: &FallbackSeats,
    ) -> SeatAssignment {
        if let Some(voice) = &named.judge {
            return SeatAssignment { participant: voice.clone(), reason: None };
        }
        let sides = [one, other];
        let wanted = self.preferences.judges.iter().find(|judge| {
            self.is_candidate(judge) && sides.iter().all(|side| side.tool() != judge.tool())
        });
        if let Some(judge) = wanted {
            return assign(judge, "as your configuration prefers");
        }
        let third =
            self.candidates.iter().find(|able| self.is_unrelated(&able.participant, &sides));
        // If no side is a model (people, scripts, the host), no model is needed to judge.
        let models = sides.iter().any(|side| self.is_candidate(side));
        if let Some(third) = third.filter(|_| models) {
            return assign(&third.participant, "of a third family");
        }
        match &there.judge {
            FallbackJudge::Other(voice) if models => {
                assign(voice, "because no third family is here")
            }
            FallbackJudge::Other(voice) | FallbackJudge::Debater(voice) => {
                let asked = sides.into_iter().find(|side| !side.is_awaited());
                let why = asked.map_or("nobody else is here", |_| "no independent judge is here");
                assign(asked.unwrap_or(voice), why)
            }
        }
    }

    /// Whether the tool of a participant is among the candidates, with whatever model.
    fn is_candidate(&self, voice: &Participant) -> bool {
        self.candidates.iter().any(|able| able.participant.tool() == voice.tool())
    }

    fn family(&self, voice: &Participant) -> Option<&str> {
        let own = self.candidates.iter().find(|able| able.participant.tool() == voice.tool())?;
        own.family.as_deref()
    }

    /// Whether it is another tool, and of a family not known to be seated already.
    fn is_unrelated(&self, voice: &Participant, others: &[&Participant]) -> bool {
        let family = self.family(voice);
        others.iter().all(|other| {
            voice.tool() != other.tool() && (family.is_none() || family != self.family(other))
        })
    }
}

fn assign(voice: &Participant, why: &str) -> SeatAssignment {
    SeatAssignment { participant: voice.clone(), reason: Some(why.into()) }
}
