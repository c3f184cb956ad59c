//! Property tests of the redactor over generated texts: idempotence, line counts, stable
//! placeholders, streaming in chunks, and linear run time on hostile input.
use super::corpus::{Sample, expand_template, harmless_lines, secret_samples, test_redactor};
use crate::redact::{RedactionCounts, Redactor, Secrets, count_placeholders, redact_stream};
use crate::test_support::debate_fixture::Rng;
use std::borrow::Cow;
use std::io::Read;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A generated PEM block, as it appears in a key file.
fn pem_block(name: &str, rng: &mut Rng) -> String {
    let lines: Vec<String> =
        (0..rng.below(20) + 2).map(|_| expand_template("{b64:64}", rng)).collect();
    format!(
        "-----BEGIN {name}-----\n{}\n{}\n-----END {name}-----",
        lines.join("\n"),
        expand_template("{b64:21}=", rng)
    )
}

static SAMPLES: OnceLock<(Vec<Sample>, Vec<String>)> = OnceLock::new();

/// A random text of secret samples, truncated samples, key blocks and harmless lines.
fn random_document(seed: u64) -> String {
    let mut rng = Rng(seed);
    let (secrets, harmless) = SAMPLES.get_or_init(|| (secret_samples(), harmless_lines()));
    let separators =
        ["\n", "\n", "\r\n", " ", "", "-", "\"", "\t", ", ", "é", "\n\n", "=", ":", "\\n", "["];
    let mut text = String::new();
    for _ in 0..=rng.below(30) {
        match rng.below(8) {
            0 => text.push_str(&pem_block("RSA PRIVATE KEY", &mut rng)),
            1..=3 => text.push_str(&rng.pick(secrets).text),
            4 => {
                let sample = rng.pick(secrets).text;
                let cut = next_char_boundary(&sample, rng.below(sample.len() + 1));
                text.push_str(&sample[..cut]);
            }
            _ => text.push_str(&rng.pick(harmless)),
        }
        text.push_str(rng.pick(&separators));
    }
    text
}

