//! The indexing maps of `fusion` ops, from their clauses and types.
//!
//! Each family is a row that op tables name. Most families iterate over the axes of their result. Reductions iterate
//! over the axes of their operand; products, scatters and sorts over the axes of their result and one more; attention
//! over two more. Clauses are not trusted: clauses that the verifier would refuse give no maps.

use fuser_ir::maps::{Index, IndexingMaps, IteratorKind, Map, MapsDef, Reads};
use fuser_ir::types::{Extent, ExtentExpr};
use fuser_ir::{Ir, Op, Value};
use smallvec::{SmallVec, smallvec};

/// One element of the result from the elements of the operands at the same index; scalars serve every index.
pub static POINTWISE: MapsDef = family("pointwise", "kept", pointwise);
/// Result axis `dims[k]` is operand axis `k`; the others repeat the operand.
pub static BROADCAST: MapsDef = family("broadcast", "new ones are added", broadcast);
/// Axes of extent 1 repeat their element.
pub static EXPAND: MapsDef = family("expand", "some of extent 1 become broadcast axes", expand);
/// Axes `dims`, of extent 1, vanish.
pub static SQUEEZE: MapsDef = family("squeeze", "some of extent 1 vanish", squeeze);
/// Result axis `i` is operand axis `dims[i]`.
pub static PERMUTE: MapsDef = family("permute", "reordered", permute);
/// The elements of the operand in row-major order.
pub static RESHAPE: MapsDef = family("reshape", "split and merged", reshape);
/// Axes `dims`, or the one axis `dim`, are combined.
pub static REDUCE: MapsDef = family("reduce", "some end here", reduce);
/// Axis `dim` is combined in order, and every partial result is kept.
pub static SCAN: MapsDef = family("scan", "kept, one walked in order", scan);
/// Like `SCAN`, but only the last result is kept: axis `dim` is iterated in order and reduced.
pub static FOLD: MapsDef = family("fold", "one ends, walked in order", fold);
/// The result depends on its index alone, or on a scalar.
pub static CREATE: MapsDef = family("create", "new", create);
/// Both operands share an axis, which is reduced. Axes before the last two are in both operands, or in one.
pub static MATMUL: MapsDef = family("matmul", "two meet and end", matmul);
/// The last axes of both operands are one axis, which is reduced.
pub static LINEAR: MapsDef = family("linear", "two meet and end", linear);
/// Windows of the first operand are multiplied by the second operand along several axes, which are reduced.
pub static CONVOLUTION: MapsDef = family(
    "convolution",
    "windows of some meet a kernel and end",
    convolution,
);
/// Queries and keys share an axis, which is reduced. Keys and values share another axis, which is reduced next.
pub static SDPA: MapsDef = family("sdpa", "two meet and end, twice", sdpa);
/// Writes parts of `updates` at indices along `dim`; `indices` has one index for each part.
pub static INDEX_PUT: MapsDef = family("index-put", "one is written at data", index_put);
/// Writes elements of `updates` at indices along `dim`; `indices` has one index for each element.
pub static SCATTER: MapsDef = family("scatter", "one is written at data", scatter);
/// Along `dim`, any element of the operand may contribute to any element of the result.
pub static SORT: MapsDef = family("sort", "kept, one in another order", sort);
/// Any element of an operand may contribute to any element of a result. The first axes of results, as many as all have,
/// are the batch axes.
pub static ROUTINE: MapsDef = family("routine", "some are kept, of others all make all", routine);
/// The operand's elements, rotated along `dim`.
pub static ROLL: MapsDef = family("roll", "kept, one in another order", sort);
/// Each index of the operand is compared with the position along the new axis `dim`.
pub static ONE_HOT: MapsDef = family("one-hot", "kept, one is new", one_hot);
/// From `starts`, by `strides`.
pub static SLICE: MapsDef = window("slice", slice);
/// A border of `low` and `high` elements around the operand.
pub static PAD: MapsDef = window("pad", pad);
/// Reads axis `dim` at the indices that another operand holds; the axes of that operand replace `dim`.
pub static TAKE: MapsDef = gather("take", take);
/// Axis `dim` at the indices that another operand holds for each element of the result.
pub static TAKE_ALONG: MapsDef = gather("take-along", take_along);
/// Axes `dims` from the starts that other operands hold.
pub static DYNAMIC_SLICE: MapsDef = gather("dynamic-slice", dynamic_slice);
/// The second operand from the starts that others hold on, the first one around it.
pub static DYNAMIC_UPDATE_SLICE: MapsDef = gather("dynamic-update-slice", dynamic_update_slice);
/// Axes `dims` from their ends.
pub static FLIP: MapsDef = window("flip", flip);
/// One operand after the other along `dim`.
pub static CAT: MapsDef = window("cat", cat);

