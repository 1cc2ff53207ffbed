//! Mean and variance in two walks over the data: one for the sum, one for the squared deviations from the mean.
//!
//! ```text
//! %var, %mean = fusion.var_mean %x dims [1] correction 0      // 16x4194304, f32
//!   =>
//! %p    = fusion.reshape %x shape [16, 128, 32768]
//! %s    = fusion.sum %p dims [2]                              // of each part
//! %m    = fusion.div %s, 32768.0
//! %c    = fusion.sub %p, (fusion.broadcast %m dims [0, 1] shape [16, 128, 32768])
//! %q    = fusion.sum (fusion.mul %c, %c) dims [2]
//! %mean = fusion.div (fusion.sum %s dims [1]), 4194304.0
//! %d    = fusion.sub %m, (fusion.broadcast %mean dims [0] shape [16, 128])
//! %ss   = fusion.sum (fusion.add %q, (fusion.mul 32768.0, (fusion.mul %d, %d))) dims [1]
//! %var  = fusion.div %ss, 4194304.0
//! ```
//!
//! The data are split into parts only if fast memory does not hold all data of a mean. The second walk over a part then
//! finds it there, and slow memory is read once. The squared deviations from a mean are combined from those within the
//! parts and those between the means of the parts: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm
//! for computing sample variances" (1979). Otherwise there is one part. 16-bit inputs are widened first, and each
//! result is rounded once.
//!
//! On a GPU, a mean along the contiguous axis has such parts as well, each held by a block. Parts of columns have as
//! many rows as a thread loads at once, so that it still has them in registers when it knows their mean. There are many
//! such parts, so their squared deviations form a single sum, and only the means of the parts are passed on:
//!
//! ```text
//! %var, %mean = fusion.var_mean %x dims [0] correction 0      // 25088x256, f32
//!   =>
//! %p    = fusion.reshape %x shape [1568, 16, 256]
//! %s    = fusion.sum %p dims [1]
//! %m    = fusion.div %s, 16.0
//! %c    = fusion.sub %p, (fusion.broadcast %m dims [0, 2] shape [1568, 16, 256])
//! %q    = fusion.sum (fusion.mul %c, %c) dims [0, 1]
//! %mean = fusion.div (fusion.sum %s dims [0]), 25088.0
//! %d    = fusion.sub %m, (fusion.broadcast %mean dims [1] shape [1568, 256])
//! %ss   = fusion.add %q, (fusion.mul 16.0, (fusion.sum (fusion.mul %d, %d) dims [0]))
//! %var  = fusion.div %ss, 25088.0
//! ```

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::{Built, FusionBuilder};
use fuser_ir::build::Builder;
use fuser_ir::def::OpError;
use fuser_ir::{DType, Dim, Extent, Ir, Op, TensorType, Value, layout};
use fuser_target::Target;

use super::{Parts, count};

/// The fewest elements of a part: two results of each are handed on.
const FEWEST: u64 = 32;
/// The number of parts that fast memory must have room for, so that a part and the other inputs of its second walk fit.
const SHARE: u64 = 8;

/// The rows of a part on a GPU: as many as a thread loads at once, or half as many. The thread still holds all of them
/// once it knows their mean.
const ROWS: [u64; 2] = [16, 8];
/// The minimum number of rows that a GPU splits into parts; fewer rows are read again from its caches.
const LONG: u64 = 256;

/// The axes of a tensor over which one mean is taken; those within a part come last.
#[derive(Default)]
struct Walk {
    /// The shape, in which an axis split into pieces is two axes.
    shape: Vec<Dim>,
    /// Axes along which there are parts.
    outer: Vec<i64>,
    /// Axes of a part.
    inner: Vec<i64>,
    /// True if the squares of all parts are one sum.
    joined: bool,
}

impl Walk {
    /// One part along all of `dims`.
    fn whole(tensor: &TensorType, dims: &[i64]) -> Walk {
        Walk {
            shape: tensor.dims.iter().map(|d| Dim::new(d.extent)).collect(),
            outer: Vec::new(),
            inner: dims.to_vec(),
            joined: false,
        }
    }

