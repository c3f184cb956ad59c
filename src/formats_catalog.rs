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

mod embedded_prompts;
mod format_file;
mod validate;

/// Loads all formats. A file in `prompts` overrides the embedded prompt of the same name. Every
/// `NAME.toml` in `formats` is a user-defined format, and files with errors are collected.
pub fn load(prompts: &Path, formats: &Path) -> FormatCatalog {
    let mut catalogue = FormatCatalog {
        entries: load_builtin_formats(prompts),
        invalid_files: vec![],
        arena_client_prompts: embedded_prompts::ARENA_CLIENT_PROMPTS
            .iter()
            .map(|words| load_prompt(prompts, words))
            .collect(),
    };
    for (name, text) in embedded_prompts::TEMPLATE_FORMATS {
        match format_file::parse(name, text, &catalogue.entries) {
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
            (name, path.display().to_string(), read_small_file(&path))
        })
        .collect();
    own.sort();
    // Formats can extend each other in any order, so retry until no more can be parsed.
    loop {
        let before = own.len();
        own.retain(|(name, file, text)| {
            let Ok(text) = text else { return true };
            let Ok((_, offering)) = format_file::parse(name, text, &catalogue.entries) else {
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
        let read =
            text.and_then(|text| format_file::parse(&name, &text, &catalogue.entries).map(drop));
        let why = read.err().unwrap_or_default();
        catalogue.invalid_files.push(InvalidFormatFile { name, file, why });
    }
    catalogue
}

/// Size limit of a prompt or format file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Reads a regular file up to the size limit. A pipe or device could block or never end.
fn read_small_file(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > MAX_FILE_BYTES {
        return Err(format!("it is no file of at most {MAX_FILE_BYTES} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// A prompt by name: the user's file if it is readable, or else the embedded text.
fn load_prompt(folder: &Path, (name, file, ours): &(&str, &str, &str)) -> (String, String) {
    let own = read_small_file(&folder.join(file));
    ((*name).to_owned(), own.unwrap_or_else(|_| (*ours).to_owned()))
}

/// The built-in formats, with prompts overridden by the user.
fn load_builtin_formats(folder: &Path) -> Vec<CatalogEntry> {
    let words = |words| load_prompt(folder, words);
    let offering = |offer: formats::FormatOffer| {
        let (_, own) =
            embedded_prompts::FORMAT_PROMPTS.iter().find(|(name, _)| *name == offer.format.name)?;
        let prompts = own
            .iter()
            .chain(embedded_prompts::COMMON_PROMPTS)
            .map(words)
            .collect::<BTreeMap<_, _>>();
        Some(CatalogEntry { offer, prompts, source: FormatSource::Builtin })
    };
    formats::built_in_offers().into_iter().filter_map(offering).collect()
}
