//! Property tests for every format: crash recovery, random failures, replay, serialization, and
//! illegal events.
use crate::debate::round_marks::{help_calls, round_marks, turning_round};
use crate::debate::verdict::{judgment, rulings};
use crate::debate::{
    Amendment, Body, Cue, Debate, DebateOutcome, Envelope, Event, FailureKind, Position, Reply,
    ReplyKind, Role, Rule, RuleFinding, RuleWeight, Seat, Setup, Side, Speakers, Step, formats,
    next,
};
use crate::test_support::chaos::{ChaosRun, prompt_after_rejection};
use crate::test_support::debate_fixture::{
    Rng, apply_events, ask_open_turns, due_cues, outcome_name,
};
use crate::test_support::random_formats::random_format;
use crate::test_support::simulated_players::{
    ask_lost_cues, deadline, failed_event, next_event, random_setup, render_prompt, valid_reply,
};
use std::collections::BTreeMap;
use std::iter::repeat_n;

/// Plays to the end with a simulated user, in an order drawn from `rng`.
fn play_to_end(mut debate: Debate, seed: u64, rng: &mut Rng) -> (Debate, Vec<Event>) {
    let mut log = vec![];
    while let Some(event) = next_event(&debate, seed, rng) {
        log.push(event.clone());
        debate.apply(event).unwrap();
        assert!(log.len() < 1000, "the debate did not end");
    }
    (debate, log)
}

/// Random setups: each built-in format `per_format` times, then `generated` generated formats.
fn random_setups(per_format: usize, generated: u64) -> impl Iterator<Item = (u64, Setup)> {
    let built_in = formats::built_in_formats()
        .into_iter()
        .flat_map(move |format| repeat_n(format, per_format));
    let setups = (0..).zip(built_in.chain((0..generated).map(random_format)));
    let setups = setups.map(|(seed, format)| (seed, random_setup(format, seed)));
    setups.filter(|(_, setup)| Debate::open(setup.clone()).is_ok())
}

#[test]
fn resume_after_any_event_gives_the_same_debate() {
    for (seed, setup) in random_setups(10, 100) {
        let (uninterrupted, log) =
            play_to_end(Debate::open(setup.clone()).unwrap(), seed, &mut Rng(seed));
        let mut resumed = Debate::open(setup.clone()).unwrap();
        for crash in 0..=log.len() {
            let mut resumed_copy = resumed.clone();
            // Model turns in flight are lost with the process, so they are requested again.
            let before = resumed_copy.clone();
            apply_events(&mut resumed_copy, ask_lost_cues(&before));
            assert_eq!(resumed_copy, before, "requesting lost turns again changes nothing");
            let (finished, _) = play_to_end(resumed_copy, seed, &mut Rng(seed + 7));
            assert_eq!(finished, uninterrupted, "{} seed {seed} crash {crash}", setup.format.name);
            if let Some(event) = log.get(crash) {
                apply_events(&mut resumed, [event.clone()]);
            }
        }
        assert_eq!(Debate::replay(setup, log).unwrap(), uninterrupted);
    }
}

