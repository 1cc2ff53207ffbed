//! The plan of a call: the handling of arrays with these shapes and strides, decided when they are first seen.
//!
//! An argument is read in place if its strides are those of the program's type. If they are those of another dense
//! layout (permuted, or one element along an axis), the program is compiled for that layout. Otherwise (a gap, a
//! negative stride, an address that is not a multiple of the elements' size) it is copied. A result is written to the
//! argument that it overwrites, to the array that the caller gives, or to a new array; through a copy if that array has
//! gaps, or overlaps an argument.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use fuser::OutputType;
use fuser::program::{Axis, DType, Layout, TensorSpec};
use pyo3::prelude::*;

use crate::array::{Array, INPUT, Shapes};
use crate::error::{raised, refused};

/// A plan.
pub struct Plan {
    pub program: Arc<fuser::Compiled>,
    pub extents: Vec<i64>,
    pub types: Arc<[OutputType]>,
    pub inputs: Vec<Access>,
    pub outputs: Vec<Target>,
    pace: AtomicU8,
}

/// The way in which an argument is read.
pub enum Access {
    Here,
    /// Sent to the GPU as it lies in host memory: so many bytes.
    Sent(usize),
    /// From a copy with these strides.
    Copied {
        strides: Vec<i64>,
        bytes: usize,
        why: &'static str,
    },
}

/// The place where a result goes.
pub enum Target {
    /// A new array with these strides.
    New(Vec<i64>),
    /// The array that is given, or the argument that is overwritten.
    Into(Destination),
    /// Writes to the destination through a copy, with the reason.
    Through(Destination, &'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    Given,
    Argument(usize),
}

/// The strides that a caller asks for, for each result.
pub type Asked = Vec<Option<Vec<i64>>>;

/// The number of runs that classify a program as quick.
const TRIALS: u8 = 4;
const QUICK: u8 = 0xff;
/// The longest run, in nanoseconds, that keeps the interpreter's lock: releasing and reacquiring it takes about 100.
const SHORT: u128 = 5_000;

impl Plan {
    /// True if a run is so short that the interpreter's lock is kept.
    pub fn is_quick(&self) -> bool {
        self.pace.load(Ordering::Relaxed) == QUICK
    }

    /// True if runs are still timed.
    pub fn is_timed(&self) -> bool {
        self.pace.load(Ordering::Relaxed) < TRIALS
    }

    /// Notes the time of a run.
    pub fn note(&self, nanoseconds: u128) {
        let runs = self.pace.load(Ordering::Relaxed);
        let next = match nanoseconds < SHORT && runs > 0 {
            true => QUICK,
            false => (runs + 1).min(TRIALS),
        };
        self.pace.store(next, Ordering::Relaxed);
    }

