//! What is left out of every copy because of its name: what may hold a secret, what tells agents
//! what to do, what sets them up, and names that are traps. A name is never proof, so these lists
//! would rather leave out a file too many.
use super::Why;

/// Names of files with keys, tokens and passwords. `*` is anything within a name; `/**` is a folder
/// and all that is in it. Everything is lower case, as names are when they are compared.
const SECRETS: &[&str] = &[
    // Environments
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

/// Names like those above that show others what to write, or that are meant to be given away.
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

/// What agents take for their user's word when they find it.
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

/// What gives agents servers, hooks, skills, permissions.
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

/// Bytes a path may have, so that it can be written below whatever folder it goes to.
const LONGEST_PATH: usize = 1024;
/// Bytes a name may have on the systems there are.
const LONGEST_NAME: usize = 255;

/// Why a file with this path is never copied, if its name alone says so.
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

/// Whether debates have left it there: records and state files are no part of what is debated.
pub(super) fn ours(path: &[u8]) -> bool {
    const FOLDERS: &[&[u8]] =
        &[b".debates/", b".claude/debate/", b".opencode/debate/", b".codex/debate/"];
    FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Whether a file with this path may hold a secret, and is not even to be looked into.
pub(super) fn secret(path: &[u8]) -> bool {
    is_secret(&names(path))
}

/// Whether nothing can be written under this path, or must not be.
pub(super) fn unwritable(path: &[u8]) -> bool {
    path.len() > LONGEST_PATH || path.split(|byte| *byte == b'/').any(refused)
}

/// Whether one name of a path must not be written: one that leads elsewhere, one git would take for
/// a repository, or one this system has no such files for.
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

/// Names that mean something else there, or nothing at all.
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

/// A name as the most forgiving file system compares it: without regard to case, nor to characters
/// that cannot be seen.
pub(super) fn folded(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let unseen = |c: &char| matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = text.chars().filter(|c| !unseen(c)).collect();
    // By way of upper case, because some small letters share their capital with another.
    seen.to_uppercase().to_lowercase()
}

/// Whether a pattern fits the end of a path, or, if it is one for folders, any part of it.
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

/// Whether a name is like a pattern in which `*` stands for anything.
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

/// Whether a pattern and a name cannot fit, by how both begin, or end. Every file there is is
/// compared with every pattern, and nearly all of them are told apart so.
fn differ(pattern: Option<u8>, name: Option<u8>) -> bool {
    pattern != name && pattern != Some(b'*')
}
