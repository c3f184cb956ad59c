//! Chooses participants for the seats the user left open: two sides from different model families
//! and a judge from a third. Pure functions: the result depends only on the arguments.
//!
//! The entry point is [`choose_seats`]. Each choice comes with a reason, which is shown to the
//! user.
use crate::debate::Participant;
use crate::debate::seat::ParticipantError;

/// Participants the user named, `None` for open seats.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub proposer: Option<Participant>,
    pub challenger: Option<Participant>,
    pub judge: Option<Participant>,
}

impl Named {
    /// Whether no seat is open.
    pub fn all(&self) -> bool {
        self.proposer.is_some() && self.challenger.is_some() && self.judge.is_some()
    }
}

/// Configured preferences, which come before the order of the candidates.
#[derive(Clone, Debug, Default)]
pub struct Preferred {
    /// Proposer and challenger, the preferred pair first.
    pub pairings: Vec<(Participant, Participant)>,
    /// The preferred judge first.
    pub judges: Vec<Participant>,
}

impl Preferred {
    /// Parses seats from the configuration.
    pub fn read(
        pairings: &[(String, String)],
        judges: &[String],
    ) -> Result<Preferred, ParticipantError> {
        let pair = |(one, other): &(String, String)| Ok((one.parse()?, other.parse()?));
        Ok(Preferred {
            pairings: pairings.iter().map(pair).collect::<Result<_, _>>()?,
            judges: judges.iter().map(|judge| judge.parse()).collect::<Result<_, _>>()?,
        })
    }
}

/// A participant that may be seated without being named.
#[derive(Clone, Debug)]
pub struct Able {
    pub voice: Participant,
    /// Vendor of the model, if known.
    pub family: Option<String>,
    /// Whether it can read files itself.
    pub reads: bool,
}

/// Participants for seats that no candidate can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct There {
    /// Debater of last resort, if any.
    pub side: Option<Participant>,
    /// Judge if no independent model is available.
    pub judge: Judge,
}

/// Who judges if no independent model is available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judge {
    /// This participant.
    Other(Participant),
    /// One of the debaters, with a warning in the result, or this participant if neither can be
    /// asked.
    Debater(Participant),
}

/// The participant of a seat. The reason is `None` if the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub voice: Participant,
    pub why: Option<String>,
}

/// The three main seats, all filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seated {
    pub proposer: Taken,
    pub challenger: Taken,
    pub judge: Taken,
}

impl Seated {
    /// One line for each seat that was filled automatically, with the reason.
    pub fn chosen(&self) -> Vec<String> {
        let seats = [
            ("proposer", &self.proposer),
            ("challenger", &self.challenger),
            ("judge", &self.judge),
        ];
        let line = |(role, taken): (&str, &Taken)| {
            let why = taken.why.as_ref()?;
            Some(format!("{role} {} ({why})", taken.voice))
        };
        seats.into_iter().filter_map(line).collect()
    }
}

/// Error: no participant is left for this seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody plays the {0}")]
pub struct Vacant(pub &'static str);

/// Fills the open seats. `able` lists the available candidates in order of preference.
pub fn pair(
    named: &Named,
    able: &[Able],
    preferred: &Preferred,
    there: &There,
) -> Result<Seated, Vacant> {
    let table = Table { able, preferred };
    let (proposer, challenger) = table.sides(named, there)?;
    let judge = table.judge(named, &proposer.voice, &challenger.voice, there);
    Ok(Seated { proposer, challenger, judge })
}

struct Table<'a> {
    able: &'a [Able],
    preferred: &'a Preferred,
}