    /// The plan for these arrays.
    pub fn new(
        py: Python<'_>,
        base: &Arc<fuser::Compiled>,
        inputs: &[Array<'_>],
        given: &[Option<Array<'_>>],
        asked: Option<&Asked>,
        shapes: &Shapes,
        stream: u64,
    ) -> PyResult<Self> {
        let specs = &base.signature().inputs;
        let extents = extents(py, base, inputs, shapes)?;
        let mut arrays = inputs.iter().chain(given.iter().flatten());
        if arrays.any(|array| !array.is_addressable(shapes)) {
            let message = "an array has strides that leave the address space".to_owned();
            return Err(refused(py, INPUT, message, ""));
        }
        let layouts = (
            wanted_inputs(inputs, specs, shapes),
            wanted_outputs(given, asked, shapes),
        );
        let usual = layouts.0.iter().all(Option::is_none) && layouts.1.iter().all(Option::is_none);
        let other = match usual {
            true => None,
            false => py.detach(|| base.laid_out(&layouts)),
        };
        let program = other.unwrap_or_else(|| Arc::clone(base));
        let bound = py.detach(|| program.bind(&extents, stream));
        let bound = bound.map_err(|error| raised(py, &error))?;
        let types = Arc::clone(bound.outputs());
        let bytes = bound.input_bytes().to_vec();
        program.release(bound);
        let on_gpu = program.gpu().is_some();
        let specs = &program.signature().inputs;
        let accesses = inputs.iter().zip(specs).zip(bytes);
        let accesses = accesses
            .map(|((array, spec), bytes)| access(py, array, spec, bytes, on_gpu, shapes))
            .collect::<PyResult<Vec<_>>>()?;
        let mut outputs = Vec::with_capacity(types.len());
        for (number, ty) in types.iter().enumerate() {
            let given = given.get(number).and_then(Option::as_ref);
            let asked = asked.and_then(|asked| asked.get(number)?.as_ref());
            let others = (inputs, &accesses[..]);
            outputs.push(target(py, ty, given, asked, others, on_gpu, shapes)?);
        }
        Ok(Self {
            program,
            extents,
            types,
            inputs: accesses,
            outputs,
            pace: AtomicU8::new(0),
        })
    }
}

/// The values of the extents for these arguments.
pub fn extents(
    py: Python<'_>,
    base: &fuser::Compiled,
    inputs: &[Array<'_>],
    shapes: &Shapes,
) -> PyResult<Vec<i64>> {
    let specs = &base.signature().inputs;
    let axes = inputs.iter().zip(specs).map(|(array, spec)| {
        let extents = array.shape(shapes).iter().enumerate();
        let axis = |(i, &extent): (usize, &i64)| Axis {
            extent: usize::try_from(extent).unwrap_or(0),
            broadcast: spec.dims.get(i).is_some_and(|dim| dim.broadcast),
        };
        extents.map(axis).collect()
    });
    let axes: Vec<Vec<Axis>> = axes.collect();
    let types = inputs.iter().zip(&axes);
    let types: Vec<_> = types.map(|(x, axes)| (x.dtype, &axes[..])).collect();
    base.extents(&types).map_err(|error| raised(py, &error))
}

/// The layout of each argument whose strides differ from its type, if a type can express that layout.
fn wanted_inputs(
    inputs: &[Array<'_>],
    specs: &[TensorSpec],
    shapes: &Shapes,
) -> Vec<Option<Layout>> {
    let layout = |(array, spec): (&Array<'_>, &TensorSpec)| {
        let (shape, strides) = (array.shape(shapes), array.strides(shapes));
        let lies = fits(shape, strides, &stored(shape, spec));
        (!lies && array.dtype.per_byte() == 1)
            .then(|| Layout::of(shape, strides))
            .flatten()
    };
    inputs.iter().zip(specs).map(layout).collect()
}

/// The orders of the results that are asked for.
fn wanted_outputs(
    given: &[Option<Array<'_>>],
    asked: Option<&Asked>,
    shapes: &Shapes,
) -> Vec<Option<Vec<u32>>> {
    let order = |(number, array): (usize, &Option<Array<'_>>)| {
        let layout = match (array, asked) {
            (Some(array), _) => Layout::of(array.shape(shapes), array.strides(shapes))?,
            (None, asked) => Layout::of_strides(asked?.get(number)?.as_ref()?)?,
        };
        (layout.order.len() > 1 && !layout.once.contains(&true)).then_some(layout.order)
    };
    given.iter().enumerate().map(order).collect()
}

/// The strides, in elements, of an array stored as the type says; 0 along axes that are stored once.
fn stored(shape: &[i64], spec: &TensorSpec) -> Vec<i64> {
    let mut wanted = vec![0; shape.len()];
    let place = |i: usize| spec.order.get(i).map_or(i, |&axis| axis as usize);
    let mut step = 1i64;
    for axis in (0..shape.len()).rev().map(place) {
        if axis < shape.len() && !spec.dims.get(axis).is_some_and(|dim| dim.broadcast) {
            wanted[axis] = step;
            step = step.saturating_mul(shape[axis].max(1));
        }
    }
    wanted
}

/// True if an array of this shape has the strides, axes of extent 1 aside.
fn fits(shape: &[i64], strides: &[i64], wanted: &[i64]) -> bool {
    let mut axes = shape.iter().zip(strides).zip(wanted);
    shape.contains(&0) || axes.all(|((&extent, found), wanted)| extent <= 1 || found == wanted)
}

const GAP: &str =
    "its strides have gaps or run backward, or its layout is one for which no code is made";
/// The reason for sending an argument to the GPU, and for fetching a result.
pub const HOST: &str = "it lies in host memory, and the program runs on a GPU";
const ADDRESS: &str = "it begins at no multiple of what its elements or the kernels need";

/// The reason for copying an array without elements. The type may have memory, along an axis of extent 0 that is stored
/// once, and the array may have none.
const NOTHING: &str = "it has no elements, and its type has memory";

fn access(
    py: Python<'_>,
    array: &Array<'_>,
    spec: &TensorSpec,
    bytes: usize,
    on_gpu: bool,
    shapes: &Shapes,
) -> PyResult<Access> {
    if array.number.is_some() || bytes == 0 {
        return Ok(Access::Here);
    }
    let (shape, strides) = (array.shape(shapes), array.strides(shapes));
    let wanted = stored(shape, spec);
    if shape.contains(&0) {
        let (strides, why) = (wanted, NOTHING);
        return Ok(Access::Copied {
            strides,
            bytes,
            why,
        });
    }
    let lies = fits(shape, strides, &wanted);
    let aligned = array.align() >= array.dtype.part().bytes().min(64);
    let sent = on_gpu && !array.on_gpu;
    if lies && aligned {
        return Ok(if sent {
            Access::Sent(bytes)
        } else {
            Access::Here
        });
    }
    if array.on_gpu {
        let message = format!("input `{}` has {}", spec.name, gaps_on_gpu(lies));
        return Err(refused(py, INPUT, message, CONTIGUOUS));
    }
    let apart = |axis: &usize| shape[*axis] > 1 && wanted[*axis] == 0 && strides[*axis] != 0;
    if let Some(axis) = (0..shape.len()).find(apart) {
        let message = format!(
            "axis {axis} of input `{}` is stored once in the program's type, and is not in the array",
            spec.name
        );
        return Err(refused(
            py,
            INPUT,
            message,
            "broadcast it: `numpy.broadcast_to`, `x.expand`",
        ));
    }
    if array.dtype.per_byte() > 1 {
        let message = format!(
            "input `{}` has elements that share bytes, and gaps between them",
            spec.name
        );
        return Err(refused(py, INPUT, message, "give a contiguous copy"));
    }
    Ok(Access::Copied {
        strides: wanted,
        bytes,
        why: match (sent, lies) {
            (true, _) => HOST,
            (false, true) => ADDRESS,
            (false, false) => GAP,
        },
    })
}

const CONTIGUOUS: &str = "give a dense copy: `x.contiguous()`, `cupy.ascontiguousarray(x)`";

/// The fault of an array on a GPU, whose elements are never copied there.
fn gaps_on_gpu(lies: bool) -> &'static str {
    match lies {
        true => "an address that is no multiple of its elements' size",
        false => "gaps between its elements, or runs backward",
    }
}

fn target(
    py: Python<'_>,
    ty: &OutputType,
    given: Option<&Array<'_>>,
    asked: Option<&Vec<i64>>,
    (inputs, accesses): (&[Array<'_>], &[Access]),
    on_gpu: bool,
    shapes: &Shapes,
) -> PyResult<Target> {
    let shape: Vec<i64> = ty.axes.iter().map(|axis| axis.extent as i64).collect();
    let strides: Vec<i64> = ty.strides().iter().map(|&step| step as i64).collect();
    let into = |array: &Array<'_>, destination| {
        let has_memory = ty.bytes == 0 || !shape.contains(&0);
        let lies = has_memory && fits(&shape, array.strides(shapes), &strides);
        let aligned = ty.bytes == 0 || array.align() >= ty.align.min(64);
        if on_gpu && !array.on_gpu {
            return Ok(Target::Through(destination, HOST));
        }
        if lies && aligned {
            return Ok(Target::Into(destination));
        }
        if on_gpu {
            let message = format!(
                "the array for result `{}` has {}",
                ty.name,
                gaps_on_gpu(lies)
            );
            return Err(refused(py, INPUT, message, CONTIGUOUS));
        }
        let why = if lies { ADDRESS } else { GAP };
        Ok(Target::Through(destination, why))
    };
    if let Some(array) = given {
        check_given(py, ty, &shape, array, shapes)?;
        return into(array, Destination::Given);
    }
    if let Some(number) = ty.overwrites
        && let Some(array) = inputs.get(number)
        && takes_results(py, ty, array, shapes)?
    {
        let destination = Destination::Argument(number);
        return match accesses.get(number) {
            Some(Access::Here) => into(array, destination),
            Some(Access::Sent(_)) => Ok(Target::Through(destination, HOST)),
            _ => Ok(Target::Through(destination, GAP)),
        };
    }
    let Some(asked) = asked else {
        return Ok(Target::New(strides));
    };
    if asked.len() != shape.len() || !fits(&shape, asked, &strides) {
        let message = format!(
            "result `{}` of shape {shape:?} cannot have the strides {asked:?}",
            ty.name
        );
        return Err(refused(
            py,
            INPUT,
            message,
            "a new array is dense: its strides are those of a permutation",
        ));
    }
    Ok(Target::New(asked.clone()))
}

/// Refuses an array that a result cannot be written to.
fn check_given(
    py: Python<'_>,
    ty: &OutputType,
    shape: &[i64],
    array: &Array<'_>,
    shapes: &Shapes,
) -> PyResult<()> {
    let found = array.shape(shapes);
    let same = array.dtype == ty.dtype || (array.dtype, ty.dtype) == (DType::I64, DType::Index);
    if !same || found != shape {
        let message = format!(
            "the array for result `{}` has elements {} and shape {found:?}, the result {} and {shape:?}",
            ty.name, array.dtype, ty.dtype
        );
        return Err(refused(py, INPUT, message, ""));
    }
    let name = format!("the array for result `{}`", ty.name);
    writable(py, &name, array, shapes)
}

/// True if the argument that a result overwrites can be: a number and an array of JAX never change.
fn takes_results(
    py: Python<'_>,
    ty: &OutputType,
    array: &Array<'_>,
    shapes: &Shapes,
) -> PyResult<bool> {
    use crate::array::Library;
    if matches!(array.library, Library::None | Library::Jax) {
        return Ok(false);
    }
    let name = format!("the argument that result `{}` overwrites", ty.name);
    writable(py, &name, array, shapes).map(|()| true)
}

fn writable(py: Python<'_>, name: &str, array: &Array<'_>, shapes: &Shapes) -> PyResult<()> {
    if !array.writable {
        let message = format!("{name} is read-only");
        return Err(refused(py, INPUT, message, "give a copy, or `out=`"));
    }
    let shape = array.shape(shapes);
    let mut axes = shape.iter().zip(array.strides(shapes));
    if !shape.contains(&0) && axes.any(|(&extent, &stride)| extent > 1 && stride == 0) {
        let message = format!("{name} has one element in several places");
        return Err(refused(py, INPUT, message, "give a contiguous array"));
    }
    Ok(())
}
