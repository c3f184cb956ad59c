//! `debate review`: debates a code change and prints the findings. A review of the same change in
//! the archive is reused or resumed. If another process runs it, this one waits for its result.
use super::args::ReviewArgs;
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::review_output::{OutputTarget, parse_outputs, write_review};
use super::run::{parse_options, print_report};
use super::screen::Screen;
use super::start_progress::print_stages;
use super::workspace;
use crate::app::request::HoldPolicy;
use crate::app::{
    App, AppError, ReviewRequest, ReviewStarted, ReviewState, StartPolicy, StartProgress,
    StartRequest, StartStage, summarize_change,
};
use crate::config::{CiContext, Config};
use crate::debate::{Debate, KnownFinding};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{ChangeSelector, ChangeSet, DebateRun, Workspace};
use crate::report::sanitize::one_line;
use crate::review::merge_gate::{FailOn, blocks_merge};
use crate::review::{Review, review_from_debate, skipped_review, with_known_findings};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;

/// Maximum size in bytes of a description, an earlier review or a patch.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// Handler of `debate review`.
pub(super) async fn review(
    args: &ReviewArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let deadline = args.time_limit.map(|time| Instant::now() + time);
    let (workspace, ci) = (workspace::current_workspace(config), config.ci_context());
    check_stdio_use(args)?;
    // Read all inputs before any output file is opened: they may be the same file.
    let title = change_title(args, &ci);
    let request = build_request(args, &ci, config, deadline)?;
    let outputs = parse_outputs(&args.output, &config.current_dir, &config.repo_root)?;
    let ignored_files = outputs.iter().filter_map(OutputTarget::resolved_file).collect();
    let request = ReviewRequest { ignored_files, ..request };
    let review_run = ReviewRun { args, config, app, workspace: &workspace, ci: &ci, deadline };
    let (change_set, outcome) = Box::pin(review_run.debate_change(request, screen)).await?;
    let change_summary = summarize_change(&change_set, &title);
    let review = match &outcome {
        Ok(ReviewDebate { debate, earlier_findings, .. }) => {
            let review = review_from_debate(debate, args.max_findings).unwrap_or_default();
            let review = match earlier_findings {
                Some(earlier_findings) => with_known_findings(review, earlier_findings),
                None => review,
            };
            // The same change may have been reviewed under another title.
            let unnamed = change_summary.title.is_empty();
            let title =
                if unnamed { change_summary.compared.says.clone() } else { review.title.clone() };
            Review { change: change_summary.compared.clone(), title, ..review }
        }
        Err(NotDebated { reason, .. }) => {
            screen.note(&format!("[INFO] Not argued: {reason}."));
            skipped_review(&change_summary, reason)
        }
    };
    write_review(&review, &outputs, &ci, args.display, (app, screen))?;
    Ok(match &outcome {
        Err(NotDebated { incomplete: true, .. }) if args.strict => Exit::Degraded,
        Err(_) => Exit::Ok,
        Ok(ReviewDebate { stopped: true, .. }) => Exit::Stopped,
        Ok(_) if blocks_merge(&review, args.fail_on.into()) => Exit::Blocked,
        Ok(ReviewDebate { debate, .. }) => exit_code(debate, args.strict && review.degraded),
    })
}

