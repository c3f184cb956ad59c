//! How a debate stands, for a model to read: small, and the same whoever asks and however often.
use super::bounds::{self, tokens, words};
use super::complaint::{Asked, call};
use crate::debate::Citation;
use crate::debate::ledger::of_claim;
use crate::debate::{
    Cue, Debate, Failure, Hold, Kind, Origin, Outcome, Pause, Reply, Role, Step, Voice, next,
    prompt, standing,
};
use crate::engine::Stored;
use crate::report::record::SEALED;
use crate::report::text::one_line;
use crate::report::verdict::{VerdictView, verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// What `start_debate`, `continue_round` and `verdict` answer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Standing {
    pub(super) debate_id: String,
    /// `running`, `your_turn`, `user_turn`, `paused`, `interrupted`, or how it ended.
    pub(super) status: String,
    pub(super) round: u8,
    pub(super) rounds: u8,
    /// The turns taken in this round, as digests.
    pub(super) answered: Vec<Answered>,
    /// The turns being fetched.
    pub(super) pending: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due: Option<Due>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<Ruled>,
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
    pub(super) next: String,
}

/// A turn that was taken, or lost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Answered {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) position: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) claims: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) concedes: Vec<String>,
}

/// What is awaited, and from whom.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Due {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) brief: String,
}

/// What was ruled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Ruled {
    pub(super) winner: String,
    pub(super) reasoning: String,
    pub(super) decided: String,
    pub(super) contested: bool,
    pub(super) recommendation: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unresolved: Vec<String>,
    pub(super) rigor: String,
}

/// How long the parts of a result may be: words of a text, and lines of a list.
#[derive(Clone, Copy)]
struct Size {
    words: usize,
    lines: usize,
    line: usize,
}

/// From what is wanted to what always fits.
const SIZES: [Size; 4] = [
    Size { words: 120, lines: 8, line: 40 },
    Size { words: 80, lines: 5, line: 25 },
    Size { words: 40, lines: 3, line: 15 },
    Size { words: 15, lines: 1, line: 10 },
];
/// Tokens a brief is always given.
const BRIEF: usize = 700;

/// How a debate stands. `running` says that somebody, here or elsewhere, is fetching turns.
pub(super) fn standing(stored: &Stored, debate: &Debate, running: bool) -> Standing {
    let mut fits = Standing::default();
    for size in SIZES {
        fits = sized(stored, debate, running, size);
        let mut bare = fits.clone();
        if let Some(due) = &mut bare.due {
            due.brief.clear();
        }
        let left = bounds::RESULT.saturating_sub(weight(&bare));
        let Some(due) = &mut fits.due else {
            if left > 0 {
                break;
            }
            continue;
        };
        if tokens(&due.brief) <= left || left >= BRIEF || size.words == SIZES[3].words {
            let rest = call("show_debate", &fits.debate_id, "\"part\":\"brief\"");
            let between = format!("[... this is cut; all of it: {rest} ...]");
            // Written as JSON, every line end is two characters.
            due.brief = bounds::ends(&due.brief, left.saturating_sub(20) * 9 / 10, &between);
            break;
        }
    }
    fits
}

/// Tokens of a result as JSON or as text, whichever is more.
fn weight(standing: &Standing) -> usize {
    let json = serde_json::to_string(standing).unwrap_or_default();
    tokens(&json).max(tokens(&super::words::standing(standing)))
}

fn sized(stored: &Stored, debate: &Debate, running: bool, size: Size) -> Standing {
    let step = next(debate);
    let over = debate.outcome().is_some();
    let pending = match &step {
        Step::Speak { driven, .. } if running => driven.iter().map(|c| named(debate, *c)).collect(),
        _ => vec![],
    };
    let answered = turns(debate, &step)
        .into_iter()
        .map(|(cue, turn)| answered(debate, cue, turn, size))
        .collect();
    let verdict = verdict(debate).map(|view| ruled(debate, &view, size));
    Standing {
        debate_id: debate.setup().id.clone(),
        status: status(debate, &step, running).into(),
        round: round(debate, &step),
        rounds: debate.rounds(),
        answered,
        pending,
        due: if over { None } else { due(debate, &step) },
        verdict,
        notes: notes(debate, size),
        record: stored
            .record
            .as_ref()
            .filter(|_| debate.kept() != Some(false))
            .map(|path| path.display().to_string()),
        next: next_call(debate, &step, running),
    }
}

