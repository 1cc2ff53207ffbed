//! Loops: their programs as the regions of a `while`, with a counter where they have a number of turns.

use fuser_dialects::task::{self, calls};
use fuser_ir::{DType, Op};

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
    let mut results = Vec::new();
    for op in block.into_iter().flat_map(|block| ir.block_ops(block)) {
        if ir.is(op, &task::RETURN) {
            results = w.operands(op)?;
        } else if let Err(fault) = w.op(op) {
            let told = told(ir, op, fault);
            w.found.push(told);
        }
    }
    let results = end(w, &args, results);
    let list = |tensors: &[Tensor], typed: bool| {
        let tensors = tensors.iter().map(|tensor| match typed {
            true => format!("{}: {}", tensor.name, tensor.ty()),
            false => tensor.name.clone(),
        });
        tensors.collect::<Vec<String>>().join(", ")
    };
    let types: Vec<String> = results.iter().map(Tensor::ty).collect();
    let (head, given) = (list(&args, true), list(&results, false));
    let lines = std::mem::replace(&mut w.text, outer);
    let types = types.join(", ");
    Ok(format!(
        "    ^bb0({head}):\n{lines}    stablehlo.return {given} : {types}\n"
    ))
}
