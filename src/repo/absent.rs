//! Deny-lists of path patterns that are excluded from every snapshot: possible secrets, agent
//! instructions, agent config, and names that are unsafe to write. The name is only a heuristic, so
//! the lists prefer false positives. Entry point: `exclusion_reason`.
use super::Why;

/// Name patterns of files with keys, tokens and passwords. `*` matches anything within one name,
/// `/**` a folder and everything below it. All lower case, because names are case-folded first.
const SECRETS: &[&str] = &[
    // Environment files
    "*.env",
    ".env.*",
    ".envrc",
    ".dev.vars",
    ".dev.vars.*",
    ".secret",
    ".secrets",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "local.settings.json",
    // Keys
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.pkcs12",
    "*.jks",
    "*.bks",
    "*.keystore",
    "*.kdb",
    "*.kdbx",
    "*.ovpn",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "secring.*",
    ".ssh/**",
    ".gnupg/**",
    ".password-store/**",
    // Accounts
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    // Clouds
    ".aws/credentials",
    ".aws/credentials.json",
    ".gcloud/**",
    "gcloud/credentials",
    "credentials.json",
    "application_default_credentials.json",
    "*service-account*.json",
    "*service_account*.json",
    "*serviceaccount*.json",
    "client_secret*.json",
    ".boto",
    ".s3cfg",
    ".dockercfg",
    ".docker/config.json",
    "kubeconfig",
    "*.kubeconfig",
    ".kube/config",
    ".vault-token",
    ".vault_pass",
    ".vault_pass.txt",
    "vault_pass.txt",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    "*.tfvars.json",
    ".terraformrc",
    "terraform.rc",
];

/// Exceptions to the patterns above: examples, templates and public keys.
const NO_SECRETS: &[&str] = &[
    "*.env.example",
    "*.env.sample",
    "*.env.template",
    ".env.*.example",
    ".env.*.sample",
    ".env.*.template",
    "example.env",
    "sample.env",
    "template.env",
    "*.example.env",
    "*.sample.env",
    "*.template.env",
    ".dev.vars.example",
    "id_*.pub",
    ".ssh/*.pub",
];

/// Files that agents read as instructions (prompt injection risk).
const INSTRUCTIONS: &[&str] = &[
    "claude.md",
    "claude.local.md",
    "agents.md",
    "agents.override.md",
    "agent.md",
    "gemini.md",
    "qwen.md",
    "copilot.md",
    ".cursorrules",
    ".cursor/rules/**",
    ".windsurfrules",
    ".windsurf/rules/**",
    ".clinerules/**",
    ".roorules*",
    ".roo/rules/**",
    ".goosehints",
    ".augment-guidelines",
    ".augment/rules/**",
    ".amazonq/rules/**",
    ".kiro/steering/**",
    ".trae/rules/**",
    ".junie/guidelines.md",
    ".github/copilot-instructions.md",
    ".github/instructions/**",
    ".github/prompts/**",
    ".github/chatmodes/**",
];

/// Files that configure agents: MCP servers, hooks, skills, permissions.
const SETTINGS: &[&str] = &[
    ".mcp.json",
    ".vscode/mcp.json",
    ".claude/**",
    ".claude.json",
    ".claude-plugin/**",
    ".codex/**",
    ".gemini/**",
    ".qwen/**",
    ".opencode/**",
    "opencode.json",
    "opencode.jsonc",
    ".copilot/**",
    ".github/copilot*/**",
    ".github/agents/**",
    ".github/skills/**",
    ".github/hooks/**",
    ".agents/**",
    ".cursor/**",
    ".continue/**",
    ".aider*/**",
    ".windsurf/**",
    ".cline/**",
    ".roo/**",
    ".kilocode/**",
    ".kiro/**",
    ".goose/**",
    ".junie/**",
    ".amazonq/**",
    ".augment/**",
    ".trae/**",
    ".crush/**",
    ".crush.json",
    "crush.json",
];

/// Maximum length of a path in bytes, so that it can be written below any folder.
const LONGEST_PATH: usize = 1024;
/// Maximum length of one file name in bytes on common file systems.
const LONGEST_NAME: usize = 255;

