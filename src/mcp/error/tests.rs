//! Golden list of all errors that an MCP client can receive: each has a sample and names the next
//! step.
use super::*;
use crate::app::pairing::VacantSeat;
use crate::app::unsigned_file::UnsignedFile;
use crate::debate::template::TemplateError;
use crate::debate::{Cue, FailureKind, SetupError, Side, TurnFailure};
use crate::engine::{
    ArchiveError, ContextError, LogError, ProviderUnavailable, SessionError, SkipReason,
    Transcript, TranscriptTurn,
};
use crate::test_support::tool_error_text::error_text_flaw;
use std::fs;
use std::path::Path;

/// Defines a function that returns at least one sample of every variant. A new variant does not
/// compile until it has a row here.
macro_rules! error_samples {
    ($name:ident: $kind:ty, $($row:pat => [$($sample:expr),+ $(,)?]),+ $(,)?) => {
        fn $name() -> Vec<(&'static str, $kind)> {
            let variant_name = |kind: &$kind| match kind { $($row => stringify!($row)),+ };
            let samples: Vec<$kind> = vec![$($($sample),+),+];
            samples.into_iter().map(|sample| (variant_name(&sample), sample)).collect()
        }
    };
}

fn s(text: &str) -> String {
    text.into()
}

fn due_turn() -> DueTurn {
    DueTurn { turn: s("0.1.0.0"), role: s("Proposer"), ruling: false }
}

const ID: &str = "debate-2026-01-02T03:04:05.678Z-9abc";

error_samples! { tool_error_samples: ToolError,
    ToolError::UnknownTool(..) => [ToolError::UnknownTool(s("debate"))],
    ToolError::InvalidArguments { .. } =>
        [ToolError::InvalidArguments { tool: s("summarize"), why: s("unknown field `id`") }],
    ToolError::MissingTopic(_) => [ToolError::MissingTopic(vec![]), ToolError::MissingTopic(vec![s("Is it?")])],
    ToolError::ControlCharacter { .. } => [ToolError::ControlCharacter { name: s("say"), code: 0x1b }],
    ToolError::TooLong { .. } => [
        ToolError::TooLong { name: s("topic"), length: 5_000, most: 4_000 },
        ToolError::TooLong { name: s("query"), length: 600, most: 500 },
    ],
    ToolError::EmptyArgument { .. } => [ToolError::EmptyArgument { name: s("say") }],
    ToolError::InvalidSeat { .. } =>
        [ToolError::InvalidSeat { name: s("judge"), said: s("-x"), why: s("not so") }],
    ToolError::UnknownValue { .. } =>
        [ToolError::UnknownValue { name: s("effort"), said: s("much"), allowed: s("low, high") }],
    ToolError::NothingToReview(..) => [ToolError::NothingToReview(SkipReason::DocsOnly)],
    ToolError::InvalidOptions { .. } => [ToolError::InvalidOptions { why: s("not so"), format: s("duel") }],
    ToolError::App(..) => [ToolError::App(AppError::SideConflict(s("both are `claude`")))],
    ToolError::MissingTurn { .. } =>
        [ToolError::MissingTurn { due: Some(due_turn()), id: s(ID) }, ToolError::MissingTurn { due: None, id: s(ID) }],
    ToolError::AmbiguousDebate { .. } => [ToolError::AmbiguousDebate { id: s(ID) }],
    ToolError::UnknownTurn(..) => [ToolError::UnknownTurn(s("first"), s(ID))],
    ToolError::NotYourTurn { .. } => [ToolError::NotYourTurn {
        turn: s("0.1.1.1"), role: s("Challenger"), tool: s("codex"), id: s(ID),
    }],
    ToolError::TurnNotDue { .. } => [
        ToolError::TurnNotDue { turn: s("1.2.0.0"), due: Some(due_turn()), id: s(ID) },
        ToolError::TurnNotDue { turn: s("1.2.0.0"), due: None, id: s(ID) },
    ],
    ToolError::TurnAlreadyTaken { .. } => [ToolError::TurnAlreadyTaken { turn: s("0.1.0.0"), id: s(ID) }],
    ToolError::ReplyRejected { .. } => [
        ToolError::ReplyRejected { turn: s("0.1.1.1"), why: s("no flaw is named"), ruling: false, id: s(ID) },
        ToolError::ReplyRejected { turn: s("3.0.0.2"), why: s("T99 was not said"), ruling: true, id: s(ID) },
        ToolError::ReplyRejected { turn: s("0.1.1.1"), why: "long ".repeat(1_000), ruling: false, id: s(ID) },
    ],
    ToolError::WrongTool { .. } => [ToolError::WrongTool {
        turn: s("0.1.0.0"), wants: s("speech"), tool: s("continue_round"), id: s(ID),
    }],
    ToolError::DebateEnded { .. } => [
        ToolError::DebateEnded { id: s(ID), status: s("completed"), what: s("a change"), ruled: true },
        ToolError::DebateEnded { id: s(ID), status: s("cancelled"), what: s("a change"), ruled: false },
    ],
    ToolError::DebateNotEnded { .. } =>
        [ToolError::DebateNotEnded { id: s(ID), what: s("keeping the record") }],
    ToolError::SpeechDue { .. } => [ToolError::SpeechDue { due: Some(due_turn()), id: s(ID) }],
    ToolError::NothingToRule { .. } => [
        ToolError::NothingToRule { id: s(ID), plan: false },
        ToolError::NothingToRule { id: s(ID), plan: true },
    ],
    ToolError::NothingToRetry { .. } => [ToolError::NothingToRetry { id: s(ID) }],
    ToolError::RoundsOver { .. } => [ToolError::RoundsOver { id: s(ID) }],
    ToolError::BudgetSpent { .. } => [ToolError::BudgetSpent {
        id: s(ID),
        spent: s("0.50, 0 tokens"),
        step: s("continue_round {\"decision\":\"change\",\"say\":\"max_cost=1.00\"}"),
    }],
    ToolError::MissingSay { .. } => [ToolError::MissingSay { decision: s("deepen"), id: s(ID) }],
    ToolError::InvalidChange { .. } => [ToolError::InvalidChange { why: s("it is empty") }],
    ToolError::ChangeRejected(..) => [ToolError::ChangeRejected(s("rounds=1"), s(ID))],
    ToolError::UnknownPart { .. } => [ToolError::UnknownPart { part: s("gossip") }],
    ToolError::PageOutOfRange { .. } => [ToolError::PageOutOfRange { part: s("transcript"), page: 99, pages: 2 }],
    ToolError::NoBrief(..) => [ToolError::NoBrief(s(ID))],
    ToolError::RunStopped { .. } => [ToolError::RunStopped { id: s(ID), why: s("the disk is full") }],
    ToolError::NothingToImport => [ToolError::NothingToImport],
    ToolError::CallCancelled => [ToolError::CallCancelled],
    ToolError::Panic(..) => [ToolError::Panic(s("no reason was given"))],
}

