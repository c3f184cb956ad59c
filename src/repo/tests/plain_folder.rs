//! Pinning of folders without a git repository: small projects are pinned, but not a home folder, a
//! file system root, or a folder with too many files.
use crate::repo::{ExclusionReason, Pin, TreeStore};
use crate::test_support::test_repo::{excluded_paths, list_files};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary project folder with a data folder beside it.
struct FolderFixture {
    folder: TempDir,
}

impl FolderFixture {
    fn new(files: &[(&str, &str)]) -> FolderFixture {
        let fixture = FolderFixture { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(fixture.root()).unwrap();
        for (path, text) in files {
            fixture.write(path, text);
        }
        fixture
    }

    fn root(&self) -> PathBuf {
        dunce::canonicalize(self.folder.path()).unwrap().join("project")
    }

    fn tree_store(&self) -> TreeStore {
        TreeStore::new(&self.folder.path().join("home"))
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn pin(&self) -> Option<Pin> {
        self.tree_store().pin(&self.root()).unwrap()
    }

    fn pinned_paths(&self, pin: &Pin) -> Vec<String> {
        let view = self.tree_store().view(&self.root(), &pin.tree).unwrap();
        view.files().iter().map(|file| file.path.clone()).collect()
    }
}

#[test]
fn small_folder_is_pinned_and_readable_later() {
    let fixture = FolderFixture::new(&[("src/a.rs", "fn a() {}\n"), ("notes.md", "x\n")]);
    let pin = fixture.pin().unwrap();
    assert_eq!((pin.commit.as_deref(), pin.dirty, pin.left_out.len()), (None, false, 0));
    assert_eq!(fixture.pinned_paths(&pin), ["notes.md", "src/a.rs"]);
    assert_eq!(fixture.pin().unwrap(), pin, "pinning the same files again gives the same pin");
    fixture.write("src/a.rs", "fn b() {}\n");
    assert_ne!(fixture.pin().unwrap().tree, pin.tree);
    let view = fixture.tree_store().view(&fixture.root(), &pin.tree).unwrap();
    let bytes = view.reader().unwrap().read_bytes(view.find("src/a.rs").unwrap());
    assert_eq!(bytes.unwrap(), b"fn a() {}\n", "the pinned content is unchanged");
    let snapshot = fixture.tree_store().snapshot(&fixture.root(), &pin.tree).unwrap();
    assert_eq!(list_files(&snapshot.folder), ["notes.md", "src/a.rs"]);
    make_writable(&snapshot.folder);
}

#[test]
fn built_fetched_hidden_and_secret_files_are_excluded() {
    let fixture = FolderFixture::new(&[
        ("a.rs", "a\n"),
        ("node_modules/x/index.js", "x\n"),
        ("target/debug/x", "x\n"),
        ("venv/lib/x.py", "x\n"),
        (".cache/x", "x\n"),
        (".env", "KEY=1\n"),
        ("big.txt", &"x".repeat(1024 * 1024 + 1)),
    ]);
    #[cfg_attr(not(unix), expect(unused_mut, reason = "links are made on Unix"))]
    let mut expected = vec![
        (".env".to_owned(), ExclusionReason::Secret),
        ("big.txt".to_owned(), ExclusionReason::TooLarge),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", fixture.root().join("link")).unwrap();
        expected.push(("link".into(), ExclusionReason::Link));
    }
    let pin = fixture.pin().unwrap();
    assert_eq!(fixture.pinned_paths(&pin), ["a.rs"]);
    assert_eq!(excluded_paths(&pin.left_out), expected);
}

#[test]
fn home_root_and_too_large_folders_are_not_pinned() {
    for name in [".ssh/config", ".bash_history", ".profile"] {
        assert_eq!(FolderFixture::new(&[("a.rs", "a\n"), (name, "x\n")]).pin(), None, "{name}");
    }
    assert_eq!(FolderFixture::new(&[]).pin(), None, "an empty folder");
    assert_eq!(FolderFixture::new(&[(".env", "KEY=1\n")]).pin(), None, "only a secret file");
    let fixture = FolderFixture::new(&[]);
    assert_eq!(fixture.tree_store().pin(Path::new("/")).unwrap(), None);
    for nth in 0..2_001 {
        fs::write(fixture.root().join(format!("{nth}.txt")), "").unwrap();
    }
    assert_eq!(fixture.pin(), None, "too many files");
    fs::remove_file(fixture.root().join("7.txt")).unwrap();
    assert!(fixture.pin().is_some());
}

#[test]
fn own_data_folder_is_not_pinned() {
    let fixture = FolderFixture::new(&[("a.rs", "a\n")]);
    let tree_store = TreeStore::new(&fixture.root().join("kept"));
    let pin = tree_store.pin(&fixture.root()).unwrap().unwrap();
    assert_eq!(tree_store.pin(&fixture.root()).unwrap().unwrap(), pin);
    assert_eq!(TreeStore::new(&fixture.root()).pin(&fixture.root()).unwrap(), None);
}

/// Makes a read-only snapshot writable, so that its folder can be deleted.
fn make_writable(folder: &Path) {
    #[cfg(unix)]
    for inner in [folder.to_owned(), folder.join("src")] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(inner, fs::Permissions::from_mode(0o700)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
