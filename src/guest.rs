//! Taking part in somebody else's arena.
