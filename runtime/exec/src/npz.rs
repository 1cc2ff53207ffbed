//! Archives of `.npy` files: `.npz` as written by `numpy.savez` and `numpy.savez_compressed`.
//!
//! An archive is a zip file whose members are named `NAME.npy`. A member is read like a separate file: its header is
//! checked against the length that the archive states before any allocation. No byte beyond that length is read, and
//! the checksum is verified. A member that unpacks to more than its stated length is an error. Memory is bounded by the
//! stated length, within the session's limit. Every error names the archive and the member.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use fuser_artifact::DType;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::memory::Heap;
use crate::npy::{self, NpyError, NpyProblem};
use crate::tensor::HostTensor;

/// Bytes from which on a member needs the 64-bit form of zip.
const LARGE: u64 = u32::MAX as u64;

/// The names of an archive's members, in order.
pub fn members(archive: &Path) -> Result<Vec<String>, NpyError> {
    let named = |archive: &Path| {
        let opened = open(archive)?;
        let names = opened.file_names().map(|name| Ok(name?.into_owned()));
        names.collect::<Result<_, ZipError>>().map_err(broken)
    };
    named(archive).map_err(|problem| NpyError {
        path: archive.to_path_buf(),
        problem,
    })
}

/// Reads a member as a tensor of this element type; the member determines the shape.
pub fn read(
    archive: &Path,
    member: &str,
    dtype: DType,
    heap: &Heap,
) -> Result<HostTensor, NpyError> {
    let read = || {
        let mut opened = open(archive)?;
        let file = opened.by_name(member).map_err(broken)?;
        let length = file.size();
        npy::read_from(BufReader::new(file), length, dtype, heap)
    };
    read().map_err(|problem| NpyError {
        path: archive.join(member),
        problem,
    })
}

/// Writes an archive of these members, uncompressed, as `numpy.savez` does.
pub fn write<'a>(
    out: impl Write,
    members: impl IntoIterator<Item = (&'a str, &'a HostTensor)>,
) -> io::Result<()> {
    let mut archive = ZipWriter::new_stream(out);
    for (name, tensor) in members {
        let large = npy::length(tensor) >= LARGE;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(large);
        archive.start_file(name, options)?;
        let mut buffered = io::BufWriter::new(&mut archive);
        npy::write(&mut buffered, tensor)?;
        buffered.flush()?;
    }
    archive.finish()?;
    Ok(())
}

fn open(archive: &Path) -> Result<ZipArchive<BufReader<File>>, NpyProblem> {
    ZipArchive::new(BufReader::new(npy::open(archive)?)).map_err(broken)
}

fn broken(error: ZipError) -> NpyProblem {
    match error {
        ZipError::Io(error) => NpyProblem::Io(error),
        error => NpyProblem::Archive(error.to_string()),
    }
}

#[cfg(test)]
#[path = "npz_tests.rs"]
mod tests;
