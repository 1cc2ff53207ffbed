//! A place is the set of elements accessed by one iteration of a thread loop: an index derived from the induction
//! variable, and a width.
//!
//! Two places are *apart* if no element is accessed by different threads through them. This holds if both are computed
//! alike in equally distributed loops, since one thread then makes both accesses. It also holds if the index determines
//! the thread. In both of
//! ```text
//! kernel.for 0, %n, 4 map "thread" { ... kernel.store %v, %t, (%row * %n + %i) : vector<4xf32> }
//! kernel.for 0, %n, 4 map "thread" { ... kernel.load %t, (%other * %n + %j) : vector<4xf32> }
//! ```
//!
//! an iteration accesses a *cell* of 4 elements, and the cells of a row lie within `%n` elements. The remainder of an
//! element's number by `%n` therefore identifies the iteration, whatever the rows are. Cells of a loop that starts at
//! the end of another loop are disjoint from its cells:
//!
//! ```text
//! kernel.for 0, %whole, 4 map "thread"  { ... }   // %whole = %n - %n % 4
//! kernel.for %whole, %n, 1 map "thread" { ... }
//! ```
//!
//! In general the indices are `m * i + rest`. The rests must differ by less than a cell of `m` times the step, or by a
//! multiple of a product that contains all cells. Enclosing loops may have advanced between the two accesses, so values
//! that they change count as different unknowns. "No" is always a safe answer.
//!
//! Outside of thread loops, a place is the set of elements that one iteration of the enclosing loop accesses, in any
//! thread. It is apart from the places of later iterations if a cell is no longer than a step of the index. The first
//! iteration of a loop is likewise apart from later iterations of another loop with equal start and step.

use fuser_dialects::kernel::bounds::multiple;
use fuser_dialects::kernel::{self, rounds};
use fuser_ir::def::Computes;
use fuser_ir::{Def, Ir, Op, Traits, TypeKind, Value};
use rustc_hash::FxHashMap;

use fuser_dialects::kernel::sum::{self, Product, Sum, Unknown};

/// The maximum number of value pairs examined to compare two index expressions.
const MAX_PAIRS: usize = 64;

/// The most limits of a bound that are looked at.
const MAX_LIMITS: usize = 8;

/// A product, so many times, of which two indices differ by a multiple.
type Window = (Product, i64);

/// The number of a place; places that are computed alike have one number.
pub type Id = u32;

struct Place {
    thread_loop: Op,
    /// The number of threads that share the loop; `None` if every thread runs the whole loop.
    sharers: Option<i64>,
    index: Value,
    /// Elements from the first one to the last.
    width: i64,
    /// Elements from one lane to the next.
    stride: i64,
    /// False where only some of the elements are touched.
    whole: bool,
    /// The index and the loop bounds as sums; `None` if they are not sums.
    linear: Option<Linear>,
}

/// A place at a multiple of the induction variable and something else.
#[derive(Clone)]
struct Linear {
    /// The multiple, at least 1.
    times: i64,
    rest: Sum,
    lower: Sum,
    upper: Sum,
    step: i64,
    /// True if the step divides the range.
    whole: bool,
    /// True if the loop's first induction value is known to be at least 0.
    from_zero: bool,
    /// Sums that the end is no greater than.
    limits: Vec<Sum>,
}

impl Linear {
    /// The sums for a comparison with a place in which the unknowns selected by `differs` have other values.
    fn elsewhere(&self, differs: impl Fn(Value) -> bool) -> Linear {
        let limits = self.limits.iter().map(|sum| sum.elsewhere(&differs));
        Linear {
            rest: self.rest.elsewhere(&differs),
            lower: self.lower.elsewhere(&differs),
            upper: self.upper.elsewhere(&differs),
            limits: limits.collect(),
            ..*self
        }
    }
}

/// The places of a function.
pub struct Places<'a> {
    /// The program.
    pub ir: &'a Ir,
    threads: i64,
    all: Vec<Place>,
    apart: FxHashMap<(Id, Option<Op>, Id, bool), bool>,
    /// One value of each set that is computed alike.
    unknowns: Vec<Value>,
}

