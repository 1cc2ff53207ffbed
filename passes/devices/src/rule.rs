//! The ways in which an op can be split over devices: its iteration space, axis by axis.
//!
//! ```text
//! %y = fusion.matmul %a, %b       (i, j, k): %a[i, k], %b[k, j] -> %y[i, j]
//!   cut along i                   %a by rows, %b whole, %y by rows
//!   cut along k                   %a by columns, %b by rows, each device has a summand of %y
//! ```
//!
//! The rule of an op follows from its indexing maps, which all ops have; for a split reduction, the op determines how
//! parts are combined. Integers, and floats of at least 32 bits, are combined in their own type. A summand of a
//! narrower float is f32 until all are combined.

use fuser_dialects::fusion::{self, maps};
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::maps::{Index, IteratorKind};
use fuser_ir::types::{DType, Extent};
use fuser_ir::{Ir, Op, Value};

use crate::table;

/// The most axes of a tensor whose ops are cut.
pub const MOST_AXES: usize = 60;

/// The ways in which what devices hold becomes one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Combine {
    /// They are added.
    Sum,
    /// They are multiplied.
    Prod,
    /// The greatest counts.
    Max,
    /// The smallest counts.
    Min,
}

impl Combine {
    /// The word of the clause `combine`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// A kind of factor, by the result that a device computes if the factor is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A part.
    Parallel,
    /// Something that is combined with what others have.
    Partial(Combine),
    /// The elements found in the device's own part of a table, and a neutral element for the sum otherwise.
    Lookup,
    /// A part of a tensor into which elements are written at indices; indices of other parts are out of range.
    Placed,
    /// A part whose first operand includes a halo: elements of its neighbors at both ends.
    Halo(Halo),
}

/// The elements of its neighbours that a device needs along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halo {
    /// Before its own.
    pub before: u64,
    /// Behind its own.
    pub behind: u64,
    /// True if the first device is a neighbor of the last one; otherwise there are zeros beyond the ends.
    pub wraps: bool,
}

impl Halo {
    /// The elements at both ends.
    pub fn elements(&self) -> u64 {
        self.before + self.behind
    }
}

/// An axis of an op's iteration space along which devices may share it.
#[derive(Clone, Debug)]
pub struct Factor {
    /// The results of a device where it is cut.
    pub kind: Kind,
    /// The extents of the axes that are split; the number of parts must divide each of them.
    pub extents: Vec<u64>,
}

/// The rule of an op.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// The axes along which it may be cut.
    pub factors: Vec<Factor>,
    /// For each axis of each operand its factor; an axis without one is whole on each device.
    pub operands: Vec<Vec<Option<usize>>>,
    /// For each axis of each result its factor.
    pub results: Vec<Vec<Option<usize>>>,
    /// Sets of operands that may all be summands: then the results are.
    pub linear: Vec<Vec<usize>>,
    /// Elements of the iteration space.
    pub points: u64,
    /// The number of elements of which each mean is one.
    pub mean: Option<u64>,
}

