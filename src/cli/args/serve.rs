//! Arguments of `debate serve`.
use super::LimitArgs;
use crate::debate::Participant;
use crate::web::ArenaLimits;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

/// Numbers of rounds a debate of the arena may have.
const VALID_ROUNDS: RangeInclusive<i64> = 1..=10;

/// Arguments of `debate serve`.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Address to listen on; other than loopback only with `--insecure`
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081")]
    pub bind: SocketAddr,
    /// Allow other machines to connect without TLS; meant for use behind a reverse proxy with TLS
    #[arg(long)]
    pub insecure: bool,
    /// Additional host name to accept, such as the proxy's; may be repeated
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Who judges; repeat for a panel; `none` for no judge [default: automatic]
    #[arg(long, value_name = "SEAT")]
    pub judge: Vec<String>,
    /// Listener who votes, as in `--audience risk-averse=claude`, or `=human` to vote on the page
    #[arg(long, value_name = "TYPE=SEAT[*WEIGHT]")]
    pub audience: Vec<String>,
    /// Create a debate on this motion, unless one is waiting; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub topic: Vec<String>,
    /// Default number of rounds, 1 to 10
    #[arg(
        long,
        value_name = "N",
        default_value_t = ArenaLimits::default().default_rounds,
        value_parser = clap::value_parser!(u8).range(VALID_ROUNDS)
    )]
    pub rounds: u8,
    /// Play every motion twice with the sides swapped, instead of drawing sides at random
    #[arg(long)]
    pub swap: bool,
    /// Timeout of a speech in seconds
    #[arg(
        long,
        value_name = "S",
        default_value_t = ArenaLimits::default().speech_seconds,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub speech_timeout: u32,
    /// Seconds without a poll after which a bot is offline
    #[arg(
        long,
        value_name = "S",
        default_value_t = ArenaLimits::default().offline_seconds,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub offline_after: u32,
    /// Seconds a debate waits for bots
    #[arg(
        long,
        value_name = "S",
        default_value_t = ArenaLimits::default().waiting_seconds,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub waiting_limit: u32,
    /// Timeout of a debate in seconds
    #[arg(
        long,
        value_name = "S",
        default_value_t = ArenaLimits::default().debate_seconds,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub total_limit: u32,
    /// Spending limits for judging one debate.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Print the URLs and waiting debates as one JSON object, and nothing else
    #[arg(long)]
    pub json: bool,
}

impl ServeArgs {
    /// Parses `--judge`: `None` if not given, empty for `none`.
    pub(in crate::cli) fn parse_judges(&self) -> Result<Option<Vec<Participant>>, String> {
        match self.judge.as_slice() {
            [] => Ok(None),
            [none] if none == "none" => Ok(Some(vec![])),
            seats => {
                let parse = |seat: &String| {
                    seat.parse::<Participant>()
                        .map_err(|error| format!("`--judge {seat}`: {error}"))
                };
                seats.iter().map(parse).collect::<Result<_, _>>().map(Some)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Args;
    use clap::Parser;

    #[test]
    fn rounds_of_the_arena_are_limited() {
        assert_eq!(VALID_ROUNDS, 1..=10);
        for (rounds, is_valid) in [(0, false), (1, true), (10, true), (11, false)] {
            let flag = format!("--rounds={rounds}");
            let args = Args::try_parse_from(["debate", "serve", &flag]);
            assert_eq!(args.is_ok(), is_valid, "{rounds} rounds");
        }
    }
}
