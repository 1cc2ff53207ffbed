//! The indexing maps of every family of ops, against the interpreter, which reads clauses by itself.
//!
//! For each op here every point of the iteration space is visited, operands are read where the maps say, and elements are
//! summed where several points give one: the same tensor must come out. Operands hold distinct whole numbers, so that an
//! element from a wrong place shows.

use std::collections::BTreeSet;

use crate::common::*;
use fuser_dialects::fusion;
use fuser_interp::{Options, Tensor};
use fuser_ir::DType;
use fuser_ir::def::{OpClass, OpDef, Traits};
use fuser_ir::maps::{Index, IndexingMaps, IteratorKind, Map, Reads};

/// One op: name, clauses, and the shapes of its operands.
type Case<'a> = (&'a str, Vec<C<'a>>, &'a [&'a [usize]]);

fn cases() -> Vec<Case<'static>> {
    vec![
        ("neg", vec![], &[&[2, 3]]),
        ("add", vec![], &[&[2, 3, 4], &[2, 3, 4]]),
        ("add", vec![], &[&[5], &[]]),
        ("copy", vec![C::Flag("dense")], &[&[3, 2]]),
        (
            "broadcast",
            vec![C::Ints("dims", &[1, 2]), C::Shape("shape", &[2, 3, 4])],
            &[&[3, 4]],
        ),
        (
            "broadcast",
            vec![C::Ints("dims", &[]), C::Shape("shape", &[3, 2])],
            &[&[]],
        ),
        (
            "broadcast",
            vec![C::Ints("dims", &[0]), C::Shape("shape", &[3, 1])],
            &[&[3]],
        ),
        ("expand", vec![C::Shape("shape", &[4, 5, 1])], &[&[4, 1, 1]]),
        ("squeeze", vec![C::Ints("dims", &[0, 2])], &[&[1, 3, 1, 2]]),
        ("permute", vec![C::Ints("dims", &[2, 0, 1])], &[&[2, 3, 4]]),
        (
            "permute",
            vec![C::Ints("dims", &[1, 3, 0, 2])],
            &[&[2, 3, 1, 5]],
        ),
        ("reshape", vec![C::Shape("shape", &[4, 6])], &[&[2, 3, 4]]),
        ("reshape", vec![C::Shape("shape", &[3, 8])], &[&[4, 6]]),
        ("reshape", vec![C::Shape("shape", &[1, 0])], &[&[0, 7]]),
        ("sum", vec![C::Ints("dims", &[1])], &[&[2, 3, 4]]),
        (
            "sum",
            vec![C::Ints("dims", &[0, 2]), C::Flag("keepdim")],
            &[&[2, 3, 4]],
        ),
        ("sum", vec![C::Ints("dims", &[])], &[&[2, 3]]),
        ("sum", vec![C::Ints("dims", &[1])], &[&[2, 0]]),
        ("cumsum", vec![C::Int("dim", 1)], &[&[2, 5, 3]]),
        ("cumsum", vec![C::Int("dim", 0)], &[&[0, 3]]),
        (
            "last",
            vec![C::Int("dim", 1), C::Int("otherwise", 0)],
            &[&[2, 5, 3]],
        ),
        (
            "last",
            vec![C::Int("dim", 0), C::Int("otherwise", 0)],
            &[&[0, 3]],
        ),
        ("full", vec![C::Shape("shape", &[2, 3])], &[&[]]),
        (
            "slice",
            vec![C::Ints("starts", &[1, 2]), C::Shape("shape", &[2, 3])],
            &[&[4, 7]],
        ),
        (
            "slice",
            vec![
                C::Ints("starts", &[0, 1]),
                C::Shape("shape", &[2, 3]),
                C::Ints("strides", &[1, 2]),
            ],
            &[&[4, 7]],
        ),
        ("flip", vec![C::Ints("dims", &[0, 2])], &[&[2, 3, 4]]),
        ("flip", vec![C::Ints("dims", &[0])], &[&[0, 5]]),
        (
            "pad",
            vec![C::Ints("low", &[1, 0]), C::Ints("high", &[0, 2])],
            &[&[2, 3], &[]],
        ),
        (
            "pad",
            vec![C::Ints("low", &[2]), C::Ints("high", &[1])],
            &[&[0], &[]],
        ),
        ("cat", vec![C::Int("dim", 1)], &[&[2, 3], &[2, 0], &[2, 4]]),
        ("cat", vec![C::Int("dim", 0)], &[&[5]]),
        ("take", vec![C::Int("dim", 1)], &[&[2, 7, 3], &[4, 2]]),
        ("take", vec![C::Int("dim", 0)], &[&[3], &[]]),
        ("take", vec![C::Int("dim", 0)], &[&[0, 2], &[3]]),
        ("take_along", vec![C::Int("dim", 0)], &[&[7, 2], &[5, 2]]),
        (
            "dynamic_slice",
            vec![C::Ints("dims", &[0, 2]), C::Shape("shape", &[2, 7, 3])],
            &[&[5, 7, 4], &[], &[]],
        ),
        (
            "dynamic_slice",
            vec![C::Ints("dims", &[]), C::Shape("shape", &[5])],
            &[&[5]],
        ),
        (
            "dynamic_update_slice",
            vec![C::Ints("dims", &[1])],
            &[&[2, 7], &[2, 3], &[]],
        ),
        (
            "dynamic_update_slice",
            vec![C::Ints("dims", &[0, 1])],
            &[&[4, 7], &[0, 7], &[], &[]],
        ),
        ("matmul", vec![], &[&[3, 4], &[4, 5]]),
        ("matmul", vec![], &[&[2, 3, 4], &[2, 4, 5]]),
        ("matmul", vec![], &[&[2, 1, 3, 4], &[4, 5]]),
        ("matmul", vec![], &[&[4], &[2, 4, 5]]),
        ("matmul", vec![], &[&[3, 4], &[4]]),
        ("matmul", vec![], &[&[3, 0], &[0, 5]]),
        ("linear", vec![], &[&[2, 3, 4], &[5, 4]]),
        ("linear", vec![], &[&[4], &[5, 4]]),
        ("sdpa", vec![], &[&[2, 3, 8], &[2, 4, 8], &[2, 4, 6]]),
        (
            "sdpa",
            vec![],
            &[&[2, 3, 8], &[2, 4, 8], &[2, 4, 6], &[3, 4]],
        ),
        (
            "index_put",
            vec![C::Int("dim", 1), C::Word("combine", "add")],
            &[&[2, 7, 3], &[4], &[2, 4, 3]],
        ),
        (
            "scatter",
            vec![C::Int("dim", 0), C::Word("combine", "add")],
            &[&[7, 2], &[5, 2], &[5, 2]],
        ),
        ("sort", vec![C::Int("dim", 1)], &[&[2, 5, 3]]),
        (
            "sort",
            vec![C::Int("dim", 0), C::Flag("descending")],
            &[&[0, 3]],
        ),
        (
            "roll",
            vec![C::Int("dim", 0), C::Int("shift", -3)],
            &[&[5, 2]],
        ),
        (
            "one_hot",
            vec![
                C::Int("dim", 1),
                C::Shape("shape", &[7]),
                C::DType("of", DType::I64),
            ],
            &[&[2, 3]],
        ),
    ]
}

