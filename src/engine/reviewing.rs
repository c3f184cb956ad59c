//! A change is argued about before it is merged: how such a debate is posed, whether the same has
//! been argued already, and what became of what was found before.
use super::catalogue::Offering;
use super::command::Command;
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::pairing::Named;
use super::ports::{About, BadContext, Changed, Contribution, Meant, Proposal, Query, Stored};
use super::preflight::Wish;
use crate::debate::hashed::hashed;
use crate::debate::setup::WORDING;
use crate::debate::standing::status;
use crate::debate::{
    Body, Budget, Change, Citation, Claim, Compared, Cue, Debate, Hold, Known, Noted, Pause,
    Proposed, Role, Status, Step, next,
};
use std::path::{Path, PathBuf};

/// What the side for a change holds, and the side against it.
const STANCES: [&str; 2] = [
    "the change should be merged as it is designed",
    "the design of the change should be changed first, before it is merged",
];
/// What those are called where sides have names of their own.
const NAMES: [&str; 2] = ["Merge as designed", "Change first"];
/// Reviews of one subject that are looked at for the one before.
const MOST_BEFORE: usize = 20;

/// Whether a change has been argued already, under the same settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Already {
    /// It has, to the end: the debate.
    Done(String),
    /// It was begun, and nobody goes on with it at the moment.
    Begun(String),
    /// It is being argued at this moment.
    Held {
        /// The debate.
        id: String,
        /// By whom.
        by: String,
    },
}

/// The debates of a repository that share a review key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SameReview {
    /// The one to use instead of arguing again, if one can be used.
    pub already: Option<Already>,
    /// The ids of all of them.
    pub ids: Vec<String>,
}

impl Desk {
    /// Finds a change. Files that are about to be written are no part of it.
    pub async fn proposal(
        &self,
        root: &Path,
        meant: Meant,
        without: Vec<PathBuf>,
    ) -> Result<Proposal, DeskError> {
        let (briefs, root) = (self.briefs.clone(), root.to_owned());
        let looking = tokio::task::spawn_blocking(move || briefs.proposal(&root, &meant, &without));
        Ok(looking.await.map_err(|error| BadContext(error.to_string()))??)
    }

    /// What a review found earlier, with whether what it rested on is still so in this change.
    pub async fn recall(
        &self,
        root: &Path,
        proposal: &Proposal,
        noted: Vec<Noted>,
    ) -> Result<Vec<Known>, DeskError> {
        let (evidence, root, proposal) = (self.evidence.clone(), root.to_owned(), proposal.clone());
        let looking = tokio::task::spawn_blocking(move || {
            let touched: Vec<String> = proposal.files.into_iter().map(|file| file.path).collect();
            let about = About {
                root: &root,
                pin: &proposal.pinned.tree,
                touched: &touched,
                folder: "",
                except: None,
                was: Some(&proposal.was),
            };
            // Looked up as what is offered for a claim is: word for word.
            let look = |entry: String| {
                let offered = Claim { evidence: vec![entry], ..Claim::default() };
                evidence.citations(&Body::claiming(offered), &about).into_iter().next()
            };
            noted.into_iter().map(|noted| recalled(noted, &touched, &look)).collect()
        });
        Ok(looking.await.map_err(|error| BadContext(error.to_string()))?)
    }

    /// The last debate about what is called so that was about another state of it, and in which
    /// somebody argued against it.
    pub fn reviewed_before(
        &self,
        root: &Path,
        subject: &str,
        proposal: &Proposal,
    ) -> Result<Option<Debate>, DeskError> {
        if subject.is_empty() {
            return Ok(None);
        }
        let subject = Some(subject.to_owned());
        let (root, limit) = (Some(root.to_owned()), Some(MOST_BEFORE));
        let query = Query { root, subject, limit, ..Query::default() };
        for card in self.archive.list(&query)? {
            let (Stored { setup, .. }, debate, _) = self.read(&card.id)?;
            let other = setup.pin.as_deref() != Some(&proposal.pinned.tree);
            let came = matches!(status(&debate), Status::Completed | Status::Degraded);
            if other && came && challenged(&debate) {
                return Ok(Some(debate));
            }
        }
        Ok(None)
    }

