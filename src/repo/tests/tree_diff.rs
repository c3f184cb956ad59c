//! Tree diffs: the changed files, renames and line counts must match `git diff --numstat`, and
//! hunks must match the file contents.
use crate::repo::{ChangedFile, DiffRange, FileChangeKind, LineCounts, RenameSearch, TreeDiff};
use crate::test_support::prerequisites::find_program_or_skip;
use crate::test_support::split_mix::SplitMix64;
use crate::test_support::test_repo::TestRepo;
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) fn diff_range(repo: &TestRepo, range: &DiffRange) -> TreeDiff {
    repo.tree_store().diff(&repo.root(), &repo.pin(), range).unwrap()
}

fn commit_range(old: Oid, new: Oid) -> DiffRange {
    DiffRange::Between { base: old.to_string(), head: new.to_string() }
}

/// One row of `git diff --numstat`: rename source, path, added and deleted lines.
type NumstatRow = (Option<String>, String, Option<(usize, usize)>);

/// Parsed output of the real `git diff --numstat -z`. `None` if git is not installed.
fn git_numstat(repo: &TestRepo, arguments: &[&str]) -> Option<Vec<NumstatRow>> {
    let git = find_program_or_skip("git", Path::new("git"), &[], "your package manager")?;
    let mut command = Command::new(git);
    command.current_dir(repo.root()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", repo.temp_path("nobody"));
    let out = command.args(["diff", "--numstat", "-z"]).args(arguments).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut parts = text.split('\0');
    let mut rows = vec![];
    while let Some(part) = parts.next().filter(|part| !part.is_empty()) {
        let cells: Vec<&str> = part.splitn(3, '\t').collect();
        let counts = cells[0].parse().ok().zip(cells[1].parse().ok());
        let (from, path) = match cells[2] {
            "" => (Some(parts.next().unwrap().to_owned()), parts.next().unwrap().to_owned()),
            path => (None, path.to_owned()),
        };
        rows.push((from, path, counts));
    }
    rows.sort();
    Some(rows)
}

fn to_numstat_rows(files: &[ChangedFile]) -> Vec<NumstatRow> {
    let row = |file: &ChangedFile| {
        assert!(!matches!(file.lines, LineCounts::Unknown(_)), "{file:?}");
        (file.old_path.clone(), file.path.clone(), file.line_counts())
    };
    let mut rows: Vec<NumstatRow> = files.iter().map(row).collect();
    rows.sort();
    rows
}

/// Every path in the rows, rename sources included.
fn numstat_paths(rows: &[NumstatRow]) -> BTreeSet<String> {
    rows.iter().flat_map(|(from, path, _)| from.iter().chain([path]).cloned()).collect()
}

/// Generates random file trees: each step adds, edits, copies, renames or deletes a file.
struct RandomHistory {
    rng: SplitMix64,
    files: BTreeMap<String, Vec<u8>>,
    file_count: usize,
}

impl RandomHistory {
    fn new_path(&mut self) -> String {
        self.file_count += 1;
        let folder = *self.rng.pick(&["", "src/", "src/deep er/", "tests/", "größe/", "a\"b/"]);
        let extension = *self.rng.pick(&[".rs", ".md", "", " with spaces.py", ".日本.txt"]);
        format!("{folder}file{}{extension}", self.file_count)
    }

    fn pick_path(&mut self) -> Option<String> {
        let paths: Vec<String> = self.files.keys().cloned().collect();
        (!paths.is_empty()).then(|| self.rng.pick(&paths).clone())
    }

    fn random_contents(&mut self) -> Vec<u8> {
        let lines = 1 + self.rng.below(60);
        let text = self.rng.random_lines(lines);
        match self.rng.below(10) {
            0 => vec![],
            1 => [text.as_bytes(), b"\0\x01\x02"].concat(),
            2 => text.replace('\n', "\r\n").into_bytes(),
            3 => text.trim_end().as_bytes().to_vec(),
            _ => text.into_bytes(),
        }
    }

    fn edit_lines(&mut self, bytes: &[u8], times: usize) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..times {
            let index = self.rng.below(lines.len() + 1);
            let line = self.rng.random_lines(1).into_bytes();
            match self.rng.below(3) {
                0 => lines.insert(index, line),
                1 if index < lines.len() => drop(lines.remove(index)),
                _ if index < lines.len() => lines[index] = line,
                _ => lines.push(line),
            }
        }
        lines.concat()
    }

    fn apply_random_change(&mut self) {
        let Some(path) = self.pick_path().filter(|_| self.files.len() > 6) else {
            let (path, bytes) = (self.new_path(), self.random_contents());
            self.files.insert(path, bytes);
            return;
        };
        let bytes = self.files[&path].clone();
        match self.rng.below(9) {
            0 | 1 => {
                let (path, bytes) = (self.new_path(), self.random_contents());
                self.files.insert(path, bytes);
            }
            2 => drop(self.files.remove(&path)),
            // Copy with one edit.
            3 => {
                let (target_path, bytes) = (self.new_path(), self.edit_lines(&bytes, 1));
                self.files.insert(target_path, bytes);
            }
            // Rename with up to two edits.
            4 | 5 => {
                let (target_path, times) = (self.new_path(), self.rng.below(3));
                let bytes = self.edit_lines(&bytes, times);
                self.files.remove(&path);
                self.files.insert(target_path, bytes);
            }
            _ => {
                let times = 1 + self.rng.below(8);
                let bytes = self.edit_lines(&bytes, times);
                self.files.insert(path, bytes);
            }
        }
    }

    fn write_worktree(&self, repo: &TestRepo) {
        for entry in fs::read_dir(repo.root()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with(".git") {
                fs::remove_dir_all(path).unwrap();
            } else if path.is_file() {
                fs::remove_file(path).unwrap();
            }
        }
        for (path, bytes) in &self.files {
            let full_path = repo.root().join(path);
            fs::create_dir_all(full_path.parent().unwrap()).unwrap();
            fs::write(full_path, bytes).unwrap();
            #[cfg(unix)]
            if bytes.len() % 7 == 3 {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(repo.root().join(path), mode).unwrap();
            }
        }
    }
}

