//! [`StartRequest`]: what a front end passes to `App::start`, and [`StartPolicy`]: how the front
//! ends differ.
use super::cast::Cast;
use super::pairing::{FallbackJudge, FallbackSeats};
use super::spec::DebateContext;
use crate::debate::{Budget, KnownFinding, Participant};
use crate::engine::ports::ChangeSet;
use crate::options::DebateOptions;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A debate to start.
#[derive(Clone, Debug)]
pub struct StartRequest {
    /// The question. With [`StartPolicy::parse_topic`], options may stand around it.
    pub topic: String,
    /// Options the user gave explicitly.
    pub options: DebateOptions,
    pub policy: StartPolicy,
    /// Folder that paths of scripts are relative to.
    pub folder: PathBuf,
    pub seating: Seating,
    /// Replaces the limits in the options.
    pub budget: Option<Budget>,
    /// Terms stored with the debate that are no options, such as the key of a tournament's game.
    pub terms: BTreeMap<String, String>,
    /// Ids of debates with the same key that this one replaces.
    pub supersedes: Vec<String>,
}

impl StartRequest {
    /// A request with options, and defaults for everything else.
    pub fn new(
        topic: &str,
        options: DebateOptions,
        policy: StartPolicy,
        folder: PathBuf,
    ) -> StartRequest {
        StartRequest {
            topic: topic.into(),
            options,
            policy,
            folder,
            seating: Seating::Choose,
            budget: None,
            terms: BTreeMap::new(),
            supersedes: vec![],
        }
    }
}

/// How the seats are filled.
#[derive(Clone, Debug)]
pub enum Seating {
    /// By the options; open seats by pairing. The repository is read and each model is probed.
    Choose,
    /// Seats and context are known: nothing is read, and no model is probed.
    Fixed(Box<FixedSeating>),
}

/// Seats and context of a debate, chosen by the front end.
#[derive(Clone, Debug)]
pub struct FixedSeating {
    pub cast: Cast,
    pub context: DebateContext,
    /// Whether all participants must be available. False for bots that have joined already: if no
    /// judge is available, the record says so, and the bots are not sent away.
    pub check_available: bool,
}

/// How front ends differ: who fills open seats, when the debate waits for the user, and whether
/// the user's defaults apply.
#[derive(Clone, Debug)]
pub struct StartPolicy {
    /// Whether options are also parsed from the topic.
    pub parse_topic: bool,
    pub defaults: DefaultsPolicy,
    /// Participants for seats no model can take.
    pub fallbacks: FallbackSeats,
    /// Leads a dialogue if no lead is named.
    pub lead: Option<Participant>,
    pub holds: HoldPolicy,
    /// Time limit for all probes together.
    pub probe_timeout: Duration,
    /// Whether to look for an unfinished debate about the same topic.
    pub find_unfinished: bool,
}

/// Which defaults of the configuration apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultsPolicy {
    All,
    /// All but the format. A review needs two sides, so it is a duel unless the user names another
    /// format.
    AllButFormat,
    None,
}

/// When a debate waits for the user by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldPolicy {
    /// After every round, and before the start if the format says so.
    EveryRound,
    /// After a round only if the format has no fixed number of rounds.
    OpenEnded,
    /// Only if an option says so.
    Never,
}

impl StartPolicy {
    /// For an MCP client: its model takes the seats that are left, and the user decides after
    /// every round.
    pub fn host(probe_timeout: Duration) -> StartPolicy {
        StartPolicy {
            parse_topic: true,
            defaults: DefaultsPolicy::All,
            fallbacks: FallbackSeats {
                debater: Some(Participant::Host),
                judge: FallbackJudge::Other(Participant::Host),
            },
            lead: Some(Participant::Host),
            holds: HoldPolicy::EveryRound,
            probe_timeout,
            find_unfinished: true,
        }
    }

    /// For a terminal: a person argues only if named, because they may be away. Without an
    /// independent judge a debater judges, or else the person.
    pub fn terminal() -> StartPolicy {
        StartPolicy {
            parse_topic: true,
            defaults: DefaultsPolicy::All,
            fallbacks: FallbackSeats {
                debater: None,
                judge: FallbackJudge::Debater(Participant::Human),
            },
            lead: None,
            holds: HoldPolicy::OpenEnded,
            probe_timeout: Duration::MAX,
            find_unfinished: false,
        }
    }

    /// For programs that start debates without a user: tournaments, arenas and the demo.
    pub fn unattended() -> StartPolicy {
        StartPolicy {
            parse_topic: false,
            defaults: DefaultsPolicy::None,
            holds: HoldPolicy::Never,
            ..StartPolicy::terminal()
        }
    }
}

/// The user's defaults, from the configuration.
#[derive(Clone, Debug, Default)]
pub struct StartDefaults {
    /// Used where a request has no option and the format takes it.
    pub options: DebateOptions,
    /// Proposer and challenger, the preferred pair first.
    pub pairings: Vec<(String, String)>,
    /// The preferred judge first.
    pub judges: Vec<String>,
}

/// What `App::start` and `App::review` are doing.
#[derive(Clone, Debug)]
pub enum StartStage {
    /// Options were parsed from the topic.
    Understood(String),
    /// Reading the change to review.
    FindingChange,
    /// The change was read.
    ChangeFound(Arc<ChangeSet>),
    /// The findings of the previous review were looked up again.
    KnownFindings(Vec<KnownFinding>),
    /// Another process argues the same review, which is awaited. Reported at every poll.
    Waiting { id: String, holder: String },
    /// A debate that was begun earlier goes on.
    Resuming(String),
    /// Reading the repository and probing models.
    Preparing,
}

/// Receives the stages of a start.
#[derive(Clone, Debug)]
pub struct StartProgress(Option<mpsc::UnboundedSender<StartStage>>);

impl StartProgress {
    /// A progress whose stages are read from the receiver.
    pub fn channel() -> (StartProgress, mpsc::UnboundedReceiver<StartStage>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (StartProgress(Some(sender)), receiver)
    }

    /// Discards the stages.
    pub fn discard() -> StartProgress {
        StartProgress(None)
    }

    /// Reports a stage.
    pub fn report(&self, stage: StartStage) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(stage);
        }
    }
}
