//! What can be typed to hold an arena.
use super::Most;
use crate::debate::Voice;
use std::net::SocketAddr;

/// `debate serve`
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Where to listen; others than this machine only with `--insecure`
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081")]
    pub bind: SocketAddr,
    /// Let others than this machine in, without encryption: meant for behind a reverse proxy with TLS
    #[arg(long)]
    pub insecure: bool,
    /// A name others reach it by, such as that of the proxy; may be repeated
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Who judges; several, if it is given several times; `none` for nobody; whoever can, if not given
    #[arg(long, value_name = "SEAT")]
    pub judge: Vec<String>,
    /// Somebody who listens and votes, as in `--audience risk-averse=claude`, or `=human` to vote on
    /// the page
    #[arg(long, value_name = "TYPE=SEAT[*WEIGHT]")]
    pub audience: Vec<String>,
    /// A motion for which a debate is created, unless one waits already; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub topic: Vec<String>,
    /// How many rounds a debate has, if nobody says: 1 to 10
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub rounds: u8,
    /// Have every motion debated twice by the same two, with the sides changed; else a coin decides
    #[arg(long)]
    pub swap: bool,
    /// Seconds a bot may take for a speech
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub speech_timeout: u32,
    /// Seconds after which a bot that does not poll is offline
    #[arg(long, value_name = "S", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..))]
    pub offline_after: u32,
    /// Seconds a debate may wait for its bots
    #[arg(long, value_name = "S", default_value_t = 1800, value_parser = clap::value_parser!(u32).range(1..))]
    pub waiting_limit: u32,
    /// Seconds a debate may take
    #[arg(long, value_name = "S", default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..))]
    pub total_limit: u32,
    /// What may be spent on judging one debate.
    #[command(flatten)]
    pub most: Most,
    /// Print what was begun as one JSON object, and then nothing
    #[arg(long)]
    pub json: bool,
}

impl Serve {
    /// Those who judge, as they were named; `None`, if nobody was; empty, if nobody is to.
    pub(in crate::cli) fn judges(&self) -> Result<Option<Vec<Voice>>, String> {
        match self.judge.as_slice() {
            [] => Ok(None),
            [none] if none == "none" => Ok(Some(vec![])),
            all => {
                let read = |seat: &String| {
                    seat.parse::<Voice>().map_err(|error| format!("`--judge {seat}`: {error}"))
                };
                all.iter().map(read).collect::<Result<_, _>>().map(Some)
            }
        }
    }
}