type MapsFn = fn(&Ir, Op) -> Option<IndexingMaps>;

const fn family(name: &'static str, doc: &'static str, maps: MapsFn) -> MapsDef {
    MapsDef {
        name,
        doc,
        shifts: false,
        maps,
    }
}

const fn window(name: &'static str, maps: MapsFn) -> MapsDef {
    MapsDef {
        shifts: true,
        ..family(name, "kept, indices shift within them", maps)
    }
}

const fn gather(name: &'static str, maps: MapsFn) -> MapsDef {
    MapsDef {
        shifts: true,
        ..family(name, "one is read at indices that are data", maps)
    }
}

/// All iterators parallel, one per axis of the results.
fn parallel(rank: usize, operands: SmallVec<[Map; 3]>) -> IndexingMaps {
    IndexingMaps {
        iterators: smallvec![IteratorKind::Parallel; rank],
        operands,
        results: smallvec![Map::identity(rank)],
        reads: Reads::All,
    }
}

fn scalar() -> Map {
    Map::Axes(SmallVec::new())
}

fn pointwise(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let rank = ir.rank(*ir.results(op).first()?);
    let map = |value: Value| match ir.rank(value) {
        0 => Some(scalar()),
        own if own == rank => Some(Map::identity(rank)),
        _ => None,
    };
    let operands = ir.operands(op).map(map).collect::<Option<_>>()?;
    let results = ir.results(op).iter().map(|&v| map(v));
    Some(IndexingMaps {
        results: results.collect::<Option<_>>()?,
        ..parallel(rank, operands)
    })
}

/// Operand and result of a shape op: their ranks.
fn ranks(ir: &Ir, op: Op) -> Option<(usize, usize)> {
    let input = ir.operands(op).next()?;
    Some((ir.rank(input), ir.rank(*ir.results(op).first()?)))
}

/// The clause `dims`: each index below `rank`, none twice.
fn dims(ir: &Ir, op: Op, rank: usize) -> Option<SmallVec<[usize; 4]>> {
    let mut list = SmallVec::new();
    for &index in ir.i64s_of(op, "dims").unwrap_or(&[]) {
        let index = usize::try_from(index).ok().filter(|&index| index < rank)?;
        if list.contains(&index) {
            return None;
        }
        list.push(index);
    }
    Some(list)
}

fn broadcast(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let places = dims(ir, op, to)?;
    let map = Map::Axes(places.iter().map(|&place| Index::Iter(place)).collect());
    (places.len() == from).then(|| parallel(to, smallvec![map]))
}

fn expand(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    if from != to {
        return None;
    }
    let extent =
        |value: Value, axis: usize| Some(ir.value_kind(value).as_tensor()?.dims[axis].extent);
    let (input, output) = (ir.operand(op, 0), ir.result(op, 0));
    let index = |axis: usize| {
        let one = extent(input, axis) == Some(Extent::Static(1));
        if one && extent(output, axis) != Some(Extent::Static(1)) {
            Index::Zero
        } else {
            Index::Iter(axis)
        }
    };
    Some(parallel(
        to,
        smallvec![Map::Axes((0..from).map(index).collect())],
    ))
}

fn squeeze(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let gone = dims(ir, op, from)?;
    let mut kept = 0..to;
    let index = |axis: usize| match gone.contains(&axis) {
        true => Some(Index::Zero),
        false => kept.next().map(Index::Iter),
    };
    let map = (0..from).map(index).collect::<Option<_>>()?;
    kept.is_empty()
        .then(|| parallel(to, smallvec![Map::Axes(map)]))
}