impl<'a> Places<'a> {
    /// None yet, in a block of `threads`.
    pub fn new(ir: &'a Ir, threads: i64) -> Self {
        Places {
            ir,
            threads,
            all: Vec::new(),
            apart: FxHashMap::default(),
            unknowns: Vec::new(),
        }
    }
    /// The place that the load or store `op` inside of `thread_loop` touches.
    pub fn add(&mut self, thread_loop: Op, op: Op) -> Id {
        let sharers = rounds::sharers(self.ir, thread_loop, self.threads);
        let place = self.place(thread_loop, Some(sharers), op);
        let known = self.all.iter().position(|known| {
            let ends = [known, &place].map(|place| self.ir.operand(place.thread_loop, 1));
            self.same(known, &place) && self.alike(ends[0], ends[1], [None; 2])
        });
        known.map_or_else(|| self.note(place), |known| known as Id)
    }
    /// The place that the load or store `op` accesses, if its innermost loop runs in all threads.
    pub fn outside(&mut self, op: Op) -> Option<Id> {
        let ancestors = std::iter::successors(self.ir.parent_op(op), |&op| self.ir.parent_op(op));
        let around = ancestors
            .into_iter()
            .find(|&op| self.ir.is(op, &kernel::FOR))?;
        let place = self.place(around, None, op);
        (self.ir.str_of(around, "map").unwrap_or("seq") == "seq").then(|| self.note(place))
    }
    fn place(&self, thread_loop: Op, sharers: Option<i64>, op: Op) -> Place {
        let ir = self.ir;
        let stores = ir.is(op, &kernel::STORE);
        let value = match stores {
            true => ir.operand(op, 0),
            false => ir.result(op, 0),
        };
        let width = match ir.value_kind(value) {
            TypeKind::Vector { shape, .. } => shape.first().map_or(1, |&n| n as i64),
            _ => 1,
        };
        let stride = ir.int_of(op, "stride").unwrap_or(1);
        Place {
            thread_loop,
            sharers,
            index: ir.operand(op, 1 + usize::from(stores)),
            width: (width - 1).saturating_mul(stride).saturating_add(1),
            stride,
            whole: stride == 1
                && !ir.is(op, &kernel::LOAD_WITHIN)
                && kernel::some_lanes(ir, op).is_none(),
            linear: None,
        }
    }
    fn note(&mut self, mut place: Place) -> Id {
        place.linear = self.linear(&place);
        self.all.push(place);
        self.all.len() as Id - 1
    }
    /// True if the accessed elements may differ between iterations of the enclosing loop `op`.
    pub fn changes(&self, id: Id, op: Op) -> bool {
        let place = &self.all[id as usize];
        if place.sharers.is_none() {
            return true;
        }
        let header = self.ir.operands(place.thread_loop).take(3);
        let own = self.induction(place.thread_loop);
        self.differs(header.chain([place.index]).collect(), op, own)
    }
    /// True if one of `values`, other than `own`, may differ between iterations of the loop `op`.
    fn differs(&self, values: Vec<Value>, op: Op, own: Option<Value>) -> bool {
        let mut pending = values;
        for _ in 0..MAX_PAIRS {
            let Some(value) = pending.pop() else {
                return false;
            };
            match self.ir.value_def(value) {
                _ if Some(value) == own => {}
                Def::Result(by, _) if !self.ir.is_inside(by, op) => {}
                Def::Result(by, _) if is_pure(self.ir, by) => pending.extend(self.ir.operands(by)),
                Def::Result(..) => return true,
                Def::Arg(block, _) => {
                    let around = self.ir.block_parent_op(block);
                    if around.is_none_or(|around| self.ir.is_inside(around, op)) {
                        return true;
                    }
                }
            }
        }
        true
    }
    /// True if a place outside of thread loops belongs to the loop `op`.
    pub fn tells(&self, op: Op) -> bool {
        let mut outside = self.all.iter().filter(|place| place.sharers.is_none());
        outside.any(|place| place.thread_loop == op)
    }
    /// True if no element is accessed by different threads through the two places. The loop `over` may have advanced to
    /// another iteration after the first access. With `turns`, one access is in the first iteration of its loop and the
    /// other in a later one.
    pub fn apart(&mut self, a: Id, over: Option<Op>, b: Id, turns: bool) -> bool {
        if let Some(&known) = self.apart.get(&(a, over, b, turns)) {
            return known;
        }
        let [one, two] = [a, b].map(|id| &self.all[id as usize]);
        let apart = match (one.sharers, two.sharers) {
            (Some(_), Some(_)) => {
                over.is_none() && (a == b || self.same(one, two)) || self.is_told(one, over, two)
            }
            (None, None) => self.is_later(one, over, two, turns),
            _ => false,
        };
        self.apart.insert((a, over, b, turns), apart);
        apart
    }
    fn induction(&self, thread_loop: Op) -> Option<Value> {
        let body = self.ir.body(thread_loop, 0)?;
        self.ir.args(body).first().copied()
    }
    /// True if both are computed alike in loops with equal start and step, so that each iteration of both belongs to
    /// one thread.
    fn same(&self, a: &Place, b: &Place) -> bool {
        let header = |n| {
            let [a, b] = [a, b].map(|place| self.ir.operand(place.thread_loop, n));
            self.alike(a, b, [None; 2])
        };
        let own = [a, b].map(|place| self.induction(place.thread_loop));
        a.width == b.width
            && a.stride == b.stride
            && a.sharers == b.sharers
            && a.whole == b.whole
            && [0, 2].into_iter().all(header)
            && self.alike(a.index, b.index, own)
    }
    /// True if two values are computed alike, where the pair `own` counts as equal. Values that differ between two
    /// places, such as other induction variables, are never alike.
    fn alike(&self, a: Value, b: Value, own: [Option<Value>; 2]) -> bool {
        let ir = self.ir;
        let mut pending = vec![(a, b)];
        for _ in 0..MAX_PAIRS {
            let Some((a, b)) = pending.pop() else {
                return true;
            };
            if a == b || own == [Some(a), Some(b)] {
                continue;
            }
            let (Def::Result(x, 0), Def::Result(y, 0)) = (ir.value_def(a), ir.value_def(b)) else {
                return false;
            };
            let equal = ir.name_id(x) == ir.name_id(y)
                && ir.attrs(x) == ir.attrs(y)
                && ir.operand_count(x) == ir.operand_count(y);
            if !equal || !is_pure(ir, x) {
                return false;
            }
            pending.extend(ir.operands(x).zip(ir.operands(y)));
        }
        false
    }
    /// The place as a multiple of the induction variable and something else.
    fn linear(&mut self, place: &Place) -> Option<Linear> {
        let ir = self.ir;
        let [lower, upper, step] = [0, 1, 2].map(|n| ir.operand(place.thread_loop, n));
        let own = self.induction(place.thread_loop)?;
        let step = self.constant(step).filter(|&step| step > 0)?;
        let mut rest = self.sum(place.index)?;
        let induction = Unknown {
            value: own,
            other: false,
        };
        let times = rest.0.remove(&vec![induction]).filter(|&n| n > 0)?;
        let from_zero = match self.constant(lower) {
            Some(lower) => lower >= 0,
            None => self.rounded_down(lower) == Some(upper),
        };
        let mut limits = Vec::new();
        let mut pending = vec![upper];
        while let Some(bound) = pending.pop().filter(|_| limits.len() < MAX_LIMITS) {
            limits.extend(self.sum(bound));
            pending.extend(self.rounded_down(bound));
            pending.extend(self.operands_of(bound, Computes::Min).into_iter().flatten());
        }
        Some(Linear {
            times,
            rest,
            lower: self.sum(lower)?,
            upper: self.sum(upper)?,
            step,
            whole: self.is_whole(place.thread_loop),
            from_zero,
            limits,
        })
    }
    fn sum(&mut self, value: Value) -> Option<Sum> {
        let ir = self.ir;
        let mut unknowns = std::mem::take(&mut self.unknowns);
        let sum = Sum::of(ir, value, &mut |value| {
            let mut known = unknowns.iter().copied();
            let known = known.find(|&known| self.alike(known, value, [None; 2]));
            known.unwrap_or_else(|| {
                unknowns.push(value);
                value
            })
        });
        self.unknowns = unknowns;
        sum
    }
    /// True if an element determines the accessing iteration, alike in both places, and the iterations differ: the loop
    /// has advanced, or `turns` distinguishes them.
    fn is_later(&self, one: &Place, over: Option<Op>, two: &Place, turns: bool) -> bool {
        let (Some(a), Some(b)) = (&one.linear, &two.linear) else {
            return false;
        };
        let loops = [Some(one.thread_loop), Some(two.thread_loop), over];
        let around = loops.iter().flatten();
        let gone_on = loops.iter().all(|op| *op == over);
        let begin_alike = a.lower == b.lower && a.step == b.step;
        let mut unknowns = [&a.rest, &a.lower]
            .into_iter()
            .flat_map(|sum| sum.0.keys().flatten());
        let cell = a.times.checked_mul(a.step);
        (gone_on || turns && begin_alike)
            && a.times == b.times
            && a.rest == b.rest
            && cell.is_some_and(|cell| one.width.max(two.width) <= cell)
            && !unknowns.any(|unknown| {
                around
                    .clone()
                    .any(|&op| self.differs(vec![unknown.value], op, None))
            })
    }
    /// True if an element determines the accessing thread, alike in both places, or if the places are disjoint.
    fn is_told(&self, one: &Place, over: Option<Op>, two: &Place) -> bool {
        let (Some(a), Some(b)) = (&one.linear, &two.linear) else {
            return false;
        };
        if a.times != b.times || !one.whole || !two.whole {
            return false;
        }
        let loops = [Some(one.thread_loop), Some(two.thread_loop), over];
        let loops = loops.into_iter().flatten();
        let b = b.elsewhere(|value| loops.clone().any(|op| self.differs(vec![value], op, None)));
        let spread_alike = one.sharers == two.sharers && a.lower == b.lower && a.step == b.step;
        let follows = |a: &Linear, b: &Linear| a.whole && a.upper == b.lower;
        let Some((window, [one_reaches, two_reaches])) = self.rests(&a.rest, &b.rest, a.times)
        else {
            return false;
        };
        let in_cells = |place: &Place, linear: &Linear, reaches: i64| {
            let cell = linear.times.checked_mul(linear.step);
            let end = reaches.checked_add(place.width);
            end.zip(cell).is_some_and(|(end, cell)| end <= cell)
        };
        (spread_alike || follows(a, &b) || follows(&b, a))
            && in_cells(one, a, one_reaches)
            && in_cells(two, &b, two_reaches)
            && window.is_none_or(|window| fit(a, &b, &window))
    }
    /// The difference of two rests, as a common factor (`None` if every term is bounded) and the maximum of the bounded
    /// terms on each side. A term counts as bounded if its factor is less than `times` and its unknown has a bound.
    fn rests(&self, a: &Sum, b: &Sum, times: i64) -> Option<(Option<Window>, [i64; 2])> {
        let mut difference = a.plus(b, -1)?;
        let constant = difference.take_constant();
        let mut reaches = [constant.max(0), constant.checked_neg()?.max(0)];
        let mut multiples = Vec::new();
        for (product, &factor) in &difference.0 {
            let bounded = match product[..] {
                [unknown] if factor.checked_abs()? < times => self.most(unknown.value),
                _ => None,
            };
            match bounded {
                Some(most) => {
                    let side = &mut reaches[usize::from(factor < 0)];
                    *side = side.checked_add(most.checked_mul(factor.abs())?)?;
                }
                None => multiples.push((product, factor)),
            }
        }
        let window = match multiples.is_empty() {
            true => None,
            false => Some(sum::common(&multiples)?),
        };
        Some((window, reaches))
    }
    /// The maximum of a loop's induction variable, for constant bounds with a nonnegative start.
    fn most(&self, value: Value) -> Option<i64> {
        let Def::Arg(block, 0) = self.ir.value_def(value) else {
            return None;
        };
        let by = self.ir.block_parent_op(block);
        let by = by.filter(|&by| self.ir.is(by, &kernel::FOR))?;
        let [lower, upper] = [0, 1].map(|n| self.constant(self.ir.operand(by, n)));
        lower.filter(|&lower| lower >= 0)?;
        upper?.checked_sub(1).filter(|&most| most >= 0)
    }
    /// True if a loop has at most one iteration.
    pub fn is_single(&self, thread_loop: Op) -> bool {
        if !self.ir.is(thread_loop, &kernel::FOR) {
            return false;
        }
        let header = [0, 1, 2].map(|n| self.constant(self.ir.operand(thread_loop, n)));
        let [Some(lower), Some(upper), Some(step)] = header else {
            return false;
        };
        let length = upper.checked_sub(lower);
        length.is_some_and(|length| length <= step)
    }
    /// True if the bounds of a loop show that its step divides its range.
    fn is_whole(&self, thread_loop: Op) -> bool {
        let [lower, upper, step] = [0, 1, 2].map(|n| self.ir.operand(thread_loop, n));
        let Some(step) = self.constant(step).filter(|&step| step > 0) else {
            return false;
        };
        if let (Some(lower), Some(upper)) = (self.constant(lower), self.constant(upper)) {
            let length = upper.checked_sub(lower);
            return length.is_some_and(|length| length % step == 0);
        }
        let given = FxHashMap::default();
        let mut bounds = [lower, upper].into_iter();
        step == 1
            || self.is_rounded_down(lower, upper, step).unwrap_or(false)
            || bounds.all(|bound| multiple(self.ir, bound, &given) % step == 0)
    }
    /// True if `upper` is `n - (n - lower) % step`.
    fn is_rounded_down(&self, lower: Value, upper: Value, step: i64) -> Option<bool> {
        let [n, rest] = self.operands_of(upper, Computes::Sub)?;
        let [length, by] = self.operands_of(rest, Computes::Rem)?;
        let from_zero = length == n && self.constant(lower) == Some(0);
        let from_lower = self.operands_of(length, Computes::Sub) == Some([n, lower]);
        Some((from_zero || from_lower) && self.constant(by) == Some(step))
    }
    /// The `n` of a value that is `n - n % k`.
    fn rounded_down(&self, value: Value) -> Option<Value> {
        let [n, rest] = self.operands_of(value, Computes::Sub)?;
        let [length, by] = self.operands_of(rest, Computes::Rem)?;
        (length == n && self.constant(by)? > 0).then_some(n)
    }
    fn operands_of(&self, value: Value, what: Computes) -> Option<[Value; 2]> {
        let op = self.ir.made_as(value, what)?;
        let operands: Vec<Value> = self.ir.operands(op).collect();
        operands.try_into().ok()
    }
    fn constant(&self, value: Value) -> Option<i64> {
        i64::try_from(self.ir.constant_int(value)?).ok()
    }
}

/// True if the cells of both places lie within a window, starting at 0, whose length divides every multiple of
/// `product` times its factor.
fn fit(a: &Linear, b: &Linear, (product, factor): &(Product, i64)) -> bool {
    let limits = |linear: &Linear| {
        let known = linear.limits.iter().filter_map(Sum::product);
        let whole = |(unknowns, most): (Product, i64)| {
            // The last cell of a loop whose step does not divide its range reaches beyond the end.
            let beyond = if linear.whole { 0 } else { linear.step - 1 };
            // A product may be less than 0, if what it stands for is: then the loop has no iterations.
            let known = (linear.whole && most >= 0) || unknowns.is_empty();
            let most = most.checked_add(beyond)?.checked_mul(linear.times)?;
            let fits = known && most <= *factor && sum::divides(&unknowns, product);
            fits.then_some(unknowns)
        };
        known.filter_map(whole).collect::<Vec<_>>()
    };
    let (one, two) = (limits(a), limits(b));
    a.from_zero && b.from_zero && one.iter().any(|limit| two.contains(limit))
}

/// True if a result follows from the operands alone.
fn is_pure(ir: &Ir, op: Op) -> bool {
    ir.has(op, Traits::PURE) && ir.op_regions(op).is_empty()
}