impl Rule {
    /// The rule of an op with known extents; it has no factors if the op cannot be split.
    pub fn of(ir: &Ir, op: Op) -> Self {
        let mut rule = Self::whole(ir, op);
        let cuttable = match ir.def(op) {
            Some(def) if def.has_maps(&maps::RESHAPE) => rule.reshape(ir, op),
            Some(def) => match def.class {
                OpClass::Control | OpClass::Collective | OpClass::Structure => None,
                class => rule.mapped(ir, op, class),
            },
            None => None,
        };
        let ranks = rule.operands.iter().chain(&rule.results).map(Vec::len);
        if cuttable.is_none() || ranks.max().unwrap_or(0) > MOST_AXES {
            rule.factors.clear();
            rule.forget();
        }
        rule.linear = linear(ir, op);
        if table::is_mean(ir, op) {
            rule.mean = mean_length(ir, op);
        }
        rule
    }
    fn whole(ir: &Ir, op: Op) -> Self {
        let axes = |value: Value| vec![None; ir.rank(value)];
        let results = ir.results(op).iter();
        let elements = |value: Value| elements(ir, value);
        let values = ir.operands(op).chain(results.clone().copied());
        Self {
            operands: ir.operands(op).map(axes).collect(),
            results: results.map(|&value| axes(value)).collect(),
            points: values.map(elements).max().unwrap_or(1),
            ..Self::default()
        }
    }
    fn forget(&mut self) {
        let axes = self.operands.iter_mut().chain(&mut self.results);
        axes.flatten().for_each(|axis| *axis = None);
    }
    /// Factors of the iterators that no index shifts.
    fn mapped(&mut self, ir: &Ir, op: Op, class: OpClass) -> Option<()> {
        let maps = ir.maps(op)?;
        let fixed = self.fixed(ir, op, class);
        let partial = partial(ir, op);
        let mut kinds: Vec<Option<Kind>> = Vec::new();
        for (iter, kind) in maps.iterators.iter().enumerate() {
            kinds.push(match kind {
                _ if fixed.contains(&iter) => None,
                IteratorKind::Parallel => Some(Kind::Parallel),
                IteratorKind::Reduction => partial.map(Kind::Partial),
                IteratorKind::Scan => None,
            });
        }
        let mut extents: Vec<Vec<u64>> = vec![Vec::new(); kinds.len()];
        let values = ir.operands(op).chain(ir.results(op).iter().copied());
        let all = maps.operands.iter().chain(&maps.results);
        for (value, map) in values.zip(all) {
            for (axis, index) in map.axes()?.iter().enumerate() {
                match *index {
                    Index::Iter(iter) => match extent(ir, value, axis) {
                        Some(extent) => extents[iter].push(extent),
                        None => kinds[iter] = None,
                    },
                    Index::Affine { iter, .. } | Index::From { iter, .. } => kinds[iter] = None,
                    Index::Zero | Index::Element(_) => {}
                }
            }
        }
        let mut numbers = vec![None; kinds.len()];
        self.points = 1;
        for (iter, extents) in extents.into_iter().enumerate() {
            let length = extents.first().copied().unwrap_or(1);
            self.points = self.points.saturating_mul(length);
            if let Some(kind) = kinds[iter].filter(|_| !extents.is_empty()) {
                numbers[iter] = Some(self.factors.len());
                self.factors.push(Factor { kind, extents });
            }
        }
        for (axes, map) in self
            .operands
            .iter_mut()
            .zip(&maps.operands)
            .chain(self.results.iter_mut().zip(&maps.results))
        {
            for (axis, index) in axes.iter_mut().zip(map.axes()?) {
                if let Index::Iter(iter) = index {
                    *axis = numbers[*iter];
                }
            }
        }
        self.lookup(ir, op);
        self.placed(ir, op, class);
        self.rolled(ir, op);
        self.windows(ir, op, class);
        Some(())
    }
    /// The table of a lookup, cut along the axis that is indexed.
    fn lookup(&mut self, ir: &Ir, op: Op) {
        let takes = table::lookup(ir, op).is_some();
        let dim = ir
            .int_of(op, "dim")
            .and_then(|dim| usize::try_from(dim).ok());
        let table = ir.operands(op).next();
        let index = ir
            .operands(op)
            .nth(1)
            .and_then(|value| ir.value_kind(value).dtype());
        // Whatever the index, it becomes one of 64 bits with a sign.
        let looks = takes && index != Some(DType::U64);
        let (true, Some(dim), Some(table)) = (looks, dim, table) else {
            return;
        };
        let numeric = ir.value_kind(table).dtype().is_some_and(|d| {
            d.is_float() && !d.is_storage() || matches!(d, DType::I32 | DType::I64)
        });
        if let (true, Some(length)) = (numeric, extent(ir, table, dim)) {
            self.operands[0][dim] = Some(self.factors.len());
            self.factors.push(Factor {
                kind: Kind::Lookup,
                extents: vec![length],
            });
        }
    }
    /// Adds a factor for the indexed axis of a scatter's destination tensor.
    fn placed(&mut self, ir: &Ir, op: Op, class: OpClass) {
        let dim = ir
            .int_of(op, "dim")
            .and_then(|dim| usize::try_from(dim).ok());
        let dest = ir.operands(op).next();
        let (OpClass::Scatter, Some(dim), Some(dest)) = (class, dim, dest) else {
            return;
        };
        if let Some(length) = extent(ir, dest, dim) {
            let number = Some(self.factors.len());
            (self.operands[0][dim], self.results[0][dim]) = (number, number);
            self.factors.push(Factor {
                kind: Kind::Placed,
                extents: vec![length],
            });
        }
    }
    /// The axis that is moved along itself by less than half of it.
    fn rolled(&mut self, ir: &Ir, op: Op) {
        if !table::is_rolled(ir, op) {
            return;
        }
        let (Some(dim), Some(shift)) = (ir.int_of(op, "dim"), ir.int_of(op, "shift")) else {
            return;
        };
        let by = shift.unsigned_abs();
        let halo = match shift < 0 {
            true => Halo {
                before: 0,
                behind: by,
                wraps: true,
            },
            false => Halo {
                before: by,
                behind: 0,
                wraps: true,
            },
        };
        if let Ok(dim) = usize::try_from(dim) {
            self.halo(ir, op, dim, halo);
        }
    }
    /// Adds factors for the spatial axes of a convolution whose windows match the steps of a device's part one to one.
    fn windows(&mut self, ir: &Ir, op: Op, class: OpClass) {
        let windows = (class == OpClass::Convolution).then(|| fusion::convolution::windows(ir, op));
        let Some(windows) = windows.flatten() else {
            return;
        };
        let front = fusion::convolution::front(ir, op);
        let kernel = ir.operand(op, 1);
        for (dim, window) in (front..).zip(windows) {
            let places = extent(ir, kernel, dim).and_then(|own| i64::try_from(own).ok());
            let steps = extent(ir, ir.operand(op, 0), dim).zip(extent(ir, ir.result(op, 0), dim));
            let even =
                steps.is_some_and(|(from, to)| Some(from) == to.checked_mul(window.stride as u64));
            let (Some(places @ 1..), true, 1, 0..) =
                (places, even, window.base_dilation, window.low)
            else {
                continue;
            };
            let reach = (places - 1).saturating_mul(window.dilation);
            let behind = reach - window.low - window.stride + 1;
            let halo = Halo {
                before: window.low.unsigned_abs(),
                behind: behind.max(0).unsigned_abs(),
                wraps: false,
            };
            self.halo(ir, op, dim, halo);
        }
    }
    /// Adds a factor for an axis of the first operand and the result with a halo.
    fn halo(&mut self, ir: &Ir, op: Op, dim: usize, halo: Halo) {
        let (from, to) = (ir.operand(op, 0), ir.result(op, 0));
        let once = |value: Value| {
            let tensor = ir.value_kind(value).as_tensor();
            tensor.is_some_and(|own| own.dims.get(dim).is_some_and(|dim| !dim.broadcast))
        };
        if let (Some(x), Some(y), true) = (extent(ir, from, dim), extent(ir, to, dim), once(from)) {
            let number = Some(self.factors.len());
            (self.operands[0][dim], self.results[0][dim]) = (number, number);
            self.factors.push(Factor {
                kind: Kind::Halo(halo),
                extents: vec![x, y],
            });
        }
    }
    /// Iterators along which an op looks at more than what its maps say.
    fn fixed(&self, ir: &Ir, op: Op, class: OpClass) -> Vec<usize> {
        let rank = ir.results(op).first().map_or(0, |&value| ir.rank(value));
        let dim = ir
            .int_of(op, "dim")
            .and_then(|dim| usize::try_from(dim).ok());
        let all = || (0..64).collect();
        match class {
            _ if table::is_placed(ir, op) => dim.into_iter().collect(),
            OpClass::Creation if table::is_splat(ir, op) => Vec::new(),
            OpClass::Creation if ir.computes(op) == Some(Computes::Index) => {
                dim.into_iter().collect()
            }
            OpClass::Creation => all(),
            _ if table::is_drawn(ir, op) => all(),
            OpClass::Attention if ir.get_attr(op, "causal").is_some() => {
                vec![rank.saturating_sub(2)]
            }
            OpClass::Scatter | OpClass::Sort | OpClass::Scan => dim.into_iter().collect(),
            // The places of results along space are whole.
            OpClass::Convolution => {
                let front = fusion::convolution::front(ir, op);
                (front..rank).chain(rank + 1..64).collect()
            }
            OpClass::Routine => all(),
            _ => Vec::new(),
        }
    }
    /// Adds factors for a reshape: the first axis of each group of axes that it merges or splits.
    fn reshape(&mut self, ir: &Ir, op: Op) -> Option<()> {
        let dims = |value: Value| {
            (0..ir.rank(value))
                .map(|axis| extent(ir, value, axis))
                .collect::<Option<Vec<u64>>>()
        };
        let (from, to) = (dims(ir.operand(op, 0))?, dims(ir.result(op, 0))?);
        if from.contains(&0) {
            return None;
        }
        let (mut a, mut b) = (0, 0);
        while a < from.len() && b < to.len() {
            let (first, second) = (a, b);
            let (mut left, mut right) = (from[a], to[b]);
            while left != right {
                match left < right {
                    true => {
                        a += 1;
                        left = left.checked_mul(*from.get(a)?)?;
                    }
                    false => {
                        b += 1;
                        right = right.checked_mul(*to.get(b)?)?;
                    }
                }
            }
            let wide = |list: &[u64], range: std::ops::RangeInclusive<usize>| {
                range.into_iter().find(|&axis| list[axis] > 1)
            };
            if let (Some(x), Some(y)) = (wide(&from, first..=a), wide(&to, second..=b)) {
                let number = Some(self.factors.len());
                (self.operands[0][x], self.results[0][y]) = (number, number);
                self.factors.push(Factor {
                    kind: Kind::Parallel,
                    extents: vec![from[x], to[y]],
                });
            }
            (a, b) = (a + 1, b + 1);
        }
        Some(())
    }
    /// True if a factor may be split into `parts` parts; no halo may be longer than a part.
    pub fn divides(&self, factor: usize, parts: i64) -> bool {
        let parts = parts.max(1) as u64;
        let factor = &self.factors[factor];
        let least = match factor.kind {
            Kind::Halo(halo) => halo.before.max(halo.behind).max(1),
            _ => 1,
        };
        let mut extents = factor.extents.iter();
        extents.all(|extent| extent % parts == 0 && *extent > 0)
            && factor.extents[0] / parts >= least
    }
}

