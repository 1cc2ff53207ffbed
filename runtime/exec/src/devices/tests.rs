//! Communications of random shapes, types, layouts and groups beside a plain definition; runs on meshes; faults of every kind, in which each
//! rank ends with an error.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fuser_artifact::{
    Artifact, BufferKind, BufferSpec, Collective as Op, Combine, DType, DimSpec, Mesh, MeshAxis,
    SegmentInfo, SegmentKind, Sharding, SizeExpr, Step, Target, TensorSpec,
};
use fuser_random::SplitMix;

use super::run::run_all;
use super::*;
use crate::bind::Explicit;
use crate::cpu::{CpuProgram, RunResult};
use crate::element;
use crate::error::RuntimeError;
use crate::executable::Executable;
use crate::load::{CodeLoader, CpuEntry, LoadError, LoadedCode};
use crate::memory::Heap;
use crate::runtime::{RunOptions, Runtime};
use crate::tensor::{Axis, HostTensor};

/// The code of no kernel.
struct NoCode;

impl CodeLoader for NoCode {
    fn load(
        &self,
        _: &Target,
        _: &[fuser_artifact::KernelCode],
    ) -> Result<Box<dyn LoadedCode>, LoadError> {
        Ok(Box::new(NoCode))
    }
}

impl LoadedCode for NoCode {
    fn entry(&self, _: &str) -> Option<CpuEntry> {
        None
    }
}

const LONG: Duration = Duration::from_secs(60);

/// A tensor of a device: logical extents, which axes are stored once, and the order of axes in memory.
#[derive(Clone, Debug)]
struct Laid {
    extents: Vec<usize>,
    once: Vec<bool>,
    order: Vec<usize>,
}

impl Laid {
    fn stored(&self, axis: usize) -> usize {
        if self.once[axis] {
            1
        } else {
            self.extents[axis]
        }
    }

    fn elements(&self) -> usize {
        (0..self.extents.len())
            .map(|axis| self.stored(axis))
            .product()
    }

    /// The position in memory of an element.
    fn position(&self, index: &[usize]) -> usize {
        self.order.iter().fold(0, |at, &axis| {
            let own = if self.once[axis] { 0 } else { index[axis] };
            at * self.stored(axis) + own
        })
    }

    /// All indices.
    fn indices(&self) -> Vec<Vec<usize>> {
        self.extents.iter().fold(vec![Vec::new()], |all, &extent| {
            let longer = |index: &Vec<usize>| {
                let index = index.clone();
                (0..extent).map(move |at| [&index[..], &[at]].concat())
            };
            all.iter().flat_map(longer).collect()
        })
    }

    fn spec(&self, name: &str, dtype: DType, buffer: u32) -> TensorSpec {
        let dims = self.extents.iter().zip(&self.once);
        let dims = dims.map(|(&extent, &broadcast)| DimSpec {
            extent: (extent as i64).into(),
            broadcast,
        });
        TensorSpec {
            name: name.to_string(),
            dtype,
            dims: dims.collect(),
            order: self.order.iter().map(|&axis| axis as u32).collect(),
            buffer,
        }
    }
}

fn shuffled(random: &mut SplitMix, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    (1..count).for_each(|at| order.swap(at, random.below(at + 1)));
    order
}

fn mesh(sizes: &[u32]) -> Mesh {
    let axis = |(at, &size): (usize, &u32)| MeshAxis {
        name: format!("a{at}"),
        size,
    };
    Mesh {
        axes: sizes.iter().enumerate().map(axis).collect(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    }
}

/// A program of inputs, outputs and steps, whose buffers are those of the tensors in this order.
fn program(
    mesh: Mesh,
    inputs: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
    steps: Vec<Step>,
) -> Artifact {
    let target = Target::Cpu {
        triple: String::new(),
        cpu: String::new(),
        features: String::new(),
    };
    let mut artifact = Artifact::new("test", target);
    let buffer = |tensor: &TensorSpec, kind| BufferSpec {
        name: tensor.name.clone(),
        dtype: tensor.dtype.in_buffer(),
        elements: tensor.stored_elements(),
        kind,
    };
    let numbered = |tensors: &[TensorSpec], kind: fn(u32) -> BufferKind| {
        let tensors = tensors.iter().enumerate();
        let buffers = tensors.map(|(at, tensor)| buffer(tensor, kind(at as u32)));
        buffers.collect::<Vec<_>>()
    };
    artifact.buffers = numbered(&inputs, BufferKind::Input);
    artifact
        .buffers
        .extend(numbered(&outputs, BufferKind::Output));
    let copied = |tensors: &[TensorSpec], own: &[Sharding]| match own.is_empty() {
        true => tensors
            .iter()
            .map(|t| Sharding::copied(t.dims.len()))
            .collect(),
        false => own.to_vec(),
    };
    artifact.mesh = Some(Mesh {
        inputs: copied(&inputs, &mesh.inputs),
        outputs: copied(&outputs, &mesh.outputs),
        axes: mesh.axes,
    });
    (artifact.inputs, artifact.outputs, artifact.steps) = (inputs, outputs, steps);
    artifact.segments.push(SegmentInfo {
        name: "s0".to_string(),
        label: String::new(),
        kind: SegmentKind::Collective,
        ops: 1,
        sweeps: 0,
        read_bytes: SizeExpr::constant(0),
        write_bytes: SizeExpr::constant(0),
        values: Vec::new(),
    });
    artifact
}

/// The results of all ranks, each a thread, given its engine.
fn each<T: Send>(ranks: usize, limit: Duration, run: impl Fn(&mut Local) -> T + Sync) -> Vec<T> {
    let run = &run;
    std::thread::scope(|scope| {
        let ranks = local_ranks(ranks, limit).unwrap().into_iter();
        let threads: Vec<_> = ranks
            .map(|mut rank| scope.spawn(move || run(&mut rank)))
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| thread.join().unwrap();
        threads.into_iter().map(join).collect()
    })
}

fn runtime(threads: usize) -> Runtime {
    Runtime::with_heap(Some(threads), Heap::with_limit(1 << 28)).unwrap()
}

/// The outputs of all ranks, twice run, of programs without named extents.
fn run_bytes(artifact: &Artifact, inputs: &[Vec<u8>], threads: usize) -> Vec<Vec<u8>> {
    let program = Arc::new(CpuProgram::load(artifact.clone(), &NoCode).unwrap());
    each(inputs.len(), LONG, |rank| {
        let runtime = runtime(threads);
        let program = Arc::clone(&program);
        let mut executable = Executable::new(&runtime, program, &Explicit::new()).unwrap();
        let input = &inputs[rank.rank()];
        let room = executable.output_bytes()[0];
        let mut output = runtime.heap().allocate(room).unwrap();
        for _ in 0..2 {
            output.fill(0xee);
            executable
                .run_on(rank, &[input], &mut [&mut output])
                .unwrap();
        }
        assert_eq!(*input, inputs[rank.rank()]);
        output.to_vec()
    })
}

/// One communication.
#[derive(Clone, Debug)]
struct Case {
    sizes: Vec<u32>,
    over: Vec<u32>,
    op: Op,
    dtype: DType,
    from: Laid,
    to: Laid,
}

const REDUCED: [DType; 17] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::Bf16,
    DType::F8E4M3FN,
    DType::F8E5M2,
    DType::F8E8M0FNU,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    DType::I1,
    DType::Index,
];

