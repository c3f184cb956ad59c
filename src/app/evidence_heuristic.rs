//! Heuristic: does a topic ask for something measurable, so that claims should be audited? Matches
//! keywords, and numbers with a unit, in English and Chinese.

/// Keywords by subject. If several match, the first subject wins.
const KEYWORDS: &[(&str, &[&str])] = &[
    (
        "performance",
        &[
            "benchmark",
            "benchmarks",
            "benchmarking",
            "latency",
            "latencies",
            "throughput",
            "performance",
            "performant",
            "faster",
            "fastest",
            "slower",
            "slowest",
            "speed",
            "speedup",
            "ops/s",
            "req/s",
            "memory usage",
            "memory footprint",
            "memory consumption",
            "cpu usage",
            "response time",
            "response times",
            "startup time",
            "build times",
            "compile times",
        ],
    ),
    (
        "cost",
        &[
            "cost",
            "costs",
            "costly",
            "price",
            "prices",
            "pricing",
            "cheaper",
            "cheapest",
            "expensive",
            "tco",
            "licence fee",
            "licence fees",
            "license fee",
            "license fees",
        ],
    ),
    (
        "security",
        &[
            "security",
            "insecure",
            "more secure",
            "most secure",
            "vulnerability",
            "vulnerabilities",
            "vulnerable",
            "cve",
            "cves",
            "exploit",
            "exploits",
            "exploitable",
            "attack surface",
            "pentest",
        ],
    ),
    (
        "market data",
        &[
            "market share",
            "market shares",
            "market size",
            "market data",
            "market cap",
            "adoption rate",
            "adoption rates",
            "downloads",
            "github stars",
            "revenue",
            "sales figures",
        ],
    ),
];

/// Chinese keywords. They match as substrings, because there are no spaces between words.
const HAN_KEYWORDS: &[(&str, &[&str])] = &[
    ("performance", &["性能", "基准", "延迟", "吞吐", "更快", "最快", "内存占用", "响应时间"]),
    ("cost", &["成本", "价格", "费用", "更便宜", "更贵", "定价", "收费"]),
    ("security", &["安全", "漏洞"]),
    ("market data", &["市场", "占有率", "下载量", "采用率", "市值"]),
    ("figures", &["百分之"]),
];

/// Phrases that contain a keyword but mean something else.
const IDIOMS: &[&str] = &[
    "at any cost",
    "at all cost",
    "at all costs",
    "sunk cost",
    "security guard",
    "social security",
    "row level security",
    "performance review",
    "performance reviews",
    "downloads folder",
    "downloads directory",
    "downloads page",
];

/// The same for Chinese, such as type safety, lazy loading and base branch.
const HAN_IDIOMS: &[&str] = &[
    "类型安全",
    "线程安全",
    "内存安全",
    "并发安全",
    "空安全",
    "延迟加载",
    "延迟初始化",
    "延迟绑定",
    "延迟求值",
    "延迟执行",
    "基准分支",
    "不惜成本",
];

/// Units after a number. Single letters are left out: `90s` is a decade, `10m` is ambiguous.
const UNITS: &[&str] = &[
    "ns", "us", "µs", "μs", "ms", "sec", "secs", "second", "seconds", "minute", "minutes", "hour",
    "hours", "days", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "kbps", "mbps",
    "gbps", "hz", "khz", "mhz", "ghz", "fps", "rps", "qps", "tps", "percent", "usd", "eur",
    "dollars", "euros", "cents", "watts", "kwh", "kg", "km",
];

/// Chinese units, directly after a number.
const HAN_UNITS: &[&str] =
    &["毫秒", "微秒", "纳秒", "秒", "分钟", "小时", "倍", "美元", "万元", "欧元"];

