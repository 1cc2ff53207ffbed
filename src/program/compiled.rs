//! A program with code for this machine: called on memory of the caller's, from as many threads as wanted.
//!
//! A call with extents that were seen before takes a bound executable from those at rest, runs it and puts it back. Threads that
//! call at the same time have an executable each, with memory for temporaries of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fuser_artifact::{DType, TensorSpec};
use fuser_ir::source::SourceMap;
use fuser_runtime::bind::{self, BindError, Given};
use fuser_runtime::{Axis, Executable, RuntimeError};

use super::layout::{self, Layout};
use super::{Error, Result, Tensor};
use crate::compile::CompileOptions;
use crate::session::{self, Loaded, Session, SessionError, Signature};

/// The maximum number of extents for which idle executables are kept; beyond it, those of the least extents are
/// dropped.
const MOST_AT_REST: usize = 64;

/// The most layouts of arguments and results that a program is compiled for; arrays of further ones are copied.
const MOST_LAYOUTS: usize = 16;

/// Layouts of the inputs, and storage orders of the outputs; `None` stands for the layout of the program's type.
pub type Layouts = (Vec<Option<Layout>>, Vec<Option<Vec<u32>>>);

/// A program with code for the CPU.
pub struct Compiled {
    session: Arc<Session>,
    loaded: Arc<Loaded>,
    sources: SourceMap,
    program: session::Program,
    options: CompileOptions,
    at_rest: Mutex<BTreeMap<Vec<i64>, Vec<Bound>>>,
    laid_out: Mutex<BTreeMap<Layouts, Option<Arc<Compiled>>>>,
}

/// A program bound to extents: the code, the memory of temporaries, the types of the outputs.
pub struct Bound {
    extents: Vec<i64>,
    executable: Executable,
    outputs: Arc<[OutputType]>,
}

/// Type and shape of an output under given extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputType {
    /// Its name.
    pub name: String,
    /// The type of the elements.
    pub dtype: DType,
    /// Its axes; a broadcast axis is stored once.
    pub axes: Vec<Axis>,
    /// The axes from the outermost to the innermost in memory; empty for row-major.
    pub order: Vec<u32>,
    /// Its bytes.
    pub bytes: usize,
    /// The input that it overwrites: the two may be the same memory.
    pub overwrites: Option<usize>,
    /// The multiple at which its memory begins, in bytes.
    pub align: usize,
}

impl Compiled {
    pub(super) fn new(
        session: Arc<Session>,
        loaded: Arc<Loaded>,
        sources: SourceMap,
        options: &CompileOptions,
    ) -> Result<Self> {
        let program = session.program(&*loaded, options);
        let compiled = Self {
            session,
            loaded,
            sources,
            program,
            options: options.clone(),
            at_rest: Mutex::default(),
            laid_out: Mutex::default(),
        };
        let names = compiled.signature().extents.iter();
        let given = names.map(|name| i64::try_from(*options.shapes.get(name)?).ok());
        if let Some(extents) = given.collect::<Option<Vec<i64>>>() {
            let bound = compiled.bind(&extents)?;
            compiled.release(bound);
        }
        Ok(compiled)
    }

    /// Named extents, inputs and names of outputs.
    pub fn signature(&self) -> &Signature {
        &self.loaded.signature
    }

    /// Threads and memory.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The program for arrays with layouts other than those of its types. `None` if types cannot express them, or if
    /// too many layouts have been compiled already. A result that overwrites an input has that input's layout.
    pub fn laid_out(&self, layouts: &Layouts) -> Option<Arc<Self>> {
        let known = || self.laid_out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(layouts) {
            return found.clone();
        }
        if known().len() >= MOST_LAYOUTS {
            return None;
        }
        let loaded = layout::with(&self.loaded, &layouts.0, &layouts.1);
        let made = loaded.and_then(|loaded| {
            let (session, loaded) = (Arc::clone(&self.session), Arc::new(loaded));
            Self::new(session, loaded, self.sources.clone(), &self.options).ok()
        });
        let mut known = known();
        known
            .entry(layouts.clone())
            .or_insert(made.map(Arc::new))
            .clone()
    }

    /// The values of the named extents, in the order of the signature, that inputs of these types and shapes have.
    ///
    /// # Errors
    /// Inputs that do not fit the program.
    pub fn extents(&self, inputs: &[(DType, &[Axis])]) -> Result<Vec<i64>> {
        let given = inputs.iter().map(|&(dtype, axes)| {
            let origin = None;
            Some(Given {
                dtype,
                axes,
                origin,
            })
        });
        let given: Vec<_> = given.collect();
        let Signature {
            extents, inputs, ..
        } = self.signature();
        let mut explicit = BTreeMap::new();
        let mut bound = bind::bind(extents, inputs, &given, &explicit);
        // An extent that no input has is as long as the options say.
        while let Err(BindError::Missing { extent, .. }) = &bound {
            let length = self.options.shapes.get(extent);
            let Some(length) = length.and_then(|&n| i64::try_from(n).ok()) else {
                break;
            };
            if explicit.insert(extent.clone(), length).is_some() {
                break;
            }
            bound = bind::bind(extents, inputs, &given, &explicit);
        }
        bound.map_err(|error| Error::from(RuntimeError::Bind(error)))
    }

