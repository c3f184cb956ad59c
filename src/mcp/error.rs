//! Errors of tool calls. Every error a model reads is defined here, with the call to make next. The
//! main type is [`ToolError`], which all handlers return. `server` sends [`ToolError::to_text`] as
//! the tool result.
use crate::app::AppError;
use crate::debate::verdict::judgment;
use crate::debate::{Debate, SetupError, status};
use crate::engine::{ArchiveError, LogError, SessionError, SkipReason};

/// Characters of an error message.
const MAX_MESSAGE_CHARS: usize = 1_500;

/// The settings that can be changed, for error messages.
const CHANGEABLE_SETTINGS: &str = "rounds, topic, proposer, challenger, judge, any seat by its name, pause (on or off), max_cost, \
     max_tokens, max_minutes; before anything was said also goal, audience, decision_type, \
     evidence_round (on or off)";

/// Error of a tool call.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolError {
    #[error("there is no tool `{0}`")]
    UnknownTool(String),
    #[error("the arguments of {tool} cannot be read: {why}")]
    InvalidArguments { tool: String, why: String },
    #[error("the topic is empty")]
    MissingTopic(Vec<String>),
    #[error("`{name}` has a control character (U+{code:04X}) in it")]
    ControlCharacter { name: String, code: u32 },
    #[error("`{name}` has {length} characters; at most {most} are taken")]
    TooLong { name: String, length: usize, most: usize },
    #[error("`{name}` is empty")]
    EmptyArgument { name: String },
    #[error("{name} `{said}`: {why}")]
    InvalidSeat { name: String, said: String, why: String },
    #[error("{name} `{said}` is not known; allowed: {allowed}")]
    UnknownValue { name: String, said: String, allowed: String },
    #[error("options: {why}")]
    InvalidOptions { why: String, format: String },
    #[error("there is nothing to argue about: {}", .0.as_str())]
    NothingToReview(SkipReason),
    #[error(transparent)]
    App(#[from] AppError),
    #[error("several debates are open here, and their turns have the same names")]
    AmbiguousDebate { id: String },
    #[error("which turn is this for? `turn` is missing")]
    MissingTurn { due: Option<DueTurn>, id: String },
    #[error("`{0}` names no turn of this debate")]
    UnknownTurn(String, String),
    #[error("turn {turn} is not yours: {role} is played by {tool}")]
    NotYourTurn { turn: String, role: String, tool: String, id: String },
    #[error("turn {turn} is not due now")]
    TurnNotDue { turn: String, due: Option<DueTurn>, id: String },
    #[error("turn {turn} was taken already, with another text; what was said stays")]
    TurnAlreadyTaken { turn: String, id: String },
    #[error("turn {turn} was not taken: {why}")]
    ReplyRejected { turn: String, why: String, ruling: bool, id: String },
    #[error("turn {turn} asks for a {wants}, and this call gives another kind of answer")]
    WrongTool { turn: String, wants: String, tool: String, id: String },
    #[error("debate {id} has ended ({status}); {what} is no longer possible")]
    DebateEnded { id: String, status: String, what: String, ruled: bool },
    #[error("debate {id} has not ended yet; {what} is for debates that have")]
    DebateNotEnded { id: String, what: String },
    #[error("a speech is due before debate {id} can be ruled on")]
    SpeechDue { due: Option<DueTurn>, id: String },
    #[error("nothing has been said in debate {id} yet, so there is nothing to rule on")]
    NothingToRule { id: String, plan: bool },
    #[error("no turn of debate {id} has failed, so there is nothing to retry")]
    NothingToRetry { id: String },
    #[error("the rounds of debate {id} are over, so no debater would hear a remark")]
    RoundsOver { id: String },
    #[error("the budget of debate {id} is spent ({spent})")]
    BudgetSpent { id: String, spent: String, step: String },
    #[error("`change` needs `say` to say what to change: {why}")]
    InvalidChange { why: String },
    #[error("`{decision}` needs `say` to say what")]
    MissingSay { decision: String, id: String },
    #[error("this cannot be changed now: {0}")]
    ChangeRejected(String, String),
    #[error("`{part}` is no part of a debate")]
    UnknownPart { part: String },
    #[error("there is no page {page}; `{part}` has {pages}")]
    PageOutOfRange { part: String, page: usize, pages: usize },
    #[error("nothing is due from you in debate {0}, so there is no brief")]
    NoBrief(String),
    #[error("the play of debate {id} stopped: {why}")]
    RunStopped { id: String, why: String },
    #[error(
        "there is no state file here that somebody else has written, so there is nothing to import"
    )]
    NothingToImport,
    #[error("this call was cancelled before anything was opened")]
    CallCancelled,
    #[error("the server failed inside ({0}); nothing that was recorded is lost")]
    Panic(String),
}

