//! Providers: model CLIs run as child processes, HTTP APIs, and scripts. `ProviderRegistry` is the
//! entry point and implements the engine's `Providers` port.
//!
//! | module           | what it does                                                              |
//! |------------------|---------------------------------------------------------------------------|
//! | `registry`       | finds, lists and checks providers by name                                 |
//! | `cli_spec`       | config of one model CLI: `clis.toml` merged with the user's `tools`       |
//! | `model_cli`      | fetches a turn from a model CLI, with retries                             |
//! | `system_environment` | variables, search path and folders of this process                    |
//! | `child_environment` | allow-listed environment of a CLI                                      |
//! | `workdir`        | working directory of a CLI (repository snapshot or empty) and its home    |
//! | `process`        | runs a child process with timeout, output limits and group kill           |
//! | `orphans`        | kills processes that have left the group of their turn                    |
//! | `output_parser`  | parses the output stream of each model CLI                                |
//! | `cli_error`      | classifies CLI failures and adds a hint                                   |
//! | `api_spec`       | config of one HTTP API: `apis.toml` merged with the user's `apis`         |
//! | `api`            | fetches a turn from an HTTP API, with retries                             |
//! | `protocol`       | builds requests and parses responses of four API protocols                |
//! | `http`           | HTTP clients, size limits, server-sent events                             |
//! | `api_error`      | classifies HTTP errors and parses rate-limit headers                      |
//! | `retry`          | number of attempts and backoff                                            |
//! | `per_effort`     | a setting that can differ by effort level                                 |
//! | `prices`         | token prices from the user's config                                       |
//! | `model_mismatch` | caveat for a turn answered by another model than requested                |
//! | `script`         | plays turns from a JSON file                                              |
//! | `demo`           | the built-in script, filled in with facts about the repository            |
mod api;
mod api_error;
mod api_spec;
mod child_environment;
mod cli_error;
mod cli_spec;
mod demo;
mod http;
mod model_cli;
mod model_mismatch;
mod orphans;
mod output_parser;
mod per_effort;
mod prices;
mod process;
mod protocol;
mod registry;
mod retry;
mod script;
mod system_environment;
mod workdir;

pub use prices::PriceList;
pub use registry::{ProviderConfig, ProviderRegistry};
pub use system_environment::SystemEnvironment;
