//! Generates the Claude Code plugin and its marketplace index. Both are checked in, and a test
//! compares them with this output.
use super::client_spec::clients;
use super::commands::{COMMANDS, render_file};
use serde_json::json;

/// Tool prefix of the server, and its prefix when installed by the plugin.
const PLUGIN_TOOL_PREFIX: (&str, &str) = ("mcp__debate", "mcp__plugin_debate_debate");

/// All files of the plugin and the marketplace, with paths in this repository.
pub fn plugin_files() -> Vec<(String, String)> {
    let description = env!("CARGO_PKG_DESCRIPTION");
    let owner = json!({"name": "The debate authors"});
    let (name, version) = (super::SERVER_NAME, env!("CARGO_PKG_VERSION"));
    let marketplace = json!({
        "name": name,
        "owner": owner,
        "metadata": {"description": description, "version": version},
        "plugins": [{"name": name, "source": "./plugin", "description": description}],
    });
    let plugin = json!({"name": name, "version": version, "description": description, "author": owner,
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
    for command in COMMANDS.iter().filter(|command| command.command_name.is_some()) {
        let body = render_file(client, command, command.name)
            .replace(PLUGIN_TOOL_PREFIX.0, PLUGIN_TOOL_PREFIX.1);
        files.push((format!("plugin/commands/{}.md", command.name), body));
    }
    files
}
