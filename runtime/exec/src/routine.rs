//! Routines: matrices or lines of operands, gathered one after the other, given to a crate, and put where results lie.
//!
//! A call takes one matrix or line of each operand and makes those of each result; calls of one batch run side by side. What a crate reads and
//! writes is a worker's own memory, without gaps: so every layout is read, and a transpose is another order of gathering.
//!
//! Sound by the plan, which has compared every extent and every size with its buffer.

use fuser_artifact::{DType, Factor, Routine as Which};
use fuser_routines as crates;
use fuser_routines::Real;

use crate::execute::Address;
use crate::tensor::{Axis, strides};

/// A tensor of a routine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    buffer: usize,
    /// The distance from one matrix or line to the next, along each loop of the batch.
    batch: Vec<usize>,
    /// Elements of a matrix, rows and columns; a vector or a line is one column.
    shape: [usize; 2],
    /// From one row to the next, and from one column to the next.
    steps: [usize; 2],
}

impl Place {
    /// The same, where `turned` with rows as columns.
    fn turned(&self, turned: bool) -> Self {
        let mut place = self.clone();
        if turned {
            place.shape.reverse();
            place.steps.reverse();
        }
        place
    }
    fn elements(&self) -> usize {
        self.shape[0] * self.shape[1]
    }
    /// The offset of matrix or line number `call`.
    fn offset(&self, extents: &[usize], call: usize) -> usize {
        let mut rest = call;
        let loops = extents.iter().zip(&self.batch).rev();
        loops.fold(0, |at, (extent, stride)| {
            let index = rest % (*extent).max(1);
            rest /= (*extent).max(1);
            at + index * stride
        })
    }
}

/// A routine with numbers for sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    which: Which,
    /// With the type of the elements.
    lines: Lines,
    batch: Vec<usize>,
    operands: Vec<Place>,
    results: Vec<Place>,
}

/// The transforms of lines, where the routine is one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lines {
    Single(Option<crates::Lines<f32>>),
    Double(Option<crates::Lines<f64>>),
}

impl Routine {
    /// The routine on tensors with these axes; `None` if the axes do not match.
    pub fn new(which: Which, tensors: &[Factor], axes: &[Vec<Axis>]) -> Option<Routine> {
        let (taken, made) = which.axes();
        let own = taken.iter().chain(made);
        let mut batches = Vec::new();
        let mut places = Vec::new();
        for ((factor, axes), &own) in tensors.iter().zip(axes).zip(own) {
            let order: Vec<usize> = factor.tensor.order.iter().map(|&a| a as usize).collect();
            let steps = strides(axes, &order);
            let axis = |own: usize| {
                let at = factor.loops.iter().position(|&l| l as usize == own)?;
                Some((axes.get(at)?.extent, *steps.get(at)?))
            };
            let rank = axes.len();
            let before = rank.checked_sub(own)?;
            let batch: Vec<(usize, usize)> = (0..before).map(axis).collect::<Option<_>>()?;
            let (rows, columns) = match own {
                1 => (axis(before)?, (1, 0)),
                _ => (axis(before)?, axis(before + 1)?),
            };
            rows.0.checked_mul(columns.0)?;
            batches.push(batch.iter().map(|(extent, _)| *extent).collect::<Vec<_>>());
            places.push(Place {
                buffer: factor.tensor.buffer as usize,
                batch: batch.iter().map(|(_, step)| *step).collect(),
                shape: [rows.0, columns.0],
                steps: [rows.1, columns.1],
            });
        }
        let batch = batches.first()?.clone();
        let same = batches.iter().all(|own| *own == batch);
        let results = places.split_off(taken.len().min(places.len()));
        // Where there is no line none is planned, however long it would be.
        let length = match batch.contains(&0) {
            true => 0,
            false => places.first()?.shape[0],
        };
        let inverse = match which {
            Which::Fourier { inverse } => Some(inverse),
            _ => None,
        };
        let lines = match tensors.first()?.tensor.dtype {
            DType::F64 => Lines::Double(inverse.map(|inverse| crates::Lines::new(length, inverse))),
            _ => Lines::Single(inverse.map(|inverse| crates::Lines::new(length, inverse))),
        };
        let routine = Routine {
            which,
            lines,
            batch,
            operands: places,
            results,
        };
        (same && routine.fits()).then_some(routine)
    }

