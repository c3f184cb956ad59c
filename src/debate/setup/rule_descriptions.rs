//! Metadata of the rules: the reply kind each applies to, and its description in prompts.
use crate::debate::setup::format::ReplyKind;
use crate::debate::setup::rule::Rule;

impl Rule {
    /// Kind of reply the rule validates.
    pub fn reply_kind(self) -> ReplyKind {
        match self {
            Rule::Structured
            | Rule::Evidenced
            | Rule::FlagsUnsupported
            | Rule::AtMostThreeClaims
            | Rule::AnswersOpponent
            | Rule::RaisesFlaw
            | Rule::RaisesOrResolves
            | Rule::NoNewClaims
            | Rule::NoNewFacts
            | Rule::ConcedesVerbatim
            | Rule::KeepsConcessions
            | Rule::HelpNotTwice
            | Rule::HelpFits
            | Rule::NoHelp
            | Rule::FitsLength
            | Rule::Investigates
            | Rule::RatesArguments
            | Rule::OwnIds
            | Rule::Rebuts
            | Rule::WithinWords => ReplyKind::Speech,
            Rule::AdmitsPetitioner | Rule::AdmitsForGood => ReplyKind::Ruling,
            Rule::PicksSide
            | Rule::CitesRecord
            | Rule::Recommends
            | Rule::SaysWhatChanged
            | Rule::ChecksClaims
            | Rule::FollowsChecks
            | Rule::NamesDecisive
            | Rule::NamesBlindSpots
            | Rule::MarksByRubric => ReplyKind::Verdict,
            Rule::AuditsArguments => ReplyKind::Audit,
            Rule::KeepsRecord
            | Rule::NineSections
            | Rule::Tabulates
            | Rule::Directs
            | Rule::StatesOutcome => ReplyKind::Sections,
        }
    }

    /// One-sentence description for prompts.
    pub fn description(self) -> &'static str {
        match self {
            Rule::Structured => "The speech ends with a claims block that can be read.",
            Rule::Evidenced => "Every claim comes with evidence that can be looked at.",
            Rule::FlagsUnsupported => "What the other side leaves unsupported is called out.",
            Rule::AtMostThreeClaims => {
                "At most three core arguments in this act; an answer to an opposing claim is none."
            }
            Rule::AnswersOpponent => "At least one opposing claim is answered, by its id.",
            Rule::RaisesFlaw => "At least one flaw is named as a claim.",
            Rule::RaisesOrResolves => "A concern is raised, or one is certified as resolved.",
            Rule::NoNewClaims => "No new claim: only answers, and what was claimed before.",
            Rule::NoNewFacts => "No new facts: no evidence that was not offered before.",
            Rule::ConcedesVerbatim => "A concession quotes the conceded claim word for word.",
            Rule::KeepsConcessions => "What was conceded binds, unless new evidence is offered.",
            Rule::KeepsRecord => "Every concession is quoted, every open disagreement named.",
            Rule::HelpNotTwice => {
                "A listener may be asked for help, but not in two rounds running; the judge decides."
            }
            Rule::HelpFits => {
                "A call for help is technical, ethical or practical, and names a listener who has \
                 not spoken yet."
            }
            Rule::NoHelp => "Nobody may be asked for help in this act.",
            Rule::FitsLength => "The speech is within the length allowed.",
            Rule::AdmitsPetitioner => "Only who asked for the floor, or was asked for, is let in.",
            Rule::AdmitsForGood => "Whoever is let in for asking brings something new.",
            Rule::PicksSide => "The ruling picks a side.",
            Rule::CitesRecord => "The ruling cites the turns it rests on.",
            Rule::Recommends => "The recommendation says what to do.",
            Rule::SaysWhatChanged => "The ruling says what the debate changed.",
            Rule::ChecksClaims => "Every contested claim is asked about by itself.",
            Rule::FollowsChecks => "The ruling follows from those answers, or says why not.",
            Rule::NamesDecisive => "The winner's claim that decided it is named by its id.",
            Rule::NamesBlindSpots => "At least one blind spot of each side is named.",
            Rule::MarksByRubric => "The scores are the sums of the marks by the five criteria.",
            Rule::Investigates => {
                "Three to five arguments, two or three weaknesses of the others, one or two \
                 counter-attacks with an answer."
            }
            Rule::RatesArguments => "Every argument has a confidence and a source.",
            Rule::OwnIds => "Claims are numbered under the letter of their own stance.",
            Rule::Rebuts => {
                "Every argument of every other stance is answered; one attack on the weakest \
                 premise; two new attacks."
            }
            Rule::WithinWords => "The text is within the words allowed.",
            Rule::AuditsArguments => "Every argument is tagged.",
            Rule::NineSections => "Nine sections in their order, none of them empty.",
            Rule::Tabulates => {
                "The matrix is a table of three columns; the summary is one sentence."
            }
            Rule::Directs => "The recommendation gives a direction.",
            Rule::StatesOutcome => "The outcome and what was learned are stated.",
        }
    }
}
