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
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == text, "{} is not up to date: set DEBATE_UPDATE=1", path.display());
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
    let (space, own) = name.split_once('/').unwrap();
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    assert!(plain(space) && plain(own) && (3..=200).contains(&name.len()), "{name}");
    let about = server["description"].as_str().unwrap();
    assert!(about == env!("CARGO_PKG_DESCRIPTION") && (1..=100).contains(&about.len()));
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    assert!(server["$schema"].as_str().unwrap().ends_with("/server.schema.json"));
    assert_eq!(server["repository"]["source"], "github");
    let packages = server["packages"].as_array().unwrap();
    let mut places: Vec<&str> = vec![];
    for package in packages {
        assert_eq!(package["registryType"], "mcpb");
        assert_eq!(package["transport"], json!({"type": "stdio"}));
        let place = package["identifier"].as_str().unwrap();
        assert!(
            place.starts_with("https://") && place.contains(env!("CARGO_PKG_VERSION")),
            "{place}"
        );
        let hash = package["fileSha256"].as_str().unwrap();
        assert!(hash.len() == 64 && hash.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')));
        for argument in package["packageArguments"].as_array().unwrap() {
            assert_eq!(argument, &json!({"type": "positional", "value": "mcp"}));
        }
        for variable in package["environmentVariables"].as_array().unwrap() {
            assert!(variable["name"].is_string() && variable["value"].is_null(), "{variable}");
        }
        places.push(place);
    }
    for target in ["linux", "darwin", "windows"] {
        assert!(places.iter().any(|place| place.contains(target)), "{target}: {places:?}");
    }
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), packages.len());
}

#[test]
fn bundle_manifest_lists_every_tool() {
    let (manifest, tools) = (read_json("packaging/mcpb/manifest.json"), read_json("tools.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let names = |value: &Value| -> Vec<String> {
        let all = value["tools"].as_array().unwrap().iter();
        all.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&manifest), names(&tools));
    let about = |value: &Value| -> Vec<Value> {
        value["tools"].as_array().unwrap().iter().map(|tool| tool["description"].clone()).collect()
    };
    assert_eq!(about(&manifest), about(&tools), "the words for a tool are the server's");
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
    let lab = TestEnv::new();
    let bundle = lab.temp_path("debate.mcpb");
    let packed = Command::new(node)
        .arg(repo_path("packaging/bundle.mjs"))
        .args(["x86_64-unknown-linux-gnu", env!("CARGO_BIN_EXE_debate")])
        .arg(&bundle)
        .current_dir(repo_path(""))
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let unpacked = lab.temp_path("unpacked");
    let done = Command::new(python)
        .args(["-m", "zipfile", "-e"])
        .args([&bundle, &unpacked])
        .status()
        .unwrap();
    assert!(done.success());
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(unpacked.join("manifest.json")).unwrap()).unwrap();
    let program = unpacked.join(manifest["server"]["entry_point"].as_str().unwrap());
    assert_eq!(manifest["compatibility"]["platforms"], json!(["linux"]));
    // MCP clients keep the executable bit when they unpack; Python's zipfile does not.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let args = manifest["server"]["mcp_config"]["args"].as_array().unwrap();
    let mut server = Command::new(&program)
        .args(args.iter().map(|arg| arg.as_str().unwrap()))
        .env("DEBATE_HOME", lab.data_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("bundle")});
    writeln!(server.stdin.as_mut().unwrap(), "{hello}").unwrap();
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
    let checked = |repository: &str, tag: &str| {
        let mut command = Command::new(&node);
        command.arg(repo_path("packaging/registry.mjs")).args(["check", repository, tag]);
        command.output().unwrap().status.success()
    };
    assert!(checked("debate-mcp/debate", tag));
    assert!(!checked("debate-mcp/debate", "v99.0.0") && !checked("somebody/else", tag));
}

/// `install.sh` from a release archive, which contains the binary and needs no compiler.
#[cfg(unix)]
#[test]
fn release_archive_installs_and_uninstalls() {
    use std::os::unix::fs::symlink;
    let lab = TestEnv::new();
    let archive = lab.temp_path("an archive, unpacked");
    fs::create_dir(&archive).unwrap();
    fs::copy(repo_path("install.sh"), archive.join("install.sh")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_debate"), archive.join("debate")).unwrap();
    for program in ["bash", "sh", "sed", "uname", "dirname", "install", "mv", "rm", "mkdir", "cat"]
    {
        let real = ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(program));
        symlink(real.clone().find(|path| path.exists()).unwrap(), lab.bin_dir().join(program))
            .unwrap();
    }
    fs::create_dir_all(lab.temp_path("user/.claude")).unwrap();
    fs::write(lab.temp_path("user/.claude.json"), "{\"a\": 1}").unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new("bash");
        command.arg(archive.join("install.sh")).args(args).current_dir(lab.repo_root()).env_clear();
        command.env("PATH", lab.bin_dir()).env("HOME", lab.temp_path("user"));
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        assert!(done.status.success(), "{args:?}\n{out}\n{err}");
        format!("{out}{err}")
    };
    let user = lab.temp_path("user");
    let dry = run(&["--dry-run"]);
    assert!(dry.contains("Nothing was done.") && !user.join(".local").exists(), "{dry}");
    let done = run(&[]);
    let installed = user.join(".local/bin/debate");
    assert!(installed.exists() && done.contains("had the stronger argument"), "{done}");
    let settings = fs::read_to_string(user.join(".claude.json")).unwrap();
    assert!(settings.contains(installed.to_str().unwrap()), "{settings}");
    assert!(user.join(".claude/commands/debate.md").exists());
    assert!(run(&["--no-demo"]).contains("Updating"), "a second time changes nothing");
    assert_eq!(fs::read_to_string(user.join(".claude.json")).unwrap(), settings);
    let elsewhere = lab.temp_path("some prefix");
    run(&["--prefix", elsewhere.to_str().unwrap(), "--no-demo", "--no-clients"]);
    assert!(elsewhere.join("bin/debate").exists());
    run(&["--uninstall"]);
    assert!(!installed.exists() && !user.join(".claude/commands/debate.md").exists());
    assert_eq!(fs::read_to_string(user.join(".claude.json")).unwrap(), "{\"a\": 1}");
}
