//! The table of limits in `docs/design/limits.md` against the source: every constant is in the file
//! named, and every row names a test that exists.
use std::fs;

/// Extracts the texts in backticks of a table cell.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_limit_names_its_constant_its_file_and_an_existing_test() {
    let document = fs::read_to_string("docs/design/limits.md").unwrap();
    let rows =
        document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Limit"));
    let mut count = 0;
    for row in rows {
        count += 1;
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [limit, value, constants, files, tests] = cells[..] else {
            panic!("a row has {} cells: {row}", cells.len());
        };
        assert!(
            value.contains(|c: char| c.is_ascii_digit()) || value.contains("set by"),
            "no value: {row}"
        );
        let sources: String = quoted(files)
            .iter()
            .map(|path| {
                fs::read_to_string(path).unwrap_or_else(|_| panic!("no file {path}: {row}"))
            })
            .collect();
        for constant in quoted(constants) {
            let name = constant.rsplit("::").next().unwrap();
            assert!(sources.contains(name), "`{name}` is not in {files} ({limit})");
        }
        assert!(!quoted(tests).is_empty(), "no test holds this limit: {row}");
        for test in quoted(tests) {
            let (path, name) = test.rsplit_once("::").unwrap_or_else(|| panic!("no path: {row}"));
            let path = if path.starts_with("src/") {
                path.to_owned()
            } else {
                format!("tests/it/{path}.rs")
            };
            let text =
                fs::read_to_string(&path).unwrap_or_else(|_| panic!("no file {path}: {row}"));
            assert!(text.contains(&format!("fn {name}(")), "{path} has no test `{name}` ({limit})");
        }
    }
    assert!(count > 150, "only {count} limits");
}
