//! Simulated participants: valid replies to any phase, pseudo-random replies derived from a seed
//! and the prompt, and a user who answers every question the debate asks.
use super::debate_fixture::{Rng, cost_budget, debate_setup, due_cues};
use debate_mcp::debate::body::{
    AdmissionGrounds, AuditedFact, BlindSpot, ClaimCheck, ClaimPurpose, ClaimSource, Foul, Novelty,
    RubricMarks,
};
use debate_mcp::debate::ledger::{self, ClaimStatus};
use debate_mcp::debate::stances;
use debate_mcp::debate::{
    Amendment, Body, Claim, Cue, Debate, Envelope, Event, FailureKind, Format, HelpRequest,
    HoldPoint, JudgeRuling, Participant, PauseReason, RejectedReply, ReplyKind, Role, Rounds, Rule,
    RuleFinding, Seat, Section, Setup, Side, Step, TurnFailure, digest, language, next, prompt,
    report_sections, validate_reply,
};
use std::collections::BTreeMap;

/// A random setup, derived from the seed: rounds, holds, budget, seats, participants, weights.
pub(crate) fn random_setup(format: Format, seed: u64) -> Setup {
    let mut rng = Rng(seed);
    let rounds = if format.name == "tribunal" { 7 + rng.below(4) } else { 1 + rng.below(5) };
    let mut setup = debate_setup(format, rounds as u8);
    setup.seats.retain(|seat| {
        let optional =
            matches!(seat.role, Role::Mirror | Role::Auditor | Role::Scribe | Role::Audience);
        !(optional && rng.one_in(4))
    });
    for seat in &mut setup.seats {
        seat.stance = format!("Whatever {} says.", seat.name);
        match rng.below(8) {
            0 => seat.voice = Participant::Host,
            1 => seat.voice = Participant::Human,
            2 => seat.voice = Participant::Bot,
            _ => {}
        }
    }
    let holds = [HoldPoint::Start, HoldPoint::Rounds];
    setup.holds = holds.into_iter().filter(|_| rng.one_in(2)).collect();
    for seat in setup.seats.iter_mut().filter(|seat| seat.role == Role::Audience) {
        seat.kind = rng.pick(&["risk-averse", "rational-logic", ""]).into();
        seat.weight = rng.below(4) as u16;
    }
    // One setup in three has a panel of judges.
    if rng.one_in(3) {
        for (name, role) in [("Kit", Role::Judge), ("Lex", Role::Mirror)] {
            setup.seats.push(Seat { name: name.into(), role, ..setup.seats[0].clone() });
        }
    }
    setup.judge_share = rng.one_in(2).then(|| rng.below(101) as u8);
    setup.prompts.values_mut().for_each(|prompt| prompt.push_str(MORE_PLACEHOLDERS));
    setup.brief = if rng.one_in(2) { "What gemini is for.".into() } else { String::new() };
    if rng.one_in(2) {
        setup.limits.budget = cost_budget(20);
    }
    setup
}

/// All other placeholders, appended to every prompt so that each of them is rendered.
const MORE_PLACEHOLDERS: &str = "\n{{seat}} {{role}} {{focus}} {{act}} {{rules}}\n{{audience}}\n{{goal}} {{readers}} \
    {{decision}} {{language}} {{letter}} {{words}}\n{{contested}}";

/// The prompt of a cue. Tests compare it to detect any change.
pub(crate) fn render_prompt(debate: &Debate, cue: Cue) -> String {
    prompt::render(debate, cue).text
}

/// `Asked` event for all due cues that were not requested yet, if any.
pub(crate) fn ask_due_cues(debate: &Debate) -> Option<Event> {
    let cues: Vec<Cue> =
        due_cues(debate).into_iter().filter(|cue| !debate.was_asked(*cue)).collect();
    (!cues.is_empty()).then(|| asked_event(debate, cues))
}