fn status(debate: &Debate, step: &Step, running: bool) -> &'static str {
    if debate.outcome().is_some() {
        return standing::status(debate).word();
    }
    match step {
        Step::Hold { .. } => "paused",
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let person = awaited.first().is_some_and(|cue| debate.seat(*cue).voice == Voice::Human);
            if person { "user_turn" } else { "your_turn" }
        }
        _ if running => "running",
        _ => "interrupted",
    }
}

/// The round under way, or the last one.
fn round(debate: &Debate, step: &Step) -> u8 {
    let at = step.at().map_or(0, |cue| cue.round);
    let taken = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    match step {
        Step::Hold { .. } => taken,
        _ => at.max(taken),
    }
}

/// The turns of the round under way; between rounds, of the last; in the ending, of both.
fn turns<'a>(debate: &'a Debate, step: &Step) -> Vec<(Cue, &'a Result<Reply, Failure>)> {
    let ending = debate.setup().ending();
    let last = debate.turns().map(|(cue, _)| cue.stand()).filter(|stand| stand.act < ending).max();
    let stand = match step {
        Step::Speak { .. } => step.at().map(Cue::stand).filter(|stand| stand.act < ending).or(last),
        _ => last,
    };
    let fits = |cue: &Cue| Some(cue.stand()) == stand || cue.act == ending;
    debate.turns().filter(|(cue, _)| fits(cue)).collect()
}

/// `0.1.1.1 Challenger (codex)`
fn named(debate: &Debate, cue: Cue) -> String {
    format!("{} {} ({})", id_of(debate, cue), debate.seat(cue).role.title(), debate.tool(cue))
}

fn answered(debate: &Debate, cue: Cue, turn: &Result<Reply, Failure>, size: Size) -> Answered {
    let mut digest = Answered {
        turn: id_of(debate, cue),
        role: format!("{} ({})", debate.seat(cue).role.title(), debate.tool(cue)),
        position: String::new(),
        claims: vec![],
        concedes: vec![],
    };
    match turn {
        Err(lost) => {
            let note = words(&lost.note, size.line);
            digest.position = format!("[INCOMPLETE] {}: {note}", lost.trouble.word());
        }
        Ok(_) if debate.sealed(cue) => SEALED.trim().clone_into(&mut digest.position),
        Ok(reply) => {
            digest.position = words(&reply.body.text(), size.words);
            let claims = reply.body.claims().iter().map(|claim| {
                let found: Vec<_> = of_claim(&reply.citations, &claim.id).collect();
                let gone = !found.is_empty() && found.iter().all(|it| it.found.wrong());
                let bare = claim.evidence.is_empty() || gone;
                let bare = if bare { " (unsupported)" } else { "" };
                format!("{}: {}{bare}", claim.id, words(&claim.text, size.line))
            });
            digest.claims = few(claims, size.lines);
            let given = reply.body.concedes().iter();
            let given = given
                .map(|given| format!("{}: \"{}\"", given.claim, words(&given.quote, size.line)));
            digest.concedes = few(given, size.lines);
            let wrong: Vec<&Citation> =
                reply.citations.iter().filter(|it| it.found.wrong()).collect();
            let wrong = wrong.into_iter().map(|it| {
                let raw = words(&one_line(&it.raw), size.line);
                format!("cites what is not there: {raw} ({})", words(&it.says(), 12))
            });
            digest.claims.extend(few(wrong, size.lines.div_ceil(2)));
        }
    }
    digest
}

/// The first lines of a list, and how many more there are.
pub(super) fn few(lines: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    let mut lines: Vec<String> = lines.take(most).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn ruled(debate: &Debate, view: &VerdictView, size: Size) -> Ruled {
    let unresolved = view.unresolved.iter().map(|text| words(text, size.line));
    Ruled {
        winner: view.winner.clone(),
        reasoning: words(&view.reasoning, size.words),
        decided: view.decided.clone(),
        contested: view.contested,
        recommendation: words(&view.recommendation, size.words),
        unresolved: few(unresolved, size.lines.div_ceil(2)),
        rigor: words(&standing::rigor(debate), 60),
    }
}

/// What is awaited: of the host or a person, a turn; of the user, leave to go on.
fn due(debate: &Debate, step: &Step) -> Option<Due> {
    match step {
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = *awaited.first()?;
            let seat = debate.seat(cue);
            let role = match seat.voice {
                Voice::Human => format!("{} (a person: ask the user)", seat.role.title()),
                _ => seat.role.title().to_owned(),
            };
            let brief = prompt::render(debate, cue).text;
            Some(Due { turn: id_of(debate, cue), role, brief })
        }
        Step::Hold { next, pause } => {
            let brief = match pause {
                Pause::Spent { .. } => {
                    "The budget is spent. Ask the user whether more may be spent."
                }
                Pause::Asked if debate.held() && debate.setup().origin != Origin::Here => {
                    "This debate was imported. Ask the user whether to go on with it."
                }
                Pause::Asked if is_plan(debate) => {
                    return Some(Due {
                        turn: id_of(debate, *next),
                        role: "user".into(),
                        brief: format!(
                            "Show the user this plan and wait for them.\n\n{}",
                            plan(debate)
                        ),
                    });
                }
                Pause::Asked => {
                    "A round is done. Show the user what was said; they may have a remark."
                }
            };
            let (turn, role) = (id_of(debate, *next), "user".to_owned());
            Some(Due { turn, role, brief: brief.into() })
        }
        _ => None,
    }
}

