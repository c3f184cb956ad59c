//! Streaming filter that shows the readable part of a reply while its tokens arrive. In prose it
//! hides the claims block. In a JSON object it shows only the string values of certain keys. The
//! entry point is `StreamPreview`.

/// JSON keys whose string values are shown.
const SPOKEN: &[&str] =
    &["comment", "reason", "reasoning", "because", "claim", "text", "recommendation"];

/// Replaces a UTF-16 surrogate without its other half.
const LOST: char = char::REPLACEMENT_CHARACTER;

/// Incremental parser of one streamed reply. The output does not depend on how the stream is cut
/// into chunks.
#[derive(Debug)]
pub struct Aloud(Form);

#[derive(Debug)]
enum Form {
    Prose(Prose),
    Object(Object),
}

impl Aloud {
    /// Preview of a prose reply, which may contain a claims block.
    pub fn prose() -> Aloud {
        Aloud(Form::Prose(Prose { fresh: true, ..Prose::default() }))
    }

    /// Preview of a reply that is one JSON object.
    pub fn object() -> Aloud {
        Aloud(Form::Object(Object::default()))
    }

    /// Parses the next chunk of the stream and returns the text that can be shown now.
    pub fn push(&mut self, delta: &str) -> String {
        let mut shown = String::new();
        for c in delta.chars() {
            match &mut self.0 {
                Form::Prose(prose) => prose.take(c, &mut shown),
                Form::Object(object) => object.take(c, &mut shown),
            }
        }
        shown
    }

    /// Ends the stream and returns the text that was still buffered.
    pub fn end(&mut self) -> String {
        let mut shown = String::new();
        match &mut self.0 {
            Form::Prose(prose) => prose.end(&mut shown),
            Form::Object(object) => object.close(&mut shown),
        }
        shown
    }
}

#[derive(Debug, Default)]
struct Prose {
    /// Buffered white space, dropped if a claims block follows.
    space: String,
    /// Buffered start of a line that may become the fence that opens a claims block.
    mark: String,
    /// Whether the current line is still empty, so that a fence may start here.
    fresh: bool,
    /// The current line inside a claims block. `None` outside of one.
    hidden: Option<String>,
    any_shown: bool,
    /// Whether nothing has been shown since the last claims block.
    just_hidden: bool,
}

impl Prose {
    fn take(&mut self, c: char, shown: &mut String) {
        if let Some(line) = &mut self.hidden {
            if c != '\n' {
                line.push(c);
            } else if line.trim() == "```" {
                self.hidden = None;
                self.fresh = true;
                self.space.extend(self.any_shown.then_some('\n'));
            } else {
                line.clear();
            }
        } else if c == '\n' && opens(&self.mark) {
            self.hide();
        } else if self.mark.is_empty() && c.is_whitespace() {
            self.space.push(c);
            self.fresh |= c == '\n';
        } else {
            self.mark.push(c);
            if c == '\n' || !self.fresh || !may_open(&self.mark) {
                self.let_go(shown);
                self.fresh = c == '\n';
            }
        }
    }

    fn hide(&mut self) {
        self.space.clear();
        self.mark.clear();
        self.hidden = Some(String::new());
        self.just_hidden = true;
    }

    /// Shows the buffered text, except for trailing white space.
    fn let_go(&mut self, shown: &mut String) {
        let words = self.mark.trim_end().len();
        shown.push_str(&self.space);
        shown.push_str(&self.mark[..words]);
        self.space = self.mark.split_off(words);
        self.mark.clear();
        self.any_shown = true;
        self.just_hidden = false;
    }

    fn end(&mut self, shown: &mut String) {
        if opens(&self.mark) {
            self.hide();
        }
        if self.hidden.is_some() || (self.just_hidden && self.mark.is_empty()) {
            self.space.clear();
            return;
        }
        shown.push_str(&self.space);
        shown.push_str(&self.mark);
        self.space.clear();
        self.mark.clear();
    }
}

fn opens(line: &str) -> bool {
    line.strip_prefix("```").is_some_and(|mark| mark.trim() == "claims")
}

fn may_open(line: &str) -> bool {
    match line.strip_prefix("```").map(str::trim_start) {
        // White space ends the fence's info string, so a prefix of `claims` can no longer match.
        Some(mark) => "claims".starts_with(mark) || opens(line),
        None => "```".starts_with(line),
    }
}

