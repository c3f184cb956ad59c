//! Validation rules for replies. A rule is a small pure function of the debate and the reply that
//! returns an error message if it is broken. Each phase of a format lists its rules with a
//! [`RuleWeight`]. Entry point: [`validate_reply`].
use super::body::{Body, Claim};
use super::citation::Citation;
use super::envelope::Envelope;
use super::event::{Cue, Event, Reply};
use super::format::Side;
use super::state::Debate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod asks;
mod court;
mod report;
pub mod research;
mod ruling;
mod speech;

/// A validation rule, stored by name in formats and findings. Its check may become stricter in a
/// later version, because findings are stored with the reply and never recomputed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is explained by its function below")]
pub enum Rule {
    Structured,
    Evidenced,
    FlagsUnsupported,
    AtMostThreeClaims,
    AnswersOpponent,
    RaisesFlaw,
    RaisesOrResolves,
    NoNewClaims,
    ConcedesVerbatim,
    KeepsConcessions,
    KeepsRecord,
    HelpNotTwice,
    NoHelp,
    FitsLength,
    AdmitsPetitioner,
    PicksSide,
    CitesRecord,
    Recommends,
    NineSections,
    SaysWhatChanged,
    NoNewFacts,
    HelpFits,
    AdmitsForGood,
    ChecksClaims,
    FollowsChecks,
    NamesDecisive,
    NamesBlindSpots,
    Investigates,
    RatesArguments,
    OwnIds,
    Rebuts,
    WithinWords,
    AuditsArguments,
    Directs,
    StatesOutcome,
    Tabulates,
    MarksByRubric,
}

/// What happens when a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Weight")]
pub enum Weight {
    /// The reply is rejected and the seat asked once more with the finding. If the retry breaks the
    /// rule too, the turn fails.
    Reask,
    /// The reply is rejected and the seat asked once more with the finding. If the retry breaks the
    /// rule too, it is accepted with a foul.
    Mend,
    /// The reply is accepted, counted as a foul and shown to the judge.
    Foul,
    /// The reply is accepted with a note.
    Note,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct Finding {
    pub rule: Rule,
    /// Its weight in this phase.
    pub weight: Weight,
    /// Error message.
    pub says: String,
}

/// Checks a reply against all rules of its phase.
pub fn findings(debate: &Debate, cue: Cue, body: &Body, citations: &[Citation]) -> Vec<Finding> {
    let rules = debate.setup().phase(cue).rules.iter();
    rules
        .filter_map(|&(rule, weight)| {
            let says = rule.says(debate, cue, body, citations)?;
            Some(Finding { rule, weight, says })
        })
        .collect()
}

/// Validates a reply. Returns the event that records it, or the findings for the retry prompt. On a
/// retry, and for awaited seats, `Mend` findings become fouls.
pub fn weigh(
    debate: &Debate,
    cue: Cue,
    body: Body,
    citations: Vec<Citation>,
    envelope: Envelope,
) -> Result<Event, Vec<Finding>> {
    let mut findings = findings(debate, cue, &body, &citations);
    let again = debate.refused(cue).is_some() || debate.seat(cue).voice.awaited();
    for finding in findings.iter_mut().filter(|it| again && it.weight == Weight::Mend) {
        finding.weight = Weight::Foul;
    }
    if findings.iter().any(|finding| matches!(finding.weight, Weight::Reask | Weight::Mend)) {
        return Err(findings);
    }
    Ok(Event::Spoke { cue, reply: Reply { body, findings, citations, envelope } })
}

impl Rule {
    /// Error message if the reply breaks this rule.
    fn says(
        self,
        debate: &Debate,
        cue: Cue,
        body: &Body,
        citations: &[Citation],
    ) -> Option<String> {
        match self {
            Rule::Structured => speech::structured(body),
            Rule::Evidenced => speech::evidenced(body),
            Rule::FlagsUnsupported => speech::flags_unsupported(debate, cue, body),
            Rule::AtMostThreeClaims => speech::at_most_three_claims(debate, cue, body),
            Rule::AnswersOpponent => speech::answers_opponent(debate, cue, body),
            Rule::RaisesFlaw => speech::raises_flaw(body),
            Rule::RaisesOrResolves => speech::raises_or_resolves(debate, cue, body),
            Rule::NoNewClaims => speech::no_new_claims(debate, cue, body),
            Rule::NoNewFacts => speech::no_new_facts(debate, cue, body, citations),
            Rule::ConcedesVerbatim => speech::concedes_verbatim(debate, cue, body),
            Rule::KeepsConcessions => speech::keeps_concessions(debate, cue, body, citations),
            Rule::FitsLength => speech::fits_length(debate, body),
            Rule::HelpNotTwice => court::help_not_twice(debate, cue, body),
            Rule::NoHelp => court::no_help(body),
            Rule::HelpFits => court::help_fits(debate, cue, body),
            Rule::AdmitsPetitioner => court::admits_petitioner(debate, cue, body),
            Rule::AdmitsForGood => court::admits_for_good(debate, cue, body),
            Rule::PicksSide => ruling::picks_side(body),
            Rule::CitesRecord => ruling::cites_record(debate, cue, body),
            Rule::Recommends => ruling::recommends(body),
            Rule::SaysWhatChanged => ruling::says_what_changed(body),
            Rule::ChecksClaims => ruling::checks_claims(debate, cue, body),
            Rule::FollowsChecks => ruling::follows_checks(body),
            Rule::NamesDecisive => ruling::names_decisive(debate, cue, body),
            Rule::NamesBlindSpots => ruling::names_blind_spots(body),
            Rule::MarksByRubric => ruling::marks_by_rubric(body),
            Rule::Investigates => research::investigates(body),
            Rule::RatesArguments => research::rates_arguments(body),
            Rule::OwnIds => research::own_ids(debate, cue, body),
            Rule::Rebuts => research::rebuts(debate, cue, body),
            Rule::WithinWords => research::within_words(debate, body),
            Rule::AuditsArguments => research::audits_arguments(debate, cue, body),
            Rule::KeepsRecord => report::keeps_record(debate, cue, body),
            Rule::NineSections => report::nine_sections(debate, cue, body),
            Rule::Tabulates => report::tabulates(body),
            Rule::Directs => report::directs(body),
            Rule::StatesOutcome => report::states_outcome(body),
        }
    }
}

fn tick(id: &str) -> String {
    format!("`{id}`")
}

/// Earlier replies of this seat.
fn own(debate: &Debate, cue: Cue) -> impl Iterator<Item = (Cue, &Body)> {
    debate.before(cue).filter(move |(past, _)| past.seat == cue.seat)
}

/// Claims of the other side made before this turn.
fn against(debate: &Debate, cue: Cue) -> impl Iterator<Item = &Claim> {
    let side = |cue: Cue| debate.seat(cue).role.side();
    let other = side(cue).map(Side::other);
    debate
        .before(cue)
        .filter(move |(past, _)| other.is_some() && side(*past) == other)
        .flat_map(|(_, body)| body.claims())
}
