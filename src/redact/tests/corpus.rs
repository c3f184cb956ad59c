//! Precision and recall of the redactor, measured on the samples in `tests/redact`. Keys are
//! generated when the test runs, so that no file here contains a string that looks like a key.
use crate::redact::{Redactor, Secrets};
use crate::test_support::debate_fixture::Rng;
use std::fs;
use std::path::Path;

/// A text and the secrets in it. `kind` is the expected placeholder kind, if it is known.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) kind: Option<String>,
    secrets: Vec<String>,
}

pub(crate) fn test_redactor() -> Redactor {
    Secrets::new(|| b"a key of tests".to_vec(), []).redactor("debate")
}

/// Every key template in some of the contexts, and every assignment line with a secret value.
pub(crate) fn secret_samples() -> Vec<Sample> {
    let mut rng = Rng(7);
    let contexts = read_corpus_lines("contexts");
    let mut samples = vec![];
    for (index, line) in read_corpus_lines("keys").iter().enumerate() {
        let (kind, template) = line.split_once(' ').unwrap();
        let is_selected =
            |context_index: &usize| (context_index + index).is_multiple_of(4) || *context_index < 3;
        for (_, context) in
            contexts.iter().enumerate().filter(|(context_index, _)| is_selected(context_index))
        {
            // `number:` before a Telegram token would be parsed as a part of it.
            if kind == "telegram-token" && context.contains(":§") {
                continue;
            }
            let key = expand_template(template, &mut rng);
            let text = context.replace('§', &key);
            samples.push(Sample { text, kind: Some(kind.into()), secrets: vec![key] });
        }
    }
    for line in read_corpus_lines("assigned") {
        let line = expand_template(&line, &mut rng);
        let secrets = line.split('«').skip(1).map(|part| part.split('»').next().unwrap().into());
        let secrets = secrets.collect();
        samples.push(Sample { text: line.replace(['«', '»'], ""), kind: None, secrets });
    }
    samples
}

/// Lines that the redactor must not change.
pub(crate) fn harmless_lines() -> Vec<String> {
    read_corpus_lines("harmless")
}

fn read_corpus_lines(name: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("tests/redact/{name}.txt")).unwrap();
    text.lines().filter(|line| !line.starts_with("# ")).map(Into::into).collect()
}

/// Expands each `{alphabet:length}` slot of a template with random characters.
pub(crate) fn expand_template(template: &str, rng: &mut Rng) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        rest = after;
        let slot = after.split_once('}').and_then(|(slot, after)| {
            let (name, length) = slot.split_once(':')?;
            Some((alphabet(name)?, length.parse::<usize>().ok()?, after))
        });
        let Some((letters, length, after)) = slot else {
            text.push('{');
            continue;
        };
        let letters: Vec<char> = letters.chars().collect();
        // The last character is never punctuation, which the redactor may leave out of the match.
        text.extend((1..length).map(|_| rng.pick(&letters)));
        text.push(letters[rng.below(10)]);
        rest = after;
    }
    text + rest
}

fn alphabet(name: &str) -> Option<&'static str> {
    Some(match name {
        "digits" => "1234567890",
        "hex" => "0123456789abcdef",
        "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "lower" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "alpha" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "alnum" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "url" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
        "b64" => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
        _ => return None,
    })
}

/// Replaces every placeholder with one fixed character, to compare texts.
fn mask_placeholders(text: &str) -> String {
    let mut parts = text.split("[REDACTED:");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + "\u{a7}" + part.split_once(']').unwrap().1)
}

#[test]
fn precision_and_recall_are_at_least_99_percent() {
    let redactor = test_redactor();
    let (mut correct, mut missed, mut wrong) = (0, vec![], vec![]);
    let samples = secret_samples();
    for sample in &samples {
        let redacted = redactor.redact(&sample.text);
        let expected = sample
            .secrets
            .iter()
            .fold(sample.text.clone(), |text, secret| text.replace(secret, "\u{a7}"));
        let kind_matches = sample.kind.as_deref().is_none_or(|kind| redacted.text.contains(kind));
        if sample.secrets.iter().any(|secret| redacted.text.contains(secret.as_str())) {
            missed.push(format!("{} -> {}", sample.text, redacted.text));
        } else if mask_placeholders(&redacted.text) == expected && kind_matches {
            correct += 1;
        } else {
            wrong.push(format!("{} -> {}", sample.text, redacted.text));
        }
    }
    let harmless = harmless_lines();
    for text in &harmless {
        let redacted = redactor.redact(text);
        if redacted.text != *text {
            wrong.push(format!("{text} -> {}", redacted.text));
        }
    }
    assert!(samples.len() >= 300 && harmless.len() >= 300);
    let recall = f64::from(correct) / samples.len() as f64;
    let precision = f64::from(correct) / (f64::from(correct) + wrong.len() as f64);
    let report = format!(
        "{} secrets, {} harmless: precision {precision:.4}, recall {recall:.4}\nmissed:\n{}\nwrong:\n{}",
        samples.len(),
        harmless.len(),
        missed.join("\n"),
        wrong.join("\n"),
    );
    assert!(precision >= 0.99 && recall >= 0.99, "{report}");
    #[allow(clippy::print_stdout)]
    {
        println!("{report}");
    }
}

#[test]
fn this_repository_has_no_false_positives() {
    let redactor = test_redactor();
    let mut changed = vec![];
    for folder in
        ["src", "prompts", "benches", "schemas", "tests/it", "tests/captures", "tests/golden"]
    {
        visit_files(Path::new(folder), &mut |path| {
            let bytes = fs::read(path).unwrap();
            let (clean, removed) = redactor.redact_bytes(&bytes);
            if !removed.is_empty() {
                let lines = bytes.split(|b| *b == b'\n').zip(clean.split(|b| *b == b'\n'));
                for (before, after) in lines.filter(|(before, after)| before != after) {
                    let text = String::from_utf8_lossy(before);
                    changed.push(format!(
                        "{}: {text} -> {}",
                        path.display(),
                        String::from_utf8_lossy(after)
                    ));
                }
            }
        });
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

fn visit_files(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { visit_files(&path, visit) } else { visit(&path) }
    }
}
