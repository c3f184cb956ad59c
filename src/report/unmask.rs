//! Restores the real names of the sides in a judge's text. Judges see the sides masked as A and B.
use crate::debate::{Cue, Debate, Side, status};

/// Replaces the masks `Side A` and `Side B` in a judge's text by the real names.
pub fn unmask_sides(debate: &Debate, cue: Cue, text: &str) -> String {
    let mut text = text.to_owned();
    for side in [Side::Pro, Side::Con] {
        if let Some(label) = debate.side_label(cue, side) {
            let name = status::side_name(debate, side);
            let name = if name == side.role_name() { format!("the {name}") } else { name };
            for word in ["Side", "side"] {
                text = replace_word(&text, &format!("{word} {label}"), &name);
            }
        }
    }
    text
}

/// Replaces a word only where it is not part of a longer one, and adjusts the article at the start
/// of a sentence.
fn replace_word(text: &str, word: &str, replacement: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find(word) {
        let (before, after) = (&rest[..position], &rest[position + word.len()..]);
        let is_whole_word = !before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        replaced.push_str(before);
        let starts_sentence = replaced.trim_end().ends_with(['.', '!', '?']);
        match replacement.strip_prefix("the ") {
            _ if !is_whole_word => replaced.push_str(word),
            Some(rest) if starts_sentence => {
                replaced.push_str("The ");
                replaced.push_str(rest);
            }
            _ => replaced.push_str(replacement),
        }
        rest = after;
    }
    replaced + rest
}