    /// Parts of `dims`, where there are such on the target; else one part.
    fn new(ir: &Ir, tensor: &TensorType, dims: &[i64], target: &Target) -> Walk {
        let mut axes: Vec<usize> = dims.iter().map(|&axis| axis as usize).collect();
        axes.sort_unstable();
        let length = |axis: usize| match tensor.dims.get(axis)?.extent {
            Extent::Static(length) => Some(length),
            _ => None,
        };
        let plain = layout::is_row_major(ir, tensor) && !tensor.dims.iter().any(|d| d.broadcast);
        let empty = axes.iter().any(|&axis| length(axis) == Some(0));
        let parts = match target.abilities().block_threads {
            _ if empty => None,
            true if axes.last().is_some_and(|last| last + 1 < tensor.dims.len()) => {
                Walk::of_rows(tensor, &axes, &length, plain)
            }
            true => Walk::of_caches(tensor, &axes, &length, plain, target),
            false => Walk::of_caches(tensor, &axes, &length, plain, target),
        };
        parts.unwrap_or_else(|| Walk::whole(tensor, dims))
    }

    /// On a GPU: parts of as many indices of an axis as a thread loads at once, if the data beside them are contiguous.
    /// The number is a power of two, so that means are exact whenever sums are.
    fn of_rows(
        tensor: &TensorType,
        axes: &[usize],
        length: &dyn Fn(usize) -> Option<u64>,
        plain: bool,
    ) -> Option<Walk> {
        let all = |axes: &mut dyn Iterator<Item = usize>| {
            let lengths = axes.map(|axis| length(axis).unwrap_or(u64::MAX));
            lengths.fold(1, u64::saturating_mul)
        };
        let beside = *axes.last()? + 1..tensor.dims.len();
        let known = !beside.is_empty() && beside.clone().all(|axis| length(axis).is_some());
        if !plain || !known || all(&mut axes.iter().copied()) < LONG {
            return None;
        }
        let cut = |rows: u64| {
            let mut axes = axes.iter().enumerate().rev();
            let whole = |axis| length(axis).is_some_and(|n| n > rows && n.is_multiple_of(rows));
            axes.find(|(_, axis)| whole(**axis))
                .map(|(at, _)| (at, rows))
        };
        let (at, rows) = ROWS.into_iter().find_map(cut)?;
        let walk = Walk::whole(tensor, &[]).cut(axes, &[], (axes[at], length(axes[at])?, rows));
        Some(Walk {
            joined: true,
            ..walk
        })
    }

    /// On a CPU: parts of the innermost of `axes` and a piece of the next one, if fast memory holds such a part but not
    /// the whole.
    fn of_caches(
        tensor: &TensorType,
        axes: &[usize],
        length: &dyn Fn(usize) -> Option<u64>,
        plain: bool,
        target: &Target,
    ) -> Option<Walk> {
        let product = |axes: &[usize]| {
            let all = axes.iter().map(|&axis| length(axis).unwrap_or(u64::MAX));
            all.fold(1, u64::saturating_mul)
        };
        let beside: Vec<usize> = (0..tensor.dims.len())
            .filter(|axis| axes.last().is_some_and(|last| axis > last))
            .collect();
        let columns = product(&beside);
        let size = tensor.dtype.compute().bytes();
        let held = target.tile_bytes / size;
        if product(axes).saturating_mul(columns.min(target.narrow_tile)) <= held {
            return None;
        }
        let most = (held / SHARE / columns.clamp(1, target.tile)).max(FEWEST);
        let mut within = 1;
        let mut first = axes.len();
        while let Some(n) = first.checked_sub(1).and_then(|i| length(axes[i])) {
            if n.saturating_mul(within) > most {
                break;
            }
            within *= n;
            first -= 1;
        }
        let (outer, inner) = axes.split_at(first);
        let cut = outer
            .last()
            .and_then(|&axis| length(axis).map(|n| (axis, n)));
        let piece = cut.filter(|_| plain).and_then(|(axis, n)| {
            let mut pieces = (2..=most / within).rev();
            pieces.find(|p| n.is_multiple_of(*p)).map(|p| (axis, n, p))
        });
        let piece = piece.unwrap_or((usize::MAX, 1, 1));
        if outer.is_empty() || within * piece.2 < FEWEST {
            return None;
        }
        Some(Walk::whole(tensor, &[]).cut(outer, inner, piece))
    }

