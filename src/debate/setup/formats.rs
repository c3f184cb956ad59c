//! The five built-in formats, as tables: one row per phase, one column per property. The entry
//! point is [`built_in_offers`], which `formats_catalog` loads. `DebateDraft` in `engine::draft`
//! adapts a format with [`with_sealed_answers`] and [`for_code_review`].
use crate::debate::setup::format::ReplyKind::{
    self, Audit, Petition, Ruling, Score, Sections, Speech, Verdict, Vote,
};
use crate::debate::setup::format::{
    Act, Format, MAX_OPEN_ROUNDS, Phase, Quorum, Role, Rounds, Shortfall, Speakers, SpeakingOrder,
    TranscriptScope,
};
use crate::debate::setup::rule::{Rule, RuleWeight};
use Quorum::{All, One};
use Role::{Advocate, Audience, Auditor, Con, Judge, Lead, Mirror, Partner, Pro, Scribe};
use Rounds::{Leaving, Once, Open, Through};
use RuleWeight::{Foul, Mend, Note, Reask};
use Shortfall::{Abort, Conclude, GoOn, Lapse, Uncontested};
use Speakers::{Admitted, Prompted, Silent};
use SpeakingOrder::{AtOnce, InTurn};
use TranscriptScope::{Digest, Everything, Nothing, OlderRounds, Speeches};
use std::ops::RangeInclusive;

/// A format with its limits and defaults, as offered to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatOffer {
    pub format: Format,
    /// One-line description.
    pub about: String,
    /// Allowed number of rounds.
    pub rounds: RangeInclusive<u8>,
    /// Default number of rounds.
    pub default_rounds: u8,
    /// Allowed characters of a speech.
    pub speech_chars: RangeInclusive<usize>,
    /// Whether the user confirms the plan first, by default.
    pub confirm_plan: bool,
    /// Whether the judge must be a different model than the debaters.
    pub impartial_judge: bool,
    /// Whether audience seats are filled by default.
    pub default_audience: bool,
}

/// Allowed characters of a speech, unless the format sets its own limits.
pub const DEFAULT_SPEECH_CHARS: RangeInclusive<usize> = 1..=200_000;
/// Allowed characters of a speech in the arena.
const ARENA_SPEECH_CHARS: RangeInclusive<usize> = 50..=2_000;

/// Returns the built-in formats with their limits and defaults, in display order.
pub fn built_in_offers() -> [FormatOffer; 5] {
    let offer = |format, about: &str, rounds, default_rounds| {
        let about = about.to_owned();
        let speech_chars = DEFAULT_SPEECH_CHARS;
        FormatOffer {
            format,
            about,
            rounds,
            default_rounds,
            speech_chars,
            confirm_plan: false,
            impartial_judge: false,
            default_audience: false,
        }
    };
    [
        offer(duel(), "two tools argue a question, and a judge picks a side", 1..=5, 2),
        FormatOffer {
            confirm_plan: true,
            ..offer(
                research(),
                "two to four stances are researched in parallel; a neutral report in nine sections",
                1..=1,
                1,
            )
        },
        offer(
            dialectic(),
            "a partner to think with: challenges, insights and your decision, and no winner",
            1..=MAX_OPEN_ROUNDS,
            10,
        ),
        FormatOffer {
            impartial_judge: true,
            default_audience: true,
            ..offer(
                tribunal(),
                "a court of ten rounds in five acts, with a judge, an audience and a vote",
                3..=20,
                10,
            )
        },
        FormatOffer {
            speech_chars: ARENA_SPEECH_CHARS,
            ..offer(arena(), "two bots in short speeches, and a judge who scores them", 1..=10, 5)
        },
    ]
}

/// Returns the built-in formats.
pub fn built_in_formats() -> [Format; 5] {
    built_in_offers().map(|offer| offer.format)
}

