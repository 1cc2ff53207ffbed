//! A place is what one iteration of a thread loop touches: an index that follows from the induction variable, and a width.
//!
//! ```text
//! kernel.for 0, %whole, 8 map "thread"  { ... kernel.store %v, %y, (%base + %i) : vector<8xf32> }   // %whole = %n - %n % 8
//! kernel.for %whole, %n, 1 map "thread" { ... kernel.store %w, %y, (%base + %i) : f32 }
//! ```
//!
//! Two places are apart, which is to say that no thread touches in one what another touches in the other, if they are computed
//! alike in loops that are spread alike (then the same thread does), or if one loop begins at the end of the other, the first
//! one's range is a multiple of its step, and both are at one base plus the induction variable and no wider than the step.
//! "No" is always a safe answer.

use fuser_dialects::kernel;
use fuser_ir::def::Computes;
use fuser_ir::{Def, Ir, Op, Traits, TypeKind, Value};
use rustc_hash::FxHashMap;

/// Pairs of values that the comparison of two index expressions looks at before it gives up.
const MAX_PAIRS: usize = 64;

/// The number of a place; places that are computed alike have one number.
pub type Id = u32;

struct Place {
    thread_loop: Op,
    index: Value,
    width: i64,
    /// False where only some of the elements are touched.
    whole: bool,
}

/// The places of a function.
pub struct Places<'a> {
    /// The program.
    pub ir: &'a Ir,
    all: Vec<Place>,
    apart: FxHashMap<(Id, Id), bool>,
}