    /// Whether the same change was argued here already under the same settings. What came to its end
    /// with something missing, or before its rounds were over, is argued anew.
    pub fn reviewed_already(
        &self,
        root: &Path,
        proposed: &Proposed,
    ) -> Result<SameReview, DeskError> {
        let (root, reviews) = (Some(root.to_owned()), Some(proposed.key.clone()));
        let cards = self.archive.list(&Query { root, reviews, ..Query::default() })?;
        let (mut done, mut begun) = (None, None);
        for card in &cards {
            // The status is taken from the log, which may be newer than the listing.
            let (Stored { holder, .. }, debate, _) = self.read(&card.id)?;
            let (id, status) = (card.id.clone(), status(&debate));
            if status == Status::Completed && !debate.concluded() {
                done.get_or_insert(Already::Done(id));
            } else if !status.over() {
                begun.get_or_insert(match holder {
                    Some(by) => Already::Held { id, by },
                    None => Already::Begun(id),
                });
            }
        }
        let ids = cards.into_iter().map(|card| card.id).collect();
        Ok(SameReview { already: done.or(begun), ids })
    }

    /// What allows a debate that was begun to spend so much, if it could not go on otherwise.
    pub fn allowing(&self, id: &str, budget: Budget) -> Result<Vec<Command>, DeskError> {
        let (_, debate, _) = self.read(id)?;
        let spent = matches!(next(&debate), Step::Hold { pause: Pause::Spent { .. }, .. });
        let because = "the review was asked for again".to_owned();
        let amend = Command::Amend { change: Change::Limit { budget }, because };
        Ok(if spent && !budget.exhausted(debate.spent()) { vec![amend] } else { vec![] })
    }

    /// The draft and the wish of a debate, made into those of a review of a change.
    pub fn posed(
        &self,
        draft: Opening,
        wish: Wish,
        change: Contribution,
        subject: &str,
    ) -> Result<(Opening, Wish), DeskError> {
        let offering = self.catalogue.offered(&draft.format)?;
        let seats = |role: Role| offering.offer.format.seats(role);
        if !seats(Role::Pro) && !seats(Role::Advocate) {
            return Err(DeskError::Cast(format!(
                "`{}` has no sides that could argue for and against a change; duel, tribunal and \
                 research have",
                draft.format
            )));
        }
        let Named { proposer, challenger, judge } = &wish.named;
        if [proposer, challenger, judge].into_iter().flatten().any(|it| it.tool() == "demo") {
            let why = "`demo` has nothing to say about a change; name other seats";
            return Err(DeskError::Cast(why.into()));
        }
        let (mut draft, mut wish) = (draft, wish);
        for (stance, ours) in draft.stances.iter_mut().zip(STANCES) {
            if stance.trim().is_empty() {
                ours.clone_into(stance);
            }
        }
        if seats(Role::Advocate) {
            // Two sides, each played by whoever was named for it.
            let named = [wish.named.proposer.clone(), wish.named.challenger.clone()];
            let both = NAMES.iter().zip(STANCES).zip(named);
            let role = |((name, stance), voice): ((&&str, &str), _)| {
                ((*name).to_owned(), format!("argue that {stance}"), voice)
            };
            wish.cast.roles = both.map(role).collect();
        }
        draft.topic = topic(&change.proposal, subject);
        // Nobody is there who could confirm anything.
        draft.holds.retain(|hold| *hold != Hold::Start);
        draft.proposed = Some(Proposed {
            subject: subject.to_owned(),
            key: key(&draft, &wish, &change, offering),
            known: change.known.clone(),
            ..outlined(&change.proposal, &change.title)
        });
        wish.change = Some(change);
        Ok((draft, wish))
    }
}

