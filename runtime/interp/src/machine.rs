//! The execution state that all ops share: options, limits, and the creation of results, in parts by several threads.
//!
//! Every result element is computed by one thread in one order, so results are independent of the number of threads.

use std::ops::Range;
use std::sync::Mutex;

use fuser_ir::DType;

use crate::Options;
use crate::budget::{Budget, Charge};
use crate::error::{ErrorKind, InterpError, Result};
use crate::number::sampling::Noise;
use crate::number::{Env, Rules};
use crate::tensor::{Axis, Data, DataMut, Tensor, filled, product};

/// Elements below which one thread does all the work.
const PARALLEL_FROM: usize = 1 << 15;
/// The number of lanes loaded, computed and stored at a time: three operands of this size stay in the first-level
/// cache.
pub(crate) const CHUNK: usize = 512;
/// The element operations that a call of a program counts as: it takes a microsecond or two.
const CALL: usize = 64;

/// Options and limits of one run.
pub(crate) struct Machine<'o> {
    pub options: &'o Options,
    pub budget: Budget,
    /// The number of the current op, and the number of its random draws: both determine the errors of a sample.
    place: (u64, u64),
    /// The number of loop programs executed so far: an op draws different random numbers in each turn.
    turns: u64,
}

/// A tensor that is being made.
pub(crate) struct Draft {
    dtype: DType,
    axes: Vec<Axis>,
    data: Data,
    bounds: Vec<f64>,
    charge: Charge,
}

/// A part of a draft, for one thread.
pub(crate) struct Portion<'a> {
    /// The stored elements that are to be filled in.
    pub range: Range<usize>,
    /// Their storage; its element 0 is `range.start`.
    pub data: DataMut<'a>,
    /// Their bounds; empty outside reference mode.
    pub bounds: &'a mut [f64],
}

impl Portion<'_> {
    /// Lanes for one chunk.
    pub fn scratch<L: Copy + Default>(&self) -> Vec<L> {
        vec![L::default(); CHUNK.min(self.range.len())]
    }
}

impl<'o> Machine<'o> {
    pub fn new(options: &'o Options) -> Self {
        Self {
            options,
            budget: Budget::new(options.fuel, options.memory),
            place: (0, 0),
            turns: 0,
        }
    }
    /// True if floats are computed with error bounds.
    pub fn is_reference(&self) -> bool {
        self.options.reference
    }
    /// Begins the op with this number.
    pub fn begin(&mut self, op: usize) {
        let turn = self.turns.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.place = (op as u64 ^ turn, 0);
    }
    /// Begins a program of a loop or a branch.
    pub fn next_turn(&mut self) -> Result<()> {
        self.turns += 1;
        self.budget.burn(CALL)
    }
    /// The tensor with nothing known of its elements.
    pub fn unknown(&mut self, x: &Tensor) -> Result<Tensor> {
        let mut draft = self.draft(x.dtype(), x.axes().to_vec())?;
        draft.data = x.data().clone();
        draft.bounds.fill(f64::INFINITY);
        self.finish(draft)
    }
    /// The rules of one part of the current op; in a sample, with random numbers of its own.
    pub fn rules(&mut self, dtype: DType) -> Rules {
        let (op, part) = self.place;
        self.place.1 += 1;
        let sample = self.options.sample;
        Rules::of(dtype).sampled(sample.map(|sample| Noise::new(sample, op).at(part)))
    }
    /// The arithmetic environment of op `name` on `dtype`.
    pub fn env(&mut self, name: &str, dtype: DType) -> Env {
        Env {
            dtype,
            rules: self.rules(dtype),
            contracted: self.options.contracted && matches!(dtype, DType::F32 | DType::F64),
            ulps: match self.is_reference() {
                true => self.options.math.of(name, dtype.compute()),
                false => 0.0,
            },
        }
    }
    /// A result to be filled, paid for.
    pub fn draft(&mut self, dtype: DType, axes: Vec<Axis>) -> Result<Draft> {
        let too_many = || InterpError::invalid("the number of elements overflows");
        let length = product(axes.iter().map(|a| a.stored())).ok_or_else(too_many)?;
        let stored = if self.is_reference() && dtype.is_float() {
            DType::F64
        } else {
            dtype
        };
        let per_element = stored.bytes() + if self.is_reference() { 8 } else { 0 };
        self.budget.burn(length.max(1))?;
        let charge = self
            .budget
            .take(per_element.saturating_mul(length as u64))?;
        let bounds = if self.is_reference() { length } else { 0 };
        Ok(Draft {
            dtype,
            axes,
            data: Data::zeros(stored, length).ok_or_else(|| charge.refused())?,
            bounds: filled(0.0, bounds).ok_or_else(|| charge.refused())?,
            charge,
        })
    }
    /// Fills `draft` with `f`, called once for each part.
    pub fn fill(&self, mut draft: Draft, f: impl Fn(Portion<'_>) + Sync) -> Result<Tensor> {
        let length = draft.data.len();
        let threads = self.threads(length);
        let size = length.div_ceil(threads).max(1);
        let parts = split(draft.data.as_mut(), &mut draft.bounds, length, size);
        let parts = Mutex::new(parts);
        let work = || {
            let next = || parts.lock().ok().and_then(|mut parts| parts.pop());
            std::iter::from_fn(next).for_each(&f);
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // A thread that the system does not give is not needed.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        self.finish(draft)
    }
    fn threads(&self, length: usize) -> usize {
        if length < PARALLEL_FROM {
            1
        } else {
            self.options.threads.max(1)
        }
    }
    pub(crate) fn finish(&self, mut draft: Draft) -> Result<Tensor> {
        let exact = draft.bounds.iter().all(|e| *e == 0.0);
        if exact {
            draft.charge.release(8 * draft.bounds.len() as u64);
        }
        let bounds = (!exact).then_some(draft.bounds);
        Tensor::with_bounds(draft.dtype, draft.axes, draft.data, bounds, draft.charge)
            .ok_or_else(|| InterpError::invalid("a result has the wrong number of elements"))
    }
}

fn split<'a>(
    data: DataMut<'a>,
    bounds: &'a mut [f64],
    length: usize,
    size: usize,
) -> Vec<Portion<'a>> {
    let mut parts = Vec::new();
    let (mut data, mut bounds, mut start) = (data, bounds, 0);
    while start < length {
        let count = size.min(length - start);
        let (data_head, data_tail) = data.split_at(count);
        let (bounds_head, bounds_tail) = bounds.split_at_mut(count.min(bounds.len()));
        parts.push(Portion {
            range: start..start + count,
            data: data_head,
            bounds: bounds_head,
        });
        (data, bounds) = (data_tail, bounds_tail);
        start += count;
    }
    parts
}

/// An extent as a number of elements.
pub(crate) fn extent(value: i64) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| InterpError::new(ErrorKind::Invalid(format!("extent {value} is negative"))))
}
