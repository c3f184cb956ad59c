//! Benchmark: throughput of redaction on source text, compared with a bare Aho-Corasick search for
//! 500 words and with counting lines. Run with `cargo bench --bench redact`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use debate_mcp::redact::Secrets;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const RUNS: usize = 5;
const TEXT_BYTES: usize = 64 << 20;

fn main() {
    let mut text = vec![];
    for folder in ["src", "tests", "benches", "prompts", "schemas"] {
        collect_text(Path::new(folder), &mut text);
    }
    let single_copy = text.len();
    while text.len() < TEXT_BYTES {
        text.extend_from_within(..single_copy);
    }
    let redactor = Secrets::new(|| b"key".to_vec(), []).redactor("bench");
    let values = (0..20).map(|n| (String::new(), format!("value-{n}-of-the-environment")));
    let with_values = Secrets::new(|| b"key".to_vec(), values).redactor("bench");
    // As many distinct first bytes as the real keywords have.
    let first = |n: usize| char::from(b"aBcDeFgHiJkLmNoPqRsTuVwXyZ:-./"[n % 30]);
    let words: Vec<String> = (0..500).map(|n| format!("{}{n}!", first(n))).collect();
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&words)
        .unwrap();
    let line_rate = best_rate(&text, &|text| text.split(|byte| *byte == b'\n').count());
    let bare_rate = best_rate(&text, &|text| automaton.find_iter(text).count());
    let redact_rate = best_rate(&text, &|text| redactor.redact_bytes(text).1.total());
    let values_rate = best_rate(&text, &|text| with_values.redact_bytes(text).1.total());
    println!("{} MB of source text, best of {RUNS}", text.len() / 1_000_000);
    println!("counting lines:          {line_rate:7.0} MB/s");
    println!("bare search, 500 words:  {bare_rate:7.0} MB/s");
    println!(
        "redacting:               {redact_rate:7.0} MB/s, {:.2} of the bare search",
        redact_rate / bare_rate
    );
    println!(
        "redacting, 20 values:    {values_rate:7.0} MB/s, {:.2} of the bare search",
        values_rate / bare_rate
    );
}

fn best_rate(text: &[u8], work: &dyn Fn(&[u8]) -> usize) -> f64 {
    let measure = |_| {
        let started = Instant::now();
        black_box(work(black_box(text)));
        text.len() as f64 / 1e6 / started.elapsed().as_secs_f64()
    };
    (0..RUNS).map(measure).fold(0.0, f64::max)
}

fn collect_text(folder: &Path, text: &mut Vec<u8>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_text(&path, text);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            text.extend(bytes.iter().copied().take_while(|byte| *byte != 0));
        }
    }
}
