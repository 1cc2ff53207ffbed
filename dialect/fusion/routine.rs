//! Routines: functions of whole matrices or lines, each a call of a library.

use fuser_ir::Ir;
use fuser_ir::def::{
    At, ClauseDef, ClauseKind, Computes, DTypes, OpClass, OpDef, OpError, OpParts, OperandDef,
    Placement, ResultDef, ResultTypes, Shape, Traits, TypeConstraint, clause, optional, result,
};
use fuser_ir::describe;
use fuser_ir::types::{DType, Dim, Extent};
use smallvec::smallvec;

use super::codes::{EXTENTS_DISAGREE, UNKNOWN_EXTENT};
use super::{maps, shape};

const REAL: TypeConstraint =
    TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::F32, DType::F64]));

const INDICES: TypeConstraint = TypeConstraint::new(Shape::Tensor, DTypes::of(&[DType::I32]));

const fn taken(name: &'static str, doc: &'static str) -> OperandDef {
    OperandDef {
        name,
        ty: REAL,
        variadic: false,
        placement: Placement::Memory,
        doc,
    }
}

const fn made(name: &'static str, doc: &'static str) -> ResultDef {
    ResultDef {
        placement: Placement::Memory,
        ..result(name, REAL, doc)
    }
}

const UPPER: ClauseDef = optional(
    "upper",
    ClauseKind::Unit,
    "the upper triangle is read, not the lower one",
);

const ROUTINE: OpDef = OpDef {
    class: OpClass::Routine,
    computes: Some(Computes::Composite),
    maps: Some(&maps::ROUTINE),
    traits: Traits::PURE,
    flops: 10,
    ..OpDef::EMPTY
};

/// The ops of this table, in the order of the manual.
pub const ROUTINE_OPS: &[&OpDef] = &[
    &CHOLESKY,
    &TRIANGULAR_SOLVE,
    &LU,
    &QR,
    &HOUSEHOLDER_PRODUCT,
    &EIGH,
    &SVD,
    &FFT,
];

/// `fusion.cholesky`
pub static CHOLESKY: OpDef = OpDef {
    name: "fusion.cholesky",
    summary: "the triangular factor of symmetric positive definite matrices",
    doc: "Of each matrix `a`, the last two axes, the lower triangular `l` with `a = l l'` and a diagonal above zero; with `upper` the upper \
          triangular `u` with `a = u' u`. Only the lower triangle of the operand is read, or the upper one; the other triangle of the result is 0. Column by column \
          `l[j, j] = sqrt(a[j, j] - sum of l[j, k]^2)` and `l[i, j] = (a[i, j] - sum of l[i, k] l[j, k]) / l[j, j]`, sums in any order, quotients and roots within a unit in the last place; a zero less zeros keeps its sign. Where what stands under a \
          root is not above zero, NaN included, all elements of that matrix are NaN. The result has no `b` axes.",
    example: "// %a: tensor<[B]x4x4xf32>\n%0 = fusion.cholesky %a : tensor<[B]x4x4xf32>",
    operands: &[taken("a", "the matrices")],
    clauses: &[UPPER],
    results: &[made("factor", "the triangular factors")],
    infer: Some(infer_cholesky),
    ..ROUTINE
};