/// `Asked` event for the model turns that were lost with a stopped process, if any.
pub(crate) fn ask_lost_cues(debate: &Debate) -> Option<Event> {
    let Step::Speak { driven, .. } = next(debate) else { return None };
    let lost_cues: Vec<Cue> = driven.into_iter().filter(|cue| debate.was_asked(*cue)).collect();
    (!lost_cues.is_empty()).then(|| asked_event(debate, lost_cues))
}

pub(crate) fn asked_event(debate: &Debate, cues: Vec<Cue>) -> Event {
    let prompts =
        cues.iter().map(|cue| prompt::fingerprint(&render_prompt(debate, *cue))).collect();
    let deadline = cues.first().map(|cue| deadline(debate, *cue));
    Event::Asked { cues, deadline, prompts }
}

/// A fake deadline, unique to each take, act and round, as there is no clock here.
pub(crate) fn deadline(debate: &Debate, cue: Cue) -> i64 {
    let round = i64::from(cue.act) * 1_000 + i64::from(cue.round);
    debate.setup().opened_at + i64::from(debate.take_number()) * 1_000_000 + round * 10
}

fn envelope(debate: &Debate, cue: Cue) -> Envelope {
    let voice = &debate.seat(cue).voice;
    Envelope { tool: voice.tool().into(), cost: Some(1), ..Envelope::default() }
}

/// Checks a reply against the rules and builds the event that records it, with a cost of 1.
pub(crate) fn reply_event(
    debate: &Debate,
    cue: Cue,
    body: Body,
) -> Result<Event, Vec<RuleFinding>> {
    validate_reply(debate, cue, body, vec![], envelope(debate, cue))
}

pub(crate) fn failed_event(debate: &Debate, cue: Cue, kind: FailureKind) -> Event {
    let failure = TurnFailure { envelope: envelope(debate, cue), ..TurnFailure::new(kind, "down") };
    Event::Failed { cue, failure }
}

pub(crate) fn refused_event(debate: &Debate, cue: Cue, findings: Vec<RuleFinding>) -> Event {
    let why = findings.iter().map(|finding| finding.says.as_str()).collect::<Vec<_>>().join("; ");
    let attempt = RejectedReply {
        text: "Nothing much.".into(),
        why,
        findings,
        envelope: envelope(debate, cue),
    };
    Event::Refused { cue, attempt }
}

/// A reply that passes every rule of its phase, provided the other seats keep the rules, too.
pub(crate) fn valid_reply(debate: &Debate, cue: Cue) -> Body {
    let (seat, phase) = (debate.seat(cue), debate.setup().phase(cue));
    let because = String::from("so");
    match phase.reply {
        ReplyKind::Speech => Body::Speech {
            text: speech_text(debate, cue),
            claims: required_claims(debate, cue),
            concedes: vec![],
            resolves: vec![],
            help: None,
            unstructured: None,
        },
        ReplyKind::Score => Body::Score {
            pro: equal_marks(75),
            con: equal_marks(70),
            fouls: vec![],
            comment: because,
        },
        ReplyKind::Petition => Body::Petition {
            supports: Some(Side::Pro),
            claim: "me".into(),
            novelty: Novelty::New,
            confidence: 50,
        },
        ReplyKind::Ruling => {
            let mut round =
                debate.replies_before(cue).filter(|(past, _)| past.position() == cue.position());
            let admits = round.find_map(|(past, body)| listener_to_admit(debate, cue, past, body));
            let grounds = AdmissionGrounds {
                new_information: true,
                avoids_repetition: true,
                shifts_balance: false,
            };
            Body::Ruling { admits, grounds, because }
        }
        ReplyKind::Vote => Body::Vote { side: Side::Con, confidence: 60, because },
        ReplyKind::Audit => Body::Audit { facts: audit_facts(debate, cue) },
        ReplyKind::Verdict => {
            let cites = debate.replies_before(cue).map(|(past, _)| past).take(1).collect();
            fill_required_fields(debate, cue, verdict_reply(Some(Side::Pro), 80, cites))
        }
        // The mechanical summary contains everything a summary must mention.
        ReplyKind::Sections if seat.role == Role::Scribe => {
            let text = digest::mechanical_digest(debate, cue.round.saturating_sub(2));
            Body::Sections { sections: vec![Section { title: "So far".into(), text }] }
        }
        ReplyKind::Sections => Body::Sections { sections: required_sections(debate, cue) },
    }
}

