//! The commands and the server as a plugin of Claude Code, with a marketplace of its own: the files of
//! this repository are both. They are written from here, and a test holds them to it.
use super::commands::{COMMANDS, written};
use super::row::clients;
use serde_json::json;

/// The server as commands of a plugin know it: a plugin's tools have other names.
const AS_PLUGIN: (&str, &str) = ("mcp__debate", "mcp__plugin_debate_debate");

/// Every file of the plugin and its marketplace, by its path in this repository.
pub fn plugin() -> Vec<(String, String)> {
    let about = env!("CARGO_PKG_DESCRIPTION");
    let owner = json!({"name": "The debate authors"});
    let (name, version) = (super::SERVER, env!("CARGO_PKG_VERSION"));
    let marketplace = json!({
        "name": name,
        "owner": owner,
        "metadata": {"description": about, "version": version},
        "plugins": [{"name": name, "source": "./plugin", "description": about}],
    });
    let plugin = json!({"name": name, "version": version, "description": about, "author": owner,
        "license": env!("CARGO_PKG_LICENSE")});
    let server = json!({"mcpServers": {name: {"command": name, "args": ["mcp"]}}});
    let text =
        |value: serde_json::Value| serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
    let mut files = vec![
        (".claude-plugin/marketplace.json".to_owned(), text(marketplace)),
        ("plugin/.claude-plugin/plugin.json".to_owned(), text(plugin)),
        ("plugin/.mcp.json".to_owned(), text(server)),
    ];
    let Some(client) = clients().iter().find(|client| client.name == "claude") else {
        return files;
    };
    for command in COMMANDS.iter().filter(|command| command.typed.is_some()) {
        let words = written(client, command, command.name).replace(AS_PLUGIN.0, AS_PLUGIN.1);
        files.push((format!("plugin/commands/{}.md", command.name), words));
    }
    files
}