impl Case {
    fn random(seed: u64) -> Case {
        let random = &mut SplitMix::at(seed, 0);
        let meshes: &[&[u32]] = &[
            &[1],
            &[2],
            &[3],
            &[4],
            &[8],
            &[2, 2],
            &[2, 4],
            &[3, 2],
            &[1, 3],
            &[2, 1, 2],
        ];
        let sizes = random.one(meshes).to_vec();
        let mut over: Vec<u32> = shuffled(random, sizes.len())
            .into_iter()
            .map(|a| a as u32)
            .collect();
        over.truncate(
            random
                .below(sizes.len() + 1)
                .max(usize::from(!seed.is_multiple_of(8))),
        );
        let devices: usize = over
            .iter()
            .map(|&axis| sizes[axis as usize] as usize)
            .product();
        let combine = random.one(&[Combine::Add, Combine::Mul, Combine::Max, Combine::Min]);
        let dtype = random.one(&REDUCED);
        let kind = random.below(6);
        let rank = random.below(4).max(usize::from(matches!(kind, 1..=3)));
        let mut extents: Vec<usize> = (0..rank)
            .map(|_| random.one(&[0, 1, 1, 2, 3, 5, 7, 11]))
            .collect();
        if rank > 0 && random.below(8) == 0 {
            extents[0] = 997;
        }
        let mut results = extents.clone();
        let mut once: Vec<bool> = (0..rank).map(|_| random.below(5) == 0).collect();
        let dim = |random: &mut SplitMix| random.below(rank) as u32;
        let op = match kind {
            0 => Op::AllReduce(combine),
            1 => {
                let dim = dim(random);
                extents[dim as usize] *= devices;
                Op::ReduceScatter { combine, dim }
            }
            2 => {
                let dim = dim(random);
                results[dim as usize] *= devices;
                Op::AllGather { dim }
            }
            3 => {
                let (split, concat) = (dim(random), dim(random));
                extents[split as usize] *= devices;
                results[concat as usize] *= devices;
                Op::AllToAll { split, concat }
            }
            4 => {
                let count = random.below(devices + 1);
                let (from, to) = (shuffled(random, devices), shuffled(random, devices));
                let pairs = from.into_iter().zip(to).take(count);
                let pairs = pairs.map(|(from, to)| [from as u32, to as u32]).collect();
                Op::Permute { pairs }
            }
            _ => Op::Broadcast {
                root: random.below(devices) as u32,
            },
        };
        let from = Laid {
            order: shuffled(random, rank),
            extents,
            once: once.clone(),
        };
        // Along an axis that the operand has once, the result has equal elements, unless the axis is cut or joined.
        let moved = |axis: usize| match &op {
            Op::ReduceScatter { dim, .. } | Op::AllGather { dim } => *dim as usize == axis,
            Op::AllToAll { split, concat } => [*split, *concat].contains(&(axis as u32)),
            _ => false,
        };
        for (axis, once) in once.iter_mut().enumerate() {
            *once &= !moved(axis) && random.below(2) == 0;
        }
        let to = Laid {
            order: shuffled(random, rank),
            extents: results,
            once,
        };
        Case {
            sizes,
            over,
            op,
            dtype,
            from,
            to,
        }
    }

    fn artifact(&self) -> Artifact {
        let [x, y] = [("x", &self.from, 0), ("y", &self.to, 1)]
            .map(|(name, laid, buffer)| laid.spec(name, self.dtype, buffer));
        let step = Step::Collective {
            segment: 0,
            op: self.op.clone(),
            over: self.over.clone(),
            from: Some(Box::new(x.clone())),
            to: Box::new(y.clone()),
        };
        program(mesh(&self.sizes), vec![x], vec![y], vec![step])
    }

