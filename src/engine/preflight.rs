//! Preflight: everything checked before a debate is created.
//!
//! [`App::prepare`] pins the repository, gathers the brief, validates the draft, fills the open
//! seats and sends each distinct model a probe request. If a model the user named does not answer,
//! that is an error. One that was chosen automatically is replaced, with a warning.
use super::cast::{Listener, Stance};
use super::company::{Company, fitting};
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::pairing::{Able, Named, Preferred, Seated, Taken, There, pair};
use super::particulars::WantedCast;
use super::ports::{
    Ask, BadContext, Context, Contribution, Gathered, Pinned, Readers, Said, Stream,
};
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
const QUESTION: &str = "Reply with the single word OK and nothing else.";
/// Timeout of a probe. A slower model gets a warning and keeps its seat.
const PATIENCE: Duration = Duration::from_secs(30);
/// With less time left no probe is sent.
const SHORTEST: Duration = Duration::from_secs(1);
/// How long a successful probe stays in the cache.
const MEMORY: Duration = Duration::from_secs(60 * 60);

/// How to seat a debate and what to give it: the user's choices, preferences and fallbacks.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Participants the user named.
    pub named: Named,
    /// Configured preferences.
    pub preferred: Preferred,
    /// Participants for seats no model can take.
    pub there: There,
    /// Requested roles beyond the three main seats.
    pub cast: WantedCast,
    /// Context for the debaters: `none`, `auto`, or the user's selection.
    pub context: String,
    /// The change to review, if any. Its tree is pinned instead of the working tree.
    pub change: Option<Contribution>,
    /// Reasoning effort. A tool may have another default model for it.
    pub effort: Option<Effort>,
    /// Time limit for all probes. `None` sends none.
    pub probe: Option<Duration>,
}

/// Result of a probe request to one model.
#[derive(Clone, Debug)]
pub struct Probe {
    pub voice: Participant,
    pub came: Result<Envelope, TurnFailure>,
}

/// The pinned tree and the brief of a debate.
#[derive(Clone, Debug)]
pub struct Ground {
    /// `None` if there is no repository or it could not be read.
    pub pinned: Option<Pinned>,
    /// Why the repository could not be read, if so.
    pub unread: Option<String>,
    pub gathered: Gathered,
}

/// Converts the error of a cancelled or panicked blocking task.
#[expect(clippy::needless_pass_by_value, reason = "it is what an error is mapped with")]
fn stopped(error: tokio::task::JoinError) -> BadContext {
    BadContext(error.to_string())
}

/// Default context: chosen from the topic.
pub const AUTO: &str = "auto";

/// Warnings about a brief: redacted secrets and files left out.
fn told(gathered: &Gathered) -> Vec<String> {
    let mut told = vec![];
    if !gathered.removed.is_empty() {
        told.push(format!(
            "secrets taken out of what the debaters are given: {}",
            gathered.removed
        ));
    }
    let unseen = unseen(gathered);
    if !unseen.is_empty() {
        told.push(format!("not in what the debaters are given: {unseen}"));
    }
    told
}

/// Files left out, the first few by name, without duplicates.
fn unseen(gathered: &Gathered) -> String {
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
pub(super) struct Answered(Mutex<BTreeMap<String, Instant>>);

impl Answered {
    fn lately(&self, voice: &Participant) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&voice.to_string()).is_some_and(|when| when.elapsed() < MEMORY)
    }

    fn note(&self, voice: &Participant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(voice.to_string(), Instant::now());
    }
}

