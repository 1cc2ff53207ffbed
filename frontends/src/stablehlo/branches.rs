//! Branches: `if` and `case`. Light sides are written out, and `fusion.where` chooses among their results; a branch with
//! a heavy side becomes a `task.if`, of which one side runs.
//!
//! ```text
//! %r = stablehlo.if(%p) then { %a } else { %b }         light: where %p, %a, %b
//!                                                       heavy: task.if %p, %w then @side_0 else @side_1
//! %r = stablehlo.case(%i) { %a } { %b } { %c }          heavy: task.if of %i < 1; behind `else` another of %i < 2
//! ```
//!
//! Outer values that a side uses are arguments of all sides. A complex number passes as two parts.

use fuser_dialects::fusion::build::FusionBuilder;
use fuser_dialects::{fusion, task};
use fuser_ir::{DType, Op, TypeId, Value, describe};

use super::ast::{self, Block};
use super::control::Results;
use super::loops::Region;
use super::ops::spread;
use super::{Frame, Importer, bare, op};
use crate::program::{Fault, Made};

/// Elements that light sides may compute, whatever the results.
const MAX_LIGHT: u64 = 1 << 15;
/// Elements that light sides may compute for each element of the results, which a branch stores and a kernel may not.
const MAX_LIGHT_EACH: u64 = 16;
/// Operations for each element of an op that is a call.
const CALL_WEIGHT: u64 = 64;
/// The most sides of a branch.
const MAX_SIDES: usize = 1 << 12;

/// A branch that is written: its name, and the types of its results.
struct Tree<'a> {
    symbol: &'a str,
    types: &'a [TypeId],
}