    /// The ranks of the group of a rank, in order: by the definition.
    fn group(&self, rank: usize) -> Vec<usize> {
        let along = |rank: usize, axis: usize| {
            let after: u32 = self.sizes[axis + 1..].iter().product();
            rank as u32 / after % self.sizes[axis]
        };
        let all: u32 = self.sizes.iter().product();
        let mut axes = 0..self.sizes.len();
        let alike = |other: &usize| {
            axes.clone().all(|axis| {
                self.over.contains(&(axis as u32)) || along(*other, axis) == along(rank, axis)
            })
        };
        let mut group: Vec<usize> = (0..all as usize).filter(alike).collect();
        axes.by_ref().for_each(drop);
        group.sort_by_key(|&other| {
            let own = self.over.iter().map(|&axis| along(other, axis as usize));
            own.collect::<Vec<u32>>()
        });
        group
    }

    fn element<'a>(&self, laid: &Laid, bytes: &'a [u8], index: &[usize]) -> &'a [u8] {
        let (size, at) = (self.dtype.bytes(), laid.position(index));
        &bytes[at * size..(at + 1) * size]
    }

    /// The element of a rank's result, given the operands of all ranks.
    fn expected(&self, inputs: &[Vec<u8>], rank: usize, index: &[usize]) -> Vec<u8> {
        let group = self.group(rank);
        let own = group.iter().position(|&other| other == rank).unwrap();
        let element = |device: usize, index: &[usize]| {
            self.element(&self.from, &inputs[group[device]], index)
                .to_vec()
        };
        let all = |index: &[usize]| {
            let elements = (0..group.len()).map(|device| element(device, index));
            elements.collect::<Vec<_>>()
        };
        let mut at = index.to_vec();
        match &self.op {
            Op::AxisIndex => (own as i32).to_le_bytes().to_vec(),
            Op::AllReduce(combine) => combined(self.dtype, *combine, &all(index)),
            Op::ReduceScatter { combine, dim } => {
                at[*dim as usize] += own * self.to.extents[*dim as usize];
                combined(self.dtype, *combine, &all(&at))
            }
            Op::AllGather { dim } => {
                let part = self.from.extents[*dim as usize];
                let device = at[*dim as usize] / part;
                at[*dim as usize] %= part;
                element(device, &at)
            }
            Op::AllToAll { split, concat } => {
                let (split, concat) = (*split as usize, *concat as usize);
                let joined = self.to.extents[concat] / group.len();
                let device = at[concat] / joined;
                at[concat] %= joined;
                at[split] += own * (self.from.extents[split] / group.len());
                element(device, &at)
            }
            Op::Permute { pairs } => {
                let source = pairs.iter().find(|pair| pair[1] as usize == own);
                match source {
                    Some(pair) => element(pair[0] as usize, index),
                    None => vec![0; self.dtype.bytes()],
                }
            }
            Op::Broadcast { root } => element(*root as usize, index),
        }
    }
}

/// Elements combined from the first on, by the definition.
fn combined(dtype: DType, combine: Combine, elements: &[Vec<u8>]) -> Vec<u8> {
    if dtype.integer_range().is_some() {
        let bits = 8 * dtype.bytes() as u32;
        let wrap = |value: i128| {
            let bytes = value.to_le_bytes();
            element::to_int(dtype, &bytes[..dtype.bytes()]).unwrap()
        };
        let truth = dtype == DType::I1;
        let two = |a: i128, b: i128| match combine {
            Combine::Add if truth => a | b,
            Combine::Add => wrap((a + b) & (i128::MAX >> (127 - bits.min(126)))),
            Combine::Mul => wrap(a.wrapping_mul(b)),
            Combine::Max => a.max(b),
            Combine::Min => a.min(b),
            Combine::Set => unreachable!(),
        };
        let values = elements
            .iter()
            .map(|bytes| element::to_int(dtype, bytes).unwrap());
        let value = values.reduce(two).unwrap();
        return value.to_le_bytes()[..dtype.bytes()].to_vec();
    }
    let mut values = elements
        .iter()
        .map(|bytes| element::to_f64(dtype, bytes).unwrap());
    let extreme = |values: Vec<f64>, greatest: bool| {
        if values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        let mut values = values;
        values.sort_by(f64::total_cmp);
        if greatest {
            values[values.len() - 1]
        } else {
            values[0]
        }
    };
    let value = match combine {
        Combine::Max => extreme(values.collect(), true),
        Combine::Min => extreme(values.collect(), false),
        _ => {
            let first = values.next().unwrap();
            values.fold(first, |a, b| match (dtype, combine) {
                (DType::F64, Combine::Add) => a + b,
                (DType::F64, _) => a * b,
                (_, Combine::Add) => f64::from(a as f32 + b as f32),
                (_, _) => f64::from(a as f32 * b as f32),
            })
        }
    };
    element::from_f64(dtype, value).as_bytes().to_vec()
}

/// Elements of any kind: small numbers, specials, any bits.
fn random_bytes(random: &mut SplitMix, dtype: DType, elements: usize) -> Vec<u8> {
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        256.0,
        1e8,
        -1e8,
        1e-7,
    ];
    let how = random.below(4);
    let one = |random: &mut SplitMix| match how {
        0 => {
            let bytes = random.word().to_le_bytes();
            let bits = bytes[..dtype.bytes()].to_vec();
            match dtype {
                DType::I1 => vec![bits[0] & 1],
                _ => bits,
            }
        }
        1 => element::from_f64(dtype, random.one(&specials))
            .as_bytes()
            .to_vec(),
        2 => element::from_f64(dtype, random.unit() * 4.0 - 2.0)
            .as_bytes()
            .to_vec(),
        _ => element::from_int(dtype, random.below(7) as i128 - 3)
            .as_bytes()
            .to_vec(),
    };
    (0..elements).flat_map(|_| one(random)).collect()
}

