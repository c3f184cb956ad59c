//! `debate review`: debates a code change and prints the findings. A review of the same change in
//! the archive is reused, resumed or, if another process runs it, awaited.
use super::args::Review as Typed;
use super::exit::{Exit, Failed};
use super::open::{announced, drafted};
use super::place;
use super::play::Play;
use super::screen::Screen;
use super::written::{Output, deliver, outputs};
use crate::config::{Config, Pipeline};
use crate::debate::{Debate, KnownFinding};
use crate::engine::change_review::{EarlierReview, summarize_change};
use crate::engine::signals::wait_for_shutdown;
use crate::engine::topic_options::TopicOptions;
use crate::engine::{
    App, AppError, ArchiveError, ChangeSelector, ChangeSet, DebateDraft, LeaseMode, Workspace,
};
use crate::report::text::one_line;
use crate::review::asking::{self, Posed};
use crate::review::gate::stops;
use crate::review::{Review, remembering, review as reviewed, skipped};
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum size in bytes of a description, an earlier review or a patch.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Poll interval while another process runs the same review.
const WAIT: Duration = Duration::from_millis(500);

/// Handler of `debate review`.
pub(super) async fn review(
    typed: &Typed,
    config: &Config,
    desk: &App,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let limit = typed.time_limit.map(|limit| Instant::now() + limit);
    let (place, pipeline) = (place::here(config), config.pipeline());
    typed_once(typed)?;
    asking::apart(&config.home, &place.root)?;
    // Read all inputs before any output file is opened: they may be the same file.
    let meant = meant(typed, &pipeline, config)?;
    let said = asking::Asked {
        title: title(typed, &pipeline),
        body: body(typed, &pipeline, &config.folder)?,
        meant: Some(meant.clone()),
        subject: typed.subject.clone().or(pipeline.number.map(|number| format!("#{number}"))),
        earlier: typed.earlier.as_ref().map(|it| earlier(&config.folder, it)).transpose()?,
        fresh: typed.fresh,
    };
    let outputs = outputs(&typed.output, &config.folder, &config.root)?;
    let written = outputs.iter().filter_map(Output::file).collect();
    let proposal = desk.find_change_set(&place.root, meant, written).await.map_err(unfound)?;
    screen.note(&format!("[INFO] Under review: {}", one_line(&proposal.description)));
    warned(&pipeline, &proposal, screen);
    let came = if let Some(why) = asking::idle(&proposal, typed.docs) {
        Err(Unargued { why: why.as_str(), missing: false })
    } else {
        let pipeline = &pipeline;
        let asked = Asked { typed, config, desk, place: &place, pipeline, said: &said, limit };
        Box::pin(asked.argued(&proposal, screen)).await?
    };
    let outline = summarize_change(&proposal, &said.title);
    let review = match &came {
        Ok(Argued { debate, known, .. }) => {
            let review = reviewed(debate, typed.max_findings).unwrap_or_default();
            let review = match known {
                Some(known) => remembering(review, known),
                None => review,
            };
            // The same change may have been reviewed under another title.
            let unnamed = outline.title.is_empty();
            let title = if unnamed { outline.compared.says.clone() } else { review.title.clone() };
            Review { change: outline.compared.clone(), title, ..review }
        }
        Err(Unargued { why, .. }) => {
            screen.note(&format!("[INFO] Not argued: {why}."));
            skipped(&outline, why)
        }
    };
    deliver(&review, &outputs, &pipeline, typed.shown, (desk, screen))?;
    Ok(match &came {
        Err(Unargued { missing: true, .. }) if typed.strict => Exit::Degraded,
        Err(_) => Exit::Ok,
        Ok(Argued { stopped: true, .. }) => Exit::Stopped,
        Ok(_) if stops(&review, typed.fail_on.into()) => Exit::Blocked,
        Ok(Argued { debate, .. }) => exit(debate, typed.strict && review.degraded),
    })
}

/// Debate about a change.
struct Argued {
    debate: Debate,
    /// Whether the user stopped it.
    stopped: bool,
    /// Findings of an earlier review that this debate did not know.
    known: Option<Vec<KnownFinding>>,
}

/// Why there was no debate.
struct Unargued {
    why: &'static str,
    /// Whether the review is incomplete because time ran out.
    missing: bool,
}

/// A review request, with everything needed to run it.
struct Asked<'a> {
    typed: &'a Typed,
    config: &'a Config,
    desk: &'a App,
    place: &'a Workspace,
    pipeline: &'a Pipeline,
    said: &'a asking::Asked,
    limit: Option<Instant>,
}

