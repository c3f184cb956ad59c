//! `debate review`: debates a code change and prints the findings. A review of the same change in
//! the archive is reused or resumed. If another process runs it, this one waits for its result.
use super::args::ReviewArgs;
use super::exit::{CliError, Exit};
use super::play::DebatePlayer;
use super::review_output::{OutputTarget, parse_outputs, write_review};
use super::run::{build_draft, print_preparation};
use super::screen::Screen;
use super::workspace;
use crate::app::change_review::{EarlierReview, summarize_change};
use crate::app::topic_options::TopicOptions;
use crate::app::{App, AppError, DebateDraft};
use crate::config::{CiContext, Config};
use crate::debate::{Debate, KnownFinding};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::{ArchiveError, ChangeSelector, ChangeSet, LeaseMode, Workspace};
use crate::report::sanitize::one_line;
use crate::review::merge_gate::blocks_merge;
use crate::review::request::{self, PreparedReview};
use crate::review::{Review, review_from_debate, skipped_review, with_known_findings};
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
    args: &ReviewArgs,
    config: &Config,
    app: &App,
    screen: &mut Screen,
) -> Result<Exit, CliError> {
    let deadline = args.time_limit.map(|time| Instant::now() + time);
    let (workspace, ci) = (workspace::current_workspace(config), config.ci_context());
    check_stdio_use(args)?;
    request::require_archive_outside_repo(&config.data_dir, &workspace.root)?;
    // Read all inputs before any output file is opened: they may be the same file.
    let selector = select_change(args, &ci, config)?;
    let review_request = request::ReviewRequest {
        title: change_title(args, &ci),
        body: change_description(args, &ci, &config.current_dir)?,
        selector: Some(selector.clone()),
        subject: args.subject.clone().or(ci.number.map(|number| format!("#{number}"))),
        earlier: args
            .earlier
            .as_ref()
            .map(|it| read_earlier_review(&config.current_dir, it))
            .transpose()?,
        fresh: args.fresh,
    };
    let outputs = parse_outputs(&args.output, &config.current_dir, &config.repo_root)?;
    let output_files = outputs.iter().filter_map(OutputTarget::resolved_file).collect();
    let change_set = app
        .find_change_set(&workspace.root, selector, output_files)
        .await
        .map_err(change_not_found)?;
    screen.note(&format!("[INFO] Under review: {}", one_line(&change_set.description)));
    warn_about_secrets(&ci, &change_set, screen);
    let outcome = if let Some(reason) = request::skip_reason(&change_set, args.docs) {
        Err(NotDebated { reason: reason.as_str(), incomplete: false })
    } else {
        let ci = &ci;
        let review_run = ReviewRun {
            args,
            config,
            app,
            workspace: &workspace,
            ci,
            request: &review_request,
            deadline,
        };
        Box::pin(review_run.debate_change(&change_set, screen)).await?
    };
    let change_summary = summarize_change(&change_set, &review_request.title);
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
    args: &'a ReviewArgs,
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
        change_set: &ChangeSet,
        screen: &mut Screen,
    ) -> Result<Result<ReviewDebate, NotDebated>, CliError> {
        let ReviewRun { args, config, app, workspace, ci, .. } = self;
        let initial_draft =
            build_draft(&args.seating, &TopicOptions::default(), None, config, app)?;
        let prepared_review = request::prepare_review(
            app,
            &workspace.root,
            change_set.clone(),
            self.request.clone(),
            initial_draft,
        )
        .await?;
        let PreparedReview { mut draft, seating, earlier } = prepared_review;
        request::require_verdict_format(app, &draft.format, args.fail_on.into())?;
        let show_known = earlier.is_none() || args.earlier.is_some();
        let known: Vec<&KnownFinding> =
            draft.reviewed_change.iter().filter(|_| show_known).flat_map(|it| &it.known).collect();
        if !known.is_empty() {
            let (total, gone_count) = (known.len(), known.iter().filter(|it| it.gone).count());
            screen.note(&format!(
                "[INFO] Findings of the earlier review: {total}; evidence gone for {gone_count} of them."
            ));
        }
        let earlier = self.wait_for_other_process(earlier, &mut draft, screen).await?;
        let job = match earlier {
            Some(EarlierReview::Running { .. }) => {
                let reason = "another process was arguing the same until the time was over";
                return Ok(Err(NotDebated { reason, incomplete: true }));
            }
            Some(EarlierReview::Finished(id)) => {
                screen.note(&format!("[INFO] Reviewed already, as {id}: nobody is asked again."));
                let known =
                    draft.reviewed_change.map(|it| it.known).filter(|_| args.earlier.is_some());
                return Ok(Ok(ReviewDebate {
                    debate: app.read(&id).await?.1,
                    stopped: false,
                    earlier_findings: known,
                }));
            }
            Some(EarlierReview::Unfinished(id)) => {
                screen.note(&format!("[INFO] Going on with {id}, which was cut short."));
                let commands = app.budget_commands(&id, draft.budget).await?;
                match app.resume(&id, workspace, LeaseMode::IfFree, commands).await {
                    Err(error) if is_lost_race(&error) => {
                        tracing::info!(reason = %error, "lost a race, looking it up again");
                        return Box::pin(self.debate_change(change_set, screen)).await;
                    }
                    resumed => resumed?,
                }
            }
            None => {
                let prepared = tokio::select! {
                    prepared = app.prepare(draft, &seating, &workspace.root) => prepared,
                    () = sleep_until_deadline(self.deadline) => {
                        let reason = "the time was over before anybody could be asked";
                        return Ok(Err(NotDebated { reason, incomplete: true }));
                    }
                    () = wait_for_shutdown() => {
                        screen.warn("[WARN] Stopped before anything was opened.");
                        return Err(CliError::Usage("stopped".into(), "start it again".into()));
                    }
                };
                let (final_draft, warnings) = match prepared {
                    Err(error) if ci.from_fork && error.is_provider_missing() => {
                        let reason = "the change comes from a fork, which has no secrets, so there is \
                                   no model to ask";
                        return Ok(Err(NotDebated { reason, incomplete: false }));
                    }
                    prepared => prepared?,
                };
                print_preparation(&final_draft, &warnings, app, screen)?;
                match app.open(&final_draft, workspace).await {
                    Err(error) if is_lost_race(&error) => {
                        tracing::info!(reason = %error, "lost a race, looking it up again");
                        return Box::pin(self.debate_change(change_set, screen)).await;
                    }
                    opened => opened?,
                }
            }
        };
        let id = job.id().to_owned();
        let player = DebatePlayer {
            config,
            app,
            assume_yes: true,
            display: args.display,
            print_summary: false,
            deadline: self.deadline,
            resume_hint: Some(
                "The same command goes on with it; after a spent budget, with a higher one.",
            ),
        };
        screen.start_group("The debate");
        let result = player.play_until_stop(job, screen).await;
        screen.end_group();
        let stopped = result?.stopped;
        Ok(Ok(ReviewDebate { debate: app.read(&id).await?.1, stopped, earlier_findings: None }))
    }
}