fn check_case(seed: u64) {
    let case = Case::random(seed);
    let devices: u32 = case.sizes.iter().product();
    let random = &mut SplitMix::at(seed, 1);
    let count = case.from.elements();
    let inputs: Vec<Vec<u8>> = (0..devices)
        .map(|_| random_bytes(random, case.dtype, count))
        .collect();
    let outputs = run_bytes(&case.artifact(), &inputs, 1 + random.below(2));
    let nan = |bytes: &[u8]| element::to_f64(case.dtype, bytes).unwrap().is_nan();
    for (rank, output) in outputs.iter().enumerate() {
        for index in case.to.indices() {
            let found = case.element(&case.to, output, &index);
            let expected = case.expected(&inputs, rank, &index);
            let same = found == expected || nan(found) && nan(&expected);
            assert!(
                same,
                "seed {seed}, rank {rank} at {index:?}: {found:?}, expected {expected:?}, {case:?}"
            );
        }
    }
    if let Op::AllReduce(_) = case.op {
        for (rank, output) in outputs.iter().enumerate() {
            assert_eq!(
                *output,
                outputs[case.group(rank)[0]],
                "seed {seed}: all have the same bits"
            );
        }
    }
}

#[test]
fn communications_are_those_of_the_definition() {
    (0..400).for_each(check_case);
}

#[test]
#[ignore = "20,000 random communications; a minute"]
fn many_communications_are_those_of_the_definition() {
    (400..20_000).for_each(check_case);
}

/// The sum, and so on, of one element of each rank.
fn reduced(dtype: DType, combine: Combine, elements: &[f64]) -> f64 {
    let laid = Laid {
        extents: vec![],
        once: vec![],
        order: vec![],
    };
    let case = Case {
        sizes: vec![elements.len() as u32],
        over: vec![0],
        op: Op::AllReduce(combine),
        dtype,
        from: laid.clone(),
        to: laid,
    };
    let inputs = elements
        .iter()
        .map(|&x| element::from_f64(dtype, x).as_bytes().to_vec());
    let outputs = run_bytes(&case.artifact(), &inputs.collect::<Vec<_>>(), 1);
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    element::to_f64(dtype, &outputs[0]).unwrap()
}

