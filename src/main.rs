//! Entry point of the `debate` binary. Everything is in the library, see `startup`.
use std::process::ExitCode;

fn main() -> ExitCode {
    debate_mcp::run()
}
