//! How a debate stands, in the words users are told. All of it is read off the record.
use super::body::Kind;
use super::citation::Found;
use super::event::{Outcome, Trouble};
use super::flags::{circles, settled};
use super::format::{Role, Rounds, Side};
use super::ledger::is_news;
use super::plan::{Step, next};
use super::removed::removed;
use super::seat::Voice;
use super::setup::Origin;
use super::state::Debate;
use super::verdict::judgment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As the state file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Something is due.
    InProgress,
    /// The floor is the user's.
    Paused,
    /// All of it was played.
    Completed,
    /// It came to its end with something missing.
    Degraded,
    /// There was nothing to debate.
    Aborted,
    /// Nothing was said at all.
    Failed,
    /// The user stopped it.
    Cancelled,
}

impl Status {
    /// Every way a debate can stand.
    pub const ALL: [Status; 7] = [
        Status::InProgress,
        Status::Paused,
        Status::Completed,
        Status::Degraded,
        Status::Aborted,
        Status::Failed,
        Status::Cancelled,
    ];

    /// As it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Status::InProgress => "in-progress",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Degraded => "degraded",
            Status::Aborted => "aborted",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// As it is told: a result is a success, a degraded success, or none.
    pub fn told(self) -> &'static str {
        match self {
            Status::Completed => "success",
            Status::Degraded => "degraded-success",
            other => other.word(),
        }
    }

    /// Nothing more will happen unless it is reopened.
    pub fn over(self) -> bool {
        !matches!(self, Status::InProgress | Status::Paused)
    }
}

/// How a debate stands as it is told. One that was stopped before anything was said never began.
pub fn told(debate: &Debate) -> &'static str {
    match status(debate) {
        Status::Cancelled if debate.turns().next().is_none() => Status::Aborted.told(),
        status => status.told(),
    }
}

/// What users are told when nothing but timeouts came of it.
pub const ALL_TIMED_OUT: &str = "[ERROR] Debate failed: all tool invocations timed out.";
/// What users are told when nothing came of it.
pub const NO_EXCHANGES: &str = "[ERROR] Debate failed: no successful exchanges were recorded.";
/// What users are told when the challenger never answered.
pub const UNCONTESTED: &str = "[WARN] Challenger failed. Showing proposer's uncontested position.";
/// What a debate nobody checked is worth.
pub const RIGOR: &str = "Structured perspective comparison (prompt-enforced adversarial rules, \
                         no deterministic verification)";

/// How a debate stands.
pub fn status(debate: &Debate) -> Status {
    let nothing = debate.spoken(..).next().is_none();
    match debate.outcome() {
        None if matches!(next(debate), Step::Hold { .. }) => Status::Paused,
        None => Status::InProgress,
        Some(Outcome::Cancelled) => Status::Cancelled,
        Some(_) if nothing && all_timed_out(debate) => Status::Failed,
        Some(Outcome::Aborted { .. }) => Status::Aborted,
        Some(_) if nothing => Status::Failed,
        Some(Outcome::Uncontested { .. } | Outcome::Curtailed { .. }) => Status::Degraded,
        Some(_) if debate.missing().next().is_some() => Status::Degraded,
        Some(_) => Status::Completed,
    }
}

fn all_timed_out(debate: &Debate) -> bool {
    let mut missing = debate.missing().peekable();
    missing.peek().is_some() && missing.all(|(_, failure)| failure.trouble == Trouble::TimedOut)
}

/// Whether there are two sides between whom a verdict could choose.
fn sided(debate: &Debate) -> bool {
    debate.takes_part(Role::Pro)
}

/// How a turn says that its tool had nothing to read, before it says why.
pub const UNREAD: &str = "it read no files: ";