#[test]
fn changed_files_match_git_numstat() {
    let (mut matching, mut total) = (0, 0);
    for seed in 0..8 {
        let repo = TestRepo::new();
        let mut history =
            RandomHistory { rng: SplitMix64(seed), files: BTreeMap::new(), file_count: 0 };
        let mut commits = vec![];
        for _ in 0..6 {
            (0..25).for_each(|_| history.apply_random_change());
            history.write_worktree(&repo);
            repo.stage();
            commits.push(repo.commit(&[]));
        }
        for pair in [(0, 1), (1, 2), (2, 5), (5, 0), (3, 4)] {
            let (old, new) = (commits[pair.0], commits[pair.1]);
            let ids = [old.to_string(), new.to_string()];
            let Some(git_rows) = git_numstat(&repo, &["--no-renames", &ids[0], &ids[1]]) else {
                return;
            };
            let diff = diff_range(&repo, &commit_range(old, new));
            assert!(diff.complete && diff.renames == RenameSearch::Exhaustive);
            let our_rows = to_numstat_rows(&diff.files);
            assert_eq!(numstat_paths(&our_rows), numstat_paths(&git_rows), "{seed} {pair:?}");
            let git_renamed_rows = git_numstat(&repo, &["-M", &ids[0], &ids[1]]).unwrap();
            total += 1;
            matching += usize::from(our_rows == git_renamed_rows);
            // Rename pairs may differ from git's, but files that neither side paired must match.
            let unpaired_rows = |rows: &[NumstatRow]| -> BTreeMap<String, NumstatRow> {
                let unpaired_rows = rows.iter().filter(|row| row.0.is_none());
                unpaired_rows.map(|row| (row.1.clone(), row.clone())).collect()
            };
            let (our_rows, git_unpaired) =
                (unpaired_rows(&our_rows), unpaired_rows(&git_renamed_rows));
            for (path, row) in &our_rows {
                assert!(git_unpaired.get(path).is_none_or(|other| other == row), "{seed} {row:?}");
            }
        }
    }
    assert!(matching * 10 >= total * 8, "{matching} of {total} diffs have the same renames as git");
}

#[test]
fn line_counts_of_repetitive_files_match_git() {
    let (repo, mut rng) = (TestRepo::new(), SplitMix64(5));
    let (mut old, mut new) = (vec![], vec![]);
    for file in 0..300 {
        let (mut before, mut after) = (String::new(), String::new());
        // From files with only repeated lines to files with few of them.
        let kinds = 2 + file % 9;
        for index in 0..rng.below(150) {
            let line = match rng.below(kinds) {
                0 => "}\n".to_owned(),
                1 => format!("same {}\n", rng.below(kinds)),
                _ => format!("only {index}\n"),
            };
            match rng.below(14) {
                0 => before.push_str(&line),
                1 => after.push_str(&line),
                2 => after = format!("{after}other {index}\n{line}"),
                3 => (before, after) = (before + &line, format!("{after}other {index}\n}}\n")),
                _ => (before, after) = (before + &line, after + &line),
            }
        }
        old.push((format!("{file}.rs"), before));
        new.push((format!("{file}.rs"), format!("{after}{}", ["", "no end"][file % 2])));
    }
    let commit = |files: &[(String, String)]| {
        let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        repo.commit(&files.collect::<Vec<_>>())
    };
    let (old, new) = (commit(&old), commit(&new));
    let ids = [old.to_string(), new.to_string()];
    let Some(git_rows) = git_numstat(&repo, &["--no-renames", &ids[0], &ids[1]]) else { return };
    assert_eq!(to_numstat_rows(&diff_range(&repo, &commit_range(old, new)).files), git_rows);
}

