//! The digest of source files, for build scripts of crates whose results are kept between processes.

use std::fs;
use std::path::{Path, PathBuf};

/// 64 bits of FNV-1a over the paths and contents of all files in `sources`, in the order of the paths. Asks cargo to look at them.
pub fn digest(sources: &[&str]) -> u64 {
    let mut files = Vec::new();
    for source in sources {
        println!("cargo:rerun-if-changed={source}");
        list(Path::new(source), &mut files);
    }
    files.sort();
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    files.iter().fold(0xcbf2_9ce4_8422_2325, |hash, file| {
        let hash = file.as_os_str().as_encoded_bytes().iter().fold(hash, mix);
        fs::read(file).unwrap_or_default().iter().fold(hash, mix)
    })
}

/// Adds the files in `path`, or the file itself.
pub fn list(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries
            .flatten()
            .for_each(|entry| list(&entry.path(), files)),
        Err(_) => files.push(path.to_owned()),
    }
}