impl<'a> Places<'a> {
    /// None yet.
    pub fn new(ir: &'a Ir) -> Self {
        Places {
            ir,
            all: Vec::new(),
            apart: FxHashMap::default(),
        }
    }
    /// The place that the load or store `op` inside of `thread_loop` touches.
    pub fn add(&mut self, thread_loop: Op, op: Op) -> Id {
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
        let place = Place {
            thread_loop,
            index: ir.operand(op, 1 + usize::from(stores)),
            width,
            whole: !ir.is(op, &kernel::LOAD_WITHIN),
        };
        let known = self.all.iter().position(|known| {
            let ends = [known, &place].map(|place| ir.operand(place.thread_loop, 1));
            self.same(known, &place) && self.alike(ends[0], ends[1], [None; 2])
        });
        let number = known.unwrap_or_else(|| {
            self.all.push(place);
            self.all.len() - 1
        });
        number as Id
    }
    /// True if what an iteration touches may differ from one iteration of the loop `op` around it to the next.
    pub fn changes(&self, id: Id, op: Op) -> bool {
        let place = &self.all[id as usize];
        let own = self.induction(place.thread_loop);
        let header = self.ir.operands(place.thread_loop).take(3);
        let mut pending: Vec<Value> = header.chain([place.index]).collect();
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
                    if around.is_none_or(|a| a == op || self.ir.is_inside(a, op)) {
                        return true;
                    }
                }
            }
        }
        true
    }
    /// True if no thread touches in one place what another one touches in the other.
    pub fn apart(&mut self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = self.apart.get(&pair) {
            return known;
        }
        let [one, two] = [a, b].map(|id| &self.all[id as usize]);
        let apart = self.same(one, two) || self.continues(one, two) || self.continues(two, one);
        self.apart.insert(pair, apart);
        apart
    }
    fn induction(&self, thread_loop: Op) -> Option<Value> {
        let body = self.ir.body(thread_loop, 0)?;
        self.ir.args(body).first().copied()
    }
    /// True if they are computed alike, in loops with the same beginning and step: an iteration of both is one thread's.
    fn same(&self, a: &Place, b: &Place) -> bool {
        let header = |n| {
            let [a, b] = [a, b].map(|place| self.ir.operand(place.thread_loop, n));
            self.alike(a, b, [None; 2])
        };
        let own = [a, b].map(|place| self.induction(place.thread_loop));
        a.width == b.width
            && a.whole == b.whole
            && [0, 2].into_iter().all(header)
            && self.alike(a.index, b.index, own)
    }
    /// True if two values are computed alike, of two that stand for each other. Values that differ between two places, as
    /// other induction variables do, are not.
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
    /// True if the loop of `second` begins where that of `first` ends, and both touch one base plus the induction variable.
    fn continues(&self, first: &Place, second: &Place) -> bool {
        let ir = self.ir;
        let end = ir.operand(first.thread_loop, 1);
        let begin = ir.operand(second.thread_loop, 0);
        if !self.alike(end, begin, [None; 2]) || !self.is_whole(first.thread_loop) {
            return false;
        }
        let (Some(a), Some(b)) = (self.base(first), self.base(second)) else {
            return false;
        };
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.alike(*a, *b, [None; 2]))
    }
    /// The values added to the induction variable; `None` where the place is something else, or wider than the step.
    fn base(&self, place: &Place) -> Option<Vec<Value>> {
        let step = self.constant(self.ir.operand(place.thread_loop, 2))?;
        let own = self.induction(place.thread_loop)?;
        if !place.whole || place.width > step {
            return None;
        }
        let (mut terms, mut pending) = (Vec::new(), vec![place.index]);
        for _ in 0..MAX_PAIRS {
            let Some(value) = pending.pop() else {
                let counted = terms.iter().filter(|&&t| t == own).count();
                terms.retain(|&t| t != own);
                let free = terms.iter().all(|&t| !self.uses(t, own));
                return (counted == 1 && free).then_some(terms);
            };
            match self.ir.made_as(value, Computes::Add) {
                Some(sum) => pending.extend(self.ir.operands(sum)),
                None => terms.push(value),
            }
        }
        None
    }
    /// True if `value` may be computed from `from`.
    fn uses(&self, value: Value, from: Value) -> bool {
        let mut pending = vec![value];
        for _ in 0..MAX_PAIRS {
            let Some(value) = pending.pop() else {
                return false;
            };
            if value == from {
                return true;
            }
            pending.extend(
                self.ir
                    .def_op(value)
                    .into_iter()
                    .flat_map(|op| self.ir.operands(op)),
            );
        }
        true
    }
    /// True if the step of a loop divides its range, as far as its bounds tell.
    fn is_whole(&self, thread_loop: Op) -> bool {
        let [lower, upper, step] = [0, 1, 2].map(|n| self.ir.operand(thread_loop, n));
        let Some(step) = self.constant(step).filter(|&step| step > 0) else {
            return false;
        };
        if let (Some(lower), Some(upper)) = (self.constant(lower), self.constant(upper)) {
            let length = upper.checked_sub(lower);
            return length.is_some_and(|length| length % step == 0);
        }
        step == 1 || self.is_rounded_down(lower, upper, step).unwrap_or(false)
    }
    /// True if `upper` is `n - (n - lower) % step`.
    fn is_rounded_down(&self, lower: Value, upper: Value, step: i64) -> Option<bool> {
        let [n, rest] = self.operands_of(upper, Computes::Sub)?;
        let [length, by] = self.operands_of(rest, Computes::Rem)?;
        let from_zero = length == n && self.constant(lower) == Some(0);
        let from_lower = self.operands_of(length, Computes::Sub) == Some([n, lower]);
        Some((from_zero || from_lower) && self.constant(by) == Some(step))
    }
    fn operands_of(&self, value: Value, what: Computes) -> Option<[Value; 2]> {
        let op = self.ir.made_as(value, what)?;
        let operands: Vec<Value> = self.ir.operands(op).collect();
        operands.try_into().ok()
    }
    fn constant(&self, value: Value) -> Option<i64> {
        let op = self.ir.made_as(value, Computes::Constant)?;
        self.ir.int_of(op, "value")
    }
}

/// True if a result follows from the operands alone.
fn is_pure(ir: &Ir, op: Op) -> bool {
    ir.has(op, Traits::PURE) && ir.op_regions(op).is_empty()
}
