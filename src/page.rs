//! Renders the HTML of the live page and of exported files. Every function is pure: it takes the
//! event log of a debate and returns markup. The HTTP server that serves it is `crate::web`.
//! Text from models and users is HTML-escaped or rendered as safe Markdown.
//!
//! | module | content |
//! |---|---|
//! | `html` | `Html`: markup that may be sent; lengths of shown texts |
//! | `markdown` | renders untrusted Markdown as safe HTML |
//! | `elements` | panels, tables, times and element ids that several pages share |
//! | `context` | where and for whom a debate is rendered |
//! | `event_label` | a short label for each event |
//! | `history` | replays an event log into a transcript with times |
//! | `rendered` | parts of a debate page, and the update each event causes |
//! | `layout` | document skeleton: head, navigation, footer |
//! | `debate` | page of one debate |
//! | `turn` | one turn: speaker, reply, evidence |
//! | `claims` | claims and citations: linked, marked or struck through |
//! | `panels` | status, seats, scores, votes, verdict, ledger and cost |
//! | `actions` | forms of the signed-in owner |
//! | `live` | replies that are being streamed |
//! | `timeline` | all events with time and label, as JSON |
//! | `archive` | list of debates, with search, filters and pagination |
//! | `query` | query parameters of the archive page |
//! | `compare` | two debates side by side |
//! | `leaderboard` | ratings of models and agreement of judges |
//! | `source` | a file of the pinned tree, with line numbers |
//! | `export` | a debate as one self-contained HTML file |
//! | `message` | error and notice pages |
//!
//! # Contract with the script
//!
//! Every page works without the script. `src/web/assets/app.js` enhances it and relies on this:
//!
//! - `<body data-page="archive|debate|compare|leaderboard|source|message">`, one `h1`, landmarks, a
//!   skip link. The Content-Security-Policy header forbids inline scripts and styles.
//! - **Times** are milliseconds since the Unix epoch, as numbers, in JSON and in `data-at`.
//!   Elements that show a time use `<time datetime="ISO">`.
//! - **A debate** (`/debates/ID`): `<main id="debate" data-debate data-seq data-last data-running
//!   data-events data-at-url data-timeline>`. `data-seq` is the event shown, `data-last` the last
//!   one recorded. `data-running` is `true` if the debate is not over and the last event is shown.
//!   Only then does the script open the event stream.
//! - **Parts** have ids: `topic` (the `h1`), `panel-status`, `panel-sides`, `panel-scores`,
//!   `panel-votes`, `panel-verdict`, `panel-ledger`, `panel-cost`, `panel-actions` (each a
//!   `section`, `hidden` if empty) and `turns` (an `ol` of `li`). Each `li` holds one element with
//!   an id: `article#turn-A-R-P-S`, `article#remark-SEQ` (a remark of the user) or `p#note-SEQ`
//!   (another event). All three have `data-seq` and `data-at`. Articles of turns have
//!   `data-side="pro|con|other"`. Pending turns also have `data-pending="true"` and a
//!   `div.live[aria-live=off]` for the streamed text.
//! - **Markup that replaces a part is the whole element, its id included** (`outerHTML`). Appended
//!   markup is a whole `li`, and `id` names the element in it. An element whose id exists already
//!   is not appended again.
//! - `/debates/ID/fragments?at=SEQ` returns `{seq, at, last, title, html: {PART: markup}}` with all
//!   parts. `at=0` is the debate before its first event.
//! - `/debates/ID/timeline` returns `[{seq, at, label, turn?}]`. `turn` is the id of an element.
//! - `/debates/ID/events` is a stream of server-sent events. It starts after the `Last-Event-ID`
//!   header, else after the query parameter `?after=SEQ`, else at the last event.
//!   - `fragments`, with `id: SEQ`: `{seq, at, title, announce?, replace: {ID: markup}, append:
//!     [{parent, id, html}]}`, one for each recorded event. A client that is too far behind gets
//!     one that replaces all parts.
//!   - `live`, without an id: `{turn, offset, text}`. The text from `offset` (in UTF-16 code units)
//!     on is replaced by `text`. Offset 0 starts over.
//!   - `end`: `{}`, when the debate is over.
//! - **Actions** are forms in `panel-actions`. Requests with `Accept: application/json` get the
//!   response `{ok, says}`, with status 200 or an error status.
//! - Without the script, `/debates/ID?at=SEQ` shows a debate at any event. `nav#replay` links to
//!   the first, previous, next and last one.
pub mod actions;
pub mod archive;
mod claims;
pub mod compare;
pub mod context;
pub mod debate;
mod elements;
mod event_label;
pub mod export;
pub mod history;
pub mod html;
pub mod layout;
pub mod leaderboard;
pub mod live;
mod markdown;
pub mod message;
mod panels;
pub mod query;
pub mod rendered;
pub mod source;
pub mod timeline;
mod turn;

#[cfg(test)]
mod tests;
