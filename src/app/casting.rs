//! Builds the seats of a debate from its cast: one or more for each role the format's phases name.
//! The participants come from `preflight`.
use super::cast::{Cast, ResearchRole};
use super::spec::DebateSpec;
use crate::app::AppError;
use crate::debate::language::{self, Language};
use crate::debate::{Participant, Role, Seat};
use crate::engine::format_catalog::CatalogEntry;

/// Allowed number of roles.
const ROLE_COUNT: std::ops::RangeInclusive<usize> = 2..=4;
/// Maximum number of judges.
const MAX_JUDGES: usize = 9;
/// Maximum number of audience members.
const MAX_LISTENERS: usize = 40;

impl Cast {
    /// Builds the seats for every role the format names. A model that judges gets a second seat
    /// that judges with the sides swapped. The judge also audits and summarizes, unless it is a
    /// person.
    pub(super) fn build_seats(
        &self,
        spec: &DebateSpec,
        entry: &CatalogEntry,
    ) -> Result<Vec<Seat>, AppError> {
        let mut roles: Vec<Role> = vec![];
        for phase in entry.offer.format.acts.iter().flat_map(|act| &act.phases) {
            let phase_roles = phase.speakers.roles();
            roles.extend(
                phase_roles.iter().filter(|role| !roles.contains(role)).collect::<Vec<_>>(),
            );
        }
        let mut seats = vec![];
        for role in roles {
            seats.extend(self.seats_for_role(role, spec, entry)?);
        }
        Ok(seats)
    }

    fn seats_for_role(
        &self,
        role: Role,
        spec: &DebateSpec,
        entry: &CatalogEntry,
    ) -> Result<Vec<Seat>, AppError> {
        let judges: Vec<&Participant> =
            [&self.judge].into_iter().chain(&self.panel).filter(|_| !self.no_judge).collect();
        if judges.len() > MAX_JUDGES {
            return Err(AppError::InvalidOption(format!(
                "{} judges; at most {MAX_JUDGES} are allowed",
                judges.len()
            )));
        }
        let single_seat =
            |name: &str, participant: &Participant| vec![new_seat(name, role, participant)];
        let uses_stance = entry.prompts.values().any(|text| text.contains("{{stance}}"));
        let side_seat =
            |name: &str, participant: &Participant, index: usize, default_stance: &str| {
                let stance = Some(spec.stances[index].as_str()).filter(|it| !it.trim().is_empty());
                let stance =
                    stance.or(uses_stance.then_some(default_stance)).unwrap_or_default().to_owned();
                let name = self.side_names[index].as_deref().unwrap_or(name);
                vec![Seat {
                    stance,
                    style: spec.styles[index].clone(),
                    ..new_seat(name, role, participant)
                }]
            };
        Ok(match role {
            Role::Pro => {
                side_seat("proposer", &self.proposer, 0, "for the motion: argue that it holds")
            }
            Role::Con => side_seat(
                "challenger",
                &self.challenger,
                1,
                "against the motion: argue that it does not",
            ),
            Role::Lead => {
                let stance = spec.stances[0].clone();
                vec![Seat { stance, ..new_seat("lead", role, &self.proposer) }]
            }
            Role::Partner => {
                let partners = [&self.challenger].into_iter().chain(&self.partners);
                numbered_seats("partner", role, partners)
            }
            Role::Advocate => self.advocate_seats(&spec.topic)?,
            Role::Audience => self.audience_seats(entry)?,
            Role::Judge => numbered_seats("judge", role, judges.into_iter()),
            Role::Mirror => {
                let models = judges
                    .into_iter()
                    .enumerate()
                    .filter(|(_, participant)| !participant.is_awaited());
                models
                    .map(|(index, participant)| {
                        new_seat(&numbered_name("mirror", index), role, participant)
                    })
                    .collect()
            }
            Role::Auditor if spec.audited => single_seat("auditor", &self.judge),
            Role::Scribe if self.judge != Participant::Human => single_seat("scribe", &self.judge),
            Role::Auditor | Role::Scribe => vec![],
        })
    }

    fn advocate_seats(&self, topic: &str) -> Result<Vec<Seat>, AppError> {
        let defaults = default_roles(topic, None);
        let participants = [&self.proposer, &self.challenger];
        let defaults: Vec<ResearchRole> = defaults
            .into_iter()
            .zip(participants)
            .map(|((name, stance), participant)| ResearchRole {
                name,
                stance,
                participant: participant.clone(),
            })
            .collect();
        let roles = if self.roles.is_empty() { &defaults[..] } else { &self.roles };
        if !ROLE_COUNT.contains(&roles.len()) {
            let count = roles.len();
            return Err(AppError::InvalidOption(format!(
                "{count} roles; there must be two to four"
            )));
        }
        let name = |index: usize| roles[index].name.trim().to_lowercase();
        if let Some(index) =
            (1..roles.len()).find(|index| (0..*index).any(|it| name(it) == name(*index)))
        {
            let duplicate = roles[index].name.trim();
            return Err(AppError::InvalidOption(format!("two roles are called `{duplicate}`")));
        }
        let to_seat = |stance: &ResearchRole| {
            let seat = new_seat(stance.name.trim(), Role::Advocate, &stance.participant);
            Seat { stance: stance.stance.clone(), ..seat }
        };
        Ok(roles.iter().map(to_seat).collect())
    }

