//! Integration tests, compiled into one binary so that they link once. Helpers: `test_env` runs the
//! program, `mcp_test_client` speaks to the server, `debate_fixture` builds debates, and
//! `simulated_players` and `chaos` reply in them. Most tests are table-driven.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]
mod architecture;
mod arena_api;
mod arena_client;
mod arena_client_timing;
mod arena_harness;
mod arena_judging;
#[cfg(unix)]
mod arena_limits;
mod arena_rules;
#[cfg(unix)]
mod arena_shell_bot;
#[cfg(unix)]
mod arena_stub_server;
mod arena_timeouts;
mod brief;
mod brief_budget;
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
#[path = "../../src/test_support/chaos.rs"]
mod chaos;
mod ci_context;
#[cfg(unix)]
mod ci_files;
mod citation_edge_cases;
mod citation_extraction;
mod citation_lookup;
mod citation_quotes;
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
#[path = "../../src/test_support/debate_fixture.rs"]
mod debate_fixture;
mod diff_range;
mod evidence_heuristic;
mod exclusions;
mod fake_api;
#[cfg(unix)]
mod fake_clis;
#[path = "../../src/test_support/fake_providers.rs"]
mod fake_providers;
mod findability;
mod golden;
mod html_checker;
mod invalid_replies;
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
mod naming;
#[cfg(unix)]
mod packaging;
mod page_assets;
mod page_debate;
mod page_markdown;
mod pairing;
mod plain_folder;
#[cfg(unix)]
mod preflight;
mod prerequisites;
mod provider_api;
#[cfg(unix)]
mod provider_cli;
mod provider_places;
mod provider_protocol;
#[cfg(unix)]
mod provider_snapshot;
#[cfg(unix)]
mod provider_turn;
mod rating;
mod rating_eligibility;
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
mod redact;
mod redact_corpus;
mod repo;
mod report_court;
mod report_dialogue;
mod report_record;
mod report_research;
mod report_sanitize;
mod research_prompts;
#[cfg(unix)]
mod review_attacks;
#[cfg(unix)]
mod review_ci;
#[cfg(unix)]
mod review_ci_context;
#[cfg(unix)]
mod review_diffs;
mod review_findings;
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
mod review_output;
mod review_output_ci;
mod review_output_escaping;
#[cfg(unix)]
mod review_patches;
#[cfg(unix)]
mod review_rerun;
mod scripted_replies;
mod session;
mod short_status;
#[path = "../../src/test_support/simulated_players.rs"]
mod simulated_players;
mod snapshots;
mod store;
mod store_outputs;
mod stream_preview;
mod takeover;
mod test_env;
#[path = "../../src/test_support/test_repo.rs"]
mod test_repo;
mod tool_errors;
mod topic_options;
mod topic_sides;
mod topic_suggestions;
mod tournament_plan;
#[cfg(unix)]
mod tournament_play;
mod tree_diff;
mod user_formats;
#[cfg(unix)]
mod web_client;
#[cfg(unix)]
mod web_events;
#[cfg(unix)]
mod web_limits;
#[cfg(unix)]
mod web_site;