/// Two models argue a question and a judge decides. Rounds 1 and 2 use the full transcript. From
/// round 3 on, a scribe summarizes everything before the previous round. If the challenger never
/// answers, the proposer is uncontested and there is no winner.
#[rustfmt::skip]
pub fn duel() -> Format {
    const PROPOSE_RULES: &[(Rule, RuleWeight)] = &[(Rule::Structured, Note), (Rule::Evidenced, Foul)];
    const CHALLENGE_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Note), (Rule::Evidenced, Foul), (Rule::RaisesFlaw, Reask),
        (Rule::ConcedesVerbatim, Reask), (Rule::FlagsUnsupported, Note),
    ];
    const DEFEND_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Note), (Rule::Evidenced, Foul), (Rule::AnswersOpponent, Foul),
        (Rule::ConcedesVerbatim, Reask), (Rule::KeepsConcessions, Foul),
        (Rule::FlagsUnsupported, Note),
    ];
    const FOLLOW_UP_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Note), (Rule::Evidenced, Foul), (Rule::RaisesOrResolves, Reask),
        (Rule::ConcedesVerbatim, Reask), (Rule::KeepsConcessions, Foul),
        (Rule::FlagsUnsupported, Note),
    ];
    const SUMMARY_RULES: &[(Rule, RuleWeight)] = &[(Rule::KeepsRecord, Reask)];
    const VERDICT_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::PicksSide, Reask), (Rule::CitesRecord, Reask), (Rule::Recommends, Reask),
        (Rule::ChecksClaims, Mend), (Rule::FollowsChecks, Mend),
    ];
    format("duel", [
        act("opening", Through(1), [
            //  name         speakers          order   hears     reply     quorum short   rules
            row("propose",   seated([Pro]),    InTurn, Nothing,  Speech,   One, Abort,    PROPOSE_RULES),
            row("challenge", seated([Con]),    InTurn, Speeches, Speech,   One, Uncontested,    CHALLENGE_RULES),
        ]),
        act("exchange", Through(2), [
            row("defend",    seated([Pro]),    InTurn, Speeches, Speech,   One, Conclude, DEFEND_RULES),
            row("follow_up", seated([Con]),    InTurn, Speeches, Speech,   One, Conclude, FOLLOW_UP_RULES),
        ]),
        act("long exchange", Leaving(0), [
            row("summarize", seated([Scribe]), InTurn, OlderRounds,    Sections, One, GoOn,     SUMMARY_RULES),
            row("defend",    seated([Pro]),    InTurn, Digest,   Speech,   One, Conclude, DEFEND_RULES),
            row("follow_up", seated([Con]),    InTurn, Digest,   Speech,   One, Conclude, FOLLOW_UP_RULES),
        ]),
        act("verdict", Once, [
            row("judge",     judges(),          AtOnce, Speeches, Verdict,  One, Conclude, VERDICT_RULES),
        ]),
    ])
}

/// Adds a first act in which both sides answer without seeing each other. The verdict must then say
/// whether the debate changed the decision.
pub fn with_sealed_answers(format: Format) -> Format {
    const ANSWER_RULES: &[(Rule, RuleWeight)] =
        &[(Rule::Structured, Note), (Rule::Evidenced, Foul)];
    let Format { name, mut acts } = format;
    for phase in acts.iter_mut().flat_map(|act| &mut act.phases) {
        if phase.reply == Verdict {
            phase.rules.push((Rule::SaysWhatChanged, Reask));
        }
        // The sealed answers are open by now, so the first speaker reads them.
        if phase.hears == Nothing {
            phase.hears = Speeches;
        }
    }
    let answer =
        row("answer", seated([Pro, Con]), AtOnce, Nothing, Speech, One, GoOn, ANSWER_RULES);
    acts.insert(0, act("sealed answers", Once, [answer]));
    Format { name, acts }
}

/// Adapts a format for code review. Disables web search, because text in the change could direct a
/// model to a URL (prompt injection). Reduces the rules that require a flaw to notes, to avoid
/// false positives.
pub fn for_code_review(mut format: Format) -> Format {
    for phase in format.acts.iter_mut().flat_map(|act| &mut act.phases) {
        phase.web = false;
        for (rule, weight) in &mut phase.rules {
            if matches!(rule, Rule::RaisesFlaw | Rule::RaisesOrResolves) {
                *weight = Note;
            }
        }
    }
    format
}

