//! Integration tests, compiled into one binary so that they link once. Helpers: `test_env` runs the
//! program, `mcp_test_client` speaks to the server, `debate_fixture` builds debates,
//! `simulated_players` and `chaos` reply in them, and `random_formats` generates formats. Most
//! tests are table-driven.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]
mod absent;
mod aloud;
mod amend;
mod arena;
mod arena_lab;
#[cfg(unix)]
mod arena_loop;
mod arena_rules;
mod arena_time;
mod asked;
mod brief;
#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod browser_acts;
#[cfg(unix)]
mod browser_live;
#[cfg(unix)]
mod browser_pages;
#[cfg(unix)]
mod browser_stage;
mod budgets;
mod casts;
mod chaos;
#[cfg(unix)]
mod ci_files;
mod citations;
mod claims;
mod cli_archive;
mod cli_check;
#[cfg(unix)]
mod cli_dialogue;
mod cli_doctor;
mod cli_duel;
mod cli_evidence;
mod cli_failures;
mod cli_formats;
mod cli_hostile;
mod cli_human;
#[cfg(unix)]
mod cli_join;
mod cli_json;
mod cli_processes;
mod cli_refused;
mod cli_resume;
mod cli_secrets;
mod cli_state_file;
mod cli_usage;
mod clients;
mod course;
mod court;
mod dense;
mod dialogue;
mod diffs;
mod digest;
mod engine;
mod estimate;
mod evidence;
mod evidence_quotes;
mod evidence_traps;
mod failures;
#[cfg(unix)]
mod fakes;
mod flags;
mod formats_own;
mod gist;
mod golden;
mod grammar;
mod guest;
#[cfg(unix)]
mod guest_platform;
mod guest_visit;
mod hearing;
mod host;
mod inquiry;
mod judging;
mod kill;
mod kill_formats;
mod lab;
mod language;
mod mask;
mod mcp_clients;
mod mcp_courses;
mod mcp_duel;
mod mcp_errors;
mod mcp_formats;
mod mcp_kill;
mod mcp_results;
mod mcp_slow;
mod mcp_time;
mod mcp_turns;
mod mcp_user;
mod mcp_wire;
mod model;
mod nasty;
mod needs;
mod oneline;
mod outputs;
#[cfg(unix)]
mod packaging;
mod page_assets;
mod page_debate;
mod page_markdown;
mod pairing;
mod pins;
mod pipeline;
mod plain;
mod players;
mod points;
#[cfg(unix)]
mod preflight;
mod prompt;
mod properties;
mod ranges;
mod rating;
mod rating_counts;
#[cfg(unix)]
mod real;
#[cfg(unix)]
mod real_clients;
#[cfg(unix)]
mod real_clis;
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
mod relay;
mod reply;
mod repo;
mod report_court;
mod report_dialogue;
mod report_research;
#[cfg(unix)]
mod review_again;
#[cfg(unix)]
mod review_bench;
#[cfg(unix)]
mod review_ci;
#[cfg(unix)]
mod review_corpus;
#[cfg(unix)]
mod review_diffs;
#[cfg(unix)]
mod review_flow;
#[cfg(unix)]
mod review_forge;
mod review_forms;
mod review_forms_hostile;
#[cfg(unix)]
mod review_hook;
mod review_hostile;
#[cfg(unix)]
mod review_mcp;
#[cfg(unix)]
mod review_patches;
#[cfg(unix)]
mod review_pipeline;
mod review_weighing;
mod rules;
mod salvage;
mod scene;
mod seat;
mod seat_api;
#[cfg(unix)]
mod seat_asked;
#[cfg(unix)]
mod seat_cli;
#[cfg(unix)]
mod seat_copy;
mod snapshots;
mod spoken;
mod standing;
mod store;
mod style;
mod takeover;
mod template;
mod text;
mod tidy;
mod tool_errors;
mod topics;
mod tournament;
#[cfg(unix)]
mod tournament_play;
mod tribunal;
mod verdict;
#[cfg(unix)]
mod visitor;
mod voices;
#[cfg(unix)]
mod web_site;
mod wellformed;
mod wire;
#[cfg(unix)]
mod wishes;