/// The first UTF-8 character boundary at or after `from`.
fn next_char_boundary(text: &str, from: usize) -> usize {
    (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

fn redact_text(redactor: &Redactor, text: &str) -> String {
    redactor.redact(text).text.into_owned()
}

#[test]
fn redaction_is_idempotent() {
    let redactor = test_redactor();
    for seed in 0..1500 {
        let text = random_document(seed);
        let once = redact_text(&redactor, &text);
        assert_eq!(redact_text(&redactor, &once), once, "seed {seed}: {text}");
        let (strict, _) = redactor.redact_secret_file(&text);
        assert_eq!(redactor.redact_secret_file(&strict).0, strict, "seed {seed}");
    }
}

#[test]
fn redaction_keeps_line_breaks() {
    let redactor = test_redactor();
    for seed in 0..1500 {
        let text = random_document(seed);
        let lines = |text: &str| (text.matches('\n').count(), text.matches("\r\n").count());
        assert_eq!(lines(&redact_text(&redactor, &text)), lines(&text), "seed {seed}");
        assert_eq!(lines(&redactor.redact_secret_file(&text).0), lines(&text), "seed {seed}");
    }
}

#[test]
fn removal_count_matches_the_placeholders() {
    let redactor = test_redactor();
    for seed in 0..300 {
        let text = random_document(seed);
        let redacted = redactor.redact(&text);
        let mut max_counts = count_placeholders(&text);
        max_counts.add(&redacted.counts);
        // A placeholder inside a secret is removed together with it, so there may be fewer.
        assert!(count_placeholders(&redacted.text).total() <= max_counts.total(), "seed {seed}");
        assert_eq!(matches!(redacted.text, Cow::Borrowed(_)), redacted.counts.is_empty());
        assert_eq!(redactor.redact_bytes(text.as_bytes()).0.as_ref(), redacted.text.as_bytes());
    }
}

#[test]
fn placeholder_is_stable_per_secret_and_scope() {
    let secrets = Secrets::new(|| b"key".to_vec(), []);
    let token = expand_template("ghp_{alnum:36}", &mut Rng(1));
    let other_token = expand_template("ghp_{alnum:36}", &mut Rng(2));
    let redactor = secrets.redactor("one");
    let text = format!(
        "{token} and \"{token}\" and password = \"{token}\" and https://x:{token}@h.example/"
    );
    let redacted = redactor.redact(&text);
    let placeholder = redact_text(&redactor, &token);
    assert_eq!(redacted.text.matches(&placeholder).count(), 4, "{}", redacted.text);
    assert_eq!(redacted.counts.to_string(), "4 github-token");
    assert_ne!(redact_text(&redactor, &other_token), placeholder);
    assert_ne!(redact_text(&secrets.redactor("two"), &token), placeholder);
    assert_ne!(
        redact_text(&Secrets::new(|| b"another".to_vec(), []).redactor("one"), &token),
        placeholder
    );
    assert!(
        placeholder.starts_with("[REDACTED:github-token:") && placeholder.len() == 30,
        "{placeholder}"
    );
}

#[test]
fn stream_cut_anywhere_redacts_like_the_whole_text() {
    let redactor = test_redactor();
    let mut rng = Rng(3);
    let mut texts: Vec<String> = secret_samples().into_iter().map(|sample| sample.text).collect();
    texts.extend(harmless_lines());
    texts.extend(
        ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"]
            .map(|name| format!("key: |\n{}\nafter\n", pem_block(name, &mut rng))),
    );
    for text in texts {
        let text = format!("before {text}\npassword = x\n");
        let expected = redact_text(&redactor, &text);
        for (cut, _) in text.char_indices() {
            let mut stream = redactor.stream_redactor();
            let joined = stream.push(&text[..cut]) + &stream.push(&text[cut..]) + &stream.finish();
            assert_eq!(joined, expected, "cut at {cut}: {text}");
        }
        let mut stream = redactor.stream_redactor();
        let mut joined: String = text.chars().map(|c| stream.push(&c.to_string())).collect();
        joined.push_str(&stream.finish());
        assert_eq!(joined, expected, "char by char: {text}");
    }
}

#[test]
fn stream_of_random_chunks_redacts_like_the_whole_text() {
    let value = "several words 42 and\na line!".to_owned();
    let redactor =
        Secrets::new(|| b"key".to_vec(), [("A".into(), value.clone())]).redactor("debate");
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let text = random_document(seed) + " " + &value + &random_document(seed + 5000);
        let (mut stream, mut joined, mut rest) =
            (redactor.stream_redactor(), String::new(), text.as_str());
        let longest = [1, 3, 20, 500][rng.below(4)];
        while !rest.is_empty() {
            let cut = next_char_boundary(rest, rng.below(longest) + 1);
            joined.push_str(&stream.push(&rest[..cut]));
            rest = &rest[cut..];
        }
        joined.push_str(&stream.finish());
        assert_eq!(joined, redact_text(&redactor, &text), "seed {seed}");
    }
}

#[test]
fn stream_does_not_buffer_ordinary_words() {
    let mut stream = test_redactor().stream_redactor();
    assert_eq!(stream.push("The answer "), "The answer ");
    assert_eq!(stream.push("is for"), "is ");
    assert_eq!(stream.push("ty-two.\n"), "forty-two.\n");
    assert_eq!(stream.push("Authorization: "), "");
    assert_eq!(stream.push("none, not at all "), "Authorization: none, not at all ");
}

#[test]
fn stream_buffers_at_most_64_kib() {
    let redactor = test_redactor();
    let mut rng = Rng(4);
    let runs = [
        "a".repeat(300_000),
        "sk-".repeat(100_000),
        "é".repeat(150_000),
        expand_template("{b64:300000}", &mut rng),
        expand_template("{url:200000}", &mut rng),
    ];
    for run in runs {
        let text = format!("{run}{}\n{run}", expand_template(" token=ghp_{alnum:36},", &mut rng));
        let (mut stream, mut joined, mut pushed_len) =
            (redactor.stream_redactor(), String::new(), 0);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let cut = next_char_boundary(rest, 997);
            joined.push_str(&stream.push(&rest[..cut]));
            pushed_len += cut;
            rest = &rest[cut..];
            assert!(
                pushed_len <= joined.len() + 64 * 1024 + 100,
                "{pushed_len} bytes pushed, {} bytes returned",
                joined.len()
            );
        }
        joined.push_str(&stream.finish());
        assert!(joined == redact_text(&redactor, &text), "{}", &text[..20]);
    }
}