fn permute(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let order = dims(ir, op, from)?;
    if order.len() != from || from != to {
        return None;
    }
    let mut map: SmallVec<[Index; 4]> = smallvec![Index::Zero; from];
    for (place, &axis) in order.iter().enumerate() {
        map[axis] = Index::Iter(place);
    }
    Some(parallel(to, smallvec![Map::Axes(map)]))
}

fn reshape(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (_, to) = ranks(ir, op)?;
    Some(parallel(to, smallvec![Map::RowMajor]))
}

fn reduce(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let rank = ir.rank(ir.operands(op).next()?);
    let gone = match ir.get_attr(op, "dim") {
        Some(_) => smallvec![dim(ir, op, rank)?],
        None => dims(ir, op, rank)?,
    };
    let keeps = ir.get_attr(op, "keepdim").is_some();
    let result = (0..rank).filter_map(|axis| match gone.contains(&axis) {
        true => keeps.then_some(Index::Zero),
        false => Some(Index::Iter(axis)),
    });
    let result = Map::Axes(result.collect());
    let kind = |axis| match gone.contains(&axis) {
        true => IteratorKind::Reduction,
        false => IteratorKind::Parallel,
    };
    Some(IndexingMaps {
        iterators: (0..rank).map(kind).collect(),
        operands: smallvec![Map::identity(rank)],
        results: ir.results(op).iter().map(|_| result.clone()).collect(),
        reads: Reads::All,
    })
}

fn scan(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let rank = ir.rank(ir.operands(op).next()?);
    let dim = dim(ir, op, rank)?;
    let own = |value: Value| (ir.rank(value) == rank).then(|| Map::identity(rank));
    let operands = ir.operands(op).map(own).collect::<Option<_>>()?;
    let mut maps = parallel(rank, operands);
    let results = ir.results(op).iter().map(|_| Map::identity(rank));
    maps.results = results.collect();
    maps.iterators[dim] = IteratorKind::Scan;
    Some(maps)
}

fn fold(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let maps = scan(ir, op)?;
    let rank = maps.iterators.len();
    let dim = dim(ir, op, rank)?;
    let own = iterators((0..rank).filter(|&axis| axis != dim));
    let results = ir.results(op).iter().map(|_| own.clone());
    Some(IndexingMaps {
        results: results.collect(),
        ..maps
    })
}

/// A product: the first `rank` iterators are those of the result, and the last one ends.
fn product(rank: usize, operands: SmallVec<[Map; 3]>) -> IndexingMaps {
    let mut maps = parallel(rank, operands);
    maps.iterators.push(IteratorKind::Reduction);
    maps
}

fn iterators(list: impl Iterator<Item = usize>) -> Map {
    Map::Axes(list.map(Index::Iter).collect())
}

fn matmul(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (a, b) = (
        ir.rank(ir.operands(op).next()?),
        ir.rank(ir.operands(op).nth(1)?),
    );
    let rank = ir.rank(*ir.results(op).first()?);
    let batch = a.max(b).saturating_sub(2);
    let (rows, columns) = (usize::from(a > 1), usize::from(b > 1));
    let fits = |own: usize| own > 0 && (own < 3 || own == batch + 2);
    if !fits(a) || !fits(b) || rank != batch + rows + columns {
        return None;
    }
    let own = |operand: usize| 0..operand.saturating_sub(2);
    let left = own(a).chain(batch..batch + rows).chain([rank]);
    let right = own(b).chain([rank]).chain(batch + rows..rank);
    let mut operands = smallvec![iterators(left), iterators(right)];
    operands.extend(ir.operands(op).nth(2).map(|_| iterators(0..rank)));
    Some(product(rank, operands))
}

