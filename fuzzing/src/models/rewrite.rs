//! Rewrites a program without changing its meaning: other names, another order, dead ops, parameters and results in
//! other positions.
//!
//! Each keeps every bit of every result, and every byte that is moved.

use std::collections::BTreeSet;

use fuser_ir::DType;

use super::program::{Clause, Data, Info, Op, Program, V};
use super::types::{Dim, Extent, Type};
use crate::Source;

/// A way to write a program differently.
pub struct Rewrite {
    /// For statistics.
    pub name: &'static str,
    apply: fn(&mut Program, &mut Source),
}

/// All of them.
pub const REWRITES: [Rewrite; 5] = [
    Rewrite {
        name: "renamed",
        apply: renamed,
    },
    Rewrite {
        name: "reordered",
        apply: reordered,
    },
    Rewrite {
        name: "dead ops",
        apply: dead,
    },
    Rewrite {
        name: "permuted",
        apply: permuted,
    },
    // The choice of written types is part of the style.
    Rewrite {
        name: "types",
        apply: |_, _| {},
    },
];

/// A rewritten copy, and for each of its parameters and results the original position.
pub struct Rewritten {
    /// The copy.
    pub program: Program,
    /// Of its parameters.
    pub parameters: Vec<usize>,
    /// Of its results.
    pub results: Vec<usize>,
}

impl Rewrite {
    /// Rewrites a copy.
    pub fn apply(&self, program: &Program, source: &mut Source) -> Rewritten {
        let mut copy = program.clone();
        (self.apply)(&mut copy, source);
        let place = |v: V| program.parameters.iter().position(|(p, _)| *p == v);
        let parameters = copy.parameters.iter().filter_map(|(v, _)| place(*v));
        let mut free: Vec<Option<(V, Option<V>)>> =
            program.results.iter().copied().map(Some).collect();
        let results = copy.results.iter().filter_map(|r| {
            let at = free.iter().position(|f| *f == Some(*r))?;
            free[at] = None;
            Some(at)
        });
        let results = results.collect();
        Rewritten {
            parameters: parameters.collect(),
            results,
            program: copy,
        }
    }
}

fn renamed(program: &mut Program, source: &mut Source) {
    let mut numbers: Vec<usize> = (0..program.values.len()).collect();
    source.shuffle(&mut numbers);
    let stem = source.one(&["v", "x.y_", "a$", "-"]);
    for (value, number) in program.values.iter_mut().zip(numbers) {
        value.name = format!("{stem}{number}");
    }
}

/// Any order in which every value is there before it is used.
fn reordered(program: &mut Program, source: &mut Source) {
    let mut waiting = std::mem::take(&mut program.ops);
    let mut there: BTreeSet<V> = program.parameters.iter().map(|(v, _)| *v).collect();
    while !waiting.is_empty() {
        let ready: Vec<usize> = (0..waiting.len())
            .filter(|i| waiting[*i].operands.iter().all(|v| there.contains(v)))
            .collect();
        let Some(at) = source.pick(&ready).copied() else {
            break;
        };
        let op = waiting.remove(at);
        there.extend(&op.results);
        program.ops.push(op);
    }
}

fn new_value(program: &mut Program, name: String, ty: Type) -> V {
    program.values.push(Info {
        name,
        ty,
        low: 0.0,
        high: 0.0,
    });
    program.values.len() - 1
}

/// Ops whose results nothing uses.
fn dead(program: &mut Program, source: &mut Source) {
    for i in 0..1 + source.below(4) {
        let at = source.index(program.ops.len() + 1);
        let made: Vec<V> = program.ops[..at]
            .iter()
            .flat_map(|op| op.results.clone())
            .collect();
        let inputs = program.parameters.iter().map(|(v, _)| *v);
        // Storage-only types support none of these ops.
        let all = inputs.chain(made);
        let all: Vec<V> = all.filter(|v| !program.ty(*v).dtype.is_storage()).collect();
        let Some(v) = source.pick(&all).copied() else {
            return;
        };
        let mut ty = Type {
            layout: None,
            ..program.ty(v).clone()
        };
        let (name, clauses) = match (ty.dtype, source.below(3)) {
            (DType::I1, _) => ("not", Vec::new()),
            (_, 0) if ty.rank() > 0 => {
                ty.dims.pop();
                let last = ty.dims.len() as u64;
                // Complex numbers have no order.
                let name = if ty.dtype.is_complex() { "sum" } else { "max" };
                (name, vec![Clause::Ints("dims", vec![last])])
            }
            (_, 1) => {
                ty.dtype = ty.dtype.part();
                ("abs", Vec::new())
            }
            _ => ("neg", Vec::new()),
        };
        let result = new_value(program, format!("dead{i}"), ty);
        let op = Op {
            name,
            operands: vec![v],
            clauses,
            lambda: None,
            results: vec![result],
        };
        program.ops.insert(at, op);
    }
}

fn permuted(program: &mut Program, source: &mut Source) {
    source.shuffle(&mut program.parameters);
    source.shuffle(&mut program.results);
}

/// Makes every name the extent of a parameter: unused inputs are added for names without one.
pub fn bind_names(program: &mut Program) {
    let mut used: BTreeSet<&'static str> = BTreeSet::new();
    let mut bound: BTreeSet<&'static str> = BTreeSet::new();
    let values: BTreeSet<V> = program.parameters.iter().map(|(v, _)| *v).collect();
    let mut see = |dim: &Dim| {
        if let Extent::Sum(terms) = &dim.extent {
            used.extend(terms.keys().flatten());
        }
    };
    for info in &program.values {
        info.ty.dims.iter().for_each(&mut see);
    }
    for op in &program.ops {
        for clause in &op.clauses {
            if let Clause::Shape(dims) = clause {
                dims.iter().for_each(&mut see);
            }
        }
    }
    for v in values {
        for dim in &program.ty(v).dims {
            if let Some((name, _)) = program
                .extents
                .iter()
                .find(|(name, _)| dim.extent == Extent::named(name))
            {
                bound.insert(name);
            }
        }
    }
    program.extents.retain(|(name, _)| used.contains(name));
    for (name, length) in program.extents.clone() {
        if bound.contains(name) {
            continue;
        }
        let dim = Dim {
            extent: Extent::named(name),
            length,
            broadcast: false,
        };
        let ty = Type::tensor(DType::I8, vec![dim]);
        let v = new_value(program, format!("of_{name}"), ty);
        program.parameters.push((v, Data::Whole(0, 1)));
    }
}
