//! Preflight: everything checked before a debate is created.
//!
//! [`App::prepare`] pins the repository, gathers the brief, validates the draft, fills the open
//! seats and sends each distinct model a probe request. If a model the user named does not answer,
//! that is an error. One that was chosen automatically is replaced, with a warning.
use super::app::{App, AppError};
use super::casting::{Listener, ResearchRole};
use super::draft::DebateDraft;
use super::format_options::CastRequest;
use super::pairing::{
    Candidate, FallbackSeats, MainSeats, RequestedSeats, SeatAssignment, SeatPreferences,
    choose_seats,
};
use super::ports::{
    BriefReaders, BriefRequest, ChangeUnderReview, ContextError, GatheredBrief, PinnedTree,
    ProviderReply, ReplyStream, TurnRequest,
};
use super::seating::{SeatingPlan, sort_readers_first};
use crate::debate::{
    Cue, Effort, Envelope, FailureKind, Participant, ReplyKind, ReviewedChange, Role, TurnFailure,
};
use futures_util::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Prompt of the probe request.
const PROBE_PROMPT: &str = "Reply with the single word OK and nothing else.";
/// Timeout of a probe. A slower model gets a warning and keeps its seat.
const PROBE_TIMEOUT: Duration = Duration::from_secs(30);
/// With less time left no probe is sent.
const MIN_PROBE_TIME: Duration = Duration::from_secs(1);
/// How long a successful probe stays in the cache.
const PROBE_CACHE_TTL: Duration = Duration::from_secs(60 * 60);

/// How to seat a debate and what to give it: the user's choices, preferences and fallbacks.
#[derive(Clone, Debug)]
pub struct SeatingRequest {
    /// Participants the user named.
    pub requested: RequestedSeats,
    /// Configured preferences.
    pub preferences: SeatPreferences,
    /// Participants for seats no model can take.
    pub fallbacks: FallbackSeats,
    /// Requested roles beyond the three main seats.
    pub cast: CastRequest,
    /// Context for the debaters: `none`, `auto`, or the user's selection.
    pub context: String,
    /// The change to review, if any. Its tree is pinned instead of the working tree.
    pub change: Option<ChangeUnderReview>,
    /// Reasoning effort. A tool may have another default model for it.
    pub effort: Option<Effort>,
    /// Time limit for all probes. `None` sends none.
    pub probe_timeout: Option<Duration>,
}

/// Result of a probe request to one model.
#[derive(Clone, Debug)]
pub struct ProbeResult {
    pub participant: Participant,
    pub result: Result<Envelope, TurnFailure>,
}

/// The pinned tree and the brief of a debate.
#[derive(Clone, Debug)]
pub struct RepositoryContext {
    /// `None` if there is no repository or it could not be read.
    pub pinned: Option<PinnedTree>,
    /// Why the repository could not be read, if so.
    pub unreadable_reason: Option<String>,
    pub brief: GatheredBrief,
}

/// Converts the error of a cancelled or panicked blocking task.
#[expect(clippy::needless_pass_by_value, reason = "it is what an error is mapped with")]
fn join_error(error: tokio::task::JoinError) -> ContextError {
    ContextError(error.to_string())
}

/// Default context: chosen from the topic.
pub const AUTO_CONTEXT: &str = "auto";

/// Warnings about a brief: redacted secrets and files left out.
fn brief_warnings(gathered: &GatheredBrief) -> Vec<String> {
    let mut told = vec![];
    if !gathered.redacted.is_empty() {
        told.push(format!(
            "secrets taken out of what the debaters are given: {}",
            gathered.redacted
        ));
    }
    let unseen = describe_left_out(gathered);
    if !unseen.is_empty() {
        told.push(format!("not in what the debaters are given: {unseen}"));
    }
    told
}

