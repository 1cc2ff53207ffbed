//! The temporary folders `.fuser-XXXXXX.tmp`, in which files are written next to their destination before they are
//! complete.
//!
//! A run removes its own folders unless it is killed. Each folder is therefore locked (`flock`) by the run that writes
//! to it, then marked by a file inside. The next run that writes next to it removes marked folders without a lock.
//! Folders of a running process, and unmarked folders of any name, are never removed. Without file locks nothing is
//! removed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

const PREFIX: &str = ".fuser-";
const SUFFIX: &str = ".tmp";
/// Random letters and digits between the two.
const RANDOM: usize = 6;
/// The file that marks a folder, and what it holds.
const MARK: (&str, &str) = (".mark", "a folder for files on their way, made by fuser\n");

/// Attempts at a folder of one's own.
const ATTEMPTS: usize = 16;
/// The mode of a folder. The sticky bit, which has no use on a folder of one user, marks a folder that is still empty.
#[cfg(unix)]
const MODE: u32 = 0o1700;

/// A new file on its way to a place.
pub struct Temporary {
    file: File,
    path: PathBuf,
    _folder: TempDir,
    _lock: File,
}

impl Temporary {
    /// Gives the file its name, in the place of one that has it.
    pub fn persist(self, name: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, name)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates a file with this mode, if the system has modes, in a new temporary folder inside `beside`.
pub fn file(beside: &Path, mode: u32) -> io::Result<Temporary> {
    let (made, lock) = folder(beside)?;
    let path = made.path().join("new");
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    Ok(Temporary {
        file: options.open(&path)?,
        path,
        _folder: made,
        _lock: lock,
    })
}

/// Creates a folder inside `beside`, and returns it with the lock that must be held as long as the folder exists.
pub fn folder(beside: &Path) -> io::Result<(TempDir, File)> {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(MODE));
    // Another run may take it for a killed run's and remove it before the lock is held.
    for _ in 0..ATTEMPTS {
        let made = builder.tempdir_in(beside)?;
        let Ok(lock) = File::open(made.path()) else {
            continue;
        };
        // Without locks nobody removes it.
        let _ = lock.try_lock();
        match std::fs::write(made.path().join(MARK.0), MARK.1) {
            Ok(()) => return Ok((made, lock)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Removes the folders of killed runs where possible, without waiting for locks.
pub fn sweep(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|e| e.file_name().to_str().is_some_and(is_ours)) {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if !is_marked(&path) {
            remove_begun(&path);
        } else if File::open(&path).is_ok_and(|left| left.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX);
    let random = random.and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Removes a folder whose run was killed after its creation and before its marker was whole.
fn remove_begun(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let begun = |data: std::fs::Metadata| data.permissions().mode() & 0o7777 == MODE;
        let held = || File::open(folder).is_ok_and(|left| left.try_lock().is_err());
        if folder.metadata().is_ok_and(begun) && !held() {
            let mark = folder.join(MARK.0);
            if is_begun(&mark) {
                let _ = std::fs::remove_file(&mark);
            }
            let _ = std::fs::remove_dir(folder);
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// True if a mark is a file that holds the beginning of its text.
#[cfg(unix)]
fn is_begun(mark: &Path) -> bool {
    let length = mark.symlink_metadata().map(|m| (m.is_file(), m.len()));
    length.is_ok_and(|(is_file, length)| is_file && length < MARK.1.len() as u64)
        && std::fs::read_to_string(mark).is_ok_and(|text| MARK.1.starts_with(&text))
}

/// True if the mark is a file that holds what it should.
fn is_marked(folder: &Path) -> bool {
    let mark = folder.join(MARK.0);
    let length = mark.symlink_metadata().map(|m| (m.is_file(), m.len()));
    length.is_ok_and(|l| l == (true, MARK.1.len() as u64))
        && std::fs::read_to_string(mark).is_ok_and(|text| text == MARK.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_and_nobody_holds_is_removed_and_nothing_else() {
        let at = tempfile::tempdir().unwrap();
        let path = |name: &str| at.path().join(name);
        let files = [
            ".fuser-notes",
            ".fuser-abcdefg.tmp",
            ".fuser-a_cdef.tmp",
            ".fuser-abcdef.tmp",
            "x.tmp",
        ];
        for name in files {
            std::fs::write(path(name), "").unwrap();
        }
        // Folders of that name that somebody else made: empty, with files, with another mark, with a mark that leads elsewhere.
        let others = [
            ".fuser-others.tmp",
            ".fuser-mine00.tmp",
            ".fuser-marked.tmp",
        ];
        for name in others {
            std::fs::create_dir(path(name)).unwrap();
        }
        std::fs::write(path(".fuser-mine00.tmp/y.npy"), "").unwrap();
        std::fs::write(path(".fuser-marked.tmp/.mark"), "mine\n").unwrap();
        for name in [".fuser-killed.tmp", "marked"] {
            std::fs::create_dir(path(name)).unwrap();
            std::fs::write(path(name).join(MARK.0), MARK.1).unwrap();
            std::fs::write(path(name).join("new"), "half").unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            let mut builder = std::fs::DirBuilder::new();
            // Killed before its mark, and in the middle of it.
            for (name, mark) in [
                (".fuser-begun0.tmp", None),
                (".fuser-begun1.tmp", Some("")),
                (".fuser-begun2.tmp", Some(&MARK.1[..9])),
            ] {
                builder.mode(MODE).create(path(name)).unwrap();
                if let Some(mark) = mark {
                    std::fs::write(path(name).join(MARK.0), mark).unwrap();
                }
            }
        }
        let alive = file(at.path(), 0o644).unwrap();
        let (folder, _lock) = folder(at.path()).unwrap();
        sweep(at.path());
        let left = std::fs::read_dir(at.path()).unwrap();
        let mut left: Vec<_> = left.map(|e| e.unwrap().path()).collect();
        let kept = files.into_iter().chain(others).chain(["marked"]);
        let mut expected: Vec<_> = kept.map(path).collect();
        expected.extend([alive._folder.path().to_owned(), folder.path().to_owned()]);
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
    }
    #[test]
    fn writers_and_sweepers_do_not_meet() {
        let at = tempfile::tempdir().unwrap();
        let work = |number: usize| {
            for round in 0..200 {
                sweep(at.path());
                let file = file(at.path(), 0o644).unwrap();
                let name = at.path().join(format!("{number}-{round}"));
                file.persist(&name).unwrap();
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|number| drop(scope.spawn(move || work(number))));
        });
        assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 800);
    }
}
