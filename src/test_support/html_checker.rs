//! A minimal HTML checker: balanced tags, allow-lists for elements and attributes, escaped text,
//! unique ids, and no script URLs.

/// Void elements, which have no end tag.
const VOID_ELEMENTS: &[&str] = &["br", "hr", "input", "meta", "link"];
/// Allow-list of elements.
const ALLOWED_ELEMENTS: &[&str] = &[
    "html",
    "head",
    "title",
    "script",
    "style",
    "body",
    "a",
    "header",
    "nav",
    "ul",
    "ol",
    "li",
    "main",
    "footer",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "article",
    "div",
    "span",
    "dl",
    "dt",
    "dd",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "time",
    "form",
    "label",
    "input",
    "textarea",
    "button",
    "fieldset",
    "legend",
    "select",
    "option",
    "details",
    "summary",
    "code",
    "pre",
    "blockquote",
    "em",
    "strong",
    "b",
    "s",
    "del",
    "q",
    "mark",
    "svg",
    "g",
    "text",
    "line",
    "circle",
    "br",
    "hr",
    "meta",
    "link",
];
/// Allow-list of attributes, besides `data-*` and `aria-*`.
const ALLOWED_ATTRIBUTES: &[&str] = &[
    "lang",
    "charset",
    "name",
    "content",
    "http-equiv",
    "rel",
    "href",
    "type",
    "src",
    "class",
    "id",
    "role",
    "title",
    "scope",
    "datetime",
    "download",
    "method",
    "action",
    "value",
    "required",
    "maxlength",
    "rows",
    "for",
    "min",
    "max",
    "selected",
    "start",
    "tabindex",
    "hidden",
    "viewBox",
    "font-size",
    "fill",
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "cx",
    "cy",
    "r",
    "stroke",
    "stroke-width",
    "dominant-baseline",
];

/// The first error in the markup, if any.
pub(crate) fn find_html_error(markup: &str) -> Option<String> {
    let mut open_tags: Vec<String> = vec![];
    let mut ids: Vec<String> = vec![];
    let mut rest = markup.strip_prefix("<!doctype html>\n").unwrap_or(markup);
    while let Some(index) = rest.find('<') {
        if let Some(error) = find_unescaped_char(&rest[..index]) {
            return Some(error);
        }
        rest = &rest[index + 1..];
        if let Some(end_tag) = rest.strip_prefix('/') {
            let Some((name, after)) = end_tag.split_once('>') else {
                return Some("an end tag without `>`".into());
            };
            if open_tags.pop().as_deref() != Some(name) {
                return Some(format!("</{name}> has no matching start tag"));
            }
            rest = after;
            continue;
        }
        let (name, attributes, after) = match parse_tag(rest) {
            Ok(parsed) => parsed,
            Err(error) => return Some(error),
        };
        if !ALLOWED_ELEMENTS.contains(&name.as_str()) {
            return Some(format!("<{name}> is not an allowed element"));
        }
        for (attribute, value) in attributes {
            if let Some(error) = find_attribute_error(&name, &attribute, &value) {
                return Some(error);
            }
            if attribute == "id" {
                if ids.contains(&value) {
                    return Some(format!("two elements have the id {value}"));
                }
                ids.push(value);
            }
        }
        rest = after.1;
        if !after.0 && !VOID_ELEMENTS.contains(&name.as_str()) {
            if name == "style" {
                rest = rest.split_once("</style>")?.1;
                continue;
            }
            open_tags.push(name);
        }
    }
    find_unescaped_char(rest)
        .or_else(|| open_tags.pop().map(|name| format!("<{name}> is not closed")))
}

/// The first unescaped or invisible character in a text node, if any.
fn find_unescaped_char(text: &str) -> Option<String> {
    if text.contains('>') {
        return Some(format!("an unescaped > in {text:?}"));
    }
    for (index, _) in text.match_indices('&') {
        let entities = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        if !entities.iter().any(|entity| text[index + 1..].starts_with(entity)) {
            return Some(format!("an unescaped & in {text:?}"));
        }
    }
    let is_invisible = |c: char| debate_mcp::debate::invisible_chars::is_invisible(c);
    let mut previous = ' ';
    for c in text.chars() {
        if is_invisible(c) && !debate_mcp::debate::invisible_chars::is_visible_joiner(c, previous) {
            return Some(format!("{c:?} is invisible"));
        }
        previous = c;
    }
    None
}

type ParsedTag<'a> = (String, Vec<(String, String)>, (bool, &'a str));

fn parse_tag(rest: &str) -> Result<ParsedTag<'_>, String> {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).ok_or("a tag without an end")?;
    let (name, mut rest) = rest.split_at(end);
    let mut attributes = vec![];
    loop {
        rest = rest.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix("/>") {
            return Ok((name.into(), attributes, (true, after)));
        }
        if let Some(after) = rest.strip_prefix('>') {
            return Ok((name.into(), attributes, (false, after)));
        }
        let end = rest.find([' ', '=', '>']).ok_or("an attribute without an end")?;
        let attribute = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let (inner, after) = quoted.split_once('"').ok_or("a value without an end")?;
            (value, rest) = (inner.to_owned(), after);
        } else if rest.starts_with('=') {
            return Err(format!("{attribute} of <{name}> is not quoted"));
        }
        attributes.push((attribute, value));
    }
}

fn find_attribute_error(element: &str, attribute: &str, value: &str) -> Option<String> {
    let is_allowed = ALLOWED_ATTRIBUTES.contains(&attribute)
        || attribute.starts_with("data-")
        || attribute.starts_with("aria-");
    if !is_allowed {
        return Some(format!("{attribute} of <{element}> is not an allowed attribute"));
    }
    if value.contains('<') {
        return Some(format!("an unescaped < in {attribute}={value:?}"));
    }
    let is_url = matches!(attribute, "href" | "src" | "action");
    let safe_prefixes = ["/", "#", "http://", "https://", "mailto:"];
    let lowercase = value.to_lowercase();
    if is_url && !safe_prefixes.iter().any(|prefix| lowercase.starts_with(prefix)) {
        return Some(format!("<{element}> links to {value:?}"));
    }
    None
}

#[test]
fn html_checker_finds_each_kind_of_error() {
    for good in ["", "<p>a &amp; b</p>", "<ul><li>x<br>y</li></ul>", "<a href=\"#x\">y</a>"] {
        assert_eq!(find_html_error(good), None, "{good}");
    }
    for bad in [
        "<p>",
        "</p>",
        "<p><em></p></em>",
        "<iframe></iframe>",
        "<p onclick=\"x\"></p>",
        "<p style=\"x\"></p>",
        "<a href=\"javascript:x\">y</a>",
        "<a href=\"data:x\">y</a>",
        "a & b",
        "a > b",
        "<p id=\"a\"></p><p id=\"a\"></p>",
        "<p class=x></p>",
        "\u{202e}",
    ] {
        assert!(find_html_error(bad).is_some(), "{bad}");
    }
}
