//! What is done to a reply before anybody reads it: secrets and pretended marks are taken out, and
//! what it cites is looked up.
use super::gate::Gate;
use super::ports::{About, Evidence, Said};
use crate::debate::{Citation, Kind, Setup, Was, claims};
use crate::redact::Secrets;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::RuntimeFlavor;

/// Everything a session needs of the world besides voices, a log and a clock.
#[derive(Clone)]
pub struct Outside {
    /// The repository the debate is about.
    pub root: PathBuf,
    /// Looks up what is cited.
    pub evidence: Arc<dyn Evidence>,
    /// What must not be kept or sent.
    pub secrets: Secrets,
}

/// Looks replies of one debate over.
#[derive(Clone)]
pub(super) struct Scrutiny {
    pub(super) gate: Gate,
    evidence: Arc<dyn Evidence>,
    root: PathBuf,
    pin: Option<String>,
    touched: Vec<String>,
    was: Option<Was>,
}

/// A reply that was looked over.
#[derive(Clone, Debug)]
pub(super) struct Looked {
    pub(super) said: Said,
    pub(super) citations: Vec<Citation>,
}

impl Scrutiny {
    pub(super) fn of(setup: &Setup, around: &Outside) -> Scrutiny {
        Scrutiny {
            gate: Gate::of(&around.secrets, setup),
            evidence: around.evidence.clone(),
            root: around.root.clone(),
            pin: setup.pin.clone(),
            touched: setup.touched.clone(),
            was: setup.proposed.as_ref().map(|proposed| proposed.was.clone()),
        }
    }

    /// Looks a reply over, off the threads that must not wait.
    pub(super) async fn look(&self, kind: Kind, said: Said) -> Looked {
        if self.pin.is_none() || kind != Kind::Speech {
            return self.look_now(kind, said);
        }
        let (own, kept) = (self.clone(), said.clone());
        let looking = tokio::task::spawn_blocking(move || own.look_now(kind, said));
        looking.await.unwrap_or_else(|_| Looked {
            said: Said { text: self.plain(&kept.text), ..kept },
            citations: vec![],
        })
    }

    /// The same where nothing can be waited for. The thread's other work goes on elsewhere, if there
    /// is an elsewhere.
    pub(super) fn look_here(&self, kind: Kind, said: Said) -> Looked {
        let flavor = tokio::runtime::Handle::try_current().map(|handle| handle.runtime_flavor());
        if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
            return tokio::task::block_in_place(|| self.look_now(kind, said));
        }
        self.look_now(kind, said)
    }

    fn look_now(&self, kind: Kind, said: Said) -> Looked {
        let text = self.plain(&said.text);
        let citations = match (&self.pin, kind) {
            (Some(pin), Kind::Speech) => {
                let about = About {
                    root: &self.root,
                    pin,
                    touched: &self.touched,
                    folder: "",
                    except: None,
                    was: self.was.as_ref(),
                };
                self.evidence.citations(&claims::read(&text), &about)
            }
            _ => vec![],
        };
        Looked { said: Said { text, ..said }, citations }
    }

    /// As it may be kept.
    pub(super) fn plain(&self, text: &str) -> String {
        self.gate.text(&self.evidence.unmarked(text))
    }
}