impl Asked<'_> {
    /// Reuses, resumes or starts the debate about the change, or returns why there is none.
    async fn argued(
        &self,
        proposal: &ChangeSet,
        screen: &mut Screen,
    ) -> Result<Result<Argued, Unargued>, Failed> {
        let Asked { typed, config, desk, place, pipeline, .. } = self;
        let drafted = drafted(&typed.seating, &TopicOptions::default(), None, config, desk)?;
        let posed =
            asking::posed(desk, &place.root, proposal.clone(), self.said.clone(), drafted).await?;
        let Posed { mut draft, wish, already } = posed;
        asking::could_block(desk, &draft.format, typed.fail_on.into())?;
        let used = already.is_none() || typed.earlier.is_some();
        let known: Vec<&KnownFinding> =
            draft.reviewed_change.iter().filter(|_| used).flat_map(|it| &it.known).collect();
        if !known.is_empty() {
            let (all, gone) = (known.len(), known.iter().filter(|it| it.gone).count());
            screen.note(&format!(
                "[INFO] Found by the review before this one: {all}; what {gone} of them rested on is gone."
            ));
        }
        let already = self.once_free(already, &mut draft, screen).await?;
        let job = match already {
            Some(EarlierReview::Running { .. }) => {
                let why = "another process was arguing the same until the time was over";
                return Ok(Err(Unargued { why, missing: true }));
            }
            Some(EarlierReview::Finished(id)) => {
                screen.note(&format!("[INFO] Reviewed already, as {id}: nobody is asked again."));
                let known =
                    draft.reviewed_change.map(|it| it.known).filter(|_| typed.earlier.is_some());
                return Ok(Ok(Argued { debate: desk.read(&id)?.1, stopped: false, known }));
            }
            Some(EarlierReview::Unfinished(id)) => {
                screen.note(&format!("[INFO] Going on with {id}, which was cut short."));
                let allowing = desk.budget_commands(&id, draft.budget)?;
                match desk.resume(&id, place, LeaseMode::IfFree, allowing) {
                    Err(error) if outrun(&error) => {
                        return Box::pin(self.argued(proposal, screen)).await;
                    }
                    resumed => resumed?,
                }
            }
            None => {
                let prepared = tokio::select! {
                    prepared = desk.prepare(draft, &wish, &place.root) => prepared,
                    () = over(self.limit) => {
                        let why = "the time was over before anybody could be asked";
                        return Ok(Err(Unargued { why, missing: true }));
                    }
                    () = wait_for_shutdown() => {
                        screen.warn("[WARN] Stopped before anything was opened.");
                        return Err(Failed::Usage("stopped".into(), "start it again".into()));
                    }
                };
                let (opening, warnings) = match prepared {
                    Err(error) if pipeline.fork && error.is_provider_missing() => {
                        let why = "the change comes from a fork, which has no secrets, so there is \
                                   no model to ask";
                        return Ok(Err(Unargued { why, missing: false }));
                    }
                    prepared => prepared?,
                };
                announced(&opening, &warnings, desk, screen)?;
                match desk.open(&opening, place) {
                    Err(error) if outrun(&error) => {
                        return Box::pin(self.argued(proposal, screen)).await;
                    }
                    opened => opened?,
                }
            }
        };
        let id = job.id().to_owned();
        let play = Play {
            config,
            desk,
            yes: true,
            shown: typed.shown,
            summary: false,
            limit: self.limit,
            onward: Some(
                "The same command goes on with it; after a spent budget, with a higher one.",
            ),
        };
        screen.group("The debate");
        let played = play.played(job, screen).await;
        screen.ungroup();
        let stopped = played?.stopped;
        Ok(Ok(Argued { debate: desk.read(&id)?.1, stopped, known: None }))
    }
}

/// Whether another process has started or resumed the same review since the archive was read. The
/// caller then retries, finds that debate and waits for it.
fn outrun(error: &AppError) -> bool {
    use ArchiveError::{Duplicate, LeaseHeld};
    matches!(error, AppError::Archive(LeaseHeld { .. } | Duplicate { .. }))
}

/// Sleeps until the deadline, or for ever without one.
async fn over(limit: Option<Instant>) {
    match limit {
        Some(limit) => tokio::time::sleep_until(limit).await,
        None => std::future::pending().await,
    }
}

