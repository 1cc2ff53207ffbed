//! Several files of one folder that appear together, as far as the file system allows.
//!
//! All are written to a folder inside of it first, and get their names when the last is whole. If one cannot get its
//! name, those before it are taken back, and the files that they replaced are restored. A kill between two names leaves
//! some files new and others old; [`Staging::publish`] can take away a file before, and put it back as the last, which
//! tells.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::temporary;

/// Files on their way into a folder.
pub struct Staging {
    folder: PathBuf,
    inside: TempDir,
    _lock: File,
}

/// The file that had a name before.
enum Old {
    Nothing,
    Kept,
    /// Something that could not be kept.
    Lost,
}

impl Staging {
    /// Begins in `folder`, which is made where it is not there.
    pub fn new(folder: &Path) -> Result<Self, String> {
        let begin = || {
            std::fs::create_dir_all(folder)?;
            temporary::sweep(folder);
            temporary::folder(folder)
        };
        let made = begin().map_err(|e| format!("cannot write to '{}': {e}", folder.display()));
        made.map(|(inside, lock)| Self {
            folder: folder.to_owned(),
            inside,
            _lock: lock,
        })
    }
    /// Writes file number `number`, to be called `name`.
    pub fn write(
        &self,
        number: usize,
        name: &str,
        contents: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let write = || {
            let mut out = io::BufWriter::new(File::create(self.new_name(number))?);
            contents(&mut out)?;
            out.flush()
        };
        write().map_err(|e| self.failed(name, &e))
    }
    /// Renames file number i to `names[i]`. The old `seal` is removed first, and its new version must be the last name.
    /// While a seal exists, all files therefore come from one run.
    pub fn publish(self, names: &[String], seal: Option<&str>) -> Result<(), String> {
        let is_folder = |name: &&String| self.folder.join(name).is_dir();
        if let Some(name) = names.iter().find(is_folder) {
            return Err(self.failed(name, &io::ErrorKind::IsADirectory.into()));
        }
        let sealed = seal.map(|name| (name, self.keep(names.len(), name)));
        let unsealed = sealed.as_ref().map_or(Ok(()), |(name, old)| match old {
            Old::Nothing => Ok(()),
            _ => std::fs::remove_file(self.folder.join(name)).map_err(|e| self.failed(name, &e)),
        });
        let mut done = Vec::with_capacity(names.len());
        let published = unsealed.and_then(|()| {
            for (number, name) in names.iter().enumerate() {
                let old = self.keep(number, name);
                std::fs::rename(self.new_name(number), self.folder.join(name))
                    .map_err(|e| self.failed(name, &e))?;
                done.push(old);
            }
            Ok(())
        });
        if published.is_err() {
            for (number, old) in done.iter().enumerate().rev() {
                self.restore(number, &names[number], old);
            }
            if let Some((name, old)) = &sealed {
                self.restore(names.len(), name, old);
            }
        }
        published
    }
    fn new_name(&self, number: usize) -> PathBuf {
        self.inside.path().join(format!("new.{number}"))
    }
    fn old_name(&self, number: usize) -> PathBuf {
        self.inside.path().join(format!("old.{number}"))
    }
    /// A second name for what is about to be replaced.
    fn keep(&self, number: usize, name: &str) -> Old {
        let path = self.folder.join(name);
        match std::fs::hard_link(&path, self.old_name(number)) {
            Ok(()) => Old::Kept,
            Err(_) if path.symlink_metadata().is_err() => Old::Nothing,
            Err(_) => Old::Lost,
        }
    }
    /// The first error is told; a second one has nobody to go to.
    fn restore(&self, number: usize, name: &str, old: &Old) {
        let path = self.folder.join(name);
        let _ = match old {
            Old::Nothing => std::fs::remove_file(path),
            Old::Kept => std::fs::rename(self.old_name(number), path),
            Old::Lost => Ok(()),
        };
    }
    fn failed(&self, name: &str, error: &io::Error) -> String {
        let path = self.folder.join(name);
        format!("cannot write '{}': {error}", path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(folder: &Path, texts: &[&str]) -> Staging {
        let staging = Staging::new(folder).unwrap();
        for (number, text) in texts.iter().enumerate() {
            let write = |out: &mut dyn Write| out.write_all(text.as_bytes());
            staging.write(number, "x", write).unwrap();
        }
        staging
    }
    fn all(folder: &Path) -> Vec<(String, String)> {
        let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap());
        let name = |e: &std::fs::DirEntry| e.file_name().into_string().unwrap();
        let text = |e: &std::fs::DirEntry| std::fs::read_to_string(e.path()).unwrap_or_default();
        let mut all: Vec<_> = entries.map(|e| (name(&e), text(&e))).collect();
        all.sort();
        all
    }
    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|n| n.to_string()).collect()
    }

    #[test]
    fn all_files_or_none() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("deep/out");
        let list = names(&["a", "b", "seal"]);
        let first = staged(&folder, &["1", "2", "3"]);
        first.publish(&list, Some("seal")).unwrap();
        let before = all(&folder);
        assert_eq!(before.len(), 3);
        // A name in a folder that is not there.
        let wrong = names(&["a", "none/b", "seal"]);
        let second = staged(&folder, &["4", "5", "6"]);
        assert!(second.publish(&wrong, Some("seal")).is_err());
        assert_eq!(all(&folder), before);
        let wrong = names(&["c", "a", "none/b"]);
        let third = staged(&folder, &["4", "5", "6"]);
        assert!(third.publish(&wrong, None).is_err());
        assert_eq!(all(&folder), before);
        // A folder under one of the names is seen before anything is done.
        std::fs::create_dir(folder.join("d")).unwrap();
        let fourth = staged(&folder, &["4", "5"]);
        let error = fourth.publish(&names(&["a", "d"]), None).unwrap_err();
        assert!(error.contains("d': is a directory"), "{error}");
        std::fs::remove_dir(folder.join("d")).unwrap();
        assert_eq!(all(&folder), before);
    }
}