/// Files left out, the first few by name, without duplicates.
fn describe_left_out(gathered: &GatheredBrief) -> String {
    const NAMED: usize = 3;
    let mut seen = BTreeSet::new();
    let all: Vec<_> = gathered.left_out.iter().filter(|it| seen.insert(&it.path)).collect();
    let named: Vec<_> =
        all.iter().take(NAMED).map(|it| format!("{} ({})", it.path, it.why)).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// Cache of models that have answered a probe, with the time.
#[derive(Default)]
pub(super) struct ProbeCache(Mutex<BTreeMap<String, Instant>>);

impl ProbeCache {
    fn is_fresh(&self, voice: &Participant) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&voice.to_string()).is_some_and(|when| when.elapsed() < PROBE_CACHE_TTL)
    }

    fn insert(&self, voice: &Participant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(voice.to_string(), Instant::now());
    }
}

impl App {
    /// Runs the preflight for a draft: context, seats and probes. Returns the completed draft with
    /// warnings for the user. No model gets a request before everything else is validated.
    pub async fn prepare(
        &self,
        draft: DebateDraft,
        wish: &SeatingRequest,
        root: &Path,
    ) -> Result<(DebateDraft, Vec<String>), AppError> {
        let ground = self.read_request_context(root, &draft.topic, wish).await?;
        let draft = DebateDraft { brief: ground.brief.text.clone(), ..draft };
        self.check_draft(&draft, wish)?;
        let about_files = !ground.brief.text.is_empty();
        let (company, mut warnings) = self.fill_seats(wish, about_files).await?;
        let all = company.assignments();
        // If every participant reads files itself, a brief with references is enough.
        let RepositoryContext { pinned, unreadable_reason: unread, brief: mut gathered } = ground;
        if !gathered.text.is_empty()
            && all.iter().all(|it| self.providers.can_read_files(&it.participant))
        {
            let about = (draft.topic.as_str(), wish.context.as_str(), wish.change.as_ref());
            gathered =
                self.gather_brief(root, pinned.clone(), about, BriefReaders::ReadFiles).await?;
        }
        // An empty selection needs no report.
        if gathered.text.is_empty() {
            gathered.picked.clear();
        }
        warnings
            .extend(unread.iter().map(|why| format!("no tool can read this repository: {why}")));
        let left_out = pinned.as_ref().map(|pin| &pin.left_out).filter(|it| !it.is_empty());
        warnings.extend(left_out.map(|it| format!("left out of what tools can read: {it}")));
        warnings.extend(brief_warnings(&gathered));
        let unseen = describe_left_out(&gathered);
        let changed: BTreeSet<&String> = gathered
            .changed_files
            .iter()
            .flat_map(|it| [Some(&it.path), it.from.as_ref()])
            .flatten()
            .collect();
        let beside =
            gathered.touched_paths.iter().filter(|path| !changed.contains(path)).cloned().collect();
        let proposed =
            draft.reviewed_change.clone().map(|it| ReviewedChange { unseen, beside, ..it });
        let chosen = company.describe_choices();
        let SeatingPlan {
            main_seats: MainSeats { proposer, challenger, judge },
            roles,
            audience,
            ..
        } = company;
        let opening = DebateDraft {
            proposer: proposer.participant,
            challenger: challenger.participant,
            judge: judge.participant,
            roles: roles
                .into_iter()
                .map(|(name, stance, taken)| ResearchRole {
                    name,
                    stance,
                    participant: taken.participant,
                })
                .collect(),
            audience: audience
                .into_iter()
                .map(|(kind, weight, taken)| Listener {
                    kind,
                    weight,
                    participant: taken.participant,
                })
                .collect(),
            panel: wish.cast.panel.clone(),
            partners: wish.cast.partners.clone(),
            brief: gathered.text,
            touched_paths: gathered.touched_paths,
            picked: gathered.picked,
            commit: pinned.as_ref().and_then(|pin| pin.commit.clone()),
            pin: pinned.map(|pin| pin.tree),
            unreadable_reason: unread,
            seat_choices: chosen,
            reviewed_change: proposed,
            ..draft
        };
        Ok((opening, warnings))
    }

