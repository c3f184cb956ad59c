# Recipes for contributors. `just` lists them; CONTRIBUTING.md explains the workflow.

# Tests that rewrite their golden file if DEBATE_UPDATE is 1.
golden := "schemas tools_json tool_errors golden_outputs plugin_files_match page_assets"

_default:
    @just --list --unsorted

# Build the program
build:
    cargo build --locked

# Run all tests
test *ARGS:
    cargo test --locked {{ARGS}}

# Run the tests whose path contains NAME
test-one NAME *ARGS:
    cargo test --locked {{quote(NAME)}} -- {{ARGS}}

# Check formatting and lints, with warnings as errors
lint:
    cargo fmt --all -- --check
    cargo clippy --locked --all-targets -- -D warnings

# Format the code
fmt:
    cargo fmt --all

# Build the documentation, private items included
doc *ARGS:
    cargo doc --locked --no-deps --document-private-items {{ARGS}}

# Run one benchmark: arena, brief, citation_accuracy, evidence, overhead, providers, redact, start, step_cost
bench NAME *ARGS:
    cargo bench --locked --bench {{quote(NAME)}} -- {{ARGS}}

# Play a debate offline
demo *ARGS:
    cargo run --locked -- demo {{ARGS}}

# Rewrite the golden files; page assets need Node
update-golden:
    DEBATE_UPDATE=1 cargo test --locked --lib --test it -- {{golden}}
    git status --short
