//! Drives a debate: asks `next`, does it, records what happened, tells whoever listens.
//!
//! | file      | concept                                                                          |
//! |-----------|----------------------------------------------------------------------------------|
//! | `ports`   | what the engine needs of the world: voices, an archive, a clock                  |
//! | `live`    | facts and signals for any number of observers                                    |
//! | `command` | what anyone outside may ask of a debate                                          |
//! | `session` | one debate being played: check, write, apply, tell                               |
//! | `gate`    | secrets out of whatever is kept, told or sent                                    |
//! | `scrutiny`| what is done to a reply before anybody reads it                                  |
//! | `turn`    | one turn: what to ask, fetching it, and what came of it                           |
//! | `job`     | a debate being played, and handles to it                                         |
//! | `catalogue` | the formats that can be opened here, each with its words                     |
//! | `opening` | from a wish to a setup                                                           |
//! | `cast`    | everyone a format seats                                                          |
//! | `particulars` | what a format may be told besides, as users write it                        |
//! | `oneline` | topics that name their sides and models                                          |
//! | `spoken`  | how a question is to be argued, said in plain words around it                    |
//! | `topics`  | questions a working tree raises                                                  |
//! | `dense`   | whether a topic asks for what can be measured                                    |
//! | `pairing` | who sits where, if nobody says                                                  |
//! | `company` | everyone who is to be seated, named or chosen                                   |
//! | `reviewing` | a change is argued about before it is merged                                 |
//! | `preflight` | whether each model answers, before anything is opened                        |
//! | `lending` | a voice asked for one text outside of any debate of ours                         |
//! | `price`   | what tokens cost                                                                 |
//! | `survey`  | who could play here, and what a debate may come to                               |
//! | `taking_in` | files from outside become debates                                              |
//! | `recovery` | what state files hold that the archive does not                               |
//! | `handing` | seats that change hands                                                         |
//! | `since`   | what has happened to cited files, and whether what was cited still stands        |
//! | `source`  | a file at the tree a debate is pinned to                                         |
//! | `transcript` | what was said elsewhere, taken in                                             |
//! | `inspection` | what the parts are worth by themselves                                        |
//! | `signals` | whoever wants the program to stop                                                |
//! | `desk`    | the use-cases every door calls                                                   |
//! | `wishing` | wishes for a debate, whichever process plays it                                  |
pub mod cast;
pub mod catalogue;
pub mod command;
mod company;
pub mod dense;
pub mod desk;
pub mod gate;
mod handing;
pub mod inspection;
pub mod job;
pub mod lending;
pub mod live;
pub mod oneline;
pub mod opening;
pub mod pairing;
pub mod particulars;
pub mod ports;
pub mod preflight;
pub mod price;
pub mod recovery;
pub mod reviewing;
pub mod scrutiny;
pub mod session;
pub mod signals;
pub mod since;
pub mod source;
pub mod spoken;
mod survey;
pub mod taking_in;
pub mod topics;
mod transcript;
mod turn;
pub mod wishing;

pub use crate::debate::{Was, unseen};
pub use cast::{Listener, Stance};
pub use catalogue::{Broken, Catalogue, Offering};
pub use command::{Command, Error, Request};
pub use desk::{Desk, DeskError, Parts};
pub use gate::Gate;
pub use job::{Handle, Job};
pub use lending::{Errand, Lender, Lent};
pub use live::{Live, Update};
pub use opening::Opening;
pub use ports::{
    About, Answered, Archive, ArchiveError, Ask, BadContext, Before, Boxed, Briefs, Call, Card,
    Changed, Claim, Clock, Context, Contribution, Duplicates, Evidence, Foreign, Gathered, Health,
    Hit, Idle, Left, Listing, Live as LiveText, Log, LogError, Meant, News, Omitted, Opened,
    Pinned, Place, Proposal, Query, Readers, Recorded, Reindexed, Said, Since, Snapshot, Snapshots,
    Stored, Stream, Touching, Transcript, TranscriptTurn, Unplayable, Voices, WISH_KEEPS, WishId,
};
pub use price::Price;
pub use scrutiny::Outside;
pub use survey::{Estimated, Figures};
pub use wishing::Wished;