#[test]
fn random_debates_end_and_their_prompts_can_be_rebuilt() {
    let mut outcomes = BTreeMap::new();
    let mut event_counts = BTreeMap::new();
    let (mut played, mut mid_wave_cues, mut reseated, mut tribunal) =
        (0, 0, [0, 0], TribunalCounts::default());
    for (seed, setup) in random_setups(80, 400) {
        played += 1;
        let (debate, chaos) = ChaosRun::play(&setup, seed);
        *outcomes.entry((setup.format.name.clone(), outcome_name(&debate))).or_insert(0) += 1;
        for event in &chaos.log {
            *event_counts.entry(event_name(event)).or_insert(0) += 1;
        }
        mid_wave_cues += chaos.mid_wave_cues;
        if let Some(seats) = chaos.log.iter().find_map(planned_seats) {
            let known = |seats: &[Seat], seat: &Seat| seats.iter().any(|s| s.name == seat.name);
            reseated[0] += usize::from(seats.iter().any(|seat| !known(&setup.seats, seat)));
            reseated[1] += usize::from(setup.seats.iter().any(|seat| !known(seats, seat)));
        }
        assert_eq!(Debate::replay(setup.clone(), chaos.log.clone()).unwrap(), debate);
        assert_eq!(
            Debate::replay_lenient(setup.clone(), chaos.log.clone()).unwrap(),
            (debate.clone(), None)
        );
        assert_prompts_rebuild(&setup, &chaos);
        assert_one_retry_per_turn(&chaos.log);
        assert_one_speech_each(&debate);
        assert_nothing_lost(&debate, &chaos.log);
        assert_scores_consistent(&debate);
        tribunal.count(&debate);
        if formats::built_in_formats().contains(&setup.format) {
            assert_format_rules(&debate);
        }
    }
    assert!(played > 400, "only {played} setups were valid");
    for format in formats::built_in_formats() {
        let reached = outcomes.keys().filter(|(name, _)| *name == format.name);
        assert!(reached.count() >= 3, "too few outcomes: {outcomes:?}");
    }
    assert!(
        event_counts.len() == 14 && event_counts.values().all(|n| *n > 20),
        "rare events: {event_counts:?}"
    );
    assert!(tribunal.rare_count().is_none(), "rare tribunal events: {tribunal:?}");
    assert!(
        mid_wave_cues > 20 && reseated.iter().all(|n| *n > 20),
        "too rare: {mid_wave_cues} {reseated:?}"
    );
}

/// Counts of tribunal events, to check that the random debates cover them.
#[derive(Debug, Default)]
struct TribunalCounts {
    petitions: usize,
    declined: usize,
    help_calls: usize,
    help_granted: u32,
    admitted: usize,
    admitted_none: usize,
    panels: usize,
    contested: usize,
}

impl TribunalCounts {
    fn count(&mut self, debate: &Debate) {
        if debate.setup().format.name != "tribunal" {
            return;
        }
        for (cue, body) in debate.replies_in(..) {
            self.petitions += usize::from(body.kind() == ReplyKind::Petition);
            self.declined += usize::from(body.is_declined_petition());
            self.help_calls += usize::from(body.help_request().is_some());
            if let Body::Ruling { admits, .. } = body {
                self.admitted += usize::from(admits.is_some());
                self.admitted_none += usize::from(admits.is_none());
            }
            let judges = debate.seats().iter().filter(|seat| seat.role == Role::Judge).count();
            self.panels +=
                usize::from(judges > 1 && body.kind() == ReplyKind::Score && cue.round == 1);
        }
        for side in [Side::Pro, Side::Con] {
            self.help_granted += help_calls(debate, Cue::END.position(), side).0.granted;
        }
        self.contested += usize::from(judgment(debate).is_some_and(|it| it.is_contested()));
    }

    /// A count that is too low, if any.
    fn rare_count(&self) -> Option<usize> {
        let TribunalCounts {
            petitions, declined, help_calls: calls, help_granted: granted, ..
        } = self;
        let TribunalCounts { admitted, admitted_none: admitted_nobody, panels, contested, .. } =
            self;
        let counts = [petitions, declined, calls, admitted, admitted_nobody, panels, contested];
        counts.into_iter().copied().chain([*granted as usize]).find(|count| *count < 3)
    }
}

/// Asserts that no turn since the last reopening and no remark of the user is lost.
fn assert_nothing_lost(debate: &Debate, log: &[Event]) {
    assert!(debate.outcome().is_some() && next(debate) == Step::Done);
    let last_reopening = log.iter().rposition(|event| matches!(event, Event::Reopened { .. }));
    for event in &log[last_reopening.map_or(0, |at| at + 1)..] {
        match event {
            Event::Spoke { cue, reply } => {
                assert_eq!(debate.turn(*cue).unwrap().as_ref(), Ok(reply));
            }
            Event::Failed { cue, failure } => assert_eq!(debate.failure(*cue), Some(failure)),
            _ => {}
        }
    }
    let remark_count =
        log.iter().filter(|event| matches!(event, Event::Interjected { .. })).count();
    assert_eq!(debate.remarks().len(), remark_count);
}