    /// The walk over parts: the axes `inner` and pieces of length `piece` of the axis `cut`. That axis has `n` indices
    /// and belongs to `outer`.
    fn cut(mut self, outer: &[usize], inner: &[usize], (cut, n, piece): (usize, u64, u64)) -> Walk {
        let moved = |axes: &[usize]| -> Vec<i64> {
            axes.iter()
                .map(|&axis| axis as i64 + i64::from(axis > cut))
                .collect()
        };
        self.outer = moved(outer);
        self.inner = moved(inner);
        if piece > 1 {
            self.shape
                .splice(cut..=cut, [Dim::fixed(n / piece), Dim::fixed(piece)]);
            self.inner.insert(0, cut as i64 + 1);
        }
        self
    }

    /// The axes that a mean is taken along.
    fn all(&self) -> Vec<i64> {
        let mut all = [&self.outer[..], &self.inner].concat();
        all.sort_unstable();
        all
    }

    /// The axes of the shape that are not of a part.
    fn kept(&self) -> Vec<i64> {
        let all = 0..self.shape.len() as i64;
        all.filter(|axis| !self.inner.contains(axis)).collect()
    }

    /// The lengths of these axes.
    fn lengths(&self, axes: &[i64]) -> Vec<Dim> {
        let all = axes
            .iter()
            .filter_map(|&axis| self.shape.get(axis as usize));
        all.copied().collect()
    }

    /// The walk that takes the mean over the parts: the remaining axes of the shape, without those within a part.
    fn parts(&self) -> Walk {
        let kept = self.kept();
        let place = |axis: &i64| kept.iter().position(|k| k == axis).map(|p| p as i64);
        Walk {
            shape: self.lengths(&kept),
            outer: Vec::new(),
            inner: self.outer.iter().filter_map(place).collect(),
            joined: false,
        }
    }
}

/// A mean or a variance that is asked for.
struct Asked {
    input: Value,
    tensor: TensorType,
    /// The axes that it is taken along.
    dims: Vec<i64>,
    /// True if these stay, with one index.
    keeps: bool,
}

impl Asked {
    fn of(ir: &Ir, op: Op) -> Result<Self, OpError> {
        let input = ir.operand(op, 0);
        let missing = || OpError::new("its operand is no tensor");
        Ok(Self {
            input,
            tensor: ir
                .value_kind(input)
                .as_tensor()
                .ok_or_else(missing)?
                .clone(),
            dims: ir.i64s_of(op, "dims").unwrap_or(&[]).to_vec(),
            keeps: ir.get_attr(op, "keepdim").is_some(),
        })
    }
    /// The number of elements that one result averages, as a scalar of the computing type.
    fn count(&self, b: &mut Builder<'_>) -> Built {
        let whole = Walk::whole(&self.tensor, &self.dims);
        count(b, &whole.lengths(&self.dims), self.tensor.dtype.compute())
    }
}

/// The result of a `fusion.mean`.
pub fn mean(ir: &mut Ir, op: Op) -> Parts {
    let asked = Asked::of(ir, op)?;
    if asked.tensor.dtype.is_complex() {
        return of_complex(ir, op);
    }
    let mut b = Builder::before(ir, op);
    if asked.dims.is_empty() {
        return Ok(vec![b.value(&fusion::COPY, &[asked.input], &[])?]);
    }
    let x = b.cast(asked.input, asked.tensor.dtype.compute())?;
    let clauses = [b.ints("dims", &asked.dims), b.flag("keepdim")];
    let sum = b.value(&fusion::SUM, &[x], &clauses[..1 + usize::from(asked.keeps)])?;
    let n = asked.count(&mut b)?;
    let mean = b.div(sum, n)?;
    Ok(vec![b.cast(mean, asked.tensor.dtype)?])
}