error_samples! { app_error_samples: AppError,
    AppError::UnknownFormat { .. } => [AppError::UnknownFormat { name: s("chess"), known: s("duel") }],
    AppError::InvalidFormat { .. } => [AppError::InvalidFormat {
        name: s("mine"), file: s("/home/me/formats/mine.toml"), why: s("it has no acts"),
    }],
    AppError::BiasedJudge { .. } =>
        [AppError::BiasedJudge { voice: s("claude"), name: s("proposer") }],
    AppError::InvalidOption(..) => [AppError::InvalidOption(s("5 roles; there must be two to four"))],
    AppError::InvalidConfig(..) => [AppError::InvalidConfig(s("`tools.claude`: unknown field `foo`"))],
    AppError::NoCandidateLeft(..) => [AppError::NoCandidateLeft(
        VacantSeat("proposer"),
        s("`claude` does not answer: 401; somebody else is seated"),
    )],
    AppError::VacantSeat(..) => [AppError::VacantSeat(VacantSeat("challenger"))],
    AppError::ProbeFailed { .. } => [AppError::ProbeFailed {
        voice: s("claude:opus"),
        failure: Box::new(TurnFailure::new(FailureKind::UnknownModel, "there is no such model")),
        alternatives: vec![s("claude"), s("codex")],
    }],
    AppError::RoundsOutOfRange { .. } => [AppError::RoundsOutOfRange { asked: 9, least: 1, most: 5 }],
    AppError::SideConflict(..) => [AppError::SideConflict(s("both are `claude`"))],
    AppError::ProviderUnavailable(..) => [ProviderUnavailable { voice: s("codex"), why: s("it is not here") }.into()],
    AppError::InvalidSetup(..) => [
        SetupError::EmptyTopic.into(),
        SetupError::TooLong("brief", 3_000_000, 2_000_000).into(),
        SetupError::InvalidPrompt(s("judge"), TemplateError::Unclosed).into(),
    ],
    AppError::Context(..) => [ContextError(s("`x` leads out of the repository")).into()],
    AppError::Archive(..) => [
        ArchiveError::UnknownDebate(s("x")).into(),
        ArchiveError::AmbiguousId(s("debate"), 2).into(),
        ArchiveError::IdTaken(s(ID)).into(),
        ArchiveError::LeaseHeld { id: s(ID), holder: s("claude-code 2.1 (process 7)") }.into(),
        ArchiveError::UnreadableFile(s("no JSON")).into(),
        ArchiveError::SchemaTooNew(99).into(),
        ArchiveError::Storage(s("disk I/O error")).into(),
    ],
    AppError::NoDebateHere { .. } => [AppError::NoDebateHere { unfinished: false, root: s("/repo") }],
    AppError::OnlyUnsignedFile(..) => [AppError::OnlyUnsignedFile(Box::new(UnsignedFile {
        path: "/repo/.claude/debate/last-debate.json".into(),
        transcript: Transcript {
            topic: s("One file or many?"),
            turns: vec![TranscriptTurn {
                round: 1, side: Side::Pro, tool: s("codex"), text: s("One."), duration_ms: 5,
            }],
            ..Transcript::default()
        },
    }))],
    AppError::UnknownSeat { .. } =>
        [AppError::UnknownSeat { name: s("referee"), names: s("proposer, challenger, judge") }],
    AppError::CorruptLog { .. } =>
        [AppError::CorruptLog { id: s(ID), seq: 4, why: s("cannot be read") }],
    AppError::InvalidImportedLog(..) => [AppError::InvalidImportedLog(s("event 4"))],
    AppError::CommandRefused(..) =>
        [AppError::CommandRefused(s("a hold is not possible now; expected: turn 0.1.0.0"))],
    AppError::CommandTimedOut { .. } =>
        [AppError::CommandTimedOut { holder: s("the terminal (process 7)") }],
    AppError::Outcome(..) => [crate::app::error::OutcomeError::NotEnded { id: s(ID) }.into()],
    AppError::NoRandomness(..) => [AppError::NoRandomness(s("no device"))],
    AppError::Session(..) => [
        SessionError::Log(LogError::LeaseLost { by: s("opencode 1.0 (process 7)") }).into(),
        SessionError::NotRunning.into(),
        SessionError::TurnTaken(Cue { act: 0, round: 1, phase: 0, seat: 0 }).into(),
    ],
}

