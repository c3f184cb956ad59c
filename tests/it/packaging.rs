//! Packaging files (plugin, registry entry, bundle, installer) agree with the program.
use crate::mcp_test_client::initialize_params;
use crate::prerequisites::{find_program_or_skip, repo_path};
use crate::test_env::TestEnv;
use debate_mcp::clients::plugin_files;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

fn read_json(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(repo_path(path)).unwrap()).unwrap()
}

/// `DEBATE_UPDATE=1 cargo test plugin_files_match` updates the files.
#[test]
fn plugin_files_match_the_program() {
    for (path, text) in plugin_files() {
        let path = repo_path(&path);
        if std::env::var_os("DEBATE_UPDATE").is_some_and(|update| update == "1") {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{} is not up to date: set DEBATE_UPDATE=1", path.display());
    }
    let commands = fs::read_dir(repo_path("plugin/commands")).unwrap().count();
    assert_eq!(
        commands,
        plugin_files().iter().filter(|(path, _)| path.contains("commands/")).count()
    );
}

/// The constraints of the registry's JSON schema, as far as this entry uses it.
#[test]
fn registry_entry_is_valid() {
    let server = read_json("server.json");
    let name = server["name"].as_str().unwrap();
    let (namespace, server_name) = name.split_once('/').unwrap();
    let is_plain =
        |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    assert!(
        is_plain(namespace) && is_plain(server_name) && (3..=200).contains(&name.len()),
        "{name}"
    );
    let description = server["description"].as_str().unwrap();
    assert!(description == env!("CARGO_PKG_DESCRIPTION") && (1..=100).contains(&description.len()));
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    assert!(server["$schema"].as_str().unwrap().ends_with("/server.schema.json"));
    assert_eq!(server["repository"]["source"], "github");
    let packages = server["packages"].as_array().unwrap();
    let mut urls: Vec<&str> = vec![];
    for package in packages {
        assert_eq!(package["registryType"], "mcpb");
        assert_eq!(package["transport"], json!({"type": "stdio"}));
        let url = package["identifier"].as_str().unwrap();
        assert!(url.starts_with("https://") && url.contains(env!("CARGO_PKG_VERSION")), "{url}");
        let hash = package["fileSha256"].as_str().unwrap();
        assert!(hash.len() == 64 && hash.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')));
        for argument in package["packageArguments"].as_array().unwrap() {
            assert_eq!(argument, &json!({"type": "positional", "value": "mcp"}));
        }
        for variable in package["environmentVariables"].as_array().unwrap() {
            assert!(variable["name"].is_string() && variable["value"].is_null(), "{variable}");
        }
        urls.push(url);
    }
    for target in ["linux", "darwin", "windows"] {
        assert!(urls.iter().any(|url| url.contains(target)), "{target}: {urls:?}");
    }
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), packages.len());
}

#[test]
fn bundle_manifest_lists_every_tool() {
    let (manifest, tools) = (read_json("packaging/mcpb/manifest.json"), read_json("tools.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let names = |value: &Value| -> Vec<String> {
        let listed = value["tools"].as_array().unwrap().iter();
        listed.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&manifest), names(&tools));
    let descriptions = |value: &Value| -> Vec<Value> {
        value["tools"].as_array().unwrap().iter().map(|tool| tool["description"].clone()).collect()
    };
    assert_eq!(
        descriptions(&manifest),
        descriptions(&tools),
        "the descriptions are those of the server"
    );
    assert_eq!(manifest["server"]["mcp_config"]["args"], json!(["mcp"]));
}