#[test]
fn worktree_and_staged_changes_match_git() {
    let repo = TestRepo::new();
    repo.commit(&[("a.rs", "1\n2\n"), ("gone.rs", "x\n"), ("old.rs", "some\nlines\nhere\n")]);
    repo.write("a.rs", "1\n3\n4\n");
    repo.write("new/b.rs", "no end");
    repo.remove("gone.rs");
    repo.remove("old.rs");
    repo.write("renamed.rs", "some\nlines\nhere\n");
    let diff = diff_range(&repo, &DiffRange::Worktree);
    repo.stage();
    let Some(git_rows) = git_numstat(&repo, &["--cached", "-M", "HEAD"]) else { return };
    assert_eq!(to_numstat_rows(&diff.files), git_rows);
    assert_eq!(to_numstat_rows(&diff_range(&repo, &DiffRange::Staged).files), git_rows);
    let kinds: Vec<(FileChangeKind, &str)> =
        diff.files.iter().map(|file| (file.kind, file.path.as_str())).collect();
    let expected = [
        (FileChangeKind::Modified, "a.rs"),
        (FileChangeKind::Deleted, "gone.rs"),
        (FileChangeKind::Added, "new/b.rs"),
        (FileChangeKind::Renamed, "renamed.rs"),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn attributes_links_and_submodules_match_git() {
    let repo = TestRepo::new();
    let first_commit = repo.commit(&[
        (".gitattributes", "*.svg -diff\n*.bin diff\nsub/** binary\n"),
        ("a.svg", "1\n"),
        ("b.bin", "1\0\n"),
        ("sub/c.txt", "1\n"),
        ("file", "1\n2\n3\n"),
    ]);
    repo.write("a.svg", "2\n");
    repo.write("b.bin", "2\0\n");
    repo.write("sub/c.txt", "2\n");
    repo.stage();
    let second_commit = repo.commit(&[]);
    let blob = |text: &str| repo.blob(text.as_bytes());
    let old = repo.raw_tree(&[("100644", b"file", blob("1\n")), ("160000", b"sub", first_commit)]);
    let new = repo.raw_tree(&[("120000", b"file", blob("1")), ("160000", b"sub", second_commit)]);
    let commit = |tree: Oid| {
        let repository = repo.repository();
        let tree = repository.find_tree(tree).unwrap();
        let signature = git2::Signature::new("a", "a@b", &git2::Time::new(0, 0)).unwrap();
        repository.commit(None, &signature, &signature, "x", &tree, &[]).unwrap()
    };
    for (old, new) in [(first_commit, second_commit), (commit(old), commit(new))] {
        let ids = [old.to_string(), new.to_string()];
        let Some(git_rows) = git_numstat(&repo, &["-M", &ids[0], &ids[1]]) else { return };
        assert_eq!(to_numstat_rows(&diff_range(&repo, &commit_range(old, new)).files), git_rows);
    }
}

#[test]
fn hunk_lines_match_the_file_contents() {
    for seed in 0..20 {
        let (repo, mut rng) = (TestRepo::new(), SplitMix64(seed));
        let lines = rng.below(200);
        let old = rng.random_lines(lines);
        let lines: Vec<&str> = old.lines().filter(|_| rng.below(9) > 0).collect();
        let mut new = lines.join("\n");
        new.push_str(&rng.random_lines(3));
        repo.commit(&[("a.rs", &old)]);
        repo.write("a.rs", &new);
        let (pin, diff) = (repo.pin(), diff_range(&repo, &DiffRange::Worktree));
        let reader = repo.tree_store().view(&repo.root(), &pin.tree).unwrap().reader().unwrap();
        let file_diff = reader.diff_file(&diff.files[0]).unwrap();
        assert_eq!(
            (file_diff.old, file_diff.new),
            (old.clone().into_bytes(), new.clone().into_bytes())
        );
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let (mut added, mut deleted) = (0, 0);
        for line in file_diff.hunks.iter().flat_map(|hunk| &hunk.lines) {
            assert!(line.old_number.is_none_or(|number| old[number - 1] == line.text), "{line:?}");
            assert!(line.new_number.is_none_or(|number| new[number - 1] == line.text), "{line:?}");
            added += usize::from(line.marker() == '+');
            deleted += usize::from(line.marker() == '-');
        }
        assert_eq!(diff.files[0].line_counts(), Some((added, deleted)));
    }
}
