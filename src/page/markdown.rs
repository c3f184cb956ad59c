//! Renders untrusted Markdown as safe HTML. Raw HTML is escaped, link schemes are checked against
//! an allow-list, images are not loaded, and size and nesting are limited. Every opened element is
//! closed, whatever the input. Parsing is done by `pulldown_cmark`.
use super::html::truncate;
use maud::{Markup, PreEscaped, Render};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Maximum number of characters that are parsed. The rest is shown as plain text.
const MAX_CHARS: usize = 300_000;
/// Maximum nesting depth of elements.
const MAX_DEPTH: usize = 24;
/// Maximum number of rows of a table.
const MAX_ROWS: usize = 200;
/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 20;
/// Maximum number of parser events. The rest is shown as plain text.
const MAX_PARSER_EVENTS: usize = 400_000;
/// Maximum length of a URL, in bytes.
const MAX_URL_BYTES: usize = 2_000;
/// Maximum number of block quotes and lists opened by a single line.
const MAX_LINE_NESTING: usize = 64;
/// Maximum length of the language of a code block, in characters.
const MAX_LANGUAGE_CHARS: usize = 30;
/// Characters shown of the URL of a blocked link.
const MAX_BLOCKED_URL_CHARS: usize = 200;
/// Largest start number of an ordered list. Browsers do not parse larger ones.
const MAX_LIST_START: u64 = 999_999_999;

