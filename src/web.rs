//! The network's door.