/// A turn that is due from the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DueTurn {
    /// Id of the turn.
    pub turn: String,
    /// Role of its seat.
    pub role: String,
    /// Whether it asks for a ruling and not for a speech.
    pub ruling: bool,
}

impl DueTurn {
    fn describe(due: Option<&DueTurn>, id: &str) -> String {
        match due {
            Some(DueTurn { turn, role, ruling }) => {
                let (tool, argument) = if *ruling {
                    ("verdict", "\"ruling\":{...}")
                } else {
                    ("continue_round", "\"speech\":\"...\"")
                };
                let answer = format_call(tool, id, &format!("\"turn\":\"{turn}\",{argument}"));
                format!("the turn due from you is `{turn}` ({role}): {answer}")
            }
            None => format!("no turn is due from you: {}", format_call("continue_round", id, "")),
        }
    }
}

/// The tool that has an argument of this name.
fn tool_for_argument(argument: &str) -> &'static str {
    match argument {
        "say" | "speech" | "turn" | "decision" => "continue_round",
        "ruling" => "verdict",
        "query" | "status" => "list_debates",
        "part" => "show_debate",
        "debate_id" => "summarize",
        _ => "start_debate",
    }
}

/// Formats a tool call as a model would write it.
pub(super) fn format_call(tool: &str, id: &str, extra: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!("\"debate_id\":\"{id}\"") };
    let comma = if id.is_empty() || extra.is_empty() { "" } else { "," };
    format!("{tool} {{{id}{comma}{extra}}}")
}