#[test]
fn reductions_round_once_and_know_specials() {
    let bf16 = |elements: &[f64]| reduced(DType::Bf16, Combine::Add, elements);
    assert_eq!(bf16(&[256.0, 1.0, 1.0, 1.0]), 260.0);
    assert_eq!(bf16(&[256.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 264.0);
    let f32 = |elements: &[f64]| reduced(DType::F32, Combine::Add, elements);
    assert_eq!(f32(&[1e8, 1.0, 1.0, 1.0, -1e8, 1.0, 1.0, 1.0]), 3.0);
    assert!(f32(&[-0.0, -0.0, -0.0]).is_sign_negative());
    assert!(f32(&[-0.0, 0.0]).is_sign_positive());
    for at in 0..4 {
        let mut elements = [1.0, 5.0, -3.0, 2.0];
        elements[at] = f64::NAN;
        for combine in [Combine::Max, Combine::Min, Combine::Add, Combine::Mul] {
            assert!(reduced(DType::F32, combine, &elements).is_nan());
        }
        let mut zeros = [0.0; 4];
        zeros[at] = -0.0;
        assert!(reduced(DType::F64, Combine::Max, &zeros).is_sign_positive());
        assert!(reduced(DType::F64, Combine::Min, &zeros).is_sign_negative());
    }
}

/// Each part of a whole tensor by the definition: the index in the whole of a part's index.
fn whole_index(
    mesh: &Mesh,
    own: &Sharding,
    part: &[usize],
    rank: usize,
    index: &[usize],
) -> Vec<usize> {
    let along = |axis: u32| {
        let after: u32 = mesh.axes[axis as usize + 1..]
            .iter()
            .map(|a| a.size)
            .product();
        rank as u32 / after % mesh.axes[axis as usize].size
    };
    let dim = |(at, axes): (usize, &Vec<u32>)| {
        let number = axes.iter().fold(0, |number, &axis| {
            number * mesh.axes[axis as usize].size + along(axis)
        });
        number as usize * part[at] + index[at]
    };
    own.dims.iter().enumerate().map(dim).collect()
}

fn random_sharding(random: &mut SplitMix, axes: usize, rank: usize) -> Sharding {
    let mut own = Sharding::copied(rank);
    for axis in shuffled(random, axes) {
        if rank > 0 && random.below(3) > 0 {
            own.dims[random.below(rank)].push(axis as u32);
        }
    }
    own
}

#[test]
fn inputs_are_cut_and_outputs_joined() {
    let heap = Heap::with_limit(1 << 24);
    for seed in 0..150 {
        let random = &mut SplitMix::at(seed, 7);
        let sizes = random.one::<&[u32]>(&[&[1], &[3], &[4], &[2, 2], &[2, 3], &[2, 2, 2]]);
        let rank = random.below(4);
        let laid = Laid {
            extents: (0..rank).map(|_| random.one(&[0, 1, 2, 3, 5])).collect(),
            once: (0..rank).map(|_| random.below(6) == 0).collect(),
            order: shuffled(random, rank),
        };
        let dtype = random.one(&[DType::F32, DType::U8, DType::F64, DType::I16]);
        let own = random_sharding(random, sizes.len(), rank);
        let mut mesh = mesh(sizes);
        (mesh.inputs, mesh.outputs) = (vec![own.clone()], vec![own.clone()]);
        let copy = Step::Copy {
            segment: 0,
            from: 0,
            to: 1,
            elements: (laid.elements() as i64).into(),
        };
        let [x, y] = [("x", 0), ("y", 1)].map(|(name, buffer)| laid.spec(name, dtype, buffer));
        let artifact = program(mesh.clone(), vec![x], vec![y], vec![copy]);
        let program = CpuProgram::load(artifact, &NoCode).unwrap();
        let axes: Vec<Axis> = (0..rank)
            .map(|dim| Axis {
                extent: laid.extents[dim] * mesh.parts(&own, dim),
                broadcast: laid.once[dim],
            })
            .collect();
        let elements: usize = axes.iter().map(|axis| axis.stored_extent()).product();
        let values: Vec<f64> = (0..elements).map(|at| (at % 251) as f64).collect();
        // As callers bring it: row-major, every axis written out.
        let x = HostTensor::from_f64(&heap, dtype, &axes, &values).unwrap();
        let full: Vec<Axis> = axes.iter().map(|axis| Axis::stored(axis.extent)).collect();
        let x = x.relayout(&heap, &full).unwrap();
        let runtime = runtime(2);
        let inputs = [x.try_clone(&heap).unwrap()];
        let run = program
            .run_on_mesh(
                &runtime,
                &inputs,
                &Explicit::new(),
                &RunOptions::default(),
                LONG,
            )
            .unwrap();
        let y = run.outputs[0].relayout(&heap, &full).unwrap();
        assert_eq!(x.bytes(), y.bytes(), "seed {seed}");
        assert_eq!(run.outputs[0].axes(), axes);
        // Each rank has its part, and nothing else.
        for rank in 0..mesh.devices() {
            let (parts, _) =
                part_of(&heap, program.artifact(), &inputs, &Explicit::new(), rank).unwrap();
            let part: Vec<Axis> = laid
                .extents
                .iter()
                .map(|&extent| Axis::stored(extent))
                .collect();
            let written = parts[0].relayout(&heap, &part).unwrap();
            let plain = Laid {
                once: vec![false; laid.extents.len()],
                order: (0..laid.extents.len()).collect(),
                ..laid.clone()
            };
            let all = Laid {
                extents: x.extents(),
                ..plain.clone()
            };
            let (part, whole): (Vec<f64>, Vec<f64>) =
                (written.values().collect(), x.values().collect());
            for index in plain.indices() {
                let own = whole_index(&mesh, &own, &laid.extents, rank, &index);
                assert_eq!(part[plain.position(&index)], whole[all.position(&own)]);
            }
        }
    }
}

fn vector(name: &str, dtype: DType, extent: impl Into<SizeExpr>, buffer: u32) -> TensorSpec {
    TensorSpec {
        name: name.to_string(),
        dtype,
        dims: vec![DimSpec::stored(extent)],
        order: Vec::new(),
        buffer,
    }
}

/// Sums of a vector over each of some lists of mesh axes, one after the other.
fn sums(sizes: &[u32], overs: &[&[u32]], extent: SizeExpr) -> Artifact {
    let tensor = |name: &str, buffer| vector(name, DType::F32, extent.clone(), buffer);
    let outputs: Vec<TensorSpec> = (1..=overs.len())
        .map(|at| tensor(&format!("y{at}"), at as u32))
        .collect();
    let step = |(at, over): (usize, &&[u32])| Step::Collective {
        segment: 0,
        op: Op::AllReduce(Combine::Add),
        over: over.to_vec(),
        from: Some(Box::new(tensor("t", at as u32))),
        to: Box::new(tensor("t", at as u32 + 1)),
    };
    let steps = overs.iter().enumerate().map(step).collect();
    program(mesh(sizes), vec![tensor("x", 0)], outputs, steps)
}

#[test]
fn several_communications_in_any_order_of_ranks() {
    // All ranks hold 1: each sum is the size of the groups so far.
    let artifact = sums(
        &[2, 3],
        &[&[0], &[1], &[0, 1], &[1, 0], &[], &[0]],
        5.into(),
    );
    let program = CpuProgram::load(artifact, &NoCode).unwrap();
    for seed in 0..40 {
        let ranks = local_ranks(6, LONG).unwrap();
        let run = |rank: &mut Local| {
            let mut moody = Moody {
                mood: Mood::Delays(SplitMix::at(seed, rank.rank() as u64)),
                exchanges: 0,
                inner: rank,
            };
            run_ones(&program, &mut moody)
        };
        let runs = run_all(ranks, &run).unwrap();
        for run in runs {
            let ends = run.outputs.iter().map(|y| y.values().next().unwrap());
            assert_eq!(
                ends.collect::<Vec<_>>(),
                [2.0, 6.0, 36.0, 216.0, 216.0, 432.0]
            );
        }
    }
}

/// Runs a device's part on a vector of ones.
fn run_ones(program: &CpuProgram, engine: &mut dyn Engine) -> Result<RunResult, RuntimeError> {
    let runtime = runtime(1);
    let x =
        HostTensor::from_f64(runtime.heap(), DType::F32, &[Axis::stored(5)], &[1.0; 5]).unwrap();
    program.run_on(
        engine,
        &runtime,
        &[x],
        &Explicit::new(),
        &RunOptions::default(),
    )
}

/// An engine with a fault.
struct Moody<'a> {
    inner: &'a mut Local,
    mood: Mood,
    exchanges: usize,
}

enum Mood {
    Delays(SplitMix),
    /// At an exchange of this number.
    Late(usize, Duration),
    Panics(usize),
    Fails(usize),
    Ends(usize),
}

impl Engine for Moody<'_> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn ranks(&self) -> usize {
        self.inner.ranks()
    }

    fn exchange(&mut self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault> {
        let now = self.exchanges;
        self.exchanges += 1;
        match &mut self.mood {
            Mood::Delays(random) => {
                std::thread::sleep(Duration::from_micros(random.below(300) as u64));
                if random.below(3) == 0 {
                    std::thread::yield_now();
                }
            }
            Mood::Late(at, time) if *at == now => std::thread::sleep(*time),
            Mood::Panics(at) if *at == now => panic!("made to panic"),
            Mood::Fails(at) | Mood::Ends(at) if *at == now => {
                let message = "made to fail".to_string();
                return Err(Fault::Engine { message });
            }
            _ => {}
        }
        self.inner.exchange(tag, blocks)
    }

    fn fail(&mut self, reason: &str) {
        // One that ends without a word is gone once it is dropped.
        if !matches!(self.mood, Mood::Ends(_)) {
            self.inner.fail(reason);
        }
    }
}

