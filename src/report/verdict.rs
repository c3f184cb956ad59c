//! What was ruled, under the names of the sides: judges know them as A and B, readers do not.
use super::court::{CourtView, court};
use super::ledger::{all_noticed, wrong};
use crate::debate::body::{Agreement, BlindSpot, Changed, Check, Disagreement, Quality};
use crate::debate::ledger;
use crate::debate::verdict::{Basis, Judgment, Weighed, judgment, leading, rulings};
use crate::debate::{Cue, Debate, Role, Ruling, Side, prompt, standing};
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict, ready to be read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerdictView {
    /// By tool, or by side where both tools are the same.
    pub winner: String,
    /// Which side that is.
    pub side: Side,
    /// What decided it.
    pub basis: Basis,
    /// The same in words.
    pub decided: String,
    /// Whether it could as well have come out otherwise.
    pub contested: bool,
    /// Why.
    pub doubts: Vec<String>,
    /// How marks, rulings and votes were weighed, where there are marks or votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighed: Option<Weighed>,
    /// Why, as the leading ruling has it.
    pub reasoning: String,
    /// The turns it rests on.
    pub cites: Vec<String>,
    /// In hundredths, by the margin and by whether the rulings agree.
    pub confidence: Option<u8>,
    /// In hundredths, as the judge says it of itself.
    pub stated: Option<u8>,
    /// Points between the sides, where they were scored.
    pub margin: Option<u8>,
    /// What the debate itself was worth.
    pub quality: Option<Quality>,
    /// What both accept.
    pub agreements: Vec<Agreement>,
    /// Where they differ.
    pub disagreements: Vec<Disagreement>,
    /// What neither answered.
    pub unresolved: Vec<String>,
    /// What to do.
    pub recommendation: String,
    /// Claims nothing was offered for, by side and id.
    pub unsupported: Vec<String>,
    /// Citations that do not resolve, by side.
    pub wrong: Vec<String>,
    /// What else is held against a side.
    pub noticed: Vec<String>,
    /// What the debate did to the decision, where both sides had answered before it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    /// The argument that decided it, as the leading ruling has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisive: Option<Decisive>,
    /// What each side did not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<BlindSpot>,
    /// What was answered about single claims before the whole was ruled on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Why it goes to the side for which those answers say less.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub despite: String,
    /// What a court adds, where rounds were marked or listeners voted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub court: Option<CourtView>,
    /// Every ruling there was.
    pub rulings: Vec<RulingView>,
    /// Names the judge could not be kept from seeing, because the debate is about them.
    pub unmasked: Vec<String>,
}

/// The argument that decided it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Decisive {
    /// The claim, by id.
    pub claim: String,
    /// Whose it is, if it is on the record.
    pub side: Option<Side>,
    /// As it was first put.
    pub text: Option<String>,
}

/// One ruling.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RulingView {
    /// Who ruled.
    pub seat: String,
    /// Whether the sides were swapped.
    pub swapped: bool,
    /// For whom.
    pub winner: String,
    /// Why.
    pub reasoning: String,
    /// What to do.
    pub recommendation: String,
    /// Points for the proposer.
    pub pro_score: Option<u8>,
    /// Points for the challenger.
    pub con_score: Option<u8>,
    /// Points between the sides, where they were scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<u8>,
    /// In hundredths, as the judge says it.
    pub confidence: u8,
}

