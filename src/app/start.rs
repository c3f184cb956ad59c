//! The use case "start a debate": [`App::start`]. Every front end calls it, whether a person, a
//! client's model, a tournament or an arena room starts the debate.
//!
//! Steps: plan (`plan`), read the repository, fill and probe the seats (`preflight`), estimate the
//! cost, create the debate and run it (`create`).
use super::discovery::CostEstimate;
use super::draft::DebateDraft;
use super::plan::StartPlan;
use super::request::{FixedSeating, Seating, StartProgress, StartRequest, StartStage};
use super::spec::DebateContext;
use super::{App, AppError};
use crate::engine::ports::{DebateQuery, Workspace};
use crate::engine::run::DebateRun;

/// Unfinished debates that are compared with the topic of a new one.
const MAX_COMPARED_DEBATES: usize = 20;

/// A debate that was started.
pub struct Started {
    pub run: DebateRun,
    pub report: StartReport,
}

/// What the user should know about a debate that was started.
#[derive(Clone, Debug, Default)]
pub struct StartReport {
    /// Options that were parsed from the topic, as one line.
    pub understood: Option<String>,
    /// Parts of the repository the debaters are given, with reasons.
    pub given: Vec<String>,
    /// Seats that were filled automatically, with reasons.
    pub chosen: Vec<String>,
    pub warnings: Vec<String>,
    /// `None` if no model is called.
    pub estimate: Option<CostEstimate>,
    /// Id of an unfinished debate about the same topic.
    pub unfinished: Option<String>,
}

impl App {
    /// Starts a debate: plans it, fills its seats, creates it and runs it in the background.
    /// Nothing is stored before all of that is validated.
    pub async fn start(
        &self,
        request: StartRequest,
        workspace: &Workspace,
        progress: &StartProgress,
    ) -> Result<Started, AppError> {
        let StartPlan { spec, seating, understood } = self.plan_start(&request)?;
        if let Some(understood) = &understood {
            progress.report(StartStage::Understood(understood.clone()));
        }
        progress.report(StartStage::Preparing);
        let (draft, warnings, check_available) = match request.seating {
            Seating::Choose => {
                let (draft, warnings) = self.prepare(spec, &seating, &workspace.root).await?;
                (draft, warnings, true)
            }
            Seating::Fixed(fixed) => {
                let FixedSeating { cast, context, check_available } = *fixed;
                (DebateDraft { spec, cast, context }, vec![], check_available)
            }
        };
        let unfinished = if request.policy.find_unfinished {
            self.find_unfinished(&draft.spec.topic, workspace).await
        } else {
            None
        };
        let mut started = self.launch(&draft, warnings, check_available, workspace).await?;
        started.report.understood = understood;
        started.report.unfinished = unfinished;
        Ok(started)
    }

    /// Estimates the cost of a request whose seats are all named. `None` if no model is called.
    pub fn estimate(&self, request: &StartRequest) -> Result<Option<CostEstimate>, AppError> {
        let StartPlan { spec, seating, .. } = self.plan_start(request)?;
        let (cast, context) = (seating.placeholder_cast(), DebateContext::default());
        self.estimate_cost(&DebateDraft { spec, cast, context })
    }

    /// Creates a prepared debate and runs it.
    pub(super) async fn launch(
        &self,
        draft: &DebateDraft,
        warnings: Vec<String>,
        check_available: bool,
        workspace: &Workspace,
    ) -> Result<Started, AppError> {
        let setup = draft.build_setup(&self.catalog, String::new(), String::new(), 0)?;
        setup.validate()?;
        if check_available {
            self.check_seats(&setup.seats)?;
        }
        let report = StartReport {
            given: draft.context.picked.clone(),
            chosen: draft.cast.choices.clone(),
            warnings,
            estimate: self.estimate_cost(draft)?,
            ..StartReport::default()
        };
        let run = Box::pin(self.create_and_run(draft, workspace)).await?;
        Ok(Started { run, report })
    }

    /// Id of the newest unfinished debate of the repository about this topic.
    async fn find_unfinished(&self, topic: &str, workspace: &Workspace) -> Option<String> {
        let query = DebateQuery {
            root: Some(workspace.root.clone()),
            unfinished: true,
            limit: Some(MAX_COMPARED_DEBATES),
            ..DebateQuery::default()
        };
        let cards = self.archive.queries.list(&query).await.unwrap_or_default();
        cards.into_iter().find(|card| card.topic == topic).map(|card| card.id)
    }
}
