//! What models write, as markup that can do nothing: raw HTML is text, links lead only where they
//! may, pictures are not fetched, and nothing is deeper or larger than a page bears. Whatever comes
//! in, every element that is opened is closed.
use super::html::{Html, bounded, html};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Characters of one text that are rendered; what is beyond is shown as it is.
const LONGEST: usize = 300_000;
/// Elements within each other.
const DEEPEST: usize = 24;
/// Rows of a table.
const ROWS: usize = 200;
/// Columns of a table.
const COLUMNS: usize = 20;
/// Pieces of one text that are rendered; what is beyond is shown as it is.
const PIECES: usize = 400_000;
/// Characters of an address.
const ADDRESS: usize = 2_000;
/// Quotes, lists and the like that are opened at the beginning of one line.
const OPENED: usize = 64;

/// Somebody's Markdown. Its headings come below `under`, the level of the heading it stands under.
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

/// The same text without lines that open more than a parser should be asked to keep open.
fn shallow(text: &str) -> String {
    let mark = |c: char| matches!(c, '>' | '-' | '+' | '*' | ' ' | '\t');
    let line = |line: &str| {
        let begins = line.len() - line.trim_start_matches(mark).len();
        let opens = line[..begins].matches(|c| !matches!(c, ' ' | '\t')).count();
        // A rule is a line of nothing but marks, and opens nothing.
        let rule = begins == line.trim_end().len() && !line.contains('>');
        if opens <= OPENED || rule {
            return line.to_owned();
        }
        format!("> {}", line[begins..].trim_start_matches(mark))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// What closes an element, or nothing where none was opened.
type Close = &'static str;

struct Writer {
    out: Html,
    open: Vec<Close>,
    /// The level of the last heading.
    level: u8,
    under: u8,
    /// How many links are open: there is none within another.
    links: usize,
    /// Where links that lead nowhere would have led.
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
    /// Whether what comes now is beyond what is shown.
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

    /// Opens an element, unless it would be too deep.
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
                // What is larger is no number to a browser.
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
            // None of these is switched on.
            _ => self.enter(&Html::new(), ""),
        }
    }

    /// What stands in a table, as far as there is room in it. Says whether that was all.
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

    /// No heading is more than one level below the one before it.
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
                    // Between rows nothing is beyond the last column.
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

/// Where a link may lead: to the web, to a letter, or within the page.
fn may_lead(address: &str) -> bool {
    let begins = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let plain = !address.contains(|c: char| c.is_whitespace() || c.is_control());
    let known = begins("http://") || begins("https://") || begins("mailto:") || begins("#");
    plain && known && address.len() <= ADDRESS
}
