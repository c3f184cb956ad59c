//! Validation rules for replies. A rule is a small pure function of the debate and the reply that
//! returns an error message if it is broken. Each phase of a format lists its rules with a
//! [`RuleWeight`]. Entry point: [`validate_reply`].
use crate::debate::record::body::Body;
use crate::debate::record::citation::Citation;
use crate::debate::record::envelope::Envelope;
use crate::debate::record::event::{Event, Reply};
use crate::debate::record::state::Debate;
use crate::debate::setup::cue::Cue;
use crate::debate::setup::rule::{Rule, RuleFinding, RuleWeight};

mod audience;
mod earlier_turns;
mod report;
mod research;
mod speech;
mod verdict;

/// Checks a reply against all rules of its phase.
pub fn check_rules(
    debate: &Debate,
    cue: Cue,
    body: &Body,
    citations: &[Citation],
) -> Vec<RuleFinding> {
    let rules = debate.setup().phase(cue).rules.iter();
    rules
        .filter_map(|&(rule, weight)| {
            let says = rule.find_violation(debate, cue, body, citations)?;
            Some(RuleFinding { rule, weight, says })
        })
        .collect()
}

/// Validates a reply. Returns the event that records it, or the findings for the retry prompt. On a
/// retry, and for awaited seats, `Mend` findings become fouls.
pub fn validate_reply(
    debate: &Debate,
    cue: Cue,
    body: Body,
    citations: Vec<Citation>,
    envelope: Envelope,
) -> Result<Event, Vec<RuleFinding>> {
    let mut findings = check_rules(debate, cue, &body, &citations);
    let is_last_attempt =
        debate.rejected_reply(cue).is_some() || debate.seat(cue).voice.is_awaited();
    for finding in findings.iter_mut().filter(|it| is_last_attempt && it.weight == RuleWeight::Mend)
    {
        finding.weight = RuleWeight::Foul;
    }
    if findings.iter().any(|finding| matches!(finding.weight, RuleWeight::Reask | RuleWeight::Mend))
    {
        return Err(findings);
    }
    Ok(Event::Spoke { cue, reply: Reply { body, findings, citations, envelope } })
}

impl Rule {
    /// Error message if the reply breaks this rule.
    fn find_violation(
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
            Rule::HelpNotTwice => audience::help_not_twice(debate, cue, body),
            Rule::NoHelp => audience::no_help(body),
            Rule::HelpFits => audience::help_fits(debate, cue, body),
            Rule::AdmitsPetitioner => audience::admits_petitioner(debate, cue, body),
            Rule::AdmitsForGood => audience::admits_for_good(debate, cue, body),
            Rule::PicksSide => verdict::picks_side(body),
            Rule::CitesRecord => verdict::cites_record(debate, cue, body),
            Rule::Recommends => verdict::recommends(body),
            Rule::SaysWhatChanged => verdict::says_what_changed(body),
            Rule::ChecksClaims => verdict::checks_claims(debate, cue, body),
            Rule::FollowsChecks => verdict::follows_checks(body),
            Rule::NamesDecisive => verdict::names_decisive(debate, cue, body),
            Rule::NamesBlindSpots => verdict::names_blind_spots(body),
            Rule::MarksByRubric => verdict::marks_by_rubric(body),
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

#[cfg(test)]
mod tests;
