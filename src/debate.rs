//! A debate is its setup plus what has been recorded since. Nothing else.
//!
//! [`next`] walks the plan against the record and says what is due; [`Debate::apply`] accepts an
//! event only if it was due. There is no cursor to keep in step with the record, so there is no
//! state to repair after a crash: read the log, replay it, ask `next` again.
//!
//! | file       | concept                                                                        |
//! |------------|--------------------------------------------------------------------------------|
//! | `format`   | the grammar: a format is acts, an act is phases, a phase is one row            |
//! | `formats`  | the five tables                                                                |
//! | `setup`    | what is fixed when a debate opens: topic, format, prompts, seats, limits       |
//! | `proposed` | a change that is argued about before it is merged                              |
//! | `seat`     | who sits where, and what gives a seat its voice                                |
//! | `body`     | what a seat can say, already parsed                                            |
//! | `citation` | what was cited, and what looking it up found                                   |
//! | `envelope` | the proof of one turn: which tool, which model, how long, how much             |
//! | `event`    | what can happen; with the five above, the only types that are stored           |
//! | `state`    | the fold of the events, and which event is legal now                           |
//! | `plan`     | `next`: the first thing not yet done                                           |
//! | `hearing`  | what a seat hears, and under which names                                       |
//! | `ledger`   | every claim made, and what became of it                                        |
//! | `flags`    | what a careful listener would notice: giving way, repeating, nothing left       |
//! | `digest`   | what a summary must keep, and the mechanical one                               |
//! | `mask`     | who a speaker is, hidden from those who judge                                  |
//! | `template` | prompts are filled in once; what was filled in is never filled in again        |
//! | `prompt`   | what a seat is told, as text                                                   |
//! | `reply`    | text becomes a body, or a reason why not                                       |
//! | `claims`   | the claims block at the end of a speech                                        |
//! | `rules`    | what a reply must be, as small pure functions                                  |
//! | `points`   | what the rounds of a court come to, and where it turned                        |
//! | `verdict`  | what marks, rulings and votes on the record come to                            |
//! | `nine`     | the nine parts of a report, under the headings of its language                 |
//! | `insights` | what a dialogue comes to                                                       |
//! | `language` | which language a question is asked in                                          |
//! | `style`    | what makes a text look good, taken out before it is judged                     |
//! | `hashed`   | names for texts: the same for the same ones                                    |
//! | `unseen`   | characters people do not see                                                   |
//! | `words`    | how long a text is, as a reader counts                                         |
//! | `removed`  | which secrets were taken out, as far as the record tells                       |
//! | `standing` | how a debate stands, in the words users are told                               |
//!
//! This module does no I/O, reads no clock, and cannot fail except on an illegal event.
pub mod body;
pub mod citation;
pub mod claims;
pub mod digest;
pub mod envelope;
pub mod estimate;
pub mod event;
pub mod flags;
pub mod format;
pub mod formats;
pub mod hashed;
pub mod hearing;
pub mod insights;
pub mod language;
pub mod ledger;
pub mod mask;
pub mod nine;
pub mod plan;
pub mod points;
pub mod prompt;
pub mod proposed;
pub mod removed;
pub mod reply;
pub mod rules;
pub mod schema;
pub mod seat;
pub mod setup;
pub mod standing;
pub mod state;
pub mod style;
pub mod template;
pub mod unseen;
pub mod verdict;
pub mod words;

pub use body::{Body, Claim, Concession, Help, Kind, Resolution, Ruling, Section};
pub use citation::{Citation, Found, Stands};
pub use envelope::{Envelope, Spend, millionths};
pub use event::{Attempt, Change, Cue, Event, Failure, Outcome, Proof, Reply, Stand, Trouble};
pub use format::{
    Act, Format, Hears, Order, Phase, Quorum, Role, Rounds, Shortfall, Side, Speakers,
};
pub use hearing::Line;
pub use plan::{Pause, Step, next};
pub use proposed::{Compared, Known, Noted, Place, Proposed, Severity, Was};
pub use rules::{Finding, Rule, Weight, findings, weigh};
pub use seat::{Effort, Seat, Voice};
pub use setup::{Budget, Hold, Limits, Origin, Setup, Unfit};
pub use standing::Status;
pub use state::{Debate, Flaw, Illegal};
