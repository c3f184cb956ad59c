//! Renders untrusted Markdown as safe HTML. Raw HTML is escaped, link schemes are checked against
//! an allow-list, images are not loaded, and size and nesting are limited. Every opened element is
//! closed, whatever the input. Parsing is done by `pulldown_cmark`.
use super::html::{Html, bounded, html};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Maximum number of characters that are parsed. The rest is shown as plain text.
const LONGEST: usize = 300_000;
/// Maximum nesting depth of elements.
const DEEPEST: usize = 24;
/// Maximum number of rows of a table.
const ROWS: usize = 200;
/// Maximum number of columns of a table.
const COLUMNS: usize = 20;
/// Maximum number of parser events. The rest is shown as plain text.
const PIECES: usize = 400_000;
/// Maximum length of a URL, in bytes.
const ADDRESS: usize = 2_000;
/// Maximum number of block quotes and lists opened by a single line.
const OPENED: usize = 64;

/// Renders a Markdown text. Its headings start below level `under`.
pub fn markdown(text: &str, under: u8) -> Html {
    let whole = shallow(text);
    let end = whole.char_indices().nth(LONGEST).map_or(whole.len(), |(at, _)| at);
    let (text, rest) = whole.split_at(end);
    let mut options = Options::empty();
    options.insert(Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut writer = Writer::new(under);
    let mut beyond = rest;
    for (nth, (event, at)) in Parser::new_ext(text, options).into_offset_iter().enumerate() {
        if nth >= PIECES {
            beyond = &whole[at.start..];
            break;
        }
        writer.take(event);
    }
    let mut done = writer.finish();
    if !beyond.is_empty() {
        done.add(&html!("<pre tabindex=\"0\">{}</pre>", beyond));
    }
    done
}

/// Flattens lines that open more blocks than `MAX_LINE_NESTING`, to bound the parser's work.
fn shallow(text: &str) -> String {
    let mark = |c: char| matches!(c, '>' | '-' | '+' | '*' | ' ' | '\t');
    let line = |line: &str| {
        let begins = line.len() - line.trim_start_matches(mark).len();
        let opens = line[..begins].matches(|c| !matches!(c, ' ' | '\t')).count();
        // A thematic break consists of such markers, too, but opens no block.
        let rule = begins == line.trim_end().len() && !line.contains('>');
        if opens <= OPENED || rule {
            return line.to_owned();
        }
        format!("> {}", line[begins..].trim_start_matches(mark))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Closing tag of an element. Empty if the element was not opened.
type Close = &'static str;

struct Writer {
    out: Html,
    open: Vec<Close>,
    /// Level of the last heading.
    level: u8,
    under: u8,
    /// Number of open links. HTML forbids nested links.
    links: usize,
    /// For each open link, its URL if it was blocked. It is shown as text after the link.
    nowhere: Vec<Option<String>>,
    table: Option<Table>,
}

#[derive(Default)]
struct Table {
    head: bool,
    rows: usize,
    column: usize,
    left_out: usize,
}

impl Table {
    /// Whether the current cell exceeds the row or column limit.
    fn beyond(&self) -> bool {
        self.rows > ROWS || self.column > COLUMNS
    }
}

impl Writer {
    fn new(under: u8) -> Writer {
        Writer {
            out: Html::new(),
            open: vec![],
            level: under,
            under,
            links: 0,
            nowhere: vec![],
            table: None,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            _ if self.table.as_ref().is_some_and(Table::beyond) => {}
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.out.say(&text),
            Event::Code(text) => self.out.add(&html!("<code>{}</code>", &*text)),
            Event::SoftBreak => self.out.tag("\n"),
            Event::HardBreak => self.out.tag("<br>"),
            Event::Rule => self.out.tag("<hr>"),
            Event::TaskListMarker(done) => self.out.tag(if done { "[x] " } else { "[ ] " }),
        }
    }

    /// Opens an element, unless the nesting limit is reached.
    fn enter(&mut self, markup: &Html, close: Close) {
        let fits = self.open.len() < DEEPEST;
        if fits {
            self.out.add(markup);
        }
        self.open.push(if fits { close } else { "" });
    }

    fn leave(&mut self) {
        if let Some(close) = self.open.pop() {
            self.out.tag(close);
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if self.in_table(&tag) {
            return;
        }
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.enter(&html!("<p>"), "</p>"),
            Tag::Heading { level, .. } => self.head(level),
            Tag::BlockQuote(_) => self.enter(&html!("<blockquote>"), "</blockquote>"),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        bounded(info.split(' ').next().unwrap_or(""), 30)
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                let open = match language.as_str() {
                    "" => html!("<pre tabindex=\"0\"><code>"),
                    language => html!("<pre tabindex=\"0\" data-language=\"{}\"><code>", language),
                };
                self.enter(&open, "</code></pre>");
            }
            Tag::List(None) => self.enter(&html!("<ul>"), "</ul>"),
            Tag::List(Some(1)) => self.enter(&html!("<ol>"), "</ol>"),
            Tag::List(Some(first)) => {
                // Browsers do not parse larger numbers.
                let first = first.min(999_999_999);
                self.enter(&html!("<ol start=\"{}\">", first), "</ol>");
            }
            Tag::Item => self.enter(&html!("<li>"), "</li>"),
            Tag::Emphasis => self.enter(&html!("<em>"), "</em>"),
            Tag::Strong => self.enter(&html!("<strong>"), "</strong>"),
            Tag::Strikethrough => self.enter(&html!("<s>"), "</s>"),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { .. } => {
                self.enter(&html!("<span class=\"picture\">[picture: "), "]</span>");
            }
            Tag::Table(_) => {
                let open = html!("<div class=\"scroll\" tabindex=\"0\"><table>");
                self.enter(&open, "</table></div>");
                self.table = Some(Table::default());
            }
            // The parser options disable all other tags.
            _ => self.enter(&Html::new(), ""),
        }
    }

    /// Handles a tag inside a table, within the size limits. Returns whether it was handled.
    fn in_table(&mut self, tag: &Tag<'_>) -> bool {
        let Some(mut table) = self.table.take() else { return false };
        let mut done = true;
        match tag {
            Tag::TableHead => {
                (table.head, table.column) = (true, 0);
                self.enter(&html!("<thead><tr>"), "</tr></thead>");
            }
            Tag::TableRow => {
                table.rows += 1;
                (table.head, table.column) = (false, 0);
                let shown = table.rows <= ROWS;
                table.left_out += usize::from(!shown);
                let open = if shown { html!("<tr>") } else { Html::new() };
                self.enter(&open, if shown { "</tr>" } else { "" });
            }
            Tag::TableCell => {
                table.column += 1;
                match (table.beyond(), table.head) {
                    (true, _) => self.enter(&Html::new(), ""),
                    (_, true) => self.enter(&html!("<th scope=\"col\">"), "</th>"),
                    (_, false) => self.enter(&html!("<td>"), "</td>"),
                }
            }
            _ if table.beyond() => self.enter(&Html::new(), ""),
            _ => done = false,
        }
        self.table = Some(table);
        done
    }

    /// Opens a heading at most one level below the previous one, so that no level is skipped.
    fn head(&mut self, level: HeadingLevel) {
        let wanted = self.under.saturating_add(level as u8).min(6);
        let level = wanted.min(self.level.saturating_add(1)).max(2);
        self.level = level;
        let (open, close) = match level {
            2 => (html!("<h2>"), "</h2>"),
            3 => (html!("<h3>"), "</h3>"),
            4 => (html!("<h4>"), "</h4>"),
            5 => (html!("<h5>"), "</h5>"),
            _ => (html!("<h6>"), "</h6>"),
        };
        self.enter(&open, close);
    }

    fn link(&mut self, address: &str) {
        let leads = self.links == 0 && may_lead(address);
        if leads {
            let rel = "nofollow noopener noreferrer";
            self.enter(&html!("<a href=\"{}\" rel=\"{}\">", address, rel), "</a>");
            self.nowhere.push(None);
        } else {
            self.enter(&Html::new(), "");
            self.nowhere.push(Some(bounded(address, 200)));
        }
        self.links += 1;
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link => {
                self.leave();
                self.links = self.links.saturating_sub(1);
                let beyond = self.table.as_ref().is_some_and(Table::beyond);
                if let Some(address) = self.nowhere.pop().flatten().filter(|_| !beyond) {
                    self.out.add(&html!(" (<code>{}</code>)", address));
                }
            }
            TagEnd::Table => {
                let left_out = self.table.take().map_or(0, |table| table.left_out);
                if left_out > 0 && self.open.last().is_some_and(|close| !close.is_empty()) {
                    self.out.add(&html!("<tr><td>… {} more rows</td></tr>", left_out));
                }
                self.leave();
            }
            TagEnd::TableCell | TagEnd::TableRow | TagEnd::TableHead => {
                self.leave();
                if let Some(table) = self.table.as_mut().filter(|_| tag != TagEnd::TableCell) {
                    // Content between rows must not count as beyond the column limit.
                    table.column = 0;
                }
            }
            _ => self.leave(),
        }
    }

    fn finish(mut self) -> Html {
        while !self.open.is_empty() {
            self.leave();
        }
        self.out
    }
}

/// Allow-list of link URLs: `http`, `https`, `mailto` and fragments of the page.
fn may_lead(address: &str) -> bool {
    let begins = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let plain = !address.contains(|c: char| c.is_whitespace() || c.is_control());
    let known = begins("http://") || begins("https://") || begins("mailto:") || begins("#");
    plain && known && address.len() <= ADDRESS
}
