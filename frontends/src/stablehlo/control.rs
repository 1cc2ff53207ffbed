//! Control flow. Loops whose total number of operations over all turns is small are unrolled; other loops become
//! `task.loop` (`loops.rs`). Branches are in `branches.rs`.
//!
//! ```text
//! %r:2 = stablehlo.while(%i = %zero, %a = %x) cond { compare LT, %i, 5 } do { ... }      five times what `do` holds
//! ```
//!
//! Integers and booleans without axes that depend only on constants are folded while reading.

use fuser_dialects::fusion;
use fuser_ir::def::Folded;
use fuser_ir::{DType, Value};

use super::ast::{self, Block, Item, Param};
use super::{Frame, Importer, op};
use crate::program::{Fault, Made};

/// The results of an op; `None` where one failed.
pub(super) type Results = Vec<Option<Value>>;

impl<'s> Importer<'s> {
    /// The results of an op with control flow whose operands are known; `None` for another op.
    pub(super) fn controlled(
        &mut self,
        op: &'s ast::Op,
        name: &str,
        operands: &[Option<Value>],
        frame: &mut Frame<'s>,
    ) -> Option<Made<Results>> {
        let name = name.strip_prefix("stablehlo.").unwrap_or(name);
        let on_one_device = matches!(name, "sdy.manual_computation" | "sdy.named_computation");
        if !on_one_device && !matches!(name, "while" | "if" | "case") {
            return None;
        }
        let operands: Option<Vec<Value>> = operands.iter().copied().collect();
        let Some(operands) = operands else {
            return Some(Ok(self.substitutes(op)));
        };
        let blocks: Vec<&'s Block> = op::blocks(op).collect();
        Some(match (name, blocks.as_slice(), operands.as_slice()) {
            ("sdy.manual_computation", &[body], operands) if self.meshes.are_many() => {
                self.on_each_device(op, body, operands, frame)
            }
            (_, &[body], _) if on_one_device => {
                let names = self.carried_names(op);
                let operands = operands.into_iter().map(Some).collect();
                self.bind(body, &names, &operands, frame);
                Ok(self.block(body, frame))
            }
            ("while", &[condition, body], _) => self.repeated(op, condition, body, operands, frame),
            ("if", &[then, otherwise], &[predicate]) => {
                self.chosen(op, &[otherwise, then], predicate, true, frame)
            }
            ("case", [_, ..], &[index]) => self.chosen(op, &blocks, index, false, frame),
            _ => Err(Fault::form("has other operands or regions than it takes")),
        })
    }
    /// Imports a loop, unrolled if it is short.
    fn repeated(
        &mut self,
        op: &'s ast::Op,
        condition: &'s Block,
        body: &'s Block,
        first: Vec<Value>,
        frame: &mut Frame<'s>,
    ) -> Made<Results> {
        let Some(looped) = self.looped(op, [condition, body], &first, frame)? else {
            return Ok(self.substitutes(op));
        };
        let turns = looped.turns.filter(|_| looped.is_short(&self.draft.ir));
        let Some(turns) = turns else {
            return self.emit_loop(&looped, &first);
        };
        let mut carried: Results = first.into_iter().map(Some).collect();
        let names = self.carried_names(op);
        for _ in 0..turns {
            self.bind(body, &names, &carried, frame);
            let after = self.block(body, frame);
            if after.len() != carried.len() || after.contains(&None) {
                return Ok(self.substitutes(op));
            }
            carried = after;
        }
        Ok(carried)
    }
    /// The names that the custom form gives to the values carried by a loop, `%i = %zero`, or to the arguments of a
    /// body, `(%x: tensor<4xf32>)`.
    pub(super) fn carried_names(&self, op: &'s ast::Op) -> Vec<&'s str> {
        let lists = op.items.iter().filter_map(|item| match item {
            Item::Parens(list) => Some(list),
            _ => None,
        });
        let names = lists.flatten().filter_map(|param| match param {
            Param::Bound(name, _) | Param::Typed(name, ..) => Some(self.text(*name)),
            _ => None,
        });
        names.collect()
    }
    /// Binds the arguments of a block to their values. A block without arguments in its text uses the names given by
    /// the op.
    pub(super) fn bind(
        &mut self,
        block: &'s Block,
        names: &[&'s str],
        values: &Results,
        frame: &mut Frame<'s>,
    ) {
        let own: Vec<&'s str> = block
            .args
            .iter()
            .map(|(name, ..)| self.text(*name))
            .collect();
        let names = if own.is_empty() { names } else { &own };
        for (name, value) in names.iter().zip(values) {
            frame.values.insert(name, vec![*value]);
        }
    }
    /// The value, or the constant that it equals: an integer or boolean without axes that depends only on constants.
    pub(super) fn folded(&mut self, value: Value) -> Value {
        let ir = &mut self.draft.ir;
        let kind = ir.value_kind(value);
        let alone = kind.as_tensor().is_some_and(|t| t.dims.is_empty());
        let whole = |dtype: DType| dtype.is_int() || dtype == DType::I1;
        if !alone || !kind.dtype().is_some_and(whole) || ir.constant_int(value).is_some() {
            return value;
        }
        let ty = ir.value_type(value);
        let op = ir.def_op(value);
        let fold = op.and_then(|op| Some((ir.def(op)?.fold?, op)));
        match fold.and_then(|(fold, op)| fold(ir, op)) {
            Some(Folded::Constant(number)) => {
                let clause = [("value", number)];
                let constant = self
                    .draft
                    .builder()
                    .typed(&fusion::CONSTANT, &[], &clause, ty);
                constant.unwrap_or(value)
            }
            Some(Folded::Values(values)) if values.len() == 1 && ir.value_type(values[0]) == ty => {
                values[0]
            }
            _ => value,
        }
    }
}
