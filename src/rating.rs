//! Who argues better.
