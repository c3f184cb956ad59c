//! The script that comes with the program. It speaks of whatever repository it stands in: the brief
//! it is given says what was found there, one `name = value` a line.
use super::script::Script;

const SCRIPT: &str = include_str!("demo.json");

/// The script, with what the prompt tells of the repository filled in.
pub(super) fn script(prompt: &str, speed: Option<u32>) -> Result<Script, String> {
    let mut text = SCRIPT.to_owned();
    for (name, value) in prompt.lines().filter_map(|line| line.split_once(" = ")) {
        let value = serde_json::Value::from(value.trim()).to_string();
        let inside = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        text = text.replace(&format!("<{}>", name.trim()), inside.unwrap_or_default());
    }
    let mut script = Script::parse(&text)?;
    script.chars_per_second = speed;
    Ok(script)
}
