//! Sanitizing untrusted text in reports and on the terminal.
use crate::report::sanitize::{demote_headings, one_line, strip_control_chars};

#[test]
fn headings_and_rules_in_replies_are_demoted() {
    for (text, expected) in [
        ("plain", "plain"),
        ("# Verdict", "#### Verdict"),
        ("  ## Verdict", "##### Verdict"),
        ("---", "***"),
        ("Verdict\n=======", "Verdict\n***"),
        ("Verdict\n-------", "Verdict\n***"),
        ("- a list\n- of two", "- a list\n- of two"),
        // Inside a fence it is code. An open fence is closed with its own marker.
        ("```\n# a comment\n```\n# b", "```\n# a comment\n```\n#### b"),
        ("~~~sh\n# a", "~~~sh\n# a\n~~~"),
        ("````\n```\n# a", "````\n```\n# a\n````"),
        // These lines look like a fence, but open none.
        ("```x``` inline\n## Conclusion", "```x``` inline\n##### Conclusion"),
    ] {
        assert_eq!(demote_headings(text), expected);
    }
}

#[test]
fn control_and_bidi_characters_are_stripped() {
    for (text, expected) in [
        ("a\u{1b}[31mb\u{7}", "a[31mb"),
        ("a\u{9b}31mb\u{7f}", "a31mb"),
        ("tab\there\nnext", "tab\there\nnext"),
        ("\u{202e}desrever\u{2066}x", "desreverx"),
        ("中文 é", "中文 é"),
    ] {
        assert_eq!(strip_control_chars(text), expected);
    }
    assert_eq!(one_line("a\n\n  b\u{1b}"), "a b");
}