/// Packs the bundle with the official `mcpb` tool, unpacks it, and starts the server in it.
#[test]
fn packed_bundle_starts_a_server() {
    let install = "npm ci --prefix tests/clients";
    let mcpb = repo_path("tests/clients/node_modules/.bin/mcpb");
    let Some(node) = find_program_or_skip("node", Path::new("node"), &[mcpb], install) else {
        return;
    };
    let Some(python) =
        find_program_or_skip("python", Path::new("python3"), &[], "install Python 3")
    else {
        return;
    };
    let env = TestEnv::new();
    let bundle = env.temp_path("debate.mcpb");
    let packed = Command::new(node)
        .arg(repo_path("packaging/bundle.mjs"))
        .args(["x86_64-unknown-linux-gnu", env!("CARGO_BIN_EXE_debate")])
        .arg(&bundle)
        .current_dir(repo_path(""))
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let unpacked = env.temp_path("unpacked");
    let unpack_status = Command::new(python)
        .args(["-m", "zipfile", "-e"])
        .args([&bundle, &unpacked])
        .status()
        .unwrap();
    assert!(unpack_status.success());
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(unpacked.join("manifest.json")).unwrap()).unwrap();
    let program = unpacked.join(manifest["server"]["entry_point"].as_str().unwrap());
    assert_eq!(manifest["compatibility"]["platforms"], json!(["linux"]));
    // MCP clients keep the executable bit when they unpack; Python's zipfile does not.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let args = manifest["server"]["mcp_config"]["args"].as_array().unwrap();
    let mut server = Command::new(&program)
        .args(args.iter().map(|arg| arg.as_str().unwrap()))
        .env("DEBATE_HOME", env.data_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("bundle")});
    writeln!(server.stdin.as_mut().unwrap(), "{request}").unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
    assert!(line.contains("\"serverInfo\"") && line.contains(env!("CARGO_PKG_VERSION")), "{line}");
}

/// The check that the release workflow runs first.
#[test]
fn release_check_compares_versions_and_names() {
    let Some(node) = find_program_or_skip("node", Path::new("node"), &[], "install Node") else {
        return;
    };
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let check = |repository: &str, tag: &str| {
        let mut command = Command::new(&node);
        command.arg(repo_path("packaging/registry.mjs")).args(["check", repository, tag]);
        command.output().unwrap().status.success()
    };
    assert!(check("debate-mcp/debate", tag));
    assert!(!check("debate-mcp/debate", "v99.0.0") && !check("somebody/else", tag));
}

/// `install.sh` from a release archive, which contains the binary and needs no compiler.
#[cfg(unix)]
#[test]
fn release_archive_installs_and_uninstalls() {
    use std::os::unix::fs::symlink;
    let env = TestEnv::new();
    let archive = env.temp_path("an archive, unpacked");
    fs::create_dir(&archive).unwrap();
    fs::copy(repo_path("install.sh"), archive.join("install.sh")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_debate"), archive.join("debate")).unwrap();
    for program in ["bash", "sh", "sed", "uname", "dirname", "install", "mv", "rm", "mkdir", "cat"]
    {
        let candidates = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(program));
        symlink(
            candidates.clone().find(|path| path.exists()).unwrap(),
            env.bin_dir().join(program),
        )
        .unwrap();
    }
    fs::create_dir_all(env.temp_path("user/.claude")).unwrap();
    fs::write(env.temp_path("user/.claude.json"), "{\"a\": 1}").unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new("bash");
        command.arg(archive.join("install.sh")).args(args).current_dir(env.repo_root()).env_clear();
        command.env("PATH", env.bin_dir()).env("HOME", env.temp_path("user"));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{args:?}\n{out}\n{err}");
        format!("{out}{err}")
    };
    let user = env.temp_path("user");
    let dry_run = run(&["--dry-run"]);
    assert!(dry_run.contains("Nothing was done.") && !user.join(".local").exists(), "{dry_run}");
    let output = run(&[]);
    let installed = user.join(".local/bin/debate");
    assert!(installed.exists() && output.contains("had the stronger argument"), "{output}");
    let settings = fs::read_to_string(user.join(".claude.json")).unwrap();
    assert!(settings.contains(installed.to_str().unwrap()), "{settings}");
    assert!(user.join(".claude/commands/debate.md").exists());
    assert!(run(&["--no-demo"]).contains("Updating"), "a second time changes nothing");
    assert_eq!(fs::read_to_string(user.join(".claude.json")).unwrap(), settings);
    let prefix = env.temp_path("some prefix");
    run(&["--prefix", prefix.to_str().unwrap(), "--no-demo", "--no-clients"]);
    assert!(prefix.join("bin/debate").exists());
    run(&["--uninstall"]);
    assert!(!installed.exists() && !user.join(".claude/commands/debate.md").exists());
    assert_eq!(fs::read_to_string(user.join(".claude.json")).unwrap(), "{\"a\": 1}");
}
