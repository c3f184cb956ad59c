//! `debate review`: a change is argued before it is merged.
use super::args::Review as Typed;
use super::exit::{Exit, Failed};
use super::open::{announced, drafted};
use super::place;
use super::play::Play;
use super::screen::Screen;
use super::written::{deliver, outputs};
use crate::config::{Config, Pipeline};
use crate::debate::Debate;
use crate::engine::reviewing::{Already, Recalled};
use crate::engine::spoken::Spoken;
use crate::engine::{Claim, Contribution, Desk, DeskError, Idle, Meant, Place, Proposal};
use crate::report::text::{one_line, printable};
use crate::review::finding::Finding;
use crate::review::gate::stops;
use crate::review::{Compared, Review, review as reviewed};
use std::io::Read;
use std::path::Path;
use tokio::time::Instant;

/// Bytes of a description, of an earlier review, and of a patch.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Of what an earlier review had found, no more than this is told and looked up again.
const MOST_KNOWN: usize = 100;

/// `debate review`
pub(super) async fn review(
    typed: &Typed,
    config: &Config,
    desk: &Desk,
    screen: &mut Screen,
) -> Result<Exit, Failed> {
    let limit = typed.time_limit.map(|limit| Instant::now() + limit);
    let (place, pipeline) = (place::here(config), config.pipeline());
    let outputs = outputs(&typed.output, &config.folder, &place.root)?;
    let proposal = desk.proposal(&place.root, meant(typed, &pipeline, config)?).await;
    let proposal = proposal.map_err(|error| match error {
        DeskError::Context(bad) => Failed::Usage(
            bad.to_string(),
            "`debate review --help` shows how to say which change is meant".into(),
        ),
        other => other.into(),
    })?;
    screen.note(&format!("[INFO] Under review: {}", one_line(&proposal.says)));
    warned(&pipeline, &proposal, screen);
    let came = match idle(&proposal, typed) {
        Some(why) => Err(why.says().to_owned()),
        None => {
            let asked = Asked { typed, config, desk, place: &place, pipeline: &pipeline, limit };
            asked.argued(&proposal, screen).await?
        }
    };
    let review = match &came {
        Ok(debate) => reviewed(debate, typed.max_findings).unwrap_or_default(),
        Err(why) => {
            screen.note(&format!("[INFO] Not argued: {why}."));
            skipped(&proposal, title(typed, &pipeline), why)
        }
    };
    deliver(&review, &outputs, &pipeline, typed.shown, (desk, screen))?;
    Ok(match &came {
        Err(_) => Exit::Ok,
        Ok(debate) if blocks(debate, typed) => Exit::Blocked,
        Ok(debate) => exit(debate, typed.strict && review.degraded),
    })
}

/// A review that was asked for, and everything it takes.
struct Asked<'a> {
    typed: &'a Typed,
    config: &'a Config,
    desk: &'a Desk,
    place: &'a Place,
    pipeline: &'a Pipeline,
    limit: Option<Instant>,
}

impl Asked<'_> {
    /// The debate about it: one there is already, or one that is held now; or why there is none.
    async fn argued(
        &self,
        proposal: &Proposal,
        screen: &mut Screen,
    ) -> Result<Result<Debate, String>, Failed> {
        let Asked { typed, config, desk, place, pipeline, .. } = self;
        let subject = subject(typed, pipeline, proposal);
        let known = self.known(&subject, proposal).await?;
        if !known.is_empty() {
            let gone = known.iter().filter(|it| it.gone).count();
            screen.note(&format!(
                "[INFO] An earlier review had found {}; what {gone} of them rested on is gone.",
                known.len()
            ));
        }
        let change = Contribution {
            proposal: proposal.clone(),
            title: title(typed, pipeline),
            body: body(typed, pipeline, &config.folder)?,
            known,
        };
        let (draft, wish) = drafted(&typed.seating, &Spoken::default(), None, config, desk)?;
        let (draft, wish) = desk.posed(draft, wish, change, &subject)?;
        let already = match (&draft.proposed, typed.fresh) {
            (Some(proposed), false) => desk.reviewed_already(proposed)?,
            _ => None,
        };
        let job = match already {
            Some(Already::Done(id)) => {
                screen.note(&format!("[INFO] Reviewed already, as {id}: nobody is asked again."));
                return Ok(Ok(desk.read(&id)?.1));
            }
            Some(Already::Begun(id)) => {
                screen.note(&format!("[INFO] Going on with {id}, which was cut short."));
                desk.resume(&id, place, Claim::Free, desk.allowing(&id, draft.budget)?)?
            }
            None => {
                let prepared = tokio::select! {
                    prepared = desk.prepare(draft, &wish, &place.root) => prepared,
                    _ = tokio::signal::ctrl_c() => {
                        screen.warn("[WARN] Stopped before anything was opened.");
                        return Err(Failed::Usage("stopped".into(), "start it again".into()));
                    }
                };
                let (opening, warnings) = match prepared {
                    Err(error) if pipeline.fork && error.deserted() => {
                        return Ok(Err("the change comes from a fork, which has no secrets, so \
                                       there is no model to ask"
                            .into()));
                    }
                    prepared => prepared?,
                };
                announced(&opening, &warnings, desk, screen)?;
                desk.open(&opening, place)?
            }
        };
        let id = job.id().to_owned();
        let play =
            Play { config, desk, yes: true, shown: typed.shown, summary: false, limit: self.limit };
        screen.group("The debate");
        let played = play.play(job, screen).await;
        screen.ungroup();
        played?;
        Ok(Ok(desk.read(&id)?.1))
    }

    /// What an earlier review had found, and whether that is still so.
    async fn known(
        &self,
        subject: &str,
        proposal: &Proposal,
    ) -> Result<Vec<crate::debate::Known>, Failed> {
        let root = &self.place.root;
        let earlier = match &self.typed.earlier {
            Some(file) => Some(earlier(&self.config.folder.join(file))?),
            None => {
                let before = self.desk.reviewed_before(root, subject, proposal)?;
                before.and_then(|debate| reviewed(&debate, usize::MAX))
            }
        };
        let found = earlier.map(|review| review.findings).unwrap_or_default();
        let recalled: Vec<Recalled> =
            found.iter().take(MOST_KNOWN).map(Finding::recalled).collect();
        Ok(self.desk.recall(root, proposal, recalled).await?)
    }
}