    /// Pins the repository and gathers a brief from it. An unreadable repository is not an error,
    /// but is reported in the result.
    pub async fn read_context(
        &self,
        root: &Path,
        topic: &str,
        wanted: &str,
        readers: BriefReaders,
    ) -> Result<RepositoryContext, AppError> {
        let (briefs, place) = (self.briefs.clone(), root.to_owned());
        let looking = tokio::task::spawn_blocking(move || briefs.pin_files(&place));
        let (pinned, unread) = match looking.await.map_err(join_error)? {
            Ok(pinned) => (pinned, None),
            Err(ContextError(why)) => (None, Some(why)),
        };
        let gathered =
            self.gather_brief(root, pinned.clone(), (topic, wanted, None), readers).await?;
        Ok(RepositoryContext { pinned, unreadable_reason: unread, brief: gathered })
    }

    /// As [`App::read_context`], with the tree of the change if one is reviewed.
    async fn read_request_context(
        &self,
        root: &Path,
        topic: &str,
        wish: &SeatingRequest,
    ) -> Result<RepositoryContext, AppError> {
        let (wanted, readers) = (wish.context.as_str(), BriefReaders::BriefOnly);
        let Some(change) = &wish.change else {
            return self.read_context(root, topic, wanted, readers).await;
        };
        let pinned = Some(change.change_set.pinned.clone());
        let about = (topic, wanted, Some(change));
        let gathered = self.gather_brief(root, pinned.clone(), about, readers).await?;
        Ok(RepositoryContext { pinned, unreadable_reason: None, brief: gathered })
    }

    /// Gathers the brief on a blocking thread, from the topic, the requested context and the
    /// change.
    async fn gather_brief(
        &self,
        root: &Path,
        pinned: Option<PinnedTree>,
        (topic, wanted, change): (&str, &str, Option<&ChangeUnderReview>),
        readers: BriefReaders,
    ) -> Result<GatheredBrief, AppError> {
        let briefs = self.briefs.clone();
        let (root, topic, wanted) = (root.to_owned(), topic.to_owned(), wanted.to_owned());
        let change = change.cloned();
        let looking = tokio::task::spawn_blocking(move || {
            let (root, pinned) = (root.as_path(), pinned.as_ref());
            let (topic, wanted, change) = (topic.as_str(), wanted.as_str(), change.as_ref());
            let context = BriefRequest { root, pinned, topic, selection: wanted, readers, change };
            match briefs.gather(&context) {
                // With automatic context a failure means an empty brief.
                Err(_) if wanted.trim() == AUTO_CONTEXT => Ok(GatheredBrief::default()),
                gathered => gathered,
            }
        });
        Ok(looking.await.map_err(join_error)??)
    }

    /// Validates the draft with placeholder participants, before any request is sent.
    fn check_draft(&self, draft: &DebateDraft, wish: &SeatingRequest) -> Result<(), AppError> {
        let nobody = |name: &str| Participant::Model { tool: name.into(), model: None };
        let cast = &wish.cast;
        let trial = DebateDraft {
            proposer: wish.requested.proposer.clone().unwrap_or_else(|| nobody("one")),
            challenger: wish.requested.challenger.clone().unwrap_or_else(|| nobody("other")),
            judge: wish.requested.judge.clone().unwrap_or_else(|| nobody("third")),
            roles: cast
                .roles
                .iter()
                .map(|(name, stance, _)| ResearchRole {
                    name: name.clone(),
                    stance: stance.clone(),
                    participant: nobody("one"),
                })
                .collect(),
            audience: cast
                .listeners
                .iter()
                .map(|(kind, weight, _)| Listener {
                    kind: kind.clone(),
                    weight: *weight,
                    participant: nobody("third"),
                })
                .collect(),
            panel: cast.panel.clone(),
            partners: cast.partners.clone(),
            ..draft.clone()
        };
        Ok(trial.build_setup(&self.catalog, String::new(), String::new(), 0)?.validate()?)
    }

