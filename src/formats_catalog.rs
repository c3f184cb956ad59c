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
    let mut catalog = FormatCatalog {
        entries: load_builtin_formats(prompts),
        invalid_files: vec![],
        arena_client_prompts: embedded_prompts::ARENA_CLIENT_PROMPTS
            .iter()
            .map(|prompt| load_prompt(prompts, prompt))
            .collect(),
    };
    for (name, text) in embedded_prompts::TEMPLATE_FORMATS {
        match format_file::parse(name, text, &catalog.entries) {
            Ok((base, format_entry)) => {
                let source = FormatSource::BuiltinTemplate(base.unwrap_or_default());
                catalog.entries.push(CatalogEntry { source, ..format_entry });
            }
            Err(why) => catalog.invalid_files.push(InvalidFormatFile {
                name: (*name).into(),
                file: format!("formats/{name}.toml"),
                why,
            }),
        }
    }
    let mut user_files: Vec<_> = fs::read_dir(formats)
        .into_iter()
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, path.display().to_string(), read_small_file(&path))
        })
        .collect();
    user_files.sort();
    // Formats can extend each other in any order, so retry until no more can be parsed.
    loop {
        let remaining = user_files.len();
        user_files.retain(|(name, file, text)| {
            let Ok(text) = text else { return true };
            let Ok((_, format_entry)) = format_file::parse(name, text, &catalog.entries) else {
                return true;
            };
            let source = FormatSource::UserFile(file.clone());
            catalog.entries.push(CatalogEntry { source, ..format_entry });
            false
        });
        if user_files.len() == remaining {
            break;
        }
    }
    for (name, file, text) in user_files {
        let parsed =
            text.and_then(|text| format_file::parse(&name, &text, &catalog.entries).map(drop));
        let why = parsed.err().unwrap_or_default();
        catalog.invalid_files.push(InvalidFormatFile { name, file, why });
    }
    tracing::debug!(
        formats = catalog.entries.len(),
        invalid = catalog.invalid_files.len(),
        "formats loaded"
    );
    catalog
}

/// Size limit of a prompt or format file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Reads a regular file up to the size limit. A pipe or device could block or never end.
fn read_small_file(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(format!("it is not a regular file of at most {MAX_FILE_BYTES} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// A prompt by name: the user's file if it is readable, or else the embedded text.
fn load_prompt(folder: &Path, (name, file, embedded): &(&str, &str, &str)) -> (String, String) {
    let user_text = read_small_file(&folder.join(file));
    ((*name).to_owned(), user_text.unwrap_or_else(|_| (*embedded).to_owned()))
}

/// The built-in formats, with prompts overridden by the user.
fn load_builtin_formats(folder: &Path) -> Vec<CatalogEntry> {
    let load = |prompt| load_prompt(folder, prompt);
    let build_entry = |offer: formats::FormatOffer| {
        let (_, table) =
            embedded_prompts::FORMAT_PROMPTS.iter().find(|(name, _)| *name == offer.format.name)?;
        let prompts = table
            .iter()
            .chain(embedded_prompts::COMMON_PROMPTS)
            .map(load)
            .collect::<BTreeMap<_, _>>();
        Some(CatalogEntry { offer, prompts, source: FormatSource::Builtin })
    };
    formats::built_in_offers().into_iter().filter_map(build_entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pads a text with a comment to this size.
    fn pad(text: &str, bytes: u64) -> String {
        let padding = usize::try_from(bytes).unwrap() - text.len();
        format!("{text}{}", "#".repeat(padding))
    }

    #[test]
    fn prompt_or_format_file_over_1_mib_is_not_read() {
        assert_eq!(MAX_FILE_BYTES, 1_048_576);
        for (bytes, is_read) in [(MAX_FILE_BYTES, true), (MAX_FILE_BYTES + 1, false)] {
            let folder = tempfile::tempdir().unwrap();
            let (prompts_dir, formats_dir) = (folder.path().join("p"), folder.path().join("f"));
            fs::create_dir_all(prompts_dir.join("duel")).unwrap();
            fs::create_dir_all(&formats_dir).unwrap();
            fs::write(prompts_dir.join("duel/propose.md"), pad("Mine.", bytes)).unwrap();
            let format_text = pad("about = \"x\"\nbase = \"duel\"\n", bytes);
            fs::write(formats_dir.join("mine.toml"), format_text).unwrap();
            let catalog = load(&prompts_dir, &formats_dir);
            assert_eq!(catalog.find("mine").is_ok(), is_read);
            let prompt = &catalog.find("duel").unwrap().prompts["propose"];
            assert_eq!(prompt.starts_with("Mine."), is_read);
        }
    }
}