/// What was ruled, if anything was.
pub fn verdict(debate: &Debate) -> Option<VerdictView> {
    let Judgment { winner, basis, weighed, contests, confidence, .. } = judgment(debate)?;
    let none = Ruling::default();
    let against = leading(debate, winner.other());
    let (cue, ruling) = leading(debate, winner)
        .or(against)
        .map_or((None, &none), |(cue, ruling)| (Some(cue), ruling));
    let own = ruling.side == Some(winner);
    let words = |text: &str| cue.map_or_else(|| text.to_owned(), |cue| unmask(debate, cue, text));
    let sides = |said: &Disagreement| Disagreement {
        point: words(&said.point),
        pro: words(&said.pro),
        con: words(&said.con),
    };
    let both =
        |said: &Agreement| Agreement { point: words(&said.point), evidence: words(&said.evidence) };
    Some(VerdictView {
        winner: standing::name_of(debate, winner),
        side: winner,
        basis,
        decided: basis.says().into(),
        contested: !contests.is_empty(),
        doubts: contests.iter().map(|why| why.says().into()).collect(),
        weighed,
        reasoning: match (own, cue) {
            (true, _) => words(&ruling.because),
            (false, Some(_)) => overruled(debate, winner, &words(&ruling.because)),
            (false, None) => format!("{}.", unruled(basis)),
        },
        cites: ruling.cites.iter().map(|cited| turn_name(debate, *cited)).collect(),
        confidence,
        stated: cue.map(|_| ruling.confidence),
        margin: ruling.margin().filter(|_| own),
        quality: ruling.quality,
        agreements: ruling.agreements.iter().map(both).collect(),
        disagreements: ruling.disagreements.iter().map(sides).collect(),
        unresolved: ruling.unresolved.iter().map(|text| words(text)).collect(),
        recommendation: match (own, cue) {
            (false, Some(_)) => overruled(debate, winner, &words(&ruling.recommendation)),
            _ => words(&ruling.recommendation),
        },
        unsupported: unsupported(debate),
        wrong: wrong(debate),
        noticed: all_noticed(debate),
        changed: ruling
            .changed
            .as_ref()
            .map(|it| Changed { decision: it.decision, because: words(&it.because) }),
        decisive: ruling.decisive.as_deref().filter(|_| own).map(|id| decisive(debate, winner, id)),
        blind_spots: ruling
            .blind_spots
            .iter()
            .map(|spot| BlindSpot { side: spot.side, text: words(&spot.text) })
            .collect(),
        checks: ruling.checks.clone(),
        despite: words(&ruling.despite),
        court: court(debate, winner),
        rulings: rulings(debate).map(|(cue, side, r)| ruling_view(debate, cue, side, r)).collect(),
        unmasked: cue.map(|cue| prompt::render(debate, cue).unmasked).unwrap_or_default(),
    })
}

/// What a judge said who was outweighed: it stands for the other side, and is not the winner's.
fn overruled(debate: &Debate, winner: Side, said: &str) -> String {
    let other = standing::name_of(debate, winner.other());
    format!("Marks and votes outweigh the judge, who ruled for {other}: {said}")
}

/// Why somebody has won about whom nobody ruled.
fn unruled(basis: Basis) -> &'static str {
    match basis {
        Basis::Forfeit => "The other side fell silent",
        _ => "Nobody gave a final ruling; marks and votes alone decided",
    }
}

fn ruling_view(debate: &Debate, cue: Cue, side: Side, ruling: &Ruling) -> RulingView {
    let seat = debate.seat(cue);
    RulingView {
        seat: seat.name.clone(),
        swapped: seat.role == Role::Mirror,
        winner: standing::name_of(debate, side),
        reasoning: unmask(debate, cue, &ruling.because),
        recommendation: unmask(debate, cue, &ruling.recommendation),
        pro_score: ruling.scores.map(|scores| scores.pro),
        con_score: ruling.scores.map(|scores| scores.con),
        margin: ruling.margin(),
        confidence: ruling.confidence,
    }
}

/// The winner's claim of that name, or anybody's.
fn decisive(debate: &Debate, winner: Side, id: &str) -> Decisive {
    let entries = ledger::entries(debate, Cue::END);
    let named = || entries.iter().filter(|entry| entry.claim.id == id);
    let entry = named().find(|entry| entry.side == winner).or_else(|| named().next());
    Decisive {
        claim: id.into(),
        side: entry.map(|entry| entry.side),
        text: entry.map(|entry| entry.claim.text.clone()),
    }
}

/// Claims nothing was offered for, each with its side.
pub fn unsupported(debate: &Debate) -> Vec<String> {
    let bare = ledger::entries(debate, Cue::END).into_iter().filter(ledger::Entry::unsupported);
    bare.map(|entry| {
        let side = standing::name_of(debate, entry.side);
        format!("{side} `{}`: {}", entry.claim.id, entry.claim.text)
    })
    .collect()
}

/// `round 2, challenger`.
pub fn turn_name(debate: &Debate, cue: Cue) -> String {
    let seat = debate.seat(cue);
    let role = seat.word();
    if cue.round == 0 { role } else { format!("round {}, {role}", cue.round) }
}

/// Gives the sides their names back in what a judge wrote.
pub fn unmask(debate: &Debate, cue: Cue, text: &str) -> String {
    let mut text = text.to_owned();
    for side in [Side::Pro, Side::Con] {
        if let Some(label) = debate.label_for(cue, side) {
            let name = standing::name_of(debate, side);
            let name = if name == side.word() { format!("the {name}") } else { name };
            for word in ["Side", "side"] {
                text = replace_word(&text, &format!("{word} {label}"), &name);
            }
        }
    }
    text
}

/// Replaces a word where it stands by itself.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let alone = !before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        done.push_str(before);
        let begins = done.trim_end().ends_with(['.', '!', '?']);
        match by.strip_prefix("the ") {
            _ if !alone => done.push_str(word),
            Some(rest) if begins => {
                done.push_str("The ");
                done.push_str(rest);
            }
            _ => done.push_str(by),
        }
        rest = after;
    }
    done + rest
}
