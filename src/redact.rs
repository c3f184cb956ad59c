//! Secret redaction: replaces secrets in text by placeholders, `[REDACTED:kind:tag]`. An
//! Aho-Corasick automaton finds keywords in a single pass, and a small matcher validates the bytes
//! around each hit. The tag is a keyed hash (HMAC-SHA256), so equal secrets get equal placeholders.
//! Redaction never adds or removes a line.
//!
//! `Secrets` holds the config, `Redactor` redacts texts, `StreamRedactor` redacts text in chunks.
//!
//! | module            | contents                                                              |
//! |-------------------|-----------------------------------------------------------------------|
//! | `redactor`        | `Secrets` and `Redactor`: config, and redaction of whole texts        |
//! | `scan`            | Single pass over a text: secret spans, and where more input is needed |
//! | `keywords`        | Keyword automaton, and the matchers of each keyword                   |
//! | `secret_span`     | Byte ranges of secrets                                                |
//! | `window`          | Bounded view of the bytes around a keyword, with an end-of-input flag |
//! | `vendor_keys`     | Table of vendor key formats                                           |
//! | `key_pattern`     | One entry of that table, and its matcher                              |
//! | `token_formats`   | Tokens without a unique prefix: JWT, bot tokens, webhook URLs         |
//! | `token_kind`      | Recognizes a token by its own format, and its kind                    |
//! | `key_block`       | Multi-line private keys                                               |
//! | `url_password`    | Passwords in URLs                                                     |
//! | `auth_header`     | Credentials after `Bearer` and `Basic`                                |
//! | `assignment`      | Name, operator and value                                              |
//! | `operator`        | Parser for the syntax between a name and its value                    |
//! | `secret_names`    | Classifies names such as `api_key`                                    |
//! | `secret_value`    | Heuristics that tell secret values from other values                  |
//! | `known_values`    | Exact values, such as API keys from the environment                   |
//! | `placeholder`     | Writes, parses and counts placeholders                                |
//! | `stream_redactor` | Streaming redaction with a bounded buffer                             |
//! | `secret_file`     | Strict mode for files whose name marks them as secret                 |
mod assignment;
mod auth_header;
mod key_block;
mod key_pattern;
mod keywords;
mod known_values;
mod operator;
mod placeholder;
mod redactor;
mod scan;
mod secret_file;
mod secret_names;
mod secret_span;
mod secret_value;
mod stream_redactor;
#[cfg(test)]
mod tests;
mod token_formats;
mod token_kind;
mod url_password;
mod vendor_keys;
mod window;

pub use placeholder::{RedactionCounts, count_placeholders};
pub use redactor::{RedactedText, Redactor, Secrets, UNPINNED_SCOPE};
pub use stream_redactor::{StreamRedactor, redact_stream};