/// Whether another process has started or resumed the same review since the archive was read. The
/// caller then retries, finds that debate and waits for it.
fn is_lost_race(error: &AppError) -> bool {
    use ArchiveError::{Duplicate, LeaseHeld};
    matches!(error, AppError::Archive(LeaseHeld { .. } | Duplicate { .. }))
}

/// Sleeps until the deadline, or for ever without one.
async fn sleep_until_deadline(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl ReviewRun<'_> {
    /// Polls until no other process runs the same review or the deadline passes, and returns the
    /// earlier review. Earlier debates that cannot be reused are superseded by the draft.
    async fn wait_for_other_process(
        &self,
        mut earlier: Option<EarlierReview>,
        draft: &mut DebateDraft,
        screen: &mut Screen,
    ) -> Result<Option<EarlierReview>, CliError> {
        let mut announced = false;
        while let (Some(EarlierReview::Running { id, holder }), Some(reviewed_change)) =
            (&earlier, &draft.reviewed_change)
        {
            if self.deadline.is_some_and(|limit| Instant::now() >= limit) {
                break;
            }
            if !announced {
                screen.note(&format!("[INFO] {holder} runs the same review, as {id}: waiting."));
                tracing::info!(debate = %id, holder = %holder, "waiting for another process");
                announced = true;
            }
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = wait_for_shutdown() => {
                    let hint = "start it again: the result of the other process is used then";
                    return Err(CliError::Usage("stopped while waiting".into(), hint.into()));
                }
            }
            let same = self.app.find_same_review(&self.workspace.root, reviewed_change).await?;
            earlier = same.earlier;
            draft.supersedes = same.ids;
        }
        Ok(earlier)
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
