//! Where and for whom a debate is rendered.
use super::elements::turn_element_id;
use crate::debate::Cue;

/// Where and for whom markup is rendered.
#[derive(Clone, Debug, Default)]
pub struct RenderContext<'a> {
    /// URL of the debate. `None` in exported files, which have no server.
    pub debate_url: Option<String>,
    /// CSRF token of the owner's forms.
    pub csrf_token: &'a str,
    /// Hint for readers how to sign in.
    pub sign_in_hint: &'a str,
    /// Prefix of element ids, for pages that show several debates.
    pub id_prefix: &'static str,
}

impl RenderContext<'_> {
    /// Element id of a turn, with the prefix.
    pub(super) fn element_id(&self, cue: Cue) -> String {
        format!("{}{}", self.id_prefix, turn_element_id(cue))
    }
}

/// Access level of a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// May only read.
    Reader,
    /// Is signed in and may act.
    Owner,
}