/// Renders a Markdown text. Its headings start below level `under`.
pub(super) fn render_markdown(text: &str, base_level: u8) -> Markup {
    let source = limit_line_nesting(text);
    let end = source.char_indices().nth(MAX_CHARS).map_or(source.len(), |(at, _)| at);
    let (text, rest) = source.split_at(end);
    let mut options = Options::empty();
    options.insert(Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut writer = HtmlWriter::new(base_level);
    let mut unparsed = rest;
    for (index, (event, at)) in Parser::new_ext(text, options).into_offset_iter().enumerate() {
        if index >= MAX_PARSER_EVENTS {
            unparsed = &source[at.start..];
            break;
        }
        writer.handle_event(event);
    }
    let mut out = writer.finish();
    if !unparsed.is_empty() {
        out.push_str("<pre tabindex=\"0\">");
        unparsed.render_to(&mut out);
        out.push_str("</pre>");
    }
    PreEscaped(out)
}

/// Flattens lines that open more blocks than `MAX_LINE_NESTING`, to bound the parser's work.
fn limit_line_nesting(text: &str) -> String {
    let is_marker = |c: char| matches!(c, '>' | '-' | '+' | '*' | ' ' | '\t');
    let line = |line: &str| {
        let prefix_len = line.len() - line.trim_start_matches(is_marker).len();
        let opened_blocks = line[..prefix_len].matches(|c| !matches!(c, ' ' | '\t')).count();
        // A thematic break consists of such markers, too, but opens no block.
        let is_rule = prefix_len == line.trim_end().len() && !line.contains('>');
        if opened_blocks <= MAX_LINE_NESTING || is_rule {
            return line.to_owned();
        }
        format!("> {}", line[prefix_len..].trim_start_matches(is_marker))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Closing tag of an element. Empty if the element was not opened.
type ClosingTag = &'static str;

struct HtmlWriter {
    out: String,
    open_tags: Vec<ClosingTag>,
    /// Level of the last heading.
    last_level: u8,
    base_level: u8,
    /// Number of open links. HTML forbids nested links.
    open_links: usize,
    /// For each open link, its URL if it was blocked. It is shown as text after the link.
    blocked_urls: Vec<Option<String>>,
    table: Option<TableState>,
}

#[derive(Default)]
struct TableState {
    in_head: bool,
    rows: usize,
    column: usize,
    skipped_rows: usize,
}

impl TableState {
    /// Whether the current cell exceeds the row or column limit.
    fn exceeds_limits(&self) -> bool {
        self.rows > MAX_ROWS || self.column > MAX_COLUMNS
    }
}

impl HtmlWriter {
    fn new(base_level: u8) -> HtmlWriter {
        HtmlWriter {
            out: String::new(),
            open_tags: vec![],
            last_level: base_level,
            base_level,
            open_links: 0,
            blocked_urls: vec![],
            table: None,
        }
    }

    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            _ if self.table.as_ref().is_some_and(TableState::exceeds_limits) => {}
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.push_text(&text),
            Event::Code(text) => self.push_wrapped("<code>", &text, "</code>"),
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(checked) => {
                self.out.push_str(if checked { "[x] " } else { "[ ] " });
            }
        }
    }

    /// Appends a text, escaped.
    fn push_text(&mut self, text: &str) {
        text.render_to(&mut self.out);
    }

    /// Appends a text, escaped, between two pieces of markup.
    fn push_wrapped(&mut self, before: &'static str, text: &str, after: &'static str) {
        self.out.push_str(before);
        self.push_text(text);
        self.out.push_str(after);
    }

    /// Opens an element, unless the nesting limit is reached.
    fn open_element(&mut self, open: &'static str, close: ClosingTag) {
        self.open_element_with([open, ""], "", close);
    }

    /// Opens an element like `open_element`. Its start tag is interrupted by a value, which is
    /// escaped.
    fn open_element_with(&mut self, open: [&'static str; 2], value: &str, close: ClosingTag) {
        let fits = self.open_tags.len() < MAX_DEPTH;
        if fits {
            self.push_wrapped(open[0], value, open[1]);
        }
        self.open_tags.push(if fits { close } else { "" });
    }

    fn close_element(&mut self) {
        if let Some(close) = self.open_tags.pop() {
            self.out.push_str(close);
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) {
        if self.start_table_tag(&tag) {
            return;
        }
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.open_element("<p>", "</p>"),
            Tag::Heading { level, .. } => self.open_heading(level),
            Tag::BlockQuote(_) => self.open_element("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        truncate(info.split(' ').next().unwrap_or(""), MAX_LANGUAGE_CHARS)
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                let open = match language.as_str() {
                    "" => ["<pre tabindex=\"0\"><code>", ""],
                    _ => ["<pre tabindex=\"0\" data-language=\"", "\"><code>"],
                };
                self.open_element_with(open, &language, "</code></pre>");
            }
            Tag::List(None) => self.open_element("<ul>", "</ul>"),
            Tag::List(Some(1)) => self.open_element("<ol>", "</ol>"),
            Tag::List(Some(first)) => {
                let first = first.min(MAX_LIST_START).to_string();
                self.open_element_with(["<ol start=\"", "\">"], &first, "</ol>");
            }
            Tag::Item => self.open_element("<li>", "</li>"),
            Tag::Emphasis => self.open_element("<em>", "</em>"),
            Tag::Strong => self.open_element("<strong>", "</strong>"),
            Tag::Strikethrough => self.open_element("<s>", "</s>"),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url),
            Tag::Image { .. } => {
                self.open_element("<span class=\"picture\">[picture: ", "]</span>");
            }
            Tag::Table(_) => {
                let open = "<div class=\"scroll\" tabindex=\"0\"><table>";
                self.open_element(open, "</table></div>");
                self.table = Some(TableState::default());
            }
            // The parser options disable all other tags.
            _ => self.open_element("", ""),
        }
    }

    /// Handles a tag inside a table, within the size limits. Returns whether it was handled.
    fn start_table_tag(&mut self, tag: &Tag<'_>) -> bool {
        let Some(mut table) = self.table.take() else { return false };
        let mut handled = true;
        match tag {
            Tag::TableHead => {
                (table.in_head, table.column) = (true, 0);
                self.open_element("<thead><tr>", "</tr></thead>");
            }
            Tag::TableRow => {
                table.rows += 1;
                (table.in_head, table.column) = (false, 0);
                let is_shown = table.rows <= MAX_ROWS;
                table.skipped_rows += usize::from(!is_shown);
                let (open, close) = if is_shown { ("<tr>", "</tr>") } else { ("", "") };
                self.open_element(open, close);
            }
            Tag::TableCell => {
                table.column += 1;
                match (table.exceeds_limits(), table.in_head) {
                    (true, _) => self.open_element("", ""),
                    (_, true) => self.open_element("<th scope=\"col\">", "</th>"),
                    (_, false) => self.open_element("<td>", "</td>"),
                }
            }
            _ if table.exceeds_limits() => self.open_element("", ""),
            _ => handled = false,
        }
        self.table = Some(table);
        handled
    }

    /// Opens a heading at most one level below the previous one, so that no level is skipped.
    fn open_heading(&mut self, level: HeadingLevel) {
        let requested = self.base_level.saturating_add(level as u8).min(6);
        let level = requested.min(self.last_level.saturating_add(1)).max(2);
        self.last_level = level;
        let (open, close) = match level {
            2 => ("<h2>", "</h2>"),
            3 => ("<h3>", "</h3>"),
            4 => ("<h4>", "</h4>"),
            5 => ("<h5>", "</h5>"),
            _ => ("<h6>", "</h6>"),
        };
        self.open_element(open, close);
    }

    fn open_link(&mut self, url: &str) {
        let is_linked = self.open_links == 0 && is_allowed_url(url);
        if is_linked {
            let open = ["<a href=\"", "\" rel=\"nofollow noopener noreferrer\">"];
            self.open_element_with(open, url, "</a>");
            self.blocked_urls.push(None);
        } else {
            self.open_element("", "");
            self.blocked_urls.push(Some(truncate(url, MAX_BLOCKED_URL_CHARS)));
        }
        self.open_links += 1;
    }

    fn end_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link => {
                self.close_element();
                self.open_links = self.open_links.saturating_sub(1);
                let exceeds_limits = self.table.as_ref().is_some_and(TableState::exceeds_limits);
                if let Some(url) = self.blocked_urls.pop().flatten().filter(|_| !exceeds_limits) {
                    self.push_wrapped(" (<code>", &url, "</code>)");
                }
            }
            TagEnd::Table => {
                let skipped_rows = self.table.take().map_or(0, |table| table.skipped_rows);
                if skipped_rows > 0 && self.open_tags.last().is_some_and(|close| !close.is_empty())
                {
                    let rows = skipped_rows.to_string();
                    self.push_wrapped("<tr><td>… ", &rows, " more rows</td></tr>");
                }
                self.close_element();
            }
            TagEnd::TableCell | TagEnd::TableRow | TagEnd::TableHead => {
                self.close_element();
                if let Some(table) = self.table.as_mut().filter(|_| tag != TagEnd::TableCell) {
                    // Content between rows must not count as beyond the column limit.
                    table.column = 0;
                }
            }
            _ => self.close_element(),
        }
    }

    fn finish(mut self) -> String {
        while !self.open_tags.is_empty() {
            self.close_element();
        }
        self.out
    }
}