/// Converts flags and CI variables to a request.
fn build_request(
    args: &ReviewArgs,
    ci: &CiContext,
    config: &Config,
    deadline: Option<Instant>,
) -> Result<ReviewRequest, CliError> {
    let policy =
        StartPolicy { parse_topic: false, holds: HoldPolicy::Never, ..StartPolicy::terminal() };
    let options = parse_options(&args.seating)?;
    let earlier = args.earlier.as_ref().map(|it| read_earlier_review(&config.current_dir, it));
    Ok(ReviewRequest {
        start: StartRequest::new("", options, policy, config.current_dir.clone()),
        selector: Some(select_change(args, ci, config)?),
        ignored_files: vec![],
        title: change_title(args, ci),
        body: change_description(args, ci, &config.current_dir)?,
        subject: args.subject.clone().or(ci.number.map(|number| format!("#{number}"))),
        earlier: earlier.transpose()?,
        fresh: args.fresh,
        force: args.docs,
        needs_verdict: FailOn::from(args.fail_on) != FailOn::Never,
        wait_for_other: true,
        deadline,
        is_fork: ci.from_fork,
        archive_dir: config.data_dir.clone(),
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

/// Everything needed to run a review.
struct ReviewRun<'a> {
    args: &'a ReviewArgs,
    config: &'a Config,
    app: &'a App,
    workspace: &'a Workspace,
    ci: &'a CiContext,
    deadline: Option<Instant>,
}

impl ReviewRun<'_> {
    /// Reuses, resumes or plays the debate about the change, or returns why there is none.
    async fn debate_change(
        &self,
        request: ReviewRequest,
        screen: &mut Screen,
    ) -> Result<(Arc<ChangeSet>, Result<ReviewDebate, NotDebated>), CliError> {
        let ReviewRun { args, app, .. } = self;
        let started = Box::pin(self.start(request, screen)).await?;
        let ReviewStarted { change_set, known_findings, state } = started;
        let outcome = match state {
            ReviewState::Skipped(reason) => {
                Err(NotDebated { reason: reason.as_str(), incomplete: false })
            }
            ReviewState::Running(_) => {
                let reason = "another process was arguing the same until the time was over";
                Err(NotDebated { reason, incomplete: true })
            }
            ReviewState::TimedOut => {
                let reason = "the time was over before anybody could be asked";
                Err(NotDebated { reason, incomplete: true })
            }
            ReviewState::NoProvider => {
                let reason = "the change comes from a fork, which has no secrets, so there is no \
                              model to ask";
                Err(NotDebated { reason, incomplete: false })
            }
            ReviewState::Finished(id) => {
                screen.note(&format!("[INFO] Reviewed already, as {id}: nobody is asked again."));
                Ok(ReviewDebate {
                    debate: app.read(&id).await?.1,
                    stopped: false,
                    earlier_findings: Some(known_findings).filter(|_| args.earlier.is_some()),
                })
            }
            ReviewState::Resumed(run) => Ok(self.play(*run, screen).await?),
            ReviewState::Started(started) => {
                print_report(&started.report, screen);
                Ok(self.play(started.run, screen).await?)
            }
        };
        Ok((change_set, outcome))
    }

    /// Starts the review and prints its stages.
    async fn start(
        &self,
        request: ReviewRequest,
        screen: &mut Screen,
    ) -> Result<ReviewStarted, CliError> {
        let mut stages = ReviewStages::default();
        let (progress, receiver) = StartProgress::channel();
        let review = self.app.review(request, self.workspace, &progress);
        let show = |stage| stages.show(stage, self.ci, screen);
        let started = tokio::select! {
            started = print_stages(review, receiver, show) => started,
            () = wait_for_shutdown() => return Err(stages.stopped_error(screen)),
        };
        started.map_err(
            |error| if stages.change_found { error.into() } else { change_not_found(error) },
        )
    }

    async fn play(&self, job: DebateRun, screen: &mut Screen) -> Result<ReviewDebate, CliError> {
        let ReviewRun { args, config, app, deadline, .. } = *self;
        let id = job.id().to_owned();
        let player = DebatePlayer {
            config,
            app,
            assume_yes: true,
            display: args.display,
            print_summary: false,
            deadline,
            resume_hint: Some(
                "The same command goes on with it; after a spent budget, with a higher one.",
            ),
        };
        screen.start_group("The debate");
        let result = player.play_until_stop(job, screen).await;
        screen.end_group();
        let stopped = result?.stopped;
        Ok(ReviewDebate { debate: app.read(&id).await?.1, stopped, earlier_findings: None })
    }
}

/// The stages a review has passed.
#[derive(Default)]
struct ReviewStages {
    change_found: bool,
    /// Whether it waits for another process.
    waiting: bool,
}

impl ReviewStages {
    fn show(&mut self, stage: StartStage, ci: &CiContext, screen: &mut Screen) {
        let was_waiting = std::mem::take(&mut self.waiting);
        match stage {
            StartStage::ChangeFound(change_set) => {
                let description = one_line(&change_set.description);
                screen.note(&format!("[INFO] Under review: {description}"));
                warn_about_secrets(ci, &change_set, screen);
                self.change_found = true;
            }
            StartStage::KnownFindings(known) if !known.is_empty() => {
                let (total, gone) = (known.len(), known.iter().filter(|it| it.gone).count());
                screen.note(&format!(
                    "[INFO] Findings of the earlier review: {total}; evidence gone for {gone} of \
                     them."
                ));
            }
            StartStage::Waiting { id, holder } => {
                if !was_waiting {
                    let message =
                        format!("[INFO] {holder} runs the same review, as {id}: waiting.");
                    screen.note(&message);
                    tracing::info!(debate = %id, holder = %holder, "waiting for another process");
                }
                self.waiting = true;
            }
            StartStage::Resuming(id) => {
                screen.note(&format!("[INFO] Going on with {id}, which was cut short."));
            }
            _ => {}
        }
    }

    /// The error after a stop signal.
    fn stopped_error(&self, screen: &mut Screen) -> CliError {
        if self.waiting {
            let hint = "start it again: the result of the other process is used then";
            return CliError::Usage("stopped while waiting".into(), hint.into());
        }
        screen.warn("[WARN] Stopped before anything was opened.");
        CliError::Usage("stopped".into(), "start it again".into())
    }
}

/// Rejects arguments that use stdin or stdout twice.
fn check_stdio_use(args: &ReviewArgs) -> Result<(), CliError> {
    let is_stdin = |file: &Option<std::path::PathBuf>| file.as_deref() == Some(Path::new("-"));
    if is_stdin(&args.patch) && is_stdin(&args.pr_body) {
        let hint = "put one of them into a file";
        return Err(CliError::Usage(
            "stdin cannot be both patch and description".into(),
            hint.into(),
        ));
    }
    if args.display.json && args.output.iter().any(|output| output.ends_with("=-")) {
        let hint = "leave `--json` out, or write `--output json=-`";
        return Err(CliError::Usage("two outputs would go to stdout".into(), hint.into()));
    }
    Ok(())
}

/// Usage error for a change that cannot be resolved.
fn change_not_found(error: AppError) -> CliError {
    match error {
        AppError::Context(context_error) => CliError::Usage(
            context_error.to_string(),
            "`debate review --help` shows how a change is named".into(),
        ),
        other => other.into(),
    }
}

/// Selects the change: flags first, then the CI context, then the working tree.
fn select_change(
    args: &ReviewArgs,
    ci: &CiContext,
    config: &Config,
) -> Result<ChangeSelector, CliError> {
    if let Some(file) = &args.patch {
        return Ok(ChangeSelector::Patch {
            text: read_input(&config.current_dir, file)?,
            base: args.base.clone(),
        });
    }
    if args.staged {
        return Ok(ChangeSelector::Staged);
    }
    if let Some(id) = &args.commit {
        return Ok(ChangeSelector::Commit(id.clone()));
    }
    let from_base = args.base.as_ref().map(|base| format!("{base}..HEAD"));
    let from_flags = args.range.clone().or(from_base);
    let from_ci = ci.range.as_ref().map(|(base, head)| format!("{base}..{head}"));
    Ok(from_flags.or(from_ci).map_or(ChangeSelector::Auto, ChangeSelector::Range))
}

fn change_title(args: &ReviewArgs, ci: &CiContext) -> String {
    args.pr_title.clone().or(ci.title.clone()).unwrap_or_default()
}

fn change_description(
    args: &ReviewArgs,
    ci: &CiContext,
    folder: &Path,
) -> Result<String, CliError> {
    match &args.pr_body {
        Some(file) => Ok(String::from_utf8_lossy(&read_input(folder, file)?).into_owned()),
        None => Ok(ci.body.clone().unwrap_or_default()),
    }
}

/// Parses the JSON output of an earlier review.
fn read_earlier_review(folder: &Path, file: &Path) -> Result<Review, CliError> {
    let bytes = read_input(folder, file)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        CliError::Usage(
            format!("`{}` is not a review: {error}", file.display()),
            "give a file that `debate review --output json=FILE` has written".into(),
        )
    })
}

