//! `debate review`: debates a code change and prints the findings. A review of the same change in
//! the archive is reused, resumed or, if another process runs it, awaited.
use super::args::ReviewArgs as Typed;
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::review_output::{OutputTarget, parse_outputs, write_review};
use super::run::{build_draft, print_preparation};
use super::screen::Screen;
use super::workspace;
use crate::config::{CiContext, Config};
use crate::debate::{Debate, KnownFinding};
use crate::engine::change_review::{EarlierReview, summarize_change};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::topic_options::TopicOptions;
use crate::engine::{
    App, AppError, ArchiveError, ChangeSelector, ChangeSet, DebateDraft, LeaseMode, Workspace,
};
use crate::report::sanitize::one_line;
use crate::review::merge_gate::blocks_merge;
use crate::review::request::{self, PreparedReview};
use crate::review::{Review, review_from_debate as reviewed, skipped_review, with_known_findings};
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum size in bytes of a description, an earlier review or a patch.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// Poll interval while another process runs the same review.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Handler of `debate review`.
pub(super) async fn review(
    typed: &Typed,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let limit = typed.time_limit.map(|limit| Instant::now() + limit);
    let (place, pipeline) = (workspace::current_workspace(config), config.ci_context());
    check_stdio_use(typed)?;
    request::require_archive_outside_repo(&config.data_dir, &place.root)?;
    // Read all inputs before any output file is opened: they may be the same file.
    let meant = select_change(typed, &pipeline, config)?;
    let said = request::ReviewRequest {
        title: change_title(typed, &pipeline),
        body: change_description(typed, &pipeline, &config.current_dir)?,
        selector: Some(meant.clone()),
        subject: typed.subject.clone().or(pipeline.number.map(|number| format!("#{number}"))),
        earlier: typed
            .earlier
            .as_ref()
            .map(|it| read_earlier_review(&config.current_dir, it))
            .transpose()?,
        fresh: typed.fresh,
    };
    let outputs = parse_outputs(&typed.output, &config.current_dir, &config.repo_root)?;
    let written = outputs.iter().filter_map(OutputTarget::resolved_file).collect();
    let proposal =
        desk.find_change_set(&place.root, meant, written).await.map_err(change_not_found)?;
    screen.note(&format!("[INFO] Under review: {}", one_line(&proposal.description)));
    warn_about_secrets(&pipeline, &proposal, screen);
    let came = if let Some(why) = request::skip_reason(&proposal, typed.docs) {
        Err(NotDebated { reason: why.as_str(), incomplete: false })
    } else {
        let pipeline = &pipeline;
        let asked = ReviewRun {
            args: typed,
            config,
            app: desk,
            workspace: &place,
            ci: pipeline,
            request: &said,
            deadline: limit,
        };
        Box::pin(asked.debate_change(&proposal, screen)).await?
    };
    let outline = summarize_change(&proposal, &said.title);
    let review = match &came {
        Ok(ReviewDebate { debate, earlier_findings: known, .. }) => {
            let review = reviewed(debate, typed.max_findings).unwrap_or_default();
            let review = match known {
                Some(known) => with_known_findings(review, known),
                None => review,
            };
            // The same change may have been reviewed under another title.
            let unnamed = outline.title.is_empty();
            let title = if unnamed { outline.compared.says.clone() } else { review.title.clone() };
            Review { change: outline.compared.clone(), title, ..review }
        }
        Err(NotDebated { reason: why, .. }) => {
            screen.note(&format!("[INFO] Not argued: {why}."));
            skipped_review(&outline, why)
        }
    };
    write_review(&review, &outputs, &pipeline, typed.display, (desk, screen))?;
    Ok(match &came {
        Err(NotDebated { incomplete: true, .. }) if typed.strict => Exit::Degraded,
        Err(_) => Exit::Ok,
        Ok(ReviewDebate { stopped: true, .. }) => Exit::Stopped,
        Ok(_) if blocks_merge(&review, typed.fail_on.into()) => Exit::Blocked,
        Ok(ReviewDebate { debate, .. }) => exit_code(debate, typed.strict && review.degraded),
    })
}

/// Debate about a change.
struct ReviewDebate {
    debate: Debate,
    /// Whether the user stopped it.
    stopped: bool,
    /// Findings of an earlier review that this debate did not know.
    earlier_findings: Option<Vec<KnownFinding>>,
}

/// Why there was no debate.
struct NotDebated {
    reason: &'static str,
    /// Whether the review is incomplete because time ran out.
    incomplete: bool,
}

/// A review request, with everything needed to run it.
struct ReviewRun<'a> {
    args: &'a Typed,
    config: &'a Config,
    app: &'a App,
    workspace: &'a Workspace,
    ci: &'a CiContext,
    request: &'a request::ReviewRequest,
    deadline: Option<Instant>,
}

