//! The reply pipeline: what happens to a reply before it is parsed. Strips fake verification marks,
//! redacts secrets and checks the citations.
use super::gate::Gate;
use super::ports::{About, Evidence, Said};
use crate::debate::{BaseTree, Citation, ReplyKind, Setup, claims_block};
use crate::redact::Secrets;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::RuntimeFlavor;

/// What a session needs besides providers, log and clock.
#[derive(Clone)]
pub struct Outside {
    pub root: PathBuf,
    pub evidence: Arc<dyn Evidence>,
    /// Known secrets, to be redacted.
    pub secrets: Secrets,
}

/// The pipeline of one debate.
#[derive(Clone)]
pub(super) struct Scrutiny {
    pub(super) gate: Gate,
    evidence: Arc<dyn Evidence>,
    root: PathBuf,
    pin: Option<String>,
    touched: Vec<String>,
    was: Option<BaseTree>,
}

/// A sanitized reply with its checked citations.
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

    /// Processes a reply. Citations are checked on a blocking thread, so that the async runtime is
    /// not blocked.
    pub(super) async fn look(&self, kind: ReplyKind, said: Said) -> Looked {
        if self.pin.is_none() || kind != ReplyKind::Speech {
            return self.look_now(kind, said);
        }
        let (own, kept) = (self.clone(), said.clone());
        let looking = tokio::task::spawn_blocking(move || own.look_now(kind, said));
        looking.await.unwrap_or_else(|_| Looked {
            said: Said { text: self.plain(&kept.text), ..kept },
            citations: vec![],
        })
    }

    /// The same for synchronous callers. In a multi-threaded runtime it uses `block_in_place`.
    pub(super) fn look_here(&self, kind: ReplyKind, said: Said) -> Looked {
        let flavor = tokio::runtime::Handle::try_current().map(|handle| handle.runtime_flavor());
        if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
            return tokio::task::block_in_place(|| self.look_now(kind, said));
        }
        self.look_now(kind, said)
    }

    fn look_now(&self, kind: ReplyKind, said: Said) -> Looked {
        let text = self.plain(&said.text);
        let citations = match (&self.pin, kind) {
            (Some(pin), ReplyKind::Speech) => {
                let about = About {
                    root: &self.root,
                    pin,
                    touched: &self.touched,
                    folder: "",
                    except: None,
                    was: self.was.as_ref(),
                };
                self.evidence.citations(&claims_block::parse_speech(&text), &about)
            }
            _ => vec![],
        };
        Looked { said: Said { text, ..said }, citations }
    }

    /// Text without verification marks and secrets, as it is stored.
    pub(super) fn plain(&self, text: &str) -> String {
        self.gate.text(&self.evidence.unmarked(text))
    }
}
