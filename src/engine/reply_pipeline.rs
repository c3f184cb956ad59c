//! The reply pipeline: what happens to a reply before it is parsed. Strips fake verification marks,
//! redacts secrets and checks the citations.
use super::ports::{CitationContext, Evidence, ProviderReply};
use super::redaction_gate::RedactionGate;
use crate::debate::{BaseTree, Citation, ReplyKind, Setup, claims_block};
use crate::redact::Secrets;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::RuntimeFlavor;

/// What a session needs besides providers, log and clock.
#[derive(Clone)]
pub struct SessionContext {
    pub root: PathBuf,
    pub evidence: Arc<dyn Evidence>,
    /// Known secrets, to be redacted.
    pub secrets: Secrets,
}

/// The pipeline of one debate.
#[derive(Clone)]
pub(super) struct ReplyPipeline {
    pub(super) gate: RedactionGate,
    evidence: Arc<dyn Evidence>,
    root: PathBuf,
    pin: Option<String>,
    touched: Vec<String>,
    base_tree: Option<BaseTree>,
}

/// A sanitized reply with its checked citations.
#[derive(Clone, Debug)]
pub(super) struct CheckedReply {
    pub(super) reply: ProviderReply,
    pub(super) citations: Vec<Citation>,
}

impl ReplyPipeline {
    pub(super) fn new(setup: &Setup, context: &SessionContext) -> ReplyPipeline {
        ReplyPipeline {
            gate: RedactionGate::for_debate(&context.secrets, setup),
            evidence: context.evidence.clone(),
            root: context.root.clone(),
            pin: setup.pin.clone(),
            touched: setup.touched.clone(),
            base_tree: setup.proposed.as_ref().map(|proposed| proposed.was.clone()),
        }
    }

    /// Processes a reply. Citations are checked on a blocking thread, so that the async runtime is
    /// not blocked.
    pub(super) async fn process(&self, kind: ReplyKind, reply: ProviderReply) -> CheckedReply {
        if self.pin.is_none() || kind != ReplyKind::Speech {
            return self.process_now(kind, reply);
        }
        let (pipeline, original) = (self.clone(), reply.clone());
        let task = tokio::task::spawn_blocking(move || pipeline.process_now(kind, reply));
        task.await.unwrap_or_else(|_| CheckedReply {
            reply: ProviderReply { text: self.sanitize(&original.text), ..original },
            citations: vec![],
        })
    }

    /// The same for synchronous callers. In a multi-threaded runtime it uses `block_in_place`.
    pub(super) fn process_blocking(&self, kind: ReplyKind, reply: ProviderReply) -> CheckedReply {
        let flavor = tokio::runtime::Handle::try_current().map(|handle| handle.runtime_flavor());
        if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
            return tokio::task::block_in_place(|| self.process_now(kind, reply));
        }
        self.process_now(kind, reply)
    }

    fn process_now(&self, kind: ReplyKind, reply: ProviderReply) -> CheckedReply {
        let text = self.sanitize(&reply.text);
        let citations = match (&self.pin, kind) {
            (Some(pin), ReplyKind::Speech) => {
                let context = CitationContext {
                    root: &self.root,
                    pin,
                    preferred_paths: &self.touched,
                    base_folder: "",
                    excluded_path: None,
                    base_tree: self.base_tree.as_ref(),
                };
                self.evidence.check_citations(&claims_block::parse_speech(&text), &context)
            }
            _ => vec![],
        };
        CheckedReply { reply: ProviderReply { text, ..reply }, citations }
    }

    /// Text without verification marks and secrets, as it is stored.
    pub(super) fn sanitize(&self, text: &str) -> String {
        self.gate.redact_text(&self.evidence.strip_verification_marks(text))
    }
}
