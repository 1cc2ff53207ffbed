//! The two loops that replace a loop: one over the elements at the ends of a row, and one over its full vectors.

use fuser_dialects::{fusion, kernel};
use fuser_ir::clone::Mapping;
use fuser_ir::{DType, Ir, Op, Value};
use rustc_hash::FxHashMap;

use super::walk::{Walk, moves};
use super::{Ends, Row};
use crate::lower::build::{Idx, KernelBuilder, Map};
use crate::spec::strings;

impl Walk {
    /// Emits the loop over the elements at both ends of a row, if there are any; returns the carried values after it.
    pub(super) fn edges(&self, k: &mut KernelBuilder<'_>, row: &Row, ends: Ends) -> Vec<Value> {
        if row.rest() == 0 {
            return k.ir.operands(self.op).skip(3).collect();
        }
        let copy = k.ir.clone_op(self.op, &mut Mapping::default());
        let bounds = [Idx::Const(row.end()), ends.last].map(|idx| k.index(idx));
        for (number, bound) in bounds.into_iter().enumerate() {
            k.ir.set_operand(copy, number, bound);
        }
        k.ir.append_op(k.block, copy);
        let body = k.ir.body(copy, 0);
        let first = body.and_then(|body| Some((*k.ir.args(body).first()?, k.ir.first_op(body)?)));
        let Some((iv, first)) = first else {
            return Vec::new();
        };
        // The index of an access is its last operand.
        let in_tile = |(user, at): (Op, usize)| {
            self.touches_tile(k.ir, user) && at + 1 == k.ir.operand_count(user)
        };
        let uses = k.ir.uses(iv);
        let uses: Vec<_> = uses
            .filter(|&slot| !in_tile(k.ir.use_owner(slot)))
            .collect();
        let region = k.ir.new_region();
        let begin = k.ir.append_block(region);
        let outer = std::mem::replace(&mut k.block, begin);
        let number = k.sub(Idx::Value(iv), Idx::Const(row.end()));
        let behind = k.add(number, ends.whole);
        let [number, behind, head] = [number, behind, ends.head].map(|idx| k.index(idx));
        let before = k.compare("lt", number, head);
        let at = k.select(before, number, behind);
        k.block = outer;
        k.ir.inline_block_before(begin, first);
        k.ir.replace_uses_if(iv, at, |_, slot| uses.contains(&slot));
        k.ir.results(copy).to_vec()
    }
    /// True if `op`, in this loop or a copy of it, accesses a tile over the row.
    fn touches_tile(&self, ir: &Ir, op: Op) -> bool {
        let memory = [&kernel::LOAD, &kernel::STORE]
            .iter()
            .position(|&def| ir.is(op, def));
        memory.is_some_and(|memory| self.tiles.contains(&ir.operand(op, memory)))
    }
    /// Emits the loop over the full vectors of a row, starting from `inits`; returns its carried values.
    pub(super) fn vectors(
        &self,
        k: &mut KernelBuilder<'_>,
        row: &Row,
        ends: Ends,
        inits: &[Value],
    ) -> Vec<Value> {
        let Some(body) = k.ir.body(self.op, 0) else {
            return Vec::new();
        };
        let kinds = strings(k.ir, self.op, "combine");
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        let bounds = [Idx::ZERO, ends.whole, Idx::Const(row.lanes)];
        let open = k.open_loop(bounds, inits);
        let at = k.add(ends.head, Idx::Value(open.iv));
        let at = k.index(at);
        let args = k.ir.args(body).to_vec();
        let (iv, carried) = (args[0], &args[1..]);
        let mut map: FxHashMap<Value, Value> = carried
            .iter()
            .copied()
            .zip(open.args.iter().copied())
            .collect();
        map.insert(iv, at);
        let mut widened = Widened {
            walk: self,
            iv,
            counter: open.iv,
            lanes: row.lanes.unsigned_abs(),
            map,
            vectors: FxHashMap::default(),
        };
        let mut next = Vec::new();
        for op in k.ir.block_ops(body).collect::<Vec<_>>() {
            let own = carried
                .iter()
                .position(|&own| k.ir.operands(op).any(|value| value == own));
            match own {
                _ if k.ir.is(op, &kernel::YIELD) => {
                    next =
                        k.ir.operands(op)
                            .map(|value| widened.scalar(value))
                            .collect();
                }
                Some(number) => widened.combine(k, op, carried[number], kinds[number]),
                None => widened.op(k, op),
            }
        }
        k.close_loop(open, &next, Map::Thread, &kinds)
    }
}

/// The body of a loop over vectors, with the map from values of the scalar loop to their replacements.
struct Widened<'a> {
    walk: &'a Walk,
    /// The induction variable of the loop that it is made of.
    iv: Value,
    /// Its own induction variable: the place of a vector in a tile.
    counter: Value,
    lanes: u64,
    /// Replacements of values that are uniform across a vector, and indices of first elements.
    map: FxHashMap<Value, Value>,
    /// All elements, of those of which a vector was made.
    vectors: FxHashMap<Value, Value>,
}

