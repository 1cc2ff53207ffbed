//! The folder of a split program: whether it may be written, and writing it.
//!
//! The map comes last: a folder with a map holds all that the map names. Files that somebody edited are never replaced.

use std::path::Path;

use fuser_ir::{Diagnostic, Diagnostics, Place};

use crate::split::{EDITED, MAP, Map, Split, map};
use crate::tool::files::{self, Limit};

/// Refuses a folder with segments that are not as they were written.
pub fn check(folder: &Path) -> Result<(), Diagnostics> {
    let read =
        |file: &str| files::read(&folder.join(file).to_string_lossy(), Limit::default()).ok();
    let old = read(MAP).and_then(|text| serde_json::from_str::<Map>(&text).ok());
    let mut errors = Diagnostics::default();
    for segment in old.iter().flat_map(|map| &map.segments) {
        let edited = read(&segment.file).is_some_and(|text| map::hash(&text) != segment.hash);
        if edited {
            let file = folder.join(&segment.file);
            let message = format!("'{}' was edited since it was written", file.display());
            let error = Diagnostic::error(&EDITED, Place::Unknown, message);
            errors.push(error.help("give another folder, or remove this one"));
        }
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(()),
    }
}

/// Writes all files; those of an older map that the new one does not have are removed.
pub fn write(folder: &Path, split: &Split) -> Result<(), String> {
    let path = |file: &str| folder.join(file);
    let failed = |e: std::io::Error| format!("cannot write to '{}': {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let old = files::read(&path(MAP).to_string_lossy(), Limit::default()).ok();
    let old = old.and_then(|text| serde_json::from_str::<Map>(&text).ok());
    if old.is_some() {
        std::fs::remove_file(path(MAP)).map_err(failed)?;
    }
    for segment in old.iter().flat_map(|map| &map.segments) {
        let plain = !segment.file.contains(['/', '\\']);
        let gone = split.files.iter().all(|(file, _)| *file != segment.file);
        if plain && gone && path(&segment.file).is_file() {
            std::fs::remove_file(path(&segment.file)).map_err(failed)?;
        }
    }
    for (file, text) in &split.files {
        files::write(&path(file).to_string_lossy(), text)?;
    }
    files::write(&path(MAP).to_string_lossy(), &split.map.to_json())
}