impl Table<'_> {
    fn sides(&self, named: &Named, there: &There) -> Result<(Taken, Taken), Vacant> {
        let judge = named.judge.as_ref();
        if named.proposer.is_none() && named.challenger.is_none() {
            let judges =
                |voice: &Participant| judge.is_some_and(|judge| judge.tool() == voice.tool());
            let fits = |(one, other): &&(Participant, Participant)| {
                one.tool() != other.tool()
                    && [one, other].into_iter().all(|voice| self.plays(voice) && !judges(voice))
            };
            if let Some((one, other)) = self.preferred.pairings.iter().find(fits) {
                let why = "as your configuration pairs them";
                return Ok((taken(one, why), taken(other, why)));
            }
        }
        let side =
            |role: &'static str, name: Option<&Participant>, others: &[&Participant]| match name {
                Some(voice) => Ok(Taken { voice: voice.clone(), why: None }),
                None => self
                    .partner(others)
                    .or_else(|| self.free(others))
                    .or_else(|| {
                        there.side.as_ref().map(|voice| taken(voice, "nobody else is here"))
                    })
                    .ok_or(Vacant(role)),
            };
        let known: Vec<&Participant> = named.challenger.iter().chain(judge).collect();
        let proposer = side("proposer", named.proposer.as_ref(), &known)?;
        let known: Vec<&Participant> = [&proposer.voice].into_iter().chain(judge).collect();
        let challenger = side("challenger", named.challenger.as_ref(), &known)?;
        Ok((proposer, challenger))
    }

    /// The configured partner of the first of these.
    fn partner(&self, others: &[&Participant]) -> Option<Taken> {
        let first = others.first()?;
        let mut partners = self.preferred.pairings.iter().filter_map(|(one, other)| {
            (one.tool() == first.tool())
                .then_some(other)
                .or_else(|| (other.tool() == first.tool()).then_some(one))
        });
        let free = |voice: &&Participant| others.iter().all(|other| other.tool() != voice.tool());
        let found = partners.find(|voice| self.plays(voice) && free(voice))?;
        Some(taken(found, "as your configuration pairs them"))
    }

    /// The first candidate of another family than these, else of another tool.
    fn free(&self, others: &[&Participant]) -> Option<Taken> {
        let another_tool = |able: &&Able| others.iter().all(|it| it.tool() != able.voice.tool());
        let mut rest = self.able.iter().filter(another_tool);
        let another_family = |able: &&Able| self.unrelated(&able.voice, others);
        if let Some(found) = rest.clone().find(another_family) {
            let why = if others.is_empty() { "the first here" } else { "of another family" };
            return Some(taken(&found.voice, why));
        }
        let found = rest.next()?;
        Some(taken(&found.voice, "of the same family, because no other is here"))
    }

    fn judge(&self, named: &Named, one: &Participant, other: &Participant, there: &There) -> Taken {
        if let Some(voice) = &named.judge {
            return Taken { voice: voice.clone(), why: None };
        }
        let sides = [one, other];
        let wanted = self.preferred.judges.iter().find(|judge| {
            self.plays(judge) && sides.iter().all(|side| side.tool() != judge.tool())
        });
        if let Some(judge) = wanted {
            return taken(judge, "as your configuration prefers");
        }
        let third = self.able.iter().find(|able| self.unrelated(&able.voice, &sides));
        // If no side is a model (people, scripts, the host), no model is needed to judge.
        let models = sides.iter().any(|side| self.plays(side));
        if let Some(third) = third.filter(|_| models) {
            return taken(&third.voice, "of a third family");
        }
        match &there.judge {
            Judge::Other(voice) if models => taken(voice, "because no third family is here"),
            Judge::Other(voice) | Judge::Debater(voice) => {
                let asked = sides.into_iter().find(|side| !side.is_awaited());
                let why = asked.map_or("nobody else is here", |_| "no independent judge is here");
                taken(asked.unwrap_or(voice), why)
            }
        }
    }

    /// Whether the tool of a participant is among the candidates, with whatever model.
    fn plays(&self, voice: &Participant) -> bool {
        self.able.iter().any(|able| able.voice.tool() == voice.tool())
    }

    fn family(&self, voice: &Participant) -> Option<&str> {
        let own = self.able.iter().find(|able| able.voice.tool() == voice.tool())?;
        own.family.as_deref()
    }

    /// Whether it is another tool, and of a family not known to be seated already.
    fn unrelated(&self, voice: &Participant, others: &[&Participant]) -> bool {
        let family = self.family(voice);
        others.iter().all(|other| {
            voice.tool() != other.tool() && (family.is_none() || family != self.family(other))
        })
    }
}

fn taken(voice: &Participant, why: &str) -> Taken {
    Taken { voice: voice.clone(), why: Some(why.into()) }
}