/// The extent of an axis, where it is a number.
pub fn extent(ir: &Ir, value: Value, axis: usize) -> Option<u64> {
    match ir.value_kind(value).as_tensor()?.dims.get(axis)?.extent {
        Extent::Static(extent) => Some(extent),
        _ => None,
    }
}

/// The number of stored elements of a value; unknown extents count as 1024.
pub fn elements(ir: &Ir, value: Value) -> u64 {
    let dims = ir
        .value_kind(value)
        .as_tensor()
        .map_or(&[][..], |t| &t.dims);
    let stored = dims
        .iter()
        .filter(|dim| !dim.broadcast)
        .map(|dim| match dim.extent {
            Extent::Static(extent) => extent,
            _ => 1024,
        });
    stored.fold(1, u64::saturating_mul)
}

/// The function that combines partial results of a reduction; `None` if they cannot be combined.
fn partial(ir: &Ir, op: Op) -> Option<Combine> {
    match ir.def(op)?.class {
        OpClass::Convolution => Some(Combine::Sum),
        // A bias would be added by each device.
        OpClass::Contraction => (ir.operand_count(op) == 2).then_some(Combine::Sum),
        // A sum is divided by a number that is known.
        OpClass::Reduction if table::is_mean(ir, op) => mean_length(ir, op).map(|_| Combine::Sum),
        OpClass::Reduction => {
            let complex = ir
                .operands(op)
                .any(|value| ir.value_kind(value).dtype().is_some_and(DType::is_complex));
            let (combine, _) = table::reduction(ir, op)?;
            // Products of complex numbers are none of parts.
            (!complex || combine == Combine::Sum).then_some(combine)
        }
        _ => None,
    }
}