/// `fusion.triangular_solve`
pub static TRIANGULAR_SOLVE: OpDef = OpDef {
    name: "fusion.triangular_solve",
    summary: "solutions of systems with triangular matrices",
    doc: "For each matrix `a` and `b`, the last two axes, the `x` with `a x = b`; with `right` `x a = b`. Only the lower triangle of `a` is read, with `upper` \
          the upper one; with `unit` its diagonal counts as 1 and is not read; with `transpose` the transpose of that stands for `a`. By substitution: \
          `x[i] = (b[i] - sum of a[i, k] x[k]) / a[i, i]`, sums in any order, quotients within a unit in the last place, so that a zero on the diagonal gives an infinity or NaN; a zero of `x` may have either sign. Axes before the last two agree. \
          The result has the shape of `b`, without `b` axes.",
    example: "// %a: tensor<[B]x4x4xf32>, %b: tensor<[B]x4x2xf32>\n%0 = fusion.triangular_solve %a, %b upper : tensor<[B]x4x2xf32>",
    operands: &[
        taken("a", "the triangular matrices"),
        taken("b", "the right sides"),
    ],
    clauses: &[
        optional(
            "right",
            ClauseKind::Unit,
            "the unknown stands on the left of the matrix",
        ),
        UPPER,
        optional("transpose", ClauseKind::Unit, "the matrix is transposed"),
        optional("unit", ClauseKind::Unit, "the diagonal counts as 1"),
    ],
    results: &[made("x", "the solutions")],
    infer: Some(infer_triangular_solve),
    ..ROUTINE
};

/// `fusion.lu`
pub static LU: OpDef = OpDef {
    name: "fusion.lu",
    summary: "triangular factors of matrices whose rows are exchanged",
    doc: "Of each matrix `a` of m rows and n columns, the last two axes, the unit lower triangular `l`, below the diagonal of `factors`, and the upper triangular `u`, on it \
          and above, whose product is `a` with rows exchanged: for k from 0 on row k with row `pivots[k]`, which is k or greater. At step k that is the row of the element \
          of the greatest magnitude in column k, the first of equal ones. Where that is 0, `u[k, k]` and `l[i, k]` are 0. Elements are those of elimination, what was given less a sum of products, sums in any order: a zero less zeros keeps its sign. \
          A matrix with an element that is not finite has factors of NaN, and nothing is exchanged. There are as many pivots as rows or columns, whichever are fewer, which is known.",
    example: "// %a: tensor<[B]x4x3xf32>\n%0, %1 = fusion.lu %a : tensor<[B]x4x3xf32>, tensor<[B]x3xi32>",
    operands: &[taken("a", "the matrices")],
    results: &[
        made("factors", "both factors in one matrix"),
        ResultDef {
            ty: INDICES,
            ..made("pivots", "the rows that are exchanged")
        },
    ],
    infer: Some(infer_lu),
    ..ROUTINE
};

/// `fusion.qr`
pub static QR: OpDef = OpDef {
    name: "fusion.qr",
    summary: "upper triangular factors of matrices, and the reflections that make them",
    doc: "Of each matrix `a` of m rows and n columns, the last two axes, the upper triangular `r`, on the diagonal of `factors` and above, and reflections \
          `h = 1 - tau v v'` whose product in order, `h[0] h[1] ...`, times `r` is `a`: `v[k]` is 1 and what stands below the diagonal in column k, `tau` is `taus[k]`, as LAPACK's `geqrf` has them. \
          At step k, `x` the column from its diagonal on: where all but its first element are 0, `tau = 0`; else `r[k, k] = norm(x)` where the sign of `x[0]` is set, that of `-0` too, and \
          `-norm(x)` where not, `tau = (r[k, k] - x[0]) / r[k, k]`, and `v = x / (x[0] - r[k, k])` below. `fusion.householder_product` gives the orthogonal factor. A matrix with \
          an element that is not finite gives NaN. There are as many reflections as rows or columns, whichever are fewer, which is known.",
    example: "// %a: tensor<[B]x4x3xf32>\n%0, %1 = fusion.qr %a : tensor<[B]x4x3xf32>, tensor<[B]x3xf32>",
    operands: &[taken("a", "the matrices")],
    results: &[
        made("factors", "the triangular factor, and reflections below it"),
        made("taus", "the factors of the reflections"),
    ],
    infer: Some(infer_qr),
    ..ROUTINE
};

