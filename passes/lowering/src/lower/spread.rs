//! Distribution of a tile over the threads of a block as one loop, for nests whose innermost loop has fewer iterations
//! than threads.

use fuser_analysis::cost::WORD;
use fuser_ir::Value;
use rustc_hash::FxHashMap;

use super::build::{Idx, Map};
use super::effects::{Effect, Nest, Reduction};
use super::nest::Scopes;
use super::sweep::{SweepLowering, Unsupported};

/// The number of elements of a row that the threads of a warp process before the next row. It avoids bank conflicts of
/// stores along a column of shared memory and of word loads along a row.
pub(super) const STRIP: i64 = 32;

/// The tile index along each loop axis.
pub(super) type Indices = FxHashMap<usize, Idx>;

/// A part of a tile: full vectors along its last axis, or the remainder along it.
struct Part {
    /// Steps along the last axis, each of so many elements.
    steps: i64,
    lanes: Option<u64>,
    /// The tile index of the first one.
    from: Idx,
}

/// Emits the code at one point of a tile, given its indices, the carried values and the lanes of the vector there.
/// Returns the new carried values.
type Point<'p, 'a> = dyn FnMut(
        &mut SweepLowering<'a>,
        &mut Indices,
        &[Value],
        Option<u64>,
    ) -> Result<Vec<Value>, Unsupported>
    + 'p;

