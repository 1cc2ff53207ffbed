//! Tensors in NumPy's `.npy` files, format versions 1 and 2.
//!
//! Types are f64, f32, f16, the integers of 8 to 64 bits with and without a sign, and bool. NumPy has no bf16: it is written as `<V2`, two bytes of no meaning,
//! as `ml_dtypes` arrays are saved, and read from `<V2` or `<u2` where bf16 is asked for; floats of 8 bits likewise, as one byte, `<V1`,
//! in place of which `|u1`, and `<f1` for what `ml_dtypes` so names, are read. So are floats of 4 bits, one to a byte in a file, in its low bits. `index` is i64 in a file.
//! Fortran order and big-endian data are converted. A broadcast axis is written out in full.
//!
//! Reading checks the header against the file's length before it allocates anything, and never executes the header: it is
//! parsed by the few rules that NumPy writes it by. Its length must be known before: what is no regular file (a pipe, a
//! device) is refused, and not opened, as that could wait for ever. Every error names the file. Writing takes any writer;
//! which file that is, and when it appears, is its caller's affair.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use fuser_artifact::limits::MAX_RANK;
use fuser_artifact::{DType, Kind as Elements};

use crate::memory::Heap;
use crate::npy_header::{Header, HeaderError, Kind, MAGIC};
use crate::small;
use crate::tensor::{Axis, HostTensor, Shape, TensorError, stored_bytes, walk_strided};

/// Longest header that is read: NumPy's own limit (`max_header_size`).
pub const MAX_HEADER: usize = 10_000;

/// A file that cannot be read or written.
#[derive(Debug)]
pub struct NpyError {
    pub path: PathBuf,
    pub problem: NpyProblem,
}

