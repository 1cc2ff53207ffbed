//! Drawing of a whole program: its axes and element types, its sentences, its results.

use fuser_ir::DType;

use super::program::{Program, V};
use super::sentences;
use super::types::{Dim, Extent};
use super::writer::Writer;
use crate::Source;

/// Lengths, most often those of the first line.
const LENGTHS: [&[u64]; 3] = [
    &[2, 3, 4, 5, 7, 8, 12, 16],
    &[1, 31, 32, 33, 64, 65, 127, 129],
    &[0, 1, 2, 3, 7, 33, 129, 257],
];
/// Names of extents.
const NAMES: [&str; 6] = ["B", "S", "H", "N", "K", "seq_len"];
/// Ops of a program, at which no other sentence begins.
const OPS: (i64, i64) = (5, 40);
/// The number of sentences tried for a program, since a sentence may fit nothing.
const TRIES: usize = 24;

/// A program.
pub fn draw(source: &mut Source) -> Program {
    let dtype = source.one(&[
        DType::F32,
        DType::F32,
        DType::F32,
        DType::BF16,
        DType::BF16,
        DType::F16,
        DType::F64,
    ]);
    let axes = axes(source);
    let edges = source.chance(1, 12);
    // Short programs are drawn more often, since the cost grows with the length.
    let goal = source.range(OPS.0, OPS.1).min(source.range(OPS.0, OPS.1)) as usize;
    let mut w = Writer::new(source, dtype, axes);
    w.edges = edges;
    for _ in 0..TRIES {
        if w.program.ops.len() >= goal {
            break;
        }
        sentence(&mut w);
    }
    results(&mut w);
    if w.maybe(6) {
        for _ in 0..2 {
            let before = w.pool.len();
            sentence(&mut w);
            w.pool.truncate(before);
        }
    }
    finish(w)
}

/// Adds one sentence; if a sentence fails halfway, its ops remain as dead ops.
fn sentence(w: &mut Writer) {
    let sentence = sentences::draw(w);
    if (sentence.write)(w).is_some() {
        w.program.sentences.push(sentence.name);
    }
}

fn axes(source: &mut Source) -> Vec<Dim> {
    let mut names = NAMES.to_vec();
    source.shuffle(&mut names);
    let count = 2 + source.index(3);
    let mut axes = Vec::new();
    for _ in 0..count {
        let group = source.one(&[0, 0, 0, 1, 1, 2]);
        let length = source.one(LENGTHS[group]);
        let extent = match (source.chance(1, 3), names.pop()) {
            (true, Some(name)) => Extent::named(name),
            _ => Extent::fixed(length),
        };
        axes.push(Dim {
            extent,
            length,
            broadcast: false,
        });
    }
    axes
}

/// Returns all unused values and some used ones, now and then an input, a constant or a value twice.
fn results(w: &mut Writer) {
    let program = &w.program;
    let mut uses = vec![0u32; program.values.len()];
    for op in &program.ops {
        op.operands.iter().for_each(|v| uses[*v] += 1);
    }
    let pool = w.pool.clone();
    for v in pool {
        let returned = w.program.results.iter().any(|(r, _)| *r == v);
        if !returned && (uses[v] == 0 || w.maybe(5)) {
            w.program.results.push((v, None));
        }
    }
    if w.maybe(8) {
        let inputs = w.program.parameters.iter().map(|(v, _)| *v);
        let inputs: Vec<V> = inputs.filter(|v| !w.ty(*v).is_vague()).collect();
        if let Some(v) = w.source.pick(&inputs).copied() {
            w.program.results.push((v, None));
        }
    }
    if w.maybe(8) {
        let constants = w.program.ops.iter();
        let made = constants.filter(|op| matches!(op.name, "constant" | "iota" | "size" | "full"));
        let made: Vec<V> = made.map(|op| op.results[0]).collect();
        if let Some(v) = w.source.pick(&made).copied() {
            w.program.results.push((v, None));
        }
    }
    if w.maybe(6)
        && let Some((v, _)) = w.source.pick(&w.program.results).copied()
    {
        w.program.results.push((v, None));
    }
    if w.maybe(3) {
        let results = &mut w.program.results;
        w.source.shuffle(results);
    }
    if w.program.results.is_empty() {
        let last = w.program.ops.last().map(|op| op.results[0]);
        let last = last.unwrap_or_else(|| w.pick(1));
        w.program.results.push((last, None));
    }
    // Callers see two floats of 4 bits in a byte, which not every shape allows.
    for at in 0..w.program.results.len() {
        let (v, _) = w.program.results[at];
        if w.dtype_of(v) == DType::F4E2M1FN {
            w.program.results[at].0 = w.cast(v, DType::F32);
        }
    }
}

fn finish(w: Writer) -> Program {
    let mut program = w.program;
    let axes = w.axes;
    for axis in &axes {
        let Extent::Sum(terms) = &axis.extent else {
            continue;
        };
        for name in terms.keys().flatten() {
            program.extents.push((name, axis.length));
        }
    }
    super::rewrite::bind_names(&mut program);
    program
}