impl ToolError {
    /// The call to make next.
    #[expect(clippy::too_many_lines, reason = "one match arm per error")]
    pub(super) fn next_call(&self) -> String {
        match self {
            ToolError::UnknownTool(_) => {
                "call one of start_debate, continue_round, summarize, verdict, list_debates, \
                 show_debate, list_models"
                    .into()
            }
            ToolError::InvalidArguments { tool, .. } => {
                format!("call {tool} again with arguments as its input schema has them")
            }
            ToolError::MissingTopic(suggestions) if !suggestions.is_empty() => format!(
                "ask the user what to debate, and offer what this working tree raises: {}; then call \
                 start_debate {{\"topic\":\"...\"}}",
                suggestions.join(" / ")
            ),
            ToolError::MissingTopic(_) => "ask the user what to debate, then call start_debate \
                                   {\"topic\":\"Should we ...?\"}"
                .into(),
            ToolError::ControlCharacter { name, .. } => {
                format!("call {} again with plain text", tool_for_argument(name))
            }
            ToolError::TooLong { name, .. } if name == "topic" => {
                "call start_debate again with the question in a sentence, and the rest in a file \
                 given by \"context\":\"doc=PATH\""
                    .into()
            }
            ToolError::TooLong { name, .. } => {
                format!("call {} again with a shorter text", tool_for_argument(name))
            }
            ToolError::EmptyArgument { name } => {
                format!(
                    "call {} again with something in `{name}`, or without it",
                    tool_for_argument(name)
                )
            }
            ToolError::InvalidSeat { .. } => "list_models {} shows who can be seated".into(),
            ToolError::UnknownValue { name, .. } => {
                format!(
                    "call {} again with one of these, or without `{name}`",
                    tool_for_argument(name)
                )
            }
            ToolError::InvalidOptions { format, .. } => format!(
                "call start_debate again; the resource debate://formats/{format} describes every \
                 option ({})",
                super::args::OPTION_NAMES
            ),
            ToolError::NothingToReview(_) => "name another change: start_debate with \"context\": \
                 \"diff=BASE..HEAD\" or \"diff=COMMIT\"; or tell the user and stop"
                .into(),
            ToolError::App(error) => next_call_for_app_error(error),
            ToolError::AmbiguousDebate { id } => format!(
                "call again with `debate_id`: list_debates {{}} shows them; the latest is {id}"
            ),
            ToolError::UnknownTurn(_, id) => {
                format!("{} shows which turn is due", format_call("summarize", id, ""))
            }
            ToolError::NotYourTurn { id, .. } => {
                format!("{} waits for it", format_call("continue_round", id, ""))
            }
            ToolError::MissingTurn { due, id } | ToolError::TurnNotDue { due, id, .. } => {
                DueTurn::describe(due.as_ref(), id)
            }
            ToolError::SpeechDue { due, id } => {
                let end_call = format_call("continue_round", id, "\"decision\":\"end\"");
                format!(
                    "{}; or, if the user wants no more of it, {end_call}",
                    DueTurn::describe(due.as_ref(), id)
                )
            }
            ToolError::TurnAlreadyTaken { turn, id } => {
                let part = format!("\"part\":\"{turn}\"");
                let (show_call, continue_call) =
                    (format_call("show_debate", id, &part), format_call("continue_round", id, ""));
                format!("{show_call} shows it; {continue_call} goes on")
            }
            ToolError::ReplyRejected { turn, ruling, id, .. } => {
                let (tool, argument) = if *ruling {
                    ("verdict", "\"ruling\":{...}")
                } else {
                    ("continue_round", "\"speech\":\"...\"")
                };
                format!(
                    "mend it: {}",
                    format_call(tool, id, &format!("\"turn\":\"{turn}\",{argument}"))
                )
            }
            ToolError::WrongTool { turn, tool, id, .. } => {
                let answer = format!("\"turn\":\"{turn}\",\"speech\":\"...\"");
                format!("answer it by {}", format_call(tool, id, &answer))
            }
            ToolError::DebateEnded { id, ruled, .. } => {
                let tool = if *ruled { "verdict" } else { "show_debate" };
                let purpose = if *ruled { "has its ruling" } else { "shows what was said" };
                format!("{} {purpose}; start_debate opens another", format_call(tool, id, ""))
            }
            ToolError::DebateNotEnded { id, .. } => format!(
                "{} goes on with it; {} ends it now",
                format_call("continue_round", id, ""),
                format_call("continue_round", id, "\"decision\":\"end\"")
            ),
            ToolError::NothingToRetry { id } => {
                format!(
                    "{} shows it; start_debate opens another",
                    format_call("show_debate", id, "")
                )
            }
            ToolError::NothingToRule { id, plan } => format!(
                "{} plays on; {} stops it for good",
                format_call(
                    "continue_round",
                    id,
                    if *plan { "\"decision\":\"confirm\"" } else { "" }
                ),
                format_call("continue_round", id, "\"decision\":\"cancel\"")
            ),
            ToolError::RoundsOver { id } => format!(
                "{} waits for the ruling; after it, \"say\" records what the user decides",
                format_call("verdict", id, "")
            ),
            ToolError::BudgetSpent { step, .. } => step.clone(),
            ToolError::MissingSay { decision, id } => {
                let extra = format!("\"decision\":\"{decision}\",\"say\":\"...\"");
                format!("{}, in the user's words", format_call("continue_round", id, &extra))
            }
            ToolError::InvalidChange { .. } => format!(
                "call continue_round with \"decision\":\"change\" and \"say\":\"rounds=3, \
                 judge=host\"; what can be changed: {CHANGEABLE_SETTINGS}"
            ),
            ToolError::ChangeRejected(_, id) => format!(
                "{} shows how it stands; start_debate opens another",
                format_call("summarize", id, "")
            ),
            ToolError::UnknownPart { .. } => {
                format!("call show_debate with `part` one of {}", super::args::PART_NAMES)
            }
            ToolError::PageOutOfRange { pages, .. } => {
                format!("call show_debate with `page` from 1 to {pages}")
            }
            ToolError::NoBrief(id) => {
                format!("{} shows what it waits for", format_call("summarize", id, ""))
            }
            ToolError::RunStopped { id, .. } => {
                format!(
                    "{} takes it up again; nothing is taken twice",
                    format_call("continue_round", id, "")
                )
            }
            ToolError::NothingToImport => {
                "continue_round {} goes on with the latest debate here; `debate import FILE` in a \
                 terminal takes in any other file"
                    .into()
            }
            ToolError::CallCancelled => "call start_debate again if it is still wanted".into(),
            ToolError::Panic(_) => {
                "call again; if it fails again, `debate doctor` in a terminal looks closer".into()
            }
        }
    }

    /// The error as a model reads it: the message, truncated, and the next call.
    pub(super) fn to_text(&self) -> String {
        let message = crate::report::sanitize::strip_control_chars(&self.to_string());
        let message: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
        format!("Error: {message}\nNext: {}", self.next_call())
    }
}