/// The reason that a file cannot be read or written.
#[derive(Debug)]
pub enum NpyProblem {
    Io(io::Error),
    /// A pipe, a device, a folder.
    NotRegular,
    /// The file does not begin as a `.npy` file does.
    NotNpy,
    Version {
        major: u8,
        minor: u8,
    },
    HeaderLength {
        found: usize,
    },
    Header(HeaderError),
    DType {
        expected: DType,
        found: String,
    },
    Rank {
        found: usize,
    },
    /// The file holds fewer or more bytes of data than its header says.
    DataLength {
        shape: String,
        expected: u64,
        found: u64,
    },
    /// A byte that is more than one element of this type.
    Code {
        dtype: DType,
        byte: u8,
    },
    /// An archive that is none, or has no such member.
    Archive(String),
    Tensor(TensorError),
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl std::error::Error for NpyError {}

impl fmt::Display for NpyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NpyProblem::Io(error) => error.fmt(f),
            NpyProblem::NotRegular => f.write_str("not a regular file"),
            NpyProblem::NotNpy => f.write_str("not a .npy file"),
            NpyProblem::Version { major, minor } => {
                write!(f, "format version {major}.{minor}, expected 1.0 or 2.0")
            }
            NpyProblem::HeaderLength { found } => {
                write!(
                    f,
                    "a header of {found} bytes, at most {MAX_HEADER} are read"
                )
            }
            NpyProblem::Header(error) => error.fmt(f),
            NpyProblem::DType { expected, found } => {
                write!(f, "element type '{found}', expected {expected}")
            }
            NpyProblem::Rank { found } => {
                write!(f, "{found} axes, at most {MAX_RANK} are possible")
            }
            NpyProblem::DataLength {
                shape,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{found} bytes of data, expected {expected} for shape {shape}"
                )
            }
            NpyProblem::Code { dtype, byte } => {
                write!(
                    f,
                    "a byte {byte:#04x}, where each holds one element of {dtype} in its low bits"
                )
            }
            NpyProblem::Archive(error) => write!(f, "not a .npz archive: {error}"),
            NpyProblem::Tensor(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for NpyProblem {
    fn from(error: io::Error) -> NpyProblem {
        NpyProblem::Io(error)
    }
}

impl From<TensorError> for NpyProblem {
    fn from(error: TensorError) -> NpyProblem {
        NpyProblem::Tensor(error)
    }
}

/// Reads a tensor of this element type; the file determines the shape.
pub fn read(path: &Path, dtype: DType, heap: &Heap) -> Result<HostTensor, NpyError> {
    let read = || {
        let file = open(path)?;
        let length = file.metadata()?.len();
        read_from(BufReader::new(file), length, dtype, heap)
    };
    read().map_err(|problem| NpyError {
        path: path.to_path_buf(),
        problem,
    })
}

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> Result<File, NpyProblem> {
    match std::fs::metadata(path)?.is_file() {
        true => Ok(File::open(path)?),
        false => Err(NpyProblem::NotRegular),
    }
}

/// Reads a tensor of this element type from contents of `length` bytes.
pub(crate) fn read_from(
    reader: impl Read,
    length: u64,
    dtype: DType,
    heap: &Heap,
) -> Result<HostTensor, NpyProblem> {
    if dtype.per_byte() == 1 {
        return read_whole(reader, length, [dtype; 2], heap);
    }
    let codes = read_whole(reader, length, [dtype, DType::U8], heap)?;
    let whole = |byte: &&u8| small::part(dtype, **byte, 0) != **byte;
    match codes.bytes().iter().find(whole) {
        Some(&byte) => Err(NpyProblem::Code { dtype, byte }),
        None => Ok(codes.packed(heap, dtype)?),
    }
}

/// Reads elements of type `of` and stores each as `dtype`, whose elements take whole bytes.
fn read_whole(
    mut reader: impl Read,
    length: u64,
    [of, dtype]: [DType; 2],
    heap: &Heap,
) -> Result<HostTensor, NpyProblem> {
    let (header, data_start) = read_header(&mut reader)?;
    let found = header.shape.len();
    if found > MAX_RANK {
        return Err(NpyProblem::Rank { found });
    }
    check_dtype(&header, of)?;
    let axes: Vec<Axis> = header
        .shape
        .iter()
        .map(|extent| Axis::stored(*extent))
        .collect();
    let expected = stored_bytes(dtype, &axes)? as u64;
    let found = length.saturating_sub(data_start);
    let wrong = |found| NpyProblem::DataLength {
        shape: Shape(&axes).to_string(),
        expected,
        found,
    };
    if expected != found {
        return Err(wrong(found));
    }
    let mut tensor = HostTensor::zeros(heap, dtype, &axes)?;
    reader.read_exact(tensor.bytes_mut())?;
    // What is compressed may be longer than it is said to be; its sum is compared at the end.
    if reader.read(&mut [0])? != 0 {
        return Err(wrong(found.saturating_add(1)));
    }
    normalise(&mut tensor, header.big_endian);
    if header.fortran_order && axes.len() > 1 {
        return Ok(from_fortran(&tensor, heap)?);
    }
    Ok(tensor)
}

/// The header, and where the data begin.
fn read_header(reader: &mut impl Read) -> Result<(Header, u64), NpyProblem> {
    let mut start = [0u8; 8];
    match reader.read_exact(&mut start) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(NpyProblem::NotNpy);
        }
        read => read?,
    }
    let [magic @ .., major, minor] = start;
    if magic != *MAGIC {
        return Err(NpyProblem::NotNpy);
    }
    let (length, prefix) = match (major, minor) {
        (1, 0) => {
            let mut bytes = [0u8; 2];
            reader.read_exact(&mut bytes)?;
            (usize::from(u16::from_le_bytes(bytes)), 10)
        }
        (2, 0) => {
            let mut bytes = [0u8; 4];
            reader.read_exact(&mut bytes)?;
            (u32::from_le_bytes(bytes) as usize, 12)
        }
        _ => return Err(NpyProblem::Version { major, minor }),
    };
    if length > MAX_HEADER {
        return Err(NpyProblem::HeaderLength { found: length });
    }
    let mut text = vec![0u8; length];
    reader.read_exact(&mut text)?;
    let header = Header::parse(&text).map_err(NpyProblem::Header)?;
    Ok((header, prefix + length as u64))
}