/// The same mark in all four dimensions, in tenths of a point.
pub(crate) fn equal_marks(tenths: u8) -> BTreeMap<String, u8> {
    ["logic", "rebuttal", "clarity", "evidence"].map(|name| (name.into(), tenths)).into()
}

/// The listener to admit because of this reply: a petitioner, or one called for help.
fn listener_to_admit(debate: &Debate, cue: Cue, past: Cue, body: &Body) -> Option<String> {
    if body.kind() == ReplyKind::Petition && !body.is_declined_petition() {
        return Some(debate.seat(past).name.clone());
    }
    let help = body.help_request()?;
    let has_spoken = |index: u8| {
        let mut own_replies = debate.replies_before(cue).filter(|(past, _)| past.seat == index);
        own_replies.any(|(_, body)| body.kind() == ReplyKind::Speech)
    };
    let is_requested = |seat: &Seat| seat.name == help.from || seat.kind == help.from;
    let mut seats = (0..).zip(debate.seats()).filter(|(_, seat)| seat.role == Role::Audience);
    seats
        .find(|(index, seat)| is_requested(seat) && !has_spoken(*index))
        .map(|(_, seat)| seat.name.clone())
}

/// One fact per argument on the record, or a placeholder if there is none.
fn audit_facts(debate: &Debate, cue: Cue) -> Vec<AuditedFact> {
    let fact = |claim: &Claim, by: &str| AuditedFact {
        claim: claim.text.clone(),
        tag: "no-source".into(),
        by: by.into(),
        id: claim.id.clone(),
    };
    let arguments = debate.replies_before(cue).flat_map(|(past, body)| {
        let own_arguments =
            body.claims().iter().filter(|claim| claim.part == Some(ClaimPurpose::Argument));
        own_arguments.map(move |claim| fact(claim, &debate.seat(past).name))
    });
    let facts: Vec<AuditedFact> = arguments.collect();
    let placeholder =
        AuditedFact { claim: "fast".into(), tag: "no-source".into(), ..AuditedFact::default() };
    if facts.is_empty() { vec![placeholder] } else { facts }
}

