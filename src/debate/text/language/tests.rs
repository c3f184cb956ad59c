//! Language detection of a topic by script and common words: English, Chinese or other.
use crate::debate::language::{Language, detect};

#[track_caller]
fn assert_language(expected: Language, topics: &[&str]) {
    for topic in topics {
        assert_eq!(detect(topic), expected, "{topic}");
    }
}

#[test]
fn english_is_the_default() {
    assert_language(
        Language::English,
        &[
            "",
            "?",
            "42",
            "Tabs or spaces?",
            "Should we use sqlx or rusqlite here?",
            "sqlx vs rusqlite",
            "café or tea?",
            "naïve Bayes",
            "Should we keep the naïve façade for the café?",
            "Gödel numbering",
            "DES or EST",
            "Los Angeles or Las Vegas for the data centre?",
            "Should \"中文\" be the default locale of the installer?",
            "Should the label of our button be さくら or not?",
            "Should we use λ or closures?",
            "λ calculus",
            "10 µs or 20 µs?",
            "Is die casting better?",
            "pro and con",
            "de facto or de jure",
            "𝑥 or 𝑦",
        ],
    );
}

#[test]
fn han_script_without_kana_is_chinese() {
    assert_language(
        Language::Chinese,
        &[
            "用 sqlx 还是 rusqlite?",
            "我们应该迁移到微服务吗？",
            "單體還是微服務",
            "React Vue Angular Svelte 用哪个",
            "sqlx or rusqlite 哪个好",
            "Claude Code vs OpenCode 哪个更好",
            "是否采用 Rust 2024",
            "好",
        ],
    );
}

#[test]
fn other_scripts_are_detected_as_other() {
    assert_language(
        Language::Other,
        &[
            "タブかスペースか",
            "日本語の質問です",
            "Rust か Go か",
            "ﾃｽﾄ",
            "탭 아니면 스페이스?",
            "Rust 아니면 Go",
            "Табы или пробелы?",
            "Использовать sqlx или rusqlite?",
            "هل نستخدم Rust؟",
            "טאבים או רווחים",
            "Καρτέλες ή κενά;",
            "टैब या स्पेस?",
            "แท็บหรือช่องว่าง",
        ],
    );
}

#[test]
fn common_words_and_letters_reveal_other_languages() {
    assert_language(
        Language::Other,
        &[
            "Sollen wir Rust oder Go verwenden?",
            "Rust für Anfänger?",
            "Größere Räume",
            "Ist das besser?",
            "Faut-il utiliser Rust ou Go ?",
            "Rust ou Go pour le serveur ?",
            "¿Rust o Go?",
            "Debemos usar Rust para el servidor",
            "Devemos usar Rust ou Go?",
            "Dobbiamo usare Rust oppure Go?",
            "Czy lepiej Rust lub Go?",
            "Moeten we Rust of Go voor het project?",
            "Rust eller Go för servern?",
            "Gro\u{308}ße und Ho\u{308}he",
        ],
    );
}

#[test]
fn language_names_are_those_used_in_prompts() {
    assert_eq!(Language::English.name(), "English");
    assert_eq!(Language::Chinese.name(), "Chinese");
    assert_eq!(Language::Other.name(), "the language of the topic");
}
