//! Load test of `debate serve` with many bots in concurrent debates:
//! `cargo bench --bench arena -- --bots 1000 --viewers 200 --kill`.
//!
//! Each bot joins, polls every five seconds and speaks when it is its turn. Every speech is unique.
//! At the end, the log that each bot received is compared with the speeches the server accepted.
//! With `--kill`, the server process is killed halfway and restarted. A bare endpoint is polled at
//! the same rate as a baseline. Exits with an error if a speech was lost or duplicated.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
mod baseline;
mod bot;
mod http;
mod options;
mod server;
mod tally;
mod viewer;

use bot::Bot;
use http::HttpConnection;
use options::LoadOptions;
use serde_json::{Value, json};
use server::Server;
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tally::{Tally, summarize_latencies};

/// Number of concurrent connections that create debates and join bots.
const CONCURRENCY: usize = 16;

fn main() -> ExitCode {
    let Some(options) = LoadOptions::from_args() else { return ExitCode::SUCCESS };
    server::raise_file_limit();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    let violations = runtime.block_on(run_load(options));
    runtime.shutdown_background();
    if violations.is_empty() {
        println!("\nNo speech was lost or duplicated, and every debate has ended.");
        return ExitCode::SUCCESS;
    }
    println!("\nVIOLATIONS");
    violations.iter().take(20).for_each(|line| println!("- {line}"));
    println!("{} in all", violations.len());
    ExitCode::FAILURE
}

async fn run_load(options: LoadOptions) -> Vec<String> {
    let options = Arc::new(options);
    let tally = Arc::new(Tally::default());
    let mut server = Server::start(&options);
    server.wait_until_ready().await;
    let port = server.port;
    println!(
        "{} bots in {} debates of {} rounds, a poll each {:.1} s, {} viewers; server {}",
        options.bots,
        options.debate_count(),
        options.rounds,
        options.poll_interval.as_secs_f64(),
        options.viewers,
        server.version(),
    );
    let baseline_task =
        tokio::spawn(baseline::probe(baseline::serve(), options.clone(), tally.clone()));
    let started = Instant::now();
    let bots = join_bots(&options, port, &tally).await;
    println!("all have joined after {:.1} s", started.elapsed().as_secs_f64());
    let debate_ids = list_archive_ids(port).await;
    viewer::spawn_viewers(&options, port, &debate_ids, &tally);
    let load_started = Instant::now();
    let tasks: Vec<_> = bots
        .into_iter()
        .map(|bot| tokio::spawn(bot.play(options.clone(), port, tally.clone())))
        .collect();
    let (total, accepted) = (options.total_speeches(), &tally.accepted_speeches);
    let mut downtime = None;
    while tasks.iter().any(|bot| !bot.is_finished()) && load_started.elapsed() < options.timeout {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.sample_usage();
        if options.kill && downtime.is_none() && accepted.load(Ordering::Relaxed) * 2 >= total {
            let killed_at = Instant::now();
            server.kill_and_restart(&options);
            server.wait_until_ready().await;
            downtime = Some(killed_at.elapsed());
            println!(
                "killed after {:.1} s, {} of {total} speeches taken; answers again after {:.2} s",
                (killed_at - load_started).as_secs_f64(),
                accepted.load(Ordering::Relaxed),
                killed_at.elapsed().as_secs_f64(),
            );
        }
    }
    let elapsed = load_started.elapsed();
    baseline_task.abort();
    server.sample_usage();
    let mut finished_bots = vec![];
    let mut violations = vec![];
    for bot in tasks {
        match tokio::time::timeout(Duration::from_millis(1), bot).await {
            Ok(bot) => finished_bots.push(bot.unwrap()),
            Err(_) => violations.push("a bot's debate has not ended in time".to_owned()),
        }
    }
    if options.kill && downtime.is_none() {
        violations.push("all debates ended before the server could be killed".into());
    }
    print_report(&options, &server, &tally, elapsed);
    violations.extend(find_violations(&options, &finished_bots));
    violations.extend(tally.unexpected_refusals());
    violations
}

/// Creates the debates and joins two bots to each.
async fn join_bots(options: &Arc<LoadOptions>, port: u16, tally: &Arc<Tally>) -> Vec<Bot> {
    let workers = (0..CONCURRENCY).map(|worker| {
        let (options, tally) = (options.clone(), tally.clone());
        tokio::spawn(async move {
            let mut connection = HttpConnection::new(port);
            let mut bots = vec![];
            for debate in (worker..options.debate_count()).step_by(CONCURRENCY) {
                let topic = format!("Should question {debate} be answered with yes?");
                let request = json!({"topic": topic, "total_rounds": options.rounds});
                let created = connection.post("/api/debate/create", &[], &request).await.unwrap();
                assert!(created.status / 100 == 2, "creating: {} {}", created.status, created.body);
                let id = created.body["debate_id"].as_str().unwrap().to_owned();
                for nth in [2 * debate, 2 * debate + 1] {
                    bots.push(Bot::join(nth, &id, &mut connection, &tally).await);
                }
            }
            bots
        })
    });
    let mut bots = vec![];
    for worker in workers.collect::<Vec<_>>() {
        bots.extend(worker.await.unwrap());
    }
    bots
}