/// The variance and the mean that a `fusion.var_mean` has.
pub fn var_mean(ir: &mut Ir, op: Op, target: &Target) -> Parts {
    let asked = Asked::of(ir, op)?;
    if asked.tensor.dtype.is_complex() {
        return of_complex(ir, op);
    }
    let (tensor, dims) = (&asked.tensor, &asked.dims);
    let correction = ir.int_of(op, "correction").unwrap_or(0);
    let results: Vec<_> = ir.results(op).iter().map(|&v| ir.value_type(v)).collect();
    let compute = tensor.dtype.compute();
    let walk = Walk::new(ir, tensor, dims, target);

    let mut b = Builder::before(ir, op);
    let mut x = asked.input;
    if walk.shape.len() != tensor.dims.len() {
        let shape = b.shape("shape", &walk.shape);
        x = b.value(&fusion::RESHAPE, &[x], &[shape])?;
    }
    let x = b.cast(x, compute)?;
    let n = asked.count(&mut b)?;
    let mut sum = b.reduce(&fusion::SUM, x, &walk.inner)?;
    let (mean, squares) = if walk.outer.is_empty() {
        let mean = b.div(sum, n)?;
        (mean, squares(&mut b, x, mean, (&walk, &walk.inner), None)?)
    } else {
        let parts = walk.parts();
        let length = count(&mut b, &walk.lengths(&walk.inner), compute)?;
        let means = b.div(sum, length)?;
        let joined = walk.joined;
        let along = match joined {
            true => walk.all(),
            false => walk.inner.clone(),
        };
        let within = squares(&mut b, x, means, (&walk, &along), None)?;
        sum = b.reduce(&fusion::SUM, sum, &parts.inner)?;
        let mean = b.div(sum, n)?;
        let of_parts =
            |b: &mut Builder<'_>, own| squares(b, means, mean, (&parts, &parts.inner), own);
        let squares = match joined {
            true => {
                let between = of_parts(&mut b, None)?;
                let between = b.mul(between, length)?;
                b.add(within, between)?
            }
            false => of_parts(&mut b, Some((length, within)))?,
        };
        (mean, squares)
    };
    let var = variance(&mut b, squares, n, correction, compute)?;
    let mut out = vec![var, mean];
    for (value, ty) in out.iter_mut().zip(results) {
        *value = b.cast(*value, tensor.dtype)?;
        if asked.keeps {
            let dims = b.ir.ty(ty).as_tensor().map(|t| t.dims.clone());
            let shape = b.shape("shape", &dims.unwrap_or_default());
            *value = b.value(&fusion::RESHAPE, &[*value], &[shape])?;
        }
    }
    Ok(out)
}

/// The results of a complex `op`: the means of both parts, and the sum of their variances.
fn of_complex(ir: &mut Ir, op: Op) -> Parts {
    let input = ir.operand(op, 0);
    let def = ir
        .def(op)
        .ok_or_else(|| OpError::new("it is no op of a table"))?;
    let clauses = def.clauses.iter();
    let clauses: Vec<_> = clauses
        .filter_map(|clause| Some((clause.name, ir.get_attr(op, clause.name)?)))
        .collect();
    let mut b = Builder::before(ir, op);
    let re = b.unary(&fusion::REAL, input)?;
    let im = b.unary(&fusion::IMAG, input)?;
    let re = b.build(def, &[re], &clauses, &[], None)?;
    let im = b.build(def, &[im], &clauses, &[], None)?;
    let (mean, mut out) = (b.ir.results(op).len() - 1, Vec::new());
    for index in 0..=mean {
        let (re, im) = (b.ir.result(re, index), b.ir.result(im, index));
        out.push(if index == mean {
            b.binary(&fusion::COMPLEX, re, im)?
        } else {
            b.binary(&fusion::ADD, re, im)?
        });
    }
    Ok(out)
}

/// The sum of squared deviations of `x` from the means. If `x` are means of parts, this sum is multiplied by the number
/// of elements of a part, and the squared deviations within the parts are added.
fn squares(
    b: &mut Builder<'_>,
    x: Value,
    mean: Value,
    (walk, along): (&Walk, &[i64]),
    parts: Option<(Value, Value)>,
) -> Built {
    let wide = b.broadcast(mean, &walk.kept(), &walk.shape)?;
    let centered = b.sub(x, wide)?;
    let mut squares = b.mul(centered, centered)?;
    if let Some((length, within)) = parts {
        let length = b.broadcast(length, &[], &walk.shape)?;
        squares = b.mul(length, squares)?;
        squares = b.add(within, squares)?;
    }
    b.reduce(&fusion::SUM, squares, along)
}

/// `squares / (count - correction)`, NaN where that is not positive.
fn variance(
    b: &mut Builder<'_>,
    squares: Value,
    count: Value,
    correction: i64,
    dtype: DType,
) -> Built {
    if correction == 0 {
        return b.div(squares, count);
    }
    let ty = b.ir.scalar(dtype);
    let correction = b.constant_float(correction as f64, ty)?;
    let freedom = b.sub(count, correction)?;
    let zero = b.constant_float(0.0, ty)?;
    let nan = b.constant_float(f64::NAN, ty)?;
    let positive = b.compare("gt", freedom, zero)?;
    // A NaN divisor makes a NaN quotient.
    let divisor = b.choose(positive, freedom, nan)?;
    b.div(squares, divisor)
}