    /// Fills the open seats and probes each distinct model once, through the same port as its
    /// turns. If a chosen model fails, it is excluded and the seats are filled again. Returns
    /// warnings for the user.
    async fn fill_seats(
        &self,
        wish: &SeatingRequest,
        about_files: bool,
    ) -> Result<(SeatingPlan, Vec<String>), AppError> {
        self.providers.check_config().map_err(AppError::InvalidConfig)?;
        let (mut silent, mut slow): (Vec<Participant>, Vec<Participant>) = (vec![], vec![]);
        let mut plain: Vec<String> = vec![];
        let mut warnings = vec![];
        // One deadline for all probes, including those of replacements.
        let until = wish.probe_timeout.map(|patience| Instant::now() + patience.min(PROBE_TIMEOUT));
        loop {
            // Candidates are only listed if a seat is open.
            let needed = !wish.requested.is_complete() || wish.cast.has_open_seat();
            let mut able = if needed { self.candidates(&silent) } else { vec![] };
            if wish.cast.is_dialogue {
                able = sort_readers_first(able, about_files);
            }
            let mut there = wish.fallbacks.clone();
            if wish.cast.allow_same_model {
                // Without two sides, one model may take several seats.
                let first = able.first().map(|able| able.participant.clone());
                there.debater = first.or(there.debater).or(wish.requested.proposer.clone());
            }
            let paired = choose_seats(&wish.requested, &able, &wish.preferences, &there);
            let seated = paired.map_err(|vacant| {
                if warnings.is_empty() {
                    AppError::VacantSeat(vacant)
                } else {
                    AppError::NoCandidateLeft(vacant, warnings.join("; "))
                }
            })?;
            let usual = |taken: SeatAssignment| self.with_default_model(taken, wish.effort, &plain);
            let (company, assigned) =
                SeatingPlan::new(seated, &wish.cast, &able, about_files, usual);
            let MainSeats { proposer, challenger, .. } = &company.main_seats;
            if let Some(why) =
                self.providers.side_conflict(&proposer.participant, &challenger.participant)
                && !wish.cast.allow_same_model
            {
                return Err(AppError::SideConflict(why));
            }
            let taken = company.assignments();
            for taken in &taken {
                self.providers.check_available(&taken.participant)?;
            }
            let Some(until) = until else { return Ok((company, warnings)) };
            let patience = until.saturating_duration_since(Instant::now());
            let asked = taken.iter().map(|taken| taken.participant.clone());
            let asked: Vec<Participant> = asked.filter(|voice| !slow.contains(voice)).collect();
            let mut again = false;
            for ProbeResult { participant: voice, result: came } in
                self.probe(asked, patience).await
            {
                let Err(failure) = came else { continue };
                if failure.trouble == FailureKind::TimedOut {
                    warnings.push(format!("`{voice}` has not answered yet: {}", failure.note));
                    slow.push(voice);
                    continue;
                }
                let says = format!("`{voice}` does not answer: {}", failure.note);
                let chosen = taken.iter().all(|it| it.participant != voice || it.reason.is_some());
                if assigned.contains(&voice) && failure.trouble == FailureKind::UnknownModel {
                    warnings.push(format!("{says}; it is asked without naming a model"));
                    plain.push(voice.tool().to_owned());
                } else if chosen {
                    warnings.push(format!("{says}; somebody else is seated"));
                    silent.push(voice);
                } else {
                    let others = self.alternatives(&voice, &silent);
                    let (voice, failure) = (voice.to_string(), Box::new(failure));
                    return Err(AppError::ProbeFailed { voice, failure, alternatives: others });
                }
                again = true;
            }
            if !again {
                return Ok((company, warnings));
            }
        }
    }

