//! Import graph of the crate: which file uses which, by the paths that it names. A re-export is
//! followed to the file that defines the item, so a module root that only re-exports has no edges
//! to its children. Tests are not part of the graph.
use crate::rust_paths::{ImportedPath, SourcePaths, read_paths};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A source file as its path below `src` without the extension: `debate/rules/speech`.
pub(crate) type SourceFile = String;

/// Edges between the files of the library.
pub(crate) struct ImportGraph {
    pub(crate) files: BTreeSet<SourceFile>,
    /// From the importing file to the defining file, with the number of different paths.
    pub(crate) edges: BTreeMap<(SourceFile, SourceFile), usize>,
}

impl ImportGraph {
    /// Reads the files below `src`, except for tests and the two crate roots.
    pub(crate) fn of_source() -> Self {
        let mut sources = BTreeMap::new();
        collect_sources(Path::new("src"), "", &mut sources);
        sources.remove("lib");
        sources.remove("main");
        // The composition root uses everything.
        sources.remove("startup");
        assert!(sources.len() > 400, "only {} files found", sources.len());
        Self::of_texts(&sources)
    }

    /// Builds the graph of source texts by their file.
    pub(crate) fn of_texts(sources: &BTreeMap<SourceFile, String>) -> Self {
        let paths = sources.iter().map(|(file, text)| (file.clone(), read_paths(text)));
        let resolver = PathResolver { paths: paths.collect() };
        let mut edges = BTreeMap::new();
        for (file, paths) in &resolver.paths {
            let imports = paths.imports.iter().map(|import| &import.segments);
            let uses: BTreeSet<&Vec<String>> = imports.chain(&paths.inline).collect();
            let uses = uses.into_iter().filter_map(|path| resolver.resolve(file, path));
            // A re-export inside of a module moves a name and uses nothing.
            let reexports = paths.reexports.iter().map(|export| &export.segments);
            let reexports = reexports.filter_map(|path| resolver.resolve(file, path));
            let reexports = reexports.filter(|used| module_of(used) != module_of(file));
            for used in uses.chain(reexports).filter(|used| used != file) {
                *edges.entry((file.clone(), used)).or_default() += 1;
            }
        }
        Self { files: sources.keys().cloned().collect(), edges }
    }

    /// Edges between top-level modules, with the number of imports.
    pub(crate) fn module_edges(&self) -> BTreeMap<(&str, &str), usize> {
        let mut edges = BTreeMap::new();
        for ((from, to), count) in &self.edges {
            let (from, to) = (module_of(from), module_of(to));
            if from != to {
                *edges.entry((from, to)).or_default() += count;
            }
        }
        edges
    }

    /// The groups of files of one top-level module that import each other, directly or not.
    pub(crate) fn cycles(&self, module: &str) -> Vec<Vec<&str>> {
        let inner = self
            .edges
            .keys()
            .filter(|(from, to)| module_of(from) == module && module_of(to) == module);
        find_cycles(inner.map(|(from, to)| (from.as_str(), to.as_str())))
    }
}

/// The top-level module of a file.
pub(crate) fn module_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file)
}

/// Strongly connected components with more than one node, each sorted.
pub(crate) fn find_cycles<'a>(
    edges: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Vec<&'a str>> {
    let mut successors: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        successors.entry(from).or_default().push(to);
    }
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        successors.keys().map(|node| (*node, reachable_from(node, &successors))).collect();
    let mut cycles = BTreeSet::new();
    for (node, reached) in &reachable {
        let is_mutual =
            |other: &&str| reachable.get(other).is_some_and(|nodes| nodes.contains(node));
        let cycle: Vec<&str> = reached.iter().copied().filter(is_mutual).collect();
        if !cycle.is_empty() {
            cycles.insert(cycle);
        }
    }
    cycles.into_iter().collect()
}

/// The nodes that a path leads to. `start` is one of them only if it is on a cycle.
pub(crate) fn reachable_from<'a>(
    start: &str,
    successors: &BTreeMap<&'a str, Vec<&'a str>>,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<&str> = successors.get(start).cloned().unwrap_or_default();
    while let Some(node) = pending.pop() {
        if reached.insert(node) {
            pending.extend(successors.get(node).into_iter().flatten());
        }
    }
    reached
}

/// Finds the file in which a path ends.
struct PathResolver {
    paths: BTreeMap<SourceFile, SourcePaths>,
}

impl PathResolver {
    /// The file that defines `path`, as named in `file`. `None` for other crates and local names.
    fn resolve(&self, file: &str, path: &[String]) -> Option<SourceFile> {
        let (start, rest) = self.start_of(file, path)?;
        let found = self.follow(&start, rest, &mut BTreeSet::new());
        (!found.is_empty()).then_some(found)
    }