/// What a user must be told besides the result.
pub fn notices(debate: &Debate) -> Vec<String> {
    let mut notices = vec![];
    let ended = debate.outcome().is_some_and(|outcome| *outcome != Outcome::Cancelled);
    if ended && debate.spoken(..).next().is_none() {
        let line = if all_timed_out(debate) { ALL_TIMED_OUT } else { NO_EXCHANGES };
        notices.push(line.to_owned());
    }
    match debate.outcome() {
        Some(Outcome::Uncontested { .. }) => notices.push(UNCONTESTED.into()),
        Some(Outcome::Curtailed { at, phase }) if at.round > 0 => notices.push(format!(
            "[WARN] Round {} is incomplete (`{phase}` failed); the result rests on the completed rounds.",
            at.round
        )),
        Some(Outcome::Settled { after }) => {
            let why = settled(debate, *after).map_or_else(String::new, |why| why.says(*after));
            notices.push(format!("[INFO] Ended before the last round: {why}."));
        }
        Some(Outcome::Curtailed { .. }) if judgment(debate).is_some() => notices.push(
            "[WARN] No judge gave a final ruling; marks and votes alone decided.".into(),
        ),
        Some(Outcome::Curtailed { .. }) if sided(debate) => {
            notices.push("[WARN] No judge ruled; both positions are shown without a verdict.".into());
        }
        Some(Outcome::Curtailed { phase, .. }) => notices.push(format!(
            "[WARN] `{phase}` failed; what was said is shown without it."
        )),
        _ => {}
    }
    if let (Some(outcome), Some(because)) = (debate.outcome(), debate.because()) {
        let how = if *outcome == Outcome::Cancelled { "Cancelled" } else { "Concluded" };
        notices.push(format!("[INFO] {how}: {because}"));
    }
    let removed = removed(debate);
    if !removed.is_empty() {
        notices.push(format!("[INFO] Secrets were taken out of what was said: {removed}"));
    }
    if let Some(why) = &debate.setup().unread {
        notices.push(format!("[WARN] No tool could read the repository: {why}"));
    }
    let blind = debate.turns().filter_map(|(cue, turn)| {
        let caveats = &turn.as_ref().ok()?.envelope.caveats;
        let why = caveats.iter().find_map(|caveat| caveat.strip_prefix(UNREAD))?;
        Some(format!("[WARN] {} could not read the repository: {why}", debate.tool(cue)))
    });
    for line in blind {
        if !notices.contains(&line) {
            notices.push(line);
        }
    }
    for (cue, failure) in debate.missing() {
        let (seat, tool) = (debate.seat(cue).role.title(), debate.tool(cue));
        let when = if cue.round > 0 { format!(" in round {}", cue.round) } else { String::new() };
        let word = failure.trouble.word();
        notices.push(format!("[WARN] {seat} ({tool}) {word}{when}: {}", failure.note));
    }
    notices
}

/// What a reader must know about where a debate comes from.
pub fn labels(debate: &Debate) -> Vec<&'static str> {
    let mut labels = vec![];
    let tools = |role: Role| debate.seated(role).map(|seat| &seat.voice);
    if debate.seats().iter().any(|seat| seat.voice.tool() == "demo") {
        labels.push("demo");
    }
    if let (Some(pro), Some(con)) = (tools(Role::Pro), tools(Role::Con)) {
        let one_voice = pro == con && matches!(pro, Voice::Model { .. } | Voice::Host);
        // Two tools may speak for one model, and say so only when they have spoken.
        let reported = answered_by(debate, Role::Pro);
        if one_voice || (reported.is_some() && reported == answered_by(debate, Role::Con)) {
            labels.push("single-model");
        }
    }
    if sided(debate) && judges_itself(debate) {
        labels.push("partial-judge");
    }
    if debate.setup().origin != Origin::Here {
        labels.push("imported");
    }
    labels
}

/// Whether one of those who argue also judges, or what may well be the same model.
fn judges_itself(debate: &Debate) -> bool {
    let asked = |voice: &Voice| match voice {
        Voice::Model { tool, .. } => !matches!(tool.as_str(), "script" | "demo"),
        other => *other == Voice::Host,
    };
    let judges = debate.seats().iter().filter(|seat| seat.role == Role::Judge);
    let sides: Vec<&Voice> = [Role::Pro, Role::Con]
        .into_iter()
        .filter_map(|role| debate.seated(role).map(|seat| &seat.voice))
        .collect();
    let argues = |judge: &Voice| sides.iter().any(|side| judge.may_be(side));
    judges.into_iter().any(|judge| asked(&judge.voice) && argues(&judge.voice))
}

/// The model that says it has answered for a role.
fn answered_by(debate: &Debate, role: Role) -> Option<&str> {
    let own = debate.turns().filter(|(cue, _)| debate.seat(*cue).role == role);
    own.filter_map(|(_, turn)| turn.as_ref().ok()?.envelope.model_reported.as_deref()).next_back()
}

