//! Paths that are excluded from pinned trees and snapshots, and why. Deny-lists of path patterns:
//! possible secrets, agent instructions, agent config, and names that are unsafe to write. The name
//! is only a heuristic, so the lists prefer false positives. Entry point: `exclusion_reason`.
use serde::{Deserialize, Serialize};

/// Maximum size in bytes of a file that is pinned or copied.
pub(super) const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A path that is not in a pinned tree or snapshot, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedPath {
    /// Path from the repository root, lossily decoded as UTF-8. A folder ends in `/`.
    pub path: String,
    /// Reason of the exclusion.
    pub why: ExclusionReason,
}

/// Why a path is excluded from a pinned tree or snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExclusionReason {
    /// The name matches a pattern for files with keys or passwords.
    Secret,
    /// The file instructs agents (a prompt such as `AGENTS.md`), which must not reach the reader.
    Instructions,
    /// Agent config: MCP servers, hooks, permissions.
    Settings,
    /// The contents are not text.
    Binary,
    /// The file is larger than 1 MB.
    TooLarge,
    /// A symbolic link, which could lead anywhere.
    Link,
    /// A nested git repository.
    Submodule,
    /// A limit on files or bytes was reached.
    TooMuch,
    /// The file cannot be read, or its name is not valid on this system.
    Unreadable,
}

impl ExcludedPath {
    pub(super) fn new(path: &[u8], why: ExclusionReason) -> ExcludedPath {
        ExcludedPath { path: String::from_utf8_lossy(path).into_owned(), why }
    }
}

impl ExclusionReason {
    /// Describes how many paths have this reason: "2 are links".
    pub fn describe_count(self, count: usize) -> String {
        let (singular, plural) = match self {
            ExclusionReason::Secret => ("may be a secret", "may be secrets"),
            ExclusionReason::Instructions => ("instructs agents", "instruct agents"),
            ExclusionReason::Settings => ("sets agents up", "set agents up"),
            ExclusionReason::Binary => ("is not text", "are not text"),
            ExclusionReason::TooLarge => ("is too large", "are too large"),
            ExclusionReason::Link => ("is a link", "are links"),
            ExclusionReason::Submodule => ("is another repository", "are other repositories"),
            ExclusionReason::TooMuch => {
                ("is more than there is room for", "are more than there is room for")
            }
            ExclusionReason::Unreadable => ("cannot be read", "cannot be read"),
        };
        format!("{count} {}", if count == 1 { singular } else { plural })
    }

    /// Predicate for messages: "`.env` may hold a secret, by its name".
    pub fn describe(self) -> &'static str {
        match self {
            ExclusionReason::Secret => "may hold a secret, by its name",
            ExclusionReason::Instructions => "gives instructions to agents",
            ExclusionReason::Settings => "holds settings of agents",
            ExclusionReason::Binary => "is not text",
            ExclusionReason::TooLarge => "is larger than 1 MB",
            ExclusionReason::Link => "is a link",
            ExclusionReason::Submodule => "is a repository of its own",
            ExclusionReason::TooMuch => "is more than there is room for",
            ExclusionReason::Unreadable => "cannot be read",
        }
    }
}

