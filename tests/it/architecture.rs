//! Architecture tests: allowed dependencies between modules, no import cycles between files, layers
//! and no I/O in the core, one place for environment and stdout, and a maximum file length.
//! ARCHITECTURE.md prints the same dependency table.
use crate::import_graph::{
    ImportGraph, find_cycles, graph_of, is_test_file, module_of, reachable_from,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module, and the modules of this crate it may use.
type DependencyTable<'a> = &'a [(&'a str, &'a [&'a str])];

/// Allow-list of the uses between modules.
const ALLOWED_DEPENDENCIES: DependencyTable = &[
    ("debate", &[]),
    ("redact", &[]),
    ("options", &["debate"]),
    ("engine", &["debate", "redact"]),
    ("app", &["debate", "engine", "options", "redact", "review"]),
    ("report", &["debate"]),
    ("review", &["debate", "report"]),
    ("providers", &["debate", "engine"]),
    ("store", &["debate", "engine", "secure_fs", "report"]),
    ("brief", &["debate", "engine", "redact", "repo"]),
    ("evidence", &["debate", "engine", "secure_fs", "repo"]),
    ("secure_fs", &[]),
    ("repo", &["secure_fs", "redact"]),
    ("formats_catalog", &["debate", "engine"]),
    ("config", &["options"]),
    ("clients", &["config", "debate", "secure_fs"]),
    ("arena", &["app", "debate", "engine", "options"]),
    ("arena_client", &["app", "debate", "engine", "secure_fs"]),
    ("rating", &["app", "debate", "engine"]),
    ("tournament", &["app", "debate", "engine", "options", "rating"]),
    ("page", &["debate", "engine", "rating", "report"]),
    ("web", &["app", "arena", "debate", "engine", "page", "secure_fs", "rating"]),
    (
        "cli",
        &[
            "app",
            "clients",
            "debate",
            "engine",
            "options",
            "report",
            "review",
            "config",
            "arena",
            "arena_client",
            "rating",
            "tournament",
            "web",
        ],
    ),
    ("mcp", &["app", "clients", "debate", "engine", "options", "report", "review", "config"]),
];

/// Names that must not occur in the pure core.
const BANNED_IN_CORE: &[&str] = &[
    "tokio",
    "std::fs",
    "std::process",
    "std::net",
    "std::time",
    "std::env",
    "std::thread",
    "getrandom",
    "rusqlite",
    "jiff",
];

const MAX_FILE_LINES: usize = 500;

/// Modules whose files still import each other in a circle. To be emptied.
const MODULES_WITH_CYCLES: &[&str] = &[];

/// Prints the graph, too: `cargo test modules_use_exactly -- --nocapture`.
#[test]
#[allow(clippy::print_stdout)]
fn modules_use_exactly_the_allowed_modules() {
    let graph = ImportGraph::of_source();
    for ((from, to), count) in graph.module_edges() {
        println!("{from} -> {to}: {count} imports");
    }
    println!("{} files, {} edges between files", graph.files.len(), graph.edges.len());
    let errors = dependency_errors(&graph, ALLOWED_DEPENDENCIES);
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    let edges = ALLOWED_DEPENDENCIES
        .iter()
        .flat_map(|(module, allowed)| allowed.iter().map(|used| (*module, *used)));
    assert_eq!(find_cycles(edges), Vec::<Vec<&str>>::new());
}

#[test]
fn files_of_a_module_do_not_import_each_other_in_a_circle() {
    let graph = ImportGraph::of_source();
    for (module, _) in ALLOWED_DEPENDENCIES {
        let cycles = graph.cycles(module);
        let is_listed = MODULES_WITH_CYCLES.contains(module);
        assert!(
            cycles.is_empty() || is_listed,
            "`{module}`: move what these files share into a file below them: {cycles:#?}"
        );
        assert!(
            !(cycles.is_empty() && is_listed),
            "`{module}` has no cycle: remove it from MODULES_WITH_CYCLES"
        );
    }
}

#[test]
fn core_files_import_only_their_own_or_lower_layers() {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let layers = core_layers(&text);
    if layers.is_empty() {
        return;
    }
    let errors = layer_errors(&ImportGraph::of_source(), &layers);
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn every_module_is_in_the_dependency_table() {
    let lib_source = fs::read_to_string("src/lib.rs").unwrap();
    let modules =
        lib_source.lines().filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
    // The composition root and the fixtures of tests may use everything.
    let is_listed = |module: &&str| !["startup", "test_support"].contains(module);
    let mut modules: Vec<&str> = modules.filter(is_listed).collect();
    let mut table: Vec<&str> = ALLOWED_DEPENDENCIES.iter().map(|(module, _)| *module).collect();
    modules.sort_unstable();
    table.sort_unstable();
    assert_eq!(modules, table);
}

#[test]
fn the_core_does_no_io() {
    for (path, text) in core_sources() {
        for banned in BANNED_IN_CORE {
            assert!(!text.contains(banned), "{} names `{banned}`", path.display());
        }
    }
}

/// A format is data. No code branches on a format's name.
#[test]
fn core_does_not_branch_on_format_names() {
    for (path, text) in core_sources() {
        assert!(!text.contains("format.name"), "{} reads the name of the format", path.display());
    }
}

/// Only `config` reads the environment, and only `cli/screen.rs` writes to stdout.
#[test]
fn environment_and_stdout_have_one_owner_each() {
    for (module, _) in ALLOWED_DEPENDENCIES {
        for (path, text) in module_sources(module) {
            let reads_environment = text.contains("env::var(")
                || text.contains("env::var_os")
                || text.contains("env::current_dir");
            assert!(
                !reads_environment || *module == "config",
                "{} reads the environment",
                path.display()
            );
            let is_screen = path.ends_with("cli/screen.rs");
            let writes_stdout =
                text.contains("io::stdout()") || text.contains("anstream::stdout()");
            let writes_stdout = writes_stdout && !text.contains("stdout().is_terminal()");
            assert!(!writes_stdout || is_screen, "{} writes to stdout", path.display());
        }
    }
}

#[test]
fn no_source_file_exceeds_the_line_limit() {
    let mut paths = vec![];
    collect_rust_files(Path::new("src"), &mut paths);
    collect_rust_files(Path::new("tests"), &mut paths);
    collect_rust_files(Path::new("benches"), &mut paths);
    assert!(paths.len() > 50);
    for path in paths {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= MAX_FILE_LINES,
            "{} has {lines} lines: split it by concept",
            path.display()
        );
    }
}

#[test]
fn architecture_doc_has_the_same_table() {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let rows = table_rows(&text, "## Modules");
    let documented: Vec<(&str, Vec<&str>)> =
        rows.iter().map(|cells| (code_spans(cells[0])[0], code_spans(cells[1]))).collect();
    let allowed: Vec<(&str, Vec<&str>)> =
        ALLOWED_DEPENDENCIES.iter().map(|(module, allowed)| (*module, allowed.to_vec())).collect();
    assert_eq!(documented, allowed);
}

/// The picture shows every allowed use that does not follow from others.
#[test]
fn architecture_doc_has_a_true_picture() {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let arrows = text.lines().filter_map(|line| line.trim().split_once(" --> "));
    let mut drawn: Vec<(&str, &str)> = arrows
        .flat_map(|(from, to)| {
            from.split(" & ").flat_map(move |from| to.split(" & ").map(move |to| (from, to)))
        })
        .collect();
    let table: BTreeMap<&str, Vec<&str>> =
        ALLOWED_DEPENDENCIES.iter().map(|(module, used)| (*module, used.to_vec())).collect();
    let mut needed = vec![];
    for (module, allowed) in &table {
        let is_direct = |used: &&&str| {
            !allowed.iter().any(|other| reachable_from(other, &table).contains(**used))
        };
        needed.extend(allowed.iter().filter(is_direct).map(|used| (*module, *used)));
    }
    drawn.sort_unstable();
    needed.sort_unstable();
    assert_eq!(drawn, needed);
}

/// What differs between the graph and the table: uses that are not allowed, and allowed uses that
/// no file makes.
fn dependency_errors(graph: &ImportGraph, table: DependencyTable) -> Vec<String> {
    let is_allowed = |from: &str, to: &str| {
        table.iter().any(|(module, allowed)| *module == from && allowed.contains(&to))
    };
    let mut errors = vec![];
    for ((from, to), count) in &graph.edges {
        let (module, used) = (module_of(from), module_of(to));
        if module != used && !is_allowed(module, used) {
            errors.push(format!(
                "src/{from}.rs: `{module}` may not use `{used}` ({count} imports of {to})"
            ));
        }
    }
    let edges = graph.module_edges();
    for (module, allowed) in table {
        for used in *allowed {
            if !edges.contains_key(&(*module, *used)) {
                errors.push(format!("`{module}` may use `{used}` but does not: remove it"));
            }
        }
    }
    errors
}

/// The table "Layers of the core", lower layers first: the folder of each layer below `src/debate`
/// and the files in it. Empty if there is no such table.
fn core_layers(text: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = table_rows(text, "## Layers of the core");
    rows.iter().map(|cells| (code_spans(cells[0])[0], code_spans(cells[1]))).collect()
}

/// Files of the core that are in no layer or listed twice, listed files that do not exist, and
/// imports from a higher layer. A file below a listed one needs no entry. The root of the core,
/// which re-exports, is above all layers.
fn layer_errors(graph: &ImportGraph, layers: &[(&str, Vec<&str>)]) -> Vec<String> {
    let mut errors = vec![];
    let mut layer_by_file = BTreeMap::from([("debate".to_owned(), layers.len())]);
    for (layer, (folder, names)) in layers.iter().enumerate() {
        let root = format!("debate/{folder}");
        for name in names {
            let listed = format!("{root}/{name}");
            let below = format!("{listed}/");
            let is_covered = |file: &&String| **file == listed || file.starts_with(&below);
            let files: Vec<&String> = graph.files.iter().filter(is_covered).collect();
            if files.is_empty() {
                errors.push(format!("layer {folder}: src/{listed}.rs does not exist"));
            }
            for file in files {
                if layer_by_file.insert(file.clone(), layer).is_some() {
                    errors.push(format!("src/{file}.rs is listed twice"));
                }
            }
        }
        layer_by_file.insert(root, layer);
    }
    for file in graph.files.iter().filter(|file| module_of(file) == "debate") {
        if !layer_by_file.contains_key(file) {
            errors.push(format!("src/{file}.rs is in no layer of the core"));
        }
    }
    let name = |layer: usize| layers.get(layer).map_or("root", |(folder, _)| *folder);
    for (from, to) in graph.edges.keys() {
        let (Some(layer), Some(used)) = (layer_by_file.get(from), layer_by_file.get(to)) else {
            continue;
        };
        if used > layer {
            errors.push(format!(
                "src/{from}.rs ({}) may not import src/{to}.rs ({})",
                name(*layer),
                name(*used)
            ));
        }
    }
    errors
}

/// The body rows of the first Markdown table behind a text, split into cells.
fn table_rows<'t>(text: &'t str, behind: &str) -> Vec<Vec<&'t str>> {
    let section = text.split_once(behind).map_or("", |(_, section)| section);
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The texts between backticks.
fn code_spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The files of a module, without its tests.
/// The files of the core without its tests, whose data may contain anything.
fn core_sources() -> Vec<(PathBuf, String)> {
    let is_test = |path: &Path| path.with_extension("").iter().any(|part| part == "tests");
    module_sources("debate").into_iter().filter(|(path, _)| !is_test(path)).collect()
}

fn module_sources(module: &str) -> Vec<(PathBuf, String)> {
    let mut paths = vec![Path::new("src").join(format!("{module}.rs"))];
    collect_rust_files(&Path::new("src").join(module), &mut paths);
    paths.retain(|path| !path.iter().filter_map(OsStr::to_str).any(is_test_file));
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn collect_rust_files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_rust_files(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

#[test]
fn a_planted_dependency_error_is_found() {
    let graph = graph_of(&[
        ("a", "use crate::b::X;"),
        ("a/c", "fn f() { crate::d::g() }"),
        ("b", ""),
        ("d", ""),
    ]);
    let cases: &[(DependencyTable, &[&str])] = &[
        (&[("a", &["b", "d"])], &[]),
        (&[("a", &["b"])], &["src/a/c.rs: `a` may not use `d` (1 imports of d)"]),
        (&[("a", &["b", "d"]), ("b", &["d"])], &["`b` may use `d` but does not: remove it"]),
    ];
    for (table, expected) in cases {
        assert_eq!(dependency_errors(&graph, table), *expected, "{table:?}");
    }
}

#[test]
fn a_planted_layer_error_is_found() {
    let graph = graph_of(&[
        ("debate", ""),
        ("debate/text", ""),
        ("debate/text/word", ""),
        ("debate/text/word/part", "use crate::debate::plan::step::X;"),
        ("debate/plan", ""),
        ("debate/plan/step", "use super::super::text::word::Y;"),
    ]);
    let table = |rows: &str| {
        format!("## Layers of the core\n\n| layer | files |\n|---|---|\n{rows}\n## Data flows\n")
    };
    let cases: &[(&str, &[&str])] = &[
        (
            "| `text` | `word` |\n| `plan` | `step` |\n",
            &["src/debate/text/word/part.rs (text) may not import src/debate/plan/step.rs (plan)"],
        ),
        (
            "| `plan` | `step` |\n| `text` | `word` |\n",
            &["src/debate/plan/step.rs (plan) may not import src/debate/text/word.rs (text)"],
        ),
        (
            "| `text` | `word/part` `gone` |\n| `plan` | `step` `step` |\n",
            &[
                "layer text: src/debate/text/gone.rs does not exist",
                "src/debate/plan/step.rs is listed twice",
                "src/debate/text/word.rs is in no layer of the core",
                "src/debate/text/word/part.rs (text) may not import src/debate/plan/step.rs (plan)",
            ],
        ),
    ];
    for (rows, expected) in cases {
        assert_eq!(layer_errors(&graph, &core_layers(&table(rows))), *expected, "{rows}");
    }
    assert!(core_layers("## Data flows").is_empty());
}
