//! Convolutions: a tensor and a kernel of weights, with windows of every kind.

use fuser_dialects::fusion;
use fuser_dialects::fusion::convolution::Window;
use fuser_ir::Dim;
use fuser_ir::def::OpDef;

use super::maker::{Clause, Maker};
use super::operands::plain;
use super::ops::tensor;
use super::products::{WORK, like};
use super::shapes::{self, Axis};

/// Lengths of axes of space, and of features and filters.
const LENGTHS: &[u64] = &[5, 1, 2, 3, 7, 9, 0];
const FEATURES: &[u64] = &[8, 1, 2, 9, 17];

fn fixed(length: u64) -> Axis {
    Axis {
        dim: Dim::fixed(length),
        length,
    }
}

/// Appends an op of the table to the program; `None` if that is not possible.
pub fn draw(maker: &mut Maker<'_>, def: &'static OpDef) -> Option<usize> {
    let mut x = tensor(maker, def, true)?;
    let groups = maker.source.chance(1, 4);
    let front = 2 + usize::from(groups);
    let known = |axis: &Axis| axis.dim.extent == Dim::fixed(axis.length).extent;
    let own = &maker.slots[x].axes;
    if own.len() < front || own.len() > front + 3 || !own[front..].iter().all(known) {
        let dtype = maker.slots[x].dtype;
        let dims = maker.source.range(0, 3) as usize;
        let axes = [FEATURES, FEATURES, FEATURES][..front].iter().copied();
        let axes = axes.chain(std::iter::repeat_n(LENGTHS, dims));
        let axes: Vec<Axis> = axes
            .map(|lengths| fixed(maker.source.one(lengths)))
            .collect();
        if shapes::elements(&axes) > maker.config.elements {
            return None;
        }
        x = like(maker, &axes, dtype);
    }
    let source = maker.slots[x].clone();
    let axes: Vec<Axis> = source.axes.iter().map(|axis| plain(*axis)).collect();
    let (features, space) = (axes[front - 1], &axes[front..]);
    let filters = fixed(maker.source.one(FEATURES));
    let mut kernel = axes[1..front - 1].to_vec();
    kernel.extend([filters, features]);
    let mut result = axes[..front - 1].to_vec();
    result.push(filters);
    let mut lists: [Vec<i64>; 5] = Default::default();
    for axis in space {
        let length = axis.length.min(i64::MAX as u64) as i64;
        let places = maker.source.range(1, length.clamp(1, 5));
        let mut some = |few: i64, many: i64| match maker.source.chance(1, 3) {
            true => maker.source.range(few, many),
            false => few.max(0),
        };
        let window = Window {
            stride: some(1, 3),
            low: some(-1, 3),
            high: some(-1, 3),
            dilation: some(1, 3),
            base_dilation: some(1, 3),
        };
        let count = window.count(length, places)?;
        kernel.push(fixed(places as u64));
        result.push(fixed(count.max(0) as u64));
        let numbers = [
            window.stride,
            window.low,
            window.high,
            window.dilation,
            window.base_dilation,
        ];
        lists
            .iter_mut()
            .zip(numbers)
            .for_each(|(list, number)| list.push(number));
    }
    let terms = shapes::elements(&kernel[front - 1..]);
    let work = shapes::elements(&result).saturating_mul(terms);
    let most = maker.config.elements;
    let large = [&kernel, &result].map(|axes| shapes::elements(axes) > most);
    if work > most.saturating_mul(WORK) || large.contains(&true) {
        return None;
    }
    let kernel = like(maker, &kernel, source.dtype);
    let facts = source.fact.zip(maker.slots[kernel].fact);
    let term = facts.map(|(x, weight)| x.saturating_mul(weight));
    let to = match maker.source.chance(1, 4) {
        true => source.dtype.accumulate(),
        false => source.dtype,
    };
    let fact = maker.reduced(&fusion::SUM, to, term, terms)?;
    let mut clauses: Vec<Clause> = Vec::new();
    if groups {
        clauses.push(maker.flag_clause("groups"));
    }
    let names = ["strides", "low", "high", "dilation", "base_dilation"];
    for ((name, list), default) in names.into_iter().zip(&lists).zip([1, 0, 0, 1, 1]) {
        if list.iter().any(|number| *number != default) {
            clauses.push(maker.ints_clause(name, list));
        }
    }
    if to != source.dtype {
        clauses.push(maker.dtype_clause("to", to));
    }
    maker.emit(def, &[x, kernel], &clauses, Some(result), fact)
}