impl<'s> Importer<'s> {
    /// The results of the block with number `index`, or of the last block if the number is out of range. The index of an
    /// `if` is a truth value.
    pub(super) fn chosen(
        &mut self,
        op: &'s ast::Op,
        blocks: &[&'s Block],
        index: Value,
        is_if: bool,
        frame: &mut Frame<'s>,
    ) -> Made<Results> {
        let dtype = self.draft.dtype(index);
        let fits = dtype.is_int() && (dtype == DType::I1) == is_if;
        if !fits || !self.draft.dims(index).is_empty() {
            let ir = &self.draft.ir;
            let own = describe::ty(ir, ir.value_type(index));
            let wanted = if is_if { "tensor<i1>" } else { "tensor<i32>" };
            return Err(Fault::form(format!(
                "is chosen by a `{own}`, not by a `{wanted}`"
            )));
        }
        let last = blocks.len() - 1;
        if let [only] = blocks {
            return Ok(self.block(only, frame));
        }
        if let Some(index) = self.draft.ir.constant_int(index) {
            let index = usize::try_from(index).map_or(last, |index| index.min(last));
            return Ok(self.block(blocks[index], frame));
        }
        match self.is_light(op, blocks) || blocks.len() > MAX_SIDES {
            true => self.selected(blocks, index, frame),
            false => self.branched(op, blocks, index, frame),
        }
    }
    /// All sides, and a choice among their results.
    fn selected(
        &mut self,
        blocks: &[&'s Block],
        index: Value,
        frame: &mut Frame<'s>,
    ) -> Made<Results> {
        let last = blocks.len() - 1;
        let mut chosen = self.block(blocks[last], frame);
        for (number, block) in blocks[..last].iter().enumerate().rev() {
            let own = self.block(block, frame);
            if own.len() != chosen.len() {
                return Err(Fault::form("has branches with other numbers of results"));
            }
            let mut is_own = None;
            for (chosen, own) in chosen.iter_mut().zip(own) {
                let (Some(other), Some(own)) = (*chosen, own) else {
                    *chosen = None;
                    continue;
                };
                let condition = match is_own {
                    Some(condition) => condition,
                    None => *is_own.insert(self.compared("eq", index, number)?),
                };
                let condition = spread(self, condition, own)?;
                *chosen = Some(self.draft.make(&fusion::WHERE, &[condition, own, other])?);
            }
        }
        Ok(chosen)
    }
    /// A comparison of `index` with a number; a boolean index is 0 if false.
    fn compared(&mut self, predicate: &str, index: Value, number: usize) -> Made {
        let ty = self.draft.ir.value_type(index);
        let number = self.draft.number(number as f64, ty)?;
        Ok(self.draft.builder().compare(predicate, index, number)?)
    }
    /// A `task.if` whose sides are programs.
    fn branched(
        &mut self,
        op: &'s ast::Op,
        blocks: &[&'s Block],
        index: Value,
        frame: &mut Frame<'s>,
    ) -> Made<Results> {
        let index = self.in_range(index, blocks.len())?;
        let (names, first) = match blocks.len() {
            2 => (Vec::new(), Vec::new()),
            _ => (vec!["index"], vec![index]),
        };
        let carried = self.carried(names, first, blocks, frame)?;
        let symbol = self.draft.symbol("branch");
        let mut sides = Vec::new();
        for block in blocks {
            let Some(side) = self.region(block, &carried, frame, Region::Side)? else {
                return Ok(self.substitutes(op));
            };
            let name = self.draft.symbol(&format!("{symbol}_side"));
            sides.push(self.draft.add(side.inner, &name, &side.results)?);
        }
        let types = self.result_types(sides[0])?;
        for &side in &sides[1..] {
            if self.result_types(side)? != types {
                return Err(Fault::form("has branches with other types of results"));
            }
        }
        let operands = carried.parts.concat();
        let tree = Tree {
            symbol: &symbol,
            types: &types,
        };
        let made = self.tree(&tree, &sides, 0, index, &operands)?;
        let stated = self.outputs(op)?.into_iter();
        let ir = &self.draft.ir;
        let stated: Vec<DType> = stated.filter_map(|ty| ir.ty(ty).dtype()).collect();
        let parts = stated
            .iter()
            .map(|dtype| 1 + usize::from(dtype.is_complex()));
        if parts.sum::<usize>() != made.len() {
            return Err(Fault::form("has branches with other numbers of results"));
        }
        let mut parts = made.into_iter();
        let whole = |dtype| Ok(Some(self.joined(dtype, &mut parts)?));
        stated.into_iter().map(whole).collect()
    }
    /// The index with numbers out of range replaced by that of the last side. With two sides none needs it.
    fn in_range(&mut self, index: Value, count: usize) -> Made {
        if count == 2 {
            return Ok(index);
        }
        let negative = self.compared("lt", index, 0)?;
        let ty = self.draft.ir.value_type(index);
        let last = self.draft.number((count - 1) as f64, ty)?;
        self.draft.make(&fusion::WHERE, &[negative, last, index])
    }
    /// The results of `sides`, which stand for the numbers from `first` on. Halves of many sides are programs of their
    /// own, which take the index as first operand.
    fn tree(
        &mut self,
        tree: &Tree<'_>,
        sides: &[Op],
        first: usize,
        index: Value,
        operands: &[Value],
    ) -> Made<Vec<Value>> {
        let half = sides.len() / 2;
        let boolean = self.draft.dtype(index) == DType::I1;
        let (condition, [then, otherwise]) = match (boolean, sides) {
            (true, &[no, yes]) => (index, [yes, no]),
            (_, &[one, other]) if first == 0 => (self.compared("eq", index, 0)?, [one, other]),
            _ => {
                let condition = self.compared("lt", index, first + half)?;
                let low = self.half(tree, &sides[..half], first, operands)?;
                let high = self.half(tree, &sides[half..], first + half, operands)?;
                (condition, [low, high])
            }
        };
        let [then, otherwise] = [then, otherwise].map(|program| self.draft.reference(program));
        let clauses = [("then", then), ("else", otherwise)];
        let operands: Vec<Value> = [condition].iter().chain(operands).copied().collect();
        let made =
            self.draft
                .builder()
                .build(&task::IF, &operands, &clauses, &[], Some(tree.types))?;
        Ok(self.draft.ir.results(made).to_vec())
    }
    /// A program that chooses among `sides`: the only one, or a branch.
    fn half(
        &mut self,
        tree: &Tree<'_>,
        sides: &[Op],
        first: usize,
        operands: &[Value],
    ) -> Made<Op> {
        if let &[side] = sides {
            return Ok(side);
        }
        let outer = self.draft.begin();
        let arguments = operands.iter().map(|&operand| {
            let ty = self.draft.ir.value_type(operand);
            let name = self
                .draft
                .ir
                .value_name(operand)
                .unwrap_or_default()
                .to_owned();
            self.draft.argument(ty, &name)
        });
        let arguments: Vec<Value> = arguments.collect();
        let results = self.tree(tree, sides, first, arguments[0], &arguments);
        let inner = self.draft.leave(outer);
        let symbol = self.draft.symbol(&format!("{}_sides", tree.symbol));
        self.draft.add(inner, &symbol, &results?)
    }
    fn result_types(&self, program: Op) -> Made<Vec<TypeId>> {
        let ir = &self.draft.ir;
        let end = ir.body(program, 0).and_then(|block| ir.terminator(block));
        let end = end.ok_or_else(|| Fault::form("has a side without an end"))?;
        Ok(ir.operands(end).map(|value| ir.value_type(value)).collect())
    }
    /// True if all sides together compute little beside the results.
    fn is_light(&mut self, op: &'s ast::Op, blocks: &[&'s Block]) -> bool {
        let weights = blocks.iter().map(|block| self.weight(block));
        let sum = weights.fold(0, u64::saturating_add);
        let results = self.elements(op).saturating_mul(MAX_LIGHT_EACH);
        sum <= MAX_LIGHT.saturating_add(results)
    }
    /// The operations of a block: the elements of each op, many times for calls. A loop outweighs everything.
    fn weight(&mut self, block: &'s Block) -> u64 {
        let mut sum = 0u64;
        for op in &block.ops {
            let name = self.text(op.name).trim_matches('"');
            let own = match name.strip_prefix("stablehlo.").unwrap_or(name) {
                "while" => u64::MAX,
                "dot_general" | "dot" | "convolution" | "sort" | "custom_call" | "fft"
                | "cholesky" | "triangular_solve" | "chlo.top_k" => {
                    self.elements(op).saturating_mul(CALL_WEIGHT)
                }
                _ => self.elements(op),
            };
            let mut inside =
                op::blocks(op).fold(0, |sum: u64, block| sum.saturating_add(self.weight(block)));
            if let Some(called) = self.called(op, name) {
                inside = inside.saturating_add(self.function_weight(bare(self.text(called))));
            }
            sum = sum.saturating_add(own).saturating_add(inside);
        }
        sum
    }
    fn function_weight(&mut self, symbol: &'s str) -> u64 {
        if let Some(&weight) = self.weights.get(symbol) {
            return weight;
        }
        // A function that calls itself is reported where it is read.
        self.weights.insert(symbol, 0);
        let function = self.functions.get(symbol).copied();
        let blocks = function.into_iter().flat_map(op::blocks);
        let weight = blocks.fold(0, |sum: u64, block| sum.saturating_add(self.weight(block)));
        self.weights.insert(symbol, weight);
        weight
    }
    /// The elements of the largest tensor among an op's operands and results, by the types in the text.
    fn elements(&self, op: &ast::Op) -> u64 {
        let Some(types) = &op.types else {
            return 1;
        };
        let outputs = types.outputs.iter().flatten();
        let all = types.inputs.iter().chain(outputs);
        all.map(|&ty| elements(self.text(ty))).max().unwrap_or(1)
    }
}

/// The elements of a tensor type, `tensor<4x5xf32>`. An extent that is not known counts as 1.
fn elements(ty: &str) -> u64 {
    let dims = ty.trim_start().strip_prefix("tensor<").unwrap_or("");
    let dims = dims.split(['x', ',', '>']);
    let numbers = dims.map_while(|dim| match dim.trim() {
        "?" => Some(1),
        dim => dim.parse::<u64>().ok(),
    });
    numbers.fold(1, u64::saturating_mul)
}