impl ReviewRun<'_> {
    /// Reuses, resumes or starts the debate about the change, or returns why there is none.
    async fn debate_change(
        &self,
        proposal: &ChangeSet,
        screen: &mut Screen,
    ) -> Result<Result<ReviewDebate, NotDebated>, CliError> {
        let ReviewRun { args: typed, config, app: desk, workspace: place, ci: pipeline, .. } = self;
        let drafted = build_draft(&typed.seating, &TopicOptions::default(), None, config, desk)?;
        let posed = request::prepare_review(
            desk,
            &place.root,
            proposal.clone(),
            self.request.clone(),
            drafted,
        )
        .await?;
        let PreparedReview { mut draft, seating: wish, earlier: already } = posed;
        request::require_verdict_format(desk, &draft.format, typed.fail_on.into())?;
        let used = already.is_none() || typed.earlier.is_some();
        let known: Vec<&KnownFinding> =
            draft.reviewed_change.iter().filter(|_| used).flat_map(|it| &it.known).collect();
        if !known.is_empty() {
            let (all, gone) = (known.len(), known.iter().filter(|it| it.gone).count());
            screen.note(&format!(
                "[INFO] Found by the review before this one: {all}; what {gone} of them rested on is gone."
            ));
        }
        let already = self.wait_for_other_process(already, &mut draft, screen).await?;
        let job = match already {
            Some(EarlierReview::Running { .. }) => {
                let why = "another process was arguing the same until the time was over";
                return Ok(Err(NotDebated { reason: why, incomplete: true }));
            }
            Some(EarlierReview::Finished(id)) => {
                screen.note(&format!("[INFO] Reviewed already, as {id}: nobody is asked again."));
                let known =
                    draft.reviewed_change.map(|it| it.known).filter(|_| typed.earlier.is_some());
                return Ok(Ok(ReviewDebate {
                    debate: desk.read(&id)?.1,
                    stopped: false,
                    earlier_findings: known,
                }));
            }
            Some(EarlierReview::Unfinished(id)) => {
                screen.note(&format!("[INFO] Going on with {id}, which was cut short."));
                let allowing = desk.budget_commands(&id, draft.budget)?;
                match desk.resume(&id, place, LeaseMode::IfFree, allowing) {
                    Err(error) if is_lost_race(&error) => {
                        return Box::pin(self.debate_change(proposal, screen)).await;
                    }
                    resumed => resumed?,
                }
            }
            None => {
                let prepared = tokio::select! {
                    prepared = desk.prepare(draft, &wish, &place.root) => prepared,
                    () = sleep_until_deadline(self.deadline) => {
                        let why = "the time was over before anybody could be asked";
                        return Ok(Err(NotDebated { reason: why, incomplete: true }));
                    }
                    () = wait_for_shutdown() => {
                        screen.warn("[WARN] Stopped before anything was opened.");
                        return Err(CliError::Usage("stopped".into(), "start it again".into()));
                    }
                };
                let (opening, warnings) = match prepared {
                    Err(error) if pipeline.from_fork && error.is_provider_missing() => {
                        let why = "the change comes from a fork, which has no secrets, so there is \
                                   no model to ask";
                        return Ok(Err(NotDebated { reason: why, incomplete: false }));
                    }
                    prepared => prepared?,
                };
                print_preparation(&opening, &warnings, desk, screen)?;
                match desk.open(&opening, place) {
                    Err(error) if is_lost_race(&error) => {
                        return Box::pin(self.debate_change(proposal, screen)).await;
                    }
                    opened => opened?,
                }
            }
        };
        let id = job.id().to_owned();
        let play = DebatePlayer {
            config,
            app: desk,
            assume_yes: true,
            display: typed.display,
            print_summary: false,
            deadline: self.deadline,
            resume_hint: Some(
                "The same command goes on with it; after a spent budget, with a higher one.",
            ),
        };
        screen.start_group("The debate");
        let played = play.play_until_stop(job, screen).await;
        screen.end_group();
        let stopped = played?.stopped;
        Ok(Ok(ReviewDebate { debate: desk.read(&id)?.1, stopped, earlier_findings: None }))
    }
}

/// Whether another process has started or resumed the same review since the archive was read. The
/// caller then retries, finds that debate and waits for it.
fn is_lost_race(error: &AppError) -> bool {
    use ArchiveError::{Duplicate, LeaseHeld};
    matches!(error, AppError::Archive(LeaseHeld { .. } | Duplicate { .. }))
}

/// Sleeps until the deadline, or for ever without one.
async fn sleep_until_deadline(limit: Option<Instant>) {
    match limit {
        Some(limit) => tokio::time::sleep_until(limit).await,
        None => std::future::pending().await,
    }
}