/// Every error text, with the name of its variant.
fn all_error_texts() -> Vec<(String, String)> {
    let tool_errors =
        tool_error_samples().into_iter().map(|(kind, it)| (kind.to_owned(), it.to_text()));
    let app_errors = app_error_samples().into_iter();
    tool_errors
        .chain(app_errors.map(|(kind, it)| (kind.to_owned(), ToolError::from(it).to_text())))
        .collect()
}

/// The next step must be executable: a tool call, a resource to read, or a command for the user.
#[test]
fn every_error_names_the_next_step() {
    let tools =
        "start_debate continue_round summarize verdict list_debates show_debate list_models";
    let steps: Vec<&str> = tools.split(' ').chain(["debate://", "`debate "]).collect();
    let mut without_step = vec![];
    for (kind, text) in all_error_texts() {
        assert_eq!(error_text_flaw(&text), None, "{kind}: {text}");
        let next = text.split_once("\nNext: ").unwrap().1;
        if !steps.iter().any(|step| next.contains(step)) {
            without_step.push(format!("{kind}: {next}"));
        }
    }
    assert!(without_step.is_empty(), "no executable step: {without_step:#?}");
}

/// `DEBATE_UPDATE=1 cargo test --lib tool_errors` rewrites the golden file.
#[test]
fn golden_tool_errors_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tool-errors.txt");
    let sections = all_error_texts().into_iter().map(|(kind, text)| format!("# {kind}\n{text}\n"));
    let text = sections.collect::<Vec<_>>().join("\n");
    if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "tests/golden/tool-errors.txt is not up to date: set DEBATE_UPDATE=1"
    );
}

#[test]
fn error_message_is_cut_after_1500_characters() {
    assert_eq!(MAX_MESSAGE_CHARS, 1_500);
    let message_with = |name_chars: usize| {
        let text = ToolError::UnknownTool("x".repeat(name_chars)).to_text();
        let (message, _) = text.split_once('\n').unwrap();
        message.strip_prefix("Error: ").unwrap().to_owned()
    };
    let frame_chars = message_with(0).chars().count();
    for (excess, closing) in [(0, "x`"), (1, "xx")] {
        let message = message_with(MAX_MESSAGE_CHARS - frame_chars + excess);
        assert!(message.ends_with(closing), "{message}");
        assert_eq!(message.chars().count(), MAX_MESSAGE_CHARS);
    }
}