impl Desk {
    /// Runs the preflight for a draft: context, seats and probes. Returns the completed draft with
    /// warnings for the user. No model gets a request before everything else is validated.
    pub async fn prepare(
        &self,
        draft: Opening,
        wish: &Wish,
        root: &Path,
    ) -> Result<(Opening, Vec<String>), DeskError> {
        let ground = self.laid(root, &draft.topic, wish).await?;
        let draft = Opening { brief: ground.gathered.text.clone(), ..draft };
        self.trial(&draft, wish)?;
        let about_files = !ground.gathered.text.is_empty();
        let (company, mut warnings) = self.seat(wish, about_files).await?;
        let all = company.everyone();
        // If every participant reads files itself, a brief with references is enough.
        let Ground { pinned, unread, mut gathered } = ground;
        if !gathered.text.is_empty() && all.iter().all(|it| self.voices.reads(&it.voice)) {
            let about = (draft.topic.as_str(), wish.context.as_str(), wish.change.as_ref());
            gathered = self.gathered(root, pinned.clone(), about, Readers::OfFiles).await?;
        }
        // An empty selection needs no report.
        if gathered.text.is_empty() {
            gathered.picked.clear();
        }
        warnings
            .extend(unread.iter().map(|why| format!("no tool can read this repository: {why}")));
        let left_out = pinned.as_ref().map(|pin| &pin.left_out).filter(|it| !it.is_empty());
        warnings.extend(left_out.map(|it| format!("left out of what tools can read: {it}")));
        warnings.extend(told(&gathered));
        let unseen = unseen(&gathered);
        let changed: BTreeSet<&String> = gathered
            .changed
            .iter()
            .flat_map(|it| [Some(&it.path), it.from.as_ref()])
            .flatten()
            .collect();
        let beside =
            gathered.touched.iter().filter(|path| !changed.contains(path)).cloned().collect();
        let proposed = draft.proposed.clone().map(|it| ReviewedChange { unseen, beside, ..it });
        let chosen = company.chosen();
        let Company { seated: Seated { proposer, challenger, judge }, roles, audience, .. } =
            company;
        let opening = Opening {
            proposer: proposer.voice,
            challenger: challenger.voice,
            judge: judge.voice,
            roles: roles
                .into_iter()
                .map(|(name, stance, taken)| Stance { name, stance, voice: taken.voice })
                .collect(),
            audience: audience
                .into_iter()
                .map(|(kind, weight, taken)| Listener { kind, weight, voice: taken.voice })
                .collect(),
            panel: wish.cast.panel.clone(),
            partners: wish.cast.partners.clone(),
            brief: gathered.text,
            touched: gathered.touched,
            picked: gathered.picked,
            commit: pinned.as_ref().and_then(|pin| pin.commit.clone()),
            pin: pinned.map(|pin| pin.tree),
            unread,
            chosen,
            proposed,
            ..draft
        };
        Ok((opening, warnings))
    }

    /// Pins the repository and gathers a brief from it. An unreadable repository is not an error,
    /// but is reported in the result.
    pub async fn ground(
        &self,
        root: &Path,
        topic: &str,
        wanted: &str,
        readers: Readers,
    ) -> Result<Ground, DeskError> {
        let (briefs, place) = (self.briefs.clone(), root.to_owned());
        let looking = tokio::task::spawn_blocking(move || briefs.pin(&place));
        let (pinned, unread) = match looking.await.map_err(stopped)? {
            Ok(pinned) => (pinned, None),
            Err(BadContext(why)) => (None, Some(why)),
        };
        let gathered = self.gathered(root, pinned.clone(), (topic, wanted, None), readers).await?;
        Ok(Ground { pinned, unread, gathered })
    }

    /// As [`App::read_context`], with the tree of the change if one is reviewed.
    async fn laid(&self, root: &Path, topic: &str, wish: &Wish) -> Result<Ground, DeskError> {
        let (wanted, readers) = (wish.context.as_str(), Readers::OfTheBrief);
        let Some(change) = &wish.change else {
            return self.ground(root, topic, wanted, readers).await;
        };
        let pinned = Some(change.proposal.pinned.clone());
        let about = (topic, wanted, Some(change));
        let gathered = self.gathered(root, pinned.clone(), about, readers).await?;
        Ok(Ground { pinned, unread: None, gathered })
    }

    /// Gathers the brief on a blocking thread, from the topic, the requested context and the
    /// change.
    async fn gathered(
        &self,
        root: &Path,
        pinned: Option<Pinned>,
        (topic, wanted, change): (&str, &str, Option<&Contribution>),
        readers: Readers,
    ) -> Result<Gathered, DeskError> {
        let briefs = self.briefs.clone();
        let (root, topic, wanted) = (root.to_owned(), topic.to_owned(), wanted.to_owned());
        let change = change.cloned();
        let looking = tokio::task::spawn_blocking(move || {
            let (root, pinned) = (root.as_path(), pinned.as_ref());
            let (topic, wanted, change) = (topic.as_str(), wanted.as_str(), change.as_ref());
            let context = Context { root, pinned, topic, wanted, readers, change };
            match briefs.gather(&context) {
                // With automatic context a failure means an empty brief.
                Err(_) if wanted.trim() == AUTO => Ok(Gathered::default()),
                gathered => gathered,
            }
        });
        Ok(looking.await.map_err(stopped)??)
    }

