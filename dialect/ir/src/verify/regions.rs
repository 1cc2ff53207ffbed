//! Blocks, terminators, successors and signatures of one op's regions.

use crate::attr::AttrKind;
use crate::check::bad_layout;
use crate::def::{At, OpDef, OpError, Traits};
use crate::describe;
use crate::ir::{Block, Ir, Op, Region};
use crate::types::{TypeId, TypeKind};

use super::codes::*;

/// Every mistake in the regions of `op`.
pub(super) fn check(ir: &Ir, op: Op, def: &OpDef) -> Vec<OpError> {
    let mut errors = Vec::new();
    for (index, &region) in ir.op_regions(op).iter().enumerate() {
        blocks(ir, def, region, index, &mut errors);
        for block in ir.region_blocks(region) {
            terminator(ir, def, block, index, &mut errors);
            successors(ir, block, index, &mut errors);
            let args = ir.args(block).iter().enumerate();
            errors.extend(args.filter_map(|(i, &arg)| {
                bad_layout(
                    ir,
                    ir.value_type(arg),
                    At::Region(index),
                    format_args!("argument {i}"),
                )
            }));
        }
    }
    if def.syntax.signature {
        signature(ir, op, &mut errors);
    }
    errors
}

fn blocks(ir: &Ir, def: &OpDef, region: Region, index: usize, errors: &mut Vec<OpError>) {
    let count = ir.region_blocks(region).take(2).count();
    let (text, help) = match count {
        0 => ("has no block", None),
        2 if def.traits.contains(Traits::SINGLE_BLOCK) => (
            "has several blocks, may have one",
            Some("leave out the labels: no operation goes to a block here"),
        ),
        _ => return,
    };
    let name = def.regions.get(index).map_or("", |r| r.name);
    let text = format!("its region `{name}` {text}");
    let error = OpError::at(At::Region(index), text).code(&REGION_BLOCKS);
    errors.push(match help {
        Some(help) => error.help(help),
        None => error,
    });
}

fn terminator(ir: &Ir, def: &OpDef, block: Block, index: usize, errors: &mut Vec<OpError>) {
    let mut fault =
        |text: String, code| errors.push(OpError::at(At::Region(index), text).code(code));
    let last = ir.last_op(block);
    for op in ir.block_ops(block) {
        if Some(op) != last && ir.has(op, Traits::TERMINATOR) {
            let name = ir.name(op);
            fault(
                format!("`{name}` stands before the end of its block"),
                &TERMINATOR_EARLY,
            );
        }
    }
    if def.traits.contains(Traits::NO_TERMINATOR) {
        return;
    }
    let wanted = def.syntax.terminator.unwrap_or("a terminator");
    match last {
        None => fault(
            format!("a block is empty and must end in `{wanted}`"),
            &TERMINATOR_MISSING,
        ),
        // An unknown op may end a block.
        Some(op) if ir.def(op).is_none() || ir.successor_count(op) > 0 => {}
        Some(op) if !ir.has(op, Traits::TERMINATOR) => {
            let text = format!("a block ends in `{}`, must end in `{wanted}`", ir.name(op));
            fault(text, &TERMINATOR_MISSING);
        }
        Some(op) if def.syntax.terminator.is_some_and(|t| t != ir.name(op)) => {
            let text = format!(
                "ends a block of `{}`, which must end in `{wanted}`",
                def.name
            );
            errors.push(OpError::at(At::Inside(op), text).code(&TERMINATOR_OTHER));
        }
        Some(_) => {}
    }
}

fn successors(ir: &Ir, block: Block, index: usize, errors: &mut Vec<OpError>) {
    let mut fault =
        |text: String| errors.push(OpError::at(At::Region(index), text).code(&SUCCESSOR));
    let last = ir.last_op(block);
    for op in ir.block_ops(block).filter(|op| ir.successor_count(*op) > 0) {
        let name = ir.name(op);
        if Some(op) != last {
            fault(format!(
                "`{name}` has successors and is not the last op of its block"
            ));
        }
        for (to, values) in ir.successors(op) {
            let args = ir.args(to).iter().map(|v| ir.value_type(*v));
            let types = values.iter().map(|v| ir.value_type(*v));
            if ir.block_region(to) != ir.block_region(block) {
                fault(format!("`{name}` goes to a block of another region"));
            } else if ir.block_region(to).and_then(|r| ir.entry_block(r)) == Some(to) {
                fault(format!("`{name}` goes to the entry block"));
            } else if !args.eq(types) {
                let text = "gives its successor values that are not what the block's arguments say";
                fault(format!("`{name}` {text}"));
            }
        }
    }
}

fn signature(ir: &Ir, op: Op, errors: &mut Vec<OpError>) {
    let mut fault = |text: String| errors.push(OpError::new(text).code(&SIGNATURE));
    let ty = ir.attr_of(op, "function_type").and_then(|a| a.as_type());
    let Some(TypeKind::Function { inputs, results }) = ty.map(|t| ir.ty(t)) else {
        fault("has no function type".into());
        return;
    };
    if let Some(entry) = ir.body(op, 0) {
        let args: Vec<TypeId> = ir.args(entry).iter().map(|v| ir.value_type(*v)).collect();
        if args != *inputs {
            fault(format!(
                "has parameters ({}), its entry block has arguments ({})",
                list(ir, inputs),
                list(ir, &args)
            ));
        }
    }
    for (name, count) in [("arg_attrs", inputs.len()), ("res_attrs", results.len())] {
        let Some(attr) = ir.attr_of(op, name) else {
            continue;
        };
        let is_dict = |a: &crate::AttrId| matches!(ir.attr_kind(*a), AttrKind::Dict(_));
        if !matches!(attr, AttrKind::Array(items) if items.len() == count && items.iter().all(is_dict))
        {
            fault(format!("`{name}` must be a list of {count} dictionaries"));
        }
    }
}

fn list(ir: &Ir, types: &[TypeId]) -> String {
    let types: Vec<String> = types.iter().map(|t| describe::ty(ir, *t)).collect();
    types.join(", ")
}
