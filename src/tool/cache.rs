//! A cache of compiled kernels and artifacts in a folder, which processes share.
//!
//! An entry is a file, named by a hash of its key. It holds a checksum, the key and the bytes: what is damaged, or is of another key, is
//! no entry, and is compiled and written again. A file appears whole or not at all. The folder has a bound; the oldest entries go first.
//!
//! Never fails: where the disk does not do what it is asked, kernels are compiled, and [`Disk::state`] has the first reason.

use std::fs::{self, DirBuilder};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The variable that names the folder; empty for no cache.
pub const VARIABLE: &str = "FUSER_CACHE_DIR";

/// The most bytes that entries may have together: tens of thousands of kernels.
const MOST_BYTES: u64 = 256 << 20;

/// The first bytes of an entry.
const MAGIC: &[u8] = b"fuser kernel 2\n";

/// The ending of the names of entries.
const ENDING: &str = "kernel";

/// The flags that state the cache.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// `--no-cache`
    pub off: bool,
    /// `--cache-dir`
    pub folder: Option<PathBuf>,
}

impl Wanted {
    /// The cache that is meant: by flags, by the variable, else in the user's folder for caches.
    pub fn open(&self) -> Option<Arc<Disk>> {
        if self.off {
            return None;
        }
        let absolute = |name: &str| {
            let folder = std::env::var_os(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let users = || {
            let home = || Some(absolute("HOME")?.join(".cache"));
            Some(absolute("XDG_CACHE_HOME").or_else(home)?.join("fuser"))
        };
        let folder = match (&self.folder, std::env::var_os(VARIABLE)) {
            (Some(folder), _) => Some(folder.clone()),
            (None, Some(folder)) => Some(PathBuf::from(folder)),
            (None, None) => users(),
        };
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty())?;
        Some(Arc::new(Disk::new(folder, MOST_BYTES)))
    }
}

/// A cache in a folder.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    most_bytes: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    /// The bytes of entries as last counted, and those written since.
    bytes: Mutex<Option<u64>>,
    error: Mutex<Option<String>>,
}

/// The part that a cache had in a run.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct State {
    /// The folder.
    pub folder: String,
    /// Entries that were found.
    pub hits: u64,
    /// Entries that were not.
    pub misses: u64,
    /// The first thing that went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Disk {
    /// The cache in `folder`, created on demand, of at most `most_bytes` bytes.
    pub fn new(folder: PathBuf, most_bytes: u64) -> Self {
        Disk {
            folder,
            most_bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            bytes: Mutex::new(None),
            error: Mutex::new(None),
        }
    }

    /// The part that it had so far.
    pub fn state(&self) -> State {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        State {
            folder: self.folder.display().to_string(),
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            error: error.clone(),
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        let [low, high] = hash(&[key.as_bytes()]);
        self.folder.join(format!("{high:016x}{low:016x}.{ENDING}"))
    }

    fn write(&self, key: &str, bytes: &[u8]) -> std::io::Result<()> {
        make(&self.folder)?;
        let length = (key.len() as u64).to_le_bytes();
        let parts = [&length, key.as_bytes(), bytes];
        let mut file = tempfile::Builder::new()
            .prefix(".")
            .tempfile_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&hash(&parts)[0].to_le_bytes())?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        let size = file.as_file().metadata()?.len();
        file.persist(self.path(key))?;
        self.bound(size)
    }

    /// Removes the oldest entries where `added` bytes more are too many; three quarters of the bound are left.
    fn bound(&self, added: u64) -> std::io::Result<()> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = bytes.map(|bytes| bytes + added);
        *bytes = counted;
        if counted.is_some_and(|bytes| bytes <= self.most_bytes) {
            return Ok(());
        }
        let mut entries = entries(&self.folder)?;
        let mut sum: u64 = entries.iter().map(|entry| entry.1).sum();
        if sum > self.most_bytes {
            entries.sort();
            for (_, size, path) in entries {
                if sum <= self.most_bytes / 4 * 3 {
                    break;
                }
                // Another process may have removed it.
                let _ = fs::remove_file(path);
                sum -= size;
            }
        }
        *bytes = Some(sum);
        Ok(())
    }
}

impl PartialEq for Disk {
    /// The same folder.
    fn eq(&self, other: &Disk) -> bool {
        self.folder == other.folder
    }
}

#[cfg(feature = "codegen")]
impl fuser_codegen::Cache for Disk {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        Disk::get(self, key)
    }
    fn put(&self, key: &str, bytes: &[u8]) {
        Disk::put(self, key, bytes);
    }
}

impl Disk {
    /// The bytes that were put under `key`.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let found = entry(&self.path(key), self.most_bytes).ok();
        let value = found.and_then(|entry| value(&entry, key).map(<[u8]>::to_vec));
        let count = match value {
            Some(_) => &self.hits,
            None => &self.misses,
        };
        count.fetch_add(1, Ordering::Relaxed);
        value
    }

    /// Keeps bytes, where the disk lets it.
    pub fn put(&self, key: &str, bytes: &[u8]) {
        if let Err(error) = self.write(key, bytes) {
            let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| error.to_string());
        }
    }
}

