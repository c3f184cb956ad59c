//! Speeches of the right length, whatever a model wrote. Lengths are counted in characters, which are
//! Unicode code points here as on the wire.
use super::wire::Lengths;

/// The part of the longest speech that is kept for a better place to end, in percent.
const KEPT: usize = 60;

/// How a text fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It can be sent.
    Right,
    /// It has only this many characters.
    Short(usize),
    /// It has this many characters.
    Long(usize),
}

/// Whether a text can be sent.
pub fn fit(text: &str, lengths: Lengths) -> Fit {
    let length = text.chars().count();
    if length < lengths.least {
        Fit::Short(length)
    } else if length > lengths.most {
        Fit::Long(length)
    } else {
        Fit::Right
    }
}

/// A speech as it is meant: without what cannot be seen, and without the fence some models put around
/// all they say.
pub fn tidy(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let plain = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || *c == '\u{feff}');
    let text: String = text.chars().filter(plain).collect();
    unfenced(text.trim()).trim().to_owned()
}

/// What stands in a fence that goes around the whole text and holds no other.
fn unfenced(text: &str) -> &str {
    let marks = text.len() - text.trim_start_matches('`').len();
    if marks < 3 {
        return text;
    }
    let fence = &text[..marks];
    let Some((info, rest)) = text[marks..].split_once('\n') else { return text };
    let prose = matches!(info.trim().to_lowercase().as_str(), "" | "markdown" | "md" | "text");
    let Some(inside) = rest.strip_suffix(fence).filter(|_| prose) else { return text };
    let ends = inside.is_empty() || inside.ends_with('\n');
    let other = inside.lines().any(|line| line.trim() == fence);
    if ends && !other { inside } else { text }
}

/// The beginning of a text that is too long, up to the best place to end: a paragraph, a sentence, a
/// word, and if there is none of them anywhere near, a character as people see it.
pub fn cut(text: &str, lengths: Lengths) -> String {
    let most = lengths.most;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let whole = ended(text, most, lengths.least);
    if !open(&whole) {
        return whole;
    }
    // What would be left inside a code fence is closed.
    let room = most.saturating_sub(CLOSING.chars().count());
    let closed = format!("{}{CLOSING}", ended(text, room, 0));
    let fits = fit(&closed, lengths) == Fit::Right;
    if fits && !open(&closed) { closed } else { whole }
}

/// The same of a text that breaks off in the middle: up to its last whole sentence, if that is most
/// of it.
pub fn broken_off(text: &str, lengths: Lengths) -> String {
    let text = cut(text, lengths);
    let chars: Vec<char> = text.chars().collect();
    let enough = lengths.least.max(chars.len() * KEPT / 100).max(1);
    // What follows the last character is the end, which parts sentences, too.
    let after = |at: usize| chars.get(at).copied().unwrap_or('\n');
    let end = (enough..=chars.len()).rev().find(|at| ends_sentence(chars[at - 1], after(*at)));
    end.map_or(text, |end| chars[..end].iter().collect())
}

const CLOSING: &str = "\n```";

/// Whether a code fence is left open.
fn open(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

fn ended(text: &str, most: usize, least: usize) -> String {
    let chars: Vec<char> = text.chars().take(most + 1).collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let enough = least.max(most * KEPT / 100);
    // An end is how many characters stand before it.
    let nearest = |is_end: &dyn Fn(usize) -> bool| (enough..=most).rev().find(|at| is_end(*at));
    let paragraph = |at: usize| chars[at] == '\n' && chars.get(at + 1).is_none_or(|c| *c == '\n');
    let paragraph = |at: usize| at > 0 && at < most && paragraph(at);
    let sentence = |at: usize| at > 0 && ends_sentence(chars[at - 1], chars[at]);
    let word = |at: usize| chars[at].is_whitespace();
    let end = nearest(&paragraph)
        .or_else(|| nearest(&sentence))
        .or_else(|| nearest(&word))
        .or_else(|| nearest(&|at: usize| at > 0 && parts(&chars, at)))
        .unwrap_or(most);
    let kept: String = chars[..end].iter().collect();
    let trimmed = kept.trim_end();
    if trimmed.chars().count() >= least.min(end) { trimmed.to_owned() } else { kept }
}

fn ends_sentence(before: char, after: char) -> bool {
    match before {
        '。' | '！' | '？' | '…' => !matches!(after, '”' | '’' | '」' | '』' | '）' | '*'),
        '.' | '!' | '?' => after.is_whitespace(),
        _ => false,
    }
}

/// Whether two characters side by side are seen as two: marks, joiners, tones and flags belong to
/// what stands before them.
fn parts(chars: &[char], at: usize) -> bool {
    let (before, after) = (chars[at - 1], chars[at]);
    if before == '\u{200d}' || joins(after) {
        return false;
    }
    let flag = |c: char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let flags = chars[..at].iter().rev().take_while(|c| flag(**c)).count();
    !(flag(after) && flags % 2 == 1)
}

/// What is drawn together with what stands before it.
fn joins(c: char) -> bool {
    matches!(
        c,
        '\u{200d}'
            | '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5bd}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{93a}'..='\u{93c}'
            | '\u{93e}'..='\u{94f}'
            | '\u{e31}'
            | '\u{e34}'..='\u{e3a}'
            | '\u{e47}'..='\u{e4e}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// Shorter lengths for a platform that found a speech too long although it was not, because it counts
/// otherwise: in bytes, if that explains it, and a fifth less if nothing does.
pub fn narrower(text: &str, lengths: Lengths) -> Lengths {
    let (chars, bytes) = (text.chars().count().max(1), text.len());
    let most = if bytes > lengths.most {
        chars * lengths.most / bytes
    } else {
        chars.min(lengths.most) * 4 / 5
    };
    let most = most.max(1);
    Lengths { least: lengths.least.min(most), most }
}
