//! Checks cited files again: what happened to them since a debate was opened
//! ([`App::changes_since`]), and whether its citations still hold ([`App::recheck`]).
//!
//! The results are not recorded. The record says what was found when the turn was taken.
use super::desk::{Desk, DeskError, at_home};
use super::inspection::against;
use super::ports::{About, BadContext, Before, Place, Since, Stored, Touching};
use crate::debate::{Citation, CitationStatus, Cue, Debate, RecheckStatus};
use std::path::PathBuf;

/// Maximum commits listed.
const NAMED: usize = 3;
/// Maximum files listed, per commit or in total.
const PATHS: usize = 3;
/// Maximum characters of a commit's subject line.
const SUBJECT: usize = 60;

/// Result of checking citations again.
#[derive(Clone, Debug)]
pub struct Recheck {
    /// Description of the tree they were checked against.
    pub against: String,
    /// The citations that were valid when made, in the order of the debate.
    pub citations: Vec<Again>,
}

/// One citation with its old and its new lookup result.
#[derive(Clone, Debug)]
pub struct Again {
    pub cue: Cue,
    pub was: Citation,
    /// `None` if the reply is parsed differently now.
    pub now: Option<Citation>,
    /// Whether it still holds.
    pub stands: RecheckStatus,
    pub note: Option<String>,
}

impl Again {
    /// One line, as in `was exact, now not found`.
    pub fn told(&self) -> String {
        let now = self.now.as_ref().map_or_else(|| "unread".into(), Citation::describe);
        let note = self.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        let was = self.was.found.as_str().replace('_', " ");
        format!("was {was}, now {now}{note}")
    }
}

/// Whether a citation was found when it was made.
fn found(citation: &Citation) -> bool {
    citation.found.is_verified() || citation.found == CitationStatus::Located
}

/// The cited files that were found, without duplicates. Sealed turns are skipped.
pub fn cited(debate: &Debate) -> Vec<String> {
    let mut paths: Vec<String> = vec![];
    let open = debate.turns().filter(|(cue, _)| !debate.is_sealed(*cue));
    let replies = open.filter_map(|(_, turn)| turn.as_ref().ok());
    let there = replies.flat_map(|reply| &reply.citations).filter(|it| found(it));
    for path in there.filter_map(|it| it.path.as_ref()) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

impl Since {
    /// Whether nothing has changed.
    pub fn nothing(&self) -> bool {
        self.commits.is_empty() && self.uncommitted.is_empty() && self.changed.is_empty()
    }

    /// One line for users, `None` if nothing has changed.
    pub fn told(&self) -> Option<String> {
        let mut parts = vec![];
        if !self.commits.is_empty() {
            let many = self.commits.len();
            let at_least = if self.more { "at least " } else { "" };
            let (noun, verb) = if many == 1 { ("commit", "touches") } else { ("commits", "touch") };
            let named: Vec<String> = self.commits.iter().take(NAMED).map(Touching::told).collect();
            let rest = many.saturating_sub(NAMED);
            let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
            parts.push(format!(
                "{at_least}{many} {noun} since {verb} files cited here: {}{rest}",
                named.join(", ")
            ));
        }
        if !self.uncommitted.is_empty() {
            parts.push(format!("uncommitted changes touch {}", few(&self.uncommitted)));
        }
        if parts.is_empty() && !self.changed.is_empty() {
            parts.push(format!("files cited here are not what they were: {}", few(&self.changed)));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl Touching {
    fn told(&self) -> String {
        let subject = self.subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = subject.chars().take(SUBJECT).collect();
        if short.len() < subject.len() {
            short.push('…');
        }
        format!("{} {short} ({})", self.id, few(&self.paths))
    }
}

fn few(paths: &[String]) -> String {
    let named: Vec<&str> = paths.iter().take(PATHS).map(String::as_str).collect();
    let rest = paths.len().saturating_sub(PATHS);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}

impl Desk {
    /// Finds changes to the cited files since the debate was opened. An error counts as no changes,
    /// because this is only a hint.
    pub async fn since(&self, stored: &Stored, debate: &Debate, place: &Place) -> Since {
        let paths = cited(debate);
        if paths.is_empty() {
            return Since::default();
        }
        let (desk, root, setup) =
            (self.clone(), at_home(stored, place).root, debate.setup().clone());
        let looking = tokio::task::spawn_blocking(move || {
            let asked = Before {
                opened_at: setup.opened_at,
                commit: setup.commit.as_deref(),
                tree: setup.pin.as_deref(),
                paths: &paths,
            };
            desk.briefs.since(&root, &asked)
        });
        looking.await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Looks up every citation that was valid again, in the current files.
    pub fn recheck(
        &self,
        stored: &Stored,
        debate: &Debate,
        place: &Place,
    ) -> Result<Recheck, DeskError> {
        let root: PathBuf = at_home(stored, place).root;
        let pinned = self.briefs.pin(&root)?.ok_or_else(|| {
            let root = root.display();
            BadContext(format!("there is nothing to look things up in: `{root}` is empty"))
        })?;
        let setup = debate.setup();
        let paths = cited(debate);
        let asked = Before {
            opened_at: setup.opened_at,
            commit: setup.commit.as_deref(),
            tree: setup.pin.as_deref(),
            paths: &paths,
        };
        let changed = self.briefs.since(&root, &asked).unwrap_or_default().changed;
        let about = About {
            root: &root,
            pin: &pinned.tree,
            touched: &setup.touched,
            folder: "",
            except: None,
            was: None,
        };
        let mut citations = vec![];
        for (cue, turn) in debate.turns().filter(|(cue, _)| !debate.is_sealed(*cue)) {
            let Ok(reply) = turn else { continue };
            let before: Vec<&Citation> = reply.citations.iter().filter(|it| found(it)).collect();
            if before.is_empty() {
                continue;
            }
            let mut now = self.evidence.citations(&reply.body, &about);
            for was in before {
                let same = |it: &Citation| it.raw == was.raw && it.claim == was.claim;
                let now = now.iter().position(same).map(|at| now.remove(at));
                let (stands, note) = was.recheck_status(now.as_ref(), &changed);
                citations.push(Again { cue, was: was.clone(), now, stands, note });
            }
        }
        Ok(Recheck { against: against(&pinned), citations })
    }
}
