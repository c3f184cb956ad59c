//! From a change to a debate about it: what is known of it, how it is posed, and whether the same has
//! been argued already. Every door asks here.
use super::Review;
use super::finding::{Finding, State};
use super::gate::FailOn;
use super::weighing::review;
use crate::debate::Kind;
use crate::engine::preflight::Wish;
use crate::engine::reviewing::{Already, SameReview};
use crate::engine::{Contribution, Desk, DeskError, Idle, Meant, Opening, Proposal};
use std::path::Path;

/// Of what an earlier review had found, no more than this is told and looked up again: a file may
/// come from anywhere.
const MOST_KNOWN: usize = 100;

/// What is said about a change, and how it is to be argued.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What its author calls it.
    pub title: String,
    /// What its author says about it.
    pub body: String,
    /// Which change was asked for.
    pub meant: Option<Meant>,
    /// What the reviews of one change have in common; what was compared with what, if nobody says.
    pub subject: Option<String>,
    /// An earlier review of it; the last one in the archive, if none is given.
    pub earlier: Option<Review>,
    /// Whether it is argued again though the same was argued already.
    pub fresh: bool,
}

/// A debate about a change that could be opened.
#[derive(Clone, Debug)]
pub struct Posed {
    /// What is to be opened.
    pub draft: Opening,
    /// Whom the user wants to hear in it.
    pub wish: Wish,
    /// Whether the same was argued already.
    pub already: Option<Already>,
}

/// Why there is nothing to argue about in a change, if there is nothing; what is merely not worth it
/// is argued if somebody insists.
pub fn idle(proposal: &Proposal, insists: bool) -> Option<Idle> {
    proposal.idle.filter(|idle| *idle == Idle::Empty || !insists)
}

/// What lies in the repository may be the change's own: an archive there proves nothing.
pub fn apart(home: &Path, root: &Path) -> Result<(), DeskError> {
    // What is not there yet is where its folder is.
    let there = home.ancestors().find_map(|folder| dunce::canonicalize(folder).ok());
    let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    if there.is_none_or(|there| !there.starts_with(root)) {
        return Ok(());
    }
    Err(DeskError::Cast(format!(
        "the archive `{}` lies in the repository under review: set DEBATE_HOME to a folder outside, \
         where no change can put anything",
        home.display()
    )))
}

/// Where nobody rules, nothing can block.
pub fn could_block(desk: &Desk, format: &str, when: FailOn) -> Result<(), DeskError> {
    let offer = &desk.catalogue().offered(format)?.offer;
    let mut phases = offer.format.acts.iter().flat_map(|act| &act.phases);
    if when == FailOn::Never || phases.any(|phase| phase.reply == Kind::Verdict) {
        return Ok(());
    }
    Err(DeskError::Cast(format!(
        "`{format}` gives no verdict, so nothing could block: leave `--fail-on` out, or take a duel"
    )))
}

/// Which change a context speaks of, and what else it wants; without a word about it, whatever has
/// changed.
pub fn meant(context: &str) -> (Meant, String) {
    let (mut meant, mut rest) = (Meant::Here, vec![]);
    let (items, note) = match context.find("note=") {
        Some(at) => context.split_at(at),
        None => (context, ""),
    };
    for item in items.split([';', '\n']).map(str::trim).filter(|item| !item.is_empty()) {
        let named =
            item.split_once('=').map_or((item, ""), |(name, value)| (name.trim(), value.trim()));
        match named {
            ("diff", "") => meant = Meant::Here,
            ("diff", "worktree") => meant = Meant::Worktree,
            ("diff", "branch") => meant = Meant::Branch,
            ("diff", "staged" | "cached" | "index") => meant = Meant::Staged,
            ("diff", range) if range.contains("..") => meant = Meant::Range(range.to_owned()),
            ("diff", commit) => meant = Meant::Commit(commit.to_owned()),
            ("auto" | "none", "") => {}
            _ => rest.push(item),
        }
    }
    rest.extend(Some(note).filter(|note| !note.is_empty()));
    (meant, rest.join("\n"))
}

/// What the reviews of one change have in common: what it was called, and what it was compared with.
/// Changes that are no commits yet have that in common with nothing but themselves.
fn subject(meant: &Meant, proposal: &Proposal) -> String {
    let branch = proposal.branch.as_deref().unwrap_or("HEAD");
    let base = proposal.commits.0.as_deref().or(proposal.old.as_deref()).unwrap_or("nothing");
    match meant {
        Meant::Range(range) => {
            let (base, head) =
                range.split_once("...").or_else(|| range.split_once("..")).unwrap_or((range, ""));
            let head = if matches!(head.trim(), "" | "HEAD") { branch } else { head.trim() };
            format!("{}..{head}", base.trim())
        }
        Meant::Commit(id) => format!("commit {id}"),
        Meant::Staged => format!("{branch}, staged since {base}"),
        Meant::Patch { .. } => format!("a patch to {base}"),
        Meant::Here | Meant::Worktree if proposal.commits.1.is_none() => {
            format!("{branch}, changed since {base}")
        }
        Meant::Here | Meant::Worktree | Meant::Branch => branch.to_owned(),
    }
}

/// Poses it.
pub async fn posed(
    desk: &Desk,
    root: &Path,
    proposal: Proposal,
    asked: Asked,
    (draft, wish): (Opening, Wish),
) -> Result<Posed, DeskError> {
    let meant = asked.meant.unwrap_or(Meant::Here);
    let subject = asked.subject.unwrap_or_else(|| subject(&meant, &proposal));
    let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
    let earlier = if asked.earlier.is_some() {
        asked.earlier
    } else {
        let before = desk.reviewed_before(root, &subject, &proposal)?;
        before.and_then(|debate| review(&debate, usize::MAX))
    };
    // What was open before that and was not raised again is still to be looked at.
    let known = earlier.map(|review| {
        let open = review.earlier.iter().filter(|it| it.state == State::Open);
        let found = review.findings.iter().map(Finding::noted);
        found.chain(open.map(|it| it.noted.clone())).take(MOST_KNOWN).collect()
    });
    let known = desk.recall(root, &proposal, known.unwrap_or_default()).await?;
    let Asked { title, body, fresh, .. } = asked;
    let change = Contribution { proposal, title, body, known };
    let (mut draft, wish) = desk.posed(draft, wish, change, &subject)?;
    if let Some(proposed) = &mut draft.proposed {
        proposed.fresh = fresh;
    }
    let same = match (&draft.proposed, fresh) {
        (Some(proposed), false) => desk.reviewed_already(root, proposed)?,
        _ => SameReview::default(),
    };
    let already = same.already;
    draft.supersedes = same.ids;
    Ok(Posed { draft, wish, already })
}
