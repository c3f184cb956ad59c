//! The formats that can be opened, with the words their seats are asked with: embedded, replaceable
//! and extensible from the user's home, never from a repository.
//!
//! | file    | concept                                                     |
//! |---------|-------------------------------------------------------------|
//! | `words` | the words that come with the program                        |
//! | `file`  | a format as it is written in a file                         |
//! | `sound` | whether such a format could be played                       |
use crate::debate::formats;
use crate::engine::catalogue::{Broken, Catalogue, From, Offering};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

mod file;
mod sound;
mod words;

/// Every format there is. In `prompts` a file of the same name takes the place of ours; in `formats`
/// every `NAME.toml` is a format of the user's own.
pub fn load(prompts: &Path, formats: &Path) -> Catalogue {
    let mut catalogue = Catalogue {
        offerings: ours(prompts),
        broken: vec![],
        guest: words::GUEST.iter().map(|words| worded(prompts, words)).collect(),
    };
    for (name, text) in words::TEMPLATES {
        match file::read(name, text, &catalogue.offerings) {
            Ok((base, offering)) => {
                let from = From::Template(base.unwrap_or_default());
                catalogue.offerings.push(Offering { from, ..offering });
            }
            Err(why) => catalogue.broken.push(Broken {
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
    // One may be made from another, whichever is read first.
    loop {
        let before = own.len();
        own.retain(|(name, file, text)| {
            let Ok(text) = text else { return true };
            let Ok((_, offering)) = file::read(name, text, &catalogue.offerings) else {
                return true;
            };
            let from = From::User(file.clone());
            catalogue.offerings.push(Offering { from, ..offering });
            false
        });
        if own.len() == before {
            break;
        }
    }
    for (name, file, text) in own {
        let read = text.and_then(|text| file::read(&name, &text, &catalogue.offerings).map(drop));
        let why = read.err().unwrap_or_default();
        catalogue.broken.push(Broken { name, file, why });
    }
    catalogue
}

/// Bytes of a file of words or of a format.
const LONGEST: u64 = 1024 * 1024;

/// A file that is one: a pipe or a device would be waited for, and could be endless.
fn small(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(format!("it is no file of at most {LONGEST} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Words under their name: the user's, where there are any.
fn worded(folder: &Path, (name, file, ours): &(&str, &str, &str)) -> (String, String) {
    let own = small(&folder.join(file));
    ((*name).to_owned(), own.unwrap_or_else(|_| (*ours).to_owned()))
}

/// Those that come with the program, with the user's words where there are any.
fn ours(folder: &Path) -> Vec<Offering> {
    let words = |words| worded(folder, words);
    let offering = |offer: formats::Offer| {
        let (_, own) = words::FORMATS.iter().find(|(name, _)| *name == offer.format.name)?;
        let prompts = own.iter().chain(words::COMMON).map(words).collect::<BTreeMap<_, _>>();
        Some(Offering { offer, prompts, from: From::Program })
    };
    formats::offers().into_iter().filter_map(offering).collect()
}