/// A tensor of distinct whole numbers from `first` on.
fn counting(shape: &[usize], first: i32) -> Tensor {
    let count = shape.iter().product::<usize>() as i32;
    i32s(shape, &(first..first + count).collect::<Vec<_>>())
}

/// All indices of a space, row-major.
fn points(extents: &[usize]) -> Vec<Vec<usize>> {
    let mut points = vec![Vec::new()];
    for &extent in extents {
        points = (points.iter())
            .flat_map(|p| (0..extent).map(|i| [p.as_slice(), &[i]].concat()))
            .collect();
    }
    points
}

/// Each element as the sum of all along axis `dim`.
fn line_sums(made: &[f64], shape: &[usize], dim: usize) -> Vec<f64> {
    let step: usize = shape[dim + 1..].iter().product();
    let line = |at: usize| at - at / step % shape[dim] * step;
    let sum = |at: usize| (0..shape[dim]).map(|k| made[line(at) + k * step]).sum();
    (0..made.len()).map(sum).collect()
}

/// The row-major position of a point.
fn points_before(extents: &[usize], point: &[usize]) -> usize {
    point.iter().zip(extents).fold(0, |at, (i, n)| at * n + i)
}

/// The element of operand `operand` that its map leads to from `point`, if there is one.
fn element(
    operands: &[Tensor],
    maps: &IndexingMaps,
    operand: usize,
    point: &[usize],
    extents: &[usize],
) -> Option<f64> {
    let (tensor, map) = (&operands[operand], &maps.operands[operand]);
    let lengths: Vec<usize> = tensor.axes().iter().map(|a| a.extent).collect();
    let Map::Axes(indices) = map else {
        return Some(tensor.data().float(points_before(extents, point)));
    };
    assert_eq!(indices.len(), lengths.len());
    let mut at = 0;
    for (index, &length) in indices.iter().zip(&lengths) {
        let index = match index {
            Index::Zero => 0,
            Index::Iter(iter) => point[*iter] as i64,
            Index::Affine { iter, start, step } => {
                start.as_constant().unwrap() + step * point[*iter] as i64
            }
            Index::Element(other) => {
                let held = element(operands, maps, *other, point, extents)? as i64;
                held.min(length as i64 - 1).max(0)
            }
            Index::From {
                iter,
                operand,
                room,
                back,
            } => {
                let held = element(operands, maps, *operand, point, extents)? as i64;
                let start = held.min(room.as_constant().unwrap()).max(0);
                point[*iter] as i64 + if *back { -start } else { start }
            }
        };
        let inside = usize::try_from(index).ok().filter(|&i| i < length)?;
        at = at * length + inside;
    }
    Some(tensor.data().float(at))
}

