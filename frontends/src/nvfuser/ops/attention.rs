//! `sdpfa_fwd`: attention, of whose results only the first is a tensor here.

use fuser_dialects::fusion;
use fuser_dialects::fusion::build::float_attr;

use super::index::agree;
use crate::nvfuser::Reader;
use crate::nvfuser::args::Args;
use crate::nvfuser::value::Val;
use crate::program::{Fault, Made};

/// The number of values that the call gives: the result, the logarithms of the sums, and the seed and offset of dropout.
const RESULTS: usize = 4;

/// Attention without dropout. Older definitions have no bias and no mask: there a number comes fourth.
pub fn forward<'s>(r: &mut Reader<'s>, args: &Args<'s>) -> Made<Vec<Val<'s>>> {
    let mut operands = vec![
        args.tensor(0, &["query"])?,
        args.tensor(1, &["key"])?,
        args.tensor(2, &["value"])?,
    ];
    let is_number = |at: usize| matches!(args.get(at, &[]), Some(Val::Number(..)));
    let behind = if is_number(3) || is_number(4) { 3 } else { 5 };
    let added = [(3, "bias"), (4, "mask")];
    let added = added.map(|(at, name)| match args.get(at, &[name]) {
        Some(Val::Tensor(value)) => Some(*value),
        _ => None,
    });
    match added {
        [Some(_), Some(_)] => {
            let fault = Fault::form("has a bias and a mask");
            return Err(fault.help("make one of them: `where` of the mask, the bias and -inf"));
        }
        [one, other] => operands.extend(one.or(other)),
    }
    let number = |at: usize, name: &str| match args.get(behind + at, &[name]) {
        Some(Val::Number(number, _)) => Ok(Some(number.float())),
        None | Some(Val::Nothing) => Ok(None),
        Some(_) => Err(Fault::form(format!("`{name}` is no known number"))),
    };
    if number(0, "dropout_p")?.is_some_and(|p| p != 0.0) {
        let fault = Fault::form("draws random numbers, which other generators draw otherwise");
        return Err(fault.help("leave out the dropout"));
    }
    let rank = r.draft.dims(operands[0]).len();
    for axis in 0..rank {
        // Batch axes are one in all three, the last one of queries is that of keys.
        if axis + 2 < rank {
            agree(r, (operands[0], axis), (operands[1], axis))?;
            agree(r, (operands[0], axis), (operands[2], axis))?;
        } else if axis + 1 == rank {
            agree(r, (operands[0], axis), (operands[1], axis))?;
        } else {
            agree(r, (operands[1], axis), (operands[2], axis))?;
        }
    }
    let scale = number(2, "scale")?;
    let causal = number(1, "is_causal")?.is_some_and(|causal| causal != 0.0);
    let wide = r.draft.dtype(operands[0]).accumulate();
    let mut b = r.draft.builder();
    let ty = b.ir.scalar(wide);
    let mut clauses = Vec::new();
    if let Some(scale) = scale {
        clauses.push(("scale", float_attr(b.ir, scale, ty)));
    }
    if causal {
        clauses.push(b.flag("causal"));
    }
    let made = b.value(&fusion::SDPA, &operands, &clauses)?;
    let mut values = vec![Val::Tensor(made)];
    values.resize(RESULTS, Val::Nothing);
    Ok(values)
}
