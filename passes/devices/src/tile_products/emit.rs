//! The loop over the tiles of a region, and the rest of the axis behind it.

use fuser_dialects::fusion::{self, build::FusionBuilder};
use fuser_dialects::task::{self, labels, marks};
use fuser_ir::attr::AttrKind;
use fuser_ir::build::Builder;
use fuser_ir::clone::Mapping;
use fuser_ir::def::{OpClass, OpError};
use fuser_ir::ir::NewOp;
use fuser_ir::types::{Dim, Extent, ExtentExpr};
use fuser_ir::{DType, Ir, Op, Value, layout};
use rustc_hash::FxHashMap;

use super::region::{Region, is_carried, is_repeated, leaves};
use crate::{local, table};

/// Replaces a region of `program` by a loop; returns the loop.
pub fn emit(ir: &mut Ir, program: Op, region: &Region) -> Result<Op, OpError> {
    let missing = || OpError::new("it has no op");
    let last = *region.ops.last().ok_or_else(missing)?;
    let outside = outside(ir, region);
    // The values of the first turn: a counter, operands, and memory for results.
    let scalar = ir.tensor(Vec::new(), DType::I64);
    let counter = Builder::before(ir, last).constant_int(0, scalar)?;
    let mut values = vec![counter];
    for &value in &outside {
        values.push(stored(ir, last, value)?);
    }
    for &output in &region.outputs {
        let dtype = accumulated(ir, region, output);
        let dims = dims(ir, output);
        let mut b = Builder::before(ir, last);
        let ty = b.ir.tensor(Vec::new(), dtype);
        let zero = match dtype.is_float() {
            true => b.constant_float(0.0, ty)?,
            false => b.constant_int(0, ty)?,
        };
        let all = b.broadcast(zero, &[], &dims)?;
        let ty = b.ir.tensor(dims, dtype);
        let dense = b.flag("dense");
        values.push(b.typed(&fusion::COPY, &[all], &[dense], ty)?);
    }
    let body = body(ir, program, region, &values, &outside)?;
    let mut b = Builder::before(ir, last);
    let name = b.ir.attr(AttrKind::SymbolRef(vec![body]));
    let turns = b.int("turns", region.turns() as i64);
    let types: Vec<_> = values.iter().map(|&v| b.ir.value_type(v)).collect();
    let clauses = [turns, ("body", name)];
    let made = b.build(&task::LOOP, &values, &clauses, &[], Some(&types))?;
    let mut results: Vec<Value> = ir.results(made)[1 + outside.len()..].to_vec();
    let rest = region.length - region.turns() * region.tile;
    if rest > 0 {
        let start = (region.length - rest) as i64;
        let mut map = Mapping::default();
        outside.iter().for_each(|&value| map.insert(value, value));
        let parts = parts(ir, Before(last), region, &map, Start::Known(start), rest)?;
        let mut b = Builder::before(ir, last);
        let from = b.constant_int(start, scalar)?;
        results = joined(ir, Before(last), region, &results, &parts, from)?;
    }
    for (&output, mut made) in region.outputs.iter().zip(results) {
        let wanted = ir.value_kind(output).dtype();
        let name = ir.value_name_sym(output);
        let mut b = Builder::before(ir, last);
        if let Some(wanted) = wanted {
            made = b.cast(made, wanted)?;
        }
        // Results of a loop are row-major.
        let ty = b.ir.value_type(output);
        if layout::is_stated(b.ir, output) {
            made = b.typed(&fusion::COPY, &[made], &[], ty)?;
        }
        ir.set_value_name(made, name);
        ir.replace_uses_if(output, made, |ir, slot| {
            !region.ops.contains(&ir.use_owner(slot).0)
        });
    }
    // Readers of results stand behind the loop.
    for &op in &region.behind {
        ir.move_before(op, last);
    }
    for &op in region.ops.iter().rev() {
        if ir.results(op).iter().all(|&result| ir.is_unused(result)) {
            ir.erase(op);
        }
    }
    Ok(made)
}

/// A place for new ops.
#[derive(Clone, Copy)]
struct Before(Op);

/// The index along the axis at which a tile begins.
#[derive(Clone, Copy)]
enum Start {
    /// A scalar of a turn.
    Turn(Value),
    /// A number.
    Known(i64),
}

/// The value in memory of its own, if elements of it are stored once.
fn stored(ir: &mut Ir, at: Op, value: Value) -> Result<Value, OpError> {
    if is_carried(ir, value) {
        return Ok(value);
    }
    let dtype = ir.value_kind(value).dtype().unwrap_or(DType::F32);
    let plain = dims(ir, value).into_iter().map(|dim| Dim::new(dim.extent));
    let plain = plain.collect();
    let mut b = Builder::before(ir, at);
    let ty = b.ir.tensor(plain, dtype);
    let dense = b.flag("dense");
    b.typed(&fusion::COPY, &[value], &[dense], ty)
}

