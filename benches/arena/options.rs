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
  --bots N        how many bots, two in each debate (1000)
  --rounds N      how many rounds a debate has (3)
  --viewers N     how many watch the page's events (200)
  --every MS      milliseconds between two polls of a bot (5000)
  --fresh         a connection for every request, as a shell script has
  --kill          kill the server outright in the middle, and start it again
  --no-judge      nobody judges
  --goal MS       what the slowest hundredth should stay within (50)
  --limit S       seconds after which a run has failed (600)
  --program PATH  another `debate` than the one built with this
  --serve ARG     a further argument of `debate serve`; may be repeated";

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
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut next =
                || words.next().unwrap_or_else(|| panic!("{word} needs a value\n{HELP}"));
            let number = |text: String| -> usize {
                text.parse().unwrap_or_else(|_| panic!("`{text}` is no number\n{HELP}"))
            };
            match word.as_str() {
                "--bots" => options.bots = number(next()).next_multiple_of(2),
                "--rounds" => options.rounds = number(next()),
                "--viewers" => options.viewers = number(next()),
                "--every" => options.poll_interval = Duration::from_millis(number(next()) as u64),
                "--fresh" => options.new_connections = true,
                "--kill" => options.kill = true,
                "--no-judge" => options.has_judge = false,
                "--goal" => options.p99_goal_ms = number(next()) as f64,
                "--limit" => options.timeout = Duration::from_secs(number(next()) as u64),
                "--program" => options.program = Some(next()),
                "--serve" => options.serve_args.push(next()),
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