/// The errors of all ranks, one of which has a fault; and the time that it took.
fn errors_of(
    artifact: Artifact,
    faulty: usize,
    mood: fn(usize) -> Mood,
    at: usize,
    limit: Duration,
) -> Vec<String> {
    let program = CpuProgram::load(artifact, &NoCode).unwrap();
    let devices = program.artifact().mesh.as_ref().unwrap().devices();
    each(devices, limit, |rank| {
        let result = match rank.rank() == faulty {
            false => run_ones(&program, rank),
            true => {
                let mut moody = Moody {
                    mood: mood(at),
                    exchanges: 0,
                    inner: rank,
                };
                let run = std::panic::AssertUnwindSafe(|| run_ones(&program, &mut moody));
                match std::panic::catch_unwind(run) {
                    Ok(result) => {
                        if let Mood::Ends(_) = moody.mood {
                            // A rank that leaves is dropped.
                            let other = local_ranks(1, limit).unwrap().remove(0);
                            drop(std::mem::replace(rank, other));
                        }
                        result
                    }
                    Err(payload) => {
                        let message = super::run::panic_message(&*payload);
                        rank.fail(&message);
                        Err(MeshError::Panicked { message }.into())
                    }
                }
            }
        };
        result.map(|_| ()).unwrap_err().to_string()
    })
}

#[test]
fn faults_of_one_rank_end_all_with_its_name() {
    let artifact = || sums(&[2, 2], &[&[0], &[1], &[0, 1]], 5.into());
    type Make = fn(usize) -> Mood;
    let moods: [(&str, Make); 3] = [
        ("made to panic", Mood::Panics),
        ("made to fail", Mood::Fails),
        ("takes part in no further", Mood::Ends),
    ];
    // Exchanges 0 and 1 compare programs, the others are two for each sum.
    for (text, mood) in moods {
        for at in 0..8 {
            let faulty = at % 4;
            // Rank 0 alone compares.
            let begin = Instant::now();
            let errors = errors_of(artifact(), faulty, mood, at, LONG);
            assert!(
                begin.elapsed() < LONG / 2,
                "nobody waits for one that has ended"
            );
            for (rank, error) in errors
                .iter()
                .enumerate()
                .filter(|(rank, _)| *rank != faulty)
            {
                let named = error.contains(&format!("rank {faulty} has ended"));
                // Without a word of the first one, a second one may be the first to be heard of.
                let heard = named && error.contains(text)
                    || text.starts_with("takes") && error.contains("has ended");
                assert!(heard, "rank {rank}: {error}");
                let place = ["comparing programs", "of segment `s0`"];
                assert!(place.iter().any(|place| error.contains(place)), "{error}");
            }
        }
    }
}

#[test]
fn a_late_rank_is_named_by_all() {
    // Ranks 1 and 2 are late, but not too late, rank 3 is. Rank 0 waits for rank 1 from the beginning, which waits for rank 3 later. Exchanges
    // 0 and 1 compare programs, 2 and 3 are the first sum.
    let artifact = sums(&[2, 2], &[&[0], &[1]], 5.into());
    let program = CpuProgram::load(artifact, &NoCode).unwrap();
    let delays = [(0, 0), (2, 300), (4, 300), (2, 1500)];
    let errors = each(4, Duration::from_millis(600), |rank| {
        let (at, time) = delays[rank.rank()];
        let mut moody = Moody {
            mood: Mood::Late(at, Duration::from_millis(time)),
            exchanges: 0,
            inner: rank,
        };
        let done = run_ones(&program, &mut moody);
        done.map(|_| ()).unwrap_err().to_string()
    });
    let own = "communication 2, `all_reduce` of segment `s0`: rank 3 did not come within 0.6 s";
    assert_eq!(errors[0], own);
    let heard = format!("`s0`: rank 0 has ended: {own}");
    for error in &errors[1..] {
        assert!(error.ends_with(&heard), "{errors:?}");
    }
}

#[test]
fn other_programs_and_shapes_are_errors_on_every_rank() {
    let extent = SizeExpr::extent(0);
    let named = |over: &'static [u32]| {
        let mut artifact = sums(&[4], &[over], extent.clone());
        artifact.extents.push("B".to_string());
        artifact
    };
    let run = |other: usize, artifact: Artifact, length: i64| {
        each(4, LONG, |rank| {
            let differs = rank.rank() == other;
            let artifact = if differs {
                artifact.clone()
            } else {
                named(&[0])
            };
            let length = if differs { length } else { 3 };
            let program = Arc::new(CpuProgram::load(artifact, &NoCode).unwrap());
            let extents = [("B".to_string(), length)].into();
            let mut executable = Executable::new(&runtime(1), program, &extents).unwrap();
            let x = vec![0u8; length as usize * 4];
            let mut y = crate::memory::Heap::with_limit(4096)
                .allocate(x.len())
                .unwrap();
            let done = executable.run_on(rank, &[&x], &mut [&mut y]);
            done.map_err(|error| error.to_string())
        })
    };
    assert!(run(2, named(&[0]), 3).iter().all(Result::is_ok));
    for other in [1, 3] {
        for error in run(other, named(&[]), 3) {
            let text = format!("rank {other} runs another program than rank 0");
            assert!(error.unwrap_err().contains(&text));
        }
        for error in run(other, named(&[0]), 4) {
            let text = format!("rank {other} runs the program with other lengths");
            assert!(error.unwrap_err().contains(&text));
        }
    }
    // Rank 0 is the one that others are compared with.
    for error in run(0, named(&[0]), 4) {
        assert!(
            error
                .unwrap_err()
                .contains("rank 1 runs the program with other lengths")
        );
    }
}