/// Files in which words are looked for whose own file is not there any more.
const MOST_MOVED: usize = 200;

/// What became of something that was found, and where it is now. That it cannot be told, or stands
/// elsewhere, or in many places, is no reason to think that it was mended.
fn recalled(noted: Noted, touched: &[String], look: &impl Fn(String) -> Option<Citation>) -> Known {
    let removed = noted.place.as_ref().is_some_and(|place| place.removed);
    let mut now = look(noted.rests_on.clone());
    let lost = |it: &Option<Citation>| it.as_ref().is_some_and(|it| it.found.wrong()) && !removed;
    let words = noted.rests_on.find(" \"").map(|at| &noted.rests_on[at..]);
    if let (true, Some(words)) = (lost(&now), words) {
        let elsewhere =
            touched.iter().take(MOST_MOVED).filter_map(|file| look(format!("{file}{words}")));
        now = elsewhere.into_iter().find(|it| it.found.verified()).or(now);
    }
    // What was taken away is mended when it is there again.
    let back = now.as_ref().is_some_and(|it| it.found.verified() && it.removed.is_none());
    let gone = if removed { back } else { lost(&now) };
    let found = now.filter(|it| it.found.verified() && it.removed.is_some() == removed);
    let place = found.and_then(|it| it.place()).or(noted.place.clone());
    Known { noted: Noted { place, ..noted }, gone }
}

/// A change as a setup has it, before anything is known of it but itself.
pub fn outlined(proposal: &Proposal, title: &str) -> Proposed {
    let sum = |lines: &dyn Fn(&Changed) -> Option<u64>| {
        let all: u64 = proposal.files.iter().filter_map(lines).sum();
        usize::try_from(all).unwrap_or(usize::MAX)
    };
    Proposed {
        title: title.trim().to_owned(),
        compared: Compared {
            says: proposal.says.clone(),
            base: proposal.commits.0.clone().or(proposal.old.clone()),
            head: proposal.commits.1.clone().or(Some(proposal.new.clone())),
            files: proposal.files.len(),
            added: sum(&|file| file.added),
            deleted: sum(&|file| file.deleted),
        },
        was: proposal.was.clone(),
        ..Proposed::default()
    }
}

/// The question. Nothing in it is the author's: it stands outside all marks.
fn topic(proposal: &Proposal, subject: &str) -> String {
    let number = subject.strip_prefix('#').filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
    let id = proposal.commits.1.as_ref().unwrap_or(&proposal.new);
    let id: String = id.chars().take(12).collect();
    let which =
        number.map_or(format!("the change {id}"), |number| format!("change #{number} ({id})"));
    format!("Should {which} be merged as it is designed, or should its design be changed first?")
}

/// Whether whoever is against a change has spoken.
fn challenged(debate: &Debate) -> bool {
    let against = |cue: Cue| matches!(debate.seat(cue).role, Role::Con | Role::Advocate);
    debate.spoken(..).any(|(cue, _)| against(cue))
}

/// The same for the same change, asked about in the same words of the same seats. Whoever is not
/// named is not in it: they are chosen when it is argued. Nor is what is known from before: whoever
/// goes back to what was argued finds it.
fn key(draft: &Opening, wish: &Wish, change: &Contribution, offering: &Offering) -> String {
    let (named, proposal) = (&wish.named, &change.proposal);
    let parts = serde_json::json!([
        (WORDING, &proposal.old, &proposal.new, &change.title, &change.body, &proposal.messages),
        (&draft.format, draft.rounds, draft.effort, draft.sealed, draft.stop_when_settled),
        (&draft.stances, &draft.styles, &draft.terms, draft.audited, draft.judge_share),
        (&named.proposer, &named.challenger, &named.judge, &wish.context, draft.same_judge),
        (&wish.cast.roles, &wish.cast.listeners, &wish.cast.panel),
        (&offering.prompts, &offering.offer.format),
    ]);
    hashed(&[&parts.to_string()])
}
