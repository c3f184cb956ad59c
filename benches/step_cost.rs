//! Benchmark: cost of writing one event as the log grows, without the disk. A write is what the
//! session does for every event: draft a copy of the state, validate and apply the event, compute
//! the next step. Prints microseconds per event at 10, 100 and 1,000 recorded turns, and the ratio
//! of 1,000 to 10: for a turn that is asked, for a speech within a round, and for the last speech
//! of a round, after which a debate that stops when settled reads its whole ledger.
//!
//! `cargo bench --bench step_cost`
#![allow(clippy::unwrap_used, clippy::print_stdout)]
use debate_mcp::debate::setup::{GRAMMAR_VERSION, WORDING_VERSION};
use debate_mcp::debate::{
    Act, Body, Claim, Cue, Debate, DebateLimits, Envelope, Event, Format, Origin, Participant,
    Phase, Quorum, Reply, ReplyKind, Role, Rounds, Seat, Setup, Shortfall, Speakers, SpeakingOrder,
    TranscriptScope, next,
};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

/// Speakers per round. A debate has 100 rounds at most, so this allows 1,200 turns.
const SPEAKERS: u8 = 12;
const TURN_COUNTS: [usize; 3] = [10, 100, 1_000];
/// Writes per measurement, and measurements of which the median is taken.
const WRITES: u32 = 50;
const SAMPLES: usize = 9;

fn main() {
    for stop_when_settled in [false, true] {
        let check = if stop_when_settled { "stops when settled" } else { "plays every round" };
        println!("a debate that {check}, µs per event:");
        let mut debate = Debate::open(setup(stop_when_settled)).unwrap();
        let mut rows = vec![];
        for turns in TURN_COUNTS {
            play(&mut debate, |debate| debate.turns().count() >= turns);
            let asked = time_write(&debate, &asked_event(&debate));
            let spoke = time_speech(&debate);
            let mut round_end = debate.clone();
            play(&mut round_end, |debate| due_cue(debate).seat == SPEAKERS - 1);
            let row = [asked, spoke, time_speech(&round_end)];
            print_row(&format!("{turns} turns"), row);
            rows.push(row);
        }
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        print_row("1000 : 10", [0, 1, 2].map(|column| last[column] / first[column]));
    }
}

fn print_row(label: &str, [asked, spoke, round_end]: [f64; 3]) {
    println!("  {label:10}  asked {asked:9.2}   spoke {spoke:9.2}   ends round {round_end:9.2}");
}

/// Time of the speech that is due.
fn time_speech(debate: &Debate) -> f64 {
    let mut waiting = debate.clone();
    waiting.apply(asked_event(debate)).unwrap();
    time_write(&waiting, &spoke_event(&waiting))
}

/// Plays the debate until the predicate holds.
fn play(debate: &mut Debate, is_enough: impl Fn(&Debate) -> bool) {
    while !is_enough(debate) {
        debate.apply(asked_event(debate)).unwrap();
        debate.apply(spoke_event(debate)).unwrap();
    }
}

/// Median time in µs of drafting, applying and scheduling one event.
fn time_write(debate: &Debate, event: &Event) -> f64 {
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let started = Instant::now();
            for _ in 0..WRITES {
                let mut draft = black_box(debate).clone();
                draft.apply(event.clone()).unwrap();
                black_box(next(&draft));
            }
            started.elapsed().as_secs_f64() * 1e6 / f64::from(WRITES)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[SAMPLES / 2]
}

fn due_cue(debate: &Debate) -> Cue {
    next(debate).first_cue().unwrap()
}

fn asked_event(debate: &Debate) -> Event {
    Event::Asked { cues: vec![due_cue(debate)], deadline: None, prompts: vec![] }
}

/// A speech with a new claim, so that no round is settled.
fn spoke_event(debate: &Debate) -> Event {
    let cue = due_cue(debate);
    let claim = Claim {
        id: format!("c{}-{}", cue.round, cue.seat),
        text: format!("claim {} of seat {}", cue.round, cue.seat),
        evidence: vec![format!("src/lib.rs:{}", cue.round)],
        ..Claim::default()
    };
    let mut body = Body::from_claim(claim);
    if let Body::Speech { text, .. } = &mut body {
        *text = "Words of a speech. ".repeat(150);
    }
    let reply = Reply { body, findings: vec![], citations: vec![], envelope: Envelope::default() };
    Event::Spoke { cue, reply }
}

fn setup(stop_when_settled: bool) -> Setup {
    let phase = |name: &str, speakers, reply| Phase {
        name: name.into(),
        speakers: Speakers::Seated(speakers),
        order: SpeakingOrder::InTurn,
        hears: TranscriptScope::Speeches,
        reply,
        quorum: Quorum::All,
        short: Shortfall::Abort,
        rules: vec![],
        web: false,
    };
    let exchange = phase("speech", vec![Role::Pro, Role::Con, Role::Advocate], ReplyKind::Speech);
    let verdict = phase("verdict", vec![Role::Judge], ReplyKind::Verdict);
    let format = Format {
        name: "long".into(),
        acts: vec![
            Act { name: "exchange".into(), rounds: Rounds::Open, phases: vec![exchange] },
            Act { name: "verdict".into(), rounds: Rounds::Once, phases: vec![verdict] },
        ],
    };
    let seat = |name: String, role| Seat {
        name,
        role,
        voice: Participant::Model { tool: "script".into(), model: None },
        weight: 1,
        stance: String::new(),
        style: String::new(),
        kind: String::new(),
    };
    let speakers = (0..SPEAKERS).map(|index| match index {
        0 => seat("pro".into(), Role::Pro),
        1 => seat("con".into(), Role::Con),
        other => seat(format!("advocate {other}"), Role::Advocate),
    });
    Setup {
        grammar: GRAMMAR_VERSION,
        wording: WORDING_VERSION,
        id: "debate-0-0000".into(),
        opened_at: 0,
        topic: "Is it fast?".into(),
        brief: "A line of the brief.\n".repeat(2_000),
        pin: None,
        commit: None,
        touched: vec![],
        proposed: None,
        picked: vec![],
        unread: None,
        format,
        prompts: BTreeMap::new(),
        seats: speakers.chain([seat("judge".into(), Role::Judge)]).collect(),
        chosen: vec![],
        rounds: 100,
        effort: None,
        terms: BTreeMap::new(),
        judge_share: None,
        output: None,
        holds: vec![],
        stop_when_settled,
        limits: DebateLimits::default(),
        origin: Origin::default(),
        salt: String::new(),
    }
}
