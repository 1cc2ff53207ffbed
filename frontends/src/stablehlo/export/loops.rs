//! Export of loops and branches: their programs become the regions of a `while`, with a counter if the number of turns is
//! given, or of an `if`.

use fuser_dialects::task::{self, calls};
use fuser_ir::{Block, DType, Op};

use super::{Form, Tensor, Writer, refuse, told};
use crate::program::Made;

/// `task.loop`
pub fn repeated(w: &mut Writer<'_>, op: Op, results: &[Form]) -> Made<Vec<Tensor>> {
    let mut first = w.operands(op)?;
    let mut forms = results.to_vec();
    let turns = w.ir.int_of(op, "turns");
    if turns.is_some() {
        first.push(w.filled(&[], "0", DType::I64));
        forms.push(Form {
            shape: Vec::new(),
            dtype: DType::I64,
        });
    }
    let condition = region(w, op, "condition", &first, |w, args, results| {
        match (turns, args.last()) {
            (Some(turns), Some(count)) => {
                let turns = w.filled(&[], &turns.to_string(), DType::I64);
                vec![w.test("LT", count, &turns)]
            }
            _ => results,
        }
    })?;
    let body = region(w, op, "body", &first, |w, args, mut results| {
        if let (Some(_), Some(count)) = (turns, args.last()) {
            let one = w.filled(&[], "1", DType::I64);
            results.push(w.same("add", &[count, &one]));
        }
        results
    })?;
    let operands: Vec<&Tensor> = first.iter().collect();
    let regions = format!("{condition}    }}, {{\n{body}");
    let mut made = w.generic("while", &operands, "", &regions, &forms);
    made.truncate(results.len());
    Ok(made)
}

/// `task.if`
pub fn branched(w: &mut Writer<'_>, op: Op, results: &[Form]) -> Made<Vec<Tensor>> {
    let operands = w.operands(op)?;
    let Some((condition, values)) = operands.split_first() else {
        return refuse("has no condition");
    };
    let then = side(w, op, "then", values)?;
    let otherwise = side(w, op, "else", values)?;
    let regions = format!("{then}    }}, {{\n{otherwise}");
    Ok(w.generic("if", &[condition], "", &regions, results))
}

/// A side of a branch as the text of a region without arguments.
fn side(w: &mut Writer<'_>, op: Op, clause: &str, values: &[Tensor]) -> Made<String> {
    let (ir, outer) = (w.ir, std::mem::take(&mut w.text));
    let Some(block) = calls::callee(ir, op, clause).and_then(|program| ir.body(program, 0)) else {
        return refuse("names no program");
    };
    for (&argument, tensor) in ir.args(block).iter().zip(values) {
        w.made.insert(argument, tensor.clone());
    }
    let results = body(w, block)?;
    let lines = std::mem::replace(&mut w.text, outer);
    Ok(format!("{lines}{}", returned(&results)))
}

/// The callee named by a clause as the text of a region, or an empty region. `end` computes the yielded values from the
/// region's arguments and results.
fn region(
    w: &mut Writer<'_>,
    op: Op,
    clause: &str,
    first: &[Tensor],
    end: impl FnOnce(&mut Writer<'_>, &[Tensor], Vec<Tensor>) -> Vec<Tensor>,
) -> Made<String> {
    let ir = w.ir;
    let outer = std::mem::take(&mut w.text);
    let program = calls::callee(ir, op, clause);
    if program.is_none() && ir.attr_of(op, clause).is_some() {
        return refuse("names no program");
    }
    let block = program.and_then(|program| ir.body(program, 0));
    let values = block.map_or(&[][..], |block| ir.args(block));
    let mut args = Vec::new();
    for (at, tensor) in first.iter().enumerate() {
        args.push(match values.get(at) {
            Some(&value) => w.parameter(value, false)?,
            None => Tensor {
                name: w.fresh("turn"),
                ..tensor.clone()
            },
        });
    }
    let results = block.map_or_else(|| Ok(Vec::new()), |block| body(w, block))?;
    let results = end(w, &args, results);
    let head: Vec<String> =
        (args.iter().map(|arg| format!("{}: {}", arg.name, arg.ty()))).collect();
    let head = head.join(", ");
    let lines = std::mem::replace(&mut w.text, outer);
    Ok(format!("    ^bb0({head}):\n{lines}{}", returned(&results)))
}

/// Writes the ops of a block; its results.
fn body(w: &mut Writer<'_>, block: Block) -> Made<Vec<Tensor>> {
    let ir = w.ir;
    let mut results = Vec::new();
    for op in ir.block_ops(block) {
        if ir.is(op, &task::RETURN) {
            results = w.operands(op)?;
        } else if let Err(fault) = w.op(op) {
            let told = told(ir, op, fault);
            w.found.push(told);
        }
    }
    Ok(results)
}

/// The end of a region.
fn returned(results: &[Tensor]) -> String {
    let names: Vec<&str> = results.iter().map(|tensor| tensor.name.as_str()).collect();
    let types: Vec<String> = results.iter().map(Tensor::ty).collect();
    let (names, types) = (names.join(", "), types.join(", "));
    format!("    stablehlo.return {names} : {types}\n")
}