#[test]
fn ranks_that_part_ways_are_errors() {
    // A sum in a branch that one rank takes, then a sum that all take.
    let i1 = |buffer| vector("c", DType::I1, 1, buffer);
    let f32 = |name: &str, buffer| vector(name, DType::F32, 1, buffer);
    let sum = |to| Step::Collective {
        segment: 0,
        op: Op::AllReduce(Combine::Add),
        over: vec![0],
        from: Some(Box::new(f32("x", 1))),
        to: Box::new(f32("t", to)),
    };
    let never = Step::Fill {
        segment: 0,
        buffer: 3,
        elements: 1.into(),
        bits: 0,
    };
    let copied = Step::Copy {
        segment: 0,
        from: 0,
        to: 3,
        elements: 1.into(),
    };
    let turn = Step::Turn {
        segment: 0,
        turns: None,
        condition: Some(3),
        end: 5,
    };
    let jump = Step::Jump { segment: 0, to: 1 };
    let steps = vec![copied, turn, sum(2), never, jump, sum(2)];
    let artifact = program(
        mesh(&[3]),
        vec![i1(0), f32("x", 1)],
        vec![f32("y", 2), i1(3)],
        steps,
    );
    let program = Arc::new(CpuProgram::load(artifact, &NoCode).unwrap());
    let results = each(3, LONG, |rank| {
        let program = Arc::clone(&program);
        let mut executable = Executable::new(&runtime(1), program, &Explicit::new()).unwrap();
        let taken = [u8::from(rank.rank() == 1)];
        let heap = Heap::with_limit(4096);
        let (mut y, mut c) = (heap.allocate(4).unwrap(), heap.allocate(1).unwrap());
        let done = executable.run_on(rank, &[&taken, &[0; 4]], &mut [&mut y, &mut c]);
        done.unwrap_err().to_string()
    });
    let apart = results
        .iter()
        .filter(|error| error.contains("is in another communication: in step"));
    assert!(apart.count() > 0, "{results:?}");
    let named = |error: &String| error.contains("communication 1, `all_reduce` of segment `s0`");
    assert!(results.iter().all(named), "{results:?}");
}

#[test]
fn too_little_memory_on_one_rank_ends_all() {
    let artifact = sums(&[4], &[&[0]], 4096.into());
    let program = CpuProgram::load(artifact, &NoCode).unwrap();
    let errors = each(4, LONG, |rank| {
        let limit = if rank.rank() == 2 { 20_000 } else { 1 << 20 };
        let runtime = Runtime::with_heap(Some(1), Heap::with_limit(limit)).unwrap();
        let x = HostTensor::zeros(runtime.heap(), DType::F32, &[Axis::stored(4096)]).unwrap();
        let options = RunOptions::default();
        let done = program.run_on(rank, &runtime, &[x], &Explicit::new(), &options);
        done.map(|_| ()).unwrap_err().to_string()
    });
    assert!(errors[2].starts_with("too little memory"), "{errors:?}");
    for rank in [0, 1, 3] {
        let text = "rank 2 has ended: too little memory";
        assert!(errors[rank].contains(text), "{errors:?}");
    }
}

#[test]
fn a_program_of_several_devices_needs_them() {
    let program = CpuProgram::load(sums(&[2], &[&[0]], 5.into()), &NoCode).unwrap();
    let runtime = runtime(1);
    let x = || HostTensor::zeros(runtime.heap(), DType::F32, &[Axis::stored(5)]).unwrap();
    let (none, options) = (Explicit::new(), RunOptions::default());
    let text = "the program is for 2 devices, and runs on one here";
    let alone = program.run(&runtime, &[x()], &none, &options);
    assert_eq!(alone.unwrap_err().to_string(), text);
    let alone = program.update(&runtime, vec![x()], &none);
    assert_eq!(alone.unwrap_err().to_string(), text);
    let program = Arc::new(program);
    let mut executable = Executable::new(&runtime, Arc::clone(&program), &none).unwrap();
    let called = executable.run(&[&[0; 20]], &mut [&mut [0; 20]]);
    assert_eq!(called.unwrap_err().to_string(), text);
    let ranks = each(3, LONG, |rank| {
        run_ones(&program, rank)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    });
    let text = "the program is for 2 devices, there are 3 ranks";
    assert!(ranks.iter().all(|error| error.ends_with(text)), "{ranks:?}");
    // One device is alone.
    let one = CpuProgram::load(sums(&[1], &[&[0]], 5.into()), &NoCode).unwrap();
    let x = HostTensor::from_f64(runtime.heap(), DType::F32, &[Axis::stored(5)], &[1.5; 5]);
    let run = one.run(&runtime, &[x.unwrap()], &none, &options).unwrap();
    assert_eq!(run.outputs[0].values().collect::<Vec<_>>(), [1.5; 5]);
}