/// Advocates research two to four stances in parallel. A missing stance weakens the report. The
/// debate is aborted only if all of them fail.
#[rustfmt::skip]
pub fn research() -> Format {
    const INVESTIGATE_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Mend), (Rule::Investigates, Mend), (Rule::RatesArguments, Mend), (Rule::OwnIds, Mend),
    ];
    const REBUT_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Mend), (Rule::Rebuts, Mend), (Rule::WithinWords, Mend), (Rule::OwnIds, Mend),
    ];
    format("research", [
        act("inquiry", Once, [
            //  name           speakers            order   hears       reply     quorum short   rules
            row("investigate", seated([Advocate]), AtOnce, Nothing,    Speech,   One, Abort,    INVESTIGATE_RULES).with_web(),
            row("rebut",       seated([Advocate]), AtOnce, Speeches,   Speech,   One, GoOn,     REBUT_RULES),
            row("audit",       seated([Auditor]),  InTurn, Speeches,   Audit,    One, GoOn,     &[(Rule::AuditsArguments, Mend)]),
        ]),
        act("judgment", Once, [
            row("judge",       seated([Judge]),    InTurn, Everything, Sections, One, Conclude, &[(Rule::NineSections, Reask), (Rule::Tabulates, Mend), (Rule::Directs, Mend)]),
        ]),
    ])
}

/// An open dialogue without rules or a winner. It runs until the user ends it, then the lead writes
/// down the insights.
#[rustfmt::skip]
pub fn dialectic() -> Format {
    format("dialectic", [
        act("opening", Through(1), [
            //  name         speakers           order   hears     reply     quorum short   rules
            row("position",  seated([Lead]),    InTurn, Speeches, Speech,   One, Abort,    &[]),
            row("challenge", seated([Partner]), InTurn, Speeches, Speech,   One, Abort,    &[]),
        ]),
        act("dialogue", Open, [
            row("respond",   seated([Lead]),    InTurn, Speeches, Speech,   One, Conclude, &[]),
            row("challenge", seated([Partner]), InTurn, Speeches, Speech,   One, Conclude, &[]),
        ]),
        act("conclusion", Once, [
            row("insights",  seated([Lead]),    InTurn, Speeches, Sections, One, Conclude, &[(Rule::StatesOutcome, Reask)]),
        ]),
    ])
}