fn check_dtype(header: &Header, expected: DType) -> Result<(), NpyProblem> {
    let fits = match expected {
        DType::Bf16 => matches!(header.kind, Kind::Void(2) | Kind::Unsigned(2)),
        _ if expected.is_storage() => matches!(
            header.kind,
            Kind::Void(1) | Kind::Unsigned(1) | Kind::Float(1)
        ),
        _ => {
            let kind = match expected.kind() {
                Elements::Float => Kind::Float,
                Elements::Complex => Kind::Complex,
                Elements::Signed => Kind::Signed,
                Elements::Unsigned => Kind::Unsigned,
                Elements::Truth => |_| Kind::Bool,
            };
            header.kind == kind(expected.bytes() as u8)
        }
    };
    fits.then_some(()).ok_or_else(|| NpyProblem::DType {
        expected,
        found: header.descr.clone(),
    })
}

/// Makes the elements little-endian, and truth values 0 or 1.
fn normalise(tensor: &mut HostTensor, big_endian: bool) {
    let dtype = tensor.dtype();
    let size = dtype.part().bytes();
    if big_endian && size > 1 {
        let elements = tensor.bytes_mut().chunks_exact_mut(size);
        elements.for_each(|element| element.reverse());
    }
    if dtype == DType::I1 {
        let truth = |byte: &mut u8| *byte = u8::from(*byte != 0);
        tensor.bytes_mut().iter_mut().for_each(truth);
    }
}

/// Converts a tensor whose first axis varies fastest to row-major order.
fn from_fortran(tensor: &HostTensor, heap: &Heap) -> Result<HostTensor, TensorError> {
    let mut result = HostTensor::zeros(heap, tensor.dtype(), tensor.axes())?;
    let size = tensor.dtype().bytes();
    let extents = tensor.extents();
    let strides = extents.iter().scan(1usize, |stride, extent| {
        let this = *stride;
        *stride = stride.saturating_mul(*extent);
        Some(this)
    });
    let positions = walk_strided(extents.clone(), strides.collect());
    let elements = result.bytes_mut().chunks_exact_mut(size).zip(positions);
    for (to, from) in elements {
        let start = from * size;
        if let Some(element) = tensor.bytes().get(start..start + size) {
            to.copy_from_slice(element);
        }
    }
    Ok(result)
}

/// Writes a tensor as a file's contents, in many small pieces: `out` should be buffered.
pub fn write(out: &mut impl Write, tensor: &HostTensor) -> io::Result<()> {
    out.write_all(&Header::encode(descr(tensor.dtype()), &tensor.extents()))?;
    let full: Vec<Axis> = tensor.extents().into_iter().map(Axis::stored).collect();
    match tensor.lies_as(&full, &[]) && tensor.dtype().per_byte() == 1 {
        true => out.write_all(tensor.bytes()),
        false => write_in_full(out, tensor),
    }
}

/// The bytes that [`write`] writes, at most.
pub(crate) fn length(tensor: &HostTensor) -> u64 {
    let elements = tensor.extents().into_iter().map(|extent| extent as u64);
    let elements = elements.fold(1, u64::saturating_mul);
    let bytes = elements.saturating_mul(tensor.dtype().bytes() as u64);
    bytes.saturating_add(MAX_HEADER as u64)
}

/// Writes every element in row-major order, repeated along its broadcast axes.
fn write_in_full(out: &mut impl Write, tensor: &HostTensor) -> io::Result<()> {
    let full: Vec<Axis> = tensor.extents().into_iter().map(Axis::stored).collect();
    let size = tensor.dtype().bytes();
    for position in tensor.positions(&full, &[]) {
        if let Some(code) = tensor.code(position) {
            out.write_all(&[code])?;
            continue;
        }
        let start = position * size;
        out.write_all(tensor.bytes().get(start..start + size).unwrap_or_default())?;
    }
    Ok(())
}

/// NumPy's name of the type.
fn descr(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "<f8",
        DType::F32 => "<f4",
        DType::F16 => "<f2",
        DType::Bf16 => "<V2",
        DType::F8E4M3FN | DType::F8E5M2 | DType::F8E8M0FNU | DType::F4E2M1FN => "<V1",
        DType::I64 | DType::Index => "<i8",
        DType::I32 => "<i4",
        DType::I16 => "<i2",
        DType::I8 => "|i1",
        DType::U64 => "<u8",
        DType::U32 => "<u4",
        DType::U16 => "<u2",
        DType::U8 => "|u1",
        DType::I1 => "|b1",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
    }
}

#[cfg(test)]
#[path = "npy_tests.rs"]
mod tests;
