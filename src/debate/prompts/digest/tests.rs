//! Round summaries: what a written digest must contain, and the mechanical digest that replaces it
//! if no scribe wrote one.
use crate::debate::prompts::digest::{find_omissions, first_words, mechanical_digest};
use crate::debate::words::collapse_whitespace;
use crate::debate::{Body, Debate, formats};
use crate::test_support::debate_fixture::{
    debate_setup, open_debate, play_until, record_reply, speech,
};

/// A duel in which Bob concedes `p1` verbatim in round 1 and argues against it in round 2. Ada
/// answers `c1` and leaves `c2` open, and Bob certifies `c3` as resolved.
fn duel_with_concession() -> Debate {
    let mut debate = open_debate(debate_setup(formats::duel(), 5));
    let turns = [
        (1, "propose", speech("p1 p2!", &[], &[])),
        (1, "challenge", speech("c1 c2 c3", &[("p1", "p1 holds because")], &[])),
        (2, "defend", speech("p3>c1", &[], &[])),
        (2, "follow_up", speech("c4>p1", &[], &["c3"])),
    ];
    for (round, phase, body) in turns {
        let cue = play_until(&mut debate, round, phase);
        record_reply(&mut debate, cue, body);
    }
    debate
}

#[test]
fn mechanical_digest_lists_claims_and_concessions() {
    let expected = "\
(Mechanical summary: built from the claims and concessions on the record, because no written one was available.)

Position of the proposer:
- p1: p1 holds because it does (evidence: a.rs:1)
- p2: p2 holds because it does (unsupported)
- p3: p3 holds because it does (evidence: a.rs:1)

Position of the challenger:
- c1: c1 holds because it does (evidence: a.rs:1)
- c2: c2 holds because it does (evidence: a.rs:1)
- c3: c3 holds because it does (evidence: a.rs:1)
- c4: c4 holds because it does (evidence: a.rs:1)

Concessions (verbatim, binding):
- the challenger conceded `p1`: \"p1 holds because\" (evidence: a.rs:1)

Concerns put to rest:
- c3: c3 holds because it does

Open disagreements:
- c1: c1 holds because it does
- c2: c2 holds because it does
- c4: c4 holds because it does

Contradictions:
- conceded in round 1: \"p1 holds because\"; denied in round 2 by `c4`: c4 holds because it does
";
    assert_eq!(mechanical_digest(&duel_with_concession(), 2), expected);
}

#[test]
fn mechanical_digest_covers_only_its_rounds() {
    let text = mechanical_digest(&duel_with_concession(), 1);
    for (part, expected) in [
        ("- c3: c3 holds because it does (evidence", true),
        ("Concessions (verbatim, binding):", true),
        ("p3", false),
        ("c4", false),
        ("Concerns put to rest", false),
        ("Contradictions", false),
    ] {
        assert_eq!(text.contains(part), expected, "{part}\n{text}");
    }
    assert!(
        !mechanical_digest(&duel_with_concession(), 0).contains("- "),
        "nothing has happened yet"
    );
}

#[test]
fn side_without_claims_is_summarized_by_its_text() {
    let mut debate = open_debate(debate_setup(formats::duel(), 3));
    let first = play_until(&mut debate, 1, "propose");
    let long = vec!["word"; 100].join(" ");
    record_reply(&mut debate, first, Body::from_prose(long));
    let text = mechanical_digest(&debate, 1);
    let expected = format!("- (round 1) {} …\n", vec!["word"; 80].join(" "));
    assert!(text.contains(&expected), "{text}");
    assert_eq!(first_words("short  enough\n"), "short enough");
}

#[track_caller]
fn assert_omissions(summary: &str, expected: &[&str]) {
    let scribe_cue = crate::test_support::debate_fixture::cue(2, 4, 0, 13);
    assert_eq!(find_omissions(&duel_with_concession(), scribe_cue, summary), expected, "{summary}");
}

#[test]
fn digest_must_quote_concessions_and_name_open_claims() {
    let quote = "the concession of `p1` is not quoted word for word";
    let open = |id: &str| format!("the open disagreement about `{id}` is not named");
    assert_omissions("p1 holds because. Open: c1, c2 and c4.", &[]);
    assert_omissions("p1 holds\n  because; (c1) `c2` **c4**", &[]); // Whitespace and markup are ignored.
    assert_omissions("关于c1的分歧，c2尚有争议，c4也是。p1 holds because", &[]); // Ids without spaces around them.
    assert_omissions("p1 is right. Open: c1, c2, c4.", &[quote]);
    assert_omissions("P1 holds because. Open: c1, c2, c4.", &[quote]); // Quotes are case-sensitive.
    assert_omissions("p1 holds because. Open: c1 and c4.", &[&open("c2")]);
    assert_omissions(
        "p1 holds because. Open: c10, xc2, c4-b.",
        &[&open("c1"), &open("c2"), &open("c4")],
    );
    assert_omissions("", &[quote, &open("c1"), &open("c2"), &open("c4")]);
    // The mechanical digest omits nothing.
    assert_omissions(&mechanical_digest(&duel_with_concession(), 2), &[]);
}

#[test]
fn whitespace_is_collapsed() {
    for (text, expected) in [("a  b\n\tc ", "a b c"), ("", ""), (" \n", ""), ("a\u{a0}b", "a b")] {
        assert_eq!(collapse_whitespace(text), expected);
    }
}

#[test]
fn digest_quotes_at_most_80_words() {
    let words = |count: usize| vec!["word"; count].join(" ");
    assert_eq!(first_words(&words(80)), words(80));
    assert_eq!(first_words(&words(81)), format!("{} …", words(80)));
}
