//! Tests of whole pages.
mod debate;
mod markdown;
