//! Streaming filter that shows the readable part of a reply while its tokens arrive. In prose it
//! hides the claims block. In a JSON object it shows only the string values of certain keys. The
//! entry point is `StreamPreview`.

/// JSON keys whose string values are shown.
const SHOWN_KEYS: &[&str] =
    &["comment", "reason", "reasoning", "because", "claim", "text", "recommendation"];

/// Bytes buffered of a hidden string. More than the longest of `SHOWN_KEYS`.
const MAX_KEY_BYTES: usize = 32;

/// Replaces a UTF-16 surrogate without its other half.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Incremental parser of one streamed reply. The output does not depend on how the stream is cut
/// into chunks.
#[derive(Debug)]
pub struct StreamPreview(PreviewParser);

#[derive(Debug)]
enum PreviewParser {
    Prose(ProseParser),
    Json(JsonParser),
}

impl StreamPreview {
    /// Preview of a prose reply, which may contain a claims block.
    pub fn prose() -> StreamPreview {
        StreamPreview(PreviewParser::Prose(ProseParser {
            at_line_start: true,
            ..ProseParser::default()
        }))
    }

    /// Preview of a reply that is one JSON object.
    pub fn json_object() -> StreamPreview {
        StreamPreview(PreviewParser::Json(JsonParser::default()))
    }

    /// Parses the next chunk of the stream and returns the text that can be shown now.
    pub fn push(&mut self, delta: &str) -> String {
        let mut out = String::new();
        for c in delta.chars() {
            match &mut self.0 {
                PreviewParser::Prose(prose) => prose.push_char(c, &mut out),
                PreviewParser::Json(object) => object.push_char(c, &mut out),
            }
        }
        out
    }

    /// Ends the stream and returns the text that was still buffered.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        match &mut self.0 {
            PreviewParser::Prose(prose) => prose.finish(&mut out),
            PreviewParser::Json(object) => object.close_string(&mut out),
        }
        out
    }
}

#[derive(Debug, Default)]
struct ProseParser {
    /// Buffered white space, dropped if a claims block follows.
    pending_space: String,
    /// Buffered start of a line that may become the fence that opens a claims block.
    pending_fence: String,
    /// Whether the current line is still empty, so that a fence may start here.
    at_line_start: bool,
    /// The current line inside a claims block. `None` outside of one.
    claims_line: Option<String>,
    any_shown: bool,
    /// Whether nothing has been shown since the last claims block.
    after_claims: bool,
}

impl ProseParser {
    fn push_char(&mut self, c: char, out: &mut String) {
        if let Some(line) = &mut self.claims_line {
            if c != '\n' {
                line.push(c);
            } else if line.trim() == "```" {
                self.claims_line = None;
                self.at_line_start = true;
                self.pending_space.extend(self.any_shown.then_some('\n'));
            } else {
                line.clear();
            }
        } else if c == '\n' && is_claims_fence(&self.pending_fence) {
            self.enter_claims();
        } else if self.pending_fence.is_empty() && c.is_whitespace() {
            self.pending_space.push(c);
            self.at_line_start |= c == '\n';
        } else {
            self.pending_fence.push(c);
            if c == '\n' || !self.at_line_start || !is_claims_fence_prefix(&self.pending_fence) {
                self.flush(out);
                self.at_line_start = c == '\n';
            }
        }
    }

    fn enter_claims(&mut self) {
        self.pending_space.clear();
        self.pending_fence.clear();
        self.claims_line = Some(String::new());
        self.after_claims = true;
    }

    /// Shows the buffered text, except for trailing white space.
    fn flush(&mut self, out: &mut String) {
        let text_len = self.pending_fence.trim_end().len();
        out.push_str(&self.pending_space);
        out.push_str(&self.pending_fence[..text_len]);
        self.pending_space = self.pending_fence.split_off(text_len);
        self.pending_fence.clear();
        self.any_shown = true;
        self.after_claims = false;
    }

    fn finish(&mut self, out: &mut String) {
        if is_claims_fence(&self.pending_fence) {
            self.enter_claims();
        }
        if self.claims_line.is_some() || (self.after_claims && self.pending_fence.is_empty()) {
            self.pending_space.clear();
            return;
        }
        out.push_str(&self.pending_space);
        out.push_str(&self.pending_fence);
        self.pending_space.clear();
        self.pending_fence.clear();
    }
}

fn is_claims_fence(line: &str) -> bool {
    line.strip_prefix("```").is_some_and(|info| info.trim() == "claims")
}

fn is_claims_fence_prefix(line: &str) -> bool {
    match line.strip_prefix("```").map(str::trim_start) {
        // White space ends the fence's info string, so a prefix of `claims` can no longer match.
        Some(info) => "claims".starts_with(info) || is_claims_fence(line),
        None => "```".starts_with(line),
    }
}

#[derive(Debug, Default)]
struct JsonParser {
    /// Number of open braces. At depth 0 the parser skips code fences and prose.
    depth: usize,
    /// The last complete string, which is a key if a colon follows.
    last_string: Option<String>,
    /// The key whose value comes next.
    pending_key: Option<String>,
    open_string: Option<OpenString>,
    any_shown: bool,
}

