//! The folder of a split program: the test that it may be written, and writing it.
//!
//! The map comes last: a folder with a map holds all that the map names. Files that somebody edited are never replaced.

use std::io::Write;
use std::path::Path;

use fuser_ir::{Diagnostic, Diagnostics, Place};

use crate::split::{EDITED, MAP, Map, Split, map};
use crate::tool::files::{self, Limit, Staging};

/// The segment files named in the folder's map; empty without a map. Refuses a folder with an invalid map, or with
/// edited segment files.
pub fn check(folder: &Path) -> Result<Vec<String>, Diagnostics> {
    let read = |file: &str| files::read_in(folder, file, Limit::default());
    let mut errors = Diagnostics::default();
    let mut refuse = |message: String| {
        let error = Diagnostic::error(&EDITED, Place::Unknown, message);
        errors.push(error.help("give another folder, or remove this one"));
    };
    let there = |file: &str| folder.join(file).symlink_metadata().is_ok();
    if !there(MAP) {
        return Ok(Vec::new());
    }
    let mut old = Vec::new();
    let parsed = read(MAP).and_then(|text| {
        let parsed: serde_json::Result<Map> = serde_json::from_str(&text);
        parsed.map_err(|e| format!("'{}' is no map: {e}", folder.join(MAP).display()))
    });
    match parsed {
        Err(why) => refuse(format!("{why}; nobody knows what was edited")),
        Ok(map) => {
            for segment in map.segments.iter().filter(|s| there(&s.file)) {
                let as_written = read(&segment.file).map(|text| map::hash(&text) == segment.hash);
                let file = folder.join(&segment.file);
                match as_written {
                    Ok(true) => old.push(segment.file.clone()),
                    Ok(false) => refuse(format!(
                        "'{}' was edited since it was written",
                        file.display()
                    )),
                    Err(why) => refuse(why),
                }
            }
        }
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(old),
    }
}

/// Writes all files and removes those of an older map, `old`, that the new map lacks.
pub fn write(folder: &Path, old: &[String], split: &Split) -> Result<(), String> {
    let staging = Staging::new(folder)?;
    let map = (MAP.to_owned(), split.map.to_json());
    let files: Vec<&(String, String)> = split.files.iter().chain([&map]).collect();
    for (number, (file, text)) in files.iter().enumerate() {
        let contents = |out: &mut dyn Write| out.write_all(text.as_bytes());
        staging.write(number, file, contents)?;
    }
    let names: Vec<String> = files.iter().map(|(file, _)| file.clone()).collect();
    staging.publish(&names, Some(MAP))?;
    for file in old.iter().filter(|file| !names.contains(file)) {
        let path = folder.join(file);
        std::fs::remove_file(&path)
            .map_err(|e| format!("cannot remove '{}': {e}", path.display()))?;
    }
    Ok(())
}
