//! Builds the seats of a debate from a draft: one or more for each role the format's phases name.
//! The participants come from `preflight`.
use super::app::AppError;
use super::draft::DebateDraft;
use super::format_catalog::CatalogEntry;
use super::format_options::default_roles;
use crate::debate::{Participant, Role, Seat};

/// A role of a research debate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResearchRole {
    /// Heading of its reports.
    pub name: String,
    /// What it argues for.
    pub stance: String,
    pub participant: Participant,
}

/// An audience member, who listens and votes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Type, one of those the format has templates for.
    pub kind: String,
    pub participant: Participant,
    /// Weight of its vote.
    pub weight: u16,
}

/// Allowed number of roles.
const ROLE_COUNT: std::ops::RangeInclusive<usize> = 2..=4;
/// Maximum number of judges, and of audience members.
const MAX_JUDGES: usize = 9;
const MAX_LISTENERS: usize = 40;

impl DebateDraft {
    /// Builds the seats for every role the format names. A model that judges gets a second seat
    /// that judges with the sides swapped. The judge also audits and summarizes, unless it is a
    /// person.
    pub(super) fn build_seats(&self, offering: &CatalogEntry) -> Result<Vec<Seat>, AppError> {
        let mut roles: Vec<Role> = vec![];
        for phase in offering.offer.format.acts.iter().flat_map(|act| &act.phases) {
            let named = phase.speakers.roles();
            roles.extend(named.iter().filter(|role| !roles.contains(role)).collect::<Vec<_>>());
        }
        let mut seats = vec![];
        for role in roles {
            seats.extend(self.seats_for_role(role, offering)?);
        }
        Ok(seats)
    }

    fn seats_for_role(&self, role: Role, offering: &CatalogEntry) -> Result<Vec<Seat>, AppError> {
        let bench: Vec<&Participant> =
            [&self.judge].into_iter().chain(&self.panel).filter(|_| !self.no_judge).collect();
        if bench.len() > MAX_JUDGES {
            return Err(AppError::InvalidOption(format!(
                "{} judges; at most {MAX_JUDGES} sit",
                bench.len()
            )));
        }
        let one = |name: &str, voice: &Participant| vec![new_seat(name, role, voice)];
        let argues = offering.prompts.values().any(|words| words.contains("{{stance}}"));
        let side = |name: &str, voice: &Participant, nth: usize, usual: &str| {
            let stance = Some(self.stances[nth].as_str()).filter(|it| !it.trim().is_empty());
            let stance = stance.or(argues.then_some(usual)).unwrap_or_default().to_owned();
            let name = self.names[nth].as_deref().unwrap_or(name);
            vec![Seat { stance, style: self.styles[nth].clone(), ..new_seat(name, role, voice) }]
        };
        Ok(match role {
            Role::Pro => side("proposer", &self.proposer, 0, "for the motion: argue that it holds"),
            Role::Con => side(
                "challenger",
                &self.challenger,
                1,
                "against the motion: argue that it does not",
            ),
            Role::Lead => {
                let stance = self.stances[0].clone();
                vec![Seat { stance, ..new_seat("lead", role, &self.proposer) }]
            }
            Role::Partner => {
                let all = [&self.challenger].into_iter().chain(&self.partners);
                numbered_seats("partner", role, all)
            }
            Role::Advocate => self.advocate_seats()?,
            Role::Audience => self.audience_seats(offering)?,
            Role::Judge => numbered_seats("judge", role, bench.into_iter()),
            Role::Mirror => {
                let models = bench.into_iter().enumerate().filter(|(_, voice)| !voice.is_awaited());
                models
                    .map(|(nth, voice)| new_seat(&numbered_name("mirror", nth), role, voice))
                    .collect()
            }
            Role::Auditor if self.audited => one("auditor", &self.judge),
            Role::Scribe if self.judge != Participant::Human => one("scribe", &self.judge),
            Role::Auditor | Role::Scribe => vec![],
        })
    }

    fn advocate_seats(&self) -> Result<Vec<Seat>, AppError> {
        let usual = default_roles(&self.topic, None);
        let voices = [&self.proposer, &self.challenger];
        let usual: Vec<ResearchRole> = usual
            .into_iter()
            .zip(voices)
            .map(|((name, stance), voice)| ResearchRole {
                name,
                stance,
                participant: voice.clone(),
            })
            .collect();
        let stances = if self.roles.is_empty() { &usual[..] } else { &self.roles };
        if !ROLE_COUNT.contains(&stances.len()) {
            let count = stances.len();
            return Err(AppError::InvalidOption(format!(
                "{count} roles; there must be two to four"
            )));
        }
        let name = |nth: usize| stances[nth].name.trim().to_lowercase();
        if let Some(nth) = (1..stances.len()).find(|nth| (0..*nth).any(|it| name(it) == name(*nth)))
        {
            let twice = stances[nth].name.trim();
            return Err(AppError::InvalidOption(format!("two roles are called `{twice}`")));
        }
        let advocate = |stance: &ResearchRole| {
            let seat = new_seat(stance.name.trim(), Role::Advocate, &stance.participant);
            Seat { stance: stance.stance.clone(), ..seat }
        };
        Ok(stances.iter().map(advocate).collect())
    }

    fn audience_seats(&self, offering: &CatalogEntry) -> Result<Vec<Seat>, AppError> {
        if self.audience.len() > MAX_LISTENERS {
            let count = self.audience.len();
            return Err(AppError::InvalidOption(format!(
                "{count} listeners; at most {MAX_LISTENERS} sit"
            )));
        }
        let mut seats: Vec<Seat> = vec![];
        for listener in &self.audience {
            let kind = listener.kind.as_str();
            let preference =
                offering.prompts.get(&format!("audience.{kind}")).ok_or_else(|| {
                    let known = offering.audience_types().collect::<Vec<_>>().join(", ");
                    AppError::InvalidOption(format!(
                        "there are no listeners of type `{kind}`; known: {known}"
                    ))
                })?;
            let alike = seats.iter().filter(|seat| seat.kind == kind).count();
            seats.push(Seat {
                stance: preference.trim().to_owned(),
                kind: kind.into(),
                weight: listener.weight,
                ..new_seat(&numbered_name(kind, alike), Role::Audience, &listener.participant)
            });
        }
        Ok(seats)
    }
}

fn numbered_seats<'a>(
    name: &str,
    role: Role,
    voices: impl Iterator<Item = &'a Participant>,
) -> Vec<Seat> {
    voices
        .enumerate()
        .map(|(nth, voice)| new_seat(&numbered_name(name, nth), role, voice))
        .collect()
}

/// The first has no number.
fn numbered_name(name: &str, nth: usize) -> String {
    if nth == 0 { name.into() } else { format!("{name}-{}", nth + 1) }
}

fn new_seat(name: &str, role: Role, voice: &Participant) -> Seat {
    Seat {
        name: name.into(),
        role,
        voice: voice.clone(),
        weight: 1,
        stance: String::new(),
        style: String::new(),
        kind: String::new(),
    }
}
