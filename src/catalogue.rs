//! Loads the format catalog: debate formats with the prompt templates of their phases. Both are
//! embedded in the binary. The user can replace prompts and add formats in the config folder, but a
//! repository cannot.
//!
//! | file               | concept                                          |
//! |--------------------|--------------------------------------------------|
//! | `embedded_prompts` | prompts and format templates in the binary       |
//! | `format_file`      | parser of format files (TOML)                    |
//! | `validate`         | validates parsed formats                         |
use crate::debate::formats;
use crate::engine::format_catalog::{CatalogEntry, FormatCatalog, FormatSource, InvalidFormatFile};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

mod file;
mod sound;
mod words;

/// Loads all formats. A file in `prompts` overrides the embedded prompt of the same name. Every
/// `NAME.toml` in `formats` is a user-defined format, and files with errors are collected.
pub fn load(prompts: &Path, formats: &Path) -> FormatCatalog {
    let mut catalogue = FormatCatalog {
        entries: ours(prompts),
        invalid_files: vec![],
        arena_client_prompts: words::GUEST.iter().map(|words| worded(prompts, words)).collect(),
    };
    for (name, text) in words::TEMPLATES {
        match file::read(name, text, &catalogue.entries) {
            Ok((base, offering)) => {
                let from = FormatSource::BuiltinTemplate(base.unwrap_or_default());
                catalogue.entries.push(CatalogEntry { source: from, ..offering });
            }
            Err(why) => catalogue.invalid_files.push(InvalidFormatFile {
                name: (*name).into(),
                file: format!("formats/{name}.toml"),
                why,
            }),
        }
    }
    let mut own: Vec<_> = fs::read_dir(formats)
        .into_iter()
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, path.display().to_string(), small(&path))
        })
        .collect();
    own.sort();
    // Formats can extend each other in any order, so retry until no more can be parsed.
    loop {
        let before = own.len();
        own.retain(|(name, file, text)| {
            let Ok(text) = text else { return true };
            let Ok((_, offering)) = file::read(name, text, &catalogue.entries) else {
                return true;
            };
            let from = FormatSource::UserFile(file.clone());
            catalogue.entries.push(CatalogEntry { source: from, ..offering });
            false
        });
        if own.len() == before {
            break;
        }
    }
    for (name, file, text) in own {
        let read = text.and_then(|text| file::read(&name, &text, &catalogue.entries).map(drop));
        let why = read.err().unwrap_or_default();
        catalogue.invalid_files.push(InvalidFormatFile { name, file, why });
    }
    catalogue
}

/// Size limit of a prompt or format file.
const LONGEST: u64 = 1024 * 1024;

/// Reads a regular file up to the size limit. A pipe or device could block or never end.
fn small(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(format!("it is no file of at most {LONGEST} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// A prompt by name: the user's file if it is readable, or else the embedded text.
fn worded(folder: &Path, (name, file, ours): &(&str, &str, &str)) -> (String, String) {
    let own = small(&folder.join(file));
    ((*name).to_owned(), own.unwrap_or_else(|_| (*ours).to_owned()))
}

/// The built-in formats, with prompts overridden by the user.
fn ours(folder: &Path) -> Vec<CatalogEntry> {
    let words = |words| worded(folder, words);
    let offering = |offer: formats::FormatOffer| {
        let (_, own) = words::FORMATS.iter().find(|(name, _)| *name == offer.format.name)?;
        let prompts = own.iter().chain(words::COMMON).map(words).collect::<BTreeMap<_, _>>();
        Some(CatalogEntry { offer, prompts, source: FormatSource::Builtin })
    };
    formats::built_in_offers().into_iter().filter_map(offering).collect()
}