/// A reader that returns its bytes in chunks of random size.
struct ChunkedReader<'t>(&'t [u8], Rng);

impl Read for ChunkedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let chunk_size = self.1.below(40_000) + 1;
        self.0.take(chunk_size as u64).read(buffer).inspect(|read| self.0 = &self.0[*read..])
    }
}

#[test]
fn byte_filter_output_equals_whole_redaction() {
    let redactor = test_redactor();
    for seed in 0..40 {
        let mut bytes: Vec<u8> =
            (0..20).flat_map(|n| random_document(seed * 100 + n).into_bytes()).collect();
        let mut rng = Rng(seed);
        for _ in 0..seed {
            let index = rng.below(bytes.len());
            bytes[index] = 0xff;
        }
        let mut output = vec![];
        let removed = redact_stream(ChunkedReader(&bytes, rng), &mut output, &redactor).unwrap();
        let (expected, expected_counts) = redactor.redact_bytes(&bytes);
        assert!(output == expected.as_ref(), "seed {seed}");
        assert_eq!(removed, expected_counts);
    }
}

#[test]
fn redaction_of_hostile_texts_takes_linear_time() {
    let redactor =
        Secrets::new(|| b"key".to_vec(), [("A".into(), "aaaaaaab".into())]).redactor("debate");
    let lines = expand_template("-----BEGIN PRIVATE KEY-----\n{b64:64}\n", &mut Rng(6));
    let parts = [
        "sk-",
        "sk-a",
        "password=",
        "password:",
        "password=\"",
        "token = \"a1b2",
        "-----BEGIN PRIVATE KEY-----",
        &lines,
        "eyJ",
        "eyJhbGciOiJI.",
        "://",
        "://a:",
        "://a:b@",
        "Bearer ",
        "Basic ",
        "[REDACTED:",
        "[REDACTED:secret:",
        "a",
        "a=",
        "secret",
        "token",
        "auth token ",
        "AKIA",
        "ghp_",
        ":AA",
        "1:AA",
        "-us",
        "0123456789abcdef",
        "\\\"password\\\":",
        "password: x: ",
        "token((((",
        "aaaaaaa",
        "name: TOKEN\n",
        "sig=",
        "pass",
        "MTAw.",
    ];
    let started = Instant::now();
    for part in parts {
        let text = part.repeat(500_000 / part.len());
        let once = redact_text(&redactor, &text);
        assert_eq!(once.matches('\n').count(), text.matches('\n').count());
        let mut output = vec![];
        redact_stream(text.as_bytes(), &mut output, &redactor).unwrap();
        assert!(output == once.as_bytes(), "{part}");
    }
    // Linear time needs a fraction of a second per text, quadratic time exceeds the limit by far.
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
}

#[test]
fn known_secret_values_are_redacted_anywhere() {
    let values = [
        ("API_KEY", "kd83jsk2-xx"),
        ("A", "true"),
        ("B", "password"),
        ("C", "aaaaaaaaaaaa"),
        ("D", "/usr/local/bin"),
        ("E", "1234567"),
        ("F", "say \"hi\" 22"),
        ("G", "plain-words"),
    ];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let redactor = Secrets::new(|| b"key".to_vec(), values).redactor("debate");
    let text = "xkd83jsk2-xxy true password aaaaaaaaaaaa /usr/local/bin 1234567 plain-words {\"a\":\"say \\\"hi\\\" 22\"} say%20%22hi%22%2022";
    let redacted = redactor.redact(text);
    assert_eq!(redacted.counts.to_string(), "3 known-value");
    assert!(
        redacted.text.contains("y true password aaaaaaaaaaaa /usr/local/bin 1234567 plain-words {"),
        "{}",
        redacted.text
    );
}

