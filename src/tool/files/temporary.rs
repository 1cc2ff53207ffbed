//! The names that files have before they are whole, `.fuser-XXXXXX.tmp`, beside those that they get.
//!
//! A run removes its own, whatever happens, unless it is killed. So each is locked (`flock`) by the run that writes it,
//! and the next run that writes into the folder removes those that nobody holds. Never removes files of a living run,
//! nor files with another name. On a file system without locks nothing is removed.

use std::fs::{File, Permissions, TryLockError};
use std::io;
use std::path::Path;

use tempfile::{NamedTempFile, TempDir};

const PREFIX: &str = ".fuser-";
const SUFFIX: &str = ".tmp";
/// Random letters and digits between the two.
const RANDOM: usize = 6;
/// Attempts at a name of one's own: another run may take the file for a killed run's and remove it before the lock is
/// held.
const ATTEMPTS: usize = 16;

/// A new file in a folder.
pub fn file(folder: &Path, permissions: Permissions) -> io::Result<NamedTempFile> {
    for _ in 0..ATTEMPTS {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        let file = builder
            .permissions(permissions.clone())
            .tempfile_in(folder)?;
        if holds(file.as_file()) {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// A new folder in a folder, with the lock that is to be kept as long as it is.
pub fn folder(folder: &Path) -> io::Result<(TempDir, File)> {
    for _ in 0..ATTEMPTS {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        let made = builder.tempdir_in(folder)?;
        if let Ok(lock) = File::open(made.path())
            && holds(&lock)
        {
            return Ok((made, lock));
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Locks what was made just now. Another run may have locked it first, to remove it.
fn holds(made: &File) -> bool {
    match made.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Without locks nobody removes it.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => has_name(made),
    }
}

#[cfg(unix)]
fn has_name(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|m| m.nlink() > 0)
}

/// Removes what killed runs left in a folder, where that can be done; nobody waits for it.
pub fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|e| e.file_name().to_str().is_some_and(is_ours)) {
        // A pipe of that name is none of ours, and is not opened.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if !kind.is_file() && !kind.is_dir() {
            continue;
        }
        let Ok(left) = File::open(&path) else {
            continue;
        };
        if left.try_lock().is_ok() {
            let _ = match kind.is_dir() {
                true => std::fs::remove_dir_all(&path),
                false => std::fs::remove_file(&path),
            };
        }
    }
}

fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX);
    let random = random.and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let at = tempfile::tempdir().unwrap();
        let path = |name: &str| at.path().join(name);
        let kept = [
            ".fuser-notes",
            ".fuser-abcdefg.tmp",
            ".fuser-a_cdef.tmp",
            "x.tmp",
        ];
        for name in kept.into_iter().chain([".fuser-abcdef.tmp"]) {
            std::fs::write(path(name), "").unwrap();
        }
        std::fs::create_dir(path(".fuser-Folder.tmp")).unwrap();
        std::fs::write(path(".fuser-Folder.tmp/y.npy"), "").unwrap();
        let plain = std::fs::metadata(path("x.tmp")).unwrap().permissions();
        let alive = file(at.path(), plain).unwrap();
        let (folder, _lock) = folder(at.path()).unwrap();
        sweep(at.path());
        let left = std::fs::read_dir(at.path()).unwrap();
        let mut left: Vec<_> = left.map(|e| e.unwrap().path()).collect();
        let mut expected: Vec<_> = kept.map(path).into();
        expected.extend([alive.path().to_owned(), folder.path().to_owned()]);
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
    }
    #[test]
    fn writers_and_sweepers_do_not_meet() {
        let at = tempfile::tempdir().unwrap();
        let plain = std::fs::metadata(at.path()).unwrap().permissions();
        let work = |number: usize| {
            for round in 0..200 {
                sweep(at.path());
                let file = file(at.path(), plain.clone()).unwrap();
                let name = at.path().join(format!("{number}-{round}"));
                file.persist(name).unwrap();
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|number| drop(scope.spawn(move || work(number))));
        });
        assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 800);
    }
}