/// A JSON string that is being parsed.
#[derive(Debug)]
struct OpenString {
    is_shown: bool,
    /// Buffered start of a hidden string, long enough to compare with a key.
    key_prefix: String,
    at_start: bool,
    escape: EscapeState,
    /// High surrogate of a pair whose low surrogate has not arrived yet.
    high_surrogate: Option<u32>,
}

#[derive(Debug, PartialEq, Eq)]
enum EscapeState {
    Outside,
    Backslash,
    /// Number of hex digits of a `\u` escape parsed so far, and their value.
    Unicode(u8, u32),
}

impl JsonParser {
    fn push_char(&mut self, c: char, out: &mut String) {
        if self.open_string.is_some() {
            self.push_string_char(c, out);
        } else if c == '{' {
            self.depth += 1;
            self.clear_key();
        } else if self.depth == 0 || c.is_whitespace() {
        } else if c == '"' {
            let is_shown =
                self.pending_key.take().is_some_and(|name| SHOWN_KEYS.contains(&name.as_str()));
            self.last_string = None;
            let (key_prefix, escape) = (String::new(), EscapeState::Outside);
            self.open_string = Some(OpenString {
                is_shown,
                key_prefix,
                at_start: true,
                escape,
                high_surrogate: None,
            });
        } else if c == ':' {
            self.pending_key = self.last_string.take();
        } else {
            self.depth -= usize::from(c == '}');
            self.clear_key();
        }
    }

    fn clear_key(&mut self) {
        self.last_string = None;
        self.pending_key = None;
    }

    fn push_string_char(&mut self, c: char, out: &mut String) {
        let Some(string) = &mut self.open_string else { return };
        match string.escape {
            EscapeState::Outside if c == '"' => self.close_string(out),
            EscapeState::Outside if c == '\\' => string.escape = EscapeState::Backslash,
            EscapeState::Outside => self.emit(c, out),
            EscapeState::Backslash if c == 'u' => string.escape = EscapeState::Unicode(0, 0),
            EscapeState::Backslash => {
                string.escape = EscapeState::Outside;
                match c {
                    'n' => self.emit('\n', out),
                    't' => self.emit('\t', out),
                    'r' => self.emit('\r', out),
                    'b' => self.emit('\u{8}', out),
                    'f' => self.emit('\u{c}', out),
                    '"' | '\\' | '/' => self.emit(c, out),
                    // An invalid JSON escape such as `\d` is most likely a regex, so it is shown
                    // unchanged.
                    _ => {
                        self.emit('\\', out);
                        self.emit(c, out);
                    }
                }
            }
            EscapeState::Unicode(digits, value) => match c.to_digit(16) {
                Some(digit) if digits < 3 => {
                    string.escape = EscapeState::Unicode(digits + 1, value * 16 + digit);
                }
                Some(digit) => {
                    string.escape = EscapeState::Outside;
                    self.push_utf16_unit(value * 16 + digit, out);
                }
                None => {
                    string.escape = EscapeState::Outside;
                    self.emit(REPLACEMENT, out);
                    self.push_string_char(c, out);
                }
            },
        }
    }

    /// Handles one UTF-16 code unit: a character, or half of a surrogate pair.
    fn push_utf16_unit(&mut self, unit: u32, out: &mut String) {
        let Some(string) = &mut self.open_string else { return };
        match (string.high_surrogate, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                string.high_surrogate = None;
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                self.emit(char::from_u32(code).unwrap_or(REPLACEMENT), out);
            }
            (_, 0xD800..=0xDBFF) => {
                self.flush_surrogate(out);
                if let Some(string) = &mut self.open_string {
                    string.high_surrogate = Some(unit);
                }
            }
            _ => self.emit(char::from_u32(unit).unwrap_or(REPLACEMENT), out),
        }
    }

    /// Shows a replacement character for a high surrogate that has no low surrogate.
    fn flush_surrogate(&mut self, out: &mut String) {
        if self.open_string.as_mut().is_some_and(|string| string.high_surrogate.take().is_some()) {
            self.emit(REPLACEMENT, out);
        }
    }

    fn emit(&mut self, c: char, out: &mut String) {
        self.flush_surrogate(out);
        let Some(string) = &mut self.open_string else { return };
        if !string.is_shown {
            if string.key_prefix.len() < MAX_KEY_BYTES {
                string.key_prefix.push(c);
            }
            return;
        }
        if string.at_start && self.any_shown {
            out.push('\n');
        }
        string.at_start = false;
        self.any_shown = true;
        out.push(c);
    }

    /// Closes the current string, at its end quote or at the end of the stream.
    fn close_string(&mut self, out: &mut String) {
        self.flush_surrogate(out);
        self.last_string = self
            .open_string
            .take()
            .filter(|string| !string.is_shown)
            .map(|string| string.key_prefix);
    }
}

#[cfg(test)]
mod tests;
