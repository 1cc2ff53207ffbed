//! The files named on a command line, compared before any work: no output may overwrite another output or an input.
//!
//! Files are compared by identity, through links and different paths: a second hard link is the same file. Streams and
//! devices are ignored.

use std::path::{Path, PathBuf};

use super::write::standard;

/// A file or folder of the command line.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The flag that names it, or what it is.
    flag: String,
    path: PathBuf,
    writes: bool,
    /// True if it may take the place of the program.
    in_place: bool,
    /// True if it is about a program, and no program.
    is_report: bool,
}

impl Claim {
    /// A file that is read.
    pub fn read(flag: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            flag: flag.into(),
            path: path.into(),
            writes: false,
            in_place: false,
            is_report: false,
        }
    }
    /// A file that is written after all other work, and may replace the first input file.
    pub fn rewritten(flag: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            in_place: true,
            ..Self::written(flag, path)
        }
    }
    /// A file that is written, which is about a program. It never takes the place of a program: in `--segment-report
    /// x.fir` the flag has taken the word that was meant as the program.
    pub fn report(flag: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            is_report: true,
            ..Self::written(flag, path)
        }
    }
    /// A file that is written.
    pub fn written(flag: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            writes: true,
            ..Self::read(flag, path)
        }
    }
}

/// The maximum number of links followed on the way to a file that does not exist.
const MAX_LINKS: usize = 40;

/// A file, by what the system knows it by.
#[derive(PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Node(u64, u64),
    Path(PathBuf),
}

/// The endings of programs.
const PROGRAMS: [&str; 2] = ["fir", "mlir"];

/// Refuses two results in one file, a result that overwrites an input, and a report that overwrites a program.
pub fn check(claims: &[Claim]) -> Result<(), String> {
    let identities: Vec<Option<Identity>> = claims.iter().map(|c| identity(&c.path)).collect();
    for (later, claim) in claims.iter().enumerate() {
        for (earlier, other) in claims[..later].iter().enumerate() {
            let same = identities[earlier].is_some() && identities[earlier] == identities[later];
            let in_place = claim.in_place && earlier == 0;
            if same && !in_place && (claim.writes || other.writes) {
                return Err(told(other, claim));
            }
        }
    }
    let replaces = |claim: &&Claim| {
        let ending = claim.path.extension().and_then(|ending| ending.to_str());
        let is_program = ending.is_some_and(|ending| PROGRAMS.contains(&ending));
        claim.is_report && is_program && claim.path.exists()
    };
    if let Some(Claim { flag, path, .. }) = claims.iter().find(replaces) {
        let path = path.display();
        return Err(format!(
            "{flag} would overwrite '{path}', which is a program by its name: give the report a file of its own, {flag}=FILE"
        ));
    }
    Ok(())
}

fn told(a: &Claim, b: &Claim) -> String {
    let (result, other) = if b.writes { (b, a) } else { (a, b) };
    let path = result.path.display();
    let (flag, own) = (&result.flag, &other.flag);
    match other.writes {
        true => {
            format!("{own} and {flag} would be written to one file, '{path}': give each its own")
        }
        false => format!("{flag} would overwrite {own}, which is read: '{path}'"),
    }
}

/// The identity of an existing or future file or folder; `None` for streams, devices and paths that cannot exist.
fn identity(path: &Path) -> Option<Identity> {
    let is_stream = path.to_str().is_some_and(|path| standard(path).is_some());
    if path.as_os_str().is_empty() || is_stream {
        return None;
    }
    if let Ok(data) = std::fs::metadata(path) {
        if !data.is_file() && !data.is_dir() {
            return None;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            return Some(Identity::Node(data.dev(), data.ino()));
        }
        #[cfg(not(unix))]
        return std::fs::canonicalize(path).ok().map(Identity::Path);
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    Some(Identity::Path(folder.join(path.file_name()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(at: &Path, a: &str, b: &str) -> Result<(), String> {
        check(&[
            Claim::written("-o", at.join(a)),
            Claim::written("--report", at.join(b)),
        ])
    }

    #[test]
    fn reports_replace_no_programs() {
        let at = tempfile::tempdir().unwrap();
        let [program, report] = ["x.fir", "x.json"].map(|name| at.path().join(name));
        std::fs::write(&program, "").unwrap();
        std::fs::write(&report, "").unwrap();
        let error = check(&[Claim::report("--segment-report", &program)]).unwrap_err();
        assert!(
            error.starts_with("--segment-report would overwrite"),
            "{error}"
        );
        assert!(check(&[Claim::report("--segment-report", &report)]).is_ok());
        assert!(check(&[Claim::report("--report", at.path().join("new.fir"))]).is_ok());
        assert!(check(&[Claim::rewritten("-o", &program)]).is_ok());
    }

    #[test]
    fn files_are_one_by_what_they_are() {
        let at = tempfile::tempdir().unwrap();
        let at = at.path();
        std::fs::create_dir(at.join("d")).unwrap();
        std::fs::write(at.join("x"), "").unwrap();
        assert!(both(at, "y", "z").is_ok());
        assert!(both(at, "x", "y").is_ok());
        let error = both(at, "y", "d/../y").unwrap_err();
        assert!(
            error.starts_with("-o and --report would be written to one file"),
            "{error}"
        );
        assert!(both(at, "x", "./x").is_err());
        #[cfg(unix)]
        {
            std::fs::hard_link(at.join("x"), at.join("hard")).unwrap();
            std::os::unix::fs::symlink("x", at.join("soft")).unwrap();
            std::os::unix::fs::symlink("new", at.join("dangling")).unwrap();
            std::os::unix::fs::symlink("round", at.join("round")).unwrap();
            assert!(both(at, "x", "hard").is_err());
            assert!(both(at, "soft", "hard").is_err());
            assert!(both(at, "dangling", "new").is_err());
            assert!(both(at, "round", "new").is_ok());
            assert!(both(Path::new("/"), "dev/null", "dev/null").is_ok());
        }
        assert!(both(Path::new(""), "-", "-").is_ok());
    }
    #[test]
    fn what_is_read_is_not_overwritten() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("x");
        std::fs::write(&path, "").unwrap();
        let reads = [
            Claim::read("the program", &path),
            Claim::read("--target-file", &path),
        ];
        assert!(check(&reads).is_ok());
        let writes = [
            Claim::read("the program", &path),
            Claim::written("--report", &path),
        ];
        let error = check(&writes).unwrap_err();
        assert!(
            error.starts_with("--report would overwrite the program, which is read"),
            "{error}"
        );
    }
}
