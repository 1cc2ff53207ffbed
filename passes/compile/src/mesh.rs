//! Programs on the devices of a mesh: the program of one device, how callers' tensors lie on all, and collectives for the runtime.

use fuser_artifact::{self as artifact, Collective, Combine, MeshAxis};
use fuser_dialects::fusion;
use fuser_dialects::task::mesh::{self, Mesh, Sharding};
use fuser_dialects::task::{self, calls};
use fuser_ir::def::OpDef;
use fuser_ir::{Ir, Op, Value};

use super::plan::PlanError;

/// The program that each device runs, where `program` is one that runs it and does nothing else, and how arguments and results lie.
pub fn part(ir: &Ir, program: Op) -> Result<Option<(Op, artifact::Mesh)>, PlanError> {
    let fault = |op: Op, message: &str, help: &str| {
        Err(PlanError {
            op,
            message: message.into(),
            help: help.into(),
        })
    };
    if mesh::is_device_program(ir, program) {
        let help =
            "compile a program that runs it by 'task.devices', which says how arguments are cut";
        return fault(
            program,
            "the program is that of one device of several",
            help,
        );
    }
    let Some(op) = calls::devices(ir, program) else {
        return Ok(None);
    };
    let (body, own) = (ir.body(program, 0), calls::callee(ir, op, "body"));
    let (Some(body), Some(own), Some(mesh)) = (body, own, Mesh::of(ir, op)) else {
        return fault(
            op,
            "there is no program of a device",
            "declare it in the same module",
        );
    };
    let returned = ir
        .terminator(body)
        .map(|end| ir.operands(end).collect::<Vec<Value>>());
    let same = ir.operands(op).eq(ir.args(body).iter().copied());
    if !same || !returned.is_some_and(|values| values.iter().eq(results(ir, op))) {
        let help = "run 'partition' before other passes: it makes one program of what devices do";
        return fault(op, "the program does more than run devices", help);
    }
    let shardings = |clause| mesh::shardings(ir, &mesh, op, clause);
    let (Ok(inputs), Ok(outputs)) = (shardings("in"), shardings("out")) else {
        return fault(op, "a sharding is none", "state one that verifies");
    };
    let axes = mesh.axes.iter().map(|(name, size)| MeshAxis {
        name: name.clone(),
        size: u32::try_from(*size).unwrap_or(0),
    });
    let all = |list: Vec<Sharding>| list.iter().map(sharding).collect();
    Ok(Some((
        own,
        artifact::Mesh {
            axes: axes.collect(),
            inputs: all(inputs),
            outputs: all(outputs),
        },
    )))
}

/// The values by which the results of `op` leave the program: the results of an enclosing segment, else its own.
fn results(ir: &Ir, op: Op) -> &[Value] {
    match ir
        .parent_op(op)
        .filter(|&around| ir.is(around, &task::SEGMENT))
    {
        Some(segment) => ir.results(segment),
        None => ir.results(op),
    }
}

fn sharding(own: &Sharding) -> artifact::Sharding {
    let dims = own.dims.iter();
    let dims = dims.map(|cut| cut.iter().map(|&axis| axis as u32).collect());
    artifact::Sharding {
        dims: dims.collect(),
    }
}

/// The clauses of a collective.
struct Clauses<'a> {
    ir: &'a Ir,
    op: Op,
}

impl Clauses<'_> {
    fn axis(&self, clause: &str) -> Option<u32> {
        u32::try_from(self.ir.int_of(self.op, clause)?).ok()
    }
    fn combine(&self) -> Option<Combine> {
        Some(match self.ir.str_of(self.op, "combine")? {
            "sum" => Combine::Add,
            "prod" => Combine::Mul,
            "max" => Combine::Max,
            "min" => Combine::Min,
            _ => return None,
        })
    }
    fn pairs(&self) -> Option<Vec<[u32; 2]>> {
        let (pairs, _) = self.ir.i64s_of(self.op, "pairs")?.as_chunks::<2>();
        let number = |index: i64| u32::try_from(index).ok();
        let pairs = pairs
            .iter()
            .map(|&[from, to]| Some([number(from)?, number(to)?]));
        pairs.collect()
    }
}

/// A communication by the clauses of its op.
type ToCollective = fn(&Clauses<'_>) -> Option<Collective>;

/// Each collective, in the order of the manual.
static COLLECTIVES: &[(&OpDef, ToCollective)] = &[
    (&fusion::AXIS_INDEX, |_| Some(Collective::AxisIndex)),
    (&fusion::ALL_REDUCE, |own| {
        Some(Collective::AllReduce(own.combine()?))
    }),
    (&fusion::ALL_GATHER, |own| {
        Some(Collective::AllGather {
            dim: own.axis("dim")?,
        })
    }),
    (&fusion::REDUCE_SCATTER, |own| {
        Some(Collective::ReduceScatter {
            combine: own.combine()?,
            dim: own.axis("dim")?,
        })
    }),
    (&fusion::ALL_TO_ALL, |own| {
        Some(Collective::AllToAll {
            split: own.axis("split")?,
            concat: own.axis("concat")?,
        })
    }),
    (&fusion::COLLECTIVE_PERMUTE, |own| {
        Some(Collective::Permute {
            pairs: own.pairs()?,
        })
    }),
    (&fusion::COLLECTIVE_BROADCAST, |own| {
        Some(Collective::Broadcast {
            root: own.axis("root")?,
        })
    }),
];

/// A collective and the mesh axes that it spans; `None` if a clause is malformed.
pub fn collective(ir: &Ir, op: Op) -> Option<(Collective, Vec<u32>)> {
    let mesh = Mesh::of(ir, op)?;
    let over = mesh::listed(ir, &mesh, op, "over").ok()?;
    let (_, make) = COLLECTIVES.iter().find(|(def, _)| ir.is(op, def))?;
    let over = over.iter().map(|&axis| axis as u32).collect();
    Some((make(&Clauses { ir, op })?, over))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collective_is_one_of_the_runtime() {
        let mapped: Vec<&str> = COLLECTIVES.iter().map(|(def, _)| def.name).collect();
        let ops: Vec<&str> = fusion::COLLECTIVE_OPS.iter().map(|def| def.name).collect();
        assert_eq!(mapped, ops);
    }
}