/// Allow-list of link URLs: `http`, `https`, `mailto` and fragments of the page.
fn is_allowed_url(url: &str) -> bool {
    let has_prefix = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let is_plain = !url.contains(|c: char| c.is_whitespace() || c.is_control());
    let has_allowed_scheme =
        has_prefix("http://") || has_prefix("https://") || has_prefix("mailto:") || has_prefix("#");
    is_plain && has_allowed_scheme && url.len() <= MAX_URL_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> String {
        render_markdown(text, 3).into_string()
    }

    /// Number of times a piece of markup occurs in the rendered text.
    fn count(text: &str, markup: &str) -> usize {
        render(text).matches(markup).count()
    }

    #[test]
    fn text_is_parsed_up_to_300_000_characters() {
        assert_eq!(MAX_CHARS, 300_000);
        let text = "词".repeat(MAX_CHARS);
        assert_eq!(render(&text), format!("<p>{text}</p>"));
        let rest = "<pre tabindex=\"0\">词</pre>";
        assert_eq!(render(&format!("{text}词")), format!("<p>{text}</p>{rest}"));
    }

    #[test]
    fn elements_are_nested_24_deep() {
        assert_eq!(MAX_DEPTH, 24);
        for (quotes, expected) in [(23, (23, 1)), (24, (24, 0)), (25, (24, 0))] {
            let text = "> ".repeat(quotes) + "deep";
            assert_eq!((count(&text, "<blockquote>"), count(&text, "<p>")), expected, "{quotes}");
        }
    }

    #[test]
    fn line_opens_at_most_64_blocks() {
        assert_eq!(MAX_LINE_NESTING, 64);
        let line = ">".repeat(MAX_LINE_NESTING) + "deep";
        assert_eq!(limit_line_nesting(&line), line);
        assert_eq!(limit_line_nesting(&format!(">{line}")), "> deep");
    }

    #[test]
    fn table_has_at_most_200_rows_and_20_columns() {
        assert_eq!((MAX_ROWS, MAX_COLUMNS), (200, 20));
        let table = |columns: usize, rows: usize| {
            let row = |cell: &str| cell.repeat(columns) + "|\n";
            row("|a") + &row("|-") + &row("|b").repeat(rows)
        };
        let fitting = table(MAX_COLUMNS, MAX_ROWS);
        assert_eq!((count(&fitting, "<th "), count(&fitting, "<td>")), (20, 200 * 20));
        assert_eq!(count(&fitting, "more rows"), 0);
        let wide = table(MAX_COLUMNS + 1, 1);
        assert_eq!((count(&wide, "<th "), count(&wide, "<td>")), (20, 20));
        let tall = table(1, MAX_ROWS + 1);
        assert_eq!((count(&tall, "<td>b</td>"), count(&tall, "… 1 more rows")), (200, 1));
    }

    #[test]
    fn parser_events_are_limited_to_400_000() {
        assert_eq!(MAX_PARSER_EVENTS, 400_000);
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let event_count = |text: &str| Parser::new_ext(text, options).count();
        // A table has more events than characters. Lines of code fill up the rest: two events each,
        // or one for the first.
        let table = "|a|a\n|-|-\n".to_owned() + &"|a|a\n".repeat(48_000) + "\n";
        let missing = MAX_PARSER_EVENTS - event_count(&format!("{table}x"));
        let first = if missing % 2 == 1 { "x`a`" } else { "x" };
        let fitting = format!("{table}{first}{}", "\n`a`".repeat(missing / 2));
        assert_eq!(event_count(&fitting), MAX_PARSER_EVENTS);
        assert!(fitting.chars().count() < MAX_CHARS);
        assert_eq!(count(&fitting, "<pre"), 0);
        let over = format!("{fitting}\n");
        assert_eq!(event_count(&format!("{over}`a`")), MAX_PARSER_EVENTS + 2);
        assert_eq!(count(&format!("{over}`a`"), "<pre"), 1, "the rest is plain text");
    }

    #[test]
    fn link_has_at_most_2_000_bytes() {
        assert_eq!(MAX_URL_BYTES, 2_000);
        for (bytes, expected) in [(MAX_URL_BYTES, 1), (MAX_URL_BYTES + 1, 0)] {
            let url = format!("{:x<bytes$}", "https://");
            assert_eq!(count(&format!("[link]({url})"), "<a href="), expected, "{bytes}");
        }
    }
}