/// The number of elements averaged by each mean; `None` if it is unknown.
fn mean_length(ir: &Ir, op: Op) -> Option<u64> {
    let operand = ir.operands(op).next()?;
    let dims = ir.i64s_of(op, "dims")?.iter();
    let mut lengths = dims.map(|&dim| extent(ir, operand, usize::try_from(dim).ok()?));
    lengths.try_fold(1u64, |all, length| all.checked_mul(length?))
}

/// True if parts of a partial result are not yet summands of the result: they are f32 for a narrower result, and sums
/// for a mean.
pub fn is_pending(ir: &Ir, op: Op) -> bool {
    let narrow =
        |&value: &Value| matches!(ir.value_kind(value).dtype(), Some(DType::F16 | DType::BF16));
    table::is_mean(ir, op) || ir.results(op).iter().any(narrow)
}

/// The sets of operands in which an op is linear.
fn linear(ir: &Ir, op: Op) -> Vec<Vec<usize>> {
    let wide = |value: Value| matches!(ir.value_kind(value).dtype(), Some(DType::F32 | DType::F64));
    let mut values = ir.operands(op).chain(ir.results(op).iter().copied());
    if !values.all(wide) {
        return Vec::new();
    }
    let product = ir
        .def(op)
        .is_some_and(|def| def.class == OpClass::Contraction);
    if product && ir.operand_count(op) == 2 {
        return vec![vec![0], vec![1]];
    }
    table::linear(ir, op)
        .iter()
        .map(|set| set.to_vec())
        .collect()
}