/// The measurable subject of a topic, `None` if unsure.
pub(super) fn measurable_subject(topic: &str) -> Option<&'static str> {
    let text = strip_code(topic);
    let words = normalize_words(&text, IDIOMS);
    let han = HAN_IDIOMS.iter().fold(text.clone(), |text, idiom| text.replace(idiom, " "));
    let keyword_match =
        KEYWORDS.iter().find(|(_, all)| all.iter().any(|word| contains_word(&words, word)));
    let han_match = HAN_KEYWORDS.iter().find(|(_, all)| all.iter().any(|word| han.contains(word)));
    let rank =
        |reason: &str| KEYWORDS.iter().position(|(it, _)| *it == reason).unwrap_or(usize::MAX);
    let subjects = keyword_match.iter().chain(&han_match).map(|(reason, _)| *reason);
    subjects.min_by_key(|reason| rank(reason)).or_else(|| has_figure(&text).then_some("figures"))
}

/// The topic in lowercase, without code in backticks.
fn strip_code(topic: &str) -> String {
    let parts: Vec<&str> = topic.split('`').collect();
    let is_closed = parts.len() % 2 == 1;
    let outside_code = parts.into_iter().enumerate().filter(|(nth, _)| nth % 2 == 0 || !is_closed);
    outside_code.map(|(_, part)| part).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Words separated by single spaces. Paths and identifiers become a token that matches nothing.
fn normalize_words(text: &str, idioms: &[&str]) -> String {
    let mut words = String::from(" ");
    let is_separator = |c: char| c.is_whitespace() || !c.is_ascii() && !matches!(c, '’' | '‑');
    for token in text.split(is_separator) {
        let token = token.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        // `price/performance` is not a path.
        let is_path = token.contains('/') && !token.split('/').all(is_keyword);
        if is_keyword(token) {
            words.push_str(token);
        } else if is_path || token.contains(['_', '.', ':', '\\', '@', '=']) {
            words.push('|');
        } else {
            let parts = token.split(|c: char| !c.is_ascii_alphanumeric());
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            words.push_str(&parts.join(" "));
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    idioms.iter().fold(words, |words, idiom| words.replace(&format!(" {idiom} "), " | "))
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|(_, all)| all.contains(&word))
}

fn contains_word(words: &str, word: &str) -> bool {
    words
        .match_indices(word)
        .any(|(at, _)| words[..at].ends_with(' ') && words[at + word.len()..].starts_with(' '))
}

/// Whether there is a number with a unit.
fn has_figure(text: &str) -> bool {
    let mut offset = 0;
    while let Some(found) = text[offset..].find(|c: char| c.is_ascii_digit()) {
        let from = offset + found;
        let number = number_len(&text[from..]);
        offset = from + number;
        if can_precede_number(&text[..from])
            && has_unit(&text[..from], &text[from..offset], &text[offset..])
        {
            return true;
        }
    }
    false
}

/// Length in bytes of the number at the start of a text: `5`, `1,000`, `99.9`, `10-20`.
fn number_len(text: &str) -> usize {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '–');
    let run = &text[..text.find(|c| !part(c)).unwrap_or(text.len())];
    run.trim_end_matches(|c: char| !c.is_ascii_digit()).len()
}

/// Whether a number can start here: not inside a name, a version or an issue number.
fn can_precede_number(before: &str) -> bool {
    let before = before.strip_suffix(['-', '+']).filter(|it| !ends_with_word(it)).unwrap_or(before);
    !ends_with_word(before) && !before.ends_with(['-', '.', '/', '#', ':', '_', '@', '\''])
}

fn ends_with_word(before: &str) -> bool {
    before.ends_with(|c: char| c.is_alphanumeric() && !is_han(c))
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn has_unit(before: &str, number: &str, after: &str) -> bool {
    // `$1` is a positional argument.
    let money =
        before.ends_with(['€', '£', '¥', '￥']) || before.ends_with('$') && number.len() > 1;
    let times = after.strip_prefix(['x', '×']).is_some_and(|rest| !starts_word(rest));
    let near = after.strip_prefix(' ').unwrap_or(after);
    let end = near.find(|c: char| !c.is_alphabetic() || is_han(c)).unwrap_or(near.len());
    let (unit, rest) = near.split_at(end);
    money
        || times
        || near.starts_with(['%', '％', '‰'])
        || UNITS.contains(&unit) && !starts_word(rest)
        || HAN_UNITS.iter().any(|unit| near.starts_with(unit))
        // The currency, unless it begins another word.
        || near.strip_prefix('元').is_some_and(|rest| !rest.starts_with(is_han))
}

fn starts_word(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests;
