//! Randomized testing: a seeded run applies valid events of users, models and failures in any order
//! and checks the invariants after each one.
use super::debate_fixture::{Rng, cost_budget, due_cues, model_participant};
use super::simulated_players::{
    amended_event, ask_due_cues, ask_lost_cues, failed_event, next_event, random_reply_event,
    render_prompt, valid_reply,
};
use debate_mcp::debate::{
    Amendment, Cue, Debate, Envelope, Event, FailureKind, HoldPoint, Participant, Reply, Role,
    Seat, Setup, SpeakingOrder, Step, TranscriptItem, TurnFailure, next,
};
use std::collections::BTreeMap;

pub(crate) struct ChaosRun {
    seed: u64,
    rng: Rng,
    pub(crate) log: Vec<Event>,
    /// First prompt of each turn, by take and cue. It must never change.
    pub(crate) first_prompts: BTreeMap<(u16, Cue), String>,
    topic: String,
    /// Number of cues still to be asked when a remark or topic change came in mid-wave.
    pub(crate) mid_wave_cues: usize,
}

impl ChaosRun {
    pub(crate) fn play(setup: &Setup, seed: u64) -> (Debate, ChaosRun) {
        let (log, first_prompts, topic) = (vec![], BTreeMap::new(), setup.topic.clone());
        let mut chaos =
            ChaosRun { seed, rng: Rng(seed), log, first_prompts, topic, mid_wave_cues: 0 };
        let mut debate = Debate::open(setup.clone()).unwrap();
        let mut recovered = debate.clone();
        while let Some(event) = chaos.choose_event(&debate) {
            let before = debate.clone();
            debate.apply(event.clone()).unwrap();
            assert!(debate.take_number() - before.take_number() <= 1);
            chaos.check_changes_reach_later_prompts(&debate, &event);
            chaos.check_prompts_unchanged(&debate, &event);
            // Crash recovery: the event, serialized and parsed again, rebuilds the same state.
            let serialized = serde_json::to_string(&event).unwrap();
            recovered.apply(serde_json::from_str(&serialized).unwrap()).unwrap();
            assert_eq!(recovered, debate, "after {event:?}");
            check_late_events_rejected(&debate, &event);
            chaos.log.push(event);
            assert!(chaos.log.len() < 3000, "the debate did not end");
            if matches!(next(&debate), Step::Done | Step::Hold { .. }) {
                let from = debate.reopen_cue().map(|from| Event::Reopened { from });
                assert!(from.is_none_or(|event| debate.validate(&event).is_ok()));
            }
        }
        check_cannot_reopen(&debate);
        (debate, chaos)
    }

    /// Stores every prompt when it is sent, and compares it as long as its reply is awaited.
    fn check_prompts_unchanged(&mut self, debate: &Debate, event: &Event) {
        for cue in due_cues(debate) {
            assert!(debate.turn(cue).is_none(), "a cue was asked for twice");
            if debate.was_asked(cue) {
                let text = render_prompt(debate, cue);
                let first_prompt = self
                    .first_prompts
                    .entry((debate.take_number(), cue))
                    .or_insert_with(|| text.clone());
                let expected = prompt_after_rejection(debate, cue, first_prompt);
                assert_eq!(text, expected, "a prompt changed: {cue} after {event:?}");
            }
        }
    }

    /// Checks that remarks and changes reach every prompt sent later and none sent before, also if
    /// only part of a wave is asked again.
    fn check_changes_reach_later_prompts(&mut self, debate: &Debate, event: &Event) {
        if let Event::Amended { change: Amendment::Topic { topic }, .. } = event {
            self.topic.clone_from(topic);
        }
        let changes_prompts = matches!(
            event,
            Event::Interjected { .. } | Event::Amended { change: Amendment::Topic { .. }, .. }
        );
        let open_cues = due_cues(debate);
        for cue in open_cues.iter().copied().chain(next(debate).first_cue()) {
            let visible_items = debate.visible_to(cue);
            if debate.was_asked(cue) {
                let text = if let Event::Interjected { text } = event { text } else { "" };
                assert!(
                    !visible_items.contains(&TranscriptItem::Remark(text)),
                    "{cue} and {text:?}"
                );
                continue;
            }
            let mut remarks = debate.remarks().iter();
            assert!(
                remarks.all(|remark| visible_items.contains(&TranscriptItem::Remark(&remark.text))),
                "{cue}"
            );
            assert_eq!(debate.topic_at(cue), self.topic, "{cue}");
            assert_eq!(debate.rounds_at(cue), debate.rounds(), "{cue}");
            assert_eq!(debate.seats_at(cue), debate.seats(), "{cue}");
            let wave = debate.turns_in(Cue { seat: 0, ..cue }..Cue { seat: u8::MAX, ..cue });
            let at_once = debate.setup().phase(cue).order == SpeakingOrder::AtOnce;
            self.mid_wave_cues += usize::from(changes_prompts && at_once && wave.count() > 0);
        }
    }

