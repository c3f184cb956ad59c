//! The court part of a verdict: round marks, audience votes, fouls (violations that judges report),
//! and admissions of listeners. `court_view` builds it as JSON, `court_summary` as Markdown.
use super::unmask::unmask_sides;
use crate::debate::round_marks::{self, HelpCalls};
use crate::debate::{Body, Cue, Debate, ReplyKind, Role, Side};
use schemars::JsonSchema;
use serde::Serialize;

/// Court part of a verdict: marks, fouls, calls for help and admissions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CourtView {
    /// Round in which the winner took the lead for good, or widened it most, by the marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turning_round: Option<u8>,
    /// Every foul called by a judge.
    pub fouls: Vec<FoulView>,
    /// The proposer's calls for help: asked and granted.
    pub pro_help: HelpCalls,
    /// The challenger's calls for help: asked and granted.
    pub con_help: HelpCalls,
    /// Listeners who were admitted to speak.
    pub admitted: Vec<AdmissionView>,
    /// Listeners who did not vote, each with the error that prevented it.
    pub abstained: Vec<String>,
}

/// A foul called by a judge.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the field names say it")]
pub struct FoulView {
    pub round: u8,
    pub side: Side,
    pub kind: String,
    pub note: String,
    /// Name of the judge who called it.
    pub by: String,
}

/// A listener who was admitted to speak.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AdmittedView")]
pub struct AdmissionView {
    /// Round of the speech.
    pub round: u8,
    /// Name of the listener's seat.
    pub seat: String,
    /// The side the listener asked to speak for, or the side that called it.
    pub supports: Option<Side>,
    /// The judge's reason for the admission.
    pub because: String,
}

/// A listener's vote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VoteView {
    /// Name of the voter's seat.
    pub seat: String,
    /// Listener type, or the seat's name if it has none.
    #[serde(rename = "type")]
    pub kind: String,
    /// The side the vote is for.
    pub vote: Side,
    /// Stated confidence, in percent.
    pub confidence: u8,
    /// Weight of the vote.
    pub weight: u16,
    /// The voter's reason.
    pub reason: String,
}

/// Every vote on the record, with the real names of the sides.
pub fn votes(debate: &Debate) -> Vec<VoteView> {
    let vote = |(cue, body): (Cue, &Body)| match body {
        Body::Vote { side, confidence, because } => Some(VoteView {
            seat: debate.seat(cue).name.clone(),
            kind: listener_kind(debate, cue.seat),
            vote: *side,
            confidence: *confidence,
            weight: debate.seat(cue).weight,
            reason: unmask_sides(debate, cue, because),
        }),
        _ => None,
    };
    debate.replies_in(..).filter_map(vote).collect()
}

/// Listener type of a seat. A seat without a type forms its own group, by name.
fn listener_kind(debate: &Debate, seat_index: u8) -> String {
    let seat = &debate.seats()[usize::from(seat_index)];
    if seat.kind.is_empty() { seat.name.clone() } else { seat.kind.clone() }
}

/// Builds the court view. `None` if no round was marked and no vote was given.
pub(super) fn court_view(debate: &Debate, winner: Side) -> Option<CourtView> {
    if round_marks::round_marks(debate).is_empty() && votes(debate).is_empty() {
        return None;
    }
    let end = Cue::END.position();
    Some(CourtView {
        turning_round: round_marks::turning_round(debate, winner),
        fouls: fouls(debate),
        pro_help: round_marks::help_calls(debate, end, Side::Pro).0,
        con_help: round_marks::help_calls(debate, end, Side::Con).0,
        admitted: admissions(debate),
        abstained: abstentions(debate),
    })
}

fn fouls(debate: &Debate) -> Vec<FoulView> {
    let reply_fouls = |(cue, body): (Cue, &Body)| -> Vec<FoulView> {
        let Body::Score { fouls, .. } = body else { return vec![] };
        let views = fouls.iter().map(|foul| FoulView {
            round: cue.round,
            side: foul.side,
            kind: foul.kind.clone(),
            note: unmask_sides(debate, cue, &foul.note),
            by: debate.seat(cue).name.clone(),
        });
        views.collect()
    };
    debate.replies_in(..).flat_map(reply_fouls).collect()
}

fn admissions(debate: &Debate) -> Vec<AdmissionView> {
    let speeches = debate.replies_in(..).filter(|(cue, body)| {
        debate.seat(*cue).role == Role::Audience && body.kind() == ReplyKind::Speech
    });
    speeches
        .map(|(cue, _)| {
            let name = debate.seat(cue).name.clone();
            let because =
                debate.replies_in(..cue).rev().find_map(|(ruling_cue, body)| match body {
                    Body::Ruling { admits, because, .. } if admits.as_ref() == Some(&name) => {
                        Some(unmask_sides(debate, ruling_cue, because))
                    }
                    _ => None,
                });
            AdmissionView {
                round: cue.round,
                supports: round_marks::supported_side(debate, cue),
                because: because.unwrap_or_default(),
                seat: name,
            }
        })
        .collect()
}

fn abstentions(debate: &Debate) -> Vec<String> {
    let failed_votes = debate.failed_turns().filter(|(cue, _)| {
        debate.setup().phase(*cue).reply == ReplyKind::Vote
            && debate.seat(*cue).role == Role::Audience
    });
    failed_votes
        .map(|(cue, failure)| format!("{} ({})", debate.seat(cue).name, failure.trouble.as_str()))
        .collect()
}