/// `fusion.householder_product`
pub static HOUSEHOLDER_PRODUCT: OpDef = OpDef {
    name: "fusion.householder_product",
    summary: "the orthogonal matrices that reflections are together",
    doc: "The first columns of the product of the reflections of `fusion.qr`, as many as `factors` has, as LAPACK's `orgqr` makes them. Only what stands below the diagonal of \
          `factors` is read, in as many columns as there are `taus`. There are at least as many rows as columns, and as columns taus.",
    example: "// %v: tensor<[B]x4x3xf32>, %t: tensor<[B]x3xf32>\n%0 = fusion.householder_product %v, %t : tensor<[B]x4x3xf32>",
    operands: &[
        taken("factors", "the reflections, below the diagonal"),
        taken("taus", "their factors"),
    ],
    results: &[made("q", "the first columns of the product")],
    infer: Some(infer_householder_product),
    ..ROUTINE
};

/// `fusion.eigh`
pub static EIGH: OpDef = OpDef {
    name: "fusion.eigh",
    summary: "eigenvectors and eigenvalues of symmetric matrices",
    doc: "Of each matrix `a`, the last two axes, eigenvectors of length 1, which are columns and orthogonal to each other, and the eigenvalues, ascending: `a v = v diag(w)`. Only the lower triangle is read, with \
          `upper` the upper one. Of a vector's elements the first whose magnitude is more than half of the greatest one is above zero. That leaves open \
          which vectors belong to an eigenvalue that occurs several times: any orthogonal ones. A matrix with an element that is not finite gives NaN.",
    example: "// %a: tensor<[B]x4x4xf32>\n%0, %1 = fusion.eigh %a : tensor<[B]x4x4xf32>, tensor<[B]x4xf32>",
    operands: &[taken("a", "the matrices")],
    clauses: &[UPPER],
    results: &[
        made("vectors", "the eigenvectors, as columns"),
        made("values", "the eigenvalues"),
    ],
    infer: Some(infer_eigh),
    ..ROUTINE
};

/// `fusion.svd`
pub static SVD: OpDef = OpDef {
    name: "fusion.svd",
    summary: "singular values and vectors of matrices",
    doc: "Of each matrix `a` of m rows and n columns, the last two axes, `a = u diag(s) vt`: singular values `s`, descending, the left singular vectors, columns of `u`, and the right \
          ones, rows of `vt`, of length 1 and orthogonal to each other. There are as many as rows or columns, whichever are fewer, which is known; with `full` `u` has m columns and `vt` n rows, \
          the further ones any that are orthogonal to all. Of the elements of a left vector the first whose magnitude is more than half of the greatest one is above zero, and of a right \
          vector that has no left one. That leaves open which vectors belong to a singular value that occurs several times. A matrix with an element that is not finite gives NaN.",
    example: "// %a: tensor<[B]x4x3xf32>\n%0, %1, %2 = fusion.svd %a : tensor<[B]x4x3xf32>, tensor<[B]x3xf32>, tensor<[B]x3x3xf32>",
    operands: &[taken("a", "the matrices")],
    clauses: &[optional("full", ClauseKind::Unit, "both bases are whole")],
    results: &[
        made("u", "the left singular vectors, as columns"),
        made("s", "the singular values"),
        made("vt", "the right singular vectors, as rows"),
    ],
    infer: Some(infer_svd),
    ..ROUTINE
};

/// `fusion.fft`
pub static FFT: OpDef = OpDef {
    name: "fusion.fft",
    summary: "discrete Fourier transforms along an axis",
    doc: "Of each line of n elements along `dim`, complex numbers of which the operands are the real and imaginary parts, the sums `y[k] = sum of x[j] exp(-2 pi i j k / n)` for \
          k below n, as parts; with `inverse` `y[k] = sum of x[j] exp(2 pi i j k / n) / n`. A line with a part that is not finite gives NaN. Operands agree in shape and type; \
          results have no `b` axes.",
    example: "// %re: tensor<[B]x8xf32>, %im: tensor<[B]x8xf32>\n%0, %1 = fusion.fft %re, %im dim 1 : tensor<[B]x8xf32>, tensor<[B]x8xf32>",
    operands: &[
        taken("real", "the real parts"),
        taken("imag", "the imaginary parts"),
    ],
    clauses: &[
        clause("dim", ClauseKind::Int, "the axis of the lines"),
        optional("inverse", ClauseKind::Unit, "the inverse transform"),
    ],
    results: &[
        made("real_result", "the real parts of the sums"),
        made("imag_result", "the imaginary parts of the sums"),
    ],
    infer: Some(infer_fft),
    ..ROUTINE
};