fn required_sections(debate: &Debate, cue: Cue) -> Vec<Section> {
    let section = |title: &str, text: &str| Section { title: title.into(), text: text.into() };
    if has_rule(debate, cue, Rule::StatesOutcome) {
        let outcome = section("Outcome", "partial: they differ about the cost.");
        return vec![outcome, section("Key Insights", "- Indentation is a habit.")];
    }
    let headings = report_sections::headings(language::detect(debate.topic_at(cue)));
    let headings = headings.unwrap_or(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let text = |index: usize| match index {
        report_sections::SCENARIO_MATRIX_INDEX => {
            "| Scenario | Choice | Why |\n|---|---|---|\n| alone | tabs | short |"
        }
        report_sections::SUMMARY_INDEX => "Use tabs.",
        _ => "Tabs.",
    };
    headings.into_iter().enumerate().map(|(index, title)| section(title, text(index))).collect()
}

fn has_rule(debate: &Debate, cue: Cue, rule: Rule) -> bool {
    debate.setup().phase(cue).rules.iter().any(|(phase_rule, _)| *phase_rule == rule)
}

/// Fills in what the phase requires of a verdict: claim checks, decisive claim, rubric marks, and
/// blind spots. By these checks only conceded claims hold.
pub(crate) fn fill_required_fields(debate: &Debate, cue: Cue, body: Body) -> Body {
    let Body::Verdict(mut ruling) = body else { return body };
    let horizon = debate.wave_start(cue);
    if ruling.checks.is_empty() && has_rule(debate, cue, Rule::ChecksClaims) {
        let check = |entry: ledger::LedgerEntry<'_>| ClaimCheck {
            side: entry.side,
            claim: entry.claim.id.clone(),
            answered: true,
            supported: false,
            conceded: matches!(entry.status, ClaimStatus::Conceded(_)),
        };
        ruling.checks = ledger::claims_to_check(debate, horizon).into_iter().map(check).collect();
        ruling.despite = "What was conceded weighs little.".into();
    }
    if has_rule(debate, cue, Rule::NamesDecisive) {
        let entries = ledger::entries(debate, horizon).into_iter();
        let mut own_entries = entries.filter(|entry| Some(entry.side) == ruling.side);
        let unresolved = own_entries.find(|entry| entry.status != ClaimStatus::Resolved);
        let id = unresolved.map(|entry| entry.claim.id.clone());
        ruling.decisive = ruling.decisive.or(id);
    }
    if has_rule(debate, cue, Rule::MarksByRubric) {
        let marks = |points: [u8; 5]| {
            let criteria = RubricMarks::CRITERIA.iter().zip(points);
            criteria.map(|((name, _), points)| ((*name).to_owned(), points)).collect()
        };
        let (ahead, behind) = (marks([24, 18, 15, 10, 8]), marks([20, 15, 12, 9, 6]));
        let rubric = match ruling.side {
            Some(Side::Con) => RubricMarks { pro: behind, con: ahead },
            _ => RubricMarks { pro: ahead, con: behind },
        };
        ruling.scores = Some(rubric.totals());
        ruling.rubric = Some(rubric);
    }
    if ruling.blind_spots.is_empty() && has_rule(debate, cue, Rule::NamesBlindSpots) {
        let spot = |side| BlindSpot { side, text: "The editors.".into() };
        ruling.blind_spots = [Side::Pro, Side::Con].map(spot).into();
    }
    Body::Verdict(ruling)
}

/// A speech in which a model names itself, which the mask must hide from judges.
fn speech_text(debate: &Debate, cue: Cue) -> String {
    let phase = &debate.setup().phase(cue).name;
    match &debate.seat(cue).voice {
        Participant::Model { tool, .. } => format!("As {tool}, I {phase}."),
        _ => phase.clone(),
    }
}

fn required_claims(debate: &Debate, cue: Cue) -> Vec<Claim> {
    if has_rule(debate, cue, Rule::Investigates) {
        let parts = [ClaimPurpose::Argument; 3].into_iter().chain([ClaimPurpose::Weakness; 2]);
        return numbered_claims(
            debate,
            cue,
            parts.chain([ClaimPurpose::Counter]).map(|part| (part, None)),
        );
    }
    if has_rule(debate, cue, Rule::Rebuts) {
        let other_replies = debate.replies_before(cue).filter(|(past, _)| past.seat != cue.seat);
        let arguments = other_replies.flat_map(|(_, body)| body.claims());
        let arguments = arguments.filter(|claim| claim.part == Some(ClaimPurpose::Argument));
        let answers = arguments.map(|claim| (ClaimPurpose::Rebuttal, Some(claim.id.clone())));
        let attacks = [ClaimPurpose::Premise, ClaimPurpose::Attack, ClaimPurpose::Attack]
            .map(|part| (part, None));
        return numbered_claims(debate, cue, answers.chain(attacks));
    }
    own_claim(debate, cue)
}

