//! What has happened to the files a debate cites since it was opened, and whether what was cited
//! still stands. Nothing of it enters the record: that says what was found when a turn was taken.
use super::desk::{Desk, DeskError, at_home};
use super::inspection::against;
use super::ports::{About, BadContext, Before, Place, Since, Stored, Touching};
use crate::debate::{Citation, Cue, Debate, Found, Stands};
use std::path::PathBuf;

/// Commits that are named.
const NAMED: usize = 3;
/// Files that are named, of one commit or of none.
const PATHS: usize = 3;
/// Characters of a commit's subject.
const SUBJECT: usize = 60;

/// What was looked up again.
#[derive(Clone, Debug)]
pub struct Recheck {
    /// In what.
    pub against: String,
    /// Everything that was found when it was cited, in the order of the debate.
    pub citations: Vec<Again>,
}

/// One citation, as it was and as it is.
#[derive(Clone, Debug)]
pub struct Again {
    /// The turn it stands in.
    pub cue: Cue,
    /// What looking it up came to then.
    pub was: Citation,
    /// And now, if it could be read again.
    pub now: Option<Citation>,
    /// What that means.
    pub stands: Stands,
    /// What it does not say by itself.
    pub note: Option<String>,
}

impl Again {
    /// `was exact, now not found`
    pub fn told(&self) -> String {
        let now = self.now.as_ref().map_or_else(|| "unread".into(), Citation::says);
        let note = self.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
        let was = self.was.found.word().replace('_', " ");
        format!("was {was}, now {now}{note}")
    }
}

/// Whether a citation was found when it was made.
fn found(citation: &Citation) -> bool {
    citation.found.verified() || citation.found == Found::Located
}

/// The files a debate cites and that were there, each once. What is sealed cites nothing yet.
pub fn cited(debate: &Debate) -> Vec<String> {
    let mut paths: Vec<String> = vec![];
    let open = debate.turns().filter(|(cue, _)| !debate.sealed(*cue));
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
    /// Whether there is nothing to tell.
    pub fn nothing(&self) -> bool {
        self.commits.is_empty() && self.uncommitted.is_empty() && self.changed.is_empty()
    }

    /// In a line; nothing, if nothing has happened.
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
    /// What has happened since a debate was opened to the files it cites. Not being able to tell is
    /// no reason not to go on with it.
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

    /// Looks up again, in the repository as it is now, whatever was found when it was cited.
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
        for (cue, turn) in debate.turns().filter(|(cue, _)| !debate.sealed(*cue)) {
            let Ok(reply) = turn else { continue };
            let before: Vec<&Citation> = reply.citations.iter().filter(|it| found(it)).collect();
            if before.is_empty() {
                continue;
            }
            let mut now = self.evidence.citations(&reply.body, &about);
            for was in before {
                let same = |it: &Citation| it.raw == was.raw && it.claim == was.claim;
                let now = now.iter().position(same).map(|at| now.remove(at));
                let (stands, note) = was.compared(now.as_ref(), &changed);
                citations.push(Again { cue, was: was.clone(), now, stands, note });
            }
        }
        Ok(Recheck { against: against(&pinned), citations })
    }
}
