//! Recognizes references that cannot be looked up: URLs and benchmark figures. Entry points:
//! `is_url` and `is_benchmark`. `extract` and its parsers call them, so that such a reference is
//! recorded as unchecked and not as wrong.

/// Phrases by which an author claims to have measured something.
const MEASUREMENT_PHRASES: &[&str] = &[
    "i ran",
    "we ran",
    "i measured",
    "we measured",
    "i benchmarked",
    "we benchmarked",
    "i timed",
    "we timed",
    "i profiled",
    "we profiled",
    "bench shows",
    "bench gives",
    "bench reports",
    "benchmark shows",
    "benchmarks show",
    "my benchmark",
    "our benchmark",
    "my measurement",
    "our measurement",
    "measured locally",
    "ran locally",
    "when i run",
    "after running",
    "i just ran",
    "i have run",
    "hyperfine shows",
    "hyperfine gives",
    "hyperfine reports",
];

/// Units of measurement, longer ones first.
const UNITS: &[&str] = &[
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "seconds",
    "ops/sec",
    "ops/s",
    "req/s",
    "mib/s",
    "gib/s",
    "mb/s",
    "gb/s",
    "kb/s",
    "qps",
    "rps",
    "tps",
    "ms",
    "µs",
    "μs",
    "us",
    "ns",
    "sec",
    "s",
    "%",
    "x",
    "×",
];

/// Words that turn figures into a benchmark.
const BENCHMARK_TOPICS: &[&str] = &[
    "faster",
    "slower",
    "speedup",
    "speed-up",
    "latency",
    "throughput",
    "p50",
    "p90",
    "p95",
    "p99",
    "bench",
    "median",
    "allocations",
    "overhead",
    "per second",
    "per call",
    "per op",
];

/// Prefixes of a URL.
const URL_PREFIXES: &[&str] = &["https://", "http://", "ftp://", "www."];

/// Minimum length of a URL after its prefix, in bytes.
const MIN_HOST_BYTES: usize = 3;
/// Maximum number of occurrences checked per phrase.
const MAX_PHRASE_MATCHES: usize = 20;

/// Whether a word is a URL.
pub(super) fn is_url(word: &str) -> bool {
    URL_PREFIXES.iter().any(|prefix| {
        word.len() >= prefix.len() + MIN_HOST_BYTES
            && word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    })
}

/// Whether a text contains benchmark figures.
pub(super) fn is_benchmark(text: &str) -> bool {
    let lower = text.to_lowercase();
    let topic = BENCHMARK_TOPICS.iter().any(|topic| lower.contains(topic));
    lower.contains("benchmark")
        || topic && has_measurement(&lower)
        || claims_measurement_lowercase(&lower) && has_measurement(&lower)
}

/// Whether the author claims to have measured something.
pub(super) fn claims_measurement(text: &str) -> bool {
    claims_measurement_lowercase(&text.to_lowercase())
}

fn claims_measurement_lowercase(lower: &str) -> bool {
    let has_phrase = MEASUREMENT_PHRASES.iter().any(|phrase| {
        lower.match_indices(phrase).take(MAX_PHRASE_MATCHES).any(|(start, _)| {
            !lower[..start].ends_with(|c: char| c.is_alphanumeric())
                && !lower[start + phrase.len()..]
                    .starts_with(|c: char| c.is_alphanumeric() && c != 's')
        })
    });
    let reports_run = lower.find("running ").is_some_and(|start| {
        let rest = &lower[start..];
        ["gives", "yields", "shows", "takes", "prints"].iter().any(|word| rest.contains(word))
    });
    has_phrase || reports_run
}

/// Whether a lower-case text has a number with a unit.
pub(super) fn has_measurement(lower: &str) -> bool {
    let mut rest = lower;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit() || ".,_".contains(c));
        let unit = rest.strip_prefix(' ').unwrap_or(rest);
        let is_unit = |name: &&&str| {
            unit.strip_prefix(**name)
                .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
        };
        if UNITS.iter().any(|name| is_unit(&name)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_has_3_bytes_after_its_prefix() {
        assert!(is_url(&format!("www.{}", "x".repeat(MIN_HOST_BYTES))));
        assert!(!is_url(&format!("www.{}", "x".repeat(MIN_HOST_BYTES - 1))));
        assert_eq!(MIN_HOST_BYTES, 3);
    }

    #[test]
    fn measurement_phrase_is_checked_20_times() {
        // Within a word it is not the phrase.
        let claims = |count: usize| claims_measurement(&("xi ran ".repeat(count - 1) + "i ran"));
        assert!(claims(MAX_PHRASE_MATCHES));
        assert!(!claims(MAX_PHRASE_MATCHES + 1));
        assert_eq!(MAX_PHRASE_MATCHES, 20);
    }
}