/// The operands of a region that others make, each once.
fn outside(ir: &Ir, region: &Region) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for &op in &region.ops {
        for (index, value) in ir.operands(op).enumerate() {
            if region.cut.contains_key(&value) {
                continue;
            }
            let read = match region.takes.contains_key(&(op, index)) {
                true => vec![value],
                false => leaves(ir, value),
            };
            for value in read {
                if !found.contains(&value) {
                    found.push(value);
                }
            }
        }
    }
    found
}

/// The type in which results of turns are collected: summands of narrow floats are f32.
fn accumulated(ir: &Ir, region: &Region, output: Value) -> DType {
    let dtype = ir.value_kind(output).dtype().unwrap_or(DType::F32);
    match region.sums.contains(&output) && dtype.is_float() {
        true => dtype.accumulate(),
        false => dtype,
    }
}

fn dims(ir: &Ir, value: Value) -> Vec<Dim> {
    let tensor = ir.value_kind(value).as_tensor();
    tensor.map_or_else(Vec::new, |tensor| tensor.dims.clone())
}

/// The axes of a part of `length` along `axis`.
fn shortened(dims: &[Dim], axis: usize, length: u64) -> Vec<Dim> {
    let mut dims = dims.to_vec();
    if let Some(dim) = dims.get_mut(axis) {
        dim.extent = Extent::Static(length);
    }
    dims
}

/// The program of a turn; returns its symbol.
fn body(
    ir: &mut Ir,
    program: Op,
    region: &Region,
    values: &[Value],
    outside: &[Value],
) -> Result<fuser_ir::Sym, OpError> {
    let inside = ir.new_region();
    let block = ir.append_block(inside);
    let mut args = Vec::new();
    for &value in values {
        let (ty, name) = (ir.value_type(value), ir.value_name_sym(value));
        args.push(ir.append_arg(block, ty, name));
    }
    let mut map = Mapping::default();
    for (&value, &arg) in outside.iter().zip(&args[1..]) {
        map.insert(value, arg);
    }
    let end = Builder::at_end(ir, block).op(&task::RETURN, &args, &[])?;
    let mut b = Builder::before(ir, end);
    let scalar = b.ir.tensor(Vec::new(), DType::I64);
    let tile = b.constant_int(region.tile as i64, scalar)?;
    let start = b.mul(args[0], tile)?;
    let one = b.constant_int(1, scalar)?;
    let next = b.add(args[0], one)?;
    let parts = parts(
        ir,
        Before(end),
        region,
        &map,
        Start::Turn(start),
        region.tile,
    )?;
    let before = &args[1 + outside.len()..];
    let after = joined(ir, Before(end), region, before, &parts, start)?;
    let mut returned = vec![next];
    returned.extend(&args[1..=outside.len()]);
    returned.extend(after);
    ir.set_operands(end, &returned);
    let symbol = fresh(ir, program);
    let name = ir.attr(AttrKind::String(symbol));
    let key = ir.sym("sym_name");
    let new = NewOp {
        attrs: [(key, name)].into_iter().collect(),
        regions: [inside].into_iter().collect(),
        loc: Some(ir.op_loc(program)),
        ..NewOp::default()
    };
    let made = ir.create_op(&task::PROGRAM, new);
    // The labels of its ops are numbers of this list.
    if let Some(list) = ir.get_attr(program, labels::LABELS) {
        ir.set_attr(made, labels::LABELS, list);
    }
    marks::sign(ir, made);
    ir.insert_after(program, made);
    Ok(symbol)
}

