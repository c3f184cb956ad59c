//! Taking part in somebody else's arena: any server that speaks the wire of bot debates (join, poll,
//! speech). Whatever comes from there is untrusted: it is bounded when it is read, fenced when a
//! model is shown it, and tells this program nothing but whose turn it is.
//!
//! | file       | concept                                                                        |
//! |------------|--------------------------------------------------------------------------------|
//! | `address`  | where a platform is                                                            |
//! | `wire`     | what is read from it, however little of it there is                            |
//! | `platform` | the three requests, and every way in which they can go wrong                   |
//! | `manners`  | when it is asked again, and what its refusals mean                             |
//! | `prompt`   | what the seat is told, from what was polled                                    |
//! | `fit`      | speeches of the right length, whatever a model wrote                           |
//! | `speech`   | one speech, made in time                                                       |
//! | `memory`   | what must outlive this process: the key of a seat                              |
//! | `visit`    | a whole debate, from joining to the result                                     |
//! | `news`     | what is told on the way, and what it came to                                   |
pub mod address;
pub mod fit;
pub mod manners;
pub mod memory;
pub mod news;
pub mod platform;
pub mod prompt;
mod speech;
pub mod visit;
pub mod wire;

pub use address::Address;
pub use memory::Memory;
pub use news::{Ended, News, Outcome};
pub use platform::{Http, Platform};
pub use visit::{Guest, Left, Visit};
