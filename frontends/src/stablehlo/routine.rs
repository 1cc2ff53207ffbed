//! Routines: matrix factorizations, triangular systems and Fourier transforms, as StableHLO ops and as JAX's LAPACK
//! calls, identified by name.
//!
//! ```text
//! %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}}
//!   =>
//! %f = fusion.cholesky %a                    // all NaN where there is none
//! %i = the first element of each is NaN      // 0 where all is well
//! ```
//!
//! The layouts stated by such a call describe how LAPACK receives its operands, and do not affect values. Letters are
//! the characters of LAPACK's own arguments: `L` and `U`, `N` and `T`.

use fuser_dialects::fusion;
use fuser_ir::build::Clause;
use fuser_ir::def::OpDef;
use fuser_ir::types::Extent;
use fuser_ir::{DType, Value};

use super::Importer;
use super::ast::Attr;
use super::op::{Reading, atom};
use crate::codes::UNSUPPORTED;
use crate::program::{Draft, Fault, Made};

/// The reader of a call.
type Read = for<'s> fn(&mut Importer<'s>, &Reading<'s>) -> Made<Vec<Value>>;

/// The LAPACK routines that JAX 0.10.2 calls on a CPU, without their type letter.
static LAPACK: &[(&str, Read)] = &[
    ("geqrf", geqrf),
    ("gesdd", gesdd),
    ("getrf", getrf),
    ("orgqr", orgqr),
    ("potrf", potrf),
    ("syevd", syevd),
    ("trsm", trsm),
];

/// The reader of a call of `target`; `None` for an unknown routine.
pub fn called(target: &str) -> Option<Read> {
    let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    let known = |(own, _): &&(&str, Read)| name.strip_prefix(['s', 'd', 'c', 'z']) == Some(*own);
    LAPACK.iter().find(known).map(|(_, read)| *read)
}

/// The results of an op with these flags, if set.
fn made(
    draft: &mut Draft,
    def: &'static OpDef,
    operands: &[Value],
    flags: &[(&'static str, bool)],
) -> Made<Vec<Value>> {
    for &value in operands {
        let dtype = draft.dtype(value);
        if !matches!(dtype, DType::F32 | DType::F64) {
            let text = format!("computes with matrices of `{}`", dtype.name());
            let fault = Fault::new(&UNSUPPORTED, text).about(value);
            return Err(fault.help("matrices are of f32 or f64: cast them before, or compute with real and imaginary parts"));
        }
    }
    let mut b = draft.builder();
    let clauses: Vec<Clause<'_>> = flags
        .iter()
        .filter(|(_, set)| *set)
        .map(|(name, _)| b.flag(name))
        .collect();
    let op = b.op(def, operands, &clauses)?;
    Ok(draft.ir.results(op).to_vec())
}

/// The boolean value of an attribute; `otherwise` if it is missing.
fn truth(r: &Reading<'_>, name: &str, otherwise: Option<bool>) -> Made<bool> {
    let text = r.attr(&[name]).and_then(atom).map(|span| r.text(span));
    match (text, otherwise) {
        (Some("true"), _) => Ok(true),
        (Some("false"), _) => Ok(false),
        (None, Some(otherwise)) => Ok(otherwise),
        _ => Err(Fault::form(format!(
            "has no `{name}` that is true or false"
        ))),
    }
}

/// An argument of a call, from its backend configuration.
pub fn argument<'s>(r: &Reading<'s>, name: &str) -> Option<&'s Attr> {
    let Attr::Dict(entries) = r.attr(&["mhlo.backend_config", "backend_config"])? else {
        return None;
    };
    let own = entries.iter().find(|(key, _)| r.text(*key) == name);
    own.map(|(_, attr)| attr)
}

/// True for the first of two letters, false for the second.
fn letter(r: &Reading<'_>, name: &'static str, [yes, no]: [char; 2]) -> Made<bool> {
    let code = argument(r, name).and_then(|attr| r.numbers(attr));
    let code = match code.as_deref() {
        Some([code]) => *code,
        _ => return Err(Fault::form(format!("has no `{name}`"))),
    };
    let found = u32::try_from(code).ok().and_then(char::from_u32);
    match found {
        Some(found) if found == yes => Ok(true),
        Some(found) if found == no => Ok(false),
        _ => Err(Fault::form(format!(
            "`{name}` is neither `{yes}` nor `{no}`"
        ))),
    }
}

/// `stablehlo.cholesky`
pub fn cholesky<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let upper = !truth(r, "lower", Some(false))?;
    let a = r.operand(0)?;
    made(&mut im.draft, &fusion::CHOLESKY, &[a], &[("upper", upper)])
}