impl<'a> SweepLowering<'a> {
    /// True if the loops of a nest are spread as one.
    pub(super) fn spreads(&mut self, nest: &Nest) -> bool {
        let loops = &nest.loops;
        let of_all = |r: &Reduction| r.carried_from == Some(0) && !r.combine.is_ordered();
        let fits = match nest.reductions().next() {
            None => self.is_small(loops),
            Some(_) => nest.reductions().all(of_all) && self.is_whole(nest),
        };
        fits && nest.scans.is_empty()
            && loops.is_sorted()
            && loops.iter().all(|&l| self.tile_ranges(nest, l).len() == 1)
    }
    /// True for a tile of several axes with known sizes whose last axis has too few elements for all threads.
    pub(super) fn is_small(&self, loops: &[usize]) -> bool {
        let lanes = self.lanes().unwrap_or(1) as i64;
        let threads = self.spec.threads / self.spec.groups.max(1);
        let short = loops.last().is_some_and(|&l| match self.inner_size(l) {
            Idx::Const(size) => size / lanes < threads,
            Idx::Value(_) => false,
        });
        short && self.is_known(loops)
    }
    /// True for a tile of several axes and known sizes.
    fn is_known(&self, loops: &[usize]) -> bool {
        let known = |l: &usize| matches!(self.inner_size(*l), Idx::Const(_));
        self.target.abilities().block_threads && loops.len() > 1 && loops.iter().all(known)
    }
    /// True if each step covers a full tile of known size in full vectors.
    fn is_whole(&mut self, nest: &Nest) -> bool {
        let lanes = self.nest_lanes(nest).unwrap_or(1) as i64;
        let counts: Vec<Idx> = nest.loops.iter().map(|&l| self.inner_count(l)).collect();
        let known = counts.iter().all(|count| matches!(count, Idx::Const(_)));
        let whole = matches!(counts.last(), Some(Idx::Const(last)) if last % lanes == 0);
        self.is_known(&nest.loops) && known && whole
    }
    /// Emits a nest as one loop.
    pub(super) fn emit_spread(
        &mut self,
        nest: &Nest,
        scopes: &mut Scopes,
        ivs: &mut Indices,
    ) -> Result<(), Unsupported> {
        let lanes = self.nest_lanes(nest);
        let strip = self.read_strip(nest);
        let sums: Vec<Reduction> = nest.reductions().cloned().collect();
        let identities = sums.iter().map(|r| self.identity(r.combine, r.op));
        let state: Vec<Value> = identities.collect();
        let inits = self.loop_inits(&sums, &state, Map::Thread);
        let names: Vec<&str> = sums.iter().map(|r| r.combine.name()).collect();
        let tile = (&nest.loops[..], strip, lanes);
        let after = self.spread_tile(tile, ivs, (&inits, &names), &mut |s, ivs, args, lanes| {
            let outside = scopes.len();
            for depth in 1..=nest.loops.len() {
                scopes.push(FxHashMap::default());
                let lanes = lanes.filter(|_| depth == nest.loops.len());
                s.emit_pure(nest, depth, scopes, ivs, lanes)?;
            }
            let next = s.emit_effects(nest, scopes, ivs, args, lanes);
            scopes.truncate(outside);
            next
        })?;
        let state = self.join_thread_results(&sums, (state, inits), after, Map::Thread);
        let mut ends = sums.iter().zip(state);
        ends.try_for_each(|(r, value)| self.finish_reduction(nest, 0, r, value, ivs))
    }
    /// The strip length of a nest that reads along rows of shared memory: the number of elements of the widest type in
    /// [`STRIP`] words. Other nests use full rows.
    fn read_strip(&self, nest: &Nest) -> i64 {
        let operands = nest.ops.iter().flat_map(|&op| self.ir().operands(op));
        let stored = nest.effects.iter().filter_map(|effect| match effect {
            Effect::Store(value) | Effect::Keep(value) => Some(*value),
            Effect::Reduce(_) => None,
        });
        let read = operands.chain(stored);
        let read = read.filter_map(|value| self.resident.get(&value));
        let widest = read.map(|resident| resident.dtype.bytes()).max();
        widest.map_or(i64::MAX, |bytes| {
            STRIP * (WORD / bytes.max(1)).max(1) as i64
        })
    }
    /// Runs `body` at each point of a tile over `loops`, in strips of `strip` elements. Full vectors of `lanes` run
    /// along the last loop, its remainder in single elements. For complete tiles, carries `inits` through the loop and
    /// combines them across threads by `combine`.
    pub(super) fn spread_tile(
        &mut self,
        (loops, strip, lanes): (&[usize], i64, Option<u64>),
        ivs: &mut Indices,
        (inits, combine): (&[Value], &[&str]),
        body: &mut Point<'_, 'a>,
    ) -> Result<Vec<Value>, Unsupported> {
        let Some((&last, outer)) = loops.split_last() else {
            return Ok(inits.to_vec());
        };
        let count = self.inner_count(last);
        let size = self.known_size(last);
        let width = lanes.unwrap_or(1) as i64;
        let rest = self.k.rem(count, Idx::Const(width));
        let whole = self.k.sub(count, rest);
        let parts = [
            Part {
                steps: size / width,
                lanes,
                from: Idx::ZERO,
            },
            Part {
                steps: match rest {
                    Idx::Const(rest) => rest,
                    Idx::Value(_) => width - 1,
                },
                lanes: None,
                from: whole,
            },
        ];
        let rows: i64 = outer.iter().map(|&l| self.known_size(l)).product();
        let parts = parts.into_iter().filter(|part| part.steps > 0);
        let parts: Vec<Part> = parts.collect();
        let total = parts.iter().map(|part| part.steps * rows).max();
        let bounds = [Idx::ZERO, Idx::Const(total.unwrap_or(0)), Idx::Const(1)];
        // One loop for both: no thread need wait between them.
        let after = self.carried_loop(bounds, inits, Map::Thread, combine, |s, i, args| {
            let mut carried = args.to_vec();
            for part in &parts {
                s.decode_tile(outer, (last, part), (i, strip), ivs);
                let own = (Some(part.steps * rows) < total).then_some(part.steps * rows);
                let inside = s.inside_tile(outer, (last, count), (i, own), part, ivs);
                let open = inside.map(|condition| (s.k.open_if(), condition));
                let next = body(s, ivs, &carried, part.lanes)?;
                match open {
                    Some((open, condition)) => s.k.close_if(open, condition),
                    None => carried = next,
                }
            }
            Ok(carried)
        })?;
        ivs.retain(|l, _| !loops.contains(l));
        Ok(after)
    }
    /// The maximum number of indices of a step along an axis: the tile size, or the whole axis if that is shorter.
    fn known_size(&self, axis: usize) -> i64 {
        let size = match self.is_one_step(axis) {
            true => self.extent[axis],
            false => self.inner_size(axis),
        };
        match size {
            Idx::Const(size) => size,
            Idx::Value(_) => 0,
        }
    }
    /// The tile indices of iteration `i`: along the rows of a strip of the last axis first, then along the next strip.
    fn decode_tile(
        &mut self,
        outer: &[usize],
        (last, part): (usize, &Part),
        (i, strip): (Idx, i64),
        ivs: &mut Indices,
    ) {
        let lanes = part.lanes.unwrap_or(1) as i64;
        let strip = match strip / lanes {
            strip @ 1.. if part.steps % strip == 0 => strip,
            _ => part.steps,
        };
        let mut step = self.k.rem(i, Idx::Const(strip));
        let mut rest = self.k.div(i, Idx::Const(strip));
        for (n, &axis) in outer.iter().enumerate().rev() {
            let size = Idx::Const(self.known_size(axis));
            let outermost = n == 0 && strip == part.steps;
            let index = if outermost {
                rest
            } else {
                self.k.rem(rest, size)
            };
            rest = self.k.div(rest, size);
            ivs.insert(axis, index);
        }
        if strip < part.steps {
            let before = self.k.mul(rest, Idx::Const(strip));
            step = self.k.add(step, before);
        }
        let along = self.k.mul(step, Idx::Const(lanes));
        ivs.insert(last, self.k.add(part.from, along));
    }
    /// The condition for iteration `i` to be valid: it is less than `own`, and its tile indices lie before the ends of
    /// their axes. Bounds known to hold are omitted.
    fn inside_tile(
        &mut self,
        outer: &[usize],
        (last, count): (usize, Idx),
        (i, own): (Idx, Option<i64>),
        part: &Part,
        ivs: &Indices,
    ) -> Option<Value> {
        let own = own.map(|end| self.k.index(Idx::Const(end)));
        let mut bounds: Vec<(Idx, Value)> = own.map(|end| (i, end)).into_iter().collect();
        for &axis in outer {
            if let (Idx::Value(end), Some(&at)) = (self.inner_count(axis), ivs.get(&axis)) {
                bounds.push((at, end));
            }
        }
        if let (Idx::Value(end), Some(&at)) = (count, ivs.get(&last)) {
            let beyond = part.lanes.unwrap_or(1) as i64 - 1;
            bounds.push((self.k.add(at, Idx::Const(beyond)), end));
        }
        let mut condition = None;
        for (at, end) in bounds {
            let at = self.k.index(at);
            let before = self.k.compare("lt", at, end);
            condition = Some(match condition {
                Some(both) => self.k.binary(&fuser_dialects::fusion::AND, both, before),
                None => before,
            });
        }
        condition
    }
}
