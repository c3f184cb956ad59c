//! Fixtures for debates: setups, short notations for claims and speeches, and functions that play a
//! debate with valid replies. The replies come from `simulated_players`.
use super::simulated_players::{
    ask_due_cues, failed_event, fill_required_fields, reply_event, valid_reply,
};
use debate_mcp::debate::{
    Body, Budget, Citation, CitationStatus, Claim, Concession, Cue, Debate, DebateLimits,
    DebateOutcome, Envelope, Event, FailureKind, Format, Origin, Participant, Resolution, Role,
    Seat, Setup, Shortfall, Side, Step, next,
    setup::{GRAMMAR_VERSION, WORDING_VERSION},
    validate_reply,
};
use std::collections::BTreeMap;

/// Deterministic random number generator (LCG). A failing case is reproduced by its seed.
pub(crate) struct Rng(pub(crate) u64);
impl Rng {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
    /// A concatenation of fewer than `limit` random strings of the alphabet.
    pub(crate) fn random_text(&mut self, alphabet: &[&str], limit: usize) -> String {
        let length = self.below(limit);
        (0..length).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Seats for every role of every format. Seats a format does not use never speak.
pub(crate) const SEATS: &[(&str, Role)] = &[
    ("Ada", Role::Pro),
    ("Bob", Role::Con),
    ("Cyd", Role::Lead),
    ("Dee", Role::Partner),
    ("Eli", Role::Advocate),
    ("Fay", Role::Advocate),
    ("Gus", Role::Advocate),
    ("Hal", Role::Audience),
    ("Ivy", Role::Audience),
    ("Jan", Role::Audience),
    ("Kim", Role::Judge),
    ("Lou", Role::Mirror),
    ("Mia", Role::Auditor),
    ("Ned", Role::Scribe),
];

/// Uses nearly every template placeholder.
const PROMPT_TEMPLATE: &str = "{{topic}} Round {{round}}, after {{previous_round}}.\n\
    plan: {{tool}} against {{opponent}}, {{rounds}} rounds\n\
    {{brief}}\n{{stance}} {{style}}\n{{heard}}\n\n{{checks}}\n\n{{claims}}\n\n{{reply}}";

pub(crate) fn model_participant(tool: &str) -> Participant {
    Participant::Model { tool: tool.into(), model: None }
}

pub(crate) fn cue(act: u8, round: u8, phase: u8, seat: u8) -> Cue {
    Cue { act, round, phase, seat }
}

pub(crate) fn debate_setup(format: Format, rounds: u8) -> Setup {
    let seat = |(name, role): &(&str, Role)| Seat {
        name: (*name).into(),
        role: *role,
        voice: model_participant(match role {
            Role::Pro => "claude",
            Role::Con => "codex",
            _ => "gemini",
        }),
        weight: if *role == Role::Audience { 1 } else { 3 },
        stance: String::new(),
        style: String::new(),
        kind: String::new(),
    };
    let phases = format.acts.iter().flat_map(|act| &act.phases);
    let mut prompts: BTreeMap<String, String> =
        phases.map(|phase| (phase.name.clone(), PROMPT_TEMPLATE.into())).collect();
    let kinds =
        ["speech", "score", "petition", "ruling", "vote", "audit", "verdict", "sections"].iter();
    prompts.extend(kinds.map(|kind| (format!("reply.{kind}"), format!("Answer as a {kind}."))));
    prompts.insert("again".into(), "That was not taken: {{why}}".into());
    Setup {
        grammar: GRAMMAR_VERSION,
        wording: WORDING_VERSION,
        id: "debate-20260101-000000-beef".into(),
        opened_at: 1_767_225_600_000,
        topic: "Tabs or spaces?".into(),
        brief: String::new(),
        touched: vec![],
        proposed: None,
        picked: vec![],
        chosen: vec![],
        unread: None,
        pin: None,
        commit: None,
        format,
        prompts,
        seats: SEATS.iter().map(seat).collect(),
        rounds,
        effort: None,
        terms: BTreeMap::new(),
        judge_share: None,
        output: None,
        holds: vec![],
        stop_when_settled: false,
        limits: DebateLimits { longest: 2000, ..DebateLimits::default() },
        origin: Origin::Here,
        salt: "pepper".into(),
    }
}

/// A budget that limits the cost only, in millionths.
pub(crate) fn cost_budget(cost: u64) -> Budget {
    Budget { cost: Some(cost), ..Budget::default() }
}

/// Parses a claim notation: `id`, then `>` and the claim it answers, then `!` if it has no
/// evidence.
pub(crate) fn claim(notation: &str) -> Claim {
    let (rest, evidence) = match notation.strip_suffix('!') {
        Some(rest) => (rest, vec![]),
        None => (notation, vec!["a.rs:1".into()]),
    };
    let (id, answers) =
        rest.split_once('>').map_or((rest, vec![]), |(id, target)| (id, vec![target.into()]));
    let text = format!("{id} holds because it does");
    Claim { id: id.into(), text, evidence, answers, ..Claim::default() }
}

/// A speech from short notations: claims as in [`claim`], concessions with their quotes, and
/// resolved claims, with `!` if no evidence is given.
pub(crate) fn speech(claims: &str, concedes: &[(&str, &str)], resolves: &[&str]) -> Body {
    let concession = |(claim, quote): &(&str, &str)| Concession {
        claim: (*claim).into(),
        quote: (*quote).into(),
    };
    let resolution = |notation: &&str| match notation.strip_suffix('!') {
        Some(id) => Resolution { claim: id.into(), evidence: vec![] },
        None => Resolution { claim: (*notation).into(), evidence: vec!["a fix".into()] },
    };
    Body::Speech {
        text: "At length.".into(),
        claims: claims.split_whitespace().map(claim).collect(),
        concedes: concedes.iter().map(concession).collect(),
        resolves: resolves.iter().map(resolution).collect(),
        help: None,
        unstructured: None,
    }
}

/// A citation with only its text and its status.
pub(crate) fn citation(raw: &str, found: CitationStatus) -> Citation {
    Citation {
        raw: raw.into(),
        claim: None,
        path: None,
        line: None,
        end_line: None,
        quote: None,
        found,
        found_at: None,
        note: None,
        removed: None,
    }
}

pub(crate) fn due_cues(debate: &Debate) -> Vec<Cue> {
    next(debate).open_cues().collect()
}

/// The first due cue, if it belongs to this phase and round.
pub(crate) fn first_due_cue(debate: &Debate, round: u8, phase: &str) -> Option<Cue> {
    let first = due_cues(debate).first().copied();
    first.filter(|cue| cue.round == round && debate.setup().phase(*cue).name == phase)
}

/// Plays up to the first turn of this phase and round, which is not yet asked.
#[track_caller]
pub(crate) fn play_until(debate: &mut Debate, round: u8, phase: &str) -> Cue {
    play_debate(debate, &[], |debate| first_due_cue(debate, round, phase).is_some());
    first_due_cue(debate, round, phase)
        .unwrap_or_else(|| panic!("{phase} is never due in round {round}"))
}

/// Asks all open turns and records this reply, which must pass every rule. Missing claim checks of
/// a verdict are filled in.
#[track_caller]
pub(crate) fn record_reply(debate: &mut Debate, cue: Cue, body: Body) {
    record_reply_with(debate, cue, body, vec![]);
}

/// As [`record_reply`], with checked citations.
#[track_caller]
pub(crate) fn record_reply_with(
    debate: &mut Debate,
    cue: Cue,
    body: Body,
    citations: Vec<Citation>,
) {
    ask_open_turns(debate);
    let envelope = Envelope { tool: debate.tool_at(cue).into(), ..Envelope::default() };
    let body = fill_required_fields(debate, cue, body);
    let event = validate_reply(debate, cue, body, citations, envelope).expect("no rule is broken");
    apply_events(debate, [event]);
}

pub(crate) fn outcome_name(debate: &Debate) -> &'static str {
    match debate.outcome() {
        Some(DebateOutcome::Completed) => "completed",
        Some(DebateOutcome::Ended) => "ended",
        Some(DebateOutcome::Settled { .. }) => "settled",
        Some(DebateOutcome::Curtailed { .. }) => "curtailed",
        Some(DebateOutcome::Aborted { .. }) => "aborted",
        Some(DebateOutcome::Uncontested { .. }) => "uncontested",
        Some(DebateOutcome::Forfeited { by: Side::Pro }) => "forfeited by pro",
        Some(DebateOutcome::Forfeited { by: Side::Con }) => "forfeited by con",
        Some(DebateOutcome::Cancelled) => "cancelled",
        None => "running",
    }
}

/// One word per turn, `!` for a failure, then the outcome.
pub(crate) fn trace(debate: &Debate) -> String {
    let turn = |(cue, turn): (Cue, &Result<_, _>)| {
        let mark = if turn.is_ok() { "" } else { "!" };
        format!("{}.{}{mark}", cue.round, debate.setup().phase(cue).name)
    };
    debate.turns().map(turn).chain([outcome_name(debate).into()]).collect::<Vec<_>>().join(" ")
}

/// Plays with valid replies until `stop` returns true or nothing is due. Turns named in `failing`
/// (`round.phase` or `round.phase/seat`) time out. `stop` is called before a wave is asked.
pub(crate) fn play_debate(debate: &mut Debate, failing: &[&str], stop: impl Fn(&Debate) -> bool) {
    while !stop(debate) {
        let event = match next(debate) {
            Step::Done => break,
            Step::Close(outcome) => Event::Closed { outcome },
            Step::Hold { next, .. } => Event::Continued { before: next.position() },
            Step::Speak { .. } => {
                ask_open_turns(debate);
                let cue = due_cues(debate)[0];
                let name = format!("{}.{}", cue.round, debate.setup().phase(cue).name);
                let seat = format!("{name}/{}", debate.seat(cue).name);
                if failing.iter().any(|failing| *failing == name || *failing == seat) {
                    failed_event(debate, cue, FailureKind::TimedOut)
                } else {
                    reply_event(debate, cue, valid_reply(debate, cue))
                        .expect("a valid reply is accepted")
                }
            }
        };
        debate.apply(event).expect("the event is due");
    }
}

#[track_caller]
pub(crate) fn apply_events(debate: &mut Debate, events: impl IntoIterator<Item = Event>) {
    events.into_iter().try_for_each(|event| debate.apply(event)).expect("the event is valid");
}

/// Asks all open turns that are not asked yet.
pub(crate) fn ask_open_turns(debate: &mut Debate) {
    let events = ask_due_cues(debate);
    apply_events(debate, events);
}

/// Plays a debate to its end. The turns named in `failing` time out.
pub(crate) fn play_to_end(setup: Setup, failing: &[&str]) -> Debate {
    let mut debate = open_debate(setup);
    play_debate(&mut debate, failing, |_| false);
    debate
}

pub(crate) fn without_roles(mut setup: Setup, roles: &[Role]) -> Setup {
    setup.seats.retain(|seat| !roles.contains(&seat.role));
    setup
}

pub(crate) fn open_debate(setup: Setup) -> Debate {
    Debate::open(setup).unwrap()
}

/// The arena format, but one missed turn forfeits the debate.
pub(crate) fn arena_with_forfeit() -> Format {
    let mut format = debate_mcp::debate::formats::arena();
    for phase in format.acts.iter_mut().flat_map(|act| &mut act.phases) {
        if phase.short == Shortfall::Lapse {
            phase.short = Shortfall::Forfeit;
        }
    }
    format
}