/// Claims with ids under the seat's letter, each with its purpose and the claim it answers.
fn numbered_claims(
    debate: &Debate,
    cue: Cue,
    parts: impl Iterator<Item = (ClaimPurpose, Option<String>)>,
) -> Vec<Claim> {
    let letter = stances::stance_letter(debate, cue);
    let claim = |(number, (part, answers)): (usize, (ClaimPurpose, Option<String>))| Claim {
        id: format!("{letter}{}{number}", cue.phase),
        text: format!("{} is right", debate.seat(cue).name),
        evidence: vec!["src/lib.rs:1".into()],
        answers: answers.into_iter().collect(),
        part: Some(part),
        confidence: Some(80),
        source: Some(ClaimSource::OfficialDocs),
        severity: None,
    };
    (1..).zip(parts).map(claim).collect()
}

/// One claim that answers the last claim of the other side, or none if new claims are forbidden.
fn own_claim(debate: &Debate, cue: Cue) -> Vec<Claim> {
    let seat = debate.seat(cue);
    let opposing_side = seat.role.side().map(Side::other);
    let opposing_replies = debate.replies_before(cue).filter(|(past, _)| {
        opposing_side.is_some() && debate.seat(*past).role.side() == opposing_side
    });
    let last_opposing_id = opposing_replies
        .flat_map(|(_, body)| body.claims())
        .map(|claim| claim.id.clone())
        .next_back();
    let no_new_claims = has_rule(debate, cue, Rule::NoNewClaims);
    if no_new_claims && last_opposing_id.is_none() {
        return vec![];
    }
    vec![Claim {
        id: format!("{}{}", seat.name, cue.round),
        text: format!("{} is right", seat.name),
        evidence: vec!["src/lib.rs:1".into()],
        answers: last_opposing_id.into_iter().collect(),
        ..Claim::default()
    }]
}

pub(crate) fn verdict_reply(side: Option<Side>, confidence: u8, cites: Vec<Cue>) -> Body {
    Body::Verdict(Box::new(JudgeRuling {
        side,
        confidence,
        because: "so".into(),
        cites,
        recommendation: "Do it.".into(),
        ..JudgeRuling::default()
    }))
}

/// A pseudo-random reply or failure, derived from the seed and the prompt only, so that it is
/// reproducible. Invalid replies are handled as by the engine: a model is asked once more, then its
/// turn fails.
pub(crate) fn random_reply_event(seed: u64, debate: &Debate, cue: Cue) -> Event {
    let text = format!("{cue}{}", render_prompt(debate, cue));
    let mut rng = Rng(text.bytes().fold(seed, |h, b| h.wrapping_mul(31).wrapping_add(b.into())));
    if rng.one_in(12) {
        return failed_event(debate, cue, FailureKind::TimedOut);
    }
    let mut body = valid_reply(debate, cue);
    match &mut body {
        Body::Speech { text, help, claims, unstructured, .. } => {
            let model_name = rng.pick(&["claude", "Codex", "Gemini/Claude", "opus", "nobody"]);
            text.extend([" Even ", model_name, " agrees."]);
            let kind = rng.pick(&["technical", "ethical", "practical", "technical", "moral"]);
            let from = rng.pick(&["Hal", "Ivy", "Jan", "risk-averse", "rational-logic", "Ada"]);
            let (kind, from) = (kind.into(), from.into());
            *help = rng.one_in(3).then(|| HelpRequest { kind, from, because: "lost".into() });
            match rng.below(9) {
                0 => claims.clear(),
                1 => *unstructured = Some("there is no claims block".into()),
                _ => {}
            }
            if rng.one_in(4) {
                for claim in claims.iter_mut() {
                    claim.evidence.clear();
                }
            }
        }
        Body::Ruling { admits, grounds, .. } => match rng.below(8) {
            0 => *admits = Some("Ada".into()),
            1 => *admits = None,
            2 => *grounds = AdmissionGrounds::default(),
            _ => {}
        },
        Body::Verdict(ruling) => match rng.below(10) {
            0 => ruling.side = None,
            1 => ruling.checks.clear(),
            2 => ruling.decisive = None,
            3..7 => {
                (ruling.side, ruling.decisive) = (Some(Side::Con), None);
                body = fill_required_fields(debate, cue, body);
            }
            _ => {}
        },
        Body::Score { fouls, .. } if rng.one_in(3) => {
            let side = rng.pick(&[Side::Pro, Side::Con]);
            fouls.push(Foul { side, kind: "other".into(), note: String::new() });
        }
        Body::Vote { side, .. } if rng.one_in(2) => *side = Side::Pro,
        Body::Audit { facts } if rng.one_in(4) => facts.clear(),
        Body::Petition { supports, .. } if rng.one_in(3) => *supports = None,
        Body::Sections { sections } if rng.one_in(4) => sections.clear(),
        _ => {}
    }
    let can_retry = !debate.seat(cue).voice.is_awaited() && debate.rejected_reply(cue).is_none();
    reply_event(debate, cue, body).unwrap_or_else(|findings| {
        if can_retry {
            refused_event(debate, cue, findings)
        } else {
            failed_event(debate, cue, FailureKind::Unusable)
        }
    })
}