fn linear(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, rank) = ranks(ir, op)?;
    let column = rank.checked_sub(1)?;
    let weight = Map::Axes(smallvec![Index::Iter(column), Index::Iter(rank)]);
    let mut operands = smallvec![iterators((0..column).chain([rank])), weight];
    if let Some(bias) = ir.operands(op).nth(2) {
        let first = rank.saturating_sub(ir.rank(bias));
        operands.push(iterators(first..rank));
    }
    (from == rank).then(|| product(rank, operands))
}

/// Result axes `[n, g, o, r...]`. The features are reduced, and so are the space axes of both operands. Each of these
/// axes has its own iterator, since a result element may read any element of a line.
fn convolution(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, rank) = ranks(ir, op)?;
    let front = super::convolution::front(ir, op);
    let space = rank.checked_sub(front)?;
    let kernel = ir.rank(ir.operands(op).nth(1)?);
    let walked = |first: usize| first..first + space;
    let (features, filters) = (rank, front - 1);
    let left = (0..front - 1).chain([features]).chain(walked(rank + 1));
    let groups = 1..front - 1;
    let right = groups
        .chain([filters, features])
        .chain(walked(rank + 1 + space));
    let mut maps = parallel(rank, smallvec![iterators(left), iterators(right)]);
    maps.iterators
        .extend(std::iter::repeat_n(IteratorKind::Reduction, 1 + 2 * space));
    (from == rank && kernel == rank).then_some(maps)
}

/// Iterators: the result axes `[..., s, e]`, the keys t, and d, along which a score is summed.
fn sdpa(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, rank) = ranks(ir, op)?;
    let own = |operand: usize| Some(ir.rank(ir.operands(op).nth(operand)?));
    let batch = rank.checked_sub(2)?;
    let (s, e, t, d) = (batch, batch + 1, rank, rank + 1);
    let matrix = |batch: usize, last: [usize; 2]| iterators((0..batch).chain(last));
    let mut operands = smallvec![
        matrix(batch, [s, d]),
        matrix(batch, [t, d]),
        matrix(batch, [t, e])
    ];
    if let Some(bias) = own(3) {
        let fits = bias == rank || bias == 2;
        operands.push(fits.then(|| matrix(bias - 2, [s, t]))?);
    }
    let fits = from == rank && own(1)? == rank && own(2)? == rank;
    let mut maps = product(rank, operands);
    maps.iterators.push(IteratorKind::Reduction);
    if ir.results(op).len() == 2 {
        maps.results.push(iterators(0..rank - 1));
    }
    fits.then_some(maps)
}

/// Any update may contribute to any element of its line along `dim`. The line's iterator is that of the result, and one
/// more iterates over the updates.
fn put(ir: &Ir, op: Op, whole: bool) -> Option<IndexingMaps> {
    let (from, rank) = ranks(ir, op)?;
    let dim = dim(ir, op, rank)?;
    let place = |axis: usize| if axis == dim { rank } else { axis };
    let indices = if whole { dim..dim + 1 } else { 0..rank };
    let own = |operand: usize| Some(ir.rank(ir.operands(op).nth(operand)?));
    let fits = from == rank && own(1)? == indices.len() && own(2)? == rank;
    let indices = iterators(indices.map(place));
    let updates = iterators((0..rank).map(place));
    fits.then(|| product(rank, smallvec![Map::identity(rank), indices, updates]))
}

fn index_put(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    put(ir, op, true)
}

fn scatter(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    put(ir, op, false)
}

/// The line's iterator is that of the result, and one more iterates over the operand's elements.
fn sort(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, rank) = ranks(ir, op)?;
    let dim = dim(ir, op, rank)?;
    let place = |axis: usize| if axis == dim { rank } else { axis };
    let maps = product(rank, smallvec![iterators((0..rank).map(place))]);
    let results = ir.results(op).iter().map(|_| Map::identity(rank));
    (from == rank).then(|| IndexingMaps {
        results: results.collect(),
        ..maps
    })
}