/// Whether the debate waits for its plan to be confirmed.
pub(super) fn is_plan(debate: &Debate) -> bool {
    debate.holds().contains(&Hold::Start) && debate.turns().next().is_none()
}

/// Who would argue about what, and what that may cost.
pub(super) fn plan(debate: &Debate) -> String {
    use std::fmt::Write;
    let setup = debate.setup();
    let topic = crate::report::text::one_line(debate.question());
    let mut text = format!("Topic: {}\nFormat: {}\n", words(&topic, 80), setup.format.name);
    for seat in debate.seats().iter().filter(|seat| seat.role != Role::Mirror) {
        let _ = writeln!(text, "{}: {}", seat.role.title(), seat.voice);
    }
    let mirrored = debate.seated(Role::Mirror).is_some();
    let judging = if mirrored { "2 rulings, the sides swapped in one" } else { "1 ruling" };
    let rounds = debate.rounds();
    let _ = writeln!(text, "Rounds: {rounds} ({} speeches, then {judging})", 2 * rounds);
    if let Some(effort) = setup.effort {
        let _ = writeln!(text, "Effort: {}", effort.word());
    }
    let budget = debate.budget();
    if let Some(cost) = budget.cost {
        let _ = writeln!(text, "Pauses at a cost of {:.2}", cost as f64 / 1e6);
    }
    if let Some(tokens) = budget.tokens {
        let _ = writeln!(text, "Pauses at {tokens} tokens");
    }
    if let Some(milliseconds) = budget.milliseconds {
        let _ = writeln!(text, "Pauses after {} minutes", milliseconds / 60_000);
    }
    text
}

fn notes(debate: &Debate, size: Size) -> Vec<String> {
    let mut notes = vec![];
    for label in standing::labels(debate) {
        notes.push(match label {
            "single-model" => {
                "single-model: both sides are played by the same model, so expect less \
                               disagreement, and less rigor, than between different ones"
                    .into()
            }
            "demo" => "demo: scripted voices, no model was asked; this is not advice".into(),
            "imported" => {
                "imported: the first turns are somebody's text, taken from a file".to_owned()
            }
            other => other.into(),
        });
    }
    if let Some(verdict) = verdict(debate) {
        let line = |what: &str, text: &String| format!("{what}: {}", words(text, size.line));
        let unsupported = verdict.unsupported.iter().map(|text| line("unsupported", text));
        let wrong = verdict.wrong.iter().map(|text| line("cited, and not there", text));
        notes.extend(few(unsupported.chain(wrong).collect::<Vec<_>>().into_iter(), size.lines));
    }
    if let Some(decision) = debate.decision() {
        notes.push(format!("the user has decided: {}", words(decision, size.line)));
    }
    if let Some(keep) = debate.kept() {
        notes.push(if keep { "the record is kept" } else { "the record is discarded" }.into());
    }
    notes.extend(standing::suggestion(debate));
    notes.extend(standing::notices(debate).iter().map(|notice| words(notice, size.line)));
    few(notes.into_iter(), size.lines.max(3))
}

/// How a turn is named to a host: a turn of a later take is not the same turn.
pub(super) fn id_of(debate: &Debate, cue: Cue) -> String {
    match debate.take() {
        0 => cue.to_string(),
        take => format!("{cue}+{take}"),
    }
}

/// The turn the host was asked for.
pub(super) fn asked_of_host(debate: &Debate) -> Option<Asked> {
    let step = next(debate);
    let due = due(debate, &step).filter(|due| due.role != "user")?;
    let cue = step.at()?;
    let ruling = debate.setup().phase(cue).reply == Kind::Verdict;
    Some(Asked { turn: due.turn, role: due.role, ruling })
}