/// Whether the simulated user ends an act without a round limit.
fn is_open_act_over(debate: &Debate, cue: Cue) -> bool {
    debate.setup().act(cue).rounds == Rounds::Open && cue.round > 4
}

/// The next event with a user who answers every question and sometimes acts unasked. Due cues are
/// replied to in an order drawn from `rng`.
pub(crate) fn next_event(debate: &Debate, seed: u64, rng: &mut Rng) -> Option<Event> {
    if let Some(event) = unasked_user_event(debate, seed) {
        return Some(event);
    }
    Some(match next(debate) {
        Step::Done => return None,
        Step::Close(outcome) => Event::Closed { outcome },
        Step::Hold { pause: PauseReason::BudgetExhausted { spent, .. }, .. } => {
            amended_event(Amendment::Limit { budget: cost_budget(spent.cost + 9) })
        }
        step if step.first_cue().is_some_and(|cue| is_open_act_over(debate, cue)) => {
            let concluded = Event::Concluded { because: None };
            if debate.validate(&concluded).is_ok() {
                concluded
            } else {
                Event::Cancelled { because: None }
            }
        }
        Step::Hold { next, .. } => Event::Continued { before: next.position() },
        Step::Speak { .. } => ask_due_cues(debate).unwrap_or_else(|| {
            let due = due_cues(debate);
            let cue = due[rng.below(due.len())];
            random_reply_event(seed, debate, cue)
        }),
    })
}

/// What the user does unasked, by seed: remark, hold the second round, replace a seat in the third,
/// decide, keep or discard. Each action is done once, as the record shows.
fn unasked_user_event(debate: &Debate, seed: u64) -> Option<Event> {
    let next_cue = next(debate).first_cue();
    let event = match (next_cue, seed % 5) {
        (None, 0 | 1) if debate.decision().is_none() => Event::Decided { text: "Spaces.".into() },
        (None, 1 | 2) if debate.keep_record().is_none() => {
            Event::Kept { keep: seed.is_multiple_of(2) }
        }
        (Some(cue), 2) if usize::from(cue.round) > debate.remarks().len() => {
            Event::Interjected { text: format!("And in round {}?", cue.round) }
        }
        (Some(cue), 3) if cue.round == 2 && debate.continued_until() < Some(cue.position()) => {
            Event::Held
        }
        (Some(cue), 4) if cue.round == 3 => {
            let voice = super::debate_fixture::model_participant(&format!("relay-{}", cue.seat));
            amended_event(Amendment::Seat { seat: cue.seat, voice })
        }
        _ => return None,
    };
    // Only between waves: a prompt of a running wave must not depend on the time of the event.
    let between_waves = next_cue.is_none_or(|cue| !debate.was_asked(cue));
    (between_waves && debate.validate(&event).is_ok()).then_some(event)
}

pub(crate) fn amended_event(change: Amendment) -> Event {
    Event::Amended { change, because: String::new() }
}
