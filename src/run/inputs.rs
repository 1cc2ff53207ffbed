//! Inputs from a folder of `.npy` files, or from a `.npz` archive: one array for each input that the command line does
//! not specify.
//!
//! Files have the names that `--output-dir` gives to outputs, so that one run can read the outputs of another.

use std::path::{Path, PathBuf};

use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostic, Place};
use fuser_runtime::{InputSpec, NpyError, npz};

use super::args::Config;
use super::outputs::file_names;
use crate::session::error::{FILE, INPUT, one};
use crate::session::{SessionError, Signature};

/// The arrays of a folder or of an archive, by the names of their files.
enum Arrays<'a> {
    Folder(&'a Path, Vec<String>),
    Archive(&'a Path, Vec<String>),
}

impl<'a> Arrays<'a> {
    fn of(path: &'a Path) -> Result<Self, SessionError> {
        if !path.is_dir() {
            let wrong = |e: NpyError| error(&INPUT, format!("inputs: {e}"));
            return Ok(Self::Archive(path, npz::members(path).map_err(wrong)?));
        }
        let list = || -> std::io::Result<Vec<String>> {
            let names = std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name()));
            let names: Vec<_> = names.collect::<std::io::Result<_>>()?;
            let names = names.iter().map(|name| name.to_string_lossy().into_owned());
            let mut names: Vec<String> = names.filter(|name| name.ends_with(".npy")).collect();
            names.sort();
            Ok(names)
        };
        let unreadable = |e| error(&FILE, format!("cannot read '{}': {e}", path.display()));
        Ok(Self::Folder(path, list().map_err(unreadable)?))
    }
    fn place(&self) -> (&'a Path, &[String]) {
        match self {
            Self::Folder(path, names) | Self::Archive(path, names) => (path, names),
        }
    }
    fn spec(&self, name: String) -> InputSpec {
        match *self {
            Self::Folder(path, _) => InputSpec::File(path.join(name)),
            Self::Archive(path, _) => InputSpec::Member {
                archive: path.to_owned(),
                name,
            },
        }
    }
}

/// The command line with an input for each array of its folder or archive.
///
/// # Errors
/// An input that has no array; an array that is for no input.
pub fn with_arrays(config: &Config, signature: &Signature) -> Result<Config, SessionError> {
    let mut config = config.clone();
    let Some(path) = config.arrays.as_deref().map(PathBuf::from) else {
        return Ok(config);
    };
    let arrays = Arrays::of(&path)?;
    let (path, found) = arrays.place();
    let names: Vec<String> = signature.inputs.iter().map(|i| i.name.clone()).collect();
    let files = file_names(&names);
    let pairs = || names.iter().zip(&files);
    let wanted = |name: &str| !config.inputs.contains_key(name);
    let open: Vec<_> = pairs().filter(|(name, _)| wanted(name)).collect();
    let left: Vec<&String> = (found.iter())
        .filter(|file| open.iter().all(|(_, own)| own != file))
        .collect();
    if let Some((name, file)) = open.iter().find(|(_, file)| !found.contains(file)) {
        let message = format!(
            "input `{name}`: there is no '{file}' in '{}'",
            path.display()
        );
        // Of a short name every other one is near.
        let near = nearest(file, left.iter().map(|file| file.as_str()));
        let near = near.filter(|_| name.chars().count() > 2);
        return Err(advised(
            message,
            near.map(|n| format!("did you mean '{n}'?")),
        ));
    }
    if let Some(file) = left.first() {
        let message = format!("'{file}' of '{}' is for no input", path.display());
        let advice = match pairs().find(|(_, own)| own == file) {
            Some((name, _)) => format!("`--input {name}=...` gives that input already"),
            None => match names.is_empty() {
                true => "the program has no inputs".into(),
                false => format!("the program has {}", names.join(", ")),
            },
        };
        return Err(advised(message, Some(advice)));
    }
    let given: Vec<_> = open
        .into_iter()
        .map(|(name, file)| (name.clone(), arrays.spec(file.clone())))
        .collect();
    config.inputs.extend(given);
    Ok(config)
}

fn error(code: &'static fuser_ir::diag::CodeDef, message: String) -> SessionError {
    one(Diagnostic::error(code, Place::Unknown, message))
}

fn advised(message: String, advice: Option<String>) -> SessionError {
    let error = Diagnostic::error(&INPUT, Place::Unknown, message);
    one(match advice {
        Some(advice) => error.help(advice),
        None => error,
    })
}