    /// Validates the draft with placeholder participants, before any request is sent.
    fn trial(&self, draft: &Opening, wish: &Wish) -> Result<(), DeskError> {
        let nobody = |name: &str| Participant::Model { tool: name.into(), model: None };
        let cast = &wish.cast;
        let trial = Opening {
            proposer: wish.named.proposer.clone().unwrap_or_else(|| nobody("one")),
            challenger: wish.named.challenger.clone().unwrap_or_else(|| nobody("other")),
            judge: wish.named.judge.clone().unwrap_or_else(|| nobody("third")),
            roles: cast
                .roles
                .iter()
                .map(|(name, stance, _)| Stance {
                    name: name.clone(),
                    stance: stance.clone(),
                    voice: nobody("one"),
                })
                .collect(),
            audience: cast
                .listeners
                .iter()
                .map(|(kind, weight, _)| Listener {
                    kind: kind.clone(),
                    weight: *weight,
                    voice: nobody("third"),
                })
                .collect(),
            panel: cast.panel.clone(),
            partners: cast.partners.clone(),
            ..draft.clone()
        };
        Ok(trial.setup(&self.catalogue, String::new(), String::new(), 0)?.validate()?)
    }

    /// Fills the open seats and probes each distinct model once, through the same port as its
    /// turns. If a chosen model fails, it is excluded and the seats are filled again. Returns
    /// warnings for the user.
    async fn seat(
        &self,
        wish: &Wish,
        about_files: bool,
    ) -> Result<(Company, Vec<String>), DeskError> {
        self.voices.sound().map_err(DeskError::Settings)?;
        let (mut silent, mut slow): (Vec<Participant>, Vec<Participant>) = (vec![], vec![]);
        let mut plain: Vec<String> = vec![];
        let mut warnings = vec![];
        // One deadline for all probes, including those of replacements.
        let until = wish.probe.map(|patience| Instant::now() + patience.min(PATIENCE));
        loop {
            // Candidates are only listed if a seat is open.
            let needed = !wish.named.all() || wish.cast.vacant();
            let mut able = if needed { self.able(&silent) } else { vec![] };
            if wish.cast.partnered {
                able = fitting(able, about_files);
            }
            let mut there = wish.there.clone();
            if wish.cast.alike {
                // Without two sides, one model may take several seats.
                let first = able.first().map(|able| able.voice.clone());
                there.side = first.or(there.side).or(wish.named.proposer.clone());
            }
            let paired = pair(&wish.named, &able, &wish.preferred, &there);
            let seated = paired.map_err(|vacant| {
                if warnings.is_empty() {
                    DeskError::Vacant(vacant)
                } else {
                    DeskError::Deserted(vacant, warnings.join("; "))
                }
            })?;
            let usual = |taken: Taken| self.with_model(taken, wish.effort, &plain);
            let (company, assigned) = Company::new(seated, &wish.cast, &able, about_files, usual);
            let Seated { proposer, challenger, .. } = &company.seated;
            if let Some(why) = self.voices.clash(&proposer.voice, &challenger.voice)
                && !wish.cast.alike
            {
                return Err(DeskError::Clash(why));
            }
            let taken = company.everyone();
            for taken in &taken {
                self.voices.playable(&taken.voice)?;
            }
            let Some(until) = until else { return Ok((company, warnings)) };
            let patience = until.saturating_duration_since(Instant::now());
            let asked = taken.iter().map(|taken| taken.voice.clone());
            let asked: Vec<Participant> = asked.filter(|voice| !slow.contains(voice)).collect();
            let mut again = false;
            for Probe { voice, came } in self.probe(asked, patience).await {
                let Err(failure) = came else { continue };
                if failure.trouble == FailureKind::TimedOut {
                    warnings.push(format!("`{voice}` has not answered yet: {}", failure.note));
                    slow.push(voice);
                    continue;
                }
                let says = format!("`{voice}` does not answer: {}", failure.note);
                let chosen = taken.iter().all(|it| it.voice != voice || it.why.is_some());
                if assigned.contains(&voice) && failure.trouble == FailureKind::UnknownModel {
                    warnings.push(format!("{says}; it is asked without naming a model"));
                    plain.push(voice.tool().to_owned());
                } else if chosen {
                    warnings.push(format!("{says}; somebody else is seated"));
                    silent.push(voice);
                } else {
                    let others = self.others(&voice, &silent);
                    let (voice, failure) = (voice.to_string(), Box::new(failure));
                    return Err(DeskError::Silent { voice, failure, others });
                }
                again = true;
            }
            if !again {
                return Ok((company, warnings));
            }
        }
    }