/// `stablehlo.triangular_solve`
pub fn triangular_solve<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let word = r.attr(&["transpose_a"]).and_then(atom);
    let word = word.map_or("NO_TRANSPOSE", |span| r.text(span));
    let transpose = match word.trim_end_matches('>').rsplit(' ').next() {
        Some("NO_TRANSPOSE") => false,
        // Of real numbers they are one.
        Some("TRANSPOSE" | "ADJOINT") => true,
        _ => return Err(Fault::form("`transpose_a` is none that is known")),
    };
    let flags = [
        ("right", !truth(r, "left_side", None)?),
        ("upper", !truth(r, "lower", None)?),
        ("transpose", transpose),
        ("unit", truth(r, "unit_diagonal", None)?),
    ];
    let operands = [r.operand(0)?, r.operand(1)?];
    made(&mut im.draft, &fusion::TRIANGULAR_SOLVE, &operands, &flags)
}

fn trsm<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    // A conjugate of real numbers is no other.
    let plain = letter(r, "trans_x", ['N', 'T']).or_else(|_| letter(r, "trans_x", ['N', 'C']))?;
    let flags = [
        ("right", letter(r, "side", ['R', 'L'])?),
        ("upper", letter(r, "uplo", ['U', 'L'])?),
        ("transpose", !plain),
        ("unit", letter(r, "diag", ['U', 'N'])?),
    ];
    let operands = [r.operand(0)?, r.operand(1)?];
    made(&mut im.draft, &fusion::TRIANGULAR_SOLVE, &operands, &flags)
}

fn potrf<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let upper = letter(r, "uplo", ['U', 'L'])?;
    let a = r.operand(0)?;
    let mut results = made(&mut im.draft, &fusion::CHOLESKY, &[a], &[("upper", upper)])?;
    let failed = failed(&mut im.draft, results[0], 2)?;
    results.push(failed);
    Ok(results)
}

fn getrf<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let a = r.operand(0)?;
    let mut results = made(&mut im.draft, &fusion::LU, &[a], &[])?;
    // LAPACK counts rows from 1. Its last result, `info`, is positive for a zero pivot and negative for an invalid
    // argument. It is 0 here: the factors show a zero pivot, and no argument is invalid.
    let scalar = im.draft.ir.scalar(DType::I32);
    let one = im.draft.number(1.0, scalar)?;
    results[1] = im.draft.make(&fusion::ADD, &[results[1], one])?;
    let batch = before(&im.draft, a, 2)?;
    results.push(zeros(&mut im.draft, &batch)?);
    Ok(results)
}

fn geqrf<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    made(&mut im.draft, &fusion::QR, &[r.operand(0)?], &[])
}

fn orgqr<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let operands = [r.operand(0)?, r.operand(1)?];
    made(&mut im.draft, &fusion::HOUSEHOLDER_PRODUCT, &operands, &[])
}

fn syevd<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let upper = letter(r, "uplo", ['U', 'L'])?;
    let a = r.operand(0)?;
    let mut results = made(&mut im.draft, &fusion::EIGH, &[a], &[("upper", upper)])?;
    let failed = failed(&mut im.draft, results[1], 1)?;
    results.push(failed);
    Ok(results)
}

fn gesdd<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let a = r.operand(0)?;
    // The mode is `A`, `S` or `N`. `N` says nothing of vectors; the stated types give their number.
    let last = |at: usize, axis: usize| {
        let tensor = im.draft.ir.ty(*r.outputs.get(at)?).as_tensor()?;
        let axis = tensor.dims.len().checked_sub(axis)?;
        Some(tensor.dims[axis].extent)
    };
    let full = last(2, 1) == last(2, 2) && last(3, 1) == last(3, 2);
    let found = made(&mut im.draft, &fusion::SVD, &[a], &[("full", full)])?;
    let failed = failed(&mut im.draft, found[1], 1)?;
    // The first result is LAPACK's memory, with undefined contents.
    Ok(vec![a, found[1], found[0], found[2], failed])
}

/// `stablehlo.fft`: transforms along each of the last axes, on lines of real and imaginary parts.
pub fn fft<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let generic = r.attr(&["type", "fft_type"]).and_then(atom);
    let word = generic
        .map_or("", |span| r.text(span))
        .trim_end_matches('>');
    let word = word.rsplit([' ', '<']).next().unwrap_or("");
    let lengths = r.ints(&["length", "fft_length"])?;
    let x = r.operand(0)?;
    let dims = im.draft.dims(x);
    let first = dims.len().checked_sub(lengths.len());
    let first = first.filter(|_| !lengths.is_empty());
    let first = first.ok_or_else(|| Fault::form("has more lengths than its operand has axes"))?;
    let (inverse, from_real, to_real) = match word {
        "FFT" => (false, false, false),
        "IFFT" => (true, false, false),
        "RFFT" => (false, true, false),
        "IRFFT" => (true, false, true),
        _ => return Err(Fault::form("has no `type` that is known")),
    };
    let draft = &mut im.draft;
    let last = dims.len() - 1;
    let length = lengths[lengths.len() - 1];
    let (mut re, mut im_part) = match from_real {
        true => {
            let scalar = draft.dtype(x);
            let scalar = draft.ir.scalar(scalar);
            let zero = draft.number(0.0, scalar)?;
            let shape: Vec<Extent> = dims.iter().map(|dim| dim.extent).collect();
            (x, draft.broadcast(zero, &[], &shape)?)
        }
        false => (
            draft.make(&fusion::REAL, &[x])?,
            draft.make(&fusion::IMAG, &[x])?,
        ),
    };
    // For a line of real numbers, half of the sums follow from the other half: they are left out at the end, or added
    // at the end.
    let others = first..last;
    let order: Vec<usize> = match to_real {
        true => others.chain([last]).collect(),
        false => std::iter::once(last).chain(others).collect(),
    };
    for axis in order {
        if axis == last && to_real {
            (re, im_part) = whole(draft, [re, im_part], length)?;
        }
        let dim = axis as i64;
        (re, im_part) = lines(draft, [re, im_part], dim, inverse)?;
        if axis == last && from_real {
            let kept = length / 2 + 1;
            re = taken(draft, re, last, 0, kept)?;
            im_part = taken(draft, im_part, last, 0, kept)?;
        }
    }
    match to_real {
        true => Ok(vec![re]),
        false => Ok(vec![draft.make(&fusion::COMPLEX, &[re, im_part])?]),
    }
}

