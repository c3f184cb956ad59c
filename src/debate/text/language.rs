//! Language detection for a topic, by script and stop words. The entry point is [`detect`]. Prompts
//! name the language to answer in, and reports choose their headings by it.

/// Detected language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Also the default if detection is inconclusive.
    English,
    /// Any Chinese script.
    Chinese,
    /// Neither English nor Chinese.
    Other,
}

/// English stop words that are rarely words in other languages.
const ENGLISH_STOP_WORDS: &[&str] = &[
    "the", "and", "or", "should", "we", "are", "of", "for", "with", "use", "which", "what", "how",
    "why", "be", "it", "this", "that", "our", "does", "not", "than", "when", "can", "from", "have",
    "to",
];

/// Stop words of other languages that are rarely English words. `die`, `con` and `pour` are
/// excluded, because they are English, too.
const FOREIGN_STOP_WORDS: &[&str] = &[
    // German
    "der",
    "das",
    "dem",
    "und",
    "oder",
    "ist",
    "nicht",
    "wir",
    "ich",
    "soll",
    "sollen",
    "sollte",
    "sollten",
    "für",
    "mit",
    "auf",
    "ein",
    "eine",
    "einen",
    "wie",
    "welche",
    "welcher",
    "welches",
    "warum",
    "bei",
    "zum",
    "zur",
    "statt",
    "besser",
    "auch",
    "noch",
    "wenn",
    "kann",
    "werden",
    // French
    "le",
    "la",
    "les",
    "des",
    "une",
    "est",
    "que",
    "qui",
    "dans",
    "avec",
    "nous",
    "ou",
    "sur",
    "faut",
    "il",
    "et",
    "pourquoi",
    "quel",
    "quelle",
    "plutôt",
    "utiliser",
    "devrions",
    // Spanish and Portuguese
    "el",
    "los",
    "las",
    "una",
    "uma",
    "para",
    "por",
    "usar",
    "debemos",
    "deberíamos",
    "devemos",
    "cuál",
    "qual",
    "mejor",
    "melhor",
    "não",
    "es",
    // Italian
    "gli",
    "che",
    "usare",
    "dobbiamo",
    "oppure",
    "meglio",
    "della",
    "è",
    // Polish
    "czy",
    "lub",
    "nie",
    "jest",
    "się",
    "dla",
    "lepiej",
    "oraz",
    "jak",
    "powinniśmy",
    // Dutch and the Scandinavian languages
    "het",
    "een",
    "niet",
    "voor",
    "moeten",
    "welke",
    "och",
    "eller",
    "inte",
    "att",
    "ikke",
    "skal",
    "og",
    "til",
    "det",
];

/// Detects the language of a topic. Falls back to English.
pub fn detect(topic: &str) -> Language {
    let mut han = 0;
    // Letters of scripts other than Latin and Han.
    let (mut other_letters, mut kana_or_hangul) = (0, 0);
    for c in topic.chars() {
        han += usize::from(is_han(c));
        kana_or_hangul += usize::from(is_kana_or_hangul(c));
        other_letters += usize::from(is_other_script(c));
    }
    let latin_words: Vec<&str> = topic
        .split(|c: char| !(is_latin(c) || is_combining_mark(c)))
        .filter(|it| !it.is_empty())
        .collect();
    let english = latin_words
        .iter()
        .filter(|word| ENGLISH_STOP_WORDS.contains(&lowercase(word).as_str()))
        .count();
    // An English topic may quote a few letters of another script.
    let is_quotation = |letters: usize| english >= 2 && letters <= latin_words.len();
    if kana_or_hangul > 0 {
        return if is_quotation(kana_or_hangul + han) {
            Language::English
        } else {
            Language::Other
        };
    }
    if han > 0 && han >= other_letters {
        return if is_quotation(han) { Language::English } else { Language::Chinese };
    }
    // A single such letter is usually a math symbol.
    if other_letters > 1 {
        return if is_quotation(other_letters) { Language::English } else { Language::Other };
    }
    let accented = latin_words.iter().filter(|word| !word.is_ascii()).count();
    let stop_words = latin_words.iter().filter(|word| is_foreign_stop_word(word)).count();
    let inverted_marks = 2 * usize::from(topic.contains(['¿', '¡']));
    let foreign_signs = accented + stop_words + inverted_marks;
    if foreign_signs >= 2 && foreign_signs > english { Language::Other } else { Language::English }
}

impl Language {
    /// Returns the name used in prompts.
    pub fn name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::Chinese => "Chinese",
            Language::Other => "the language of the topic",
        }
    }
}

/// Whether a word is a foreign stop word. Words in capitals are acronyms, such as `DES` and `EST`.
fn is_foreign_stop_word(word: &str) -> bool {
    let is_acronym = word.len() > 1 && !word.contains(char::is_lowercase);
    !is_acronym && FOREIGN_STOP_WORDS.contains(&lowercase(word).as_str())
}

fn lowercase(word: &str) -> String {
    word.to_lowercase()
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}') && c.is_alphabetic()
}

/// Combining diacritical marks.
fn is_combining_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

fn is_han(c: char) -> bool {
    matches!(
        c,
        '\u{3005}'..='\u{3007}'
            | '\u{3100}'..='\u{312F}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{3FFFF}'
    )
}

fn is_kana_or_hangul(c: char) -> bool {
    matches!(
        c,
        '\u{3041}'..='\u{309F}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{30FC}'..='\u{30FF}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{FF66}'..='\u{FF9F}'
            | '\u{1100}'..='\u{11FF}'
            | '\u{3130}'..='\u{318F}'
            | '\u{AC00}'..='\u{D7AF}'
    )
}

/// Letters from Greek onward in Unicode order, without Han, kana and hangul and without symbols.
fn is_other_script(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{1DFF}' | '\u{1F00}'..='\u{1FFF}' | '\u{2C00}'..='\u{2DFF}' | '\u{A000}'..='\u{ABFF}' | '\u{FB00}'..='\u{FEFF}')
        && c.is_alphabetic()
        && !is_kana_or_hangul(c)
        && !is_han(c)
}

#[cfg(test)]
mod tests;
