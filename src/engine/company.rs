//! The seating plan: the three main seats from `pairing`, and the further roles, audience, judges
//! and partners of the format. Keeps the reason for every automatic choice.
use super::pairing::{Able, Seated, Taken};
use super::particulars::WantedCast;
use crate::debate::Participant;

/// Every seat of a debate with its participant.
#[derive(Clone, Debug)]
pub(super) struct Company {
    pub(super) seated: Seated,
    /// Name, stance and participant of each role.
    pub(super) roles: Vec<(String, String, Taken)>,
    /// Type, vote weight and participant of each audience member.
    pub(super) audience: Vec<(String, u16, Taken)>,
    /// Additional judges and partners, all named by the user.
    others: Vec<Taken>,
    /// Suggested replacement if the partner fails.
    fallback: Option<Participant>,
    partnered: bool,
}

impl WantedCast {
    /// Whether a role or audience member has no participant yet.
    pub(super) fn vacant(&self) -> bool {
        self.roles.iter().any(|role| role.2.is_none())
            || self.listeners.iter().any(|it| it.2.is_none())
    }
}

/// For a dialogue about files, sorts candidates that can read files first, because others cannot
/// question the content.
pub(super) fn fitting(mut able: Vec<Able>, about_files: bool) -> Vec<Able> {
    if about_files {
        able.sort_by_key(|it| !it.reads);
    }
    able
}

impl Company {
    /// Fills every open seat and adds default models. Also returns the participants that got a
    /// default model, which can be retried without one.
    pub(super) fn new(
        seated: Seated,
        cast: &WantedCast,
        able: &[Able],
        about_files: bool,
        usual: impl Fn(Taken) -> Taken,
    ) -> (Company, Vec<Participant>) {
        let mut assigned = vec![];
        let mut with = |taken: Taken| {
            let before = taken.voice.clone();
            let after = usual(taken);
            if after.voice != before {
                assigned.push(after.voice.clone());
            }
            after
        };
        let mut seated = Seated {
            proposer: with(seated.proposer),
            challenger: with(seated.challenger),
            judge: with(seated.judge),
        };
        let named = |voice: &Participant| Taken { voice: voice.clone(), why: None };
        let mut roles = vec![];
        for (nth, (name, stance, voice)) in cast.roles.iter().enumerate() {
            let taken = match (voice, nth) {
                (_, 0) => seated.proposer.clone(),
                (_, 1) => seated.challenger.clone(),
                (Some(voice), _) => with(named(voice)),
                // Round-robin, so that the roles use as many different models as possible.
                (None, nth) => with(in_turn(able, nth).unwrap_or(seated.proposer.clone())),
            };
            roles.push((name.clone(), stance.clone(), taken));
        }
        let mut audience = vec![];
        for (nth, (kind, weight, voice)) in cast.listeners.iter().enumerate() {
            let taken = match voice {
                Some(voice) => with(named(voice)),
                None => with(in_turn(able, nth).unwrap_or(seated.judge.clone())),
            };
            audience.push((kind.clone(), *weight, taken));
        }
        let others = cast.panel.iter().chain(&cast.partners).map(|voice| with(named(voice)));
        let others = others.collect();
        let mut fallback = None;
        if let (true, Some(why)) = (cast.partnered, &mut seated.challenger.why) {
            let (lead, partner) = (&seated.proposer.voice, &seated.challenger.voice);
            let own = able.iter().find(|it| it.voice.tool() == partner.tool());
            if own.is_some_and(|it| it.reads) && about_files {
                why.push_str(", and can read the files the topic is about");
            }
            let free =
                |it: &&Able| it.voice.tool() != partner.tool() && it.voice.tool() != lead.tool();
            fallback = able.iter().find(free).map(|it| it.voice.clone());
        }
        let partnered = cast.partnered;
        (Company { seated, roles, audience, others, fallback, partnered }, assigned)
    }

    /// Every seat assignment. A participant with several seats occurs several times.
    pub(super) fn everyone(&self) -> Vec<&Taken> {
        let Seated { proposer, challenger, judge } = &self.seated;
        // A dialogue has no judge.
        let three = [Some(proposer), Some(challenger), (!self.partnered).then_some(judge)];
        three
            .into_iter()
            .flatten()
            .chain(self.roles.iter().map(|role| &role.2))
            .chain(self.audience.iter().map(|listener| &listener.2))
            .chain(&self.others)
            .collect()
    }

    /// One line for each seat that was filled automatically, with the reason.
    pub(super) fn chosen(&self) -> Vec<String> {
        let line = |role: &str, taken: &Taken| {
            let why = taken.why.as_ref()?;
            Some(format!("{role} {} ({why})", taken.voice))
        };
        let Seated { proposer, challenger, judge } = &self.seated;
        let mut lines: Vec<Option<String>> = vec![];
        if self.partnered {
            lines.push(line("lead", proposer));
            lines.push(line("partner", challenger));
            let fallback = self
                .fallback
                .as_ref()
                .map(|voice| format!("if the partner fails, {voice} could take its place"));
            lines.push(fallback);
        } else if self.roles.is_empty() {
            lines.extend(self.seated.chosen().into_iter().map(Some));
        } else {
            lines.extend(self.roles.iter().map(|(name, _, taken)| line(name, taken)));
            lines.push(line("judge", judge));
        }
        lines.extend(self.audience.iter().map(|(kind, _, taken)| line(kind, taken)));
        lines.into_iter().flatten().collect()
    }
}

/// Picks the nth candidate, round-robin.
fn in_turn(able: &[Able], nth: usize) -> Option<Taken> {
    let voice = able.get(nth % able.len().max(1))?.voice.clone();
    Some(Taken { voice, why: Some("in turn, of those who can play here".into()) })
}
