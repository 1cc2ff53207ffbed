//! Files that a run writes: outputs as `.npy` or in a `.npz`, the report as JSON.
//!
//! Outputs are renamed once all of them are complete, all or none: a failing run leaves no partial output. Their names
//! are unique even on file systems that ignore case.

use std::collections::BTreeSet;
use std::path::Path;

use fuser_runtime::npz;

use super::Findings;
use super::args::{Config, ReportForm};
use crate::explorer;
use crate::session::Signature;
use crate::tool::files::claims::Claim;
use crate::tool::files::{self, Staging};

/// The longest file name, without `.npy`, that file systems commonly accept; longer names are truncated.
const MAX_NAME: usize = 200;

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

/// The files of the command line, with those of the outputs.
pub fn claims(config: &Config, signature: &Signature) -> Vec<Claim> {
    let mut claims = config.claims();
    if let Some(archive) = &config.output {
        claims.push(Claim::written("--output", archive));
    }
    let Some(folder) = &config.output_dir else {
        return claims;
    };
    let names = &signature.output_names;
    for (name, file) in names.iter().zip(file_names(names)) {
        claims.push(Claim::written(
            format!("output `{name}`"),
            folder.join(file),
        ));
    }
    claims
}

/// Writes what the command line asks for.
pub fn write(findings: &Findings<'_>) -> Result<(), String> {
    let names = file_names(&findings.signature.output_names);
    let staged = match &findings.config.output_dir {
        Some(folder) => {
            let staging = Staging::new(folder)?;
            let outputs = names.iter().zip(&findings.execution.outputs);
            for (number, (name, tensor)) in outputs.enumerate() {
                let contents =
                    |mut out: &mut dyn std::io::Write| fuser_runtime::npy::write(&mut out, tensor);
                staging.write(number, name, contents)?;
            }
            Some(staging)
        }
        None => None,
    };
    let archived = match &findings.config.output {
        Some(archive) => Some(archive_of(archive, &names, findings)?),
        None => None,
    };
    for (form, path) in &findings.config.reports {
        let report = super::json::render(findings);
        let text = match form {
            ReportForm::Json => format!("{report:#}\n"),
            ReportForm::Html => findings.page(report),
            ReportForm::Dot => explorer::dot::dot(&report),
            ReportForm::Svg => explorer::svg::svg(&report),
            ReportForm::Perfetto => {
                let run = findings.execution.run.as_ref();
                let work = run.map_or(&[][..], |run| &run.timeline);
                explorer::trace::trace(findings.config.clock.events(), &report, work)
            }
        };
        files::write(path, &text)?;
    }
    staged.map_or(Ok(()), |staging| staging.publish(&names, None))?;
    archived.map_or(Ok(()), |(staging, name)| staging.publish(&[name], None))
}

/// All outputs in one archive, on its way.
fn archive_of(
    archive: &Path,
    names: &[String],
    findings: &Findings<'_>,
) -> Result<(Staging, String), String> {
    let name = archive.file_name().map(|name| name.to_string_lossy());
    let name = name.ok_or_else(|| format!("cannot write to '{}'", archive.display()))?;
    let folder = archive.parent().filter(|path| !path.as_os_str().is_empty());
    let staging = Staging::new(folder.unwrap_or(Path::new(".")))?;
    let outputs = findings.execution.outputs.iter();
    staging.write(0, &name, |out| {
        npz::write(out, names.iter().map(String::as_str).zip(outputs))
    })?;
    Ok((staging, name.into_owned()))
}

/// `NAME.npy` for each output. `%` and two digits replace a character other than `A-Z a-z 0-9 _ - .`, and a leading
/// dot. A name that is too long, or equals an earlier one except for case, gets `@` and its position; no other name
/// contains an `@`.
pub fn file_names(outputs: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let named = outputs.iter().enumerate().map(|(position, output)| {
        let mut name = escaped(output);
        let long = name.len() > MAX_NAME;
        name.truncate(MAX_NAME);
        match !long && taken.insert(name.to_ascii_lowercase()) {
            true => format!("{name}.npy"),
            false => format!("{name}@{position}.npy"),
        }
    });
    named.collect()
}

fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for (position, byte) in name.bytes().enumerate() {
        match byte {
            b'.' if position == 0 => escaped += "%2E",
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-' | b'.' => {
                escaped.push(char::from(byte));
            }
            _ => escaped += &format!("%{byte:02X}"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(outputs: &[&str]) -> Vec<String> {
        let outputs: Vec<String> = outputs.iter().map(|o| o.to_string()).collect();
        file_names(&outputs)
    }

    #[test]
    fn usual_names_stay() {
        assert_eq!(
            names(&["y", "T11", "out_0", "a.b-c", "output.0", "0"]),
            [
                "y.npy",
                "T11.npy",
                "out_0.npy",
                "a.b-c.npy",
                "output.0.npy",
                "0.npy"
            ]
        );
    }
    #[test]
    fn others_are_escaped_or_numbered() {
        let long = "x".repeat(MAX_NAME + 1);
        let cut = "x".repeat(MAX_NAME);
        let found = names(&[
            "a$", ".a", "a%24", "y", "Y", "y", "\u{e4}", "y@4", &long, &cut,
        ]);
        let expected = [
            "a%24", "%2Ea", "a%2524", "y", "Y@4", "y@5", "%C3%A4", "y%404",
        ];
        let mut expected: Vec<String> = expected.map(|n| format!("{n}.npy")).into();
        expected.extend([format!("{cut}@8.npy"), format!("{cut}.npy")]);
        assert_eq!(found, expected);
    }
    #[test]
    fn no_two_outputs_share_a_file() {
        let letters = ["a", "A", "$", ".", "@", "%", "2", "4", "0", "-", "1"];
        let mut outputs = vec![String::new()];
        for _ in 0..3 {
            let longer = outputs
                .iter()
                .flat_map(|o| letters.map(|l| format!("{o}{l}")));
            outputs = outputs.iter().cloned().chain(longer).collect();
        }
        let files = file_names(&outputs);
        let distinct: BTreeSet<String> = files.iter().map(|f| f.to_ascii_lowercase()).collect();
        assert_eq!(distinct.len(), outputs.len());
    }
}
