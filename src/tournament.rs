//! Motions and entrants, played as debates and rated.
