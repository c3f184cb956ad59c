//! Integration tests, compiled into one binary so that they link once. Helpers: `test_env` runs the
//! program, `mcp_test_client` speaks to the server, `debate_fixture` builds debates, and
//! `simulated_players` and `chaos` reply in them. Most tests are table-driven.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]
#[path = "../../src/test_support/api_streams.rs"]
mod api_streams;
mod architecture;
mod arena_api;
mod arena_harness;
mod arena_judging;
#[cfg(unix)]
mod arena_limits;
#[cfg(unix)]
mod arena_shell_bot;
#[cfg(unix)]
mod arena_stub_server;
mod arena_timeouts;
#[cfg(unix)]
mod browser_actions;
#[cfg(unix)]
mod browser_fake_clis;
#[cfg(unix)]
mod browser_harness;
#[cfg(unix)]
mod browser_live;
#[cfg(unix)]
mod browser_pages;
#[cfg(unix)]
mod ci_files;
mod cli_archive;
mod cli_check;
#[cfg(unix)]
mod cli_dialectic;
mod cli_doctor;
mod cli_duel;
mod cli_evidence;
mod cli_failures;
mod cli_formats;
mod cli_hostile;
mod cli_human;
mod cli_import;
#[cfg(unix)]
mod cli_join;
mod cli_json;
mod cli_processes;
mod cli_rejected_replies;
mod cli_resume;
mod cli_secrets;
mod cli_usage;
mod client_handover;
mod client_install;
#[cfg(unix)]
mod command_queue;
#[allow(dead_code, reason = "unit tests use the rest")]
#[path = "../../src/test_support/debate_fixture.rs"]
mod debate_fixture;
mod fake_api;
#[cfg(unix)]
mod fake_clis;
#[allow(dead_code, reason = "unit tests use the rest")]
#[path = "../../src/test_support/fake_providers.rs"]
mod fake_providers;
mod findability;
mod golden;
#[path = "../../src/test_support/html_checker.rs"]
mod html_checker;
mod import_graph;
mod kill;
mod kill_formats;
mod limits_doc;
mod logging;
mod mcp_duel;
mod mcp_errors;
mod mcp_formats;
mod mcp_idempotency;
mod mcp_kill;
mod mcp_limits;
mod mcp_next_call;
mod mcp_plan;
mod mcp_results;
mod mcp_sdk_clients;
mod mcp_slow;
mod mcp_test_client;
mod mcp_transport;
mod mcp_user_decisions;
mod mcp_wait;
#[allow(dead_code, reason = "unit tests use the rest")]
#[path = "../../src/test_support/memory_archive.rs"]
mod memory_archive;
#[allow(dead_code, reason = "unit tests use the rest")]
#[path = "../../src/test_support/memory_tables.rs"]
mod memory_tables;
mod naming;
#[cfg(unix)]
mod packaging;
mod page_assets;
mod page_debate;
#[cfg(unix)]
mod preflight;
#[path = "../../src/test_support/prerequisites.rs"]
mod prerequisites;
mod provider_api;
#[cfg(unix)]
mod provider_cli;
mod provider_places;
#[cfg(unix)]
mod provider_snapshot;
#[cfg(unix)]
mod provider_turn;
#[cfg(unix)]
mod real_cli;
#[cfg(unix)]
mod real_cli_sandbox;
#[cfg(unix)]
mod real_clients;
#[cfg(unix)]
mod real_duels;
#[cfg(unix)]
mod real_formats;
#[cfg(unix)]
mod real_kills;
mod recheck;
mod recovery;
mod report_record;
mod research_prompts;
#[cfg(unix)]
mod review_attacks;
#[cfg(unix)]
mod review_ci;
#[cfg(unix)]
mod review_ci_context;
#[cfg(unix)]
mod review_diffs;
#[cfg(unix)]
mod review_fixture;
#[cfg(unix)]
mod review_hook;
mod review_injection;
#[cfg(unix)]
mod review_injection_corpus;
#[cfg(unix)]
mod review_lifecycle;
#[cfg(unix)]
mod review_mcp;
#[cfg(unix)]
mod review_patches;
#[cfg(unix)]
mod review_rerun;
mod rust_paths;
mod scripted_replies;
#[allow(dead_code, reason = "unit tests use the rest")]
#[path = "../../src/test_support/simulated_players.rs"]
mod simulated_players;
mod takeover;
mod test_env;
#[path = "../../src/test_support/tool_error_text.rs"]
mod tool_error_text;
mod topic_options;
mod topic_suggestions;
#[cfg(unix)]
mod tournament_play;
mod user_formats;
#[cfg(unix)]
mod web_client;
#[cfg(unix)]
mod web_events;
#[cfg(unix)]
mod web_limits;
#[cfg(unix)]
mod web_site;