impl Widened<'_> {
    /// The value for all elements of a vector, or the first one.
    fn scalar(&self, value: Value) -> Value {
        self.map.get(&value).copied().unwrap_or(value)
    }
    /// All elements of a vector.
    fn vector(&mut self, k: &mut KernelBuilder<'_>, value: Value) -> Value {
        if let Some(&known) = self.vectors.get(&value) {
            return known;
        }
        let first = k.splat(self.scalar(value), Some(self.lanes));
        let all = match moves(k.ir, self.iv, value) {
            Some(true) => {
                let ty = k.lane_type(DType::Index, Some(self.lanes));
                let numbers = k.value(&kernel::IOTA, &[], &[], ty);
                k.binary(&fusion::ADD, first, numbers)
            }
            _ => first,
        };
        self.vectors.insert(value, all);
        all
    }
    /// Copies `op` with other operands, in vector form if `wide`, else as a scalar that is uniform across the vector.
    fn copy(
        &self,
        k: &mut KernelBuilder<'_>,
        op: Op,
        operands: &[Value],
        wide: bool,
    ) -> Option<Value> {
        let copy = k.ir.clone_op(op, &mut Mapping::default());
        for (number, &value) in operands.iter().enumerate() {
            k.ir.set_operand(copy, number, value);
        }
        k.ir.append_op(k.block, copy);
        let result = k.ir.results(copy).first().copied()?;
        if let Some(dtype) = k.ir.value_kind(result).dtype().filter(|_| wide) {
            let ty = k.lane_type(dtype, Some(self.lanes));
            k.ir.set_value_type(result, ty);
        }
        Some(result)
    }
    /// Emits the replacement of an op, except for ops on carried values.
    fn op(&mut self, k: &mut KernelBuilder<'_>, op: Op) {
        let operands: Vec<Value> = k.ir.operands(op).collect();
        let stores = k.ir.is(op, &kernel::STORE);
        let result = k.ir.results(op).first().copied();
        let wide = stores || result.is_some_and(|result| self.walk.wide.contains(&result));
        let made = if wide && (stores || k.ir.is(op, &kernel::LOAD)) {
            self.access(k, op, &operands)
        } else if k.ir.is(op, &kernel::SPLAT) {
            let value = self.scalar(operands[0]);
            Some(k.splat(value, Some(self.lanes)))
        } else {
            let vectors = wide || k.ir.is(op, &kernel::REDUCE);
            let operands = operands.into_iter().map(|value| match vectors {
                true => self.vector(k, value),
                false => self.scalar(value),
            });
            let operands: Vec<Value> = operands.collect();
            self.copy(k, op, &operands, wide)
        };
        if let Some((result, made)) = result.zip(made) {
            let known = match wide {
                true => &mut self.vectors,
                false => &mut self.map,
            };
            known.insert(result, made);
        }
    }
    /// A load or store of a vector.
    fn access(&mut self, k: &mut KernelBuilder<'_>, op: Op, operands: &[Value]) -> Option<Value> {
        let (memory, stored) = match *operands {
            [value, memory, _] => (memory, Some(self.vector(k, value))),
            [memory, _] => (memory, None),
            _ => return None,
        };
        let index = match self.walk.tiles.contains(&memory) {
            true => self.counter,
            false => self.scalar(*operands.last()?),
        };
        let operands: Vec<Value> = stored.into_iter().chain([memory, index]).collect();
        let element = k.ir.value_kind(memory).dtype().map_or(1, DType::bytes);
        let made = self.copy(k, op, &operands, true);
        let align = (element * self.lanes).min(kernel::SCRATCH_ALIGN);
        let align = k.ir.int_attr(align as i64);
        if let Some(copy) = k.ir.last_op(k.block) {
            k.ir.set_attr(copy, "align", align);
        }
        made
    }
    /// Puts together what is carried and what all elements of a vector give.
    fn combine(&mut self, k: &mut KernelBuilder<'_>, op: Op, own: Value, kind: &str) {
        let operands: Vec<Value> = k.ir.operands(op).collect();
        let mut next = Vec::new();
        for value in operands {
            next.push(match self.vectors.get(&value) {
                Some(&vector) if value != own => {
                    let ty = k.ir.value_type(value);
                    let kind = k.ir.string_attr(kind);
                    k.value(&kernel::REDUCE, &[vector], &[("combine", kind)], ty)
                }
                _ => self.scalar(value),
            });
        }
        let made = self.copy(k, op, &next, false);
        if let Some((result, made)) = k.ir.results(op).first().copied().zip(made) {
            self.map.insert(result, made);
        }
    }
}