/// A court with a judge and an audience. With the default ten rounds, its acts are rounds 1-2, 3-6,
/// 7-8, 9 and 10. With fewer rounds, the middle acts get shorter. A failed turn is recorded as
/// missing and the debate goes on. At most one audience seat is admitted per round, by petition or
/// at the request of a debater, and in the key battle only at the request of a debater. The judge
/// does not see the scores of the rounds when it gives the verdict. They count separately in the
/// result.
#[rustfmt::skip]
pub fn tribunal() -> Format {
    const STANCE_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Reask), (Rule::Evidenced, Foul), (Rule::AtMostThreeClaims, Reask), (Rule::NoHelp, Reask),
    ];
    const CONFRONTATION_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Reask), (Rule::Evidenced, Foul), (Rule::AnswersOpponent, Reask), (Rule::ConcedesVerbatim, Reask),
        (Rule::KeepsConcessions, Foul), (Rule::NoNewClaims, Foul), (Rule::HelpNotTwice, Reask), (Rule::HelpFits, Reask),
    ];
    const ENDGAME_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Reask), (Rule::NoNewClaims, Reask), (Rule::NoHelp, Reask), (Rule::AnswersOpponent, Foul),
        (Rule::KeepsConcessions, Foul),
    ];
    const CLOSING_RULES: &[(Rule, RuleWeight)] = &[
        (Rule::Structured, Reask), (Rule::NoNewClaims, Reask), (Rule::NoNewFacts, Reask), (Rule::NoHelp, Reask),
    ];
    const ADMIT_RULES: &[(Rule, RuleWeight)] = &[(Rule::AdmitsPetitioner, Reask), (Rule::AdmitsForGood, Reask)];
    const RULES: &[(Rule, RuleWeight)] = &[
        (Rule::PicksSide, Reask), (Rule::CitesRecord, Reask), (Rule::Recommends, Reask), (Rule::ChecksClaims, Mend), (Rule::FollowsChecks, Mend),
        (Rule::NamesDecisive, Reask), (Rule::NamesBlindSpots, Reask),
    ];
    let argue = |short, rules| row("argue", seated([Pro, Con]), InTurn, Speeches, Speech, One, short, rules);
    let admit = || row("admit",   Prompted(Judge), InTurn, Everything, Ruling, One, GoOn, ADMIT_RULES);
    let address = || row("address", Admitted,      InTurn, Speeches,   Speech, One, GoOn, &[]);
    let score = || row("score", seated([Judge]),   AtOnce, Speeches,   Score,  One, GoOn, &[]);
    format("tribunal", [
        act("stances", Through(2), [argue(Abort, STANCE_RULES), score()]),
        act("confrontation", Leaving(4), [
            argue(GoOn, CONFRONTATION_RULES),
            row("petition", Silent(Audience),   AtOnce, Speeches, Petition, One, GoOn, &[]),
            admit(), address(), score(),
        ]),
        act("key battle", Leaving(2), [argue(GoOn, CONFRONTATION_RULES), admit(), address(), score()]),
        act("endgame", Leaving(1), [argue(GoOn, ENDGAME_RULES), score()]),
        act("closing", Leaving(0), [argue(GoOn, CLOSING_RULES), score()]),
        act("ruling", Once, [
            row("judge",    judges(),            AtOnce, Speeches, Verdict,  One, Conclude, RULES),
            row("vote",     seated([Audience]), AtOnce, Speeches, Vote,     One, GoOn, &[]),
        ]),
    ])
}

/// Two remote bots debate a motion. The bot for the motion begins. A turn that misses its deadline
/// is forfeited, and the second forfeit of a side ends the debate. A judge, if seated, scores both
/// sides by a rubric of five criteria.
#[rustfmt::skip]
pub fn arena() -> Format {
    const SPEECH_RULES: &[(Rule, RuleWeight)] = &[(Rule::FitsLength, Reask)];
    const RULES: &[(Rule, RuleWeight)] = &[(Rule::PicksSide, Reask), (Rule::CitesRecord, Reask), (Rule::MarksByRubric, Reask)];
    let speak = |name| row(name, seated([Pro, Con]), InTurn, Speeches, Speech, All, Lapse, SPEECH_RULES);
    format("arena", [
        act("opening", Through(1), [speak("open")]),
        act("clash",   Leaving(1), [speak("clash")]),
        act("closing", Leaving(0), [speak("close")]),
        act("verdict", Once, [
            //  name    speakers            order   hears     reply    quorum short rules
            row("judge", judges(),           AtOnce, Speeches, Verdict, One, GoOn,   RULES),
            row("vote", seated([Audience]), AtOnce, Speeches, Vote,    One, GoOn,   &[]),
        ]),
    ])
}

/// The judge and, if seated, the mirror, who judges with the sides swapped.
fn judges() -> Speakers {
    seated([Judge, Mirror])
}

fn seated<const N: usize>(roles: [Role; N]) -> Speakers {
    Speakers::Seated(roles.into())
}

fn format<const N: usize>(name: &str, acts: [Act; N]) -> Format {
    Format { name: name.into(), acts: acts.into() }
}

fn act<const N: usize>(name: &str, rounds: Rounds, phases: [Phase; N]) -> Act {
    Act { name: name.into(), rounds, phases: phases.into() }
}

#[expect(clippy::too_many_arguments, reason = "they are the columns of the table")]
fn row(
    name: &str,
    speakers: Speakers,
    order: SpeakingOrder,
    hears: TranscriptScope,
    reply: ReplyKind,
    quorum: Quorum,
    short: Shortfall,
    rules: &[(Rule, RuleWeight)],
) -> Phase {
    Phase {
        name: name.into(),
        speakers,
        order,
        hears,
        reply,
        quorum,
        short,
        rules: rules.into(),
        web: false,
    }
}