/// Archive ids of the debates, which the page uses in URLs.
async fn list_archive_ids(port: u16) -> Vec<String> {
    let debates = HttpConnection::new(port).get("/api/debates", &[]).await.unwrap();
    let debates = debates.body["debates"].as_array().cloned().unwrap_or_default();
    let archive_id = |debate: &Value| debate["archive_id"].as_str().map(ToOwned::to_owned);
    debates.iter().filter_map(archive_id).collect()
}

fn print_report(options: &LoadOptions, server: &Server, tally: &Tally, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64();
    println!("\n{:<22}{:>9}{:>9}{:>9}{:>9}{:>9}", "ms", "count", "p50", "p95", "p99", "max");
    let baseline = summarize_latencies(&tally.baseline_times);
    let rows =
        [("join", &tally.join_times), ("poll", &tally.poll_times), ("speech", &tally.speech_times)];
    for (name, latencies) in rows
        .map(|(name, latencies)| (name, summarize_latencies(latencies)))
        .into_iter()
        .chain([("bare endpoint", baseline.clone())])
    {
        let [p50, p95, p99, max] = latencies.quantiles;
        println!("{name:<22}{:>9}{p50:>9.2}{p95:>9.2}{p99:>9.2}{max:>9.2}", latencies.count);
    }
    for (name, latencies) in rows.map(|(name, latencies)| (name, summarize_latencies(latencies))) {
        let ratio = |nth: usize| latencies.quantiles[nth] / baseline.quantiles[nth].max(0.001);
        println!("{name} / bare endpoint: p50 {:.1}x, p99 {:.1}x", ratio(0), ratio(2));
    }
    let requests = tally.requests.load(Ordering::Relaxed);
    println!(
        "\n{requests} requests in {seconds:.1} s: {:.0} a second; {} had to be retried",
        requests as f64 / seconds,
        tally.failed_requests.load(Ordering::Relaxed),
    );
    println!(
        "server: {:.1} MB at most, {:.1} s of CPU ({:.0} % of a core); this client: {:.1} s of CPU",
        server.peak_memory() / 1e6,
        server.cpu_seconds(),
        server.cpu_seconds() / seconds * 100.0,
        server::process_cpu_seconds("self"),
    );
    println!(
        "viewers: {} of {} connected, {} events, {} connections, {} events received twice",
        tally.connected_viewers.load(Ordering::Relaxed),
        options.viewers,
        tally.viewer_events.load(Ordering::Relaxed),
        tally.viewer_connections.load(Ordering::Relaxed),
        tally.repeated_events.load(Ordering::Relaxed),
    );
    for (code, times) in tally.refusals.lock().unwrap().iter() {
        println!("refused with {code}: {times}");
    }
    for (name, latencies) in [("poll", &tally.poll_times), ("speech", &tally.speech_times)] {
        let p99 = summarize_latencies(latencies).quantiles[2];
        let verdict = if p99 <= options.p99_goal_ms { "met" } else { "MISSED" };
        println!(
            "goal for {name}: p99 within {:.0} ms: {verdict} ({p99:.1} ms)",
            options.p99_goal_ms
        );
    }
}

/// Compares the final log of every bot with the accepted speeches. Returns the violations.
fn find_violations(options: &LoadOptions, finished_bots: &[Bot]) -> Vec<String> {
    let mut violations = vec![];
    let mut by_debate: HashMap<&str, Vec<&Bot>> = HashMap::new();
    for bot in finished_bots {
        by_debate.entry(&bot.debate).or_default().push(bot);
    }
    for (debate, bots) in by_debate {
        let logs: Vec<&Value> = bots.iter().map(|bot| &bot.last_poll["debate_log"]).collect();
        if logs.iter().any(|log| *log != logs[0]) {
            violations.push(format!("{debate}: its bots received different logs"));
        }
        let log = logs[0].as_array().cloned().unwrap_or_default();
        if log.len() != 2 * options.rounds {
            violations.push(format!("{debate}: {} speeches of {}", log.len(), 2 * options.rounds));
        }
        let mut counts: HashMap<String, usize> = HashMap::new();
        for entry in &log {
            let text = entry["message"]["content"].as_str().unwrap_or_default();
            *counts.entry(text.to_owned()).or_default() += 1;
            let is_known = bots.iter().any(|bot| {
                bot.sent.contains(text) && entry["speaker"].as_str() == Some(bot.name.as_str())
            });
            if !is_known {
                violations.push(format!("{debate}: no bot has sent `{}`", &entry["message"]));
            }
        }
        for bot in &bots {
            for text in &bot.accepted {
                match counts.get(text) {
                    Some(1) => {}
                    count => violations.push(format!(
                        "{debate}: `{}` was accepted and is in the log {} times",
                        bot::speech_label(text),
                        count.copied().unwrap_or(0)
                    )),
                }
            }
        }
        violations.extend(counts.iter().filter(|(_, count)| **count > 1).map(|(text, count)| {
            format!("{debate}: `{}` is in the log {count} times", bot::speech_label(text))
        }));
        let result = &bots[0].last_poll["debate_result"];
        if options.has_judge && result["winner"].is_null() {
            violations.push(format!("{debate}: there is no winner: {result}"));
        }
    }
    violations.sort();
    violations.dedup();
    violations
}