/// Why there is nothing to argue about, if there is nothing.
fn idle(proposal: &Proposal, typed: &Typed) -> Option<Idle> {
    proposal.idle.filter(|idle| *idle == Idle::Empty || !typed.docs)
}

/// Which change is meant.
fn meant(typed: &Typed, pipeline: &Pipeline, config: &Config) -> Result<Meant, Failed> {
    if let Some(file) = &typed.patch {
        return Ok(Meant::Patch { text: read(&config.folder, file)?, base: typed.base.clone() });
    }
    if typed.staged {
        return Ok(Meant::Staged);
    }
    if let Some(id) = &typed.commit {
        return Ok(Meant::Commit(id.clone()));
    }
    let from_base = typed.base.as_ref().map(|base| format!("{base}..HEAD"));
    let typed = typed.range.clone().or(from_base);
    let told = pipeline.range.as_ref().map(|(base, head)| format!("{base}..{head}"));
    Ok(typed.or(told).map_or(Meant::Here, Meant::Range))
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

/// What the reviews of one change have in common.
fn subject(typed: &Typed, pipeline: &Pipeline, proposal: &Proposal) -> String {
    let number = pipeline.number.map(|number| format!("#{number}"));
    let named = typed.subject.clone().or(number).or(proposal.branch.clone());
    one_line(&named.unwrap_or_default())
}

/// What was found in an earlier review, as its JSON has it.
fn earlier(file: &Path) -> Result<Review, Failed> {
    let bytes = read(Path::new(""), file)?;
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
        std::io::stdin().lock().take(LONGEST).read_to_end(&mut bytes)
    } else {
        let opened = std::fs::File::open(folder.join(file));
        opened.and_then(|opened| opened.take(LONGEST).read_to_end(&mut bytes))
    };
    done.map_err(|error| Failed::File(file.display().to_string(), error))?;
    Ok(bytes)
}

/// What a pipeline does that its owner should know of.
fn warned(pipeline: &Pipeline, proposal: &Proposal, screen: &mut Screen) {
    let head = pipeline.range.as_ref().map(|(_, head)| head);
    if pipeline.trusted_with_secrets && head.is_some() && head == proposal.checked_out.as_ref() {
        screen.warn(
            "[WARN] This workflow runs on `pull_request_target` and has checked out the head of the \
             pull request: whatever runs from there runs with your secrets. Run it on `pull_request`, \
             or check out the base and only fetch the head.",
        );
    }
}

/// A review that was not held.
fn skipped(proposal: &Proposal, title: String, why: &str) -> Review {
    let sum = |lines: Vec<Option<u64>>| lines.into_iter().flatten().sum::<u64>() as usize;
    Review {
        title: if title.trim().is_empty() { proposal.says.clone() } else { title },
        change: Compared {
            says: proposal.says.clone(),
            base: proposal.commits.0.clone().or(proposal.old.clone()),
            head: proposal.commits.1.clone().or(Some(proposal.new.clone())),
            files: proposal.files.len(),
            added: sum(proposal.files.iter().map(|file| file.added).collect()),
            deleted: sum(proposal.files.iter().map(|file| file.deleted).collect()),
        },
        skipped: Some(printable(why)),
        ..Review::default()
    }
}

/// Whether it stops the change, however little of it is shown.
fn blocks(debate: &Debate, typed: &Typed) -> bool {
    reviewed(debate, usize::MAX).is_some_and(|review| stops(&review, typed.fail_on.into()))
}

/// What the exit code says of a debate nobody is stopped by. That something is missing is said by it
/// only if that was asked for.
fn exit(debate: &Debate, missing: bool) -> Exit {
    match super::exit::of(debate) {
        Exit::Ok | Exit::Degraded | Exit::Stopped if missing => Exit::Degraded,
        Exit::Degraded | Exit::Stopped => Exit::Ok,
        other => other,
    }
}