/// Each operand has its own iterators. Each result has its own too, except for the axes that it shares with the first
/// result.
fn routine(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let axes = |value: Value| Some(&ir.value_kind(value).as_tensor()?.dims);
    let first = axes(*ir.results(op).first()?)?;
    let mut maps = parallel(first.len(), SmallVec::new());
    for &value in ir.results(op).iter().skip(1) {
        let own = axes(value)?;
        let same = own == first;
        let index = |(axis, _): (usize, _)| match same || axis + 2 < first.len() {
            true => Index::Iter(axis),
            false => {
                maps.iterators.push(IteratorKind::Parallel);
                Index::Iter(maps.iterators.len() - 1)
            }
        };
        let map = Map::Axes(own.iter().enumerate().map(index).collect());
        maps.results.push(map);
    }
    for value in ir.operands(op) {
        let from = maps.iterators.len();
        let own = axes(value)?.len();
        maps.iterators
            .extend(std::iter::repeat_n(IteratorKind::Reduction, own));
        maps.operands.push(iterators(from..from + own));
    }
    Some(maps)
}

fn one_hot(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, rank) = ranks(ir, op)?;
    let dim = dim(ir, op, rank)?;
    let own = iterators((0..rank).filter(|&axis| axis != dim));
    (from + 1 == rank).then(|| parallel(rank, smallvec![own]))
}

fn create(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let rank = ir.rank(*ir.results(op).first()?);
    let operands = ir.operands(op).map(|_| scalar()).collect();
    Some(parallel(rank, operands))
}

/// `start + step * i` along `axis`, or the plain iterator if that is the identity.
fn shifted(axis: usize, start: ExtentExpr, step: i64, whole: bool) -> Index {
    let still = step == 1 && start.as_constant() == Some(0);
    if still && whole {
        return Index::Iter(axis);
    }
    Index::Affine {
        iter: axis,
        start: Box::new(start),
        step,
    }
}

/// True where `axis` has the same extent in operand and result.
fn is_whole(ir: &Ir, op: Op, operand: Value, axis: usize) -> bool {
    let extent = |value: Value| {
        let tensor = ir.value_kind(value).as_tensor();
        tensor.and_then(|t| Some(t.dims.get(axis)?.extent))
    };
    extent(operand) == extent(ir.result(op, 0))
}

fn slice(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let starts = ir.amounts_of(op, "starts")?;
    let strides = ir.i64s_of(op, "strides");
    let index = |axis: usize| {
        let start = starts.get(axis)?.clone();
        let step = strides.map_or(Some(1), |list| list.get(axis).copied())?;
        let whole = is_whole(ir, op, ir.operand(op, 0), axis);
        Some(shifted(axis, start, step, whole))
    };
    let map = (0..from).map(index).collect::<Option<_>>()?;
    (from == to).then(|| parallel(to, smallvec![Map::Axes(map)]))
}

fn flip(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let turned = dims(ir, op, from)?;
    let tensor = ir.value_kind(ir.operand(op, 0)).as_tensor()?;
    let index = |axis: usize| {
        let dim = tensor.dims.get(axis)?;
        // All elements of a `b` axis are one.
        if !turned.contains(&axis) || dim.broadcast {
            return Some(Index::Iter(axis));
        }
        let last = ir.extent_as_expr(dim.extent)?;
        let last = last.add(&ExtentExpr::constant(-1))?;
        Some(shifted(axis, last, -1, true))
    };
    let map = (0..from).map(index).collect::<Option<_>>()?;
    (from == to).then(|| parallel(to, smallvec![Map::Axes(map)]))
}

/// The clause `dim`, an axis of `rank`.
fn dim(ir: &Ir, op: Op, rank: usize) -> Option<usize> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    (dim < rank).then_some(dim)
}

fn take(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let dim = dim(ir, op, from)?;
    let indices = ir.rank(ir.operands(op).nth(1)?);
    let index = |axis: usize| match axis {
        _ if axis < dim => Index::Iter(axis),
        _ if axis == dim => Index::Element(1),
        _ => Index::Iter(axis + indices - 1),
    };
    let operand = Map::Axes((0..from).map(index).collect());
    let own = Map::Axes((dim..dim + indices).map(Index::Iter).collect());
    (from + indices == to + 1).then(|| parallel(to, smallvec![operand, own]))
}

