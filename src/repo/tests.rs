//! Tests of several files together, through the functions that other modules call.
mod commits_since;
mod diff_range;
mod exclusions;
mod pin;
mod pinned_change;
mod plain_folder;
mod snapshots;
mod tree_diff;
