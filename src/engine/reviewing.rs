//! A change is argued about before it is merged: how such a debate is posed, whether the same has
//! been argued already, and what became of what was found before.
use super::command::Command;
use super::desk::{Desk, DeskError};
use super::opening::Opening;
use super::ports::{About, BadContext, Contribution, Meant, Proposal, Query, Stored};
use super::preflight::Wish;
use crate::debate::setup::WORDING;
use crate::debate::{
    Budget, Change, Debate, Hold, Known, Outcome, Pause, Proposed, Role, Step, next, standing,
};
use sha2::{Digest, Sha256};
use std::path::Path;

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
}

/// Something a review had found, with what it rested on as that was written.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// What it was.
    pub known: Known,
    /// What was found for it, and whether that was in what the change takes away.
    pub rests_on: Vec<(String, bool)>,
}

impl Desk {
    /// Finds a change.
    pub async fn proposal(&self, root: &Path, meant: Meant) -> Result<Proposal, DeskError> {
        let (briefs, root) = (self.briefs.clone(), root.to_owned());
        let looking = tokio::task::spawn_blocking(move || briefs.proposal(&root, &meant));
        Ok(looking.await.map_err(|error| BadContext(error.to_string()))??)
    }

    /// What a review found earlier, with whether what it rested on is still so in this change.
    pub async fn recall(
        &self,
        root: &Path,
        proposal: &Proposal,
        recalled: Vec<Recalled>,
    ) -> Result<Vec<Known>, DeskError> {
        let (evidence, root, pin) =
            (self.evidence.clone(), root.to_owned(), proposal.pinned.tree.clone());
        let touched: Vec<String> = proposal.files.iter().map(|file| file.path.clone()).collect();
        let looking = tokio::task::spawn_blocking(move || {
            let about =
                About { root: &root, pin: &pin, touched: &touched, folder: "", except: None };
            let stands = |(raw, removed): &(String, bool)| {
                let found = evidence.look_up(raw, &about).unwrap_or_default();
                found.iter().any(|it| it.found.verified() && it.removed.is_some() == *removed)
            };
            let known = |it: Recalled| Known { gone: !it.rests_on.iter().any(stands), ..it.known };
            recalled.into_iter().map(known).collect()
        });
        Ok(looking.await.map_err(|error| BadContext(error.to_string()))?)
    }

    /// The last debate about what is called so, if it was about another state of it and came to
    /// something.
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
            if other && debate.outcome().is_some() {
                return Ok(Some(debate));
            }
        }
        Ok(None)
    }

    /// Whether the same change was argued already under the same settings. What came to its end with
    /// something missing, or in a hurry, is argued anew.
    pub fn reviewed_already(&self, proposed: &Proposed) -> Result<Option<Already>, DeskError> {
        let query = Query { reviews: Some(proposed.key.clone()), ..Query::default() };
        for card in self.archive.list(&query)? {
            match card.status {
                standing::Status::Completed => {
                    let (_, debate, _) = self.read(&card.id)?;
                    if !matches!(debate.outcome(), Some(Outcome::Ended)) {
                        return Ok(Some(Already::Done(card.id)));
                    }
                }
                standing::Status::InProgress | standing::Status::Paused => {
                    if self.archive.read(&card.id)?.holder.is_none() {
                        return Ok(Some(Already::Begun(card.id)));
                    }
                }
                _ => {}
            }
        }
        Ok(None)
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
                "`{}` has no sides that could argue for and against a change",
                draft.format
            )));
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
            title: change.title.trim().to_owned(),
            says: change.proposal.says.clone(),
            base: change.proposal.commits.0.clone().or(change.proposal.old.clone()),
            head: change.proposal.commits.1.clone().or(Some(change.proposal.new.clone())),
            files: change.proposal.files.len(),
            added: sum(change.proposal.files.iter().map(|file| file.added)),
            deleted: sum(change.proposal.files.iter().map(|file| file.deleted)),
            subject: subject.to_owned(),
            key: key(&draft, &wish, &change, &offering.prompts)?,
            known: change.known.clone(),
        });
        wish.change = Some(change);
        Ok((draft, wish))
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

fn sum(lines: impl Iterator<Item = Option<u64>>) -> usize {
    usize::try_from(lines.flatten().sum::<u64>()).unwrap_or(usize::MAX)
}

/// The same for the same change, asked about in the same words of the same seats. Whoever is not
/// named is not in it: they are chosen when it is argued.
fn key(
    draft: &Opening,
    wish: &Wish,
    change: &Contribution,
    prompts: &std::collections::BTreeMap<String, String>,
) -> Result<String, DeskError> {
    let named = &wish.named;
    let known: Vec<_> = change.known.iter().map(|it| (&it.fingerprint, it.gone)).collect();
    let parts = serde_json::json!([
        (WORDING, &change.proposal.old, &change.proposal.new, &change.title, &change.body, known),
        (&draft.format, draft.rounds, draft.effort, draft.sealed, draft.stop_when_settled),
        (&draft.stances, &draft.styles, &draft.terms, draft.audited, draft.judge_share),
        (&named.proposer, &named.challenger, &named.judge, &wish.context),
        (&wish.cast.roles, &wish.cast.listeners, &wish.cast.panel),
        prompts,
    ]);
    let bytes = serde_json::to_vec(&parts).map_err(|error| BadContext(error.to_string()))?;
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}
