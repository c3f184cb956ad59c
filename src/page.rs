//! What a browser is shown: HTML as a function of the record, harmless whatever was said.
//!
//! | file          | concept                                                                      |
//! |---------------|------------------------------------------------------------------------------|
//! | `html`        | markup that text cannot get into by accident                                 |
//! | `markdown`    | what models write, as markup that can do nothing                             |
//! | `story`       | a log as a page tells it: what stands where, and since when                  |
//! | `shown`       | the parts of a debate's page, and what one event changes in them             |
//! | `layout`      | what is around every page                                                    |
//! | `debate`      | the page of a debate                                                         |
//! | `turn`        | one turn: who, what, and what it rests on                                    |
//! | `cited`       | claims and citations: linked, marked or struck                               |
//! | `panels`      | status, sides, scores, votes, verdict, account, cost                         |
//! | `actions`     | what whoever has entered may do                                              |
//! | `live`        | what is being said right now, as far as it may be heard                      |
//! | `timeline`    | every event of a debate, in a few words                                      |
//! | `archive`     | every debate, searched and filtered                                          |
//! | `wanted`      | which debates somebody asks for                                              |
//! | `compare`     | two debates side by side                                                     |
//! | `leaderboard` | who argues better, and how far judges agree                                  |
//! | `source`      | a file at the commit a debate is pinned to                                   |
//! | `export`      | a debate as one file that needs nothing else                                 |
//! | `message`     | what went wrong, and what to do next                                         |
//!
//! # What the script may rely on
//!
//! Every page works without the script; `src/web/assets/app.js` adds to it.
//!
//! - `<body data-page="archive|debate|compare|leaderboard|source|message">`, one `h1`, landmarks, a
//!   skip link. No inline script or style: the policy forbids both.
//! - **Times** are milliseconds since 1970, as numbers, in JSON and in `data-at`; people and
//!   programs read `<time datetime="ISO">`.
//! - **A debate** (`/debates/ID`): `<main id="debate" data-debate data-seq data-last data-running
//!   data-events data-at-url data-timeline>`. `data-seq` is the event shown, `data-last` the last one
//!   recorded; `data-running` is `true` while it is not over and the last event is the one shown:
//!   only then is there something to follow.
//! - **Parts** have ids: `topic` (the `h1`), `panel-status`, `panel-sides`, `panel-scores`,
//!   `panel-votes`, `panel-verdict`, `panel-ledger`, `panel-cost`, `panel-actions` (each a `section`,
//!   `hidden` where there is nothing to show) and `turns` (an `ol` of `li`). Each `li` holds one
//!   element with an id: `article#turn-A-R-P-S`, `article#remark-SEQ` (the user's words) or
//!   `p#note-SEQ` (what was done to the debate). All three have `data-seq` and `data-at`; articles of
//!   turns have `data-side="pro|con|other"`, and those under way `data-pending="true"` and a
//!   `div.live[aria-live=off]` for the words as they come.
//! - **Markup that replaces a part is the whole element, its id included** (`outerHTML`). What is
//!   appended is a whole `li`, and `id` names the element in it. If an element of that id is there
//!   already, it stays.
//! - `/debates/ID/fragments?at=SEQ` is `{seq, at, last, title, html: {PART: markup}}`, all parts.
//!   `at=0` is the debate as it was opened.
//! - `/debates/ID/timeline` is `[{seq, at, label, turn?}]`; `turn` is the id of an element.
//! - `/debates/ID/events` (after `Last-Event-ID`, else `?after=SEQ`, else from now on):
//!   `fragments` with `id: SEQ` and `{seq, at, title, announce?, replace: {ID: markup}, append:
//!   [{parent, id, html}]}`, one for each event recorded, or one for many where somebody was away for
//!   long, which then replaces all parts; `live` without an id, `{turn, offset, text}`: what was
//!   shown from `offset` (in UTF-16 units) on is now `text`, and 0 begins anew; `end` with
//!   `{}` when it is over.
//! - **Actions** are forms in `panel-actions`; sent with `Accept: application/json` they answer
//!   `{ok, says}`, with a status of 200 or of what is wrong.
//! - Without the script a debate at any event is `/debates/ID?at=SEQ`; `nav#replay` links to some.
pub mod actions;
pub mod archive;
mod cited;
pub mod compare;
pub mod debate;
pub mod export;
pub mod html;
pub mod layout;
pub mod leaderboard;
pub mod live;
pub mod markdown;
pub mod message;
mod panels;
pub mod shown;
pub mod source;
pub mod story;
pub mod timeline;
mod turn;
pub mod wanted;