    /// True if matrices and vectors have the extents that the function states.
    fn fits(&self) -> bool {
        let shapes = |places: &[Place]| places.iter().map(|place| place.shape).collect::<Vec<_>>();
        let (taken, made) = (shapes(&self.operands), shapes(&self.results));
        match (self.which, &taken[..], &made[..]) {
            (Which::Cholesky { .. }, &[[n, m]], &[own]) => n == m && own == [n, n],
            (Which::Solve { right, .. }, &[[n, m], b], &[x]) => {
                n == m && b == x && b[usize::from(right)] == n
            }
            (Which::Lu | Which::Qr, &[a], &[own, steps]) => {
                own == a && steps == [a[0].min(a[1]), 1]
            }
            (Which::Reflections, &[v, steps], &[q]) => v == q && v[0] >= v[1] && v[1] >= steps[0],
            (Which::Eigh { .. }, &[[n, m]], &[vectors, values]) => {
                n == m && vectors == [n, n] && values == [n, 1]
            }
            (Which::Svd, &[[n, m]], &[u, s, vt]) => {
                let count = n.min(m);
                let thin = u == [n, count] && vt == [count, m];
                s == [count, 1] && (thin || u == [n, n] && vt == [m, m])
            }
            (Which::Fourier { .. }, &[re, im], &[a, b]) => re == im && re == a && re == b,
            _ => false,
        }
    }

    /// The number of calls; `None` where it does not fit.
    pub fn calls(&self) -> Option<i64> {
        let mut extents = self.batch.iter();
        let count = extents.try_fold(1usize, |count, &own| count.checked_mul(own))?;
        i64::try_from(count).ok()
    }

    /// The buffers, operands first.
    pub fn buffers(&self) -> impl Iterator<Item = usize> {
        self.operands
            .iter()
            .chain(&self.results)
            .map(|place| place.buffer)
    }

    /// Runs calls `begin..end`; `address` gives the start of a buffer.
    ///
    /// # Safety
    /// The addresses are those of the buffers, which have the elements that the plan has checked. No two concurrent
    /// calls have the same number.
    pub(crate) unsafe fn call(&self, begin: i64, end: i64, address: &dyn Fn(usize) -> Address) {
        // SAFETY: the caller's word; the element type is that of the buffers.
        unsafe {
            match &self.lines {
                Lines::Double(lines) => self.of::<f64>(begin, end, address, lines.as_ref()),
                Lines::Single(lines) => self.of::<f32>(begin, end, address, lines.as_ref()),
            }
        }
    }

    /// # Safety
    /// As for `call`; elements are of this type.
    unsafe fn of<T: Real>(
        &self,
        begin: i64,
        end: i64,
        address: &dyn Fn(usize) -> Address,
        lines: Option<&crates::Lines<T>>,
    ) {
        let mut memory = Memory::<T> {
            a: Vec::new(),
            b: Vec::new(),
            c: Vec::new(),
            d: Vec::new(),
            pivots: Vec::new(),
        };
        for call in begin..end {
            let call = Call {
                number: usize::try_from(call).unwrap_or(0),
                batch: &self.batch,
                address,
            };
            // SAFETY: the caller's word.
            unsafe { self.one(&call, &mut memory, lines) }
        }
    }