/// The bytes of a file of at most `most_bytes` bytes. Pipes and devices, which may be endless, are not opened.
fn entry(path: &Path, most_bytes: u64) -> std::io::Result<Vec<u8>> {
    let data = fs::metadata(path)?;
    if !data.is_file() || data.len() > most_bytes {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::with_capacity(data.len() as usize + 1);
    fs::File::open(path)?
        .take(most_bytes)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of an entry, if it is whole and of this key.
fn value<'a>(entry: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let (sum, rest) = entry.strip_prefix(MAGIC)?.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let bytes = rest.strip_prefix(key.as_bytes())?;
    let whole = hash(&[length, key.as_bytes(), bytes])[0] == u64::from_le_bytes(*sum);
    (whole && u64::from_le_bytes(*length) == key.len() as u64).then_some(bytes)
}

/// 128 bits that differ where bytes do but for accidents: twice FNV-1a by words of eight bytes, whose upper half is mixed in. Where one part ends and
/// the next begins counts.
fn hash(parts: &[&[u8]]) -> [u64; 2] {
    let mix = |hash: [u64; 2], word: u64| {
        hash.map(|hash| {
            let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            product ^ (product >> 32)
        })
    };
    let start = [0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3_cbf2];
    parts.iter().fold(start, |hash, part| {
        let (words, rest) = part.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let hash = words.fold(hash, mix);
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        mix(mix(hash, u64::from_le_bytes(last)), part.len() as u64)
    })
}

/// Makes the folder, for its user alone.
fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The entries of a folder: time, bytes and path.
fn entries(folder: &Path) -> std::io::Result<Vec<(SystemTime, u64, PathBuf)>> {
    let files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let ours = files.filter(|path| path.extension().is_some_and(|ending| ending == ENDING));
    let entry = |path: PathBuf| {
        let data = path.metadata().ok()?;
        Some((data.modified().ok()?, data.len(), path))
    };
    Ok(ours.filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(most_bytes: u64) -> (tempfile::TempDir, Disk) {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new(folder.path().join("a/b"), most_bytes);
        (folder, disk)
    }

    #[test]
    fn what_was_put_is_found_by_its_key_alone() {
        let (_folder, disk) = disk(1 << 20);
        assert_eq!(disk.get("k"), None);
        disk.put("k", b"bytes");
        disk.put("empty", b"");
        assert_eq!(disk.get("k").as_deref(), Some(&b"bytes"[..]));
        assert_eq!(disk.get("empty").as_deref(), Some(&b""[..]));
        assert_eq!(disk.get("another"), None);
        // The file of one key under the name of another: hashes that collide, or a file that was renamed.
        fs::rename(disk.path("k"), disk.path("other")).unwrap();
        assert_eq!(disk.get("other"), None);
        let state = disk.state();
        assert_eq!((state.hits, state.misses, state.error), (2, 3, None));
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let (_folder, disk) = disk(1 << 20);
        disk.put("key", b"the code of a kernel");
        let whole = fs::read(disk.path("key")).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            fs::write(disk.path("key"), &damaged).unwrap();
            assert_eq!(disk.get("key"), None, "byte {at}");
            fs::write(disk.path("key"), &whole[..at]).unwrap();
            assert_eq!(disk.get("key"), None, "{at} bytes");
        }
        disk.put("key", b"again");
        assert_eq!(disk.get("key").as_deref(), Some(&b"again"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_no_entry() {
        let (_folder, disk) = disk(1 << 20);
        disk.put("key", b"code");
        let path = disk.path("key");
        let made = |program: &str| {
            let done = std::process::Command::new(program).arg(&path).status();
            done.is_ok_and(|status| status.success())
        };
        for no_entry in ["pipe", "zeros", "folder", "large"] {
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
            match no_entry {
                "pipe" => assert!(made("mkfifo")),
                "zeros" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                "folder" => fs::create_dir(&path).unwrap(),
                _ => fs::File::create(&path).unwrap().set_len(2 << 20).unwrap(),
            }
            assert_eq!(disk.get("key"), None, "{no_entry}");
        }
        fs::remove_file(&path).unwrap();
        disk.put("key", b"code");
        assert_eq!(disk.get("key").as_deref(), Some(&b"code"[..]));
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let entry = |n: u32| format!("key {n:04}");
        let size = (MAGIC.len() + 16 + 8 + 1000) as u64;
        let (_folder, disk) = disk(16 * size);
        for n in 0..40 {
            disk.put(&entry(n), &[7; 1000]);
            let file = fs::File::options()
                .append(true)
                .open(disk.path(&entry(n)))
                .unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(n));
            file.set_modified(time).unwrap();
            let sum: u64 = entries(&disk.folder)
                .unwrap()
                .iter()
                .map(|entry| entry.1)
                .sum();
            assert!(sum <= 16 * size, "{sum} bytes after {n}");
        }
        assert!(disk.get(&entry(39)).is_some() && disk.get(&entry(0)).is_none());
        assert!(entries(&disk.folder).unwrap().len() >= 12);
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error_that_is_told_and_no_more() {
        let (folder, _) = disk(1 << 20);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let disk = Disk::new(file.join("cache"), 1 << 20);
        disk.put("key", b"code");
        assert_eq!(disk.get("key"), None);
        assert!(disk.state().error.is_some());
    }

    #[test]
    fn writers_and_readers_at_once_see_whole_entries() {
        let (_folder, disk) = disk(20_000);
        std::thread::scope(|scope| {
            for turn in 0..4u32 {
                let (disk, other) = (&disk, Disk::new(disk.folder.clone(), 20_000));
                scope.spawn(move || {
                    for n in 0..200 {
                        let (key, bytes) = (
                            format!("{}", (n + turn) % 30),
                            vec![(n + turn) as u8 % 30; 1000],
                        );
                        if n % 2 == 0 {
                            disk.put(&key, &bytes)
                        } else {
                            other.put(&key, &bytes)
                        }
                        assert!(other.get(&key).is_none_or(|found| found == bytes));
                    }
                });
            }
        });
        assert_eq!(disk.state().error, None);
    }
}
