//! What a debate between bots came to, and why it is over.
use super::wire;
use crate::debate::verdict::{judgment, leading};
use crate::debate::{Debate, Outcome, Role, Side};

/// Why a debate is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All rounds were held.
    Completed,
    /// A side has forfeited two turns.
    Forfeit,
    /// A bot was not heard of any more.
    Offline,
    /// It took too long.
    Timeout,
    /// Nobody came.
    Expired,
    /// All that may be spent on it is spent.
    Budget,
    /// Whoever runs the arena asked for the verdict before its time.
    Concluded,
    /// Whoever runs the arena ended it.
    Cancelled,
}

impl Reason {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Completed => "completed",
            Reason::Forfeit => "forfeit",
            Reason::Offline => "offline",
            Reason::Timeout => "timeout",
            Reason::Expired => "expired",
            Reason::Budget => "budget",
            Reason::Concluded => "concluded",
            Reason::Cancelled => "cancelled",
        }
    }
}

/// Why a debate is over, by its record.
pub(super) fn reason(debate: &Debate) -> Reason {
    let said = debate.because().and_then(|because| because.split(':').next());
    match (debate.outcome(), said) {
        (_, Some("offline")) => Reason::Offline,
        (_, Some("timeout")) => Reason::Timeout,
        (_, Some("budget")) => Reason::Budget,
        (Some(Outcome::Ended), _) => Reason::Concluded,
        (Some(Outcome::Cancelled), _) => Reason::Cancelled,
        (Some(Outcome::Completed | Outcome::Settled { .. }) | None, _) => Reason::Completed,
        _ => Reason::Forfeit,
    }
}

/// What it came to. Nobody has won what nobody has judged, and there are no scores then.
pub fn result(debate: &Debate) -> wire::Outcome {
    let seated = |side: Side| {
        let seat = debate.seats().iter().find(|seat| seat.role == side.role());
        seat.map(|seat| seat.name.clone())
    };
    let Some(judged) = judgment(debate) else {
        let summary = unjudged(debate);
        return wire::Outcome {
            winner: None,
            supporting_score: None,
            opposing_score: None,
            summary,
        };
    };
    let ruling = leading(debate, judged.winner);
    let scores = ruling.and_then(|(_, ruling)| ruling.scores);
    let mut summary = ruling.map_or_else(
        || judged.basis.says().to_owned(),
        |(cue, ruling)| named(debate, debate.seat(cue).role, &ruling.because),
    );
    if judged.contested() {
        let why: Vec<&str> = judged.contests.iter().map(|contest| contest.says()).collect();
        summary = format!("{summary}\n\nContested: {}.", why.join("; "));
    }
    wire::Outcome {
        winner: seated(judged.winner),
        supporting_score: scores.map(|scores| scores.pro),
        opposing_score: scores.map(|scores| scores.con),
        summary,
    }
}

/// A ruling is made without names; its readers know them.
fn named(debate: &Debate, judge: Role, text: &str) -> String {
    let first = if judge == Role::Mirror { Side::Con } else { Side::Pro };
    let name = |side: Side| {
        let seat = debate.seats().iter().find(|seat| seat.role == side.role());
        seat.map_or("", |seat| seat.name.as_str())
    };
    text.replace("Side A", name(first)).replace("Side B", name(first.other()))
}

/// Why nobody has judged it.
fn unjudged(debate: &Debate) -> String {
    let silent: Vec<&str> = [Side::Pro, Side::Con]
        .into_iter()
        .filter(|side| !debate.spoke(*side))
        .filter_map(|side| debate.seats().iter().find(|seat| seat.role == side.role()))
        .map(|seat| seat.name.as_str())
        .collect();
    let why = match silent.as_slice() {
        [] => None,
        [one] => Some(format!("{one} has never spoken, so there is nothing to judge")),
        _ => Some("neither side has spoken, so there is nothing to judge".into()),
    };
    let judges = debate.seats().iter().filter(|seat| seat.role == Role::Judge).count();
    let lost = debate.missing().find(|(cue, _)| debate.seat(*cue).role == Role::Judge);
    let why = why.unwrap_or_else(|| match (judges, lost) {
        (0, _) => "no judge is seated".into(),
        (_, Some((_, failure))) => format!("the judge did not answer ({})", failure.trouble.word()),
        (_, None) => "no judge has ruled".into(),
    });
    let ended = debate.because().map(|because| format!(" It ended because of this: {because}."));
    format!("Not judged: {why}.{}", ended.unwrap_or_default())
}