#[test]
fn private_key_becomes_one_placeholder_and_keeps_lines() {
    let redactor = test_redactor();
    let mut rng = Rng(5);
    for name in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let block = pem_block(name, &mut rng);
        let (crlf, json) = (block.replace('\n', "\r\n"), block.replace('\n', "\\n"));
        let indented = block.replace('\n', "\n    ");
        let diff_lines = block.replace('\n', "\n+");
        let code = block.replace('\n', "\\n\" +\n  \"");
        let header = block.replacen(
            '\n',
            "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n",
            1,
        );
        for text in [&block, &crlf, &json, &indented, &diff_lines, &code, &header] {
            let text = format!("before\n{text}\nafter");
            let redacted = redactor.redact(&text);
            assert_eq!(redacted.counts.to_string(), "1 private-key", "{text}");
            let rest = redacted.text.strip_prefix("before\n[REDACTED:private-key:").unwrap();
            let rest = rest[7..].trim_start_matches(['\r', '\n']);
            assert_eq!(rest, "after", "{text}");
        }
        // A truncated key is redacted. Markers without a key, and public keys, are not.
        let truncated = &block[..block.len() - 40 - name.len()];
        assert_eq!(redactor.redact(truncated).counts.to_string(), "1 private-key");
        let markers_only = format!("-----BEGIN {name}-----\n…\n-----END {name}-----");
        assert_eq!(redact_text(&redactor, &markers_only), markers_only);
        let public = pem_block("PUBLIC KEY", &mut rng);
        assert_eq!(redact_text(&redactor, &public), public);
    }
    let lines = format!(
        "{}\n{}",
        expand_template("{b64:64}", &mut rng),
        expand_template("{b64:64}", &mut rng)
    );
    let putty = format!(
        "Private-Lines: 2\n{lines}\nPrivate-MAC: {}\n",
        expand_template("{hex:40}", &mut rng)
    );
    let clean = redact_text(&redactor, &putty);
    assert!(!clean.contains(&lines) && clean.contains("[REDACTED:private-key:"), "{clean}");
}

#[test]
fn strict_mode_keeps_keys_and_removes_values() {
    let redactor = test_redactor();
    let text = "# comment\nDEBUG=true\nexport NAME=plain\nURL: \"http://x\"\nEMPTY=\n\n  \"a\": {\nQ='two\nlines'\nLAST=1 # why\r\n";
    let (clean, removed) = redactor.redact_secret_file(text);
    for value in ["true", "plain", "http", "two", "lines", "=1"] {
        assert!(!clean.contains(value), "{value}: {clean}");
    }
    for remaining in [
        "# comment\nDEBUG=[",
        "export NAME=[",
        "URL: \"[",
        "EMPTY=\n\n  \"a\": {\nQ='[",
        "# why\r\n",
    ] {
        assert!(clean.contains(remaining), "{remaining}: {clean}");
    }
    assert_eq!(removed.total(), 5);
    let pgpass = redactor.redact_secret_file("db:5432:app:me:hunter2\n").0;
    assert!(!pgpass.contains("hunter2"));
    let netrc = redactor.redact_secret_file("machine x login me password hunter2\n").0;
    assert!(!netrc.contains("hunter2"));
}

#[test]
fn only_valid_placeholders_are_counted() {
    let text = "[REDACTED:jwt:012abc] [REDACTED:jwt:zzzzzz] [REDACTED:unheard-of:012abc] [REDACTED:jwt:012abc] [REDACTED:secret:ffffff]";
    let mut counts = count_placeholders(text);
    assert_eq!(counts.to_string(), "2 jwt, 1 secret");
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("jwt", 2), ("secret", 1)]);
    counts.add(&count_placeholders("[REDACTED:jwt:012abc]"));
    assert_eq!(counts.total(), 4);
    assert!(RedactionCounts::default().is_empty());
}