impl ReviewRun<'_> {
    /// Polls until no other process runs the same review or the deadline passes, and returns the
    /// earlier review. Earlier debates that cannot be reused are superseded by the draft.
    async fn wait_for_other_process(
        &self,
        mut already: Option<EarlierReview>,
        draft: &mut DebateDraft,
        screen: &mut Screen,
    ) -> Result<Option<EarlierReview>, CliError> {
        let mut told = false;
        while let (Some(EarlierReview::Running { id, holder: by }), Some(proposed)) =
            (&already, &draft.reviewed_change)
        {
            if self.deadline.is_some_and(|limit| Instant::now() >= limit) {
                break;
            }
            if !told {
                screen.note(&format!("[INFO] The same is being argued by {by}, as {id}: waiting."));
                told = true;
            }
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = wait_for_shutdown() => {
                    let hint = "start it again: what the other argues is then there";
                    return Err(CliError::Usage("stopped while waiting".into(), hint.into()));
                }
            }
            let same = self.app.find_same_review(&self.workspace.root, proposed)?;
            already = same.earlier;
            draft.supersedes = same.ids;
        }
        Ok(already)
    }
}

/// Rejects arguments that use stdin or stdout twice.
fn check_stdio_use(typed: &Typed) -> Result<(), CliError> {
    let stdin = |file: &Option<std::path::PathBuf>| file.as_deref() == Some(Path::new("-"));
    if stdin(&typed.patch) && stdin(&typed.pr_body) {
        let hint = "put one of them into a file";
        return Err(CliError::Usage(
            "stdin cannot be both patch and description".into(),
            hint.into(),
        ));
    }
    if typed.display.json && typed.output.iter().any(|output| output.ends_with("=-")) {
        let hint = "leave `--json` out, or write `--output json=-`";
        return Err(CliError::Usage("two outputs would go to stdout".into(), hint.into()));
    }
    Ok(())
}

/// Usage error for a change that cannot be resolved.
fn change_not_found(error: AppError) -> CliError {
    match error {
        AppError::Context(bad) => CliError::Usage(
            bad.to_string(),
            "`debate review --help` shows how a change is named".into(),
        ),
        other => other.into(),
    }
}

/// Selects the change: flags first, then the CI context, then the working tree.
fn select_change(
    typed: &Typed,
    pipeline: &CiContext,
    config: &Config,
) -> Result<ChangeSelector, CliError> {
    if let Some(file) = &typed.patch {
        return Ok(ChangeSelector::Patch {
            text: read_input(&config.current_dir, file)?,
            base: typed.base.clone(),
        });
    }
    if typed.staged {
        return Ok(ChangeSelector::Staged);
    }
    if let Some(id) = &typed.commit {
        return Ok(ChangeSelector::Commit(id.clone()));
    }
    let from_base = typed.base.as_ref().map(|base| format!("{base}..HEAD"));
    let typed = typed.range.clone().or(from_base);
    let told = pipeline.range.as_ref().map(|(base, head)| format!("{base}..{head}"));
    Ok(typed.or(told).map_or(ChangeSelector::Auto, ChangeSelector::Range))
}

fn change_title(typed: &Typed, pipeline: &CiContext) -> String {
    typed.pr_title.clone().or(pipeline.title.clone()).unwrap_or_default()
}

fn change_description(
    typed: &Typed,
    pipeline: &CiContext,
    folder: &Path,
) -> Result<String, CliError> {
    match &typed.pr_body {
        Some(file) => Ok(String::from_utf8_lossy(&read_input(folder, file)?).into_owned()),
        None => Ok(pipeline.body.clone().unwrap_or_default()),
    }
}

/// Parses the JSON output of an earlier review.
fn read_earlier_review(folder: &Path, file: &Path) -> Result<Review, CliError> {
    let bytes = read_input(folder, file)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        CliError::Usage(
            format!("`{}` is no review: {error}", file.display()),
            "give what an earlier `debate review --output json=FILE` has written".into(),
        )
    })
}

fn read_input(folder: &Path, file: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = vec![];
    let done = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)
    } else {
        let opened = std::fs::File::open(folder.join(file));
        opened.and_then(|opened| opened.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes))
    };
    done.map_err(|error| CliError::File(file.display().to_string(), error))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(CliError::Usage(
            format!("`{}` has more than {} MB", file.display(), MAX_INPUT_BYTES / 1024 / 1024),
            "a part of it would be another change: name commits instead".into(),
        ));
    }
    Ok(bytes)
}

/// Warns if a `pull_request_target` workflow has checked out untrusted code.
fn warn_about_secrets(pipeline: &CiContext, proposal: &ChangeSet, screen: &mut Screen) {
    if pipeline.exposes_secrets && pipeline.range.is_some() && proposal.checked_out {
        screen.warn(
            "[WARN] This workflow runs on `pull_request_target` and has checked out the head of the \
             pull request: whatever runs from there runs with your secrets. Run it on `pull_request`, \
             or check out the base and only fetch the head.",
        );
    }
}

/// Exit code of a debate that does not block. An incomplete review is reported only with
/// `--strict`.
fn exit_code(debate: &Debate, missing: bool) -> Exit {
    match super::exit::exit_for_debate(debate) {
        Exit::Ok | Exit::Degraded | Exit::Stopped if missing => Exit::Degraded,
        Exit::Degraded | Exit::Stopped => Exit::Ok,
        other => other,
    }
}