    fn audience_seats(&self, entry: &CatalogEntry) -> Result<Vec<Seat>, AppError> {
        if self.audience.len() > MAX_LISTENERS {
            let count = self.audience.len();
            return Err(AppError::InvalidOption(format!(
                "{count} listeners; at most {MAX_LISTENERS} are allowed"
            )));
        }
        let mut seats: Vec<Seat> = vec![];
        for listener in &self.audience {
            let kind = listener.kind.as_str();
            let preference = entry.prompts.get(&format!("audience.{kind}")).ok_or_else(|| {
                let known = entry.audience_types().collect::<Vec<_>>().join(", ");
                AppError::InvalidOption(format!(
                    "there are no listeners of type `{kind}`; known: {known}"
                ))
            })?;
            let same_kind = seats.iter().filter(|seat| seat.kind == kind).count();
            seats.push(Seat {
                stance: preference.trim().to_owned(),
                kind: kind.into(),
                weight: listener.weight,
                ..new_seat(&numbered_name(kind, same_kind), Role::Audience, &listener.participant)
            });
        }
        Ok(seats)
    }
}

/// Default roles for a topic, in its language.
pub fn default_roles(topic: &str, sides: Option<(String, String)>) -> [(String, String); 2] {
    let chinese = language::detect(topic) == Language::Chinese;
    let (names, stances) = match (sides, chinese) {
        (Some((one, other)), true) => (
            ["支持方", "反对方"],
            [format!("主张{one}，而不是{other}"), format!("主张{other}，而不是{one}")],
        ),
        (None, true) => (["支持方", "反对方"], ["支持该论点".into(), "反对该论点".into()]),
        (Some((one, other)), false) => (
            ["Proponent", "Opponent"],
            [format!("argue for {one} over {other}"), format!("argue for {other} over {one}")],
        ),
        (None, false) => {
            (["Proponent", "Opponent"], ["argue for it".into(), "argue against it".into()])
        }
    };
    let [first, second] = stances;
    [(names[0].into(), first), (names[1].into(), second)]
}

fn numbered_seats<'a>(
    name: &str,
    role: Role,
    participants: impl Iterator<Item = &'a Participant>,
) -> Vec<Seat> {
    participants
        .enumerate()
        .map(|(index, participant)| new_seat(&numbered_name(name, index), role, participant))
        .collect()
}

/// The first has no number.
fn numbered_name(name: &str, index: usize) -> String {
    if index == 0 { name.into() } else { format!("{name}-{}", index + 1) }
}

fn new_seat(name: &str, role: Role, participant: &Participant) -> Seat {
    Seat {
        name: name.into(),
        role,
        voice: participant.clone(),
        weight: 1,
        stance: String::new(),
        style: String::new(),
        kind: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::cast::Listener;
    use crate::debate::formats::built_in_offers;
    use crate::engine::format_catalog::FormatSource;
    use std::collections::BTreeMap;

    fn model(tool: &str) -> Participant {
        Participant::Model { tool: tool.into(), model: None }
    }

    fn cast() -> Cast {
        Cast::new(model("one"), model("two"), model("three"))
    }

    /// Number of seats with this role. `None` if the cast is refused.
    fn seat_count(cast: &Cast, format: &str, role: Role) -> Option<usize> {
        let offer = built_in_offers().into_iter().find(|offer| offer.format.name == format)?;
        let prompts = BTreeMap::from([("audience.risk-averse".into(), "You fear risks.".into())]);
        let entry = CatalogEntry { offer, prompts, source: FormatSource::Builtin };
        let seats = cast.build_seats(&DebateSpec::duel("Well?"), &entry).ok()?;
        Some(seats.iter().filter(|seat| seat.role == role).count())
    }

    #[test]
    fn research_has_two_to_four_stances() {
        assert_eq!(ROLE_COUNT, 2..=4);
        for count in 1..=5 {
            let role = |index: usize| ResearchRole {
                name: format!("Role {index}"),
                stance: "so".into(),
                participant: model("one"),
            };
            let cast = Cast { roles: (0..count).map(role).collect(), ..cast() };
            let expected = ROLE_COUNT.contains(&count).then_some(count);
            assert_eq!(seat_count(&cast, "research", Role::Advocate), expected);
        }
    }

    #[test]
    fn at_most_nine_judges_are_seated() {
        assert_eq!(MAX_JUDGES, 9);
        let with_judges = |count: usize| Cast { panel: vec![model("three"); count - 1], ..cast() };
        for (count, expected) in [(MAX_JUDGES, Some(MAX_JUDGES)), (MAX_JUDGES + 1, None)] {
            assert_eq!(seat_count(&with_judges(count), "duel", Role::Judge), expected);
        }
    }

    #[test]
    fn at_most_40_listeners_are_seated() {
        assert_eq!(MAX_LISTENERS, 40);
        let (kind, participant) = ("risk-averse".to_owned(), model("four"));
        let listener = Listener { kind, participant, weight: 1 };
        for (count, expected) in [(MAX_LISTENERS, Some(MAX_LISTENERS)), (MAX_LISTENERS + 1, None)] {
            let cast = Cast { audience: vec![listener.clone(); count], ..cast() };
            assert_eq!(seat_count(&cast, "tribunal", Role::Audience), expected);
        }
    }
}
