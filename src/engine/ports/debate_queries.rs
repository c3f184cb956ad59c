//! The query port: finds, lists and searches debates.
use super::BoxFuture;
use super::archive_error::ArchiveError;
use crate::debate::Status;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Finds, lists and searches debates. Needs no lease.
pub trait DebateQueries: Send + Sync {
    /// Resolves an abbreviated id.
    fn resolve_id<'a>(
        &'a self,
        abbreviation: &'a str,
    ) -> BoxFuture<'a, Result<String, ArchiveError>>;
    /// Lists the debates a query matches, the most recently updated first.
    fn list<'a>(
        &'a self,
        query: &'a DebateQuery,
    ) -> BoxFuture<'a, Result<Vec<DebateCard>, ArchiveError>>;
    /// Searches topics and turns for words, the newest first.
    fn search<'a>(
        &'a self,
        words: &'a str,
        query: &'a DebateQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ArchiveError>>;
    /// Partial text of the turns that are being streamed, in any process.
    fn live_texts<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Vec<LiveText>, ArchiveError>>;
}

/// Filter for listing and searching debates. Every field that is set must match.
#[derive(Clone, Debug, Default)]
pub struct DebateQuery {
    pub root: Option<PathBuf>,
    pub status: Option<Status>,
    pub format: Option<String>,
    /// Only debates that are not over.
    pub unfinished: bool,
    /// Debates with this review key: the same change under the same settings.
    pub review_key: Option<String>,
    /// Debates that review this branch or pull request.
    pub review_subject: Option<String>,
    /// Games of this tournament.
    pub tournament: Option<String>,
    /// Debates with this game key.
    pub game_key: Option<String>,
    /// Maximum number of results.
    pub limit: Option<usize>,
}

/// A debate in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Card")]
pub struct DebateCard {
    /// Id of the debate.
    pub id: String,
    /// Topic of the debate.
    pub topic: String,
    /// Name of the format.
    pub format: String,
    /// Status of the debate.
    pub status: Status,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_at: i64,
    /// Time of the last event, in milliseconds since the Unix epoch.
    pub updated_at: i64,
    /// Repository or folder it belongs to.
    pub root: String,
    /// Participant that argues for.
    pub proposer: Option<String>,
    /// Participant that argues against.
    pub challenger: Option<String>,
    /// Tool of the winning side, or the side if both use the same tool.
    pub winner: Option<String>,
    /// Labels: `demo`, `single-model`, `imported`.
    pub labels: Vec<String>,
    /// Confidence in the verdict, in percent.
    pub confidence: Option<u8>,
    /// Whether the verdict turned out `right`, `wrong` or `reverted`.
    pub proof: Option<String>,
}

/// A search result: a turn or a topic that contains the words.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct SearchHit {
    /// Id of the debate.
    pub id: String,
    /// Topic of the debate.
    pub topic: String,
    /// Turn with the match, absent if the topic matches.
    pub turn: Option<String>,
    /// Round of that turn.
    pub round: Option<u8>,
    /// Seat that spoke.
    pub seat: Option<String>,
    /// The matching text with some context.
    pub excerpt: String,
}

/// Text of a turn that is still being streamed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Live")]
pub struct LiveText {
    /// Id of the turn.
    pub turn: String,
    /// Text so far.
    pub text: String,
    /// Time of the last update, in milliseconds since the Unix epoch.
    pub at: i64,
}
