//! Everything a user, a model and bad luck can do, in any order, checking as it goes.
use crate::players::{amended, answer, ask, ask_again, dutiful, failed, told};
use crate::scene::{Rng, due, model, money};
use debate_mcp::debate::{
    Change, Cue, Debate, Event, Hold, Line, Order, Role, Setup, Step, Trouble, Voice, next,
};
use std::collections::BTreeMap;

/// Names a prompt for good: the take, the cue, and whether a first reply to it was refused.
type Asked = (u16, Cue, bool);

pub(crate) struct Chaos {
    seed: u64,
    rng: Rng,
    pub(crate) log: Vec<Event>,
    /// What was sent, less the line that an amended plan may change.
    pub(crate) asked: BTreeMap<Asked, String>,
}

impl Chaos {
    pub(crate) fn play(setup: &Setup, seed: u64) -> (Debate, Chaos) {
        let mut chaos = Chaos { seed, rng: Rng(seed), log: vec![], asked: BTreeMap::new() };
        let mut debate = Debate::open(setup.clone()).unwrap();
        while let Some(event) = chaos.choose(&debate) {
            let before = debate.clone();
            debate.apply(event.clone()).unwrap();
            assert!(debate.take() - before.take() <= 1);
            heard_by_those_not_yet_asked(&before, &debate, &event);
            chaos.watch(&debate, &event);
            chaos.log.push(event);
            assert!(chaos.log.len() < 3000, "the debate did not end");
        }
        (debate, chaos)
    }

    /// Remembers every prompt when it is sent, and looks again as long as its answer is awaited.
    fn watch(&mut self, debate: &Debate, event: &Event) {
        for cue in due(debate) {
            assert!(debate.turn(cue).is_none(), "a cue was asked for twice");
            if debate.was_asked(cue) {
                let key = (debate.take(), cue, debate.refused(cue).is_some());
                let text = lasting(debate, cue);
                let before = self.asked.entry(key).or_insert_with(|| text.clone());
                assert_eq!(*before, text, "a prompt changed: {cue} after {event:?}");
            }
        }
    }

    fn choose(&mut self, debate: &Debate) -> Option<Event> {
        let seed = self.seed + u64::from(debate.take()); // A model asked again may do better.
        let meddling = match self.rng.below(80) {
            0..5 => Some(Event::Interjected { text: format!("remark {}", self.log.len()) }),
            5 => Some(Event::Concluded { because: None }),
            6 if self.rng.one_in(4) => Some(Event::Cancelled),
            7 => Some(amended(Change::Limit { budget: money(debate.spent().cost + 5) })),
            8..12 => self.reopening(debate),
            12 => due(debate).first().map(|cue| {
                let later = Cue { phase: cue.phase + 1, ..*cue };
                failed(debate, later, Trouble::NotFound)
            }),
            13 => Some(Event::Held),
            14 => Some(Event::Decided { text: format!("decision {}", self.log.len()) }),
            15 => Some(Event::Kept { keep: self.rng.one_in(2) }),
            16..20 => Some(self.amendment(debate)),
            20..23 => ask_again(debate),
            // Answered twice, before it was asked, or by a seat that is not refused but told.
            23..26 => due(debate).first().map(|cue| answer(seed, debate, *cue)),
            26 => ask(debate),
            _ => None,
        };
        match meddling {
            Some(event) if debate.check(&event).is_ok() => Some(event),
            _ if next(debate) == Step::Rest && debate.take() < 3 => {
                self.reopening(debate).or_else(|| dutiful(debate, seed, &mut self.rng))
            }
            _ => dutiful(debate, seed, &mut self.rng),
        }
    }

    fn amendment(&mut self, debate: &Debate) -> Event {
        let seat = self.rng.below(debate.seats().len());
        amended(match self.rng.below(5) {
            0 => Change::Topic { topic: format!("And topic {}?", self.log.len()) },
            1 => {
                let (rounds, seats) = (Some(1 + self.rng.below(8) as u8), None);
                Change::Plan { rounds, seats, holds: None }
            }
            2 => {
                let holds = [Hold::Start, Hold::Rounds];
                let holds = Some(holds.into_iter().filter(|_| self.rng.one_in(2)).collect());
                Change::Plan { rounds: None, seats: None, holds }
            }
            3 => {
                let mut seats = debate.seats().to_vec();
                seats.retain(|seat| seat.role != Role::Auditor);
                Change::Plan { rounds: None, seats: Some(seats), holds: None }
            }
            _ => {
                let relay = model(&format!("relay-{seat}"));
                let voices = [relay, Voice::Host, Voice::Human, Voice::Bot];
                Change::Seat { seat: seat as u8, voice: self.rng.pick(&voices) }
            }
        })
    }

    /// From some failed turn, or from wherever the debate was stopped, if that is possible.
    fn reopening(&mut self, debate: &Debate) -> Option<Event> {
        if debate.take() >= 3 {
            return None;
        }
        let mut from: Vec<Cue> = debate.missing().map(|(cue, _)| cue).collect();
        let acts = 0..debate.setup().format.acts.len() as u8;
        from.extend(acts.flat_map(|act| {
            let cues = (0..11u8).flat_map(move |round| (0..6u8).map(move |phase| (round, phase)));
            cues.map(move |(round, phase)| Cue { act, round, phase, seat: 0 })
        }));
        let mut legal = from.into_iter().map(|from| Event::Reopened { from });
        legal.find(|event| debate.check(event).is_ok() && self.rng.one_in(2))
    }
}

/// A prompt less the line that names the tools and the number of rounds: a seat that is handed over
/// is told its new name.
pub(crate) fn lasting(debate: &Debate, cue: Cue) -> String {
    let text = told(debate, cue);
    let lines = text.lines().filter(|line| !line.starts_with("plan: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A remark and a new topic reach every open cue that has not been asked, and none that has. A wave
/// of which some turns were kept when it was reopened is looked at in `course`, by itself.
fn heard_by_those_not_yet_asked(before: &Debate, after: &Debate, event: &Event) {
    let kept = |cue: Cue| before.within(Cue { seat: 0, ..cue }..Cue { seat: 200, ..cue }).count();
    let at_once = |cue: Cue| before.setup().phase(cue).order == Order::AtOnce;
    for cue in due(after) {
        let fresh = !before.was_asked(cue);
        if fresh && at_once(cue) && kept(cue) > 0 {
            continue;
        }
        match event {
            Event::Interjected { text } => {
                let heard = after.heard_by(cue).contains(&Line::Remark(text));
                assert_eq!(heard, fresh, "{cue} and {text:?}");
            }
            Event::Amended { change: Change::Topic { topic }, .. } => {
                assert_eq!(after.topic(cue) == topic, fresh, "{cue} and {topic:?}");
            }
            _ => {}
        }
    }
}
