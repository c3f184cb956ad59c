//! Which repository is meant, and where its files go.
use crate::config::Config;
use crate::engine::Place;

/// The repository the program stands in, or the folder if there is none.
pub(super) fn here(config: &Config) -> Place {
    Place { root: config.root.clone(), state_file: Some(config.state_file(".claude")) }
}