/// The length of each iterator, from the axes that it indexes.
fn extents(maps: &IndexingMaps, operands: &[Tensor], result: &Tensor) -> Vec<usize> {
    let length = |iter: usize| {
        let all = (maps.operands.iter().zip(operands)).chain([(&maps.results[0], result)]);
        let mut lengths = all.filter_map(|(m, t)| Some(t.axes()[m.axis_of(iter)?].extent));
        let first = lengths.next().expect("an axis has the iterator's index");
        assert!(
            lengths.all(|length| length == first),
            "axes of one iterator agree"
        );
        first
    };
    (0..maps.iterators.len()).map(length).collect()
}

/// The result that the maps give for `operands`, stored once along axes of the result that are.
fn by_maps(maps: &IndexingMaps, operands: &[Tensor], result: &Tensor, class: OpClass) -> Vec<f64> {
    let extents = extents(maps, operands, result);
    let lengths: Vec<usize> = result.axes().iter().map(|a| a.extent).collect();
    let mut made = vec![0.0; lengths.iter().product()];
    let indices = maps.results[0]
        .axes()
        .expect("results are written at an index");
    for point in points(&extents) {
        if class == OpClass::Scatter {
            let at = |k: usize| element(operands, maps, k, &point, &extents).unwrap();
            let walked = point.len() - 1;
            let dim = (0..walked).find(|&iter| maps.operands[2].axis_of(iter).is_none());
            let place = points_before(&lengths, &point[..walked]);
            let put = if at(1) == point[dim.unwrap()] as f64 {
                at(2)
            } else {
                0.0
            };
            made[place] += put + if point[walked] == 0 { at(0) } else { 0.0 };
            continue;
        }
        let data = maps.index_operands();
        let read = (0..operands.len()).filter(|k| !data.contains(k));
        let mut read = read.filter_map(|k| element(operands, maps, k, &point, &extents));
        let value = match maps.reads {
            Reads::Last => {
                let others = (0..operands.len()).rev().filter(|k| !data.contains(k));
                let mut others =
                    others.filter_map(|k| element(operands, maps, k, &point, &extents));
                others.next().expect("an operand has the element")
            }
            Reads::First => read.next().expect("an operand has the element"),
            Reads::All if class == OpClass::Contraction => read.product(),
            // A value, as often as there are terms, of so many keys.
            Reads::All if class == OpClass::Attention => {
                let [.., keys, terms] = extents[..] else {
                    unreachable!()
                };
                read.nth(2).expect("there are values") / (keys * terms) as f64
            }
            Reads::All => read.sum(),
        };
        let mut at = 0;
        for (index, &length) in indices.iter().zip(&lengths) {
            let Index::Iter(iter) = index else { continue };
            at = at * length + point[*iter];
        }
        // Of an axis that is walked in order and ends, the last stays.
        let in_order = |iter| maps.iterators[iter] == IteratorKind::Scan && maps.ends(iter);
        match (0..extents.len()).any(in_order) {
            true => made[at] = value,
            false => made[at] += value,
        }
    }
    // What a scan writes at an index is put together up to there.
    for (axis, index) in indices.iter().enumerate() {
        let scanned = |iter: &usize| maps.iterators[*iter] == IteratorKind::Scan;
        if matches!(index, Index::Iter(iter) if scanned(iter)) {
            let step: usize = lengths[axis + 1..].iter().product();
            let inner = (0..made.len()).filter(|at| !(at / step).is_multiple_of(lengths[axis]));
            inner.for_each(|at| made[at] += made[at - step]);
        }
    }
    let stored = |p: &Vec<usize>| {
        p.iter()
            .zip(result.axes())
            .all(|(&i, a)| i == 0 || !a.broadcast)
    };
    let all = points(&lengths).into_iter().zip(made);
    all.filter(|(p, _)| stored(p)).map(|(_, v)| v).collect()
}