    fn choose_event(&mut self, debate: &Debate) -> Option<Event> {
        let seed = self.seed + u64::from(debate.take_number()); // A retried model may do better.
        let random_event = match self.rng.below(80) {
            0..5 => Some(Event::Interjected { text: format!("remark {}", self.log.len()) }),
            5 => Some(Event::Concluded { because: None }),
            6 if self.rng.one_in(4) => Some(Event::Cancelled { because: None }),
            7 => Some(amended_event(Amendment::Limit {
                budget: cost_budget(debate.spent().cost + 5),
            })),
            8..12 => self.random_reopening(debate),
            // A crash that does not even name the tool.
            27 => due_cues(debate).first().map(|cue| {
                let failure = TurnFailure::new(FailureKind::Crashed, "gone");
                Event::Failed { cue: *cue, failure }
            }),
            28..40 if self.log.len() < 2 => Some(self.random_seat_change(debate)),
            12 => due_cues(debate).first().map(|cue| {
                let later = Cue { phase: cue.phase + 1, ..*cue };
                failed_event(debate, later, FailureKind::NotFound)
            }),
            13 => Some(Event::Held),
            14 => Some(Event::Decided { text: format!("decision {}", self.log.len()) }),
            15 => Some(Event::Kept { keep: self.rng.one_in(2) }),
            16..20 => Some(self.random_amendment(debate)),
            20..23 => ask_lost_cues(debate),
            // A second reply, a reply before its prompt, or a rejection of an awaited seat.
            23..26 => due_cues(debate).first().map(|cue| random_reply_event(seed, debate, *cue)),
            26 => ask_due_cues(debate),
            _ => None,
        };
        match random_event {
            Some(event) if debate.validate(&event).is_ok() => Some(event),
            _ if next(debate) == Step::Done && debate.take_number() < 3 => {
                self.random_reopening(debate).or_else(|| next_event(debate, seed, &mut self.rng))
            }
            _ => next_event(debate, seed, &mut self.rng),
        }
    }

    fn random_amendment(&mut self, debate: &Debate) -> Event {
        let seat = self.rng.below(debate.seats().len());
        amended_event(match self.rng.below(5) {
            0 => Amendment::Topic { topic: format!("And topic {}?", self.log.len()) },
            1 => {
                let (rounds, seats) = (Some(1 + self.rng.below(8) as u8), None);
                Amendment::Plan { rounds, seats, holds: None }
            }
            2 => {
                let holds = [HoldPoint::Start, HoldPoint::Rounds];
                let holds = Some(holds.into_iter().filter(|_| self.rng.one_in(2)).collect());
                Amendment::Plan { rounds: None, seats: None, holds }
            }
            3 => return self.random_seat_change(debate),
            _ => {
                // Includes tools that speakers mention in their text.
                let opus = Participant::Model { tool: "relay".into(), model: Some("opus".into()) };
                let tools = ["claude", "codex", "gemini"].map(model_participant);
                let voices =
                    [&tools[..], &[opus, Participant::Host, Participant::Human, Participant::Bot]]
                        .concat();
                Amendment::Seat { seat: seat as u8, voice: self.rng.pick(&voices) }
            }
        })
    }

    /// Removes some seats and inserts others, which shifts the seat index of the rest.
    fn random_seat_change(&mut self, debate: &Debate) -> Event {
        let mut seats = debate.seats().to_vec();
        seats.retain(|seat| seat.role.side().is_some() || !self.rng.one_in(6));
        for (name, role) in [("Oda", Role::Audience), ("Pia", Role::Auditor), ("Quin", Role::Pro)] {
            if self.rng.one_in(3) {
                let index = self.rng.below(seats.len() + 1);
                let voice = model_participant(self.rng.pick(&["claude", "gemini"]));
                let name = format!("{name}{}", self.log.len());
                let (stance, style) = (String::new(), "Briefly.".into());
                seats.insert(
                    index,
                    Seat { name, role, voice, weight: 2, stance, style, kind: String::new() },
                );
            }
        }
        amended_event(Amendment::Plan { rounds: None, seats: Some(seats), holds: None })
    }

    /// Reopens at a failed turn, or where the debate stopped, if that is valid.
    fn random_reopening(&mut self, debate: &Debate) -> Option<Event> {
        if debate.take_number() >= 3 {
            return None;
        }
        let from = debate.failed_turns().map(|(cue, _)| cue).chain(debate.reopen_cue());
        let mut reopenings = from.map(|from| Event::Reopened { from });
        reopenings.find(|event| debate.validate(event).is_ok() && self.rng.one_in(2))
    }
}

/// Checks that a finished turn takes no further reply or failure.
fn check_late_events_rejected(debate: &Debate, event: &Event) {
    let (Event::Spoke { cue, .. } | Event::Failed { cue, .. }) = event else { return };
    let body = valid_reply(debate, *cue);
    let (findings, citations) = (vec![], vec![]);
    let reply = Reply { body, findings, citations, envelope: Envelope::default() };
    for late in
        [Event::Spoke { cue: *cue, reply }, failed_event(debate, *cue, FailureKind::TimedOut)]
    {
        assert!(debate.validate(&late).is_err(), "{late:?} after {event:?}");
    }
}

/// The prompt as it must read after its first reply was rejected, if it was.
pub(crate) fn prompt_after_rejection(debate: &Debate, cue: Cue, first_prompt: &str) -> String {
    let Some(attempt) = debate.rejected_reply(cue) else { return first_prompt.into() };
    let rejection = format!("That was not taken: {}", attempt.why);
    format!("{first_prompt}\n\n{}", rejection.trim())
}

/// Checks that a debate without a reopening point cannot be reopened at any cue.
fn check_cannot_reopen(debate: &Debate) {
    if debate.reopen_cue().is_some() {
        return;
    }
    for (act, phases) in (0..).zip(debate.setup().format.acts.iter().map(|act| &act.phases)) {
        for (round, phase) in
            (0..=10).flat_map(|round| (0..phases.len() as u8).map(move |phase| (round, phase)))
        {
            for seat in 0..debate.seats().len() as u8 {
                let from = Cue { act, round, phase, seat };
                assert!(debate.validate(&Event::Reopened { from }).is_err(), "{from}");
            }
        }
    }
}