/// The axes of a batch of matrices: batch axes, rows and columns.
struct Matrices {
    batch: Vec<Dim>,
    rows: Extent,
    columns: Extent,
    dtype: DType,
}

impl Matrices {
    fn of(ir: &Ir, parts: OpParts<'_>, index: usize) -> Result<Self, OpError> {
        let (dims, dtype) = shape::tensor(ir, parts, index)?;
        let [before @ .., rows, columns] = &dims[..] else {
            let text = "has fewer than two axes, rows and columns";
            return Err(OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE));
        };
        if let Some(axis) = dims.iter().position(|dim| dim.extent == Extent::Unknown) {
            return Err(shape::unknown(At::Operand(index), axis));
        }
        Ok(Self {
            batch: before.iter().map(|dim| Dim::new(dim.extent)).collect(),
            rows: rows.extent,
            columns: columns.extent,
            dtype,
        })
    }
    /// Square matrices.
    fn square(ir: &Ir, parts: OpParts<'_>, index: usize) -> Result<Self, OpError> {
        let own = Self::of(ir, parts, index)?;
        agree(ir, own.rows, own.columns, index, "rows and columns")?;
        Ok(own)
    }
    /// A type with the batch axes followed by `extents`.
    fn with(&self, ir: &mut Ir, extents: &[Extent], dtype: DType) -> fuser_ir::TypeId {
        let own = extents.iter().map(|&extent| Dim::new(extent));
        let dims = self.batch.iter().cloned().chain(own).collect();
        ir.tensor(dims, dtype)
    }
}

/// An error at operand `index` unless two extents are equal.
fn agree(ir: &Ir, a: Extent, b: Extent, index: usize, what: &str) -> Result<(), OpError> {
    if shape::agree(a, b) {
        return Ok(());
    }
    let (a, b) = (describe::extent(ir, a), describe::extent(ir, b));
    let text = format!("{what} must agree: there are {a} and {b}");
    Err(OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE))
}

/// Operand `index` has the batch and the element type of the first one.
fn beside(
    ir: &Ir,
    first: &Matrices,
    batch: &[Dim],
    dtype: DType,
    index: usize,
) -> Result<(), OpError> {
    if first.batch.len() != batch.len() {
        let (a, b) = (first.batch.len(), batch.len());
        let text = format!("the axes of the batch must agree: there are {a} and {b}");
        return Err(OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE));
    }
    for (a, b) in first.batch.iter().zip(batch) {
        agree(ir, a.extent, b.extent, index, "axes of the batch")?;
    }
    match first.dtype == dtype {
        true => Ok(()),
        false => {
            let text = format!(
                "is of {}, the first operand of {}",
                dtype.name(),
                first.dtype.name()
            );
            Err(OpError::at(At::Operand(index), text).code(&super::codes::DTYPES_DISAGREE))
        }
    }
}

fn infer_cholesky(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let a = Matrices::square(ir, parts, 0)?;
    shape::one(a.with(ir, &[a.rows, a.columns], a.dtype))
}

fn infer_triangular_solve(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let a = Matrices::square(ir, parts, 0)?;
    let b = Matrices::of(ir, parts, 1)?;
    beside(ir, &a, &b.batch, b.dtype, 1)?;
    let (side, name) = match shape::flag(ir, parts, "right") {
        true => (b.columns, "the columns of the right side and of the matrix"),
        false => (b.rows, "the rows of the right side and of the matrix"),
    };
    agree(ir, side, a.rows, 1, name)?;
    shape::one(b.with(ir, &[b.rows, b.columns], b.dtype))
}