/// What is left to do when it is over.
fn after_the_end(debate: &Debate) -> String {
    let id = &debate.setup().id;
    let mut steps = vec![];
    if debate.outcome() == Some(&Outcome::Cancelled) {
        steps
            .push(format!("it was cancelled; {} shows what was said", call("show_debate", id, "")));
    } else {
        let all = call("show_debate", id, "");
        steps.push(format!("tell the user the result; {all} has all of it"));
    }
    if debate.missing().next().is_some() {
        let retry = call("continue_round", id, "\"decision\":\"retry\"");
        steps.push(format!("{retry} takes the failed turn again"));
    }
    if debate.decision().is_none() {
        let say = call("continue_round", id, "\"say\":\"...\"");
        steps.push(format!("{say} records what the user decides"));
    }
    if debate.kept().is_none() {
        let keep = call("continue_round", id, "\"decision\":\"keep\"");
        steps.push(format!("{keep} (or discard) settles whether the record stays"));
    }
    steps.join("; ")
}

/// What to do when nothing may be spent any more: more, or an end with what there is.
pub(super) fn spent(debate: &Debate) -> String {
    let id = &debate.setup().id;
    let (budget, spent) = (debate.budget(), debate.spent());
    let mut more = vec![];
    if budget.cost.is_some_and(|most| spent.cost >= most) {
        let enough = (spent.cost as f64 / 5e5).max(1.0);
        more.push(format!("max_cost={enough:.2}"));
    }
    if budget.tokens.is_some_and(|most| spent.tokens >= most) {
        more.push(format!("max_tokens={}", (2 * spent.tokens).max(100_000)));
    }
    if budget.milliseconds.is_some_and(|most| spent.milliseconds >= most) {
        more.push(format!("max_minutes={}", 2 * (spent.milliseconds / 60_000) + 10));
    }
    let more = format!("\"decision\":\"change\",\"say\":\"{}\"", more.join(", "));
    let on = call("continue_round", id, &more);
    let end = if debate.spoken(..).next().is_some() {
        format!("{} rules with what there is", call("verdict", id, ""))
    } else {
        format!("{} stops it", call("continue_round", id, "\"decision\":\"cancel\""))
    };
    format!("if the user allows more, in all: {on}; else {end}")
}

/// The call that goes on from here.
fn next_call(debate: &Debate, step: &Step, running: bool) -> String {
    let id = &debate.setup().id;
    if debate.outcome().is_some() {
        return after_the_end(debate);
    }
    let turn = step.at().map(|cue| id_of(debate, cue)).unwrap_or_default();
    let turn = format!("\"turn\":\"{turn}\"");
    match step {
        Step::Hold { pause: Pause::Spent { .. }, .. } => spent(debate),
        Step::Hold { .. } if is_plan(debate) => {
            let (yes, other, no) = (
                "\"decision\":\"confirm\"",
                "\"decision\":\"change\",\"say\":\"rounds=3\"",
                "\"decision\":\"cancel\"",
            );
            let calls = [yes, other, no].map(|more| call("continue_round", id, more));
            format!("when the user has answered: {}", calls.join(" or "))
        }
        Step::Hold { .. } if debate.held() => {
            let yes = call("continue_round", id, "\"decision\":\"continue\"");
            format!("if the user wants to go on: {yes}; {} rules now", call("verdict", id, ""))
        }
        Step::Hold { next, .. } => {
            let on = call("continue_round", id, &turn);
            let round = next.round;
            format!(
                "{on} plays round {round} (add \"say\" for the user's remark); {} rules now",
                call("verdict", id, "")
            )
        }
        Step::Speak { driven, awaited } if driven.is_empty() => {
            let cue = awaited.first().copied();
            let ruling = cue.is_some_and(|cue| debate.setup().phase(cue).reply == Kind::Verdict);
            let person = cue.is_some_and(|cue| debate.seat(cue).voice == Voice::Human);
            let (tool, what) = if ruling {
                ("verdict", "\"ruling\":{...}")
            } else {
                ("continue_round", "\"speech\":\"...\"")
            };
            let answer = call(tool, id, &format!("{turn},{what}"));
            if person {
                return format!("show the user the brief, and pass on their own words: {answer}");
            }
            format!("answer the brief: {answer}")
        }
        // A ruling was asked for while somebody spoke.
        _ if running && debate.held() => {
            format!("{} waits for the ruling", call("verdict", id, ""))
        }
        _ if running => {
            format!("{} waits on; nothing is spent twice", call("continue_round", id, &turn))
        }
        _ => format!("{} takes it up again", call("continue_round", id, &turn)),
    }
}