#[test]
fn the_first_error_of_a_run_on_a_mesh_is_its_own() {
    let program = CpuProgram::load(sums(&[2, 2], &[&[0], &[1]], 5.into()), &NoCode).unwrap();
    for faulty in 0..4 {
        let run = |rank: &mut Local| {
            let mood = match rank.rank() == faulty {
                true => Mood::Panics(3),
                false => Mood::Delays(SplitMix::at(1, rank.rank() as u64)),
            };
            let mut moody = Moody {
                mood,
                exchanges: 0,
                inner: rank,
            };
            run_ones(&program, &mut moody)
        };
        let error = run_all(local_ranks(4, LONG).unwrap(), &run).unwrap_err();
        let text = format!("rank {faulty}: it panicked: made to panic");
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn named_extents_are_those_of_one_device() {
    let mut artifact = sums(&[2], &[&[0]], SizeExpr::extent(0));
    artifact.extents.push("B".to_string());
    if let Some(mesh) = &mut artifact.mesh {
        mesh.inputs[0].dims[0] = vec![0];
    }
    let program = CpuProgram::load(artifact, &NoCode).unwrap();
    let runtime = runtime(2);
    let run = |values: &[f64]| {
        let axes = [Axis::stored(values.len())];
        let x = HostTensor::from_f64(runtime.heap(), DType::F32, &axes, values).unwrap();
        let (none, options) = (Explicit::new(), RunOptions::default());
        let run = program.run_on_mesh(&runtime, &[x], &none, &options, LONG);
        run.map(|run| run.outputs[0].values().collect::<Vec<f64>>())
    };
    assert_eq!(
        run(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0]).unwrap(),
        [11.0, 22.0, 33.0]
    );
    assert_eq!(run(&[]).unwrap(), [0.0; 0]);
    let text = run(&[1.0, 2.0, 3.0]).unwrap_err().to_string();
    assert!(
        text.contains("input `x`") && text.contains("B * 2"),
        "{text}"
    );
}

#[test]
fn bytes_that_ranks_send_are_those_of_the_best_known() {
    // Of 64 f32: all_reduce 2 (n - 1) / n, the others (n - 1) / n of the larger side, per rank.
    let laid = |extent: usize| Laid {
        extents: vec![extent],
        once: vec![false],
        order: vec![0],
    };
    let combine = Combine::Add;
    for (op, from, to, expected) in [
        (Op::AllReduce(combine), 64, 64, 2 * 48 * 4),
        (Op::ReduceScatter { combine, dim: 0 }, 64, 16, 48 * 4),
        (Op::AllGather { dim: 0 }, 16, 64, 48 * 4),
        (
            Op::AllToAll {
                split: 0,
                concat: 0,
            },
            64,
            64,
            48 * 4,
        ),
    ] {
        let case = Case {
            sizes: vec![4],
            over: vec![0],
            op,
            dtype: DType::F32,
            from: laid(from),
            to: laid(to),
        };
        let program = CpuProgram::load(case.artifact(), &NoCode).unwrap();
        let sent = each(4, LONG, |rank| {
            let mut counting = Counting {
                inner: rank,
                sent: 0,
            };
            let runtime = runtime(1);
            let axes = [Axis::stored(from)];
            let x = HostTensor::zeros(runtime.heap(), DType::F32, &axes).unwrap();
            let options = RunOptions::default();
            program
                .run_on(&mut counting, &runtime, &[x], &Explicit::new(), &options)
                .unwrap();
            counting.sent
        });
        assert_eq!(sent, [expected; 4], "{:?}", case.op);
    }
}

/// Counts the bytes that go out for steps.
struct Counting<'a> {
    inner: &'a mut Local,
    sent: usize,
}

impl Engine for Counting<'_> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn ranks(&self) -> usize {
        self.inner.ranks()
    }

    fn exchange(&mut self, tag: Tag, blocks: &mut [Block<'_>]) -> Result<(), Fault> {
        if tag.step < u32::MAX - 1 {
            self.sent += blocks.iter().map(|block| block.send.len()).sum::<usize>();
        }
        self.inner.exchange(tag, blocks)
    }

    fn fail(&mut self, reason: &str) {
        self.inner.fail(reason);
    }
}

#[test]
fn outputs_come_to_rank_0() {
    let own = |dims: Vec<u32>| Sharding { dims: vec![dims] };
    let mut mesh = mesh(&[2, 2]);
    mesh.inputs = vec![own(vec![1, 0])];
    mesh.outputs = vec![own(vec![1, 0]), own(vec![0])];
    let x = |name: &str, buffer| vector(name, DType::F32, 3, buffer);
    let copy = |to| Step::Copy {
        segment: 0,
        from: 0,
        to,
        elements: 3.into(),
    };
    let artifact = program(
        mesh,
        vec![x("x", 0)],
        vec![x("y", 1), x("z", 2)],
        vec![copy(1), copy(2)],
    );
    let program = CpuProgram::load(artifact, &NoCode).unwrap();
    let found: BTreeMap<usize, Vec<Vec<f64>>> = each(4, LONG, |rank| {
        let runtime = runtime(1);
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let x = HostTensor::from_f64(runtime.heap(), DType::F32, &[Axis::stored(12)], &values);
        let own = rank.rank();
        let heap = runtime.heap();
        let whole = [x.unwrap()];
        let (parts, extents) =
            part_of(heap, program.artifact(), &whole, &Explicit::new(), own).unwrap();
        let run = program
            .run_on(rank, &runtime, &parts, &extents, &RunOptions::default())
            .unwrap();
        let all = gather(heap, rank, program.artifact(), &extents, run.outputs).unwrap();
        all.map(|all| (own, all.iter().map(|y| y.values().collect()).collect()))
    })
    .into_iter()
    .flatten()
    .collect();
    // Parts 0, 2, 1, 3 are those of ranks 0 to 3; of the second output those of ranks 0 and 2 count.
    let whole: Vec<f64> = (0..12).map(f64::from).collect();
    let firsts = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(found, [(0, vec![whole, firsts])].into());
}
