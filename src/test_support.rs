//! Fixtures for unit tests. The integration tests include the same files by path, so these name
//! the library `debate_mcp` and each other `super::…`.
//!
//! | file                | content                                                    |
//! |---------------------|------------------------------------------------------------|
//! | `debate_fixture`    | builds debates, setups and replies                         |
//! | `simulated_players` | plays a debate with valid replies                          |
//! | `chaos`             | plays a debate with random commands and failures           |
//! | `random_formats`    | generates valid formats                                    |
//! | `fake_providers`    | providers, clock and log without I/O                       |
//! | `golden_file`       | compares an output with a committed file, or rewrites it   |
//! | `html_checker`      | finds errors in HTML                                       |
//! | `prerequisites`     | optional programs that tests need, and how to skip         |
//! | `split_mix`         | seeded random generator                                    |
//! | `manual_clock`      | a clock that is set by hand                                |
//! | `memory_archive`    | an archive in memory                                       |
//! | `memory_tables`     | its data                                                   |
//! | `test_repo`         | Git repositories in temporary folders                      |
//! | `api_streams`       | response streams of the four API protocols                 |
//! | `tool_error_text`   | checks the text of an MCP tool error                       |
pub(crate) mod api_streams;
pub(crate) mod chaos;
pub(crate) mod debate_fixture;
pub(crate) mod fake_providers;
pub(crate) mod golden_file;
pub(crate) mod html_checker;
pub(crate) mod manual_clock;
pub(crate) mod memory_archive;
pub(crate) mod memory_tables;
pub(crate) mod prerequisites;
pub(crate) mod random_formats;
pub(crate) mod simulated_players;
pub(crate) mod split_mix;
pub(crate) mod test_repo;
pub(crate) mod tool_error_text;