/// Asserts that scores are within their bounds and add up, and that there is a judgment exactly if
/// there is a ruling, a vote or a forfeit.
fn assert_scores_consistent(debate: &Debate) {
    let marks = round_marks(debate);
    for round in &marks {
        for mark in [round.pro, round.con] {
            assert!(mark.given <= 1000 && mark.reliance <= 100, "{mark:?}");
            assert_eq!(mark.counts, mark.given.saturating_sub(mark.fouls + mark.reliance));
        }
    }
    for side in [Side::Pro, Side::Con] {
        let turning = turning_round(debate, side);
        assert_eq!(turning.is_none(), marks.is_empty());
        assert!(turning.is_none_or(|round| marks.iter().any(|mark| mark.round == round)));
    }
    let has_ruling = rulings(debate).next().is_some();
    let has_vote = debate.replies_in(..).any(|(_, body)| body.kind() == ReplyKind::Vote);
    let forfeited = matches!(debate.outcome(), Some(DebateOutcome::Forfeited { .. }));
    let judgment = judgment(debate);
    assert_eq!(judgment.is_some(), forfeited || has_ruling || has_vote);
    let Some(weighted) = judgment.as_ref().and_then(|judgment| judgment.weighted_score) else {
        return;
    };
    let parts = [weighted.rounds, weighted.rulings, weighted.judge, weighted.audience];
    let parts = parts.into_iter().flatten().chain([weighted.total]);
    assert!({ parts }.all(|part| part <= 10_000), "{weighted:?}");
}

/// The seats that a plan change sets.
pub(crate) fn planned_seats(event: &Event) -> Option<&Vec<Seat>> {
    match event {
        Event::Amended { change: Amendment::Plan { seats, .. }, .. } => seats.as_ref(),
        _ => None,
    }
}

fn event_name(event: &Event) -> String {
    serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned()
}

/// Asserts that the log up to the end of each take reproduces every prompt of that take.
fn assert_prompts_rebuild(setup: &Setup, chaos: &ChaosRun) {
    let take_ends = chaos.log.iter().enumerate();
    let take_ends = take_ends.filter(|(_, event)| matches!(event, Event::Reopened { .. }));
    let take_ends: Vec<usize> =
        take_ends.map(|(index, _)| index).chain([chaos.log.len()]).collect();
    for (take, end) in take_ends.into_iter().enumerate() {
        let replayed = Debate::replay(setup.clone(), chaos.log[..end].to_vec()).unwrap();
        let prompts = chaos.first_prompts.iter().filter(|((t, _), _)| usize::from(*t) == take);
        for ((_, cue), first) in prompts {
            assert_eq!(
                render_prompt(&replayed, *cue),
                prompt_after_rejection(&replayed, *cue, first)
            );
        }
    }
}

/// Asserts that a reply is refused at most once per turn, participant and take.
fn assert_one_retry_per_turn(log: &[Event]) {
    let mut refused_cues = vec![];
    for event in log {
        match event {
            Event::Refused { cue, .. } => {
                assert!(!refused_cues.contains(cue), "{cue} was refused twice");
                refused_cues.push(*cue);
            }
            Event::Amended { change: Amendment::Seat { seat, .. }, .. } => {
                refused_cues.retain(|cue: &Cue| cue.seat != *seat);
            }
            Event::Reopened { .. } => refused_cues.clear(),
            _ => {}
        }
    }
}

fn assert_one_speech_each(debate: &Debate) {
    for (cue, _) in debate.turns() {
        let speeches = debate.replies_before(cue).filter(|(past, _)| past.seat == cue.seat);
        let speeches = speeches.filter(|(_, body)| body.kind() == ReplyKind::Speech).count();
        match debate.setup().phase(cue).speakers {
            Speakers::Seated(_) | Speakers::Prompted(..) => {}
            _ => assert_eq!(speeches, 0, "one speech each"),
        }
    }
}