    /// Probes models concurrently, each once. Those with a fresh result in the cache are skipped.
    pub async fn probe(
        &self,
        mut voices: Vec<Participant>,
        patience: Duration,
    ) -> Vec<ProbeResult> {
        let patience = patience.min(PROBE_TIMEOUT);
        if patience < MIN_PROBE_TIME {
            return vec![];
        }
        let mut seen: Vec<Participant> = vec![];
        voices.retain(|voice| {
            let first = !seen.contains(voice);
            seen.push(voice.clone());
            first && self.providers.is_model(voice) && !self.probe_cache.is_fresh(voice)
        });
        join_all(voices.into_iter().map(|voice| async move {
            let ask = probe_request(&voice, patience);
            let stream = ReplyStream::discard(ask.cue);
            let asked = tokio::time::timeout(patience, self.providers.request_reply(&ask, stream));
            let came = asked.await.unwrap_or_else(|_| {
                let note = format!("nothing came within {} s", patience.as_secs());
                Err(TurnFailure::new(FailureKind::TimedOut, note))
            });
            let came = came.map(|ProviderReply { envelope, .. }| envelope);
            if came.is_ok() {
                self.probe_cache.insert(&voice);
            }
            ProbeResult { participant: voice, result: came }
        }))
        .await
    }

    /// Available models that may be seated without being named, except tools that failed.
    fn candidates(&self, silent: &[Participant]) -> Vec<Candidate> {
        let listed =
            self.providers.list_providers().into_iter().filter(|it| it.model && it.playable);
        let voices = listed.filter_map(|it| {
            let voice: Participant = it.seat.parse().ok()?;
            let reads = self.providers.can_read_files(&voice);
            Some(Candidate { participant: voice, family: it.family, reads_files: reads })
        });
        voices.filter(|able| silent.iter().all(|it| it.tool() != able.participant.tool())).collect()
    }

    fn alternatives(&self, voice: &Participant, silent: &[Participant]) -> Vec<String> {
        let plain = Participant::Model { tool: voice.tool().into(), model: None };
        let bare = voice.model().filter(|_| self.providers.check_available(&plain).is_ok());
        let bare = bare.map(|_| voice.tool().to_owned());
        let able = self
            .candidates(silent)
            .into_iter()
            .filter(|able| able.participant.tool() != voice.tool());
        bare.into_iter().chain(able.map(|able| able.participant.to_string())).collect()
    }

    /// Adds the configured default model of the tool, if no model is named.
    fn with_default_model(
        &self,
        taken: SeatAssignment,
        effort: Option<Effort>,
        plain: &[String],
    ) -> SeatAssignment {
        if plain.iter().any(|tool| tool == taken.participant.tool()) {
            return taken;
        }
        let usual = self.default_participant(&taken.participant, effort);
        SeatAssignment { participant: usual.unwrap_or_else(|| taken.participant.clone()), ..taken }
    }

    /// The participant with the configured default model of its tool. `None` if a model is named.
    pub(super) fn default_participant(
        &self,
        voice: &Participant,
        effort: Option<Effort>,
    ) -> Option<Participant> {
        let Participant::Model { tool, model: None } = voice else { return None };
        let model = self.providers.default_model(tool, effort)?;
        let voice = Participant::Model { tool: tool.clone(), model: Some(model) };
        Some(voice).filter(|voice| voice.validate().is_ok())
    }
}

/// The request of a probe. It belongs to no debate.
fn probe_request(voice: &Participant, patience: Duration) -> TurnRequest {
    TurnRequest {
        debate_id: String::new(),
        cue: Cue { act: 0, round: 0, phase: 0, seat: 0 },
        seat: "probe".into(),
        role: Role::Pro,
        phase: "probe".into(),
        round: 0,
        reply_kind: ReplyKind::Speech,
        participant: voice.clone(),
        effort: None,
        prompt: PROBE_PROMPT.into(),
        timeout_secs: u32::try_from(patience.as_secs()).unwrap_or(u32::MAX),
        schema: None,
        web_allowed: false,
        root: PathBuf::new(),
        pin: None,
        attempt: 1,
    }
}