/// The next call after an error of the application.
fn next_call_for_app_error(error: &AppError) -> String {
    match error {
        AppError::UnknownFormat { .. } => {
            "call start_debate again without `format`, or with one of these"
        }
        AppError::InvalidFormat { .. } => {
            "tell the user to mend that file; start_debate without `format` plays a duel meanwhile"
        }
        AppError::BiasedJudge { .. } => {
            "call start_debate again with another `judge`: list_models {} shows who can be seated; \
             \"options\":{\"same_judge\":true} allows it, and the verdict says so"
        }
        AppError::InvalidOption(_) => {
            "call start_debate again with that mended; the resource debate://formats/NAME lists \
             the options of a format"
        }
        AppError::RoundsOutOfRange { .. } => {
            "call start_debate again with a number in that range, or without `rounds`; an open \
             debate takes another by continue_round {\"decision\":\"change\",\"say\":\"rounds=2\"}"
        }
        AppError::SideConflict(_) => {
            "call start_debate again with two different tools; list_models {} shows who can be seated"
        }
        AppError::ProviderUnavailable(_) => {
            "list_models {} shows who can be seated; \"host\" always can. An open debate takes \
             another seat by continue_round {\"decision\":\"change\",\"say\":\"proposer=host\"}"
        }
        AppError::InvalidConfig(_) => "tell the user to mend it; `debate models` says whether it is",
        AppError::VacantSeat(_) | AppError::NoCandidateLeft(..) => {
            "call start_debate again and name who plays it, or \"host\""
        },
        AppError::ProbeFailed { .. } => {
            "tell the user; then call start_debate again with another seat: list_models \
             {\"probe\":true} shows who answers, and \"host\" always can. \
             \"options\":{\"probe\":false} opens it all the same"
        }
        AppError::InvalidSetup(SetupError::EmptyTopic) => {
            "ask the user what to debate, then call start_debate {\"topic\":\"Should we ...?\"}"
        }
        AppError::InvalidSetup(SetupError::InvalidPrompt(..)) => {
            "tell the user to mend or remove their own prompt of that name; then call start_debate \
             again"
        }
        AppError::InvalidSetup(_) => "call start_debate again with less",
        AppError::Context(_) => {
            "call start_debate again with \"context\":\"none\" or \"auto\"; the resource \
             debate://formats/duel lists what can be given"
        }
        AppError::NoDebateHere { .. } => {
            "start_debate {\"topic\":\"...\"} opens one; list_debates {\"query\":\"in:all\"} shows \
             those of other repositories"
        }
        AppError::Archive(ArchiveError::UnknownDebate(_) | ArchiveError::AmbiguousId(..)) => {
            "list_debates {} shows the ids; without debate_id the newest is meant"
        }
        AppError::Archive(ArchiveError::LeaseHeld { id, .. }) => {
            let take_over = format_call("continue_round", id, "\"decision\":\"take_over\"");
            return format!(
                "{} watches it; if the user wants it here, {take_over} takes it over and the other stops; \
                 else call again in a few seconds",
                format_call("continue_round", id, "")
            );
        }
        AppError::Archive(ArchiveError::SchemaTooNew(_)) => {
            "tell the user to update this program, or to set DEBATE_HOME to another folder; \
             `debate doctor` looks closer"
        }
        AppError::Archive(_) | AppError::NoRandomness(_) | AppError::InvalidImportedLog(_) => {
            "tell the user to run `debate doctor` in a terminal, then call again"
        }
        AppError::CommandRefused(_)
        | AppError::CommandTimedOut { .. }
        | AppError::Outcome(_) => {
            "call summarize to see how it stands; then call again"
        }
        AppError::CorruptLog { .. } => {
            "show_debate with that `debate_id` still reads it; start_debate opens another"
        }
        AppError::UnknownSeat { names, .. } => {
            return format!(
                "its seats are {names}: continue_round {{\"decision\":\"change\",\"say\":\"NAME=SEAT\"}} \
                 hands one over"
            );
        }
        AppError::OnlyUnsignedFile(_) => {
            "tell the user what was found, and ask whether what was said in it is to be taken in, as \
             a transcript; only after their yes: continue_round {\"decision\":\"import\"} (add \
             \"say\":\"challenger=codex\" to seat others than you)"
        }
        AppError::Session(SessionError::Log(LogError::LeaseLost { .. })) => {
            "continue_round {} watches it; \"decision\":\"take_over\" takes it back, if the user wants \
             that. What was recorded stands"
        }
        AppError::Session(_) => "summarize with that `debate_id` shows what is due now",
    }
    .into()
}

/// The error of a call that is no longer possible because the debate has ended.
pub(super) fn debate_ended_error(debate: &Debate, what: &str) -> ToolError {
    ToolError::DebateEnded {
        id: debate.setup().id.clone(),
        status: status::status(debate).as_str().into(),
        what: what.into(),
        ruled: judgment(debate).is_some(),
    }
}

#[cfg(test)]
mod tests;