/// The lesser of two extents.
fn least(ir: &Ir, a: Extent, b: Extent) -> Result<Extent, OpError> {
    match (a, b) {
        (Extent::Static(a), Extent::Static(b)) => Ok(Extent::Static(a.min(b))),
        _ if shape::agree(a, b) => Ok(a),
        _ => {
            let (a, b) = (describe::extent(ir, a), describe::extent(ir, b));
            let text = format!("has {a} rows and {b} columns, and which are fewer is not known");
            let error = OpError::at(At::Operand(0), text).code(&UNKNOWN_EXTENT);
            Err(error.help("extents that are numbers, or the same one"))
        }
    }
}

fn infer_lu(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let a = Matrices::of(ir, parts, 0)?;
    let steps = least(ir, a.rows, a.columns)?;
    let factors = a.with(ir, &[a.rows, a.columns], a.dtype);
    Ok(smallvec![factors, a.with(ir, &[steps], DType::I32)])
}

fn infer_qr(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let a = Matrices::of(ir, parts, 0)?;
    let steps = least(ir, a.rows, a.columns)?;
    let factors = a.with(ir, &[a.rows, a.columns], a.dtype);
    Ok(smallvec![factors, a.with(ir, &[steps], a.dtype)])
}

fn infer_householder_product(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let v = Matrices::of(ir, parts, 0)?;
    let (dims, dtype) = shape::tensor(ir, parts, 1)?;
    let Some((taus, before)) = dims.split_last() else {
        let text = "has no axis";
        return Err(OpError::at(At::Operand(1), text).code(&EXTENTS_DISAGREE));
    };
    beside(ir, &v, before, dtype, 1)?;
    for (more, fewer, index, what) in [
        (v.rows, v.columns, 0, "rows than columns"),
        (v.columns, taus.extent, 1, "columns than taus"),
    ] {
        let fits = match (more, fewer) {
            (Extent::Static(more), Extent::Static(fewer)) => more >= fewer,
            _ => shape::agree(more, fewer),
        };
        if !fits {
            let text = format!("there must be as many or more {what}, provably");
            return Err(OpError::at(At::Operand(index), text).code(&EXTENTS_DISAGREE));
        }
    }
    shape::one(v.with(ir, &[v.rows, v.columns], v.dtype))
}

fn infer_eigh(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let a = Matrices::square(ir, parts, 0)?;
    let vectors = a.with(ir, &[a.rows, a.columns], a.dtype);
    Ok(smallvec![vectors, a.with(ir, &[a.rows], a.dtype)])
}

fn infer_svd(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let a = Matrices::of(ir, parts, 0)?;
    let count = least(ir, a.rows, a.columns)?;
    let (left, right) = match shape::flag(ir, parts, "full") {
        true => (a.rows, a.columns),
        false => (count, count),
    };
    Ok(smallvec![
        a.with(ir, &[a.rows, left], a.dtype),
        a.with(ir, &[count], a.dtype),
        a.with(ir, &[right, a.columns], a.dtype),
    ])
}

fn infer_fft(ir: &mut Ir, parts: OpParts<'_>) -> Result<ResultTypes, OpError> {
    let (dims, dtype) = shape::tensor(ir, parts, 0)?;
    let (others, other) = shape::tensor(ir, parts, 1)?;
    let dim = shape::int(ir, parts, "dim").unwrap_or(0);
    shape::checked_axis(dim, "dim", dims.len())?;
    if let Some(axis) = dims.iter().position(|dim| dim.extent == Extent::Unknown) {
        return Err(shape::unknown(At::Operand(0), axis));
    }
    let whole = |dims: Vec<Dim>| Matrices {
        batch: dims,
        rows: Extent::Static(1),
        columns: Extent::Static(1),
        dtype,
    };
    let first = whole(dims.iter().map(|dim| Dim::new(dim.extent)).collect());
    beside(ir, &first, &others, other, 1)?;
    let ty = first.with(ir, &[], dtype);
    Ok(smallvec![ty, ty])
}
