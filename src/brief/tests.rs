//! Tests of several files together, through the functions that other modules call.
mod budget;
mod selection;