fn take_along(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let dim = dim(ir, op, from)?;
    let index = |axis: usize| match axis == dim {
        true => Index::Element(1),
        false => Index::Iter(axis),
    };
    let operand = Map::Axes((0..from).map(index).collect());
    let same = from == to && ir.rank(ir.operands(op).nth(1)?) == to;
    same.then(|| parallel(to, smallvec![operand, Map::identity(to)]))
}

/// The index of `part` in a `whole` along each axis: along `dims`, the start given by the operands from `first` on is
/// added, or, if `back`, subtracted.
fn started(
    ir: &Ir,
    op: Op,
    [whole, part]: [Value; 2],
    first: usize,
    back: bool,
) -> Option<SmallVec<[Index; 4]>> {
    let rank = ir.rank(whole);
    let moved = dims(ir, op, rank)?;
    let extents = |value: Value| {
        let dims = &ir.value_kind(value).as_tensor()?.dims;
        (dims.len() == rank).then_some(dims)
    };
    let (whole, part) = (extents(whole)?, extents(part)?);
    let index = |axis: usize| {
        let Some(place) = moved.iter().position(|&own| own == axis) else {
            return Some(Index::Iter(axis));
        };
        let size = ir.extent_as_expr(part[axis].extent)?;
        let size = size.mul(&ExtentExpr::constant(-1))?;
        Some(Index::From {
            iter: axis,
            operand: first + place,
            room: Box::new(ir.extent_as_expr(whole[axis].extent)?.add(&size)?),
            back,
        })
    };
    let fits = ir.operand_count(op) == first + moved.len();
    (0..rank).map(index).collect::<Option<_>>().filter(|_| fits)
}

fn dynamic_slice(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (input, result) = (ir.operands(op).next()?, *ir.results(op).first()?);
    let map = started(ir, op, [input, result], 1, false)?;
    let mut operands = smallvec![Map::Axes(map)];
    operands.extend((1..ir.operand_count(op)).map(|_| scalar()));
    Some(parallel(ir.rank(result), operands))
}

fn dynamic_update_slice(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let mut own = ir.operands(op);
    let (input, updates) = (own.next()?, own.next()?);
    let rank = ir.rank(input);
    let map = started(ir, op, [input, updates], 2, true)?;
    let mut operands = smallvec![Map::identity(rank), Map::Axes(map)];
    operands.extend((2..ir.operand_count(op)).map(|_| scalar()));
    Some(IndexingMaps {
        reads: Reads::Last,
        ..parallel(rank, operands)
    })
}

fn pad(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (from, to) = ranks(ir, op)?;
    let (low, high) = (ir.amounts_of(op, "low")?, ir.amounts_of(op, "high")?);
    let index = |axis: usize| {
        let start = low.get(axis)?.mul(&ExtentExpr::constant(-1))?;
        let is_none = high.get(axis)?.as_constant() == Some(0);
        Some(shifted(axis, start, 1, is_none))
    };
    let map = (0..from).map(index).collect::<Option<_>>()?;
    let maps = parallel(to, smallvec![Map::Axes(map), scalar()]);
    (from == to && ir.operand_count(op) == 2).then_some(IndexingMaps {
        reads: Reads::First,
        ..maps
    })
}

fn cat(ir: &Ir, op: Op) -> Option<IndexingMaps> {
    let (_, to) = ranks(ir, op)?;
    let dim = dim(ir, op, to)?;
    let mut before = ExtentExpr::constant(0);
    let mut operands = SmallVec::new();
    for operand in ir.operands(op) {
        let tensor = ir.value_kind(operand).as_tensor()?;
        if tensor.dims.len() != to {
            return None;
        }
        let mut axes: SmallVec<[Index; 4]> = (0..to).map(Index::Iter).collect();
        axes[dim] = Index::Affine {
            iter: dim,
            start: Box::new(before.mul(&ExtentExpr::constant(-1))?),
            step: 1,
        };
        operands.push(Map::Axes(axes));
        before = before.add(&ir.extent_as_expr(tensor.dims[dim].extent)?)?;
    }
    Some(IndexingMaps {
        reads: Reads::First,
        ..parallel(to, operands)
    })
}
