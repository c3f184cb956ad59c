//! Command line options of the load test.
use std::time::Duration;

/// Options of a run.
pub(super) struct LoadOptions {
    pub(super) bots: usize,
    pub(super) rounds: usize,
    pub(super) viewers: usize,
    /// Poll interval of a bot.
    pub(super) poll_interval: Duration,
    /// Whether every request opens a new connection, as a shell script does.
    pub(super) new_connections: bool,
    pub(super) kill: bool,
    pub(super) has_judge: bool,
    /// Target for the 99th percentile of response times, in ms.
    pub(super) p99_goal_ms: f64,
    /// Timeout of the whole run.
    pub(super) timeout: Duration,
    /// Path of another `debate` binary.
    pub(super) program: Option<String>,
    /// Additional arguments of `debate serve`.
    pub(super) serve_args: Vec<String>,
}

const HELP: &str = "\
cargo bench --bench arena -- [options]
  --bots N        number of bots, two in each debate (1000)
  --rounds N      rounds of each debate (3)
  --viewers N     clients of the page's event stream (200)
  --every MS      milliseconds between two polls of a bot (5000)
  --fresh         open a new connection for every request, as a shell script does
  --kill          kill the server process halfway and restart it
  --no-judge      run the debates without a judge
  --goal MS       goal for the 99th percentile of response times (50)
  --limit S       timeout of the whole run in seconds (600)
  --program PATH  `debate` binary to test (default: the one built by cargo)
  --serve ARG     additional argument of `debate serve` (can be repeated)";

impl LoadOptions {
    /// Parses the arguments. `None` if only the help was printed.
    pub(super) fn from_args() -> Option<LoadOptions> {
        let mut options = LoadOptions {
            bots: 1000,
            rounds: 3,
            viewers: 200,
            poll_interval: Duration::from_secs(5),
            new_connections: false,
            kill: false,
            has_judge: true,
            p99_goal_ms: 50.0,
            timeout: Duration::from_secs(600),
            program: None,
            serve_args: vec![],
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut next_value =
                || args.next().unwrap_or_else(|| panic!("{arg} needs a value\n{HELP}"));
            let parse_number = |text: String| -> usize {
                text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number\n{HELP}"))
            };
            match arg.as_str() {
                "--bots" => options.bots = parse_number(next_value()).next_multiple_of(2),
                "--rounds" => options.rounds = parse_number(next_value()),
                "--viewers" => options.viewers = parse_number(next_value()),
                "--every" => {
                    options.poll_interval =
                        Duration::from_millis(parse_number(next_value()) as u64);
                }
                "--fresh" => options.new_connections = true,
                "--kill" => options.kill = true,
                "--no-judge" => options.has_judge = false,
                "--goal" => options.p99_goal_ms = parse_number(next_value()) as f64,
                "--limit" => {
                    options.timeout = Duration::from_secs(parse_number(next_value()) as u64);
                }
                "--program" => options.program = Some(next_value()),
                "--serve" => options.serve_args.push(next_value()),
                // Added by cargo.
                "--bench" => {}
                _ => {
                    println!("{HELP}");
                    return None;
                }
            }
        }
        Some(options)
    }

    pub(super) fn debate_count(&self) -> usize {
        self.bots / 2
    }

    /// Number of speeches in all debates.
    pub(super) fn total_speeches(&self) -> usize {
        self.bots * self.rounds
    }
}