fn read_input(folder: &Path, file: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = vec![];
    let result = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)
    } else {
        let opened = std::fs::File::open(folder.join(file));
        opened.and_then(|opened| opened.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes))
    };
    result.map_err(|error| CliError::File(file.display().to_string(), error))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(CliError::Usage(
            format!("`{}` has more than {} MB", file.display(), MAX_INPUT_BYTES / 1024 / 1024),
            "a truncated input would be another change: name commits instead".into(),
        ));
    }
    Ok(bytes)
}

/// Warns if a `pull_request_target` workflow has checked out untrusted code.
fn warn_about_secrets(ci: &CiContext, change_set: &ChangeSet, screen: &mut Screen) {
    if ci.exposes_secrets && ci.range.is_some() && change_set.checked_out {
        screen.warn(
            "[WARN] This workflow runs on `pull_request_target` and has checked out the head of \
             the pull request: whatever runs from there runs with your secrets. Run it on \
             `pull_request`, or check out the base and only fetch the head.",
        );
    }
}

/// Exit code of a debate that does not block. An incomplete review is reported only with
/// `--strict`.
fn exit_code(debate: &Debate, is_incomplete: bool) -> Exit {
    match super::exit::exit_for_debate(debate) {
        Exit::Ok | Exit::Degraded | Exit::Stopped if is_incomplete => Exit::Degraded,
        Exit::Degraded | Exit::Stopped => Exit::Ok,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_input_is_refused() {
        assert_eq!(MAX_INPUT_BYTES, 64 * 1024 * 1024);
        // A sparse file, of which nothing is written to disk.
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |bytes: u64| {
            file.as_file().set_len(bytes).unwrap();
            read_input(Path::new(""), file.path()).map(|read| read.len() as u64)
        };
        assert_eq!(read(MAX_INPUT_BYTES).unwrap(), MAX_INPUT_BYTES);
        let error = read(MAX_INPUT_BYTES + 1).unwrap_err().to_string();
        assert!(error.ends_with("has more than 64 MB"), "{error}");
    }
}