#[derive(Debug, Default)]
struct Object {
    /// Number of open braces. At depth 0 the parser skips code fences and prose.
    depth: usize,
    /// The last complete string, which is a key if a colon follows.
    word: Option<String>,
    /// The key whose value comes next.
    name: Option<String>,
    string: Option<Text>,
    any_shown: bool,
}

/// A JSON string that is being parsed.
#[derive(Debug)]
struct Text {
    spoken: bool,
    /// Buffered start of a hidden string, long enough to compare with a key.
    word: String,
    first: bool,
    escape: Escape,
    /// High surrogate of a pair whose low surrogate has not arrived yet.
    half: Option<u32>,
}

#[derive(Debug, PartialEq, Eq)]
enum Escape {
    No,
    Begun,
    /// Number of hex digits of a `\u` escape parsed so far, and their value.
    Code(u8, u32),
}

impl Object {
    fn take(&mut self, c: char, shown: &mut String) {
        if self.string.is_some() {
            self.within(c, shown);
        } else if c == '{' {
            self.depth += 1;
            self.forget();
        } else if self.depth == 0 || c.is_whitespace() {
        } else if c == '"' {
            let spoken = self.name.take().is_some_and(|name| SPOKEN.contains(&name.as_str()));
            self.word = None;
            let (word, escape) = (String::new(), Escape::No);
            self.string = Some(Text { spoken, word, first: true, escape, half: None });
        } else if c == ':' {
            self.name = self.word.take();
        } else {
            self.depth -= usize::from(c == '}');
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.word = None;
        self.name = None;
    }

    fn within(&mut self, c: char, shown: &mut String) {
        let Some(text) = &mut self.string else { return };
        match text.escape {
            Escape::No if c == '"' => self.close(shown),
            Escape::No if c == '\\' => text.escape = Escape::Begun,
            Escape::No => self.say(c, shown),
            Escape::Begun if c == 'u' => text.escape = Escape::Code(0, 0),
            Escape::Begun => {
                text.escape = Escape::No;
                match c {
                    'n' => self.say('\n', shown),
                    't' => self.say('\t', shown),
                    'r' => self.say('\r', shown),
                    'b' => self.say('\u{8}', shown),
                    'f' => self.say('\u{c}', shown),
                    '"' | '\\' | '/' => self.say(c, shown),
                    // An invalid JSON escape such as `\d` is most likely a regex, so it is shown
                    // unchanged.
                    _ => {
                        self.say('\\', shown);
                        self.say(c, shown);
                    }
                }
            }
            Escape::Code(digits, value) => match c.to_digit(16) {
                Some(digit) if digits < 3 => {
                    text.escape = Escape::Code(digits + 1, value * 16 + digit);
                }
                Some(digit) => {
                    text.escape = Escape::No;
                    self.unit(value * 16 + digit, shown);
                }
                None => {
                    text.escape = Escape::No;
                    self.say(LOST, shown);
                    self.within(c, shown);
                }
            },
        }
    }

    /// Handles one UTF-16 code unit: a character, or half of a surrogate pair.
    fn unit(&mut self, unit: u32, shown: &mut String) {
        let Some(text) = &mut self.string else { return };
        match (text.half, unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                text.half = None;
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                self.say(char::from_u32(code).unwrap_or(LOST), shown);
            }
            (_, 0xD800..=0xDBFF) => {
                self.settle(shown);
                if let Some(text) = &mut self.string {
                    text.half = Some(unit);
                }
            }
            _ => self.say(char::from_u32(unit).unwrap_or(LOST), shown),
        }
    }

    /// Shows a replacement character for a high surrogate that has no low surrogate.
    fn settle(&mut self, shown: &mut String) {
        if self.string.as_mut().is_some_and(|text| text.half.take().is_some()) {
            self.say(LOST, shown);
        }
    }

    fn say(&mut self, c: char, shown: &mut String) {
        self.settle(shown);
        let Some(text) = &mut self.string else { return };
        if !text.spoken {
            if text.word.len() < 32 {
                text.word.push(c);
            }
            return;
        }
        if text.first && self.any_shown {
            shown.push('\n');
        }
        text.first = false;
        self.any_shown = true;
        shown.push(c);
    }

    /// Closes the current string, at its end quote or at the end of the stream.
    fn close(&mut self, shown: &mut String) {
        self.settle(shown);
        self.word = self.string.take().filter(|text| !text.spoken).map(|text| text.word);
    }
}
