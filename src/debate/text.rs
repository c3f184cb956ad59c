//! Layer 1, text helpers that know nothing about debates.
//!
//! | file              | content                                                     |
//! |-------------------|-------------------------------------------------------------|
//! | `content_hash`    | SHA-256 hashes of texts                                     |
//! | `invisible_chars` | Detects and escapes invisible characters                    |
//! | `language`        | Language detection for a topic                              |
//! | `style`           | Removes formatting from a text before it is judged          |
//! | `template`        | Fills prompt templates in one pass, never inserted text     |
//! | `word_count`      | Word count, for scripts with and without spaces             |
//! | `words`           | Small helpers for words and ids in text                     |
pub mod content_hash;
pub mod invisible_chars;
pub mod language;
pub(super) mod style;
pub mod template;
pub(super) mod word_count;
pub mod words;
