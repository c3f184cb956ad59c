//! Findability test: a newcomer who lists the source files and searches the paths for the term of a
//! question finds the answer. Each row names the file and an item in it; a moved or renamed file
//! fails here.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Maximum number of paths that may contain a term, so that a search by path stays short.
const MAX_MATCHING_PATHS: usize = 4;

/// Question, term to search the paths for, path below `src`, code that must be in that file.
#[rustfmt::skip]
const QUESTIONS: &[(&str, &str, &str, &str)] = &[
    ("where are retries decided", "retry", "providers/retry.rs", "fn backoff("),
    ("where does a bot decide when to retry", "retry", "arena_client/retry_policy.rs", "POLL_INTERVAL"),
    ("where is the rate limiter", "rate_limit", "web/rate_limit.rs", "struct TokenBucket"),
    ("where are lease heartbeats written", "lease", "store/lease_monitor.rs", "heartbeat"),
    ("where is a lease acquired", "lease", "store/lease.rs", "fn acquire"),
    ("where is SARIF written", "sarif", "review/output/sarif.rs", "fn "),
    ("where are secrets excluded by file name", "exclusions", "repo/exclusions.rs", "fn exclusion_reason("),
    ("where are snapshots cached and evicted", "snapshot_cache", "repo/snapshot_cache.rs", "MAX_SNAPSHOTS"),
    ("where is the Myers diff", "myers", "repo/myers.rs", "fn shortest_edit_trace("),
    ("where is the Bloom filter", "bloom", "evidence/bloom_index.rs", "struct BloomFilters"),
    ("where are orphan processes killed", "orphan", "providers/orphans.rs", "fn kill_marked_processes("),
    ("where are HTTP errors rendered", "http_error", "web/http_error.rs", "struct HttpError"),
    ("where is authentication", "auth", "web/auth.rs", "struct AuthTokens"),
    ("where is the Origin header checked", "origin", "web/origin_check.rs", "struct OriginCheck"),
    ("where are database migrations", "schema", "store/schema.rs", "MIGRATIONS"),
    ("where are projections of the event log", "projection", "store/projections.rs", "fn apply_event("),
    ("where is the queue of remote commands", "command_queue", "store/command_queue.rs", "struct QueuedCommands"),
    ("where are remote commands executed", "commands", "app/remote_commands.rs", "fn "),
    ("where are secrets redacted in a stream", "redactor", "redact/stream_redactor.rs", "struct StreamRedactor"),
    ("where is the redaction gate", "redaction_gate", "engine/redaction_gate.rs", "struct RedactionGate"),
    ("where are vendor names masked for judges", "mask", "debate/prompts/mask.rs", "fn mask("),
    ("where are prices", "price", "providers/prices.rs", "struct PriceList"),
    ("where are exit codes", "exit", "cli/exit.rs", "enum Exit"),
    ("where are server-sent events written", "event_stream", "web/event_stream.rs", "fn sse_response("),
    ("where is a client's configuration installed", "install", "clients/install.rs", "struct InstallOptions"),
    ("where is the stdio transport", "transport", "mcp/transport.rs", "struct LineTransport"),
    ("where is MCP progress reported", "progress", "mcp/progress.rs", "struct ProgressPreview"),
    ("where is the Bradley-Terry fit", "bradley_terry", "rating/bradley_terry.rs", "fn fit_ratings("),
    ("where are signals handled", "signals", "engine/signals.rs", "fn wait_for_shutdown("),
    ("where are arena deadlines", "deadline", "arena/deadlines.rs", "fn timeout_action("),
    ("where are a bot's credentials kept", "credentials", "arena_client/credentials.rs", "struct CredentialStore"),
    ("where is a merge blocked", "merge_gate", "review/merge_gate.rs", "fn blocks_merge("),
    ("where are records signed", "sign", "store/sign.rs", "struct SigningKey"),
    ("where are prompt templates rendered", "template", "debate/text/template.rs", "fn render("),
    ("where is the archive searched", "/search", "store/search.rs", "fn resolve_id("),
    ("where is the OpenAPI document", "openapi", "web/openapi.rs", "fn document("),
    ("where is last-debate.json written", "state_file", "store/state_file.rs", "struct StateFile"),
    ("where are invisible characters escaped", "invisible", "debate/text/invisible_chars.rs", "fn escape_invisible("),
    ("where is a tournament scheduled", "schedule", "tournament/schedule.rs", "fn build_schedule("),
    ("where are citations extracted from a reply", "extract", "evidence/extract.rs", "fn extract_with_files("),
    ("where is the preflight probe", "probe", "app/probe.rs", "PROBE_TIMEOUT"),
    ("where is the estimate of cost", "estimate", "debate/setup/estimate.rs", "fn "),
    ("where are private files created", "secure_fs", "secure_fs.rs", "fn create_private_dir("),
];

#[test]
fn the_path_of_every_answer_contains_the_term_asked_for() {
    let mut paths = vec![];
    collect_paths(Path::new("src"), &mut paths);
    let mut questions = BTreeSet::new();
    for (question, term, path, code) in QUESTIONS {
        assert!(questions.insert(question), "{question}: asked twice");
        let matching: Vec<&String> = paths.iter().filter(|path| path.contains(term)).collect();
        assert!(
            matching.iter().any(|found| found == path),
            "{question}? no path `{path}` among those with `{term}`: {matching:?}"
        );
        assert!(
            matching.len() <= MAX_MATCHING_PATHS,
            "{question}? `{term}` is in too many paths: {matching:?}"
        );
        let text = fs::read_to_string(Path::new("src").join(path)).unwrap();
        assert!(text.contains(code), "{question}? `{path}` does not contain `{code}`");
    }
    assert!(questions.len() >= 25);
}

/// Collects the paths of all Rust files below a folder, relative to `src`.
fn collect_paths(folder: &Path, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_paths(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix("src").unwrap();
            paths.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
}