/// Reason why a file with this path is never copied, judged by its name alone.
pub fn absent(path: &[u8]) -> Option<Why> {
    if unwritable(path) {
        return Some(Why::Unreadable);
    }
    let names = names(path);
    let any = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, &names));
    if is_secret(&names) {
        Some(Why::Secret)
    } else if any(INSTRUCTIONS) {
        Some(Why::Instructions)
    } else {
        any(SETTINGS).then_some(Why::Settings)
    }
}

/// Whether the path is a record or state file written by debates, which is never pinned.
pub(super) fn ours(path: &[u8]) -> bool {
    const FOLDERS: &[&[u8]] =
        &[b".debates/", b".claude/debate/", b".opencode/debate/", b".codex/debate/"];
    FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Whether the path matches a secret pattern. Such a file is not even opened.
pub(super) fn secret(path: &[u8]) -> bool {
    is_secret(&names(path))
}

/// Whether the path is unsafe or impossible to write on this system.
pub(super) fn unwritable(path: &[u8]) -> bool {
    path.len() > LONGEST_PATH || path.split(|byte| *byte == b'/').any(refused)
}

/// Whether one path component is unsafe: path traversal, `.git` in any spelling, or a name that is
/// invalid on this system.
fn refused(name: &[u8]) -> bool {
    let own = folded(name);
    let git = own.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    matches!(name, b"" | b"." | b"..")
        || matches!(git, ".git" | "git~1")
        || name.len() > LONGEST_NAME
        || name.contains(&0)
        || (cfg!(any(windows, target_vendor = "apple")) && std::str::from_utf8(name).is_err())
        || (cfg!(windows) && refused_by_windows(&own))
}

/// Whether Windows reserves the name (device names such as `con`) or forbids a character in it.
fn refused_by_windows(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| rest.chars().count() == 1 && rest != "0")
    };
    name.contains(['<', '>', ':', '"', '|', '?', '*', '\\'])
        || name.contains(|c: char| c.is_ascii_control())
        || name.ends_with(['.', ' '])
        || matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || numbered("com")
        || numbered("lpt")
}

fn is_secret(names: &[String]) -> bool {
    let any = |patterns: &[&str]| patterns.iter().any(|pattern| fits(pattern, names));
    any(SECRETS) && !any(NO_SECRETS)
}

fn names(path: &[u8]) -> Vec<String> {
    path.split(|byte| *byte == b'/').map(folded).collect()
}

/// Case-folds a name like the most lenient file system: ignores case and invisible characters.
pub(super) fn folded(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let unseen = |c: &char| matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = text.chars().filter(|c| !unseen(c)).collect();
    // Via upper case, because some lower-case letters share one upper-case letter.
    seen.to_uppercase().to_lowercase()
}

/// Whether a pattern matches the end of a path, or any part of it for a folder pattern (`/**`).
fn fits(pattern: &str, names: &[String]) -> bool {
    let (pattern, anywhere) = match pattern.strip_suffix("/**") {
        Some(folder) => (folder, true),
        None => (pattern, false),
    };
    if !anywhere
        && names.last().is_none_or(|name| differ(pattern.bytes().last(), name.bytes().last()))
    {
        return false;
    }
    let length = pattern.bytes().filter(|byte| *byte == b'/').count() + 1;
    let Some(last) = names.len().checked_sub(length) else { return false };
    let first = if anywhere { 0 } else { last };
    (first..=last).any(|at| pattern.split('/').zip(&names[at..]).all(|(one, name)| like(one, name)))
}

/// Glob match of one name, where `*` matches any text.
fn like(pattern: &str, name: &str) -> bool {
    if differ(pattern.bytes().next(), name.bytes().next()) {
        return false;
    }
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    if !after.contains('*') {
        return rest.ends_with(after);
    }
    rest.char_indices().any(|(at, _)| like(after, &rest[at..]))
}

/// Fast rejection by the first or last byte. Every file is tested against every pattern, and this
/// rules out nearly all of them.
fn differ(pattern: Option<u8>, name: Option<u8>) -> bool {
    pattern != name && pattern != Some(b'*')
}