#[test]
fn the_maps_of_every_family_give_what_the_interpreter_gives() {
    let mut seen = BTreeSet::new();
    for (name, clauses, shapes) in cases() {
        let starts = [1, 1000, 2000, 3000];
        let inputs: Vec<Tensor> = (shapes.iter().zip(starts))
            .map(|(shape, first)| match (name, first) {
                // Indices, some of them beyond the axis on either side.
                ("take" | "take_along" | "index_put" | "scatter", 1000) => counting(shape, -2),
                ("dynamic_slice", 1000) | ("dynamic_update_slice", 2000) => counting(shape, 1),
                // Scores of 0: the result is a mean.
                ("sdpa", 1) => f32s(shape, &vec![0.0; shape.iter().product()]),
                ("sdpa", 3000) => f32s(shape, &vec![1.0; shape.iter().product()]),
                ("matmul" | "linear" | "sdpa", _) => {
                    let count = shape.iter().product::<usize>();
                    let whole = (0..count).map(|i| (i % 7) as f32 - 2.0);
                    f32s(shape, &whole.collect::<Vec<_>>())
                }
                _ => counting(shape, first),
            })
            .collect();
        let program = single(name, &clauses, &inputs);
        let op = program.ir.children(program.op)[0];
        let results = program.run(&inputs, &Options::default()).unwrap().values;
        let maps = program
            .ir
            .maps(op)
            .unwrap_or_else(|| panic!("{name} has no maps"));
        let def = program.ir.def(op).unwrap();
        seen.extend(def.maps.map(|family| family.name));
        let mut expected = by_maps(&maps, &inputs, &results[0], def.class);
        if name == "one_hot" {
            let place = |at: usize| (at / 3 % 7) as f64;
            let pairs = expected.iter_mut().enumerate();
            pairs.for_each(|(at, v)| *v = f64::from(u8::from(*v == place(at))));
        }
        if name == "neg" {
            expected.iter_mut().for_each(|v| *v = -*v);
        }
        let mut made = values(&results[0]);
        if def.class == OpClass::Sort || name == "roll" {
            // Which element comes where is not said: each line has the same ones.
            let dim = program.ir.int_of(op, "dim").unwrap() as usize;
            made = line_sums(&made, shapes[0], dim);
        }
        assert_eq!(made, expected, "{name} of {shapes:?}");
    }
    let all = fusion::DIALECT.ops.iter();
    // A routine's results are no sums of elements, and of a window any element of a line may be one.
    let all = all.filter(|def| !matches!(def.class, OpClass::Routine | OpClass::Convolution));
    let all: BTreeSet<_> = all.filter_map(|def| Some(def.maps?.name)).collect();
    assert_eq!(seen, all, "families without a case here");
}

#[test]
fn every_op_has_maps() {
    let ends = |def: &OpDef| def.traits.contains(Traits::TERMINATOR);
    // Elements of other devices have no place in an op's iteration space.
    let others = |def: &OpDef| def.class == OpClass::Collective;
    for def in fusion::DIALECT.ops {
        if ends(def) || others(def) {
            continue;
        }
        assert!(def.maps.is_some(), "{} has no maps", def.name);
    }
}
