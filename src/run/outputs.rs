//! Files that a run leaves: outputs as `.npy`, the report as JSON.
//!
//! Everything is written beside its place first, and renamed when all of it is there: a run that fails leaves nothing
//! half written.

use std::path::Path;

use tempfile::TempDir;

use super::Findings;
use super::args::Config;

/// Refuses an output folder that cannot be one, before any work is done.
pub fn check_folder(config: &Config) -> Result<(), String> {
    match &config.output_dir {
        Some(folder) if folder.exists() && !folder.is_dir() => Err(format!(
            "cannot write to '{}': it is no folder",
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// Writes what the command line asks for.
pub fn write(findings: &Findings<'_>) -> Result<(), String> {
    let staged = match &findings.config.output_dir {
        Some(folder) => Some((folder, stage(findings, folder)?)),
        None => None,
    };
    if let Some(path) = &findings.config.report {
        let text = format!("{:#}\n", super::json::render(findings));
        crate::tool::files::write(path, &text)?;
    }
    match staged {
        Some((folder, staging)) => publish(&file_names(findings), &staging, folder),
        None => Ok(()),
    }
}

/// Writes all outputs to a folder inside `folder`.
fn stage(findings: &Findings<'_>, folder: &Path) -> Result<TempDir, String> {
    let failed = |e: std::io::Error| format!("cannot write to '{}': {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let staging = tempfile::Builder::new()
        .prefix(".fuser-")
        .tempdir_in(folder)
        .map_err(failed)?;
    for (name, tensor) in file_names(findings).iter().zip(&findings.execution.outputs) {
        fuser_runtime::npy::write(&staging.path().join(name), tensor).map_err(|e| e.to_string())?;
    }
    Ok(staging)
}

fn publish(names: &[String], staging: &TempDir, folder: &Path) -> Result<(), String> {
    for name in names {
        let to = folder.join(name);
        std::fs::rename(staging.path().join(name), &to)
            .map_err(|e| format!("cannot write '{}': {e}", to.display()))?;
    }
    Ok(())
}

/// `NAME.npy` for each output; a name that stands twice, or holds what no file name may, gets its number.
fn file_names(findings: &Findings<'_>) -> Vec<String> {
    let names = &findings.loaded.signature.output_names;
    let plain = |name: &str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    let unique = |i: usize| names.iter().position(|n| *n == names[i]) == Some(i);
    let numbered = names.iter().enumerate().map(|(i, name)| {
        match plain(name) && unique(i) && !name.starts_with('.') {
            true => format!("{name}.npy"),
            false => format!("output.{i}.npy"),
        }
    });
    numbered.collect()
}