/// Name patterns of files with keys, tokens and passwords. `*` matches anything within one name,
/// `/**` a folder and everything below it. All lower case, because names are case-folded first.
const SECRET_PATTERNS: &[&str] = &[
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
const SECRET_EXCEPTIONS: &[&str] = &[
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
const INSTRUCTION_PATTERNS: &[&str] = &[
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
const SETTINGS_PATTERNS: &[&str] = &[
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
const MAX_PATH_BYTES: usize = 1024;
/// Maximum length of one file name in bytes on common file systems.
const MAX_NAME_BYTES: usize = 255;

/// Reason why a file with this path is never copied, judged by its name alone.
pub fn exclusion_reason(path: &[u8]) -> Option<ExclusionReason> {
    if is_unwritable(path) {
        return Some(ExclusionReason::Unreadable);
    }
    let names = split_names(path);
    let matches_any =
        |patterns: &[&str]| patterns.iter().any(|pattern| matches_pattern(pattern, &names));
    if has_secret_name(&names) {
        Some(ExclusionReason::Secret)
    } else if matches_any(INSTRUCTION_PATTERNS) {
        Some(ExclusionReason::Instructions)
    } else {
        matches_any(SETTINGS_PATTERNS).then_some(ExclusionReason::Settings)
    }
}

/// Whether the path is a record or state file written by debates, which is never pinned.
pub(super) fn is_debate_file(path: &[u8]) -> bool {
    const FOLDERS: &[&[u8]] =
        &[b".debates/", b".claude/debate/", b".opencode/debate/", b".codex/debate/"];
    FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Whether the path matches a secret pattern. Such a file is not even opened.
pub(super) fn is_secret_path(path: &[u8]) -> bool {
    has_secret_name(&split_names(path))
}

/// Whether the path is unsafe or impossible to write on this system.
pub(super) fn is_unwritable(path: &[u8]) -> bool {
    path.len() > MAX_PATH_BYTES || path.split(|byte| *byte == b'/').any(is_unsafe_name)
}

/// Whether one path component is unsafe: path traversal, `.git` in any spelling, or a name that is
/// invalid on this system.
fn is_unsafe_name(name: &[u8]) -> bool {
    let folded = fold_name(name);
    let base_name = folded.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    matches!(name, b"" | b"." | b"..")
        || matches!(base_name, ".git" | "git~1")
        || name.len() > MAX_NAME_BYTES
        || name.contains(&0)
        || (cfg!(any(windows, target_vendor = "apple")) && std::str::from_utf8(name).is_err())
        || (cfg!(windows) && is_reserved_on_windows(&folded))
}

/// Whether Windows reserves the name (device names such as `con`) or forbids a character in it.
fn is_reserved_on_windows(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let is_numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| rest.chars().count() == 1 && rest != "0")
    };
    name.contains(['<', '>', ':', '"', '|', '?', '*', '\\'])
        || name.contains(|c: char| c.is_ascii_control())
        || name.ends_with(['.', ' '])
        || matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || is_numbered("com")
        || is_numbered("lpt")
}

fn has_secret_name(names: &[String]) -> bool {
    let matches_any =
        |patterns: &[&str]| patterns.iter().any(|pattern| matches_pattern(pattern, names));
    matches_any(SECRET_PATTERNS) && !matches_any(SECRET_EXCEPTIONS)
}

fn split_names(path: &[u8]) -> Vec<String> {
    path.split(|byte| *byte == b'/').map(fold_name).collect()
}

/// Case-folds a name like the most lenient file system: ignores case and invisible characters.
pub(super) fn fold_name(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let is_invisible = |c: &char| matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let visible: String = text.chars().filter(|c| !is_invisible(c)).collect();
    // Via upper case, because some lower-case letters share one upper-case letter.
    visible.to_uppercase().to_lowercase()
}

/// Whether a pattern matches the end of a path, or any part of it for a folder pattern (`/**`).
fn matches_pattern(pattern: &str, names: &[String]) -> bool {
    let (pattern, anywhere) = match pattern.strip_suffix("/**") {
        Some(folder) => (folder, true),
        None => (pattern, false),
    };
    if !anywhere
        && names.last().is_none_or(|name| is_mismatch(pattern.bytes().last(), name.bytes().last()))
    {
        return false;
    }
    let length = pattern.bytes().filter(|byte| *byte == b'/').count() + 1;
    let Some(last) = names.len().checked_sub(length) else { return false };
    let first = if anywhere { 0 } else { last };
    (first..=last).any(|start| {
        pattern.split('/').zip(&names[start..]).all(|(part, name)| matches_glob(part, name))
    })
}

/// Glob match of one name, where `*` matches any text.
fn matches_glob(pattern: &str, name: &str) -> bool {
    if is_mismatch(pattern.bytes().next(), name.bytes().next()) {
        return false;
    }
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    if !after.contains('*') {
        return rest.ends_with(after);
    }
    rest.char_indices().any(|(start, _)| matches_glob(after, &rest[start..]))
}

/// Fast rejection by the first or last byte. Every file is tested against every pattern, and this
/// rules out nearly all of them.
fn is_mismatch(pattern: Option<u8>, name: Option<u8>) -> bool {
    pattern != name && pattern != Some(b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_over_the_limit_are_refused() {
        let refused = Some(ExclusionReason::Unreadable);
        let name = "x".repeat(MAX_NAME_BYTES);
        assert_eq!(exclusion_reason(name.as_bytes()), None);
        assert_eq!(exclusion_reason(format!("{name}x").as_bytes()), refused);
        let path = "x/".repeat(MAX_PATH_BYTES / 2 - 1) + "xx";
        assert_eq!((path.len(), exclusion_reason(path.as_bytes())), (1_024, None));
        assert_eq!(exclusion_reason(format!("{path}x").as_bytes()), refused);
        assert_eq!(MAX_NAME_BYTES, 255);
    }
}