/// How far the debate can be trusted, in one line.
pub fn rigor(debate: &Debate) -> String {
    let replies = || debate.turns().filter_map(|(_, turn)| turn.as_ref().ok());
    let count = |fits: fn(Found) -> bool| {
        replies().flat_map(|reply| &reply.citations).filter(|cited| fits(cited.found)).count()
    };
    // What can only be stated has not been checked.
    let citations = count(|found| !matches!(found, Found::Unchecked | Found::NotSearched));
    if citations == 0 {
        return RIGOR.into();
    }
    let (verified, wrong) = (count(Found::verified), count(Found::wrong));
    let ambiguous = count(|found| found == Found::Ambiguous);
    format!(
        "Structured perspective comparison (rules enforced in code; {citations} citations, \
         {verified} verified, {wrong} wrong, {ambiguous} ambiguous)"
    )
}

/// That going on is likely to bring nothing, and why; nothing, if it may or if it is over.
pub fn suggestion(debate: &Debate) -> Option<String> {
    let at = next(debate).at().filter(|at| at.round > 1 && at.act < debate.setup().ending())?;
    if debate.setup().act(at).rounds == Rounds::Open {
        return sum_up(debate, at.round);
    }
    let said = debate.turns().any(|(cue, _)| cue.stand() == at.stand());
    let settled = settled(debate, at.round - 1).filter(|_| !said)?;
    Some(format!("{}; a verdict now would lose nothing", settled.says(at.round - 1)))
}

/// Why a conversation that ends only when somebody ends it might be ended: it goes round in circles,
/// or it has gone on for longer than was thought. Nothing forces it.
fn sum_up(debate: &Debate, round: u8) -> Option<String> {
    let advice = debate.rounds();
    let long = (round > advice).then(|| {
        format!(
            "{advice} rounds are over: suggest to the user to sum up and end; nothing forces it"
        )
    });
    let stuck = circles(debate, round - 1).then(|| {
        format!(
            "in round {} both only said again what they had said: offer the user the common ground, \
             or to end it and have the disagreement summed up",
            round - 1
        )
    });
    let all: Vec<String> = long.into_iter().chain(stuck).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// How much evidence that was found the sides brought after whatever they said outside the rounds.
pub fn brought(debate: &Debate) -> usize {
    let rounds = debate.turns().filter(|(cue, _)| cue.round > 0);
    let replies = rounds.filter_map(|(cue, turn)| Some((cue, turn.as_ref().ok()?)));
    let cited = replies.flat_map(|(cue, reply)| reply.citations.iter().map(move |it| (cue, it)));
    cited.filter(|(cue, citation)| is_news(debate, *cue, citation)).count()
}

/// A side by its tool's name or its bot's, or by its role where both tools are the same.
pub fn name_of(debate: &Debate, side: Side) -> String {
    let tool = |side: Side| {
        let bot = debate.seated(side.role()).filter(|seat| seat.voice == Voice::Bot);
        if let Some(bot) = bot {
            return Some(bot.name.clone());
        }
        let mut own = debate.spoken(..).filter(|(cue, _)| debate.seat(*cue).role == side.role());
        let spoke = own.next_back().map(|(cue, _)| debate.tool(cue).to_owned());
        let seat = || debate.seated(side.role()).map(|seat| seat.voice.tool().to_owned());
        spoke.or_else(seat)
    };
    match (tool(side), tool(side.other())) {
        (Some(own), other) if Some(&own) != other.as_ref() => own,
        _ => side.word().into(),
    }
}

/// Rounds in which both sides spoke.
pub fn rounds_completed(debate: &Debate) -> u8 {
    let spoke = |round: u8, role: Role| {
        debate.spoken(..).any(|(cue, body)| {
            cue.round == round && debate.seat(cue).role == role && body.kind() == Kind::Speech
        })
    };
    let (one, other) =
        if sided(debate) { (Role::Pro, Role::Con) } else { (Role::Lead, Role::Partner) };
    let full = |round: &u8| spoke(*round, one) && spoke(*round, other);
    let last = debate.turns().map(|(cue, _)| cue.round).max().unwrap_or(0);
    (1..=last).filter(full).count() as u8
}
