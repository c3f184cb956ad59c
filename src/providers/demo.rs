//! The built-in demo script, `demo.json`. Its placeholders are filled in with facts about the
//! repository, which the prompt lists as `name = value` lines.
use super::script::Script;

const DEMO_SCRIPT: &str = include_str!("demo.json");

/// Parses the demo script after replacing each `<name>` with its JSON-escaped value from the
/// prompt.
pub(super) fn build_script(prompt: &str, chars_per_second: Option<u32>) -> Result<Script, String> {
    let mut text = DEMO_SCRIPT.to_owned();
    for (name, value) in prompt.lines().filter_map(|line| line.split_once(" = ")) {
        let value = serde_json::Value::from(value.trim()).to_string();
        let escaped = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        text = text.replace(&format!("<{}>", name.trim()), escaped.unwrap_or_default());
    }
    let mut script = Script::parse(&text)?;
    script.chars_per_second = chars_per_second;
    Ok(script)
}