    /// # Safety
    /// As for `of`.
    unsafe fn one<T: Real>(
        &self,
        call: &Call<'_>,
        memory: &mut Memory<T>,
        lines: Option<&crates::Lines<T>>,
    ) {
        let Memory { a, b, c, d, pivots } = memory;
        // SAFETY: the caller's word; places are those of the buffers of operands and results.
        unsafe {
            match (self.which, &self.operands[..], &self.results[..]) {
                (Which::Cholesky { upper }, [from], [to]) => {
                    call.read(&from.turned(upper), a);
                    crates::cholesky(from.shape[0], a);
                    call.write(&to.turned(upper), a);
                }
                (
                    Which::Solve {
                        right,
                        upper,
                        transpose,
                        unit,
                    },
                    [matrix, sides],
                    [to],
                ) => {
                    // `x a = b` is `a' x' = b'`, and the transpose of an upper triangle a lower one.
                    let turned = right != transpose;
                    let triangle = [upper != turned, unit];
                    let (n, sides) = (matrix.shape[0], sides.turned(right));
                    call.read(&matrix.turned(turned), a);
                    call.read(&sides, b);
                    crates::triangular_solve(n, triangle, a, b);
                    if !b.iter().all(|x| x.finite()) {
                        // Infinities spread as by substitution, step by step.
                        call.read(&sides, b);
                        crates::substitute(n, triangle, a, b);
                    }
                    call.write(&to.turned(right), b);
                }
                (Which::Lu, [from], [to, rows]) => {
                    call.read(from, a);
                    pivots.resize(rows.elements(), 0);
                    crates::lu(from.shape, a, pivots);
                    call.write(to, a);
                    call.write(rows, pivots);
                }
                (Which::Qr, [from], [to, taus]) => {
                    call.read(from, a);
                    b.clear();
                    b.resize(taus.elements(), T::zero());
                    crates::qr(from.shape, a, b);
                    call.write(to, a);
                    call.write(taus, b);
                }
                (Which::Reflections, [from, taus], [to]) => {
                    call.read(from, a);
                    call.read(taus, b);
                    c.clear();
                    c.resize(to.elements(), T::zero());
                    crates::householder_product(from.shape, a, b, c);
                    call.write(to, c);
                }
                (Which::Eigh { upper }, [from], [to, values]) => {
                    call.read(&from.turned(upper), a);
                    b.clear();
                    b.resize(to.elements(), T::zero());
                    c.clear();
                    c.resize(values.elements(), T::zero());
                    crates::eigh(from.shape[0], a, b, c);
                    call.write(to, b);
                    call.write(values, c);
                }
                (Which::Svd, [from], [left, values, right]) => {
                    call.read(from, a);
                    b.clear();
                    b.resize(left.elements(), T::zero());
                    c.clear();
                    c.resize(values.elements(), T::zero());
                    d.clear();
                    d.resize(right.elements(), T::zero());
                    crates::svd(from.shape, a, (&mut b[..], &mut c[..], &mut d[..]));
                    call.write(left, b);
                    call.write(values, c);
                    call.write(right, d);
                }
                (Which::Fourier { .. }, [re, im], [real, imaginary]) => {
                    call.read(re, a);
                    call.read(im, b);
                    if let Some(lines) = lines {
                        crates::fourier(lines, a, b);
                    }
                    call.write(real, a);
                    call.write(imaginary, b);
                }
                _ => {}
            }
        }
    }
}

/// A worker's memory for matrices and lines.
struct Memory<T> {
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<T>,
    d: Vec<T>,
    pivots: Vec<i32>,
}

/// One call of a batch.
struct Call<'a> {
    number: usize,
    batch: &'a [usize],
    address: &'a dyn Fn(usize) -> Address,
}

impl Call<'_> {
    /// The place of each element, column by column, in bytes.
    fn walk<'p, T>(&self, place: &'p Place) -> impl Iterator<Item = usize> + use<'p, T> {
        let first = place.offset(self.batch, self.number);
        let ([rows, columns], [down, across]) = (place.shape, place.steps);
        let column = move |column: usize| {
            (0..rows).map(move |row| (first + column * across + row * down) * size_of::<T>())
        };
        (0..columns).flat_map(column)
    }

    /// Gathers the elements of an operand.
    ///
    /// # Safety
    /// The place has elements of this type.
    unsafe fn read<T: Real>(&self, place: &Place, to: &mut Vec<T>) {
        let from = (self.address)(place.buffer);
        to.clear();
        to.reserve(place.elements());
        // SAFETY: the caller's word.
        to.extend(
            self.walk::<T>(place)
                .map(|at| unsafe { from.at(at).cast::<T>().read() }),
        );
    }

    /// Puts the elements of a result where they belong.
    ///
    /// # Safety
    /// The place has elements of this type, and nobody else uses them.
    unsafe fn write<T: Copy>(&self, place: &Place, from: &[T]) {
        let to = (self.address)(place.buffer);
        for (at, element) in self.walk::<T>(place).zip(from) {
            // SAFETY: the caller's word.
            unsafe { to.at(at).cast::<T>().write(*element) }
        }
    }
}