    /// Probes models concurrently, each once. Those with a fresh result in the cache are skipped.
    pub async fn probe(&self, mut voices: Vec<Participant>, patience: Duration) -> Vec<Probe> {
        let patience = patience.min(PATIENCE);
        if patience < SHORTEST {
            return vec![];
        }
        let mut seen: Vec<Participant> = vec![];
        voices.retain(|voice| {
            let first = !seen.contains(voice);
            seen.push(voice.clone());
            first && self.voices.model(voice) && !self.answered.lately(voice)
        });
        join_all(voices.into_iter().map(|voice| async move {
            let ask = question(&voice, patience);
            let stream = Stream::unheard(ask.cue);
            let asked = tokio::time::timeout(patience, self.voices.speak(&ask, stream));
            let came = asked.await.unwrap_or_else(|_| {
                let note = format!("nothing came within {} s", patience.as_secs());
                Err(TurnFailure::new(FailureKind::TimedOut, note))
            });
            let came = came.map(|Said { envelope, .. }| envelope);
            if came.is_ok() {
                self.answered.note(&voice);
            }
            Probe { voice, came }
        }))
        .await
    }

    /// Available models that may be seated without being named, except tools that failed.
    fn able(&self, silent: &[Participant]) -> Vec<Able> {
        let listed = self.voices.listing().into_iter().filter(|it| it.model && it.playable);
        let voices = listed.filter_map(|it| {
            let voice: Participant = it.seat.parse().ok()?;
            let reads = self.voices.reads(&voice);
            Some(Able { voice, family: it.family, reads })
        });
        voices.filter(|able| silent.iter().all(|it| it.tool() != able.voice.tool())).collect()
    }

    fn others(&self, voice: &Participant, silent: &[Participant]) -> Vec<String> {
        let plain = Participant::Model { tool: voice.tool().into(), model: None };
        let bare = voice.model().filter(|_| self.voices.playable(&plain).is_ok());
        let bare = bare.map(|_| voice.tool().to_owned());
        let able = self.able(silent).into_iter().filter(|able| able.voice.tool() != voice.tool());
        bare.into_iter().chain(able.map(|able| able.voice.to_string())).collect()
    }

    /// Adds the configured default model of the tool, if no model is named.
    fn with_model(&self, taken: Taken, effort: Option<Effort>, plain: &[String]) -> Taken {
        if plain.iter().any(|tool| tool == taken.voice.tool()) {
            return taken;
        }
        let usual = self.usually(&taken.voice, effort);
        Taken { voice: usual.unwrap_or_else(|| taken.voice.clone()), ..taken }
    }

    /// The participant with the configured default model of its tool. `None` if a model is named.
    pub(super) fn usually(
        &self,
        voice: &Participant,
        effort: Option<Effort>,
    ) -> Option<Participant> {
        let Participant::Model { tool, model: None } = voice else { return None };
        let model = self.voices.usual(tool, effort)?;
        let voice = Participant::Model { tool: tool.clone(), model: Some(model) };
        Some(voice).filter(|voice| voice.validate().is_ok())
    }
}

/// The request of a probe. It belongs to no debate.
fn question(voice: &Participant, patience: Duration) -> Ask {
    Ask {
        debate: String::new(),
        cue: Cue { act: 0, round: 0, phase: 0, seat: 0 },
        seat: "probe".into(),
        role: Role::Pro,
        phase: "probe".into(),
        round: 0,
        reply: ReplyKind::Speech,
        voice: voice.clone(),
        effort: None,
        prompt: QUESTION.into(),
        seconds: u32::try_from(patience.as_secs()).unwrap_or(u32::MAX),
        schema: None,
        web: false,
        root: PathBuf::new(),
        pin: None,
        attempt: 1,
    }
}