/// Asserts what no built-in format allows: a second speech of a listener, a verdict without a side,
/// or two admissions in a round.
fn assert_format_rules(debate: &Debate) {
    let setup = debate.setup();
    let mut admissions: BTreeMap<Position, usize> = BTreeMap::new();
    for (nth, seat) in debate.seats().iter().enumerate() {
        let speeches = debate
            .replies_in(..)
            .filter(|(cue, body)| usize::from(cue.seat) == nth && body.kind() == ReplyKind::Speech);
        let count = speeches.count();
        assert!(seat.role != Role::Audience || count <= 1, "the audience has one speech each");
    }
    for (cue, body) in debate.replies_in(..) {
        assert_eq!(body.kind(), setup.phase(cue).reply);
        if let Body::Verdict(ruling) = body {
            assert!(ruling.side.is_some(), "a verdict without a side");
        }
        if setup.phase(cue).name == "address" {
            *admissions.entry(cue.position()).or_default() += 1;
        }
    }
    assert!(admissions.values().all(|admitted| *admitted == 1), "one admission per round");
    let is_completed = matches!(debate.outcome(), Some(DebateOutcome::Completed));
    assert!(!is_completed || debate.turns().any(|(cue, _)| cue.act == setup.ending_act()));
}

#[test]
fn events_and_setup_round_trip_through_json() {
    for (seed, format) in
        (3..).zip(formats::built_in_formats().into_iter().chain(formats::built_in_formats()))
    {
        let setup = random_setup(format, seed);
        let (debate, chaos) = ChaosRun::play(&setup, seed);
        let lines: Vec<String> =
            chaos.log.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let events = lines.iter().map(|line| serde_json::from_str::<Event>(line).unwrap());
        let setup = serde_json::from_str(&serde_json::to_string(&setup).unwrap()).unwrap();
        assert_eq!(Debate::replay(setup, events).unwrap(), debate);
    }
}

#[test]
fn deadlines_survive_a_replay() {
    let mut awaited_turns = 0;
    for (seed, setup) in random_setups(10, 40) {
        let (_, log) = play_to_end(Debate::open(setup.clone()).unwrap(), seed, &mut Rng(seed));
        let mut debate = Debate::open(setup).unwrap();
        for event in log {
            apply_events(&mut debate, [event]);
            let due: Vec<Cue> = due_cues(&debate);
            for cue in due.into_iter().filter(|cue| debate.was_asked(*cue)) {
                awaited_turns += usize::from(debate.seat(cue).voice.is_awaited());
                assert_eq!(debate.deadline(cue), Some(deadline(&debate, cue)));
            }
        }
    }
    assert!(awaited_turns > 100);
}

#[test]
fn illegal_events_are_rejected() {
    for format in formats::built_in_formats() {
        let mut setup = random_setup(format, 1);
        setup.holds.clear();
        let mut debate = Debate::open(setup).unwrap();
        let first = due_cues(&debate)[0];
        ask_open_turns(&mut debate);
        let reply = |body| Reply {
            body,
            findings: vec![],
            citations: vec![],
            envelope: Envelope::default(),
        };
        let vote = Body::Vote { side: Side::Pro, confidence: 1, because: String::new() };
        let finding =
            RuleFinding { rule: Rule::NoHelp, weight: RuleWeight::Reask, says: String::new() };
        let findings = vec![finding];
        let later = Cue { act: first.act + 1, ..first };
        let nowhere = Cue { act: 99, round: 99, phase: 99, seat: 99 };
        let failed = |cue| Event::Failed {
            cue,
            failure: crate::debate::TurnFailure::new(FailureKind::TimedOut, "late"),
        };
        for illegal in [
            Event::Spoke { cue: later, reply: reply(valid_reply(&debate, first)) },
            Event::Spoke { cue: first, reply: reply(vote) },
            Event::Spoke {
                cue: first,
                reply: Reply { findings, ..reply(valid_reply(&debate, first)) },
            },
            Event::Continued { before: later.position() },
            Event::Concluded { because: None }, // Nothing has been said yet.
            Event::Closed { outcome: DebateOutcome::Completed },
            Event::Kept { keep: true },
            Event::Decided { text: " ".into() },
            Event::Interjected { text: "\n".into() },
            Event::Reopened { from: first },
            Event::Reopened { from: nowhere },
            Event::Asked { cues: vec![nowhere], deadline: None, prompts: vec![] },
            failed(nowhere),
            failed(later),
        ] {
            assert!(debate.validate(&illegal).is_err(), "{illegal:?}");
        }
        assert!(debate.validate(&failed_event(&debate, first, FailureKind::TimedOut)).is_ok());
    }
}
