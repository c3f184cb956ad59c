//! Everyone who is to be seated: the three that are paired, and whoever else a format has. Whom nobody
//! named is chosen, and why is kept.
use super::pairing::{Able, Seated, Taken};
use super::particulars::WantedCast;
use crate::debate::Voice;

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Company {
    pub(super) seated: Seated,
    /// Name and stance.
    pub(super) roles: Vec<(String, String, Taken)>,
    /// Type, and what the vote counts.
    pub(super) audience: Vec<(String, u16, Taken)>,
    /// Who rules or questions besides, all of them named.
    others: Vec<Taken>,
    /// Who could take the place of a partner that fails.
    fallback: Option<Voice>,
    partnered: bool,
}

impl WantedCast {
    /// Whether somebody has to be found.
    pub(super) fn vacant(&self) -> bool {
        self.roles.iter().any(|role| role.2.is_none())
            || self.listeners.iter().any(|it| it.2.is_none())
    }
}

/// For a conversation about files, those who can read them first: nobody else can question what it
/// is about.
pub(super) fn fitting(mut able: Vec<Able>, about_files: bool) -> Vec<Able> {
    if about_files {
        able.sort_by_key(|it| !it.reads);
    }
    able
}

impl Company {
    /// Fills every seat nobody was named for, each with the model it usually has, and says who got
    /// one that way.
    pub(super) fn new(
        seated: Seated,
        cast: &WantedCast,
        able: &[Able],
        about_files: bool,
        usual: impl Fn(Taken) -> Taken,
    ) -> (Company, Vec<Voice>) {
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
        let named = |voice: &Voice| Taken { voice: voice.clone(), why: None };
        let mut roles = vec![];
        for (nth, (name, stance, voice)) in cast.roles.iter().enumerate() {
            let taken = match (voice, nth) {
                (_, 0) => seated.proposer.clone(),
                (_, 1) => seated.challenger.clone(),
                (Some(voice), _) => with(named(voice)),
                // One after another, so that stances are argued by as many models as there are.
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

    /// Everyone, each as often as they sit somewhere.
    pub(super) fn everyone(&self) -> Vec<&Taken> {
        let Seated { proposer, challenger, judge } = &self.seated;
        // Nobody rules where two talk.
        let three = [Some(proposer), Some(challenger), (!self.partnered).then_some(judge)];
        three
            .into_iter()
            .flatten()
            .chain(self.roles.iter().map(|role| &role.2))
            .chain(self.audience.iter().map(|listener| &listener.2))
            .chain(&self.others)
            .collect()
    }

    /// Whom nobody named, and why they were chosen, a line each.
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

/// Those who can play, one after another.
fn in_turn(able: &[Able], nth: usize) -> Option<Taken> {
    let voice = able.get(nth % able.len().max(1))?.voice.clone();
    Some(Taken { voice, why: Some("in turn, of those who can play here".into()) })
}