impl Asked<'_> {
    /// Polls until no other process runs the same review or the deadline passes, and returns the
    /// earlier review. Earlier debates that cannot be reused are superseded by the draft.
    async fn once_free(
        &self,
        mut already: Option<EarlierReview>,
        draft: &mut DebateDraft,
        screen: &mut Screen,
    ) -> Result<Option<EarlierReview>, Failed> {
        let mut told = false;
        while let (Some(EarlierReview::Running { id, holder: by }), Some(proposed)) =
            (&already, &draft.reviewed_change)
        {
            if self.limit.is_some_and(|limit| Instant::now() >= limit) {
                break;
            }
            if !told {
                screen.note(&format!("[INFO] The same is being argued by {by}, as {id}: waiting."));
                told = true;
            }
            tokio::select! {
                () = tokio::time::sleep(WAIT) => {}
                () = wait_for_shutdown() => {
                    let hint = "start it again: what the other argues is then there";
                    return Err(Failed::Usage("stopped while waiting".into(), hint.into()));
                }
            }
            let same = self.desk.find_same_review(&self.place.root, proposed)?;
            already = same.earlier;
            draft.supersedes = same.ids;
        }
        Ok(already)
    }
}

/// Rejects arguments that use stdin or stdout twice.
fn typed_once(typed: &Typed) -> Result<(), Failed> {
    let stdin = |file: &Option<std::path::PathBuf>| file.as_deref() == Some(Path::new("-"));
    if stdin(&typed.patch) && stdin(&typed.pr_body) {
        let hint = "put one of them into a file";
        return Err(Failed::Usage(
            "stdin cannot be both patch and description".into(),
            hint.into(),
        ));
    }
    if typed.shown.json && typed.output.iter().any(|output| output.ends_with("=-")) {
        let hint = "leave `--json` out, or write `--output json=-`";
        return Err(Failed::Usage("two outputs would go to stdout".into(), hint.into()));
    }
    Ok(())
}

/// Usage error for a change that cannot be resolved.
fn unfound(error: AppError) -> Failed {
    match error {
        AppError::Context(bad) => Failed::Usage(
            bad.to_string(),
            "`debate review --help` shows how a change is named".into(),
        ),
        other => other.into(),
    }
}

/// Selects the change: flags first, then the CI context, then the working tree.
fn meant(typed: &Typed, pipeline: &Pipeline, config: &Config) -> Result<ChangeSelector, Failed> {
    if let Some(file) = &typed.patch {
        return Ok(ChangeSelector::Patch {
            text: read(&config.folder, file)?,
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

fn title(typed: &Typed, pipeline: &Pipeline) -> String {
    typed.pr_title.clone().or(pipeline.title.clone()).unwrap_or_default()
}

fn body(typed: &Typed, pipeline: &Pipeline, folder: &Path) -> Result<String, Failed> {
    match &typed.pr_body {
        Some(file) => Ok(String::from_utf8_lossy(&read(folder, file)?).into_owned()),
        None => Ok(pipeline.body.clone().unwrap_or_default()),
    }
}

/// Parses the JSON output of an earlier review.
fn earlier(folder: &Path, file: &Path) -> Result<Review, Failed> {
    let bytes = read(folder, file)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Failed::Usage(
            format!("`{}` is no review: {error}", file.display()),
            "give what an earlier `debate review --output json=FILE` has written".into(),
        )
    })
}

fn read(folder: &Path, file: &Path) -> Result<Vec<u8>, Failed> {
    let mut bytes = vec![];
    let done = if file == Path::new("-") {
        std::io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes)
    } else {
        let opened = std::fs::File::open(folder.join(file));
        opened.and_then(|opened| opened.take(LONGEST + 1).read_to_end(&mut bytes))
    };
    done.map_err(|error| Failed::File(file.display().to_string(), error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failed::Usage(
            format!("`{}` has more than {} MB", file.display(), LONGEST / 1024 / 1024),
            "a part of it would be another change: name commits instead".into(),
        ));
    }
    Ok(bytes)
}

/// Warns if a `pull_request_target` workflow has checked out untrusted code.
fn warned(pipeline: &Pipeline, proposal: &ChangeSet, screen: &mut Screen) {
    if pipeline.trusted_with_secrets && pipeline.range.is_some() && proposal.checked_out {
        screen.warn(
            "[WARN] This workflow runs on `pull_request_target` and has checked out the head of the \
             pull request: whatever runs from there runs with your secrets. Run it on `pull_request`, \
             or check out the base and only fetch the head.",
        );
    }
}

/// Exit code of a debate that does not block. An incomplete review is reported only with
/// `--strict`.
fn exit(debate: &Debate, missing: bool) -> Exit {
    match super::exit::of(debate) {
        Exit::Ok | Exit::Degraded | Exit::Stopped if missing => Exit::Degraded,
        Exit::Degraded | Exit::Stopped => Exit::Ok,
        other => other,
    }
}