fn lines(draft: &mut Draft, [re, im]: [Value; 2], dim: i64, inverse: bool) -> Made<(Value, Value)> {
    let mut b = draft.builder();
    let mut clauses = vec![b.int("dim", dim)];
    if inverse {
        clauses.push(b.flag("inverse"));
    }
    let op = b.op(&fusion::FFT, &[re, im], &clauses)?;
    Ok((draft.ir.result(op, 0), draft.ir.result(op, 1)))
}

/// So many elements of an axis, from one on.
fn taken(draft: &mut Draft, x: Value, axis: usize, start: i64, count: i64) -> Made {
    let mut shape = draft.dims(x);
    let count = u64::try_from(count).map_err(|_| Fault::form("has a length below zero"))?;
    let mut starts = vec![0; shape.len()];
    starts[axis] = start;
    shape[axis] = fuser_ir::Dim::fixed(count);
    let mut b = draft.builder();
    let clauses = [b.ints("starts", &starts), b.shape("shape", &shape)];
    Ok(b.value(&fusion::SLICE, &[x], &clauses)?)
}

/// All Fourier sums of a line of real numbers, given the first half and one more. The others are conjugates of these in
/// reverse order.
fn whole(draft: &mut Draft, parts: [Value; 2], length: i64) -> Made<(Value, Value)> {
    let axis = draft.dims(parts[0]).len() - 1;
    let more = length - (length / 2 + 1);
    let mut made = Vec::new();
    for (at, x) in parts.into_iter().enumerate() {
        let kept = taken(draft, x, axis, 0, length / 2 + 1)?;
        if more <= 0 {
            made.push(kept);
            continue;
        }
        let rest = taken(draft, x, axis, 1, more)?;
        let dims = {
            let mut b = draft.builder();
            let dims = [b.ints("dims", &[axis as i64])];
            b.value(&fusion::FLIP, &[rest], &dims)?
        };
        let rest = if at == 1 {
            draft.make(&fusion::NEG, &[dims])?
        } else {
            dims
        };
        let mut b = draft.builder();
        let dim = [b.int("dim", axis as i64)];
        made.push(b.value(&fusion::CAT, &[kept, rest], &dim)?);
    }
    Ok((made[0], made[1]))
}

/// The extents of the axes before the last `own` ones.
fn before(draft: &Draft, x: Value, own: usize) -> Made<Vec<Extent>> {
    let dims = draft.dims(x);
    let before = dims.len().checked_sub(own);
    let before = before.ok_or_else(|| Fault::form("has an operand that is no matrix"))?;
    Ok(dims[..before].iter().map(|dim| dim.extent).collect())
}

/// A tensor of zeros, as `i32`.
fn zeros(draft: &mut Draft, shape: &[Extent]) -> Made {
    let ty = draft.ir.tensor(Vec::new(), DType::I32);
    let zero = draft.number(0.0, ty)?;
    match shape {
        [] => Ok(zero),
        shape => draft.broadcast(zero, &[], shape),
    }
}

/// A flag for each matrix or vector of `own` axes: 1 as `i32` if its first element is NaN, else 0.
fn failed(draft: &mut Draft, x: Value, own: usize) -> Made {
    let dims = draft.dims(x);
    let batch = before(draft, x, own)?;
    let before = batch.len();
    let none = dims[before..]
        .iter()
        .any(|dim| dim.extent == Extent::Static(0));
    let odd = match none {
        true => {
            return zeros(draft, &batch);
        }
        false => {
            let starts = vec![0; dims.len()];
            let mut shape = dims[..before].to_vec();
            shape.extend(vec![fuser_ir::Dim::fixed(1); own]);
            let last: Vec<i64> = (before..dims.len()).map(|axis| axis as i64).collect();
            let mut b = draft.builder();
            let clauses = [b.ints("starts", &starts), b.shape("shape", &shape)];
            let first = b.value(&fusion::SLICE, &[x], &clauses)?;
            let last = [b.ints("dims", &last)];
            let first = b.value(&fusion::SQUEEZE, &[first], &last)?;
            draft.make(&fusion::ISNAN, &[first])?
        }
    };
    draft.cast(odd, DType::I32)
}