    /// The program bound to these extents: an idle executable, or a new one, compiled if necessary.
    ///
    /// # Errors
    /// Extents for which nothing can be compiled; too little memory.
    pub fn bind(&self, extents: &[i64]) -> Result<Bound> {
        let mut at_rest = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bound) = at_rest.get_mut(extents).and_then(Vec::pop) {
            return Ok(bound);
        }
        drop(at_rest);
        let names = self.signature().extents.iter().cloned();
        let named = names.zip(extents.iter().copied()).collect();
        let executable = self.told(self.program.bind(&self.session, &named))?;
        let artifact = executable.artifact();
        let bytes = executable.output_bytes();
        let outputs = artifact.outputs.iter().zip(bytes).enumerate();
        let outputs = outputs.map(|(number, (spec, &bytes))| {
            let axes = bind::axes(spec, &artifact.extents, extents);
            Ok(OutputType {
                name: spec.name.clone(),
                dtype: spec.dtype,
                axes: axes.map_err(|error| Error::from(RuntimeError::Bind(error)))?,
                order: spec.order.clone(),
                bytes,
                overwrites: executable.overwrites().get(number).copied().flatten(),
                align: executable.output_align(number),
            })
        });
        let outputs: Result<Vec<_>> = outputs.collect();
        Ok(Bound {
            extents: extents.to_vec(),
            outputs: outputs?.into(),
            executable,
        })
    }

    /// Keeps a bound program for the next call with its extents.
    pub fn release(&self, bound: Bound) {
        let mut at_rest = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if at_rest.len() >= MOST_AT_REST && !at_rest.contains_key(&bound.extents) {
            at_rest.pop_first();
        }
        match at_rest.get_mut(&bound.extents) {
            Some(others) => others.push(bound),
            None => {
                at_rest.insert(bound.extents.clone(), vec![bound]);
            }
        }
    }

    /// Runs the program on tensors, in the order of its inputs.
    ///
    /// # Errors
    /// Inputs that do not match the program, extents for which nothing can be compiled, too little memory.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let specs = &self.signature().inputs;
        let axes: Vec<Vec<Axis>> = (inputs.iter().enumerate())
            .map(|(i, tensor)| axes_of(tensor, specs.get(i)))
            .collect();
        let types = inputs.iter().zip(&axes);
        let types: Vec<_> = types.map(|(x, axes)| (x.dtype(), &axes[..])).collect();
        let mut bound = self.bind(&self.extents(&types)?)?;
        let heap = self.session.runtime().heap();
        let outputs = bound.outputs.iter().map(|output| {
            let shape: Vec<usize> = output.axes.iter().map(|axis| axis.extent).collect();
            Tensor::allocate(heap, output.dtype, &shape, output.bytes)
        });
        let mut outputs = outputs.collect::<Result<Vec<Tensor>>>()?;
        let given: Vec<&[u8]> = inputs.iter().map(Tensor::bytes).collect();
        let mut taken: Vec<&mut [u8]> = outputs.iter_mut().map(Tensor::bytes_mut).collect();
        bound.run(&given, &mut taken)?;
        let types = Arc::clone(&bound.outputs);
        self.release(bound);
        let outputs = outputs.into_iter().zip(types.iter());
        outputs
            .map(|(x, of)| x.row_major(heap, &of.strides()))
            .collect()
    }

    fn told<T>(&self, result: std::result::Result<T, SessionError>) -> Result<T> {
        result.map_err(|error| Error::of(error.diagnostics(&self.loaded.ir), &self.sources))
    }
}

impl OutputType {
    /// The elements from one index of each axis to the next; 0 along an axis that is stored once.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![0; self.axes.len()];
        let place = |i: usize| self.order.get(i).map_or(i, |&axis| axis as usize);
        let mut step = 1;
        for axis in (0..self.axes.len()).rev().map(place) {
            if let (Some(stride), Some(of)) = (strides.get_mut(axis), self.axes.get(axis))
                && !of.broadcast
            {
                *stride = step;
                step *= of.extent.max(1);
            }
        }
        strides
    }
}

impl Bound {
    /// The outputs.
    pub fn outputs(&self) -> &Arc<[OutputType]> {
        &self.outputs
    }

    /// The bytes of each input.
    pub fn input_bytes(&self) -> &[usize] {
        self.executable.input_bytes()
    }

    /// The executable, for calls on addresses.
    pub fn executable(&mut self) -> &mut Executable {
        &mut self.executable
    }

    /// Runs the program on memory of the caller's. Inputs begin at multiples of their elements' size, outputs at those of their types' `align`.
    ///
    /// # Errors
    /// Memory of another length or alignment.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<()> {
        let run = self.executable.run(inputs, outputs);
        run.map_err(|error| Error::from(RuntimeError::Call(error)))
    }
}

/// The axes of a tensor as the program declares them: those that it stores once are.
fn axes_of(tensor: &Tensor, spec: Option<&TensorSpec>) -> Vec<Axis> {
    let dims = spec.map_or(&[][..], |spec| &spec.dims);
    let extents = tensor.shape().iter().enumerate();
    let axes = extents.map(|(i, &extent)| Axis {
        extent,
        broadcast: dims.get(i).is_some_and(|dim| dim.broadcast),
    });
    axes.collect()
}
