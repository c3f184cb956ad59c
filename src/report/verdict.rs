//! What was ruled, under the names of the sides: judges know them as A and B, readers do not.
use super::ledger::{all_noticed, wrong};
use crate::debate::body::{Agreement, Changed, Disagreement, Quality};
use crate::debate::ledger;
use crate::debate::verdict::{Basis, Judgment, judgment, leading, rulings};
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
    /// The rulings do not agree: with the sides swapped, the judge saw it otherwise.
    pub contested: bool,
    /// Why, as the leading ruling has it.
    pub reasoning: String,
    /// The turns it rests on.
    pub cites: Vec<String>,
    /// In hundredths, as the judge says it.
    pub confidence: Option<u8>,
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
    /// Every ruling there was.
    pub rulings: Vec<RulingView>,
    /// Names the judge could not be kept from seeing, because the debate is about them.
    pub unmasked: Vec<String>,
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
    /// In hundredths, as the judge says it.
    pub confidence: u8,
}

/// What was ruled, if anything was.
pub fn verdict(debate: &Debate) -> Option<VerdictView> {
    let Judgment { winner, basis, contested, .. } = judgment(debate)?;
    let none = Ruling::default();
    let (cue, ruling) = leading(debate, winner).map_or((None, &none), |(cue, r)| (Some(cue), r));
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
        contested,
        reasoning: words(&ruling.because),
        cites: ruling.cites.iter().map(|cited| turn_name(debate, *cited)).collect(),
        confidence: cue.map(|_| ruling.confidence),
        margin: ruling.margin(),
        quality: ruling.quality,
        agreements: ruling.agreements.iter().map(both).collect(),
        disagreements: ruling.disagreements.iter().map(sides).collect(),
        unresolved: ruling.unresolved.iter().map(|text| words(text)).collect(),
        recommendation: words(&ruling.recommendation),
        unsupported: unsupported(debate),
        wrong: wrong(debate),
        noticed: all_noticed(debate),
        changed: ruling
            .changed
            .as_ref()
            .map(|it| Changed { decision: it.decision, because: words(&it.because) }),
        rulings: rulings(debate).map(|(cue, side, r)| ruling_view(debate, cue, side, r)).collect(),
        unmasked: cue.map(|cue| prompt::render(debate, cue).unmasked).unwrap_or_default(),
    })
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
        confidence: ruling.confidence,
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
    let role = debate.seat(cue).role.title().to_lowercase();
    if cue.round == 0 { role } else { format!("round {}, {role}", cue.round) }
}

/// Gives the sides their names back in what a judge wrote.
fn unmask(debate: &Debate, cue: Cue, text: &str) -> String {
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