/// A symbol that the module does not use yet: the program's with `_tile` appended, and a number if necessary.
fn fresh(ir: &mut Ir, program: Op) -> fuser_ir::Sym {
    let base = format!("{}_tile", ir.symbol_name(program).unwrap_or("main"));
    let module = ir.parent_op(program).unwrap_or(program);
    let children = ir.children(module).into_iter();
    let taken: Vec<String> = children
        .filter_map(|op| ir.symbol_name(op).map(String::from))
        .collect();
    let numbered = (1..).map(|number| format!("{base}_{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    let name = names.find(|name| !taken.contains(name)).unwrap_or(base);
    ir.sym(&name)
}

/// The ops of a region on `length` indices of the axis; returns the part of each output.
fn parts(
    ir: &mut Ir,
    at: Before,
    region: &Region,
    outside: &Mapping,
    start: Start,
    length: u64,
) -> Result<Vec<Value>, OpError> {
    let mut made = Mapping::default();
    let mut taken: FxHashMap<(Value, usize), Value> = FxHashMap::default();
    let mut whole = outside.clone();
    for &op in &region.ops {
        let read: Vec<Value> = ir.operands(op).collect();
        let mut operands = Vec::with_capacity(read.len());
        for (index, &value) in read.iter().enumerate() {
            let own = match (
                region.cut.contains_key(&value),
                region.takes.get(&(op, index)),
            ) {
                (true, _) => made.get(value),
                (false, None) => repeated(ir, at, outside, &mut whole, value),
                (false, Some(&axis)) => match taken.get(&(value, axis)) {
                    Some(&part) => part,
                    None => {
                        let part = take(ir, at, outside.get(value), axis, start, length)?;
                        taken.insert((value, axis), part);
                        part
                    }
                },
            };
            operands.push(own);
        }
        let copy = ir.clone_op(op, &mut made);
        ir.insert_before(at.0, copy);
        ir.set_operands(copy, &operands);
        let results = ir.results(op).to_vec();
        let class = ir.def(op).map(|def| def.class);
        if let [result] = results[..]
            && region.sums.contains(&result)
            && class == Some(OpClass::Contraction)
        {
            let ty = accumulated(ir, region, result);
            let ty = ir.scalar(ty);
            let to = ir.attr(AttrKind::Type(ty));
            ir.set_attr(copy, "to", to);
        }
        let cut = |index: usize, dims: &[Dim]| match region.cut.get(&results[index]) {
            Some(&axis) => shortened(dims, axis, length),
            None => dims.to_vec(),
        };
        local::shrink(ir, copy, &cut)?;
        if let [result] = results[..]
            && let Some(&axis) = region.cut.get(&result)
            && table::counts_along(ir, op, axis)
        {
            let counted = counted_from(ir, at, ir.result(copy, 0), start)?;
            made.insert(result, counted);
        }
    }
    Ok(region
        .outputs
        .iter()
        .map(|&output| made.get(output))
        .collect())
}

/// Indices that begin at `start` instead of 0.
fn counted_from(ir: &mut Ir, at: Before, indices: Value, start: Start) -> Result<Value, OpError> {
    let own = dims(ir, indices);
    let mut b = Builder::before(ir, at.0);
    let scalar = b.ir.tensor(Vec::new(), DType::I64);
    let first = match start {
        Start::Turn(first) => first,
        Start::Known(first) => b.constant_int(first, scalar)?,
    };
    let dtype = b.ir.value_kind(indices).dtype().unwrap_or(DType::I64);
    let first = b.cast(first, dtype)?;
    let all = b.broadcast(first, &[], &own)?;
    b.add(indices, all)
}

/// A value from outside that is read as a whole; ops that only repeat or place elements are copied.
fn repeated(
    ir: &mut Ir,
    at: Before,
    outside: &Mapping,
    whole: &mut Mapping,
    value: Value,
) -> Value {
    let is_leaf = |value: Value| outside.get(value) != value;
    let mut stack = vec![value];
    while let Some(&value) = stack.last() {
        let made = ir
            .def_op(value)
            .filter(|_| whole.get(value) == value && !is_leaf(value));
        let Some(op) = made.filter(|&op| is_repeated(ir, op)) else {
            stack.pop();
            continue;
        };
        let open = ir.operands(op).filter(|&x| {
            let made = ir.def_op(x).filter(|&op| is_repeated(ir, op));
            whole.get(x) == x && !is_leaf(x) && made.is_some()
        });
        let open: Vec<Value> = open.collect();
        if open.is_empty() {
            let copy = ir.clone_op(op, whole);
            ir.insert_before(at.0, copy);
            stack.pop();
        }
        stack.extend(open);
    }
    whole.get(value)
}

/// `length` elements of a value along an axis, from `start` on.
fn take(
    ir: &mut Ir,
    at: Before,
    value: Value,
    axis: usize,
    start: Start,
    length: u64,
) -> Result<Value, OpError> {
    let own = dims(ir, value);
    let part = shortened(&own, axis, length);
    let mut b = Builder::before(ir, at.0);
    let shape = b.shape("shape", &part);
    match start {
        Start::Turn(start) => {
            let clauses = [b.ints("dims", &[axis as i64]), shape];
            b.value(&fusion::DYNAMIC_SLICE, &[value, start], &clauses)
        }
        Start::Known(start) => {
            let mut starts = vec![ExtentExpr::constant(0); own.len()];
            starts[axis] = ExtentExpr::constant(start);
            let starts = b.amounts("starts", &starts);
            let starts = starts.ok_or_else(|| OpError::new("a start is none"))?;
            b.value(&fusion::SLICE, &[value], &[starts, shape])
        }
    }
}

/// The results so far with the parts of a tile: summands are added, other parts stand from `start` on.
fn joined(
    ir: &mut Ir,
    at: Before,
    region: &Region,
    before: &[Value],
    parts: &[Value],
    start: Value,
) -> Result<Vec<Value>, OpError> {
    let mut joined = Vec::with_capacity(parts.len());
    for ((&output, &before), &part) in region.outputs.iter().zip(before).zip(parts) {
        let mut b = Builder::before(ir, at.0);
        joined.push(match region.cut.get(&output) {
            Some(&axis) => {
                let clauses = [b.ints("dims", &[axis as i64])];
                b.value(
                    &fusion::DYNAMIC_UPDATE_SLICE,
                    &[before, part, start],
                    &clauses,
                )?
            }
            None => b.add(before, part)?,
        });
    }
    Ok(joined)
}