    /// The file in which the search starts (empty for the crate root), and the remaining segments.
    fn start_of<'p>(&self, file: &str, path: &'p [String]) -> Option<(SourceFile, &'p [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((String::new(), rest)),
            "self" => Some((file.to_owned(), rest)),
            "super" => {
                let supers = path.iter().take_while(|segment| *segment == "super").count();
                let start = (0..supers).fold(file, |file, _| parent_of(file));
                Some((start.to_owned(), &path[supers..]))
            }
            name if self.paths.contains_key(&child_of(file, name)) => Some((file.to_owned(), path)),
            name => {
                // A module that the file imports: `use crate::report;` and `report::view::render`.
                let imports = &self.paths.get(file)?.imports;
                let import = imports.iter().find(|import| import.name == name)?;
                if import.segments == path || import.segments[0] == *name {
                    return None;
                }
                let (start, segments) = self.start_of(file, &import.segments)?;
                let module =
                    segments.iter().fold(start, |module, segment| child_of(&module, segment));
                self.paths.contains_key(&module).then_some((module, rest))
            }
        }
    }

    /// Goes down the modules, then through re-exports. `seen` stops re-exports in a circle.
    fn follow(
        &self,
        start: &str,
        path: &[String],
        seen: &mut BTreeSet<(SourceFile, String)>,
    ) -> SourceFile {
        let mut module = start.to_owned();
        for (index, segment) in path.iter().enumerate() {
            let child = child_of(&module, segment);
            if self.paths.contains_key(&child) {
                module = child;
                continue;
            }
            let reexports = self.paths.get(&module).map(|paths| paths.reexports.as_slice());
            let export: Option<&ImportedPath> =
                reexports.unwrap_or_default().iter().find(|export| export.name == *segment);
            if let Some(export) = export
                && seen.insert((module.clone(), segment.clone()))
                && let Some((start, rest)) = self.start_of(&module, &export.segments)
            {
                let path: Vec<String> = rest.iter().chain(&path[index + 1..]).cloned().collect();
                return self.follow(&start, &path, seen);
            }
            break;
        }
        module
    }
}

fn child_of(module: &str, name: &str) -> SourceFile {
    if module.is_empty() { name.to_owned() } else { format!("{module}/{name}") }
}

fn parent_of(module: &str) -> &str {
    module.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether a file or folder below `src` has only tests or fixtures of tests.
pub(crate) fn is_test_file(name: &str) -> bool {
    let name = name.trim_end_matches(".rs");
    name == "tests" || name.starts_with("test_")
}

fn collect_sources(folder: &Path, prefix: &str, sources: &mut BTreeMap<SourceFile, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if is_test_file(name) {
            continue;
        }
        let file = child_of(prefix, name);
        if path.is_dir() {
            collect_sources(&path, &file, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(file, fs::read_to_string(&path).unwrap());
        }
    }
}

/// Planted files with their texts.
pub(crate) type SourceTexts<'a> = &'a [(&'a str, &'a str)];

/// The graph of planted files.
pub(crate) fn graph_of(sources: SourceTexts) -> ImportGraph {
    let sources = sources.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
    ImportGraph::of_texts(&sources.collect())
}

#[test]
fn imports_lead_to_the_defining_file() {
    let cases: &[(&str, SourceTexts, &[&str])] = &[
        (
            "child of the root",
            &[("a", ""), ("a/b", ""), ("c", "use crate::a::b::X;")],
            &["c -> a/b"],
        ),
        (
            "re-export",
            &[("a", "pub use b::X;"), ("a/b", ""), ("c", "use crate::a::X;")],
            &["c -> a/b"],
        ),
        (
            "renamed and chained re-exports",
            &[
                ("a", "pub use self::b::Y as Z;"),
                ("a/b", "pub(super) use d::X as Y;"),
                ("a/b/d", ""),
                ("c", "use crate::a::Z;"),
            ],
            &["c -> a/b/d"],
        ),
        (
            "grandparent",
            &[("a", ""), ("a/b", ""), ("a/b/c", "use super::super::X;")],
            &["a/b/c -> a"],
        ),
        (
            "sibling in code",
            &[("a", ""), ("a/b", "fn f() { super::c::g() }"), ("a/c", "")],
            &["a/b -> a/c"],
        ),
        ("child in code", &[("a", "fn f() { b::g() }"), ("a/b", "")], &["a -> a/b"]),
        (
            "imported module in code",
            &[
                ("a", ""),
                ("a/b", ""),
                ("a/b/c", ""),
                ("d", "use crate::a::b;\nfn f() { b::c::g() }"),
            ],
            &["d -> a/b", "d -> a/b/c"],
        ),
        ("other crates", &[("a", "use std::fs; fn f() { fs::read() }"), ("fs", "")], &[]),
        (
            "re-export of another module",
            &[("a", ""), ("a/b", ""), ("c", "pub use crate::a::b::X;")],
            &["c -> a/b"],
        ),
    ];
    for (name, sources, expected) in cases {
        let graph = graph_of(sources);
        let found: Vec<String> =
            graph.edges.keys().map(|(from, to)| format!("{from} -> {to}")).collect();
        assert_eq!(found, *expected, "{name}");
    }
}

#[test]
fn a_planted_cycle_is_found() {
    let cases: &[(SourceTexts, &[&[&str]])] = &[
        (&[("a", ""), ("a/b", "use super::c::X;"), ("a/c", "")], &[]),
        (
            &[("a", ""), ("a/b", "use super::c::X;"), ("a/c", "use super::b::Y;")],
            &[&["a/b", "a/c"]],
        ),
        (&[("a", "use b::X;"), ("a/b", "use super::Y;")], &[&["a", "a/b"]]),
        (&[("a", "pub use b::X;"), ("a/b", "use super::Y;")], &[]),
        (
            &[
                ("a/b", "use super::c::X;"),
                ("a/c", "use super::d::X;"),
                ("a/d", "use super::b::X;"),
            ],
            &[&["a/b", "a/c", "a/d"]],
        ),
        // Through another module: no cycle of this one.
        (&[("a/b", "use crate::c::X;"), ("c", "use crate::a::d::X;"), ("a/d", "")], &[]),
    ];
    for (sources, expected) in cases {
        assert_eq!(graph_of(sources).cycles("a"), *expected, "{sources:?}");
    }
}
