//! Emoji detection, which leaves symbols used as text alone.
use super::chars::CharAction;

/// Marks emoji with their joiners and modifiers for removal. A keycap digit stays as a digit.
pub(super) fn mark_emoji(chars: &[char], actions: &mut [CharAction]) {
    let mut in_emoji = false;
    for index in 0..chars.len() {
        if actions[index] == CharAction::Literal {
            in_emoji = false;
            continue;
        }
        let has_selector =
            chars.get(index + 1) == Some(&'\u{FE0F}') && is_emoji_with_selector(chars[index]);
        in_emoji =
            is_emoji(chars[index]) || has_selector || in_emoji && is_emoji_joiner(chars[index]);
        if in_emoji {
            actions[index] = CharAction::DropEmoji;
        } else if matches!(chars[index], '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}') {
            actions[index] = CharAction::Drop;
        }
    }
}

/// Zero-width joiner, variation selectors, keycap and tag characters.
fn is_emoji_joiner(c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE0E}' | '\u{FE0F}' | '\u{20E3}' | '\u{E0020}'..='\u{E007F}')
}

/// Symbols that are emoji only if followed by the variation selector U+FE0F.
fn is_emoji_with_selector(c: char) -> bool {
    matches!(c, '‼' | '⁉' | 'ℹ' | 'Ⓜ' | '〰' | '〽' | '▪' | '▫' | '▶' | '◀')
}

/// Emoji ranges. Arrows, ticks, circled digits and musical symbols between them are text.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{231A}'..='\u{231B}'
            | '\u{2328}'
            | '\u{23CF}'
            | '\u{23E9}'..='\u{23F3}'
            | '\u{23F8}'..='\u{23FA}'
            | '\u{25FB}'..='\u{25FE}'
            | '\u{2600}'..='\u{266C}'
            | '\u{2670}'..='\u{2712}'
            | '\u{2714}'..='\u{2716}'
            | '\u{2719}'..='\u{2767}'
            | '\u{2795}'..='\u{2797}'
            | '\u{27B0}'
            | '\u{27BF}'
            | '\u{2B1B}'..='\u{2B1C}'
            | '\u{2B50}'
            | '\u{2B55}'
            | '\u{1F000}'..='\u{1F0FF}'
            | '\u{1F18E}'
            | '\u{1F191}'..='\u{1F19A}'
            | '\u{1F1E6}'..='\u{1F1FF}'
            | '\u{1F201}'..='\u{1F265}'
            | '\u{1F300}'..='\u{1F6FF}'
            | '\u{1F7E0}'..='\u{1F7F0}'
            | '\u{1F900}'..='\u{1FAFF}'
    )
}
